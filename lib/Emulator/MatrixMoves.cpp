//===- MatrixMoves.cpp - ldmatrix, stmatrix and movmatrix -----------------===//
//
// The lanes of a warp give the addresses of matrix rows, of 16 bytes each, and
// hold fragments of the matrices: with g = lane / 4 and t = lane % 4, a lane
// has columns 4t … 4t+3 (in bytes) of row g, or with .trans elements of column
// g. PTX ISA, "Warp-level matrix load instruction" and the two sections after
// it.
//
//===----------------------------------------------------------------------===//

#include "MemoryAccess.h"

namespace tile::emulator {
namespace {

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

constexpr unsigned kRowBytes = 16;

enum class MatrixForm : uint8_t {
  Half,           ///< m8n8.b16
  HalfTransposed, ///< m8n8.trans.b16
  Expanded,       ///< m8n16.b8x16 of narrower elements
  ByteTransposed, ///< m16n16.trans.b8, and b8x16 of narrower elements
  StoreBytes,     ///< stmatrix m16n8.trans.b8
};

struct MatrixInstruction {
  MemoryOperand operand;
  StringRef verb;
  MatrixForm form = MatrixForm::Half;
  unsigned rowLanes = 8; ///< Lanes 0 … rowLanes - 1 give addresses.
  unsigned elementBits = 8;
  llvm::SmallVector<Slot, 4> registers;
};

/// The rows in shared memory. False after a fault.
bool findRows(const Instruction &instruction, Lanes &lanes,
              const MatrixInstruction &data, unsigned bytes,
              SharedMemory::Access access, uint32_t (&offsets)[kLanes],
              const uint8_t *values = nullptr) {
  Warp &warp = *lanes.warp;
  if (lanes.active != kAllLanes) {
    warp.fault(instruction, static_cast<unsigned>(__builtin_ctz(lanes.active)),
               Check::Divergence,
               data.verb +
                   " expects all 32 lanes of the warp, but got the "
                   "lanes 0x" +
                   Twine::utohexstr(lanes.active));
    return false;
  }
  uint32_t mask =
      data.rowLanes == kLanes ? kAllLanes : (uint32_t(1) << data.rowLanes) - 1;
  uint64_t addresses[kLanes];
  // Only the lanes that give rows need an address.
  Lanes givers = lanes;
  givers.active = mask;
  if (!evaluate(instruction, givers, data.operand.address, addresses) ||
      !resolveShared(instruction, lanes, mask, data.operand.space, addresses,
                     kRowBytes, kRowBytes, data.verb, offsets) ||
      !noteShared(instruction, lanes, access, mask, offsets, bytes, data.verb,
                  values))
    return false;
  if (warp.collectsStatistics()) {
    InstructionCounters &counters = warp.getCounters(instruction);
    counters.bytes += uint64_t(bytes) * data.rowLanes;
    // Rows of 16 bytes are served eight at a time.
    Wavefronts wavefronts = countWavefronts(mask, offsets, kRowBytes);
    counters.wavefronts += wavefronts.actual;
    counters.idealWavefronts += wavefronts.ideal;
  }
  return true;
}

/// Element `column` of a row of packed elements, the first in the low bits, or
/// which bits of it are written; the bits above it are `padding`.
uint32_t getElement(const uint8_t *row, unsigned bits, unsigned column,
                    uint32_t padding) {
  unsigned bit = column * bits;
  uint32_t pair = row[bit / 8];
  if (bit % 8 + bits > 8)
    pair |= uint32_t(row[bit / 8 + 1]) << 8;
  uint32_t mask = (1u << bits) - 1;
  return ((pair >> bit % 8) & mask) | (padding & 0xFF & ~mask);
}

/// Word `i` of every lane's fragments, of the rows in `memory`.
void gather(const MatrixInstruction &data, const uint8_t *memory,
            const uint32_t *offsets, unsigned i, uint32_t padding,
            uint32_t (&words)[kLanes]) {
  auto forEach = [&](auto getWord) {
    for (unsigned lane = 0; lane != kLanes; ++lane)
      words[lane] = getWord(lane / 4, lane % 4);
  };
  auto getBytes = [&](auto getByte) {
    uint32_t word = 0;
    for (unsigned e = 0; e != 4; ++e)
      word |= getByte(e) << 8 * e;
    return word;
  };
  switch (data.form) {
  case MatrixForm::Half:
    for (unsigned g = 0; g != 8; ++g)
      std::memcpy(&words[4 * g], memory + offsets[8 * i + g], kRowBytes);
    break;
  case MatrixForm::HalfTransposed:
    forEach([&](unsigned g, unsigned t) {
      uint16_t low, high;
      std::memcpy(&low, memory + offsets[8 * i + 2 * t] + 2 * g, 2);
      std::memcpy(&high, memory + offsets[8 * i + 2 * t + 1] + 2 * g, 2);
      return low | uint32_t(high) << 16;
    });
    break;
  case MatrixForm::Expanded:
    forEach([&](unsigned g, unsigned t) {
      return getBytes([&](unsigned e) {
        return getElement(memory + offsets[8 * i + g], data.elementBits,
                          4 * t + e, padding);
      });
    });
    break;
  default:
    forEach([&](unsigned g, unsigned t) {
      return getBytes([&](unsigned e) {
        return getElement(memory + offsets[16 * (i / 2) + 4 * t + e],
                          data.elementBits, g + 8 * (i % 2), padding);
      });
    });
    break;
  }
}

void executeLoad(const Instruction &instruction, Lanes &lanes) {
  const auto &data = *static_cast<const MatrixInstruction *>(instruction.data);
  // A row has 16 elements, of 8 bits (or 8 of 16 bits) or fewer.
  const unsigned bytes = 2 * data.elementBits;
  uint32_t offsets[kLanes];
  if (!findRows(instruction, lanes, data, bytes, SharedMemory::Access::Read,
                offsets))
    return;
  SharedMemory &shared = lanes.warp->getBlock().getShared();
  const uint8_t *memory = shared.getBytes(), *written = shared.getWritten();
  bool isWritten = true;
  for (unsigned row = 0; row != data.rowLanes; ++row)
    isWritten &= areWritten(written + offsets[row], bytes);
  for (unsigned i = 0; i != data.registers.size(); ++i) {
    Slot slot = data.registers[i];
    uint32_t words[kLanes];
    gather(data, memory, offsets, i, 0, words);
    store(lanes, slot, words);
    define(lanes, slot);
    if (isWritten)
      continue;
    gather(data, written, offsets, i, 0xFF, words);
    for (unsigned lane = 0; lane != kLanes; ++lane)
      setWritten<uint32_t>(lanes, slot, lane, words[lane]);
  }
}

/// Puts byte `e` of word `i` of a lane's fragments into the rows' images.
void scatter(const MatrixInstruction &data, uint8_t (&rows)[kLanes][kRowBytes],
             unsigned lane, unsigned i, uint32_t word) {
  unsigned g = lane / 4, t = lane % 4;
  for (unsigned e = 0; e != 4; ++e) {
    uint8_t byte = static_cast<uint8_t>(word >> 8 * e);
    switch (data.form) {
    case MatrixForm::Half:
      rows[8 * i + g][4 * t + e] = byte;
      break;
    case MatrixForm::HalfTransposed:
      rows[8 * i + 2 * t + e / 2][2 * g + e % 2] = byte;
      break;
    default:
      rows[8 * i + 2 * t + e % 2][g + 8 * (e / 2)] = byte;
      break;
    }
  }
}

void executeStore(const Instruction &instruction, Lanes &lanes) {
  const auto &data = *static_cast<const MatrixInstruction *>(instruction.data);
  uint8_t rows[kLanes][kRowBytes], written[kLanes][kRowBytes];
  bool isWritten = true;
  for (unsigned i = 0; i != data.registers.size(); ++i)
    for (unsigned lane = 0; lane != kLanes; ++lane) {
      Slot slot = data.registers[i];
      uint32_t bits = getWritten<uint32_t>(lanes, slot, lane);
      isWritten &= bits == ~uint32_t(0);
      scatter(data, rows, lane, i, lanes.read<uint32_t>(slot)[lane]);
      scatter(data, written, lane, i, bits);
    }
  uint32_t offsets[kLanes];
  if (!findRows(instruction, lanes, data, kRowBytes,
                SharedMemory::Access::Write, offsets,
                isWritten ? rows[0] : nullptr))
    return;
  Warp &warp = *lanes.warp;
  Block &block = warp.getBlock();
  for (unsigned row = 1; row != data.rowLanes; ++row)
    for (unsigned other = 0; other != row; ++other)
      if (offsets[row] == offsets[other] &&
          std::memcmp(rows[row], rows[other], kRowBytes)) {
        warp.fault(instruction, row, Check::SharedRace,
                   "rows " + Twine(other) + " and " + Twine(row) + " of one " +
                       data.verb + " store different values to " +
                       describeShared(block.getProgram(), offsets[row]),
                   offsets[row]);
        return;
      }
  SharedMemory &shared = block.getShared();
  for (unsigned row = 0; row != data.rowLanes; ++row) {
    std::memcpy(shared.getBytes() + offsets[row], rows[row], kRowBytes);
    std::memcpy(shared.getWritten() + offsets[row], written[row], kRowBytes);
  }
  block.noteProgress();
}

/// Element (row, column) is half `column % 2` of lane 4 * row + column / 2.
void executeMove(const Instruction &instruction, Lanes &lanes) {
  Warp &warp = *lanes.warp;
  if (lanes.active != kAllLanes) {
    warp.fault(instruction, static_cast<unsigned>(__builtin_ctz(lanes.active)),
               Check::Divergence,
               "movmatrix expects all 32 lanes of the warp, but got the lanes "
               "0x" +
                   Twine::utohexstr(lanes.active));
    return;
  }
  auto transpose = [](const uint32_t *from, uint32_t *to) {
    for (unsigned lane = 0; lane != kLanes; ++lane) {
      unsigned g = lane / 4, t = lane % 4;
      auto getHalf = [&](unsigned row) {
        return from[4 * row + g / 2] >> 16 * (g % 2) & 0xFFFF;
      };
      to[lane] = getHalf(2 * t) | getHalf(2 * t + 1) << 16;
    }
  };
  uint32_t words[kLanes], bits[kLanes];
  transpose(lanes.read<uint32_t>(instruction.a), words);
  const bool isWritten = !lanes.undefinedAt(instruction.a);
  if (!isWritten) {
    uint32_t written[kLanes];
    for (unsigned lane = 0; lane != kLanes; ++lane)
      written[lane] = getWritten<uint32_t>(lanes, instruction.a, lane);
    transpose(written, bits);
  }
  store(lanes, instruction.d, words);
  define(lanes, instruction.d);
  if (!isWritten)
    for (unsigned lane = 0; lane != kLanes; ++lane)
      setWritten<uint32_t>(lanes, instruction.d, lane, bits[lane]);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// `.sync.aligned`, and the state space.
Error decodeCommon(Decoder &decoder, MatrixInstruction &data,
                   unsigned addressOperand) {
  if (!decoder.take("sync") || !decoder.take("aligned"))
    return decoder.error("expects .sync.aligned");
  StateSpace space = decoder.takeAny({"shared", "shared::cta"}).empty()
                         ? StateSpace::Generic
                         : StateSpace::Shared;
  if (Error error = decoder.expectOperands(2, 2))
    return error;
  Expected<MemoryOperand> operand =
      takeMemoryOperand(decoder, addressOperand, space);
  if (!operand)
    return operand.takeError();
  if (operand->space != StateSpace::Shared &&
      operand->space != StateSpace::Generic)
    return decoder.error(decoder.getOperand(addressOperand),
                         "expects an address in shared memory");
  data.operand = *operand;
  return Error::success();
}

unsigned takeNumber(Decoder &decoder) {
  StringRef number = decoder.takeAny({"x1", "x2", "x4"});
  return number.empty() ? 0 : static_cast<unsigned>(number[1] - '0');
}

Error decodeLoad(Decoder &decoder) {
  MatrixInstruction data;
  data.verb = "ldmatrix";
  if (Error error = decodeCommon(decoder, data, 1))
    return error;
  StringRef shape = decoder.takeAny({"m8n8", "m16n16", "m8n16"});
  const unsigned number = takeNumber(decoder);
  const bool isTransposed = decoder.take("trans");
  if (shape.empty() || number == 0)
    return decoder.error("expects a shape (.m8n8, .m16n16 or .m8n16) and a "
                         "number (.x1, .x2 or .x4)");
  if (shape != "m8n8" && decoder.getArchitecture() < 100)
    return decoder.error("." + shape + " expects sm_100a or newer");
  unsigned registers = number;
  data.rowLanes = 8 * number;
  if (shape == "m8n8") {
    if (!decoder.take("b16"))
      return decoder.error("expects .b16 with .m8n8");
    data.form = isTransposed ? MatrixForm::HalfTransposed : MatrixForm::Half;
  } else {
    if (decoder.take("b8x16")) {
      StringRef source = decoder.takeAny({"b4x16_p64", "b6x16_p32"});
      if (source.empty())
        return decoder.error("expects .b4x16_p64 or .b6x16_p32 after .b8x16");
      data.elementBits = source == "b4x16_p64" ? 4 : 6;
    } else if (shape == "m8n16" || !decoder.take("b8")) {
      return decoder.error(shape == "m8n16"
                               ? "expects .b8x16 with .m8n16"
                               : "expects .b8 or .b8x16 with .m16n16");
    }
    if (isTransposed != (shape == "m16n16"))
      return decoder.error(isTransposed ? "expects no .trans with .m8n16"
                                        : "expects .trans with .m16n16");
    data.form =
        isTransposed ? MatrixForm::ByteTransposed : MatrixForm::Expanded;
    if (isTransposed) {
      if (number == 4)
        return decoder.error("expects .x1 or .x2 with .m16n16");
      registers = 2 * number;
      data.rowLanes = 16 * number;
    }
  }
  auto slots = decoder.destinations(0, Type::B32, registers);
  if (!slots)
    return slots.takeError();
  data.registers.assign(slots->begin(), slots->end());
  Instruction &instruction =
      decoder.emit(executeLoad, InstructionClass::Matrix);
  instruction.flow = Flow::Collective;
  instruction.data = decoder.getProgram().own(std::move(data));
  return Error::success();
}

Error decodeStore(Decoder &decoder) {
  MatrixInstruction data;
  data.verb = "stmatrix";
  if (decoder.getArchitecture() < 90)
    return decoder.error("stmatrix expects sm_90 or newer");
  if (Error error = decodeCommon(decoder, data, 0))
    return error;
  StringRef shape = decoder.takeAny({"m8n8", "m16n8"});
  const unsigned number = takeNumber(decoder);
  const bool isTransposed = decoder.take("trans");
  if (shape.empty() || number == 0)
    return decoder.error("expects a shape (.m8n8 or .m16n8) and a number (.x1, "
                         ".x2 or .x4)");
  data.rowLanes = 8 * number;
  if (shape == "m8n8") {
    if (!decoder.take("b16"))
      return decoder.error("expects .b16 with .m8n8");
    data.form = isTransposed ? MatrixForm::HalfTransposed : MatrixForm::Half;
  } else {
    if (decoder.getArchitecture() < 100)
      return decoder.error(".m16n8 expects sm_100a or newer");
    if (!decoder.take("b8") || !isTransposed)
      return decoder.error("expects .trans and .b8 with .m16n8");
    data.form = MatrixForm::StoreBytes;
  }
  auto slots = decoder.sources(1, Type::B32, number);
  if (!slots)
    return slots.takeError();
  data.registers.assign(slots->begin(), slots->end());
  Instruction &instruction =
      decoder.emit(executeStore, InstructionClass::Matrix);
  instruction.flow = Flow::Collective;
  instruction.data = decoder.getProgram().own(std::move(data));
  return Error::success();
}

Error decodeMove(Decoder &decoder) {
  if (!decoder.take("sync") || !decoder.take("aligned") ||
      !decoder.take("m8n8") || !decoder.take("trans") || !decoder.take("b16"))
    return decoder.error("expects movmatrix.sync.aligned.m8n8.trans.b16");
  if (Error error = decoder.expectOperands(2, 2))
    return error;
  Expected<Slot> d = decoder.destination(0, Type::B32);
  if (!d)
    return d.takeError();
  Expected<Slot> a = decoder.source(1, Type::B32);
  if (!a)
    return a.takeError();
  Instruction &instruction =
      decoder.emit(executeMove, InstructionClass::Matrix);
  instruction.flow = Flow::Collective;
  instruction.d = *d;
  instruction.a = *a;
  return Error::success();
}

} // namespace

void registerMatrixMoves(InstructionTable &table) {
  constexpr llvm::StringLiteral kGroup = "Matrix moves";
  table.add("ldmatrix",
            "ldmatrix.sync.aligned.{m8n8.num{.trans}{.shared}.b16,"
            "m16n16.num.trans{.shared}.{b8,b8x16.src},"
            "m8n16.num{.shared}.b8x16.src}",
            kGroup, decodeLoad);
  table.add("stmatrix",
            "stmatrix.sync.aligned.{m8n8.num{.trans}{.shared}.b16,"
            "m16n8.num.trans{.shared}.b8}",
            kGroup, decodeStore);
  table.add("movmatrix", "movmatrix.sync.aligned.m8n8.trans.b16", kGroup,
            decodeMove);
}

} // namespace tile::emulator
