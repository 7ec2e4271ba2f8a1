//===- TensorHarness.h - Kernels that take a tensor map ---------*- C++ -*-===//
//
// Runs a body of PTX with a tensor, its map and an output array, and says in a
// way of its own where the elements of a box must be in shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_UNITTESTS_EMULATOR_TENSORHARNESS_H
#define TILE_UNITTESTS_EMULATOR_TENSORHARNESS_H

#include "MemoryHarness.h"

#include "tile/Emulator/TensorMap.h"

#include <functional>

namespace tile::emulator {

/// Bytes of the shared array `tile`, which begins at a multiple of 1024.
constexpr unsigned kTileBytes = 65536;

/// One launch with a tensor. What the kernel sees: `%map` is the generic
/// address of the map, `%p0` the tensor, `%p1` the output, `%tile` the shared
/// address of `tile`, `%bar` that of an mbarrier of one arrival, `%q0` whether
/// it is thread 0, and the registers of `runKernel`.
struct TensorRun {
  TensorMap map; ///< Without the address.
  std::vector<uint8_t> tensor;
  std::vector<uint8_t> out;
  std::string target = "sm_100a";
  unsigned threads = 64;
  bool isReadOnly = false;
  /// Where the tensor begins, in its buffer.
  uint64_t offset = 0;
  /// Changes the object that the kernel gets.
  std::function<void(TensorMapObject &)> damage;

