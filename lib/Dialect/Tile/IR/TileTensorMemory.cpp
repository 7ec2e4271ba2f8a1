//===- TileTensorMemory.cpp - Multiplies in tensor memory -----------------===//

#include "BufferVerifiers.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

LogicalResult BarriersType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t count) {
  if (count < 1 || count > BufferType::kMaxSlots)
    return emitError() << "expects 1 to " << BufferType::kMaxSlots
                       << " barriers, but got " << count;
  return success();
}

Type TensorMemoryType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element) || parser.parseGreater())
    return {};
  return TensorMemoryType::getChecked([&] { return parser.emitError(loc); },
                                      parser.getContext(),
                                      ArrayRef<int64_t>(shape), element);
}

void TensorMemoryType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t extent : getShape())
    printer << extent << 'x';
  printer << getElementType() << '>';
}

/// Columns of a slot for a tile of `tile`.
static int64_t countColumns(ArrayRef<int64_t> tile) {
  int64_t batches = tile.size() == 3 ? tile.front() : 1;
  int64_t rows = tile.end()[-2] / TensorMemoryType::kLanes;
  return batches * rows * tile.back();
}

LogicalResult
TensorMemoryType::verify(function_ref<InFlightDiagnostic()> emitError,
                         ArrayRef<int64_t> shape, Type elementType) {
  if (shape.size() != 3 && shape.size() != 4)
    return emitError() << "expects a number of slots and the shape of a 2-D or "
                          "3-D tile, but got "
                       << shape.size() << " extents";
  if (!isa<Float32Type, Float8E4M3FNType, Float8E8M0FNUType>(elementType))
    return emitError() << "expects elements of type f32, f8E4M3FN or "
                          "f8E8M0FNU, but got "
                       << elementType;
  for (int64_t extent : shape)
    if (extent < 1 || extent > kMaxTileElements)
      return emitError() << "expects extents from 1 to 2^20, but got "
                         << extent;
  if (shape.end()[-2] % kLanes)
    return emitError() << "expects a multiple of 128 rows, but got "
                       << shape.end()[-2];
  if (!elementType.isF32() && shape.back() % 4)
    return emitError() << "expects a multiple of four blocks, but got "
                       << shape.back();
  // So that numbers of columns and bytes never overflow. Which of them a block
  // has is decided where all allocations are known.
  constexpr int64_t maxColumns = int64_t(1) << 30;
  if (shape.front() > maxColumns / countColumns(shape.drop_front()))
    return emitError() << "expects at most 2^30 columns";
  return success();
}

int64_t TensorMemoryType::getSlotColumns() const {
  return countColumns(getTileShape());
}

TensorMemoryType TensorMemoryType::withNumSlots(int64_t slots) const {
  SmallVector<int64_t> shape(getShape());
  shape.front() = slots;
  return TensorMemoryType::get(getContext(), shape, getElementType());
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

void AllocBarriersOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Allocate::get(),
                       getOperation()->getResult(0));
}

void AllocTensorMemoryOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Allocate::get(),
                       getOperation()->getResult(0));
}

// All else is ordered by barriers.
void InitBarriersOp::getEffects(Effects &effects) { addOrder(effects); }
void InvalBarriersOp::getEffects(Effects &effects) { addOrder(effects); }
void WaitBarrierOp::getEffects(Effects &effects) { addOrder(effects); }
void ArriveCopiesOp::getEffects(Effects &effects) { addOrder(effects); }
void ExpectBytesOp::getEffects(Effects &effects) { addOrder(effects); }
void CopyTensorOp::getEffects(Effects &effects) { addOrder(effects); }
void CopyScalesOp::getEffects(Effects &effects) { addOrder(effects); }
void MultiplyAsyncOp::getEffects(Effects &effects) { addOrder(effects); }
void CommitMultipliesOp::getEffects(Effects &effects) { addOrder(effects); }
void StoreTensorMemoryOp::getEffects(Effects &effects) { addOrder(effects); }

void LoadTensorMemoryOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

static LogicalResult verifyBarrier(Operation *op, Value barriers, Value slot) {
  return verifySlot(op, "a barrier",
                    cast<BarriersType>(barriers.getType()).getCount(), slot);
}

LogicalResult WaitBarrierOp::verify() {
  return verifyBarrier(*this, getBarriers(), getSlot());
}

LogicalResult ArriveCopiesOp::verify() {
  return verifyBarrier(*this, getBarriers(), getSlot());
}

LogicalResult ExpectBytesOp::verify() {
  return verifyBarrier(*this, getBarriers(), getSlot());
}

LogicalResult CommitMultipliesOp::verify() {
  return verifyBarrier(*this, getBarriers(), getSlot());
}

