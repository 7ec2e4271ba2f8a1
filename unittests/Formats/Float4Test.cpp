//===- Float4Test.cpp - Pairs of FP4 codes and their orders ---------------===//

#include "tile/Formats/Float4.h"

#include "TestUtils.h"

using namespace tile;
using namespace tile::test;

namespace {

constexpr NibbleOrder allOrders[] = {
    NibbleOrder::LowFirst, NibbleOrder::HighFirst, NibbleOrder::GgufMxfp4,
    NibbleOrder::GgufNvfp4};

std::vector<uint8_t> makeCodes(size_t count) {
  std::vector<uint8_t> codes(count);
  for (size_t i = 0; i < count; ++i)
    codes[i] = hash(static_cast<uint32_t>(i)) & 0xF;
  return codes;
}

TEST(Float4Test, EveryPairKeepsItsHalvesApart) {
  for (unsigned bits = 0; bits < 256; ++bits) {
    Float4x2 pair = Float4x2::fromBits(static_cast<uint8_t>(bits));
    EXPECT_EQ(pair.bits(), bits);
    EXPECT_EQ(pair.low(), bits & 15);
    EXPECT_EQ(pair.high(), bits >> 4);
    EXPECT_EQ(Float4x2::fromNibbles(pair.low(), pair.high()), pair);
    EXPECT_EQ(pair.low() == pair.high(),
              Float4x2::fromNibbles(pair.high(), pair.low()) == pair);
  }
  EXPECT_EQ(Float4x2().bits(), 0);
}

TEST(Float4Test, BitsAboveANibbleAreIgnored) {
  EXPECT_EQ(Float4x2::fromNibbles(0xF1, 0xA3).bits(), 0x31);
}

TEST(Float4Test, TheFirstOfAPairIsLow) {
  // 0.5 and 1.5 are codes 1 and 3.
  EXPECT_EQ(get(packFloat4({1, 3}, NibbleOrder::LowFirst)),
            std::vector<uint8_t>{0x31});
  EXPECT_EQ(get(packFloat4({1, 3}, NibbleOrder::HighFirst)),
            std::vector<uint8_t>{0x13});
}

TEST(Float4Test, GgufBlocksPairACodeWithTheOneHalfABlockLater) {
  std::vector<uint8_t> codes = makeCodes(96);
  std::vector<uint8_t> mxfp4 = get(packFloat4(codes, NibbleOrder::GgufMxfp4));
  std::vector<uint8_t> nvfp4 = get(packFloat4(codes, NibbleOrder::GgufNvfp4));
  for (size_t block = 0; block < 3; ++block)
    for (size_t j = 0; j < 16; ++j)
      EXPECT_EQ(mxfp4[block * 16 + j],
                codes[block * 32 + j] | codes[block * 32 + j + 16] << 4);
  for (size_t block = 0; block < 6; ++block)
    for (size_t j = 0; j < 8; ++j)
      EXPECT_EQ(nvfp4[block * 8 + j],
                codes[block * 16 + j] | codes[block * 16 + j + 8] << 4);
}

TEST(Float4Test, UnpackUndoesPackInEveryOrder) {
  std::vector<uint8_t> codes = makeCodes(128);
  for (NibbleOrder order : allOrders)
    EXPECT_EQ(get(unpackFloat4(get(packFloat4(codes, order)), order)), codes);
}

TEST(Float4Test, ConvertingKeepsEveryCodeAndChangesTheBytes) {
  std::vector<uint8_t> codes = makeCodes(128);
  for (NibbleOrder from : allOrders)
    for (NibbleOrder to : allOrders) {
      std::vector<uint8_t> source = get(packFloat4(codes, from));
      std::vector<uint8_t> target = get(convertNibbleOrder(source, from, to));
      EXPECT_EQ(get(unpackFloat4(target, to)), codes);
      EXPECT_EQ(source == target, from == to);
    }
}

TEST(Float4Test, IncompletePeriodsAreErrors) {
  EXPECT_MESSAGE(packFloat4({1, 2, 3}, NibbleOrder::LowFirst),
                 "expects a multiple of 2 FP4 codes for the order "
                 "'low_first', but got 3");
  EXPECT_MESSAGE(packFloat4(makeCodes(48), NibbleOrder::GgufMxfp4),
                 "multiple of 32");
  EXPECT_MESSAGE(unpackFloat4(makeCodes(12), NibbleOrder::GgufNvfp4),
                 "multiple of 16");
  EXPECT_MESSAGE(convertNibbleOrder(makeCodes(8), NibbleOrder::LowFirst,
                                    NibbleOrder::GgufMxfp4),
                 "'gguf_mxfp4', but got 16");
}

TEST(Float4Test, PackedBytesAreNotPackedAgain) {
  EXPECT_MESSAGE(packFloat4({0x01, 0x31}, NibbleOrder::LowFirst),
                 "but got 49 at index 1");
}

TEST(Float4Test, NothingPacksToNothing) {
  for (NibbleOrder order : allOrders) {
    EXPECT_TRUE(get(packFloat4({}, order)).empty());
    EXPECT_TRUE(get(unpackFloat4({}, order)).empty());
  }
}

} // namespace
