//===- TensorOperands.cpp - Operands of tcgen05 in memory -----------------===//
//
// An operand is lines of K-major rows, or of MN-major steps of K, cut into
// panels of at most 128 bytes. The lines of a panel follow one another, and the
// panels; in the canonical layouts of the ISA eight lines make a group. The
// hardware then exchanges chunks of 16 bytes by bits of the address itself,
// which is why slots begin where a pattern does.
//
//===----------------------------------------------------------------------===//

#include "tile/Target/TensorOperands.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>

using namespace tile;

//===----------------------------------------------------------------------===//
// Swizzles
//===----------------------------------------------------------------------===//

static constexpr unsigned chunkBytes = 16;
static constexpr unsigned maxSpan = 128;
/// Lines of a group, the distance of which is the "stride dimension byte
/// offset".
static constexpr unsigned groupLines = 8;

/// The byte that the hardware takes for `offset`: bits from 4 on are exchanged
/// by those from 7 on, two, four or eight chunks wide. Its own inverse.
static uint32_t swizzle(uint32_t offset, unsigned span) {
  uint32_t line = offset / maxSpan % (span / chunkBytes);
  return offset ^ line * chunkBytes;
}

/// The number of a swizzle in a descriptor.
static uint64_t getSwizzleCode(unsigned span) {
  switch (span) {
  case 32:
    return 6;
  case 64:
    return 4;
  default:
    assert(span == 128 && "no such swizzle");
    return 2;
  }
}

//===----------------------------------------------------------------------===//
// Descriptors of matrices
//===----------------------------------------------------------------------===//

/// The offset of a value of K and row, as the descriptor counts: before the
/// hardware exchanges chunks.
static uint32_t getPlainOffset(const SharedOperand &operand, unsigned row,
                               unsigned k) {
  uint32_t point = row << operand.place.getDomain().bitsOf("d1") | k;
  return swizzle(operand.place(point), operand.swizzleBytes);
}

/// The fields of a descriptor; offsets in bytes.
static uint64_t encodeDescriptor(uint32_t leading, uint32_t stride,
                                 uint64_t swizzleCode) {
  [[maybe_unused]] constexpr unsigned fieldBits = 14;
  auto field = [](uint32_t bytes) {
    assert(bytes % chunkBytes == 0 && bytes / chunkBytes < 1u << fieldBits &&
           "a descriptor has 14 bits");
    return uint64_t(bytes / chunkBytes);
  };
  // Bits 48:46 have a fixed value.
  return field(leading) << 16 | field(stride) << 32 | uint64_t(1) << 46 |
         swizzleCode << 61;
}

uint64_t SharedOperand::getDescriptor() const {
  uint32_t leading = chunkBytes; // not used where K is contiguous
  uint32_t stride;
  if (major == OperandMajor::K) {
    stride = getPlainOffset(*this, groupLines, 0);
  } else {
    stride = getPlainOffset(*this, 0, groupLines);
    unsigned panelRows = swizzleBytes * 8 / bits;
    if (rows > panelRows)
      leading = getPlainOffset(*this, panelRows, 0);
  }
  return encodeDescriptor(leading, stride, getSwizzleCode(swizzleBytes));
}

uint32_t SharedOperand::getStart(unsigned row, unsigned step) const {
  assert(
      row % (major == OperandMajor::K ? groupLines : swizzleBytes * 8 / bits) ==
          0 &&
      "a multiply begins with a group of rows");
  return getPlainOffset(*this, row, step * (kTensorStepBytes * 8 / bits));
}

