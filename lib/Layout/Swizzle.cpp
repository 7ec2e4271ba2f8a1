//===- Swizzle.cpp - Choosing a shared-memory swizzle ---------------------===//

#include "tile/Layout/Swizzle.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>

using namespace tile;

/// Bits 0..6 of a byte offset: the byte in the word and the bank.
static constexpr unsigned bankBitsEnd = 7;

LinearLayout tile::getXorSwizzle(const Space &offsets, unsigned target,
                                 unsigned source, unsigned count) {
  assert(offsets.getAxes().size() == 1 && "expected one axis");
  assert(target + count <= source && source + count <= offsets.bits() &&
         "expected the source above the target and inside the space");
  llvm::SmallVector<uint32_t, 16> columns(
      LinearLayout::identity(offsets).getColumns());
  for (unsigned bit = 0; bit < count; ++bit)
    columns[source + bit] |= uint32_t(1) << (target + bit);
  return LinearLayout(offsets, offsets, columns);
}

namespace {
/// The two accesses that a swizzle must serve.
struct AccessPair {
  const LinearLayout &write, &read;
  unsigned writeBytes, readBytes;

  unsigned cost(const LinearLayout &swizzle) const {
    return countBankConflicts(write.then(swizzle), writeBytes) +
           countBankConflicts(read.then(swizzle), readBytes);
  }
};
} // namespace

/// Adds to `swizzle` the single xor that lowers the cost most; returns false if
/// none does.
static bool addBestXor(LinearLayout &swizzle, unsigned &cost,
                       const AccessPair &accesses, unsigned lowestTarget) {
  const LinearLayout base = swizzle;
  const unsigned before = cost;
  for (unsigned source = bankBitsEnd; source < base.getColumns().size();
       ++source)
    for (unsigned target = lowestTarget; target < bankBitsEnd; ++target) {
      llvm::SmallVector<uint32_t, 16> columns(base.getColumns());
      columns[source] ^= uint32_t(1) << target;
      LinearLayout candidate(base.getDomain(), base.getCodomain(), columns);
      unsigned candidateCost = accesses.cost(candidate);
      if (candidateCost < cost) {
        cost = candidateCost;
        swizzle = candidate;
      }
    }
  return cost < before;
}

LinearLayout tile::chooseSwizzle(const LinearLayout &writeLaneToOffset,
                                 const LinearLayout &readLaneToOffset,
                                 unsigned writeBytes, unsigned readBytes) {
  const Space &offsets = writeLaneToOffset.getCodomain();
  assert(offsets == readLaneToOffset.getCodomain() &&
         "expected one space of offsets");
  AccessPair accesses{writeLaneToOffset, readLaneToOffset, writeBytes,
                      readBytes};

  LinearLayout best = LinearLayout::identity(offsets);
  unsigned bestCost = accesses.cost(best);
  // Bits inside a word or inside one access do not select a bank.
  unsigned lowestTarget =
      std::max(2u, llvm::Log2_32(std::max(writeBytes, readBytes)));

  for (unsigned target = bankBitsEnd; target-- > lowestTarget;)
    for (unsigned count = 1; target + count <= bankBitsEnd; ++count)
      for (unsigned source = bankBitsEnd; source + count <= offsets.bits();
           ++source) {
        LinearLayout candidate = getXorSwizzle(offsets, target, source, count);
        unsigned cost = accesses.cost(candidate);
        if (cost < bestCost) {
          bestCost = cost;
          best = candidate;
        }
      }

  while (addBestXor(best, bestCost, accesses, lowestTarget)) {
  }
  return best;
}
