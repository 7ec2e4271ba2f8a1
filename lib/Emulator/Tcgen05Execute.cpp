//===- Tcgen05Execute.cpp - tcgen05.mma over a tile -----------------------===//
//
// Multiplies what descriptors point at. A multiply is done when it is issued;
// who may see it when is for TensorPipeline and SharedMemory to say.
//
//===----------------------------------------------------------------------===//

#include "AsyncOperations.h"
#include "MemoryAccess.h"
#include "Tcgen05.h"
#include "TensorCoreArithmetic.h"

#include <cmath>

namespace tile::emulator {

using llvm::Expected;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

namespace {

/// A or B: `rows` of M or N, and of each all of K.
struct Multiplicand {
  unsigned rows = 0, k = 0;
  TensorFormat format = TensorFormat::F16;
  bool isNegated = false;
  std::vector<uint16_t> codes;    ///< [rows][k]
  std::vector<uint8_t> scales;    ///< [rows][blocks]
  std::vector<uint8_t> undefined; ///< Whether some bits are unwritten, by row.

  void resize() {
    codes.resize(rows * k);
    undefined.resize(rows);
  }
};

/// How elements lie in a chunk of 16 bytes: side by side from its start, where
/// those of fewer than 8 bits leave its end unused unless they are packed.
struct ChunkFormat {
  unsigned bits = 0, count = 0;

  ChunkFormat(TensorKind kind, TensorFormat format) {
    bits = getNumberFormat(format).bits;
    bool isPacked = kind == TensorKind::MXF4 || kind == TensorKind::MXF4NVF4;
    count = 8 * kChunkBytes / (isPacked ? bits : std::max(bits, 8u));
  }
  unsigned getBytes() const { return count * bits / 8; }
  uint16_t get(const uint8_t *bytes, unsigned i) const {
    unsigned first = i * bits;
    unsigned word = bytes[first / 8];
    if (first % 8 + bits > 8)
      word |= unsigned(bytes[first / 8 + 1]) << 8;
    return static_cast<uint16_t>(word >> first % 8 & ((1u << bits) - 1));
  }
};

SplitValue negate(SplitValue value) {
  value.significand = -value.significand;
  if (value.exponent == kInfinityExponent)
    value.exponent = kNegativeInfinityExponent;
  else if (value.exponent == kNegativeInfinityExponent)
    value.exponent = kInfinityExponent;
  return value;
}

/// One multiply of one thread.
class Multiply {
public:
  Multiply(const TensorUser &user, const TensorMultiply &data)
      : user(user), data(data), block(user.warp.getBlock()),
        shared(block.getShared()), memory(block.getState<TensorMemory>()) {}

  /// The values of the operands.
  uint32_t addressD = 0, addressA = 0, addressScaleA = 0, addressScaleB = 0;
  uint64_t descriptorA = 0, descriptorB = 0;
  uint32_t instructionDescriptor = 0;
  uint32_t disabled[4] = {};
  bool isInputEnabled = false;

  /// False after a fault.
  bool run();

private:
  bool illegal(const Twine &message) {
    return user.fault(Check::IllegalOperand, message);
  }
  bool readShared(uint64_t descriptor, bool isMNMajor, Multiplicand &matrix);
  bool readTensor(Multiplicand &matrix);
  bool readScales(uint32_t address, unsigned firstByte, StringRef name,
                  Multiplicand &matrix);
  bool noteAccumulators();
  /// The lane of row `m` of A and D.
  unsigned getLane(unsigned m) const {
    return shape.m == 128 ? m : m / 16 * 32 + m % 16 + halfLane;
  }

  template <typename T>
  void multiplyExactly(const Multiplicand &a, const Multiplicand &b);
  void multiplyAsHardware(const Multiplicand &a, const Multiplicand &b);
  /// The accumulator's bits, after scale-input-d.
  uint32_t getInput(unsigned m, unsigned n);
  double getInputValue(unsigned m, unsigned n);
  void setResult(unsigned m, unsigned n, uint32_t bits, bool isUndefined);

