// The escape hatch for bytes that are FP4 pairs but are not typed so: 32 bytes
// per tile program become 64 FP4 values and 32 pairs again, bit for bit.
//
//   tile-compile unpack_pack.mlir --target=sm_80
//
// Grid: ceil(bytes/32).

func.func @unpack_pack(%out : memref<?x!tile.f4E2M1FNx2>, %in : memref<?xi8>)
    attributes {tile.kernel} {
  %i = tile.program_id 0
  %bytes = tile.load %in[%i] : memref<?xi8> -> tensor<32xi8>
  %values = tile.unpack %bytes : tensor<32xi8> -> tensor<64xf4E2M1FN>
  %pairs = tile.pack %values : tensor<64xf4E2M1FN> -> tensor<32x!tile.f4E2M1FNx2>
  tile.store %pairs, %out[%i] : tensor<32x!tile.f4E2M1FNx2>, memref<?x!tile.f4E2M1FNx2>
  return
}
