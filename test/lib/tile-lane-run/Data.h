//===- Data.h - Generated arguments for a kernel ----------------*- C++ -*-===//
//
//     in:64x32xf4E2M1FNx2               hashed codes
//     in:64x4xf8E4M3FN:scale            hashed scales
//     in:65x24xf4E2M1FNx2:stride=40     rows 40 elements apart, gaps all ones
//     in:16xi32:max=100                 hashed integers from 0 to 99
//     inout:64x64xf32  out:64x64xf32    compared after the run
//     val:1.5                           a scalar
//
// The element type may be left out: it is the kernel's. Values are chosen so
// that every partial sum of a multiply of a few thousand terms is exact in f32,
// and hashed, so that no swap of lanes, nibbles, groups, rows or steps of K
// goes unseen.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TEST_TOOLS_TILE_LANE_RUN_DATA_H
#define TILE_TEST_TOOLS_TILE_LANE_RUN_DATA_H

#include "mlir/IR/BuiltinTypes.h"
#include "tile/Reference/Interpreter.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace tile {

/// How values are chosen.
enum class DataKind {
  Exact,  ///< Every partial sum is exact.
  Random, ///< Every finite code.
};

/// One generated argument. The memory is this object's.
class GeneratedArgument {
public:
  /// Generates what `spec` asks for, for an argument of `type`; `index` and
  /// `seed` go into the hash.
  static llvm::Expected<GeneratedArgument> get(llvm::StringRef spec,
                                               mlir::Type type, unsigned index,
                                               uint64_t seed, DataKind kind);

  bool isArray() const { return memref != nullptr; }
  bool isOutput() const { return output; }

  /// A fresh copy of the argument in `memory`, which must outlive its use. With
  /// `magnitude`, every float loses its sign.
  reference::Argument instantiate(std::vector<uint8_t> &memory,
                                  bool magnitude = false) const;

  /// Compares two runs' memory. `bound` holds a third run's, whose elements
  /// times `tolerance` may separate the two; it may be empty. Returns the
  /// number of elements that differ and describes the first one.
  uint64_t compare(const std::vector<uint8_t> &expected,
                   const std::vector<uint8_t> &found,
                   const std::vector<uint8_t> &bound, double tolerance,
                   double relative, double absolute,
                   std::string &description) const;

  int64_t getNumElements() const;

private:
  mlir::MemRefType memref;
  reference::Element element;
  bool output = false;
  bool readOnly = false;
  llvm::SmallVector<int64_t, 4> shape, strides;
  std::vector<uint8_t> initial; ///< Contents before the run.
  uint64_t scalar = 0;
};

} // namespace tile

#endif // TILE_TEST_TOOLS_TILE_LANE_RUN_DATA_H
