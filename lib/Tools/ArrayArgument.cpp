//===- ArrayArgument.cpp - Arguments of kernels on the command line -------===//

#include "tile/Tools/ArrayArgument.h"

#include "tile/Formats/ElementFormat.h"
#include "tile/Tools/Files.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace llvm;
using namespace tile;

/// What every byte of a new array holds: all ones is a NaN in every format that
/// has one.
static constexpr uint8_t kPoison = 0xFF;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

std::optional<NpyType> tile::findArrayType(StringRef name) {
  if (std::optional<NpyType> type = findNpyType(name))
    return type;
  if (name == "f4E2M1FNx2")
    return NpyType::U8;
  std::optional<ElementFormat> format = findFormat(name);
  if (format && getFormatInfo(*format).bits == 16)
    return NpyType::U16;
  if (format && getFormatInfo(*format).bits == 8)
    return NpyType::U8;
  return std::nullopt;
}

static std::string listTypes(ArrayRef<NpyType> types) {
  std::string text;
  raw_string_ostream os(text);
  interleave(
      types, os, [&](NpyType type) { os << getNpyTypeInfo(type).name; },
      " or ");
  return text;
}

static Error wrongType(const ArrayElements &elements, const Twine &before,
                       const Twine &found) {
  return createStringError(before + "expects elements of type " +
                           listTypes(elements.types) + " for '" +
                           elements.name + "', but got " + found);
}

