// Where the path is native, what tensor memory cannot compute is an error, with
// the reason that the remark has otherwise.

// RUN: tile-opt %s --split-input-file --verify-diagnostics --tile-legalize-scaled-mma="target=sm_100a mma-path=native"

func.func @in_no_loop(%x: tensor<128x64xf4E2M1FN>, %w: tensor<64x64xf4E2M1FN>, %a: tensor<128x64xf32>,
                      %sx: tensor<128x4xf8E4M3FN>, %sw: tensor<4x64xf8E4M3FN>) -> tensor<128x64xf32> {
  // expected-error @below {{has no native form: tensor memory: it is in no loop; use mma-path=expand}}
  %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw
     : tensor<128x64xf4E2M1FN>, tensor<64x64xf4E2M1FN>, tensor<128x64xf32>, tensor<128x4xf8E4M3FN>, tensor<4x64xf8E4M3FN>
  return %r : tensor<128x64xf32>
}

// -----

func.func @two_warps(%xm: memref<?x?xf8E4M3FN>, %wm: memref<?x?xf8E4M3FN>, %sm: memref<?x?xf8E8M0FNU>, %z: memref<?x?xf32>, %n: index)
    attributes {tile.kernel, tile.num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x64xf32>) {
    %x = tile.load %xm[%c0, %k] : memref<?x?xf8E4M3FN> -> tensor<128x64xf8E4M3FN>
    %w = tile.load %wm[%k, %c0] : memref<?x?xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %sx = tile.load %sm[%c0, %k] : memref<?x?xf8E8M0FNU> -> tensor<128x2xf8E8M0FNU>
    %sw = tile.load %sm[%k, %c0] : memref<?x?xf8E8M0FNU> -> tensor<2x64xf8E8M0FNU>
    // expected-error @below {{has no native form: tensor memory: it takes four warps or more, but the kernel has 2; use mma-path=expand}}
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw
       : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>, tensor<128x2xf8E8M0FNU>, tensor<2x64xf8E8M0FNU>
    scf.yield %r : tensor<128x64xf32>
  }
  tile.store %s, %z[%c0, %c0] : tensor<128x64xf32>, memref<?x?xf32>
  return
}
