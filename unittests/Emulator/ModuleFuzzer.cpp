//===- ModuleFuzzer.cpp - libFuzzer target for PTX modules ----------------===//
//
// Loads a module and decodes every kernel of it. An input that is no whole file
// is a snippet of a kernel; InstructionSeeds.txt has one for each instruction.
//
//===----------------------------------------------------------------------===//

#include "InstructionSeeds.h"

using namespace llvm;
using namespace tile::emulator;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text =
      wrapSnippet(StringRef(reinterpret_cast<const char *>(data), size));
  Expected<std::unique_ptr<Module>> module = Module::load(text, "fuzz.ptx");
  if (!module) {
    (void)toString(module.takeError());
    return 0;
  }
  for (const Function &function : (*module)->getSyntax().functions)
    if (function.isEntry && function.isDefined)
      if (Error error = (*module)->prepare(function.name))
        (void)toString(std::move(error));
  return 0;
}
