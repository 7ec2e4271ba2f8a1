//===- LaneOperationsTest.cpp - Intrinsics and arithmetic of one lane -----===//

#include "Harness.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"

#include <cmath>

using namespace tile;
using namespace tile::test;
using llvm::APFloat;

namespace {

double getValue(const llvm::fltSemantics &semantics, uint64_t bits,
                unsigned width) {
  APFloat value(semantics, llvm::APInt(width, bits));
  bool lost;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return value.convertToDouble();
}

uint64_t getBits(const llvm::fltSemantics &semantics, float value) {
  APFloat result(value);
  bool lost;
  result.convert(semantics, APFloat::rmNearestTiesToEven, &lost);
  return result.bitcastToAPInt().getZExtValue();
}

/// f32 values that matter to conversions: all 16-bit prefixes, with the low
/// half below, at and above the tie.
std::vector<float> getFloats() {
  std::vector<float> values;
  for (uint32_t high = 0; high < 0x10000; high += 3)
    values.push_back(llvm::bit_cast<float>(
        high << 16 | (hash(high) & 3 ? 0x7FFF + (hash(high, 1) % 3)
                                     : hash(high, 2) & 0xFFFF)));
  values.resize(values.size() / 1024 * 1024);
  return values;
}

/// Runs `body` over `in` with a thread per element, 1024 at a time.
template <typename Out, typename In>
std::vector<Out> map(const std::string &text, const std::vector<In> &in) {
  std::vector<Out> result;
  auto simulator = LaneSimulator::parse(text, "test.ll");
  EXPECT_TRUE(bool(simulator));
  if (!simulator) {
    ADD_FAILURE() << llvm::toString(simulator.takeError());
    return std::vector<Out>(in.size());
  }
  for (size_t begin = 0; begin < in.size(); begin += 1024) {
    std::vector<In> part(in.begin() + begin,
                         in.begin() + std::min(begin + 1024, in.size()));
    std::vector<Out> out(part.size());
    llvm::Error error =
        (*simulator)
            ->launch("k", {1, 1, 1}, {unsigned(part.size()), 1, 1}, 0,
                     {LaneArgument::getBuffer(asBytes(part), "in", false),
                      LaneArgument::getBuffer(asBytes(out), "out", true)});
    EXPECT_EQ(llvm::toString(std::move(error)), "");
    result.insert(result.end(), out.begin(), out.end());
  }
  return result;
}

TEST(LaneSimulatorLane, ReadsSpecialRegisters) {
  std::string text = getHeader();
  const char *names[] = {"tid.x",   "tid.y",    "tid.z",    "ntid.x",
                         "ntid.y",  "ntid.z",   "ctaid.x",  "ctaid.y",
                         "ctaid.z", "nctaid.x", "nctaid.y", "nctaid.z",
                         "laneid",  "warpid"};
  std::string body;
  for (unsigned i = 0; i < 14; ++i) {
    std::string v = std::to_string(i);
    text += std::string("declare i32 @llvm.nvvm.read.ptx.sreg.") + names[i] +
            "()\n";
    body += "  %r" + v + " = call i32 @llvm.nvvm.read.ptx.sreg." + names[i] +
            "()\n  %p" + v +
            " = getelementptr i32, ptr addrspace(1) %base, i32 " + v +
            "\n  store i32 %r" + v + ", ptr addrspace(1) %p" + v + "\n";
  }
  text +=
      "define ptx_kernel void @k(ptr addrspace(1) %out) {\n"
      "  %x = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"
      "  %y = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()\n"
      "  %z = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()\n"
      "  %tx = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
      "  %ty = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()\n"
      "  %tz = call i32 @llvm.nvvm.read.ptx.sreg.tid.z()\n"
      "  %a = mul i32 %z, 3\n  %b = add i32 %a, %y\n"
      "  %c = mul i32 %b, 2\n  %d = add i32 %c, %x\n"
      "  %e = mul i32 %d, 2\n  %f = add i32 %e, %tz\n"
      "  %g = mul i32 %f, 3\n  %h = add i32 %g, %ty\n"
      "  %i = mul i32 %h, 16\n  %j = add i32 %i, %tx\n"
      "  %base = getelementptr [14 x i32], ptr addrspace(1) %out, i32 %j\n" +
      body + "  ret void\n}\n";
  auto simulator = LaneSimulator::parse(text, "test.ll");
  ASSERT_TRUE(bool(simulator)) << llvm::toString(simulator.takeError());
  std::vector<uint32_t> out(2 * 3 * 2 * 96 * 14);
  llvm::Error error =
      (*simulator)
          ->launch("k", {2, 3, 2}, {16, 3, 2}, 0,
                   {LaneArgument::getBuffer(asBytes(out), "out", true)});
  ASSERT_EQ(llvm::toString(std::move(error)), "");
  for (unsigned z = 0, i = 0; z < 2; ++z)
    for (unsigned y = 0; y < 3; ++y)
      for (unsigned x = 0; x < 2; ++x)
        for (unsigned thread = 0; thread < 96; ++thread, i += 14) {
          unsigned expected[] = {thread % 16, thread / 16 % 3,
                                 thread / 48, 16,
                                 3,           2,
                                 x,           y,
                                 z,           2,
                                 3,           2,
                                 thread % 32, thread / 32};
          for (unsigned r = 0; r < 14; ++r)
            EXPECT_EQ(out[i + r], expected[r]) << names[r];
        }
}

TEST(LaneSimulatorLane, TruncatesToBF16WithOneRounding) {
  std::vector<float> in = getFloats();
  auto out =
      map<uint16_t>(getKernel("float", "bfloat",
                              "  %v = load float, ptr addrspace(1) %pi\n"
                              "  %r = fptrunc float %v to bfloat\n"
                              "  store bfloat %r, ptr addrspace(1) %po\n"),
                    in);
  for (size_t i = 0; i < in.size(); ++i)
    EXPECT_EQ(out[i],
              std::isnan(in[i]) ? 0x7FFFu : getBits(APFloat::BFloat(), in[i]))
        << in[i];
}

TEST(LaneSimulatorLane, TruncatesPairsToF16WithOneRounding) {
  std::vector<float> in = getFloats();
  std::vector<std::array<float, 2>> pairs(in.size());
  for (size_t i = 0; i < in.size(); ++i)
    pairs[i] = {in[i], in[in.size() - 1 - i]};
  auto out = map<std::array<uint16_t, 2>>(
      getKernel("<2 x float>", "<2 x half>",
                "  %v = load <2 x float>, ptr addrspace(1) %pi, align 8\n"
                "  %r = fptrunc <2 x float> %v to <2 x half>\n"
                "  store <2 x half> %r, ptr addrspace(1) %po\n"),
      pairs);
  for (size_t i = 0; i < in.size(); ++i)
    for (unsigned j = 0; j < 2; ++j)
      EXPECT_EQ(out[i][j], std::isnan(pairs[i][j])
                               ? 0x7FFFu
                               : getBits(APFloat::IEEEhalf(), pairs[i][j]))
          << pairs[i][j];
}

TEST(LaneSimulatorLane, ExtendsEveryHalf) {
  std::vector<uint16_t> in(65536);
  for (unsigned i = 0; i < in.size(); ++i)
    in[i] = i;
  for (bool isBFloat : {false, true}) {
    std::string type = isBFloat ? "bfloat" : "half";
    auto out = map<float>(
        getKernel(type, "float",
                  "  %v = load " + type +
                      ", ptr addrspace(1) %pi\n  %r = fpext " + type +
                      " %v to float\n  store float %r, "
                      "ptr addrspace(1) %po\n"),
        in);
    for (unsigned i = 0; i < in.size(); ++i) {
      double expected = getValue(
          isBFloat ? APFloat::BFloat() : APFloat::IEEEhalf(), in[i], 16);
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(out[i]));
      else
        EXPECT_EQ(llvm::bit_cast<uint32_t>(out[i]),
                  llvm::bit_cast<uint32_t>(float(expected)));
    }
  }
}

