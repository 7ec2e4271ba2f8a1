//===- TargetInfo.cpp - What each NVIDIA target can do --------------------===//
//
// The two tables. Measured with ptxas 13.0 and 13.5, which accept the same at
// the PTX versions that we emit; test/Target/support-matrix.test measures
// again.
//
//===----------------------------------------------------------------------===//

#include "tile/Target/TargetInfo.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cassert>
#include <initializer_list>

using namespace tile;

//===----------------------------------------------------------------------===//
// Capabilities
//===----------------------------------------------------------------------===//

namespace {

/// One row of the feature table.
struct CapabilityInfo {
  Capability capability;
  llvm::StringLiteral name;
  /// Lowest `.version` that spells the feature on targets that have it; the
  /// target's own minimum may be higher.
  PtxVersion minPtxVersion;
};

/// Where a feature arrived on one target later than on the others.
struct PtxVersionException {
  Capability capability;
  llvm::StringLiteral target;
  PtxVersion minPtxVersion;
};

} // namespace

static constexpr CapabilityInfo capabilityTable[] = {
    // clang-format off
    {Capability::MmaBf16,         {"mma-bf16"},          70},
    {Capability::MmaFp8,          {"mma-fp8"},           84},
    {Capability::MmaFp8FullSum,   {"mma-fp8-full-sum"},  84},
    {Capability::MmaBlockScale,   {"mma-block-scale"},   87},
    {Capability::Tcgen05,         {"tcgen05"},           88},
    {Capability::Tcgen05ScaleVec, {"tcgen05-scale-vec"}, 87},
    {Capability::CvtFp8,          {"cvt-fp8"},           78},
    {Capability::CvtFp4,          {"cvt-fp4"},           86},
    {Capability::CvtE8M0,         {"cvt-e8m0"},          86},
    {Capability::CvtToBf16,       {"cvt-to-bf16"},       92},
    {Capability::MulBf16x2,       {"mul-bf16x2"},        78},
    {Capability::CpAsync,         {"cp-async"},          70},
    {Capability::CpAsyncIgnoreSource, {"cp-async-ignore-source"}, 75},
    {Capability::Tma,             {"tma"},               80},
    {Capability::Ldmatrix,        {"ldmatrix"},          65},
    {Capability::LdmatrixB8,      {"ldmatrix-b8"},       86},
    {Capability::Stmatrix,        {"stmatrix"},          78},
    {Capability::MbarrierTx,      {"mbarrier-tx"},       80},
    {Capability::Wgmma,           {"wgmma"},             80},
    {Capability::Setmaxnreg,      {"setmaxnreg"},        80},
    {Capability::ElectSync,       {"elect-sync"},        80},
    {Capability::GridDepControl,  {"griddepcontrol"},    78},
    // clang-format on
};

static constexpr PtxVersionException ptxVersionExceptions[] = {
    {Capability::CvtFp8, {"sm_89"}, 81},
};

/// A set of capabilities as `TargetInfo` stores it.
static constexpr uint64_t
setOf(std::initializer_list<Capability> capabilities) {
  uint64_t bits = 0;
  for (Capability capability : capabilities)
    bits |= uint64_t(1) << static_cast<unsigned>(capability);
  return bits;
}

// Every set but the first adds to another one. The two Blackwell families share
// what their suffixes unlock (`familyCommon`) and nothing else: tensor memory
// belongs to sm_100, sm_103 and sm_110, the warp-level block scale to sm_120
// and sm_121.
static constexpr uint64_t ampere =
    setOf({Capability::MmaBf16, Capability::CpAsync,
           Capability::CpAsyncIgnoreSource, Capability::Ldmatrix});

// FP8 `mma.sync` keeps 13 fraction bits of a sum here, so no MmaFp8FullSum.
static constexpr uint64_t ada =
    ampere | setOf({Capability::MmaFp8, Capability::CvtFp8});

// From here on except sm_120 and sm_121, ptxas emulates FP8 `mma.sync` by f16
// multiplies with a separate addition of the accumulator.
static constexpr uint64_t hopper =
    ada | setOf({Capability::MulBf16x2, Capability::Tma, Capability::Stmatrix,
                 Capability::MbarrierTx, Capability::ElectSync,
                 Capability::GridDepControl});
static constexpr uint64_t hopperArch =
    hopper | setOf({Capability::Wgmma, Capability::Setmaxnreg});

static constexpr uint64_t familyCommon =
    setOf({Capability::CvtFp4, Capability::CvtE8M0, Capability::CvtToBf16,
           Capability::LdmatrixB8, Capability::Setmaxnreg});

static constexpr uint64_t tensorMemory = hopper;
static constexpr uint64_t tensorMemoryFamily =
    tensorMemory | familyCommon | setOf({Capability::Tcgen05});
