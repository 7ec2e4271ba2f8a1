//===- LaunchRunner.cpp - Runs all blocks of a launch ---------------------===//

#include "LaunchRunner.h"
#include "Trace.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

#include <deque>
#include <mutex>
#include <thread>

using namespace tile::emulator;
using llvm::Error;
using llvm::Expected;

/// Warp instructions of a block before others of its launch have a turn.
static constexpr uint64_t kBlockTurn = 1 << 20;

namespace {
/// What one host thread has counted.
struct Tally {
  std::vector<InstructionCounters> counters;
  uint64_t warps = 0;
  uint64_t minIssued = ~uint64_t(0), maxIssued = 0;

  void add(const Block &block) {
    for (uint64_t issued : block.getIssued()) {
      ++warps;
      minIssued = std::min(minIssued, issued);
      maxIssued = std::max(maxIssued, issued);
    }
  }
};

/// The bytes that a launch may change, to put back.
class Snapshot {
public:
  Snapshot(const Memory &memory, const std::vector<Allocation> &variables) {
    for (const Allocation &allocation : memory.getAllocations())
      save(allocation);
    for (const Allocation &allocation : variables)
      save(allocation);
  }
  void restore() const {
    for (const auto &[bytes, saved] : contents)
      std::copy(saved.begin(), saved.end(), bytes);
  }

private:
  void save(const Allocation &allocation) {
    if (allocation.live && !allocation.readOnly && allocation.size)
      contents.push_back(
          {allocation.bytes,
           {allocation.bytes, allocation.bytes + allocation.size}});
  }
  std::vector<std::pair<uint8_t *, std::vector<uint8_t>>> contents;
};

class Runner {
public:
  Runner(Launch &launch)
      : launch(launch),
        total(uint64_t(launch.grid.x) * launch.grid.y * launch.grid.z) {}

  /// Runs the blocks in order on this thread; each has turns, so that one may
  /// wait for another.
  std::unique_ptr<Fault> runInOrder(Tally &tally);
  /// Runs the blocks on `count` threads. Returns false where a block faulted.
  bool runOnThreads(unsigned count, std::vector<Tally> &tallies);
  bool isCancelled() const {
    return launch.options->cancel &&
           launch.options->cancel->load(std::memory_order_relaxed);
  }
  uint64_t getTotal() const { return total; }

private:
  void noteDone();

  Launch &launch;
  uint64_t total;
  std::atomic<uint64_t> done{0};
  std::mutex progressMutex;
};
} // namespace

void Runner::noteDone() {
  uint64_t count = ++done;
  if (!launch.options->progress)
    return;
  std::lock_guard<std::mutex> lock(progressMutex);
  launch.options->progress(count, total);
}

std::unique_ptr<Fault> Runner::runInOrder(Tally &tally) {
  std::deque<std::unique_ptr<Block>> waiting;
  done = 0;
  uint64_t next = 0;
  while (next != total || !waiting.empty()) {
    if (isCancelled())
      return nullptr;
    // A block that has not ended within its turn may wait for a later one, so
    // these begin before it has its next.
    constexpr size_t kMostResident = 32;
    std::unique_ptr<Block> block;
    if (next != total && waiting.size() < kMostResident) {
      block = std::make_unique<Block>(launch, next++);
      block->countIn(tally.counters);
    } else {
      block = std::move(waiting.front());
      waiting.pop_front();
    }
    bool ended = block->run(kBlockTurn);
    if (!ended) {
      waiting.push_back(std::move(block));
      continue;
    }
    if (block->hasFault())
      return block->takeFault();
    tally.add(*block);
    noteDone();
  }
  return nullptr;
}

