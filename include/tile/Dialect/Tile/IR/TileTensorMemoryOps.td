//===- TileTensorMemoryOps.td - Multiplies in tensor memory -*- tablegen -*-===//
//
// Multiplies that one thread issues: operands in shared memory, sums and scales
// in tensor memory, completion seen by barriers in shared memory. The compiler
// makes these operations between legalisation and layout assignment; a kernel
// may not use them.
//
// An operation that "one thread" executes may stand where all threads come by,
// or in the role that does nothing else (`tile.warp_roles`).
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DIALECT_TILE_IR_TILETENSORMEMORYOPS_TD
#define TILE_DIALECT_TILE_IR_TILETENSORMEMORYOPS_TD

include "tile/Dialect/Tile/IR/TileBufferOps.td"

//===----------------------------------------------------------------------===//
// Barriers in shared memory
//===----------------------------------------------------------------------===//

def Tile_Barriers : TypeDef<Tile_Dialect, "Barriers"> {
  let mnemonic = "barriers";
  let summary = "barriers in shared memory, numbered from 0";
  let description = [{
    Each of the barriers of `!tile.barriers<3>` has phases: one ends when as many
    threads have arrived as `tile.init_barriers` says and every byte that is
    expected has come; the next begins then.
  }];
  let parameters = (ins "int64_t":$count);
  let assemblyFormat = "`<` $count `>`";
  let genVerifyDecl = 1;
}

/// What a phase of a barrier can count: 2^20 - 1 arrivals or bytes.
def Tile_BarrierCount : ConfinedAttr<I32Attr, [
    IntPositive, IntMaxValue<1048575>]>;

