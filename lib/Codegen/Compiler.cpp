//===- Compiler.cpp - From a tile module to PTX ---------------------------===//

#include "tile/Codegen/Compiler.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "tile/Codegen/PtxEmitter.h"
#include "tile/Conversion/Passes.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Target/TargetInfo.h"
#include "tile/Transforms/Passes.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tile;

/// What `--ptx-version` may ask for: nothing that is emitted needs a later one.
static constexpr PtxVersion kMaxPtxVersion = 92;

void tile::registerCodegenDialects(DialectRegistry &registry) {
  registry
      .insert<LLVM::LLVMDialect, NVVM::NVVMDialect, vector::VectorDialect>();
  func::registerInlinerExtension(registry);
  registerPtxTranslations(registry);
}

llvm::Error tile::validate(const CompileOptions &options) {
  llvm::Expected<const TargetInfo *> target = findTarget(options.target);
  if (!target)
    return target.takeError();
  auto expectOneOf = [](StringRef option, StringRef value,
                        ArrayRef<StringRef> allowed) -> llvm::Error {
    if (llvm::is_contained(allowed, value))
      return llvm::Error::success();
    return llvm::createStringError(("expects " + option + " to be " +
                                    llvm::join(allowed, ", ") + ", but got '" +
                                    value + "'")
                                       .str());
  };
  if (llvm::Error error = expectOneOf("mma-path", options.mmaPath,
                                      {"auto", "native", "expand"}))
    return error;
  if (llvm::Error error = expectOneOf("fp4-cvt", options.fp4Cvt,
                                      {"auto", "hardware", "software"}))
    return error;
  if (options.fp4Cvt == "hardware" && !(*target)->has(Capability::CvtFp4))
    return llvm::createStringError("fp4-cvt=hardware: " + options.target +
                                   " has no conversion to f4E2M1FN");
  if (llvm::Error error =
          expectOneOf("unpack-ahead", options.unpackAhead, {"auto", "0", "1"}))
    return error;
  if (options.numWarps &&
      (!llvm::isPowerOf2_32(options.numWarps) || options.numWarps > 32))
    return llvm::createStringError(
        "expects num-warps to be a power of two from 1 to 32, but got " +
        std::to_string(options.numWarps));
  if (options.numStages > kMaxStages)
    return llvm::createStringError("expects num-stages to be at most " +
                                   std::to_string(kMaxStages) + ", but got " +
                                   std::to_string(options.numStages));
  if (options.groupPrograms > kMaxProgramGroup)
    return llvm::createStringError("expects group-programs to be at most " +
                                   std::to_string(kMaxProgramGroup) +
                                   ", but got " +
                                   std::to_string(options.groupPrograms));
  if (options.ptxVersion > kMaxPtxVersion)
    return llvm::createStringError("expects ptx-version to be at most " +
                                   printVersion(kMaxPtxVersion) + ", but got " +
                                   printVersion(options.ptxVersion));
  if (options.ptxVersion && options.ptxVersion < (*target)->minPtxVersion)
    return llvm::createStringError(
        "ptx-version " + printVersion(options.ptxVersion) + " is too low: " +
        options.target + " needs " + printVersion((*target)->minPtxVersion));
  return llvm::Error::success();
}

