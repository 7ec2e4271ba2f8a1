//===- EmulatorBenchmark.cpp - How fast the emulator runs -----------------===//
//
//   ninja -C build tile-emulator-benchmark && build/bin/tile-emulator-benchmark
//
// `thread_instructions` counts one per lane and instruction, and is a rate per
// second of one host thread. The linear layers use every host thread.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "tile/Codegen/Compiler.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Emulator/Emulator.h"
#include "tile/Tools/Files.h"
#include "tile/Tools/Template.h"
#include "llvm/Support/SourceMgr.h"

#include <benchmark/benchmark.h>

using namespace tile;
using namespace tile::emulator;
using llvm::ArrayRef;
using llvm::Expected;
using llvm::StringRef;

/// A kernel of 256 threads that runs `body` 1000 times in a loop.
static std::string makeLoop(StringRef body) {
  return (".version 8.0\n.target sm_80\n.address_size 64\n"
          ".visible .entry k(.param .u64 out)\n.reqntid 256\n{\n"
          ".reg .pred %p;\n.reg .b32 %i, %r<9>;\n.reg .f32 %f<9>;\n"
          ".reg .b64 %a, %d;\n"
          "ld.param.u64 %a, [out];\nmov.u32 %r0, %tid.x;\n"
          "mul.wide.u32 %d, %r0, 4;\nadd.s64 %a, %a, %d;\n"
          "cvt.rn.f32.u32 %f0, %r0;\nmov.u32 %i, 0;\n"
          "mov.u32 %r1, %r0;\nmov.u32 %r2, %r0;\nmov.u32 %r3, %r0;\n"
          "mov.f32 %f1, %f0;\nmov.f32 %f2, %f0;\nmov.f32 %f3, %f0;\n"
          "LOOP:\n" +
          body +
          "add.s32 %i, %i, 1;\nsetp.lt.u32 %p, %i, 1000;\n@%p bra LOOP;\n"
          "cvt.rzi.u32.f32 %r4, %f1;\nadd.s32 %r1, %r1, %r4;\n"
          "add.s32 %r1, %r1, %r2;\nadd.s32 %r1, %r1, %r3;\n"
          "st.global.u32 [%a], %r1;\nret;\n}\n")
      .str();
}

static void runLoop(benchmark::State &state, StringRef body) {
  Expected<std::unique_ptr<Module>> module =
      Module::load(makeLoop(body), "loop.ptx");
  if (!module) {
    state.SkipWithError(llvm::toString(module.takeError()).c_str());
    return;
  }
  std::vector<uint8_t> out(1024);
  Memory memory;
  uint64_t address =
      llvm::cantFail(memory.map("out", out, Memory::Access::ReadWrite));
  ArrayRef<uint8_t> parameter(reinterpret_cast<uint8_t *>(&address), 8);
  LaunchOptions options;
  options.hostThreads = 1;
  options.collectStatistics = true;
  LaunchResult once =
      llvm::cantFail((*module)->launch("k", memory, {parameter}, options));
  uint64_t threads = 0;
  for (uint64_t count : once.statistics.total.threads)
    threads += count;
  options.collectStatistics = false;
  for (auto _ : state)
    llvm::cantFail((*module)->launch("k", memory, {parameter}, options));
  state.counters["thread_instructions"] =
      benchmark::Counter(static_cast<double>(threads * state.iterations()),
                         benchmark::Counter::kIsRate);
}

/// Integer arithmetic and logic, as address computations and decoding have it.
static void integers(benchmark::State &state) {
  runLoop(state, "mad.lo.s32 %r1, %r1, %r2, %r3;\n"
                 "xor.b32 %r2, %r2, %r1;\nshl.b32 %r4, %r1, 3;\n"
                 "add.s32 %r3, %r3, %r4;\nand.b32 %r5, %r3, 255;\n"
                 "lop3.b32 %r2, %r2, %r5, %r1, 0x96;\n"
                 "prmt.b32 %r6, %r1, %r2, 0x5140;\n"
                 "add.s32 %r3, %r3, %r6;\n");
}
BENCHMARK(integers)->Unit(benchmark::kMillisecond);

