// RUN: tile-opt %s --split-input-file --verify-diagnostics --tile-distribute=target=sm_100a

func.func @two_warps() attributes {tile.kernel, tile.num_warps = 2 : i32} {
  // expected-error @below {{expects an even number of warps, at least four, but got 2}}
  tile.warp_roles copiers {
  } issuer {
  }
  return
}

// -----

func.func @load_warps() attributes {tile.kernel, tile.num_warps = 2 : i32} {
  %acc = tile.alloc_tensor_memory : !tile.tensor_memory<1x128x2xf32>
  // expected-error @below {{expects at least four warps, but got 2}}
  %t = tile.load_tensor_memory %acc : !tile.tensor_memory<1x128x2xf32> -> tensor<128x2xf32, #tile.layout<register = [[0, 1], [64, 0]], lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]], warp = [[32, 0]]>>
  return
}

// -----

func.func @columns() attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %acc = tile.alloc_tensor_memory : !tile.tensor_memory<1x128x512xf32>
  // expected-error @below {{needs 520 columns of tensor memory for all of the kernel, but a block has 512}}
  %s = tile.alloc_tensor_memory : !tile.tensor_memory<2x128x4xf8E4M3FN>
  return
}

// -----

!slots = !tile.buffer<1x128x32xbf16, #tile.placement<[2, 4, 8, 16, 32, 64, 144, 288, 512, 1024, 2048, 4096] : 8192>>
func.func @no_atom(%again: i1) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %a = tile.alloc_buffer : !slots
  %acc = tile.alloc_tensor_memory : !tile.tensor_memory<1x128x128xf32>
  // expected-error @below {{expects an 'atom' that multiplies in tensor memory, but got 'm16n8k16.bf16'}}
  tile.multiply_async %a[%c0], %a[%c0], %acc accumulate %again shape [1, 128, 128, 32]
    {atom = "m16n8k16.bf16"} : !slots, !slots, !tile.tensor_memory<1x128x128xf32>
  return
}

// -----

!slots = !tile.buffer<1x128x32xbf16, #tile.placement<[2, 4, 8, 16, 32, 64, 144, 288, 512, 1024, 2048, 4096] : 8192>>
func.func @other_slots(%again: i1) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %a = tile.alloc_buffer : !slots
  %acc = tile.alloc_tensor_memory : !tile.tensor_memory<1x128x128xf32>
  // expected-error @below {{expects slots of 16384 bytes for 'm128n256k16.tcgen05.f16.bf16.bf16', but got '!tile.buffer<1x128x32xbf16}}
  tile.multiply_async %a[%c0], %a[%c0], %acc accumulate %again shape [1, 128, 128, 64]
    {atom = "m128n256k16.tcgen05.f16.bf16.bf16"} : !slots, !slots, !tile.tensor_memory<1x128x128xf32>
  return
}

// -----

!slots = !tile.buffer<1x128x8xbf16, #tile.placement<[2, 4, 8, 16, 32, 64, 128, 256, 512, 1024] : 2048>>
func.func @too_narrow(%again: i1) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %a = tile.alloc_buffer : !slots
  %acc = tile.alloc_tensor_memory : !tile.tensor_memory<1x128x128xf32>
  // expected-error @below {{expects a shape that 'm128n256k16.tcgen05.f16.bf16.bf16' can multiply, but got 128 x 128 x 8}}
  tile.multiply_async %a[%c0], %a[%c0], %acc accumulate %again shape [1, 128, 128, 8]
    {atom = "m128n256k16.tcgen05.f16.bf16.bf16"} : !slots, !slots, !tile.tensor_memory<1x128x128xf32>
  return
}

// -----

!slots = !tile.buffer<1x128x32xf8E4M3FN, #tile.placement<[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048] : 4096>>
func.func @no_scales(%again: i1) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %a = tile.alloc_buffer : !slots
  %acc = tile.alloc_tensor_memory : !tile.tensor_memory<1x128x128xf32>
  // expected-error @below {{expects scales exactly where 'm128n256k32.tcgen05.mxf8f6f4.block32.e4m3.e4m3.ue8m0' has them}}
  tile.multiply_async %a[%c0], %a[%c0], %acc accumulate %again shape [1, 128, 128, 32]
    {atom = "m128n256k32.tcgen05.mxf8f6f4.block32.e4m3.e4m3.ue8m0"} : !slots, !slots, !tile.tensor_memory<1x128x128xf32>
  return
}

// -----

!slots = !tile.buffer<1x128x256xf8E4M3FN, #tile.placement<[1, 2, 4, 8, 16, 32, 64, 16384, 144, 288, 576, 1024, 2048, 4096, 8192] : 32768>>
!scales = !tile.tensor_memory<1x128x4xf8E8M0FNU>
func.func @few_scales(%again: i1) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %a = tile.alloc_buffer : !slots
  %s = tile.alloc_tensor_memory : !scales
  %acc = tile.alloc_tensor_memory : !tile.tensor_memory<1x128x128xf32>
  // expected-error @below {{expects scales for 1 x 128 x 8, but got '!tile.tensor_memory<1x128x4xf8E8M0FNU>'}}
  tile.multiply_async %a[%c0], %a[%c0], %acc scales %s[%c0], %s[%c0] accumulate %again shape [1, 128, 128, 256]
    {atom = "m128n256k32.tcgen05.mxf8f6f4.block32.e4m3.e4m3.ue8m0"} : !slots, !slots, !tile.tensor_memory<1x128x128xf32>, !scales, !scales
  return
}

// -----

#sums = #tile.layout<register = [[0, 1], [1, 0], [2, 0]], lane = [[4, 0], [8, 0], [16, 0], [32, 0], [64, 0]], warp = [[0, 2], [0, 4]]>
func.func @other_layout() attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %t = arith.constant dense<1.0> : tensor<128x8xf32, #sums>
  %acc = tile.alloc_tensor_memory : !tile.tensor_memory<1x128x8xf32>
  // expected-error @below {{expects a value with the layout of tensor memory; run tile-assign-layouts first}}
  tile.store_tensor_memory %t to %acc : tensor<128x8xf32, #sums>, !tile.tensor_memory<1x128x8xf32>
  return
}
