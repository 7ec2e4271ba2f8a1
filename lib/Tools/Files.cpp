//===- Files.cpp - Kernel files in, results out ---------------------------===//

#include "tile/Tools/Files.h"
#include "tile/Tools/Nesting.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using namespace tile;

//===----------------------------------------------------------------------===//
// Kernel files
//===----------------------------------------------------------------------===//

bool tile::isBytecode(StringRef contents) {
  return contents.starts_with("ML\xEFR");
}

Expected<std::string> tile::expandKernel(StringRef text, StringRef name,
                                         const TemplateConstants &constants) {
  if (isBytecode(text) && !constants.empty())
    return createStringError(constants.getPrefix() +
                             constants.getNames().front() + ": " + name +
                             " is bytecode and has no placeholders");
  if (isBytecode(text) || (constants.empty() && !text.contains("${")))
    return text.str();
  return expandTemplate(text, name, constants);
}

Expected<std::unique_ptr<MemoryBuffer>>
tile::readKernelFile(StringRef path, const TemplateConstants &constants) {
  if (path != "-" && sys::fs::is_directory(path))
    return createStringError("cannot read '" + path + "': Is a directory");
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFileOrSTDIN(
      path, /*IsText=*/false, /*RequiresNullTerminator=*/true);
  if (std::error_code error = file.getError())
    return createStringError("cannot read '" + path + "': " + error.message());
  StringRef text = (*file)->getBuffer();
  StringRef name = (*file)->getBufferIdentifier();
  Expected<std::string> expanded = expandKernel(text, name, constants);
  if (!expanded)
    return expanded.takeError();
  return MemoryBuffer::getMemBufferCopy(*expanded, name);
}

/// The levels of regions in `operation`.
static unsigned getDepth(mlir::Operation *operation) {
  unsigned depth = 0;
  for (mlir::Region &region : operation->getRegions())
    for (mlir::Operation &inner : region.getOps())
      depth = std::max(depth, 1 + getDepth(&inner));
  return depth;
}

/// Parses `buffer`, says so on `answer` if it can be used, and ends the
/// process.
[[noreturn]] static void parseAndExit(MemoryBufferRef buffer,
                                      const mlir::DialectRegistry &registry,
                                      int answer) {
  // A crash is the answer here, not something to be reported.
  for (int number : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV})
    ::signal(number, SIG_DFL);
  int null = ::open("/dev/null", O_WRONLY);
  ::dup2(null, STDOUT_FILENO);
  ::dup2(null, STDERR_FILENO);
  ::alarm(60); // a damaged size may also mean years of work
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      buffer.getBuffer(), mlir::ParserConfig(&context),
      buffer.getBufferIdentifier());
  // What nests deeper than a text may would end the passes, or this.
  const bool isUsable = !module || getDepth(*module) <= kMaxNesting;
  module = nullptr;
  if (isUsable)
    while (::write(answer, "y", 1) < 0 && errno == EINTR)
      ;
  ::_exit(0);
}

Error tile::checkBytecode(MemoryBufferRef buffer,
                          const mlir::DialectRegistry &registry) {
  if (!isBytecode(buffer.getBuffer()))
    return Error::success();
  auto fail = [&](int code) {
    return createStringError("cannot check '" + buffer.getBufferIdentifier() +
                             "': " + std::strerror(code));
  };
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
    return fail(errno);
  pid_t child = ::fork();
  if (child == 0)
    parseAndExit(buffer, registry, ends[1]);
  const int forkError = errno;
  // This waits even where the program ignores SIGCHLD or waits for every child
  // itself, but the status is lost then: the answer comes through the pipe.
  while (child > 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR)
    ;
  char answer = 'n';
  while (::read(ends[0], &answer, 1) < 0 && errno == EINTR)
    ;
  ::close(ends[0]);
  ::close(ends[1]);
  if (child < 0)
    return fail(forkError);
  if (answer == 'y')
    return Error::success();
  return createStringError("'" + buffer.getBufferIdentifier() +
                           "' is damaged: MLIR's bytecode reader fails on it");
}

Error tile::checkKernel(MemoryBufferRef buffer,
                        const mlir::DialectRegistry &registry) {
  if (Error error = checkBytecode(buffer, registry))
    return error;
  return checkNesting(buffer);
}

