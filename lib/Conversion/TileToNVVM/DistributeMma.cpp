//===- DistributeMma.cpp - Multiplies to tensor-core instructions ---------===//
//
// Emits the instructions of one planned multiply. Which word of which operand
// an instruction takes is read off the plan's layouts: the fragment says which
// element stands in a register of lane 0, the operand's layout says which
// register of the thread holds it, and all other lanes follow because both are
// the same in the lane bits.
//
// Tiles smaller than the instruction: missing rows and columns are copies of
// others (their results are copies too, and nobody stores them); missing values
// of K are zero in both operands, and so are their scales.
//
//===----------------------------------------------------------------------===//

#include "Distributor.h"
#include "FormatConversion.h"

using namespace mlir;
using namespace tile;

namespace {

/// Finds registers of a distributed operand by coordinate, for lane 0 and
/// warp 0.
class RegisterMap {
public:
  explicit RegisterMap(const LinearLayout &layout)
      : tile(layout.getCodomain()) {
    unsigned count = 1u << layout.getDomain().bitsOf("register");
    for (unsigned r = 0; r < count; ++r)
      registers.try_emplace(layout(r), r);
    rank = tile.getAxes().size();
  }

  /// The register of element (row, column) of matrix `batch`. Coordinates
  /// beyond the tile wrap: they are copies.
  unsigned find(unsigned batch, unsigned row, unsigned column) const {
    uint32_t packed = 0;
    unsigned shift = 0;
    auto put = [&](unsigned coordinate, unsigned dim) {
      unsigned bits = tile.bitsOf("d" + std::to_string(dim));
      packed |= (coordinate & ((1u << bits) - 1)) << shift;
      shift += bits;
    };
    put(column, rank - 1);
    put(row, rank - 2);
    if (rank == 3)
      put(batch, 0);
    auto found = registers.find(packed);
    assert(found != registers.end() && "the plan's layout holds its elements");
    return found->second;
  }

private:
  Space tile;
  unsigned rank;
  DenseMap<uint32_t, unsigned> registers;
};

/// One operand (lhs or rhs) of a multiply in one thread.
struct Operand {
  const Fragment *values, *scales = nullptr;
  ElementFormat format;
  std::optional<ElementFormat> scaleFormat;
  const LinearLayout *window;
  unsigned containerBits;
  bool isLhs;
  RegisterMap map, scaleMap;
};

/// Emits one planned multiply.
class MmaEmitter {
public:
  MmaEmitter(Emitter &emit, const MmaPlan &plan, const DecodeOptions &decode,
             Value lane)
      : emit(emit), plan(plan), atom(*plan.atom), decode(decode), lane(lane) {}

  void run(const Operand &lhs, const Operand &rhs, const RegisterMap &accMap,
           SmallVectorImpl<Value> &acc);

private:
  /// The 32-bit registers of one instruction of a window.
  using Words = SmallVector<Value, 4>;
  /// The scales of one operand of an instruction; without a word for an
  /// instruction without scales.
  struct NativeScale {
    Value word;
    unsigned byte = 0, thread = 0; ///< Selectors: of bytes and of lanes.
  };
  /// All instructions of one window: `atomsPerWindow` sets of words.
  using WindowWords = SmallVector<Words, 2>;

  void chooseOrder(const Operand &lhs, const Operand &rhs);
  unsigned getFreeExtent(const Operand &operand) const {
    return operand.isLhs ? atom.m : atom.n;
  }
  /// Position of register `r` of the window's fragment: (free, k).
  std::pair<unsigned, unsigned> getPosition(const Operand &operand,
                                            unsigned r) const {
    const Space &tile = operand.window->getCodomain();
    uint32_t image = (*operand.window)(r);
    unsigned row = tile.coordinate(image, "d0");
    unsigned column = tile.coordinate(image, "d1");
    return operand.isLhs ? std::make_pair(row, column)
                         : std::make_pair(column, row);
  }
  unsigned find(const Operand &operand, const RegisterMap &map, unsigned batch,
                unsigned free, unsigned k) const {
    return operand.isLhs ? map.find(batch, free, k) : map.find(batch, k, free);
  }

