//===- TensorMapTest.cpp - Rules and encoding of tensor maps --------------===//

#include "tile/Emulator/TensorMap.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <functional>

using namespace tile::emulator;

namespace {

using Element = TensorMap::Element;
using Interleave = TensorMap::Interleave;
using Swizzle = TensorMap::Swizzle;

/// A map of three dimensions that is valid.
TensorMap makeValid(Element element = Element::F16) {
  TensorMap map;
  map.element = element;
  map.rank = 3;
  map.address = 0x1000;
  map.extents = {256, 100, 50, 1, 1};
  map.strides = {1024, 102400, 0, 0};
  map.box = {32, 16, 4, 1, 1};
  if (element == Element::B4x16P64 || element == Element::B6x16P32)
    map.box[0] = 128;
  return map;
}

std::string check(const TensorMap &map) {
  std::string text = llvm::toString(map.validate());
  // Whatever is not valid cannot be encoded.
  llvm::Expected<TensorMapObject> object = map.encode();
  EXPECT_EQ(bool(object), text.empty());
  if (!object) {
    EXPECT_EQ(llvm::toString(object.takeError()), text);
  }
  return text;
}

/// What `change` makes of a valid map.
std::string check(Element element, std::function<void(TensorMap &)> change) {
  TensorMap map = makeValid(element);
  EXPECT_EQ(check(map), "");
  change(map);
  return check(map);
}
std::string check(std::function<void(TensorMap &)> change) {
  return check(Element::F16, std::move(change));
}

#define EXPECT_RULE(text, ...) EXPECT_EQ(check(__VA_ARGS__), text)
#define WITH(statement) [](TensorMap &map) { statement; }

TEST(TensorMapTest, KnowsItsRanges) {
  EXPECT_RULE("", WITH(map.rank = 1));
  EXPECT_RULE("", WITH(map.rank = 5));
  EXPECT_RULE("rank expects 1 to 5 dimensions, but got 0", WITH(map.rank = 0));
  EXPECT_RULE("rank expects 1 to 5 dimensions, but got 6", WITH(map.rank = 6));
  EXPECT_RULE("", WITH(map.address = 0x1010));
  EXPECT_RULE("address expects a multiple of 16, but got 0x1008",
              WITH(map.address = 0x1008));
  EXPECT_RULE("", WITH(map.extents[1] = uint64_t(1) << 32));
  EXPECT_RULE("extents[1] expects 1 to 2^32 elements, but got 4294967297",
              WITH(map.extents[1] = (uint64_t(1) << 32) + 1));
  EXPECT_RULE("extents[2] expects 1 to 2^32 elements, but got 0",
              WITH(map.extents[2] = 0));
  EXPECT_RULE("", WITH(map.extents[3] = 0)); // There is no such dimension.
  EXPECT_RULE("", WITH(map.strides[0] = 16));
  EXPECT_RULE("strides[0] expects a multiple of 16 bytes that is less than "
              "2^40, but got 1032",
              WITH(map.strides[0] = 1032));
  EXPECT_RULE("", WITH(map.strides[1] = (uint64_t(1) << 40) - 16));
  EXPECT_RULE("strides[1] expects a multiple of 16 bytes that is less than "
              "2^40, but got 1099511627776",
              WITH(map.strides[1] = uint64_t(1) << 40));
  EXPECT_RULE("", WITH(map.strides[2] = 3));
  EXPECT_RULE("", WITH(map.box[1] = 256));
  EXPECT_RULE("box[1] expects 1 to 256 elements, but got 257",
              WITH(map.box[1] = 257));
  EXPECT_RULE("box[2] expects 1 to 256 elements, but got 0",
              WITH(map.box[2] = 0));
  EXPECT_RULE("", WITH(map.elementStrides[2] = 8));
  EXPECT_RULE("elementStrides[2] expects 1 to 8, but got 9",
              WITH(map.elementStrides[2] = 9));
  EXPECT_RULE("elementStrides[0] expects 1 to 8, but got 0",
              WITH(map.elementStrides[0] = 0));
  auto beyond = [](auto &field) {
    field = static_cast<std::decay_t<decltype(field)>>(99);
  };
  EXPECT_RULE("element expects a type from 0 to 15, but got 99",
              [&](TensorMap &map) { beyond(map.element); });
  EXPECT_RULE("interleave expects a layout from 0 to 2, but got 99",
              [&](TensorMap &map) { beyond(map.interleave); });
  EXPECT_RULE("swizzle expects a mode from 0 to 6, but got 99",
              [&](TensorMap &map) { beyond(map.swizzle); });
  EXPECT_RULE("l2Promotion expects a size from 0 to 3, but got 99",
              [&](TensorMap &map) { beyond(map.l2Promotion); });
  EXPECT_RULE("fill expects 0 or 1, but got 99",
              [&](TensorMap &map) { beyond(map.fill); });
}

TEST(TensorMapTest, KnowsTheRulesOfRows) {
  EXPECT_RULE("", WITH(map.box[0] = 8));
  EXPECT_RULE("box[0] expects a multiple of 16 bytes, but got 12 elements of "
              ".f16",
              WITH(map.box[0] = 12));
  EXPECT_RULE("", Element::B4x16, WITH(map.box[0] = 96));
  EXPECT_RULE("box[0] expects a multiple of 16 bytes, but got 16 elements of "
              ".b4x16",
              Element::B4x16, WITH(map.box[0] = 16));
  for (auto [swizzle, span] :
       {std::pair(Swizzle::Bytes32, 32), std::pair(Swizzle::Bytes64, 64),
        std::pair(Swizzle::Bytes128, 128),
        std::pair(Swizzle::Bytes128Atom32, 128),
        std::pair(Swizzle::Bytes128Atom32Flip8, 128),
        std::pair(Swizzle::Bytes128Atom64, 128)}) {
    TensorMap map = makeValid(Element::U8);
    map.swizzle = swizzle;
    map.box[0] = span;
    EXPECT_EQ(check(map), "");
    map.box[0] = span / 2;
    EXPECT_EQ(check(map), "");
    map.box[0] = span + 16;
    EXPECT_EQ(check(map), "box[0] expects at most the " + std::to_string(span) +
                              " bytes of the swizzle, but got " +
                              std::to_string(span + 16) + " elements of .u8");
  }
}

TEST(TensorMapTest, KnowsTheRulesOfPackedTypes) {
  EXPECT_RULE("", Element::B4x16, WITH(map.extents[0] = 254));
  EXPECT_RULE("extents[0] expects a multiple of 2 of .b4x16, but got 255",
              Element::B4x16, WITH(map.extents[0] = 255));
  for (auto [element, name] :
       {std::pair(Element::B4x16P64, std::string(".b4x16_p64")),
        std::pair(Element::B6x16P32, std::string(".b6x16_p32"))}) {
    EXPECT_RULE("address expects a multiple of 32, but got 0x1010", element,
                WITH(map.address = 0x1010));
    EXPECT_RULE("", element, WITH(map.address = 0x1020));
    EXPECT_RULE("extents[0] expects a multiple of 128 of " + name +
                    ", but got 192",
                element, WITH(map.extents[0] = 192));
    EXPECT_RULE("", element, WITH(map.extents[0] = 384));
    EXPECT_RULE("strides[1] expects a multiple of 32 bytes that is less than "
                "2^40, but got 1040",
                element, WITH(map.strides[1] = 1040));
    EXPECT_RULE("", element, WITH(map.strides[1] = 1056));
    EXPECT_RULE("box[0] expects 128 elements of " + name + ", but got 256",
                element, WITH(map.box[0] = 256));
    for (Swizzle swizzle :
         {Swizzle::None, Swizzle::Bytes32, Swizzle::Bytes64, Swizzle::Bytes128,
          Swizzle::Bytes128Atom32, Swizzle::Bytes128Atom32Flip8,
          Swizzle::Bytes128Atom64}) {
      TensorMap map = makeValid(element);
      map.swizzle = swizzle;
      const bool isSix = element == Element::B6x16P32;
      const bool isValid = swizzle == Swizzle::None ||
                           swizzle == Swizzle::Bytes128 ||
                           swizzle == Swizzle::Bytes128Atom32 ||
                           (isSix && swizzle == Swizzle::Bytes128Atom64);
      const std::string text = check(map);
      EXPECT_EQ(text.empty(), isValid) << text;
    }
  }
  EXPECT_RULE("swizzle expects none, 128 or 128-atom32 of .b4x16_p64, but got "
              "128-atom64",
              Element::B4x16P64, WITH(map.swizzle = Swizzle::Bytes128Atom64));
  EXPECT_RULE("interleave expects none of .b6x16_p32, but got 1",
              Element::B6x16P32, WITH(map.interleave = Interleave::Bytes16));
}

TEST(TensorMapTest, KnowsTheRulesOfInterleavedLayouts) {
  EXPECT_RULE("", WITH(map.interleave = Interleave::Bytes16));
  EXPECT_RULE(
      "rank expects at least 3 dimensions of an interleaved layout, but got 2",
      WITH(map.interleave = Interleave::Bytes16; map.rank = 2));
  EXPECT_RULE("", WITH(map.interleave = Interleave::Bytes32;
                       map.swizzle = Swizzle::Bytes32));
  EXPECT_RULE("swizzle expects 32 with an interleaved layout of 32 bytes, but "
              "got none",
              WITH(map.interleave = Interleave::Bytes32));
  EXPECT_RULE("address expects a multiple of 32, but got 0x1010",
              WITH(map.interleave = Interleave::Bytes32;
                   map.swizzle = Swizzle::Bytes32; map.address = 0x1010));
}

TEST(TensorMapTest, FillsOnlyFloatsWithNaN) {
  for (unsigned i = 0; i != 16; ++i) {
    const Element element = static_cast<Element>(i);
    const bool isFloat = llvm::is_contained(
        {Element::F16, Element::BF16, Element::F32, Element::F32Ftz,
         Element::F64, Element::TF32, Element::TF32Ftz},
        element);
    const std::string text =
        check(element, WITH(map.fill = TensorMap::Fill::NaN));
    EXPECT_EQ(text.empty(), isFloat) << text;
  }
  EXPECT_RULE("fill expects zero of .b4x16, which has no NaN, but got NaN",
              Element::B4x16, WITH(map.fill = TensorMap::Fill::NaN));
}

TEST(TensorMapTest, SurvivesItsEncoding) {
  TensorMap map = makeValid(Element::B6x16P32);
  map.address = 0x0123456789ABCDE0;
  map.rank = 5;
  map.extents = {uint64_t(1) << 32, 7, 123456789, 1, 2};
  map.strides = {32, (uint64_t(1) << 40) - 32, 64, 96};
  map.box = {128, 256, 1, 3, 200};
  map.elementStrides = {1, 8, 2, 3, 4};
  map.swizzle = Swizzle::Bytes128Atom64;
  map.l2Promotion = TensorMap::L2Promotion::Bytes256;
  llvm::Expected<TensorMapObject> object = map.encode();
  ASSERT_TRUE(bool(object));
  llvm::Expected<TensorMap> decoded = TensorMap::decode(*object);
  ASSERT_TRUE(bool(decoded));
  EXPECT_EQ(decoded->element, map.element);
  EXPECT_EQ(decoded->rank, map.rank);
  EXPECT_EQ(decoded->address, map.address);
  EXPECT_EQ(decoded->extents, map.extents);
  EXPECT_EQ(decoded->strides, map.strides);
  EXPECT_EQ(decoded->box, map.box);
  EXPECT_EQ(decoded->elementStrides, map.elementStrides);
  EXPECT_EQ(decoded->interleave, map.interleave);
  EXPECT_EQ(decoded->swizzle, map.swizzle);
  EXPECT_EQ(decoded->l2Promotion, map.l2Promotion);
  EXPECT_EQ(decoded->fill, map.fill);
  map = makeValid();
  map.fill = TensorMap::Fill::NaN;
  map.interleave = Interleave::Bytes16;
  decoded = TensorMap::decode(*map.encode());
  ASSERT_TRUE(bool(decoded));
  EXPECT_EQ(decoded->fill, map.fill);
  EXPECT_EQ(decoded->interleave, map.interleave);
}

TEST(TensorMapTest, RecognizesAnythingElse) {
  TensorMapObject object = *makeValid().encode();
  auto decode = [](llvm::ArrayRef<uint8_t> bytes) {
    llvm::Expected<TensorMap> map = TensorMap::decode(bytes);
    return map ? "" : llvm::toString(map.takeError());
  };
  EXPECT_EQ(decode(object), "");
  EXPECT_EQ(decode(llvm::ArrayRef(object).drop_back()), "is no tensor map");
  EXPECT_EQ(decode({}), "is no tensor map");
  EXPECT_EQ(decode(TensorMapObject{}), "is no tensor map");
  for (unsigned bit = 0; bit != 1024; ++bit) {
    TensorMapObject damaged = object;
    damaged[bit / 8] ^= 1 << bit % 8;
    EXPECT_EQ(decode(damaged), "is no tensor map") << bit;
  }
}

TEST(TensorMapTest, NamesItsTypesAndSwizzles) {
  for (unsigned i = 0; i != 16; ++i) {
    const Element element = static_cast<Element>(i);
    EXPECT_EQ(findTensorElement(getTensorElementName(element)), element);
  }
  for (unsigned i = 0; i != 7; ++i) {
    const Swizzle swizzle = static_cast<Swizzle>(i);
    EXPECT_EQ(findTensorSwizzle(getTensorSwizzleName(swizzle)), swizzle);
  }
  EXPECT_EQ(getTensorElementName(Element::B4x16P64), "b4x16_p64");
  EXPECT_EQ(findTensorElement("f8"), std::nullopt);
  EXPECT_EQ(findTensorSwizzle("256"), std::nullopt);
}

} // namespace
