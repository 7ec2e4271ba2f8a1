//===- CudaDevice.h - A GPU, by the CUDA driver -----------------*- C++ -*-===//
//
// Everything happens in the device's primary context, which PyTorch and the
// CUDA runtime use too. It is made current for the length of a call and taken
// off again, so that the caller's own context is as it was.
//
// Nothing here waits unless its name says so. What a launch uses must live
// until it is complete, so a stream keeps a list of that, each entry with an
// event; entries whose event has come are dropped at later calls. The driver
// may wait for the whole GPU when memory is freed, so what a launch drops is
// freed later, by a call that allocates, frees or waits.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_RUNTIME_CUDADEVICE_H
#define TILE_LIB_RUNTIME_CUDADEVICE_H

#include "CudaDriver.h"
#include "DeviceImpl.h"
#include "Gate.h"
#include "tile/Runtime/Compiler.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tile::runtime {

class CudaDevice;

/// Whether a GPU of compute capability `major`.`minor` runs machine code for
/// `target`: `sm_XY` from X.Y on within X, `sm_XYf` likewise, `sm_XYa` on X.Y
/// alone.
bool canRun(const std::string &target, int major, int minor);
/// Whether the driver of such a GPU assembles PTX for `target`: as above, and
/// `sm_XY` for every later GPU too.
bool canAssemble(const std::string &target, int major, int minor);

/// A moment in a stream of a GPU.
class CudaEvent final : public EventImpl {
public:
  /// Makes an event that has not been recorded. `kernel` is that of the launch
  /// it follows, or empty. Requires: the device's context is current.
  static Expected<std::shared_ptr<CudaEvent>>
  create(std::shared_ptr<CudaDevice> device, std::string kernel);
  ~CudaEvent() override;

  CudaEventHandle getHandle() const { return handle; }
  /// Requires: the device's context is current.
  Status record(CudaStreamHandle stream);
  /// Whether it has come. Requires: the device's context is current.
  Expected<bool> query();

  Status synchronize() override;
  Expected<bool> isComplete() override;
  Expected<float> getElapsedMs(EventImpl &start) override;
  const DeviceImpl &getDevice() const override;

private:
  CudaEvent(std::shared_ptr<CudaDevice> device, std::string kernel)
      : device(std::move(device)), kernel(std::move(kernel)) {}
  CudaPurpose getPurpose() const;

  std::shared_ptr<CudaDevice> device;
  std::string kernel;
  CudaEventHandle handle = nullptr;
};

/// What must live until an event has come.
struct CudaPending {
  std::shared_ptr<CudaEvent> event;
  std::shared_ptr<void> memory;         ///< Of a copy.
  std::optional<LaunchRequest> request; ///< Of a launch.
};

/// Such things, oldest first. Thread-safe.
class CudaPendingList {
public:
  /// `isOrdered`: events come in the order of the list, as those of one stream
  /// do.
  explicit CudaPendingList(bool isOrdered) : isOrdered(isOrdered) {}

  void add(CudaPending entry);
  /// Takes over the entries of `other`.
  void addAll(CudaPendingList &other);
  /// Drops entries whose events have come. Requires: the device's context is
  /// current.
  Status reap();

private:
  const bool isOrdered;
  Shielded<> mutex;
  std::deque<CudaPending> entries;
};

/// A kernel's code in the context of a device.
struct CudaModule {
  std::shared_ptr<CudaDevice> device;
  CudaModuleHandle module = nullptr;
  CudaFunction function = nullptr;
  /// Zeros for tensor maps of arrays without elements; null where the code
  /// takes no tensor maps.
  std::shared_ptr<void> zeros;

  ~CudaModule();
};

class CudaDevice final : public DeviceImpl {
public:
  /// Opens the GPU and retains its primary context, for as long as the process
  /// lives.
  static Expected<std::shared_ptr<CudaDevice>> create(const CudaDriver &driver,
                                                      int ordinal);

  Device::Kind getKind() const override { return Device::Kind::Cuda; }
  std::string getName() const override;
  const std::string &getTarget() const override { return target; }
  MemoryPlace getPlace() const override {
    return {MemoryPlace::Kind::Cuda, ordinal};
  }
  Status synchronize() override;

  Expected<std::shared_ptr<void>> allocate(size_t bytes) override;
  Status copyToDevice(void *destination, const void *source,
                      size_t bytes) override;
  Status copyToHost(void *destination, const void *source,
                    size_t bytes) override;
  Status fill(void *destination, uint8_t byte, size_t bytes) override;

