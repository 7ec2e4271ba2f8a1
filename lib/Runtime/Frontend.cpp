//===- Frontend.cpp - The compiler, without MLIR's headers ----------------===//

#include "Frontend.h"

#include "CompilerImpl.h"
#include "DiagnosticCollector.h"
#include "Gate.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "tile/Codegen/Compiler.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Reference/Interpreter.h"
#include "tile/Tools/Files.h"
#include "tile/Tools/KernelFile.h"
#include "tile/Tools/Template.h"
#include "tile/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <numeric>

using namespace mlir;
using namespace tile;
using namespace tile::runtime;
using tile::runtime::Remark;

namespace rt = tile::runtime;

/// A kernel needs the dialects of its text and those that it is lowered to.
/// Requires: a `ForkShield`, as all of this file does but for launches.
static const DialectRegistry &getRegistry() {
  static const DialectRegistry registry = [] {
    DialectRegistry registry;
    registerTileDialects(registry);
    registerCodegenDialects(registry);
    return registry;
  }();
  return registry;
}

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

//===----------------------------------------------------------------------===//
// Session
//===----------------------------------------------------------------------===//

namespace {
/// Keeps remarks as values.
class RemarkCollector : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit RemarkCollector(std::vector<Remark> &remarks) : remarks(remarks) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    Remark &result = remarks.emplace_back();
    result.kind = llvm::StringSwitch<Remark::Kind>(remark.getRemarkTypeString())
                      .Case("Passed", Remark::Kind::Passed)
                      .Case("Missed", Remark::Kind::Missed)
                      .Case("Failure", Remark::Kind::Failed)
                      .Default(Remark::Kind::Analysis);
    result.name = remark.getRemarkName().str();
    result.category = remark.getCategoryName().str();
    result.function = remark.getFunction().str();
    result.location = getSourceLocation(remark.getLocation());
    for (const auto &field : remark.getArgs())
      result.fields.push_back({field.key, field.val});
  }

private:
  std::vector<Remark> &remarks;
};

/// A context whose diagnostics become values.
class Session {
public:
  Session()
      : context(getRegistry(), MLIRContext::Threading::DISABLED),
        diagnostics(&context) {
    context.printOpOnDiagnostic(false);
  }

  MLIRContext *getContext() { return &context; }

  /// Collects remarks from now on.
  LogicalResult collectRemarks(std::vector<Remark> &remarks) {
    // Name all four kinds: `all` alone is combined with them and enables
    // nothing.
    remark::RemarkCategories categories;
    categories.passed = categories.missed = ".*";
    categories.failed = categories.analysis = ".*";
    return remark::enableOptimizationRemarks(
        context, std::make_unique<RemarkCollector>(remarks),
        std::make_unique<remark::RemarkEmittingPolicyAll>(), categories);
  }

  /// The error that what has been diagnosed makes of `message`.
  rt::Error makeError(std::string message) {
    return diagnostics.makeError(std::move(message));
  }

private:
  MLIRContext context;
  DiagnosticCollector diagnostics;
};
} // namespace

static rt::Error makeError(ErrorCode code, const Twine &message) {
  return rt::Error(code, message.str());
}

/// Reads back a module that this file wrote.
static OwningOpRef<ModuleOp> readModule(const KernelDescription &description,
                                        Session &session) {
  return parseSourceString<ModuleOp>(
      description.module, ParserConfig(session.getContext()), description.name);
}

static func::FuncOp getKernel(ModuleOp module, StringRef entry) {
  return module.lookupSymbol<func::FuncOp>(entry);
}

//===----------------------------------------------------------------------===//
// Describing a kernel
//===----------------------------------------------------------------------===//

/// The text with its constants put in.
static rt::Expected<std::string> expand(std::string_view text,
                                        const std::string &name,
                                        const rt::CompileOptions &options) {
  TemplateConstants constants(/*prefix=*/"constant ");
  for (const auto &[constant, value] : options.constants)
    if (llvm::Error error = constants.add(constant, value))
      return makeError(ErrorCode::InvalidArgument,
                       "constants: " + llvm::toString(std::move(error)));
  const StringRef source(text.data(), text.size());
  llvm::Expected<std::string> expanded = expandKernel(source, name, constants);
  // Bytecode fails only for constants that it has no use for.
  if (!expanded)
    return makeError(isBytecode(source) ? ErrorCode::InvalidArgument
                                        : ErrorCode::InvalidKernel,
                     llvm::toString(expanded.takeError()));
  const DialectRegistry &registry = getRegistry();
  llvm::Error error = [&] {
    // This may fork. Threads of which each waits to fork would not leave.
    ForkShieldPause pause;
    return checkKernel({*expanded, name}, registry);
  }();
  if (error)
    return makeError(ErrorCode::InvalidKernel,
                     llvm::toString(std::move(error)));
  return std::move(*expanded);
}

