// RUN: tile-opt %s --split-input-file --tile-distribute=target=sm_80 | FileCheck %s

// What is outside the memref becomes zeros: a bit per copy of a word for the rows,
// made before the loop, and all bits of it where the index has passed the last
// tile. Each copy tests its bit.
!x = memref<?x?xf8E4M3FN, strided<[?, 1]>>
// CHECK-LABEL: llvm.func @ragged(
// CHECK: %[[ROW0:.*]] = arith.select %{{.*}}, %c0_i32{{.*}}, %c1_i32{{.*}} : i32
// CHECK: %[[ROW1:.*]] = arith.select %{{.*}}, %c0_i32{{.*}}, %c2_i32{{.*}} : i32
// CHECK: %[[WORD:.*]] = arith.ori %[[ROW0]], %[[ROW1]] : i32
// CHECK: %[[TILES:.*]] = arith.shrui %{{.*}}, %c5_i64{{.*}} : i64
// CHECK: scf.for
// CHECK: %[[PAST:.*]] = arith.cmpi uge, %{{.*}}, %[[TILES]] : i64
// CHECK: scf.if
// CHECK: %[[ALL:.*]] = arith.select %[[PAST]], %{{.*}}, %[[WORD]] : i32
// CHECK: llvm.inline_asm has_side_effects "{ .reg .pred p; .reg .b32 t; and.b32 t, $2, 1; setp.ne.b32 p, t, 0; cp.async.cg.shared.global [$0], [$1], 16, p; }", "l,l,r,~{memory}" %{{.*}}, %{{.*}}, %[[ALL]]
// CHECK: llvm.inline_asm has_side_effects "{ .reg .pred p; .reg .b32 t; and.b32 t, $2, 2; setp.ne.b32 p, t, 0; cp.async.cg.shared.global [$0], [$1], 16, p; }", "l,l,r,~{memory}" %{{.*}}, %{{.*}}, %[[ALL]]
// CHECK-NOT: llvm.inline_asm
// CHECK: llvm.return
func.func @ragged(%x: !x {tile.shape_divisible_by = array<i64: 1, 32>,
                          tile.stride_divisible_by = array<i64: 16, 1>}, %n: index)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tile.program_id 0
  %b = tile.alloc_buffer : !tile.buffer<1x32x32xf8E4M3FN>
  scf.for %k = %c0 to %n step %c1 {
    %p = arith.cmpi slt, %k, %n : index
    tile.copy_async %x[%m, %k] to %b[%c0] if %p : !x, !tile.buffer<1x32x32xf8E4M3FN>
    tile.commit_copies
    tile.wait_copies {pending = 0 : i32}
  }
  return
}
