//===- WarpOperations.cpp - Intrinsics that a warp does together ----------===//
//
// Fragment and scale positions from the PTX ISA, "Matrix Fragments for
// mma.m16n8k16/k32/k64", "Block Scaling for mma.sync" and "ldmatrix". All dense
// shapes here have 32 bytes of K per row, so one rule covers them. With lane
// L, g = L / 4, t = L % 4:
//
//   A, register r: row g + 8 (r % 2), bytes 16 (r / 2) + 4t … + 3
//   B, register r: column g,          bytes 16 r + 4t … + 3
//   C and D, register i: row g + 8 (i / 2), column 2t + i % 2
//
//===----------------------------------------------------------------------===//

#include "Codes.h"
#include "Machine.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <cstring>

using namespace tile;
using namespace tile::lane;
using llvm::createStringError;
using llvm::Error;
using llvm::formatv;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

namespace {
/// One `mma.sync` with an f32 accumulator.
struct Mma {
  unsigned k = 0;
  Code a = Code::BF16;
  Code b = Code::BF16;
  /// FP8, FP6 and FP4 values in bytes of their own (`kind::f8f6f4`,
  /// `kind::mxf8f6f4`) instead of packed.
  bool hasContainers = false;
  unsigned scalesPerRow = 0; ///< 0: no block scales.
  Code scale = Code::UE8M0;

  Error run(WarpCall &call) const;
  Error decodeRow(const uint8_t *bytes, Code code, const char *operand,
                  unsigned row, double *values) const;
  Error decodeScales(WarpCall &call, bool isA, double (*scales)[4]) const;
};
} // namespace

Error Mma::decodeRow(const uint8_t *bytes, Code code, const char *operand,
                     unsigned row, double *values) const {
  for (unsigned i = 0; i < k; ++i) {
    switch (code) {
    case Code::F16:
    case Code::BF16:
      values[i] = decode(code, bytes[2 * i] | bytes[2 * i + 1] << 8);
      break;
    case Code::E2M1:
      if (!hasContainers) {
        values[i] = decode(code, bytes[i / 2] >> 4 * (i % 2) & 0xF);
        break;
      }
      // The code sits in bits 5 to 2; what the others do is not defined.
      if (bytes[i] & 0xC3)
        return createStringError(
            formatv("byte {0:x2} of {1} row {2}, k {3} is no e2m1 container: "
                    "bits outside 5 to 2 are set",
                    bytes[i], operand, row, i)
                .str());
      values[i] = decode(code, bytes[i] >> 2);
      break;
    default:
      values[i] = decode(code, bytes[i]);
      break;
    }
  }
  return Error::success();
}

Error Mma::decodeScales(WarpCall &call, bool isA, double (*scales)[4]) const {
  // Arguments: 4 of A, 2 of B, 4 of C, then data, byte-id and thread-id of A
  // and of B.
  unsigned first = isA ? 10 : 13;
  const char *operand = isA ? "scale-a" : "scale-b";
  unsigned byteId = call.getArg(0, first + 1) & 0xFFFF;
  unsigned threadId = call.getArg(0, first + 2) & 0xFFFF;
  for (unsigned lane = 1; lane < 32; ++lane)
    if ((call.getArg(lane, first + 1) & 0xFFFF) != byteId ||
        (call.getArg(lane, first + 2) & 0xFFFF) != threadId)
      return createStringError("selectors of %s differ between lanes 0 and %u",
                               operand, lane);
  // 1X takes any byte, 2X an aligned pair, 4X the whole word.
  if (byteId >= 4 || byteId % scalesPerRow != 0)
    return createStringError("byte-id %u of %s with scale_vec::%uX", byteId,
                             operand, scalesPerRow);
  if (threadId >= (isA ? 2u : 4u))
    return createStringError("thread-id %u of %s", threadId, operand);
  for (unsigned row = 0; row < (isA ? 16u : 8u); ++row) {
    unsigned lane =
        isA ? 4 * (row & 7) + 2 * threadId + (row >> 3) : 4 * row + threadId;
    uint32_t word = call.getArg(lane, first);
    for (unsigned j = 0; j < scalesPerRow; ++j)
      scales[row][j] = decode(scale, word >> 8 * (byteId + j) & 0xFF);
  }
  return Error::success();
}

