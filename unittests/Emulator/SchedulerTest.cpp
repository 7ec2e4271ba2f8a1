//===- SchedulerTest.cpp - Divergence, barriers, calls, launches ----------===//
//
// Each check has a kernel that must trigger it and a near twin that must not.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "llvm/ADT/StringExtras.h"

using namespace tile::emulator;
using llvm::StringLiteral;
using llvm::StringRef;

namespace {

/// Launches `body` (with `%t` the thread, `%o` the address of its u32 of
/// output) on `threads` threads and `blocks` blocks, and returns the error
/// text.
std::string run(StringRef body, std::vector<uint32_t> &out,
                unsigned threads = 32, unsigned blocks = 1,
                LaunchOptions options = {}, StringRef before = "") {
  std::string text =
      (".version 8.8\n.target sm_90a\n.address_size 64\n" + before +
       ".visible .entry k(.param .u64 pout)\n{\n"
       ".reg .pred %p<9>; .reg .b32 %r<32>; .reg .b64 %o, %d<9>;\n"
       ".reg .b32 %t, %g; .reg .f32 %f<32>;\n"
       ".shared .align 16 .b8 s[4096];\n"
       "mov.u32 %t, %tid.x; mov.u32 %g, %ctaid.x;\n"
       "mad.lo.s32 %r30, %g, " +
       llvm::Twine(threads) +
       ", %t; ld.param.u64 %o, [pout]; mul.wide.u32 %d8, %r30, 4;\n"
       "add.s64 %o, %o, %d8;\n" +
       body + "\nret;\n}\n")
          .str();
  std::vector<uint8_t> bytes(threads * blocks * 4, 0xFF);
  options.grid.x = blocks;
  options.block = Dim3{threads, 1, 1};
  llvm::Expected<LaunchResult> result = launch(text, {&bytes}, options);
  out = fromBytes<uint32_t>(bytes);
  return result ? std::string() : llvm::toString(result.takeError());
}

#define EXPECT_CONTAINS(TEXT, PART)                                            \
  EXPECT_NE(std::string(TEXT).find(PART), std::string::npos) << (TEXT)

//===----------------------------------------------------------------------===//
// Divergence
//===----------------------------------------------------------------------===//

/// A loop whose trip count is the lane's own hash, with a branch inside.
TEST(Scheduler, LanesLeaveALoopOneByOne) {
  std::vector<uint32_t> out;
  std::string error =
      run("mul.lo.s32 %r1, %t, 2654435761; shr.u32 %r1, %r1, 27;\n"
          "mov.u32 %r2, 0; mov.u32 %r3, 0;\n"
          "LOOP: setp.ge.u32 %p1, %r2, %r1; @%p1 bra DONE;\n"
          "and.b32 %r4, %r2, 1; setp.eq.u32 %p2, %r4, 0;\n"
          "@%p2 bra EVEN; mad.lo.s32 %r3, %r3, 3, %r2; bra NEXT;\n"
          "EVEN: add.s32 %r3, %r3, 7;\n"
          "NEXT: add.s32 %r2, %r2, 1; bra LOOP;\n"
          "DONE: activemask.b32 %r5; setp.ne.u32 %p3, %r5, -1;\n"
          "@%p3 mov.u32 %r3, 12345;\n"
          "st.global.u32 [%o], %r3;",
          out);
  EXPECT_EQ(error, "");
  for (uint32_t t = 0; t != 32; ++t) {
    uint32_t value = 0;
    for (uint32_t i = 0; i != t * 2654435761u >> 27; ++i)
      value = i % 2 ? value * 3 + i : value + 7;
    EXPECT_EQ(out[t], value) << t;
  }
}

/// One lane waits for what another one of its warp writes, in both orders.
TEST(Scheduler, LanesOfAWarpWaitForEachOther) {
  for (const char *waits : {"eq", "ne"}) {
    std::vector<uint32_t> out;
    std::string error =
        run(("mov.u32 %r1, s; mov.u32 %r9, 0; st.shared.u32 [%r1], %r9;\n"
             "bar.sync 0; setp." +
             std::string(waits) +
             ".u32 %p1, %t, 5; @%p1 bra WAIT;\n"
             "mov.u32 %r2, 1; st.volatile.shared.u32 [%r1], %r2; bra DONE;\n"
             "WAIT: ld.volatile.shared.u32 %r3, [%r1];\n"
             "setp.eq.u32 %p2, %r3, 0; @%p2 bra WAIT;\n"
             "DONE: st.global.u32 [%o], %t;"),
            out);
    EXPECT_EQ(error, "") << waits;
    EXPECT_EQ(out[31], 31u);
  }
}

/// A lane that holds a lock which the others spin on leaves the loop first, so
/// they must not wait for it to be released where the loop ends.
TEST(Scheduler, LockReleasedBehindTheLoop) {
  std::vector<uint32_t> out;
  std::string error =
      run("mov.u32 %r1, s; mov.u32 %r9, 0; setp.eq.u32 %p3, %t, 0;\n"
          "@%p3 st.shared.v2.u32 [%r1], {%r9, %r9}; bar.sync 0;\n"
          "LOCK: atom.shared.cas.b32 %r2, [%r1], 0, 1;\n"
          "setp.ne.u32 %p1, %r2, 0; @%p1 bra LOCK;\n"
          "ld.volatile.shared.u32 %r3, [%r1+4]; add.s32 %r4, %r3, 1;\n"
          "st.volatile.shared.u32 [%r1+4], %r4;\n"
          "atom.shared.exch.b32 %r5, [%r1], 0;\n"
          "st.global.u32 [%o], %r3;",
          out, 64);
  EXPECT_EQ(error, "");
  llvm::sort(out);
  for (uint32_t i = 0; i != 64; ++i)
    EXPECT_EQ(out[i], i);
}

constexpr StringLiteral kMultiply =
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1,%f2,%f3,%f4}, "
    "{%r1,%r1,%r1,%r1}, {%r1,%r1}, {%f0,%f0,%f0,%f0};\n";

