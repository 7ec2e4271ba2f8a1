//===- Harness.h - Small device modules for the simulator's tests -*- C++
//-*-===//

#ifndef TILE_UNITTESTS_LANESIMULATOR_HARNESS_H
#define TILE_UNITTESTS_LANESIMULATOR_HARNESS_H

#include "LaneSimulator.h"
#include "gtest/gtest.h"

#include <string>
#include <vector>

namespace tile {
namespace test {

/// A hash of an index: data in which no two places are alike by accident.
inline uint32_t hash(uint64_t index, uint64_t salt = 0) {
  uint64_t x =
      (index + 1) * 0x9E3779B97F4A7C15ULL ^ salt * 0xD6E8FEB86659FD93ULL;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93ULL;
  x ^= x >> 29;
  return uint32_t(x >> 16);
}

/// The lines that every module starts with.
inline std::string getHeader() {
  return "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-"
         "v32:32-n16:32:64\"\n"
         "target triple = \"nvptx64-nvidia-cuda\"\n"
         "@smem = external addrspace(3) global [0 x i8], align 1024\n";
}

/// Wraps `body` as kernel `k(ptr in, ptr out)`; %t is tid.x, %pi and %po are
/// `in` and `out` at element %t of types `inType` and `outType`. The body is
/// followed by a return.
inline std::string getKernel(const std::string &inType,
                             const std::string &outType,
                             const std::string &body,
                             const std::string &declarations = "") {
  return getHeader() + "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n" +
         declarations +
         "\ndefine ptx_kernel void @k(ptr addrspace(1) %in, "
         "ptr addrspace(1) %out) {\n"
         "  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
         "  %pi = getelementptr " +
         inType +
         ", ptr addrspace(1) %in, i32 %t\n"
         "  %po = getelementptr " +
         outType + ", ptr addrspace(1) %out, i32 %t\n" + body +
         "  ret void\n}\n";
}

/// What a run came to: an empty message on success.
struct Outcome {
  std::string message;
  std::map<std::string, uint64_t> counts;
};

template <typename T>
llvm::MutableArrayRef<uint8_t> asBytes(std::vector<T> &data) {
  return {reinterpret_cast<uint8_t *>(data.data()), data.size() * sizeof(T)};
}

/// Runs kernel `k` of `text` over one block.
template <typename In, typename Out>
Outcome run(const std::string &text, std::vector<In> &in, std::vector<Out> &out,
            unsigned threads = 32, unsigned sharedBytes = 0,
            const LaneOptions &options = {}) {
  auto simulator = LaneSimulator::parse(text, "test.ll", options);
  if (!simulator)
    return {llvm::toString(simulator.takeError()), {}};
  llvm::Error error =
      (*simulator)
          ->launch("k", {1, 1, 1}, {threads, 1, 1}, sharedBytes,
                   {LaneArgument::getBuffer(asBytes(in), "in", false),
                    LaneArgument::getBuffer(asBytes(out), "out", true)});
  Outcome outcome;
  outcome.counts = (*simulator)->getCounts();
  if (error)
    outcome.message = llvm::toString(std::move(error));
  return outcome;
}

/// Expects that `text` contains `part`.
inline testing::AssertionResult contains(const std::string &text,
                                         const std::string &part) {
  if (text.find(part) != std::string::npos)
    return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "\"" << text << "\" does not contain \"" << part << "\"";
}

} // namespace test
} // namespace tile

#endif // TILE_UNITTESTS_LANESIMULATOR_HARNESS_H
