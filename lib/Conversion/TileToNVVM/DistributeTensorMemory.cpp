//===- DistributeTensorMemory.cpp - Columns of tensor memory --------------===//
//
// A kernel takes all of its tensor memory when it starts and gives it back when
// it ends: sums first, then scales, side by side. Warp w of each four reads and
// writes the lanes 32 * w and following, so a thread holds columns of one row.
// Sums of fewer than 128 rows leave lanes without a row; they go through shared
// memory to threads that all have something to do.
//
//===----------------------------------------------------------------------===//

#include "Distributor.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Remarks.h"
#include "tile/Target/TensorOperands.h"
#include "tile/Transforms/TileLayouts.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

/// Fewest columns that can be allocated.
static constexpr unsigned kFewestColumns = 32;
/// Most registers of one access: more would all be in use at once.
static constexpr unsigned kMostRegisters = 64;

//===----------------------------------------------------------------------===//
// Allocation
//===----------------------------------------------------------------------===//

LogicalResult Distributor::placeTensorMemory() {
  SmallVector<AllocTensorMemoryOp> allocations;
  kernel.walk([&](AllocTensorMemoryOp op) { allocations.push_back(op); });
  if (allocations.empty())
    return success();
  if (failed(expect(allocations.front(), Capability::Tcgen05)))
    return failure();
  uint64_t end = 0;
  for (bool scales : {false, true})
    for (AllocTensorMemoryOp op : allocations) {
      TensorMemoryType type = op.getResult().getType();
      if (type.holdsScales() != scales)
        continue;
      firstColumns[op.getResult()] = static_cast<unsigned>(end);
      end += type.getNumSlots() * type.getSlotColumns();
    }
  if (end > TensorMemoryType::kColumns)
    return allocations.back().emitOpError("needs ")
           << end << " columns of tensor memory for all of the kernel, but a "
           << "block has " << TensorMemoryType::kColumns;
  numColumns = std::max<unsigned>(kFewestColumns, llvm::PowerOf2Ceil(end));
  remark::analysis(kernel.getLoc(), remark::RemarkOpts::name("tensor-memory")
                                        .category("tile-distribute")
                                        .function(kernel.getName()))
      << remark::metric("columns", numColumns);
  return success();
}

Value tile::toTensorPointer(Emitter &emit, Value address) {
  return LLVM::IntToPtrOp::create(
      emit.builder, emit.loc,
      LLVM::LLVMPointerType::get(emit.builder.getContext(), 6), address);
}

void Distributor::startTensorMemory() {
  bool clears = false;
  kernel.walk([&](AllocBufferOp op) { clears |= op.getCleared(); });
  if (clears)
    clearBuffers();
  if (!numColumns) {
    if (clears)
      barrier();
    return;
  }
  emit.guarded(emit.isZero(warp), [&] {
    NVVM::Tcgen05AllocOp::create(emit.builder, emit.loc,
                                 getControl(columnsOffset),
                                 emit.i32(numColumns));
    NVVM::Tcgen05RelinquishAllocPermitOp::create(emit.builder, emit.loc);
  });
  barrier();
  tensorMemory = LLVM::LoadOp::create(emit.builder, emit.loc, emit.i32(),
                                      getControl(columnsOffset), 4);
  Value memory = LLVM::AddressOfOp::create(
      emit.builder, emit.loc,
      LLVM::LLVMPointerType::get(kernel.getContext(), 3), kSharedMemoryName);
  sharedStart = emit.lshr(
      LLVM::PtrToIntOp::create(emit.builder, emit.loc, emit.i32(), memory), 4);
}

void Distributor::freeTensorMemory() {
  if (!numColumns)
    return;
  barrier();
  emit.guarded(emit.isZero(warp), [&] {
    NVVM::Tcgen05DeallocOp::create(emit.builder, emit.loc,
                                   toTensorPointer(emit, tensorMemory),
                                   emit.i32(numColumns));
  });
}

