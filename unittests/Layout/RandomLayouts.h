//===- RandomLayouts.h - Layouts from a hash --------------------*- C++ -*-===//
//
// Laws are tested on layouts that no pattern can satisfy by accident. A hash of
// a counter gives the same ones on every machine and run.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_UNITTESTS_LAYOUT_RANDOMLAYOUTS_H
#define TILE_UNITTESTS_LAYOUT_RANDOMLAYOUTS_H

#include "tile/Layout/LinearLayout.h"
#include "llvm/ADT/STLExtras.h"

#include <ostream>
#include <utility>

namespace tile {

/// GoogleTest prints a layout by this in a failed comparison.
inline void PrintTo(const LinearLayout &layout, std::ostream *os) {
  *os << '\n' << layout.toString();
}
inline void PrintTo(const Space &space, std::ostream *os) {
  *os << '{';
  for (const Space::Axis &axis : space.getAxes())
    *os << ' ' << axis.name << ':' << axis.bits;
  *os << " }";
}

/// A stream of hashed numbers.
class Hash {
public:
  explicit Hash(uint64_t seed) : state(seed * 0x9E3779B97F4A7C15u) {}
  /// Returns a number below `end`.
  uint32_t below(uint32_t end) {
    state += 0x9E3779B97F4A7C15u;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return static_cast<uint32_t>((z ^ (z >> 31)) >> 20) % end;
  }

private:
  uint64_t state;
};

/// Returns any layout between the spaces, singular more often than not.
inline LinearLayout getRandomLayout(Hash &hash, const Space &domain,
                                    const Space &codomain) {
  llvm::SmallVector<uint32_t> columns;
  for (unsigned bit = 0; bit < domain.bits(); ++bit)
    columns.push_back(hash.below(1u << codomain.bits()));
  return LinearLayout(domain, codomain, columns);
}

/// Returns a one-to-one map of a space onto one of the same size.
inline LinearLayout getRandomBijection(Hash &hash, const Space &domain,
                                       const Space &codomain) {
  unsigned bits = domain.bits();
  llvm::SmallVector<uint32_t> columns;
  for (unsigned bit = 0; bit < bits; ++bit)
    columns.push_back(1u << bit);
  for (unsigned step = 0; step < 8 * bits; ++step) {
    unsigned from = hash.below(bits), to = hash.below(bits);
    if (from == to)
      continue;
    if (step % 2)
      columns[to] ^= columns[from];
    else
      std::swap(columns[to], columns[from]);
  }
  return LinearLayout(domain, codomain, columns);
}

/// Returns a layout of rank at most `rank`, through a space of that many bits.
inline LinearLayout getRandomLayoutOfRank(Hash &hash, const Space &domain,
                                          const Space &codomain,
                                          unsigned rank) {
  Space middle{{"middle", rank}};
  return getRandomLayout(hash, domain, middle)
      .then(getRandomLayout(hash, middle, codomain));
}

} // namespace tile

#endif // TILE_UNITTESTS_LAYOUT_RANDOMLAYOUTS_H
