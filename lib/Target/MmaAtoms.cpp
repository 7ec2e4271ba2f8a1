//===- MmaAtoms.cpp - The table of tensor-core instructions ---------------===//
//
// Fragment layouts come from one rule. Every dense warp-level multiply,
// whatever its format, reads 32 bytes of K per row of A and per column of B,
// and a lane's register is 4 consecutive bytes of such a row (PTX ISA,
// "Warp-level matrix instructions: Matrix Fragments for mma"). With g = lane /
// 4 and t = lane % 4:
//
//   A  register r: row m = g + 8 * (r & 1), K bytes 16 * (r >> 1) + 4t … + 3
//   B  register r: column n = g,            K bytes 16 * r        + 4t … + 3
//   C  register i: row m = g + 8 * (i >> 1), column n = 2t + (i & 1)
//
// What differs between formats is how many elements a word holds.
//
//===----------------------------------------------------------------------===//

#include "tile/Target/MmaAtoms.h"

#include "llvm/Support/MathExtras.h"

#include <cassert>
#include <vector>

using namespace tile;

//===----------------------------------------------------------------------===//
// Fragment layouts
//===----------------------------------------------------------------------===//

/// The tile of all entries here; K follows from the container.
static constexpr unsigned atomM = 16, atomN = 8;
static constexpr unsigned rowBits = 32 * 8;
static constexpr unsigned wordBits = 32;

namespace {

/// Collects the columns of a layout from `{register, lane}` to a matrix of
/// `rows` by `columns`, lowest domain bit first.
class FragmentBuilder {
public:
  FragmentBuilder(unsigned rows, unsigned columns)
      : rowLog2(llvm::Log2_32(rows)), columnLog2(llvm::Log2_32(columns)) {}

  /// Each of these appends one domain bit.
  FragmentBuilder &row(unsigned row) { return add(row << columnLog2); }
  FragmentBuilder &column(unsigned column) { return add(column); }
  FragmentBuilder &replica() { return add(0); }

  /// What was added so far are the register bits; lane bits follow.
  FragmentBuilder &lanes() {
    registerLog2 = columns.size();
    return *this;
  }

  LinearLayout build() const {
    assert(columns.size() == registerLog2 + 5 && "a warp has 32 lanes");
    return LinearLayout({{"register", registerLog2}, {"lane", 5}},
                        {{"d1", columnLog2}, {"d0", rowLog2}}, columns);
  }

private:
  FragmentBuilder &add(uint32_t image) {
    columns.push_back(image);
    return *this;
  }

  unsigned rowLog2, columnLog2, registerLog2 = 0;
  llvm::SmallVector<uint32_t> columns;
};

} // namespace

static LinearLayout lhsFragment(unsigned containerBits) {
  unsigned k = rowBits / containerBits, perWord = wordBits / containerBits;
  FragmentBuilder fragment(atomM, k);
  for (unsigned e = 1; e < perWord; e *= 2)
    fragment.column(e);
  fragment.row(8).column(k / 2).lanes();
  fragment.column(perWord).column(2 * perWord);
  return fragment.row(1).row(2).row(4).build();
}

static LinearLayout rhsFragment(unsigned containerBits) {
  unsigned k = rowBits / containerBits, perWord = wordBits / containerBits;
  FragmentBuilder fragment(k, atomN);
  for (unsigned e = 1; e < perWord; e *= 2)
    fragment.row(e);
  fragment.row(k / 2).lanes();
  fragment.row(perWord).row(2 * perWord);
  return fragment.column(1).column(2).column(4).build();
}

static LinearLayout accFragment() {
  return FragmentBuilder(atomM, atomN)
      .column(1)
      .row(8)
      .lanes()
      .column(2)
      .column(4)
      .row(1)
      .row(2)
      .row(4)
      .build();
}

// A scale operand is one register whose low bytes are the scales of one row of
// A (column of B), lowest K first (PTX ISA, "Block Scaling for mma.sync"). With
// thread-id 0, lanes 0 and 1 of a quad supply rows g and g + 8 of A, and lane 0
// supplies column g of B; the hardware ignores the other lanes, which hold
// replicas.
static LinearLayout lhsScaleFragment(unsigned groups) {
  FragmentBuilder fragment(atomM, groups);
  for (unsigned group = 1; group < groups; group *= 2)
    fragment.column(group);
  fragment.lanes().row(8).replica();
  return fragment.row(1).row(2).row(4).build();
}

