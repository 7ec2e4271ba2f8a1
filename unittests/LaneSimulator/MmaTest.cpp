//===- MmaTest.cpp - mma.sync of the lane simulator against matrices ------===//
//
// Matrices of hashed codes are dealt to registers by the "expanded k index"
// formulas of the PTX ISA, and the results must be the matrix product.
//
//===----------------------------------------------------------------------===//

#include "Codes.h"
#include "Harness.h"

#include "llvm/ADT/bit.h"

#include <cmath>

using namespace tile;
using namespace tile::test;
using tile::lane::Code;
using tile::lane::decode;

namespace {

/// One multiply to test.
struct Form {
  std::string intrinsic; ///< Without "llvm.nvvm.mma.".
  Code a, b;
  unsigned k;
  unsigned valuesPerRegister;
  unsigned scalesPerRow = 0;
  Code scale = Code::UE8M0;
  unsigned byteA = 0, threadA = 0, byteB = 0, threadB = 0;
};

/// Words per lane of the input: 4 of A, 2 of B, 4 of C, 2 of scales.
constexpr unsigned wordsPerLane = 12;

std::string getMmaKernel(const Form &form) {
  bool isF16 = form.a == Code::F16;
  std::string operand = isF16 ? "<2 x half>" : "i32";
  std::string name = "@llvm.nvvm.mma." + form.intrinsic;
  std::string types, arguments, body;
  for (unsigned i = 0; i < wordsPerLane; ++i) {
    bool isScale = i >= 10;
    if (isScale && !form.scalesPerRow)
      break;
    std::string type = i < 6 ? operand : isScale ? "i32" : "float";
    std::string v = std::to_string(i);
    body += "  %p" + v + " = getelementptr i32, ptr addrspace(1) %pi, i32 " +
            v + "\n  %v" + v + " = load " + type + ", ptr addrspace(1) %p" + v +
            ", align 4\n";
    types += (i ? ", " : "") + type;
    arguments += (i ? ", " : "") + type + " %v" + v;
    if (isScale) {
      unsigned byte = i == 10 ? form.byteA : form.byteB;
      unsigned thread = i == 10 ? form.threadA : form.threadB;
      types += ", i16, i16";
      arguments +=
          ", i16 " + std::to_string(byte) + ", i16 " + std::to_string(thread);
    }
  }
  body += "  %d = call {float, float, float, float} " + name + "(" + arguments +
          ")\n";
  for (unsigned i = 0; i < 4; ++i) {
    std::string v = std::to_string(i);
    body += "  %d" + v + " = extractvalue {float, float, float, float} %d, " +
            v + "\n  %q" + v +
            " = getelementptr float, ptr addrspace(1) %po, i32 " + v +
            "\n  store float %d" + v + ", ptr addrspace(1) %q" + v + "\n";
  }
  return getKernel("[12 x i32]", "[4 x float]", body,
                   "declare {float, float, float, float} " + name + "(" +
                       types + ")\n");
}

/// A hashed code of small magnitude, so that every sum below is exact.
uint32_t getCode(Code code, uint64_t index, uint64_t salt) {
  uint32_t h = hash(index, salt);
  switch (code) {
  case Code::E2M1:
    return h & 0xF;
  case Code::E4M3: // exponents 5 to 8
    return (h & 0x80) | (5 + (h >> 8 & 3)) << 3 | (h & 7);
  case Code::E5M2: // exponents 13 to 16
    return (h & 0x80) | (13 + (h >> 8 & 3)) << 2 | (h & 3);
  case Code::F16:
    return (h & 0x8000) | (13 + (h >> 20 & 3)) << 10 | (h & 0x3) << 8;
  default: // bf16
    return (h & 0x8000) | (125 + (h >> 20 & 3)) << 7 | (h & 0x3) << 5;
  }
}

struct Matrices {
  std::vector<uint32_t> a, b, sa, sb;
  std::vector<float> c;

