//===- TileDialect.td - Tile dialect, types, attributes ----*- tablegen -*-===//
//
// The `tile` dialect itself, its packed FP4 type, its layout attribute and the
// type constraints of its operations.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_DIALECT_TILE_IR_TILEDIALECT_TD
#define TILE_DIALECT_TILE_IR_TILEDIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/TensorEncoding.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tile";
  let summary = "Block-scaled tile computations on builtin tensors.";
  let description = [{
    The `tile` dialect sits above `llvm`/`nvvm` and below a kernel author or a
    front end. It says *what* a kernel computes over tiles of static
    power-of-two shape, never how a target computes it. It adds only what
    upstream lacks: tile loads and stores, packed FP4, block-scaled multiplies.
    Loops and branches are `scf`, element-wise arithmetic is `arith` and `math`
    on tensors.

    A kernel is a `func.func` with the unit attribute `tile.kernel`. It is
    launched on a grid of one to three dimensions; each point of the grid, a
    *tile program*, runs the whole function once:

    ```mlir
    // z[i] = x[i] + y[i], 128 elements per tile program.
    func.func @add(%x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>)
        attributes {tile.kernel} {
      %i = tile.program_id 0
      %a = tile.load %x[%i] : memref<?xf32> -> tensor<128xf32>
      %b = tile.load %y[%i] : memref<?xf32> -> tensor<128xf32>
      %c = arith.addf %a, %b : tensor<128xf32>
      tile.store %c, %z[%i] : tensor<128xf32>, memref<?xf32>
      return
    }
    ```

    Types, attributes, calling convention and numeric contract are described in
    docs/spec.md; its constraint numbers (`load_c1`, …) stand beside each check.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  // `tile.kernel`, `tile.num_warps`, … on functions and their arguments.
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1; // the default accepts anything
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
  }];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Tile_F4E2M1FNx2 : TypeDef<Tile_Dialect, "F4E2M1FNx2", [
    MemRefElementTypeInterface
  ]> {
  let mnemonic = "f4E2M1FNx2";
  let summary = "one byte that holds two FP4 values";
  let description = [{
    The value with the even index is in bits 3..0, its successor in bits 7..4.
    `tile.unpack` turns it into `f4E2M1FN` values; no arithmetic is defined on
    the packed form. It is legal in `memref` and `tensor`.

    Example:

    ```mlir
    func.func @pairs(%x: memref<?x?x!tile.f4E2M1FNx2, strided<[?, 1]>>,
                     %i: index) -> tensor<16x64xf4E2M1FN> {
      %p = tile.load %x[%i, %i] : memref<?x?x!tile.f4E2M1FNx2, strided<[?, 1]>>
        -> tensor<16x32x!tile.f4E2M1FNx2>
      %v = tile.unpack %p
         : tensor<16x32x!tile.f4E2M1FNx2> -> tensor<16x64xf4E2M1FN>
      return %v : tensor<16x64xf4E2M1FN>
    }
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def Tile_LayoutAttr : AttrDef<Tile_Dialect, "Layout", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>
  ]> {
  let mnemonic = "layout";
  let summary = "which lane and register of which warp holds which element";
  let description = [{
    The encoding of a distributed tensor: a linear map over GF(2) from
    (register, lane, warp) to coordinates in the tile. Each list holds one
    coordinate per bit of its index; the element of a point is the xor of the
    coordinates of its set bits. A zero coordinate replicates.

    There are 5 lane bits, at most 5 warp bits and at most 20 register bits.
    As the encoding of a tensor type, a layout must stay inside the shape and
    cover it; a type for which it does not is an error wherever it is written.

    Example, the accumulator of m16n8 multiplies in one warp:

    ```mlir
    #acc = #tile.layout<register = [[0, 1], [8, 0]],
                        lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
                        warp = []>

    func.func private @accumulate(tensor<16x8xf32, #acc>)
    ```
  }];
  // Flattened coordinates: `rank` numbers per bit.
  let parameters = (ins
    "unsigned":$rank,
    ArrayRefParameter<"int64_t">:$registers,
    ArrayRefParameter<"int64_t">:$lanes,
    ArrayRefParameter<"int64_t">:$warps);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The layout of a tile of `shape`: `{register, lane, warp}` to
    /// `Space::ofTile(shape)`. Requires: every coordinate is inside `shape`.
    ::tile::LinearLayout toLinearLayout(::llvm::ArrayRef<int64_t> shape) const;
    /// The attribute of a layout from `{register, lane, warp}` to a tile.
    static LayoutAttr get(::mlir::MLIRContext *context,
                          const ::tile::LinearLayout &layout);
    /// Checks that the layout fits a tile of `shape` and covers it.
    ::llvm::LogicalResult verifyFor(
        ::llvm::ArrayRef<int64_t> shape,
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError) const;
  }];
}

def Tile_PlacementAttr : AttrDef<Tile_Dialect, "Placement"> {
  let mnemonic = "placement";
  let summary = "which byte of a slot of shared memory holds which element";
  let description = [{
    A linear map over GF(2) from the row-major index of an element in the tile to
    the offset of its first byte: one offset per bit of the index, lowest first,
    and the bytes of a slot. Swizzles, panels and the padding that instructions
    ask for are such maps. Different elements have different places.

    Example, eight rows of 32 bytes, swizzled so that the halves of the upper four
    rows change places:

    ```mlir
    #swizzled = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144] : 256>

    func.func private @stage(!tile.buffer<2x8x32xi8, #swizzled>)
    ```
  }];
  // A tile of one element has no index bits.
  let parameters = (ins OptionalArrayRefParameter<"int64_t">:$offsets,
                        "int64_t":$bytes);
  let assemblyFormat = "`<` `[` (`]`) : ($offsets^ `]`)? `:` $bytes `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// From `Space::ofTile(shape)` to `{offset}`. Requires: as many offsets as
    /// the index of an element in `shape` has bits.
    ::tile::LinearLayout toLinearLayout(::llvm::ArrayRef<int64_t> shape) const;
    /// The attribute of a layout from a tile to `{offset}`; a slot has as many
    /// bytes as the codomain.
    static PlacementAttr get(::mlir::MLIRContext *context,
                             const ::tile::LinearLayout &layout);
  }];
}

def Tile_RoundingTowardZero : I32EnumAttrCase<"TowardZero", 0, "toward_zero">;
def Tile_RoundingUpward : I32EnumAttrCase<"Upward", 1, "upward">;
def Tile_RoundingModeAttr : I32EnumAttr<"RoundingMode",
    "how a conversion to f8E8M0FNU rounds",
    [Tile_RoundingTowardZero, Tile_RoundingUpward]> {
  let cppNamespace = "::tile";
}

def Tile_ReduceKindAttr : I32EnumAttr<"ReduceKind", "kind of a reduction", [
    I32EnumAttrCase<"Add", 0, "add">,
    I32EnumAttrCase<"Mul", 1, "mul">,
    I32EnumAttrCase<"Max", 2, "max">,
    I32EnumAttrCase<"Min", 3, "min">,
    I32EnumAttrCase<"And", 4, "and">,
    I32EnumAttrCase<"Or", 5, "or">,
    I32EnumAttrCase<"Xor", 6, "xor">
  ]> {
  let cppNamespace = "::tile";
}

//===----------------------------------------------------------------------===//
// Type constraints
//===----------------------------------------------------------------------===//

/// Element formats that carry a block scale.
defvar Tile_ScaledElements = [F4E2M1FN, F8E4M3FN, F8E5M2];
/// Element formats that a weight-only multiply leaves unscaled.
defvar Tile_PlainElements = [BF16, F16];
/// Scale formats: E8M0 (OCP MX) and non-negative E4M3 (NVFP4).
defvar Tile_ScaleElements = [F8E8M0FNU, F8E4M3FN];

/// Static power-of-two extents, a legal element type, at most 2^20 elements.
def Tile_IsTile : CPred<"::tile::isTile($_self)">;

/// A tile of one of a few element types.
class Tile_TileOf<list<Type> elements>
    : ConfinedType<StaticShapeTensorOf<elements>, [Tile_IsTile],
                   "tile (power-of-two extents, at most 2^20 elements) of "
                   # !interleave(!foreach(t, elements, t.summary), " or "),
                   "::mlir::RankedTensorType">;

/// A tile of any element type that a tile may have.
def Tile_AnyTile : ConfinedType<AnyStaticShapeTensor, [Tile_IsTile],
    "tile (power-of-two extents, at most 2^20 elements) of i1, i8, i16, i32, "
    "i64, index, bf16, f16, f32, f8E4M3FN, f8E5M2, f8E8M0FNU, f4E2M1FN or "
    "!tile.f4E2M1FNx2", "::mlir::RankedTensorType">;
def Tile_IndexTile : Tile_TileOf<[I32, I64, Index]>;
def Tile_MaskTile : Tile_TileOf<[I1]>;
def Tile_FloatTile : Tile_TileOf<[F4E2M1FN, F8E4M3FN, F8E5M2, F8E8M0FNU, BF16,
                                  F16, F32]>;

/// A tile that takes part in a matrix multiply, with a batch if it is 3-D.
class Tile_MatrixOf<list<Type> elements>
    : ConfinedType<StaticShapeTensorOf<elements>,
                   [HasAnyRankOfPred<[2, 3]>, Tile_IsTile],
                   "2-D or 3-D tile (power-of-two extents, at most 2^20 "
                   "elements) of "
                   # !interleave(!foreach(t, elements, t.summary), " or "),
                   "::mlir::RankedTensorType">;

#endif // TILE_DIALECT_TILE_IR_TILEDIALECT_TD
