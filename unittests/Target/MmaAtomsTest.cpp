//===- MmaAtomsTest.cpp - Fragments lane by lane, selection case by case --===//
//
// The formulas below are those of the PTX ISA's fragment descriptions, written
// for one element at a time; nothing here uses the layout algebra but applying
// a layout to a point. Operands of tensor memory are TensorOperandsTest's.
//
//===----------------------------------------------------------------------===//

#include "tile/Target/MmaAtoms.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"

#include <functional>

using namespace tile;
using llvm::StringRef;

namespace {

using EF = ElementFormat;

const TargetInfo &target(StringRef name) {
  llvm::Expected<const TargetInfo *> found = findTarget(name);
  if (!found)
    llvm::report_fatal_error(found.takeError());
  return **found;
}

/// The entries that `issuer` issues.
std::vector<const MmaAtom *> atomsOf(MmaIssuer issuer) {
  std::vector<const MmaAtom *> atoms;
  for (const MmaAtom &atom : getMmaAtoms())
    if (atom.issuer == issuer)
      atoms.push_back(&atom);
  return atoms;
}

/// A row and a column of an operand.
using Position = std::pair<unsigned, unsigned>;

/// Checks that `layout` maps `{register: elements, lane: 32}` to a tile of
/// `rows` by `columns` as `formula(lane, element)` says.
void checkFragment(StringRef what, const LinearLayout &layout,
                   unsigned elements, unsigned rows, unsigned columns,
                   llvm::function_ref<Position(unsigned, unsigned)> formula) {
  SCOPED_TRACE(what.str());
  ASSERT_EQ(layout.getDomain(),
            (Space{{"register", llvm::Log2_32(elements)}, {"lane", 5}}));
  ASSERT_EQ(layout.getCodomain(), (Space{{"d1", llvm::Log2_32(columns)},
                                         {"d0", llvm::Log2_32(rows)}}));
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < elements; ++i) {
      uint32_t image = layout(lane * elements + i);
      Position found = {image / columns, image % columns};
      EXPECT_EQ(found, formula(lane, i))
          << "lane " << lane << ", element " << i;
    }
}

/// A and B: `k(t, e, r)` gives the K index of element `e` of register `r`.
struct OperandFormulas {
  unsigned k;
  unsigned perWord;
  std::function<unsigned(unsigned t, unsigned e, unsigned r)> lhsK, rhsK;
};

