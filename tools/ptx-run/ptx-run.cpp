//===- ptx-run.cpp - Run PTX without a GPU --------------------------------===//
//
// Reads a PTX file and arrays, launches one kernel on the emulator, and writes
// the arrays back only when all of it has succeeded.
//
//===----------------------------------------------------------------------===//

#include "Parameters.h"

#include "tile/Emulator/Emulator.h"
#include "tile/Tools/EmulatorOptions.h"
#include "tile/Tools/Options.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile;
using llvm::ArrayRef;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

static constexpr ToolInfo tool = {
    "ptx-run", PtxRunOption,
    "ptx-run KERNEL.ptx --grid=X[,Y[,Z]] [options] ARG…",
    "Runs a kernel of a PTX file on the CPU, over arrays in .npy files, and "
    "checks its memory accesses, barriers and warp-wide instructions. There is "
    "one ARG per .param of the kernel, counted from 0 in messages. `-` is the "
    "standard input.",
    "\nARGUMENTS:\n"
    "  in:FILE                The address of an array that the kernel only "
    "reads\n"
    "  inout:FILE             The address of an array that is written back "
    "after the run\n"
    "  in:FILE:65x24          The leading part of a larger array: the kernel "
    "may touch\n"
    "                         nothing behind its last element; inout: "
    "likewise\n"
    "  out:FILE:128x256xf32   The address of a new array, written after the "
    "run. Until\n"
    "                         the kernel writes an element it has all bits "
    "set, a NaN\n"
    "  val:TYPE:VALUE         A scalar of i8 … i64, u8 … u64, f16, bf16, f32 "
    "or f64: in\n"
    "                         decimal, or its bits after 0x\n"
    "  null                   The null pointer\n"
    "  bytes:FILE             The bytes of an aggregate\n"
    "  tmap:FILE:box=8x64,…   A tensor map of an array, or of its leading "
    "part, "
    "as in:,\n"
    "                         inout: or out: before FILE say. Extents stand "
    "outermost\n"
    "                         first and count elements of the map's type:\n"
    "                           box=8x64     what one copy moves\n"
    "                           swizzle=S    none, 32, 64, 128, 128-atom32,\n"
    "                                        128-atom32-flip8 or 128-atom64\n"
    "                           type=T       u8 … f64, bf16, and of bytes "
    "b4x16, b4x16_p64\n"
    "                                        or b6x16_p32; else the array's\n"
    "                           fill=F       zero or nan outside the array\n"
    "                           step=2x1     every how manieth element of the "
    "box\n"
    "\nEXAMPLES:\n"
    "  ptx-run scale.ptx --list\n"
    "  ptx-run scale.ptx --grid=4 out:z.npy:1024xf32 in:x.npy val:i32:1024 "
    "val:f32:0.5\n"
    "  ptx-run tma.ptx --grid=4 tmap:x.npy:box=16x64,swizzle=128 "
    "tmap:out:z.npy:256x64xf16:box=16x64\n"
    "  ptx-run scale.ptx --grid=4 --block=128 --stats=json …\n"
    "  ptx-run scale.ptx --grid=4 --trace=0:0:31 --watch=0+124:4 …\n"};

//===----------------------------------------------------------------------===//
// --instructions and --list
//===----------------------------------------------------------------------===//

/// Markdown ends a cell at a bar, also at one in code.
static std::string escapeBars(StringRef text) {
  std::string result;
  for (char c : text)
    result += c == '|' ? std::string("\\|") : std::string(1, c);
  return result;
}

/// Prints a table of instructions for each group.
static void printInstructions() {
  StringRef group;
  for (const emulator::InstructionInfo &info :
       emulator::getInstructionTable()) {
    if (info.group != group)
      llvm::outs() << (group.empty() ? "" : "\n") << "### " << info.group
                   << "\n\n| instruction | forms |\n|---|---|\n";
    group = info.group;
    llvm::outs() << "| `" << info.name << "` | " << escapeBars(info.forms)
                 << " |\n";
  }
}

/// `.param .align 16 .b8 k_param_2[32]`, as PTX would say it.
static std::string printParameter(const emulator::Variable &parameter) {
  std::string text = "." + emulator::getTypeName(parameter.type).str();
  if (parameter.isPointer)
    text += " .ptr";
  text += " " + parameter.name.str();
  if (parameter.elements)
    text += "[" + std::to_string(*parameter.elements) + "]";
  return text;
}

