// The pass alone, on multiplies that somebody else has annotated.

// DEFINE: %{pass} = --tile-stage-tensor-multiplies=target
// RUN: tile-opt %s --split-input-file --verify-diagnostics %{pass}=sm_100a
// RUN: not tile-opt %s --split-input-file %{pass}=sm_999 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not tile-opt %s --split-input-file --tile-stage-tensor-multiplies="target=sm_100a num-warps=6" 2>&1 | FileCheck %s --check-prefix=WARPS
// TARGET: error: unknown target 'sm_999'
// WARPS: error: expects num-warps to be a power of two from 1 to 32, but got 6

func.func @two_warps(%xm: memref<?x?xbf16>, %z: memref<?x?xf32>, %n: index) attributes {tile.kernel, tile.num_warps = 2 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  // expected-error @below {{has multiplies that tensor memory cannot compute: it takes four warps or more, but the kernel has 2}}
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x64xf32>) {
    %x = tile.load %xm[%c0, %k] : memref<?x?xbf16> -> tensor<128x64xbf16>
    %w = tile.load %xm[%k, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
    %r = tile.mmaf %x, %w, %a {atom = "m128n256k16.tcgen05.f16.bf16.bf16", path = "native"} : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    scf.yield %r : tensor<128x64xf32>
  }
  tile.store %s, %z[%c0, %c0] : tensor<128x64xf32>, memref<?x?xf32>
  return
}

// -----

func.func @computed(%xm: memref<?x?xbf16>, %z: memref<?x?xf32>, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %w = tile.load %xm[%c0, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
  // expected-error @below {{has multiplies that tensor memory cannot compute: an operand is not loaded in the loop}}
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x64xf32>) {
    %x = tile.load %xm[%c0, %k] : memref<?x?xbf16> -> tensor<128x64xbf16>
    %r = tile.mmaf %x, %w, %a {atom = "m128n256k16.tcgen05.f16.bf16.bf16", path = "native"} : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    scf.yield %r : tensor<128x64xf32>
  }
  tile.store %s, %z[%c0, %c0] : tensor<128x64xf32>, memref<?x?xf32>
  return
}

// -----

// Types that no instruction of tensor memory has, whatever the name says.
func.func @other_types(%xm: memref<?x?xbf16>, %wm: memref<?x?x!tile.f4E2M1FNx2>, %sm: memref<?x?xf8E8M0FNU>, %z: memref<?x?xf32>, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  // expected-error @below {{has multiplies that tensor memory cannot compute: no instruction of tensor memory takes these types}}
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x64xf32>) {
    %x = tile.load %xm[%c0, %k] : memref<?x?xbf16> -> tensor<128x64xbf16>
    %wp = tile.load %wm[%k, %c0] : memref<?x?x!tile.f4E2M1FNx2> -> tensor<64x32x!tile.f4E2M1FNx2>
    %w = tile.unpack %wp : tensor<64x32x!tile.f4E2M1FNx2> -> tensor<64x64xf4E2M1FN>
    %sw = tile.load %sm[%k, %c0] : memref<?x?xf8E8M0FNU> -> tensor<2x64xf8E8M0FNU>
    %r = tile.mmaf_scaled %x, %w, %a, %sw {atom = "m128n256k16.tcgen05.f16.bf16.bf16", path = "native"}
       : tensor<128x64xbf16>, tensor<64x64xf4E2M1FN>, tensor<128x64xf32>, tensor<2x64xf8E8M0FNU>
    scf.yield %r : tensor<128x64xf32>
  }
  tile.store %s, %z[%c0, %c0] : tensor<128x64xf32>, memref<?x?xf32>
  return
}

// -----

// A name that no instruction has belongs to no tensor memory.
func.func @unknown(%xm: memref<?x?xbf16>, %z: memref<?x?xf32>, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x64xf32>) {
    %x = tile.load %xm[%c0, %k] : memref<?x?xbf16> -> tensor<128x64xbf16>
    %w = tile.load %xm[%k, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
    %r = tile.mmaf %x, %w, %a {atom = "m1n1k1", path = "native"} : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    scf.yield %r : tensor<128x64xf32>
  }
  tile.store %s, %z[%c0, %c0] : tensor<128x64xf32>, memref<?x?xf32>
  return
}

// -----

// Values that are built of two bytes have no place of their own to be copied to.
func.func @built_of_bytes(%xm: memref<?x?xi8>, %wm: memref<?x?xbf16>, %z: memref<?x?xf32>, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  // expected-error @below {{has multiplies that tensor memory cannot compute: the values of an operand are built of bytes}}
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<128x64xf32>) {
    %xb = tile.load %xm[%c0, %k] : memref<?x?xi8> -> tensor<128x128xi8>
    %x = tile.unpack %xb : tensor<128x128xi8> -> tensor<128x64xbf16>
    %w = tile.load %wm[%k, %c0] : memref<?x?xbf16> -> tensor<64x64xbf16>
    %r = tile.mmaf %x, %w, %a {atom = "m128n256k16.tcgen05.f16.bf16.bf16", path = "native"} : tensor<128x64xbf16>, tensor<64x64xbf16>, tensor<128x64xf32>
    scf.yield %r : tensor<128x64xf32>
  }
  tile.store %s, %z[%c0, %c0] : tensor<128x64xf32>, memref<?x?xf32>
  return
}

// -----

// Two loops: what the first takes the second has not. 512 columns are all.
func.func @second_loop(%xm: memref<?x?xbf16>, %z: memref<?x?xf32>, %n: index) attributes {tile.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<256x256xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<256x256xf32>) {
    %x = tile.load %xm[%c0, %k] : memref<?x?xbf16> -> tensor<256x64xbf16>
    %w = tile.load %xm[%k, %c0] : memref<?x?xbf16> -> tensor<64x256xbf16>
    %r = tile.mmaf %x, %w, %a {atom = "m128n256k16.tcgen05.f16.bf16.bf16", path = "native"} : tensor<256x64xbf16>, tensor<64x256xbf16>, tensor<256x256xf32>
    scf.yield %r : tensor<256x256xf32>
  }
  tile.store %s, %z[%c0, %c0] : tensor<256x256xf32>, memref<?x?xf32>
  // expected-error @below {{has multiplies that tensor memory cannot compute: tensor memory has 0 columns and shared memory}}
  %t = scf.for %k = %c0 to %n step %c1 iter_args(%a = %zero) -> (tensor<256x256xf32>) {
    %x = tile.load %xm[%c0, %k] : memref<?x?xbf16> -> tensor<256x64xbf16>
    %w = tile.load %xm[%k, %c0] : memref<?x?xbf16> -> tensor<64x256xbf16>
    %r = tile.mmaf %x, %w, %a {atom = "m128n256k16.tcgen05.f16.bf16.bf16", path = "native"} : tensor<256x64xbf16>, tensor<64x256xbf16>, tensor<256x256xf32>
    scf.yield %r : tensor<256x256xf32>
  }
  tile.store %t, %z[%c1, %c0] : tensor<256x256xf32>, memref<?x?xf32>
  return
}
