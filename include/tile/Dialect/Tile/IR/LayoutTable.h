//===- LayoutTable.h - A layout as a table of text --------------*- C++ -*-===//
//
// What a person reads to see where a distributed tile lives.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DIALECT_TILE_IR_LAYOUTTABLE_H
#define TILE_DIALECT_TILE_IR_LAYOUTTABLE_H

#include "mlir/Support/LLVM.h"

namespace tile {

class LayoutAttr;

/// Prints which warp, lane and register hold each element of a tile of `shape`.
///
/// A tile of two dimensions is a table, one line per row of the tile. A cell is
/// `lane:register`, or `warp.lane:register` where there are several warps. If
/// several places hold an element, the cell names the lowest one and a line
/// above the table says how to reach the others: `replicas: lane^16` means that
/// flipping bit 16 of the lane number gives another holder.
///
/// For tiles of another rank the coordinates of each register, lane and warp
/// bit are listed instead.
///
/// Requires: `layout.verifyFor(shape)` succeeds.
void printLayoutTable(llvm::raw_ostream &os, LayoutAttr layout,
                      llvm::ArrayRef<int64_t> shape);

} // namespace tile

#endif // TILE_DIALECT_TILE_IR_LAYOUTTABLE_H
