//===- PackedConversionDecoding.cpp - Decoding of packed cvt --------------===//
//
// PTX ISA, "cvt": which forms there are of conversions to and from packed
// types, and on which targets.
//
//===----------------------------------------------------------------------===//

#include "PackedConversions.h"

using namespace tile::emulator;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

static PackedType describePacked(Type type) {
  switch (type) {
  case Type::F16x2:
    return {&kF16, 2, 16};
  case Type::BF16x2:
    return {&kBF16, 2, 16};
  case Type::E4M3x2:
    return {&kE4M3, 2, 8};
  case Type::E5M2x2:
    return {&kE5M2, 2, 8};
  case Type::E2M3x2:
    return {&kE2M3, 2, 8};
  case Type::E3M2x2:
    return {&kE3M2, 2, 8};
  case Type::E2M1x2:
    return {&kE2M1, 2, 4};
  case Type::UE8M0x2:
    return {nullptr, 2, 8, true};
  case Type::E4M3x4:
    return {&kE4M3, 4, 8};
  case Type::E5M2x4:
    return {&kE5M2, 4, 8};
  case Type::E2M3x4:
    return {&kE2M3, 4, 8};
  case Type::E3M2x4:
    return {&kE3M2, 4, 8};
  case Type::E2M1x4:
    return {&kE2M1, 4, 4};
  default:
    return {};
  }
}

/// The type of a register as wide as `bits`.
static Type getBitType(unsigned bits) {
  return bits == 8 ? Type::B8 : bits == 16 ? Type::B16 : Type::B32;
}

/// An error unless the target is one of a family: sm_100a, sm_120f and the
/// like. `onlyExact`: sm_100a and sm_103a alone.
static Error requireFamily(Decoder &decoder, const llvm::Twine &what,
                           bool onlyExact) {
  StringRef target = decoder.getProgram().syntax->target;
  unsigned architecture = decoder.getArchitecture();
  bool isExact = target.ends_with("a"), isFamily = target.ends_with("f");
  if (onlyExact) {
    if (isExact && (architecture == 100 || architecture == 103))
      return Error::success();
    return decoder.error(what +
                         " needs sm_100a or sm_103a, but the module's "
                         "target is " +
                         target);
  }
  if ((isExact || isFamily) && architecture >= 100)
    return Error::success();
  return decoder.error(what +
                       " needs sm_100, 103, 110, 120 or 121 with 'a' or 'f', "
                       "but the module's target is " +
                       target);
}

static Error requireVersion(Decoder &decoder, unsigned minimum,
                            const llvm::Twine &what) {
  unsigned version = decoder.getVersion();
  if (version >= minimum)
    return Error::success();
  return decoder.error(what + " needs .version " + llvm::Twine(minimum / 10) +
                       "." + llvm::Twine(minimum % 10) +
                       ", but the module has " + llvm::Twine(version / 10) +
                       "." + llvm::Twine(version % 10));
}

static Error expectRounding(Decoder &decoder, const llvm::Twine &pair,
                            StringRef got, llvm::ArrayRef<StringRef> expected) {
  if (llvm::is_contained(expected, got))
    return Error::success();
  std::string list;
  for (size_t i = 0; i != expected.size(); ++i)
    list += (i == 0                     ? "."
             : i + 1 == expected.size() ? " or ."
                                        : ", .") +
            expected[i].str();
  return decoder.error(pair + " expects " + list +
                       (got.empty() ? "" : ", but got ." + got.str()));
}

namespace {
/// The steps of decoding, for one statement.
class PackedDecoder {
public:
  PackedDecoder(Decoder &decoder, Type d, Type a)
      : decoder(decoder), d(d), a(a),
        pair(("'cvt." + getTypeName(d) + "." + getTypeName(a) + "'").str()) {
    conversion.to = describePacked(d);
    conversion.from = describePacked(a);
  }

  Error decode();

private:
  Error decodeTF32();
  Error decodeToHalves();
  Error decodeToNarrow();
  Error decodeFromNarrow();
  Error decodeToScales();
  Error decodeFromScales();
  Error decodeStochastic();

  /// The destination, which may be wider than the type unless it is a half
  /// pair or tf32.
  Expected<Slot> takeDestination(bool mayBeWide);
  Error emitPair(Execute execute, bool fromPacked);

  Decoder &decoder;
  Type d, a;
  std::string pair;
  PackedConversion conversion;
  StringRef rounding;
};
} // namespace

Expected<Slot> PackedDecoder::takeDestination(bool mayBeWide) {
  if (!mayBeWide) {
    conversion.toBytes = 4;
    return decoder.destination(0, Type::B32);
  }
  Expected<Decoder::WideSlot> wide = decoder.wideDestination(
      decoder.getOperand(0), getBitType(conversion.to.getBits()));
  if (!wide)
    return wide.takeError();
  conversion.toBytes = wide->laneBytes;
  return wide->slot;
}

