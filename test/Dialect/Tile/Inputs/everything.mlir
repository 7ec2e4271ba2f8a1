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

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
#chunk = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 128, 256] : 512>
!slots = !tile.buffer<3x128x32xi8, #rows>
!scales = !tile.tensor_memory<3x128x4xf8E4M3FN>
!sums = !tile.tensor_memory<1x128x128xf32>

func.func @tensor_memory(%x: memref<?x?xi8>, %s: memref<?x?xf8E4M3FN>, %k: index, %p: i32, %b: i1) -> tensor<128x32xf32> {
  %c0 = arith.constant 0 : index
  %a = tile.alloc_buffer {cleared} : !slots
  %r = tile.alloc_buffer : !tile.buffer<1x8x8xi8, padded>
  %c = tile.alloc_buffer : !tile.buffer<3x128x4xf8E4M3FN, #chunk>
  %t = tile.alloc_tensor_memory : !scales
  %acc = tile.alloc_tensor_memory : !sums
  %full = tile.alloc_barriers : !tile.barriers<3>
  tile.init_barriers %full {arrivals = 64 : i32} : !tile.barriers<3>
  tile.barrier
  tile.warp_roles copiers {
    tile.wait_barrier %full[%k] parity %p : !tile.barriers<3>
    tile.copy_async %x[%k, %c0] to %a[%k] if %b {moving = array<i64: 0>} : memref<?x?xi8>, !slots
    tile.commit_copies
    tile.arrive_copies %full[%k] {pending = 1 : i32} : !tile.barriers<3>
    tile.expect_bytes %full[%k] {bytes = 4096 : i32} : !tile.barriers<3>
    tile.copy_tensor %x[%k, %c0] to %a[%k] signal %full : memref<?x?xi8>, !slots, !tile.barriers<3>
  } issuer {
    tile.copy_scales %c[%k] to %t[%k] : !tile.buffer<3x128x4xf8E4M3FN, #chunk>, !scales
    tile.multiply_async %a[%k], %a[%k], %acc scales %t[%k], %t[%k] accumulate %b shape [1, 128, 128, 64] {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"} : !slots, !slots, !sums, !scales, !scales
    tile.multiply_async %a[%k], %a[%k], %acc accumulate %b shape [1, 128, 128, 32] {atom = "m128n256k32.tcgen05.f8f6f4.e4m3.e4m3", lhs_mn_major} : !slots, !slots, !sums
    tile.commit_multiplies %full[%k] : !tile.barriers<3>
  }
  tile.wait_copies {async_proxy, pending = 0 : i32}
  tile.inval_barriers %full : !tile.barriers<3>
  %u = tile.load_tensor_memory %acc if %b : !sums -> tensor<128x128xf32>
  tile.store_tensor_memory %u to %acc : tensor<128x128xf32>, !sums
  %v = tile.load_tensor_memory %acc at[%c0, %k] : !sums -> tensor<128x32xf32>
  return %v : tensor<128x32xf32>
}
