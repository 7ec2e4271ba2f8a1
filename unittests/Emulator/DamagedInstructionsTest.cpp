//===- DamagedInstructionsTest.cpp - Wrong operands of every instruction --===//
//
// Runs each snippet of InstructionSeeds.txt as it is and with one thing
// changed: an operand of another kind or width, an opcode word too many, too
// few or another one. Whatever the emulator makes of that is an error with a
// place, a fault, or a run; with the sanitizers, this finds what is not
// checked.
//
//===----------------------------------------------------------------------===//

#include "InstructionSeeds.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tile::emulator;

namespace {

std::vector<std::string> readSeeds() {
  std::vector<std::string> seeds;
  ErrorOr<std::unique_ptr<MemoryBuffer>> file =
      MemoryBuffer::getFile(TILE_EMULATOR_SEEDS);
  if (!file)
    return seeds;
  SmallVector<StringRef> lines;
  (*file)->getBuffer().split(lines, '\n');
  for (StringRef line : lines)
    if (!line.trim().empty() && !line.starts_with("#"))
      seeds.push_back(line.str());
  return seeds;
}

/// How often each end came about.
struct Outcomes {
  unsigned rejected = 0, faulted = 0, ran = 0;
};

/// Loads and runs `text`; an error must name a place of it.
void tryText(StringRef text, unsigned variant, Outcomes &outcomes) {
  Expected<std::unique_ptr<Module>> module = Module::load(text, "k.ptx");
  Error error = module ? (*module)->prepare("k") : module.takeError();
  if (error) {
    ++outcomes.rejected;
    handleAllErrors(
        std::move(error),
        [&](const PtxError &e) {
          EXPECT_NE(e.getLocation().line, 0u) << e.getMessage().str();
          EXPECT_FALSE(e.getMessage().empty());
        },
        [&](const ErrorInfoBase &e) { ADD_FAILURE() << e.message(); });
    return;
  }
  Expected<const Function *> entry = (*module)->getSyntax().findEntry("k");
  ASSERT_TRUE(bool(entry));
  Error fault = runSeed(**module, **entry, variant);
  if (!fault) {
    ++outcomes.ran;
    return;
  }
  ++outcomes.faulted;
  handleAllErrors(
      std::move(fault),
      [&](const Fault &f) { EXPECT_NE(f.location.line, 0u) << f.message; },
      [&](const ErrorInfoBase &e) { ADD_FAILURE() << e.message(); });
}

TEST(InstructionSeeds, EachRuns) {
  std::vector<std::string> seeds = readSeeds();
  ASSERT_GT(seeds.size(), 100u);
  for (const std::string &seed : seeds)
    for (unsigned variant : {0u, 127u}) {
      SCOPED_TRACE(seed);
      Expected<std::unique_ptr<Module>> module =
          Module::load(wrapSnippet(seed), "k.ptx");
      if (!module) {
        ADD_FAILURE() << toString(module.takeError());
        continue;
      }
      if (Error error = (*module)->prepare("k")) {
        ADD_FAILURE() << toString(std::move(error));
        continue;
      }
      Expected<const Function *> entry = (*module)->getSyntax().findEntry("k");
      ASSERT_TRUE(bool(entry));
      if (Error error = runSeed(**module, **entry, variant | 2))
        ADD_FAILURE() << toString(std::move(error));
    }
}

/// The snippets' statements, without those of the kernel around them.
ArrayRef<Statement> getOwnStatements(const SyntaxTree &tree) {
  for (const Function &function : tree.functions)
    if (function.isEntry)
      return ArrayRef(function.body)
          .drop_while([](const Statement &statement) {
            return statement.opcode.front() != "bar";
          })
          .drop_front();
  return {};
}

TEST(InstructionSeeds, EveryInstructionHasOne) {
  StringSet<> used;
  for (const std::string &seed : readSeeds()) {
    Expected<std::unique_ptr<SyntaxTree>> tree =
        parsePtx(wrapSnippet(seed), "k.ptx");
    ASSERT_TRUE(bool(tree)) << toString(tree.takeError());
    for (const Statement &statement : getOwnStatements(**tree)) {
      std::string name;
      for (StringRef word : statement.opcode) {
        name += (name.empty() ? "" : ".") + word.str();
        used.insert(name);
      }
    }
  }
  for (const InstructionInfo &info : getInstructionTable())
    EXPECT_TRUE(used.contains(info.name)) << info.name.str();
}

/// Replaces `part` of the tree's text.
std::string replaceText(const SyntaxTree &tree, StringRef part, StringRef by) {
  const size_t at = static_cast<size_t>(part.data() - tree.source.data());
  std::string text = tree.source;
  text.replace(at, part.size(), by.str());
  return text;
}

void collectOperands(ArrayRef<Operand> operands, const SyntaxTree &tree,
                     std::vector<StringRef> &into) {
  for (const Operand &operand : operands) {
    const char *begin = tree.source.data();
    if (!operand.text.empty() && operand.text.data() >= begin &&
        operand.text.data() < begin + tree.source.size())
      into.push_back(operand.text);
    collectOperands(operand.children, tree, into);
  }
}

TEST(DamagedInstructions, Operands) {
  const StringRef others[] = {
      "%h5",         "%r5",       "%d5",   "%q1",
      "%p2",         "!%p2",      "-%r5",  "_",
      "0",           "-1",        "33",    "0xffffffffffffffff",
      "1.5",         "s",         "l",     "f",
      "[s]",         "[%d5+4]",   "[p0]",  "[%a]",
      "[%g0+12345]", "{%r5,%r6}", "{}",    "%undeclared",
      "%tid.x",      "k",         "%r5.x", "(n)",
      "%r5|%p1"};
  Outcomes outcomes;
  unsigned variant = 0;
  for (const std::string &seed : readSeeds()) {
    SCOPED_TRACE(seed);
    Expected<std::unique_ptr<SyntaxTree>> tree =
        parsePtx(wrapSnippet(seed), "k.ptx");
    ASSERT_TRUE(bool(tree)) << toString(tree.takeError());
    std::vector<StringRef> operands;
    for (const Statement &statement : getOwnStatements(**tree))
      collectOperands(statement.operands, **tree, operands);
    for (StringRef operand : operands)
      for (StringRef other : others)
        tryText(replaceText(**tree, operand, other), ++variant & 127, outcomes);
  }
  EXPECT_GT(outcomes.rejected, 10000u);
  EXPECT_GT(outcomes.faulted, 500u);
  EXPECT_GT(outcomes.ran, 1000u);
}

TEST(DamagedInstructions, Words) {
  const StringRef others[] = {"",        ".u32",    ".s16",     ".f32",
                              ".f64",    ".b64",    ".pred",    ".b128",
                              ".f16x2",  ".e4m3x2", ".v4",      ".sat",
                              ".shared", ".sync",   ".unknown", ".u32.u32"};
  Outcomes outcomes;
  unsigned variant = 0;
  for (const std::string &seed : readSeeds()) {
    SCOPED_TRACE(seed);
    Expected<std::unique_ptr<SyntaxTree>> tree =
        parsePtx(wrapSnippet(seed), "k.ptx");
    ASSERT_TRUE(bool(tree)) << toString(tree.takeError());
    for (const Statement &statement : getOwnStatements(**tree))
      for (StringRef word : drop_begin(statement.opcode)) {
        // With its dot.
        StringRef part(word.data() - 1, word.size() + 1);
        for (StringRef other : others)
          tryText(replaceText(**tree, part, other), ++variant & 127, outcomes);
      }
  }
  EXPECT_GT(outcomes.rejected, 5000u);
  EXPECT_GT(outcomes.ran, 500u);
}

TEST(DamagedInstructions, OperandCounts) {
  Outcomes outcomes;
  for (const std::string &seed : readSeeds()) {
    SCOPED_TRACE(seed);
    Expected<std::unique_ptr<SyntaxTree>> tree =
        parsePtx(wrapSnippet(seed), "k.ptx");
    ASSERT_TRUE(bool(tree)) << toString(tree.takeError());
    for (const Statement &statement : getOwnStatements(**tree)) {
      StringRef text = statement.text;
      tryText(replaceText(**tree, text, (text + ", %r5").str()), 0, outcomes);
      tryText(replaceText(**tree, text, text.rsplit(',').first), 0, outcomes);
      tryText(replaceText(**tree, text, join(statement.opcode, ".")), 0,
              outcomes);
    }
  }
  EXPECT_GT(outcomes.rejected, 600u);
}

} // namespace
