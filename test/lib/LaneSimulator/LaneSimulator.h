//===- LaneSimulator.h - Run device LLVM IR on the CPU ----------*- C++ -*-===//
//
// The compiler ends in an LLVM module for nvptx64: ordinary instructions plus
// `llvm.nvvm.*` intrinsics. This test library runs such a module lane by lane.
// Every thread of a block is a fiber that executes the kernel's own code,
// compiled for the host; an intrinsic becomes a call into the simulator. What
// concerns one lane (`cvt`, `prmt`, special registers) is computed there and
// then. What concerns a warp or a block (`mma.sync`, `shfl.sync`, barriers)
// holds the fiber until the others have come to the same call.
//
// The meaning of every intrinsic is written from the PTX ISA, in double
// precision and with one rounding per multiply; nothing is shared with the
// compiler's tables. So a wrong lane, register, nibble, byte selector or scale
// shows as a wrong number.
//
// What a GPU would leave undefined is an error here, with the instruction and
// the thread: an access outside a buffer, a misaligned one, a store to a
// read-only buffer, two unordered accesses to a byte of shared memory, one
// before the wait for the asynchronous copy that brings it, a collective that
// some of its lanes never reach, nonzero padding around an 8-bit container, a
// selector that no instruction has.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TEST_LANESIMULATOR_LANESIMULATOR_H
#define TILE_TEST_LANESIMULATOR_LANESIMULATOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace tile {

/// One parameter of a kernel: a scalar's bits, or a buffer whose address is
/// passed.
struct LaneArgument {
  uint64_t bits = 0;
  llvm::MutableArrayRef<uint8_t> buffer;
  std::string name; ///< For messages; a buffer has one.
  bool isBuffer = false;
  bool writable = false;

  static LaneArgument getScalar(uint64_t bits) {
    LaneArgument argument;
    argument.bits = bits;
    return argument;
  }
  /// The buffer is copied into guarded memory and back after the launch.
  static LaneArgument getBuffer(llvm::MutableArrayRef<uint8_t> data,
                                llvm::StringRef name, bool writable) {
    LaneArgument argument;
    argument.buffer = data;
    argument.name = name.str();
    argument.isBuffer = true;
    argument.writable = writable;
    return argument;
  }
};

struct LaneOptions {
  /// Order in which runnable threads are resumed: 0 by thread index, anything
  /// else a permutation per block that depends on it.
  uint64_t scheduleSeed = 0;
  /// Whether `ex2.approx` and its like are off by the error that the PTX ISA
  /// allows, in a direction that depends on the operand, instead of exact.
  bool approximate = false;
  /// Whether unordered accesses to shared memory are errors, and those before
  /// the wait for an asynchronous copy.
  bool checkRaces = true;
};

/// A device module, compiled for the host.
class LaneSimulator {
public:
  /// Compiles a copy of `module`. An instruction that the simulator does not
  /// know (an intrinsic, inline assembly, an undefined function) is an error
  /// that names it.
  static llvm::Expected<std::unique_ptr<LaneSimulator>>
  create(const llvm::Module &module, const LaneOptions &options = {});

  /// The same for LLVM IR text; `name` stands for it in messages.
  static llvm::Expected<std::unique_ptr<LaneSimulator>>
  parse(llvm::StringRef text, llvm::StringRef name,
        const LaneOptions &options = {});

  ~LaneSimulator();

  /// Runs a grid, one block after the other. `sharedBytes` is the size of the
  /// dynamic shared memory. On an error, writable buffers hold what had been
  /// stored by then.
  llvm::Error launch(llvm::StringRef entry, std::array<unsigned, 3> grid,
                     std::array<unsigned, 3> block, unsigned sharedBytes,
                     llvm::ArrayRef<LaneArgument> arguments);

  /// How often each intrinsic was executed by all launches so far: per warp for
  /// what a warp does together, else per lane.
  std::map<std::string, uint64_t> getCounts() const;

  class Impl;

private:
  explicit LaneSimulator(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

} // namespace tile

#endif // TILE_TEST_LANESIMULATOR_LANESIMULATOR_H
