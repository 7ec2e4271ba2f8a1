// With --lineinfo each instruction names the line of the kernel that it comes
// from: the load, the multiplication and the store below, and no other file.

// RUN: tile-compile %s --target=sm_80 --lineinfo | FileCheck %s
// RUN: %if ptxas %{ tile-compile %s --target=sm_80 --lineinfo --emit=cubin -o %t.cubin %}

// Without it there is none.
// RUN: tile-compile %s --target=sm_80 | FileCheck %s --check-prefix=NONE
// NONE-NOT: .loc
// NONE-NOT: .file

// CHECK: .loc [[#FILE:]] [[#@LINE+10]] {{[0-9]+}}
// CHECK: ld.global.b32
// CHECK: .loc [[#FILE]] [[#@LINE+9]] {{[0-9]+}}
// CHECK-NEXT: mul.rn.f32
// CHECK: .loc [[#FILE]] [[#@LINE+8]] {{[0-9]+}}
// CHECK: st.global.b32
// CHECK: .file [[#FILE]] "{{.*}}lineinfo.mlir"
// CHECK-NOT: .file
func.func @square(%x: memref<32xf32>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0] : memref<32xf32> -> tensor<32xf32>
  %r = arith.mulf %t, %t : tensor<32xf32>
  tile.store %r, %x[%c0] : tensor<32xf32>, memref<32xf32>
  return
}
