//===- Passes.td - Conversions out of the tile dialect -----*- tablegen -*-===//

#ifndef TILE_CONVERSION_PASSES_TD
#define TILE_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

// In the order in which the pipeline runs them.

def TileDistribute : Pass<"tile-distribute", "::mlir::ModuleOp"> {
  let summary = "Distributes tiles over the lanes and warps of a block";
  let description = [{
    Input: kernels in which every tensor carries a `#tile.layout`. Output: one
    `llvm.func` per kernel with the ABI of docs/spec.md, whose body is what one
    thread does: `scf` and scalar `arith`/`math`, `llvm` memory operations,
    `nvvm` tensor-core instructions, shuffles and barriers. No tensor and no
    operation of the tile dialect is left.

    Elements below 32 bits live packed in 32-bit words, so `unpack`, `pack`,
    `permute` and `reshape` cost no instruction. An expanded multiply decodes
    its packed operands here, next to the instruction.

    Example:

    ```mlir
    %s = arith.addf %a, %b : tensor<32xf32, #layout> // one element per lane
    // becomes
    %s = arith.addf %a0, %b0 : f32
    ```
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::tile::TileDialect"
  ];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"\"",
           "Target name; one of the rows of docs/targets.md">,
    Option<"fp4Cvt", "fp4-cvt", "std::string", /*default=*/"\"auto\"",
           "How f32 becomes f4E2M1FN: `auto` (the hardware's `cvt` where the "
           "target has it), `hardware` (an error where it has not) or "
           "`software`. And how f4E2M1FN becomes bf16 or f16: `auto` takes "
           "`cvt` only where that is shorter">,
    Option<"ptxVersion", "ptx-version", "unsigned", /*default=*/"0",
           "A `.version` of PTX that is known to be taken, 92 being 9.2: "
           "instructions of it are used where they are shorter">,
  ];
}

def TileExpandMath : Pass<"tile-expand-math", "::mlir::ModuleOp"> {
  let summary = "Expands scalar math and arith operations to accurate code";
  let description = [{
    Input: what one thread does, in scalars; operations on tensors and vectors
    are left alone. Output: `arith`, `scf`, `llvm` and `nvvm` operations for
    which the NVPTX back end selects instructions that keep the bounds of
    docs/numerics.md, on every target alike; no scalar `math` is left.

    `math`: the back end aborts on most functions, and its approximate
    instructions miss the bounds near zeros and for large arguments. absf,
    floor, ceil, trunc, roundeven, sqrt and fma become exact; exp, exp2, log,
    log2, rsqrt, tanh and erf are within 2^-20 relative; sin and cos within
    2^-20 absolute for arguments up to 2^8. f16 and bf16 are computed in f32
    and rounded once. Any other function is an error.

    `arith`: what the back end gets wrong is written out (remf, which it
    approximates; integers to bf16, which it rounds twice; floats to i1), and
    what `arith` leaves undefined gets a value, because the elements outside a
    mask are computed too: a shift by the width or more moves every bit out; a
    float that does not fit an integer becomes the nearest one, NaN becomes 0;
    an integer divided by zero is divided by one, and a quotient that does not
    fit wraps. Divisions that round up or down are written out. Fast-math flags
    are dropped. A truncf with a rounding mode other than to nearest even is an
    error.

    Example:

    ```mlir
    %y = math.exp2 %x : f32
    %q = arith.ceildivui %a, %c16 : i32
    // becomes
    %y = llvm.intr.exp2(%x) : (f32) -> f32
    %d = arith.divui %a, %c16 : i32
    %r = arith.remui %a, %c16 : i32
    %up = arith.cmpi ne, %r, %c0 : i32
    %d1 = arith.addi %d, %c1 : i32
    %q = arith.select %up, %d1, %d : i32
    ```
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"
  ];
}

#endif // TILE_CONVERSION_PASSES_TD