void tile::buildPipeline(OpPassManager &passes, const CompileOptions &options,
                         EmitKind kind) {
  // Without its usual canonicalization: what a kernel may not use is told of
  // the kernel as it was written.
  passes.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  passes.addPass(createTileCheckKernels());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  TileGroupProgramsOptions grouping;
  grouping.group = options.groupPrograms;
  passes.addPass(createTileGroupPrograms(grouping));
  TileLegalizeScaledMmaOptions legalize;
  legalize.target = options.target;
  legalize.mmaPath = options.mmaPath;
  legalize.numWarps = options.numWarps;
  passes.addPass(createTileLegalizeScaledMma(legalize));
  TileStageTensorMultipliesOptions tensor;
  tensor.target = options.target;
  tensor.numWarps = options.numWarps;
  passes.addPass(createTileStageTensorMultiplies(tensor));
  TileSliceResultsOptions slice;
  slice.numWarps = options.numWarps;
  passes.addPass(createTileSliceResults(slice));
  TileSpecializeWarpsOptions specialize;
  specialize.target = options.target;
  specialize.numStages = options.numStages;
  specialize.numWarps = options.numWarps;
  passes.addPass(createTileSpecializeWarps(specialize));
  if (options.tma) {
    TileCopyByTensorMapsOptions maps;
    maps.target = options.target;
    passes.addPass(createTileCopyByTensorMaps(maps));
  }
  passes.addPass(createTileHoistBias());
  TileSplitReductionOptions split;
  split.numWarps = options.numWarps;
  passes.addPass(createTileSplitReduction(split));
  passes.addPass(createTileOrientMultiplies());
  TileAssignLayoutsOptions assign;
  assign.numWarps = options.numWarps;
  passes.addPass(createTileAssignLayouts(assign));
  passes.addPass(createTileSimplifyLayoutConversions());
  TileStageLoadsOptions stage;
  stage.target = options.target;
  passes.addPass(createTileStageLoads(stage));
  TilePipelineLoopsOptions pipeline;
  pipeline.target = options.target;
  pipeline.numStages = options.numStages;
  passes.addPass(createTilePipelineLoops(pipeline));
  TileStepMultipliesOptions step;
  step.unpackAhead = options.unpackAhead;
  passes.addPass(createTileStepMultiplies(step));
  if (kind == EmitKind::Mlir)
    return;
  TileDistributeOptions distribute;
  distribute.target = options.target;
  distribute.fp4Cvt = options.fp4Cvt;
  distribute.ptxVersion = options.ptxVersion;
  passes.addPass(createTileDistribute(distribute));
  passes.addPass(createCSEPass());
  passes.addPass(createTileExpandMath());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  if (options.lineInfo)
    passes.addPass(LLVM::createDIScopeForLLVMFuncOpPass());
}

/// Numbers with an `x` between them.
static std::vector<unsigned> readExtents(StringRef text) {
  std::vector<unsigned> extents;
  for (StringRef part : llvm::split(text, 'x'))
    part.getAsInteger(10, extents.emplace_back());
  return extents;
}

/// The lines that distribution wrote as module-level assembly: one for each
/// kernel, and behind it one for each tensor map that the kernel takes.
static std::vector<KernelLaunchInfo> readLaunchInfo(ModuleOp module) {
  std::vector<KernelLaunchInfo> kernels;
  auto lines = module->getAttrOfType<ArrayAttr>(
      LLVM::LLVMDialect::getModuleLevelAsmAttrName());
  if (!lines)
    return kernels;
  for (auto line : lines.getAsRange<StringAttr>()) {
    StringRef text = line.getValue();
    const bool isMap = text.consume_front("// tile.tensor_map ");
    if (!isMap || kernels.empty())
      kernels.emplace_back();
    KernelLaunchInfo &info = kernels.back();
    TensorMapParameter map;
    for (StringRef field : llvm::split(text, ' ')) {
      auto [key, value] = field.split('=');
      if (isMap) {
        if (key == "param")
          value.getAsInteger(10, map.parameter);
        else if (key == "arg")
          value.getAsInteger(10, map.argument);
        else if (key == "box")
          map.box = readExtents(value);
        else if (key == "swizzle")
          value.getAsInteger(10, map.swizzle); // "none" leaves 0
        else if (key == "type")
          map.type = value.str();
        else if (key == "fill")
          map.fill = value.str();
        else if (key == "dims")
          map.dims = readExtents(value);
      } else if (key == "entry") {
        info.entry = value.str();
      } else if (key == "block") {
        value.split(',').first.getAsInteger(10, info.blockThreads);
      } else if (key == "shared") {
        value.getAsInteger(10, info.sharedBytes);
      }
    }
    if (isMap)
      info.tensorMaps.push_back(std::move(map));
  }
  return kernels;
}

