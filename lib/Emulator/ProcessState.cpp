//===- ProcessState.cpp - What all launches of a process share ------------===//

#include "ProcessState.h"

#include "Decoder.h"
#include "TensorCoreFormats.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <new>
#include <pthread.h>

using namespace tile::emulator;

static std::mutex mutexes[static_cast<unsigned>(ProcessLock::Trace) + 1];

std::mutex &tile::emulator::getProcessMutex(ProcessLock lock) {
  return mutexes[static_cast<unsigned>(lock)];
}

void tile::emulator::prepareProcess() {
  // Who holds a lock is not there in a forked process. What it did to an
  // element or a stream is a launch of the other process.
  [[maybe_unused]] static const int registered =
      pthread_atfork(nullptr, nullptr, [] {
        for (std::mutex &mutex : mutexes)
          new (&mutex) std::mutex;
      });
  (void)findType("");
  (void)InstructionTable::get();
  (void)getContainerTable(TensorFormat::E2M1);
  (void)getPairTable();
  (void)getScaleTable(/*isUE4M3=*/true);
  (void)getHalfTable(TensorFormat::E4M3);
  // Of LLVM: faults and prints.
  (void)llvm::inconvertibleErrorCode();
  (void)llvm::outs();
  (void)llvm::errs();
}
