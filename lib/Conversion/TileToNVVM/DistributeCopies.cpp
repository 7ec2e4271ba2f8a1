//===- DistributeCopies.cpp - Copies to shared memory ---------------------===//
//
// Copies are `cp.async`, the widest that the memref's promises allow. A piece
// of a tile is inside the memref or outside as a whole, and what is outside
// becomes zeros. That costs one instruction per copy:
//
//   * What the dimensions that stand still say is one bit per copy of a word
//     that is made once.
//   * Each iteration turns all bits of that word on where the moving dimensions
//     are outside. For these the index is compared with the number of tiles
//     that the thread's piece is inside of, which is made once too.
//   * The test of a copy's bit is the predicate by which it ignores its source.
//
// Narrower pieces than a copy can have go through registers.
//
// Addresses are one pointer per tile and iteration, and from there the steps of
// register bits, which are the same for the whole block.
//
//===----------------------------------------------------------------------===//

#include "Distributor.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

namespace {

/// What is asked about the tile of a copy: where it lies, and which pieces of
/// it are inside the memref. Some answers are computed in front of the loop
/// around the copy.
class CopiedTile {
public:
  /// `copies`: the registers at which pieces begin.
  CopiedTile(Emitter &emit, CopyAsyncOp op, const MemRefValue &memref,
             const Coordinates &coordinates, ArrayRef<unsigned> copies)
      : emit(emit), op(op), memref(memref), coordinates(coordinates),
        copies(copies), shape(op.getBuffer().getType().getTileShape()) {}

  /// Says which dimensions stand still, and at which indices (i64) they all
  /// are.
  void place(ArrayRef<bool> fixed, ArrayRef<Value> indices) {
    isFixed.assign(fixed);
    this->indices.assign(indices);
  }

  /// The elements from the memref's first to the thread's first piece, as far
  /// as they are the same in every iteration.
  Value getFixedOffset();
  /// The rest of them; null for none.
  Value getMovingOffset();
  /// The elements that a register bit moves a piece by; null for none.
  Value getStep(unsigned bit);

  /// Makes the words of `isOutside` that stand still.
  void checkFixed();
  /// Makes what `checkMoving` compares with. `limit`: an index that all moving
  /// ones must be below as well, or null.
  void countMoving(Value limit);
  /// Compares where the tile is now.
  void checkMoving();
  /// What says that copy number `i` is outside.
  struct Outside {
    Value condition;  ///< i1, or i32 with `bit`; null for never.
    uint32_t bit = 0; ///< The bit of `condition`; 0 for all of it.
  };
  Outside isOutside(unsigned i);

private:
  unsigned getRank() const { return shape.size(); }
  bool isChecked(unsigned dim) const {
    return !divides(shape[dim], memref.divisors.sizes[dim]);
  }
  /// Tiles along `dim` that have coordinate `position` (i64) inside.
  Value countTiles(unsigned dim, Value position);
  /// What tells copies with different checks of the moving dimensions apart.
  SmallVector<uint32_t> getMovingKey(unsigned i) const;
  /// Whether no other copy of its word shares the check of copy number `i`.
  bool isAlone(unsigned i) const;

  Emitter &emit;
  CopyAsyncOp op;
  const MemRefValue &memref;
  const Coordinates &coordinates;
  ArrayRef<unsigned> copies;
  ArrayRef<int64_t> shape;
  SmallVector<bool> isFixed;
  SmallVector<Value> indices;
  SmallVector<Value> fixedWords; ///< Of 32 copies each; null for no bit.
  /// By key: the counts of `checkMoving`, by dimension, and its answer.
  struct Moving {
    SmallVector<uint32_t> key;
    SmallVector<std::pair<unsigned, Value>> counts;
    Value outside;            ///< i1
    SmallVector<Value> words; ///< With it all `fixedWords`; null until asked.
  };
  SmallVector<Moving> moving;
};

} // namespace