static constexpr uint64_t tensorMemoryArch =
    tensorMemoryFamily | setOf({Capability::Tcgen05ScaleVec});

static constexpr uint64_t warpScale =
    hopper | setOf({Capability::MmaFp8FullSum});
static constexpr uint64_t warpScaleFamily =
    warpScale | familyCommon | setOf({Capability::MmaBlockScale});

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

// Opt-in limits of dynamic shared memory per block: an SM's shared memory less
// 1 KiB that the driver reserves for each block.
static constexpr unsigned shared99K = 99 * 1024;
static constexpr unsigned shared163K = 163 * 1024;
static constexpr unsigned shared227K = 227 * 1024;

static constexpr TargetInfo targetTable[] = {
    // clang-format off
    {{"sm_80"},   {"sm_80"},  70, shared163K, ampere},
    {{"sm_86"},   {"sm_86"},  71, shared99K,  ampere},
    {{"sm_87"},   {"sm_87"},  74, shared163K, ampere},
    // ptxas 13.0 takes 7.4 for sm_88; LLVM and later ptxas want 9.0.
    {{"sm_88"},   {"sm_88"},  90, shared99K,  ampere},
    {{"sm_89"},   {"sm_89"},  78, shared99K,  ada},
    {{"sm_90"},   {"sm_90"},  78, shared227K, hopper},
    {{"sm_90a"},  {"sm_90"},  80, shared227K, hopperArch},
    {{"sm_100"},  {"sm_100"}, 86, shared227K, tensorMemory},
    {{"sm_100a"}, {"sm_100"}, 86, shared227K, tensorMemoryArch},
    {{"sm_100f"}, {"sm_100"}, 88, shared227K, tensorMemoryFamily},
    {{"sm_103"},  {"sm_100"}, 88, shared227K, tensorMemory},
    {{"sm_103a"}, {"sm_100"}, 88, shared227K, tensorMemoryArch},
    {{"sm_103f"}, {"sm_100"}, 88, shared227K, tensorMemoryFamily},
    {{"sm_110"},  {"sm_110"}, 90, shared227K, tensorMemory},
    {{"sm_110a"}, {"sm_110"}, 90, shared227K, tensorMemoryArch},
    {{"sm_110f"}, {"sm_110"}, 90, shared227K, tensorMemoryFamily},
    {{"sm_120"},  {"sm_120"}, 87, shared99K,  warpScale},
    {{"sm_120a"}, {"sm_120"}, 87, shared99K,  warpScaleFamily},
    {{"sm_120f"}, {"sm_120"}, 88, shared99K,  warpScaleFamily},
    {{"sm_121"},  {"sm_120"}, 88, shared99K,  warpScale},
    {{"sm_121a"}, {"sm_120"}, 88, shared99K,  warpScaleFamily},
    {{"sm_121f"}, {"sm_120"}, 88, shared99K,  warpScaleFamily},
    // clang-format on
};

/// Chips that exist and are too old: they get their own error.
static constexpr llvm::StringLiteral olderTargets[] = {
    {"sm_20"}, {"sm_21"}, {"sm_30"}, {"sm_32"}, {"sm_35"},
    {"sm_37"}, {"sm_50"}, {"sm_52"}, {"sm_53"}, {"sm_60"},
    {"sm_61"}, {"sm_62"}, {"sm_70"}, {"sm_72"}, {"sm_75"},
};

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

static const CapabilityInfo &infoOf(Capability capability) {
  static_assert(std::size(capabilityTable) == kNumCapabilities,
                "one row per capability");
  const CapabilityInfo &info =
      capabilityTable[static_cast<unsigned>(capability)];
  assert(info.capability == capability && "table is not in enum order");
  return info;
}

PtxVersion TargetInfo::ptxVersionFor(Capability capability) const {
  assert(has(capability) && "the target lacks this capability");
  PtxVersion version = infoOf(capability).minPtxVersion;
  for (const PtxVersionException &exception : ptxVersionExceptions)
    if (exception.capability == capability && exception.target == name)
      version = exception.minPtxVersion;
  return std::max(minPtxVersion, version);
}

llvm::ArrayRef<TargetInfo> tile::getTargets() { return targetTable; }

llvm::Expected<const TargetInfo *> tile::findTarget(llvm::StringRef name) {
  for (const TargetInfo &target : targetTable)
    if (target.name == name)
      return &target;
  std::string message = "unknown target '" + name.str() + "'; ";
  if (llvm::is_contained(olderTargets, name))
    message += "sm_80 is the lowest; ";
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 message + "known targets are " +
                                     listTargets());
}

llvm::StringRef tile::getCapabilityName(Capability capability) {
  return infoOf(capability).name;
}

std::string tile::listTargets() {
  return llvm::join(
      llvm::map_range(targetTable,
                      [](const TargetInfo &target) { return target.name; }),
      ", ");
}
