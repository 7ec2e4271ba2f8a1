// Dynamic shared memory: declared aligned for the widest access, never below 16
// bytes, and as large as the launch line says; rows of four warps are exchanged.

// RUN: tile-compile %s --target=sm_80 | FileCheck %s
// RUN: tile-compile %s --target=sm_80 | %python %S/Inputs/check_ptx.py
// RUN: %if ptxas %{ tile-compile %s --target=sm_80 --emit=cubin -o %t.cubin %}

// CHECK: // tile.launch entry=exchange block=128,1,1 shared=4096{{$}}
// CHECK: .extern .shared .align 128 .b8 [[SMEM:.*]][];
// CHECK: .reqntid 128, 1, 1
// CHECK: bar.sync 0;
// CHECK: st.shared.v4.b32
// CHECK: bar.sync 0;
// CHECK: ld.shared
func.func @exchange(%z: memref<4xf32>, %x: memref<4x256xf32>)
    attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %t = tile.load %x[%c0, %c0] : memref<4x256xf32> -> tensor<4x256xf32>
  %e = arith.addf %t, %t : tensor<4x256xf32>
  %m = tile.reduce max %e [1] : tensor<4x256xf32> -> tensor<4xf32>
  %c = tile.reduce add %e [0] : tensor<4x256xf32> -> tensor<256xf32>
  tile.store %m, %z[%c0] : tensor<4xf32>, memref<4xf32>
  return
}
