//===- ResultSlices.cpp - A result a few columns at a time ----------------===//
//
// Finding goes forwards from the value to the stores, and from there back to
// what else they need; `SliceDims.h` says how each operation divides its tiles.
// Emitting is cloning with narrower types and the tile-space indices of slices.
//
//===----------------------------------------------------------------------===//

#include "ResultSlices.h"

#include "SliceDims.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace tile;

using Dim = SliceDim;

/// Most elements of a tile that stays whole in registers while slices are taken
/// from it: a few registers of each lane of four warps.
static constexpr int64_t kMaxPickedElements = 1024;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static bool any(Operation *op, function_ref<bool(Operation *)> predicate) {
  return op
      ->walk([&](Operation *inner) {
        return predicate(inner) ? WalkResult::interrupt()
                                : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether `op` is none of those whose use of memory is known below, and may
/// use it in any way.
static bool isOpaque(Operation *op) {
  return !isa<TileDialect>(op->getDialect()) && !isa<memref::LoadOp>(op) &&
         !op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
         !isMemoryEffectFree(op);
}

/// Whether `op`, or anything in it, may write to global memory.
static bool writesMemory(Operation *op) {
  return any(op, [](Operation *inner) {
    return isa<StoreOp, ScatterOp>(inner) || isOpaque(inner);
  });
}

/// Whether `op`, or anything in it, may read global memory.
static bool readsMemory(Operation *op) {
  return any(op, [](Operation *inner) {
    return isa<LoadOp, GatherOp, memref::LoadOp, CopyAsyncOp, CopyTensorOp>(
               inner) ||
           isOpaque(inner);
  });
}

/// Whether what `op` does to shared or tensor memory, or waits for, is ordered
/// with what stands around it.
static bool ordersThreads(Operation *op) {
  return any(op, [](Operation *inner) {
    if (isa<StoreOp, ScatterOp>(inner))
      return false;
    auto effects = dyn_cast<MemoryEffectOpInterface>(inner);
    return isa<TileDialect>(inner->getDialect()) && effects &&
           effects.hasEffect<MemoryEffects::Write>();
  });
}

/// Whether `op`, or anything in it, changes the sums in `memory`.
static bool changesSums(Operation *op, Value memory) {
  return any(op, [&](Operation *inner) {
    if (auto multiply = dyn_cast<MultiplyAsyncOp>(inner))
      return multiply.getAcc() == memory;
    auto store = dyn_cast<StoreTensorMemoryOp>(inner);
    return store && store.getMemory() == memory;
  });
}

static bool areSame(ValueRange lhs, ValueRange rhs) {
  return lhs.size() == rhs.size() &&
         llvm::all_of(llvm::zip(lhs, rhs), [](auto pair) {
           auto [left, right] = pair;
           return isEqualConstantIntOrValue(left, right);
         });
}

/// Whether `store` writes the elements of `memref` at `indices`, `shape` of
/// them, and no others.
static bool writesPlace(StoreOp store, Value memref, ValueRange indices,
                        ArrayRef<int64_t> shape) {
  return store.getTarget() == memref && areSame(store.getIndices(), indices) &&
         getTileType(store.getValue()).getShape() == shape;
}

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

class ResultUses::Finder {
public:
  Finder(ResultUses &uses, std::string &reason) : uses(uses), reason(reason) {}

  bool run() {
    reason.clear();
    if (!collect() || !divide())
      return false;
    makeRounds();
    for (size_t round = 0; round < uses.rounds.size(); ++round)
      if (!needRound(round))
        return false;
    return checkOrder();
  }

private:
  bool fail(Operation *op, const Twine &why) {
    reason = ("'" + op->getName().getStringRef() + "' " + why).str();
    return false;
  }

  bool isCollected(Operation *op) const { return uses.dims.contains(op); }
  Dim getDim(Value dependent) const {
    if (dependent == uses.value)
      return uses.dim;
    Operation *op = dependent.getDefiningOp();
    auto it = op ? uses.dims.find(op) : uses.dims.end();
    return it == uses.dims.end() ? std::nullopt : Dim(it->second);
  }

  /// What stands strictly between `from` and the last operation and is not
  /// collected.
  bool anyBetween(Operation *from, function_ref<bool(Operation *)> predicate) {
    for (Operation *op = from; op != uses.getLast(); op = op->getNextNode())
      if (op != from && !isCollected(op) && predicate(op))
        return true;
    return false;
  }

  bool collect();
  bool divide();
  void makeRounds();
  bool needRound(size_t number);
  bool need(size_t round, Value value, Dim dim);
  bool canDivide(size_t round, Operation *op, unsigned dim);
  bool canDivideLoad(size_t round, LoadOp load, unsigned dim);
  bool canMove(LoadTensorMemoryOp load);
  bool isReplaced(Operation *op);
  bool checkOrder();

  ResultUses &uses;
  std::string &reason;
  SmallVector<Operation *> stores; ///< Collected ones, in order.
  DenseMap<Operation *, size_t> roundOf;
  llvm::DenseSet<Value> whole;                ///< Used as they are.
  llvm::SmallPtrSet<Operation *, 16> divided; ///< Done in slices, independent.
};

/// Collects what depends on the value.
bool ResultUses::Finder::collect() {
  Block *block = uses.value.getParentBlock();
  llvm::SetVector<Operation *> found;
  SmallVector<Value> pending = {uses.value};
  while (!pending.empty())
    for (Operation *user : pending.pop_back_val().getUsers()) {
      if (user->getBlock() != block)
        return fail(user, "uses it in a region of its own");
      if (user->getNumRegions() || user->hasTrait<OpTrait::IsTerminator>())
        return fail(user, "needs all of it");
      if (found.insert(user))
        llvm::append_range(pending, user->getResults());
    }
  uses.operations = found.takeVector();
  llvm::sort(uses.operations, [](Operation *lhs, Operation *rhs) {
    return lhs->isBeforeInBlock(rhs);
  });
  if (llvm::none_of(uses.operations, llvm::IsaPred<StoreOp, ScatterOp>)) {
    reason = "nothing stores what is made of it";
    return false;
  }
  return true;
}

/// Finds how each collected operation is divided.
bool ResultUses::Finder::divide() {
  for (Operation *op : uses.operations) {
    for (Type type :
         llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()),
                                  llvm::to_vector(op->getResultTypes())))
      if (auto tile = dyn_cast<RankedTensorType>(type);
          tile && tile.getEncoding())
        return fail(op, "has a tile with a layout");
    Dim dim;
    for (Value operand : op->getOperands())
      if (Dim operandDim = getDim(operand); operandDim && !dim) {
        dim = getResultSliceDim(op, *operandDim, uses.parts);
        if (!dim)
          return fail(op, "needs more than a slice of it");
      }
    std::optional<SmallVector<Dim>> expected =
        getOperandSliceDims(op, *dim, uses.parts);
    if (!expected)
      return fail(op, "needs more than a slice of it");
    for (auto [operand, operandDim] : llvm::zip(op->getOperands(), *expected))
      if (Dim found = getDim(operand); found && found != operandDim)
        return fail(op, "combines tiles that are divided differently");
    uses.dims[op] = *dim;
    if (isa<StoreOp, ScatterOp>(op))
      stores.push_back(op);
  }
  return true;
}

/// Puts stores of the same place that follow each other together.
void ResultUses::Finder::makeRounds() {
  for (Operation *op : stores) {
    auto store = dyn_cast<StoreOp>(op);
    auto last = uses.rounds.empty()
                    ? StoreOp()
                    : dyn_cast<StoreOp>(uses.rounds.back().operations.back());
    bool together = store && last && uses.dims[store] == uses.dims[last] &&
                    writesPlace(store, last.getTarget(), last.getIndices(),
                                getTileType(last.getValue()).getShape());
    if (!together)
      uses.rounds.emplace_back();
    uses.rounds.back().operations.push_back(op);
    roundOf[op] = uses.rounds.size() - 1;
  }
}

/// Adds what the stores of a round need.
bool ResultUses::Finder::needRound(size_t number) {
  Round &round = uses.rounds[number];
  llvm::SetVector<Operation *> needed(round.operations.begin(),
                                      round.operations.end());
  for (size_t i = 0; i < needed.size(); ++i) {
    Operation *op = needed[i];
    std::optional<SmallVector<Dim>> dims =
        getOperandSliceDims(op, uses.dims[op], uses.parts);
    for (auto [operand, dim] : llvm::zip(op->getOperands(), *dims)) {
      if (operand == uses.value)
        continue;
      Operation *definition = operand.getDefiningOp();
      if (definition && isCollected(definition))
        needed.insert(definition);
      else if (!need(number, operand, dim))
        return false;
    }
  }
  round.operations = needed.takeVector();
  llvm::sort(round.operations, [](Operation *lhs, Operation *rhs) {
    return lhs->isBeforeInBlock(rhs);
  });
  return true;
}

/// Adds a value that does not depend on the value that is divided.
bool ResultUses::Finder::need(size_t number, Value value, Dim dim) {
  if (!dim) {
    whole.insert(value);
    return true;
  }
  Form form(value, *dim);
  if (uses.rounds[number].forms.contains(form))
    return true;
  Operation *op = value.getDefiningOp();
  RankedTensorType type = getTileType(value);
  if (op && canDivide(number, op, *dim)) {
    divided.insert(op);
    uses.rounds[number].forms[form] = false;
    return true;
  }
  Type element = type.getElementType();
  if (!type.getEncoding() && type.getNumElements() <= kMaxPickedElements &&
      (isa<IntegerType, IndexType>(element) ||
       (isa<FloatType>(element) && getElementBits(element) >= 8))) {
    whole.insert(value);
    uses.rounds[number].forms[form] = true;
    return true;
  }
  if (!reason.empty())
    return false;
  if (op)
    return fail(op, "gives a tile that cannot be divided");
  reason = "an operand of a loop cannot be divided";
  return false;
}

bool ResultUses::Finder::canDivide(size_t round, Operation *op, unsigned dim) {
  std::optional<SmallVector<Dim>> dims =
      getOperandSliceDims(op, dim, uses.parts);
  if (!dims || getTileType(op->getResult(0)).getEncoding())
    return false;
  if (auto load = dyn_cast<LoadOp>(op);
      load && !canDivideLoad(round, load, dim))
    return fail(op, "reads what slices before may have overwritten");
  if (auto load = dyn_cast<LoadTensorMemoryOp>(op); load && !canMove(load))
    return fail(op, "cannot be done later");
  for (auto [operand, operandDim] : llvm::zip(op->getOperands(), *dims))
    if (!need(round, operand, operandDim))
      return false;
  return true;
}

bool ResultUses::Finder::canDivideLoad(size_t round, LoadOp load,
                                       unsigned dim) {
  // From outside a loop around, it would see stores of earlier iterations.
  if (load->getBlock() != uses.value.getParentBlock() ||
      anyBetween(load, writesMemory))
    return false;
  return llvm::all_of(stores, [&](Operation *op) {
    size_t other = roundOf[op];
    if (other != round)
      return other > round || op->isBeforeInBlock(load);
    auto store = dyn_cast<StoreOp>(op);
    return store && uses.dims[store] == dim &&
           writesPlace(store, load.getSource(), load.getIndices(),
                       load.getType().getShape());
  });
}

/// Whether sums may be loaded behind the last operation instead.
bool ResultUses::Finder::canMove(LoadTensorMemoryOp load) {
  if (load->getBlock() != uses.value.getParentBlock())
    return false;
  if (!anyBetween(load, ordersThreads))
    return true;
  // In a loop a barrier may stand for the next iteration's multiplies.
  return isa<func::FuncOp>(load->getParentOp()) &&
         !anyBetween(load, [&](Operation *op) {
           return changesSums(op, load.getMemory());
         });
}

/// Whether nothing needs an operation any more once slices have replaced it.
bool ResultUses::Finder::isReplaced(Operation *op) {
  return divided.contains(op) &&
         llvm::none_of(op->getResults(),
                       [&](Value result) { return whole.contains(result); }) &&
         llvm::all_of(op->getUsers(), [&](Operation *user) {
           return isCollected(user) || isReplaced(user);
         });
}

/// Checks what stores and the value itself pass when they go behind the last
/// operation.
bool ResultUses::Finder::checkOrder() {
  Operation *culprit = nullptr;
  if (anyBetween(stores.front(), [&](Operation *op) {
        culprit = op;
        return writesMemory(op) || (readsMemory(op) && !isReplaced(op));
      }))
    return fail(culprit, "stands between stores of slices");
  auto load = uses.value.getDefiningOp<LoadTensorMemoryOp>();
  if (load && !canMove(load))
    return fail(load, "cannot be done later");
  return true;
}

std::optional<ResultUses> ResultUses::find(Value value, unsigned dim,
                                           int64_t parts, std::string &reason) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getEncoding() || parts < 2 || type.getDimSize(dim) % parts) {
    reason = "its columns cannot be divided";
    return std::nullopt;
  }
  ResultUses uses;
  uses.value = value;
  uses.dim = dim;
  uses.parts = parts;
  if (!Finder(uses, reason).run())
    return std::nullopt;
  return uses;
}

