// The copies of a loop go to warps of their own and its multiplies to one thread,
// with a slot for each stage and two barriers for each slot.

// DEFINE: %{pass} = --tile-specialize-warps
// DEFINE: %{remarks} = --remarks-filter='tile-.*' --remark-format=emitRemark -o /dev/null 2>&1
// RUN: tile-opt %s %{pass}="target=sm_100a num-stages=3" --canonicalize --cse | FileCheck %s 
// RUN: tile-opt %s %{pass}="target=sm_100a num-stages=1" --canonicalize --cse | FileCheck %s --check-prefix=ONE
// RUN: tile-opt %s %{pass}="target=sm_100a num-stages=2" --canonicalize --cse | FileCheck %s --check-prefix=TWO
// RUN: tile-opt %s %{pass}="target=sm_100a" --canonicalize --cse | FileCheck %s --check-prefix=FOUR
// RUN: tile-opt %s %{pass}="target=sm_100a num-stages=1" %{remarks} | FileCheck %s --check-prefix=REMARK1
// RUN: tile-opt %s %{pass}="target=sm_100a" %{remarks} | FileCheck %s --check-prefix=REMARK
// RUN: tile-opt %s %{pass}="target=sm_100a num-stages=8" %{remarks} | FileCheck %s --check-prefix=REMARK8

#x = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144, 288, 576, 1024, 2048, 4096, 8192] : 16384>
#s = #tile.placement<[1, 2, 512, 1024, 16, 32, 64, 128, 256, 4, 8] : 2048>

!x  = !tile.buffer<1x128x128xi8, #x>
!s  = !tile.buffer<1x128x16xf8E4M3FN, #s>
!t  = !tile.tensor_memory<1x128x16xf8E4M3FN>
!acc = !tile.tensor_memory<1x128x128xf32>
!mx = memref<?x?xi8>
!ms = memref<?x?xf8E4M3FN>

// Eight warps: four of them copy, 128 threads, and each arrives.
// CHECK-LABEL: func.func @nvfp4(
// CHECK-SAME: %[[XM:[a-z0-9]+]]: memref<?x?xi8>, %[[SM:[a-z0-9]+]]: {{.*}}, %[[N:[a-z0-9]+]]: index)
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[UNIT:.*]] = arith.constant 1 : i32
// CHECK-DAG: %[[SLOTS:.*]] = arith.constant 3 : i32
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK: %[[X:.*]] = tile.alloc_buffer : !tile.buffer<3x128x128xi8, #{{.*}}>
// CHECK: %[[S:.*]] = tile.alloc_buffer : !tile.buffer<3x128x16xf8E4M3FN, #{{.*}}>
// CHECK: %[[ACC:.*]] = tile.alloc_tensor_memory : !tile.tensor_memory<1x128x128xf32>
// CHECK: %[[T:.*]] = tile.alloc_tensor_memory : !tile.tensor_memory<3x128x16xf8E4M3FN>
// CHECK: %[[DONE:.*]] = tile.alloc_barriers : !tile.barriers<1>
// CHECK: %[[FULL:.*]] = tile.alloc_barriers : !tile.barriers<3>
// CHECK: %[[EMPTY:.*]] = tile.alloc_barriers : !tile.barriers<3>
// CHECK: tile.init_barriers %[[FULL]] {arrivals = 128 : i32}
// CHECK: tile.init_barriers %[[EMPTY]] {arrivals = 1 : i32}
// CHECK: tile.init_barriers %[[DONE]] {arrivals = 1 : i32} : !tile.barriers<1>
// CHECK-NEXT: tile.barrier{{$}}

