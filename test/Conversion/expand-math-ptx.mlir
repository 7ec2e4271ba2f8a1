// Every function and every conversion of a kernel, on each floating type, down
// to PTX, and to machine code where ptxas is found.
//
// RUN: tile-compile %s -DT=f32 --target=sm_80 -o %t.ptx
// RUN: FileCheck %s --check-prefixes=CHECK,F32 --input-file=%t.ptx
// RUN: FileCheck %s --check-prefix=NEVER --input-file=%t.ptx
// RUN: %if ptxas %{ %ptxas -arch=sm_80 %t.ptx -o %t.cubin %}
//
// RUN: tile-compile %s -DT=f16 --target=sm_80 -o %t.ptx
// RUN: FileCheck %s --check-prefixes=CHECK,F16 --input-file=%t.ptx
// RUN: FileCheck %s --check-prefix=NEVER --input-file=%t.ptx
// RUN: %if ptxas %{ %ptxas -arch=sm_80 %t.ptx -o %t.cubin %}
//
// RUN: tile-compile %s -DT=bf16 --target=sm_80 -o %t.ptx
// RUN: FileCheck %s --check-prefixes=CHECK,BF16 --input-file=%t.ptx
// RUN: FileCheck %s --check-prefix=NEVER --input-file=%t.ptx
// RUN: %if ptxas %{ %ptxas -arch=sm_80 %t.ptx -o %t.cubin %}
//
// RUN: tile-compile %s -DT=bf16 --target=sm_90 -o %t.ptx
// RUN: FileCheck %s --check-prefixes=CHECK,BF16 --input-file=%t.ptx
// RUN: FileCheck %s --check-prefix=NEVER --input-file=%t.ptx
// RUN: %if ptxas %{ %ptxas -arch=sm_90 %t.ptx -o %t.cubin %}
//
// RUN: tile-compile %s -DT=f32 --target=sm_120f -o %t.ptx
// RUN: FileCheck %s --check-prefixes=CHECK,F32 --input-file=%t.ptx
// RUN: FileCheck %s --check-prefix=NEVER --input-file=%t.ptx
// RUN: %if ptxas %{ %ptxas -arch=sm_120f %t.ptx -o %t.cubin %}
//
// RUN: tile-compile %s -DT=f16 --target=sm_120f -o %t.ptx
// RUN: FileCheck %s --check-prefixes=CHECK,F16 --input-file=%t.ptx
// RUN: FileCheck %s --check-prefix=NEVER --input-file=%t.ptx
// RUN: %if ptxas %{ %ptxas -arch=sm_120f %t.ptx -o %t.cubin %}
//
// RUN: tile-compile %s -DT=bf16 --target=sm_120f -o %t.ptx
// RUN: FileCheck %s --check-prefixes=CHECK,BF16 --input-file=%t.ptx
// RUN: FileCheck %s --check-prefix=NEVER --input-file=%t.ptx
// RUN: %if ptxas %{ %ptxas -arch=sm_120f %t.ptx -o %t.cubin %}

// One rounding per operation, nothing flushed but what is never subnormal, and
// the functions of f16 and bf16 in f32.
// NEVER-NOT: {{[[:space:]](add|sub|mul|fma|div|sqrt)(\.rn)?\.ftz}}
// NEVER-NOT: {{[[:space:]](add|sub|mul)\.(f32|f16|bf16)}}
// NEVER-NOT: {{[[:space:]](div|sqrt|tanh|sin|cos|lg2)\.(approx|full)}}
// NEVER-NOT: {{ex2\.approx(\.ftz)?\.(f16|bf16)}}

// CHECK-LABEL: .entry functions(

// CHECK-LABEL: .entry exact(
// F32: fma.rn.f32
// F16: fma.rn.f16
// BF16: fma.rn.bf16
// CHECK: sqrt.rn.f32