/// Single precision.
static void floats(benchmark::State &state) {
  runLoop(state, "fma.rn.f32 %f1, %f1, %f2, %f3;\n"
                 "mul.f32 %f2, %f2, 0f3F7FF000;\n"
                 "add.f32 %f3, %f3, %f1;\nmin.f32 %f1, %f1, 0f447A0000;\n"
                 "sub.f32 %f4, %f3, %f1;\nmax.f32 %f3, %f4, 0f00000000;\n");
}
BENCHMARK(floats)->Unit(benchmark::kMillisecond);

/// Compiles a kernel of examples/kernels to PTX.
static std::string compileKernel(StringRef name, StringRef target,
                                 const TemplateConstants &constants) {
  mlir::DialectRegistry registry;
  registerTileDialects(registry);
  registerCodegenDialects(registry);
  llvm::SourceMgr sources;
  llvm::cantFail(addKernelFile(
      sources, (TILE_KERNELS "/" + name + ".mlir").str(), constants, registry));
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  CompileOptions options;
  options.target = target.str();
  llvm::FailureOr<CompileResult> result =
      compile(*module, EmitKind::Ptx, options);
  return failed(result) ? std::string() : result->text;
}

/// One NVFP4 linear layer of state.range(0) cubed.
static void runLinear(benchmark::State &state, StringRef target) {
  const uint64_t size = static_cast<uint64_t>(state.range(0));
  TemplateConstants constants;
  for (StringRef definition : {"BM=64", "BN=64", "BK=128"})
    llvm::cantFail(constants.addDefinition(definition));
  std::string text = compileKernel("nvfp4_linear", target, constants);
  Expected<std::unique_ptr<Module>> module =
      Module::load(text, "nvfp4_linear.ptx");
  if (!module) {
    state.SkipWithError(llvm::toString(module.takeError()).c_str());
    return;
  }
  std::vector<uint8_t> z(size * size * 4), x(size * size / 2), y(x.size());
  std::vector<uint8_t> xs(size * size / 16), ys(xs.size());
  uint64_t hash = 1;
  for (std::vector<uint8_t> *codes : {&x, &y, &xs, &ys})
    for (uint8_t &code : *codes) {
      hash = hash * 6364136223846793005u + 1442695040888963407u;
      code = static_cast<uint8_t>(
          codes == &x || codes == &y ? hash >> 40 : 0x30 + (hash >> 60));
    }
  Memory memory;
  std::vector<std::vector<uint8_t>> parameters;
  auto add = [&](auto value) {
    parameters.emplace_back(sizeof(value));
    std::memcpy(parameters.back().data(), &value, sizeof(value));
  };
  // A strided matrix: its address, its extents, its row's stride.
  auto addMatrix = [&](StringRef name, std::vector<uint8_t> &bytes,
                       uint64_t columns) {
    add(llvm::cantFail(memory.map(name, bytes, Memory::Access::ReadWrite)));
    add(size);
    add(columns);
    add(columns);
  };
  addMatrix("z", z, size);
  addMatrix("x", x, size / 2);
  addMatrix("y", y, size / 2);
  addMatrix("xs", xs, size / 16);
  addMatrix("ys", ys, size / 16);
  add(1.0f);
  std::vector<ArrayRef<uint8_t>> views(parameters.begin(), parameters.end());
  LaunchOptions options;
  options.grid = {static_cast<unsigned>(size / 64),
                  static_cast<unsigned>(size / 64), 1};
  for (auto _ : state) {
    Expected<LaunchResult> result =
        (*module)->launch("", memory, views, options);
    if (!result) {
      state.SkipWithError(llvm::toString(result.takeError()).c_str());
      return;
    }
  }
}
static void nvfp4Native(benchmark::State &state) {
  runLinear(state, "sm_120a");
}
BENCHMARK(nvfp4Native)->Arg(1024)->Unit(benchmark::kSecond)->UseRealTime();
static void nvfp4Expanded(benchmark::State &state) {
  runLinear(state, "sm_80");
}
BENCHMARK(nvfp4Expanded)->Arg(1024)->Unit(benchmark::kSecond)->UseRealTime();

BENCHMARK_MAIN();
