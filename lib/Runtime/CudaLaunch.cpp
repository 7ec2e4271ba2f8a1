//===- CudaLaunch.cpp - Load and launch kernels on a GPU ------------------===//

#include "CudaDevice.h"
#include "KernelImpl.h"
#include "TensorMaps.h"
#include "tile/Codegen/KernelParameters.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>

using namespace tile;
using namespace tile::runtime;
using llvm::SmallVector;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// The capability of the oldest GPU that a target is for, and its suffix.
struct TargetName {
  int major = 0, minor = 0;
  StringRef suffix;
};

static std::optional<TargetName> parseTarget(StringRef name) {
  int chip = 0;
  if (!name.consume_front("sm_") || name.consumeInteger(10, chip) ||
      !llvm::is_contained({"", "a", "f"}, name))
    return std::nullopt;
  return TargetName{chip / 10, chip % 10, name};
}

bool tile::runtime::canRun(const std::string &target, int major, int minor) {
  std::optional<TargetName> name = parseTarget(target);
  if (!name || name->major != major)
    return false;
  return name->suffix == "a" ? name->minor == minor : name->minor <= minor;
}

bool tile::runtime::canAssemble(const std::string &target, int major,
                                int minor) {
  std::optional<TargetName> name = parseTarget(target);
  return canRun(target, major, minor) ||
         (name && name->suffix.empty() && name->major < major);
}

CudaModule::~CudaModule() {
  if (module)
    device->unload(module);
}

/// What may be shared without asking for more; dynamic shared memory above this
/// is an opt-in of the kernel.
static constexpr unsigned kSharedBytesByDefault = 48 * 1024;

Status CudaDevice::checkCode(const CompiledCode &code,
                             Assembler assembler) const {
  const bool isRunnable = assembler == Assembler::Ptxas
                              ? canRun(code.target, major, minor)
                              : canAssemble(code.target, major, minor);
  if (!isRunnable)
    return Error(ErrorCode::InvalidArgument,
                 "kernel '" + code.entry + "' is compiled for " + code.target +
                     ", which " + getName() + " of compute capability " +
                     std::to_string(major) + "." + std::to_string(minor) +
                     " cannot run; its target is " + target);
  if (static_cast<int64_t>(code.sharedBytes) > maxSharedBytes)
    return Error(ErrorCode::InvalidArgument,
                 "kernel '" + code.entry + "' needs " +
                     std::to_string(code.sharedBytes) +
                     " bytes of shared memory for a block, but " + getName() +
                     " has " + std::to_string(maxSharedBytes));
  return {};
}

/// `error` with more to its message.
static Error extend(const Error &error, const std::string &more) {
  return Error(error.getCode(), error.getMessage() + more,
               error.getDiagnostics());
}

