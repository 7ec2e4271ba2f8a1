// Addresses are computed in 64 bits: a matrix of 2^31 elements or more has rows
// beyond the reach of a 32-bit product of row and stride.

// RUN: tile-compile %s --target=sm_80 | FileCheck %s
// RUN: tile-compile %s --target=sm_120f | FileCheck %s

// CHECK: .address_size 64
// CHECK: .entry rows(
// CHECK-DAG: ld.param.b64 [[STRIDE:%rd[0-9]+]], [rows_param_3];
// CHECK-DAG: mov.u32 [[ID:%r[0-9]+]], %ctaid.x;
// CHECK-DAG: mul.wide.u32 %rd{{[0-9]+}}, [[ID]], 16;
// CHECK: {{mul|mad}}.lo.s64 {{.*}}, [[STRIDE]]
// CHECK: st.global.b32 [%rd{{[0-9]+}}
// CHECK: ret;

// No product of 32 bits takes part.
// RUN: tile-compile %s --target=sm_80 | FileCheck %s --check-prefix=NARROW
// NARROW-NOT: {{mul|mad}}.lo.{{[su]}}32
// NARROW: ret;
func.func @rows(%x: memref<?x?xf32, strided<[?, 1]>>, %s: f32)
    attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id 0
  %t = tensor.splat %s : tensor<16x32xf32>
  tile.store %t, %x[%i, %c0] : tensor<16x32xf32>, memref<?x?xf32, strided<[?, 1]>>
  return
}
