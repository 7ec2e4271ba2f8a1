// Slices give the values of the whole. The reference device has no tensor
// memory: both are run with the sums in an array, the first argument.

// DEFINE: %{npy} = %python %S/../Reference/Inputs/npy.py
// DEFINE: %{whole} = tile-run whole.mlir --device=reference
// DEFINE: %{sliced} = tile-run sliced.mlir --device=reference
// DEFINE: %{compiled} = tile-run sliced.mlir --device=emulator --target=sm_80 --num-warps=4

// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: sed -e '/alloc_tensor_memory/d' -e 's/load_tensor_memory %acc : !sums/load %array[%c0, %c0] : !array/' %s > whole.mlir
// RUN: tile-opt %s --tile-slice-results=num-warps=4 | sed -e '/alloc_tensor_memory/d' -e 's/load_tensor_memory %[a-z0-9_]* at\(\[.*\]\) : !tile.tensor_memory<1x128x128xf32>/load %arg0\1 : memref<128x128xf32>/' > sliced.mlir
// RUN: grep -c 'scf.for' sliced.mlir | FileCheck %s --check-prefix=LOOPS
// LOOPS: {{^}}7{{$}}
// RUN: not grep tensor_memory sliced.mlir

// RUN: %{npy} make sums.npy f4 128x128 hash:1:100
// RUN: %{npy} make z.npy f4 200x250 hash:2:100
// RUN: %{npy} make v.npy u2 250 hash:3:30000
// RUN: %{npy} make c.npy f4 200x1 hash:4:100

// Ragged tiles; what was there is added.
// RUN: cp z.npy z1.npy && cp z.npy z2.npy && cp z.npy z3.npy
// RUN: %{whole} --entry=accumulate --grid=2,2 in:sums.npy inout:z1.npy in:v.npy in:c.npy
// RUN: %{sliced} --entry=accumulate --grid=2,2 in:sums.npy inout:z2.npy in:v.npy in:c.npy
// RUN: %{compiled} --entry=accumulate --grid=2,2 in:sums.npy inout:z3.npy in:v.npy in:c.npy
// RUN: cmp z1.npy z2.npy && cmp z1.npy z3.npy && not cmp z.npy z1.npy

// RUN: %{whole} --entry=quantize --grid=2,2 in:sums.npy out:q1.npy:200x125xu8 out:s1.npy:200x16xu8
// RUN: %{sliced} --entry=quantize --grid=2,2 in:sums.npy out:q2.npy:200x125xu8 out:s2.npy:200x16xu8
// RUN: %{compiled} --entry=quantize --grid=2,2 in:sums.npy out:q3.npy:200x125xu8 out:s3.npy:200x16xu8
// RUN: cmp q1.npy q2.npy && cmp q1.npy q3.npy && cmp s1.npy s2.npy && cmp s1.npy s3.npy

// RUN: %{whole} --entry=exchanged --grid=1 in:sums.npy out:e1.npy:128x128xf32
// RUN: %{sliced} --entry=exchanged --grid=1 in:sums.npy out:e2.npy:128x128xf32
// RUN: %{compiled} --entry=exchanged --grid=1 in:sums.npy out:e3.npy:128x128xf32
// RUN: cmp e1.npy e2.npy && cmp e1.npy e3.npy

// The factors of the columns are what the first slice overwrites.
// RUN: cp z.npy o1.npy && cp z.npy o2.npy && cp z.npy o3.npy
// RUN: %{whole} --entry=overlapping --grid=1 in:sums.npy inout:o1.npy
// RUN: %{sliced} --entry=overlapping --grid=1 in:sums.npy inout:o2.npy
// RUN: %{compiled} --entry=overlapping --grid=1 in:sums.npy inout:o3.npy
// RUN: cmp o1.npy o2.npy && cmp o1.npy o3.npy

// The second store wins where both write.
// RUN: cp z.npy p1.npy && cp z.npy p2.npy && cp z.npy p3.npy
// RUN: %{whole} --entry=twice --grid=1 in:sums.npy inout:p1.npy
// RUN: %{sliced} --entry=twice --grid=1 in:sums.npy inout:p2.npy
// RUN: %{compiled} --entry=twice --grid=1 in:sums.npy inout:p3.npy
// RUN: cmp p1.npy p2.npy && cmp p1.npy p3.npy

!sums  = !tile.tensor_memory<1x128x128xf32>
!array = memref<128x128xf32>
!out   = memref<?x?xf32>
!t     = tensor<128x128xf32>

