//===- FakeCudaState.h - What the CUDA driver of the tests has --*- C++ -*-===//

#ifndef TILE_UNITTESTS_RUNTIME_FAKECUDASTATE_H
#define TILE_UNITTESTS_RUNTIME_FAKECUDASTATE_H

#include "tile/Emulator/Emulator.h"
#include "tile/Emulator/Memory.h"

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace fakecuda {

enum Code {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidContext = 201,
  InvalidPtx = 218,
  InvalidHandle = 400,
  NotFound = 500,
  NotReady = 600,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  CaptureUnsupported = 900,
};

struct Context {
  int ordinal = -1; ///< -1: the foreign one.
  int retained = 0;
  int fault = 0; ///< What every call returns.
  /// The same, once somebody has waited for the work that did it.
  int laterFault = 0;
};

struct Device {
  int major = 0, minor = 0;
};

struct Block {
  std::unique_ptr<uint8_t[]> bytes;
  size_t size = 0;
  int ordinal = 0;
};

struct ModuleObject {
  Context *context = nullptr;
  std::string image;
  std::unique_ptr<tile::emulator::Module> ptx; ///< Null for a cubin.
};

struct FunctionObject {
  ModuleObject *module = nullptr;
  std::string entry;
  unsigned maxDynamicShared = 48 * 1024;
};

struct StreamObject {
  Context *context = nullptr;
  bool isCapturing = false;
};

struct EventObject {
  Context *context = nullptr;
  StreamObject *stream = nullptr;
  bool isRecorded = false, isComplete = false;
  std::chrono::steady_clock::time_point time;
};

/// What a launch uses.
struct Launch {
  ModuleObject *module = nullptr;
  std::set<uint64_t> blocks;
};

struct Failure {
  int code = 0, countdown = 0;
};

struct State {
  std::mutex mutex;
  bool isInitialized = false;
  std::vector<Device> devices;
  std::map<int, std::unique_ptr<Context>> contexts;
  Context foreign;
  tile::emulator::Memory memory;
  std::map<uint64_t, Block> blocks;
  std::map<ModuleObject *, std::unique_ptr<ModuleObject>> modules;
  std::map<FunctionObject *, std::unique_ptr<FunctionObject>> functions;
  std::map<StreamObject *, std::unique_ptr<StreamObject>> streams;
  std::map<EventObject *, std::unique_ptr<EventObject>> events;
  std::map<const void *, int> hostMemory;
  std::map<std::string, Failure> failures;
  std::string log;
  bool hasFailed = false, isHeld = false;
  /// Launches that are not complete, by their stream.
  std::multimap<StreamObject *, Launch> running;
  int64_t launches = 0, violations = 0;
};

/// The driver's state. Never destroyed: programs free objects as they end.
State &getState();
/// Of the calling thread; the last one is current.
extern thread_local std::vector<Context *> currentContexts;

void setDevices(State &state, llvm::StringRef capabilities);

/// One call of the driver: holds the lock, writes the log and knows whether the
/// call is to fail.
class Call {
public:
  explicit Call(const char *symbol, const std::string &details = "");

  /// The same for a call that needs a current context.
  Call &needContext() {
    if (code)
      return *this;
    if (currentContexts.empty())
      code = InvalidContext;
    else
      code = currentContexts.back()->fault;
    return *this;
  }
  Context *context() const {
    return currentContexts.empty() ? nullptr : currentContexts.back();
  }

  State &state;
  int code = Success;

private:
  std::lock_guard<std::mutex> lock;
};

inline std::string print(uint64_t number) { return std::to_string(number); }

/// The host's bytes behind a range of device memory, or null.
uint8_t *resolve(State &state, uint64_t address, size_t size);
/// The block that an address lies in, or the end.
std::map<uint64_t, Block>::iterator findBlock(State &state, uint64_t address);
/// Whether a stream may be used in the current context. The default one always.
bool isStream(State &state, StreamObject *stream);
/// Marks everything of a stream as complete.
void complete(State &state, StreamObject *stream);
/// The same for every stream.
void completeAll(State &state);

} // namespace fakecuda

#endif // TILE_UNITTESTS_RUNTIME_FAKECUDASTATE_H
