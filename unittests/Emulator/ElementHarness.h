//===- ElementHarness.h - One instruction over many values ------*- C++ -*-===//
//
// Runs an instruction over arrays of operands, one element a thread, so that a
// test can try every code of a format.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_UNITTESTS_EMULATOR_ELEMENTHARNESS_H
#define TILE_UNITTESTS_EMULATOR_ELEMENTHARNESS_H

#include "Harness.h"

#include <algorithm>

namespace tile::emulator {

/// The values of one operand, each of 2, 4 or 8 bytes.
struct ElementInput {
  unsigned bytes;
  std::vector<uint64_t> values;
};

/// What the kernels are compiled for.
struct ElementTarget {
  std::string target = "sm_90a";
  std::string version = "8.8";
};

/// Runs `body` for element i of all of `inputs`, which it finds in the
/// registers %a, %b, %c, %e, %f (.b16, .b32 or .b64), and returns what it
/// leaves in %d, a register of `outBytes`. The text of an error goes to
/// `error`.
inline std::vector<uint64_t>
runElements(llvm::StringRef body, const std::vector<ElementInput> &inputs,
            unsigned outBytes, std::string &error,
            const ElementTarget &target = {}) {
  static constexpr char names[] = "abcef";
  size_t count = 1;
  for (const ElementInput &input : inputs)
    count = std::max(count, input.values.size());
  size_t padded = (count + 31) / 32 * 32;

  std::string parameters, text = ".reg .b32 %index, %block;\n.reg .b64 %at;\n"
                                 "mov.u32 %index, %tid.x; mov.u32 %block, "
                                 "%ctaid.x;\nmad.lo.u32 %index, %block, 32, "
                                 "%index;\n";
  std::vector<std::vector<uint8_t>> buffers;
  auto address = [&](const std::string &parameter, unsigned bytes) {
    return ".reg .b64 %base_" + parameter + "; ld.param.u64 %base_" +
           parameter + ", [" + parameter + "]; mad.wide.u32 %at, %index, " +
           std::to_string(bytes) + ", %base_" + parameter + ";\n";
  };
  for (size_t i = 0; i != inputs.size(); ++i) {
    unsigned bytes = inputs[i].bytes;
    std::string name(1, names[i]), bits = std::to_string(bytes * 8);
    parameters += ".param .u64 p" + name + ", ";
    text += ".reg .b" + bits + " %" + name + ";\n" + address("p" + name, bytes);
    text += "ld.global.b" + bits + " %" + name + ", [%at];\n";
    std::vector<uint8_t> buffer(padded * bytes);
    for (size_t k = 0; k != inputs[i].values.size(); ++k)
      std::memcpy(&buffer[k * bytes], &inputs[i].values[k], bytes);
    buffers.push_back(std::move(buffer));
  }
  std::string bits = std::to_string(outBytes * 8);
  text += ".reg .b" + bits + " %d;\n" + body.str() + "\n" +
          address("pd", outBytes) + "st.global.b" + bits + " [%at], %d;\nret;";
  buffers.emplace_back(padded * outBytes, uint8_t(0xAB));

  std::vector<std::vector<uint8_t> *> pointers;
  for (std::vector<uint8_t> &buffer : buffers)
    pointers.push_back(&buffer);
  LaunchOptions options;
  options.grid = Dim3{static_cast<uint32_t>(padded / 32), 1, 1};
  llvm::Expected<LaunchResult> result =
      launch(makeKernel(parameters + ".param .u64 pd", text, target.target,
                        target.version),
             pointers, options);
  error.clear();
  if (!result) {
    error = llvm::toString(result.takeError());
    return std::vector<uint64_t>(count);
  }
  std::vector<uint64_t> out(count);
  for (size_t k = 0; k != count; ++k)
    std::memcpy(&out[k], &buffers.back()[k * outBytes], outBytes);
  return out;
}

/// As above where no error is expected.
inline std::vector<uint64_t>
runElements(llvm::StringRef body, const std::vector<ElementInput> &inputs,
            unsigned outBytes, const ElementTarget &target = {}) {
  std::string error;
  std::vector<uint64_t> out =
      runElements(body, inputs, outBytes, error, target);
  EXPECT_EQ(error, "") << body.str();
  return out;
}

/// The error of a kernel of `body` with operands of `bytes` each.
inline std::string getError(llvm::StringRef body,
                            const std::vector<unsigned> &bytes,
                            unsigned outBytes,
                            const ElementTarget &target = {}) {
  std::vector<ElementInput> inputs;
  for (unsigned b : bytes)
    inputs.push_back({b, {0}});
  std::string error;
  runElements(body, inputs, outBytes, error, target);
  return error;
}

} // namespace tile::emulator

#endif // TILE_UNITTESTS_EMULATOR_ELEMENTHARNESS_H
