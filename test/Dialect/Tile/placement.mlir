// RUN: tile-opt %s --verify-roundtrip | FileCheck %s
// RUN: tile-opt %s --mlir-print-op-generic | tile-opt | FileCheck %s
// RUN: tile-opt %s --emit-bytecode | tile-opt | FileCheck %s
// RUN: tile-opt %s | tile-opt | FileCheck %s

// A placement has a name of its own, so that the type can be read.
// CHECK-DAG: #[[SWIZZLED:placement[0-9]*]] = #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144] : 256>
// CHECK-DAG: #[[SPREAD:placement[0-9]*]] = #tile.placement<[2, 16, 4] : 64>
// CHECK-DAG: #[[ONE:placement[0-9]*]] = #tile.placement<[] : 16>
// CHECK-DAG: #[[FP4:placement[0-9]*]] = #tile.placement<[1, 2, 4, 16] : 32>

// CHECK: func.func private @swizzled(!tile.buffer<2x8x32xi8, #[[SWIZZLED]]>)
func.func private @swizzled(!tile.buffer<2x8x32xi8, #tile.placement<[1, 2, 4, 8, 16, 32, 64, 144] : 256>>)

// Elements of two bytes, with gaps.
// CHECK: func.func private @spread(!tile.buffer<1x8xbf16, #[[SPREAD]]>)
func.func private @spread(!tile.buffer<1x8xbf16, #tile.placement<[2, 16, 4] : 64>>)

// One element has no index bits.
// CHECK: func.func private @one(!tile.buffer<4x1x1xf8E8M0FNU, #[[ONE]]>)
func.func private @one(!tile.buffer<4x1x1xf8E8M0FNU, #tile.placement<[] : 16>>)

// Pairs of FP4 with gaps of eight bytes, as 8-bit instructions read them.
// CHECK: func.func private @pairs(!tile.buffer<1x16x!tile.f4E2M1FNx2, #[[FP4]]>)
func.func private @pairs(!tile.buffer<1x16x!tile.f4E2M1FNx2, #tile.placement<[1, 2, 4, 16] : 32>>)
