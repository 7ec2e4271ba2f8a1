//===- TensorCoreHarness.h - Matrices for mma.sync in tests -----*- C++ -*-===//
//
// Spreads matrices over a warp's registers by the tables of the PTX ISA,
// written down shape by shape as the ISA does, runs one mma.sync and gathers D.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_UNITTESTS_EMULATOR_TENSORCOREHARNESS_H
#define TILE_UNITTESTS_EMULATOR_TENSORCOREHARNESS_H

#include "Harness.h"
#include "tile/Formats/ElementFormat.h"

#include <array>
#include <cmath>
#include <cstdlib>

namespace tile::emulator {

inline uint64_t hash(uint64_t x) {
  x ^= x >> 33;
  x *= 0xFF51AFD7ED558CCD;
  x ^= x >> 33;
  x *= 0xC4CEB9FE1A85EC53;
  return x ^ x >> 33;
}

struct Place {
  unsigned row, column;
};

/// Row and column of element `i` of A that `lane` holds, elements counted over
/// all registers from low to high (PTX ISA, "Matrix Fragments for mma.…").
inline Place getPlaceA(unsigned rows, unsigned k, unsigned bits, unsigned lane,
                       unsigned i) {
  unsigned group = lane >> 2, thread = lane % 4;
  if (rows == 8) {
    // m8n8k4 (f64), m8n8k16, m8n8k32, m8n8k128.
    unsigned perThread = k / 4;
    return {group, thread * perThread + i};
  }
  switch (k) {
  case 4:
    return {i == 0 ? group : group + 8, thread};
  case 8:
    if (bits == 16)
      return {i < 2 ? group : group + 8, thread * 2 + (i & 1)};
    return {i == 0 || i == 2 ? group : group + 8, i < 2 ? thread : thread + 4};
  case 16:
    if (bits == 16)
      return {i < 2 || (4 <= i && i < 6) ? group : group + 8,
              thread * 2 + (i & 1) + (i < 4 ? 0 : 8)};
    if (bits == 64)
      return {i % 2 == 0 ? group : group + 8,
              i % 2 == 0 ? i * 2 + thread : i * 2 - 2 + thread};
    return {i < 4 ? group : group + 8, thread * 4 + (i & 3)};
  case 32:
    if (bits == 4)
      return {i < 8 ? group : group + 8, thread * 8 + (i & 7)};
    return {i < 4 || (8 <= i && i < 12) ? group : group + 8,
            thread * 4 + (i & 3) + (i < 8 ? 0 : 16)};
  case 64:
    return {i < 8 || (16 <= i && i < 24) ? group : group + 8,
            thread * 8 + (i & 7) + (i < 16 ? 0 : 32)};
  case 128:
    return {i < 32 ? group : group + 8, thread * 32 + (i & 31)};
  default: // 256
    return {i < 32 || (64 <= i && i < 96) ? group : group + 8,
            thread * 32 + (i & 31) + (i < 64 ? 0 : 128)};
  }
}

/// The same of B.
inline Place getPlaceB(unsigned rows, unsigned k, unsigned bits, unsigned lane,
                       unsigned i) {
  unsigned group = lane >> 2, thread = lane % 4;
  if (rows == 8)
    return {thread * (k / 4) + i, group};
  switch (k) {
  case 4:
    return {thread, group};
  case 8:
    if (bits == 16)
      return {thread * 2 + i, group};
    return {i == 0 ? thread : thread + 4, group};
  case 16:
    if (bits == 16)
      return {thread * 2 + (i & 1) + (i < 2 ? 0 : 8), group};
    if (bits == 64)
      return {thread + i * 4, group};
    return {thread * 4 + i, group};
  case 32:
    if (bits == 4)
      return {thread * 8 + i, group};
    return {thread * 4 + (i & 3) + (i < 4 ? 0 : 16), group};
  case 64:
    return {thread * 8 + (i & 7) + (i < 8 ? 0 : 32), group};
  case 128:
    return {thread * 32 + i, group};
  default: // 256
    return {thread * 32 + (i & 31) + (i < 32 ? 0 : 128), group};
  }
}

/// The same of C and D.
inline Place getPlaceC(unsigned lane, unsigned i) {
  return {i < 2 ? lane >> 2 : (lane >> 2) + 8, lane % 4 * 2 + (i & 1)};
}

/// Bits that an element of PTX's `type` takes in a register of mma.sync without
/// packed FP4.
inline unsigned getElementBits(llvm::StringRef type) {
  if (type == "f64")
    return 64;
  if (type == "tf32" || type == "f32" || type == "s32")
    return 32;
  if (type == "f16" || type == "bf16")
    return 16;
  if (type == "s4" || type == "u4")
    return 4;
  return type == "b1" ? 1 : 8;
}

/// The value of a code. 8-bit containers are codes without their padding.
inline double decodeElement(llvm::StringRef type, uint64_t code) {
  auto as = [&](ElementFormat format) {
    return decode(format, static_cast<uint32_t>(code));
  };
  if (type == "e2m1")
    return as(ElementFormat::F4E2M1FN);
  if (type == "e4m3")
    return as(ElementFormat::F8E4M3FN);
  if (type == "e5m2")
    return as(ElementFormat::F8E5M2);
  if (type == "ue8m0")
    return as(ElementFormat::F8E8M0FNU);
  if (type == "ue4m3")
    return std::fabs(as(ElementFormat::F8E4M3FN));
  if (type == "f16")
    return as(ElementFormat::F16);
  if (type == "bf16")
    return as(ElementFormat::BF16);
  if (type == "f32")
    return as(ElementFormat::F32);
  if (type == "tf32") // The low 13 bits do not count.
    return decode(ElementFormat::F32, static_cast<uint32_t>(code) & ~0x1FFFu);
  if (type == "e2m3" || type == "e3m2") {
    unsigned mantissaBits = type == "e2m3" ? 3 : 2;
    unsigned mantissa = code & ((1 << mantissaBits) - 1);
    unsigned exponent = code >> mantissaBits & (31 >> mantissaBits);
    unsigned units = exponent
                         ? (mantissa + (1 << mantissaBits)) << (exponent - 1)
                         : mantissa;
    double value = units / (type == "e2m3" ? 8.0 : 16.0);
    return code & 32 ? -value : value;
  }
  if (type == "f64") {
    double value;
    std::memcpy(&value, &code, 8);
    return value;
  }
  if (type == "s8")
    return static_cast<int8_t>(code);
  if (type == "s4")
    return static_cast<int>(code ^ 8) - 8;
  if (type == "s32")
    return static_cast<int32_t>(code);
  return static_cast<double>(code); // u8, u4, b1.
}

/// One mma.sync with its matrices, as codes.
struct MmaTest {
  unsigned rows = 16, k = 0;
  std::string opcode; ///< Without "mma.sync.aligned.".
  std::string typeA, typeB, typeC;
  std::string target = "sm_120a", version = "8.8";
  /// Whether e2m1 comes two in a byte.
  bool isPacked = false;
  std::vector<uint64_t> a, b, c; ///< [rows][k], [k][8], [rows][8]

