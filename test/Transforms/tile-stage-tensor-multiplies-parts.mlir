// Sums in parts along N: the loops of later parts stand behind the last use of the
// first ones, so nothing that they load may be written before, and each part starts
// at its share of the initial sums.

// RUN: tile-opt %s --tile-legalize-scaled-mma=target=sm_100a --remarks-filter='tile-.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: tile-opt %s --tile-legalize-scaled-mma=target=sm_100a --tile-stage-tensor-multiplies=target=sm_100a | FileCheck %s

!e4m3 = memref<?x?xf8E4M3FN, strided<[?, 1]>>
!ue8  = memref<?x?xf8E8M0FNU, strided<[?, 1]>>
!f32  = memref<?x?xf32, strided<[?, 1]>>

// REMARK: [Passed] scaled-mma | {{.*}} | Function=constant
// CHECK-LABEL: func.func @constant(
// CHECK: %[[INIT:.*]] = arith.constant dense<1.500000e+00> : tensor<256x128xf32>
// CHECK: tile.store_tensor_memory %[[INIT]] to %{{.*}} : tensor<256x128xf32>, !tile.tensor_memory<1x256x128xf32>
// CHECK: tile.store_tensor_memory %{{.*}} to %{{.*}} : tensor<256x128xf32>, !tile.tensor_memory<1x256x128xf32>
func.func @constant(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %i = tile.program_id 0
  %init = arith.constant dense<1.5> : tensor<256x256xf32>
  %s = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %init) -> (tensor<256x256xf32>) {
    %at = arith.addi %k, %c0 : index
    %x = tile.load %xm[%i, %at] : !e4m3 -> tensor<256x64xf8E4M3FN>
    %wr = tile.load %wm[%i, %k] : !e4m3 -> tensor<256x64xf8E4M3FN>
    %w = tile.permute %wr [1, 0] : tensor<256x64xf8E4M3FN> -> tensor<64x256xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<256x2xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<256x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<256x2xf8E8M0FNU> -> tensor<2x256xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<256x64xf8E4M3FN>, tensor<64x256xf8E4M3FN>, tensor<256x256xf32>, tensor<256x2xf8E8M0FNU>, tensor<2x256xf8E8M0FNU>
    scf.yield %r : tensor<256x256xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<256x256xf32>, !f32
  return
}

// REMARK: Function=loaded | Reason="tensor memory: sums in parts must start at a constant"
// CHECK-LABEL: func.func @loaded(
// CHECK-NOT: tile.multiply_async
func.func @loaded(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %i = tile.program_id 0
  %init = tile.load %z[%i, %i] : !f32 -> tensor<256x256xf32>
  %s = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %init) -> (tensor<256x256xf32>) {
    %at = arith.addi %k, %c0 : index
    %x = tile.load %xm[%i, %at] : !e4m3 -> tensor<256x64xf8E4M3FN>
    %wr = tile.load %wm[%i, %k] : !e4m3 -> tensor<256x64xf8E4M3FN>
    %w = tile.permute %wr [1, 0] : tensor<256x64xf8E4M3FN> -> tensor<64x256xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<256x2xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<256x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<256x2xf8E8M0FNU> -> tensor<2x256xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<256x64xf8E4M3FN>, tensor<64x256xf8E4M3FN>, tensor<256x256xf32>, tensor<256x2xf8E8M0FNU>, tensor<2x256xf8E8M0FNU>
    scf.yield %r : tensor<256x256xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<256x256xf32>, !f32
  return
}

