//===- DistributeBuffers.cpp - Tiles in shared memory ---------------------===//
//
// A slot holds its tile in row-major order with a swizzle: an xor of high bits
// of the byte offset into the bits that select the bank, chosen by the algebra
// from the lanes that write and the lanes that read. Reads are `ldmatrix` where
// the layout is that of its result, else the widest loads that the layout
// allows.
//
// All addresses are an xor of a part that depends on the thread and one that
// depends on the register. What of the latter no thread touches is added as a
// constant instead, which costs no instruction.
//
//===----------------------------------------------------------------------===//

#include "BufferAccess.h"
#include "Distributor.h"

#include "mlir/IR/Remarks.h"
#include "tile/Layout/Swizzle.h"
#include "tile/Transforms/TileLayouts.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

/// The space of byte offsets in a slot.
static Space getOffsets(BufferType type) {
  return Space({{"offset", llvm::Log2_64(type.getSlotBytes())}});
}

LinearLayout tile::getByteLayout(const LinearLayout &layout, BufferType type) {
  SmallVector<uint32_t> columns;
  for (uint32_t column : layout.getColumns())
    columns.push_back(column * getBytes(type.getElementType()));
  return LinearLayout(layout.getDomain(), getOffsets(type), columns);
}

namespace {

/// How the lanes of a warp read a tile from a slot.
struct ReadPlan {
  enum Kind {
    Matrix,    ///< `ldmatrix`: words of 16-byte rows.
    Vector,    ///< Consecutive bytes of one lane.
    Scattered, ///< Bytes of a word that other lanes want as well.
  } kind = Scattered;
  unsigned bytes = 4; ///< Of one access of a lane; Scattered: of words.
  /// What a lane and warp contribute to the offset of an access.
  SmallVector<uint32_t> lanes, warps;
  /// Matrix: the register bits that become matrices of one instruction.
  SmallVector<unsigned> matrixBits;
};

} // namespace

/// Whether a tile is the left operand of the multiply that it goes to.
static bool feedsLhs(Value tile) {
  for (OpOperand &use : tile.getUses()) {
    if (isa<MmaFOp, MmaFScaledOp>(use.getOwner()))
      return use.getOperandNumber() == 0;
    if (use.getOwner()->getNumResults() == 1 &&
        feedsLhs(use.getOwner()->getResult(0)))
      return true;
  }
  return false;
}

/// Plans the read of a tile whose layout, in bytes, is `layout`. Requires: the
/// elements are packed in words.
static ReadPlan planRead(const LinearLayout &layout, unsigned elementBytes,
                         bool isLhs) {
  ArrayRef<uint32_t> registers = layout.getColumns("register");
  ReadPlan plan;
  llvm::append_range(plan.lanes, layout.getColumns("lane"));
  llvm::append_range(plan.warps, layout.getColumns("warp"));
  unsigned run = 0;
  while (run < registers.size() && registers[run] == elementBytes << run)
    ++run;
  unsigned runBytes = elementBytes << run;

  const unsigned wordBits = llvm::Log2_32(4 / elementBytes);
  auto isChunk = [](uint32_t column) { return (column & 15) == 0; };
  if (runBytes == 4 && plan.lanes.size() == 5 && plan.lanes[0] == 4 &&
      plan.lanes[1] == 8 &&
      llvm::all_of(ArrayRef(plan.lanes).drop_front(2), isChunk) &&
      llvm::all_of(plan.warps, isChunk) &&
      llvm::all_of(registers.drop_front(wordBits), isChunk)) {
    plan.kind = ReadPlan::Matrix;
    plan.bytes = 16;
    // An instruction takes the words of an lhs as rows 0 and 8 of 16 bytes,
    // then of the next 16, and those of an rhs as both halves of a row:
    // matrices in this order land in the registers that it wants.
    const uint32_t eightRows = plan.lanes[4] * 2, half = 16;
    SmallVector<uint32_t> wanted = isLhs
                                       ? SmallVector<uint32_t>{eightRows, half}
                                       : SmallVector<uint32_t>{half, eightRows};
    auto add = [&](unsigned bit) {
      if (bit < registers.size() && registers[bit] &&
          plan.matrixBits.size() < 2 &&
          !llvm::is_contained(plan.matrixBits, bit))
        plan.matrixBits.push_back(bit);
    };
    for (uint32_t column : wanted)
      add(static_cast<unsigned>(llvm::find(registers, column) -
                                registers.begin()));
    for (unsigned bit = wordBits; bit < registers.size(); ++bit)
      add(bit);
    plan.lanes = {plan.lanes[2], plan.lanes[3], plan.lanes[4], 0, 0};
    for (auto [i, bit] : llvm::enumerate(plan.matrixBits))
      plan.lanes[3 + i] = registers[bit];
    return plan;
  }
  if (runBytes >= 4) {
    plan.kind = ReadPlan::Vector;
    plan.bytes = std::min(runBytes, 16u);
    return plan;
  }
  // A word of memory belongs to several lanes or registers: each bit of the
  // byte in it comes from one of them.
  plan.bytes = 4;
  auto isPure = [](uint32_t column) {
    return (column & 3) == 0 || llvm::isPowerOf2_32(column);
  };
  if (elementBytes != 1 || !llvm::all_of(registers, isPure) ||
      !llvm::all_of(plan.lanes, isPure) ||
      !llvm::all_of(plan.warps, [](uint32_t c) { return (c & 3) == 0; })) {
    plan.bytes = elementBytes;
    return plan;
  }
  for (unsigned next = 4; next < 16; next *= 2) {
    if (!llvm::is_contained(registers, next))
      break;
    plan.bytes = next * 2;
  }
  return plan;
}