  Value zeroBeyondK(Value word);
  Value keepGroup(Value word, unsigned pass);
  WindowWords decodeWindow(const Operand &operand, unsigned batch,
                           unsigned free, unsigned k);
  WindowWords nativeWindow(const Operand &operand, unsigned batch,
                           unsigned free, unsigned k);
  WindowWords makeWindow(const Operand &operand, unsigned batch, unsigned free,
                         unsigned k) {
    return atom.lhsContainerBits == 16 ? decodeWindow(operand, batch, free, k)
                                       : nativeWindow(operand, batch, free, k);
  }
  NativeScale nativeScale(const Operand &operand, unsigned batch, unsigned free,
                          unsigned k, unsigned pass);
  Value operandScale(const Operand &operand, unsigned batch, unsigned free,
                     unsigned k);
  /// Whether the sum's exponent makes up for that of decoded values.
  bool keepsBias(const Operand &operand) const {
    return plan.exponent && operand.scales &&
           !isUndoneShorter(operand.format, atom.lhsFormat, decode);
  }
  Value sumScale(const Operand &operand, unsigned batch, unsigned free,
                 unsigned k);
  SmallVector<Value, 4> issue(ArrayRef<Value> a, ArrayRef<Value> b,
                              ArrayRef<Value> c, const NativeScale &scaleA,
                              const NativeScale &scaleB);
  Value extractResult(Value result, unsigned index) {
    return LLVM::ExtractValueOp::create(emit.builder, emit.loc, result, index);
  }

  Emitter &emit;
  const MmaPlan &plan;
  const MmaAtom &atom;
  const DecodeOptions &decode;
  Value lane;
  /// Which values the pairs of both operands hold. Which of them a register
  /// gets is up to the plan's order, the same for both.
  PairOrder order = PairOrder::Natural;
  /// Decoded scales, by operand (whether lhs) and register.
  DenseMap<std::pair<unsigned, unsigned>, Value> scales;
  Value beyondK; ///< Whether this lane's values of K are beyond the tile.
};

} // namespace

//===----------------------------------------------------------------------===//
// Operand words
//===----------------------------------------------------------------------===//

/// A tile of fewer values than a window leaves some lanes without any.
Value MmaEmitter::zeroBeyondK(Value word) {
  if (plan.k >= plan.window)
    return word;
  unsigned beyond = 0; // bits of the lane that move beyond
  for (auto [bit, column] : llvm::enumerate(plan.lhsWindow.getColumns("lane")))
    if (plan.lhsWindow.getCodomain().coordinate(column, "d1") >= plan.k)
      beyond |= 1u << bit;
  if (!beyond)
    return word;
  if (!beyondK) {
    Value bits = emit.bitAnd(lane, beyond);
    beyondK = emit.compare(arith::CmpIPredicate::ne, bits, emit.i32(0));
  }
  return emit.select(beyondK, emit.i32(0), word);
}

/// Zero unless the lane's values belong to the 16-group `pass` of their 32.
Value MmaEmitter::keepGroup(Value word, unsigned pass) {
  Value group = emit.bitAnd(lane, 2); // t = 2, 3: the upper 16 of each 32
  Value keeps =
      emit.compare(arith::CmpIPredicate::eq, group, emit.i32(2 * pass));
  return emit.select(keeps, word, emit.i32(0));
}

/// A scale in both halves of a register, with what the sum's exponent leaves to
/// it of the operand's. Two are decoded at once, those of the bytes 0 and 2 or
/// 1 and 3 of a word.
Value MmaEmitter::operandScale(const Operand &operand, unsigned batch,
                               unsigned free, unsigned k) {
  unsigned r = find(operand, operand.scaleMap, batch, free, k / plan.blockSize);
  const unsigned count = operand.scales->numRegisters(), wanted = r;
  if (!scales.contains({operand.isLhs, r})) {
    bool wantsNeighbours =
        convertsScales(*operand.scaleFormat, atom.lhsFormat, decode);
    unsigned other = count == 1                      ? r
                     : count == 2 || wantsNeighbours ? r ^ 1
                                                     : r ^ 2;
    // The lower register first, which is decoded from the lower byte.
    if (other < r)
      std::swap(r, other);
    int exponent = 0;
    if (plan.exponent)
      exponent = kDecodedExponent;
    if (keepsBias(operand))
      exponent -= getKeptBias(operand.format, atom.lhsFormat);
    auto code = [&](unsigned index) {
      return ScaleCode{operand.scales->values[index / 4], index % 4};
    };
    auto [first, second] =
        decodeScalePairs(emit, *operand.scaleFormat, code(r), code(other),
                         atom.lhsFormat, exponent, decode);
    scales[{operand.isLhs, other}] = second;
    scales[{operand.isLhs, r}] = first;
  }
  return scales.lookup({operand.isLhs, wanted});
}