/// Compares a vector operation on 16-bit floats with APFloat, over exponents
/// that reach subnormals, overflow and everything between.
void expectArithmetic(const std::string &operation, bool isBFloat,
                      unsigned width,
                      void (*apply)(APFloat &, const APFloat &,
                                    const APFloat &)) {
  SCOPED_TRACE(operation);
  std::string element = isBFloat ? "bfloat" : "half";
  std::string type = "<" + std::to_string(width) + " x " + element + ">";
  std::string bits = isBFloat ? "bf16" : "f16";
  std::string fma = "@llvm.fma.v" + std::to_string(width) + bits;
  std::string body;
  for (unsigned i = 0; i < 3; ++i) {
    std::string v = std::to_string(i);
    body += "  %p" + v + " = getelementptr " + type +
            ", ptr addrspace(1) %pi, i32 " + v + "\n  %v" + v + " = load " +
            type + ", ptr addrspace(1) %p" + v + ", align 2\n";
  }
  body += operation == "fma"
              ? "  %r = call " + type + " " + fma + "(" + type + " %v0, " +
                    type + " %v1, " + type + " %v2)\n"
              : "  %r = " + operation + " " + type + " %v0, %v1\n";
  body += "  store " + type + " %r, ptr addrspace(1) %po, align 2\n";
  std::string text = getKernel("[3 x " + type + "]", type, body,
                               "declare " + type + " " + fma + "(" + type +
                                   ", " + type + ", " + type + ")\n");
  constexpr unsigned count = 16384;
  std::vector<uint16_t> in(count * 3 * width), out(count * width);
  const llvm::fltSemantics &semantics =
      isBFloat ? APFloat::BFloat() : APFloat::IEEEhalf();
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = hash(i, 7);
  // Exponents near each other make sums cancel and fused products matter.
  for (size_t i = 0; i < in.size(); i += 5)
    in[i] = (in[i] & 0x807F) | (isBFloat ? 0x3F80 : 0x3C00);
  auto simulator = LaneSimulator::parse(text, "test.ll");
  ASSERT_TRUE(bool(simulator)) << llvm::toString(simulator.takeError());
  for (unsigned begin = 0; begin < count; begin += 1024) {
    std::vector<uint16_t> part(in.begin() + begin * 3 * width,
                               in.begin() + (begin + 1024) * 3 * width);
    std::vector<uint16_t> result(1024 * width);
    llvm::Error error =
        (*simulator)
            ->launch("k", {1, 1, 1}, {1024, 1, 1}, 0,
                     {LaneArgument::getBuffer(asBytes(part), "in", false),
                      LaneArgument::getBuffer(asBytes(result), "out", true)});
    ASSERT_EQ(llvm::toString(std::move(error)), "");
    std::copy(result.begin(), result.end(), out.begin() + begin * width);
  }
  for (unsigned i = 0; i < count; ++i)
    for (unsigned j = 0; j < width; ++j) {
      auto get = [&](unsigned operand) {
        return APFloat(semantics,
                       llvm::APInt(16, in[(3 * i + operand) * width + j]));
      };
      APFloat expected = get(0);
      apply(expected, get(1), get(2));
      uint16_t found = out[i * width + j];
      APFloat value(semantics, llvm::APInt(16, found));
      EXPECT_TRUE(expected.isNaN() ? value.isNaN()
                                   : expected.bitwiseIsEqual(value))
          << i << ", " << j << ": " << found;
    }
}

