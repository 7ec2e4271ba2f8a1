//===- TensorCoreModelTest.cpp - mma.sync as hardware adds it -------------===//
//
// The published model of tensor cores (see TensorCoreArithmetic.h) once more,
// written down element by element in f64, against mma.sync with codes of every
// magnitude.
//
//===----------------------------------------------------------------------===//

#include "TensorCoreHarness.h"

#include <algorithm>

using namespace tile;
using namespace tile::emulator;

namespace {

/// A term: `significand` times 2^`exponent`.
struct Term {
  double significand;
  int exponent;
};

/// The significand between 1 and 2, or less for what is below 2^`least`.
Term split(double value, int least) {
  if (value == 0)
    return {0, -126};
  int exponent = std::max(std::ilogb(value), least);
  return {std::ldexp(value, -exponent), exponent};
}

int getLeastExponent(llvm::StringRef type) {
  if (type == "f16" || type == "e5m2")
    return -14;
  if (type == "e4m3")
    return -6;
  if (type == "e3m2")
    return -2;
  return type == "e2m1" || type == "e2m3" ? 0 : -126;
}

uint64_t cut(double value, int bits) {
  if (value == 0)
    return 0;
  double unit = std::ldexp(1, std::max(std::ilogb(value), -126) - bits);
  return encode(ElementFormat::F32, std::trunc(value / unit) * unit);
}

/// The fused sum of terms, the accumulator among them.
uint64_t addTerms(const std::vector<Term> &terms, int fractionBits,
                  int resultBits, llvm::StringRef typeC) {
  int largest = -126;
  for (const Term &term : terms)
    if (term.significand != 0)
      largest = std::max(largest, term.exponent);
  double sum = 0;
  for (const Term &term : terms)
    if (term.significand != 0)
      sum += std::trunc(
          std::ldexp(term.significand, term.exponent - largest + fractionBits));
  double value = std::ldexp(sum, largest - fractionBits);
  return typeC == "f16"
             ? encode(ElementFormat::F16, value, Rounding::NearestEven, false)
             : cut(value, resultBits);
}

struct Model {
  const char *shape;
  unsigned k;
  const char *typeA, *typeB, *typeC, *kind, *target;
  unsigned step;
  int fractionBits, resultBits;
  unsigned blocks = 0;
  const char *scale = "";
};

const Model models[] = {
    {"m16n8k8", 8, "f16", "f16", "f32", "", "sm_75", 8, 24, 23},
    {"m16n8k16", 16, "f16", "f16", "f32", "", "sm_80", 8, 24, 23},
    {"m16n8k16", 16, "f16", "f16", "f16", "", "sm_86", 8, 24, 23},
    {"m16n8k16", 16, "f16", "f16", "f32", "", "sm_90", 16, 25, 23},
    {"m16n8k16", 16, "f16", "f16", "f16", "", "sm_100", 16, 25, 23},
    {"m16n8k16", 16, "bf16", "bf16", "f32", "", "sm_89", 8, 24, 23},
    {"m16n8k16", 16, "bf16", "bf16", "f32", "", "sm_120", 16, 25, 23},
    {"m16n8k8", 8, "bf16", "bf16", "f32", "", "sm_90", 16, 25, 23},
    {"m16n8k8", 8, "tf32", "tf32", "f32", "", "sm_80", 4, 24, 23},
    {"m16n8k4", 4, "tf32", "tf32", "f32", "", "sm_80", 4, 24, 23},
    {"m16n8k8", 8, "tf32", "tf32", "f32", "", "sm_90", 8, 25, 23},
    {"m16n8k32", 32, "e4m3", "e5m2", "f32", "", "sm_89", 16, 13, 13},
    {"m16n8k32", 32, "e5m2", "e5m2", "f16", "", "sm_89", 16, 13, 13},
    {"m16n8k16", 16, "e4m3", "e4m3", "f32", "", "sm_89", 16, 13, 13},
    {"m16n8k32", 32, "e4m3", "e5m2", "f32", "", "sm_120", 32, 25, 23},
    {"m16n8k32", 32, "e5m2", "e2m1", "f32", "kind::f8f6f4.", "sm_120a", 32, 25,
     23},
    {"m16n8k32", 32, "e3m2", "e2m3", "f16", "kind::f8f6f4.", "sm_121a", 32, 25,
     23},
    {"m16n8k32", 32, "e5m2", "e4m3", "f32",
     "kind::mxf8f6f4.block_scale.scale_vec::1X.", "sm_120a", 32, 25, 23, 1,
     "ue8m0"},
    {"m16n8k32", 32, "e2m3", "e5m2", "f32",
     "kind::mxf8f6f4.block_scale.scale_vec::1X.", "sm_120a", 32, 25, 23, 1,
     "ue8m0"},
};

/// Codes of all magnitudes, but no infinities or NaN.
MmaTest makeTest(const Model &model, uint64_t seed) {
  MmaTest test;
  test.k = model.k;
  test.typeA = model.typeA;
  test.typeB = model.typeB;
  test.typeC = model.typeC;
  test.target = model.target;
  test.blocks = model.blocks;
  test.scaleType = model.scale;
  test.isPacked = model.k == 64;
  test.options.accumulate = Accumulate::Hardware;
  test.opcode = std::string(model.shape) + ".row.col." + model.kind +
                model.typeC + "." + model.typeA + "." + model.typeB + "." +
                model.typeC;
  if (model.blocks)
    test.opcode += std::string(".") + model.scale;
  test.fill(seed);
  auto fill = [&](std::vector<uint64_t> &codes, const std::string &type,
                  uint64_t offset) {
    unsigned bits = type == "e2m1"                     ? 4
                    : type == "e2m3" || type == "e3m2" ? 6
                                                       : getElementBits(type);
    for (size_t i = 0; i != codes.size(); ++i)
      for (uint64_t x = seed * 100000 + offset + i * 8;; ++x) {
        codes[i] = hash(x) & ((uint64_t(1) << bits) - 1);
        // Exponents of 8 bits within a range in which terms meet; zero now and
        // then.
        if (type == "bf16")
          codes[i] = (codes[i] & 0x80FF) | (0x3A + hash(x + 1) % 8) << 8;
        else if (bits == 32)
          codes[i] = (codes[i] & 0x807FFFFF) | (112 + hash(x + 1) % 24) << 23;
        if (hash(x + 2) % 16 == 0)
          codes[i] = 0;
        if (std::isfinite(decodeElement(type, codes[i])))
          break;
      }
  };
  fill(test.a, test.typeA, 0);
  fill(test.b, test.typeB, 20000);
  fill(test.c, test.typeC, 40000);
  if (model.blocks == 1)
    for (unsigned lane = 0; lane != 32; ++lane) {
      test.scaleA[lane] = 0x01010101 * (118 + hash(seed + lane) % 20);
      test.scaleB[lane] = 0x01010101 * (118 + hash(seed + lane + 50) % 20);
    }
  return test;
}

TEST(TensorCoreModelTest, FusedSums) {
  for (const Model &model : models)
    for (uint64_t seed = 1; seed != 6; ++seed) {
      MmaTest test = makeTest(model, seed);
      std::vector<uint64_t> d = test.run();
      ASSERT_EQ(test.error, "");
      int leastA = getLeastExponent(model.typeA);
      int leastB = getLeastExponent(model.typeB);
      int leastC = getLeastExponent(model.typeC);
      unsigned wrong = 0, different = 0;
      for (unsigned m = 0; m != 16; ++m)
        for (unsigned n = 0; n != 8; ++n) {
          uint64_t c = test.c[m * 8 + n];
          int scale = 0;
          if (model.blocks)
            scale = std::ilogb(test.getScaleA(m, 0)) +
                    std::ilogb(test.getScaleB(0, n));
          for (unsigned first = 0; first < model.k; first += model.step) {
            // Too large for f16 after the first step.
            if (!std::isfinite(decodeElement(model.typeC, c)))
              break;
            std::vector<Term> terms = {
                split(decodeElement(model.typeC, c), leastC)};
            for (unsigned k = first; k != std::min(model.k, first + model.step);
                 ++k) {
              Term a = split(
                  decodeElement(model.typeA, test.a[m * model.k + k]), leastA);
              Term b =
                  split(decodeElement(model.typeB, test.b[k * 8 + n]), leastB);
              terms.push_back({a.significand * b.significand,
                               a.exponent + b.exponent + scale});
            }
            c = addTerms(terms, model.fractionBits, model.resultBits,
                         model.typeC);
          }
          wrong += d[m * 8 + n] != c;
          different += decodeElement(model.typeC, c) != test.getExact(m, n);
        }
      EXPECT_EQ(wrong, 0u) << test.opcode << " " << model.target;
      // The codes do put the model to the test.
      EXPECT_GT(different, 16u) << test.opcode << " " << model.target;
    }
}

TEST(TensorCoreModelTest, FP8OnHopper) {
  for (const char *typeC : {"f32", "f16"})
    for (unsigned k : {16u, 32u})
      for (const char *target : {"sm_90", "sm_100a"}) {
        std::string shape = "m16n8k" + std::to_string(k);
        Model model = {shape.c_str(), k,  "e4m3", "e5m2", typeC, "",
                       target,        16, 25,     23};
        MmaTest test = makeTest(model, 7);
        std::vector<uint64_t> d = test.run();
        ASSERT_EQ(test.error, "");
        for (unsigned m = 0; m != 16; ++m)
          for (unsigned n = 0; n != 8; ++n) {
            uint64_t sum = 0;
            for (unsigned half = 0; half != 2; ++half) {
              if (!std::isfinite(decodeElement(typeC, sum)))
                break;
              std::vector<Term> terms = {
                  split(decodeElement(typeC, sum), getLeastExponent(typeC))};
              for (unsigned i = 0; i != k; ++i) {
                if (i % 4 / 2 != half)
                  continue;
                // Both formats are normal f16 where f16 has them normal.
                Term a = split(decodeElement("e4m3", test.a[m * k + i]), -14);
                Term b = split(decodeElement("e5m2", test.b[i * 8 + n]), -14);
                terms.push_back(
                    {a.significand * b.significand, a.exponent + b.exponent});
              }
              sum = addTerms(terms, 25, 23, typeC);
            }
            double total = decodeElement(typeC, sum) +
                           decodeElement(typeC, test.c[m * 8 + n]);
            EXPECT_EQ(d[m * 8 + n],
                      encode(typeC == std::string("f32") ? ElementFormat::F32
                                                         : ElementFormat::F16,
                             total, Rounding::NearestEven, false))
                << typeC << " " << target << " " << m << " " << n;
          }
      }
}

TEST(TensorCoreModelTest, GroupSums) {
  struct {
    const char *kind, *scale, *version;
    unsigned blocks;
  } kinds[] = {
      {"kind::mxf4.block_scale.scale_vec::2X.", "ue8m0", "8.8", 2},
      {"kind::mxf4nvf4.block_scale.scale_vec::4X.", "ue4m3", "8.8", 4},
      {"kind::mxf4nvf4.block_scale.scale_vec::4X.", "ue8m0", "9.1", 4},
  };
  for (const auto &kind : kinds)
    for (uint64_t seed = 1; seed != 6; ++seed) {
      Model model = {"m16n8k64", 64, "e2m1", "e2m1", "f32",       kind.kind,
                     "sm_120a",  64, 35,     23,     kind.blocks, kind.scale};
      MmaTest test = makeTest(model, seed);
      test.version = kind.version;
      bool isUE4M3 = test.scaleType == "ue4m3";
      auto scale = [&](uint64_t x) -> uint32_t {
        return isUE4M3 ? hash(x) % 0x7F : 110 + hash(x) % 30;
      };
      for (unsigned lane = 0; lane != 32; ++lane)
        for (unsigned byte = 0; byte != 4; ++byte) {
          uint64_t x = seed * 1000 + lane * 8 + byte * 2;
          uint32_t mask = 0xFFu << 8 * byte;
          test.scaleA[lane] = (test.scaleA[lane] & ~mask) | scale(x)
                                                                << 8 * byte;
          test.scaleB[lane] = (test.scaleB[lane] & ~mask) | scale(x + 1)
                                                                << 8 * byte;
        }
      std::vector<uint64_t> d = test.run();
      ASSERT_EQ(test.error, "");
      for (unsigned m = 0; m != 16; ++m)
        for (unsigned n = 0; n != 8; ++n) {
          std::vector<Term> terms = {
              split(decodeElement("f32", test.c[m * 8 + n]), -126)};
          for (unsigned group = 0; group != 4; ++group) {
            double sum = 0;
            for (unsigned k = group * 16; k != group * 16 + 16; ++k)
              sum += decodeElement("e2m1", test.a[m * 64 + k]) *
                     decodeElement("e2m1", test.b[k * 8 + n]);
            int least = isUE4M3 ? -6 : -127;
            Term a = split(test.getScaleA(m, group * 16), least);
            Term b = split(test.getScaleB(group * 16, n), least);
            terms.push_back(
                {sum * a.significand * b.significand, a.exponent + b.exponent});
          }
          EXPECT_EQ(d[m * 8 + n], addTerms(terms, 35, 23, "f32"))
              << test.opcode << " " << m << " " << n;
        }
    }
}

} // namespace
