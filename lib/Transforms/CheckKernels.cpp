//===- CheckKernels.cpp - Refuse operations that kernels may not use ------===//
//
// This file implements the pass that names every operation of a kernel which
// the compiler does not lower, before anything is lowered.
//
//===----------------------------------------------------------------------===//

#include "tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/TypeUtilities.h"
#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {
#define GEN_PASS_DEF_TILECHECKKERNELS
#include "tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Whether the compiler lowers operations of this kind.
static bool isAllowed(Operation *op) {
  if (isa<TileDialect>(op->getDialect()))
    // Layouts and buffers are the compiler's.
    return !isa<ConvertLayoutOp, AllocBufferOp, CopyAsyncOp, CommitCopiesOp,
                WaitCopiesOp, BarrierOp, ReadBufferOp>(op);
  if (isa<arith::ArithDialect>(op->getDialect()))
    return !isa<arith::ScalingExtFOp, arith::ScalingTruncFOp>(op);
  if (isa<math::MathDialect>(op->getDialect()))
    return isa<math::AbsFOp, math::FloorOp, math::CeilOp, math::TruncOp,
               math::RoundEvenOp, math::SqrtOp, math::FmaOp, math::ExpOp,
               math::Exp2Op, math::LogOp, math::Log2Op, math::RsqrtOp,
               math::TanhOp, math::ErfOp, math::SinOp, math::CosOp>(op);
  return isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::ConditionOp,
             scf::YieldOp, tensor::SplatOp, tensor::ExtractOp, memref::DimOp,
             memref::LoadOp, memref::SubViewOp, func::ReturnOp>(op);
}

/// Refuses element types and modes that arithmetic on tiles does not have.
static LogicalResult checkTypes(Operation *op) {
  bool isArithmetic =
      isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
      !isa<arith::ConstantOp, arith::SelectOp, arith::BitcastOp>(op);
  auto check = [&](Type type) -> LogicalResult {
    // Memrefs are checked where they are declared.
    if (!isa<BaseMemRefType>(type) && !isTile(type) && !isTileElementType(type))
      return op->emitOpError("expects tiles and scalars of i1, i8, i16, i32, "
                             "i64, index, f16, bf16 or f32, but got ")
             << type;
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (tensor && tensor.getEncoding())
      return op->emitOpError("expects tiles without an encoding, but got ")
             << type;
    std::optional<ElementFormat> format =
        getElementFormat(getElementTypeOrSelf(type));
    if (isArithmetic && format && getFormatInfo(*format).bits < 16)
      return op->emitOpError("has no arithmetic on ")
             << getElementTypeOrSelf(type)
             << " elements; convert them with 'tile.ftof'";
    return success();
  };
  for (Type type : op->getOperandTypes())
    if (failed(check(type)))
      return failure();
  for (Type type : op->getResultTypes()) {
    // A memref that may be one or another has no one pointer and no promises.
    if (isa<BaseMemRefType>(type) && !isa<memref::SubViewOp>(op))
      return op->emitOpError("expects to carry tiles and scalars, but got ")
             << type;
    if (failed(check(type)))
      return failure();
  }
  auto truncation = dyn_cast<arith::TruncFOp>(op);
  if (truncation && truncation.getRoundingmode() &&
      *truncation.getRoundingmode() != arith::RoundingMode::to_nearest_even)
    return op->emitOpError("expects to_nearest_even rounding, but got ")
           << arith::stringifyRoundingMode(*truncation.getRoundingmode());
  return success();
}

