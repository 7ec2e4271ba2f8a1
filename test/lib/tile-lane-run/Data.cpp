//===- Data.cpp - Generated arguments for a kernel ------------------------===//

#include "Data.h"

#include "tile/Formats/ElementFormat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace tile;
using llvm::createStringError;
using llvm::Expected;

/// The finalizer of MurmurHash3 over an index: neighbours share nothing.
static uint64_t hash(uint64_t x, uint64_t salt) {
  x = (x + 1) * 0x9E3779B97F4A7C15ULL + salt * 0xD1B54A32D192ED03ULL;
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ x >> 33;
}

/// A code of `format` for which sums stay exact; see the file's head.
static uint64_t getExactCode(ElementFormat format, bool isScale, uint64_t h) {
  switch (format) {
  case ElementFormat::F4E2M1FN:
    return h & 0xF;
  case ElementFormat::F8E4M3FN: {
    static const uint8_t scales[] = {0x38, 0x3C, 0x40, 0x44}; // 1, 1.5, 2, 3
    if (isScale)
      return scales[h & 3];
    // Half to 1.875, every mantissa.
    return (h & 0x80) | (6 + (h >> 8 & 1)) << 3 | (h & 7);
  }
  case ElementFormat::F8E5M2:
    // Half to 3.5, every mantissa.
    return (h & 0x80) | (14 + (h >> 8) % 3) << 2 | (h & 3);
  case ElementFormat::F8E8M0FNU:
    return 127 + h % 3;
  case ElementFormat::BF16:
  case ElementFormat::F16:
  case ElementFormat::F32:
    return encode(format, (double(h % 33) - 16) / 8);
  }
  return 0;
}

/// Any code of `format` that is finite and, for a scale, positive.
static uint64_t getRandomCode(ElementFormat format, bool isScale, uint64_t h) {
  const FormatInfo &info = getFormatInfo(format);
  if (info.bits <= 8) {
    for (uint64_t code = h;; ++code) {
      uint64_t low = code & ((1u << info.bits) - 1);
      if (isScale && info.hasSign)
        low &= (1u << (info.bits - 1)) - 1;
      // Powers of two near 1, so that a product of four factors is in range.
      if (format == ElementFormat::F8E8M0FNU)
        return 119 + code % 17;
      if (std::isfinite(decode(format, low)))
        return low;
    }
  }
  double value = (double(h & 0xFFFFFF) / 0x800000 - 1) *
                 std::ldexp(1.0, int(h >> 32 & 7) - 3);
  return encode(format, value);
}

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

int64_t GeneratedArgument::getNumElements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

Expected<GeneratedArgument> GeneratedArgument::get(StringRef spec, Type type,
                                                   unsigned index,
                                                   uint64_t seed,
                                                   DataKind kind) {
  auto fail = [&](const Twine &what) {
    return createStringError("argument " + Twine(index) + ": " + what +
                             ", but got '" + spec + "'");
  };
  GeneratedArgument result;
  SmallVector<StringRef> parts;
  spec.split(parts, ':');
  StringRef role = parts[0];
  result.memref = dyn_cast<MemRefType>(type);
  Type elementType = result.memref ? result.memref.getElementType() : type;
  std::optional<reference::Element> element =
      reference::Element::get(elementType);
  if (!element || parts.size() < 2)
    return fail("expects ROLE:EXTENTS[xTYPE] or val:VALUE");
  result.element = *element;

  if (!result.memref) {
    double number = 0;
    int64_t integer = 0;
    if (role != "val")
      return fail("expects val:VALUE for '" + print(type) + "'");
    if (element->isFloat()) {
      if (parts[1].getAsDouble(number))
        return fail("expects a number");
      result.scalar = element->encode(number);
    } else {
      if (parts[1].getAsInteger(0, integer))
        return fail("expects an integer");
      result.scalar = uint64_t(integer) & element->getMask();
    }
    return std::move(result);
  }

  if (role != "in" && role != "out" && role != "inout")
    return fail("expects in, inout or out for '" + print(type) + "'");
  result.output = role != "in";
  result.readOnly = role == "in";

  // Extents, then maybe a type, which must be the kernel's.
  StringRef rest = parts[1];
  while (!rest.empty() && llvm::isDigit(rest.front())) {
    int64_t extent = 0;
    if (rest.consumeInteger(10, extent))
      return fail("expects extents");
    result.shape.push_back(extent);
    if (!rest.consume_front("x"))
      break;
  }
  std::string own = print(elementType);
  if (!rest.empty() && own != rest && own != ("!tile." + rest).str())
    return fail("expects elements of type '" + own + "'");
  if (int64_t(result.shape.size()) != result.memref.getRank())
    return fail("expects " + Twine(result.memref.getRank()) + " extents");

  bool isScale = false;
  int64_t rowStride = 0, max = 0;
  for (StringRef option : ArrayRef(parts).drop_front(2)) {
    if (option == "scale")
      isScale = true;
    else if (option.consume_front("stride=")) {
      if (option.getAsInteger(10, rowStride) || result.shape.size() < 2 ||
          rowStride < result.shape.back())
        return fail("expects a stride of at least a row");
    } else if (option.consume_front("max=")) {
      if (option.getAsInteger(10, max) || max < 1)
        return fail("expects a positive max");
    } else
      return fail("expects scale, stride=N or max=N");
  }

  result.strides.assign(result.shape.size(), 1);
  for (size_t dim = result.shape.size(); dim-- > 1;) {
    bool isRow = dim == result.shape.size() - 1 && rowStride;
    result.strides[dim - 1] =
        isRow ? rowStride : result.strides[dim] * result.shape[dim];
  }
  int64_t span = 1;
  for (size_t dim = 0; dim < result.shape.size(); ++dim) {
    if (result.shape[dim] == 0)
      span = 0;
    else if (span)
      span += (result.shape[dim] - 1) * result.strides[dim];
  }

  unsigned bytes = element->bytes;
  result.initial.assign(size_t(span) * bytes, 0xFF);
  if (role == "out")
    return std::move(result);
  uint64_t salt = seed * 64 + index;
  int64_t count = result.getNumElements();
  for (int64_t i = 0; i < count; ++i) {
    int64_t offset = 0, left = i;
    for (size_t dim = result.shape.size(); dim-- > 0;) {
      offset += left % result.shape[dim] * result.strides[dim];
      left /= result.shape[dim];
    }
    uint64_t h = hash(i, salt);
    uint64_t code = h & element->getMask();
    if (max)
      code = h % max;
    else if (element->isFloat() && element->format)
      code = kind == DataKind::Exact
                 ? getExactCode(*element->format, isScale, h)
                 : getRandomCode(*element->format, isScale, h);
    std::memcpy(&result.initial[offset * bytes], &code, bytes);
  }
  return std::move(result);
}

