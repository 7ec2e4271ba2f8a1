//===- KernelChoice.cpp - Tiles for a problem -----------------------------===//
//
// The figures behind these choices are in docs/performance.md.
//
//===----------------------------------------------------------------------===//

#include "KernelChoice.h"

#include "Gate.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <optional>

using namespace tile::runtime;

/// Tile programs that keep a large GPU busy: it has 100 to 200 multiprocessors.
static constexpr int64_t kEnoughPrograms = 128;
/// Tile programs from which on a wider tile, which reads its operands less
/// often, does not leave multiprocessors without one.
static constexpr int64_t kManyPrograms = 512;
/// Results of a warp that leave it registers for operands, and for a second set
/// of accumulators.
static constexpr int64_t kResultsPerWarp = 64 * 64;
static constexpr int64_t kResultsPerWarpTwice = 64 * 32;
/// More warps than this leave each of them too few registers.
static constexpr int64_t kMaxWarps = 8;
/// Stages that hide the latency of memory: one that is read and two that come.
static constexpr int64_t kWantedStages = 3;
/// Bytes of the widest access.
static constexpr int64_t kWidestAccess = 16;
/// Bytes of the narrowest asynchronous copy. Rows of scales that are shorter
/// are not copied ahead.
static constexpr int64_t kNarrowestCopy = 4;
/// The grid of a launch.
static constexpr int64_t kMaxGridX = (int64_t(1) << 31) - 1;
static constexpr int64_t kMaxGridY = 65535;

//===----------------------------------------------------------------------===//
// Problems
//===----------------------------------------------------------------------===//

static Error makeError(const std::string &name, const std::string &message) {
  return Error(ErrorCode::InvalidArgument, name + ": " + message);
}

/// "f32, bf16 or f16".
static std::string join(llvm::ArrayRef<ElementType> types) {
  std::string text;
  for (auto [index, type] : llvm::enumerate(types)) {
    if (index)
      text += index + 1 == types.size() ? " or " : ", ";
    text += getElementTypeName(type);
  }
  return text;
}

static Status checkType(const std::string &name, const char *field,
                        ElementType type, llvm::ArrayRef<ElementType> allowed) {
  if (llvm::is_contained(allowed, type))
    return {};
  return makeError(name, std::string("expects ") + field + " to be " +
                             join(allowed) + ", but got " +
                             getElementTypeName(type));
}

static Status checkExtent(const std::string &name, const char *field,
                          int64_t extent, int64_t divisor = 1) {
  if (extent < 1)
    return makeError(name, std::string("expects ") + field +
                               " to be at least 1, but got " +
                               std::to_string(extent));
  if (extent % divisor != 0)
    return makeError(name, std::string("expects ") + field +
                               " to be a multiple of " +
                               std::to_string(divisor) + ", but got " +
                               std::to_string(extent));
  return {};
}

/// Checks that `extent` needs at most `most` tiles of `tile`.
static Status checkGrid(const std::string &name, const char *field,
                        int64_t extent, int64_t tile, int64_t most) {
  if (llvm::divideCeil(extent, tile) <= uint64_t(most))
    return {};
  return makeError(name, std::string("expects ") + field + " to be at most " +
                             std::to_string(most * tile) + ", but got " +
                             std::to_string(extent));
}

/// The error for a kernel that is not one of `names`.
static Error makeNameError(const std::string &name, const char *what,
                           const std::vector<std::string> &names) {
  return Error(ErrorCode::NotFound, std::string("no ") + what + " '" + name +
                                        "' in the kernel library; known are " +
                                        llvm::join(names, ", "));
}

static constexpr ElementType kFloats[] = {ElementType::F32, ElementType::BF16,
                                          ElementType::F16};
static constexpr ElementType kHalves[] = {ElementType::BF16, ElementType::F16};
static constexpr ElementType kFP8[] = {ElementType::F8E4M3FN,
                                       ElementType::F8E5M2};

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// The largest power of two that divides `number`, up to `limit`.
static int64_t getPowerOf2Factor(int64_t number, int64_t limit) {
  return std::min(number & -number, limit);
}

