//===- TensorMapUpdatesTest.cpp - Tensor maps that kernels make -----------===//

#include "TensorHarness.h"

using namespace tile::emulator;

namespace {

using Element = TensorMap::Element;
using Swizzle = TensorMap::Swizzle;

/// Fills 128 bytes of shared memory at `tile + 32768` with zeros and makes a
/// map of 64 x 32 halves with boxes of 64 x 16 there; `%made` is a place for it
/// in global memory, behind the output.
const std::string kMake =
    ".reg .b64 %made; .reg .b32 %raw, %zero;\n"
    "add.u64 %made, %p1, 2048; add.u32 %raw, %tile, 32768;\n"
    "mov.u32 %zero, 0; mad.lo.u32 %r0, %t, 4, %raw;\n"
    "setp.lt.u32 %q1, %t, 32; @%q1 st.shared.b32 [%r0], %zero;\n"
    "bar.sync 0; @!%q0 bra MADE;\n";
const std::string kFields =
    "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%raw], %p0;\n"
    "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%raw], 1;\n"
    "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%raw], 0, 64;\n"
    "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%raw], 1, 16;\n"
    "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%raw], 0, 64;\n"
    "tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%raw], 1, 32;\n"
    "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%raw], 0, "
    "128;\n"
    "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%raw], 0, "
    "1;\n"
    "tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%raw], 1, "
    "1;\n"
    "tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%raw], 6;\n";
const std::string kCopy =
    "MADE:\nbar.warp.sync -1; setp.lt.u32 %q2, %t, 32;\n"
    "@%q2 tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic."
    "release.gpu.sync.aligned [%made], [%raw], 128;\nbar.sync 0;\n";
const std::string kAcquire =
    "fence.proxy.tensormap::generic.acquire.gpu [%made], 128;\n";

struct Maker : TensorRun {
  Maker() {
    map = makeMap(Element::F16, {64, 32}, {64, 16});
    tensor = makeBytes(4096);
    out.resize(4096);
  }

  Outcome make(const std::string &more, const std::string &acquire = kAcquire,
               const std::string &fields = kFields) {
    return run(kMake + fields + more + kCopy + acquire +
               "mov.u64 %map, %made;\n" + loadBox(map, "{0, 20}") +
               waitForTile() + dumpTile(2048));
  }

