//===- Array.cpp - Arrays that kernels read and write ---------------------===//
//
// Extents and strides come from callers: every product and sum is checked, and
// nothing here assumes that they make sense.
//
//===----------------------------------------------------------------------===//

#include "tile/Runtime/Array.h"

#include "DeviceImpl.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace tile::runtime;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

namespace {
struct ElementInfo {
  ElementType type;
  const char *name; ///< As kernels spell it.
  unsigned bytes;
  bool isOfArrays; ///< Whether arrays may have such elements.
};
} // namespace

static constexpr ElementInfo elementTable[] = {
    // clang-format off
    {ElementType::I1,         "i1",         1, false},
    {ElementType::I8,         "i8",         1, true},
    {ElementType::I16,        "i16",        2, true},
    {ElementType::I32,        "i32",        4, true},
    {ElementType::I64,        "i64",        8, true},
    {ElementType::Index,      "index",      8, false},
    {ElementType::BF16,       "bf16",       2, true},
    {ElementType::F16,        "f16",        2, true},
    {ElementType::F32,        "f32",        4, true},
    {ElementType::F64,        "f64",        8, true},
    {ElementType::F8E4M3FN,   "f8E4M3FN",   1, true},
    {ElementType::F8E5M2,     "f8E5M2",     1, true},
    {ElementType::F8E8M0FNU,  "f8E8M0FNU",  1, true},
    {ElementType::F4E2M1FNx2, "f4E2M1FNx2", 1, true},
    // clang-format on
};

/// The row of a type, or null for a number that is none: such may come through
/// the C API.
static const ElementInfo *findInfo(ElementType type) {
  for (const ElementInfo &info : elementTable)
    if (info.type == type)
      return &info;
  return nullptr;
}

unsigned tile::runtime::getElementBytes(ElementType type) {
  const ElementInfo *info = findInfo(type);
  return info ? info->bytes : 0;
}

const char *tile::runtime::getElementTypeName(ElementType type) {
  const ElementInfo *info = findInfo(type);
  return info ? info->name : "unknown";
}

Expected<ElementType> tile::runtime::findElementType(std::string_view name) {
  for (const ElementInfo &info : elementTable)
    if (name == info.name)
      return info.type;
  std::string known = llvm::join(
      llvm::map_range(elementTable,
                      [](const ElementInfo &info) { return info.name; }),
      ", ");
  return Error(ErrorCode::InvalidArgument, "unknown element type '" +
                                               std::string(name) +
                                               "'; known types are " + known);
}

//===----------------------------------------------------------------------===//
// TensorRef
//===----------------------------------------------------------------------===//

/// a * b, or the largest number where that exceeds 63 bits. Requires: neither
/// is negative.
static int64_t multiplySaturated(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product)
             ? std::numeric_limits<int64_t>::max()
             : product;
}

std::vector<int64_t>
tile::runtime::getContiguousStrides(const std::vector<int64_t> &shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride = multiplySaturated(stride, std::max<int64_t>(shape[i], 0));
  }
  return strides;
}

int64_t TensorRef::getNumElements() const {
  // No element makes the other extents irrelevant, however large.
  if (llvm::is_contained(shape, 0))
    return 0;
  int64_t number = 1;
  for (int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(number, extent, &number))
      return -1;
  return number;
}

int64_t TensorRef::getSpanBytes() const {
  if (strides.size() != shape.size())
    return -1;
  if (llvm::is_contained(shape, 0))
    return 0;
  int64_t last = 0;
  for (auto [extent, stride] : llvm::zip_equal(shape, strides)) {
    int64_t distance;
    if (extent < 0 || stride < 0 ||
        __builtin_mul_overflow(extent - 1, stride, &distance) ||
        __builtin_add_overflow(last, distance, &last))
      return -1;
  }
  int64_t bytes;
  if (__builtin_add_overflow(last, int64_t(1), &last) ||
      __builtin_mul_overflow(last, int64_t(getElementBytes(type)), &bytes))
    return -1;
  return bytes;
}

bool TensorRef::isContiguous() const {
  if (strides.size() != shape.size())
    return false;
  if (llvm::is_contained(shape, 0))
    return true;
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected)
      return false;
    expected = multiplySaturated(expected, std::max<int64_t>(shape[i], 0));
  }
  return true;
}

/// "[128, 64]".
static std::string printList(const std::vector<int64_t> &numbers) {
  return "[" +
         llvm::join(llvm::map_range(
                        numbers, [](int64_t n) { return std::to_string(n); }),
                    ", ") +
         "]";
}

std::string TensorRef::str() const {
  std::string text = getElementTypeName(type) + printList(shape);
  if (!isContiguous())
    text += " with strides " + printList(strides);
  if (place.kind != MemoryPlace::Kind::Host)
    text += " in " + place.str();
  return text;
}

