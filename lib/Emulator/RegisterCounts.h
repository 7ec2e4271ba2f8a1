//===- RegisterCounts.h - setmaxnreg ----------------------------*- C++ -*-===//

#ifndef TILE_LIB_EMULATOR_REGISTERCOUNTS_H
#define TILE_LIB_EMULATOR_REGISTERCOUNTS_H

#include "Decoder.h"

namespace tile::emulator {

/// `setmaxnreg`; called by `registerWarpOperations`.
void registerRegisterCounts(InstructionTable &table);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_REGISTERCOUNTS_H
