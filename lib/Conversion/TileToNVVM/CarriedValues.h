//===- CarriedValues.h - What loops hand on instead of computing -*- C++
//-*-===//
//
// Some values of a loop's body are cheaper to hand from one iteration to the
// next than to compute anew: pointers that advance by one step, and multiples
// of a number that the loop carries. They are asked for while the body is
// written and become arguments of the loop when it is complete.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_CONVERSION_TILETONVVM_CARRIEDVALUES_H
#define TILE_LIB_CONVERSION_TILETONVVM_CARRIEDVALUES_H

#include "../Emitter.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"

namespace tile {

class CarriedValues {
public:
  /// `pointer`, a value of the body of `loop`, is `init` in the first iteration
  /// and `step` bytes (i64) further in each that follows. Both are defined in
  /// front of the loop.
  void addPointer(mlir::scf::ForOp loop, mlir::Value pointer, mlir::Value init,
                  mlir::Value step);
  /// `product`, a value of the loop's body, is `number` (i32), which the loop
  /// carries, times `factor`.
  void addProduct(mlir::BlockArgument number, uint32_t factor,
                  mlir::Value product);
  /// Makes `loop`, whose body is complete, carry what was asked for. Returns
  /// the loop that takes its place.
  mlir::scf::ForOp apply(Emitter &emit, mlir::scf::ForOp loop);

private:
  struct Pointer {
    mlir::Value value, init, step;
  };
  struct Product {
    unsigned argument; ///< Index among the loop's carried values.
    uint32_t factor;
    llvm::SmallVector<mlir::Value> values;
  };
  struct Requests {
    llvm::SmallVector<Pointer> pointers;
    llvm::SmallVector<Product> products;
    Product &getProduct(unsigned argument, uint32_t factor);
  };
  llvm::DenseMap<mlir::Operation *, Requests> requests;
};

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETONVVM_CARRIEDVALUES_H
