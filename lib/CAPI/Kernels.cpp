//===- Kernels.cpp - C API: kernels and their launches --------------------===//

#include "Handles.h"

using namespace tile;
using namespace tile::capi;

//===----------------------------------------------------------------------===//
// What there is to know of a kernel
//===----------------------------------------------------------------------===//

void tileKernelDestroy(TileKernel *kernel) { delete kernel; }

const char *tileKernelGetEntry(const TileKernel *kernel) {
  return kernel ? kernel->kernel.getEntry().c_str() : nullptr;
}

const char *tileKernelGetTarget(const TileKernel *kernel) {
  return kernel ? kernel->kernel.getTarget().c_str() : nullptr;
}

size_t tileKernelGetNumParameters(const TileKernel *kernel) {
  return kernel ? kernel->kernel.getParameters().size() : 0;
}

bool tileKernelGetParameter(const TileKernel *kernel, size_t index,
                            TileParameter *parameter) {
  if (index >= tileKernelGetNumParameters(kernel))
    return false;
  const runtime::Parameter &source = kernel->kernel.getParameters()[index];
  TileParameter value = {};
  value.name = source.name.c_str();
  value.mlirType = source.mlirType.c_str();
  value.type = static_cast<TileElementType>(source.type);
  value.rank = static_cast<int32_t>(source.shape.size());
  value.shape = source.shape.data();
  value.strides = source.strides.data();
  value.shapeDivisors = source.shapeDivisors.data();
  value.strideDivisors = source.strideDivisors.data();
  value.isArray = source.isArray;
  value.isRead = source.isRead;
  value.isWritten = source.isWritten;
  return write(parameter, value);
}

const char *tileKernelGetParameterExtent(const TileKernel *kernel, size_t index,
                                         size_t dimension) {
  if (index >= tileKernelGetNumParameters(kernel))
    return "";
  const std::vector<std::string> &extents =
      kernel->kernel.getParameters()[index].extents;
  return dimension < extents.size() ? extents[dimension].c_str() : "";
}

TileString tileKernelGetPtx(const TileKernel *kernel) {
  return kernel ? getString(kernel->kernel.getPtx()) : TileString{"", 0};
}

uint32_t tileKernelGetBlockThreads(const TileKernel *kernel) {
  return kernel ? kernel->kernel.getBlockThreads() : 0;
}

uint32_t tileKernelGetSharedBytes(const TileKernel *kernel) {
  return kernel ? kernel->kernel.getSharedBytes() : 0;
}

size_t tileKernelGetNumTensorMaps(const TileKernel *kernel) {
  return kernel ? kernel->kernel.getTensorMaps().size() : 0;
}

bool tileKernelGetTensorMap(const TileKernel *kernel, size_t index,
                            TileTensorMap *map) {
  if (index >= tileKernelGetNumTensorMaps(kernel))
    return false;
  const runtime::TensorMap &source = kernel->kernel.getTensorMaps()[index];
  TileTensorMap value = {};
  value.parameter = source.parameter;
  value.argument = source.argument;
  value.rank = static_cast<uint32_t>(source.dims.size());
  std::copy(source.dims.begin(), source.dims.end(), value.dims);
  std::copy(source.box.begin(), source.box.end(), value.box);
  value.swizzle = source.swizzle;
  value.type = source.type.c_str();
  value.fill = source.fill.c_str();
  return write(map, value);
}

static TileError *give(runtime::Expected<std::string> text, TileText **out) {
  if (!text)
    return makeError(std::move(text).error());
  *out = new TileText{std::move(*text)};
  return nullptr;
}

TileError *tileKernelGetCubin(const TileKernel *kernel, TileText **cubin) {
  if (!kernel)
    return makeNullError("a kernel");
  if (!cubin)
    return makeNullError("a place for the cubin");
  return give(kernel->kernel.getCubin(), cubin);
}

TileError *tileKernelGetResources(const TileKernel *kernel,
                                  TileResources *resources) {
  if (!kernel)
    return makeNullError("a kernel");
  if (!resources)
    return makeNullError("a place for the resources");
  if (TileError *error = checkSize(*resources, "TileResources"))
    return error;
  runtime::Expected<runtime::Resources> source = kernel->kernel.getResources();
  if (!source)
    return makeError(std::move(source).error());
  TileResources value = {};
  value.registers = source->registers;
  value.spillStoreBytes = source->spillStoreBytes;
  value.spillLoadBytes = source->spillLoadBytes;
  value.stackBytes = source->stackBytes;
  value.staticSharedBytes = source->staticSharedBytes;
  value.dynamicSharedBytes = source->dynamicSharedBytes;
  value.threads = source->threads;
  write(resources, value);
  return nullptr;
}

