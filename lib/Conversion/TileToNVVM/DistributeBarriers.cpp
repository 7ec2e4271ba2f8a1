//===- DistributeBarriers.cpp - Barriers and roles of warps ---------------===//
//
// Barriers are `mbarrier` objects. They and other things that live as long as
// the kernel share a control area of shared memory, which lies behind
// everything else: scratch memory takes the place of buffers between loops, but
// never theirs.
//
// What one thread does stands in a branch for that thread, except in the role
// that is one thread.
//
//===----------------------------------------------------------------------===//

#include "BufferAccess.h"
#include "Distributor.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

/// Bytes of one barrier.
static constexpr unsigned kBarrierBytes = 8;

static LLVM::LLVMPointerType getSharedPointer(MLIRContext *context) {
  return LLVM::LLVMPointerType::get(context, 3);
}

LogicalResult Distributor::expect(Operation *op, Capability capability) {
  if (options.target->has(capability))
    return success();
  return op->emitOpError("expects a target with '")
         << getCapabilityName(capability) << "', but got "
         << options.target->name;
}

//===----------------------------------------------------------------------===//
// The control area
//===----------------------------------------------------------------------===//

void Distributor::placeBarriers() {
  kernel.walk([&](AllocBarriersOp op) {
    barrierOffsets[op.getResult()] = controlBytes;
    controlBytes += kBarrierBytes * op.getResult().getType().getCount();
  });
  if (numColumns) {
    columnsOffset = controlBytes;
    controlBytes += kBarrierBytes; // so that barriers stay aligned
  }
  if (!controlBytes)
    return;
  MLIRContext *context = kernel.getContext();
  Value memory = LLVM::AddressOfOp::create(
      emit.builder, emit.loc, getSharedPointer(context), kSharedMemoryName);
  controlPlace = LLVM::ConstantOp::create(emit.builder, emit.loc, emit.i32(),
                                          emit.builder.getI32IntegerAttr(0));
  control = LLVM::GEPOp::create(emit.builder, emit.loc, memory.getType(),
                                emit.integer(8), memory,
                                ArrayRef<LLVM::GEPArg>{Value(controlPlace)});
}

LogicalResult Distributor::finishControl() {
  if (!controlBytes)
    return success();
  unsigned place = llvm::alignTo(sharedBytes, kBarrierBytes);
  sharedBytes = place + controlBytes;
  controlPlace.setValueAttr(
      emit.builder.getI32IntegerAttr(static_cast<int32_t>(place)));
  if (sharedBytes > options.target->maxSharedBytes)
    return kernel.emitOpError("needs ")
           << sharedBytes << " bytes of shared memory with its barriers, but "
           << options.target->name << " has " << options.target->maxSharedBytes;
  return success();
}

