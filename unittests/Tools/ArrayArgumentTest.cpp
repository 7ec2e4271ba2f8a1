//===- ArrayArgumentTest.cpp - Arguments of kernels on the command line ---===//

#include "tile/Tools/ArrayArgument.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

#include <cstring>

using namespace llvm;
using namespace tile;

namespace {

class ArrayArgumentTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("tile-arrays", folder));
    // Numbers that differ from each other and from where they stand.
    for (unsigned i = 0; i < 24; ++i)
      numbers.push_back((i * 2654435761u) >> 8);
    cantFail(writeNpy(at("x.npy"), NpyType::U32, {4, 6}, getBytes(numbers)));
  }
  void TearDown() override { sys::fs::remove_directories(folder); }

  static ArrayRef<uint8_t> getBytes(ArrayRef<uint32_t> values) {
    return {reinterpret_cast<const uint8_t *>(values.data()),
            values.size() * 4};
  }
  std::string at(StringRef name) {
    SmallString<128> path = folder;
    sys::path::append(path, name);
    return std::string(path);
  }
  std::string getError(const std::string &text,
                       const ArrayElements &elements = {}) {
    Expected<ArrayArgument> array = ArrayArgument::get(text, elements);
    return array ? "" : toString(array.takeError());
  }

  SmallString<128> folder;
  std::vector<uint32_t> numbers;
};

TEST_F(ArrayArgumentTest, OnlyArraysMatch) {
  for (const char *text : {"in:x", "inout:x", "out:x:1xf32", "in:"})
    EXPECT_TRUE(ArrayArgument::matches(text)) << text;
  for (const char *text : {"", "in", "x.npy", "val:1", "input:x", "bytes:in:x"})
    EXPECT_FALSE(ArrayArgument::matches(text)) << text;
}

TEST_F(ArrayArgumentTest, ReadsAWholeFile) {
  ArrayArgument array = cantFail(ArrayArgument::get("in:" + at("x.npy")));
  EXPECT_EQ(array.getPath(), at("x.npy"));
  EXPECT_TRUE(array.isReadOnly());
  EXPECT_FALSE(array.isNew());
  EXPECT_EQ(array.getElementBytes(), 4u);
  EXPECT_EQ(array.getShape(), ArrayRef<int64_t>({4, 6}));
  EXPECT_EQ(array.getStrides(), ArrayRef<int64_t>({6, 1}));
  EXPECT_EQ(ArrayRef<uint8_t>(array.getSpan()), getBytes(numbers));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(array.getBytes().data()) % 16, 0u);
}

TEST_F(ArrayArgumentTest, TheSpanOfAPartEndsWithItsLastElement) {
  ArrayArgument array =
      cantFail(ArrayArgument::get("inout:" + at("x.npy") + ":3x2"));
  EXPECT_EQ(array.getShape(), ArrayRef<int64_t>({3, 2}));
  EXPECT_EQ(array.getStrides(), ArrayRef<int64_t>({6, 1}));
  EXPECT_EQ(array.getNumElements(), 6);
  EXPECT_EQ(array.getBytes().size(), 96u);
  // Two rows of 6, and 2 elements of the third.
  EXPECT_EQ(array.getSpan().size(), (2 * 6 + 2) * 4u);
  ArrayArgument empty =
      cantFail(ArrayArgument::get("in:" + at("x.npy") + ":0x6"));
  EXPECT_EQ(empty.getSpan().size(), 0u);
  EXPECT_NE(empty.getSpan().data(), nullptr);
}

TEST_F(ArrayArgumentTest, ANewArrayIsFilledWithOnes) {
  ArrayArgument array =
      cantFail(ArrayArgument::get("out:" + at("z.npy") + ":2x3xbf16"));
  EXPECT_TRUE(array.isNew());
  EXPECT_FALSE(array.isReadOnly());
  EXPECT_EQ(array.getElementBytes(), 2u);
  EXPECT_EQ(array.getSpan().size(), 12u);
  EXPECT_EQ(array.countUntouched(), 6);
  // One byte of an element is enough.
  array.getBytes()[3] = 0;
  array.getBytes()[10] = 0x7F;
  EXPECT_EQ(array.countUntouched(), 4);
}

TEST_F(ArrayArgumentTest, TypesThatNumPyLacksTravelAsIntegers) {
  EXPECT_EQ(findArrayType("f64"), NpyType::F64);
  EXPECT_EQ(findArrayType("f16"), NpyType::F16);
  EXPECT_EQ(findArrayType("bf16"), NpyType::U16);
  EXPECT_EQ(findArrayType("f8E4M3FN"), NpyType::U8);
  EXPECT_EQ(findArrayType("f8E8M0FNU"), NpyType::U8);
  EXPECT_EQ(findArrayType("f4E2M1FNx2"), NpyType::U8);
  EXPECT_EQ(findArrayType("f4E2M1FN"), std::nullopt);
  EXPECT_EQ(findArrayType("float"), std::nullopt);
  EXPECT_EQ(getError("out:z.npy:4xfloat"),
            "expects an element type such as f32, i8, bf16 or f8E4M3FN, but "
            "got 'float'");
}

