//===- TensorCopiesTest.cpp - cp.async.bulk.tensor ------------------------===//

#include "TensorHarness.h"

using namespace tile::emulator;

namespace {

using Element = TensorMap::Element;
using Swizzle = TensorMap::Swizzle;

/// Loads a box to `base` and compares all of the tile, whose other bytes must
/// stay as they were.
void expectLoad(const TensorMap &map, const std::vector<int32_t> &coordinates,
                uint32_t base = 0, const std::string &target = "sm_100a") {
  SCOPED_TRACE(getTensorElementName(map.element).str() + " " +
               getTensorSwizzleName(map.swizzle).str() + " at " +
               printCoordinates(coordinates) + " to " + std::to_string(base));
  const bool isPadded = map.element == Element::B4x16P64;
  const unsigned data = isPadded                           ? 8
                        : map.element == Element::B6x16P32 ? 12
                                                           : 16;
  const unsigned size = (base + countShared(map) + 2047) / 1024 * 1024;
  TensorRun run;
  run.map = map;
  run.target = target;
  run.isReadOnly = true;
  run.tensor = makeBytes(getTensorBytes(map));
  run.out = makeBytes(size, 7);
  std::vector<uint8_t> expected = run.out;
  for (const Nibble &nibble : findNibbles(map, coordinates, base)) {
    uint8_t fill = 0;
    if (map.fill == TensorMap::Fill::NaN)
      fill = nibble.inElement == map.getElementBits() / 4 - 1 ? 7 : 15;
    setNibble(expected, nibble.shared,
              nibble.isInside ? getNibble(run.tensor, nibble.global) : fill);
  }
  Outcome outcome = run.run(fillTile(size) + kPublish +
                            loadBox(map, printCoordinates(coordinates),
                                    "%tile+" + std::to_string(base)) +
                            waitForTile() + dumpTile(size, data));
  ASSERT_EQ(outcome.text, "");
  for (size_t i = 0; i != size; ++i)
    ASSERT_EQ(run.out[i], expected[i]) << "byte " << i;
}

TEST(TensorCopiesTest, LoadsTwoDimensions) {
  TensorMap map = makeMap(Element::F16, {200, 50}, {64, 16});
  expectLoad(map, {0, 0});
  expectLoad(map, {64, 32});
  expectLoad(map, {3, 7}, 256);
}

TEST(TensorCopiesTest, LoadsPastEveryEdge) {
  TensorMap map = makeMap(Element::F16, {200, 50}, {64, 16}, 16);
  for (int32_t x : {-70, -64, -63, -1, 0, 136, 137, 199, 200, 1000})
    for (int32_t y : {-17, -5, 0, 34, 40, 50})
      expectLoad(map, {x, y});
  expectLoad(map, {INT32_MIN, INT32_MAX});
  map.fill = TensorMap::Fill::NaN;
  expectLoad(map, {-5, 45});
}

TEST(TensorCopiesTest, LoadsEverySwizzle) {
  for (Swizzle swizzle : {Swizzle::Bytes32, Swizzle::Bytes64, Swizzle::Bytes128,
                          Swizzle::Bytes128Atom32, Swizzle::Bytes128Atom32Flip8,
                          Swizzle::Bytes128Atom64}) {
    const unsigned span = getTensorSwizzleSpan(swizzle);
    TensorMap map = makeMap(Element::U8, {512, 64}, {span, 24});
    map.swizzle = swizzle;
    // The pattern follows the address, wherever the box begins.
    for (uint32_t base : {0, 128, 384, 512, 896})
      expectLoad(map, {16, 3}, base);
    expectLoad(map, {500, 50}, 256);
  }
}

TEST(TensorCopiesTest, LoadsEveryType) {
  for (Element element : {Element::U8, Element::U16, Element::U32, Element::S32,
                          Element::U64, Element::S64, Element::F16,
                          Element::F32, Element::F64, Element::BF16}) {
    TensorMap map = makeMap(element, {48, 20}, {16, 8});
    expectLoad(map, {-3, 15}, 0, "sm_90");
    switch (element) {
    case Element::F16:
    case Element::F32:
    case Element::F64:
    case Element::BF16:
      map.fill = TensorMap::Fill::NaN;
      expectLoad(map, {40, -2}, 128, "sm_90a");
      break;
    default:
      break;
    }
  }
}

TEST(TensorCopiesTest, LoadsElementsSmallerThanAByte) {
  TensorMap packed = makeMap(Element::B4x16, {384, 20}, {256, 8});
  for (int32_t x : {-200, -2, 0, 6, 128, 300})
    expectLoad(packed, {x, 15});
  packed.swizzle = Swizzle::Bytes128;
  expectLoad(packed, {130, -1}, 512);
  for (Element element : {Element::B4x16P64, Element::B6x16P32}) {
    TensorMap padded = makeMap(element, {384, 20}, {128, 12});
    for (Swizzle swizzle :
         {Swizzle::None, Swizzle::Bytes128, Swizzle::Bytes128Atom32}) {
      padded.swizzle = swizzle;
      for (int32_t x : {-128, 0, 128, 256, 384})
        expectLoad(padded, {x, 12});
      expectLoad(padded, {128, -3}, 640);
    }
  }
}

TEST(TensorCopiesTest, LoadsEveryRank) {
  expectLoad(makeMap(Element::F32, {100}, {32}), {80});
  expectLoad(makeMap(Element::F32, {12, 9, 7}, {8, 4, 3}), {6, -1, 5});
  expectLoad(makeMap(Element::BF16, {16, 5, 4, 3}, {8, 3, 2, 2}),
             {10, 1, 3, -1});
  expectLoad(makeMap(Element::U8, {16, 5, 4, 3, 6}, {16, 3, 2, 2, 3}),
             {0, 3, 1, 2, 4}, 128);
}

TEST(TensorCopiesTest, LoadsEveryFewElements) {
  TensorMap map = makeMap(Element::F32, {40, 30, 9}, {8, 12, 5});
  // That of the innermost dimension has no effect.
  map.elementStrides = {4, 3, 2, 1, 1};
  expectLoad(map, {5, 7, 1});
  expectLoad(map, {36, -5, 6});
  map.box[1] = 13; // Rounded up.
  expectLoad(map, {0, 0, 0});
}

TEST(TensorCopiesTest, TakesOtherSpellings) {
  TensorMap map = makeMap(Element::F16, {64, 16}, {64, 16});
  auto run = [&](const std::string &words, const std::string &operands,
                 const std::string &target) {
    TensorRun run;
    run.map = map;
    run.target = target;
    run.tensor = makeBytes(2048);
    run.out.resize(2048);
    Outcome outcome = run.run(
        "@%q0 mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 2048;\n"
        "mov.u16 %h0, 1; mov.u16 %h1, 3; mov.u32 %r0, 0; mov.u64 %d0, 0;\n"
        "mov.u32 %r1, 0; cvta.shared.u64 %d1, tile;\n"
        "@%q0 cp.async.bulk.tensor.2d." +
        words + " " + operands + ";\n" + waitForTile() + dumpTile(2048));
    if (outcome.isFine()) {
      EXPECT_EQ(run.out, run.tensor);
    }
    return outcome;
  };
  const std::string end = ".global.mbarrier::complete_tx::bytes";
  const std::string plain = "[%tile], [%map, {%r0, %r1}], [%bar]";
  EXPECT_FINE(run("shared::cluster" + end, plain, "sm_90"));
  EXPECT_FINE(run("shared::cta" + end, plain, "sm_120"));
  EXPECT_FINE(run("shared::cta" + end + ".cta_group::1", plain, "sm_100a"));
  EXPECT_FINE(run("cta_group::1.shared::cluster" + end, plain, "sm_103a"));
  EXPECT_FINE(run("shared::cluster" + end + ".multicast::cluster",
                  plain + ", %h0", "sm_90a"));
  EXPECT_FINE(
      run("shared::cluster" + end + ".multicast::cluster.L2::cache_hint",
          plain + ", %h0, %d0", "sm_110a"));
  expectCheck(run("shared::cluster" + end + ".multicast::cluster",
                  plain + ", %h1", "sm_90a"),
              Check::IllegalOperand, "a mask of 1 in a cluster of one block");
  // What is not modelled is named.
  auto refuses = [&](const Outcome &outcome, llvm::StringRef words) {
    EXPECT_FALSE(outcome.check.has_value());
    EXPECT_NE(outcome.text.find(words), std::string::npos) << outcome.text;
  };
  refuses(run("shared::cluster" + end + ".cta_group::2", plain, "sm_100a"),
          ".cta_group::2 is not modelled");
  refuses(run("shared::cta" + end + ".cta_group::1", plain, "sm_120a"),
          ".cta_group::1 expects sm_100a");
  refuses(run("shared::cluster.global.im2col.mbarrier::complete_tx::bytes",
              plain, "sm_90"),
          ".im2col is not modelled");
  refuses(run("shared::cta" + end, plain, "sm_89"), "expects sm_90 or newer");
  refuses(run("shared::cta" + end + ".multicast::cluster", plain + ", %h0",
              "sm_90"),
          "multicast::cluster");
  refuses(run("shared::cta" + end, "[%tile], [%map, {%r0}], [%bar]", "sm_90"),
          "expects 2 elements in braces");
  refuses(run("shared::cta" + end, "[%tile], [%map], [%bar]", "sm_90"),
          "expects a tensor map and coordinates");
  refuses(run("shared::cta" + end, "[%tile], [m, {%r0, %r1}], [%bar]", "sm_90"),
          "expects the generic address of a tensor map");
  refuses(run("shared::cta.global.tile", plain, "sm_90"),
          "expects .mbarrier::complete_tx::bytes");
  refuses(run("shared::cta.shared::cta.tile", plain, "sm_90"),
          "expects .shared::cta.global, .shared::cluster.global");
}

/// Stores a box from `base` and compares the whole tensor.
void expectStore(const TensorMap &map, const std::vector<int32_t> &coordinates,
                 uint32_t base = 0) {
  SCOPED_TRACE(getTensorElementName(map.element).str() + " " +
               getTensorSwizzleName(map.swizzle).str() + " at " +
               printCoordinates(coordinates) + " from " + std::to_string(base));
  const unsigned size = (base + countShared(map) + 2047) / 1024 * 1024;
  TensorRun run;
  run.map = map;
  run.tensor = makeBytes(getTensorBytes(map));
  run.out = makeBytes(size, 7);
  std::vector<uint8_t> expected = run.tensor;
  for (const Nibble &nibble : findNibbles(map, coordinates, base))
    if (nibble.isInside)
      setNibble(expected, nibble.global, getNibble(run.out, nibble.shared));
  Outcome outcome = run.run(fillTile(size) + kPublish +
                            storeBox(map, printCoordinates(coordinates),
                                     "%tile+" + std::to_string(base)) +
                            kStoreWait);
  ASSERT_EQ(outcome.text, "");
  for (size_t i = 0; i != expected.size(); ++i)
    ASSERT_EQ(run.tensor[i], expected[i]) << "byte " << i;
}

TEST(TensorCopiesTest, StoresWhatIsInside) {
  TensorMap map = makeMap(Element::F16, {200, 50}, {64, 16}, 16);
  for (int32_t x : {-70, -63, 0, 137, 199, 200})
    for (int32_t y : {-16, -5, 0, 40, 50})
      expectStore(map, {x, y});
  // A fill is for loads.
  map.fill = TensorMap::Fill::NaN;
  expectStore(map, {-5, 45}, 128);
  expectStore(makeMap(Element::F32, {100}, {32}), {80});
  expectStore(makeMap(Element::U8, {16, 5, 4, 3, 6}, {16, 3, 2, 2, 3}),
              {0, 3, 1, 2, 4}, 128);
  TensorMap sparse = makeMap(Element::F32, {40, 30, 9}, {8, 12, 5});
  sparse.elementStrides = {4, 3, 2, 1, 1};
  expectStore(sparse, {36, -5, 6});
}

TEST(TensorCopiesTest, StoresEverySwizzle) {
  for (Swizzle swizzle : {Swizzle::Bytes32, Swizzle::Bytes64, Swizzle::Bytes128,
                          Swizzle::Bytes128Atom32, Swizzle::Bytes128Atom32Flip8,
                          Swizzle::Bytes128Atom64}) {
    const unsigned span = getTensorSwizzleSpan(swizzle);
    TensorMap map = makeMap(Element::U16, {256, 64}, {span / 2, 24});
    map.swizzle = swizzle;
    for (uint32_t base : {0, 128, 384, 896})
      expectStore(map, {250, 50}, base);
  }
}

TEST(TensorCopiesTest, StoresElementsSmallerThanAByte) {
  TensorMap packed = makeMap(Element::B4x16, {384, 20}, {256, 8});
  packed.swizzle = Swizzle::Bytes128;
  for (int32_t x : {-200, 6, 128, 300})
    expectStore(packed, {x, 15});
  TensorMap padded = makeMap(Element::B6x16P32, {384, 20}, {128, 12});
  for (Swizzle swizzle : {Swizzle::None, Swizzle::Bytes128,
                          Swizzle::Bytes128Atom32, Swizzle::Bytes128Atom64}) {
    padded.swizzle = swizzle;
    for (int32_t x : {-128, 0, 256, 384})
      expectStore(padded, {x, 12});
  }
}

TEST(TensorCopiesTest, MovesFourRows) {
  TensorMap map = makeMap(Element::F16, {64, 40}, {64, 1});
  map.swizzle = Swizzle::Bytes128;
  const std::vector<int32_t> rows = {31, -1, 7, 40};
  auto at = [&](unsigned row, unsigned byte) {
    return findSwizzled(map.swizzle, row * 128 + byte);
  };
  TensorRun run;
  run.map = map;
  run.threads = 32;
  run.tensor = makeBytes(getTensorBytes(map));
  run.out.resize(512);
  EXPECT_FINE(
      run.run("@%q0 mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 512;\n"
              "@%q0 cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4."
              "mbarrier::complete_tx::bytes [%tile], "
              "[%map, {8, 31, -1, 7, 40}], [%bar];\n" +
              waitForTile() + dumpTile(512, 16, 32)));
  for (unsigned row = 0; row != 4; ++row)
    for (unsigned byte = 0; byte != 128; ++byte) {
      const bool isInside = rows[row] >= 0 && rows[row] < 40 && byte < 112;
      EXPECT_EQ(run.out[at(row, byte)],
                isInside ? run.tensor[rows[row] * 128 + byte + 16] : 0)
          << row << ", " << byte;
    }
  run.out = makeBytes(512, 3);
  std::vector<uint8_t> expected = run.tensor;
  for (unsigned row : {0, 2})
    for (unsigned byte = 0; byte != 112; ++byte)
      expected[rows[row] * 128 + byte + 16] = run.out[at(row, byte)];
  EXPECT_FINE(
      run.run(fillTile(512, 32) + kPublish +
              "@%q0 cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4."
              "bulk_group [%map, {8, 31, -1, 7, 40}], [%tile];\n"
              "@%q0 cp.async.bulk.commit_group;\n" +
              kStoreWait));
  EXPECT_EQ(run.tensor, expected);
  // A box of several rows is another matter.
  run.map.box[1] = 2;
  expectCheck(
      run.run("@%q0 cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4."
              "mbarrier::complete_tx::bytes [%tile], "
              "[%map, {8, 31, -1, 7, 40}], [%bar];\n"),
      Check::IllegalOperand, "a box of one row, but got a box of 2 rows");
}

template <typename T>
void expectReduction(Element element, const std::string &operation,
                     T (*combine)(T, T)) {
  SCOPED_TRACE(operation + " " + getTensorElementName(element).str());
  TensorMap map = makeMap(element, {40, 20}, {16, 8});
  TensorRun run;
  run.map = map;
  run.tensor = makeBytes(getTensorBytes(map));
  run.out = makeBytes(2048, 5);
  const std::vector<T> values = fromBytes<T>(run.out);
  std::vector<T> expected = fromBytes<T>(run.tensor);
  for (int y = 0; y != 8; ++y)
    for (int x = 0; x != 16; ++x)
      if (30 + x < 40 && y >= 3) {
        T &to = expected[(y - 3) * 40 + 30 + x];
        to = combine(to, values[y * 16 + x]);
      }
  EXPECT_FINE(run.run(
      fillTile(2048) + kPublish +
      "@%q0 cp.reduce.async.bulk.tensor.2d.global.shared::cta." + operation +
      ".tile.bulk_group [%map, {30, -3}], [%tile];\n"
      "@%q0 cp.async.bulk.commit_group;\n" +
      kStoreWait));
  EXPECT_EQ(fromBytes<T>(run.tensor), expected);
}

TEST(TensorCopiesTest, Reduces) {
  using U32 = uint32_t;
  using U64 = uint64_t;
  expectReduction<U32>(Element::U32, "add", [](U32 a, U32 b) { return a + b; });
  expectReduction<U32>(Element::S32, "add", [](U32 a, U32 b) { return a + b; });
  expectReduction<U64>(Element::U64, "add", [](U64 a, U64 b) { return a + b; });
  expectReduction<U32>(Element::U32, "min",
                       [](U32 a, U32 b) { return std::min(a, b); });
  expectReduction<int32_t>(Element::S32, "min",
                           [](int32_t a, int32_t b) { return std::min(a, b); });
  expectReduction<U64>(Element::U64, "max",
                       [](U64 a, U64 b) { return std::max(a, b); });
  expectReduction<int64_t>(Element::S64, "max",
                           [](int64_t a, int64_t b) { return std::max(a, b); });
  expectReduction<U32>(Element::U32, "inc",
                       [](U32 a, U32 b) { return a >= b ? 0 : a + 1; });
  expectReduction<U32>(Element::U32, "dec", [](U32 a, U32 b) {
    return a == 0 || a > b ? b : a - 1;
  });
  expectReduction<U32>(Element::U32, "and", [](U32 a, U32 b) { return a & b; });
  expectReduction<U32>(Element::S32, "or", [](U32 a, U32 b) { return a | b; });
  expectReduction<U64>(Element::S64, "xor", [](U64 a, U64 b) { return a ^ b; });
}

TEST(TensorCopiesTest, ReducesFloats) {
  TensorMap map = makeMap(Element::F32, {16, 8}, {16, 8});
  TensorRun run;
  run.map = map;
  std::vector<float> before(128), values(128), expected(128);
  for (int i = 0; i != 128; ++i) {
    before[i] = static_cast<float>(i * 7 % 13) - 5.25f;
    values[i] = static_cast<float>(i * 5 % 11) * 0.5f;
    expected[i] = before[i] + values[i];
  }
  run.tensor = toBytes(before);
  run.out = toBytes(values);
  run.out.resize(1024);
  EXPECT_FINE(run.run(fillTile(1024) + kPublish +
                      "@%q0 cp.reduce.async.bulk.tensor.2d.global.shared::cta."
                      "add.bulk_group [%map, {0, 0}], [%tile];\n"
                      "@%q0 cp.async.bulk.commit_group;\n" +
                      kStoreWait));
  EXPECT_EQ(fromBytes<float>(run.tensor), expected);
}

TEST(TensorCopiesTest, FindsMapsWhereverTheyAre) {
  // The kernel copies its parameter, so that what it names is a map.
  TensorMap map = makeMap(Element::F16, {64, 16}, {64, 16});
  TensorRun run;
  run.map = map;
  run.tensor = makeBytes(2048);
  run.out.resize(4096);
  // In global memory; behind the output, which is a multiple of 64.
  std::string copy;
  for (int i = 0; i != 128; i += 8)
    copy += "ld.param.b64 %d0, [m+" + std::to_string(i) +
            "]; st.global.b64 [%p1+" + std::to_string(2048 + i) + "], %d0;\n";
  EXPECT_FINE(
      run.run("@!%q0 bra SKIP;\n" + copy +
              "SKIP:\nadd.u64 %map, %p1, 2048; fence.proxy.tensormap::generic."
              "acquire.gpu [%map], 128; bar.sync 0;\n" +
              loadBox(map, "{0, 0}") + waitForTile() + dumpTile(2048)));
  EXPECT_TRUE(
      std::equal(run.tensor.begin(), run.tensor.end(), run.out.begin()));
}

TEST(TensorCopiesTest, FindsMapsInConstants) {
  TensorMap map = makeMap(Element::F16, {64, 16}, {64, 16});
  TensorRun run;
  run.map = map;
  run.tensor = makeBytes(2048);
  run.out.resize(2048);
  // Buffers get the same addresses each time.
  EXPECT_FINE(run.run(""));
  const TensorMapObject object = *run.map.encode();
  std::string module = ".const .align 64 .b8 copy[128] = {";
  for (unsigned i = 0; i != 128; ++i)
    module += (i ? ", " : "") + std::to_string(object[i]);
  run.damage = [](TensorMapObject &parameter) { parameter[0] = 0; };
  const std::string body =
      loadBox(map, "{0, 0}") + waitForTile() + dumpTile(2048);
  EXPECT_FINE(run.run("mov.b64 %map, copy; cvta.const.u64 %map, %map;\n" + body,
                      module + "};"));
  EXPECT_EQ(run.out, run.tensor);
  expectCheck(run.run(body, module + "};"), Check::IllegalOperand,
              "offset 0 of the parameters is no tensor map");
}

TEST(TensorCopiesTest, CountsTraffic) {
  TensorMap map = makeMap(Element::F16, {200, 50}, {64, 16}, 16);
  TensorRun run;
  run.map = map;
  run.tensor = makeBytes(getTensorBytes(map));
  run.out.resize(2048);
  LaunchOptions options;
  options.collectStatistics = true;
  Outcome outcome =
      run.run(loadBox(map, "{-8, 40}") + waitForTile(), "", options);
  EXPECT_FINE(outcome);
  std::string text;
  llvm::raw_string_ostream os(text);
  outcome.statistics.printJson(os, /*perLine=*/true);
  // 10 rows of 56 elements are within.
  EXPECT_NE(text.find("1120"), std::string::npos) << text;
}

} // namespace
