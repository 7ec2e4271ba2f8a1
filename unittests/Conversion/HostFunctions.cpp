//===- HostFunctions.cpp - Run expanded scalar code on the host -----------===//

#include "HostFunctions.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "tile/Conversion/Passes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/TargetSelect.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace tile;
using llvm::APFloat;

double HostFunctions::approximation = 0;

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

static unsigned roundTo(const llvm::fltSemantics &semantics, double value) {
  APFloat number(value);
  bool losesInfo;
  number.convert(semantics, APFloat::rmNearestTiesToEven, &losesInfo);
  return number.bitcastToAPInt().getZExtValue();
}
static double valueOf(const llvm::fltSemantics &semantics, unsigned bits) {
  return APFloat(semantics, llvm::APInt(16, bits & 0xffff)).convertToDouble();
}

unsigned tile::roundToHalf(double value) {
  return roundTo(APFloat::IEEEhalf(), value);
}
unsigned tile::roundToBFloat(double value) {
  return roundTo(APFloat::BFloat(), value);
}
double tile::fromHalf(unsigned bits) {
  return valueOf(APFloat::IEEEhalf(), bits);
}
double tile::fromBFloat(unsigned bits) {
  return valueOf(APFloat::BFloat(), bits);
}

//===----------------------------------------------------------------------===//
// Models of instructions
//===----------------------------------------------------------------------===//

/// `exact`, off by `approximation` times `bound`, and never by more.
static float approximate(double exact, double bound) {
  auto result =
      static_cast<float>(exact * (1 + HostFunctions::approximation * bound));
  // Rounding may have left the bound; a subnormal number has no relative one.
  if (std::fabs(result - exact) > bound * std::fabs(exact) &&
      std::fabs(exact) >= 0x1p-126)
    result = std::nextafter(result, static_cast<float>(exact));
  return result;
}
static float flush(float x) {
  return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x;
}

// Errors and special values are those of the PTX ISA, "Floating Point
// Instructions", under the name of each instruction.
static float exp2Model(float x) {
  return approximate(std::exp2(double(x)), 0x1p-22);
}
static float exp2FlushModel(float x) { return flush(exp2Model(flush(x))); }
static float reciprocalFlushModel(float x) {
  return flush(approximate(1.0 / flush(x), 0x1p-23));
}
static float rsqrtModel(float x) {
  return approximate(1.0 / std::sqrt(double(x)), 0x1.125p-23);
}
static int32_t toIntegerModel(float x) {
  return std::isnan(x)   ? 0
         : x >= 0x1p31f  ? INT32_MAX
         : x <= -0x1p31f ? INT32_MIN
                         : static_cast<int32_t>(x);
}
static uint32_t toUnsignedModel(float x) {
  return !(x > 0) ? 0 : x >= 0x1p32f ? UINT32_MAX : static_cast<uint32_t>(x);
}
static uint16_t truncateToHalf(float x) { return roundToHalf(x); }
static uint16_t truncateToBFloat(float x) { return roundToBFloat(x); }
static float extendHalf(uint16_t x) { return fromHalf(x); }
static float extendBFloat(uint16_t x) { return fromBFloat(x); }

namespace {
/// Replaces instructions of the device by calls of their models.
class Models {
public:
  explicit Models(llvm::Module &module) : builder(module.getContext()) {
    llvm::SmallVector<llvm::Instruction *> instructions;
    for (llvm::Function &function : module)
      for (llvm::Instruction &instruction : llvm::instructions(function))
        instructions.push_back(&instruction);
    for (llvm::Instruction *instruction : instructions) {
      builder.SetInsertPoint(instruction);
      if (llvm::Value *value = getModel(*instruction)) {
        instruction->replaceAllUsesWith(value);
        instruction->eraseFromParent();
      }
    }
  }

private:
  template <typename ResultT, typename ArgT>
  llvm::Value *call(ResultT (*function)(ArgT), llvm::Type *result,
                    llvm::Value *argument) {
    auto *type = llvm::FunctionType::get(result, argument->getType(), false);
    llvm::Value *address = builder.CreateIntToPtr(
        builder.getInt64(reinterpret_cast<uint64_t>(function)),
        builder.getPtrTy());
    return builder.CreateCall(type, address, argument);
  }

  /// f16 and bf16 travel as i16: not every host can pass them.
  llvm::Value *truncate(llvm::Value *x, llvm::Type *type) {
    llvm::Value *bits =
        call(type->isHalfTy() ? truncateToHalf : truncateToBFloat,
             builder.getInt16Ty(), x);
    return builder.CreateBitCast(bits, type);
  }