//===----------------------------------------------------------------------===//
// Emitting
//===----------------------------------------------------------------------===//

class ResultUses::Emitter {
public:
  Emitter(const ResultUses &uses, const Round &round, OpBuilder &builder,
          Value slice, Value index)
      : uses(uses), round(round), builder(builder), index(index) {
    made[{uses.value, uses.dim}] = slice;
  }

  void run();

private:
  Value get(Form form);
  void clone(Operation *op, unsigned dim);
  Value pick(Value whole, unsigned dim);
  Value makeIota(IotaOp op);

  /// The tile-space index of this slice, where `whole` is that of the whole.
  Value divideIndex(Location loc, Value whole) {
    Value parts =
        arith::ConstantIndexOp::create(builder, loc, uses.parts).getResult();
    Value first = builder.createOrFold<arith::MulIOp>(loc, whole, parts);
    return builder.createOrFold<arith::AddIOp>(loc, first, index);
  }

  const ResultUses &uses;
  const Round &round;
  OpBuilder &builder;
  Value index;
  DenseMap<Form, Value> made;
};

void ResultUses::Emitter::run() {
  for (Operation *op : round.operations) {
    // What is read before a store stays before it.
    if (isa<StoreOp, ScatterOp>(op))
      for (const auto &[form, picked] : round.forms)
        if (auto load = form.first.getDefiningOp<LoadOp>();
            load && !picked && load->isBeforeInBlock(op))
          get(form);
    clone(op, uses.dims.lookup(op));
  }
}

