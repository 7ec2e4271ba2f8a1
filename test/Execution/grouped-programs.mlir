// Tile programs in another order than that of the hardware: on grids of any
// extents each still runs once, for each group of columns.

// DEFINE: %{coordinates} = tile-lane-run --check %s --target=sm_80,sm_120a --entry=coordinates

// Each program writes its coordinates to a place of its own, so that a place
// that is left out keeps what it had, and one that is taken twice is taken by
// two blocks.
// RUN: %{coordinates} --grid=1,1 out:1x1x3 | FileCheck %s -DN=3 --check-prefix=AGREE
// RUN: %{coordinates} --grid=1,7 out:1x7x3 | FileCheck %s -DN=21 --check-prefix=AGREE
// RUN: %{coordinates} --grid=7,1 out:7x1x3 | FileCheck %s -DN=21 --check-prefix=AGREE
// RUN: %{coordinates} --grid=3,4 out:3x4x3 | FileCheck %s -DN=36 --check-prefix=AGREE
// RUN: %{coordinates} --grid=4,3 out:4x3x3 | FileCheck %s -DN=36 --check-prefix=AGREE
// RUN: %{coordinates} --grid=5,9 out:5x9x3 | FileCheck %s -DN=135 --check-prefix=AGREE
// RUN: %{coordinates} --grid=16,16 out:16x16x3 | FileCheck %s -DN=768 --check-prefix=AGREE
// RUN: %{coordinates} --grid=5,3,2 out:10x3x3 | FileCheck %s -DN=90 --check-prefix=AGREE
// AGREE: sm_80: [[N]] elements agree
// AGREE: sm_120a: [[N]] elements agree

// The attribute of a kernel without a multiply counts.
func.func @coordinates(%z: memref<?x?x3xi32>) attributes {tile.kernel, tile.group_programs = 3 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %x = tile.program_id 0
  %y = tile.program_id 1
  %b = tile.program_id 2
  %n = tile.num_programs 0
  %before = arith.muli %b, %n : index
  %row = arith.addi %before, %x : index
  %xi = arith.index_cast %x : index to i32
  %yi = arith.index_cast %y : index to i32
  %bi = arith.index_cast %b : index to i32
  %xt = tensor.splat %xi : tensor<1x1x1xi32>
  %yt = tensor.splat %yi : tensor<1x1x1xi32>
  %bt = tensor.splat %bi : tensor<1x1x1xi32>
  tile.store %xt, %z[%row, %y, %c0] : tensor<1x1x1xi32>, memref<?x?x3xi32>
  tile.store %yt, %z[%row, %y, %c1] : tensor<1x1x1xi32>, memref<?x?x3xi32>
  tile.store %bt, %z[%row, %y, %c2] : tensor<1x1x1xi32>, memref<?x?x3xi32>
  return
}

// A multiply whose operands are staged: its tiles are those of the coordinates.
// RUN: tile-lane-run --check %s --target=sm_80,sm_120a --entry=multiply --grid=5,3 --group-programs=2 out:80x24 in:80x64 in:24x64 | FileCheck %s --check-prefix=MULTIPLY
// RUN: tile-lane-run --check %s --target=sm_80,sm_120a --entry=multiply --grid=5,3 --group-programs=0 out:80x24 in:80x64 in:24x64 | FileCheck %s --check-prefix=MULTIPLY
// MULTIPLY: sm_80: 1920 elements agree
// MULTIPLY: sm_120a: 1920 elements agree

func.func @multiply(%z: memref<?x24xf32>, %x: memref<?x64xbf16>, %w: memref<?x64xbf16>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %m = tile.program_id 0
  %n = tile.program_id 1
  %zero = arith.constant dense<0.0> : tensor<16x8xf32>
  %r = scf.for %k = %c0 to %c4 step %c1 iter_args(%a = %zero) -> (tensor<16x8xf32>) {
    %p = tile.load %x[%m, %k] : memref<?x64xbf16> -> tensor<16x16xbf16>
    %q = tile.load %w[%n, %k] : memref<?x64xbf16> -> tensor<8x16xbf16>
    %t = tile.permute %q [1, 0] : tensor<8x16xbf16> -> tensor<16x8xbf16>
    %s = tile.mmaf %p, %t, %a : tensor<16x16xbf16>, tensor<16x8xbf16>, tensor<16x8xf32>
    scf.yield %s : tensor<16x8xf32>
  }
  tile.store %r, %z[%m, %n] : tensor<16x8xf32>, memref<?x24xf32>
  return
}