  Outcome run(llvm::StringRef body, llvm::StringRef module = "",
              LaunchOptions options = {}) {
    Outcome outcome;
    std::string text =
        (".version 9.0\n.target " + target + "\n.address_size 64\n" + module +
         "\n.visible .entry k(.param .align 64 .b8 m[128], .param .u64 a0, "
         ".param .u64 a1)\n{\n"
         ".reg .b64 %map, %p<8>, %d<32>; .reg .b32 %t, %w, %tile, %bar, "
         "%r<64>;\n.reg .b16 %h<8>; .reg .pred %q<16>;\n"
         ".shared .align 1024 .b8 tile[65536];\n"
         ".shared .align 8 .b64 bar;\n"
         "mov.b64 %map, m; cvta.param.u64 %map, %map;\n"
         "ld.param.u64 %p0, [a0]; ld.param.u64 %p1, [a1];\n"
         "mov.u32 %t, %tid.x; shr.u32 %w, %t, 5; setp.eq.u32 %q0, %t, 0;\n"
         "mov.u32 %tile, tile; mov.u32 %bar, bar;\n"
         "@%q0 mbarrier.init.shared.b64 [%bar], 1;\n"
         "@%q0 fence.mbarrier_init.release.cluster;\nbar.sync 0;\n" +
         body + "\nret;\n}\n")
            .str();
    auto fail = [&](llvm::Error error) {
      llvm::handleAllErrors(
          std::move(error),
          [&](const Fault &fault) {
            outcome.check = fault.check;
            outcome.message = fault.message;
            outcome.buffer = fault.buffer;
            outcome.notes = fault.notes;
            llvm::raw_string_ostream os(outcome.text);
            fault.log(os);
          },
          [&](const llvm::ErrorInfoBase &other) {
            outcome.message = outcome.text = other.message();
          });
      return outcome;
    };
    llvm::Expected<std::unique_ptr<Module>> loaded =
        Module::load(text, "k.ptx");
    if (!loaded)
      return fail(loaded.takeError());
    Memory memory;
    llvm::Expected<uint64_t> in = memory.map(
        "tensor", tensor,
        isReadOnly ? Memory::Access::ReadOnly : Memory::Access::ReadWrite);
    llvm::Expected<uint64_t> to =
        memory.map("out", out, Memory::Access::ReadWrite);
    if (!in || !to)
      return fail(llvm::joinErrors(in.takeError(), to.takeError()));
    map.address = *in + offset;
    llvm::Expected<TensorMapObject> object = map.encode();
    if (!object)
      return fail(object.takeError());
    if (damage)
      damage(*object);
    options.block = Dim3{threads, 1, 1};
    auto bytesOf = [](uint64_t &value) {
      return llvm::ArrayRef(reinterpret_cast<uint8_t *>(&value), 8);
    };
    llvm::Expected<LaunchResult> result = (*loaded)->launch(
        "k", memory, {*object, bytesOf(*in), bytesOf(*to)}, options);
    if (!result)
      return fail(result.takeError());
    outcome.statistics = result->statistics;
    return outcome;
  }
};

/// A tensor of `extents`, innermost first, whose rows stand side by side but
/// for `padding` bytes, with a box of `box`.
inline TensorMap makeMap(TensorMap::Element element,
                         std::vector<uint64_t> extents,
                         std::vector<uint32_t> box, uint64_t padding = 0) {
  TensorMap map;
  map.element = element;
  map.rank = static_cast<unsigned>(extents.size());
  std::copy(extents.begin(), extents.end(), map.extents.begin());
  std::copy(box.begin(), box.end(), map.box.begin());
  uint64_t stride = extents[0] * map.getElementBits() / 8 + padding;
  for (unsigned i = 1; i < map.rank; ++i) {
    map.strides[i - 1] = stride;
    stride *= extents[i];
  }
  return map;
}

/// Bytes of the buffer of a tensor that `makeMap` made.
inline size_t getTensorBytes(const TensorMap &map) {
  return map.rank == 1 ? map.extents[0] * map.getElementBits() / 8
                       : map.strides[map.rank - 2] * map.extents[map.rank - 1];
}

/// The text of coordinates: "{-3, 5}".
inline std::string printCoordinates(const std::vector<int32_t> &coordinates) {
  std::string text = "{";
  for (size_t i = 0; i != coordinates.size(); ++i)
    text += (i ? ", " : "") + std::to_string(coordinates[i]);
  return text + "}";
}

/// Where a swizzle puts the byte `offset` of memory that begins at a multiple
/// of 1024: pieces of `atom` bytes of a span change places, by a number that
/// counts lines of 128 bytes.
inline uint32_t findSwizzled(TensorMap::Swizzle swizzle, uint32_t offset) {
  using Swizzle = TensorMap::Swizzle;
  const unsigned span = getTensorSwizzleSpan(swizzle);
  if (span == 0)
    return offset;
  const unsigned atom = swizzle == Swizzle::Bytes128Atom32 ||
                                swizzle == Swizzle::Bytes128Atom32Flip8
                            ? 32
                        : swizzle == Swizzle::Bytes128Atom64 ? 64
                                                             : 16;
  const unsigned pieces = span / atom;
  const unsigned line = offset / 128 % pieces;
  const unsigned begin = offset / span * span, inside = offset % span;
  unsigned piece = inside / atom, rest = inside % atom;
  // Exclusive or, the long way.
  unsigned moved = 0;
  for (unsigned bit = 1; bit < pieces; bit *= 2)
    if ((piece / bit % 2) != (line / bit % 2))
      moved += bit;
  if (swizzle == Swizzle::Bytes128Atom32Flip8 && offset / 128 % 2)
    rest = rest / 16 * 16 + (rest + 8) % 16;
  return begin + moved * atom + rest;
}

/// One nibble of a box.
struct Nibble {
  uint32_t shared;        ///< In nibbles from the start of `tile`.
  bool isInside = false;  ///< Within the tensor:
  uint64_t global = 0;    ///< in nibbles from the tensor's first element.
  unsigned inElement = 0; ///< Position in its element.
};

/// All nibbles of the box of `map` at `coordinates`, which begins `base` bytes
/// after `tile`.
inline std::vector<Nibble> findNibbles(const TensorMap &map,
                                       std::vector<int32_t> coordinates,
                                       uint32_t base) {
  using Element = TensorMap::Element;
  std::vector<Nibble> result;
  coordinates.resize(5, 0);
  uint32_t counts[5] = {map.box[0], 1, 1, 1, 1};
  for (unsigned i = 1; i < map.rank; ++i) {
    counts[i] = 0;
    for (uint32_t at = 0; at < map.box[i]; at += map.elementStrides[i])
      ++counts[i];
  }
  // Elements of 6 bits: three nibbles for each two.
  const bool isSix = map.element == Element::B6x16P32;
  const unsigned numerator = isSix ? 3 : map.getElementBits() / 4;
  const unsigned denominator = isSix ? 2 : 1;
  const unsigned data = map.element == Element::B4x16P64 ? 16 : isSix ? 24 : 32;
  uint32_t next = 0;
  for (uint32_t e = 0; e != counts[4]; ++e)
    for (uint32_t d = 0; d != counts[3]; ++d)
      for (uint32_t c = 0; c != counts[2]; ++c)
        for (uint32_t b = 0; b != counts[1]; ++b)
          for (uint32_t a = 0; a != counts[0] * numerator / denominator; ++a) {
            Nibble nibble;
            const uint32_t place = next / data * 32 + next % data;
            ++next;
            const uint32_t byte = findSwizzled(map.swizzle, base + place / 2);
            nibble.shared = byte * 2 + place % 2;
            nibble.inElement = a % numerator;
            const uint32_t steps[5] = {0, b, c, d, e};
            int64_t x = coordinates[0] * int64_t(numerator) / denominator + a;
            nibble.isInside =
                x >= 0 && x < int64_t(map.extents[0] * numerator / denominator);
            nibble.global = static_cast<uint64_t>(x);
            for (unsigned i = 1; i < map.rank; ++i) {
              int64_t y =
                  coordinates[i] + int64_t(steps[i]) * map.elementStrides[i];
              nibble.isInside &= y >= 0 && y < int64_t(map.extents[i]);
              nibble.global +=
                  static_cast<uint64_t>(y) * map.strides[i - 1] * 2;
            }
            result.push_back(nibble);
          }
  return result;
}

inline uint8_t getNibble(const std::vector<uint8_t> &bytes, uint64_t index) {
  return bytes[index / 2] >> (index % 2 * 4) & 15;
}
inline void setNibble(std::vector<uint8_t> &bytes, uint64_t index,
                      uint8_t value) {
  const unsigned shift = index % 2 * 4;
  bytes[index / 2] = static_cast<uint8_t>((bytes[index / 2] & ~(15 << shift)) |
                                          value << shift);
}

/// Fills the first `bytes` bytes of `tile` with the output array's, the way of
/// the generic proxy; a multiple of 16 times the threads.
inline std::string fillTile(unsigned bytes, unsigned threads = 64) {
  return "mov.u32 %r60, %t;\nFILL:\nmul.wide.u32 %d30, %r60, 16; "
         "add.u64 %d30, %d30, %p1; mad.lo.u32 %r61, %r60, 16, %tile;\n"
         "ld.global.v4.b32 {%r50, %r51, %r52, %r53}, [%d30];\n"
         "st.shared.v4.b32 [%r61], {%r50, %r51, %r52, %r53};\n"
         "add.u32 %r60, %r60, " +
         std::to_string(threads) + "; setp.lt.u32 %q15, %r60, " +
         std::to_string(bytes / 16) + "; @%q15 bra FILL;\n";
}

/// Copies the first `bytes` bytes of `tile` to the output array, of each 16
/// bytes the first `data`.
inline std::string dumpTile(unsigned bytes, unsigned data = 16,
                            unsigned threads = 64) {
  std::string move;
  for (unsigned i = 0; i != data; i += 4)
    move += "ld.shared.b32 %r50, [%r61+" + std::to_string(i) +
            "]; st.global.b32 [%d30+" + std::to_string(i) + "], %r50;\n";
  return "mov.u32 %r60, %t;\nDUMP:\nmul.wide.u32 %d30, %r60, 16; "
         "add.u64 %d30, %d30, %p1; mad.lo.u32 %r61, %r60, 16, %tile;\n" +
         move + "add.u32 %r60, %r60, " + std::to_string(threads) +
         "; setp.lt.u32 %q15, %r60, " + std::to_string(bytes / 16) +
         "; @%q15 bra DUMP;\n";
}

/// Waits for phase 0 of the mbarrier.
inline std::string waitForTile() {
  return "WAIT:\nmbarrier.try_wait.parity.shared.b64 %q14, [%bar], 0;\n"
         "@!%q14 bra WAIT;\n";
}

/// Bytes that an mbarrier counts for a box: without gaps.
inline unsigned countBytes(const TensorMap &map, uint32_t base = 0) {
  return static_cast<unsigned>(
      findNibbles(map, std::vector<int32_t>(map.rank, 0), base).size() / 2);
}

/// Bytes of shared memory of a box.
inline unsigned countShared(const TensorMap &map) {
  const unsigned bytes = countBytes(map);
  return map.element == TensorMap::Element::B4x16P64   ? bytes * 2
         : map.element == TensorMap::Element::B6x16P32 ? bytes / 12 * 16
                                                       : bytes;
}

inline std::string loadBox(const TensorMap &map, const std::string &coordinates,
                           const std::string &to = "%tile",
                           const std::string &space = "shared::cta") {
  return "@%q0 mbarrier.arrive.expect_tx.shared.b64 _, [%bar], " +
         std::to_string(countBytes(map)) + ";\n@%q0 cp.async.bulk.tensor." +
         std::to_string(map.rank) + "d." + space +
         ".global.tile.mbarrier::complete_tx::bytes [" + to + "], [%map, " +
         coordinates + "], [%bar];\n";
}

inline std::string storeBox(const TensorMap &map,
                            const std::string &coordinates,
                            const std::string &from = "%tile") {
  return "@%q0 cp.async.bulk.tensor." + std::to_string(map.rank) +
         "d.global.shared::cta.bulk_group [%map, " + coordinates + "], [" +
         from + "];\n@%q0 cp.async.bulk.commit_group;\n";
}

/// Shows generic stores to the async proxy, and to all threads.
inline constexpr char kPublish[] =
    "fence.proxy.async.shared::cta;\nbar.sync 0;\n";
/// Waits until stores have read shared memory.
inline constexpr char kStoreWait[] = "@%q0 cp.async.bulk.wait_group.read 0;\n";

} // namespace tile::emulator

#endif // TILE_UNITTESTS_EMULATOR_TENSORHARNESS_H
