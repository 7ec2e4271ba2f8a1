//===- Files.h - Kernel files in, results out -------------------*- C++ -*-===//

#ifndef TILE_TOOLS_FILES_H
#define TILE_TOOLS_FILES_H

#include "tile/Tools/Template.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/LogicalResult.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace llvm {
class SourceMgr;
} // namespace llvm

namespace mlir {
class DialectRegistry;
class MLIRContext;
} // namespace mlir

namespace tile {

/// Reads a kernel file, MLIR text or bytecode, and replaces the placeholders of
/// its text (see Template.h). `-` is the standard input. The buffer carries the
/// name of the file, so that diagnostics name what the user wrote.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readKernelFile(llvm::StringRef path, const TemplateConstants &constants);

/// Whether a kernel is MLIR bytecode, by its first bytes.
bool isBytecode(llvm::StringRef contents);

/// Replaces the placeholders of a kernel's text. Bytecode stays as it is, and
/// has none: constants for it are an error. `name` stands for it in errors.
llvm::Expected<std::string> expandKernel(llvm::StringRef text,
                                         llvm::StringRef name,
                                         const TemplateConstants &constants);

/// Returns an error if MLIR's readers may not survive `buffer`, text or
/// bytecode: `checkBytecode` and `checkNesting`.
llvm::Error checkKernel(llvm::MemoryBufferRef buffer,
                        const mlir::DialectRegistry &registry);

/// Returns an error if `buffer` holds MLIR bytecode that its reader does not
/// survive: LLVM's reader takes some damaged files for sizes and pointers, and
/// none survives regions that nest without end. The trial is made in a process
/// of its own. Text passes; a file that the reader refuses in good order does
/// too, and gets its diagnostic when it is parsed. The process is forked; a
/// copy that has not finished within a minute counts as one that failed.
llvm::Error checkBytecode(llvm::MemoryBufferRef buffer,
                          const mlir::DialectRegistry &registry);

/// Adds a kernel file to `sources`, checked and with its placeholders replaced,
/// ready for `mlir::parseSourceFile` in a context with `registry`.
llvm::Error addKernelFile(llvm::SourceMgr &sources, llvm::StringRef path,
                          const TemplateConstants &constants,
                          const mlir::DialectRegistry &registry);

/// Makes the diagnostics of `context` those of a tool: errors without a dump of
/// their operation, and every remark printed where `remarks` is set. Call
/// before the first pass runs.
llvm::LogicalResult setUpDiagnostics(mlir::MLIRContext &context, bool remarks);

/// A file to be written: its name, `-` for the standard output, and contents.
struct OutputFile {
  llvm::StringRef path;
  llvm::StringRef contents;
};

/// Writes all of `files` or none: each is written beside its name first, and
/// only then do they take their names. A symbolic link is followed; what is not
/// a regular file, such as a pipe or a device, is written to directly.
llvm::Error writeOutputFiles(llvm::ArrayRef<OutputFile> files);

} // namespace tile

#endif // TILE_TOOLS_FILES_H