/// The lanes of one access as a map to offsets, for the count of conflicts.
static LinearLayout getLaneMap(ArrayRef<uint32_t> lanes, const Space &offsets,
                               unsigned bytes) {
  SmallVector<uint32_t> columns;
  for (uint32_t column : lanes)
    columns.push_back(column & ~(bytes - 1));
  return LinearLayout(Space({{"lane", static_cast<unsigned>(lanes.size())}}),
                      offsets, columns);
}

LinearLayout Distributor::chooseBufferSwizzle(AllocBufferOp op,
                                              const LinearLayout &copyLayout) {
  BufferType type = op.getResult().getType();
  const Space offsets = getOffsets(type);
  LinearLayout identity = LinearLayout::identity(offsets);
  ReadBufferOp read;
  for (Operation *user : op.getResult().getUsers())
    if (auto found = dyn_cast<ReadBufferOp>(user))
      read = found;
  if (!read || type.getSlotBytes() <= BufferType::kSlotAlignment)
    return identity;
  unsigned bytes = getBytes(type.getElementType());
  ReadPlan plan = planRead(getByteLayout(getLayout(read.getResult()), type),
                           bytes, feedsLhs(read.getResult()));
  LinearLayout copies = getByteLayout(copyLayout, type);
  unsigned run = 0;
  for (uint32_t column : copies.getColumns("register")) {
    if (column != bytes << run)
      break;
    ++run;
  }
  unsigned writeBytes = std::min(16u, bytes << run);
  return chooseSwizzle(
      getLaneMap(copies.getColumns("lane"), offsets, writeBytes),
      getLaneMap(plan.lanes, offsets, plan.bytes), writeBytes, plan.bytes);
}

LogicalResult Distributor::placeBuffers() {
  uint64_t end = 0;
  Operation *last = nullptr;
  kernel.walk([&](AllocBufferOp op) {
    BufferType type = op.getResult().getType();
    SharedBuffer buffer;
    buffer.base = static_cast<unsigned>(end);
    buffer.slotBytes = static_cast<unsigned>(type.getSlotStride());
    buffer.copyLayout = getBlockedLayout(
        type.getTileShape(), getElementBits(type.getElementType()), numWarps);
    buffer.swizzle = chooseBufferSwizzle(op, buffer.copyLayout);
    end += buffer.slotBytes * type.getNumSlots();
    last = op;
    buffers[op.getResult()] = std::move(buffer);
  });
  if (end > options.target->maxSharedBytes)
    return last->emitOpError("needs ")
           << end << " bytes of shared memory for all buffers, but "
           << options.target->name << " has " << options.target->maxSharedBytes;
  bufferBytes = static_cast<unsigned>(end);
  sharedBytes = std::max(sharedBytes, bufferBytes);
  return success();
}