/// Replaces a constant of raw bytes by one of elements. Pairs have none: they
/// are packed from the bytes of an i8 constant, which moves nothing.
static LogicalResult expandResource(arith::ConstantOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type || isa<DenseElementsAttr>(op.getValue()))
    return success();
  auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue());
  if (!resource)
    return op.emitOpError("expects dense elements or a dense resource");
  Type element = type.getElementType();
  int64_t expected =
      type.getNumElements() * std::max(1u, getElementBits(element) / 8);
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  int64_t size = blob ? blob->getData().size() : 0;
  if (!blob || size != expected)
    return op.emitOpError("expects a resource of ")
           << expected << " bytes, but got "
           << (blob ? Twine(size) : Twine("none"));
  OpBuilder builder(op);
  auto makeConstant = [&](RankedTensorType type) -> Value {
    return arith::ConstantOp::create(
        builder, op.getLoc(),
        cast<TypedAttr>(
            DenseElementsAttr::getFromRawBuffer(type, blob->getData())));
  };
  Value value;
  if (isa<F4E2M1FNx2Type>(element) && type.getRank() > 0) {
    SmallVector<int64_t> shape(type.getShape());
    shape.back() *= 2;
    value = makeConstant(
        RankedTensorType::get(type.getShape(), builder.getI8Type()));
    value = UnpackOp::create(
        builder, op.getLoc(),
        RankedTensorType::get(shape,
                              Float4E2M1FNType::get(builder.getContext())),
        value);
    value = PackOp::create(builder, op.getLoc(), type, value);
  } else if (bool isSplat;
             !element.isInteger(1) && DenseElementsAttr::isValidRawBuffer(
                                          type, blob->getData(), isSplat)) {
    value = makeConstant(type);
  } else {
    return op.emitOpError("expects dense elements for ") << type;
  }
  op.replaceAllUsesWith(value);
  op.erase();
  return success();
}

/// Arithmetic is IEEE, one rounding per operation: licences to reassociate or
/// contract end here.
static void dropFastMath(Operation *op) {
  if (auto fast = dyn_cast<arith::ArithFastMathInterface>(op))
    op->setAttr(fast.getFastMathAttrName(),
                arith::FastMathFlagsAttr::get(op->getContext(),
                                              arith::FastMathFlags::none));
}

namespace {
struct CheckKernels : public tile::impl::TileCheckKernelsBase<CheckKernels> {
  using Base::Base;

  LogicalResult check(func::FuncOp kernel) {
    bool ok = true;
    // An operation before what is inside it: the author wrote that one.
    kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (auto call = dyn_cast<func::CallOp>(op)) {
        op->emitOpError() << "to '" << call.getCallee()
                          << "' cannot be inlined: it is recursive or has no "
                             "body";
      } else if (!isAllowed(op)) {
        op->emitOpError("is not allowed in a kernel");
      } else if (succeeded(checkTypes(op))) {
        dropFastMath(op);
        return WalkResult::advance();
      }
      ok = false;
      return WalkResult::skip();
    });
    if (!ok)
      return failure();
    SmallVector<arith::ConstantOp> constants;
    kernel.walk([&](arith::ConstantOp op) { constants.push_back(op); });
    for (arith::ConstantOp op : constants)
      ok &= succeeded(expandResource(op));
    return success(ok);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    bool hasKernel = false, ok = true;
    SmallVector<Operation *> dead;
    for (Operation &op : *module.getBody()) {
      auto function = dyn_cast<func::FuncOp>(op);
      if (!function) {
        op.emitOpError("is not allowed beside kernels");
        ok = false;
        continue;
      }
      if (!function->hasAttr("tile.kernel")) {
        if (function.isPublic()) {
          function.emitOpError("expects a function without 'tile.kernel' to be "
                               "private");
          ok = false;
        }
        dead.push_back(function);
        continue;
      }
      hasKernel = true;
      if (function.isExternal()) {
        function.emitOpError("expects a kernel to have a body");
        ok = false;
      } else if (failed(check(function))) {
        ok = false;
      }
    }
    if (ok && !hasKernel) {
      module.emitError("expects a module with at least one 'tile.kernel' "
                       "function");
      ok = false;
    }
    if (!ok)
      return signalPassFailure();
    for (Operation *op : dead)
      op->erase();
  }
};
} // namespace
