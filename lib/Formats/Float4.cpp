//===- Float4.cpp - Pairs of FP4 codes and their orders -------------------===//

#include "tile/Formats/Float4.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

using namespace tile;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::Twine;

int64_t tile::getNibblePeriod(NibbleOrder order) {
  switch (order) {
  case NibbleOrder::LowFirst:
  case NibbleOrder::HighFirst:
    return 2;
  case NibbleOrder::GgufMxfp4:
    return 32;
  case NibbleOrder::GgufNvfp4:
    return 16;
  }
  llvm_unreachable("unknown nibble order");
}

llvm::StringRef tile::getNibbleOrderName(NibbleOrder order) {
  switch (order) {
  case NibbleOrder::LowFirst:
    return "low_first";
  case NibbleOrder::HighFirst:
    return "high_first";
  case NibbleOrder::GgufMxfp4:
    return "gguf_mxfp4";
  case NibbleOrder::GgufNvfp4:
    return "gguf_nvfp4";
  }
  llvm_unreachable("unknown nibble order");
}

/// The index of the nibble that holds code `index`; nibble 2i is the low half
/// of byte i.
static size_t getNibble(NibbleOrder order, size_t index) {
  if (order == NibbleOrder::LowFirst)
    return index;
  if (order == NibbleOrder::HighFirst)
    return index ^ 1;
  // The first half of a period fills the low halves, the second half the high.
  size_t period = static_cast<size_t>(getNibblePeriod(order));
  size_t within = index % period, half = period / 2;
  return index - within + within % half * 2 + within / half;
}

static Error checkPeriod(size_t codes, NibbleOrder order) {
  int64_t period = getNibblePeriod(order);
  if (codes % static_cast<size_t>(period) == 0)
    return Error::success();
  return llvm::createStringError(
      llvm::inconvertibleErrorCode(),
      "expects a multiple of " + Twine(period) + " FP4 codes for the order '" +
          getNibbleOrderName(order) + "', but got " + Twine(codes));
}

Expected<std::vector<uint8_t>> tile::packFloat4(ArrayRef<uint8_t> codes,
                                                NibbleOrder order) {
  if (Error error = checkPeriod(codes.size(), order))
    return std::move(error);
  std::vector<uint8_t> pairs(codes.size() / 2, 0);
  for (size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] > 0xF)
      return llvm::createStringError(
          llvm::inconvertibleErrorCode(),
          "expects FP4 codes below 16, one per byte, but got " +
              Twine(static_cast<unsigned>(codes[i])) + " at index " + Twine(i) +
              "; are the values packed already?");
    size_t nibble = getNibble(order, i);
    pairs[nibble / 2] |= static_cast<uint8_t>(codes[i] << (nibble % 2 * 4));
  }
  return pairs;
}

Expected<std::vector<uint8_t>> tile::unpackFloat4(ArrayRef<uint8_t> pairs,
                                                  NibbleOrder order) {
  if (Error error = checkPeriod(pairs.size() * 2, order))
    return std::move(error);
  std::vector<uint8_t> codes(pairs.size() * 2);
  for (size_t i = 0; i < codes.size(); ++i) {
    size_t nibble = getNibble(order, i);
    Float4x2 pair = Float4x2::fromBits(pairs[nibble / 2]);
    codes[i] = nibble % 2 ? pair.high() : pair.low();
  }
  return codes;
}

Expected<std::vector<uint8_t>> tile::convertNibbleOrder(ArrayRef<uint8_t> pairs,
                                                        NibbleOrder from,
                                                        NibbleOrder to) {
  Expected<std::vector<uint8_t>> codes = unpackFloat4(pairs, from);
  if (!codes)
    return codes.takeError();
  return packFloat4(*codes, to);
}