// Another store between the loop and the use of its sums.
// REMARK: Function=other_store | Reason="tensor memory: memory is written between parts of the sums"
// CHECK-LABEL: func.func @other_store(
// CHECK-NOT: tile.multiply_async
func.func @other_store(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %i = tile.program_id 0
  %threes = arith.constant dense<3.0> : tensor<256x64xf8E4M3FN>
  %init = arith.constant dense<0.0> : tensor<256x256xf32>
  %s = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %init) -> (tensor<256x256xf32>) {
    %at = arith.addi %k, %c0 : index
    %x = tile.load %xm[%i, %at] : !e4m3 -> tensor<256x64xf8E4M3FN>
    %wr = tile.load %wm[%i, %k] : !e4m3 -> tensor<256x64xf8E4M3FN>
    %w = tile.permute %wr [1, 0] : tensor<256x64xf8E4M3FN> -> tensor<64x256xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<256x2xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<256x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<256x2xf8E8M0FNU> -> tensor<2x256xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<256x64xf8E4M3FN>, tensor<64x256xf8E4M3FN>, tensor<256x256xf32>, tensor<256x2xf8E8M0FNU>, tensor<2x256xf8E8M0FNU>
    scf.yield %r : tensor<256x256xf32>
  }
  tile.store %threes, %wm[%i, %c0] : tensor<256x64xf8E4M3FN>, !e4m3
  tile.store %s, %z[%i, %i] : tensor<256x256xf32>, !f32
  return
}

// The sums themselves go where the loop reads, through a view.
// REMARK: Function=in_place | Reason="tensor memory: memory is written between parts of the sums"
// CHECK-LABEL: func.func @in_place(
// CHECK-NOT: tile.multiply_async
func.func @in_place(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %i = tile.program_id 0
  %view = memref.subview %xm[%i, 0] [%i, 256] [1, 1] : !e4m3 to memref<?x256xf8E4M3FN, strided<[?, 1], offset: ?>>
  %init = arith.constant dense<0.0> : tensor<256x256xf32>
  %s = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %init) -> (tensor<256x256xf32>) {
    %at = arith.addi %k, %c0 : index
    %x = tile.load %xm[%i, %at] : !e4m3 -> tensor<256x64xf8E4M3FN>
    %wr = tile.load %wm[%i, %k] : !e4m3 -> tensor<256x64xf8E4M3FN>
    %w = tile.permute %wr [1, 0] : tensor<256x64xf8E4M3FN> -> tensor<64x256xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<256x2xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<256x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<256x2xf8E8M0FNU> -> tensor<2x256xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<256x64xf8E4M3FN>, tensor<64x256xf8E4M3FN>, tensor<256x256xf32>, tensor<256x2xf8E8M0FNU>, tensor<2x256xf8E8M0FNU>
    scf.yield %r : tensor<256x256xf32>
  }
  %f = tile.ftof %s : tensor<256x256xf32> -> tensor<256x256xf8E4M3FN>
  tile.store %f, %view[%c0, %c0] : tensor<256x256xf8E4M3FN>, memref<?x256xf8E4M3FN, strided<[?, 1], offset: ?>>
  return
}

// So is the table that says where to read.
// REMARK: Function=pages | Reason="tensor memory: memory is written between parts of the sums"
// CHECK-LABEL: func.func @pages(
// CHECK-NOT: tile.multiply_async
func.func @pages(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %table: memref<?x?xi32, strided<[?, 1]>>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %i = tile.program_id 0
  %init = arith.constant dense<0.0> : tensor<256x256xf32>
  %s = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %init) -> (tensor<256x256xf32>) {
    %page = memref.load %table[%k, %k] : memref<?x?xi32, strided<[?, 1]>>
    %at = arith.index_cast %page : i32 to index
    %x = tile.load %xm[%i, %at] : !e4m3 -> tensor<256x64xf8E4M3FN>
    %wr = tile.load %wm[%i, %k] : !e4m3 -> tensor<256x64xf8E4M3FN>
    %w = tile.permute %wr [1, 0] : tensor<256x64xf8E4M3FN> -> tensor<64x256xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<256x2xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<256x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<256x2xf8E8M0FNU> -> tensor<2x256xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<256x64xf8E4M3FN>, tensor<64x256xf8E4M3FN>, tensor<256x256xf32>, tensor<256x2xf8E8M0FNU>, tensor<2x256xf8E8M0FNU>
    scf.yield %r : tensor<256x256xf32>
  }
  %t = arith.fptosi %s : tensor<256x256xf32> to tensor<256x256xi32>
  tile.store %t, %table[%i, %i] : tensor<256x256xi32>, memref<?x?xi32, strided<[?, 1]>>
  return
}
