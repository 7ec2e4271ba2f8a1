// z = count where the flag is set, else the code that an FP8 number has.
func.func @scalars(%z : memref<?xi32>, %codes : memref<1xf8E4M3FN>, %flag : i1,
                   %count : i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %a = tile.load %codes[%c0] : memref<1xf8E4M3FN> -> tensor<1xf8E4M3FN>
  %b = arith.bitcast %a : tensor<1xf8E4M3FN> to tensor<1xi8>
  %c = arith.extui %b : tensor<1xi8> to tensor<1xi32>
  %d = tensor.splat %count : tensor<1xi32>
  %e = arith.select %flag, %d, %c : tensor<1xi32>
  tile.store %e, %z[%c0] : tensor<1xi32>, memref<?xi32>
  return
}
