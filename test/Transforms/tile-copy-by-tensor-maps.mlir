// Copies of whole tiles by tensor maps: which become such, and what the barriers
// then count.

// DEFINE: %{pass} = --tile-copy-by-tensor-maps
// DEFINE: %{remarks} = --remarks-filter='tile-.*' --remark-format=emitRemark -o /dev/null 2>&1
// RUN: tile-opt %s %{pass}="target=sm_100a" | FileCheck %s
// RUN: tile-opt %s %{pass}="target=sm_100a" %{remarks} | FileCheck %s --check-prefix=REMARK
// RUN: tile-opt %s %{pass}="target=sm_80" | FileCheck %s --check-prefix=OLD
// RUN: tile-opt %s %{pass}="target=sm_80" %{remarks} | FileCheck %s --check-prefix=OLDREMARK
// RUN: not tile-opt %s %{pass}="target=sm_1" 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: unknown target 'sm_1'
// REMARK: [Missed] copy-tensor | {{.*}}Function=in_registers | Reason="no multiply goes to tensor memory: copies stay as they are"

// OLD-NOT: tile.copy_tensor
// OLDREMARK: [Missed] copy-tensor {{.*}}Reason="sm_80 has no copies by tensor maps"

// 128 rows of 128 bytes, swizzled; rows of 256 bytes in two panels.
#row128 = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192] : 16384>
#panels = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 2048, 144, 288, 576, 1024] : 4096>
// Columns side by side, rows 128 bytes apart.
#columns = #tile.placement<[144, 288, 576, 1024, 2048, 1, 2, 4, 8, 16, 32, 64] : 4096>
// Pairs of FP4, eight bytes and eight that nobody reads.
#containers = #tile.placement<[1, 2, 4, 16, 32, 64, 144, 288, 576, 1024] : 2048>
// Scales, four rows side by side.
#scales = #tile.placement<[1, 2, 512, 1024, 16, 32, 64, 128, 256, 4, 8] : 2048>

!x = !tile.buffer<2x128x128xf8E4M3FN, #row128>
!s = !tile.buffer<2x128x16xf8E4M3FN, #scales>
!m = memref<?x?xf8E4M3FN, strided<[?, 1]>>

func.func @in_registers(%z: memref<?xf32>) attributes {tile.kernel} {
  return
}

// Everything is copied so: one arrival, and nobody else arrives.
// CHECK-LABEL: func.func @all(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref
// CHECK: %[[B:.*]] = tile.alloc_buffer
// CHECK: %[[C:.*]] = tile.alloc_buffer
// CHECK: %[[FULL:.*]] = tile.alloc_barriers
// CHECK: tile.init_barriers %[[FULL]] {arrivals = 1 : i32}
// CHECK: tile.warp_roles copiers {
// CHECK-NEXT: scf.for %[[K:.*]] = %[[C0:.*]] to %[[N:[a-z0-9]+]]
// CHECK: tile.wait_barrier
// CHECK-NEXT: tile.expect_bytes %[[FULL]][%[[SLOT:.*]]] {bytes = 18432 : i32}
// CHECK-NEXT: tile.copy_tensor %[[X]][%[[N]], %[[K]]] to %[[B]][%[[SLOT]]] signal %[[FULL]] :
// CHECK-NEXT: tile.copy_tensor %{{.*}}[%[[N]], %[[K]]] to %[[C]][%[[SLOT]]] signal %[[FULL]] :
// CHECK-NEXT: }
// CHECK-NEXT: } issuer {
// REMARK: [Passed] copy-tensor | {{.*}} boxes=1, bytes=16384, swizzle=128, type=u8
// REMARK: [Passed] copy-tensor | {{.*}} boxes=1, bytes=2048, swizzle=64, type=u16
!w = !tile.buffer<2x32x32xbf16, #tile.placement<[2, 4, 8, 16, 32, 64, 144, 288, 512, 1024] : 2048>>
!mw = memref<?x?xbf16, strided<[?, 1]>>
func.func @all(%x: !m {tile.stride_divisible_by = array<i64: 16, 1>},
               %w: !mw {tile.stride_divisible_by = array<i64: 8, 1>}, %n: index)
    attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = arith.constant 0 : i32
  %b = tile.alloc_buffer : !x
  %c = tile.alloc_buffer : !w
  %full = tile.alloc_barriers : !tile.barriers<2>
  %empty = tile.alloc_barriers : !tile.barriers<2>
  tile.init_barriers %full {arrivals = 128 : i32} : !tile.barriers<2>
  tile.init_barriers %empty {arrivals = 1 : i32} : !tile.barriers<2>
  tile.warp_roles copiers {
    scf.for %k = %c0 to %n step %c1 {
      %slot = arith.remui %k, %c1 : index
      tile.wait_barrier %empty[%slot] parity %p : !tile.barriers<2>
      tile.copy_async %x[%n, %k] to %b[%slot] : !m, !x
      tile.copy_async %w[%n, %k] to %c[%slot] : !mw, !w
      tile.commit_copies
      tile.arrive_copies %full[%slot] {pending = 0 : i32} : !tile.barriers<2>
    }
  } issuer {
  }
  return
}

