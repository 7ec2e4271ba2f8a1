//===- MemoryOps.cpp - Loads, stores and views ----------------------------===//
//
// `tile.load`, `tile.store`, `tile.gather`, `tile.scatter` and the operations
// of `memref`. A coordinate is a 128-bit number until it is known to lie inside
// the array: a tile-space index may be anything, its product with the tile's
// extent need not fit in 64 bits.
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "tile/Dialect/Tile/IR/Tile.h"

#include <algorithm>

using namespace mlir;
using namespace tile;
using namespace tile::reference;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Number of elements from the first to the last one, gaps included.
static int64_t getSpan(const Buffer &buffer) {
  int64_t last = 0;
  for (auto [extent, stride] : llvm::zip_equal(buffer.shape, buffer.strides)) {
    if (extent == 0)
      return 0;
    last += (extent - 1) * stride;
  }
  return last + 1;
}

Memory::Memory(const Buffer &buffer, std::string name)
    : buffer(buffer), name(std::move(name)) {
  if (buffer.readOnly)
    return;
  size_t span = static_cast<size_t>(std::max<int64_t>(getSpan(buffer), 1));
  writers.reset(static_cast<uint64_t *>(std::calloc(span, sizeof(uint64_t))));
}

template <typename Word>
static uint64_t loadRelaxed(const uint8_t *base, int64_t offset) {
  auto *word = reinterpret_cast<const Word *>(base) + offset;
  return __atomic_load_n(word, __ATOMIC_RELAXED);
}

template <typename Word>
static void storeRelaxed(uint8_t *base, int64_t offset, uint64_t code) {
  auto *word = reinterpret_cast<Word *>(base) + offset;
  __atomic_store_n(word, static_cast<Word>(code), __ATOMIC_RELAXED);
}

uint64_t Memory::load(int64_t offset) const {
  switch (buffer.elementBytes) {
  case 1:
    return loadRelaxed<uint8_t>(buffer.data, offset);
  case 2:
    return loadRelaxed<uint16_t>(buffer.data, offset);
  case 4:
    return loadRelaxed<uint32_t>(buffer.data, offset);
  default:
    return loadRelaxed<uint64_t>(buffer.data, offset);
  }
}

void Memory::store(int64_t offset, uint64_t code) {
  switch (buffer.elementBytes) {
  case 1:
    return storeRelaxed<uint8_t>(buffer.data, offset, code);
  case 2:
    return storeRelaxed<uint16_t>(buffer.data, offset, code);
  case 4:
    return storeRelaxed<uint32_t>(buffer.data, offset, code);
  default:
    return storeRelaxed<uint64_t>(buffer.data, offset, code);
  }
}

