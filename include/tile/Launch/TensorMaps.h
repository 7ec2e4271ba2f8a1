//===- TensorMaps.h - Tensor maps for a launch ------------------*- C++ -*-===//
//
// A compiled kernel says which tensor maps it takes; the arrays of a launch say
// what stands in them. Whoever launches encodes the result, with
// `cuTensorMapEncodeTiled` or for the emulator.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LAUNCH_TENSORMAPS_H
#define TILE_LAUNCH_TENSORMAPS_H

#include "tile/Codegen/KernelParameters.h"
#include "tile/Emulator/TensorMap.h"
#include "llvm/Support/Error.h"

namespace tile {

/// Zeros that stand for an array without elements: its map describes them, and
/// not the array. So many bytes, at a multiple of as many.
constexpr uint64_t kEmptyTensorBytes = 64;

/// Whether the map of an array of this shape describes zeros.
bool isEmptyTensor(llvm::ArrayRef<int64_t> shape);

/// What an array's address must be a multiple of, so that `map` can describe
/// it: 16 or 32.
unsigned getTensorMapAlignment(const TensorMapParameter &map);

/// Checks that `map` itself is one: its dimensions are those of an array of
/// `rank` dimensions, in some order, and its box, swizzle, type and fill are
/// such as a kernel can have.
llvm::Error validate(const TensorMapParameter &map, size_t rank);

/// The map for a launch with `array`; it is valid. `zeros` is the address of
/// `kEmptyTensorBytes`, used where `isEmptyTensor`. The error says what a
/// tensor map expects of the array, and what it got: "expects an address that
/// is a multiple of 16, ...". Requires: `validate` has no error for the rank.
llvm::Expected<emulator::TensorMap> makeTensorMap(const TensorMapParameter &map,
                                                  const KernelArgument &array,
                                                  uint64_t zeros);

} // namespace tile

#endif // TILE_LAUNCH_TENSORMAPS_H
