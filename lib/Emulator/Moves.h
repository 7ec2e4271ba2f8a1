//===- Moves.h - What the moves share ---------------------------*- C++ -*-===//

#ifndef TILE_LIB_EMULATOR_MOVES_H
#define TILE_LIB_EMULATOR_MOVES_H

#include "Decoder.h"

namespace tile::emulator {

/// The executor that copies a register of `type`, with what is unwritten of it.
Execute selectCopy(Type type);

/// Registers the instructions of AddressMoves.cpp.
void registerAddressMoves(InstructionTable &table);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_MOVES_H
