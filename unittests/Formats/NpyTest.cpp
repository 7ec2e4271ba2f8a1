//===- NpyTest.cpp - .npy files, well-formed and hostile ------------------===//

#include "tile/Formats/Npy.h"

#include "TestUtils.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace tile;
using namespace tile::test;

namespace {

/// A file's contents with the given header text and data.
std::vector<uint8_t> makeFile(const std::string &header,
                              const std::string &data = "",
                              unsigned major = 1) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(major);
  file += '\0';
  size_t length = header.size();
  for (unsigned i = 0; i < (major == 1 ? 2u : 4u); ++i)
    file += static_cast<char>(length >> (8 * i));
  file += header + data;
  return {file.begin(), file.end()};
}

std::string parseError(const std::string &header,
                       const std::string &data = "") {
  return messageOf(parseNpy(makeFile(header, data), "x.npy"));
}

#define EXPECT_PARSE_ERROR(header, text)                                       \
  do {                                                                         \
    std::string message = parseError(header);                                  \
    EXPECT_NE(message.find(text), std::string::npos) << "got: " << message;    \
    EXPECT_EQ(message.find("'x.npy': "), 0u) << "got: " << message;            \
  } while (false)

/// A folder that is removed with what it holds.
class NpyFileTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("npy", folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string path(llvm::StringRef name) {
    llvm::SmallString<128> result = folder;
    llvm::sys::path::append(result, name);
    return std::string(result);
  }
  size_t countFiles() {
    size_t count = 0;
    std::error_code error;
    for (llvm::sys::fs::directory_iterator it(folder, error), end;
         it != end && !error; it.increment(error))
      ++count;
    return count;
  }

  llvm::SmallString<128> folder;
};

TEST_F(NpyFileTest, EveryTypeAndShapeSurvivesAFile) {
  const std::vector<int64_t> shapes[] = {
      {}, {0}, {1}, {7}, {3, 0, 5}, {2, 3, 4}, {1, 1, 1, 1, 1, 6}};
  for (unsigned type = 0; type <= unsigned(NpyType::Void16); ++type)
    for (const std::vector<int64_t> &shape : shapes) {
      NpyArray array;
      array.type = static_cast<NpyType>(type);
      array.shape.assign(shape.begin(), shape.end());
      size_t size = array.getNumElements() * getNpyTypeInfo(array.type).bytes;
      for (size_t i = 0; i < size; ++i)
        array.bytes.push_back(static_cast<uint8_t>(hash(i)));
      ASSERT_FALSE(writeNpy(path("a.npy"), array));
      NpyArray back = get(readNpy(path("a.npy")));
      EXPECT_EQ(back.type, array.type);
      EXPECT_EQ(back.shape, array.shape);
      EXPECT_EQ(back.bytes, array.bytes);
    }
  EXPECT_EQ(countFiles(), 1u); // No temporary file stays.
}

TEST_F(NpyFileTest, DataBeginAtAMultipleOf64Bytes) {
  for (int64_t extent : {1, 1000, 100000}) {
    std::vector<uint8_t> data(extent);
    ASSERT_FALSE(writeNpy(path("a.npy"), NpyType::U8, {extent, 1}, data));
    uint64_t size;
    ASSERT_FALSE(llvm::sys::fs::file_size(path("a.npy"), size));
    EXPECT_EQ((size - extent) % 64, 0u);
  }
}

TEST_F(NpyFileTest, AFailedWriteLeavesTheEarlierFileWhole) {
  ASSERT_FALSE(writeNpy(path("a.npy"), NpyType::U8, {2}, {1, 2}));
  EXPECT_MESSAGE(writeNpy(path("a.npy"), NpyType::F32, {2}, {1, 2}),
                 "expected 8 bytes of data for shape (2,) of f32, but got 2");
  EXPECT_EQ(get(readNpy(path("a.npy"))).bytes, (std::vector<uint8_t>{1, 2}));
  EXPECT_EQ(countFiles(), 1u);
}

TEST_F(NpyFileTest, ALinkIsWrittenThrough) {
  ASSERT_FALSE(writeNpy(path("a.npy"), NpyType::U8, {1}, {1}));
  ASSERT_FALSE(llvm::sys::fs::create_link(path("a.npy"), path("b.npy")));
  ASSERT_FALSE(writeNpy(path("b.npy"), NpyType::U8, {1}, {9}));
  EXPECT_EQ(get(readNpy(path("a.npy"))).bytes, std::vector<uint8_t>{9});
}

TEST_F(NpyFileTest, FilesThatCannotBeOpenedAreErrorsWithTheirName) {
  EXPECT_MESSAGE(readNpy(path("none.npy")), "none.npy': expected a readable");
  EXPECT_MESSAGE(readNpy(folder), "expected a readable file");
  EXPECT_MESSAGE(writeNpy(path("no/a.npy"), NpyType::U8, {1}, {1}),
                 "cannot write");
  EXPECT_MESSAGE(writeNpy(folder, NpyType::U8, {1}, {1}), "directory");
}

