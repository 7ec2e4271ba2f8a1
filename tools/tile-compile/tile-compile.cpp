//===- tile-compile.cpp - From a kernel file to PTX -----------------------===//
//
// Reads the command line, runs the compiler, and writes what was asked for only
// when all of it has succeeded.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/DialectRegistry.h"
#include "tile/Codegen/Compiler.h"
#include "tile/Codegen/Ptxas.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Target/TargetInfo.h"
#include "tile/Tools/Files.h"
#include "tile/Tools/KernelFile.h"
#include "tile/Tools/Options.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tile;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;

static constexpr ToolInfo tool = {
    "tile-compile", CompileOption,
    "tile-compile KERNEL.mlir --target=NAME [options]",
    "Compiles the kernels of a file, MLIR text or bytecode, to PTX. `-` is the "
    "standard input.",
    "\nEXAMPLES:\n"
    "  tile-compile linear.mlir --target=sm_120a\n"
    "  tile-compile linear.mlir --target=sm_80 -DBM=64 -DBN=64 -DBK=128 "
    "--remarks -o linear.ptx\n"
    "  tile-compile linear.mlir --target=sm_90 --emit=cubin -o linear.cubin\n"
    "\nEach kernel of the PTX has a line that says how to launch it:\n"
    "  // tile.launch entry=NAME block=128,1,1 shared=69632\n"
    "where `shared` is bytes of dynamic shared memory. A cubin's are in "
    "FILE.launch.\n"};

namespace {
/// Everything that the command line asks for.
struct Request {
  std::string input;
  std::string output = "-";
  TemplateConstants constants;
  CompileOptions options;
  EmitKind kind = EmitKind::Ptx;
  bool cubin = false;
  bool printResources = false;
  bool remarks = false;
  std::string ptxasOption;
};
} // namespace

static Expected<Request> readRequest(const llvm::opt::InputArgList &args) {
  Request request;
  std::vector<std::string> inputs = args.getAllArgValues(OPT_INPUT);
  if (inputs.empty())
    return createStringError("expects a kernel file; see --help");
  if (inputs.size() > 1)
    return createStringError("expects one kernel file, but got '" + inputs[0] +
                             "' and '" + inputs[1] + "'");
  request.input = inputs[0];
  if (std::optional<StringRef> output = getValue(args, OPT_o))
    request.output = output->str();

  if (!args.hasArg(OPT_target))
    return createStringError("--target is required; known targets are " +
                             listTargets());
  Expected<CompileOptions> options = getCompileOptions(args);
  if (!options)
    return options.takeError();
  request.options = std::move(*options);
  if (Error error = validate(request.options))
    return std::move(error);
  Expected<TemplateConstants> constants = getTemplateConstants(args);
  if (!constants)
    return constants.takeError();
  request.constants = std::move(*constants);

  StringRef emit = args.getLastArgValue(OPT_emit, "ptx");
  request.cubin = emit == "cubin";
  request.kind = llvm::StringSwitch<EmitKind>(emit)
                     .Case("mlir", EmitKind::Mlir)
                     .Case("nvvm", EmitKind::Nvvm)
                     .Case("llvm", EmitKind::Llvm)
                     .Default(EmitKind::Ptx);
  request.printResources = args.hasArg(OPT_print_resources);
  request.remarks = args.hasArg(OPT_remarks);
  request.ptxasOption = args.getLastArgValue(OPT_ptxas).str();
  if (request.cubin && request.output == "-")
    return createStringError("--emit=cubin needs -o FILE; the launch lines go "
                             "to FILE.launch");
  if (request.printResources && request.kind != EmitKind::Ptx)
    return createStringError("--print-resources expects --emit=ptx or "
                             "--emit=cubin, but got --emit=" +
                             emit);
  if (llvm::sys::fs::equivalent(request.input, request.output))
    return createStringError("-o '" + request.output +
                             "' would replace the kernel file");
  if (!request.options.dumpStages.empty())
    if (std::error_code error =
            llvm::sys::fs::create_directories(request.options.dumpStages))
      return createStringError("--dump-stages: cannot make '" +
                               request.options.dumpStages +
                               "': " + error.message());
  return std::move(request);
}

/// The lines of the PTX that say how to launch its kernels.
static std::string getLaunchLines(StringRef ptx) {
  std::string lines;
  while (!ptx.empty()) {
    auto [line, rest] = ptx.split('\n');
    if (line.starts_with("// tile."))
      lines += (line + "\n").str();
    ptx = rest;
  }
  return lines;
}

static void printResources(const PtxasResult &assembled,
                           const CompileResult &compiled, const Ptxas &ptxas,
                           StringRef target) {
  for (const KernelResources &kernel : assembled.kernels) {
    unsigned dynamic = 0;
    for (const KernelLaunchInfo &info : compiled.kernels)
      if (info.entry == kernel.entry)
        dynamic = info.sharedBytes;
    llvm::errs() << kernel.entry << ": " << kernel.registers << " registers, "
                 << kernel.spillStoreBytes << " bytes of spill stores, "
                 << kernel.spillLoadBytes << " bytes of spill loads, "
                 << kernel.stackBytes << " bytes of stack, "
                 << kernel.sharedBytes << " + " << dynamic
                 << " bytes of static + dynamic shared memory (ptxas "
                 << ptxas.getVersionText() << ", " << target << ")\n";
  }
}

static Error run(const llvm::opt::InputArgList &args) {
  Expected<Request> read = readRequest(args);
  if (!read)
    return read.takeError();
  const Request &request = *read;
  // Ask for the assembler first: without it the rest is in vain.
  std::optional<Ptxas> ptxas;
  if (request.cubin || request.printResources) {
    Expected<std::optional<Ptxas>> found = Ptxas::find(request.ptxasOption);
    if (!found)
      return found.takeError();
    ptxas = std::move(*found);
    if (!ptxas && request.cubin)
      return Ptxas::require(request.ptxasOption).takeError();
    if (!ptxas)
      llvm::errs() << tool.name
                   << ": note: no ptxas found, so no resources to print\n";
  }

  DialectRegistry registry;
  registerTileDialects(registry);
  registerCodegenDialects(registry);
  Expected<std::unique_ptr<KernelFile>> file = KernelFile::parse(
      request.input, request.constants, registry, request.remarks);
  if (!file)
    return file.takeError();
  FailureOr<CompileResult> compiled =
      compile((*file)->getModule(), request.kind, request.options);
  if (failed(compiled))
    return ReportedError::get();

  std::string cubin, launchLines, launchPath = request.output + ".launch";
  SmallVector<OutputFile, 2> outputs;
  if (ptxas) {
    StringRef target = request.options.target;
    Expected<PtxasResult> assembled =
        ptxas->assemble(compiled->text, target, "<ptx>");
    if (!assembled)
      return assembled.takeError();
    if (request.printResources)
      printResources(*assembled, *compiled, *ptxas, target);
    cubin = std::move(assembled->cubin);
  }
  if (request.cubin) {
    launchLines = getLaunchLines(compiled->text);
    outputs.push_back({launchPath, launchLines});
    outputs.push_back({request.output, cubin});
  } else {
    outputs.push_back({request.output, compiled->text});
  }
  return writeOutputFiles(outputs);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  return runTool(tool, llvm::ArrayRef<const char *>(argv, argc), run);
}
