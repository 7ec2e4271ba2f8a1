//===- Kernel.cpp - A compiled kernel, and its launch ---------------------===//

#include "tile/Runtime/Kernel.h"

#include "DeviceImpl.h"
#include "Frontend.h"
#include "KernelImpl.h"
#include "TensorMaps.h"

#include <algorithm>

using namespace tile::runtime;

//===----------------------------------------------------------------------===//
// Remark
//===----------------------------------------------------------------------===//

std::string Remark::get(const std::string &key) const {
  for (const Field &field : fields)
    if (field.key == key)
      return field.value;
  return "";
}

std::string Remark::str() const {
  static constexpr const char *kinds[] = {"Passed", "Missed", "Failed",
                                          "Analysis"};
  std::string text = location.str();
  if (!text.empty())
    text += ": ";
  text +=
      std::string("remark: [") + kinds[static_cast<int>(kind)] + "] " + name;
  const char *separator = " | ";
  for (const Field &field : fields) {
    text += separator + field.key + '=';
    const bool isPlain = field.value.find_first_of(" ,\"") == std::string::npos;
    text += isPlain ? field.value : '"' + field.value + '"';
    separator = ", ";
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

const std::string &Kernel::getEntry() const {
  return impl->getDescription().entry;
}
const std::string &Kernel::getTarget() const {
  return impl->getDescription().target;
}
const std::vector<Parameter> &Kernel::getParameters() const {
  return impl->getDescription().parameters;
}
const std::string &Kernel::getPtx() const { return impl->getBase()->ptx; }
unsigned Kernel::getBlockThreads() const {
  return impl->getBase()->blockThreads;
}
unsigned Kernel::getSharedBytes() const { return impl->getBase()->sharedBytes; }
const std::vector<Remark> &Kernel::getRemarks() const {
  return impl->getBase()->remarks;
}
const std::vector<Multiply> &Kernel::getMultiplies() const {
  return impl->getBase()->multiplies;
}
const std::vector<TensorMap> &Kernel::getTensorMaps() const {
  return impl->getTensorMaps();
}
unsigned Kernel::getNumVariants() const { return impl->getNumVariants(); }

Expected<std::string> Kernel::getCubin() const {
  auto assembled = impl->assemble(*impl->getBase());
  if (!assembled)
    return std::move(assembled).error();
  return (*assembled)->cubin;
}

Expected<Resources> Kernel::getResources() const {
  auto assembled = impl->assemble(*impl->getBase());
  if (!assembled)
    return std::move(assembled).error();
  return (*assembled)->resources;
}

Expected<std::vector<Stage>> Kernel::getStages() const {
  std::vector<Stage> stages;
  CompileOptions options = impl->getOptions();
  options.cancel = nullptr;
  options.onStage = [&](const Stage &stage) { stages.push_back(stage); };
  auto code = compileKernel(impl->getDescription(), /*divisors=*/{}, options);
  if (!code)
    return std::move(code).error();
  return stages;
}

/// What a launch with these arguments runs: the variant for them, or the code
/// for all where an array is not aligned as the variant's tensor maps need it.
static Expected<std::shared_ptr<const CompiledCode>>
chooseCode(KernelImpl &kernel, const std::vector<CheckedArgument> &arguments) {
  auto code = kernel.getVariant(kernel.getDivisors(arguments));
  if (!code)
    return code;
  Status fits = checkTensorMaps(kernel, **code, arguments);
  if (fits)
    return code;
  const std::shared_ptr<const CompiledCode> &base = kernel.getBase();
  if (*code != base && checkTensorMaps(kernel, *base, arguments))
    return base;
  return std::move(fits).error();
}

Expected<std::string>
Kernel::getPtxFor(const std::vector<Argument> &arguments) const {
  auto checked = impl->check(arguments, /*device=*/nullptr, {});
  if (!checked)
    return std::move(checked).error();
  auto code = chooseCode(*impl, *checked);
  if (!code)
    return std::move(code).error();
  return (*code)->ptx;
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

static Status checkGrid(const Grid &grid) {
  const int64_t extents[] = {grid.x, grid.y, grid.z};
  const int64_t limits[] = {2147483647, 65535, 65535};
  for (int dim = 0; dim < 3; ++dim)
    if (extents[dim] < 1 || extents[dim] > limits[dim])
      return Error(ErrorCode::InvalidArgument,
                   "grid: expects dimension " + std::to_string(dim) +
                       " to be from 1 to " + std::to_string(limits[dim]) +
                       ", but got " + std::to_string(extents[dim]));
  return {};
}

/// Checks a launch and chooses what it runs.
static Expected<LaunchRequest>
prepare(const std::shared_ptr<KernelImpl> &kernel, DeviceImpl &device,
        const Grid &grid, const std::vector<Argument> &arguments,
        const LaunchOptions &options) {
  if (Status status = checkGrid(grid); !status)
    return std::move(status).error();
  if (options.accumulate != "exact" && options.accumulate != "hardware")
    return Error(ErrorCode::InvalidArgument,
                 "accumulate: expects 'exact' or 'hardware', but got '" +
                     options.accumulate + "'");
  auto checked = kernel->check(arguments, &device, options);
  if (!checked)
    return std::move(checked).error();
  LaunchRequest request;
  request.kernel = kernel;
  request.grid = grid;
  request.options = options;
  if (device.getKind() != Device::Kind::Reference) {
    auto code = chooseCode(*kernel, *checked);
    if (!code)
      return std::move(code).error();
    request.code = std::move(*code);
  }
  request.arguments = std::move(*checked);
  return request;
}

Status Kernel::launchList(const Device &device, Grid grid,
                          const std::vector<Argument> &arguments,
                          const LaunchOptions &options) const {
  auto request = prepare(impl, *device.getImpl(), grid, arguments, options);
  if (!request)
    return std::move(request).error();
  return device.getImpl()->launch(*request);
}

Expected<Event> Kernel::launchAsyncList(const Stream &stream, Grid grid,
                                        const std::vector<Argument> &arguments,
                                        const LaunchOptions &options) const {
  if (options.copyHostArrays)
    return Error(ErrorCode::InvalidArgument,
                 "copyHostArrays: an asynchronous launch copies no arrays; use "
                 "Buffer, or launch");
  DeviceImpl &device = *stream.getImpl()->getDevice();
  auto request = prepare(impl, device, grid, arguments, options);
  if (!request)
    return std::move(request).error();
  auto event = stream.getImpl()->launch(std::move(*request));
  if (!event)
    return std::move(event).error();
  return Event(std::move(*event));
}