reference::Argument GeneratedArgument::instantiate(std::vector<uint8_t> &memory,
                                                   bool magnitude) const {
  bool hasSign = element.isFloat() &&
                 (!element.format || getFormatInfo(*element.format).hasSign);
  if (!isArray()) {
    uint64_t code = scalar;
    if (magnitude && hasSign)
      code &= element.getMask() >> 1;
    return reference::Scalar{code};
  }
  // The base is aligned to 16 bytes, and an empty array has an address too.
  memory.assign(initial.size() + 32, 0xFF);
  uint8_t *base = memory.data();
  base += -reinterpret_cast<uintptr_t>(base) & 15;
  if (!initial.empty())
    std::memcpy(base, initial.data(), initial.size());
  if (magnitude) {
    bool isPair = element.kind == reference::Element::Kind::Pair;
    for (size_t i = element.bytes - 1; i < initial.size(); i += element.bytes)
      if (isPair || hasSign)
        base[i] &= isPair ? 0x77 : 0x7F;
  }
  reference::Buffer buffer;
  buffer.data = base;
  buffer.capacity = int64_t(initial.size());
  buffer.elementBytes = element.bytes;
  buffer.shape.assign(shape.begin(), shape.end());
  buffer.strides.assign(strides.begin(), strides.end());
  buffer.readOnly = readOnly;
  return buffer;
}

static const uint8_t *getBase(const std::vector<uint8_t> &memory) {
  return memory.data() + (-reinterpret_cast<uintptr_t>(memory.data()) & 15);
}

uint64_t GeneratedArgument::compare(const std::vector<uint8_t> &expected,
                                    const std::vector<uint8_t> &found,
                                    const std::vector<uint8_t> &bound,
                                    double tolerance, double relative,
                                    double absolute,
                                    std::string &description) const {
  const uint8_t *expectedBase = getBase(expected);
  const uint8_t *foundBase = getBase(found);
  uint64_t numDifferent = 0;
  std::vector<bool> isElement(initial.size());
  auto read = [&](const uint8_t *base, int64_t offset) {
    uint64_t code = 0;
    std::memcpy(&code, base + offset * element.bytes, element.bytes);
    return code;
  };
  int64_t count = getNumElements();
  for (int64_t i = 0; i < count; ++i) {
    int64_t offset = 0, left = i;
    SmallVector<int64_t> coordinates(shape.size());
    for (size_t dim = shape.size(); dim-- > 0;) {
      coordinates[dim] = left % shape[dim];
      offset += coordinates[dim] * strides[dim];
      left /= shape[dim];
    }
    std::fill_n(isElement.begin() + offset * element.bytes, element.bytes,
                true);
    uint64_t want = read(expectedBase, offset), got = read(foundBase, offset);
    if (want == got)
      continue;
    if (element.isFloat()) {
      double x = element.decode(want), y = element.decode(got);
      if (std::isnan(x) && std::isnan(y))
        continue;
      double allowed = relative * std::fabs(x) + absolute;
      if (!bound.empty())
        allowed += tolerance * (element.decode(read(getBase(bound), offset)) +
                                std::ldexp(1.0, -125));
      if (allowed > 0 && std::fabs(x - y) <= allowed)
        continue;
    }
    if (numDifferent++ == 0) {
      llvm::raw_string_ostream os(description);
      os << "[";
      llvm::interleaveComma(coordinates, os);
      os << "]: expected ";
      auto show = [&](uint64_t code) {
        if (element.isFloat())
          os << llvm::format("%.9g", element.decode(code))
             << llvm::formatv(" ({0:x})", code);
        else
          os << llvm::formatv("{0:x}", code);
      };
      show(want);
      os << ", but got ";
      show(got);
    }
  }
  for (size_t byte = 0; byte < initial.size(); ++byte)
    if (!isElement[byte] && foundBase[byte] != initial[byte] &&
        numDifferent++ == 0)
      description =
          llvm::formatv("byte {0}: outside the elements, but written", byte)
              .str();
  return numDifferent;
}
