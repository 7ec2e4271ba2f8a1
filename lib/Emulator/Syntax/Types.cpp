//===- Types.cpp - Types and state spaces of PTX --------------------------===//

#include "tile/Emulator/Syntax.h"

#include "llvm/ADT/StringMap.h"

#include <iterator>

using namespace llvm;

namespace tile::emulator {

namespace {
struct TypeRow {
  StringLiteral name;
  unsigned bits;
};
} // namespace

// In the order of `Type`. Table "Fundamental Type Specifiers" and the sections
// "Alternate Floating-Point Data Formats" and "Packed Data Types" of the ISA;
// e2m3 and e3m2 pairs keep each value in a byte.
static const TypeRow rows[] = {
    {"", 0},        {"pred", 1},    {"b8", 8},      {"b16", 16},
    {"b32", 32},    {"b64", 64},    {"b128", 128},  {"u8", 8},
    {"u16", 16},    {"u32", 32},    {"u64", 64},    {"s8", 8},
    {"s16", 16},    {"s32", 32},    {"s64", 64},    {"f16", 16},
    {"f16x2", 32},  {"bf16", 16},   {"bf16x2", 32}, {"tf32", 32},
    {"f32", 32},    {"f32x2", 64},  {"f64", 64},    {"u16x2", 32},
    {"s16x2", 32},  {"u8x4", 32},   {"s8x4", 32},   {"e4m3", 8},
    {"e5m2", 8},    {"e2m1", 4},    {"e2m3", 6},    {"e3m2", 6},
    {"ue8m0", 8},   {"ue4m3", 8},   {"e4m3x2", 16}, {"e5m2x2", 16},
    {"e2m1x2", 8},  {"e2m3x2", 16}, {"e3m2x2", 16}, {"ue8m0x2", 16},
    {"e4m3x4", 32}, {"e5m2x4", 32}, {"e2m1x4", 16}, {"e2m3x4", 32},
    {"e3m2x4", 32}, {"u4", 4},      {"s4", 4},      {"b1", 1},
};
static_assert(std::size(rows) == static_cast<size_t>(Type::B1) + 1,
              "one row per type");

std::optional<Type> findType(StringRef name) {
  static const StringMap<Type> types = [] {
    StringMap<Type> map;
    for (size_t i = 1; i < std::size(rows); ++i)
      map[rows[i].name] = static_cast<Type>(i);
    return map;
  }();
  auto found = types.find(name);
  if (found == types.end())
    return std::nullopt;
  return found->second;
}

StringRef getTypeName(Type type) {
  return rows[static_cast<size_t>(type)].name;
}

unsigned getTypeBits(Type type) { return rows[static_cast<size_t>(type)].bits; }

StringRef getStateSpaceName(StateSpace space) {
  switch (space) {
  case StateSpace::Generic:
    return "generic";
  case StateSpace::Register:
    return "reg";
  case StateSpace::Constant:
    return "const";
  case StateSpace::Global:
    return "global";
  case StateSpace::Local:
    return "local";
  case StateSpace::Parameter:
    return "param";
  case StateSpace::Shared:
    return "shared";
  }
  return "";
}

uint64_t Variable::getSize() const {
  return elements.value_or(1) * vectorSize * (getTypeBits(type) / 8);
}

} // namespace tile::emulator
