//===- NestingTest.cpp - How deep a kernel's text nests -------------------===//

#include "tile/Tools/Nesting.h"
#include "llvm/ADT/StringRef.h"
#include "gtest/gtest.h"

#include <string>

using namespace llvm;
using namespace tile;

namespace {

std::string repeat(StringRef part, unsigned number) {
  std::string text;
  for (unsigned i = 0; i < number; ++i)
    text += part;
  return text;
}

std::string check(StringRef text) {
  return toString(checkNesting({text, "k.mlir"}));
}

TEST(NestingTest, LimitsBrackets) {
  for (auto [open, close] : {std::pair("(", ")"), std::pair("[", "]"),
                             std::pair("{\n", "}"), std::pair("a<", ">")}) {
    EXPECT_EQ(check(repeat(open, kMaxNesting) + repeat(close, kMaxNesting)),
              "");
    EXPECT_NE(check(repeat(open, kMaxNesting + 1)), "") << open;
    // Side by side they do not nest.
    EXPECT_EQ(check(repeat(std::string(open) + close, 10 * kMaxNesting)), "");
  }
  EXPECT_EQ(check("a\n  " + repeat("(", 1000)),
            "k.mlir:2:259: error: expects at most 256 nested brackets");
}

TEST(NestingTest, LimitsOperators) {
  for (StringRef part :
       {"d0 + ", "-", "(d0) * ", "d0 mod ", "d0\n floordiv ", "d0 ceildiv "}) {
    EXPECT_EQ(check(repeat(part, kMaxOperators) + "d0"), "") << part.str();
    EXPECT_NE(check(repeat(part, kMaxOperators + 1) + "d0"), "") << part.str();
  }
  EXPECT_EQ(check(repeat("%c = arith.constant -1 : i32\n", 5000)), "");
  EXPECT_EQ(check("dense<[" + repeat("-1.0e-5, ", 5000) + "0.0]>"), "");
}

TEST(NestingTest, KnowsWhatIsNoBracket) {
  EXPECT_EQ(check(repeat("func.call @f() : () -> ()\n", 5000)), "");
  EXPECT_EQ(check(repeat("(d0 >= 0) (d0 <= 0)\n", 5000)), "");
  EXPECT_EQ(check("// " + repeat("([{<", 5000) + "\n(" + repeat("-", 9)), "");
  EXPECT_EQ(check("\"" + repeat("([{<\\\"", 5000) + "\""), "");
  // What follows a string and a comment is looked at again.
  EXPECT_NE(check("\"\\\\\"" + repeat("(", 257)), "");
  EXPECT_NE(check("// x\n" + repeat("(", 257)), "");
  // A bracket that nothing opened closes nothing.
  EXPECT_NE(check(repeat("(]", 257)), "");
  EXPECT_EQ(check(repeat("(<)", 5000)), "");
  for (StringRef text : {"", "\"", "\"\\", "/", "//", "-", "<", "a"})
    EXPECT_EQ(check(text), "") << text.str();
  EXPECT_EQ(check("ML\xEFR" + repeat("(", 1000)), "");
}

} // namespace
