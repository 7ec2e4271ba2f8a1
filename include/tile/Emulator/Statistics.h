//===- Statistics.h - What an emulated launch did ---------------*- C++ -*-===//
//
// Counters of one launch. Instructions are counted per warp ("issued") and per
// thread; memory traffic is counted by the rules that NVIDIA documents for the
// hardware: global memory moves sectors of 32 bytes, shared memory has 32 banks
// of 4 bytes and serves one wavefront a time.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_EMULATOR_STATISTICS_H
#define TILE_EMULATOR_STATISTICS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace tile::emulator {

/// The classes by which instructions are counted.
enum class InstructionClass : uint8_t {
  Integer,
  Logic, ///< Bit-wise, shift, permute.
  Move,  ///< mov, selp, cvta, …
  Compare,
  Float32,
  Float16, ///< f16, bf16 and their pairs.
  Float64,
  Special, ///< ex2, lg2, rcp, rsqrt, sin, cos, tanh, sqrt.
  Convert,
  Control,
  Warp, ///< shfl, vote, match, redux, elect.
  Mma,
  LoadGlobal,
  StoreGlobal,
  LoadShared,
  StoreShared,
  LoadTensor,  ///< tcgen05.ld.
  StoreTensor, ///< tcgen05.st, tcgen05.cp.
  LoadOther,   ///< local, param, const.
  StoreOther,
  Matrix, ///< ldmatrix, stmatrix, movmatrix.
  Atomic,
  AsyncCopy,
  Barrier, ///< bar, mbarrier, fence.
  Other,
};
constexpr unsigned kNumInstructionClasses =
    static_cast<unsigned>(InstructionClass::Other) + 1;
llvm::StringRef getInstructionClassName(InstructionClass instructionClass);

/// Counters of one PTX instruction.
struct InstructionCounters {
  uint64_t issued = 0;     ///< Warps that executed it with at least one lane.
  uint64_t threads = 0;    ///< Lanes that executed it.
  uint64_t divergent = 0;  ///< Times with some but not all live lanes.
  uint64_t bytes = 0;      ///< Requested: lanes times access size.
  uint64_t sectors = 0;    ///< Distinct 32-byte sectors, global memory.
  uint64_t wavefronts = 0; ///< Shared memory: passes over the banks.
  /// Passes that as many bytes need at best; the excess is bank conflicts.
  uint64_t idealWavefronts = 0;

  InstructionCounters &operator+=(const InstructionCounters &other);
};

/// Totals of a launch, or of one source line of it.
struct Counters {
  uint64_t issued[kNumInstructionClasses] = {};
  uint64_t threads[kNumInstructionClasses] = {};
  uint64_t divergent = 0;
  uint64_t globalLoadBytes = 0, globalLoadSectors = 0;
  uint64_t globalStoreBytes = 0, globalStoreSectors = 0;
  uint64_t sharedLoadBytes = 0, sharedStoreBytes = 0;
  uint64_t sharedWavefronts = 0, sharedIdealWavefronts = 0;
  uint64_t tensorLoadBytes = 0, tensorStoreBytes = 0;
  uint64_t asyncCopies = 0, asyncCopyBytes = 0;
  uint64_t barriers = 0;
};

/// What `--stats` prints.
struct Statistics {
  uint64_t blocks = 0;
  uint64_t warps = 0;
  /// Instructions issued by the warp with the fewest and with the most.
  uint64_t minWarpInstructions = 0, maxWarpInstructions = 0;
  Counters total;
  /// Tensor-core instructions by their opcode ("mma.sync.m16n8k64.…").
  std::map<std::string, uint64_t> mmas;

  /// One PTX instruction, in the order of the text.
  struct Line {
    unsigned line = 0;  ///< In the PTX file.
    std::string source; ///< "kernel.mlir:12" from `.loc`, or empty.
    std::string instruction;
    InstructionClass instructionClass = InstructionClass::Other;
    InstructionCounters counters;
  };
  std::vector<Line> lines;

  /// Prints the totals as a table, with a table by line if `perLine`.
  void print(llvm::raw_ostream &os, bool perLine) const;
  /// Prints one JSON object with the same content; keys are stable.
  void printJson(llvm::raw_ostream &os, bool perLine) const;
};

} // namespace tile::emulator

#endif // TILE_EMULATOR_STATISTICS_H