/// " with BK=128, BM=64", where there are constants: the parser says nothing of
/// them where one is what makes a text invalid.
static std::string printConstants(const rt::CompileOptions &options) {
  std::string text;
  for (const auto &[name, value] : options.constants)
    text += (text.empty() ? " with " : ", ") + name + '=' + value;
  return text;
}

/// The kernel that `entry` names, or the only one.
static rt::Expected<func::FuncOp> findKernel(ModuleOp module, StringRef entry,
                                             const std::string &name) {
  SmallVector<func::FuncOp> kernels;
  std::string names;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function->hasAttr("tile.kernel"))
      continue;
    kernels.push_back(function);
    names += (names.empty() ? "'" : ", '") + function.getName().str() + "'";
  }
  if (kernels.empty())
    return makeError(ErrorCode::InvalidKernel,
                     name + ": expects a kernel, a func.func with "
                            "'tile.kernel', but got none");
  if (entry.empty()) {
    if (kernels.size() == 1)
      return kernels.front();
    return makeError(ErrorCode::InvalidArgument,
                     "entry: " + name + " has several kernels; choose one of " +
                         names);
  }
  for (func::FuncOp kernel : kernels)
    if (kernel.getName() == entry)
      return kernel;
  return makeError(ErrorCode::NotFound, "entry: " + name + " has no kernel '" +
                                            entry + "', but " + names);
}

/// The name of an argument in the text, or one by its number.
static std::string getName(BlockArgument argument) {
  if (auto name = dyn_cast<NameLoc>(argument.getLoc()))
    return name.getName().str();
  return "argument" + std::to_string(argument.getArgNumber());
}

static std::string listArguments(func::FuncOp kernel) {
  std::string names;
  for (BlockArgument argument : kernel.getArguments())
    names += (names.empty() ? "'" : ", '") + getName(argument) + "'";
  return names;
}

static std::optional<unsigned> findArgument(func::FuncOp kernel,
                                            StringRef name) {
  for (BlockArgument argument : kernel.getArguments())
    if (getName(argument) == name)
      return argument.getArgNumber();
  return std::nullopt;
}

/// Checks that `value` can stand for an argument of type `type`.
static Status checkBinding(const std::string &name, Type type, int64_t value) {
  const std::string what = "bindings: argument '" + name + "' ";
  if (!type.isIndex() && !type.isSignlessInteger())
    return makeError(ErrorCode::InvalidArgument,
                     what + "is of type " + print(type) + ", not an integer");
  const unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  if (bits < 64 && !llvm::isIntN(bits, value) &&
      !llvm::isUIntN(bits, static_cast<uint64_t>(value)))
    return makeError(ErrorCode::InvalidArgument,
                     what + "expects a value of type " + print(type) +
                         ", but got " + std::to_string(value));
  return {};
}

/// Checks that an argument of type `type` can have the extents `shape`.
static Status checkShape(const std::string &name, Type type,
                         const std::vector<int64_t> &shape) {
  const std::string what = "shapes: argument '" + name + "' ";
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    return makeError(ErrorCode::InvalidArgument,
                     what + "is of type " + print(type) + ", not an array");
  if (static_cast<int64_t>(shape.size()) != memref.getRank())
    return makeError(ErrorCode::InvalidArgument,
                     what + "expects " + std::to_string(memref.getRank()) +
                         " extents (" + print(type) + "), but got " +
                         std::to_string(shape.size()));
  for (auto [dim, extent, known] : llvm::enumerate(shape, memref.getShape())) {
    if (extent == kDynamic ||
        (extent >= 0 && (ShapedType::isDynamic(known) || extent == known)))
      continue;
    return makeError(ErrorCode::InvalidArgument,
                     what + "expects extent " + std::to_string(dim) +
                         (extent < 0 ? std::string(" not to be negative")
                                     : " to be " + std::to_string(known)) +
                         ", but got " + std::to_string(extent));
  }
  return {};
}

