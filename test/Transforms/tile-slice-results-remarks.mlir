// Sums that cannot be used in slices stay whole, and a remark says why.

// DEFINE: %{remarks} = --remarks-filter='tile-.*' --remark-format=emitRemark
// RUN: tile-opt %s --tile-slice-results=num-warps=4 %{remarks} -o /dev/null 2>&1 | FileCheck %s
// RUN: tile-opt %s --tile-slice-results=num-warps=4 | FileCheck %s --check-prefix=WHOLE
// RUN: not tile-opt %s --tile-slice-results=num-warps=3 2>&1 | FileCheck %s --check-prefix=WARPS
// WARPS: error: expects num-warps to be a power of two from 1 to 32, but got 3

!sums = !tile.tensor_memory<1x128x128xf32>
!t    = tensor<128x128xf32>
!m    = memref<?x?xf32>

// CHECK: remark: [Passed] slice-results | Category:tile-slice-results | Function=sliced | rounds=2, slices=4
// WHOLE: @sliced
// WHOLE-COUNT-2: at[
// WHOLE-NOT: at[
func.func @sliced(%z: !m, %w: !m, %i: index) attributes {tile.kernel} {
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> !t
  tile.store %s, %z[%i, %i] : !t, !m
  tile.store %s, %w[%i, %i] : !t, !m
  return
}

// What comes behind the only store does not stand between any.
// CHECK: [Passed] slice-results | {{.*}} | Function=goes_on | rounds=1, slices=4
// CHECK: [Passed] slice-results | {{.*}} | Function=goes_on | rounds=1, slices=4
// WHOLE: @goes_on
// WHOLE: at[
// WHOLE: scf.while
// WHOLE: at[
func.func @goes_on(%z: !m, %w: !m, %i: index, %p: i1) attributes {tile.kernel} {
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> !t
  tile.store %s, %z[%i, %i] : !t, !m
  %o = tile.load %w[%i, %i] : !m -> tensor<8x8xf32>
  scf.while : () -> () {
    tile.store %o, %z[%i, %i] : tensor<8x8xf32>, !m
    scf.condition(%p)
  } do {
    scf.yield
  }
  %u = tile.load_tensor_memory %acc : !sums -> !t
  tile.store %u, %w[%i, %i] : !t, !m
  tile.store %o, %z[%i, %i] : tensor<8x8xf32>, !m
  return
}

// CHECK: [Missed] slice-results | {{.*}} | Function=reduced | Reason="'tile.reduce' needs more than a slice of it", registers=128
func.func @reduced(%z: memref<?xf32>, %i: index) attributes {tile.kernel} {
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> !t
  %r = tile.reduce add %s [1] : !t -> tensor<128xf32>
  tile.store %r, %z[%i] : tensor<128xf32>, memref<?xf32>
  return
}

// CHECK: Function=reshaped | Reason="'tile.reshape' needs more than a slice of it"
func.func @reshaped(%z: memref<?xf32>, %i: index) attributes {tile.kernel} {
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> !t
  %r = tile.reshape %s : !t -> tensor<16384xf32>
  tile.store %r, %z[%i] : tensor<16384xf32>, memref<?xf32>
  return
}

// CHECK: Function=symmetric | Reason="'arith.addf' combines tiles that are divided differently"
func.func @symmetric(%z: !m, %i: index) attributes {tile.kernel} {
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> !t
  %p = tile.permute %s [1, 0] : !t -> !t
  %r = arith.addf %s, %p : !t
  tile.store %r, %z[%i, %i] : !t, !m
  return
}

// CHECK: Function=looped | Reason="'scf.for' needs all of it"
func.func @looped(%z: !m, %i: index) attributes {tile.kernel} {
  %c1 = arith.constant 1 : index
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> !t
  %r = scf.for %j = %c1 to %i step %c1 iter_args(%a = %s) -> (!t) {
    %b = arith.mulf %a, %a : !t
    scf.yield %b : !t
  }
  tile.store %r, %z[%i, %i] : !t, !m
  return
}

// CHECK: Function=nested | Reason="'tile.store' uses it in a region of its own"
func.func @nested(%z: !m, %i: index, %p: i1) attributes {tile.kernel} {
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> !t
  scf.if %p {
    tile.store %s, %z[%i, %i] : !t, !m
  }
  return
}

// CHECK: Function=extracted | Reason="'tensor.extract' needs more than a slice of it"
func.func @extracted(%z: !m, %i: index) attributes {tile.kernel} {
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> !t
  %e = tensor.extract %s[%i, %i] : !t
  %r = tensor.splat %e : !t
  tile.store %r, %z[%i, %i] : !t, !m
  return
}

// CHECK: Function=dropped | Reason="nothing stores what is made of it"
func.func @dropped(%z: !m, %i: index) attributes {tile.kernel} {
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> !t
  return
}

// The residual may be z, or overlap it by some rows.
// CHECK: Function=residual | Reason="'tile.load' reads what slices before may have overwritten"
func.func @residual(%z: !m, %x: !m, %i: index) attributes {tile.kernel} {
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> !t
  %old = tile.load %x[%i, %i] : !m -> !t
  %r = arith.addf %s, %old : !t
  tile.store %r, %z[%i, %i] : !t, !m
  return
}

