//===- Arguments.cpp - Kernel arguments on the command line ---------------===//

#include "Arguments.h"

#include "mlir/IR/BuiltinTypes.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

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

static std::string printShape(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(shape, os, "x");
  return text.empty() ? "no dimensions" : text;
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

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

static std::string listArrayTypes(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      getArrayTypes(type), os,
      [&](NpyType array) { os << getNpyTypeInfo(array).name; }, " or ");
  return text;
}

/// How to save an array of a type that NumPy does not have.
static StringRef getSavingHint(Type type) {
  if (type.isBF16())
    return "; save it with .view(np.uint16)";
  if (isa<FloatType>(type) && getElementBits(type) == 8)
    return "; save it with .view(np.uint8)";
  return "";
}

/// Finds the array type that the user calls `text`, for a memref of `type`.
static Expected<NpyType> parseArrayType(StringRef text, Type type) {
  // The kernel's own spelling, with or without the dialect's prefix.
  std::string own = print(type);
  if (text == own || ("!tile." + text).str() == own)
    return getArrayTypes(type).front();
  std::optional<NpyType> found = findNpyType(text);
  if (!found || !llvm::is_contained(getArrayTypes(type), *found))
    return createStringError("expects elements of type " +
                             listArrayTypes(type) + " for '" + own +
                             "', but got '" + text + "'");
  return *found;
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// Parses extents such as `65x24`.
static std::optional<SmallVector<int64_t, 4>> parseShape(StringRef text) {
  SmallVector<int64_t, 4> shape;
  SmallVector<StringRef> parts;
  text.split(parts, 'x');
  for (StringRef part : parts)
    if (part.empty() || !llvm::all_of(part, llvm::isDigit) ||
        part.getAsInteger(10, shape.emplace_back()))
      return std::nullopt;
  return shape;
}

Error RunArgument::allocate(size_t bytes) {
  size = bytes;
  // `malloc` aligns to 16 bytes; an empty array has an address too.
  memory.reset(static_cast<uint8_t *>(std::malloc(std::max<size_t>(bytes, 1))));
  if (!memory)
    return createStringError("cannot allocate " + Twine(bytes) + " bytes");
  return Error::success();
}

Error RunArgument::readArray(StringRef text, Type elementType, bool readOnly) {
  // `PATH` or `PATH:EXTENTS`. A path may have colons of its own.
  auto [path, suffix] = text.rsplit(':');
  std::optional<SmallVector<int64_t, 4>> part;
  if (path.size() != text.size()) {
    part = parseShape(suffix);
    if (!part && path.ends_with(".npy"))
      return createStringError("expects extents such as 65x24 after '" + path +
                               ":', but got '" + suffix + "'");
  }
  if (!part)
    path = text;

  Expected<NpyArray> array = readNpy(path);
  if (!array)
    return array.takeError();
  if (!llvm::is_contained(getArrayTypes(elementType), array->type))
    return createStringError("'" + path + "': expects elements of type " +
                             listArrayTypes(elementType) + " for '" +
                             print(elementType) + "', but got " +
                             getNpyTypeInfo(array->type).name +
                             getSavingHint(elementType));
  type = array->type;
  shape = array->shape;
  if (Error error = allocate(array->bytes.size()))
    return error;
  if (size)
    std::memcpy(memory.get(), array->bytes.data(), size);

  Buffer buffer =
      Buffer::getContiguous(memory.get(), static_cast<int64_t>(size),
                            Element::get(elementType)->bytes, shape, readOnly);
  buffer.origin = path.str();
  if (part) {
    bool fits = part->size() == shape.size();
    for (size_t dim = 0; fits && dim < shape.size(); ++dim)
      fits = (*part)[dim] <= shape[dim];
    if (!fits)
      return createStringError("'" + path + "': expects a part of " +
                               printShape(shape) + ", but got " +
                               printShape(*part));
    buffer.shape = *part;
  }
  argument = std::move(buffer);
  if (!readOnly)
    outputPath = path.str();
  return Error::success();
}

Error RunArgument::makeArray(StringRef text, Type elementType) {
  // `PATH:EXTENTSxTYPE`, or `PATH:TYPE` without dimensions.
  auto [path, spelling] = text.rsplit(':');
  if (path.size() == text.size() || path.empty())
    return createStringError("expects out:FILE:EXTENTSxTYPE, such as "
                             "out:z.npy:128x256xf32, but got 'out:" +
                             text + "'");
  // `f4E2M1FNx2` holds an x, but not after digits alone.
  size_t end = 0;
  while (true) {
    size_t digits = spelling.drop_front(end).take_while(llvm::isDigit).size();
    if (digits == 0 || spelling.drop_front(end + digits).take_front() != "x")
      break;
    end += digits + 1;
  }
  // No type begins like a number: that is an extent that is not one.
  StringRef rest = spelling.drop_front(end);
  if (llvm::all_of(rest, llvm::isDigit))
    return createStringError("expects EXTENTSxTYPE, such as 128x256xf32, but "
                             "got '" +
                             spelling + "', which has no type");
  if (llvm::isDigit(rest.front()) || StringRef("+-x ").contains(rest.front()))
    return createStringError("expects EXTENTSxTYPE, such as 128x256xf32, but "
                             "got '" +
                             spelling + "', where '" + rest.split('x').first +
                             "' is not an extent");
  if (end) {
    std::optional<SmallVector<int64_t, 4>> extents =
        parseShape(spelling.take_front(end - 1));
    if (!extents)
      return createStringError("expects extents below 2^63, but got '" +
                               spelling + "'");
    shape = *extents;
  }
  Expected<NpyType> arrayType = parseArrayType(rest, elementType);
  if (!arrayType)
    return arrayType.takeError();
  type = *arrayType;

  std::optional<int64_t> bytes = getNpyTypeInfo(type).bytes;
  bool empty = false;
  for (int64_t extent : shape) {
    empty |= extent == 0;
    if (bytes && extent)
      bytes = llvm::checkedMul(*bytes, extent);
  }
  if (!bytes)
    return createStringError("expects fewer than 2^63 bytes, but got '" +
                             spelling + "'");
  if (Error error = allocate(empty ? 0 : static_cast<size_t>(*bytes)))
    return error;
  // All ones is a NaN in every format that has one.
  std::memset(memory.get(), 0xFF, size);

  Buffer buffer =
      Buffer::getContiguous(memory.get(), static_cast<int64_t>(size),
                            Element::get(elementType)->bytes, shape);
  buffer.origin = path.str();
  argument = std::move(buffer);
  outputPath = path.str();
  isNewArray = true;
  return Error::success();
}

Expected<std::string> RunArgument::formatOutput() const {
  return formatNpy(outputPath, type, shape, {memory.get(), size});
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

static Error expectedValue(Type type, StringRef text, const Twine &what) {
  return createStringError("expects " + what + " for '" + print(type) +
                           "', but got '" + text + "'");
}

static Expected<uint64_t> parseInteger(StringRef text, Type type) {
  const Element element = *Element::get(type);
  if (element.bits == 1 && (text == "true" || text == "false"))
    return text == "true";
  APInt value;
  StringRef digits = text;
  const bool negative = digits.consume_front("-");
  // Hexadecimal after 0x only: `010` is ten, whatever C makes of it.
  const unsigned radix = digits.consume_front_insensitive("0x") ? 16 : 10;
  const bool isNumber = !digits.empty() && !digits.getAsInteger(radix, value);
  // One more bit, for the sign.
  if (isNumber)
    value = value.zext(std::max(value.getBitWidth(), 65u) + 1);
  if (isNumber && negative)
    value.negate();
  if (!isNumber || !(negative ? value.isSignedIntN(element.bits)
                              : value.isIntN(element.bits)))
    return expectedValue(type, text,
                         "an integer of " + Twine(element.bits) +
                             (element.bits == 1 ? " bit" : " bits"));
  return value.trunc(64).getZExtValue() & element.getMask();
}

/// Rounds to nearest even, once.
static Expected<uint64_t> parseFloat(StringRef text, FloatType type) {
  APFloat value(type.getFloatSemantics());
  if (text.empty()) // `convertFromString` expects a character.
    return expectedValue(type, text, "a number");
  Expected<APFloat::opStatus> status =
      value.convertFromString(text, APFloat::rmNearestTiesToEven);
  if (!status) {
    llvm::consumeError(status.takeError());
    return expectedValue(type, text, "a number");
  }
  if (*status & APFloat::opOverflow)
    return expectedValue(type, text, "a number in its range");
  return value.bitcastToAPInt().getZExtValue();
}

//===----------------------------------------------------------------------===//
// RunArgument
//===----------------------------------------------------------------------===//

static Error prefix(StringRef name, Error error) {
  return createStringError(name + ": " + toString(std::move(error)));
}

Expected<RunArgument> RunArgument::get(StringRef text, Type type,
                                       StringRef name) {
  RunArgument result;
  auto [kind, rest] = text.split(':');
  const bool isArray = kind == "in" || kind == "inout" || kind == "out";
  if ((!isArray && kind != "val") || kind.size() == text.size())
    return createStringError(name +
                             ": expects in:FILE, inout:FILE, "
                             "out:FILE:EXTENTSxTYPE or val:VALUE, but "
                             "got '" +
                             text + "'");

  if (auto memref = dyn_cast<MemRefType>(type)) {
    if (!isArray)
      return createStringError(name + ": expects an array for '" + print(type) +
                               "', but got '" + text + "'");
    Type elementType = memref.getElementType();
    Error error = kind == "out"
                      ? result.makeArray(rest, elementType)
                      : result.readArray(rest, elementType, kind == "in");
    if (error)
      return prefix(name, std::move(error));
    return result;
  }

  if (isArray || !Element::get(type))
    return createStringError(name + ": expects val:VALUE for '" + print(type) +
                             "', but got '" + text + "'");
  auto floatType = dyn_cast<FloatType>(type);
  Expected<uint64_t> code =
      floatType ? parseFloat(rest, floatType) : parseInteger(rest, type);
  if (!code)
    return prefix(name, code.takeError());
  result.argument = Scalar{*code};
  return result;
}