std::optional<uint64_t> Memory::claim(int64_t offset, uint64_t program) {
  uint64_t *writer = &writers[offset];
  const uint64_t self = program + 1;
  uint64_t seen = __atomic_load_n(writer, __ATOMIC_RELAXED);
  // The lowest program stays: then each program finds the first one that it
  // conflicts with, whatever order they run in.
  while ((seen == 0 || self < seen) &&
         !__atomic_compare_exchange_n(writer, &seen, self, /*weak=*/true,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
  if (seen == 0 || seen == self)
    return std::nullopt;
  return seen - 1;
}

int64_t Memory::countUnwritten() const {
  if (buffer.readOnly || llvm::is_contained(buffer.shape, 0))
    return 0;
  SmallVector<int64_t, 4> index(buffer.shape.size());
  int64_t count = 0, offset = 0;
  while (true) {
    count += writers[offset] == 0;
    // The next index, in row-major order.
    size_t dim = index.size();
    while (dim > 0 && ++index[dim - 1] == buffer.shape[dim - 1]) {
      offset -= (index[dim - 1] - 1) * buffer.strides[dim - 1];
      index[--dim] = 0;
    }
    if (dim == 0)
      return count;
    offset += buffer.strides[dim - 1];
  }
}

std::string Memory::getIndexOf(int64_t offset) const {
  // Largest stride first: row-major arrays have their dimensions in order, but
  // nothing asks an array to be row-major.
  SmallVector<unsigned, 4> dims = llvm::to_vector<4>(
      llvm::seq<unsigned>(0, static_cast<unsigned>(buffer.shape.size())));
  llvm::stable_sort(dims, [&](unsigned a, unsigned b) {
    return buffer.strides[a] > buffer.strides[b];
  });
  SmallVector<int64_t, 4> index(buffer.shape.size());
  for (unsigned dim : dims) {
    if (buffer.strides[dim] == 0 || buffer.shape[dim] == 1)
      continue;
    index[dim] = offset / buffer.strides[dim];
    offset %= buffer.strides[dim];
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(index, os);
  os << ']';
  return text;
}

//===----------------------------------------------------------------------===//
// Element access
//===----------------------------------------------------------------------===//

/// Writes one element of `view` on behalf of `op`.
static LogicalResult storeElement(Program &program, Operation *op,
                                  const View &view, int64_t offset,
                                  uint64_t code) {
  Memory &memory = *view.memory;
  if (memory.getBuffer().readOnly)
    return program.fail(op, "writes to " + memory.getName() +
                                ", which is an input");
  uint64_t self = program.getLinearIndex();
  if (std::optional<uint64_t> other = memory.claim(offset, self))
    program.getLaunch().recordConflict(std::min(self, *other),
                                       std::max(self, *other), memory, offset,
                                       op->getLoc());
  memory.store(offset, code);
  return success();
}

/// Calls `visit(i, offset)` for every element i of a tile of `shape` that lies
/// inside `view` when the tile stands at tile-space index `indices`, in
/// row-major order, until one of the calls fails.
template <typename Visit>
static LogicalResult forEachInside(const View &view, ArrayRef<int64_t> shape,
                                   ArrayRef<int64_t> indices, Visit visit) {
  const size_t rank = shape.size();
  if (rank == 0)
    return visit(0, view.offset);

  // Per dimension, coordinates [lower, upper) of the tile are inside.
  SmallVector<int64_t, 4> lower(rank), upper(rank);
  int64_t origin = view.offset; // of the tile's coordinate `lower`
  for (size_t dim = 0; dim < rank; ++dim) {
    __int128 start = static_cast<__int128>(indices[dim]) * shape[dim];
    auto clamp = [&](__int128 coordinate) {
      __int128 extent = shape[dim];
      return static_cast<int64_t>(std::clamp<__int128>(coordinate, 0, extent));
    };
    lower[dim] = clamp(-start);
    upper[dim] = clamp(view.shape[dim] - start);
    if (lower[dim] >= upper[dim])
      return success();
    // Inside, so the sum fits.
    origin += static_cast<int64_t>(start + lower[dim]) * view.strides[dim];
  }

  SmallVector<int64_t, 4> tileStrides = getRowMajorStrides(shape);
  SmallVector<int64_t, 4> at = lower;
  while (true) {
    int64_t element = 0, offset = origin;
    for (size_t dim = 0; dim < rank; ++dim) {
      element += at[dim] * tileStrides[dim];
      offset += (at[dim] - lower[dim]) * view.strides[dim];
    }
    for (int64_t i = lower.back(); i < upper.back(); ++i) {
      if (failed(visit(element++, offset)))
        return failure();
      offset += view.strides.back();
    }
    // The next row.
    size_t dim = rank - 1;
    while (dim > 0 && ++at[dim - 1] == upper[dim - 1]) {
      at[dim - 1] = lower[dim - 1];
      --dim;
    }
    if (dim == 0)
      return success();
  }
}

//===----------------------------------------------------------------------===//
// tile.load, tile.store
//===----------------------------------------------------------------------===//

/// result[c] = source[index * extents + c] where that is inside, else 0.
static LogicalResult computeLoad(Program &program, LoadOp op) {
  const View &view = program.getView(op.getSource());
  Tensor result = makeTensor(op.getResult());
  (void)forEachInside(view, result.getShape(),
                      program.getSigned(op.getIndices()),
                      [&](int64_t i, int64_t offset) {
                        result.setCode(i, view.memory->load(offset));
                        return success();
                      });
  program.set(op.getResult(), std::move(result));
  return success();
}

/// target[index * extents + c] = value[c] where that is inside.
static LogicalResult computeStore(Program &program, StoreOp op) {
  const View &view = program.getView(op.getTarget());
  const Tensor &value = program.getTensor(op.getValue());
  return forEachInside(
      view, value.getShape(), program.getSigned(op.getIndices()),
      [&](int64_t i, int64_t offset) {
        return storeElement(program, op, view, offset, value.getCode(i));
      });
}

//===----------------------------------------------------------------------===//
// tile.gather, tile.scatter
//===----------------------------------------------------------------------===//

/// Calls `visit(c, offset)` for every element c of a tile of `shape` that is
/// not masked off and whose index lies inside `view`.
template <typename Visit>
static LogicalResult
forEachGathered(Program &program, const View &view, ArrayRef<int64_t> shape,
                OperandRange indices, Value mask, Visit visit) {
  SmallVector<int64_t, 4> tileStrides = getRowMajorStrides(shape);
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;

  /// The element of `tensor` that stands for element `i` of the tile: each of
  /// its extents is the tile's, or 1.
  auto broadcast = [&](const Tensor &tensor, int64_t i) {
    int64_t element = 0;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      int64_t coordinate = i / tileStrides[dim] % shape[dim];
      int64_t extent = tensor.getShape()[dim];
      element = element * extent + (extent == 1 ? 0 : coordinate);
    }
    return element;
  };

  for (int64_t i = 0; i < count; ++i) {
    if (mask) {
      const Tensor &masks = program.getTensor(mask);
      if (!masks.getCode(broadcast(masks, i)))
        continue;
    }
    int64_t offset = view.offset;
    bool inside = true;
    for (auto [dim, index] : llvm::enumerate(indices)) {
      const Tensor &tile = program.getTensor(index);
      int64_t coordinate = tile.getSigned(broadcast(tile, i));
      inside = coordinate >= 0 && coordinate < view.shape[dim];
      if (!inside)
        break;
      offset += coordinate * view.strides[dim];
    }
    if (inside && failed(visit(i, offset)))
      return failure();
  }
  return success();
}

/// result[c] = source[indices[c]] where the mask is set and that is inside,
/// else 0.
static LogicalResult computeGather(Program &program, GatherOp op) {
  const View &view = program.getView(op.getSource());
  Tensor result = makeTensor(op.getResult());
  (void)forEachGathered(program, view, result.getShape(), op.getIndices(),
                        op.getMask(), [&](int64_t i, int64_t offset) {
                          result.setCode(i, view.memory->load(offset));
                          return success();
                        });
  program.set(op.getResult(), std::move(result));
  return success();
}

/// target[indices[c]] = value[c] where the mask is set and that is inside; in
/// row-major order of c, so the last of several values for one element stays.
static LogicalResult computeScatter(Program &program, ScatterOp op) {
  const View &view = program.getView(op.getTarget());
  const Tensor &value = program.getTensor(op.getValue());
  return forEachGathered(program, view, value.getShape(), op.getIndices(),
                         op.getMask(), [&](int64_t i, int64_t offset) {
                           return storeElement(program, op, view, offset,
                                               value.getCode(i));
                         });
}

//===----------------------------------------------------------------------===//
// memref
//===----------------------------------------------------------------------===//

static LogicalResult computeDim(Program &program, memref::DimOp op) {
  const View &view = program.getView(op.getSource());
  int64_t dim = program.getSigned(op.getIndex());
  if (dim < 0 || dim >= static_cast<int64_t>(view.shape.size()))
    return program.fail(op, "expects a dimension below " +
                                Twine(view.shape.size()) + ", but got " +
                                Twine(dim));
  program.set(op.getResult(),
              Tensor::getScalar(getElementOf(op.getResult()),
                                static_cast<uint64_t>(view.shape[dim])));
  return success();
}

/// A scalar load has no outside: a block table that is too short is a mistake.
static LogicalResult computeScalarLoad(Program &program, memref::LoadOp op) {
  const View &view = program.getView(op.getMemRef());
  int64_t offset = view.offset;
  for (auto [dim, index] : llvm::enumerate(op.getIndices())) {
    int64_t at = program.getSigned(index);
    if (at < 0 || at >= view.shape[dim])
      return program.fail(op, "expects index " + Twine(dim) + " of " +
                                  view.memory->getName() + " to be from 0 to " +
                                  Twine(view.shape[dim] - 1) + ", but got " +
                                  Twine(at));
    offset += at * view.strides[dim];
  }
  program.set(op.getResult(), Tensor::getScalar(getElementOf(op.getResult()),
                                                view.memory->load(offset)));
  return success();
}

/// Numbers of which some are static and the others operands, in order. (The
/// op's own `getMixed…` makes attributes, and programs run in many threads.)
static SmallVector<int64_t, 4>
getMixed(Program &program, ArrayRef<int64_t> numbers, OperandRange operands) {
  SmallVector<int64_t, 4> values(numbers);
  for (int64_t &value : values)
    if (ShapedType::isDynamic(value)) {
      value = program.getSigned(operands.front());
      operands = operands.drop_front();
    }
  return values;
}

/// A part of an array. It must lie inside: what is outside a view reads as
/// zero, so a view that reached beyond its array would have no meaning.
static LogicalResult computeSubView(Program &program, memref::SubViewOp op) {
  const View &source = program.getView(op.getSource());
  SmallVector<int64_t, 4> offsets =
      getMixed(program, op.getStaticOffsets(), op.getOffsets());
  SmallVector<int64_t, 4> sizes =
      getMixed(program, op.getStaticSizes(), op.getSizes());
  SmallVector<int64_t, 4> steps =
      getMixed(program, op.getStaticStrides(), op.getStrides());
  const llvm::SmallBitVector dropped =
      program.getLaunch().kernel.droppedDims.lookup(op);

  View view;
  view.memory = source.memory;
  view.offset = source.offset;
  // An empty view has no element that could be outside, wherever it begins.
  const bool empty = llvm::is_contained(sizes, 0);
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    if (steps[dim] != 1)
      return program.fail(op, "expects steps of 1, but got " +
                                  Twine(steps[dim]) + " in dimension " +
                                  Twine(dim));
    if (sizes[dim] < 0 ||
        (!empty && (offsets[dim] < 0 || sizes[dim] > source.shape[dim] ||
                    offsets[dim] > source.shape[dim] - sizes[dim])))
      return program.fail(
          op, "expects a part of dimension " + Twine(dim) + " of " +
                  source.memory->getName() + ", which has " +
                  Twine(source.shape[dim]) +
                  (source.shape[dim] == 1 ? " element" : " elements") +
                  ", but got " + Twine(sizes[dim]) + " from " +
                  Twine(offsets[dim]));
    if (!empty)
      view.offset += offsets[dim] * source.strides[dim];
    if (dropped.test(dim))
      continue;
    view.shape.push_back(sizes[dim]);
    view.strides.push_back(source.strides[dim]);
  }
  program.set(op.getResult(), std::move(view));
  return success();
}

void tile::reference::addMemoryHandlers(HandlerTable &table) {
  addHandler<LoadOp, computeLoad>(table);
  addHandler<StoreOp, computeStore>(table);
  addHandler<GatherOp, computeGather>(table);
  addHandler<ScatterOp, computeScatter>(table);
  addHandler<memref::DimOp, computeDim>(table);
  addHandler<memref::LoadOp, computeScalarLoad>(table);
  addHandler<memref::SubViewOp, computeSubView>(table);
}
