//===- PrintLayouts.cpp - Layouts of a module as tables -------------------===//
//
// This file implements the pass that shows which lane and register of which
// warp holds each element of the distributed tiles of a module.
//
//===----------------------------------------------------------------------===//

#include "tile/Transforms/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "tile/Dialect/Tile/IR/LayoutTable.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/SetVector.h"

namespace tile {
#define GEN_PASS_DEF_TILEPRINTLAYOUTS
#include "tile/Transforms/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

namespace {
struct PrintLayouts : public tile::impl::TilePrintLayoutsBase<PrintLayouts> {
  using Base::Base;

  void runOnOperation() override {
    llvm::SetVector<RankedTensorType> types;
    auto add = [&](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (tensor && isa_and_nonnull<LayoutAttr>(tensor.getEncoding()))
        types.insert(tensor);
    };
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      llvm::for_each(op->getResultTypes(), add);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          llvm::for_each(block.getArgumentTypes(), add);
    });
    for (RankedTensorType type : types) {
      llvm::outs() << type << ":\n";
      printLayoutTable(llvm::outs(), cast<LayoutAttr>(type.getEncoding()),
                       type.getShape());
      llvm::outs() << "\n";
    }
  }
};
} // namespace
