//===- MmaPlan.cpp - How one multiply uses its atom -----------------------===//

#include "tile/Transforms/MmaPlan.h"

#include "mlir/IR/TypeUtilities.h"
#include "tile/Transforms/DistributedTypes.h"
#include "tile/Transforms/TileLayouts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

namespace {

/// One domain bit of a layout under construction: the power of two by which it
/// moves along one dimension, or nowhere.
struct Basis {
  unsigned dim = 0;
  uint32_t step = 0;
};

/// Names of dimensions of a multiply.
enum : unsigned { kBatch, kM, kN, kK };

/// The dimensions of one operand in order, e.g. {batch, M, K}.
using Dims = SmallVector<unsigned, 3>;

} // namespace

/// The packed column of `basis` in a tile of `shape` with dimensions `dims`; 0
/// where the dimension is not one of the tile's or is shorter than the step.
static uint32_t pack(Basis basis, ArrayRef<unsigned> dims,
                     ArrayRef<int64_t> shape) {
  for (auto [index, dim] : llvm::enumerate(dims)) {
    if (dim != basis.dim)
      continue;
    if (basis.step >= shape[index])
      return 0;
    uint32_t packed = basis.step;
    for (int64_t extent : shape.drop_front(index + 1))
      packed *= extent;
    return packed;
  }
  return 0;
}

static LinearLayout build(ArrayRef<unsigned> dims, ArrayRef<int64_t> shape,
                          ArrayRef<Basis> registers, ArrayRef<Basis> lanes,
                          ArrayRef<Basis> warps) {
  auto packAll = [&](ArrayRef<Basis> bases) {
    SmallVector<uint32_t> columns;
    for (Basis basis : bases)
      columns.push_back(pack(basis, dims, shape));
    return columns;
  };
  return dropZeroRegisters(makeDistributedLayout(
      shape, packAll(registers), packAll(lanes), packAll(warps)));
}

/// A fragment's columns along one axis as bases; `rowDim` is the dimension of
/// d0 and `columnDim` that of d1.
static SmallVector<Basis> toBases(const LinearLayout &fragment, StringRef axis,
                                  unsigned rowDim, unsigned columnDim) {
  SmallVector<Basis> bases;
  for (uint32_t column : fragment.getColumns(axis)) {
    uint32_t row = fragment.getCodomain().coordinate(column, "d0");
    uint32_t col = fragment.getCodomain().coordinate(column, "d1");
    if (row)
      bases.push_back({rowDim, row});
    else
      bases.push_back({columnDim, col});
  }
  return bases;
}

/// Steps 2^i of `dim` from `from` up to, not including, `to`.
static void appendSteps(SmallVectorImpl<Basis> &bases, unsigned dim,
                        int64_t from, int64_t to) {
  for (int64_t step = from; step < to; step *= 2)
    bases.push_back({dim, static_cast<uint32_t>(step)});
}

//===----------------------------------------------------------------------===//
// Warps
//===----------------------------------------------------------------------===//

/// Gives each warp bit a dimension: batches first, then the longer side of what
/// a warp has left, as long as it keeps one atom; what is left over replicates.
/// Where one operand alone is decoded, its side counts as twice as long, since
/// warps that share its rows decode them again.
static SmallVector<Basis> assignWarps(const MmaPlan &plan, unsigned numWarps) {
  SmallVector<Basis> warps;
  int64_t batch = plan.batch, m = plan.m, n = plan.n;
  bool decodesLhs = plan.lhsFormat != plan.atom->lhsFormat;
  bool decodesRhs = plan.rhsFormat != plan.atom->rhsFormat;
  int64_t mWeight = decodesLhs && !decodesRhs ? 2 : 1;
  int64_t nWeight = decodesRhs && !decodesLhs ? 2 : 1;
  for (unsigned left = numWarps; left > 1; left /= 2) {
    if (batch > 1) {
      batch /= 2;
      warps.push_back({kBatch, static_cast<uint32_t>(batch)});
    } else if (m * mWeight >= n * nWeight && m > plan.atom->m) {
      m /= 2;
      warps.push_back({kM, static_cast<uint32_t>(m)});
    } else if (n > plan.atom->n) {
      n /= 2;
      warps.push_back({kN, static_cast<uint32_t>(n)});
    } else if (m > plan.atom->m) {
      m /= 2;
      warps.push_back({kM, static_cast<uint32_t>(m)});
    } else {
      warps.push_back({kM, 0});
    }
  }
  return warps;
}

