//===- DistributePlacedCopies.cpp - Copies where types say the place ------===//
//
// A copy moves pieces that are side by side in memory and in the slot. Where an
// instruction dictates the arrangement of a slot, the algebra finds them: bits
// of an element's index that move it by 1, 2, 4 … elements on both sides, of
// whichever dimension. Threads then divide the pieces in the order of memory.
//
// What has no pieces of four bytes goes through registers: loads as wide as the
// memref's promises allow, stores as wide as the slot does.
//
//===----------------------------------------------------------------------===//

#include "BufferAccess.h"
#include "Distributor.h"

#include "tile/Transforms/TileLayouts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace tile;

/// Most bytes that one copy moves.
static constexpr unsigned kMostCopyBytes = 16;

namespace {

/// One bit of the index of an element in its tile.
struct IndexBit {
  unsigned dim;
  uint32_t column; ///< The bit, in the packed index.
  uint32_t placed; ///< Bytes by which it moves an element in the slot.
  /// Elements by which it moves one in memory; the largest number where that is
  /// not known.
  int64_t memory;
};

} // namespace

/// The bits of the index of an element, lowest first.
static SmallVector<IndexBit> getIndexBits(BufferType type, MemRefType memref) {
  auto [strides, offset] = memref.getStridesAndOffset();
  SmallVector<IndexBit> bits;
  for (unsigned dim = type.getTileShape().size(); dim-- > 0;)
    for (int64_t at = 1; at < type.getTileShape()[dim]; at *= 2) {
      IndexBit bit;
      bit.dim = dim;
      bit.column = uint32_t(1) << bits.size();
      bit.placed =
          static_cast<uint32_t>(type.getPlacement().getOffsets()[bits.size()]);
      bit.memory = ShapedType::isDynamic(strides[dim])
                       ? std::numeric_limits<int64_t>::max()
                       : strides[dim] * at;
      bits.push_back(bit);
    }
  return bits;
}

/// Whether pieces of elements that differ in the bits of `chain` are aligned in
/// memory, and inside it or outside as a whole.
static bool allowsPieces(ArrayRef<IndexBit> chain, BufferType type,
                         const MemRefValue &memref) {
  const int64_t piece = int64_t(1) << chain.size();
  const MemRefDivisors &divisors = memref.divisors;
  if (!divides(piece, divisors.offset))
    return false;
  auto [strides, offset] = memref.type.getStridesAndOffset();
  for (int64_t dim = 0; dim < memref.type.getRank(); ++dim) {
    const auto used = llvm::count_if(
        chain, [&](const IndexBit &bit) { return bit.dim == dim; });
    if (!used) {
      if (!divides(piece, divisors.strides[dim]))
        return false;
      continue;
    }
    if (!divides(uint64_t(1) << used, divisors.sizes[dim]))
      return false;
    // Where the next tile is, if there is one.
    const int64_t extent = type.getTileShape()[dim];
    const int64_t size = memref.type.getDimSize(dim);
    const bool isOnlyTile = !ShapedType::isDynamic(size) && size <= extent;
    if (extent * strides[dim] % piece && !isOnlyTile)
      return false;
  }
  return true;
}

Distributor::CopyPlan Distributor::planCopy(BufferType type,
                                            const SharedBuffer &buffer,
                                            const MemRefValue &memref) {
  if (!type.getPlacement())
    return {buffer.copyLayout, findPieces(memref, buffer.copyLayout).vector};
  const unsigned bytes = getBytes(type.getElementType());
  SmallVector<IndexBit> bits = getIndexBits(type, memref.type);
  // The bits of a piece: `isNext` says whether a bit moves by so many elements.
  auto findChain = [&](unsigned mostBytes, auto isNext) {
    SmallVector<IndexBit> chain;
    for (uint32_t elements = 1; 2 * elements * bytes <= mostBytes;
         elements *= 2) {
      const auto *next = llvm::find_if(
          bits, [&](const IndexBit &bit) { return isNext(bit, elements); });
      if (next == bits.end())
        break;
      chain.push_back(*next);
    }
    return chain;
  };
  SmallVector<IndexBit> chain =
      findChain(kMostCopyBytes, [&](const IndexBit &bit, uint32_t elements) {
        return bit.placed == elements * bytes &&
               bit.memory == int64_t(elements);
      });
  while (!chain.empty() && !allowsPieces(chain, type, memref))
    chain.pop_back();
  const unsigned piece = 1u << chain.size();
  if (piece * bytes < kFewestCopyBytes)
    chain = findChain(kFewestCopyBytes,
                      [&](const IndexBit &bit, uint32_t elements) {
                        return bit.placed == elements * bytes;
                      });

  SmallVector<IndexBit> rest;
  for (const IndexBit &bit : bits)
    if (llvm::none_of(chain, [&](const IndexBit &used) {
          return used.column == bit.column;
        }))
      rest.push_back(bit);
  llvm::stable_sort(rest, [](const IndexBit &a, const IndexBit &b) {
    return a.memory < b.memory;
  });
  SmallVector<uint32_t> registers, lanes, warps;
  for (const IndexBit &bit : chain)
    registers.push_back(bit.column);
  const unsigned warpBits = llvm::Log2_32(numWarps);
  for (const IndexBit &bit : rest) {
    SmallVector<uint32_t> &to = lanes.size() < kLaneBits  ? lanes
                                : warps.size() < warpBits ? warps
                                                          : registers;
    to.push_back(bit.column);
  }
  lanes.resize(kLaneBits, 0);
  warps.resize(warpBits, 0);
  return {makeDistributedLayout(type.getTileShape(), registers, lanes, warps),
          piece};
}

