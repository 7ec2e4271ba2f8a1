//===- Divisibility.cpp - What divides the numbers of a kernel ------------===//

#include "tile/Transforms/Divisibility.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace tile;

uint64_t tile::getDivisor(Value value) {
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    if (auto attr = dyn_cast<IntegerAttr>(constant.getValue()))
      return attr.getValue().abs().getLimitedValue();
  if (auto assume = value.getDefiningOp<AssumeOp>())
    return std::lcm(
        std::max<uint64_t>(1, assume.getDivisibleBy().value_or(1)) & 0xFFFFFFFF,
        std::max<uint64_t>(1, getDivisor(assume.getValue()) & 0xFFFFFFFF));
  Operation *op = value.getDefiningOp();
  if (!op) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()))
        if (argument == loop.getInductionVar())
          return std::gcd(getDivisor(loop.getLowerBound()),
                          getDivisor(loop.getStep()));
    return 1;
  }
  if (isa<arith::MulIOp>(op)) {
    uint64_t a = getDivisor(op->getOperand(0)),
             b = getDivisor(op->getOperand(1));
    bool overflow = false;
    uint64_t product = llvm::SaturatingMultiply(a, b, &overflow);
    return overflow ? 1 : product;
  }
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MinUIOp,
          arith::MaxSIOp, arith::MaxUIOp>(op))
    return std::gcd(getDivisor(op->getOperand(0)),
                    getDivisor(op->getOperand(1)));
  if (isa<arith::SelectOp>(op))
    return std::gcd(getDivisor(op->getOperand(1)),
                    getDivisor(op->getOperand(2)));
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return getDivisor(op->getOperand(0));
  return 1;
}

bool MemRefDivisors::allowsPieces(unsigned dim, uint64_t unit) const {
  for (unsigned other = 0; other < strides.size(); ++other)
    if (other != dim && !divides(unit, strides[other]))
      return false;
  return divides(unit, offset) && divides(unit, sizes[dim]);
}

/// The divisor of a number of a view.
static uint64_t getDivisor(OpFoldResult number) {
  if (auto attr = dyn_cast<Attribute>(number))
    return std::abs(cast<IntegerAttr>(attr).getInt());
  return getDivisor(cast<Value>(number));
}

static std::optional<MemRefDivisors> getArgumentDivisors(BlockArgument value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  auto kernel = dyn_cast<func::FuncOp>(value.getOwner()->getParentOp());
  if (!type || !kernel)
    return std::nullopt;
  auto promised = [&](StringRef name, unsigned dim) -> uint64_t {
    auto attr =
        kernel.getArgAttrOfType<DenseI64ArrayAttr>(value.getArgNumber(), name);
    return attr ? attr[dim] : 1;
  };
  MemRefDivisors result;
  auto [strides, offset] = type.getStridesAndOffset();
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    result.sizes.push_back(ShapedType::isDynamic(size)
                               ? promised("tile.shape_divisible_by", dim)
                               : size);
  for (auto [dim, stride] : llvm::enumerate(strides))
    result.strides.push_back(ShapedType::isDynamic(stride)
                                 ? promised("tile.stride_divisible_by", dim)
                                 : stride);
  // The layout's offset is part of the type, if static.
  if (!ShapedType::isDynamic(offset))
    result.offset = offset;
  return result;
}

std::optional<MemRefDivisors> tile::getMemRefDivisors(Value memref) {
  if (auto argument = dyn_cast<BlockArgument>(memref))
    return getArgumentDivisors(argument);
  if (auto cast = memref.getDefiningOp<memref::CastOp>())
    return getMemRefDivisors(cast.getSource());
  auto view = memref.getDefiningOp<memref::SubViewOp>();
  if (!view)
    return std::nullopt;
  std::optional<MemRefDivisors> source = getMemRefDivisors(view.getSource());
  if (!source)
    return std::nullopt;
  MemRefDivisors result;
  result.offset = source->offset;
  llvm::SmallBitVector dropped = view.getDroppedDims();
  for (unsigned dim = 0; dim < source->strides.size(); ++dim) {
    uint64_t moved =
        ::getDivisor(view.getMixedOffsets()[dim]) * source->strides[dim];
    result.offset = std::gcd(result.offset, moved);
    if (dropped[dim])
      continue;
    result.sizes.push_back(::getDivisor(view.getMixedSizes()[dim]));
    result.strides.push_back(source->strides[dim]);
  }
  return result;
}
