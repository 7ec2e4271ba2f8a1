//===- TensorArgument.h - Tensor maps on the command line -------*- C++ -*-===//
//
//     tmap:x.npy:box=128x64,swizzle=128,type=f16,fill=nan
//     tmap:inout:z.npy:65x24:box=16x8
//     tmap:out:z.npy:128x256xf32:box=8x32
//
// An array as `in:`, `inout:` and `out:` give it, `in:` where none is written,
// and what the map says beyond its extents and strides. Dimensions stand
// outermost first, as in the array's shape.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TOOLS_PTX_RUN_TENSORARGUMENT_H
#define TILE_TOOLS_PTX_RUN_TENSORARGUMENT_H

#include "tile/Emulator/TensorMap.h"
#include "tile/Tools/ArrayArgument.h"

namespace tile {

/// An array and the map that a kernel gets for it.
struct TensorArgument {
  ArrayArgument array;
  emulator::TensorMap map; ///< Without the address.

  /// Whether `text` begins as such an argument does.
  static bool matches(llvm::StringRef text);
  /// Reads or allocates the array and describes it. Errors do not name the
  /// argument. Requires: `matches(text)`.
  static llvm::Expected<TensorArgument> get(llvm::StringRef text);
};

} // namespace tile

#endif // TILE_TOOLS_PTX_RUN_TENSORARGUMENT_H
