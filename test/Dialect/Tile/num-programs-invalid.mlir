// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @num_programs_c1() {
  // expected-error @below {{attribute 'dim' failed to satisfy constraint}}
  %0 = tile.num_programs 3
  return
}
