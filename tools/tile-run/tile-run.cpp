//===- tile-run.cpp - Run a kernel on a device ----------------------------===//
//
// Reads the command line and the arrays, launches one kernel, and writes the
// arrays back only when all of it has succeeded.
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Reference/Interpreter.h"
#include "tile/Target/TargetInfo.h"
#include "tile/Tools/Files.h"
#include "tile/Tools/Options.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tile;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;

static constexpr ToolInfo tool = {
    "tile-run", RunOption,
    "tile-run KERNEL.mlir --device=DEVICE --grid=X[,Y[,Z]] [options] ARG…",
    "Runs a kernel, MLIR text or bytecode, over arrays in .npy files. There is "
    "one ARG per argument of the kernel, counted from 0 in messages.",
    "\nARGUMENTS:\n"
    "  in:FILE                An array that the kernel only reads\n"
    "  inout:FILE             An array that is written back after the run\n"
    "  in:FILE:65x24          The leading part of a larger array, with the "
    "array's\n"
    "                         strides; inout: likewise\n"
    "  out:FILE:128x256xf32   A new array, written after the run. Until the "
    "kernel\n"
    "                         writes an element it has all bits set, a NaN\n"
    "  val:VALUE              A scalar: 1.0, -3, 0x7F, inf, nan, true\n"
    "\nELEMENT TYPES:\n"
    "  f64 f32 f16 i64 i32 i16 i8 are NumPy's own, and an integer array may be "
    "signed\n"
    "  or unsigned (u64 … u8). A bf16 array is uint16; FP8, E8M0 and FP4-pair "
    "arrays\n"
    "  are uint8. Void types of as many bytes, as ml_dtypes saves them, are "
    "read "
    "too.\n"
    "  An out: array may also be given the kernel's own type, such as f8E4M3FN "
    "or\n"
    "  f4E2M1FNx2.\n"
    "\nEXAMPLES:\n"
    "  tile-run scale.mlir --device=reference --grid=4,8 out:z.npy:64x128xf32 "
    "in:x.npy val:0.5\n"};

namespace {
/// Everything that the command line asks for.
struct Request {
  std::string input;
  std::vector<std::string> arguments;
  TemplateConstants constants;
  reference::Grid grid;
  std::string gridText;
  std::string entry;
  bool remarks = false;
};
} // namespace

static Expected<reference::Grid> parseGrid(StringRef text) {
  reference::Grid grid;
  SmallVector<StringRef, 3> parts;
  text.split(parts, ',');
  static constexpr int64_t limits[] = {2147483647, 65535, 65535};
  if (parts.size() > 3)
    return createStringError("--grid expects at most 3 dimensions, but got '" +
                             text + "'");
  for (auto [dim, part] : llvm::enumerate(parts)) {
    int64_t &extent = grid.extents[dim];
    if (part.getAsInteger(10, extent) || extent < 1 || extent > limits[dim])
      return createStringError("--grid expects dimension " + Twine(dim) +
                               " to be an integer from 1 to " +
                               Twine(limits[dim]) + ", but got '" + part + "'");
  }
  return grid;
}

static Expected<Request> readRequest(const llvm::opt::InputArgList &args) {
  Request request;
  request.arguments = args.getAllArgValues(OPT_INPUT);
  if (request.arguments.empty())
    return createStringError("expects a kernel file; see --help");
  request.input = request.arguments.front();
  request.arguments.erase(request.arguments.begin());

  std::optional<StringRef> device = getValue(args, OPT_device);
  if (!device)
    return createStringError("--device is required: 'reference', 'emulator' or "
                             "'cuda'");
  if (*device != "reference")
    return createStringError("--device=" + *device +
                             ": this build has no such device; it has "
                             "'reference'");
  if (args.hasArg(OPT_stats, OPT_stats_EQ))
    return createStringError("--stats expects --device=emulator, but got "
                             "--device=" +
                             *device);
  std::optional<StringRef> grid = getValue(args, OPT_grid);
  if (!grid)
    return createStringError("--grid is required, such as --grid=4,8");
  Expected<reference::Grid> parsedGrid = parseGrid(*grid);
  if (!parsedGrid)
    return parsedGrid.takeError();
  request.grid = *parsedGrid;
  request.gridText = grid->str();

  // The reference compiles nothing, but a mistake is one on every device.
  Expected<CompileOptions> options = getCompileOptions(args);
  if (!options)
    return options.takeError();
  if (!options->target.empty())
    if (Error error = findTarget(options->target).takeError())
      return std::move(error);
  Expected<TemplateConstants> constants = getTemplateConstants(args);
  if (!constants)
    return constants.takeError();
  request.constants = std::move(*constants);
  request.entry = args.getLastArgValue(OPT_entry).str();
  request.remarks = args.hasArg(OPT_remarks);
  return std::move(request);
}

