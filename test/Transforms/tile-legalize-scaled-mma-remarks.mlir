// Each multiply tells its path and why, in terms of the target, the types or
// the option: never of the hardware, which may well have what the target has
// not, and never silently.

// DEFINE: %{remarks} = --remarks-filter='tile-.*' --remark-format=emitRemark -o /dev/null 2>&1
// RUN: tile-opt %s --tile-legalize-scaled-mma=target=sm_80 %{remarks} | FileCheck %s --check-prefix=SM80
// RUN: tile-opt %s --tile-legalize-scaled-mma=target=sm_121 %{remarks} | FileCheck %s --check-prefix=SM121
// RUN: tile-opt %s --tile-legalize-scaled-mma=target=sm_100a %{remarks} | FileCheck %s --check-prefix=SM100A
// RUN: tile-opt %s --tile-legalize-scaled-mma=target=sm_89 %{remarks} | FileCheck %s --check-prefix=SM89
// RUN: tile-opt %s --tile-legalize-scaled-mma=target=sm_120f %{remarks} | FileCheck %s --check-prefix=SM120F
// RUN: tile-opt %s --tile-legalize-scaled-mma="target=sm_120f mma-path=expand" %{remarks} | FileCheck %s --check-prefix=EXPAND

// One remark per multiply and none besides.
// RUN: tile-opt %s --tile-legalize-scaled-mma=target=sm_80 %{remarks} | grep -c 'remark:' | FileCheck %s --check-prefix=COUNT
// COUNT: {{^}}5{{$}}

// No remark without the wish for one.
// RUN: tile-opt %s --tile-legalize-scaled-mma=target=sm_80 -o /dev/null 2>&1 | FileCheck %s --allow-empty --check-prefix=QUIET
// QUIET-NOT: {{.}}

// The target has none, nor has its family.
// SM80: remark: [Missed] scaled-mma | Category:tile-legalize-scaled-mma | Function=nvfp4 | Reason="sm_80 has no block-scaled instruction for 'f4E2M1FN' by 'f4E2M1FN'", atom=m16n8k16.bf16.bf16, path=expand, target=sm_80
// The target has none, but a sibling has: the suffix was forgotten.
// SM121: Function=nvfp4 | Reason="sm_121 has no block-scaled instruction for 'f4E2M1FN' by 'f4E2M1FN'; the family has it on sm_120a, sm_120f, sm_121a, sm_121f", atom=m16n8k16.bf16.bf16, path=expand, target=sm_121
// The target has the instruction in tensor memory, which takes loops.
// SM100A: Function=nvfp4 | Reason="tensor memory: it is in no loop", atom=m16n8k16.bf16.bf16, path=expand, target=sm_100a
// The target has the instruction.
// SM120F: remark: [Passed] scaled-mma | {{.*}} | Function=nvfp4 | Reason="the target has the instruction", atom=m16n8k64.mxf4nvf4.4x.e2m1.e2m1.ue4m3, path=native, target=sm_120f
// The user said so.
// EXPAND: remark: [Missed] scaled-mma | {{.*}} | Function=nvfp4 | Reason=mma-path=expand, atom=m16n8k16.bf16.bf16, path=expand, target=sm_120f
func.func @nvfp4(%a: tensor<16x64xf4E2M1FN>, %b: tensor<64x8xf4E2M1FN>,
                 %c: tensor<16x8xf32>, %sa: tensor<16x4xf8E4M3FN>,
                 %sb: tensor<4x8xf8E4M3FN>) -> tensor<16x8xf32> {
  %0 = tile.mmaf_scaled %a, %b, %c, %sa, %sb
     : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>,
       tensor<16x4xf8E4M3FN>, tensor<4x8xf8E4M3FN>
  return %0 : tensor<16x8xf32>
}

// Native, but at half the rate.
// SM120F: Function=mxfp4_16 | Reason="the instruction over 32 values, issued twice", atom=m16n8k64.mxf4nvf4.2x.e2m1.e2m1.ue8m0, path=native
func.func @mxfp4_16(%a: tensor<16x64xf4E2M1FN>, %b: tensor<64x8xf4E2M1FN>,
                    %c: tensor<16x8xf32>, %sa: tensor<16x4xf8E8M0FNU>,
                    %sb: tensor<4x8xf8E8M0FNU>) -> tensor<16x8xf32> {
  %0 = tile.mmaf_scaled %a, %b, %c, %sa, %sb
     : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>,
       tensor<16x4xf8E8M0FNU>, tensor<4x8xf8E8M0FNU>
  return %0 : tensor<16x8xf32>
}

// The types: no target multiplies this pair, so the target is not to blame.
// SM80: Function=weight_only | Reason="no block-scaled instruction multiplies 'bf16' by 'f4E2M1FN'", atom=m16n8k16.bf16.bf16, path=expand
// SM100A: Function=weight_only | Reason="no block-scaled instruction multiplies 'bf16' by 'f4E2M1FN'"
// SM120F: remark: [Missed] scaled-mma | {{.*}} | Function=weight_only | Reason="no block-scaled instruction multiplies 'bf16' by 'f4E2M1FN'"
func.func @weight_only(%a: tensor<16x32xbf16>, %b: tensor<32x8xf4E2M1FN>,
                       %c: tensor<16x8xf32>, %sb: tensor<2x8xf8E4M3FN>)
    -> tensor<16x8xf32> {
  %0 = tile.mmaf_scaled %a, %b, %c, %sb
     : tensor<16x32xbf16>, tensor<32x8xf4E2M1FN>, tensor<16x8xf32>,
       tensor<2x8xf8E4M3FN>
  return %0 : tensor<16x8xf32>
}

// sm_89 has an FP8 instruction, which keeps too few bits of the sums: to say
// that it has none would be false.
// SM89: remark: [Missed] mma | {{.*}} | Function=plain_fp8 | Reason="sm_89 has no full-sum instruction for 'f8E4M3FN' by 'f8E4M3FN'", atom=m16n8k16.f16.f16, path=expand, target=sm_89
// SM120F: remark: [Passed] mma | {{.*}} | Function=plain_fp8 | Reason="the target has the instruction", atom=m16n8k32.e4m3.e4m3, path=native
func.func @plain_fp8(%a: tensor<16x32xf8E4M3FN>, %b: tensor<32x8xf8E4M3FN>,
                     %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = tile.mmaf %a, %b, %c
     : tensor<16x32xf8E4M3FN>, tensor<32x8xf8E4M3FN>, tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// With the expansion forced a 16-bit multiply is still native.
// EXPAND: remark: [Passed] mma | {{.*}} | Function=plain_f16 | Reason="the target has the instruction", atom=m16n8k16.f16.f16, path=native
func.func @plain_f16(%a: tensor<16x32xf16>, %b: tensor<32x8xf16>,
                     %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %0 = tile.mmaf %a, %b, %c
     : tensor<16x32xf16>, tensor<32x8xf16>, tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
