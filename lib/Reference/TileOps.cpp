//===- TileOps.cpp - Grid, bits, shapes, conversions, reductions ----------===//
//
// The operations of `tile` that neither touch memory nor multiply matrices,
// and those of `tensor`.
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "tile/Dialect/Tile/IR/Tile.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace tile;
using namespace tile::reference;

//===----------------------------------------------------------------------===//
// The grid
//===----------------------------------------------------------------------===//

static void setIndex(Program &program, Value result, int64_t value) {
  program.set(result, Tensor::getScalar(getElementOf(result),
                                        static_cast<uint64_t>(value)));
}

static LogicalResult computeProgramId(Program &program, ProgramIdOp op) {
  std::array<int64_t, 3> at =
      program.getLaunch().getCoordinates(program.getLinearIndex());
  setIndex(program, op.getResult(), at[op.getDim()]);
  return success();
}

static LogicalResult computeNumPrograms(Program &program, NumProgramsOp op) {
  setIndex(program, op.getResult(),
           program.getLaunch().grid.extents[op.getDim()]);
  return success();
}

/// The value itself; that the facts hold is checked.
static LogicalResult computeAssume(Program &program, AssumeOp op) {
  int64_t value = program.getSigned(op.getValue());
  if (std::optional<uint64_t> divisor = op.getDivisibleBy())
    if (value % static_cast<int64_t>(*divisor) != 0)
      return program.fail(op, "expects a multiple of " + Twine(*divisor) +
                                  ", but got " + Twine(value));
  if (std::optional<uint64_t> min = op.getMin())
    if (value < static_cast<int64_t>(*min))
      return program.fail(op, "expects at least " +
                                  Twine(static_cast<int64_t>(*min)) +
                                  ", but got " + Twine(value));
  if (std::optional<uint64_t> max = op.getMax())
    if (value > static_cast<int64_t>(*max))
      return program.fail(op, "expects at most " +
                                  Twine(static_cast<int64_t>(*max)) +
                                  ", but got " + Twine(value));
  setIndex(program, op.getResult(), value);
  return success();
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

/// The bits of `source`, in the order of its elements and the lowest bit of
/// each first, cut into elements of `result`. Both have whole rows of bytes, so
/// that this is also what happens along the last dimension.
static Tensor reinterpretBits(const Tensor &source, Tensor result) {
  const unsigned from = source.getElement().bits;
  const unsigned to = result.getElement().bits;
  if (from % 8 == 0 && to % 8 == 0) {
    std::memcpy(result.mutableData(), source.data(),
                static_cast<size_t>(source.size()) * (from / 8));
    return result;
  }
  if (to < from) {
    const int64_t perSource = from / to;
    for (int64_t i = 0; i < result.size(); ++i)
      result.setCode(i, source.getCode(i / perSource) >> (i % perSource * to) &
                            result.getElement().getMask());
    return result;
  }
  const int64_t perResult = to / from;
  for (int64_t i = 0; i < result.size(); ++i) {
    uint64_t code = 0;
    for (int64_t part = 0; part < perResult; ++part)
      code |= source.getCode(i * perResult + part) << (part * from);
    result.setCode(i, code);
  }
  return result;
}

static LogicalResult computeUnpack(Program &program, UnpackOp op) {
  program.set(op.getResult(), reinterpretBits(program.getTensor(op.getSource()),
                                              makeTensor(op.getResult())));
  return success();
}

static LogicalResult computePack(Program &program, PackOp op) {
  program.set(op.getResult(), reinterpretBits(program.getTensor(op.getSource()),
                                              makeTensor(op.getResult())));
  return success();
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

static Rounding getRounding(FToFOp op) {
  if (!op.getRounding())
    return Rounding::NearestEven;
  return *op.getRounding() == RoundingMode::TowardZero ? Rounding::TowardZero
                                                       : Rounding::Upward;
}

/// result[c] = encode(decode(source[c])).
static LogicalResult computeFToF(Program &program, FToFOp op) {
  const Tensor &source = program.getTensor(op.getSource());
  Tensor result = makeTensor(op.getResult());
  ElementFormat format = *result.getElement().format;
  Rounding rounding = getRounding(op);
  for (int64_t i = 0; i < source.size(); ++i)
    result.setCode(
        i, encode(format, source.getFloat(i), rounding, op.getSaturate()));
  program.set(op.getResult(), std::move(result));
  return success();
}

//===----------------------------------------------------------------------===//
// Reduction
//===----------------------------------------------------------------------===//

/// The code of the larger float, or the smaller with `wantMin`: NaN if either
/// is, +0 above -0. Works on every format, f8E8M0FNU included.
static uint64_t chooseFloat(const Element &element, uint64_t a, uint64_t b,
                            bool wantMin) {
  double x = element.decode(a), y = element.decode(b);
  if (std::isnan(x))
    return a;
  if (std::isnan(y))
    return b;
  bool firstIsLess = x < y || (x == y && std::signbit(x) && !std::signbit(y));
  return firstIsLess == wantMin ? a : b;
}

/// Combines the codes of integers, or chooses one of two floats.
static uint64_t combine(ReduceKind kind, const Element &element, uint64_t a,
                        uint64_t b) {
  switch (kind) {
  case ReduceKind::Add:
    return (a + b) & element.getMask();
  case ReduceKind::Mul:
    return (a * b) & element.getMask();
  case ReduceKind::And:
    return a & b;
  case ReduceKind::Or:
    return a | b;
  case ReduceKind::Xor:
    return a ^ b;
  case ReduceKind::Max:
  case ReduceKind::Min:
    break;
  }
  bool wantMin = kind == ReduceKind::Min;
  if (element.isFloat())
    return chooseFloat(element, a, b, wantMin);
  bool firstIsLess = element.decodeSigned(a) < element.decodeSigned(b);
  return firstIsLess == wantMin ? a : b;
}

/// result[o, i] = source[o, 0, i] combined with source[o, 1, i], … A sum or
/// product of floats is formed in f64 and rounded once.
static LogicalResult computeReduce(Program &program, ReduceOp op) {
  const Tensor &source = program.getTensor(op.getSource());
  const Element &element = source.getElement();
  Tensor result = makeTensor(op.getResult());
  const ReduceKind kind = op.getKind();
  const bool rounds =
      element.isFloat() && (kind == ReduceKind::Add || kind == ReduceKind::Mul);

  const int64_t dim = static_cast<int64_t>(op.getDim());
  const int64_t extent = source.getShape()[dim];
  const int64_t inner = getRowMajorStrides(source.getShape())[dim];
  for (int64_t at = 0; at < result.size(); ++at) {
    int64_t begin = at / inner * inner * extent + at % inner;
    if (rounds) {
      double total = source.getFloat(begin);
      for (int64_t k = 1; k < extent; ++k) {
        double next = source.getFloat(begin + k * inner);
        total = kind == ReduceKind::Add ? total + next : total * next;
      }
      result.setCode(at, element.encode(total));
      continue;
    }
    uint64_t code = source.getCode(begin);
    for (int64_t k = 1; k < extent; ++k)
      code = combine(kind, element, code, source.getCode(begin + k * inner));
    // Every NaN is the canonical one, as after arithmetic.
    if (element.isFloat() && std::isnan(element.decode(code)))
      code = element.format == ElementFormat::F8E8M0FNU
                 ? 0xFF
                 : element.encode(std::nan(""));
    result.setCode(at, code);
  }
  program.set(op.getResult(), std::move(result));
  return success();
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

/// result[c] = source[sum over d of c[d] * strides[d]].
static Tensor copyStrided(const Tensor &source, Tensor result,
                          ArrayRef<int64_t> strides) {
  ArrayRef<int64_t> shape = result.getShape();
  SmallVector<int64_t, 4> at(shape.size());
  int64_t element = 0;
  for (int64_t i = 0; i < result.size(); ++i) {
    result.setCode(i, source.getCode(element));
    for (size_t dim = shape.size(); dim-- > 0;) {
      element += strides[dim];
      if (++at[dim] < shape[dim])
        break;
      element -= shape[dim] * strides[dim];
      at[dim] = 0;
    }
  }
  return result;
}

/// result[c] = source[s] where s[permutation[i]] = c[i].
static LogicalResult computePermute(Program &program, PermuteOp op) {
  const Tensor &source = program.getTensor(op.getSource());
  SmallVector<int64_t, 4> sourceStrides = getRowMajorStrides(source.getShape());
  SmallVector<int64_t, 4> strides;
  for (int64_t dim : op.getPermutation())
    strides.push_back(sourceStrides[dim]);
  program.set(op.getResult(),
              copyStrided(source, makeTensor(op.getResult()), strides));
  return success();
}

/// result[c] = source[s] where s[d] = 0 if source has extent 1 there, else
/// c[d].
static LogicalResult computeBroadcast(Program &program, BroadcastOp op) {
  const Tensor &source = program.getTensor(op.getSource());
  SmallVector<int64_t, 4> strides = getRowMajorStrides(source.getShape());
  for (auto [extent, stride] : llvm::zip_equal(source.getShape(), strides))
    if (extent == 1)
      stride = 0;
  program.set(op.getResult(),
              copyStrided(source, makeTensor(op.getResult()), strides));
  return success();
}

/// The same elements in row-major order.
static LogicalResult computeReshape(Program &program, ReshapeOp op) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  program.set(op.getResult(),
              program.getTensor(op.getSource()).getReshaped(type.getShape()));
  return success();
}

/// A layout says who holds an element, not what it is.
static LogicalResult computeConvertLayout(Program &program,
                                          ConvertLayoutOp op) {
  program.set(op.getResult(), program.getTensor(op.getSource()));
  return success();
}

/// result[i] = i, wrapping in narrow types.
static LogicalResult computeIota(Program &program, IotaOp op) {
  Tensor result = makeTensor(op.getResult());
  for (int64_t i = 0; i < result.size(); ++i)
    result.setCode(i, static_cast<uint64_t>(i) & result.getElement().getMask());
  program.set(op.getResult(), std::move(result));
  return success();
}

//===----------------------------------------------------------------------===//
// tensor
//===----------------------------------------------------------------------===//

static LogicalResult computeSplat(Program &program, tensor::SplatOp op) {
  Tensor result = makeTensor(op.getResult());
  uint64_t code = program.getTensor(op.getInput()).getCode(0);
  for (int64_t i = 0; i < result.size(); ++i)
    result.setCode(i, code);
  program.set(op.getResult(), std::move(result));
  return success();
}

static LogicalResult computeExtract(Program &program, tensor::ExtractOp op) {
  const Tensor &source = program.getTensor(op.getTensor());
  int64_t element = 0;
  for (auto [dim, index] : llvm::enumerate(op.getIndices())) {
    int64_t at = program.getSigned(index), extent = source.getShape()[dim];
    if (at < 0 || at >= extent)
      return program.fail(op, "expects index " + Twine(dim) +
                                  " to be from 0 to " + Twine(extent - 1) +
                                  ", but got " + Twine(at));
    element = element * extent + at;
  }
  program.set(op.getResult(),
              Tensor::getScalar(source.getElement(), source.getCode(element)));
  return success();
}

void tile::reference::addTileHandlers(HandlerTable &table) {
  addHandler<ProgramIdOp, computeProgramId>(table);
  addHandler<NumProgramsOp, computeNumPrograms>(table);
  addHandler<AssumeOp, computeAssume>(table);
  addHandler<UnpackOp, computeUnpack>(table);
  addHandler<PackOp, computePack>(table);
  addHandler<FToFOp, computeFToF>(table);
  addHandler<ReduceOp, computeReduce>(table);
  addHandler<PermuteOp, computePermute>(table);
  addHandler<BroadcastOp, computeBroadcast>(table);
  addHandler<ReshapeOp, computeReshape>(table);
  addHandler<ConvertLayoutOp, computeConvertLayout>(table);
  addHandler<IotaOp, computeIota>(table);
  addHandler<tensor::SplatOp, computeSplat>(table);
  addHandler<tensor::ExtractOp, computeExtract>(table);
}