Value CopiedTile::getFixedOffset() {
  Value offset;
  for (unsigned dim = 0; dim < getRank(); ++dim) {
    Value position = emit.zext(emit.i64(), coordinates.getThreadPart(dim));
    if (isFixed[dim])
      position =
          emit.add(emit.mul(indices[dim], emit.i64(shape[dim])), position);
    Value moved = emit.mul(position, memref.strides[dim]);
    offset = offset ? emit.add(offset, moved) : moved;
  }
  return offset;
}

Value CopiedTile::getMovingOffset() {
  Value offset;
  for (unsigned dim = 0; dim < getRank(); ++dim) {
    if (isFixed[dim])
      continue;
    Value moved = emit.mul(emit.mul(indices[dim], emit.i64(shape[dim])),
                           memref.strides[dim]);
    offset = offset ? emit.add(offset, moved) : moved;
  }
  return offset;
}

Value CopiedTile::getStep(unsigned bit) {
  Value step;
  for (unsigned dim = 0; dim < getRank(); ++dim)
    if (uint32_t part = coordinates.getRegisterPart(dim, bit)) {
      Value moved = emit.mul(emit.i64(part), memref.strides[dim]);
      step = step ? emit.add(step, moved) : moved;
    }
  return step;
}

Value CopiedTile::countTiles(unsigned dim, Value position) {
  // The extent is below 2^63 and the tile's small: the sum does not wrap.
  Value last = emit.i64(shape[dim] - 1);
  return emit.lshr(
      emit.add(memref.sizes[dim], position ? emit.sub(last, position) : last),
      llvm::Log2_64(shape[dim]));
}

void CopiedTile::checkFixed() {
  fixedWords.assign((copies.size() + 31) / 32, Value());
  // The index is compared, not the position, which may not fit in 64 bits.
  Value tileInside;
  for (unsigned dim = 0; dim < getRank(); ++dim)
    if (isFixed[dim])
      tileInside = emit.both(
          tileInside, emit.compare(arith::CmpIPredicate::ult, indices[dim],
                                   countTiles(dim, Value())));
  for (auto [i, r] : llvm::enumerate(copies)) {
    Value inside = tileInside;
    for (unsigned dim = 0; dim < getRank(); ++dim) {
      if (!isFixed[dim] || !isChecked(dim))
        continue;
      Value position =
          emit.add(emit.mul(indices[dim], emit.i64(shape[dim])),
                   emit.zext(emit.i64(), coordinates.get(emit, dim, r)));
      inside = emit.both(inside, emit.compare(arith::CmpIPredicate::ult,
                                              position, memref.sizes[dim]));
    }
    if (!inside)
      continue;
    Value bit = emit.select(inside, emit.i32(0), emit.i32(1u << (i % 32)));
    Value &word = fixedWords[i / 32];
    word = word ? emit.bitOr(word, bit) : bit;
  }
}

SmallVector<uint32_t> CopiedTile::getMovingKey(unsigned i) const {
  SmallVector<uint32_t> key;
  for (unsigned dim = 0; dim < getRank(); ++dim)
    if (!isFixed[dim])
      key.push_back(isChecked(dim) ? coordinates.getRegisterPart(dim, copies[i])
                                   : 0);
  return key;
}

void CopiedTile::countMoving(Value limit) {
  if (llvm::all_of(isFixed, [](bool fixed) { return fixed; }))
    return;
  for (auto [i, r] : llvm::enumerate(copies)) {
    SmallVector<uint32_t> key = getMovingKey(i);
    if (llvm::any_of(moving, [&](auto &known) { return known.key == key; }))
      continue;
    moving.push_back({key, {}, {}, {}});
    for (unsigned dim = 0; dim < getRank(); ++dim) {
      if (isFixed[dim])
        continue;
      Value position;
      if (isChecked(dim))
        position = emit.zext(emit.i64(), coordinates.get(emit, dim, r));
      Value count = countTiles(dim, position);
      if (limit)
        count = arith::MinUIOp::create(emit.builder, emit.loc, count, limit);
      moving.back().counts.push_back({dim, count});
    }
  }
}

