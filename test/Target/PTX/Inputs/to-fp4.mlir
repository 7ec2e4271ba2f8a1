// y[64] = x[64] in FP4, two values per byte.

func.func @to_fp4(%y : memref<32xi8>, %x : memref<64xf32>)
    attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : memref<64xf32> -> tensor<64xf32>
  %q = tile.ftof %t : tensor<64xf32> -> tensor<64xf4E2M1FN>
  %p = tile.pack %q : tensor<64xf4E2M1FN> -> tensor<32xi8>
  tile.store %p, %y[%c0] : tensor<32xi8>, memref<32xi8>
  return
}
