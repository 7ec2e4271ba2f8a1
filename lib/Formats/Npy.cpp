//===- Npy.cpp - Arrays in NumPy's .npy files -----------------------------===//
//
// A file is: the magic string, two version bytes, the header's length (two
// bytes in version 1.0, four in later ones, little-endian), the header, the
// data. The header is the text of a Python dictionary with exactly three keys:
//
//     {'descr': '<f4', 'fortran_order': False, 'shape': (16, 64), }
//
//===----------------------------------------------------------------------===//

#include "tile/Formats/Npy.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <limits>

using namespace tile;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

static_assert(llvm::endianness::native == llvm::endianness::little,
              "elements are used as they lie in the file");

static constexpr StringRef magic("\x93NUMPY", 6);
/// NumPy's own limit on the number of dimensions.
static constexpr size_t maxRank = 64;

static constexpr NpyTypeInfo npyTypes[] = {
    {NpyType::F64, {"f64"}, {"<f8"}, 8},
    {NpyType::F32, {"f32"}, {"<f4"}, 4},
    {NpyType::F16, {"f16"}, {"<f2"}, 2},
    {NpyType::I64, {"i64"}, {"<i8"}, 8},
    {NpyType::I32, {"i32"}, {"<i4"}, 4},
    {NpyType::I16, {"i16"}, {"<i2"}, 2},
    {NpyType::I8, {"i8"}, {"|i1"}, 1},
    {NpyType::U64, {"u64"}, {"<u8"}, 8},
    {NpyType::U32, {"u32"}, {"<u4"}, 4},
    {NpyType::U16, {"u16"}, {"<u2"}, 2},
    {NpyType::U8, {"u8"}, {"|u1"}, 1},
    {NpyType::Bool, {"b1"}, {"|b1"}, 1},
    {NpyType::Void8, {"v8"}, {"|V1"}, 1},
    {NpyType::Void16, {"v16"}, {"<V2"}, 2},
};

const NpyTypeInfo &tile::getNpyTypeInfo(NpyType type) {
  const NpyTypeInfo &info = npyTypes[static_cast<unsigned>(type)];
  assert(info.type == type && "table is not in the order of the enum");
  return info;
}

std::optional<NpyType> tile::findNpyType(StringRef name) {
  for (const NpyTypeInfo &info : npyTypes)
    if (info.name == name)
      return info.type;
  return std::nullopt;
}

/// The product of `shape` in bytes, or nullopt where an extent is negative or
/// the product of the non-zero extents does not fit in 63 bits. Counting the
/// non-zero ones keeps strides safe to compute beside an extent of 0.
static std::optional<int64_t> computeBytes(ArrayRef<int64_t> shape,
                                           unsigned elementBytes) {
  int64_t bytes = elementBytes;
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return std::nullopt;
    if (extent == 0) {
      empty = true;
      continue;
    }
    std::optional<int64_t> product = llvm::checkedMul(bytes, extent);
    if (!product)
      return std::nullopt;
    bytes = *product;
  }
  return empty ? 0 : bytes;
}

int64_t NpyArray::getNumElements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    if (extent == 0)
      return 0;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

static Error makeError(StringRef name, const Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "'" + name + "': " + message);
}

/// `text` for a message: printable and short, whatever a file holds.
static std::string quote(StringRef text) {
  std::string result;
  llvm::raw_string_ostream os(result);
  os << '\'';
  llvm::printEscapedString(text.take_front(40), os);
  os << (text.size() > 40 ? "…'" : "'");
  return result;
}

static std::string printShape(ArrayRef<int64_t> shape) {
  std::string result = "(";
  llvm::raw_string_ostream os(result);
  llvm::interleaveComma(shape, os);
  os << (shape.size() == 1 ? ",)" : ")");
  return result;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// What a header says.
struct Header {
  NpyType type;
  bool fortranOrder;
  llvm::SmallVector<int64_t, 4> shape;
};

/// Parser of the header's dictionary. It accepts what NumPy writes, and the
/// long integers of Python 2; Python's other spellings do not occur.
class HeaderParser {
public:
  HeaderParser(StringRef text, StringRef file) : rest(text), file(file) {}

  Expected<Header> parse();

private:
  Error expected(const Twine &what) {
    return makeError(file, "expected " + what + " in the header, but got " +
                               (rest.empty() ? "its end" : quote(rest)));
  }

  /// Skips blanks, then `token` if it is next; says whether it was.
  bool consume(StringRef token) {
    rest = rest.ltrim(" \t\r\n");
    return rest.consume_front(token);
  }

  Expected<StringRef> parseString();
  Expected<NpyType> parseType();
  Expected<bool> parseBool();
  Error parseShape(llvm::SmallVectorImpl<int64_t> &shape);

  StringRef rest;
  StringRef file;
};

} // namespace

