//===- Distributor.h - Tiles to the code of one thread ----------*- C++ -*-===//
//
// Translates one kernel. Tiles become fragments, memrefs become a pointer with
// sizes and strides, everything else is cloned. The translation is a walk in
// program order with three maps; there are no patterns, so what an operation
// becomes stands in one function.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_CONVERSION_TILETONVVM_DISTRIBUTOR_H
#define TILE_LIB_CONVERSION_TILETONVVM_DISTRIBUTOR_H

#include "../Emitter.h"
#include "BufferAccess.h"
#include "CarriedValues.h"
#include "FormatConversion.h"
#include "Fragment.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Target/TargetInfo.h"
#include "tile/Transforms/Divisibility.h"
#include "tile/Transforms/MmaPlan.h"
#include "tile/Transforms/TensorCopies.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <string>
#include <vector>

namespace tile {

/// Whether `value` is distributed over the threads of the block.
inline bool isTileValue(mlir::Value value) {
  return mlir::isa<mlir::RankedTensorType>(value.getType());
}

/// The type of the elements of a tile, or of a scalar.
inline mlir::Type getElementType(mlir::Value value) {
  return mlir::getElementTypeOrSelf(value.getType());
}

/// A memref in one thread. Sizes and strides are i64, in elements.
struct MemRefValue {
  mlir::MemRefType type;
  mlir::Value pointer; ///< !llvm.ptr<1>
  mlir::Value offset;  ///< i64, elements; null for zero
  llvm::SmallVector<mlir::Value> sizes, strides;
  MemRefDivisors divisors;
};

/// The coordinates that a layout gives the elements of one thread: per
/// dimension a part from the lane and warp, and a constant per register.
class Coordinates {
public:
  Coordinates(Emitter &emit, const LinearLayout &layout, mlir::Value lane,
              mlir::Value warp);
  /// The i32 coordinate of register `r` in dimension `dim`.
  mlir::Value get(Emitter &emit, unsigned dim, unsigned r) const;
  mlir::Value getThreadPart(unsigned dim) const { return threadParts[dim]; }
  uint32_t getRegisterPart(unsigned dim, unsigned r) const;
  /// Whether thread and register parts never share a bit, so that they add.
  bool isDisjoint(unsigned dim) const { return disjoint[dim]; }

private:
  LinearLayout layout;
  llvm::SmallVector<mlir::Value> threadParts;
  llvm::SmallVector<bool> disjoint;
};

/// Emits the xor of the columns of `axis` of a layout that are selected by the
/// bits of `index`, restricted to `bits` bits from `first`.
mlir::Value emitLinear(Emitter &emit, llvm::ArrayRef<uint32_t> columns,
                       mlir::Value index, unsigned first, unsigned bits);

/// The i32 address of a column of tensor memory as a pointer.
mlir::Value toTensorPointer(Emitter &emit, mlir::Value address);

class Distributor {
public:
  struct Options {
    const TargetInfo *target;
    bool hardwareFp4; ///< Use `cvt` to f4E2M1FN.
    DecodeOptions decode;
  };

  Distributor(mlir::func::FuncOp kernel, const Options &options);

  /// Emits the thread's function before the kernel; the kernel is left alone.
  mlir::FailureOr<mlir::LLVM::LLVMFuncOp> run();

  /// Bytes of dynamic shared memory that the kernel needs, and where they
  /// begin.
  unsigned getSharedBytes() const { return sharedBytes; }
  unsigned getSharedAlignment() const { return sharedAlignment; }
  unsigned getNumThreads() const { return numWarps * 32; }
  /// What the PTX says of each tensor map that the function `entry` takes.
  llvm::SmallVector<std::string> printTensorMaps(llvm::StringRef entry) const;

private:
  //===--- Distribute.cpp: functions, control flow, constants ------------===//
  void emitArguments(mlir::LLVM::LLVMFuncOp function);
  mlir::LogicalResult distributeBlock(mlir::Block &block);
  mlir::LogicalResult distribute(mlir::Operation *op);
  mlir::LogicalResult distributeFor(mlir::scf::ForOp op);
  mlir::LogicalResult distributeIf(mlir::scf::IfOp op);
  mlir::LogicalResult distributeWhile(mlir::scf::WhileOp op);
  mlir::LogicalResult distributeScalar(mlir::Operation *op);
  mlir::LogicalResult distributeConstant(mlir::arith::ConstantOp op);
  mlir::LogicalResult distributeReduce(ReduceOp op);
  mlir::LogicalResult distributeExtract(mlir::Operation *op);
  void distributeSplat(mlir::Value scalar, mlir::Value result);
  void distributeIota(IotaOp op);

