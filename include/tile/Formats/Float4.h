//===- Float4.h - Pairs of FP4 codes and their orders -----------*- C++ -*-===//
//
// Two f4E2M1FN codes share a byte. Which code is in which half is a convention,
// and a multiply does not show a wrong one: swapping the halves of both
// operands gives the same result. So the order is always named here, never
// assumed.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_FORMATS_FLOAT4_H
#define TILE_FORMATS_FLOAT4_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace tile {

/// One byte with two f4E2M1FN codes: the host's form of `!tile.f4E2M1FNx2`. An
/// array of these has the layout of the tile dialect's buffers, in which the
/// code with the even index is the low one.
class Float4x2 {
public:
  /// Two zeros.
  constexpr Float4x2() = default;

  static constexpr Float4x2 fromBits(uint8_t bits) { return Float4x2(bits); }
  /// The pair of the codes in the low four bits of `low` and `high`.
  static constexpr Float4x2 fromNibbles(uint8_t low, uint8_t high) {
    return Float4x2(static_cast<uint8_t>((low & 0xF) | (high & 0xF) << 4));
  }

  constexpr uint8_t bits() const { return value; }
  /// The code in bits 3..0.
  constexpr uint8_t low() const { return value & 0xF; }
  /// The code in bits 7..4.
  constexpr uint8_t high() const { return value >> 4; }

  friend constexpr bool operator==(Float4x2 a, Float4x2 b) {
    return a.value == b.value;
  }
  friend constexpr bool operator!=(Float4x2 a, Float4x2 b) { return !(a == b); }

private:
  explicit constexpr Float4x2(uint8_t value) : value(value) {}

  uint8_t value = 0;
};

static_assert(sizeof(Float4x2) == 1, "arrays of pairs are arrays of bytes");

/// Which codes share a byte, and in which half each one is.
enum class NibbleOrder : uint8_t {
  /// Codes 2i (low) and 2i+1 (high) in byte i: the tile dialect, `mma`
  /// registers,
  /// torch `float4_e2m1fn_x2`, compressed-tensors, ModelOpt, cuBLAS.
  LowFirst,
  /// Codes 2i (high) and 2i+1 (low) in byte i: some diffusion checkpoints.
  HighFirst,
  /// Per 32 codes: j (low) and j+16 (high) in byte j. GGUF's MXFP4 block.
  GgufMxfp4,
  /// Per 16 codes: j (low) and j+8 (high) in byte j. GGUF's NVFP4 sub-block.
  GgufNvfp4,
};

/// The number of codes after which the order repeats: 2, 2, 32 or 16.
int64_t getNibblePeriod(NibbleOrder order);
/// The order's name in messages and options: "low_first", "high_first",
/// "gguf_mxfp4", "gguf_nvfp4".
llvm::StringRef getNibbleOrderName(NibbleOrder order);

/// Packs f4E2M1FN codes, one per byte with the upper half clear, into pairs.
/// An error where the number of codes is not a multiple of the order's period
/// or a byte is not a code. Rows whose length is no such multiple have no
/// packed form; pad them first.
llvm::Expected<std::vector<uint8_t>> packFloat4(llvm::ArrayRef<uint8_t> codes,
                                                NibbleOrder order);

/// The inverse of `packFloat4`: twice as many bytes, each with one code. An
/// error where the codes do not fill periods of the order.
llvm::Expected<std::vector<uint8_t>> unpackFloat4(llvm::ArrayRef<uint8_t> pairs,
                                                  NibbleOrder order);

/// Moves the codes of `pairs` from one order to another. Errors as above, for
/// both orders.
llvm::Expected<std::vector<uint8_t>>
convertNibbleOrder(llvm::ArrayRef<uint8_t> pairs, NibbleOrder from,
                   NibbleOrder to);

} // namespace tile

#endif // TILE_FORMATS_FLOAT4_H