/// Emits `execute` for `d, a, b` of f32, or `d, a` of a half pair.
Error PackedDecoder::emitPair(Execute execute, bool fromPacked) {
  unsigned numSources = fromPacked ? 1 : 2;
  if (Error error = decoder.expectOperands(numSources + 1, numSources + 1))
    return error;
  Expected<Slot> destination = takeDestination(!conversion.to.isHalf());
  if (!destination)
    return destination.takeError();
  Slot sources[2];
  for (unsigned i = 0; i != numSources; ++i) {
    Expected<Slot> source =
        decoder.source(i + 1, fromPacked ? Type::B32 : Type::F32);
    if (!source)
      return source.takeError();
    sources[i] = *source;
  }
  if (fromPacked)
    sources[1] = sources[0];
  Instruction &instruction = decoder.emit(execute, InstructionClass::Convert);
  instruction.d = *destination;
  instruction.a = sources[0];
  instruction.b = sources[1];
  instruction.data = decoder.getProgram().own(conversion);
  return Error::success();
}

Error PackedDecoder::decodeTF32() {
  if (a != Type::F32)
    return decoder.error(pair + " expects .f32 as the source");
  if (Error error =
          expectRounding(decoder, pair, rounding, {"rna", "rn", "rz"}))
    return error;
  if (rounding == "rna") {
    if (conversion.relu)
      return decoder.error(pair + " with .rna takes no .relu");
    if (Error error = requireTarget(decoder, 80, pair))
      return error;
  } else if (Error error =
                 requireTarget(decoder, 90, pair + " with ." + rounding)) {
    return error;
  }
  if (conversion.satfinite && rounding != "rna")
    if (Error error = requireTarget(decoder, 100,
                                    pair + " with ." + rounding + ".satfinite"))
      return error;
  conversion.to = {&kTF32, 1, 32};
  conversion.mode = rounding == "rna"  ? RoundingMode::NearestAway
                    : rounding == "rn" ? RoundingMode::NearestEven
                                       : RoundingMode::TowardZero;
  Expected<Instruction *> instruction = emitLanewise(
      decoder, executeTF32, InstructionClass::Convert, Type::B32, {Type::F32});
  if (!instruction)
    return instruction.takeError();
  (*instruction)->data = decoder.getProgram().own(conversion);
  return Error::success();
}

Error PackedDecoder::decodeToHalves() {
  if (Error error = expectRounding(decoder, pair, rounding, {"rn", "rz", "rs"}))
    return error;
  if (rounding == "rs")
    return decodeStochastic();
  if (Error error = requireTarget(decoder, 80, pair))
    return error;
  conversion.mode =
      rounding == "rn" ? RoundingMode::NearestEven : RoundingMode::TowardZero;
  Execute execute = executeHalfPairDirected;
  if (rounding == "rn" && !conversion.satfinite)
    execute = chooseHalfPair(conversion.to, conversion.relu);
  return emitPair(execute, false);
}

Error PackedDecoder::decodeToNarrow() {
  const PackedType &to = conversion.to, &from = conversion.from;
  bool isFours = to.count == 4;
  if (isFours ? a != Type::F32 : a != Type::F32 && !from.isHalf())
    return decoder.error(pair + " expects .f32" +
                         (isFours ? "" : ", .f16x2 or .bf16x2") +
                         " as the source");
  if (Error error =
          expectRounding(decoder, pair, rounding,
                         {isFours ? StringRef("rs") : StringRef("rn")}))
    return error;
  if (!conversion.satfinite)
    return decoder.error(pair + " expects .satfinite");
  if (isFours)
    return decodeStochastic();
  bool fromHalves = from.isHalf();
  if (to.needsFamily() || a == Type::BF16x2) {
    if (Error error = requireFamily(decoder, pair, false))
      return error;
  } else if (Error error = requireTarget(decoder, 89, pair)) {
    return error;
  }
  if (fromHalves && (to.needsFamily() || a == Type::BF16x2))
    if (Error error = requireVersion(decoder, 91, pair))
      return error;
  return emitPair(chooseNarrow(to, fromHalves, conversion.relu), fromHalves);
}