Value Distributor::getSlot(const SharedBuffer &buffer, Value slot) {
  auto pointer = LLVM::LLVMPointerType::get(kernel.getContext(), 3);
  Value memory = LLVM::AddressOfOp::create(emit.builder, emit.loc, pointer,
                                           kSharedMemoryName);
  Value offset = arith::IndexCastOp::create(emit.builder, emit.loc, emit.i32(),
                                            scalars.lookup(slot));
  offset = emit.add(emit.mul(offset, emit.i32(buffer.slotBytes)),
                    emit.i32(buffer.base));
  return LLVM::GEPOp::create(emit.builder, emit.loc, pointer, emit.integer(8),
                             memory, ArrayRef<LLVM::GEPArg>{offset});
}

SlotAddresses::SlotAddresses(Emitter &emit, Value slot,
                             ArrayRef<uint32_t> lanes, ArrayRef<uint32_t> warps,
                             const LinearLayout &swizzle, Value lane,
                             Value warp)
    : emit(emit), slot(slot), swizzle(swizzle) {
  auto apply = [&](ArrayRef<uint32_t> columns) {
    SmallVector<uint32_t> result;
    for (uint32_t column : columns) {
      result.push_back(swizzle(column));
      threadBits |= result.back();
    }
    return result;
  };
  unsigned bits = swizzle.getCodomain().bits();
  Value ofLane = emitLinear(emit, apply(lanes), lane, 0, bits);
  Value ofWarp = emitLinear(emit, apply(warps), warp, 0, bits);
  thread = emit.bitXor(ofLane, ofWarp);
}

Value SlotAddresses::get(uint32_t offset) {
  uint32_t moved = swizzle(offset);
  Value &base = bases[moved & threadBits];
  if (!base)
    base = move(slot, emit.bitXor(thread, emit.i32(moved & threadBits)));
  uint32_t rest = moved & ~threadBits;
  return rest ? move(base, static_cast<int32_t>(rest)) : base;
}

