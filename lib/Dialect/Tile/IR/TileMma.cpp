//===- TileMma.cpp - Matrix multiplies: queries, verify -------------------===//
//
// Which operands a multiply may have. The legal triples of element, scale and
// block size come from the format table (`isLegalBlockScale`) and are written
// nowhere else.
//
//===----------------------------------------------------------------------===//

#include "tile/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

/// Whether values of `type` are stored without a block scale.
static bool isPlain(Type type) { return isa<BFloat16Type, Float16Type>(type); }

Value MmaFScaledOp::getLhsScale() {
  return isPlain(getLhs().getType().getElementType()) ? Value()
                                                      : getScales().front();
}

Value MmaFScaledOp::getRhsScale() {
  return isPlain(getRhs().getType().getElementType()) ? Value()
                                                      : getScales().back();
}

int64_t MmaFScaledOp::getBlockSize() {
  if (Value scale = getLhsScale())
    return getLhs().getType().getShape().back() /
           cast<RankedTensorType>(scale.getType()).getShape().back();
  ArrayRef<int64_t> scale =
      cast<RankedTensorType>(getRhsScale().getType()).getShape();
  return getRhs().getType().getShape().end()[-2] / scale.end()[-2];
}

//===----------------------------------------------------------------------===//
// Extents and path
//===----------------------------------------------------------------------===//

/// Checks M, N, K and the batch of `lhs` by `rhs` plus `acc`, whose ranks are
/// equal.
static LogicalResult verifyExtents(Operation *op, RankedTensorType lhs,
                                   RankedTensorType rhs, RankedTensorType acc) {
  ArrayRef<int64_t> a = lhs.getShape(), b = rhs.getShape(), c = acc.getShape();
  if (a.end()[-1] != b.end()[-2]) // mmaf_c4 mmaf_scaled_c8
    return op->emitOpError("expects equal K extents of lhs and rhs, but got ")
           << lhs << " and " << rhs;
  if (c.end()[-2] != a.end()[-2] ||
      c.end()[-1] != b.end()[-1]) // mmaf_c5 mmaf_scaled_c9
    return op->emitOpError("expects acc to be ")
           << a.end()[-2] << "x" << b.end()[-1] << " (M by N), but got " << acc;
  if (a.size() == 3 &&
      (a[0] != b[0] || a[0] != c[0])) // mmaf_c6 mmaf_scaled_c10
    return op->emitOpError("expects equal batch extents of lhs, rhs and acc, "
                           "but got ")
           << a[0] << ", " << b[0] << " and " << c[0];
  return success();
}

/// Checks what the compiler notes on a multiply.
static LogicalResult verifyPath(Operation *op, std::optional<StringRef> path) {
  if (path && *path != "native" && *path != "expand") // mmaf_c7 mmaf_scaled_c15
    return op->emitOpError("expects path to be \"native\" or \"expand\", but "
                           "got \"")
           << *path << "\"";
  return success();
}

LogicalResult MmaFOp::verify() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType();
  Type a = lhs.getElementType(), b = rhs.getElementType();
  if (a != b && (isPlain(a) || isPlain(b))) // mmaf_c3
    return emitOpError("expects 'bf16' by 'bf16', 'f16' by 'f16', or FP8 by "
                       "FP8, but got ")
           << a << " by " << b;
  if (failed(verifyExtents(*this, lhs, rhs, getAcc().getType())))
    return failure();
  return verifyPath(*this, getPath());
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

namespace {
/// One scaled operand; dimensions of K and of M or N count from the back.
struct ScaledOperand {
  StringRef name;
  RankedTensorType type;
  Value scaleValue;
  unsigned kDim;

  RankedTensorType getScale() const {
    return cast<RankedTensorType>(scaleValue.getType());
  }
  int64_t getK() const { return type.getShape().end()[-int(kDim)]; }
  int64_t getGroups() const { return getScale().getShape().end()[-int(kDim)]; }
  int64_t getBlockSize() const { return getK() / getGroups(); }
};
} // namespace

/// The block sizes that the format table allows for a pair of types.
static SmallVector<int64_t> getLegalBlockSizes(Type element, Type scale) {
  SmallVector<int64_t> sizes;
  for (int64_t size = 1; size <= kMaxTileElements; size *= 2)
    if (isLegalBlockScale(*getElementFormat(element), *getElementFormat(scale),
                          size))
      sizes.push_back(size);
  return sizes;
}

/// Checks the shape of a scale against its operand in all but the K extent.
static LogicalResult verifyScaleShape(MmaFScaledOp op,
                                      const ScaledOperand &operand) {
  SmallVector<int64_t> shape(operand.getScale().getShape());
  SmallVector<int64_t> expected(operand.type.getShape());
  auto fits = [&] {
    if (shape.size() != expected.size())
      return false;
    // K is free here: its extent says how large a block is.
    expected.end()[-int(operand.kDim)] = shape.end()[-int(operand.kDim)];
    return shape == expected;
  };
  if (fits()) // mmaf_scaled_c11
    return success();
  bool isLhs = operand.kDim == 1;
  InFlightDiagnostic diag = op.emitOpError("expects the scale of ")
                            << operand.name << " to be ";
  if (operand.type.getRank() == 3)
    diag << operand.type.getShape()[0] << "x";
  if (isLhs)
    diag << operand.type.getShape().end()[-2] << "x(K/V)";
  else
    diag << "(K/V)x" << operand.type.getShape().end()[-1];
  diag << ", but got " << operand.getScale();
  std::swap(shape.end()[-1], shape.end()[-2]);
  if (fits())
    diag << "; transpose it with 'tile.permute'";
  return diag;
}

