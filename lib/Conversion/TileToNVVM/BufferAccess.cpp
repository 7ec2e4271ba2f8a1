//===- BufferAccess.cpp - Addresses in buffers ----------------------------===//

#include "BufferAccess.h"

#include "Distributor.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace tile;

void tile::emitOutsideLoops(Emitter &emit, llvm::function_ref<void()> body) {
  OpBuilder::InsertionGuard guard(emit.builder);
  Operation *outermost = nullptr;
  for (Operation *op = emit.builder.getInsertionBlock()->getParentOp(); op;
       op = op->getParentOp())
    if (isa<LoopLikeOpInterface>(op))
      outermost = op;
  if (outermost)
    emit.builder.setInsertionPoint(outermost);
  body();
}

/// Applies `swizzle` to columns and collects the bits that they have then.
static SmallVector<uint32_t> applySwizzle(const LinearLayout &swizzle,
                                          ArrayRef<uint32_t> columns,
                                          uint32_t &bits) {
  SmallVector<uint32_t> result;
  for (uint32_t column : columns) {
    result.push_back(swizzle(column));
    bits |= result.back();
  }
  return result;
}

SlotAddresses::SlotAddresses(Emitter &emit, SlotPlace slot,
                             ArrayRef<uint32_t> lanes, ArrayRef<uint32_t> warps,
                             const LinearLayout &swizzle, Value lane,
                             Value warp)
    : emit(emit), slot(slot), swizzle(swizzle) {
  const unsigned bits = swizzle.getCodomain().bits();
  emitOutsideLoops(emit, [&] {
    Value ofLane = emitLinear(emit, applySwizzle(swizzle, lanes, threadBits),
                              lane, 0, bits);
    Value ofWarp = emitLinear(emit, applySwizzle(swizzle, warps, threadBits),
                              warp, 0, bits);
    thread = emit.bitXor(ofLane, ofWarp);
  });
}

void SlotAddresses::moveBy(ArrayRef<uint32_t> columns, Value index) {
  Value part = emitLinear(emit, applySwizzle(swizzle, columns, movedBits),
                          index, 0, swizzle.getCodomain().bits());
  moved = moved ? emit.bitXor(moved, part) : part;
}

Value SlotAddresses::get(uint32_t offset) {
  const uint32_t place = swizzle(offset);
  const uint32_t flips = place & (threadBits | movedBits);
  Value &base = bases[flips];
  if (!base) {
    // Where the thread and the indices share no bit with each other or with
    // what the register flips of the other's, xor is addition.
    const bool adds = !(threadBits & movedBits) && !(flips & movedBits);
    Value fixed;
    emitOutsideLoops(emit, [&] {
      Value bits = emit.bitXor(thread, emit.i32(adds ? flips : 0));
      fixed = adds ? move(slot.memory, bits) : bits;
    });
    if (adds) {
      base = move(fixed, moved ? emit.add(slot.offset, moved) : slot.offset);
    } else {
      Value bits = emit.bitXor(emit.bitXor(fixed, moved), emit.i32(flips));
      base = move(move(slot.memory, bits), slot.offset);
    }
  }
  uint32_t rest = slot.base + (place & ~(threadBits | movedBits));
  return rest ? move(base, static_cast<int32_t>(rest)) : base;
}

Value SlotAddresses::move(Value pointer, LLVM::GEPArg bytes) {
  return LLVM::GEPOp::create(emit.builder, emit.loc, pointer.getType(),
                             emit.integer(8), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}
