//===- IntegerArithmeticTest.cpp - Integer instructions -------------------===//

#include "LanewiseHarness.h"

using namespace tile::emulator;

namespace {

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 UInt128;

/// PTX's name of an integer type.
template <typename T>
std::string getName() {
  return (std::is_signed_v<T> ? "s" : "u") + std::to_string(8 * sizeof(T));
}

/// The exact value of any integer.
template <typename T>
Int128 exact(T value) {
  return static_cast<Int128>(value);
}

/// The low bits of an exact value.
template <typename T>
T wrap(Int128 value) {
  return static_cast<T>(static_cast<UInt128>(value));
}

template <typename T>
void testInteger() {
  std::string type = getName<T>() + " %d, %a, %b;";
  expectLanes(
      "add." + type, +[](T a, T b) { return wrap<T>(exact(a) + exact(b)); });
  expectLanes(
      "sub." + type, +[](T a, T b) { return wrap<T>(exact(a) - exact(b)); });
  expectLanes(
      "mul.lo." + type, +[](T a, T b) {
        return wrap<T>(
            static_cast<Int128>(UInt128(exact(a)) * UInt128(exact(b))));
      });
  expectLanes(
      "min." + type, +[](T a, T b) { return std::min(a, b); });
  expectLanes(
      "max." + type, +[](T a, T b) { return std::max(a, b); });
  expectLanes(
      "div." + type, +[](T a, T b) {
        return b == 0 ? static_cast<T>(-1) : wrap<T>(exact(a) / exact(b));
      });
  expectLanes(
      "rem." + type,
      +[](T a, T b) { return b == 0 ? a : wrap<T>(exact(a) % exact(b)); });
  std::string three = getName<T>() + " %d, %a, %b, %c;";
  expectLanes(
      "mad.lo." + three, +[](T a, T b, T c) {
        return wrap<T>(static_cast<Int128>(
            UInt128(exact(a)) * UInt128(exact(b)) + UInt128(exact(c))));
      });
  expectLanes(
      "sad." + three, +[](T a, T b, T c) {
        Int128 difference = exact(a) - exact(b);
        return wrap<T>(exact(c) + (difference < 0 ? -difference : difference));
      });
}

/// The high half of a product, by halves of the operands: no wider type.
template <typename T>
T multiplyHigh(T a, T b) {
  constexpr unsigned half = 4 * sizeof(T);
  constexpr uint64_t low = (uint64_t(1) << half) - 1;
  bool isNegative = (a < 0) != (b < 0);
  using U = std::make_unsigned_t<T>;
  uint64_t x = static_cast<U>(a < 0 ? U(0) - U(a) : U(a));
  uint64_t y = static_cast<U>(b < 0 ? U(0) - U(b) : U(b));
  uint64_t ll = (x & low) * (y & low), lh = (x & low) * (y >> half);
  uint64_t hl = (x >> half) * (y & low), hh = (x >> half) * (y >> half);
  uint64_t middle = (ll >> half) + (lh & low) + (hl & low);
  U high = static_cast<U>(hh + (lh >> half) + (hl >> half) + (middle >> half));
  U bottom = static_cast<U>((middle << half) | (ll & low));
  if (isNegative)
    high = static_cast<U>(~high + (bottom == 0 ? 1 : 0));
  return static_cast<T>(high);
}

template <typename T>
void testHigh() {
  expectLanes(
      "mul.hi." + getName<T>() + " %d, %a, %b;",
      +[](T a, T b) { return multiplyHigh(a, b); });
  expectLanes(
      "mad.hi." + getName<T>() + " %d, %a, %b, %c;", +[](T a, T b, T c) {
        return wrap<T>(exact(multiplyHigh(a, b)) + exact(c));
      });
}

template <typename T, typename W>
void testWide() {
  expectLanes(
      "mul.wide." + getName<T>() + " %d, %a, %b;",
      +[](T a, T b) { return wrap<W>(exact(a) * exact(b)); });
  expectLanes(
      "mad.wide." + getName<T>() + " %d, %a, %b, %c;",
      +[](T a, T b, W c) { return wrap<W>(exact(a) * exact(b) + exact(c)); });
}

template <typename T>
void testSigned() {
  expectLanes(
      "abs." + getName<T>() + " %d, %a;",
      +[](T a) { return wrap<T>(a < 0 ? -exact(a) : exact(a)); });
  expectLanes(
      "neg." + getName<T>() + " %d, %a;",
      +[](T a) { return wrap<T>(-exact(a)); });
}

int32_t saturate(Int128 value) {
  if (value > INT32_MAX)
    return INT32_MAX;
  return value < INT32_MIN ? INT32_MIN : static_cast<int32_t>(value);
}

TEST(IntegerArithmetic, UnsignedTypes) {
  testInteger<uint16_t>();
  testInteger<uint32_t>();
  testInteger<uint64_t>();
}

TEST(IntegerArithmetic, SignedTypes) {
  testInteger<int16_t>();
  testInteger<int32_t>();
  testInteger<int64_t>();
}

TEST(IntegerArithmetic, HighHalves) {
  testHigh<uint16_t>();
  testHigh<int16_t>();
  testHigh<uint32_t>();
  testHigh<int32_t>();
  testHigh<uint64_t>();
  testHigh<int64_t>();
}

TEST(IntegerArithmetic, WideProducts) {
  testWide<uint16_t, uint32_t>();
  testWide<int16_t, int32_t>();
  testWide<uint32_t, uint64_t>();
  testWide<int32_t, int64_t>();
}

TEST(IntegerArithmetic, OfOneOperand) {
  testSigned<int16_t>();
  testSigned<int32_t>();
  testSigned<int64_t>();
}

TEST(IntegerArithmetic, Saturation) {
  expectLanes(
      "add.sat.s32 %d, %a, %b;",
      +[](int32_t a, int32_t b) { return saturate(exact(a) + b); });
  expectLanes(
      "sub.sat.s32 %d, %a, %b;",
      +[](int32_t a, int32_t b) { return saturate(exact(a) - b); });
  expectLanes(
      "mad.hi.sat.s32 %d, %a, %b, %c;", +[](int32_t a, int32_t b, int32_t c) {
        return saturate(exact(multiplyHigh(a, b)) + c);
      });
}

// The 24 bits that count, by division: no shifts of signed numbers.
Int128 low24(uint32_t value, bool isSigned) {
  Int128 bits = value % 0x1000000;
  return isSigned && bits >= 0x800000 ? bits - 0x1000000 : bits;
}

template <bool IsSigned, bool IsHigh>
uint32_t multiply24(uint32_t a, uint32_t b) {
  UInt128 product =
      static_cast<UInt128>(low24(a, IsSigned) * low24(b, IsSigned));
  return static_cast<uint32_t>(IsHigh ? product >> 16 : product);
}

TEST(IntegerArithmetic, Of24Bits) {
  expectLanes("mul24.lo.u32 %d, %a, %b;", multiply24<false, false>);
  expectLanes("mul24.hi.u32 %d, %a, %b;", multiply24<false, true>);
  expectLanes("mul24.lo.s32 %d, %a, %b;", multiply24<true, false>);
  expectLanes("mul24.hi.s32 %d, %a, %b;", multiply24<true, true>);
  expectLanes(
      "mad24.lo.s32 %d, %a, %b, %c;", +[](uint32_t a, uint32_t b, uint32_t c) {
        return multiply24<true, false>(a, b) + c;
      });
  expectLanes(
      "mad24.hi.u32 %d, %a, %b, %c;", +[](uint32_t a, uint32_t b, uint32_t c) {
        return multiply24<false, true>(a, b) + c;
      });
  expectLanes(
      "mad24.hi.sat.s32 %d, %a, %b, %c;",
      +[](uint32_t a, uint32_t b, int32_t c) {
        return saturate(
            exact(static_cast<int32_t>(multiply24<true, true>(a, b))) + c);
      });
}

/// `f` on either half of a word.
template <typename T, T (*f)(T, T)>
uint32_t halves(uint32_t a, uint32_t b) {
  uint16_t x[2], y[2], r[2];
  std::memcpy(x, &a, 4);
  std::memcpy(y, &b, 4);
  for (unsigned i = 0; i != 2; ++i)
    r[i] = static_cast<uint16_t>(f(static_cast<T>(x[i]), static_cast<T>(y[i])));
  uint32_t result;
  std::memcpy(&result, r, 4);
  return result;
}

template <typename T>
T addT(T a, T b) {
  return static_cast<T>(a + b);
}
template <typename T>
T subT(T a, T b) {
  return static_cast<T>(a - b);
}
template <typename T>
T minT(T a, T b) {
  return b < a ? b : a;
}
template <typename T>
T maxT(T a, T b) {
  return a < b ? b : a;
}
template <typename T>
T minRelu(T a, T b) {
  return std::max<T>(std::min(a, b), 0);
}
template <typename T>
T maxRelu(T a, T b) {
  return std::max<T>({a, b, 0});
}

TEST(IntegerArithmetic, Pairs) {
  expectLanes("add.u16x2 %d, %a, %b;", halves<uint16_t, addT<uint16_t>>);
  expectLanes("add.s16x2 %d, %a, %b;", halves<int16_t, addT<int16_t>>);
  expectLanes("sub.u16x2 %d, %a, %b;", halves<uint16_t, subT<uint16_t>>);
  expectLanes("sub.s16x2 %d, %a, %b;", halves<int16_t, subT<int16_t>>);
  expectLanes("min.u16x2 %d, %a, %b;", halves<uint16_t, minT<uint16_t>>);
  expectLanes("min.s16x2 %d, %a, %b;", halves<int16_t, minT<int16_t>>);
  expectLanes("max.u16x2 %d, %a, %b;", halves<uint16_t, maxT<uint16_t>>);
  expectLanes("max.s16x2 %d, %a, %b;", halves<int16_t, maxT<int16_t>>);
  expectLanes("min.relu.s16x2 %d, %a, %b;", halves<int16_t, minRelu<int16_t>>);
  expectLanes("max.relu.s16x2 %d, %a, %b;", halves<int16_t, maxRelu<int16_t>>);
  expectLanes("min.relu.s32 %d, %a, %b;", minRelu<int32_t>);
  expectLanes("max.relu.s32 %d, %a, %b;", maxRelu<int32_t>);
}

TEST(IntegerArithmetic, CarryChains) {
  // Numbers of 128 bits from four words, and what is left in the flag.
  expectLanes(
      ".reg .b32 %a0, %a1, %b0, %b1, %r0, %r1, %r2;\n"
      "mov.b64 {%a0, %a1}, %a; mov.b64 {%b0, %b1}, %b;\n"
      "add.cc.u32 %r0, %a0, %b0; addc.cc.u32 %r1, %a1, %b1;\n"
      "addc.u32 %r2, 0, 0; xor.b32 %r0, %r0, %r2; mov.b64 %d, {%r0, %r1};",
      +[](uint64_t a, uint64_t b) {
        UInt128 sum = UInt128(a) + b;
        return static_cast<uint64_t>(sum) ^ static_cast<uint64_t>(sum >> 64);
      });
  expectLanes(
      ".reg .b32 %a0, %a1, %b0, %b1, %r0, %r1, %r2;\n"
      "mov.b64 {%a0, %a1}, %a; mov.b64 {%b0, %b1}, %b;\n"
      "sub.cc.s32 %r0, %a0, %b0; subc.cc.s32 %r1, %a1, %b1;\n"
      "subc.u32 %r2, 0, 0; xor.b32 %r0, %r0, %r2; mov.b64 %d, {%r0, %r1};",
      +[](uint64_t a, uint64_t b) {
        return (a - b) ^ (a < b ? 0xFFFFFFFFu : 0u);
      });
  expectLanes(
      "add.cc.u64 %a, %a, %b; addc.u64 %d, %c, %e;",
      +[](uint64_t a, uint64_t b, uint64_t c, uint64_t e) {
        return c + e + (a > ~b ? 1 : 0);
      });
  // A product of 64 by 64 bits, its upper half: four multiplications.
  expectLanes(
      ".reg .b32 %a0, %a1, %b0, %b1, %r0, %r1, %r2, %r3;\n"
      "mov.b64 {%a0, %a1}, %a; mov.b64 {%b0, %b1}, %b;\n"
      "mul.hi.u32 %r1, %a0, %b0;\n"
      "mad.lo.cc.u32 %r1, %a0, %b1, %r1; madc.hi.u32 %r2, %a0, %b1, 0;\n"
      "mad.lo.cc.u32 %r1, %a1, %b0, %r1; madc.hi.cc.u32 %r2, %a1, %b0, %r2;\n"
      "addc.u32 %r3, 0, 0;\n"
      "mad.lo.cc.u32 %r2, %a1, %b1, %r2; madc.hi.u32 %r3, %a1, %b1, %r3;\n"
      "mov.b64 %d, {%r2, %r3};",
      +[](uint64_t a, uint64_t b) {
        return static_cast<uint64_t>(UInt128(a) * b >> 64);
      });
  expectLanes(
      "mad.lo.cc.u64 %e, %a, %b, %c; madc.hi.u64 %d, %a, %b, 0;",
      +[](uint64_t a, uint64_t b, uint64_t c, uint64_t) {
        return static_cast<uint64_t>((UInt128(a) * b + c) >> 64);
      });
}

/// Byte or half word `i` of `word` as a signed or unsigned number.
int64_t part(uint32_t word, unsigned i, unsigned bits, bool isSigned) {
  int64_t value = (word >> (bits * i)) % (1u << bits);
  return isSigned && value >> (bits - 1) ? value - (int64_t(1) << bits) : value;
}

template <bool A, bool B>
uint32_t dp4a(uint32_t a, uint32_t b, uint32_t c) {
  int64_t sum = c;
  for (unsigned i = 0; i != 4; ++i)
    sum += part(a, i, 8, A) * part(b, i, 8, B);
  return static_cast<uint32_t>(sum);
}

template <bool A, bool B, unsigned First>
uint32_t dp2a(uint32_t a, uint32_t b, uint32_t c) {
  int64_t sum = c;
  for (unsigned i = 0; i != 2; ++i)
    sum += part(a, i, 16, A) * part(b, First + i, 8, B);
  return static_cast<uint32_t>(sum);
}

TEST(IntegerArithmetic, DotProducts) {
  std::string operands = " %d, %a, %b, %c;";
  expectLanes("dp4a.u32.u32" + operands, dp4a<false, false>);
  expectLanes("dp4a.u32.s32" + operands, dp4a<false, true>);
  expectLanes("dp4a.s32.u32" + operands, dp4a<true, false>);
  expectLanes("dp4a.s32.s32" + operands, dp4a<true, true>);
  expectLanes("dp2a.lo.u32.u32" + operands, dp2a<false, false, 0>);
  expectLanes("dp2a.hi.u32.s32" + operands, dp2a<false, true, 2>);
  expectLanes("dp2a.lo.s32.u32" + operands, dp2a<true, false, 0>);
  expectLanes("dp2a.hi.s32.s32" + operands, dp2a<true, true, 2>);
}

TEST(IntegerArithmetic, UnwrittenBits) {
  expectWritten(
      "add.u32 %d, %a, %b;", +[](uint32_t a, uint32_t b) { return a + b; }, 2,
      Precision::Sound);
  expectWritten(
      "mul.wide.u16 %d, %a, %b;",
      +[](uint16_t a, uint16_t b) { return uint32_t(a) * uint32_t(b); }, 1,
      Precision::Sound);
  expectWritten(
      "max.s64 %d, %a, %b;",
      +[](int64_t a, int64_t b) {
        return static_cast<uint64_t>(std::max(a, b));
      },
      1, Precision::Sound);
  // A half of a pair says nothing of the other one.
  EXPECT_EQ(getError(".reg .b16 %h, %u; .reg .b32 %r;\n"
                     "mov.b16 %h, 7; mov.b32 %r, {%h, %u};\n"
                     "add.u16x2 %r, %r, %r; mov.b32 {%h, %u}, %r;\n"
                     "st.global.b16 [%out], %h;"),
            "");
  expectError(".reg .b16 %h, %u; .reg .b32 %r;\n"
              "mov.b16 %h, 7; mov.b32 %r, {%h, %u};\n"
              "add.u16x2 %r, %r, %r; mov.b32 {%h, %u}, %r;\n"
              "st.global.b16 [%out], %u;",
              "[uninitialized]");
  // The flag of a chain is as unwritten as what made it.
  expectError(".reg .b32 %r, %u; add.cc.u32 %u, %u, 1; addc.u32 %r, 0, 0;\n"
              "st.global.b32 [%out], %r;",
              "[uninitialized]");
}

TEST(IntegerArithmetic, Errors) {
  std::string registers = ".reg .b32 %r; .reg .b16 %h; .reg .b64 %w;\n";
  expectError(registers + "mul24.lo.u64 %w, %w, %w;",
              "'mul24' expects .u32 or .s32, but got .u64");
  expectError(registers + "mul.s32 %r, %r, %r;",
              "'mul' expects .lo, .hi or .wide");
  expectError(registers + "add.sat.u32 %r, %r, %r;",
              "'.sat' expects .s32, but got .u32");
  expectError(registers + "add.u8x4 %r, %r, %r;",
              "'add' expects .u16, .u32, .u64, .s16, .s32, .s64, .u16x2 or "
              ".s16x2, but got .u8x4");
  expectError(registers + "add.u16x2 %r, %r, %r;",
              "needs sm_90 or later, but the module's target is sm_80",
              {"sm_80", "8.0"});
  expectError(registers + "max.relu.u32 %r, %r, %r;",
              "'.relu' expects .s32 or .s16x2, but got .u32");
  expectError(registers + "mul.wide.u64 %w, %w, %w;",
              "'mul' expects .u16, .s16, .u32 or .s32, but got .u64");
  expectError(registers + "add.u32 %r, %r;", "'add' expects 3 operands");
  expectError(registers + "add.u32 %r, %r, %w;",
              "expects a register for .u32, but got '%w', which is .b64");
}

} // namespace
