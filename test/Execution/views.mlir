// Views: offsets that are static, dynamic and both, dropped dimensions, bounds of
// the view rather than of the array, a column as a vector; scalars of memory;
// facts about indices.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f

// RUN: %{run} --entry=page --grid=3 out:48x32 in:5x13x29:stride=31 in:3:max=5
// RUN: %{run} --entry=window --grid=1 --num-warps=4 out:32x32 in:40x50 val:7 val:21
// RUN: %{run} --entry=window --grid=1 out:32x32 in:40x50 val:0 val:0
// RUN: %{run} --entry=window --grid=1 out:32x32 in:64x64:stride=65 val:40 val:61
// RUN: %{run} --entry=columns --grid=4 out:4x64 in:37x4x3
// RUN: %{run} --entry=write --grid=2 --num-warps=2 inout:40x50 in:64x16
// RUN: %{run} --entry=nested --grid=1 out:8x16 in:4x40x50 val:3
// RUN: %{run} --entry=assume --grid=1 out:16x64 in:100x128:stride=144 val:48 val:32
// RUN: %{run} --entry=scalars --grid=1 out:8 in:3xi32 in:2x2xbf16 in:2xi64 in:4xi8 in:3xf16

!open = memref<?x?xf32, strided<[?, 1]>>

// A page of a table: the batch is dropped.
func.func @page(%z : memref<?x?xi16>, %x : memref<?x?x?xi16, strided<[?, ?, 1]>>, %table : memref<?xi32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %p = tile.program_id 0
  %entry = memref.load %table[%p] : memref<?xi32>
  %page = arith.index_cast %entry : i32 to index
  %rows = memref.dim %x, %c1 : memref<?x?x?xi16, strided<[?, ?, 1]>>
  %columns = memref.dim %x, %c2 : memref<?x?x?xi16, strided<[?, ?, 1]>>
  %v = memref.subview %x[%page, 0, 0] [1, %rows, %columns] [1, 1, 1] : memref<?x?x?xi16, strided<[?, ?, 1]>> to memref<?x?xi16, strided<[?, 1], offset: ?>>
  %t = tile.load %v[%c0, %c0] : memref<?x?xi16, strided<[?, 1], offset: ?>> -> tensor<16x32xi16>
  tile.store %t, %z[%p, %c0] : tensor<16x32xi16>, memref<?x?xi16>
  return
}

// The view ends before the array does, in one dimension statically.
func.func @window(%z : !open, %x : !open, %i : index, %j : index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = memref.subview %x[%i, 3] [19, %j] [1, 1] : !open to memref<19x?xf32, strided<[?, 1], offset: ?>>
  %a = tile.load %v[%c0, %c0] : memref<19x?xf32, strided<[?, 1], offset: ?>> -> tensor<16x32xf32>
  %b = tile.load %v[%c1, %c0] : memref<19x?xf32, strided<[?, 1], offset: ?>> -> tensor<16x32xf32>
  tile.store %a, %z[%c0, %c0] : tensor<16x32xf32>, !open
  tile.store %b, %z[%c1, %c0] : tensor<16x32xf32>, !open
  return
}

// The last dimension is dropped: neighbours are three elements apart.
func.func @columns(%z : memref<?x?xbf16>, %x : memref<?x4x3xbf16>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %p = tile.program_id 0
  %rows = memref.dim %x, %c0 : memref<?x4x3xbf16>
  %v = memref.subview %x[0, %p, 2] [%rows, 1, 1] [1, 1, 1] : memref<?x4x3xbf16> to memref<?xbf16, strided<[12], offset: ?>>
  %t = tile.load %v[%c0] : memref<?xbf16, strided<[12], offset: ?>> -> tensor<64xbf16>
  %r = tile.reshape %t : tensor<64xbf16> -> tensor<1x64xbf16>
  tile.store %r, %z[%p, %c0] : tensor<1x64xbf16>, memref<?x?xbf16>
  return
}

// Only what is in the view is written.
func.func @write(%z : memref<40x50xf16>, %x : memref<?x?xf16>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %p = tile.program_id 0
  %i = arith.muli %p, %c16 : index
  %v = memref.subview %z[%i, 11] [13, 9] [1, 1] : memref<40x50xf16> to memref<13x9xf16, strided<[50, 1], offset: ?>>
  %t = tile.load %x[%p, %c0] : memref<?x?xf16> -> tensor<32x16xf16>
  tile.store %t, %v[%c0, %c0] : tensor<32x16xf16>, memref<13x9xf16, strided<[50, 1], offset: ?>>
  return
}

// A view of a view.
func.func @nested(%z : memref<8x16xi8>, %x : memref<4x40x50xi8>, %i : index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %v = memref.subview %x[%i, 8, 0] [1, 30, 50] [1, 1, 1] : memref<4x40x50xi8> to memref<30x50xi8, strided<[50, 1], offset: ?>>
  %w = memref.subview %v[5, 16] [6, 15] [1, 1] : memref<30x50xi8, strided<[50, 1], offset: ?>> to memref<6x15xi8, strided<[50, 1], offset: ?>>
  %t = tile.load %w[%c0, %c0] : memref<6x15xi8, strided<[50, 1], offset: ?>> -> tensor<8x16xi8>
  tile.store %t, %z[%c0, %c0] : tensor<8x16xi8>, memref<8x16xi8>
  return
}

// Vectors at an offset that is known to be divisible.
func.func @assume(%z : memref<16x64xi8>,
                  %x : memref<?x?xi8, strided<[?, 1]>> {tile.shape_divisible_by = array<i64: 1, 16>, tile.stride_divisible_by = array<i64: 16, 1>},
                  %i : index, %j : index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c96 = arith.constant 96 : index
  %row = tile.assume %i {min = 0 : i64, max = 4096 : i64} : index
  %column = tile.assume %j {divisible_by = 16 : i64} : index
  %v = memref.subview %x[%row, %column] [16, %c96] [1, 1] : memref<?x?xi8, strided<[?, 1]>> to memref<16x?xi8, strided<[?, 1], offset: ?>>
  %t = tile.load %v[%c0, %c0] : memref<16x?xi8, strided<[?, 1], offset: ?>> -> tensor<16x64xi8>
  tile.store %t, %z[%c0, %c0] : tensor<16x64xi8>, memref<16x64xi8>
  return
}

func.func @scalars(%z : memref<8xf32>, %a : memref<3xi32>, %b : memref<2x2xbf16>, %c : memref<?xi64>, %d : memref<4xi8>, %e : memref<3xf16>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %i = memref.load %a[%c2] : memref<3xi32>
  %h = memref.load %b[%c1, %c0] : memref<2x2xbf16>
  %l = memref.load %c[%c1] : memref<?xi64>
  %s = memref.load %d[%c2] : memref<4xi8>
  %f = memref.load %e[%c1] : memref<3xf16>
  %i0 = arith.trunci %i : i32 to i8
  %l0 = arith.trunci %l : i64 to i8
  %sum = arith.addi %i0, %l0 : i8
  %sum1 = arith.xori %sum, %s : i8
  %g = arith.sitofp %sum1 : i8 to f32
  %h0 = arith.extf %h : bf16 to f32
  %f0 = arith.extf %f : f16 to f32
  %p = arith.mulf %g, %h0 : f32
  %q = arith.addf %p, %f0 : f32
  %t = tensor.splat %q : tensor<8xf32>
  tile.store %t, %z[%c0] : tensor<8xf32>, memref<8xf32>
  return
}
