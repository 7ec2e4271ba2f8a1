//===- TensorOperands.h - Operands of tcgen05 in memory ---------*- C++ -*-===//
//
// Where the multiplies that one thread issues want their operands: matrices in
// shared memory, described by 64-bit descriptors; scales in shared memory, on
// their way to tensor memory; and the 32-bit descriptor of the instruction
// itself. Places are linear layouts, and descriptors are computed from them
// (PTX ISA, "Tensorcore 5th Generation Family": "Canonical layouts", "Shared
// memory descriptor", "Instruction descriptor", "Scale factor layouts").
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TARGET_TENSOROPERANDS_H
#define TILE_TARGET_TENSOROPERANDS_H

#include "tile/Layout/LinearLayout.h"
#include "tile/Target/MmaAtoms.h"

#include <cstdint>
#include <optional>

namespace tile {

/// Which dimension of an operand is contiguous in memory.
enum class OperandMajor : uint8_t { K, MN };

/// Bytes of K that one multiply takes of each row, whatever the format.
constexpr unsigned kTensorStepBytes = 32;
/// Rows of A, and of scales, that one multiply takes.
constexpr unsigned kTensorRows = 128;
/// Fewest and most columns of B that one multiply takes.
constexpr unsigned kMinTensorColumns = 16, kMaxTensorColumns = 256;
/// Blocks of K, and bytes, of one chunk of scales for 128 rows.
constexpr unsigned kChunkBlocks = 4, kScaleChunkBytes = 512;

/// One operand in a slot of shared memory, which begins at a multiple of 1024
/// bytes.
struct SharedOperand {
  OperandMajor major = OperandMajor::K;
  /// Extents of the slot: rows of lhs or columns of rhs, and values of K.
  unsigned rows = 0, k = 0;
  /// Bits of a value in the slot: 4, 8 or 16. FP4 that an 8-bit instruction
  /// reads takes 8: eight bytes of pairs, then eight bytes that nobody reads.
  unsigned bits = 0;
  /// Bytes that the swizzle exchanges within: 32, 64 or 128.
  unsigned swizzleBytes = 0;
  /// `{d1: k, d0: row}` to `{offset}`, the byte where a value begins. FP4
  /// values: k and k + 1 for even k share a byte.
  LinearLayout place;
  uint32_t bytes = 0; ///< Of the slot; a power of two.

  /// The descriptor of a slot that begins at byte 0.
  uint64_t getDescriptor() const;
  /// What is added to the start address, in bytes, for the multiply that reads
  /// from row `row` and K step `step` (32 bytes of K each) on.
  uint32_t getStart(unsigned row, unsigned step) const;
};

/// Places `rows` rows (columns, for rhs) and `k` values of an operand of
/// `atom`, both powers of two. nullopt where the instruction cannot read it:
/// FP4 with `major` MN, less than one step of K, too few rows.
/// Fewest rows: lhs 128; rhs `kMinTensorColumns`, and 32 bytes of them where
/// they are contiguous.
std::optional<SharedOperand> placeOperand(const MmaAtom &atom, bool isLhs,
                                          OperandMajor major, unsigned rows,
                                          unsigned k);

/// Places scales of `rows` rows (a multiple of 128) by `blocks` blocks of K (a
/// multiple of four), both powers of two, in shared memory: `{d1: block,
/// d0: row}` to `{offset}`. Chunks of 128 rows by four blocks, those of the
/// same rows one after the other; in a chunk row m is at 16 * (m mod 32) +
/// 4 * (m / 32).
LinearLayout placeScales(unsigned rows, unsigned blocks);

/// The 64-bit descriptor of `tcgen05.cp.32x128b.warpx4` for a chunk of scales
/// that begins at byte 0.
uint64_t getScaleChunkDescriptor();

/// Columns, from the slot's first, where `tcgen05.cp` puts the chunk of row
/// block `rowBlock` (128 rows each) and chunk `chunk` along K, for scales of
/// `rows` rows: all row blocks of a chunk side by side.
unsigned getScaleColumn(unsigned rows, unsigned rowBlock, unsigned chunk);

/// The scales that the multiply of K step `step` uses: the chunk along K, and
/// the first byte of its words.
struct ScaleChoice {
  unsigned chunk, byte;
};
ScaleChoice getScaleChoice(const MmaAtom &atom, unsigned step);

/// The instruction descriptor of a multiply by `n` columns, whose scales begin
/// at byte `scaleByte` of their words (0 without scales). D is f32.
uint32_t getInstructionDescriptor(const MmaAtom &atom, unsigned n,
                                  OperandMajor lhs, OperandMajor rhs,
                                  unsigned scaleByte);

/// Cell of tensor memory, `lane << 16 | column` from the slot's first column,
/// of element (m, n) of batch `batch` of sums of `rows` by `columns`: row m of
/// each 128 is a lane; blocks of rows, then batches, follow in columns.
uint32_t getSumCell(unsigned rows, unsigned columns, unsigned batch, unsigned m,
                    unsigned n);

} // namespace tile

#endif // TILE_TARGET_TENSOROPERANDS_H
