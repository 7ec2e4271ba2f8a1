//===- TileBufferOps.td - Tiles in shared memory -----------*- tablegen -*-===//
//
// Staging: tiles on their way from global memory through shared memory. Those
// that tensor memory takes part in stand in TileTensorMemoryOps.td. The
// compiler makes these operations between layout assignment and distribution;
// a kernel may not use them. They do not say by which instruction a copy moves,
// only when it has arrived.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DIALECT_TILE_IR_TILEBUFFEROPS_TD
#define TILE_DIALECT_TILE_IR_TILEBUFFEROPS_TD

include "tile/Dialect/Tile/IR/TileDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpBase.td"

def Tile_Buffer : TypeDef<Tile_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "slots of shared memory, one tile each";
  let description = [{
    `!tile.buffer<3x128x64xf8E4M3FN>` has three slots for tiles of 128 by 64. How
    the elements of a slot are arranged is chosen at distribution, from the
    layouts of those who write and read it.

    In `!tile.buffer<3x128x32x!tile.f4E2M1FNx2, padded>` eight bytes of padding
    follow each eight bytes, as the reads want it that give each FP4 value a byte
    of its own.

    Where an instruction dictates the arrangement, the type says it:
    `!tile.buffer<3x8x32xi8, #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144] :
    256>>` has slots of 256 bytes.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType, "bool":$padded,
                        "::tile::PlacementAttr":$placement);
  let skipDefaultBuilders = 1;
  let builders = [TypeBuilder<(ins "::llvm::ArrayRef<int64_t>":$shape,
                                   "::mlir::Type":$elementType,
                                   CArg<"bool", "false">:$padded,
                                   CArg<"::tile::PlacementAttr", "{}">:$placement), [{
    return $_get($_ctxt, shape, elementType, padded, placement);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getNumSlots() const { return getShape().front(); }
    /// The shape of the tile in a slot.
    ::llvm::ArrayRef<int64_t> getTileShape() const {
      return getShape().drop_front();
    }
    /// More slots than this no buffer has.
    static constexpr int64_t kMaxSlots = 1024;
    /// Slots and buffers begin at multiples of this many bytes.
    static constexpr int64_t kSlotAlignment = 128;
    /// The same for those with a placement: swizzles count from there.
    static constexpr int64_t kPlacedAlignment = 1024;
    /// Bytes between the padding of a padded buffer, and of each padding.
    static constexpr int64_t kPaddedBytes = 8;
    /// The offset, in the slot, of what would be at byte `offset` without
    /// padding.
    int64_t addPadding(int64_t offset) const {
      return getPadded() ? (offset & ~(kPaddedBytes - 1)) + offset : offset;
    }
    /// Bytes of a slot that are used.
    int64_t getSlotBytes() const;
    /// Of the first byte of each slot.
    int64_t getAlignment() const {
      return getPlacement() ? kPlacedAlignment : kSlotAlignment;
    }
    /// Bytes from one slot to the next.
    int64_t getSlotStride() const;
    /// The same with `slots` slots.
    BufferType withNumSlots(int64_t slots) const;
  }];
}

class Tile_BufferOp<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, traits # [
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]>;