size_t tileKernelGetNumRemarks(const TileKernel *kernel) {
  return kernel ? kernel->kernel.getRemarks().size() : 0;
}

bool tileKernelGetRemark(const TileKernel *kernel, size_t index,
                         TileRemark *remark) {
  if (index >= tileKernelGetNumRemarks(kernel))
    return false;
  const runtime::Remark &source = kernel->kernel.getRemarks()[index];
  TileRemark value = {};
  value.kind = static_cast<TileRemarkKind>(source.kind);
  value.line = source.location.line;
  value.column = source.location.column;
  value.numFields = static_cast<uint32_t>(source.fields.size());
  value.file = source.location.file.c_str();
  value.name = source.name.c_str();
  value.category = source.category.c_str();
  value.function = source.function.c_str();
  return write(remark, value);
}

bool tileKernelGetRemarkField(const TileKernel *kernel, size_t index,
                              size_t field, const char **key,
                              const char **value) {
  if (index >= tileKernelGetNumRemarks(kernel))
    return false;
  const runtime::Remark &source = kernel->kernel.getRemarks()[index];
  if (field >= source.fields.size())
    return false;
  if (key)
    *key = source.fields[field].key.c_str();
  if (value)
    *value = source.fields[field].value.c_str();
  return true;
}

TileError *tileKernelPrintRemark(const TileKernel *kernel, size_t index,
                                 TileText **text) {
  if (!kernel)
    return makeNullError("a kernel");
  if (!text)
    return makeNullError("a place for the text");
  const std::vector<runtime::Remark> &remarks = kernel->kernel.getRemarks();
  if (index >= remarks.size())
    return makeError("expects a remark below " +
                     std::to_string(remarks.size()) + ", but got " +
                     std::to_string(index));
  *text = new TileText{remarks[index].str()};
  return nullptr;
}

size_t tileKernelGetNumMultiplies(const TileKernel *kernel) {
  return kernel ? kernel->kernel.getMultiplies().size() : 0;
}

bool tileKernelGetMultiply(const TileKernel *kernel, size_t index,
                           TileMultiply *multiply) {
  if (index >= tileKernelGetNumMultiplies(kernel))
    return false;
  const runtime::Multiply &source = kernel->kernel.getMultiplies()[index];
  TileMultiply value = {};
  value.atom = source.atom.c_str();
  value.reason = source.reason.c_str();
  value.file = source.location.file.c_str();
  value.line = source.location.line;
  value.column = source.location.column;
  value.isNative = source.isNative;
  return write(multiply, value);
}

TileError *tileKernelGetStages(const TileKernel *kernel, TileStages **stages) {
  if (!kernel)
    return makeNullError("a kernel");
  if (!stages)
    return makeNullError("a place for the stages");
  runtime::Expected<std::vector<runtime::Stage>> list =
      kernel->kernel.getStages();
  if (!list)
    return makeError(std::move(list).error());
  *stages = new TileStages{std::move(*list)};
  return nullptr;
}

size_t tileStagesGetCount(const TileStages *stages) {
  return stages ? stages->stages.size() : 0;
}

const char *tileStagesGetName(const TileStages *stages, size_t index) {
  return index < tileStagesGetCount(stages) ? stages->stages[index].name.c_str()
                                            : nullptr;
}

TileString tileStagesGetText(const TileStages *stages, size_t index) {
  return index < tileStagesGetCount(stages)
             ? getString(stages->stages[index].text)
             : TileString{"", 0};
}

void tileStagesDestroy(TileStages *stages) { delete stages; }