/// What one warp has of `dim` after `warps` took their bits.
static int64_t getWarpExtent(int64_t extent, unsigned dim,
                             ArrayRef<Basis> warps) {
  for (Basis basis : warps)
    if (basis.dim == dim && basis.step)
      extent /= 2;
  return extent;
}

//===----------------------------------------------------------------------===//
// Fragments under the permuted K
//===----------------------------------------------------------------------===//

/// Whether lanes own words of two 16-value parts of a window, as `ldmatrix`
/// gives them to instructions on FP8, and not eight consecutive values. Those
/// of finer scales than one for a window would differ between the words.
static bool ownsTwoWords(const MmaPlan &plan) {
  return plan.decodes() && getFormatInfo(plan.lhsFormat).bits == 8 &&
         getFormatInfo(plan.rhsFormat).bits == 8 &&
         (!plan.blockSize || plan.blockSize >= plan.window);
}

/// The fragment of an operand over one window. Where nothing is decoded, it
/// stays as it is: `ldmatrix` gives just that. That of decoded operands
/// is repeated and has its K bits renamed: lane bits become 8 and 16, or 4 and
/// 8, and register bits take the rest in the pair order.
static LinearLayout makeWindow(const MmaPlan &plan, bool isLhs) {
  LinearLayout window = isLhs ? plan.atom->lhs : plan.atom->rhs;
  if (plan.atom->lhsContainerBits != 16)
    return window;
  StringRef kAxis = isLhs ? "d1" : "d0";
  if (plan.atomsPerWindow() > 1)
    window = window.product(LinearLayout(Space({{"register", 1}}),
                                         Space({{kAxis.str(), 1}}), {1u}));
  if (!plan.decodes())
    return window;
  // New places of the K bits, by the register or lane bit that moves them.
  SmallVector<uint32_t> forRegisters = {1, 2, 4, 32};
  if (plan.order == PairOrder::Interleaved)
    forRegisters = {4, 1, 2, 32};
  SmallVector<uint32_t> forLanes = {8, 16};
  if (ownsTwoWords(plan)) {
    forRegisters = {1, 2, 16};
    forLanes = {4, 8};
  }
  const Space &tile = window.getCodomain();
  unsigned kOffset = *tile.offsetOf(kAxis);
  unsigned usedRegisters = 0, usedLanes = 0;
  SmallVector<uint32_t> columns;
  for (StringRef axis : {"register", "lane"})
    for (uint32_t column : window.getColumns(axis)) {
      if (!tile.coordinate(column, kAxis)) {
        columns.push_back(column);
        continue;
      }
      uint32_t k = axis == "lane" ? forLanes[usedLanes++]
                                  : forRegisters[usedRegisters++];
      columns.push_back(k << kOffset);
    }
  return LinearLayout(window.getDomain(), tile, columns);
}

