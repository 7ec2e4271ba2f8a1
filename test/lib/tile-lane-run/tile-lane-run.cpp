//===- tile-lane-run.cpp - Run compiled kernels on the lane simulator -----===//
//
// Compiles a kernel to LLVM IR for a target and executes that IR on the CPU,
// lane by lane. Takes the arguments of `tile-run`; with `--check` it makes the
// arguments up, runs the reference device and, on the emulator, the kernel's
// PTX as well, and compares.
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Data.h"
#include "LaneSimulator.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "tile/Codegen/Compiler.h"
#include "tile/Codegen/KernelParameters.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Emulator/Emulator.h"
#include "tile/Reference/Interpreter.h"
#include "tile/Tools/KernelFile.h"
#include "tile/Tools/Options.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace tile;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;

static constexpr ToolInfo tool = {
    "tile-lane-run", RunOption,
    "tile-lane-run [--check] KERNEL.mlir --target=T[,T…] --grid=X[,Y[,Z]] "
    "[options] ARG…",
    "Runs the LLVM IR that the compiler makes of a kernel, lane by lane, on "
    "the "
    "CPU. The arguments are those of tile-run.",
    "\nWITH --check:\n"
    "  The arguments are generated, the reference device and the emulator run\n"
    "  too, and every output must agree with the reference. ARG is one of\n"
    "    in:64x32[xTYPE]  inout:…  out:…   and after it, each optional,\n"
    "    :scale  values of a scale   :stride=N  rows N elements apart\n"
    "    :max=N  integers below N\n"
    "    val:1.5\n"
    "  --seed=N            seed of the data\n"
    "  --emulator-only     leave the lane simulator out\n"
    "  --random            every finite code instead of exact sums\n"
    "  --terms=K           allow (9K/8 + 8) 2^-24 of the sum of magnitudes\n"
    "  --relative=R  --absolute=A\n"
    "                      allow R of the value plus A\n"
    "\nALWAYS:\n"
    "  --schedule=N        resume the threads of a block in another order\n"
    "  --approximate       be off by what the PTX ISA allows where it does\n"
    "  --counts            print how often each intrinsic was executed\n"};

namespace {
/// Everything that the command line asks for.
struct Request {
  bool check = false;
  bool random = false;
  bool counts = false;
  bool emulatorOnly = false;
  uint64_t seed = 1;
  double terms = 0, relative = 0, absolute = 0;
  LaneOptions lane;

  std::string input;
  std::vector<std::string> arguments;
  TemplateConstants constants;
  CompileOptions compile;
  std::vector<std::string> targets;
  std::array<unsigned, 3> grid = {1, 1, 1};
  std::string entry;
  bool remarks = false;
};

/// A kernel, and the file that it is in.
struct Source {
  std::unique_ptr<KernelFile> file;
  func::FuncOp kernel;
};
} // namespace

/// Takes the options of this tool out of `argv`.
static Expected<std::vector<const char *>>
takeOwnOptions(llvm::ArrayRef<const char *> argv, Request &request) {
  std::vector<const char *> rest;
  for (const char *text : argv) {
    StringRef option(text);
    auto takeNumber = [&](StringRef name, double &value) -> Expected<bool> {
      if (!option.consume_front(name))
        return false;
      if (option.getAsDouble(value))
        return createStringError(name + " expects a number, but got '" +
                                 option + "'");
      return true;
    };
    double schedule = -1, seed = -1;
    if (option == "--check")
      request.check = true;
    else if (option == "--random")
      request.random = true;
    else if (option == "--counts")
      request.counts = true;
    else if (option == "--emulator-only")
      request.emulatorOnly = true;
    else if (option == "--approximate")
      request.lane.approximate = true;
    else {
      bool isOwn = false;
      for (auto [name, value] :
           {std::pair<StringRef, double *>{"--seed=", &seed},
            {"--schedule=", &schedule},
            {"--terms=", &request.terms},
            {"--relative=", &request.relative},
            {"--absolute=", &request.absolute}}) {
        Expected<bool> taken = takeNumber(name, *value);
        if (!taken)
          return taken.takeError();
        isOwn |= *taken;
      }
      if (!isOwn)
        rest.push_back(text);
      if (seed >= 0)
        request.seed = uint64_t(seed);
      if (schedule >= 0)
        request.lane.scheduleSeed = uint64_t(schedule);
    }
  }
  return std::move(rest);
}

static Error readRequest(const llvm::opt::InputArgList &args,
                         Request &request) {
  request.arguments = args.getAllArgValues(OPT_INPUT);
  if (request.arguments.empty())
    return createStringError("expects a kernel file; see --help");
  request.input = request.arguments.front();
  request.arguments.erase(request.arguments.begin());

  Expected<std::array<unsigned, 3>> grid = getGrid(args);
  if (!grid)
    return grid.takeError();
  request.grid = *grid;

  Expected<CompileOptions> options = getCompileOptions(args);
  if (!options)
    return options.takeError();
  request.compile = std::move(*options);
  SmallVector<StringRef> targets;
  StringRef(request.compile.target).split(targets, ',', -1, false);
  for (StringRef target : targets)
    request.targets.push_back(target.str());
  if (request.targets.empty())
    return createStringError("--target is required");
  if (!request.check && request.targets.size() > 1)
    return createStringError("several targets are for --check");
  Expected<TemplateConstants> constants = getTemplateConstants(args);
  if (!constants)
    return constants.takeError();
  request.constants = std::move(*constants);
  request.entry = args.getLastArgValue(OPT_entry).str();
  request.remarks = args.hasArg(OPT_remarks);
  return Error::success();
}

