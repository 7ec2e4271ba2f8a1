//===- Gate.cpp - Locks for what takes long -------------------------------===//

#include "Gate.h"

#include <pthread.h>

static std::atomic<unsigned> forkGeneration{0};

unsigned tile::runtime::getForkGeneration() {
  [[maybe_unused]] static const int registered =
      pthread_atfork(nullptr, nullptr, [] {
        forkGeneration.fetch_add(1, std::memory_order_relaxed);
      });
  return forkGeneration.load(std::memory_order_relaxed);
}
