//===- CudaStream.cpp - Streams and events of a GPU -----------------------===//

#include "CudaDevice.h"
#include "KernelImpl.h"

using namespace tile::runtime;

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

Expected<std::shared_ptr<CudaEvent>>
CudaEvent::create(std::shared_ptr<CudaDevice> device, std::string kernel) {
  std::shared_ptr<CudaEvent> event(
      new CudaEvent(std::move(device), std::move(kernel)));
  const CudaDriver &driver = event->device->getDriver();
  if (Status done = driver.call(driver.cuEventCreate, event->getPurpose(),
                                &event->handle, 0u);
      !done)
    return std::move(done).error();
  return event;
}

CudaEvent::~CudaEvent() {
  if (handle)
    device->release(device->getDriver().cuEventDestroy, handle);
}

CudaPurpose CudaEvent::getPurpose() const {
  CudaPurpose purpose = device->getPurpose(kernel.empty() ? nullptr : &kernel);
  purpose.relation = " after ";
  return purpose;
}

const DeviceImpl &CudaEvent::getDevice() const { return *device; }

Status CudaEvent::record(CudaStreamHandle stream) {
  const CudaDriver &driver = device->getDriver();
  return driver.call(driver.cuEventRecord, getPurpose(), handle, stream);
}

Expected<bool> CudaEvent::query() {
  const CudaDriver &driver = device->getDriver();
  const int code = driver.cuEventQuery.function(handle);
  if (code == kCudaSuccess || code == kCudaNotReady)
    return code == kCudaSuccess;
  return driver.makeError("cuEventQuery", code, getPurpose());
}

Status CudaEvent::synchronize() {
  const CudaDriver &driver = device->getDriver();
  return device->inContext([&] {
    return driver.call(driver.cuEventSynchronize, getPurpose(), handle);
  });
}

Expected<bool> CudaEvent::isComplete() {
  bool result = false;
  Status done = device->inContext([&]() -> Status {
    Expected<bool> isDone = query();
    if (!isDone)
      return std::move(isDone).error();
    result = *isDone;
    return {};
  });
  if (!done)
    return std::move(done).error();
  return result;
}

Expected<float> CudaEvent::getElapsedMs(EventImpl &start) {
  const CudaDriver &driver = device->getDriver();
  float result = 0;
  Status done = device->inContext([&]() -> Status {
    const int code = driver.cuEventElapsedTime.function(
        &result, static_cast<CudaEvent &>(start).handle, handle);
    if (code == kCudaNotReady)
      return Error(ErrorCode::InvalidArgument,
                   "expects events that have come; synchronize first");
    if (code)
      return driver.makeError("cuEventElapsedTime", code, getPurpose());
    return {};
  });
  if (!done)
    return std::move(done).error();
  return result;
}

//===----------------------------------------------------------------------===//
// What must live until an event has come
//===----------------------------------------------------------------------===//

void CudaPendingList::add(CudaPending entry) {
  std::lock_guard lock(mutex);
  entries.push_back(std::move(entry));
}

void CudaPendingList::addAll(CudaPendingList &other) {
  std::scoped_lock lock(mutex, other.mutex);
  for (CudaPending &entry : other.entries)
    entries.push_back(std::move(entry));
  other.entries.clear();
}