TEST(LaneSimulatorLane, ComputesInSixteenBitsWithOneRounding) {
  constexpr auto nearest = APFloat::rmNearestTiesToEven;
  for (bool isBFloat : {false, true})
    for (unsigned width : {2u, 8u}) {
      expectArithmetic("fadd", isBFloat, width,
                       [](APFloat &a, const APFloat &b, const APFloat &) {
                         a.add(b, nearest);
                       });
      expectArithmetic("fsub", isBFloat, width,
                       [](APFloat &a, const APFloat &b, const APFloat &) {
                         a.subtract(b, nearest);
                       });
      expectArithmetic("fmul", isBFloat, width,
                       [](APFloat &a, const APFloat &b, const APFloat &) {
                         a.multiply(b, nearest);
                       });
      expectArithmetic("fdiv", isBFloat, width,
                       [](APFloat &a, const APFloat &b, const APFloat &) {
                         a.divide(b, nearest);
                       });
      expectArithmetic("fma", isBFloat, width,
                       [](APFloat &a, const APFloat &b, const APFloat &c) {
                         a.fusedMultiplyAdd(b, c, nearest);
                       });
    }
}

TEST(LaneSimulatorLane, RunsGenericIntrinsicsOnPairs) {
  std::vector<uint32_t> in(1024);
  for (unsigned i = 0; i < in.size(); ++i)
    in[i] = hash(i, 9);
  for (std::string name : {"maximum", "minimum", "maxnum", "minnum"}) {
    SCOPED_TRACE(name);
    auto out = map<uint32_t>(
        getKernel("i32", "i32",
                  "  %v = load <2 x bfloat>, ptr addrspace(1) %pi, align 4\n"
                  "  %w = shufflevector <2 x bfloat> %v, <2 x bfloat> poison, "
                  "<2 x i32> <i32 1, i32 0>\n"
                  "  %r = call <2 x bfloat> @llvm." +
                      name +
                      ".v2bf16(<2 x bfloat> %v, <2 x bfloat> %w)\n"
                      "  store <2 x bfloat> %r, ptr addrspace(1) %po\n",
                  "declare <2 x bfloat> @llvm." + name +
                      ".v2bf16(<2 x bfloat>, <2 x bfloat>)\n"),
        in);
    for (unsigned i = 0; i < in.size(); ++i) {
      APFloat a(APFloat::BFloat(), llvm::APInt(16, in[i] & 0xFFFF));
      APFloat b(APFloat::BFloat(), llvm::APInt(16, in[i] >> 16));
      // Whether a signalling NaN counts as missing data is left open.
      if (a.isSignaling() || b.isSignaling())
        continue;
      APFloat expected = name == "maximum"   ? llvm::maximum(a, b)
                         : name == "minimum" ? llvm::minimum(a, b)
                         : name == "maxnum"  ? llvm::maxnum(a, b)
                                             : llvm::minnum(a, b);
      APFloat found(APFloat::BFloat(), llvm::APInt(16, out[i] & 0xFFFF));
      EXPECT_TRUE(expected.isNaN() ? found.isNaN()
                                   : expected.bitwiseIsEqual(found));
      EXPECT_EQ(out[i] >> 16, out[i] & 0xFFFF);
    }
  }
}

