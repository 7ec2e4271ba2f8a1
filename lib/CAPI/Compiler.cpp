//===- Compiler.cpp - C API: options and compilers ------------------------===//

#include "Gate.h"
#include "Handles.h"

using namespace tile;
using namespace tile::capi;

//===----------------------------------------------------------------------===//
// Cancel flags
//===----------------------------------------------------------------------===//

static_assert(std::atomic<bool>::is_always_lock_free,
              "tileCancelFlagSet is promised to be safe in signal handlers");

TileCancelFlag *tileCancelFlagCreate(void) { return new TileCancelFlag; }

void tileCancelFlagSet(TileCancelFlag *flag, bool value) {
  if (flag)
    flag->value = value;
}

bool tileCancelFlagGet(const TileCancelFlag *flag) {
  return flag && flag->value;
}

void tileCancelFlagDestroy(TileCancelFlag *flag) { delete flag; }

//===----------------------------------------------------------------------===//
// Options of a compilation
//===----------------------------------------------------------------------===//

TileCompileOptions *tileCompileOptionsCreate(void) {
  return new TileCompileOptions;
}

TileCompileOptions *tileCompileOptionsClone(const TileCompileOptions *options) {
  return options ? new TileCompileOptions(*options) : nullptr;
}

void tileCompileOptionsDestroy(TileCompileOptions *options) { delete options; }

/// Sets a field. What values mean is checked where all of them are known: by
/// the compilation.
template <typename Field, typename Value>
static TileError *set(TileCompileOptions *options,
                      Field runtime::CompileOptions::*field, Value value) {
  if (!options)
    return makeNullError("options");
  options->options.*field = value;
  return nullptr;
}

static TileError *set(TileCompileOptions *options,
                      std::string runtime::CompileOptions::*field,
                      const char *value) {
  if (!options)
    return makeNullError("options");
  if (!value)
    return makeNullError("a value of an option");
  options->options.*field = value;
  return nullptr;
}

/// The options of a call: none are the defaults.
static const runtime::CompileOptions &read(const TileCompileOptions *options) {
  runtime::ForkShield shield;
  static const auto *defaults = new runtime::CompileOptions;
  return options ? options->options : *defaults;
}

static const char *get(const TileCompileOptions *options,
                       std::string runtime::CompileOptions::*field) {
  return (read(options).*field).c_str();
}

#define TILE_STRING_OPTION(NAME, FIELD)                                        \
  TileError *tileCompileOptionsSet##NAME(TileCompileOptions *options,          \
                                         const char *value) {                  \
    return set(options, &runtime::CompileOptions::FIELD, value);               \
  }                                                                            \
  const char *tileCompileOptionsGet##NAME(const TileCompileOptions *options) { \
    return get(options, &runtime::CompileOptions::FIELD);                      \
  }

#define TILE_OPTION(NAME, FIELD, TYPE)                                         \
  TileError *tileCompileOptionsSet##NAME(TileCompileOptions *options,          \
                                         TYPE value) {                         \
    return set(options, &runtime::CompileOptions::FIELD, value);               \
  }                                                                            \
  TYPE tileCompileOptionsGet##NAME(const TileCompileOptions *options) {        \
    return read(options).FIELD;                                                \
  }

TILE_STRING_OPTION(Target, target)
TILE_STRING_OPTION(Entry, entry)
TILE_STRING_OPTION(MmaPath, mmaPath)
TILE_STRING_OPTION(Fp4Cvt, fp4Cvt)
TILE_STRING_OPTION(UnpackAhead, unpackAhead)
TILE_STRING_OPTION(Ptxas, ptxas)
TILE_OPTION(Specialize, specialize, bool)
TILE_OPTION(NumWarps, numWarps, uint32_t)
TILE_OPTION(NumStages, numStages, uint32_t)
TILE_OPTION(GroupPrograms, groupPrograms, uint32_t)
TILE_OPTION(PtxVersion, ptxVersion, uint32_t)
TILE_OPTION(LineInfo, lineInfo, bool)
TILE_OPTION(Tma, tma, bool)

#undef TILE_STRING_OPTION
#undef TILE_OPTION

TileError *tileCompileOptionsSetDevice(TileCompileOptions *options,
                                       const TileDevice *device) {
  if (!options)
    return makeNullError("options");
  options->options.device.reset();
  if (device)
    options->options.device = device->device;
  return nullptr;
}

TileError *tileCompileOptionsSetConstant(TileCompileOptions *options,
                                         const char *name, const char *value) {
  if (!options)
    return makeNullError("options");
  if (!name)
    return makeNullError("a name of a constant");
  if (value)
    options->options.constants[name] = value;
  else
    options->options.constants.erase(name);
  return nullptr;
}

const char *tileCompileOptionsGetConstant(const TileCompileOptions *options,
                                          const char *name) {
  if (!options || !name)
    return nullptr;
  auto found = options->options.constants.find(name);
  return found == options->options.constants.end() ? nullptr
                                                   : found->second.c_str();
}