// Copies for iteration i + 1 are under way before those for i arrive.
// CHECK-NEXT: tile.warp_roles copiers {
// CHECK-NEXT: %[[R:.*]]:4 = scf.for %[[K:.*]] = %[[C0]] to %[[N]] step %[[C1]] iter_args(%[[SLOT:.*]] = %[[ZERO]], %[[PARITY:.*]] = %[[UNIT]], %[[EARLIER:.*]] = %[[ZERO]], %[[COUNT:.*]] = %[[ZERO]])
// CHECK-NEXT: %[[PLACE:.*]] = arith.index_castui %[[SLOT]]
// CHECK-NEXT: tile.wait_barrier %[[EMPTY]][%[[PLACE]]] parity %[[PARITY]]
// CHECK-NEXT: tile.copy_async %[[XM]][%[[K]], %[[C0]]] to %[[X]][%[[PLACE]]] {moving = array<i64: 0>}
// CHECK-NEXT: tile.copy_async %[[SM]][%[[C0]], %[[K]]] to %[[S]][%[[PLACE]]] :
// CHECK-NEXT: tile.commit_copies{{$}}
// CHECK-NEXT: %[[EXISTS:.*]] = arith.cmpi uge, %[[COUNT]], %[[UNIT]]
// CHECK-NEXT: %[[NEXT:.*]] = scf.if %[[EXISTS]]
// CHECK-NEXT: %[[OLD:.*]] = arith.index_castui %[[EARLIER]]
// CHECK-NEXT: tile.arrive_copies %[[FULL]][%[[OLD]]] {pending = 1 : i32}
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[EARLIER]]
// CHECK-NEXT: }
// The slot goes round, and its parity changes then.
// CHECK-DAG: %[[AFTER:.*]] = arith.addi %[[SLOT]], %[[UNIT]]
// CHECK-DAG: %[[WRAPS:.*]] = arith.cmpi eq, %[[AFTER]], %[[SLOTS]]
// CHECK-DAG: %[[FLIPPED:.*]] = arith.xori %[[PARITY]], %[[UNIT]]
// CHECK-DAG: %[[PARITY2:.*]] = arith.select %[[WRAPS]], %[[FLIPPED]], %[[PARITY]]
// CHECK-DAG: %[[SLOT2:.*]] = arith.select %[[WRAPS]], %[[ZERO]], %[[AFTER]]
// CHECK: scf.yield %[[SLOT2]], %[[PARITY2]], %[[NEXT]], %{{.*}} : i32, i32, i32, i32
// CHECK-NEXT: }

// The last arrives, and a round over all slots waits until each is empty.
// CHECK-NEXT: %[[ANY:.*]] = arith.cmpi ugt, %[[R]]#3, %[[ZERO]]
// CHECK-NEXT: scf.if %[[ANY]] {
// CHECK-NEXT: %[[LAST:.*]] = arith.index_castui %[[R]]#2
// CHECK-NEXT: tile.arrive_copies %[[FULL]][%[[LAST]]] {pending = 0 : i32}
// CHECK: scf.for %{{.*}} = %[[ZERO]] to %[[SLOTS]] step %[[UNIT]] iter_args(%[[S2:.*]] = %[[R]]#0, %[[P2:.*]] = %[[R]]#1)
// CHECK-NEXT: %[[I2:.*]] = arith.index_castui %[[S2]]
// CHECK-NEXT: tile.wait_barrier %[[EMPTY]][%[[I2]]] parity %[[P2]]

// CHECK: } issuer {
// CHECK-NEXT: scf.for %[[K:.*]] = %[[C0]] to %[[N]] step %[[C1]] iter_args(%[[SLOT:.*]] = %[[ZERO]], %[[PARITY:.*]] = %[[ZERO]])
// CHECK-NEXT: %[[PLACE:.*]] = arith.index_castui %[[SLOT]]
// CHECK-NEXT: %[[AGAIN:.*]] = arith.cmpi ne, %[[K]], %[[C0]]
// CHECK-NEXT: tile.wait_barrier %[[FULL]][%[[PLACE]]] parity %[[PARITY]]
// CHECK-NEXT: tile.copy_scales %[[S]][%[[PLACE]]] to %[[T]][%[[PLACE]]]
// CHECK-NEXT: tile.multiply_async %[[X]][%[[PLACE]]], %[[X]][%[[PLACE]]], %[[ACC]] scales %[[T]][%[[PLACE]]], %[[T]][%[[PLACE]]] accumulate %[[AGAIN]]
// CHECK-NEXT: tile.commit_multiplies %[[EMPTY]][%[[PLACE]]]
// CHECK: }
// CHECK-NEXT: tile.commit_multiplies %[[DONE]][%[[C0]]]
// CHECK-NEXT: }
// CHECK-NEXT: tile.wait_barrier %[[DONE]][%[[C0]]] parity %[[ZERO]] : !tile.barriers<1>
// CHECK-NEXT: tile.barrier{{$}}
// CHECK-NEXT: tile.inval_barriers %[[DONE]] : {{.*$}}
// CHECK-NEXT: tile.inval_barriers %[[FULL]] : {{.*$}}
// CHECK-NEXT: tile.inval_barriers %[[EMPTY]] : {{.*$}}
// CHECK-NEXT: return