// The same place, but only all of it: slices would be those of rows.
// CHECK: Function=transposed | Reason="'tile.load' reads what slices before may have overwritten"
func.func @transposed(%z: !m, %i: index) attributes {tile.kernel} {
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> !t
  %old = tile.load %z[%i, %i] : !m -> !t
  %t = tile.permute %old [1, 0] : !t -> !t
  %r = arith.addf %s, %t : !t
  tile.store %r, %z[%i, %i] : !t, !m
  return
}

// The second round comes when z is stored.
// CHECK: Function=stale | Reason="'tile.load' reads what slices before may have overwritten"
func.func @stale(%z: !m, %w: !m, %i: index) attributes {tile.kernel} {
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> !t
  %old = tile.load %w[%i, %i] : !m -> !t
  tile.store %s, %z[%i, %i] : !t, !m
  %r = arith.addf %s, %old : !t
  tile.store %r, %w[%i, %i] : !t, !m
  return
}

// What is loaded in front of the loop is not what an iteration finds.
// CHECK: Function=from_outside | Reason="'tile.load' reads what slices before may have overwritten"
func.func @from_outside(%z: !m, %i: index) attributes {tile.kernel} {
  %c1 = arith.constant 1 : index
  %acc = tile.alloc_tensor_memory : !sums
  %old = tile.load %z[%i, %i] : !m -> !t
  scf.for %j = %c1 to %i step %c1 {
    %s = tile.load_tensor_memory %acc : !sums -> !t
    %r = arith.addf %s, %old : !t
    tile.store %r, %z[%i, %i] : !t, !m
  }
  return
}

// A store of something else between the load and z.
// CHECK: Function=written_between | Reason="'tile.load' reads what slices before may have overwritten"
func.func @written_between(%z: !m, %w: !m, %i: index) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : !t
  %acc = tile.alloc_tensor_memory : !sums
  %old = tile.load %z[%i, %i] : !m -> !t
  tile.store %zero, %w[%i, %i] : !t, !m
  %s = tile.load_tensor_memory %acc : !sums -> !t
  %r = arith.addf %s, %old : !t
  tile.store %r, %z[%i, %i] : !t, !m
  return
}

// A vector that is loaded when z is stored already: it may lie in z.
// CHECK: Function=loaded_late | Reason="'tile.load' stands between stores of slices"
func.func @loaded_late(%z: !m, %w: !m, %v: memref<?x1xf32>, %i: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> !t
  tile.store %s, %z[%i, %i] : !t, !m
  %c = tile.load %v[%i, %c0] : memref<?x1xf32> -> tensor<128x1xf32>
  %b = tile.broadcast %c : tensor<128x1xf32> -> !t
  %r = arith.addf %s, %b : !t
  tile.store %r, %w[%i, %i] : !t, !m
  return
}

// CHECK: Function=other_store | Reason="'tile.store' stands between stores of slices"
func.func @other_store(%z: !m, %w: !m, %i: index) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : !t
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> !t
  tile.store %s, %z[%i, %i] : !t, !m
  tile.store %zero, %w[%i, %i] : !t, !m
  %a = math.absf %s : !t
  tile.store %a, %z[%i, %i] : !t, !m
  return
}

// Too large for registers, and no slice of it is known.
// CHECK: Function=gathered | Reason="'tile.gather' gives a tile that cannot be divided"
func.func @gathered(%z: !m, %x: !m, %n: memref<?x?xi32>, %i: index) attributes {tile.kernel} {
  %rows = tile.load %n[%i, %i] : memref<?x?xi32> -> tensor<128x128xi32>
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> !t
  %g = tile.gather %x[%rows, %rows] : !m, tensor<128x128xi32>, tensor<128x128xi32> -> !t
  %r = arith.addf %s, %g : !t
  tile.store %r, %z[%i, %i] : !t, !m
  return
}

// Behind the barrier the next iteration may multiply.
// CHECK: Function=barrier | Reason="'tile.load_tensor_memory' cannot be done later"
func.func @barrier(%z: !m, %i: index) attributes {tile.kernel} {
  %c1 = arith.constant 1 : index
  %acc = tile.alloc_tensor_memory : !sums
  scf.for %j = %c1 to %i step %c1 {
    %s = tile.load_tensor_memory %acc : !sums -> !t
    tile.barrier
    tile.store %s, %z[%i, %i] : !t, !m
  }
  return
}

// New sums in the same place.
// CHECK: Function=overwritten | Reason="'tile.load_tensor_memory' cannot be done later"
func.func @overwritten(%z: !m, %i: index) attributes {tile.kernel} {
  %zero = arith.constant dense<0.0> : !t
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> !t
  tile.store_tensor_memory %zero to %acc : !t, !sums
  tile.store %s, %z[%i, %i] : !t, !m
  return
}

// CHECK: Function=narrow | Reason="it has too few columns", registers=128
func.func @narrow(%z: memref<?x?x?xf32>, %i: index) attributes {tile.kernel} {
  %acc = tile.alloc_tensor_memory : !tile.tensor_memory<1x16x128x8xf32>
  %s = tile.load_tensor_memory %acc : !tile.tensor_memory<1x16x128x8xf32> -> tensor<16x128x8xf32>
  tile.store %s, %z[%i, %i, %i] : tensor<16x128x8xf32>, memref<?x?x?xf32>
  return
}
// CHECK-NOT: remark:
