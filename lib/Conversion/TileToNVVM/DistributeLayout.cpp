//===- DistributeLayout.cpp - Movement of elements between lanes ----------===//
//
// Converts a fragment from one layout to another. The algebra says how far
// elements move: between the registers of a lane, between the lanes of a warp
// (shuffles), or further (a round trip through shared memory).
//
//===----------------------------------------------------------------------===//

#include "Distributor.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "tile/Layout/LayoutConversion.h"
#include "tile/Layout/Swizzle.h"
#include "tile/Transforms/TileLayouts.h"

using namespace mlir;
using namespace tile;

/// More shuffles than this per register cost more than shared memory.
static constexpr unsigned kMaxShuffles = 4;

//===----------------------------------------------------------------------===//
// Primitives
//===----------------------------------------------------------------------===//

void Distributor::barrier() {
  auto fence = [&](NVVM::Tcgen05FenceKind kind) {
    if (numColumns)
      NVVM::Tcgen05FenceOp::create(emit.builder, emit.loc, kind);
  };
  fence(NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC);
  NVVM::Barrier0Op::create(emit.builder, emit.loc);
  fence(NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
  pending = {};
}

/// Runs `exchange` on a value of any scalar type as 32-bit words.
static Value exchangeAsWords(Emitter &emit, Value value,
                             llvm::function_ref<Value(Value)> exchange) {
  Type type = value.getType();
  if (!type.isIndex() && type.getIntOrFloatBitWidth() <= 32)
    return emit.fromInteger(type, exchange(emit.toInteger(emit.i32(), value)));
  Value wide = emit.toInteger(emit.i64(), value);
  Value low = exchange(emit.trunc(emit.i32(), wide));
  Value high = exchange(emit.trunc(emit.i32(), emit.lshr(wide, 32)));
  return emit.fromInteger(
      type, emit.bitOr(emit.zext(emit.i64(), low),
                       emit.shl(emit.zext(emit.i64(), high), 32)));
}

static Value emitShuffle(Emitter &emit, NVVM::ShflKind kind, Value word,
                         Value offset) {
  return NVVM::ShflOp::create(emit.builder, emit.loc, emit.i32(),
                              emit.i32(0xFFFFFFFF), word, offset, emit.i32(31),
                              kind, UnitAttr());
}

Value Distributor::shuffle(Value value, Value source) {
  return exchangeAsWords(emit, value, [&](Value word) {
    return emitShuffle(emit, NVVM::ShflKind::idx, word, source);
  });
}

Value Distributor::shuffleXor(Value value, unsigned mask) {
  return exchangeAsWords(emit, value, [&](Value word) {
    return emitShuffle(emit, NVVM::ShflKind::bfly, word, emit.i32(mask));
  });
}

/// Whether `op` uses slots of buffers.
static bool usesBuffers(Operation *op) {
  return isa<ReadBufferOp, CopyAsyncOp, CopyTensorOp, CopyScalesOp,
             MultiplyAsyncOp>(op);
}

/// Whether buffers may hold data, or get some, while `op` runs: not outside the
/// loops that use them, for these end with all copies done.
static bool isAmongBuffers(Operation *op) {
  for (auto loop = op->getParentOfType<scf::ForOp>(); loop;
       loop = loop->getParentOfType<scf::ForOp>())
    if (loop.walk([](Operation *user) {
              return usesBuffers(user) ? WalkResult::interrupt()
                                       : WalkResult::advance();
            })
            .wasInterrupted())
      return true;
  return false;
}

/// Whether the kernel uses buffers with cleared slots after `op`, which stands
/// outside the loops that do.
static bool needsZerosAfter(Operation *op, func::FuncOp kernel) {
  Block &body = kernel.getBody().front();
  Operation *top = body.findAncestorOpInBlock(*op);
  return kernel
      .walk([&](AllocBufferOp alloc) {
        if (alloc.getCleared())
          for (Operation *user : alloc.getResult().getUsers())
            if (!body.findAncestorOpInBlock(*user)->isBeforeInBlock(top))
              return WalkResult::interrupt();
        return WalkResult::advance();
      })
      .wasInterrupted();
}

unsigned Distributor::getScratchStart(Operation *op, uint64_t bytes) {
  return isAmongBuffers(op) ||
                 (bytes > unclearedBytes && needsZerosAfter(op, kernel))
             ? bufferBytes
             : 0;
}

FailureOr<Value> Distributor::getScratch(Operation *op, uint64_t bytes) {
  const unsigned base = getScratchStart(op, bytes);
  if (base + bytes > options.target->maxSharedBytes)
    return op->emitOpError("needs ")
           << bytes << " bytes of shared memory to move " << op->getName()
           << " between lanes, but " << options.target->name << " has "
           << options.target->maxSharedBytes - base;
  sharedBytes = std::max<unsigned>(sharedBytes, base + bytes);
  scratchInUse = true;
  auto pointer = LLVM::LLVMPointerType::get(kernel.getContext(), 3);
  Value memory = LLVM::AddressOfOp::create(emit.builder, emit.loc, pointer,
                                           kSharedMemoryName);
  if (base == 0)
    return memory;
  return Value(LLVM::GEPOp::create(emit.builder, emit.loc, pointer,
                                   emit.integer(8), memory,
                                   ArrayRef<LLVM::GEPArg>{int32_t(base)}));
}

//===----------------------------------------------------------------------===//
// Registers and shuffles
//===----------------------------------------------------------------------===//

/// Whether every word of the new layout is one word of the old one, so that
/// words move instead of elements.
static bool keepsWords(const Fragment &source, const LinearLayout &from) {
  uint32_t inWord = source.perValue() - 1;
  for (auto [bit, column] : llvm::enumerate(from.getColumns())) {
    uint32_t expected = (uint32_t(1) << bit) & inWord;
    bool isLowRegister =
        bit < from.getDomain().bitsOf("register") && expected != 0;
    if (isLowRegister ? column != expected : (column & inWord) != 0)
      return false;
  }
  return source.numRegisters() >= source.perValue() &&
         (1u << from.getDomain().bitsOf("register")) >= source.perValue();
}

/// The register of the old layout that a place of the new one reads is
/// `R(register) ^ T(lane, warp)`. Returns every value that T takes.
static SmallVector<uint32_t> getThreadSpan(const LinearLayout &from) {
  uint32_t mask = (1u << from.getCodomain().bitsOf("register")) - 1;
  SmallVector<uint32_t> span = {0};
  for (StringRef axis : {"lane", "warp"})
    for (uint32_t column : from.getColumns(axis)) {
      if (llvm::is_contained(span, column & mask))
        continue;
      for (uint32_t known : SmallVector<uint32_t>(span))
        span.push_back(known ^ (column & mask));
    }
  return span;
}

/// Builds the fragment of `layout` whose register `r` is made by `element` (an
/// element as a scalar) or, where whole words move, `word` for the word that
/// starts at register `r`. Registers that read one place are made once.
static Fragment rebuild(Emitter &emit, const Fragment &source,
                        const LinearLayout &layout, const LinearLayout &from,
                        llvm::function_ref<Value(unsigned)> element,
                        llvm::function_ref<Value(unsigned)> word) {
  unsigned registers = 1u << layout.getDomain().bitsOf("register");
  Fragment result{source.elementType, layout, {}};
  llvm::DenseMap<uint32_t, Value> made; // by place
  auto make = [&](llvm::function_ref<Value(unsigned)> get, unsigned r) {
    Value &value = made[from(r)];
    if (!value)
      value = get(r);
    return value;
  };
  if (!source.isPacked() || keepsWords(source, from)) {
    for (unsigned r = 0; r < registers; r += source.perValue())
      result.values.push_back(make(word, r));
    return result;
  }
  SmallVector<Value> bits;
  for (unsigned r = 0; r < registers; ++r)
    bits.push_back(make(element, r));
  return Fragment::fromBits(emit, source.elementType, layout, bits);
}

Fragment Distributor::convertInRegisters(const Fragment &source,
                                         const LinearLayout &layout,
                                         const LinearLayout &from) {
  // The source register depends on the register alone, or on lanes and warps
  // through a selection.
  unsigned registerBits = from.getCodomain().bitsOf("register");
  uint32_t mask = (1u << registerBits) - 1;
  Value selector = emit.bitXor(
      emitLinear(emit, from.getColumns("lane"), lane, 0, registerBits),
      emitLinear(emit, from.getColumns("warp"), warp, 0, registerBits));
  SmallVector<uint32_t> span = getThreadSpan(from);
  auto choose = [&](llvm::function_ref<Value(unsigned)> get, unsigned r) {
    uint32_t base = from(r) & mask;
    Value value = get(base);
    for (uint32_t part : ArrayRef<uint32_t>(span).drop_front()) {
      Value matches =
          emit.compare(arith::CmpIPredicate::eq, selector, emit.i32(part));
      value = emit.select(matches, get(base ^ part), value);
    }
    return value;
  };
  return rebuild(
      emit, source, layout, from,
      [&](unsigned r) {
        return choose([&](unsigned s) { return source.getBits(emit, s); }, r);
      },
      [&](unsigned r) {
        return choose(
            [&](unsigned s) { return source.values[s / source.perValue()]; },
            r);
      });
}

Fragment Distributor::convertByShuffles(const Fragment &source,
                                        const LinearLayout &layout,
                                        const LinearLayout &from) {
  // A place of the new layout reads register R(r) ^ R'(lane, warp) of lane
  // L(r) ^ L'(lane, warp). A shuffle sends one register per lane, chosen by the
  // *sender*; so every register that any receiver may want is sent, and the
  // receiver keeps the right one.
  unsigned registerBits = from.getCodomain().bitsOf("register");
  uint32_t mask = (1u << registerBits) - 1;
  auto linear = [&](unsigned first, unsigned bits) {
    return emit.bitXor(
        emitLinear(emit, from.getColumns("lane"), lane, first, bits),
        emitLinear(emit, from.getColumns("warp"), warp, first, bits));
  };
  Value registerPart = linear(0, registerBits);
  Value lanePart = linear(registerBits, kLaneBits);
  SmallVector<uint32_t> span = getThreadSpan(from);
  auto receive = [&](llvm::function_ref<Value(unsigned)> get, unsigned r) {
    uint32_t image = from(r);
    uint32_t base = image & mask;
    uint32_t laneConstant = image >> registerBits & 31;
    Value sender = emit.bitXor(lanePart, emit.i32(laneConstant));
    Value value;
    for (uint32_t part : span) {
      Value candidate = shuffle(get(base ^ part), sender);
      if (!value) {
        value = candidate;
        continue;
      }
      Value matches =
          emit.compare(arith::CmpIPredicate::eq, registerPart, emit.i32(part));
      value = emit.select(matches, candidate, value);
    }
    return value;
  };
  return rebuild(
      emit, source, layout, from,
      [&](unsigned r) {
        return receive([&](unsigned s) { return source.getBits(emit, s); }, r);
      },
      [&](unsigned r) {
        return receive(
            [&](unsigned s) { return source.values[s / source.perValue()]; },
            r);
      });
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// Bytes of one element in shared memory; FP4 takes a byte.
static unsigned getSharedElementBytes(Type element) {
  return std::max(1u, getElementBits(element) / 8);
}

/// The map of a layout's places to byte offsets of a row-major array.
static LinearLayout toByteOffsets(const LinearLayout &layout,
                                  unsigned elementBytes) {
  unsigned shift = llvm::Log2_32(elementBytes);
  SmallVector<uint32_t> columns;
  for (uint32_t column : layout.getColumns())
    columns.push_back(column << shift);
  return LinearLayout(layout.getDomain(),
                      Space({{"offset", layout.getCodomain().bits() + shift}}),
                      columns);
}

/// Bytes of the longest vector, up to 16, that low registers make up.
static unsigned getVectorBytes(const LinearLayout &offsets,
                               unsigned elementBytes) {
  unsigned bytes = elementBytes;
  for (uint32_t column : offsets.getColumns("register")) {
    if (column != bytes || bytes == 16)
      break;
    bytes *= 2;
  }
  return bytes;
}

namespace {

/// Byte offsets of a fragment's elements in shared memory, in rounds: round
/// `n` holds the offsets whose bits from `roundBits` up are `n`.
struct SharedOffsets {
  LinearLayout offsets; ///< `{register, lane, warp}` to `{offset}`
  unsigned roundBits;
  Value thread; ///< The part of the lane and warp, i32.
  bool threadHasRound = false;

  SharedOffsets(Emitter &emit, const LinearLayout &offsets, unsigned roundBits,
                Value lane, Value warp)
      : offsets(offsets), roundBits(roundBits) {
    unsigned bits = offsets.getCodomain().bits();
    thread = emit.bitXor(
        emitLinear(emit, offsets.getColumns("lane"), lane, 0, bits),
        emitLinear(emit, offsets.getColumns("warp"), warp, 0, bits));
    for (StringRef axis : {"lane", "warp"})
      for (uint32_t column : offsets.getColumns(axis))
        threadHasRound |= column >> roundBits != 0;
  }

  /// Whether register `r` may be in `round` for some thread.
  bool mayHold(unsigned r, unsigned round) const {
    return threadHasRound || offsets(r) >> roundBits == round;
  }
  /// The predicate that it is; null where every thread agrees.
  Value holds(Emitter &emit, unsigned r, unsigned round) const {
    if (!threadHasRound)
      return {};
    return emit.compare(arith::CmpIPredicate::eq, emit.lshr(thread, roundBits),
                        emit.i32(offsets(r) >> roundBits ^ round));
  }
  /// The offset of register `r` in the scratch.
  Value get(Emitter &emit, unsigned r) const {
    uint32_t mask = (uint32_t(1) << roundBits) - 1;
    return emit.bitAnd(emit.bitXor(thread, emit.i32(offsets(r))), mask);
  }
};

} // namespace

/// Fewest bytes of a tile that go through scratch memory in one round.
static constexpr uint64_t kFewestRoundBytes = 1024;

/// An element of a fragment as an integer of `stored` type.
static Value toStored(Emitter &emit, const Fragment &source, unsigned r,
                      Type stored) {
  return source.isPacked() ? emit.trunc(stored, source.getBits(emit, r))
                           : emit.toInteger(stored, source.values[r]);
}

/// The elements in registers [r, r + count) as one value to store.
static Value assembleStored(Emitter &emit, const Fragment &source, unsigned r,
                            unsigned count, unsigned elementBytes,
                            Type stored) {
  if (count == 1)
    return toStored(emit, source, r, stored);
  unsigned perValue = source.perValue();
  if (count < perValue)
    return emit.trunc(emit.builder.getIntegerType(8 * elementBytes * count),
                      emit.lshr(source.values[r / perValue],
                                r % perValue * 8 * elementBytes));
  unsigned parts = count / perValue;
  if (parts == 1)
    return source.values[r / perValue];
  Type part = source.isPacked() ? emit.i32() : stored;
  Value value = LLVM::PoisonOp::create(
      emit.builder, emit.loc,
      VectorType::get({static_cast<int64_t>(parts)}, part));
  for (unsigned i = 0; i < parts; ++i)
    value = LLVM::InsertElementOp::create(
        emit.builder, emit.loc, value,
        source.isPacked() ? source.values[r / perValue + i]
                          : toStored(emit, source, r + i, stored),
        emit.i32(i));
  return value;
}

FailureOr<Fragment>
Distributor::convertThroughShared(Operation *op, const Fragment &source,
                                  const LinearLayout &layout) {
  Type element = source.elementType;
  bool packed = source.isPacked();
  unsigned bytes = getSharedElementBytes(element);
  Type stored = emit.builder.getIntegerType(8 * bytes);
  LinearLayout writes = toByteOffsets(source.layout, bytes);
  LinearLayout reads = toByteOffsets(layout, bytes);
  // FP4 elements are spread to bytes, one by one.
  bool isFp4 = getElementBits(element) == 4;
  unsigned writeBytes = isFp4 ? 1 : getVectorBytes(writes, bytes);
  unsigned readBytes = isFp4 ? 1 : getVectorBytes(reads, bytes);
  LinearLayout swizzle =
      chooseSwizzle(writes.restrictDomain({"lane"}),
                    reads.restrictDomain({"lane"}), writeBytes, readBytes);
  // A tile that does not fit goes through in rounds.
  unsigned totalBits = writes.getCodomain().bits();
  unsigned roundBits =
      std::min(totalBits, llvm::Log2_32(options.target->maxSharedBytes));
  auto fits = [&](uint64_t bytes) {
    return llvm::alignTo(getScratchStart(op, bytes) + bytes,
                         kFewestRoundBytes) +
               controlBytes <=
           options.target->maxSharedBytes;
  };
  while (!fits(uint64_t(1) << roundBits) &&
         uint64_t(1) << roundBits > kFewestRoundBytes)
    --roundBits;
  FailureOr<Value> base = getScratch(op, uint64_t(1) << roundBits);
  if (failed(base))
    return failure();
  SharedOffsets write(emit, writes.then(swizzle), roundBits, lane, warp);
  SharedOffsets read(emit, reads.then(swizzle), roundBits, lane, warp);
  auto pointer = [&](Value offset) -> Value {
    return LLVM::GEPOp::create(emit.builder, emit.loc, base->getType(),
                               emit.builder.getI8Type(), *base,
                               ArrayRef<LLVM::GEPArg>{offset});
  };

  uint32_t free = getFreeRegisters(source.layout);
  Value owner = emitOwner(source.layout);
  unsigned perWrite = writeBytes / bytes, perRead = readBytes / bytes;
  unsigned registers = 1u << layout.getDomain().bitsOf("register");
  // What is read: pieces of up to a word of packed elements, or scalars.
  unsigned partBytes = packed ? std::min(readBytes, 4u) : bytes;
  unsigned perPart = partBytes / bytes;
  SmallVector<Value> parts(registers / perPart);
  for (unsigned round = 0; round < 1u << (totalBits - roundBits); ++round) {
    // Readers of what was there before must be done.
    barrier();
    emit.guarded(owner, [&] {
      for (unsigned r = 0; r < source.numRegisters(); r += perWrite) {
        if ((r & free) || !write.mayHold(r, round))
          continue;
        emit.guarded(write.holds(emit, r, round), [&] {
          LLVM::StoreOp::create(
              emit.builder, emit.loc,
              assembleStored(emit, source, r, perWrite, bytes, stored),
              pointer(write.get(emit, r)), writeBytes);
        });
      }
    });
    barrier();
    for (unsigned r = 0; r < registers; r += perRead) {
      if (!read.mayHold(r, round))
        continue;
      Type part = emit.builder.getIntegerType(8 * partBytes);
      unsigned count = perRead / perPart;
      Type type =
          count == 1
              ? part
              : Type(VectorType::get({static_cast<int64_t>(count)}, part));
      Value loaded = LLVM::LoadOp::create(
          emit.builder, emit.loc, type, pointer(read.get(emit, r)), readBytes);
      Value holds = read.holds(emit, r, round);
      for (unsigned i = 0; i < count; ++i) {
        Value one = count == 1
                        ? loaded
                        : Value(LLVM::ExtractElementOp::create(
                              emit.builder, emit.loc, loaded, emit.i32(i)));
        Value &kept = parts[r / perPart + i];
        kept = kept && holds ? emit.select(holds, one, kept) : one;
      }
    }
  }

  Fragment result{element, layout, {}};
  if (!packed) {
    for (Value part : parts)
      result.values.push_back(emit.fromInteger(element, part));
    return result;
  }
  unsigned partsPerWord = std::max(1u, source.perValue() / perPart);
  unsigned partWidth = perPart * getElementBits(element);
  for (unsigned first = 0; first < parts.size(); first += partsPerWord) {
    Value word;
    for (unsigned i = 0; i < partsPerWord && first + i < parts.size(); ++i) {
      Value placed =
          emit.shl(emit.zext(emit.i32(), parts[first + i]), i * partWidth);
      word = word ? emit.bitOr(word, placed) : placed;
    }
    result.values.push_back(word);
  }
  return result;
}

LogicalResult Distributor::distributeConvertLayout(ConvertLayoutOp op) {
  const Fragment &source = getFragment(op.getSource());
  LinearLayout layout = getLayout(op);
  std::optional<LayoutConversion> conversion =
      getLayoutConversion(source.layout, layout);
  if (!conversion)
    return op.emitOpError("expects a source that holds the whole tile");

  StringRef method = "registers";
  FailureOr<Fragment> result;
  switch (conversion->reach) {
  case ConversionReach::Nothing:
  case ConversionReach::Registers:
    result = convertInRegisters(source, layout, conversion->source);
    break;
  case ConversionReach::Lanes:
    if (getThreadSpan(conversion->source).size() <= kMaxShuffles) {
      method = "shuffles";
      result = convertByShuffles(source, layout, conversion->source);
      break;
    }
    [[fallthrough]];
  case ConversionReach::Warps:
    method = "shared memory";
    result = convertThroughShared(op, source, layout);
    break;
  }
  if (failed(result))
    return failure();
  setFragment(op, std::move(*result));
  remark::analysis(op.getLoc(), remark::RemarkOpts::name("layout-conversion")
                                    .category("tile-distribute")
                                    .function(kernel.getName()))
      << remark::metric("through", method)
      << remark::metric("tile",
                        RankedTensorType::get(op.getType().getShape(),
                                              op.getType().getElementType()));
  return success();
}

//===----------------------------------------------------------------------===//
// One element for all
//===----------------------------------------------------------------------===//

LogicalResult Distributor::distributeExtract(Operation *op) {
  auto extract = cast<tensor::ExtractOp>(op);
  const Fragment &source = getFragment(extract.getTensor());
  if (!isa<IntegerType, IndexType, BFloat16Type, Float16Type, Float32Type>(
          source.elementType))
    return op->emitOpError("expects integers or f16, bf16, f32 elements, but "
                           "got ")
           << source.elementType;
  // Row-major index of the wanted element. Outside the tile it is undefined;
  // no thread writes then.
  Value index = emit.i64(0);
  auto type = cast<RankedTensorType>(extract.getTensor().getType());
  for (auto [dim, value] : llvm::enumerate(extract.getIndices()))
    index = emit.add(emit.mul(index, emit.i64(type.getDimSize(dim))),
                     getIndexAsI64(value));
  index = emit.trunc(emit.i32(), index);

  Type element = source.elementType;
  unsigned bytes = getSharedElementBytes(element);
  Type stored = emit.builder.getIntegerType(8 * bytes);
  FailureOr<Value> base = getScratch(op, bytes);
  if (failed(base))
    return failure();
  const LinearLayout &layout = source.layout;
  unsigned total = layout.getCodomain().bits();
  Value thread =
      emit.bitXor(emitLinear(emit, layout.getColumns("lane"), lane, 0, total),
                  emitLinear(emit, layout.getColumns("warp"), warp, 0, total));
  uint32_t free = getFreeRegisters(layout);
  barrier();
  emit.guarded(emitOwner(layout), [&] {
    for (unsigned r = 0; r < source.numRegisters(); ++r) {
      if (r & free)
        continue;
      Value here =
          emit.compare(arith::CmpIPredicate::eq,
                       emit.bitXor(thread, emit.i32(layout(r))), index);
      emit.guarded(here, [&] {
        Value scalar = emit.toInteger(stored, source.getScalar(emit, r));
        LLVM::StoreOp::create(emit.builder, emit.loc, scalar, *base, bytes);
      });
    }
  });
  barrier();
  Value value =
      LLVM::LoadOp::create(emit.builder, emit.loc, stored, *base, bytes);
  scalars.map(extract.getResult(), emit.fromInteger(element, value));
  return success();
}
