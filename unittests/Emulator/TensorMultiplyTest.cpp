//===- TensorMultiplyTest.cpp - tcgen05.mma -------------------------------===//
//
// Every kind, type and layout against sums of values that are decoded, placed
// and added here in other ways than in the emulator.
//
//===----------------------------------------------------------------------===//

#include "TensorMemoryHarness.h"

#include <cmath>

using namespace tile::emulator;

namespace {

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

struct Format {
  const char *name;
  unsigned code; ///< In an instruction descriptor.
  unsigned exponentBits, mantissaBits;
  bool hasInfinity;
  unsigned getBits() const { return 1 + exponentBits + mantissaBits; }
};
const Format kF16 = {"f16", 0, 5, 10, true}, kBF16 = {"bf16", 1, 8, 7, true},
             kE4M3 = {"e4m3", 0, 4, 3, false}, kE5M2 = {"e5m2", 1, 5, 2, true},
             kE2M3 = {"e2m3", 3, 2, 3, false}, kE3M2 = {"e3m2", 4, 3, 2, false},
             kE2M1 = {"e2m1", 5, 2, 1, false};

/// Finite codes only.
double getValue(const Format &format, uint32_t code) {
  int bias = (1 << (format.exponentBits - 1)) - 1;
  uint32_t mantissa = code & ((1u << format.mantissaBits) - 1);
  int field = code >> format.mantissaBits & ((1u << format.exponentBits) - 1);
  double significand =
      mantissa +
      (field ? std::ldexp(1, static_cast<int>(format.mantissaBits)) : 0.0);
  double value =
      std::ldexp(significand, (field ? field : 1) - bias -
                                  static_cast<int>(format.mantissaBits));
  return code >> (format.getBits() - 1) ? -value : value;
}

/// A finite code of no pattern. Wide formats stay near 1.
uint32_t makeCode(const Format &format, uint32_t hash) {
  uint32_t code = hash & ((1u << format.getBits()) - 1);
  uint32_t top = (1u << format.exponentBits) - 1;
  if (format.exponentBits >= 5 || format.getBits() == 8) {
    // Fields about the bias, so that sums are exact in f64.
    uint32_t bias = top >> 1, span = format.getBits() == 8 ? 6 : 4;
    uint32_t field = bias - span / 2 + (hash >> 16) % span;
    code &= ~(top << format.mantissaBits);
    code |= field << format.mantissaBits;
  }
  return code;
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

struct Layout {
  unsigned swizzle; ///< Of the descriptor.
  bool isMNMajor = false;
  unsigned leading = 0, stride = 0; ///< Bytes.
  unsigned advance = 0;             ///< Bytes into the rows of a pattern.

  unsigned getSpan() const {
    return swizzle == 0 ? 16 : swizzle == 6 ? 32 : swizzle == 4 ? 64 : 128;
  }
  /// Where the unit `unit` of 16 bytes of line `line` of 8 really is.
  unsigned permute(unsigned line, unsigned unit) const {
    switch (swizzle) {
    case 6:
      return unit ^ line / 4;
    case 4:
      return unit ^ line / 2;
    case 2:
      return unit ^ line;
    case 1: // Pairs of units.
      return (unit / 2 ^ line % 4) * 2 + unit % 2;
    default:
      return unit;
    }
  }
  /// The byte of unit `unit` of `row`, major in K.
  unsigned placeK(unsigned row, unsigned unit) const {
    if (swizzle == 0)
      return row / 8 * stride + unit * leading + row % 8 * 16;
    return row / 8 * stride + row % 8 * getSpan() +
           permute(row % 8, unit + advance / 16) * 16;
  }
  /// The byte of unit `unit` along M or N of column `k`.
  unsigned placeMN(unsigned k, unsigned unit) const {
    unsigned units = getSpan() / 16;
    if (swizzle == 0)
      return unit * stride + k / 8 * leading + k % 8 * 16;
    return unit / units * leading + k / 8 * stride + k % 8 * getSpan() +
           permute(k % 8, unit % units) * 16;
  }
  /// The descriptor but for the address of the filled shared memory.
  uint64_t describe(unsigned offset) const {
    return uint64_t(swizzle) << 61 | uint64_t(1) << 46 |
           uint64_t(stride / 16) << 32 | uint64_t(leading / 16) << 16 |
           (offset + advance) / 16;
  }
};

/// A multiplicand: codes by row and k.
struct Matrix {
  const Format *format;
  unsigned rows, k;
  std::vector<uint32_t> codes;

  Matrix(const Format &format, unsigned rows, unsigned k, uint64_t seed)
      : format(&format), rows(rows), k(k) {
    for (unsigned i = 0; i != rows * k; ++i)
      codes.push_back(makeCode(format, mix(i, seed, 7)));
  }
  double get(unsigned row, unsigned i) const {
    return getValue(*format, codes[row * k + i]);
  }
  /// Writes the codes into `image` from `offset` on. `isPacked`: kinds of FP4
  /// alone.
  void place(std::vector<uint8_t> &image, unsigned offset, const Layout &layout,
             bool isPacked) const {
    unsigned bits = format->getBits();
    unsigned perUnit = bits == 16 ? 8 : isPacked ? 32 : 16;
    for (unsigned row = 0; row != rows; ++row)
      for (unsigned i = 0; i != k; ++i) {
        unsigned along = layout.isMNMajor ? row : i;
        unsigned unit = along / perUnit, bit = along % perUnit * bits;
        unsigned byte = offset + (layout.isMNMajor ? layout.placeMN(i, unit)
                                                   : layout.placeK(row, unit));
        for (unsigned j = 0; j != bits; ++j)
          if (codes[row * k + i] >> j & 1)
            image[byte + (bit + j) / 8] |= 1 << (bit + j) % 8;
      }
  }
};

//===----------------------------------------------------------------------===//
// Multiplies
//===----------------------------------------------------------------------===//

struct Case {
  std::string kind, suffix;
  const Format *a, *b;
  unsigned m, n;
  Layout layoutA, layoutB;
  bool isHalf = false; ///< D.
  bool negateA = false, negateB = false;
  unsigned block = 0; ///< Of the scales.
  bool isUE4M3 = false;
  unsigned idA = 0, idB = 0;
  bool isAInTensor = false;
  bool enable = true;
  unsigned inputScale = 0;
  unsigned halfLane = 0;
  std::vector<uint32_t> disabled;

  bool isFP4() const { return kind == "mxf4" || kind == "mxf4nvf4"; }
  unsigned getK() const { return kind == "f16" ? 16 : isFP4() ? 64 : 32; }
  uint32_t describe() const {
    uint32_t bits =
        (n / 8) << 17 | uint32_t(negateA) << 13 | uint32_t(negateB) << 14 |
        uint32_t(layoutA.isMNMajor) << 15 | uint32_t(layoutB.isMNMajor) << 16;
    bits |= isFP4() ? 1u << 7 | 1u << 10 : a->code << 7 | b->code << 10;
    if (block)
      return bits | idB << 4 | uint32_t(!isUE4M3) << 23 | (m / 128) << 27 |
             idA << 29;
    return bits | (isHalf ? 0u : 1u << 4) | (m / 16) << 24;
  }
};

constexpr unsigned kColumnA = 256, kColumnScaleA = 300, kColumnScaleB = 320;
constexpr unsigned kOffsetB = 32768;

unsigned getLane(const Case &test, unsigned m) {
  return test.m == 128 ? m : m % 16 + m / 16 * 32 + test.halfLane;
}

uint32_t getBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
float getFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

/// To f16: finite values that are no subnormals.
uint32_t roundHalf(double value) {
  if (value == 0)
    return std::signbit(value) ? 0x8000 : 0;
  int exponent;
  std::frexp(value, &exponent);
  double unit = std::ldexp(1, std::max(exponent - 11, -24));
  double rounded = std::nearbyint(std::fabs(value) / unit) * unit;
  for (uint32_t code = 0; code != 0x7C00; ++code)
    if (getValue(kF16, code) == rounded)
      return code | (value < 0 ? 0x8000 : 0);
  return (value < 0 ? 0x8000 : 0) | 0x7C00;
}

/// What a scale's byte means.
double getScale(bool isUE4M3, uint8_t byte) {
  if (!isUE4M3)
    return std::ldexp(1, byte - 127);
  return getValue(kE4M3, byte & 0x7F);
}

/// The published model, for numbers: terms aligned to the largest exponent, cut
/// to `bits` fraction bits, added, cut to f32 (f16: rounded).
double addAsHardware(const std::vector<std::pair<double, int>> &terms,
                     double input, unsigned bits) {
  // The exponent of a zero is -126.
  auto exponentOf = [](double value) {
    return value == 0 ? -126 : std::max(std::ilogb(value), -126);
  };
  int largest = exponentOf(input);
  for (auto [value, exponent] : terms)
    if (value != 0)
      largest = std::max(largest, exponent);
  double unit = std::ldexp(1, largest - static_cast<int>(bits));
  double sum = std::trunc(input / unit);
  for (auto [value, exponent] : terms)
    sum += std::trunc(value / unit);
  return sum * unit;
}

double cutToFloat(double value) {
  if (value == 0)
    return 0;
  double unit = std::ldexp(1, std::max(std::ilogb(value), -126) - 23);
  return std::trunc(value / unit) * unit;
}

/// Runs `test` in both modes and compares every word of tensor memory.
void check(Case test, uint64_t seed = 1) {
  SCOPED_TRACE(test.kind + test.suffix + " " + test.a->name + " x " +
               test.b->name + " m" + std::to_string(test.m) + " n" +
               std::to_string(test.n) + " swizzles " +
               std::to_string(test.layoutA.swizzle) + " " +
               std::to_string(test.layoutB.swizzle) +
               (test.layoutA.isMNMajor ? " M-major" : "") +
               (test.layoutB.isMNMajor ? " N-major" : ""));
  unsigned k = test.getK();
  Matrix a(*test.a, test.m, k, seed), b(*test.b, test.n, k, seed + 100);
  // Garbage where nothing is to be read.
  std::vector<uint8_t> image = makeBytes(kTestShared, seed + 5);
  std::vector<uint8_t> clean(kTestShared), used(kTestShared);
  auto place = [&](const Matrix &matrix, unsigned offset,
                   const Layout &layout) {
    Matrix ones = matrix;
    for (uint32_t &code : ones.codes)
      code = ~0u;
    ones.place(used, offset, layout, test.isFP4());
    matrix.place(clean, offset, layout, test.isFP4());
  };
  if (!test.isAInTensor)
    place(a, 0, test.layoutA);
  place(b, kOffsetB, test.layoutB);
  for (unsigned i = 0; i != kTestShared; ++i)
    image[i] = (image[i] & ~used[i]) | clean[i];

  TensorImage tensor;
  tensor.fill(seed + 9);
  auto getInput = [&](unsigned m, unsigned n) {
    return static_cast<double>(static_cast<int>(mix(m, n, seed) % 2001) -
                               1000) /
           8;
  };
  for (unsigned m = 0; m != test.m; ++m)
    for (unsigned n = 0; n != test.n; ++n) {
      uint32_t &word = tensor.at(getLane(test, m), n);
      // Another half of garbage.
      word = test.isHalf ? roundHalf(getInput(m, n)) | (word & 0xFFFF0000)
                         : getBits(static_cast<float>(getInput(m, n)));
    }
  if (test.isAInTensor)
    for (unsigned m = 0; m != test.m; ++m)
      for (unsigned i = 0; i != 8; ++i) {
        unsigned bits = test.a->getBits(), count = 32 / bits;
        uint32_t word = 0;
        for (unsigned j = 0; j != count; ++j)
          word |= a.codes[m * k + i * count + j] << j * bits;
        tensor.at(getLane(test, m), kColumnA + i) = word;
      }
  unsigned blocks = test.block ? k / test.block : 1;
  auto getScaleByte = [&](unsigned which, unsigned row, unsigned i) {
    uint32_t hash = mix(row, i, seed + which);
    return static_cast<uint8_t>(test.isUE4M3 ? 0x20 + hash % 0x38
                                             : 122 + hash % 11);
  };
  auto placeScales = [&](unsigned which, unsigned rows, unsigned column,
                         unsigned id) {
    for (unsigned row = 0; row != rows; ++row)
      for (unsigned i = 0; i != blocks; ++i)
        for (unsigned copy = 0; copy != 4; ++copy) {
          uint32_t &word = tensor.at(32 * copy + row % 32, column + row / 32);
          unsigned shift = 8 * (id + i);
          word = (word & ~(0xFFu << shift)) |
                 uint32_t(getScaleByte(which, row, i)) << shift;
        }
  };
  if (test.block) {
    placeScales(11, test.m, kColumnScaleA, test.idA);
    placeScales(12, test.n, kColumnScaleB, test.idB);
  }

  std::string mma =
      "@%one add.s64 %da, %sd, " + hex(test.layoutA.describe(0)) +
      ";\n@%one add.s64 %db, %sd, " + hex(test.layoutB.describe(kOffsetB)) +
      ";\nadd.u32 %u40, %tm, " + hex(test.halfLane << 16) +
      ";\nadd.u32 %u41, %u40, " + std::to_string(kColumnA) +
      ";\nadd.u32 %u42, %tm, " + std::to_string(kColumnScaleA) +
      ";\nadd.u32 %u43, %tm, " + std::to_string(kColumnScaleB) +
      ";\n@%one tcgen05.mma.cta_group::1.kind::" + test.kind + test.suffix +
      " [%u40], " + (test.isAInTensor ? "[%u41]" : "%da") + ", %db, " +
      hex(test.describe());
  if (test.block)
    mma += ", [%u42], [%u43]";
  if (!test.disabled.empty()) {
    mma += ", {";
    for (unsigned i = 0; i != 4; ++i)
      mma += (i ? ", " : "") + hex(test.disabled[i]);
    mma += "}";
  }
  mma += test.enable ? ", 1" : ", 0";
  if (test.inputScale)
    mma += ", " + std::to_string(test.inputScale);
  mma += ";\n";

  for (Accumulate mode : {Accumulate::Exact, Accumulate::Hardware}) {
    const bool isHardware = mode == Accumulate::Hardware;
    SCOPED_TRACE(isHardware ? "hardware" : "exact");
    TensorImage expected = tensor, actual = tensor;
    for (unsigned m = 0; m != test.m; ++m) {
      unsigned lane = getLane(test, m);
      if (!test.disabled.empty() && test.disabled[lane / 32] >> lane % 32 & 1)
        continue;
      for (unsigned n = 0; n != test.n; ++n) {
        double input =
            test.enable ? std::ldexp(getInput(m, n), -int(test.inputScale)) : 0;
        double sum = 0;
        std::vector<std::pair<double, int>> terms;
        unsigned group = isHardware && test.isFP4() ? 16 : 1;
        for (unsigned i = 0; i != k; i += group) {
          double term = 0, scale = 1;
          int exponent = 0;
          for (unsigned j = i; j != i + group; ++j) {
            double x = a.get(m, j), y = b.get(n, j);
            term += (test.negateA ? -x : x) * (test.negateB ? -y : y);
            if (x != 0 && y != 0)
              exponent = std::ilogb(x) + std::ilogb(y);
            if (x != 0 && y != 0 && group == 1) {
              // Subnormals have the exponent of the least normal number.
              auto least = [](const Format &format) {
                return 2 - (1 << (format.exponentBits - 1));
              };
              exponent = std::max(std::ilogb(x), least(*test.a)) +
                         std::max(std::ilogb(y), least(*test.b));
            }
          }
          if (test.block) {
            double scaleA =
                getScale(test.isUE4M3, getScaleByte(11, m, i / test.block));
            double scaleB =
                getScale(test.isUE4M3, getScaleByte(12, n, i / test.block));
            scale = scaleA * scaleB;
            // Groups have the exponent of their scales.
            int scales = std::ilogb(scaleA) + std::ilogb(scaleB);
            exponent = group == 1 ? exponent + scales : scales;
          }
          sum += term * scale;
          terms.push_back({term * scale, exponent});
        }
        double result = input + sum;
        if (isHardware)
          result = addAsHardware(terms, input, test.isFP4() ? 35 : 25);
        uint32_t bits = test.isHalf ? roundHalf(result)
                        : isHardware
                            ? getBits(static_cast<float>(cutToFloat(result)))
                            : getBits(static_cast<float>(result));
        expected.at(lane, n) = bits;
      }
    }
    LaunchOptions options = getTensorOptions();
    options.accumulate = mode;
    // The other half of a word of f16 is nothing, so that nobody may store it.
    uint32_t mask = test.isHalf ? 0xFFFF : ~0u;
    EXPECT_FINE(runTensor(mma, image, actual, options, mask));
    unsigned wrong = 0;
    for (unsigned lane = 0; lane != kTestLanes; ++lane)
      for (unsigned column = 0; column != kTestColumns; ++column) {
        uint32_t x = actual.at(lane, column),
                 y = expected.at(lane, column) & mask;
        // No sum here tells zeros apart.
        if (x == y || ((x | y) << 1 == 0 && column < test.n))
          continue;
        if (wrong++ < 4)
          ADD_FAILURE() << "lane " << lane << ", column " << column << ": "
                        << hex(x) << " (" << getFloat(x) << "), expected "
                        << hex(y) << " (" << getFloat(y) << ")";
      }
    EXPECT_EQ(wrong, 0u);
  }
}

/// K-major layouts of every swizzle. Patterns begin where their bits of the
/// address are 0.
const Layout kPlain = {0, false, 144, 304, 0};
const Layout kLayouts[] = {
    kPlain,
    {6, false, 16, 512, 0},
    {4, false, 16, 512, 32},
    {2, false, 16, 1024, 64},
    {1, false, 16, 1024, 32},
};

Case makeCase(const char *kind, const char *suffix, const Format &a,
              const Format &b, unsigned m = 128, unsigned n = 16) {
  Case test;
  test.kind = kind;
  test.suffix = suffix;
  test.a = &a;
  test.b = &b;
  test.m = m;
  test.n = n;
  // Groups of rows of A do not reach into each other.
  test.layoutA = {0, false, 2176, 128, 0};
  test.layoutB = {2, false, 16, 1024, 0};
  return test;
}

Case makeNVFP4(unsigned n = 16) {
  Case test =
      makeCase("mxf4nvf4", ".block_scale.block16", kE2M1, kE2M1, 128, n);
  test.block = 16;
  test.isUE4M3 = true;
  return test;
}

TEST(TensorMultiplyTest, EveryScaledKind) {
  check(makeNVFP4());
  for (const char *suffix : {".block_scale.scale_vec::4X",
                             ".block_scale.block16.collector::a::fill"})
    for (bool isUE4M3 : {true, false}) {
      Case test = makeNVFP4();
      test.suffix = suffix;
      test.isUE4M3 = isUE4M3;
      check(test, 2);
    }
  for (auto [kind, suffix] :
       {std::pair("mxf4nvf4", ".block_scale.block32"),
        std::pair("mxf4nvf4", ".block_scale.scale_vec::2X"),
        std::pair("mxf4", ".block_scale"),
        std::pair("mxf4", ".block_scale.block32"),
        std::pair("mxf4", ".block_scale.scale_vec::2X")})
    for (unsigned id : {0u, 2u}) {
      Case test = makeCase(kind, suffix, kE2M1, kE2M1);
      test.block = 32;
      test.idA = id;
      test.idB = 2 - id;
      check(test, 3 + id);
    }
  for (const char *suffix :
       {".block_scale", ".block_scale.block32", ".block_scale.scale_vec::1X"})
    for (unsigned id = 0; id != 4; ++id) {
      Case test = makeCase("mxf8f6f4", suffix, kE4M3, kE5M2);
      test.block = 32;
      test.idA = id;
      test.idB = 3 - id;
      check(test, 6 + id);
    }
}

TEST(TensorMultiplyTest, EveryPairOfNarrowTypes) {
  const Format *formats[] = {&kE4M3, &kE5M2, &kE2M3, &kE3M2, &kE2M1};
  uint64_t seed = 20;
  for (const Format *a : formats)
    for (const Format *b : formats) {
      Case test = makeCase("mxf8f6f4", ".block_scale.block32", *a, *b, 128, 8);
      test.block = 32;
      check(test, ++seed);
      check(makeCase("f8f6f4", "", *a, *b, 128, 8), ++seed);
    }
}

TEST(TensorMultiplyTest, HalfKinds) {
  for (const Format *format : {&kF16, &kBF16})
    for (unsigned m : {64u, 128u})
      for (unsigned n : {8u, 48u, 256u})
        check(makeCase("f16", "", *format, *format, m, n), m + n);
  Case test = makeCase("f16", "", kF16, kF16, 64, 24);
  test.halfLane = 16;
  check(test, 31);
  test.isHalf = true;
  check(test, 32);
  test = makeCase("f8f6f4", "", kE4M3, kE2M1, 64, 24);
  test.isHalf = true;
  check(test, 33);
}

TEST(TensorMultiplyTest, AnyN) {
  for (unsigned n : {8, 24, 32, 56, 64, 104, 128, 136, 192, 216, 248, 256}) {
    Case test = makeNVFP4(n);
    test.layoutB = {6, false, 16, 256, 0};
    check(test, n);
  }
}

TEST(TensorMultiplyTest, KMajorLayouts) {
  uint64_t seed = 40;
  for (const Layout &layout : kLayouts) {
    Case test = makeNVFP4(40);
    test.layoutA = layout;
    if (layout.swizzle == 0)
      test.layoutA = {0, false, 128, 272, 0};
    check(test, ++seed);
    test.layoutA = {2, false, 0, 1024, 96};
    test.layoutB = layout;
    check(test, ++seed);
    Case other = makeCase("f16", "", kBF16, kBF16, 64, 40);
    other.layoutA = test.layoutA;
    other.layoutB = layout;
    check(other, ++seed);
    other = makeCase("f8f6f4", "", kE3M2, kE2M1, 128, 40);
    other.layoutB = layout;
    check(other, ++seed);
  }
}

TEST(TensorMultiplyTest, MNMajorLayouts) {
  uint64_t seed = 60;
  for (unsigned swizzle : {0u, 6u, 4u, 2u}) {
    auto makeLayout = [&](unsigned rowBytes, unsigned k) {
      Layout layout;
      layout.swizzle = swizzle;
      layout.isMNMajor = true;
      unsigned groups = k / 8;
      if (swizzle == 0) {
        // Chunks along M or N side by side, then groups of 8 of K.
        layout.stride = 128 + 16;
        layout.leading = rowBytes / 16 * layout.stride;
      } else {
        layout.stride = 8 * layout.getSpan();
        layout.leading = groups * layout.stride + 1024;
      }
      return layout;
    };
    for (bool isA : {true, false})
      for (bool isB : {true, false}) {
        if (!isA && !isB)
          continue;
        Case test = makeCase("f16", "", kF16, kF16, 128, 72);
        if (isA)
          test.layoutA = makeLayout(256, 16);
        if (isB)
          test.layoutB = makeLayout(144, 16);
        check(test, ++seed);
        test = makeCase("mxf8f6f4", ".block_scale", kE5M2, kE4M3, 128, 80);
        test.block = 32;
        if (isA)
          test.layoutA = makeLayout(128, 32);
        if (isB)
          test.layoutB = makeLayout(80, 32);
        check(test, ++seed);
      }
  }
}

TEST(TensorMultiplyTest, AInTensorMemory) {
  Case test = makeCase("f16", "", kF16, kF16, 128, 32);
  test.isAInTensor = true;
  check(test, 80);
  test = makeCase("f16", "", kBF16, kBF16, 64, 32);
  test.isAInTensor = true;
  check(test, 81);
  test.halfLane = 16;
  check(test, 82);
  test = makeCase("f8f6f4", "", kE4M3, kE2M1, 128, 32);
  test.isAInTensor = true;
  check(test, 83);
  test = makeNVFP4(32);
  test.isAInTensor = true;
  check(test, 84);
}

TEST(TensorMultiplyTest, Modifiers) {
  for (unsigned bits = 0; bits != 4; ++bits) {
    Case test = makeNVFP4();
    test.negateA = bits & 1;
    test.negateB = bits & 2;
    check(test, 90 + bits);
    test = makeCase("f16", "", kF16, kF16);
    test.negateA = bits & 1;
    test.negateB = bits & 2;
    test.enable = bits & 1;
    test.inputScale = 5 * bits;
    check(test, 95 + bits);
  }
  Case test = makeNVFP4();
  test.enable = false;
  check(test, 100);
  test = makeCase("f16", ".collector::a::lastuse", kBF16, kBF16);
  test.disabled = {0x0F00FF01, 0, 0xFFFFFFFF, 0x80000001};
  check(test, 101);
  test = makeCase("f8f6f4", "", kE4M3, kE4M3, 64);
  test.disabled = {0x0F00FF01, 0, 0xFFFFFFFF, 0x80000001};
  test.halfLane = 16;
  check(test, 102);
}

} // namespace
