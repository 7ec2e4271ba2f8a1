//===- LimitsTest.cpp - Kernels that ask for far too much -----------------===//

#include "Harness.h"
#include "llvm/Support/raw_ostream.h"
#include "gmock/gmock.h"

using namespace tile::emulator;
using testing::HasSubstr;

namespace {

/// The error of a launch of one block of 32 threads.
std::string getError(const std::string &text) {
  llvm::Expected<LaunchResult> result = launch(text, {});
  return result ? "" : llvm::toString(result.takeError());
}

std::string repeat(unsigned count, const std::string &format) {
  std::string text;
  for (unsigned i = 0; i != count; ++i) {
    std::string line = format;
    for (size_t at; (at = line.find('#')) != std::string::npos;)
      line.replace(at, 1, std::to_string(i));
    text += line;
  }
  return text;
}

TEST(Limits, SharedMemory) {
  // 2^32 bytes end where they began if counted in 32 bits.
  EXPECT_THAT(
      getError(makeKernel("", ".shared .b8 s[4294967296];\n"
                              ".reg .b32 %a; mov.u32 %a, s; ret;")),
      HasSubstr("k.ptx:6:13: error: 'k' expects at most 232448 bytes of shared "
                "memory, but needs 4294967296 up to 's'"));
  EXPECT_THAT(
      getError(makeKernel("", ".shared .b8 s[232448]; .shared .b8 u[1];\n"
                              ".reg .b32 %a; mov.u32 %a, s; mov.u32 %a, u;")),
      HasSubstr("needs 232449 up to 'u'"));
  EXPECT_EQ(getError(makeKernel("", ".shared .b8 s[232448];\n"
                                    ".reg .b32 %a; mov.u32 %a, s;")),
            "");
}

TEST(Limits, Parameters) {
  EXPECT_THAT(
      getError(makeKernel(".param .b8 a[4294967296], .param .u64 b", "ret;")),
      HasSubstr("'k' expects at most 32764 bytes of parameters, but needs "
                "4294967296 up to 'a'"));
}

TEST(Limits, ParametersAreNoRegisters) {
  EXPECT_THAT(getError(makeKernel(".reg .b32 x", "ret;")),
              HasSubstr("k.ptx:4:29: error: a kernel expects '.param' "
                        "parameters, but 'x' is a register"));
}

TEST(Limits, LocalMemory) {
  EXPECT_THAT(getError(makeKernel("", ".local .b8 l[524289]; ret;")),
              HasSubstr("'k' expects at most 524288 bytes of local memory, but "
                        "has 524289"));
  EXPECT_EQ(getError(makeKernel("", ".local .b8 l[524288];\n"
                                    "st.local.u8 [l+524287], 1; ret;")),
            "");
  EXPECT_THAT(getError(makeKernel("", ".local .b8 l[16];\n"
                                      "st.local.u8 [l+16], 1; ret;")),
              HasSubstr("out-of-bounds"));
}

TEST(Limits, Recursion) {
  const std::string head = ".version 8.8\n.target sm_90a\n.address_size 64\n";
  const std::string tail = ".visible .entry k()\n{ call f; ret; }\n";
  EXPECT_THAT(getError(head + ".func f() { call f; ret; }\n" + tail),
              HasSubstr("calls are nested too deeply: 4096 deep"));
  EXPECT_THAT(
      getError(head + ".func f() { .local .b8 l[9000]; call f; }\n" + tail),
      HasSubstr("calls are nested too deeply: 59 deep"));
  // Each call takes 4 MiB of registers.
  EXPECT_THAT(
      getError(head + ".func f() { .reg .b32 %r<32768>; call f;\n" +
               repeat(32768, "mov.u32 %r#, 1; ") + "}\n" + tail),
      HasSubstr("calls are nested too deeply: 16 deep, with 0 bytes of local "
                "memory and 67110912 bytes of registers"));
}

TEST(Limits, Registers) {
  EXPECT_THAT(
      getError(makeKernel("", ".reg .b128 %q<140000>; .reg .b64 %d;\n"
                              "mov.u64 %d, 1;\n" +
                                  repeat(140000, "mov.b128 %q#, {%d, %d};\n"))),
      HasSubstr("'k' uses too many registers"));
}

TEST(Limits, LongNames) {
  const std::string name(1 << 20, 'y');
  EXPECT_LT(getError(makeKernel("", name + ";")).size(), 2000u);
  EXPECT_LT(getError(makeKernel("", "trap /* " + name + " */;")).size(), 2000u);
}

TEST(Limits, LargeGridsStopAtAFault) {
  LaunchOptions options;
  options.grid = {2147483647, 65535, 65535};
  options.block = Dim3{1024, 1, 1};
  for (unsigned threads : {1u, 2u}) {
    options.hostThreads = threads;
    llvm::Expected<LaunchResult> result = launch(
        makeKernel("", ".reg .b32 %r; .reg .pred %p; mov.u32 %r, %ctaid.x;\n"
                       "setp.eq.u32 %p, %r, 5; @%p trap; ret;"),
        {}, options);
    ASSERT_FALSE(bool(result));
    EXPECT_THAT(llvm::toString(result.takeError()),
                HasSubstr("block: 5,0,0\n  thread: 0,0,0"));
  }
}

TEST(Limits, TracesAWarpOfTheLaunch) {
  LaunchOptions options;
  options.grid = {2, 1, 1};
  options.block = Dim3{33, 1, 1};
  options.trace.enabled = true;
  options.trace.os = &llvm::nulls();
  auto run = [&](Dim3 block, unsigned warp) {
    options.trace.block = block;
    options.trace.warp = warp;
    llvm::Expected<LaunchResult> result =
        launch(makeKernel("", "ret;"), {}, options);
    return result ? "" : llvm::toString(result.takeError());
  };
  EXPECT_EQ(run({1, 0, 0}, 1), "");
  EXPECT_THAT(run({1, 0, 0}, 2), HasSubstr("a trace expects a warp of the "
                                           "launch, but got warp 2 of block "
                                           "1,0,0"));
  EXPECT_THAT(run({0, 1, 0}, 0), HasSubstr("warp 0 of block 0,1,0"));
}

} // namespace
