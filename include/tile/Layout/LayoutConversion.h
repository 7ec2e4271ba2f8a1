//===- LayoutConversion.h - From one layout to another ----------*- C++ -*-===//
//
// A tile is held by one layout and wanted in another. Two maps answer which
// place of the new layout takes its element from which place of the old one:
// apply the new layout, then go back through the old one. How far the element
// travels decides the cost: to another register of the same lane (a move, or
// nothing at all), to another lane of the warp (a shuffle), or to another warp
// (a round trip through shared memory).
//
// Example: the accumulator of a 16x8 multiply becomes rows of four consecutive
// elements per lane.
//
//     from  register: (0,1) (8,0)    lane: (0,2) (0,4) (1,0) (2,0) (4,0)
//     to    register: (0,1) (0,2)    lane: (0,4) (1,0) (2,0) (4,0) (8,0)
//
// Column 2 is register bit 1 of `to` and lane bit 0 of `from`: elements change
// lanes, none changes the warp.
//
// Where `from` replicates an element, the nearest replica is taken.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LAYOUT_LAYOUTCONVERSION_H
#define TILE_LAYOUT_LAYOUTCONVERSION_H

#include "tile/Layout/LinearLayout.h"

#include <optional>

namespace tile {

/// How far a conversion moves elements.
enum class ConversionReach : uint8_t {
  Nothing,   ///< Every place keeps its element.
  Registers, ///< Elements move between the registers of a lane.
  Lanes,     ///< Elements move between the lanes of a warp.
  Warps,     ///< Elements move between warps.
};

/// A conversion between two layouts of one tile.
struct LayoutConversion {
  ConversionReach reach;
  /// From a place of the new layout to the place of the old layout that its
  /// element comes from; both are `{register, lane, warp}`.
  LinearLayout source;
};

/// Returns the conversion from `from` to `to` that reaches least far, or
/// nullopt if `to` holds elements that `from` does not. Requires layouts from
/// `{register, lane, warp}` to one tile, with as many lanes and warps on both
/// sides.
std::optional<LayoutConversion> getLayoutConversion(const LinearLayout &from,
                                                    const LinearLayout &to);

} // namespace tile

#endif // TILE_LAYOUT_LAYOUTCONVERSION_H