/// Checks one operand against its scale.
static LogicalResult verifyScale(MmaFScaledOp op,
                                 const ScaledOperand &operand) {
  Type element = operand.type.getElementType();
  Type scale = operand.getScale().getElementType();
  SmallVector<int64_t> sizes = getLegalBlockSizes(element, scale);
  if (sizes.empty()) { // mmaf_scaled_c6
    SmallVector<StringRef> legal;
    for (const FormatInfo &format : getFormats())
      for (int64_t size : {16, 32})
        if (isLegalBlockScale(*getElementFormat(element), format.format,
                              size)) {
          legal.push_back(format.name);
          break;
        }
    return op.emitOpError("expects an ")
           << llvm::join(legal, " or ") << " scale for " << operand.name
           << " of type " << element << ", but got " << scale;
  }
  if (failed(verifyScaleShape(op, operand)))
    return failure();
  if (operand.getK() % operand.getGroups() != 0) // mmaf_scaled_c5
    return op.emitOpError("expects the K extent of ")
           << operand.name
           << " to be a multiple of the K extent of its scale, but got "
           << operand.type << " and " << operand.getScale();
  if (!llvm::is_contained(sizes, operand.getBlockSize())) { // mmaf_scaled_c7
    InFlightDiagnostic diag = op.emitOpError("expects ");
    llvm::interleave(sizes, diag, " or ");
    return diag << " values of " << operand.name << " per " << scale
                << " scale, but got " << operand.getBlockSize() << " (K is "
                << operand.getK() << ", and K of the scale "
                << operand.getGroups() << ")";
  }
  return success();
}

/// The constant that `value` is or rearranges, or null.
static ElementsAttr findConstant(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<PermuteOp, ReshapeOp, BroadcastOp, ConvertLayoutOp>(op)) {
      value = op->getOperand(0);
      continue;
    }
    ElementsAttr attr;
    return matchPattern(op, m_Constant(&attr)) ? attr : ElementsAttr();
  }
  return {};
}

/// Hardware reads an E4M3 scale as unsigned, so a set sign bit has no meaning
/// that all targets share.
static LogicalResult verifyNonNegative(MmaFScaledOp op,
                                       const ScaledOperand &operand) {
  if (!isa<Float8E4M3FNType>(operand.getScale().getElementType()))
    return success();
  auto constant =
      dyn_cast_or_null<DenseElementsAttr>(findConstant(operand.scaleValue));
  if (!constant)
    return success();
  for (auto [index, raw] : llvm::enumerate(constant.getRawData())) {
    uint8_t code = static_cast<uint8_t>(raw);
    if (code & 0x80) // mmaf_scaled_c14
      return op.emitOpError("expects scales of ")
             << operand.name << " without a sign, but constant element "
             << index << " is "
             << llvm::formatv("{0} ({1:X+2})",
                              decode(ElementFormat::F8E4M3FN, code),
                              static_cast<unsigned>(code))
                    .str();
  }
  return success();
}

LogicalResult MmaFScaledOp::verify() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType();
  Type a = lhs.getElementType(), b = rhs.getElementType();
  if (isPlain(a) && isPlain(b)) // mmaf_scaled_c3
    return emitOpError("expects at least one block-scaled operand; use "
                       "'tile.mmaf' for ")
           << a << " by " << b;
  size_t expected = !isPlain(a) + !isPlain(b);
  if (getScales().size() != expected) // mmaf_scaled_c4
    return emitOpError("expects ")
           << expected << " scale operand" << (expected == 1 ? "" : "s")
           << " for " << a << " by " << b << ", but got " << getScales().size();
  if (failed(verifyExtents(*this, lhs, rhs, getAcc().getType())))
    return failure();

  SmallVector<ScaledOperand, 2> operands;
  if (Value scale = getLhsScale())
    operands.push_back({"lhs", lhs, scale, /*kDim=*/1});
  if (Value scale = getRhsScale())
    operands.push_back({"rhs", rhs, scale, /*kDim=*/2});
  for (const ScaledOperand &operand : operands)
    if (failed(verifyScale(*this, operand)))
      return failure();
  if (operands.size() == 2) {
    Type sa = operands[0].getScale().getElementType();
    Type sb = operands[1].getScale().getElementType();
    if (sa != sb) // mmaf_scaled_c12
      return emitOpError("expects scales of one type, but got ")
             << sa << " for lhs and " << sb << " for rhs";
    if (operands[0].getBlockSize() !=
        operands[1].getBlockSize()) // mmaf_scaled_c13
      return emitOpError("expects as many values per scale for lhs as for rhs, "
                         "but got ")
             << operands[0].getBlockSize() << " and "
             << operands[1].getBlockSize();
  }
  for (const ScaledOperand &operand : operands)
    if (failed(verifyNonNegative(*this, operand)))
      return failure();
  return verifyPath(*this, getPath());
}
