//===- DistributeTensorCopies.cpp - Copies by tensor maps -----------------===//
//
// A tile is copied by `cp.async.bulk.tensor`, one for each box. The tensor maps
// that these need are parameters behind those of the kernel, one for each array
// and shape of box.
//
//===----------------------------------------------------------------------===//

#include "Distributor.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

/// An object of the driver.
static constexpr unsigned kTensorMapBytes = 128, kTensorMapAlignment = 64;
/// Elements of an array along a dimension, at most: who encodes the maps checks
/// it. What lies behind, or in front of the first, is outside.
static constexpr int64_t kMaxTensorExtent = int64_t(1) << 30;

LogicalResult Distributor::planTensorCopies() {
  WalkResult result = kernel.walk([&](CopyTensorOp op) {
    if (failed(expect(op, Capability::Tma)))
      return WalkResult::interrupt();
    auto plan = planTensorCopy(op.getSource(), op.getBuffer().getType());
    if (auto *reason = std::get_if<std::string>(&plan)) {
      op.emitOpError("expects a copy that a tensor map describes, but ")
          << *reason;
      return WalkResult::interrupt();
    }
    auto &found = std::get<TensorCopyPlan>(plan);
    const unsigned argument =
        cast<BlockArgument>(op.getSource()).getArgNumber();
    const auto known = llvm::find_if(tensorMaps, [&](const TensorMap &map) {
      return map.argument == argument && map.plan.hasMapOf(found);
    });
    const auto number = static_cast<unsigned>(known - tensorMaps.begin());
    if (known == tensorMaps.end())
      tensorMaps.push_back({argument, found});
    tensorCopies[op] = {number, std::move(found)};
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void Distributor::addTensorMapTypes(SmallVectorImpl<Type> &parameters) {
  for (TensorMap &map : tensorMaps) {
    map.parameter = static_cast<unsigned>(parameters.size());
    parameters.push_back(LLVM::LLVMPointerType::get(kernel.getContext()));
  }
}

void Distributor::emitTensorMaps(LLVM::LLVMFuncOp function) {
  Builder &b = emit.builder;
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), kTensorMapBytes);
  for (TensorMap &map : tensorMaps) {
    map.pointer = function.getArgument(map.parameter);
    function.setArgAttr(map.parameter, LLVM::LLVMDialect::getByValAttrName(),
                        TypeAttr::get(type));
    function.setArgAttr(map.parameter, LLVM::LLVMDialect::getAlignAttrName(),
                        b.getI64IntegerAttr(kTensorMapAlignment));
    function.setArgAttr(map.parameter,
                        NVVM::NVVMDialect::getGridConstantAttrName(),
                        b.getUnitAttr());
  }
  if (tensorMaps.empty())
    return;
  byOneThread([&] {
    for (const TensorMap &map : tensorMaps)
      NVVM::PrefetchOp::create(emit.builder, emit.loc, /*cacheLevel=*/nullptr,
                               /*evictPriority=*/nullptr, map.pointer,
                               /*predicate=*/Value(),
                               /*tensormap=*/emit.builder.getUnitAttr(),
                               /*uniform=*/nullptr, /*in_param_space=*/nullptr);
  });
}

LogicalResult Distributor::distributeCopy(CopyTensorOp op) {
  auto known = buffers.find(op.getBuffer());
  if (known == buffers.end())
    return op.emitOpError("expects the result of a tile.alloc_buffer");
  const TensorCopy &copy = tensorCopies.find(op)->second;
  const TensorCopyPlan &plan = copy.plan;
  ArrayRef<int64_t> shape = op.getBuffer().getType().getTileShape();
  const unsigned inner = plan.dims.back();
  Value barrier = getBarrier(op.getBarriers(), op.getSlot());
  byOneThread([&] {
    SlotPlace slot = getSlot(known->second, op.getSlot());
    // Where the tile begins, innermost dimension first, in elements of the map.
    SmallVector<Value> begins;
    for (unsigned dim : llvm::reverse(plan.dims)) {
      const int64_t unit =
          shape[dim] * (dim == inner ? plan.valuesPerElement : 1);
      // The index is bounded, not the position, which may not fit.
      Value index = getIndexAsI64(op.getIndices()[dim]);
      index =
          arith::MaxSIOp::create(emit.builder, emit.loc, index, emit.i64(-1));
      index = arith::MinSIOp::create(emit.builder, emit.loc, index,
                                     emit.i64(kMaxTensorExtent / unit));
      begins.push_back(
          emit.shl(emit.trunc(emit.i32(), index), llvm::Log2_64(unit)));
    }
    for (const TensorCopyPlan::Part &part : plan.parts) {
      SmallVector<Value> coordinates;
      for (auto [begin, dim] :
           llvm::zip_equal(begins, llvm::reverse(plan.dims)))
        coordinates.push_back(emit.add(
            begin, emit.i32(part.begin[dim] *
                            (dim == inner ? plan.valuesPerElement : 1))));
      Value destination = LLVM::GEPOp::create(
          emit.builder, emit.loc, slot.memory.getType(), emit.integer(8),
          slot.memory,
          ArrayRef<LLVM::GEPArg>{
              emit.add(slot.offset, emit.i32(slot.base + part.offset))});
      NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
          emit.builder, emit.loc, destination, tensorMaps[copy.map].pointer,
          coordinates, barrier,
          /*im2colOffsets=*/ValueRange(), /*multicastMask=*/Value(),
          /*l2CacheHint=*/Value(), NVVM::TMALoadMode::TILE,
          /*isCTAOnly=*/true, /*group=*/nullptr, /*predicate=*/Value());
    }
  });
  return success();
}

SmallVector<std::string> Distributor::printTensorMaps(StringRef entry) const {
  auto print = [](ArrayRef<unsigned> numbers) {
    std::string text;
    for (unsigned number : numbers)
      text += (text.empty() ? "" : "x") + std::to_string(number);
    return text;
  };
  SmallVector<std::string> lines;
  for (const TensorMap &map : tensorMaps)
    lines.push_back(
        "// tile.tensor_map entry=" + entry.str() + " param=" +
        std::to_string(map.parameter) + " arg=" + std::to_string(map.argument) +
        " box=" + print(map.plan.box) + " swizzle=" +
        (map.plan.swizzle ? std::to_string(map.plan.swizzle) : "none") +
        " type=" + map.plan.type.str() +
        " fill=zero dims=" + print(map.plan.dims));
  return lines;
}
