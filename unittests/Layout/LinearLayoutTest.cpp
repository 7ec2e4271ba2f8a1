//===- LinearLayoutTest.cpp - Linear layouts against tables and laws ------===//
//
// Three kinds of test: published tables (fragments, swizzles, conflict counts),
// laws on hashed layouts, and the small cases in which an off-by-one would
// show. Where a law quantifies over points the test enumerates them; the
// library never does, so the two are independent.
//
//===----------------------------------------------------------------------===//

#include "RandomLayouts.h"

#include "tile/Layout/LinearLayout.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <map>
#include <set>

using namespace tile;

namespace {

using Columns = std::vector<uint32_t>;

constexpr unsigned numTrials = 200;

/// The spaces that the laws are tried on: one axis, several, empty ones first,
/// in the middle and last.
const std::vector<Space> &getSomeSpaces() {
  static const std::vector<Space> spaces = {
      {{"register", 3}, {"lane", 4}},
      {{"register", 0}, {"lane", 5}, {"warp", 2}},
      {{"lane", 2}, {"warp", 0}, {"register", 4}},
      {{"d1", 3}, {"d0", 3}, {"d2", 0}},
      {{"offset", 8}},
      {{"d2", 1}, {"d1", 2}, {"d0", 2}},
  };
  return spaces;
}

/// Calls `body` with pairs of the spaces above and a fresh hash.
template <typename Fn>
void forSomeSpaces(Fn body) {
  uint64_t seed = 1;
  for (const Space &domain : getSomeSpaces())
    for (const Space &codomain : getSomeSpaces())
      for (unsigned trial = 0; trial < 8; ++trial) {
        Hash hash(seed++);
        body(hash, domain, codomain);
      }
}

uint32_t extent(const Space &space) { return 1u << space.bits(); }

//===----------------------------------------------------------------------===//
// Space
//===----------------------------------------------------------------------===//

TEST(SpaceTest, AnEmptySpaceHasOnePoint) {
  Space space;
  EXPECT_EQ(space.bits(), 0u);
  EXPECT_EQ(space.bitsOf("lane"), 0u);
  EXPECT_EQ(space.offsetOf("lane"), std::nullopt);
  EXPECT_EQ(space.coordinate(0, "lane"), 0u);
}

TEST(SpaceTest, FirstAxisIsLeastSignificant) {
  Space space{{"register", 2}, {"lane", 5}, {"warp", 1}};
  EXPECT_EQ(space.bits(), 8u);
  EXPECT_EQ(space.offsetOf("register"), 0u);
  EXPECT_EQ(space.offsetOf("lane"), 2u);
  EXPECT_EQ(space.offsetOf("warp"), 7u);
  EXPECT_EQ(space.coordinate(0b1'10110'01, "register"), 0b01u);
  EXPECT_EQ(space.coordinate(0b1'10110'01, "lane"), 0b10110u);
  EXPECT_EQ(space.coordinate(0b1'10110'01, "warp"), 1u);
  EXPECT_EQ(space.coordinate(0b1'10110'01, "block"), 0u);
}

TEST(SpaceTest, AnAxisWithoutBitsIsStillAnAxis) {
  Space space{{"register", 0}, {"lane", 5}, {"warp", 0}};
  EXPECT_EQ(space.offsetOf("register"), 0u);
  EXPECT_EQ(space.offsetOf("warp"), 5u);
  EXPECT_EQ(space.coordinate(31, "warp"), 0u);
  EXPECT_NE(space, (Space{{"lane", 5}}));
}

TEST(SpaceTest, EqualityIsOnNamesOrderAndBits) {
  Space space{{"a", 1}, {"b", 2}};
  EXPECT_EQ(space, (Space{{"a", 1}, {"b", 2}}));
  EXPECT_NE(space, (Space{{"b", 2}, {"a", 1}}));
  EXPECT_NE(space, (Space{{"a", 2}, {"b", 1}}));
  EXPECT_NE(space, (Space{{"a", 1}, {"c", 2}}));
}

TEST(SpaceTest, AllThirtyTwoBitsCanBeUsed) {
  Space space{{"low", 31}, {"high", 1}, {"none", 0}};
  EXPECT_EQ(space.coordinate(0x80000001u, "low"), 1u);
  EXPECT_EQ(space.coordinate(0x80000001u, "high"), 1u);
  EXPECT_EQ(space.coordinate(0xFFFFFFFFu, "none"), 0u);
  EXPECT_EQ((Space{{"all", 32}}).coordinate(0xDEADBEEFu, "all"), 0xDEADBEEFu);
  LinearLayout identity = LinearLayout::identity(space);
  EXPECT_EQ(identity(0xDEADBEEFu), 0xDEADBEEFu);
  EXPECT_EQ(identity.rank(), 32u);
  EXPECT_EQ(*identity.rightInverse(), identity);
}

TEST(SpaceTest, PackedPointOfATileIsItsRowMajorIndex) {
  Space tile = Space::ofTile({2, 8, 4});
  EXPECT_EQ(tile, (Space{{"d2", 2}, {"d1", 3}, {"d0", 1}}));
  uint32_t index = 0;
  for (uint32_t i = 0; i < 2; ++i)
    for (uint32_t j = 0; j < 8; ++j)
      for (uint32_t k = 0; k < 4; ++k, ++index) {
        EXPECT_EQ(tile.coordinate(index, "d0"), i);
        EXPECT_EQ(tile.coordinate(index, "d1"), j);
        EXPECT_EQ(tile.coordinate(index, "d2"), k);
      }
}

TEST(SpaceTest, TilesMayHaveExtentsOfOneAndNoDimensions) {
  EXPECT_EQ(Space::ofTile({1, 4}), (Space{{"d1", 2}, {"d0", 0}}));
  EXPECT_EQ(Space::ofTile({}), Space());
}

//===----------------------------------------------------------------------===//
// Fragments of mma.sync, against the formulas of the PTX ISA
//===----------------------------------------------------------------------===//

/// One fragment: basis vectors as (row, column), and the formula that the PTX
/// ISA gives. Register indices count elements, lowest bits of a word first.
struct Fragment {
  const char *name;
  int64_t rows, columns;
  std::vector<std::pair<uint32_t, uint32_t>> registers, lanes;
  std::pair<uint32_t, uint32_t> (*formula)(uint32_t lane, uint32_t reg);
};

// In the formulas g = lane / 4 and t = lane % 4, as in the PTX ISA.
const Fragment fragments[] = {
    {"C of m16n8, f32",
     16,
     8,
     {{0, 1}, {8, 0}},
     {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}},
     [](uint32_t lane, uint32_t i) {
       return std::make_pair(lane / 4 + 8 * (i >> 1), 2 * (lane % 4) + i % 2);
     }},
    {"A of m16n8k16, 16-bit",
     16,
     16,
     {{0, 1}, {8, 0}, {0, 8}},
     {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}},
     [](uint32_t lane, uint32_t i) {
       uint32_t r = i / 2, e = i % 2;
       return std::make_pair(lane / 4 + 8 * (r & 1),
                             2 * (lane % 4) + e + 8 * (r >> 1));
     }},
    {"B of m16n8k16, 16-bit",
     16,
     8,
     {{1, 0}, {8, 0}},
     {{2, 0}, {4, 0}, {0, 1}, {0, 2}, {0, 4}},
     [](uint32_t lane, uint32_t i) {
       uint32_t r = i / 2, e = i % 2;
       return std::make_pair(2 * (lane % 4) + e + 8 * r, lane / 4);
     }},
    {"A of m16n8k32, 8-bit",
     16,
     32,
     {{0, 1}, {0, 2}, {8, 0}, {0, 16}},
     {{0, 4}, {0, 8}, {1, 0}, {2, 0}, {4, 0}},
     [](uint32_t lane, uint32_t i) {
       uint32_t r = i / 4, e = i % 4;
       return std::make_pair(lane / 4 + 8 * (r & 1),
                             4 * (lane % 4) + e + 16 * (r >> 1));
     }},
    {"B of m16n8k32, 8-bit",
     32,
     8,
     {{1, 0}, {2, 0}, {16, 0}},
     {{4, 0}, {8, 0}, {0, 1}, {0, 2}, {0, 4}},
     [](uint32_t lane, uint32_t i) {
       uint32_t r = i / 4, e = i % 4;
       return std::make_pair(4 * (lane % 4) + e + 16 * r, lane / 4);
     }},
    {"A of m16n8k64, 4-bit",
     16,
     64,
     {{0, 1}, {0, 2}, {0, 4}, {8, 0}, {0, 32}},
     {{0, 8}, {0, 16}, {1, 0}, {2, 0}, {4, 0}},
     [](uint32_t lane, uint32_t i) {
       uint32_t r = i / 8, e = i % 8;
       return std::make_pair(lane / 4 + 8 * (r & 1),
                             8 * (lane % 4) + e + 32 * (r >> 1));
     }},
    {"B of m16n8k64, 4-bit",
     64,
     8,
     {{1, 0}, {2, 0}, {4, 0}, {32, 0}},
     {{8, 0}, {16, 0}, {0, 1}, {0, 2}, {0, 4}},
     [](uint32_t lane, uint32_t i) {
       uint32_t r = i / 8, e = i % 8;
       return std::make_pair(8 * (lane % 4) + e + 32 * r, lane / 4);
     }},
    {"scales of A, 1X",
     16,
     1,
     {},
     {{8, 0}, {0, 0}, {1, 0}, {2, 0}, {4, 0}},
     [](uint32_t lane, uint32_t) {
       return std::make_pair(lane / 4 + 8 * (lane % 2), 0u);
     }},
    {"scales of A, 2X",
     16,
     2,
     {{0, 1}},
     {{8, 0}, {0, 0}, {1, 0}, {2, 0}, {4, 0}},
     [](uint32_t lane, uint32_t byte) {
       return std::make_pair(lane / 4 + 8 * (lane % 2), byte);
     }},
    {"scales of A, 4X",
     16,
     4,
     {{0, 1}, {0, 2}},
     {{8, 0}, {0, 0}, {1, 0}, {2, 0}, {4, 0}},
     [](uint32_t lane, uint32_t byte) {
       return std::make_pair(lane / 4 + 8 * (lane % 2), byte);
     }},
    {"scales of B, 1X",
     1,
     8,
     {},
     {{0, 0}, {0, 0}, {0, 1}, {0, 2}, {0, 4}},
     [](uint32_t lane, uint32_t) { return std::make_pair(0u, lane / 4); }},
    {"scales of B, 2X",
     2,
     8,
     {{1, 0}},
     {{0, 0}, {0, 0}, {0, 1}, {0, 2}, {0, 4}},
     [](uint32_t lane, uint32_t byte) {
       return std::make_pair(byte, lane / 4);
     }},
    {"scales of B, 4X",
     4,
     8,
     {{1, 0}, {2, 0}},
     {{0, 0}, {0, 0}, {0, 1}, {0, 2}, {0, 4}},
     [](uint32_t lane, uint32_t byte) {
       return std::make_pair(byte, lane / 4);
     }},
};

