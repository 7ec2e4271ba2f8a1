//===- KernelChoice.h - Tiles for a problem ---------------------*- C++ -*-===//
//
// What the kernel library decides before it compiles: whether a problem can be
// computed, the constants of the kernel's template, the number of warps and the
// grid. Nothing here knows a compiler or a device.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_RUNTIME_KERNELCHOICE_H
#define TILE_LIB_RUNTIME_KERNELCHOICE_H

#include "tile/Runtime/Error.h"
#include "tile/Runtime/Kernel.h"
#include "tile/Runtime/KernelLibrary.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tile::runtime {

/// Bytes of shared memory that a block has on every target.
constexpr unsigned kLeastSharedBytes = 101376;

/// How a kernel of the library is compiled and launched.
struct KernelChoice {
  std::map<std::string, std::string> constants;
  unsigned numWarps = 4;
  Grid grid;
};

/// The kernels that `chooseLinear` and `chooseQuantize` know.
const std::vector<std::string> &getLinearNames();
const std::vector<std::string> &getQuantizeNames();

/// Checks the problem of a linear layer and chooses its tile for a target whose
/// blocks have `sharedBytes` of shared memory, and tensor memory or not.
Expected<KernelChoice> chooseLinear(const std::string &name,
                                    const LinearProblem &problem,
                                    unsigned sharedBytes,
                                    bool hasTensorMemory = false);

/// The same for a quantiser or `dequantize`, which use no shared memory that
/// matters.
Expected<KernelChoice> chooseQuantize(const std::string &name,
                                      const QuantizeProblem &problem);

} // namespace tile::runtime

#endif // TILE_LIB_RUNTIME_KERNELCHOICE_H
