//===- LaunchRunner.h - Runs all blocks of a launch -------------*- C++ -*-===//

#ifndef TILE_LIB_EMULATOR_LAUNCHRUNNER_H
#define TILE_LIB_EMULATOR_LAUNCHRUNNER_H

#include "Machine.h"

namespace tile::emulator {

/// Runs `launch`, whose sizes and parameters have been checked, over the
/// buffers of `memory` and the module's `variables`. Blocks run on several host
/// threads where they cannot see each other; where something then goes wrong,
/// everything is put back and run again in order, so that the report does not
/// depend on who was first.
llvm::Expected<LaunchResult>
runLaunch(Launch &launch, const Memory &memory,
          const std::vector<Allocation> &variables);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_LAUNCHRUNNER_H
