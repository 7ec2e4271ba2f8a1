//===- LayoutConversionTest.cpp - Conversions against enumeration ---------===//

#include "RandomLayouts.h"

#include "tile/Layout/LayoutConversion.h"
#include "gtest/gtest.h"

#include <map>

using namespace tile;

namespace {

using Bases = std::vector<std::vector<uint32_t>>;

/// A layout of a 16x8 tile; bases are `row * 8 + column`.
LinearLayout getTile16x8(const Bases &registersLanesWarps) {
  llvm::SmallVector<Space::Axis> axes;
  llvm::SmallVector<uint32_t> columns;
  const char *names[] = {"register", "lane", "warp"};
  for (auto [name, bases] : llvm::zip(names, registersLanesWarps)) {
    axes.push_back({name, unsigned(bases.size())});
    llvm::append_range(columns, bases);
  }
  return LinearLayout(Space(llvm::ArrayRef(axes)), Space::ofTile({16, 8}),
                      columns);
}

/// Finds the reach by looking at every place; nullopt if an element is missing.
std::optional<ConversionReach> getReachByEnumeration(const LinearLayout &from,
                                                     const LinearLayout &to) {
  const Space &source = from.getDomain(), &target = to.getDomain();
  ConversionReach reach = ConversionReach::Nothing;
  for (uint32_t place = 0; place < 1u << target.bits(); ++place) {
    std::optional<ConversionReach> best;
    for (uint32_t other = 0; other < 1u << source.bits(); ++other) {
      if (from(other) != to(place))
        continue;
      ConversionReach way = ConversionReach::Nothing;
      if (source.coordinate(other, "warp") != target.coordinate(place, "warp"))
        way = ConversionReach::Warps;
      else if (source.coordinate(other, "lane") !=
               target.coordinate(place, "lane"))
        way = ConversionReach::Lanes;
      else if (source.coordinate(other, "register") !=
               target.coordinate(place, "register"))
        way = ConversionReach::Registers;
      best = best ? std::min(*best, way) : way;
    }
    if (!best)
      return std::nullopt;
    reach = std::max(reach, *best);
  }
  return reach;
}

TEST(LayoutConversionTest, Tables) {
  const LinearLayout acc = getTile16x8({{1, 64}, {2, 4, 8, 16, 32}, {}});
  const LinearLayout acc2 = getTile16x8({{1}, {2, 4, 8, 16, 32}, {64}});
  struct Case {
    const char *what;
    LinearLayout from, to;
    std::optional<ConversionReach> reach;
    const char *source; ///< Places as (warp,lane,register).
  };
  const Case cases[] = {
      {"the same layout", acc, acc, ConversionReach::Nothing,
       "register: (0,0,1) (0,0,2)\n"
       "lane: (0,1,0) (0,2,0) (0,4,0) (0,8,0) (0,16,0)\n"
       "warp:\n"},
      {"registers in another order", acc,
       getTile16x8({{64, 1}, {2, 4, 8, 16, 32}, {}}),
       ConversionReach::Registers,
       "register: (0,0,2) (0,0,1)\n"
       "lane: (0,1,0) (0,2,0) (0,4,0) (0,8,0) (0,16,0)\n"
       "warp:\n"},
      {"fewer registers, all in place", acc,
       getTile16x8({{1}, {2, 4, 8, 16, 32}, {}}), ConversionReach::Nothing,
       "register: (0,0,1)\n"
       "lane: (0,1,0) (0,2,0) (0,4,0) (0,8,0) (0,16,0)\n"
       "warp:\n"},
      {"a register copied", acc,
       getTile16x8({{1, 64, 0}, {2, 4, 8, 16, 32}, {}}),
       ConversionReach::Registers,
       "register: (0,0,1) (0,0,2) (0,0,0)\n"
       "lane: (0,1,0) (0,2,0) (0,4,0) (0,8,0) (0,16,0)\n"
       "warp:\n"},
      {"accumulator to rows of four", acc,
       getTile16x8({{1, 2}, {4, 8, 16, 32, 64}, {}}), ConversionReach::Lanes,
       "register: (0,0,1) (0,1,0)\n"
       "lane: (0,2,0) (0,4,0) (0,8,0) (0,16,0) (0,0,2)\n"
       "warp:\n"},
      {"half of the rows to the other warp", acc2,
       getTile16x8({{64}, {2, 4, 8, 16, 32}, {1}}), ConversionReach::Warps,
       "register: (1,0,0)\n"
       "lane: (0,1,0) (0,2,0) (0,4,0) (0,8,0) (0,16,0)\n"
       "warp: (0,0,1)\n"},
      {"spread over warps what every warp holds",
       getTile16x8({{1, 64}, {2, 4, 8, 16, 32}, {0}}), acc2,
       ConversionReach::Registers,
       "register: (0,0,1)\n"
       "lane: (0,1,0) (0,2,0) (0,4,0) (0,8,0) (0,16,0)\n"
       "warp: (1,0,2)\n"},
      {"a replica in the next lane is nearer than one in a warp",
       getTile16x8({{1}, {1, 2, 4, 8, 16}, {32}}),
       getTile16x8({{2}, {1, 4, 2, 8, 16}, {32}}), ConversionReach::Lanes,
       "register: (0,2,0)\n"
       "lane: (0,1,0) (0,4,0) (0,2,0) (0,8,0) (0,16,0)\n"
       "warp: (1,0,0)\n"},
      {"rows that a quad holds, to all columns of the accumulator",
       getTile16x8({{64}, {0, 0, 8, 16, 32}, {}}),
       getTile16x8({{0, 64}, {0, 0, 8, 16, 32}, {}}),
       ConversionReach::Registers,
       "register: (0,0,0) (0,0,1)\n"
       "lane: (0,1,0) (0,2,0) (0,4,0) (0,8,0) (0,16,0)\n"
       "warp:\n"},
      {"an element that is not held", getTile16x8({{1}, {2, 4, 8, 16, 32}, {}}),
       acc, std::nullopt, ""},
  };
  for (const Case &c : cases) {
    SCOPED_TRACE(c.what);
    auto conversion = getLayoutConversion(c.from, c.to);
    ASSERT_EQ(conversion.has_value(), c.reach.has_value());
    if (!conversion)
      continue;
    EXPECT_EQ(conversion->reach, *c.reach);
    EXPECT_EQ(conversion->source.toString(), c.source);
  }
}

TEST(LayoutConversionTest, AgreesWithEnumeration) {
  std::map<int, unsigned> seen;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    Hash hash(seed);
    Space tile = Space::ofTile({4, 8});
    Space fromSpace{{"register", hash.below(4)}, {"lane", 3}, {"warp", 1}};
    Space toSpace{{"register", hash.below(4)}, {"lane", 3}, {"warp", 1}};
    LinearLayout from =
        getRandomLayoutOfRank(hash, fromSpace, tile, 1 + hash.below(5));
    // Start from the same places and disturb some of them.
    llvm::SmallVector<uint32_t> columns;
    for (const Space::Axis &axis : toSpace.getAxes())
      for (unsigned bit = 0; bit < axis.bits; ++bit)
        columns.push_back(bit < fromSpace.bitsOf(axis.name)
                              ? from.getColumns(axis.name)[bit]
                              : 0);
    for (unsigned step = hash.below(5); step > 0; --step)
      columns[hash.below(columns.size())] ^=
          from(hash.below(1u << (1 + hash.below(fromSpace.bits()))));
    if (hash.below(8) == 0)
      columns[hash.below(columns.size())] ^= 1u << hash.below(5);
    LinearLayout to(toSpace, tile, columns);

    SCOPED_TRACE("from\n" + from.toString() + "to\n" + to.toString());
    auto conversion = getLayoutConversion(from, to);
    auto expected = getReachByEnumeration(from, to);
    ASSERT_EQ(conversion.has_value(), expected.has_value());
    ++seen[expected ? int(*expected) : -1];
    if (!conversion)
      continue;
    EXPECT_EQ(conversion->reach, *expected);
    EXPECT_EQ(conversion->source.then(from), to);
    // No place reads from farther than the conversion says.
    const Space &source = fromSpace;
    for (uint32_t place = 0; place < 1u << toSpace.bits(); ++place) {
      uint32_t other = conversion->source(place);
      if (*expected < ConversionReach::Warps) {
        EXPECT_EQ(source.coordinate(other, "warp"),
                  toSpace.coordinate(place, "warp"));
      }
      if (*expected < ConversionReach::Lanes) {
        EXPECT_EQ(source.coordinate(other, "lane"),
                  toSpace.coordinate(place, "lane"));
      }
    }
  }
  for (int kind = -1; kind <= 3; ++kind)
    EXPECT_GT(seen[kind], 50u) << kind;
}

} // namespace
