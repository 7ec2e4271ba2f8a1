//===- HostDevice.cpp - The devices of the CPU ----------------------------===//
//
// `reference` and `emulator` differ in which function runs a launch; memory,
// streams and events are the same.
//
// A stream is a queue, and a thread that works it off; it starts with the first
// piece of work. The queue outlives the stream's handle: destroying the handle
// says that nothing more will come, and the thread ends once the queue is
// empty. Nobody waits for it there, so that a handle may be destroyed anywhere,
// in the stream's own work too.
//
// Errors stay, as those of a GPU's context do: once some work of a stream has
// failed, what follows is not run, and its events give the first error. Waiting
// for an event whose work has failed is a failure as well, so that nothing runs
// on data that was never made.
//
//===----------------------------------------------------------------------===//

#include "DeviceImpl.h"
#include "Gate.h"
#include "KernelImpl.h"
#include "tile/Target/TargetInfo.h"

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <pthread.h>

using namespace tile::runtime;

namespace {

using Clock = std::chrono::steady_clock;

/// A moment in the queue of a stream.
class HostEvent final : public EventImpl {
public:
  explicit HostEvent(std::shared_ptr<DeviceImpl> device)
      : device(std::move(device)) {}

  /// Says that the moment has come, and how.
  void complete(const std::optional<Error> &failure);

  Status synchronize() override;
  Expected<bool> isComplete() override;
  Expected<float> getElapsedMs(EventImpl &start) override;
  const DeviceImpl &getDevice() const override { return *device; }

private:
  Status getStatus() const;

  std::shared_ptr<DeviceImpl> device;
  const unsigned generation = getForkGeneration();
  std::mutex mutex; ///< Of `changed`.
  std::condition_variable changed;
  /// Set last; what is below stays as it is then. A forked process asks without
  /// the lock, which a thread of its parent may hold.
  std::atomic<bool> isDone{false};
  Clock::time_point time;
  std::optional<Error> error;
};

/// One piece of work, and the event that follows it.
struct Task {
  std::function<Status()> work; ///< Empty: the event alone.
  std::shared_ptr<HostEvent> event;
};

/// What a stream's thread works on.
class Queue : public std::enable_shared_from_this<Queue> {
public:
  /// Adds a task, and starts the thread where there is none. An error: no
  /// thread can be started.
  Status add(Task task);
  /// Says that nothing more will be added.
  void close();
  /// Waits until everything that was added has been done; its first error.
  Status synchronize();
  bool isOnThread() const;
  /// Whether its thread belongs to a process that this one was forked from:
  /// what waits in it is never done here.
  bool isForeign() const { return generation != getForkGeneration(); }

private:
  static void *runThread(void *queue);
  void run();

  const unsigned generation = getForkGeneration();
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::deque<Task> tasks;
  uint64_t numAdded = 0, numDone = 0;
  bool hasThread = false, isClosed = false;
  pthread_t thread = {};
  std::optional<Error> error; ///< The first.
};

/// The tasks that run at the moment. At the end of the process what still waits
/// in a queue is dropped, and what runs is waited for: it uses parts of the
/// program that are about to be destroyed.
class RunningTasks {
public:
  /// The only object of this process, which is never destroyed: threads outlive
  /// `main`.
  static RunningTasks &get();

  /// Says that a task begins; false where the process ends instead.
  bool enter();
  void leave();
  /// Set when the process ends; for launches that have no flag of their own.
  const std::atomic<bool> *getExitFlag() const { return &exiting; }

private:
  void waitAtExit();

  std::mutex mutex;
  std::condition_variable changed;
  unsigned number = 0;
  std::atomic<bool> exiting{false};
};

class HostDevice final : public DeviceImpl {
public:
  HostDevice(Device::Kind kind, std::string target)
      : kind(kind), target(std::move(target)) {}

