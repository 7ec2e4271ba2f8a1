// Which multiplies go to tensor memory, and for each reason why not a loop that it
// keeps out. A multiply that could have a loop of its own is no such example, so
// these load an operand in front of their loop, or have sums that take parts.

// DEFINE: %{remarks} = --remarks-filter='tile-.*' --remark-format=emitRemark -o /dev/null 2>&1
// RUN: tile-opt %s --tile-legalize-scaled-mma=target=sm_100a %{remarks} | FileCheck %s
// RUN: tile-opt %s --tile-legalize-scaled-mma="target=sm_100a mma-path=expand" %{remarks} | FileCheck %s --check-prefix=EXPAND
// RUN: tile-opt %s --tile-legalize-scaled-mma="target=sm_100a num-warps=2" %{remarks} | FileCheck %s --check-prefix=WARPS
// RUN: tile-opt %s --tile-legalize-scaled-mma="target=sm_100a num-warps=4" %{remarks} | FileCheck %s --check-prefix=FOUR

!e4m3 = memref<?x?xf8E4M3FN, strided<[?, 1]>>
!ue8  = memref<?x?xf8E8M0FNU, strided<[?, 1]>>
!f32  = memref<?x?xf32, strided<[?, 1]>>

// What goes there.
// CHECK: remark: [Passed] scaled-mma | Category:tile-legalize-scaled-mma | Function=taken | Reason="the target has the instruction", atom=m128n256k32.tcgen05.mxf8f6f4.block32.e4m3.e4m3.ue8m0, path=native, target=sm_100a
// EXPAND: remark: [Missed] scaled-mma | {{.*}} | Function=taken | Reason=mma-path=expand, atom=m16n8k16.bf16.bf16, path=expand
// WARPS: Function=taken | Reason="tensor memory: it takes four warps or more, but the kernel has 2", atom=m16n8k16.bf16.bf16, path=expand
// FOUR: Function=taken | Reason="the target has the instruction", atom=m128n256k32.tcgen05.mxf8f6f4.block32.e4m3.e4m3.ue8m0, path=native
func.func @taken(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x64xf32>) {
    %x = tile.load %xm[%i, %k] : !e4m3 -> tensor<128x64xf8E4M3FN>
    %wr = tile.load %wm[%i, %k] : !e4m3 -> tensor<64x64xf8E4M3FN>
    %w = tile.permute %wr [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<128x2xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<64x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<64x2xf8E8M0FNU> -> tensor<2x64xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>, tensor<128x2xf8E8M0FNU>, tensor<2x64xf8E8M0FNU>
    scf.yield %r : tensor<128x64xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<128x64xf32>, !f32
  return
}

// The kernel's own number of warps wins.
// CHECK: Function=two_warps | Reason="tensor memory: it takes four warps or more, but the kernel has 2", atom=m16n8k16.bf16.bf16, path=expand
// FOUR: Function=two_warps | Reason="tensor memory: it takes four warps or more, but the kernel has 2"
func.func @two_warps(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %n: index) attributes {tile.kernel, tile.num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x64xf32>) {
    %x = tile.load %xm[%i, %k] : !e4m3 -> tensor<128x64xf8E4M3FN>
    %wr = tile.load %wm[%i, %k] : !e4m3 -> tensor<64x64xf8E4M3FN>
    %w = tile.permute %wr [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<128x2xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<64x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<64x2xf8E8M0FNU> -> tensor<2x64xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>, tensor<128x2xf8E8M0FNU>, tensor<2x64xf8E8M0FNU>
    scf.yield %r : tensor<128x64xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<128x64xf32>, !f32
  return
}

// So does its path.
// CHECK: Function=expanded | Reason=mma-path=expand, atom=m16n8k16.bf16.bf16, path=expand
func.func @expanded(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %n: index) attributes {tile.kernel, tile.mma_path = "expand"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x64xf32>) {
    %x = tile.load %xm[%i, %k] : !e4m3 -> tensor<128x64xf8E4M3FN>
    %wr = tile.load %wm[%i, %k] : !e4m3 -> tensor<64x64xf8E4M3FN>
    %w = tile.permute %wr [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<128x2xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<64x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<64x2xf8E8M0FNU> -> tensor<2x64xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>, tensor<128x2xf8E8M0FNU>, tensor<2x64xf8E8M0FNU>
    scf.yield %r : tensor<128x64xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<128x64xf32>, !f32
  return
}

// CHECK: Function=in_no_loop | Reason="tensor memory: it is in no loop", atom=m16n8k16.bf16.bf16, path=expand
func.func @in_no_loop(%x: tensor<128x64xf8E4M3FN>, %w: tensor<64x64xf8E4M3FN>, %a: tensor<128x64xf32>, %sx: tensor<128x2xf8E8M0FNU>, %sw: tensor<2x64xf8E8M0FNU>) -> tensor<128x64xf32> {
  %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>, tensor<128x2xf8E8M0FNU>, tensor<2x64xf8E8M0FNU>
  return %r : tensor<128x64xf32>
}

// What is loaded goes elsewhere as well.
// CHECK: Function=operand_used | Reason="tensor memory: the loop does more than multiply what it loads", atom=m16n8k16.bf16.bf16, path=expand
func.func @operand_used(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %wr = tile.load %wm[%i, %i] : !e4m3 -> tensor<64x64xf8E4M3FN>
  %w = tile.permute %wr [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x64xf32>) {
    %x = tile.load %xm[%i, %k] : !e4m3 -> tensor<128x64xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<128x2xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<64x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<64x2xf8E8M0FNU> -> tensor<2x64xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>, tensor<128x2xf8E8M0FNU>, tensor<2x64xf8E8M0FNU>
    tile.store %x, %xm[%i, %k] : tensor<128x64xf8E4M3FN>, !e4m3
    scf.yield %r : tensor<128x64xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<128x64xf32>, !f32
  return
}

// CHECK: Function=more_work | Reason="tensor memory: the loop does more than multiply what it loads", atom=m16n8k16.bf16.bf16, path=expand
func.func @more_work(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %n: index, %f: memref<?xf32>, %one: f32, %p: i1) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %wr = tile.load %wm[%i, %i] : !e4m3 -> tensor<64x64xf8E4M3FN>
  %w = tile.permute %wr [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x64xf32>) {
    %x = tile.load %xm[%i, %k] : !e4m3 -> tensor<128x64xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<128x2xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<64x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<64x2xf8E8M0FNU> -> tensor<2x64xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>, tensor<128x2xf8E8M0FNU>, tensor<2x64xf8E8M0FNU>
    scf.if %p {
      memref.store %one, %f[%k] : memref<?xf32>
    }
    scf.yield %r : tensor<128x64xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<128x64xf32>, !f32
  return
}

// Tiles are computed.
// CHECK: Function=tile_work | Reason="tensor memory: the loop does more than multiply what it loads", atom=m16n8k16.bf16.bf16, path=expand
func.func @tile_work(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %wr = tile.load %wm[%i, %i] : !e4m3 -> tensor<64x64xf8E4M3FN>
  %w = tile.permute %wr [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x64xf32>) {
    %x = tile.load %xm[%i, %k] : !e4m3 -> tensor<128x64xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<128x2xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<64x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<64x2xf8E8M0FNU> -> tensor<2x64xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>, tensor<128x2xf8E8M0FNU>, tensor<2x64xf8E8M0FNU>
    %b = arith.addf %zero, %zero : tensor<128x64xf32>
    scf.yield %r : tensor<128x64xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<128x64xf32>, !f32
  return
}

// CHECK: Function=loaded_before | Reason="tensor memory: an operand is not loaded in the loop", atom=m16n8k16.bf16.bf16, path=expand
func.func @loaded_before(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %x = tile.load %xm[%i, %i] : !e4m3 -> tensor<128x64xf8E4M3FN>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x64xf32>) {
    %wr = tile.load %wm[%i, %k] : !e4m3 -> tensor<64x64xf8E4M3FN>
    %w = tile.permute %wr [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<128x2xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<64x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<64x2xf8E8M0FNU> -> tensor<2x64xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>, tensor<128x2xf8E8M0FNU>, tensor<2x64xf8E8M0FNU>
    scf.yield %r : tensor<128x64xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<128x64xf32>, !f32
  return
}

// CHECK: Function=local | Reason="tensor memory: an operand is no part of an argument", atom=m16n8k16.bf16.bf16, path=expand
func.func @local(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %b = memref.alloc(%n, %n) : memref<?x?xf8E4M3FN>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x64xf32>) {
    %x = tile.load %b[%i, %k] : memref<?x?xf8E4M3FN> -> tensor<128x64xf8E4M3FN>
    %wr = tile.load %wm[%i, %k] : !e4m3 -> tensor<64x64xf8E4M3FN>
    %w = tile.permute %wr [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<128x2xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<64x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<64x2xf8E8M0FNU> -> tensor<2x64xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>, tensor<128x2xf8E8M0FNU>, tensor<2x64xf8E8M0FNU>
    scf.yield %r : tensor<128x64xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<128x64xf32>, !f32
  return
}

// CHECK: Function=position | Reason="tensor memory: the position of an operand depends on more than the iteration", atom=m16n8k16.bf16.bf16, path=expand
func.func @position(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %wr = tile.load %wm[%i, %i] : !e4m3 -> tensor<64x64xf8E4M3FN>
  %w = tile.permute %wr [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
  %s:2 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero, %j = %c0) -> (tensor<128x64xf32>, index) {
    %x = tile.load %xm[%i, %j] : !e4m3 -> tensor<128x64xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<128x2xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<64x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<64x2xf8E8M0FNU> -> tensor<2x64xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>, tensor<128x2xf8E8M0FNU>, tensor<2x64xf8E8M0FNU>
    %next = arith.addi %j, %c1 : index
    scf.yield %r, %next : tensor<128x64xf32>, index
  }
  tile.store %s#0, %z[%i, %i] : tensor<128x64xf32>, !f32
  return
}

// CHECK: Function=carries_more | Reason="tensor memory: the loop carries more than sums", atom=m16n8k16.bf16.bf16, path=expand
func.func @carries_more(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<256x256xf32>
  %s:2 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero, %j = %c0) -> (tensor<256x256xf32>, index) {
    %x = tile.load %xm[%i, %k] : !e4m3 -> tensor<256x64xf8E4M3FN>
    %wr = tile.load %wm[%i, %k] : !e4m3 -> tensor<256x64xf8E4M3FN>
    %w = tile.permute %wr [1, 0] : tensor<256x64xf8E4M3FN> -> tensor<64x256xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<256x2xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<256x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<256x2xf8E8M0FNU> -> tensor<2x256xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<256x64xf8E4M3FN>, tensor<64x256xf8E4M3FN>, tensor<256x256xf32>, tensor<256x2xf8E8M0FNU>, tensor<2x256xf8E8M0FNU>
    %next = arith.addi %j, %c1 : index
    scf.yield %r, %next : tensor<256x256xf32>, index
  }
  tile.store %s#0, %z[%i, %s#1] : tensor<256x256xf32>, !f32
  return
}

// Each product replaces the one before.
// CHECK: Function=fresh_sums | Reason="tensor memory: the loop does more with the sums than add to them", atom=m16n8k16.bf16.bf16, path=expand
func.func @fresh_sums(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %wr = tile.load %wm[%i, %i] : !e4m3 -> tensor<64x64xf8E4M3FN>
  %w = tile.permute %wr [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x64xf32>) {
    %x = tile.load %xm[%i, %k] : !e4m3 -> tensor<128x64xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<128x2xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<64x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<64x2xf8E8M0FNU> -> tensor<2x64xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %zero, %sx, %sw : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>, tensor<128x2xf8E8M0FNU>, tensor<2x64xf8E8M0FNU>
    scf.yield %r : tensor<128x64xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<128x64xf32>, !f32
  return
}

// Each sum goes on as the other.
// CHECK-COUNT-2: Function=swapped_sums | Reason="tensor memory: the loop does more with the sums than add to them"
func.func @swapped_sums(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %wr = tile.load %wm[%i, %i] : !e4m3 -> tensor<64x64xf8E4M3FN>
  %w = tile.permute %wr [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
  %s:2 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero, %b = %zero) -> (tensor<128x64xf32>, tensor<128x64xf32>) {
    %x = tile.load %xm[%i, %k] : !e4m3 -> tensor<128x64xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<128x2xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<64x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<64x2xf8E8M0FNU> -> tensor<2x64xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>, tensor<128x2xf8E8M0FNU>, tensor<2x64xf8E8M0FNU>
    %t = tile.mmaf_scaled %x, %w, %b, %sx, %sw : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>, tensor<128x2xf8E8M0FNU>, tensor<2x64xf8E8M0FNU>
    scf.yield %t, %r : tensor<128x64xf32>, tensor<128x64xf32>
  }
  tile.store %s#0, %z[%i, %i] : tensor<128x64xf32>, !f32
  tile.store %s#1, %z[%i, %n] : tensor<128x64xf32>, !f32
  return
}

// CHECK: Function=no_stride | Reason="tensor memory: no dimension of an operand has stride 1", atom=m16n8k16.bf16.bf16, path=expand
func.func @no_stride(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %n: index, %y: memref<?x?xf8E4M3FN, strided<[?, ?]>>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x64xf32>) {
    %x = tile.load %y[%i, %k] : memref<?x?xf8E4M3FN, strided<[?, ?]>> -> tensor<128x64xf8E4M3FN>
    %wr = tile.load %wm[%i, %k] : !e4m3 -> tensor<64x64xf8E4M3FN>
    %w = tile.permute %wr [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<128x2xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<64x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<64x2xf8E8M0FNU> -> tensor<2x64xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<128x64xf8E4M3FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>, tensor<128x2xf8E8M0FNU>, tensor<2x64xf8E8M0FNU>
    scf.yield %r : tensor<128x64xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<128x64xf32>, !f32
  return
}

// FP4 pairs along M.
// CHECK: Function=fp4_lhs | Reason="tensor memory: FP4 operands must be contiguous along K, but lhs is along the other dimension", atom=m16n8k16.bf16.bf16, path=expand
func.func @fp4_lhs(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %n: index, %fp4: memref<?x?x!tile.f4E2M1FNx2>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x64xf32>) {
    %xp = tile.load %fp4[%k, %i] : memref<?x?x!tile.f4E2M1FNx2> -> tensor<64x64x!tile.f4E2M1FNx2>
    %xu = tile.unpack %xp : tensor<64x64x!tile.f4E2M1FNx2> -> tensor<64x128xf4E2M1FN>
    %x = tile.permute %xu [1, 0] : tensor<64x128xf4E2M1FN> -> tensor<128x64xf4E2M1FN>
    %wr = tile.load %wm[%i, %k] : !e4m3 -> tensor<64x64xf8E4M3FN>
    %w = tile.permute %wr [1, 0] : tensor<64x64xf8E4M3FN> -> tensor<64x64xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<128x2xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<64x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<64x2xf8E8M0FNU> -> tensor<2x64xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<128x64xf4E2M1FN>, tensor<64x64xf8E4M3FN>, tensor<128x64xf32>, tensor<128x2xf8E8M0FNU>, tensor<2x64xf8E8M0FNU>
    scf.yield %r : tensor<128x64xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<128x64xf32>, !f32
  return
}

// FP4 pairs along N.
// CHECK: Function=fp4_rhs | Reason="tensor memory: FP4 operands must be contiguous along K, but rhs is along the other dimension", atom=m16n8k16.bf16.bf16, path=expand
func.func @fp4_rhs(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %n: index, %fp4: memref<?x?x!tile.f4E2M1FNx2>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x64xf32>) {
    %x = tile.load %xm[%i, %k] : !e4m3 -> tensor<128x64xf8E4M3FN>
    %wp = tile.load %fp4[%k, %i] : memref<?x?x!tile.f4E2M1FNx2> -> tensor<64x32x!tile.f4E2M1FNx2>
    %w = tile.unpack %wp : tensor<64x32x!tile.f4E2M1FNx2> -> tensor<64x64xf4E2M1FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<128x2xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<64x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<64x2xf8E8M0FNU> -> tensor<2x64xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<128x64xf8E4M3FN>, tensor<64x64xf4E2M1FN>, tensor<128x64xf32>, tensor<128x2xf8E8M0FNU>, tensor<2x64xf8E8M0FNU>
    scf.yield %r : tensor<128x64xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<128x64xf32>, !f32
  return
}

// 512 KiB: the start address of a descriptor has 18 bits.
// CHECK: Function=large | Reason="tensor memory: the instruction cannot read an operand of this shape", atom=m16n8k16.bf16.bf16, path=expand
func.func @large(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<1024x16xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<1024x16xf32>) {
    %x = tile.load %xm[%i, %k] : !e4m3 -> tensor<1024x512xf8E4M3FN>
    %wr = tile.load %wm[%i, %k] : !e4m3 -> tensor<16x512xf8E4M3FN>
    %w = tile.permute %wr [1, 0] : tensor<16x512xf8E4M3FN> -> tensor<512x16xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<1024x16xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<16x16xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<16x16xf8E8M0FNU> -> tensor<16x16xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<1024x512xf8E4M3FN>, tensor<512x16xf8E4M3FN>, tensor<1024x16xf32>, tensor<1024x16xf8E8M0FNU>, tensor<16x16xf8E8M0FNU>
    scf.yield %r : tensor<1024x16xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<1024x16xf32>, !f32
  return
}

// The columns of the lower half of w lie between those of the upper half.
// CHECK: Function=interleaved | Reason="tensor memory: the load of the N side cannot be divided into parts", atom=m16n8k16.bf16.bf16, path=expand
func.func @interleaved(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<256x256xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<256x256xf32>) {
    %x = tile.load %xm[%i, %k] : !e4m3 -> tensor<256x64xf8E4M3FN>
    %wr = tile.load %wm[%i, %k] : !e4m3 -> tensor<256x64xf8E4M3FN>
    %w2 = tile.reshape %wr : tensor<256x64xf8E4M3FN> -> tensor<2x128x64xf8E4M3FN>
    %w3 = tile.permute %w2 [2, 1, 0] : tensor<2x128x64xf8E4M3FN> -> tensor<64x128x2xf8E4M3FN>
    %w = tile.reshape %w3 : tensor<64x128x2xf8E4M3FN> -> tensor<64x256xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<256x2xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<256x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<256x2xf8E8M0FNU> -> tensor<2x256xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<256x64xf8E4M3FN>, tensor<64x256xf8E4M3FN>, tensor<256x256xf32>, tensor<256x2xf8E8M0FNU>, tensor<2x256xf8E8M0FNU>
    scf.yield %r : tensor<256x256xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<256x256xf32>, !f32
  return
}

// Sums in parts, which the rest of the kernel cannot use in parts.
// CHECK: Function=reduced | Reason="tensor memory: 'tile.reduce' needs more than a slice of it", atom=m16n8k16.bf16.bf16, path=expand
func.func @reduced(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<256x256xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<256x256xf32>) {
    %x = tile.load %xm[%i, %k] : !e4m3 -> tensor<256x64xf8E4M3FN>
    %wr = tile.load %wm[%i, %k] : !e4m3 -> tensor<256x64xf8E4M3FN>
    %w = tile.permute %wr [1, 0] : tensor<256x64xf8E4M3FN> -> tensor<64x256xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<256x2xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<256x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<256x2xf8E8M0FNU> -> tensor<2x256xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<256x64xf8E4M3FN>, tensor<64x256xf8E4M3FN>, tensor<256x256xf32>, tensor<256x2xf8E8M0FNU>, tensor<2x256xf8E8M0FNU>
    scf.yield %r : tensor<256x256xf32>
  }
  %t = tile.reduce add %s [1] : tensor<256x256xf32> -> tensor<256xf32>
  %u = tile.reshape %t : tensor<256xf32> -> tensor<256x1xf32>
  tile.store %u, %z[%i, %i] : tensor<256x1xf32>, !f32
  return
}

// Two stores of all parts, one after the other: parts would come between.
// CHECK: Function=two_places | Reason="tensor memory: the sums of a part are stored to several places", atom=m16n8k16.bf16.bf16, path=expand
func.func @two_places(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %n: index, %y: !f32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<256x256xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<256x256xf32>) {
    %x = tile.load %xm[%i, %k] : !e4m3 -> tensor<256x64xf8E4M3FN>
    %wr = tile.load %wm[%i, %k] : !e4m3 -> tensor<256x64xf8E4M3FN>
    %w = tile.permute %wr [1, 0] : tensor<256x64xf8E4M3FN> -> tensor<64x256xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<256x2xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<256x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<256x2xf8E8M0FNU> -> tensor<2x256xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<256x64xf8E4M3FN>, tensor<64x256xf8E4M3FN>, tensor<256x256xf32>, tensor<256x2xf8E8M0FNU>, tensor<2x256xf8E8M0FNU>
    scf.yield %r : tensor<256x256xf32>
  }
  tile.store %s, %z[%i, %i] : tensor<256x256xf32>, !f32
  tile.store %s, %y[%i, %i] : tensor<256x256xf32>, !f32
  return
}

// CHECK: Function=some_sums | Reason="tensor memory: sums in parts must start at a constant", atom=m16n8k16.bf16.bf16, path=expand
func.func @some_sums(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<256x256xf32>
  %init = tile.load %z[%i, %i] : !f32 -> tensor<256x256xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %init) -> (tensor<256x256xf32>) {
    %x = tile.load %xm[%i, %k] : !e4m3 -> tensor<256x64xf8E4M3FN>
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

// The second part would read what the first has written.
// CHECK: Function=overwritten | Reason="tensor memory: memory is written between parts of the sums", atom=m16n8k16.bf16.bf16, path=expand
func.func @overwritten(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<256x256xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<256x256xf32>) {
    %x = tile.load %xm[%i, %k] : !e4m3 -> tensor<256x64xf8E4M3FN>
    %wr = tile.load %wm[%i, %k] : !e4m3 -> tensor<256x64xf8E4M3FN>
    %w = tile.permute %wr [1, 0] : tensor<256x64xf8E4M3FN> -> tensor<64x256xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<256x2xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<256x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<256x2xf8E8M0FNU> -> tensor<2x256xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<256x64xf8E4M3FN>, tensor<64x256xf8E4M3FN>, tensor<256x256xf32>, tensor<256x2xf8E8M0FNU>, tensor<2x256xf8E8M0FNU>
    scf.yield %r : tensor<256x256xf32>
  }
  %h = tile.ftof %s : tensor<256x256xf32> -> tensor<256x256xf8E4M3FN>
  tile.store %h, %xm[%i, %i] : tensor<256x256xf8E4M3FN>, !e4m3
  return
}

// Two sums of 512 columns each: parts are for one multiply.
// CHECK-COUNT-2: Function=two_large | Reason="tensor memory: tensor memory has 512 columns and shared memory {{[0-9]+}} bytes left, but one stage takes {{[0-9]+}} and {{[0-9]+}}"
func.func @two_large(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<256x256xf32>
  %s:2 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero, %b = %zero) -> (tensor<256x256xf32>, tensor<256x256xf32>) {
    %x = tile.load %xm[%i, %k] : !e4m3 -> tensor<256x64xf8E4M3FN>
    %wr = tile.load %wm[%i, %k] : !e4m3 -> tensor<256x64xf8E4M3FN>
    %w = tile.permute %wr [1, 0] : tensor<256x64xf8E4M3FN> -> tensor<64x256xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<256x2xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<256x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<256x2xf8E8M0FNU> -> tensor<2x256xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<256x64xf8E4M3FN>, tensor<64x256xf8E4M3FN>, tensor<256x256xf32>, tensor<256x2xf8E8M0FNU>, tensor<2x256xf8E8M0FNU>
    %t = tile.mmaf_scaled %x, %w, %b, %sx, %sw : tensor<256x64xf8E4M3FN>, tensor<64x256xf8E4M3FN>, tensor<256x256xf32>, tensor<256x2xf8E8M0FNU>, tensor<2x256xf8E8M0FNU>
    scf.yield %r, %t : tensor<256x256xf32>, tensor<256x256xf32>
  }
  tile.store %s#0, %z[%i, %i] : tensor<256x256xf32>, !f32
  tile.store %s#1, %z[%i, %n] : tensor<256x256xf32>, !f32
  return
}

// One multiply of the loop has an instruction of tensor memory, the other none at
// all: the loop stays as it is.
// CHECK: Function=beside | Reason="tensor memory: no instruction of tensor memory takes these types"
// CHECK: Function=beside | Reason="no block-scaled instruction multiplies 'bf16' by 'f8E4M3FN'"
func.func @beside(%xm: !e4m3, %wm: !e4m3, %sm: !ue8, %z: !f32, %n: index, %bf: memref<?x?xbf16>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i = tile.program_id 0
  %zero = arith.constant dense<0.0> : tensor<256x256xf32>
  %s:2 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero, %b = %zero) -> (tensor<256x256xf32>, tensor<256x256xf32>) {
    %x = tile.load %xm[%i, %k] : !e4m3 -> tensor<256x64xf8E4M3FN>
    %wr = tile.load %wm[%i, %k] : !e4m3 -> tensor<256x64xf8E4M3FN>
    %w = tile.permute %wr [1, 0] : tensor<256x64xf8E4M3FN> -> tensor<64x256xf8E4M3FN>
    %sx = tile.load %sm[%i, %k] : !ue8 -> tensor<256x2xf8E8M0FNU>
    %swr = tile.load %sm[%i, %k] : !ue8 -> tensor<256x2xf8E8M0FNU>
    %sw = tile.permute %swr [1, 0] : tensor<256x2xf8E8M0FNU> -> tensor<2x256xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sx, %sw : tensor<256x64xf8E4M3FN>, tensor<64x256xf8E4M3FN>, tensor<256x256xf32>, tensor<256x2xf8E8M0FNU>, tensor<2x256xf8E8M0FNU>
    %h = tile.load %bf[%i, %k] : memref<?x?xbf16> -> tensor<256x64xbf16>
    %t = tile.mmaf_scaled %h, %w, %b, %sw : tensor<256x64xbf16>, tensor<64x256xf8E4M3FN>, tensor<256x256xf32>, tensor<2x256xf8E8M0FNU>
    scf.yield %r, %t : tensor<256x256xf32>, tensor<256x256xf32>
  }
  tile.store %s#0, %z[%i, %i] : tensor<256x256xf32>, !f32
  tile.store %s#1, %z[%i, %n] : tensor<256x256xf32>, !f32
  return
}
