//===- KernelParameters.cpp - What a compiled kernel is launched with -----===//

#include "tile/Codegen/KernelParameters.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tile;

SmallVector<KernelParameter> tile::getKernelParameters(func::FuncOp kernel) {
  using Kind = KernelParameter::Kind;
  SmallVector<KernelParameter> parameters;
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    const auto argument = static_cast<unsigned>(index);
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref) {
      // An i1 takes a byte, an index is an i64.
      const unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
      parameters.push_back({Kind::Scalar, argument, 0, (bits + 7) / 8});
      continue;
    }
    parameters.push_back({Kind::Pointer, argument, 0, 8});
    auto addDynamic = [&, argument = argument](Kind kind,
                                               ArrayRef<int64_t> numbers) {
      for (auto [dim, number] : llvm::enumerate(numbers))
        if (ShapedType::isDynamic(number))
          parameters.push_back({kind, argument, static_cast<unsigned>(dim), 8});
    };
    addDynamic(Kind::Extent, memref.getShape());
    addDynamic(Kind::Stride, memref.getStridesAndOffset().first);
  }
  return parameters;
}

SmallVector<uint64_t>
tile::getParameterValues(ArrayRef<KernelParameter> parameters,
                         ArrayRef<KernelArgument> arguments) {
  SmallVector<uint64_t> values;
  for (const KernelParameter &parameter : parameters) {
    const KernelArgument &argument = arguments[parameter.argument];
    switch (parameter.kind) {
    case KernelParameter::Kind::Pointer:
    case KernelParameter::Kind::Scalar:
      values.push_back(argument.bits);
      break;
    case KernelParameter::Kind::Extent:
      values.push_back(static_cast<uint64_t>(argument.shape[parameter.dim]));
      break;
    case KernelParameter::Kind::Stride:
      values.push_back(static_cast<uint64_t>(argument.strides[parameter.dim]));
      break;
    }
  }
  return values;
}
