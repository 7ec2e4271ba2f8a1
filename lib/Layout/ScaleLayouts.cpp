//===- ScaleLayouts.cpp - Orders of scale bytes in memory -----------------===//

#include "tile/Layout/ScaleLayouts.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace tile;

std::pair<int64_t, int64_t> tile::getScaleBlockShape(ScaleOrder order) {
  switch (order) {
  case ScaleOrder::Linear:
    return {1, 1};
  case ScaleOrder::Blocked128x4:
    return {128, 4};
  case ScaleOrder::Blocked8x4:
    return {8, 4};
  }
  llvm_unreachable("unknown scale order");
}

LinearLayout tile::getScaleBlock(ScaleOrder order) {
  auto [rows, columns] = getScaleBlockShape(order);
  Space tile = Space::ofTile({rows, columns});
  // Columns are the low two bits of a packed point, rows start at bit 2.
  auto row = [](uint32_t value) { return value << 2; };
  Space offset{{"offset", tile.bits()}};
  switch (order) {
  case ScaleOrder::Linear:
    return LinearLayout(offset, tile, {});
  case ScaleOrder::Blocked128x4:
    return LinearLayout(offset, tile,
                        {1, 2, row(32), row(64), //
                         row(1), row(2), row(4), row(8), row(16)});
  case ScaleOrder::Blocked8x4:
    return LinearLayout(offset, tile, {1, 2, row(1), row(2), row(4)});
  }
  llvm_unreachable("unknown scale order");
}

LinearLayout tile::getScaleArray(ScaleOrder order, int64_t rows,
                                 int64_t columns) {
  auto [blockRows, blockColumns] = getScaleBlockShape(order);
  assert(rows % blockRows == 0 && columns % blockColumns == 0 &&
         "expected whole blocks");
  Space blocks = Space::ofTile({rows / blockRows, columns / blockColumns});
  return getScaleBlock(order).product(
      LinearLayout::identity(blocks).reshapeDomain(
          {{"offset", blocks.bits()}}));
}