Value Distributor::getColumns(Value memory, Value slot) {
  auto type = cast<TensorMemoryType>(memory.getType());
  Value address = emit.add(tensorMemory, emit.i32(firstColumns.lookup(memory)));
  if (!slot)
    return address;
  Value number = emit.builder.createOrFold<arith::IndexCastOp>(
      emit.loc, emit.i32(), scalars.lookup(slot));
  return emit.add(address, emit.mul(number, emit.i32(type.getSlotColumns())));
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

namespace {

/// Where the registers of a thread lie in tensor memory.
struct SumAccess {
  LinearLayout layout; ///< As the instructions want it.
  unsigned run;        ///< Registers of one access.
  Value first;         ///< Address (i32) of register 0.
  ArrayRef<int64_t> slot;

  /// Columns from register 0 to register `r`.
  uint32_t getOffset(uint32_t place) const {
    const Space &tile = layout.getCodomain();
    const unsigned rank = slot.size();
    auto at = [&](unsigned dim) {
      return tile.coordinate(place, "d" + std::to_string(dim));
    };
    return getSumCell(slot[rank - 2], slot[rank - 1], rank == 3 ? at(0) : 0,
                      at(rank - 2), at(rank - 1));
  }
};

} // namespace

/// Plans the access to the sums of a tile; `start` is the address of the first.
static SumAccess planAccess(Emitter &emit, TensorMemoryType memory,
                            ArrayRef<int64_t> shape, unsigned numWarps,
                            Value start, Value warp) {
  SumAccess access;
  access.layout = getTensorMemoryLayout(shape, numWarps);
  access.slot = memory.getTileShape();
  access.run = 1;
  for (uint32_t place : access.layout.getColumns("register")) {
    if (access.getOffset(place) != access.run || access.run == kMostRegisters)
      break;
    access.run *= 2;
  }
  // Lanes are those of the warp even where they have no row.
  SmallVector<uint32_t> warps;
  for (auto [bit, column] : llvm::enumerate(access.layout.getColumns("warp")))
    warps.push_back(bit < 2 ? uint32_t(32) << bit << 16
                            : access.getOffset(column));
  access.first = emit.add(start, emitLinear(emit, warps, warp, 0, 32));
  return access;
}

/// `$first, …` of `count` operands of an assembly text.
static std::string listOperands(unsigned first, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return text;
}

/// `=r,=r…`
static std::string repeat(StringRef constraint, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i)
    text += (i ? "," : "") + constraint.str();
  return text;
}

static LLVM::InlineAsmOp emitAssembly(Emitter &emit, Type result,
                                      ValueRange operands, StringRef text,
                                      StringRef constraints) {
  return LLVM::InlineAsmOp::create(
      emit.builder, emit.loc, result ? TypeRange(result) : TypeRange(),
      operands, text, constraints, /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr(), ArrayAttr());
}

/// Loads `count` columns from `address` on as f32. Load and wait are one text:
/// the back end does not know that the registers are not there before.
static void emitLoad(Emitter &emit, Value address, unsigned count,
                     MutableArrayRef<Value> values) {
  Type result = count == 1 ? emit.i32()
                           : LLVM::LLVMStructType::getLiteral(
                                 emit.builder.getContext(),
                                 SmallVector<Type>(count, emit.i32()));
  std::string text = "tcgen05.ld.sync.aligned.32x32b.x" +
                     std::to_string(count) + ".b32 {" + listOperands(0, count) +
                     "}, [$" + std::to_string(count) +
                     "]; tcgen05.wait::ld.sync.aligned;";
  auto assembly = emitAssembly(emit, result, address, text,
                               repeat("=r", count) + ",r,~{memory}");
  for (unsigned i = 0; i < count; ++i) {
    Value word = assembly.getResult(0);
    if (count > 1)
      word = LLVM::ExtractValueOp::create(emit.builder, emit.loc, word, i);
    values[i] = emit.bitcast(emit.f32(), word);
  }
}

/// Stores f32 values to the columns from `address` on.
static void emitStore(Emitter &emit, Value address, ArrayRef<Value> values) {
  const unsigned count = values.size();
  SmallVector<Value> operands = {address};
  for (Value value : values)
    operands.push_back(emit.bitcast(emit.i32(), value));
  emitAssembly(emit, Type(), operands,
               "tcgen05.st.sync.aligned.32x32b.x" + std::to_string(count) +
                   ".b32 [$0], {" + listOperands(1, count) + "};",
               repeat("r", count + 1) + ",~{memory}");
}

/// Calls `body` with the first register of each access to registers with an
/// element of their own, and with its address.
static void forEachAccess(Emitter &emit, const SumAccess &access,
                          llvm::function_ref<void(unsigned, Value)> body) {
  const unsigned registers = 1u << access.layout.getDomain().bitsOf("register");
  for (unsigned r = 0; r < registers; r += access.run)
    body(r,
         emit.add(access.first, emit.i32(access.getOffset(access.layout(r)))));
}

