//===- TensorOperandsTest.cpp - Operands of tcgen05, byte by byte ---------===//
//
// What the compiler says of operands and descriptors against what the emulator,
// which was written from the ISA alone, reads by them.
//
//===----------------------------------------------------------------------===//

#include "tile/Target/TensorOperands.h"

#include "TensorDescriptors.h"
#include "llvm/Support/MathExtras.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <vector>

using namespace tile;
using emulator::SharedMatrix;
using emulator::TensorFormat;
using emulator::TensorKind;
using emulator::TensorShape;

namespace {

std::vector<const MmaAtom *> getTensorAtoms() {
  std::vector<const MmaAtom *> atoms;
  for (const MmaAtom &atom : getMmaAtoms())
    if (atom.issuer == MmaIssuer::Thread)
      atoms.push_back(&atom);
  return atoms;
}

const MmaAtom &getAtom(llvm::StringRef name) {
  const MmaAtom *atom = findMmaAtom(name);
  if (!atom)
    llvm::report_fatal_error("no atom " + name);
  return *atom;
}

uint32_t log2(unsigned value) { return llvm::Log2_32(value); }

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Whether the instruction reads the operand, restated.
bool isReadable(unsigned elementBits, unsigned containerBits, bool isLhs,
                OperandMajor major, unsigned rows, unsigned k) {
  if (k * containerBits < 256 || rows < (isLhs ? 128u : 16u))
    return false;
  if (major == OperandMajor::K)
    return true;
  return elementBits >= 8 && rows * containerBits >= 256;
}

/// Checks every value against the chunk where the emulator finds it, read by
/// multiplies from every row that one may begin with, on every step of K.
void checkOperand(const SharedOperand &operand, unsigned elementBits,
                  unsigned rowsOfMultiply) {
  const bool isKMajor = operand.major == OperandMajor::K;
  const unsigned stepValues = 256 / operand.bits;
  // 16 bytes, or the eight that hold sixteen values of FP4 in containers.
  const unsigned chunkValues = 128 / operand.bits;
  uint64_t descriptor = operand.getDescriptor();
  ASSERT_EQ(descriptor & 0x3FFF, 0u);
  for (unsigned first = 0; first < operand.rows; first += rowsOfMultiply)
    for (unsigned step = 0; step < operand.k / stepValues; ++step) {
      uint32_t start = operand.getStart(first, step);
      ASSERT_EQ(start % 16, 0u);
      llvm::Expected<SharedMatrix> matrix =
          SharedMatrix::decode(descriptor + start / 16);
      ASSERT_TRUE(!!matrix) << llvm::toString(matrix.takeError());
      EXPECT_EQ(matrix->getSpan(), operand.swizzleBytes);
      for (unsigned row = 0; row < rowsOfMultiply; ++row)
        for (unsigned k = 0; k < stepValues; ++k) {
          unsigned line = isKMajor ? row : k, along = isKMajor ? k : row;
          uint32_t chunk = isKMajor
                               ? matrix->getKMajor(line, along / chunkValues)
                               : matrix->getMNMajor(line, along / chunkValues);
          uint32_t expected = chunk + along % chunkValues * elementBits / 8;
          uint32_t point = (first + row) * operand.k + step * stepValues + k;
          if (operand.place(point) != expected)
            FAIL() << "row " << first + row << ", k " << step * stepValues + k
                   << ": expects byte " << expected << ", but got "
                   << operand.place(point);
        }
    }
}

TEST(TensorOperandsTest, EveryValueIsWhereTheDescriptorSays) {
  for (const MmaAtom *atom : getTensorAtoms())
    for (bool isLhs : {true, false})
      for (OperandMajor major : {OperandMajor::K, OperandMajor::MN})
        for (unsigned rows = 8; rows <= 256; rows *= 2)
          for (unsigned k = 8; k <= 512; k *= 2) {
            unsigned bits =
                isLhs ? atom->lhsContainerBits : atom->rhsContainerBits;
            unsigned elementBits =
                getFormatInfo(isLhs ? atom->lhsFormat : atom->rhsFormat).bits;
            SCOPED_TRACE(atom->name.str() + (isLhs ? " lhs " : " rhs ") +
                         (major == OperandMajor::K ? "K " : "MN ") +
                         std::to_string(rows) + "x" + std::to_string(k));
            std::optional<SharedOperand> operand =
                placeOperand(*atom, isLhs, major, rows, k);
            bool isReal =
                isReadable(elementBits, bits, isLhs, major, rows, k) &&
                rows * k * bits / 8 <= 1u << 18;
            ASSERT_EQ(operand.has_value(), isReal);
            if (!operand)
              continue;
            EXPECT_EQ(operand->major, major);
            EXPECT_EQ(operand->rows, rows);
            EXPECT_EQ(operand->k, k);
            EXPECT_EQ(operand->bits, bits);
            EXPECT_EQ(operand->bytes, rows * k * bits / 8);
            ASSERT_EQ(operand->place.getDomain(),
                      (Space{{"d1", log2(k)}, {"d0", log2(rows)}}));
            ASSERT_EQ(operand->place.getCodomain(),
                      (Space{{"offset", log2(operand->bytes)}}));
            checkOperand(*operand, elementBits, isLhs ? 128 : rows);
            // Narrower multiplies of a rhs that is major in K, at any row that
            // one may begin with.
            if (!isLhs && major == OperandMajor::K)
              for (unsigned n = 16; n < rows; n *= 4)
                checkOperand(*operand, elementBits, n);
            if (HasFatalFailure())
              return;
          }
}

TEST(TensorOperandsTest, ValuesDoNotOverlap) {
  for (const MmaAtom *atom : getTensorAtoms())
    for (OperandMajor major : {OperandMajor::K, OperandMajor::MN}) {
      std::optional<SharedOperand> operand =
          placeOperand(*atom, /*isLhs=*/false, major, 128, 256);
      if (!operand)
        continue;
      unsigned elementBits = getFormatInfo(atom->rhsFormat).bits;
      std::vector<unsigned> users(operand->bytes);
      for (unsigned point = 0; point < 128 * 256; ++point)
        for (unsigned byte = 0; byte < (elementBits + 7) / 8; ++byte)
          ++users[operand->place(point) + byte];
      unsigned perByte = elementBits == 4 ? 2 : 1, empty = 0;
      for (unsigned count : users) {
        EXPECT_TRUE(count == perByte || count == 0) << atom->name.str();
        empty += count == 0;
      }
      // FP4 in containers of eight bits leaves every other eight bytes alone.
      EXPECT_EQ(empty, elementBits < operand->bits ? operand->bytes / 2 : 0)
          << atom->name.str();
    }
}

TEST(TensorOperandsTest, KnownDescriptors) {
  struct {
    const char *name;
    OperandMajor major;
    unsigned rows, k;
    uint64_t descriptor;
  } const cases[] = {
      // 128 bytes of K: groups of 8 rows are 1024 bytes apart.
      {"m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3", OperandMajor::K,
       128, 256, 0x4000404000010000},
      {"m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3", OperandMajor::K,
       128, 512, 0x4000404000010000},
      {"m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3", OperandMajor::K,
       128, 128, 0x8000402000010000},
      {"m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3", OperandMajor::K,
       128, 64, 0xC000401000010000},
      // Panels of 128 rows by 64 steps of K: 8 KiB.
      {"m128n256k32.tcgen05.f8f6f4.e4m3.e4m3", OperandMajor::MN, 256, 64,
       0x4000404002000000},
      // One panel.
      {"m128n256k32.tcgen05.f8f6f4.e4m3.e4m3", OperandMajor::MN, 64, 64,
       0x8000402000010000},
      {"m128n256k16.tcgen05.f16.bf16.bf16", OperandMajor::MN, 16, 16,
       0xC000401000010000},
  };
  for (const auto &test : cases) {
    std::optional<SharedOperand> operand = placeOperand(
        getAtom(test.name), /*isLhs=*/false, test.major, test.rows, test.k);
    ASSERT_TRUE(operand) << test.name;
    EXPECT_EQ(operand->getDescriptor(), test.descriptor) << test.name;
  }
}

TEST(TensorOperandsTest, KnownStarts) {
  const MmaAtom &atom =
      getAtom("m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3");
  std::optional<SharedOperand> operand =
      placeOperand(atom, /*isLhs=*/true, OperandMajor::K, 256, 512);
  ASSERT_TRUE(operand);
  EXPECT_EQ(operand->getStart(0, 0), 0u);
  EXPECT_EQ(operand->getStart(0, 1), 32u);
  EXPECT_EQ(operand->getStart(0, 3), 96u);
  EXPECT_EQ(operand->getStart(128, 1), 128u * 128 + 32);
  // The second panel.
  EXPECT_EQ(operand->getStart(0, 4), 256u * 128);
  EXPECT_EQ(operand->getStart(128, 7), 256u * 128 + 128 * 128 + 96);
}

TEST(TensorOperandsTest, RefusesWhatNoInstructionReads) {
  const MmaAtom &fp4 =
      getAtom("m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3");
  const MmaAtom &mixed =
      getAtom("m128n256k32.tcgen05.mxf8f6f4.block32.e4m3.e2m1.ue8m0");
  auto isPlaced = [](const MmaAtom &atom, bool isLhs, OperandMajor major,
                     unsigned rows, unsigned k) {
    return placeOperand(atom, isLhs, major, rows, k).has_value();
  };
  // FP4 is major in K; the FP8 beside it need not be.
  EXPECT_FALSE(isPlaced(fp4, false, OperandMajor::MN, 128, 256));
  EXPECT_FALSE(isPlaced(mixed, false, OperandMajor::MN, 128, 256));
  EXPECT_TRUE(isPlaced(mixed, true, OperandMajor::MN, 128, 256));
  // One step of K.
  EXPECT_FALSE(isPlaced(fp4, true, OperandMajor::K, 128, 32));
  EXPECT_TRUE(isPlaced(fp4, true, OperandMajor::K, 128, 64));
  EXPECT_FALSE(isPlaced(mixed, true, OperandMajor::MN, 128, 16));
  EXPECT_TRUE(isPlaced(mixed, true, OperandMajor::MN, 128, 32));
  // Rows.
  EXPECT_FALSE(isPlaced(fp4, true, OperandMajor::K, 64, 64));
  EXPECT_FALSE(isPlaced(fp4, false, OperandMajor::K, 8, 64));
  EXPECT_TRUE(isPlaced(fp4, false, OperandMajor::K, 16, 64));
  // Extents that are no powers of two, or none.
  EXPECT_FALSE(isPlaced(fp4, true, OperandMajor::K, 192, 64));
  EXPECT_FALSE(isPlaced(fp4, true, OperandMajor::K, 128, 96));
  EXPECT_FALSE(isPlaced(fp4, true, OperandMajor::K, 0, 64));
  EXPECT_FALSE(isPlaced(fp4, true, OperandMajor::K, 128, 0));
  // What descriptors do not reach.
  EXPECT_TRUE(isPlaced(fp4, true, OperandMajor::K, 1 << 10, 1 << 9));
  EXPECT_FALSE(isPlaced(fp4, true, OperandMajor::K, 1 << 10, 1 << 10));
  EXPECT_FALSE(isPlaced(fp4, true, OperandMajor::K, 1u << 31, 1u << 31));
  // Instructions of warps take registers.
  EXPECT_FALSE(isPlaced(getAtom("m16n8k64.mxf4nvf4.4x.e2m1.e2m1.ue4m3"), true,
                        OperandMajor::K, 128, 64));
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

TEST(TensorOperandsTest, ScalesArriveWhereMultipliesReadThem) {
  llvm::Expected<SharedMatrix> chunkMatrix =
      SharedMatrix::decode(getScaleChunkDescriptor());
  ASSERT_TRUE(!!chunkMatrix) << llvm::toString(chunkMatrix.takeError());
  EXPECT_EQ(getScaleChunkDescriptor(), 0x0000400800000000u);
  const LinearLayout &scaleLayout =
      getAtom("m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3").lhsScale;
  for (unsigned rows = 128; rows <= 512; rows *= 2)
    for (unsigned blocks = 4; blocks <= 64; blocks *= 2) {
      LinearLayout place = placeScales(rows, blocks);
      ASSERT_EQ(place.getDomain(),
                (Space{{"d1", log2(blocks)}, {"d0", log2(rows)}}));
      ASSERT_EQ(place.getCodomain(), (Space{{"offset", log2(rows * blocks)}}));
      EXPECT_TRUE(place.isInjective());
      // Which scale each byte of tensor memory has: `tcgen05.cp` of every
      // chunk, row by row of sixteen bytes.
      std::vector<int> scaleAt(rows * blocks, -1);
      for (unsigned row = 0; row < rows; ++row)
        for (unsigned block = 0; block < blocks; ++block)
          scaleAt[place(row * blocks + block)] =
              static_cast<int>(row * blocks + block);
      std::vector<int> memory(rows / 128 * blocks * 32 * 4, -1);
      for (unsigned rowBlock = 0; rowBlock < rows / 128; ++rowBlock)
        for (unsigned chunk = 0; chunk < blocks / 4; ++chunk) {
          unsigned column = getScaleColumn(rows, rowBlock, chunk);
          // The chunk begins where its first scale is.
          unsigned from = place(rowBlock * 128 * blocks + chunk * 4);
          ASSERT_EQ(from % kScaleChunkBytes, 0u);
          for (unsigned lane = 0; lane < 32; ++lane)
            for (unsigned byte = 0; byte < 16; ++byte) {
              size_t cell = (column + byte / 4) * 128 + lane * 4 + byte % 4;
              ASSERT_LT(cell, memory.size());
              ASSERT_EQ(memory[cell], -1) << "chunks overlap";
              memory[cell] =
                  scaleAt[from + chunkMatrix->getKMajor(lane, 0) + byte];
            }
        }
      // As multiplies read: row r of those that begin at `rowBlock` is in
      // column r / 32, across blocks of 128 rows.
      for (unsigned row = 0; row < rows; ++row)
        for (unsigned block = 0; block < blocks; ++block) {
          unsigned column = getScaleColumn(rows, 0, block / 4) + row / 32;
          EXPECT_EQ(memory[column * 128 + row % 32 * 4 + block % 4],
                    static_cast<int>(row * blocks + block));
          // The same in the words of the table's layout.
          unsigned inChunk = getScaleColumn(rows, row / 128, block / 4);
          uint32_t cell = (row % 32) << 4 | (column - inChunk) << 2 | block % 4;
          EXPECT_EQ(scaleLayout(cell), row % 128 * 4 + block % 4);
        }
    }
}

TEST(TensorOperandsTest, StepsTakeTheScalesOfTheirValues) {
  for (const MmaAtom *atom : getTensorAtoms()) {
    if (!atom->isBlockScaled())
      continue;
    for (unsigned step = 0; step < 16; ++step) {
      unsigned block = step * atom->k / atom->blockSize;
      ScaleChoice choice = getScaleChoice(*atom, step);
      EXPECT_EQ(choice.chunk, block / 4) << atom->name.str();
      EXPECT_EQ(choice.byte, block % 4) << atom->name.str();
    }
  }
}

//===----------------------------------------------------------------------===//
// Instructions and sums
//===----------------------------------------------------------------------===//

TensorKind getKind(const MmaAtom &atom) {
  switch (atom.kind) {
  case BlockScaleKind::F16:
    return TensorKind::F16;
  case BlockScaleKind::F8f6f4:
    return TensorKind::F8F6F4;
  case BlockScaleKind::Mxf8f6f4:
    return TensorKind::MXF8F6F4;
  case BlockScaleKind::Mxf4:
    return TensorKind::MXF4;
  default:
    return TensorKind::MXF4NVF4;
  }
}

TensorFormat getTensorFormat(ElementFormat format) {
  switch (format) {
  case ElementFormat::BF16:
    return TensorFormat::BF16;
  case ElementFormat::F16:
    return TensorFormat::F16;
  case ElementFormat::F8E4M3FN:
    return TensorFormat::E4M3;
  case ElementFormat::F8E5M2:
    return TensorFormat::E5M2;
  default:
    return TensorFormat::E2M1;
  }
}

TEST(TensorOperandsTest, InstructionDescriptorsDecode) {
  for (const MmaAtom *atom : getTensorAtoms()) {
    bool isLhsFP4 = getFormatInfo(atom->lhsFormat).bits == 4;
    bool isRhsFP4 = getFormatInfo(atom->rhsFormat).bits == 4;
    for (OperandMajor lhs : {OperandMajor::K, OperandMajor::MN})
      for (OperandMajor rhs : {OperandMajor::K, OperandMajor::MN})
        for (unsigned n = 16; n <= 256; n += 16)
          for (unsigned step = 0; step < 4; ++step) {
            if ((isLhsFP4 && lhs == OperandMajor::MN) ||
                (isRhsFP4 && rhs == OperandMajor::MN))
              continue;
            SCOPED_TRACE(atom->name.str() + " n " + std::to_string(n));
            unsigned byte = getScaleChoice(*atom, step).byte;
            llvm::Expected<TensorShape> shape = emulator::decodeTensorShape(
                getKind(*atom), atom->blockSize,
                getInstructionDescriptor(*atom, n, lhs, rhs, byte));
            ASSERT_TRUE(!!shape) << llvm::toString(shape.takeError());
            EXPECT_EQ(shape->m, 128u);
            EXPECT_EQ(shape->n, n);
            EXPECT_EQ(shape->k, atom->k);
            EXPECT_EQ(shape->formatA, getTensorFormat(atom->lhsFormat));
            EXPECT_EQ(shape->formatB, getTensorFormat(atom->rhsFormat));
            EXPECT_FALSE(shape->isHalfResult);
            EXPECT_FALSE(shape->negateA || shape->negateB);
            EXPECT_EQ(shape->isMMajor, lhs == OperandMajor::MN);
            EXPECT_EQ(shape->isNMajor, rhs == OperandMajor::MN);
            EXPECT_EQ(shape->blocks, atom->scaleVecSize);
            EXPECT_EQ(shape->isUE4M3,
                      atom->scaleFormat == ElementFormat::F8E4M3FN);
            EXPECT_EQ(shape->scaleA, byte);
            EXPECT_EQ(shape->scaleB, byte);
          }
  }
}

TEST(TensorOperandsTest, KnownInstructionDescriptors) {
  auto describe = [](llvm::StringRef name, unsigned n, unsigned byte,
                     OperandMajor lhs = OperandMajor::K,
                     OperandMajor rhs = OperandMajor::K) {
    return getInstructionDescriptor(getAtom(name), n, lhs, rhs, byte);
  };
  EXPECT_EQ(
      describe("m128n256k64.tcgen05.mxf4nvf4.block16.e2m1.e2m1.ue4m3", 128, 0),
      0x08200480u);
  EXPECT_EQ(
      describe("m128n256k64.tcgen05.mxf4nvf4.block32.e2m1.e2m1.ue8m0", 128, 0),
      0x08A00480u);
  EXPECT_EQ(
      describe("m128n256k64.tcgen05.mxf4nvf4.block32.e2m1.e2m1.ue8m0", 128, 2),
      0x48A004A0u);
  EXPECT_EQ(
      describe("m128n256k32.tcgen05.mxf8f6f4.block32.e4m3.e4m3.ue8m0", 128, 0),
      0x08A00000u);
  EXPECT_EQ(describe("m128n256k32.tcgen05.mxf8f6f4.block32.e4m3.e2m1.ue8m0",
                     256, 3, OperandMajor::MN),
            0x68C09430u);
  EXPECT_EQ(describe("m128n256k16.tcgen05.f16.bf16.bf16", 256, 0,
                     OperandMajor::K, OperandMajor::MN),
            0x08410490u);
  EXPECT_EQ(describe("m128n256k32.tcgen05.f8f6f4.e5m2.e4m3", 16, 0),
            0x08040090u);
}

TEST(TensorOperandsTest, SumsHaveCellsOfTheirOwn) {
  EXPECT_EQ(getSumCell(128, 256, 0, 0, 0), 0u);
  EXPECT_EQ(getSumCell(128, 256, 0, 127, 255), 127u << 16 | 255);
  EXPECT_EQ(getSumCell(256, 64, 0, 200, 7), 72u << 16 | 71);
  EXPECT_EQ(getSumCell(256, 64, 1, 200, 7), 72u << 16 | 199);
  const unsigned batches = 2, rows = 256, columns = 32;
  std::vector<bool> used(128 * batches * (rows / 128) * columns);
  for (unsigned batch = 0; batch < batches; ++batch)
    for (unsigned m = 0; m < rows; ++m)
      for (unsigned n = 0; n < columns; ++n) {
        uint32_t cell = getSumCell(rows, columns, batch, m, n);
        ASSERT_LT(cell >> 16, 128u);
        size_t at = (cell & 0xFFFF) * 128 + (cell >> 16);
        ASSERT_LT(at, used.size());
        EXPECT_FALSE(used[at]);
        used[at] = true;
      }
}

} // namespace