TEST(LaneSimulatorLane, RoundsFloats) {
  std::vector<float> in(1024);
  for (unsigned i = 0; i < in.size(); ++i)
    in[i] = i < 64 ? float(i) / 2 - 16
                   : (float(hash(i)) - 2147483648.0f) / float(1 << (i % 31));
  struct Case {
    const char *name;
    float (*apply)(float);
  };
  for (Case c : {Case{"floor", std::floor}, Case{"ceil", std::ceil},
                 Case{"trunc", std::trunc}, Case{"roundeven", std::nearbyint},
                 Case{"rint", std::nearbyint}, Case{"fabs", std::fabs}}) {
    SCOPED_TRACE(c.name);
    std::string name = std::string("@llvm.") + c.name + ".f32";
    auto out = map<float>(
        getKernel(
            "float", "float",
            "  %v = load float, ptr addrspace(1) %pi\n  %r = call float " +
                name + "(float %v)\n  store float %r, ptr addrspace(1) %po\n",
            "declare float " + name + "(float)\n"),
        in);
    for (unsigned i = 0; i < in.size(); ++i)
      EXPECT_EQ(llvm::bit_cast<uint32_t>(out[i]),
                llvm::bit_cast<uint32_t>(c.apply(in[i])));
  }
}

/// A kernel that applies `intrinsic` to a pair of f32 and stores an i16.
std::string getPairKernel(const std::string &intrinsic) {
  return getKernel(
      "[2 x float]", "i16",
      "  %a = load float, ptr addrspace(1) %pi\n"
      "  %p1 = getelementptr float, ptr addrspace(1) %pi, i32 1\n"
      "  %b = load float, ptr addrspace(1) %p1\n"
      "  %r = call i16 @llvm.nvvm." +
          intrinsic +
          "(float %a, float %b)\n  store i16 %r, ptr addrspace(1) %po\n",
      "declare i16 @llvm.nvvm." + intrinsic + "(float, float)\n");
}

