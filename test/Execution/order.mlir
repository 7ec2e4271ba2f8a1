// Memory in program order, though the elements of a tile belong to other threads
// in each operation: what was stored is loaded, what is overwritten was read.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120f

// RUN: %{run} --entry=through --grid=1 --num-warps=4 inout:32x32 out:32x32
// RUN: %{run} --entry=through --grid=1 --num-warps=8 --schedule=3 inout:32x32 out:32x32
// RUN: %{run} --entry=inplace --grid=1 --num-warps=4 inout:64x64
// RUN: %{run} --entry=inplace --grid=1 --num-warps=16 --schedule=9 inout:64x64
// RUN: %{run} --entry=twice --grid=1 --num-warps=4 --schedule=5 out:64x16 in:64x16
// RUN: %{run} --entry=loop --grid=1 --num-warps=4 inout:256 val:5
// RUN: %{run} --entry=loop --grid=1 --num-warps=8 --schedule=11 inout:256 val:3
// RUN: %{run} --entry=scalar --grid=1 --num-warps=4 --schedule=2 inout:128 out:128

// Loads another part of what it stored.
func.func @through(%x : memref<32x32xf32>, %z : memref<32x32xf32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : memref<32x32xf32> -> tensor<32x32xf32>
  %p = tile.permute %t [1, 0] : tensor<32x32xf32> -> tensor<32x32xf32>
  %s = arith.addf %t, %p : tensor<32x32xf32>
  tile.store %s, %x[%c0, %c0] : tensor<32x32xf32>, memref<32x32xf32>
  %c1 = arith.constant 1 : index
  %u = tile.load %x[%c1, %c0] : memref<32x32xf32> -> tensor<8x32xf32>
  tile.store %u, %z[%c1, %c0] : tensor<8x32xf32>, memref<32x32xf32>
  %v = tile.load %x[%c0, %c1] : memref<32x32xf32> -> tensor<32x8xf32>
  tile.store %v, %z[%c0, %c1] : tensor<32x8xf32>, memref<32x32xf32>
  return
}

// Transposes in place.
func.func @inplace(%x : memref<64x64xi8>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : memref<64x64xi8> -> tensor<64x64xi8>
  %p = tile.permute %t [1, 0] : tensor<64x64xi8> -> tensor<64x64xi8>
  tile.store %p, %x[%c0, %c0] : tensor<64x64xi8>, memref<64x64xi8>
  return
}

// The second store wins.
func.func @twice(%z : memref<64x16xi32>, %x : memref<64x16xi32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : memref<64x16xi32> -> tensor<64x16xi32>
  tile.store %t, %z[%c0, %c0] : tensor<64x16xi32>, memref<64x16xi32>
  %c2 = arith.constant 2 : index
  %r = tile.reshape %t : tensor<64x16xi32> -> tensor<16x64xi32>
  %p = tile.permute %r [1, 0] : tensor<16x64xi32> -> tensor<64x16xi32>
  tile.store %p, %z[%c0, %c0] : tensor<64x16xi32>, memref<64x16xi32>
  return
}

// Each step reads what the step before it wrote, one element further.
func.func @loop(%x : memref<256xi32>, %n : index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %line = tile.iota : tensor<256xi32>
  %one = arith.constant dense<1> : tensor<256xi32>
  %further = arith.addi %line, %one : tensor<256xi32>
  scf.for %i = %c0 to %n step %c1 {
    %t = tile.gather %x[%further] : memref<256xi32>, tensor<256xi32> -> tensor<256xi32>
    %u = arith.addi %t, %line : tensor<256xi32>
    tile.store %u, %x[%c0] : tensor<256xi32>, memref<256xi32>
  }
  return
}

// A scalar of what a tile stored.
func.func @scalar(%x : memref<128xi32>, %z : memref<128xi32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c100 = arith.constant 100 : index
  %t = tile.load %x[%c0] : memref<128xi32> -> tensor<128xi32>
  %s = arith.muli %t, %t : tensor<128xi32>
  tile.store %s, %x[%c0] : tensor<128xi32>, memref<128xi32>
  %v = memref.load %x[%c100] : memref<128xi32>
  %w = tensor.splat %v : tensor<128xi32>
  tile.store %w, %z[%c0] : tensor<128xi32>, memref<128xi32>
  return
}
