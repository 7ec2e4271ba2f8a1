//===- Codes.h - Number formats as the PTX ISA states them ------*- C++ -*-===//
//
// Decoding and encoding of the formats that `mma.sync` and `cvt` use, written
// from the PTX ISA alone (sections "Alternate floating-point data formats" and
// "cvt"). The project's own tables are not used here on purpose: what checks
// the compiler shares no code with it.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TEST_LANESIMULATOR_CODES_H
#define TILE_TEST_LANESIMULATOR_CODES_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace tile {
namespace lane {

/// A format in which PTX holds a multiplicand or a scale.
enum class Code : uint8_t { E2M1, E4M3, E5M2, UE8M0, UE4M3, F16, BF16, F32 };

/// The format that PTX spells `name` ("e2m1", "bf16", …), or nullopt.
std::optional<Code> findCode(llvm::StringRef name);

/// The value of the code in the low bits of `bits`. The sign bit of a UE4M3
/// code is ignored.
double decode(Code code, uint32_t bits);

/// `value` rounded to nearest even. E2M1, E4M3 and E5M2 saturate as with
/// `.satfinite`, F16, BF16 and F32 overflow to infinity. NaN becomes +6 in E2M1
/// and the canonical NaN elsewhere (0x7F, 0x7FFF, 0x7FFFFFFF).
/// Requires: `code` is signed.
uint32_t encode(Code code, double value);

/// `cvt.rz` and `cvt.rp` to UE8M0: the exponent of |value|, rounded toward zero
/// or up. NaN gives 0xFF; overflow gives 0xFE with `saturate`, else 0xFF.
uint32_t encodeUE8M0(double value, bool up, bool saturate);

/// a * b + c with one rounding.
/// Requires: `code` is F16 or BF16.
uint32_t fusedMultiplyAdd(Code code, uint32_t a, uint32_t b, uint32_t c);

} // namespace lane
} // namespace tile

#endif // TILE_TEST_LANESIMULATOR_CODES_H
