//===- Rewrite.cpp - From nvptx64 IR to host IR ---------------------------===//

#include "Rewrite.h"

#include "Codes.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ModuleSlotTracker.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile;
using namespace tile::lane;
using llvm::createStringError;
using llvm::dyn_cast;
using llvm::Error;
using llvm::isa;
using llvm::StringRef;

/// `.shared` of PTX.
constexpr unsigned sharedSpace = 3;

namespace {
/// Rewrites one module.
class Rewriter {
public:
  Rewriter(llvm::Module &module, uint64_t sharedBase,
           std::vector<CallSite> &calls, std::vector<AccessSite> &accesses)
      : module(module), context(module.getContext()), sharedBase(sharedBase),
        calls(calls), accesses(accesses) {}

  llvm::Expected<RewrittenModule> run();

private:
  Error placeSharedMemory();
  Error rewriteFunction(llvm::Function &function);
  Error rewriteCall(llvm::CallInst &call);
  void replaceCall(llvm::CallInst &call, CallSite site);
  void announce(llvm::Instruction &instruction, llvm::Value *pointer,
                llvm::Value *size, uint64_t alignment, bool isStore,
                bool isAtomic);
  void announceAccess(llvm::Instruction &instruction);
  Error addEntry(llvm::Function &kernel);
  /// Prints what `describe` may be asked for, before the function changes:
  /// numbering its values again for each instruction would be quadratic.
  void describeAll(const llvm::Function &function);
  std::string describe(const llvm::Instruction &instruction) const;
  /// `value` as whole 64-bit words.
  void toWords(llvm::IRBuilder<> &builder, llvm::Value *value,
               llvm::SmallVectorImpl<llvm::Value *> &words);
  llvm::Value *fromWords(llvm::IRBuilder<> &builder, llvm::Type *type,
                         llvm::Value *memory, unsigned &next);

  llvm::Module &module;
  llvm::LLVMContext &context;
  uint64_t sharedBase;
  std::vector<CallSite> &calls;
  std::vector<AccessSite> &accesses;
  llvm::DenseMap<const llvm::Instruction *, std::string> descriptions;
  RewrittenModule result;
  llvm::AllocaInst *argMemory = nullptr;
  llvm::AllocaInst *resultMemory = nullptr;
  unsigned maxArgs = 1, maxResults = 1;
};
} // namespace

void Rewriter::describeAll(const llvm::Function &function) {
  descriptions.clear();
  llvm::ModuleSlotTracker slots(&module);
  slots.incorporateFunction(function);
  for (const llvm::BasicBlock &block : function)
    for (const llvm::Instruction &instruction : block) {
      if (!instruction.mayReadOrWriteMemory() &&
          !isa<llvm::CallInst>(instruction))
        continue;
      std::string text, line;
      llvm::raw_string_ostream os(text), lineStream(line);
      os << function.getName();
      if (const llvm::DebugLoc &location = instruction.getDebugLoc())
        os << ":" << location.getLine() << ":" << location.getCol();
      instruction.print(lineStream, slots);
      os << ": " << StringRef(line).trim().take_front(160);
      descriptions[&instruction] = std::move(text);
    }
}

std::string Rewriter::describe(const llvm::Instruction &instruction) const {
  auto it = descriptions.find(&instruction);
  return it == descriptions.end() ? "an instruction" : it->second;
}

//===----------------------------------------------------------------------===//
// Values as words
//===----------------------------------------------------------------------===//

void Rewriter::toWords(llvm::IRBuilder<> &builder, llvm::Value *value,
                       llvm::SmallVectorImpl<llvm::Value *> &words) {
  llvm::Type *i64 = builder.getInt64Ty();
  llvm::Type *type = value->getType();
  if (type->isPointerTy()) {
    words.push_back(builder.CreatePtrToInt(value, i64));
    return;
  }
  unsigned bits = type->getPrimitiveSizeInBits().getFixedValue();
  unsigned count = (bits + 63) / 64;
  value = builder.CreateBitCast(value, builder.getIntNTy(bits));
  value = builder.CreateZExt(value, builder.getIntNTy(64 * count));
  for (unsigned i = 0; i < count; ++i)
    words.push_back(
        builder.CreateTrunc(builder.CreateLShr(value, 64 * i), i64));
}

