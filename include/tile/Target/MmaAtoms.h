//===- MmaAtoms.h - The table of tensor-core instructions -------*- C++ -*-===//
//
// Each tensor-core instruction is one entry: which formats it multiplies, which
// lane and register holds which element of A, B, C and the scales, where the
// operands live, who issues it, how its completion is seen, what it needs of a
// target, and how it is spelled. Choosing an instruction is a query on this
// table; supporting a new one is a new entry with its tests. No instruction is
// known anywhere else.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TARGET_MMAATOMS_H
#define TILE_TARGET_MMAATOMS_H

#include "tile/Formats/ElementFormat.h"
#include "tile/Layout/LinearLayout.h"
#include "tile/Target/TargetInfo.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <vector>

namespace tile {

/// Where an operand of an instruction lives.
enum class OperandSpace : uint8_t { Registers, SharedDescriptor, TensorMemory };

/// Who issues an instruction.
enum class MmaIssuer : uint8_t { Warp, Warpgroup, Thread };

/// How the result of an instruction becomes visible.
enum class MmaCompletion : uint8_t { InOrder, WgmmaGroup, MbarrierCommit };

/// How an instruction is emitted.
enum class MmaEmission : uint8_t {
  MmaSync,           ///< nvvm.mma.sync (f16, bf16)
  MmaSyncFp8,        ///< the LLVM intrinsic of plain FP8 mma.sync
  BlockScale,        ///< nvvm.mma.block_scale
  Tcgen05,           ///< nvvm.tcgen05.mma
  Tcgen05BlockScale, ///< nvvm.tcgen05.mma.block_scale
};

/// PTX `kind::` of a block-scaled instruction, or of any one that a thread
/// issues.
enum class BlockScaleKind : uint8_t {
  None,
  Mxf8f6f4,
  Mxf4,
  Mxf4nvf4,
  F16,   ///< tcgen05, f16 and bf16
  F8f6f4 ///< tcgen05, FP8 and FP4 without scales
};

/// The data of one instruction; see the banner. Layouts map
/// `{register, lane}` to the operand's tile, where `register` counts elements
/// (not 32-bit words) of the lane, lowest bits first in a word:
///   lhs      -> {d1: k, d0: m}
///   rhs      -> {d1: n, d0: k}
///   acc      -> {d1: n, d0: m}
///   lhsScale -> {d1: k / V, d0: m},  rhsScale -> {d1: n, d0: k / V}
/// Scale layouts are those of lane selectors (thread-id) 0 and byte selector 0;
/// lanes that do not supply a scale replicate one that is right.
///
/// Instructions of tensor memory (`issuer` is Thread) multiply 128 rows by any
/// multiple of 16 columns up to `n` = 256. Their layouts map
///   acc      {column: 8, lane: 7} -> {d1: n, d0: m}
///   lhsScale, rhsScale {byte: 2, column: 2, lane: 7} -> {d1: block, d0: row}
/// and those of the operands are `placeOperand`'s (TensorOperands.h), which
/// depend on the tile; `lhs` and `rhs` are empty.
struct MmaAtom {
  llvm::StringLiteral name; ///< e.g. "m16n8k64.mxf4nvf4.4x.e2m1.e2m1.ue4m3"
  unsigned m, n, k;
  ElementFormat lhsFormat, rhsFormat;
  /// Bits that one operand element takes in a register: 4, 8 or 16. FP4 in an
  /// 8-bit container (mxf8f6f4) takes 8, the code in bits 5..2.
  unsigned lhsContainerBits, rhsContainerBits;
  /// Scales; nullopt for an instruction without block scale.
  std::optional<ElementFormat> scaleFormat;
  unsigned blockSize;    ///< V; 0 without block scale
  unsigned scaleVecSize; ///< N of `.scale_vec::NX`; 0 without block scale
  BlockScaleKind kind;

  LinearLayout lhs, rhs, acc, lhsScale, rhsScale;

  OperandSpace lhsSpace, rhsSpace, accSpace, scaleSpace;
  MmaIssuer issuer;
  MmaCompletion completion;
  Capability capability;
  MmaEmission emission;

  bool isBlockScaled() const { return scaleFormat.has_value(); }
};

/// Every instruction.
llvm::ArrayRef<MmaAtom> getMmaAtoms();

/// Returns the entry called `name`, or null.
const MmaAtom *findMmaAtom(llvm::StringRef name);

/// What a multiply asks of the table. A format without scale: `lhsScale` or
/// `rhsScale` nullopt.
struct MmaQuery {
  ElementFormat lhs, rhs;
  std::optional<ElementFormat> lhsScale, rhsScale;
  unsigned blockSize = 0;
};

/// Returns the instruction that multiplies exactly these formats and scales on
/// `target`, or null. For f4E2M1FN with f8E8M0FNU scales over 16 values, which
/// no instruction has at the PTX versions that we emit, returns the one over 32
/// values: issued twice with alternate 16-groups masked it is exact.
/// Of the instructions that warps issue; see `selectTensorAtom`.
const MmaAtom *selectNativeAtom(const MmaQuery &query,
                                const TargetInfo &target);

/// Returns the instruction with tensor memory that multiplies exactly these
/// formats and scales on `target`, or null. bf16, f16 and FP8 without scales as
/// well; both operands have scales or none.
const MmaAtom *selectTensorAtom(const MmaQuery &query,
                                const TargetInfo &target);

/// Every block-scaled multiply (both operands scaled, legal by
/// `isLegalBlockScale`) that `selectNativeAtom` or `selectTensorAtom` answers
/// on `target`; empty where all of them expand.
std::vector<MmaQuery> nativeScaledFormats(const TargetInfo &target);

/// Returns the unscaled instruction for multiplicands of `format` (bf16 or f16;
/// FP8 by selectNativeAtom) on `target`; every target has both.
const MmaAtom *selectPlainAtom(ElementFormat format, const TargetInfo &target);

} // namespace tile

#endif // TILE_TARGET_MMAATOMS_H