TileError *tileCompileOptionsSetBinding(TileCompileOptions *options,
                                        const char *name, int64_t value) {
  if (!options)
    return makeNullError("options");
  if (!name)
    return makeNullError("a name of an argument");
  options->options.bindings[name] = value;
  return nullptr;
}

TileError *tileCompileOptionsRemoveBinding(TileCompileOptions *options,
                                           const char *name) {
  if (!options)
    return makeNullError("options");
  if (!name)
    return makeNullError("a name of an argument");
  options->options.bindings.erase(name);
  return nullptr;
}

TileError *tileCompileOptionsSetShape(TileCompileOptions *options,
                                      const char *name, int32_t rank,
                                      const int64_t *shape) {
  if (!options)
    return makeNullError("options");
  if (!name)
    return makeNullError("a name of an argument");
  if (rank < 0)
    return makeError("expects a shape of rank 0 or more, but got " +
                     std::to_string(rank));
  if (shape)
    options->options.shapes[name].assign(shape, shape + rank);
  else
    options->options.shapes.erase(name);
  return nullptr;
}

TileError *tileCompileOptionsSetAssembler(TileCompileOptions *options,
                                          TileAssembler value) {
  const int number = getNumber(value);
  if (number < TILE_ASSEMBLER_AUTO || number > TILE_ASSEMBLER_DRIVER)
    return makeError("expects an assembler from 0 to 2, but got " +
                     std::to_string(number));
  return set(options, &runtime::CompileOptions::assembler,
             static_cast<runtime::Assembler>(number));
}

TileAssembler
tileCompileOptionsGetAssembler(const TileCompileOptions *options) {
  return static_cast<TileAssembler>(read(options).assembler);
}

TileError *tileCompileOptionsSetOnStage(TileCompileOptions *options,
                                        TileStageCallback callback,
                                        void *userData) {
  if (!options)
    return makeNullError("options");
  options->options.onStage = nullptr;
  if (callback)
    options->options.onStage = [=](const runtime::Stage &stage) {
      callback(getString(stage.name), getString(stage.text), userData);
    };
  return nullptr;
}

TileError *tileCompileOptionsSetCancel(TileCompileOptions *options,
                                       const TileCancelFlag *flag) {
  return set(options, &runtime::CompileOptions::cancel,
             flag ? &flag->value : nullptr);
}

//===----------------------------------------------------------------------===//
// Compilers
//===----------------------------------------------------------------------===//

void tileCacheOptionsInit(TileCacheOptions *options, size_t size) {
  runtime::CacheOptions source;
  TileCacheOptions defaults = {};
  defaults.maxDiskBytes = source.maxDiskBytes;
  defaults.maxKernels = source.maxKernels;
  defaults.useDisk = source.useDisk;
  initialize(options, defaults, size);
}

TileError *tileCompilerCreate(const TileCacheOptions *options,
                              TileCompiler **compiler) {
  if (!compiler)
    return makeNullError("a place for the compiler");
  runtime::CacheOptions cache;
  if (options) {
    if (TileError *error = checkSize(*options, "TileCacheOptions"))
      return error;
    if (options->directory)
      cache.directory = options->directory;
    cache.useDisk = options->useDisk;
    cache.maxDiskBytes = options->maxDiskBytes;
    cache.maxKernels = options->maxKernels;
  }
  *compiler = new TileCompiler(runtime::Compiler(cache));
  return nullptr;
}

TileCompiler *tileCompilerGetDefault(void) {
  return new TileCompiler(runtime::Compiler::getDefault());
}

void tileCompilerDestroy(TileCompiler *compiler) { delete compiler; }

static TileError *give(runtime::Expected<runtime::Kernel> kernel,
                       TileKernel **out) {
  if (!kernel)
    return makeError(std::move(kernel).error());
  *out = new TileKernel{std::move(*kernel)};
  return nullptr;
}

TileError *tileCompilerCompile(const TileCompiler *compiler, const char *text,
                               size_t length, const char *name,
                               const TileCompileOptions *options,
                               TileKernel **kernel) {
  if (!compiler)
    return makeNullError("a compiler");
  if (!text)
    return makeNullError("the text of a kernel");
  if (!kernel)
    return makeNullError("a place for the kernel");
  return give(compiler->compiler.compile({text, length}, read(options),
                                         name ? name : "<kernel>"),
              kernel);
}

TileError *tileCompilerCompileFile(const TileCompiler *compiler,
                                   const char *path,
                                   const TileCompileOptions *options,
                                   TileKernel **kernel) {
  if (!compiler)
    return makeNullError("a compiler");
  if (!path)
    return makeNullError("the path of a kernel");
  if (!kernel)
    return makeNullError("a place for the kernel");
  return give(compiler->compiler.compileFile(path, read(options)), kernel);
}

const char *tileCompilerGetCacheDirectory(const TileCompiler *compiler) {
  return compiler ? compiler->directory.c_str() : nullptr;
}

