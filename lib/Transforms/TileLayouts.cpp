//===- TileLayouts.cpp - Layouts of tiles over a block --------------------===//

#include "tile/Transforms/TileLayouts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace tile;
using llvm::ArrayRef;
using llvm::SmallVector;

LinearLayout tile::makeDistributedLayout(ArrayRef<int64_t> shape,
                                         ArrayRef<uint32_t> registers,
                                         ArrayRef<uint32_t> lanes,
                                         ArrayRef<uint32_t> warps) {
  assert(lanes.size() == kLaneBits && "a warp has 32 lanes");
  SmallVector<uint32_t> columns(registers);
  columns.append(lanes.begin(), lanes.end());
  columns.append(warps.begin(), warps.end());
  return LinearLayout(Space({{"register", unsigned(registers.size())},
                             {"lane", kLaneBits},
                             {"warp", unsigned(warps.size())}}),
                      Space::ofTile(shape), columns);
}

/// The same layout with other columns.
static LinearLayout withColumns(const LinearLayout &like, const Space &tile,
                                ArrayRef<uint32_t> registers,
                                ArrayRef<uint32_t> lanes,
                                ArrayRef<uint32_t> warps) {
  SmallVector<uint32_t> columns(registers);
  columns.append(lanes.begin(), lanes.end());
  columns.append(warps.begin(), warps.end());
  return LinearLayout(Space({{"register", unsigned(registers.size())},
                             {"lane", like.getDomain().bitsOf("lane")},
                             {"warp", like.getDomain().bitsOf("warp")}}),
                      tile, columns);
}

SmallVector<int64_t> tile::getTileShape(const LinearLayout &layout) {
  SmallVector<int64_t> shape;
  for (const Space::Axis &axis : llvm::reverse(layout.getCodomain().getAxes()))
    shape.push_back(int64_t(1) << axis.bits);
  return shape;
}

/// First packed bit and number of bits of dimension `dim` of a tile.
static std::pair<unsigned, unsigned> getDimBits(ArrayRef<int64_t> shape,
                                                unsigned dim) {
  unsigned first = 0;
  for (unsigned d = shape.size(); d-- > dim + 1;)
    first += llvm::Log2_64(shape[d]);
  return {first, llvm::Log2_64(shape[dim])};
}

LinearLayout tile::getBlockedLayout(ArrayRef<int64_t> shape,
                                    unsigned elementBits, unsigned numWarps,
                                    std::optional<unsigned> keepInWarp,
                                    unsigned mostBytes) {
  unsigned total = Space::ofTile(shape).bits();
  unsigned lastBits = shape.empty() ? 0 : llvm::Log2_64(shape.back());
  unsigned vectorBits = std::min(
      lastBits, llvm::Log2_32(std::max(1u, 8 * mostBytes / elementBits)));
  // No more per lane than spreads the tile over the whole block, so that small
  // tiles do not sit in a few lanes only; below 4 bytes nothing is gained.
  unsigned spread = kLaneBits + llvm::Log2_32(numWarps);
  unsigned wordBits = llvm::Log2_32(std::max(1u, 32 / elementBits));
  while (vectorBits > std::min(lastBits, wordBits) &&
         vectorBits + spread > total)
    --vectorBits;

  auto isKept = [&](unsigned bit) {
    if (!keepInWarp)
      return false;
    auto [first, count] = getDimBits(shape, *keepInWarp);
    return bit >= first && bit < first + count;
  };
  SmallVector<uint32_t> registers, lanes, warps;
  unsigned warpBits = llvm::Log2_32(numWarps);
  for (unsigned bit = 0; bit < total; ++bit) {
    uint32_t column = uint32_t(1) << bit;
    if (bit < vectorBits)
      registers.push_back(column);
    else if (lanes.size() < kLaneBits)
      lanes.push_back(column);
    else if (warps.size() < warpBits && !isKept(bit))
      warps.push_back(column);
    else
      registers.push_back(column);
  }
  lanes.resize(kLaneBits, 0);
  warps.resize(warpBits, 0);
  return makeDistributedLayout(shape, registers, lanes, warps);
}

LinearLayout tile::getTensorMemoryLayout(ArrayRef<int64_t> shape,
                                         unsigned numWarps) {
  const unsigned warpBits = llvm::Log2_32(numWarps);
  assert(warpBits >= 2 && "four warps have the lanes of tensor memory");
  const unsigned total = Space::ofTile(shape).bits();
  const auto [row, rowBits] = getDimBits(shape, shape.size() - 2);
  constexpr unsigned quarterBits = 2;
  SmallVector<uint32_t> lanes, warps;
  for (unsigned bit = 0; bit < kLaneBits + quarterBits; ++bit)
    (bit < kLaneBits ? lanes : warps)
        .push_back(bit < rowBits ? uint32_t(1) << (row + bit) : 0);
  // Column bits, then those of further blocks of rows and of batches.
  SmallVector<uint32_t> rest;
  for (unsigned bit = 0; bit < total; ++bit)
    if (bit < row || bit >= row + kLaneBits + quarterBits ||
        bit >= row + rowBits)
      rest.push_back(uint32_t(1) << bit);
  const unsigned columnBits = row;
  while (warps.size() < warpBits) {
    if (rest.empty()) {
      warps.push_back(0);
      continue;
    }
    // The highest bit of the columns that is left.
    unsigned taken = rest.size();
    for (unsigned i = 0; i < rest.size(); ++i)
      if (rest[i] < uint32_t(1) << columnBits)
        taken = i;
    if (taken == rest.size())
      taken = 0;
    warps.push_back(rest[taken]);
    rest.erase(rest.begin() + taken);
  }
  return makeDistributedLayout(shape, rest, lanes, warps);
}