//===----------------------------------------------------------------------===//
// Buffer
//===----------------------------------------------------------------------===//

Buffer::Buffer() {
  ref.shape = {0};
  ref.strides = {1};
}

// What was moved from is an empty buffer again, not one whose array is gone.
Buffer::Buffer(Buffer &&other) : Buffer() { *this = std::move(other); }

Buffer &Buffer::operator=(Buffer &&other) {
  std::swap(ref, other.ref);
  std::swap(memory, other.memory);
  std::swap(device, other.device);
  if (this != &other) {
    // The memory that this object had goes now, not with `other`.
    other.memory.reset();
    other.device.reset();
    other.ref = TensorRef(static_cast<void *>(nullptr), ElementType::F32, {0});
  }
  return *this;
}

Buffer::~Buffer() = default;

Expected<Buffer> Buffer::allocate(const Device &device, ElementType type,
                                  std::vector<int64_t> shape) {
  const ElementInfo *info = findInfo(type);
  if (!info || !info->isOfArrays)
    return Error(ErrorCode::InvalidArgument,
                 std::string("expects a type of array elements, but got '") +
                     getElementTypeName(type) + "'");
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (extent < 0)
      return Error(ErrorCode::InvalidArgument,
                   "expects extent " + std::to_string(dim) +
                       " to be 0 or more, but got " + std::to_string(extent));
  Buffer buffer;
  buffer.ref = TensorRef(static_cast<void *>(nullptr), type, std::move(shape));
  buffer.ref.place = device.getPlace();
  const int64_t bytes = buffer.ref.getSpanBytes();
  if (bytes < 0)
    return Error(ErrorCode::InvalidArgument,
                 "expects fewer than 2^63 bytes, but got " + buffer.ref.str());
  buffer.device = device.getImpl();
  // An array without elements has an address too, which is as aligned as any.
  Expected<std::shared_ptr<void>> memory =
      buffer.device->allocate(std::max<size_t>(static_cast<size_t>(bytes), 1));
  if (!memory)
    return std::move(memory).error();
  buffer.memory = std::move(*memory);
  buffer.ref.data = buffer.memory.get();
  return buffer;
}

Expected<Buffer> Buffer::copyOf(const Device &device, ElementType type,
                                std::vector<int64_t> shape, const void *data) {
  Expected<Buffer> buffer = allocate(device, type, std::move(shape));
  if (!buffer)
    return buffer;
  if (Status copied = buffer->copyFromHost(data); !copied)
    return std::move(copied).error();
  return buffer;
}

size_t Buffer::getNumBytes() const {
  return memory ? static_cast<size_t>(ref.getSpanBytes()) : 0;
}

/// Checks the host's side of a copy.
static Status checkHostMemory(const void *host) {
  if (!host)
    return Error(ErrorCode::InvalidArgument,
                 "expects host memory to copy, but got a null pointer");
  return {};
}

/// Checks that a stream can copy memory of `device`.
static Status checkStream(const Stream &stream, const DeviceImpl &device) {
  const DeviceImpl &other = *stream.getImpl()->getDevice();
  if (other.getPlace() == device.getPlace())
    return {};
  return Error(ErrorCode::InvalidArgument,
               "expects a stream of " + device.getName() + ", but got one of " +
                   other.getName());
}

Status Buffer::copyFromHost(const void *source) {
  if (getNumBytes() == 0)
    return {};
  if (Status valid = checkHostMemory(source); !valid)
    return valid;
  return device->copyToDevice(ref.data, source, getNumBytes());
}

Status Buffer::copyToHost(void *destination) const {
  if (getNumBytes() == 0)
    return {};
  if (Status valid = checkHostMemory(destination); !valid)
    return valid;
  return device->copyToHost(destination, ref.data, getNumBytes());
}

Status Buffer::copyFromHost(const void *source, const Stream &stream) {
  if (getNumBytes() == 0)
    return {};
  if (Status valid = checkHostMemory(source); !valid)
    return valid;
  if (Status valid = checkStream(stream, *device); !valid)
    return valid;
  return stream.getImpl()->copyToDevice(ref.data, source, getNumBytes(),
                                        memory);
}

Status Buffer::copyToHost(void *destination, const Stream &stream) const {
  if (getNumBytes() == 0)
    return {};
  if (Status valid = checkHostMemory(destination); !valid)
    return valid;
  if (Status valid = checkStream(stream, *device); !valid)
    return valid;
  return stream.getImpl()->copyToHost(destination, ref.data, getNumBytes(),
                                      memory);
}

Status Buffer::fill(uint8_t byte) {
  if (getNumBytes() == 0)
    return {};
  return device->fill(ref.data, byte, getNumBytes());
}