LinearLayout getLayout(const Fragment &fragment) {
  Space tile = Space::ofTile({fragment.rows, fragment.columns});
  llvm::SmallVector<uint32_t> columns;
  for (const auto *part : {&fragment.registers, &fragment.lanes})
    for (auto [row, column] : *part)
      columns.push_back(row * fragment.columns + column);
  return LinearLayout(
      {{"register", unsigned(fragment.registers.size())}, {"lane", 5}}, tile,
      columns);
}

LinearLayout getFragment(llvm::StringRef name) {
  for (const Fragment &fragment : fragments)
    if (name == fragment.name)
      return getLayout(fragment);
  ADD_FAILURE() << "no fragment " << name.str();
  return LinearLayout();
}

TEST(FragmentTest, BasisVectorsMatchTheFormulas) {
  for (const Fragment &fragment : fragments) {
    SCOPED_TRACE(fragment.name);
    LinearLayout layout = getLayout(fragment);
    uint32_t registers = 1u << fragment.registers.size();
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t reg = 0; reg < registers; ++reg) {
        auto [row, column] = fragment.formula(lane, reg);
        uint32_t image = layout(reg | lane << fragment.registers.size());
        EXPECT_EQ(layout.getCodomain().coordinate(image, "d0"), row);
        EXPECT_EQ(layout.getCodomain().coordinate(image, "d1"), column);
      }
  }
}

TEST(FragmentTest, EveryElementIsHeldOnceAndScalesAreReplicated) {
  for (const Fragment &fragment : fragments) {
    SCOPED_TRACE(fragment.name);
    LinearLayout layout = getLayout(fragment);
    EXPECT_TRUE(layout.isSurjective());
    llvm::StringRef name = fragment.name;
    if (name.consume_front("scales of ")) {
      // Lane bit 1 selects among lanes for A, lane bits 0 and 1 for B.
      uint32_t selector = name.starts_with("A") ? 2 : 3;
      EXPECT_EQ(layout.freeBits(), selector << fragment.registers.size());
      continue;
    }
    EXPECT_TRUE(layout.isInjective());
    EXPECT_EQ(layout.freeBits(), 0u);
    EXPECT_TRUE(layout.kernel().empty());
  }
}