std::optional<LinearLayout> tile::unpackLayout(const LinearLayout &source,
                                               unsigned sourceBits,
                                               unsigned resultBits) {
  SmallVector<int64_t> shape = getTileShape(source);
  ArrayRef<uint32_t> registers = source.getColumns("register");
  SmallVector<uint32_t> columns;
  if (sourceBits >= resultBits) {
    // One source element becomes 2^shift result elements in a row.
    unsigned shift = llvm::Log2_32(sourceBits / resultBits);
    shape.back() <<= shift;
    auto scale = [&](ArrayRef<uint32_t> from) {
      SmallVector<uint32_t> to;
      for (uint32_t column : from)
        to.push_back(column << shift);
      return to;
    };
    SmallVector<uint32_t> inner;
    for (unsigned bit = 0; bit < shift; ++bit)
      inner.push_back(uint32_t(1) << bit);
    llvm::append_range(inner, scale(registers));
    return withColumns(source, Space::ofTile(shape), inner,
                       scale(source.getColumns("lane")),
                       scale(source.getColumns("warp")));
  }
  unsigned shift = llvm::Log2_32(resultBits / sourceBits);
  if (registers.size() < shift || shape.back() < (int64_t(1) << shift))
    return std::nullopt;
  uint32_t low = (uint32_t(1) << shift) - 1;
  for (unsigned bit = 0; bit < shift; ++bit)
    if (registers[bit] != uint32_t(1) << bit)
      return std::nullopt;
  shape.back() >>= shift;
  bool aligned = true;
  auto scale = [&](ArrayRef<uint32_t> from) {
    SmallVector<uint32_t> to;
    for (uint32_t column : from) {
      aligned &= (column & low) == 0;
      to.push_back(column >> shift);
    }
    return to;
  };
  SmallVector<uint32_t> outer = scale(registers.drop_front(shift));
  SmallVector<uint32_t> lanes = scale(source.getColumns("lane"));
  SmallVector<uint32_t> warps = scale(source.getColumns("warp"));
  if (!aligned)
    return std::nullopt;
  return withColumns(source, Space::ofTile(shape), outer, lanes, warps);
}

LinearLayout tile::permuteLayout(const LinearLayout &source,
                                 ArrayRef<int64_t> permutation) {
  return source.permuteTile(
      SmallVector<unsigned>(permutation.begin(), permutation.end()));
}

LinearLayout tile::inversePermuteLayout(const LinearLayout &result,
                                        ArrayRef<int64_t> permutation) {
  SmallVector<unsigned> inverse(permutation.size());
  for (auto [index, source] : llvm::enumerate(permutation))
    inverse[source] = index;
  return result.permuteTile(inverse);
}

LinearLayout tile::reshapeLayout(const LinearLayout &source,
                                 ArrayRef<int64_t> shape) {
  return source.reshapeCodomain(Space::ofTile(shape));
}

LinearLayout tile::projectLayout(const LinearLayout &result,
                                 ArrayRef<int64_t> shape) {
  SmallVector<int64_t> from = getTileShape(result);
  assert(from.size() == shape.size() && "projection keeps the rank");
  auto project = [&](ArrayRef<uint32_t> columns) {
    SmallVector<uint32_t> projected;
    for (uint32_t column : columns) {
      uint32_t packed = 0;
      for (unsigned d = 0; d < shape.size(); ++d) {
        auto [first, count] = getDimBits(from, d);
        uint32_t coordinate = column >> first & ((uint32_t(1) << count) - 1);
        packed = packed * shape[d] + (shape[d] == 1 ? 0 : coordinate);
      }
      projected.push_back(packed);
    }
    return projected;
  };
  return withColumns(
      result, Space::ofTile(shape), project(result.getColumns("register")),
      project(result.getColumns("lane")), project(result.getColumns("warp")));
}

unsigned tile::getRun(const LinearLayout &layout, unsigned dim) {
  std::string axis = "d" + std::to_string(dim);
  unsigned bits = layout.getCodomain().bitsOf(axis);
  unsigned first = layout.getCodomain().offsetOf(axis).value_or(0);
  unsigned run = 0;
  for (uint32_t column : layout.getColumns("register")) {
    if (run == bits || column != uint32_t(1) << (first + run))
      break;
    ++run;
  }
  return 1u << run;
}

LinearLayout tile::dropZeroRegisters(const LinearLayout &layout) {
  SmallVector<uint32_t> registers;
  for (uint32_t column : layout.getColumns("register"))
    if (column)
      registers.push_back(column);
  return withColumns(layout, layout.getCodomain(), registers,
                     layout.getColumns("lane"), layout.getColumns("warp"));
}

LinearLayout tile::reduceLayout(const LinearLayout &source, unsigned dim) {
  SmallVector<int64_t> shape = getTileShape(source);
  shape[dim] = 1;
  LinearLayout projected = dropZeroRegisters(projectLayout(source, shape));
  shape.erase(shape.begin() + dim);
  return reshapeLayout(projected, shape);
}

bool tile::canReduceInWarp(const LinearLayout &layout, unsigned dim) {
  SmallVector<int64_t> shape = getTileShape(layout);
  auto [first, count] = getDimBits(shape, dim);
  uint32_t mask = ((uint32_t(1) << count) - 1) << first;
  for (uint32_t column : layout.getColumns())
    if ((column & mask) && (column & ~mask))
      return false;
  return llvm::none_of(layout.getColumns("warp"),
                       [&](uint32_t column) { return column & mask; });
}