TEST_F(NpyFileTest, ShapesThatNoFileCanHoldAreErrors) {
  EXPECT_MESSAGE(writeNpy(path("a.npy"), NpyType::U8, {-1}, {}),
                 "non-negative extents");
  EXPECT_MESSAGE(writeNpy(path("a.npy"), NpyType::F64,
                          {int64_t(1) << 31, int64_t(1) << 31}, {}),
                 "fewer than 2^63 bytes");
  EXPECT_MESSAGE(
      writeNpy(path("a.npy"), NpyType::U8, std::vector<int64_t>(65, 1), {1}),
      "at most 64 dimensions");
  EXPECT_EQ(countFiles(), 0u);
}

TEST(NpyTest, ReadsWhatNumPyWrites) {
  NpyArray array = get(parseNpy(
      makeFile("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 1), }   "
               "  \n",
               std::string("\x01\x02\x03\x04", 4)),
      "x.npy"));
  EXPECT_EQ(array.type, NpyType::I16);
  EXPECT_EQ(array.shape, (llvm::SmallVector<int64_t, 4>{2, 1}));
  EXPECT_EQ(array.getAs<int16_t>()[1], 0x0403);
}

TEST(NpyTest, ReadsTheOtherVersionsAndSpellings) {
  for (unsigned major : {1u, 2u, 3u}) {
    NpyArray array = get(parseNpy(
        makeFile("{\"shape\":(3L,),\"descr\":\"|V1\",\"fortran_order\":True}",
                 "abc", major),
        "x.npy"));
    EXPECT_EQ(array.type, NpyType::Void8);
    EXPECT_EQ(array.bytes, (std::vector<uint8_t>{'a', 'b', 'c'}));
  }
  NpyArray scalar = get(parseNpy(
      makeFile("{'descr': '|b1', 'fortran_order': False, 'shape': ()}", "\1"),
      "x.npy"));
  EXPECT_EQ(scalar.getNumElements(), 1);
}

TEST(NpyTest, ReadsTwoBytesWithoutAMeaning) {
  // ml_dtypes saves bf16 with the first spelling.
  for (std::string descr : {"<V2", "|V2"}) {
    NpyArray array =
        get(parseNpy(makeFile("{'descr': '" + descr +
                                  "', 'fortran_order': False, 'shape': (2,)}",
                              "abcd"),
                     "x.npy"));
    EXPECT_EQ(array.type, NpyType::Void16);
    EXPECT_EQ(array.bytes, (std::vector<uint8_t>{'a', 'b', 'c', 'd'}));
  }
}

TEST(NpyTest, DevicesAreNotRead) {
  EXPECT_MESSAGE(readNpy("/dev/zero"), "'/dev/zero': expected a regular file, "
                                       "but got a pipe or a device");
}

TEST(NpyTest, FortranOrderIsConverted) {
  // Element (i, j, k) of a 2x3x4 array is 12i + 4j + k; i runs fastest here.
  std::string data;
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i)
        data += {static_cast<char>(12 * i + 4 * j + k), '\x7F'};
  NpyArray array = get(parseNpy(
      makeFile("{'descr': '<u2', 'fortran_order': True, 'shape': (2, 3, 4)}",
               data),
      "x.npy"));
  llvm::ArrayRef<uint16_t> values = array.getAs<uint16_t>();
  ASSERT_EQ(values.size(), 24u);
  for (unsigned i = 0; i < 24; ++i)
    EXPECT_EQ(values[i], 0x7F00u + i);
}

TEST(NpyTest, OtherFilesAreRefused) {
  EXPECT_MESSAGE(parseNpy({}, "x.npy"), "expected a .npy file");
  std::vector<uint8_t> zip = {'P', 'K', 3, 4, 0, 0, 0, 0, 0, 0};
  EXPECT_MESSAGE(parseNpy(zip, "x.npy"), "'x.npy': expected a .npy file");
  std::vector<uint8_t> version = makeFile("{}");
  version[6] = 4;
  EXPECT_MESSAGE(parseNpy(version, "x.npy"),
                 "expected format version 1.0, 2.0 or 3.0, but got 4.0");
}

TEST(NpyTest, TypesOutsideTheTableAreRefused) {
  auto header = [](const std::string &descr) {
    return "{'descr': " + descr + ", 'fortran_order': False, 'shape': (1,)}";
  };
  EXPECT_PARSE_ERROR(header("'>f4'"), "expected little-endian elements");
  EXPECT_PARSE_ERROR(header("'<c8'"), "but got '<c8'");
  EXPECT_PARSE_ERROR(header("'|O'"), "but got '|O'");
  EXPECT_PARSE_ERROR(header("'<V4'"), "but got '<V4'");
  EXPECT_PARSE_ERROR(header("'|f4'"), "but got '|f4'");
  EXPECT_PARSE_ERROR(header("''"), "but got ''");
  EXPECT_PARSE_ERROR("{'descr': '<f4}", "expected a closed string");
  EXPECT_PARSE_ERROR(header("[('a', '<f4')]"), "structured type");
  EXPECT_PARSE_ERROR(header("3"), "expected a string");
  EXPECT_PARSE_ERROR(header("'" + std::string(1000, 'x') + "'"), "…");
}

