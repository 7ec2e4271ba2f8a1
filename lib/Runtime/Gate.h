//===- Gate.h - A lock that need not be waited for --------------*- C++ -*-===//

#ifndef TILE_LIB_RUNTIME_GATE_H
#define TILE_LIB_RUNTIME_GATE_H

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace tile::runtime {

/// A lock whose holder may be at it for long: those who wait can be told to
/// stop.
class Gate {
public:
  /// Waits until nobody is inside, and enters; false where `cancel`, which may
  /// be null, was set first.
  bool enter(const std::atomic<bool> *cancel) {
    std::unique_lock<std::mutex> lock(mutex);
    while (isTaken) {
      if (cancel && *cancel)
        return false;
      left.wait_for(lock, std::chrono::milliseconds(20));
    }
    isTaken = true;
    return true;
  }

  void leave() {
    std::lock_guard<std::mutex> lock(mutex);
    isTaken = false;
    left.notify_one();
  }

private:
  std::mutex mutex;
  std::condition_variable left;
  bool isTaken = false;
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

} // namespace tile::runtime

#endif // TILE_LIB_RUNTIME_GATE_H
