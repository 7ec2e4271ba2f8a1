//===- RuntimeBenchmark.cpp - What a call of the runtime costs ------------===//
//
//   ninja -C build tile-runtime-benchmark
//   build/bin/tile-runtime-benchmark
//
// A lookup of a kernel that is in memory, or on disk; the checks of a launch;
// and whole launches of one tile of 16 by 32, which take next to no time
// themselves, so that what is left is the runtime and the device's start.
//
//===----------------------------------------------------------------------===//

#include "benchmark/benchmark.h"
#include "tile/Runtime/Runtime.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <unistd.h>

using namespace tile::runtime;

template <typename T>
static T unwrap(Expected<T> value) {
  if (!value) {
    std::cerr << value.error().str() << '\n';
    std::exit(1);
  }
  return std::move(*value);
}

static void unwrap(const Status &status) {
  if (!status) {
    std::cerr << status.error().str() << '\n';
    std::exit(1);
  }
}

static std::string readKernel(const std::string &name) {
  std::ifstream file(std::string(TILE_KERNELS "/") + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

namespace {
/// A cache of the benchmark's own, and the kernel that it looks up.
struct Lookup {
  Lookup() : text(readKernel("nvfp4_linear_aligned.mlir")) {
    cache.directory = std::filesystem::temp_directory_path() /
                      ("tile-runtime-benchmark-" + std::to_string(::getpid()));
    options.target = "sm_120a";
    options.constants = {
        {"KA", "256"}, {"BM", "128"}, {"BN", "128"}, {"BK", "128"}};
  }
  ~Lookup() { std::filesystem::remove_all(cache.directory); }

  CacheOptions cache;
  CompileOptions options;
  std::string text;
};

/// z = x + x, on one tile, and its arrays.
struct Launch {
  Launch() {
    CacheOptions cache;
    cache.useDisk = false;
    CompileOptions options;
    options.target = "sm_120a";
    kernel.emplace(unwrap(Compiler(cache).compile(
        "!array = memref<?x?xf32, strided<[?, 1]>>\n"
        "func.func @twice(%z: !array, %x: !array) attributes {tile.kernel} {\n"
        "  %i = tile.program_id 0\n"
        "  %j = tile.program_id 1\n"
        "  %t = tile.load %x[%i, %j] : !array -> tensor<16x32xf32>\n"
        "  %r = arith.addf %t, %t : tensor<16x32xf32>\n"
        "  tile.store %r, %z[%i, %j] : tensor<16x32xf32>, !array\n"
        "  return\n"
        "}\n",
        options)));
    alignas(16) static float memory[2][16 * 32];
    arguments = {TensorRef(memory[0], ElementType::F32, {16, 32}),
                 TensorRef(memory[1], ElementType::F32, {16, 32})};
    launchOptions.hostThreads = 1;
  }

  std::optional<Kernel> kernel;
  std::vector<Argument> arguments;
  LaunchOptions launchOptions;
};
} // namespace

static void lookUpInMemory(benchmark::State &state) {
  Lookup lookup;
  Compiler compiler(lookup.cache);
  unwrap(compiler.compile(lookup.text, lookup.options));
  for (auto _ : state)
    benchmark::DoNotOptimize(compiler.compile(lookup.text, lookup.options));
}
BENCHMARK(lookUpInMemory)->Unit(benchmark::kMicrosecond);

static void lookUpOnDisk(benchmark::State &state) {
  Lookup lookup;
  Compiler compiler(lookup.cache);
  unwrap(compiler.compile(lookup.text, lookup.options));
  for (auto _ : state) {
    compiler.clearMemory();
    benchmark::DoNotOptimize(compiler.compile(lookup.text, lookup.options));
  }
}
BENCHMARK(lookUpOnDisk)->Unit(benchmark::kMicrosecond);

static void compileAnew(benchmark::State &state) {
  Lookup lookup;
  lookup.cache.useDisk = false;
  Compiler compiler(lookup.cache);
  for (auto _ : state) {
    compiler.clearMemory();
    benchmark::DoNotOptimize(compiler.compile(lookup.text, lookup.options));
  }
}
BENCHMARK(compileAnew)->Unit(benchmark::kMillisecond);

/// All of a launch but the launch: checks, and the choice of the variant.
static void checkLaunch(benchmark::State &state) {
  Launch launch;
  for (auto _ : state)
    benchmark::DoNotOptimize(launch.kernel->getPtxFor(launch.arguments));
}
BENCHMARK(checkLaunch)->Unit(benchmark::kMicrosecond);

static void launchOn(benchmark::State &state, const Device &device) {
  Launch launch;
  for (auto _ : state)
    unwrap(launch.kernel->launchList(device, 1, launch.arguments,
                                     launch.launchOptions));
}
static void launchOnReference(benchmark::State &state) {
  launchOn(state, Device::reference());
}
static void launchOnEmulator(benchmark::State &state) {
  launchOn(state, unwrap(Device::emulator()));
}
BENCHMARK(launchOnReference)->Unit(benchmark::kMicrosecond);
BENCHMARK(launchOnEmulator)->Unit(benchmark::kMicrosecond);

static void launchInStream(benchmark::State &state) {
  Launch launch;
  Stream stream = unwrap(Stream::create(Device::reference()));
  for (auto _ : state) {
    Event event = unwrap(launch.kernel->launchAsyncList(
        stream, 1, launch.arguments, launch.launchOptions));
    unwrap(event.synchronize());
  }
}
BENCHMARK(launchInStream)->Unit(benchmark::kMicrosecond)->UseRealTime();

BENCHMARK_MAIN();
