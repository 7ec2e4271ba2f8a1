//===- LaneSimulator.cpp - Run device LLVM IR on the CPU ------------------===//

#include "LaneSimulator.h"

#include "Codes.h"
#include "Machine.h"
#include "Rewrite.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

#include <cstring>
#include <mutex>
#include <sys/mman.h>

using namespace tile;
using namespace tile::lane;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::formatv;
using llvm::StringRef;

/// More than any GPU has per block.
constexpr uint64_t sharedCapacity = 256 * 1024;
/// Poisoned memory on either side of a buffer, for accesses that no call of
/// `access` announces.
constexpr uint64_t guardBytes = 4096;
/// NaN in every floating-point format, and an unlikely integer.
constexpr uint8_t poison = 0xFF;

/// The machine whose kernel runs on this thread.
static thread_local Machine *running = nullptr;

static void callFromKernel(uint32_t site, const uint64_t *args,
                           uint64_t *results) {
  running->call(site, args, results);
}

static void accessFromKernel(uint64_t address, uint64_t size, uint32_t site) {
  running->access(address, size, site);
}

//===----------------------------------------------------------------------===//
// What the host's code generator calls for 16-bit floats
//===----------------------------------------------------------------------===//

// A 16-bit float travels in the low bits of a floating-point register, which is
// where a `float` travels too. These are exact or rounded once; a compiler's
// own library may be older than bf16.

static float passHalf(uint32_t bits) { return llvm::bit_cast<float>(bits); }
static uint32_t takeHalf(float value) {
  return llvm::bit_cast<uint32_t>(value) & 0xFFFF;
}

static float extendF16(float half) {
  return float(decode(Code::F16, takeHalf(half)));
}
static double extendF16ToDouble(float half) {
  return decode(Code::F16, takeHalf(half));
}
static float truncateToF16(float value) {
  return passHalf(encode(Code::F16, value));
}
static float truncateDoubleToF16(double value) {
  return passHalf(encode(Code::F16, value));
}
static float truncateToBF16(float value) {
  return passHalf(encode(Code::BF16, value));
}
static float truncateDoubleToBF16(double value) {
  return passHalf(encode(Code::BF16, value));
}

//===----------------------------------------------------------------------===//

class LaneSimulator::Impl {
public:
  explicit Impl(const LaneOptions &options);
  ~Impl();

  Error compile(std::unique_ptr<llvm::Module> module,
                std::unique_ptr<llvm::LLVMContext> context);
  Error launch(StringRef entry, std::array<unsigned, 3> grid,
               std::array<unsigned, 3> block, unsigned sharedBytes,
               llvm::ArrayRef<LaneArgument> arguments);

  LaneOptions options;
  char *shared = nullptr;
  std::unique_ptr<Machine> machine;
  std::unique_ptr<llvm::orc::LLJIT> jit;
  RewrittenModule info;
};

