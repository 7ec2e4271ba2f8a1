//===- TensorMaps.h - The tensor maps of a launch ---------------*- C++ -*-===//

#ifndef TILE_LIB_RUNTIME_TENSORMAPS_H
#define TILE_LIB_RUNTIME_TENSORMAPS_H

#include "DeviceImpl.h"
#include "KernelImpl.h"
#include "tile/Launch/TensorMaps.h"
#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace tile::runtime {

/// The tensor maps that `code` takes for these arguments, in order.
/// `addresses`: of the arrays, in the places of the arguments. `zeros`: of
/// `kEmptyTensorBytes` zeros.
Expected<std::vector<emulator::TensorMap>>
makeTensorMaps(const KernelImpl &kernel, const CompiledCode &code,
               const std::vector<CheckedArgument> &arguments,
               llvm::ArrayRef<uint64_t> addresses, uint64_t zeros);

/// What the address of an array must be a multiple of for a launch of `code`.
unsigned getArrayAlignment(const CompiledCode &code, size_t argument);

/// Checks that there are such maps, as far as it is known where the arrays will
/// be. The error names the argument.
Status checkTensorMaps(const KernelImpl &kernel, const CompiledCode &code,
                       const std::vector<CheckedArgument> &arguments);

} // namespace tile::runtime

#endif // TILE_LIB_RUNTIME_TENSORMAPS_H