// With one or two slots copies arrive at once: one multiply runs, and the slot
// for the next is filled.
// ONE-LABEL: func.func @nvfp4(
// ONE: tile.init_barriers %[[FULL:.*]] {arrivals = 128 : i32} : !tile.barriers<1>
// ONE: tile.warp_roles copiers {
// ONE: scf.for {{.*}} -> (i32, i32) {
// ONE: tile.arrive_copies %[[FULL]][%{{.*}}] {pending = 0 : i32}
// ONE: } issuer {
// TWO-LABEL: func.func @nvfp4(
// TWO: tile.init_barriers %[[FULL:.*]] {arrivals = 128 : i32} : !tile.barriers<2>
// TWO: tile.warp_roles copiers {
// TWO: scf.for {{.*}} -> (i32, i32) {
// TWO: tile.arrive_copies %[[FULL]][%{{.*}}] {pending = 0 : i32}
// TWO-NOT: tile.arrive_copies
// TWO: } issuer {

// Nobody has asked: four slots. Two groups of copies are under way, and two
// arrivals are left at the end.
// FOUR-LABEL: func.func @nvfp4(
// FOUR: tile.init_barriers %[[FULL:.*]] {arrivals = 128 : i32} : !tile.barriers<4>
// FOUR: tile.warp_roles copiers {
// FOUR: scf.for {{.*}} -> (i32, i32, i32, i32) {
// FOUR: tile.arrive_copies %[[FULL]][%{{.*}}] {pending = 2 : i32}
// FOUR: tile.arrive_copies %[[FULL]][%{{.*}}] {pending = 1 : i32}
// FOUR: tile.arrive_copies %[[FULL]][%{{.*}}] {pending = 0 : i32}
// FOUR-NOT: tile.arrive_copies
// FOUR: } issuer {

// REMARK: remark: [Passed] software-pipeline | Category:tile-specialize-warps | Function=nvfp4 | num-stages=4, scale-columns=64, shared-bytes=73728
// REMARK1: remark: [Passed] software-pipeline | {{.*}} | Function=nvfp4 | num-stages=1, scale-columns=16, shared-bytes=18432
// REMARK8: remark: [Passed] software-pipeline | {{.*}} | Function=nvfp4 | num-stages=8, scale-columns=128, shared-bytes=147456
func.func @nvfp4(%xm: !mx, %sm: !ms, %n: index) attributes {tile.kernel, tile.num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %x = tile.alloc_buffer : !x
  %s = tile.alloc_buffer : !s
  %acc = tile.alloc_tensor_memory : !acc
  %t = tile.alloc_tensor_memory : !t
  %done = tile.alloc_barriers : !tile.barriers<1>
  tile.init_barriers %done {arrivals = 1 : i32} : !tile.barriers<1>
  tile.barrier
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%parity = %zero) -> (i32) {
    tile.copy_async %xm[%k, %c0] to %x[%c0] {moving = array<i64: 0>} : !mx, !x
    tile.copy_async %sm[%c0, %k] to %s[%c0] : !ms, !s
    tile.commit_copies
    tile.wait_copies {async_proxy, pending = 0 : i32}
    tile.copy_scales %s[%c0] to %t[%c0] : !s, !t
    %again = arith.cmpi ne, %k, %c0 : index
    tile.multiply_async %x[%c0], %x[%c0], %acc scales %t[%c0], %t[%c0] accumulate %again
       shape [1, 128, 128, 256] {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"}
       : !x, !x, !acc, !t, !t
    tile.commit_multiplies %done[%c0] : !tile.barriers<1>
    tile.wait_barrier %done[%c0] parity %parity : !tile.barriers<1>
    %next = arith.xori %parity, %one : i32
    scf.yield %next : i32
  }
  tile.barrier
  tile.inval_barriers %done : !tile.barriers<1>
  return
}

