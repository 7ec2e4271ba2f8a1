//===- InstructionSeeds.h - A kernel around a few instructions --*- C++ -*-===//
//
// The snippets of InstructionSeeds.txt name every instruction that the emulator
// knows. Tests and fuzzers damage them; here is the kernel that they stand in,
// whose registers all have values and whose addresses are valid.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_UNITTESTS_EMULATOR_INSTRUCTIONSEEDS_H
#define TILE_UNITTESTS_EMULATOR_INSTRUCTIONSEEDS_H

#include "tile/Emulator/Emulator.h"
#include "tile/Emulator/TensorMap.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace tile::emulator {

/// Bytes of each of the two buffers of the kernel.
constexpr unsigned kSeedBufferBytes = 1024;

/// The kernel `k` with `snippet` as its body; a snippet that begins with
/// `.version` or a comment is a whole file already.
inline std::string wrapSnippet(llvm::StringRef snippet) {
  llvm::StringRef start = snippet.ltrim();
  if (start.starts_with(".version") || start.starts_with("//"))
    return snippet.str();
  llvm::StringRef target = "sm_120a";
  if (start.starts_with("sm_") && start.contains(':'))
    std::tie(target, snippet) = start.split(':');
  std::string text = (".version 9.0\n.target " + target +
                      R"(
.address_size 64
.extern .shared .align 128 .b8 dyn[];
.global .align 16 .b8 g[256];
.global .b8 text[9] = {37, 100, 32, 37, 115, 32, 37, 102, 0};
.const .align 16 .b8 c[64] = {1, 2, 3, 4, 5, 6, 7, 8};
.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);
.func (.param .b32 r) f(.param .b32 a)
{
  .reg .b32 %x;
  ld.param.b32 %x, [a];
  add.u32 %x, %x, 1;
  st.param.b32 [r], %x;
  ret;
}
.visible .entry k(.param .u64 p0, .param .u64 p1, .param .u32 n,
                 .param .align 64 .b8 tensor[128])
{
  .reg .pred %p<4>, %first;
  .reg .b16 %h<8>;
  .reg .b32 %r<16>, %t, %a, %one;
  .reg .b64 %d<8>, %g0, %g1, %b0, %b1, %m, %map, %offset;
  .reg .b128 %q<2>;
  .shared .align 128 .b8 s[1024];
  .shared .align 8 .b64 m;
  .local .align 16 .b8 l[64];
  ld.param.u64 %b0, [p0];
  ld.param.u64 %b1, [p1];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %offset, %t, 16;
  add.u64 %g0, %b0, %offset;
  add.u64 %g1, %b1, %offset;
  mov.u32 %a, s;
  mad.lo.u32 %a, %t, 16, %a;
  mov.u64 %m, m;
  cvta.shared.u64 %m, %m;
  mov.u64 %map, tensor;
  cvta.param.u64 %map, %map;
  setp.eq.u32 %first, %t, 0;
  and.b32 %one, %t, 1;
  setp.ne.u32 %p3, %one, 0;
  setp.gt.u32 %p1, %t, 9;
  setp.lt.u32 %p2, %t, 20;
  setp.eq.u32 %p0, %t, 99;
  ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%g0];
  ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%g0+512];
  ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%g1];
  ld.global.v4.u32 {%r12, %r13, %r14, %r15}, [%g1+512];
  ld.global.v2.u64 {%d0, %d1}, [%g0];
  ld.global.v2.u64 {%d2, %d3}, [%g1];
  ld.global.v2.u64 {%d4, %d5}, [%g0+512];
  ld.global.v2.u64 {%d6, %d7}, [%g1+512];
  mov.b128 %q0, {%d0, %d1};
  mov.b128 %q1, {%d2, %d3};
  mov.b32 {%h0, %h1}, %r0;
  mov.b32 {%h2, %h3}, %r1;
  mov.b32 {%h4, %h5}, %r2;
  mov.b32 {%h6, %h7}, %r3;
  st.shared.v4.u32 [%a], {%r4, %r5, %r6, %r7};
  st.shared.v4.u32 [%a+512], {%r8, %r9, %r10, %r11};
  st.local.v4.u32 [l], {%r0, %r1, %r2, %r3};
  st.local.v4.u32 [l+16], {%r0, %r1, %r2, %r3};
  st.local.v4.u32 [l+32], {%r0, %r1, %r2, %r3};
  st.local.v4.u32 [l+48], {%r0, %r1, %r2, %r3};
  bar.sync 0;
)" + snippet + "\n}\n")
                         .str();
  return text;
}

