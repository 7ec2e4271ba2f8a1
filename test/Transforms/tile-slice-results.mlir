// What is made of the sums, up to the stores, becomes a loop over slices of as
// many columns as give a thread 32 sums.

// RUN: tile-opt %s --tile-slice-results=num-warps=4 --canonicalize --cse | FileCheck %s

!sums = !tile.tensor_memory<1x128x128xf32>
!out  = memref<?x?xf32, strided<[?, 1]>>

// A factor for all, a column of factors, both as they are in every slice.
// CHECK-LABEL: func.func @scale(
// CHECK-SAME: %[[Z:.*]]: memref<{{.*}}>, %[[C:.*]]: memref<?x1xf32>, %[[ALPHA:.*]]: f32, %[[P:.*]]: i1)
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[M:.*]] = tile.program_id 0
// CHECK-DAG: %[[N:.*]] = tile.program_id 1
// CHECK: %[[COLUMN:.*]] = tile.load %[[C]][%[[M]], %[[C0]]] : memref<?x1xf32> -> tensor<128x1xf32>
// CHECK-NOT: tile.load_tensor_memory
// CHECK: scf.for %[[J:.*]] = %[[C0]] to %[[C4]] step %[[C1]] {
// CHECK: %[[S:.*]] = tile.load_tensor_memory %{{.*}} at[%[[C0]], %[[J]]] if %[[P]] : !tile.tensor_memory<1x128x128xf32> -> tensor<128x32xf32>
// CHECK: %[[A:.*]] = tensor.splat %[[ALPHA]] : tensor<128x32xf32>
// CHECK: %[[O:.*]] = arith.mulf %[[S]], %[[A]] : tensor<128x32xf32>
// CHECK: %[[B:.*]] = tile.broadcast %[[COLUMN]] : tensor<128x1xf32> -> tensor<128x32xf32>
// CHECK: %[[O2:.*]] = arith.mulf %[[O]], %[[B]]
// CHECK: %[[F:.*]] = arith.muli %[[N]], %[[C4]] : index
// CHECK: %[[NJ:.*]] = arith.addi %[[F]], %[[J]] : index
// CHECK: tile.store %[[O2]], %[[Z]][%[[M]], %[[NJ]]] : tensor<128x32xf32>
// CHECK: }
// CHECK-NEXT: return
func.func @scale(%z: !out, %c: memref<?x1xf32>, %alpha: f32, %p: i1) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %m = tile.program_id 0
  %n = tile.program_id 1
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc if %p : !sums -> tensor<128x128xf32>
  %a = tensor.splat %alpha : tensor<128x128xf32>
  %o = arith.mulf %s, %a : tensor<128x128xf32>
  %column = tile.load %c[%m, %c0] : memref<?x1xf32> -> tensor<128x1xf32>
  %b = tile.broadcast %column : tensor<128x1xf32> -> tensor<128x128xf32>
  %o2 = arith.mulf %o, %b : tensor<128x128xf32>
  tile.store %o2, %z[%m, %n] : tensor<128x128xf32>, !out
  return
}

// Sides that are exchanged: the columns of the sums are rows of z.
// CHECK-LABEL: func.func @exchanged(
// CHECK: scf.for %[[J:.*]] =
// CHECK: %[[S:.*]] = tile.load_tensor_memory %{{.*}} at[%{{.*}}, %[[J]]] : {{.*}} -> tensor<128x32xf32>
// CHECK: %[[T:.*]] = tile.permute %[[S]] [1, 0] : tensor<128x32xf32> -> tensor<32x128xf32>
// CHECK: %[[H:.*]] = tile.ftof %[[T]] : tensor<32x128xf32> -> tensor<32x128xbf16>
// CHECK: %[[MJ:.*]] = arith.addi %{{.*}}, %[[J]]
// CHECK: tile.store %[[H]], %{{.*}}[%[[MJ]], %{{.*}}] : tensor<32x128xbf16>
func.func @exchanged(%z: memref<?x?xbf16>) attributes {tile.kernel} {
  %m = tile.program_id 0
  %n = tile.program_id 1
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> tensor<128x128xf32>
  %t = tile.permute %s [1, 0] : tensor<128x128xf32> -> tensor<128x128xf32>
  %h = tile.ftof %t : tensor<128x128xf32> -> tensor<128x128xbf16>
  tile.store %h, %z[%m, %n] : tensor<128x128xbf16>, memref<?x?xbf16>
  return
}

