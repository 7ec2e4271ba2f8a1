// RUN: tile-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expects 1 to 1024 barriers, but got 0}}
func.func private @no_barriers(!tile.barriers<0>)

// -----

// expected-error @below {{expects 1 to 1024 barriers, but got -3}}
func.func private @negative_barriers(!tile.barriers<-3>)

// -----

// expected-error @below {{expects 1 to 1024 barriers, but got 9223372036854775807}}
func.func private @many_barriers(!tile.barriers<9223372036854775807>)

// -----

// expected-error @below {{expected '<'}}
func.func private @uncounted_barriers(!tile.barriers)

// -----

func.func @arrivals_0(%b: !tile.barriers<3>) {
  // expected-error @below {{attribute 'arrivals' failed to satisfy constraint: 32-bit signless integer attribute whose value is positive whose maximum value is 1048575}}
  tile.init_barriers %b {arrivals = 0 : i32} : !tile.barriers<3>
  return
}

// -----

func.func @arrivals_minus_1(%b: !tile.barriers<3>) {
  // expected-error @below {{attribute 'arrivals' failed to satisfy constraint: 32-bit signless integer attribute whose value is positive whose maximum value is 1048575}}
  tile.init_barriers %b {arrivals = -1 : i32} : !tile.barriers<3>
  return
}

// -----

func.func @arrivals_1048576(%b: !tile.barriers<3>) {
  // expected-error @below {{attribute 'arrivals' failed to satisfy constraint: 32-bit signless integer attribute whose value is positive whose maximum value is 1048575}}
  tile.init_barriers %b {arrivals = 1048576 : i32} : !tile.barriers<3>
  return
}

// -----

func.func @no_arrivals(%b: !tile.barriers<3>) {
  // expected-error @below {{requires attribute 'arrivals'}}
  tile.init_barriers %b : !tile.barriers<3>
  return
}

// -----

func.func @no_bytes(%b: !tile.barriers<3>, %i: index) {
  // expected-error @below {{attribute 'bytes' failed to satisfy constraint: 32-bit signless integer attribute whose value is positive whose maximum value is 1048575}}
  tile.expect_bytes %b[%i] {bytes = 0 : i32} : !tile.barriers<3>
  return
}

// -----

func.func @many_bytes(%b: !tile.barriers<3>, %i: index) {
  // expected-error @below {{attribute 'bytes' failed to satisfy constraint: 32-bit signless integer attribute whose value is positive whose maximum value is 1048575}}
  tile.expect_bytes %b[%i] {bytes = 1048576 : i32} : !tile.barriers<3>
  return
}

// -----

func.func @negative_pending(%b: !tile.barriers<3>, %i: index) {
  // expected-error @below {{attribute 'pending' failed to satisfy constraint}}
  tile.arrive_copies %b[%i] {pending = -1 : i32} : !tile.barriers<3>
  return
}

// -----

func.func @wait_barrier_beyond(%b: !tile.barriers<3>, %p: i32) {
  %c = arith.constant 3 : index
  // expected-error @below {{'tile.wait_barrier' op expects a barrier below 3, but got 3}}
  tile.wait_barrier %b[%c] parity %p : !tile.barriers<3>
  return
}

// -----

func.func @wait_barrier_below(%b: !tile.barriers<3>, %p: i32) {
  %c = arith.constant -1 : index
  // expected-error @below {{'tile.wait_barrier' op expects a barrier below 3, but got -1}}
  tile.wait_barrier %b[%c] parity %p : !tile.barriers<3>
  return
}

// -----

func.func @arrive_copies_beyond(%b: !tile.barriers<3>, %p: i32) {
  %c = arith.constant 3 : index
  // expected-error @below {{'tile.arrive_copies' op expects a barrier below 3, but got 3}}
  tile.arrive_copies %b[%c] {pending = 0 : i32} : !tile.barriers<3>
  return
}

// -----

func.func @expect_bytes_beyond(%b: !tile.barriers<3>, %p: i32) {
  %c = arith.constant 3 : index
  // expected-error @below {{'tile.expect_bytes' op expects a barrier below 3, but got 3}}
  tile.expect_bytes %b[%c] {bytes = 16 : i32} : !tile.barriers<3>
  return
}

// -----

func.func @commit_multiplies_beyond(%b: !tile.barriers<3>, %p: i32) {
  %c = arith.constant 3 : index
  // expected-error @below {{'tile.commit_multiplies' op expects a barrier below 3, but got 3}}
  tile.commit_multiplies %b[%c] : !tile.barriers<3>
  return
}