void CopiedTile::checkMoving() {
  for (Moving &each : moving) {
    for (auto [dim, count] : each.counts) {
      Value outside =
          emit.compare(arith::CmpIPredicate::uge, indices[dim], count);
      each.outside = each.outside ? emit.bitOr(each.outside, outside) : outside;
    }
    each.words.assign(fixedWords.size(), Value());
  }
}

bool CopiedTile::isAlone(unsigned i) const {
  for (unsigned other = i / 32 * 32;
       other < std::min<size_t>(copies.size(), i / 32 * 32 + 32); ++other)
    if (other != i && getMovingKey(other) == getMovingKey(i))
      return false;
  return true;
}

CopiedTile::Outside CopiedTile::isOutside(unsigned i) {
  const unsigned number = i / 32;
  Value word = fixedWords[number];
  if (!moving.empty()) {
    SmallVector<uint32_t> key = getMovingKey(i);
    Moving &check =
        *llvm::find_if(moving, [&](auto &each) { return each.key == key; });
    if (!word)
      return {check.outside};
    // One word for all copies, not a disjunction for each: the back end would
    // keep the bits of all copies in registers of their own. A single copy has
    // nobody to share with.
    if (isAlone(i)) {
      Value bit = emit.compare(arith::CmpIPredicate::ne,
                               emit.bitAnd(word, 1u << (i % 32)), emit.i32(0));
      return {emit.bitOr(check.outside, bit)};
    }
    Value &all = check.words[number];
    if (!all)
      all = emit.select(check.outside, emit.i32(-1), word);
    word = all;
  }
  if (!word)
    return {};
  return {word, 1u << (i % 32)};
}

/// Copies `bytes` bytes, or zeros where the source is outside.
static void emitCopy(Emitter &emit, Value to, Value from, unsigned bytes,
                     CopiedTile::Outside outside) {
  const bool isWide = bytes == 16;
  if (!outside.condition) {
    NVVM::CpAsyncOp::create(emit.builder, emit.loc, to, from, bytes,
                            isWide ? NVVM::LoadCacheModifierKind::CG
                                   : NVVM::LoadCacheModifierKind::CA,
                            Value());
    return;
  }
  // LLVM has no intrinsic with this operand, only with a number of bytes, which
  // takes two instructions more. The test of a bit is part of the text because
  // the back end makes a shift and a test of bit 0 of it.
  auto getCopy = [&](StringRef predicate) {
    return ("cp.async." + Twine(isWide ? "cg" : "ca") +
            ".shared.global [$0], [$1], " + Twine(bytes) + ", " + predicate +
            ";")
        .str();
  };
  std::string text = getCopy("$2");
  if (outside.bit)
    text =
        ("{ .reg .pred p; .reg .b32 t; and.b32 t, $2, " + Twine(outside.bit) +
         "; setp.ne.b32 p, t, 0; " + getCopy("p") + " }")
            .str();
  LLVM::InlineAsmOp::create(emit.builder, emit.loc, TypeRange(),
                            ValueRange{to, from, outside.condition}, text,
                            outside.bit ? "l,l,r,~{memory}" : "l,l,b,~{memory}",
                            /*has_side_effects=*/true, /*is_align_stack=*/false,
                            LLVM::tailcallkind::TailCallKind::None,
                            LLVM::AsmDialectAttr(), ArrayAttr());
}

/// The one dimension along which a copy moves from one iteration to the next;
/// nullopt if there are several or none.
static std::optional<unsigned> getMovingDim(CopyAsyncOp op) {
  std::optional<ArrayRef<int64_t>> moving = op.getMoving();
  if (!moving || moving->size() != 1)
    return std::nullopt;
  return static_cast<unsigned>(moving->front());
}

Value Distributor::getLimit(CopyAsyncOp op) {
  std::optional<unsigned> dim = getMovingDim(op);
  auto compare = op.getPredicate()
                     ? op.getPredicate().getDefiningOp<arith::CmpIOp>()
                     : arith::CmpIOp();
  if (!dim || !compare || op.getIndices()[*dim] != compare.getLhs() ||
      (compare.getPredicate() != arith::CmpIPredicate::slt &&
       compare.getPredicate() != arith::CmpIPredicate::ult))
    return {};
  auto loop = op->getParentOfType<scf::ForOp>();
  if (loop && !loop.isDefinedOutsideOfLoop(compare.getRhs()))
    return {};
  return getIndexAsI64(compare.getRhs());
}