LogicalResult Distributor::distributeTensorLoad(LoadTensorMemoryOp op) {
  if (failed(expect(op, Capability::Tcgen05)))
    return failure();
  if (numWarps < 4)
    return op.emitOpError("expects at least four warps, but got ") << numWarps;
  TensorMemoryType memory = op.getMemory().getType();
  ArrayRef<int64_t> slot = memory.getTileShape();
  ArrayRef<int64_t> shape = op.getType().getShape();
  const unsigned rank = shape.size();

  Value start = getColumns(op.getMemory(), Value());
  for (auto [dim, index] : llvm::enumerate(op.getIndices())) {
    // Columns from one part to the next.
    int64_t step = shape[dim];
    if (dim + 2 == rank) {
      step = shape[dim] / TensorMemoryType::kLanes * slot[rank - 1];
      if (!step && getConstantIntValue(index) != 0)
        return op.emitOpError("expects the first of parts with fewer than ")
               << TensorMemoryType::kLanes << " rows";
    } else if (dim + 2 < rank) {
      step = shape[dim] * slot[rank - 2] / TensorMemoryType::kLanes *
             slot[rank - 1];
    }
    if (!step)
      continue;
    Value number = emit.builder.createOrFold<arith::IndexCastOp>(
        emit.loc, emit.i32(), scalars.lookup(index));
    start = emit.add(start, emit.mul(number, emit.i32(step)));
  }
  SumAccess access = planAccess(emit, memory, shape, numWarps, start, warp);
  const unsigned registers = 1u << access.layout.getDomain().bitsOf("register");
  SmallVector<Value> values(registers);
  auto load = [&] {
    forEachAccess(emit, access, [&](unsigned r, Value address) {
      emitLoad(emit, address, access.run,
               MutableArrayRef(values).slice(r, access.run));
    });
  };
  if (Value predicate = op.getPredicate()) {
    auto branch = scf::IfOp::create(
        emit.builder, emit.loc, SmallVector<Type>(registers, emit.f32()),
        scalars.lookup(predicate), /*withElse=*/true);
    OpBuilder::InsertionGuard guard(emit.builder);
    emit.builder.setInsertionPointToStart(branch.thenBlock());
    load();
    scf::YieldOp::create(emit.builder, emit.loc, values);
    emit.builder.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(emit.builder, emit.loc,
                         SmallVector<Value>(registers, emit.f32(0)));
    values.assign(branch.result_begin(), branch.result_end());
  } else {
    load();
  }
  Fragment loaded{emit.f32(), access.layout, std::move(values)};
  LinearLayout layout = getLayout(op);
  // Lanes without a row hold something else than the replicas of one.
  const bool hasAllRows = shape[rank - 2] >= TensorMemoryType::kLanes;
  if (hasAllRows && layout == access.layout)
    return setFragment(op, std::move(loaded)), success();
  FailureOr<Fragment> moved = convertThroughShared(op, loaded, layout);
  if (failed(moved))
    return failure();
  return setFragment(op, std::move(*moved)), success();
}

LogicalResult Distributor::distributeTensorStore(StoreTensorMemoryOp op) {
  if (failed(expect(op, Capability::Tcgen05)))
    return failure();
  if (numWarps < 4)
    return op.emitOpError("expects at least four warps, but got ") << numWarps;
  TensorMemoryType memory = op.getMemory().getType();
  const Fragment &value = getFragment(op.getValue());
  SumAccess access = planAccess(
      emit, memory, cast<RankedTensorType>(op.getValue().getType()).getShape(),
      numWarps, getColumns(op.getMemory(), Value()), warp);
  if (value.layout != access.layout)
    return op.emitOpError("expects a value with the layout of tensor memory; "
                          "run tile-assign-layouts first");
  // Of warps that have the same columns, the first one stores them. The two
  // lowest bits of the number choose lanes.
  uint32_t same = 0;
  for (auto [bit, column] : llvm::enumerate(access.layout.getColumns("warp")))
    if (bit >= 2 && !column)
      same |= uint32_t(1) << bit;
  Value stores =
      same ? emit.isZero(emit.bitAnd(warp, emit.i32(same))) : Value();
  emit.guarded(stores, [&] {
    forEachAccess(emit, access, [&](unsigned r, Value address) {
      emitStore(emit, address, ArrayRef(value.values).slice(r, access.run));
    });
  });
  NVVM::Tcgen05WaitOp::create(emit.builder, emit.loc,
                              NVVM::Tcgen05WaitKind::STORE);
  NVVM::Tcgen05FenceOp::create(emit.builder, emit.loc,
                               NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC);
  return success();
}
