//===- TileFolds.cpp - Folds and canonicalisations ------------------------===//
//
// Constants are folded on codes, the bits of each element, because that is what
// the ops are defined on: a float attribute that passed through APFloat would
// lose a NaN's payload, and APFloat's conversions do not saturate.
//
// No fold looks at a result type without its encoding: a tile that moves to
// another layout is not the same tile.
//
//===----------------------------------------------------------------------===//

#include "tile/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// Constants as codes
//===----------------------------------------------------------------------===//

/// Constants of more elements than this are left to run time, unless they are
/// splats: text and compile time grow with them.
static constexpr int64_t kMaxFoldElements = int64_t(1) << 16;

namespace {
/// A constant tile. A splat has one code for all elements.
struct Codes {
  SmallVector<uint64_t> values;
  bool isSplat = false;
};
} // namespace

/// Reads the codes of a constant; nullopt for anything else.
static std::optional<Codes> readCodes(Attribute attr) {
  Codes codes;
  // Text for packed pairs: `dense_resource` is the only way to write them.
  if (auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(attr)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    ShapedType type = resource.getType();
    if (!blob || !isTile(type) || getElementBits(type.getElementType()) != 8 ||
        type.getNumElements() > kMaxFoldElements ||
        static_cast<int64_t>(blob->getData().size()) != type.getNumElements())
      return std::nullopt;
    for (char byte : blob->getData())
      codes.values.push_back(static_cast<uint8_t>(byte));
    return codes;
  }

  auto dense = dyn_cast_or_null<DenseIntOrFPElementsAttr>(attr);
  if (!dense || !isTile(dense.getType()))
    return std::nullopt;
  codes.isSplat = dense.isSplat();
  if (!codes.isSplat && dense.getNumElements() > kMaxFoldElements)
    return std::nullopt;
  auto read = [&](auto values) {
    for (const auto &value : values) {
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, APFloat>)
        codes.values.push_back(value.bitcastToAPInt().getZExtValue());
      else
        codes.values.push_back(value.getZExtValue());
      if (codes.isSplat)
        return;
    }
  };
  if (isa<FloatType>(dense.getElementType()))
    read(dense.getValues<APFloat>());
  else
    read(dense.getValues<APInt>());
  return codes;
}

/// The constant of `type` with these codes, a splat where all are equal. Null
/// for packed pairs, which no dense attribute holds.
static Attribute writeCodes(RankedTensorType type, Codes codes) {
  if (isa<F4E2M1FNx2Type>(type.getElementType()))
    return {};
  if (llvm::all_equal(codes.values))
    codes.values.resize(1);
  unsigned bits = getElementBits(type.getElementType());
  auto integers = llvm::map_to_vector(
      codes.values, [&](uint64_t code) { return APInt(bits, code); });
  auto floatType = dyn_cast<FloatType>(type.getElementType());
  if (!floatType)
    return DenseElementsAttr::get(type, integers);
  return DenseElementsAttr::get(
      type, llvm::map_to_vector(integers, [&](const APInt &code) {
        return APFloat(floatType.getFloatSemantics(), code);
      }));
}

/// Picks the elements of a tile of shape `result` out of row-major `codes`;
/// `strides` says how far one step in each result dimension goes.
static Attribute selectCodes(Codes codes, RankedTensorType result,
                             ArrayRef<int64_t> strides) {
  if (codes.isSplat)
    return writeCodes(result, codes);
  if (result.getNumElements() > kMaxFoldElements)
    return {};
  Codes selected;
  SmallVector<int64_t> position(result.getRank(), 0);
  int64_t offset = 0;
  for (int64_t i = 0; i < result.getNumElements(); ++i) {
    selected.values.push_back(codes.values[offset]);
    // Count up, last dimension first.
    for (int64_t d = result.getRank() - 1; d >= 0; --d) {
      offset += strides[d];
      if (++position[d] < result.getDimSize(d))
        break;
      offset -= strides[d] * position[d];
      position[d] = 0;
    }
  }
  return writeCodes(result, selected);
}

//===----------------------------------------------------------------------===//
// Grid
//===----------------------------------------------------------------------===//

