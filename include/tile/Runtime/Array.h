//===- Array.h - Arrays that kernels read and write -------------*- C++ -*-===//
//
// A `TensorRef` points at somebody's memory; a `Buffer` owns its own. Both are
// arguments of a launch.
//
//     TensorRef x(data, ElementType::F4E2M1FNx2, {128, 512}); // borrowed
//     auto z = Buffer::allocate(device, ElementType::F32, {128, 64});
//
// FP4 travels in pairs: an array of `F4E2M1FNx2` has half as many columns as
// values, the value with the even index in the low half of a byte.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_RUNTIME_ARRAY_H
#define TILE_RUNTIME_ARRAY_H

#include "tile/Runtime/Device.h"
#include "tile/Runtime/Error.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tile::runtime {

/// The type of an element of an array, or of a scalar argument. The values are
/// part of the C API; new ones are added at the end.
enum class ElementType : int {
  I1 = 0, ///< Scalars only; one byte.
  I8 = 1,
  I16 = 2,
  I32 = 3,
  I64 = 4,
  Index = 5, ///< Scalars only; as I64.
  BF16 = 6,
  F16 = 7,
  F32 = 8,
  F64 = 9,
  F8E4M3FN = 10,
  F8E5M2 = 11,
  F8E8M0FNU = 12,
  F4E2M1FNx2 = 13, ///< Two FP4 values in a byte, the first in the low half.
};

/// Bytes of one element.
unsigned getElementBytes(ElementType type);
/// The name in kernels: "f32", "f8E4M3FN", "f4E2M1FNx2", …
const char *getElementTypeName(ElementType type);
/// The type with this name; an error that lists the known ones.
Expected<ElementType> findElementType(std::string_view name);

/// Row-major strides of an array without gaps, in elements.
std::vector<int64_t> getContiguousStrides(const std::vector<int64_t> &shape);

/// An array in memory that somebody else owns. It must live until the launches
/// that use it are complete.
///
/// Integer arrays have no sign, and stand in for formats that other libraries
/// lack: a kernel that takes FP8, E8M0 or FP4 pairs also takes an array of I8,
/// and one that takes BF16 also one of I16, as the bits of its elements.
struct TensorRef {
  TensorRef() = default;
  /// `strides`, in elements; left out: row-major without gaps.
  TensorRef(void *data, ElementType type, std::vector<int64_t> shape,
            std::vector<int64_t> strides = {}, MemoryPlace place = {})
      : data(data), type(type), shape(std::move(shape)),
        strides(std::move(strides)), place(place) {
    if (this->strides.empty())
      this->strides = getContiguousStrides(this->shape);
  }
  /// Memory that a kernel must not write.
  TensorRef(const void *data, ElementType type, std::vector<int64_t> shape,
            std::vector<int64_t> strides = {}, MemoryPlace place = {})
      : TensorRef(const_cast<void *>(data), type, std::move(shape),
                  std::move(strides), place) {
    readOnly = true;
  }

  /// Product of the extents; -1 where that exceeds 63 bits or one is negative.
  int64_t getNumElements() const;
  /// Bytes from the first element to the end of the last one, gaps included; 0
  /// where there is no element, -1 where that exceeds 63 bits or where extents
  /// and strides make no array: a negative one, or not as many of both.
  int64_t getSpanBytes() const;
  /// Whether elements are in row-major order without gaps.
  bool isContiguous() const;
  /// "f32[128, 64]", with strides where there are gaps, and the place where it
  /// is not the host.
  std::string str() const;

  void *data = nullptr; ///< The element at index 0, …, 0.
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape;   ///< In elements.
  std::vector<int64_t> strides; ///< In elements; none is negative.
  MemoryPlace place;
  bool readOnly = false; ///< A kernel that writes it is refused.
};

/// An array with memory of its own, on a device. Movable; frees its memory when
/// the last launch that was given this object is complete. The driver may wait
/// for the whole GPU then; launches leave that to later calls.
class Buffer {
public:
  Buffer();
  Buffer(Buffer &&);
  Buffer &operator=(Buffer &&);
  ~Buffer();

  /// Allocates an array that `device` can use: in device memory for a GPU, in
  /// host memory, aligned to 256 bytes, for the others. What it holds is not
  /// specified. Errors: a negative extent, too large, out of memory.
  static Expected<Buffer> allocate(const Device &device, ElementType type,
                                   std::vector<int64_t> shape);
  /// Allocates an array and copies `data`, in host memory, row-major without
  /// gaps, into it.
  static Expected<Buffer> copyOf(const Device &device, ElementType type,
                                 std::vector<int64_t> shape, const void *data);

  /// The array; it borrows this object's memory.
  const TensorRef &getRef() const { return ref; }
  operator const TensorRef &() const { return ref; }

  ElementType getType() const { return ref.type; }
  const std::vector<int64_t> &getShape() const { return ref.shape; }
  size_t getNumBytes() const;
  /// Device memory: an address that the host cannot read.
  void *getData() const { return ref.data; }

  /// Copies the whole array from or to host memory and waits for it, but not
  /// for streams that use the array: synchronize those first.
  Status copyFromHost(const void *source);
  Status copyToHost(void *destination) const;
  /// The same in the order of a stream; host memory must stay as it is until
  /// the stream has got there. On a GPU, pageable memory may make this wait.
  Status copyFromHost(const void *source, const Stream &stream);
  Status copyToHost(void *destination, const Stream &stream) const;
  /// Sets every byte, and waits for it.
  Status fill(uint8_t byte);

private:
  friend class Argument;

  TensorRef ref;
  std::shared_ptr<void> memory; ///< Frees it.
  std::shared_ptr<DeviceImpl> device;
};

} // namespace tile::runtime

#endif // TILE_RUNTIME_ARRAY_H