static Expected<Source> load(const Request &request) {
  DialectRegistry registry;
  registerTileDialects(registry);
  registerCodegenDialects(registry);
  Expected<std::unique_ptr<KernelFile>> file = KernelFile::parse(
      request.input, request.constants, registry, request.remarks);
  if (!file)
    return file.takeError();
  Expected<func::FuncOp> kernel = (*file)->findKernel(request.entry);
  if (!kernel)
    return kernel.takeError();
  eraseKernelsExcept((*file)->getModule(), *kernel);
  return Source{std::move(*file), *kernel};
}

/// The parameters of the compiled kernel and their values; a pointer is
/// the address of its argument.
static SmallVector<std::pair<KernelParameter, uint64_t>>
flatten(func::FuncOp kernel, ArrayRef<reference::Argument> arguments,
        llvm::function_ref<uint64_t(unsigned)> getAddress) {
  SmallVector<KernelArgument> values;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    if (auto *scalar = std::get_if<reference::Scalar>(&argument))
      values.push_back({scalar->code, {}, {}});
    else if (auto *buffer = std::get_if<reference::Buffer>(&argument))
      values.push_back({getAddress(i), buffer->shape, buffer->strides});
  }
  SmallVector<KernelParameter> parameters = getKernelParameters(kernel);
  SmallVector<uint64_t> bits = getParameterValues(parameters, values);
  SmallVector<std::pair<KernelParameter, uint64_t>> result;
  for (auto [parameter, value] : llvm::zip_equal(parameters, bits))
    result.push_back({parameter, value});
  return result;
}

/// The same for the lane simulator, which takes buffers instead of addresses.
static std::vector<LaneArgument>
getLaneArguments(func::FuncOp kernel, ArrayRef<reference::Argument> arguments) {
  std::vector<LaneArgument> result;
  for (auto [parameter, value] :
       flatten(kernel, arguments, [](unsigned) { return 0; })) {
    if (parameter.kind != KernelParameter::Kind::Pointer) {
      result.push_back(LaneArgument::getScalar(value));
      continue;
    }
    const auto &buffer =
        std::get<reference::Buffer>(arguments[parameter.argument]);
    result.push_back(LaneArgument::getBuffer(
        {buffer.data, size_t(buffer.capacity)},
        "argument " + std::to_string(parameter.argument), !buffer.readOnly));
  }
  return result;
}

/// Compiles the kernel for `target` and runs it on the simulator.
static Error runLanes(const Request &request, StringRef target,
                      ArrayRef<reference::Argument> arguments) {
  Expected<Source> source = load(request);
  if (!source)
    return source.takeError();
  std::vector<LaneArgument> parameters =
      getLaneArguments(source->kernel, arguments);
  std::string entry = source->kernel.getName().str();
  CompileOptions options = request.compile;
  options.target = target.str();
  if (Error error = validate(options))
    return error;
  FailureOr<CompileResult> compiled =
      compile(source->file->getModule(), EmitKind::Llvm, options);
  if (failed(compiled))
    return ReportedError::get();
  auto launch =
      llvm::find_if(compiled->kernels, [&](const KernelLaunchInfo &info) {
        return info.entry == entry;
      });
  if (launch == compiled->kernels.end())
    return createStringError("the compiled module has no kernel '" + entry +
                             "'");
  auto simulator =
      LaneSimulator::parse(compiled->text, request.input, request.lane);
  if (!simulator)
    return simulator.takeError();
  Error error = (*simulator)
                    ->launch(entry, request.grid, {launch->blockThreads, 1, 1},
                             launch->sharedBytes, parameters);
  if (request.counts)
    for (auto &[name, count] : (*simulator)->getCounts())
      llvm::outs() << target << ": " << count << " " << name << "\n";
  return error;
}

