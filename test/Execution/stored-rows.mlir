// Results of multiplies stored as rows of whole sectors: in formats of 16 and 8
// bits, transposed, over ragged edges, and from as many warps as one likes.

// DEFINE: %{run} = tile-lane-run --check %s --target=sm_80,sm_120a --schedule=3

// RUN: %{run} --entry=bf16 --grid=2,2 --num-warps=4 out:57x96:stride=104 in:57x64 in:96x64 | FileCheck %s --check-prefix=BF16
// RUN: %{run} --entry=bf16 --grid=2,2 --num-warps=1 out:57x96:stride=104 in:57x64 in:96x64 | FileCheck %s --check-prefix=BF16
// RUN: %{run} --entry=bf16 --grid=2,2 --num-warps=16 out:57x96:stride=104 in:57x64 in:96x64 | FileCheck %s --check-prefix=BF16
// BF16: sm_80: 5472 elements agree
// BF16: sm_120a: 5472 elements agree

// RUN: %{run} --entry=fp8 --grid=2,2 --num-warps=4 out:57x96:stride=112 in:57x64 in:96x64 | FileCheck %s --check-prefix=BF16
// RUN: %{run} --entry=transposed --grid=2,2 --num-warps=4 out:57x96:stride=104 in:57x64 in:96x64 | FileCheck %s --check-prefix=BF16

!x = memref<?x64xbf16>

// Pieces of 8 elements, 16 bytes.
func.func @bf16(%z: memref<?x?xbf16, strided<[?, 1]>> {tile.shape_divisible_by = array<i64: 1, 8>, tile.stride_divisible_by = array<i64: 8, 1>},
                %x: !x, %y: !x) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %m = tile.program_id 0
  %n = tile.program_id 1
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %p = tile.load %x[%m, %c0] : !x -> tensor<32x64xbf16>
  %q = tile.load %y[%n, %c0] : !x -> tensor<64x64xbf16>
  %t = tile.permute %q [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
  %r = tile.mmaf %p, %t, %zero : tensor<32x64xbf16>, tensor<64x64xbf16>, tensor<32x64xf32>
  %b = arith.truncf %r : tensor<32x64xf32> to tensor<32x64xbf16>
  tile.store %b, %z[%m, %n] : tensor<32x64xbf16>, memref<?x?xbf16, strided<[?, 1]>>
  return
}

func.func @fp8(%z: memref<?x?xf8E4M3FN, strided<[?, 1]>> {tile.shape_divisible_by = array<i64: 1, 16>, tile.stride_divisible_by = array<i64: 16, 1>},
               %x: !x, %y: !x) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %m = tile.program_id 0
  %n = tile.program_id 1
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %p = tile.load %x[%m, %c0] : !x -> tensor<32x64xbf16>
  %q = tile.load %y[%n, %c0] : !x -> tensor<64x64xbf16>
  %t = tile.permute %q [1, 0] : tensor<64x64xbf16> -> tensor<64x64xbf16>
  %r = tile.mmaf %p, %t, %zero : tensor<32x64xbf16>, tensor<64x64xbf16>, tensor<32x64xf32>
  %b = tile.ftof %r : tensor<32x64xf32> -> tensor<32x64xf8E4M3FN>
  tile.store %b, %z[%m, %n] : tensor<32x64xf8E4M3FN>, memref<?x?xf8E4M3FN, strided<[?, 1]>>
  return
}

// The multiply makes columns of the result.
func.func @transposed(%z: memref<?x?xbf16, strided<[?, 1]>> {tile.shape_divisible_by = array<i64: 1, 8>, tile.stride_divisible_by = array<i64: 8, 1>},
                      %x: !x, %y: !x) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %m = tile.program_id 0
  %n = tile.program_id 1
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %p = tile.load %x[%m, %c0] : !x -> tensor<32x64xbf16>
  %q = tile.load %y[%n, %c0] : !x -> tensor<64x64xbf16>
  %t = tile.permute %p [1, 0] : tensor<32x64xbf16> -> tensor<64x32xbf16>
  %r = tile.mmaf %q, %t, %zero : tensor<64x64xbf16>, tensor<64x32xbf16>, tensor<64x32xf32>
  %b = arith.truncf %r : tensor<64x32xf32> to tensor<64x32xbf16>
  %o = tile.permute %b [1, 0] : tensor<64x32xbf16> -> tensor<32x64xbf16>
  tile.store %o, %z[%m, %n] : tensor<32x64xbf16>, memref<?x?xbf16, strided<[?, 1]>>
  return
}
