//===- tile-opt.cpp - MLIR's usual driver with the tile dialect -----------===//

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "tile/Dialect/Tile/IR/Tile.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  tile::registerTileDialects(registry);
  mlir::registerTransformsPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Tile optimizer driver\n", registry));
}
