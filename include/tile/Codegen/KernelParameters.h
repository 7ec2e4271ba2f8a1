//===- KernelParameters.h - What a compiled kernel is launched with -------===//
//
// The calling convention of docs/spec.md, as seen by whoever launches a
// compiled kernel: a memref argument is a pointer, its dynamic extents and then
// its dynamic strides; a scalar is itself.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_CODEGEN_KERNELPARAMETERS_H
#define TILE_CODEGEN_KERNELPARAMETERS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::func {
class FuncOp;
} // namespace mlir::func

namespace tile {

/// One parameter of the entry point of a compiled kernel.
struct KernelParameter {
  enum class Kind : uint8_t {
    Pointer, ///< Address of a memref's first element, aligned to 16 bytes.
    Extent,  ///< A dynamic extent of a memref, in elements.
    Stride,  ///< A dynamic stride of a memref, in elements.
    Scalar,
  };

  Kind kind = Kind::Scalar;
  unsigned argument = 0; ///< Of the kernel, which it stems from.
  unsigned dim = 0;      ///< Extent, Stride: the dimension.
  unsigned bytes = 8;    ///< 1, 2, 4 or 8.
};

/// A tensor map that the entry point of a compiled kernel takes: a further
/// parameter of 128 bytes, aligned to 64, after those of the arguments. It
/// describes an array of the launch; whoever launches encodes it.
struct TensorMapParameter {
  unsigned parameter = 0; ///< Of the entry point.
  unsigned argument = 0;  ///< Of the kernel: an array.
  /// Dimensions of the array as the map has them, outermost first: all of them,
  /// and last the one along which elements lie side by side.
  std::vector<unsigned> dims;
  /// Elements of `type` along each of `dims`.
  std::vector<unsigned> box;
  unsigned swizzle = 0; ///< 0, 32, 64 or 128 bytes, in atoms of 16 bytes.
  /// As in `ptx-run`'s `tmap:`: `u8`, `u16`, `b4x16`, `b4x16_p64`. The FP4 ones
  /// count values, two for each element of an array of pairs.
  std::string type;
  std::string fill = "zero"; ///< What lies outside reads as zero.
};

/// The parameters of the entry point that `kernel` becomes, in order, but for
/// tensor maps.
/// Requires: the function is a verified kernel that has not been compiled yet.
llvm::SmallVector<KernelParameter>
getKernelParameters(mlir::func::FuncOp kernel);

/// An argument of a kernel.
struct KernelArgument {
  uint64_t bits = 0; ///< The address of an array, or the code of a scalar.
  llvm::ArrayRef<int64_t> shape;   ///< Array: extents, in elements.
  llvm::ArrayRef<int64_t> strides; ///< Array: strides, in elements.
};

/// The value of each parameter for a launch with `arguments`; its bytes are the
/// lowest ones. Requires: `arguments` have the ranks of the kernel's.
llvm::SmallVector<uint64_t>
getParameterValues(llvm::ArrayRef<KernelParameter> parameters,
                   llvm::ArrayRef<KernelArgument> arguments);

} // namespace tile

#endif // TILE_CODEGEN_KERNELPARAMETERS_H
