//===- TensorMultiplies.cpp - Loops for tensor memory ---------------------===//

#include "TensorMultiplies.h"

#include "SharedMemoryBudget.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "tile/Transforms/Divisibility.h"
#include "tile/Transforms/TileLayouts.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

MmaQuery tile::getMmaQuery(Operation *op) {
  auto formatOf = [](Value value) {
    return *getElementFormat(getElementTypeOrSelf(value.getType()));
  };
  MmaQuery query;
  query.lhs = formatOf(op->getOperand(0));
  query.rhs = formatOf(op->getOperand(1));
  if (auto scaled = dyn_cast<MmaFScaledOp>(op)) {
    if (Value scale = scaled.getLhsScale())
      query.lhsScale = formatOf(scale);
    if (Value scale = scaled.getRhsScale())
      query.rhsScale = formatOf(scale);
    query.blockSize = scaled.getBlockSize();
  }
  return query;
}

/// The query with the sides exchanged.
static MmaQuery exchange(MmaQuery query) {
  std::swap(query.lhs, query.rhs);
  std::swap(query.lhsScale, query.rhsScale);
  return query;
}

//===----------------------------------------------------------------------===//
// Where the values of an operand come from
//===----------------------------------------------------------------------===//

namespace {

/// A tile of the loop that is loaded and relabelled.
struct View {
  LoadOp load;
  /// From elements of the loaded tile to `Space::ofTile({batch, row, k})`.
  LinearLayout layout;
};

/// Analyses one loop.
class Matcher {
public:
  Matcher(scf::ForOp loop, const TargetInfo &target, unsigned numWarps,
          const TensorBudget &budget, std::string &reason)
      : loop(loop), target(target), numWarps(numWarps), budget(budget),
        reason(reason) {}

  std::optional<TensorLoop> match();

private:
  std::nullopt_t refuse(const Twine &why) {
    reason = why.str();
    return std::nullopt;
  }
  bool checkBody();
  bool isPosition(Value value);
  std::optional<View> findView(Value operand, bool rowsFirst);
  std::optional<TensorMultiply> matchMultiply(Operation *op);
  std::optional<OperandMajor> findMajor(const View &view, StringRef side,
                                        unsigned bits);
  bool divide(StagedOperand &operand, View &view, int64_t parts);
  bool placeMultiply(TensorMultiply &multiply, int64_t parts);
  bool place(TensorLoop &result, int64_t parts);
  /// Finds what uses the sums; whether it can be done for one part after the
  /// other.
  bool allowsParts(TensorLoop &result);
  /// Whether parts that are loaded late may see what is written meanwhile.
  bool isOverwritten(const ResultUses &uses);

  scf::ForOp loop;
  const TargetInfo &target;
  unsigned numWarps;
  const TensorBudget &budget;
  std::string &reason;
  /// Views of the operands of each multiply: M side, N side, their scales.
  DenseMap<Operation *, SmallVector<View, 4>> views;
};

} // namespace

/// Whether `op` only relabels elements.
static bool isView(Operation *op) {
  return isa_and_nonnull<UnpackOp, PermuteOp, ReshapeOp>(op);
}

bool Matcher::isPosition(Value value) {
  if (loop.isDefinedOutsideOfLoop(value) || value == loop.getInductionVar())
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == loop.getBody() && !op->getNumRegions() &&
         (isPure(op) || isa<memref::LoadOp>(op)) &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isPosition(operand); });
}

/// Whether every use of `tile` ends as operand or scale of a multiply.
static bool feedsMultiplies(Value tile) {
  return llvm::all_of(tile.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<MmaFOp, MmaFScaledOp>(user))
      return use.getOperandNumber() != 2;
    return isView(user) && feedsMultiplies(user->getResult(0));
  });
}

bool Matcher::checkBody() {
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (isa<MmaFOp, MmaFScaledOp>(op) || isView(&op))
      continue;
    if (auto load = dyn_cast<LoadOp>(op)) {
      if (!feedsMultiplies(load.getResult())) {
        refuse("the loop does more than multiply what it loads");
        return false;
      }
      continue;
    }
    if (op.getNumRegions() || !(isPure(&op) || isa<memref::LoadOp>(op)) ||
        llvm::any_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>)) {
      refuse("the loop does more than multiply what it loads");
      return false;
    }
  }
  return true;
}