OpFoldResult AssumeOp::fold(FoldAdaptor adaptor) {
  if (!getDivisibleBy() && !getMin() && !getMax())
    return getValue();
  // A constant says more than the facts, if they hold; if they do not, the
  // program has no defined behaviour and folding would only hide that.
  auto constant = dyn_cast_or_null<IntegerAttr>(adaptor.getValue());
  if (!constant)
    return {};
  int64_t value = constant.getInt();
  if ((getDivisibleByAttr() && value % getDivisibleByAttr().getInt() != 0) ||
      (getMinAttr() && value < getMinAttr().getInt()) ||
      (getMaxAttr() && value > getMaxAttr().getInt()))
    return {};
  return constant;
}

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

/// Regroups the bits of `codes`, elements of `from` bits, as elements of `to`
/// bits, lowest bits first. Rows need no attention: a row of either side holds
/// whole elements of the other.
static std::optional<Codes> regroup(Codes codes, RankedTensorType from,
                                    RankedTensorType to) {
  unsigned fromBits = getElementBits(from.getElementType());
  unsigned toBits = getElementBits(to.getElementType());
  if (codes.isSplat) {
    // Enough copies to fill whole elements of the result; writeCodes finds
    // out whether those are equal.
    codes.values.resize(std::max(toBits / fromBits, 1u), codes.values.front());
  }
  Codes result;
  if (fromBits >= toBits) {
    for (uint64_t value : codes.values)
      for (unsigned shift = 0; shift < fromBits; shift += toBits)
        result.values.push_back((value >> shift) &
                                llvm::maskTrailingOnes<uint64_t>(toBits));
  } else {
    unsigned count = toBits / fromBits;
    for (size_t i = 0; i < codes.values.size(); i += count) {
      uint64_t value = 0;
      for (unsigned j = 0; j < count; ++j)
        value |= codes.values[i + j] << (j * fromBits);
      result.values.push_back(value);
    }
  }
  if (codes.isSplat && !llvm::all_equal(result.values)) {
    // The pattern of one element repeats over the whole tile.
    if (to.getNumElements() > kMaxFoldElements)
      return std::nullopt;
    size_t period = result.values.size();
    for (int64_t i = period; i < to.getNumElements(); ++i)
      result.values.push_back(result.values[i - period]);
  }
  return result;
}

/// What unpack and pack share: both regroup bits.
static OpFoldResult foldRegrouping(Attribute source, RankedTensorType from,
                                   RankedTensorType to) {
  std::optional<Codes> codes = readCodes(source);
  if (!codes)
    return {};
  std::optional<Codes> result = regroup(*codes, from, to);
  return result ? writeCodes(to, *result) : Attribute();
}

OpFoldResult UnpackOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getType()) // i8 to i8
    return getSource();
  // unpack(pack(x)) is x, bit for bit, if it has the type of x.
  if (auto pack = getSource().getDefiningOp<PackOp>())
    if (pack.getSource().getType() == getType())
      return pack.getSource();
  return foldRegrouping(adaptor.getSource(), getSource().getType(), getType());
}

OpFoldResult PackOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getType()) // i8 to i8
    return getSource();
  if (auto unpack = getSource().getDefiningOp<UnpackOp>())
    if (unpack.getSource().getType() == getType())
      return unpack.getSource();
  return foldRegrouping(adaptor.getSource(), getSource().getType(), getType());
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

/// Whether every value of `from`, special ones included, is a value of `to`.
static bool isExact(ElementFormat from, ElementFormat to) {
  const FormatInfo &a = getFormatInfo(from), &b = getFormatInfo(to);
  // Exponent of the smallest positive value; E8M0 has no subnormals.
  auto smallest = [](const FormatInfo &info) {
    return info.hasZero ? 1 - info.bias - int(info.mantissaBits) : -info.bias;
  };
  return b.hasSign >= a.hasSign && b.hasInfinity >= a.hasInfinity &&
         b.hasNaN >= a.hasNaN && b.hasZero >= a.hasZero &&
         b.mantissaBits >= a.mantissaBits && b.max >= a.max &&
         smallest(b) <= smallest(a);
}