  explicit Matrices(const Form &form)
      : a(16 * form.k), b(8 * form.k), sa(16 * 4), sb(8 * 4), c(16 * 8) {
    for (unsigned i = 0; i < a.size(); ++i)
      a[i] = getCode(form.a, i, 1);
    for (unsigned i = 0; i < b.size(); ++i)
      b[i] = getCode(form.b, i, 2);
    // 1, 1.5, 2, 3 as UE4M3, 1/2 to 4 as UE8M0.
    static const uint32_t e4m3[] = {0x38, 0x3C, 0x40, 0x44};
    for (unsigned i = 0; i < sa.size(); ++i)
      sa[i] = form.scale == Code::UE4M3 ? e4m3[hash(i, 3) & 3]
                                        : 126 + (hash(i, 3) & 3);
    for (unsigned i = 0; i < sb.size(); ++i)
      sb[i] = form.scale == Code::UE4M3 ? e4m3[hash(i, 4) & 3]
                                        : 126 + (hash(i, 4) & 3);
    for (unsigned i = 0; i < c.size(); ++i)
      c[i] = float(int(hash(i, 5) & 0xFF)) - 128;
  }
};

std::vector<uint32_t> getRegisters(const Form &form, const Matrices &m) {
  std::vector<uint32_t> words(32 * wordsPerLane);
  unsigned e = form.valuesPerRegister;
  auto place = [&](Code code, uint32_t bits, unsigned i) -> uint32_t {
    if (code == Code::E2M1 && e == 4)
      bits <<= 2;
    return bits << (32 / e) * i;
  };
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned g = lane >> 2, t = lane & 3;
    uint32_t *word = &words[lane * wordsPerLane];
    for (unsigned r = 0; r < 4; ++r)
      for (unsigned i = 0; i < e; ++i) {
        unsigned row = g + 8 * (r & 1), k = e * t + i + 4 * e * (r >> 1);
        word[r] |= place(form.a, m.a[row * form.k + k], i);
      }
    for (unsigned r = 0; r < 2; ++r)
      for (unsigned i = 0; i < e; ++i)
        word[4 + r] |=
            place(form.b, m.b[g * form.k + e * t + i + 4 * e * r], i);
    for (unsigned i = 0; i < 4; ++i)
      word[6 + i] = llvm::bit_cast<uint32_t>(
          m.c[(g + 8 * (i >> 1)) * 8 + 2 * t + (i & 1)]);
    // Lanes and bytes that supply nothing hold NaN scales.
    word[10] = word[11] = 0xFFFFFFFF;
  }
  auto setByte = [](uint32_t &word, unsigned byte, uint32_t value) {
    word = (word & ~(0xFFu << 8 * byte)) | value << 8 * byte;
  };
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned j = 0; j < form.scalesPerRow; ++j)
      setByte(
          words[(4 * (row & 7) + 2 * form.threadA + (row >> 3)) * wordsPerLane +
                10],
          form.byteA + j, m.sa[4 * row + j]);
  for (unsigned column = 0; column < 8; ++column)
    for (unsigned j = 0; j < form.scalesPerRow; ++j)
      setByte(words[(4 * column + form.threadB) * wordsPerLane + 11],
              form.byteB + j, m.sb[4 * column + j]);
  return words;
}

void expectProduct(const Form &form) {
  SCOPED_TRACE(form.intrinsic);
  Matrices m(form);
  std::vector<uint32_t> in = getRegisters(form, m);
  std::vector<float> out(32 * 4);
  Outcome outcome = run(getMmaKernel(form), in, out);
  ASSERT_EQ(outcome.message, "");
  EXPECT_EQ(outcome.counts["llvm.nvvm.mma." + form.intrinsic], 1u);
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 8; ++column) {
      double sum = m.c[row * 8 + column];
      for (unsigned k = 0; k < form.k; ++k) {
        double term = decode(form.a, m.a[row * form.k + k]) *
                      decode(form.b, m.b[column * form.k + k]);
        if (form.scalesPerRow) {
          unsigned j = k / (form.k / form.scalesPerRow);
          term *= decode(form.scale, m.sa[4 * row + j]) *
                  decode(form.scale, m.sb[4 * column + j]);
        }
        sum += term;
      }
      unsigned lane = 4 * (row & 7) + (column >> 1);
      unsigned i = 2 * (row >> 3) + (column & 1);
      EXPECT_EQ(out[4 * lane + i], float(sum)) << row << ", " << column;
    }
}

std::string getName(Code code) {
  return code == Code::E2M1 ? "e2m1" : code == Code::E4M3 ? "e4m3" : "e5m2";
}

Form getMxf8f6f4(Code a, Code b) {
  return {"block.scale.m16n8k32.row.col.mxf8f6f4.scale.1x.f32." + getName(a) +
              "." + getName(b) + ".f32.ue8m0",
          a,
          b,
          32,
          4,
          1,
          Code::UE8M0};
}

Form getNvfp4() {
  return {"block.scale.m16n8k64.row.col.mxf4nvf4.scale.4x.f32.e2m1.e2m1.f32."
          "ue4m3",
          Code::E2M1,
          Code::E2M1,
          64,
          8,
          4,
          Code::UE4M3};
}

TEST(LaneSimulatorMma, MultipliesSixteenBitFloats) {
  expectProduct({"m16n8k16.row.col.bf16", Code::BF16, Code::BF16, 16, 2});
  expectProduct({"m16n8k16.row.col.f32.f32", Code::F16, Code::F16, 16, 2});
}

TEST(LaneSimulatorMma, MultipliesEveryPairOfEightBitFloats) {
  for (Code a : {Code::E4M3, Code::E5M2})
    for (Code b : {Code::E4M3, Code::E5M2}) {
      expectProduct(
          {"m16n8k32.row.col.f32." + getName(a) + "." + getName(b) + ".f32", a,
           b, 32, 4});
      expectProduct({"m16n8k32.row.col.kind.f8f6f4.f32." + getName(a) + "." +
                         getName(b) + ".f32",
                     a, b, 32, 4});
    }
}