Status CudaPendingList::reap() {
  // Freed after the lock is: freeing memory calls the driver, which may wait.
  std::vector<CudaPending> complete;
  std::lock_guard lock(mutex);
  for (auto entry = entries.begin(); entry != entries.end();) {
    Expected<bool> isDone = entry->event->query();
    if (!isDone)
      return std::move(isDone).error();
    if (*isDone) {
      complete.push_back(std::move(*entry));
      entry = entries.erase(entry);
    } else if (isOrdered) {
      break;
    } else {
      ++entry;
    }
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

Expected<std::shared_ptr<StreamImpl>> CudaDevice::createStream() {
  CudaStreamHandle handle = nullptr;
  Status done = inContext([&]() -> Status {
    if (Status reaped = orphans.reap(); !reaped)
      return reaped;
    return driver.call(driver.cuStreamCreate, getPurpose(), &handle,
                       kCudaStreamNonBlocking);
  });
  std::shared_ptr<StreamImpl> stream;
  if (handle)
    stream = std::make_shared<CudaStream>(getShared(), handle,
                                          /*isOwned=*/true);
  if (!done)
    return std::move(done).error();
  return stream;
}

Expected<std::shared_ptr<StreamImpl>> CudaDevice::borrowStream(void *handle) {
  auto *stream = static_cast<CudaStreamHandle>(handle);
  // The default stream is that of whatever context is current.
  if (stream) {
    CudaContext owner = nullptr;
    Status done = inContext([&] {
      return driver.call(driver.cuStreamGetCtx, getPurpose(), stream, &owner);
    });
    if (!done)
      return std::move(done).error();
    if (owner != context)
      return Error(ErrorCode::InvalidArgument,
                   "expects a stream of the primary context of " + getName() +
                       ", but got one of another context");
  }
  return std::shared_ptr<StreamImpl>(
      std::make_shared<CudaStream>(getShared(), stream, /*isOwned=*/false));
}

CudaStream::CudaStream(std::shared_ptr<CudaDevice> device,
                       CudaStreamHandle handle, bool isOwned)
    : device(std::move(device)), deviceImpl(this->device), handle(handle),
      isOwned(isOwned) {}

CudaStream::~CudaStream() {
  // The driver lets work that was given to the stream finish. What that uses
  // stays with the device.
  device->getOrphans().addAll(pending);
  if (isOwned)
    device->release(device->getDriver().cuStreamDestroy, handle);
}

Status CudaStream::synchronize() {
  const CudaDriver &driver = device->getDriver();
  return device->inContext([&]() -> Status {
    if (Status done = driver.call(driver.cuStreamSynchronize,
                                  device->getPurpose(), handle);
        !done)
      return done;
    device->freeGarbage();
    return pending.reap();
  });
}

Expected<std::shared_ptr<EventImpl>>
CudaStream::add(CudaPending entry, std::string kernel,
                llvm::function_ref<Status(const CudaPending &)> enqueue) {
  CudaDevice::NoFreeing noFreeing;
  const CudaDriver &driver = device->getDriver();
  std::shared_ptr<CudaEvent> event;
  Status done = device->inContext([&]() -> Status {
    // While a graph is captured nothing runs, events never come, and asking for
    // one ends the capture with an error.
    int capture = kCudaNotCapturing;
    if (Status asked = driver.call(driver.cuStreamIsCapturing,
                                   device->getPurpose(), handle, &capture);
        !asked)
      return asked;
    const bool isCapturing = capture != kCudaNotCapturing;
    if (!isCapturing) {
      if (Status reaped = pending.reap(); !reaped)
        return reaped;
      if (Status reaped = device->getOrphans().reap(); !reaped)
        return reaped;
    }
    // Before the work, so that nothing runs where this fails.
    Expected<std::shared_ptr<CudaEvent>> created =
        CudaEvent::create(device, std::move(kernel));
    if (!created)
      return std::move(created).error();
    event = std::move(*created);
    if (Status enqueued = enqueue(entry); !enqueued)
      return enqueued;
    if (Status recorded = event->record(handle); !recorded) {
      // Without an event nobody knows when the work is complete, and what it
      // uses is about to be freed.
      if (!isCapturing)
        driver.cuStreamSynchronize.function(handle);
      return recorded;
    }
    // How long a graph lives only the caller knows.
    if (!isCapturing && (entry.request || entry.memory)) {
      entry.event = event;
      pending.add(std::move(entry));
    }
    return {};
  });
  if (!done)
    return std::move(done).error();
  return std::shared_ptr<EventImpl>(std::move(event));
}

Expected<std::shared_ptr<EventImpl>> CudaStream::record() {
  return add({}, "", [](const CudaPending &) { return Status(); });
}

Status CudaStream::wait(std::shared_ptr<EventImpl> event) {
  const CudaDriver &driver = device->getDriver();
  // The driver remembers what the event stands for now; it may be destroyed.
  return device->inContext([&] {
    return driver.call(driver.cuStreamWaitEvent, device->getPurpose(), handle,
                       static_cast<CudaEvent &>(*event).getHandle(), 0u);
  });
}

Expected<std::shared_ptr<EventImpl>> CudaStream::launch(LaunchRequest request) {
  Expected<std::shared_ptr<CudaModule>> module = device->prepare(request);
  if (!module)
    return std::move(module).error();
  const std::string &kernel = request.code->entry;
  CudaPending entry;
  entry.request = std::move(request);
  return add(std::move(entry), kernel, [&](const CudaPending &kept) {
    llvm::SmallVector<CudaAddress> addresses;
    for (const CheckedArgument &argument : kept.request->arguments)
      addresses.push_back(
          argument.array ? reinterpret_cast<CudaAddress>(argument.array->data)
                         : 0);
    return device->enqueue(**module, *kept.request, addresses, handle);
  });
}

Status CudaStream::copyToDevice(void *destination, const void *source,
                                size_t bytes, std::shared_ptr<void> memory) {
  const CudaDriver &driver = device->getDriver();
  Expected<std::shared_ptr<EventImpl>> added = add(
      {nullptr, std::move(memory), std::nullopt}, "", [&](const CudaPending &) {
        return driver.call(driver.cuMemcpyHtoDAsync, device->getPurpose(),
                           reinterpret_cast<CudaAddress>(destination), source,
                           bytes, handle);
      });
  if (!added)
    return std::move(added).error();
  return {};
}

Status CudaStream::copyToHost(void *destination, const void *source,
                              size_t bytes, std::shared_ptr<void> memory) {
  const CudaDriver &driver = device->getDriver();
  Expected<std::shared_ptr<EventImpl>> added = add(
      {nullptr, std::move(memory), std::nullopt}, "", [&](const CudaPending &) {
        return driver.call(driver.cuMemcpyDtoHAsync, device->getPurpose(),
                           destination, reinterpret_cast<CudaAddress>(source),
                           bytes, handle);
      });
  if (!added)
    return std::move(added).error();
  return {};
}