uint32_t tileKernelGetNumVariants(const TileKernel *kernel) {
  return kernel ? kernel->kernel.getNumVariants() : 0;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

void tileLaunchOptionsInit(TileLaunchOptions *options, size_t size) {
  runtime::LaunchOptions source;
  TileLaunchOptions defaults = {};
  defaults.scheduleSeed = source.scheduleSeed;
  defaults.hostThreads = source.hostThreads;
  defaults.copyHostArrays = source.copyHostArrays;
  initialize(options, defaults, size);
}

static TileError *readOptions(const TileLaunchOptions *options,
                              runtime::LaunchOptions &value) {
  if (!options)
    return nullptr;
  if (TileError *error = checkSize(*options, "TileLaunchOptions"))
    return error;
  if (options->accumulate)
    value.accumulate = options->accumulate;
  value.copyHostArrays = options->copyHostArrays;
  value.hostThreads = options->hostThreads;
  value.scheduleSeed = options->scheduleSeed;
  value.cancel = options->cancel ? &options->cancel->value : nullptr;
  if (TileProgressCallback callback = options->progress) {
    void *data = options->progressData;
    value.progress = [=](uint64_t done, uint64_t total) {
      callback(done, total, data);
    };
  }
  return nullptr;
}

/// Says which argument an error is of.
static TileError *locate(TileError *error, size_t index) {
  std::string message =
      "argument " + std::to_string(index) + ": " + error->error.getMessage();
  tileErrorDestroy(error);
  return makeError(std::move(message));
}

static TileError *readArguments(const TileArgument *arguments, size_t count,
                                std::vector<runtime::Argument> &values) {
  if (count && !arguments)
    return makeNullError("arguments");
  values.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const TileArgument &argument = arguments[i];
    switch (getNumber(argument.kind)) {
    case TILE_ARGUMENT_TENSOR: {
      runtime::TensorRef array;
      if (TileError *error = readTensor(argument.value.tensor, array))
        return locate(error, i);
      values.emplace_back(array);
      continue;
    }
    case TILE_ARGUMENT_BUFFER:
      if (!argument.value.buffer)
        return locate(makeNullError("a buffer"), i);
      values.emplace_back(argument.value.buffer->buffer);
      continue;
    case TILE_ARGUMENT_INTEGER:
      values.emplace_back(argument.value.integer);
      continue;
    case TILE_ARGUMENT_UNSIGNED:
      values.emplace_back(argument.value.unsignedInteger);
      continue;
    case TILE_ARGUMENT_FLOAT:
      values.emplace_back(argument.value.number);
      continue;
    }
    return locate(makeError("expects a kind of argument from 0 to 4, but got " +
                            std::to_string(getNumber(argument.kind))),
                  i);
  }
  return nullptr;
}

TileError *tileKernelLaunch(const TileKernel *kernel, const TileDevice *device,
                            TileGrid grid, const TileArgument *arguments,
                            size_t numArguments,
                            const TileLaunchOptions *options) {
  if (!kernel)
    return makeNullError("a kernel");
  if (!device)
    return makeNullError("a device");
  std::vector<runtime::Argument> values;
  if (TileError *error = readArguments(arguments, numArguments, values))
    return error;
  runtime::LaunchOptions launchOptions;
  if (TileError *error = readOptions(options, launchOptions))
    return error;
  return makeError(kernel->kernel.launchList(
      device->device, {grid.x, grid.y, grid.z}, values, launchOptions));
}

TileError *tileKernelLaunchAsync(const TileKernel *kernel,
                                 const TileStream *stream, TileGrid grid,
                                 const TileArgument *arguments,
                                 size_t numArguments,
                                 const TileLaunchOptions *options,
                                 TileEvent **event) {
  if (!kernel)
    return makeNullError("a kernel");
  if (!stream)
    return makeNullError("a stream");
  std::vector<runtime::Argument> values;
  if (TileError *error = readArguments(arguments, numArguments, values))
    return error;
  runtime::LaunchOptions launchOptions;
  if (TileError *error = readOptions(options, launchOptions))
    return error;
  runtime::Expected<runtime::Event> launched = kernel->kernel.launchAsyncList(
      stream->stream, {grid.x, grid.y, grid.z}, values, launchOptions);
  if (!launched)
    return makeError(std::move(launched).error());
  if (event)
    *event = new TileEvent{std::move(*launched)};
  return nullptr;
}

TileError *tileKernelGetPtxFor(const TileKernel *kernel,
                               const TileArgument *arguments,
                               size_t numArguments, TileText **ptx) {
  if (!kernel)
    return makeNullError("a kernel");
  if (!ptx)
    return makeNullError("a place for the PTX");
  std::vector<runtime::Argument> values;
  if (TileError *error = readArguments(arguments, numArguments, values))
    return error;
  return give(kernel->kernel.getPtxFor(values), ptx);
}
