//===- MemoryHarness.h - Kernels of several warps for tests -----*- C++ -*-===//
//
// Runs a body of PTX with registers declared, and keeps what a check found.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_UNITTESTS_EMULATOR_MEMORYHARNESS_H
#define TILE_UNITTESTS_EMULATOR_MEMORYHARNESS_H

#include "Harness.h"

#include <optional>

namespace tile::emulator {

/// How a launch ended.
struct Outcome {
  std::optional<Check> check; ///< nullopt: no check failed.
  std::string message;        ///< Of the check, or of any other error.
  std::string text;           ///< All that is printed.
  std::string buffer;
  std::optional<Dim3> thread;
  std::vector<std::string> notes;
  Statistics statistics;

  bool isFine() const { return text.empty(); }
};

/// Launches `body` in a kernel with pointers `%p0`, `%p1`, … to `buffers` and
/// the registers `%t`, `%l`, `%w` (u32), `%r0` … (b32), `%d0` … (b64),
/// `%h0` … (b16), `%f0` … (f32), `%q0` … (pred); `%t4` is %p0 + 4 * %t,
/// `%t16` likewise. `module` is text before the kernel.
inline Outcome runKernel(llvm::StringRef body,
                         std::vector<std::vector<uint8_t> *> buffers,
                         LaunchOptions options = {},
                         llvm::StringRef target = "sm_100a",
                         llvm::StringRef module = "") {
  std::string parameters, prelude;
  for (size_t i = 0; i != buffers.size(); ++i) {
    parameters += (i ? ", .param .u64 a" : ".param .u64 a") + std::to_string(i);
    prelude += "ld.param.u64 %p" + std::to_string(i) + ", [a" +
               std::to_string(i) + "];\n";
  }
  std::string text =
      (".version 8.8\n.target " + target + "\n.address_size 64\n" + module +
       "\n.visible .entry k(" + parameters + ")\n{\n" +
       ".reg .b64 %p<8>, %d<32>, %t4, %t16; .reg .b32 %t, %l, %w, "
       "%r<64>;\n.reg .b16 %h<32>; .reg .f32 %f<32>; .reg .pred %q<16>;\n"
       "mov.u32 %t, %tid.x; and.b32 %l, %t, 31; shr.u32 %w, %t, "
       "5;\n" +
       prelude +
       (buffers.empty() ? ""
                        : "mad.wide.u32 %t4, %t, 4, %p0;\n"
                          "mad.wide.u32 %t16, %t, 16, %p0;\n") +
       body + "\nret;\n}\n")
          .str();
  Outcome outcome;
  llvm::Expected<LaunchResult> result = launch(text, buffers, options);
  if (result) {
    outcome.statistics = result->statistics;
    return outcome;
  }
  llvm::handleAllErrors(
      result.takeError(),
      [&](const Fault &fault) {
        outcome.check = fault.check;
        outcome.message = fault.message;
        outcome.buffer = fault.buffer;
        outcome.thread = fault.thread;
        outcome.notes = fault.notes;
        llvm::raw_string_ostream os(outcome.text);
        fault.log(os);
      },
      [&](const llvm::ErrorInfoBase &error) {
        outcome.message = outcome.text = error.message();
      });
  return outcome;
}

/// `count` threads in one block.
inline LaunchOptions withThreads(unsigned count) {
  LaunchOptions options;
  options.block = Dim3{count, 1, 1};
  return options;
}

/// Bytes of no pattern.
inline std::vector<uint8_t> makeBytes(size_t count, uint64_t seed = 1) {
  std::vector<uint8_t> bytes(count);
  for (size_t i = 0; i != count; ++i) {
    uint64_t x = (i + 1) * 0x9E3779B97F4A7C15u + seed * 0xD1B54A32D192ED03u;
    x ^= x >> 29;
    x *= 0xBF58476D1CE4E5B9u;
    bytes[i] = static_cast<uint8_t>(x >> 56);
  }
  return bytes;
}

/// Expects that `outcome` is the check `expected`, with `words` in its text.
inline void expectCheck(const Outcome &outcome, Check expected,
                        llvm::StringRef words = "") {
  ASSERT_TRUE(outcome.check.has_value()) << "no fault: " << outcome.text;
  EXPECT_EQ(getCheckName(*outcome.check), getCheckName(expected))
      << outcome.text;
  EXPECT_NE(outcome.text.find(words), std::string::npos) << outcome.text;
}

#define EXPECT_FINE(outcome) EXPECT_EQ((outcome).text, "")

} // namespace tile::emulator

#endif // TILE_UNITTESTS_EMULATOR_MEMORYHARNESS_H
