// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @assume_c1(%i: index) {
  // expected-error @below {{expects divisible_by to be at least 1, but got 0}}
  %0 = tile.assume %i {divisible_by = 0 : i64} : index
  return
}

// -----

func.func @assume_c1(%i: index) {
  // expected-error @below {{expects divisible_by to be at least 1, but got -16}}
  %0 = tile.assume %i {divisible_by = -16 : i64} : index
  return
}

// -----

func.func @assume_c2(%i: index) {
  // expected-error @below {{expects min to be at most max, but got 5 and 4}}
  %0 = tile.assume %i {min = 5 : i64, max = 4 : i64} : index
  return
}
