// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @program_id_c1() {
  // expected-error @below {{attribute 'dim' failed to satisfy constraint}}
  %0 = tile.program_id 3
  return
}

// -----

func.func @program_id_c1() {
  // expected-error @below {{attribute 'dim' failed to satisfy constraint}}
  %0 = tile.program_id -1
  return
}

// -----

func.func @program_id_c1() {
  // expected-error @below {{integer value too large}}
  %0 = tile.program_id 4294967296
  return
}
