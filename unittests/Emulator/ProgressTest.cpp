//===- ProgressTest.cpp - Lanes that could wait but must not --------------===//
//
// A lane that has come to where its warp's lanes would meet again may go on
// without the others. It must, where these wait for something that it does
// later.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "gmock/gmock.h"

using namespace tile::emulator;
using testing::HasSubstr;

namespace {

/// Runs `body` for one warp; %t is the lane, %q1 is set in lane 6, and %p is
/// where lane 6 stores 1 in global memory.
std::string run(llvm::StringRef body, llvm::StringRef functions = "") {
  std::vector<uint8_t> out(4);
  LaunchOptions options;
  options.stepLimit = 1 << 20;
  llvm::Expected<LaunchResult> result =
      launch((".version 8.8\n.target sm_90a\n.address_size 64\n" + functions +
              "\n.visible .entry k(.param .u64 out)\n{\n"
              ".reg .b64 %p, %d; .reg .b32 %t, %m, %r<4>; .reg .pred %q<4>;\n"
              ".shared .b64 bar;\n"
              "ld.param.u64 %p, [out]; mov.u32 %t, %tid.x; mov.u32 %m, bar;\n"
              "setp.eq.u32 %q1, %t, 6;\n" +
              body + "\nret;\n}\n")
                 .str(),
             {&out}, options);
  if (!result)
    return llvm::toString(result.takeError());
  return std::to_string(out[0]);
}

TEST(Progress, PastAMeetingPointToABarrier) {
  EXPECT_EQ(run("@%q1 bra MEET; barrier.sync 1;\n"
                "MEET: @!%q1 bra DONE; st.global.u32 [%p], 1; barrier.sync 1;\n"
                "DONE:"),
            "1");
  // It comes to no barrier, but ends.
  EXPECT_EQ(run("@%q1 bra MEET; barrier.sync 1;\n"
                "MEET: @!%q1 bra DONE; st.global.u32 [%p], 1;\nDONE:"),
            "1");
}

TEST(Progress, PastNestedMeetingPoints) {
  EXPECT_EQ(run("setp.lt.u32 %q2, %t, 9; @!%q2 bra OUTER;\n"
                "@%q1 bra INNER; barrier.sync 1;\nINNER: add.u32 %r0, %t, 1;\n"
                "OUTER: @!%q1 bra OTHERS; st.global.u32 [%p], 1;\n"
                "barrier.sync 1; bra DONE;\n"
                "OTHERS: @%q2 bra DONE; barrier.sync 1;\nDONE:"),
            "1");
}

TEST(Progress, OutOfACall) {
  EXPECT_EQ(run("{ .param .b32 x; .param .b32 y; st.param.b32 [x], %t;\n"
                "call (y), f, (x); ld.param.b32 %r0, [y]; }\n"
                "@!%q1 bra DONE; st.global.u32 [%p], %r0; barrier.sync 1;\n"
                "DONE:",
                ".func (.param .b32 r) f(.param .b32 a) {\n"
                ".reg .b32 %x; .reg .pred %q;\n"
                "ld.param.b32 %x, [a]; setp.eq.u32 %q, %x, 6;\n"
                "st.param.b32 [r], 77; @%q ret; barrier.sync 1; ret; }\n"),
            "77");
}

TEST(Progress, ToTheArrivalThatOthersPollFor) {
  EXPECT_EQ(run("@%q1 mbarrier.init.shared.b64 [%m], 1; bar.sync 0;\n"
                "@%q1 bra MEET;\n"
                "POLL: mbarrier.try_wait.parity.shared.b64 %q2, [%m], 0;\n"
                "@!%q2 bra POLL;\n"
                "MEET: @!%q1 bra DONE; st.global.u32 [%p], 1;\n"
                "mbarrier.arrive.shared.b64 %d, [%m];\nDONE:"),
            "1");
}

TEST(Progress, NotWhereNothingHelps) {
  EXPECT_THAT(run("@%q1 bra MEET; barrier.sync 1, 64;\n"
                  "MEET: @!%q1 bra DONE; barrier.sync 2, 32;\nDONE:"),
              HasSubstr("expects a multiple of 32 from 32 to 32 threads"));
  EXPECT_THAT(run("@%q1 bra MEET; barrier.sync 1, 32;\n"
                  "MEET: @!%q1 bra DONE; barrier.sync 2, 32;\nDONE:"),
              HasSubstr("[deadlock]"));
  // An aligned barrier is for all lanes of the warp.
  EXPECT_THAT(run("@%q1 bra MEET; bar.sync 1;\n"
                  "MEET: @!%q1 bra DONE; st.global.u32 [%p], 1;\nDONE:"),
              HasSubstr("[divergence]"));
}

} // namespace
