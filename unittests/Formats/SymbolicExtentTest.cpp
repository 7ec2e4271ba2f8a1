//===- SymbolicExtentTest.cpp - Extents that belong together --------------===//

#include "tile/Formats/SymbolicExtent.h"

#include "gtest/gtest.h"

#include <vector>

using namespace tile;

namespace {

TEST(SymbolicExtentTest, ReadsEveryForm) {
  auto parse = [](const char *text) { return SymbolicExtent::parse(text); };
  EXPECT_EQ(parse("")->name, "");
  EXPECT_FALSE(parse("")->value.has_value());
  EXPECT_EQ(parse("16")->value, 16);
  EXPECT_EQ(parse("0")->value, 0);
  EXPECT_EQ(parse("M")->name, "M");
  EXPECT_EQ(parse("M")->divisor, 1);
  EXPECT_EQ(parse("K_2/16")->name, "K_2");
  EXPECT_EQ(parse("K_2/16")->divisor, 16);
  EXPECT_EQ(parse("K / 2")->divisor, 2);
  for (const char *wrong : {"-1", "K/0", "K/-2", "K/", "/2", "2K", "K/x", "K*2",
                            "16/2", "K/2/2", " ", "99999999999999999999"})
    EXPECT_FALSE(parse(wrong).has_value()) << wrong;
}

/// Checks arrays `a`, `b`, … with these rules and extents.
std::string
check(const std::vector<
      std::pair<std::vector<const char *>, std::vector<int64_t>>> &arrays) {
  static const char *const names[] = {"a", "b", "c", "d"};
  std::vector<std::vector<SymbolicExtent>> rules(arrays.size());
  std::vector<ArrayExtents> list;
  for (size_t i = 0; i < arrays.size(); ++i) {
    for (const char *text : arrays[i].first)
      rules[i].push_back(*SymbolicExtent::parse(text));
    list.push_back({names[i], rules[i], arrays[i].second});
  }
  return checkExtents(list).value_or("success");
}

TEST(SymbolicExtentTest, ComparesUses) {
  EXPECT_EQ(check({{{"M", "N"}, {3, 5}}, {{"N", "M"}, {5, 3}}}), "success");
  EXPECT_EQ(check({{{"M", "N"}, {3, 5}}, {{"N", "M"}, {5, 4}}}),
            "b: expects extent 1 to be 3, M as in a, but got 4");
  EXPECT_EQ(check({{{"16", ""}, {15, 7}}}),
            "a: expects extent 0 to be 16, but got 15");
  // Rounded up.
  EXPECT_EQ(check({{{"K"}, {33}}, {{"K/16"}, {3}}}), "success");
  EXPECT_EQ(check({{{"K"}, {33}}, {{"K/16"}, {2}}}),
            "b: expects extent 0 to be 3, K/16 with K = 33 from a, but got 2");
}

TEST(SymbolicExtentTest, TakesTheMostExactUse) {
  // Wherever it stands: pairs before scales, values before pairs.
  EXPECT_EQ(check({{{"K/16"}, {2}}, {{"K/2"}, {17}}}),
            "a: expects extent 0 to be 3, K/16 with K = 34 from b, but got 2");
  EXPECT_EQ(check({{{"K/16"}, {3}}, {{"K/2"}, {17}}, {{"K"}, {33}}}),
            "success");
  EXPECT_EQ(check({{{"K/16"}, {0}}, {{"K/2"}, {0}}}), "success");
}

TEST(SymbolicExtentTest, HugeExtentsAreNoOverflow) {
  EXPECT_NE(check({{{"K/16"}, {INT64_MAX}}, {{"K"}, {16}}}), "success");
  EXPECT_NE(check({{{"K/16"}, {INT64_MAX}}}), "success");
}

} // namespace
