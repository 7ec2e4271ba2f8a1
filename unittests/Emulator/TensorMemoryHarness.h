//===- TensorMemoryHarness.h - Kernels with tensor memory -------*- C++ -*-===//
//
// Runs one tcgen05 instruction between a setup and an end that keep all rules:
// shared memory is filled from one buffer, tensor memory from another, and what
// tensor memory holds afterwards is stored to a third.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_UNITTESTS_EMULATOR_TENSORMEMORYHARNESS_H
#define TILE_UNITTESTS_EMULATOR_TENSORMEMORYHARNESS_H

#include "MemoryHarness.h"

#include "llvm/ADT/StringExtras.h"

namespace tile::emulator {

constexpr unsigned kTestLanes = 128, kTestColumns = 512;
/// Bytes of shared memory that a test fills.
constexpr unsigned kTestShared = 65536;

/// Tensor memory as a test sees it.
struct TensorImage {
  std::vector<uint32_t> words =
      std::vector<uint32_t>(kTestLanes * kTestColumns);
  uint32_t &at(unsigned lane, unsigned column) {
    return words[lane * kTestColumns + column];
  }
  void fill(uint64_t seed) {
    words = fromBytes<uint32_t>(makeBytes(words.size() * 4, seed));
  }
};

inline std::string hex(uint64_t value) {
  return "0x" + llvm::utohexstr(value, /*LowerCase=*/true);
}

/// `.reg` and shared variables; `%tm` is the address of all of tensor memory,
/// `%sm` that of the filled shared memory, `%bar` an mbarrier for one arrival,
/// `%one` true in thread 0.
inline std::string beginTensorKernel() {
  return ".extern .shared .align 1024 .b8 dyn[];\n"
         ".shared .align 8 .b64 bar; .shared .b32 base;\n"
         ".reg .b32 %tm, %sm, %bar, %u<136>, %c, %e; .reg .pred %one, %z<8>;\n"
         ".reg .b64 %sd, %g, %da, %db;\n"
         "mov.u32 %sm, dyn; mov.u32 %bar, bar; setp.eq.u32 %one, %t, 0;\n"
         "shr.u32 %e, %sm, 4; cvt.u64.u32 %sd, %e;\n"
         "@%one mbarrier.init.shared.b64 [%bar], 1;\n"
         "setp.eq.u32 %z0, %w, 0;\n"
         "@%z0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 "
         "[base], 512;\n"
         "bar.sync 0;\nld.shared.b32 %tm, [base];\n";
}

/// Shared memory from `%p0` by 128 threads.
inline std::string fillShared() {
  return "mul.wide.u32 %g, %t, 16; add.s64 %g, %g, %p0;\n"
         "mad.lo.u32 %c, %t, 16, %sm; mov.u32 %e, 0;\n"
         "FILL:\nld.global.v4.b32 {%u0, %u1, %u2, %u3}, [%g];\n"
         "st.shared.v4.b32 [%c], {%u0, %u1, %u2, %u3};\n"
         "add.s64 %g, %g, 2048; add.u32 %c, %c, 2048; add.u32 %e, %e, 1;\n"
         "setp.lt.u32 %z1, %e, " +
         std::to_string(kTestShared / 2048) +
         ";\n@%z1 bra FILL;\n"
         "fence.proxy.async.shared::cta;\n";
}

inline std::string makeRegisterList(unsigned first, unsigned count) {
  std::string list = "{";
  for (unsigned i = 0; i != count; ++i)
    list += (i ? ", %u" : "%u") + std::to_string(first + i);
  return list + "}";
}

/// Columns `first` to `end` of tensor memory from (or to) `%pI`, by four warps.
inline std::string moveTensor(bool isStore, const std::string &pointer,
                              const std::string &label, unsigned first,
                              unsigned end, uint32_t mask = ~uint32_t(0)) {
  std::string text =
      "mul.wide.u32 %g, %t, 2048; add.s64 %g, %g, " + pointer +
      ";\nadd.s64 %g, %g, " + std::to_string(4 * first) +
      ";\nand.b32 %c, %t, 96; shl.b32 %c, %c, 16; add.u32 %c, %c, %tm;\n"
      "add.u32 %c, %c, " +
      std::to_string(first) + ";\nmov.u32 %e, " + std::to_string(first) +
      ";\n" + label + ":\n";
  std::string move = "tcgen05.", global;
  if (isStore)
    move += "st.sync.aligned.32x32b.x32.b32 [%c], " + makeRegisterList(0, 32) +
            ";\n";
  else
    move += "ld.sync.aligned.32x32b.x32.b32 " + makeRegisterList(0, 32) +
            ", [%c];\ntcgen05.wait::ld.sync.aligned;\n";
  for (unsigned i = 0; i != 32; i += 4) {
    std::string list = makeRegisterList(i, 4);
    std::string at = "[%g+" + std::to_string(4 * i) + "]";
    if (isStore) {
      global += "ld.global.v4.b32 " + list + ", " + at + ";\n";
      continue;
    }
    for (unsigned j = i; j != i + 4; ++j)
      global += "and.b32 %u" + std::to_string(j) + ", %u" + std::to_string(j) +
                ", " + hex(mask) + ";\n";
    global += "st.global.v4.b32 " + at + ", " + list + ";\n";
  }
  text += isStore ? global + move : move + global;
  return text +
         "add.s64 %g, %g, 128; add.u32 %c, %c, 32; add.u32 %e, %e, 32;\n"
         "setp.lt.u32 %z2, %e, " +
         std::to_string(end) + ";\n@%z2 bra " + label + ";\n";
}

inline std::string waitTensorStores() {
  return "tcgen05.wait::st.sync.aligned;\n"
         "tcgen05.fence::before_thread_sync;\n";
}
inline std::string syncTensor() {
  return "bar.sync 0;\ntcgen05.fence::after_thread_sync;\n";
}
inline std::string commitAndWait(const std::string &parity = "0") {
  return "@%one tcgen05.commit.cta_group::1.mbarrier::arrive::one"
         ".shared::cluster.b64 [%bar];\nWAIT" +
         parity + ":\nmbarrier.try_wait.parity.shared.b64 %z3, [%bar], " +
         parity + ";\n@!%z3 bra WAIT" + parity +
         ";\ntcgen05.fence::after_thread_sync;\n";
}
inline std::string endTensorKernel() {
  return "bar.sync 0;\n"
         "@%z0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %tm, 512;\n";
}

inline LaunchOptions getTensorOptions() {
  LaunchOptions options = withThreads(128);
  options.sharedBytes = kTestShared;
  return options;
}

/// Runs `instructions` (of thread 0: guard them with `@%one`) on `shared` and
/// `tensor`, which holds the result. Columns from `initialized` on are never
/// written, and columns from `stored` on not looked at.
inline Outcome
runTensor(const std::string &instructions, std::vector<uint8_t> shared,
          TensorImage &tensor, LaunchOptions options = getTensorOptions(),
          uint32_t mask = ~uint32_t(0), unsigned initialized = kTestColumns,
          unsigned stored = kTestColumns, llvm::StringRef target = "sm_100a") {
  shared.resize(kTestShared);
  std::vector<uint8_t> in = toBytes(tensor.words), out = in;
  Outcome outcome = runKernel(
      beginTensorKernel() + fillShared() +
          moveTensor(true, "%p1", "INIT", 0, initialized) + waitTensorStores() +
          syncTensor() + instructions + commitAndWait() +
          moveTensor(false, "%p2", "STORE", 0, stored, mask) +
          endTensorKernel(),
      {&shared, &in, &out}, options, target);
  tensor.words = fromBytes<uint32_t>(out);
  return outcome;
}

/// Hash of three numbers.
inline uint32_t mix(uint64_t a, uint64_t b, uint64_t c) {
  uint64_t x = a * 0x9E3779B97F4A7C15u + b * 0xC2B2AE3D27D4EB4Fu +
               c * 0x165667B19E3779F9u + 0x27D4EB2F165667C5u;
  x ^= x >> 31;
  x *= 0xBF58476D1CE4E5B9u;
  return static_cast<uint32_t>((x ^ x >> 29) >> 20);
}

} // namespace tile::emulator

#endif // TILE_UNITTESTS_EMULATOR_TENSORMEMORYHARNESS_H