void MmaEmitter::chooseOrder(const Operand &lhs, const Operand &rhs) {
  order = plan.order;
  if (atom.lhsContainerBits != 16)
    return;
  bool isLhs = lhs.format == ElementFormat::F4E2M1FN;
  if (!isLhs && rhs.format != ElementFormat::F4E2M1FN)
    return;
  const Operand &fp4 = isLhs ? lhs : rhs, &other = isLhs ? rhs : lhs;
  order =
      choosePairOrder(fp4.values->values.size(), other.values->values.size(),
                      other.format, atom.lhsFormat, decode);
}

/// The words of 16-bit instructions: decoded, and scaled where scales are
/// multiplied into operands.
MmaEmitter::WindowWords MmaEmitter::decodeWindow(const Operand &operand,
                                                 unsigned batch, unsigned free,
                                                 unsigned k) {
  ElementFormat multiplicand = atom.lhsFormat;
  unsigned bits = getFormatInfo(operand.format).bits;
  unsigned perWord = 32 / bits;
  const SmallVector<uint32_t, 8> laneK = plan.getLaneK();
  // The four pair registers of each row of the fragment, made on first use.
  DenseMap<unsigned, std::array<Value, 4>> rows;
  auto getRow = [&](unsigned row) -> std::array<Value, 4> & {
    auto [entry, inserted] = rows.try_emplace(row);
    if (!inserted)
      return entry->second;
    SmallVector<Value, 4> words;
    for (unsigned i = 0; i < laneK.size(); i += perWord) {
      if (laneK[i] >= plan.k) {
        words.push_back(emit.i32(0));
        continue;
      }
      unsigned r = find(operand, operand.map, batch, free + row, k + laneK[i]);
      Value word = operand.values->values[r / perWord];
      if (plan.k < perWord) {
        // A word that is not full of this row's values: take out what is.
        word = emit.lshr(word, r % perWord * bits);
        word = emit.bitAnd(word, (1u << plan.k * bits) - 1);
      }
      words.push_back(word);
    }
    std::array<Value, 4> pairs =
        decodeToPairs(emit, operand.format, words, multiplicand, order,
                      keepsBias(operand) ? Bias::Kept : Bias::Undone, decode);
    if (plan.method == ScaleMethod::Operands && operand.scales) {
      Value scale = operandScale(operand, batch, free + row, k);
      for (Value &pair : pairs)
        pair = multiplyPairs(emit, multiplicand, pair, scale);
    }
    for (Value &pair : pairs)
      pair = zeroBeyondK(pair);
    return entry->second = pairs;
  };

  WindowWords window(plan.atomsPerWindow());
  unsigned registers = 1u << operand.window->getDomain().bitsOf("register");
  unsigned perAtom = registers / plan.atomsPerWindow();
  for (unsigned r = 0; r < registers; r += 2) {
    auto [row, inner] = getPosition(operand, r);
    auto index =
        static_cast<unsigned>(llvm::find(laneK, inner) - laneK.begin());
    unsigned pair =
        plan.order == PairOrder::Interleaved ? index & 3 : index >> 1;
    window[r / perAtom].push_back(getRow(row)[pair]);
  }
  return window;
}

