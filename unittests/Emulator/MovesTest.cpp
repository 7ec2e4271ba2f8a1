//===- MovesTest.cpp - Moves and addresses --------------------------------===//

#include "LanewiseHarness.h"

#include <cmath>

using namespace tile::emulator;

namespace {

template <typename D, typename... S>
void expectAll(const std::string &instruction, D (*reference)(S...),
               unsigned partial) {
  expectLanes(instruction, reference);
  expectWritten(instruction, reference, partial);
}

template <typename T>
T same(T a) {
  return a;
}

TEST(Moves, Registers) {
  for (const char *type : {"b16", "u16", "s16"})
    expectAll("mov." + std::string(type) + " %d, %a;", same<uint16_t>, 1);
  for (const char *type : {"b32", "u32", "s32", "f32"})
    expectAll("mov." + std::string(type) + " %d, %a;", same<uint32_t>, 1);
  for (const char *type : {"b64", "u64", "s64", "f64"})
    expectAll("mov." + std::string(type) + " %d, %a;", same<uint64_t>, 1);
  expectLanes("mov.pred %d, %a;", same<bool>);
  expectLanes(
      "mov.pred %d, !%a;", +[](bool a) { return !a; });
  expectLanes(
      "mov.pred %d, 1;", +[](bool) { return true; });
  expectLanes(
      "mov.pred %d, 0;", +[](bool) { return false; });
}

TEST(Moves, Constants) {
  expectLanes(
      "mov.b16 %d, 0xFFFE;", +[](uint32_t) { return uint16_t(0xFFFE); });
  expectLanes(
      "mov.s32 %d, -7;", +[](uint32_t) { return uint32_t(-7); });
  expectLanes(
      "mov.u64 %d, 0x123456789ABCDEF0;",
      +[](uint32_t) { return uint64_t(0x123456789ABCDEF0); });
  expectLanes(
      "mov.f32 %d, 0f3F800001;", +[](uint32_t) { return 0x3F800001u; });
  expectLanes(
      "mov.f64 %d, 0d3FF0000000000001;",
      +[](uint32_t) { return uint64_t(0x3FF0000000000001); });
}

TEST(Moves, Pack) {
  expectAll(
      "mov.b32 %d, {%a, %b};",
      +[](uint16_t a, uint16_t b) { return a + 0x10000u * b; }, 2);
  expectAll(
      "mov.b64 %d, {%a, %b};",
      +[](uint32_t a, uint32_t b) { return a + 0x100000000u * b; }, 2);
  expectAll(
      "mov.b64 %d, {%a, %b, %c, %e};",
      +[](uint16_t a, uint16_t b, uint16_t c, uint16_t e) {
        return a + 0x10000u * (b + 0x10000u * (c + 0x10000u * uint64_t(e)));
      },
      2);
  expectAll(
      "mov.b32 %d, {%a, 5};", +[](uint16_t a) { return a + 0x50000u; }, 1);
}

TEST(Moves, Unpack) {
  expectAll(
      ".reg .b16 %x, %y; mov.b32 {%x, %d}, %a;",
      +[](uint32_t a) { return uint16_t(a / 0x10000); }, 1);
  expectAll(
      "mov.b32 {%d, _}, %a;", +[](uint32_t a) { return uint16_t(a % 0x10000); },
      1);
  expectAll(
      "mov.b64 {_, %d}, %a;",
      +[](uint64_t a) { return uint32_t(a / 0x100000000); }, 1);
  expectAll(
      ".reg .b16 %x, %y, %z, %w; mov.b64 {%x, %y, %z, %w}, %a;\n"
      "mov.b64 %d, {%w, %x, %y, %z};",
      +[](uint64_t a) { return a * 0x10000 + a / 0x1000000000000; }, 1);
}

TEST(Moves, Bytes) {
  expectAll(
      ".reg .b8 %x, %y, %z, %w; mov.b32 {%x, %y, %z, %w}, %a;\n"
      "mov.b32 %d, {%w, %z, %y, %x};",
      +[](uint32_t a) { return __builtin_bswap32(a); }, 1);
  expectAll(
      ".reg .b8 %x, %y; mov.b16 {%x, %y}, %a; mov.b16 %d, {%y, %x};",
      +[](uint16_t a) { return __builtin_bswap16(a); }, 1);
}

TEST(Moves, Of128Bits) {
  expectAll(
      ".reg .b128 %q, %s; mov.b128 %q, {%a, %b}; mov.b128 %s, %q;\n"
      "mov.b128 {_, %d}, %s;",
      +[](uint64_t, uint64_t b) { return b; }, 2);
  expectAll(
      ".reg .b128 %q; .reg .b32 %x, %y;\nmov.b128 %q, {%a, %b};\n"
      "mov.b128 {_, %x, %y, _}, %q; mov.b64 %d, {%x, %y};",
      +[](uint64_t a, uint64_t b) { return a >> 32 | b << 32; }, 2);
}

TEST(Moves, VectorRegisters) {
  expectAll(
      ".reg .v2 .b32 %v; mov.b64 %v, %a; mov.b32 %d, %v.y;",
      +[](uint64_t a) { return uint32_t(a >> 32); }, 1);
  expectAll(
      ".reg .v2 .b32 %v; mov.b32 %v.x, %b; mov.b32 %v.y, %a;\n"
      "mov.b64 %d, %v;",
      +[](uint32_t a, uint32_t b) { return uint64_t(a) << 32 | b; }, 2);
}

TEST(Moves, UnwrittenParts) {
  // Garbage that is dropped is no report; garbage that is stored is one.
  std::string start = ".reg .b16 %h, %u, %x, %y; .reg .b32 %r;\n"
                      "mov.b16 %h, 3; mov.b32 %r, {%h, %u};\n"
                      "mov.b32 {%x, %y}, %r;\n";
  EXPECT_EQ(getError(start + "st.global.b16 [%out], %x;"), "");
  expectError(start + "st.global.b16 [%out], %y;", "[uninitialized]");
  expectError(start + "st.global.b32 [%out], %r;", "[uninitialized]");
}

TEST(Moves, Clocks) {
  std::string error;
  std::vector<uint8_t> out = runLanes(
      ".reg .b64 %s, %e; .reg .b32 %l, %h, %n;\n"
      "mov.u64 %s, %clock64; mov.u32 %l, %clock; mov.u32 %h, %clock_hi;\n"
      "add.u32 %n, %l, %h; mov.u64 %e, %clock64; sub.u64 %e, %e, %s;\n"
      "st.global.b64 [%out], %e; mov.u64 %s, %globaltimer;\n"
      "mov.u32 %l, %globaltimer_lo; mov.u32 %h, %globaltimer_hi;\n"
      "mov.u64 %e, %globaltimer; sub.u64 %e, %e, %s;\n"
      "st.global.b64 [%out+8], %e;",
      {}, 8, 16, error);
  ASSERT_EQ(error, "");
  auto words = fromBytes<uint64_t>(out);
  // Time goes on, in instructions.
  EXPECT_GE(words[0], 1u);
  EXPECT_LE(words[0], 16u);
  EXPECT_GE(words[1], 1u);
  EXPECT_LE(words[1], 16u);
}

TEST(Moves, Select) {
  auto choose = +[](uint32_t a, uint32_t b, bool c) { return c ? a : b; };
  for (const char *type : {"b32", "u32", "s32", "f32"})
    expectLanes("selp." + std::string(type) + " %d, %a, %b, %c;", choose);
  expectLanes(
      "selp.b16 %d, %a, %b, %c;",
      +[](uint16_t a, uint16_t b, bool c) { return c ? a : b; });
  expectLanes(
      "selp.f64 %d, %a, %b, !%c;",
      +[](uint64_t a, uint64_t b, bool c) { return c ? b : a; });
  // With a known predicate the other operand does not count.
  expectWritten(
      ".reg .pred %p; setp.lt.u32 %p, %lane, 9;\n"
      "selp.b32 %a, %a, %c, %p; selp.b32 %d, %a, %b, %p;",
      +[](uint32_t a, uint32_t b, uint32_t) { return a; }, 0, Precision::Sound);
  std::string start = ".reg .pred %p, %u; .reg .b32 %r, %g;\n"
                      "setp.eq.u32 %p, 1, 1;\n";
  EXPECT_EQ(getError(start + "selp.b32 %r, 7, %g, %p;\n"
                             "st.global.b32 [%out], %r;"),
            "");
  expectError(start + "selp.b32 %r, %g, 7, %p; st.global.b32 [%out], %r;",
              "[uninitialized]");
  // With an unwritten one, what both have in common does.
  EXPECT_EQ(getError(start + "selp.b32 %r, 7, 5, %u; and.b32 %r, %r, 5;\n"
                             "st.global.b32 [%out], %r;"),
            "");
  expectError(start + "selp.b32 %r, 7, 5, %u; st.global.b32 [%out], %r;",
              "[uninitialized]");
}

TEST(Moves, SelectBySign) {
  expectLanes(
      "slct.b32.s32 %d, %a, %b, %c;",
      +[](uint32_t a, uint32_t b, int32_t c) { return c >= 0 ? a : b; });
  expectLanes(
      "slct.u64.s32 %d, %a, %b, %c;",
      +[](uint64_t a, uint64_t b, int32_t c) { return c >= 0 ? a : b; });
  expectLanes(
      "slct.s16.f32 %d, %a, %b, %c;", +[](uint16_t a, uint16_t b, uint32_t c) {
        bool isNan = (c & 0x7FFFFFFF) > 0x7F800000;
        bool isNegative = c > 0x80000000;
        return isNan || isNegative ? b : a;
      });
  expectLanes(
      "slct.ftz.f32.f32 %d, %a, %b, %c;",
      +[](uint32_t a, uint32_t b, uint32_t c) {
        bool isNan = (c & 0x7FFFFFFF) > 0x7F800000;
        bool isNegative = c >= 0x80800000;
        return isNan || isNegative ? b : a;
      });
  expectWritten(
      "slct.b32.s32 %d, %a, %b, %c;",
      +[](uint32_t a, uint32_t b, int32_t c) { return c >= 0 ? a : b; }, 2,
      Precision::Sound);
}

/// A kernel over a variable of each space, with `body` at its end.
std::string run(const std::string &body, std::vector<uint8_t> &out) {
  std::string text =
      makeKernel(".param .u64 pout, .param .u32 pvalue",
                 ".shared .align 8 .b32 shared_word[4]; .local .align 8 .b32 "
                 "local_word[4];\n"
                 ".reg .b64 %out, %a, %b; .reg .b32 %r, %s; .reg .pred %p;\n"
                 "ld.param.u64 %out, [pout];\n" +
                     body + "\nret;");
  // Module variables stand before the entry.
  size_t entry = text.find(".visible");
  text.insert(entry, ".const .align 4 .b32 const_word[2] = {77, 78};\n"
                     ".global .align 4 .b32 global_word[2] = {88, 89};\n");
  llvm::Expected<std::unique_ptr<Module>> module = Module::load(text, "k.ptx");
  if (!module)
    return llvm::toString(module.takeError());
  Memory memory;
  llvm::Expected<uint64_t> address =
      memory.map("out", out, Memory::Access::ReadWrite);
  if (!address)
    return llvm::toString(address.takeError());
  uint32_t value = 99;
  LaunchOptions options;
  options.block = Dim3{1, 1, 1};
  llvm::Expected<LaunchResult> result = (*module)->launch(
      "k", memory,
      {llvm::ArrayRef<uint8_t>(reinterpret_cast<uint8_t *>(&*address), 8),
       llvm::ArrayRef<uint8_t>(reinterpret_cast<uint8_t *>(&value), 4)},
      options);
  return result ? "" : llvm::toString(result.takeError());
}

TEST(Moves, AddressesOfSpaces) {
  std::vector<uint8_t> out(64, 0xFF);
  // Each variable through its own space and through generic addresses.
  std::string error = run(
      "st.shared.b32 [shared_word+4], 11; cvta.shared.u64 %a, shared_word;\n"
      "ld.b32 %r, [%a+4]; st.global.b32 [%out], %r;\n"
      "cvta.to.shared.u64 %b, %a; ld.shared.b32 %r, [%b+4];\n"
      "st.global.b32 [%out+4], %r;\n"
      "mov.u64 %b, local_word; st.local.b32 [%b+8], 22;\n"
      "cvta.local.u64 %a, %b; ld.b32 %r, [%a+8];\n"
      "st.global.b32 [%out+8], %r; cvta.to.local.u64 %b, %a;\n"
      "ld.local.b32 %r, [%b+8]; st.global.b32 [%out+12], %r;\n"
      "mov.u64 %b, global_word; cvta.global.u64 %a, %b;\n"
      "ld.b32 %r, [%a+4]; st.global.b32 [%out+16], %r;\n"
      "cvta.to.global.u64 %b, %a; ld.global.b32 %r, [%b];\n"
      "st.global.b32 [%out+20], %r;\n"
      "mov.u64 %b, const_word; cvta.const.u64 %a, %b; ld.b32 %r, [%a];\n"
      "st.global.b32 [%out+24], %r; cvta.to.const.u64 %b, %a;\n"
      "ld.const.b32 %r, [%b+4]; st.global.b32 [%out+28], %r;\n"
      "mov.u64 %b, pvalue; cvta.param.u64 %a, %b; ld.b32 %r, [%a];\n"
      "st.global.b32 [%out+32], %r;",
      out);
  ASSERT_EQ(error, "");
  auto words = fromBytes<uint32_t>(out);
  const uint32_t expected[] = {11, 11, 22, 22, 89, 88, 77, 78, 99};
  for (unsigned i = 0; i != 9; ++i)
    EXPECT_EQ(words[i], expected[i]) << i;
}

TEST(Moves, IsSpace) {
  std::vector<uint8_t> out(4 * 5 * 5, 0xFF);
  std::string body;
  const char *spaces[] = {"shared", "local", "global", "const", "param"};
  const char *variables[] = {"shared_word", "local_word", "global_word",
                             "const_word", "pvalue"};
  for (unsigned i = 0; i != 5; ++i) {
    body += std::string("mov.u64 %b, ") + variables[i] + "; cvta." + spaces[i] +
            ".u64 %a, %b;\n";
    for (unsigned k = 0; k != 5; ++k)
      body += std::string("isspacep.") + spaces[k] +
              " %p, %a; selp.u32 %r, 1, 0, %p; st.global.b32 [%out+" +
              std::to_string(20 * i + 4 * k) + "], %r;\n";
  }
  ASSERT_EQ(run(body, out), "");
  auto words = fromBytes<uint32_t>(out);
  for (unsigned i = 0; i != 5; ++i)
    for (unsigned k = 0; k != 5; ++k)
      EXPECT_EQ(words[5 * i + k], i == k) << variables[i] << " " << spaces[k];
}

TEST(Moves, Clusters) {
  std::vector<uint8_t> out(16, 0xFF);
  ASSERT_EQ(run("mov.u32 %r, shared_word; mapa.shared::cluster.u32 %s, %r, 0;\n"
                "sub.u32 %r, %r, %s; st.global.b32 [%out], %r;\n"
                "getctarank.shared::cluster.u32 %r, %s;\n"
                "st.global.b32 [%out+4], %r; cvta.shared.u64 %a, shared_word;\n"
                "mapa.u64 %b, %a, 0; sub.u64 %a, %a, %b;\n"
                "st.global.b64 [%out+8], %a;",
                out),
            "");
  EXPECT_EQ(out, std::vector<uint8_t>(16, 0));
  std::string error =
      run("mov.u32 %r, shared_word; mapa.shared::cluster.u32 %s, %r, 1;", out);
  EXPECT_NE(error.find("expects a rank in the cluster, which has 1 block, but "
                       "got rank 1 [illegal-operand]"),
            std::string::npos)
      << error;
}

TEST(Moves, CacheHints) {
  std::vector<uint8_t> out(128, 0xAB);
  ASSERT_EQ(run("prefetch.global.L1 [%out]; prefetch.global.L2 [%out+64];\n"
                "prefetch.global.L2::evict_last [%out]; prefetch.L1 [%out];\n"
                "prefetchu.L1 [%out]; discard.global.L2 [%out], 128;\n"
                "applypriority.global.L2::evict_normal [%out], 128;\n"
                "createpolicy.fractional.L2::evict_last.b64 %a, 0.5;\n"
                "createpolicy.fractional.L2::evict_first.L2::evict_unchanged."
                "b64 %a;\n"
                "createpolicy.range.L2::evict_last.L2::evict_unchanged.b64 %a, "
                "[%out], 64, 128;\nst.global.b64 [%out], %a;",
                out),
            "");
  EXPECT_EQ(out[8], 0xAB);
}

TEST(Moves, Errors) {
  std::string registers = ".reg .b32 %r; .reg .b64 %w; .reg .b16 %h;\n"
                          ".reg .pred %p;\n";
  expectError(registers + "mov.u32 {%h, %h}, %r;",
              "'mov.u32' has no form with 2 elements");
  expectError(registers + "mov.b64 %w, {%r, %r, %r};",
              "'mov.b64' has no form with 3 elements");
  expectError(registers + "mov.b64 %w, {%h, %h};", "'%h', which is .b16");
  expectError(registers + "mov.u32 %r, %clock64;",
              "'%clock64' has 64 bits, but got .u32");
  expectError(registers + "mov.f16 %h, %h;", "but got .f16");
  expectError(registers + "mov.u32 %r, %w;", "'%w', which is .b64");
  expectError(registers + "cvta.shared.u32 %r, %r;",
              "'cvta' expects .u64, but got .u32");
  expectError(registers + "isspacep.tex %p, %w;", "'isspacep' expects .const");
  expectError(registers + "discard.global.L2 [%w], 64;",
              "expects a size of 128, but got 64");
  expectError(registers + "mapa.u64 %w, %w, 0;", "needs sm_90 or later",
              {"sm_80", "8.0"});
  expectError(registers + "slct.b32.u32 %r, %r, %r, %r;",
              "'slct' expects .s32 or .f32, but got .u32");
}

} // namespace