// The scales stay with the threads: their arrivals, and one more.
// CHECK-LABEL: func.func @some(
// CHECK: %[[FULL:.*]] = tile.alloc_barriers
// CHECK: tile.init_barriers %[[FULL]] {arrivals = 129 : i32}
// CHECK: tile.expect_bytes %[[FULL]][%{{.*}}] {bytes = 16384 : i32}
// CHECK-NEXT: tile.copy_tensor
// CHECK-NEXT: tile.copy_async
// CHECK-NEXT: tile.commit_copies
// CHECK-NEXT: tile.arrive_copies %[[FULL]]
// CHECK: tile.arrive_copies %[[FULL]]
// REMARK: [Passed] copy-tensor | {{.*}} boxes=1, bytes=16384
// REMARK: [Missed] copy-tensor | {{.*}}Reason="no swizzle of the hardware gives the buffer's placement"
func.func @some(%x: !m {tile.stride_divisible_by = array<i64: 16, 1>},
                %s: !m {tile.stride_divisible_by = array<i64: 16, 1>}, %n: index)
    attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tile.alloc_buffer : !x
  %c = tile.alloc_buffer : !s
  %full = tile.alloc_barriers : !tile.barriers<2>
  tile.init_barriers %full {arrivals = 128 : i32} : !tile.barriers<2>
  tile.warp_roles copiers {
    scf.for %k = %c0 to %n step %c1 {
      %slot = arith.remui %k, %c1 : index
      tile.copy_async %x[%n, %k] to %b[%slot] : !m, !x
      tile.copy_async %s[%n, %k] to %c[%slot] : !m, !s
      tile.commit_copies
      tile.arrive_copies %full[%slot] {pending = 1 : i32} : !tile.barriers<2>
    }
    tile.arrive_copies %full[%c0] {pending = 0 : i32} : !tile.barriers<2>
  } issuer {
  }
  return
}