OperandFormulas operandFormulas(const MmaAtom &atom) {
  switch (atom.k) {
  case 16:
    return {
        16, 2,
        [](unsigned t, unsigned e, unsigned r) {
          return 2 * t + e + 8 * (r >> 1);
        },
        [](unsigned t, unsigned e, unsigned r) { return 2 * t + e + 8 * r; }};
  case 32:
    return {
        32, 4,
        [](unsigned t, unsigned e, unsigned r) {
          return 4 * t + e + 16 * (r >> 1);
        },
        [](unsigned t, unsigned e, unsigned r) { return 4 * t + e + 16 * r; }};
  default:
    return {
        64, 8,
        [](unsigned t, unsigned e, unsigned r) {
          return 8 * t + e + 32 * (r >> 1);
        },
        [](unsigned t, unsigned e, unsigned r) { return 8 * t + e + 32 * r; }};
  }
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

TEST(MmaAtomsTest, HasExactlyTheseInstructions) {
  std::vector<std::string> names;
  for (const MmaAtom &atom : getMmaAtoms())
    names.push_back(atom.name.str());
  std::vector<std::string> expected = {
      "m16n8k16.bf16.bf16",
      "m16n8k16.f16.f16",
      "m16n8k32.e4m3.e4m3",
      "m16n8k32.e4m3.e5m2",
      "m16n8k32.e5m2.e4m3",
      "m16n8k32.e5m2.e5m2",
      "m16n8k32.mxf8f6f4.1x.e4m3.e4m3.ue8m0",
      "m16n8k32.mxf8f6f4.1x.e4m3.e5m2.ue8m0",
      "m16n8k32.mxf8f6f4.1x.e4m3.e2m1.ue8m0",
      "m16n8k32.mxf8f6f4.1x.e5m2.e4m3.ue8m0",
      "m16n8k32.mxf8f6f4.1x.e5m2.e5m2.ue8m0",
      "m16n8k32.mxf8f6f4.1x.e5m2.e2m1.ue8m0",
      "m16n8k32.mxf8f6f4.1x.e2m1.e4m3.ue8m0",
      "m16n8k32.mxf8f6f4.1x.e2m1.e5m2.ue8m0",
      "m16n8k64.mxf4nvf4.2x.e2m1.e2m1.ue8m0",
      "m16n8k64.mxf4nvf4.4x.e2m1.e2m1.ue4m3",
      "m128n256k16.tcgen05.f16.bf16.bf16",
      "m128n256k16.tcgen05.f16.f16.f16",
      "m128n256k32.tcgen05.f8f6f4.e4m3.e4m3",
      "m128n256k32.tcgen05.f8f6f4.e4m3.e5m2",
      "m128n256k32.tcgen05.f8f6f4.e5m2.e4m3",
      "m128n256k32.tcgen05.f8f6f4.e5m2.e5m2",
      "m128n256k32.tcgen05.mxf8f6f4.block32.e4m3.e4m3.ue8m0",
      "m128n256k32.tcgen05.mxf8f6f4.block32.e4m3.e5m2.ue8m0",
      "m128n256k32.tcgen05.mxf8f6f4.block32.e4m3.e2m1.ue8m0",
      "m128n256k32.tcgen05.mxf8f6f4.block32.e5m2.e4m3.ue8m0",
      "m128n256k32.tcgen05.mxf8f6f4.block32.e5m2.e5m2.ue8m0",
      "m128n256k32.tcgen05.mxf8f6f4.block32.e5m2.e2m1.ue8m0",
      "m128n256k32.tcgen05.mxf8f6f4.block32.e2m1.e4m3.ue8m0",
      "m128n256k32.tcgen05.mxf8f6f4.block32.e2m1.e5m2.ue8m0",
      "m128n256k64.tcgen05.mxf4nvf4.block32.e2m1.e2m1.ue8m0",
      "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue8m0",
      "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3",
  };
  EXPECT_EQ(names, expected);
}

TEST(MmaAtomsTest, NamesSayWhatTheFieldsSay) {
  for (const MmaAtom &atom : getMmaAtoms()) {
    std::string name = "m" + std::to_string(atom.m) + "n" +
                       std::to_string(atom.n) + "k" + std::to_string(atom.k);
    bool isTensor = atom.issuer == MmaIssuer::Thread;
    if (isTensor)
      name += ".tcgen05";
    if (atom.kind == BlockScaleKind::Mxf8f6f4)
      name += ".mxf8f6f4";
    if (atom.kind == BlockScaleKind::Mxf4nvf4)
      name += ".mxf4nvf4";
    if (atom.kind == BlockScaleKind::F16)
      name += ".f16";
    if (atom.kind == BlockScaleKind::F8f6f4)
      name += ".f8f6f4";
    if (atom.isBlockScaled())
      name += isTensor ? ".block" + std::to_string(atom.blockSize)
                       : "." + std::to_string(atom.scaleVecSize) + "x";
    name += "." + getFormatInfo(atom.lhsFormat).ptxName.str();
    name += "." + getFormatInfo(atom.rhsFormat).ptxName.str();
    if (atom.scaleFormat == EF::F8E8M0FNU)
      name += ".ue8m0";
    if (atom.scaleFormat == EF::F8E4M3FN)
      name += ".ue4m3";
    EXPECT_EQ(atom.name, name);
    EXPECT_EQ(findMmaAtom(name), &atom);
  }
  EXPECT_EQ(findMmaAtom("m16n8k64"), nullptr);
  EXPECT_EQ(findMmaAtom(""), nullptr);
}

TEST(MmaAtomsTest, PropertiesFollowTheKind) {
  for (const MmaAtom *entry : atomsOf(MmaIssuer::Warp)) {
    const MmaAtom &atom = *entry;
    SCOPED_TRACE(atom.name.str());
    EXPECT_EQ(atom.m, 16u);
    EXPECT_EQ(atom.n, 8u);
    EXPECT_EQ(atom.lhsSpace, OperandSpace::Registers);
    EXPECT_EQ(atom.rhsSpace, OperandSpace::Registers);
    EXPECT_EQ(atom.accSpace, OperandSpace::Registers);
    EXPECT_EQ(atom.scaleSpace, OperandSpace::Registers);
    EXPECT_EQ(atom.completion, MmaCompletion::InOrder);
    // Both operands of an instruction fill 32 bytes of K.
    EXPECT_EQ(atom.k * atom.lhsContainerBits, 256u);
    EXPECT_EQ(atom.k * atom.rhsContainerBits, 256u);
    for (auto [format, container] :
         {std::pair(atom.lhsFormat, atom.lhsContainerBits),
          std::pair(atom.rhsFormat, atom.rhsContainerBits)})
      EXPECT_LE(getFormatInfo(format).bits, container);
    if (atom.isBlockScaled()) {
      EXPECT_EQ(atom.capability, Capability::MmaBlockScale);
      EXPECT_EQ(atom.emission, MmaEmission::BlockScale);
      EXPECT_NE(atom.kind, BlockScaleKind::None);
      EXPECT_EQ(atom.blockSize * atom.scaleVecSize, atom.k);
      EXPECT_TRUE(
          isLegalBlockScale(atom.lhsFormat, *atom.scaleFormat, atom.blockSize));
      EXPECT_TRUE(
          isLegalBlockScale(atom.rhsFormat, *atom.scaleFormat, atom.blockSize));
    } else {
      bool fp8 = atom.k == 32;
      EXPECT_EQ(atom.capability,
                fp8 ? Capability::MmaFp8 : Capability::MmaBf16);
      EXPECT_EQ(atom.emission,
                fp8 ? MmaEmission::MmaSyncFp8 : MmaEmission::MmaSync);
      EXPECT_EQ(atom.kind, BlockScaleKind::None);
      EXPECT_EQ(atom.blockSize, 0u);
      EXPECT_EQ(atom.scaleVecSize, 0u);
      EXPECT_EQ(atom.lhsScale, LinearLayout());
      EXPECT_EQ(atom.rhsScale, LinearLayout());
    }
  }
}

TEST(MmaAtomsTest, PropertiesOfTensorMemory) {
  for (const MmaAtom *entry : atomsOf(MmaIssuer::Thread)) {
    const MmaAtom &atom = *entry;
    SCOPED_TRACE(atom.name.str());
    EXPECT_EQ(atom.m, 128u);
    EXPECT_EQ(atom.n, 256u);
    EXPECT_EQ(atom.lhsSpace, OperandSpace::SharedDescriptor);
    EXPECT_EQ(atom.rhsSpace, OperandSpace::SharedDescriptor);
    EXPECT_EQ(atom.accSpace, OperandSpace::TensorMemory);
    EXPECT_EQ(atom.scaleSpace, OperandSpace::TensorMemory);
    EXPECT_EQ(atom.completion, MmaCompletion::MbarrierCommit);
    EXPECT_EQ(atom.capability, Capability::Tcgen05);
    EXPECT_EQ(atom.emission, atom.isBlockScaled()
                                 ? MmaEmission::Tcgen05BlockScale
                                 : MmaEmission::Tcgen05);
    EXPECT_EQ(atom.k * atom.lhsContainerBits, 256u);
    EXPECT_EQ(atom.k * atom.rhsContainerBits, 256u);
    EXPECT_EQ(atom.lhs, LinearLayout());
    EXPECT_EQ(atom.rhs, LinearLayout());

    ASSERT_EQ(atom.acc.getDomain(), (Space{{"column", 8}, {"lane", 7}}));
    ASSERT_EQ(atom.acc.getCodomain(), (Space{{"d1", 8}, {"d0", 7}}));
    for (unsigned m = 0; m < 128; ++m)
      for (unsigned n = 0; n < 256; ++n)
        ASSERT_EQ(atom.acc(m << 8 | n), m * 256 + n);

    if (!atom.isBlockScaled()) {
      EXPECT_EQ(atom.blockSize, 0u);
      EXPECT_EQ(atom.scaleVecSize, 0u);
      EXPECT_EQ(atom.lhsScale, LinearLayout());
      EXPECT_EQ(atom.rhsScale, LinearLayout());
      continue;
    }
    EXPECT_EQ(atom.blockSize * atom.scaleVecSize, atom.k);
    for (ElementFormat format : {atom.lhsFormat, atom.rhsFormat})
      EXPECT_TRUE(isLegalBlockScale(format, *atom.scaleFormat, atom.blockSize));
    for (const LinearLayout *scale : {&atom.lhsScale, &atom.rhsScale}) {
      ASSERT_EQ(scale->getDomain(),
                (Space{{"byte", 2}, {"column", 2}, {"lane", 7}}));
      ASSERT_EQ(scale->getCodomain(), (Space{{"d1", 2}, {"d0", 7}}));
      for (unsigned lane = 0; lane < 128; ++lane)
        for (unsigned column = 0; column < 4; ++column)
          for (unsigned byte = 0; byte < 4; ++byte)
            ASSERT_EQ((*scale)(lane << 4 | column << 2 | byte),
                      (lane % 32 + 32 * column) * 4 + byte);
    }
  }
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

TEST(MmaAtomsTest, LhsFragmentOfEveryInstruction) {
  for (const MmaAtom *entry : atomsOf(MmaIssuer::Warp)) {
    const MmaAtom &atom = *entry;
    OperandFormulas f = operandFormulas(atom);
    ASSERT_EQ(f.k, atom.k);
    checkFragment(atom.name, atom.lhs, 4 * f.perWord, 16, f.k,
                  [&](unsigned lane, unsigned i) -> Position {
                    unsigned g = lane >> 2, t = lane & 3;
                    unsigned r = i / f.perWord, e = i % f.perWord;
                    return {g + 8 * (r & 1), f.lhsK(t, e, r)};
                  });
  }
}

TEST(MmaAtomsTest, RhsFragmentOfEveryInstruction) {
  for (const MmaAtom *entry : atomsOf(MmaIssuer::Warp)) {
    const MmaAtom &atom = *entry;
    OperandFormulas f = operandFormulas(atom);
    checkFragment(atom.name, atom.rhs, 2 * f.perWord, f.k, 8,
                  [&](unsigned lane, unsigned i) -> Position {
                    unsigned g = lane >> 2, t = lane & 3;
                    unsigned r = i / f.perWord, e = i % f.perWord;
                    return {f.rhsK(t, e, r), g};
                  });
  }
}

TEST(MmaAtomsTest, AccFragmentOfEveryInstruction) {
  for (const MmaAtom *atom : atomsOf(MmaIssuer::Warp))
    checkFragment(atom->name, atom->acc, 4, 16, 8,
                  [&](unsigned lane, unsigned i) -> Position {
                    unsigned g = lane >> 2, t = lane & 3;
                    return {g + 8 * (i >> 1), 2 * t + (i & 1)};
                  });
}

TEST(MmaAtomsTest, EveryElementIsHeldOnce) {
  for (const MmaAtom *atom : atomsOf(MmaIssuer::Warp))
    for (const LinearLayout *layout : {&atom->lhs, &atom->rhs, &atom->acc}) {
      EXPECT_TRUE(layout->isSurjective()) << atom->name.str();
      EXPECT_TRUE(layout->isInjective()) << atom->name.str();
    }
}

TEST(MmaAtomsTest, ScalesComeFromTheLanesThatTheHardwareReads) {
  for (const MmaAtom *entry : atomsOf(MmaIssuer::Warp)) {
    const MmaAtom &atom = *entry;
    if (!atom.isBlockScaled())
      continue;
    SCOPED_TRACE(atom.name.str());
    unsigned groups = atom.k / atom.blockSize;
    ASSERT_EQ(atom.lhsScale.getDomain(),
              (Space{{"register", llvm::Log2_32(groups)}, {"lane", 5}}));
    ASSERT_EQ(atom.lhsScale.getCodomain(),
              (Space{{"d1", llvm::Log2_32(groups)}, {"d0", 4}}));
    ASSERT_EQ(atom.rhsScale.getDomain(), atom.lhsScale.getDomain());
    ASSERT_EQ(atom.rhsScale.getCodomain(),
              (Space{{"d1", 3}, {"d0", llvm::Log2_32(groups)}}));
    for (unsigned j = 0; j < groups; ++j) {
      for (unsigned m = 0; m < 16; ++m) {
        unsigned lane = 4 * (m & 7) + (m >> 3); // thread-id 0
        EXPECT_EQ(atom.lhsScale(lane * groups + j), m * groups + j);
      }
      for (unsigned n = 0; n < 8; ++n) {
        unsigned lane = 4 * n; // thread-id 0
        EXPECT_EQ(atom.rhsScale(lane * groups + j), j * 8 + n);
      }
    }
  }
}

TEST(MmaAtomsTest, OtherLanesReplicateARightScale) {
  for (const MmaAtom *entry : atomsOf(MmaIssuer::Warp)) {
    const MmaAtom &atom = *entry;
    if (!atom.isBlockScaled())
      continue;
    SCOPED_TRACE(atom.name.str());
    unsigned groups = atom.k / atom.blockSize;
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned j = 0; j < groups; ++j) {
        unsigned g = lane >> 2;
        EXPECT_EQ(atom.lhsScale(lane * groups + j),
                  (g + 8 * (lane & 1)) * groups + j);
        EXPECT_EQ(atom.rhsScale(lane * groups + j), j * 8 + g);
      }
  }
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

std::string selected(MmaQuery query, StringRef targetName) {
  const MmaAtom *atom = selectNativeAtom(query, target(targetName));
  return atom ? atom->name.str() : "none";
}

std::string selectedTensor(MmaQuery query, StringRef targetName) {
  const MmaAtom *atom = selectTensorAtom(query, target(targetName));
  return atom ? atom->name.str() : "none";
}

MmaQuery scaled(EF lhs, EF rhs, EF scale, unsigned blockSize) {
  return {lhs, rhs, scale, scale, blockSize};
}

MmaQuery unscaled(EF lhs, EF rhs) {
  return {lhs, rhs, std::nullopt, std::nullopt, 0};
}

/// Calls `body` for each target and whether it has warp-level block scale, and
/// multiplies of tensor memory.
void forEachTarget(
    llvm::function_ref<void(StringRef name, bool blockScale, bool tensorMemory)>
        body) {
  for (const TargetInfo &info : getTargets()) {
    StringRef name = info.name;
    body(name,
         llvm::is_contained<StringRef>(
             {"sm_120a", "sm_120f", "sm_121a", "sm_121f"}, name),
         llvm::is_contained<StringRef>(
             {"sm_100a", "sm_100f", "sm_103a", "sm_103f", "sm_110a", "sm_110f"},
             name));
  }
}

TEST(MmaSelectionTest, ScaledPairsOnEveryTarget) {
  const std::pair<MmaQuery, StringRef> expected[] = {
      {scaled(EF::F4E2M1FN, EF::F4E2M1FN, EF::F8E4M3FN, 16),
       "m16n8k64.mxf4nvf4.4x.e2m1.e2m1.ue4m3"},
      {scaled(EF::F4E2M1FN, EF::F4E2M1FN, EF::F8E8M0FNU, 32),
       "m16n8k64.mxf4nvf4.2x.e2m1.e2m1.ue8m0"},
      // Issued twice.
      {scaled(EF::F4E2M1FN, EF::F4E2M1FN, EF::F8E8M0FNU, 16),
       "m16n8k64.mxf4nvf4.2x.e2m1.e2m1.ue8m0"},
      {scaled(EF::F8E4M3FN, EF::F8E4M3FN, EF::F8E8M0FNU, 32),
       "m16n8k32.mxf8f6f4.1x.e4m3.e4m3.ue8m0"},
      {scaled(EF::F8E4M3FN, EF::F8E5M2, EF::F8E8M0FNU, 32),
       "m16n8k32.mxf8f6f4.1x.e4m3.e5m2.ue8m0"},
      {scaled(EF::F8E5M2, EF::F8E4M3FN, EF::F8E8M0FNU, 32),
       "m16n8k32.mxf8f6f4.1x.e5m2.e4m3.ue8m0"},
      {scaled(EF::F8E5M2, EF::F8E5M2, EF::F8E8M0FNU, 32),
       "m16n8k32.mxf8f6f4.1x.e5m2.e5m2.ue8m0"},
      {scaled(EF::F8E4M3FN, EF::F4E2M1FN, EF::F8E8M0FNU, 32),
       "m16n8k32.mxf8f6f4.1x.e4m3.e2m1.ue8m0"},
      {scaled(EF::F8E5M2, EF::F4E2M1FN, EF::F8E8M0FNU, 32),
       "m16n8k32.mxf8f6f4.1x.e5m2.e2m1.ue8m0"},
      {scaled(EF::F4E2M1FN, EF::F8E4M3FN, EF::F8E8M0FNU, 32),
       "m16n8k32.mxf8f6f4.1x.e2m1.e4m3.ue8m0"},
      {scaled(EF::F4E2M1FN, EF::F8E5M2, EF::F8E8M0FNU, 32),
       "m16n8k32.mxf8f6f4.1x.e2m1.e5m2.ue8m0"},
  };
  forEachTarget([&](StringRef name, bool blockScale, bool) {
    for (const auto &[query, atom] : expected)
      EXPECT_EQ(selected(query, name), blockScale ? atom : "none")
          << name.str() << " " << atom.str();
  });
}

TEST(MmaSelectionTest, TensorMemoryOnEveryTarget) {
  const std::pair<MmaQuery, StringRef> expected[] = {
      {scaled(EF::F4E2M1FN, EF::F4E2M1FN, EF::F8E4M3FN, 16),
       "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"},
      {scaled(EF::F4E2M1FN, EF::F4E2M1FN, EF::F8E8M0FNU, 32),
       "m128n256k64.tcgen05.mxf4nvf4.block32.e2m1.e2m1.ue8m0"},
      // Issued once, unlike the warp-level one.
      {scaled(EF::F4E2M1FN, EF::F4E2M1FN, EF::F8E8M0FNU, 16),
       "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue8m0"},
      {scaled(EF::F8E4M3FN, EF::F8E4M3FN, EF::F8E8M0FNU, 32),
       "m128n256k32.tcgen05.mxf8f6f4.block32.e4m3.e4m3.ue8m0"},
      {scaled(EF::F8E4M3FN, EF::F8E5M2, EF::F8E8M0FNU, 32),
       "m128n256k32.tcgen05.mxf8f6f4.block32.e4m3.e5m2.ue8m0"},
      {scaled(EF::F8E5M2, EF::F8E4M3FN, EF::F8E8M0FNU, 32),
       "m128n256k32.tcgen05.mxf8f6f4.block32.e5m2.e4m3.ue8m0"},
      {scaled(EF::F8E5M2, EF::F8E5M2, EF::F8E8M0FNU, 32),
       "m128n256k32.tcgen05.mxf8f6f4.block32.e5m2.e5m2.ue8m0"},
      {scaled(EF::F8E4M3FN, EF::F4E2M1FN, EF::F8E8M0FNU, 32),
       "m128n256k32.tcgen05.mxf8f6f4.block32.e4m3.e2m1.ue8m0"},
      {scaled(EF::F8E5M2, EF::F4E2M1FN, EF::F8E8M0FNU, 32),
       "m128n256k32.tcgen05.mxf8f6f4.block32.e5m2.e2m1.ue8m0"},
      {scaled(EF::F4E2M1FN, EF::F8E4M3FN, EF::F8E8M0FNU, 32),
       "m128n256k32.tcgen05.mxf8f6f4.block32.e2m1.e4m3.ue8m0"},
      {scaled(EF::F4E2M1FN, EF::F8E5M2, EF::F8E8M0FNU, 32),
       "m128n256k32.tcgen05.mxf8f6f4.block32.e2m1.e5m2.ue8m0"},
      {unscaled(EF::BF16, EF::BF16), "m128n256k16.tcgen05.f16.bf16.bf16"},
      {unscaled(EF::F16, EF::F16), "m128n256k16.tcgen05.f16.f16.f16"},
      {unscaled(EF::F8E4M3FN, EF::F8E4M3FN),
       "m128n256k32.tcgen05.f8f6f4.e4m3.e4m3"},
      {unscaled(EF::F8E4M3FN, EF::F8E5M2),
       "m128n256k32.tcgen05.f8f6f4.e4m3.e5m2"},
      {unscaled(EF::F8E5M2, EF::F8E4M3FN),
       "m128n256k32.tcgen05.f8f6f4.e5m2.e4m3"},
      {unscaled(EF::F8E5M2, EF::F8E5M2),
       "m128n256k32.tcgen05.f8f6f4.e5m2.e5m2"},
  };
  forEachTarget([&](StringRef name, bool, bool tensorMemory) {
    for (const auto &[query, atom] : expected)
      EXPECT_EQ(selectedTensor(query, name), tensorMemory ? atom : "none")
          << name.str() << " " << atom.str();
  });
}

TEST(MmaSelectionTest, WhatNoInstructionMultipliesIsRefusedEverywhere) {
  const MmaQuery refused[] = {
      // Block sizes and scale formats that do not exist.
      scaled(EF::F4E2M1FN, EF::F4E2M1FN, EF::F8E4M3FN, 32),
      scaled(EF::F4E2M1FN, EF::F4E2M1FN, EF::F8E8M0FNU, 64),
      scaled(EF::F4E2M1FN, EF::F4E2M1FN, EF::F8E8M0FNU, 0),
      scaled(EF::F8E4M3FN, EF::F8E4M3FN, EF::F8E8M0FNU, 16),
      scaled(EF::F8E4M3FN, EF::F4E2M1FN, EF::F8E8M0FNU, 16),
      scaled(EF::F8E4M3FN, EF::F8E4M3FN, EF::F8E4M3FN, 16),
      scaled(EF::F8E4M3FN, EF::F8E4M3FN, EF::F8E4M3FN, 32),
      scaled(EF::F4E2M1FN, EF::F4E2M1FN, EF::BF16, 16),
      // Scales on one side only, or of two formats.
      {EF::BF16, EF::F4E2M1FN, std::nullopt, EF::F8E4M3FN, 16},
      {EF::F4E2M1FN, EF::F16, EF::F8E4M3FN, std::nullopt, 16},
      {EF::F8E4M3FN, EF::F8E4M3FN, EF::F8E8M0FNU, std::nullopt, 32},
      {EF::F4E2M1FN, EF::F4E2M1FN, EF::F8E4M3FN, EF::F8E8M0FNU, 16},
      // Scaled 16-bit operands, mixed 16-bit operands, unscaled FP4, f32.
      scaled(EF::BF16, EF::BF16, EF::F8E8M0FNU, 32),
      unscaled(EF::BF16, EF::F16),
      unscaled(EF::F4E2M1FN, EF::F4E2M1FN),
      unscaled(EF::F8E4M3FN, EF::F4E2M1FN),
      unscaled(EF::F32, EF::F32),
      unscaled(EF::F8E8M0FNU, EF::F8E8M0FNU),
  };
  forEachTarget([&](StringRef name, bool, bool) {
    for (const auto &[i, query] : llvm::enumerate(refused)) {
      EXPECT_EQ(selected(query, name), "none") << name.str() << ", query " << i;
      EXPECT_EQ(selectedTensor(query, name), "none")
          << name.str() << ", query " << i;
    }
  });
}

TEST(MmaSelectionTest, PlainFp8OnlyWhereItsSumsMeetTheContract) {
  for (const TargetInfo &info : getTargets()) {
    bool exact = StringRef(info.name).starts_with("sm_12");
    for (auto [lhs, rhs, atom] :
         {std::tuple(EF::F8E4M3FN, EF::F8E4M3FN, "m16n8k32.e4m3.e4m3"),
          std::tuple(EF::F8E4M3FN, EF::F8E5M2, "m16n8k32.e4m3.e5m2"),
          std::tuple(EF::F8E5M2, EF::F8E4M3FN, "m16n8k32.e5m2.e4m3"),
          std::tuple(EF::F8E5M2, EF::F8E5M2, "m16n8k32.e5m2.e5m2")})
      EXPECT_EQ(selected(unscaled(lhs, rhs), info.name), exact ? atom : "none")
          << info.name.str();
  }
}

TEST(MmaSelectionTest, PlainSixteenBitMultipliesAreEverywhere) {
  for (const TargetInfo &info : getTargets()) {
    const MmaAtom *bf16 = selectPlainAtom(EF::BF16, info);
    const MmaAtom *f16 = selectPlainAtom(EF::F16, info);
    ASSERT_NE(bf16, nullptr) << info.name.str();
    ASSERT_NE(f16, nullptr) << info.name.str();
    EXPECT_EQ(bf16->name, "m16n8k16.bf16.bf16");
    EXPECT_EQ(f16->name, "m16n8k16.f16.f16");
    EXPECT_EQ(selectNativeAtom(unscaled(EF::BF16, EF::BF16), info), bf16);
    EXPECT_EQ(selectNativeAtom(unscaled(EF::F16, EF::F16), info), f16);
    for (EF format :
         {EF::F4E2M1FN, EF::F8E4M3FN, EF::F8E5M2, EF::F8E8M0FNU, EF::F32})
      EXPECT_EQ(selectPlainAtom(format, info), nullptr) << info.name.str();
  }
}

TEST(MmaSelectionTest, NativeScaledFormatsOfATarget) {
  forEachTarget([&](StringRef name, bool blockScale, bool tensorMemory) {
    bool isNative = blockScale || tensorMemory;
    std::vector<MmaQuery> natives = nativeScaledFormats(target(name));
    EXPECT_EQ(natives.size(), isNative ? 11u : 0u) << name.str();
    auto has = [&](EF lhs, EF rhs, EF scale, unsigned blockSize) {
      return llvm::any_of(natives, [&](const MmaQuery &query) {
        return query.lhs == lhs && query.rhs == rhs &&
               query.lhsScale == scale && query.rhsScale == scale &&
               query.blockSize == blockSize;
      });
    };
    EXPECT_EQ(has(EF::F4E2M1FN, EF::F4E2M1FN, EF::F8E4M3FN, 16), isNative);
    EXPECT_EQ(has(EF::F4E2M1FN, EF::F4E2M1FN, EF::F8E8M0FNU, 32), isNative);
    EXPECT_EQ(has(EF::F8E4M3FN, EF::F8E4M3FN, EF::F8E8M0FNU, 32), isNative);
    EXPECT_EQ(has(EF::F8E4M3FN, EF::F4E2M1FN, EF::F8E8M0FNU, 32), isNative);
  });
}

TEST(MmaSelectionTest, OneQueryHasOneAnswer) {
  llvm::ArrayRef<MmaAtom> atoms = getMmaAtoms();
  for (const MmaAtom &a : atoms)
    for (const MmaAtom &b : atoms)
      EXPECT_FALSE(&a != &b && a.issuer == b.issuer &&
                   a.lhsFormat == b.lhsFormat && a.rhsFormat == b.rhsFormat &&
                   a.scaleFormat == b.scaleFormat && a.blockSize == b.blockSize)
          << a.name.str() << " and " << b.name.str();
}

} // namespace