Expected<std::shared_ptr<void>> CudaDevice::load(const LaunchRequest &request) {
  const CompiledCode &code = *request.code;
  const Assembler assembler = request.kernel->getOptions().assembler;
  if (Status valid = checkCode(code, assembler); !valid)
    return std::move(valid).error();
  if (!code.tensorMaps.empty() && !driver.cuTensorMapEncodeTiled.function)
    return Error(ErrorCode::Unavailable,
                 "the CUDA driver has no function 'cuTensorMapEncodeTiled', "
                 "which kernel '" +
                     code.entry + "' needs for its tensor maps; it is too old");

  // PTX is text, which the driver assembles; a cubin is ready.
  const void *image = code.ptx.c_str();
  std::shared_ptr<const CompiledCode::Assembled> assembled;
  std::string reason;
  if (assembler == Assembler::Auto && !canRun(code.target, major, minor)) {
    reason = "machine code for " + code.target + " does not run here";
  } else if (assembler != Assembler::Driver) {
    auto made = request.kernel->assemble(code);
    if (made) {
      assembled = std::move(*made);
      image = assembled->cubin.data();
    } else if (assembler == Assembler::Ptxas ||
               made.error().getCode() != ErrorCode::Unavailable) {
      return std::move(made).error();
    } else {
      reason = made.error().getMessage();
    }
  }

  const CudaPurpose purpose = getPurpose(&code.entry);
  auto loaded = std::make_shared<CudaModule>();
  loaded->device = getShared();
  Status done = inContext([&]() -> Status {
    char log[4096] = {};
    int options[] = {kCudaJitErrorLog, kCudaJitErrorLogBytes};
    // Numbers travel in the pointers themselves.
    void *values[] = {log, reinterpret_cast<void *>(sizeof(log) - 1)};
    if (Status made = driver.call(driver.cuModuleLoadDataEx, purpose,
                                  &loaded->module, image, 2u, options, values);
        !made) {
      std::string more;
      if (StringRef text = StringRef(log).trim(); !text.empty())
        more += "; the driver says: " + text.str();
      if (!reason.empty())
        more += "; ptxas was not used: " + reason;
      return extend(made.error(), more);
    }
    if (Status found =
            driver.call(driver.cuModuleGetFunction, purpose, &loaded->function,
                        loaded->module, code.entry.c_str());
        !found)
      return found;
    if (code.sharedBytes <= kSharedBytesByDefault)
      return {};
    return driver.call(driver.cuFuncSetAttribute, purpose, loaded->function,
                       kCudaMaxDynamicShared,
                       static_cast<int>(code.sharedBytes));
  });
  if (!done)
    return std::move(done).error();
  if (!code.tensorMaps.empty()) {
    Expected<std::shared_ptr<void>> zeros = allocate(kEmptyTensorBytes);
    if (!zeros)
      return extend(zeros.error(), "; it is for kernel '" + code.entry + "'");
    if (Status filled = fill(zeros->get(), 0, kEmptyTensorBytes); !filled)
      return std::move(filled).error();
    loaded->zeros = std::move(*zeros);
  }
  return std::shared_ptr<void>(std::move(loaded));
}

