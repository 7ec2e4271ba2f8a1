// z = x + y * alpha, and n is stored as it is.
func.func @axpy(%z : memref<?x8xf32>, %x : memref<?x8xf32>,
                %y : memref<?x8xbf16> {tile.shape_divisible_by = array<i64: 2, 8>},
                %n : memref<1xi64>, %alpha : f32, %count : i64)
    attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id 0
  %a = tile.load %x[%i, %c0] : memref<?x8xf32> -> tensor<2x8xf32>
  %b = tile.load %y[%i, %c0] : memref<?x8xbf16> -> tensor<2x8xbf16>
  %w = arith.extf %b : tensor<2x8xbf16> to tensor<2x8xf32>
  %s = tensor.splat %alpha : tensor<2x8xf32>
  %p = arith.mulf %w, %s : tensor<2x8xf32>
  %r = arith.addf %a, %p : tensor<2x8xf32>
  tile.store %r, %z[%i, %c0] : tensor<2x8xf32>, memref<?x8xf32>
  %first = arith.cmpi eq, %i, %c0 : index
  scf.if %first {
    %t = tensor.splat %count : tensor<1xi64>
    tile.store %t, %n[%c0] : tensor<1xi64>, memref<1xi64>
  }
  return
}