/// The stored layout of an operand: its K bits ascending, then the rows of the
/// fragment, then further tiles.
static LinearLayout storedLayout(const MmaPlan &plan, bool isLhs,
                                 const LinearLayout &window,
                                 ArrayRef<unsigned> dims,
                                 ArrayRef<int64_t> shape,
                                 ArrayRef<Basis> warps) {
  unsigned freeDim = isLhs ? kM : kN;
  unsigned rowDim = isLhs ? kM : kK, columnDim = isLhs ? kK : kN;
  SmallVector<Basis> bases = toBases(window, "register", rowDim, columnDim);
  SmallVector<Basis> registers;
  for (Basis basis : bases)
    if (basis.dim == kK)
      registers.push_back(basis);
  llvm::sort(registers, [](Basis a, Basis b) { return a.step < b.step; });
  appendSteps(registers, kK, plan.window, plan.k);
  for (Basis basis : bases)
    if (basis.dim == freeDim)
      registers.push_back(basis);
  int64_t extent = isLhs ? plan.m : plan.n;
  appendSteps(registers, freeDim, isLhs ? plan.atom->m : plan.atom->n,
              getWarpExtent(extent, freeDim, warps));
  appendSteps(registers, kBatch, 1, getWarpExtent(plan.batch, kBatch, warps));
  return build(dims, shape, registers,
               toBases(window, "lane", rowDim, columnDim), warps);
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// One scale beside each run of values that it scales: the operand's layout
/// with K counted in groups.
static LinearLayout scaleBesideOperand(const LinearLayout &operand, bool isLhs,
                                       ArrayRef<int64_t> scaleShape,
                                       unsigned blockSize) {
  unsigned rank = scaleShape.size();
  std::string kAxis = "d" + std::to_string(isLhs ? rank - 1 : rank - 2);
  const Space &tile = operand.getCodomain();
  auto toGroups = [&](ArrayRef<uint32_t> columns) {
    SmallVector<uint32_t> groups;
    for (uint32_t column : columns) {
      uint32_t packed = 0;
      for (unsigned d = 0; d < rank; ++d) {
        std::string axis = "d" + std::to_string(d);
        uint32_t coordinate = tile.coordinate(column, axis);
        if (axis == kAxis)
          coordinate /= blockSize;
        packed = packed * scaleShape[d] + coordinate;
      }
      groups.push_back(packed);
    }
    return groups;
  };
  return dropZeroRegisters(makeDistributedLayout(
      scaleShape, toGroups(operand.getColumns("register")),
      toGroups(operand.getColumns("lane")),
      toGroups(operand.getColumns("warp"))));
}

/// The scales as the instruction takes them: groups of K in the bytes of a
/// word, rows in the lanes that supply them. An instruction reads one lane of
/// four for B; the others have the scales of the tiles of N that follow, as far
/// as the warp has any, and the lane selector says which it takes. Each pair of
/// selectors in a loop is set up by an instruction of its own: the loads that
/// are saved must outweigh those. They do not for A, where a register could
/// serve no more than two tiles, and beyond two tiles of N where byte selectors
/// make more pairs.
static LinearLayout scaleForAtom(const MmaPlan &plan, bool isLhs,
                                 ArrayRef<unsigned> dims,
                                 ArrayRef<int64_t> shape,
                                 ArrayRef<Basis> warps) {
  const LinearLayout &fragment =
      isLhs ? plan.atom->lhsScale : plan.atom->rhsScale;
  unsigned freeDim = isLhs ? kM : kN;
  int64_t extent = getWarpExtent(isLhs ? plan.m : plan.n, freeDim, warps);
  int64_t next = isLhs ? plan.atom->m : plan.atom->n;
  const int64_t mostTiles = isLhs ? 1 : plan.atom->scaleVecSize == 4 ? 4 : 2;
  const int64_t inLanes = std::min(extent, mostTiles * next);
  SmallVector<Basis> lanes;
  // In the fragment, column zero marks the lanes that hold replicas.
  for (uint32_t column : fragment.getColumns("lane")) {
    if (column) {
      lanes.push_back({freeDim, fragment.getCodomain().coordinate(
                                    column, isLhs ? "d0" : "d1")});
    } else if (next < inLanes) {
      lanes.push_back({freeDim, static_cast<uint32_t>(next)});
      next *= 2;
    } else {
      lanes.push_back({freeDim, 0});
    }
  }
  SmallVector<Basis> registers;
  appendSteps(registers, kK, 1, plan.k / plan.blockSize);
  appendSteps(registers, freeDim, next, extent);
  appendSteps(registers, kBatch, 1, getWarpExtent(plan.batch, kBatch, warps));
  return build(dims, shape, registers, lanes, warps);
}

/// The scale of the column (or row) of each accumulator element.
static LinearLayout scaleForSums(const MmaPlan &plan, bool isLhs,
                                 ArrayRef<unsigned> dims,
                                 ArrayRef<int64_t> shape,
                                 ArrayRef<Basis> warps) {
  unsigned freeDim = isLhs ? kM : kN;
  SmallVector<Basis> registers;
  appendSteps(registers, kK, 1, plan.k / plan.blockSize);
  for (Basis basis : toBases(plan.atom->acc, "register", kM, kN))
    if (basis.dim == freeDim)
      registers.push_back(basis);
  appendSteps(registers, freeDim, isLhs ? plan.atom->m : plan.atom->n,
              getWarpExtent(isLhs ? plan.m : plan.n, freeDim, warps));
  appendSteps(registers, kBatch, 1, getWarpExtent(plan.batch, kBatch, warps));
  return build(dims, shape, registers, toBases(plan.atom->acc, "lane", kM, kN),
               warps);
}

//===----------------------------------------------------------------------===//
// The plan
//===----------------------------------------------------------------------===//

static bool isSixteenBit(ElementFormat format) {
  return getFormatInfo(format).bits == 16;
}

/// Fills in everything that follows from formats, method and extents.
static void completePlan(MmaPlan &plan, RankedTensorType lhs,
                         RankedTensorType rhs, RankedTensorType acc,
                         RankedTensorType lhsScale, RankedTensorType rhsScale,
                         unsigned numWarps) {
  bool batched = acc.getRank() == 3;
  plan.batch = batched ? acc.getDimSize(0) : 1;
  plan.m = acc.getShape().end()[-2];
  plan.n = acc.getShape().back();
  plan.k = lhs.getShape().back();
  plan.window = std::max(32u, plan.atom->k);
  bool decodes = isSixteenBit(plan.atom->lhsFormat) &&
                 !isSixteenBit(plan.lhsFormat) && !isSixteenBit(plan.rhsFormat);
  bool hasFp4 = plan.lhsFormat == ElementFormat::F4E2M1FN ||
                plan.rhsFormat == ElementFormat::F4E2M1FN;
  plan.order = decodes && hasFp4 ? PairOrder::Interleaved : PairOrder::Natural;

  plan.lhsWindow = makeWindow(plan, /*isLhs=*/true);
  plan.rhsWindow = makeWindow(plan, /*isLhs=*/false);

  auto withBatch = [&](unsigned row, unsigned column) {
    return batched ? Dims{kBatch, row, column} : Dims{row, column};
  };
  Dims lhsDims = withBatch(kM, kK), rhsDims = withBatch(kK, kN),
       accDims = withBatch(kM, kN);
  SmallVector<Basis> warps = assignWarps(plan, numWarps);
  plan.lhs =
      storedLayout(plan, true, plan.lhsWindow, lhsDims, lhs.getShape(), warps);
  plan.rhs =
      storedLayout(plan, false, plan.rhsWindow, rhsDims, rhs.getShape(), warps);

  SmallVector<Basis> registers = toBases(plan.atom->acc, "register", kM, kN);
  appendSteps(registers, kN, plan.atom->n, getWarpExtent(plan.n, kN, warps));
  appendSteps(registers, kM, plan.atom->m, getWarpExtent(plan.m, kM, warps));
  appendSteps(registers, kBatch, 1, getWarpExtent(plan.batch, kBatch, warps));
  plan.acc = build(accDims, acc.getShape(), registers,
                   toBases(plan.atom->acc, "lane", kM, kN), warps);

  auto scaleLayout = [&](bool isLhs, RankedTensorType scale) {
    ArrayRef<unsigned> dims = isLhs ? lhsDims : rhsDims;
    switch (plan.method) {
    case ScaleMethod::Operands:
      return scaleBesideOperand(isLhs ? plan.lhs : plan.rhs, isLhs,
                                scale.getShape(), plan.blockSize);
    case ScaleMethod::Sums:
      return scaleForSums(plan, isLhs, dims, scale.getShape(), warps);
    default:
      return scaleForAtom(plan, isLhs, dims, scale.getShape(), warps);
    }
  };
  if (lhsScale)
    plan.lhsScale = scaleLayout(true, lhsScale);
  if (rhsScale)
    plan.rhsScale = scaleLayout(false, rhsScale);
}

/// `type` with `k` along dimension `dim`, counted from the back.
static RankedTensorType withExtent(RankedTensorType type, unsigned dim,
                                   int64_t k) {
  SmallVector<int64_t> shape(type.getShape());
  shape.end()[-int(dim)] = k;
  return RankedTensorType::get(shape, type.getElementType());
}

SmallVector<uint32_t, 8> MmaPlan::getLaneK() const {
  SmallVector<uint32_t, 8> values;
  unsigned registers = 1u << lhsWindow.getDomain().bitsOf("register");
  for (unsigned r = 0; r < registers; ++r)
    values.push_back(lhsWindow.getCodomain().coordinate(lhsWindow(r), "d1"));
  llvm::sort(values);
  values.erase(llvm::unique(values), values.end());
  return values;
}

bool MmaPlan::decodes() const {
  return isSixteenBit(atom->lhsFormat) &&
         (!isSixteenBit(lhsFormat) || !isSixteenBit(rhsFormat));
}

const MmaAtom *tile::getWarpAtom(Operation *op) {
  auto name = op->getAttrOfType<StringAttr>("atom");
  const MmaAtom *atom = name ? findMmaAtom(name.getValue()) : nullptr;
  if (!atom) {
    op->emitOpError("expects an 'atom' of the instruction table; run "
                    "tile-legalize-scaled-mma first");
    return nullptr;
  }
  if (atom->issuer != MmaIssuer::Warp) {
    op->emitOpError("expects an instruction that warps issue, but got '")
        << atom->name << "'; run tile-stage-tensor-multiplies first";
    return nullptr;
  }
  return atom;
}

MmaPlan tile::planMma(MmaFOp op, unsigned numWarps, std::optional<int64_t> k) {
  MmaPlan plan;
  plan.atom = findMmaAtom(*op.getAtom());
  plan.lhsFormat = *getElementFormat(op.getLhs().getType().getElementType());
  plan.rhsFormat = *getElementFormat(op.getRhs().getType().getElementType());
  RankedTensorType lhs = op.getLhs().getType(), rhs = op.getRhs().getType();
  if (k) {
    lhs = withExtent(lhs, 1, *k);
    rhs = withExtent(rhs, 2, *k);
  }
  completePlan(plan, lhs, rhs, op.getAcc().getType(), {}, {}, numWarps);
  return plan;
}

MmaPlan tile::planMma(MmaFScaledOp op, unsigned numWarps,
                      std::optional<int64_t> k) {
  MmaPlan plan;
  plan.atom = findMmaAtom(*op.getAtom());
  plan.lhsFormat = *getElementFormat(op.getLhs().getType().getElementType());
  plan.rhsFormat = *getElementFormat(op.getRhs().getType().getElementType());
  plan.blockSize = op.getBlockSize();
  plan.exponent = op.getExponent().value_or(0);
  RankedTensorType lhsScale, rhsScale;
  if (Value scale = op.getLhsScale()) {
    lhsScale = cast<RankedTensorType>(scale.getType());
    plan.lhsScaleFormat = getElementFormat(lhsScale.getElementType());
  }
  if (Value scale = op.getRhsScale()) {
    rhsScale = cast<RankedTensorType>(scale.getType());
    plan.rhsScaleFormat = getElementFormat(rhsScale.getElementType());
  }
  if (plan.atom->isBlockScaled()) {
    plan.method = plan.atom->blockSize == plan.blockSize
                      ? ScaleMethod::Native
                      : ScaleMethod::NativeTwice;
  } else {
    // f16 has not the range of E8M0; bf16 has.
    bool isE8M0 = plan.lhsScaleFormat == ElementFormat::F8E8M0FNU ||
                  plan.rhsScaleFormat == ElementFormat::F8E8M0FNU;
    plan.method = isE8M0 && plan.atom->lhsFormat == ElementFormat::F16
                      ? ScaleMethod::Sums
                      : ScaleMethod::Operands;
  }
  RankedTensorType lhs = op.getLhs().getType(), rhs = op.getRhs().getType();
  if (k) {
    lhs = withExtent(lhs, 1, *k);
    rhs = withExtent(rhs, 2, *k);
    if (lhsScale)
      lhsScale = withExtent(lhsScale, 1, *k / plan.blockSize);
    if (rhsScale)
      rhsScale = withExtent(rhsScale, 2, *k / plan.blockSize);
  }
  completePlan(plan, lhs, rhs, op.getAcc().getType(), lhsScale, rhsScale,
               numWarps);
  return plan;
}

std::optional<int> tile::getDecodedExponent(MmaFScaledOp op) {
  const MmaAtom *atom = op.getAtom() ? findMmaAtom(*op.getAtom()) : nullptr;
  if (!atom || atom->lhsFormat != ElementFormat::BF16)
    return std::nullopt;
  int exponent = 0;
  for (auto [operand, scale] :
       {std::make_pair(op.getLhs(), op.getLhsScale()),
        std::make_pair(op.getRhs(), op.getRhsScale())}) {
    if (!scale)
      continue;
    // One factor of bf16 holds an E4M3 scale and what is missing of 2^126.
    if (getElementFormat(operand.getType().getElementType()) !=
            ElementFormat::F4E2M1FN ||
        getElementFormat(getElementTypeOrSelf(scale)) !=
            ElementFormat::F8E4M3FN)
      return std::nullopt;
    exponent += kDecodedExponent;
  }
  return exponent;
}

/// Whether every use of a tile ends in a multiply that takes FP4 in containers.
static bool feedsContainers(Value tile) {
  return !tile.use_empty() && llvm::all_of(tile.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<UnpackOp, PermuteOp, ReshapeOp>(user))
      return feedsContainers(user->getResult(0));
    auto mma = dyn_cast<MmaFScaledOp>(user);
    if (!mma || !mma.getAtom() || use.getOperandNumber() > 1)
      return false;
    const MmaAtom *atom = findMmaAtom(*mma.getAtom());
    auto isExpanded = [](ElementFormat format, unsigned containerBits) {
      return getFormatInfo(format).bits == 4 && containerBits == 8;
    };
    return atom && (use.getOperandNumber() == 0
                        ? isExpanded(atom->lhsFormat, atom->lhsContainerBits)
                        : isExpanded(atom->rhsFormat, atom->rhsContainerBits));
  });
}