namespace {
/// A stage: what callers call it, and its file in the dump folder.
struct StageInfo {
  StringLiteral name;
  StringLiteral file;
};
} // namespace

static constexpr StageInfo kSourceStage = {"source", "0-source.mlir"};
static constexpr StageInfo kLayoutsStage = {"layouts", "1-layouts.mlir"};
static constexpr StageInfo kNvvmStage = {"nvvm", "2-nvvm.mlir"};
static constexpr StageInfo kLlvmStage = {"llvm", "3-llvm.ll"};
static constexpr StageInfo kPtxStage = {"ptx", "4-ptx.ptx"};

/// Whether anybody wants to see stages: printing one takes longer than some
/// passes.
static bool showsStages(const CompileOptions &options) {
  return !options.dumpStages.empty() || options.onStage;
}

/// Shows what `getText` returns to those who asked for it. A failure where the
/// compilation is to go no further.
static LogicalResult finishStage(ModuleOp module, const CompileOptions &options,
                                 const StageInfo &stage,
                                 llvm::function_ref<std::string()> getText) {
  if (options.cancel && *options.cancel)
    return module.emitError() << "the compilation was cancelled";
  if (!showsStages(options))
    return success();
  const std::string text = getText();
  if (options.onStage)
    options.onStage(stage.name, text);
  if (options.dumpStages.empty())
    return success();
  SmallString<128> path(options.dumpStages);
  std::error_code error = llvm::sys::fs::create_directories(path);
  llvm::sys::path::append(path, stage.file);
  if (!error) {
    llvm::raw_fd_ostream file(path, error);
    if (!error)
      file << text;
  }
  if (error)
    return module.emitError()
           << "cannot write " << path << ": " << error.message();
  return success();
}

static std::string print(ModuleOp module, bool withLocations) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  if (withLocations)
    flags.enableDebugInfo();
  module.print(stream, flags);
  stream << "\n";
  return text;
}

FailureOr<CompileResult> tile::compile(ModuleOp module, EmitKind kind,
                                       const CompileOptions &options) {
  if (llvm::Error error = validate(options))
    return module.emitError() << llvm::toString(std::move(error)), failure();
  const TargetInfo *target = *findTarget(options.target);
  CompileResult result;

  auto printModule = [&] { return print(module, false); };
  auto getResult = [&] { return result.text; };
  if (failed(finishStage(module, options, kSourceStage, printModule)))
    return failure();
  // Two runs, so that the stage between them can be dumped.
  PassManager full(module->getContext());
  full.enableVerifier();
  buildPipeline(full, options, kind == EmitKind::Mlir ? kind : EmitKind::Nvvm);
  if (showsStages(options) && kind != EmitKind::Mlir) {
    OwningOpRef<ModuleOp> copy = module.clone();
    PassManager upToLayouts(module->getContext());
    buildPipeline(upToLayouts, options, EmitKind::Mlir);
    // Its diagnostics will come again from the whole pipeline.
    ScopedDiagnosticHandler quiet(module->getContext(),
                                  [](Diagnostic &) { return success(); });
    if (succeeded(upToLayouts.run(*copy)) &&
        failed(finishStage(module, options, kLayoutsStage,
                           [&] { return print(*copy, false); })))
      return failure();
  }
  if (failed(full.run(module)))
    return failure();
  if (kind == EmitKind::Mlir) {
    result.text = printModule();
    if (failed(finishStage(module, options, kLayoutsStage, getResult)))
      return failure();
    return result;
  }

  // What should be gone by now is named, not passed on to the translation.
  WalkResult lowered = module.walk([&](Operation *op) {
    if (isa<ModuleOp>(op) ||
        isa<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect()))
      return WalkResult::advance();
    op->emitOpError("should have been lowered to the llvm and nvvm dialects");
    return WalkResult::interrupt();
  });
  if (lowered.wasInterrupted())
    return failure();
  result.kernels = readLaunchInfo(module);
  auto printNvvm = [&] { return print(module, options.lineInfo); };
  if (kind == EmitKind::Nvvm)
    result.text = printNvvm();
  if (failed(finishStage(module, options, kNvvmStage, printNvvm)))
    return failure();
  if (kind == EmitKind::Nvvm)
    return result;

  PtxVersion required = getRequiredPtxVersion(module, *target);
  PtxVersion version = std::max(required, options.ptxVersion);
  if (options.ptxVersion && options.ptxVersion < required)
    return module.emitError()
               << "ptx-version " << printVersion(options.ptxVersion)
               << " is too low: the kernels need " << printVersion(required)
               << " on " << target->name,
           failure();
  llvm::LLVMContext context;
  llvm::Expected<std::unique_ptr<llvm::Module>> ir =
      emitLlvmIr(module, *target, version, context);
  if (!ir)
    return module.emitError() << llvm::toString(ir.takeError()), failure();
  auto printLlvm = [&] {
    std::string text;
    llvm::raw_string_ostream(text) << **ir;
    return text;
  };
  if (kind == EmitKind::Llvm)
    result.text = printLlvm();
  if (failed(finishStage(module, options, kLlvmStage, printLlvm)))
    return failure();
  if (kind == EmitKind::Llvm)
    return result;
  llvm::Expected<std::string> ptx = emitPtx(**ir, *target, version);
  if (!ptx)
    return module.emitError() << llvm::toString(ptx.takeError()), failure();
  result.text = std::move(*ptx);
  if (!StringRef(result.text).ends_with("\n"))
    result.text += '\n';
  if (failed(finishStage(module, options, kPtxStage, getResult)))
    return failure();
  return result;
}