llvm::Value *Rewriter::fromWords(llvm::IRBuilder<> &builder, llvm::Type *type,
                                 llvm::Value *memory, unsigned &next) {
  llvm::Type *i64 = builder.getInt64Ty();
  auto load = [&] {
    return builder.CreateLoad(i64,
                              builder.CreateConstGEP1_64(i64, memory, next++));
  };
  if (auto *structType = dyn_cast<llvm::StructType>(type)) {
    llvm::Value *value = llvm::PoisonValue::get(type);
    for (unsigned i = 0; i < structType->getNumElements(); ++i)
      value = builder.CreateInsertValue(
          value,
          fromWords(builder, structType->getElementType(i), memory, next), i);
    return value;
  }
  if (type->isPointerTy())
    return builder.CreateIntToPtr(load(), type);
  unsigned bits = type->getPrimitiveSizeInBits().getFixedValue();
  unsigned count = (bits + 63) / 64;
  llvm::Type *wide = builder.getIntNTy(64 * count);
  llvm::Value *value = llvm::ConstantInt::get(wide, 0);
  for (unsigned i = 0; i < count; ++i)
    value = builder.CreateOr(
        value, builder.CreateShl(builder.CreateZExt(load(), wide), 64 * i));
  return builder.CreateBitCast(
      builder.CreateTrunc(value, builder.getIntNTy(bits)), type);
}