  Device::Kind getKind() const override { return kind; }
  std::string getName() const override;
  const std::string &getTarget() const override { return target; }
  Status synchronize() override;

  Expected<std::shared_ptr<void>> allocate(size_t bytes) override;
  Status copyToDevice(void *destination, const void *source,
                      size_t bytes) override;
  Status copyToHost(void *destination, const void *source,
                    size_t bytes) override;
  Status fill(void *destination, uint8_t byte, size_t bytes) override;

  Expected<std::shared_ptr<StreamImpl>> createStream() override;
  Expected<std::shared_ptr<StreamImpl>> borrowStream(void *handle) override;

  Status launch(const LaunchRequest &request) override {
    return kind == Device::Kind::Reference ? launchOnReference(request)
                                           : launchOnEmulator(request);
  }

private:
  Device::Kind kind;
  std::string target;
  Shielded<> mutex;
  std::vector<std::weak_ptr<Queue>> queues; ///< Of the streams.
};

class HostStream final : public StreamImpl {
public:
  HostStream(std::shared_ptr<DeviceImpl> device, std::shared_ptr<Queue> queue)
      : device(std::move(device)), queue(std::move(queue)) {}
  ~HostStream() override { queue->close(); }

  const std::shared_ptr<DeviceImpl> &getDevice() const override {
    return device;
  }
  Status synchronize() override { return queue->synchronize(); }
  Expected<std::shared_ptr<EventImpl>> record() override { return add({}); }
  Status wait(std::shared_ptr<EventImpl> event) override;
  Expected<std::shared_ptr<EventImpl>> launch(LaunchRequest request) override;
  Status copyToDevice(void *destination, const void *source, size_t bytes,
                      std::shared_ptr<void> memory) override;
  Status copyToHost(void *destination, const void *source, size_t bytes,
                    std::shared_ptr<void> memory) override {
    return copyToDevice(destination, source, bytes, std::move(memory));
  }

private:
  Expected<std::shared_ptr<EventImpl>> add(std::function<Status()> work);

  std::shared_ptr<DeviceImpl> device;
  std::shared_ptr<Queue> queue;
};

} // namespace

/// The error of what would wait for a thread of another process.
static Error makeForeign() {
  return Error(ErrorCode::InvalidArgument,
               "the stream belongs to the process that this one was forked "
               "from; create another");
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

void HostEvent::complete(const std::optional<Error> &failure) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    time = Clock::now();
    error = failure;
    isDone = true;
  }
  changed.notify_all();
}

Status HostEvent::getStatus() const {
  if (error)
    return *error;
  return {};
}

Status HostEvent::synchronize() {
  if (isDone)
    return getStatus();
  // What had not come when this process was forked never does here.
  if (generation != getForkGeneration())
    return makeForeign();
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [&] { return isDone.load(); });
  return getStatus();
}

Expected<bool> HostEvent::isComplete() {
  if (!isDone)
    return false;
  if (error)
    return *error;
  return true;
}

Expected<float> HostEvent::getElapsedMs(EventImpl &start) {
  auto getTime = [](HostEvent &event) -> Expected<Clock::time_point> {
    if (!event.isDone)
      return Error(ErrorCode::InvalidArgument,
                   "expects events that have come; synchronize first");
    if (event.error)
      return *event.error;
    return event.time;
  };
  Expected<Clock::time_point> from = getTime(static_cast<HostEvent &>(start));
  if (!from)
    return std::move(from).error();
  Expected<Clock::time_point> to = getTime(*this);
  if (!to)
    return std::move(to).error();
  return std::chrono::duration<float, std::milli>(*to - *from).count();
}

//===----------------------------------------------------------------------===//
// Running tasks
//===----------------------------------------------------------------------===//

RunningTasks &RunningTasks::get() {
  ForkShield shield;
  // A forked process does not wait for the threads of its parent.
  static PerProcess<RunningTasks> *tasks = [] {
    std::atexit([] { get().waitAtExit(); });
    return new PerProcess<RunningTasks>;
  }();
  return tasks->get();
}

