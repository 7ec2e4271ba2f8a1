//===- StageTensorMultiplies.cpp - Multiplies of one thread -------------===//

#include "tile/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "tile/Dialect/Tile/IR/Tile.h"

namespace tile {
#define GEN_PASS_DEF_TILESTAGETENSORMULTIPLIES
#include "tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {
struct StageTensorMultiplies : public tile::impl::TileStageTensorMultipliesBase<StageTensorMultiplies> {
  using Base::Base;

  void runOnOperation() override {}
};
} // namespace