/// Finds the array type that the user calls `text`.
static Expected<NpyType> parseType(StringRef text,
                                   const ArrayElements &elements) {
  if (elements.types.empty()) {
    if (std::optional<NpyType> type = findArrayType(text))
      return *type;
    return createStringError("expects an element type such as f32, i8, bf16 "
                             "or f8E4M3FN, but got '" +
                             text + "'");
  }
  // The kernel's own spelling, with or without the dialect's prefix.
  if (text == elements.name || ("!tile." + text).str() == elements.name)
    return elements.types.front();
  std::optional<NpyType> found = findNpyType(text);
  if (!found || !is_contained(elements.types, *found))
    return wrongType(elements, "", "'" + text + "'");
  return *found;
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

static std::string printShape(ArrayRef<int64_t> shape) {
  std::string text;
  raw_string_ostream os(text);
  interleave(shape, os, "x");
  return text.empty() ? "no dimensions" : text;
}

/// Parses extents such as `65x24`.
static std::optional<SmallVector<int64_t, 4>> parseShape(StringRef text) {
  SmallVector<int64_t, 4> shape;
  SmallVector<StringRef> parts;
  text.split(parts, 'x');
  for (StringRef part : parts)
    if (part.empty() || !all_of(part, isDigit) ||
        part.getAsInteger(10, shape.emplace_back()))
      return std::nullopt;
  return shape;
}

/// Strides of a row-major array, in elements.
static SmallVector<int64_t, 4> getRowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t, 4> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

int64_t ArrayArgument::getNumElements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

MutableArrayRef<uint8_t> ArrayArgument::getSpan() const {
  int64_t last = 0;
  for (auto [extent, stride] : zip_equal(shape, strides)) {
    if (extent == 0)
      return {memory.get(), size_t(0)};
    last += (extent - 1) * stride;
  }
  return {memory.get(), static_cast<size_t>(last + 1) * getElementBytes()};
}

int64_t ArrayArgument::countUntouched() const {
  const size_t bytes = getElementBytes();
  int64_t count = 0;
  for (size_t at = 0; at < size; at += bytes)
    count += all_of(getBytes().slice(at, bytes),
                    [](uint8_t byte) { return byte == kPoison; });
  return count;
}

Error ArrayArgument::allocate(size_t bytes) {
  size = bytes;
  // `malloc` aligns to 16 bytes; an empty array has an address too.
  memory.reset(static_cast<uint8_t *>(std::malloc(std::max<size_t>(bytes, 1))));
  if (!memory)
    return createStringError("cannot allocate " + Twine(bytes) + " bytes");
  return Error::success();
}

Error ArrayArgument::read(StringRef text, const ArrayElements &elements) {
  // `PATH` or `PATH:EXTENTS`. A path may have colons of its own.
  auto [file, suffix] = text.rsplit(':');
  std::optional<SmallVector<int64_t, 4>> part;
  if (file.size() != text.size()) {
    part = parseShape(suffix);
    if (!part && file.ends_with(".npy"))
      return createStringError("expects extents such as 65x24 after '" + file +
                               ":', but got '" + suffix + "'");
  }
  if (!part)
    file = text;
  path = file.str();

  Expected<NpyArray> array = readNpy(path);
  if (!array)
    return array.takeError();
  if (!elements.types.empty() && !is_contained(elements.types, array->type))
    return wrongType(elements, "'" + path + "': ",
                     getNpyTypeInfo(array->type).name + elements.hint);
  type = array->type;
  fullShape = array->shape;
  if (Error error = allocate(array->bytes.size()))
    return error;
  if (size)
    std::memcpy(memory.get(), array->bytes.data(), size);

  shape = fullShape;
  strides = getRowMajorStrides(fullShape);
  if (!part)
    return Error::success();
  bool fits = part->size() == shape.size();
  for (size_t dim = 0; fits && dim < shape.size(); ++dim)
    fits = (*part)[dim] <= shape[dim];
  if (!fits)
    return createStringError("'" + path + "': expects a part of " +
                             printShape(shape) + ", but got " +
                             printShape(*part));
  shape = *part;
  return Error::success();
}

Error ArrayArgument::make(StringRef text, const ArrayElements &elements) {
  // `PATH:EXTENTSxTYPE`, or `PATH:TYPE` without dimensions.
  auto [file, spelling] = text.rsplit(':');
  if (file.size() == text.size() || file.empty())
    return createStringError("expects out:FILE:EXTENTSxTYPE, such as "
                             "out:z.npy:128x256xf32, but got 'out:" +
                             text + "'");
  path = file.str();
  // `f4E2M1FNx2` holds an x, but not after digits alone.
  size_t end = 0;
  while (true) {
    size_t digits = spelling.drop_front(end).take_while(isDigit).size();
    if (digits == 0 || spelling.drop_front(end + digits).take_front() != "x")
      break;
    end += digits + 1;
  }
  // No type begins like a number: that is an extent that is not one.
  StringRef rest = spelling.drop_front(end);
  if (all_of(rest, isDigit))
    return createStringError("expects EXTENTSxTYPE, such as 128x256xf32, but "
                             "got '" +
                             spelling + "', which has no type");
  if (isDigit(rest.front()) || StringRef("+-x ").contains(rest.front()))
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
    fullShape = *extents;
  }
  Expected<NpyType> arrayType = parseType(rest, elements);
  if (!arrayType)
    return arrayType.takeError();
  type = *arrayType;

  std::optional<int64_t> bytes = getNpyTypeInfo(type).bytes;
  bool empty = false;
  for (int64_t extent : fullShape) {
    empty |= extent == 0;
    if (bytes && extent)
      bytes = checkedMul(*bytes, extent);
  }
  if (!bytes)
    return createStringError("expects fewer than 2^63 bytes, but got '" +
                             spelling + "'");
  if (Error error = allocate(empty ? 0 : static_cast<size_t>(*bytes)))
    return error;
  std::memset(memory.get(), kPoison, size);
  shape = fullShape;
  strides = getRowMajorStrides(fullShape);
  isNewArray = true;
  return Error::success();
}

bool ArrayArgument::matches(StringRef text) {
  return text.starts_with("in:") || text.starts_with("inout:") ||
         text.starts_with("out:");
}

