//===- DiagnosticCollector.cpp - Diagnostics as values --------------------===//

#include "DiagnosticCollector.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"

using namespace mlir;
using namespace tile::runtime;

SourceLocation tile::runtime::getSourceLocation(Location location) {
  SourceLocation result;
  location->walk([&](Location part) {
    auto file = dyn_cast<FileLineColLoc>(part);
    if (!file)
      return WalkResult::advance();
    result.file = file.getFilename().str();
    result.line = file.getLine();
    result.column = file.getColumn();
    return WalkResult::interrupt();
  });
  return result;
}

DiagnosticCollector::DiagnosticCollector(MLIRContext *context)
    : handler(context, [this](mlir::Diagnostic &diagnostic) {
        add(diagnostic);
        for (mlir::Diagnostic &note : diagnostic.getNotes())
          add(note);
        return success();
      }) {}

static tile::runtime::Diagnostic::Severity
getSeverity(DiagnosticSeverity severity) {
  using Severity = tile::runtime::Diagnostic::Severity;
  switch (severity) {
  case DiagnosticSeverity::Error:
    return Severity::Error;
  case DiagnosticSeverity::Warning:
    return Severity::Warning;
  case DiagnosticSeverity::Remark:
    return Severity::Remark;
  case DiagnosticSeverity::Note:
    return Severity::Note;
  }
  return Severity::Note;
}

void DiagnosticCollector::add(mlir::Diagnostic &diagnostic) {
  // Some of MLIR's own messages end with a blank.
  diagnostics.push_back({getSeverity(diagnostic.getSeverity()),
                         getSourceLocation(diagnostic.getLocation()),
                         StringRef(diagnostic.str()).rtrim().str()});
}
