//===- DiagnosticCollector.h - Diagnostics as values ------------*- C++ -*-===//

#ifndef TILE_LIB_RUNTIME_DIAGNOSTICCOLLECTOR_H
#define TILE_LIB_RUNTIME_DIAGNOSTICCOLLECTOR_H

#include "mlir/IR/Diagnostics.h"
#include "tile/Runtime/Error.h"

#include <string>
#include <vector>

namespace tile::runtime {

/// The first place in a file that `location` names.
SourceLocation getSourceLocation(mlir::Location location);

/// While it lives, keeps the diagnostics of a context and prints none.
class DiagnosticCollector {
public:
  explicit DiagnosticCollector(mlir::MLIRContext *context);

  /// The error that what has been diagnosed makes of `message`.
  Error makeError(std::string message) {
    return Error(ErrorCode::InvalidKernel, std::move(message),
                 std::move(diagnostics));
  }

private:
  void add(mlir::Diagnostic &diagnostic);

  std::vector<Diagnostic> diagnostics;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace tile::runtime

#endif // TILE_LIB_RUNTIME_DIAGNOSTICCOLLECTOR_H