Value ResultUses::Emitter::get(Form form) {
  if (Value value = made.lookup(form))
    return value;
  auto it = round.forms.find(form);
  assert(it != round.forms.end() && "every form that is needed is found");
  if (it->second)
    made[form] = pick(form.first, form.second);
  else
    clone(form.first.getDefiningOp(), form.second);
  return made.lookup(form);
}

/// Emits `op` for slices along `dim` of its results, or of what it stores.
void ResultUses::Emitter::clone(Operation *op, unsigned dim) {
  if (auto iota = dyn_cast<IotaOp>(op)) {
    made[{iota.getResult(), dim}] = makeIota(iota);
    return;
  }
  SmallVector<Dim> dims = *getOperandSliceDims(op, dim, uses.parts);
  SmallVector<Value> operands;
  for (auto [operand, operandDim] : llvm::zip(op->getOperands(), dims))
    operands.push_back(operandDim ? get({operand, *operandDim}) : operand);
  auto getType = [&](Value result) {
    return getSliceType(getTileType(result), dim, uses.parts);
  };
  const Location loc = op->getLoc();

  if (auto load = dyn_cast<LoadTensorMemoryOp>(op)) {
    SmallVector<Value> indices(load.getIndices());
    if (indices.empty())
      indices.assign(load.getType().getRank(),
                     arith::ConstantIndexOp::create(builder, loc, 0));
    indices[dim] = divideIndex(loc, indices[dim]);
    made[{load.getResult(), dim}] = LoadTensorMemoryOp::create(
        builder, loc, getType(load), load.getMemory(), indices,
        load.getPredicate());
    return;
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = cast<DenseElementsAttr>(constant.getValue());
    made[{constant.getResult(), dim}] = arith::ConstantOp::create(
        builder, loc, elements.resizeSplat(getType(constant)));
    return;
  }
  // The first index follows the memref, and the value where there is one.
  if (isa<LoadOp, StoreOp>(op)) {
    Value &position = operands[dim + (isa<StoreOp>(op) ? 2 : 1)];
    position = divideIndex(loc, position);
  }
  Operation *clone = op->cloneWithoutRegions();
  clone->setOperands(operands);
  for (auto [from, to] : llvm::zip(op->getResults(), clone->getResults())) {
    to.setType(getType(from));
    made[{from, dim}] = to;
  }
  builder.insert(clone);
}