TEST(LaneSimulatorLane, ConvertsPairsToFp8) {
  std::vector<float> values = getFloats();
  std::vector<std::array<float, 2>> in(values.size());
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = {values[i], values[(i * 7 + 5) % values.size()]};
  for (bool isE4M3 : {true, false}) {
    auto out = map<uint16_t>(
        getPairKernel(isE4M3 ? "ff.to.e4m3x2.rn" : "ff.to.e5m2x2.rn"), in);
    const llvm::fltSemantics &semantics =
        isE4M3 ? APFloat::Float8E4M3FN() : APFloat::Float8E5M2();
    auto expect = [&](float value) -> uint32_t {
      if (std::isnan(value))
        return 0x7F;
      float max = isE4M3 ? 448.0f : 57344.0f;
      return getBits(semantics, std::min(std::max(value, -max), max));
    };
    for (size_t i = 0; i < in.size(); ++i) {
      // The first source is the upper byte.
      EXPECT_EQ(out[i] >> 8, expect(in[i][0])) << in[i][0];
      EXPECT_EQ(out[i] & 0xFFu, expect(in[i][1])) << in[i][1];
    }
  }
}

TEST(LaneSimulatorLane, ConvertsPairsToFp4AtEveryTie) {
  struct Case {
    float value;
    unsigned code;
  };
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<Case> cases = {
      {0, 0},          {-0.0f, 8},         {0.25f, 0},
      {0.2500001f, 1}, {0.75f, 2},         {1.25f, 2},
      {1.75f, 4},      {2.5f, 4},          {3.5f, 6},
      {5, 6},          {5.00001f, 7},      {6, 7},
      {1000, 7},       {-inf, 15},         {-0.1f, 8},
      {-1.5f, 11},     {std::nanf(""), 7}, {-std::nanf(""), 7},
      {0.7499f, 1},    {4.9999f, 6}};
  std::vector<std::array<float, 2>> in;
  for (size_t i = 0; i < cases.size(); ++i)
    in.push_back({cases[i].value, cases[(i + 3) % cases.size()].value});
  auto out = map<uint16_t>(getPairKernel("ff.to.e2m1x2.rn.satfinite"), in);
  for (size_t i = 0; i < cases.size(); ++i)
    EXPECT_EQ(out[i], cases[i].code << 4 | cases[(i + 3) % cases.size()].code)
        << cases[i].value;
}

TEST(LaneSimulatorLane, ConvertsPairsToUE8M0) {
  struct Case {
    float value;
    unsigned down, up;
  };
  const float inf = std::numeric_limits<float>::infinity();
  const float least = std::ldexp(1.0f, -127);
  std::vector<Case> cases = {{1, 127, 127},
                             {-1.5f, 127, 128},
                             {0, 0, 0},
                             {least, 0, 0},
                             {std::nextafter(least, 1.0f), 0, 1},
                             {std::ldexp(1.0f, -140), 0, 0},
                             {inf, 0xFE, 0xFE},
                             {std::nanf(""), 0xFF, 0xFF},
                             {std::numeric_limits<float>::max(), 0xFE, 0xFE},
                             {1000, 136, 137}};
  std::vector<std::array<float, 2>> in;
  for (const Case &c : cases)
    in.push_back({2.0f, c.value});
  auto down = map<uint16_t>(getPairKernel("ff.to.ue8m0x2.rz.satfinite"), in);
  auto up = map<uint16_t>(getPairKernel("ff.to.ue8m0x2.rp.satfinite"), in);
  for (size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(down[i], 128u << 8 | cases[i].down) << cases[i].value;
    EXPECT_EQ(up[i], 128u << 8 | cases[i].up) << cases[i].value;
  }
}