// A vector along the columns may share memory with z: it is loaded whole, before
// anything is stored, and its part is taken bit for bit.
// CHECK-LABEL: func.func @bias(
// CHECK: %[[V:.*]] = tile.load %{{.*}} : memref<?xbf16> -> tensor<128xbf16>
// CHECK: scf.for %[[J:.*]] =
// CHECK-DAG: %[[BITS:.*]] = arith.bitcast %[[V]] : tensor<128xbf16> to tensor<128xi16>
// CHECK-DAG: %[[R:.*]] = tile.reshape %[[BITS]] : tensor<128xi16> -> tensor<4x32xi16>
// CHECK-DAG: %[[J32:.*]] = arith.index_cast %[[J]] : index to i32
// CHECK-DAG: %[[JS:.*]] = tensor.splat %[[J32]] : tensor<4xi32>
// CHECK-DAG: %[[EQ:.*]] = arith.cmpi eq, %{{.*}}, %[[JS]] : tensor<4xi32>
// CHECK-DAG: %[[EQ2:.*]] = tile.reshape %[[EQ]] : tensor<4xi1> -> tensor<4x1xi1>
// CHECK-DAG: %[[MASK:.*]] = tile.broadcast %[[EQ2]] : tensor<4x1xi1> -> tensor<4x32xi1>
// CHECK: %[[X:.*]] = arith.select %[[MASK]], %[[R]], %{{.*}} : tensor<4x32xi1>, tensor<4x32xi16>
// CHECK: %[[Y:.*]] = tile.reduce or %[[X]] [0] : tensor<4x32xi16> -> tensor<32xi16>
// CHECK: %[[W:.*]] = arith.bitcast %[[Y]] : tensor<32xi16> to tensor<32xbf16>
// CHECK: %[[F:.*]] = tile.ftof %[[W]] : tensor<32xbf16> -> tensor<32xf32>
// CHECK: %[[ROW:.*]] = tile.reshape %[[F]] : tensor<32xf32> -> tensor<1x32xf32>
// CHECK: %[[B:.*]] = tile.broadcast %[[ROW]] : tensor<1x32xf32> -> tensor<128x32xf32>
// CHECK: arith.addf %{{.*}}, %[[B]] : tensor<128x32xf32>
func.func @bias(%z: !out, %v: memref<?xbf16>) attributes {tile.kernel} {
  %m = tile.program_id 0
  %n = tile.program_id 1
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> tensor<128x128xf32>
  %b0 = tile.load %v[%n] : memref<?xbf16> -> tensor<128xbf16>
  %b1 = tile.ftof %b0 : tensor<128xbf16> -> tensor<128xf32>
  %b2 = tile.reshape %b1 : tensor<128xf32> -> tensor<1x128xf32>
  %b = tile.broadcast %b2 : tensor<1x128xf32> -> tensor<128x128xf32>
  %o = arith.addf %s, %b : tensor<128x128xf32>
  tile.store %o, %z[%m, %n] : tensor<128x128xf32>, !out
  return
}