/// Prints the kernels of a module with what a launch must give.
static void printEntries(const emulator::SyntaxTree &tree) {
  for (const emulator::Function &function : tree.functions) {
    if (!function.isEntry || !function.isDefined)
      continue;
    const auto launch =
        llvm::find_if(tree.launches, [&](const emulator::LaunchComment &line) {
          return line.entry == function.name;
        });
    const bool hasLine = launch != tree.launches.end();
    const unsigned *block = function.requiredBlock[0] ? function.requiredBlock
                            : hasLine                 ? launch->block
                                                      : nullptr;
    llvm::outs() << function.name << ": ";
    if (block)
      llvm::outs() << "block " << block[0] << ',' << block[1] << ','
                   << block[2];
    else
      llvm::outs() << "any block";
    if (hasLine)
      llvm::outs() << ", " << printBytes(launch->sharedBytes)
                   << " of dynamic shared memory";
    llvm::outs() << '\n';
    for (auto [index, parameter] : llvm::enumerate(function.parameters))
      llvm::outs() << "  " << index << ": " << printParameter(parameter) << ", "
                   << printBytes(parameter.getSize()) << '\n';
  }
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

static Expected<std::unique_ptr<emulator::Module>> loadFile(StringRef path) {
  llvm::sys::fs::file_status status;
  if (path != "-" && !llvm::sys::fs::status(path, status)) {
    if (llvm::sys::fs::is_directory(status))
      return createStringError("cannot read '" + path + "': Is a directory");
    // A device may have no end.
    if (status.type() == llvm::sys::fs::file_type::character_file ||
        status.type() == llvm::sys::fs::file_type::block_file)
      return createStringError("'" + path +
                               "': expects a regular file or a pipe");
  }
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file =
      llvm::MemoryBuffer::getFileOrSTDIN(path);
  if (std::error_code error = file.getError())
    return createStringError("cannot read '" + path + "': " + error.message());
  return emulator::Module::load((*file)->getBuffer(),
                                (*file)->getBufferIdentifier());
}

/// Reads `--block` and `--shared`.
static Error readBlock(const llvm::opt::InputArgList &args,
                       emulator::LaunchOptions &launch) {
  Expected<std::optional<std::array<unsigned, 3>>> block =
      getExtents(args, OPT_block, {1024, 1024, 64});
  if (!block)
    return block.takeError();
  if (*block) {
    auto [x, y, z] = **block;
    if (x * y * z > 1024)
      return createStringError("--block expects at most 1024 threads, but got "
                               "'" +
                               args.getLastArgValue(OPT_block) +
                               "', which has " + Twine(x * y * z));
    launch.block = emulator::Dim3{x, y, z};
  }
  // No GPU gives a block more than 227 KiB.
  Expected<std::optional<int64_t>> shared =
      getInteger(args, OPT_shared, 0, 227 * 1024);
  if (!shared)
    return shared.takeError();
  if (*shared)
    launch.sharedBytes = static_cast<uint64_t>(**shared);
  return Error::success();
}

static Error launch(emulator::Module &module, StringRef entryName,
                    ArrayRef<std::string> texts, EmulatorOptions options) {
  Expected<const emulator::Function *> entry =
      module.getSyntax().findEntry(entryName);
  if (!entry)
    return entry.takeError();
  if (Error error = module.prepare((*entry)->name))
    return error;
  Expected<PtxParameters> parameters = PtxParameters::get(**entry, texts);
  if (!parameters)
    return parameters.takeError();

  emulator::Memory memory;
  Expected<std::vector<uint64_t>> addresses =
      mapArrays(memory, parameters->getArrays(), parameters->getNames(),
                /*alignment=*/256);
  if (!addresses)
    return addresses.takeError();
  if (Error error = parameters->setAddresses(*addresses))
    return error;
  if (Error error = resolveWatch(options, parameters->getArrays(),
                                 parameters->getNames(), *addresses))
    return error;
  Expected<emulator::LaunchResult> result = module.launch(
      (*entry)->name, memory, parameters->getBytes(), options.launch);
  if (!result)
    return result.takeError();
  if (Error error = writeArrays(parameters->getArrays()))
    return error;
  printStatistics(options, result->statistics);
  return Error::success();
}

static Error run(const llvm::opt::InputArgList &args) {
  if (args.hasArg(OPT_instructions)) {
    printInstructions();
    return Error::success();
  }
  std::vector<std::string> texts = args.getAllArgValues(OPT_INPUT);
  if (texts.empty())
    return createStringError("expects a PTX file; see --help");
  const std::string path = texts.front();
  texts.erase(texts.begin());

  // The command line first: a large file takes a while.
  const bool isList = args.hasArg(OPT_list_kernels);
  EmulatorOptions options;
  if (!isList) {
    Expected<EmulatorOptions> read = getEmulatorOptions(args);
    if (!read)
      return read.takeError();
    options = std::move(*read);
    if (Error error = readBlock(args, options.launch))
      return error;
  }

  Expected<std::unique_ptr<emulator::Module>> module = loadFile(path);
  if (!module)
    return reportEmulatorError(module.takeError());
  if (isList) {
    printEntries((*module)->getSyntax());
    return Error::success();
  }
  return reportEmulatorError(launch(**module, args.getLastArgValue(OPT_entry),
                                    texts, std::move(options)));
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  return runTool(tool, llvm::ArrayRef<const char *>(argv, argc), run);
}