TEST(FragmentTest, TheTableOfTheDocumentationIsThisOne) {
  auto buffer = llvm::MemoryBuffer::getFile(TILE_DOCS_DIR "/layouts.md");
  ASSERT_TRUE(buffer) << buffer.getError().message();
  llvm::StringRef page = (*buffer)->getBuffer();
  for (const Fragment &fragment : fragments) {
    LinearLayout layout = getLayout(fragment);
    auto print = [&](llvm::StringRef axis) {
      std::string text = layout.restrictDomain({axis}).toString();
      return llvm::StringRef(text).drop_front(axis.size() + 1).trim().str();
    };
    std::string row = std::string("| ") + fragment.name + " | " +
                      std::to_string(fragment.rows) + "x" +
                      std::to_string(fragment.columns) + " | " +
                      print("register") + " | " + print("lane") + " |\n";
    EXPECT_TRUE(page.contains(row)) << row;
  }
}

TEST(FragmentTest, VectorWidthIsOneWordWhereKIsContiguous) {
  EXPECT_EQ(getFragment("C of m16n8, f32").contiguity(), 2u);
  EXPECT_EQ(getFragment("A of m16n8k16, 16-bit").contiguity(), 2u);
  EXPECT_EQ(getFragment("A of m16n8k32, 8-bit").contiguity(), 4u);
  EXPECT_EQ(getFragment("A of m16n8k64, 4-bit").contiguity(), 8u);
  // Rows of B are K: neighbours in a register are a row apart, until the tile
  // is transposed.
  LinearLayout b = getFragment("B of m16n8k64, 4-bit");
  EXPECT_EQ(b.contiguity(), 1u);
  EXPECT_EQ(b.permuteTile({1, 0}).contiguity(), 8u);
}

TEST(FragmentTest, TwoAccumulatorsSideBySideAreALeftOperand) {
  EXPECT_EQ(getFragment("C of m16n8, f32")
                .product(LinearLayout({{"register", 1}}, {{"d1", 1}}, {1})),
            getFragment("A of m16n8k16, 16-bit"));
}

TEST(FragmentTest, AnswersOfTheDocumentation) {
  LinearLayout acc = getFragment("C of m16n8, f32");
  EXPECT_EQ(acc(2 | 6 << 2), 9u * 8 + 4);
  EXPECT_EQ(acc.preimage(9 * 8 + 4), 2u | 6 << 2);
  EXPECT_EQ(acc.permuteTile({1, 0}).toString(),
            "register: (1,0) (0,8)\n"
            "lane: (2,0) (4,0) (0,1) (0,2) (0,4)\n");
  EXPECT_EQ(acc.reshapeCodomain(Space::ofTile({4, 32}))
                .restrictDomain({"register"})
                .toString(),
            "register: (0,1) (2,0)\n");
}

TEST(FragmentTest, TheThreeShapesAreOneRuleOnBytes) {
  // In units of 32-bit words of the K row all A fragments are the same table.
  struct Case {
    const char *name;
    unsigned elementsPerWordLog2;
  };
  std::set<std::string> tables;
  for (Case c :
       {Case{"A of m16n8k16, 16-bit", 1}, Case{"A of m16n8k32, 8-bit", 2},
        Case{"A of m16n8k64, 4-bit", 3}}) {
    SCOPED_TRACE(c.name);
    Space inWord{{"register", c.elementsPerWordLog2}};
    LinearLayout element = LinearLayout::identity(inWord).reshapeCodomain(
        {{"d1", c.elementsPerWordLog2}, {"d0", 0}});
    auto words = getFragment(c.name).quotient(element);
    ASSERT_TRUE(words);
    tables.insert(words->toString());
  }
  EXPECT_EQ(tables,
            std::set<std::string>{"register: (8,0) (0,4)\n"
                                  "lane: (0,1) (0,2) (1,0) (2,0) (4,0)\n"});
}

//===----------------------------------------------------------------------===//
// Construction, application, printing
//===----------------------------------------------------------------------===//

TEST(LinearLayoutTest, ADefaultLayoutMapsThePointToThePoint) {
  LinearLayout layout;
  EXPECT_EQ(layout(0), 0u);
  EXPECT_EQ(layout.rank(), 0u);
  EXPECT_TRUE(layout.isSurjective());
  EXPECT_TRUE(layout.isInjective());
  EXPECT_EQ(layout.contiguity(), 1u);
  EXPECT_EQ(layout.toString(), "");
  EXPECT_EQ(*layout.rightInverse(), layout);
}

TEST(LinearLayoutTest, ImageIsTheXorOfColumns) {
  forSomeSpaces([](Hash &hash, const Space &domain, const Space &codomain) {
    LinearLayout layout = getRandomLayout(hash, domain, codomain);
    EXPECT_EQ(layout(0), 0u);
    for (unsigned bit = 0; bit < domain.bits(); ++bit)
      EXPECT_EQ(layout(1u << bit), layout.getColumns()[bit]);
    for (unsigned trial = 0; trial < numTrials; ++trial) {
      uint32_t x = hash.below(extent(domain)), y = hash.below(extent(domain));
      EXPECT_EQ(layout(x ^ y), layout(x) ^ layout(y));
    }
  });
}

TEST(LinearLayoutTest, ColumnsOfAnAxis) {
  LinearLayout layout({{"register", 2}, {"lane", 0}, {"warp", 1}},
                      {{"offset", 4}}, {5, 6, 9});
  EXPECT_EQ(layout.getColumns("register").vec(), (Columns{5, 6}));
  EXPECT_EQ(layout.getColumns("lane").vec(), Columns{});
  EXPECT_EQ(layout.getColumns("warp").vec(), Columns{9});
  EXPECT_EQ(layout.getColumns("block").vec(), Columns{});
}

TEST(LinearLayoutTest, EqualityIncludesTheSpaces) {
  LinearLayout layout({{"a", 1}}, {{"b", 1}}, {1});
  EXPECT_EQ(layout, LinearLayout({{"a", 1}}, {{"b", 1}}, {1}));
  EXPECT_NE(layout, LinearLayout({{"a", 1}}, {{"b", 1}}, {0}));
  EXPECT_NE(layout, LinearLayout({{"c", 1}}, {{"b", 1}}, {1}));
  EXPECT_NE(layout, LinearLayout({{"a", 1}}, {{"c", 1}}, {1}));
}

TEST(LinearLayoutTest, PrintsCoordinatesInTheOrderOfTheDimensions) {
  EXPECT_EQ(getFragment("C of m16n8, f32").toString(),
            "register: (0,1) (8,0)\n"
            "lane: (0,2) (0,4) (1,0) (2,0) (4,0)\n");
  EXPECT_EQ(LinearLayout({{"lane", 1}, {"warp", 0}}, Space::ofTile({2, 4, 8}),
                         {1 << 5 | 2 << 3 | 7})
                .toString(),
            "lane: (1,2,7)\n"
            "warp:\n");
  EXPECT_EQ(LinearLayout({{"lane", 2}}, {{"offset", 7}}, {4, 100}).toString(),
            "lane: (4) (100)\n");
  EXPECT_EQ(LinearLayout({{"lane", 1}}, Space(), {0}).toString(), "lane: ()\n");
}

//===----------------------------------------------------------------------===//
// Composition and inversion
//===----------------------------------------------------------------------===//