bool Runner::runOnThreads(unsigned count, std::vector<Tally> &tallies) {
  std::atomic<uint64_t> next{0};
  std::atomic<bool> failed{false};
  done = 0;
  auto work = [&](Tally &tally) {
    for (uint64_t index = next++; index < total; index = next++) {
      Block block(launch, index);
      block.countIn(tally.counters);
      while (!block.run(kBlockTurn))
        if (failed.load(std::memory_order_relaxed) || isCancelled())
          return;
      if (block.hasFault()) {
        failed = true;
        return;
      }
      if (failed.load(std::memory_order_relaxed) || isCancelled())
        return;
      tally.add(block);
      noteDone();
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < count; ++i)
    threads.emplace_back(work, std::ref(tallies[i]));
  work(tallies.front());
  for (std::thread &thread : threads)
    thread.join();
  return !failed;
}

/// Which words of an opcode say what kind of MMA it is: all.
static std::string getOpcode(const Statement &statement) {
  return llvm::join(statement.opcode, ".");
}

/// Adds what one instruction did to the totals of its class.
static void addToTotals(Counters &total, InstructionClass instructionClass,
                        const InstructionCounters &counters) {
  unsigned index = static_cast<unsigned>(instructionClass);
  total.issued[index] += counters.issued;
  total.threads[index] += counters.threads;
  total.divergent += counters.divergent;
  switch (instructionClass) {
  case InstructionClass::LoadGlobal:
    total.globalLoadBytes += counters.bytes;
    total.globalLoadSectors += counters.sectors;
    break;
  case InstructionClass::StoreGlobal:
  case InstructionClass::Atomic:
    total.globalStoreBytes += counters.sectors ? counters.bytes : 0;
    total.globalStoreSectors += counters.sectors;
    break;
  case InstructionClass::LoadShared:
    total.sharedLoadBytes += counters.bytes;
    break;
  case InstructionClass::StoreShared:
    total.sharedStoreBytes += counters.bytes;
    break;
  case InstructionClass::LoadTensor:
    total.tensorLoadBytes += counters.bytes;
    break;
  case InstructionClass::StoreTensor:
    total.tensorStoreBytes += counters.bytes;
    break;
  case InstructionClass::Matrix:
    total.sharedLoadBytes += counters.bytes;
    break;
  case InstructionClass::AsyncCopy:
    total.asyncCopies += counters.bytes ? counters.issued : 0;
    total.asyncCopyBytes += counters.bytes;
    total.globalLoadBytes += counters.sectors ? counters.bytes : 0;
    total.globalLoadSectors += counters.sectors;
    break;
  case InstructionClass::Barrier:
    total.barriers += counters.issued;
    break;
  default:
    break;
  }
  total.sharedWavefronts += counters.wavefronts;
  total.sharedIdealWavefronts += counters.idealWavefronts;
}

static Statistics makeStatistics(const Launch &launch, uint64_t blocks,
                                 llvm::ArrayRef<Tally> tallies) {
  const Program &program = *launch.program;
  Statistics statistics;
  statistics.blocks = blocks;
  statistics.minWarpInstructions = ~uint64_t(0);
  for (const Tally &tally : tallies) {
    statistics.warps += tally.warps;
    statistics.minWarpInstructions =
        std::min(statistics.minWarpInstructions, tally.minIssued);
    statistics.maxWarpInstructions =
        std::max(statistics.maxWarpInstructions, tally.maxIssued);
  }
  for (const std::unique_ptr<Code> &code : program.codes)
    for (const Instruction &instruction : code->code) {
      InstructionCounters counters;
      for (const Tally &tally : tallies)
        counters += tally.counters[instruction.index];
      if (instruction.isHidden || !counters.issued)
        continue;
      const Statement &statement = *instruction.statement;
      addToTotals(statistics.total, instruction.instructionClass, counters);
      if (instruction.instructionClass == InstructionClass::Mma)
        statistics.mmas[getOpcode(statement)] += counters.issued;
      Statistics::Line line;
      line.line = statement.location.line;
      if (statement.sourceFile >= 0 &&
          static_cast<size_t>(statement.sourceFile) <
              program.syntax->files.size())
        line.source = (program.syntax->files[statement.sourceFile] + ":" +
                       llvm::Twine(statement.sourceLine))
                          .str();
      line.instruction = formatStatement(statement);
      line.instructionClass = instruction.instructionClass;
      line.counters = counters;
      statistics.lines.push_back(std::move(line));
    }
  return statistics;
}

Expected<LaunchResult>
tile::emulator::runLaunch(Launch &launch, const Memory &memory,
                          const std::vector<Allocation> &variables) {
  const LaunchOptions &options = *launch.options;
  Runner runner(launch);
  unsigned threads = options.hostThreads ? options.hostThreads
                                         : std::thread::hardware_concurrency();
  threads = static_cast<unsigned>(
      std::min<uint64_t>(std::max(threads, 1u), runner.getTotal()));
  if (launch.program->blocksCommunicate || options.trace.enabled ||
      options.trace.watchBytes || options.output)
    threads = 1;
  Tally empty;
  empty.counters.resize(launch.program->numInstructions);
  std::vector<Tally> tallies(threads, empty);
  auto finish = [&]() -> Expected<LaunchResult> {
    if (runner.isCancelled())
      return llvm::createStringError(launch.program->syntax->name +
                                     ": the launch was cancelled");
    LaunchResult result;
    if (options.collectStatistics)
      result.statistics = makeStatistics(launch, runner.getTotal(), tallies);
    return std::move(result);
  };
  if (threads > 1) {
    Snapshot before(memory, variables);
    {
      GlobalSpace space(memory, variables, !options.allowWriteWrite);
      launch.global = &space;
      if (runner.runOnThreads(threads, tallies))
        return finish();
    }
    before.restore();
    tallies.assign(1, empty);
  }
  GlobalSpace space(memory, variables, !options.allowWriteWrite);
  launch.global = &space;
  if (std::unique_ptr<Fault> fault = runner.runInOrder(tallies.front()))
    return llvm::Error(std::move(fault));
  return finish();
}