TEST(LaneSimulatorLane, ConvertsEveryCodeToSixteenBits) {
  std::vector<uint16_t> in(65536);
  for (unsigned i = 0; i < in.size(); ++i)
    in[i] = i;
  struct Case {
    const char *name;
    const char *type;
    const llvm::fltSemantics &from;
    const llvm::fltSemantics &to;
    unsigned width;
  };
  for (const Case &c : {Case{"e4m3x2.to.f16x2.rn", "<2 x half>",
                             APFloat::Float8E4M3FN(), APFloat::IEEEhalf(), 8},
                        Case{"e5m2x2.to.f16x2.rn", "<2 x half>",
                             APFloat::Float8E5M2(), APFloat::IEEEhalf(), 8},
                        Case{"e2m1x2.to.f16x2.rn", "<2 x half>",
                             APFloat::Float4E2M1FN(), APFloat::IEEEhalf(), 4},
                        Case{"ue8m0x2.to.bf16x2", "<2 x bfloat>",
                             APFloat::Float8E8M0FNU(), APFloat::BFloat(), 8}}) {
    SCOPED_TRACE(c.name);
    std::string call = std::string(c.type) + " @llvm.nvvm." + c.name;
    auto out = map<std::array<uint16_t, 2>>(
        getKernel("i16", c.type,
                  "  %v = load i16, ptr addrspace(1) %pi\n  %r = call " + call +
                      "(i16 %v)\n  store " + c.type +
                      " %r, ptr addrspace(1) %po\n",
                  "declare " + call + "(i16)\n"),
        in);
    for (unsigned i = 0; i < in.size(); ++i)
      for (unsigned j = 0; j < 2; ++j) {
        double value =
            getValue(c.from, i >> c.width * j & ((1u << c.width) - 1), c.width);
        // APFloat converts the NaN of E8M0 to an infinity.
        bool isNaN =
            std::isnan(value) || (std::string(c.name) == "ue8m0x2.to.bf16x2" &&
                                  (i >> 8 * j & 0xFF) == 0xFF);
        EXPECT_EQ(out[i][j], isNaN ? 0x7FFFu : getBits(c.to, float(value)));
      }
  }
}

TEST(LaneSimulatorLane, PermutesBytes) {
  std::vector<std::array<uint32_t, 3>> in(1024);
  for (unsigned i = 0; i < in.size(); ++i)
    in[i] = {hash(i, 1), hash(i, 2), hash(i, 3)};
  auto out = map<uint32_t>(
      getKernel("[3 x i32]", "i32",
                "  %a = load i32, ptr addrspace(1) %pi\n"
                "  %p1 = getelementptr i32, ptr addrspace(1) %pi, i32 1\n"
                "  %b = load i32, ptr addrspace(1) %p1\n"
                "  %p2 = getelementptr i32, ptr addrspace(1) %pi, i32 2\n"
                "  %c = load i32, ptr addrspace(1) %p2\n"
                "  %r = call i32 @llvm.nvvm.prmt(i32 %a, i32 %b, i32 %c)\n"
                "  store i32 %r, ptr addrspace(1) %po\n",
                "declare i32 @llvm.nvvm.prmt(i32, i32, i32)\n"),
      in);
  for (unsigned i = 0; i < in.size(); ++i)
    for (unsigned byte = 0; byte < 4; ++byte) {
      unsigned field = in[i][2] >> 4 * byte & 15;
      uint8_t source = in[i][field >> 2 & 1] >> 8 * (field & 3);
      if (field & 8)
        source = int8_t(source) < 0 ? 0xFF : 0x00;
      EXPECT_EQ(uint8_t(out[i] >> 8 * byte), source);
    }
}