Expected<StringRef> HeaderParser::parseString() {
  rest = rest.ltrim(" \t\r\n");
  if (!rest.starts_with("'") && !rest.starts_with("\""))
    return expected("a string");
  size_t end = rest.find(rest.front(), 1);
  if (end == StringRef::npos)
    return expected("a closed string");
  StringRef text = rest.slice(1, end);
  rest = rest.drop_front(end + 1);
  return text;
}

Expected<NpyType> HeaderParser::parseType() {
  rest = rest.ltrim(" \t\r\n");
  if (rest.starts_with("["))
    return makeError(file, "expected one element type, but got a structured "
                           "type");
  Expected<StringRef> descr = parseString();
  if (!descr)
    return descr.takeError();
  if (descr->starts_with(">"))
    return makeError(file, "expected little-endian elements, but got type " +
                               quote(*descr));
  for (const NpyTypeInfo &info : npyTypes) {
    // The byte order of a single byte, or of no number, is any of these.
    bool orderMatches =
        info.bytes == 1 || info.type == NpyType::Void16
            ? !descr->empty() && StringRef("|<=").contains(descr->front())
            : descr->starts_with("<");
    if (orderMatches && descr->drop_front() == info.descr.drop_front())
      return info.type;
  }
  std::string known;
  llvm::raw_string_ostream os(known);
  llvm::interleaveComma(npyTypes, os,
                        [&](const NpyTypeInfo &info) { os << info.descr; });
  return makeError(file, "expected an element type of " + known + ", but got " +
                             quote(*descr));
}

Expected<bool> HeaderParser::parseBool() {
  if (consume("True"))
    return true;
  if (consume("False"))
    return false;
  return expected("True or False");
}

Error HeaderParser::parseShape(llvm::SmallVectorImpl<int64_t> &shape) {
  if (!consume("("))
    return expected("the tuple of extents");
  bool comma = true;
  while (!consume(")")) {
    if (!comma)
      return expected("',' or ')' after an extent");
    if (shape.size() == maxRank)
      return makeError(file,
                       "expected at most " + Twine(maxRank) + " dimensions");
    StringRef digits = rest.take_while(llvm::isDigit);
    int64_t extent;
    if (digits.empty())
      return expected("a non-negative extent");
    if (digits.getAsInteger(10, extent))
      return expected("an extent below 2^63");
    rest = rest.drop_front(digits.size());
    rest.consume_front("L");
    shape.push_back(extent);
    comma = consume(",");
  }
  // To Python, "(5)" is a number and not a tuple.
  if (shape.size() == 1 && !comma)
    return makeError(file, "expected ',' after the only extent in the header");
  return Error::success();
}

Expected<Header> HeaderParser::parse() {
  std::optional<NpyType> type;
  std::optional<bool> fortranOrder;
  std::optional<llvm::SmallVector<int64_t, 4>> shape;

  if (!consume("{"))
    return expected("'{'");
  bool comma = true;
  while (!consume("}")) {
    if (!comma)
      return expected("',' or '}'");
    Expected<StringRef> key = parseString();
    if (!key)
      return key.takeError();
    bool repeated = (*key == "descr" && type) ||
                    (*key == "fortran_order" && fortranOrder) ||
                    (*key == "shape" && shape);
    if (repeated)
      return makeError(file, "expected the key " + quote(*key) +
                                 " once in the header");
    if (!consume(":"))
      return expected("':' after a key");
    if (*key == "descr") {
      Expected<NpyType> value = parseType();
      if (!value)
        return value.takeError();
      type = *value;
    } else if (*key == "fortran_order") {
      Expected<bool> value = parseBool();
      if (!value)
        return value.takeError();
      fortranOrder = *value;
    } else if (*key == "shape") {
      shape.emplace();
      if (Error error = parseShape(*shape))
        return std::move(error);
    } else {
      return makeError(file, "expected only the keys 'descr', 'fortran_order' "
                             "and 'shape' in the header, but got " +
                                 quote(*key));
    }
    comma = consume(",");
  }
  rest = rest.ltrim(" \t\r\n");
  if (!rest.empty())
    return expected("nothing after '}'");
  if (!type || !fortranOrder || !shape)
    return makeError(file, "expected the keys 'descr', 'fortran_order' and "
                           "'shape' in the header, but one is missing");
  return Header{*type, *fortranOrder, std::move(*shape)};
}