  Expected<std::shared_ptr<StreamImpl>> createStream() override;
  Expected<std::shared_ptr<StreamImpl>> borrowStream(void *handle) override;

  Status checkArray(const TensorRef &array, const std::string &name) override;
  Status launch(const LaunchRequest &request) override;

  // What follows is for the streams, events and kernels of this device.

  const CudaDriver &getDriver() const { return driver; }
  CudaPurpose getPurpose(const std::string *kernel = nullptr) const {
    return {ordinal, kernel};
  }
  std::shared_ptr<CudaDevice> getShared() {
    return std::static_pointer_cast<CudaDevice>(shared_from_this());
  }

  /// Runs `body` with the device's context current.
  Status inContext(llvm::function_ref<Status()> body) const;
  /// Calls a function of the driver with the device's context current; for the
  /// end of an object, which cannot fail.
  template <typename... Parameters, typename... Arguments>
  void release(const CudaCall<Parameters...> &call, Arguments... arguments) {
    Status done = inContext(
        [&] { return driver.call(call, getPurpose(), arguments...); });
    (void)static_cast<bool>(done);
  }

  /// The code of a launch in this device's context, loaded at the first call.
  Expected<std::shared_ptr<CudaModule>> prepare(const LaunchRequest &request);
  /// Gives a launch to a stream. `addresses`: of the array arguments, in the
  /// places of those. Requires: the device's context is current.
  Status enqueue(const CudaModule &module, const LaunchRequest &request,
                 llvm::ArrayRef<CudaAddress> addresses,
                 CudaStreamHandle stream);

  /// Frees memory or a module; later, where this thread is in a `NoFreeing`.
  void freeMemory(CudaAddress address);
  void unload(CudaModuleHandle module);
  /// Frees what was to be freed later.
  void freeGarbage();

  /// While it lives, this thread frees nothing.
  class NoFreeing {
  public:
    NoFreeing() : before(isActive) { isActive = true; }
    ~NoFreeing() { isActive = before; }

  private:
    friend class CudaDevice;
    static thread_local bool isActive;
    bool before;
  };

  /// What streams that are gone leave to be kept.
  CudaPendingList &getOrphans() { return orphans; }

private:
  CudaDevice(const CudaDriver &driver, int ordinal)
      : driver(driver), ordinal(ordinal) {}

  Status open();
  Status checkCode(const CompiledCode &code, Assembler assembler) const;
  Expected<std::shared_ptr<void>> load(const LaunchRequest &request);

  const CudaDriver &driver;
  int ordinal;
  CudaDeviceId id = 0;
  CudaContext context = nullptr;
  std::string model; ///< "NVIDIA H200".
  std::string target;
  int major = 0, minor = 0;
  int maxSharedBytes = 0; ///< Of a block, on request.
  Shielded<> garbageMutex;
  std::vector<CudaAddress> garbageMemory;
  std::vector<CudaModuleHandle> garbageModules;
  CudaPendingList orphans{/*isOrdered=*/false};
};

/// A stream of a GPU, ours or the caller's.
class CudaStream final : public StreamImpl {
public:
  CudaStream(std::shared_ptr<CudaDevice> device, CudaStreamHandle handle,
             bool isOwned);
  ~CudaStream() override;

  const std::shared_ptr<DeviceImpl> &getDevice() const override {
    return deviceImpl;
  }
  void *getNativeHandle() const override { return handle; }
  Status synchronize() override;
  Expected<std::shared_ptr<EventImpl>> record() override;
  Status wait(std::shared_ptr<EventImpl> event) override;
  Expected<std::shared_ptr<EventImpl>> launch(LaunchRequest request) override;
  Status copyToDevice(void *destination, const void *source, size_t bytes,
                      std::shared_ptr<void> memory) override;
  Status copyToHost(void *destination, const void *source, size_t bytes,
                    std::shared_ptr<void> memory) override;

private:
  /// Drops what is complete; gives work to the stream by `enqueue`; and keeps
  /// `entry` until that is complete. Returns the event.
  Expected<std::shared_ptr<EventImpl>>
  add(CudaPending entry, std::string kernel,
      llvm::function_ref<Status(const CudaPending &)> enqueue);

  std::shared_ptr<CudaDevice> device;
  std::shared_ptr<DeviceImpl> deviceImpl; ///< The same.
  CudaStreamHandle handle;
  bool isOwned;
  CudaPendingList pending{/*isOrdered=*/true};
};

} // namespace tile::runtime

#endif // TILE_LIB_RUNTIME_CUDADEVICE_H
