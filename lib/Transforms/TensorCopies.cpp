//===- TensorCopies.cpp - Copies by tensor maps ---------------------------===//

#include "tile/Transforms/TensorCopies.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tile/Transforms/Divisibility.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

using namespace mlir;
using namespace tile;

/// Rules of tensor maps and of the copies.
static constexpr int64_t kMaxRank = 5;
static constexpr unsigned kMaxBoxExtent = 256;
static constexpr unsigned kChunkBytes = 16;
static constexpr unsigned kDestinationBytes = 128;
/// Values of a row of FP4 in containers, and what their arrays are aligned to.
static constexpr unsigned kContainerRow = 128, kContainerAlignment = 32;
/// Instructions for one tile: one thread issues them all.
static constexpr unsigned kMaxParts = 32;

/// Where the hardware has the byte that would be at `offset` without a swizzle.
/// Its own inverse, and linear.
static uint32_t swizzle(uint32_t offset, unsigned span) {
  if (!span)
    return offset;
  return offset ^ (offset / 128 % (span / kChunkBytes)) * kChunkBytes;
}

namespace {
/// Matches a placement with boxes of one swizzle.
class BoxMatcher {
public:
  /// `inner`: the dimension along which elements lie side by side.
  BoxMatcher(BufferType type, unsigned inner, unsigned span);

  /// The plan without what is not of the boxes.
  std::optional<TensorCopyPlan> match();

private:
  unsigned countBits(unsigned dim) const {
    return llvm::Log2_64(type.getTileShape()[dim]);
  }
  /// Where the element lies that is `1 << bit` along `dim`, before the swizzle.
  uint32_t getOffset(unsigned dim, unsigned bit) const;
  /// Bits of `dim` that lie at `first`, twice that and so on.
  unsigned countRun(unsigned dim, uint32_t first, unsigned most) const;

  BufferType type;
  unsigned inner, span, elementBytes;
};
} // namespace

BoxMatcher::BoxMatcher(BufferType type, unsigned inner, unsigned span)
    : type(type), inner(inner), span(span),
      elementBytes(getElementBits(type.getElementType()) / 8) {}

uint32_t BoxMatcher::getOffset(unsigned dim, unsigned bit) const {
  unsigned index = bit;
  for (unsigned after = dim + 1; after < type.getTileShape().size(); ++after)
    index += countBits(after);
  return swizzle(static_cast<uint32_t>(type.getPlacement().getOffsets()[index]),
                 span);
}

unsigned BoxMatcher::countRun(unsigned dim, uint32_t first,
                              unsigned most) const {
  unsigned run = 0;
  while (run < std::min(most, countBits(dim)) &&
         getOffset(dim, run) == first << run)
    ++run;
  return run;
}