std::optional<View> Matcher::findView(Value operand, bool rowsFirst) {
  SmallVector<Operation *> path;
  Operation *op = operand.getDefiningOp();
  for (; isView(op); op = op->getOperand(0).getDefiningOp())
    path.push_back(op);
  auto load = dyn_cast_or_null<LoadOp>(op);
  if (!load || load->getBlock() != loop.getBody())
    return refuse("an operand is not loaded in the loop");
  if (!getMemRefDivisors(load.getSource()))
    return refuse("an operand is no part of an argument");
  if (!isPosition(load.getSource()) ||
      !llvm::all_of(load.getIndices(),
                    [&](Value index) { return isPosition(index); }))
    return refuse("the position of an operand depends on more than the "
                  "iteration");
  View view;
  view.load = load;
  view.layout =
      LinearLayout::identity(Space::ofTile(load.getType().getShape()));
  for (Operation *step : llvm::reverse(path)) {
    auto type = cast<RankedTensorType>(step->getResult(0).getType());
    if (auto permute = dyn_cast<PermuteOp>(step)) {
      view.layout = permuteLayout(view.layout, permute.getPermutation());
    } else if (isa<ReshapeOp>(step)) {
      view.layout = reshapeLayout(view.layout, type.getShape());
    } else {
      unsigned from =
          getElementBits(getElementTypeOrSelf(step->getOperand(0).getType()));
      unsigned to = getElementBits(type.getElementType());
      if (to > from)
        return refuse("the values of an operand are built of bytes");
      SmallVector<uint32_t> columns;
      for (uint32_t column : view.layout.getColumns())
        columns.push_back(column * (from / to));
      view.layout = LinearLayout(view.layout.getDomain(),
                                 Space::ofTile(type.getShape()), columns);
    }
  }
  auto type = cast<RankedTensorType>(operand.getType());
  SmallVector<int64_t> shape(type.getShape());
  if (shape.size() == 2) {
    shape.insert(shape.begin(), 1);
    view.layout = reshapeLayout(view.layout, shape);
  }
  if (!rowsFirst)
    view.layout = permuteLayout(view.layout, {0, 2, 1});
  return view;
}

//===----------------------------------------------------------------------===//
// Multiplies
//===----------------------------------------------------------------------===//

static bool isZero(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return false;
  return elements.getSplatValue<APFloat>().isPosZero();
}

static bool isSplat(Value value) {
  DenseElementsAttr elements;
  return matchPattern(value, m_Constant(&elements)) && elements.isSplat();
}

std::optional<TensorMultiply> Matcher::matchMultiply(Operation *op) {
  TensorMultiply result;
  result.op = op;
  // Sums are carried round, and nothing else sees them.
  auto argument = dyn_cast<BlockArgument>(op->getOperand(2));
  if (!argument || argument.getOwner() != loop.getBody() ||
      argument == loop.getInductionVar() || !argument.hasOneUse() ||
      !op->getResult(0).hasOneUse() ||
      !isa<scf::YieldOp>(*op->getResult(0).user_begin()))
    return refuse("the loop does more with the sums than add to them");
  result.carried = argument.getArgNumber() - 1;
  if (loop.getYieldedValues()[result.carried] != op->getResult(0))
    return refuse("the loop does more with the sums than add to them");
  result.startsAtZero = isZero(loop.getInitArgs()[result.carried]);

  auto sums = cast<RankedTensorType>(op->getResult(0).getType());
  result.batch = sums.getRank() == 3 ? sums.getDimSize(0) : 1;
  result.m = sums.getShape().end()[-2];
  result.n = sums.getShape().back();
  result.exchanged = result.m < kTensorRows && result.n > result.m;
  MmaQuery query = getMmaQuery(op);
  result.atom =
      selectTensorAtom(result.exchanged ? exchange(query) : query, target);
  if (!result.atom)
    return refuse("no instruction of tensor memory takes these types");
  if (result.exchanged)
    std::swap(result.m, result.n);

  const unsigned m = result.exchanged ? 1 : 0;
  SmallVector<View, 4> found(4);
  auto take = [&](unsigned place, Value operand, bool isLhs) {
    std::optional<View> view = findView(operand, /*rowsFirst=*/isLhs);
    if (view)
      found[place] = *view;
    return view.has_value();
  };
  if (!take(m, op->getOperand(0), true) ||
      !take(1 - m, op->getOperand(1), false))
    return std::nullopt;
  if (auto scaled = dyn_cast<MmaFScaledOp>(op))
    if (!take(2 + m, scaled.getLhsScale(), true) ||
        !take(3 - m, scaled.getRhsScale(), false))
      return std::nullopt;
  views[op] = std::move(found);
  return result;
}

