//===- Parameters.cpp - Parameters of a PTX kernel ------------------------===//

#include "Parameters.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace tile;
using llvm::ArrayRef;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

/// Bytes of an address.
static constexpr uint64_t kPointerBytes = 8;

std::string tile::printBytes(uint64_t bytes) {
  return (Twine(bytes) + (bytes == 1 ? " byte" : " bytes")).str();
}

/// The low `bytes` bytes of `bits`, lowest first.
static std::vector<uint8_t> toBytes(uint64_t bits, uint64_t bytes) {
  std::vector<uint8_t> result;
  for (uint64_t i = 0; i < bytes; ++i)
    result.push_back(static_cast<uint8_t>(bits >> (8 * i)));
  return result;
}

static Error checkSize(StringRef text, uint64_t found, uint64_t expected) {
  if (found == expected)
    return Error::success();
  return createStringError("expects " + printBytes(expected) + ", but got '" +
                           text + "', which is passed in " + printBytes(found));
}

namespace {
/// A type of `val:`.
struct ScalarType {
  unsigned bits = 0;
  bool isUnsigned = false;
  const llvm::fltSemantics *semantics = nullptr; ///< Null for an integer.
};
} // namespace

static std::optional<ScalarType> findScalarType(StringRef name) {
  if (name == "f16")
    return ScalarType{16, false, &llvm::APFloat::IEEEhalf()};
  if (name == "bf16")
    return ScalarType{16, false, &llvm::APFloat::BFloat()};
  if (name == "f32")
    return ScalarType{32, false, &llvm::APFloat::IEEEsingle()};
  if (name == "f64")
    return ScalarType{64, false, &llvm::APFloat::IEEEdouble()};
  for (unsigned bits : {8, 16, 32, 64}) {
    if (name == ("i" + Twine(bits)).str())
      return ScalarType{bits, false, nullptr};
    if (name == ("u" + Twine(bits)).str())
      return ScalarType{bits, true, nullptr};
  }
  return std::nullopt;
}

/// Parses `T:V`.
static Expected<std::vector<uint8_t>> parseValue(StringRef text) {
  auto [name, value] = text.split(':');
  std::optional<ScalarType> type = findScalarType(name);
  if (!type || name.size() == text.size())
    return createStringError("expects val:TYPE:VALUE with a type of i8, i16, "
                             "i32, i64, u8, u16, u32, u64, f16, bf16, f32 or "
                             "f64, but got 'val:" +
                             text + "'");
  const bool isBits = value.starts_with_insensitive("0x");
  Expected<uint64_t> code =
      type->semantics && !isBits
          ? parseFloat(value, *type->semantics, name)
          : parseInteger(value, type->bits, name, type->isUnsigned);
  if (!code)
    return code.takeError();
  return toBytes(*code, type->bits / 8);
}

static Expected<std::vector<uint8_t>> readBytes(StringRef path, uint64_t size) {
  llvm::sys::fs::file_status status;
  std::error_code error = llvm::sys::fs::status(path, status);
  if (error)
    return createStringError("cannot read '" + path + "': " + error.message());
  if (!llvm::sys::fs::is_regular_file(status))
    return createStringError("'" + path + "': expects a regular file");
  // Before it is read: a mistaken file may be very large.
  if (status.getSize() != size)
    return createStringError("'" + path + "': expects a file of " +
                             printBytes(size) + ", but got " +
                             printBytes(status.getSize()));
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file =
      llvm::MemoryBuffer::getFile(path);
  if (!file)
    return createStringError("cannot read '" + path +
                             "': " + file.getError().message());
  return std::vector<uint8_t>((*file)->getBuffer().bytes_begin(),
                              (*file)->getBuffer().bytes_end());
}

/// The bytes of a parameter of `size` bytes that is not an array.
static Expected<std::vector<uint8_t>> readValue(StringRef text, uint64_t size) {
  if (text == "null")
    return toBytes(0, kPointerBytes);
  if (text.consume_front("val:"))
    return parseValue(text);
  if (text.consume_front("bytes:"))
    return readBytes(text, size);
  return createStringError("expects in:FILE, inout:FILE, "
                           "out:FILE:EXTENTSxTYPE, val:TYPE:VALUE, null, "
                           "bytes:FILE or tmap:FILE:box=EXTENTS, but got '" +
                           text + "'");
}

Error PtxParameters::add(StringRef text, uint64_t size) {
  maps.emplace_back();
  if (TensorArgument::matches(text)) {
    if (Error error = checkSize(text, emulator::kTensorMapBytes, size))
      return error;
    Expected<TensorArgument> tensor = TensorArgument::get(text);
    if (!tensor)
      return tensor.takeError();
    arrays.push_back(std::make_unique<ArrayArgument>(std::move(tensor->array)));
    maps.back() = tensor->map;
    values.emplace_back(emulator::kTensorMapBytes);
    return Error::success();
  }
  if (!ArrayArgument::matches(text)) {
    Expected<std::vector<uint8_t>> value = readValue(text, size);
    if (!value)
      return value.takeError();
    arrays.push_back(nullptr);
    values.push_back(std::move(*value));
    return checkSize(text, values.back().size(), size);
  }
  if (Error error = checkSize(text, kPointerBytes, size))
    return error;
  Expected<ArrayArgument> array = ArrayArgument::get(text);
  if (!array)
    return array.takeError();
  arrays.push_back(std::make_unique<ArrayArgument>(std::move(*array)));
  values.push_back(toBytes(0, kPointerBytes));
  return Error::success();
}

Expected<PtxParameters> PtxParameters::get(const emulator::Function &entry,
                                           ArrayRef<std::string> texts) {
  const size_t expected = entry.parameters.size();
  if (texts.size() != expected)
    return createStringError(
        "kernel '" + entry.name + "' expects " + Twine(expected) +
        (expected == 1 ? " argument" : " arguments") + ", but got " +
        Twine(texts.size()) + "; --list prints its parameters");
  PtxParameters result;
  for (auto [index, text, parameter] :
       llvm::enumerate(texts, entry.parameters)) {
    result.names.push_back(
        ("argument " + Twine(index) + " (" + parameter.name + ")").str());
    if (Error error = result.add(text, parameter.getSize()))
      return prefixError(result.names.back(), std::move(error));
    result.pointers.push_back(result.arrays.back().get());
  }
  if (Error error = checkOutputFiles(result.pointers, result.names))
    return std::move(error);
  return std::move(result);
}

Error PtxParameters::setAddresses(ArrayRef<uint64_t> addresses) {
  for (auto [name, array, map, address, value] :
       llvm::zip_equal(names, pointers, maps, addresses, values)) {
    if (map) {
      map->address = address;
      Expected<emulator::TensorMapObject> object = map->encode();
      if (!object)
        return prefixError(name, object.takeError());
      value.assign(object->begin(), object->end());
    } else if (array) {
      value = toBytes(address, kPointerBytes);
    }
  }
  return Error::success();
}

std::vector<ArrayRef<uint8_t>> PtxParameters::getBytes() const {
  return std::vector<ArrayRef<uint8_t>>(values.begin(), values.end());
}
