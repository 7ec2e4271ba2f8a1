// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @unpack_c1(%x: tensor<16x32xi16>) {
  // expected-error @below {{expects bytes of 'i8' or '!tile.f4E2M1FNx2', but got 'i16'}}
  %0 = tile.unpack %x : tensor<16x32xi16> -> tensor<16x128xf4E2M1FN>
  return
}

// -----

// The two sides the wrong way round.
func.func @unpack_c1(%x: tensor<16x32xf4E2M1FN>) {
  // expected-error @below {{expects bytes of 'i8' or '!tile.f4E2M1FNx2', but got 'f4E2M1FN'}}
  %0 = tile.unpack %x : tensor<16x32xf4E2M1FN> -> tensor<16x16xi8>
  return
}

// -----

func.func @unpack_c2(%x: tensor<16x32x!tile.f4E2M1FNx2>) {
  // expected-error @below {{expects values of 'f4E2M1FN' for '!tile.f4E2M1FNx2', but got 'f8E4M3FN'}}
  %0 = tile.unpack %x : tensor<16x32x!tile.f4E2M1FNx2> -> tensor<16x32xf8E4M3FN>
  return
}

// -----

func.func @unpack_c2(%x: tensor<16x32xi8>) {
  // expected-error @below {{expects values of 'f4E2M1FN' or of 1, 2, 4 or 8 bytes for 'i8', but got '!tile.f4E2M1FNx2'}}
  %0 = tile.unpack %x : tensor<16x32xi8> -> tensor<16x32x!tile.f4E2M1FNx2>
  return
}

// -----

// The width of index is no property of the program.
func.func @unpack_c2(%x: tensor<16x32xi8>) {
  // expected-error @below {{expects values of 'f4E2M1FN' or of 1, 2, 4 or 8 bytes for 'i8', but got 'index'}}
  %0 = tile.unpack %x : tensor<16x32xi8> -> tensor<16x4xindex>
  return
}

// -----

func.func @unpack_c2(%x: tensor<16x32xi8>) {
  // expected-error @below {{expects values of 'f4E2M1FN' or of 1, 2, 4 or 8 bytes for 'i8', but got 'i1'}}
  %0 = tile.unpack %x : tensor<16x32xi8> -> tensor<16x256xi1>
  return
}

// -----

func.func @unpack_c3(%x: tensor<16x32xi8>) {
  // expected-error @below {{expects equal ranks of at least 1 and equal extents but for the last}}
  %0 = tile.unpack %x : tensor<16x32xi8> -> tensor<32x32xf4E2M1FN>
  return
}

// -----

func.func @unpack_c3(%x: tensor<16x32xi8>) {
  // expected-error @below {{expects equal ranks of at least 1 and equal extents but for the last}}
  %0 = tile.unpack %x : tensor<16x32xi8> -> tensor<1024xf4E2M1FN>
  return
}

// -----

func.func @unpack_c3(%x: tensor<i8>) {
  // expected-error @below {{expects equal ranks of at least 1 and equal extents but for the last, but got 'tensor<}}
  %0 = tile.unpack %x : tensor<i8> -> tensor<f8E4M3FN>
  return
}

// -----

func.func @unpack_c4(%x: tensor<16x32xi8>) {
  // expected-error @below {{expects 16 bytes for 32 values of 'f4E2M1FN', but got 32}}
  %0 = tile.unpack %x : tensor<16x32xi8> -> tensor<16x32xf4E2M1FN>
  return
}

// -----

func.func @unpack_c4(%x: tensor<16x32xi8>) {
  // expected-error @below {{expects 128 bytes for 32 values of 'f32', but got 32}}
  %0 = tile.unpack %x : tensor<16x32xi8> -> tensor<16x32xf32>
  return
}

// -----

// Half a byte.
func.func @unpack_c4(%x: tensor<16x1xi8>) {
  // expected-error @below {{expects an even last extent of 'f4E2M1FN', but got 1}}
  %0 = tile.unpack %x : tensor<16x1xi8> -> tensor<16x1xf4E2M1FN>
  return
}
