//===- TensorCore.cpp - mma.sync ------------------------------------------===//
//
// Which forms of mma.sync there are (PTX ISA, section "Multiply-and-Accumulate
// Instruction: mma"), and where each is allowed.
//
//===----------------------------------------------------------------------===//

#include "TensorCore.h"
#include "Decoder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"

using namespace tile::emulator;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::SmallVector;
using llvm::SmallVectorImpl;
using llvm::StringRef;
using llvm::Twine;

namespace {

/// Multiplicands that have the same shapes.
enum class Inputs : uint8_t {
  F16,
  BF16,
  TF32,
  FP8,    ///< e4m3, e5m2 without a kind.
  F8F6F4, ///< kind::f8f6f4, kind::mxf8f6f4.
  FP4,    ///< kind::mxf4, kind::mxf4nvf4.
  Int8,
  Int4,
  Bits,
  F64,
};

struct ShapeRow {
  Inputs inputs;
  llvm::StringLiteral name;
  unsigned rows, k;
  unsigned architecture; ///< The lowest target, 0 where the kind decides.
  unsigned version;      ///< The lowest `.version`.
};

/// The operands of a statement that has been read but not yet understood.
struct MmaWords {
  StringRef shape, kind, scaleVector, bitOperation;
  bool hasBlockScale = false, hasPopc = false, saturate = false;
  StringRef rounding;
  Type d = Type::None, a = Type::None, b = Type::None, c = Type::None;
  Type scale = Type::None;
};

} // namespace

static constexpr ShapeRow shapes[] = {
    {Inputs::F16, {"m16n8k8"}, 16, 8, 75, 65},
    {Inputs::F16, {"m16n8k16"}, 16, 16, 80, 70},
    {Inputs::BF16, {"m16n8k8"}, 16, 8, 80, 70},
    {Inputs::BF16, {"m16n8k16"}, 16, 16, 80, 70},
    {Inputs::TF32, {"m16n8k4"}, 16, 4, 80, 70},
    {Inputs::TF32, {"m16n8k8"}, 16, 8, 80, 70},
    {Inputs::FP8, {"m16n8k16"}, 16, 16, 89, 87},
    {Inputs::FP8, {"m16n8k32"}, 16, 32, 89, 84},
    {Inputs::F8F6F4, {"m16n8k32"}, 16, 32, 0, 87},
    {Inputs::FP4, {"m16n8k64"}, 16, 64, 0, 87},
    {Inputs::Int8, {"m8n8k16"}, 8, 16, 75, 65},
    {Inputs::Int8, {"m16n8k16"}, 16, 16, 80, 70},
    {Inputs::Int8, {"m16n8k32"}, 16, 32, 80, 70},
    {Inputs::Int4, {"m8n8k32"}, 8, 32, 75, 65},
    {Inputs::Int4, {"m16n8k32"}, 16, 32, 80, 70},
    {Inputs::Int4, {"m16n8k64"}, 16, 64, 80, 70},
    {Inputs::Bits, {"m8n8k128"}, 8, 128, 75, 70},
    {Inputs::Bits, {"m16n8k128"}, 16, 128, 80, 70},
    {Inputs::Bits, {"m16n8k256"}, 16, 256, 80, 70},
    {Inputs::F64, {"m8n8k4"}, 8, 4, 80, 70},
    {Inputs::F64, {"m16n8k4"}, 16, 4, 90, 78},
    {Inputs::F64, {"m16n8k8"}, 16, 8, 90, 78},
    {Inputs::F64, {"m16n8k16"}, 16, 16, 90, 78},
};

static std::string dot(Type type) { return "." + getTypeName(type).str(); }

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

/// Takes `.row.col`, the only order there is for these shapes.
static Error takeLayouts(Decoder &decoder) {
  SmallVector<StringRef, 2> layouts;
  for (StringRef word : decoder.getWords())
    if (word == "row" || word == "col")
      layouts.push_back(word);
  if (layouts.size() != 2 || layouts[0] != "row" || layouts[1] != "col") {
    std::string found;
    for (StringRef layout : layouts)
      found += ("." + layout).str();
    return decoder.error("'mma.sync' expects .row.col, but got " +
                         (found.empty() ? "neither" : Twine(found)));
  }
  decoder.take("row");
  decoder.take("col");
  return Error::success();
}