TEST_F(ArrayArgumentTest, ElementsMayBeRestricted) {
  ArrayElements elements = {{NpyType::U8, NpyType::Void8},
                            "f8E5M2",
                            "; save it with .view(np.uint8)"};
  EXPECT_EQ(getError("out:z.npy:4xf8E5M2", elements), "");
  EXPECT_EQ(getError("out:z.npy:4xu8", elements), "");
  EXPECT_EQ(getError("out:z.npy:4xf8E4M3FN", elements),
            "expects elements of type u8 or v8 for 'f8E5M2', but got "
            "'f8E4M3FN'");
  EXPECT_EQ(getError("in:" + at("x.npy"), elements),
            "'" + at("x.npy") +
                "': expects elements of type u8 or v8 for 'f8E5M2', but got "
                "u32; save it with .view(np.uint8)");
}

TEST_F(ArrayArgumentTest, WritesAllOrNone) {
  ArrayArgument in = cantFail(ArrayArgument::get("in:" + at("x.npy")));
  ArrayArgument inout =
      cantFail(ArrayArgument::get("inout:" + at("x.npy") + ":1x1"));
  ArrayArgument out =
      cantFail(ArrayArgument::get("out:" + at("z.npy") + ":i8"));
  ArrayArgument lost =
      cantFail(ArrayArgument::get("out:" + at("none/w.npy") + ":2xi8"));
  out.getBytes()[0] = 42;
  inout.getBytes()[0] ^= 0xFF;
  EXPECT_NE(toString(writeArrays({&in, &inout, nullptr, &out, &lost})), "");
  EXPECT_FALSE(sys::fs::exists(at("z.npy")));
  EXPECT_EQ(cantFail(readNpy(at("x.npy"))).bytes, getBytes(numbers).vec());

  cantFail(writeArrays({&in, &inout, nullptr, &out}));
  NpyArray z = cantFail(readNpy(at("z.npy")));
  EXPECT_EQ(z.type, NpyType::I8);
  EXPECT_TRUE(z.shape.empty());
  EXPECT_EQ(z.bytes, std::vector<uint8_t>{42});
  numbers[0] ^= 0xFF;
  NpyArray x = cantFail(readNpy(at("x.npy")));
  EXPECT_EQ(x.shape, (SmallVector<int64_t, 4>{4, 6}));
  EXPECT_EQ(x.bytes, getBytes(numbers).vec());
}

TEST_F(ArrayArgumentTest, TwoArraysHaveTwoFiles) {
  ArrayArgument a = cantFail(ArrayArgument::get("inout:" + at("x.npy")));
  ArrayArgument b = cantFail(ArrayArgument::get("out:" + at("z.npy") + ":i8"));
  ArrayArgument c =
      cantFail(ArrayArgument::get("out:" + at("./x.npy") + ":i8"));
  ArrayArgument in = cantFail(ArrayArgument::get("in:" + at("x.npy")));
  cantFail(checkOutputFiles({&a, nullptr, &b, &in}, {"a", "1", "b", "in"}));
  EXPECT_EQ(toString(checkOutputFiles({&a, &b, &c}, {"a", "b", "c"})),
            "c: expects a file of its own, but '" + at("./x.npy") +
                "' is also that of a");
}

TEST(ScalarArgumentTest, IntegersHaveTheirRange) {
  EXPECT_EQ(cantFail(parseInteger("-1", 8, "i8")), 0xFFu);
  EXPECT_EQ(cantFail(parseInteger("255", 8, "i8")), 0xFFu);
  EXPECT_EQ(cantFail(parseInteger("-128", 8, "i8")), 0x80u);
  EXPECT_EQ(cantFail(parseInteger("0x7f", 8, "u8", true)), 0x7Fu);
  EXPECT_EQ(cantFail(parseInteger("18446744073709551615", 64, "i64")), ~0ull);
  auto getError = [](StringRef text, bool isUnsigned) {
    return toString(parseInteger(text, 8, "T", isUnsigned).takeError());
  };
  for (const char *bad : {"256", "-129", "", "-", "0x", "1.0", "0b1", "+1"})
    EXPECT_EQ(getError(bad, false),
              std::string("expects an integer of 8 bits for 'T', but got '") +
                  bad + "'");
  EXPECT_EQ(getError("-1", true),
            "expects an unsigned integer of 8 bits for 'T', but got '-1'");
}

TEST(ScalarArgumentTest, FloatsRoundOnce) {
  auto parse = [](StringRef text, const fltSemantics &semantics) {
    return cantFail(parseFloat(text, semantics, "T"));
  };
  EXPECT_EQ(parse("0.1", APFloat::IEEEsingle()), 0x3DCCCCCDu);
  EXPECT_EQ(parse("-2", APFloat::IEEEhalf()), 0xC000u);
  // Halfway between two bf16 numbers, and just above it.
  EXPECT_EQ(parse("1.00390625", APFloat::BFloat()), 0x3F80u);
  EXPECT_EQ(parse("1.0039062500000001", APFloat::BFloat()), 0x3F81u);
  EXPECT_EQ(parse("inf", APFloat::IEEEdouble()), 0x7FF0000000000000u);
  EXPECT_EQ(toString(parseFloat("1e6", APFloat::IEEEhalf(), "f16").takeError()),
            "expects a number in its range for 'f16', but got '1e6'");
  for (const char *bad : {"", "one", "1,5"})
    EXPECT_EQ(toString(parseFloat(bad, APFloat::IEEEhalf(), "f16").takeError()),
              std::string("expects a number for 'f16', but got '") + bad + "'");
}

} // namespace