// Four warps: two of them copy.
// CHECK-LABEL: func.func @four_warps(
// CHECK: tile.init_barriers %{{.*}} {arrivals = 64 : i32} : !tile.barriers<3>
func.func @four_warps(%xm: !mx, %sm: !ms, %n: index) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %x = tile.alloc_buffer : !x
  %s = tile.alloc_buffer : !s
  %acc = tile.alloc_tensor_memory : !acc
  %t = tile.alloc_tensor_memory : !t
  %done = tile.alloc_barriers : !tile.barriers<1>
  tile.init_barriers %done {arrivals = 1 : i32} : !tile.barriers<1>
  tile.barrier
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%parity = %zero) -> (i32) {
    tile.copy_async %xm[%k, %c0] to %x[%c0] {moving = array<i64: 0>} : !mx, !x
    tile.copy_async %sm[%c0, %k] to %s[%c0] : !ms, !s
    tile.commit_copies
    tile.wait_copies {async_proxy, pending = 0 : i32}
    tile.copy_scales %s[%c0] to %t[%c0] : !s, !t
    %again = arith.cmpi ne, %k, %c0 : index
    tile.multiply_async %x[%c0], %x[%c0], %acc scales %t[%c0], %t[%c0] accumulate %again
       shape [1, 128, 128, 256] {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"}
       : !x, !x, !acc, !t, !t
    tile.commit_multiplies %done[%c0] : !tile.barriers<1>
    tile.wait_barrier %done[%c0] parity %parity : !tile.barriers<1>
    %next = arith.xori %parity, %one : i32
    scf.yield %next : i32
  }
  tile.barrier
  tile.inval_barriers %done : !tile.barriers<1>
  return
}

// The kernel's own number of stages wins.
// CHECK-LABEL: func.func @two_stages(
// CHECK: tile.alloc_buffer : !tile.buffer<2x128x128xi8
func.func @two_stages(%xm: !mx, %sm: !ms, %n: index) attributes {tile.kernel, tile.num_warps = 4 : i32, tile.num_stages = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %x = tile.alloc_buffer : !x
  %s = tile.alloc_buffer : !s
  %acc = tile.alloc_tensor_memory : !acc
  %t = tile.alloc_tensor_memory : !t
  %done = tile.alloc_barriers : !tile.barriers<1>
  tile.init_barriers %done {arrivals = 1 : i32} : !tile.barriers<1>
  tile.barrier
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%parity = %zero) -> (i32) {
    tile.copy_async %xm[%k, %c0] to %x[%c0] {moving = array<i64: 0>} : !mx, !x
    tile.copy_async %sm[%c0, %k] to %s[%c0] : !ms, !s
    tile.commit_copies
    tile.wait_copies {async_proxy, pending = 0 : i32}
    tile.copy_scales %s[%c0] to %t[%c0] : !s, !t
    %again = arith.cmpi ne, %k, %c0 : index
    tile.multiply_async %x[%c0], %x[%c0], %acc scales %t[%c0], %t[%c0] accumulate %again
       shape [1, 128, 128, 256] {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"}
       : !x, !x, !acc, !t, !t
    tile.commit_multiplies %done[%c0] : !tile.barriers<1>
    tile.wait_barrier %done[%c0] parity %parity : !tile.barriers<1>
    %next = arith.xori %parity, %one : i32
    scf.yield %next : i32
  }
  tile.barrier
  tile.inval_barriers %done : !tile.barriers<1>
  return
}

