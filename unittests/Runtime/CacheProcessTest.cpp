//===- CacheProcessTest.cpp - Processes and disks that fail ---------------===//
//
// Each test runs the cache in processes of its own: without rights, against a
// limit, on a full disk, killed, or several at once.
//
//===----------------------------------------------------------------------===//

#include "CacheFixture.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <functional>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

using namespace llvm;
using namespace tile;
using namespace tile::runtime;
using namespace tile::runtime::test;

namespace {

/// What a child's function returns for "cannot be tested here".
constexpr int kSkipped = 77;

/// In a child, instead of EXPECT_TRUE.
#define CHECK_IN_CHILD(condition)                                              \
  do {                                                                         \
    if (!(condition)) {                                                        \
      std::fprintf(stderr, "%s:%d: expects %s\n", __FILE__, __LINE__,          \
                   #condition);                                                \
      return 1;                                                                \
    }                                                                          \
  } while (false)

pid_t startChild(const std::function<int()> &function) {
  pid_t child = ::fork();
  if (child == 0)
    ::_exit(function());
  return child;
}

/// The exit status of a child, or minus the signal that ended it.
int waitForChild(pid_t child) {
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child)
    return -1000;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int runInChild(const std::function<int()> &function) {
  return waitForChild(startChild(function));
}

class CacheProcessTest : public CacheTest {
protected:
  /// Gives up what root may do, in a child; the folder becomes that user's.
  static bool dropRights() {
    return ::geteuid() != 0 ||
           (::setgroups(0, nullptr) == 0 && ::setgid(kNobody) == 0 &&
            ::setuid(kNobody) == 0);
  }
  void giveAway(const std::string &path) {
    if (::geteuid() == 0) {
      ASSERT_EQ(::chown(path.c_str(), kNobody, kNobody), 0);
    }
  }
  static std::string getMessage(const Status &status) {
    return status ? "success" : status.error().getMessage();
  }
};

//===----------------------------------------------------------------------===//
// What cannot be written
//===----------------------------------------------------------------------===//

TEST_F(CacheProcessTest, AReadOnlyFolderIsRead) {
  std::string path = getPath(makeKey(1));
  giveAway(folder);
  int result = runInChild([&] {
    CHECK_IN_CHILD(dropRights());
    CodeCache cache(options);
    CHECK_IN_CHILD(cache.write(makeKey(1), "contents"));
    CHECK_IN_CHILD(::chmod(folder.c_str(), 0500) == 0);
    CHECK_IN_CHILD(cache.read(makeKey(1)) == "contents");
    CHECK_IN_CHILD(getMessage(cache.write(makeKey(2), "contents")) ==
                   "cannot write '" + getPath(makeKey(2)) +
                       "': Permission denied");
    CHECK_IN_CHILD(cache.getWriteFailures() == 1);
    // A damaged entry cannot be removed; it is still refused.
    CHECK_IN_CHILD(::truncate(path.c_str(), 100) == 0);
    CHECK_IN_CHILD(!cache.read(makeKey(1)));
    CHECK_IN_CHILD(cache.getRejected() == 1);
    // No folder can be made in it either.
    CacheOptions below = options;
    below.directory += "/a/b";
    CHECK_IN_CHILD(getMessage(CodeCache(below).write(makeKey(1), "contents")) ==
                   "cannot create '" + below.directory +
                       "': Permission denied");
    return 0;
  });
  EXPECT_EQ(result, 0);
  EXPECT_EQ(listFiles().size(), 1u);
}

TEST_F(CacheProcessTest, AnUnreadableEntryIsAbsent) {
  std::string path = getPath(makeKey(1));
  giveAway(folder);
  int result = runInChild([&] {
    CHECK_IN_CHILD(dropRights());
    CodeCache cache(options);
    CHECK_IN_CHILD(cache.write(makeKey(1), "contents"));
    CHECK_IN_CHILD(::chmod(path.c_str(), 0) == 0);
    CHECK_IN_CHILD(!cache.read(makeKey(1)));
    CHECK_IN_CHILD(cache.getRejected() == 0);
    CHECK_IN_CHILD(cache.write(makeKey(1), "contents"));
    CHECK_IN_CHILD(cache.read(makeKey(1)) == "contents");
    return 0;
  });
  EXPECT_EQ(result, 0);
}

TEST_F(CacheProcessTest, RootsEntriesAreRead) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "needs root";
  ASSERT_TRUE(CodeCache(options).write(makeKey(1), "contents"));
  ASSERT_EQ(::chmod(getPath(makeKey(1)).c_str(), 0644), 0);
  ASSERT_EQ(::chmod(folder.c_str(), 0755), 0);
  int result = runInChild([&] {
    CHECK_IN_CHILD(dropRights());
    CHECK_IN_CHILD(CodeCache(options).read(makeKey(1)) == "contents");
    return 0;
  });
  EXPECT_EQ(result, 0);
}

TEST_F(CacheProcessTest, AFileInPlaceOfTheFolderIsAnError) {
  writeFile(folder + "/file", "x");
  for (const char *name : {"/file", "/file/below"}) {
    options.directory = folder + name;
    CodeCache cache(options);
    expectError(cache.write(makeKey(1), "contents"),
                "cannot write '" + getPath(makeKey(1)) + "': Not a directory");
    EXPECT_FALSE(cache.read(makeKey(1)));
    EXPECT_EQ(cache.getRejected(), 0u);
  }
  EXPECT_EQ(readFile(folder + "/file"), "x");
}

TEST_F(CacheProcessTest, TheLimitOfFileSizesIsAnErrorAndNotTheEnd) {
  int result = runInChild([&] {
    struct rlimit limit = {4096, 4096};
    CHECK_IN_CHILD(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CodeCache cache(options);
    CHECK_IN_CHILD(
        getMessage(cache.write(makeKey(1), std::string(5000, 'x'))) ==
        "cannot write '" + getPath(makeKey(1)) + "': File too large");
    CHECK_IN_CHILD(cache.write(makeKey(2), std::string(3000, 'x')));
    return 0;
  });
  EXPECT_EQ(result, 0);
  EXPECT_EQ(listFiles().size(), 1u);
}

/// Gives the process a disk of its own at `path`: 0, or what it ends with where
/// it may not, or where that fails.
int mountSmallDisk(const std::string &path, const char *size) {
  if (::unshare(CLONE_NEWNS) == 0 &&
      ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
      ::mount("none", path.c_str(), "tmpfs", 0, size) == 0)
    return 0;
  return errno == EPERM || errno == EACCES ? kSkipped : 1;
}

TEST_F(CacheProcessTest, AFullDiskIsAnError) {
  int result = runInChild([&] {
    if (int failure = mountSmallDisk(folder, "size=256k"))
      return failure;
    CodeCache cache(options);
    CHECK_IN_CHILD(cache.write(makeKey(1), "contents"));
    { // Another program takes all of the rest.
      int file = ::open((folder + "/big").c_str(), O_WRONLY | O_CREAT, 0600);
      std::string block(4096, 'x');
      while (::write(file, block.data(), block.size()) > 0)
        ;
      ::close(file);
    }
    CHECK_IN_CHILD(
        getMessage(cache.write(makeKey(2), std::string(9000, 'x'))) ==
        "cannot write '" + getPath(makeKey(2)) + "': No space left on device");
    CHECK_IN_CHILD(cache.getWriteFailures() == 1);
    for (const std::string &name : listFiles())
      CHECK_IN_CHILD(!StringRef(name).ends_with(".tmp"));
    CHECK_IN_CHILD(::unlink((folder + "/big").c_str()) == 0);
    CHECK_IN_CHILD(cache.write(makeKey(2), std::string(9000, 'x')));
    CHECK_IN_CHILD(cache.read(makeKey(2)) == std::string(9000, 'x'));
    return 0;
  });
  if (result == kSkipped)
    GTEST_SKIP() << "may not mount a disk";
  EXPECT_EQ(result, 0);
}

TEST_F(CacheProcessTest, ADiskThatTheCacheFillsIsMadeRoomOn) {
  int result = runInChild([&] {
    if (int failure = mountSmallDisk(folder, "size=256k"))
      return failure;
    CodeCache cache(options); // may take much more than the disk has
    for (unsigned i = 0; i < 200; ++i) {
      CHECK_IN_CHILD(
          cache.write(makeKey(i), HashSequence(i).bytes(1000 + 100 * i)));
      CHECK_IN_CHILD(cache.read(makeKey(i)) ==
                     HashSequence(i).bytes(1000 + 100 * i));
    }
    CHECK_IN_CHILD(cache.getWriteFailures() == 0);
    return 0;
  });
  if (result == kSkipped)
    GTEST_SKIP() << "may not mount a disk";
  EXPECT_EQ(result, 0);
}

//===----------------------------------------------------------------------===//
// Several processes
//===----------------------------------------------------------------------===//

/// What the entry of a number holds.
std::string getContents(uint64_t number) {
  return HashSequence(number).bytes(number * number * 997);
}

TEST_F(CacheProcessTest, AKilledWriterLeavesWholeEntries) {
  constexpr unsigned kEntries = 12;
  HashSequence hash(23);
  unsigned found = 0;
  for (unsigned round = 0; round < 60; ++round) {
    pid_t child = startChild([&] {
      CodeCache cache(options);
      for (unsigned i = 0;; ++i)
        if (!cache.write(makeKey(i % kEntries), getContents(i % kEntries)))
          return 1;
    });
    ::usleep(hash.below(12000));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_EQ(waitForChild(child), -SIGKILL);
    CodeCache cache(options);
    for (unsigned i = 0; i < kEntries; ++i) {
      std::optional<std::string> contents = cache.read(makeKey(i));
      found += contents.has_value();
      EXPECT_TRUE(!contents || *contents == getContents(i)) << i;
    }
    EXPECT_EQ(cache.getRejected(), 0u);
    // Some rounds begin without entries.
    if (hash.below(2))
      for (unsigned i = 0; i < kEntries; ++i)
        sys::fs::remove(getPath(makeKey(i)));
  }
  EXPECT_GT(found, 0u);

  // What the killed ones abandoned goes once it is old.
  for (const std::string &name : listFiles())
    age(folder + "/" + name, 2 * 3600);
  options.maxDiskBytes = 1 << 20;
  CodeCache cache(options);
  ASSERT_TRUE(cache.write(makeKey(99), std::string(100000, 'x')));
  for (const std::string &name : listFiles())
    EXPECT_TRUE(StringRef(name).ends_with(".code")) << name;
  EXPECT_EQ(cache.read(makeKey(99)), std::string(100000, 'x'));
}

TEST_F(CacheProcessTest, RacingProcessesReadWhatIsRight) {
  auto race = [&](uint64_t seed) {
    CodeCache cache(options);
    HashSequence hash(seed);
    unsigned hits = 0;
    for (unsigned i = 0; i < 400; ++i) {
      uint64_t number = hash.below(10);
      if (hash.below(2)) {
        CHECK_IN_CHILD(cache.write(makeKey(number), getContents(number)));
      } else if (auto contents = cache.read(makeKey(number))) {
        ++hits;
        CHECK_IN_CHILD(*contents == getContents(number));
      }
    }
    CHECK_IN_CHILD(hits > 0);
    CHECK_IN_CHILD(cache.getRejected() == 0);
    return 0;
  };
  // First with room for everything, then with constant pruning by both.
  for (uint64_t maxBytes : {uint64_t(1) << 30, uint64_t(128) << 10}) {
    options.maxDiskBytes = maxBytes;
    pid_t first = startChild([&] { return race(1); });
    pid_t second = startChild([&] { return race(2); });
    EXPECT_EQ(waitForChild(first), 0);
    EXPECT_EQ(waitForChild(second), 0);
    for (const std::string &name : listFiles())
      EXPECT_TRUE(StringRef(name).ends_with(".code")) << name;
  }
}

TEST_F(CacheProcessTest, ProcessesThatWriteLittlePruneTogether) {
  // Each writes a tenth of what is written between two prunings.
  options.maxDiskBytes = 16 * 10 * 4096;
  int result = runInChild([&] {
    for (unsigned i = 0; i < 600; ++i)
      CHECK_IN_CHILD(CodeCache(options).write(makeKey(i), "contents"));
    return 0;
  });
  EXPECT_EQ(result, 0);
  // Without pruning, there would be 600; an excess of 15 intervals has a
  // chance of one in 7 million.
  EXPECT_LE(listFiles().size(), 150u + 150u);
}

} // namespace
