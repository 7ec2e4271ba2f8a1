//===- Gate.h - Locks for what takes long -----------------------*- C++ -*-===//
//
// Compilations and the like take long: those who wait can be told to stop, and
// a process that is forked meanwhile, which has none of the threads, must not
// wait for a thread that it does not have. What is ours and takes long, a
// forked process has anew; what is short, or not ours, is not forked in the
// middle of.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_RUNTIME_GATE_H
#define TILE_LIB_RUNTIME_GATE_H

#include "tile/Runtime/Error.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace tile::runtime {

/// How many forks lie between this process and the one that loaded the library.
unsigned getForkGeneration();

/// What the constructor and the destructor of a `ForkShield` do.
void enterForkShield();
void leaveForkShield();

/// While a thread has one, no other thread forks the process: a lock that it
/// holds, or a static that it initializes, would stay so for ever in the child.
/// This goes for all that LLVM and MLIR do; they have many of both. A fork
/// waits a few seconds at most, and meanwhile nobody else begins; so nothing is
/// shielded that waits for other threads or runs for long, as launches do.
/// Shields may be nested. A thread that forks does not wait for its own.
class ForkShield {
public:
  ForkShield() { enterForkShield(); }
  ~ForkShield() { leaveForkShield(); }
  ForkShield(const ForkShield &) = delete;
  ForkShield &operator=(const ForkShield &) = delete;
};

/// While it lives, this thread is as one without a shield: it calls what may
/// wait for a thread that forks.
class ForkShieldPause {
public:
  ForkShieldPause();
  ~ForkShieldPause();
  ForkShieldPause(const ForkShieldPause &) = delete;
  ForkShieldPause &operator=(const ForkShieldPause &) = delete;

private:
  const unsigned depth;
};

/// A mutex that is free, and guards nothing half done, in a forked process. For
/// what is short.
template <typename Mutex = std::mutex>
class Shielded {
public:
  void lock() {
    enterForkShield();
    mutex.lock();
  }
  bool try_lock() {
    enterForkShield();
    if (mutex.try_lock())
      return true;
    leaveForkShield();
    return false;
  }
  void unlock() {
    mutex.unlock();
    leaveForkShield();
  }
  void lock_shared() {
    enterForkShield();
    mutex.lock_shared();
  }
  void unlock_shared() {
    mutex.unlock_shared();
    leaveForkShield();
  }

private:
  Mutex mutex;
};

/// An object that a forked process has anew: its locks may be held by threads
/// that are not there.
template <typename T>
class PerProcess {
public:
  PerProcess() : current(new Instance) {}
  ~PerProcess() {
    // Another process's is never destroyed: threads may wait for it.
    Instance *instance = current;
    if (instance->generation == getForkGeneration())
      delete instance;
  }
  PerProcess(const PerProcess &) = delete;
  PerProcess &operator=(const PerProcess &) = delete;

  T &get() {
    Instance *instance = current.load(std::memory_order_acquire);
    if (instance->generation == getForkGeneration())
      return instance->value;
    auto *fresh = new Instance;
    if (current.compare_exchange_strong(instance, fresh))
      return fresh->value;
    delete fresh; // Another thread was first.
    return instance->value;
  }

private:
  struct Instance {
    const unsigned generation = getForkGeneration();
    T value;
  };

  std::atomic<Instance *> current;
};

/// A lock whose holder may be at it for long.
class Gate {
public:
  /// Waits until nobody is inside, and enters; false where `cancel`, which may
  /// be null, was set first.
  bool enter(const std::atomic<bool> *cancel) {
    State &state = states.get();
    std::unique_lock<std::mutex> lock(state.mutex);
    while (state.isTaken) {
      if (cancel && *cancel)
        return false;
      state.left.wait_for(lock, std::chrono::milliseconds(20));
    }
    state.isTaken = true;
    return true;
  }

  void leave() {
    State &state = states.get();
    std::lock_guard<std::mutex> lock(state.mutex);
    state.isTaken = false;
    state.left.notify_one();
  }

private:
  struct State {
    std::mutex mutex;
    std::condition_variable left;
    bool isTaken = false;
  };

  PerProcess<State> states;
};

/// Enters a gate, and leaves it at the end of the scope.
class GateScope {
public:
  GateScope(Gate &gate, const std::atomic<bool> *cancel)
      : gate(gate), isInside(gate.enter(cancel)) {}
  ~GateScope() {
    if (isInside)
      gate.leave();
  }
  GateScope(const GateScope &) = delete;
  GateScope &operator=(const GateScope &) = delete;

  /// Whether it was entered, and not given up.
  explicit operator bool() const { return isInside; }

private:
  Gate &gate;
  const bool isInside;
};

/// A value that the first to ask for it makes; others wait.
template <typename T>
class MadeOnce {
public:
  /// Returns the value, which `make` makes at the first call that succeeds.
  template <typename Make>
  Expected<T> get(Make make) {
    if (isMade.load(std::memory_order_acquire))
      return value;
    GateScope scope(gate, /*cancel=*/nullptr);
    if (isMade.load(std::memory_order_relaxed))
      return value;
    Expected<T> made = make();
    if (!made)
      return made;
    ForkShield shield; // half a value would be of no use
    value = *made;
    isMade.store(true, std::memory_order_release);
    return made;
  }

private:
  Gate gate;
  std::atomic<bool> isMade{false};
  T value;
};

} // namespace tile::runtime

#endif // TILE_LIB_RUNTIME_GATE_H
