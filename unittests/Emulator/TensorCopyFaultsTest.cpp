//===- TensorCopyFaultsTest.cpp - Mistakes with cp.async.bulk.tensor ------===//
//
// Each check of a copy of a box has a kernel that fails it and one that does
// not.
//
//===----------------------------------------------------------------------===//

#include "TensorHarness.h"

using namespace tile::emulator;

namespace {

using Element = TensorMap::Element;
using Swizzle = TensorMap::Swizzle;

/// A tensor of 64 x 32 halves with boxes of 64 x 16, which are 2048 bytes.
TensorRun makeRun(unsigned threads = 64) {
  TensorRun run;
  run.map = makeMap(Element::F16, {64, 32}, {64, 16});
  run.tensor = makeBytes(4096);
  run.out = makeBytes(2048, 9);
  run.threads = threads;
  return run;
}

TEST(TensorCopyFaultsTest, FindsAMissingWait) {
  TensorRun run = makeRun(32);
  const std::string load = loadBox(run.map, "{0, 0}");
  expectCheck(run.run(load + dumpTile(2048, 16, 32)), Check::AsyncRace,
              "cp.async.bulk.tensor");
  EXPECT_FINE(run.run(load + waitForTile() + dumpTile(2048, 16, 32)));
  // One warp waits, and the other one does not.
  run = makeRun();
  const std::string skip =
      "bar.sync 0; setp.eq.u32 %q2, %w, 1; @%q2 bra SKIP;\n" + waitForTile() +
      "SKIP:\n";
  expectCheck(run.run(load + skip + dumpTile(2048)), Check::AsyncRace);
  EXPECT_FINE(run.run(load + skip + "bar.sync 0;\n" + dumpTile(2048)));
  // Not even the last byte may be touched.
  expectCheck(run.run(load + "@%q0 ld.shared.b32 %r1, [%tile+2044];\n"),
              Check::AsyncRace);
  EXPECT_FINE(run.run(load +
                      "mov.u32 %r0, 1; st.shared.b32 [%tile+2048], "
                      "%r0;\n" +
                      waitForTile()));
}

TEST(TensorCopyFaultsTest, CountsTheWholeBox) {
  TensorRun run = makeRun();
  auto load = [](unsigned bytes, const char *coordinates) {
    return "@%q0 mbarrier.arrive.expect_tx.shared.b64 _, [%bar], " +
           std::to_string(bytes) +
           ";\n@%q0 cp.async.bulk.tensor.2d.shared::cta.global."
           "mbarrier::complete_tx::bytes [%tile], [%map, " +
           coordinates + "], [%bar];\n" + waitForTile();
  };
  EXPECT_FINE(run.run(load(2048, "{0, 0}")));
  // Bytes outside the tensor count too.
  EXPECT_FINE(run.run(load(2048, "{60, 30}")));
  expectCheck(run.run(load(4 * 2 * 2, "{60, 30}")), Check::Deadlock);
  expectCheck(run.run(load(4096, "{0, 0}")), Check::Deadlock,
              "2048 bytes to come");
  // Gaps do not.
  run.map = makeMap(Element::B4x16P64, {128, 32}, {128, 16});
  EXPECT_FINE(run.run(load(1024, "{0, 0}")));
  expectCheck(run.run(load(2048, "{0, 0}")), Check::Deadlock,
              "1024 bytes to come");
}

TEST(TensorCopyFaultsTest, FindsAMissingProxyFence) {
  TensorRun run = makeRun();
  const std::string fill = fillTile(2048);
  const std::string store = storeBox(run.map, "{0, 16}") + kStoreWait;
  expectCheck(run.run(fill + "bar.sync 0;\n" + store), Check::ProxyFence,
              "st.shared.v4.b32");
  EXPECT_FINE(run.run(fill + kPublish + store));
  // A fence does not replace the barrier.
  expectCheck(run.run(fill + "fence.proxy.async.shared::cta;\n" + store),
              Check::SharedRace);
  // A load writes over what was stored.
  const std::string load = loadBox(run.map, "{0, 0}") + waitForTile();
  expectCheck(run.run(fill + "bar.sync 0;\n" + load), Check::ProxyFence);
  EXPECT_FINE(run.run(fill + kPublish + load));
  // What a load wrote, a store may read.
  EXPECT_FINE(run.run(load + store));
}

TEST(TensorCopyFaultsTest, FindsMemoryThatIsUsedTooEarly) {
  TensorRun run = makeRun();
  const std::string begin =
      fillTile(2048) + kPublish + storeBox(run.map, "{0, 0}");
  const std::string again = "@%q0 st.shared.b32 [%tile+1024], 0;\n";
  expectCheck(run.run(begin + again + kStoreWait), Check::AsyncRace,
              "reads it asynchronously");
  EXPECT_FINE(run.run(begin + kStoreWait + again));
  EXPECT_FINE(run.run(begin + "ld.shared.b32 %r4, [%tile];\n" + kStoreWait));
  expectCheck(run.run(begin), Check::AsyncRace, "the block ends");
  // A commit that is missing, too.
  const std::string uncommitted =
      fillTile(2048) + kPublish +
      "@%q0 cp.async.bulk.tensor.2d.global.shared::cta.bulk_group "
      "[%map, {0, 0}], [%tile];\n";
  expectCheck(run.run(uncommitted + kStoreWait), Check::AsyncRace,
              "the block ends");
  // What is stored arrives with the wait that is not .read.
  const std::string look = "@%q0 ld.global.b32 %r8, [%p0];\n"
                           "@%q0 st.global.b32 [%p1], %r8;\n";
  for (bool isRead : {true, false}) {
    run = makeRun();
    const std::vector<uint8_t> values = run.out, before = run.tensor;
    EXPECT_FINE(run.run(
        begin + (isRead ? kStoreWait : "@%q0 cp.async.bulk.wait_group 0;\n") +
        look));
    EXPECT_TRUE(std::equal(run.out.begin(), run.out.begin() + 4,
                           isRead ? before.begin() : values.begin()));
    EXPECT_TRUE(std::equal(values.begin(), values.end(), run.tensor.begin()));
  }
}

TEST(TensorCopyFaultsTest, OrdersCopiesAmongEachOther) {
  TensorRun run = makeRun();
  // A load over what a store still reads.
  const std::string begin =
      fillTile(2048) + kPublish + storeBox(run.map, "{0, 0}");
  const std::string load = loadBox(run.map, "{0, 16}") + waitForTile();
  expectCheck(run.run(begin + load + kStoreWait), Check::AsyncRace,
              "reads it asynchronously");
  EXPECT_FINE(run.run(begin + kStoreWait + load));
  // A store of what a load still writes.
  const std::string read = storeBox(run.map, "{0, 0}") + kStoreWait;
  expectCheck(run.run(loadBox(run.map, "{0, 16}") + read), Check::AsyncRace,
              "copies to it asynchronously");
  EXPECT_FINE(run.run(load + read));
  // And a load over what another load still writes.
  auto twice = [](const std::string &to) {
    const std::string copy = "@%q0 cp.async.bulk.tensor.2d.shared::cta.global."
                             "mbarrier::complete_tx::bytes [%tile";
    return "@%q0 mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 4096;\n" +
           copy + "], [%map, {0, 0}], [%bar];\n" + copy + to +
           "], [%map, {0, 16}], [%bar];\n" + waitForTile();
  };
  expectCheck(run.run(twice("+1024")), Check::AsyncRace,
              "copies to it asynchronously");
  EXPECT_FINE(run.run(twice("+2048")));
  // Another warp's memory needs a barrier also after the wait.
  const std::string other = "setp.eq.u32 %q3, %t, 32; mov.u32 %r9, 7;\n@%q3 "
                            "st.shared.b32 [%tile], %r9;\n";
  expectCheck(run.run(begin + kStoreWait + other), Check::SharedRace);
  EXPECT_FINE(run.run(begin + kStoreWait + "bar.sync 0;\n" + other));
}

TEST(TensorCopyFaultsTest, FindsBlocksThatStoreToOnePlace) {
  TensorRun run = makeRun();
  LaunchOptions options;
  options.grid = {2, 1, 1};
  const std::string fill = fillTile(2048);
  const std::string change = "mov.u32 %r9, %ctaid.x;\n"
                             "@%q0 st.shared.b32 [%tile+16], %r9;\n";
  const std::string store = kPublish + storeBox(run.map, "{0, 0}") + kStoreWait;
  EXPECT_FINE(run.run(fill + store, "", options));
  expectCheck(run.run(fill + change + store, "", options), Check::WriteWrite,
              "offset 0 of buffer");
  // Each its own.
  EXPECT_FINE(run.run("mov.u32 %r8, %ctaid.x; shl.b32 %r8, %r8, 4;\n" + fill +
                          change + kPublish + storeBox(run.map, "{0, %r8}") +
                          kStoreWait,
                      "", options));
}

TEST(TensorCopyFaultsTest, FindsUnwrittenValues) {
  TensorRun run = makeRun();
  expectCheck(run.run(storeBox(run.map, "{0, 0}") + kStoreWait),
              Check::Uninitialized, "offset 0 of 'tile'");
  // Those that are dropped do no harm.
  const std::string fill = "mov.u32 %r60, 0; @%q0 st.shared.b32 [%tile+4], "
                           "%r60;\n";
  EXPECT_FINE(
      run.run(fill + kPublish + storeBox(run.map, "{-64, 0}") + kStoreWait));
  expectCheck(
      run.run(fill + kPublish + storeBox(run.map, "{-62, -15}") + kStoreWait),
      Check::Uninitialized, "offset 2044 of 'tile'");
  // A coordinate is a value like any other.
  expectCheck(run.run(loadBox(run.map, "{%r9, 0}")), Check::Uninitialized,
              "a coordinate of a tensor");
  EXPECT_FINE(run.run("mov.u32 %r9, 0;\n" + loadBox(run.map, "{%r9, 0}")));
  // The gaps between packed elements.
  run.map = makeMap(Element::B4x16P64, {128, 32}, {128, 16});
  const std::string load = loadBox(run.map, "{0, 0}") + waitForTile();
  expectCheck(run.run(fillTile(2048) + kPublish + load + dumpTile(2048)),
              Check::Uninitialized);
  EXPECT_FINE(run.run(fillTile(2048) + kPublish + load + dumpTile(2048, 8)));
}

TEST(TensorCopyFaultsTest, ChecksAddresses) {
  TensorRun run = makeRun();
  auto load = [&](const std::string &to, const std::string &mbarrier = "%bar",
                  const std::string &map = "%map") {
    return run.run(
        "@%q0 mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 2048;\n"
        "@%q0 cp.async.bulk.tensor.2d.shared::cta.global."
        "mbarrier::complete_tx::bytes [" +
        to + "], [" + map + ", {0, 0}], [" + mbarrier + "];\n" + waitForTile());
  };
  EXPECT_FINE(load("%tile+128"));
  expectCheck(load("%tile+64"), Check::Misaligned, "not a multiple of 128");
  EXPECT_FINE(load("%tile+63488"));
  expectCheck(load("%tile+63616"), Check::OutOfBounds, "past the end");
  expectCheck(load("%tile", "%tile"), Check::Synchronization,
              "none has been initialized");
  expectCheck(load("%tile", "%tile+4"), Check::Misaligned);
  // The map's own place.
  expectCheck(load("%tile", "%bar", "%map+8"), Check::Misaligned,
              "not a multiple of 64");
  expectCheck(load("%tile", "%bar", "%map+64"), Check::OutOfBounds,
              "which have");
  expectCheck(load("%tile", "%bar", "%p0"), Check::IllegalOperand,
              "offset 0 of buffer 'tensor' is no tensor map");
  expectCheck(load("%tile", "%bar", "%p0+4032"), Check::OutOfBounds,
              "read of the tensor map");
  expectCheck(
      run.run("cvta.shared.u64 %map, tile;\n" + loadBox(run.map, "{0, 0}")),
      Check::IllegalOperand, "an address in shared memory");
  expectCheck(run.run(".local .align 64 .b8 copy[128];\n"
                      "cvta.local.u64 %map, copy;\n" +
                      loadBox(run.map, "{0, 0}")),
              Check::IllegalOperand, "an address in local memory");
  expectCheck(run.run("mov.u64 %map, 64;\n" + loadBox(run.map, "{0, 0}")),
              Check::OutOfBounds, "a null pointer's");
}

TEST(TensorCopyFaultsTest, ChecksTheTensor) {
  TensorRun run = makeRun();
  const std::string load = loadBox(run.map, "{0, 20}") + waitForTile();
  EXPECT_FINE(run.run(load));
  // A map that promises more than the buffer has.
  run.map.extents[1] = 33;
  expectCheck(run.run(load), Check::OutOfBounds, "offset 4096 of buffer");
  EXPECT_FINE(run.run(loadBox(run.map, "{0, 0}") + waitForTile()));
  expectCheck(run.run(fillTile(2048) + kPublish + storeBox(run.map, "{0, 20}") +
                      kStoreWait),
              Check::OutOfBounds, "offset 4096 of buffer");
  // Strides that leave the address space.
  run.map.extents[1] = uint64_t(1) << 32;
  run.map.strides[0] = (uint64_t(1) << 40) - 16;
  expectCheck(run.run(loadBox(run.map, "{0, 2147483600}")), Check::OutOfBounds);
  // A box larger than any memory.
  run.map = makeMap(Element::F64, {256, 256, 256, 256, 256},
                    {256, 256, 256, 256, 256});
  const std::string huge = "[%map, {0, 0, 0, 0, 0}]";
  expectCheck(run.run("@%q0 cp.async.bulk.tensor.5d.shared::cta.global."
                      "mbarrier::complete_tx::bytes [%tile], " +
                      huge + ", [%bar];\n"),
              Check::OutOfBounds, "of 8796093022208 bytes at shared address");
  expectCheck(run.run("@%q0 cp.async.bulk.tensor.5d.global.shared::cta."
                      "bulk_group " +
                      huge + ", [%tile];\n"),
              Check::OutOfBounds);
  run = makeRun();
  const std::string store =
      fillTile(2048) + kPublish + storeBox(run.map, "{0, 0}") + kStoreWait;
  EXPECT_FINE(run.run(store));
  run.isReadOnly = true;
  expectCheck(run.run(store), Check::ReadOnlyStore);
}

TEST(TensorCopyFaultsTest, ChecksTheMap) {
  TensorRun run = makeRun();
  const std::string load = loadBox(run.map, "{0, 0}") + waitForTile();
  EXPECT_FINE(run.run(load));
  // Any byte that is damaged.
  for (unsigned byte = 0; byte < 128; byte += 7) {
    run.damage = [byte](TensorMapObject &object) { object[byte] ^= 0x10; };
    expectCheck(run.run(load), Check::IllegalOperand, "is no tensor map");
  }
  run.damage = nullptr;
  run.map = makeMap(Element::F16, {64, 32, 2}, {64, 8, 2});
  expectCheck(run.run(load), Check::IllegalOperand,
              "expects a tensor map of 2 dimensions, but got one of 3");
  // Not modelled, since no manual says what they do.
  for (Element element : {Element::F32Ftz, Element::TF32, Element::TF32Ftz}) {
    run.map = makeMap(element, {32, 32}, {32, 16});
    expectCheck(
        run.run(load), Check::IllegalOperand,
        ("does not know what becomes of ." + getTensorElementName(element))
            .str());
  }
  run.map = makeMap(Element::F16, {64, 4, 4}, {64, 4, 4});
  run.map.interleave = TensorMap::Interleave::Bytes16;
  expectCheck(run.run(loadBox(run.map, "{0, 0, 0}")), Check::IllegalOperand,
              "interleaved layouts");
  run.map = makeMap(Element::F16, {64, 32}, {32, 32});
  run.map.swizzle = Swizzle::Bytes128;
  expectCheck(run.run(load), Check::IllegalOperand,
              "expects rows of 128 bytes with a swizzle of 128, but got a box "
              "with rows of 64");
  run.map.swizzle = Swizzle::Bytes64;
  EXPECT_FINE(run.run(load));
}

TEST(TensorCopyFaultsTest, ChecksElementsSmallerThanAByte) {
  TensorRun run = makeRun();
  auto load = [&](const char *coordinates, const char *space = "shared::cta") {
    return run.run(loadBox(run.map, coordinates, "%tile", space) +
                   waitForTile());
  };
  run.map = makeMap(Element::B4x16, {128, 32}, {128, 16});
  EXPECT_FINE(load("{2, 0}"));
  expectCheck(load("{3, 0}"), Check::IllegalOperand,
              "multiple of 2 of .b4x16, but got 3");
  run.map = makeMap(Element::B4x16P64, {256, 16}, {128, 16});
  EXPECT_FINE(load("{-128, 0}"));
  expectCheck(load("{64, 0}"), Check::IllegalOperand,
              "multiple of 128 of .b4x16_p64, but got 64");
  // It can only be loaded.
  expectCheck(run.run(fillTile(2048) + kPublish + storeBox(run.map, "{0, 0}") +
                      kStoreWait),
              Check::IllegalOperand,
              "expects a type that can be stored, but got .b4x16_p64");
  // And with 64-byte atoms, 6 bits can only be stored.
  run.map = makeMap(Element::B6x16P32, {128, 16}, {128, 16});
  run.tensor = makeBytes(96 * 16);
  run.map.swizzle = Swizzle::Bytes128Atom64;
  expectCheck(load("{0, 0}"), Check::IllegalOperand, "only of stores");
  EXPECT_FINE(run.run(fillTile(2048) + kPublish + storeBox(run.map, "{0, 0}") +
                      kStoreWait));
  // Nor do they reduce.
  expectCheck(run.run(fillTile(2048) + kPublish +
                      "@%q0 cp.reduce.async.bulk.tensor.2d.global.shared::cta."
                      "add.bulk_group [%map, {0, 0}], [%tile];\n"),
              Check::IllegalOperand,
              "expects a type that .add is defined on, but got .b6x16_p32");
}

TEST(TensorCopyFaultsTest, ChecksTheTarget) {
  TensorRun run = makeRun();
  auto load = [&](const char *target, const char *space) {
    run.target = target;
    return run.run(loadBox(run.map, "{0, 0}", "%tile", space) + waitForTile());
  };
  const char *kCluster = "shared::cluster", *kBlock = "shared::cta";
  for (const char *target : {"sm_90a", "sm_100a", "sm_120a", "sm_121a"})
    for (const char *space : {kCluster, kBlock})
      EXPECT_FINE(load(target, space));
  auto expectAll = [&](const char *what) {
    for (const char *target : {"sm_100a", "sm_103a", "sm_110a"})
      for (const char *space : {kCluster, kBlock})
        EXPECT_FINE(load(target, space));
    for (const char *target : {"sm_120a", "sm_121a"}) {
      EXPECT_FINE(load(target, kBlock));
      expectCheck(load(target, kCluster), Check::IllegalOperand,
                  "expects a destination in .shared::cta on sm_12");
      expectCheck(load(target, kCluster), Check::IllegalOperand, what);
    }
    for (const char *space : {kCluster, kBlock})
      expectCheck(load("sm_90a", space), Check::IllegalOperand,
                  "expects sm_100 or newer for");
  };
  run.map = makeMap(Element::B4x16, {128, 32}, {128, 16});
  expectAll("elements of .b4x16");
  run.map = makeMap(Element::B4x16P64, {256, 16}, {128, 16});
  expectAll("elements of .b4x16_p64");
  run.map = makeMap(Element::F16, {64, 32}, {64, 16});
  run.map.swizzle = Swizzle::Bytes128Atom32;
  expectAll("a swizzle of 128-atom32");
}

TEST(TensorCopyFaultsTest, ChecksReductions) {
  TensorRun run = makeRun();
  run.map = makeMap(Element::S32, {32, 32}, {32, 16});
  auto reduce = [&](const char *operation) {
    return run.run(fillTile(2048) + kPublish +
                   "@%q0 cp.reduce.async.bulk.tensor.2d.global.shared::cta." +
                   operation +
                   ".bulk_group [%map, {0, 0}], [%tile];\n"
                   "@%q0 cp.async.bulk.commit_group;\n" +
                   kStoreWait);
  };
  EXPECT_FINE(reduce("max"));
  expectCheck(reduce("inc"), Check::IllegalOperand,
              "a type that .inc is defined on, but got .s32");
  run.map.element = Element::F32;
  EXPECT_FINE(reduce("add"));
  expectCheck(reduce("max"), Check::IllegalOperand, "but got .f32");
  expectCheck(reduce("xor"), Check::IllegalOperand, "but got .f32");
}

} // namespace
