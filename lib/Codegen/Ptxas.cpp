//===- Ptxas.cpp - NVIDIA's assembler, where there is one -----------------===//

#include "tile/Codegen/Ptxas.h"

#include "tile/Target/TargetInfo.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

using namespace llvm;
using namespace tile;

//===----------------------------------------------------------------------===//
// Running it
//===----------------------------------------------------------------------===//

namespace {
/// A file that is removed at the end of its scope.
class ScratchFile {
public:
  static Expected<ScratchFile> create(StringRef suffix, StringRef contents) {
    int descriptor;
    SmallString<128> path;
    if (std::error_code error =
            sys::fs::createTemporaryFile("tile", suffix, descriptor, path))
      return createStringError("cannot make a temporary file: " +
                               error.message());
    ScratchFile file(path);
    raw_fd_ostream os(descriptor, /*shouldClose=*/true);
    os << contents;
    os.close();
    std::error_code error = os.error();
    os.clear_error();
    if (error)
      return createStringError("cannot write '" + path +
                               "': " + error.message());
    return std::move(file);
  }

  ScratchFile(ScratchFile &&other) : path(std::move(other.path)) {
    other.path.clear();
  }
  ScratchFile &operator=(ScratchFile &&) = delete;
  ~ScratchFile() {
    if (!path.empty())
      sys::fs::remove(path);
  }

  StringRef getPath() const { return path; }

  Expected<std::string> read() const {
    auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                        /*RequiresNullTerminator=*/false);
    if (!buffer)
      return createStringError("cannot read '" + path +
                               "': " + buffer.getError().message());
    return (*buffer)->getBuffer().str();
  }

private:
  explicit ScratchFile(StringRef path) : path(path) {}
  std::string path;
};

/// How a program ended, and everything that it printed.
struct RunResult {
  int status; ///< Below zero: it could not be started, or was killed.
  std::string output;
};
} // namespace

static Expected<RunResult> runProgram(StringRef program,
                                      ArrayRef<StringRef> arguments) {
  Expected<ScratchFile> output = ScratchFile::create("log", "");
  if (!output)
    return output.takeError();
  SmallVector<StringRef, 8> argv = {program};
  argv.append(arguments.begin(), arguments.end());
  std::optional<StringRef> redirects[] = {StringRef(""), output->getPath(),
                                          output->getPath()};
  std::string message;
  int status = sys::ExecuteAndWait(program, argv, /*Env=*/std::nullopt,
                                   redirects, /*SecondsToWait=*/0,
                                   /*MemoryLimit=*/0, &message);
  Expected<std::string> text = output->read();
  if (!text)
    return text.takeError();
  if (status < 0)
    *text += message;
  return RunResult{status, std::move(*text)};
}

//===----------------------------------------------------------------------===//
// Finding it
//===----------------------------------------------------------------------===//

/// The assembler in a virtual environment made by scripts/setup, or "".
static std::string findInEnvironment(StringRef environment) {
  SmallString<128> lib(environment);
  sys::path::append(lib, "lib");
  std::error_code error;
  for (sys::fs::directory_iterator it(lib, error), end; !error && it != end;
       it.increment(error)) {
    if (!sys::path::filename(it->path()).starts_with("python"))
      continue;
    SmallString<128> path(it->path());
    sys::path::append(path, "site-packages", "nvidia", "cu13");
    sys::path::append(path, "bin", "ptxas");
    if (sys::fs::can_execute(path))
      return std::string(path);
  }
  return "";
}

/// The assembler that scripts/setup installs, or "": first beside the checkout
/// that the running program was built in, then where that was at build time.
static std::string findSetupPtxas() {
  // The address of any function finds the program by its own image.
  std::string program = sys::fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(&findInEnvironment));
  // CHECKOUT/build/bin/tile-compile
  SmallString<128> checkout(program);
  for (int i = 0; i < 3; ++i)
    checkout.truncate(sys::path::parent_path(checkout).size());
  if (!checkout.empty()) {
    sys::path::append(checkout, ".venv");
    if (std::string path = findInEnvironment(checkout); !path.empty())
      return path;
  }
  return findInEnvironment(TILE_VENV);
}

/// Opens what somebody asked for; `origin` says how.
static Expected<std::optional<Ptxas>> openWish(StringRef origin,
                                               StringRef wish) {
  std::string path = wish.str();
  if (!wish.contains('/'))
    if (ErrorOr<std::string> found = sys::findProgramByName(wish))
      path = *found;
  Expected<Ptxas> ptxas = Ptxas::open(path);
  if (ptxas)
    return std::move(*ptxas);
  return createStringError(origin + ": " + toString(ptxas.takeError()));
}

