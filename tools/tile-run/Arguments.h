//===- Arguments.h - Kernel arguments on the command line -------*- C++ -*-===//
//
//     in:…  inout:…  out:…          an array, see ArrayArgument.h
//     val:1.0                       a scalar
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TOOLS_TILE_RUN_ARGUMENTS_H
#define TILE_TOOLS_TILE_RUN_ARGUMENTS_H

#include "mlir/IR/Types.h"
#include "tile/Reference/Interpreter.h"
#include "tile/Tools/ArrayArgument.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace mlir::func {
class FuncOp;
} // namespace mlir::func

namespace tile {

/// Returns an error unless `kernel` has `number` arguments.
llvm::Error checkNumArguments(mlir::func::FuncOp kernel, size_t number);

/// The arguments of a launch, and the memory behind their arrays.
class RunArguments {
public:
  /// Reads the files, allocates the arrays and parses the values that `texts`
  /// ask for, one for each argument of `kernel`. Every array that is written
  /// must have a file of its own.
  static llvm::Expected<RunArguments> get(mlir::func::FuncOp kernel,
                                          llvm::ArrayRef<std::string> texts);

  /// What a device takes. Arrays stay in this object's memory.
  llvm::ArrayRef<reference::Argument> getArguments() const { return arguments; }
  /// What errors call each argument: `argument 3 (z)`.
  llvm::ArrayRef<std::string> getNames() const { return names; }
  /// The array of each argument; null for a scalar.
  llvm::ArrayRef<const ArrayArgument *> getArrays() const { return pointers; }

private:
  llvm::Error add(llvm::StringRef text, mlir::Type type);

  std::vector<std::string> names;
  std::vector<std::unique_ptr<ArrayArgument>> arrays;
  std::vector<const ArrayArgument *> pointers;
  std::vector<reference::Argument> arguments;
};

} // namespace tile

#endif // TILE_TOOLS_TILE_RUN_ARGUMENTS_H
