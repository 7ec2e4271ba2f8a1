//===- Harness.h - Small PTX kernels for tests ------------------*- C++ -*-===//
//
// Wraps a few PTX instructions into a kernel that one warp runs over arrays, so
// that a test states the instruction, its inputs and the expected outputs.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_UNITTESTS_EMULATOR_HARNESS_H
#define TILE_UNITTESTS_EMULATOR_HARNESS_H

#include "tile/Emulator/Emulator.h"
#include "llvm/ADT/StringRef.h"
#include "gtest/gtest.h"

#include <cstring>
#include <string>
#include <vector>

namespace tile::emulator {

/// A kernel text: `.version`, `.target`, and an entry `k` with `parameters`
/// and `body`.
inline std::string makeKernel(llvm::StringRef parameters, llvm::StringRef body,
                              llvm::StringRef target = "sm_90a",
                              llvm::StringRef version = "8.8") {
  return (".version " + version + "\n.target " + target +
          "\n.address_size 64\n.visible .entry k(" + parameters + ")\n{\n" +
          body + "\n}\n")
      .str();
}

/// Launches entry `k` of `text` with one pointer parameter per buffer.
inline llvm::Expected<LaunchResult>
launch(llvm::StringRef text, std::vector<std::vector<uint8_t> *> buffers,
       LaunchOptions options = {}) {
  llvm::Expected<std::unique_ptr<Module>> module = Module::load(text, "k.ptx");
  if (!module)
    return module.takeError();
  Memory memory;
  std::vector<uint64_t> addresses;
  for (size_t i = 0; i != buffers.size(); ++i) {
    llvm::Expected<uint64_t> address = memory.map(
        "b" + std::to_string(i), *buffers[i], Memory::Access::ReadWrite);
    if (!address)
      return address.takeError();
    addresses.push_back(*address);
  }
  std::vector<llvm::ArrayRef<uint8_t>> parameters;
  for (uint64_t &address : addresses)
    parameters.push_back({reinterpret_cast<uint8_t *>(&address), 8});
  if (!options.block)
    options.block = Dim3{32, 1, 1};
  return (*module)->launch("k", memory, parameters, options);
}

/// Runs `body` for 32 lanes: `%in` and `%out` are the addresses (b64) of the
/// lane's own `inBytes` of input and `outBytes` of output, `%lane` its number
/// (u32). Declarations of further registers stand in `body`. The error text of
/// a failed launch goes to `error`.
inline std::vector<uint8_t> runLanes(llvm::StringRef body,
                                     std::vector<uint8_t> in, unsigned inBytes,
                                     unsigned outBytes, std::string &error,
                                     llvm::StringRef target = "sm_90a",
                                     llvm::StringRef version = "8.8",
                                     LaunchOptions options = {}) {
  std::string text =
      makeKernel(".param .u64 pin, .param .u64 pout",
                 (".reg .b64 %in, %out, %lane64; .reg .b32 %lane;\n"
                  "mov.u32 %lane, %tid.x; cvt.u64.u32 %lane64, %lane;\n"
                  "ld.param.u64 %in, [pin]; ld.param.u64 %out, [pout];\n"
                  "mad.lo.s64 %in, %lane64, " +
                  llvm::Twine(inBytes) + ", %in;\nmad.lo.s64 %out, %lane64, " +
                  llvm::Twine(outBytes) + ", %out;\n" + body + "\nret;")
                     .str(),
                 target, version);
  in.resize(32 * inBytes);
  std::vector<uint8_t> out(32 * outBytes, 0xFF);
  llvm::Expected<LaunchResult> result = launch(text, {&in, &out}, options);
  error.clear();
  if (!result)
    error = llvm::toString(result.takeError());
  return out;
}

/// The bytes of `values`, and back.
template <typename T>
std::vector<uint8_t> toBytes(const std::vector<T> &values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}
template <typename T>
std::vector<T> fromBytes(const std::vector<uint8_t> &bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

} // namespace tile::emulator

#endif // TILE_UNITTESTS_EMULATOR_HARNESS_H
