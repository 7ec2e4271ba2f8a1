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

/// Bit i in element i, which lets the compiler test all lanes of a mask at
/// once.
constexpr uint32_t kLaneBits[kLanes] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,
    1u << 7,  1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13,
    1u << 14, 1u << 15, 1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20,
    1u << 21, 1u << 22, 1u << 23, 1u << 24, 1u << 25, 1u << 26, 1u << 27,
    1u << 28, 1u << 29, 1u << 30, 1u << 31};

/// All ones in the lanes of `mask`, zero in the others.
template <typename T>
inline void expandMask(uint32_t mask, T (&result)[kLanes]) {
  static_assert(std::is_unsigned_v<T>);
  uint32_t words[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    words[lane] =
        (mask & kLaneBits[lane]) == kLaneBits[lane] ? ~uint32_t(0) : 0;
  for (unsigned lane = 0; lane != kLanes; ++lane)
    if constexpr (sizeof(T) == 8)
      result[lane] = T(words[lane]) << 32 | words[lane];
    else
      result[lane] = static_cast<T>(words[lane]);
}

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_ELEMENTWISE_H
