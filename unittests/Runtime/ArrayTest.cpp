//===- ArrayTest.cpp - Arrays that kernels read and write -----------------===//

#include "tile/Runtime/Array.h"
#include "HashData.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <limits>
#include <type_traits>

using namespace tile::runtime;

namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TensorRef makeRef(ElementType type, std::vector<int64_t> shape,
                  std::vector<int64_t> strides = {}) {
  return TensorRef(static_cast<void *>(nullptr), type, std::move(shape),
                   std::move(strides));
}

Expected<std::vector<std::string>> getNames() {
  return std::vector<std::string>{"a name that is too long for the object",
                                  "b"};
}

// What is in a temporary outlives it where C++17's loops need that.
TEST(ExpectedTest, LoopsOverTemporaries) {
  std::string text;
  for (const std::string &name : *getNames())
    text += name + ", ";
  EXPECT_EQ(text, "a name that is too long for the object, b, ");
  static_assert(
      std::is_same_v<decltype(*getNames()), std::vector<std::string>>);
}

TEST(ElementTypeTest, NamesAndSizes) {
  const struct {
    ElementType type;
    const char *name;
    unsigned bytes;
  } rows[] = {
      {ElementType::I1, "i1", 1},
      {ElementType::I8, "i8", 1},
      {ElementType::I16, "i16", 2},
      {ElementType::I32, "i32", 4},
      {ElementType::I64, "i64", 8},
      {ElementType::Index, "index", 8},
      {ElementType::BF16, "bf16", 2},
      {ElementType::F16, "f16", 2},
      {ElementType::F32, "f32", 4},
      {ElementType::F64, "f64", 8},
      {ElementType::F8E4M3FN, "f8E4M3FN", 1},
      {ElementType::F8E5M2, "f8E5M2", 1},
      {ElementType::F8E8M0FNU, "f8E8M0FNU", 1},
      {ElementType::F4E2M1FNx2, "f4E2M1FNx2", 1},
  };
  for (auto &row : rows) {
    EXPECT_STREQ(getElementTypeName(row.type), row.name);
    EXPECT_EQ(getElementBytes(row.type), row.bytes) << row.name;
    Expected<ElementType> found = findElementType(row.name);
    ASSERT_TRUE(bool(found)) << row.name;
    EXPECT_EQ(*found, row.type);
  }
}

TEST(ElementTypeTest, Unknown) {
  Expected<ElementType> found = findElementType("f32x");
  ASSERT_FALSE(bool(found));
  EXPECT_EQ(found.error().getCode(), ErrorCode::InvalidArgument);
  EXPECT_EQ(found.error().getMessage(),
            "unknown element type 'f32x'; known types are i1, i8, i16, i32, "
            "i64, index, bf16, f16, f32, f64, f8E4M3FN, f8E5M2, f8E8M0FNU, "
            "f4E2M1FNx2");
  EXPECT_STREQ(getElementTypeName(static_cast<ElementType>(99)), "unknown");
  EXPECT_EQ(getElementBytes(static_cast<ElementType>(-1)), 0u);
}

TEST(TensorRefTest, Strides) {
  EXPECT_EQ(getContiguousStrides({3, 5, 7}), (std::vector<int64_t>{35, 7, 1}));
  EXPECT_EQ(getContiguousStrides({}), std::vector<int64_t>{});
  // What exceeds 63 bits is the largest number, not a small or negative one.
  EXPECT_EQ(getContiguousStrides({2, int64_t(1) << 40, int64_t(1) << 40}),
            (std::vector<int64_t>{kMax, int64_t(1) << 40, 1}));
}

TEST(TensorRefTest, Sizes) {
  EXPECT_EQ(makeRef(ElementType::F32, {3, 5}).getNumElements(), 15);
  EXPECT_EQ(makeRef(ElementType::F32, {3, 5}).getSpanBytes(), 60);
  // Two rows of 5 that are 8 apart.
  EXPECT_EQ(makeRef(ElementType::F16, {2, 5}, {8, 1}).getSpanBytes(), 26);
  // One element, whatever the strides are.
  EXPECT_EQ(makeRef(ElementType::F64, {1, 1}, {kMax, kMax}).getSpanBytes(), 8);
  EXPECT_EQ(makeRef(ElementType::F64, {}).getSpanBytes(), 8);
  // All elements are the same one.
  EXPECT_EQ(makeRef(ElementType::F32, {7, 9}, {0, 0}).getSpanBytes(), 4);
}

