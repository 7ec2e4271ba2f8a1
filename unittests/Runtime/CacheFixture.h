//===- CacheFixture.h - A cache in a folder of its own ----------*- C++ -*-===//

#ifndef TILE_UNITTESTS_RUNTIME_CACHEFIXTURE_H
#define TILE_UNITTESTS_RUNTIME_CACHEFIXTURE_H

#include "CodeCache.h"
#include "HashData.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace tile::runtime::test {

/// A user that owns nothing.
constexpr uid_t kNobody = 65534;

inline CacheKey makeKey(uint64_t number) {
  return CacheKeyBuilder().add(number).get();
}

class CacheTest : public ::testing::Test {
protected:
  CacheTest() {
    llvm::SmallString<128> path;
    if (llvm::sys::fs::createUniqueDirectory("tile-cache", path))
      ADD_FAILURE() << "no folder for temporary files";
    folder = options.directory = std::string(path);
  }
  ~CacheTest() override {
    (void)::chmod(folder.c_str(), 0700);
    llvm::sys::fs::remove_directories(folder);
  }

  /// The file of an entry.
  std::string getPath(const CacheKey &key) const {
    return options.directory + "/" + key.str() + ".code";
  }

  /// The names of the files in the folder, in order.
  std::vector<std::string> listFiles() const {
    std::vector<std::string> names;
    std::error_code error;
    for (llvm::sys::fs::directory_iterator it(options.directory, error), end;
         it != end && !error; it.increment(error))
      if (!llvm::sys::fs::is_directory(it->path()))
        names.push_back(llvm::sys::path::filename(it->path()).str());
    std::sort(names.begin(), names.end());
    return names;
  }

  /// What the files take, in blocks of 4 KiB.
  uint64_t getFolderBytes() const {
    uint64_t total = 0, size = 0;
    for (const std::string &name : listFiles())
      if (!llvm::sys::fs::file_size(options.directory + "/" + name, size))
        total += (size + 4095) / 4096 * 4096;
    return total;
  }

  static std::string readFile(const std::string &path) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : "<none>";
  }
  /// Writes a new file that is this user's only.
  static void writeFile(const std::string &path, llvm::StringRef contents) {
    (void)::unlink(path.c_str());
    int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL, 0600);
    ASSERT_GE(file, 0) << path;
    llvm::raw_fd_ostream(file, /*shouldClose=*/true) << contents;
  }
  /// Makes a file look as if it was last used some time ago.
  static void age(const std::string &path, time_t seconds) {
    struct timespec then = {::time(nullptr) - seconds, 0};
    struct timespec times[] = {then, then};
    EXPECT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0) << path;
  }

  static void expectError(const Status &status, const std::string &message) {
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().getCode(), ErrorCode::Io);
    EXPECT_EQ(status.error().getMessage(), message);
  }

  std::string folder;
  CacheOptions options;
};

} // namespace tile::runtime::test

#endif // TILE_UNITTESTS_RUNTIME_CACHEFIXTURE_H