Expected<std::shared_ptr<CudaModule>>
CudaDevice::prepare(const LaunchRequest &request) {
  Expected<std::shared_ptr<void>> loaded =
      request.code->getLoaded(this, [&] { return load(request); });
  if (!loaded)
    return std::move(loaded).error();
  return std::static_pointer_cast<CudaModule>(std::move(*loaded));
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

namespace {
/// A tensor map as a kernel gets it.
struct alignas(128) CudaTensorMap {
  uint8_t bytes[emulator::kTensorMapBytes];
};
} // namespace

/// `CUtensorMapDataType` of an element type.
static int getDataType(emulator::TensorMap::Element element) {
  using Element = emulator::TensorMap::Element;
  switch (element) {
  case Element::U16:
    return 1;
  case Element::B4x16:
    return 13;
  case Element::B4x16P64:
    return 14;
  default:
    return 0; // bytes: no kernel has another
  }
}

/// Lets the driver encode the tensor maps of a launch. Requires: the device's
/// context is current.
static Expected<std::vector<CudaTensorMap>>
encodeTensorMaps(const CudaDriver &driver, const CudaPurpose &purpose,
                 const LaunchRequest &request,
                 llvm::ArrayRef<CudaAddress> addresses, CudaAddress zeros) {
  std::vector<CudaTensorMap> objects;
  auto maps = makeTensorMaps(*request.kernel, *request.code, request.arguments,
                             addresses, zeros);
  if (!maps)
    return std::move(maps).error();
  objects.resize(maps->size());
  for (auto [map, object] : llvm::zip_equal(*maps, objects))
    // Swizzles, promotions and fills have the driver's numbers.
    if (Status done = driver.call(
            driver.cuTensorMapEncodeTiled, purpose,
            static_cast<void *>(object.bytes), getDataType(map.element),
            map.rank, reinterpret_cast<void *>(map.address),
            const_cast<const uint64_t *>(map.extents.data()),
            const_cast<const uint64_t *>(map.strides.data()),
            const_cast<const uint32_t *>(map.box.data()),
            const_cast<const uint32_t *>(map.elementStrides.data()),
            static_cast<int>(map.interleave), static_cast<int>(map.swizzle),
            static_cast<int>(map.l2Promotion), static_cast<int>(map.fill));
        !done)
      return std::move(done).error();
  return objects;
}

Status CudaDevice::enqueue(const CudaModule &module,
                           const LaunchRequest &request,
                           llvm::ArrayRef<CudaAddress> addresses,
                           CudaStreamHandle stream) {
  SmallVector<KernelArgument> arguments;
  for (auto [argument, address] :
       llvm::zip_equal(request.arguments, addresses)) {
    if (argument.array)
      arguments.push_back(
          {address, argument.array->shape, argument.array->strides});
    else
      arguments.push_back({argument.code, {}, {}});
  }
  SmallVector<uint64_t> values =
      getParameterValues(request.kernel->getDescription().abi, arguments);
  // The driver reads as many bytes as the entry declares: the lowest ones, on
  // the little-endian hosts that GPUs have.
  SmallVector<void *> pointers;
  for (uint64_t &value : values)
    pointers.push_back(&value);
  const CompiledCode &code = *request.code;
  auto maps =
      encodeTensorMaps(driver, getPurpose(&code.entry), request, addresses,
                       reinterpret_cast<CudaAddress>(module.zeros.get()));
  if (!maps)
    return std::move(maps).error();
  for (CudaTensorMap &map : *maps)
    pointers.push_back(&map);

  return driver.call(driver.cuLaunchKernel, getPurpose(&code.entry),
                     module.function, static_cast<unsigned>(request.grid.x),
                     static_cast<unsigned>(request.grid.y),
                     static_cast<unsigned>(request.grid.z), code.blockThreads,
                     1u, 1u, code.sharedBytes, stream, pointers.data(),
                     nullptr);
}

namespace {

/// The arrays of a launch that are in host memory, and their copies on the
/// device. Arrays that share bytes share a copy: what one writes the other
/// sees, as on the host.
class HostArrays {
public:
  HostArrays(CudaDevice &device, const LaunchRequest &request);

  /// Allocates the copies and writes their addresses.
  Status allocate(llvm::MutableArrayRef<CudaAddress> addresses);
  /// Both in the order of the default stream.
  Status copyToDevice();
  Status copyToHost();

private:
  /// Bytes that one argument spans.
  struct Span {
    uintptr_t begin = 0, end = 0;
    size_t argument = 0;
    unsigned alignment = 16; ///< Of its address on the device.
    size_t copy = 0;
    bool isWritten = false;
  };
  /// The device's copy of bytes that hang together.
  struct Copy {
    uintptr_t begin = 0, end = 0;
    uintptr_t skew = 0; ///< Of `begin`, from the first byte of `memory`.
    std::shared_ptr<void> memory;
    CudaAddress address = 0; ///< Of `begin`.
  };

  CudaDevice &device;
  const std::string &kernel;
  std::vector<Span> spans;
  std::vector<Copy> copies;
};

} // namespace

HostArrays::HostArrays(CudaDevice &device, const LaunchRequest &request)
    : device(device), kernel(request.code->entry) {
  const std::vector<Parameter> &parameters =
      request.kernel->getDescription().parameters;
  for (auto [i, argument] : llvm::enumerate(request.arguments)) {
    if (!argument.array ||
        argument.array->place.kind != MemoryPlace::Kind::Host)
      continue;
    const int64_t bytes = argument.array->getSpanBytes();
    if (bytes <= 0)
      continue;
    const auto begin = reinterpret_cast<uintptr_t>(argument.array->data);
    spans.push_back({begin, begin + static_cast<uintptr_t>(bytes), i,
                     getArrayAlignment(*request.code, i), 0,
                     parameters[i].isWritten});
  }
  llvm::stable_sort(
      spans, [](const Span &a, const Span &b) { return a.begin < b.begin; });
  for (Span &span : spans) {
    if (copies.empty() || span.begin >= copies.back().end)
      copies.push_back({span.begin, span.end, span.begin % 256, nullptr, 0});
    copies.back().end = std::max(copies.back().end, span.end);
    // The multiples of 16 are the same as on the host. Where arrays in one copy
    // cannot all be aligned, their tensor maps are refused.
    Copy &copy = copies.back();
    const uintptr_t beyond =
        (span.begin - copy.begin + copy.skew) % span.alignment / 16 * 16;
    if (beyond)
      copy.skew += span.alignment - beyond;
    span.copy = copies.size() - 1;
  }
}

Status HostArrays::allocate(llvm::MutableArrayRef<CudaAddress> addresses) {
  for (Copy &copy : copies) {
    // As aligned as it is on the host, no better and no worse, but for what
    // tensor maps need: what was found of the host's addresses is then true of
    // these.
    Expected<std::shared_ptr<void>> memory =
        device.allocate(copy.end - copy.begin + copy.skew);
    if (!memory)
      return extend(memory.error(), "; it is for a copy of an array in host "
                                    "memory for kernel '" +
                                        kernel + "'");
    copy.memory = std::move(*memory);
    copy.address = reinterpret_cast<CudaAddress>(copy.memory.get()) + copy.skew;
  }
  for (const Span &span : spans)
    addresses[span.argument] =
        copies[span.copy].address + (span.begin - copies[span.copy].begin);
  return {};
}

Status HostArrays::copyToDevice() {
  // Arrays that are only written are copied too: what the kernel leaves as it
  // was, gaps between rows included, is what comes back.
  const CudaDriver &driver = device.getDriver();
  for (const Copy &copy : copies)
    if (Status done = driver.call(driver.cuMemcpyHtoDAsync,
                                  device.getPurpose(&kernel), copy.address,
                                  reinterpret_cast<const void *>(copy.begin),
                                  copy.end - copy.begin, nullptr);
        !done)
      return done;
  return {};
}

Status HostArrays::copyToHost() {
  const CudaDriver &driver = device.getDriver();
  for (const Span &span : spans) {
    if (!span.isWritten)
      continue;
    const Copy &copy = copies[span.copy];
    if (Status done =
            driver.call(driver.cuMemcpyDtoHAsync, device.getPurpose(&kernel),
                        reinterpret_cast<void *>(span.begin),
                        copy.address + (span.begin - copy.begin),
                        span.end - span.begin, nullptr);
        !done)
      return done;
  }
  return {};
}

Status CudaDevice::launch(const LaunchRequest &request) {
  Expected<std::shared_ptr<CudaModule>> module = prepare(request);
  if (!module)
    return std::move(module).error();
  return inContext([&]() -> Status {
    SmallVector<CudaAddress> addresses;
    for (const CheckedArgument &argument : request.arguments)
      addresses.push_back(
          argument.array ? reinterpret_cast<CudaAddress>(argument.array->data)
                         : 0);
    std::optional<HostArrays> arrays;
    if (request.options.copyHostArrays) {
      arrays.emplace(*this, request);
      if (Status done = arrays->allocate(addresses); !done)
        return done;
    }

    Status done;
    if (arrays)
      done = arrays->copyToDevice();
    if (done)
      done = enqueue(**module, request, addresses, nullptr);
    if (done && arrays)
      done = arrays->copyToHost();
    // After a failure too: what was begun uses memory that is freed next.
    CudaPurpose purpose = getPurpose(&request.code->entry);
    purpose.relation = " after ";
    Status waited = driver.call(driver.cuStreamSynchronize, purpose, nullptr);
    return done ? std::move(waited) : std::move(done);
  });
}
