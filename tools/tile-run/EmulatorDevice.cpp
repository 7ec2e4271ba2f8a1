//===- EmulatorDevice.cpp - Run a kernel's PTX ----------------------------===//

#include "EmulatorDevice.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "tile/Codegen/KernelParameters.h"
#include "tile/Launch/TensorMaps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace tile;
using llvm::Error;
using llvm::Expected;

/// What the ABI promises of a pointer. Buffers are aligned so and no better,
/// so that code which counts on more is found out.
static constexpr uint64_t kAlignment = 16;

/// What faults call the PTX, which has no file unless its stages are dumped.
static std::string getPtxName(StringRef file, StringRef dumpStages) {
  if (dumpStages.empty())
    return ("<PTX of " + file + ">").str();
  SmallString<128> path(dumpStages);
  llvm::sys::path::append(path, "4-ptx.ptx");
  return std::string(path);
}

/// The arguments, of which arrays are at `addresses`.
static SmallVector<KernelArgument> getValues(const RunArguments &arguments,
                                             ArrayRef<uint64_t> addresses) {
  SmallVector<KernelArgument> values;
  for (auto [argument, array, address] : llvm::zip_equal(
           arguments.getArguments(), arguments.getArrays(), addresses)) {
    if (array)
      values.push_back({address, array->getShape(), array->getStrides()});
    else
      values.push_back({std::get<reference::Scalar>(argument).code, {}, {}});
  }
  return values;
}

/// The objects of the tensor maps that a kernel takes; maps `zeros` for arrays
/// without elements.
static Expected<std::vector<emulator::TensorMapObject>>
encodeTensorMaps(emulator::Memory &memory, const KernelLaunchInfo &info,
                 const RunArguments &arguments, ArrayRef<KernelArgument> values,
                 MutableArrayRef<uint8_t> zeros) {
  std::vector<emulator::TensorMapObject> objects;
  if (info.tensorMaps.empty())
    return objects;
  Expected<uint64_t> zerosAddress = memory.map(
      "zeros", zeros, emulator::Memory::Access::ReadOnly, kEmptyTensorBytes);
  if (!zerosAddress)
    return zerosAddress.takeError();
  for (const TensorMapParameter &parameter : info.tensorMaps) {
    Expected<emulator::TensorMap> map =
        makeTensorMap(parameter, values[parameter.argument], *zerosAddress);
    if (!map)
      return prefixError(arguments.getNames()[parameter.argument],
                         map.takeError());
    objects.push_back(llvm::cantFail(map->encode()));
  }
  return objects;
}

Expected<emulator::LaunchResult> tile::runOnEmulator(
    func::FuncOp kernel, StringRef file, const RunArguments &arguments,
    CompileOptions compileOptions, EmulatorOptions emulatorOptions) {
  const std::string entry = kernel.getName().str();
  SmallVector<KernelParameter> parameters = getKernelParameters(kernel);
  // A fault can then name the line of the kernel.
  compileOptions.lineInfo = true;
  FailureOr<CompileResult> compiled = compile(
      kernel->getParentOfType<ModuleOp>(), EmitKind::Ptx, compileOptions);
  if (failed(compiled))
    return ReportedError::get();
  Expected<std::unique_ptr<emulator::Module>> module = emulator::Module::load(
      compiled->text, getPtxName(file, compileOptions.dumpStages));
  if (!module)
    return reportEmulatorError(module.takeError());

  const auto info =
      llvm::find_if(compiled->kernels, [&](const KernelLaunchInfo &kernel) {
        return kernel.entry == entry;
      });
  uint64_t alignment = kAlignment;
  for (const TensorMapParameter &map : info->tensorMaps)
    alignment = std::max<uint64_t>(alignment, getTensorMapAlignment(map));
  emulator::Memory memory;
  Expected<std::vector<uint64_t>> addresses =
      mapArrays(memory, arguments.getArrays(), arguments.getNames(), alignment);
  if (!addresses)
    return addresses.takeError();
  if (Error error = resolveWatch(emulatorOptions, arguments.getArrays(),
                                 arguments.getNames(), *addresses))
    return std::move(error);

  SmallVector<KernelArgument> kernelArguments =
      getValues(arguments, *addresses);
  SmallVector<uint64_t> values =
      getParameterValues(parameters, kernelArguments);
  SmallVector<llvm::ArrayRef<uint8_t>> bytes;
  for (auto [value, parameter] : llvm::zip_equal(values, parameters)) {
    value = llvm::support::endian::byte_swap(value, llvm::endianness::little);
    bytes.push_back(
        {reinterpret_cast<const uint8_t *>(&value), parameter.bytes});
  }
  uint8_t zeros[kEmptyTensorBytes] = {};
  Expected<std::vector<emulator::TensorMapObject>> maps =
      encodeTensorMaps(memory, *info, arguments, kernelArguments, zeros);
  if (!maps)
    return maps.takeError();
  for (const emulator::TensorMapObject &map : *maps)
    bytes.push_back(map);
  Expected<emulator::LaunchResult> result =
      (*module)->launch(entry, memory, bytes, emulatorOptions.launch);
  if (!result)
    return reportEmulatorError(result.takeError());
  return result;
}