namespace {
/// The options of the pipelines in `tile-opt`.
struct PipelineOptions : public PassPipelineOptions<PipelineOptions> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("A row of docs/targets.md")};
  Option<std::string> mmaPath{*this, "mma-path",
                              llvm::cl::desc("auto, native or expand"),
                              llvm::cl::init("auto")};
  Option<unsigned> numWarps{*this, "num-warps",
                            llvm::cl::desc("Warps per block; 0 chooses"),
                            llvm::cl::init(0)};
  Option<std::string> fp4Cvt{*this, "fp4-cvt",
                             llvm::cl::desc("auto, hardware or software"),
                             llvm::cl::init("auto")};

  Option<std::string> unpackAhead{*this, "unpack-ahead",
                                  llvm::cl::desc("auto, 0 or 1"),
                                  llvm::cl::init("auto")};

  Option<bool> tma{*this, "tma",
                   llvm::cl::desc("Copy by tensor maps where possible"),
                   llvm::cl::init(false)};

  Option<unsigned> numStages{*this, "num-stages",
                             llvm::cl::desc("Pipeline stages; 0 chooses"),
                             llvm::cl::init(0)};

  Option<unsigned> groupPrograms{
      *this, "group-programs",
      llvm::cl::desc("Blocks of a group along x; 0 for none"),
      llvm::cl::init(8)};

  CompileOptions get() const {
    CompileOptions options;
    options.groupPrograms = groupPrograms;
    options.numStages = numStages;
    options.tma = tma;
    options.target = target;
    options.mmaPath = mmaPath;
    options.numWarps = numWarps;
    options.fp4Cvt = fp4Cvt;
    options.unpackAhead = unpackAhead;
    return options;
  }
};
} // namespace

void tile::registerTilePipelines() {
  PassPipelineRegistration<PipelineOptions>(
      "tile-to-layouts",
      "From a tile kernel to distributed tiles: legalize multiplies, assign "
      "layouts, simplify conversions, stage operands, pipeline loops",
      [](OpPassManager &passes, const PipelineOptions &options) {
        buildPipeline(passes, options.get(), EmitKind::Mlir);
      });
  PassPipelineRegistration<PipelineOptions>(
      "tile-to-nvvm", "From a tile kernel to the llvm and nvvm dialects",
      [](OpPassManager &passes, const PipelineOptions &options) {
        buildPipeline(passes, options.get(), EmitKind::Nvvm);
      });
}