Error tile::addKernelFile(SourceMgr &sources, StringRef path,
                          const TemplateConstants &constants,
                          const mlir::DialectRegistry &registry) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer =
      readKernelFile(path, constants);
  if (!buffer)
    return buffer.takeError();
  if (Error error = checkKernel(**buffer, registry))
    return error;
  sources.AddNewSourceBuffer(std::move(*buffer), SMLoc());
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

LogicalResult tile::setUpDiagnostics(mlir::MLIRContext &context, bool remarks) {
  context.printOpOnDiagnostic(false);
  if (!remarks)
    return success();
  // Name all four kinds: `all` alone is combined with them and enables nothing.
  mlir::remark::RemarkCategories categories;
  categories.passed = categories.missed = ".*";
  categories.failed = categories.analysis = ".*";
  // No streamer: remarks go through the context's diagnostics only.
  return mlir::remark::enableOptimizationRemarks(
      context, /*streamer=*/nullptr,
      std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(), categories,
      /*printAsEmitRemarks=*/true);
}

//===----------------------------------------------------------------------===//
// Output files
//===----------------------------------------------------------------------===//

static Error cannotWrite(StringRef path, const Twine &reason) {
  return createStringError("cannot write '" + path + "': " + reason);
}

/// Writes to what has no name to be renamed to: the standard output, a pipe or
/// a device.
static Error writeDirectly(const OutputFile &file) {
  if (file.path == "-") {
    outs() << file.contents;
    outs().flush();
    if (std::error_code error = outs().error()) {
      outs().clear_error(); // else its destructor ends the process
      return createStringError("cannot write to the standard output: " +
                               error.message());
    }
    return Error::success();
  }
  std::error_code error;
  raw_fd_ostream os(file.path, error, sys::fs::CD_OpenExisting,
                    sys::fs::FA_Write, sys::fs::OF_None);
  if (error)
    return cannotWrite(file.path, error.message());
  os << file.contents;
  os.close();
  error = os.error();
  os.clear_error();
  return error ? cannotWrite(file.path, error.message()) : Error::success();
}

namespace {
/// A complete file under a temporary name, and the name that it is to have.
struct Prepared {
  sys::fs::TempFile temp;
  std::string target;
};
} // namespace

static Error discardAll(MutableArrayRef<Prepared> prepared, Error error) {
  for (Prepared &file : prepared)
    error = joinErrors(std::move(error), file.temp.discard());
  return error;
}

/// Writes `file` beside its name.
static Expected<Prepared> prepare(const OutputFile &file) {
  SmallString<128> target;
  // Renaming onto a symbolic link would replace the link.
  if (sys::fs::real_path(file.path, target))
    target = file.path;
  Expected<sys::fs::TempFile> temp =
      sys::fs::TempFile::create(target + ".tmp-%%%%%%%%");
  if (!temp)
    return cannotWrite(file.path, toString(temp.takeError()));
  raw_fd_ostream os(temp->FD, /*shouldClose=*/false);
  os << file.contents;
  os.flush();
  std::error_code error = os.error();
  os.clear_error();
  if (error) {
    consumeError(temp->discard());
    return cannotWrite(file.path, error.message());
  }
  return Prepared{std::move(*temp), std::string(target)};
}

Error tile::writeOutputFiles(ArrayRef<OutputFile> files) {
  std::vector<Prepared> prepared;
  SmallVector<const OutputFile *> direct;
  for (const OutputFile &file : files) {
    sys::fs::file_status status;
    bool exists = file.path != "-" && !sys::fs::status(file.path, status);
    if (exists && sys::fs::is_directory(status))
      return discardAll(prepared, cannotWrite(file.path, "Is a directory"));
    if (file.path == "-" || (exists && !sys::fs::is_regular_file(status))) {
      direct.push_back(&file);
      continue;
    }
    Expected<Prepared> temp = prepare(file);
    if (!temp)
      return discardAll(prepared, temp.takeError());
    prepared.push_back(std::move(*temp));
  }
  for (const OutputFile *file : direct)
    if (Error error = writeDirectly(*file))
      return discardAll(prepared, std::move(error));
  Error result = Error::success();
  for (Prepared &file : prepared) {
    if (result)
      result = joinErrors(std::move(result), file.temp.discard());
    else if (Error error = file.temp.keep(file.target))
      result = cannotWrite(file.target, toString(std::move(error)));
  }
  return result;
}