TEST(LinearLayoutTest, ThenAppliesTheOuterMapSecond) {
  forSomeSpaces([](Hash &hash, const Space &domain, const Space &codomain) {
    Space last{{"x", 3}, {"y", 2}};
    LinearLayout first = getRandomLayout(hash, domain, codomain);
    LinearLayout second = getRandomLayout(hash, codomain, last);
    LinearLayout both = first.then(second);
    EXPECT_EQ(both.getDomain(), domain);
    EXPECT_EQ(both.getCodomain(), last);
    for (uint32_t point = 0; point < extent(domain); ++point)
      ASSERT_EQ(both(point), second(first(point)));
  });
}

TEST(LinearLayoutTest, ThenIsAssociativeAndIdentityIsNeutral) {
  forSomeSpaces([](Hash &hash, const Space &domain, const Space &codomain) {
    Space third{{"x", 5}}, fourth{{"y", 1}, {"z", 3}};
    LinearLayout a = getRandomLayout(hash, domain, codomain);
    LinearLayout b = getRandomLayout(hash, codomain, third);
    LinearLayout c = getRandomLayout(hash, third, fourth);
    EXPECT_EQ(a.then(b).then(c), a.then(b.then(c)));
    EXPECT_EQ(LinearLayout::identity(domain).then(a), a);
    EXPECT_EQ(a.then(LinearLayout::identity(codomain)), a);
  });
}

TEST(LinearLayoutTest, RightInverseOfABijectionIsTwoSided) {
  for (unsigned seed = 0; seed < numTrials; ++seed) {
    Hash hash(seed);
    Space domain{{"register", 3}, {"lane", 5}}, codomain{{"d1", 4}, {"d0", 4}};
    LinearLayout layout = getRandomBijection(hash, domain, codomain);
    auto inverse = layout.rightInverse();
    ASSERT_TRUE(inverse);
    EXPECT_EQ(inverse->then(layout), LinearLayout::identity(codomain));
    EXPECT_EQ(layout.then(*inverse), LinearLayout::identity(domain));
    EXPECT_EQ(*inverse->rightInverse(), layout);
  }
}

TEST(LinearLayoutTest, RightInverseReversesComposition) {
  for (unsigned seed = 0; seed < numTrials; ++seed) {
    Hash hash(seed);
    Space x{{"x", 7}}, y{{"y", 4}, {"z", 3}}, w{{"w", 7}};
    LinearLayout first = getRandomBijection(hash, x, y);
    LinearLayout second = getRandomBijection(hash, y, w);
    EXPECT_EQ(*first.then(second).rightInverse(),
              second.rightInverse()->then(*first.rightInverse()));
  }
}

TEST(LinearLayoutTest, RightInverseExistsIffOnto) {
  unsigned onto = 0, notOnto = 0;
  for (unsigned seed = 0; seed < numTrials; ++seed) {
    Hash hash(seed);
    Space domain{{"register", 2}, {"lane", 5}}, codomain{{"d1", 3}, {"d0", 3}};
    LinearLayout layout = getRandomLayout(hash, domain, codomain);
    std::set<uint32_t> image;
    for (uint32_t point = 0; point < extent(domain); ++point)
      image.insert(layout(point));
    auto inverse = layout.rightInverse();
    ASSERT_EQ(inverse.has_value(), image.size() == extent(codomain));
    (inverse ? onto : notOnto) += 1;
    if (inverse) {
      EXPECT_EQ(inverse->then(layout), LinearLayout::identity(codomain));
    }
  }
  // The data must have both kinds, or the test says nothing.
  EXPECT_GT(onto, 10u);
  EXPECT_GT(notOnto, 10u);
}

TEST(LinearLayoutTest, RightInverseLeavesFreeBitsClear) {
  unsigned replicated = 0;
  for (unsigned seed = 0; seed < numTrials; ++seed) {
    Hash hash(seed);
    Space domain{{"register", 3}, {"lane", 5}}, codomain{{"d1", 2}, {"d0", 3}};
    LinearLayout layout = getRandomLayout(hash, domain, codomain);
    auto inverse = layout.rightInverse();
    if (!inverse)
      continue;
    ++replicated;
    EXPECT_EQ(llvm::popcount(layout.freeBits()), 3);
    for (uint32_t point = 0; point < extent(codomain); ++point)
      EXPECT_EQ((*inverse)(point)&layout.freeBits(), 0u);
  }
  EXPECT_GT(replicated, 100u);
}

TEST(LinearLayoutTest, PreimageIsThePointWithFreeBitsClear) {
  for (unsigned seed = 0; seed < numTrials; ++seed) {
    Hash hash(seed);
    Space domain{{"register", 3}, {"lane", 4}}, codomain{{"d1", 4}, {"d0", 3}};
    LinearLayout layout =
        getRandomLayoutOfRank(hash, domain, codomain, seed % 8);
    std::map<uint32_t, uint32_t> expected;
    for (uint32_t point = 0; point < extent(domain); ++point)
      if ((point & layout.freeBits()) == 0)
        expected[layout(point)] = point;
    for (uint32_t image = 0; image < extent(codomain); ++image) {
      auto preimage = layout.preimage(image);
      ASSERT_EQ(preimage.has_value(), expected.count(image) == 1);
      if (preimage) {
        EXPECT_EQ(*preimage, expected[image]);
      }
    }
  }
}

TEST(LinearLayoutTest, RightInverseTakesTheFirstOfEqualColumns) {
  // Register bit 1 repeats bit 0 and lane bit 1 does nothing.
  LinearLayout layout({{"register", 2}, {"lane", 2}}, {{"x", 2}}, {1, 1, 3, 0});
  EXPECT_EQ(layout.freeBits(), 0b1010u);
  auto inverse = layout.rightInverse();
  ASSERT_TRUE(inverse);
  EXPECT_EQ(inverse->getColumns().vec(), (Columns{0b0001, 0b0101}));
}

//===----------------------------------------------------------------------===//
// Rank, kernel, free bits
//===----------------------------------------------------------------------===//

TEST(LinearLayoutTest, RankIsTheLogOfTheImage) {
  std::set<unsigned> ranks;
  for (unsigned seed = 0; seed < numTrials; ++seed) {
    Hash hash(seed);
    Space domain{{"register", 3}, {"lane", 4}}, codomain{{"d1", 4}, {"d0", 3}};
    LinearLayout layout =
        getRandomLayoutOfRank(hash, domain, codomain, seed % 8);
    std::set<uint32_t> image;
    for (uint32_t point = 0; point < extent(domain); ++point)
      image.insert(layout(point));
    EXPECT_EQ(1u << layout.rank(), image.size());
    EXPECT_EQ(layout.isInjective(), image.size() == extent(domain));
    EXPECT_EQ(layout.isSurjective(), image.size() == extent(codomain));
    ranks.insert(layout.rank());
  }
  EXPECT_EQ(ranks.size(), 8u);
}