static Expected<MmaWords> takeWords(Decoder &decoder) {
  if (!decoder.take("aligned"))
    return decoder.error("'mma.sync' expects .aligned");
  MmaWords words;
  SmallVector<StringRef, 32> names;
  for (const ShapeRow &row : shapes)
    names.push_back(row.name);
  words.shape = decoder.takeAny(names);
  if (words.shape.empty()) {
    llvm::sort(names);
    names.erase(llvm::unique(names), names.end());
    return decoder.error("'mma.sync' expects a shape, one of " +
                         llvm::join(names, ", "));
  }
  if (Error e = takeLayouts(decoder))
    return std::move(e);
  words.kind = decoder.takeAny(
      {"kind::f8f6f4", "kind::mxf8f6f4", "kind::mxf4", "kind::mxf4nvf4"});
  words.hasBlockScale = decoder.take("block_scale");
  words.scaleVector =
      decoder.takeAny({"scale_vec::1X", "scale_vec::2X", "scale_vec::4X"});
  words.saturate = decoder.take("satfinite");
  words.bitOperation = decoder.takeAny({"xor", "and"});
  words.hasPopc = decoder.take("popc");
  words.rounding = decoder.takeRounding();
  for (Type *type : {&words.d, &words.a, &words.b, &words.c})
    if ((*type = decoder.takeOptionalType()) == Type::None)
      return decoder.error("'mma.sync' expects four types, of d, a, b and c");
  words.scale = decoder.takeOptionalType();
  return words;
}

//===----------------------------------------------------------------------===//
// Legality
//===----------------------------------------------------------------------===//

static bool isFP8(Type type) {
  return type == Type::E4M3 || type == Type::E5M2;
}

static bool isF8F6F4(Type type) {
  return isFP8(type) || type == Type::E2M1 || type == Type::E2M3 ||
         type == Type::E3M2;
}

static bool isInt8(Type type) { return type == Type::S8 || type == Type::U8; }
static bool isInt4(Type type) { return type == Type::S4 || type == Type::U4; }

/// The group that the types and the kind put an instruction in.
static Expected<Inputs> findInputs(Decoder &decoder, const MmaWords &words) {
  Type a = words.a, b = words.b;
  bool isScaledFP4 =
      words.kind == "kind::mxf4" || words.kind == "kind::mxf4nvf4";
  if (isScaledFP4) {
    if (a == Type::E2M1 && b == Type::E2M1)
      return Inputs::FP4;
    return decoder.error("'." + words.kind +
                         "' expects .e2m1 for a and b, but got " + dot(a) +
                         " and " + dot(b));
  }
  if (!words.kind.empty()) {
    if (isF8F6F4(a) && isF8F6F4(b))
      return Inputs::F8F6F4;
    return decoder.error("'." + words.kind +
                         "' expects .e4m3, .e5m2, .e2m3, .e3m2 or .e2m1 for a "
                         "and b, but got " +
                         dot(a) + " and " + dot(b));
  }
  if (a == b)
    switch (a) {
    case Type::F16:
      return Inputs::F16;
    case Type::BF16:
      return Inputs::BF16;
    case Type::TF32:
      return Inputs::TF32;
    case Type::F64:
      return Inputs::F64;
    case Type::B1:
      return Inputs::Bits;
    default:
      break;
    }
  if (isFP8(a) && isFP8(b))
    return Inputs::FP8;
  if (isInt8(a) && isInt8(b))
    return Inputs::Int8;
  if (isInt4(a) && isInt4(b))
    return Inputs::Int4;
  if (isF8F6F4(a) && isF8F6F4(b))
    return decoder.error("'mma.sync' of " + dot(a) + " by " + dot(b) +
                         " expects .kind::f8f6f4 or a kind with block scales");
  return decoder.error("'mma.sync' has no multiply of " + dot(a) + " by " +
                       dot(b));
}

static Expected<const ShapeRow *>
findShape(Decoder &decoder, const MmaWords &words, Inputs inputs) {
  std::string legal;
  for (const ShapeRow &row : shapes) {
    if (row.inputs != inputs)
      continue;
    if (row.name == words.shape)
      return &row;
    legal += (legal.empty() ? "" : " or ") + row.name.str();
  }
  return decoder.error("'mma.sync' of " + dot(words.a) + " by " + dot(words.b) +
                       " expects " + legal + ", but got " + words.shape);
}

