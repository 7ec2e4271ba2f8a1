//===- EmulatorOptions.h - What the command line asks of the emulator -----===//
//
// The options that `tile-run --device=emulator` and `ptx-run` share, and how
// both report what a launch found.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TOOLS_EMULATOROPTIONS_H
#define TILE_TOOLS_EMULATOROPTIONS_H

#include "tile/Emulator/Emulator.h"
#include "tile/Tools/ArrayArgument.h"
#include "tile/Tools/Options.h"

#include <optional>
#include <string>
#include <vector>

namespace tile {

/// Options of the emulator.
struct EmulatorOptions {
  enum class Stats { None, Text, Json };
  /// `--watch`: bytes of an argument's array.
  struct Watch {
    unsigned argument = 0;
    uint64_t offset = 0;
    uint64_t bytes = 1;
  };

  /// All but the block, the shared memory and the watched address.
  emulator::LaunchOptions launch;
  Stats stats = Stats::None;
  bool statsPerLine = false;
  std::optional<Watch> watch;
};

/// Reads the grid and the options of the `emulator` group.
llvm::Expected<EmulatorOptions>
getEmulatorOptions(const llvm::opt::InputArgList &args);

/// The first option of the `emulator` group that was given, as messages spell
/// it, or empty.
std::string findEmulatorOption(const llvm::opt::InputArgList &args);

/// Maps arrays into the memory of an emulated device, each with exactly the
/// bytes that the kernel may touch. `names` are what faults call them; the
/// address of a null array is 0.
llvm::Expected<std::vector<uint64_t>>
mapArrays(emulator::Memory &memory,
          llvm::ArrayRef<const ArrayArgument *> arrays,
          llvm::ArrayRef<std::string> names, uint64_t alignment);

/// Turns `--watch` into an address, where it was given. The other arguments are
/// those and the result of `mapArrays`.
llvm::Error resolveWatch(EmulatorOptions &options,
                         llvm::ArrayRef<const ArrayArgument *> arrays,
                         llvm::ArrayRef<std::string> names,
                         llvm::ArrayRef<uint64_t> addresses);

/// Prints what `--stats` asks for to the standard output.
void printStatistics(const EmulatorOptions &options,
                     const emulator::Statistics &statistics);

/// Prints errors of PTX text and faults, which name their own place, to the
/// standard error; they become a `ReportedError`. Others are returned.
llvm::Error reportEmulatorError(llvm::Error error);

} // namespace tile

#endif // TILE_TOOLS_EMULATOROPTIONS_H
