//===- Machine.cpp - Frames, warps and blocks -----------------------------===//

#include "Machine.h"
#include "Trace.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

#include <cstdlib>

using namespace tile::emulator;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Frame
//===----------------------------------------------------------------------===//

ZeroedBytes::ZeroedBytes(size_t size) {
  if (size == 0)
    return;
  // Fresh pages are zero without being touched; for few bytes they are slower.
  constexpr size_t kManyBytes = size_t(1) << 22;
  if (size >= kManyBytes) {
    std::error_code error;
    mapped = llvm::sys::Memory::allocateMappedMemory(
        size, nullptr, llvm::sys::Memory::MF_READ | llvm::sys::Memory::MF_WRITE,
        error);
    bytes = static_cast<uint8_t *>(mapped.base());
  } else {
    bytes = static_cast<uint8_t *>(std::calloc(size, 1));
  }
  if (!bytes)
    llvm::report_bad_alloc_error("out of memory for the state of a warp");
}

ZeroedBytes::~ZeroedBytes() {
  if (mapped.base())
    llvm::sys::Memory::releaseMappedMemory(mapped);
  else
    std::free(bytes);
}

Frame::Frame(const Code &code)
    : code(&code), undefined(code.frameBytes / 64, kAllLanes),
      memory(2 * size_t(code.frameBytes) + 64) {
  uintptr_t address =
      (reinterpret_cast<uintptr_t>(memory.data()) + 63) & ~uintptr_t(63);
  registers = reinterpret_cast<uint8_t *>(address);
  written = registers + code.frameBytes;
}

//===----------------------------------------------------------------------===//
// Warp
//===----------------------------------------------------------------------===//

Warp::Warp(Block &block, unsigned index) : block(block), index(index) {
  unsigned threads = block.getLaunch().numThreads - index * kLanes;
  lanes = threads >= kLanes ? kAllLanes : (uint32_t(1) << threads) - 1;
  live = lanes;
}

Warp::~Warp() = default;

Dim3 Warp::getThread(unsigned lane) const {
  const Dim3 &size = block.getLaunch().block;
  unsigned thread = index * kLanes + lane;
  return {thread % size.x, thread / size.x % size.y, thread / size.x / size.y};
}

void Warp::fault(const Instruction &instruction, unsigned lane, Check check,
                 const Twine &message, std::optional<uint64_t> address,
                 StringRef buffer, std::vector<std::string> notes) {
  if (block.fault)
    return;
  const SyntaxTree &syntax = *block.getProgram().syntax;
  auto fault = std::make_unique<Fault>();
  fault->check = check;
  fault->message = message.str();
  fault->file = syntax.name;
  if (const Statement *statement = instruction.statement) {
    fault->location = statement->location;
    fault->instruction = formatStatement(*statement);
    if (statement->sourceFile >= 0 &&
        static_cast<size_t>(statement->sourceFile) < syntax.files.size())
      fault->source = (syntax.files[statement->sourceFile] + ":" +
                       Twine(statement->sourceLine))
                          .str();
  }
  fault->block = block.position;
  fault->thread = getThread(lane);
  fault->address = address;
  fault->buffer = buffer.str();
  fault->notes = std::move(notes);
  block.fault = std::move(fault);
}

bool Warp::checkDefined(const Instruction &instruction, const Lanes &lanes,
                        Slot slot, StringRef what) {
  uint32_t undefined = lanes.undefinedAt(slot) & lanes.active;
  if (!undefined)
    return true;
  fault(instruction, static_cast<unsigned>(__builtin_ctz(undefined)),
        Check::Uninitialized, "an unwritten value reaches " + what);
  return false;
}

InstructionCounters &Warp::getCounters(const Instruction &instruction) {
  return (*block.counters)[instruction.index];
}

bool Warp::collectsStatistics() const {
  return block.getLaunch().options->collectStatistics;
}

//===----------------------------------------------------------------------===//
// Block
//===----------------------------------------------------------------------===//

static Dim3 getPosition(const Dim3 &grid, uint64_t index) {
  return {static_cast<unsigned>(index % grid.x),
          static_cast<unsigned>(index / grid.x % grid.y),
          static_cast<unsigned>(index / grid.x / grid.y)};
}

