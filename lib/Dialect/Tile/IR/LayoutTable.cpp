//===- LayoutTable.cpp - A layout as a table of text ----------------------===//

#include "tile/Dialect/Tile/IR/LayoutTable.h"

#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tile;

/// `lane:register`, after `warp.` where there are warp bits.
static std::string toCell(const Space &holders, uint32_t point) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (holders.bitsOf("warp"))
    os << holders.coordinate(point, "warp") << '.';
  os << holders.coordinate(point, "lane") << ':'
     << holders.coordinate(point, "register");
  return text;
}

/// `lane^16`, or `register^1+lane^16` for a direction that moves in both.
static void printDirection(raw_ostream &os, const Space &holders,
                           uint32_t direction) {
  bool first = true;
  for (const Space::Axis &axis : holders.getAxes()) {
    uint32_t coordinate = holders.coordinate(direction, axis.name);
    if (!coordinate)
      continue;
    os << (first ? "" : "+") << axis.name << '^' << coordinate;
    first = false;
  }
}

void tile::printLayoutTable(raw_ostream &os, LayoutAttr layout,
                            ArrayRef<int64_t> shape) {
  LinearLayout map = layout.toLinearLayout(shape);
  const Space &holders = map.getDomain();
  if (shape.empty())
    os << "scalar";
  llvm::interleave(shape, os, "x");
  os << " tile: ";
  llvm::interleaveComma(
      llvm::reverse(holders.getAxes()), os, [&](const Space::Axis &axis) {
        os << (1u << axis.bits) << ' ' << axis.name << (axis.bits ? "s" : "");
      });
  os << '\n';

  SmallVector<uint32_t> replicas = map.kernel();
  if (!replicas.empty()) {
    os << "replicas: ";
    llvm::interleave(
        replicas, os,
        [&](uint32_t direction) { printDirection(os, holders, direction); },
        ", ");
    os << '\n';
  }

  if (shape.size() != 2) {
    map.print(os);
    return;
  }

  // The lowest holder of each element: its free bits are clear.
  std::optional<LinearLayout> inverse = map.rightInverse();
  assert(inverse && "expected a layout that covers the tile");
  std::vector<std::string> cells;
  size_t width = 0;
  for (int64_t element = 0; element < shape[0] * shape[1]; ++element) {
    cells.push_back(toCell(holders, (*inverse)(element)));
    width = std::max(width, cells.back().size());
  }
  os << (holders.bitsOf("warp") ? "cell: warp.lane:register\n"
                                : "cell: lane:register\n");
  unsigned labelWidth = std::to_string(shape[0] - 1).size();
  for (int64_t row = 0; row < shape[0]; ++row) {
    os << llvm::format_decimal(row, labelWidth) << " |";
    for (int64_t column = 0; column < shape[1]; ++column)
      os << ' ' << llvm::right_justify(cells[row * shape[1] + column], width);
    os << '\n';
  }
}