TEST(LinearLayoutTest, KernelSpansThePointsThatMapToZero) {
  for (unsigned seed = 0; seed < numTrials; ++seed) {
    Hash hash(seed);
    Space domain{{"register", 3}, {"lane", 4}}, codomain{{"d1", 4}, {"d0", 3}};
    LinearLayout layout =
        getRandomLayoutOfRank(hash, domain, codomain, seed % 8);
    llvm::SmallVector<uint32_t> kernel = layout.kernel();
    EXPECT_EQ(kernel.size() + layout.rank(), domain.bits());
    std::set<uint32_t> span, zeros;
    for (uint32_t point = 0; point < 1u << kernel.size(); ++point)
      span.insert(LinearLayout({{"k", unsigned(kernel.size())}},
                               {{"x", domain.bits()}}, kernel)(point));
    for (uint32_t point = 0; point < extent(domain); ++point)
      if (layout(point) == 0)
        zeros.insert(point);
    EXPECT_EQ(span, zeros);
  }
}

TEST(LinearLayoutTest, PointsWithFreeBitsClearHoldEveryElementOnce) {
  for (unsigned seed = 0; seed < numTrials; ++seed) {
    Hash hash(seed);
    Space domain{{"register", 3}, {"lane", 4}}, codomain{{"d1", 4}, {"d0", 3}};
    LinearLayout layout =
        getRandomLayoutOfRank(hash, domain, codomain, seed % 8);
    std::map<uint32_t, unsigned> holders;
    for (uint32_t point = 0; point < extent(domain); ++point)
      if ((point & layout.freeBits()) == 0)
        ++holders[layout(point)];
    EXPECT_EQ(holders.size(), 1u << layout.rank());
    for (auto [element, count] : holders)
      EXPECT_EQ(count, 1u) << "element " << element;
  }
}

TEST(LinearLayoutTest, KernelAndFreeBitsAreDeterministic) {
  struct Case {
    Columns columns;
    uint32_t freeBits;
    Columns kernel;
  };
  const Case cases[] = {
      {{1, 2, 4, 8}, 0b0000, {}},
      {{0, 0, 0, 0}, 0b1111, {1, 2, 4, 8}},
      {{1, 1, 2, 2}, 0b1010, {0b0011, 0b1100}},
      {{1, 2, 3, 4}, 0b0100, {0b0111}},
      {{3, 5, 6, 8}, 0b0100, {0b0111}},
      {{0, 7, 7, 7}, 0b1101, {0b0001, 0b0110, 0b1010}},
      {{1, 2, 4, 7}, 0b1000, {0b1111}},
  };
  for (const Case &c : cases) {
    LinearLayout layout({{"lane", 4}}, {{"x", 4}}, c.columns);
    SCOPED_TRACE(layout.toString());
    EXPECT_EQ(layout.freeBits(), c.freeBits);
    llvm::SmallVector<uint32_t> kernel = layout.kernel();
    EXPECT_EQ(Columns(kernel.begin(), kernel.end()), c.kernel);
  }
}

TEST(LinearLayoutTest, ScaleOperandReplicatesInTheKernel) {
  // Scales of A for .scale_vec::4X: row m is supplied by lane
  // 4 * (m & 7) + 2 * thread-id-a + (m >> 3), so lane bit 1 is the selector.
  LinearLayout scales({{"register", 2}, {"lane", 5}}, Space::ofTile({16, 4}),
                      {1, 2, 8 * 4, 0, 1 * 4, 2 * 4, 4 * 4});
  EXPECT_TRUE(scales.isSurjective());
  EXPECT_EQ(scales.freeBits(), 0b1000u);
  EXPECT_EQ(scales.kernel(), llvm::SmallVector<uint32_t>{0b1000});
  for (uint32_t row = 0; row < 16; ++row)
    for (uint32_t selector = 0; selector < 2; ++selector)
      for (uint32_t group = 0; group < 4; ++group) {
        uint32_t lane = 4 * (row & 7) + 2 * selector + (row >> 3);
        EXPECT_EQ(scales(group | lane << 2), row * 4 + group);
      }
}

//===----------------------------------------------------------------------===//
// Product and quotient
//===----------------------------------------------------------------------===//

TEST(LinearLayoutTest, ProductPutsFragmentsSideBySide) {
  LinearLayout fragment = getFragment("C of m16n8, f32");
  LinearLayout two =
      fragment.product(LinearLayout({{"register", 1}}, {{"d1", 1}}, {1}));
  EXPECT_EQ(two.getDomain(), (Space{{"register", 3}, {"lane", 5}}));
  EXPECT_EQ(two.getCodomain(), Space::ofTile({16, 16}));
  EXPECT_EQ(two.toString(), "register: (0,1) (8,0) (0,8)\n"
                            "lane: (0,2) (0,4) (1,0) (2,0) (4,0)\n");
}

TEST(LinearLayoutTest, ProductAppendsNewAxes) {
  LinearLayout warps({{"warp", 2}}, {{"d0", 1}, {"d2", 1}}, {1, 2});
  LinearLayout four = getFragment("C of m16n8, f32").product(warps);
  EXPECT_EQ(four.getDomain(),
            (Space{{"register", 2}, {"lane", 5}, {"warp", 2}}));
  EXPECT_EQ(four.getCodomain(), (Space{{"d1", 3}, {"d0", 5}, {"d2", 1}}));
  EXPECT_EQ(four.getColumns("warp").vec(), (Columns{16 << 3, 1 << 8}));
}

TEST(LinearLayoutTest, ProductActsOnLowAndHighCoordinates) {
  // On each axis of the product, the low bits go through the inner map and the
  // high bits through the outer one.
  for (unsigned seed = 0; seed < numTrials; ++seed) {
    Hash hash(seed);
    Space innerDomain{{"a", 2}, {"b", 1}}, outerDomain{{"b", 2}, {"c", 1}};
    Space innerCodomain{{"x", 1}, {"y", 2}}, outerCodomain{{"y", 1}, {"x", 2}};
    LinearLayout inner = getRandomLayout(hash, innerDomain, innerCodomain);
    LinearLayout outer = getRandomLayout(hash, outerDomain, outerCodomain);
    LinearLayout product = inner.product(outer);
    ASSERT_EQ(product.getDomain(), (Space{{"a", 2}, {"b", 3}, {"c", 1}}));
    ASSERT_EQ(product.getCodomain(), (Space{{"x", 3}, {"y", 3}}));
    for (uint32_t a = 0; a < 4; ++a)
      for (uint32_t b = 0; b < 8; ++b)
        for (uint32_t c = 0; c < 2; ++c) {
          uint32_t low = inner(a | (b % 2) << 2);
          uint32_t high = outer(b / 2 | c << 2);
          uint32_t image = product(a | b << 2 | c << 5);
          EXPECT_EQ(image & 7, innerCodomain.coordinate(low, "x") |
                                   outerCodomain.coordinate(high, "x") << 1);
          EXPECT_EQ(image >> 3, innerCodomain.coordinate(low, "y") |
                                    outerCodomain.coordinate(high, "y") << 2);
        }
  }
}

