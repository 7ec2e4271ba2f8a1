//===- Fiber.h - One thread of a block as a coroutine -----------*- C++ -*-===//
//
// A fiber runs on a stack of its own and hands control back where it must wait.
// All fibers of a simulator run on the thread that launches.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TEST_LANESIMULATOR_FIBER_H
#define TILE_TEST_LANESIMULATOR_FIBER_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tile {
namespace lane {

/// Stacks of equal size, each with an inaccessible page below it.
class StackPool {
public:
  StackPool() = default;
  StackPool(const StackPool &) = delete;
  StackPool &operator=(const StackPool &) = delete;
  ~StackPool();

  /// Makes room for `count` stacks; those handed out before are lost.
  llvm::Error reserve(size_t count);
  /// The lowest usable byte of a stack.
  char *getStack(size_t index) const;
  static constexpr size_t stackBytes = 256 * 1024;

private:
  char *memory = nullptr;
  size_t bytes = 0;
  size_t count = 0;
};

/// One coroutine.
class Fiber {
public:
  Fiber();
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;
  ~Fiber();

  /// Makes the next `resume` call `entry(argument)` on a fresh stack. What ran
  /// there before is dropped without being unwound.
  void start(char *stack, void (*entry)(void *), void *argument);

  /// Runs until the fiber yields or its entry returns.
  void resume();
  /// Goes back to the caller of `resume`.
  /// Requires: called on this fiber.
  void yield();
  bool isDone() const { return done; }

  /// The state that depends on the host; only Fiber.cpp looks inside.
  struct Context;

private:
  static void run(Fiber *fiber);

  std::unique_ptr<Context> context;
  void (*entry)(void *) = nullptr;
  void *argument = nullptr;
  bool done = true;
};

} // namespace lane
} // namespace tile

#endif // TILE_TEST_LANESIMULATOR_FIBER_H
