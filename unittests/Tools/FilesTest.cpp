//===- FilesTest.cpp - Kernel files in, results out -----------------------===//

#include "tile/Tools/Files.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tile;

namespace {

class FilesTest : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("tile-files", folder));
  }
  void TearDown() override { sys::fs::remove_directories(folder); }

  std::string at(StringRef name) {
    SmallString<128> path = folder;
    sys::path::append(path, name);
    return std::string(path);
  }
  std::string read(StringRef name) {
    auto buffer = MemoryBuffer::getFile(at(name));
    return buffer ? (*buffer)->getBuffer().str() : "<none>";
  }
  unsigned countFiles() {
    std::error_code error;
    unsigned count = 0;
    for (sys::fs::directory_iterator it(folder, error), end;
         it != end && !error; it.increment(error))
      ++count;
    return count;
  }

  SmallString<128> folder;
};

TEST_F(FilesTest, WritesAndReplacesFiles) {
  std::string a = at("a"), b = at("b");
  EXPECT_EQ(toString(writeOutputFiles({{a, "first"}, {b, "second"}})), "");
  EXPECT_EQ(toString(writeOutputFiles({{a, "third"}})), "");
  EXPECT_EQ(read("a"), "third");
  EXPECT_EQ(read("b"), "second");
  EXPECT_EQ(countFiles(), 2u);
}

TEST_F(FilesTest, WritesNothingWhereOneCannotBeWritten) {
  std::string a = at("a"), b = at("none/b");
  EXPECT_NE(toString(writeOutputFiles({{a, "new"}, {b, "new"}})), "");
  EXPECT_EQ(countFiles(), 0u);

  EXPECT_EQ(toString(writeOutputFiles({{a, "old"}})), "");
  std::string message =
      toString(writeOutputFiles({{a, "new"}, {folder, "new"}}));
  EXPECT_EQ(message,
            "cannot write '" + folder.str().str() + "': Is a directory");
  EXPECT_EQ(read("a"), "old");
  EXPECT_EQ(countFiles(), 1u);
}

TEST_F(FilesTest, FollowsASymbolicLink) {
  std::string a = at("a"), link = at("link");
  EXPECT_EQ(toString(writeOutputFiles({{a, "old"}})), "");
  ASSERT_FALSE(sys::fs::create_link(a, link));
  EXPECT_EQ(toString(writeOutputFiles({{link, "new"}})), "");
  EXPECT_EQ(read("a"), "new");
  EXPECT_TRUE(sys::fs::is_symlink_file(link));
}

TEST_F(FilesTest, WritesToADevice) {
  EXPECT_EQ(toString(writeOutputFiles({{"/dev/null", "text"}})), "");
  if (sys::fs::exists("/dev/full")) {
    EXPECT_EQ(toString(writeOutputFiles({{"/dev/full", "text"}})),
              "cannot write '/dev/full': No space left on device");
  }
}

TEST_F(FilesTest, AKernelFileKeepsItsName) {
  std::string path = at("k.mlir");
  ASSERT_EQ(toString(writeOutputFiles({{path, "// ${BM}\n"}})), "");
  TemplateConstants constants;
  cantFail(constants.add("BM", "16"));
  auto buffer = readKernelFile(path, constants);
  ASSERT_TRUE(static_cast<bool>(buffer));
  EXPECT_EQ((*buffer)->getBuffer(), "// 16\n");
  EXPECT_EQ((*buffer)->getBufferIdentifier(), path);
}

TEST_F(FilesTest, AKernelFileThatCannotBeReadIsAnError) {
  auto missing = readKernelFile(at("none"), {});
  ASSERT_FALSE(static_cast<bool>(missing));
  EXPECT_EQ(toString(missing.takeError()),
            "cannot read '" + at("none") + "': No such file or directory");
  auto directory = readKernelFile(folder, {});
  ASSERT_FALSE(static_cast<bool>(directory));
  EXPECT_EQ(toString(directory.takeError()),
            "cannot read '" + folder.str().str() + "': Is a directory");
}

TEST_F(FilesTest, BytecodeHasNoPlaceholders) {
  std::string path = at("k.mlirbc");
  ASSERT_EQ(toString(writeOutputFiles({{path, "ML\xEFR${BM}"}})), "");
  auto plain = readKernelFile(path, {});
  ASSERT_TRUE(static_cast<bool>(plain));
  EXPECT_EQ((*plain)->getBuffer(), "ML\xEFR${BM}");
  TemplateConstants constants;
  cantFail(constants.add("BM", "16"));
  auto expanded = readKernelFile(path, constants);
  ASSERT_FALSE(static_cast<bool>(expanded));
  EXPECT_EQ(toString(expanded.takeError()),
            "-DBM: " + path + " is bytecode and has no placeholders");
}

} // namespace