  // Scales: what each lane has in its registers, and the selectors.
  unsigned blocks = 0;
  std::string scaleType;
  std::array<uint32_t, 32> scaleA = {}, scaleB = {};
  unsigned byteA = 0, threadA = 0, byteB = 0, threadB = 0;
  bool selectorsInRegisters = false;

  LaunchOptions options;
  std::string error; ///< Of the last run.

  unsigned bitsA() const { return isPacked ? 4 : getElementBits(typeA); }
  unsigned bitsC() const { return getElementBits(typeC); }

  /// The codes of a register file as words of `wordBits`.
  static void pack(std::vector<uint64_t> &words, unsigned wordBits,
                   unsigned bits, llvm::ArrayRef<uint64_t> codes) {
    unsigned perWord = wordBits / bits;
    for (size_t i = 0; i != codes.size(); ++i) {
      if (i % perWord == 0)
        words.push_back(0);
      words.back() |= codes[i] << bits * (i % perWord);
    }
  }

  /// A code as it stands in its container.
  static uint64_t contain(llvm::StringRef type, bool packed, uint64_t code) {
    return type == "e2m1" && !packed ? code << 2 : code;
  }

  /// The words of `lane`: A, B, C.
  std::vector<uint64_t> getWords(unsigned lane) const {
    unsigned wordBits = typeA == "f64" ? 64 : 32;
    std::vector<uint64_t> words, codes;
    for (unsigned i = 0; i != rows * k / 32; ++i) {
      Place place = getPlaceA(rows, k, bitsA(), lane, i);
      codes.push_back(
          contain(typeA, isPacked, a[place.row * k + place.column]));
    }
    pack(words, wordBits, bitsA(), codes);
    codes.clear();
    for (unsigned i = 0; i != k * 8 / 32; ++i) {
      Place place = getPlaceB(rows, k, bitsA(), lane, i);
      codes.push_back(
          contain(typeB, isPacked, b[place.row * 8 + place.column]));
    }
    pack(words, wordBits, bitsA(), codes);
    codes.clear();
    for (unsigned i = 0; i != rows * 8 / 32; ++i) {
      Place place = getPlaceC(lane, i);
      codes.push_back(c[place.row * 8 + place.column]);
    }
    pack(words, wordBits, bitsC(), codes);
    return words;
  }

