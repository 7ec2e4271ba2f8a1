//===- Fragment.cpp - What one thread holds of a tile ---------------------===//

#include "Fragment.h"

#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

bool Fragment::isPacked(Type elementType) {
  unsigned bits = getElementBits(elementType);
  return bits < 32 && bits != 1;
}

unsigned Fragment::perValue(Type elementType) {
  return isPacked(elementType) ? 32 / getElementBits(elementType) : 1;
}

unsigned Fragment::numValues(Type elementType, unsigned registers) {
  return llvm::divideCeil(registers, perValue(elementType));
}

Type Fragment::valueType(Type elementType) {
  return isPacked(elementType) ? IntegerType::get(elementType.getContext(), 32)
                               : elementType;
}

Type tile::getScalarType(Type elementType) {
  if (isa<IntegerType, IndexType, BFloat16Type, Float16Type, Float32Type>(
          elementType))
    return elementType;
  return IntegerType::get(elementType.getContext(),
                          getElementBits(elementType));
}

Value Fragment::getBits(Emitter &emit, unsigned r) const {
  unsigned bits = getElementBits(elementType);
  unsigned first = r % perValue() * bits;
  Value word = emit.lshr(values[r / perValue()], first);
  // The topmost element needs no mask.
  return first + bits == 32 ? word : emit.bitAnd(word, (1u << bits) - 1);
}

Value Fragment::getScalar(Emitter &emit, unsigned r) const {
  if (!isPacked())
    return values[r];
  unsigned bits = getElementBits(elementType);
  Type integer = emit.builder.getIntegerType(bits);
  Value word = emit.lshr(values[r / perValue()], r % perValue() * bits);
  Value narrow = emit.trunc(integer, word);
  return emit.bitcast(getScalarType(elementType), narrow);
}

Fragment Fragment::fromBits(Emitter &emit, Type elementType,
                            const LinearLayout &layout, ArrayRef<Value> bits) {
  Fragment fragment{elementType, layout, {}};
  unsigned width = getElementBits(elementType), count = perValue(elementType);
  for (unsigned first = 0; first < bits.size(); first += count) {
    Value word;
    for (unsigned i = 0; i < count && first + i < bits.size(); ++i) {
      Value placed = emit.shl(bits[first + i], i * width);
      word = word ? emit.bitOr(word, placed) : placed;
    }
    fragment.values.push_back(word);
  }
  return fragment;
}

Fragment Fragment::fromScalars(Emitter &emit, Type elementType,
                               const LinearLayout &layout,
                               ArrayRef<Value> scalars) {
  if (!isPacked(elementType))
    return {elementType, layout, llvm::to_vector(scalars)};
  Type integer = emit.builder.getIntegerType(getElementBits(elementType));
  SmallVector<Value> bits;
  for (Value scalar : scalars)
    bits.push_back(emit.zext(emit.i32(), emit.bitcast(integer, scalar)));
  return fromBits(emit, elementType, layout, bits);
}
