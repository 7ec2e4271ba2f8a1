// The annotations, on a target without block-scaled instructions, on one with
// them, and with the expansion forced.
// RUN: tile-opt %s --tile-legalize-scaled-mma=target=sm_80 | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: tile-opt %s --tile-legalize-scaled-mma=target=sm_120f | FileCheck %s --check-prefixes=CHECK,SM120F
// RUN: tile-opt %s --tile-legalize-scaled-mma="target=sm_120f mma-path=expand" | FileCheck %s --check-prefixes=CHECK,EXPAND

// CHECK-LABEL: func.func @nvfp4
func.func @nvfp4(%a: tensor<16x64xf4E2M1FN>, %b: tensor<64x8xf4E2M1FN>,
                 %c: tensor<16x8xf32>, %sa: tensor<16x4xf8E4M3FN>,
                 %sb: tensor<4x8xf8E4M3FN>) -> tensor<16x8xf32> {
  // The multiply keeps its packed operands and its scales: decoding before
  // distribution would carry four times the bytes through every tile.
  // SM80: %[[R:.*]] = tile.mmaf_scaled %{{.*}} {atom = "m16n8k16.bf16.bf16", path = "expand"} : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>, tensor<16x4xf8E4M3FN>, tensor<4x8xf8E4M3FN>
  // SM120F: %[[R:.*]] = tile.mmaf_scaled %{{.*}} {atom = "m16n8k64.mxf4nvf4.4x.e2m1.e2m1.ue4m3", path = "native"}
  // EXPAND: %[[R:.*]] = tile.mmaf_scaled %{{.*}} {atom = "m16n8k16.bf16.bf16", path = "expand"}
  // CHECK: return %[[R]]
  %0 = tile.mmaf_scaled %a, %b, %c, %sa, %sb
     : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>,
       tensor<16x4xf8E4M3FN>, tensor<4x8xf8E4M3FN>
  return %0 : tensor<16x8xf32>
}

// One scale per 16 values of E8M0 has no instruction at the versions that are
// emitted; the one over 32 values runs twice. `4x` would not assemble.
// CHECK-LABEL: func.func @mxfp4_16
func.func @mxfp4_16(%a: tensor<16x64xf4E2M1FN>, %b: tensor<64x8xf4E2M1FN>,
                    %c: tensor<16x8xf32>, %sa: tensor<16x4xf8E8M0FNU>,
                    %sb: tensor<4x8xf8E8M0FNU>) -> tensor<16x8xf32> {
  // SM80: atom = "m16n8k16.bf16.bf16", path = "expand"
  // SM120F: atom = "m16n8k64.mxf4nvf4.2x.e2m1.e2m1.ue8m0", path = "native"
  // EXPAND: atom = "m16n8k16.bf16.bf16", path = "expand"
  %0 = tile.mmaf_scaled %a, %b, %c, %sa, %sb
     : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>,
       tensor<16x4xf8E8M0FNU>, tensor<4x8xf8E8M0FNU>
  return %0 : tensor<16x8xf32>
}

// lhs and rhs in their own order: exchanged types multiply other values.
// CHECK-LABEL: func.func @mixed
func.func @mixed(%a: tensor<16x32xf8E5M2>, %b: tensor<32x8xf4E2M1FN>,
                 %c: tensor<16x8xf32>, %sa: tensor<16x1xf8E8M0FNU>,
                 %sb: tensor<1x8xf8E8M0FNU>) -> tensor<16x8xf32> {
  // SM80: atom = "m16n8k16.bf16.bf16", path = "expand"
  // SM120F: atom = "m16n8k32.mxf8f6f4.1x.e5m2.e2m1.ue8m0", path = "native"
  // EXPAND: atom = "m16n8k16.bf16.bf16", path = "expand"
  %0 = tile.mmaf_scaled %a, %b, %c, %sa, %sb
     : tensor<16x32xf8E5M2>, tensor<32x8xf4E2M1FN>, tensor<16x8xf32>,
       tensor<16x1xf8E8M0FNU>, tensor<1x8xf8E8M0FNU>
  return %0 : tensor<16x8xf32>
}

