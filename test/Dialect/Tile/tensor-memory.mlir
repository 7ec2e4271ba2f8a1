// Each operation and type in each of its forms; the generic form and bytecode
// hold the same.

// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s

#rows = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048] : 4096>
#two = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 256, 512, 1024, 2048, 4096] : 8192>
#chunk = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 128, 256] : 512>

!slots  = !tile.buffer<3x128x32xi8, #rows>
!scales = !tile.tensor_memory<3x128x4xf8E4M3FN>
!sums   = !tile.tensor_memory<1x128x128xf32>

// CHECK-LABEL: func.func @barriers(
// CHECK-SAME: %[[I:.*]]: index, %[[P:.*]]: i32)
func.func @barriers(%i: index, %p: i32) {
  // CHECK: %[[B:.*]] = tile.alloc_barriers : !tile.barriers<1024>
  %b = tile.alloc_barriers : !tile.barriers<1024>
  // CHECK: tile.init_barriers %[[B]] {arrivals = 1048575 : i32} : !tile.barriers<1024>
  tile.init_barriers %b {arrivals = 1048575 : i32} : !tile.barriers<1024>
  // CHECK: tile.wait_barrier %[[B]][%[[I]]] parity %[[P]] : !tile.barriers<1024>
  tile.wait_barrier %b[%i] parity %p : !tile.barriers<1024>
  // CHECK: tile.arrive_copies %[[B]][%[[I]]] {pending = 0 : i32} : !tile.barriers<1024>
  tile.arrive_copies %b[%i] {pending = 0 : i32} : !tile.barriers<1024>
  // CHECK: tile.expect_bytes %[[B]][%[[I]]] {bytes = 1 : i32} : !tile.barriers<1024>
  tile.expect_bytes %b[%i] {bytes = 1 : i32} : !tile.barriers<1024>
  // CHECK: tile.commit_multiplies %[[B]][%[[I]]] : !tile.barriers<1024>
  tile.commit_multiplies %b[%i] : !tile.barriers<1024>
  // CHECK: tile.inval_barriers %[[B]] : !tile.barriers<1024>
  tile.inval_barriers %b : !tile.barriers<1024>
  return
}

// What no copy writes is zero, and the tensor core is to see what copies write.
// CHECK-LABEL: func.func @cleared(
func.func @cleared() {
  // CHECK: tile.alloc_buffer {cleared} : !tile.buffer<3x128x32xi8, #placement{{[0-9]*}}>
  %b = tile.alloc_buffer {cleared} : !slots
  // CHECK: tile.wait_copies {async_proxy, pending = 0 : i32}
  tile.wait_copies {async_proxy, pending = 0 : i32}
  return
}

// CHECK-LABEL: func.func @copies(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x?xi8, strided<[?, 1]>>, %[[C:[a-z0-9]+]]: !tile.buffer
func.func @copies(%x: memref<?x?xi8, strided<[?, 1]>>,
                  %c: !tile.buffer<3x128x4xf8E4M3FN, #chunk>, %i: index,
                  %full: !tile.barriers<3>) {
  %b = tile.alloc_buffer : !slots
  // CHECK: tile.copy_tensor %[[X]][%{{.*}}, %{{.*}}] to %{{.*}}[%{{.*}}] signal %{{.*}} : memref<?x?xi8, strided<[?, 1]>>, !tile.buffer<3x128x32xi8, #placement{{[0-9]*}}>, !tile.barriers<3>
  tile.copy_tensor %x[%i, %i] to %b[%i] signal %full
     : memref<?x?xi8, strided<[?, 1]>>, !slots, !tile.barriers<3>
  // CHECK: %[[S:.*]] = tile.alloc_tensor_memory : !tile.tensor_memory<3x128x4xf8E4M3FN>
  %s = tile.alloc_tensor_memory : !scales
  // CHECK: tile.copy_scales %[[C]][%{{.*}}] to %[[S]][%{{.*}}] : !tile.buffer<3x128x4xf8E4M3FN, #placement{{[0-9]*}}>, !tile.tensor_memory<3x128x4xf8E4M3FN>
  tile.copy_scales %c[%i] to %s[%i]
     : !tile.buffer<3x128x4xf8E4M3FN, #chunk>, !scales
  return
}

