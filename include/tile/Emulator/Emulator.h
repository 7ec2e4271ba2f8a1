//===- Emulator.h - Runs PTX without a GPU ----------------------*- C++ -*-===//
//
// The device `emulator`: loads a PTX module, checks it whole, and launches its
// kernels over buffers in host memory. Semantics come from the PTX ISA and from
// published models of the tensor cores, never from this project's lowerings, so
// that it can witness against them. docs/emulator.md says what is modelled.
//
//   Expected<std::unique_ptr<Module>> module = Module::load(text, "k.ptx");
//   Memory memory;
//   Expected<uint64_t> x = memory.map("x", bytes, Memory::Access::ReadOnly);
//   LaunchOptions options;
//   options.grid = {4, 8, 1};
//   Expected<LaunchResult> result =
//       (*module)->launch("kernel", memory, parameters, options);
//
//===----------------------------------------------------------------------===//

#ifndef TILE_EMULATOR_EMULATOR_H
#define TILE_EMULATOR_EMULATOR_H

#include "tile/Emulator/Memory.h"
#include "tile/Emulator/Statistics.h"
#include "tile/Emulator/Syntax.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace tile::emulator {

/// How tensor-core instructions add.
enum class Accumulate : uint8_t {
  /// Products and sum in f64, rounded once to the result's type.
  Exact,
  /// The published bit-accurate model of the target's hardware.
  Hardware,
};

/// In which order warps run.
enum class Schedule : uint8_t {
  /// Each warp until it waits, lowest first.
  InOrder,
  /// In short slices of random length, from a seed: finds races.
  Random,
};

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};

/// Shows what one warp or thread does, or who touches an address.
struct TraceOptions {
  /// Block and warp whose instructions are printed with what they write.
  bool enabled = false;
  Dim3 block = {0, 0, 0};
  unsigned warp = 0;
  int lane = -1; ///< One lane, or -1 for all.
  /// Every access to the bytes [watch, watch + watchBytes) of global memory is
  /// printed; 0 bytes: none.
  uint64_t watch = 0;
  uint64_t watchBytes = 0;
  llvm::raw_ostream *os = nullptr; ///< nullptr: standard error.
};

struct LaunchOptions {
  Dim3 grid;
  /// Threads of a block; nullopt: `.reqntid`, else the `tile.launch` comment,
  /// else an error.
  std::optional<Dim3> block;
  /// Bytes of dynamic shared memory; nullopt: the `tile.launch` comment, else
  /// 0.
  std::optional<uint64_t> sharedBytes;
  Accumulate accumulate = Accumulate::Exact;
  Schedule schedule = Schedule::InOrder;
  uint64_t seed = 0;
  /// Lets two blocks store different values to one element.
  bool allowWriteWrite = false;
  /// Takes as an order between operations on tensor memory what compilers rely
  /// on, though the ISA does not promise it: barriers without `tcgen05.fence`,
  /// and the order in which one thread issues copies and multiplies.
  bool allowLooseTensorMemory = false;
  /// Fills `LaunchResult::statistics`; costs time.
  bool collectStatistics = false;
  /// Warp instructions that one block may execute before it counts as hung.
  uint64_t stepLimit = 4000000000;
  /// Threads of this machine; 0: as many as it has. Results do not depend on
  /// it.
  unsigned hostThreads = 0;
  TraceOptions trace;
  /// Where `vprintf` of a kernel writes; nullptr: standard output.
  llvm::raw_ostream *output = nullptr;
  /// Set by another thread to end the launch early with an error.
  const std::atomic<bool> *cancel = nullptr;
  /// Called now and then with the blocks done so far, from any thread, one call
  /// at a time.
  std::function<void(uint64_t done, uint64_t total)> progress;
};

struct LaunchResult {
  /// Filled where asked for.
  Statistics statistics;
};

/// The checks that end a launch.
enum class Check : uint8_t {
  OutOfBounds,
  Misaligned,
  ReadOnlyStore,
  Uninitialized,  ///< An unwritten value reached an address, a branch, …
  SharedRace,     ///< Two threads, one a writer, without a barrier between.
  AsyncRace,      ///< Data of a copy that nobody has waited for.
  ProxyFence,     ///< An async read of data that no proxy fence published.
  WriteWrite,     ///< Two blocks stored different values to one element.
  Divergence,     ///< A warp-wide instruction that not all its lanes reach.
  IllegalOperand, ///< A selector, mask or size outside its legal range.
  Deadlock,
  StepLimit,
  Trap,            ///< `trap`, `brkpt` or a failed assertion of the kernel.
  Synchronization, ///< Misuse of a barrier or mbarrier.
};
/// "out-of-bounds", "shared-race", …: how the tools print a check.
llvm::StringRef getCheckName(Check check);

/// What a check found, and where. Prints as
/// `FILE:LINE:COLUMN: error: MESSAGE` with the instruction, thread and block on
/// a line each.
class Fault : public llvm::ErrorInfo<Fault> {
public:
  static char ID;

  Check check = Check::Trap;
  std::string message; ///< What, with the expected and the found.
  std::string file;
  Location location;
  std::string instruction; ///< As written, or empty.
  /// The source line of `.loc`, or empty: "kernel.mlir:12".
  std::string source;
  std::optional<Dim3> block;
  std::optional<Dim3> thread;
  std::optional<uint64_t> address;
  std::string buffer; ///< The buffer's or variable's name, or empty.
  /// Further lines: the other access of a race, who waits where in a deadlock.
  std::vector<std::string> notes;

  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;
};

/// A loaded PTX module. Its `.global` variables keep their values from one
/// launch to the next, as on a device. Several threads may launch kernels of
/// one module at once if these share no data.
class Module {
public:
  /// Parses `text` and lays out its variables. `name` stands for the file in
  /// messages.
  static llvm::Expected<std::unique_ptr<Module>> load(llvm::StringRef text,
                                                      llvm::StringRef name);
  ~Module();

  const SyntaxTree &getSyntax() const;

  /// Decodes the kernel and all that it calls, so that whatever the emulator
  /// does not know is an error that names the instruction, before anything
  /// runs. `entry` may be empty where there is only one. Done once per kernel;
  /// `launch` does it where it was not done.
  llvm::Error prepare(llvm::StringRef entry);

  /// Runs the kernel. `parameters` holds the bytes of each `.param`, in order;
  /// their number and sizes are checked. A `Fault` tells what a check found;
  /// what the buffers hold after one is unspecified.
  llvm::Expected<LaunchResult>
  launch(llvm::StringRef entry, Memory &memory,
         llvm::ArrayRef<llvm::ArrayRef<uint8_t>> parameters,
         const LaunchOptions &options);

private:
  struct Implementation;
  explicit Module(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation;
};

/// One row of the table of instructions that the emulator runs.
struct InstructionInfo {
  llvm::StringRef name;  ///< "mma.sync": the first words of the opcode.
  llvm::StringRef forms; ///< What of it is modelled, in the ISA's spelling.
  llvm::StringRef group; ///< "Integer arithmetic", …
};
/// Every instruction known, by group; docs/emulator.md is made from it.
std::vector<InstructionInfo> getInstructionTable();

} // namespace tile::emulator

#endif // TILE_EMULATOR_EMULATOR_H