// What else is in shared memory leaves room for two slots of 18 KiB: fewer than
// four, and fewer than the eight that somebody asked for.
// CHECK-LABEL: func.func @crowded(
// CHECK: tile.alloc_buffer : !tile.buffer<2x128x128xi8
// REMARK: remark: [Passed] software-pipeline | {{.*}} | Function=crowded | Reason="{{[0-9]+}} bytes of shared memory and 368 columns of tensor memory hold no more", num-stages=2, scale-columns=32, shared-bytes=36864, wanted-stages=4
// REMARK8: Function=crowded | Reason="{{.*}}", num-stages=2, scale-columns=32, shared-bytes=36864, wanted-stages=8
func.func @crowded(%xm: !mx, %sm: !ms, %n: index) attributes {tile.kernel, tile.num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %x = tile.alloc_buffer : !x
  %s = tile.alloc_buffer : !s
  %acc = tile.alloc_tensor_memory : !acc
  %t = tile.alloc_tensor_memory : !t
  %done = tile.alloc_barriers : !tile.barriers<1>
  %other = tile.alloc_buffer : !tile.buffer<11x128x128xi8>
  %more = tile.alloc_tensor_memory : !tile.tensor_memory<1x128x16xf32>
  tile.init_barriers %done {arrivals = 1 : i32} : !tile.barriers<1>
  tile.barrier
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%parity = %zero) -> (i32) {
    tile.copy_async %xm[%k, %c0] to %x[%c0] {moving = array<i64: 0>} : !mx, !x
    tile.copy_async %sm[%c0, %k] to %s[%c0] : !ms, !s
    tile.commit_copies
    tile.wait_copies {async_proxy, pending = 0 : i32}
    tile.copy_scales %s[%c0] to %t[%c0] : !s, !t
    %again = arith.cmpi ne, %k, %c0 : index
    tile.multiply_async %x[%c0], %x[%c0], %acc scales %t[%c0], %t[%c0] accumulate %again
       shape [1, 128, 128, 256] {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"}
       : !x, !x, !acc, !t, !t
    tile.commit_multiplies %done[%c0] : !tile.barriers<1>
    tile.wait_barrier %done[%c0] parity %parity : !tile.barriers<1>
    %next = arith.xori %parity, %one : i32
    scf.yield %next : i32
  }
  tile.barrier
  tile.inval_barriers %done : !tile.barriers<1>
  return
}

// Room for one: it is said, since nothing overlaps.
// CHECK-LABEL: func.func @full(
// CHECK: tile.alloc_buffer : !tile.buffer<1x128x128xi8
// REMARK: remark: [Missed] software-pipeline | {{.*}} | Function=full | Reason="{{.*}}", num-stages=1, scale-columns=16, shared-bytes=18432, wanted-stages=4
// REMARK1: remark: [Passed] software-pipeline | {{.*}} | Function=full | num-stages=1
func.func @full(%xm: !mx, %sm: !ms, %n: index) attributes {tile.kernel, tile.num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %x = tile.alloc_buffer : !x
  %s = tile.alloc_buffer : !s
  %acc = tile.alloc_tensor_memory : !acc
  %t = tile.alloc_tensor_memory : !t
  %done = tile.alloc_barriers : !tile.barriers<1>
  %other = tile.alloc_buffer : !tile.buffer<12x128x128xi8>
  tile.init_barriers %done {arrivals = 1 : i32} : !tile.barriers<1>
  tile.barrier
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%parity = %zero) -> (i32) {
    tile.copy_async %xm[%k, %c0] to %x[%c0] {moving = array<i64: 0>} : !mx, !x
    tile.copy_async %sm[%c0, %k] to %s[%c0] : !ms, !s
    tile.commit_copies
    tile.wait_copies {async_proxy, pending = 0 : i32}
    tile.copy_scales %s[%c0] to %t[%c0] : !s, !t
    %again = arith.cmpi ne, %k, %c0 : index
    tile.multiply_async %x[%c0], %x[%c0], %acc scales %t[%c0], %t[%c0] accumulate %again
       shape [1, 128, 128, 256] {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"}
       : !x, !x, !acc, !t, !t
    tile.commit_multiplies %done[%c0] : !tile.barriers<1>
    tile.wait_barrier %done[%c0] parity %parity : !tile.barriers<1>
    %next = arith.xori %parity, %one : i32
    scf.yield %next : i32
  }
  tile.barrier
  tile.inval_barriers %done : !tile.barriers<1>
  return
}

