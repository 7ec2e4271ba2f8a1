//===- Emulator.cpp - Loads modules and launches kernels ------------------===//

#include "tile/Emulator/Emulator.h"
#include "LaunchRunner.h"
#include "Machine.h"
#include "ProcessState.h"
#include "ProgramBuilder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <map>
#include <mutex>

using namespace tile::emulator;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

char Fault::ID = 0;

StringRef tile::emulator::getCheckName(Check check) {
  switch (check) {
  case Check::OutOfBounds:
    return "out-of-bounds";
  case Check::Misaligned:
    return "misaligned";
  case Check::ReadOnlyStore:
    return "read-only-store";
  case Check::Uninitialized:
    return "uninitialized";
  case Check::SharedRace:
    return "shared-race";
  case Check::AsyncRace:
    return "async-race";
  case Check::ProxyFence:
    return "proxy-fence";
  case Check::WriteWrite:
    return "write-write";
  case Check::Divergence:
    return "divergence";
  case Check::IllegalOperand:
    return "illegal-operand";
  case Check::Deadlock:
    return "deadlock";
  case Check::StepLimit:
    return "step-limit";
  case Check::Trap:
    return "trap";
  case Check::Synchronization:
    return "synchronization";
  }
  return "";
}

static std::string format(const Dim3 &position) {
  return (Twine(position.x) + "," + Twine(position.y) + "," + Twine(position.z))
      .str();
}

void Fault::log(llvm::raw_ostream &os) const {
  os << file << ':' << location.line << ':' << location.column
     << ": error: " << message << " [" << getCheckName(check) << ']';
  if (!instruction.empty())
    os << "\n  instruction: " << instruction;
  if (!source.empty())
    os << "\n  source: " << source;
  if (block)
    os << "\n  block: " << format(*block);
  if (thread)
    os << "\n  thread: " << format(*thread);
  if (address)
    os << "\n  address: 0x" << llvm::utohexstr(*address, /*LowerCase=*/true);
  if (!buffer.empty())
    os << "\n  buffer: " << buffer;
  for (const std::string &note : notes)
    os << "\n  note: " << note;
}