def Tile_AllocBarriersOp : Tile_BufferOp<"alloc_barriers"> {
  let summary = "barriers for the whole run of a block";
  let description = [{
    Example:

    ```mlir
    func.func @alloc() {
      %full = tile.alloc_barriers : !tile.barriers<3>
      return
    }
    ```
  }];
  let results = (outs Tile_Barriers:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
}

def Tile_InitBarriersOp : Tile_BufferOp<"init_barriers"> {
  let summary = "starts phase 0 of each barrier";
  let description = [{
    One thread does it; others, and asynchronous copies, may use the barriers
    after the next `tile.barrier`. `arrivals` is how many end a phase.

    Example:

    ```mlir
    func.func @init(%full: !tile.barriers<3>) {
      tile.init_barriers %full {arrivals = 128 : i32} : !tile.barriers<3>
      return
    }
    ```
  }];
  let arguments = (ins Tile_Barriers:$barriers,
                       Tile_BarrierCount:$arrivals);
  let assemblyFormat = "$barriers attr-dict `:` qualified(type($barriers))";
}

def Tile_InvalBarriersOp : Tile_BufferOp<"inval_barriers"> {
  let summary = "ends the use of barriers, so that they can be started anew";
  let description = [{
    One thread does it. Nobody may use them any more: a `tile.barrier` stands in
    front.

    Example:

    ```mlir
    func.func @inval(%full: !tile.barriers<3>) {
      tile.inval_barriers %full : !tile.barriers<3>
      return
    }
    ```
  }];
  let arguments = (ins Tile_Barriers:$barriers);
  let assemblyFormat = "$barriers attr-dict `:` qualified(type($barriers))";
}

def Tile_WaitBarrierOp : Tile_BufferOp<"wait_barrier"> {
  let summary = "waits until a phase of a barrier has ended";
  let description = [{
    `parity` is 0 for an even phase and 1 for an odd one; the current one, or the
    one before, which has ended. So 1 waits for nothing on a new barrier. What
    those who arrived have done is seen afterwards, multiplies included.

    Example:

    ```mlir
    func.func @wait(%full: !tile.barriers<3>, %slot: index, %p: i32) {
      tile.wait_barrier %full[%slot] parity %p : !tile.barriers<3>
      return
    }
    ```
  }];
  let arguments = (ins Tile_Barriers:$barriers, Index:$slot, I32:$parity);
  let assemblyFormat = [{
    $barriers `[` $slot `]` `parity` $parity attr-dict
    `:` qualified(type($barriers))
  }];
  let hasVerifier = 1;
}

def Tile_ArriveCopiesOp : Tile_BufferOp<"arrive_copies"> {
  let summary = "arrives when what this thread copied has come";
  let description = [{
    Waits until at most `pending` groups of copies of this thread are under way,
    lets the tensor core see what the older ones have brought, and arrives.

    Example:

    ```mlir
    func.func @arrive(%full: !tile.barriers<3>, %slot: index) {
      tile.arrive_copies %full[%slot] {pending = 2 : i32} : !tile.barriers<3>
      return
    }
    ```
  }];
  let arguments = (ins Tile_Barriers:$barriers, Index:$slot,
                       ConfinedAttr<I32Attr, [IntNonNegative]>:$pending);
  let assemblyFormat = [{
    $barriers `[` $slot `]` attr-dict `:` qualified(type($barriers))
  }];
  let hasVerifier = 1;
}

def Tile_ExpectBytesOp : Tile_BufferOp<"expect_bytes"> {
  let summary = "one thread arrives, and copies are to bring so many bytes";
  let description = [{
    Example:

    ```mlir
    func.func @expect(%full: !tile.barriers<3>, %slot: index) {
      tile.expect_bytes %full[%slot] {bytes = 16384 : i32} : !tile.barriers<3>
      return
    }
    ```
  }];
  let arguments = (ins Tile_Barriers:$barriers, Index:$slot,
                       Tile_BarrierCount:$bytes);
  let assemblyFormat = [{
    $barriers `[` $slot `]` attr-dict `:` qualified(type($barriers))
  }];
  let hasVerifier = 1;
}

def Tile_CopyTensorOp : Tile_BufferOp<"copy_tensor"> {
  let summary = "one thread begins to copy a tile by its tensor map";
  let description = [{
    The slot gets what `tile.load` with these indices would give, elements outside
    the memref zero, in boxes of at most 256 elements a side, by
    `cp.async.bulk.tensor`. The bytes count for the barrier. `source` is an
    argument of the kernel, which gets a tensor map for it as a further parameter.

    Example:

    ```mlir
    // 128 rows of 32 bytes, whose halves change places in every other four.
    #rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
    !slots = !tile.buffer<3x128x32xf8E4M3FN, #rows>

    func.func @copy(%x: memref<?x?xf8E4M3FN, strided<[?, 1]>>, %m: index,
                    %k: index, %full: !tile.barriers<3>, %slot: index) {
      %b = tile.alloc_buffer : !slots
      tile.copy_tensor %x[%m, %k] to %b[%slot] signal %full
         : memref<?x?xf8E4M3FN, strided<[?, 1]>>, !slots, !tile.barriers<3>
      return
    }
    ```
  }];
  let arguments = (ins AnyMemRef:$source, Variadic<Index>:$indices,
                       Tile_Buffer:$buffer, Index:$slot,
                       Tile_Barriers:$barriers);
  let assemblyFormat = [{
    $source `[` $indices `]` `to` $buffer `[` $slot `]` `signal` $barriers
    attr-dict `:` type($source) `,` qualified(type($buffer)) `,`
    qualified(type($barriers))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Tensor memory
//===----------------------------------------------------------------------===//

def Tile_TensorMemory : TypeDef<Tile_Dialect, "TensorMemory"> {
  let mnemonic = "tensor_memory";
  let summary = "slots of tensor memory, one tile each";
  let description = [{
    `!tile.tensor_memory<1x128x256xf32>` holds the sums of a multiply: row m of
    each 128 is a lane, column n a column; further rows, and batches in front of
    the rows, lie in further columns. With f8E4M3FN or f8E8M0FNU elements it holds
    scales: rows of an operand by blocks of K, with at least 128 rows and four
    blocks. Row m is a byte of lane m mod 32, the same in all four quarters, and
    of column m / 32; all rows of the next four blocks lie in further columns.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getNumSlots() const { return getShape().front(); }
    ::llvm::ArrayRef<int64_t> getTileShape() const {
      return getShape().drop_front();
    }
    bool holdsScales() const { return !getElementType().isF32(); }
    /// Columns of one slot.
    int64_t getSlotColumns() const;
    /// The same with `slots` slots.
    TensorMemoryType withNumSlots(int64_t slots) const;
    /// What a block has.
    static constexpr int64_t kColumns = 512, kLanes = 128;
  }];
}

def Tile_AllocTensorMemoryOp : Tile_BufferOp<"alloc_tensor_memory"> {
  let summary = "tensor memory for the whole run of a block";
  let description = [{
    Example:

    ```mlir
    func.func @alloc() {
      %acc = tile.alloc_tensor_memory : !tile.tensor_memory<1x128x256xf32>
      return
    }
    ```
  }];
  let results = (outs Tile_TensorMemory:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
}

def Tile_CopyScalesOp : Tile_BufferOp<"copy_scales"> {
  let summary = "one thread begins to copy scales to tensor memory";
  let description = [{
    The slot of shared memory holds chunks of 512 bytes for 128 rows by four
    blocks each, row m at 16 * (m mod 32) + 4 * (m / 32); chunks of the same rows
    follow each other. Multiplies that the same thread issues later see them.

    Example:

    ```mlir
    // Two chunks, as they lie in a 128x4 array of scales.
    #chunks = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 128, 256, 512] : 1024>
    !slots = !tile.buffer<3x1x2x32x4x4xf8E4M3FN, #chunks>
    !scales = !tile.tensor_memory<3x128x8xf8E4M3FN>

    func.func @copy(%b: !slots, %s: !scales, %slot: index) {
      tile.copy_scales %b[%slot] to %s[%slot] : !slots, !scales
      return
    }
    ```
  }];
  let arguments = (ins Tile_Buffer:$buffer, Index:$slot,
                       Tile_TensorMemory:$memory, Index:$memorySlot);
  let assemblyFormat = [{
    $buffer `[` $slot `]` `to` $memory `[` $memorySlot `]` attr-dict
    `:` qualified(type($buffer)) `,` qualified(type($memory))
  }];
  let hasVerifier = 1;
}

def Tile_MultiplyAsyncOp
    : Tile_BufferOp<"multiply_async", [AttrSizedOperandSegments]> {
  let summary = "one thread begins a multiply of tiles in shared memory";
  let description = [{
    Adds the product to `acc`, or replaces `acc` by it where `accumulate` is
    false. `shape` is batch, M, N and K of what the slots hold, which are as
    tile/Target/TensorOperands.h places operands of `atom`; `lhs_mn_major` and
    `rhs_mn_major` say that M or N, not K, is contiguous.

    Example:

    ```mlir
    // 128 rows of 32 bytes: 64 FP4 values each.
    #rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
    !slots = !tile.buffer<3x128x32xi8, #rows>
    !scales = !tile.tensor_memory<3x128x4xf8E4M3FN>
    !sums = !tile.tensor_memory<1x128x128xf32>

    func.func @multiply(%a: !slots, %b: !slots, %acc: !sums, %sa: !scales,
                        %sb: !scales, %i: index, %p: i1) {
      tile.multiply_async %a[%i], %b[%i], %acc scales %sa[%i], %sb[%i]
         accumulate %p shape [1, 128, 128, 64]
         {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"}
         : !slots, !slots, !sums, !scales, !scales
      return
    }
    ```
  }];
  let arguments = (ins Tile_Buffer:$lhs, Index:$lhsSlot,
                       Tile_Buffer:$rhs, Index:$rhsSlot,
                       Tile_TensorMemory:$acc,
                       Optional<Tile_TensorMemory>:$lhsScale,
                       Optional<Index>:$lhsScaleSlot,
                       Optional<Tile_TensorMemory>:$rhsScale,
                       Optional<Index>:$rhsScaleSlot,
                       I1:$accumulate,
                       DenseI64ArrayAttr:$shape, StrAttr:$atom,
                       UnitAttr:$lhs_mn_major, UnitAttr:$rhs_mn_major);
  let assemblyFormat = [{
    $lhs `[` $lhsSlot `]` `,` $rhs `[` $rhsSlot `]` `,` $acc
    (`scales` $lhsScale^ `[` $lhsScaleSlot `]` `,`
              $rhsScale `[` $rhsScaleSlot `]`)?
    `accumulate` $accumulate `shape` $shape attr-dict
    `:` qualified(type($lhs)) `,` qualified(type($rhs)) `,`
    qualified(type($acc))
    (`,` qualified(type($lhsScale))^ `,` qualified(type($rhsScale)))?
  }];
  let hasVerifier = 1;
}

def Tile_CommitMultipliesOp : Tile_BufferOp<"commit_multiplies"> {
  let summary = "arrives when what this thread issued to the tensor core is done";
  let description = [{
    Copies of scales and multiplies. Counts as one arrival.

    Example:

    ```mlir
    func.func @commit(%empty: !tile.barriers<3>, %slot: index) {
      tile.commit_multiplies %empty[%slot] : !tile.barriers<3>
      return
    }
    ```
  }];
  let arguments = (ins Tile_Barriers:$barriers, Index:$slot);
  let assemblyFormat = [{
    $barriers `[` $slot `]` attr-dict `:` qualified(type($barriers))
  }];
  let hasVerifier = 1;
}

def Tile_LoadTensorMemoryOp
    : Tile_BufferOp<"load_tensor_memory", [AttrSizedOperandSegments]> {
  let summary = "sums from tensor memory, or a part of them";
  let description = [{
    The multiplies must be done: a `tile.wait_barrier` stands in front. The result
    is the first rows and columns of the slot or, where `indices` are given, the
    part at these indices of the grid of such parts. Where `predicate` is given
    and false, it is zeros. Every warp of the block takes part, and there are at
    least four.

    Example:

    ```mlir
    !sums = !tile.tensor_memory<1x128x256xf32>

    func.func @load(%acc: !sums, %j: index, %p: i1)
        -> (tensor<128x256xf32>, tensor<128x32xf32>) {
      %c0 = arith.constant 0 : index
      %t = tile.load_tensor_memory %acc if %p : !sums -> tensor<128x256xf32>
      // The columns 32 * %j ... of the sums.
      %u = tile.load_tensor_memory %acc at[%c0, %j] : !sums -> tensor<128x32xf32>
      return %t, %u : tensor<128x256xf32>, tensor<128x32xf32>
    }
    ```
  }];
  let arguments = (ins Tile_TensorMemory:$memory, Variadic<Index>:$indices,
                       Optional<I1>:$predicate);
  let results = (outs Tile_AnyTile:$result);
  let assemblyFormat = [{
    $memory (`at` `[` $indices^ `]`)? (`if` $predicate^)? attr-dict
    `:` qualified(type($memory)) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_StoreTensorMemoryOp : Tile_BufferOp<"store_tensor_memory"> {
  let summary = "sums to tensor memory";
  let description = [{
    The inverse of `tile.load_tensor_memory` without indices. Multiplies see it
    after the next `tile.barrier`.

    Example:

    ```mlir
    func.func @store(%t: tensor<128x256xf32>,
                     %acc: !tile.tensor_memory<1x128x256xf32>) {
      tile.store_tensor_memory %t to %acc
         : tensor<128x256xf32>, !tile.tensor_memory<1x128x256xf32>
      return
    }
    ```
  }];
  let arguments = (ins Tile_AnyTile:$value, Tile_TensorMemory:$memory);
  let assemblyFormat = [{
    $value `to` $memory attr-dict `:` type($value) `,` qualified(type($memory))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

def Tile_WarpRolesOp : Op<Tile_Dialect, "warp_roles", [
    NoTerminator, SingleBlock, RecursiveMemoryEffects
  ]> {
  let summary = "some warps copy while one thread issues multiplies";
  let description = [{
    The upper half of the warps runs `copiers`, one thread of warp 0 `issuer`, and
    the others go on. Inside, "the block" is the warps of the role. There is no
    barrier in front, behind or inside: `tile.wait_barrier` orders what the roles
    do.

    Example:

    ```mlir
    func.func @roles(%full: !tile.barriers<1>, %empty: !tile.barriers<1>,
                     %even: i32, %odd: i32) {
      %c0 = arith.constant 0 : index
      tile.warp_roles copiers {
        tile.wait_barrier %empty[%c0] parity %odd : !tile.barriers<1>
        // Copies stand here.
        tile.commit_copies
        tile.arrive_copies %full[%c0] {pending = 0 : i32} : !tile.barriers<1>
      } issuer {
        tile.wait_barrier %full[%c0] parity %even : !tile.barriers<1>
        // Multiplies stand here.
        tile.commit_multiplies %empty[%c0] : !tile.barriers<1>
      }
      return
    }
    ```
  }];
  let regions = (region SizedRegion<1>:$copiers, SizedRegion<1>:$issuer);
  let assemblyFormat = "`copiers` $copiers `issuer` $issuer attr-dict";
  let hasVerifier = 1;
}

#endif // TILE_DIALECT_TILE_IR_TILETENSORMEMORYOPS_TD
