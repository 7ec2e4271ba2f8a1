//===- CacheTest.cpp - Compiled code that processes share -----------------===//

#include "CacheFixture.h"

#include "llvm/Support/Regex.h"

#include <set>
#include <sys/stat.h>
#include <thread>

using namespace llvm;
using namespace tile;
using namespace tile::runtime;
using namespace tile::runtime::test;

namespace {

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

TEST(CacheKeyTest, FieldsDoNotRunIntoEachOther) {
  // Every way to cut a text in three, and what could be taken for a length.
  std::set<std::string> keys;
  unsigned lists = 0;
  StringRef text("aaaaaaaaaaaaaaaa\0\0\0\0\0\0\0\0t", 25);
  for (size_t i = 0; i <= text.size(); ++i)
    for (size_t j = i; j <= text.size(); ++j, ++lists)
      keys.insert(CacheKeyBuilder()
                      .add(text.take_front(i))
                      .add(text.slice(i, j))
                      .add(text.drop_front(j))
                      .get()
                      .str());
  for (unsigned i = 0; i < 3; ++i, ++lists) { // empty fields count
    CacheKeyBuilder builder;
    for (unsigned j = 0; j < i; ++j)
      builder.add("");
    keys.insert(builder.get().str());
  }
  EXPECT_EQ(keys.size(), lists);
}

TEST(CacheKeyTest, TextsAreNotTakenForNumbers) {
  std::string bytes("12345678");
  uint64_t number = support::endian::read64le(bytes.data());
  auto isText = [&](const std::string &text) {
    return CacheKeyBuilder().add(text).get() ==
           CacheKeyBuilder().add(uint64_t(text.size())).add(number).get();
  };
  EXPECT_FALSE(isText(bytes));
  // Whatever byte stands before a number.
  for (unsigned kind = 0; kind < 256; ++kind)
    EXPECT_FALSE(isText(char(kind) + bytes)) << kind;
}

TEST(CacheKeyTest, EqualListsGiveEqualKeys) {
  auto make = [] {
    return CacheKeyBuilder().add("text").add(uint64_t(5)).get();
  };
  EXPECT_EQ(make(), make());
  EXPECT_EQ(make().str().size(), 64u);
  EXPECT_EQ(StringRef(make().str()).find_first_not_of("0123456789abcdef"),
            StringRef::npos);
}

TEST(BuildFingerprintTest, NamesVersionsAndBuilds) {
  const std::string &fingerprint = getBuildFingerprint();
  std::string object = "([0-9a-f]{16,}|/[^ ]+:[0-9]+:[0-9]+)";
  SmallVector<StringRef> parts;
  EXPECT_TRUE(Regex("^tile [0-9.]+ " + object + " LLVM 22[.][^ ]* " + object +
                    " MLIR " + object + "$")
                  .match(fingerprint, &parts))
      << fingerprint;
  ASSERT_EQ(parts.size(), 4u);
  EXPECT_NE(parts[1], parts[2]);
  EXPECT_NE(parts[2], parts[3]);
  EXPECT_NE(parts[1], parts[3]);
  EXPECT_EQ(fingerprint, getBuildFingerprint());
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

/// The variables that say where the folder is, put back at the end.
class CacheDirectoryTest : public CacheTest {
protected:
  static constexpr const char *kNames[] = {"TILE_CACHE_DIR", "XDG_CACHE_HOME",
                                           "HOME", "TILE_CACHE_DISABLE"};

  CacheDirectoryTest() {
    for (const char *name : kNames) {
      const char *value = std::getenv(name);
      before.push_back(value ? std::optional<std::string>(value)
                             : std::nullopt);
      ::unsetenv(name);
    }
  }
  ~CacheDirectoryTest() override {
    for (size_t i = 0; i < before.size(); ++i)
      before[i] ? ::setenv(kNames[i], before[i]->c_str(), 1)
                : ::unsetenv(kNames[i]);
  }

  std::string getDirectory() { return CodeCache(options).getDirectory(); }
  static void set(const char *name, const char *value) {
    ::setenv(name, value, 1);
  }

  std::vector<std::optional<std::string>> before;
};

TEST_F(CacheDirectoryTest, OptionsWinOverTheEnvironment) {
  options.directory = "";
  set("HOME", "/h");
  EXPECT_EQ(getDirectory(), "/h/.cache/tile");
  set("XDG_CACHE_HOME", "/x");
  EXPECT_EQ(getDirectory(), "/x/tile");
  set("TILE_CACHE_DIR", "/t");
  EXPECT_EQ(getDirectory(), "/t");
  options.directory = "/o";
  EXPECT_EQ(getDirectory(), "/o");
}

TEST_F(CacheDirectoryTest, EmptyVariablesAreNotSet) {
  options.directory = "";
  set("TILE_CACHE_DIR", "");
  set("XDG_CACHE_HOME", "");
  set("HOME", "/h");
  EXPECT_EQ(getDirectory(), "/h/.cache/tile");
}

TEST_F(CacheDirectoryTest, RelativePathsStayWhatTheyWere) {
  SmallString<128> current;
  ASSERT_FALSE(sys::fs::current_path(current));
  options.directory = "some/folder";
  sys::path::append(current, "some", "folder");
  EXPECT_EQ(getDirectory(), current.str());
  // The XDG specification has them ignored there.
  options.directory = "";
  set("HOME", "/h");
  set("XDG_CACHE_HOME", "some/folder");
  EXPECT_EQ(getDirectory(), "/h/.cache/tile");
}

TEST_F(CacheDirectoryTest, NothingIsDoneWhereNoFolderIsWanted) {
  auto expectUnused = [&](const char *what) {
    CodeCache cache(options);
    EXPECT_EQ(cache.getDirectory(), "") << what;
    EXPECT_TRUE(cache.write(makeKey(1), "contents")) << what;
    EXPECT_FALSE(cache.read(makeKey(1))) << what;
    EXPECT_EQ(cache.getWriteFailures(), 0u) << what;
    EXPECT_TRUE(listFiles().empty()) << what;
  };
  options.useDisk = false;
  expectUnused("useDisk");
  options.useDisk = true;
  options.maxDiskBytes = 0;
  expectUnused("maxDiskBytes");
  options.maxDiskBytes = 1 << 20;
  for (const char *value : {"1", "yes", "00"}) {
    set("TILE_CACHE_DISABLE", value);
    expectUnused(value);
  }
  for (const char *value : {"0", ""}) {
    set("TILE_CACHE_DISABLE", value);
    EXPECT_EQ(getDirectory(), options.directory);
  }
}

TEST_F(CacheDirectoryTest, NoFolderIsAnError) {
  options.directory = "";
  CodeCache cache(options);
  EXPECT_EQ(cache.getDirectory(), "");
  EXPECT_FALSE(cache.read(makeKey(1)));
  expectError(cache.write(makeKey(1), "contents"),
              "no folder for the cache: none of TILE_CACHE_DIR, "
              "XDG_CACHE_HOME and HOME is set");
  EXPECT_EQ(cache.getWriteFailures(), 1u);
}

TEST_F(CacheTest, FoldersAndFilesAreThisUsersOnly) {
  options.directory += "/missing/parent/of it";
  CodeCache cache(options);
  EXPECT_FALSE(sys::fs::exists(options.directory));
  EXPECT_FALSE(cache.read(makeKey(1)));
  EXPECT_FALSE(sys::fs::exists(options.directory));
  ASSERT_TRUE(cache.write(makeKey(1), "contents"));
  auto getMode = [](const std::string &path) {
    struct stat status;
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 0777 : ~0u;
  };
  EXPECT_EQ(getMode(options.directory), 0700u);
  EXPECT_EQ(getMode(folder + "/missing"), 0700u);
  EXPECT_EQ(getMode(getPath(makeKey(1))), 0600u);
}

TEST_F(CacheTest, AFolderThatWentAwayIsMadeAgain) {
  options.directory += "/folder";
  CodeCache cache(options);
  ASSERT_TRUE(cache.write(makeKey(1), "contents"));
  sys::fs::remove_directories(options.directory);
  EXPECT_FALSE(cache.read(makeKey(1)));
  ASSERT_TRUE(cache.write(makeKey(2), "others"));
  EXPECT_EQ(cache.read(makeKey(2)), "others");
  EXPECT_EQ(cache.getRejected(), 0u);
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

TEST_F(CacheTest, EntriesComeBackAsTheyWere) {
  CodeCache cache(options);
  std::vector<size_t> sizes = {0, 1, 2, 31, 32, 33, 4095, 4096, 4097};
  HashSequence hash(11);
  for (unsigned i = 0; i < 40; ++i)
    sizes.push_back(hash.below(uint64_t(1) << (i / 2)));
  for (size_t i = 0; i < sizes.size(); ++i)
    ASSERT_TRUE(cache.write(makeKey(i), HashSequence(i).bytes(sizes[i])));
  for (size_t i = 0; i < sizes.size(); ++i)
    EXPECT_EQ(cache.read(makeKey(i)), HashSequence(i).bytes(sizes[i])) << i;
  EXPECT_EQ(listFiles().size(), sizes.size());
  EXPECT_FALSE(cache.read(makeKey(sizes.size())));
  // Another object, as in another process.
  EXPECT_EQ(CodeCache(options).read(makeKey(7)), HashSequence(7).bytes(4096));
  EXPECT_EQ(cache.getRejected(), 0u);
  EXPECT_EQ(cache.getWriteFailures(), 0u);
}

TEST_F(CacheTest, ALaterEntryReplacesAnEarlierOne) {
  CodeCache cache(options);
  ASSERT_TRUE(cache.write(makeKey(1), "a longer text"));
  ASSERT_TRUE(cache.write(makeKey(1), "a text"));
  EXPECT_EQ(cache.read(makeKey(1)), "a text");
  EXPECT_EQ(listFiles().size(), 1u);
}

/// One entry that files are made from.
class DamagedEntryTest : public CacheTest {
protected:
  void SetUp() override {
    CodeCache cache(options);
    ASSERT_TRUE(cache.write(makeKey(1), contents));
    good = readFile(getPath(makeKey(1)));
    ASSERT_GT(good.size(), contents.size());
  }
  /// Whether the entry is refused, counted and removed.
  ::testing::AssertionResult isRefused(uint64_t key = 1) {
    CodeCache cache(options);
    if (cache.read(makeKey(key)))
      return ::testing::AssertionFailure() << "it was read";
    if (cache.getRejected() != 1)
      return ::testing::AssertionFailure() << "it was not counted";
    if (sys::fs::exists(getPath(makeKey(key))))
      return ::testing::AssertionFailure() << "it is still there";
    return ::testing::AssertionSuccess();
  }

  std::string contents = HashSequence(5).bytes(50);
  std::string good;
};

TEST_F(DamagedEntryTest, EveryFlippedBitIsSeen) {
  for (size_t i = 0; i < good.size() * 8; ++i) {
    std::string bad = good;
    bad[i / 8] ^= char(1 << i % 8);
    writeFile(getPath(makeKey(1)), bad);
    EXPECT_TRUE(isRefused()) << i;
  }
  writeFile(getPath(makeKey(1)), good);
  EXPECT_EQ(CodeCache(options).read(makeKey(1)), contents);
}

TEST_F(DamagedEntryTest, EveryOtherLengthIsSeen) {
  for (size_t size = 0; size < good.size(); ++size) {
    writeFile(getPath(makeKey(1)), good.substr(0, size));
    EXPECT_TRUE(isRefused()) << size;
  }
  for (size_t more : {1, 32, 5000}) {
    writeFile(getPath(makeKey(1)), good + std::string(more, '\0'));
    EXPECT_TRUE(isRefused()) << more;
  }
  // A file without blocks: what it and its header claim takes no memory.
  uint64_t overhead = good.size() - contents.size(), size = uint64_t(1) << 40;
  for (uint64_t claim : {uint64_t(contents.size()), size - overhead}) {
    std::string bad = good;
    size_t length = bad.find(contents) - 8;
    ASSERT_EQ(support::endian::read64le(&bad[length]), contents.size());
    support::endian::write64le(&bad[length], claim);
    writeFile(getPath(makeKey(1)), bad);
    ASSERT_EQ(::truncate(getPath(makeKey(1)).c_str(), size), 0);
    EXPECT_TRUE(isRefused()) << claim;
  }
}

TEST_F(DamagedEntryTest, TheEntryOfAnotherKeyIsSeen) {
  writeFile(getPath(makeKey(2)), good);
  EXPECT_TRUE(isRefused(2));
}

TEST_F(DamagedEntryTest, AnEntryIsMadeAnew) {
  writeFile(getPath(makeKey(1)), "something else");
  CodeCache cache(options);
  EXPECT_FALSE(cache.read(makeKey(1)));
  ASSERT_TRUE(cache.write(makeKey(1), contents));
  EXPECT_EQ(cache.read(makeKey(1)), contents);
  EXPECT_EQ(cache.getRejected(), 1u);
}

TEST_F(DamagedEntryTest, FilesThatOthersCouldHaveWrittenAreRefused) {
  std::string path = getPath(makeKey(1));
  for (mode_t mode : {0620, 0602, 0666}) {
    writeFile(path, good);
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    EXPECT_TRUE(isRefused()) << mode;
  }
  if (::geteuid() == 0) {
    writeFile(path, good);
    ASSERT_EQ(::chown(path.c_str(), kNobody, gid_t(-1)), 0);
    EXPECT_TRUE(isRefused());
  }
}

TEST_F(DamagedEntryTest, OnlyFilesAreRead) {
  std::string path = getPath(makeKey(1)), elsewhere = folder + "/elsewhere";
  sys::fs::remove(path);
  // Opening a pipe would wait for a writer.
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_TRUE(isRefused());
  writeFile(elsewhere, good);
  ASSERT_EQ(::symlink(elsewhere.c_str(), path.c_str()), 0);
  EXPECT_TRUE(isRefused());
  EXPECT_EQ(readFile(elsewhere), good);

  // A folder is in the way of the entry, too.
  ASSERT_EQ(::mkdir(path.c_str(), 0700), 0);
  CodeCache cache(options);
  EXPECT_FALSE(cache.read(makeKey(1)));
  expectError(cache.write(makeKey(1), contents),
              "cannot write '" + path + "': Is a directory");
  EXPECT_EQ(listFiles(), (std::vector<std::string>{"elsewhere"}));
}

//===----------------------------------------------------------------------===//
// Size
//===----------------------------------------------------------------------===//

TEST_F(CacheTest, TheFolderStaysWithinItsSize) {
  options.maxDiskBytes = 256 << 10;
  CodeCache cache(options);
  HashSequence hash(17);
  for (unsigned i = 0; i < 200; ++i) {
    ASSERT_TRUE(cache.write(makeKey(i), hash.bytes(hash.below(20000))));
    EXPECT_LE(getFolderBytes(), options.maxDiskBytes) << i;
  }
  // It is not emptied either.
  EXPECT_GE(getFolderBytes(), options.maxDiskBytes / 4 * 3);
}

TEST_F(CacheTest, WhatIsReadIsKept) {
  // 16 blocks; pruned to 15 at every write.
  options.maxDiskBytes = 64 << 10;
  CodeCache cache(options);
  for (unsigned i = 0; i < 15; ++i) {
    ASSERT_TRUE(cache.write(makeKey(i), HashSequence(i).bytes(3000)));
    age(getPath(makeKey(i)), 1000 - i);
  }
  EXPECT_EQ(listFiles().size(), 15u);
  EXPECT_TRUE(cache.read(makeKey(0))); // the oldest one
  EXPECT_TRUE(cache.read(makeKey(3)));
  for (unsigned i = 15; i < 20; ++i)
    ASSERT_TRUE(cache.write(makeKey(i), HashSequence(i).bytes(3000)));
  for (unsigned i = 0; i < 20; ++i) {
    bool isKept = i == 0 || i == 3 || i > 6;
    EXPECT_EQ(sys::fs::exists(getPath(makeKey(i))), isKept) << i;
  }
}

TEST_F(CacheTest, OnlyItsOwnFilesAreRemoved) {
  std::string key = makeKey(1).str();
  std::vector<std::string> others = {
      "notes.txt",        key,          key + ".txt",      "x" + key + ".code",
      key + ".code.copy", "short.code", key + "0123.code", ".code"};
  llvm::sort(others);
  for (const std::string &name : others) {
    writeFile(folder + "/" + name, HashSequence(1).bytes(5000));
    age(folder + "/" + name, 1 << 30);
  }
  ASSERT_FALSE(sys::fs::create_directory(getPath(makeKey(2))));
  options.maxDiskBytes = 8192;
  CodeCache cache(options);
  for (unsigned i = 3; i < 10; ++i)
    ASSERT_TRUE(cache.write(makeKey(i), "contents"));
  for (unsigned i = 3; i < 9; ++i)
    EXPECT_FALSE(sys::fs::exists(getPath(makeKey(i))));
  sys::fs::remove(getPath(makeKey(9)));
  EXPECT_EQ(listFiles(), others);
  EXPECT_TRUE(sys::fs::is_directory(getPath(makeKey(2))));
}

TEST_F(CacheTest, AbandonedFilesAreRemoved) {
  std::string abandoned = getPath(makeKey(1)) + ".0123456789abcdef.tmp";
  std::string young = getPath(makeKey(2)) + ".0123456789abcdef.tmp";
  writeFile(abandoned, "half of an ent");
  writeFile(young, "half of an ent");
  age(abandoned, 2 * 3600);
  options.maxDiskBytes = 64 << 10;
  CodeCache cache(options);
  ASSERT_TRUE(cache.write(makeKey(3), HashSequence(3).bytes(4000)));
  EXPECT_FALSE(sys::fs::exists(abandoned));
  EXPECT_TRUE(sys::fs::exists(young));
  EXPECT_TRUE(sys::fs::exists(getPath(makeKey(3))));
}

TEST_F(CacheTest, AnEntryThatIsTooLargeIsAnError) {
  options.maxDiskBytes = 64 << 10;
  CodeCache cache(options);
  expectError(cache.write(makeKey(1), std::string(61 << 10, 'x')),
              "cannot write '" + getPath(makeKey(1)) +
                  "': expects at most 61440 bytes, but got 65536");
  EXPECT_EQ(cache.getWriteFailures(), 1u);
  EXPECT_TRUE(listFiles().empty());
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

TEST_F(CacheTest, ThreadsReadAndWriteAtOnce) {
  options.maxDiskBytes = 128 << 10; // less than all of the entries
  CodeCache shared(options), other(options);
  std::atomic<unsigned> wrong{0}, hits{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      CodeCache &cache = i == 0 ? other : shared;
      HashSequence hash(i);
      for (unsigned j = 0; j < 200; ++j) {
        uint64_t key = hash.below(16);
        std::string expected = HashSequence(key).bytes(key * 1000);
        if (hash.below(2)) {
          if (!cache.write(makeKey(key), expected))
            ++wrong;
        } else if (auto contents = cache.read(makeKey(key))) {
          ++hits;
          if (*contents != expected)
            ++wrong;
        }
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(hits, 0u);
  EXPECT_EQ(shared.getRejected() + other.getRejected(), 0u);
  for (const std::string &name : listFiles())
    EXPECT_TRUE(StringRef(name).ends_with(".code")) << name;
}

} // namespace
