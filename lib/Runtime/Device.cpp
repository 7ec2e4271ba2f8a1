//===- Device.cpp - Where kernels run -------------------------------------===//
//
// The handles, and what is the same for every device.
//
//===----------------------------------------------------------------------===//

#include "tile/Runtime/Device.h"

#include "DeviceImpl.h"
#include "tile/Target/TargetInfo.h"

using namespace tile::runtime;

std::string MemoryPlace::str() const {
  return kind == Kind::Host ? "host memory"
                            : "memory of cuda:" + std::to_string(ordinal);
}

Expected<std::string> tile::runtime::getTargetOfComputeCapability(int major,
                                                                  int minor) {
  const std::string chip =
      "sm_" + std::to_string(major) + std::to_string(minor);
  // Chips with tensor-core instructions of their own need a suffix to unlock
  // them. The chips of 12.x differ in nothing that a kernel can use, so that
  // one code serves all.
  std::string name = chip;
  if (major == 12)
    name = "sm_120f";
  else if ((major == 9 || major == 10 || major == 11))
    name = chip + "a";
  llvm::Expected<const TargetInfo *> target = findTarget(name);
  if (target)
    return name;
  llvm::consumeError(target.takeError());
  // The message names the chip, not the spelling that was tried for it.
  target = findTarget(chip);
  if (target)
    return chip;
  return Error(major < 8 ? ErrorCode::Unavailable : ErrorCode::NotFound,
               "compute capability " + std::to_string(major) + "." +
                   std::to_string(minor) + ": " +
                   llvm::toString(target.takeError()));
}

//===----------------------------------------------------------------------===//
// Device
//===----------------------------------------------------------------------===//

Expected<Device> Device::cuda(int ordinal) {
  Expected<std::shared_ptr<DeviceImpl>> impl = getCudaDevice(ordinal);
  if (!impl)
    return std::move(impl).error();
  return Device(std::move(*impl));
}

Expected<Device> Device::emulator(const std::string &target) {
  if (!target.empty()) {
    llvm::Expected<const TargetInfo *> known = findTarget(target);
    if (!known)
      return Error(ErrorCode::NotFound, llvm::toString(known.takeError()));
  }
  return Device(getEmulatorDevice(target));
}

Device Device::reference() { return Device(getReferenceDevice()); }

Device Device::best() {
  // A GPU that is too old does not hide the next one.
  if (Expected<int> number = getNumCudaDevices())
    for (int ordinal = 0; ordinal < *number; ++ordinal)
      if (Expected<Device> device = cuda(ordinal))
        return *device;
  return reference();
}

Device::Kind Device::getKind() const { return impl->getKind(); }
std::string Device::getName() const { return impl->getName(); }
const std::string &Device::getTarget() const { return impl->getTarget(); }
MemoryPlace Device::getPlace() const { return impl->getPlace(); }
Status Device::synchronize() const { return impl->synchronize(); }

//===----------------------------------------------------------------------===//
// Event
//===----------------------------------------------------------------------===//

/// Checks that an event belongs to a device.
static Status checkEvent(EventImpl &event, const DeviceImpl &device) {
  if (&event.getDevice() == &device)
    return {};
  return Error(ErrorCode::InvalidArgument,
               "expects an event of " + device.getName() + ", but got one of " +
                   event.getDevice().getName());
}

Status Event::synchronize() const { return impl->synchronize(); }
Expected<bool> Event::isComplete() const { return impl->isComplete(); }

Expected<float> Event::getElapsedMs(const Event &start) const {
  if (Status valid = checkEvent(*start.impl, impl->getDevice()); !valid)
    return std::move(valid).error();
  return impl->getElapsedMs(*start.impl);
}

//===----------------------------------------------------------------------===//
// Stream
//===----------------------------------------------------------------------===//

Expected<Stream> Stream::create(const Device &device) {
  Expected<std::shared_ptr<StreamImpl>> impl = device.getImpl()->createStream();
  if (!impl)
    return std::move(impl).error();
  return Stream(std::move(*impl));
}

Expected<Stream> Stream::borrow(const Device &device, void *cudaStream) {
  Expected<std::shared_ptr<StreamImpl>> impl =
      device.getImpl()->borrowStream(cudaStream);
  if (!impl)
    return std::move(impl).error();
  return Stream(std::move(*impl));
}

Device Stream::getDevice() const { return Device(impl->getDevice()); }
void *Stream::getNativeHandle() const { return impl->getNativeHandle(); }
Status Stream::synchronize() const { return impl->synchronize(); }

Expected<Event> Stream::record() const {
  Expected<std::shared_ptr<EventImpl>> event = impl->record();
  if (!event)
    return std::move(event).error();
  return Event(std::move(*event));
}

Status Stream::wait(const Event &event) const {
  if (Status valid = checkEvent(*event.getImpl(), *impl->getDevice()); !valid)
    return valid;
  return impl->wait(event.getImpl());
}
