//===- tile-run.cpp - Run a kernel on a device ----------------------------===//
//
// Reads the command line and the arrays, launches one kernel, and writes the
// arrays back only when all of it has succeeded.
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "CudaDevice.h"
#include "EmulatorDevice.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectRegistry.h"
#include "tile/Codegen/Compiler.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Reference/Interpreter.h"
#include "tile/Target/TargetInfo.h"
#include "tile/Tools/EmulatorOptions.h"
#include "tile/Tools/KernelFile.h"
#include "tile/Tools/Options.h"
#include "llvm/Support/InitLLVM.h"
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
    "\nDEVICES:\n"
    "  reference   Runs the kernel as it is defined, on the CPU; compiles "
    "nothing\n"
    "  emulator    Compiles the kernel for --target and runs the PTX on the "
    "CPU\n"
    "  cuda        Compiles the kernel for the first GPU, or for --target, and "
    "runs it\n"
    "              there by the CUDA driver: libcuda.so.1, or the library that "
    "the\n"
    "              environment's TILE_CUDA_LIBRARY names\n"
    "\nEXAMPLES:\n"
    "  tile-run scale.mlir --device=reference --grid=4,8 out:z.npy:64x128xf32 "
    "in:x.npy val:0.5\n"
    "  tile-run scale.mlir --device=emulator --target=sm_120a --stats "
    "--grid=4,8 \\\n"
    "      out:z.npy:64x128xf32 in:x.npy val:0.5\n"};

namespace {
/// Everything that the command line asks for.
struct Request {
  std::string input;
  std::vector<std::string> arguments;
  TemplateConstants constants;
  CompileOptions compile;
  /// The grid and the number of threads are those of every device.
  EmulatorOptions emulator;
  std::string gridText;
  std::string entry;
  bool remarks = false;
  std::string device; ///< "reference", "emulator" or "cuda".
};
} // namespace

/// Checks what does not suit the device.
static Error checkDevice(const llvm::opt::InputArgList &args) {
  std::optional<StringRef> device = getValue(args, OPT_device);
  if (!device)
    return createStringError("--device is required: 'reference', 'emulator' or "
                             "'cuda'");
  std::string option = findEmulatorOption(args);
  if (*device != "emulator" && !option.empty())
    return createStringError(option +
                             " expects --device=emulator, but got "
                             "--device=" +
                             *device);
  if (*device == "emulator" && !args.hasArg(OPT_target))
    return createStringError("--device=emulator expects --target; known "
                             "targets are " +
                             listTargets());
  return Error::success();
}

static Expected<Request> readRequest(const llvm::opt::InputArgList &args) {
  Request request;
  request.arguments = args.getAllArgValues(OPT_INPUT);
  if (request.arguments.empty())
    return createStringError("expects a kernel file; see --help");
  request.input = request.arguments.front();
  request.arguments.erase(request.arguments.begin());

  if (Error error = checkDevice(args))
    return std::move(error);
  request.device = getValue(args, OPT_device)->str();
  Expected<EmulatorOptions> emulator = getEmulatorOptions(args);
  if (!emulator)
    return emulator.takeError();
  request.emulator = std::move(*emulator);
  request.gridText = args.getLastArgValue(OPT_grid).str();

  // The reference compiles nothing, but a mistake is one on every device.
  Expected<CompileOptions> options = getCompileOptions(args);
  if (!options)
    return options.takeError();
  request.compile = std::move(*options);
  if (request.device == "emulator") {
    if (Error error = validate(request.compile))
      return std::move(error);
  } else if (!request.compile.target.empty()) {
    if (Error error = findTarget(request.compile.target).takeError())
      return std::move(error);
  }
  Expected<TemplateConstants> constants = getTemplateConstants(args);
  if (!constants)
    return constants.takeError();
  request.constants = std::move(*constants);
  request.entry = args.getLastArgValue(OPT_entry).str();
  request.remarks = args.hasArg(OPT_remarks);
  return std::move(request);
}