/// The bits of an f32 result; every NaN is the canonical one.
static uint32_t encodeF32(float value) {
  return std::isnan(value) ? 0x7FFFFFFF : llvm::bit_cast<uint32_t>(value);
}

Error Mma::run(WarpCall &call) const {
  uint8_t aBytes[16][32], bBytes[8][32];
  double c[16][8];
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned g = lane / 4, t = lane % 4;
    for (unsigned r = 0; r < 4; ++r) {
      uint32_t word = call.getArg(lane, r);
      for (unsigned byte = 0; byte < 4; ++byte)
        aBytes[g + 8 * (r % 2)][16 * (r / 2) + 4 * t + byte] =
            word >> 8 * byte & 0xFF;
    }
    for (unsigned r = 0; r < 2; ++r) {
      uint32_t word = call.getArg(lane, 4 + r);
      for (unsigned byte = 0; byte < 4; ++byte)
        bBytes[g][16 * r + 4 * t + byte] = word >> 8 * byte & 0xFF;
    }
    for (unsigned i = 0; i < 4; ++i)
      c[g + 8 * (i / 2)][2 * t + i % 2] =
          llvm::bit_cast<float>(uint32_t(call.getArg(lane, 6 + i)));
  }

  double aValues[16][64], bValues[8][64];
  for (unsigned m = 0; m < 16; ++m)
    if (Error error = decodeRow(aBytes[m], a, "A", m, aValues[m]))
      return error;
  for (unsigned n = 0; n < 8; ++n)
    if (Error error = decodeRow(bBytes[n], b, "B", n, bValues[n]))
      return error;
  double bColumns[64][8];
  for (unsigned n = 0; n < 8; ++n)
    for (unsigned i = 0; i < k; ++i)
      bColumns[i][n] = bValues[n][i];
  double aScales[16][4], bScales[8][4];
  if (scalesPerRow) {
    if (Error error = decodeScales(call, /*isA=*/true, aScales))
      return error;
    if (Error error = decodeScales(call, /*isA=*/false, bScales))
      return error;
  }

  unsigned numGroups = scalesPerRow ? scalesPerRow : 1;
  unsigned groupSize = k / numGroups;
  uint32_t d[16][8];
  for (unsigned m = 0; m < 16; ++m) {
    // The columns run innermost so that the compiler can take two at a time.
    double sums[8];
    std::copy_n(c[m], 8, sums);
    for (unsigned group = 0; group < numGroups; ++group) {
      double dots[8] = {};
      for (unsigned i = group * groupSize; i < (group + 1) * groupSize; ++i)
        for (unsigned n = 0; n < 8; ++n)
          dots[n] += aValues[m][i] * bColumns[i][n];
      // A scale of NaN makes the sum NaN over zero data too: 0 * NaN is NaN.
      for (unsigned n = 0; n < 8; ++n)
        sums[n] += scalesPerRow
                       ? dots[n] * (aScales[m][group] * bScales[n][group])
                       : dots[n];
    }
    for (unsigned n = 0; n < 8; ++n)
      d[m][n] = encodeF32(float(sums[n]));
  }
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i)
      call.setResult(lane, i,
                     d[lane / 4 + 8 * (i / 2)][2 * (lane % 4) + i % 2]);
  return Error::success();
}

