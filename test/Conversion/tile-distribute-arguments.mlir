// RUN: tile-opt %s --split-input-file --tile-distribute=target=sm_80 | FileCheck %s
// RUN: tile-opt %s --split-input-file --tile-distribute=target=sm_80 | FileCheck %s --check-prefix=GONE
// GONE-NOT: memref<
// GONE-NOT: tensor<{{.*}}#
// GONE-NOT: tile.{{[a-z_]+ }}%

// The ABI of a kernel: per memref a pointer to global memory, aligned to 16
// bytes, then its dynamic sizes, then its dynamic strides; scalars as they are,
// an index as i64. What is static is not passed.
// CHECK-LABEL: llvm.func @abi(
// CHECK-SAME: %{{[^:]*}}: !llvm.ptr<1> {llvm.align = 16 : i64}, %[[ROWS:[^:]*]]: i64, %[[COLUMNS:[^:]*]]: i64, %[[STRIDE:[^:]*]]: i64, %{{[^:]*}}: f32, %{{[^:]*}}: !llvm.ptr<1> {llvm.align = 16 : i64}, %{{[^:]*}}: !llvm.ptr<1> {llvm.align = 16 : i64}, %[[N:[^:]*]]: i64, %{{[^:]*}}: i64, %{{[^:]*}}: i1, %{{[^:]*}}: bf16)
// CHECK-SAME: nvvm.kernel
// CHECK: llvm.return
func.func @abi(%a: memref<?x?xf32, strided<[?, 1]>>, %b: f32, %c: memref<4x8xi8>,
               %d: memref<?xf32>, %e: index, %f: i1, %g: bf16)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  return
}

// -----

// Sizes and strides of different dimensions are not mixed up: dimension 1 is the
// second size, row times stride the offset.
// CHECK-LABEL: llvm.func @size_and_stride(
// CHECK-SAME: %[[P:[^:]*]]: !llvm.ptr<1> {{{[^}]*}}}, %[[ROWS:[^:]*]]: i64, %[[COLUMNS:[^:]*]]: i64, %[[STRIDE:[^:]*]]: i64)
// CHECK: %[[N:.*]] = arith.index_cast %[[COLUMNS]] : i64 to index
// CHECK: %[[I:.*]] = arith.index_cast %[[N]] : index to i64
// CHECK: %[[ROW:.*]] = arith.muli %[[I]], %[[STRIDE]] : i64
// CHECK: %[[AT:.*]] = arith.addi %[[ROW]], %{{.*}} : i64
// CHECK: llvm.getelementptr %[[P]][%[[AT]]]
#one = #tile.layout<register = [], lane = [[1], [2], [4], [8], [16]], warp = []>
func.func @size_and_stride(%a: memref<?x?xf32, strided<[?, 1]>>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c1 = arith.constant 1 : index
  %n = memref.dim %a, %c1 : memref<?x?xf32, strided<[?, 1]>>
  %s = memref.load %a[%n, %c1] : memref<?x?xf32, strided<[?, 1]>>
  return
}

// -----

// Offsets are 64-bit from the start: the product of a 32-bit block index and a
// stride does not fit 32 bits.
// CHECK-LABEL: llvm.func @wide_addresses(
// CHECK-SAME: %[[STRIDE:[^:,]*]]: i64)
// CHECK: %[[ID:.*]] = nvvm.read.ptx.sreg.ctaid.x : i32
// CHECK: %[[INDEX:.*]] = arith.index_castui %[[ID]] : i32 to index
// CHECK: %[[WIDE:.*]] = arith.index_cast %[[INDEX]] : index to i64
// CHECK: %[[START:.*]] = arith.muli %[[WIDE]], %{{.*}} : i64
// CHECK: %[[ROW:.*]] = arith.addi %[[START]], %{{.*}} : i64
// CHECK: arith.muli %[[ROW]], %[[STRIDE]] : i64
#rows = #tile.layout<register = [[0, 1], [0, 2]], lane = [[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]], warp = []>
func.func @wide_addresses(%a: memref<?x?xf32, strided<[?, 1]>>)
    attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %c0 = arith.constant 0 : index
  %i = tile.program_id 0
  %t = tile.load %a[%i, %c0] : memref<?x?xf32, strided<[?, 1]>> -> tensor<8x16xf32, #rows>
  return
}

// -----

// Program ids and counts are the block's indices in the grid, as unsigned
// numbers: dimension 0 of the grid has up to 2^31 - 1 blocks.
// CHECK-LABEL: llvm.func @grid(
// CHECK: nvvm.read.ptx.sreg.ctaid.x : i32
// CHECK-NEXT: arith.index_castui
// CHECK: nvvm.read.ptx.sreg.ctaid.y : i32
// CHECK: nvvm.read.ptx.sreg.ctaid.z : i32
// CHECK: nvvm.read.ptx.sreg.nctaid.x : i32
// CHECK: nvvm.read.ptx.sreg.nctaid.y : i32
// CHECK: nvvm.read.ptx.sreg.nctaid.z : i32
func.func @grid(%a: memref<4xf32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  %x = tile.program_id 0
  %y = tile.program_id 1
  %z = tile.program_id 2
  %nx = tile.num_programs 0
  %ny = tile.num_programs 1
  %nz = tile.num_programs 2
  return
}

// -----

// The launch line and the function say the same about the block, per kernel.
// CHECK: llvm.module_asm = ["// tile.launch entry=first block=32,1,1 shared=0", "// tile.launch entry=second block=256,1,1 shared=0"]
// CHECK-LABEL: llvm.func @first(
// CHECK-SAME: nvvm.reqntid = array<i32: 32, 1, 1>
// CHECK-LABEL: llvm.func @second(
// CHECK-SAME: nvvm.reqntid = array<i32: 256, 1, 1>
func.func @first(%a: memref<4xf32>) attributes {tile.kernel, tile.num_warps = 1 : i32} {
  return
}
func.func @second(%a: memref<4xf32>) attributes {tile.kernel, tile.num_warps = 8 : i32} {
  return
}