  unsigned numA() const { return rows * k * bitsA() / 32 / wordBits(); }
  unsigned numB() const { return k * 8 * bitsA() / 32 / wordBits(); }
  unsigned numC() const { return rows * 8 * bitsC() / 32 / wordBits(); }
  unsigned wordBits() const { return typeA == "f64" ? 64 : 32; }

  /// "{%a0, %a1}"
  static std::string list(char name, unsigned count) {
    std::string text = "{";
    for (unsigned i = 0; i != count; ++i)
      text += (i ? ", %" : "%") + std::string(1, name) + std::to_string(i);
    return text + "}";
  }

  /// The PTX that runs it on what is at %in, and stores at %out. `edit` stands
  /// between the loads and the mma.
  std::string getBody(const std::string &edit = "") const {
    std::string type = ".b" + std::to_string(wordBits()), body;
    unsigned bytes = wordBits() / 8, offset = 0;
    for (char name : {'a', 'b', 'c', 'd'})
      body += ".reg " + type + " %" + name + "<8>;\n";
    body += ".reg .b32 %sa, %sb; .reg .b16 %s<4>;\n";
    auto load = [&](char name, unsigned count) {
      for (unsigned i = 0; i != count; ++i, offset += bytes)
        body += "ld.global" + type + " %" + name + std::to_string(i) +
                ", [%in+" + std::to_string(offset) + "];\n";
    };
    load('a', numA());
    load('b', numB());
    load('c', numC());
    if (blocks) {
      body += "ld.global.b32 %sa, [%in+" + std::to_string(offset) +
              "];\nld.global.b32 %sb, [%in+" + std::to_string(offset + 4) +
              "];\n";
      for (unsigned i = 0; i != 4; ++i)
        body += "ld.global.b16 %s" + std::to_string(i) + ", [%in+" +
                std::to_string(offset + 8 + 2 * i) + "];\n";
    }
    body += edit;
    body += "mma.sync.aligned." + opcode + " " + list('d', numC()) + ", " +
            list('a', numA()) + ", " + list('b', numB()) + ", " +
            list('c', numC());
    if (blocks && selectorsInRegisters)
      body += ", %sa, {%s0, %s1}, %sb, {%s2, %s3}";
    else if (blocks)
      body += ", %sa, {" + std::to_string(byteA) + ", " +
              std::to_string(threadA) + "}, %sb, {" + std::to_string(byteB) +
              ", " + std::to_string(threadB) + "}";
    body += ";\n";
    for (unsigned i = 0; i != numC(); ++i)
      body += "st.global" + type + " [%out+" + std::to_string(i * bytes) +
              "], %d" + std::to_string(i) + ";\n";
    return body;
  }

  /// What stands at %in, `inBytes` per lane.
  std::vector<uint8_t> getInput(unsigned &inBytes) const {
    unsigned bytes = wordBits() / 8;
    std::vector<uint8_t> in;
    for (unsigned lane = 0; lane != 32; ++lane) {
      for (uint64_t word : getWords(lane))
        for (unsigned i = 0; i != bytes; ++i)
          in.push_back(static_cast<uint8_t>(word >> 8 * i));
      for (uint32_t word : {scaleA[lane], scaleB[lane], byteA | threadA << 16,
                            byteB | threadB << 16})
        for (unsigned i = 0; i != 4; ++i)
          in.push_back(static_cast<uint8_t>(word >> 8 * i));
      if (lane == 0)
        inBytes = static_cast<unsigned>((in.size() + 7) / 8 * 8);
      in.resize(inBytes * (lane + 1));
    }
    return in;
  }

  /// D as codes, [rows][8], from what was stored at %out.
  std::vector<uint64_t> gather(const std::vector<uint8_t> &out,
                               unsigned outBytes) const {
    std::vector<uint64_t> d(rows * 8);
    for (unsigned lane = 0; lane != 32; ++lane)
      for (unsigned i = 0; i != rows * 8 / 32; ++i) {
        Place place = getPlaceC(lane, i);
        uint64_t code = 0;
        std::memcpy(&code, &out[lane * outBytes + i * bitsC() / 8],
                    bitsC() / 8);
        d[place.row * 8 + place.column] = code;
      }
    return d;
  }

