//===- tile-reduce.cpp - MLIR's reducer with the tile dialect -------------===//

#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "mlir/Transforms/Passes.h"
#include "tile/Dialect/Tile/IR/Tile.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  tile::registerTileDialects(registry);
  mlir::registerTransformsPasses(); // for -opt-reduction-pass
  mlir::MLIRContext context(registry);
  return llvm::failed(mlir::mlirReduceMain(argc, argv, context));
}
