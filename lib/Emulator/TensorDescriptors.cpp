//===- TensorDescriptors.cpp - Descriptors of tcgen05 ---------------------===//

#include "TensorDescriptors.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace tile::emulator;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

static Error makeError(const Twine &message) {
  return llvm::createStringError(message.str());
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

Expected<SharedMatrix> SharedMatrix::decode(uint64_t descriptor) {
  auto field = [&](unsigned first, unsigned bits) {
    return static_cast<uint32_t>(descriptor >> first &
                                 ((uint64_t(1) << bits) - 1));
  };
  auto expects = [&](const Twine &what) {
    return makeError("the descriptor 0x" +
                     llvm::utohexstr(descriptor, /*LowerCase=*/true, 16) +
                     " of a matrix in shared memory expects " + what);
  };
  SharedMatrix matrix;
  matrix.start = field(0, 14) * kChunkBytes;
  matrix.leading = field(16, 14) * kChunkBytes;
  matrix.stride = field(32, 14) * kChunkBytes;
  if (field(14, 2) || field(30, 2))
    return expects("0 in bits 15:14 and 31:30");
  if (field(46, 3) != 1)
    return expects("1 in bits 48:46, but got " + Twine(field(46, 3)));
  if (field(52, 1))
    return expects("a relative leading dimension (0 in bit 52): an absolute "
                   "one is not modelled");
  if (field(53, 8))
    return expects("0 in bits 60:53, but got " + Twine(field(53, 8)));
  unsigned mode = field(61, 3);
  if (mode == 3 || mode == 5 || mode == 7)
    return expects("a swizzle of 0, 1, 2, 4 or 6 in bits 63:61, but got " +
                   Twine(mode));
  matrix.swizzle = static_cast<Swizzle>(mode);
  // Without a pattern it does not matter where one begins.
  if (mode && field(49, 3))
    return expects("a base offset of 0 in bits 51:49 (patterns that begin "
                   "elsewhere are not modelled), but got " +
                   Twine(field(49, 3)));
  return matrix;
}

unsigned SharedMatrix::getSpan() const {
  switch (swizzle) {
  case Swizzle::None:
    return kChunkBytes;
  case Swizzle::Bytes32:
    return 32;
  case Swizzle::Bytes64:
    return 64;
  default:
    return 128;
  }
}

/// The bits that a pattern exchanges are those of the address itself.
uint32_t SharedMatrix::applySwizzle(uint32_t address) const {
  uint32_t line = address >> 7;
  switch (swizzle) {
  case Swizzle::None:
    return address;
  case Swizzle::Bytes32:
    return address ^ (line & 1) << 4;
  case Swizzle::Bytes64:
    return address ^ (line & 3) << 4;
  case Swizzle::Bytes128:
    return address ^ (line & 7) << 4;
  case Swizzle::Bytes128Atom32:
    return address ^ (line & 3) << 5;
  }
  return address;
}

/// Rows of a core matrix, whose groups `stride` steps over.
static constexpr unsigned kGroup = 8;

uint32_t SharedMatrix::getKMajor(unsigned row, unsigned chunk) const {
  uint32_t address = start + row % kGroup * getSpan() + row / kGroup * stride +
                     chunk * (swizzle == Swizzle::None ? leading : kChunkBytes);
  return applySwizzle(address);
}

uint32_t SharedMatrix::getMNMajor(unsigned k, unsigned chunk) const {
  uint32_t address = start + k % kGroup * getSpan();
  if (swizzle == Swizzle::None)
    return address + k / kGroup * leading + chunk * stride;
  unsigned perRow = getSpan() / kChunkBytes;
  return applySwizzle(address + k / kGroup * stride +
                      chunk % perRow * kChunkBytes + chunk / perRow * leading);
}

//===----------------------------------------------------------------------===//
// Multiplies
//===----------------------------------------------------------------------===//

StringRef tile::emulator::getTensorKindName(TensorKind kind) {
  switch (kind) {
  case TensorKind::F16:
    return "f16";
  case TensorKind::F8F6F4:
    return "f8f6f4";
  case TensorKind::MXF8F6F4:
    return "mxf8f6f4";
  case TensorKind::MXF4:
    return "mxf4";
  case TensorKind::MXF4NVF4:
    return "mxf4nvf4";
  }
  return "";
}

/// A type's code in a descriptor.
static std::optional<TensorFormat> getFormat(TensorKind kind, unsigned code) {
  switch (kind) {
  case TensorKind::F16:
    return code == 0   ? std::optional(TensorFormat::F16)
           : code == 1 ? std::optional(TensorFormat::BF16)
                       : std::nullopt;
  case TensorKind::MXF4:
  case TensorKind::MXF4NVF4:
    return code == 1 ? std::optional(TensorFormat::E2M1) : std::nullopt;
  default:
    switch (code) {
    case 0:
      return TensorFormat::E4M3;
    case 1:
      return TensorFormat::E5M2;
    case 3:
      return TensorFormat::E2M3;
    case 4:
      return TensorFormat::E3M2;
    case 5:
      return TensorFormat::E2M1;
    default:
      return std::nullopt;
    }
  }
}

static bool isFP8(TensorFormat format) {
  return format == TensorFormat::E4M3 || format == TensorFormat::E5M2;
}

Expected<TensorShape> tile::emulator::decodeTensorShape(TensorKind kind,
                                                        unsigned block,
                                                        uint32_t descriptor) {
  auto field = [&](unsigned first, unsigned bits) {
    return descriptor >> first & ((uint32_t(1) << bits) - 1);
  };
  auto expects = [&](const Twine &what) {
    return makeError("the instruction descriptor 0x" +
                     llvm::utohexstr(descriptor, /*LowerCase=*/true, 8) +
                     " of .kind::" + getTensorKindName(kind) + " expects " +
                     what);
  };
  const bool isScaled = hasBlockScale(kind);
  const bool isFP4 = kind == TensorKind::MXF4 || kind == TensorKind::MXF4NVF4;
  TensorShape shape;
  if (field(2, 1))
    return expects("0 in bit 2: sparse matrices are not modelled");
  if (field(0, 2) || field(3, 1) || field(6, 1))
    return expects("0 in bits 1:0, 3 and 6");

  // Types.
  std::optional<TensorFormat> a = getFormat(kind, field(7, 3));
  std::optional<TensorFormat> b = getFormat(kind, field(10, 3));
  if (!a)
    return expects("the code of a type of A in bits 9:7, but got " +
                   Twine(field(7, 3)));
  if (!b)
    return expects("the code of a type of B in bits 12:10, but got " +
                   Twine(field(10, 3)));
  shape.formatA = *a;
  shape.formatB = *b;
  if (kind == TensorKind::F16 && *a != *b)
    return expects("one type of A and B, but got f16 and bf16");
  if (!isScaled) {
    unsigned result = field(4, 2);
    if (result > 1)
      return expects("0 (f16) or 1 (f32) as type of D in bits 5:4, but got " +
                     Twine(result));
    shape.isHalfResult = result == 0;
    if (shape.isHalfResult && *a == TensorFormat::BF16)
      return expects("f32 as type of D of bf16 products");
  }
  shape.negateA = field(13, 1);
  shape.negateB = field(14, 1);
  shape.isMMajor = field(15, 1);
  shape.isNMajor = field(16, 1);
  if (isFP4 && (shape.isMMajor || shape.isNMajor))
    return expects("matrices that are major in K (0 in bits 16:15)");
  auto isWide = [&](TensorFormat format) {
    return kind == TensorKind::F16 || isFP8(format);
  };
  if ((shape.isMMajor && !isWide(*a)) || (shape.isNMajor && !isWide(*b)))
    return expects("0 in bits 16:15 for types of fewer than 8 bits, which are "
                   "major in K");

  // Extents.
  shape.k = kind == TensorKind::F16 ? 16 : isFP4 ? 64 : 32;
  shape.n = field(17, 6) * 8;
  if (isScaled) {
    if (field(24, 3))
      return expects("0 in bits 26:24, but got " + Twine(field(24, 3)));
    shape.m = field(27, 2) * 128;
    if (shape.m != 128)
      return expects("M = 128 in bits 28:27 with .cta_group::1, but got " +
                     Twine(shape.m));
  } else {
    shape.m = field(24, 5) * 16;
    if (shape.m != 64 && shape.m != 128)
      return expects(
          "M = 64 or 128 in bits 28:24 with .cta_group::1, but got " +
          Twine(shape.m));
    if (field(23, 1) || field(29, 1))
      return expects("0 in bits 23 and 29");
    if (field(30, 2))
      return expects("0 in bits 31:30, which belong to .ws");
  }
  if (shape.n < 8 || shape.n > 256)
    return expects("N = 8 to 256 in bits 22:17, but got " + Twine(shape.n));
  if (shape.isNMajor && kind != TensorKind::F16 && shape.n % 16)
    return expects("a multiple of 16 as N for a B of bytes that is major in N, "
                   "but got " +
                   Twine(shape.n));
  if (!isScaled)
    return shape;

  // Scales.
  shape.blocks = shape.k / block;
  shape.isUE4M3 = !field(23, 1);
  if (shape.isUE4M3 && (kind != TensorKind::MXF4NVF4 || block != 16))
    return expects("scales of type ue8m0 (1 in bit 23); ue4m3 is for "
                   ".kind::mxf4nvf4 with .block16");
  if (field(31, 1)) {
    if (isFP4)
      return expects("K = 64 (0 in bit 31): K = 96 is for .cta_group::2, which "
                     "is not modelled");
    return expects("0 in bit 31");
  }
  shape.scaleA = field(29, 2);
  shape.scaleB = field(4, 2);
  auto isLegal = [&](unsigned id) { return id % shape.blocks == 0; };
  if (!isLegal(shape.scaleA) || !isLegal(shape.scaleB))
    return expects(Twine("scale factor ids of ") +
                   (shape.blocks == 4 ? "0" : "0 or 2") +
                   " in bits 30:29 and 5:4, but got " + Twine(shape.scaleA) +
                   " and " + Twine(shape.scaleB));
  return shape;
}
