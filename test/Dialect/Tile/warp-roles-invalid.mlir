// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @in_a_role(%p: i32) {
  tile.warp_roles copiers {
    tile.commit_copies
    // expected-error @below {{expects no roles around it}}
    tile.warp_roles copiers {
      tile.commit_copies
    } issuer {
      tile.commit_copies
    }
  } issuer {
    tile.commit_copies
  }
  return
}

// -----

func.func @in_a_branch(%p: i1) {
  tile.warp_roles copiers {
    tile.commit_copies
  } issuer {
    scf.if %p {
      // expected-error @below {{expects no roles around it}}
      tile.warp_roles copiers {
        tile.commit_copies
      } issuer {
        tile.commit_copies
      }
    }
  }
  return
}

// -----

func.func @no_role() {
  // expected-error @below {{region #1 ('issuer') failed to verify constraint: region with 1 blocks}}
  "tile.warp_roles"() ({
    tile.commit_copies
  }, {}) : () -> ()
  return
}

// -----

func.func @arguments() {
  // expected-error @below {{expects roles without arguments, but got 1}}
  "tile.warp_roles"() ({
    tile.commit_copies
  }, {
  ^bb0(%i: index):
    tile.commit_copies
  }) : () -> ()
  return
}

// -----

func.func @blocks() {
  // expected-error @below {{expects region #0 to have 0 or 1 blocks}}
  "tile.warp_roles"() ({
    cf.br ^bb1
  ^bb1:
    tile.commit_copies
  }, {
    tile.commit_copies
  }) : () -> ()
  return
}

// -----

func.func @barrier(%n: index) {
  tile.warp_roles copiers {
    // expected-error @below {{'tile.barrier' op expects all threads of the block, so no role around it}}
    tile.barrier
  } issuer {
    tile.commit_copies
  }
  return
}

// -----

func.func @wait(%n: index) {
  tile.warp_roles copiers {
    tile.commit_copies
  } issuer {
    // expected-error @below {{'tile.wait_copies' op expects all threads of the block, so no role around it}}
    tile.wait_copies {pending = 0 : i32}
  }
  return
}

// -----

!sums = !tile.tensor_memory<1x128x128xf32>

func.func @load(%acc: !sums) {
  tile.warp_roles copiers {
    // expected-error @below {{'tile.load_tensor_memory' op expects all threads of the block, so no role around it}}
    %t = tile.load_tensor_memory %acc : !sums -> tensor<128x128xf32>
  } issuer {
    tile.commit_copies
  }
  return
}

// -----

!sums = !tile.tensor_memory<1x128x128xf32>

func.func @store(%acc: !sums, %v: tensor<128x128xf32>) {
  tile.warp_roles copiers {
    tile.commit_copies
  } issuer {
    // expected-error @below {{'tile.store_tensor_memory' op expects all threads of the block, so no role around it}}
    tile.store_tensor_memory %v to %acc : tensor<128x128xf32>, !sums
  }
  return
}

// -----

// Deeper inside as well.
func.func @barrier_in_a_loop(%n: index) {
  tile.warp_roles copiers {
    scf.for %i = %n to %n step %n {
      // expected-error @below {{'tile.barrier' op expects all threads of the block, so no role around it}}
      tile.barrier
    }
  } issuer {
    tile.commit_copies
  }
  return
}
