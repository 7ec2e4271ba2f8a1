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

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Remarks.h"
#include "tile/Layout/Swizzle.h"
#include "tile/Transforms/TileLayouts.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

/// The space of byte offsets in a slot, before it is arranged.
static Space getOffsets(BufferType type) {
  int64_t bytes = type.getPlacement()
                      ? ShapedType::getNumElements(type.getTileShape()) *
                            getBytes(type.getElementType())
                      : type.getSlotBytes();
  return Space({{"offset", llvm::Log2_64(bytes)}});
}

/// From bytes of a row-major tile to where the type's placement has them.
static LinearLayout getPlacedBytes(BufferType type) {
  const unsigned bytes = getBytes(type.getElementType());
  SmallVector<uint32_t> columns;
  for (unsigned byte = 1; byte < bytes; byte *= 2)
    columns.push_back(byte);
  for (int64_t offset : type.getPlacement().getOffsets())
    columns.push_back(static_cast<uint32_t>(offset));
  return LinearLayout(getOffsets(type),
                      Space({{"offset", llvm::Log2_64(type.getSlotBytes())}}),
                      columns);
}

/// Bytes, up to 16, that `swizzle` leaves side by side wherever they begin.
static unsigned getKeptBytes(const LinearLayout &swizzle) {
  unsigned bytes = 1;
  for (uint32_t column : swizzle.getColumns()) {
    if (column != bytes || bytes == 16)
      break;
    bytes *= 2;
  }
  return bytes;
}

/// Bytes from one element of a slot to the next along `dim`.
static uint32_t getByteStride(BufferType type, unsigned dim) {
  return ShapedType::getNumElements(type.getTileShape().drop_front(dim + 1)) *
         getBytes(type.getElementType());
}

LinearLayout tile::getByteLayout(const LinearLayout &layout, BufferType type) {
  const Space &tile = layout.getCodomain();
  SmallVector<uint32_t> columns;
  for (uint32_t column : layout.getColumns()) {
    uint32_t offset = 0;
    for (unsigned dim = 0; dim < type.getTileShape().size(); ++dim)
      offset += tile.coordinate(column, "d" + std::to_string(dim)) *
                getByteStride(type, dim);
    columns.push_back(static_cast<uint32_t>(type.addPadding(offset)));
  }
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
  /// Matrix: each FP4 value becomes a byte.
  bool expands = false;
};

} // namespace

/// Whether a tile is the left operand of the multiply that it goes to.
static bool feedsLhs(Value tile, unsigned depth = 0) {
  // A loop may carry a value round without an end.
  if (depth > 8)
    return false;
  for (OpOperand &use : tile.getUses()) {
    Operation *user = use.getOwner();
    if (isa<MmaFOp, MmaFScaledOp>(user))
      return use.getOperandNumber() == 0;
    Value next;
    if (isa<scf::YieldOp>(user)) {
      if (auto loop = dyn_cast<scf::ForOp>(user->getParentOp()))
        next = loop.getRegionIterArg(use.getOperandNumber());
    } else if (user->getNumResults() == 1) {
      next = user->getResult(0);
    }
    if (next && feedsLhs(next, depth + 1))
      return true;
  }
  return false;
}

