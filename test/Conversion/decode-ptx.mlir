// How codes become pairs of bf16 and f16, in PTX: eight codes of a lane. Integer
// multiplications must survive LLVM: they keep shifts and masks off the pipe that
// has too many of them.

// DEFINE: %{run} = tile-compile %s --num-warps=1

// FP4: each nibble to two places at once, a mask, the bias.
// RUN: %{run} -DF=f8E4M3FN -DT=bf16 --target=sm_80 | FileCheck %s --check-prefix=SM80
// SM80-LABEL: .entry fp4(
// SM80:         and.b32 %{{.*}}, 252645135;
// SM80:         and.b32 %{{.*}}, 252645135;
// SM80-COUNT-4: mul.lo.s32 %{{.*}}, 4160;
// SM80-NOT:     mul.lo
// SM80-NOT:     {{or.b32|cvt}}
// FP8 E4M3: the bits in place, the bias, and two multiplications for NaN.
// SM80-LABEL: .entry wide(
// SM80-COUNT-12: fma.rn.bf16x2
// SM80-NOT:     {{fma|setp|selp|cvt.*x2}}

// With conversions, E4M3 goes through f16.
// RUN: %{run} -DF=f8E4M3FN -DT=bf16 --target=sm_89 | FileCheck %s --check-prefix=SM89
// SM89-LABEL: .entry wide(
// SM89-NOT:     {{prmt|fma}}
// SM89-COUNT-4: cvt.rn.bf16x2.f32
// SM89-NOT:     cvt.rn

// E5M2 is the upper half of f16.
// RUN: %{run} -DF=f8E5M2 -DT=f16 --target=sm_80 | FileCheck %s --check-prefix=E5M2
// E5M2-LABEL: .entry wide(
// E5M2-COUNT-4: prmt.b32
// E5M2-NOT:     {{prmt|shr|or.b32|mul.rn|cvt.rn}}

// FP4 by hardware, except on demand.
// RUN: %{run} -DF=f8E8M0FNU -DT=bf16 --target=sm_120a | FileCheck %s --check-prefix=CVT
// CVT-LABEL: .entry fp4(
// CVT-COUNT-4: cvt.rn.f16x2.e2m1x2
// CVT-LABEL: .entry wide(
// CVT-COUNT-4: cvt.rn.bf16x2.ue8m0x2
// RUN: %{run} -DF=f8E8M0FNU -DT=bf16 --target=sm_120a --fp4-cvt=software | FileCheck %s --check-prefix=SOFTWARE
// SOFTWARE-LABEL: .entry fp4(
// SOFTWARE-NOT:     cvt.rn
// SOFTWARE:         mul.lo.s32 %{{.*}}, 4160;
// SOFTWARE-LABEL: .entry wide(

func.func @fp4(%x : memref<128x!tile.f4E2M1FNx2>, %z : memref<256x${T}>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %p = tile.load %x[%c0] : memref<128x!tile.f4E2M1FNx2> -> tensor<128x!tile.f4E2M1FNx2>
  %u = tile.unpack %p : tensor<128x!tile.f4E2M1FNx2> -> tensor<256xf4E2M1FN>
  %r = tile.ftof %u : tensor<256xf4E2M1FN> -> tensor<256x${T}>
  tile.store %r, %z[%c0] : tensor<256x${T}>, memref<256x${T}>
  return
}

func.func @wide(%x : memref<256x${F}>, %z : memref<256x${T}>) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %u = tile.load %x[%c0] : memref<256x${F}> -> tensor<256x${F}>
  %r = tile.ftof %u : tensor<256x${F}> -> tensor<256x${T}>
  tile.store %r, %z[%c0] : tensor<256x${T}>, memref<256x${T}>
  return
}
