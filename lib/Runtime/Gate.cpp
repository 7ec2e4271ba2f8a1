//===- Gate.cpp - Locks for what takes long -------------------------------===//

#include "Gate.h"

#include <pthread.h>
#include <thread>

using namespace tile::runtime;

using Clock = std::chrono::steady_clock;

/// How long a fork waits for shields. A child that waits for ever is worse than
/// a parent that does for this long; but a thread may be stopped in a debugger.
static constexpr std::chrono::seconds kLongestWait(5);
/// How long it lets those go first who have waited for an earlier fork.
static constexpr std::chrono::milliseconds kCourtesy(20);

// Nothing here is a lock: a child would need one that no other thread holds.
// Forks are rare and take longer than the naps of those who wait.
static std::atomic<unsigned> forkGeneration{0};
static std::atomic<unsigned> numShields{0}; ///< Threads that have one.
static std::atomic<unsigned> numForks{0};   ///< That wait or go on.
static std::atomic<unsigned> numWaiting{0}; ///< Threads that want a shield.
/// The shields of this thread.
static thread_local unsigned depth = 0;

/// Waits until `number` is zero, or the time is over.
static void waitForNone(const std::atomic<unsigned> &number,
                        Clock::duration longest) {
  for (auto end = Clock::now() + longest; number && Clock::now() < end;)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
}

static void takeShield() {
  while (true) {
    // A fork counts itself first and looks for shields then, so that one of the
    // two sees the other.
    ++numShields;
    if (!numForks)
      return;
    --numShields;
    ++numWaiting;
    while (numForks)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    --numWaiting;
  }
}

//===----------------------------------------------------------------------===//
// What runs around a fork
//===----------------------------------------------------------------------===//

static void beforeFork() {
  // Else a thread that forks all the time would stop all others.
  waitForNone(numWaiting, kCourtesy);
  ++numForks;
  // Two threads that fork with a shield would wait for each other.
  if (depth)
    --numShields;
  waitForNone(numShields, kLongestWait);
}

static void afterForkInParent() {
  --numForks;
  if (depth)
    takeShield();
}

static void afterForkInChild() {
  ++forkGeneration;
  numForks = numWaiting = 0;
  numShields = depth ? 1 : 0;
}

/// Before there are threads: a static of a function would itself have to be
/// shielded.
[[maybe_unused]] static const int registered =
    pthread_atfork(beforeFork, afterForkInParent, afterForkInChild);

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

unsigned tile::runtime::getForkGeneration() {
  return forkGeneration.load(std::memory_order_relaxed);
}

void tile::runtime::enterForkShield() {
  if (depth++ == 0)
    takeShield();
}

void tile::runtime::leaveForkShield() {
  if (--depth == 0)
    --numShields;
}

ForkShieldPause::ForkShieldPause() : depth(std::exchange(::depth, 0)) {
  if (depth)
    --numShields;
}

ForkShieldPause::~ForkShieldPause() {
  if (depth)
    takeShield();
  ::depth = depth;
}
