//===- TileAttributes.cpp - The layout attribute --------------------------===//

#include "tile/Dialect/Tile/IR/Tile.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

#define GET_ATTRDEF_CLASSES
#include "tile/Dialect/Tile/IR/TileAttributes.cpp.inc"

void TileDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tile/Dialect/Tile/IR/TileAttributes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Text: #tile.layout<register = [[0, 1], …], lane = […], warp = […]>
//===----------------------------------------------------------------------===//

/// Parses `name = [[c, …], …]`; `rank` is set by the first coordinate seen.
static ParseResult parseBases(AsmParser &parser, StringRef name,
                              std::optional<unsigned> &rank,
                              SmallVectorImpl<int64_t> &flat) {
  if (parser.parseKeyword(name) || parser.parseEqual())
    return failure();
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        SMLoc loc = parser.getCurrentLocation();
        unsigned count = 0;
        if (parser.parseCommaSeparatedList(
                AsmParser::Delimiter::Square, [&]() -> ParseResult {
                  ++count;
                  return parser.parseInteger(flat.emplace_back());
                }))
          return failure();
        if (rank && *rank != count)
          return parser.emitError(loc)
                 << "expects " << *rank
                 << " coordinates per bit as in the bits before, but got "
                 << count;
        rank = count;
        return success();
      });
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  std::optional<unsigned> rank;
  SmallVector<int64_t> registers, lanes, warps;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseBases(parser, "register", rank, registers) ||
      parser.parseComma() || parseBases(parser, "lane", rank, lanes) ||
      parser.parseComma() || parseBases(parser, "warp", rank, warps) ||
      parser.parseGreater())
    return {};
  return LayoutAttr::getChecked([&] { return parser.emitError(loc); },
                                parser.getContext(), rank.value_or(0),
                                registers, lanes, warps);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  auto printBases = [&](StringRef name, ArrayRef<int64_t> flat,
                        unsigned zeroRankCount) {
    printer << name << " = [";
    unsigned count = getRank() ? flat.size() / getRank() : zeroRankCount;
    for (unsigned i = 0; i < count; ++i) {
      printer << (i ? ", [" : "[");
      llvm::interleaveComma(flat.slice(i * getRank(), getRank()), printer);
      printer << "]";
    }
    printer << "]";
  };
  printer << "<";
  printBases("register", getRegisters(), 0);
  printer << ", ";
  // A tile of rank 0 is one element that every lane holds.
  printBases("lane", getLanes(), 5);
  printer << ", ";
  printBases("warp", getWarps(), 0);
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Verify
//===----------------------------------------------------------------------===//
//
// A comment `layout_cN` names constraint (CN) of layouts in docs/spec.md.

/// As many register bits as a tile has index bits: more would be replicas only.
static constexpr unsigned kMaxRegisterBits = 20;
static_assert((int64_t(1) << kMaxRegisterBits) == kMaxTileElements);

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 unsigned rank, ArrayRef<int64_t> registers,
                                 ArrayRef<int64_t> lanes,
                                 ArrayRef<int64_t> warps) {
  if (rank == 0) // nothing but replicas
    return success();
  if (registers.size() % rank || lanes.size() % rank ||
      warps.size() % rank) // layout_c1
    return emitError() << "expects " << rank << " coordinates per bit";
  if (lanes.size() / rank != 5) // layout_c2
    return emitError() << "expects 5 lane bits, but got "
                       << lanes.size() / rank;
  if (warps.size() / rank > 5) // layout_c3
    return emitError() << "expects at most 5 warp bits, but got "
                       << warps.size() / rank;
  if (registers.size() / rank > kMaxRegisterBits) // layout_c3
    return emitError() << "expects at most " << kMaxRegisterBits
                       << " register bits, but got " << registers.size() / rank;
  for (ArrayRef<int64_t> flat : {registers, lanes, warps})
    for (int64_t coordinate : flat)
      if (coordinate < 0 || coordinate > (int64_t(1) << 30)) // layout_c4
        return emitError() << "expects coordinates from 0 to 2^30, but got "
                           << coordinate;
  return success();
}