uint64_t tile::getScaleChunkDescriptor() {
  return encodeDescriptor(/*leading=*/0, groupLines * chunkBytes,
                          /*swizzleCode=*/0);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

std::optional<SharedOperand> tile::placeOperand(const MmaAtom &atom, bool isLhs,
                                                OperandMajor major,
                                                unsigned rows, unsigned k) {
  // Start addresses of descriptors reach no further.
  constexpr uint64_t maxBytes = 1 << 18;
  if (atom.issuer != MmaIssuer::Thread || !llvm::isPowerOf2_32(rows) ||
      !llvm::isPowerOf2_32(k))
    return std::nullopt;
  const unsigned bits = isLhs ? atom.lhsContainerBits : atom.rhsContainerBits;
  const unsigned elementBits =
      getFormatInfo(isLhs ? atom.lhsFormat : atom.rhsFormat).bits;
  const bool isKMajor = major == OperandMajor::K;
  const uint64_t bytes = uint64_t(rows) * k * bits / 8;
  if ((!isKMajor && elementBits < 8) || k < atom.k || bytes > maxBytes ||
      rows < (isLhs ? kTensorRows : kMinTensorColumns))
    return std::nullopt;
  const unsigned lineBytes = (isKMajor ? k : rows) * bits / 8;
  if (lineBytes < kTensorStepBytes)
    return std::nullopt;

  SharedOperand operand;
  operand.major = major;
  operand.rows = rows;
  operand.k = k;
  operand.bits = bits;
  operand.swizzleBytes = std::min(lineBytes, maxSpan);
  operand.bytes = static_cast<uint32_t>(bytes);

  // The byte of value `along` of line `line`.
  const unsigned lines = isKMajor ? rows : k;
  auto getOffset = [&](unsigned line, unsigned along) {
    unsigned at = along * bits / 8;
    // FP4 in bytes: 16 values take the first half of their chunk.
    if (elementBits < bits)
      at = along / chunkBytes * chunkBytes + along % chunkBytes / 2;
    unsigned span = operand.swizzleBytes;
    return swizzle((at / span * lines + line) * span + at % span, span);
  };
  llvm::SmallVector<uint32_t> columns;
  for (unsigned bit = 1; bit < k; bit *= 2)
    columns.push_back(isKMajor ? getOffset(0, bit) : getOffset(bit, 0));
  for (unsigned bit = 1; bit < rows; bit *= 2)
    columns.push_back(isKMajor ? getOffset(bit, 0) : getOffset(0, bit));
  operand.place =
      LinearLayout({{"d1", llvm::Log2_32(k)}, {"d0", llvm::Log2_32(rows)}},
                   {{"offset", llvm::Log2_32(operand.bytes)}}, columns);
  return operand;
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// Columns of tensor memory of one chunk.
static constexpr unsigned chunkColumns =
    kScaleChunkBytes / (32 * sizeof(uint32_t));

LinearLayout tile::placeScales(unsigned rows, unsigned blocks) {
  assert(llvm::isPowerOf2_32(rows) && rows >= kTensorRows &&
         llvm::isPowerOf2_32(blocks) && blocks >= kChunkBlocks &&
         "expects whole chunks");
  auto getOffset = [&](unsigned row, unsigned block) {
    unsigned chunk =
        row / kTensorRows * (blocks / kChunkBlocks) + block / kChunkBlocks;
    return chunk * kScaleChunkBytes + row % 32 * chunkBytes +
           row % kTensorRows / 32 * kChunkBlocks + block % kChunkBlocks;
  };
  llvm::SmallVector<uint32_t> columns;
  for (unsigned bit = 1; bit < blocks; bit *= 2)
    columns.push_back(getOffset(0, bit));
  for (unsigned bit = 1; bit < rows; bit *= 2)
    columns.push_back(getOffset(bit, 0));
  return LinearLayout(
      {{"d1", llvm::Log2_32(blocks)}, {"d0", llvm::Log2_32(rows)}},
      {{"offset", llvm::Log2_32(rows * blocks)}}, columns);
}

unsigned tile::getScaleColumn(unsigned rows, unsigned rowBlock,
                              unsigned chunk) {
  return (chunk * (rows / kTensorRows) + rowBlock) * chunkColumns;
}

ScaleChoice tile::getScaleChoice(const MmaAtom &atom, unsigned step) {
  unsigned block = step * atom.scaleVecSize;
  return {block / kChunkBlocks, block % kChunkBlocks};
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// The number of an operand's type in the descriptor of an instruction.
static uint32_t getTypeCode(BlockScaleKind kind, ElementFormat format) {
  switch (format) {
  case ElementFormat::F16:
  case ElementFormat::F8E4M3FN:
    return 0;
  case ElementFormat::BF16:
  case ElementFormat::F8E5M2:
    return 1;
  default:
    assert(format == ElementFormat::F4E2M1FN && "no such operand");
    return kind == BlockScaleKind::Mxf8f6f4 ? 5 : 1;
  }
}

uint32_t tile::getInstructionDescriptor(const MmaAtom &atom, unsigned n,
                                        OperandMajor lhs, OperandMajor rhs,
                                        unsigned scaleByte) {
  assert(atom.issuer == MmaIssuer::Thread && n % kMinTensorColumns == 0 &&
         n >= kMinTensorColumns && n <= kMaxTensorColumns &&
         "no such multiply");
  uint32_t descriptor = getTypeCode(atom.kind, atom.lhsFormat) << 7 |
                        getTypeCode(atom.kind, atom.rhsFormat) << 10 |
                        uint32_t(lhs == OperandMajor::MN) << 15 |
                        uint32_t(rhs == OperandMajor::MN) << 16 | n / 8 << 17;
  if (!atom.isBlockScaled()) {
    constexpr uint32_t f32Result = 1;
    return descriptor | f32Result << 4 | atom.m / 16 << 24;
  }
  return descriptor | scaleByte << 4 |
         uint32_t(atom.scaleFormat == ElementFormat::F8E8M0FNU) << 23 |
         atom.m / 128 << 27 | scaleByte << 29;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

uint32_t tile::getSumCell(unsigned rows, unsigned columns, unsigned batch,
                          unsigned m, unsigned n) {
  uint32_t column =
      (batch * (rows / kTensorRows) + m / kTensorRows) * columns + n;
  return m % kTensorRows << 16 | column;
}
