//===- BitOperationsTest.cpp - Logic, shifts and permutations -------------===//

#include "LanewiseHarness.h"

using namespace tile::emulator;

namespace {

/// A result made bit by bit: bit i of it is `f(i)`.
template <typename T, typename F>
T fromBits(F f) {
  T result = 0;
  for (unsigned i = 0; i != 8 * sizeof(T); ++i)
    if (f(i))
      result = static_cast<T>(result | T(1) << i);
  return result;
}

template <typename T>
bool bit(T value, unsigned i) {
  return value >> i & 1;
}

/// Expects both the values and the written bits.
template <typename D, typename... S>
void expectAll(const std::string &instruction, D (*reference)(S...),
               unsigned partial) {
  expectLanes(instruction, reference);
  expectWritten(instruction, reference, partial);
}

template <typename T>
void testLogic() {
  std::string b = ".b" + std::to_string(8 * sizeof(T));
  expectAll(
      "and" + b + " %d, %a, %b;",
      +[](T a, T b) {
        return fromBits<T>([=](unsigned i) { return bit(a, i) && bit(b, i); });
      },
      2);
  expectAll(
      "or" + b + " %d, %a, %b;",
      +[](T a, T b) {
        return fromBits<T>([=](unsigned i) { return bit(a, i) || bit(b, i); });
      },
      2);
  expectAll(
      "xor" + b + " %d, %a, %b;",
      +[](T a, T b) {
        return fromBits<T>([=](unsigned i) { return bit(a, i) != bit(b, i); });
      },
      2);
  expectAll(
      "not" + b + " %d, %a;",
      +[](T a) { return fromBits<T>([=](unsigned i) { return !bit(a, i); }); },
      1);
  expectAll(
      "cnot" + b + " %d, %a;", +[](T a) { return T(a ? 0 : 1); }, 1);
  // The destination may be an operand, and x ^ x is zero whatever x is.
  expectAll(
      "and" + b + " %a, %a, %b; xor" + b + " %b, %b, %b; or" + b +
          " %d, %a, %b;",
      +[](T a, T b) { return static_cast<T>(a & b); }, 2);
}

TEST(BitOperations, Logic) {
  testLogic<uint16_t>();
  testLogic<uint32_t>();
  testLogic<uint64_t>();
}

TEST(BitOperations, Predicates) {
  expectLanes(
      "and.pred %d, %a, %b;", +[](bool a, bool b) { return a && b; });
  expectLanes(
      "or.pred %d, %a, %b;", +[](bool a, bool b) { return a || b; });
  expectLanes(
      "xor.pred %d, %a, %b;", +[](bool a, bool b) { return a != b; });
  expectLanes(
      "not.pred %d, %a;", +[](bool a) { return !a; });
  expectLanes(
      "and.pred %d, %a, !%b;", +[](bool a, bool b) { return a && !b; });

  // A known false decides an `and`, a known true an `or`.
  std::string start = ".reg .pred %p, %u, %t, %f; .reg .b32 %r;\n"
                      "setp.eq.u32 %t, 1, 1; setp.eq.u32 %f, 1, 2;\n";
  std::string end = "selp.u32 %r, 1, 2, %p; st.global.b32 [%out], %r;";
  for (const char *known :
       {"and.pred %p, %u, %f;", "and.pred %p, %f, %u;", "or.pred %p, %u, %t;",
        "or.pred %p, %t, %u;", "not.pred %p, %t;"})
    EXPECT_EQ(getError(start + known + end), "") << known;
  for (const char *unknown :
       {"and.pred %p, %u, %t;", "and.pred %p, %t, %u;", "or.pred %p, %u, %f;",
        "or.pred %p, %f, %u;", "xor.pred %p, %u, %t;", "not.pred %p, %u;"})
    expectError(start + unknown + end, "[uninitialized]");
}

template <unsigned Table>
uint32_t lop3(uint32_t a, uint32_t b, uint32_t c) {
  return fromBits<uint32_t>([=](unsigned i) {
    return Table >> (4 * bit(a, i) + 2 * bit(b, i) + bit(c, i)) & 1;
  });
}

template <unsigned Table>
void testLop3() {
  std::string text = "lop3.b32 %d, %a, %b, %c, " + std::to_string(Table) + ";";
  expectLanes(text, lop3<Table>, {}, 2);
  expectWritten(text, lop3<Table>, 3);
}

TEST(BitOperations, Lop3Written) {
  testLop3<0xC0>();
  testLop3<0xE8>();
  testLop3<0x96>();
  testLop3<0xCA>();
  testLop3<0x1E>();
  testLop3<0x00>();
  testLop3<0xFF>();
}

TEST(BitOperations, Lop3Tables) {
  // All tables in one kernel: operands whose bits count through the rows.
  std::string body = ".reg .b32 %r;\n";
  for (unsigned table = 0; table != 256; ++table)
    body += "lop3.b32 %r, 0xF0, 0xCC, 0xAA, " + std::to_string(table) +
            "; st.global.b32 [%out+" + std::to_string(4 * table) + "], %r;\n";
  std::string error;
  std::vector<uint8_t> out = runLanes(body, {}, 8, 1024, error);
  ASSERT_EQ(error, "");
  auto words = fromBytes<uint32_t>(out);
  for (unsigned table = 0; table != 256; ++table)
    EXPECT_EQ(words[256 * 5 + table] & 0xFF, table);
}

TEST(BitOperations, Lop3WithPredicate) {
  expectLanes(
      "lop3.and.b32 _|%d, %a, %b, 0, 0xC0, %c;",
      +[](uint32_t a, uint32_t b, bool c) { return (a & b) && c; });
  expectLanes(
      "lop3.or.b32 _|%d, %a, %b, 0, 0xC0, %c;",
      +[](uint32_t a, uint32_t b, bool c) { return (a & b) || c; });
  expectLanes(
      ".reg .pred %p; lop3.or.b32 %d|%p, %a, %b, 0, 0xFC, 0;",
      +[](uint32_t a, uint32_t b) { return a | b; });
}

template <typename T>
void testShifts() {
  constexpr unsigned width = 8 * sizeof(T);
  std::string bits = std::to_string(width), operands = " %d, %a, %b;";
  auto left = +[](T a, uint32_t n) {
    return fromBits<T>([=](unsigned i) { return i >= n && bit(a, i - n); });
  };
  auto right = +[](T a, uint32_t n) {
    return fromBits<T>(
        [=](unsigned i) { return n < width - i && bit(a, i + n); });
  };
  auto arithmetic = +[](T a, uint32_t n) {
    return fromBits<T>(
        [=](unsigned i) { return bit(a, n < width - i ? i + n : width - 1); });
  };
  expectAll("shl.b" + bits + operands, left, 1);
  expectAll("shr.b" + bits + operands, right, 1);
  expectAll("shr.u" + bits + operands, right, 1);
  expectAll("shr.s" + bits + operands, arithmetic, 1);
  expectWritten("shl.b" + bits + operands, left, 2, Precision::Sound);
  // By constants, of which some shift everything out.
  expectAll(
      "shl.b" + bits + " %d, %a, 5;",
      +[](T a) { return static_cast<T>(a * T(32)); }, 1);
  expectAll(
      "shr.u" + bits + " %d, %a, 5;",
      +[](T a) { return static_cast<T>(a / 32); }, 1);
  expectAll(
      "shl.b" + bits + " %d, %a, " + bits + ";", +[](T) { return T(0); }, 1);
  expectAll(
      "shr.s" + bits + " %d, %a, 255;",
      +[](T a) { return static_cast<T>(bit(a, width - 1) ? ~T(0) : T(0)); }, 1);
}

TEST(BitOperations, Shifts) {
  testShifts<uint16_t>();
  testShifts<uint32_t>();
  testShifts<uint64_t>();
}

template <bool IsLeft, bool Wraps>
uint32_t funnel(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t n = Wraps ? c % 32 : std::min(c, 32u);
  return fromBits<uint32_t>([=](unsigned i) {
    unsigned from = IsLeft ? 32 + i - n : i + n;
    return from < 32 ? bit(a, from) : bit(b, from - 32);
  });
}

TEST(BitOperations, FunnelShifts) {
  expectAll("shf.l.wrap.b32 %d, %a, %b, %c;", funnel<true, true>, 2);
  expectAll("shf.l.clamp.b32 %d, %a, %b, %c;", funnel<true, false>, 2);
  expectAll("shf.r.wrap.b32 %d, %a, %b, %c;", funnel<false, true>, 2);
  expectAll("shf.r.clamp.b32 %d, %a, %b, %c;", funnel<false, false>, 2);
}

template <uint32_t Amount>
void testFunnels() {
  std::string amount = " %d, %a, %b, " + std::to_string(Amount) + ";";
  expectAll(
      "shf.l.wrap.b32" + amount,
      +[](uint32_t a, uint32_t b) { return funnel<true, true>(a, b, Amount); },
      2);
  expectAll(
      "shf.l.clamp.b32" + amount,
      +[](uint32_t a, uint32_t b) { return funnel<true, false>(a, b, Amount); },
      2);
  expectAll(
      "shf.r.wrap.b32" + amount,
      +[](uint32_t a, uint32_t b) { return funnel<false, true>(a, b, Amount); },
      2);
  expectAll(
      "shf.r.clamp.b32" + amount,
      +[](uint32_t a, uint32_t b) {
        return funnel<false, false>(a, b, Amount);
      },
      2);
}

TEST(BitOperations, FunnelShiftsByConstants) {
  testFunnels<0>();
  testFunnels<7>();
  testFunnels<31>();
  testFunnels<32>();
  testFunnels<41>();
}

/// The byte of b:a that `nibble` selects.
uint32_t pick(uint32_t a, uint32_t b, unsigned nibble) {
  uint8_t bytes[8];
  std::memcpy(bytes, &a, 4);
  std::memcpy(bytes + 4, &b, 4);
  uint8_t byte = bytes[nibble % 8];
  return nibble >= 8 ? (byte >= 128 ? 255 : 0) : byte;
}

uint32_t permute(uint32_t a, uint32_t b, uint32_t c) {
  return pick(a, b, c % 16) | pick(a, b, c / 16 % 16) << 8 |
         pick(a, b, c / 256 % 16) << 16 | pick(a, b, c / 4096 % 16) << 24;
}

// The modes by the rule that each name stands for.

uint32_t forward4(uint32_t a, uint32_t b, uint32_t c) {
  unsigned n = c % 4;
  return permute(a, b, n | (n + 1) << 4 | (n + 2) << 8 | (n + 3) << 12);
}
uint32_t backward4(uint32_t a, uint32_t b, uint32_t c) {
  unsigned n = c % 4 + 8;
  return permute(
      a, b, n % 8 | (n - 1) % 8 << 4 | (n - 2) % 8 << 8 | (n - 3) % 8 << 12);
}
uint32_t replicate8(uint32_t a, uint32_t b, uint32_t c) {
  return pick(a, b, c % 4) * 0x01010101;
}
uint32_t clampLeft(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t result = 0;
  for (unsigned i = 0; i != 4; ++i)
    result |= pick(a, b, std::max(i, c % 4)) << (8 * i);
  return result;
}
uint32_t clampRight(uint32_t a, uint32_t b, uint32_t c) {
  uint32_t result = 0;
  for (unsigned i = 0; i != 4; ++i)
    result |= pick(a, b, std::min(i, c % 4)) << (8 * i);
  return result;
}
uint32_t replicate16(uint32_t a, uint32_t, uint32_t c) {
  return (c % 2 ? a >> 16 : a & 0xFFFF) * 0x00010001;
}

TEST(BitOperations, Permutations) {
  std::string operands = " %d, %a, %b, %c;";
  expectAll("prmt.b32" + operands, permute, 2);
  expectAll("prmt.b32.f4e" + operands, forward4, 2);
  expectAll("prmt.b32.b4e" + operands, backward4, 2);
  expectAll("prmt.b32.rc8" + operands, replicate8, 2);
  expectAll("prmt.b32.ecl" + operands, clampLeft, 2);
  expectAll("prmt.b32.ecr" + operands, clampRight, 2);
  expectAll("prmt.b32.rc16" + operands, replicate16, 2);
  expectAll(
      "prmt.b32 %d, %a, %b, 0x5410;",
      +[](uint32_t a, uint32_t b) { return permute(a, b, 0x5410); }, 2);
  expectAll(
      "prmt.b32 %d, %a, %b, 0xFA3C;",
      +[](uint32_t a, uint32_t b) { return permute(a, b, 0xFA3C); }, 2);
  expectAll(
      "prmt.b32.b4e %d, %a, %b, 6;",
      +[](uint32_t a, uint32_t b) { return backward4(a, b, 6); }, 2);
  // The upper half of the selector does not count.
  expectAll(".reg .b32 %s; .reg .b16 %l, %h; mov.b32 {%l, _}, %c;\n"
            "mov.b32 %s, {%l, %h}; prmt.b32 %d, %a, %b, %s;",
            permute, 2);
}

TEST(BitOperations, Errors) {
  std::string registers = ".reg .b32 %r; .reg .pred %p;\n";
  expectError(registers + "lop3.b32 %r, %r, %r, %r, 256;",
              "the table of 'lop3' is 0 to 255, but got 256");
  expectError(registers + "lop3.b32 %r, %r, %r, %r, %r;",
              "expects an integer constant, but got '%r'");
  expectError(registers + "lop3.and.b32 %r, %r, %r, %r, 3, %p;",
              "'lop3.and' expects a register and a predicate as in 'd|p'");
  expectError(registers + "shl.u32 %r, %r, 1;",
              "'shl' expects .b16, .b32 or .b64, but got .u32");
  expectError(registers + "shf.l.b32 %r, %r, %r, 1;",
              "'shf' expects .wrap or .clamp");
  expectError(registers + "and.u32 %r, %r, 1;",
              "'and' expects .pred, .b16, .b32 or .b64, but got .u32");
  expectError(registers + "prmt.b32.f4e.rc8 %r, %r, %r, 1;", "rc8");
}

} // namespace