/// The value of a special register in one lane.
static uint64_t getSpecial(SpecialRegister special, const Warp &warp,
                           unsigned lane) {
  using S = SpecialRegister;
  const Block &block = warp.getBlock();
  const Launch &launch = block.getLaunch();
  const Program &program = *launch.program;
  uint32_t laneBit = uint32_t(1) << lane;
  switch (special) {
  case S::TidX:
    return warp.getThread(lane).x;
  case S::TidY:
    return warp.getThread(lane).y;
  case S::TidZ:
    return warp.getThread(lane).z;
  case S::NtidX:
    return launch.block.x;
  case S::NtidY:
    return launch.block.y;
  case S::NtidZ:
    return launch.block.z;
  // A cluster of one block: the clusters are the blocks.
  case S::CtaidX:
  case S::ClusterIdX:
    return block.getPosition().x;
  case S::CtaidY:
  case S::ClusterIdY:
    return block.getPosition().y;
  case S::CtaidZ:
  case S::ClusterIdZ:
    return block.getPosition().z;
  case S::NctaidX:
  case S::NclusterIdX:
    return launch.grid.x;
  case S::NctaidY:
  case S::NclusterIdY:
    return launch.grid.y;
  case S::NctaidZ:
  case S::NclusterIdZ:
    return launch.grid.z;
  case S::LaneId:
    return lane;
  case S::WarpId:
    return warp.getIndex();
  case S::NwarpId:
    return (launch.numThreads + kLanes - 1) / kLanes;
  case S::NsmId:
  case S::ClusterNctaidX:
  case S::ClusterNctaidY:
  case S::ClusterNctaidZ:
  case S::ClusterNctarank:
    return 1;
  case S::LanemaskEq:
    return laneBit;
  case S::LanemaskLt:
    return laneBit - 1;
  case S::LanemaskLe:
    return (laneBit - 1) | laneBit;
  case S::LanemaskGt:
    return ~((laneBit - 1) | laneBit);
  case S::LanemaskGe:
    return ~(laneBit - 1);
  case S::DynamicSmemSize:
    return launch.sharedBytes > program.dynamicSharedBase
               ? launch.sharedBytes - program.dynamicSharedBase
               : 0;
  case S::TotalSmemSize:
  case S::AggrSmemSize:
    return launch.sharedBytes - kSharedBase;
  case S::SmId:
  case S::GridId:
  case S::ClusterCtaidX:
  case S::ClusterCtaidY:
  case S::ClusterCtaidZ:
  case S::ClusterCtarank:
  case S::IsExplicitCluster:
  case S::Zero:
    return 0;
  }
  return 0;
}

/// Writes constants, special registers and addresses into a new frame.
void tile::emulator::fillFrame(Frame &frame, const Warp &warp) {
  for (const FrameValue &value : frame.code->frameValues) {
    uint8_t *to = frame.registers + value.slot;
    frame.undefined[value.slot >> 6] = 0;
    if (value.laneBytes == 0) {
      uint32_t mask = value.bits ? kAllLanes : 0;
      std::memcpy(to, &mask, sizeof(mask));
      continue;
    }
    for (unsigned lane = 0; lane != kLanes; ++lane) {
      uint64_t bits = value.bits;
      if (value.kind == FrameValue::Kind::Special)
        bits =
            getSpecial(static_cast<SpecialRegister>(value.special), warp, lane);
      else if (value.kind == FrameValue::Kind::LocalAddress)
        bits += frame.localBase;
      std::memcpy(to + lane * value.laneBytes, &bits,
                  std::min<unsigned>(value.laneBytes, 8));
    }
  }
}

Block::Block(Launch &launch, uint64_t index)
    : launch(launch), index(index), position(::getPosition(launch.grid, index)),
      shared(launch.sharedBytes, (launch.numThreads + kLanes - 1) / kLanes),
      global(*launch.global, index),
      random(launch.options->seed * 0x9E3779B97F4A7C15u + index + 1) {
  for (BlockBarrier &barrier : barriers)
    barrier.lanes.assign((launch.numThreads + kLanes - 1) / kLanes, 0);
  for (unsigned i = 0; i * kLanes < launch.numThreads; ++i) {
    auto warp = std::make_unique<Warp>(*this, i);
    const Code &code = *launch.program->codes.front();
    warp->local = ZeroedBytes(size_t(code.localBytes) * kLanes);
    warp->localWritten = ZeroedBytes(size_t(code.localBytes) * kLanes);
    warp->localStride = code.localBytes;
    warp->frames.push_back(std::make_unique<Frame>(code));
    fillFrame(*warp->frames.back(), *warp);
    auto split = std::make_unique<Split>();
    split->mask = warp->lanes;
    split->frame = warp->frames.back().get();
    warp->splits.push_back(std::move(split));
    warps.push_back(std::move(warp));
  }
}

Block::~Block() = default;

const Program &Block::getProgram() const { return *launch.program; }

llvm::ArrayRef<uint8_t> Block::getParameters() const {
  return launch.parameters;
}

llvm::SmallVector<uint64_t> Block::getIssued() const {
  llvm::SmallVector<uint64_t> result;
  for (const std::unique_ptr<Warp> &warp : warps)
    result.push_back(warp->executed);
  return result;
}

void Block::notePoll(Lanes &lanes, const Instruction &,
                     llvm::function_ref<std::string()> what) {
  Split &split = *lanes.split;
  split.failedPolls =
      split.pollProgress == progress ? split.failedPolls + 1 : 1;
  split.pollProgress = progress;
  split.endedByPoll = true;
  split.sincePoll = 0;
  if (split.failedPolls == kHopelessPolls)
    split.poll = what();
}

void Block::finish() {
  finished = true;
  for (std::unique_ptr<State> &state : states)
    if (state)
      state->finish(*this);
}
