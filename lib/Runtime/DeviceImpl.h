//===- DeviceImpl.h - What a device has to do -------------------*- C++ -*-===//

#ifndef TILE_LIB_RUNTIME_DEVICEIMPL_H
#define TILE_LIB_RUNTIME_DEVICEIMPL_H

#include "CompiledCode.h"
#include "tile/Runtime/Array.h"
#include "tile/Runtime/Device.h"
#include "tile/Runtime/Kernel.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tile::runtime {

class KernelImpl;

/// An argument whose type is that of its parameter: an array, or the code of a
/// scalar in the low bits.
struct CheckedArgument {
  std::optional<TensorRef> array;
  uint64_t code = 0;
  std::shared_ptr<void> memory; ///< Kept alive until the launch is complete.
};

/// One launch, checked; owns all that it needs.
struct LaunchRequest {
  std::shared_ptr<KernelImpl> kernel;
  /// What to run; null on the reference device.
  std::shared_ptr<const CompiledCode> code;
  Grid grid;
  std::vector<CheckedArgument> arguments;
  LaunchOptions options;
};

/// A moment in a stream.
class EventImpl {
public:
  virtual ~EventImpl() = default;
  virtual Status synchronize() = 0;
  virtual Expected<bool> isComplete() = 0;
  virtual Expected<float> getElapsedMs(EventImpl &start) = 0;
  virtual const DeviceImpl &getDevice() const = 0;
};

class StreamImpl {
public:
  virtual ~StreamImpl() = default;
  virtual const std::shared_ptr<DeviceImpl> &getDevice() const = 0;
  virtual void *getNativeHandle() const { return nullptr; }
  virtual Status synchronize() = 0;
  virtual Expected<std::shared_ptr<EventImpl>> record() = 0;
  virtual Status wait(std::shared_ptr<EventImpl> event) = 0;
  /// Requires: `request` was checked for this stream's device.
  virtual Expected<std::shared_ptr<EventImpl>>
  launch(LaunchRequest request) = 0;
  /// Copies in the order of the stream.
  virtual Status copyToDevice(void *destination, const void *source,
                              size_t bytes, std::shared_ptr<void> memory) = 0;
  virtual Status copyToHost(void *destination, const void *source, size_t bytes,
                            std::shared_ptr<void> memory) = 0;
};

/// A device. Every function is thread-safe.
class DeviceImpl : public std::enable_shared_from_this<DeviceImpl> {
public:
  virtual ~DeviceImpl() = default;
  virtual Device::Kind getKind() const = 0;
  virtual std::string getName() const = 0;
  virtual const std::string &getTarget() const = 0;
  virtual MemoryPlace getPlace() const { return {}; }
  virtual Status synchronize() = 0;

  /// Memory for at least one byte, aligned to 256; the pointer frees it.
  virtual Expected<std::shared_ptr<void>> allocate(size_t bytes) = 0;
  /// Copies and fills that are complete when they return.
  virtual Status copyToDevice(void *destination, const void *source,
                              size_t bytes) = 0;
  virtual Status copyToHost(void *destination, const void *source,
                            size_t bytes) = 0;
  virtual Status fill(void *destination, uint8_t byte, size_t bytes) = 0;

  virtual Expected<std::shared_ptr<StreamImpl>> createStream() = 0;
  virtual Expected<std::shared_ptr<StreamImpl>> borrowStream(void *handle) = 0;

  /// Checks what only the device can tell of an array: that its memory is
  /// there. `name` is what errors call the argument: "argument 2 (x)".
  virtual Status checkArray(const TensorRef & /*array*/,
                            const std::string & /*name*/) {
    return {};
  }
  /// Runs a launch and waits for it.
  virtual Status launch(const LaunchRequest &request) = 0;
};

/// Runs a launch on the calling thread.
Status launchOnReference(const LaunchRequest &request);
Status launchOnEmulator(const LaunchRequest &request);

/// The devices of the CPU; the same object for equal arguments. Requires:
/// `target` is empty or known.
std::shared_ptr<DeviceImpl> getReferenceDevice();
std::shared_ptr<DeviceImpl> getEmulatorDevice(const std::string &target);

/// The number of GPUs; an error where there is no driver or no GPU.
Expected<int> getNumCudaDevices();
/// The GPU with this ordinal; the same object for each call.
Expected<std::shared_ptr<DeviceImpl>> getCudaDevice(int ordinal);

} // namespace tile::runtime

#endif // TILE_LIB_RUNTIME_DEVICEIMPL_H
