//===- CompiledCode.cpp - What one compilation leaves ---------------------===//

#include "CompiledCode.h"

#include "tile/Launch/TensorMaps.h"
#include "llvm/Support/Endian.h"

#include <climits>
#include <type_traits>

using namespace llvm;
using namespace tile;
using namespace tile::runtime;

//===----------------------------------------------------------------------===//
// What devices attach
//===----------------------------------------------------------------------===//

runtime::Expected<std::shared_ptr<const CompiledCode::Assembled>>
CompiledCode::getAssembled(
    const std::function<runtime::Expected<Assembled>()> &make) const {
  using Result = runtime::Expected<std::shared_ptr<const Assembled>>;
  return assembled.get([&]() -> Result {
    runtime::Expected<Assembled> made = make();
    if (!made)
      return std::move(made).error();
    return std::make_shared<const Assembled>(*std::move(made));
  });
}

runtime::Expected<std::shared_ptr<void>> CompiledCode::getLoaded(
    const void *device,
    const std::function<runtime::Expected<std::shared_ptr<void>>()> &load)
    const {
  MadeOnce<std::shared_ptr<void>> *slot;
  {
    std::lock_guard lock(loadMutex);
    slot = &loaded[device]; // stays where it is when others are inserted
  }
  return slot->get(load);
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

// Each struct names its fields once, for the writer and the reader. JSON would
// not do: a file's name need not be UTF-8, and LLVM's parser recurses as deeply
// as its input is nested.

template <typename Archive>
static void visit(Archive &archive, SourceLocation &location) {
  archive(location.file);
  archive(location.line);
  archive(location.column);
}

template <typename Archive>
static void visit(Archive &archive, Remark::Field &field) {
  archive(field.key);
  archive(field.value);
}

template <typename Archive>
static void visit(Archive &archive, Remark &remark) {
  archive.enumerator(remark.kind, Remark::Kind::Analysis);
  archive(remark.name);
  archive(remark.category);
  archive(remark.function);
  archive(remark.location);
  archive(remark.fields);
}

template <typename Archive>
static void visit(Archive &archive, Multiply &multiply) {
  archive(multiply.isNative);
  archive(multiply.atom);
  archive(multiply.reason);
  archive(multiply.location);
}

template <typename Archive>
static void visit(Archive &archive, TensorMapParameter &map) {
  archive(map.parameter);
  archive(map.argument);
  archive(map.dims);
  archive(map.box);
  archive(map.swizzle);
  archive(map.type);
  archive(map.fill);
}

template <typename Archive>
static void visit(Archive &archive, CompiledCode &code) {
  archive(code.target);
  archive(code.entry);
  archive(code.ptx);
  archive(code.blockThreads);
  archive(code.sharedBytes);
  archive(code.tensorMaps);
  archive(code.remarks);
  archive(code.multiplies);
}

template <typename Archive>
static void visit(Archive &archive, Resources &resources) {
  archive(resources.registers);
  archive(resources.spillStoreBytes);
  archive(resources.spillLoadBytes);
  archive(resources.stackBytes);
  archive(resources.staticSharedBytes);
  archive(resources.dynamicSharedBytes);
  archive(resources.threads);
}

template <typename Archive>
static void visit(Archive &archive, CompiledCode::Assembled &assembled) {
  archive(assembled.cubin);
  archive(assembled.resources);
}

template <typename Archive>
static void visit(Archive &archive, Parameter &parameter) {
  archive(parameter.name);
  archive(parameter.mlirType);
  archive(parameter.isArray);
  archive.enumerator(parameter.type, ElementType::F4E2M1FNx2);
  archive(parameter.shape);
  archive(parameter.strides);
  archive(parameter.shapeDivisors);
  archive(parameter.strideDivisors);
  archive(parameter.extents);
  archive(parameter.isRead);
  archive(parameter.isWritten);
}

template <typename Archive>
static void visit(Archive &archive, KernelParameter &parameter) {
  archive.enumerator(parameter.kind, KernelParameter::Kind::Scalar);
  archive(parameter.argument);
  archive(parameter.dim);
  archive(parameter.bytes);
}

template <typename Archive>
static void visit(Archive &archive, KernelDescription &description) {
  archive(description.name);
  archive(description.entry);
  archive(description.target);
  archive(description.parameters);
  archive(description.abi);
  archive(description.module);
}

//===----------------------------------------------------------------------===//
// Writing and reading
//===----------------------------------------------------------------------===//

/// Raised when a field is added, removed or given another meaning.
static constexpr uint64_t kFormat = 2;

namespace {

/// What a text holds; part of its first bytes.
enum class Content : uint8_t { Code = 1, Assembled = 2, Kernel = 3 };

/// Appends fields to a text: numbers as eight bytes, the lowest first; texts
/// and lists behind their lengths.
class Writer {
public:
  explicit Writer(Content content) { number(kFormat << 8 | uint64_t(content)); }

  void number(uint64_t value) {
    char bytes[8];
    support::endian::write64le(bytes, value);
    text.append(bytes, sizeof(bytes));
  }
  void operator()(bool &value) { number(value); }
  void operator()(unsigned &value) { number(value); }
  void operator()(int64_t &value) { number(value); }
  template <typename Enum>
  void enumerator(Enum &value, Enum) {
    number(static_cast<uint64_t>(value));
  }
  void operator()(std::string &value) {
    number(value.size());
    text += value;
  }
  template <typename T>
  void operator()(std::vector<T> &list) {
    number(list.size());
    for (T &element : list)
      (*this)(element);
  }
  template <typename T>
  void operator()(T &value) {
    visit(*this, value);
  }

  /// The same for what must not change; visiting does not change it.
  template <typename T>
  Writer &add(const T &value) {
    (*this)(const_cast<T &>(value));
    return *this;
  }

  std::string text;
};

/// Takes fields from a text. After a failure it gives nothing more.
class Reader {
public:
  Reader(StringRef text, Content content) : rest(text) {
    if (number() != (kFormat << 8 | uint64_t(content)))
      fail();
  }

  uint64_t number() {
    if (rest.size() < 8)
      return fail();
    uint64_t value = support::endian::read64le(rest.data());
    rest = rest.drop_front(8);
    return value;
  }
  /// A number that is at most `last`.
  uint64_t numberUpTo(uint64_t last) {
    uint64_t value = number();
    return value <= last ? value : fail();
  }
  void operator()(bool &value) { value = numberUpTo(1); }
  void operator()(unsigned &value) { value = numberUpTo(UINT_MAX); }
  void operator()(int64_t &value) { value = static_cast<int64_t>(number()); }
  template <typename Enum>
  void enumerator(Enum &value, Enum last) {
    value = static_cast<Enum>(numberUpTo(static_cast<uint64_t>(last)));
  }
  void operator()(std::string &value) {
    uint64_t size = number();
    if (size > rest.size())
      fail();
    else
      value = rest.take_front(size).str(), rest = rest.drop_front(size);
  }
  template <typename T>
  void operator()(std::vector<T> &list) {
    // Nothing is reserved: only elements that the text holds take memory.
    for (uint64_t size = number(); size != 0 && !failed; --size)
      (*this)(list.emplace_back());
  }
  template <typename T>
  void operator()(T &value) {
    visit(*this, value);
  }

  /// Whether all of the text was read, and nothing else.
  bool succeeded() const { return !failed && rest.empty(); }

private:
  uint64_t fail() {
    failed = true;
    rest = "";
    return 0;
  }

  StringRef rest;
  bool failed = false;
};

} // namespace

/// Whether the lists of an array's parameter belong together.
static bool isConsistent(const Parameter &parameter) {
  size_t rank = parameter.shape.size();
  if (!parameter.isArray && rank != 0)
    return false;
  return parameter.strides.size() == rank &&
         parameter.shapeDivisors.size() == rank &&
         parameter.strideDivisors.size() == rank &&
         (parameter.extents.empty() || parameter.extents.size() == rank);
}

/// Whether a parameter of the entry is one of the kernel's.
static bool isConsistent(const KernelParameter &parameter,
                         const std::vector<Parameter> &parameters) {
  using Kind = KernelParameter::Kind;
  if (parameter.argument >= parameters.size() ||
      !is_contained({1u, 2u, 4u, 8u}, parameter.bytes))
    return false;
  const Parameter &of = parameters[parameter.argument];
  if (of.isArray == (parameter.kind == Kind::Scalar))
    return false;
  bool hasDim =
      parameter.kind == Kind::Extent || parameter.kind == Kind::Stride;
  return !hasDim || parameter.dim < of.shape.size();
}

static bool isConsistent(const KernelDescription &description) {
  return all_of(description.parameters,
                [](const Parameter &p) { return isConsistent(p); }) &&
         all_of(description.abi, [&](const KernelParameter &p) {
           return isConsistent(p, description.parameters);
         });
}

bool runtime::fits(const CompiledCode &code,
                   const KernelDescription &description) {
  for (auto [i, map] : enumerate(code.tensorMaps)) {
    if (map.parameter != description.abi.size() + i ||
        map.argument >= description.parameters.size())
      return false;
    const Parameter &array = description.parameters[map.argument];
    if (!array.isArray)
      return false;
    if (llvm::Error error = validate(map, array.shape.size())) {
      consumeError(std::move(error));
      return false;
    }
  }
  return true;
}

std::string runtime::serialize(const CompiledCode &code) {
  return std::move(Writer(Content::Code).add(code).text);
}

std::string runtime::serialize(const CompiledCode::Assembled &assembled) {
  return std::move(Writer(Content::Assembled).add(assembled).text);
}

std::string runtime::serialize(const KernelDescription &description,
                               const CompiledCode &code) {
  return std::move(Writer(Content::Kernel).add(description).add(code).text);
}

std::optional<std::shared_ptr<CompiledCode>>
runtime::deserializeCode(StringRef text) {
  Reader reader(text, Content::Code);
  auto code = std::make_shared<CompiledCode>();
  reader(*code);
  if (!reader.succeeded())
    return std::nullopt;
  return code;
}

std::optional<CompiledCode::Assembled>
runtime::deserializeAssembled(StringRef text) {
  Reader reader(text, Content::Assembled);
  CompiledCode::Assembled assembled;
  reader(assembled);
  if (!reader.succeeded())
    return std::nullopt;
  return assembled;
}

std::optional<std::pair<KernelDescription, std::shared_ptr<CompiledCode>>>
runtime::deserializeKernel(StringRef text) {
  Reader reader(text, Content::Kernel);
  KernelDescription description;
  auto code = std::make_shared<CompiledCode>();
  reader(description);
  reader(*code);
  if (!reader.succeeded() || !isConsistent(description) ||
      !fits(*code, description))
    return std::nullopt;
  return std::make_pair(std::move(description), std::move(code));
}
