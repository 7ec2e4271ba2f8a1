//===- TileFolds.cpp - Folds and canonicalisations ------------------------===//

#include "tile/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tile;

OpFoldResult UnpackOp::fold(FoldAdaptor adaptor) { return {}; }
OpFoldResult PackOp::fold(FoldAdaptor adaptor) { return {}; }
OpFoldResult FToFOp::fold(FoldAdaptor adaptor) { return {}; }
OpFoldResult PermuteOp::fold(FoldAdaptor adaptor) { return {}; }
OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) { return {}; }
OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) { return {}; }
OpFoldResult ConvertLayoutOp::fold(FoldAdaptor adaptor) {
  return getSource().getType() == getType() ? getSource() : Value();
}
void PermuteOp::getCanonicalizationPatterns(RewritePatternSet &,
                                            MLIRContext *) {}
void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &,
                                            MLIRContext *) {}
