//===- DistributeCopies.cpp - Copies to shared memory ---------------------===//
//
// Copies are `cp.async`, the widest that the memref's promises allow.
//
//===----------------------------------------------------------------------===//

#include "BufferAccess.h"
#include "Distributor.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

LogicalResult Distributor::distributeCopy(CopyAsyncOp op) {
  auto found = memrefs.find(op.getSource());
  if (found == memrefs.end())
    return op.emitOpError("expects a kernel argument or a view of one");
  beforeRead();
  if (std::exchange(scratchInUse, false))
    barrier();
  const MemRefValue &memref = found->second;
  const SharedBuffer &buffer = buffers.find(op.getBuffer())->second;
  const LinearLayout &layout = buffer.copyLayout;
  BufferType type = op.getBuffer().getType();
  const unsigned rank = memref.type.getRank();
  const unsigned bytes = getBytes(type.getElementType());
  const unsigned piece = findPieces(memref, layout).vector;
  if (piece * bytes < 4)
    return op.emitOpError("expects extents, strides and offsets that are "
                          "multiples of ")
           << 4 / bytes << " elements";
  // Said once of the copies of all stages.
  if (reportedCopies.insert(op.getBuffer()).second)
    remark::analysis(op.getLoc(), remark::RemarkOpts::name("copy-async")
                                      .category("tile-distribute")
                                      .function(kernel.getName()))
        << remark::metric("bytes", piece * bytes);

  // What does not change from one iteration to the next is computed once, in
  // front of the loop.
  auto loop =
      dyn_cast<scf::ForOp>(emit.builder.getInsertionBlock()->getParentOp());
  // A view that is made in the loop changes with it.
  SmallVector<Value> parts = {memref.pointer};
  if (memref.offset)
    parts.push_back(memref.offset);
  llvm::append_range(parts, memref.sizes);
  llvm::append_range(parts, memref.strides);
  if (loop && !llvm::all_of(parts, [&](Value part) {
        return loop.isDefinedOutsideOfLoop(part);
      }))
    loop = nullptr;
  auto outside = [&](llvm::function_ref<void()> body) {
    OpBuilder::InsertionGuard guard(emit.builder);
    if (loop)
      emit.builder.setInsertionPoint(loop);
    body();
  };
  auto isFixed = [&](Value value) {
    return !loop || loop.isDefinedOutsideOfLoop(value);
  };

  // The position of the tile, by dimension; the fixed ones are part of each
  // thread's first address.
  SmallVector<Value> starts(rank);
  SmallVector<bool> fixed(rank), checked(rank);
  Value movingOffset, movingInside, fixedInside;
  auto place = [&](unsigned dim, Value &inside) {
    Value index = getIndexAsI64(op.getIndices()[dim]);
    int64_t extent = type.getTileShape()[dim];
    starts[dim] = emit.mul(index, emit.i64(extent));
    // The index is compared, not the position, which may not fit in 64 bits.
    Value count = memref.sizes[dim];
    if (extent > 1)
      count = emit.lshr(emit.add(count, emit.i64(extent - 1)),
                        llvm::Log2_64(extent));
    inside = emit.both(inside,
                       emit.compare(arith::CmpIPredicate::ult, index, count));
  };
  for (unsigned dim = 0; dim < rank; ++dim) {
    bool moves =
        op.getMoving() && llvm::is_contained(*op.getMoving(), int64_t(dim));
    fixed[dim] = !moves && isFixed(scalars.lookup(op.getIndices()[dim]));
    checked[dim] =
        !divides(type.getTileShape()[dim], memref.divisors.sizes[dim]);
    if (fixed[dim]) {
      outside([&] { place(dim, fixedInside); });
      continue;
    }
    place(dim, movingInside);
    Value moved = emit.mul(starts[dim], memref.strides[dim]);
    movingOffset = movingOffset ? emit.add(movingOffset, moved) : moved;
  }

  std::optional<Coordinates> coordinates;
  std::optional<SlotAddresses> addresses;
  LinearLayout places = getByteLayout(layout, type);
  uint32_t free = getFreeRegisters(layout);
  Value owner, first;
  Value slot = getSlot(buffer, op.getSlot());
  outside([&] {
    coordinates.emplace(emit, layout, lane, warp);
    owner = emitOwner(layout);
    Value offset;
    for (unsigned dim = 0; dim < rank; ++dim) {
      Value position = emit.zext(emit.i64(), coordinates->get(emit, dim, 0));
      if (fixed[dim])
        position = emit.add(starts[dim], position);
      Value moved = emit.mul(position, memref.strides[dim]);
      offset = offset ? emit.add(offset, moved) : moved;
    }
    first = elementPointer(memref, offset);
    addresses.emplace(emit, slot, places.getColumns("lane"),
                      places.getColumns("warp"), buffer.swizzle, lane, warp);
  });
  auto move = [&](Value pointer, Value elements) -> Value {
    return LLVM::GEPOp::create(emit.builder, emit.loc, pointer.getType(),
                               emit.integer(8 * bytes), pointer,
                               ArrayRef<LLVM::GEPArg>{elements});
  };
  /// Whether coordinate `dim` of register `r` is inside.
  auto isInside = [&](unsigned dim, unsigned r) {
    Value position = emit.add(
        starts[dim], emit.zext(emit.i64(), coordinates->get(emit, dim, r)));
    return emit.compare(arith::CmpIPredicate::ult, position, memref.sizes[dim]);
  };

  // By register: the bytes that the fixed dimensions let it fetch (null for
  // all), and by register bit the step of the address.
  const unsigned registers = 1u << layout.getDomain().bitsOf("register");
  DenseMap<unsigned, Value> fixedSizes, steps;
  outside([&] {
    for (unsigned bit = piece; bit < registers; bit *= 2) {
      Value &step = steps[bit];
      for (unsigned dim = 0; dim < rank; ++dim)
        if (uint32_t part = coordinates->getRegisterPart(dim, bit)) {
          Value moved = emit.mul(emit.i64(part), memref.strides[dim]);
          step = step ? emit.add(step, moved) : moved;
        }
    }
    for (unsigned r = 0; r < registers; r += piece) {
      if (r & free)
        continue;
      Value inside = fixedInside;
      for (unsigned dim = 0; dim < rank; ++dim)
        if (fixed[dim] && checked[dim])
          inside = emit.both(inside, isInside(dim, r));
      if (inside)
        fixedSizes[r] =
            emit.select(inside, emit.i32(piece * bytes), emit.i32(0));
    }
  });

  Value predicate =
      op.getPredicate() ? scalars.lookup(op.getPredicate()) : Value();
  emit.guarded(emit.both(predicate, owner), [&] {
    // Each further address is one step from an earlier one.
    DenseMap<unsigned, Value> pointers;
    DenseMap<uint32_t, Value> movingChecks;
    for (unsigned r = 0; r < registers; r += piece) {
      if (r & free)
        continue;
      unsigned rest = r & (r - 1);
      Value pointer;
      if (r == 0)
        pointer = movingOffset ? move(first, movingOffset) : first;
      else
        pointer = steps[r ^ rest] ? move(pointers[rest], steps[r ^ rest])
                                  : pointers[rest];
      pointers[r] = pointer;
      // Outside elements are zero: nothing is fetched, and the rest of the
      // piece is filled.
      Value size = fixedSizes.lookup(r);
      Value inside = movingInside;
      for (unsigned dim = 0; dim < rank; ++dim) {
        if (fixed[dim] || !checked[dim])
          continue;
        uint32_t part = coordinates->getRegisterPart(dim, r);
        Value &check = movingChecks[part << 4 | dim];
        if (!check)
          check = isInside(dim, r);
        inside = emit.both(inside, check);
      }
      if (inside)
        size = emit.select(inside, size ? size : emit.i32(piece * bytes),
                           emit.i32(0));
      NVVM::CpAsyncOp::create(emit.builder, emit.loc, addresses->get(places(r)),
                              pointer, piece * bytes,
                              piece * bytes == 16
                                  ? NVVM::LoadCacheModifierKind::CG
                                  : NVVM::LoadCacheModifierKind::CA,
                              size);
    }
  });
  return success();
}
