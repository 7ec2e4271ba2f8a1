//===- TargetInfoTest.cpp - The target table, row by row ------------------===//

#include "tile/Target/TargetInfo.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Triple.h"
#include "gtest/gtest.h"

#include <map>

using namespace tile;
using llvm::StringRef;

// The NVPTX back end alone; the macros of TargetSelect.h would need them all.
extern "C" {
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTargetMC();
}

namespace {

/// The names of the targets that have `capability`, blank separated.
std::string targetsWith(Capability capability) {
  std::vector<std::string> names;
  for (const TargetInfo &target : getTargets())
    if (target.has(capability))
      names.push_back(target.name.str());
  return llvm::join(names, " ");
}

const TargetInfo &target(StringRef name) {
  llvm::Expected<const TargetInfo *> found = findTarget(name);
  if (!found)
    llvm::report_fatal_error(found.takeError());
  return **found;
}

std::string errorOf(StringRef name) {
  llvm::Expected<const TargetInfo *> found = findTarget(name);
  if (found)
    return "found " + (*found)->name.str();
  return llvm::toString(found.takeError());
}

std::vector<Capability> allCapabilities() {
  std::vector<Capability> capabilities;
  for (unsigned i = 0; i < kNumCapabilities; ++i)
    capabilities.push_back(static_cast<Capability>(i));
  return capabilities;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

constexpr StringRef allNames =
    "sm_80, sm_86, sm_87, sm_88, sm_89, sm_90, sm_90a, sm_100, sm_100a, "
    "sm_100f, sm_103, sm_103a, sm_103f, sm_110, sm_110a, sm_110f, sm_120, "
    "sm_120a, sm_120f, sm_121, sm_121a, sm_121f";

TEST(TargetInfoTest, ListsEveryTargetOldestFirst) {
  EXPECT_EQ(listTargets(), allNames);
}

TEST(TargetInfoTest, FindsEveryTargetByName) {
  llvm::SmallVector<StringRef> names;
  allNames.split(names, ", ");
  ASSERT_EQ(names.size(), getTargets().size());
  for (StringRef name : names)
    EXPECT_EQ(target(name).name, name);
}

TEST(TargetInfoTest, AnUnknownNameListsTheKnownOnes) {
  EXPECT_EQ(errorOf("sm_12"),
            "unknown target 'sm_12'; known targets are " + allNames.str());
  for (StringRef name :
       {"", "sm_", "sm_80 ", "SM_80", "sm_80a", "sm_90f", "sm_120b", "sm_1200",
        "compute_80", "native", "sm_99999999999999999999"})
    EXPECT_EQ(errorOf(name), "unknown target '" + name.str() +
                                 "'; known targets are " + allNames.str());
}

TEST(TargetInfoTest, AnOlderChipHearsTheLowest) {
  for (StringRef name : {"sm_50", "sm_61", "sm_70", "sm_75"})
    EXPECT_EQ(errorOf(name), "unknown target '" + name.str() +
                                 "'; sm_80 is the lowest; known targets are " +
                                 allNames.str());
}

TEST(TargetInfoTest, FamiliesShareTheirFCode) {
  std::map<std::string, std::vector<std::string>> members;
  for (const TargetInfo &info : getTargets())
    if (info.name.ends_with("f"))
      members[info.family.str()].push_back(info.name.str());
  std::map<std::string, std::vector<std::string>> expected = {
      {"sm_100", {"sm_100f", "sm_103f"}},
      {"sm_110", {"sm_110f"}},
      {"sm_120", {"sm_120f", "sm_121f"}}};
  EXPECT_EQ(members, expected);
  for (const TargetInfo &info : getTargets())
    EXPECT_EQ(target(info.family).family, info.family) << info.name.str();
}

TEST(TargetInfoTest, LlvmKnowsEveryTarget) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *nvptx = llvm::TargetRegistry::lookupTarget(triple, error);
  ASSERT_NE(nvptx, nullptr) << error;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget(
      nvptx->createMCSubtargetInfo(triple, "sm_80", ""));
  for (const TargetInfo &info : getTargets())
    EXPECT_TRUE(subtarget->isCPUStringValid(info.name)) << info.name.str();
  EXPECT_FALSE(subtarget->isCPUStringValid("sm_12"));
}

//===----------------------------------------------------------------------===//
// Capabilities
//===----------------------------------------------------------------------===//

constexpr StringRef allTargets =
    "sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_90a sm_100 sm_100a sm_100f sm_103 "
    "sm_103a sm_103f sm_110 sm_110a sm_110f sm_120 sm_120a sm_120f sm_121 "
    "sm_121a sm_121f";
constexpr StringRef fromAda =
    "sm_89 sm_90 sm_90a sm_100 sm_100a sm_100f sm_103 sm_103a sm_103f sm_110 "
    "sm_110a sm_110f sm_120 sm_120a sm_120f sm_121 sm_121a sm_121f";
constexpr StringRef fromHopper =
    "sm_90 sm_90a sm_100 sm_100a sm_100f sm_103 sm_103a sm_103f sm_110 "
    "sm_110a sm_110f sm_120 sm_120a sm_120f sm_121 sm_121a sm_121f";
constexpr StringRef blackwellSuffixed =
    "sm_100a sm_100f sm_103a sm_103f sm_110a sm_110f sm_120a sm_120f sm_121a "
    "sm_121f";

TEST(TargetInfoTest, EveryPredicateHoldsExactlyWhereItShould) {
  const std::pair<Capability, StringRef> expected[] = {
      {Capability::MmaBf16, allTargets},
      {Capability::MmaFp8, fromAda},
      {Capability::MmaFp8FullSum,
       "sm_120 sm_120a sm_120f sm_121 sm_121a sm_121f"},
      {Capability::MmaBlockScale, "sm_120a sm_120f sm_121a sm_121f"},
      {Capability::Tcgen05, "sm_100a sm_100f sm_103a sm_103f sm_110a sm_110f"},
      {Capability::Tcgen05ScaleVec, "sm_100a sm_103a sm_110a"},
      {Capability::CvtFp8, fromAda},
      {Capability::CvtFp4, blackwellSuffixed},
      {Capability::CvtE8M0, blackwellSuffixed},
      {Capability::CvtToBf16, blackwellSuffixed},
      {Capability::MulBf16x2, fromHopper},
      {Capability::CpAsync, allTargets},
      {Capability::CpAsyncIgnoreSource, allTargets},
      {Capability::Tma, fromHopper},
      {Capability::Ldmatrix, allTargets},
      {Capability::LdmatrixB8, blackwellSuffixed},
      {Capability::Stmatrix, fromHopper},
      {Capability::MbarrierTx, fromHopper},
      {Capability::Wgmma, "sm_90a"},
      {Capability::Setmaxnreg,
       "sm_90a sm_100a sm_100f sm_103a sm_103f sm_110a sm_110f sm_120a sm_120f "
       "sm_121a sm_121f"},
      {Capability::ElectSync, fromHopper},
      {Capability::GridDepControl, fromHopper},
  };
  ASSERT_EQ(std::size(expected), kNumCapabilities);
  for (auto [capability, targets] : expected)
    EXPECT_EQ(targetsWith(capability), targets)
        << getCapabilityName(capability).str();
}

TEST(TargetInfoTest, TensorMemoryAndWarpBlockScaleNeverMeet) {
  for (const TargetInfo &info : getTargets())
    EXPECT_FALSE(info.has(Capability::Tcgen05) &&
                 info.has(Capability::MmaBlockScale))
        << info.name.str();
}

TEST(TargetInfoTest, CapabilityNamesAreDistinctKebabCase) {
  llvm::StringSet<> seen;
  for (Capability capability : allCapabilities()) {
    StringRef name = getCapabilityName(capability);
    EXPECT_TRUE(seen.insert(name).second) << name.str();
    EXPECT_FALSE(name.empty());
    EXPECT_TRUE(llvm::all_of(name, [](char c) {
      return llvm::isLower(c) || llvm::isDigit(c) || c == '-';
    })) << name.str();
  }
  EXPECT_EQ(getCapabilityName(Capability::MmaBlockScale), "mma-block-scale");
}

//===----------------------------------------------------------------------===//
// Limits and versions
//===----------------------------------------------------------------------===//

TEST(TargetInfoTest, SharedMemoryLimits) {
  std::map<unsigned, std::string> byLimit;
  for (const TargetInfo &info : getTargets())
    byLimit[info.maxSharedBytes] += info.name.str() + " ";
  std::map<unsigned, std::string> expected = {
      {101376, "sm_86 sm_88 sm_89 sm_120 sm_120a sm_120f sm_121 sm_121a "
               "sm_121f "},
      {166912, "sm_80 sm_87 "},
      {232448, "sm_90 sm_90a sm_100 sm_100a sm_100f sm_103 sm_103a sm_103f "
               "sm_110 sm_110a sm_110f "},
  };
  EXPECT_EQ(byLimit, expected);
}

TEST(TargetInfoTest, LowestPtxVersionOfEachTarget) {
  std::map<unsigned, std::string> byVersion;
  for (const TargetInfo &info : getTargets())
    byVersion[info.minPtxVersion] += info.name.str() + " ";
  std::map<unsigned, std::string> expected = {
      {70, "sm_80 "},
      {71, "sm_86 "},
      {74, "sm_87 "},
      {78, "sm_89 sm_90 "},
      {80, "sm_90a "},
      {86, "sm_100 sm_100a "},
      {87, "sm_120 sm_120a "},
      {88, "sm_100f sm_103 sm_103a sm_103f sm_120f sm_121 sm_121a sm_121f "},
      {90, "sm_88 sm_110 sm_110a sm_110f "},
  };
  EXPECT_EQ(byVersion, expected);
}

TEST(TargetInfoTest, LowestPtxVersionOfFeatures) {
  const struct {
    StringRef name;
    Capability capability;
    PtxVersion version;
  } expected[] = {
      // The target decides ...
      {"sm_80", Capability::MmaBf16, 70},
      {"sm_86", Capability::CpAsync, 71},
      {"sm_86", Capability::CpAsyncIgnoreSource, 75},
      {"sm_80", Capability::Ldmatrix, 70},
      {"sm_90", Capability::MulBf16x2, 78},
      {"sm_100", Capability::MmaFp8, 86},
      {"sm_120", Capability::MmaFp8FullSum, 87},
      {"sm_120f", Capability::MmaBlockScale, 88},
      {"sm_121a", Capability::MmaBlockScale, 88},
      {"sm_103a", Capability::Tcgen05ScaleVec, 88},
      {"sm_110f", Capability::Tcgen05, 90},
      // ... or the feature.
      {"sm_89", Capability::MmaFp8, 84},
      {"sm_90", Capability::MmaFp8, 84},
      {"sm_90a", Capability::MmaFp8, 84},
      {"sm_90", Capability::Tma, 80},
      {"sm_90", Capability::MbarrierTx, 80},
      {"sm_90", Capability::ElectSync, 80},
      {"sm_90", Capability::Stmatrix, 78},
      {"sm_90", Capability::GridDepControl, 78},
      {"sm_90a", Capability::Wgmma, 80},
      {"sm_120a", Capability::MmaBlockScale, 87},
      {"sm_100a", Capability::CvtFp4, 86},
      {"sm_100a", Capability::CvtE8M0, 86},
      {"sm_120a", Capability::CvtToBf16, 92},
      {"sm_100a", Capability::LdmatrixB8, 86},
      {"sm_100a", Capability::Tcgen05, 88},
      {"sm_100a", Capability::Tcgen05ScaleVec, 87},
      // One feature came to one target later.
      {"sm_89", Capability::CvtFp8, 81},
      {"sm_90", Capability::CvtFp8, 78},
      {"sm_90a", Capability::CvtFp8, 80},
  };
  for (const auto &row : expected)
    EXPECT_EQ(target(row.name).ptxVersionFor(row.capability), row.version)
        << row.name.str() << " " << getCapabilityName(row.capability).str();
}

TEST(TargetInfoTest, NoFeatureIsBelowItsTargetOrAboveWhatLlvmEmits) {
  for (const TargetInfo &info : getTargets())
    for (Capability capability : allCapabilities())
      if (info.has(capability)) {
        EXPECT_GE(info.ptxVersionFor(capability), info.minPtxVersion);
        // That one is assembly in the text, whose version is raised after.
        EXPECT_LE(info.ptxVersionFor(capability),
                  capability == Capability::CvtToBf16 ? 92u : 90u);
      }
}

} // namespace