/// Plans the read of a tile whose layout, in bytes, is `layout`. Requires: the
/// elements are packed in words. With `expands`, the tile takes containers and
/// comes from a padded buffer.
static ReadPlan planRead(const LinearLayout &layout, unsigned elementBytes,
                         bool isLhs, bool expands) {
  ArrayRef<uint32_t> registers = layout.getColumns("register");
  ReadPlan plan;
  llvm::append_range(plan.lanes, layout.getColumns("lane"));
  llvm::append_range(plan.warps, layout.getColumns("warp"));
  unsigned run = 0;
  while (run < registers.size() && registers[run] == elementBytes << run)
    ++run;
  unsigned runBytes = elementBytes << run;

  // A lane gets four bytes of 16, or two of eight that become four.
  const unsigned laneBytes = expands ? 2 : 4;
  const unsigned wordBits = llvm::Log2_32(laneBytes / elementBytes);
  auto isChunk = [](uint32_t column) { return (column & 15) == 0; };
  if (runBytes == laneBytes && plan.lanes.size() == 5 &&
      plan.lanes[0] == laneBytes && plan.lanes[1] == 2 * laneBytes &&
      llvm::all_of(ArrayRef(plan.lanes).drop_front(2), isChunk) &&
      llvm::all_of(plan.warps, isChunk) &&
      llvm::all_of(registers.drop_front(wordBits), isChunk)) {
    plan.kind = ReadPlan::Matrix;
    plan.bytes = 16;
    plan.expands = expands;
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

/// Whether a read gives each FP4 value a byte of its own.
static bool expands(ReadBufferOp read) {
  return read.getBuffer().getType().getPadded() &&
         takesContainers(read.getResult());
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
                           bytes, feedsLhs(read.getResult()), expands(read));
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

/// The slots that copies fill, in an order that is the same for all buffers.
static SmallVector<Value> getFilledSlots(AllocBufferOp op) {
  SmallVector<Value> slots;
  for (Operation *user : op.getResult().getUsers())
    if (auto copy = dyn_cast<CopyAsyncOp>(user))
      slots.push_back(copy.getSlot());
  llvm::sort(slots, [](Value a, Value b) {
    return a.getAsOpaquePointer() < b.getAsOpaquePointer();
  });
  return slots;
}

LogicalResult Distributor::placeBuffers() {
  // Buffers whose slots of one number are filled together lie side by side, so
  // that one offset leads to all of them.
  struct Stage {
    SmallVector<Value> filled;
    int64_t numSlots;
    SmallVector<TypedValue<BufferType>> buffers;
    int64_t alignment = 1;
    bool isCleared = false;
  };
  SmallVector<Stage> stages;
  Operation *last = nullptr;
  kernel.walk([&](AllocBufferOp op) {
    BufferType type = op.getResult().getType();
    SharedBuffer buffer;
    if (type.getPlacement()) {
      buffer.swizzle = getPlacedBytes(type);
    } else {
      // Copies write around padding: eight bytes each, not sixteen.
      buffer.copyLayout = getBlockedLayout(
          type.getTileShape(), getElementBits(type.getElementType()), numWarps,
          /*keepInWarp=*/std::nullopt, type.getPadded() ? 8 : 16);
      buffer.swizzle = chooseBufferSwizzle(op, buffer.copyLayout);
    }
    SmallVector<Value> filled = getFilledSlots(op);
    auto *stage = llvm::find_if(stages, [&](const Stage &stage) {
      return stage.filled == filled && stage.numSlots == type.getNumSlots();
    });
    if (stage == stages.end() || filled.empty()) {
      stages.push_back({filled, type.getNumSlots()});
      stage = &stages.back();
    }
    stage->buffers.push_back(op.getResult());
    stage->alignment = std::max(stage->alignment, type.getAlignment());
    stage->isCleared |= op.getCleared();
    last = op;
    buffers[op.getResult()] = std::move(buffer);
  });
  // Scratch memory takes the place of the first ones: zeros are to stay.
  llvm::stable_sort(stages, [](const Stage &a, const Stage &b) {
    return a.isCleared < b.isCleared;
  });
  uint64_t end = 0, uncleared = 0;
  for (Stage &stage : stages) {
    sharedAlignment =
        std::max(sharedAlignment, static_cast<unsigned>(stage.alignment));
    end = llvm::alignTo(end, stage.alignment);
    // Those that want more alignment lie in front.
    llvm::stable_sort(stage.buffers, [](auto a, auto b) {
      return a.getType().getAlignment() > b.getType().getAlignment();
    });
    uint64_t stageBytes = 0;
    for (TypedValue<BufferType> buffer : stage.buffers) {
      buffers[buffer].base = static_cast<unsigned>(end + stageBytes);
      stageBytes += buffer.getType().getSlotStride();
    }
    stageBytes = llvm::alignTo(stageBytes, stage.alignment);
    for (Value buffer : stage.buffers)
      buffers[buffer].slotBytes = static_cast<unsigned>(stageBytes);
    end += stageBytes * stage.numSlots;
    if (!stage.isCleared)
      uncleared = end;
  }
  if (end > options.target->maxSharedBytes)
    return last->emitOpError("needs ")
           << end << " bytes of shared memory for all buffers, but "
           << options.target->name << " has " << options.target->maxSharedBytes;
  bufferBytes = static_cast<unsigned>(end);
  unclearedBytes = static_cast<unsigned>(uncleared);
  sharedBytes = std::max(sharedBytes, bufferBytes);
  return success();
}

void Distributor::clearBuffers() {
  constexpr unsigned bytes = 16;
  auto memory = LLVM::LLVMPointerType::get(kernel.getContext(), 3);
  Type vector = VectorType::get({bytes / 4}, emit.i32());
  Value zero = LLVM::ZeroOp::create(emit.builder, emit.loc, vector);
  Value first = emit.shl(emit.threadId(), llvm::Log2_32(bytes));
  auto loop = [&](Value from, int64_t to, int64_t step,
                  llvm::function_ref<void(Value)> body) {
    auto each = scf::ForOp::create(emit.builder, emit.loc, from, emit.i32(to),
                                   emit.i32(step));
    OpBuilder::InsertionGuard guard(emit.builder);
    emit.builder.setInsertionPointToStart(each.getBody());
    body(each.getInductionVar());
  };
  kernel.walk([&](AllocBufferOp op) {
    if (!op.getCleared())
      return;
    BufferType type = op.getResult().getType();
    const SharedBuffer &buffer = buffers.find(op.getResult())->second;
    Value base = LLVM::AddressOfOp::create(emit.builder, emit.loc, memory,
                                           kSharedMemoryName);
    loop(emit.i32(0), type.getNumSlots(), 1, [&](Value slot) {
      Value start = emit.add(emit.mul(slot, emit.i32(buffer.slotBytes)),
                             emit.i32(buffer.base));
      loop(first, type.getSlotStride(), int64_t(bytes) * getNumThreads(),
           [&](Value offset) {
             Value address = LLVM::GEPOp::create(
                 emit.builder, emit.loc, memory, emit.integer(8), base,
                 ArrayRef<LLVM::GEPArg>{emit.add(start, offset)});
             LLVM::StoreOp::create(emit.builder, emit.loc, zero, address,
                                   bytes);
           });
    });
  });
  if (options.target->has(Capability::Tma))
    fenceAsyncProxy();
}

SlotPlace Distributor::getSlot(const SharedBuffer &buffer, Value slot) {
  SlotPlace place;
  emitOutsideLoops(emit, [&] {
    place.memory = LLVM::AddressOfOp::create(
        emit.builder, emit.loc,
        LLVM::LLVMPointerType::get(kernel.getContext(), 3), kSharedMemoryName);
  });
  Value index = scalars.lookup(slot);
  Value number =
      arith::IndexCastOp::create(emit.builder, emit.loc, emit.i32(), index);
  place.offset = emit.mul(number, emit.i32(buffer.slotBytes));
  // A loop that carries the number carries the offset as well: the assembler
  // would multiply anew for each address.
  if (auto cast = index.getDefiningOp<arith::IndexCastUIOp>())
    if (auto argument = dyn_cast<BlockArgument>(cast.getIn()))
      if (argument.getType().isInteger(32) &&
          isa<scf::ForOp>(argument.getOwner()->getParentOp()))
        carriedValues.addProduct(argument, buffer.slotBytes, place.offset);
  place.base = buffer.base;
  return place;
}

LogicalResult Distributor::distributeRead(ReadBufferOp op) {
  auto known = buffers.find(op.getBuffer());
  if (known == buffers.end())
    return op.emitOpError("expects the result of a tile.alloc_buffer");
  const SharedBuffer &buffer = known->second;
  BufferType type = op.getBuffer().getType();
  Type element = type.getElementType();
  if (!Fragment::isPacked(element))
    return op.emitOpError("expects elements below 32 bits, but got ")
           << element;
  const unsigned bytes = getBytes(element);
  LinearLayout layout = getLayout(op.getResult());
  LinearLayout places = getByteLayout(layout, type);
  ReadPlan plan =
      planRead(places, bytes, feedsLhs(op.getResult()), expands(op));
  if (type.getPlacement() && plan.bytes > getKeptBytes(buffer.swizzle)) {
    // A matrix of `ldmatrix` has lanes of its own.
    plan = ReadPlan();
    plan.bytes = bytes;
    llvm::append_range(plan.lanes, places.getColumns("lane"));
    llvm::append_range(plan.warps, places.getColumns("warp"));
  }
  SlotAddresses addresses(emit, getSlot(buffer, op.getSlot()), plan.lanes,
                          plan.warps, buffer.swizzle, lane, warp);
  // The part of the slot that is read: constant indices say where it starts,
  // others move all accesses.
  uint32_t start = 0;
  SmallVector<std::pair<Value, SmallVector<uint32_t>>> moves;
  for (auto [dim, index] : llvm::enumerate(op.getIndices())) {
    const int64_t extent = op.getType().getDimSize(dim);
    auto getOffset = [&](int64_t part) {
      return static_cast<uint32_t>(
          type.addPadding(part * extent * getByteStride(type, dim)));
    };
    if (std::optional<int64_t> constant = getConstantIntValue(index)) {
      start += getOffset(*constant);
      continue;
    }
    SmallVector<uint32_t> columns;
    for (int64_t part = 1; part * extent < type.getTileShape()[dim]; part *= 2)
      columns.push_back(getOffset(part));
    if (!columns.empty())
      moves.emplace_back(arith::IndexCastOp::create(emit.builder, emit.loc,
                                                    emit.i32(),
                                                    scalars.lookup(index)),
                         std::move(columns));
  }
  for (auto &[index, columns] : moves) {
    addresses.moveBy(columns, index);
    // A part that moves by less than a word has no words of its own.
    if (plan.kind == ReadPlan::Scattered && (columns.front() & 3))
      plan.bytes = bytes;
  }
  const unsigned registers = 1u << layout.getDomain().bitsOf("register");
  const unsigned perWord = (plan.expands ? 2 : 4) / bytes;
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
    for (auto &[index, columns] : moves)
      words.moveBy(columns, index);
    SmallVector<Value> bits;
    for (unsigned r = 0; r < registers; ++r) {
      uint32_t place = start + places(r & ~copies);
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
      for (auto [i, value] :
           llvm::enumerate(loadWords(start + places(r), count)))
        values[word + i] = value;
      continue;
    }
    unsigned count = 1u << plan.matrixBits.size();
    Type result = emit.i32();
    if (count > 1)
      result = LLVM::LLVMStructType::getLiteral(
          kernel.getContext(), SmallVector<Type>(count, emit.i32()));
    Value matrices = NVVM::LdMatrixOp::create(
        emit.builder, emit.loc, result, addresses.get(start + places(r)), count,
        NVVM::MMALayout::row,
        NVVM::LdStMatrixShapeAttr::get(kernel.getContext(), 8,
                                       plan.expands ? 16 : 8),
        plan.expands ? NVVM::LdStMatrixEltType::B8X16_B4X16_P64
                     : NVVM::LdStMatrixEltType::B16);
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
  setFragment(op.getResult(),
              Fragment{element, layout, std::move(values), plan.expands});
  return success();
}