/// Finds the kernel to run: the one named `entry`, or the only one.
static Expected<func::FuncOp> findKernel(ModuleOp module, StringRef file,
                                         StringRef entry) {
  SmallVector<func::FuncOp> kernels;
  std::string names;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttr("tile.kernel"))
      continue;
    if (function.getName() == entry)
      return function;
    names += (kernels.empty() ? "'" : ", '") + function.getName().str() + "'";
    kernels.push_back(function);
  }
  if (kernels.empty())
    return createStringError(file + ": expects a kernel, a func.func with "
                                    "'tile.kernel', but got none");
  if (!entry.empty())
    return createStringError("--entry=" + entry + ": " + file +
                             " has no such kernel, but " + names);
  if (kernels.size() > 1)
    return createStringError(file +
                             " has several kernels; choose one with "
                             "--entry: " +
                             names);
  return kernels.front();
}

/// Gives the arguments the names that they have in the source, so that errors
/// can use them: MLIR itself forgets names.
static void nameArguments(func::FuncOp kernel, llvm::SourceMgr &sources) {
  const llvm::MemoryBuffer &buffer =
      *sources.getMemoryBuffer(sources.getMainFileID());
  for (BlockArgument argument : kernel.getArguments()) {
    auto location = dyn_cast<FileLineColLoc>(argument.getLoc());
    if (!location || location.getFilename() != buffer.getBufferIdentifier())
      continue;
    llvm::SMLoc at = sources.FindLocForLineAndColumn(
        sources.getMainFileID(), location.getLine(), location.getColumn());
    if (!at.isValid())
      continue;
    StringRef text(at.getPointer(), buffer.getBufferEnd() - at.getPointer());
    if (!text.consume_front("%"))
      continue; // Bytecode, or a text that was generated from another one.
    StringRef name = text.take_while([](char c) {
      return llvm::isAlnum(c) || StringRef("_$.-").contains(c);
    });
    argument.setLoc(
        NameLoc::get(StringAttr::get(kernel.getContext(), name), location));
  }
}

/// What two paths share if they are one file, however they are spelled.
static std::string identifyFile(StringRef path) {
  llvm::sys::fs::UniqueID id;
  if (!llvm::sys::fs::getUniqueID(path, id))
    return (Twine(id.getDevice()) + ":" + Twine(id.getFile())).str();
  // Not there yet: its directory, and its name.
  llvm::SmallString<128> folder(llvm::sys::path::parent_path(path));
  if (folder.empty())
    folder = ".";
  if (llvm::sys::fs::getUniqueID(folder, id))
    return path.str(); // No such directory: it cannot be written.
  return (Twine(id.getDevice()) + ":" + Twine(id.getFile()) + "/" +
          llvm::sys::path::filename(path))
      .str();
}

/// Warns of an array that the kernel left in part as it was allocated: most
/// often the grid is too small.
static void warnOfUnwritten(const Twine &name, int64_t unwritten, int64_t size,
                            StringRef grid) {
  llvm::errs() << tool.name << ": warning: " << name << ": " << unwritten
               << " of " << size << (size == 1 ? " element " : " elements ")
               << (unwritten == 1 ? "was" : "were")
               << " not written; the grid is " << grid << '\n';
}

