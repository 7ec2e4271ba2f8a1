//===- LaunchFuzzer.cpp - libFuzzer target for running PTX ----------------===//
//
// Runs every kernel of a module for a few thousand instructions, with one warp
// a block and small buffers. An input that is no whole file is a snippet of a
// kernel.
//
//===----------------------------------------------------------------------===//

#include "InstructionSeeds.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;
using namespace tile::emulator;

/// Threads of a block and bytes of a parameter beyond which nothing is run: the
/// time would go into filling memory.
static constexpr uint64_t kMostThreads = 64, kMostParameterBytes = 4096;

static bool isSmall(const Function &function) {
  const unsigned *block = function.requiredBlock;
  uint64_t threads = std::max(block[0], 1u);
  for (unsigned i : {1, 2})
    threads = SaturatingMultiply<uint64_t>(threads, std::max(block[i], 1u));
  return threads <= kMostThreads &&
         all_of(function.parameters, [](const Variable &parameter) {
           return parameter.getSize() <= kMostParameterBytes;
         });
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef input(reinterpret_cast<const char *>(data), size);
  Expected<std::unique_ptr<Module>> module =
      Module::load(wrapSnippet(input), "fuzz.ptx");
  if (!module) {
    (void)toString(module.takeError());
    return 0;
  }
  // Which options, so that a mutation of the text varies them too.
  unsigned variant = static_cast<unsigned>(xxh3_64bits(input) & 127);
  unsigned count = 0;
  for (const Function &function : (*module)->getSyntax().functions) {
    if (!function.isEntry || !function.isDefined || !isSmall(function) ||
        ++count > 4)
      continue;
    if (Error error = runSeed(**module, function, variant))
      (void)toString(std::move(error));
  }
  return 0;
}