static LinearLayout rhsScaleFragment(unsigned groups) {
  FragmentBuilder fragment(groups, atomN);
  for (unsigned group = 1; group < groups; group *= 2)
    fragment.row(group);
  fragment.lanes().replica().replica();
  return fragment.column(1).column(2).column(4).build();
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// An entry without scales: registers everywhere, issued by a warp, in order.
static MmaAtom plainAtom(llvm::StringLiteral name, ElementFormat lhs,
                         ElementFormat rhs, unsigned containerBits,
                         Capability capability, MmaEmission emission) {
  return MmaAtom{name,
                 atomM,
                 atomN,
                 rowBits / containerBits,
                 lhs,
                 rhs,
                 containerBits,
                 containerBits,
                 /*scaleFormat=*/std::nullopt,
                 /*blockSize=*/0,
                 /*scaleVecSize=*/0,
                 BlockScaleKind::None,
                 lhsFragment(containerBits),
                 rhsFragment(containerBits),
                 accFragment(),
                 /*lhsScale=*/LinearLayout(),
                 /*rhsScale=*/LinearLayout(),
                 OperandSpace::Registers,
                 OperandSpace::Registers,
                 OperandSpace::Registers,
                 OperandSpace::Registers,
                 MmaIssuer::Warp,
                 MmaCompletion::InOrder,
                 capability,
                 emission};
}

/// An entry with `scaleVecSize` scales per row of A and per column of B.
static MmaAtom scaledAtom(llvm::StringLiteral name, BlockScaleKind kind,
                          ElementFormat lhs, ElementFormat rhs,
                          unsigned containerBits, ElementFormat scale,
                          unsigned scaleVecSize) {
  MmaAtom atom = plainAtom(name, lhs, rhs, containerBits,
                           Capability::MmaBlockScale, MmaEmission::BlockScale);
  atom.scaleFormat = scale;
  atom.blockSize = atom.k / scaleVecSize;
  atom.scaleVecSize = scaleVecSize;
  atom.kind = kind;
  atom.lhsScale = lhsScaleFragment(scaleVecSize);
  atom.rhsScale = rhsScaleFragment(scaleVecSize);
  return atom;
}

static std::vector<MmaAtom> buildTable() {
  constexpr ElementFormat f4 = ElementFormat::F4E2M1FN;
  constexpr ElementFormat e4m3 = ElementFormat::F8E4M3FN;
  constexpr ElementFormat e5m2 = ElementFormat::F8E5M2;
  constexpr ElementFormat e8m0 = ElementFormat::F8E8M0FNU;
  constexpr ElementFormat bf16 = ElementFormat::BF16;
  constexpr ElementFormat f16 = ElementFormat::F16;
  auto plain16 = [](llvm::StringLiteral name, ElementFormat format) {
    return plainAtom(name, format, format, 16, Capability::MmaBf16,
                     MmaEmission::MmaSync);
  };
  auto plain8 = [](llvm::StringLiteral name, ElementFormat lhs,
                   ElementFormat rhs) {
    return plainAtom(name, lhs, rhs, 8, Capability::MmaFp8,
                     MmaEmission::MmaSyncFp8);
  };
  auto mx8 = [](llvm::StringLiteral name, ElementFormat lhs,
                ElementFormat rhs) {
    return scaledAtom(name, BlockScaleKind::Mxf8f6f4, lhs, rhs, 8, e8m0, 1);
  };
  // FP4 by FP4 has no mxf8f6f4 entry, and MXFP4 no mxf4 entry: mxf4nvf4 does
  // the same with half the registers of the one and is the same instruction as
  // the other, so that one query has one answer.
  return {
      plain16("m16n8k16.bf16.bf16", bf16),
      plain16("m16n8k16.f16.f16", f16),
      plain8("m16n8k32.e4m3.e4m3", e4m3, e4m3),
      plain8("m16n8k32.e4m3.e5m2", e4m3, e5m2),
      plain8("m16n8k32.e5m2.e4m3", e5m2, e4m3),
      plain8("m16n8k32.e5m2.e5m2", e5m2, e5m2),
      mx8("m16n8k32.mxf8f6f4.1x.e4m3.e4m3.ue8m0", e4m3, e4m3),
      mx8("m16n8k32.mxf8f6f4.1x.e4m3.e5m2.ue8m0", e4m3, e5m2),
      mx8("m16n8k32.mxf8f6f4.1x.e4m3.e2m1.ue8m0", e4m3, f4),
      mx8("m16n8k32.mxf8f6f4.1x.e5m2.e4m3.ue8m0", e5m2, e4m3),
      mx8("m16n8k32.mxf8f6f4.1x.e5m2.e5m2.ue8m0", e5m2, e5m2),
      mx8("m16n8k32.mxf8f6f4.1x.e5m2.e2m1.ue8m0", e5m2, f4),
      mx8("m16n8k32.mxf8f6f4.1x.e2m1.e4m3.ue8m0", f4, e4m3),
      mx8("m16n8k32.mxf8f6f4.1x.e2m1.e5m2.ue8m0", f4, e5m2),
      scaledAtom("m16n8k64.mxf4nvf4.2x.e2m1.e2m1.ue8m0",
                 BlockScaleKind::Mxf4nvf4, f4, f4, 4, e8m0, 2),
      scaledAtom("m16n8k64.mxf4nvf4.4x.e2m1.e2m1.ue4m3",
                 BlockScaleKind::Mxf4nvf4, f4, f4, 4, e4m3, 4),
  };
}

llvm::ArrayRef<MmaAtom> tile::getMmaAtoms() {
  static const std::vector<MmaAtom> table = buildTable();
  return table;
}

const MmaAtom *tile::findMmaAtom(llvm::StringRef name) {
  for (const MmaAtom &atom : getMmaAtoms())
    if (atom.name == name)
      return &atom;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

/// What `atom` needs so that its sums meet the numeric contract: plain FP8
/// multiplies exist on targets that keep too few bits of the sum.
static Capability contractCapability(const MmaAtom &atom) {
  return atom.capability == Capability::MmaFp8 ? Capability::MmaFp8FullSum
                                               : atom.capability;
}

const MmaAtom *tile::selectNativeAtom(const MmaQuery &query,
                                      const TargetInfo &target) {
  // Block-scaled instructions scale both operands, in one format.
  if (query.lhsScale != query.rhsScale)
    return nullptr;
  unsigned blockSize = query.lhsScale ? query.blockSize : 0;
  // Two issues of the instruction over 32 values, with alternate groups masked.
  if (query.lhs == ElementFormat::F4E2M1FN &&
      query.rhs == ElementFormat::F4E2M1FN &&
      query.lhsScale == ElementFormat::F8E8M0FNU && blockSize == 16)
    blockSize = 32;
  for (const MmaAtom &atom : getMmaAtoms())
    if (atom.lhsFormat == query.lhs && atom.rhsFormat == query.rhs &&
        atom.scaleFormat == query.lhsScale && atom.blockSize == blockSize &&
        target.has(contractCapability(atom)))
      return &atom;
  return nullptr;
}

const MmaAtom *tile::selectPlainAtom(ElementFormat format,
                                     const TargetInfo &target) {
  for (const MmaAtom &atom : getMmaAtoms())
    if (atom.emission == MmaEmission::MmaSync && atom.lhsFormat == format &&
        target.has(atom.capability))
      return &atom;
  return nullptr;
}

std::vector<MmaQuery> tile::nativeScaledFormats(const TargetInfo &target) {
  std::vector<MmaQuery> natives;
  for (const FormatInfo &lhs : getFormats())
    for (const FormatInfo &rhs : getFormats())
      for (const FormatInfo &scale : getFormats())
        for (unsigned blockSize : {16u, 32u}) {
          if (!isLegalBlockScale(lhs.format, scale.format, blockSize) ||
              !isLegalBlockScale(rhs.format, scale.format, blockSize))
            continue;
          MmaQuery query{lhs.format, rhs.format, scale.format, scale.format,
                         blockSize};
          if (selectNativeAtom(query, target))
            natives.push_back(query);
        }
  return natives;
}
