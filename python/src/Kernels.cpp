//===- Kernels.cpp - Compiling and launching ------------------------------===//

#include "Common.h"

#include <chrono>
#include <mutex>

using namespace tile;
using namespace tile::python;
using runtime::CompileOptions;
using runtime::Device;
using runtime::ErrorCode;
using runtime::Kernel;
using runtime::MemoryPlace;

namespace {
/// A kernel, and the device that it runs on where a call names none.
struct PyKernel {
  Kernel kernel;
  std::optional<Device> device;
};

struct PyCompiler {
  runtime::Compiler compiler;
};

/// How far a launch has come; written by its threads.
struct Counter {
  std::mutex mutex;
  uint64_t done = 0, total = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

/// Runs a compilation, open to Ctrl-C. `progress` is told the seconds that have
/// passed.
template <typename Function>
static auto compileLong(CompileOptions &options, nb::handle progressObject,
                        Function function) {
  Progress progress(progressObject, "");
  std::optional<decltype(function())> result;
  Watch watch;
  options.cancel = &watch.cancel;
  if (progress) {
    watch.poll = [&, start = std::chrono::steady_clock::now()] {
      std::chrono::duration<double> seconds =
          std::chrono::steady_clock::now() - start;
      progress(seconds.count());
    };
  }
  runLong([&] { result.emplace(function()); }, watch);
  return take(std::move(*result));
}

static PyKernel compile(const PyCompiler &self, nb::bytes text,
                        const std::string &name, CompileOptions options,
                        nb::handle progress) {
  std::string_view view(static_cast<const char *>(text.data()), text.size());
  Kernel kernel = compileLong(options, progress, [&] {
    return self.compiler.compile(view, options, name);
  });
  return {std::move(kernel), options.device};
}

static PyKernel compileFile(const PyCompiler &self, const std::string &path,
                            CompileOptions options, nb::handle progress) {
  Kernel kernel = compileLong(options, progress, [&] {
    return self.compiler.compileFile(path, options);
  });
  return {std::move(kernel), options.device};
}

static nb::tuple makeReady(runtime::ReadyKernel ready,
                           const CompileOptions &options) {
  return nb::make_tuple(
      PyKernel{std::move(ready.kernel), options.device},
      nb::make_tuple(ready.grid.x, ready.grid.y, ready.grid.z));
}

static nb::tuple linear(const PyCompiler &self, const std::string &name,
                        const runtime::LinearProblem &problem,
                        CompileOptions options, nb::handle progress) {
  return makeReady(compileLong(options, progress,
                               [&] {
                                 return runtime::KernelLibrary(self.compiler)
                                     .linear(name, problem, options);
                               }),
                   options);
}

static nb::tuple quantize(const PyCompiler &self, const std::string &name,
                          const runtime::QuantizeProblem &problem,
                          CompileOptions options, nb::handle progress) {
  return makeReady(compileLong(options, progress,
                               [&] {
                                 return runtime::KernelLibrary(self.compiler)
                                     .quantize(name, problem, options);
                               }),
                   options);
}

static void setShape(CompileOptions &self, const std::string &name,
                     const std::vector<std::optional<int64_t>> &shape) {
  std::vector<int64_t> &extents = self.shapes[name];
  extents.clear();
  for (std::optional<int64_t> extent : shape)
    extents.push_back(extent.value_or(runtime::kDynamic));
}

static void setAssembler(CompileOptions &self, const std::string &name) {
  if (name == "auto")
    self.assembler = runtime::Assembler::Auto;
  else if (name == "ptxas")
    self.assembler = runtime::Assembler::Ptxas;
  else if (name == "driver")
    self.assembler = runtime::Assembler::Driver;
  else
    raise(ErrorCode::InvalidArgument,
          "assembler expects auto, ptxas or driver, but got '" + name + "'");
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

/// Raises the error for what is no grid. Of an array, which is what stands
/// there when the grid was forgotten, it gives the type alone.
[[noreturn]] static void raiseInvalidGrid(nb::handle object) {
  const bool isShort = nb::isinstance<nb::tuple>(object) ||
                       nb::isinstance<nb::list>(object) ||
                       PyNumber_Check(object.ptr());
  const bool isArray = nb::hasattr(object, "__dlpack__");
  raise(ErrorCode::InvalidArgument,
        "grid expects an integer or one to three of them, but got " +
            nb::cast<std::string>(isShort && !isArray
                                      ? nb::repr(object)
                                      : nb::type_name(object.type())));
}

static runtime::Grid getGrid(nb::handle object) {
  // NumPy's arrays claim to be integers, whatever their shape.
  if (PyIndex_Check(object.ptr())) {
    nb::object index = nb::steal(PyNumber_Index(object.ptr()));
    if (!index.is_valid()) {
      PyErr_Clear();
      raiseInvalidGrid(object);
    }
    int64_t extent = 0;
    if (!nb::try_cast(index, extent))
      raiseInvalidGrid(object);
    return runtime::Grid(extent);
  }
  std::vector<int64_t> extents;
  if (!nb::try_cast(object, extents) || extents.empty() || extents.size() > 3)
    raiseInvalidGrid(object);
  extents.resize(3, 1);
  return runtime::Grid(extents[0], extents[1], extents[2]);
}

static std::vector<runtime::Argument> getArguments(const Kernel &kernel,
                                                   const nb::args &objects) {
  const std::vector<runtime::Parameter> &parameters = kernel.getParameters();
  std::vector<runtime::Argument> arguments;
  arguments.reserve(objects.size());
  for (nb::handle object : objects) {
    size_t index = arguments.size();
    std::string what = "argument " + std::to_string(index);
    bool isArray = false;
    if (index < parameters.size()) {
      what += " (" + parameters[index].name + "):";
      isArray = parameters[index].isArray;
    } else {
      what += ':';
    }
    arguments.push_back(getArgument(object, what, isArray));
  }
  return arguments;
}

/// The GPU whose memory an array is in, if one is.
static std::optional<Device>
findCudaDevice(const std::vector<runtime::Argument> &arguments) {
  for (const runtime::Argument &argument : arguments)
    if (const runtime::TensorRef *array = argument.getArray())
      if (array->place.kind == MemoryPlace::Kind::Cuda)
        return take(Device::cuda(array->place.ordinal));
  return std::nullopt;
}

/// Checks that a stream is of the device that a call names beside it.
static void checkStream(nb::handle object, const Device &device) {
  if (!nb::isinstance<runtime::Stream>(object))
    return;
  const Device own = nb::cast<runtime::Stream &>(object).getDevice();
  if (own.getKind() != device.getKind() || own.getPlace() != device.getPlace())
    raise(ErrorCode::InvalidArgument,
          "stream expects one of " + device.getName() +
              ", the device, but got one of " + own.getName());
}

static nb::object launch(const PyKernel &self, nb::handle gridObject,
                         const nb::args &objects, std::optional<Device> device,
                         nb::handle streamObject, const std::string &accumulate,
                         uint64_t scheduleSeed, unsigned hostThreads,
                         nb::handle progressObject) {
  runtime::Grid grid = getGrid(gridObject);
  std::vector<runtime::Argument> arguments = getArguments(self.kernel, objects);
  if (device)
    checkStream(streamObject, *device);
  else
    device = findCudaDevice(arguments);
  if (!device)
    device = self.device;

  runtime::LaunchOptions options;
  options.accumulate = accumulate;
  options.scheduleSeed = scheduleSeed;
  options.hostThreads = hostThreads;

  if (!streamObject.is_none()) {
    if (Progress(progressObject, ""))
      raise(ErrorCode::InvalidArgument,
            "progress expects a launch that waits, but got one in a stream");
    runtime::Stream stream = getStream(streamObject, device);
    std::optional<runtime::Expected<runtime::Event>> event;
    {
      // A first launch may compile a variant.
      Watch watch;
      runLong(
          [&] {
            event.emplace(
                self.kernel.launchAsyncList(stream, grid, arguments, options));
          },
          watch);
    }
    return nb::cast(take(std::move(*event)));
  }

  if (!device)
    device = Device::reference();
  options.copyHostArrays = device->getKind() == Device::Kind::Cuda;

  Watch watch;
  Progress progress(progressObject, "programs");
  Counter counter;
  options.cancel = &watch.cancel;
  if (progress) {
    options.progress = [&](uint64_t done, uint64_t total) {
      std::lock_guard<std::mutex> lock(counter.mutex);
      counter.done = done;
      counter.total = total;
    };
    watch.poll = [&, last = uint64_t(0)]() mutable {
      std::pair<uint64_t, uint64_t> state;
      {
        std::lock_guard<std::mutex> lock(counter.mutex);
        state = {counter.done, counter.total};
      }
      if (state.first != last)
        progress(state.first, state.second);
      last = state.first;
    };
  }
  runtime::Status status;
  runLong(
      [&] {
        status = self.kernel.launchList(*device, grid, arguments, options);
      },
      watch);
  take(std::move(status));
  return nb::none();
}

/// Calls a query that may run the compiler or ptxas.
template <typename Function>
static auto queryLong(Function function) {
  std::optional<decltype(function())> result;
  Watch watch;
  runLong([&] { result.emplace(function()); }, watch);
  return take(std::move(*result));
}

//===----------------------------------------------------------------------===//
// Bindings
//===----------------------------------------------------------------------===//

/// Extents and strides as Python has them: None for what is not known.
static nb::tuple getExtents(const std::vector<int64_t> &values) {
  nb::list list;
  for (int64_t value : values) {
    if (value == runtime::kDynamic)
      list.append(nb::none());
    else
      list.append(value);
  }
  return nb::tuple(list);
}

static const char *getKindName(runtime::Remark::Kind kind) {
  switch (kind) {
  case runtime::Remark::Kind::Passed:
    return "passed";
  case runtime::Remark::Kind::Missed:
    return "missed";
  case runtime::Remark::Kind::Failed:
    return "failed";
  case runtime::Remark::Kind::Analysis:
    return "analysis";
  }
  return "";
}

static const char *getSeverityName(runtime::Diagnostic::Severity severity) {
  switch (severity) {
  case runtime::Diagnostic::Severity::Error:
    return "error";
  case runtime::Diagnostic::Severity::Warning:
    return "warning";
  case runtime::Diagnostic::Severity::Remark:
    return "remark";
  case runtime::Diagnostic::Severity::Note:
    return "note";
  }
  return "";
}

static void bindValues(nb::module_ &module) {
  using runtime::Diagnostic;
  using runtime::Multiply;
  using runtime::Parameter;
  using runtime::Remark;
  using runtime::Resources;
  using runtime::SourceLocation;
  using runtime::TensorMap;

  nb::class_<SourceLocation>(module, "SourceLocation",
                             "A place in a kernel's text; 0 where a number is "
                             "not known.")
      .def_ro("file", &SourceLocation::file)
      .def_ro("line", &SourceLocation::line)
      .def_ro("column", &SourceLocation::column)
      .def("__repr__", [](const SourceLocation &self) {
        return self.file + ":" + std::to_string(self.line) + ":" +
               std::to_string(self.column);
      });

  nb::class_<Diagnostic>(module, "Diagnostic", "One message of the compiler.")
      .def_prop_ro(
          "severity",
          [](const Diagnostic &self) { return getSeverityName(self.severity); })
      .def_ro("location", &Diagnostic::location)
      .def_ro("message", &Diagnostic::message)
      .def("__str__", &Diagnostic::str)
      .def("__repr__", &Diagnostic::str);

  nb::class_<Parameter>(module, "Parameter", "One argument of a kernel.")
      .def_ro("name", &Parameter::name)
      .def_ro("mlir_type", &Parameter::mlirType)
      .def_ro("is_array", &Parameter::isArray)
      .def_prop_ro("dtype",
                   [](const Parameter &self) {
                     return runtime::getElementTypeName(self.type);
                   })
      .def_prop_ro(
          "shape", [](const Parameter &self) { return getExtents(self.shape); },
          "Extents; None for those that a launch gives.")
      .def_prop_ro(
          "strides",
          [](const Parameter &self) { return getExtents(self.strides); },
          "In elements; None for those that a launch gives.")
      .def_prop_ro(
          "shape_divisors",
          [](const Parameter &self) { return getExtents(self.shapeDivisors); })
      .def_prop_ro(
          "stride_divisors",
          [](const Parameter &self) { return getExtents(self.strideDivisors); })
      .def_prop_ro("extents",
                   [](const Parameter &self) {
                     return nb::tuple(nb::cast(self.extents));
                   })
      .def_ro("is_read", &Parameter::isRead)
      .def_ro("is_written", &Parameter::isWritten)
      .def("__repr__", [](const Parameter &self) {
        return "<tile_compiler.Parameter " + self.name + ": " + self.mlirType +
               ">";
      });

  nb::class_<Remark>(module, "Remark",
                     "Something the compiler found worth saying.")
      .def_prop_ro("kind",
                   [](const Remark &self) { return getKindName(self.kind); })
      .def_ro("name", &Remark::name)
      .def_ro("category", &Remark::category)
      .def_ro("function", &Remark::function)
      .def_ro("location", &Remark::location)
      .def_prop_ro("fields",
                   [](const Remark &self) {
                     nb::dict fields;
                     for (const Remark::Field &field : self.fields)
                       fields[field.key.c_str()] = field.value;
                     return fields;
                   })
      .def("__str__", &Remark::str)
      .def("__repr__", &Remark::str);

  nb::class_<Multiply>(module, "Multiply",
                       "How one multiply of a kernel is computed.")
      .def_ro("is_native", &Multiply::isNative)
      .def_ro("atom", &Multiply::atom)
      .def_ro("reason", &Multiply::reason)
      .def_ro("location", &Multiply::location)
      .def("__repr__", [](const Multiply &self) {
        return "<tile_compiler.Multiply " + self.atom + ">";
      });

  nb::class_<TensorMap>(module, "TensorMap",
                        "A tensor map that a kernel's PTX takes as a further "
                        "parameter.")
      .def_ro("parameter", &TensorMap::parameter)
      .def_ro("argument", &TensorMap::argument)
      .def_prop_ro(
          "dims",
          [](const TensorMap &self) { return nb::tuple(nb::cast(self.dims)); },
          "Dimensions of the array as the map has them, outermost first.")
      .def_prop_ro(
          "box",
          [](const TensorMap &self) { return nb::tuple(nb::cast(self.box)); },
          "Elements of `type` along each of `dims`.")
      .def_ro("swizzle", &TensorMap::swizzle)
      .def_ro("type", &TensorMap::type)
      .def_ro("fill", &TensorMap::fill)
      .def("__repr__", [](const TensorMap &self) {
        return "<tile_compiler.TensorMap of argument " +
               std::to_string(self.argument) + ">";
      });

  nb::class_<Resources>(module, "Resources",
                        "What a block takes of a multiprocessor, as ptxas "
                        "reports it.")
      .def_ro("registers", &Resources::registers)
      .def_ro("spill_store_bytes", &Resources::spillStoreBytes)
      .def_ro("spill_load_bytes", &Resources::spillLoadBytes)
      .def_ro("stack_bytes", &Resources::stackBytes)
      .def_ro("static_shared_bytes", &Resources::staticSharedBytes)
      .def_ro("dynamic_shared_bytes", &Resources::dynamicSharedBytes)
      .def_ro("threads", &Resources::threads)
      .def("__repr__", [](const Resources &self) {
        return "<tile_compiler.Resources registers=" +
               std::to_string(self.registers) +
               " threads=" + std::to_string(self.threads) + ">";
      });
}

static void bindProblems(nb::module_ &module) {
  using runtime::LinearProblem;
  using runtime::QuantizeProblem;

  module.def(
      "make_linear_problem",
      [](int64_t m, int64_t n, int64_t k, const std::string &output,
         bool alphaPerColumn, const std::string &x, const std::string &y,
         bool mxScales) {
        LinearProblem problem;
        problem.m = m;
        problem.n = n;
        problem.k = k;
        problem.output = take(runtime::findElementType(output));
        problem.x = take(runtime::findElementType(x));
        problem.y = take(runtime::findElementType(y));
        problem.alphaPerColumn = alphaPerColumn;
        problem.mxScales = mxScales;
        return problem;
      },
      nb::kw_only(), nb::arg("m"), nb::arg("n"), nb::arg("k"),
      nb::arg("output"), nb::arg("alpha_per_column"), nb::arg("x"),
      nb::arg("y"), nb::arg("mx_scales"));
  module.def(
      "make_quantize_problem",
      [](int64_t m, int64_t k, const std::string &values,
         const std::string &codes, const std::string &format) {
        QuantizeProblem problem;
        problem.m = m;
        problem.k = k;
        problem.values = take(runtime::findElementType(values));
        problem.codes = take(runtime::findElementType(codes));
        problem.format = format;
        return problem;
      },
      nb::kw_only(), nb::arg("m"), nb::arg("k"), nb::arg("values"),
      nb::arg("codes"), nb::arg("format"));
  nb::class_<LinearProblem>(module, "LinearProblem");
  nb::class_<QuantizeProblem>(module, "QuantizeProblem");
}

void tile::python::bindKernels(nb::module_ &module) {
  bindValues(module);
  bindProblems(module);

  nb::class_<CompileOptions>(module, "CompileOptions")
      .def(nb::init<>())
      .def_rw("target", &CompileOptions::target)
      .def_rw("device", &CompileOptions::device)
      .def_rw("entry", &CompileOptions::entry)
      .def_rw("constants", &CompileOptions::constants)
      .def_rw("bindings", &CompileOptions::bindings)
      .def("set_shape", &setShape)
      .def_rw("specialize", &CompileOptions::specialize)
      .def_rw("num_warps", &CompileOptions::numWarps)
      .def_rw("num_stages", &CompileOptions::numStages)
      .def_rw("group_programs", &CompileOptions::groupPrograms)
      .def_rw("mma_path", &CompileOptions::mmaPath)
      .def_rw("fp4_cvt", &CompileOptions::fp4Cvt)
      .def_rw("unpack_ahead", &CompileOptions::unpackAhead)
      .def_rw("tma", &CompileOptions::tma)
      .def_rw("ptx_version", &CompileOptions::ptxVersion)
      .def_rw("line_info", &CompileOptions::lineInfo)
      .def("set_assembler", &setAssembler)
      .def_rw("ptxas", &CompileOptions::ptxas);

  nb::class_<PyCompiler>(module, "Compiler",
                         "Compiles kernels and remembers them, in memory and "
                         "in a folder that processes share.")
      .def(
          "__init__",
          [](PyCompiler *self, const std::string &directory, bool useDisk,
             uint64_t maxDiskBytes, size_t maxKernels) {
            runtime::CacheOptions options;
            options.directory = directory;
            options.useDisk = useDisk;
            options.maxDiskBytes = maxDiskBytes;
            options.maxKernels = maxKernels;
            new (self) PyCompiler{runtime::Compiler(options)};
          },
          nb::kw_only(), nb::arg("directory") = "", nb::arg("use_disk") = true,
          nb::arg("max_disk_bytes") = runtime::CacheOptions().maxDiskBytes,
          nb::arg("max_kernels") = runtime::CacheOptions().maxKernels)
      .def_static(
          "default", [] { return PyCompiler{runtime::Compiler::getDefault()}; },
          "The compiler that every part of a process can share.")
      .def("_compile", &compile, nb::arg("text"), nb::arg("name"),
           nb::arg("options"), nb::arg("progress").none())
      .def("_compile_file", &compileFile, nb::arg("path"), nb::arg("options"),
           nb::arg("progress").none())
      .def("_linear", &linear, nb::arg("name"), nb::arg("problem"),
           nb::arg("options"), nb::arg("progress").none())
      .def("_quantize", &quantize, nb::arg("name"), nb::arg("problem"),
           nb::arg("options"), nb::arg("progress").none())
      .def_prop_ro(
          "cache_directory",
          [](const PyCompiler &self) {
            return self.compiler.getCacheDirectory();
          },
          "Where entries go, or \"\" where no folder is used.")
      .def_prop_ro("cache_statistics",
                   [](const PyCompiler &self) {
                     runtime::CacheStatistics source =
                         self.compiler.getCacheStatistics();
                     nb::dict result;
                     result["memory_hits"] = source.memoryHits;
                     result["disk_hits"] = source.diskHits;
                     result["compilations"] = source.compilations;
                     result["rejected"] = source.rejected;
                     result["write_failures"] = source.writeFailures;
                     result["kernels"] = source.kernels;
                     return result;
                   })
      .def(
          "clear_memory",
          [](const PyCompiler &self) { self.compiler.clearMemory(); },
          "Forgets what is in memory; kernels in use stay as they are.");

  nb::class_<PyKernel>(module, "Kernel",
                       "A compiled kernel; calling it launches it.")
      .def_prop_ro("entry",
                   [](const PyKernel &self) { return self.kernel.getEntry(); })
      .def_prop_ro("target",
                   [](const PyKernel &self) { return self.kernel.getTarget(); })
      .def_prop_ro(
          "parameters",
          [](const PyKernel &self) { return self.kernel.getParameters(); },
          "Its arguments, without those that were bound.")
      .def_prop_ro("ptx",
                   [](const PyKernel &self) { return self.kernel.getPtx(); })
      .def_prop_ro(
          "block_threads",
          [](const PyKernel &self) { return self.kernel.getBlockThreads(); })
      .def_prop_ro(
          "shared_bytes",
          [](const PyKernel &self) { return self.kernel.getSharedBytes(); })
      .def_prop_ro(
          "cubin",
          [](const PyKernel &self) {
            std::string cubin =
                queryLong([&] { return self.kernel.getCubin(); });
            return nb::bytes(cubin.data(), cubin.size());
          },
          "The PTX, assembled; needs ptxas.")
      .def_prop_ro(
          "resources",
          [](const PyKernel &self) {
            return queryLong([&] { return self.kernel.getResources(); });
          },
          "What ptxas says of it; needs ptxas.")
      .def_prop_ro(
          "remarks",
          [](const PyKernel &self) { return self.kernel.getRemarks(); })
      .def_prop_ro(
          "tensor_maps",
          [](const PyKernel &self) { return self.kernel.getTensorMaps(); },
          "The tensor maps that the PTX takes.")
      .def_prop_ro(
          "multiplies",
          [](const PyKernel &self) { return self.kernel.getMultiplies(); },
          "How each multiply is computed, in their order.")
      .def_prop_ro(
          "stages",
          [](const PyKernel &self) {
            nb::dict stages;
            for (const runtime::Stage &stage :
                 queryLong([&] { return self.kernel.getStages(); }))
              stages[stage.name.c_str()] = stage.text;
            return stages;
          },
          "The kernel after each step, by name. Compiles it anew.")
      .def_prop_ro(
          "num_variants",
          [](const PyKernel &self) { return self.kernel.getNumVariants(); })
      .def(
          "ptx_for",
          [](const PyKernel &self, const nb::args &objects) {
            std::vector<runtime::Argument> arguments =
                getArguments(self.kernel, objects);
            return queryLong([&] { return self.kernel.getPtxFor(arguments); });
          },
          "The PTX that a launch with these arguments runs.")
      .def("__call__", &launch, nb::arg("grid").none(), nb::arg("arguments"),
           nb::kw_only(), nb::arg("device") = nb::none(),
           nb::arg("stream") = nb::none(), nb::arg("accumulate") = "exact",
           nb::arg("schedule_seed") = 0, nb::arg("host_threads") = 0,
           nb::arg("progress") = nb::none(),
           "Launches the kernel for `grid` tile programs, one to three "
           "integers, and waits for it; on a GPU, in the default stream.\n\n"
           "`device` is where it runs: by default the GPU whose memory the "
           "first array on one is in, else the device it was compiled for, "
           "else the reference. With `stream`, a Stream, a stream of PyTorch "
           "or the address of a CUDA stream, it does not wait and returns an "
           "Event. `accumulate` and `schedule_seed` are of the emulator, "
           "`host_threads` of it and the reference. `progress` is True for a "
           "line on stderr, or is called with the programs done and their "
           "number.")
      .def("__repr__", [](const PyKernel &self) {
        return "<tile_compiler.Kernel " + self.kernel.getEntry() + " for " +
               self.kernel.getTarget() + ">";
      });
}