/// Prints a fault of the kernel as a diagnostic; other errors are returned.
static Error reportFault(Error error) {
  return llvm::handleErrors(
      std::move(error), [](const reference::Fault &fault) -> Error {
        emitError(fault.getLocation()) << fault.getMessage();
        return ReportedError::get();
      });
}

/// Warns of an array that the kernel left in part as it was allocated: most
/// often the grid is too small.
static void warnOfUnwritten(StringRef name, int64_t unwritten, int64_t size,
                            bool isCertain, StringRef grid) {
  if (unwritten == 0)
    return;
  llvm::errs() << tool.name << ": warning: " << name << ": " << unwritten
               << " of " << size << (size == 1 ? " element " : " elements ");
  if (isCertain)
    llvm::errs() << (unwritten == 1 ? "was" : "were") << " not written";
  else
    llvm::errs() << "may not have been written: "
                 << (unwritten == 1 ? "it still has" : "they still have")
                 << " all bits set";
  llvm::errs() << "; the grid is " << grid << '\n';
}

static Error run(const llvm::opt::InputArgList &args) {
  Expected<Request> read = readRequest(args);
  if (!read)
    return read.takeError();
  const Request &request = *read;
  DialectRegistry registry;
  registerTileDialects(registry);
  if (request.device != "reference")
    registerCodegenDialects(registry);
  Expected<std::unique_ptr<KernelFile>> file = KernelFile::parse(
      request.input, request.constants, registry, request.remarks);
  if (!file)
    return file.takeError();
  Expected<func::FuncOp> function = (*file)->findKernel(request.entry);
  if (!function)
    return function.takeError();

  // Also what the others run is a kernel that the reference knows.
  Expected<reference::Kernel> kernel = reference::Kernel::prepare(*function);
  if (!kernel)
    return reportFault(kernel.takeError());
  Expected<RunArguments> arguments =
      RunArguments::get(*function, request.arguments);
  if (!arguments)
    return arguments.takeError();

  SmallVector<int64_t> unwritten;
  emulator::Statistics statistics;
  const emulator::Dim3 &extents = request.emulator.launch.grid;
  if (request.device != "reference")
    if (Error error = kernel->checkArguments(arguments->getArguments()))
      return error;
  if (request.device == "emulator") {
    eraseKernelsExcept((*file)->getModule(), *function);
    Expected<emulator::LaunchResult> result =
        runOnEmulator(*function, request.input, *arguments, request.compile,
                      request.emulator);
    if (!result)
      return result.takeError();
    statistics = std::move(result->statistics);
  } else if (request.device == "cuda") {
    CudaRequest cuda = {request.input,
                        request.constants,
                        request.compile,
                        {extents.x, extents.y, extents.z},
                        request.remarks};
    if (Error error = runOnCuda(*function, cuda, *arguments))
      return error;
  } else {
    reference::Grid grid;
    grid.extents = {extents.x, extents.y, extents.z};
    reference::LaunchOptions options;
    options.threads = request.emulator.launch.hostThreads;
    options.unwritten = &unwritten;
    if (Error error = kernel->launch(grid, arguments->getArguments(), options))
      return reportFault(std::move(error));
  }

  if (Error error = writeArrays(arguments->getArrays()))
    return error;
  // Only the reference knows which elements a kernel has written.
  const bool isCertain = request.device == "reference";
  for (auto [i, array] : llvm::enumerate(arguments->getArrays()))
    if (array && array->isNew())
      warnOfUnwritten(arguments->getNames()[i],
                      isCertain ? unwritten[i] : array->countUntouched(),
                      array->getNumElements(), isCertain, request.gridText);
  printStatistics(request.emulator, statistics);
  return Error::success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  return runTool(tool, llvm::ArrayRef<const char *>(argv, argc), run);
}