/// Copies column-major `source` into row-major `target`.
static void copyFromFortran(ArrayRef<uint8_t> source, ArrayRef<int64_t> shape,
                            size_t elementBytes, std::vector<uint8_t> &target) {
  llvm::SmallVector<int64_t, 4> index(shape.size(), 0);
  llvm::SmallVector<int64_t, 4> strides(shape.size());
  int64_t stride = static_cast<int64_t>(elementBytes);
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    strides[dim] = stride;
    stride *= extent;
  }
  const uint8_t *from = source.data();
  for (size_t to = 0; to < target.size(); to += elementBytes) {
    std::copy_n(from, elementBytes, target.data() + to);
    for (size_t dim = shape.size(); dim-- > 0;) {
      from += strides[dim];
      if (++index[dim] < shape[dim])
        break;
      from -= strides[dim] * shape[dim];
      index[dim] = 0;
    }
  }
}

Expected<NpyArray> tile::parseNpy(ArrayRef<uint8_t> contents, StringRef name) {
  StringRef rest(reinterpret_cast<const char *>(contents.data()),
                 contents.size());
  if (!rest.consume_front(magic))
    return makeError(name, "expected a .npy file, which begins with "
                           "'\\93NUMPY', but got " +
                               quote(rest.take_front(magic.size())));
  if (rest.size() < 2)
    return makeError(name, "expected the format version, but the file ends");
  unsigned major = static_cast<uint8_t>(rest[0]);
  unsigned minor = static_cast<uint8_t>(rest[1]);
  if (major < 1 || major > 3 || minor != 0)
    return makeError(name, "expected format version 1.0, 2.0 or 3.0, but got " +
                               Twine(major) + "." + Twine(minor));
  rest = rest.drop_front(2);

  size_t lengthBytes = major == 1 ? 2 : 4;
  if (rest.size() < lengthBytes)
    return makeError(name, "expected the header's length, but the file ends");
  uint32_t length = major == 1 ? llvm::support::endian::read16le(rest.data())
                               : llvm::support::endian::read32le(rest.data());
  rest = rest.drop_front(lengthBytes);
  if (rest.size() < length)
    return makeError(name, "expected a header of " + Twine(length) +
                               " bytes, but the file has " +
                               Twine(rest.size()) + " more");
  Expected<Header> header = HeaderParser(rest.take_front(length), name).parse();
  if (!header)
    return header.takeError();
  rest = rest.drop_front(length);

  const NpyTypeInfo &info = getNpyTypeInfo(header->type);
  std::optional<int64_t> bytes = computeBytes(header->shape, info.bytes);
  if (!bytes)
    return makeError(name, "expected fewer than 2^63 bytes of data, but got "
                           "shape " +
                               printShape(header->shape) + " of " + info.name);
  if (static_cast<uint64_t>(*bytes) != rest.size())
    return makeError(name, "expected " + Twine(*bytes) +
                               " bytes of data for shape " +
                               printShape(header->shape) + " of " + info.name +
                               ", but got " + Twine(rest.size()));

  NpyArray array;
  array.type = header->type;
  array.shape = std::move(header->shape);
  ArrayRef<uint8_t> data = contents.take_back(rest.size());
  // Only with two long dimensions do the two orders differ.
  bool isMatrix = llvm::count_if(array.shape,
                                 [](int64_t extent) { return extent > 1; }) > 1;
  if (header->fortranOrder && isMatrix && !data.empty()) {
    array.bytes.resize(data.size());
    copyFromFortran(data, array.shape, info.bytes, array.bytes);
  } else {
    array.bytes.assign(data.begin(), data.end());
  }
  return array;
}

Expected<NpyArray> tile::readNpy(StringRef path) {
  // A directory's own error is as good.
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(path, status) &&
      !llvm::sys::fs::is_regular_file(status) &&
      !llvm::sys::fs::is_directory(status))
    return makeError(path, "expected a regular file, but got a pipe or a "
                           "device");
  // Volatile: the file is read and not mapped, so that one which another
  // process cuts short is an error and not a signal.
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false,
                                            /*IsVolatile=*/true);
  if (!buffer)
    return makeError(path, "expected a readable file: " +
                               buffer.getError().message());
  StringRef text = (*buffer)->getBuffer();
  return parseNpy({reinterpret_cast<const uint8_t *>(text.data()), text.size()},
                  path);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Writes a whole file to `fd`, which stays open.
