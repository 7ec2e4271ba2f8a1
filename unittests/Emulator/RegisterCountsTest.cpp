//===- RegisterCountsTest.cpp - setmaxnreg --------------------------------===//

#include "MemoryHarness.h"

using namespace tile::emulator;

namespace {

Outcome run(const std::string &body, unsigned threads = 256,
            llvm::StringRef target = "sm_100a") {
  return runKernel(body, {}, withThreads(threads), target);
}

/// `one` by the second warpgroup, `other` by the first.
std::string split(const std::string &one, const std::string &other) {
  return "setp.ge.u32 %q1, %t, 128; @%q1 bra ONE;\n" + other +
         "bra DONE;\nONE:\n" + one + "DONE:\n";
}

std::string inc(unsigned count) {
  return "setmaxnreg.inc.sync.aligned.u32 " + std::to_string(count) + ";\n";
}
std::string dec(unsigned count) {
  return "setmaxnreg.dec.sync.aligned.u32 " + std::to_string(count) + ";\n";
}

TEST(RegisterCountsTest, HasNoEffect) {
  EXPECT_FINE(run(split(dec(24), inc(240))));
  EXPECT_FINE(
      run(inc(152) + "bar.sync 0;\n" + dec(40) + "bar.sync 0;\n" + inc(40)));
  // A warpgroup that is not whole.
  EXPECT_FINE(run(dec(64), 64));
  for (const char *target : {"sm_90a", "sm_103a", "sm_120a"})
    EXPECT_FINE(run(dec(24), 128, target));
}

TEST(RegisterCountsTest, ExpectsWholeWarpgroups) {
  expectCheck(
      run("setp.ge.u32 %q1, %t, 96; @%q1 bra DONE;\n" + dec(40) + "DONE:\n"),
      Check::Divergence, "but warp 3 has not executed it");
  EXPECT_FINE(
      run("setp.ge.u32 %q1, %t, 128; @%q1 bra DONE;\n" + dec(40) + "DONE:\n"));
  // Not all lanes of a warp.
  expectCheck(run("setp.eq.u32 %q1, %t, 5; @%q1 bra DONE;\n" + dec(40) +
                  "exit;\nDONE:\nbar.sync 0;\n"),
              Check::Divergence);
  expectCheck(run("setp.ge.u32 %q1, %t, 32; @%q1 bra ONE;\n" + dec(40) +
                  "bra DONE;\nONE:\n" + dec(48) + "DONE:\n"),
              Check::IllegalOperand,
              "setmaxnreg.dec of 48 expects what the other warps of its "
              "warpgroup execute, but warp 0 has executed setmaxnreg.dec of "
              "40");
  expectCheck(run("setp.ge.u32 %q1, %t, 32; @%q1 bra ONE;\n" + dec(40) +
                  "bra DONE;\nONE:\n" + inc(40) + "DONE:\n"),
              Check::IllegalOperand, "but warp 0 has executed");
  // The same from two places is the same.
  EXPECT_FINE(run("setp.ge.u32 %q1, %t, 32; @%q1 bra ONE;\n" + dec(40) +
                  "bra DONE;\nONE:\n" + dec(40) + "DONE:\n"));
}

TEST(RegisterCountsTest, ExpectsTheRightDirection) {
  EXPECT_FINE(run(dec(40) + "bar.sync 0;\n" + dec(32)));
  expectCheck(run(dec(40) + "bar.sync 0;\n" + dec(48)), Check::IllegalOperand,
              "setmaxnreg.dec expects at most the 40 registers of now, but got "
              "48");
  EXPECT_FINE(run(inc(40) + "bar.sync 0;\n" + inc(48)));
  expectCheck(run(inc(40) + "bar.sync 0;\n" + inc(32)), Check::IllegalOperand,
              "setmaxnreg.inc expects at least the 40 registers of now, but "
              "got 32");
}

TEST(RegisterCountsTest, DecodesWhatPtxKnows) {
  auto refuses = [](const std::string &body, llvm::StringRef words,
                    llvm::StringRef target = "sm_100a") {
    Outcome outcome = run(body, 128, target);
    EXPECT_FALSE(outcome.check.has_value());
    EXPECT_NE(outcome.text.find(words), std::string::npos) << outcome.text;
  };
  EXPECT_FINE(run(inc(256)));
  EXPECT_FINE(run(dec(24)));
  refuses(inc(264), "a multiple of 8 from 24 to 256, but got 264");
  refuses(dec(16), "a multiple of 8 from 24 to 256, but got 16");
  refuses(dec(28), "a multiple of 8 from 24 to 256, but got 28");
  refuses("setmaxnreg.dec.sync.aligned.u32 %r1;", "%r1");
  refuses("setmaxnreg.sync.aligned.u32 40;", "expects .inc or .dec");
  refuses("setmaxnreg.inc.u32 40;", "and .sync.aligned.u32");
  refuses(inc(40), "expects sm_90a or a newer target with a or f", "sm_90");
  refuses(inc(40), "expects sm_90a or a newer target with a or f", "sm_120");
}

} // namespace
