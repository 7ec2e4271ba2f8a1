//===- Lanes.h - Element-wise execution over 32 lanes -----------*- C++ -*-===//
//
// How an instruction becomes a loop over the lanes of a warp, and how
// "unwritten" follows the data. The rule without a special case: a result is
// unwritten, in all its bits, where any operand has an unwritten bit.
// Bit-wise instructions refine it with `storeBits`.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_LANES_H
#define TILE_LIB_EMULATOR_LANES_H

#include "Program.h"

#include <cstring>

namespace tile::emulator {

/// Calls `f(lane)` for the lanes of `mask`, lowest first.
template <typename F>
inline void forLanes(uint32_t mask, F &&f) {
  for (; mask; mask &= mask - 1)
    f(static_cast<unsigned>(__builtin_ctz(mask)));
}

/// Stores `values` to the active lanes of `slot`; says nothing of undefined.
template <typename T>
inline void store(Lanes &lanes, Slot slot, const T (&values)[kLanes]) {
  T *to = lanes.get<T>(slot);
  if (lanes.active == kAllLanes) {
    std::memcpy(to, values, sizeof(values));
    return;
  }
  forLanes(lanes.active, [&](unsigned lane) { to[lane] = values[lane]; });
}

/// Marks the active lanes of `slot` as wholly written.
inline void define(Lanes &lanes, Slot slot) {
  lanes.undefinedAt(slot) &= ~lanes.active;
}

/// Marks those of the active lanes that are in `undefined` as wholly unwritten
/// and the others as written. `T` is the register's type in the frame; `bool`
/// for predicates.
template <typename T>
inline void define(Lanes &lanes, Slot slot, uint32_t undefined) {
  undefined &= lanes.active;
  uint32_t &mask = lanes.undefinedAt(slot);
  mask = (mask & ~lanes.active) | undefined;
  if constexpr (!std::is_same_v<T, bool>)
    if (undefined) {
      T *written = reinterpret_cast<T *>(lanes.written + slot);
      forLanes(undefined, [&](unsigned lane) { written[lane] = T(); });
    }
}

/// The written bits of `slot` in `lane`.
template <typename T>
inline T getWritten(const Lanes &lanes, Slot slot, unsigned lane) {
  if (!(lanes.undefinedAt(slot) >> lane & 1))
    return static_cast<T>(~T(0));
  return reinterpret_cast<const T *>(lanes.written + slot)[lane];
}

/// Sets the written bits of `slot` in `lane`.
template <typename T>
inline void setWritten(Lanes &lanes, Slot slot, unsigned lane, T bits) {
  uint32_t &mask = lanes.undefinedAt(slot);
  if (bits == static_cast<T>(~T(0))) {
    mask &= ~(uint32_t(1) << lane);
    return;
  }
  mask |= uint32_t(1) << lane;
  reinterpret_cast<T *>(lanes.written + slot)[lane] = bits;
}

/// Stores `values` to the active lanes of `slot`. Of those lanes the ones in
/// `undefined` get the written bits `written(lane)`, which may be all; the
/// others are wholly written. `written` may look at the operands: it is called
/// before anything is stored, for lanes in `undefined` alone.
template <typename T, typename F>
inline void storeBits(Lanes &lanes, Slot slot, const T (&values)[kLanes],
                      uint32_t undefined, F written) {
  undefined &= lanes.active;
  if (!undefined) {
    store(lanes, slot, values);
    define(lanes, slot);
    return;
  }
  T bits[kLanes];
  forLanes(undefined,
           [&](unsigned lane) { bits[lane] = static_cast<T>(written(lane)); });
  store(lanes, slot, values);
  define(lanes, slot);
  forLanes(undefined, [&](unsigned lane) {
    setWritten<T>(lanes, slot, lane, bits[lane]);
  });
}

/// d = f(a), lane by lane.
template <typename D, typename A, typename F>
inline void mapUnary(Lanes &lanes, Slot d, Slot a, F f) {
  const A *x = lanes.read<A>(a);
  D result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = f(x[lane]);
  uint32_t undefined = lanes.undefinedAt(a);
  store(lanes, d, result);
  define<D>(lanes, d, undefined);
}

/// d = f(a, b), lane by lane.
template <typename D, typename A, typename B, typename F>
inline void mapBinary(Lanes &lanes, Slot d, Slot a, Slot b, F f) {
  const A *x = lanes.read<A>(a);
  const B *y = lanes.read<B>(b);
  D result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = f(x[lane], y[lane]);
  uint32_t undefined = lanes.undefinedAt(a) | lanes.undefinedAt(b);
  store(lanes, d, result);
  define<D>(lanes, d, undefined);
}

/// d = f(a, b, c), lane by lane.
template <typename D, typename A, typename B, typename C, typename F>
inline void mapTernary(Lanes &lanes, Slot d, Slot a, Slot b, Slot c, F f) {
  const A *x = lanes.read<A>(a);
  const B *y = lanes.read<B>(b);
  const C *z = lanes.read<C>(c);
  D result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    result[lane] = f(x[lane], y[lane], z[lane]);
  uint32_t undefined =
      lanes.undefinedAt(a) | lanes.undefinedAt(b) | lanes.undefinedAt(c);
  store(lanes, d, result);
  define<D>(lanes, d, undefined);
}

/// Writes the active lanes of predicate `slot`.
inline void storePredicate(Lanes &lanes, Slot slot, uint32_t value,
                           uint32_t undefined) {
  uint32_t &mask = lanes.mask(slot);
  mask = (mask & ~lanes.active) | (value & lanes.active);
  define<bool>(lanes, slot, undefined);
}

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_LANES_H