  //===--- DistributeElementwise.cpp -------------------------------------===//
  mlir::LogicalResult distributeElementwise(mlir::Operation *op);
  mlir::LogicalResult distributeFToF(FToFOp op);

  //===--- DistributeMemory.cpp ------------------------------------------===//
  mlir::LogicalResult distributeSubView(mlir::memref::SubViewOp op);
  mlir::LogicalResult distributeMemRefLoad(mlir::memref::LoadOp op);
  mlir::LogicalResult distributeLoad(LoadOp op);
  mlir::LogicalResult distributeStore(StoreOp op);
  mlir::LogicalResult distributeGather(GatherOp op);
  mlir::LogicalResult distributeScatter(ScatterOp op);
  /// What one thread accesses at once: elements side by side in its registers
  /// and in memory.
  struct Pieces {
    unsigned vector = 1; ///< Elements per access; a power of two.
    unsigned run = 1;    ///< Elements that the layout alone would allow.
  };
  /// The widest pieces, up to 16 bytes, in which `layout` can access `memref`.
  static Pieces findPieces(const MemRefValue &memref,
                           const LinearLayout &layout);
  /// How the threads of a block access a tile in global memory.
  struct TileAccess {
    const MemRefValue *memref;
    unsigned vector; ///< Elements per access; a power of two.
    unsigned run;    ///< Consecutive elements that a lane holds.
    /// The part of the offset that all registers share (i64), and what a
    /// register adds.
    mlir::Value threadOffset;
    std::function<mlir::Value(unsigned r)> offset;
    /// True where the access may happen at all: the same in the whole block.
    /// Null for always.
    mlir::Value uniform;
    /// Bounds of one access; null for always.
    std::function<mlir::Value(unsigned r)> inBounds;
    bool needsClamp; ///< Whether `inBounds` is ever non-null.
  };
  TileAccess analyzeAccess(const MemRefValue &memref, mlir::ValueRange indices,
                           const LinearLayout &layout);
  struct ElementAccess;
  ElementAccess analyzeElements(const MemRefValue &memref,
                                mlir::ValueRange indices, mlir::Value mask);
  mlir::Value elementPointer(const MemRefValue &memref, mlir::Value offset);
  /// Predicate, or null for always: true in one thread for each element of a
  /// layout that replicates over lanes or warps.
  mlir::Value emitOwner(const LinearLayout &layout);

  //===--- DistributeBuffers.cpp -----------------------------------------===//
  /// A buffer of shared memory in one thread.
  struct SharedBuffer {
    unsigned base = 0;      ///< Bytes from the start of shared memory.
    unsigned slotBytes = 0; ///< From one slot of the buffer to the next.
    /// From a byte of a row-major slot to where it is.
    LinearLayout swizzle;
    /// How the block's threads divide the copies of a slot, where the buffer's
    /// type does not dictate its arrangement.
    LinearLayout copyLayout;
  };
  /// Gives every buffer of the kernel its place.
  mlir::LogicalResult placeBuffers();
  mlir::LogicalResult distributeRead(ReadBufferOp op);
  /// Where the slot begins.
  SlotPlace getSlot(const SharedBuffer &buffer, mlir::Value slot);
  LinearLayout chooseBufferSwizzle(AllocBufferOp op,
                                   const LinearLayout &copyLayout);

  /// Writes zeros to buffers that ask for it, before anything else happens.
  void clearBuffers();

  //===--- DistributeCopies.cpp ------------------------------------------===//
  mlir::LogicalResult distributeCopy(CopyAsyncOp op);
  /// The number (i64) of tiles that a copy's predicate lets a loop reach along
  /// its moving dimension; null where it says something else.
  mlir::Value getLimit(CopyAsyncOp op);
  /// Lets `loop` carry the address of a copy in it, `pointer`, which is `first`
  /// plus what the moving dimension adds, where that grows evenly.
  void carryPointer(CopyAsyncOp op, mlir::scf::ForOp loop, mlir::Value pointer,
                    mlir::Value first, unsigned bytes);

  //===--- DistributePlacedCopies.cpp ------------------------------------===//
  /// How the threads divide a copy, and the elements that they copy at once.
  struct CopyPlan {
    LinearLayout layout;
    unsigned piece;
  };
  /// Pieces of fewer bytes go through registers.
  static constexpr unsigned kFewestCopyBytes = 4;
  CopyPlan planCopy(BufferType type, const SharedBuffer &buffer,
                    const MemRefValue &memref);
  /// Copies by loads and stores, which are done when it returns.
  void copyThroughRegisters(CopyAsyncOp op, const MemRefValue &memref,
                            const SharedBuffer &buffer,
                            const LinearLayout &layout);