/// Appends what `tile-specialize` needs for the bindings and shapes of
/// `options` to a pipeline.
static Status addSpecialization(OpPassManager &passes, func::FuncOp kernel,
                                const rt::CompileOptions &options) {
  TileSpecializeOptions specialize;
  specialize.entry = kernel.getName().str();
  auto find = [&](const char *option,
                  const std::string &name) -> rt::Expected<unsigned> {
    if (std::optional<unsigned> argument = findArgument(kernel, name))
      return *argument;
    return makeError(ErrorCode::InvalidArgument,
                     Twine(option) + ": kernel '" + kernel.getName() +
                         "' has no argument '" + name + "', but " +
                         listArguments(kernel));
  };
  for (const auto &[name, value] : options.bindings) {
    rt::Expected<unsigned> argument = find("bindings", name);
    if (!argument)
      return std::move(argument).error();
    Type type = kernel.getArgument(*argument).getType();
    if (Status status = checkBinding(name, type, value); !status)
      return status;
    specialize.bindings.push_back(std::to_string(*argument) + ':' +
                                  std::to_string(value));
  }
  for (const auto &[name, shape] : options.shapes) {
    rt::Expected<unsigned> argument = find("shapes", name);
    if (!argument)
      return std::move(argument).error();
    Type type = kernel.getArgument(*argument).getType();
    if (Status status = checkShape(name, type, shape); !status)
      return status;
    if (shape.empty())
      continue; // An array without dimensions has no extents to put in.
    std::string text = std::to_string(*argument) + ':';
    for (auto [dim, extent] : llvm::enumerate(shape))
      text += (dim ? "x" : "") +
              (extent == kDynamic ? "?" : std::to_string(extent));
    specialize.shapes.push_back(text);
  }
  passes.addPass(createTileSpecialize(specialize));
  return {};
}

/// Runs the inliner and, where there is something to put in, what puts it in.
static Status prepareModule(ModuleOp module, func::FuncOp kernel,
                            const rt::CompileOptions &options,
                            Session &session) {
  PassManager passes(module.getContext());
  passes.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  if (!options.bindings.empty() || !options.shapes.empty())
    if (Status status = addSpecialization(passes, kernel, options); !status)
      return status;
  if (failed(passes.run(module)))
    return session.makeError("kernel '" + kernel.getName().str() +
                             "' does not compile");
  return {};
}

/// Finds what a kernel does with an array, through its views.
static void findAccesses(Value memref, Parameter &parameter) {
  for (Operation *user : memref.getUsers()) {
    if (auto view = dyn_cast<memref::SubViewOp>(user))
      findAccesses(view.getResult(), parameter);
    else if (isa<StoreOp, ScatterOp>(user))
      parameter.isWritten = true;
    else if (!isa<memref::DimOp>(user))
      parameter.isRead = true;
  }
}

static rt::ElementType getElementType(Type type) {
  if (isa<F4E2M1FNx2Type>(type))
    return rt::ElementType::F4E2M1FNx2;
  // Every other one has the same name on both sides.
  return *rt::findElementType(print(type));
}

static SmallVector<int64_t> getPromise(func::FuncOp kernel, unsigned index,
                                       StringRef name, int64_t rank) {
  if (auto promise = kernel.getArgAttrOfType<DenseI64ArrayAttr>(index, name))
    return SmallVector<int64_t>(promise.asArrayRef());
  return SmallVector<int64_t>(rank, 1);
}

static Parameter describe(func::FuncOp kernel, BlockArgument argument) {
  Parameter parameter;
  const unsigned index = argument.getArgNumber();
  parameter.name = getName(argument);
  parameter.mlirType = print(argument.getType());
  auto memref = dyn_cast<MemRefType>(argument.getType());
  parameter.isArray = static_cast<bool>(memref);
  if (!memref) {
    parameter.type = getElementType(argument.getType());
    return parameter;
  }
  parameter.type = getElementType(memref.getElementType());
  auto toDynamic = [](ArrayRef<int64_t> numbers) {
    std::vector<int64_t> result;
    for (int64_t number : numbers)
      result.push_back(ShapedType::isDynamic(number) ? kDynamic : number);
    return result;
  };
  parameter.shape = toDynamic(memref.getShape());
  parameter.strides = toDynamic(memref.getStridesAndOffset().first);
  auto assign = [&](std::vector<int64_t> &divisors, StringRef name) {
    SmallVector<int64_t> promise =
        getPromise(kernel, index, name, memref.getRank());
    divisors.assign(promise.begin(), promise.end());
  };
  assign(parameter.shapeDivisors, "tile.shape_divisible_by");
  assign(parameter.strideDivisors, "tile.stride_divisible_by");
  if (auto extents = kernel.getArgAttrOfType<ArrayAttr>(index, "tile.extents"))
    for (auto extent : extents.getAsRange<StringAttr>())
      parameter.extents.push_back(extent.getValue().str());
  findAccesses(argument, parameter);
  return parameter;
}