TEST(NpyTest, HostileExtentsAreRefused) {
  auto header = [](const std::string &shape) {
    return "{'descr': '<f8', 'fortran_order': False, 'shape': " + shape + "}";
  };
  EXPECT_PARSE_ERROR(header("(9223372036854775807,)"),
                     "expected fewer than 2^63 bytes");
  EXPECT_PARSE_ERROR(header("(4294967296, 4294967296)"), "fewer than 2^63");
  // A zero does not hide an overflow of the strides.
  EXPECT_PARSE_ERROR(header("(0, 4294967296, 4294967296)"), "fewer than 2^63");
  EXPECT_PARSE_ERROR(header("(99999999999999999999,)"),
                     "expected an extent below 2^63");
  EXPECT_PARSE_ERROR(header("(1099511627776,)"),
                     "expected 8796093022208 bytes of data for shape "
                     "(1099511627776,) of f64, but got 0");
  EXPECT_PARSE_ERROR(header("(-1,)"), "expected a non-negative extent");
  EXPECT_PARSE_ERROR(header("(1.5,)"), "expected ',' or ')'");
  EXPECT_PARSE_ERROR(header("(1 2)"), "expected ',' or ')'");
  EXPECT_PARSE_ERROR(header("(1)"), "expected ',' after the only extent");
  EXPECT_PARSE_ERROR(header("[1]"), "expected the tuple of extents");
  EXPECT_PARSE_ERROR(header("(1,"), "expected a non-negative extent");
  std::string many = "(";
  for (int i = 0; i < 65; ++i)
    many += "1,";
  EXPECT_PARSE_ERROR(header(many + ")"), "at most 64 dimensions");
}

TEST(NpyTest, JunkInTheHeaderIsRefused) {
  EXPECT_PARSE_ERROR("", "expected '{' in the header, but got its end");
  EXPECT_PARSE_ERROR("junk", "expected '{' in the header, but got 'junk'");
  EXPECT_PARSE_ERROR("{'descr': '<f4', 'shape': ()}", "one is missing");
  EXPECT_PARSE_ERROR("{'descr': '<f4' 'shape': ()}", "expected ',' or '}'");
  EXPECT_PARSE_ERROR("{'descr': '<f4', 'descr': '<f4'}", "'descr' once");
  EXPECT_PARSE_ERROR("{'other': 1}", "but got 'other'");
  EXPECT_PARSE_ERROR("{'fortran_order': 1}", "expected True or False");
  EXPECT_PARSE_ERROR("{'fortran_order' True}", "expected ':'");
  EXPECT_PARSE_ERROR(
      "{'descr': '|u1', 'fortran_order': False, 'shape': (0,)} import os",
      "expected nothing after '}' in the header, but got 'import os'");
}

TEST(NpyTest, TheDataMustFillTheFile) {
  std::string header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}";
  EXPECT_MESSAGE(parseNpy(makeFile(header, "1234567"), "x.npy"),
                 "expected 8 bytes of data for shape (2,) of f32, but got 7");
  EXPECT_MESSAGE(parseNpy(makeFile(header, "123456789"), "x.npy"), "but got 9");
}

TEST(NpyTest, EveryTruncationIsAnError) {
  std::vector<uint8_t> file =
      makeFile("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",
               "12345678");
  ASSERT_EQ(messageOf(parseNpy(file, "x.npy")), "");
  for (size_t size = 0; size < file.size(); ++size)
    EXPECT_NE(
        messageOf(parseNpy(llvm::ArrayRef(file).take_front(size), "x.npy")), "")
        << size;
}

TEST(NpyTest, DamagedFilesNeverCrash) {
  std::vector<uint8_t> file =
      makeFile("{'descr': '<u2', 'fortran_order': True, 'shape': (2, 2), }\n",
               "12345678");
  for (size_t at = 0; at < file.size(); ++at)
    for (unsigned value = 0; value < 256; ++value) {
      std::vector<uint8_t> damaged = file;
      damaged[at] = static_cast<uint8_t>(value);
      llvm::Expected<NpyArray> array = parseNpy(damaged, "x.npy");
      if (!array) {
        llvm::consumeError(array.takeError());
        continue;
      }
      EXPECT_EQ(array->bytes.size(),
                array->getNumElements() * getNpyTypeInfo(array->type).bytes);
    }
}

TEST(NpyTest, TypeNamesFindTheirTypes) {
  for (const char *name : {"f64", "f32", "f16", "i64", "i32", "i16", "i8",
                           "u64", "u32", "u16", "u8", "b1", "v8"}) {
    std::optional<NpyType> type = findNpyType(name);
    ASSERT_TRUE(type);
    EXPECT_EQ(getNpyTypeInfo(*type).name, name);
  }
  EXPECT_EQ(findNpyType("bf16"), std::nullopt);
}

} // namespace