bool tile::takesContainers(Value tile) {
  auto type = cast<RankedTensorType>(tile.getType());
  if (getElementBits(type.getElementType()) != 8 ||
      !isa_and_nonnull<LayoutAttr>(type.getEncoding()) ||
      !feedsContainers(tile))
    return false;
  // A lane gets 4 of each 16 values of a row: 2 of 8 pairs.
  LinearLayout layout = tile::getLayout(type);
  ArrayRef<uint32_t> registers = layout.getColumns("register"),
                     lanes = layout.getColumns("lane");
  auto isRow = [](uint32_t column) { return column % 8 == 0; };
  return type.getShape().back() >= 8 && !registers.empty() &&
         registers[0] == 1 && lanes[0] == 2 && lanes[1] == 4 &&
         llvm::all_of(registers.drop_front(), isRow) &&
         llvm::all_of(lanes.drop_front(2), isRow) &&
         llvm::all_of(layout.getColumns("warp"), isRow);
}

unsigned tile::chooseNumWarps(int64_t batch, int64_t m, int64_t n) {
  // A warp tile of 64 by 64 holds 128 accumulators per lane; smaller blocks
  // still spread over up to four warps, one atom each.
  int64_t atoms =
      batch * std::max<int64_t>(1, m / 16) * std::max<int64_t>(1, n / 8);
  int64_t warps = std::max<int64_t>(1, batch * m * n / (64 * 64));
  warps = std::max(warps, std::min<int64_t>(4, atoms));
  return static_cast<unsigned>(
      std::min<int64_t>(16, llvm::PowerOf2Ceil(warps)));
}
