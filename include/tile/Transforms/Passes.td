//===- Passes.td - Tile transformation passes --------------*- tablegen -*-===//

#ifndef TILE_TRANSFORMS_PASSES_TD
#define TILE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

// Before the pipeline, where a caller knows arguments.

def TileSpecialize : Pass<"tile-specialize", "::mlir::ModuleOp"> {
  let summary = "Puts known arguments of a kernel in";
  let description = [{
    Gives integer arguments of the kernel `entry` a value, which ends their being
    arguments, and memref arguments static extents. Runs after inlining: views of
    an array take their strides from its type. The embedded compiler does this
    for `CompileOptions::bindings` and `shapes`.

    Example, with `entry=k bind=0:8 shape=1:128x?`:

    ```mlir
    func.func @k(%n: index, %x: memref<?x?xf32>) attributes {tile.kernel} {
    // becomes
    func.func @k(%x: memref<128x?xf32>) attributes {tile.kernel} {
      %n = arith.constant 8 : index
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let options = [
    Option<"entry", "entry", "std::string", /*default=*/"",
           "The kernel; may be left out where there is only one">,
    ListOption<"bindings", "bind", "std::string",
               "`ARGUMENT:VALUE`, arguments by number">,
    ListOption<"shapes", "shape", "std::string",
               "`ARGUMENT:EXTENTS` such as 2:128x?">,
  ];
}

// In the order in which the pipeline runs them.

def TileCheckKernels : Pass<"tile-check-kernels", "::mlir::ModuleOp"> {
  let summary = "Refuses operations that a kernel may not use";
  let description = [{
    Runs after inlining. Every operation of a kernel must be one that the
    compiler lowers (docs/spec.md lists them); any other is an error that names
    it. A call that is left is recursive or has no body, and is an error too.
    Functions that are not kernels must be private and are erased. Fast-math
    flags are dropped: arithmetic rounds once per operation on every device.

    Example:

    ```mlir
    func.func @k(%x: memref<?xf32>) attributes {tile.kernel} {
      memref.assume_alignment %x, 16 : memref<?xf32>
      // error: 'memref.assume_alignment' op is not allowed in a kernel
    ```
  }];
}

def TileGroupPrograms : Pass<"tile-group-programs", "::mlir::ModuleOp"> {
  let summary = "Orders tile programs so that neighbours share operands";
  let description = [{
    A GPU starts the blocks of a grid x first. Where a loop with a multiply loads
    one operand by `program_id 0` alone and another by `program_id 1` alone, the
    two are replaced by coordinates that walk the grid in groups of `group` in x
    and all of y: the blocks that run at the same time then read fewer different
    tiles, and what one has read the next finds in the L2 cache. The coordinates
    are a permutation of the grid, whatever its extents; dimension 2 stays.

    Example:

    ```mlir
    %x = tile.program_id 0
    %y = tile.program_id 1
    // becomes
    %x = tile.program_id 0
    %y = tile.program_id 1
    %nx = tile.num_programs 0
    %ny = tile.num_programs 1
    %several = ... // nx > group, and nx * ny < 2^32
    %g:2 = scf.if %several -> (index, index) {
      ... // two divisions
    } else {
      scf.yield %x, %y : index, index
    }
    ```
  }];
  let dependentDialects = ["::tile::TileDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
  let options = [
    Option<"group", "group", "unsigned", /*default=*/"8",
           "Blocks of a group along x; 0 and 1 leave the order alone; the "
           "kernel's `tile.group_programs` wins, and decides alone">,
  ];
  let statistics = [
    Statistic<"numGrouped", "num-grouped", "Number of kernels reordered">,
  ];
}

def TileLegalizeScaledMma
    : Pass<"tile-legalize-scaled-mma", "::mlir::ModuleOp"> {
  let summary = "Chooses native or expanded lowering for every multiply";
  let description = [{
    Looks up each `tile.mmaf_scaled` and `tile.mmaf` in the instruction table of
    the target and annotates it with its path and the atom that computes it. No
    other pass makes that decision. An expanded multiply stays one operation on
    packed operands: decoding happens at distribution, next to the instruction,
    where both operands can agree on a permuted K.

    On a target with tensor memory the loop around the multiply decides, since
    operands and sums have to stay there. A scaled multiply whose loop does not
    qualify, or that is in none, gets a loop of one iteration with its loads, if
    that does.

    The choice and its reason are reported as a remark on the operation.

    Example, for a target without block-scaled instructions:

    ```mlir
    %d = tile.mmaf_scaled %a, %b, %c, %sa, %sb : ...
    // becomes
    %d = tile.mmaf_scaled %a, %b, %c, %sa, %sb
       {atom = "m16n8k16.bf16", path = "expand"} : ...
    ```
  }];
  let dependentDialects = ["::tile::TileDialect"];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"\"",
           "Target name; one of the rows of docs/targets.md">,
    Option<"mmaPath", "mma-path", "std::string", /*default=*/"\"auto\"",
           "`auto`, `native` (an error where impossible) or `expand`; the "
           "kernel's `tile.mma_path` wins">,
    Option<"numWarps", "num-warps", "unsigned", /*default=*/"0",
           "Warps per block, as for tile-assign-layouts: tensor memory takes "
           "four">,
  ];
  let statistics = [
    Statistic<"numNative", "num-native", "Number of multiplies kept scaled">,
    Statistic<"numExpanded", "num-expanded", "Number of multiplies expanded">,
  ];
}

def TileStageTensorMultiplies
    : Pass<"tile-stage-tensor-multiplies", "::mlir::ModuleOp"> {
  let summary = "Takes multiplies of one thread to shared and tensor memory";
  let description = [{
    Rewrites each loop whose multiplies `tile-legalize-scaled-mma` gave an
    instruction of tensor memory: operands and scales are copied to shared memory
    where the instruction wants them, scales go on to tensor memory, and the sums
    stay in tensor memory until the loop is over. Everything happens one after
    the other; `tile-specialize-warps` lets it overlap.

    The instruction takes 128 rows of one side, the M side. `rhs` is that side
    where `lhs` has fewer than 128 rows and `rhs` has more; the result is permuted
    afterwards. What is still missing of 128 rows, of 16 columns or of a step of
    K is zeros in shared memory, scales included. Sums and scales that exceed
    tensor memory are computed in parts along N, each with a loop of its own and
    the operations that use them (a remark says so).

    Example:

    ```mlir
    %s = scf.for %k = ... iter_args(%a = %zero) -> (tensor<128x128xf32>) {
      %x = tile.load %xm[%m, %k] : ... -> tensor<128x128xf8E4M3FN>
      ...
      %r = tile.mmaf_scaled %x, %y, %a, %sx, %sy {atom = "m128n256k32.tcgen05...", ...} : ...
    // becomes
    %b = tile.alloc_buffer : !tile.buffer<1x128x128xf8E4M3FN, #placement>
    ...
    scf.for %k = ... iter_args(%parity = %c0_i32) -> (i32) {
      tile.copy_async %xm[%m, %k] to %b[%c0] : ...
      ...
      tile.commit_copies
      tile.wait_copies {async_proxy, pending = 0 : i32}
      tile.copy_scales %bx[%c0] to %tx[%c0] : ...
      %again = arith.cmpi ne, %k, %lb : index
      tile.multiply_async %b[%c0], %by[%c0], %acc scales ... accumulate %again ...
      tile.commit_multiplies %done[%c0] : !tile.barriers<1>
      tile.wait_barrier %done[%c0] parity %parity : !tile.barriers<1>
    %s = tile.load_tensor_memory %acc if %some : ... -> tensor<128x128xf32>
    ```
  }];
  let dependentDialects = ["::tile::TileDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"\"",
           "Target name; one of the rows of docs/targets.md">,
    Option<"numWarps", "num-warps", "unsigned", /*default=*/"0",
           "Warps per block, as for tile-assign-layouts">,
  ];
  let statistics = [
    Statistic<"numStaged", "num-staged", "Number of loops staged">,
    Statistic<"numParts", "num-parts", "Number of loops for parts along N">,
  ];
}

def TileSliceResults : Pass<"tile-slice-results", "::mlir::ModuleOp"> {
  let summary = "Uses sums of tensor memory a few columns at a time";
  let description = [{
    What a kernel does with the sums after the loop, element by element up to its
    stores, becomes a loop over slices along N, so that registers hold a slice
    and not the whole tile. Results that take part in anything else (reductions
    along N, loops) are left whole.

    Example:

    ```mlir
    %s = tile.load_tensor_memory %acc : ... -> tensor<128x256xf32>
    %o = arith.mulf %s, %alpha : tensor<128x256xf32>
    tile.store %o, %z[%m, %n] : tensor<128x256xf32>, ...
    // becomes
    scf.for %j = %c0 to %c4 step %c1 {
      %s = tile.load_tensor_memory %acc at[%c0, %j] : ... -> tensor<128x64xf32>
      %o = arith.mulf %s, %alpha64 : tensor<128x64xf32>
      %nj = ... // 4 * %n + %j
      tile.store %o, %z[%m, %nj] : tensor<128x64xf32>, ...
    }
    ```
  }];
  let dependentDialects = ["::tile::TileDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
  let options = [
    Option<"numWarps", "num-warps", "unsigned", /*default=*/"0",
           "Warps per block, as for tile-assign-layouts">,
  ];
  let statistics = [
    Statistic<"numSliced", "num-sliced", "Number of results used in slices">,
  ];
}

def TileSpecializeWarps : Pass<"tile-specialize-warps", "::mlir::ModuleOp"> {
  let summary = "Gives copies and multiplies warps of their own";
  let description = [{
    Turns each loop of `tile-stage-tensor-multiplies` into two that run at the same
    time, in warps of their own: one copies to the next free slot, the other
    multiplies what has come. Two barriers per slot order them: one says that a
    slot is full, the other that it is empty again. Right for every trip count,
    and in loops around. The number of slots is `num-stages`, or the kernel's
    `tile.num_stages`, or as many as shared and tensor memory hold, up to 4.

    Example:

    ```mlir
    tile.init_barriers %full {arrivals = 128 : i32} : !tile.barriers<4>
    tile.init_barriers %empty {arrivals = 1 : i32} : !tile.barriers<4>
    tile.init_barriers %done {arrivals = 1 : i32} : !tile.barriers<1>
    tile.barrier
    tile.warp_roles copiers {
      scf.for %k = ... iter_args(%slot = ..., %parity = ...) {
        tile.wait_barrier %empty[%slot] parity %parity : ...
        tile.copy_async %xm[%m, %k] to %b[%slot] : ...
        tile.commit_copies
        tile.arrive_copies %full[%earlier] {pending = 3 : i32} : ...
      }
      ...
    } issuer {
      scf.for %k = ... iter_args(%slot = ..., %parity = ...) {
        tile.wait_barrier %full[%slot] parity %parity : ...
        tile.copy_scales %bx[%slot] to %tx[%slot] : ...
        tile.multiply_async ...
        tile.commit_multiplies %empty[%slot] : ...
      }
      tile.commit_multiplies %done[%c0] : ...
    }
    tile.wait_barrier %done[%c0] parity %c0_i32 : ...
    ```
  }];
  let dependentDialects = ["::tile::TileDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"\"",
           "Target name; one of the rows of docs/targets.md">,
    Option<"numStages", "num-stages", "unsigned", /*default=*/"0",
           "Slots of the pipeline; 0 chooses; the kernel's "
           "`tile.num_stages` wins">,
    Option<"numWarps", "num-warps", "unsigned", /*default=*/"0",
           "Warps per block, as for tile-assign-layouts">,
  ];
  let statistics = [
    Statistic<"numSpecialized", "num-specialized", "Number of loops divided">,
  ];
}

def TileCopyByTensorMaps
    : Pass<"tile-copy-by-tensor-maps", "::mlir::ModuleOp"> {
  let summary = "Lets one thread copy whole tiles by tensor maps";
  let description = [{
    Turns the copies of the role that copies into `tile.copy_tensor` where a tensor
    map can describe them: the memref is an argument of the kernel, one dimension
    has stride 1, the others have strides that are promised to be multiples of 16
    bytes, and the placement is one that the hardware's swizzles give. A remark
    says why a copy stays as it is.

    Example:

    ```mlir
    tile.copy_async %x[%m, %k] to %b[%slot] : ...
    // becomes
    tile.expect_bytes %full[%slot] {bytes = 16384 : i32} : !tile.barriers<4>
    tile.copy_tensor %x[%m, %k] to %b[%slot] signal %full : ...
    ```
  }];
  let dependentDialects = ["::tile::TileDialect"];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"\"",
           "Target name; one of the rows of docs/targets.md">,
  ];
  let statistics = [
    Statistic<"numCopies", "num-copies", "Number of copies by tensor maps">,
  ];
}

def TileHoistBias : Pass<"tile-hoist-bias", "::mlir::ModuleOp"> {
  let summary = "Corrects the exponent of decoded operands after the loop";
  let description = [{
    The cheapest decoding of an FP4 value and its E4M3 scale to bf16 gives both
    times 2^-8. Where the sum starts from zero and nothing else touches it, the
    multiply adds such products (`exponent`), and the sum is multiplied once.

    Example:

    ```mlir
    %s = scf.for ... iter_args(%a = %zero) {
      %r = tile.mmaf_scaled %x, %y, %a, %sx, %sy {path = "expand", ...} : ...
    // becomes
    %t = scf.for ... iter_args(%a = %zero) {
      %r = tile.mmaf_scaled %x, %y, %a, %sx, %sy
         {exponent = -16 : i32, path = "expand", ...} : ...
    %s = arith.mulf %t, dense<65536.0>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numHoisted", "num-hoisted", "Number of sums corrected once">,
  ];
}

def TileSplitReduction : Pass<"tile-split-reduction", "::mlir::ModuleOp"> {
  let summary = "Divides K among the warps where M and N are too small for all";
  let description = [{
    Where the sums of a multiply in a loop make fewer than four instructions per
    warp, and they start from zero and nothing but the multiply touches them in
    the loop, K is divided instead of M and N: the multiply becomes a batched one
    whose batches are parts of K, which different warps get, and the batches are
    added after the loop, in order. Each warp then decodes values that no other
    decodes. Sets the kernel's `tile.num_warps`, which the choice rests on.

    The choice is reported as a remark on the operation.

    Example, for four warps:

    ```mlir
    %s = scf.for ... iter_args(%a = %zero) -> (tensor<16x32xf32>) {
      %r = tile.mmaf %x, %w, %a : tensor<16x128xbf16>, tensor<128x32xbf16>, ...
    // becomes
    %t = scf.for ... iter_args(%a = %zeros) -> (tensor<4x16x32xf32>) {
      %xr = tile.reshape %x : tensor<16x128xbf16> -> tensor<16x4x32xbf16>
      %xs = tile.permute %xr [1, 0, 2] : ... -> tensor<4x16x32xbf16>
      %ws = tile.reshape %w : tensor<128x32xbf16> -> tensor<4x32x32xbf16>
      %r = tile.mmaf %xs, %ws, %a : ...
    %s = tile.reduce add %t [0] : tensor<4x16x32xf32> -> tensor<16x32xf32>
    ```
  }];
  let dependentDialects = ["::tile::TileDialect", "::mlir::arith::ArithDialect"];
  let options = [
    Option<"numWarps", "num-warps", "unsigned", /*default=*/"0",
           "Warps per block, as for tile-assign-layouts">,
  ];
  let statistics = [
    Statistic<"numSplit", "num-split", "Number of multiplies divided">,
  ];
}

def TileOrientMultiplies : Pass<"tile-orient-multiplies", "::mlir::ModuleOp"> {
  let summary = "Chooses which operand of a multiply is the M side";
  let description = [{
    The instruction takes 16 rows of one operand, the M side, and 8 columns of the
    other. An operand that must be decoded is the M side where the other needs no
    decoding, and so is `rhs` where `lhs` has fewer than 16 rows: the multiply is
    transposed, with permutations around it that move no data. Otherwise, or where
    no instruction takes the formats in the other order, `lhs` stays.

    The choice and its reason are reported as a remark on the operation.

    Example, for bf16 activations and FP4 weights on a target that expands them:

    ```mlir
    %d = tile.mmaf_scaled %x, %w, %c, %s {...}
    // becomes
    %wt = tile.permute %w [1, 0] : ...
    %xt = tile.permute %x [1, 0] : ...
    %ct = tile.permute %c [1, 0] : ...
    %st = tile.permute %s [1, 0] : ...
    %dt = tile.mmaf_scaled %wt, %xt, %ct, %st {...}
    %d = tile.permute %dt [1, 0] : ...
    ```
  }];
  let dependentDialects = ["::tile::TileDialect", "::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numExchanged", "num-exchanged",
              "Number of multiplies whose operands change sides">,
  ];
}

def TileAssignLayouts : Pass<"tile-assign-layouts", "::mlir::ModuleOp"> {
  let summary = "Gives every tile a layout over registers, lanes and warps";
  let description = [{
    Input: kernels whose multiplies are annotated by
    `tile-legalize-scaled-mma`. Output: every tensor carries a `#tile.layout`,
    every kernel `tile.num_warps`, and `tile.convert_layout` stands wherever a
    user needs another layout than the one a value has. Multiplies dictate the
    layouts of their operands, scales and accumulators; loads start with
    coalesced rows; everything else follows its operands.

    Example:

    ```mlir
    %x = tile.load %m[%i, %k] : memref<?x?xbf16> -> tensor<16x32xbf16>
    // becomes
    %x = tile.load %m[%i, %k] : memref<?x?xbf16> -> tensor<16x32xbf16, #blocked>
    %y = tile.convert_layout %x : tensor<16x32xbf16, #blocked> -> tensor<16x32xbf16, #lhs>
    ```
  }];
  let dependentDialects = ["::tile::TileDialect"];
  let options = [
    Option<"numWarps", "num-warps", "unsigned", /*default=*/"0",
           "Warps per block, a power of two up to 32; 0 chooses; the kernel's "
           "`tile.num_warps` wins">,
  ];
}

def TileSimplifyLayoutConversions
    : Pass<"tile-simplify-layout-conversions", "::mlir::ModuleOp"> {
  let summary = "Moves layout conversions to where they cost nothing";
  let description = [{
    Rewrites `convert_layout(op(x))` to `op(convert_layout(x))` where the
    operation moves no data (permute, reshape, broadcast, unpack, pack) or is
    cheap, and lets loads, constants, splats and iotas produce the wanted layout
    themselves. A conversion that is left is data movement between lanes.

    Example:

    ```mlir
    %x = tile.load %m[%i, %k] : ... -> tensor<16x32xbf16, #blocked>
    %y = tile.convert_layout %x : ... -> tensor<16x32xbf16, #lhs>
    // becomes
    %y = tile.load %m[%i, %k] : ... -> tensor<16x32xbf16, #lhs>
    ```
  }];
  let dependentDialects = ["::tile::TileDialect"];
}

def TileStageLoads : Pass<"tile-stage-loads", "::mlir::ModuleOp"> {
  let summary = "Takes operands of multiplies in loops through shared memory";
  let description = [{
    Replaces each `tile.load` of a loop whose tile goes to a multiply, and whose
    position depends on the iteration alone, by an asynchronous copy to a buffer
    in shared memory and a read of it. What cannot be copied in pieces of at least
    four bytes stays a load; a remark says why.

    What is the same in every iteration is fetched once: an operand of a multiply
    by a copy in front of the loop, other tiles by a load there, as long as they
    take few registers. A position may come from memory that the loop does not
    write, as in a table of pages.

    Example:

    ```mlir
    scf.for %k = ... {
      %x = tile.load %m[%i, %k] : ... -> tensor<64x64xbf16, #lhs>
      %r = tile.mmaf %x, ...
    // becomes
    %b = tile.alloc_buffer : !tile.buffer<1x64x64xbf16>
    scf.for %k = ... {
      tile.barrier
      tile.copy_async %m[%i, %k] to %b[%c0] : ...
      tile.commit_copies
      tile.wait_copies {pending = 0 : i32}
      %x = tile.read_buffer %b[%c0] : ... -> tensor<64x64xbf16, #lhs>
      %r = tile.mmaf %x, ...
    ```
  }];
  let dependentDialects = ["::tile::TileDialect", "::mlir::arith::ArithDialect"];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"\"",
           "Target name; one of the rows of docs/targets.md">,
  ];
  let statistics = [
    Statistic<"numStaged", "num-staged", "Number of loads staged">,
    Statistic<"numHoisted", "num-hoisted", "Number of loads moved before loops">,
  ];
}

def TilePipelineLoops : Pass<"tile-pipeline-loops", "::mlir::ModuleOp"> {
  let summary = "Starts the copies of later iterations ahead";
  let description = [{
    Gives the buffers of a staged loop a slot per stage and moves the copies of
    iteration i + N - 1 in front of the computation of iteration i. Right for
    every trip count. The number of stages is `num-stages`, or the kernel's
    `tile.num_stages`, or as many as shared memory holds, up to 4.

    Example, for two stages:

    ```mlir
    %b = tile.alloc_buffer : !tile.buffer<2x64x64xbf16>
    tile.copy_async %m[%i, %lb] to %b[%c0] if %some : ...
    tile.commit_copies
    scf.for %k = ... iter_args(..., %read = %c0, %fill = %c1) {
      tile.wait_copies {pending = 0 : i32}
      tile.copy_async %m[%i, %next] to %b[%fill] if %more : ...
      tile.commit_copies
      %x = tile.read_buffer %b[%read] : ...
    ```
  }];
  let dependentDialects = ["::tile::TileDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"\"",
           "Target name; one of the rows of docs/targets.md">,
    Option<"numStages", "num-stages", "unsigned", /*default=*/"0",
           "Stages of the pipeline; 0 chooses; the kernel's "
           "`tile.num_stages` wins">,
  ];
  let statistics = [
    Statistic<"numPipelined", "num-pipelined", "Number of loops pipelined">,
  ];
}

def TileStepMultiplies : Pass<"tile-step-multiplies", "::mlir::ModuleOp"> {
  let summary = "Divides staged multiplies into steps along K";
  let description = [{
    A multiply whose operands are read from shared memory becomes one per step of
    K, each with reads of its own part: as many values as one instruction takes,
    or the 32 that are decoded together. Steps that decode stay a loop, since
    otherwise the assembler moves the decoding of later steps ahead until
    registers run out; native ones are unrolled. Block-scaled multiplies are left
    alone: their instructions pick the scales of a step from words that have
    those of several.

    With `unpack-ahead=1` the operands of step j + 1 are read before the
    multiplies of step j, with `0` they are not. `auto` reads ahead unless what
    is decoded is FP8, a step of which takes too many registers.

    Example, for 64 values of K and `unpack-ahead=0`:

    ```mlir
    %x = tile.read_buffer %b[%s] : !tile.buffer<3x16x64xf8E4M3FN> -> tensor<16x64xf8E4M3FN>
    %y = tile.read_buffer %c[%s] : ...
    %r = tile.mmaf %x, %y, %acc {atom = "m16n8k16.f16.f16", ...} : ...
    // becomes
    %r = scf.for %j = %c0 to %c2 step %c1 iter_args(%a = %acc) {
      %x = tile.read_buffer %b[%s] at[%c0, %j]
         : !tile.buffer<3x16x64xf8E4M3FN> -> tensor<16x32xf8E4M3FN>
      %y = tile.read_buffer %c[%s] at[%j, %c0] : ...
      %t = tile.mmaf %x, %y, %a {atom = "m16n8k16.f16.f16", ...} : ...
      scf.yield %t
    }
    ```
  }];
  let dependentDialects = ["::tile::TileDialect", "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
  let options = [
    Option<"unpackAhead", "unpack-ahead", "std::string", /*default=*/"\"auto\"",
           "Steps whose operands are read ahead: `auto`, `0` or `1`">,
  ];
  let statistics = [
    Statistic<"numStepped", "num-stepped", "Number of multiplies divided">,
  ];
}

def TilePrintLayouts : Pass<"tile-print-layouts", "::mlir::ModuleOp"> {
  let summary = "Prints each layout of the module as a table";
  let description = [{
    Writes, for every tensor type with a `#tile.layout`, which lane and register
    of which warp holds each element. Changes nothing.
  }];
}

#endif // TILE_TRANSFORMS_PASSES_TD
