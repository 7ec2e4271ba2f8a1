//===- FakeCudaWork.cpp - Kernels and streams of the tests' driver --------===//

#include "FakeCudaState.h"
#include "tile/Emulator/TensorMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstring>
#include <iterator>

using namespace fakecuda;
using namespace tile::emulator;

extern "C" {

//===----------------------------------------------------------------------===//
// Modules and launches
//===----------------------------------------------------------------------===//

int cuModuleLoadDataEx(ModuleObject **result, const void *image,
                       unsigned numOptions, int *options, void **values) {
  const auto *text = static_cast<const char *>(image);
  const bool isCubin = !std::memcmp(text, "\177ELF", 4);
  Call call("cuModuleLoadDataEx", isCubin ? "cubin" : "ptx");
  if (call.needContext().code)
    return call.code;
  auto module = std::make_unique<ModuleObject>();
  module->context = call.context();
  if (isCubin) {
    // The section headers come last in what ptxas writes, and the header of the
    // file says where they are and how many.
    uint64_t offset;
    uint16_t entryBytes, entries;
    std::memcpy(&offset, text + 40, 8);
    std::memcpy(&entryBytes, text + 58, 2);
    std::memcpy(&entries, text + 60, 2);
    module->image.assign(text, offset + uint64_t(entryBytes) * entries);
  } else {
    llvm::Expected<std::unique_ptr<Module>> loaded = Module::load(text, "ptx");
    if (!loaded) {
      std::string message = llvm::toString(loaded.takeError());
      for (unsigned i = 0; i < numOptions; ++i)
        if (options[i] == 5)
          std::strncpy(static_cast<char *>(values[i]), message.c_str(), 255);
      return InvalidPtx;
    }
    module->ptx = std::move(*loaded);
  }
  *result = module.get();
  call.state.modules[module.get()] = std::move(module);
  return Success;
}

int cuModuleUnload(ModuleObject *module) {
  Call call("cuModuleUnload");
  if (!call.state.modules.count(module))
    return InvalidHandle;
  for (auto &[stream, launch] : call.state.running)
    if (launch.module == module)
      ++call.state.violations;
  for (auto it = call.state.functions.begin();
       it != call.state.functions.end();)
    it = it->first->module == module ? call.state.functions.erase(it)
                                     : std::next(it);
  call.state.modules.erase(module);
  return call.needContext().code;
}

int cuModuleGetFunction(FunctionObject **result, ModuleObject *module,
                        const char *name) {
  Call call("cuModuleGetFunction", name);
  if (call.needContext().code)
    return call.code;
  if (!call.state.modules.count(module))
    return InvalidHandle;
  bool isThere = llvm::StringRef(module->image).contains(name);
  if (module->ptx) {
    llvm::Expected<const Function *> entry =
        module->ptx->getSyntax().findEntry(name);
    isThere = bool(entry);
    llvm::consumeError(entry.takeError());
  }
  if (!isThere)
    return NotFound;
  auto function = std::make_unique<FunctionObject>();
  function->module = module;
  function->entry = name;
  *result = function.get();
  call.state.functions[function.get()] = std::move(function);
  return Success;
}

int cuFuncSetAttribute(FunctionObject *function, int attribute, int value) {
  Call call("cuFuncSetAttribute", print(attribute) + " " + print(value));
  if (call.needContext().code)
    return call.code;
  if (!call.state.functions.count(function))
    return InvalidHandle;
  if (attribute != 8 || value < 0 || value > 227 * 1024)
    return InvalidValue;
  function->maxDynamicShared = value;
  return Success;
}

/// Makes a map of the emulator's encoding; refuses what the driver refuses.
int cuTensorMapEncodeTiled(void *object, int type, unsigned rank, void *address,
                           const uint64_t *extents, const uint64_t *strides,
                           const uint32_t *box, const uint32_t *elementStrides,
                           int interleave, int swizzle, int promotion,
                           int fill) {
  using Element = TensorMap::Element;
  // By the driver's number, which is not the emulator's.
  static constexpr Element kElements[] = {
      Element::U8,      Element::U16,   Element::U32,      Element::S32,
      Element::U64,     Element::S64,   Element::F16,      Element::F32,
      Element::F64,     Element::BF16,  Element::F32Ftz,   Element::TF32,
      Element::TF32Ftz, Element::B4x16, Element::B4x16P64, Element::B6x16P32,
  };
  std::string details = print(type) + " " + print(rank) + " extents";
  for (unsigned i = 0; i < rank && i < TensorMap::kMaxRank; ++i)
    details += " " + print(extents[i]);
  Call call("cuTensorMapEncodeTiled", details);
  if (call.needContext().code)
    return call.code;
  if (reinterpret_cast<uintptr_t>(object) % kTensorMapAlignment || type < 0 ||
      type >= int(std::size(kElements)) || rank < 1 ||
      rank > TensorMap::kMaxRank || interleave < 0 || swizzle < 0 ||
      promotion < 0 || fill < 0)
    return InvalidValue;
  TensorMap map;
  map.element = kElements[type];
  map.rank = rank;
  map.address = reinterpret_cast<uintptr_t>(address);
  for (unsigned i = 0; i < rank; ++i) {
    map.extents[i] = extents[i];
    map.box[i] = box[i];
    map.elementStrides[i] = elementStrides[i];
    if (i + 1 < rank)
      map.strides[i] = strides[i];
  }
  map.interleave = TensorMap::Interleave(interleave);
  map.swizzle = TensorMap::Swizzle(swizzle);
  map.l2Promotion = TensorMap::L2Promotion(promotion);
  map.fill = TensorMap::Fill(fill);
  llvm::Expected<TensorMapObject> encoded = map.encode();
  if (!encoded) {
    call.state.log += "refused: " + llvm::toString(encoded.takeError()) + "\n";
    return InvalidValue;
  }
  // A GPU's memory must be there, as far as the map reaches.
  if (!resolve(call.state, map.address, 1))
    return InvalidValue;
  std::memcpy(object, encoded->data(), encoded->size());
  return Success;
}

/// The bytes of each parameter of a kernel.
static llvm::SmallVector<llvm::ArrayRef<uint8_t>>
getParameters(const FunctionObject &function, void **parameters) {
  const Function *entry = llvm::cantFail(
      function.module->ptx->getSyntax().findEntry(function.entry));
  llvm::SmallVector<llvm::ArrayRef<uint8_t>> values;
  for (auto [i, parameter] : llvm::enumerate(entry->parameters))
    values.push_back(
        {static_cast<const uint8_t *>(parameters[i]), parameter.getSize()});
  return values;
}

/// Notes what a launch uses that is not complete at once.
static void hold(State &state, StreamObject *stream, ModuleObject *module,
                 llvm::ArrayRef<llvm::ArrayRef<uint8_t>> parameters) {
  Launch launch;
  launch.module = module;
  for (llvm::ArrayRef<uint8_t> parameter : parameters) {
    uint64_t address = 0;
    if (parameter.size() == 8)
      std::memcpy(&address, parameter.data(), 8);
    auto block = findBlock(state, address);
    if (block != state.blocks.end())
      launch.blocks.insert(block->first);
  }
  state.running.emplace(stream, std::move(launch));
}

int cuLaunchKernel(FunctionObject *function, unsigned gridX, unsigned gridY,
                   unsigned gridZ, unsigned blockX, unsigned blockY,
                   unsigned blockZ, unsigned shared, StreamObject *stream,
                   void **parameters, void **extra) {
  Call call("cuLaunchKernel",
            print(gridX) + "," + print(gridY) + "," + print(gridZ) + " " +
                print(blockX) + "," + print(blockY) + "," + print(blockZ) +
                " " + print(shared) + (stream ? " stream" : " default"));
  if (call.needContext().code)
    return call.code;
  if (!call.state.functions.count(function) ||
      function->module->context != call.context() ||
      !isStream(call.state, stream))
    return InvalidHandle;
  if (!gridX || gridX > 0x7fffffff || !gridY || gridY > 65535 || !gridZ ||
      gridZ > 65535 || !blockX || !blockY || !blockZ ||
      uint64_t(blockX) * blockY * blockZ > 1024 ||
      shared > function->maxDynamicShared || extra)
    return InvalidValue;
  ++call.state.launches;
  // It runs with the graph.
  if (stream && stream->isCapturing)
    return Success;
  if (!function->module->ptx)
    return Success;
  auto values = getParameters(*function, parameters);
  if (call.state.isHeld)
    hold(call.state, stream, function->module, values);
  LaunchOptions options;
  options.grid = {gridX, gridY, gridZ};
  options.block = {blockX, blockY, blockZ};
  options.sharedBytes = shared;
  options.hostThreads = 1;
  llvm::Expected<LaunchResult> result = function->module->ptx->launch(
      function->entry, call.state.memory, values, options);
  if (result)
    return Success;
  // What a kernel does wrong shows later, as on a GPU.
  call.state.log += "fault: " + llvm::toString(result.takeError()) + "\n";
  call.context()->laterFault = IllegalAddress;
  return Success;
}

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

/// Notes a question for what has become of work while a stream is captured.
static bool breaksCapture(State &state) {
  for (auto &[stream, owner] : state.streams)
    if (stream->isCapturing) {
      ++state.violations;
      return true;
    }
  return false;
}

int cuStreamCreate(StreamObject **result, unsigned flags) {
  Call call("cuStreamCreate", print(flags));
  if (call.needContext().code)
    return call.code;
  auto stream = std::make_unique<StreamObject>();
  stream->context = call.context();
  *result = stream.get();
  call.state.streams[stream.get()] = std::move(stream);
  return Success;
}

int cuStreamDestroy_v2(StreamObject *stream) {
  Call call("cuStreamDestroy_v2");
  if (!stream || !call.state.streams.count(stream))
    return InvalidHandle;
  // What was given to it goes on; its handle is as good as any other's.
  call.state.streams.erase(stream);
  return call.needContext().code;
}

int cuStreamSynchronize(StreamObject *stream) {
  Call call("cuStreamSynchronize", stream ? "stream" : "default");
  if (currentContexts.empty())
    return InvalidContext;
  if (!isStream(call.state, stream))
    return InvalidHandle;
  if (breaksCapture(call.state))
    return CaptureUnsupported;
  complete(call.state, stream);
  return call.needContext().code;
}

int cuStreamGetCtx(StreamObject *stream, Context **context) {
  Call call("cuStreamGetCtx");
  if (call.needContext().code)
    return call.code;
  if (!stream || !call.state.streams.count(stream))
    return InvalidHandle;
  *context = stream->context;
  return Success;
}

int cuStreamIsCapturing(StreamObject *stream, int *capture) {
  Call call("cuStreamIsCapturing");
  if (call.needContext().code)
    return call.code;
  if (!isStream(call.state, stream))
    return InvalidHandle;
  *capture = stream && stream->isCapturing;
  return Success;
}

int cuStreamWaitEvent(StreamObject *stream, EventObject *event,
                      unsigned flags) {
  Call call("cuStreamWaitEvent");
  if (call.needContext().code)
    return call.code;
  if (!isStream(call.state, stream) || !call.state.events.count(event))
    return InvalidHandle;
  return flags ? InvalidValue : Success;
}

int cuEventCreate(EventObject **result, unsigned flags) {
  Call call("cuEventCreate");
  if (call.needContext().code)
    return call.code;
  if (flags)
    return InvalidValue;
  auto event = std::make_unique<EventObject>();
  event->context = call.context();
  *result = event.get();
  call.state.events[event.get()] = std::move(event);
  return Success;
}

int cuEventDestroy_v2(EventObject *event) {
  Call call("cuEventDestroy_v2");
  if (!call.state.events.erase(event))
    return InvalidHandle;
  return call.needContext().code;
}

int cuEventRecord(EventObject *event, StreamObject *stream) {
  Call call("cuEventRecord");
  if (call.needContext().code)
    return call.code;
  if (!call.state.events.count(event) || !isStream(call.state, stream) ||
      event->context != call.context())
    return InvalidHandle;
  event->stream = stream;
  event->isRecorded = true;
  event->isComplete = !call.state.isHeld;
  event->time = std::chrono::steady_clock::now();
  return Success;
}

int cuEventQuery(EventObject *event) {
  Call call("cuEventQuery");
  if (call.needContext().code)
    return call.code;
  if (breaksCapture(call.state))
    return CaptureUnsupported;
  if (!call.state.events.count(event))
    return InvalidHandle;
  return event->isComplete ? Success : NotReady;
}

int cuEventSynchronize(EventObject *event) {
  Call call("cuEventSynchronize");
  if (!call.state.events.count(event))
    return InvalidHandle;
  complete(call.state, event->stream);
  return call.needContext().code;
}

int cuEventElapsedTime(float *milliseconds, EventObject *from,
                       EventObject *to) {
  Call call("cuEventElapsedTime");
  if (call.needContext().code)
    return call.code;
  if (!call.state.events.count(from) || !call.state.events.count(to) ||
      !from->isRecorded || !to->isRecorded)
    return InvalidHandle;
  if (!from->isComplete || !to->isComplete)
    return NotReady;
  *milliseconds =
      std::chrono::duration<float, std::milli>(to->time - from->time).count();
  return Success;
}

} // extern "C"