LogicalResult
LayoutAttr::verifyFor(ArrayRef<int64_t> shape,
                      function_ref<InFlightDiagnostic()> emitError) const {
  // The algebra packs a point of the tile into one word.
  unsigned bits = 0;
  for (int64_t extent : shape) {
    if (extent <= 0 || !llvm::isPowerOf2_64(extent)) // layout_c5
      return emitError() << "expects static power-of-two extents under a "
                            "'#tile.layout'";
    bits += llvm::Log2_64(extent);
  }
  if (bits > llvm::Log2_64(kMaxTileElements)) // layout_c5
    return emitError() << "expects at most 2^20 elements under a "
                          "'#tile.layout'";
  if (getRank() != shape.size()) // layout_c6
    return emitError() << "expects a layout of rank " << shape.size()
                       << ", but got rank " << getRank();
  for (ArrayRef<int64_t> flat : {getRegisters(), getLanes(), getWarps()})
    for (size_t i = 0; i < flat.size(); ++i)
      if (flat[i] >= shape[i % getRank()]) // layout_c7
        return emitError() << "expects layout coordinates below "
                           << shape[i % getRank()] << " in dimension "
                           << i % getRank() << ", but got " << flat[i];
  if (!toLinearLayout(shape).isSurjective()) // layout_c8
    return emitError() << "expects a layout that covers the whole tile";
  return success();
}

LogicalResult
LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                           function_ref<InFlightDiagnostic()> emitError) const {
  return verifyFor(shape, emitError);
}

//===----------------------------------------------------------------------===//
// To and from the algebra
//===----------------------------------------------------------------------===//

LinearLayout LayoutAttr::toLinearLayout(ArrayRef<int64_t> shape) const {
  Space tile = Space::ofTile(shape);
  SmallVector<uint32_t> columns;
  auto append = [&](ArrayRef<int64_t> flat, unsigned zeroRankCount) {
    if (getRank() == 0) {
      columns.append(zeroRankCount, 0);
      return zeroRankCount;
    }
    for (size_t i = 0; i < flat.size(); i += getRank()) {
      uint32_t packed = 0;
      for (unsigned d = 0; d < getRank(); ++d)
        packed = packed * shape[d] + flat[i + d];
      columns.push_back(packed);
    }
    return static_cast<unsigned>(flat.size() / getRank());
  };
  unsigned registers = append(getRegisters(), 0);
  unsigned lanes = append(getLanes(), 5);
  unsigned warps = append(getWarps(), 0);
  return LinearLayout(
      Space({{"register", registers}, {"lane", lanes}, {"warp", warps}}), tile,
      columns);
}

LayoutAttr LayoutAttr::get(MLIRContext *context, const LinearLayout &layout) {
  ArrayRef<Space::Axis> axes = layout.getCodomain().getAxes();
  unsigned rank = axes.size();
  auto flatten = [&](StringRef name) {
    SmallVector<int64_t> flat;
    for (uint32_t column : layout.getColumns(name))
      for (unsigned d = 0; d < rank; ++d)
        flat.push_back(
            layout.getCodomain().coordinate(column, axes[rank - 1 - d].name));
    return flat;
  };
  return LayoutAttr::get(context, rank, flatten("register"), flatten("lane"),
                         flatten("warp"));
}

//===----------------------------------------------------------------------===//
// Placements
//===----------------------------------------------------------------------===//

LogicalResult
PlacementAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      ArrayRef<int64_t> offsets, int64_t bytes) {
  if (bytes <= 0 || bytes > (int64_t(1) << 24) || !llvm::isPowerOf2_64(bytes))
    return emitError() << "expects a slot of a power of two of bytes up to "
                          "2^24, but got "
                       << bytes;
  for (int64_t offset : offsets)
    if (offset < 0 || offset >= bytes)
      return emitError() << "expects offsets below " << bytes << ", but got "
                         << offset;
  if (offsets.size() > llvm::Log2_64(kMaxTileElements))
    return emitError() << "expects at most " << llvm::Log2_64(kMaxTileElements)
                       << " offsets, but got " << offsets.size();
  SmallVector<uint32_t> columns(offsets.begin(), offsets.end());
  const LinearLayout layout(
      Space({{"index", static_cast<unsigned>(columns.size())}}),
      Space({{"offset", llvm::Log2_64(bytes)}}), columns);
  if (!layout.isInjective())
    return emitError() << "expects different elements in different places";
  return success();
}

LinearLayout PlacementAttr::toLinearLayout(ArrayRef<int64_t> shape) const {
  SmallVector<uint32_t> columns(getOffsets().begin(), getOffsets().end());
  return LinearLayout(Space::ofTile(shape),
                      Space({{"offset", llvm::Log2_64(getBytes())}}), columns);
}

PlacementAttr PlacementAttr::get(MLIRContext *context,
                                 const LinearLayout &layout) {
  SmallVector<int64_t> offsets(layout.getColumns().begin(),
                               layout.getColumns().end());
  return PlacementAttr::get(context, offsets,
                            int64_t(1) << layout.getCodomain().bits());
}