LogicalResult CopyTensorOp::verify() {
  BufferType buffer = getBuffer().getType();
  if (failed(verifyCopy(*this, getSource(), getIndices(), buffer)))
    return failure();
  auto argument = dyn_cast<BlockArgument>(getSource());
  if (!argument || !argument.getOwner()->isEntryBlock() ||
      !isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
    return emitOpError("expects an argument of the kernel as source");
  if (!buffer.getPlacement())
    return emitOpError("expects a buffer with a placement, but got ") << buffer;
  if (failed(verifySlot(*this, "a slot", buffer.getNumSlots(), getSlot())))
    return failure();
  return verifyBarrier(*this, getBarriers(), getSlot());
}

LogicalResult CopyScalesOp::verify() {
  BufferType buffer = getBuffer().getType();
  TensorMemoryType memory = getMemory().getType();
  if (!memory.holdsScales() ||
      memory.getElementType() != buffer.getElementType())
    return emitOpError("expects scales of one type, but got ")
           << buffer << " and " << memory;
  int64_t bytes = ShapedType::getNumElements(memory.getTileShape());
  if (!buffer.getPlacement() || buffer.getSlotBytes() != bytes)
    return emitOpError("expects a placement with slots of ")
           << bytes << " bytes for " << memory << ", but got " << buffer;
  if (failed(verifySlot(*this, "a slot", buffer.getNumSlots(), getSlot())))
    return failure();
  return verifySlot(*this, "a slot of tensor memory", memory.getNumSlots(),
                    getMemorySlot());
}

LogicalResult MultiplyAsyncOp::verify() {
  if (getShape().size() != 4)
    return emitOpError("expects batch, M, N and K as shape, but got ")
           << getShape().size() << " numbers";
  for (int64_t extent : getShape())
    if (extent < 1 || extent > kMaxTileElements || !llvm::isPowerOf2_64(extent))
      return emitOpError("expects powers of two up to 2^20 as shape, but got ")
             << extent;
  const int64_t batch = getShape()[0], m = getShape()[1], n = getShape()[2];
  TensorMemoryType acc = getAcc().getType();
  ArrayRef<int64_t> tile = acc.getTileShape();
  const int64_t batches = tile.size() == 3 ? tile.front() : 1;
  if (!acc.getElementType().isF32() || batches != batch ||
      tile.end()[-2] != m || tile.back() != n)
    return emitOpError("expects sums for ")
           << batch << " x " << m << " x " << n << ", but got " << acc;
  for (auto [buffer, slot] :
       {std::pair(getLhs(), getLhsSlot()), std::pair(getRhs(), getRhsSlot())}) {
    if (!buffer.getType().getPlacement())
      return emitOpError("expects buffers with a placement, but got ")
             << buffer.getType();
    if (failed(
            verifySlot(*this, "a slot", buffer.getType().getNumSlots(), slot)))
      return failure();
  }
  const bool isScaled = getLhsScale() != nullptr;
  for (Value part : {Value(getLhsScaleSlot()), Value(getRhsScale()),
                     Value(getRhsScaleSlot())})
    if (bool(part) != isScaled)
      return emitOpError("expects scales and their slots for both operands or "
                         "for none");
  if (!isScaled)
    return success();
  for (auto [memory, slot, extent] :
       {std::tuple(getLhsScale(), getLhsScaleSlot(), m),
        std::tuple(getRhsScale(), getRhsScaleSlot(), n)}) {
    TensorMemoryType type = memory.getType();
    if (!type.holdsScales())
      return emitOpError("expects scales, but got ") << type;
    ArrayRef<int64_t> scales = type.getTileShape();
    const int64_t rows = llvm::alignTo(extent, TensorMemoryType::kLanes);
    if ((scales.size() == 3 ? scales.front() : 1) != batch ||
        scales.end()[-2] != rows)
      return emitOpError("expects scales of ")
             << batch << " x " << rows << " rows, but got " << type;
    if (failed(verifySlot(*this, "a slot of tensor memory", type.getNumSlots(),
                          slot)))
      return failure();
  }
  TensorMemoryType lhsScale = getLhsScale().getType();
  TensorMemoryType rhsScale = getRhsScale().getType();
  if (lhsScale.getElementType() != rhsScale.getElementType() ||
      lhsScale.getShape().back() != rhsScale.getShape().back())
    return emitOpError("expects scales of one type for the same blocks of K, "
                       "but got ")
           << lhsScale << " and " << rhsScale;
  return success();
}

/// Checks that sums of `memory` have a place for a tile.
static LogicalResult verifySums(Operation *op, TensorMemoryType memory,
                                RankedTensorType tile) {
  ArrayRef<int64_t> slot = memory.getTileShape();
  bool fits = memory.getElementType().isF32() &&
              tile.getElementType().isF32() &&
              tile.getRank() == static_cast<int64_t>(slot.size());
  for (int64_t dim = 0; fits && dim < tile.getRank(); ++dim)
    fits = tile.getDimSize(dim) <= slot[dim];
  if (!fits)
    return op->emitOpError("expects a part of ")
           << memory << ", but got " << tile;
  return success();
}

LogicalResult LoadTensorMemoryOp::verify() {
  TensorMemoryType memory = getMemory().getType();
  if (failed(verifySums(*this, memory, getType())))
    return failure();
  if (getIndices().empty())
    return success();
  ArrayRef<int64_t> slot = memory.getTileShape();
  if (getIndices().size() != slot.size())
    return emitOpError("expects ") << slot.size() << " indices for " << memory
                                   << ", but got " << getIndices().size();
  for (auto [dim, index] : llvm::enumerate(getIndices())) {
    int64_t parts = slot[dim] / getType().getDimSize(dim);
    std::optional<int64_t> constant = getConstantIntValue(index);
    if (constant && (*constant < 0 || *constant >= parts))
      return emitOpError("expects index ")
             << dim << " to be below " << parts << ", but got " << *constant;
  }
  return success();
}

LogicalResult StoreTensorMemoryOp::verify() {
  return verifySums(*this, getMemory().getType(),
                    cast<RankedTensorType>(getValue().getType()));
}

LogicalResult WarpRolesOp::verify() {
  if ((*this)->getParentOfType<WarpRolesOp>())
    return emitOpError("expects no roles around it");
  for (Region *role : {&getCopiers(), &getIssuer()}) {
    if (role->getNumArguments())
      return emitOpError("expects roles without arguments, but got ")
             << role->getNumArguments();
    // What every thread of the block has to come by is not for some of them.
    WalkResult result = role->walk([&](Operation *op) {
      if (!isa<BarrierOp, WaitCopiesOp, LoadTensorMemoryOp,
               StoreTensorMemoryOp>(op))
        return WalkResult::advance();
      op->emitOpError("expects all threads of the block, so no role around it");
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}