TEST(LinearLayoutTest, ProductIsAssociativeWithAUnit) {
  forSomeSpaces([](Hash &hash, const Space &domain, const Space &codomain) {
    LinearLayout a = getRandomLayout(hash, domain, codomain);
    LinearLayout b =
        getRandomLayout(hash, {{"lane", 2}, {"q", 1}}, {{"d0", 2}});
    LinearLayout c = getRandomLayout(hash, {{"q", 1}}, {{"d1", 1}, {"d0", 1}});
    EXPECT_EQ(a.product(b).product(c), a.product(b.product(c)));
    EXPECT_EQ(a.product(LinearLayout()), a);
    EXPECT_EQ(LinearLayout().product(a), a);
  });
}

TEST(LinearLayoutTest, ProductAddsRanksAndCommutesWithInversion) {
  for (unsigned seed = 0; seed < numTrials; ++seed) {
    Hash hash(seed);
    Space domain{{"r", 2}, {"l", 3}}, codomain{{"x", 3}, {"y", 2}};
    Space outerDomain{{"l", 2}, {"r", 1}}, outerCodomain{{"y", 1}, {"x", 2}};
    LinearLayout any = getRandomLayoutOfRank(hash, domain, codomain, seed % 6);
    LinearLayout outer =
        getRandomLayoutOfRank(hash, outerDomain, outerCodomain, seed % 4);
    EXPECT_EQ(any.product(outer).rank(), any.rank() + outer.rank());
    LinearLayout a = getRandomBijection(hash, domain, codomain);
    LinearLayout b = getRandomBijection(hash, outerDomain, outerCodomain);
    EXPECT_EQ(*a.product(b).rightInverse(),
              a.rightInverse()->product(*b.rightInverse()));
  }
}

TEST(LinearLayoutTest, QuotientUndoesProduct) {
  forSomeSpaces([](Hash &hash, const Space &domain, const Space &codomain) {
    LinearLayout inner = getRandomLayout(hash, domain, codomain);
    LinearLayout outer =
        getRandomLayout(hash, {{"lane", 2}, {"q", 1}}, {{"d0", 2}, {"z", 1}});
    LinearLayout product = inner.product(outer);
    auto quotient = product.quotient(inner);
    ASSERT_TRUE(quotient);
    EXPECT_EQ(inner.product(*quotient), product);
    // All axes of the product are named, those of `inner` without bits.
    EXPECT_EQ(quotient->getDomain().getAxes().size(),
              product.getDomain().getAxes().size());
    EXPECT_EQ(llvm::ArrayRef<uint32_t>(quotient->getColumns("lane")),
              outer.getColumns("lane"));
  });
}

TEST(LinearLayoutTest, QuotientBySelfLeavesNoBits) {
  forSomeSpaces([](Hash &hash, const Space &domain, const Space &codomain) {
    LinearLayout layout = getRandomLayout(hash, domain, codomain);
    auto quotient = layout.quotient(layout);
    ASSERT_TRUE(quotient);
    EXPECT_EQ(quotient->getDomain().bits(), 0u);
    EXPECT_EQ(quotient->getCodomain().bits(), 0u);
    EXPECT_EQ(*layout.quotient(LinearLayout()), layout);
  });
}

TEST(LinearLayoutTest, QuotientFailsWhereTheInnerMapIsNotInPlace) {
  LinearLayout inner({{"r", 2}}, {{"x", 2}}, {1, 2});
  struct Case {
    const char *why;
    LinearLayout layout;
  };
  const Case cases[] = {
      {"another column", {{{"r", 3}}, {{"x", 3}}, {2, 1, 4}}},
      {"inner column reaches high bits", {{{"r", 3}}, {{"x", 3}}, {1, 6, 4}}},
      {"outer column reaches low bits", {{{"r", 3}}, {{"x", 3}}, {1, 2, 5}}},
      {"other axis reaches low bits",
       {{{"r", 2}, {"s", 1}}, {{"x", 3}}, {1, 2, 6}}},
      {"too few domain bits", {{{"r", 1}}, {{"x", 3}}, {1}}},
      {"too few codomain bits", {{{"r", 3}}, {{"x", 1}}, {1, 1, 1}}},
      {"no such domain axis", {{{"s", 3}}, {{"x", 3}}, {1, 2, 4}}},
      {"no such codomain axis", {{{"r", 3}}, {{"y", 3}}, {1, 2, 4}}},
      {"axes in another order", {{{"s", 1}, {"r", 2}}, {{"x", 3}}, {4, 1, 2}}},
  };
  for (const Case &c : cases)
    EXPECT_FALSE(c.layout.quotient(inner)) << c.why;
  LinearLayout good({{"r", 3}, {"s", 1}}, {{"x", 4}}, {1, 2, 8, 4});
  auto quotient = good.quotient(inner);
  ASSERT_TRUE(quotient);
  EXPECT_EQ(quotient->getColumns().vec(), (Columns{2, 1}));
}

TEST(LinearLayoutTest, QuotientRejectsAnyChangedBit) {
  unsigned rejected = 0;
  for (unsigned seed = 0; seed < numTrials; ++seed) {
    Hash hash(seed);
    LinearLayout inner =
        getRandomBijection(hash, {{"r", 2}, {"l", 2}}, {{"x", 2}, {"y", 2}});
    LinearLayout outer =
        getRandomBijection(hash, {{"l", 1}, {"r", 2}}, {{"y", 2}, {"x", 1}});
    LinearLayout product = inner.product(outer);
    // Flip one bit that the inner map owns: any bit of its columns, or one of
    // its codomain bits elsewhere.
    unsigned column = hash.below(product.getColumns().size());
    uint32_t innerBits = 0b0011'011; // y bits 0..1, x bits 0..1
    bool isInner = column < 2 || (column >= 4 && column < 6);
    uint32_t flip = 1u << hash.below(7);
    if (!isInner && !(flip & innerBits))
      continue;
    Columns columns = product.getColumns().vec();
    columns[column] ^= flip;
    LinearLayout changed(product.getDomain(), product.getCodomain(), columns);
    EXPECT_FALSE(changed.quotient(inner));
    ++rejected;
  }
  EXPECT_GT(rejected, 100u);
}

//===----------------------------------------------------------------------===//
// Reshape, permute, project, restrict
//===----------------------------------------------------------------------===//

