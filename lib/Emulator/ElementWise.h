//===- ElementWise.h - Decoding of lane-wise instructions -------*- C++ -*-===//
//
// What the families of lane-wise instructions share: from a PTX type to the C++
// type that an executor is a template over, the operands `d, a, b, c`, and the
// wording of errors.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_ELEMENTWISE_H
#define TILE_LIB_EMULATOR_ELEMENTWISE_H

#include "Decoder.h"
#include "Lanes.h"

#include <type_traits>

namespace tile::emulator {

/// The unsigned type in which `T` wraps around: small types are promoted to
/// int, whose overflow is undefined.
template <typename T>
using Wrapping = std::conditional_t<sizeof(T) <= 4, uint32_t, uint64_t>;

/// `f` called with a value of the C++ type of integer type `type` (bit types
/// count as unsigned); null where `type` is none of 16, 32 or 64 bits.
template <typename F>
Execute forInteger(Type type, F f) {
  switch (type) {
  case Type::B16:
  case Type::U16:
    return f(uint16_t());
  case Type::B32:
  case Type::U32:
    return f(uint32_t());
  case Type::B64:
  case Type::U64:
    return f(uint64_t());
  case Type::S16:
    return f(int16_t());
  case Type::S32:
    return f(int32_t());
  case Type::S64:
    return f(int64_t());
  default:
    return nullptr;
  }
}

/// `f` called with a value of the unsigned type that holds `type` in a frame.
template <typename F>
Execute forBits(Type type, F f) {
  switch (getLaneBytes(type)) {
  case 2:
    return f(uint16_t());
  case 4:
    return f(uint32_t());
  case 8:
    return f(uint64_t());
  default:
    return nullptr;
  }
}

/// An error unless `type` is one of `expected`: "'mul24' expects .u32 or .s32,
/// but got .f32". `what`, where given, stands for the instruction's name.
llvm::Error expectType(Decoder &decoder, Type type,
                       llvm::ArrayRef<Type> expected,
                       llvm::StringRef what = "");

/// Takes the next type, which must be one of `expected`.
llvm::Expected<Type> takeTypeOf(Decoder &decoder,
                                llvm::ArrayRef<Type> expected);

/// Takes one of `words`, which must be there: "'shf' expects .l or .r".
llvm::Expected<llvm::StringRef>
takeOneOf(Decoder &decoder, llvm::ArrayRef<llvm::StringRef> words);

/// An error unless the module's target is sm_`architecture` or later.
llvm::Error expectArchitecture(Decoder &decoder, unsigned architecture);

/// Emits `execute` for a statement with the operands `d, a, b, …`: a
/// destination of type `d` and one source for each of `sources`. The first
/// three go to `a`, `b` and `c`, all of them to `operands` where there are
/// more.
llvm::Expected<Instruction *> emitLanewise(Decoder &decoder, Execute execute,
                                           InstructionClass instructionClass,
                                           Type d,
                                           llvm::ArrayRef<Type> sources);

/// `emitLanewise` where nothing else is to be set.
llvm::Error emitSimple(Decoder &decoder, Execute execute,
                       InstructionClass instructionClass, Type d,
                       llvm::ArrayRef<Type> sources);

/// Executes nothing.
inline void executeNothing(const Instruction &, Lanes &) {}

/// All ones in the lanes of `mask`, zero in the others.
template <typename T>
inline void expandMask(uint32_t mask, T (&result)[kLanes]) {
  static_assert(std::is_unsigned_v<T>);
  if constexpr (sizeof(T) == 2) {
    // Each half of the mask fits a value.
    for (unsigned half = 0; half != 2; ++half) {
      T bits = static_cast<T>(mask >> (16 * half));
      for (unsigned lane = 0; lane != 16; ++lane) {
        T bit = static_cast<T>(1u << lane);
        result[16 * half + lane] =
            (bits & bit) == bit ? static_cast<T>(~T(0)) : T(0);
      }
    }
  } else {
    for (unsigned lane = 0; lane != kLanes; ++lane) {
      T bit = T(1) << lane;
      result[lane] = (T(mask) & bit) == bit ? ~T(0) : T(0);
    }
  }
}

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_ELEMENTWISE_H
