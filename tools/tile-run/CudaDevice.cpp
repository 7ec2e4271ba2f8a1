//===- CudaDevice.cpp - Run a kernel on a GPU -----------------------------===//
//
// Through the embedded compiler, as a program of one's own would do it.
//
//===----------------------------------------------------------------------===//

#include "CudaDevice.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Runtime/Runtime.h"
#include "tile/Tools/KernelFile.h"
#include "tile/Tools/Options.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tile;
using llvm::createStringError;
using llvm::Error;

/// Prints the compiler's diagnostics, which say it all; an error without them
/// becomes the tool's.
static Error report(const runtime::Error &error) {
  if (error.getDiagnostics().empty())
    return createStringError(error.getMessage());
  for (const runtime::Diagnostic &diagnostic : error.getDiagnostics())
    llvm::errs() << diagnostic.str() << '\n';
  return ReportedError::get();
}

static runtime::CompileOptions getOptions(const CudaRequest &request,
                                          func::FuncOp kernel,
                                          const runtime::Device &device) {
  const CompileOptions &compile = request.compile;
  runtime::CompileOptions options;
  options.target = compile.target;
  options.device = device;
  options.entry = kernel.getName().str();
  for (const std::string &name : request.constants.getNames())
    options.constants[name] = *request.constants.find(name);
  options.numWarps = compile.numWarps;
  options.numStages = compile.numStages;
  options.groupPrograms = compile.groupPrograms;
  options.mmaPath = compile.mmaPath;
  options.fp4Cvt = compile.fp4Cvt;
  options.unpackAhead = compile.unpackAhead;
  options.tma = compile.tma;
  options.ptxVersion = compile.ptxVersion;
  options.lineInfo = compile.lineInfo;
  return options;
}

/// The scalar with this code.
static runtime::Argument getScalar(Type type, uint64_t code) {
  auto floatType = dyn_cast<FloatType>(type);
  if (!floatType)
    return runtime::Argument(code);
  llvm::APFloat value(floatType.getFloatSemantics(),
                      llvm::APInt(floatType.getWidth(), code));
  bool losesInfo;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &losesInfo);
  return runtime::Argument(value.convertToDouble());
}

static runtime::Expected<runtime::TensorRef>
getArray(Type elementType, const ArrayArgument &array) {
  std::string name;
  llvm::raw_string_ostream(name) << elementType;
  StringRef spelling = name;
  spelling.consume_front("!tile.");
  runtime::Expected<runtime::ElementType> type =
      runtime::findElementType(spelling.str());
  if (!type)
    return type.error();
  runtime::TensorRef ref(static_cast<void *>(array.getBytes().data()), *type,
                         array.getShape().vec(), array.getStrides().vec());
  ref.readOnly = array.isReadOnly();
  return ref;
}

Error tile::runOnCuda(func::FuncOp kernel, const CudaRequest &request,
                      const RunArguments &arguments) {
  runtime::Expected<runtime::Device> device = runtime::Device::cuda();
  if (!device)
    return createStringError("--device=cuda: " + device.error().getMessage());

  std::vector<runtime::Argument> values;
  for (auto [type, argument, array, name] :
       llvm::zip_equal(kernel.getArgumentTypes(), arguments.getArguments(),
                       arguments.getArrays(), arguments.getNames())) {
    if (!array) {
      values.push_back(
          getScalar(type, std::get<reference::Scalar>(argument).code));
      continue;
    }
    runtime::Expected<runtime::TensorRef> ref =
        getArray(cast<MemRefType>(type).getElementType(), *array);
    if (!ref)
      return prefixError(name, createStringError(ref.error().getMessage()));
    values.emplace_back(*ref);
  }

  // A tool that is asked to compile does so, whatever others have left.
  runtime::CacheOptions cache;
  cache.useDisk = false;
  runtime::Compiler compiler(cache);
  runtime::Expected<runtime::Kernel> compiled =
      compiler.compileFile(request.file, getOptions(request, kernel, *device));
  if (!compiled)
    return report(compiled.error());
  if (request.remarks)
    for (const runtime::Remark &remark : compiled->getRemarks())
      llvm::errs() << remark.str() << '\n';

  // The embedded compiler leaves no files.
  if (!request.compile.dumpStages.empty()) {
    CompileOptions dump = request.compile;
    dump.target = compiled->getTarget();
    auto module = kernel->getParentOfType<ModuleOp>();
    eraseKernelsExcept(module, kernel);
    if (failed(compile(module, EmitKind::Ptx, dump)))
      return ReportedError::get();
  }

  runtime::LaunchOptions options;
  options.copyHostArrays = true;
  runtime::Status launched = compiled->launchList(
      *device, {request.grid[0], request.grid[1], request.grid[2]}, values,
      options);
  if (!launched)
    return report(launched.error());
  return Error::success();
}