  const TensorUser &user;
  const TensorMultiply &data;
  Block &block;
  SharedMemory &shared;
  TensorMemory &memory;
  TensorShape shape;
  TensorAddress d = TensorAddress(0);
  unsigned halfLane = 0; ///< M = 64: 16 where the upper halves are used.
  SmallVector<uint32_t, 512> chunks;
  SharedMemory::Pending sharedRead = SharedMemory::kNotPending;
  SharedMemory::Pending tensorRead = SharedMemory::kNotPending;
  SharedMemory::Pending tensorWrite = SharedMemory::kNotPending;
};

} // namespace

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

bool Multiply::readShared(uint64_t descriptor, bool isMNMajor,
                          Multiplicand &matrix) {
  Expected<SharedMatrix> layout = SharedMatrix::decode(descriptor);
  if (!layout)
    return illegal("got " + llvm::toString(layout.takeError()));
  if (isMNMajor && layout->swizzle == SharedMatrix::Swizzle::Bytes128Atom32)
    return illegal("expects another swizzle than 128 bytes with atoms of 32 "
                   "bytes for a matrix that is major in M or N");
  ChunkFormat format(data.kind, matrix.format);
  // Along K, or along M or N; and how many lines of chunks.
  unsigned length = isMNMajor ? matrix.rows : matrix.k;
  unsigned lines = isMNMajor ? matrix.k : matrix.rows;
  unsigned perLine = length / format.count;
  chunks.clear();
  for (unsigned line = 0; line != lines; ++line)
    for (unsigned chunk = 0; chunk != perLine; ++chunk)
      chunks.push_back(isMNMajor ? layout->getMNMajor(line, chunk)
                                 : layout->getKMajor(line, chunk));
  SmallVector<uint32_t, 512> sorted = chunks;
  if (!noteMatrixReads(user, sorted, format.getBytes(), sharedRead))
    return false;
  matrix.resize();
  const uint32_t *chunk = chunks.data();
  for (unsigned line = 0; line != lines; ++line)
    for (unsigned first = 0; first != length; first += format.count, ++chunk) {
      const uint8_t *bytes = shared.getBytes() + *chunk;
      bool isUndefined =
          !areWritten(shared.getWritten() + *chunk, format.getBytes());
      for (unsigned i = 0; i != format.count; ++i) {
        unsigned row = isMNMajor ? first + i : line;
        unsigned k = isMNMajor ? line : first + i;
        matrix.codes[row * matrix.k + k] = format.get(bytes, i);
        matrix.undefined[row] |= isUndefined;
      }
    }
  return true;
}

bool Multiply::readTensor(Multiplicand &matrix) {
  TensorAddress a(addressA);
  if (a.lane != halfLane)
    return illegal("expects lane " + Twine(halfLane) +
                   ", as of D, in the address of A, but got " + Twine(a.lane));
  if (shape.isMMajor)
    return illegal("expects an A in tensor memory that is major in K");
  ChunkFormat format(data.kind, matrix.format);
  if (format.getBytes() != kChunkBytes)
    return illegal("expects another type: an A in tensor memory of fewer than "
                   "8 bits in bytes is not modelled");
  constexpr unsigned kColumns = kTensorStepBytes / 4;
  SharedMemory::TensorAccess access;
  access.use = SharedMemory::TensorAccess::Operand;
  for (unsigned lane = 0; lane != kTensorLanes; lane += kQuadrantLanes)
    if (!memory.note(user, /*isStore=*/false, access,
                     {lane + halfLane, a.column},
                     shape.m == 128 ? kAllLanes : 0xFFFF, kColumns, tensorRead))
      return false;
  matrix.resize();
  for (unsigned m = 0; m != shape.m; ++m) {
    uint8_t bytes[kTensorStepBytes];
    for (unsigned i = 0; i != kColumns; ++i) {
      std::memcpy(bytes + 4 * i, &memory.word(getLane(m), a.column + i), 4);
      matrix.undefined[m] |=
          memory.written(getLane(m), a.column + i) != ~uint32_t(0);
    }
    for (unsigned k = 0; k != matrix.k; ++k)
      matrix.codes[m * matrix.k + k] = format.get(bytes, k);
  }
  return true;
}

bool Multiply::readScales(uint32_t address, unsigned firstByte, StringRef name,
                          Multiplicand &matrix) {
  TensorAddress place(address);
  if (place.lane != 0)
    return illegal("expects lane 0 in the address of the scales of " + name +
                   ", but got " + Twine(place.lane));
  SharedMemory::TensorAccess access;
  access.use = SharedMemory::TensorAccess::Operand;
  unsigned whole = matrix.rows / kQuadrantLanes;
  unsigned rest = matrix.rows % kQuadrantLanes;
  for (unsigned lane = 0; lane != kTensorLanes; lane += kQuadrantLanes)
    if ((whole &&
         !memory.note(user, /*isStore=*/false, access, {lane, place.column},
                      kAllLanes, whole, tensorRead)) ||
        !memory.note(user, /*isStore=*/false, access,
                     {lane, place.column + whole}, (uint32_t(1) << rest) - 1, 1,
                     tensorRead))
      return false;
  unsigned blocks = shape.blocks;
  uint32_t mask = blocks == 4 ? ~uint32_t(0) : (uint32_t(1) << 8 * blocks) - 1;
  matrix.scales.resize(matrix.rows * blocks);
  for (unsigned row = 0; row != matrix.rows; ++row) {
    unsigned lane = row % kQuadrantLanes;
    unsigned column = place.column + row / kQuadrantLanes;
    uint32_t word = memory.word(lane, column) >> 8 * firstByte & mask;
    uint32_t written = mask;
    for (unsigned copy = lane; copy < kTensorLanes; copy += kQuadrantLanes)
      written &= memory.written(copy, column) >> 8 * firstByte;
    if (written != mask) {
      matrix.undefined[row] = 1;
    } else {
      for (unsigned copy = lane; copy < kTensorLanes; copy += kQuadrantLanes) {
        uint32_t other = memory.word(copy, column) >> 8 * firstByte & mask;
        if (other != word)
          return illegal("expects the scales of " + name +
                         " alike in the four quadrants of lanes, but column " +
                         Twine(column) + " has 0x" + Twine::utohexstr(word) +
                         " in lane " + Twine(lane) + " and 0x" +
                         Twine::utohexstr(other) + " in lane " + Twine(copy));
      }
    }
    for (unsigned i = 0; i != blocks; ++i)
      matrix.scales[row * blocks + i] = static_cast<uint8_t>(word >> 8 * i);
  }
  return true;
}

bool Multiply::noteAccumulators() {
  SharedMemory::TensorAccess access;
  access.use = SharedMemory::TensorAccess::Accumulate;
  // Not 0, and one number for each place and shape.
  access.accumulator =
      1u << 31 | d.column | d.lane << 9 | shape.n << 14 | shape.m << 23;
  for (unsigned lane = 0; lane != kTensorLanes; lane += kQuadrantLanes) {
    uint32_t mask = ~disabled[lane / kQuadrantLanes];
    if (shape.m == 64)
      mask = mask >> halfLane & 0xFFFF;
    if (!memory.note(user, /*isStore=*/true, access,
                     {lane + halfLane, d.column}, mask, shape.n, tensorWrite))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

double Multiply::getInputValue(unsigned m, unsigned n) {
  if (!isInputEnabled)
    return 0;
  uint32_t bits = memory.word(getLane(m), d.column + n);
  double value = shape.isHalfResult
                     ? decodeCode(TensorFormat::F16, bits & 0xFFFF)
                     : static_cast<double>(toFloat(bits));
  return std::ldexp(value, -static_cast<int>(data.inputScale));
}

uint32_t Multiply::getInput(unsigned m, unsigned n) {
  if (!isInputEnabled)
    return 0;
  uint32_t bits = memory.word(getLane(m), d.column + n);
  if (data.inputScale)
    return shape.isHalfResult ? roundToF16(getInputValue(m, n))
                              : roundToF32(getInputValue(m, n));
  return shape.isHalfResult ? bits & 0xFFFF : bits;
}

void Multiply::setResult(unsigned m, unsigned n, uint32_t bits,
                         bool isUndefined) {
  unsigned lane = getLane(m);
  if (disabled[lane / 32] >> lane % 32 & 1)
    return;
  // An element of 16 bits has a word for itself, whose upper half is nothing.
  uint32_t &written = memory.written(lane, d.column + n);
  uint32_t all = shape.isHalfResult ? 0xFFFF : ~uint32_t(0);
  isUndefined |= isInputEnabled && (written & all) != all;
  written = isUndefined ? 0 : all;
  memory.word(lane, d.column + n) = bits;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

template <typename T>
void Multiply::multiplyExactly(const Multiplicand &a, const Multiplicand &b) {
  auto decode = [](const Multiplicand &matrix, unsigned row, unsigned k) {
    double value = decodeCode(matrix.format, matrix.codes[row * matrix.k + k]);
    return static_cast<T>(matrix.isNegated ? -value : value);
  };
  std::vector<T> valuesA(shape.m * shape.k);
  for (unsigned m = 0; m != shape.m; ++m)
    for (unsigned k = 0; k != shape.k; ++k)
      valuesA[m * shape.k + k] = decode(a, m, k);
  std::vector<T> valuesB(shape.k * kPanelColumns);
  std::vector<double> scalesA(a.scales.size());
  std::vector<double> scalesB(shape.blocks * kPanelColumns);
  const double *table = getScaleTable(shape.isUE4M3).values;
  for (auto [i, byte] : llvm::enumerate(a.scales))
    scalesA[i] = table[byte];
  std::vector<double> accumulators(shape.m * kPanelColumns);
  for (unsigned n = 0; n != shape.n; n += kPanelColumns) {
    for (unsigned j = 0; j != kPanelColumns; ++j) {
      for (unsigned k = 0; k != shape.k; ++k)
        valuesB[k * kPanelColumns + j] = decode(b, n + j, k);
      for (unsigned i = 0; i != shape.blocks; ++i)
        scalesB[i * kPanelColumns + j] =
            table[b.scales[(n + j) * shape.blocks + i]];
      for (unsigned m = 0; m != shape.m; ++m)
        accumulators[m * kPanelColumns + j] = getInputValue(m, n + j);
    }
    ExactOperands<T> operands;
    operands.rows = shape.m;
    operands.k = shape.k;
    operands.a = valuesA.data();
    operands.b = valuesB.data();
    operands.blocks = shape.blocks;
    operands.scaleA = scalesA.data();
    operands.scaleB = scalesB.data();
    multiplyExact(operands, accumulators.data());
    for (unsigned m = 0; m != shape.m; ++m)
      for (unsigned j = 0; j != kPanelColumns; ++j) {
        double value = accumulators[m * kPanelColumns + j];
        setResult(m, n + j,
                  shape.isHalfResult ? roundToF16(value) : roundToF32(value),
                  a.undefined[m] || b.undefined[n + j]);
      }
  }
}

void Multiply::multiplyAsHardware(const Multiplicand &a,
                                  const Multiplicand &b) {
  const bool isFP4 =
      data.kind == TensorKind::MXF4 || data.kind == TensorKind::MXF4NVF4;
  // Without scales FP8 is as all narrow formats, unlike in mma.sync.
  TensorInput input = isFP4                           ? TensorInput::FP4
                      : data.kind != TensorKind::F16  ? TensorInput::Narrow
                      : a.format == TensorFormat::F16 ? TensorInput::F16
                                                      : TensorInput::BF16;
  TensorModel model = getTensorModel(block.getProgram().architecture, input);
  TensorResult result =
      shape.isHalfResult ? TensorResult::F16 : TensorResult::F32;
  auto decode = [](const Multiplicand &matrix, unsigned row, unsigned k) {
    SplitValue value =
        splitCode(matrix.format, matrix.codes[row * matrix.k + k]);
    return matrix.isNegated ? negate(value) : value;
  };
  const SplitScale *table = getScaleTable(shape.isUE4M3).splits;
  const unsigned blocks = shape.blocks;

  // A, as whichever of the two functions wants it.
  std::vector<float> floatsA;
  std::vector<int32_t> significandsA, exponentsA;
  std::vector<SplitScale> scalesA(a.scales.size());
  std::vector<int32_t> scaleExponentsA(a.scales.size());
  for (auto [i, byte] : llvm::enumerate(a.scales)) {
    scalesA[i] = table[byte];
    scaleExponentsA[i] = table[byte].exponent;
  }
  for (unsigned m = 0; m != shape.m; ++m)
    for (unsigned k = 0; k != shape.k; ++k) {
      if (isFP4) {
        float value =
            static_cast<float>(decodeCode(a.format, a.codes[m * a.k + k]));
        floatsA.push_back(a.isNegated ? -value : value);
        continue;
      }
      SplitValue value = decode(a, m, k);
      significandsA.push_back(value.significand);
      exponentsA.push_back(value.exponent);
    }

  std::vector<float> floatsB(shape.k * kPanelColumns);
  std::vector<int32_t> significandsB(shape.k * kPanelColumns),
      exponentsB(shape.k * kPanelColumns);
  std::vector<SplitScale> scalesB(blocks * kPanelColumns);
  std::vector<int32_t> scaleExponentsB(blocks * kPanelColumns);
  std::vector<uint32_t> accumulators(shape.m * kPanelColumns);
  for (unsigned n = 0; n != shape.n; n += kPanelColumns) {
    for (unsigned j = 0; j != kPanelColumns; ++j) {
      for (unsigned k = 0; k != shape.k; ++k) {
        unsigned at = k * kPanelColumns + j;
        if (isFP4) {
          float value = static_cast<float>(
              decodeCode(b.format, b.codes[(n + j) * b.k + k]));
          floatsB[at] = b.isNegated ? -value : value;
          continue;
        }
        SplitValue value = decode(b, n + j, k);
        significandsB[at] = value.significand;
        exponentsB[at] = value.exponent;
      }
      for (unsigned i = 0; i != blocks; ++i) {
        SplitScale scale = table[b.scales[(n + j) * blocks + i]];
        scalesB[i * kPanelColumns + j] = scale;
        scaleExponentsB[i * kPanelColumns + j] = scale.exponent;
      }
      for (unsigned m = 0; m != shape.m; ++m)
        accumulators[m * kPanelColumns + j] = getInput(m, n + j);
    }
    if (isFP4) {
      constexpr unsigned kRows = 16;
      for (unsigned m = 0; m != shape.m; m += kRows) {
        GroupOperands groups;
        groups.rows = kRows;
        groups.k = shape.k;
        groups.a = floatsA.data() + m * shape.k;
        groups.b = floatsB.data();
        groups.blocks = blocks;
        groups.scaleA = scalesA.data() + m * blocks;
        groups.scaleB = scalesB.data();
        multiplyGroupSums(groups, model,
                          accumulators.data() + m * kPanelColumns);
      }
    } else {
      SplitOperands split;
      split.rows = shape.m;
      split.k = shape.k;
      split.significandsA = significandsA.data();
      split.exponentsA = exponentsA.data();
      split.significandsB = significandsB.data();
      split.exponentsB = exponentsB.data();
      split.mantissaBits = getNumberFormat(a.format).mantissaBits +
                           getNumberFormat(b.format).mantissaBits;
      if (blocks) {
        split.scaleExponentsA = scaleExponentsA.data();
        split.scaleExponentsB = scaleExponentsB.data();
      }
      multiplyFused(split, model, result, accumulators.data());
    }
    for (unsigned m = 0; m != shape.m; ++m)
      for (unsigned j = 0; j != kPanelColumns; ++j)
        setResult(m, n + j, accumulators[m * kPanelColumns + j],
                  a.undefined[m] || b.undefined[n + j]);
  }
}

bool Multiply::run() {
  Expected<TensorShape> decoded =
      decodeTensorShape(data.kind, data.block, instructionDescriptor);
  if (!decoded)
    return illegal("got " + llvm::toString(decoded.takeError()));
  shape = *decoded;
  d = TensorAddress(addressD);
  if (d.lane != 0 && !(shape.m == 64 && d.lane == 16))
    return illegal("expects lane 0" + Twine(shape.m == 64 ? " or 16" : "") +
                   " in the address of D with M = " + Twine(shape.m) +
                   ", but got " + Twine(d.lane));
  halfLane = d.lane;

  Multiplicand a, b;
  a.rows = shape.m;
  b.rows = shape.n;
  a.k = b.k = shape.k;
  a.format = shape.formatA;
  b.format = shape.formatB;
  a.isNegated = shape.negateA;
  b.isNegated = shape.negateB;
  if (!(data.isAInTensor ? readTensor(a)
                         : readShared(descriptorA, shape.isMMajor, a)) ||
      !readShared(descriptorB, shape.isNMajor, b))
    return false;
  if (shape.blocks && (!readScales(addressScaleA, shape.scaleA, "A", a) ||
                       !readScales(addressScaleB, shape.scaleB, "B", b)))
    return false;
  if (!noteAccumulators())
    return false;

  auto isNarrow = [](TensorFormat format) {
    return format == TensorFormat::E2M1 || format == TensorFormat::E2M3 ||
           format == TensorFormat::E3M2;
  };
  if (block.getLaunch().options->accumulate == Accumulate::Hardware)
    multiplyAsHardware(a, b);
  else if (isNarrow(a.format) && isNarrow(b.format))
    // Sums of products of at most 6 bits are exact in f32.
    multiplyExactly<float>(a, b);
  else
    multiplyExactly<double>(a, b);

  SmallVector<SharedMemory::Pending, 3> accesses;
  for (SharedMemory::Pending access : {sharedRead, tensorRead, tensorWrite})
    if (access != SharedMemory::kNotPending)
      accesses.push_back(access);
  block.getState<AsyncOperations>().getTensorPipeline().begin(
      user.warp, user.lane, accesses);
  return true;
}

//===----------------------------------------------------------------------===//
// The instruction
//===----------------------------------------------------------------------===//

void executeTensorMultiply(const Instruction &instruction, Lanes &lanes) {
  const auto &data = *static_cast<const TensorMultiply *>(instruction.data);
  Warp &warp = *lanes.warp;
  auto isDefined = [&](Slot slot, StringRef what) {
    return slot == kNoSlot || warp.checkDefined(instruction, lanes, slot, what);
  };
  uint64_t d[kLanes], a[kLanes] = {}, scaleA[kLanes] = {}, scaleB[kLanes] = {};
  if (!isDefined(data.descriptorA, "the descriptor of A") ||
      !isDefined(data.descriptorB, "the descriptor of B") ||
      !isDefined(data.shape, "an instruction descriptor") ||
      !isDefined(data.enableInput, "the predicate of the input") ||
      !llvm::all_of(
          data.disabled,
          [&](Slot slot) { return isDefined(slot, "a mask of lanes"); }) ||
      !evaluate(instruction, lanes, data.d, d) ||
      (data.isAInTensor && !evaluate(instruction, lanes, data.a, a)) ||
      (data.block && (!evaluate(instruction, lanes, data.scaleA, scaleA) ||
                      !evaluate(instruction, lanes, data.scaleB, scaleB))))
    return;
  for (uint32_t rest = lanes.active; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    TensorUser user = {instruction, warp, lane, "tcgen05.mma"};
    Multiply multiply(user, data);
    multiply.addressD = static_cast<uint32_t>(d[lane]);
    multiply.addressA = static_cast<uint32_t>(a[lane]);
    multiply.addressScaleA = static_cast<uint32_t>(scaleA[lane]);
    multiply.addressScaleB = static_cast<uint32_t>(scaleB[lane]);
    if (!data.isAInTensor)
      multiply.descriptorA = lanes.read<uint64_t>(data.descriptorA)[lane];
    multiply.descriptorB = lanes.read<uint64_t>(data.descriptorB)[lane];
    multiply.instructionDescriptor = lanes.read<uint32_t>(data.shape)[lane];
    for (auto [i, slot] : llvm::enumerate(data.disabled))
      multiply.disabled[i] = lanes.read<uint32_t>(slot)[lane];
    multiply.isInputEnabled = lanes.mask(data.enableInput) >> lane & 1;
    if (!multiply.run())
      return;
  }
}

} // namespace tile::emulator
