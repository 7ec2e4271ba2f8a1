//===- Interrupt.cpp - Long calls that Ctrl-C ends ------------------------===//
//
// Python runs signal handlers on its main thread, between bytecodes. A call
// that stays in C++ therefore moves its work to another thread, and the main
// thread looks at the signals until that is done.
//
// The helper threads are kept: waking one takes microseconds, starting one
// tens of them.
//
//===----------------------------------------------------------------------===//

#include "Common.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <unistd.h>

using namespace tile;
using namespace tile::python;

/// How long the main thread sleeps between two looks.
static constexpr std::chrono::milliseconds kPollInterval(50);

namespace {
/// A thread that runs what it is given, one call at a time.
class Helper {
public:
  Helper() : process(getpid()) {
    std::thread([this] { run(); }).detach();
  }

  void start(std::function<void()> call) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      work = std::move(call);
    }
    wake.notify_one();
  }

  /// Waits for the end of the work; false where that took longer than `time`.
  bool waitFor(std::chrono::milliseconds time) {
    std::unique_lock<std::mutex> lock(mutex);
    return done.wait_for(lock, time, [this] { return !work; });
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex);
    done.wait(lock, [this] { return !work; });
  }

  /// A child made by fork has the object but not the thread.
  bool isOfThisProcess() const { return process == getpid(); }

private:
  void run() {
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) {
      wake.wait(lock, [this] { return static_cast<bool>(work); });
      lock.unlock();
      work();
      lock.lock();
      work = nullptr;
      done.notify_one();
    }
  }

  std::mutex mutex;
  std::condition_variable wake, done;
  std::function<void()> work; ///< Empty: idle.
  pid_t process;
};
} // namespace

/// The helpers that are idle. Guarded by the GIL; never destroyed, as the
/// threads are not.
static std::vector<Helper *> &getIdleHelpers() {
  static auto *helpers = new std::vector<Helper *>;
  return *helpers;
}

static Helper *takeHelper() {
  std::vector<Helper *> &idle = getIdleHelpers();
  while (!idle.empty()) {
    Helper *helper = idle.back();
    idle.pop_back();
    if (helper->isOfThisProcess())
      return helper;
  }
  return new Helper;
}

/// The thread that runs signal handlers. It keeps its number in a child, where
/// it is the one that called `fork`.
static unsigned long mainThread = 0;

void tile::python::initializeInterrupt() {
  mainThread = nb::cast<unsigned long>(
      nb::module_::import_("threading").attr("main_thread")().attr("ident"));
}

static bool isMainThread() { return PyThread_get_thread_ident() == mainThread; }

/// Looks at the signals and reports progress. False: an exception is set.
static bool look(Watch &watch) {
  if (PyErr_CheckSignals())
    return false;
  if (!watch.poll)
    return true;
  try {
    watch.poll();
  } catch (nb::python_error &error) {
    error.restore();
    return false;
  }
  return true;
}

void tile::python::runLong(const std::function<void()> &work, Watch &watch) {
  if (!watch.poll && !isMainThread()) {
    nb::gil_scoped_release release;
    work();
    return;
  }

  Helper *helper = takeHelper();
  bool isRaised = false;
  {
    bool isDone = false;
    {
      nb::gil_scoped_release release;
      helper->start([&work] { work(); });
      isDone = helper->waitFor(kPollInterval);
    }
    while (!isDone) {
      isRaised = !look(watch);
      if (isRaised)
        watch.cancel = true;
      // With an exception set nothing of Python may run.
      nb::gil_scoped_release release;
      if (isRaised) {
        helper->wait();
        break;
      }
      isDone = helper->waitFor(kPollInterval);
    }
  }
  getIdleHelpers().push_back(helper);
  if (isRaised || !look(watch))
    throw nb::python_error();
}

void tile::python::waitLong(std::function<void()> work) {
  if (!isMainThread()) {
    nb::gil_scoped_release release;
    work();
    return;
  }
  Helper *helper = takeHelper();
  for (bool isStarted = false;; isStarted = true) {
    {
      nb::gil_scoped_release release;
      if (!isStarted)
        helper->start(std::move(work));
      if (helper->waitFor(kPollInterval))
        break;
    }
    // The helper goes on, with what `work` owns, and is not used again.
    if (PyErr_CheckSignals())
      throw nb::python_error();
  }
  getIdleHelpers().push_back(helper);
  if (PyErr_CheckSignals())
    throw nb::python_error();
}

//===----------------------------------------------------------------------===//
// Progress
//===----------------------------------------------------------------------===//

Progress::Progress(nb::handle object, const char *unit) {
  if (object.is_none() || object.is(Py_False))
    return;
  isLine = object.is(Py_True);
  function = isLine ? getHelper("_progress", "Line")(unit) : nb::borrow(object);
}

Progress::~Progress() {
  if (!isLine)
    return;
  // An exception may be on its way.
  nb::error_scope scope;
  try {
    function.attr("close")();
  } catch (nb::python_error &error) {
    error.discard_as_unraisable("the progress of a call");
  }
}