func.func @accumulate(%array: !array, %z: !out, %v: memref<?xbf16>, %c: memref<?x1xf32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %m = tile.program_id 0
  %n = tile.program_id 1
  %acc = tile.alloc_tensor_memory : !sums
  %old = tile.load %z[%m, %n] : !out -> !t
  %s = tile.load_tensor_memory %acc : !sums -> !t
  %column = tile.load %c[%m, %c0] : memref<?x1xf32> -> tensor<128x1xf32>
  %a = tile.broadcast %column : tensor<128x1xf32> -> !t
  %row = tile.load %v[%n] : memref<?xbf16> -> tensor<128xbf16>
  %row1 = tile.reshape %row : tensor<128xbf16> -> tensor<1x128xbf16>
  %row2 = tile.ftof %row1 : tensor<1x128xbf16> -> tensor<1x128xf32>
  %b = tile.broadcast %row2 : tensor<1x128xf32> -> !t
  %0 = arith.mulf %s, %a : !t
  %1 = arith.addf %0, %b : !t
  %2 = arith.addf %1, %old : !t
  tile.store %2, %z[%m, %n] : !t, !out
  return
}

func.func @quantize(%array: !array, %codes: memref<?x?x!tile.f4E2M1FNx2>, %scales: memref<?x?xf8E4M3FN>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %m = tile.program_id 0
  %n = tile.program_id 1
  %zero = arith.constant dense<0.0> : tensor<128x8x16xf32>
  %six = arith.constant dense<6.0> : tensor<128x8xf32>
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> !t
  %blocks = tile.reshape %s : !t -> tensor<128x8x16xf32>
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

// Every column has its number added and its own factor of four; all but the last
// are scattered in reverse, as rows.
func.func @exchanged(%array: !array, %z: !out) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> !t
  %factors = arith.constant dense<[0.5, -2.0, 0.0, 3.0]> : tensor<4xf32>
  %f1 = tile.reshape %factors : tensor<4xf32> -> tensor<4x1xf32>
  %f2 = tile.broadcast %f1 : tensor<4x1xf32> -> tensor<4x32xf32>
  %f3 = tile.reshape %f2 : tensor<4x32xf32> -> tensor<1x128xf32>
  %f4 = tile.broadcast %f3 : tensor<1x128xf32> -> !t
  %0 = arith.mulf %s, %f4 : !t
  %t = tile.permute %0 [1, 0] : !t -> !t
  %i = tile.iota : tensor<128xi32>
  %number = arith.sitofp %i : tensor<128xi32> to tensor<128xf32>
  %n1 = tile.reshape %number : tensor<128xf32> -> tensor<128x1xf32>
  %n2 = tile.broadcast %n1 : tensor<128x1xf32> -> !t
  %1 = arith.addf %t, %n2 : !t
  %last = arith.constant dense<127> : tensor<128xi32>
  %r = arith.subi %last, %i : tensor<128xi32>
  %rows = tile.reshape %r : tensor<128xi32> -> tensor<128x1xi32>
  %columns = tile.reshape %i : tensor<128xi32> -> tensor<1x128xi32>
  %m0 = arith.cmpi slt, %i, %last : tensor<128xi32>
  %m1 = tile.reshape %m0 : tensor<128xi1> -> tensor<128x1xi1>
  %mask = tile.broadcast %m1 : tensor<128x1xi1> -> tensor<128x128xi1>
  tile.scatter %1, %z[%rows, %columns] mask %mask : !t, !out, tensor<128x1xi32>, tensor<1x128xi32>, tensor<128x128xi1>
  return
}

func.func @overlapping(%array: !array, %z: !out) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> !t
  %column = tile.load %z[%c0, %c0] : !out -> tensor<128x1xf32>
  %row = tile.permute %column [1, 0] : tensor<128x1xf32> -> tensor<1x128xf32>
  %b = tile.broadcast %row : tensor<1x128xf32> -> !t
  %0 = arith.mulf %s, %b : !t
  tile.store %0, %z[%c0, %c0] : !t, !out
  return
}

func.func @twice(%array: !array, %z: !out) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %acc = tile.alloc_tensor_memory : !sums
  %s = tile.load_tensor_memory %acc : !sums -> !t
  tile.store %s, %z[%c0, %c0] : !t, !out
  %a = math.absf %s : !t
  %t = tile.permute %a [1, 0] : !t -> !t
  tile.store %t, %z[%c0, %c0] : !t, !out
  return
}