/// The types of C and D.
static Error checkAccumulators(Decoder &decoder, const MmaWords &words,
                               Inputs inputs) {
  bool isF16Legal = (inputs == Inputs::F16 || inputs == Inputs::FP8 ||
                     inputs == Inputs::F8F6F4) &&
                    !words.hasBlockScale;
  Type expected = Type::F32;
  if (inputs == Inputs::F64)
    expected = Type::F64;
  else if (inputs == Inputs::Int8 || inputs == Inputs::Int4 ||
           inputs == Inputs::Bits)
    expected = Type::S32;
  if (words.c == words.d &&
      (words.c == expected || (isF16Legal && words.c == Type::F16)))
    return Error::success();
  return decoder.error(
      "'mma.sync' of " + dot(words.a) + " by " + dot(words.b) + " expects " +
      (isF16Legal ? "two .f32 or two .f16" : dot(expected)) +
      " for d and c, but got " + dot(words.d) + " and " + dot(words.c));
}

/// "sm_120a": 120 and 'a'.
static Error checkTarget(Decoder &decoder, const MmaWords &words,
                         const ShapeRow &shape) {
  StringRef target = decoder.getProgram().syntax->target;
  unsigned architecture = decoder.getArchitecture();
  if (decoder.getVersion() < shape.version ||
      (shape.inputs == Inputs::FP8 && words.c == Type::F16 &&
       decoder.getVersion() < 87)) {
    unsigned version = std::max(
        shape.version,
        shape.inputs == Inputs::FP8 && words.c == Type::F16 ? 87u : 0u);
    return decoder.error("this 'mma.sync' needs .version " +
                         Twine(version / 10) + "." + Twine(version % 10) +
                         ", but the file has " +
                         Twine(decoder.getVersion() / 10) + "." +
                         Twine(decoder.getVersion() % 10));
  }
  if (words.kind.empty()) {
    if (architecture >= shape.architecture)
      return Error::success();
    return decoder.error("'mma.sync' " + shape.name + " of " + dot(words.a) +
                         " by " + dot(words.b) + " needs sm_" +
                         Twine(shape.architecture) + ", but the target is " +
                         target);
  }
  // Kinds are for targets of one chip or family. ptxas takes f8f6f4 of two FP8
  // operands on sm_10x and sm_110 too, where the ISA does not list it.
  bool hasSuffix = target.ends_with("a") || target.ends_with("f");
  bool isPlainFP8 =
      words.kind == "kind::f8f6f4" && isFP8(words.a) && isFP8(words.b);
  unsigned family = architecture / 10;
  if (hasSuffix &&
      (family == 12 || (isPlainFP8 && (family == 10 || family == 11))))
    return Error::success();
  return decoder.error("'." + words.kind + "' of " + dot(words.a) + " by " +
                       dot(words.b) + " needs " +
                       (isPlainFP8 ? "sm_100a, sm_103a, sm_110a, " : "") +
                       "sm_120a, sm_120f, sm_121a or sm_121f, but the target "
                       "is " +
                       target);
}

/// The number of scales and their type.
static Error decodeScaleForm(Decoder &decoder, const MmaWords &words,
                             MmaData &data) {
  bool isScaledKind = !words.kind.empty() && words.kind != "kind::f8f6f4";
  if (!isScaledKind) {
    if (words.hasBlockScale || !words.scaleVector.empty() ||
        words.scale != Type::None)
      return decoder.error("block scales need .kind::mxf8f6f4, .kind::mxf4 or "
                           ".kind::mxf4nvf4");
    return Error::success();
  }
  if (!words.hasBlockScale)
    return decoder.error("'." + words.kind + "' expects .block_scale");

  struct Row {
    llvm::StringLiteral kind, scaleVector;
    Type scale;
    unsigned version;
  };
  static constexpr Row rows[] = {
      {{"kind::mxf8f6f4"}, {"scale_vec::1X"}, Type::UE8M0, 87},
      {{"kind::mxf4"}, {"scale_vec::2X"}, Type::UE8M0, 87},
      {{"kind::mxf4nvf4"}, {"scale_vec::2X"}, Type::UE8M0, 87},
      {{"kind::mxf4nvf4"}, {"scale_vec::4X"}, Type::UE4M3, 87},
      {{"kind::mxf4nvf4"}, {"scale_vec::4X"}, Type::UE8M0, 91},
  };
  StringRef vector = words.scaleVector;
  if (vector.empty() && words.kind == "kind::mxf8f6f4")
    vector = "scale_vec::1X";
  if (vector.empty() && words.kind == "kind::mxf4")
    vector = "scale_vec::2X";
  std::string legal;
  for (const Row &row : rows) {
    if (row.kind != words.kind)
      continue;
    if (row.scaleVector == vector && row.scale == words.scale) {
      if (decoder.getVersion() < row.version)
        return decoder.error("'." + vector + "' with " + dot(words.scale) +
                             " needs .version 9.1, but the file has " +
                             Twine(decoder.getVersion() / 10) + "." +
                             Twine(decoder.getVersion() % 10));
      data.blocks = static_cast<unsigned>(vector[vector.size() - 2] - '0');
      data.isUE4M3 = row.scale == Type::UE4M3;
      return Error::success();
    }
    legal += (legal.empty() ? "." : " or .") + row.scaleVector.str() +
             " with " + dot(row.scale);
  }
  return decoder.error(
      "'." + words.kind + "' expects " + legal + ", but got " +
      (vector.empty() ? "no scale_vec" : ("." + vector).str()) + " with " +
      (words.scale == Type::None ? "no scale type" : dot(words.scale)));
}

