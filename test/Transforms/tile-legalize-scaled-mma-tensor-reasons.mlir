// What keeps a multiply out of tensor memory is said where it expands: of one in no
// loop, what keeps out a loop of its own, and of FP8 without scales as well.

// DEFINE: %{remarks} = --remarks-filter='tile-.*' --remark-format=emitRemark -o /dev/null 2>&1
// RUN: tile-opt %s --tile-legalize-scaled-mma=target=sm_100a %{remarks} | FileCheck %s
// RUN: tile-opt %s --tile-legalize-scaled-mma=target=sm_100 %{remarks} | FileCheck %s --check-prefix=PLAIN

!e4m3 = memref<?x?xf8E4M3FN, strided<[?, 1]>>
!any  = memref<?x?xf8E4M3FN, strided<[?, ?]>>
!pairs = memref<?x?x!tile.f4E2M1FNx2, strided<[1, ?]>>
!f32  = memref<?x?xf32, strided<[?, 1]>>

// CHECK: Function=along_n | Reason="tensor memory: FP4 operands must be contiguous along K, but lhs is along the other dimension", atom=m16n8k16.bf16.bf16, path=expand
func.func @along_n(%x: !pairs, %s: !e4m3, %z: !f32) attributes {tile.kernel} {
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %p = tile.load %x[%i, %i] : !pairs -> tensor<128x32x!tile.f4E2M1FNx2>
  %v = tile.unpack %p : tensor<128x32x!tile.f4E2M1FNx2> -> tensor<128x64xf4E2M1FN>
  %t = tile.permute %v [1, 0] : tensor<128x64xf4E2M1FN> -> tensor<64x128xf4E2M1FN>
  %l = tile.load %s[%i, %i] : !e4m3 -> tensor<128x4xf8E4M3FN>
  %r = tile.permute %l [1, 0] : tensor<128x4xf8E4M3FN> -> tensor<4x128xf8E4M3FN>
  %c = tile.mmaf_scaled %v, %t, %zero, %l, %r : tensor<128x64xf4E2M1FN>, tensor<64x128xf4E2M1FN>, tensor<128x128xf32>, tensor<128x4xf8E4M3FN>, tensor<4x128xf8E4M3FN>
  tile.store %c, %z[%i, %i] : tensor<128x128xf32>, !f32
  return
}

// CHECK: [Missed] mma | {{.*}} | Function=fp8 | Reason="tensor memory: no dimension of an operand has stride 1", atom=m16n8k16.f16.f16, path=expand
// PLAIN: [Missed] mma | {{.*}} | Function=fp8 | Reason="sm_100 has no full-sum instruction for 'f8E4M3FN' by 'f8E4M3FN'; the family has it on sm_100a, sm_100f, sm_103a, sm_103f"
func.func @fp8(%x: !any, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x128xf32>) {
    %v = tile.load %x[%i, %k] : !any -> tensor<128x64xf8E4M3FN>
    %t = tile.permute %v [1, 0] : tensor<128x64xf8E4M3FN> -> tensor<64x128xf8E4M3FN>
    %r = tile.mmaf %v, %t, %a : tensor<128x64xf8E4M3FN>, tensor<64x128xf8E4M3FN>, tensor<128x128xf32>
    scf.yield %r : tensor<128x128xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<128x128xf32>, !f32
  return
}

// CHECK: [Missed] mma | {{.*}} | Function=fp8_alone | Reason="tensor memory: it is in no loop", atom=m16n8k16.f16.f16, path=expand
func.func @fp8_alone(%x: !e4m3, %z: !f32) attributes {tile.kernel} {
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %v = tile.load %x[%i, %i] : !e4m3 -> tensor<128x64xf8E4M3FN>
  %t = tile.permute %v [1, 0] : tensor<128x64xf8E4M3FN> -> tensor<64x128xf8E4M3FN>
  %r = tile.mmaf %v, %t, %zero : tensor<128x64xf8E4M3FN>, tensor<64x128xf8E4M3FN>, tensor<128x128xf32>
  tile.store %r, %z[%i, %i] : tensor<128x128xf32>, !f32
  return
}
