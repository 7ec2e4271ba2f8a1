//===- TestUtils.h - What the tests of formats share ------------*- C++ -*-===//

#ifndef TILE_UNITTESTS_FORMATS_TESTUTILS_H
#define TILE_UNITTESTS_FORMATS_TESTUTILS_H

#include "llvm/Support/Error.h"
#include "gtest/gtest.h"

#include <cstdint>
#include <cstring>

namespace tile::test {

/// A fixed hash, so that every run sees the same data.
inline uint32_t hash(uint32_t x) {
  x = x * 0x9E3779B1u + 1;
  x = (x ^ (x >> 16)) * 0x85EBCA6Bu;
  x = (x ^ (x >> 13)) * 0xC2B2AE35u;
  return x ^ (x >> 16);
}

inline uint32_t bitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

inline float floatOf(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// The value, or a failed test and a default one.
template <typename T>
T get(llvm::Expected<T> value) {
  if (value)
    return std::move(*value);
  ADD_FAILURE() << llvm::toString(value.takeError());
  return T();
}

/// The message of an error, or "" where there is none.
template <typename T>
std::string messageOf(llvm::Expected<T> value) {
  return value ? "" : llvm::toString(value.takeError());
}
inline std::string messageOf(llvm::Error error) {
  return llvm::toString(std::move(error));
}

} // namespace tile::test

/// Checks that `value` is an error whose message contains `text`.
#define EXPECT_MESSAGE(value, text)                                            \
  do {                                                                         \
    std::string message = ::tile::test::messageOf(value);                      \
    EXPECT_NE(message.find(text), std::string::npos) << "got: " << message;    \
  } while (false)

#endif // TILE_UNITTESTS_FORMATS_TESTUTILS_H