static std::error_code writeContents(int fd, StringRef header,
                                     ArrayRef<uint8_t> bytes) {
  llvm::raw_fd_ostream os(fd, /*shouldClose=*/false);
  os << header;
  os.write(reinterpret_cast<const char *>(bytes.data()), bytes.size());
  os.flush();
  std::error_code error = os.error();
  // A stream that is destroyed with an error ends the process.
  os.clear_error();
  return error;
}

/// The header of a version 1.0 file; an error if it does not describe `bytes`
/// bytes of data. `path` stands for the file in errors.
static Expected<std::string> formatHeader(StringRef path, NpyType type,
                                          ArrayRef<int64_t> shape,
                                          size_t bytes) {
  const NpyTypeInfo &info = getNpyTypeInfo(type);
  if (shape.size() > maxRank)
    return makeError(path, "expected at most " + Twine(maxRank) +
                               " dimensions, but got " + Twine(shape.size()));
  std::optional<int64_t> size = computeBytes(shape, info.bytes);
  if (!size)
    return makeError(path, "expected non-negative extents and fewer than 2^63 "
                           "bytes, but got shape " +
                               printShape(shape) + " of " + info.name);
  if (static_cast<uint64_t>(*size) != bytes)
    return makeError(path, "expected " + Twine(*size) +
                               " bytes of data for shape " + printShape(shape) +
                               " of " + info.name + ", but got " +
                               Twine(bytes));

  std::string dictionary =
      ("{'descr': '" + info.descr +
       "', 'fortran_order': False, 'shape': " + printShape(shape) + ", }")
          .str();
  // The data begin at a multiple of 64 bytes, after a newline.
  constexpr size_t prefix = 10;
  size_t length = llvm::alignTo(prefix + dictionary.size() + 1, 64) - prefix;
  // 64 extents of 20 digits stay well below version 1.0's limit of 65535.
  std::string header = magic.str();
  header += {'\x01', '\x00', static_cast<char>(length & 0xFF),
             static_cast<char>(length >> 8)};
  header += dictionary;
  header.append(length - dictionary.size() - 1, ' ');
  header += '\n';
  return header;
}

Expected<std::string> tile::formatNpy(StringRef path, NpyType type,
                                      ArrayRef<int64_t> shape,
                                      ArrayRef<uint8_t> bytes) {
  Expected<std::string> contents =
      formatHeader(path, type, shape, bytes.size());
  if (contents)
    contents->append(reinterpret_cast<const char *>(bytes.data()),
                     bytes.size());
  return contents;
}

Error tile::writeNpy(StringRef path, NpyType type, ArrayRef<int64_t> shape,
                     ArrayRef<uint8_t> bytes) {
  Expected<std::string> header = formatHeader(path, type, shape, bytes.size());
  if (!header)
    return header.takeError();

  llvm::SmallString<128> target(path);
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(path, status)) {
    if (llvm::sys::fs::is_directory(status))
      return makeError(path, "expected a file's name, but it is a directory");
    if (!llvm::sys::fs::is_regular_file(status)) {
      int fd;
      std::error_code error = llvm::sys::fs::openFileForWrite(
          path, fd, llvm::sys::fs::CD_OpenExisting);
      if (!error) {
        error = writeContents(fd, *header, bytes);
        llvm::sys::fs::file_t file = llvm::sys::fs::convertFDToNativeFile(fd);
        std::error_code closeError = llvm::sys::fs::closeFile(file);
        if (!error)
          error = closeError;
      }
      return error ? makeError(path, "cannot write: " + error.message())
                   : Error::success();
    }
    // Renaming over a link would replace the link.
    llvm::SmallString<128> resolved;
    if (!llvm::sys::fs::real_path(path, resolved))
      target = resolved;
  }

  Expected<llvm::sys::fs::TempFile> temp =
      llvm::sys::fs::TempFile::create(target + ".tmp-%%%%%%%%");
  if (!temp)
    return makeError(path, "cannot write: " + toString(temp.takeError()));
  if (std::error_code error = writeContents(temp->FD, *header, bytes)) {
    llvm::consumeError(temp->discard());
    return makeError(path, "cannot write: " + error.message());
  }
  if (Error error = temp->keep(target))
    return makeError(path, "cannot write: " + toString(std::move(error)));
  return Error::success();
}

Error tile::writeNpy(StringRef path, const NpyArray &array) {
  return writeNpy(path, array.type, array.shape, array.bytes);
}