LaneSimulator::Impl::Impl(const LaneOptions &options) : options(options) {
  // Below 4 GiB, so that a shared address survives as a 32-bit integer, which
  // is what `cp.async` and `ldmatrix` take on a GPU.
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#ifdef MAP_32BIT
  flags |= MAP_32BIT;
#endif
  void *map =
      mmap(nullptr, sharedCapacity, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (map != MAP_FAILED)
    shared = static_cast<char *>(map);
  machine = std::make_unique<Machine>(options, shared, sharedCapacity);
}

LaneSimulator::Impl::~Impl() {
  if (shared)
    munmap(shared, sharedCapacity);
}

Error LaneSimulator::Impl::compile(std::unique_ptr<llvm::Module> module,
                                   std::unique_ptr<llvm::LLVMContext> context) {
  if (!shared)
    return createStringError("cannot map %llu bytes of shared memory",
                             static_cast<unsigned long long>(sharedCapacity));
  static std::once_flag initialized;
  std::call_once(initialized, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });

  // A plain CPU: the bf16 conversions of newer ones flush subnormals.
  llvm::orc::JITTargetMachineBuilder builder(
      (llvm::Triple(llvm::sys::getProcessTriple())));
  if (builder.getTargetTriple().getArch() == llvm::Triple::x86_64)
    builder.setCPU("x86-64");
  builder.setCodeGenOptLevel(llvm::CodeGenOptLevel::Less);
  auto layout = builder.getDefaultDataLayoutForTarget();
  if (!layout)
    return layout.takeError();
  Expected<RewrittenModule> rewritten =
      rewrite(*module, reinterpret_cast<uintptr_t>(shared), machine->calls,
              machine->accesses);
  if (!rewritten)
    return rewritten.takeError();
  info = std::move(*rewritten);
  module->setTargetTriple(builder.getTargetTriple());
  module->setDataLayout(*layout);
  std::string problem;
  llvm::raw_string_ostream problemStream(problem);
  if (llvm::verifyModule(*module, &problemStream))
    return createStringError("rewritten module is invalid: " + problem);

  auto created = llvm::orc::LLJITBuilder()
                     .setJITTargetMachineBuilder(builder)
                     .setDataLayout(*layout)
                     .create();
  if (!created)
    return created.takeError();
  jit = std::move(*created);
  llvm::orc::SymbolMap symbols;
  auto add = [&](StringRef name, auto *function) {
    symbols[jit->mangleAndIntern(name)] = {
        llvm::orc::ExecutorAddr::fromPtr(function),
        llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
  };
  add(callFunctionName, &callFromKernel);
  add(accessFunctionName, &accessFromKernel);
  add("__extendhfsf2", &extendF16);
  add("__extendhfdf2", &extendF16ToDouble);
  add("__gnu_h2f_ieee", &extendF16);
  add("__truncsfhf2", &truncateToF16);
  add("__gnu_f2h_ieee", &truncateToF16);
  add("__truncdfhf2", &truncateDoubleToF16);
  add("__truncsfbf2", &truncateToBF16);
  add("__truncdfbf2", &truncateDoubleToBF16);
  if (Error error = jit->getMainJITDylib().define(
          llvm::orc::absoluteSymbols(std::move(symbols))))
    return error;
  return jit->addIRModule(
      llvm::orc::ThreadSafeModule(std::move(module), std::move(context)));
}

Error LaneSimulator::Impl::launch(StringRef entry, std::array<unsigned, 3> grid,
                                  std::array<unsigned, 3> block,
                                  unsigned sharedBytes,
                                  llvm::ArrayRef<LaneArgument> arguments) {
  auto kernel = info.kernels.find(entry.str());
  if (kernel == info.kernels.end()) {
    std::string known;
    for (auto &[name, parameters] : info.kernels)
      known += (known.empty() ? "" : ", ") + name;
    return createStringError("no kernel '" + entry + "'; kernels are " + known);
  }
  const std::vector<bool> &isPointer = kernel->second;
  if (isPointer.size() != arguments.size())
    return createStringError("kernel '%s' has %zu parameters, but got %zu",
                             kernel->first.c_str(), isPointer.size(),
                             arguments.size());
  uint64_t numThreads = uint64_t(block[0]) * block[1] * block[2];
  if (numThreads == 0 || numThreads > 1024)
    return createStringError(
        formatv("a block has 1 to 1024 threads, but got {0}", numThreads)
            .str());
  uint64_t sharedSize = info.staticShared + sharedBytes;
  if (sharedSize > sharedCapacity)
    return createStringError(formatv("{0} bytes of shared memory; at most {1}",
                                     sharedSize, sharedCapacity)
                                 .str());

  auto address = jit->lookup((entryPrefix + entry).str());
  if (!address)
    return address.takeError();
  auto *function = address->toPtr<void(const uint64_t *)>();

  // Buffers are aligned to 16 bytes, which is what the ABI promises, and to no
  // more, so that code that hopes for more is found out.
  constexpr uint64_t alignment = 16, misalignment = 256;
  std::vector<uint64_t> parameters;
  std::vector<std::unique_ptr<uint8_t[]>> memory;
  std::vector<std::pair<const LaneArgument *, uint8_t *>> copies;
  machine->buffers.clear();
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    if (argument.isBuffer != isPointer[i] && argument.isBuffer)
      return createStringError("parameter %zu of kernel '%s' is a scalar, but "
                               "got buffer %s",
                               i, kernel->first.c_str(), argument.name.c_str());
    if (!argument.isBuffer) {
      parameters.push_back(argument.bits);
      continue;
    }
    uint64_t size = argument.buffer.size();
    uint64_t total = guardBytes + misalignment + size + guardBytes;
    memory.push_back(std::make_unique<uint8_t[]>(total));
    std::memset(memory.back().get(), poison, total);
    uint8_t *base = reinterpret_cast<uint8_t *>(
        llvm::alignTo(reinterpret_cast<uintptr_t>(memory.back().get()) +
                          guardBytes - alignment,
                      misalignment) +
        alignment);
    if (size)
      std::memcpy(base, argument.buffer.data(), size);
    copies.push_back({&argument, base});
    machine->buffers.push_back({reinterpret_cast<uintptr_t>(base), size,
                                argument.name, argument.writable});
    parameters.push_back(reinterpret_cast<uintptr_t>(base));
  }

  machine->grid = grid;
  machine->block = block;
  Machine *outer = running;
  running = machine.get();
  Error error = Error::success();
  bool hasFailed = false;
  for (unsigned z = 0; z < grid[2] && !hasFailed; ++z)
    for (unsigned y = 0; y < grid[1] && !hasFailed; ++y)
      for (unsigned x = 0; x < grid[0] && !hasFailed; ++x) {
        machine->blockIndex = {x, y, z};
        error = llvm::joinErrors(
            std::move(error),
            machine->runBlock(function, parameters.data(), sharedSize));
        hasFailed = bool(error);
      }
  running = outer;

  for (auto &[argument, base] : copies) {
    uint64_t size = argument->buffer.size();
    if (argument->writable && size)
      std::memcpy(argument->buffer.data(), base, size);
    for (uint64_t i = 1; i < guardBytes - misalignment && !hasFailed; ++i) {
      int64_t offset = base[-int64_t(i)] != poison    ? -int64_t(i)
                       : base[size + i - 1] != poison ? int64_t(size + i - 1)
                                                      : 0;
      if (offset == 0)
        continue;
      hasFailed = true;
      error = llvm::joinErrors(
          std::move(error),
          createStringError(formatv("memory outside {0} was written, at offset "
                                    "{1}; the buffer has {2} bytes",
                                    argument->name, offset, size)
                                .str()));
    }
  }
  return error;
}