/// The least power of two from `least` to `most` that is not below `number`, or
/// `most`.
static int64_t clampToPowerOf2(int64_t number, int64_t least, int64_t most) {
  int64_t power = least;
  while (power < most && power < number)
    power *= 2;
  return power;
}

/// The number of tiles of `rows` x `columns` that cover `m` x `n`, or `most`
/// where there are more.
static int64_t countPrograms(int64_t m, int64_t rows, int64_t n,
                             int64_t columns, int64_t most) {
  int64_t down = llvm::divideCeil(m, rows);
  int64_t across = llvm::divideCeil(n, columns);
  return down >= most || across >= most ? most : std::min(down * across, most);
}

namespace {

/// What the choice of a tile depends on besides the problem: bits of K of each
/// operand, and how many values share a scale.
struct LinearTraits {
  int64_t xBits, yBits;
  int64_t block;
  bool xHasScales;
  /// Blocks of K are summed apart, since scales exceed the range of f16.
  bool sumsTwice;

  /// Bytes of shared memory of a step of K.
  int64_t getStageBytes(int64_t bm, int64_t bn, int64_t bk) const {
    int64_t values = (bm * xBits + bn * yBits) * bk / 8;
    return values + ((xHasScales ? bm : 0) + bn) * (bk / block);
  }
};

struct Tile {
  int64_t bm, bn, bk;
  unsigned numWarps;
};

} // namespace

/// The tile of a linear layer whose multiplies warps issue.
static Tile chooseTile(const LinearProblem &problem, const LinearTraits &traits,
                       int64_t sharedBytes) {
  Tile tile;
  // No tile is larger than the problem, or than four warps can accumulate. Few
  // rows of x use each weight once whatever the tile is.
  tile.bm = clampToPowerOf2(problem.m, 16, 128);
  tile.bn = clampToPowerOf2(problem.n, 16, 128);
  // A step of K is 128 values, which are 4 scales at least in each row.
  tile.bk = clampToPowerOf2(problem.k, 64, 128);

  auto getStages = [&] {
    return sharedBytes / traits.getStageBytes(tile.bm, tile.bn, tile.bk);
  };
  auto isAtLeast = [&](int64_t programs) {
    return countPrograms(problem.m, tile.bm, problem.n, tile.bn, programs) >=
           programs;
  };
  // Too few programs: halve the longer side, columns first.
  while (!isAtLeast(kEnoughPrograms) && std::max(tile.bm, tile.bn) > 16)
    (tile.bn >= tile.bm ? tile.bn : tile.bm) /= 2;

  int64_t perWarp = traits.sumsTwice ? kResultsPerWarpTwice : kResultsPerWarp;
  if (tile.bm == 128 && tile.bn == 128 && 128 * 256 / perWarp <= kMaxWarps) {
    // Many programs: a wider tile, if the pipeline stays as deep.
    tile.bn = 256;
    if (!isAtLeast(kManyPrograms) || getStages() < kWantedStages)
      tile.bn = 128;
  }
  // Too little shared memory: a shorter step, if scales are still copied ahead.
  if (getStages() < kWantedStages &&
      tile.bk / 2 / traits.block >= kNarrowestCopy)
    tile.bk /= 2;

  tile.numWarps = std::max<int64_t>(4, tile.bm * tile.bn / perWarp);
  return tile;
}

/// The same for multiplies in tensor memory, whose instruction takes 128 rows
/// of one side whatever the tile is: of the weights, where x has fewer.
static Tile chooseTensorTile(const LinearProblem &problem,
                             const LinearTraits &traits, int64_t sharedBytes) {
  Tile tile;
  tile.bm = clampToPowerOf2(problem.m, 16, 128);
  tile.bn = 128;
  // 128 bytes of each row are what the widest swizzle takes.
  const int64_t bits = std::max(traits.xBits, traits.yBits);
  tile.bk = clampToPowerOf2(problem.k, 64, 128 * 8 / bits);
  auto isAtLeast = [&](int64_t programs) {
    return countPrograms(problem.m, tile.bm, problem.n, tile.bn, programs) >=
           programs;
  };
  while (!isAtLeast(kEnoughPrograms) && tile.bm > 16)
    tile.bm /= 2;
  if (tile.bm == 128) {
    tile.bn = 256;
    if (!isAtLeast(kEnoughPrograms))
      tile.bn = 128;
  }
  if (sharedBytes / traits.getStageBytes(128, tile.bn, tile.bk) < kWantedStages)
    tile.bk /= 2;
  // Half of the warps copy.
  tile.numWarps = tile.bm * tile.bn >= 128 * 128 ? 8 : 4;
  return tile;
}

