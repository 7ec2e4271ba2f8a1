//===- KernelLibrary.h - Kernels that are ready to use ----------*- C++ -*-===//
//
// Linear layers on quantised weights, and the quantisers that feed them, by
// name, with tile sizes for the problem at hand:
//
//     LinearProblem problem;
//     problem.m = 16, problem.n = 4096, problem.k = 4096;
//     Expected<ReadyKernel> layer =
//         KernelLibrary(compiler).linear("nvfp4_linear", problem, options);
//     layer->kernel.launch(device, layer->grid, z, x, y, xs, ys, alpha);
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_KERNELLIBRARY_H
#define TILE_RUNTIME_KERNELLIBRARY_H

#include "tile/Runtime/Compiler.h"
#include "tile/Runtime/Error.h"
#include "tile/Runtime/Kernel.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tile::runtime {

/// A kernel of the library, and the grid that covers its problem.
struct ReadyKernel {
  Kernel kernel;
  Grid grid;
};

/// z[M,N] = alpha * x[M,K] · y[N,K]ᵀ
struct LinearProblem {
  int64_t m = 0; ///< Rows of x and z. 0 is not allowed: nothing would run.
  int64_t n = 0; ///< Rows of y, columns of z.
  int64_t k = 0; ///< Values, not pairs; a multiple of the block.
  ElementType output = ElementType::F32; ///< F32, BF16 or F16.
  /// Alpha is an array of f32, one per column of z, instead of a scalar: fused
  /// projections have a factor each.
  bool alphaPerColumn = false;
  /// mxfp8_linear: the element types of x and y, F8E4M3FN or F8E5M2.
  /// w4a16_linear: `x` is BF16 or F16.
  ElementType x = ElementType::F8E4M3FN;
  ElementType y = ElementType::F8E4M3FN;
  /// w4a16_linear: NVFP4 weights (E4M3 scale per 16 values) or MXFP4 ones (E8M0
  /// per 32).
  bool mxScales = false;
};

/// Codes and scales of x[M,K], or the values of those.
struct QuantizeProblem {
  int64_t m = 0;
  int64_t k = 0; ///< Values, not pairs; a multiple of the block.
  /// quantize_…: the type of the values read; dequantize: written. F32, BF16 or
  /// F16.
  ElementType values = ElementType::F32;
  /// quantize_mxfp8: F8E4M3FN or F8E5M2.
  ElementType codes = ElementType::F8E4M3FN;
  /// dequantize: "nvfp4", "mxfp4" or "mxfp8".
  std::string format = "nvfp4";
};

/// The kernels that come with the library.
class KernelLibrary {
public:
  explicit KernelLibrary(Compiler compiler = Compiler::getDefault())
      : compiler(std::move(compiler)) {}

  /// The names that `getText` knows.
  static std::vector<std::string> getNames();
  /// A kernel's template, as `linear` and `quantize` compile it.
  static Expected<std::string> getText(const std::string &name);

  /// Arguments of the kernels, in order; pairs have half the columns:
  ///
  ///   nvfp4_linear   z, x, y: f4E2M1FNx2, xs, ys: f8E4M3FN [·, K/16], alpha
  ///   mxfp4_linear   z, x, y: f4E2M1FNx2, xs, ys: f8E8M0FNU [·, K/32], alpha
  ///   mxfp8_linear   z, x, y: FP8, xs, ys: f8E8M0FNU [·, K/32], alpha
  ///   w4a16_linear   z, x: BF16 or F16, y: f4E2M1FNx2, ys: [N, K/16 or K/32],
  ///                  alpha
  ///
  /// `options` gives the target or device; its constants, bindings and shapes
  /// must be empty. `numWarps` and `numStages` are chosen where they are 0;
  /// `specialize` has no effect, since the problem is known.
  ///
  /// The kernel promises what this problem keeps with arrays without gaps; rows
  /// that are further apart must keep it too (`Kernel::getParameters`).
  Expected<ReadyKernel> linear(const std::string &name,
                               const LinearProblem &problem,
                               CompileOptions options) const;

  ///   quantize_nvfp4   codes: f4E2M1FNx2, scales: f8E4M3FN, x, globalScale
  ///   quantize_mxfp4   codes: f4E2M1FNx2, scales: f8E8M0FNU, x
  ///   quantize_mxfp8   codes: FP8, scales: f8E8M0FNU, x
  ///   dequantize       x, codes, scales, globalScale
  Expected<ReadyKernel> quantize(const std::string &name,
                                 const QuantizeProblem &problem,
                                 CompileOptions options) const;

private:
  Compiler compiler;
};

} // namespace tile::runtime

#endif // TILE_RUNTIME_KERNELLIBRARY_H
