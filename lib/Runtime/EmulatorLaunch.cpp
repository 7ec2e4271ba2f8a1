//===- EmulatorLaunch.cpp - Launches on the emulator ----------------------===//

#include "DeviceImpl.h"
#include "Gate.h"
#include "KernelImpl.h"
#include "TensorMaps.h"
#include "tile/Codegen/KernelParameters.h"
#include "tile/Emulator/Emulator.h"
#include "llvm/Support/Endian.h"

using namespace tile;
using namespace tile::runtime;

/// The code as the emulator runs it, loaded once.
static Expected<std::shared_ptr<emulator::Module>>
load(const CompiledCode &code, const std::string &name) {
  static const char device = 0;
  auto loaded =
      code.getLoaded(&device, [&]() -> Expected<std::shared_ptr<void>> {
        ForkShield shield;
        llvm::Expected<std::unique_ptr<emulator::Module>> module =
            emulator::Module::load(code.ptx, "<PTX of " + name + ">");
        if (!module)
          return Error(ErrorCode::InvalidKernel,
                       llvm::toString(module.takeError()));
        if (llvm::Error error = (*module)->prepare(code.entry))
          return Error(ErrorCode::InvalidKernel,
                       llvm::toString(std::move(error)));
        return std::shared_ptr<void>(
            std::shared_ptr<emulator::Module>(std::move(*module)));
      });
  if (!loaded)
    return std::move(loaded).error();
  return std::static_pointer_cast<emulator::Module>(*loaded);
}

/// Maps the arrays of a launch, each with just the bytes that it covers and as
/// aligned as it must be, so that code which counts on more is found out.
static Expected<std::vector<uint64_t>> mapArrays(emulator::Memory &memory,
                                                 const LaunchRequest &request) {
  std::vector<uint64_t> addresses;
  for (size_t i = 0; i < request.arguments.size(); ++i) {
    const std::optional<TensorRef> &array = request.arguments[i].array;
    if (!array) {
      addresses.push_back(0);
      continue;
    }
    const Parameter &parameter = request.kernel->getDescription().parameters[i];
    llvm::Expected<uint64_t> address =
        memory.map(request.kernel->getArgumentName(i),
                   {static_cast<uint8_t *>(array->data),
                    static_cast<size_t>(array->getSpanBytes())},
                   parameter.isWritten ? emulator::Memory::Access::ReadWrite
                                       : emulator::Memory::Access::ReadOnly,
                   getArrayAlignment(*request.code, i));
    if (!address)
      return Error(ErrorCode::InvalidArgument,
                   llvm::toString(address.takeError()));
    addresses.push_back(*address);
  }
  return addresses;
}

/// The objects of the launch's tensor maps; maps `zeros` for arrays without
/// elements.
static Expected<std::vector<emulator::TensorMapObject>>
encodeTensorMaps(emulator::Memory &memory, const LaunchRequest &request,
                 llvm::ArrayRef<uint64_t> addresses,
                 llvm::MutableArrayRef<uint8_t> zeros) {
  std::vector<emulator::TensorMapObject> objects;
  if (request.code->tensorMaps.empty())
    return objects;
  llvm::Expected<uint64_t> zerosAddress = memory.map(
      "zeros", zeros, emulator::Memory::Access::ReadOnly, kEmptyTensorBytes);
  if (!zerosAddress)
    return Error(ErrorCode::OutOfMemory,
                 llvm::toString(zerosAddress.takeError()));
  auto maps = makeTensorMaps(*request.kernel, *request.code, request.arguments,
                             addresses, *zerosAddress);
  if (!maps)
    return std::move(maps).error();
  for (const emulator::TensorMap &map : *maps)
    objects.push_back(llvm::cantFail(map.encode()));
  return objects;
}

static emulator::LaunchOptions getOptions(const LaunchRequest &request) {
  emulator::LaunchOptions options;
  options.grid = {static_cast<unsigned>(request.grid.x),
                  static_cast<unsigned>(request.grid.y),
                  static_cast<unsigned>(request.grid.z)};
  options.block = emulator::Dim3{request.code->blockThreads, 1, 1};
  options.sharedBytes = request.code->sharedBytes;
  options.accumulate = request.options.accumulate == "hardware"
                           ? emulator::Accumulate::Hardware
                           : emulator::Accumulate::Exact;
  if (request.options.scheduleSeed) {
    options.schedule = emulator::Schedule::Random;
    options.seed = request.options.scheduleSeed;
  }
  options.hostThreads = request.options.hostThreads;
  options.cancel = request.options.cancel;
  options.progress = request.options.progress;
  return options;
}

Status tile::runtime::launchOnEmulator(const LaunchRequest &request) {
  const KernelDescription &description = request.kernel->getDescription();
  auto module = load(*request.code, description.name);
  if (!module)
    return std::move(module).error();
  emulator::Memory memory;
  auto addresses = mapArrays(memory, request);
  if (!addresses)
    return std::move(addresses).error();

  std::vector<KernelArgument> arguments;
  for (size_t i = 0; i < request.arguments.size(); ++i) {
    const CheckedArgument &argument = request.arguments[i];
    if (argument.array)
      arguments.push_back(
          {(*addresses)[i], argument.array->shape, argument.array->strides});
    else
      arguments.push_back({argument.code, {}, {}});
  }
  llvm::SmallVector<uint64_t> values =
      getParameterValues(description.abi, arguments);
  llvm::SmallVector<llvm::ArrayRef<uint8_t>> bytes;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] =
        llvm::support::endian::byte_swap(values[i], llvm::endianness::little);
    bytes.push_back({reinterpret_cast<const uint8_t *>(&values[i]),
                     description.abi[i].bytes});
  }
  uint8_t zeros[kEmptyTensorBytes] = {};
  auto maps = encodeTensorMaps(memory, request, *addresses, zeros);
  if (!maps)
    return std::move(maps).error();
  for (const emulator::TensorMapObject &map : *maps)
    bytes.push_back(map);
  llvm::Expected<emulator::LaunchResult> result = (*module)->launch(
      request.code->entry, memory, bytes, getOptions(request));
  if (result)
    return {};
  std::string message = llvm::toString(result.takeError());
  if (request.options.cancel && *request.options.cancel)
    return Error(ErrorCode::Cancelled, "the launch was cancelled");
  return Error(ErrorCode::Fault, std::move(message));
}