/// Runs the kernel; a failure without an error has been printed already.
static Expected<LogicalResult> run(const Request &request) {
  llvm::SourceMgr sources;
  DialectRegistry registry;
  registerTileDialects(registry);
  if (Error error =
          addKernelFile(sources, request.input, request.constants, registry))
    return std::move(error);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  SourceMgrDiagnosticHandler handler(sources, &context);
  if (failed(setUpDiagnostics(context, request.remarks)))
    return failure();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, &context);
  if (!module)
    return failure();
  Expected<func::FuncOp> function =
      findKernel(*module, request.input, request.entry);
  if (!function)
    return function.takeError();
  nameArguments(*function, sources);

  auto reportFault = [](Error error) -> Expected<LogicalResult> {
    Error rest =
        llvm::handleErrors(std::move(error), [](const reference::Fault &fault) {
          emitError(fault.getLocation()) << fault.getMessage();
        });
    if (rest)
      return std::move(rest);
    return failure();
  };
  Expected<reference::Kernel> kernel = reference::Kernel::prepare(*function);
  if (!kernel)
    return reportFault(kernel.takeError());

  if (request.arguments.size() != function->getNumArguments())
    return createStringError(
        "kernel '" + function->getName() + "' expects " +
        Twine(function->getNumArguments()) +
        (function->getNumArguments() == 1 ? " argument" : " arguments") +
        ", but got " + Twine(request.arguments.size()));
  std::vector<RunArgument> holders;
  std::vector<reference::Argument> arguments;
  llvm::StringMap<unsigned> writers;
  for (auto [i, text] : llvm::enumerate(request.arguments)) {
    const unsigned index = static_cast<unsigned>(i);
    std::string name = reference::getArgumentName(*function, index);
    Expected<RunArgument> holder =
        RunArgument::get(text, function->getArgumentTypes()[i], name);
    if (!holder)
      return holder.takeError();
    if (!holder->getOutputPath().empty()) {
      auto [first, isNew] =
          writers.try_emplace(identifyFile(holder->getOutputPath()), index);
      if (!isNew)
        return createStringError(
            name + ": expects a file of its own, but '" +
            holder->getOutputPath() + "' is also that of " +
            reference::getArgumentName(*function, first->second));
    }
    arguments.push_back(holder->getArgument());
    holders.push_back(std::move(*holder));
  }

  SmallVector<int64_t> unwritten;
  if (Error error =
          kernel->launch(request.grid, arguments, /*threads=*/0, &unwritten))
    return reportFault(std::move(error));

  std::vector<std::string> contents;
  for (const RunArgument &holder : holders) {
    if (holder.getOutputPath().empty())
      continue;
    Expected<std::string> file = holder.formatOutput();
    if (!file)
      return file.takeError();
    contents.push_back(std::move(*file));
  }
  SmallVector<OutputFile> outputs;
  for (const RunArgument &holder : holders)
    if (!holder.getOutputPath().empty())
      outputs.push_back({holder.getOutputPath(), contents[outputs.size()]});
  if (Error error = writeOutputFiles(outputs))
    return std::move(error);
  for (auto [i, holder] : llvm::enumerate(holders)) {
    if (!holder.isNew() || unwritten[i] == 0)
      continue;
    int64_t size = 1;
    for (int64_t extent : std::get<reference::Buffer>(arguments[i]).shape)
      size *= extent;
    warnOfUnwritten(
        reference::getArgumentName(*function, static_cast<unsigned>(i)),
        unwritten[i], size, request.gridText);
  }
  return success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Expected<llvm::opt::InputArgList> args =
      parseToolOptions(tool, llvm::ArrayRef(argv, argc));
  if (!args) {
    reportError(tool, args.takeError());
    return 1;
  }
  if (printHelpOrVersion(tool, *args))
    return 0;
  Expected<Request> request = readRequest(*args);
  if (!request) {
    reportError(tool, request.takeError());
    return 1;
  }
  Expected<LogicalResult> result = run(*request);
  if (!result) {
    reportError(tool, result.takeError());
    return 1;
  }
  return failed(*result);
}