Value SlotAddresses::move(Value pointer, LLVM::GEPArg bytes) {
  return LLVM::GEPOp::create(emit.builder, emit.loc, slot.getType(),
                             emit.integer(8), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

LogicalResult Distributor::distributeRead(ReadBufferOp op) {
  const SharedBuffer &buffer = buffers.find(op.getBuffer())->second;
  BufferType type = op.getBuffer().getType();
  Type element = type.getElementType();
  if (!Fragment::isPacked(element))
    return op.emitOpError("expects elements below 32 bits, but got ")
           << element;
  const unsigned bytes = getBytes(element);
  LinearLayout layout = getLayout(op.getResult());
  LinearLayout places = getByteLayout(layout, type);
  ReadPlan plan = planRead(places, bytes, feedsLhs(op.getResult()));
  SlotAddresses addresses(emit, getSlot(buffer, op.getSlot()), plan.lanes,
                          plan.warps, buffer.swizzle, lane, warp);
  const unsigned registers = 1u << layout.getDomain().bitsOf("register");
  const unsigned perWord = 4 / bytes;
  // Registers whose column is zero are copies of others.
  uint32_t copies = 0;
  for (auto [bit, column] : llvm::enumerate(layout.getColumns("register")))
    if (!column)
      copies |= 1u << bit;
  remark::analysis(op.getLoc(), remark::RemarkOpts::name("shared-read")
                                    .category("tile-distribute")
                                    .function(kernel.getName()))
      << remark::metric("bytes", plan.bytes)
      << remark::metric("instruction",
                        plan.kind == ReadPlan::Matrix ? "ldmatrix" : "ld");

  auto loadWords = [&](uint32_t offset, unsigned count) {
    Type loaded =
        count == 1 ? emit.i32() : Type(VectorType::get({count}, emit.i32()));
    Value value = LLVM::LoadOp::create(emit.builder, emit.loc, loaded,
                                       addresses.get(offset), 4 * count);
    SmallVector<Value> words;
    for (unsigned i = 0; i < count; ++i)
      words.push_back(count == 1
                          ? value
                          : Value(LLVM::ExtractElementOp::create(
                                emit.builder, emit.loc, value, emit.i32(i))));
    return words;
  };

  if (plan.kind == ReadPlan::Scattered) {
    // The byte in the word that the lane's own bits select.
    Value shift;
    if (plan.bytes >= 4) {
      SmallVector<uint32_t> low, high;
      for (uint32_t column : plan.lanes)
        low.push_back((column & 3) * 8);
      if (llvm::any_of(low, [](uint32_t column) { return column != 0; }))
        shift = emitLinear(emit, low, lane, 0, 5);
    }
    DenseMap<uint32_t, SmallVector<Value>> loaded;
    SmallVector<uint32_t> lanes;
    for (uint32_t column : plan.lanes)
      lanes.push_back(column & ~3u);
    SlotAddresses words(emit, getSlot(buffer, op.getSlot()),
                        plan.bytes >= 4 ? ArrayRef(lanes)
                                        : ArrayRef(plan.lanes),
                        plan.warps, buffer.swizzle, lane, warp);
    SmallVector<Value> bits;
    for (unsigned r = 0; r < registers; ++r) {
      uint32_t place = places(r & ~copies);
      if (plan.bytes < 4) {
        Value value = LLVM::LoadOp::create(emit.builder, emit.loc,
                                           emit.integer(8 * bytes),
                                           words.get(place), bytes);
        bits.push_back(emit.zext(emit.i32(), value));
        continue;
      }
      uint32_t first = place & ~(plan.bytes - 1);
      SmallVector<Value> &group = loaded[first];
      if (group.empty()) {
        unsigned count = plan.bytes / 4;
        Type type = count == 1 ? emit.i32()
                               : Type(VectorType::get({count}, emit.i32()));
        Value value = LLVM::LoadOp::create(emit.builder, emit.loc, type,
                                           words.get(first), plan.bytes);
        for (unsigned i = 0; i < count; ++i) {
          Value word = count == 1
                           ? value
                           : Value(LLVM::ExtractElementOp::create(
                                 emit.builder, emit.loc, value, emit.i32(i)));
          group.push_back(shift ? emit.lshr(word, shift) : word);
        }
      }
      Value word = group[(place - first) / 4];
      bits.push_back(emit.bitAnd(emit.lshr(word, (place & 3) * 8), 0xFF));
    }
    fragments[op.getResult()] = Fragment::fromBits(emit, element, layout, bits);
    return success();
  }

  SmallVector<Value> values(registers / perWord);
  for (unsigned word = 0; word < values.size(); ++word) {
    unsigned r = word * perWord;
    if (values[word])
      continue;
    if (r & copies) {
      values[word] = values[(r & ~copies) / perWord];
      continue;
    }
    if (plan.kind == ReadPlan::Vector) {
      unsigned count = plan.bytes / 4;
      for (auto [i, value] : llvm::enumerate(loadWords(places(r), count)))
        values[word + i] = value;
      continue;
    }
    unsigned count = 1u << plan.matrixBits.size();
    Type result = emit.i32();
    if (count > 1)
      result = LLVM::LLVMStructType::getLiteral(
          kernel.getContext(), SmallVector<Type>(count, emit.i32()));
    Value matrices = NVVM::LdMatrixOp::create(
        emit.builder, emit.loc, result, addresses.get(places(r)), count,
        NVVM::MMALayout::row,
        NVVM::LdStMatrixShapeAttr::get(kernel.getContext(), 8, 8),
        NVVM::LdStMatrixEltType::B16);
    for (unsigned i = 0; i < count; ++i) {
      unsigned moved = r;
      for (auto [k, bit] : llvm::enumerate(plan.matrixBits))
        if (i >> k & 1)
          moved |= 1u << bit;
      values[moved / perWord] = count == 1
                                    ? matrices
                                    : Value(LLVM::ExtractValueOp::create(
                                          emit.builder, emit.loc, matrices, i));
    }
  }
  setFragment(op.getResult(), values);
  return success();
}
