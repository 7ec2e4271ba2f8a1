//===- KernelBuilder.h - Kernels built in C++ -------------------*- C++ -*-===//
//
// For those who link MLIR: an `ImplicitLocOpBuilder` that stands in the body of
// a kernel, with a method for each thing that kernels do often. Types follow
// from operands. Whatever has no method is created as with any builder.
//
//     MLIRContext context;
//     KernelBuilder b(context, "scale");
//     Value z = b.addArray("z", b.getF32Type(), {kDynamic, kDynamic});
//     Value x = b.addArray("x", b.getF32Type(), {kDynamic, kDynamic});
//     Value i = b.programId(0), j = b.programId(1);
//     Value t = b.load(x, {i, j}, {16, 32});
//     b.store(arith::AddFOp::create(b, t, t), z, {i, j});
//     OwningOpRef<ModuleOp> module = b.finish();
//     Expected<Kernel> kernel = compile(compiler, *module, options);
//
// Mistakes are found by the verifier, when the module is compiled.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_KERNELBUILDER_H
#define TILE_RUNTIME_KERNELBUILDER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OwningOpRef.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Runtime/Compiler.h"
#include "tile/Runtime/Kernel.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tile::runtime {

/// What the caller of a kernel promises of an array; empty: nothing.
struct ArrayPromises {
  std::vector<int64_t> shapeDivisors;  ///< `tile.shape_divisible_by`
  std::vector<int64_t> strideDivisors; ///< `tile.stride_divisible_by`
  std::vector<std::string> extents;    ///< `tile.extents`
};

/// Builds a module with one kernel.
class KernelBuilder : public mlir::ImplicitLocOpBuilder {
public:
  /// Loads the dialects of kernels into `context`.
  KernelBuilder(mlir::MLIRContext &context, llvm::StringRef name);

  //===--------------------------------------------------------------------===//
  // The kernel
  //===--------------------------------------------------------------------===//

  /// Adds an array argument, row-major with a stride of 1 in its last dimension
  /// and dynamic ones in the others. Extents may be `kDynamic`.
  mlir::Value addArray(llvm::StringRef name, mlir::Type element,
                       llvm::ArrayRef<int64_t> shape,
                       const ArrayPromises &promises = {});
  mlir::Value addScalar(llvm::StringRef name, mlir::Type type);
  void setNumWarps(int32_t warps);
  void setNumStages(int32_t stages);

  mlir::func::FuncOp getKernel() { return kernel; }
  /// Ends the kernel. Nothing may be built after this.
  mlir::OwningOpRef<mlir::ModuleOp> finish();

  //===--------------------------------------------------------------------===//
  // Operations, in the order of docs/spec.md
  //===--------------------------------------------------------------------===//

  /// `!tile.f4E2M1FNx2`
  mlir::Type getPairType();
  mlir::Value index(int64_t value);
  /// A tile of zeros.
  mlir::Value zeros(mlir::Type element, llvm::ArrayRef<int64_t> shape);
  /// A tile whose elements are all `scalar`.
  mlir::Value splat(mlir::Value scalar, llvm::ArrayRef<int64_t> shape);

  mlir::Value programId(int32_t dim);
  mlir::Value numPrograms(int32_t dim);
  mlir::Value getExtent(mlir::Value array, int64_t dim);
  /// The tile of `shape` at `indices`, which count tiles.
  mlir::Value load(mlir::Value array, mlir::ValueRange indices,
                   llvm::ArrayRef<int64_t> shape);
  void store(mlir::Value tile, mlir::Value array, mlir::ValueRange indices);
  /// FP4 values of a tile of pairs or bytes.
  mlir::Value unpack(mlir::Value pairs);
  /// Pairs of a tile of FP4 values.
  mlir::Value pack(mlir::Value values);
  /// `tile.mmaf`, and `tile.mmaf_scaled` with the scales of the operands that
  /// have them, lhs first.
  mlir::Value multiply(mlir::Value lhs, mlir::Value rhs, mlir::Value acc);
  mlir::Value multiplyScaled(mlir::Value lhs, mlir::Value rhs, mlir::Value acc,
                             mlir::ValueRange scales);
  /// `tile.ftof`; for f8E8M0FNU, toward zero.
  mlir::Value convert(mlir::Value tile, mlir::Type element);
  mlir::Value permute(mlir::Value tile, llvm::ArrayRef<int64_t> permutation);
  mlir::Value reshape(mlir::Value tile, llvm::ArrayRef<int64_t> shape);
  mlir::Value broadcast(mlir::Value tile, llvm::ArrayRef<int64_t> shape);
  mlir::Value reduce(ReduceKind kind, mlir::Value tile, int64_t dim);

  /// `for (i = lower; i < upper; i += step)`: `body` gets i and what is
  /// carried, and returns what is carried on. Returns what the last step
  /// carries.
  llvm::SmallVector<mlir::Value>
  loop(mlir::Value lower, mlir::Value upper, mlir::Value step,
       mlir::ValueRange inits,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value,
                                                         mlir::ValueRange)>
           body);

private:
  mlir::Value addArgument(llvm::StringRef name, mlir::Type type);

  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp kernel;
};

/// Compiles a kernel of a module, which stays as it is. `name` stands for it in
/// messages.
Expected<Kernel> compile(const Compiler &compiler, mlir::ModuleOp module,
                         const CompileOptions &options,
                         const std::string &name = "<module>");

} // namespace tile::runtime

#endif // TILE_RUNTIME_KERNELBUILDER_H