TEST(TensorRefTest, NoElements) {
  TensorRef empty = makeRef(ElementType::F32, {int64_t(1) << 62, 0, kMax});
  EXPECT_EQ(empty.getNumElements(), 0);
  EXPECT_EQ(empty.getSpanBytes(), 0);
  EXPECT_TRUE(empty.isContiguous());
}

TEST(TensorRefTest, TooLarge) {
  EXPECT_EQ(makeRef(ElementType::F32, {kMax}).getSpanBytes(), -1);
  EXPECT_EQ(makeRef(ElementType::I8, {kMax}).getSpanBytes(), kMax);
  EXPECT_EQ(makeRef(ElementType::I8, {kMax, 2}).getSpanBytes(), -1);
  EXPECT_EQ(makeRef(ElementType::I8, {kMax, 2}).getNumElements(), -1);
  EXPECT_EQ(
      makeRef(ElementType::I8, {3, 3}, {kMax / 2, kMax / 2}).getSpanBytes(),
      -1);
  EXPECT_EQ(makeRef(ElementType::I8, {-1}).getSpanBytes(), -1);
  EXPECT_EQ(makeRef(ElementType::I8, {4}, {-1}).getSpanBytes(), -1);
  // More strides than extents.
  EXPECT_EQ(makeRef(ElementType::I8, {4}, {4, 1}).getSpanBytes(), -1);
  EXPECT_FALSE(makeRef(ElementType::I8, {4}, {4, 1}).isContiguous());
}

TEST(TensorRefTest, Contiguous) {
  EXPECT_TRUE(makeRef(ElementType::F32, {3, 5}).isContiguous());
  EXPECT_FALSE(makeRef(ElementType::F32, {3, 5}, {8, 1}).isContiguous());
  EXPECT_FALSE(makeRef(ElementType::F32, {3, 5}, {1, 3}).isContiguous());
  // The stride of a single row does not matter.
  EXPECT_TRUE(makeRef(ElementType::F32, {1, 5}, {99, 1}).isContiguous());
}

TEST(TensorRefTest, Printed) {
  TensorRef ref = makeRef(ElementType::F32, {128, 64});
  EXPECT_EQ(ref.str(), "f32[128, 64]");
  ref.strides = {96, 1};
  EXPECT_EQ(ref.str(), "f32[128, 64] with strides [96, 1]");
  ref.place = {MemoryPlace::Kind::Cuda, 1};
  EXPECT_EQ(ref.str(), "f32[128, 64] with strides [96, 1] in memory of cuda:1");
  EXPECT_EQ(makeRef(ElementType::F8E4M3FN, {}).str(), "f8E4M3FN[]");
}

TEST(TensorRefTest, ReadOnly) {
  const float data[4] = {};
  float other[4] = {};
  EXPECT_TRUE(TensorRef(data, ElementType::F32, {4}).readOnly);
  EXPECT_FALSE(TensorRef(other, ElementType::F32, {4}).readOnly);
}

TEST(BufferTest, Copies) {
  const std::string data = test::HashSequence(1).bytes(3 * 5 * 2);
  Expected<Buffer> buffer = Buffer::copyOf(
      Device::reference(), ElementType::BF16, {3, 5}, data.data());
  ASSERT_TRUE(bool(buffer));
  EXPECT_EQ(buffer->getNumBytes(), 30u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->getData()) % 256, 0u);
  std::string back(30, '\0');
  ASSERT_TRUE(bool(buffer->copyToHost(back.data())));
  EXPECT_EQ(back, data);
  ASSERT_TRUE(bool(buffer->fill(0x5a)));
  ASSERT_TRUE(bool(buffer->copyToHost(back.data())));
  EXPECT_EQ(back, std::string(30, '\x5a'));
}