std::optional<OperandMajor> Matcher::findMajor(const View &view, StringRef side,
                                               unsigned bits) {
  // The dimension that is contiguous in memory.
  LoadOp load = view.load;
  auto memref = cast<MemRefType>(load.getSource().getType());
  ArrayRef<int64_t> shape = load.getType().getShape();
  auto [strides, offset] = memref.getStridesAndOffset();
  std::string axis;
  for (unsigned dim = memref.getRank(); dim-- > 0;)
    if (strides[dim] == 1 && shape[dim] > 1) {
      axis = "d" + std::to_string(dim);
      break;
    }
  if (axis.empty())
    return refuse("no dimension of an operand has stride 1");
  uint32_t first = view.layout.getColumns(axis).front();
  if (!view.layout.getCodomain().coordinate(first, "d1"))
    return OperandMajor::K;
  if (bits == 4)
    return refuse("FP4 operands must be contiguous along K, but " + side +
                  " is along the other dimension");
  return OperandMajor::MN;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

bool Matcher::divide(StagedOperand &operand, View &view, int64_t parts) {
  // The parts are the highest bits of the rows: they must be those of one
  // dimension of what is loaded.
  const Space &logical = view.layout.getCodomain();
  const unsigned rowBits = logical.bitsOf("d1");
  const unsigned partBits = llvm::Log2_64(parts);
  const unsigned first = *logical.offsetOf("d1") + rowBits - partBits;
  const uint32_t mask = (static_cast<uint32_t>(parts) - 1) << first;
  for (const Space::Axis &axis : view.layout.getDomain().getAxes()) {
    ArrayRef<uint32_t> columns = view.layout.getColumns(axis.name);
    if (columns.size() < partBits)
      continue;
    bool fits = true;
    for (auto [bit, column] : llvm::enumerate(columns)) {
      const bool isTop = bit >= columns.size() - partBits;
      const uint32_t expected =
          isTop ? 1u << (first + bit - (columns.size() - partBits)) : 0;
      fits &= (column & mask) == expected && (!isTop || column == expected);
    }
    if (!fits)
      continue;
    operand.dividedDim = std::stoi(axis.name.substr(1));
    return true;
  }
  refuse("the load of the N side cannot be divided into parts");
  return false;
}

/// The places of what `view` loads, where those of one batch are `place`
/// (`{d1: k, d0: row}` to `{offset}`) and parts along `dividedDim` are loaded
/// alone.
static BufferType makeBuffer(const View &view, const StagedOperand &operand,
                             int64_t parts, const LinearLayout &place) {
  LoadOp load = view.load;
  SmallVector<int64_t> shape(load.getType().getShape());
  if (operand.dividedDim)
    shape[*operand.dividedDim] /= parts;
  const Space &logical = view.layout.getCodomain();
  const unsigned slotBits = place.getCodomain().bits();
  const unsigned kBits = place.getDomain().bitsOf("d1");
  SmallVector<uint32_t> columns;
  const Space tile = Space::ofTile(shape);
  for (const Space::Axis &axis : tile.getAxes())
    for (uint32_t column :
         view.layout.getColumns(axis.name).take_front(axis.bits)) {
      uint32_t k = logical.coordinate(column, "d2");
      uint32_t row = logical.coordinate(column, "d1");
      uint32_t batch = logical.coordinate(column, "d0");
      columns.push_back(place(row << kBits | k) ^ batch << slotBits);
    }
  const LinearLayout placed(
      tile, Space({{"offset", slotBits + logical.bitsOf("d0")}}), columns);
  SmallVector<int64_t> slots = {1};
  llvm::append_range(slots, shape);
  MLIRContext *context = load.getContext();
  return BufferType::get(context, slots, load.getType().getElementType(),
                         /*padded=*/false, PlacementAttr::get(context, placed));
}

bool Matcher::placeMultiply(TensorMultiply &multiply, int64_t parts) {
  MutableArrayRef<View> operands = views[multiply.op];
  const MmaAtom &atom = *multiply.atom;
  const Space &logical = operands[0].layout.getCodomain();
  const int64_t k = int64_t(1) << logical.bitsOf("d2");
  multiply.paddedM = std::max<int64_t>(multiply.m, kTensorRows);
  multiply.paddedN = std::max<int64_t>(multiply.n / parts, kMinTensorColumns);
  multiply.paddedK = std::max<int64_t>(k, atom.k);
  if (parts > 1 && multiply.n / parts < kMinTensorColumns)
    return refuse("tensor memory has no room for the sums"), false;

  for (bool isM : {true, false}) {
    View &view = operands[isM ? 0 : 1];
    StagedOperand &side = isM ? multiply.mSide : multiply.nSide;
    side = StagedOperand();
    side.load = view.load;
    const unsigned bits =
        getFormatInfo(isM ? atom.lhsFormat : atom.rhsFormat).bits;
    const bool isLhs = isM != multiply.exchanged;
    std::optional<OperandMajor> major =
        findMajor(view, isLhs ? "lhs" : "rhs", bits);
    if (!major)
      return false;
    (isM ? multiply.mMajor : multiply.nMajor) = *major;
    if (!isM && *major == OperandMajor::MN)
      multiply.paddedN =
          std::max<int64_t>(multiply.paddedN, kTensorStepBytes * 8 / bits);
    const int64_t rows = isM ? multiply.paddedM : multiply.paddedN;
    std::optional<SharedOperand> place =
        placeOperand(atom, isM, *major, rows, multiply.paddedK);
    if (!place)
      return refuse("the instruction cannot read an operand of this shape"),
             false;
    if (!isM && parts > 1 && !divide(side, view, parts))
      return false;
    side.buffer = makeBuffer(view, side, parts, place->place);
    side.isPadded =
        rows > (isM ? multiply.m : multiply.n / parts) || multiply.paddedK > k;
  }
  for (bool isM : {true, false}) {
    View &view = operands[isM ? 2 : 3];
    StagedOperand &scale = isM ? multiply.mScale : multiply.nScale;
    scale = StagedOperand();
    if (!view.load)
      continue;
    scale.load = view.load;
    const int64_t blocks = int64_t(1) << view.layout.getCodomain().bitsOf("d2");
    const int64_t rows = std::max<int64_t>(kTensorRows, isM ? multiply.paddedM
                                                            : multiply.paddedN);
    const int64_t paddedBlocks =
        std::max<int64_t>(kChunkBlocks, multiply.paddedK / atom.blockSize);
    if (!isM && parts > 1 && !divide(scale, view, parts))
      return false;
    scale.buffer =
        makeBuffer(view, scale, parts, placeScales(rows, paddedBlocks));
    scale.isPadded =
        rows > (isM ? multiply.m : multiply.n / parts) || paddedBlocks > blocks;
    SmallVector<int64_t> shape = {1};
    if (multiply.batch > 1)
      shape.push_back(multiply.batch);
    shape.append({rows, paddedBlocks});
    scale.memory = TensorMemoryType::get(loop.getContext(), shape,
                                         view.load.getType().getElementType());
  }
  SmallVector<int64_t> shape = {1};
  if (multiply.batch > 1)
    shape.push_back(multiply.batch);
  shape.append({multiply.paddedM, multiply.paddedN});
  multiply.sums = TensorMemoryType::get(loop.getContext(), shape,
                                        Float32Type::get(loop.getContext()));
  return true;
}

bool Matcher::place(TensorLoop &result, int64_t parts) {
  result.parts = parts;
  result.sharedBytes = result.sumColumns = result.scaleColumns = 0;
  // Multiplies share what they load where they want it in the same places.
  DenseSet<std::pair<Operation *, Type>> buffers;
  for (TensorMultiply &multiply : result.multiplies) {
    if (!placeMultiply(multiply, parts))
      return false;
    for (const StagedOperand *operand : {&multiply.mSide, &multiply.nSide,
                                         &multiply.mScale, &multiply.nScale}) {
      if (!operand->load)
        continue;
      LoadOp load = operand->load;
      if (buffers.insert({load.getOperation(), operand->buffer}).second)
        result.sharedBytes += operand->buffer.getSlotStride();
      if (operand->memory)
        result.scaleColumns += operand->memory.getSlotColumns();
    }
    result.sumColumns += multiply.sums.getSlotColumns();
  }
  return true;
}

/// The argument of a kernel, or the like, that `memref` is a part of.
static Value getWhole(Value memref) {
  while (auto view = memref.getDefiningOp<ViewLikeOpInterface>())
    memref = view.getViewSource();
  return memref;
}

bool Matcher::isOverwritten(const ResultUses &uses) {
  // Parts are loaded behind the last of the uses, and all but the first behind
  // stores of the sums. These write no argument that the loop reads.
  llvm::SmallDenseSet<Value> read;
  loop.walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op))
      read.insert(getWhole(load.getSource()));
    else if (auto load = dyn_cast<memref::LoadOp>(op))
      read.insert(getWhole(load.getMemRef()));
  });
  Operation *end = uses.getLast()->getNextNode();
  for (Operation *op = loop->getNextNode(); op != end; op = op->getNextNode()) {
    WalkResult result = op->walk([&](Operation *inner) {
      Value target;
      if (auto store = dyn_cast<StoreOp>(inner))
        target = store.getTarget();
      else if (auto scatter = dyn_cast<ScatterOp>(inner))
        target = scatter.getTarget();
      const bool isOurs = uses.contains(op);
      return target && (!isOurs || read.contains(getWhole(target)))
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return true;
  }
  return false;
}

bool Matcher::allowsParts(TensorLoop &result) {
  const TensorMultiply &multiply = result.multiplies.front();
  Value sums = loop.getResult(multiply.carried);
  const unsigned rank = cast<RankedTensorType>(sums.getType()).getRank();
  result.uses = ResultUses::find(sums, multiply.exchanged ? rank - 2 : rank - 1,
                                 result.parts, reason);
  if (!result.uses)
    return false;
  // The loops of later parts would come between the rounds.
  if (result.uses->getNumRounds() > 1)
    refuse("the sums of a part are stored to several places");
  else if (!multiply.startsAtZero &&
           !isSplat(loop.getInitArgs()[multiply.carried]))
    refuse("sums in parts must start at a constant");
  else if (isOverwritten(*result.uses))
    refuse("memory is written between parts of the sums");
  else
    return true;
  return false;
}

std::optional<TensorLoop> Matcher::match() {
  if (!target.has(Capability::Tcgen05))
    return refuse(target.name + " has no tensor memory");
  if (numWarps && numWarps < 4)
    return refuse("it takes four warps or more, but the kernel has " +
                  Twine(numWarps));
  TensorLoop result;
  result.loop = loop;
  if (!checkBody())
    return std::nullopt;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (!isa<MmaFOp, MmaFScaledOp>(op))
      continue;
    std::optional<TensorMultiply> multiply = matchMultiply(&op);
    if (!multiply)
      return std::nullopt;
    result.multiplies.push_back(std::move(*multiply));
  }
  if (result.multiplies.empty())
    return refuse("there is no multiply");
  if (loop.getNumRegionIterArgs() != result.multiplies.size())
    return refuse("the loop carries more than sums");

  // As few parts as leave room for two stages; else for one.
  std::string noParts;
  for (int64_t stages : {2, 1}) {
    for (int64_t parts = 1; parts <= result.multiplies.front().n; parts *= 2) {
      if (!place(result, parts)) {
        if (parts == 1)
          return std::nullopt;
        noParts = reason;
        break;
      }
      const bool fits =
          llvm::all_of(result.multiplies,
                       [](const TensorMultiply &multiply) {
                         return multiply.paddedN <= kMaxTensorColumns;
                       }) &&
          result.sumColumns + stages * result.scaleColumns <= budget.columns &&
          stages * result.sharedBytes <= budget.sharedBytes;
      if (fits && (parts == 1 || allowsParts(result)))
        return result;
      if (fits)
        noParts = reason;
      if (fits || result.multiplies.size() > 1 ||
          result.multiplies.front().n / parts <= kMinTensorColumns)
        break;
    }
  }
  if (!noParts.empty())
    return refuse(noParts);
  return refuse("tensor memory has " + Twine(budget.columns) +
                " columns and shared memory " + Twine(budget.sharedBytes) +
                " bytes left, but one stage takes " +
                Twine(result.sumColumns + result.scaleColumns) + " and " +
                Twine(result.sharedBytes));
}

