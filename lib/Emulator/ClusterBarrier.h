//===- ClusterBarrier.h - barrier.cluster -----------------------*- C++ -*-===//

#ifndef TILE_LIB_EMULATOR_CLUSTERBARRIER_H
#define TILE_LIB_EMULATOR_CLUSTERBARRIER_H

#include "Decoder.h"

namespace tile::emulator {

/// `barrier.cluster` in a cluster of one block; called by `registerFences`.
void registerClusterBarrier(InstructionTable &table);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_CLUSTERBARRIER_H