Expected<std::optional<Ptxas>> Ptxas::find(StringRef option) {
  if (!option.empty())
    return openWish("--ptxas", option);
  std::optional<std::string> wish = sys::Process::GetEnv("TILE_PTXAS");
  if (wish && !wish->empty())
    return openWish("TILE_PTXAS", *wish);

  SmallVector<std::string, 3> candidates = {findSetupPtxas()};
  if (ErrorOr<std::string> found = sys::findProgramByName("ptxas"))
    candidates.push_back(*found);
  if (std::optional<std::string> home = sys::Process::GetEnv("CUDA_HOME")) {
    SmallString<128> path(*home);
    sys::path::append(path, "bin", "ptxas");
    candidates.push_back(std::string(path));
  }
  for (const std::string &candidate : candidates) {
    if (candidate.empty() || !sys::fs::can_execute(candidate))
      continue;
    // One that does not run, such as a broken link to a toolkit that was
    // removed, must not hide the next.
    Expected<Ptxas> ptxas = open(candidate);
    if (ptxas)
      return std::move(*ptxas);
    consumeError(ptxas.takeError());
  }
  return std::nullopt;
}

Expected<Ptxas> Ptxas::require(StringRef option) {
  Expected<std::optional<Ptxas>> ptxas = find(option);
  if (!ptxas)
    return ptxas.takeError();
  if (*ptxas)
    return std::move(**ptxas);
  return createStringError(
      "no ptxas found: name one by the option ptxas, set TILE_PTXAS, run "
      "scripts/setup, "
      "or put a CUDA toolkit on PATH or in CUDA_HOME");
}

Expected<Ptxas> Ptxas::open(StringRef path) {
  if (!sys::fs::can_execute(path))
    return createStringError("'" + path + "' is not a program");
  Expected<RunResult> run = runProgram(path, {"--version"});
  if (!run)
    return run.takeError();
  // "Cuda compilation tools, release 13.0, V13.0.88"
  StringRef text = run->output;
  StringRef number =
      text.substr(text.find(" V")).drop_front(text.contains(" V") ? 2 : 0);
  number = number.take_while([](char c) { return isDigit(c) || c == '.'; });
  auto [major, rest] = number.split('.');
  StringRef minor = rest.split('.').first;
  unsigned majorValue, minorValue;
  if (run->status != 0 || !text.contains("ptxas") ||
      major.getAsInteger(10, majorValue) ||
      minor.getAsInteger(10, minorValue) || majorValue > 1000 ||
      minorValue > 99)
    return createStringError("'" + path +
                             "' does not answer --version as ptxas does");
  return Ptxas(path, majorValue * 100 + minorValue, number);
}

//===----------------------------------------------------------------------===//
// What it prints
//===----------------------------------------------------------------------===//

/// The number before `unit` in `text`, e.g. 1024 in "1024 bytes smem", or 0.
static unsigned numberBefore(StringRef text, StringRef unit) {
  size_t end = text.find(unit);
  if (end == StringRef::npos)
    return 0;
  StringRef before = text.take_front(end).rtrim();
  size_t begin = before.find_last_not_of("0123456789");
  unsigned value = 0;
  before.drop_front(begin == StringRef::npos ? 0 : begin + 1)
      .getAsInteger(10, value);
  return value;
}

std::vector<KernelResources> tile::parsePtxasLog(StringRef log) {
  std::vector<KernelResources> kernels;
  // Device functions have properties too; they are not kernels.
  bool inKernel = false;
  SmallVector<StringRef> lines;
  log.split(lines, '\n');
  for (StringRef line : lines) {
    if (line.contains("Compiling entry function '")) {
      KernelResources &kernel = kernels.emplace_back();
      kernel.entry = line.split('\'').second.split('\'').first.str();
      inKernel = true;
    } else if (kernels.empty()) {
      continue;
    } else if (line.contains("Function properties for ")) {
      inKernel =
          line.rtrim().ends_with((" " + Twine(kernels.back().entry)).str());
    } else if (inKernel && line.contains("bytes stack frame")) {
      kernels.back().stackBytes = numberBefore(line, "bytes stack frame");
      kernels.back().spillStoreBytes = numberBefore(line, "bytes spill stores");
      kernels.back().spillLoadBytes = numberBefore(line, "bytes spill loads");
    } else if (line.contains(": Used ")) {
      kernels.back().registers = numberBefore(line, "registers");
      kernels.back().barriers = numberBefore(line, "barriers");
      kernels.back().sharedBytes = numberBefore(line, "bytes smem");
    }
  }
  return kernels;
}

