//===- TargetInfo.h - What each NVIDIA target can do ------------*- C++ -*-===//
//
// One table maps a target's name to its capabilities, and one maps each
// capability to the lowest PTX version that spells it. Nothing else in the
// project compares target numbers: a pass asks for a capability by name.
//
// Suffixes: `a` is this chip only, `f` this chip and later members of its
// family, none is the portable subset. Block scaling, tcgen05 and the FP4
// conversions exist on `a` and `f` targets only.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TARGET_TARGETINFO_H
#define TILE_TARGET_TARGETINFO_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>

namespace tile {

/// Something a target has or has not. Keep in the order of the table in
/// TargetInfo.cpp.
enum class Capability : uint8_t {
  MmaBf16,         ///< mma.sync m16n8k16 bf16/f16, f32 accumulator
  MmaFp8,          ///< mma.sync m16n8k32 FP8, no kind
  MmaFp8FullSum,   ///< ... with sums that meet the numeric contract, and native
  MmaBlockScale,   ///< mma.sync kind::{mxf8f6f4,mxf4,mxf4nvf4}.block_scale
  Tcgen05,         ///< tcgen05.* with .block16/.block32 scales
  Tcgen05ScaleVec, ///< tcgen05.mma with .scale_vec::NX spellings
  CvtFp8,          ///< cvt e4m3x2/e5m2x2 both ways
  CvtFp4,          ///< cvt e2m1x2 <-> f32/f16x2
  CvtE8M0,         ///< cvt ue8m0x2 both ways
  CvtToBf16,       ///< cvt bf16x2 <- e2m1x2/e4m3x2/e5m2x2
  MulBf16x2,       ///< mul/add.bf16x2 (elsewhere fma.rn.bf16x2)
  CpAsync,         ///< cp.async
  CpAsyncIgnoreSource, ///< cp.async with a predicate that makes zeros
  Tma,                 ///< cp.async.bulk.tensor
  Ldmatrix,            ///< ldmatrix m8n8 b16
  LdmatrixB8,          ///< ldmatrix m16n16.b8 and b8x16.b4x16_p64
  Stmatrix,            ///< stmatrix m8n8
  MbarrierTx,          ///< mbarrier expect_tx, try_wait
  Wgmma,               ///< wgmma.mma_async
  Setmaxnreg,          ///< setmaxnreg
  ElectSync,           ///< elect.sync
  GridDepControl,      ///< griddepcontrol
};

/// Number of enumerators of `Capability`.
constexpr unsigned kNumCapabilities =
    static_cast<unsigned>(Capability::GridDepControl) + 1;

/// A PTX ISA version: 88 is `.version 8.8`.
using PtxVersion = unsigned;

/// One row of the target table.
struct TargetInfo {
  llvm::StringLiteral name;   ///< e.g. "sm_120f"
  llvm::StringLiteral family; ///< e.g. "sm_120": targets that share `f` code
  PtxVersion minPtxVersion;   ///< lowest `.version` that knows the target
  /// Bytes of shared memory that one block may use (opt-in limit).
  unsigned maxSharedBytes;
  uint64_t capabilities; ///< bit i: capability i

  bool has(Capability capability) const {
    return capabilities >> static_cast<unsigned>(capability) & 1;
  }
  /// Lowest `.version` for a kernel that uses `capability` here. Requires:
  /// `has(capability)`.
  PtxVersion ptxVersionFor(Capability capability) const;
};

/// Every known target, oldest first.
llvm::ArrayRef<TargetInfo> getTargets();

/// Returns the row of `name`, or an error that lists the known targets (and,
/// for an older chip, names sm_80 as the lowest).
llvm::Expected<const TargetInfo *> findTarget(llvm::StringRef name);

/// The spelling of a capability in docs, tests and messages: "mma-block-scale".
llvm::StringRef getCapabilityName(Capability capability);

/// Writes `sm_80, sm_86, …`, every known name.
std::string listTargets();

} // namespace tile

#endif // TILE_TARGET_TARGETINFO_H
