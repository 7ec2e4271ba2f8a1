//===- TensorMaps.cpp - The tensor maps of a launch -----------------------===//

#include "TensorMaps.h"

#include "Gate.h"

using namespace tile;
using namespace tile::runtime;

Expected<std::vector<emulator::TensorMap>>
runtime::makeTensorMaps(const KernelImpl &kernel, const CompiledCode &code,
                        const std::vector<CheckedArgument> &arguments,
                        llvm::ArrayRef<uint64_t> addresses, uint64_t zeros) {
  std::vector<emulator::TensorMap> maps;
  for (const TensorMapParameter &parameter : code.tensorMaps) {
    const TensorRef &array = *arguments[parameter.argument].array;
    llvm::Expected<emulator::TensorMap> map = makeTensorMap(
        parameter, {addresses[parameter.argument], array.shape, array.strides},
        zeros);
    if (!map) {
      ForkShield shield;
      return Error(ErrorCode::InvalidArgument,
                   kernel.getArgumentName(parameter.argument) + ": " +
                       llvm::toString(map.takeError()));
    }
    maps.push_back(*map);
  }
  return maps;
}

unsigned runtime::getArrayAlignment(const CompiledCode &code, size_t argument) {
  // What the calling convention promises of a pointer.
  unsigned alignment = 16;
  for (const TensorMapParameter &map : code.tensorMaps)
    if (map.argument == argument)
      alignment = std::max(alignment, getTensorMapAlignment(map));
  return alignment;
}

Status runtime::checkTensorMaps(const KernelImpl &kernel,
                                const CompiledCode &code,
                                const std::vector<CheckedArgument> &arguments) {
  if (code.tensorMaps.empty())
    return {};
  // What is in host memory has another address when the kernel runs, which the
  // device chooses.
  std::vector<uint64_t> addresses;
  for (const CheckedArgument &argument : arguments)
    addresses.push_back(argument.array && argument.array->place.kind !=
                                              MemoryPlace::Kind::Host
                            ? reinterpret_cast<uintptr_t>(argument.array->data)
                            : 0);
  auto maps = makeTensorMaps(kernel, code, arguments, addresses, /*zeros=*/0);
  return maps ? Status() : Status(std::move(maps).error());
}