  /// Runs it and returns D. After an error, zeros.
  std::vector<uint64_t> run(const std::string &edit = "") {
    unsigned inBytes = 0, outBytes = numC() * wordBits() / 8;
    std::vector<uint8_t> in = getInput(inBytes);
    std::vector<uint8_t> out = runLanes(getBody(edit), in, inBytes, outBytes,
                                        error, target, version, options);
    if (!error.empty())
      return std::vector<uint64_t>(rows * 8);
    return gather(out, outBytes);
  }

  /// The scale of row `m` of A for `column` of K, or of column `n` of B.
  double getScaleA(unsigned m, unsigned column) const {
    if (!blocks)
      return 1;
    // Lane 4 * (m % 8), the lower or upper two of the quad; odd for m >= 8.
    unsigned lane = 4 * (m % 8) + 2 * threadA + (m >= 8 ? 1 : 0);
    unsigned byte = byteA + column / (k / blocks);
    return decodeElement(scaleType, scaleA[lane] >> 8 * byte & 0xFF);
  }
  double getScaleB(unsigned row, unsigned n) const {
    if (!blocks)
      return 1;
    unsigned byte = byteB + row / (k / blocks);
    return decodeElement(scaleType, scaleB[4 * n + threadB] >> 8 * byte & 0xFF);
  }

  /// The exact value of element (m, n) of D, where f64 can hold all sums.
  double getExact(unsigned m, unsigned n) const {
    double sum = decodeElement(typeC, c[m * 8 + n]);
    for (unsigned j = 0; j != k; ++j)
      sum += decodeElement(typeA, a[m * k + j]) *
             decodeElement(typeB, b[j * 8 + n]) * getScaleA(m, j) *
             getScaleB(j, n);
    return sum;
  }

  /// A code whose magnitude is between 2^-4 and 2^4, or zero.
  static uint64_t getSmallCode(llvm::StringRef type, uint64_t seed) {
    if (type == "f64" || type == "f32" || type == "tf32") {
      double value = (static_cast<int>(hash(seed) % 255) - 127) / 8.0;
      if (type == "f64") {
        uint64_t bits;
        std::memcpy(&bits, &value, 8);
        return bits;
      }
      uint32_t bits = encode(ElementFormat::F32, value);
      return type == "tf32" ? bits | (hash(seed + 1) & 0x1FFF) : bits;
    }
    if (type == "s32")
      return static_cast<uint32_t>(hash(seed) % 2001 - 1000);
    if (type == "f16")
      return encode(ElementFormat::F16,
                    (static_cast<int>(hash(seed) % 255) - 127) / 8.0);
    unsigned bits = type == "e2m1"                     ? 4
                    : type == "e2m3" || type == "e3m2" ? 6
                                                       : getElementBits(type);
    bool isInteger = type == "s8" || type == "u8" || type == "s4" ||
                     type == "u4" || type == "b1";
    for (uint64_t i = 0;; ++i) {
      uint64_t code = hash(seed * 1000 + i) & ((uint64_t(1) << bits) - 1);
      double magnitude = std::fabs(decodeElement(type, code));
      if (isInteger || magnitude == 0 ||
          (magnitude >= 0x1p-4 && magnitude <= 16))
        return code;
    }
  }

  /// Fills the matrices with such codes, and the scales with powers of two (and
  /// for ue4m3 other small numbers), different in every lane and byte.
  void fill(uint64_t seed) {
    a.resize(rows * k);
    b.resize(k * 8);
    c.resize(rows * 8);
    for (size_t i = 0; i != a.size(); ++i)
      a[i] = getSmallCode(typeA, seed * 7919 + i);
    for (size_t i = 0; i != b.size(); ++i)
      b[i] = getSmallCode(typeB, seed * 7919 + 5000 + i);
    for (size_t i = 0; i != c.size(); ++i)
      c[i] = getSmallCode(typeC, seed * 7919 + 9000 + i);
    if (!blocks)
      return;
    for (unsigned lane = 0; lane != 32; ++lane)
      for (unsigned byte = 0; byte != 4; ++byte) {
        auto scale = [&](uint64_t which) -> uint32_t {
          uint64_t x = hash(seed * 31 + lane * 8 + byte * 2 + which);
          return scaleType == "ue8m0" ? 120 + x % 15 : 0x20 + x % 0x30;
        };
        scaleA[lane] |= scale(0) << 8 * byte;
        scaleB[lane] |= scale(1) << 8 * byte;
      }
  }
};

} // namespace tile::emulator

#endif // TILE_UNITTESTS_EMULATOR_TENSORCOREHARNESS_H
