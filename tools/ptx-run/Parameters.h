//===- Parameters.h - Parameters of a PTX kernel ----------------*- C++ -*-===//
//
//     in:…  inout:…  out:…          an array, see ArrayArgument.h: its address
//     val:f32:1.5  val:i64:-3       a scalar, in decimal or as bits after 0x
//     null                          the null pointer
//     bytes:FILE                    the bytes of an aggregate
//     tmap:…                        a tensor map, see TensorArgument.h
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TOOLS_PTX_RUN_PARAMETERS_H
#define TILE_TOOLS_PTX_RUN_PARAMETERS_H

#include "TensorArgument.h"

#include "tile/Emulator/Syntax.h"
#include "tile/Tools/ArrayArgument.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tile {

/// The parameters of a launch, and the memory behind their arrays.
class PtxParameters {
public:
  /// Reads the files, allocates the arrays and parses the values that `texts`
  /// ask for, one for each parameter of `entry`. Every array that is written
  /// must have a file of its own.
  static llvm::Expected<PtxParameters> get(const emulator::Function &entry,
                                           llvm::ArrayRef<std::string> texts);

  /// What errors call each parameter: `argument 3 (z_param_3)`.
  llvm::ArrayRef<std::string> getNames() const { return names; }
  /// The array of each parameter; null for a value.
  llvm::ArrayRef<const ArrayArgument *> getArrays() const { return pointers; }

  /// Makes the arrays' parameters their addresses, or maps of what is there.
  llvm::Error setAddresses(llvm::ArrayRef<uint64_t> addresses);
  /// The bytes of each parameter.
  std::vector<llvm::ArrayRef<uint8_t>> getBytes() const;

private:
  llvm::Error add(llvm::StringRef text, uint64_t size);

  std::vector<std::string> names;
  std::vector<std::unique_ptr<ArrayArgument>> arrays;
  std::vector<const ArrayArgument *> pointers;
  /// By parameter: what a tensor map says, or nullopt.
  std::vector<std::optional<emulator::TensorMap>> maps;
  std::vector<std::vector<uint8_t>> values;
};

/// `8 bytes`, `1 byte`.
std::string printBytes(uint64_t bytes);

} // namespace tile

#endif // TILE_TOOLS_PTX_RUN_PARAMETERS_H
