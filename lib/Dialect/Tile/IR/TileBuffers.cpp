//===- TileBuffers.cpp - Tiles in shared memory ---------------------------===//

#include "BufferVerifiers.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// The type
//===----------------------------------------------------------------------===//

Type BufferType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  SMLoc loc = parser.getCurrentLocation();
  bool padded = false;
  PlacementAttr placement;
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element))
    return {};
  if (succeeded(parser.parseOptionalComma())) {
    StringRef arrangement;
    SMLoc at = parser.getCurrentLocation();
    padded = succeeded(parser.parseOptionalKeyword(&arrangement));
    if (padded && arrangement != "padded") {
      parser.emitError(at) << "expects 'padded' or a placement, but got '"
                           << arrangement << "'";
      return {};
    }
    if (!padded && parser.parseAttribute(placement))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return BufferType::getChecked([&] { return parser.emitError(loc); },
                                parser.getContext(), ArrayRef<int64_t>(shape),
                                element, padded, placement);
}

void BufferType::print(AsmPrinter &printer) const {
  printer << '<';
  for (int64_t extent : getShape())
    printer << extent << 'x';
  printer << getElementType();
  if (getPadded())
    printer << ", padded";
  if (getPlacement())
    printer << ", " << getPlacement();
  printer << '>';
}

LogicalResult
BufferType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                   ArrayRef<int64_t> shape, Type elementType, bool padded,
                   PlacementAttr placement) {
  if (shape.size() < 2)
    return emitError() << "expects a number of slots and the shape of a tile, "
                          "but got "
                       << shape.size() << " extents";
  if (shape.front() < 1)
    return emitError() << "expects at least one slot, but got "
                       << shape.front();
  if (!isMemoryElementType(elementType))
    return emitError() << "expects elements that have bytes of their own, but "
                          "got "
                       << elementType;
  if (!isTile(RankedTensorType::get(shape.drop_front(), elementType)))
    return emitError() << "expects slots of power-of-two extents";
  // Offsets in shared memory are 32 bits.
  if (shape.front() > kMaxSlots)
    return emitError() << "expects at most " << kMaxSlots << " slots, but got "
                       << shape.front();
  if (padded && shape.back() * getElementBits(elementType) / 8 < kPaddedBytes)
    return emitError() << "expects rows of at least " << kPaddedBytes
                       << " bytes for padding, but got " << shape.back()
                       << " elements";
  if (!placement)
    return success();
  if (padded)
    return emitError() << "expects a placement or padding, not both";
  const unsigned bits =
      llvm::Log2_64(ShapedType::getNumElements(shape.drop_front()));
  if (placement.getOffsets().size() != bits)
    return emitError() << "expects a placement with " << bits
                       << " offsets, but got " << placement.getOffsets().size();
  const int64_t bytes = getElementBits(elementType) / 8;
  if (placement.getBytes() < bytes)
    return emitError() << "expects slots of at least " << bytes << " bytes for "
                       << elementType << ", but got " << placement.getBytes();
  for (int64_t offset : placement.getOffsets())
    if (offset % bytes)
      return emitError() << "expects offsets that are multiples of " << bytes
                         << " bytes, but got " << offset;
  return success();
}

int64_t BufferType::getSlotBytes() const {
  if (getPlacement())
    return getPlacement().getBytes();
  return ShapedType::getNumElements(getTileShape()) *
         getElementBits(getElementType()) / (getPadded() ? 4 : 8);
}

int64_t BufferType::getSlotStride() const {
  return llvm::alignTo(getSlotBytes(), getAlignment());
}

BufferType BufferType::withNumSlots(int64_t slots) const {
  SmallVector<int64_t> shape(getShape());
  shape.front() = slots;
  return BufferType::get(getContext(), shape, getElementType(), getPadded(),
                         getPlacement());
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

void AllocBufferOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Allocate::get(),
                       getOperation()->getResult(0));
}

void CopyAsyncOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getSourceMutable());
  effects.emplace_back(MemoryEffects::Write::get(), &getBufferMutable());
}

void ReadBufferOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getBufferMutable());
}

void tile::addOrder(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

void CommitCopiesOp::getEffects(Effects &effects) { addOrder(effects); }
void WaitCopiesOp::getEffects(Effects &effects) { addOrder(effects); }
void BarrierOp::getEffects(Effects &effects) { addOrder(effects); }

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

LogicalResult tile::verifySlot(Operation *op, StringRef what, int64_t slots,
                               Value slot) {
  std::optional<int64_t> constant = getConstantIntValue(slot);
  if (constant && (*constant < 0 || *constant >= slots))
    return op->emitOpError("expects ")
           << what << " below " << slots << ", but got " << *constant;
  return success();
}

LogicalResult tile::verifyCopy(Operation *op, Value source, ValueRange indices,
                               BufferType buffer) {
  auto memref = dyn_cast<MemRefType>(source.getType());
  if (!memref || memref.getElementType() != buffer.getElementType())
    return op->emitOpError("expects a memref of ")
           << buffer.getElementType() << ", but got " << source.getType();
  auto rank = static_cast<int64_t>(buffer.getTileShape().size());
  if (memref.getRank() != rank || static_cast<int64_t>(indices.size()) != rank)
    return op->emitOpError("expects a memref and indices of rank ")
           << rank << ", but got rank " << memref.getRank() << " and "
           << indices.size() << " indices";
  return success();
}

LogicalResult CopyAsyncOp::verify() {
  BufferType buffer = getBuffer().getType();
  if (failed(verifyCopy(*this, getSource(), getIndices(), buffer)))
    return failure();
  auto rank = static_cast<int64_t>(buffer.getTileShape().size());
  if (std::optional<ArrayRef<int64_t>> moving = getMoving())
    for (auto [i, dim] : llvm::enumerate(*moving))
      if (dim < 0 || dim >= rank || (i && dim <= (*moving)[i - 1]))
        return emitOpError(
                   "expects moving dimensions in ascending order below ")
               << rank << ", but got " << dim;
  return verifySlot(*this, "a slot", buffer.getNumSlots(), getSlot());
}

LogicalResult ReadBufferOp::verify() {
  BufferType buffer = getBuffer().getType();
  RankedTensorType tile = getType();
  ArrayRef<int64_t> slot = buffer.getTileShape();
  if (failed(verifySlot(*this, "a slot", buffer.getNumSlots(), getSlot())))
    return failure();
  bool fits = tile.getElementType() == buffer.getElementType();
  if (getIndices().empty()) {
    if (!fits || tile.getShape() != slot)
      return emitOpError("expects the tile of a slot of ")
             << buffer << ", but got " << tile;
    return success();
  }
  if (getIndices().size() != slot.size())
    return emitOpError("expects ")
           << slot.size() << " indices for a slot of " << buffer << ", but got "
           << getIndices().size();
  fits &= tile.getRank() == static_cast<int64_t>(slot.size());
  for (int64_t dim = 0; fits && dim < tile.getRank(); ++dim)
    fits = tile.getDimSize(dim) <= slot[dim];
  if (!fits)
    return emitOpError("expects a part of a slot of ")
           << buffer << ", but got " << tile;
  for (auto [dim, index] : llvm::enumerate(getIndices())) {
    int64_t parts = slot[dim] / tile.getDimSize(dim);
    std::optional<int64_t> constant = getConstantIntValue(index);
    if (constant && (*constant < 0 || *constant >= parts))
      return emitOpError("expects index ")
             << dim << " to be below " << parts << ", but got " << *constant;
  }
  return success();
}