static std::optional<Mma> parseMma(StringRef name) {
  Mma mma;
  auto takeTypes = [&](StringRef a, StringRef b) {
    std::optional<Code> codeA = findCode(a), codeB = findCode(b);
    auto isByte = [](std::optional<Code> code) {
      return code == Code::E2M1 || code == Code::E4M3 || code == Code::E5M2;
    };
    if (!isByte(codeA) || !isByte(codeB))
      return false;
    mma.a = *codeA;
    mma.b = *codeB;
    return true;
  };
  llvm::SmallVector<StringRef, 12> words;

  if (name.consume_front("block.scale.")) {
    // m16n8k64.row.col.mxf4nvf4.scale.4x.f32.e2m1.e2m1.f32.ue4m3
    name.split(words, '.');
    StringRef kind = words.size() > 3 ? words[3] : "";
    StringRef vec;
    if (words.size() > 5 && words[4] == "scale") {
      vec = words[5];
      words.erase(words.begin() + 4, words.begin() + 6);
    }
    if (words.size() != 9 || words[1] != "row" || words[2] != "col" ||
        words[4] != "f32" || words[7] != "f32" ||
        !takeTypes(words[5], words[6]))
      return std::nullopt;
    mma.hasContainers = kind == "mxf8f6f4";
    mma.k = mma.hasContainers ? 32 : 64;
    if (words[0] != (mma.hasContainers ? "m16n8k32" : "m16n8k64"))
      return std::nullopt;
    if (vec.empty())
      vec = kind == "mxf8f6f4" ? "1x" : kind == "mxf4" ? "2x" : "";
    std::string form = (kind + "." + vec + "." + words[8]).str();
    mma.scalesPerRow = llvm::StringSwitch<unsigned>(form)
                           .Case("mxf8f6f4.1x.ue8m0", 1)
                           .Case("mxf4.2x.ue8m0", 2)
                           .Case("mxf4nvf4.2x.ue8m0", 2)
                           .Case("mxf4nvf4.4x.ue4m3", 4)
                           .Default(0);
    if (!mma.scalesPerRow)
      return std::nullopt;
    mma.scale = *findCode(words[8]);
    bool isPacked = mma.a == Code::E2M1 && mma.b == Code::E2M1;
    return mma.hasContainers || isPacked ? std::optional(mma) : std::nullopt;
  }

  if (name == "m16n8k16.row.col.bf16" || name == "m16n8k16.row.col.f32.f32") {
    mma.k = 16;
    mma.a = mma.b = name.ends_with("bf16") ? Code::BF16 : Code::F16;
    return mma;
  }
  if (!name.consume_front("m16n8k32.row.col."))
    return std::nullopt;
  bool hasKind = name.consume_front("kind.f8f6f4.");
  name.split(words, '.');
  if (words.size() != 4 || words[0] != "f32" || words[3] != "f32" ||
      !takeTypes(words[1], words[2]))
    return std::nullopt;
  mma.k = 32;
  mma.hasContainers = true;
  // Without a kind only the 8-bit formats exist.
  bool hasFp4 = mma.a == Code::E2M1 || mma.b == Code::E2M1;
  return hasKind || !hasFp4 ? std::optional(mma) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Shuffles, votes, reductions
//===----------------------------------------------------------------------===//

/// shfl.sync.{idx,bfly,up,down}.{i32,f32}[p]: mask, value, b, c.
static std::optional<Operation> findShuffle(StringRef name) {
  auto [modeName, type] = name.split('.');
  bool hasPredicate = type.consume_back("p");
  if (type != "i32" && type != "f32")
    return std::nullopt;
  enum Mode { Idx, Bfly, Up, Down };
  std::optional<Mode> mode = llvm::StringSwitch<std::optional<Mode>>(modeName)
                                 .Case("idx", Idx)
                                 .Case("bfly", Bfly)
                                 .Case("up", Up)
                                 .Case("down", Down)
                                 .Default(std::nullopt);
  if (!mode)
    return std::nullopt;
  Operation operation;
  operation.kind = Operation::Kind::Warp;
  operation.maskArg = 0;
  operation.warpFunction = [=, mode = *mode](WarpCall &call) -> Error {
    for (int lane = 0; lane < 32; ++lane) {
      if (!call.has(lane))
        continue;
      int b = call.getArg(lane, 2) & 31;
      int clamp = call.getArg(lane, 3) & 31;
      int segment = call.getArg(lane, 3) >> 8 & 31;
      int maxLane = (lane & segment) | (clamp & ~segment);
      int source = mode == Idx    ? (lane & segment) | (b & ~segment)
                   : mode == Bfly ? lane ^ b
                   : mode == Up   ? lane - b
                                  : lane + b;
      bool isInside = mode == Up ? source >= maxLane : source <= maxLane;
      if (!isInside)
        source = lane;
      if (!call.has(source))
        return createStringError("lane %d reads lane %d, which takes no part",
                                 lane, source);
      call.setResult(lane, 0, call.getArg(source, 1));
      if (hasPredicate)
        call.setResult(lane, 1, isInside);
    }
    return Error::success();
  };
  return operation;
}

/// vote.{all,any,uni,ballot}.sync: mask, predicate.
static std::optional<Operation> findVote(StringRef name) {
  if (name != "all" && name != "any" && name != "uni" && name != "ballot")
    return std::nullopt;
  Operation operation;
  operation.kind = Operation::Kind::Warp;
  operation.maskArg = 0;
  operation.warpFunction = [name = name.str()](WarpCall &call) -> Error {
    uint32_t ballot = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
      if (call.has(lane) && (call.getArg(lane, 1) & 1))
        ballot |= 1u << lane;
    bool all = ballot == call.members, any = ballot != 0;
    uint32_t result = name == "all"   ? all
                      : name == "any" ? any
                      : name == "uni" ? all || !any
                                      : ballot;
    for (unsigned lane = 0; lane < 32; ++lane)
      if (call.has(lane))
        call.setResult(lane, 0, result);
    return Error::success();
  };
  return operation;
}

/// redux.sync.{add,and,or,xor,min,max,umin,umax}: value, mask.
static std::optional<Operation> findRedux(StringRef name) {
  using Combine = uint32_t (*)(uint32_t, uint32_t);
  Combine combine =
      llvm::StringSwitch<Combine>(name)
          .Case("add", [](uint32_t x, uint32_t y) { return x + y; })
          .Case("and", [](uint32_t x, uint32_t y) { return x & y; })
          .Case("or", [](uint32_t x, uint32_t y) { return x | y; })
          .Case("xor", [](uint32_t x, uint32_t y) { return x ^ y; })
          .Case("min",
                [](uint32_t x, uint32_t y) {
                  return uint32_t(std::min(int32_t(x), int32_t(y)));
                })
          .Case("max",
                [](uint32_t x, uint32_t y) {
                  return uint32_t(std::max(int32_t(x), int32_t(y)));
                })
          .Case("umin", [](uint32_t x, uint32_t y) { return std::min(x, y); })
          .Case("umax", [](uint32_t x, uint32_t y) { return std::max(x, y); })
          .Default(nullptr);
  if (!combine)
    return std::nullopt;
  Operation operation;
  operation.kind = Operation::Kind::Warp;
  operation.maskArg = 1;
  operation.warpFunction = [combine](WarpCall &call) -> Error {
    std::optional<uint32_t> result;
    for (unsigned lane = 0; lane < 32; ++lane)
      if (call.has(lane)) {
        uint32_t value = call.getArg(lane, 0);
        result = result ? combine(*result, value) : value;
      }
    for (unsigned lane = 0; lane < 32; ++lane)
      if (call.has(lane))
        call.setResult(lane, 0, *result);
    return Error::success();
  };
  return operation;
}

//===----------------------------------------------------------------------===//
// ldmatrix, stmatrix
//===----------------------------------------------------------------------===//

/// Whether each of the first lanes, which give them, has the address of a row
/// of 16 bytes in shared memory.
static Error checkRows(WarpCall &call, unsigned rows, bool isStore) {
  for (unsigned lane = 0; lane < rows; ++lane) {
    uint64_t address = call.getArg(lane, 0);
    if (!call.machine.isShared(address))
      return createStringError(
          formatv("address {0:x} of lane {1} is not in shared memory", address,
                  lane)
              .str());
    if (Error error = call.machine.checkBounds(*call.lanes[lane], address, 16,
                                               16, isStore))
      return error;
  }
  return Error::success();
}

/// ldmatrix.sync.aligned.m8n16.xN.b8x16.b4x16_p64.pS: the first eight bytes of
/// a row have 16 FP4 values, low nibbles first; each becomes the low bits of a
/// byte. A lane gets values 4t … 4t + 3 of row g of each matrix.
static std::optional<Operation> findExpandingLoad(StringRef name) {
  if (!name.consume_front("sync.aligned.m8n16.x"))
    return std::nullopt;
  unsigned count = 0;
  if (name.consumeInteger(10, count) ||
      (count != 1 && count != 2 && count != 4) ||
      (name != ".b8x16.b4x16_p64.p3" && name != ".b8x16.b4x16_p64.p0"))
    return std::nullopt;
  Operation operation;
  operation.kind = Operation::Kind::Warp;
  operation.warpFunction = [=](WarpCall &call) -> Error {
    if (Error error = checkRows(call, 8 * count, /*isStore=*/false))
      return error;
    for (unsigned matrix = 0; matrix < count; ++matrix)
      for (unsigned lane = 0; lane < 32; ++lane) {
        uint64_t address =
            call.getArg(8 * matrix + lane / 4, 0) + 2 * (lane % 4);
        if (Error error = call.machine.check(*call.lanes[lane], address, 2, 2,
                                             /*isStore=*/false))
          return error;
        uint32_t codes = *reinterpret_cast<uint16_t *>(address), word = 0;
        for (unsigned i = 0; i < 4; ++i)
          word |= (codes >> 4 * i & 0xF) << 8 * i;
        call.setResult(lane, matrix, word);
      }
    return Error::success();
  };
  return operation;
}

/// ldmatrix.sync.aligned.m8n8.xN[.trans].b16.pS and its inverse: lane 8i + j
/// names row j of matrix i. A lane touches the elements that it receives or
/// gives, not the row that it names.
static std::optional<Operation> findMatrixMove(StringRef name, bool isStore) {
  if (!name.consume_front("sync.aligned.m8n8.x"))
    return std::nullopt;
  unsigned count = 0;
  if (name.consumeInteger(10, count) ||
      (count != 1 && count != 2 && count != 4))
    return std::nullopt;
  bool isTransposed = name.consume_front(".trans");
  if (name != ".b16.p3" && name != ".b16.p0")
    return std::nullopt;
  Operation operation;
  operation.kind = Operation::Kind::Warp;
  operation.warpFunction = [=](WarpCall &call) -> Error {
    if (Error error = checkRows(call, 8 * count, isStore))
      return error;
    for (unsigned matrix = 0; matrix < count; ++matrix)
      for (unsigned lane = 0; lane < 32; ++lane) {
        uint32_t word = isStore ? call.getArg(lane, 1 + matrix) : 0;
        for (unsigned half = 0; half < 2; ++half) {
          unsigned row = lane / 4, column = 2 * (lane % 4) + half;
          if (isTransposed)
            std::swap(row, column);
          uint64_t address = call.getArg(8 * matrix + row, 0) + 2 * column;
          if (Error error =
                  call.machine.check(*call.lanes[lane], address, 2, 2, isStore))
            return error;
          auto *memory = reinterpret_cast<uint16_t *>(address);
          if (isStore)
            *memory = word >> 16 * half;
          else
            word |= uint32_t(*memory) << 16 * half;
        }
        if (!isStore)
          call.setResult(lane, matrix, word);
      }
    return Error::success();
  };
  return operation;
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

/// barrier.cta.{sync,arrive,red.OP}[.aligned].{all,count}
static std::optional<Operation> findBarrier(StringRef name) {
  Operation operation;
  operation.kind = Operation::Kind::Barrier;
  if (name.consume_front("red.popc."))
    operation.reduction = Operation::Reduction::Popc;
  else if (name.consume_front("red.and."))
    operation.reduction = Operation::Reduction::And;
  else if (name.consume_front("red.or."))
    operation.reduction = Operation::Reduction::Or;
  else if (name.consume_front("arrive."))
    operation.isArrive = true;
  else if (!name.consume_front("sync."))
    return std::nullopt;
  operation.isAligned = name.consume_front("aligned.");
  operation.hasCount = name == "count";
  if (!operation.hasCount && name != "all")
    return std::nullopt;
  return operation;
}

//===----------------------------------------------------------------------===//

std::optional<Operation> lane::findWarpOperation(StringRef name) {
  if (name.consume_front("mma.")) {
    std::optional<Mma> mma = parseMma(name);
    if (!mma)
      return std::nullopt;
    Operation operation;
    operation.kind = Operation::Kind::Warp;
    operation.warpFunction = [mma = *mma](WarpCall &call) {
      return mma.run(call);
    };
    return operation;
  }
  if (name.consume_front("shfl.sync."))
    return findShuffle(name);
  if (name.starts_with("vote.") && name.consume_back(".sync"))
    return findVote(name.drop_front(5));
  if (name.consume_front("redux.sync."))
    return findRedux(name);
  if (name.consume_front("ldmatrix.")) {
    if (std::optional<Operation> load = findExpandingLoad(name))
      return load;
    return findMatrixMove(name, /*isStore=*/false);
  }
  if (name.consume_front("stmatrix."))
    return findMatrixMove(name, /*isStore=*/true);
  if (name.consume_front("barrier.cta."))
    return findBarrier(name);
  if (name == "bar.warp.sync") {
    Operation operation;
    operation.kind = Operation::Kind::Warp;
    operation.maskArg = 0;
    operation.warpFunction = [](WarpCall &) { return Error::success(); };
    return operation;
  }
  return std::nullopt;
}
