//===- LayoutConversion.cpp - From one layout to another ------------------===//

#include "tile/Layout/LayoutConversion.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>

using namespace tile;

/// The axes of a distributed tile, nearest first.
static constexpr llvm::StringLiteral axisNames[] = {"register", "lane", "warp"};

std::optional<LayoutConversion>
tile::getLayoutConversion(const LinearLayout &from, const LinearLayout &to) {
  const Space &source = from.getDomain(), &target = to.getDomain();
  assert(source.getAxes().size() == 3 && target.getAxes().size() == 3 &&
         "expected {register, lane, warp}");
  assert(source.bitsOf("lane") == target.bitsOf("lane") &&
         source.bitsOf("warp") == target.bitsOf("warp") &&
         "expected as many lanes and warps on both sides");
  assert(from.getCodomain() == to.getCodomain() && "expected one tile");

  // The registers of a lane, the lanes of a warp, all warps. The axes come in
  // this order in `from` as well, so points need no translation.
  const LinearLayout within[] = {from.restrictDomain({"register"}),
                                 from.restrictDomain({"register", "lane"}),
                                 from};

  ConversionReach reach = ConversionReach::Nothing;
  llvm::SmallVector<uint32_t, 16> columns;
  for (auto [axisIndex, name] : llvm::enumerate(axisNames)) {
    assert(source.getAxes()[axisIndex].name == name &&
           target.getAxes()[axisIndex].name == name &&
           "expected {register, lane, warp}");
    for (unsigned bit = 0, end = target.bitsOf(name); bit < end; ++bit) {
      uint32_t image = to.getColumns(name)[bit];
      // By linearity each bit may be looked at alone. First the place of the
      // same number: moving along this axis then means staying.
      uint32_t same = 0;
      if (bit < source.bitsOf(name))
        same = uint32_t(1) << (*source.offsetOf(name) + bit);
      if (from(same) == image && same != 0) {
        columns.push_back(same);
        continue;
      }
      std::optional<uint32_t> point;
      for (unsigned index = 0; index < 3 && !point; ++index) {
        // A lane bit that stays within its lane keeps its own lane bit, and
        // differs in registers only; likewise for warps.
        uint32_t stay = index < axisIndex ? same : 0;
        point = within[index].preimage(image ^ from(stay));
        if (point) {
          *point ^= stay;
          reach = std::max(reach, static_cast<ConversionReach>(index + 1));
        }
      }
      if (!point)
        return std::nullopt;
      columns.push_back(*point);
    }
  }
  return LayoutConversion{reach, LinearLayout(target, source, columns)};
}
