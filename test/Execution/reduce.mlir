// Reductions along both dimensions, broadcasts and a transposition, over four
// warps: shuffles, shared memory and barriers, in two orders of the threads. Two
// unordered accesses to a byte of shared memory would be an error.

// RUN: tile-lane-run --check %s --target=sm_80,sm_120f --grid=2,2 \
// RUN:   out:50x100 out:100x50 in:50x100 --counts | FileCheck %s
// RUN: tile-lane-run --check %s --target=sm_80,sm_120f --grid=2,2 \
// RUN:   out:50x100 out:100x50 in:50x100 --counts --schedule=1 | FileCheck %s

// CHECK: sm_80: {{[0-9]+}} llvm.nvvm.barrier.cta.sync.aligned.all
// CHECK: sm_80: {{[0-9]+}} llvm.nvvm.shfl.sync
// CHECK: sm_80: 10000 elements agree
// CHECK: sm_120f: 10000 elements agree

func.func @reduce(%z : memref<?x?xf32>, %w : memref<?x?xf32>, %x : memref<?x?xf32>) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %m = tile.program_id 0
  %n = tile.program_id 1
  %v = tile.load %x[%m, %n] : memref<?x?xf32> -> tensor<32x64xf32>
  %r = tile.reduce add %v [1] : tensor<32x64xf32> -> tensor<32xf32>
  %r1 = tile.reshape %r : tensor<32xf32> -> tensor<32x1xf32>
  %c = tile.reduce max %v [0] : tensor<32x64xf32> -> tensor<64xf32>
  %c1 = tile.reshape %c : tensor<64xf32> -> tensor<1x64xf32>
  %rb = tile.broadcast %r1 : tensor<32x1xf32> -> tensor<32x64xf32>
  %cb = tile.broadcast %c1 : tensor<1x64xf32> -> tensor<32x64xf32>
  %s = arith.addf %rb, %cb : tensor<32x64xf32>
  %p = tile.permute %v [1, 0] : tensor<32x64xf32> -> tensor<64x32xf32>
  tile.store %s, %z[%m, %n] : tensor<32x64xf32>, memref<?x?xf32>
  tile.store %p, %w[%n, %m] : tensor<64x32xf32>, memref<?x?xf32>
  return
}
