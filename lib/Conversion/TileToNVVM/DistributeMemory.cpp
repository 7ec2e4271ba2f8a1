//===- DistributeMemory.cpp - Loads and stores of tiles -------------------===//
//
// Addresses are 64-bit. What lies outside a memref is never touched: a load
// outside goes to the memref's first element instead and its result is replaced
// by zero, a store outside is branched around. Vectors are used where the
// layout has consecutive elements and strides, extents and offset are known to
// be divisible, so that a vector is inside or outside as a whole.
//
//===----------------------------------------------------------------------===//

#include "Distributor.h"

#include "mlir/IR/Remarks.h"
#include "tile/Transforms/TileLayouts.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;
using arith::CmpIPredicate;

/// Bytes of one element in memory.
static unsigned getElementBytes(Type type) {
  return std::max(1u, getElementBits(type) / 8);
}

/// The type in which an element is loaded and stored.
static Type getMemoryType(Type element) {
  if (isa<BFloat16Type, Float16Type, Float32Type>(element))
    return element;
  return IntegerType::get(element.getContext(), 8 * getElementBytes(element));
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

void Distributor::beforeRead() {
  if (pending.writes)
    barrier();
  pending.reads = true;
}

void Distributor::beforeWrite() {
  if (pending.reads || pending.writes)
    barrier();
  pending.writes = true;
}

Distributor::Pending Distributor::getMemoryUse(Region &region) {
  Pending use;
  region.walk([&](Operation *op) {
    use.reads |=
        isa<LoadOp, GatherOp, CopyAsyncOp, CopyTensorOp, memref::LoadOp>(op);
    use.writes |= isa<StoreOp, ScatterOp>(op);
  });
  return use;
}

//===----------------------------------------------------------------------===//
// Views and scalars
//===----------------------------------------------------------------------===//

Value Distributor::elementPointer(const MemRefValue &memref, Value offset) {
  if (memref.offset)
    offset = offset ? emit.add(offset, memref.offset) : memref.offset;
  if (!offset)
    return memref.pointer;
  return LLVM::GEPOp::create(
      emit.builder, emit.loc, memref.pointer.getType(),
      IntegerType::get(kernel.getContext(),
                       8 * getElementBytes(memref.type.getElementType())),
      memref.pointer, ArrayRef<LLVM::GEPArg>{offset});
}

LogicalResult Distributor::distributeSubView(memref::SubViewOp op) {
  auto found = memrefs.find(op.getSource());
  if (found == memrefs.end())
    return op.emitOpError("expects a view of a kernel argument");
  const MemRefValue source = found->second;
  auto toValue = [&](OpFoldResult number) -> Value {
    if (auto attr = dyn_cast<Attribute>(number))
      return emit.i64(cast<IntegerAttr>(attr).getInt());
    return getIndexAsI64(cast<Value>(number));
  };
  MemRefValue view;
  view.type = op.getType();
  view.pointer = source.pointer;
  view.offset = source.offset;
  llvm::SmallBitVector dropped = op.getDroppedDims();
  for (int64_t dim = 0; dim < source.type.getRank(); ++dim) {
    OpFoldResult step = op.getMixedStrides()[dim];
    auto attr = dyn_cast<Attribute>(step);
    if (!attr || cast<IntegerAttr>(attr).getInt() != 1)
      return op.emitOpError("expects unit steps");
    OpFoldResult offset = op.getMixedOffsets()[dim];
    Value moved = emit.mul(toValue(offset), source.strides[dim]);
    view.offset = view.offset ? emit.add(view.offset, moved) : moved;
    if (dropped[dim])
      continue;
    OpFoldResult size = op.getMixedSizes()[dim];
    view.sizes.push_back(toValue(size));
    view.strides.push_back(source.strides[dim]);
  }
  view.divisors = *getMemRefDivisors(op);
  memrefs[op] = std::move(view);
  return success();
}

LogicalResult Distributor::distributeMemRefLoad(memref::LoadOp op) {
  auto found = memrefs.find(op.getMemRef());
  if (found == memrefs.end())
    return op.emitOpError("expects a kernel argument or a view of one");
  beforeRead();
  const MemRefValue &memref = found->second;
  Value offset;
  for (auto [dim, index] : llvm::enumerate(op.getIndices())) {
    Value moved = emit.mul(getIndexAsI64(index), memref.strides[dim]);
    offset = offset ? emit.add(offset, moved) : moved;
  }
  Type element = memref.type.getElementType();
  Type stored = getMemoryType(element);
  Value value = LLVM::LoadOp::create(emit.builder, emit.loc, stored,
                                     elementPointer(memref, offset),
                                     getElementBytes(element));
  if (stored != element)
    return op.emitOpError("expects integers or f16, bf16, f32 elements, but "
                          "got ")
           << element;
  scalars.map(op.getResult(), value);
  return success();
}

//===----------------------------------------------------------------------===//
// How a tile is accessed
//===----------------------------------------------------------------------===//

Distributor::Pieces Distributor::findPieces(const MemRefValue &memref,
                                            const LinearLayout &layout) {
  Pieces pieces;
  const unsigned bytes = getElementBytes(memref.type.getElementType());
  auto [strides, unused] = memref.type.getStridesAndOffset();
  for (unsigned dim = memref.type.getRank(); dim-- > 0;) {
    std::string axis = "d" + std::to_string(dim);
    unsigned bits = layout.getCodomain().bitsOf(axis);
    if (strides[dim] != 1 || bits == 0)
      continue;
    pieces.run = getRun(layout, dim);
    pieces.vector = std::min(pieces.run, 16 / bytes);
    while (pieces.vector > 1 &&
           !memref.divisors.allowsPieces(dim, pieces.vector))
      pieces.vector /= 2;
    break;
  }
  return pieces;
}

Distributor::TileAccess Distributor::analyzeAccess(const MemRefValue &memref,
                                                   ValueRange indices,
                                                   const LinearLayout &layout) {
  unsigned rank = memref.type.getRank();
  SmallVector<int64_t> shape;
  for (unsigned dim = 0; dim < rank; ++dim)
    shape.push_back(int64_t(1)
                    << layout.getCodomain().bitsOf("d" + std::to_string(dim)));
  auto coordinates = std::make_shared<Coordinates>(emit, layout, lane, warp);

  // Bounds: a dimension whose size the tile's extent divides is inside or
  // outside for the whole block at once.
  TileAccess access;
  access.memref = &memref;
  SmallVector<Value> starts;
  SmallVector<unsigned> checkedDims;
  for (unsigned dim = 0; dim < rank; ++dim) {
    Value index = getIndexAsI64(indices[dim]);
    starts.push_back(emit.mul(index, emit.i64(shape[dim])));
    bool whole = divides(shape[dim], memref.divisors.sizes[dim]);
    if (!whole)
      checkedDims.push_back(dim);
    // The first element decides for the block, and says that there is one. The
    // index is compared, not the position, which may not fit in 64 bits.
    Value count = memref.sizes[dim];
    if (shape[dim] > 1)
      count = emit.lshr(emit.add(count, emit.i64(shape[dim] - 1)),
                        llvm::Log2_64(shape[dim]));
    access.uniform = emit.both(access.uniform,
                               emit.compare(CmpIPredicate::ult, index, count));
  }

  Pieces pieces = findPieces(memref, layout);
  access.vector = pieces.vector;
  access.run = pieces.run;

  Value threadOffset;
  for (unsigned dim = 0; dim < rank; ++dim) {
    Value position = starts[dim];
    if (coordinates->isDisjoint(dim))
      position = emit.add(
          position, emit.zext(emit.i64(), coordinates->getThreadPart(dim)));
    Value moved = emit.mul(position, memref.strides[dim]);
    threadOffset = threadOffset ? emit.add(threadOffset, moved) : moved;
  }
  access.threadOffset = threadOffset ? threadOffset : emit.i64(0);

  // The closures are used while `memref` and this distributor live.
  const MemRefValue *source = &memref;
  access.offset = [=](unsigned r) {
    Value offset = threadOffset ? threadOffset : emit.i64(0);
    for (unsigned dim = 0; dim < rank; ++dim) {
      Value part;
      if (!coordinates->isDisjoint(dim))
        part = emit.zext(emit.i64(), coordinates->get(emit, dim, r));
      else if (uint32_t constant = coordinates->getRegisterPart(dim, r))
        part = emit.i64(constant);
      if (part)
        offset = emit.add(offset, emit.mul(part, source->strides[dim]));
    }
    return offset;
  };
  access.needsClamp = !checkedDims.empty();
  access.inBounds = [=](unsigned r) {
    Value inside;
    for (unsigned dim : checkedDims) {
      Value position = emit.add(
          starts[dim], emit.zext(emit.i64(), coordinates->get(emit, dim, r)));
      inside = emit.both(inside, emit.compare(CmpIPredicate::ult, position,
                                              source->sizes[dim]));
    }
    return inside;
  };
  return access;
}

Value Distributor::emitOwner(const LinearLayout &layout) {
  uint32_t free = layout.freeBits();
  const Space &domain = layout.getDomain();
  Value owner;
  auto require = [&](StringRef axis, Value id, unsigned count) {
    // The layout of a tile of rank 0 has no columns at all.
    unsigned bits = domain.bitsOf(axis);
    uint32_t used = ~free >> domain.offsetOf(axis).value_or(0);
    uint32_t mask = (count - 1) & ~(used & ((1u << bits) - 1));
    if (mask)
      owner = emit.both(owner, emit.isZero(emit.bitAnd(id, mask)));
  };
  require("lane", lane, 1u << kLaneBits);
  require("warp", warp, numWarps);
  return owner;
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// The type of `count` elements in one access, and how many values that is:
/// packed elements as i8, i16, i32 or vectors of i32, others as vectors.
static Type getAccessType(Type element, unsigned count) {
  MLIRContext *context = element.getContext();
  if (Fragment::isPacked(element)) {
    unsigned bits = count * 8 * getElementBytes(element);
    if (bits <= 32)
      return IntegerType::get(context, bits);
    return VectorType::get({bits / 32}, IntegerType::get(context, 32));
  }
  Type stored = getMemoryType(element);
  return count == 1 ? stored : Type(VectorType::get({count}, stored));
}

/// Says how wide the accesses of a tile are, and what would make them wider.
static void reportAccess(Operation *op, StringRef kernel, unsigned vector,
                         unsigned bytes, unsigned run) {
  auto remark =
      remark::analysis(op->getLoc(), remark::RemarkOpts::name("memory-access")
                                         .category("tile-distribute")
                                         .function(kernel));
  remark << remark::metric("bytes", vector * bytes);
  unsigned possible = std::min(run, 16 / bytes);
  if (vector < possible)
    remark << remark::reason(
        "{0} bytes need extents, strides and offsets that are known to be "
        "multiples of {1} elements",
        possible * bytes, possible);
}

LogicalResult Distributor::distributeLoad(LoadOp op) {
  auto found = memrefs.find(op.getSource());
  if (found == memrefs.end())
    return op.emitOpError("expects a kernel argument or a view of one");
  beforeRead();
  LinearLayout layout = getLayout(op);
  TileAccess access = analyzeAccess(found->second, op.getIndices(), layout);
  Type element = op.getType().getElementType();
  unsigned registers = 1u << layout.getDomain().bitsOf("register");
  unsigned vector = access.vector, bytes = getElementBytes(element);
  reportAccess(op, kernel.getName(), vector, bytes, access.run);
  Type accessType = getAccessType(element, vector);

  SmallVector<Type> types(Fragment::numValues(element, registers),
                          Fragment::valueType(element));
  auto branch = scf::IfOp::create(emit.builder, emit.loc, types,
                                  access.uniform ? access.uniform
                                                 : emit.constant(emit.i1(), 1),
                                  /*withElse=*/true);
  OpBuilder::InsertionGuard guard(emit.builder);
  emit.builder.setInsertionPointToStart(branch.thenBlock());

  uint32_t free = 0;
  for (auto [bit, column] : llvm::enumerate(layout.getColumns("register")))
    if (!column)
      free |= 1u << bit;
  DenseMap<unsigned, Value> loaded; // by first register
  auto loadAt = [&](unsigned r) {
    Value &value = loaded[r];
    if (value)
      return value;
    Value offset = access.offset(r), inside = access.inBounds(r);
    if (inside)
      offset = emit.select(inside, offset, emit.i64(0));
    value = LLVM::LoadOp::create(emit.builder, emit.loc, accessType,
                                 elementPointer(found->second, offset),
                                 vector * bytes);
    if (inside) {
      Value zero = LLVM::ZeroOp::create(emit.builder, emit.loc, accessType);
      value =
          LLVM::SelectOp::create(emit.builder, emit.loc, inside, value, zero);
    }
    return value;
  };
  /// Element or word `index` of a loaded vector.
  auto extract = [&](Value value, unsigned index) -> Value {
    if (!isa<VectorType>(value.getType()))
      return value;
    return LLVM::ExtractElementOp::create(emit.builder, emit.loc, value,
                                          emit.i32(index));
  };

  SmallVector<Value> values;
  unsigned perValue = Fragment::perValue(element);
  for (unsigned first = 0; first < registers; first += perValue) {
    if (!Fragment::isPacked(element)) {
      unsigned r = first & ~free;
      Value value = extract(loadAt(r & ~(vector - 1)), r & (vector - 1));
      values.push_back(value);
      continue;
    }
    if (vector >= perValue) {
      unsigned r = first & ~free;
      values.push_back(
          extract(loadAt(r & ~(vector - 1)), (r & (vector - 1)) / perValue));
      continue;
    }
    Value word;
    for (unsigned i = 0; i < perValue && first + i < registers; i += vector) {
      Value piece = emit.zext(emit.i32(), loadAt((first + i) & ~free));
      piece = emit.shl(piece, i * 8 * bytes);
      word = word ? emit.bitOr(word, piece) : piece;
    }
    values.push_back(word);
  }
  scf::YieldOp::create(emit.builder, emit.loc, values);

  emit.builder.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Value> zeros;
  if (!types.empty()) {
    Value zero = arith::ConstantOp::create(
        emit.builder, emit.loc, emit.builder.getZeroAttr(types.front()));
    zeros.assign(types.size(), zero);
  }
  scf::YieldOp::create(emit.builder, emit.loc, zeros);
  setFragment(op, branch.getResults());
  return success();
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

LogicalResult Distributor::distributeStore(StoreOp op) {
  auto found = memrefs.find(op.getTarget());
  if (found == memrefs.end())
    return op.emitOpError("expects a kernel argument or a view of one");
  beforeWrite();
  const Fragment &value = getFragment(op.getValue());
  const LinearLayout &layout = value.layout;
  TileAccess access = analyzeAccess(found->second, op.getIndices(), layout);
  Type element = value.elementType;
  unsigned vector = access.vector, bytes = getElementBytes(element);
  reportAccess(op, kernel.getName(), vector, bytes, access.run);
  Type accessType = getAccessType(element, vector);

  /// The elements of registers [r, r + vector) as one value to store.
  auto assemble = [&](unsigned r) -> Value {
    if (value.isPacked()) {
      unsigned perValue = value.perValue();
      if (vector < perValue)
        return emit.trunc(accessType, emit.lshr(value.values[r / perValue],
                                                r % perValue * 8 * bytes));
      if (vector == perValue)
        return value.values[r / perValue];
    } else if (vector == 1) {
      return value.values[r];
    }
    Value result = LLVM::PoisonOp::create(emit.builder, emit.loc, accessType);
    unsigned perValue = value.perValue();
    for (unsigned i = 0; i < vector / perValue; ++i)
      result = LLVM::InsertElementOp::create(emit.builder, emit.loc, result,
                                             value.values[r / perValue + i],
                                             emit.i32(i));
    return result;
  };

  uint32_t free = getFreeRegisters(layout);
  emit.guarded(emit.both(access.uniform, emitOwner(layout)), [&] {
    for (unsigned r = 0; r < value.numRegisters(); r += vector) {
      if (r & free)
        continue;
      emit.guarded(access.inBounds(r), [&] {
        LLVM::StoreOp::create(emit.builder, emit.loc, assemble(r),
                              elementPointer(found->second, access.offset(r)),
                              vector * bytes);
      });
    }
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Gather and scatter
//===----------------------------------------------------------------------===//

struct Distributor::ElementAccess {
  Value notEmpty; ///< The memref has an element; null for known.
  std::function<Value(unsigned r)> offset, inBounds;
};

Distributor::ElementAccess
Distributor::analyzeElements(const MemRefValue &memref, ValueRange indices,
                             Value mask) {
  ElementAccess access;
  for (Value size : memref.sizes)
    access.notEmpty = emit.both(
        access.notEmpty, emit.compare(CmpIPredicate::sgt, size, emit.i64(0)));
  SmallVector<const Fragment *> fragmentsOfIndices;
  for (Value index : indices)
    fragmentsOfIndices.push_back(&getFragment(index));
  const Fragment *maskFragment = mask ? &getFragment(mask) : nullptr;
  const MemRefValue *source = &memref;
  auto getIndex = [=](unsigned dim, unsigned r) -> Value {
    Value index = fragmentsOfIndices[dim]->values[r];
    if (index.getType().isIndex())
      return arith::IndexCastOp::create(emit.builder, emit.loc, emit.i64(),
                                        index);
    if (index.getType().isInteger(32))
      return arith::ExtSIOp::create(emit.builder, emit.loc, emit.i64(), index);
    return index;
  };
  unsigned rank = memref.type.getRank();
  access.offset = [=](unsigned r) {
    Value offset = emit.i64(0);
    for (unsigned dim = 0; dim < rank; ++dim)
      offset =
          emit.add(offset, emit.mul(getIndex(dim, r), source->strides[dim]));
    return offset;
  };
  access.inBounds = [=](unsigned r) {
    Value inside = maskFragment ? maskFragment->values[r] : Value();
    for (unsigned dim = 0; dim < rank; ++dim)
      inside =
          emit.both(inside, emit.compare(CmpIPredicate::ult, getIndex(dim, r),
                                         source->sizes[dim]));
    return inside;
  };
  return access;
}

LogicalResult Distributor::distributeGather(GatherOp op) {
  auto found = memrefs.find(op.getSource());
  if (found == memrefs.end())
    return op.emitOpError("expects a kernel argument or a view of one");
  beforeRead();
  LinearLayout layout = getLayout(op);
  Type element = op.getType().getElementType();
  unsigned registers = 1u << layout.getDomain().bitsOf("register");
  SmallVector<Type> types(Fragment::numValues(element, registers),
                          Fragment::valueType(element));
  ElementAccess access =
      analyzeElements(found->second, op.getIndices(), op.getMask());
  auto branch = scf::IfOp::create(emit.builder, emit.loc, types,
                                  access.notEmpty ? access.notEmpty
                                                  : emit.constant(emit.i1(), 1),
                                  /*withElse=*/true);
  OpBuilder::InsertionGuard guard(emit.builder);
  emit.builder.setInsertionPointToStart(branch.thenBlock());
  Type stored = getMemoryType(element);
  auto loaded = forEachRegister(layout, [&](unsigned r) -> Value {
    Value inside = access.inBounds(r);
    Value offset = access.offset(r);
    if (inside)
      offset = emit.select(inside, offset, emit.i64(0));
    Value value = LLVM::LoadOp::create(emit.builder, emit.loc, stored,
                                       elementPointer(found->second, offset),
                                       getElementBytes(element));
    if (inside)
      value = LLVM::SelectOp::create(
          emit.builder, emit.loc, inside, value,
          LLVM::ZeroOp::create(emit.builder, emit.loc, stored));
    if (Fragment::isPacked(element))
      return emit.zext(emit.i32(), emit.bitcast(emit.builder.getIntegerType(
                                                    getElementBits(element)),
                                                value));
    return value;
  });
  Fragment fragment = Fragment::isPacked(element)
                          ? Fragment::fromBits(emit, element, layout, loaded)
                          : Fragment{element, layout, loaded};
  scf::YieldOp::create(emit.builder, emit.loc, fragment.values);
  emit.builder.setInsertionPointToStart(branch.elseBlock());
  Value zero = arith::ConstantOp::create(
      emit.builder, emit.loc, emit.builder.getZeroAttr(types.front()));
  scf::YieldOp::create(emit.builder, emit.loc,
                       SmallVector<Value>(types.size(), zero));
  setFragment(op, branch.getResults());
  return success();
}

LogicalResult Distributor::distributeScatter(ScatterOp op) {
  auto found = memrefs.find(op.getTarget());
  if (found == memrefs.end())
    return op.emitOpError("expects a kernel argument or a view of one");
  beforeWrite();
  const Fragment &value = getFragment(op.getValue());
  Type element = value.elementType;
  ElementAccess access =
      analyzeElements(found->second, op.getIndices(), op.getMask());
  uint32_t free = getFreeRegisters(value.layout);
  emit.guarded(emitOwner(value.layout), [&] {
    for (unsigned r = 0; r < value.numRegisters(); ++r) {
      if (r & free)
        continue;
      emit.guarded(access.inBounds(r), [&] {
        Value scalar = value.getScalar(emit, r);
        LLVM::StoreOp::create(emit.builder, emit.loc, scalar,
                              elementPointer(found->second, access.offset(r)),
                              getElementBytes(element));
      });
    }
  });
  return success();
}
