//===- DistributeElementwise.cpp - Operations element by element ----------===//
//
// This file implements what becomes of element-wise arithmetic and of
// conversions between formats. Two bf16 or f16 elements share a register, and
// all targets compute on both at once, so that tiles of these types are
// computed by words; FP4 and FP8 are decoded by words. Everything else becomes
// one scalar operation per element.
//
//===----------------------------------------------------------------------===//

#include "Distributor.h"
#include "FormatConversion.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;

/// Applies `make` to the first register of each word of `perWord` elements that
/// holds elements of its own, and copies the results to the others.
static SmallVector<Value>
forEachWord(const LinearLayout &layout, unsigned perWord,
            llvm::function_ref<Value(unsigned)> make) {
  unsigned free = 0, bits = layout.getDomain().bitsOf("register");
  for (auto [bit, column] : llvm::enumerate(layout.getColumns("register")))
    if (!column && (1u << bit) >= perWord)
      free |= 1u << bit;
  SmallVector<Value> words;
  for (unsigned r = 0; r < 1u << bits; r += perWord)
    words.push_back(r & free ? words[(r & ~free) / perWord] : make(r));
  return words;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// Emits `op` on registers of two 16-bit floats of `format`; null where it has
/// no such form. One rounding per element, as the scalar operation has.
static Value emitOnPairs(Emitter &emit, Operation *op, ElementFormat format,
                         ArrayRef<Value> words) {
  // A sign is a bit, in both halves.
  if (isa<arith::NegFOp>(op))
    return emit.bitXor(words[0], emit.i32(int32_t(0x80008000)));
  if (isa<math::AbsFOp>(op))
    return emit.bitAnd(words[0], 0x7FFF7FFF);
  VectorType type = getPairType(emit, format);
  SmallVector<Value> pairs;
  auto getPairs = [&] {
    for (Value word : words)
      pairs.push_back(emit.bitcast(type, word));
  };
  auto binary = [&](auto opType) -> Value {
    getPairs();
    return emit.create<decltype(opType)>(type, pairs[0], pairs[1]);
  };
  Value pair =
      llvm::TypeSwitch<Operation *, Value>(op)
          .Case([&](arith::AddFOp) { return binary(LLVM::FAddOp()); })
          .Case([&](arith::SubFOp) { return binary(LLVM::FSubOp()); })
          .Case([&](arith::MulFOp) { return binary(LLVM::FMulOp()); })
          .Case([&](arith::MaximumFOp) { return binary(LLVM::MaximumOp()); })
          .Case([&](arith::MinimumFOp) { return binary(LLVM::MinimumOp()); })
          .Case([&](arith::MaxNumFOp) { return binary(LLVM::MaxNumOp()); })
          .Case([&](arith::MinNumFOp) { return binary(LLVM::MinNumOp()); })
          .Case([&](math::FmaOp) {
            getPairs();
            return emit.fma(pairs[0], pairs[1], pairs[2]);
          })
          .Default([](Operation *) { return Value(); });
  return pair ? emit.bitcast(emit.i32(), pair) : Value();
}

LogicalResult Distributor::distributeElementwise(Operation *op) {
  Value result = op->getResult(0);
  LinearLayout layout = getLayout(result);
  Type element = getElementType(result);
  // The bits stay where they are.
  if (isa<arith::BitcastOp>(op) && Fragment::isPacked(element)) {
    setFragment(result, getFragment(op->getOperand(0)).values);
    return success();
  }
  auto isHalf = [](Value value) {
    return isa<BFloat16Type, Float16Type>(getElementType(value));
  };
  // A lone element leaves half of a register without a value: nothing may be
  // computed from that.
  if (layout.getDomain().bitsOf("register") && isHalf(result) &&
      llvm::all_of(op->getOperands(), isHalf)) {
    SmallVector<Value> words = forEachWord(layout, 2, [&](unsigned r) {
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(getFragment(operand).values[r / 2]);
      return emitOnPairs(emit, op, *getElementFormat(element), operands);
    });
    if (words[0]) {
      setFragment(result, words);
      return success();
    }
  }
  SmallVector<Type> scalarTypes;
  for (Value each : op->getResults())
    scalarTypes.push_back(getScalarType(getElementType(each)));
  auto values = forEachRegister(layout, [&](unsigned r) -> Value {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isTileValue(operand)
                             ? getFragment(operand).getScalar(emit, r)
                             : scalars.lookup(operand));
    OperationState state(op->getLoc(), op->getName(), operands, scalarTypes,
                         op->getAttrs());
    return emit.builder.create(state)->getResult(0);
  });
  // All results of an operation have one layout, so each comes from the scalar
  // operation that made the first one.
  for (OpResult each : op->getResults()) {
    SmallVector<Value> ofEach;
    for (Value value : values)
      ofEach.push_back(
          value.getDefiningOp()->getResult(each.getResultNumber()));
    setFragment(each, Fragment::fromScalars(emit, getElementType(each), layout,
                                            ofEach));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Conversions between formats
//===----------------------------------------------------------------------===//

/// Decodes FP4, FP8 or E8M0 words to words of `to`, which is bf16 or f16.
static SmallVector<Value> decodeWords(Emitter &emit, const Fragment &source,
                                      ElementFormat from, ElementFormat to,
                                      const DecodeOptions &options) {
  // Results are made eight at a time; what nobody uses is dropped later.
  unsigned perGroup = 8 / source.perValue();
  DenseMap<unsigned, std::array<Value, 4>> groups;
  return forEachWord(source.layout, 2, [&](unsigned r) {
    auto [group, inserted] = groups.try_emplace(r / 8);
    if (inserted) {
      SmallVector<Value> words;
      for (unsigned i = 0; i < perGroup; ++i)
        words.push_back(source.values[std::min<size_t>(
            r / 8 * perGroup + i, source.values.size() - 1)]);
      group->second = decodeToPairs(emit, from, words, to, PairOrder::Natural,
                                    Bias::Undone, options);
    }
    return group->second[r / 2 % 4];
  });
}

/// The elements of `source` as f32, one per register.
static SmallVector<Value> decodeElements(Emitter &emit, const Fragment &source,
                                         ElementFormat from,
                                         const DecodeOptions &options) {
  if (from == ElementFormat::F32)
    return source.values;
  Fragment wide = source;
  // A pair of bf16 is half way to two f32.
  if (from == ElementFormat::F4E2M1FN || from == ElementFormat::F8E4M3FN) {
    from = ElementFormat::BF16;
    wide.elementType = emit.builder.getBF16Type();
  } else if (from == ElementFormat::F8E5M2) {
    from = ElementFormat::F16;
    wide.elementType = emit.builder.getF16Type();
  }
  if (wide.elementType != source.elementType)
    wide.values = decodeWords(
        emit, source, *getElementFormat(source.elementType), from, options);
  return forEachWord(source.layout, 1, [&](unsigned r) {
    return decodeToF32(emit, from, wide.getBits(emit, r));
  });
}

/// f32 values, one per register, as words of FP4 by `cvt`.
static SmallVector<Value> convertToFp4(Emitter &emit, ArrayRef<Value> values) {
  Type type = Float4E2M1FNType::get(emit.builder.getContext());
  SmallVector<Value> words;
  for (unsigned first = 0; first < values.size(); first += 8) {
    Value word;
    for (unsigned r = first; r < std::min<size_t>(values.size(), first + 8);
         r += 2) {
      // The first source of the instruction becomes the high nibble.
      Value high = r + 1 < values.size() ? values[r + 1] : values[r];
      Value pair = NVVM::ConvertF32x2ToF4x2Op::create(
          emit.builder, emit.loc, emit.integer(8), high, values[r],
          emit.builder.getBoolAttr(false), TypeAttr::get(type));
      Value placed = emit.shl(emit.zext(emit.i32(), pair), 4 * (r - first));
      word = word ? emit.bitOr(word, placed) : placed;
    }
    words.push_back(word);
  }
  return words;
}

/// f32 values, one per register, as words of `format`, bf16 or f16.
static SmallVector<Value> convertToPairs(Emitter &emit,
                                         const LinearLayout &layout,
                                         ElementFormat format,
                                         ArrayRef<Value> values) {
  VectorType source = VectorType::get({2}, emit.f32());
  return forEachWord(layout, 2, [&](unsigned r) {
    Value pair = emit.create<LLVM::UndefOp>(source);
    for (unsigned i = 0; i < 2; ++i)
      pair = emit.create<LLVM::InsertElementOp>(
          source, pair, values[std::min<size_t>(r + i, values.size() - 1)],
          emit.i32(i));
    return emit.bitcast(emit.i32(), emit.create<LLVM::FPTruncOp>(
                                        getPairType(emit, format), pair));
  });
}

LogicalResult Distributor::distributeFToF(FToFOp op) {
  ElementFormat from = *getElementFormat(getElementType(op.getSource()));
  ElementFormat to = *getElementFormat(getElementType(op.getResult()));
  const Fragment &source = getFragment(op.getSource());
  LinearLayout layout = getLayout(op);
  bool fromHalf = from == ElementFormat::BF16 || from == ElementFormat::F16;
  bool toHalf = to == ElementFormat::BF16 || to == ElementFormat::F16;
  // The same value, except that infinity saturates where it exists.
  if (from == to && !(getFormatInfo(from).bits == 8 &&
                      getFormatInfo(from).hasInfinity && op.getSaturate())) {
    setFragment(op, source.values);
    return success();
  }
  // Narrower formats, which `to` holds.
  if (toHalf && !fromHalf && from != ElementFormat::F32 &&
      !(from == ElementFormat::F8E8M0FNU && to == ElementFormat::F16)) {
    setFragment(op, decodeWords(emit, source, from, to, options.decode));
    return success();
  }
  SmallVector<Value> values =
      decodeElements(emit, source, from, options.decode);
  if (toHalf) {
    setFragment(op, convertToPairs(emit, layout, to, values));
    return success();
  }
  if (to == ElementFormat::F32) {
    setFragment(op, values);
    return success();
  }
  if (to == ElementFormat::F4E2M1FN && options.hardwareFp4) {
    setFragment(op, convertToFp4(emit, values));
    return success();
  }
  Rounding rounding = Rounding::NearestEven;
  if (auto mode = op.getRounding())
    rounding =
        *mode == RoundingMode::Upward ? Rounding::Upward : Rounding::TowardZero;
  auto codes = forEachRegister(layout, [&](unsigned r) {
    return encodeFromF32(emit, to, values[r], rounding, op.getSaturate());
  });
  setFragment(op, Fragment::fromBits(emit, getElementType(op.getResult()),
                                     layout, codes));
  return success();
}