/// A tile of which every lane holds little: all slices but one become zero
/// bits, and what is left of them is combined.
Value ResultUses::Emitter::pick(Value whole, unsigned dim) {
  const Location loc = whole.getLoc();
  RankedTensorType type = getTileType(whole);
  Type element = type.getElementType();
  if (isa<FloatType>(element)) {
    element = builder.getIntegerType(getElementBits(element));
    whole = arith::BitcastOp::create(builder, loc, type.clone(element), whole);
  }
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= uses.parts;
  shape.insert(shape.begin() + dim, uses.parts);
  auto slices = RankedTensorType::get(shape, element);
  Value values = ReshapeOp::create(builder, loc, slices, whole);

  auto numbersType = RankedTensorType::get({uses.parts}, builder.getI32Type());
  Value numbers = IotaOp::create(builder, loc, numbersType);
  Value number =
      arith::IndexCastOp::create(builder, loc, builder.getI32Type(), index);
  number = tensor::SplatOp::create(builder, loc, numbersType, number);
  Value mask = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                     numbers, number);
  SmallVector<int64_t> ones(shape.size(), 1);
  ones[dim] = uses.parts;
  mask = ReshapeOp::create(
      builder, loc, RankedTensorType::get(ones, builder.getI1Type()), mask);
  mask = BroadcastOp::create(builder, loc, slices.clone(builder.getI1Type()),
                             mask);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(slices));
  values = arith::SelectOp::create(builder, loc, mask, values, zero);
  RankedTensorType result = getSliceType(type, dim, uses.parts);
  Value slice = ReduceOp::create(builder, loc, result.clone(element),
                                 ReduceKind::Or, values, dim);
  if (element != type.getElementType())
    slice = arith::BitcastOp::create(builder, loc, result, slice);
  return slice;
}

