// Options that name nothing, and a native multiply on targets that have none.

// RUN: not tile-opt %s --tile-legalize-scaled-mma 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: unknown target ''; known targets are sm_80, {{.*}}, sm_121f

// RUN: not tile-opt %s --tile-legalize-scaled-mma=target=sm_75 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: error: unknown target 'sm_75'; sm_80 is the lowest; known targets are

// RUN: not tile-opt %s --tile-legalize-scaled-mma="target=sm_80 mma-path=fast" 2>&1 | FileCheck %s --check-prefix=PATH
// PATH: error: expects mma-path to be auto, native or expand, but got 'fast'

// RUN: not tile-opt %s --tile-legalize-scaled-mma="target=sm_90a mma-path=native" 2>&1 | FileCheck %s --check-prefix=HOPPER
// HOPPER: :[[#@LINE+11]]:8: error: 'tile.mmaf_scaled' op has no native form: sm_90a has no block-scaled instruction for 'f4E2M1FN' by 'f4E2M1FN'; use mma-path=expand

// RUN: not tile-opt %s --tile-legalize-scaled-mma="target=sm_120 mma-path=native" 2>&1 | FileCheck %s --check-prefix=SUFFIX
// SUFFIX: error: 'tile.mmaf_scaled' op has no native form: {{.*}}; the family has it on sm_120a, sm_120f, sm_121a, sm_121f; use mma-path=expand

// RUN: not tile-opt %s --tile-legalize-scaled-mma="target=sm_103f mma-path=native" 2>&1 | FileCheck %s --check-prefix=TCGEN05
// TCGEN05: error: 'tile.mmaf_scaled' op has no native form: tensor memory: it is in no loop; use mma-path=expand

func.func @nvfp4(%a: tensor<16x64xf4E2M1FN>, %b: tensor<64x8xf4E2M1FN>,
                 %c: tensor<16x8xf32>, %sa: tensor<16x4xf8E4M3FN>,
                 %sb: tensor<4x8xf8E4M3FN>) -> tensor<16x8xf32> {
  %0 = tile.mmaf_scaled %a, %b, %c, %sa, %sb
     : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>,
       tensor<16x4xf8E4M3FN>, tensor<4x8xf8E4M3FN>
  return %0 : tensor<16x8xf32>
}