/// Compiles the kernel for `target` and runs the PTX on the emulator.
static Error runEmulator(const Request &request, StringRef target,
                         ArrayRef<reference::Argument> arguments) {
  Expected<Source> source = load(request);
  if (!source)
    return source.takeError();
  emulator::Memory memory;
  std::vector<uint64_t> addresses(arguments.size());
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    auto *buffer = std::get_if<reference::Buffer>(&argument);
    if (!buffer)
      continue;
    Expected<uint64_t> address =
        memory.map("argument " + std::to_string(i),
                   {buffer->data, size_t(buffer->capacity)},
                   buffer->readOnly ? emulator::Memory::Access::ReadOnly
                                    : emulator::Memory::Access::ReadWrite,
                   /*alignment=*/16);
    if (!address)
      return address.takeError();
    addresses[i] = *address;
  }
  auto parameters = flatten(source->kernel, arguments,
                            [&](unsigned i) { return addresses[i]; });
  std::string entry = source->kernel.getName().str();
  CompileOptions options = request.compile;
  options.target = target.str();
  FailureOr<CompileResult> compiled =
      compile(source->file->getModule(), EmitKind::Ptx, options);
  if (failed(compiled))
    return ReportedError::get();
  auto module = emulator::Module::load(compiled->text, request.input + " for " +
                                                           options.target);
  if (!module)
    return module.takeError();
  std::vector<llvm::ArrayRef<uint8_t>> bytes;
  for (const auto &[parameter, value] : parameters)
    bytes.push_back(
        {reinterpret_cast<const uint8_t *>(&value), parameter.bytes});
  emulator::LaunchOptions launch;
  launch.grid = {request.grid[0], request.grid[1], request.grid[2]};
  if (request.lane.scheduleSeed) {
    launch.schedule = emulator::Schedule::Random;
    launch.seed = request.lane.scheduleSeed;
  }
  return (*module)->launch(entry, memory, bytes, launch).takeError();
}

static Error run(const Request &request) {
  Expected<Source> source = load(request);
  if (!source)
    return source.takeError();
  Expected<RunArguments> arguments =
      RunArguments::get(source->kernel, request.arguments);
  if (!arguments)
    return arguments.takeError();
  if (Error error =
          runLanes(request, request.targets.front(), arguments->getArguments()))
    return error;
  return writeArrays(arguments->getArrays());
}

static Error check(const Request &request) {
  Expected<Source> source = load(request);
  if (!source)
    return source.takeError();
  if (Error error = checkNumArguments(source->kernel, request.arguments.size()))
    return error;
  std::vector<GeneratedArgument> generated;
  for (auto [i, spec] : llvm::enumerate(request.arguments)) {
    Expected<GeneratedArgument> argument = GeneratedArgument::get(
        spec, source->kernel.getArgumentTypes()[i], i, request.seed,
        request.random ? DataKind::Random : DataKind::Exact);
    if (!argument)
      return argument.takeError();
    generated.push_back(std::move(*argument));
  }

  using Memory = std::vector<std::vector<uint8_t>>;
  auto instantiate = [&](Memory &memory, bool magnitude) {
    memory.resize(generated.size());
    std::vector<reference::Argument> arguments;
    for (auto [i, argument] : llvm::enumerate(generated))
      arguments.push_back(argument.instantiate(memory[i], magnitude));
    return arguments;
  };
  Expected<reference::Kernel> kernel =
      reference::Kernel::prepare(source->kernel);
  if (!kernel)
    return kernel.takeError();
  reference::Grid grid;
  std::copy(request.grid.begin(), request.grid.end(), grid.extents.begin());
  Memory expected, bound(generated.size());
  if (Error error = kernel->launch(grid, instantiate(expected, false)))
    return error;
  // The sum of the terms' magnitudes is what the kernel gives for operands
  // without signs, if it is linear in them.
  if (request.terms > 0)
    if (Error error = kernel->launch(grid, instantiate(bound, true)))
      return error;
  double tolerance = (9 * request.terms / 8 + 8) * std::ldexp(1.0, -24);

  Error failures = Error::success();
  for (const std::string &target : request.targets) {
    bool agrees = true;
    int64_t numElements = 0;
    for (bool isEmulator : {false, true}) {
      if (request.emulatorOnly && !isEmulator)
        continue;
      const std::string device =
          target + (isEmulator ? " on the emulator" : "");
      Memory found;
      std::vector<reference::Argument> arguments = instantiate(found, false);
      if (Error error = (isEmulator ? runEmulator : runLanes)(request, target,
                                                              arguments)) {
        agrees = false;
        failures = llvm::joinErrors(
            std::move(failures),
            createStringError(device + ": " +
                              llvm::toString(std::move(error))));
        continue;
      }
      numElements = 0;
      for (auto [i, argument] : llvm::enumerate(generated)) {
        if (!argument.isArray() || !argument.isOutput())
          continue;
        numElements += argument.getNumElements();
        std::string description;
        uint64_t count =
            argument.compare(expected[i], found[i], bound[i], tolerance,
                             request.relative, request.absolute, description);
        if (count == 0)
          continue;
        agrees = false;
        failures = llvm::joinErrors(
            std::move(failures),
            createStringError(device + ": argument " + Twine(i) + " at " +
                              description + "; " + Twine(count) + " of " +
                              Twine(argument.getNumElements()) + " differ"));
      }
    }
    if (agrees)
      llvm::outs() << target << ": " << numElements << " elements agree\n";
  }
  return failures;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  Request request;
  Expected<std::vector<const char *>> rest =
      takeOwnOptions(llvm::ArrayRef<const char *>(argv, argc), request);
  if (!rest) {
    reportError(tool, rest.takeError());
    return 1;
  }
  return runTool(tool, *rest, [&](const llvm::opt::InputArgList &args) {
    if (Error error = readRequest(args, request))
      return error;
    return request.check ? check(request) : run(request);
  });
}