// Blocks of 16 columns share a scale. Codes may share memory with scales: all of
// the scales are stored before any code is, each by a loop of its own.
// CHECK-LABEL: func.func @quantize(
// CHECK-SAME: %[[CODES:.*]]: memref<?x?x!tile.f4E2M1FNx2>, %[[SCALES:.*]]: memref<?x?xf8E4M3FN>)
// CHECK: scf.for %[[J:.*]] =
// CHECK: tile.load_tensor_memory
// CHECK: tile.reduce max %{{.*}} [2] : tensor<128x2x16xf32> -> tensor<128x2xf32>
// CHECK-NOT: tile.pack
// CHECK: tile.store %{{.*}}, %[[SCALES]][%{{.*}}, %{{.*}}] : tensor<128x2xf8E4M3FN>
// CHECK-NOT: tile.store
// CHECK: scf.for
// CHECK: tile.load_tensor_memory
// CHECK: tile.reduce max %{{.*}} [2] : tensor<128x2x16xf32> -> tensor<128x2xf32>
// CHECK: tile.broadcast %{{.*}} : tensor<128x2x1xf32> -> tensor<128x2x16xf32>
// CHECK: tile.pack %{{.*}} : tensor<128x32xf4E2M1FN> -> tensor<128x16x!tile.f4E2M1FNx2>
// CHECK-NOT: tile.store {{.*}}%[[SCALES]]
// CHECK: tile.store %{{.*}}, %[[CODES]]
// CHECK: return
func.func @quantize(%codes: memref<?x?x!tile.f4E2M1FNx2>, %scales: memref<?x?xf8E4M3FN>) attributes {tile.kernel} {
  %m = tile.program_id 0
  %n = tile.program_id 1
  %zero = arith.constant dense<0.0> : tensor<128x8x16xf32>
  %six = arith.constant dense<6.0> : tensor<128x8xf32>
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> tensor<128x128xf32>
  %blocks = tile.reshape %s : tensor<128x128xf32> -> tensor<128x8x16xf32>
  %magnitudes = math.absf %blocks : tensor<128x8x16xf32>
  %largest = tile.reduce max %magnitudes [2] : tensor<128x8x16xf32> -> tensor<128x8xf32>
  %exact = arith.divf %largest, %six : tensor<128x8xf32>
  %scale = tile.ftof %exact : tensor<128x8xf32> -> tensor<128x8xf8E4M3FN>
  tile.store %scale, %scales[%m, %n] : tensor<128x8xf8E4M3FN>, memref<?x?xf8E4M3FN>
  %stored = tile.ftof %scale : tensor<128x8xf8E4M3FN> -> tensor<128x8xf32>
  %column = tile.reshape %stored : tensor<128x8xf32> -> tensor<128x8x1xf32>
  %steps = tile.broadcast %column : tensor<128x8x1xf32> -> tensor<128x8x16xf32>
  %ratio = arith.divf %blocks, %steps : tensor<128x8x16xf32>
  %empty = arith.cmpf oeq, %steps, %zero : tensor<128x8x16xf32>
  %chosen = arith.select %empty, %zero, %ratio : tensor<128x8x16xi1>, tensor<128x8x16xf32>
  %fp4 = tile.ftof %chosen : tensor<128x8x16xf32> -> tensor<128x8x16xf4E2M1FN>
  %row = tile.reshape %fp4 : tensor<128x8x16xf4E2M1FN> -> tensor<128x128xf4E2M1FN>
  %pairs = tile.pack %row : tensor<128x128xf4E2M1FN> -> tensor<128x64x!tile.f4E2M1FNx2>
  tile.store %pairs, %codes[%m, %n] : tensor<128x64x!tile.f4E2M1FNx2>, memref<?x?x!tile.f4E2M1FNx2>
  return
}

// Two blocks of 64 columns: no slice is narrower, whatever the registers want.
// CHECK-LABEL: func.func @wide_slices(
// CHECK: %[[C2:.*]] = arith.constant 2 : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[C2]]
// CHECK: tile.load_tensor_memory %{{.*}} -> tensor<128x64xf32>
func.func @wide_slices(%z: memref<?x?xf32>) attributes {tile.kernel} {
  %m = tile.program_id 0
  %n = tile.program_id 1
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> tensor<128x128xf32>
  %blocks = tile.reshape %s : tensor<128x128xf32> -> tensor<128x2x64xf32>
  %largest = tile.reduce max %blocks [2] : tensor<128x2x64xf32> -> tensor<128x2xf32>
  tile.store %largest, %z[%m, %n] : tensor<128x2xf32>, memref<?x?xf32>
  return
}