//===----------------------------------------------------------------------===//
// LaneSimulator
//===----------------------------------------------------------------------===//

LaneSimulator::LaneSimulator(std::unique_ptr<Impl> impl)
    : impl(std::move(impl)) {}
LaneSimulator::~LaneSimulator() = default;

Expected<std::unique_ptr<LaneSimulator>>
LaneSimulator::create(const llvm::Module &module, const LaneOptions &options) {
  // Into a context of its own, which the code generator locks and destroys.
  llvm::SmallString<0> bitcode;
  llvm::raw_svector_ostream os(bitcode);
  llvm::WriteBitcodeToFile(module, os);
  auto context = std::make_unique<llvm::LLVMContext>();
  auto copy = llvm::parseBitcodeFile(
      llvm::MemoryBufferRef(bitcode, module.getModuleIdentifier()), *context);
  if (!copy)
    return copy.takeError();
  auto impl = std::make_unique<Impl>(options);
  if (Error error = impl->compile(std::move(*copy), std::move(context)))
    return std::move(error);
  return std::unique_ptr<LaneSimulator>(new LaneSimulator(std::move(impl)));
}

Expected<std::unique_ptr<LaneSimulator>>
LaneSimulator::parse(StringRef text, StringRef name,
                     const LaneOptions &options) {
  auto context = std::make_unique<llvm::LLVMContext>();
  llvm::SMDiagnostic diagnostic;
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(text, name);
  std::unique_ptr<llvm::Module> module =
      llvm::parseIR(*buffer, diagnostic, *context);
  if (!module) {
    std::string message;
    llvm::raw_string_ostream os(message);
    diagnostic.print("", os, /*ShowColors=*/false);
    return createStringError(message);
  }
  auto impl = std::make_unique<Impl>(options);
  if (Error error = impl->compile(std::move(module), std::move(context)))
    return std::move(error);
  return std::unique_ptr<LaneSimulator>(new LaneSimulator(std::move(impl)));
}

Error LaneSimulator::launch(StringRef entry, std::array<unsigned, 3> grid,
                            std::array<unsigned, 3> block, unsigned sharedBytes,
                            llvm::ArrayRef<LaneArgument> arguments) {
  return impl->launch(entry, grid, block, sharedBytes, arguments);
}

std::map<std::string, uint64_t> LaneSimulator::getCounts() const {
  std::map<std::string, uint64_t> counts;
  for (const CallSite &site : impl->machine->calls)
    if (site.count)
      counts[site.name] += site.count;
  return counts;
}
