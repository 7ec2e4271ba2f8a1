//===- TensorArgument.cpp - Tensor maps on the command line ---------------===//

#include "TensorArgument.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace tile;
using emulator::TensorMap;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

bool TensorArgument::matches(StringRef text) {
  return text.starts_with("tmap:");
}

/// Parses `128x64`, one number for each dimension of `map`, into `values`,
/// which are innermost first.
static Error parseExtents(StringRef key, StringRef text, const TensorMap &map,
                          std::array<uint32_t, TensorMap::kMaxRank> &values) {
  SmallVector<StringRef, 5> parts;
  text.split(parts, 'x');
  bool isValid = parts.size() == map.rank;
  for (size_t i = 0; isValid && i != parts.size(); ++i)
    isValid = !parts[i].getAsInteger(10, values[map.rank - 1 - i]);
  if (isValid)
    return Error::success();
  return createStringError(key + " expects " + Twine(map.rank) +
                           " numbers such as 8x64, outermost first, but got "
                           "'" +
                           text + "'");
}

/// The element type that an array stands for where none is named.
static std::optional<TensorMap::Element> findElement(StringRef arrayType) {
  if (arrayType == "i8" || arrayType == "b1" || arrayType == "v8")
    return TensorMap::Element::U8;
  if (arrayType == "i16" || arrayType == "v16")
    return TensorMap::Element::U16;
  if (arrayType == "i32" || arrayType == "i64")
    return emulator::findTensorElement(("s" + arrayType.drop_front()).str());
  return emulator::findTensorElement(arrayType);
}

/// Reads `key=value`.
static Error parseOption(StringRef option, TensorMap &map) {
  auto [key, value] = option.split('=');
  if (key == "box")
    return parseExtents(key, value, map, map.box);
  if (key == "step")
    return parseExtents(key, value, map, map.elementStrides);
  if (key == "swizzle") {
    std::optional<TensorMap::Swizzle> swizzle =
        emulator::findTensorSwizzle(value);
    if (!swizzle)
      return createStringError("swizzle expects none, 32, 64, 128, 128-atom32, "
                               "128-atom32-flip8 or 128-atom64, but got '" +
                               value + "'");
    map.swizzle = *swizzle;
    return Error::success();
  }
  if (key == "fill") {
    if (value != "zero" && value != "nan")
      return createStringError("fill expects zero or nan, but got '" + value +
                               "'");
    map.fill = value == "nan" ? TensorMap::Fill::NaN : TensorMap::Fill::Zero;
    return Error::success();
  }
  return createStringError("expects box=, swizzle=, type=, fill= or step=, but "
                           "got '" +
                           option + "'");
}

/// Gives the map the array's extents and strides, and its element type unless
/// `typeName` names one.
static Error describeArray(const ArrayArgument &array, StringRef arrayType,
                           StringRef typeName, TensorMap &map) {
  std::optional<TensorMap::Element> element =
      typeName.empty() ? findElement(arrayType)
                       : emulator::findTensorElement(typeName);
  if (!element && typeName.empty())
    return createStringError("expects type= for an array of " + arrayType);
  if (!element)
    return createStringError(
        "type expects u8, u16, u32, s32, u64, s64, f16, bf16, f32, f64, b4x16, "
        "b4x16_p64 or b6x16_p32, but got '" +
        typeName + "'");
  map.element = *element;
  const unsigned bytes = array.getElementBytes();
  const unsigned expected = map.isPacked() ? 1 : map.getElementBits() / 8;
  if (bytes != expected)
    return createStringError(
        "type " + emulator::getTensorElementName(*element) +
        " expects an array with elements of " + Twine(expected) +
        (expected == 1 ? " byte" : " bytes") + ", but got " + Twine(bytes));
  llvm::ArrayRef<int64_t> shape = array.getShape();
  if (shape.empty() || shape.size() > TensorMap::kMaxRank)
    return createStringError("expects an array of 1 to 5 dimensions, but got " +
                             Twine(shape.size()));
  map.rank = static_cast<unsigned>(shape.size());
  for (unsigned i = 0; i != map.rank; ++i) {
    map.extents[i] = static_cast<uint64_t>(shape[map.rank - 1 - i]);
    if (i != 0)
      map.strides[i - 1] =
          static_cast<uint64_t>(array.getStrides()[map.rank - 1 - i]) * bytes;
  }
  // Bytes hold several elements.
  if (map.isPacked())
    map.extents[0] = map.extents[0] * 8 / map.getElementBits();
  return Error::success();
}

Expected<TensorArgument> TensorArgument::get(StringRef text) {
  text.consume_front("tmap:");
  auto [place, options] = text.rsplit(':');
  if (!StringRef(options).contains('='))
    return createStringError(
        "expects tmap:FILE:box=…, tmap:inout:FILE:box=… or "
        "tmap:out:FILE:EXTENTSxTYPE:box=…, but got 'tmap:" +
        text + "'");
  std::string arrayText = place.str();
  if (!ArrayArgument::matches(arrayText))
    arrayText = "in:" + arrayText;
  Expected<ArrayArgument> array = ArrayArgument::get(arrayText);
  if (!array)
    return array.takeError();
  TensorArgument result{std::move(*array), TensorMap()};
  TensorMap &map = result.map;

  SmallVector<StringRef, 5> list;
  StringRef(options).split(list, ',');
  StringRef typeName;
  SmallVector<StringRef, 5> keys;
  for (StringRef option : list) {
    StringRef key = option.split('=').first;
    if (llvm::is_contained(keys, key))
      return createStringError("expects " + key + "= once");
    keys.push_back(key);
    if (key == "type")
      typeName = option.split('=').second;
  }
  if (!llvm::is_contained(keys, "box"))
    return createStringError("expects box=, the extents of what one copy "
                             "moves, but got '" +
                             options + "'");
  if (Error error = describeArray(result.array, result.array.getTypeName(),
                                  typeName, map))
    return std::move(error);
  for (StringRef option : list)
    if (!option.starts_with("type="))
      if (Error error = parseOption(option, map))
        return std::move(error);
  if (Error error = map.validate())
    return createStringError("tensor map, innermost dimension first: " +
                             llvm::toString(std::move(error)));
  return std::move(result);
}
