//===- AtomicOperations.cpp - Read, combine, write back -------------------===//

#include "AtomicOperations.h"

#include "ProcessState.h"
#include "SmallFloat.h"

#include <algorithm>
#include <cstring>

namespace tile::emulator {
namespace {

__extension__ typedef unsigned __int128 Word128;

/// memory = combine(memory), atomically where the memory is global.
template <typename T, typename F>
void update(uint8_t *memory, void *old, AtomicPlace place, F combine) {
  T before;
  if constexpr (sizeof(T) <= 8) {
    const bool isAligned =
        (reinterpret_cast<uintptr_t>(memory) & (sizeof(T) - 1)) == 0;
    if (place == AtomicPlace::Global && isAligned) {
      T *word = reinterpret_cast<T *>(memory);
      before = __atomic_load_n(word, __ATOMIC_RELAXED);
      while (!__atomic_compare_exchange_n(word, &before, combine(before),
                                          /*weak=*/true, __ATOMIC_ACQ_REL,
                                          __ATOMIC_RELAXED)) {
      }
      std::memcpy(old, &before, sizeof(T));
      return;
    }
  }
  std::unique_lock<std::mutex> lock;
  if (place == AtomicPlace::Global)
    lock = std::unique_lock(getProcessMutex(ProcessLock::Atomics));
  std::memcpy(&before, memory, sizeof(T));
  T after = combine(before);
  std::memcpy(memory, &after, sizeof(T));
  std::memcpy(old, &before, sizeof(T));
}

template <typename T>
T readValue(const void *pointer) {
  T value;
  std::memcpy(&value, pointer, sizeof(T));
  return value;
}

/// An operation on `T`, an integer; `Combine` is f(memory, b, c, place).
template <typename T, T (*Combine)(T, T, T, AtomicPlace)>
void apply(uint8_t *memory, const void *b, const void *c, void *old,
           AtomicPlace place) {
  T valueB = readValue<T>(b);
  T valueC = c ? readValue<T>(c) : T();
  update<T>(memory, old, place,
            [&](T before) { return Combine(before, valueB, valueC, place); });
}

template <typename T>
T add(T a, T b, T, AtomicPlace) {
  return static_cast<T>(a + b);
}
template <typename T>
T bitAnd(T a, T b, T, AtomicPlace) {
  return a & b;
}
template <typename T>
T bitOr(T a, T b, T, AtomicPlace) {
  return a | b;
}
template <typename T>
T bitXor(T a, T b, T, AtomicPlace) {
  return a ^ b;
}
template <typename T>
T exchange(T, T b, T, AtomicPlace) {
  return b;
}
template <typename T>
T compareAndSwap(T a, T b, T c, AtomicPlace) {
  return a == b ? c : a;
}
template <typename T>
T minimum(T a, T b, T, AtomicPlace) {
  return std::min(a, b);
}
template <typename T>
T maximum(T a, T b, T, AtomicPlace) {
  return std::max(a, b);
}
uint32_t increment(uint32_t a, uint32_t b, uint32_t, AtomicPlace) {
  return a >= b ? 0 : a + 1;
}
uint32_t decrement(uint32_t a, uint32_t b, uint32_t, AtomicPlace) {
  return a == 0 || a > b ? b : a - 1;
}

// Global sums of f32 flush subnormals, shared ones do not (PTX ISA, `atom`).
uint32_t addF32(uint32_t a, uint32_t b, uint32_t, AtomicPlace place) {
  float x = toFloat(a), y = toFloat(b);
  if (place == AtomicPlace::Shared)
    return toBits(canonicalize(x + y));
  return toBits(
      canonicalize(flushSubnormal(flushSubnormal(x) + flushSubnormal(y))));
}
uint64_t addF64(uint64_t a, uint64_t b, uint64_t, AtomicPlace) {
  return toBits(toDouble(a) + toDouble(b));
}

struct F16 {
  static float decode(uint16_t code) { return fromF16(code); }
  static uint16_t encode(float value) { return toF16(value); }
};
struct BF16 {
  static float decode(uint16_t code) { return fromBF16(code); }
  static uint16_t encode(float value) { return toBF16(value); }
};

// f32 has more than twice the precision of f16 and bf16, so that rounding its
// sum again gives the sum rounded once.
template <typename Format>
uint16_t addHalf(uint16_t a, uint16_t b, uint16_t, AtomicPlace) {
  return Format::encode(Format::decode(a) + Format::decode(b));
}
/// The smaller or larger; a number where the other one is NaN; -0 below +0.
template <typename Format, bool IsMinimum>
uint16_t selectHalf(uint16_t a, uint16_t b, uint16_t, AtomicPlace) {
  float x = Format::decode(a), y = Format::decode(b);
  if (x != x)
    return y != y ? 0x7FFF : b;
  if (y != y)
    return a;
  bool isLess = x < y || (x == y && (a & 0x8000));
  return isLess == IsMinimum ? a : b;
}

/// Two halves, each for itself.
template <uint16_t (*Combine)(uint16_t, uint16_t, uint16_t, AtomicPlace)>
uint32_t both(uint32_t a, uint32_t b, uint32_t, AtomicPlace place) {
  uint32_t low =
      Combine(static_cast<uint16_t>(a), static_cast<uint16_t>(b), 0, place);
  uint32_t high = Combine(static_cast<uint16_t>(a >> 16),
                          static_cast<uint16_t>(b >> 16), 0, place);
  return low | high << 16;
}

struct Row {
  llvm::StringLiteral name;
  Type type;
  AtomicOperation operation;
};

const Row kRows[] = {
    {"add", Type::U32, apply<uint32_t, add<uint32_t>>},
    {"add", Type::S32, apply<uint32_t, add<uint32_t>>},
    {"add", Type::U64, apply<uint64_t, add<uint64_t>>},
    {"add", Type::F32, apply<uint32_t, addF32>},
    {"add", Type::F64, apply<uint64_t, addF64>},
    {"add", Type::F16, apply<uint16_t, addHalf<F16>>},
    {"add", Type::BF16, apply<uint16_t, addHalf<BF16>>},
    {"add", Type::F16x2, apply<uint32_t, both<addHalf<F16>>>},
    {"add", Type::BF16x2, apply<uint32_t, both<addHalf<BF16>>>},
    {"inc", Type::U32, apply<uint32_t, increment>},
    {"dec", Type::U32, apply<uint32_t, decrement>},
    {"exch", Type::B32, apply<uint32_t, exchange<uint32_t>>},
    {"exch", Type::B64, apply<uint64_t, exchange<uint64_t>>},
    {"exch", Type::B128, apply<Word128, exchange<Word128>>},
    {"cas", Type::B16, apply<uint16_t, compareAndSwap<uint16_t>>},
    {"cas", Type::B32, apply<uint32_t, compareAndSwap<uint32_t>>},
    {"cas", Type::B64, apply<uint64_t, compareAndSwap<uint64_t>>},
    {"cas", Type::B128, apply<Word128, compareAndSwap<Word128>>},
    {"and", Type::B32, apply<uint32_t, bitAnd<uint32_t>>},
    {"and", Type::B64, apply<uint64_t, bitAnd<uint64_t>>},
    {"or", Type::B32, apply<uint32_t, bitOr<uint32_t>>},
    {"or", Type::B64, apply<uint64_t, bitOr<uint64_t>>},
    {"xor", Type::B32, apply<uint32_t, bitXor<uint32_t>>},
    {"xor", Type::B64, apply<uint64_t, bitXor<uint64_t>>},
    {"min", Type::U32, apply<uint32_t, minimum<uint32_t>>},
    {"min", Type::S32, apply<int32_t, minimum<int32_t>>},
    {"min", Type::U64, apply<uint64_t, minimum<uint64_t>>},
    {"min", Type::S64, apply<int64_t, minimum<int64_t>>},
    {"min", Type::F16, apply<uint16_t, selectHalf<F16, true>>},
    {"min", Type::BF16, apply<uint16_t, selectHalf<BF16, true>>},
    {"min", Type::F16x2, apply<uint32_t, both<selectHalf<F16, true>>>},
    {"min", Type::BF16x2, apply<uint32_t, both<selectHalf<BF16, true>>>},
    {"max", Type::U32, apply<uint32_t, maximum<uint32_t>>},
    {"max", Type::S32, apply<int32_t, maximum<int32_t>>},
    {"max", Type::U64, apply<uint64_t, maximum<uint64_t>>},
    {"max", Type::S64, apply<int64_t, maximum<int64_t>>},
    {"max", Type::F16, apply<uint16_t, selectHalf<F16, false>>},
    {"max", Type::BF16, apply<uint16_t, selectHalf<BF16, false>>},
    {"max", Type::F16x2, apply<uint32_t, both<selectHalf<F16, false>>>},
    {"max", Type::BF16x2, apply<uint32_t, both<selectHalf<BF16, false>>>},
};

} // namespace

AtomicOperation findAtomicOperation(llvm::StringRef name, Type type) {
  for (const Row &row : kRows)
    if (row.name == name && row.type == type)
      return row.operation;
  return nullptr;
}

} // namespace tile::emulator