TEST(LaneSimulatorMma, MultipliesEveryMixedPairWithEverySelector) {
  for (Code a : {Code::E2M1, Code::E4M3, Code::E5M2})
    for (Code b : {Code::E2M1, Code::E4M3, Code::E5M2}) {
      Form form = getMxf8f6f4(a, b);
      unsigned h = hash(unsigned(a) * 8 + unsigned(b));
      form.byteA = h & 3;
      form.byteB = h >> 2 & 3;
      form.threadA = h >> 4 & 1;
      form.threadB = h >> 5 & 3;
      expectProduct(form);
    }
  Form form = getMxf8f6f4(Code::E4M3, Code::E2M1);
  for (form.byteA = 0; form.byteA < 4; ++form.byteA)
    for (form.threadA = 0; form.threadA < 2; ++form.threadA)
      for (form.threadB = 0; form.threadB < 4; ++form.threadB) {
        form.byteB = 3 - form.byteA;
        expectProduct(form);
      }
}

TEST(LaneSimulatorMma, MultipliesPackedFp4WithBothKindsOfScales) {
  for (unsigned threadB = 0; threadB < 4; ++threadB) {
    Form form = getNvfp4();
    form.threadA = threadB & 1;
    form.threadB = threadB;
    expectProduct(form);
    for (std::string kind : {"mxf4.scale.2x", "mxf4nvf4.scale.2x", "mxf4"}) {
      form.intrinsic =
          "block.scale.m16n8k64.row.col." + kind + ".f32.e2m1.e2m1.f32.ue8m0";
      form.scale = Code::UE8M0;
      form.scalesPerRow = 2;
      form.byteA = threadB & 2;
      form.byteB = 2 - form.byteA;
      expectProduct(form);
    }
  }
}

TEST(LaneSimulatorMma, NaNScaleMakesItsRowNaN) {
  Form form = getNvfp4();
  Matrices m(form);
  m.sa[4 * 11 + 2] = 0x7F;
  // Over zero data too.
  for (unsigned k = 32; k < 48; ++k)
    m.a[11 * 64 + k] = 0;
  std::vector<uint32_t> in = getRegisters(form, m);
  std::vector<float> out(32 * 4);
  ASSERT_EQ(run(getMmaKernel(form), in, out).message, "");
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 8; ++column)
      EXPECT_EQ(std::isnan(out[4 * (4 * (row & 7) + (column >> 1)) +
                               2 * (row >> 3) + (column & 1)]),
                row == 11);
}

TEST(LaneSimulatorMma, ScaleOfZeroByteIsASubnormal) {
  Form form = getMxf8f6f4(Code::E4M3, Code::E4M3);
  Matrices m(form);
  for (unsigned i = 0; i < m.sa.size(); ++i)
    m.sa[i] = 0;
  for (unsigned i = 0; i < m.sb.size(); ++i)
    m.sb[i] = 254;
  std::fill(m.c.begin(), m.c.end(), 0.0f);
  std::vector<uint32_t> in = getRegisters(form, m);
  std::vector<float> out(32 * 4);
  ASSERT_EQ(run(getMmaKernel(form), in, out).message, "");
  double sum = 0;
  for (unsigned k = 0; k < 32; ++k)
    sum += decode(Code::E4M3, m.a[k]) * decode(Code::E4M3, m.b[k]);
  EXPECT_NE(sum, 0);
  EXPECT_EQ(out[0], float(sum));
}

TEST(LaneSimulatorMma, ReportsBitsAroundAContainer) {
  Form form = getMxf8f6f4(Code::E2M1, Code::E4M3);
  Matrices m(form);
  std::vector<uint32_t> in = getRegisters(form, m);
  in[5 * wordsPerLane + 1] |= 1u << 8;
  std::vector<float> out(32 * 4);
  // Lane 5, register 1, byte 1: row 9, k 5.
  EXPECT_TRUE(contains(run(getMmaKernel(form), in, out).message,
                       "of A row 9, k 5 is no e2m1 container"));
}

TEST(LaneSimulatorMma, ReportsSelectorsThatDoNotExist) {
  std::vector<float> out(32 * 4);
  auto getMessage = [&](const Form &form) {
    std::vector<uint32_t> in(32 * wordsPerLane);
    return run(getMmaKernel(form), in, out).message;
  };
  Form form = getNvfp4();
  form.byteA = 1;
  EXPECT_TRUE(contains(getMessage(form), "byte-id 1 of scale-a"));
  form.byteA = 0;
  form.threadA = 2;
  EXPECT_TRUE(contains(getMessage(form), "thread-id 2 of scale-a"));
  form.threadA = 0;
  form.threadB = 4;
  EXPECT_TRUE(contains(getMessage(form), "thread-id 4 of scale-b"));
}

} // namespace