/// Whether a conversion of a format to itself changes nothing but, perhaps, the
/// payload of a NaN: saturation makes infinities finite.
static bool isIdentity(ElementFormat format, bool saturate) {
  return !(format == ElementFormat::F8E5M2 && saturate);
}

OpFoldResult FToFOp::fold(FoldAdaptor adaptor) {
  ElementFormat from =
      *getElementFormat(getSource().getType().getElementType());
  ElementFormat to = *getElementFormat(getType().getElementType());
  if (getSource().getType() == getType() && isIdentity(to, getSaturate()))
    return getSource();

  // A conversion that loses nothing needs not be made before another one.
  if (auto inner = getSource().getDefiningOp<FToFOp>()) {
    RankedTensorType origin = inner.getSource().getType();
    if (isExact(*getElementFormat(origin.getElementType()), from)) {
      if (origin == getType() && isIdentity(to, getSaturate()))
        return inner.getSource();
      getSourceMutable().assign(inner.getSource());
      return getResult();
    }
  }

  std::optional<Codes> codes = readCodes(adaptor.getSource());
  if (!codes)
    return {};
  Rounding rounding = Rounding::NearestEven;
  if (getRounding())
    rounding = *getRounding() == RoundingMode::Upward ? Rounding::Upward
                                                      : Rounding::TowardZero;
  for (uint64_t &code : codes->values)
    code = encode(to, decode(from, code), rounding, getSaturate());
  return writeCodes(getType(), *codes);
}

//===----------------------------------------------------------------------===//
// Shape
//===----------------------------------------------------------------------===//

OpFoldResult PermuteOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getType() &&
      isIdentityPermutation(getPermutation()))
    return getSource();
  if (std::optional<Codes> codes = readCodes(adaptor.getSource())) {
    SmallVector<int64_t> strides =
        computeStrides(getSource().getType().getShape());
    return selectCodes(*codes, getType(),
                       applyPermutation(strides, getPermutation()));
  }
  return {};
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getType())
    return getSource();
  if (std::optional<Codes> codes = readCodes(adaptor.getSource()))
    return writeCodes(getType(), *codes);
  return {};
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getType())
    return getSource();
  if (auto inner = getSource().getDefiningOp<BroadcastOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  if (std::optional<Codes> codes = readCodes(adaptor.getSource())) {
    ArrayRef<int64_t> shape = getSource().getType().getShape();
    SmallVector<int64_t> strides = computeStrides(shape);
    for (auto [extent, stride] : llvm::zip_equal(shape, strides))
      if (extent == 1)
        stride = 0;
    return selectCodes(*codes, getType(), strides);
  }
  return {};
}

namespace {
/// permute(permute(x)) is one permutation of x.
struct ComposePermutations : OpRewritePattern<PermuteOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PermuteOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getSource().getDefiningOp<PermuteOp>();
    if (!inner)
      return failure();
    // Result dimension i is dimension p[i] of the tile between, and that is
    // dimension q[p[i]] of the source.
    rewriter.replaceOpWithNewOp<PermuteOp>(
        op, op.getType(), inner.getSource(),
        applyPermutation(inner.getPermutation(), op.getPermutation()));
    return success();
  }
};

/// reshape(reshape(x)) is one reshape of x.
struct ComposeReshapes : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getSource().getDefiningOp<ReshapeOp>();
    if (!inner)
      return failure();
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getSource());
    return success();
  }
};
} // namespace

void PermuteOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<ComposePermutations>(context);
}

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<ComposeReshapes>(context);
}

//===----------------------------------------------------------------------===//
// Distribution
//===----------------------------------------------------------------------===//

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor adaptor) {
  if (getSource().getType() == getType())
    return getSource();
  if (auto inner = getSource().getDefiningOp<ConvertLayoutOp>()) {
    getSourceMutable().assign(inner.getSource());
    return getResult();
  }
  // A constant costs the same in any layout.
  if (std::optional<Codes> codes = readCodes(adaptor.getSource()))
    return writeCodes(getType(), *codes);
  return {};
}
