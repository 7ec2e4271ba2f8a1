//===- BitFieldsTest.cpp - Bit fields, counting and finding ---------------===//

#include "LanewiseHarness.h"

using namespace tile::emulator;

namespace {

template <typename T>
bool bit(T value, unsigned i) {
  return value >> i & 1;
}

/// A field of `c` bits at `b`, bit by bit; what is beyond is `sign`.
template <typename T, bool IsSigned>
T extract(T a, uint32_t b, uint32_t c) {
  constexpr unsigned msb = 8 * sizeof(T) - 1;
  unsigned position = b % 256, length = c % 256;
  bool sign =
      IsSigned && length && bit(a, std::min(position + length - 1, msb));
  T result = 0;
  for (unsigned i = 0; i <= msb; ++i)
    if (i < length && position + i <= msb ? bit(a, position + i) : sign)
      result |= T(1) << i;
  return result;
}

template <typename T>
T insert(T a, T b, uint32_t c, uint32_t d) {
  unsigned position = c % 256, length = d % 256;
  for (unsigned i = 0; i < length && position + i < 8 * sizeof(T); ++i) {
    b &= ~(T(1) << (position + i));
    b |= T(bit(a, i)) << (position + i);
  }
  return b;
}

template <bool Clamps>
uint32_t makeMask(uint32_t a, uint32_t b) {
  if (!Clamps) {
    a %= 32;
    b %= 32;
  }
  uint32_t result = 0;
  for (uint64_t i = a; i < 32 && i < uint64_t(a) + b; ++i)
    result |= 1u << i;
  return result;
}

template <bool IsSigned, bool Clamps>
uint32_t extend(uint32_t a, uint32_t b) {
  if (!Clamps)
    b %= 32;
  if (b >= 32)
    return a;
  uint32_t result = 0;
  for (unsigned i = 0; i != 32; ++i)
    if (i < b ? bit(a, i) : IsSigned && b && bit(a, b - 1))
      result |= 1u << i;
  return result;
}

template <typename T, bool FromTop>
uint32_t findTop(T a) {
  constexpr unsigned width = 8 * sizeof(T);
  bool isNegative = std::is_signed_v<T> && a < 0;
  for (unsigned i = width; i-- != 0;)
    if (bit(a, i) != isNegative)
      return FromTop ? width - 1 - i : i;
  return ~0u;
}

template <typename T>
uint32_t countLeadingZeros(T a) {
  uint32_t count = 0;
  for (unsigned i = 8 * sizeof(T); i-- != 0 && !bit(a, i);)
    ++count;
  return count;
}

template <typename T>
uint32_t countOnes(T a) {
  uint32_t count = 0;
  for (unsigned i = 0; i != 8 * sizeof(T); ++i)
    count += bit(a, i);
  return count;
}

template <typename T>
T reverse(T a) {
  T result = 0;
  for (unsigned i = 0; i != 8 * sizeof(T); ++i)
    result = static_cast<T>(result << 1 | bit(a, i));
  return result;
}

uint32_t findNth(uint32_t mask, uint32_t base, int32_t offset) {
  std::vector<unsigned> found;
  base %= 32;
  if (offset == 0)
    return bit(mask, base) ? base : ~0u;
  for (unsigned i = base; i<32; offset> 0 ? ++i : --i) // Wraps below 0.
    if (bit(mask, i))
      found.push_back(i);
  uint64_t n = offset > 0 ? uint64_t(offset) : 0 - uint64_t(int64_t(offset));
  return n <= found.size() ? found[n - 1] : ~0u;
}

TEST(BitFields, Extract) {
  std::string operands = " %d, %a, %b, %c;";
  expectLanes("bfe.u32" + operands, extract<uint32_t, false>, {}, 30);
  expectLanes("bfe.s32" + operands, extract<uint32_t, true>, {}, 30);
  expectLanes("bfe.u64" + operands, extract<uint64_t, false>, {}, 30);
  expectLanes("bfe.s64" + operands, extract<uint64_t, true>, {}, 30);
  expectWritten("bfe.u32" + operands, extract<uint32_t, false>, 1);
  expectWritten("bfe.s32" + operands, extract<uint32_t, true>, 1);
  expectWritten(
      "bfe.s64 %d, %a, 7, 13;",
      +[](uint64_t a) { return extract<uint64_t, true>(a, 7, 13); }, 1);
  expectWritten("bfe.u32" + operands, extract<uint32_t, false>, 3,
                Precision::Sound);
}

TEST(BitFields, Insert) {
  std::string operands = " %d, %a, %b, %c, %e;";
  expectLanes("bfi.b32" + operands, insert<uint32_t>, {}, 30);
  expectLanes("bfi.b64" + operands, insert<uint64_t>, {}, 30);
  expectWritten("bfi.b32" + operands, insert<uint32_t>, 2);
  expectWritten("bfi.b64" + operands, insert<uint64_t>, 2);
}

template <uint32_t First, uint32_t Second>
void testConstants() {
  std::string constants =
      ", " + std::to_string(First) + ", " + std::to_string(Second) + ";";
  auto both = [](const std::string &text, auto reference, unsigned partial) {
    expectLanes(text, reference);
    expectWritten(text, reference, partial);
  };
  both(
      "bfe.u32 %d, %a" + constants,
      +[](uint32_t a) { return extract<uint32_t, false>(a, First, Second); },
      1);
  both(
      "bfe.s32 %d, %a" + constants,
      +[](uint32_t a) { return extract<uint32_t, true>(a, First, Second); }, 1);
  both(
      "bfe.u64 %d, %a" + constants,
      +[](uint64_t a) { return extract<uint64_t, false>(a, First, Second); },
      1);
  both(
      "bfi.b32 %d, %a, %b" + constants,
      +[](uint32_t a, uint32_t b) {
        return insert<uint32_t>(a, b, First, Second);
      },
      2);
  both(
      "bfi.b64 %d, %a, %b" + constants,
      +[](uint64_t a, uint64_t b) {
        return insert<uint64_t>(a, b, First, Second);
      },
      2);
}

TEST(BitFields, Constants) {
  testConstants<4, 8>();
  testConstants<0, 32>();
  testConstants<31, 1>();
  testConstants<20, 60>();
  testConstants<5, 0>();
  testConstants<40, 3>();
  testConstants<255, 255>();
  testConstants<0x10003, 0x20005>(); // Eight bits count.
}

TEST(BitFields, Masks) {
  expectLanes("bmsk.clamp.b32 %d, %a, %b;", makeMask<true>, {}, 30);
  expectLanes("bmsk.wrap.b32 %d, %a, %b;", makeMask<false>, {}, 30);
  expectWritten("bmsk.wrap.b32 %d, %a, %b;", makeMask<false>, 2,
                Precision::Sound);
}

TEST(BitFields, Extend) {
  expectLanes("szext.clamp.u32 %d, %a, %b;", extend<false, true>, {}, 30);
  expectLanes("szext.wrap.u32 %d, %a, %b;", extend<false, false>, {}, 30);
  expectLanes("szext.clamp.s32 %d, %a, %b;", extend<true, true>, {}, 30);
  expectLanes("szext.wrap.s32 %d, %a, %b;", extend<true, false>, {}, 30);
  expectWritten("szext.wrap.s32 %d, %a, %b;", extend<true, false>, 1);
  expectWritten("szext.clamp.u32 %d, %a, %b;", extend<false, true>, 1);
}

TEST(BitFields, FindTop) {
  expectLanes("bfind.u32 %d, %a;", findTop<uint32_t, false>);
  expectLanes("bfind.s32 %d, %a;", findTop<int32_t, false>);
  expectLanes("bfind.u64 %d, %a;", findTop<uint64_t, false>);
  expectLanes("bfind.s64 %d, %a;", findTop<int64_t, false>);
  expectLanes("bfind.shiftamt.u32 %d, %a;", findTop<uint32_t, true>);
  expectLanes("bfind.shiftamt.s64 %d, %a;", findTop<int64_t, true>);
}

TEST(BitFields, Counts) {
  expectLanes("clz.b32 %d, %a;", countLeadingZeros<uint32_t>);
  expectLanes("clz.b64 %d, %a;", countLeadingZeros<uint64_t>);
  expectLanes("popc.b32 %d, %a;", countOnes<uint32_t>);
  expectLanes("popc.b64 %d, %a;", countOnes<uint64_t>);
  expectWritten("popc.b32 %d, %a;", countOnes<uint32_t>, 1, Precision::Sound);
}

TEST(BitFields, Reverse) {
  expectLanes("brev.b32 %d, %a;", reverse<uint32_t>);
  expectLanes("brev.b64 %d, %a;", reverse<uint64_t>);
  expectWritten("brev.b32 %d, %a;", reverse<uint32_t>, 1);
  expectWritten("brev.b64 %d, %a;", reverse<uint64_t>, 1);
}

TEST(BitFields, FindNth) {
  expectLanes("and.b32 %b, %b, 31; fns.b32 %d, %a, %b, %c;", findNth, {}, 30);
  // The examples of the ISA.
  expectLanes(
      "fns.b32 %d, 0xaaaaaaaa, 3, 1;", +[](uint32_t) { return 3u; });
  expectLanes(
      "fns.b32 %d, 0xaaaaaaaa, 2, -1;", +[](uint32_t) { return 1u; });
}

TEST(BitFields, Errors) {
  std::string registers = ".reg .b32 %r; .reg .b64 %w;\n";
  expectError(registers + "bfe.b32 %r, %r, 1, 2;",
              "'bfe' expects .u32, .u64, .s32 or .s64, but got .b32");
  expectError(registers + "bfi.b32 %r, %r, %r, 1;",
              "'bfi' expects 5 operands, but got 4");
  expectError(registers + "bmsk.b32 %r, 1, 2;",
              "'bmsk' expects .clamp or .wrap");
  expectError(registers + "popc.b64 %w, %w;", "'%w', which is .b64");
}

} // namespace