  /// Expects that the map made is `expected`.
  void expectBox(const TensorMap &expected) {
    for (const Nibble &nibble : findNibbles(expected, {0, 20}, 0))
      ASSERT_EQ(getNibble(out, nibble.shared),
                nibble.isInside ? getNibble(tensor, nibble.global) : 0)
          << nibble.shared;
  }
};

TEST(TensorMapUpdatesTest, MakesAMap) {
  Maker maker;
  EXPECT_FINE(maker.make(""));
  maker.expectBox(maker.map);
  // And changes it.
  Maker swizzled;
  EXPECT_FINE(swizzled.make("tensormap.replace.tile.swizzle_mode.shared::cta."
                            "b1024.b32 [%raw], 3;\n"));
  swizzled.map.swizzle = Swizzle::Bytes128;
  swizzled.expectBox(swizzled.map);
  const std::string atomicity =
      "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%raw], 3;\n"
      "tensormap.replace.tile.swizzle_atomicity.shared::cta.b1024.b32 [%raw], ";
  const Swizzle swizzles[] = {Swizzle::Bytes128, Swizzle::Bytes128Atom32,
                              Swizzle::Bytes128Atom32Flip8,
                              Swizzle::Bytes128Atom64};
  for (unsigned i = 0; i != 4; ++i) {
    Maker maker;
    EXPECT_FINE(maker.make(atomicity + std::to_string(i) + ";\n"));
    maker.map.swizzle = swizzles[i];
    maker.expectBox(maker.map);
  }
  Maker filled;
  EXPECT_FINE(filled.make(
      "tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%raw], 1;\n"
      "tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [%raw], "
      "0;\n"));
  EXPECT_EQ(filled.out[12 * 128 + 1], 0x7F);
}

TEST(TensorMapUpdatesTest, ChangesAMapOfTheHost) {
  // A copy of the parameter in global memory, with fewer rows.
  Maker maker;
  std::string copy = ".reg .b64 %made; add.u64 %made, %p1, 2048;\n"
                     "@!%q0 bra SKIP;\n";
  for (int i = 0; i != 128; i += 8)
    copy += "ld.param.b64 %d0, [m+" + std::to_string(i) +
            "]; st.global.b64 [%made+" + std::to_string(i) + "], %d0;\n";
  copy +=
      "tensormap.replace.tile.global_dim.global.b1024.b32 [%made], 1, 25;\n";
  const std::string change = copy + "SKIP:\nbar.sync 0;\n";
  copy += "fence.proxy.tensormap::generic.release.gpu;\nSKIP:\nbar.sync 0;\n";
  const std::string use = "mov.u64 %map, %made;\n" +
                          loadBox(maker.map, "{0, 20}") + waitForTile() +
                          dumpTile(2048);
  EXPECT_FINE(maker.run(copy + kAcquire + use));
  maker.map.extents[1] = 25;
  maker.expectBox(maker.map);
  maker.map.extents[1] = 32;
  expectCheck(maker.run(copy + use), Check::ProxyFence,
              "no fence.proxy.tensormap::generic.acquire follows");
  expectCheck(maker.run(change + kAcquire + use), Check::ProxyFence,
              "no fence.proxy.tensormap::generic.release follows");
}

TEST(TensorMapUpdatesTest, FindsAMissingAcquire) {
  Maker maker;
  expectCheck(maker.make("", ""), Check::ProxyFence,
              "no fence.proxy.tensormap::generic.acquire follows");
  // That of one thread is enough, if the others wait for it.
  EXPECT_FINE(maker.make("", "@%q0 " + kAcquire + "bar.sync 0;\n"));
  // One before the change is not.
  maker = Maker();
  expectCheck(maker.run(kMake + kFields + "MADE:\nbar.sync 0;\n" + kAcquire +
                        "bra LATER;\n" + "LATER:\n" +
                        "setp.lt.u32 %q2, %t, 32;\n"
                        "@%q2 tensormap.cp_fenceproxy.global.shared::cta."
                        "tensormap::generic.release.gpu.sync.aligned [%made], "
                        "[%raw], 128;\nbar.sync 0; mov.u64 %map, %made;\n" +
                        loadBox(maker.map, "{0, 0}")),
              Check::ProxyFence);
}

TEST(TensorMapUpdatesTest, ChecksWhatItIsGiven) {
  Maker maker;
  // A field that is missing is found where the map is used.
  auto without = [](llvm::StringRef field) {
    std::string fields = kFields;
    const size_t at = fields.find(("tensormap.replace.tile." + field).str());
    EXPECT_NE(at, std::string::npos);
    return fields.erase(at, fields.find('\n', at) + 1 - at);
  };
  EXPECT_FINE(maker.make("", kAcquire, kFields));
  expectCheck(maker.make("", kAcquire, without("box_dim")),
              Check::IllegalOperand,
              "box[0] expects 1 to 256 elements, but got 0");
  expectCheck(maker.make("", kAcquire, without("element_stride")),
              Check::IllegalOperand, "elementStrides[0] expects 1 to 8");
  expectCheck(maker.make("", kAcquire, ""), Check::IllegalOperand,
              "is no tensor map");
  auto replace = [](const std::string &rest) {
    return "tensormap.replace.tile." + rest + ";\n";
  };
  expectCheck(maker.make(replace("box_dim.shared::cta.b1024.b32 [%raw], 1, "
                                 "257")),
              Check::IllegalOperand,
              "expects box_dim to be 1 to 256, but got 257");
  expectCheck(maker.make(replace("rank.shared::cta.b1024.b32 [%raw], 5")),
              Check::IllegalOperand, "expects rank to be 0 to 4, but got 5");
  expectCheck(maker.make("st.shared.b32 [%raw+8], 77;\n" +
                         replace("rank.shared::cta.b1024.b32 [%raw], 1")),
              Check::IllegalOperand, "is no tensor map");
  expectCheck(maker.make(replace("rank.shared::cta.b1024.b32 [%raw+4], 1")),
              Check::Misaligned);
  expectCheck(maker.make(replace("rank.shared::cta.b1024.b32 [%raw+1024], 1")),
              Check::Uninitialized);
  expectCheck(maker.make(replace("rank.global.b1024.b32 [%p0+4032], 1")),
              Check::OutOfBounds);
  expectCheck(maker.make(replace("rank.global.b1024.b32 [%p0], 1")),
              Check::IllegalOperand, "is no tensor map");
  expectCheck(maker.make(replace("rank.shared::cta.b1024.b32 [%raw], %r40")),
              Check::Uninitialized, "a field of a tensor map");
  // Another warp's stores need a barrier.
  expectCheck(maker.run(kMake + "MADE:\n@%q0 tensormap.replace.tile.rank."
                                "shared::cta.b1024.b32 [%raw], 1;\n"
                                "setp.eq.u32 %q3, %t, 32;\n@%q3 "
                                "st.shared.b32 [%raw+64], 5;\n"),
              Check::SharedRace);
}

TEST(TensorMapUpdatesTest, DecodesWhatPtxKnows) {
  Maker maker;
  auto refuses = [&](const std::string &text, llvm::StringRef words) {
    Outcome outcome =
        maker.run(".reg .b32 %raw; mov.u32 %raw, %tile;\n" + text);
    EXPECT_FALSE(outcome.check.has_value());
    EXPECT_NE(outcome.text.find(words), std::string::npos) << outcome.text;
  };
  refuses("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%raw], 5, 1;",
          "expects a dimension from 0 to 4, but got 5");
  refuses("tensormap.replace.tile.global_stride.global.b1024.b64 [%p0], 4, 16;",
          "expects a dimension from 0 to 3, but got 4");
  refuses("tensormap.replace.tile.rank.shared::cta.b1024.b64 [%raw], 1;",
          "expects .b32 with .rank");
  refuses("tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%p0], 4;",
          "expects .swizzle_mode to be 0 to 3, but got 4");
  refuses("tensormap.replace.tile.elemtype.global.b1024.b32 [%p0], %r0;",
          "%r0");
  refuses("tensormap.replace.tile.l2.global.b1024.b32 [%p0], 1;",
          "expects .global_address, .rank");
  refuses("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic."
          "release.gpu.sync.aligned [%p0], [%raw], 64;",
          "expects a size of 128, but got 64");
  maker.target = "sm_90a";
  refuses("tensormap.replace.tile.elemtype.global.b1024.b32 [%p0], 13;",
          "expects .elemtype to be 0 to 12, but got 13");
  refuses("tensormap.replace.tile.swizzle_atomicity.global.b1024.b32 [%p0], 1;",
          "expects sm_100 or newer");
  maker.target = "sm_90";
  refuses("tensormap.replace.tile.rank.global.b1024.b32 [%p0], 1;",
          "expects sm_90a or a newer target with a or f, but got sm_90");
}

} // namespace