// CHECK-LABEL: .entry arithmetic(
// F32: div.rn.f32
// F32: max.NaN.f32
// F32: min.NaN.f32
// F16: div.rn.f32
// F16: max.NaN.f16
// F16: min.NaN.f16
// BF16: div.rn.f32
// BF16: max.NaN.bf16
// BF16: min.NaN.bf16

func.func @functions(%z: memref<?x?x${T}>, %x: memref<?x?x${T}>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %0 = tile.load %x[%i, %j] : memref<?x?x${T}> -> tensor<4x8x${T}>
  %1 = math.exp %0 : tensor<4x8x${T}>
  %2 = math.exp2 %1 : tensor<4x8x${T}>
  %3 = math.log %2 : tensor<4x8x${T}>
  %4 = math.log2 %3 : tensor<4x8x${T}>
  %5 = math.rsqrt %4 : tensor<4x8x${T}>
  %6 = math.tanh %5 : tensor<4x8x${T}>
  %7 = math.erf %6 : tensor<4x8x${T}>
  %8 = math.sin %7 : tensor<4x8x${T}>
  %9 = math.cos %8 : tensor<4x8x${T}>
  tile.store %9, %z[%i, %j] : tensor<4x8x${T}>, memref<?x?x${T}>
  return
}

func.func @exact(%z: memref<?x?x${T}>, %x: memref<?x?x${T}>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %0 = tile.load %x[%i, %j] : memref<?x?x${T}> -> tensor<4x8x${T}>
  %1 = math.ceil %0 : tensor<4x8x${T}>
  %2 = math.fma %1, %0, %0 : tensor<4x8x${T}>
  %3 = math.floor %2 : tensor<4x8x${T}>
  %4 = math.absf %3 : tensor<4x8x${T}>
  %5 = math.sqrt %4 : tensor<4x8x${T}>
  %6 = math.roundeven %5 : tensor<4x8x${T}>
  %7 = arith.addf %6, %0 : tensor<4x8x${T}>
  %8 = math.trunc %7 : tensor<4x8x${T}>
  tile.store %8, %z[%i, %j] : tensor<4x8x${T}>, memref<?x?x${T}>
  return
}

func.func @arithmetic(%z: memref<?x?x${T}>, %x: memref<?x?x${T}>,
                      %n: memref<?x?xi32>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %x0 = tile.load %x[%i, %j] : memref<?x?x${T}> -> tensor<4x8x${T}>
  %n0 = tile.load %n[%i, %j] : memref<?x?xi32> -> tensor<4x8xi32>
  %0 = arith.sitofp %n0 : tensor<4x8xi32> to tensor<4x8x${T}>
  %1 = arith.divf %x0, %0 : tensor<4x8x${T}>
  %2 = arith.maximumf %1, %x0 : tensor<4x8x${T}>
  %3 = arith.minimumf %2, %0 : tensor<4x8x${T}>
  %4 = arith.remf %3, %x0 : tensor<4x8x${T}>
  %5 = arith.fptosi %4 : tensor<4x8x${T}> to tensor<4x8xi8>
  %6 = arith.extsi %5 : tensor<4x8xi8> to tensor<4x8xi32>
  %7 = arith.floordivsi %6, %n0 : tensor<4x8xi32>
  %8 = arith.remui %7, %n0 : tensor<4x8xi32>
  %9 = arith.shrsi %8, %n0 : tensor<4x8xi32>
  %10 = arith.extsi %9 : tensor<4x8xi32> to tensor<4x8xi64>
  %11 = arith.uitofp %10 : tensor<4x8xi64> to tensor<4x8x${T}>
  %12 = arith.fptoui %11 : tensor<4x8x${T}> to tensor<4x8xi1>
  %13 = arith.sitofp %12 : tensor<4x8xi1> to tensor<4x8x${T}>
  %14 = arith.fptosi %13 : tensor<4x8x${T}> to tensor<4x8xi64>
  %15 = arith.sitofp %14 : tensor<4x8xi64> to tensor<4x8x${T}>
  tile.store %15, %z[%i, %j] : tensor<4x8x${T}>, memref<?x?x${T}>
  return
}
