//===- Frontend.h - The compiler, without MLIR's headers --------*- C++ -*-===//
//
// All of the runtime that touches MLIR's IR lies behind these functions. Each
// works in a context of its own, so that threads need no lock.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_RUNTIME_FRONTEND_H
#define TILE_LIB_RUNTIME_FRONTEND_H

#include "CompiledCode.h"
#include "KernelImpl.h"
#include "tile/Runtime/Compiler.h"

#include <memory>
#include <string>
#include <string_view>

namespace tile::runtime {

/// Parses a kernel's text, puts constants, bindings and shapes in, and
/// describes the kernel that the options name. Requires: `options.target` is
/// set.
Expected<KernelDescription> describeKernel(std::string_view text,
                                           const std::string &name,
                                           const CompileOptions &options);

/// Compiles a kernel with what `divisors` add to its promises; empty: nothing.
Expected<std::shared_ptr<CompiledCode>>
compileKernel(const KernelDescription &description, const Divisors &divisors,
              const CompileOptions &options);

/// A kernel that the reference device can run, with its context.
class ReferenceKernel {
public:
  virtual ~ReferenceKernel() = default;
  virtual Status launch(const LaunchRequest &request) const = 0;
};
Expected<std::shared_ptr<ReferenceKernel>>
prepareReference(const KernelDescription &description);

} // namespace tile::runtime

#endif // TILE_LIB_RUNTIME_FRONTEND_H