//===----------------------------------------------------------------------===//
// Assembling
//===----------------------------------------------------------------------===//

unsigned tile::getToolkitForPtxVersion(unsigned ptxVersion) {
  // The release notes' table of PTX ISA versions; 8.6 came with 12.7 only.
  unsigned major = ptxVersion / 10, minor = ptxVersion % 10;
  if (major == 8 && minor >= 6)
    ++minor;
  return (major + 4) * 100 + minor;
}

/// The `.version` of a PTX text as in 88, or 0.
static unsigned readPtxVersion(StringRef ptx) {
  StringRef text = ptx.substr(ptx.find(".version"));
  if (!text.consume_front(".version"))
    return 0;
  text = text.ltrim().take_while([](char c) { return isDigit(c) || c == '.'; });
  auto [major, minor] = text.split('.');
  unsigned majorValue, minorValue;
  if (major.getAsInteger(10, majorValue) || minor.getAsInteger(10, minorValue))
    return 0;
  return majorValue * 10 + minorValue;
}

/// The complaints of a log, without what ptxas puts before every line.
static SmallVector<std::string> getComplaints(StringRef log, StringRef path,
                                              StringRef name) {
  SmallVector<std::string> complaints;
  SmallVector<StringRef> lines;
  log.split(lines, '\n');
  for (StringRef line : lines) {
    bool isError = line.contains("error   :") || line.contains("fatal   :");
    // The last line of every failure says only that it failed.
    if (!isError || line.contains("aborted due to errors"))
      continue;
    line.consume_front("ptxas ");
    std::string text;
    if (line.consume_front(path)) // ", line 12; error   : …"
      text = name.str();
    text += line.str();
    for (StringRef kind : {"error   : ", "fatal   : "})
      if (size_t at = StringRef(text).find(kind); at != StringRef::npos)
        text.erase(at, kind.size());
    complaints.push_back(StringRef(text).trim().str());
  }
  return complaints;
}

Expected<PtxasResult>
Ptxas::assemble(StringRef ptx, StringRef target, StringRef name,
                ArrayRef<std::string> extraOptions) const {
  Expected<ScratchFile> source = ScratchFile::create("ptx", ptx);
  if (!source)
    return source.takeError();
  Expected<ScratchFile> cubin = ScratchFile::create("cubin", "");
  if (!cubin)
    return cubin.takeError();
  std::string arch = ("-arch=" + target).str();
  SmallVector<StringRef, 8> arguments = {arch, "-v", source->getPath(), "-o",
                                         cubin->getPath()};
  for (const std::string &option : extraOptions)
    arguments.push_back(option);
  Expected<RunResult> run = runProgram(path, arguments);
  if (!run)
    return run.takeError();

  if (run->status == 0) {
    Expected<std::string> contents = cubin->read();
    if (!contents)
      return contents.takeError();
    if (contents->empty())
      return createStringError("ptxas " + versionText + " ('" + path +
                               "') wrote no cubin for " + target);
    std::vector<KernelResources> kernels = parsePtxasLog(run->output);
    // ptxas works from the last kernel to the first, mostly.
    llvm::stable_sort(kernels, [&](const auto &a, const auto &b) {
      return ptx.find((".entry " + Twine(a.entry) + "(").str()) <
             ptx.find((".entry " + Twine(b.entry) + "(").str());
    });
    return PtxasResult{std::move(*contents), std::move(kernels),
                       std::move(run->output)};
  }

  std::string message =
      ("ptxas " + versionText + " ('" + path + "') fails for " + target).str();
  unsigned ptxVersion = readPtxVersion(ptx);
  if (Expected<const TargetInfo *> info = findTarget(target))
    ptxVersion = std::max(ptxVersion, (*info)->minPtxVersion);
  else
    consumeError(info.takeError());
  unsigned needed = ptxVersion ? getToolkitForPtxVersion(ptxVersion) : 0;
  if (needed > version)
    message += (", which needs CUDA " + Twine(needed / 100) + "." +
                Twine(needed % 100) + " or newer")
                   .str();
  SmallVector<std::string> complaints =
      getComplaints(run->output, source->getPath(), name);
  if (complaints.empty()) {
    message += ": exit status " + itostr(run->status);
    StringRef first = StringRef(run->output).trim().split('\n').first;
    if (!first.empty())
      message += (": " + first).str();
  }
  constexpr size_t shown = 3;
  for (const std::string &line : ArrayRef(complaints).take_front(shown))
    message += "\n  " + line;
  if (complaints.size() > shown)
    message += "\n  (" + utostr(complaints.size() - shown) + " more)";
  return createStringError(message);
}
