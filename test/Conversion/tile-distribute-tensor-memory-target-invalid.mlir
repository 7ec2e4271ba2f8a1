// RUN: tile-opt %s --split-input-file --verify-diagnostics --tile-distribute=target=sm_80

func.func @columns() attributes {tile.kernel, tile.num_warps = 4 : i32} {
  // expected-error @below {{expects a target with 'tcgen05', but got sm_80}}
  %acc = tile.alloc_tensor_memory : !tile.tensor_memory<1x128x64xf32>
  return
}

// -----

func.func @wait(%parity: i32) attributes {tile.kernel, tile.num_warps = 4 : i32} {
  %c0 = arith.constant 0 : index
  %full = tile.alloc_barriers : !tile.barriers<1>
  // expected-error @below {{expects a target with 'mbarrier-tx', but got sm_80}}
  tile.wait_barrier %full[%c0] parity %parity : !tile.barriers<1>
  return
}

// -----

func.func @roles() attributes {tile.kernel, tile.num_warps = 4 : i32} {
  // expected-error @below {{expects a target with 'elect-sync', but got sm_80}}
  tile.warp_roles copiers {
  } issuer {
  }
  return
}
