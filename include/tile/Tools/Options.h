//===- Options.h - Command lines of the tile tools --------------*- C++ -*-===//
//
// Reads a tool's command line with LLVM's option library rather than with
// `llvm::cl`: the shared libLLVM registers thousands of `cl` options, one of
// them `--stats`, and none of them is ours.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TOOLS_OPTIONS_H
#define TILE_TOOLS_OPTIONS_H

#include "tile/Codegen/Compiler.h"
#include "tile/Tools/Template.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Option/Option.h"
#include "llvm/Support/Error.h"

#include <array>
#include <optional>

namespace tile {

/// Which tools know an option; the names of Options.td.
enum OptionVisibility : unsigned {
  CompileOption = 1 << 1, ///< tile-compile
  RunOption = 1 << 2,     ///< tile-run
  PtxRunOption = 1 << 3,  ///< ptx-run
};

/// One enumerator per option: `OPT_target`, `OPT_D`, `OPT_INPUT` (arguments
/// that are not options), …
enum OptionID : unsigned {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "tile/Tools/Options.inc"
#undef OPTION
};

/// The table of every option of every tool.
const llvm::opt::OptTable &getToolOptions();

/// What distinguishes one tool from another on the command line.
struct ToolInfo {
  llvm::StringLiteral name;     ///< Prefix of messages: "tile-run".
  OptionVisibility visibility;  ///< The options that it takes.
  llvm::StringLiteral usage;    ///< "tile-run [options] KERNEL ARG…"
  llvm::StringLiteral overview; ///< What it is for, and how to read `usage`.
  llvm::StringLiteral epilogue; ///< Examples, printed after the options.
};

/// Parses the options of `tool`; `argv` must outlive the result. Unknown
/// options, options without a value, values outside a fixed list and options
/// given twice with different values are errors. `--help` and `--version` are
/// not acted on here.
llvm::Expected<llvm::opt::InputArgList>
parseToolOptions(const ToolInfo &tool, llvm::ArrayRef<const char *> argv);

/// Prints what `--help` or `--version` asks for to the standard output, and
/// returns whether one of them was given.
bool printHelpOrVersion(const ToolInfo &tool,
                        const llvm::opt::InputArgList &args);

/// An error whose text has been printed already, by MLIR's diagnostics or by a
/// device: a tool fails and says no more.
class ReportedError : public llvm::ErrorInfo<ReportedError> {
public:
  static char ID;

  static llvm::Error get() { return llvm::make_error<ReportedError>(); }

  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;
};

/// Prints `error` to the standard error as `TOOL: error: MESSAGE`, one line per
/// error; a `TemplateError` is printed as `FILE:LINE:COLUMN: error: MESSAGE`,
/// and a `ReportedError` not at all.
void reportError(const ToolInfo &tool, llvm::Error error);

/// What the `main` of a tool does: parses the command line, prints what
/// `--help` or `--version` asks for, or else calls `run` and reports its error.
/// Returns the exit status.
int runTool(
    const ToolInfo &tool, llvm::ArrayRef<const char *> argv,
    llvm::function_ref<llvm::Error(const llvm::opt::InputArgList &)> run);

/// The value of a string option, or nullopt if it was not given.
std::optional<llvm::StringRef> getValue(const llvm::opt::InputArgList &args,
                                        OptionID option);

/// The value of an option that takes an integer from `min` to `max`, or nullopt
/// if it was not given.
llvm::Expected<std::optional<int64_t>>
getInteger(const llvm::opt::InputArgList &args, OptionID option, int64_t min,
           int64_t max);

/// The value of an option that takes `X[,Y[,Z]]`, each from 1 to its
/// limit, or nullopt if it was not given. What is left out is 1.
llvm::Expected<std::optional<std::array<unsigned, 3>>>
getExtents(const llvm::opt::InputArgList &args, OptionID option,
           const std::array<unsigned, 3> &limits);

/// The value of `--grid`, which is required.
llvm::Expected<std::array<unsigned, 3>>
getGrid(const llvm::opt::InputArgList &args);

/// Reads the compile options of the `kernel` group. The target is not looked
/// up, and is empty if it was not given: see `validate`.
llvm::Expected<CompileOptions>
getCompileOptions(const llvm::opt::InputArgList &args);

/// Reads every `-DNAME=VALUE`.
llvm::Expected<TemplateConstants>
getTemplateConstants(const llvm::opt::InputArgList &args);

} // namespace tile

#endif // TILE_TOOLS_OPTIONS_H