/// The words of FP8 and FP4 instructions: as stored, or FP4 in containers.
MmaEmitter::WindowWords MmaEmitter::nativeWindow(const Operand &operand,
                                                 unsigned batch, unsigned free,
                                                 unsigned k) {
  unsigned bits = getFormatInfo(operand.format).bits;
  unsigned perWord = 32 / bits, perRegister = 32 / operand.containerBits;
  unsigned registers = 1u << operand.window->getDomain().bitsOf("register");
  Words words;
  for (unsigned first = 0; first < registers; first += perRegister) {
    auto [row, inner] = getPosition(operand, first);
    if (inner >= plan.k) {
      words.push_back(emit.i32(0));
      continue;
    }
    unsigned r = find(operand, operand.map, batch, free + row, k + inner);
    if (operand.values->hasContainers) {
      // The instruction wants the code in bits 5 to 2.
      words.push_back(zeroBeyondK(emit.shl(operand.values->values[r / 4], 2)));
      continue;
    }
    Value word = operand.values->values[r / perWord];
    if (bits != operand.containerBits)
      word = spreadToContainers(emit, emit.lshr(word, r % perWord * bits));
    else if (plan.k < perWord)
      word = emit.bitAnd(emit.lshr(word, r % perWord * bits),
                         (1u << plan.k * bits) - 1);
    words.push_back(zeroBeyondK(word));
  }
  return {words};
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

MmaEmitter::NativeScale MmaEmitter::nativeScale(const Operand &operand,
                                                unsigned batch, unsigned free,
                                                unsigned k, unsigned pass) {
  if (!atom.isBlockScaled())
    return {};
  // Tiles in the lanes: the selector counts them, and lane 0 has the first.
  const LinearLayout &layout = operand.isLhs ? plan.lhsScale : plan.rhsScale;
  const Space &tile = layout.getCodomain();
  unsigned rank = tile.getAxes().size();
  std::string axis = "d" + std::to_string(operand.isLhs ? rank - 2 : rank - 1);
  ArrayRef<uint32_t> lanes = layout.getColumns("lane");
  NativeScale scale;
  for (auto [bit, column] :
       llvm::enumerate(operand.isLhs ? lanes.slice(1, 1) : lanes.take_front(2)))
    if (unsigned step = tile.coordinate(column, axis); free & step) {
      scale.thread |= 1u << bit;
      free ^= step;
    }

  unsigned groups = atom.k / plan.blockSize;  // that the step needs
  unsigned present = plan.k / plan.blockSize; // that the tile has
  unsigned r = find(operand, operand.scaleMap, batch, free, k / plan.blockSize);
  scale.word = operand.scales->values[r / 4];
  scale.byte = r % 4;
  if (present < groups) {
    // Scales of values beyond the tile are 0x00.
    scale.word = emit.lshr(scale.word, 8 * scale.byte);
    scale.word = emit.bitAnd(scale.word, (1u << 8 * present) - 1);
    scale.byte = 0;
  }
  if (plan.method == ScaleMethod::NativeTwice) {
    // Bytes g0, g1, g2, g3 to g_pass, g_{2 + pass}.
    Value shifted = emit.lshr(scale.word, 8 * (scale.byte + pass));
    Value low = emit.bitAnd(shifted, 0xFF);
    Value high = emit.bitAnd(emit.lshr(shifted, 8), 0xFF00);
    scale.word = emit.bitOr(low, high);
    scale.byte = 0;
  }
  return scale;
}

/// The f32 factor of a partial sum.
Value MmaEmitter::sumScale(const Operand &operand, unsigned batch,
                           unsigned free, unsigned k) {
  unsigned r = find(operand, operand.scaleMap, batch, free, k / plan.blockSize);
  return decodeToF32(emit, *operand.scaleFormat,
                     operand.scales->getBits(emit, r));
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

static NVVM::MMATypes getMmaType(ElementFormat format) {
  switch (format) {
  case ElementFormat::F4E2M1FN:
    return NVVM::MMATypes::e2m1;
  case ElementFormat::F8E4M3FN:
    return NVVM::MMATypes::e4m3;
  case ElementFormat::F8E5M2:
    return NVVM::MMATypes::e5m2;
  case ElementFormat::F16:
    return NVVM::MMATypes::f16;
  default:
    return NVVM::MMATypes::bf16;
  }
}

SmallVector<Value, 4> MmaEmitter::issue(ArrayRef<Value> a, ArrayRef<Value> b,
                                        ArrayRef<Value> c,
                                        const NativeScale &scaleA,
                                        const NativeScale &scaleB) {
  OpBuilder &builder = emit.builder;
  SmallVector<Type> fields(4, emit.f32());
  Type resultType =
      LLVM::LLVMStructType::getLiteral(builder.getContext(), fields);
  SmallVector<int64_t> shape = {atom.m, atom.n, atom.k};
  std::array<NVVM::MMATypes, 2> types = {getMmaType(atom.lhsFormat),
                                         getMmaType(atom.rhsFormat)};
  Value result;
  switch (atom.emission) {
  case MmaEmission::MmaSync: {
    // f16 operands are pairs for this operation, bf16 ones are words.
    auto asOperands = [&](ArrayRef<Value> words) {
      SmallVector<Value> operands(words);
      if (atom.lhsFormat == ElementFormat::F16)
        for (Value &operand : operands)
          operand =
              emit.bitcast(VectorType::get({2}, builder.getF16Type()), operand);
      return operands;
    };
    std::array<NVVM::MMALayout, 2> layouts = {NVVM::MMALayout::row,
                                              NVVM::MMALayout::col};
    result = NVVM::MmaOp::create(builder, emit.loc, resultType, asOperands(a),
                                 asOperands(b), c, shape, std::nullopt,
                                 std::nullopt, types, layouts);
    break;
  }
  case MmaEmission::MmaSyncFp8: {
    // The operation above knows no FP8; the intrinsic does.
    std::string name = ("llvm.nvvm.mma.m16n8k32.row.col.f32." +
                        getFormatInfo(atom.lhsFormat).ptxName + "." +
                        getFormatInfo(atom.rhsFormat).ptxName + ".f32")
                           .str();
    SmallVector<Value> operands(a);
    llvm::append_range(operands, b);
    llvm::append_range(operands, c);
    result =
        LLVM::CallIntrinsicOp::create(builder, emit.loc, resultType,
                                      builder.getStringAttr(name), operands)
            .getResult(0);
    break;
  }
  case MmaEmission::BlockScale: {
    auto selector = [&](unsigned value) {
      return emit.constant(builder.getI16Type(), value);
    };
    NVVM::ScaleVecSize size = atom.scaleVecSize == 1   ? NVVM::ScaleVecSize::X1
                              : atom.scaleVecSize == 2 ? NVVM::ScaleVecSize::X2
                                                       : NVVM::ScaleVecSize::X4;
    NVVM::BlockScaleFormat format =
        *atom.scaleFormat == ElementFormat::F8E8M0FNU
            ? NVVM::BlockScaleFormat::UE8M0
            : NVVM::BlockScaleFormat::UE4M3;
    NVVM::MMABlockScaleKind kind = atom.kind == BlockScaleKind::Mxf8f6f4
                                       ? NVVM::MMABlockScaleKind::MXF8F6F4
                                   : atom.kind == BlockScaleKind::Mxf4
                                       ? NVVM::MMABlockScaleKind::MXF4
                                       : NVVM::MMABlockScaleKind::MXF4NVF4;
    result = NVVM::MmaBlockScaleOp::create(
        builder, emit.loc, resultType, a, b, c, scaleA.word,
        selector(scaleA.byte), selector(scaleA.thread), scaleB.word,
        selector(scaleB.byte), selector(scaleB.thread), shape, types, size,
        format, kind);
    break;
  }
  case MmaEmission::Tcgen05:
  case MmaEmission::Tcgen05BlockScale:
    llvm_unreachable("no warp issues it: checked before distribution");
  }
  SmallVector<Value, 4> values;
  for (unsigned i = 0; i < 4; ++i)
    values.push_back(extractResult(result, i));
  return values;
}

void MmaEmitter::run(const Operand &lhs, const Operand &rhs,
                     const RegisterMap &accMap, SmallVectorImpl<Value> &acc) {
  chooseOrder(lhs, rhs);
  // Tiles of instructions in this thread. Rows and columns of other warps are
  // the upper bits of the coordinates.
  auto countTiles = [](const LinearLayout &layout, StringRef axis,
                       unsigned atomExtent) {
    uint32_t top = 0;
    for (uint32_t column : layout.getColumns("register"))
      top = std::max(top, layout.getCodomain().coordinate(column, axis));
    return std::max(1u, 2 * top / atomExtent);
  };
  unsigned rank = plan.acc.getCodomain().getAxes().size();
  std::string rowAxis = "d" + std::to_string(rank - 2);
  std::string columnAxis = "d" + std::to_string(rank - 1);
  unsigned mTiles = countTiles(plan.acc, rowAxis, atom.m);
  unsigned nTiles = countTiles(plan.acc, columnAxis, atom.n);
  unsigned batches = rank == 3 ? countTiles(plan.acc, "d0", 1) : 1;
  unsigned passes = 1;
  if (plan.k > 16 &&
      (plan.method == ScaleMethod::NativeTwice ||
       (plan.method == ScaleMethod::Sums && plan.blockSize == 16)))
    passes = 2;

  for (unsigned batch = 0; batch < batches; ++batch)
    for (unsigned k = 0; k < plan.k; k += plan.window) {
      SmallVector<WindowWords> lhsWords;
      for (unsigned i = 0; i < mTiles; ++i)
        lhsWords.push_back(makeWindow(lhs, batch, i * atom.m, k));
      for (unsigned j = 0; j < nTiles; ++j) {
        WindowWords rhsWords = makeWindow(rhs, batch, j * atom.n, k);
        for (unsigned i = 0; i < mTiles; ++i) {
          // The accumulators of this instruction, in fragment order.
          SmallVector<unsigned, 4> places;
          for (unsigned r = 0; r < 4; ++r) {
            uint32_t image = atom.acc(r);
            places.push_back(accMap.find(
                batch,
                i * atom.m + atom.acc.getCodomain().coordinate(image, "d0"),
                j * atom.n + atom.acc.getCodomain().coordinate(image, "d1")));
          }
          for (unsigned pass = 0; pass < passes; ++pass) {
            auto masked = [&](ArrayRef<Value> words) {
              SmallVector<Value, 4> kept(words);
              if (passes == 2)
                for (Value &word : kept)
                  word = keepGroup(word, pass);
              return kept;
            };
            // Where the tile is smaller than the instruction, several elements
            // of a fragment are one: each adds to what was there before.
            SmallVector<Value, 4> before, sums;
            bool isSums = plan.method == ScaleMethod::Sums;
            for (unsigned place : places) {
              before.push_back(acc[place]);
              sums.push_back(isSums ? emit.f32Bits(0) : acc[place]);
            }
            for (unsigned s = 0; s < plan.atomsPerWindow(); ++s)
              sums = issue(masked(lhsWords[i][s]), masked(rhsWords[s]), sums,
                           nativeScale(lhs, batch, i * atom.m, k, pass),
                           nativeScale(rhs, batch, j * atom.n, k, pass));
            for (unsigned r = 0; r < 4; ++r) {
              if (!isSums) {
                acc[places[r]] = sums[r];
                continue;
              }
              uint32_t image = atom.acc(r);
              unsigned row = atom.acc.getCodomain().coordinate(image, "d0");
              unsigned column = atom.acc.getCodomain().coordinate(image, "d1");
              unsigned group = k + 16 * pass;
              Value scale =
                  lhs.scales ? sumScale(lhs, batch, i * atom.m + row, group)
                             : sumScale(rhs, batch, j * atom.n + column, group);
              acc[places[r]] = LLVM::FMAOp::create(emit.builder, emit.loc,
                                                   sums[r], scale, before[r]);
            }
          }
        }
      }
    }
}

LogicalResult Distributor::distributeMma(const MmaPlan &plan, Value lhs,
                                         Value rhs, Value acc, Value lhsScale,
                                         Value rhsScale, Value result) {
  auto makeOperand = [&](bool isLhs, Value values, Value scales) {
    const LinearLayout &layout = isLhs ? plan.lhs : plan.rhs;
    const LinearLayout &scaleLayout = isLhs ? plan.lhsScale : plan.rhsScale;
    return Operand{&getFragment(values),
                   scales ? &getFragment(scales) : nullptr,
                   isLhs ? plan.lhsFormat : plan.rhsFormat,
                   isLhs ? plan.lhsScaleFormat : plan.rhsScaleFormat,
                   isLhs ? &plan.lhsWindow : &plan.rhsWindow,
                   isLhs ? plan.atom->lhsContainerBits
                         : plan.atom->rhsContainerBits,
                   isLhs,
                   RegisterMap(layout),
                   RegisterMap(scales ? scaleLayout : layout)};
  };
  auto check = [&](Value value, const LinearLayout &layout) {
    return !value || getLayout(value) == layout;
  };
  if (!check(lhs, plan.lhs) || !check(rhs, plan.rhs) || !check(acc, plan.acc) ||
      !check(lhsScale, plan.lhsScale) || !check(rhsScale, plan.rhsScale))
    return result.getDefiningOp()->emitOpError(
        "expects operands in the layouts of its instruction; run "
        "tile-assign-layouts first");
  Operand left = makeOperand(true, lhs, lhsScale);
  Operand right = makeOperand(false, rhs, rhsScale);
  SmallVector<Value> values(getFragment(acc).values);
  MmaEmitter(emit, plan, options.decode, lane)
      .run(left, right, RegisterMap(plan.acc), values);
  setFragment(result, values);
  return success();
}