// No instruction scales one operand alone, so every target expands; an f16
// operand keeps its bits.
// CHECK-LABEL: func.func @weight_only
func.func @weight_only(%a: tensor<16x32xf16>, %b: tensor<32x8xf4E2M1FN>,
                       %c: tensor<16x8xf32>, %sb: tensor<2x8xf8E4M3FN>)
    -> tensor<16x8xf32> {
  // CHECK: atom = "m16n8k16.f16.f16", path = "expand"
  %0 = tile.mmaf_scaled %a, %b, %c, %sb
     : tensor<16x32xf16>, tensor<32x8xf4E2M1FN>, tensor<16x8xf32>,
       tensor<2x8xf8E4M3FN>
  return %0 : tensor<16x8xf32>
}

// A multiply of 16-bit values has nothing to expand, even when that is asked
// for.
// CHECK-LABEL: func.func @plain_bf16
func.func @plain_bf16(%a: tensor<16x16xbf16>, %b: tensor<16x8xbf16>,
                      %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // CHECK: tile.mmaf %{{.*}} {atom = "m16n8k16.bf16.bf16", path = "native"}
  %0 = tile.mmaf %a, %b, %c
     : tensor<16x16xbf16>, tensor<16x8xbf16>, tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// f16 holds every FP8 value, so that bf16 would be no better.
// CHECK-LABEL: func.func @plain_fp8
func.func @plain_fp8(%a: tensor<16x32xf8E4M3FN>, %b: tensor<32x8xf8E5M2>,
                     %c: tensor<16x8xf32>) -> tensor<16x8xf32> {
  // SM80: atom = "m16n8k16.f16.f16", path = "expand"
  // SM120F: atom = "m16n8k32.e4m3.e5m2", path = "native"
  // EXPAND: atom = "m16n8k16.f16.f16", path = "expand"
  %0 = tile.mmaf %a, %b, %c
     : tensor<16x32xf8E4M3FN>, tensor<32x8xf8E5M2>, tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// The kernel's own attribute wins over the option.
// CHECK-LABEL: func.func @kernel_says_expand
func.func @kernel_says_expand(%z: memref<16x8xf32>)
    attributes {tile.kernel, tile.mma_path = "expand"} {
  %a = arith.constant dense<1.0> : tensor<16x64xf4E2M1FN>
  %b = arith.constant dense<1.0> : tensor<64x8xf4E2M1FN>
  %c = arith.constant dense<0.0> : tensor<16x8xf32>
  %sa = arith.constant dense<1.0> : tensor<16x4xf8E4M3FN>
  %sb = arith.constant dense<1.0> : tensor<4x8xf8E4M3FN>
  // CHECK: atom = "m16n8k16.bf16.bf16", path = "expand"
  %0 = tile.mmaf_scaled %a, %b, %c, %sa, %sb
     : tensor<16x64xf4E2M1FN>, tensor<64x8xf4E2M1FN>, tensor<16x8xf32>,
       tensor<16x4xf8E4M3FN>, tensor<4x8xf8E4M3FN>
  return
}

// Two multiplies of one kernel are decided one by one, also in regions.
// CHECK-LABEL: func.func @two_multiplies
func.func @two_multiplies(%x: tensor<16x32xbf16>, %a: tensor<16x32xf8E4M3FN>,
                          %b: tensor<32x8xf8E4M3FN>, %y: tensor<32x8xbf16>,
                          %c: tensor<16x8xf32>, %sa: tensor<16x1xf8E8M0FNU>,
                          %sb: tensor<1x8xf8E8M0FNU>, %which: i1)
    -> tensor<16x8xf32> {
  %r = scf.if %which -> tensor<16x8xf32> {
    // SM120F: tile.mmaf_scaled %{{.*}} {atom = "m16n8k32.mxf8f6f4.1x.e4m3.e4m3.ue8m0", path = "native"}
    %0 = tile.mmaf_scaled %a, %b, %c, %sa, %sb
       : tensor<16x32xf8E4M3FN>, tensor<32x8xf8E4M3FN>, tensor<16x8xf32>,
         tensor<16x1xf8E8M0FNU>, tensor<1x8xf8E8M0FNU>
    scf.yield %0 : tensor<16x8xf32>
  } else {
    // CHECK: tile.mmaf %{{.*}} {atom = "m16n8k16.bf16.bf16", path = "native"}
    %1 = tile.mmaf %x, %y, %c
       : tensor<16x32xbf16>, tensor<32x8xbf16>, tensor<16x8xf32>
    scf.yield %1 : tensor<16x8xf32>
  }
  return %r : tensor<16x8xf32>
}
