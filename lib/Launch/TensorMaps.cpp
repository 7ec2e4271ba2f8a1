//===- TensorMaps.cpp - Tensor maps for a launch --------------------------===//

#include "tile/Launch/TensorMaps.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace tile;
using emulator::TensorMap;

/// The coordinates of a kernel have 32 bits and a sign, and tiles may reach
/// beyond the array.
static constexpr int64_t kMaxExtent = int64_t(1) << 30;
static constexpr int64_t kMaxStride = (int64_t(1) << 40) - 1;

bool tile::isEmptyTensor(ArrayRef<int64_t> shape) {
  return is_contained(shape, 0);
}

unsigned tile::getTensorMapAlignment(const TensorMapParameter &map) {
  return map.type == "b4x16_p64" ? 32 : 16;
}

/// Elements of the map's type in one of the array.
static unsigned getValuesPerElement(StringRef type) {
  return type.starts_with("b4x16") ? 2 : 1;
}

static std::optional<TensorMap::Swizzle> findSwizzle(unsigned bytes) {
  return emulator::findTensorSwizzle(bytes ? std::to_string(bytes) : "none");
}

Error tile::validate(const TensorMapParameter &map, size_t rank) {
  auto refuse = [](const Twine &what) { return createStringError(what); };
  if (rank < 1 || rank > TensorMap::kMaxRank)
    return refuse(
        "a tensor map expects an array of 1 to 5 dimensions, but got " +
        Twine(rank));
  SmallBitVector seen(rank);
  for (unsigned dim : map.dims)
    if (dim < rank)
      seen.set(dim);
  if (map.dims.size() != rank || !seen.all() || map.box.size() != rank)
    return refuse("a tensor map expects each of the " + Twine(rank) +
                  " dimensions once");
  if (!is_contained({"u8", "u16", "b4x16", "b4x16_p64"}, map.type))
    return refuse("a tensor map expects type u8, u16, b4x16 or b4x16_p64, but "
                  "got '" +
                  map.type + "'");
  if (!findSwizzle(map.swizzle))
    return refuse("a tensor map expects a swizzle of 0, 32, 64 or 128 bytes, "
                  "but got " +
                  Twine(map.swizzle));
  if (map.fill != "zero")
    return refuse("a tensor map expects fill zero, but got '" + map.fill + "'");
  // The box is left to the rules of maps: those of one that has no elements.
  KernelArgument empty;
  SmallVector<int64_t> none(rank, 0);
  empty.shape = empty.strides = none;
  return makeTensorMap(map, empty, /*zeros=*/0).takeError();
}

Expected<TensorMap> tile::makeTensorMap(const TensorMapParameter &map,
                                        const KernelArgument &array,
                                        uint64_t zeros) {
  TensorMap result;
  result.element = *emulator::findTensorElement(map.type);
  result.swizzle = *findSwizzle(map.swizzle);
  result.l2Promotion = TensorMap::L2Promotion::Bytes128;
  result.rank = map.dims.size();
  const unsigned alignment = getTensorMapAlignment(map);
  const unsigned perElement = getValuesPerElement(map.type);
  const int64_t elementBytes = map.type == "u16" ? 2 : 1;
  const bool isEmpty = isEmptyTensor(array.shape);
  auto refuse = [](const Twine &expected, const Twine &found) {
    return createStringError("a tensor map expects " + expected + ", but got " +
                             found);
  };

  result.address = isEmpty ? zeros : array.bits;
  if (result.address % alignment)
    return refuse("an address that is a multiple of " + Twine(alignment),
                  "0x" + utohexstr(result.address, /*LowerCase=*/true));
  for (unsigned i = 0; i < result.rank; ++i) {
    const unsigned position = result.rank - 1 - i, dim = map.dims[position];
    result.box[i] = map.box[position];
    // Of zeros only as much is described as any box must have; what lies
    // outside reads as zero anyway.
    const int64_t fewest = i == 0 && map.type == "b4x16_p64" ? 64 : 1;
    const int64_t extent = isEmpty ? fewest : array.shape[dim];
    const int64_t most = i == 0 ? kMaxExtent / perElement : kMaxExtent;
    if (extent < 0 || extent > most || extent % fewest)
      return refuse(
          "dimension " + Twine(dim) + " to have at most " + Twine(most) +
              " elements" +
              (fewest > 1 ? ", a multiple of " + Twine(fewest) : Twine()),
          Twine(extent));
    result.extents[i] = extent * (i == 0 ? perElement : 1);
    if (i == 0) {
      if (!isEmpty && extent > 1 && array.strides[dim] != 1)
        return refuse("stride 1 along dimension " + Twine(dim),
                      Twine(array.strides[dim]));
      continue;
    }
    // Where there is one element, nothing is ever added.
    if (isEmpty || extent == 1) {
      result.strides[i - 1] = alignment;
      continue;
    }
    const int64_t stride = array.strides[dim];
    if (stride < 0 || stride > kMaxStride / elementBytes ||
        stride * elementBytes % alignment)
      return refuse("a stride along dimension " + Twine(dim) +
                        " that is a multiple of " +
                        Twine(alignment / elementBytes) +
                        " elements and less than 2^40 bytes",
                    Twine(stride));
    result.strides[i - 1] = stride * elementBytes;
  }
  if (Error error = result.validate())
    return std::move(error);
  return result;
}