Expected<ArrayArgument> ArrayArgument::get(StringRef text,
                                           const ArrayElements &elements) {
  auto [role, rest] = text.split(':');
  ArrayArgument result;
  result.readOnly = role == "in";
  if (Error error = role == "out" ? result.make(rest, elements)
                                  : result.read(rest, elements))
    return std::move(error);
  return std::move(result);
}

//===----------------------------------------------------------------------===//
// Output files
//===----------------------------------------------------------------------===//

/// What two paths share if they are one file, however they are spelled.
static std::string identifyFile(StringRef path) {
  sys::fs::UniqueID id;
  if (!sys::fs::getUniqueID(path, id))
    return (Twine(id.getDevice()) + ":" + Twine(id.getFile())).str();
  // Not there yet: its directory, and its name.
  SmallString<128> folder(sys::path::parent_path(path));
  if (folder.empty())
    folder = ".";
  if (sys::fs::getUniqueID(folder, id))
    return path.str(); // No such directory: it cannot be written.
  return (Twine(id.getDevice()) + ":" + Twine(id.getFile()) + "/" +
          sys::path::filename(path))
      .str();
}

static bool isOutput(const ArrayArgument *array) {
  return array && !array->isReadOnly();
}

Error tile::checkOutputFiles(ArrayRef<const ArrayArgument *> arrays,
                             ArrayRef<std::string> names) {
  StringMap<StringRef> writers;
  for (auto [array, name] : zip_equal(arrays, names)) {
    if (!isOutput(array))
      continue;
    auto [first, isNew] =
        writers.try_emplace(identifyFile(array->getPath()), name);
    if (!isNew)
      return createStringError(name + ": expects a file of its own, but '" +
                               array->getPath() + "' is also that of " +
                               first->second);
  }
  return Error::success();
}

Error tile::writeArrays(ArrayRef<const ArrayArgument *> arrays) {
  std::vector<std::string> contents;
  contents.reserve(arrays.size()); // `outputs` refers to them.
  SmallVector<OutputFile> outputs;
  for (const ArrayArgument *array : arrays) {
    if (!isOutput(array))
      continue;
    Expected<std::string> file = formatNpy(array->path, array->type,
                                           array->fullShape, array->getBytes());
    if (!file)
      return file.takeError();
    contents.push_back(std::move(*file));
    outputs.push_back({array->path, contents.back()});
  }
  return writeOutputFiles(outputs);
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

static Error expectedValue(StringRef typeName, StringRef text,
                           const Twine &what) {
  return createStringError("expects " + what + " for '" + typeName +
                           "', but got '" + text + "'");
}

Expected<uint64_t> tile::parseInteger(StringRef text, unsigned bits,
                                      StringRef typeName, bool isUnsigned) {
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
  if (!isNumber || (negative && isUnsigned) ||
      !(negative ? value.isSignedIntN(bits) : value.isIntN(bits)))
    return expectedValue(
        typeName, text,
        (isUnsigned ? "an unsigned integer of " : "an integer of ") +
            Twine(bits) + (bits == 1 ? " bit" : " bits"));
  return value.trunc(64).getZExtValue() & (~uint64_t(0) >> (64 - bits));
}

Expected<uint64_t> tile::parseFloat(StringRef text,
                                    const fltSemantics &semantics,
                                    StringRef typeName) {
  APFloat value(semantics);
  if (text.empty()) // `convertFromString` expects a character.
    return expectedValue(typeName, text, "a number");
  Expected<APFloat::opStatus> status =
      value.convertFromString(text, APFloat::rmNearestTiesToEven);
  if (!status) {
    consumeError(status.takeError());
    return expectedValue(typeName, text, "a number");
  }
  if (*status & APFloat::opOverflow)
    return expectedValue(typeName, text, "a number in its range");
  return value.bitcastToAPInt().getZExtValue();
}

Error tile::prefixError(StringRef name, Error error) {
  return createStringError(name + ": " + toString(std::move(error)));
}
