//===- DistributeTensorMultiplies.cpp - Multiplies of one thread ----------===//
//
// `tcgen05.cp` and `tcgen05.mma`. Their operands are descriptors; what of them
// depends on the slot is one number per operand, and the rest are constants
// that are added to the lower half.
//
//===----------------------------------------------------------------------===//

#include "Distributor.h"

#include "tile/Target/TensorOperands.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

/// Descriptors count shared memory in units of so many bytes.
static constexpr unsigned kDescribedBytes = 16;

/// The descriptor of what begins `bytes` after `start`, as
/// `getDescribedStart` gives it.
static Value emitDescriptor(Emitter &emit, Value start, uint32_t bytes,
                            uint64_t descriptor) {
  uint64_t constant = descriptor + bytes / kDescribedBytes;
  Value low =
      emit.add(start, emit.i32(static_cast<int32_t>(uint32_t(constant))));
  return emit.bitOr(emit.zext(emit.i64(), low),
                    emit.i64(constant & ~uint64_t(0xFFFFFFFF)));
}

Value Distributor::getDescribedStart(Value buffer, Value slot) {
  const SharedBuffer &place = buffers.find(buffer)->second;
  Value start = emit.add(sharedStart, emit.i32(place.base / kDescribedBytes));
  Value number = emit.builder.createOrFold<arith::IndexCastOp>(
      emit.loc, emit.i32(), scalars.lookup(slot));
  return emit.add(
      start, emit.mul(number, emit.i32(place.slotBytes / kDescribedBytes)));
}

LogicalResult Distributor::distributeCopyScales(CopyScalesOp op) {
  if (failed(expect(op, Capability::Tcgen05)))
    return failure();
  TensorMemoryType memory = op.getMemory().getType();
  ArrayRef<int64_t> shape = memory.getTileShape();
  const unsigned batches = shape.size() == 3 ? shape.front() : 1;
  const unsigned rows = shape.end()[-2];
  const unsigned rowBlocks = rows / kTensorRows;
  const unsigned chunks = shape.back() / kChunkBlocks;
  const unsigned batchColumns = memory.getSlotColumns() / batches;
  Value start = getDescribedStart(op.getBuffer(), op.getSlot());
  Value columns = getColumns(op.getMemory(), op.getMemorySlot());
  byOneThread([&] {
    unsigned next = 0;
    for (unsigned batch = 0; batch < batches; ++batch)
      for (unsigned rowBlock = 0; rowBlock < rowBlocks; ++rowBlock)
        for (unsigned chunk = 0; chunk < chunks; ++chunk) {
          unsigned column =
              batch * batchColumns + getScaleColumn(rows, rowBlock, chunk);
          NVVM::Tcgen05CpOp::create(
              emit.builder, emit.loc, NVVM::Tcgen05CpShape::SHAPE_32x128b,
              NVVM::CTAGroupKind::CTA_1, NVVM::Tcgen05CpMulticast::WARPX4,
              /*srcFormat=*/NVVM::Tcgen05CpSrcFormatAttr(),
              toTensorPointer(emit, emit.add(columns, emit.i32(column))),
              emitDescriptor(emit, start, kScaleChunkBytes * next++,
                             getScaleChunkDescriptor()));
        }
  });
  return success();
}

/// The kind of a multiply without scales.
static NVVM::Tcgen05MMAKind getPlainKind(const MmaAtom &atom) {
  return atom.kind == BlockScaleKind::F16 ? NVVM::Tcgen05MMAKind::F16
                                          : NVVM::Tcgen05MMAKind::F8F6F4;
}

static NVVM::MMABlockScaleKind getScaledKind(const MmaAtom &atom) {
  switch (atom.kind) {
  case BlockScaleKind::Mxf4:
    return NVVM::MMABlockScaleKind::MXF4;
  case BlockScaleKind::Mxf4nvf4:
    return NVVM::MMABlockScaleKind::MXF4NVF4;
  default:
    return NVVM::MMABlockScaleKind::MXF8F6F4;
  }
}