// Tensor memory may be what is full: 16 columns of scales for each slot.
// CHECK-LABEL: func.func @columns(
// CHECK: tile.alloc_tensor_memory : !tile.tensor_memory<2x128x16xf8E4M3FN>
// REMARK: Function=columns | Reason="230400 bytes of shared memory and 32 columns of tensor memory hold no more", num-stages=2, scale-columns=32
func.func @columns(%xm: !mx, %sm: !ms, %n: index) attributes {tile.kernel, tile.num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %x = tile.alloc_buffer : !x
  %s = tile.alloc_buffer : !s
  %acc = tile.alloc_tensor_memory : !acc
  %t = tile.alloc_tensor_memory : !t
  %done = tile.alloc_barriers : !tile.barriers<1>
  %more = tile.alloc_tensor_memory : !tile.tensor_memory<1x128x352xf32>
  tile.init_barriers %done {arrivals = 1 : i32} : !tile.barriers<1>
  tile.barrier
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%parity = %zero) -> (i32) {
    tile.copy_async %xm[%k, %c0] to %x[%c0] {moving = array<i64: 0>} : !mx, !x
    tile.copy_async %sm[%c0, %k] to %s[%c0] : !ms, !s
    tile.commit_copies
    tile.wait_copies {async_proxy, pending = 0 : i32}
    tile.copy_scales %s[%c0] to %t[%c0] : !s, !t
    %again = arith.cmpi ne, %k, %c0 : index
    tile.multiply_async %x[%c0], %x[%c0], %acc scales %t[%c0], %t[%c0] accumulate %again
       shape [1, 128, 128, 256] {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"}
       : !x, !x, !acc, !t, !t
    tile.commit_multiplies %done[%c0] : !tile.barriers<1>
    tile.wait_barrier %done[%c0] parity %parity : !tile.barriers<1>
    %next = arith.xori %parity, %one : i32
    scf.yield %next : i32
  }
  tile.barrier
  tile.inval_barriers %done : !tile.barriers<1>
  return
}

