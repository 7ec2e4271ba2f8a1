//===- TensorMapAccess.h - Tensor maps in a kernel's memory -----*- C++ -*-===//
//
// Tensor maps are read through a proxy of their own. One that the kernel has
// changed in global memory may be used by a block that has acquired it since
// (`fence.proxy.tensormap::generic.acquire`). A block that has changed one with
// `tensormap.replace` must have released it as well.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_TENSORMAPACCESS_H
#define TILE_LIB_EMULATOR_TENSORMAPACCESS_H

#include "Machine.h"
#include "tile/Emulator/TensorMap.h"

#include <map>
#include <set>

namespace tile::emulator {

/// What a block has done with maps in global memory.
class TensorMapFences : public Block::State {
public:
  static constexpr unsigned kKey = 6;

  /// Those that it has acquired, by address, as they were then.
  std::map<uint64_t, TensorMapObject> acquired;
  /// Addresses of those that it has changed and not released.
  std::set<uint64_t> changed;
};

/// Reads the map at the generic address `address` for an instruction that uses
/// it. False after a fault.
bool readTensorMap(const Instruction &instruction, Warp &warp, unsigned lane,
                   uint64_t address, llvm::StringRef verb, TensorMap &map);

/// Acquires the maps at the generic addresses of the active lanes. False after
/// a fault.
bool acquireTensorMaps(const Instruction &instruction, Lanes &lanes,
                       const uint64_t (&addresses)[kLanes]);

/// The bytes of a map that need not be valid, and the map of such bytes. All
/// zeros are a map too: one with nothing in it. An error otherwise: "is no
/// tensor map".
TensorMapObject packTensorMap(const TensorMap &map);
llvm::Expected<TensorMap> unpackTensorMap(llvm::ArrayRef<uint8_t> object);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_TENSORMAPACCESS_H
