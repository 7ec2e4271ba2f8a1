//===- ParserFuzzer.cpp - libFuzzer target for the PTX parser -------------===//
//
// `scripts/check fuzz` builds it with clang and runs it over the PTX files of
// test/Emulator/Inputs.
//
//===----------------------------------------------------------------------===//

#include "tile/Emulator/Syntax.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tile::emulator;

/// Reads every index of the tree, so that one that is out of bounds shows.
static void visit(const SyntaxTree &tree) {
  for (const Function &function : tree.functions) {
    for (const Label &label : function.labels) {
      if (label.statement > function.body.size())
        __builtin_trap();
      for (unsigned target : label.targets)
        (void)function.labels.at(target);
    }
    for (const Statement &statement : function.body) {
      if (statement.sourceFile >= 0)
        (void)tree.files.at(statement.sourceFile);
      for (const Operand &operand : statement.operands)
        if (operand.kind == Operand::Kind::Label)
          (void)function.labels.at(operand.label);
    }
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef text(reinterpret_cast<const char *>(data), size);
  Expected<std::unique_ptr<SyntaxTree>> tree = parsePtx(text, "fuzz.ptx");
  if (tree)
    visit(**tree);
  else
    (void)toString(tree.takeError());
  return 0;
}