void Distributor::copyThroughRegisters(CopyAsyncOp op,
                                       const MemRefValue &memref,
                                       const SharedBuffer &buffer,
                                       const LinearLayout &layout) {
  BufferType type = op.getBuffer().getType();
  const unsigned bytes = getBytes(type.getElementType());
  const LinearLayout places = getByteLayout(layout, type);
  const unsigned registers = 1u << layout.getDomain().bitsOf("register");
  const unsigned most = kFewestCopyBytes / bytes;
  // Elements of one store: side by side in the slot.
  unsigned stored = 1;
  for (uint32_t column : places.getColumns("register")) {
    if (stored == most || buffer.swizzle(column) != stored * bytes)
      break;
    stored *= 2;
  }
  const uint32_t free = getFreeRegisters(layout);
  Value predicate =
      op.getPredicate() ? scalars.lookup(op.getPredicate()) : Value();
  emit.guarded(emit.both(predicate, emitOwner(layout)), [&] {
    TileAccess access = analyzeAccess(memref, op.getIndices(), layout);
    const unsigned loaded = std::min(access.vector, most);
    const unsigned group = std::max(loaded, stored);
    Type loadType = emit.integer(8 * bytes * loaded);
    Type storeType = emit.integer(8 * bytes * stored);
    // Addresses are computed where they are used: in either branch.
    auto getAddresses = [&] {
      return SlotAddresses(emit, getSlot(buffer, op.getSlot()),
                           places.getColumns("lane"), places.getColumns("warp"),
                           buffer.swizzle, lane, warp);
    };
    auto store = [&](SlotAddresses &addresses, unsigned r, Value value) {
      LLVM::StoreOp::create(emit.builder, emit.loc, value,
                            addresses.get(places(r)), stored * bytes);
    };
    // What lies beyond the memref's first element is asked for only where there
    // is one.
    auto load = [&](unsigned r) -> Value {
      Value offset = access.offset(r), inside = access.inBounds(r);
      if (inside)
        offset = emit.select(inside, offset, emit.i64(0));
      Value value =
          LLVM::LoadOp::create(emit.builder, emit.loc, loadType,
                               elementPointer(memref, offset), loaded * bytes);
      return inside ? emit.select(inside, value, emit.constant(loadType, 0))
                    : value;
    };
    auto branch = scf::IfOp::create(
        emit.builder, emit.loc, TypeRange(),
        access.uniform ? access.uniform : emit.constant(emit.i1(), 1),
        /*withElse=*/true);
    OpBuilder::InsertionGuard guard(emit.builder);
    emit.builder.setInsertionPointToStart(branch.thenBlock());
    SlotAddresses inside = getAddresses();
    for (unsigned r = 0; r < registers; r += group) {
      if (r & free)
        continue;
      // All loads of the group, low bits first.
      Value word;
      for (unsigned i = 0; i < group; i += loaded) {
        Value part =
            emit.shl(emit.zext(emit.i32(), load(r + i)), i * 8 * bytes);
        word = word ? emit.bitOr(word, part) : part;
      }
      for (unsigned i = 0; i < group; i += stored)
        store(inside, r + i,
              emit.trunc(storeType, emit.lshr(word, i * 8 * bytes)));
    }
    emit.builder.setInsertionPointToStart(branch.elseBlock());
    SlotAddresses outside = getAddresses();
    for (unsigned r = 0; r < registers; r += stored)
      if (!(r & free))
        store(outside, r, emit.constant(storeType, 0));
  });
}
