//===- ProcessState.h - What all launches of a process share ----*- C++ -*-===//
//
// A process may be forked while another thread launches, and the child may
// launch then. So whatever a launch does not own itself is made by the load of
// the first module, and no lock is waited for that a thread of another process
// holds.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_PROCESSSTATE_H
#define TILE_LIB_EMULATOR_PROCESSSTATE_H

#include <mutex>

namespace tile::emulator {

/// Makes every table that launches use. Nothing a launch calls may have a
/// static that is made at run time, unless it is made here.
void prepareProcess();

/// What launches do one after the other.
enum class ProcessLock {
  Atomics, ///< On elements that the host has no atomic instruction for.
  Output,  ///< What a kernel prints.
  Trace,
};

/// The lock of this process.
std::mutex &getProcessMutex(ProcessLock lock);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_PROCESSSTATE_H
