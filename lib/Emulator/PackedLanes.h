//===- PackedLanes.h - Element-wise execution of packed types ---*- C++ -*-===//
//
// The loops of Lanes.h for registers that hold several elements: f32x2 in 64
// bits, f16x2 in 32. The lanes of a register are contiguous and elements of a
// lane start at its low end, so a packed register is just a longer array.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_PACKEDLANES_H
#define TILE_LIB_EMULATOR_PACKEDLANES_H

#include "Lanes.h"

namespace tile::emulator {

/// An unsigned integer of `bytes` bytes.
template <unsigned bytes>
struct RegisterOfBytes;
template <>
struct RegisterOfBytes<2> {
  using type = uint16_t;
};
template <>
struct RegisterOfBytes<4> {
  using type = uint32_t;
};
template <>
struct RegisterOfBytes<8> {
  using type = uint64_t;
};
/// The register that holds `Pack` elements of type `T`.
template <typename T, unsigned Pack>
using PackedRegister = typename RegisterOfBytes<sizeof(T) * Pack>::type;

/// Stores `elements`, `Pack` a lane, to the active lanes of `slot`; says
/// nothing of undefined.
template <unsigned Pack, typename T>
inline void storeElements(Lanes &lanes, Slot slot,
                          const T (&elements)[kLanes * Pack]) {
  uint8_t *to = lanes.registers + slot;
  if (lanes.active == kAllLanes) {
    std::memcpy(to, elements, sizeof(elements));
    return;
  }
  forLanes(lanes.active, [&](unsigned lane) {
    std::memcpy(to + lane * sizeof(T) * Pack, elements + lane * Pack,
                sizeof(T) * Pack);
  });
}

/// d = f(sources…), element by element; the sources are as wide as d.
template <typename T, unsigned Pack, typename F, typename... Sources>
inline void mapElements(Lanes &lanes, F f, Slot d, Sources... sources) {
  T result[kLanes * Pack];
  [&](const auto *...elements) {
    for (unsigned i = 0; i != kLanes * Pack; ++i)
      result[i] = f(elements[i]...);
  }(lanes.read<T>(sources)...);
  uint32_t undefined = (lanes.undefinedAt(sources) | ...);
  storeElements<Pack>(lanes, d, result);
  define<PackedRegister<T, Pack>>(lanes, d, undefined);
}

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_PACKEDLANES_H