/// The factors of what `value` is more than the induction variable of `loop`,
/// all of them known in front of it: none if it is the variable itself; nullopt
/// if it is anything else.
static std::optional<SmallVector<Value, 2>> getDistance(Value value,
                                                        scf::ForOp loop) {
  if (value == loop.getInductionVar())
    return SmallVector<Value, 2>();
  auto add = value.getDefiningOp<arith::AddIOp>();
  if (!add || add.getLhs() != loop.getInductionVar())
    return std::nullopt;
  SmallVector<Value, 2> factors = {add.getRhs()};
  if (auto mul = add.getRhs().getDefiningOp<arith::MulIOp>())
    factors = {mul.getLhs(), mul.getRhs()};
  if (!llvm::all_of(factors, [&](Value factor) {
        return loop.isDefinedOutsideOfLoop(factor) ||
               getConstantIntValue(factor);
      }))
    return std::nullopt;
  return factors;
}

void Distributor::carryPointer(CopyAsyncOp op, scf::ForOp loop, Value pointer,
                               Value first, unsigned bytes) {
  auto source = dyn_cast<scf::ForOp>(op->getParentOp());
  std::optional<unsigned> dim = getMovingDim(op);
  if (!source || !dim)
    return;
  for (auto [other, index] : llvm::enumerate(op.getIndices()))
    if (other != *dim && !source.isDefinedOutsideOfLoop(index))
      return;
  auto distance = getDistance(op.getIndices()[*dim], source);
  if (!distance)
    return;
  OpBuilder::InsertionGuard guard(emit.builder);
  emit.builder.setInsertionPoint(loop);
  auto getFixed = [&](Value value) -> Value {
    if (std::optional<int64_t> constant = getConstantIntValue(value))
      return emit.i64(*constant);
    return getIndexAsI64(value);
  };
  const MemRefValue &memref = memrefs.find(op.getSource())->second;
  Value tileBytes =
      emit.mul(emit.i64(op.getBuffer().getType().getTileShape()[*dim] * bytes),
               memref.strides[*dim]);
  Value position = getFixed(source.getLowerBound());
  if (!distance->empty()) {
    Value ahead = getFixed(distance->front());
    for (Value factor : llvm::drop_begin(*distance))
      ahead = emit.mul(ahead, getFixed(factor));
    position = emit.add(position, ahead);
  }
  Value init = LLVM::GEPOp::create(
      emit.builder, emit.loc, first.getType(), emit.integer(8), first,
      ArrayRef<LLVM::GEPArg>{emit.mul(position, tileBytes)});
  carriedValues.addPointer(loop, pointer, init,
                           emit.mul(getFixed(source.getStep()), tileBytes));
}

