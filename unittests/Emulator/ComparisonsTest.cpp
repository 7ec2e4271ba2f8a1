//===- ComparisonsTest.cpp - set and setp ---------------------------------===//

#include "LanewiseHarness.h"

#include <cmath>

using namespace tile::emulator;

namespace {

/// The comparisons, by their place in this list.
constexpr const char *kNames[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",
                                  "lo",  "ls",  "hi",  "hs",  "equ", "neu",
                                  "ltu", "leu", "gtu", "geu", "num", "nan"};

/// Whether comparison `Op` holds for values of which `order` is the sign of
/// their difference; 2 where one of them is no number.
template <size_t Op>
bool holds(int order) {
  constexpr bool table[][4] = {
      // less, equal, greater, unordered
      {false, true, false, false}, {true, false, true, false},
      {true, false, false, false}, {true, true, false, false},
      {false, false, true, false}, {false, true, true, false},
      {true, false, false, false}, {true, true, false, false},
      {false, false, true, false}, {false, true, true, false},
      {false, true, false, true},  {true, false, true, true},
      {true, false, false, true},  {true, true, false, true},
      {false, false, true, true},  {false, true, true, true},
      {true, true, true, false},   {false, false, false, true},
  };
  return table[Op][order + 1];
}

template <typename T>
int getOrder(T a, T b) {
  return a < b ? -1 : a > b ? 1 : a == b ? 0 : 2;
}

/// The value of a float of any format.
double decode(uint64_t bits, unsigned exponentBits, unsigned mantissaBits,
              bool flushes) {
  uint64_t mantissa = bits & ((uint64_t(1) << mantissaBits) - 1);
  int exponent = static_cast<int>(bits >> mantissaBits &
                                  ((uint64_t(1) << exponentBits) - 1));
  double sign = bits >> (exponentBits + mantissaBits) & 1 ? -1 : 1;
  int bias = (1 << (exponentBits - 1)) - 1;
  int scale = -bias - static_cast<int>(mantissaBits);
  if (exponent == (1 << exponentBits) - 1)
    return mantissa ? NAN : sign * INFINITY;
  if (exponent == 0)
    return flushes ? 0 : sign * std::ldexp(double(mantissa), scale + 1);
  return sign * std::ldexp(double(mantissa | uint64_t(1) << mantissaBits),
                           scale + exponent);
}

/// Integers of type T, in registers of their width.
template <typename T, size_t Op>
bool compareIntegers(T a, T b) {
  return holds<Op>(getOrder(a, b));
}

template <typename T, size_t... Op>
void testIntegers(const std::string &type, std::index_sequence<Op...>) {
  (expectLanes("setp." + std::string(kNames[Op]) + "." + type + " %d, %a, %b;",
               compareIntegers<T, Op>),
   ...);
}

TEST(Comparisons, Integers) {
  std::make_index_sequence<6> plain;
  std::make_index_sequence<10> withUnsignedNames;
  std::make_index_sequence<2> bits;
  testIntegers<int16_t>("s16", plain);
  testIntegers<int32_t>("s32", plain);
  testIntegers<int64_t>("s64", plain);
  testIntegers<uint16_t>("u16", withUnsignedNames);
  testIntegers<uint32_t>("u32", withUnsignedNames);
  testIntegers<uint64_t>("u64", withUnsignedNames);
  testIntegers<uint16_t>("b16", bits);
  testIntegers<uint32_t>("b32", bits);
  testIntegers<uint64_t>("b64", bits);
}

/// Floats of `E` exponent and `M` mantissa bits, held in a T, shifted by S.
template <typename T, size_t Op, unsigned E, unsigned M, bool Flushes,
          unsigned S = 0>
bool compareFloats(T a, T b) {
  return holds<Op>(
      getOrder(decode(a >> S, E, M, Flushes), decode(b >> S, E, M, Flushes)));
}

template <typename T, unsigned E, unsigned M, bool Flushes, size_t... Op>
void testFloats(const std::string &type, std::index_sequence<Op...>) {
  (expectLanes("setp." + std::string(kNames[Op < 6 ? Op : Op + 4]) +
                   (Flushes ? ".ftz." : ".") + type + " %d, %a, %b;",
               compareFloats<T, (Op < 6 ? Op : Op + 4), E, M, Flushes>),
   ...);
  // NaNs, infinities, zeros and subnormals of both signs against each other.
  constexpr T sign = T(1) << (E + M);
  constexpr T infinity = ((T(1) << E) - 1) << M;
  const T values[] = {0,
                      sign,
                      1,
                      T(sign | 1),
                      T(T(1) << M),
                      T(sign | T(1) << M),
                      T((T(1) << M) - 1),
                      infinity,
                      T(sign | infinity),
                      T(infinity | 1),
                      T(sign | infinity | T(1) << (M - 1)),
                      T(infinity - 1)};
  std::vector<uint8_t> in(32 * 16);
  std::string load = loadRegister<T>("%a", 0) + loadRegister<T>("%b", 8);
  for (unsigned shift = 0; shift != 12; ++shift) {
    for (unsigned lane = 0; lane != 32; ++lane) {
      std::memcpy(&in[lane * 16], &values[lane % 12], sizeof(T));
      std::memcpy(&in[lane * 16 + 8], &values[(lane + shift) % 12], sizeof(T));
    }
    auto test = [&](const std::string &name, bool (*reference)(T, T)) {
      std::string text =
          "setp." + name + (Flushes ? ".ftz." : ".") + type + " %d, %a, %b;\n";
      std::string error;
      std::vector<uint8_t> out = runLanes(load + ".reg .pred %d;\n" + text +
                                              storeRegister<bool>("%d", 0),
                                          in, 16, 4, error);
      ASSERT_EQ(error, "");
      for (unsigned lane = 0; lane != 12; ++lane)
        EXPECT_EQ(bool(out[4 * lane]),
                  reference(values[lane % 12], values[(lane + shift) % 12]))
            << text
            << printBits(values[lane % 12], values[(lane + shift) % 12]);
    };
    (test(kNames[Op < 6 ? Op : Op + 4],
          compareFloats<T, (Op < 6 ? Op : Op + 4), E, M, Flushes>),
     ...);
  }
}

TEST(Comparisons, Floats) {
  std::make_index_sequence<14> all;
  testFloats<uint32_t, 8, 23, false>("f32", all);
  testFloats<uint32_t, 8, 23, true>("f32", all);
  testFloats<uint64_t, 11, 52, false>("f64", all);
}

TEST(Comparisons, SmallFloats) {
  std::make_index_sequence<14> all;
  testFloats<uint16_t, 5, 10, false>("f16", all);
  testFloats<uint16_t, 5, 10, true>("f16", all);
  testFloats<uint16_t, 8, 7, false>("bf16", all);
}

TEST(Comparisons, Pairs) {
  expectLanes("setp.lt.f16x2 %d|_, %a, %b;",
              compareFloats<uint32_t, 2, 5, 10, false>);
  expectLanes("setp.geu.ftz.f16x2 _|%d, %a, %b;",
              compareFloats<uint32_t, 15, 5, 10, true, 16>);
  expectLanes("setp.ne.bf16x2 %d|_, %a, %b;",
              compareFloats<uint32_t, 1, 8, 7, false>);
  expectLanes("setp.le.bf16x2 _|%d, %a, %b;",
              compareFloats<uint32_t, 3, 8, 7, false, 16>);
  expectLanes(
      "setp.gt.and.f16x2 _|%d, %a, %b, !%c;",
      +[](uint32_t a, uint32_t b, bool c) {
        return compareFloats<uint32_t, 4, 5, 10, false, 16>(a, b) && !c;
      });
}

TEST(Comparisons, Combined) {
  expectLanes(
      "setp.lt.and.s32 %d, %a, %b, %c;",
      +[](int32_t a, int32_t b, bool c) { return a < b && c; });
  expectLanes(
      "setp.lt.or.s32 %d, %a, %b, !%c;",
      +[](int32_t a, int32_t b, bool c) { return a < b || !c; });
  expectLanes(
      "setp.lt.xor.s32 %d, %a, %b, %c;",
      +[](int32_t a, int32_t b, bool c) { return (a < b) != c; });
  // The second result is that of the opposite, for NaNs too.
  expectLanes(
      "setp.lt.and.s32 _|%d, %a, %b, %c;",
      +[](int32_t a, int32_t b, bool c) { return !(a < b) && c; });
  expectLanes(
      "setp.lt.f32 _|%d, %a, %b;", +[](uint32_t a, uint32_t b) {
        return !compareFloats<uint32_t, 2, 8, 23, false>(a, b);
      });
  expectLanes(
      "setp.ge.or.u64 _|%d, %a, %b, %c;",
      +[](uint64_t a, uint64_t b, bool c) { return a < b || c; });
  // The destination may be the operand of the combination.
  expectLanes(
      "setp.eq.xor.u32 %c|_, %a, %b, %c; not.pred %d, %c;",
      +[](uint32_t a, uint32_t b, bool c) { return !((a == b) != c); });
}

TEST(Comparisons, Set) {
  expectLanes(
      "set.lt.u32.s32 %d, %a, %b;",
      +[](int32_t a, int32_t b) { return a < b ? ~0u : 0u; });
  expectLanes(
      "set.ge.and.s32.u64 %d, %a, %b, %c;",
      +[](uint64_t a, uint64_t b, bool c) { return a >= b && c ? ~0u : 0u; });
  expectLanes(
      "set.ne.f32.b16 %d, %a, %b;",
      +[](uint16_t a, uint16_t b) { return a != b ? 0x3F800000u : 0u; });
  expectLanes(
      "set.leu.ftz.u32.f32 %d, %a, %b;", +[](uint32_t a, uint32_t b) {
        return compareFloats<uint32_t, 13, 8, 23, true>(a, b) ? ~0u : 0u;
      });
  expectLanes(
      "set.gt.f16.f64 %d, %a, %b;", +[](uint64_t a, uint64_t b) {
        return uint16_t(compareFloats<uint64_t, 4, 11, 52, false>(a, b) ? 0x3C00
                                                                        : 0);
      });
  expectLanes(
      "set.gt.bf16.s16 %d, %a, %b;",
      +[](int16_t a, int16_t b) { return uint16_t(a > b ? 0x3F80 : 0); });
  expectLanes(
      "set.eq.u16.bf16 %d, %a, %b;", +[](uint16_t a, uint16_t b) {
        return uint16_t(compareFloats<uint16_t, 0, 8, 7, false>(a, b) ? 0xFFFF
                                                                      : 0);
      });
  expectLanes(
      "set.num.xor.s32.f16 %d, %a, %b, %c;",
      +[](uint16_t a, uint16_t b, bool c) {
        return compareFloats<uint16_t, 16, 5, 10, false>(a, b) != c ? ~0u : 0u;
      });
  expectLanes(
      "set.lt.f16x2.f16x2 %d, %a, %b;", +[](uint32_t a, uint32_t b) {
        return (compareFloats<uint32_t, 2, 5, 10, false>(a, b) ? 0x3C00u : 0u) |
               (compareFloats<uint32_t, 2, 5, 10, false, 16>(a, b) ? 0x3C000000u
                                                                   : 0u);
      });
  expectLanes(
      "set.neu.or.u32.bf16x2 %d, %a, %b, %c;",
      +[](uint32_t a, uint32_t b, bool c) {
        return (compareFloats<uint32_t, 11, 8, 7, false>(a, b) || c ? 0xFFFFu
                                                                    : 0u) |
               (compareFloats<uint32_t, 11, 8, 7, false, 16>(a, b) || c
                    ? 0xFFFF0000u
                    : 0u);
      });
}

TEST(Comparisons, UnwrittenBits) {
  std::string start = ".reg .pred %p, %q, %t, %f; .reg .b32 %u, %r, %s;\n"
                      ".reg .b16 %h, %g; mov.b16 %h, 1;\n"
                      "mov.b32 %s, {%h, %g};\n"
                      "setp.eq.u32 %t, 1, 1; setp.eq.u32 %f, 1, 2;\n";
  std::string end = "\nselp.u32 %r, 1, 2, %p; st.global.b32 [%out], %r;";
  // A predicate may be unwritten as long as nobody looks at it.
  EXPECT_EQ(getError(start + "setp.eq.u32 %p, %u, 1;"), "");
  EXPECT_EQ(getError(start + "setp.eq.and.u32 %p, %u, 1, %f;" + end), "");
  EXPECT_EQ(getError(start + "setp.eq.or.u32 %p, %u, 1, %t;" + end), "");
  EXPECT_EQ(getError(start + "setp.lt.f16x2 %p|%q, %s, %s;" + end), "");
  expectError(start + "setp.lt.f16x2 %q|%p, %s, %s;" + end, "[uninitialized]");
  expectError(start + "setp.eq.u32 %p, %u, 1;" + end, "[uninitialized]");
  expectError(start + "setp.eq.and.u32 %p, %u, 1, %t;" + end,
              "[uninitialized]");
  expectError(start + "setp.eq.or.u32 %p, %u, 1, %f;" + end, "[uninitialized]");
  expectError(start + "setp.eq.xor.u32 %p, 1, 1, %q;" + end, "[uninitialized]");
  expectError(start + "set.eq.u32.u32 %r, %u, 1; st.global.b32 [%out], %r;",
              "[uninitialized]");
  // A guard looks.
  expectError(start + "setp.eq.u32 %p, %u, 1; @%p st.global.b32 [%out], 1;",
              "[uninitialized]");
}

TEST(Comparisons, Errors) {
  std::string registers = ".reg .b32 %r; .reg .b16 %h; .reg .pred %p, %q;\n";
  expectError(registers + "setp.u32 %p, %r, %r;", "'setp' expects .eq");
  expectError(registers + "setp.lt.b32 %p, %r, %r;",
              "'.lt' does not compare values of type .b32");
  expectError(registers + "setp.lo.s32 %p, %r, %r;",
              "'.lo' does not compare values of type .s32");
  expectError(registers + "setp.ltu.u32 %p, %r, %r;",
              "'.ltu' does not compare values of type .u32");
  expectError(registers + "setp.lt.ftz.s32 %p, %r, %r;",
              "'.ftz' expects .f32, .f16 or .f16x2, but got .s32");
  expectError(registers + "setp.lt.f16x2 %p, %r, %r;",
              "expects two predicates as in 'p|q', but got '%p'");
  expectError(registers + "setp.lt.and.s32 %p, %r, %r;",
              "'setp' expects 4 operands, but got 3");
  expectError(registers + "setp.lt.bf16 %p, %h, %h;", "needs sm_90 or later",
              {"sm_80", "8.0"});
  expectError(registers + "set.lt.u16.u32 %h, %r, %r;",
              "'set' has no result of type .u16 for values of type .u32");
  expectError(registers + "set.lt.f32.f16 %r, %h, %h;",
              "'set' has no result of type .f32 for values of type .f16");
}

} // namespace
