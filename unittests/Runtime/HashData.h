//===- HashData.h - Data that no mistake can satisfy ------------*- C++ -*-===//

#ifndef TILE_UNITTESTS_RUNTIME_HASHDATA_H
#define TILE_UNITTESTS_RUNTIME_HASHDATA_H

#include <cstdint>
#include <string>

namespace tile::runtime::test {

/// Numbers that follow from a seed.
class HashSequence {
public:
  explicit HashSequence(uint64_t seed) : state(seed) {}

  uint64_t next() {
    uint64_t z = state += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  /// A number below `bound`, which is not 0.
  uint64_t below(uint64_t bound) { return next() % bound; }
  /// Bytes of every value.
  std::string bytes(size_t size) {
    std::string text(size, '\0');
    for (char &byte : text)
      byte = static_cast<char>(next() >> 32);
    return text;
  }

private:
  uint64_t state;
};

} // namespace tile::runtime::test

#endif // TILE_UNITTESTS_RUNTIME_HASHDATA_H
