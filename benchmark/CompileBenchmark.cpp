//===- CompileBenchmark.cpp - How long a kernel takes to compile ----------===//
//
//   ninja -C build tile-compile-benchmark
//   build/bin/tile-compile-benchmark examples/kernels/nvfp4_linear_aligned.mlir
//     --target=sm_120a --num-warps=4 -DKA=256 -DBM=128 -DBN=128 -DBK=128
//
// Compiles a kernel file to PTX and to a cubin, several times in one process,
// each time from the text and in a new context. The options are those of
// tile-compile, and:
//
//   --repeat=N   Compile N times (default: 12)
//   --json       Print the seconds of each time as
//                {"ptx": […], "cubin": […], "cpu": […]}
//
// The first time is the cold one: it pays for what is loaded and initialized
// once per process. Of the others the median is printed. To a cubin is to PTX
// and ptxas, which is a process of its own; without ptxas it is left out. The
// time of the processor to PTX is printed as well, since other work on the
// machine disturbs it less.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/DialectRegistry.h"
#include "tile/Codegen/Compiler.h"
#include "tile/Codegen/Ptxas.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Tools/KernelFile.h"
#include "tile/Tools/Options.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <ctime>

using namespace tile;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

static constexpr ToolInfo tool = {
    "tile-compile-benchmark", CompileOption,
    "tile-compile-benchmark KERNEL.mlir --target=NAME [--repeat=N] [--json] "
    "[options]",
    "Compiles a kernel file several times in one process, and prints how long "
    "the first time took and the others did.",
    ""};

namespace {
/// What is not an option of tile-compile.
struct Settings {
  unsigned repeat = 12;
  bool json = false;
};

/// Seconds of each compilation.
struct Times {
  std::vector<double> ptx;
  std::vector<double> cubin; ///< Empty without ptxas.
  std::vector<double> cpu;   ///< Of the processor, to PTX.
};
} // namespace

static double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

static double getCpuSeconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

/// Compiles once, from the file's text on, and appends the times.
static Error compileOnce(StringRef input, const TemplateConstants &constants,
                         const CompileOptions &options, const Ptxas *ptxas,
                         Times &times) {
  auto start = std::chrono::steady_clock::now();
  double cpuStart = getCpuSeconds();
  mlir::DialectRegistry registry;
  registerTileDialects(registry);
  registerCodegenDialects(registry);
  Expected<std::unique_ptr<KernelFile>> file =
      KernelFile::parse(input, constants, registry, /*remarks=*/false);
  if (!file)
    return file.takeError();
  llvm::FailureOr<CompileResult> compiled =
      compile((*file)->getModule(), EmitKind::Ptx, options);
  if (failed(compiled))
    return ReportedError::get();
  times.ptx.push_back(secondsSince(start));
  times.cpu.push_back(getCpuSeconds() - cpuStart);
  if (!ptxas)
    return Error::success();
  Expected<PtxasResult> assembled =
      ptxas->assemble(compiled->text, options.target, "<ptx>");
  if (!assembled)
    return assembled.takeError();
  times.cubin.push_back(secondsSince(start));
  return Error::success();
}

static void print(StringRef what, std::vector<double> seconds) {
  if (seconds.empty())
    return;
  double first = seconds.front();
  llvm::outs() << what << ": cold " << llvm::format("%.1f ms", 1e3 * first);
  seconds.erase(seconds.begin());
  if (!seconds.empty()) {
    llvm::sort(seconds);
    llvm::outs() << ", median of " << seconds.size() << " more "
                 << llvm::format("%.1f ms", 1e3 * seconds[seconds.size() / 2]);
  }
  llvm::outs() << '\n';
}

static Error run(const llvm::opt::InputArgList &args,
                 const Settings &settings) {
  std::vector<std::string> inputs = args.getAllArgValues(OPT_INPUT);
  if (inputs.size() != 1)
    return createStringError("expects one kernel file; see --help");
  Expected<CompileOptions> options = getCompileOptions(args);
  if (!options)
    return options.takeError();
  if (Error error = validate(*options))
    return error;
  Expected<TemplateConstants> constants = getTemplateConstants(args);
  if (!constants)
    return constants.takeError();
  Expected<std::optional<Ptxas>> ptxas =
      Ptxas::find(args.getLastArgValue(OPT_ptxas));
  if (!ptxas)
    return ptxas.takeError();

  Times times;
  for (unsigned i = 0; i < settings.repeat; ++i)
    if (Error error = compileOnce(inputs[0], *constants, *options,
                                  *ptxas ? &**ptxas : nullptr, times))
      return error;
  if (settings.json) {
    llvm::outs() << llvm::json::Value(llvm::json::Object{
                        {"ptx", llvm::json::Array(times.ptx)},
                        {"cubin", llvm::json::Array(times.cubin)},
                        {"cpu", llvm::json::Array(times.cpu)}})
                 << '\n';
    return Error::success();
  }
  print("to PTX", times.ptx);
  print("to a cubin", times.cubin);
  print("to PTX, processor", times.cpu);
  return Error::success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Settings settings;
  std::vector<const char *> arguments;
  for (StringRef argument : llvm::ArrayRef<char *>(argv, argc)) {
    StringRef value = argument;
    if (argument == "--json")
      settings.json = true;
    else if (!value.consume_front("--repeat="))
      arguments.push_back(argument.data());
    else if (value.getAsInteger(10, settings.repeat) || !settings.repeat) {
      reportError(tool, createStringError(
                            "expects --repeat to be a positive integer, but "
                            "got '" +
                            value + "'"));
      return 1;
    }
  }
  return runTool(tool, arguments, [&](const llvm::opt::InputArgList &args) {
    return run(args, settings);
  });
}
