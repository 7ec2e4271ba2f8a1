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
// Multiplies of tensor memory follow the same 32 bytes of K; their rows are
// lanes of tensor memory and their columns its columns (PTX ISA,
// "Tensorcore 5th Generation Family").
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
// Tensor memory
//===----------------------------------------------------------------------===//

/// Lanes and columns of the sums of one multiply.
static constexpr unsigned tensorM = 128, tensorN = 256;
static constexpr unsigned tensorLaneBits = 7;

/// A lane is a row of the sums, a column of 32 bits one of theirs.
static LinearLayout tensorAcc() {
  constexpr unsigned columnBits = 8;
  static_assert(tensorN == 1u << columnBits && tensorM == 1u << tensorLaneBits);
  return LinearLayout::identity(
             Space{{"column", columnBits}, {"lane", tensorLaneBits}})
      .reshapeCodomain(Space{{"d1", columnBits}, {"d0", tensorLaneBits}});
}

// Scales of 128 rows over four blocks of K: a word has those of one row, lowest
// K first, and row m is in column m / 32 of lane m mod 32; the other three
// quadrants of 32 lanes have the same (PTX ISA, "Scale Factor A and B
// layouts").
static LinearLayout tensorScale() {
  constexpr unsigned blockBits = 2;
  llvm::SmallVector<uint32_t> columns = {1, 2};
  auto addRow = [&](unsigned row) { columns.push_back(row << blockBits); };
  for (unsigned row : {32, 64}) // columns
    addRow(row);
  for (unsigned row : {1, 2, 4, 8, 16, 0, 0}) // lanes
    addRow(row);
  return LinearLayout(
      {{"byte", blockBits}, {"column", 2}, {"lane", tensorLaneBits}},
      {{"d1", blockBits}, {"d0", tensorLaneBits}}, columns);
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

/// An entry of tensor memory without scales: one thread issues it, and barriers
/// see its completion.
static MmaAtom tensorAtom(llvm::StringLiteral name, BlockScaleKind kind,
                          ElementFormat lhs, ElementFormat rhs,
                          unsigned containerBits) {
  return MmaAtom{name,
                 tensorM,
                 tensorN,
                 rowBits / containerBits,
                 lhs,
                 rhs,
                 containerBits,
                 containerBits,
                 /*scaleFormat=*/std::nullopt,
                 /*blockSize=*/0,
                 /*scaleVecSize=*/0,
                 kind,
                 /*lhs=*/LinearLayout(),
                 /*rhs=*/LinearLayout(),
                 tensorAcc(),
                 /*lhsScale=*/LinearLayout(),
                 /*rhsScale=*/LinearLayout(),
                 OperandSpace::SharedDescriptor,
                 OperandSpace::SharedDescriptor,
                 OperandSpace::TensorMemory,
                 OperandSpace::TensorMemory,
                 MmaIssuer::Thread,
                 MmaCompletion::MbarrierCommit,
                 Capability::Tcgen05,
                 MmaEmission::Tcgen05};
}

/// The same with scales over `blockSize` values.
static MmaAtom scaledTensorAtom(llvm::StringLiteral name, BlockScaleKind kind,
                                ElementFormat lhs, ElementFormat rhs,
                                unsigned containerBits, ElementFormat scale,
                                unsigned blockSize) {
  MmaAtom atom = tensorAtom(name, kind, lhs, rhs, containerBits);
  atom.scaleFormat = scale;
  atom.blockSize = blockSize;
  atom.scaleVecSize = atom.k / blockSize;
  atom.lhsScale = tensorScale();
  atom.rhsScale = tensorScale();
  atom.emission = MmaEmission::Tcgen05BlockScale;
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
  auto tensor16 = [](llvm::StringLiteral name, ElementFormat format) {
    return tensorAtom(name, BlockScaleKind::F16, format, format, 16);
  };
  auto tensor8 = [](llvm::StringLiteral name, ElementFormat lhs,
                    ElementFormat rhs) {
    return tensorAtom(name, BlockScaleKind::F8f6f4, lhs, rhs, 8);
  };
  auto tensorMx8 = [](llvm::StringLiteral name, ElementFormat lhs,
                      ElementFormat rhs) {
    return scaledTensorAtom(name, BlockScaleKind::Mxf8f6f4, lhs, rhs, 8, e8m0,
                            32);
  };
  auto tensorMx4 = [](llvm::StringLiteral name, ElementFormat scale,
                      unsigned blockSize) {
    return scaledTensorAtom(name, BlockScaleKind::Mxf4nvf4, f4, f4, 4, scale,
                            blockSize);
  };
  // FP4 by FP4 has no mxf8f6f4 entry, and MXFP4 no mxf4 entry: mxf4nvf4 does
  // the same in half the space of the one and is the same instruction as the
  // other, so that one query has one answer. So with warps and with tensor
  // memory.
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
      tensor16("m128n256k16.tcgen05.f16.bf16.bf16", bf16),
      tensor16("m128n256k16.tcgen05.f16.f16.f16", f16),
      tensor8("m128n256k32.tcgen05.f8f6f4.e4m3.e4m3", e4m3, e4m3),
      tensor8("m128n256k32.tcgen05.f8f6f4.e4m3.e5m2", e4m3, e5m2),
      tensor8("m128n256k32.tcgen05.f8f6f4.e5m2.e4m3", e5m2, e4m3),
      tensor8("m128n256k32.tcgen05.f8f6f4.e5m2.e5m2", e5m2, e5m2),
      tensorMx8("m128n256k32.tcgen05.mxf8f6f4.block32.e4m3.e4m3.ue8m0", e4m3,
                e4m3),
      tensorMx8("m128n256k32.tcgen05.mxf8f6f4.block32.e4m3.e5m2.ue8m0", e4m3,
                e5m2),
      tensorMx8("m128n256k32.tcgen05.mxf8f6f4.block32.e4m3.e2m1.ue8m0", e4m3,
                f4),
      tensorMx8("m128n256k32.tcgen05.mxf8f6f4.block32.e5m2.e4m3.ue8m0", e5m2,
                e4m3),
      tensorMx8("m128n256k32.tcgen05.mxf8f6f4.block32.e5m2.e5m2.ue8m0", e5m2,
                e5m2),
      tensorMx8("m128n256k32.tcgen05.mxf8f6f4.block32.e5m2.e2m1.ue8m0", e5m2,
                f4),
      tensorMx8("m128n256k32.tcgen05.mxf8f6f4.block32.e2m1.e4m3.ue8m0", f4,
                e4m3),
      tensorMx8("m128n256k32.tcgen05.mxf8f6f4.block32.e2m1.e5m2.ue8m0", f4,
                e5m2),
      tensorMx4("m128n256k64.tcgen05.mxf4nvf4.block32.e2m1.e2m1.ue8m0", e8m0,
                32),
      tensorMx4("m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue8m0", e8m0,
                16),
      tensorMx4("m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3", e4m3,
                16),
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

/// The instruction that `issuer` gives and that takes exactly what `query`
/// says.
static const MmaAtom *selectAtom(const MmaQuery &query, MmaIssuer issuer,
                                 const TargetInfo &target) {
  // Block-scaled instructions scale both operands, in one format.
  if (query.lhsScale != query.rhsScale)
    return nullptr;
  unsigned blockSize = query.lhsScale ? query.blockSize : 0;
  for (const MmaAtom &atom : getMmaAtoms())
    if (atom.issuer == issuer && atom.lhsFormat == query.lhs &&
        atom.rhsFormat == query.rhs && atom.scaleFormat == query.lhsScale &&
        atom.blockSize == blockSize && target.has(contractCapability(atom)))
      return &atom;
  return nullptr;
}

const MmaAtom *tile::selectNativeAtom(const MmaQuery &query,
                                      const TargetInfo &target) {
  MmaQuery asked = query;
  // Two issues of the instruction over 32 values, with alternate groups masked.
  if (query.lhs == ElementFormat::F4E2M1FN &&
      query.rhs == ElementFormat::F4E2M1FN &&
      query.lhsScale == ElementFormat::F8E8M0FNU && query.blockSize == 16)
    asked.blockSize = 32;
  return selectAtom(asked, MmaIssuer::Warp, target);
}

const MmaAtom *tile::selectTensorAtom(const MmaQuery &query,
                                      const TargetInfo &target) {
  return selectAtom(query, MmaIssuer::Thread, target);
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
          if (selectNativeAtom(query, target) ||
              selectTensorAtom(query, target))
            natives.push_back(query);
        }
  return natives;
}
