//===- SyntaxHarness.h - Help for tests of the PTX parser -------*- C++ -*-===//

#ifndef TILE_UNITTESTS_EMULATOR_SYNTAXHARNESS_H
#define TILE_UNITTESTS_EMULATOR_SYNTAXHARNESS_H

#include "tile/Emulator/Syntax.h"

#include "llvm/ADT/Twine.h"
#include "gtest/gtest.h"

namespace tile::emulator {

/// Four lines, so that what a test adds begins in line 5.
inline std::string withHeader(const llvm::Twine &text) {
  return (".version 8.8\n.target sm_120a\n.address_size 64\n\n" + text).str();
}

/// An entry `k` with registers; `body` begins in line 12.
inline std::string withBody(const llvm::Twine &body) {
  return withHeader(".entry k(.param .u64 a, .param .b32 n)\n"
                    "{\n"
                    "\t.reg .pred %p<4>;\n"
                    "\t.reg .b32 %r<10>;\n"
                    "\t.reg .b64 %rd<10>;\n"
                    "\t.reg .f32 %f<10>;\n"
                    "\t.reg .v4 .f32 %v;\n" +
                    body + "\n}\n");
}

/// The tree of `text`, or null after a test failure.
inline std::unique_ptr<SyntaxTree> parse(llvm::StringRef text) {
  llvm::Expected<std::unique_ptr<SyntaxTree>> tree = parsePtx(text, "t.ptx");
  if (!tree) {
    ADD_FAILURE() << llvm::toString(tree.takeError());
    return nullptr;
  }
  return std::move(*tree);
}

/// A tree with the one function `k`; `operator->` is that function.
struct Parsed {
  explicit Parsed(const std::string &text) : tree(parse(text)) {
    if (tree)
      for (const Function &candidate : tree->functions)
        if (candidate.name == "k")
          function = &candidate;
  }
  explicit operator bool() const { return function; }
  const Function *operator->() const { return function; }
  const Statement &operator[](unsigned index) const {
    return function->body.at(index);
  }
  std::unique_ptr<SyntaxTree> tree;
  const Function *function = nullptr;
};

/// `LINE:COLUMN: MESSAGE` of the error that `text` gives, or "none".
inline std::string getError(llvm::StringRef text) {
  llvm::Expected<std::unique_ptr<SyntaxTree>> tree = parsePtx(text, "t.ptx");
  if (tree)
    return "none";
  std::string out;
  llvm::handleAllErrors(tree.takeError(), [&](const PtxError &error) {
    EXPECT_EQ(error.getFile(), "t.ptx");
    out = (llvm::Twine(error.getLocation().line) + ":" +
           llvm::Twine(error.getLocation().column) + ": " + error.getMessage())
              .str();
  });
  return out;
}

} // namespace tile::emulator

#endif // TILE_UNITTESTS_EMULATOR_SYNTAXHARNESS_H