TEST(BufferTest, CopiesInTheOrderOfAStream) {
  Device device = Device::reference();
  Expected<Stream> stream = Stream::create(device);
  ASSERT_TRUE(bool(stream));
  std::string first = test::HashSequence(2).bytes(1 << 16), last = first;
  std::reverse(last.begin(), last.end());
  Expected<Buffer> buffer =
      Buffer::allocate(device, ElementType::I8, {1 << 16});
  ASSERT_TRUE(bool(buffer));
  std::string a(1 << 16, '\0'), b = a;
  ASSERT_TRUE(bool(buffer->copyFromHost(first.data(), *stream)));
  ASSERT_TRUE(bool(buffer->copyToHost(a.data(), *stream)));
  ASSERT_TRUE(bool(buffer->copyFromHost(last.data(), *stream)));
  ASSERT_TRUE(bool(buffer->copyToHost(b.data(), *stream)));
  // The stream keeps the memory.
  *buffer = Buffer();
  ASSERT_TRUE(bool(stream->synchronize()));
  EXPECT_EQ(a, first);
  EXPECT_EQ(b, last);
}

TEST(BufferTest, WithoutElements) {
  Expected<Buffer> buffer = Buffer::allocate(
      Device::reference(), ElementType::F32, {int64_t(1) << 62, 0});
  ASSERT_TRUE(bool(buffer));
  EXPECT_NE(buffer->getData(), nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->getData()) % 256, 0u);
  EXPECT_EQ(buffer->getNumBytes(), 0u);
  EXPECT_TRUE(bool(buffer->copyToHost(nullptr)));
}

TEST(BufferTest, Moves) {
  Expected<Buffer> a =
      Buffer::allocate(Device::reference(), ElementType::F32, {8});
  Expected<Buffer> b =
      Buffer::allocate(Device::reference(), ElementType::I8, {2, 3});
  ASSERT_TRUE(a && b);
  void *data = b->getData();
  *a = std::move(*b);
  EXPECT_EQ(a->getData(), data);
  EXPECT_EQ(a->getShape(), (std::vector<int64_t>{2, 3}));
}

TEST(BufferTest, MovedFromIsEmpty) {
  Expected<Buffer> a =
      Buffer::allocate(Device::reference(), ElementType::F32, {8});
  ASSERT_TRUE(bool(a));
  Buffer moved = std::move(*a);
  EXPECT_EQ(a->getData(), nullptr);
  EXPECT_EQ(a->getNumBytes(), 0u);
  EXPECT_EQ(a->getRef().getNumElements(), 0);
  Buffer fresh;
  EXPECT_EQ(fresh.getNumBytes(), 0u);
  EXPECT_EQ(fresh.getRef().getNumElements(), 0);
}

/// The message of the allocation that fails.
std::string getMessage(ElementType type, std::vector<int64_t> shape,
                       ErrorCode code = ErrorCode::InvalidArgument) {
  Expected<Buffer> buffer =
      Buffer::allocate(Device::reference(), type, std::move(shape));
  if (buffer)
    return "none";
  EXPECT_EQ(buffer.error().getCode(), code);
  return buffer.error().getMessage();
}

TEST(BufferTest, Errors) {
  EXPECT_EQ(getMessage(ElementType::F32, {3, -2}),
            "expects extent 1 to be 0 or more, but got -2");
  EXPECT_EQ(getMessage(ElementType::F32, {int64_t(1) << 40, int64_t(1) << 22}),
            "expects fewer than 2^63 bytes, but got f32[1099511627776, "
            "4194304]");
  EXPECT_EQ(getMessage(ElementType::I1, {4}),
            "expects a type of array elements, but got 'i1'");
  EXPECT_EQ(getMessage(static_cast<ElementType>(77), {4}),
            "expects a type of array elements, but got 'unknown'");
#ifndef __SANITIZE_ADDRESS__ // It ends the process instead.
  EXPECT_EQ(
      getMessage(ElementType::I8, {int64_t(1) << 60}, ErrorCode::OutOfMemory),
      "cannot allocate 1152921504606846976 bytes of host memory: Cannot "
      "allocate memory");
#endif

  Expected<Buffer> buffer =
      Buffer::allocate(Device::reference(), ElementType::I8, {4});
  ASSERT_TRUE(bool(buffer));
  Status copied = buffer->copyFromHost(nullptr);
  ASSERT_FALSE(bool(copied));
  EXPECT_EQ(copied.error().getMessage(),
            "expects host memory to copy, but got a null pointer");
}

} // namespace