// In a loop around, everything starts anew each time. What positions are computed
// by goes to the role that needs them, and the multiplies know nothing of it.
// CHECK-LABEL: func.func @loop_in_loop(
// CHECK: scf.for %[[J:.*]] =
// CHECK: tile.init_barriers %[[FULL:.*]] {arrivals = 128 : i32}
// CHECK: tile.init_barriers %[[EMPTY:.*]] {arrivals = 1 : i32}
// CHECK: tile.warp_roles copiers {
// CHECK: tile.wait_barrier %[[EMPTY]]
// CHECK: tile.copy_async %{{.*}}[%[[ROW:.*]], %[[J]]] to
// CHECK: } issuer {
// CHECK-NOT: memref.load
// CHECK: tile.inval_barriers %[[FULL]]
// CHECK-NEXT: tile.inval_barriers %[[EMPTY]]
func.func @loop_in_loop(%xm: !mx, %sm: !ms, %table: memref<?xi32>, %n: index) attributes {tile.kernel, tile.num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %x = tile.alloc_buffer : !x
  %s = tile.alloc_buffer : !s
  %acc = tile.alloc_tensor_memory : !acc
  %t = tile.alloc_tensor_memory : !t
  %done = tile.alloc_barriers : !tile.barriers<1>
  scf.for %j = %c0 to %n step %c1 {
    tile.init_barriers %done {arrivals = 1 : i32} : !tile.barriers<1>
    tile.barrier
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%parity = %zero) -> (i32) {
      %entry = memref.load %table[%k] : memref<?xi32>
      %row = arith.index_cast %entry : i32 to index
      tile.copy_async %xm[%row, %j] to %x[%c0] {moving = array<i64: 0>} : !mx, !x
      tile.copy_async %sm[%c0, %k] to %s[%c0] : !ms, !s
      tile.commit_copies
      tile.wait_copies {async_proxy, pending = 0 : i32}
      tile.copy_scales %s[%c0] to %t[%c0] : !s, !t
      %again = arith.cmpi ne, %k, %c0 : index
      tile.multiply_async %x[%c0], %x[%c0], %acc scales %t[%c0], %t[%c0] accumulate %again
         shape [1, 128, 128, 256] {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"}
         : !x, !x, !acc, !t, !t
      tile.commit_multiplies %done[%c0] : !tile.barriers<1>
      tile.wait_barrier %done[%c0] parity %parity : !tile.barriers<1>
      %next = arith.xori %parity, %one : i32
      scf.yield %next : i32
    }
    tile.barrier
    tile.inval_barriers %done : !tile.barriers<1>
  }
  return
}

