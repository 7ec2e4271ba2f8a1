//===- TensorCoreFragments.cpp - Matrices in a warp's registers -----------===//

#include "TensorCoreFragments.h"
#include "Machine.h"

using namespace tile::emulator;
using llvm::ArrayRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

/// The value that all lanes have in a selector register.
static bool readSelector(const Instruction &instruction, const Lanes &lanes,
                         Slot slot, llvm::StringRef name, unsigned &value) {
  if (!lanes.warp->checkDefined(instruction, lanes, slot, name))
    return false;
  const uint16_t *values = lanes.read<uint16_t>(slot);
  value = values[0];
  uint16_t difference = 0;
  for (unsigned lane = 0; lane != kLanes; ++lane)
    difference |= values[lane] ^ values[0];
  if (!difference)
    return true;
  for (unsigned lane = 1; lane != kLanes; ++lane)
    if (values[lane] != values[0]) {
      lanes.warp->fault(
          instruction, lane, Check::IllegalOperand,
          "expects the same " + name + " in all lanes, but lane 0 has " +
              Twine(values[0]) + " and this one " + Twine(values[lane]));
      break;
    }
  return false;
}

bool tile::emulator::readSelectors(const Instruction &instruction,
                                   const Lanes &lanes, const MmaData &data,
                                   const MmaOperands &operands,
                                   ScaleSelectors &selectors) {
  using S = MmaOperands;
  ArrayRef<Slot> slots = operands.scales;
  if (!readSelector(instruction, lanes, slots[S::ByteA], "byte-id-a",
                    selectors.byteA) ||
      !readSelector(instruction, lanes, slots[S::ThreadA], "thread-id-a",
                    selectors.threadA) ||
      !readSelector(instruction, lanes, slots[S::ByteB], "byte-id-b",
                    selectors.byteB) ||
      !readSelector(instruction, lanes, slots[S::ThreadB], "thread-id-b",
                    selectors.threadB))
    return false;

  auto illegal = [&](llvm::StringRef name, const Twine &legal, unsigned value) {
    lanes.warp->fault(instruction, 0, Check::IllegalOperand,
                      "expects " + name + " " + legal + ", but got " +
                          Twine(value));
    return false;
  };
  const char *legalBytes = getLegalByteSelectors(data.blocks);
  if (!isLegalByteSelector(data.blocks, selectors.byteA))
    return illegal("byte-id-a", legalBytes, selectors.byteA);
  if (selectors.threadA >= kNumThreadSelectorsA)
    return illegal("thread-id-a", "0 or 1", selectors.threadA);
  if (!isLegalByteSelector(data.blocks, selectors.byteB))
    return illegal("byte-id-b", legalBytes, selectors.byteB);
  if (selectors.threadB >= kNumThreadSelectorsB)
    return illegal("thread-id-b", "0 to 3", selectors.threadB);
  return true;
}

//===----------------------------------------------------------------------===//
// Unwritten values
//===----------------------------------------------------------------------===//

/// Whether any register has unwritten bits.
static bool hasUnwritten(const Lanes &lanes, ArrayRef<Slot> slots) {
  uint32_t undefined = 0;
  for (Slot slot : slots)
    undefined |= lanes.undefinedAt(slot);
  return undefined;
}

MmaWrittenBits::MmaWrittenBits(const Lanes &lanes, const MmaData &data,
                               const MmaOperands &operands,
                               const ScaleSelectors *selectors) {
  using S = MmaOperands;
  isWritten = !hasUnwritten(lanes, operands.a) &&
              !hasUnwritten(lanes, operands.b) &&
              !hasUnwritten(lanes, operands.c) &&
              !(selectors && (lanes.undefinedAt(operands.scales[S::DataA]) |
                              lanes.undefinedAt(operands.scales[S::DataB])));
  if (isWritten)
    return;

  uint32_t rows = 0, columns = 0;
  for (unsigned r = 0; r != operands.a.size(); ++r)
    forLanes(lanes.undefinedAt(operands.a[r]), [&](unsigned lane) {
      rows |= uint32_t(1) << (lane / 4 + r % 2 * 8);
    });
  for (Slot slot : operands.b)
    forLanes(lanes.undefinedAt(slot),
             [&](unsigned lane) { columns |= uint32_t(1) << lane / 4; });
  if (selectors) {
    // Only the selected bytes of the supplying lanes count.
    uint32_t bytes =
        data.blocks == 4 ? ~uint32_t(0) : (uint32_t(1) << 8 * data.blocks) - 1;
    auto isUnwritten = [&](Slot slot, unsigned lane, unsigned byte) {
      return ~getWritten<uint32_t>(lanes, slot, lane) & bytes << 8 * byte;
    };
    for (unsigned m = 0; m != data.rows; ++m)
      if (isUnwritten(operands.scales[S::DataA], selectors->getLaneA(m),
                      selectors->byteA))
        rows |= uint32_t(1) << m;
    for (unsigned n = 0; n != kPanelColumns; ++n)
      if (isUnwritten(operands.scales[S::DataB], selectors->getLaneB(n),
                      selectors->byteB))
        columns |= uint32_t(1) << n;
  }

  bool isWide = data.elementBits == 64;
  bool isHalf = !isWide && data.result == TensorResult::F16;
  unsigned elements = isHalf ? 2 : 1;
  uint64_t ones = isWide ? ~uint64_t(0) : isHalf ? 0xFFFF : 0xFFFFFFFF;
  for (unsigned r = 0; r != operands.c.size(); ++r)
    for (unsigned lane = 0; lane != kLanes; ++lane) {
      uint64_t c = isWide ? getWritten<uint64_t>(lanes, operands.c[r], lane)
                          : getWritten<uint32_t>(lanes, operands.c[r], lane);
      uint64_t &d = written[r][lane];
      d = 0;
      for (unsigned j = 0; j != elements; ++j) {
        unsigned index = getAccumulatorIndex(r * elements + j, lane);
        uint64_t bits = ones << 16 * j;
        if (!(rows >> index / kPanelColumns & 1) &&
            !(columns >> index % kPanelColumns & 1) && (c & bits) == bits)
          d |= bits;
      }
    }
}
