//===- FakeCuda.h - Control of the CUDA driver of the tests -----*- C++ -*-===//
//
// FakeCuda.cpp is a library with the driver's functions. `TILE_CUDA_LIBRARY`
// names it to the runtime; a test also opens it itself, for the functions here,
// which say what the next calls do and tell what the last ones were.
//
// Two variables of the environment are for tests that run a program:
//
//     FAKE_CUDA_DEVICES=9.0,12.0     the compute capabilities of the GPUs;
//                                    empty: there is none. Default: 9.0
//     FAKE_CUDA_FAIL=cuLaunchKernel:1    that call fails with that code
//
//===----------------------------------------------------------------------===//

#ifndef TILE_UNITTESTS_RUNTIME_FAKECUDA_H
#define TILE_UNITTESTS_RUNTIME_FAKECUDA_H

#include <cstdint>

extern "C" {

/// Forgets the log, the failures, faults and what is held. Objects stay, as do
/// devices; the calling thread has no current context.
void fakeCudaReset();
/// Replaces the devices: compute capabilities such as "8.0,12.0". Objects of
/// the devices stay.
void fakeCudaSetDevices(const char *capabilities);
/// Lets the `nth` call of a function from now on, counted from 1, return a
/// code. A function that frees or waits does so all the same.
void fakeCudaFail(const char *symbol, int code, int nth);
/// Whether the failure that was asked for has happened.
int fakeCudaHasFailed();
/// 1: work takes for ever, until somebody waits for it; 0: what was given is
/// complete.
void fakeCudaHold(int hold);
/// Every call since the reset, one per line: "cuMemAlloc_v2 64". Valid until
/// the next call on this thread.
const char *fakeCudaLog();
/// How many there are: "memory", "modules", "streams", "events", "contexts"
/// (retained), "launches" (since the reset), "violations": what a driver could
/// not see, such as memory freed while work that may use it is not complete.
int64_t fakeCudaCount(const char *what);
/// Makes host memory known to the driver: 1: managed, 0: page-locked, -1: no
/// longer known.
void fakeCudaRegisterHost(void *pointer, int kind);
/// A context that is nobody's primary one, made current or removed; null where
/// the current one is something else.
void *fakeCudaPushForeign();
void *fakeCudaGetCurrent();
/// Whether a stream is being captured; a driver counts it as a violation to ask
/// for what has become of its work then.
void fakeCudaCapture(void *stream, int capture);
/// A stream of that context.
void *fakeCudaMakeForeignStream();
}

#endif // TILE_UNITTESTS_RUNTIME_FAKECUDA_H
