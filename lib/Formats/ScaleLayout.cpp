//===- ScaleLayout.cpp - The order of scale bytes -------------------------===//

#include "tile/Formats/ScaleLayout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <cassert>

using namespace tile;
using llvm::ArrayRef;
using llvm::Expected;
using llvm::Twine;

namespace {

/// A layout as blocks: row-major blocks of `rows` x `columns` scales.
struct LayoutInfo {
  ScaleLayout layout;
  llvm::StringLiteral name;
  int64_t rows;
  int64_t columns;
};

} // namespace

static constexpr LayoutInfo layouts[] = {
    {ScaleLayout::Linear, {"linear"}, 1, 1},
    {ScaleLayout::Swizzled128x4, {"swizzled_128x4"}, 128, 4},
    {ScaleLayout::Swizzled8x4, {"swizzled_8x4"}, 8, 4},
};

static const LayoutInfo &getInfo(ScaleLayout layout) {
  const LayoutInfo &info = layouts[static_cast<unsigned>(layout)];
  assert(info.layout == layout && "table is not in the order of the enum");
  return info;
}

llvm::StringRef tile::getScaleLayoutName(ScaleLayout layout) {
  return getInfo(layout).name;
}

std::optional<ScaleLayout> tile::findScaleLayout(llvm::StringRef name) {
  for (const LayoutInfo &info : layouts)
    if (info.name == name)
      return info.layout;
  return std::nullopt;
}

/// `value / divisor`, rounded up, without overflow near the top of the range.
static int64_t ceilDiv(int64_t value, int64_t divisor) {
  return value / divisor + (value % divisor != 0);
}

Expected<int64_t> tile::getScaleAllocation(ScaleLayout layout, int64_t rows,
                                           int64_t columns) {
  const LayoutInfo &info = getInfo(layout);
  if (rows < 0 || columns < 0)
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "expects extents that are not negative, but "
                                   "got " +
                                       Twine(rows) + "x" + Twine(columns) +
                                       " scales");
  std::optional<int64_t> blocks = llvm::checkedMul(
      ceilDiv(rows, info.rows), ceilDiv(columns, info.columns));
  std::optional<int64_t> bytes =
      blocks ? llvm::checkedMul(*blocks, info.rows * info.columns)
             : std::nullopt;
  if (!bytes)
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "expects fewer than 2^63 bytes, but got " +
                                       Twine(rows) + "x" + Twine(columns) +
                                       " scales");
  return *bytes;
}

int64_t tile::getScaleOffset(ScaleLayout layout, int64_t columns, int64_t row,
                             int64_t column) {
  assert(row >= 0 && column >= 0 && column < columns && "outside the array");
  const LayoutInfo &info = getInfo(layout);
  int64_t block =
      row / info.rows * ceilDiv(columns, info.columns) + column / info.columns;
  int64_t offset = block * info.rows * info.columns;
  int64_t r = row % info.rows, c = column % info.columns;
  // The 128 rows of a block are four groups of 32, which lie side by side.
  if (layout == ScaleLayout::Swizzled128x4)
    return offset + r % 32 * 16 + r / 32 * 4 + c;
  return offset + r * info.columns + c;
}

Expected<std::vector<uint8_t>>
tile::convertScaleLayout(ArrayRef<uint8_t> bytes, int64_t rows, int64_t columns,
                         ScaleLayout from, ScaleLayout to) {
  Expected<int64_t> source = getScaleAllocation(from, rows, columns);
  if (!source)
    return source.takeError();
  Expected<int64_t> target = getScaleAllocation(to, rows, columns);
  if (!target)
    return target.takeError();
  if (static_cast<uint64_t>(*source) != bytes.size())
    return llvm::createStringError(
        llvm::inconvertibleErrorCode(),
        "expects " + Twine(*source) + " bytes for " + Twine(rows) + "x" +
            Twine(columns) + " scales in the layout '" +
            getScaleLayoutName(from) + "', but got " + Twine(bytes.size()));
  std::vector<uint8_t> result(static_cast<size_t>(*target), 0);
  // An array without columns may claim any number of rows.
  if (columns == 0)
    return result;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      result[getScaleOffset(to, columns, row, column)] =
          bytes[getScaleOffset(from, columns, row, column)];
  return result;
}
