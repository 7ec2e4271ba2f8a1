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

/// The byte offsets of a tile layout, row-major and without swizzle.
LinearLayout getByteLayout(const LinearLayout &layout, BufferType type);

/// Addresses in a slot: for each register the xor of the thread's part and the
/// register's.
class SlotAddresses {
public:
  /// `lanes` and `warps`: what each bit of the lane and the warp contributes
  /// to the offset of an access, before the swizzle.
  SlotAddresses(Emitter &emit, mlir::Value slot, llvm::ArrayRef<uint32_t> lanes,
                llvm::ArrayRef<uint32_t> warps, const LinearLayout &swizzle,
                mlir::Value lane, mlir::Value warp);

  /// The address of the byte at `offset` from the thread's first, both before
  /// the swizzle.
  mlir::Value get(uint32_t offset);

private:
  mlir::Value move(mlir::Value pointer, mlir::LLVM::GEPArg bytes);

  Emitter &emit;
  mlir::Value slot, thread;
  const LinearLayout &swizzle;
  uint32_t threadBits = 0;
  llvm::DenseMap<uint32_t, mlir::Value> bases;
};

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETONVVM_BUFFERACCESS_H
