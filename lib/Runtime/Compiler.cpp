//===- Compiler.cpp - From a kernel's text to something to launch ---------===//

#include "tile/Runtime/Compiler.h"

#include "CompilerImpl.h"
#include "Frontend.h"
#include "KernelImpl.h"
#include "tile/Target/TargetInfo.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"

using namespace tile::runtime;

const char *tile::runtime::getVersion() { return TILE_VERSION; }

std::vector<std::string> tile::runtime::getTargets() {
  std::vector<std::string> names;
  for (const TargetInfo &target : tile::getTargets())
    names.push_back(target.name.str());
  return names;
}

Error tile::runtime::makeCancelled() {
  return Error(ErrorCode::Cancelled, "the compilation was cancelled");
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// The hash of everything that a kernel depends on, and of what later steps
/// take from its options.
static CacheKey getKey(std::string_view text, const std::string &name,
                       const CompileOptions &options) {
  CacheKeyBuilder key;
  key.add(getBuildFingerprint()).add("kernel").add(text).add(name);
  key.add(options.target).add(options.entry);
  key.add(options.constants.size());
  for (const auto &[constant, value] : options.constants)
    key.add(constant).add(value);
  key.add(options.bindings.size());
  for (const auto &[argument, value] : options.bindings)
    key.add(argument).add(static_cast<uint64_t>(value));
  key.add(options.shapes.size());
  for (const auto &[argument, shape] : options.shapes) {
    key.add(argument).add(shape.size());
    for (int64_t extent : shape)
      key.add(static_cast<uint64_t>(extent));
  }
  key.add(options.specialize);
  key.add(options.numWarps).add(options.numStages).add(options.groupPrograms);
  key.add(options.mmaPath).add(options.fp4Cvt).add(options.unpackAhead);
  key.add(options.tma).add(options.ptxVersion).add(options.lineInfo);
  key.add(static_cast<uint64_t>(options.assembler)).add(options.ptxas);
  return key.get();
}

//===----------------------------------------------------------------------===//
// CompilerImpl
//===----------------------------------------------------------------------===//

/// Makes the statics of LLVM that launches and the cache use, of errors and
/// files, before any of them does.
static void makeStatics() {
  ForkShield shield;
  (void)llvm::inconvertibleErrorCode();
  (void)llvm::sys::Process::getPageSizeEstimate();
}

CompilerImpl::CompilerImpl(const CacheOptions &options)
    : maxKernels(options.maxKernels),
      store(std::make_shared<CodeStore>(options)) {
  makeStatics();
}

std::shared_ptr<CompilerImpl::Entry>
CompilerImpl::getEntry(const CacheKey &key) {
  std::lock_guard lock(mutex);
  std::shared_ptr<Entry> &entry = entries[key];
  if (entry) {
    ages.splice(ages.begin(), ages, entry->age);
    return entry;
  }
  entry = std::make_shared<Entry>();
  ages.push_front(key);
  entry->age = ages.begin();
  std::shared_ptr<Entry> result = entry;
  // One that is being made may go too: those who wait for it hold it.
  while (entries.size() > std::max<size_t>(maxKernels, 1)) {
    entries.erase(ages.back());
    ages.pop_back();
  }
  return result;
}

void CompilerImpl::forget(const CacheKey &key,
                          const std::shared_ptr<Entry> &entry) {
  std::lock_guard lock(mutex);
  auto it = entries.find(key);
  if (it == entries.end() || it->second != entry)
    return;
  ages.erase(entry->age);
  entries.erase(it);
}

void CompilerImpl::clearMemory() {
  std::lock_guard lock(mutex);
  entries.clear();
  ages.clear();
}

CacheStatistics CompilerImpl::getStatistics() const {
  CacheStatistics statistics;
  statistics.memoryHits = store->memoryHits;
  statistics.diskHits = store->diskHits;
  statistics.compilations = store->compilations;
  statistics.rejected = store->disk.getRejected();
  statistics.writeFailures = store->disk.getWriteFailures();
  std::lock_guard lock(mutex);
  statistics.kernels = entries.size();
  return statistics;
}

void CodeStore::write(const CacheKey &key, llvm::StringRef contents,
                      std::vector<Remark> &remarks) {
  Status status = disk.write(key, contents);
  if (status)
    return;
  Remark remark;
  remark.kind = Remark::Kind::Missed;
  remark.name = remark.category = "cache";
  remark.fields.push_back({"Reason", status.error().getMessage()});
  remarks.push_back(std::move(remark));
}

Expected<std::shared_ptr<KernelImpl>>
CompilerImpl::make(const CacheKey &key, std::string_view text,
                   const CompileOptions &options, const std::string &name) {
  // Who watches the stages wants to see them all.
  if (!options.onStage)
    if (std::optional<std::string> entry = store->disk.read(key))
      if (auto found = deserializeKernel(*entry)) {
        ++store->diskHits;
        return std::make_shared<KernelImpl>(store, key, options,
                                            std::move(found->first),
                                            std::move(found->second));
      }
  auto description = describeKernel(text, name, options);
  if (!description)
    return std::move(description).error();
  auto code = compileKernel(*description, /*divisors=*/{}, options);
  if (!code)
    return std::move(code).error();
  ++store->compilations;
  store->write(key, serialize(*description, **code), (*code)->remarks);
  return std::make_shared<KernelImpl>(
      store, key, options, std::move(*description), std::move(*code));
}

/// Fills the target in, where the options leave it to the device.
static Status resolveTarget(CompileOptions &options) {
  if (options.target.empty() && options.device) {
    options.target = options.device->getTarget();
    // The reference runs no code; what is compiled beside it runs everywhere.
    if (options.device->getKind() == Device::Kind::Reference)
      options.target = tile::getTargets().front().name.str();
  }
  if (options.target.empty())
    return Error(ErrorCode::InvalidArgument,
                 "expects a target, or a device that has one; known targets "
                 "are " +
                     tile::listTargets());
  if (auto target = tile::findTarget(options.target); !target)
    return Error(ErrorCode::NotFound, llvm::toString(target.takeError()));
  return {};
}

Expected<std::shared_ptr<KernelImpl>>
CompilerImpl::compile(std::string_view text, CompileOptions options,
                      const std::string &name) {
  if (Status status = resolveTarget(options); !status)
    return std::move(status).error();
  // A device is a handle of the caller's; its target is all that counts.
  options.device.reset();
  const CacheKey key = getKey(text, name, options);
  if (maxKernels == 0 || options.onStage)
    return make(key, text, options, name);

  std::shared_ptr<Entry> entry = getEntry(key);
  GateScope scope(entry->gate, options.cancel);
  if (!scope)
    return makeCancelled();
  if (entry->kernel) {
    ++store->memoryHits;
    return entry->kernel;
  }
  Expected<std::shared_ptr<KernelImpl>> kernel = make(key, text, options, name);
  if (!kernel) {
    forget(key, entry);
    return kernel;
  }
  ForkShield shield; // half a pointer would be of no use
  entry->kernel = *kernel;
  return kernel;
}

//===----------------------------------------------------------------------===//
// Compiler
//===----------------------------------------------------------------------===//

Compiler::Compiler(const CacheOptions &options)
    : impl(std::make_shared<CompilerImpl>(options)) {}

Compiler &Compiler::getDefault() {
  ForkShield shield;
  static Compiler compiler;
  return compiler;
}

Expected<Kernel> Compiler::compile(std::string_view text,
                                   const CompileOptions &options,
                                   const std::string &name) const {
  auto kernel = impl->compile(text, options, name);
  if (!kernel)
    return std::move(kernel).error();
  return Kernel(std::move(*kernel));
}

Expected<Kernel> Compiler::compileFile(const std::string &path,
                                       const CompileOptions &options) const {
  if (llvm::sys::fs::is_directory(path))
    return Error(ErrorCode::Io, "cannot read '" + path + "': Is a directory");
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (std::error_code error = file.getError())
    return Error(error == std::errc::no_such_file_or_directory
                     ? ErrorCode::NotFound
                     : ErrorCode::Io,
                 "cannot read '" + path + "': " + error.message());
  llvm::StringRef text = (*file)->getBuffer();
  return compile(std::string_view(text.data(), text.size()), options, path);
}

std::string Compiler::getCacheDirectory() const {
  return impl->getStore().disk.getDirectory();
}
CacheStatistics Compiler::getCacheStatistics() const {
  return impl->getStatistics();
}
void Compiler::clearMemory() const { impl->clearMemory(); }