TileError *tileCompilerGetCacheStatistics(const TileCompiler *compiler,
                                          TileCacheStatistics *statistics) {
  if (!compiler)
    return makeNullError("a compiler");
  if (!statistics)
    return makeNullError("a place for the statistics");
  if (TileError *error = checkSize(*statistics, "TileCacheStatistics"))
    return error;
  runtime::CacheStatistics source = compiler->compiler.getCacheStatistics();
  TileCacheStatistics value = {};
  value.memoryHits = source.memoryHits;
  value.diskHits = source.diskHits;
  value.compilations = source.compilations;
  value.rejected = source.rejected;
  value.writeFailures = source.writeFailures;
  value.kernels = source.kernels;
  write(statistics, value);
  return nullptr;
}

void tileCompilerClearMemory(const TileCompiler *compiler) {
  if (compiler)
    compiler->compiler.clearMemory();
}

//===----------------------------------------------------------------------===//
// Kernels that come with the library
//===----------------------------------------------------------------------===//

void tileLinearProblemInit(TileLinearProblem *problem, size_t size) {
  runtime::LinearProblem source;
  TileLinearProblem defaults = {};
  defaults.output = static_cast<TileElementType>(source.output);
  defaults.x = static_cast<TileElementType>(source.x);
  defaults.y = static_cast<TileElementType>(source.y);
  initialize(problem, defaults, size);
}

void tileQuantizeProblemInit(TileQuantizeProblem *problem, size_t size) {
  runtime::QuantizeProblem source;
  TileQuantizeProblem defaults = {};
  defaults.values = static_cast<TileElementType>(source.values);
  defaults.codes = static_cast<TileElementType>(source.codes);
  initialize(problem, defaults, size);
}

/// The names; never destroyed, since callers hold them.
static const std::vector<std::string> &getNames() {
  runtime::ForkShield shield;
  static const auto *names =
      new std::vector<std::string>(runtime::KernelLibrary::getNames());
  return *names;
}

size_t tileLibraryGetNumKernels(void) { return getNames().size(); }

const char *tileLibraryGetKernelName(size_t index) {
  return index < getNames().size() ? getNames()[index].c_str() : nullptr;
}

TileError *tileLibraryGetText(const char *name, TileText **text) {
  if (!name)
    return makeNullError("a name of a kernel");
  if (!text)
    return makeNullError("a place for the text");
  runtime::Expected<std::string> found = runtime::KernelLibrary::getText(name);
  if (!found)
    return makeError(std::move(found).error());
  *text = new TileText{std::move(*found)};
  return nullptr;
}

static TileError *give(runtime::Expected<runtime::ReadyKernel> ready,
                       TileKernel **kernel, TileGrid *grid) {
  if (!ready)
    return makeError(std::move(ready).error());
  *kernel = new TileKernel{std::move(ready->kernel)};
  *grid = {ready->grid.x, ready->grid.y, ready->grid.z};
  return nullptr;
}

/// Checks what the calls of the library have in common. `structName` is that of
/// the problem.
template <typename Problem>
static TileError *checkCall(const TileCompiler *compiler, const char *name,
                            const Problem *problem, const char *structName,
                            TileKernel **kernel, TileGrid *grid) {
  if (!compiler)
    return makeNullError("a compiler");
  if (!name)
    return makeNullError("a name of a kernel");
  if (!problem)
    return makeNullError("a problem");
  if (!kernel || !grid)
    return makeNullError("places for the kernel and its grid");
  return checkSize(*problem, structName);
}

TileError *tileLibraryLinear(const TileCompiler *compiler, const char *name,
                             const TileLinearProblem *problem,
                             const TileCompileOptions *options,
                             TileKernel **kernel, TileGrid *grid) {
  if (TileError *error =
          checkCall(compiler, name, problem, "TileLinearProblem", kernel, grid))
    return error;
  if (TileError *error = checkElementType(problem->output, "output"))
    return error;
  if (TileError *error = checkElementType(problem->x, "x"))
    return error;
  if (TileError *error = checkElementType(problem->y, "y"))
    return error;

  runtime::LinearProblem value;
  value.m = problem->m;
  value.n = problem->n;
  value.k = problem->k;
  value.output = getElementType(problem->output);
  value.x = getElementType(problem->x);
  value.y = getElementType(problem->y);
  value.alphaPerColumn = problem->alphaPerColumn;
  value.mxScales = problem->mxScales;
  return give(runtime::KernelLibrary(compiler->compiler)
                  .linear(name, value, read(options)),
              kernel, grid);
}

TileError *tileLibraryQuantize(const TileCompiler *compiler, const char *name,
                               const TileQuantizeProblem *problem,
                               const TileCompileOptions *options,
                               TileKernel **kernel, TileGrid *grid) {
  if (TileError *error = checkCall(compiler, name, problem,
                                   "TileQuantizeProblem", kernel, grid))
    return error;
  if (TileError *error = checkElementType(problem->values, "values"))
    return error;
  if (TileError *error = checkElementType(problem->codes, "codes"))
    return error;

  runtime::QuantizeProblem value;
  value.m = problem->m;
  value.k = problem->k;
  value.values = getElementType(problem->values);
  value.codes = getElementType(problem->codes);
  if (problem->format)
    value.format = problem->format;
  return give(runtime::KernelLibrary(compiler->compiler)
                  .quantize(name, value, read(options)),
              kernel, grid);
}