TEST(LinearLayoutTest, ReshapeKeepsTheRowMajorIndex) {
  LinearLayout fragment = getFragment("C of m16n8, f32");
  LinearLayout reshaped = fragment.reshapeCodomain(Space::ofTile({4, 32}));
  for (uint32_t point = 0; point < 128; ++point) {
    uint32_t row = fragment.getCodomain().coordinate(fragment(point), "d0");
    uint32_t column = fragment.getCodomain().coordinate(fragment(point), "d1");
    uint32_t index = row * 8 + column;
    EXPECT_EQ(reshaped.getCodomain().coordinate(reshaped(point), "d0"),
              index / 32);
    EXPECT_EQ(reshaped.getCodomain().coordinate(reshaped(point), "d1"),
              index % 32);
  }
  EXPECT_EQ(reshaped.reshapeCodomain(fragment.getCodomain()), fragment);
}

TEST(LinearLayoutTest, ReshapeOfTheDomainRenamesBits) {
  LinearLayout fragment = getFragment("C of m16n8, f32");
  LinearLayout threads =
      fragment.reshapeDomain({{"register", 2}, {"quad", 2}, {"group", 3}});
  EXPECT_EQ(threads.getColumns("quad").vec(), (Columns{2, 4}));
  EXPECT_EQ(threads.getColumns("group").vec(), (Columns{8, 16, 32}));
}