rt::Expected<KernelDescription>
tile::runtime::describeKernel(std::string_view text, const std::string &name,
                              const rt::CompileOptions &options) {
  ForkShield shield;
  rt::Expected<std::string> source = expand(text, name, options);
  if (!source)
    return std::move(source).error();
  Session session;
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      *source, ParserConfig(session.getContext()), name);
  if (!module)
    return session.makeError(name + " is not a valid module" +
                             printConstants(options));
  rt::Expected<func::FuncOp> found = findKernel(*module, options.entry, name);
  if (!found)
    return std::move(found).error();
  func::FuncOp kernel = *found;
  nameArguments(kernel, *source, name);
  eraseKernelsExcept(*module, kernel);

  KernelDescription description;
  description.name = name;
  description.target = options.target;
  description.entry = kernel.getName().str();
  if (Status status = prepareModule(*module, kernel, options, session); !status)
    return std::move(status).error();
  for (BlockArgument argument : kernel.getArguments())
    description.parameters.push_back(describe(kernel, argument));
  llvm::append_range(description.abi, getKernelParameters(kernel));
  llvm::raw_string_ostream stream(description.module);
  if (failed(writeBytecodeToFile(*module, stream)))
    return session.makeError("cannot write kernel '" + description.entry +
                             "' as bytecode");
  return description;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

/// A number that `a` and `b` divide: the least common multiple, or `a` alone
/// where that exceeds 63 bits. Only 0 is a multiple of both then.
static int64_t combine(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a / std::gcd(a, b), b, &product) ? a : product;
}

/// Adds `divisors` to the promises of a kernel.
static void addPromises(func::FuncOp kernel, const Divisors &divisors) {
  size_t next = 0;
  for (BlockArgument argument : kernel.getArguments()) {
    auto memref = dyn_cast<MemRefType>(argument.getType());
    if (!memref)
      continue;
    for (StringRef name :
         {"tile.shape_divisible_by", "tile.stride_divisible_by"}) {
      SmallVector<int64_t> promise =
          getPromise(kernel, argument.getArgNumber(), name, memref.getRank());
      for (int64_t &number : promise)
        number = combine(number, divisors[next++]);
      kernel.setArgAttr(argument.getArgNumber(), name,
                        DenseI64ArrayAttr::get(kernel.getContext(), promise));
    }
  }
}

static tile::CompileOptions getOptions(const KernelDescription &description,
                                       const rt::CompileOptions &options) {
  tile::CompileOptions result;
  result.target = description.target;
  result.mmaPath = options.mmaPath;
  result.numWarps = options.numWarps;
  result.numStages = options.numStages;
  result.groupPrograms = options.groupPrograms;
  result.fp4Cvt = options.fp4Cvt;
  result.unpackAhead = options.unpackAhead;
  result.tma = options.tma;
  result.ptxVersion = options.ptxVersion;
  result.lineInfo = options.lineInfo;
  result.cancel = options.cancel;
  if (options.onStage)
    result.onStage = [&](StringRef name, StringRef text) {
      const rt::Stage stage = {name.str(), text.str()};
      // It may wait for whom it likes: in Python for the interpreter's lock,
      // which a thread that forks holds.
      ForkShieldPause pause;
      options.onStage(stage);
    };
  return result;
}

/// How each multiply is computed, from the remarks on them.
static std::vector<Multiply> getMultiplies(ArrayRef<Remark> remarks) {
  std::vector<Multiply> multiplies;
  for (const Remark &remark : remarks) {
    if (remark.name != "scaled-mma" && remark.name != "mma")
      continue;
    Multiply &multiply = multiplies.emplace_back();
    multiply.isNative = remark.get("path") == "native";
    multiply.atom = remark.get("atom");
    multiply.reason = remark.get("Reason");
    multiply.location = remark.location;
  }
  return multiplies;
}