std::error_code Fault::convertToErrorCode() const {
  return llvm::inconvertibleErrorCode();
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

struct Module::Implementation {
  std::unique_ptr<SyntaxTree> syntax;
  ModuleLayout layout;
  /// The module's variables: variable i is in region kFirstModuleRegion + i.
  std::vector<Allocation> variables;
  std::vector<std::vector<uint8_t>> storage;
  /// The program of a function, made for its first launch. Those that come
  /// later do not need the lock: in a forked process nobody may be there to
  /// leave it.
  struct Slot {
    std::atomic<const Program *> program{nullptr};
    std::unique_ptr<Program> owned;
  };
  std::mutex mutex;
  std::map<const Function *, Slot> programs; ///< One for each function.

  Error layOut();
  Expected<const Program *> getProgram(const Function &entry);
};

/// Variables of the device's memory: `.global` and `.const`, wherever declared.
static std::vector<const Variable *> getVariables(const SyntaxTree &syntax) {
  std::vector<const Variable *> result;
  auto collect = [&](const std::deque<Variable> &variables) {
    for (const Variable &variable : variables)
      if (variable.space == StateSpace::Global ||
          variable.space == StateSpace::Constant)
        result.push_back(&variable);
  };
  collect(syntax.variables);
  for (const Function &function : syntax.functions)
    collect(function.variables);
  return result;
}

Error Module::Implementation::layOut() {
  uint64_t next = kFunctionWindow;
  for (const Function &function : syntax->functions) {
    layout.functions[&function] = next += 16;
    programs.try_emplace(&function);
  }
  std::vector<const Variable *> declared = getVariables(*syntax);
  constexpr uint64_t kLargestModule = uint64_t(1) << 31;
  uint64_t total = 0;
  for (const Variable *variable : declared) {
    if (variable->isExternal)
      continue;
    total += variable->getSize();
    if (variables.size() + kFirstModuleRegion >= Memory::kFirstRegion ||
        total > kLargestModule)
      return syntax->makeError(variable->location,
                               "the module's variables take more than " +
                                   Twine(kLargestModule) + " bytes");
    Allocation allocation;
    allocation.name = variable->name.str();
    allocation.size = variable->getSize();
    allocation.address = (kFirstModuleRegion + variables.size())
                             << Memory::kRegionBits |
                         Memory::kRegionBase;
    allocation.readOnly = variable->space == StateSpace::Constant;
    allocation.live = true;
    storage.emplace_back(allocation.size);
    allocation.bytes = storage.back().data();
    layout.variables[variable] = allocation.address;
    variables.push_back(std::move(allocation));
  }
  size_t position = 0;
  for (const Variable *variable : declared)
    if (!variable->isExternal) {
      std::vector<uint8_t> &bytes = storage[position++];
      const unsigned step = std::max(1u, getTypeBits(variable->type) / 8);
      size_t at = 0;
      for (const InitialValue &value : variable->initial) {
        uint64_t bits = value.bits;
        if (value.variable) {
          auto it = layout.variables.find(value.variable);
          if (it == layout.variables.end())
            return syntax->makeError(variable->location,
                                     "the initial value of '" + variable->name +
                                         "' expects a variable of global or "
                                         "constant memory that this "
                                         "file defines, but got '" +
                                         value.variable->name + "'");
          bits = it->second + static_cast<uint64_t>(value.offset);
        } else if (value.function) {
          bits = layout.functions.lookup(value.function);
        }
        if (value.mask && *value.mask)
          bits = (bits & *value.mask) >> llvm::countr_zero(*value.mask);
        if (at + step > bytes.size())
          return syntax->makeError(variable->location,
                                   "'" + variable->name +
                                       "' has more initial values than room");
        std::memcpy(bytes.data() + at, &bits, std::min(step, 8u));
        at += step;
      }
    }
  return Error::success();
}

Expected<const Program *>
Module::Implementation::getProgram(const Function &entry) {
  Slot &slot = programs.find(&entry)->second;
  if (const Program *program = slot.program.load(std::memory_order_acquire))
    return program;
  std::lock_guard<std::mutex> lock(mutex);
  if (!slot.owned) {
    Expected<std::unique_ptr<Program>> built =
        buildProgram(*syntax, entry, layout);
    if (!built)
      return built.takeError();
    slot.owned = std::move(*built);
    slot.program.store(slot.owned.get(), std::memory_order_release);
  }
  return slot.owned.get();
}

Module::Module(std::unique_ptr<Implementation> implementation)
    : implementation(std::move(implementation)) {}

Module::~Module() = default;

Expected<std::unique_ptr<Module>> Module::load(StringRef text, StringRef name) {
  prepareProcess();
  Expected<std::unique_ptr<SyntaxTree>> syntax = parsePtx(text, name);
  if (!syntax)
    return syntax.takeError();
  auto implementation = std::make_unique<Implementation>();
  implementation->syntax = std::move(*syntax);
  if (Error error = implementation->layOut())
    return std::move(error);
  return std::unique_ptr<Module>(new Module(std::move(implementation)));
}

const SyntaxTree &Module::getSyntax() const { return *implementation->syntax; }

Error Module::prepare(StringRef entry) {
  Expected<const Function *> function =
      implementation->syntax->findEntry(entry);
  if (!function)
    return function.takeError();
  return implementation->getProgram(**function).takeError();
}

/// The threads of a block: what the launch asks for, else what the text does.
static Expected<Dim3> getBlock(const SyntaxTree &syntax, const Function &entry,
                               const LaunchComment *comment,
                               const LaunchOptions &options) {
  const unsigned *required = entry.requiredBlock;
  Dim3 block;
  if (options.block) {
    block = *options.block;
  } else if (required[0]) {
    block = {required[0], std::max(required[1], 1u), std::max(required[2], 1u)};
  } else if (comment) {
    block = {comment->block[0], comment->block[1], comment->block[2]};
  } else {
    return llvm::createStringError(
        syntax.name + ": entry '" + entry.name +
        "' has no .reqntid, so the size of a block must be given");
  }
  uint64_t threads = uint64_t(block.x) * block.y * block.z;
  if (!block.x || !block.y || !block.z || block.x > 1024 || block.y > 1024 ||
      block.z > 64 || threads > 1024)
    return llvm::createStringError(
        syntax.name +
        ": a block expects 1 to 1024 threads, at most 1024, "
        "1024 and 64 along its dimensions, but got " +
        format(block));
  if (required[0] &&
      (block.x != required[0] || block.y != std::max(required[1], 1u) ||
       block.z != std::max(required[2], 1u)))
    return llvm::createStringError(
        syntax.name + ": entry '" + entry.name + "' expects a block of " +
        format({required[0], std::max(required[1], 1u),
                std::max(required[2], 1u)}) +
        " threads (.reqntid), but got " + format(block));
  const unsigned *most = entry.maxBlock;
  if (most[0] && threads > uint64_t(most[0]) * std::max(most[1], 1u) *
                               std::max(most[2], 1u))
    return llvm::createStringError(
        syntax.name + ": entry '" + entry.name +
        "' expects a block within .maxntid, but got " + format(block));
  return block;
}

Expected<LaunchResult> Module::launch(StringRef entry, Memory &memory,
                                      ArrayRef<ArrayRef<uint8_t>> parameters,
                                      const LaunchOptions &options) {
  const SyntaxTree &syntax = *implementation->syntax;
  Expected<const Function *> function = syntax.findEntry(entry);
  if (!function)
    return function.takeError();
  Expected<const Program *> program = implementation->getProgram(**function);
  if (!program)
    return program.takeError();
  const LaunchComment *comment = nullptr;
  for (const LaunchComment &candidate : syntax.launches)
    if (candidate.entry == (*function)->name)
      comment = &candidate;

  Launch launch;
  launch.program = *program;
  launch.options = &options;
  launch.grid = options.grid;
  constexpr unsigned kMost = 65535, kMostX = 2147483647;
  if (!launch.grid.x || !launch.grid.y || !launch.grid.z ||
      launch.grid.x > kMostX || launch.grid.y > kMost || launch.grid.z > kMost)
    return llvm::createStringError(syntax.name + ": a grid expects 1 to " +
                                   Twine(kMostX) + ", " + Twine(kMost) +
                                   " and " + Twine(kMost) +
                                   " blocks, but got " + format(launch.grid));
  Expected<Dim3> block = getBlock(syntax, **function, comment, options);
  if (!block)
    return block.takeError();
  launch.block = *block;
  launch.numThreads = block->x * block->y * block->z;
  const TraceOptions &trace = options.trace;
  if (trace.enabled &&
      (trace.block.x >= launch.grid.x || trace.block.y >= launch.grid.y ||
       trace.block.z >= launch.grid.z ||
       trace.warp * kLanes >= launch.numThreads))
    return llvm::createStringError(
        syntax.name + ": a trace expects a warp of the launch, but got warp " +
        Twine(trace.warp) + " of block " + format(trace.block));
  const unsigned *cluster = (*function)->requiredCluster;
  if (uint64_t(std::max(cluster[0], 1u)) * std::max(cluster[1], 1u) *
          std::max(cluster[2], 1u) !=
      1)
    return llvm::createStringError(
        syntax.name + ": entry '" + (*function)->name +
        "' expects a cluster of more than one block, which is not supported");

  uint64_t dynamic = options.sharedBytes ? *options.sharedBytes
                     : comment           ? comment->sharedBytes
                                         : 0;
  uint64_t used = (*program)->staticSharedEnd - kSharedBase;
  if (dynamic)
    used = (*program)->dynamicSharedBase - kSharedBase + dynamic;
  if (dynamic > kLargestShared || used > kLargestShared)
    return llvm::createStringError(
        syntax.name + ": a block expects at most " + Twine(kLargestShared) +
        " bytes of shared memory, but entry '" + (*function)->name +
        "' asks for " + Twine(used));
  launch.sharedBytes = static_cast<uint32_t>(used + kSharedBase);

  const std::deque<Variable> &declared = (*function)->parameters;
  if (parameters.size() != declared.size())
    return llvm::createStringError(
        syntax.name + ": entry '" + (*function)->name + "' expects " +
        Twine(declared.size()) +
        (declared.size() == 1 ? " parameter" : " parameters") + ", but got " +
        Twine(parameters.size()));
  launch.parameters.resize((*program)->parameterBytes);
  for (size_t i = 0; i != declared.size(); ++i) {
    if (parameters[i].size() != declared[i].getSize())
      return llvm::createStringError(
          syntax.name + ": parameter " + Twine(i) + " ('" + declared[i].name +
          "') of entry '" + (*function)->name + "' expects " +
          Twine(declared[i].getSize()) + " bytes, but got " +
          Twine(parameters[i].size()));
    llvm::copy(parameters[i],
               launch.parameters.begin() + (*program)->parameterOffsets[i]);
  }
  return runLaunch(launch, memory, implementation->variables);
}