Value Distributor::getControl(unsigned offset) {
  if (!offset)
    return control;
  Value address;
  emitOutsideLoops(emit, [&] {
    address = LLVM::GEPOp::create(
        emit.builder, emit.loc, control.getType(), emit.integer(8), control,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
  });
  return address;
}

Value Distributor::getBarrier(Value barriers, Value slot) {
  const unsigned first = barrierOffsets.lookup(barriers);
  if (std::optional<int64_t> constant = getConstantIntValue(slot))
    return getControl(first + kBarrierBytes * *constant);
  Value number = arith::IndexCastOp::create(emit.builder, emit.loc, emit.i32(),
                                            scalars.lookup(slot));
  return LLVM::GEPOp::create(
      emit.builder, emit.loc, control.getType(), emit.integer(8),
      getControl(first),
      ArrayRef<LLVM::GEPArg>{emit.mul(number, emit.i32(kBarrierBytes))});
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

void Distributor::fenceAsyncProxy() {
  NVVM::FenceProxyOp::create(
      emit.builder, emit.loc, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(kernel.getContext(),
                                 NVVM::SharedSpace::shared_cta));
}

void Distributor::byOneThread(llvm::function_ref<void()> body) {
  if (isOneThread)
    return body();
  Value isFirst;
  emitOutsideLoops(
      emit, [&] { isFirst = emit.both(emit.isZero(warp), emit.isZero(lane)); });
  emit.guarded(isFirst, body);
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

LogicalResult Distributor::distributeInit(InitBarriersOp op) {
  if (failed(expect(op, Capability::MbarrierTx)))
    return failure();
  const unsigned first = barrierOffsets.lookup(op.getBarriers());
  byOneThread([&] {
    for (int64_t i = 0; i < op.getBarriers().getType().getCount(); ++i)
      NVVM::MBarrierInitOp::create(
          emit.builder, emit.loc, getControl(first + kBarrierBytes * i),
          emit.i32(op.getArrivals()), /*predicate=*/Value());
    NVVM::FenceMbarrierInitOp::create(emit.builder, emit.loc);
  });
  return success();
}

LogicalResult Distributor::distributeInval(InvalBarriersOp op) {
  if (failed(expect(op, Capability::MbarrierTx)))
    return failure();
  const unsigned first = barrierOffsets.lookup(op.getBarriers());
  byOneThread([&] {
    for (int64_t i = 0; i < op.getBarriers().getType().getCount(); ++i)
      NVVM::MBarrierInvalOp::create(emit.builder, emit.loc,
                                    getControl(first + kBarrierBytes * i));
  });
  return success();
}

LogicalResult Distributor::distributeWait(WaitBarrierOp op) {
  if (failed(expect(op, Capability::MbarrierTx)))
    return failure();
  Value address = getBarrier(op.getBarriers(), op.getSlot());
  Value parity = scalars.lookup(op.getParity());
  auto loop =
      scf::WhileOp::create(emit.builder, emit.loc, TypeRange(), ValueRange());
  {
    OpBuilder::InsertionGuard guard(emit.builder);
    emit.builder.createBlock(&loop.getBefore());
    Value ended = NVVM::MBarrierTryWaitOp::create(
        emit.builder, emit.loc, emit.i1(), address, parity, /*ticks=*/Value());
    scf::ConditionOp::create(emit.builder, emit.loc,
                             emit.bitXor(ended, emit.constant(emit.i1(), 1)),
                             ValueRange());
    emit.builder.createBlock(&loop.getAfter());
    scf::YieldOp::create(emit.builder, emit.loc);
  }
  if (numColumns)
    NVVM::Tcgen05FenceOp::create(emit.builder, emit.loc,
                                 NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
  return success();
}

LogicalResult Distributor::distributeArrive(ArriveCopiesOp op) {
  if (failed(expect(op, Capability::MbarrierTx)))
    return failure();
  NVVM::CpAsyncWaitGroupOp::create(emit.builder, emit.loc, op.getPending());
  fenceAsyncProxy();
  NVVM::MBarrierArriveOp::create(emit.builder, emit.loc, emit.i64(),
                                 getBarrier(op.getBarriers(), op.getSlot()),
                                 /*count=*/Value());
  return success();
}

LogicalResult Distributor::distributeExpect(ExpectBytesOp op) {
  if (failed(expect(op, Capability::MbarrierTx)))
    return failure();
  Value address = getBarrier(op.getBarriers(), op.getSlot());
  byOneThread([&] {
    NVVM::MBarrierArriveExpectTxOp::create(
        emit.builder, emit.loc, emit.i64(), address, emit.i32(op.getBytes()),
        NVVM::MemScopeKind::CTA, /*relaxed=*/false, /*predicate=*/Value());
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

/// Whether nothing in a role needs all of its threads.
static bool isForOneThread(Region &role) {
  return !role.walk([](Operation *op) {
                return isa<CopyAsyncOp, CommitCopiesOp, WaitCopiesOp,
                           ArriveCopiesOp, BarrierOp>(op)
                           ? WalkResult::interrupt()
                           : WalkResult::advance();
              })
              .wasInterrupted();
}

LogicalResult Distributor::distributeElected(Value isWarp, Block &block) {
  warp = lane = emit.i32(0);
  numWarps = 1;
  isOneThread = true;
  LogicalResult result = success();
  emit.guarded(isWarp, [&] {
    Value elected = NVVM::ElectSyncOp::create(emit.builder, emit.loc, emit.i1(),
                                              /*membermask=*/Value());
    emit.guarded(elected, [&] { result = distributeBlock(block); });
  });
  isOneThread = false;
  return result;
}

LogicalResult Distributor::distributeRoles(WarpRolesOp op) {
  if (failed(expect(op, Capability::ElectSync)))
    return failure();
  if (numWarps < 4 || numWarps % 2)
    return op.emitOpError("expects an even number of warps, at least four, but "
                          "got ")
           << numWarps;
  // No role may wait for the block. What one is about to read or overwrite, all
  // have left behind.
  if (scratchInUse)
    fenceAsyncProxy();
  if (pending.writes || scratchInUse)
    barrier();
  scratchInUse = false;

  const Value blockWarp = warp, blockLane = lane;
  const unsigned blockWarps = numWarps;
  llvm::scope_exit restore([&] {
    warp = blockWarp;
    lane = blockLane;
    numWarps = blockWarps;
    isOneThread = false;
  });
  const unsigned copiers = blockWarps / 2;
  Value copies, copiesFirst, issues, roleWarp;
  emitOutsideLoops(emit, [&] {
    // The same in the whole warp, which the assembler cannot tell.
    Value uniform = NVVM::ShflOp::create(
        emit.builder, emit.loc, emit.i32(), emit.i32(0xFFFFFFFF), blockWarp,
        emit.i32(0), emit.i32(31), NVVM::ShflKind::idx, UnitAttr());
    copies =
        emit.compare(arith::CmpIPredicate::uge, uniform, emit.i32(copiers));
    copiesFirst =
        emit.compare(arith::CmpIPredicate::eq, uniform, emit.i32(copiers));
    issues = emit.isZero(uniform);
    roleWarp = emit.sub(blockWarp, emit.i32(copiers));
  });
  auto branch = scf::IfOp::create(emit.builder, emit.loc, TypeRange(), copies,
                                  /*withElse=*/true);
  {
    OpBuilder::InsertionGuard guard(emit.builder);
    emit.builder.setInsertionPointToStart(branch.thenBlock());
    if (isForOneThread(op.getCopiers())) {
      if (failed(distributeElected(copiesFirst, op.getCopiers().front())))
        return failure();
    } else {
      warp = roleWarp;
      numWarps = copiers;
      if (failed(distributeBlock(op.getCopiers().front())))
        return failure();
    }
    emit.builder.setInsertionPointToStart(branch.elseBlock());
    if (failed(distributeElected(issues, op.getIssuer().front())))
      return failure();
  }
  // What follows may want whole warps.
  NVVM::SyncWarpOp::create(emit.builder, emit.loc, emit.i32(0xFFFFFFFF));
  return success();
}