/// How many words a value of `type` takes, or nullopt where it cannot be
/// passed.
static std::optional<unsigned> countWords(llvm::Type *type) {
  if (type->isVoidTy())
    return 0;
  if (type->isPointerTy())
    return 1;
  if (auto *structType = dyn_cast<llvm::StructType>(type)) {
    unsigned total = 0;
    for (llvm::Type *element : structType->elements()) {
      std::optional<unsigned> count = countWords(element);
      if (!count)
        return std::nullopt;
      total += *count;
    }
    return total;
  }
  llvm::TypeSize bits = type->getPrimitiveSizeInBits();
  if (bits.isScalable() || bits.isZero())
    return std::nullopt;
  return (bits.getFixedValue() + 63) / 64;
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

Error Rewriter::placeSharedMemory() {
  // Variables with a size come first; the dynamic arrays, which have none, all
  // stand behind them, as in PTX.
  constexpr uint64_t dynamicAlignment = 1024;
  std::vector<std::pair<llvm::GlobalVariable *, uint64_t>> places;
  std::vector<llvm::GlobalVariable *> dynamic;
  uint64_t end = 0;
  for (llvm::GlobalVariable &global : module.globals()) {
    if (global.getAddressSpace() != sharedSpace)
      continue;
    if (global.isDeclaration()) {
      dynamic.push_back(&global);
      continue;
    }
    if (!isa<llvm::UndefValue>(global.getInitializer()))
      return createStringError("shared variable '" + global.getName() +
                               "' has an initial value");
    const llvm::DataLayout &layout = module.getDataLayout();
    uint64_t alignment = std::max<uint64_t>(
        global.getAlign().valueOrOne().value(),
        layout.getABITypeAlign(global.getValueType()).value());
    end = llvm::alignTo(end, alignment);
    places.push_back({&global, end});
    end += layout.getTypeAllocSize(global.getValueType());
  }
  if (end)
    end = llvm::alignTo(end, dynamicAlignment);
  for (llvm::GlobalVariable *global : dynamic)
    places.push_back({global, end});
  result.staticShared = end;
  for (auto [global, offset] : places) {
    llvm::Constant *address = llvm::ConstantExpr::getIntToPtr(
        llvm::ConstantInt::get(llvm::Type::getInt64Ty(context),
                               sharedBase + offset),
        global->getType());
    global->replaceAllUsesWith(address);
    global->eraseFromParent();
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

void Rewriter::announce(llvm::Instruction &instruction, llvm::Value *pointer,
                        llvm::Value *size, uint64_t alignment, bool isStore,
                        bool isAtomic) {
  // Memory of the thread itself and tables of constants are the host's affair.
  const llvm::Value *object = llvm::getUnderlyingObject(pointer, 0);
  if (isa<llvm::AllocaInst>(object))
    return;
  if (auto *global = dyn_cast<llvm::GlobalVariable>(object))
    if (global->getAddressSpace() != sharedSpace)
      return;
  if (auto *argument = dyn_cast<llvm::Argument>(object))
    if (argument->hasByValAttr())
      return;
  AccessSite site;
  site.where = describe(instruction);
  site.isStore = isStore;
  site.isAtomic = isAtomic;
  site.alignment = alignment;
  llvm::IRBuilder<> builder(&instruction);
  llvm::FunctionCallee function = module.getOrInsertFunction(
      accessFunctionName, builder.getVoidTy(), builder.getInt64Ty(),
      builder.getInt64Ty(), builder.getInt32Ty());
  builder.CreateCall(function,
                     {builder.CreatePtrToInt(pointer, builder.getInt64Ty()),
                      builder.CreateZExtOrTrunc(size, builder.getInt64Ty()),
                      builder.getInt32(accesses.size())});
  accesses.push_back(std::move(site));
}

void Rewriter::announceAccess(llvm::Instruction &instruction) {
  const llvm::DataLayout &layout = module.getDataLayout();
  auto getSize = [&](llvm::Type *type) {
    return llvm::ConstantInt::get(
        llvm::Type::getInt64Ty(context),
        layout.getTypeStoreSize(type).getFixedValue());
  };
  if (auto *load = dyn_cast<llvm::LoadInst>(&instruction)) {
    announce(instruction, load->getPointerOperand(), getSize(load->getType()),
             load->getAlign().value(), false, load->isAtomic());
  } else if (auto *store = dyn_cast<llvm::StoreInst>(&instruction)) {
    announce(instruction, store->getPointerOperand(),
             getSize(store->getValueOperand()->getType()),
             store->getAlign().value(), true, store->isAtomic());
  } else if (auto *rmw = dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
    announce(instruction, rmw->getPointerOperand(), getSize(rmw->getType()),
             rmw->getAlign().value(), true, true);
  } else if (auto *exchange = dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
    announce(instruction, exchange->getPointerOperand(),
             getSize(exchange->getNewValOperand()->getType()),
             exchange->getAlign().value(), true, true);
  } else if (auto *memory = dyn_cast<llvm::MemIntrinsic>(&instruction)) {
    announce(instruction, memory->getRawDest(), memory->getLength(),
             memory->getDestAlign().valueOrOne().value(), true, false);
    if (auto *transfer = dyn_cast<llvm::MemTransferInst>(memory))
      announce(instruction, transfer->getRawSource(), transfer->getLength(),
               transfer->getSourceAlign().valueOrOne().value(), false, false);
  }
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// `llvm.fma` of 16-bit floats, element by element over packed words.
static Operation getFusedMultiplyAdd(Code code, unsigned count) {
  Operation operation;
  operation.laneFunction = [=](Machine &, Lane &, const uint64_t *args,
                               uint64_t *results) {
    unsigned words = (count + 3) / 4;
    std::fill_n(results, words, 0);
    for (unsigned i = 0; i < count; ++i) {
      unsigned word = i / 4, shift = 16 * (i % 4);
      auto get = [&](unsigned operand) -> uint32_t {
        return args[operand * words + word] >> shift & 0xFFFF;
      };
      results[word] |= uint64_t(fusedMultiplyAdd(code, get(0), get(1), get(2)))
                       << shift;
    }
    return Error::success();
  };
  return operation;
}

void Rewriter::replaceCall(llvm::CallInst &call, CallSite site) {
  site.where = describe(call);
  llvm::IRBuilder<> builder(&call);
  llvm::Type *i64 = builder.getInt64Ty();
  llvm::SmallVector<llvm::Value *, 16> words;
  for (llvm::Value *operand : call.args())
    toWords(builder, operand, words);
  for (auto [i, word] : llvm::enumerate(words))
    builder.CreateStore(word, builder.CreateConstGEP1_64(i64, argMemory, i));
  maxArgs = std::max<unsigned>(maxArgs, words.size());
  maxResults = std::max(maxResults, *countWords(call.getType()));
  llvm::Type *pointer = builder.getPtrTy();
  llvm::FunctionCallee function =
      module.getOrInsertFunction(callFunctionName, builder.getVoidTy(),
                                 builder.getInt32Ty(), pointer, pointer);
  builder.CreateCall(function,
                     {builder.getInt32(calls.size()), argMemory, resultMemory});
  calls.push_back(std::move(site));
  if (!call.getType()->isVoidTy()) {
    unsigned next = 0;
    llvm::Value *value = fromWords(builder, call.getType(), resultMemory, next);
    call.replaceAllUsesWith(value);
  }
  call.eraseFromParent();
}

Error Rewriter::rewriteCall(llvm::CallInst &call) {
  if (auto *assembly = dyn_cast<llvm::InlineAsm>(call.getCalledOperand())) {
    CallSite site;
    site.name = assembly->getAsmString();
    std::optional<Operation> operation = findAsyncCopyAssembly(site.name);
    if (!operation)
      operation = findPureAssembly(site.name);
    if (operation) {
      site.operation = std::move(*operation);
      replaceCall(call, std::move(site));
      return Error::success();
    }
    return createStringError("inline assembly cannot be simulated: \"" +
                             site.name + "\"\n  in " + describe(call));
  }
  llvm::Function *callee = call.getCalledFunction();
  if (!callee)
    return createStringError("indirect call cannot be simulated\n  in " +
                             describe(call));
  call.setCallingConv(llvm::CallingConv::C);
  if (!callee->isDeclaration())
    return Error::success();
  StringRef name = callee->getName();
  if (name == callFunctionName || name == accessFunctionName)
    return Error::success();

  CallSite site;
  site.name = name.str();
  llvm::Type *element = call.getType()->getScalarType();
  if (callee->getIntrinsicID() == llvm::Intrinsic::fma &&
      (element->isHalfTy() || element->isBFloatTy())) {
    unsigned count = 1;
    if (auto *vector = dyn_cast<llvm::FixedVectorType>(call.getType()))
      count = vector->getNumElements();
    site.operation = getFusedMultiplyAdd(
        element->isHalfTy() ? Code::F16 : Code::BF16, count);
    replaceCall(call, std::move(site));
    return Error::success();
  }
  bool isDevice = name.starts_with("llvm.nvvm.") || name == "llvm.trap" ||
                  name == "llvm.ubsantrap" || name == "llvm.debugtrap";
  if (!isDevice) {
    if (callee->isIntrinsic())
      return Error::success();
    return createStringError("function '" + name +
                             "' is not defined in the module\n  in " +
                             describe(call));
  }
  std::optional<Operation> operation = findOperation(name);
  bool isPassable = countWords(call.getType()).has_value();
  for (llvm::Value *operand : call.args())
    isPassable &= !operand->getType()->isMetadataTy() &&
                  countWords(operand->getType()).has_value();
  if (!operation || !isPassable)
    return createStringError("intrinsic '" + name +
                             "' cannot be simulated\n  in " + describe(call));
  site.operation = std::move(*operation);
  replaceCall(call, std::move(site));
  return Error::success();
}

Error Rewriter::rewriteFunction(llvm::Function &function) {
  llvm::SmallVector<llvm::Instruction *> work;
  for (llvm::BasicBlock &block : function)
    for (llvm::Instruction &instruction : block)
      work.push_back(&instruction);
  describeAll(function);
  llvm::IRBuilder<> builder(&*function.getEntryBlock().begin());
  maxArgs = maxResults = 1;
  argMemory = builder.CreateAlloca(builder.getInt64Ty());
  resultMemory = builder.CreateAlloca(builder.getInt64Ty());
  for (llvm::Instruction *instruction : work) {
    if (auto *local = dyn_cast<llvm::AllocaInst>(instruction))
      if (local->getAddressSpace() != 0)
        return createStringError("local memory outside the generic address "
                                 "space cannot be simulated\n  in " +
                                 describe(*instruction));
    announceAccess(*instruction);
    // Only calls may go away, and each only in its own turn.
    if (auto *call = dyn_cast<llvm::CallInst>(instruction))
      if (Error error = rewriteCall(*call))
        return error;
  }
  argMemory->setOperand(0, builder.getInt32(maxArgs));
  resultMemory->setOperand(0, builder.getInt32(maxResults));
  return Error::success();
}

/// Adds `void entryPrefix + NAME(const uint64_t *)`, which takes the parameters
/// out of memory.
Error Rewriter::addEntry(llvm::Function &kernel) {
  llvm::IRBuilder<> builder(context);
  auto *type =
      llvm::FunctionType::get(builder.getVoidTy(), {builder.getPtrTy()}, false);
  auto *entry = llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                                       entryPrefix + kernel.getName(), module);
  builder.SetInsertPoint(llvm::BasicBlock::Create(context, "", entry));
  std::vector<bool> isPointer;
  llvm::SmallVector<llvm::Value *> arguments;
  unsigned next = 0;
  for (llvm::Argument &argument : kernel.args()) {
    if (argument.hasByValAttr() || countWords(argument.getType()) != 1)
      return createStringError("parameter " + llvm::Twine(argument.getArgNo()) +
                               " of kernel '" + kernel.getName() +
                               "' is neither a scalar nor a pointer");
    isPointer.push_back(argument.getType()->isPointerTy());
    arguments.push_back(
        fromWords(builder, argument.getType(), entry->getArg(0), next));
  }
  builder.CreateCall(&kernel, arguments);
  builder.CreateRetVoid();
  result.kernels[kernel.getName().str()] = std::move(isPointer);
  return Error::success();
}

llvm::Expected<RewrittenModule> Rewriter::run() {
  // `// tile.launch` lines are comments to ptxas, not to the host's assembler.
  module.setModuleInlineAsm("");
  std::vector<llvm::Function *> functions, kernels;
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      functions.push_back(&function);
  for (llvm::Function *function : functions) {
    if (Error error = rewriteFunction(*function))
      return std::move(error);
    bool isKernel =
        function->getCallingConv() == llvm::CallingConv::PTX_Kernel ||
        function->hasFnAttribute("nvvm.kernel");
    if (isKernel)
      kernels.push_back(function);
    function->setCallingConv(llvm::CallingConv::C);
    function->removeFnAttr("target-cpu");
    function->removeFnAttr("target-features");
    function->addFnAttr(llvm::Attribute::NoUnwind);
    // What was pure as an intrinsic is now a call that may not return.
    function->removeFnAttr(llvm::Attribute::Memory);
    function->removeFnAttr(llvm::Attribute::WillReturn);
  }
  for (llvm::Function *kernel : kernels)
    if (Error error = addEntry(*kernel))
      return std::move(error);
  // Only now, so that messages show names instead of addresses.
  if (Error error = placeSharedMemory())
    return std::move(error);
  llvm::StripDebugInfo(module);
  return std::move(result);
}

llvm::Expected<RewrittenModule>
lane::rewrite(llvm::Module &module, uint64_t sharedBase,
              std::vector<CallSite> &calls, std::vector<AccessSite> &accesses) {
  return Rewriter(module, sharedBase, calls, accesses).run();
}
