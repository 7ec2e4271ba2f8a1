//===- Arguments.h - Kernel arguments on the command line -------*- C++ -*-===//
//
//     in:x.npy  inout:z.npy         an array of a file, read-only or not
//     in:x.npy:65x24                its leading part, with the array's strides
//     out:z.npy:128x256xf32         a new array, all bits set
//     val:1.0                       a scalar
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TOOLS_TILE_RUN_ARGUMENTS_H
#define TILE_TOOLS_TILE_RUN_ARGUMENTS_H

#include "mlir/IR/Types.h"
#include "tile/Formats/Npy.h"
#include "tile/Reference/Interpreter.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdlib>
#include <memory>
#include <string>

namespace tile {

/// One argument: the memory behind an array, and how to write it back.
class RunArgument {
public:
  /// Reads the file, allocates the array or parses the value that `text` asks
  /// for, for an argument of `type`. `name` stands for the argument in errors.
  static llvm::Expected<RunArgument> get(llvm::StringRef text, mlir::Type type,
                                         llvm::StringRef name);

  /// What a device takes. Arrays stay in this object's memory.
  const reference::Argument &getArgument() const { return argument; }

  /// Whether this is an `out:` array, of which nothing is known before the run.
  bool isNew() const { return isNewArray; }

  /// The file to write after the run, or empty.
  llvm::StringRef getOutputPath() const { return outputPath; }
  /// The contents of that file.
  llvm::Expected<std::string> formatOutput() const;

private:
  struct Free {
    void operator()(uint8_t *bytes) const { std::free(bytes); }
  };

  llvm::Error allocate(size_t bytes);
  llvm::Error readArray(llvm::StringRef text, mlir::Type elementType,
                        bool readOnly);
  llvm::Error makeArray(llvm::StringRef text, mlir::Type elementType);

  reference::Argument argument;
  std::string outputPath;
  bool isNewArray = false;
  // The whole array, of which the argument may be a part.
  NpyType type = NpyType::U8;
  llvm::SmallVector<int64_t, 4> shape;
  size_t size = 0; ///< In bytes.
  std::unique_ptr<uint8_t[], Free> memory;
};

} // namespace tile

#endif // TILE_TOOLS_TILE_RUN_ARGUMENTS_H
