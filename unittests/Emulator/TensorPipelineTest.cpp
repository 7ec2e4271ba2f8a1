//===- TensorPipelineTest.cpp - A pipeline of warps around tcgen05 --------===//
//
// One warp copies, one multiplies, four store: a product of NVFP4 as kernels of
// sm_100 compute it. It gives right sums for any number of steps and stages,
// and leaving out any one of its waits, fences, arrivals and barriers is found.
//
//===----------------------------------------------------------------------===//

#include "TensorMemoryHarness.h"

#include "llvm/ADT/STLExtras.h"

using namespace tile::emulator;

namespace {

constexpr unsigned kRows = 128, kColumns = 32, kStepK = 64;
// A step's bytes: A, B, and the scales of both in chunks of 128 rows.
constexpr unsigned kBytesA = kRows * 32, kBytesB = kColumns * 32;
constexpr unsigned kScaleBytes = 512;
constexpr unsigned kStepBytes = kBytesA + kBytesB + 2 * kScaleBytes;

/// Matrices of `steps` steps as the kernel wants them, and their product.
struct Problem {
  explicit Problem(unsigned steps) {
    const float values[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    auto getCode = [](unsigned which, unsigned row, unsigned k) {
      return mix(row, k, which) % 16;
    };
    auto getValue = [&](unsigned code) {
      return code & 8 ? -values[code & 7] : values[code & 7];
    };
    // e4m3 codes of 0.5, 1, 1.5 and 2.
    const uint8_t scaleCodes[] = {0x30, 0x38, 0x3C, 0x40};
    const float scales[] = {0.5, 1, 1.5, 2};
    auto getScale = [](unsigned which, unsigned row, unsigned block) {
      return mix(row, block, which + 2) % 4;
    };
    image.resize(steps * kStepBytes);
    product.resize(kRows * kColumns);
    for (unsigned step = 0; step != steps; ++step) {
      uint8_t *at = image.data() + step * kStepBytes;
      auto place = [&](unsigned which, unsigned rows, uint8_t *to,
                       uint8_t *scale) {
        for (unsigned row = 0; row != rows; ++row) {
          for (unsigned k = 0; k != kStepK; ++k) {
            // Groups of 8 rows, of each the first 16 bytes and then the rest.
            unsigned byte =
                row / 8 * 256 + k / 32 * 128 + row % 8 * 16 + k % 32 / 2;
            to[byte] |= getCode(which, row, step * kStepK + k) << k % 2 * 4;
          }
          for (unsigned i = 0; i != 4; ++i)
            scale[row % 32 * 16 + row / 32 * 4 + i] =
                scaleCodes[getScale(which, row, step * 4 + i)];
        }
      };
      place(0, kRows, at, at + kBytesA + kBytesB);
      place(1, kColumns, at + kBytesA, at + kBytesA + kBytesB + kScaleBytes);
    }
    for (unsigned m = 0; m != kRows; ++m)
      for (unsigned n = 0; n != kColumns; ++n)
        for (unsigned k = 0; k != steps * kStepK; ++k)
          product[m * kColumns + n] +=
              getValue(getCode(0, m, k)) * getValue(getCode(1, n, k)) *
              scales[getScale(0, m, k / 16)] * scales[getScale(1, n, k / 16)];
  }

  std::vector<uint8_t> image;
  std::vector<float> product; ///< Exact.
};

/// The kernel. A comment at the end of a line names what may be left out.
std::string makePipeline(unsigned steps, unsigned stages) {
  auto number = [](unsigned value) { return std::to_string(value); };
  // Stage and parity of step %i.
  const std::string find =
      "rem.u32 %s, %i, " + number(stages) + "; div.u32 %h, %i, " +
      number(stages) +
      "; and.b32 %h, %h, 1; xor.b32 %e, %h, 1;\n"
      "mad.lo.u32 %full, %s, 8, %bars; add.u32 %empty, %full, 64;\n"
      "mad.lo.u32 %at, %s, " +
      number(kStepBytes) + ", %sm;\n";
  auto wait = [](const std::string &name, const std::string &mbarrier,
                 const std::string &parity) {
    return name + ":\nmbarrier.try_wait.parity.shared.b64 %z0, [" + mbarrier +
           "], " + parity + "; // wait " + name + "\n@!%z0 bra " + name +
           "; // wait " + name + "\n";
  };
  auto describe = [](const std::string &to, unsigned offset, uint64_t rest) {
    return "add.u32 %x, %at, " + std::to_string(offset) +
           "; shr.u32 %x, %x, 4; cvt.u64.u32 " + to + ", %x; or.b64 " + to +
           ", " + to + ", " + hex(rest) + ";\n";
  };
  // Rows of 16 bytes, the other half 128 bytes on, groups of 8 rows 256.
  const uint64_t matrix = uint64_t(1) << 46 | uint64_t(16) << 32 | 8u << 16;
  const uint64_t scales = uint64_t(1) << 46 | uint64_t(8) << 32;
  std::string init;
  for (unsigned i = 0; i != stages; ++i)
    init += "mbarrier.init.shared.b64 [%bars+" + number(8 * i) +
            "], 1;\nmbarrier.init.shared.b64 [%bars+" + number(64 + 8 * i) +
            "], 1;\n";
  return ".extern .shared .align 1024 .b8 dyn[];\n"
         ".shared .align 8 .b64 bars[17]; .shared .b32 base;\n"
         ".reg .b32 %tm, %sm, %bars, %i, %s, %h, %e, %x, %at, %full, %empty, "
         "%sa, %sb, %u<32>;\n.reg .pred %z<8>; .reg .b64 %da, %db, %g;\n"
         "mov.u32 %sm, dyn; mov.u32 %bars, bars; mov.u32 %i, 0;\n"
         "setp.ne.u32 %z1, %t, 0; @%z1 bra INITIALIZED;\n" +
         init +
         "mbarrier.init.shared.b64 [%bars+128], 1;\n"
         "fence.mbarrier_init.release.cluster;\nINITIALIZED:\n"
         "setp.eq.u32 %z7, %w, 2;\n"
         "@%z7 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], "
         "64;\n@%z7 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"
         "\nbar.sync 0; // setup\nld.shared.b32 %tm, [base];\n"
         "setp.eq.u32 %z2, %t, 0; @%z2 bra PRODUCE;\n"
         "setp.eq.u32 %z2, %t, 32; @%z2 bra MULTIPLY;\n"
         "setp.lt.u32 %z2, %w, 2; @%z2 bra END;\nbra STORE;\n"
         // Copies.
         "PRODUCE:\n" +
         find + wait("EMPTY", "%empty", "%e") +
         "mbarrier.arrive.expect_tx.shared.b64 _, [%full], " +
         number(kStepBytes) + ";\nmad.wide.u32 %g, %i, " + number(kStepBytes) +
         ", %p0;\ncp.async.bulk.shared::cluster.global."
         "mbarrier::complete_tx::bytes [%at], [%g], " +
         number(kStepBytes) +
         ", [%full];\nadd.u32 %i, %i, 1; setp.lt.u32 %z2, %i, " +
         number(steps) +
         "; @%z2 bra PRODUCE;\nbra END;\n"
         // Multiplies.
         "MULTIPLY:\n" +
         find + wait("FULL", "%full", "%h") +
         "tcgen05.fence::after_thread_sync; // after full\n"
         "mad.lo.u32 %sa, %s, 8, %tm; add.u32 %sa, %sa, 32; add.u32 %sb, %sa, "
         "4;\n" +
         describe("%da", kBytesA + kBytesB, scales) +
         "tcgen05.cp.cta_group::1.32x128b.warpx4 [%sa], %da;\n" +
         describe("%db", kBytesA + kBytesB + kScaleBytes, scales) +
         "tcgen05.cp.cta_group::1.32x128b.warpx4 [%sb], %db;\n" +
         describe("%da", 0, matrix) + describe("%db", kBytesA, matrix) +
         "setp.ne.u32 %z3, %i, 0;\n"
         "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16 [%tm], "
         "%da, %db, 0x08080480, [%sa], [%sb], %z3;\n"
         "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster."
         "b64 [%empty]; // commit empty\n"
         "add.u32 %i, %i, 1; setp.lt.u32 %z2, %i, " +
         number(steps) +
         "; @%z2 bra MULTIPLY;\ntcgen05.commit.cta_group::1.mbarrier::arrive::"
         "one.shared::cluster.b64 [%bars+128]; // commit done\nbra END;\n"
         // Stores.
         "STORE:\nadd.u32 %full, %bars, 128;\n" +
         wait("DONE", "%full", "0") +
         "tcgen05.fence::after_thread_sync; // after done\n"
         "and.b32 %x, %w, 3; shl.b32 %x, %x, 21; add.u32 %x, %x, %tm;\n"
         "tcgen05.ld.sync.aligned.32x32b.x32.b32 " +
         makeRegisterList(0, 32) +
         ", [%x];\ntcgen05.wait::ld.sync.aligned; // wait ld\n"
         "and.b32 %x, %w, 3; mad.lo.u32 %x, %x, 32, %l;\n"
         "mad.wide.u32 %g, %x, 128, %p1;\n" +
         [] {
           std::string text;
           for (unsigned i = 0; i != 32; i += 4)
             text += "st.global.v4.b32 [%g+" + std::to_string(4 * i) + "], " +
                     makeRegisterList(i, 4) + ";\n";
           return text;
         }() +
         "END:\nbar.sync 1; // before dealloc\n"
         "@%z7 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tm, 64; // free"
         "\n";
}

Outcome run(const std::string &kernel, const Problem &problem, unsigned stages,
            std::vector<uint8_t> &out, uint64_t seed = 0) {
  std::vector<uint8_t> image = problem.image;
  out.assign(kRows * kColumns * 4, 0);
  LaunchOptions options = withThreads(192);
  options.sharedBytes = stages * kStepBytes;
  options.stepLimit = 200000;
  if (seed) {
    options.schedule = Schedule::Random;
    options.seed = seed;
  }
  return runKernel(kernel, {&image, &out}, options);
}

TEST(TensorPipelineTest, AnyNumberOfStepsAndStages) {
  for (unsigned steps = 1; steps != 10; ++steps) {
    Problem problem(steps);
    for (unsigned stages = 1; stages != 5; ++stages)
      for (uint64_t seed = 0; seed != 3; ++seed) {
        SCOPED_TRACE(std::to_string(steps) + " steps, " +
                     std::to_string(stages) + " stages");
        std::vector<uint8_t> out;
        EXPECT_FINE(run(makePipeline(steps, stages), problem, stages, out,
                        seed * 7 + steps * (seed != 0)));
        EXPECT_EQ(fromBytes<float>(out), problem.product);
      }
  }
}

TEST(TensorPipelineTest, NothingMayBeLeftOut) {
  constexpr unsigned kSteps = 5, kStages = 2;
  Problem problem(kSteps);
  const std::string kernel = makePipeline(kSteps, kStages);
  struct {
    const char *mark;
    std::vector<Check> checks;
  } const parts[] = {
      {"// setup",
       {Check::SharedRace, Check::Uninitialized, Check::Synchronization}},
      // A copy too early also upsets the mbarrier that it completes on.
      {"// wait EMPTY", {Check::AsyncRace, Check::Synchronization}},
      {"// wait FULL", {Check::AsyncRace}},
      {"// after full", {Check::AsyncRace}},
      {"// commit empty", {Check::Deadlock, Check::Divergence}},
      {"// commit done", {Check::Deadlock, Check::Divergence}},
      {"// wait DONE", {Check::AsyncRace, Check::Uninitialized}},
      {"// after done", {Check::AsyncRace}},
      {"// wait ld", {Check::AsyncRace}},
      {"// before dealloc", {Check::AsyncRace, Check::OutOfBounds}},
      {"// free", {Check::Synchronization}},
  };
  for (const auto &part : parts) {
    SCOPED_TRACE(part.mark);
    std::string broken;
    unsigned removed = 0;
    llvm::SmallVector<llvm::StringRef> lines;
    llvm::StringRef(kernel).split(lines, '\n');
    for (llvm::StringRef line : lines)
      if (line.ends_with(part.mark))
        ++removed;
      else
        broken += line.str() + "\n";
    ASSERT_NE(removed, 0u);
    for (uint64_t seed = 0; seed != 6; ++seed) {
      std::vector<uint8_t> out;
      Outcome outcome = run(broken, problem, kStages, out, seed);
      EXPECT_TRUE(outcome.check &&
                  llvm::is_contained(part.checks, *outcome.check))
          << outcome.text;
    }
  }
}

} // namespace
