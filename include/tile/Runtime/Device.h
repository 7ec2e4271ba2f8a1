//===- Device.h - Where kernels run -----------------------------*- C++ -*-===//
//
//     cuda(i)            a GPU, by the CUDA driver, which is loaded at run time
//     emulator(target)   runs the PTX on the CPU and checks every access
//     reference()        runs the kernel's definition on the CPU, no PTX at all
//
// All take the same kernels and the same arguments, and agree within
// docs/numerics.md. These classes are handles: copies share what they name, and
// may be used by several threads at once.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_DEVICE_H
#define TILE_RUNTIME_DEVICE_H

#include "tile/Runtime/Error.h"

#include <memory>
#include <string>

namespace tile::runtime {

class DeviceImpl;
class StreamImpl;
class EventImpl;

/// Which memory an address belongs to.
struct MemoryPlace {
  enum class Kind : int { Host = 0, Cuda = 1 };

  Kind kind = Kind::Host;
  int ordinal = 0; ///< Cuda: of the device.

  bool operator==(const MemoryPlace &other) const {
    return kind == other.kind &&
           (kind == Kind::Host || ordinal == other.ordinal);
  }
  bool operator!=(const MemoryPlace &other) const { return !(*this == other); }
  /// "host memory" or "memory of cuda:0".
  std::string str() const;
};

/// A device that runs kernels.
class Device {
public:
  enum class Kind : int { Reference = 0, Emulator = 1, Cuda = 2 };

  /// The GPU with this ordinal, in its primary context, which PyTorch and the
  /// CUDA runtime use too. Errors: no driver (Unavailable), no such device
  /// (NotFound), a GPU older than sm_80 (Unavailable).
  ///
  /// The driver is `libcuda.so.1`, or the library that the environment's
  /// TILE_CUDA_LIBRARY names.
  static Expected<Device> cuda(int ordinal = 0);
  /// The emulator of PTX. `target` is what kernels are compiled for where their
  /// options leave it open; it may be empty where none does.
  static Expected<Device> emulator(const std::string &target = "");
  /// The interpreter of kernels.
  static Device reference();
  /// The first GPU that can be used, else the reference.
  static Device best();

  Kind getKind() const;
  /// "cuda:0 (NVIDIA H200)", "emulator", "emulator (sm_120a)", "reference".
  std::string getName() const;
  /// The target that kernels are compiled for: a GPU's own by
  /// `getTargetOfComputeCapability`, that of `emulator`, or empty.
  const std::string &getTarget() const;
  /// Where arrays of a launch must be.
  MemoryPlace getPlace() const;
  /// Waits for everything that was given to the device.
  Status synchronize() const;

  bool operator==(const Device &other) const { return impl == other.impl; }

  /// For the library's own use.
  explicit Device(std::shared_ptr<DeviceImpl> impl) : impl(std::move(impl)) {}
  const std::shared_ptr<DeviceImpl> &getImpl() const { return impl; }

private:
  std::shared_ptr<DeviceImpl> impl;
};

/// The target for GPUs of a compute capability: sm_90a for 9.0, sm_100a for
/// 10.0, sm_103a for 10.3, sm_110a for 11.0, sm_120f for every 12.x, else sm_XY
/// where the target table has it. An error names what it has.
Expected<std::string> getTargetOfComputeCapability(int major, int minor);

/// A moment in a stream.
class Event {
public:
  /// Waits for it. Returns the error of the work before it, if that failed: of
  /// the launch that returned this event, or an earlier one of its stream.
  Status synchronize() const;
  /// Whether it has come, without waiting.
  Expected<bool> isComplete() const;
  /// Milliseconds from `start` to this event, once both have come.
  Expected<float> getElapsedMs(const Event &start) const;

  explicit Event(std::shared_ptr<EventImpl> impl) : impl(std::move(impl)) {}
  const std::shared_ptr<EventImpl> &getImpl() const { return impl; }

private:
  std::shared_ptr<EventImpl> impl;
};

/// Work of one device, done in the order in which it was given. Once some of it
/// has failed, the rest is not run, and its events give the same error. Work
/// that was given is done even where the last handle of the stream goes before.
class Stream {
public:
  /// A new stream. On a GPU it does not wait for the default stream. On the
  /// other devices it is a thread.
  static Expected<Stream> create(const Device &device);
  /// A stream of the caller's, a `CUstream` or `cudaStream_t` of a GPU's
  /// primary context; null is the default stream. It stays the caller's. An
  /// error for other devices.
  ///
  /// While the caller captures the stream into a CUDA graph, launches become
  /// part of that; kernels and arrays must then live as long as the graph. A
  /// kernel is loaded by its first launch, which must come before.
  static Expected<Stream> borrow(const Device &device, void *cudaStream);

  Device getDevice() const;
  /// The `CUstream`; null for devices that are no GPU.
  void *getNativeHandle() const;
  /// Waits for everything given so far, and returns its first error.
  Status synchronize() const;
  /// Marks the present end of the stream.
  Expected<Event> record() const;
  /// Makes what is given from now on wait for `event`, of any stream of the
  /// same device.
  Status wait(const Event &event) const;

  explicit Stream(std::shared_ptr<StreamImpl> impl) : impl(std::move(impl)) {}
  const std::shared_ptr<StreamImpl> &getImpl() const { return impl; }

private:
  std::shared_ptr<StreamImpl> impl;
};

} // namespace tile::runtime

#endif // TILE_RUNTIME_DEVICE_H