bool RunningTasks::enter() {
  std::lock_guard<std::mutex> lock(mutex);
  if (exiting)
    return false;
  ++number;
  return true;
}

void RunningTasks::leave() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    --number;
  }
  changed.notify_all();
}

void RunningTasks::waitAtExit() {
  std::unique_lock<std::mutex> lock(mutex);
  exiting = true;
  // Work that calls back into a language that has shut down never ends; it is
  // given up.
  changed.wait_for(lock, std::chrono::seconds(5), [&] { return number == 0; });
}

//===----------------------------------------------------------------------===//
// Queues
//===----------------------------------------------------------------------===//

Status Queue::add(Task task) {
  if (isForeign())
    return makeForeign();
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!hasThread) {
      // Before the first task, so that it is there when the process ends.
      RunningTasks::get();
      auto *self = new std::shared_ptr<Queue>(shared_from_this());
      // No std::thread: where none can be started it throws.
      if (int code = pthread_create(&thread, nullptr, runThread, self)) {
        delete self;
        return Error(ErrorCode::OutOfMemory,
                     std::string("cannot start the thread of a stream: ") +
                         std::strerror(code));
      }
      pthread_detach(thread);
      hasThread = true;
    }
    tasks.push_back(std::move(task));
    ++numAdded;
  }
  changed.notify_all();
  return {};
}

void Queue::close() {
  if (isForeign())
    return;
  {
    std::lock_guard<std::mutex> lock(mutex);
    isClosed = true;
  }
  changed.notify_all();
}

bool Queue::isOnThread() const {
  std::lock_guard<std::mutex> lock(mutex);
  return hasThread && pthread_equal(pthread_self(), thread);
}

Status Queue::synchronize() {
  if (isForeign())
    return makeForeign();
  if (isOnThread())
    return Error(ErrorCode::InvalidArgument,
                 "a stream's own work cannot wait for the stream");
  std::unique_lock<std::mutex> lock(mutex);
  const uint64_t number = numAdded;
  changed.wait(lock, [&] { return numDone >= number; });
  if (error)
    return *error;
  return {};
}

void *Queue::runThread(void *queue) {
  auto *self = static_cast<std::shared_ptr<Queue> *>(queue);
  (*self)->run();
  delete self;
  return nullptr;
}

void Queue::run() {
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return !tasks.empty() || isClosed; });
    if (tasks.empty())
      return;
    Task task = std::move(tasks.front());
    tasks.pop_front();
    std::optional<Error> failure = error;
    lock.unlock();

    if (!failure && task.work) {
      RunningTasks &running = RunningTasks::get();
      if (running.enter()) {
        Status done = task.work();
        if (!done)
          failure = std::move(done).error();
        // Here, since it may hold the last use of a kernel.
        task.work = nullptr;
        running.leave();
      } else {
        failure = Error(ErrorCode::Cancelled, "the process ends");
      }
    }
    // What the work holds is freed before anybody hears that it is done.
    task.work = nullptr;
    task.event->complete(failure);
    task.event.reset();

    lock.lock();
    error = std::move(failure);
    ++numDone;
    changed.notify_all();
  }
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

Expected<std::shared_ptr<EventImpl>>
HostStream::add(std::function<Status()> work) {
  auto event = std::make_shared<HostEvent>(device);
  if (Status added = queue->add({std::move(work), event}); !added)
    return std::move(added).error();
  return std::shared_ptr<EventImpl>(std::move(event));
}

Status HostStream::wait(std::shared_ptr<EventImpl> event) {
  Expected<std::shared_ptr<EventImpl>> added =
      add([event = std::move(event)] { return event->synchronize(); });
  if (!added)
    return std::move(added).error();
  return {};
}

