//===- CallsTest.cpp - What goes in and out of device functions -----------===//

#include "Harness.h"
#include "llvm/Support/raw_ostream.h"
#include "gmock/gmock.h"

using namespace tile::emulator;
using testing::HasSubstr;

namespace {

/// A module of device functions and an entry `k` with a pointer `out` in %o,
/// the lane's number in %t, and %o + 4 * %t in %p.
std::string makeModule(llvm::StringRef functions, llvm::StringRef body) {
  return (".version 8.8\n.target sm_90a\n.address_size 64\n" + functions +
          "\n.visible .entry k(.param .u64 out)\n{\n"
          ".reg .b64 %o, %p, %d<4>; .reg .b32 %t, %r<8>; .reg .pred %q<4>;\n"
          "ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;\n"
          "mad.wide.u32 %p, %t, 4, %o;\n" +
          body + "\nret;\n}\n")
      .str();
}

/// The text of the error, or what the lanes have stored.
std::string run(const std::string &text, std::vector<uint32_t> &values) {
  std::vector<uint8_t> out(128, 0xFF);
  llvm::Expected<LaunchResult> result = launch(text, {&out});
  values = fromBytes<uint32_t>(out);
  return result ? "" : llvm::toString(result.takeError());
}

std::string getError(const std::string &text) {
  std::vector<uint32_t> values;
  return run(text, values);
}

const char identity[] =
    ".func (.param .b32 r) f(.param .b32 a)\n"
    "{ .reg .b32 %x; ld.param.b32 %x, [a]; st.param.b32 [r], %x; ret; }\n";

TEST(Calls, PassesPredicates) {
  std::vector<uint32_t> values;
  std::string error =
      run(makeModule(".func (.reg .pred %r) f(.reg .pred %a, .reg .pred %b)\n"
                     "{ xor.pred %r, %a, %b; ret; }\n",
                     "setp.lt.u32 %q0, %t, 20; setp.gt.u32 %q1, %t, 9;\n"
                     "call (%q2), f, (%q0, %q1);\n"
                     "selp.u32 %r0, 5, 7, %q2; st.global.u32 [%p], %r0;"),
          values);
  EXPECT_EQ(error, "");
  for (unsigned i = 0; i != 32; ++i)
    EXPECT_EQ(values[i], (i < 20) != (i > 9) ? 5u : 7u) << i;
}

TEST(Calls, PassesUnwrittenPredicates) {
  EXPECT_THAT(getError(makeModule(".func (.reg .pred %r) f(.reg .pred %a)\n"
                                  "{ mov.pred %r, %a; ret; }\n",
                                  "call (%q2), f, (%q0); @%q2 bra L; L:")),
              HasSubstr("an unwritten value decides a branch"));
}

TEST(Calls, PassesLargeStructures) {
  std::vector<uint32_t> values;
  std::string error =
      run(makeModule(".func (.param .b32 r) f(.param .b8 a[9000])\n"
                     "{ .reg .b32 %x; ld.param.b32 %x, [a+8996];\n"
                     "st.param.b32 [r], %x; ret; }\n",
                     "{ .param .b8 a[9000]; .param .b32 r;\n"
                     "st.param.b32 [a+8996], %t; call (r), f, (a);\n"
                     "ld.param.b32 %r0, [r]; st.global.u32 [%p], %r0; }"),
          values);
  EXPECT_EQ(error, "");
  for (unsigned i = 0; i != 32; ++i)
    EXPECT_EQ(values[i], i);
}

TEST(Calls, PassesConstants) {
  std::vector<uint32_t> values;
  std::string error = run(makeModule(identity, "call (%r0), f, (-9);\n"
                                               "st.global.u32 [%p], %r0;"),
                          values);
  EXPECT_EQ(error, "");
  EXPECT_EQ(values[31], uint32_t(-9));
}

TEST(Calls, RejectsOtherSizes) {
  EXPECT_THAT(
      getError(makeModule(identity, "{ .param .b64 a; .param .b32 r;\n"
                                    "call (r), f, (a); }")),
      HasSubstr("the called function expects 4 bytes, but got 'a' of 8 bytes"));
  EXPECT_THAT(
      getError(makeModule(identity, "call (%d0), f, (%r0);")),
      HasSubstr(
          "the called function expects 4 bytes, but got '%d0' of 8 bytes"));
  EXPECT_THAT(getError(makeModule(identity, "call (%r0), f, (%q0);")),
              HasSubstr("expects 4 bytes, but got '%q0', a predicate"));
  EXPECT_THAT(getError(makeModule(identity, "call (%r0), f, (%r1, %r2);")),
              HasSubstr("'f' expects 1 parameters and 1 results"));
}

TEST(Calls, RejectsOtherResults) {
  EXPECT_THAT(getError(makeModule(identity, "call (5), f, (%r0);")),
              HasSubstr("expects a register or a '.param' variable for the "
                        "result, but got '5'"));
  EXPECT_THAT(getError(makeModule(identity, "call (%r0), f, (out);")),
              HasSubstr("expects a '.param' variable of the function's body, "
                        "but got 'out'"));
  EXPECT_THAT(getError(makeModule(identity, "call (%r0), (%r1), f, (%r0);")),
              HasSubstr("'call' expects one list"));
}

TEST(Calls, RejectsAddressesOfNoFunction) {
  // The last two are the keys that a hash table keeps for itself.
  for (const char *address : {"0", "17", "0xfffffffffffffffe", "-1"})
    EXPECT_THAT(
        getError(makeModule(identity, "mov.u64 %d0, " + std::string(address) +
                                          "; call (%r0), %d0, (%r1), P;\n"
                                          "P: .callprototype (.param .b32 _) _ "
                                          "(.param .b32 _);")),
        HasSubstr("the address of a call is no device function's"));
}

TEST(Calls, RejectsOtherSizesThroughPointers) {
  EXPECT_THAT(
      getError(makeModule(identity, "mov.u64 %d0, f;\n"
                                    "call (%r0), %d0, (%d1), P;\n"
                                    "P: .callprototype (.param .b32 _) _ "
                                    "(.param .b64 _);")),
      HasSubstr("the called function has other parameters than the call"));
}

TEST(Calls, RejectsOtherSizesOfBuiltins) {
  const char print[] =
      ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n";
  EXPECT_THAT(getError(makeModule(print, "call (%q0), vprintf, (%d0, %d1);")),
              HasSubstr("expects 4 bytes, but got '%q0', a predicate"));
  EXPECT_THAT(
      getError(makeModule(print, "{ .param .b8 r; call (r), vprintf, (%d0, "
                                 "%d1); }")),
      HasSubstr("expects 4 bytes, but got 'r' of 1 bytes"));
  EXPECT_THAT(getError(makeModule(print, "call (%r0), vprintf, (%d0);")),
              HasSubstr("'vprintf' expects 2 parameters, but got 1"));
}

/// What `vprintf` of `pattern` prints for one argument of eight bytes.
std::string print(llvm::StringRef pattern, llvm::StringRef value) {
  std::string bytes;
  for (char c : pattern)
    bytes += std::to_string(static_cast<unsigned>(c)) + ", ";
  std::string text;
  llvm::raw_string_ostream os(text);
  LaunchOptions options;
  options.block = Dim3{1, 1, 1};
  options.output = &os;
  std::vector<uint8_t> out(4);
  llvm::Expected<LaunchResult> result = launch(
      makeModule(".extern .func (.param .b32 r) vprintf(.param .b64 a, .param "
                 ".b64 b);\n.global .b8 s[] = {" +
                     bytes + "0};",
                 (".local .b64 l[2]; st.local.b64 [l], " + value +
                  "; mov.u64 %d0, s; mov.u64 %d1, l; cvta.local.u64 %d1, %d1;\n"
                  "call (%r0), vprintf, (%d0, %d1);")
                     .str()),
      {&out}, options);
  if (!result)
    return llvm::toString(result.takeError());
  return text;
}

TEST(Calls, PrintsWhateverThePatternSays) {
  EXPECT_EQ(print("<%lld>", "-7"), "<-7>");
  EXPECT_EQ(print("<%5.2f>", "0x4004000000000000"), "< 2.50>");
  // A width, given or as an argument, that no buffer has.
  EXPECT_EQ(print("%600d", "5").size(), 511u);
  EXPECT_EQ(print("%99999999999d", "5").size(), 511u);
  EXPECT_EQ(print("%*d", "0x7fffffff").size(), 511u);
  EXPECT_EQ(print("%.99999999999d", "5").size(), 511u);
  EXPECT_EQ(print("<%**d>", "5"), "<%5*d>");
  EXPECT_EQ(print("<%.*f>", "-3"), "<0.000000>");
  // Nothing is written through %n, and nothing is read past the end.
  EXPECT_EQ(print("<%n>", "5"), "<%n>");
  EXPECT_EQ(print("<%", "5"), "<");
  EXPECT_EQ(print("<%s>", "0x123456789"), "<>");
}

} // namespace