Value ResultUses::Emitter::makeIota(IotaOp op) {
  const Location loc = op.getLoc();
  RankedTensorType type = getSliceType(op.getType(), 0, uses.parts);
  Value numbers = IotaOp::create(builder, loc, type);
  Value extent =
      arith::ConstantIndexOp::create(builder, loc, type.getDimSize(0));
  Value first = builder.createOrFold<arith::MulIOp>(loc, index, extent);
  if (!type.getElementType().isIndex())
    first =
        arith::IndexCastOp::create(builder, loc, type.getElementType(), first);
  first = tensor::SplatOp::create(builder, loc, type, first);
  return arith::AddIOp::create(builder, loc, numbers, first);
}

void ResultUses::emit(OpBuilder &builder, Value slice, Value index,
                      unsigned round) const {
  Emitter(*this, rounds[round], builder, slice, index).run();
}

void ResultUses::erase() {
  llvm::SetVector<Operation *> others;
  for (const Round &round : rounds)
    for (const auto &[form, picked] : round.forms)
      if (Operation *op = form.first.getDefiningOp(); op && !picked)
        others.insert(op);
  for (Operation *op : llvm::reverse(operations))
    op->erase();
  // Users are found before what they use.
  bool changed = true;
  while (changed) {
    changed = false;
    for (Operation *op : llvm::to_vector(others))
      if (isOpTriviallyDead(op)) {
        others.remove(op);
        op->erase();
        changed = true;
      }
  }
  operations.clear();
  dims.clear();
  rounds.clear();
}
