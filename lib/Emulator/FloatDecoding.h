//===- FloatDecoding.h - What float instructions decode alike ---*- C++ -*-===//
//
// Steps that the families of float instructions share while they decode:
// errors that name the instruction, requirements of targets, modifiers.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_FLOATDECODING_H
#define TILE_LIB_EMULATOR_FLOATDECODING_H

#include "ElementWise.h"
#include "Rounding.h"
#include "llvm/ADT/StringExtras.h"

#include <initializer_list>
#include <optional>

namespace tile::emulator {

/// An error unless the module's target is sm_`minimum` or later; `what` is what
/// needs it.
inline llvm::Error requireTarget(Decoder &decoder, unsigned minimum,
                                 const llvm::Twine &what) {
  if (decoder.getArchitecture() >= minimum)
    return llvm::Error::success();
  return decoder.error(what + " needs sm_" + llvm::Twine(minimum) +
                       " or later, but the module's target is " +
                       decoder.getProgram().syntax->target);
}

/// The opcode as written, "add.rn.f32".
inline std::string spellOpcode(const Decoder &decoder) {
  return llvm::join(decoder.getStatement().opcode, ".");
}

/// Whether the words have a type that `types` lists.
inline bool hasWord(llvm::ArrayRef<llvm::StringRef> words,
                    std::initializer_list<llvm::StringRef> types) {
  for (llvm::StringRef word : words)
    for (llvm::StringRef type : types)
      if (word == type)
        return true;
  return false;
}
inline bool hasHalfType(llvm::ArrayRef<llvm::StringRef> words) {
  return hasWord(words, {"f16", "f16x2", "bf16", "bf16x2"});
}
/// f32, f32x2 or f64, and no half type beside it.
inline bool hasFloatType(llvm::ArrayRef<llvm::StringRef> words) {
  return hasWord(words, {"f32", "f32x2", "f64"}) && !hasHalfType(words);
}

/// Takes `.rn`, `.rz`, `.rm` or `.rp`; nullopt where there is none.
inline std::optional<RoundingMode> takeFloatRounding(Decoder &decoder) {
  llvm::StringRef word = decoder.takeAny({"rn", "rz", "rm", "rp"});
  if (word.empty())
    return std::nullopt;
  return word == "rn"   ? RoundingMode::NearestEven
         : word == "rz" ? RoundingMode::TowardZero
         : word == "rm" ? RoundingMode::Downward
                        : RoundingMode::Upward;
}

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_FLOATDECODING_H
