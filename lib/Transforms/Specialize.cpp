//===- Specialize.cpp - Put known arguments of a kernel in ----------------===//
//
// This file implements the pass that replaces integer arguments of a kernel by
// constants, and gives memref arguments static extents.
//
//===----------------------------------------------------------------------===//

#include "tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/BitVector.h"

namespace tile {
#define GEN_PASS_DEF_TILESPECIALIZE
#include "tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

/// Reads `ARGUMENT:REST`; the argument is one of `kernel`.
static FailureOr<std::pair<unsigned, StringRef>>
parseArgument(func::FuncOp kernel, StringRef option, StringRef text) {
  auto [number, rest] = text.split(':');
  unsigned argument;
  if (number.getAsInteger(10, argument) || rest.empty() ||
      argument >= kernel.getNumArguments())
    return kernel.emitError("expects ")
           << option << "=ARGUMENT:VALUE with an argument from 0 to "
           << int(kernel.getNumArguments()) - 1 << ", but got '" << text << "'";
  return std::pair(argument, rest);
}

/// Replaces the uses of argument `index` by the integer that `text` spells.
static LogicalResult bind(func::FuncOp kernel, unsigned index, StringRef text) {
  BlockArgument argument = kernel.getArgument(index);
  Type type = argument.getType();
  if (!type.isIndex() && !type.isSignlessInteger())
    return kernel.emitError("expects to bind an integer, but argument ")
           << index << " is of type " << type;
  const unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  int64_t value;
  if (text.getAsInteger(10, value) ||
      (bits < 64 && !llvm::isIntN(bits, value) &&
       !llvm::isUIntN(bits, static_cast<uint64_t>(value))))
    return kernel.emitError("expects a value of ")
           << type << " for argument " << index << ", but got '" << text << "'";
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  auto constant = arith::ConstantOp::create(
      builder, argument.getLoc(),
      builder.getIntegerAttr(type, APInt(bits, static_cast<uint64_t>(value),
                                         /*isSigned=*/false,
                                         /*implicitTrunc=*/true)));
  argument.replaceAllUsesWith(constant);
  return success();
}

/// Gives `value` the type `type`, which says more than its own, and views of it
/// theirs.
static LogicalResult refine(Value value, MemRefType type) {
  if (value.getType() == type)
    return success();
  value.setType(type);
  for (Operation *user : value.getUsers()) {
    if (auto view = dyn_cast<memref::SubViewOp>(user)) {
      auto result = dyn_cast_or_null<MemRefType>(
          memref::SubViewOp::inferRankReducedResultType(
              view.getType().getShape(), type, view.getMixedOffsets(),
              view.getMixedSizes(), view.getMixedStrides()));
      if (!result)
        return view.emitOpError("has no type as a view of ") << type;
      if (failed(refine(view.getResult(), result)))
        return failure();
    } else if (!isa<TileDialect>(user->getDialect()) &&
               !isa<memref::DimOp, memref::LoadOp>(user)) {
      return user->emitOpError("uses an array in a way that does not allow "
                               "extents to be put in");
    }
  }
  return success();
}

static LogicalResult setShape(func::FuncOp kernel, unsigned index,
                              StringRef text) {
  BlockArgument argument = kernel.getArgument(index);
  auto type = dyn_cast<MemRefType>(argument.getType());
  if (!type)
    return kernel.emitError("expects extents for a memref, but argument ")
           << index << " is of type " << argument.getType();
  SmallVector<StringRef> extents;
  text.split(extents, 'x');
  if (static_cast<int64_t>(extents.size()) != type.getRank())
    return kernel.emitError("expects ")
           << type.getRank() << " extents for argument " << index
           << ", but got '" << text << "'";
  SmallVector<int64_t> shape(type.getShape());
  for (auto [dim, extent, known] : llvm::enumerate(extents, shape)) {
    int64_t number;
    if (extent == "?")
      continue;
    if (extent.getAsInteger(10, number) || number < 0)
      return kernel.emitError("expects extent ")
             << dim << " of argument " << index
             << " to be '?' or an integer that is not negative, but got '"
             << extent << "'";
    if (!ShapedType::isDynamic(known) && known != number)
      return kernel.emitError("expects extent ")
             << dim << " of argument " << index << " to be " << known
             << " as its type says, but got " << number;
    known = number;
  }
  return refine(argument,
                MemRefType::get(shape, type.getElementType(), type.getLayout(),
                                type.getMemorySpace()));
}

namespace {
struct Specialize : public tile::impl::TileSpecializeBase<Specialize> {
  using Base::Base;

  FailureOr<func::FuncOp> findKernel() {
    func::FuncOp found;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (!function->hasAttr("tile.kernel") || function.isExternal() ||
          (!entry.empty() && function.getName() != entry))
        continue;
      if (found)
        return getOperation().emitError(
            "has several kernels; choose one with 'entry'");
      found = function;
    }
    if (!found)
      return getOperation().emitError("has no kernel '") << entry << "'";
    return found;
  }

  LogicalResult run() {
    FailureOr<func::FuncOp> kernel = findKernel();
    if (failed(kernel))
      return failure();
    for (StringRef shape : shapes) {
      auto parsed = parseArgument(*kernel, "shape", shape);
      if (failed(parsed) ||
          failed(setShape(*kernel, parsed->first, parsed->second)))
        return failure();
    }
    llvm::BitVector bound(kernel->getNumArguments());
    for (StringRef binding : bindings) {
      auto parsed = parseArgument(*kernel, "bind", binding);
      if (failed(parsed) ||
          failed(bind(*kernel, parsed->first, parsed->second)))
        return failure();
      bound.set(parsed->first);
    }
    // The function's type follows its arguments.
    kernel->setFunctionType(FunctionType::get(
        &getContext(), kernel->getBody().front().getArgumentTypes(), {}));
    return kernel->eraseArguments(bound);
  }

  void runOnOperation() override {
    if (failed(run()))
      signalPassFailure();
  }
};
} // namespace