// z += s: a slice reads only what the same slice writes.
// CHECK-LABEL: func.func @accumulate(
// CHECK: scf.for
// CHECK: %[[S:.*]] = tile.load_tensor_memory
// CHECK: %[[OLD:.*]] = tile.load %[[Z:.*]][%[[M:.*]], %[[NJ:.*]]] : {{.*}} -> tensor<128x32xf32>
// CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %[[S]]
// CHECK: tile.store %[[NEW]], %[[Z]][%[[M]], %[[NJ]]]
func.func @accumulate(%z: !out) attributes {tile.kernel} {
  %m = tile.program_id 0
  %n = tile.program_id 1
  %acc = tile.alloc_tensor_memory : !sums
  %old = tile.load %z[%m, %n] : !out -> tensor<128x128xf32>
  %s = tile.load_tensor_memory %acc : !sums -> tensor<128x128xf32>
  %new = arith.addf %old, %s : tensor<128x128xf32>
  tile.store %new, %z[%m, %n] : tensor<128x128xf32>, !out
  return
}

// Twice the same place in one round: what is read before the first of the two
// stores stays before it.
// CHECK-LABEL: func.func @twice(
// CHECK: scf.for
// CHECK: %[[S:.*]] = tile.load_tensor_memory
// CHECK: %[[OLD:.*]] = tile.load
// CHECK: tile.store %[[S]]
// CHECK: %[[NEW:.*]] = arith.addf %[[OLD]], %[[S]]
// CHECK: tile.store %[[NEW]]
// CHECK-NOT: scf.for
// CHECK: return
func.func @twice(%z: !out) attributes {tile.kernel} {
  %m = tile.program_id 0
  %n = tile.program_id 1
  %acc = tile.alloc_tensor_memory : !sums
  %old = tile.load %z[%m, %n] : !out -> tensor<128x128xf32>
  %s = tile.load_tensor_memory %acc : !sums -> tensor<128x128xf32>
  tile.store %s, %z[%m, %n] : tensor<128x128xf32>, !out
  %new = arith.addf %old, %s : tensor<128x128xf32>
  tile.store %new, %z[%m, %n] : tensor<128x128xf32>, !out
  return
}

// z and w may overlap: all of z is written first.
// CHECK-LABEL: func.func @two_stores(
// CHECK: scf.for
// CHECK: tile.store
// CHECK: }
// CHECK: scf.for
// CHECK: math.absf
// CHECK: tile.store
func.func @two_stores(%z: !out, %w: !out) attributes {tile.kernel} {
  %m = tile.program_id 0
  %n = tile.program_id 1
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> tensor<128x128xf32>
  tile.store %s, %z[%m, %n] : tensor<128x128xf32>, !out
  %a = math.absf %s : tensor<128x128xf32>
  tile.store %a, %w[%m, %n] : tensor<128x128xf32>, !out
  return
}

// Sums of two multiplies that are combined are sliced together.
// CHECK-LABEL: func.func @gated(
// CHECK-COUNT-2: tile.alloc_tensor_memory
// CHECK-NOT: tile.load_tensor_memory
// CHECK: scf.for %[[J:.*]] =
// CHECK-COUNT-2: tile.load_tensor_memory %{{.*}} at[%{{.*}}, %[[J]]]
// CHECK: arith.mulf {{.*}} : tensor<128x32xf32>
// CHECK-NOT: tile.load_tensor_memory
func.func @gated(%z: !out) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %m = tile.program_id 0
  %n = tile.program_id 1
  %true = arith.constant true
  %zero = arith.constant 0 : i32
  %done = tile.alloc_barriers : !tile.barriers<1>
  %acc = tile.alloc_tensor_memory : !sums
  %acc2 = tile.alloc_tensor_memory : !sums
  %g = tile.load_tensor_memory %acc : !sums -> tensor<128x128xf32>
  tile.wait_barrier %done[%c0] parity %zero : !tile.barriers<1>
  %u = tile.load_tensor_memory %acc2 : !sums -> tensor<128x128xf32>
  %e = math.exp %g : tensor<128x128xf32>
  %o = arith.mulf %e, %u : tensor<128x128xf32>
  tile.store %o, %z[%m, %n] : tensor<128x128xf32>, !out
  return
}