TEST(Scheduler, MmaUnderDivergenceIsReported) {
  std::vector<uint32_t> out;
  std::string error =
      run(("mov.u32 %r1, 0; mov.f32 %f0, 0f00000000; setp.lt.u32 %p1, %t, 16;\n"
           "@!%p1 bra DONE;\n" +
           kMultiply + "DONE: st.global.u32 [%o], %t;")
              .str(),
          out);
  EXPECT_CONTAINS(error, "[divergence]");
  EXPECT_CONTAINS(error, "lanes 0-15 execute it, but it expects lanes 16-31");
  EXPECT_CONTAINS(error, "instruction: mma.sync.aligned.m16n8k16");
  // The twin: the lanes have met again.
  error =
      run(("mov.u32 %r1, 0; mov.f32 %f0, 0f00000000; setp.lt.u32 %p1, %t, 16;\n"
           "@!%p1 bra DONE; add.s32 %r2, %t, 1;\n"
           "DONE:\n" +
           kMultiply + "st.global.u32 [%o], %t;")
              .str(),
          out);
  EXPECT_EQ(error, "");
}

TEST(Scheduler, MmaAfterAnExitIsReported) {
  std::vector<uint32_t> out;
  std::string error =
      run(("mov.u32 %r1, 0; mov.f32 %f0, 0f00000000; setp.eq.u32 %p1, %t, 7;\n"
           "@%p1 exit;\n" +
           kMultiply + "st.global.u32 [%o], %t;")
              .str(),
          out);
  EXPECT_CONTAINS(error, "[divergence]");
  EXPECT_CONTAINS(error, "lanes 7 have exited");
}

