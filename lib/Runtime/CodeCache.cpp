//===- CodeCache.cpp - Compiled code that processes share -----------------===//

#include "CodeCache.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <tuple>
#include <unistd.h>
#include <vector>

using namespace llvm;
using namespace tile;
using namespace tile::runtime;

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

std::string CacheKey::str() const { return toHex(bytes, /*LowerCase=*/true); }

/// Hashes a number behind a byte that says what it is, so that a text is not
/// taken for its length and the numbers in it.
static void addNumber(BLAKE3 &hasher, char kind, uint64_t number) {
  char bytes[9] = {kind};
  support::endian::write64le(bytes + 1, number);
  hasher.update(StringRef(bytes, sizeof(bytes)));
}

CacheKeyBuilder &CacheKeyBuilder::add(StringRef field) {
  addNumber(hasher, 't', field.size());
  hasher.update(field);
  return *this;
}

CacheKeyBuilder &CacheKeyBuilder::add(uint64_t number) {
  addNumber(hasher, 'n', number);
  return *this;
}

CacheKey CacheKeyBuilder::get() {
  CacheKey key;
  key.bytes = hasher.final();
  return key;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

// An entry is a header, the contents, and the BLAKE3 hash of both. The header
// is the magic, the key, so that no other entry's file passes for it, and the
// length of the contents.

static constexpr StringLiteral kMagic = "tilecc1\n";
static constexpr size_t kHashBytes = 32;
static constexpr size_t kHeaderBytes = 8 + kHashBytes + 8;
static constexpr size_t kOverhead = kHeaderBytes + kHashBytes;
/// No entry is larger, whatever a file claims.
static constexpr uint64_t kMaxEntryBytes = uint64_t(1) << 28;

static constexpr StringLiteral kEntrySuffix = ".code";
static constexpr StringLiteral kTemporarySuffix = ".tmp";
/// A writer takes no longer; a temporary file that is older is abandoned.
static constexpr time_t kAbandonedSeconds = 3600;

using Header = std::array<char, kHeaderBytes>;
using Hash = std::array<uint8_t, kHashBytes>;

static Header makeHeader(const CacheKey &key, uint64_t length) {
  Header header;
  char *end = std::copy(kMagic.begin(), kMagic.end(), header.begin());
  end = std::copy(key.bytes.begin(), key.bytes.end(), end);
  support::endian::write64le(end, length);
  return header;
}

static Hash hashEntry(const Header &header, StringRef contents) {
  BLAKE3 hasher;
  hasher.update(StringRef(header.data(), header.size()));
  hasher.update(contents);
  return hasher.final();
}

static StringRef asText(const Hash &hash) {
  return StringRef(reinterpret_cast<const char *>(hash.data()), hash.size());
}

/// The bytes that a file takes on a disk with the usual blocks. The file system
/// itself may only know later.
static uint64_t getDiskBytes(uint64_t fileBytes) {
  return alignTo(fileBytes, 4096);
}

static std::error_code getErrno() {
  return std::error_code(errno, std::generic_category());
}

namespace {
/// Closes a file that is only read.
struct FileCloser {
  int file;
  ~FileCloser() { ::close(file); }
};
} // namespace

/// Fills `buffer`; false where the file ends before.
static bool readWhole(int file, char *buffer, size_t size) {
  while (size != 0) {
    ssize_t count =
        sys::RetryAfterSignal(-1, [&] { return ::read(file, buffer, size); });
    if (count <= 0)
      return false;
    buffer += count, size -= count;
  }
  return true;
}

static std::error_code writeWhole(int file, StringRef bytes) {
  while (!bytes.empty()) {
    ssize_t count = sys::RetryAfterSignal(
        -1, [&] { return ::write(file, bytes.data(), bytes.size()); });
    if (count < 0)
      return getErrno();
    bytes = bytes.drop_front(count);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

/// A variable of the environment; empty where it is not set.
static StringRef getVariable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// A number that differs from process to process and from call to call.
static uint64_t getArbitraryNumber() {
  static std::atomic<uint64_t> calls{0};
  CacheKeyBuilder builder;
  builder.add(uint64_t(::getpid())).add(++calls);
  builder.add(std::chrono::system_clock::now().time_since_epoch().count());
  builder.add(reinterpret_cast<uintptr_t>(&calls)); // pids repeat in containers
  return support::endian::read64le(builder.get().bytes.data());
}

/// What is written between two prunings.
static uint64_t getPruningInterval(uint64_t maxBytes) { return maxBytes / 16; }

static std::string findDirectory(const CacheOptions &options) {
  SmallString<128> path(options.directory);
  if (path.empty())
    path = getVariable("TILE_CACHE_DIR");
  // The XDG specification has relative paths ignored.
  StringRef cacheHome = getVariable("XDG_CACHE_HOME");
  if (path.empty() && sys::path::is_absolute(cacheHome)) {
    path = cacheHome;
    sys::path::append(path, "tile");
  }
  StringRef home = getVariable("HOME");
  if (path.empty() && !home.empty()) {
    path = home;
    sys::path::append(path, ".cache", "tile");
  }
  if (path.empty())
    return "";
  // The program may change its directory later.
  sys::fs::make_absolute(path);
  return std::string(path);
}

CodeCache::CodeCache(const CacheOptions &options)
    : maxBytes(options.maxDiskBytes) {
  StringRef disable = getVariable("TILE_CACHE_DISABLE");
  if (!options.useDisk || options.maxDiskBytes == 0 ||
      (!disable.empty() && disable != "0"))
    return;
  directory = findDirectory(options);
  if (directory.empty())
    problem = "no folder for the cache: none of TILE_CACHE_DIR, "
              "XDG_CACHE_HOME and HOME is set";
  // Processes that each write less than the interval prune often enough
  // together when they start anywhere in it.
  if (uint64_t interval = getPruningInterval(maxBytes))
    bytesSincePruning = getArbitraryNumber() % interval;
}

std::string CodeCache::getPath(const CacheKey &key) const {
  SmallString<128> path(directory);
  sys::path::append(path, key.str() + kEntrySuffix);
  return std::string(path);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Whether nobody else could have written the file.
static bool isTrusted(const struct stat &status) {
  return S_ISREG(status.st_mode) &&
         (status.st_uid == ::geteuid() || status.st_uid == 0) &&
         (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// The contents of an open entry, or nullopt where it is damaged.
static std::optional<std::string> readEntry(int file, const CacheKey &key) {
  struct stat status;
  if (::fstat(file, &status) != 0 || !isTrusted(status) ||
      status.st_size < off_t(kOverhead) ||
      uint64_t(status.st_size) > kOverhead + kMaxEntryBytes)
    return std::nullopt;
  uint64_t length = status.st_size - kOverhead;
  Header header;
  if (!readWhole(file, header.data(), header.size()) ||
      header != makeHeader(key, length))
    return std::nullopt;
  std::string contents(length, '\0');
  Hash hash;
  if (!readWhole(file, contents.data(), contents.size()) ||
      !readWhole(file, reinterpret_cast<char *>(hash.data()), hash.size()) ||
      hash != hashEntry(header, contents))
    return std::nullopt;
  return contents;
}

std::optional<std::string> CodeCache::read(const CacheKey &key) {
  if (directory.empty())
    return std::nullopt;
  std::string path = getPath(key);
  // Neither a link nor a pipe is one of our files; opening a pipe would wait.
  int file = sys::RetryAfterSignal(-1, [&] {
    return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  });
  // Of a file that cannot be opened nothing is known, but that a link is none
  // of ours.
  if (file < 0 && errno != ELOOP)
    return std::nullopt;
  if (file >= 0) {
    FileCloser closer{file};
    if (std::optional<std::string> contents = readEntry(file, key)) {
      // The order of pruning. The times that the system keeps depend on how the
      // disk is mounted. In a folder that is only read this fails, rightly.
      (void)::futimens(file, /*times=*/nullptr);
      return contents;
    }
  }
  ++rejected;
  // Another process may have put a good one there: then it is made once more.
  (void)::unlink(path.c_str());
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Creates a file that nobody has, `path` with something appended. LLVM's
/// temporary files would install signal handlers, and its names take the host
/// program's random numbers.
static int createTemporary(const std::string &path, std::string &temporary) {
  for (unsigned attempt = 0;; ++attempt) {
    temporary =
        path + "." +
        utohexstr(getArbitraryNumber(), /*LowerCase=*/true, /*Width=*/16) +
        kTemporarySuffix.str();
    int file = sys::RetryAfterSignal(-1, [&] {
      return ::open(temporary.c_str(),
                    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                    S_IRUSR | S_IWUSR);
    });
    if (file >= 0 || errno != EEXIST || attempt == 16)
      return file;
  }
}

/// The limit of a process on the size of files: to exceed it ends the process,
/// not the call.
static bool exceedsFileLimit(uint64_t bytes) {
  struct rlimit limit;
  return ::getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
         limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur;
}

std::error_code CodeCache::writeFile(const std::string &path,
                                     ArrayRef<StringRef> pieces,
                                     const char *&step) const {
  step = "write";
  std::string temporary;
  int file = createTemporary(path, temporary);
  if (file < 0 && errno == ENOENT) {
    if (std::error_code error = sys::fs::create_directories(
            directory, /*IgnoreExisting=*/true, sys::fs::owner_all)) {
      step = "create";
      return error;
    }
    file = createTemporary(path, temporary);
  }
  if (file < 0)
    return getErrno();
  std::error_code error;
  for (StringRef piece : pieces)
    if (!error)
      error = writeWhole(file, piece);
  // Nothing waits for the disk: what a power failure leaves of the file does
  // not have its hash. Some file systems say only here that there is no room.
  if (::close(file) != 0 && !error && errno != EINTR)
    error = getErrno();
  if (!error && ::rename(temporary.c_str(), path.c_str()) != 0)
    error = getErrno();
  if (error)
    (void)::unlink(temporary.c_str());
  return error;
}

Status CodeCache::write(const CacheKey &key, StringRef contents) {
  auto fail = [&](const Twine &message) -> Status {
    ++writeFailures;
    return runtime::Error(ErrorCode::Io, message.str());
  };
  if (!problem.empty())
    return fail(problem);
  if (directory.empty())
    return {};

  std::string path = getPath(key);
  uint64_t bytes = contents.size() + kOverhead;
  uint64_t diskBytes = getDiskBytes(bytes);
  uint64_t interval = getPruningInterval(maxBytes);
  uint64_t mostBytes =
      std::min(maxBytes - interval, kOverhead + kMaxEntryBytes);
  if (diskBytes > mostBytes)
    return fail("cannot write '" + path + "': expects at most " +
                Twine(mostBytes) + " bytes, but got " + Twine(diskBytes));
  if (exceedsFileLimit(bytes))
    return fail("cannot write '" + path + "': " +
                std::make_error_code(std::errc::file_too_large).message());

  Header header = makeHeader(key, contents.size());
  Hash hash = hashEntry(header, contents);
  StringRef pieces[] = {StringRef(header.data(), header.size()), contents,
                        asText(hash)};
  const char *step;
  std::error_code error = writeFile(path, pieces, step);
  // Old entries may be what fills the disk.
  if (error == std::errc::no_space_on_device || error.value() == EDQUOT) {
    prune();
    error = writeFile(path, pieces, step);
  }
  // Someone removed the folder, or the file before it had its name.
  for (int attempt = 0;
       attempt < 3 && error == std::errc::no_such_file_or_directory; ++attempt)
    error = writeFile(path, pieces, step);
  if (error)
    return fail(Twine("cannot ") + step + " '" +
                (step == StringRef("create") ? directory : path) +
                "': " + error.message());

  if (bytesSincePruning.fetch_add(diskBytes) + diskBytes >= interval) {
    bytesSincePruning = 0;
    prune();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Pruning
//===----------------------------------------------------------------------===//

// LLVM's cache pruning ends the process where the folder goes away under it.

/// Whether `name` begins with a key, which is taken off it.
static bool consumeKey(StringRef &name) {
  StringRef key = name.take_front(2 * kHashBytes);
  if (key.size() != 2 * kHashBytes || !all_of(key, isHexDigit))
    return false;
  name = name.drop_front(key.size());
  return true;
}

static bool isEntryName(StringRef name) {
  return consumeKey(name) && name == kEntrySuffix;
}

static bool isTemporaryName(StringRef name) {
  return consumeKey(name) && name.consume_front(kEntrySuffix) &&
         name.ends_with(kTemporarySuffix);
}

void CodeCache::prune() {
  std::unique_lock<std::mutex> lock(pruningMutex.get(), std::try_to_lock);
  if (!lock)
    return;
  DIR *folder = ::opendir(directory.c_str());
  if (!folder)
    return;

  struct File {
    std::pair<time_t, long> used;
    std::string name;
    uint64_t bytes;
  };
  std::vector<File> entries;
  uint64_t total = 0;
  time_t now = ::time(nullptr);
  while (const dirent *item = ::readdir(folder)) {
    StringRef name = item->d_name;
    bool isTemporary = isTemporaryName(name);
    struct stat status;
    if ((!isTemporary && !isEntryName(name)) ||
        ::fstatat(::dirfd(folder), item->d_name, &status,
                  AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode))
      continue;
    if (isTemporary && status.st_mtim.tv_sec < now - kAbandonedSeconds) {
      (void)::unlinkat(::dirfd(folder), item->d_name, 0);
      continue;
    }
    uint64_t bytes = getDiskBytes(status.st_size);
    total += bytes;
    if (!isTemporary)
      entries.push_back(
          {{status.st_mtim.tv_sec, status.st_mtim.tv_nsec}, name.str(), bytes});
  }

  // Other programs need some of the disk, too.
  uint64_t limit = maxBytes;
  struct statvfs disk;
  if (::fstatvfs(::dirfd(folder), &disk) == 0) {
    uint64_t available = uint64_t(disk.f_bavail) * disk.f_frsize + total;
    limit = std::min(limit, available / 4 * 3);
  }
  limit -= getPruningInterval(limit);

  llvm::sort(entries, [](const File &a, const File &b) {
    return std::tie(a.used, a.name) < std::tie(b.used, b.name);
  });
  for (const File &entry : entries) {
    if (total <= limit)
      break;
    // Another process may have been faster.
    (void)::unlinkat(::dirfd(folder), entry.name.c_str(), 0);
    total -= entry.bytes;
  }
  ::closedir(folder);
}