// Numbers of columns, and a mask from them; a scatter by them.
// CHECK-LABEL: func.func @numbered(
// CHECK: scf.for %[[J:.*]] =
// CHECK-DAG: %[[I:.*]] = tile.iota : tensor<32xi32>
// CHECK-DAG: %[[F:.*]] = arith.muli %[[J]], %{{.*}} : index
// CHECK-DAG: %[[F32:.*]] = arith.index_cast %[[F]] : index to i32
// CHECK-DAG: %[[FS:.*]] = tensor.splat %[[F32]] : tensor<32xi32>
// CHECK: %[[C:.*]] = arith.addi %[[I]], %[[FS]] : tensor<32xi32>
// CHECK: %[[COL:.*]] = tile.reshape %[[C]] : tensor<32xi32> -> tensor<1x32xi32>
// CHECK: tile.scatter %{{.*}}, %{{.*}}[%{{.*}}, %[[COL]]] mask %{{.*}} : tensor<128x32xf32>, {{.*}}, tensor<128x1xi32>, tensor<1x32xi32>, tensor<128x32xi1>
func.func @numbered(%z: !out, %rows: memref<?x1xi32>, %limit: i32) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %m = tile.program_id 0
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> tensor<128x128xf32>
  %r = tile.load %rows[%m, %c0] : memref<?x1xi32> -> tensor<128x1xi32>
  %i = tile.iota : tensor<128xi32>
  %columns = tile.reshape %i : tensor<128xi32> -> tensor<1x128xi32>
  %l = tensor.splat %limit : tensor<1x128xi32>
  %in = arith.cmpi slt, %columns, %l : tensor<1x128xi32>
  %mask = tile.broadcast %in : tensor<1x128xi1> -> tensor<128x128xi1>
  tile.scatter %s, %z[%r, %columns] mask %mask : tensor<128x128xf32>, !out, tensor<128x1xi32>, tensor<1x128xi32>, tensor<128x128xi1>
  return
}

// Batches in front; few enough sums stay whole.
// CHECK-LABEL: func.func @batched(
// CHECK: scf.for %[[J:.*]] =
// CHECK: tile.load_tensor_memory %{{.*}} at[%[[C0:.*]], %[[C0]], %[[J]]] : {{.*}} -> tensor<2x128x16xf32>
// CHECK: tile.store %{{.*}}[%{{.*}}, %{{.*}}, %[[J]]]
func.func @batched(%z: memref<?x?x?xf32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %m = tile.program_id 0
  %acc = tile.alloc_tensor_memory : !tile.tensor_memory<1x2x128x64xf32>
  %s = tile.load_tensor_memory %acc : !tile.tensor_memory<1x2x128x64xf32> -> tensor<2x128x64xf32>
  tile.store %s, %z[%c0, %m, %c0] : tensor<2x128x64xf32>, memref<?x?x?xf32>
  return
}

// CHECK-LABEL: func.func @few(
// CHECK-NOT: scf.for
// CHECK: tile.load_tensor_memory %{{.*}} : {{.*}} -> tensor<128x32xf32>
func.func @few(%z: !out) attributes {tile.kernel} {
  %m = tile.program_id 0
  %n = tile.program_id 1
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> tensor<128x32xf32>
  tile.store %s, %z[%m, %n] : tensor<128x32xf32>, !out
  return
}

// More warps, fewer sums for each.
// CHECK-LABEL: func.func @eight_warps(
// CHECK: scf.for
// CHECK: tile.load_tensor_memory {{.*}} -> tensor<128x64xf32>
func.func @eight_warps(%z: !out) attributes {tile.kernel, tile.num_warps = 8 : i32} {
  %m = tile.program_id 0
  %n = tile.program_id 1
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> tensor<128x128xf32>
  tile.store %s, %z[%m, %n] : tensor<128x128xf32>, !out
  return
}