rt::Expected<std::shared_ptr<CompiledCode>>
tile::runtime::compileKernel(const KernelDescription &description,
                             const Divisors &divisors,
                             const rt::CompileOptions &options) {
  ForkShield shield;
  tile::CompileOptions compileOptions = getOptions(description, options);
  if (llvm::Error error = validate(compileOptions))
    return makeError(ErrorCode::InvalidArgument,
                     llvm::toString(std::move(error)));
  auto code = std::make_shared<CompiledCode>();
  Session session;
  OwningOpRef<ModuleOp> module = readModule(description, session);
  if (!module || failed(session.collectRemarks(code->remarks)))
    return session.makeError("cannot read kernel '" + description.entry +
                             "' back");
  if (!divisors.empty())
    addPromises(getKernel(*module, description.entry), divisors);
  FailureOr<CompileResult> result =
      compile(*module, EmitKind::Ptx, compileOptions);
  if (failed(result)) {
    if (options.cancel && *options.cancel)
      return makeCancelled();
    return session.makeError("kernel '" + description.entry +
                             "' does not compile for " + description.target);
  }
  code->target = description.target;
  code->entry = description.entry;
  code->ptx = std::move(result->text);
  for (const KernelLaunchInfo &info : result->kernels) {
    if (info.entry != description.entry)
      continue;
    code->blockThreads = info.blockThreads;
    code->sharedBytes = info.sharedBytes;
    code->tensorMaps = info.tensorMaps;
  }
  code->multiplies = getMultiplies(code->remarks);
  return code;
}

//===----------------------------------------------------------------------===//
// The reference
//===----------------------------------------------------------------------===//

namespace {
class PreparedReference : public ReferenceKernel {
public:
  static rt::Expected<std::shared_ptr<ReferenceKernel>>
  create(const KernelDescription &description) {
    std::shared_ptr<PreparedReference> result(new PreparedReference,
                                              [](PreparedReference *reference) {
                                                ForkShield shield;
                                                delete reference;
                                              });
    result->module = readModule(description, result->session);
    if (!result->module)
      return result->session.makeError("cannot read kernel '" +
                                       description.entry + "' back");
    llvm::Expected<reference::Kernel> kernel = reference::Kernel::prepare(
        getKernel(*result->module, description.entry));
    if (!kernel)
      return makeError(ErrorCode::InvalidKernel,
                       llvm::toString(kernel.takeError()));
    result->kernel.emplace(std::move(*kernel));
    return std::shared_ptr<ReferenceKernel>(std::move(result));
  }

  Status launch(const LaunchRequest &request) const override {
    std::vector<reference::Argument> arguments;
    const auto &parameters = request.kernel->getDescription().parameters;
    for (auto [parameter, argument] :
         llvm::zip_equal(parameters, request.arguments)) {
      if (!argument.array) {
        arguments.push_back(reference::Scalar{argument.code});
        continue;
      }
      const TensorRef &array = *argument.array;
      reference::Buffer buffer;
      buffer.data = static_cast<uint8_t *>(array.data);
      buffer.capacity = array.getSpanBytes();
      buffer.elementBytes = getElementBytes(array.type);
      buffer.shape.assign(array.shape.begin(), array.shape.end());
      buffer.strides.assign(array.strides.begin(), array.strides.end());
      buffer.readOnly = !parameter.isWritten;
      arguments.push_back(std::move(buffer));
    }
    reference::Grid grid;
    grid.extents = {request.grid.x, request.grid.y, request.grid.z};
    reference::LaunchOptions options;
    options.threads = request.options.hostThreads;
    options.cancel = request.options.cancel;
    options.progress = request.options.progress;
    llvm::Error error = kernel->launch(grid, arguments, options);
    if (!error)
      return {};
    std::string message = llvm::toString(std::move(error));
    if (options.cancel && *options.cancel)
      return makeError(ErrorCode::Cancelled, "the launch was cancelled");
    return makeError(ErrorCode::Fault, message);
  }

private:
  Session session;
  OwningOpRef<ModuleOp> module;
  std::optional<reference::Kernel> kernel;
};
} // namespace

rt::Expected<std::shared_ptr<ReferenceKernel>>
tile::runtime::prepareReference(const KernelDescription &description) {
  ForkShield shield;
  return PreparedReference::create(description);
}