Expected<std::shared_ptr<EventImpl>> HostStream::launch(LaunchRequest request) {
  if (!request.options.cancel)
    request.options.cancel = RunningTasks::get().getExitFlag();
  return add([device = device, request = std::move(request)] {
    return device->launch(request);
  });
}

Status HostStream::copyToDevice(void *destination, const void *source,
                                size_t bytes, std::shared_ptr<void> memory) {
  Expected<std::shared_ptr<EventImpl>> added =
      add([=, memory = std::move(memory)] {
        return device->copyToDevice(destination, source, bytes);
      });
  if (!added)
    return std::move(added).error();
  return {};
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

std::string HostDevice::getName() const {
  if (kind == Device::Kind::Reference)
    return "reference";
  return target.empty() ? "emulator" : "emulator (" + target + ")";
}

Status HostDevice::synchronize() {
  std::vector<std::shared_ptr<Queue>> present;
  {
    std::lock_guard lock(mutex);
    for (const std::weak_ptr<Queue> &queue : queues)
      if (std::shared_ptr<Queue> alive = queue.lock();
          alive && !alive->isForeign())
        present.push_back(std::move(alive));
  }
  Status first;
  for (const std::shared_ptr<Queue> &queue : present) {
    Status done = queue->synchronize();
    if (!done && first)
      first = std::move(done);
  }
  return first;
}

Expected<std::shared_ptr<void>> HostDevice::allocate(size_t bytes) {
  void *memory = nullptr;
  if (int code = posix_memalign(&memory, 256, std::max<size_t>(bytes, 1)))
    return Error(ErrorCode::OutOfMemory,
                 "cannot allocate " + std::to_string(bytes) +
                     " bytes of host memory: " + std::strerror(code));
  return std::shared_ptr<void>(memory, std::free);
}

Status HostDevice::copyToDevice(void *destination, const void *source,
                                size_t bytes) {
  // An array may be copied onto itself.
  std::memmove(destination, source, bytes);
  return {};
}

Status HostDevice::copyToHost(void *destination, const void *source,
                              size_t bytes) {
  return copyToDevice(destination, source, bytes);
}

Status HostDevice::fill(void *destination, uint8_t byte, size_t bytes) {
  std::memset(destination, byte, bytes);
  return {};
}

Expected<std::shared_ptr<StreamImpl>> HostDevice::createStream() {
  auto queue = std::make_shared<Queue>();
  {
    std::lock_guard lock(mutex);
    // Streams come and go; what is gone is forgotten here.
    size_t kept = 0;
    for (std::weak_ptr<Queue> &old : queues)
      if (!old.expired())
        queues[kept++].swap(old);
    queues.resize(kept);
    queues.push_back(queue);
  }
  return std::shared_ptr<StreamImpl>(
      std::make_shared<HostStream>(shared_from_this(), std::move(queue)));
}

Expected<std::shared_ptr<StreamImpl>> HostDevice::borrowStream(void *) {
  return Error(ErrorCode::InvalidArgument,
               "expects a GPU to borrow a stream of, but got " + getName());
}

std::shared_ptr<DeviceImpl> tile::runtime::getReferenceDevice() {
  ForkShield shield;
  // Never destroyed: streams may be in use while the process ends.
  static auto *device = new std::shared_ptr<DeviceImpl>(
      std::make_shared<HostDevice>(Device::Kind::Reference, ""));
  return *device;
}

std::shared_ptr<DeviceImpl>
tile::runtime::getEmulatorDevice(const std::string &target) {
  ForkShield shield;
  static auto *mutex = new std::mutex;
  static auto *devices = new std::map<std::string, std::shared_ptr<DeviceImpl>>;
  std::lock_guard<std::mutex> lock(*mutex);
  std::shared_ptr<DeviceImpl> &device = (*devices)[target];
  if (!device)
    device = std::make_shared<HostDevice>(Device::Kind::Emulator, target);
  return device;
}
