//===- Tcgen05Multiply.cpp - The forms of tcgen05.mma ---------------------===//
//
// PTX ISA, section "TensorCore 5th Generation of MMA Instructions". Types and
// extents are in a register and known only when the instruction executes.
//
//===----------------------------------------------------------------------===//

#include "Tcgen05.h"

#include "llvm/ADT/StringSwitch.h"

namespace tile::emulator {

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

static Expected<TensorKind> takeKind(Decoder &decoder) {
  for (StringRef name : {"tf32", "i8"})
    if (decoder.take(("kind::" + name).str()))
      return decoder.error("tcgen05.mma.kind::" + name + " is not modelled");
  constexpr TensorKind kinds[] = {TensorKind::F16, TensorKind::F8F6F4,
                                  TensorKind::MXF8F6F4, TensorKind::MXF4,
                                  TensorKind::MXF4NVF4};
  for (TensorKind kind : kinds)
    if (decoder.take(("kind::" + getTensorKindName(kind)).str()))
      return kind;
  return decoder.error("expects .kind::f16, .kind::f8f6f4, .kind::mxf8f6f4, "
                       ".kind::mxf4 or .kind::mxf4nvf4");
}

/// The block size of the scales.
static Expected<unsigned> takeBlock(Decoder &decoder, TensorKind kind) {
  if (!decoder.take("block_scale"))
    return decoder.error("expects .block_scale with .kind::" +
                         getTensorKindName(kind));
  StringRef word = decoder.takeAny({"block16", "block32", "scale_vec::1X",
                                    "scale_vec::2X", "scale_vec::4X"});
  if (word.starts_with("scale_vec") &&
      decoder.getProgram().syntax->target.ends_with("f"))
    return decoder.error("." + word +
                         " expects a target of one chip, such as sm_100a; "
                         ".block16 and .block32 say the same");
  const bool isWide = kind == TensorKind::MXF8F6F4;
  unsigned block = llvm::StringSwitch<unsigned>(word)
                       .Case("block16", 16)
                       .Case("block32", 32)
                       .Case("scale_vec::1X", isWide ? 32 : 0)
                       .Case("scale_vec::2X", isWide ? 0 : 32)
                       .Case("scale_vec::4X", isWide ? 0 : 16)
                       .Default(kind == TensorKind::MXF4NVF4 ? 0 : 32);
  if (block == 0 || (block == 16 && kind != TensorKind::MXF4NVF4))
    return decoder.error(
        kind == TensorKind::MXF4NVF4
            ? "expects .block16 (.scale_vec::4X) or .block32 (.scale_vec::2X) "
              "with .kind::mxf4nvf4"
            : "expects .block32 or .scale_vec::" + Twine(isWide ? 1 : 2) +
                  "X with .kind::" + getTensorKindName(kind));
  return block;
}

static Error decodeMultiply(Decoder &decoder) {
  for (StringRef word : {"sp", "ws"})
    if (decoder.take(word))
      return decoder.error("tcgen05.mma." + word + " is not modelled");
  if (Error error = takeBlockGroup(decoder))
    return error;
  TensorMultiply data;
  Expected<TensorKind> kind = takeKind(decoder);
  if (!kind)
    return kind.takeError();
  data.kind = *kind;
  if (hasBlockScale(data.kind)) {
    Expected<unsigned> block = takeBlock(decoder, data.kind);
    if (!block)
      return block.takeError();
    data.block = *block;
  }
  if (decoder.take("ashift"))
    return decoder.error("tcgen05.mma with .ashift is not modelled");
  // A is read from memory whatever the collector holds.
  decoder.takeAny({"collector::a::fill", "collector::a::use",
                   "collector::a::lastuse", "collector::a::discard"});

  if (Error error = decoder.expectOperands(5, 7))
    return error;
  unsigned next = 0;
  Expected<AddressOperand> d = takeTensorAddress(decoder, next++);
  if (!d)
    return d.takeError();
  data.d = *d;
  data.isAInTensor = decoder.getOperand(next).kind == Operand::Kind::Address;
  if (data.isAInTensor) {
    Expected<AddressOperand> a = takeTensorAddress(decoder, next++);
    if (!a)
      return a.takeError();
    data.a = *a;
  } else {
    Expected<Slot> a = decoder.source(next++, Type::B64);
    if (!a)
      return a.takeError();
    data.descriptorA = *a;
  }
  Expected<Slot> b = decoder.source(next++, Type::B64);
  if (!b)
    return b.takeError();
  data.descriptorB = *b;
  Expected<Slot> shape = decoder.source(next++, Type::B32);
  if (!shape)
    return shape.takeError();
  data.shape = *shape;
  if (data.block) {
    if (Error error = decoder.expectOperands(7, 7))
      return error;
    for (AddressOperand *scale : {&data.scaleA, &data.scaleB}) {
      Expected<AddressOperand> address = takeTensorAddress(decoder, next++);
      if (!address)
        return address.takeError();
      *scale = *address;
    }
  } else if (decoder.getOperand(next).kind == Operand::Kind::Vector) {
    auto disabled = decoder.sources(next++, Type::B32, 4);
    if (!disabled)
      return disabled.takeError();
    data.disabled.assign(disabled->begin(), disabled->end());
  }
  if (next < decoder.getNumOperands() && decoder.isInteger(next)) {
    Expected<int64_t> constant = decoder.integer(next++);
    if (!constant)
      return constant.takeError();
    data.enableInput = decoder.constant(*constant ? kAllLanes : 0, 0);
  } else {
    Expected<Slot> enable = decoder.predicate(next++);
    if (!enable)
      return enable.takeError();
    data.enableInput = *enable;
  }
  if (next < decoder.getNumOperands()) {
    if (data.kind != TensorKind::F16 || decoder.getArchitecture() / 10 != 10)
      return decoder.error(decoder.getOperand(next),
                           "scale-input-d expects .kind::f16 and a target of "
                           "the family of sm_100");
    Expected<int64_t> scale = decoder.integer(next++);
    if (!scale)
      return scale.takeError();
    if (*scale < 0 || *scale > 15)
      return decoder.error(decoder.getOperand(next - 1),
                           "expects 0 to 15 as scale-input-d, but got " +
                               Twine(*scale));
    data.inputScale = static_cast<unsigned>(*scale);
  }
  if (Error error = decoder.expectOperands(next, next))
    return error;
  Instruction &instruction =
      decoder.emit(executeTensorMultiply, InstructionClass::Mma);
  instruction.data = decoder.getProgram().own(std::move(data));
  return Error::success();
}

void registerTcgen05Multiply(InstructionTable &table) {
  constexpr llvm::StringLiteral kGroup = "Tensor memory";
  table.add("tcgen05.mma",
            "tcgen05.mma.cta_group::1.kind::{f16,f8f6f4}{.collector::a::op}, "
            "tcgen05.mma.cta_group::1.kind::{mxf8f6f4,mxf4,mxf4nvf4}"
            ".block_scale{.block16,.block32,.scale_vec::{1X,2X,4X}}"
            "{.collector::a::op}",
            kGroup, decodeMultiply);
}

} // namespace tile::emulator
