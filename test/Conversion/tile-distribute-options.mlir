// RUN: not tile-opt %s --tile-distribute=target=sm_75 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: unknown target 'sm_75'; sm_80 is the lowest; known targets are

// RUN: not tile-opt %s --tile-distribute="target=sm_90a fp4-cvt=hardware" 2>&1 | FileCheck %s --check-prefix=CVT
// CVT: error: fp4-cvt=hardware: sm_90a has no conversion to f4E2M1FN

// RUN: not tile-opt %s --tile-distribute="target=sm_120a fp4-cvt=fast" 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: error: expects fp4-cvt to be auto, hardware or software, but got 'fast'

func.func @kernel(%x: memref<32xf32>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  return
}