Error PackedDecoder::decodeFromNarrow() {
  if (Error error = expectRounding(decoder, pair, rounding, {"rn"}))
    return error;
  if (conversion.satfinite)
    return decoder.error(pair + " takes no .satfinite");
  if (d == Type::BF16x2) {
    if (Error error = requireVersion(decoder, 92, pair))
      return error;
    if (Error error = requireFamily(decoder, pair, false))
      return error;
  } else if (conversion.from.needsFamily()) {
    if (Error error = requireFamily(decoder, pair, false))
      return error;
  } else if (Error error = requireTarget(decoder, 89, pair)) {
    return error;
  }
  if (Error error = decoder.expectOperands(2, 2))
    return error;
  Expected<Slot> destination = takeDestination(false);
  if (!destination)
    return destination.takeError();
  Expected<Decoder::WideSlot> source = decoder.wideSource(
      decoder.getOperand(1), getBitType(conversion.from.getBits()));
  if (!source)
    return source.takeError();
  conversion.fromBytes = source->laneBytes;
  Instruction &instruction =
      decoder.emit(chooseWidening(conversion.from), InstructionClass::Convert);
  instruction.d = *destination;
  instruction.a = source->slot;
  instruction.data = makeWideningTable(decoder.getProgram(), conversion);
  return Error::success();
}

Error PackedDecoder::decodeToScales() {
  if (a != Type::F32 && a != Type::BF16x2)
    return decoder.error(pair + " expects .f32 or .bf16x2 as the source");
  if (Error error = expectRounding(decoder, pair, rounding, {"rz", "rp"}))
    return error;
  if (conversion.relu)
    return decoder.error(pair + " takes no .relu");
  if (Error error = requireFamily(decoder, pair, false))
    return error;
  conversion.mode =
      rounding == "rp" ? RoundingMode::Upward : RoundingMode::TowardZero;
  return emitPair(executeToScales, a == Type::BF16x2);
}

Error PackedDecoder::decodeFromScales() {
  if (d != Type::BF16x2)
    return decoder.error(pair + " expects .bf16x2 as the destination");
  if (Error error = expectRounding(decoder, pair, rounding, {"rn"}))
    return error;
  if (conversion.relu || conversion.satfinite)
    return decoder.error(pair + " takes no ." +
                         (conversion.relu ? "relu" : "satfinite"));
  if (Error error = requireFamily(decoder, pair, false))
    return error;
  if (Error error = decoder.expectOperands(2, 2))
    return error;
  Expected<Slot> destination = takeDestination(false);
  if (!destination)
    return destination.takeError();
  Expected<Decoder::WideSlot> source =
      decoder.wideSource(decoder.getOperand(1), Type::B16);
  if (!source)
    return source.takeError();
  conversion.fromBytes = source->laneBytes;
  Instruction &instruction =
      decoder.emit(executeFromScales, InstructionClass::Convert);
  instruction.d = *destination;
  instruction.a = source->slot;
  instruction.data = decoder.getProgram().own(conversion);
  return Error::success();
}

/// `d, a, b, rbits` or `d, {a, b, e, f}, rbits`.
Error PackedDecoder::decodeStochastic() {
  if (Error error = requireFamily(decoder, pair + " with .rs", true))
    return error;
  bool isFours = conversion.to.count == 4;
  unsigned numOperands = isFours ? 3 : 4;
  if (Error error = decoder.expectOperands(numOperands, numOperands))
    return error;
  Expected<Slot> destination = takeDestination(!conversion.to.isHalf());
  if (!destination)
    return destination.takeError();
  llvm::SmallVector<Slot, 8> slots;
  if (isFours) {
    Expected<llvm::SmallVector<Slot, 8>> values =
        decoder.sources(1, Type::F32, 4);
    if (!values)
      return values.takeError();
    slots.assign(values->rbegin(), values->rend());
  } else {
    for (unsigned i : {2u, 1u}) {
      Expected<Slot> value = decoder.source(i, Type::F32);
      if (!value)
        return value.takeError();
      slots.push_back(*value);
    }
  }
  Expected<Slot> random = decoder.source(numOperands - 1, Type::B32);
  if (!random)
    return random.takeError();
  slots.push_back(*random);
  Instruction &instruction =
      decoder.emit(executeStochastic, InstructionClass::Convert);
  instruction.d = *destination;
  instruction.operands = decoder.getProgram().own(llvm::ArrayRef<Slot>(slots));
  instruction.data = decoder.getProgram().own(conversion);
  return Error::success();
}

Error PackedDecoder::decode() {
  rounding = decoder.takeRounding();
  conversion.relu = decoder.take("relu");
  conversion.satfinite = decoder.take("satfinite");
  const PackedType &to = conversion.to, &from = conversion.from;
  if (d == Type::TF32)
    return decodeTF32();
  if (to.isHalf() && a == Type::F32)
    return decodeToHalves();
  if (to.isScale)
    return decodeToScales();
  if (to.count && !to.isHalf())
    return decodeToNarrow();
  if (from.isScale)
    return decodeFromScales();
  if (to.isHalf() && from.count == 2 && !from.isHalf())
    return decodeFromNarrow();
  return decoder.error(pair + " is no conversion of the PTX ISA");
}

Error tile::emulator::decodePackedConversion(Decoder &decoder, Type d, Type a) {
  return PackedDecoder(decoder, d, a).decode();
}