  llvm::Value *getModel(llvm::Instruction &instruction) {
    llvm::Type *type = instruction.getType();
    llvm::Type *f32 = builder.getFloatTy(), *i32 = builder.getInt32Ty();
    const bool isNarrow = type->isHalfTy() || type->isBFloatTy();
    llvm::Value *x =
        instruction.getNumOperands() ? instruction.getOperand(0) : nullptr;

    if (llvm::isa<llvm::FPTruncInst>(instruction) && isNarrow)
      return truncate(x, type);
    // As the back end does below sm_90: by way of f32.
    if (llvm::isa<llvm::SIToFPInst>(instruction) && isNarrow)
      return truncate(builder.CreateSIToFP(x, f32), type);
    if (llvm::isa<llvm::UIToFPInst>(instruction) && isNarrow)
      return truncate(builder.CreateUIToFP(x, f32), type);
    if (llvm::isa<llvm::FPExtInst>(instruction) && !x->getType()->isFloatTy())
      return call(x->getType()->isHalfTy() ? extendHalf : extendBFloat, f32,
                  builder.CreateBitCast(x, builder.getInt16Ty()));

    auto *intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!intrinsic)
      return nullptr;
    switch (intrinsic->getIntrinsicID()) {
    case llvm::Intrinsic::exp2:
      return call(exp2Model, f32, x);
    case llvm::Intrinsic::nvvm_ex2_approx_ftz:
      return call(exp2FlushModel, f32, x);
    case llvm::Intrinsic::nvvm_rcp_approx_ftz_f:
      return call(reciprocalFlushModel, f32, x);
    case llvm::Intrinsic::nvvm_rsqrt_approx_f:
      return call(rsqrtModel, f32, x);
    case llvm::Intrinsic::nvvm_f2i_rz:
      return call(toIntegerModel, i32, x);
    case llvm::Intrinsic::nvvm_f2ui_rz:
      return call(toUnsignedModel, i32, x);
    default:
      return nullptr;
    }
  }

  llvm::IRBuilder<> builder;
};
} // namespace

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

static std::unique_ptr<llvm::Module> translate(llvm::StringRef source,
                                               llvm::LLVMContext &context) {
  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::math::MathDialect>();
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  mlir::registerNVVMDialectTranslation(registry);
  mlir::MLIRContext mlirContext(registry);
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(source.str(), &mlirContext);
  if (!module)
    return nullptr;
  mlir::PassManager passes(&mlirContext);
  passes.addPass(createTileExpandMath());
  passes.addPass(mlir::createSCFToControlFlowPass());
  passes.addPass(mlir::createArithToLLVMConversionPass());
  passes.addPass(mlir::createConvertControlFlowToLLVMPass());
  passes.addPass(mlir::createConvertFuncToLLVMPass());
  passes.addPass(mlir::createReconcileUnrealizedCastsPass());
  if (failed(passes.run(*module)))
    return nullptr;
  return mlir::translateModuleToLLVMIR(*module, context);
}

static llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>>
compile(std::unique_ptr<llvm::Module> module,
        std::unique_ptr<llvm::LLVMContext> context) {
  auto machine = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!machine)
    return machine.takeError();
  auto jit = llvm::orc::LLJITBuilder()
                 .setJITTargetMachineBuilder(std::move(*machine))
                 .create();
  if (!jit)
    return jit.takeError();
  module->setDataLayout((*jit)->getDataLayout());
  module->setTargetTriple((*jit)->getTargetTriple());
  if (llvm::Error error = (*jit)->addIRModule(
          llvm::orc::ThreadSafeModule(std::move(module), std::move(context))))
    return error;
  return jit;
}

HostFunctions::HostFunctions(llvm::StringRef source) { initialize(source); }

void HostFunctions::initialize(llvm::StringRef source) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module = translate(source, *context);
  ASSERT_TRUE(module) << "cannot lower\n" << source.str();
  Models models(*module);
  auto compiled = compile(std::move(module), std::move(context));
  ASSERT_TRUE(bool(compiled)) << llvm::toString(compiled.takeError());
  jit = std::move(*compiled);
}

HostFunctions::~HostFunctions() = default;

void *HostFunctions::lookup(llvm::StringRef name) const {
  if (!jit)
    return nullptr;
  auto address = jit->lookup(name);
  if (address)
    return address->toPtr<void *>();
  ADD_FAILURE() << llvm::toString(address.takeError());
  return nullptr;
}
