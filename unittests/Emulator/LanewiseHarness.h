//===- LanewiseHarness.h - Tests of lane-wise instructions ------*- C++ -*-===//
//
// Runs one instruction over hashed inputs and edge values and compares every
// lane with a C++ formulation of the same; and finds out which bits of its
// result count as written where some bits of its operands do not.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_UNITTESTS_EMULATOR_LANEWISEHARNESS_H
#define TILE_UNITTESTS_EMULATOR_LANEWISEHARNESS_H

#include "Harness.h"
#include "llvm/ADT/StringExtras.h"

#include <array>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

namespace tile::emulator {

/// A hash of `seed`: all bits depend on all bits.
inline uint64_t hashBits(uint64_t seed) {
  seed += 0x9E3779B97F4A7C15;
  seed = (seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9;
  seed = (seed ^ (seed >> 27)) * 0x94D049BB133111EB;
  return seed ^ (seed >> 31);
}

/// A value for tests: often an edge case, a small number or a single bit.
template <typename T>
T makeValue(uint64_t seed) {
  uint64_t bits = hashBits(seed);
  constexpr unsigned width = 8 * sizeof(T);
  uint64_t value = bits >> 16;
  uint64_t top = uint64_t(1) << (width - 1);
  switch (bits & 15) {
  case 0:
    value = 0;
    break;
  case 1:
    value = 1;
    break;
  case 2:
    value = ~uint64_t(0);
    break;
  case 3:
    value = top;
    break;
  case 4:
    value = top - 1;
    break;
  case 5:
  case 6:
    value = value % 70;
    break;
  case 7:
    value = 0 - value % 70;
    break;
  case 8:
    value = uint64_t(1) << (value % width);
    break;
  case 9:
    value = width;
    break;
  default:
    value = value << 16 | (bits & 0xFFFF);
    break;
  }
  T result;
  std::memcpy(&result, &value, sizeof(T));
  return result;
}

/// ".b32" for a type of 4 bytes; bool is a predicate that travels as a word.
template <typename T>
std::string getRegisterType() {
  if (std::is_same_v<T, bool>)
    return ".pred";
  return ".b" + std::to_string(8 * sizeof(T));
}
template <typename T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint32_t, T>;

/// Declares register `name` of type `T` and loads it from `offset`.
template <typename T>
std::string loadRegister(const std::string &name, unsigned offset) {
  std::string address = "[%in+" + std::to_string(offset) + "];\n";
  if (std::is_same_v<T, bool>)
    return ".reg .pred " + name + "; .reg .b32 " + name + "_word;\nld.global" +
           ".b32 " + name + "_word, " + address + "setp.ne.u32 " + name + ", " +
           name + "_word, 0;\n";
  std::string type = getRegisterType<T>();
  return ".reg " + type + " " + name + ";\nld.global" + type + " " + name +
         ", " + address;
}

/// Stores register `name` of type `T` at `offset`.
template <typename T>
std::string storeRegister(const std::string &name, unsigned offset) {
  std::string address = "[%out+" + std::to_string(offset) + "], ";
  if (std::is_same_v<T, bool>)
    return ".reg .b32 " + name + "_word; selp.u32 " + name + "_word, 1, 0, " +
           name + ";\nst.global.b32 " + address + name + "_word;\n";
  return "st.global" + getRegisterType<T>() + " " + address + name + ";\n";
}

/// Prints numbers as hexadecimal digits.
template <typename... T>
std::string printBits(T... values) {
  std::string text;
  auto print = [&](auto value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(value));
    text += (text.empty() ? "0x" : ", 0x") +
            llvm::utohexstr(bits, false, 2 * sizeof(value));
  };
  (print(values), ...);
  return text;
}

/// The names of source registers, in order.
constexpr const char *kSources[] = {"%a", "%b", "%c", "%e"};

/// Bytes of one lane's inputs: eight for each source.
constexpr unsigned kSourceBytes = 8;

/// Where a test's kernel is for.
struct Target {
  std::string name = "sm_90a";
  std::string version = "8.8";
};

/// Expects `instruction`, which computes %d from %a, %b, %c and %e, to compute
/// `reference` in every lane. A type `bool` is a predicate.
template <typename D, typename... S>
void expectLanes(const std::string &instruction, D (*reference)(S...),
                 Target target = {}, unsigned rounds = 12) {
  constexpr unsigned count = sizeof...(S);
  SCOPED_TRACE(instruction);
  std::string body;
  unsigned i = 0;
  ((body += loadRegister<S>(kSources[i], kSourceBytes * i), ++i), ...);
  body += ".reg " + getRegisterType<D>() + " %d;\n" + instruction + "\n" +
          storeRegister<D>("%d", 0);
  for (unsigned round = 0; round != rounds; ++round) {
    std::vector<uint8_t> in(32 * kSourceBytes * count);
    std::tuple<Stored<S>...> values[32];
    for (unsigned lane = 0; lane != 32; ++lane) {
      unsigned k = 0;
      auto make = [&](auto &value) {
        value = makeValue<std::decay_t<decltype(value)>>(
            hashBits(round * 32 + lane) + k);
        std::memcpy(&in[(lane * count + k) * kSourceBytes], &value,
                    sizeof(value));
        ++k;
      };
      std::apply([&](auto &...value) { (make(value), ...); }, values[lane]);
    }
    std::string error;
    std::vector<uint8_t> out =
        runLanes(body, in, kSourceBytes * count, kSourceBytes, error,
                 target.name, target.version);
    ASSERT_EQ(error, "");
    for (unsigned lane = 0; lane != 32; ++lane) {
      Stored<D> found;
      std::memcpy(&found, &out[lane * kSourceBytes], sizeof(found));
      Stored<D> expected = std::apply(
          [&](auto... value) {
            return static_cast<Stored<D>>(reference(static_cast<S>(value)...));
          },
          values[lane]);
      ASSERT_EQ(printBits(found), printBits(expected))
          << "lane " << lane << " of "
          << std::apply([](auto... value) { return printBits(value...); },
                        values[lane]);
    }
  }
}

/// The error of decoding or running `body`, or an empty string.
inline std::string getError(const std::string &body, Target target = {}) {
  std::string error;
  runLanes(body, {}, 8, 8, error, target.name, target.version);
  return error;
}

/// Expects the error of `body` to contain `text`.
inline void expectError(const std::string &body, const std::string &text,
                        Target target = {}) {
  std::string error = getError(body, target);
  EXPECT_NE(error.find(text), std::string::npos)
      << "of: " << body << "\nexpected: " << text << "\nfound: " << error;
}

/// One value for each of `S`, as 64 bits.
template <typename... S, size_t... K>
std::array<uint64_t, sizeof...(S)> makeSources(uint64_t seed,
                                               std::index_sequence<K...>) {
  return {static_cast<uint64_t>(
      static_cast<std::make_unsigned_t<S>>(makeValue<S>(seed + K)))...};
}

/// `reference` of values given as 64 bits.
template <typename D, typename... S, size_t... K>
D callWith(D (*reference)(S...),
           const std::array<uint64_t, sizeof...(S)> &values,
           std::index_sequence<K...>) {
  return reference(static_cast<S>(values[K])...);
}

/// Which bits of the result `expectWritten` expects to be written where they
/// do not depend on unwritten bits.
enum class Precision {
  Exact, ///< All of them.
  Sound, ///< Perhaps not all; but none that depends on an unwritten bit.
};

/// Runs `instruction` with a few unwritten bits in its first `partial` operands
/// and expects the written bits of %d to be those that all values of the
/// unwritten ones agree on. No type is `bool`.
template <typename D, typename... S>
void expectWritten(const std::string &instruction, D (*reference)(S...),
                   unsigned partial, Precision precision = Precision::Exact,
                   Target target = {}) {
  constexpr unsigned count = sizeof...(S);
  // Value and written bits of each source, and the bits of the result to store.
  constexpr unsigned laneBytes = kSourceBytes * (2 * count + 1);
  SCOPED_TRACE("written bits of " + instruction);
  std::string body;
  unsigned i = 0;
  auto addSource = [&](auto value) {
    using T = decltype(value);
    std::string name = kSources[i], type = getRegisterType<T>();
    body += loadRegister<T>(name, kSourceBytes * 2 * i);
    if (i < partial) {
      std::string mask = name + "_mask", garbage = name + "_garbage";
      body += loadRegister<T>(mask, kSourceBytes * (2 * i + 1));
      body += ".reg " + type + " " + garbage + ";\nand" + type + " " + name +
              ", " + name + ", " + mask + ";\nnot" + type + " " + mask + ", " +
              mask + ";\nand" + type + " " + garbage + ", " + garbage + ", " +
              mask + ";\nor" + type + " " + name + ", " + name + ", " +
              garbage + ";\n";
    }
    ++i;
  };
  (addSource(S()), ...);
  std::string type = getRegisterType<D>();
  body += loadRegister<D>("%wanted", kSourceBytes * 2 * count) + ".reg " +
          type + " %d;\n" + instruction + "\nand" + type +
          " %d, %d, %wanted;\n" + storeRegister<D>("%d", 0);

  constexpr unsigned widths[] = {8 * sizeof(S)...};
  for (unsigned round = 0; round != 4; ++round) {
    std::vector<uint8_t> in(32 * laneBytes);
    D agreed[32], values[32];
    for (unsigned lane = 0; lane != 32; ++lane) {
      uint64_t seed = hashBits(1000 * round + lane);
      std::array<uint64_t, count> value =
          makeSources<S...>(seed, std::index_sequence_for<S...>());
      std::array<uint64_t, 2 *count> open = {}; // Two single bits for each.
      for (unsigned k = 0; k != count; ++k) {
        if (k < partial)
          for (unsigned n = 0; n != 2; ++n)
            open[2 * k + n] = uint64_t(1)
                              << hashBits(seed + 7 * k + n + 99) % widths[k];
        uint64_t written = ~(open[2 * k] | open[2 * k + 1]);
        uint8_t *at = &in[lane * laneBytes + 2 * kSourceBytes * k];
        std::memcpy(at, &value[k], kSourceBytes);
        std::memcpy(at + kSourceBytes, &written, kSourceBytes);
      }
      // All values of the unwritten bits.
      D ones = static_cast<D>(~D(0)), any = 0;
      for (unsigned fill = 0; fill != 1u << (2 * count); ++fill) {
        std::array<uint64_t, count> filled = value;
        for (unsigned n = 0; n != 2 * count; ++n)
          filled[n / 2] = fill >> n & 1 ? filled[n / 2] | open[n]
                                        : filled[n / 2] & ~open[n];
        D result = callWith(reference, filled, std::index_sequence_for<S...>());
        ones = static_cast<D>(ones & result);
        any = static_cast<D>(any | result);
      }
      agreed[lane] = static_cast<D>(ones | static_cast<D>(~any));
      values[lane] = ones;
    }
    auto run = [&](auto wanted) {
      for (unsigned lane = 0; lane != 32; ++lane) {
        D bits = wanted(lane);
        std::memcpy(&in[(lane + 1) * laneBytes - kSourceBytes], &bits,
                    sizeof(bits));
      }
      std::string error;
      std::vector<uint8_t> out = runLanes(body, in, laneBytes, kSourceBytes,
                                          error, target.name, target.version);
      return std::pair(error, out);
    };
    if (precision == Precision::Exact) {
      auto [error, out] = run([&](unsigned lane) { return agreed[lane]; });
      ASSERT_EQ(error, "");
      for (unsigned lane = 0; lane != 32; ++lane) {
        D found;
        std::memcpy(&found, &out[lane * kSourceBytes], sizeof(found));
        ASSERT_EQ(printBits(found),
                  printBits(static_cast<D>(values[lane] & agreed[lane])));
      }
    }
    // A few bits that depend on unwritten ones.
    for (unsigned n = 0; n != 6; ++n) {
      unsigned lane = (n * 11 + round * 5) % 32;
      D open = static_cast<D>(~agreed[lane]);
      if (!open)
        continue;
      D bit = static_cast<D>(open & (0 - open)); // The lowest.
      if (n % 2)
        for (D rest = open; rest; rest = static_cast<D>(rest & (rest - 1)))
          bit = static_cast<D>(rest & (0 - rest)); // The highest.
      auto [error, out] =
          run([&](unsigned one) { return one == lane ? bit : D(0); });
      EXPECT_NE(error.find("[uninitialized]"), std::string::npos)
          << "lane " << lane << " bit " << printBits(bit) << " " << error;
    }
  }
}

} // namespace tile::emulator

#endif // TILE_UNITTESTS_EMULATOR_LANEWISEHARNESS_H
