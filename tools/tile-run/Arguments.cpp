//===- Arguments.cpp - Kernel arguments on the command line ---------------===//

#include "Arguments.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tile;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using reference::Buffer;
using reference::Element;
using reference::Scalar;

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// The types of arrays that a memref of `type` takes; the first is the one that
/// an `out:` array has when it is spelled as the kernel spells it.
static SmallVector<NpyType, 3> getArrayTypes(Type type) {
  if (type.isF64())
    return {NpyType::F64};
  if (type.isF32())
    return {NpyType::F32};
  if (type.isF16())
    return {NpyType::F16};
  if (type.isBF16())
    return {NpyType::U16, NpyType::Void16};
  if (type.isInteger(64))
    return {NpyType::I64, NpyType::U64};
  if (type.isInteger(32))
    return {NpyType::I32, NpyType::U32};
  if (type.isInteger(16))
    return {NpyType::I16, NpyType::U16};
  if (type.isInteger(8))
    return {NpyType::I8, NpyType::U8, NpyType::Void8};
  // FP8, E8M0 and pairs of FP4.
  return {NpyType::U8, NpyType::Void8};
}

/// How to save an array of a type that NumPy does not have.
static StringRef getSavingHint(Type type) {
  if (type.isBF16())
    return "; save it with .view(np.uint16)";
  if (isa<FloatType>(type) && getElementBits(type) == 8)
    return "; save it with .view(np.uint8)";
  return "";
}

static Expected<uint64_t> parseScalar(StringRef text, Type type) {
  if (auto floatType = dyn_cast<FloatType>(type))
    return parseFloat(text, floatType.getFloatSemantics(), print(type));
  const unsigned bits = Element::get(type)->bits;
  if (bits == 1 && (text == "true" || text == "false"))
    return text == "true";
  return parseInteger(text, bits, print(type));
}

Error RunArguments::add(StringRef text, Type type) {
  const bool isArray = ArrayArgument::matches(text);
  auto memref = dyn_cast<MemRefType>(type);
  if (!isArray && !text.starts_with("val:"))
    return createStringError("expects in:FILE, inout:FILE, "
                             "out:FILE:EXTENTSxTYPE or val:VALUE, but got '" +
                             text + "'");
  if (memref && !isArray)
    return createStringError("expects an array for '" + print(type) +
                             "', but got '" + text + "'");
  if (!memref && (isArray || !Element::get(type)))
    return createStringError("expects val:VALUE for '" + print(type) +
                             "', but got '" + text + "'");
  if (!memref) {
    Expected<uint64_t> code = parseScalar(text.split(':').second, type);
    if (!code)
      return code.takeError();
    arrays.push_back(nullptr);
    arguments.push_back(Scalar{*code});
    return Error::success();
  }

  Type elementType = memref.getElementType();
  Expected<ArrayArgument> array =
      ArrayArgument::get(text, {getArrayTypes(elementType), print(elementType),
                                getSavingHint(elementType).str()});
  if (!array)
    return array.takeError();
  Buffer buffer;
  buffer.data = array->getBytes().data();
  buffer.capacity = static_cast<int64_t>(array->getBytes().size());
  buffer.elementBytes = Element::get(elementType)->bytes;
  buffer.shape.assign(array->getShape().begin(), array->getShape().end());
  buffer.strides.assign(array->getStrides().begin(), array->getStrides().end());
  buffer.readOnly = array->isReadOnly();
  buffer.origin = array->getPath().str();
  arguments.push_back(std::move(buffer));
  arrays.push_back(std::make_unique<ArrayArgument>(std::move(*array)));
  return Error::success();
}

Error tile::checkNumArguments(func::FuncOp kernel, size_t number) {
  const unsigned expected = kernel.getNumArguments();
  if (number == expected)
    return Error::success();
  return createStringError("kernel '" + kernel.getName() + "' expects " +
                           Twine(expected) +
                           (expected == 1 ? " argument" : " arguments") +
                           ", but got " + Twine(number));
}

Expected<RunArguments> RunArguments::get(func::FuncOp kernel,
                                         ArrayRef<std::string> texts) {
  if (Error error = checkNumArguments(kernel, texts.size()))
    return std::move(error);
  RunArguments result;
  for (auto [i, text] : llvm::enumerate(texts)) {
    result.names.push_back(
        reference::getArgumentName(kernel, static_cast<unsigned>(i)));
    if (Error error = result.add(text, kernel.getArgumentTypes()[i]))
      return prefixError(result.names.back(), std::move(error));
    result.pointers.push_back(result.arrays.back().get());
  }
  if (Error error = checkOutputFiles(result.pointers, result.names))
    return std::move(error);
  return std::move(result);
}
