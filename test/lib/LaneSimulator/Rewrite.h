//===- Rewrite.h - From nvptx64 IR to host IR -------------------*- C++ -*-===//

#ifndef TILE_TEST_LANESIMULATOR_REWRITE_H
#define TILE_TEST_LANESIMULATOR_REWRITE_H

#include "Machine.h"

namespace llvm {
class Module;
} // namespace llvm

namespace tile {
namespace lane {

/// What the simulator must know about a rewritten module.
struct RewrittenModule {
  /// Bytes of shared memory before the dynamic part.
  uint64_t staticShared = 0;
  /// The parameters of each kernel; true for a pointer.
  std::map<std::string, std::vector<bool>> kernels;
};

/// Names that rewritten code refers to.
constexpr const char *callFunctionName = "tileLaneCall";
constexpr const char *accessFunctionName = "tileLaneAccess";
/// Prefix of the functions `void(const uint64_t *)` that run one thread.
constexpr const char *entryPrefix = "tileLaneEntry.";

/// Turns `module` into code for the host: intrinsics become calls, loads and
/// stores are announced, shared memory stands at the address `sharedBase`. The
/// sites are appended to `calls` and `accesses`.
llvm::Expected<RewrittenModule> rewrite(llvm::Module &module,
                                        uint64_t sharedBase,
                                        std::vector<CallSite> &calls,
                                        std::vector<AccessSite> &accesses);

} // namespace lane
} // namespace tile

#endif // TILE_TEST_LANESIMULATOR_REWRITE_H