/// How a snippet is run; the bits of `variant` choose among the options.
inline LaunchOptions getSeedOptions(unsigned variant) {
  LaunchOptions options;
  options.grid = {1 + (variant & 1), 1, 1};
  options.block = Dim3{32, 1, 1};
  options.sharedBytes = 1024;
  options.stepLimit = 20000;
  options.hostThreads = 1;
  options.allowWriteWrite = variant & 2;
  options.collectStatistics = variant & 4;
  options.accumulate = variant & 8 ? Accumulate::Hardware : Accumulate::Exact;
  options.schedule = variant & 16 ? Schedule::Random : Schedule::InOrder;
  options.seed = variant;
  options.output = &llvm::nulls();
  if (variant & 32) {
    options.trace.enabled = true;
    options.trace.lane = variant & 64 ? 3 : -1;
    options.trace.os = &llvm::nulls();
  }
  return options;
}

/// The map of a tensor of 16 x 16 elements at `address`.
inline TensorMapObject getSeedTensorMap(uint64_t address) {
  TensorMap map;
  map.element = TensorMap::Element::U32;
  map.rank = 2;
  map.address = address;
  map.extents = {16, 16, 1, 1, 1};
  map.strides = {64};
  map.box = {8, 8, 1, 1, 1};
  return llvm::cantFail(map.encode());
}

/// Launches `entry` with buffers for its parameters of 8 bytes, a tensor map of
/// the last one for those of 128, and numbers for the others.
inline llvm::Error runSeed(Module &module, const Function &entry,
                           unsigned variant) {
  uint64_t state = variant + 1;
  auto next = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint8_t>(state >> 56);
  };
  Memory memory;
  std::vector<std::vector<uint8_t>> buffers, values;
  uint64_t last = 0; // Address of a buffer.
  for (const Variable &parameter : entry.parameters) {
    std::vector<uint8_t> value(parameter.getSize());
    if (value.size() == kTensorMapBytes && last) {
      TensorMapObject object = getSeedTensorMap(last);
      value.assign(object.begin(), object.end());
    } else if (value.size() == 8) {
      buffers.emplace_back(kSeedBufferBytes);
      for (uint8_t &byte : buffers.back())
        byte = next();
      llvm::Expected<uint64_t> address =
          memory.map(parameter.name, buffers.back(), Memory::Access::ReadWrite);
      if (!address)
        return address.takeError();
      last = *address;
      for (unsigned i = 0; i != 8; ++i)
        value[i] = static_cast<uint8_t>(last >> (8 * i));
    } else {
      for (uint8_t &byte : value)
        byte = next() & 31;
    }
    values.push_back(std::move(value));
  }
  LaunchOptions options = getSeedOptions(variant);
  if (entry.requiredBlock[0])
    options.block.reset();
  std::vector<llvm::ArrayRef<uint8_t>> parameters(values.begin(), values.end());
  llvm::Expected<LaunchResult> result =
      module.launch(entry.name, memory, parameters, options);
  if (!result)
    return result.takeError();
  if (options.collectStatistics) {
    result->statistics.print(llvm::nulls(), /*perLine=*/true);
    result->statistics.printJson(llvm::nulls(), /*perLine=*/true);
  }
  return llvm::Error::success();
}

} // namespace tile::emulator

#endif // TILE_UNITTESTS_EMULATOR_INSTRUCTIONSEEDS_H
