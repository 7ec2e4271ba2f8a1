//===- BufferAccess.h - Addresses in buffers --------------------*- C++ -*-===//
//
// What the copies to buffers of shared memory and the reads from them share.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_CONVERSION_TILETONVVM_BUFFERACCESS_H
#define TILE_LIB_CONVERSION_TILETONVVM_BUFFERACCESS_H

#include "../Emitter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Layout/LinearLayout.h"
#include "llvm/ADT/DenseMap.h"

namespace tile {

/// Bytes of an element of a buffer.
inline unsigned getBytes(mlir::Type element) {
  return getElementBits(element) / 8;
}

/// The byte offsets that a layout of the tile in a slot, or of a part of it,
/// gives: row-major and without swizzle.
LinearLayout getByteLayout(const LinearLayout &layout, BufferType type);

/// Runs `body` where what it emits is computed once for all iterations of all
/// loops around: in front of the outermost. What it uses must be known there.
void emitOutsideLoops(Emitter &emit, llvm::function_ref<void()> body);

/// Where a slot begins: `memory` + `offset` + `base`.
struct SlotPlace {
  mlir::Value memory; ///< Shared memory of the block; known outside all loops.
  mlir::Value offset; ///< i32, bytes: what depends on the number of the slot.
  uint32_t base;      ///< Bytes: what does not.
};

/// Addresses in a slot: for each register the xor of the thread's part and the
/// register's.
///
/// What does not depend on the slot is computed outside all loops, and what
/// neither thread nor slot touch is a constant that comes last: where accesses
/// of several buffers have the same thread part, they share all but that.
class SlotAddresses {
public:
  /// `lanes` and `warps`: what each bit of the lane and the warp contributes
  /// to the offset of an access, before the swizzle.
  SlotAddresses(Emitter &emit, SlotPlace slot, llvm::ArrayRef<uint32_t> lanes,
                llvm::ArrayRef<uint32_t> warps, const LinearLayout &swizzle,
                mlir::Value lane, mlir::Value warp);

  /// Adds what each bit of `index`, an i32, contributes to every offset, before
  /// the swizzle. To be called before `get`.
  void moveBy(llvm::ArrayRef<uint32_t> columns, mlir::Value index);

  /// The address of the byte at `offset` from the thread's first, both before
  /// the swizzle.
  mlir::Value get(uint32_t offset);

private:
  mlir::Value move(mlir::Value pointer, mlir::LLVM::GEPArg bytes);

  Emitter &emit;
  SlotPlace slot;
  const LinearLayout &swizzle;
  mlir::Value thread;      ///< i32; known outside all loops.
  uint32_t threadBits = 0; ///< Bits that `thread` may have.
  mlir::Value moved;       ///< i32, what indices contribute; null for nothing.
  uint32_t movedBits = 0;  ///< Bits that `moved` may have.
  /// By what a register flips of the bits of both.
  llvm::DenseMap<uint32_t, mlir::Value> bases;
};

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETONVVM_BUFFERACCESS_H