LogicalResult Distributor::distributeMultiply(MultiplyAsyncOp op) {
  const MmaAtom *atom = findMmaAtom(op.getAtom());
  if (!atom || atom->issuer != MmaIssuer::Thread)
    return op.emitOpError("expects an 'atom' that multiplies in tensor memory, "
                          "but got '")
           << op.getAtom() << "'";
  if (!options.target->has(atom->capability))
    return op.emitOpError("expects an instruction of ")
           << options.target->name << ", but got '" << atom->name << "'";
  if (bool(op.getLhsScale()) != atom->isBlockScaled())
    return op.emitOpError("expects scales exactly where '")
           << atom->name << "' has them";
  const unsigned batches = op.getShape()[0], m = op.getShape()[1],
                 n = op.getShape()[2], k = op.getShape()[3];
  const OperandMajor lhsMajor =
      op.getLhsMnMajor() ? OperandMajor::MN : OperandMajor::K;
  const OperandMajor rhsMajor =
      op.getRhsMnMajor() ? OperandMajor::MN : OperandMajor::K;
  const std::optional<SharedOperand> lhs =
      placeOperand(*atom, /*isLhs=*/true, lhsMajor, m, k);
  const std::optional<SharedOperand> rhs =
      placeOperand(*atom, /*isLhs=*/false, rhsMajor, n, k);
  if (!lhs || !rhs)
    return op.emitOpError("expects a shape that '")
           << atom->name << "' can multiply, but got " << m << " x " << n
           << " x " << k;
  for (auto [operand, buffer] :
       {std::pair(&*lhs, op.getLhs()), std::pair(&*rhs, op.getRhs())}) {
    if (!buffers.contains(buffer))
      return op.emitOpError("expects the result of a tile.alloc_buffer");
    if (buffer.getType().getSlotBytes() != int64_t(batches) * operand->bytes)
      return op.emitOpError("expects slots of ")
             << int64_t(batches) * operand->bytes << " bytes for '"
             << atom->name << "', but got " << buffer.getType();
  }
  const unsigned steps = k / atom->k;
  const unsigned columns = std::min(n, kMaxTensorColumns);

  /// The address of the scales of one operand, by slot, batch and block.
  struct Scales {
    Value start;
    unsigned rows = 0, batchColumns = 0;
  };
  auto getScales = [&](TypedValue<TensorMemoryType> memory, Value slot) {
    Scales scales;
    if (!memory)
      return scales;
    ArrayRef<int64_t> shape = memory.getType().getTileShape();
    scales.start = getColumns(memory, slot);
    scales.rows = shape.end()[-2];
    scales.batchColumns = memory.getType().getSlotColumns() / batches;
    return scales;
  };
  const Scales lhsScales = getScales(op.getLhsScale(), op.getLhsScaleSlot());
  const Scales rhsScales = getScales(op.getRhsScale(), op.getRhsScaleSlot());
  for (auto [scales, memory, extent] :
       {std::tuple(lhsScales, op.getLhsScale(), m),
        std::tuple(rhsScales, op.getRhsScale(), n)}) {
    if (!memory)
      continue;
    ArrayRef<int64_t> shape = memory.getType().getTileShape();
    const int64_t found = shape.size() == 3 ? shape.front() : 1;
    const int64_t blocks = k / atom->blockSize;
    if (found != int64_t(batches) || scales.rows < extent ||
        shape.back() < blocks)
      return op.emitOpError("expects scales for ")
             << batches << " x " << extent << " x " << blocks << ", but got "
             << memory.getType();
  }

  Value lhsStart = getDescribedStart(op.getLhs(), op.getLhsSlot());
  Value rhsStart = getDescribedStart(op.getRhs(), op.getRhsSlot());
  Value sums = getColumns(op.getAcc(), Value());
  Value accumulate = scalars.lookup(op.getAccumulate());
  auto issue = [&](unsigned batch, unsigned row, unsigned column,
                   unsigned step) {
    Value acc = toTensorPointer(
        emit, emit.add(sums, emit.i32(getSumCell(m, n, batch, row, column))));
    Value lhsDescriptor = emitDescriptor(
        emit, lhsStart, batch * lhs->bytes + lhs->getStart(row, step),
        lhs->getDescriptor());
    Value rhsDescriptor = emitDescriptor(
        emit, rhsStart, batch * rhs->bytes + rhs->getStart(column, step),
        rhs->getDescriptor());
    Value adds = step ? emit.constant(emit.i1(), 1) : accumulate;
    const ScaleChoice choice =
        atom->isBlockScaled() ? getScaleChoice(*atom, step) : ScaleChoice{0, 0};
    Value instruction = emit.i32(static_cast<int32_t>(getInstructionDescriptor(
        *atom, columns, lhsMajor, rhsMajor, choice.byte)));
    if (!atom->isBlockScaled()) {
      NVVM::Tcgen05MMAOp::create(
          emit.builder, emit.loc, getPlainKind(*atom),
          NVVM::CTAGroupKind::CTA_1, NVVM::Tcgen05MMACollectorOp::DISCARD,
          /*aShift=*/false, acc, lhsDescriptor, rhsDescriptor, instruction,
          adds, /*scaleInputD=*/Value(), /*disableOutputLane=*/Value());
      return;
    }
    auto getScale = [&](const Scales &scales, unsigned row) {
      return toTensorPointer(
          emit, emit.add(scales.start,
                         emit.i32(batch * scales.batchColumns +
                                  getScaleColumn(scales.rows, row / kTensorRows,
                                                 choice.chunk))));
    };
    NVVM::Tcgen05MMABlockScaleOp::create(
        emit.builder, emit.loc, getScaledKind(*atom), NVVM::CTAGroupKind::CTA_1,
        atom->blockSize == 16 ? NVVM::Tcgen05MMABlockScale::BLOCK16
                              : NVVM::Tcgen05MMABlockScale::BLOCK32,
        NVVM::Tcgen05MMACollectorOp::DISCARD, acc, lhsDescriptor, rhsDescriptor,
        instruction, adds, getScale(lhsScales, row),
        getScale(rhsScales, column));
  };
  byOneThread([&] {
    for (unsigned batch = 0; batch < batches; ++batch)
      for (unsigned row = 0; row < m; row += kTensorRows)
        for (unsigned column = 0; column < n; column += columns)
          for (unsigned step = 0; step < steps; ++step)
            issue(batch, row, column, step);
  });
  return success();
}

LogicalResult Distributor::distributeCommit(CommitMultipliesOp op) {
  if (failed(expect(op, Capability::Tcgen05)))
    return failure();
  Value address = getBarrier(op.getBarriers(), op.getSlot());
  byOneThread([&] {
    NVVM::Tcgen05CommitOp::create(emit.builder, emit.loc, address,
                                  /*multicastMask=*/Value());
  });
  return success();
}