TEST(LinearLayoutTest, PermuteCodomainMovesAxesWithTheirNames) {
  Hash hash(7);
  Space domain{{"lane", 6}}, codomain{{"x", 1}, {"y", 2}, {"z", 3}};
  LinearLayout layout = getRandomLayout(hash, domain, codomain);
  llvm::SmallVector<unsigned> order = {0, 1, 2};
  do {
    LinearLayout permuted = layout.permuteCodomain(order);
    for (unsigned axis = 0; axis < 3; ++axis)
      EXPECT_EQ(permuted.getCodomain().getAxes()[axis].name,
                codomain.getAxes()[order[axis]].name);
    for (uint32_t point = 0; point < extent(domain); ++point)
      for (const char *name : {"x", "y", "z"})
        EXPECT_EQ(permuted.getCodomain().coordinate(permuted(point), name),
                  codomain.coordinate(layout(point), name));
    llvm::SmallVector<unsigned> inverse(3);
    for (unsigned axis = 0; axis < 3; ++axis)
      inverse[order[axis]] = axis;
    EXPECT_EQ(permuted.permuteCodomain(inverse), layout);
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST(LinearLayoutTest, PermuteTileFollowsTheOperation) {
  // Result dimension i is source dimension permutation[i].
  int64_t shape[] = {2, 8, 1, 4};
  Space source = Space::ofTile(shape);
  LinearLayout layout = LinearLayout::identity(source);
  llvm::SmallVector<unsigned> permutation = {0, 1, 2, 3};
  do {
    LinearLayout permuted = layout.permuteTile(permutation);
    llvm::SmallVector<int64_t> newShape;
    for (unsigned dim : permutation)
      newShape.push_back(shape[dim]);
    ASSERT_EQ(permuted.getCodomain(), Space::ofTile(newShape));
    for (uint32_t point = 0; point < extent(source); ++point)
      for (unsigned dim = 0; dim < 4; ++dim)
        EXPECT_EQ(
            permuted.getCodomain().coordinate(permuted(point),
                                              "d" + std::to_string(dim)),
            source.coordinate(point, "d" + std::to_string(permutation[dim])));
  } while (std::next_permutation(permutation.begin(), permutation.end()));
}

TEST(LinearLayoutTest, PermuteTileByACycleIsNotItsInverse) {
  LinearLayout layout = LinearLayout::identity(Space::ofTile({2, 4, 8}));
  LinearLayout cycled = layout.permuteTile({1, 2, 0});
  EXPECT_EQ(cycled.getCodomain(), Space::ofTile({4, 8, 2}));
  EXPECT_NE(cycled, layout.permuteTile({2, 0, 1}));
  EXPECT_EQ(cycled.permuteTile({2, 0, 1}), layout);
}

TEST(LinearLayoutTest, ProjectOutDropsACoordinate) {
  forSomeSpaces([](Hash &hash, const Space &domain, const Space &codomain) {
    LinearLayout layout = getRandomLayout(hash, domain, codomain);
    for (const Space::Axis &axis : codomain.getAxes()) {
      LinearLayout projected = layout.projectOut(axis.name);
      EXPECT_EQ(projected.getDomain(), domain);
      EXPECT_EQ(projected.getCodomain().bits(), codomain.bits() - axis.bits);
      EXPECT_EQ(projected.getCodomain().offsetOf(axis.name), std::nullopt);
      for (uint32_t point = 0; point < extent(domain); ++point)
        for (const Space::Axis &other : projected.getCodomain().getAxes())
          ASSERT_EQ(
              projected.getCodomain().coordinate(projected(point), other.name),
              codomain.coordinate(layout(point), other.name));
    }
    EXPECT_EQ(layout.projectOut("no such axis"), layout);
  });
}

TEST(LinearLayoutTest, ProjectOutOfTheColumnsReplicatesARow) {
  // A row reduction of the C fragment ends in every lane of a quad.
  LinearLayout rows = getFragment("C of m16n8, f32").projectOut("d1");
  EXPECT_EQ(rows.toString(), "register: (0) (8)\n"
                             "lane: (0) (0) (1) (2) (4)\n");
  EXPECT_EQ(rows.freeBits(), 0b0001101u);
}

TEST(LinearLayoutTest, RestrictDomainSetsOtherCoordinatesToZero) {
  LinearLayout layout({{"register", 2}, {"lane", 1}, {"warp", 1}}, {{"x", 4}},
                      {3, 5, 9, 14});
  LinearLayout restricted = layout.restrictDomain({"warp", "register"});
  EXPECT_EQ(restricted.getDomain(), (Space{{"warp", 1}, {"register", 2}}));
  EXPECT_EQ(restricted.getColumns().vec(), (Columns{14, 3, 5}));
  EXPECT_EQ(layout.restrictDomain({}).getDomain(), Space());
  LinearLayout missing = layout.restrictDomain({"block", "lane"});
  EXPECT_EQ(missing.getDomain(), (Space{{"block", 0}, {"lane", 1}}));
  EXPECT_EQ(missing.getColumns().vec(), Columns{9});
}

//===----------------------------------------------------------------------===//
// Contiguity
//===----------------------------------------------------------------------===//

TEST(LinearLayoutTest, ContiguityOfTables) {
  struct Case {
    Columns columns;
    unsigned contiguity;
  };
  const Case cases[] = {
      {{}, 1},
      {{0}, 1},
      {{1}, 2},
      {{2, 1}, 1},
      {{1, 2, 4, 8}, 16},
      {{1, 2, 8, 4}, 4},
      {{1, 2, 8, 16}, 4},
      {{1, 3, 4}, 1},     // 0, 1, 3, 2: the second run descends
      {{1, 2, 4, 9}, 1},  // a high bit flips the order of each pair
      {{1, 2, 4, 12}, 4}, // … moves whole runs of four
      {{1, 2, 4, 10}, 2}, // … moves whole pairs
      {{1, 2, 4, 0}, 8},  // replicas of a run of eight
      {{1, 2, 4, 1}, 1},
  };
  for (const Case &c : cases) {
    LinearLayout layout({{"register", unsigned(c.columns.size())}}, {{"x", 5}},
                        c.columns);
    EXPECT_EQ(layout.contiguity(), c.contiguity) << layout.toString();
  }
}

TEST(LinearLayoutTest, ContiguityIsTheLongestRunAtEveryStart) {
  for (unsigned seed = 0; seed < 4 * numTrials; ++seed) {
    Hash hash(seed);
    // Mostly straight columns with a few xors, so that long runs occur.
    Columns columns = {1, 2, 4, 8, 16, 32};
    for (unsigned step = hash.below(4); step > 0; --step)
      columns[hash.below(6)] ^= 1u << hash.below(6);
    LinearLayout layout({{"register", 6}}, {{"x", 6}}, columns);
    unsigned expected = 1;
    for (unsigned run = 2; run <= 64; run *= 2) {
      bool holds = true;
      for (uint32_t point = 0; point < 64; ++point)
        holds &= layout(point) == layout(point / run * run) + point % run;
      if (holds)
        expected = run;
    }
    EXPECT_EQ(layout.contiguity(), expected) << layout.toString();
  }
}

//===----------------------------------------------------------------------===//
// Bank conflicts
//===----------------------------------------------------------------------===//

LinearLayout getLanes(Columns columns) {
  return LinearLayout({{"lane", unsigned(columns.size())}}, {{"byte", 16}},
                      columns);
}

TEST(BankConflictTest, Tables) {
  struct Case {
    const char *what;
    Columns lanes;
    unsigned accessBytes, conflicts;
  };
  const Case cases[] = {
      {"consecutive words", {4, 8, 16, 32, 64}, 4, 1},
      {"words in any order", {64, 4, 32, 8, 16}, 4, 1},
      {"every other word", {8, 16, 32, 64, 128}, 4, 2},
      {"every fourth word", {16, 32, 64, 128, 256}, 4, 4},
      {"a column of 128-byte rows", {128, 256, 512, 1024, 2048}, 4, 32},
      {"one word for all", {0, 0, 0, 0, 0}, 4, 1},
      {"one word per quad", {0, 0, 4, 8, 16}, 4, 1},
      {"one word per quad, 128 bytes apart", {0, 0, 128, 256, 512}, 4, 8},
      {"two lanes of one word, 128 bytes apart", {0, 128, 4, 8, 16}, 4, 2},
      {"same bank twice by xor", {132, 4, 8, 16, 32}, 4, 2},
      {"consecutive bytes", {1, 2, 4, 8, 16}, 1, 1},
      {"bytes of one column", {128, 256, 512, 1024, 2048}, 1, 32},
      {"consecutive halves", {2, 4, 8, 16, 32}, 2, 1},
      {"two halves of a word from far rows", {2, 128, 4, 8, 16}, 2, 2},
      {"consecutive double words", {8, 16, 32, 64, 128}, 8, 1},
      {"every other double word", {16, 32, 64, 128, 256}, 8, 2},
      {"only the last lane bit collides", {8, 16, 32, 64, 0}, 8, 1},
      {"the halves are not served together", {8, 16, 32, 64, 1024}, 8, 1},
      {"inside a half they are", {8, 16, 32, 1024, 64}, 8, 2},
      {"one double word for all", {0, 0, 0, 0, 0}, 8, 1},
      {"consecutive quad words", {16, 32, 64, 128, 256}, 16, 1},
      {"every other quad word", {32, 64, 128, 256, 512}, 16, 2},
      {"rows of 128 bytes", {128, 256, 512, 16, 32}, 16, 8},
      {"rows of 128 bytes, swizzled",
       {128 | 16, 256 | 32, 512 | 64, 16, 32},
       16,
       1},
      {"rows of 64 bytes", {64, 128, 256, 16, 32}, 16, 4},
      {"one quad word for all", {0, 0, 0, 0, 0}, 16, 1},
      {"one active lane", {}, 4, 1},
      {"four active lanes", {128, 4}, 4, 2},
  };
  for (const Case &c : cases)
    EXPECT_EQ(countBankConflicts(getLanes(c.lanes), c.accessBytes), c.conflicts)
        << c.what;
}

TEST(BankConflictTest, AgreesWithCountingWords) {
  std::set<unsigned> seen;
  for (unsigned seed = 0; seed < 10 * numTrials; ++seed) {
    Hash hash(seed);
    unsigned accessBytes = 1u << hash.below(5);
    Columns columns;
    for (unsigned bit = 0; bit < 5; ++bit) {
      // Single bits, xors of two, and zeros: what real layouts have.
      uint32_t column = hash.below(8) ? 1u << hash.below(12) : 0;
      if (hash.below(3) == 0)
        column ^= 1u << hash.below(12);
      columns.push_back(column & ~(accessBytes - 1));
    }
    LinearLayout lanes = getLanes(columns);
    unsigned together = accessBytes <= 4 ? 32 : 128 / accessBytes;
    std::set<unsigned> perPart;
    for (uint32_t first = 0; first < 32; first += together) {
      std::map<uint32_t, std::set<uint32_t>> wordsOfBank;
      for (uint32_t lane = first; lane < first + together; ++lane)
        for (uint32_t byte = 0; byte < accessBytes; ++byte) {
          uint32_t word = (lanes(lane) + byte) / 4;
          wordsOfBank[word % 32].insert(word);
        }
      size_t worst = 0;
      for (const auto &[bank, words] : wordsOfBank)
        worst = std::max(worst, words.size());
      perPart.insert(worst);
    }
    // Every part of the warp costs the same.
    ASSERT_EQ(perPart.size(), 1u);
    EXPECT_EQ(countBankConflicts(lanes, accessBytes), *perPart.begin())
        << accessBytes << " bytes\n"
        << lanes.toString();
    seen.insert(*perPart.begin());
  }
  EXPECT_EQ(seen, (std::set<unsigned>{1, 2, 4, 8, 16, 32}));
}

TEST(BankConflictTest, LoadsOfTheAFragment) {
  // Each lane loads one 32-bit register of A; quads read along K, the eight
  // rows of a group are a row pitch apart.
  struct Case {
    uint32_t rowBytes;
    unsigned conflicts;
  };
  for (Case c : {Case{32, 2}, Case{64, 4}, Case{128, 8}}) {
    uint32_t row = c.rowBytes;
    EXPECT_EQ(countBankConflicts(getLanes({4, 8, row, 2 * row, 4 * row}), 4),
              c.conflicts)
        << row << " bytes per row";
  }
  EXPECT_EQ(
      countBankConflicts(getLanes({4, 8, 128 ^ 16, 256 ^ 32, 512 ^ 64}), 4),
      1u);
}

} // namespace