/// Shared memory that barriers take, and what aligns them and the buffers.
static constexpr int64_t kReservedBytes = 2048;

int64_t tile::getTensorBufferBudget(func::FuncOp kernel,
                                    const TargetInfo &target) {
  return std::max<int64_t>(0, getBufferBudget(kernel, target) - kReservedBytes);
}

void tile::matchTensorLoops(
    func::FuncOp kernel, const TargetInfo &target, unsigned numWarps,
    function_ref<void(scf::ForOp, std::optional<TensorLoop>, StringRef)> take) {
  if (auto attr = kernel->getAttrOfType<IntegerAttr>("tile.num_warps"))
    numWarps = static_cast<unsigned>(attr.getInt());
  TensorBudget budget;
  budget.sharedBytes = getTensorBufferBudget(kernel, target);
  kernel.walk([&](scf::ForOp loop) {
    if (llvm::none_of(*loop.getBody(), [](Operation &op) {
          return isa<MmaFOp, MmaFScaledOp>(op);
        }))
      return;
    std::string reason;
    std::optional<TensorLoop> match =
        Matcher(loop, target, numWarps, budget, reason).match();
    if (match) {
      budget.sharedBytes -= match->sharedBytes;
      budget.columns -= match->sumColumns + match->scaleColumns;
    }
    take(loop, std::move(match), reason);
  });
}
