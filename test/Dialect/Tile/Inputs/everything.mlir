#a = #tile.layout<register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#b = #tile.layout<register = [[8, 0], [0, 1]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>

func.func @everything(%x: memref<?x?x!tile.f4E2M1FNx2, strided<[?, 1]>> {tile.shape_divisible_by = array<i64: 16, 32>}, %s: memref<?x?xf8E4M3FN>, %z: memref<?x?xf32>, %n: i32)
    attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 2 : i32, tile.mma_path = "auto"} {
  %m = tile.program_id 0
  %np = tile.num_programs 1
  %k = tile.assume %np {divisible_by = 16 : i64, min = 0 : i64} : index
  %p = tile.load %x[%m, %k] : memref<?x?x!tile.f4E2M1FNx2, strided<[?, 1]>> -> tensor<16x32x!tile.f4E2M1FNx2>
  %u = tile.unpack %p : tensor<16x32x!tile.f4E2M1FNx2> -> tensor<16x64xf4E2M1FN>
  %t = tile.permute %u [1, 0] : tensor<16x64xf4E2M1FN> -> tensor<64x16xf4E2M1FN>
  %sa = tile.load %s[%m, %k] : memref<?x?xf8E4M3FN> -> tensor<16x4xf8E4M3FN>
  %sb = tile.permute %sa [1, 0] : tensor<16x4xf8E4M3FN> -> tensor<4x16xf8E4M3FN>
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  %d = tile.mmaf_scaled %u, %t, %c, %sa, %sb : tensor<16x64xf4E2M1FN>, tensor<64x16xf4E2M1FN>, tensor<16x16xf32>, tensor<16x4xf8E4M3FN>, tensor<4x16xf8E4M3FN>
  %h = tile.ftof %d : tensor<16x16xf32> -> tensor<16x16xbf16>
  %e = tile.mmaf %h, %h, %d {path = "expand"} : tensor<16x16xbf16>, tensor<16x16xbf16>, tensor<16x16xf32>
  %q = tile.pack %u : tensor<16x64xf4E2M1FN> -> tensor<16x32xi8>
  %r = tile.reduce max %e [1] : tensor<16x16xf32> -> tensor<16xf32>
  %v = tile.reshape %r : tensor<16xf32> -> tensor<16x1xf32>
  %w = tile.broadcast %v : tensor<16x1xf32> -> tensor<16x16xf32>
  %f = tile.ftof %w upward : tensor<16x16xf32> -> tensor<16x16xf8E8M0FNU>
  %i = tile.iota : tensor<16xi32>
  %j = tile.reshape %i : tensor<16xi32> -> tensor<1x16xi32>
  %y = tile.reshape %i : tensor<16xi32> -> tensor<16x1xi32>
  %o = arith.constant dense<true> : tensor<16x16xi1>
  %g = tile.gather %z[%y, %j] mask %o : memref<?x?xf32>, tensor<16x1xi32>, tensor<1x16xi32>, tensor<16x16xi1> -> tensor<16x16xf32>
  tile.scatter %g, %z[%y, %j] : tensor<16x16xf32>, memref<?x?xf32>, tensor<16x1xi32>, tensor<1x16xi32>
  tile.store %e, %z[%m, %k] : tensor<16x16xf32>, memref<?x?xf32>
  %l = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf8E4M3FN>
  %l2 = tile.permute %l [1, 0] : tensor<2x2xf8E4M3FN> -> tensor<2x2xf8E4M3FN>
  %l3 = tile.ftof %l2 : tensor<2x2xf8E4M3FN> -> tensor<2x2xf4E2M1FN>
  %l4 = tile.pack %l3 : tensor<2x2xf4E2M1FN> -> tensor<2x1xi8>
  return
}

func.func @convert(%x: tensor<16x8xf32, #a>) -> tensor<16x8xf32, #b> {
  %0 = tile.convert_layout %x : tensor<16x8xf32, #a> -> tensor<16x8xf32, #b>
  return %0 : tensor<16x8xf32, #b>
}
