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
  NVVM::Barrier0Op::create(emit.builder, emit.loc);
}

/// Runs `exchange` on a value of any scalar type as 32-bit words.
static Value exchangeAsWords(Emitter &emit, Value value,
                             llvm::function_ref<Value(Value)> exchange) {
  Type type = value.getType();
  if (type.isIndex()) {
    Value wide =
        arith::IndexCastOp::create(emit.builder, emit.loc, emit.i64(), value);
    return arith::IndexCastOp::create(emit.builder, emit.loc, type,
                                      exchangeAsWords(emit, wide, exchange));
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits == 64) {
    Value low = exchange(emit.trunc(emit.i32(), value));
    Value high = exchange(emit.trunc(emit.i32(), emit.lshr(value, 32)));
    return emit.bitOr(emit.zext(emit.i64(), low),
                      emit.shl(emit.zext(emit.i64(), high), 32));
  }
  Type integer = emit.builder.getIntegerType(bits);
  Value word = emit.zext(emit.i32(), emit.bitcast(integer, value));
  Value result = emit.trunc(integer, exchange(word));
  return emit.bitcast(type, result);
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

FailureOr<Value> Distributor::getScratch(Operation *op, uint64_t bytes) {
  if (bytes > options.target->maxSharedBytes)
    return op->emitOpError("needs ")
           << bytes << " bytes of shared memory to move " << op->getName()
           << " between lanes, but " << options.target->name << " has "
           << options.target->maxSharedBytes;
  sharedBytes = std::max<unsigned>(sharedBytes, bytes);
  return Value(LLVM::AddressOfOp::create(
      emit.builder, emit.loc,
      LLVM::LLVMPointerType::get(kernel.getContext(), 3), kSharedMemoryName));
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
/// starts at register `r`.
static Fragment rebuild(Emitter &emit, const Fragment &source,
                        const LinearLayout &layout, const LinearLayout &from,
                        llvm::function_ref<Value(unsigned)> element,
                        llvm::function_ref<Value(unsigned)> word) {
  unsigned registers = 1u << layout.getDomain().bitsOf("register");
  Fragment result{source.elementType, layout, {}};
  if (!source.isPacked() || keepsWords(source, from)) {
    for (unsigned r = 0; r < registers; r += source.perValue())
      result.values.push_back(word(r));
    return result;
  }
  SmallVector<Value> bits;
  for (unsigned r = 0; r < registers; ++r)
    bits.push_back(element(r));
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

FailureOr<Fragment>
Distributor::convertThroughShared(Operation *op, const Fragment &source,
                                  const LinearLayout &layout) {
  unsigned bytes = getSharedElementBytes(source.elementType);
  LinearLayout write = toByteOffsets(source.layout, bytes);
  LinearLayout read = toByteOffsets(layout, bytes);
  // FP4 elements are spread to bytes, one by one.
  bool isFp4 = getElementBits(source.elementType) == 4;
  unsigned writeBytes = isFp4 ? 1 : getVectorBytes(write, bytes);
  unsigned readBytes = isFp4 ? 1 : getVectorBytes(read, bytes);
  LinearLayout swizzle =
      chooseSwizzle(write.restrictDomain({"lane"}),
                    read.restrictDomain({"lane"}), writeBytes, readBytes);
  write = write.then(swizzle);
  read = read.then(swizzle);

  unsigned offsetBits = write.getCodomain().bits();
  FailureOr<Value> base = getScratch(op, uint64_t(1) << offsetBits);
  if (failed(base))
    return failure();
  auto threadOffset = [&](const LinearLayout &offsets) {
    return emit.bitXor(
        emitLinear(emit, offsets.getColumns("lane"), lane, 0, offsetBits),
        emitLinear(emit, offsets.getColumns("warp"), warp, 0, offsetBits));
  };
  auto pointer = [&](const LinearLayout &offsets, Value thread,
                     unsigned r) -> Value {
    Value offset = emit.bitXor(thread, emit.i32(offsets(r)));
    return LLVM::GEPOp::create(emit.builder, emit.loc, base->getType(),
                               emit.builder.getI8Type(), *base,
                               ArrayRef<LLVM::GEPArg>{offset});
  };
  Type element = source.elementType;
  Type stored = emit.builder.getIntegerType(8 * bytes);
  /// An element as an integer of its size in memory.
  auto toStored = [&](unsigned r) -> Value {
    if (source.isPacked())
      return emit.trunc(stored, source.getBits(emit, r));
    Value value = source.values[r];
    if (element.isIndex())
      return arith::IndexCastOp::create(emit.builder, emit.loc, stored, value);
    if (element.isInteger(1))
      return emit.zext(stored, value);
    return emit.bitcast(stored, value);
  };

  // Readers of an earlier conversion must be done.
  barrier();
  uint32_t free = getFreeRegisters(source.layout);
  Value owner = emitOwner(source.layout);
  Value writeThread = threadOffset(write);
  scf::IfOp branch;
  if (owner) {
    branch = scf::IfOp::create(emit.builder, emit.loc, TypeRange(), owner,
                               /*withElse=*/false);
    emit.builder.setInsertionPointToStart(branch.thenBlock());
  }
  unsigned perWrite = writeBytes / bytes;
  for (unsigned r = 0; r < source.numRegisters(); r += perWrite) {
    if (r & free)
      continue;
    Value value;
    if (perWrite == 1) {
      value = toStored(r);
    } else if (source.isPacked() && writeBytes <= 4) {
      value = emit.trunc(emit.builder.getIntegerType(8 * writeBytes),
                         emit.lshr(source.values[r / source.perValue()],
                                   r % source.perValue() * 8 * bytes));
    } else {
      // Whole words, or wide elements.
      unsigned perValue = source.perValue();
      Type part = source.isPacked() ? emit.i32() : stored;
      unsigned count = perWrite / perValue;
      if (count == 1) {
        value = source.values[r / perValue];
      } else {
        value = LLVM::PoisonOp::create(
            emit.builder, emit.loc,
            VectorType::get({static_cast<int64_t>(count)}, part));
        for (unsigned i = 0; i < count; ++i)
          value = LLVM::InsertElementOp::create(
              emit.builder, emit.loc, value,
              source.isPacked() ? source.values[r / perValue + i]
                                : toStored(r + i),
              emit.i32(i));
      }
    }
    LLVM::StoreOp::create(emit.builder, emit.loc, value,
                          pointer(write, writeThread, r), writeBytes);
  }
  if (branch)
    emit.builder.setInsertionPointAfter(branch);
  barrier();

  Value readThread = threadOffset(read);
  unsigned registers = 1u << layout.getDomain().bitsOf("register");
  unsigned perRead = readBytes / bytes;
  bool packed = source.isPacked();
  // Loads in units of a word, or of one element where that is less.
  SmallVector<Value> bits(packed ? registers : 0);
  Fragment result{element, layout, {}};
  auto fromStored = [&](Value value) -> Value {
    if (element.isIndex())
      return arith::IndexCastOp::create(emit.builder, emit.loc, element, value);
    if (element.isInteger(1))
      return emit.trunc(element, value);
    return emit.bitcast(element, value);
  };
  for (unsigned r = 0; r < registers; r += perRead) {
    Value address = pointer(read, readThread, r);
    if (packed && readBytes <= 4) {
      Value word = emit.zext(
          emit.i32(),
          LLVM::LoadOp::create(emit.builder, emit.loc,
                               emit.builder.getIntegerType(8 * readBytes),
                               address, readBytes));
      for (unsigned i = 0; i < perRead; ++i) {
        Value one = emit.lshr(word, i * 8 * bytes);
        unsigned width = getElementBits(element);
        bits[r + i] = perRead == 1 || i + 1 == perRead
                          ? one
                          : emit.bitAnd(one, (1u << width) - 1);
      }
      continue;
    }
    Type part = packed ? emit.i32() : stored;
    unsigned count = readBytes * 8 / part.getIntOrFloatBitWidth();
    Type type =
        count == 1 ? part
                   : Type(VectorType::get({static_cast<int64_t>(count)}, part));
    Value loaded =
        LLVM::LoadOp::create(emit.builder, emit.loc, type, address, readBytes);
    for (unsigned i = 0; i < count; ++i) {
      Value one = count == 1
                      ? loaded
                      : Value(LLVM::ExtractElementOp::create(
                            emit.builder, emit.loc, loaded, emit.i32(i)));
      result.values.push_back(packed ? one : fromStored(one));
    }
  }
  if (packed && readBytes <= 4)
    result = Fragment::fromBits(emit, element, layout, bits);
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
  unsigned bytes = getSharedElementBytes(source.elementType);
  LinearLayout write = toByteOffsets(source.layout, bytes);
  unsigned offsetBits = write.getCodomain().bits();
  FailureOr<Value> base = getScratch(op, uint64_t(1) << offsetBits);
  if (failed(base))
    return failure();
  Type stored = emit.builder.getIntegerType(8 * bytes);
  auto pointer = [&](Value offset) -> Value {
    return LLVM::GEPOp::create(emit.builder, emit.loc, base->getType(),
                               emit.builder.getI8Type(), *base,
                               ArrayRef<LLVM::GEPArg>{offset});
  };
  Value thread = emit.bitXor(
      emitLinear(emit, write.getColumns("lane"), lane, 0, offsetBits),
      emitLinear(emit, write.getColumns("warp"), warp, 0, offsetBits));
  barrier();
  uint32_t free = getFreeRegisters(source.layout);
  auto writeAll = [&] {
    for (unsigned r = 0; r < source.numRegisters(); ++r) {
      if (r & free)
        continue;
      Value scalar = source.getScalar(emit, r);
      if (source.elementType.isIndex())
        scalar =
            arith::IndexCastOp::create(emit.builder, emit.loc, stored, scalar);
      else if (source.elementType.isInteger(1))
        scalar = emit.zext(stored, scalar);
      LLVM::StoreOp::create(emit.builder, emit.loc, scalar,
                            pointer(emit.bitXor(thread, emit.i32(write(r)))),
                            bytes);
    }
  };
  if (Value owner = emitOwner(source.layout)) {
    auto branch = scf::IfOp::create(emit.builder, emit.loc, TypeRange(), owner,
                                    /*withElse=*/false);
    OpBuilder::InsertionGuard guard(emit.builder);
    emit.builder.setInsertionPointToStart(branch.thenBlock());
    writeAll();
  } else {
    writeAll();
  }
  barrier();
  // Row-major index; outside the tile is undefined, but must stay inside the
  // scratch.
  Value index = emit.i64(0);
  auto type = cast<RankedTensorType>(extract.getTensor().getType());
  for (auto [dim, value] : llvm::enumerate(extract.getIndices()))
    index = emit.add(emit.mul(index, emit.i64(type.getDimSize(dim))),
                     getIndexAsI64(value));
  index = emit.bitAnd(emit.trunc(emit.i32(), index),
                      static_cast<uint32_t>(type.getNumElements() - 1));
  Value address = pointer(emit.mul(index, emit.i32(bytes)));
  Type element = source.elementType;
  Type loadType = isa<FloatType>(element) ? element : Type(stored);
  Value value =
      LLVM::LoadOp::create(emit.builder, emit.loc, loadType, address, bytes);
  if (element.isIndex())
    value = arith::IndexCastOp::create(emit.builder, emit.loc, element, value);
  else if (element.isInteger(1))
    value = emit.trunc(element, value);
  scalars.map(extract.getResult(), value);
  return success();
}