// Parts of one multiply, one after the other over the same buffers: they share
// the slots, and each has its roles.
// CHECK-LABEL: func.func @parts(
// CHECK: tile.alloc_buffer : !tile.buffer<3x128x128xi8
// CHECK-NOT: tile.alloc_buffer : !tile.buffer<3x128x128xi8
// CHECK-COUNT-2: tile.warp_roles copiers
// CHECK-NOT: tile.warp_roles
func.func @parts(%xm: !mx, %sm: !ms, %n: index) attributes {tile.kernel, tile.num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %x = tile.alloc_buffer : !x
  %s = tile.alloc_buffer : !s
  %acc = tile.alloc_tensor_memory : !acc
  %t = tile.alloc_tensor_memory : !t
  %done = tile.alloc_barriers : !tile.barriers<1>
  tile.init_barriers %done {arrivals = 1 : i32} : !tile.barriers<1>
  tile.barrier
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%parity = %zero) -> (i32) {
    tile.copy_async %xm[%k, %c0] to %x[%c0] {moving = array<i64: 0>} : !mx, !x
    tile.copy_async %sm[%c0, %k] to %s[%c0] : !ms, !s
    tile.commit_copies
    tile.wait_copies {async_proxy, pending = 0 : i32}
    tile.copy_scales %s[%c0] to %t[%c0] : !s, !t
    %again = arith.cmpi ne, %k, %c0 : index
    tile.multiply_async %x[%c0], %x[%c0], %acc scales %t[%c0], %t[%c0] accumulate %again
       shape [1, 128, 128, 256] {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"}
       : !x, !x, !acc, !t, !t
    tile.commit_multiplies %done[%c0] : !tile.barriers<1>
    tile.wait_barrier %done[%c0] parity %parity : !tile.barriers<1>
    %next = arith.xori %parity, %one : i32
    scf.yield %next : i32
  }
  tile.barrier
  tile.inval_barriers %done : !tile.barriers<1>
  tile.init_barriers %done {arrivals = 1 : i32} : !tile.barriers<1>
  tile.barrier
  %r2 = scf.for %k = %c0 to %n step %c1 iter_args(%parity = %zero) -> (i32) {
    tile.copy_async %xm[%k, %c0] to %x[%c0] {moving = array<i64: 0>} : !mx, !x
    tile.copy_async %sm[%c0, %k] to %s[%c0] : !ms, !s
    tile.commit_copies
    tile.wait_copies {async_proxy, pending = 0 : i32}
    tile.copy_scales %s[%c0] to %t[%c0] : !s, !t
    %again = arith.cmpi ne, %k, %c0 : index
    tile.multiply_async %x[%c0], %x[%c0], %acc scales %t[%c0], %t[%c0] accumulate %again
       shape [1, 128, 128, 256] {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"}
       : !x, !x, !acc, !t, !t
    tile.commit_multiplies %done[%c0] : !tile.barriers<1>
    tile.wait_barrier %done[%c0] parity %parity : !tile.barriers<1>
    %next = arith.xori %parity, %one : i32
    scf.yield %next : i32
  }
  tile.barrier
  tile.inval_barriers %done : !tile.barriers<1>
  return
}

// A loop that does something else stays as it is.
// CHECK-LABEL: func.func @stays(
// CHECK-NOT: tile.warp_roles
// CHECK: return
func.func @stays(%xm: !mx, %sm: !ms, %table: memref<?xi32>, %n: index) attributes {tile.kernel, tile.num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %x = tile.alloc_buffer : !x
  %s = tile.alloc_buffer : !s
  %acc = tile.alloc_tensor_memory : !acc
  %t = tile.alloc_tensor_memory : !t
  %done = tile.alloc_barriers : !tile.barriers<1>
  tile.init_barriers %done {arrivals = 1 : i32} : !tile.barriers<1>
  tile.barrier
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%parity = %zero) -> (i32) {
    memref.store %one, %table[%k] : memref<?xi32>
    tile.copy_async %xm[%k, %c0] to %x[%c0] {moving = array<i64: 0>} : !mx, !x
    tile.copy_async %sm[%c0, %k] to %s[%c0] : !ms, !s
    tile.commit_copies
    tile.wait_copies {async_proxy, pending = 0 : i32}
    tile.copy_scales %s[%c0] to %t[%c0] : !s, !t
    %again = arith.cmpi ne, %k, %c0 : index
    tile.multiply_async %x[%c0], %x[%c0], %acc scales %t[%c0], %t[%c0] accumulate %again
       shape [1, 128, 128, 256] {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"}
       : !x, !x, !acc, !t, !t
    tile.commit_multiplies %done[%c0] : !tile.barriers<1>
    tile.wait_barrier %done[%c0] parity %parity : !tile.barriers<1>
    %next = arith.xori %parity, %one : i32
    scf.yield %next : i32
  }
  tile.barrier
  tile.inval_barriers %done : !tile.barriers<1>
  return
}

// So does one that somebody else has given slots.
// CHECK-LABEL: func.func @other_slot(
// CHECK-NOT: tile.warp_roles
// CHECK: return
func.func @other_slot(%xm: !mx, %sm: !ms, %n: index) attributes {tile.kernel, tile.num_warps = 8 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %x = tile.alloc_buffer : !x
  %s = tile.alloc_buffer : !s
  %acc = tile.alloc_tensor_memory : !acc
  %t = tile.alloc_tensor_memory : !t
  %done = tile.alloc_barriers : !tile.barriers<1>
  tile.init_barriers %done {arrivals = 1 : i32} : !tile.barriers<1>
  tile.barrier
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%parity = %zero) -> (i32) {
    tile.copy_async %xm[%k, %c0] to %x[%k] {moving = array<i64: 0>} : !mx, !x
    tile.copy_async %sm[%c0, %k] to %s[%c0] : !ms, !s
    tile.commit_copies
    tile.wait_copies {async_proxy, pending = 0 : i32}
    tile.copy_scales %s[%c0] to %t[%c0] : !s, !t
    %again = arith.cmpi ne, %k, %c0 : index
    tile.multiply_async %x[%c0], %x[%c0], %acc scales %t[%c0], %t[%c0] accumulate %again
       shape [1, 128, 128, 256] {atom = "m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3"}
       : !x, !x, !acc, !t, !t
    tile.commit_multiplies %done[%c0] : !tile.barriers<1>
    tile.wait_barrier %done[%c0] parity %parity : !tile.barriers<1>
    %next = arith.xori %parity, %one : i32
    scf.yield %next : i32
  }
  tile.barrier
  tile.inval_barriers %done : !tile.barriers<1>
  return
}