// CHECK-LABEL: func.func @multiplies(
func.func @multiplies(%a: !slots, %acc: !sums, %sa: !scales, %i: index, %p: i1) {
  // CHECK: tile.multiply_async %{{.*}}[%{{.*}}], %{{.*}}[%{{.*}}], %{{.*}} accumulate %{{.*}} shape [1, 128, 128, 32] {atom = "m128n256k32.tcgen05.f8f6f4.e4m3.e4m3"} : !tile.buffer<3x128x32xi8, #placement{{[0-9]*}}>, !tile.buffer<3x128x32xi8, #placement{{[0-9]*}}>, !tile.tensor_memory<1x128x128xf32>
  // CHECK-NOT: tensor_memory
  tile.multiply_async %a[%i], %a[%i], %acc accumulate %p shape [1, 128, 128, 32]
     {atom = "m128n256k32.tcgen05.f8f6f4.e4m3.e4m3"} : !slots, !slots, !sums
  // CHECK: tile.multiply_async {{.*}} scales %{{.*}}[%{{.*}}], %{{.*}}[%{{.*}}] accumulate {{.*}} {atom = "{{.*}}", lhs_mn_major, rhs_mn_major} : {{.*}}, !tile.tensor_memory<1x128x128xf32>, !tile.tensor_memory<3x128x4xf8E4M3FN>, !tile.tensor_memory<3x128x4xf8E4M3FN>
  tile.multiply_async %a[%i], %a[%i], %acc scales %sa[%i], %sa[%i]
     accumulate %p shape [1, 128, 128, 64]
     {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3", lhs_mn_major, rhs_mn_major}
     : !slots, !slots, !sums, !scales, !scales
  return
}

// Two batches and 256 rows: four sums for each lane and column of one.
// CHECK-LABEL: func.func @batches(
func.func @batches(%a: !tile.buffer<1x2x128x32xi8, #two>,
                   %acc: !tile.tensor_memory<1x2x256x16xf32>,
                   %i: index, %p: i1) {
  // CHECK: tile.multiply_async {{.*}} shape [2, 256, 16, 32] {{.*}}, !tile.tensor_memory<1x2x256x16xf32>
  tile.multiply_async %a[%i], %a[%i], %acc accumulate %p shape [2, 256, 16, 32]
     {atom = "m128n256k32.tcgen05.f8f6f4.e4m3.e4m3"}
     : !tile.buffer<1x2x128x32xi8, #two>, !tile.buffer<1x2x128x32xi8, #two>,
       !tile.tensor_memory<1x2x256x16xf32>
  return
}

// CHECK-LABEL: func.func @sums(
func.func @sums(%acc: !sums, %i: index, %p: i1) {
  // CHECK: %[[T:.*]] = tile.load_tensor_memory %{{.*}} : !tile.tensor_memory<1x128x128xf32> -> tensor<128x128xf32>
  %t = tile.load_tensor_memory %acc : !sums -> tensor<128x128xf32>
  // Fewer rows and columns than the slot has.
  // CHECK: tile.load_tensor_memory %{{.*}} if %{{.*}} : !tile.tensor_memory<1x128x128xf32> -> tensor<16x8xf32>
  %u = tile.load_tensor_memory %acc if %p : !sums -> tensor<16x8xf32>
  // CHECK: tile.load_tensor_memory %{{.*}} at[%{{.*}}, %{{.*}}] if %{{.*}} : !tile.tensor_memory<1x128x128xf32> -> tensor<128x32xf32>
  %v = tile.load_tensor_memory %acc at[%i, %i] if %p : !sums -> tensor<128x32xf32>
  // CHECK: tile.store_tensor_memory %[[T]] to %{{.*}} : tensor<128x128xf32>, !tile.tensor_memory<1x128x128xf32>
  tile.store_tensor_memory %t to %acc : tensor<128x128xf32>, !sums
  return
}

// CHECK-LABEL: func.func @roles(
func.func @roles(%full: !tile.barriers<1>, %empty: !tile.barriers<1>,
                 %n: index, %p: i32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: tile.warp_roles copiers {
  // CHECK-NEXT: scf.for
  // CHECK: tile.arrive_copies
  // CHECK: } issuer {
  // CHECK-NEXT: tile.wait_barrier
  // CHECK-NEXT: } {note}
  tile.warp_roles copiers {
    scf.for %i = %c0 to %n step %c1 {
      tile.wait_barrier %empty[%c0] parity %p : !tile.barriers<1>
      tile.commit_copies
      tile.arrive_copies %full[%c0] {pending = 0 : i32} : !tile.barriers<1>
    }
  } issuer {
    tile.wait_barrier %full[%c0] parity %p : !tile.barriers<1>
  } {note}
  return
}