/// Both halves of a warp come to a shuffle of all lanes on ways of their own.
TEST(Scheduler, WarpWideInstructionGathersItsLanes) {
  std::vector<uint32_t> out;
  std::string error = run("setp.lt.u32 %p1, %t, 11; @%p1 bra LOW;\n"
                          "mov.u32 %r1, 100; bra SHUFFLE;\n"
                          "LOW: mov.u32 %r1, 200; add.s32 %r1, %r1, %t;\n"
                          "SHUFFLE: shfl.sync.bfly.b32 %r2, %r1, 31, 31, -1;\n"
                          "st.global.u32 [%o], %r2;",
                          out);
  EXPECT_EQ(error, "");
  for (uint32_t t = 0; t != 32; ++t)
    EXPECT_EQ(out[t], 31 - t < 11 ? 200 + 31 - t : 100);
  // A mask of lanes that never come, since they wait elsewhere.
  error = run("setp.lt.u32 %p1, %t, 11; mov.u32 %r1, %t; mov.u32 %r2, 0;\n"
              "@%p1 shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;\n"
              "bar.sync 0; st.global.u32 [%o], %r2;",
              out);
  EXPECT_CONTAINS(error, "[divergence]");
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

TEST(Scheduler, BarrierThatSomeThreadsMissIsADeadlock) {
  std::vector<uint32_t> out;
  std::string error =
      run("setp.lt.u32 %p1, %t, 32; @%p1 bra FIRST; bar.sync 1; bra DONE;\n"
          "FIRST: bar.sync 2;\nDONE: st.global.u32 [%o], %t;",
          out, 64);
  EXPECT_CONTAINS(error, "[deadlock]");
  EXPECT_CONTAINS(error, "warp 0, lanes 0-31 wait at barrier 2");
  EXPECT_CONTAINS(error, "warp 1, lanes 0-31 wait at barrier 1");
  error = run("setp.lt.u32 %p1, %t, 32; @%p1 bra FIRST; bar.sync 2; bra DONE;\n"
              "FIRST: bar.sync 2;\nDONE: st.global.u32 [%o], %t;",
              out, 64);
  EXPECT_EQ(error, "");
}

TEST(Scheduler, BarrierUnderDivergenceIsReported) {
  std::vector<uint32_t> out;
  const char *body = "setp.lt.u32 %%p1, %%t, 16; @!%%p1 bra DONE;\n%s 0;\n"
                     "DONE: st.global.u32 [%%o], %%t;";
  char text[256];
  std::snprintf(text, sizeof(text), body, "bar.sync");
  std::string error = run(text, out);
  EXPECT_CONTAINS(error, "[divergence]");
  // Threads that have exited are not waited for.
  error = run("setp.lt.u32 %p1, %t, 40; @!%p1 exit; bar.sync 0;\n"
              "st.global.u32 [%o], %t;",
              out, 64);
  EXPECT_EQ(error, "");
}

TEST(Scheduler, NamedBarriersCountThreads) {
  std::vector<uint32_t> out;
  // Warps 0 and 1 produce, warp 2 consumes.
  std::string error =
      run("mov.u32 %r1, s; mad.lo.s32 %r2, %t, 4, %r1;\n"
          "setp.ge.u32 %p1, %t, 64; @%p1 bra CONSUME;\n"
          "st.shared.u32 [%r2], %t; bar.arrive 3, 96; bra DONE;\n"
          "CONSUME: bar.sync 3, 96; ld.shared.u32 %r3, [%r2+-256];\n"
          "ld.shared.u32 %r4, [%r2+-128]; add.s32 %r3, %r3, %r4;\n"
          "st.global.u32 [%o], %r3;\nDONE:",
          out, 96);
  EXPECT_EQ(error, "");
  for (uint32_t t = 64; t != 96; ++t)
    EXPECT_EQ(out[t], (t - 64) + (t - 32));
  error = run("bar.sync 3, 48;", out, 96);
  EXPECT_CONTAINS(error, "expects a multiple of 32 from 32 to 96 threads");
  error = run("setp.lt.u32 %p1, %t, 32; @%p1 bar.sync 3, 64;\n"
              "@!%p1 bar.sync 3, 96;",
              out, 96);
  EXPECT_CONTAINS(error, "[synchronization]");
  error = run("mov.u32 %r1, 16; bar.sync %r1;", out);
  EXPECT_CONTAINS(error, "expects a barrier from 0 to 15, but got 16");
}

TEST(Scheduler, BarriersReduce) {
  std::vector<uint32_t> out;
  std::string error =
      run("and.b32 %r1, %t, 3; setp.eq.u32 %p1, %r1, 1;\n"
          "bar.red.popc.u32 %r2, 0, %p1; bar.red.and.pred %p2, 0, %p1;\n"
          "bar.red.or.pred %p3, 0, !%p1; selp.u32 %r3, 1000, 0, %p2;\n"
          "selp.u32 %r4, 100, 0, %p3; add.s32 %r2, %r2, %r3;\n"
          "add.s32 %r2, %r2, %r4; st.global.u32 [%o], %r2;",
          out, 96);
  EXPECT_EQ(error, "");
  for (uint32_t value : out)
    EXPECT_EQ(value, 24u + 100u);
}

/// Barriers of different blocks have nothing to do with each other.
TEST(Scheduler, WaitForAnArrivalThatNeverComes) {
  std::vector<uint32_t> out;
  const std::string wait =
      "mov.u32 %r1, s; setp.ne.u32 %p1, %t, 0;\n"
      "@!%p1 mbarrier.init.shared.b64 [%r1], 2; bar.sync 0;\n"
      "setp.lt.u32 %p3, %t, COUNT;\n"
      "@%p3 mbarrier.arrive.shared.b64 _, [%r1];\n"
      "WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r1], 0;\n"
      "@!%p2 bra WAIT; st.global.u32 [%o], %t;";
  auto withCount = [&](const char *count) {
    std::string text = wait;
    text.replace(text.find("COUNT"), 5, count);
    return text;
  };
  std::string error = run(withCount("1"), out, 64);
  EXPECT_CONTAINS(error, "[deadlock]");
  EXPECT_CONTAINS(error, "mbarrier");
  EXPECT_EQ(run(withCount("2"), out, 64), "");
}

TEST(Scheduler, EndlessLoopReachesTheStepLimit) {
  std::vector<uint32_t> out;
  LaunchOptions options;
  options.stepLimit = 100000;
  std::string error = run("LOOP: bra LOOP;", out, 32, 1, options);
  EXPECT_CONTAINS(error, "[step-limit]");
  EXPECT_CONTAINS(error, "more than the limit of 100000");
  error = run("mov.u32 %r1, 0; LOOP: add.s32 %r1, %r1, 1;\n"
              "setp.lt.u32 %p1, %r1, 33000; @%p1 bra LOOP;",
              out, 32, 1, options);
  EXPECT_EQ(error, "");
}

//===----------------------------------------------------------------------===//
// Unwritten values, traps, tables of branches
//===----------------------------------------------------------------------===//

TEST(Scheduler, UnwrittenBranchAndGuard) {
  std::vector<uint32_t> out;
  EXPECT_CONTAINS(run("@%p1 bra DONE; st.global.u32 [%o], %t;\nDONE:", out),
                  "an unwritten value decides a branch");
  EXPECT_CONTAINS(run("setp.eq.u32 %p1, %r5, 0;\n@%p1 bra DONE;\n"
                      "st.global.u32 [%o], %t;\nDONE:",
                      out),
                  "an unwritten value decides a branch");
  EXPECT_CONTAINS(run("@%p1 st.global.u32 [%o], %t;", out),
                  "an unwritten value reaches a guard predicate");
  // An unwritten value that is computed but decides nothing.
  EXPECT_EQ(run("setp.eq.u32 %p1, %r5, 0; setp.ge.u32 %p2, %t, 0;\n"
                "or.pred %p3, %p1, %p2; @%p3 st.global.u32 [%o], %t;",
                out),
            "");
}

TEST(Scheduler, TrapAndBranchTable) {
  std::vector<uint32_t> out;
  std::string error =
      run("setp.eq.u32 %p1, %t, 9; @%p1 trap; st.global.u32 [%o], %t;", out);
  EXPECT_CONTAINS(error, "[trap]");
  EXPECT_CONTAINS(error, "thread: 9,0,0");
  const std::string table =
      "and.b32 %r1, %t, MASK;\nT: .branchtargets A, B, C, B;\n"
      "brx.idx %r1, T;\nA: mov.u32 %r2, 10; bra DONE;\n"
      "B: mov.u32 %r2, 20; bra DONE;\nC: mov.u32 %r2, 30;\n"
      "DONE: shfl.sync.bfly.b32 %r2, %r2, 1, 31, -1;\n"
      "st.global.u32 [%o], %r2;";
  auto withMask = [&](const char *mask) {
    std::string text = table;
    text.replace(text.find("MASK"), 4, mask);
    return text;
  };
  EXPECT_EQ(run(withMask("3"), out), "");
  for (uint32_t t = 0; t != 32; ++t) {
    const uint32_t values[] = {10, 20, 30, 20};
    EXPECT_EQ(out[t], values[(t ^ 1) & 3]);
  }
  EXPECT_CONTAINS(run(withMask("7"), out),
                  "expects a value below 4, but got 4");
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

constexpr StringLiteral kFactorial =
    ".func (.param .b32 r) f(.param .b32 n)\n{\n"
    ".reg .pred %p; .reg .b32 %a, %b, %c;\n"
    "ld.param.b32 %a, [n]; setp.gt.u32 %p, %a, LAST; @%p bra MORE;\n"
    "mov.b32 %c, 1; st.param.b32 [r], %c; ret;\n"
    "MORE: sub.u32 %b, %a, 1;\n"
    "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %b;\n"
    "call.uni (y), f, (x); ld.param.b32 %c, [y]; }\n"
    "mul.lo.u32 %c, %c, %a; st.param.b32 [r], %c; ret;\n}\n";

TEST(Scheduler, RecursionWithADepthOfItsOwnPerLane) {
  auto withLast = [&](const char *last) {
    std::string text = kFactorial.str();
    text.replace(text.find("LAST"), 4, last);
    return text;
  };
  const char *body =
      "and.b32 %r1, %t, 7;\n"
      "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r1;\n"
      "call (y), f, (x); ld.param.b32 %r2, [y]; }\n"
      "activemask.b32 %r3; setp.ne.u32 %p1, %r3, -1; @%p1 mov.u32 %r2, 0;\n"
      "st.global.u32 [%o], %r2;";
  std::vector<uint32_t> out;
  EXPECT_EQ(run(body, out, 64, 1, {}, withLast("0")), "");
  const uint32_t factorials[] = {1, 1, 2, 6, 24, 120, 720, 5040};
  for (uint32_t t = 0; t != 64; ++t)
    EXPECT_EQ(out[t], factorials[t & 7]);
  // Below 0 it has no end.
  EXPECT_CONTAINS(run("{ .param .b32 x; .param .b32 y; st.param.b32 [x], %t;\n"
                      "call (y), g, (x); }",
                      out, 32, 1, {},
                      ".func (.param .b32 r) g(.param .b32 n)\n{\n"
                      "{ .param .b32 x; .param .b32 y; .reg .b32 %a;\n"
                      "ld.param.b32 %a, [n]; st.param.b32 [x], %a;\n"
                      "call.uni (y), g, (x); }\nret;\n}\n"),
                  "calls are nested too deeply");
}

TEST(Scheduler, FunctionPointersPerLane) {
  const char *functions =
      ".func (.reg .b32 r) twice(.reg .b32 n)\n{ add.u32 r, n, n; ret; }\n"
      ".func (.reg .b32 r) square(.reg .b32 n)\n{ mul.lo.u32 r, n, n; ret; }\n"
      ".global .u64 table[2] = {twice, square};\n";
  const char *body =
      "and.b32 %r1, %t, 1; mul.wide.u32 %d1, %r1, 8; mov.u64 %d2, table;\n"
      "add.s64 %d2, %d2, %d1; ld.global.u64 %d3, [%d2];\n"
      "P: .callprototype (.reg .b32 _) _ (.reg .b32 _);\n"
      "call (%r2), %d3, (%t), P;\n"
      "shfl.sync.bfly.b32 %r2, %r2, 1, 31, -1; st.global.u32 [%o], %r2;";
  std::vector<uint32_t> out;
  EXPECT_EQ(run(body, out, 32, 1, {}, functions), "");
  for (uint32_t t = 0; t != 32; ++t) {
    uint32_t other = t ^ 1;
    EXPECT_EQ(out[t], other & 1 ? other * other : other + other);
  }
  EXPECT_CONTAINS(run("mov.u64 %d3, 4096;\n"
                      "P: .callprototype (.reg .b32 _) _ (.reg .b32 _);\n"
                      "call (%r2), %d3, (%t), P;",
                      out, 32, 1, {}, functions),
                  "the address of a call is no device function's");
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// The report is that of the first block, however many host threads there are.
TEST(Scheduler, ReportsDoNotDependOnHostThreads) {
  std::string first;
  for (unsigned threads : {1, 2, 4}) {
    LaunchOptions options;
    options.hostThreads = threads;
    std::vector<uint32_t> out;
    std::string error =
        run("mul.lo.s32 %r1, %g, 77; and.b32 %r1, %r1, 31;\n"
            "setp.gt.u32 %p1, %g, 5; setp.eq.and.u32 %p2, %t, %r1, %p1;\n"
            "@%p2 trap; st.global.u32 [%o], %t;",
            out, 32, 64, options);
    EXPECT_CONTAINS(error, "block: 6,0,0");
    if (first.empty())
      first = error;
    EXPECT_EQ(error, first);
  }
}

/// A block may wait for what a later one does, if both fit.
TEST(Scheduler, BlocksWaitForEachOther) {
  std::vector<uint32_t> out;
  std::string error =
      run("mov.u64 %d1, flag; setp.eq.u32 %p1, %g, 0; @%p1 bra WAIT;\n"
          "mov.u32 %r1, 1; atom.global.add.u32 %r2, [%d1], 1; bra DONE;\n"
          "WAIT: ld.volatile.global.u32 %r3, [%d1]; setp.lt.u32 %p2, %r3, 32;\n"
          "@%p2 bra WAIT;\nDONE: st.global.u32 [%o], %t;",
          out, 32, 2, {}, ".global .u32 flag;\n");
  EXPECT_EQ(error, "");
}

TEST(Scheduler, RandomSchedulesRepeat) {
  auto withSeed = [](uint64_t seed) {
    LaunchOptions options;
    options.schedule = Schedule::Random;
    options.seed = seed;
    std::vector<uint32_t> out;
    EXPECT_EQ(run("mov.u64 %d1, count; atom.global.add.u32 %r2, [%d1], 1;\n"
                  "st.global.u32 [%o], %r2;",
                  out, 256, 2, options, ".global .u32 count;\n"),
              "");
    return out;
  };
  std::vector<uint32_t> one = withSeed(1);
  EXPECT_EQ(one, withSeed(1));
  EXPECT_NE(one, withSeed(2));
}

TEST(Scheduler, LaunchIsCheckedFirst) {
  std::string text = makeKernel(".param .u64 p, .param .u32 n",
                                ".reg .b32 %r; ld.param.u32 %r, [n]; ret;");
  auto module = llvm::cantFail(Module::load(text, "k.ptx"));
  Memory memory;
  std::vector<uint8_t> eight(8), four(4);
  auto tryLaunch = [&](std::vector<llvm::ArrayRef<uint8_t>> parameters,
                       Dim3 grid, std::optional<Dim3> block,
                       std::optional<uint64_t> shared = std::nullopt,
                       StringRef entry = "k") {
    LaunchOptions options;
    options.grid = grid;
    options.block = block;
    options.sharedBytes = shared;
    llvm::Expected<LaunchResult> result =
        module->launch(entry, memory, parameters, options);
    return result ? std::string() : llvm::toString(result.takeError());
  };
  EXPECT_EQ(tryLaunch({eight, four}, {1, 1, 1}, Dim3{32, 1, 1}), "");
  EXPECT_CONTAINS(tryLaunch({eight}, {1, 1, 1}, Dim3{32, 1, 1}),
                  "expects 2 parameters, but got 1");
  EXPECT_CONTAINS(tryLaunch({eight, eight}, {1, 1, 1}, Dim3{32, 1, 1}),
                  "parameter 1 ('n') of entry 'k' expects 4 bytes, but got 8");
  EXPECT_CONTAINS(tryLaunch({eight, four}, {1, 1, 1}, std::nullopt),
                  "has no .reqntid, so the size of a block must be given");
  EXPECT_CONTAINS(tryLaunch({eight, four}, {1, 1, 1}, Dim3{1024, 2, 1}),
                  "but got 1024,2,1");
  EXPECT_CONTAINS(tryLaunch({eight, four}, {0, 1, 1}, Dim3{32, 1, 1}),
                  "but got 0,1,1");
  EXPECT_CONTAINS(tryLaunch({eight, four}, {1, 65536, 1}, Dim3{32, 1, 1}),
                  "but got 1,65536,1");
  EXPECT_CONTAINS(tryLaunch({eight, four}, {1, 1, 1}, Dim3{32, 1, 1}, 300000),
                  "expects at most 232448 bytes of shared memory");
  EXPECT_CONTAINS(
      tryLaunch({eight, four}, {1, 1, 1}, Dim3{32, 1, 1}, std::nullopt, "j"),
      "j");
}

/// Nothing runs if any statement is unknown, not even one that is not reached.
TEST(Scheduler, UnknownInstructionsAreNamedFirst) {
  std::vector<uint32_t> out;
  std::string error = run("st.global.u32 [%o], %t; ret;\n"
                          "wgmma.fence.sync.aligned;",
                          out);
  EXPECT_CONTAINS(error, "instruction 'wgmma.fence.sync.aligned' is not "
                         "supported");
  EXPECT_EQ(out[0], ~0u);
  error = run("add.wrong.s32 %r1, %r2, %r3;", out);
  EXPECT_CONTAINS(error, "'.wrong' of 'add.wrong.s32' is not supported");
  error = run("call ext, ();", out, 32, 1, {}, ".extern .func ext();\n");
  EXPECT_CONTAINS(error, "function 'ext' is not defined in this file");
}

TEST(Scheduler, CancelledFromOutside) {
  std::atomic<bool> cancel{true};
  LaunchOptions options;
  options.cancel = &cancel;
  std::vector<uint32_t> out;
  EXPECT_CONTAINS(run("LOOP: bra LOOP;", out, 32, 4, options), "cancelled");
  unsigned calls = 0;
  uint64_t last = 0;
  LaunchOptions watched;
  watched.progress = [&](uint64_t done, uint64_t total) {
    ++calls;
    last = done;
    EXPECT_EQ(total, 4u);
  };
  EXPECT_EQ(run("st.global.u32 [%o], %t;", out, 32, 4, watched), "");
  EXPECT_EQ(calls, 4u);
  EXPECT_EQ(last, 4u);
}

} // namespace