  //===--- DistributeBarriers.cpp ----------------------------------------===//
  /// Gives barriers, and what else outlives scratch memory, places in the
  /// control area of shared memory.
  void placeBarriers();
  /// Says where the control area lies, when all else has its place.
  mlir::LogicalResult finishControl();
  /// The address of a byte of the control area.
  mlir::Value getControl(unsigned offset);
  /// The address of one of several barriers.
  mlir::Value getBarrier(mlir::Value barriers, mlir::Value slot);
  mlir::LogicalResult distributeInit(InitBarriersOp op);
  mlir::LogicalResult distributeInval(InvalBarriersOp op);
  mlir::LogicalResult distributeWait(WaitBarrierOp op);
  mlir::LogicalResult distributeArrive(ArriveCopiesOp op);
  mlir::LogicalResult distributeExpect(ExpectBytesOp op);
  mlir::LogicalResult distributeRoles(WarpRolesOp op);
  /// Lets one thread of the warp for which `isWarp` holds run `block`.
  mlir::LogicalResult distributeElected(mlir::Value isWarp, mlir::Block &block);
  /// Runs `body` in one thread of those that come by: the block's, or the
  /// role's.
  void byOneThread(llvm::function_ref<void()> body);
  /// Lets asynchronous copies and the tensor core see what this thread has
  /// written to shared memory.
  void fenceAsyncProxy();
  /// Checks that the target has what `op` needs.
  mlir::LogicalResult expect(mlir::Operation *op, Capability capability);

  //===--- DistributeTensorMemory.cpp ------------------------------------===//
  /// Gives everything in tensor memory its columns.
  mlir::LogicalResult placeTensorMemory();
  /// Clears buffers and takes tensor memory, when the kernel starts, and gives
  /// the latter back.
  void startTensorMemory();
  void freeTensorMemory();
  /// The i32 address of the first column of a slot; null stands for slot 0.
  mlir::Value getColumns(mlir::Value memory, mlir::Value slot);
  mlir::LogicalResult distributeTensorLoad(LoadTensorMemoryOp op);
  mlir::LogicalResult distributeTensorStore(StoreTensorMemoryOp op);

  //===--- DistributeTensorMultiplies.cpp --------------------------------===//
  mlir::LogicalResult distributeCopyScales(CopyScalesOp op);
  mlir::LogicalResult distributeMultiply(MultiplyAsyncOp op);
  mlir::LogicalResult distributeCommit(CommitMultipliesOp op);
  /// The lower half of the descriptor of a slot of shared memory (i32), and
  /// what is added to it.
  mlir::Value getDescribedStart(mlir::Value buffer, mlir::Value slot);

  //===--- DistributeTensorCopies.cpp ------------------------------------===//
  /// A tensor map that the function takes.
  struct TensorMap {
    unsigned argument; ///< Of the kernel.
    TensorCopyPlan plan;
    unsigned parameter = 0;
    mlir::Value pointer; ///< !llvm.ptr
  };
  struct TensorCopy {
    unsigned map = 0; ///< In `tensorMaps`.
    TensorCopyPlan plan;
  };
  /// Decides which tensor maps the kernel's copies need.
  mlir::LogicalResult planTensorCopies();
  /// Appends the types of the parameters that are tensor maps.
  void addTensorMapTypes(llvm::SmallVectorImpl<mlir::Type> &parameters);
  /// Says of these parameters that they are tensor maps, and fetches them.
  void emitTensorMaps(mlir::LLVM::LLVMFuncOp function);
  mlir::LogicalResult distributeCopy(CopyTensorOp op);

  //===--- DistributeMma.cpp ---------------------------------------------===//
  mlir::LogicalResult distributeMma(const MmaPlan &plan, mlir::Value lhs,
                                    mlir::Value rhs, mlir::Value acc,
                                    mlir::Value lhsScale, mlir::Value rhsScale,
                                    mlir::Value result);

  //===--- DistributeLayout.cpp ------------------------------------------===//
  mlir::LogicalResult distributeConvertLayout(ConvertLayoutOp op);
  Fragment convertInRegisters(const Fragment &source,
                              const LinearLayout &layout,
                              const LinearLayout &from);
  Fragment convertByShuffles(const Fragment &source, const LinearLayout &layout,
                             const LinearLayout &from);
  mlir::FailureOr<Fragment> convertThroughShared(mlir::Operation *op,
                                                 const Fragment &source,
                                                 const LinearLayout &layout);
  /// Where `bytes` of scratch memory for `op` begin: behind buffers that may
  /// hold data meanwhile.
  unsigned getScratchStart(mlir::Operation *op, uint64_t bytes);
  /// The dynamic shared memory of the block, at least `bytes` of it.
  mlir::FailureOr<mlir::Value> getScratch(mlir::Operation *op, uint64_t bytes);
  void barrier();