/// The modifiers that only some groups have.
static Error checkModifiers(Decoder &decoder, const MmaWords &words,
                            Inputs inputs) {
  bool isInteger = inputs == Inputs::Int8 || inputs == Inputs::Int4;
  if (words.saturate && !isInteger)
    return decoder.error("'mma.sync' of " + dot(words.a) +
                         " has no .satfinite");
  bool isBits = inputs == Inputs::Bits;
  if (isBits && (words.bitOperation.empty() || !words.hasPopc))
    return decoder.error("'mma.sync' of .b1 expects .xor.popc or .and.popc");
  if (!isBits && (!words.bitOperation.empty() || words.hasPopc))
    return decoder.error("'mma.sync' of " + dot(words.a) +
                         " has no .xor, .and or .popc");
  if (!words.rounding.empty() && inputs != Inputs::F64)
    return decoder.error("'mma.sync' of " + dot(words.a) +
                         " has no rounding modifier");
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Reads `{byte-id, thread-id}`; constants are checked here, registers when the
/// instruction runs.
static Error decodeSelectors(Decoder &decoder, unsigned position,
                             const MmaData &data, char name, unsigned threads,
                             SmallVectorImpl<Slot> &slots) {
  Expected<SmallVector<Operand, 4>> pair =
      decoder.vector(decoder.getOperand(position), 2);
  if (!pair)
    return pair.takeError();
  for (unsigned i = 0; i != 2; ++i) {
    const Operand &operand = (*pair)[i];
    if (operand.kind == Operand::Kind::Integer) {
      bool isByte = i == 0;
      bool isLegal = isByte ? isLegalByteSelector(data.blocks, operand.bits)
                            : operand.bits < threads;
      if (!isLegal)
        return decoder.error(
            operand, Twine(isByte ? "byte" : "thread") + "-id-" + Twine(name) +
                         " of .scale_vec::" + Twine(data.blocks) +
                         "X expects " +
                         (isByte ? Twine(getLegalByteSelectors(data.blocks))
                                 : "0 to " + Twine(threads - 1)) +
                         ", but got " + operand.text);
    }
    Expected<Slot> slot = decoder.source(operand, Type::U16);
    if (!slot)
      return slot.takeError();
    slots.push_back(*slot);
  }
  return Error::success();
}

/// Reads all registers, in the order of MmaOperands. `typeC` is that of a
/// constant in C.
static Error decodeOperands(Decoder &decoder, const MmaData &data, Type typeC,
                            SmallVectorImpl<Slot> &slots) {
  unsigned numOperands = data.blocks ? 8 : 4;
  if (Error e = decoder.expectOperands(numOperands, numOperands))
    return e;
  bool isWide = data.elementBits == 64;
  Type type = isWide ? Type::F64 : Type::B32;
  auto append = [&](Expected<SmallVector<Slot, 8>> more) -> Error {
    if (!more)
      return more.takeError();
    slots.append(more->begin(), more->end());
    return Error::success();
  };
  if (Error e = append(decoder.destinations(0, type, data.numC)))
    return e;
  if (Error e = append(decoder.sources(1, type, data.numA)))
    return e;
  if (Error e = append(decoder.sources(2, type, data.numB)))
    return e;
  if (Error e = append(decoder.sources(3, typeC, data.numC)))
    return e;
  if (!data.blocks)
    return Error::success();
  for (unsigned i = 0; i != 2; ++i) {
    if (Error e = append(decoder.sources(4 + 2 * i, Type::B32, 1)))
      return e;
    if (Error e = decodeSelectors(
            decoder, 5 + 2 * i, data, i ? 'b' : 'a',
            i ? kNumThreadSelectorsB : kNumThreadSelectorsA, slots))
      return e;
  }
  return Error::success();
}

static Error decodeMma(Decoder &decoder) {
  Expected<MmaWords> words = takeWords(decoder);
  if (!words)
    return words.takeError();
  Expected<Inputs> inputs = findInputs(decoder, *words);
  if (!inputs)
    return inputs.takeError();
  Expected<const ShapeRow *> shape = findShape(decoder, *words, *inputs);
  if (!shape)
    return shape.takeError();
  MmaData data;
  data.rows = (*shape)->rows;
  data.k = (*shape)->k;
  if (Error e = decodeScaleForm(decoder, *words, data))
    return e;
  if (Error e = checkAccumulators(decoder, *words, *inputs))
    return e;
  if (Error e = checkModifiers(decoder, *words, *inputs))
    return e;
  if (Error e = checkTarget(decoder, *words, **shape))
    return e;

  Execute execute = executeMmaFloat;
  TensorInput input = TensorInput::F16;
  switch (*inputs) {
  case Inputs::F16:
    data.elementBits = 16;
    break;
  case Inputs::BF16:
    data.elementBits = 16;
    input = TensorInput::BF16;
    break;
  case Inputs::TF32:
    data.elementBits = 32;
    input = TensorInput::TF32;
    break;
  case Inputs::FP8:
    data.elementBits = 8;
    input = TensorInput::FP8;
    break;
  case Inputs::F8F6F4:
    data.elementBits = 8;
    input = isFP8(words->a) && isFP8(words->b) && !data.blocks
                ? TensorInput::FP8
                : TensorInput::Narrow;
    // Sums of 32 products of formats of at most 6 bits have at most 23 bits.
    data.isNarrow = !isFP8(words->a) && !isFP8(words->b);
    break;
  case Inputs::FP4:
    data.elementBits = 4;
    input = TensorInput::FP4;
    data.isNarrow = true;
    break;
  case Inputs::Int8:
    data.elementBits = 8;
    execute = executeMmaInteger;
    break;
  case Inputs::Int4:
    data.elementBits = 4;
    execute = executeMmaInteger;
    break;
  case Inputs::Bits:
    data.elementBits = 1;
    execute = executeMmaBits;
    break;
  case Inputs::F64:
    data.elementBits = 64;
    execute = executeMmaDouble;
    break;
  }
  if (execute == executeMmaFloat) {
    data.formatA = *findTensorFormat(words->a);
    data.formatB = *findTensorFormat(words->b);
    data.model = getTensorModel(decoder.getArchitecture(), input);
  }
  data.result = words->c == Type::F16 ? TensorResult::F16 : TensorResult::F32;
  data.rounding = llvm::StringSwitch<RoundingMode>(words->rounding)
                      .Case("rz", RoundingMode::TowardZero)
                      .Case("rm", RoundingMode::Downward)
                      .Case("rp", RoundingMode::Upward)
                      .Default(RoundingMode::NearestEven);
  data.signedA = words->a == Type::S8 || words->a == Type::S4;
  data.signedB = words->b == Type::S8 || words->b == Type::S4;
  data.saturate = words->saturate;
  data.isXor = words->bitOperation == "xor";

  unsigned registerBits = std::max(data.elementBits, 32u);
  unsigned laneElements = registerBits / data.elementBits * kLanes;
  data.numA = data.rows * data.k / laneElements;
  data.numB = data.k * kPanelColumns / laneElements;
  data.numC = data.rows * kPanelColumns / kLanes /
              (data.result == TensorResult::F16 ? 2 : 1);

  SmallVector<Slot, 24> slots;
  // f16 comes in pairs.
  Type typeC = words->c == Type::F16 ? Type::B32 : words->c;
  if (Error e = decodeOperands(decoder, data, typeC, slots))
    return e;
  Instruction &mma = decoder.emit(execute, InstructionClass::Mma);
  mma.flow = Flow::Collective;
  mma.operands = decoder.getProgram().own(ArrayRef<Slot>(slots));
  mma.data = decoder.getProgram().own(data);
  return Error::success();
}

void tile::emulator::registerTensorCore(InstructionTable &table) {
  table.add("mma.sync",
            "mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype: f16, bf16 "
            "m16n8k8, m16n8k16; tf32 m16n8k4, m16n8k8; e4m3, e5m2 m16n8k16, "
            "m16n8k32; kind::f8f6f4 and kind::mxf8f6f4 m16n8k32; kind::mxf4 "
            "and kind::mxf4nvf4 m16n8k64; s8, u8 m8n8k16, m16n8k16, m16n8k32; "
            "s4, u4 m8n8k32, m16n8k32, m16n8k64; b1 m8n8k128, m16n8k128, "
            "m16n8k256; f64 m8n8k4, m16n8k4, m16n8k8, m16n8k16",
            "Tensor cores", decodeMma);
}
