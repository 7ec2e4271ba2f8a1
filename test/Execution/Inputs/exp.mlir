// z = exp(x), 64 values.
func.func @exp(%z : memref<?xf32>, %x : memref<?xf32>) attributes {tile.kernel} {
  %i = tile.program_id 0
  %v = tile.load %x[%i] : memref<?xf32> -> tensor<64xf32>
  %e = math.exp %v : tensor<64xf32>
  tile.store %e, %z[%i] : tensor<64xf32>, memref<?xf32>
  return
}