TEST(LaneSimulatorLane, PermutesBytesInEveryMode) {
  // Which byte of {b, a} each byte of the result is, as hex digits, for the
  // four values of the control: the table of "prmt" in the PTX ISA.
  struct Case {
    const char *mode;
    bool hasTwoSources;
    std::array<uint32_t, 4> bytes;
  };
  for (const Case &c :
       {Case{"f4e", true, {0x3210, 0x4321, 0x5432, 0x6543}},
        Case{"b4e", true, {0x5670, 0x6701, 0x7012, 0x0123}},
        Case{"rc8", false, {0x0000, 0x1111, 0x2222, 0x3333}},
        Case{"ecl", false, {0x3210, 0x3211, 0x3222, 0x3333}},
        Case{"ecr", false, {0x0000, 0x1110, 0x2210, 0x3210}},
        Case{"rc16", false, {0x1010, 0x3232, 0x1010, 0x3232}}}) {
    SCOPED_TRACE(c.mode);
    std::vector<std::array<uint32_t, 3>> in(64);
    for (unsigned i = 0; i < in.size(); ++i)
      in[i] = {hash(i, 1), hash(i, 2), hash(i, 3)};
    std::string name = std::string("i32 @llvm.nvvm.prmt.") + c.mode;
    auto out = map<uint32_t>(
        getKernel("[3 x i32]", "i32",
                  "  %a = load i32, ptr addrspace(1) %pi\n"
                  "  %p1 = getelementptr i32, ptr addrspace(1) %pi, i32 1\n"
                  "  %b = load i32, ptr addrspace(1) %p1\n"
                  "  %p2 = getelementptr i32, ptr addrspace(1) %pi, i32 2\n"
                  "  %c = load i32, ptr addrspace(1) %p2\n"
                  "  %r = call " +
                      name + "(i32 %a, " + (c.hasTwoSources ? "i32 %b, " : "") +
                      "i32 %c)\n  store i32 %r, ptr addrspace(1) %po\n",
                  "declare " + name + "(i32, " +
                      (c.hasTwoSources ? "i32, " : "") + "i32)\n"),
        in);
    for (unsigned i = 0; i < in.size(); ++i)
      for (unsigned byte = 0; byte < 4; ++byte) {
        unsigned source = c.bytes[in[i][2] & 3] >> 4 * byte & 15;
        EXPECT_EQ(uint8_t(out[i] >> 8 * byte),
                  uint8_t(in[i][source / 4] >> 8 * (source % 4)));
      }
  }
}

TEST(LaneSimulatorLane, ApproximateFunctionsKeepTheirBounds) {
  std::vector<float> in(1024);
  for (unsigned i = 0; i < in.size(); ++i)
    in[i] = float(hash(i)) / 4294967296.0f * 20 - 10;
  std::string text =
      getKernel("float", "float",
                "  %v = load float, ptr addrspace(1) %pi\n"
                "  %r = call float @llvm.nvvm.ex2.approx.f32(float %v)\n"
                "  store float %r, ptr addrspace(1) %po\n",
                "declare float @llvm.nvvm.ex2.approx.f32(float)\n");
  std::vector<float> exact(1024), moved(1024);
  ASSERT_EQ(run(text, in, exact, 1024).message, "");
  LaneOptions options;
  options.approximate = true;
  ASSERT_EQ(run(text, in, moved, 1024, 0, options).message, "");
  unsigned numMoved = 0;
  for (unsigned i = 0; i < in.size(); ++i) {
    EXPECT_EQ(exact[i], float(std::exp2(double(in[i]))));
    EXPECT_LE(std::fabs(moved[i] / exact[i] - 1), std::ldexp(3.1, -23));
    numMoved += moved[i] != exact[i];
  }
  EXPECT_GT(numMoved, 500u);
}

TEST(LaneSimulatorLane, FlushesWhereTheInstructionSaysSo) {
  // 2^-140 is a subnormal; so is 2 to the power of -130.
  std::vector<float> in = {std::ldexp(1.0f, -140), -130.0f, -126.0f, 3.0f};
  auto apply = [&](const std::string &name) {
    return map<float>(
        getKernel("float", "float",
                  "  %v = load float, ptr addrspace(1) %pi\n"
                  "  %r = call float @llvm.nvvm." +
                      name +
                      "(float %v)\n"
                      "  store float %r, ptr addrspace(1) %po\n",
                  "declare float @llvm.nvvm." + name + "(float)\n"),
        in);
  };
  EXPECT_EQ(apply("ex2.approx.f32")[1], std::ldexp(1.0f, -130));
  EXPECT_EQ(apply("ex2.approx.ftz.f32")[1], 0.0f);
  EXPECT_EQ(apply("ex2.approx.ftz.f32")[2], std::ldexp(1.0f, -126));
  EXPECT_EQ(apply("lg2.approx.f")[0], -140.0f);
  EXPECT_TRUE(std::isinf(apply("lg2.approx.ftz.f")[0]));
  EXPECT_EQ(apply("rcp.approx.ftz.f")[3], 1.0f / 3.0f);
}

} // namespace