// Boxes of every kind: a box has at most 256 rows, and a row the swizzle's span. The columns' map has the other order of dimensions.
// CHECK-LABEL: func.func @boxes(
// CHECK: tile.expect_bytes %{{.*}} {bytes = 29696 : i32}
// CHECK-COUNT-5: tile.copy_tensor
// REMARK: [Passed] copy-tensor | {{.*}} boxes=1, bytes=4096, swizzle=128
// REMARK: [Passed] copy-tensor | {{.*}} boxes=2, bytes=4096, swizzle=128
// REMARK: [Passed] copy-tensor | {{.*}} boxes=2, bytes=16384, swizzle=32
// REMARK: [Passed] copy-tensor | {{.*}} boxes=1, bytes=4096, swizzle=128
// REMARK: [Passed] copy-tensor | {{.*}} boxes=1, bytes=1024, swizzle=128, type=b4x16_p64
!plain = !tile.buffer<1x32x128xf8E4M3FN, #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048] : 4096>>
!panels = !tile.buffer<1x16x256xf8E4M3FN, #panels>
!tall = !tile.buffer<1x512x32xf8E4M3FN, #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048, 4096, 8192] : 16384>>
!columns = !tile.buffer<1x128x32xf8E4M3FN, #columns>
!containers = !tile.buffer<1x16x64x!tile.f4E2M1FNx2, #containers>
!mt = memref<?x?xf8E4M3FN, strided<[1, ?]>>
!mp = memref<?x?x!tile.f4E2M1FNx2, strided<[?, 1]>>
func.func @boxes(%x: !m {tile.stride_divisible_by = array<i64: 16, 1>},
                 %t: !mt {tile.stride_divisible_by = array<i64: 1, 16>},
                 %p: !mp {tile.shape_divisible_by = array<i64: 1, 64>,
                          tile.stride_divisible_by = array<i64: 32, 1>},
                 %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %b0 = tile.alloc_buffer : !plain
  %b1 = tile.alloc_buffer : !panels
  %b2 = tile.alloc_buffer : !tall
  %b3 = tile.alloc_buffer : !columns
  %b4 = tile.alloc_buffer : !containers
  %full = tile.alloc_barriers : !tile.barriers<1>
  tile.init_barriers %full {arrivals = 64 : i32} : !tile.barriers<1>
  tile.warp_roles copiers {
    tile.copy_async %x[%n, %n] to %b0[%c0] : !m, !plain
    tile.copy_async %x[%n, %n] to %b1[%c0] : !m, !panels
    tile.copy_async %x[%n, %n] to %b2[%c0] : !m, !tall
    tile.copy_async %t[%n, %n] to %b3[%c0] : !mt, !columns
    tile.copy_async %p[%n, %n] to %b4[%c0] : !mp, !containers
    tile.commit_copies
    tile.arrive_copies %full[%c0] {pending = 0 : i32} : !tile.barriers<1>
  } issuer {
  }
  return
}

// What a tensor map cannot describe.
// CHECK-LABEL: func.func @missed(
// CHECK-NOT: tile.copy_tensor
// CHECK: return
// REMARK: Reason="the stride along dimension 0 is not promised to be a multiple of 16"
// REMARK: Reason="the extent along dimension 1 is not promised to be a multiple of 64"
// REMARK: Reason="the stride along dimension 0 is not promised to be a multiple of 32"
// REMARK: Reason="the source is no argument of the kernel"
// REMARK: Reason="no dimension of the source has stride 1"
// REMARK: Reason="the copy has a condition"
!far = memref<?x?xf8E4M3FN, strided<[?, 16]>>
func.func @missed(%a: !m,
                  %b: !mp {tile.stride_divisible_by = array<i64: 32, 1>},
                  %c: !mp {tile.shape_divisible_by = array<i64: 1, 64>,
                           tile.stride_divisible_by = array<i64: 16, 1>},
                  %d: !m {tile.stride_divisible_by = array<i64: 16, 1>},
                  %e: !far {tile.stride_divisible_by = array<i64: 16, 16>},
                  %n: index, %if: i1) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %b0 = tile.alloc_buffer : !plain
  %b1 = tile.alloc_buffer : !containers
  %full = tile.alloc_barriers : !tile.barriers<1>
  %view = memref.subview %d[0, 0] [%n, %n] [1, 1] : !m to !m
  tile.init_barriers %full {arrivals = 64 : i32} : !tile.barriers<1>
  tile.warp_roles copiers {
    tile.copy_async %a[%n, %n] to %b0[%c0] : !m, !plain
    tile.copy_async %b[%n, %n] to %b1[%c0] : !mp, !containers
    tile.copy_async %c[%n, %n] to %b1[%c0] : !mp, !containers
    tile.copy_async %view[%n, %n] to %b0[%c0] : !m, !plain
    tile.copy_async %e[%n, %n] to %b0[%c0] : !far, !plain
    tile.copy_async %d[%n, %n] to %b0[%c0] if %if : !m, !plain
    tile.commit_copies
    tile.arrive_copies %full[%c0] {pending = 0 : i32} : !tile.barriers<1>
  } issuer {
  }
  return
}