const std::vector<std::string> &tile::runtime::getLinearNames() {
  ForkShield shield;
  static const std::vector<std::string> names = {
      "nvfp4_linear", "mxfp4_linear", "mxfp8_linear", "w4a16_linear"};
  return names;
}

Expected<KernelChoice> tile::runtime::chooseLinear(const std::string &name,
                                                   const LinearProblem &problem,
                                                   unsigned sharedBytes,
                                                   bool hasTensorMemory) {
  if (!llvm::is_contained(getLinearNames(), name))
    return makeNameError(name, "linear layer", getLinearNames());
  bool isMxfp8 = name == "mxfp8_linear";
  bool isW4A16 = name == "w4a16_linear";
  LinearTraits traits = {4, 4, name == "nvfp4_linear" ? 16 : 32, true, false};
  if (isMxfp8)
    traits.xBits = traits.yBits = 8;
  if (isW4A16)
    traits = {16, 4, problem.mxScales ? 32 : 16, false,
              problem.mxScales && problem.x == ElementType::F16};

  if (Status status = checkExtent(name, "m", problem.m); !status)
    return status.error();
  if (Status status = checkExtent(name, "n", problem.n); !status)
    return status.error();
  if (Status status = checkExtent(name, "k", problem.k, traits.block); !status)
    return status.error();
  if (Status status = checkType(name, "output", problem.output, kFloats);
      !status)
    return status.error();
  if (isMxfp8 || isW4A16)
    if (Status status = isMxfp8 ? checkType(name, "x", problem.x, kFP8)
                                : checkType(name, "x", problem.x, kHalves);
        !status)
      return status.error();
  if (isMxfp8)
    if (Status status = checkType(name, "y", problem.y, kFP8); !status)
      return status.error();
  if (problem.mxScales && !isW4A16)
    return makeError(name, "expects mxScales for w4a16_linear only");

  Tile tile = hasTensorMemory && !isW4A16
                  ? chooseTensorTile(problem, traits, sharedBytes)
                  : chooseTile(problem, traits, sharedBytes);
  if (Status status = checkGrid(name, "m", problem.m, tile.bm, kMaxGridX);
      !status)
    return status.error();
  if (Status status = checkGrid(name, "n", problem.n, tile.bn, kMaxGridY);
      !status)
    return status.error();

  // Where a step divides what K is known to be a multiple of, none is a part of
  // one; more is of no use, and would ask more of the distances of rows.
  int64_t ka = getPowerOf2Factor(problem.k, tile.bk);
  int64_t na = getPowerOf2Factor(
      problem.n, kWidestAccess / getElementBytes(problem.output));
  KernelChoice choice;
  choice.constants = {
      {"BM", std::to_string(tile.bm)},
      {"BN", std::to_string(tile.bn)},
      {"BK", std::to_string(tile.bk)},
      {"KA", std::to_string(ka)},
      {"NA", std::to_string(na)},
      {"OUT", getElementTypeName(problem.output)},
      {"ALPHA", problem.alphaPerColumn ? "column" : "scalar"},
      {"ALPHA_ATTRIBUTES",
       problem.alphaPerColumn
           ? "{tile.extents = [\"N\"], tile.shape_divisible_by = array<i64: " +
                 std::to_string(na) + ">}"
           : "{}"},
  };
  if (isMxfp8 || isW4A16)
    choice.constants["X"] = getElementTypeName(problem.x);
  if (isMxfp8)
    choice.constants["Y"] = getElementTypeName(problem.y);
  if (isW4A16) {
    choice.constants["SCALES"] = getElementTypeName(
        problem.mxScales ? ElementType::F8E8M0FNU : ElementType::F8E4M3FN);
    choice.constants["V"] = std::to_string(traits.block);
  }
  choice.numWarps = tile.numWarps;
  choice.grid = Grid(llvm::divideCeil(problem.m, tile.bm),
                     llvm::divideCeil(problem.n, tile.bn));
  return choice;
}

