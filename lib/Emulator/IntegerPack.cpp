//===- IntegerPack.cpp - cvt.pack -----------------------------------------===//
//
// PTX ISA, "cvt.pack": two integers, saturated, side by side at the low end of
// what was there.
//
//===----------------------------------------------------------------------===//

#include "Conversions.h"

using namespace tile::emulator;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

/// `immediate`: bits of a part, negative where it is signed.
static void executePack(const Instruction &instruction, Lanes &lanes) {
  const bool isSigned = instruction.immediate < 0;
  const int bits = static_cast<int>(std::abs(instruction.immediate));
  const int64_t max = static_cast<int64_t>(
      lowMask(static_cast<unsigned>(isSigned ? bits - 1 : bits)));
  const int64_t min = isSigned ? -max - 1 : 0;
  const uint32_t mask =
      static_cast<uint32_t>(lowMask(static_cast<unsigned>(bits)));
  mapTernary<uint32_t, int32_t, int32_t, uint32_t>(
      lanes, instruction.d, instruction.a, instruction.b, instruction.c,
      [&](int32_t a, int32_t b, uint32_t c) {
        auto clamp = [&](int64_t value) {
          value = value < min ? min : value > max ? max : value;
          return static_cast<uint32_t>(value) & mask;
        };
        uint32_t pair = clamp(a) << bits | clamp(b);
        return bits == 16 ? pair : c << (2 * bits) | pair;
      });
}

Error tile::emulator::decodeIntegerPack(Decoder &decoder) {
  if (!decoder.take("sat"))
    return decoder.error("'cvt.pack' expects .sat");
  Expected<StringRef> part =
      takeOneOf(decoder, {"u2", "s2", "u4", "s4", "u8", "s8", "u16", "s16"});
  if (!part)
    return part.takeError();
  Expected<Type> source = takeTypeOf(decoder, {Type::S32});
  if (!source)
    return source.takeError();
  int64_t bits = 0;
  (void)part->drop_front().getAsInteger(10, bits);
  bool takesRest = bits != 16;
  if (takesRest) {
    Expected<Type> rest = takeTypeOf(decoder, {Type::B32});
    if (!rest)
      return rest.takeError();
  }
  if (Error error = requireTarget(decoder, bits < 8 ? 75 : 72, "'cvt.pack'"))
    return error;
  llvm::SmallVector<Type, 3> sources = {Type::S32, Type::S32};
  if (takesRest)
    sources.push_back(Type::B32);
  Expected<Instruction *> instruction = emitLanewise(
      decoder, executePack, InstructionClass::Convert, Type::B32, sources);
  if (!instruction)
    return instruction.takeError();
  if (!takesRest)
    (*instruction)->c = (*instruction)->b;
  (*instruction)->immediate = part->front() == 's' ? -bits : bits;
  return Error::success();
}