LogicalResult Distributor::distributeCopy(CopyAsyncOp op) {
  auto found = memrefs.find(op.getSource());
  if (found == memrefs.end())
    return op.emitOpError("expects a kernel argument or a view of one");
  beforeRead();
  if (std::exchange(scratchInUse, false))
    barrier();
  const MemRefValue &memref = found->second;
  auto known = buffers.find(op.getBuffer());
  if (known == buffers.end())
    return op.emitOpError("expects the result of a tile.alloc_buffer");
  const SharedBuffer &buffer = known->second;
  BufferType type = op.getBuffer().getType();
  const CopyPlan plan = planCopy(type, buffer, memref);
  const LinearLayout &layout = plan.layout;
  const unsigned rank = memref.type.getRank();
  const unsigned bytes = getBytes(type.getElementType());
  const unsigned piece = plan.piece;
  // Said once of the copies of all stages.
  if (reportedCopies.insert(op.getBuffer()).second)
    remark::analysis(op.getLoc(), remark::RemarkOpts::name("copy-async")
                                      .category("tile-distribute")
                                      .function(kernel.getName()))
        << remark::metric("bytes", piece * bytes);
  if (piece * bytes < kFewestCopyBytes)
    return copyThroughRegisters(op, memref, buffer, layout), success();

  // What does not change from one iteration to the next is computed once, in
  // front of the loop. A view that is made in the loop changes with it.
  auto loop =
      dyn_cast<scf::ForOp>(emit.builder.getInsertionBlock()->getParentOp());
  SmallVector<Value> parts = {memref.pointer};
  if (memref.offset)
    parts.push_back(memref.offset);
  llvm::append_range(parts, memref.sizes);
  llvm::append_range(parts, memref.strides);
  if (loop && !llvm::all_of(parts, [&](Value part) {
        return loop.isDefinedOutsideOfLoop(part);
      }))
    loop = nullptr;
  auto outside = [&](llvm::function_ref<void()> body) {
    OpBuilder::InsertionGuard guard(emit.builder);
    if (loop)
      emit.builder.setInsertionPoint(loop);
    body();
  };
  auto isFixed = [&](Value value) {
    return !loop || loop.isDefinedOutsideOfLoop(value);
  };

  const unsigned registers = 1u << layout.getDomain().bitsOf("register");
  const uint32_t free = getFreeRegisters(layout);
  SmallVector<unsigned> copies;
  for (unsigned r = 0; r < registers; r += piece)
    if (!(r & free))
      copies.push_back(r);

  LinearLayout places = getByteLayout(layout, type);
  std::optional<Coordinates> coordinates;
  Value owner;
  emitOutsideLoops(emit, [&] {
    coordinates.emplace(emit, layout, lane, warp);
    owner = emitOwner(layout);
  });
  SlotAddresses addresses(emit, getSlot(buffer, op.getSlot()),
                          places.getColumns("lane"), places.getColumns("warp"),
                          buffer.swizzle, lane, warp);

  SmallVector<bool> fixed(rank);
  SmallVector<Value> indices(rank);
  for (unsigned dim = 0; dim < rank; ++dim) {
    Value index = op.getIndices()[dim];
    bool moves =
        op.getMoving() && llvm::is_contained(*op.getMoving(), int64_t(dim));
    fixed[dim] = !moves && isFixed(scalars.lookup(index));
    auto get = [&] { indices[dim] = getIndexAsI64(index); };
    if (fixed[dim])
      outside(get);
    else
      get();
  }
  // Where the predicate says that the position is one that the loop reaches, it
  // is one bound more of the tiles that are inside.
  Value limit;
  outside([&] { limit = getLimit(op); });
  CopiedTile tile(emit, op, memref, *coordinates, copies);
  tile.place(fixed, indices);

  Value first;
  DenseMap<unsigned, Value> steps;
  outside([&] {
    first = elementPointer(memref, tile.getFixedOffset());
    for (unsigned bit = piece; bit < registers; bit *= 2)
      steps[bit] = tile.getStep(bit);
    tile.checkFixed();
    tile.countMoving(limit);
  });
  Value movingOffset = tile.getMovingOffset();
  tile.checkMoving();
  auto move = [&](Value pointer, Value elements) -> Value {
    if (!elements)
      return pointer;
    return LLVM::GEPOp::create(emit.builder, emit.loc, pointer.getType(),
                               emit.integer(8 * bytes), pointer,
                               ArrayRef<LLVM::GEPArg>{elements});
  };

  Value predicate =
      op.getPredicate() && !limit ? scalars.lookup(op.getPredicate()) : Value();
  Value start = move(first, movingOffset);
  if (loop && movingOffset)
    carryPointer(op, loop, start, first, bytes);
  emit.guarded(emit.both(predicate, owner), [&] {
    // Each further address is one step from an earlier one.
    DenseMap<unsigned, Value> pointers;
    for (auto [i, r] : llvm::enumerate(copies)) {
      unsigned rest = r & (r - 1);
      pointers[r] =
          r == 0 ? start : move(pointers.lookup(rest), steps[r ^ rest]);
      emitCopy(emit, addresses.get(places(r)), pointers[r], piece * bytes,
               tile.isOutside(i));
    }
  });
  return success();
}