//===----------------------------------------------------------------------===//
// Quantisers
//===----------------------------------------------------------------------===//

const std::vector<std::string> &tile::runtime::getQuantizeNames() {
  ForkShield shield;
  static const std::vector<std::string> names = {
      "quantize_nvfp4", "quantize_mxfp4", "quantize_mxfp8", "dequantize"};
  return names;
}

Expected<KernelChoice>
tile::runtime::chooseQuantize(const std::string &name,
                              const QuantizeProblem &problem) {
  if (!llvm::is_contained(getQuantizeNames(), name))
    return makeNameError(name, "quantiser", getQuantizeNames());
  bool isBack = name == "dequantize";
  std::string format =
      isBack ? problem.format : name.substr(std::string("quantize_").size());
  if (format != "nvfp4" && format != "mxfp4" && format != "mxfp8")
    return makeError(name,
                     "expects format to be nvfp4, mxfp4 or mxfp8, but got '" +
                         format + "'");
  bool isFp8 = format == "mxfp8";
  int64_t block = format == "nvfp4" ? 16 : 32;

  if (Status status = checkExtent(name, "m", problem.m); !status)
    return status.error();
  if (Status status = checkExtent(name, "k", problem.k, block); !status)
    return status.error();
  if (Status status = checkType(name, "values", problem.values, kFloats);
      !status)
    return status.error();
  if (isFp8)
    if (Status status = checkType(name, "codes", problem.codes, kFP8); !status)
      return status.error();

  // Rows are long enough for wide accesses of neighbouring lanes. A tile is 32
  // values for each lane of four warps, or less where there are few tiles.
  int64_t bk = clampToPowerOf2(problem.k, 32, 256);
  int64_t bm = clampToPowerOf2(problem.m, 1, 4096 / bk);
  while (bm > 1 && countPrograms(problem.m, bm, problem.k, bk,
                                 kEnoughPrograms) < kEnoughPrograms)
    bm /= 2;
  if (Status status = checkGrid(name, "m", problem.m, bm, kMaxGridX); !status)
    return status.error();
  if (Status status = checkGrid(name, "k", problem.k, bk, kMaxGridY); !status)
    return status.error();

  KernelChoice choice;
  // What is known of K makes codes, two to a byte, accesses of 16 bytes.
  int64_t ka = getPowerOf2Factor(problem.k, 2 * kWidestAccess);
  choice.constants = {
      {"BM", std::to_string(bm)},
      {"BK", std::to_string(bk)},
      {"KA", std::to_string(ka)},
      {isBack ? "OUT" : "X", getElementTypeName(problem.values)},
  };
  if (isBack) {
    choice.constants["CODES"] =
        isFp8 ? getElementTypeName(problem.codes) : "f4E2M1FN";
    choice.constants["P"] = isFp8 ? "1" : "2";
    choice.constants["SCALES"] = getElementTypeName(
        format == "nvfp4" ? ElementType::F8E4M3FN : ElementType::F8E8M0FNU);
    choice.constants["V"] = std::to_string(block);
  } else if (isFp8) {
    choice.constants["CODES"] = getElementTypeName(problem.codes);
    choice.constants["EMAX"] =
        problem.codes == ElementType::F8E4M3FN ? "8" : "15";
  }
  choice.numWarps = std::clamp<int64_t>(bm * bk / (32 * 16), 1, 4);
  choice.grid =
      Grid(llvm::divideCeil(problem.m, bm), llvm::divideCeil(problem.k, bk));
  return choice;
}
