//===- CarriedValues.cpp - What loops hand on instead of computing --------===//

#include "CarriedValues.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tile;

void CarriedValues::addPointer(scf::ForOp loop, Value pointer, Value init,
                               Value step) {
  requests[loop].pointers.push_back({pointer, init, step});
}

CarriedValues::Product &CarriedValues::Requests::getProduct(unsigned argument,
                                                            uint32_t factor) {
  for (Product &product : products)
    if (product.argument == argument && product.factor == factor)
      return product;
  return products.emplace_back(Product{argument, factor, {}});
}

/// Which of the values that a loop carries `argument` is.
static unsigned getCarriedIndex(BlockArgument argument) {
  return argument.getArgNumber() - 1;
}

void CarriedValues::addProduct(BlockArgument number, uint32_t factor,
                               Value product) {
  Operation *loop = number.getOwner()->getParentOp();
  requests[loop]
      .getProduct(getCarriedIndex(number), factor)
      .values.push_back(product);
}

scf::ForOp CarriedValues::apply(Emitter &emit, scf::ForOp loop) {
  auto found = requests.find(loop);
  if (found == requests.end())
    return loop;
  Requests wanted = std::move(found->second);
  requests.erase(found);

  // What the products of the next iteration are made of: a number may become
  // another one that the loop carries.
  auto isCarried = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == loop.getBody() &&
           argument.getArgNumber() > 0;
  };
  for (size_t i = 0; i < wanted.products.size(); ++i) {
    SmallVector<Value> values = {
        loop.getYieldedValues()[wanted.products[i].argument]};
    while (!values.empty()) {
      Value value = values.pop_back_val();
      if (isCarried(value))
        wanted.getProduct(getCarriedIndex(cast<BlockArgument>(value)),
                          wanted.products[i].factor);
      else if (auto select = value.getDefiningOp<arith::SelectOp>())
        values.append({select.getTrueValue(), select.getFalseValue()});
      else if (auto add = value.getDefiningOp<arith::AddIOp>())
        values.append({add.getLhs(), add.getRhs()});
    }
  }

  IRRewriter rewriter(emit.builder.getContext());
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> inits;
  for (const Pointer &pointer : wanted.pointers)
    inits.push_back(pointer.init);
  for (const Product &product : wanted.products) {
    OpBuilder::InsertionGuard guard(emit.builder);
    emit.builder.setInsertionPoint(loop);
    inits.push_back(emit.mul(loop.getInitArgs()[product.argument],
                             emit.i32(product.factor)));
  }

  auto makeYields = [&](OpBuilder &builder, Location loc,
                        ArrayRef<BlockArgument> carried) {
    OpBuilder::InsertionGuard guard(emit.builder);
    emit.builder.restoreInsertionPoint(builder.saveInsertionPoint());
    ArrayRef<BlockArgument> pointers =
        carried.take_front(wanted.pointers.size());
    ArrayRef<BlockArgument> products =
        carried.drop_front(wanted.pointers.size());
    SmallVector<Value> yields;
    for (auto [pointer, argument] :
         llvm::zip_equal(wanted.pointers, pointers)) {
      yields.push_back(
          LLVM::GEPOp::create(builder, loc, argument.getType(), emit.integer(8),
                              argument, ArrayRef<LLVM::GEPArg>{pointer.step}));
      pointer.value.replaceAllUsesWith(argument);
    }
    // `value` times `factor`, from products and constants where it is made of
    // them.
    std::function<Value(Value, uint32_t)> scale = [&](Value value,
                                                      uint32_t factor) {
      if (isCarried(value))
        for (auto [product, argument] :
             llvm::zip_equal(wanted.products, products))
          if (product.factor == factor &&
              product.argument == getCarriedIndex(cast<BlockArgument>(value)))
            return Value(argument);
      if (auto add = value.getDefiningOp<arith::AddIOp>())
        return emit.add(scale(add.getLhs(), factor),
                        scale(add.getRhs(), factor));
      if (auto select = value.getDefiningOp<arith::SelectOp>()) {
        Value condition = select.getCondition();
        // The comparison too, so that the number itself is not needed.
        auto compare = condition.getDefiningOp<arith::CmpIOp>();
        if (compare && compare.getPredicate() == arith::CmpIPredicate::eq)
          condition = emit.compare(arith::CmpIPredicate::eq,
                                   scale(compare.getLhs(), factor),
                                   scale(compare.getRhs(), factor));
        return emit.select(condition, scale(select.getTrueValue(), factor),
                           scale(select.getFalseValue(), factor));
      }
      return emit.mul(value, emit.i32(factor));
    };
    for (auto [product, argument] :
         llvm::zip_equal(wanted.products, products)) {
      yields.push_back(
          scale(loop.getYieldedValues()[product.argument], product.factor));
      for (Value value : product.values)
        value.replaceAllUsesWith(argument);
    }
    return yields;
  };
  FailureOr<LoopLikeOpInterface> replaced = loop.replaceWithAdditionalYields(
      rewriter, inits, /*replaceInitOperandUsesInLoop=*/false, makeYields);
  // It fails for loops without a body to take over alone.
  return cast<scf::ForOp>(replaced->getOperation());
}
