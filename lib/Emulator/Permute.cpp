//===- Permute.cpp - prmt -------------------------------------------------===//
//
// Picks four bytes out of eight. Every mode is a selector of four nibbles, the
// lowest for the lowest byte; the default mode takes it as it is, in the others
// two bits choose one of four.
//
//===----------------------------------------------------------------------===//

#include "BitOperations.h"

using namespace tile::emulator;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

namespace {

/// The selectors that the two low bits of c choose from.
struct Mode {
  llvm::StringLiteral name;
  uint16_t selectors[4];
};

} // namespace

static constexpr Mode kModes[] = {
    {"f4e", {0x3210, 0x4321, 0x5432, 0x6543}},
    {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}},
    {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}},
    {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}},
    {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}},
    {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}},
};

/// Bytes of b:a by `selector`; bit 3 of a nibble spreads the byte's sign.
static uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  uint64_t both = uint64_t(b) << 32 | a;
  uint32_t result = 0;
  for (unsigned i = 0; i != 4; ++i) {
    unsigned nibble = selector >> (4 * i) & 15;
    uint32_t byte = both >> (8 * (nibble & 7)) & 0xFF;
    if (nibble & 8)
      byte = byte & 0x80 ? 0xFF : 0;
    result |= byte << (8 * i);
  }
  return result;
}

/// Stores `values`, made with the selectors in `selectors`, of which
/// `undefined` lanes are not known. The unwritten bits move as the others do.
static void storePermuted(const Instruction &i, Lanes &lanes,
                          const uint32_t (&values)[kLanes],
                          const uint32_t (&selectors)[kLanes],
                          uint32_t undefined) {
  storeBits(lanes, i.d, values,
            undefined | lanes.undefinedAt(i.a) | lanes.undefinedAt(i.b),
            [&](unsigned lane) -> uint32_t {
              if (undefined >> lane & 1)
                return 0;
              return ~permute(~getWritten<uint32_t>(lanes, i.a, lane),
                              ~getWritten<uint32_t>(lanes, i.b, lane),
                              selectors[lane]);
            });
}

/// The active lanes in which one of the bits `used` of `slot` is unwritten.
static uint32_t getUnknown(const Lanes &lanes, Slot slot, uint32_t used) {
  uint32_t unknown = 0;
  forLanes(lanes.undefinedAt(slot) & lanes.active, [&](unsigned lane) {
    if (~getWritten<uint32_t>(lanes, slot, lane) & used)
      unknown |= uint32_t(1) << lane;
  });
  return unknown;
}

/// Selectors from c: as they are, or by the two low bits from `data`.
static void executePermute(const Instruction &i, Lanes &lanes) {
  const uint32_t *a = lanes.read<uint32_t>(i.a);
  const uint32_t *b = lanes.read<uint32_t>(i.b);
  const uint32_t *c = lanes.read<uint32_t>(i.c);
  const auto *mode = static_cast<const Mode *>(i.data);
  uint32_t selectors[kLanes], result[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane) {
    selectors[lane] = mode ? mode->selectors[c[lane] & 3] : c[lane];
    result[lane] = permute(a[lane], b[lane], selectors[lane]);
  }
  storePermuted(i, lanes, result, selectors,
                getUnknown(lanes, i.c, mode ? 3 : 0xFFFF));
}

/// One selector, `immediate`, for all lanes: each byte is a shift by a
/// constant.
static void executePermuteConstant(const Instruction &i, Lanes &lanes) {
  const uint32_t *a = lanes.read<uint32_t>(i.a);
  const uint32_t *b = lanes.read<uint32_t>(i.b);
  uint32_t selector = static_cast<uint32_t>(i.immediate);
  uint32_t result[kLanes];
  if (selector & 0x8888) {
    for (unsigned lane = 0; lane != kLanes; ++lane)
      result[lane] = permute(a[lane], b[lane], selector);
  } else {
    const uint32_t *from[4];
    unsigned right[4];
    for (unsigned k = 0; k != 4; ++k) {
      from[k] = selector >> (4 * k) & 4 ? b : a;
      right[k] = 8 * (selector >> (4 * k) & 3);
    }
    const uint32_t *p = from[0], *q = from[1], *r = from[2], *s = from[3];
    unsigned i0 = right[0], i1 = right[1], i2 = right[2], i3 = right[3];
    for (unsigned lane = 0; lane != kLanes; ++lane)
      result[lane] = (p[lane] >> i0 & 0xFF) | (q[lane] >> i1 & 0xFF) << 8 |
                     (r[lane] >> i2 & 0xFF) << 16 | s[lane] >> i3 << 24;
  }
  uint32_t selectors[kLanes];
  for (uint32_t &one : selectors)
    one = selector;
  storePermuted(i, lanes, result, selectors, 0);
}

Error tile::emulator::decodePermute(Decoder &decoder) {
  if (Expected<Type> type = takeTypeOf(decoder, {Type::B32}); !type)
    return type.takeError();
  const Mode *mode = nullptr;
  for (const Mode &one : kModes)
    if (decoder.take(one.name)) {
      mode = &one;
      break;
    }
  bool isConstant = decoder.isInteger(3);
  Expected<Instruction *> instruction = emitLanewise(
      decoder, isConstant ? executePermuteConstant : executePermute,
      InstructionClass::Logic, Type::B32, {Type::B32, Type::B32, Type::B32});
  if (!instruction)
    return instruction.takeError();
  (*instruction)->data = mode;
  if (isConstant) {
    uint64_t bits = decoder.getOperand(3).bits;
    (*instruction)->immediate =
        mode ? mode->selectors[bits & 3] : static_cast<uint32_t>(bits);
  }
  return Error::success();
}