std::optional<TensorCopyPlan> BoxMatcher::match() {
  const unsigned rank = type.getTileShape().size();
  const unsigned mostBits = llvm::Log2_32(kMaxBoxExtent);
  TensorCopyPlan plan;
  plan.swizzle = span;
  SmallVector<unsigned> boxBits(rank, 0);

  // The row. FP4 in containers has eight bytes, and nothing for eight more.
  unsigned run = countRun(inner, elementBytes, mostBits);
  const unsigned halfBits = llvm::Log2_32(kChunkBytes / 2);
  uint32_t rowBytes;
  if (elementBytes == 1 && run == halfBits && countBits(inner) > halfBits &&
      getOffset(inner, halfBits) == kChunkBytes) {
    const unsigned rowBits = llvm::Log2_32(kContainerRow / 2);
    if (countBits(inner) < rowBits)
      return std::nullopt;
    for (unsigned bit = halfBits; bit < rowBits; ++bit)
      if (getOffset(inner, bit) != kChunkBytes << (bit - halfBits))
        return std::nullopt;
    plan.type = llvm::StringLiteral("b4x16_p64");
    plan.valuesPerElement = 2;
    boxBits[inner] = rowBits;
    rowBytes = kContainerRow;
    if (span != 0 && span != rowBytes)
      return std::nullopt;
  } else {
    plan.type = elementBytes == 2 ? llvm::StringLiteral("u16")
                                  : llvm::StringLiteral("u8");
    // A swizzle exchanges within rows of just its span.
    if (span)
      run = std::min(run, llvm::Log2_32(span / elementBytes));
    boxBits[inner] = run;
    rowBytes = elementBytes << run;
    if (rowBytes < kChunkBytes || (span && rowBytes != span))
      return std::nullopt;
  }

  // Rows follow rows along one dimension, these along the next, ….
  uint32_t boxBytes = rowBytes;
  SmallVector<unsigned> order = {inner}; // innermost first
  auto isIn = [&](unsigned dim) { return llvm::is_contained(order, dim); };
  for (bool found = true; found;) {
    found = false;
    for (unsigned dim = rank; dim-- > 0;) {
      unsigned bits = isIn(dim) ? 0 : countRun(dim, boxBytes, mostBits);
      if (!bits)
        continue;
      order.push_back(dim);
      boxBits[dim] = bits;
      boxBytes <<= bits;
      found = true;
      break;
    }
  }
  for (unsigned dim = rank; dim-- > 0;)
    if (!isIn(dim))
      order.push_back(dim);

  // What is left tells the boxes apart.
  plan.parts.push_back({SmallVector<int64_t>(rank, 0), 0});
  for (unsigned dim = 0; dim < rank; ++dim)
    for (unsigned bit = boxBits[dim]; bit < countBits(dim); ++bit) {
      const uint32_t offset = getOffset(dim, bit);
      if (offset % std::max(boxBytes, kDestinationBytes) ||
          plan.parts.size() * 2 > kMaxParts)
        return std::nullopt;
      for (size_t i = 0, e = plan.parts.size(); i < e; ++i) {
        TensorCopyPlan::Part part = plan.parts[i];
        part.begin[dim] += int64_t(1) << bit;
        part.offset ^= offset;
        plan.parts.push_back(std::move(part));
      }
    }
  for (unsigned dim : llvm::reverse(order)) {
    plan.dims.push_back(dim);
    plan.box.push_back((1u << boxBits[dim]) *
                       (dim == inner ? plan.valuesPerElement : 1));
  }
  plan.bytes = ShapedType::getNumElements(type.getTileShape()) * elementBytes;
  return plan;
}

std::variant<TensorCopyPlan, std::string>
tile::planTensorCopy(Value source, BufferType buffer) {
  auto argument = dyn_cast<BlockArgument>(source);
  std::optional<MemRefDivisors> divisors;
  if (argument && isa<func::FuncOp>(argument.getOwner()->getParentOp()))
    divisors = getMemRefDivisors(argument);
  if (!divisors)
    return "the source is no argument of the kernel";
  auto memref = cast<MemRefType>(source.getType());
  const unsigned elementBits = getElementBits(memref.getElementType());
  if (memref.getRank() < 1 || memref.getRank() > kMaxRank)
    return "the source has " + std::to_string(memref.getRank()) +
           " dimensions, and a tensor map 1 to 5";
  if (elementBits != 8 && elementBits != 16)
    return "elements have " + std::to_string(elementBits) + " bits";
  if (!buffer.getPlacement())
    return "the buffer has no placement";

  auto [strides, offset] = memref.getStridesAndOffset();
  std::optional<TensorCopyPlan> best;
  unsigned inner = 0;
  bool hasRow = false;
  for (auto [dim, stride] : llvm::enumerate(strides)) {
    if (stride != 1)
      continue;
    hasRow = true;
    for (unsigned span : {128, 64, 32, 0}) {
      std::optional<TensorCopyPlan> plan =
          BoxMatcher(buffer, dim, span).match();
      if (!plan || (best && best->parts.size() <= plan->parts.size()))
        continue;
      best = std::move(plan);
      inner = dim;
    }
  }
  if (!hasRow)
    return "no dimension of the source has stride 1";
  if (!best)
    return "no swizzle of the hardware gives the buffer's placement";

  const bool hasContainers = best->type == "b4x16_p64";
  const unsigned unit =
      (hasContainers ? kContainerAlignment : kChunkBytes) / (elementBits / 8);
  for (auto [dim, divisor] : llvm::enumerate(divisors->strides))
    if (dim != inner && !divides(unit, divisor))
      return "the stride along dimension " + std::to_string(dim) +
             " is not promised to be a multiple of " + std::to_string(unit);
  const unsigned row = kContainerRow / best->valuesPerElement;
  if (hasContainers && !divides(row, divisors->sizes[inner]))
    return "the extent along dimension " + std::to_string(inner) +
           " is not promised to be a multiple of " + std::to_string(row);
  return std::move(*best);
}