def Tile_AllocBufferOp : Tile_BufferOp<"alloc_buffer"> {
  let summary = "shared memory for the whole run of a block";
  let description = [{
    Where `cleared` is given, the block writes zeros to all of it when it starts,
    and every thread and the tensor core see them: what no copy writes stays zero.

    Example:

    ```mlir
    func.func @alloc() {
      %b = tile.alloc_buffer : !tile.buffer<3x128x64xf8E4M3FN>
      return
    }
    ```
  }];
  let arguments = (ins UnitAttr:$cleared);
  let results = (outs Tile_Buffer:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
}

def Tile_CopyAsyncOp : Tile_BufferOp<"copy_async",
                                     [AttrSizedOperandSegments]> {
  let summary = "begins to copy the tile at a tile-space index to a slot";
  let description = [{
    The slot gets what `tile.load` with these indices would give, elements outside
    the memref zero. Where `predicate` is given and false, nothing is fetched, and
    what the slot holds afterwards is undefined. The copy
    belongs to the group that the next `tile.commit_copies` closes. Nobody may
    touch the slot until a `tile.wait_copies` has waited for that group.

    `moving` names the dimensions whose index changes from one iteration to the
    next; what the others contribute can be computed once for all copies.

    Example:

    ```mlir
    func.func @copy(%x: memref<?x?xf8E4M3FN, strided<[?, 1]>>, %m: index,
                    %k: index, %slot: index, %p: i1) {
      %b = tile.alloc_buffer : !tile.buffer<3x128x64xf8E4M3FN>
      tile.copy_async %x[%m, %k] to %b[%slot] if %p {moving = array<i64: 1>}
         : memref<?x?xf8E4M3FN, strided<[?, 1]>>, !tile.buffer<3x128x64xf8E4M3FN>
      return
    }
    ```
  }];
  let arguments = (ins AnyMemRef:$source, Variadic<Index>:$indices,
                       Tile_Buffer:$buffer, Index:$slot,
                       Optional<I1>:$predicate,
                       OptionalAttr<DenseI64ArrayAttr>:$moving);
  let assemblyFormat = [{
    $source `[` $indices `]` `to` $buffer `[` $slot `]` (`if` $predicate^)?
    attr-dict `:` type($source) `,` qualified(type($buffer))
  }];
  let hasVerifier = 1;
}

def Tile_CommitCopiesOp : Tile_BufferOp<"commit_copies"> {
  let summary = "closes a group of copies";
  let description = [{
    The group may be empty.

    Example:

    ```mlir
    func.func @commit() {
      tile.commit_copies
      return
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_WaitCopiesOp : Tile_BufferOp<"wait_copies"> {
  let summary = "waits until at most `pending` groups are under way";
  let description = [{
    Afterwards every thread of the block may read what the older groups have
    copied, and every thread has done what stands before: it is a barrier too.
    With `async_proxy` the tensor core may read it as well.

    Example:

    ```mlir
    func.func @wait() {
      tile.wait_copies {pending = 1 : i32}
      tile.wait_copies {async_proxy, pending = 0 : i32}
      return
    }
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$pending,
                       UnitAttr:$async_proxy);
  let assemblyFormat = "attr-dict";
}

def Tile_BarrierOp : Tile_BufferOp<"barrier"> {
  let summary = "every thread of the block has done what stands before";
  let description = [{
    Example:

    ```mlir
    func.func @barrier() {
      tile.barrier
      return
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_ReadBufferOp : Tile_BufferOp<"read_buffer"> {
  let summary = "the tile in a slot, or a part of it";
  let description = [{
    The result is the whole tile of the slot or, where `indices` are given, the
    part at these indices of the grid of such parts, as `tile.load` counts tiles
    of a memref. Indices beyond the slot are an error of the program.

    Example:

    ```mlir
    func.func @read(%b: !tile.buffer<3x128x64xf8E4M3FN>, %slot: index, %j: index)
        -> (tensor<128x64xf8E4M3FN>, tensor<128x32xf8E4M3FN>) {
      %c0 = arith.constant 0 : index
      %t = tile.read_buffer %b[%slot]
         : !tile.buffer<3x128x64xf8E4M3FN> -> tensor<128x64xf8E4M3FN>
      // The columns 32 * %j ... of the tile.
      %u = tile.read_buffer %b[%slot] at[%c0, %j]
         : !tile.buffer<3x128x64xf8E4M3FN> -> tensor<128x32xf8E4M3FN>
      return %t, %u : tensor<128x64xf8E4M3FN>, tensor<128x32xf8E4M3FN>
    }
    ```
  }];
  let arguments = (ins Tile_Buffer:$buffer, Index:$slot,
                       Variadic<Index>:$indices);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = [{
    $buffer `[` $slot `]` (`at` `[` $indices^ `]`)? attr-dict
    `:` qualified(type($buffer)) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // TILE_DIALECT_TILE_IR_TILEBUFFEROPS_TD