  //===--- order of global memory ----------------------------------------===//
  // A tile program reads and writes memory in program order, but its elements
  // belong to other threads in every operation. A barrier stands between two
  // operations that might touch the same element, at least one of them a
  // write. Arguments may share memory.
  void beforeRead();
  void beforeWrite();
  /// What happened since the last barrier, on any path here.
  struct Pending {
    bool reads = false, writes = false;
    Pending operator|(Pending other) const {
      return {reads || other.reads, writes || other.writes};
    }
  };
  /// What the operations in `region` do to memory.
  static Pending getMemoryUse(mlir::Region &region);
  Pending pending;

  mlir::Value shuffle(mlir::Value value, mlir::Value lane);
  mlir::Value shuffleXor(mlir::Value value, unsigned mask);

  //===--- maps ----------------------------------------------------------===//
  LinearLayout getLayout(mlir::Value value);
  const Fragment &getFragment(mlir::Value value) {
    return fragments.find(value)->second;
  }
  void setFragment(mlir::Value value, Fragment fragment);
  /// Wraps values of the thread as the fragment of `value`, whose type says the
  /// layout.
  void setFragment(mlir::Value value, mlir::ValueRange values);
  /// Registers that hold an element of their own; the others are copies of
  /// the register with those bits clear.
  unsigned getFreeRegisters(const LinearLayout &layout);
  /// Applies `make` to each register that holds an element of its own and
  /// copies the results to the others.
  llvm::SmallVector<mlir::Value>
  forEachRegister(const LinearLayout &layout,
                  llvm::function_ref<mlir::Value(unsigned)> make);
  /// The thread's values of `value`, as loops carry them.
  void flatten(mlir::Value value, llvm::SmallVectorImpl<mlir::Value> &out);
  void flattenTypes(mlir::Value value, llvm::SmallVectorImpl<mlir::Type> &out);
  /// Takes the values of `value` from the front of `values`.
  void unflatten(mlir::Value value, mlir::ValueRange &values);
  mlir::Value getIndexAsI64(mlir::Value value);

  mlir::func::FuncOp kernel;
  Options options;
  unsigned numWarps;
  Emitter emit;
  mlir::IRMapping scalars;
  llvm::DenseMap<mlir::Value, Fragment> fragments;
  llvm::DenseMap<mlir::Value, MemRefValue> memrefs;
  /// i32; `warp` counts from the first of the role, and so does `numWarps`.
  mlir::Value lane, warp;
  /// Where one thread does everything.
  bool isOneThread = false;
  llvm::DenseMap<mlir::Value, SharedBuffer> buffers;
  llvm::DenseSet<mlir::Value> reportedCopies;
  CarriedValues carriedValues;
  unsigned bufferBytes = 0; ///< Shared memory that buffers take, from 0.
  /// The part of it, from 0, that nobody expects to keep its zeros.
  unsigned unclearedBytes = 0;
  unsigned sharedBytes = 0;
  unsigned sharedAlignment = BufferType::kSlotAlignment;
  /// The control area lies behind all else, where scratch memory never is. It
  /// is known at the end: until then `controlPlace` is a constant to be set.
  mlir::LLVM::ConstantOp controlPlace;
  mlir::Value control;
  unsigned controlBytes = 0;
  llvm::DenseMap<mlir::Value, unsigned> barrierOffsets;
  /// In tensor memory: the first column of each allocation, their number in
  /// all, and the address (i32) of the first.
  llvm::DenseMap<mlir::Value, unsigned> firstColumns;
  unsigned numColumns = 0;
  unsigned columnsOffset = 0; ///< Of the word with the address, in `control`.
  mlir::Value tensorMemory;
  /// What descriptors say of where shared memory begins (i32).
  mlir::Value sharedStart;
  std::vector<TensorMap> tensorMaps;
  llvm::DenseMap<mlir::Operation *, TensorCopy> tensorCopies;
  /// Whether a thread may still read scratch memory, which buffers share.
  bool scratchInUse = false;
};

/// The name of the dynamic shared memory of a module.
constexpr llvm::StringLiteral kSharedMemoryName = "tile_shared_memory";

} // namespace tile

#endif // TILE_LIB_CONVERSION_TILETONVVM_DISTRIBUTOR_H
