//===- ArrayArgument.h - Arguments of kernels on the command line -*- C++ -*-=//
//
//     in:x.npy  inout:z.npy         an array of a file, read-only or not
//     in:x.npy:65x24                its leading part, with the array's strides
//     out:z.npy:128x256xf32         a new array, all bits set
//
// Arrays are read before a launch and written back only after one that has
// succeeded, all of them or none.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TOOLS_ARRAYARGUMENT_H
#define TILE_TOOLS_ARRAYARGUMENT_H

#include "tile/Formats/Npy.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

namespace llvm {
struct fltSemantics;
} // namespace llvm

namespace tile {

/// Which elements an array may have. The default takes any.
struct ArrayElements {
  /// Types of the file; empty: any. The first is what `name` stands for.
  llvm::SmallVector<NpyType, 3> types;
  /// What the kernel calls the element type, e.g. "f8E4M3FN", or empty.
  std::string name;
  /// What to say after the error that a file has elements of another type.
  std::string hint;
};

/// The array type that `name` spells: one of ours ("f32", "u8"), or that in
/// which elements of a type travel that NumPy lacks ("bf16", "f8E4M3FN",
/// "f4E2M1FNx2"); or nullopt.
std::optional<NpyType> findArrayType(llvm::StringRef name);

/// One `in:`, `inout:` or `out:` argument, with the memory behind it.
class ArrayArgument {
public:
  /// Whether `text` begins as such an argument does.
  static bool matches(llvm::StringRef text);

  /// Reads the file or allocates the array that `text` asks for. Errors do not
  /// name the argument. Requires: `matches(text)`.
  static llvm::Expected<ArrayArgument> get(llvm::StringRef text,
                                           const ArrayElements &elements = {});

  /// The file that the array comes from or goes to.
  llvm::StringRef getPath() const { return path; }
  /// Whether this is an `in:` array.
  bool isReadOnly() const { return readOnly; }
  /// Whether this is an `out:` array, of which nothing is known before the run.
  bool isNew() const { return isNewArray; }

  /// What we call the type of the array's elements: "f32".
  llvm::StringRef getTypeName() const { return getNpyTypeInfo(type).name; }
  /// Bytes of one element.
  unsigned getElementBytes() const { return getNpyTypeInfo(type).bytes; }
  /// The extents that the kernel sees: of the leading part, if one was asked
  /// for.
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  /// The distance between neighbours along each dimension, in elements.
  llvm::ArrayRef<int64_t> getStrides() const { return strides; }
  /// Product of the extents.
  int64_t getNumElements() const;

  /// The whole array, aligned to 16 bytes.
  llvm::MutableArrayRef<uint8_t> getBytes() const {
    return {memory.get(), size};
  }
  /// The bytes from the first element that the kernel sees to the end of the
  /// last one.
  llvm::MutableArrayRef<uint8_t> getSpan() const;

  /// How many elements of an `out:` array still have all bits set. They were
  /// not written, or with just that value.
  int64_t countUntouched() const;

private:
  struct Free {
    void operator()(uint8_t *bytes) const { std::free(bytes); }
  };

  llvm::Error allocate(size_t bytes);
  llvm::Error read(llvm::StringRef text, const ArrayElements &elements);
  llvm::Error make(llvm::StringRef text, const ArrayElements &elements);

  friend llvm::Error writeArrays(llvm::ArrayRef<const ArrayArgument *> arrays);

  std::string path;
  bool readOnly = false;
  bool isNewArray = false;
  NpyType type = NpyType::U8;
  llvm::SmallVector<int64_t, 4> fullShape; ///< Of the whole array.
  llvm::SmallVector<int64_t, 4> shape, strides;
  size_t size = 0; ///< Of `memory`, in bytes.
  std::unique_ptr<uint8_t[], Free> memory;
};

/// Returns an error if two arrays would be written to one file, however it is
/// spelled. `names` are what errors call the arrays; null ones are passed over.
llvm::Error checkOutputFiles(llvm::ArrayRef<const ArrayArgument *> arrays,
                             llvm::ArrayRef<std::string> names);

/// Writes every `inout:` and `out:` array to its file, all or none. Null ones
/// are passed over.
llvm::Error writeArrays(llvm::ArrayRef<const ArrayArgument *> arrays);

/// The code of the integer of `bits` bits that `text` spells, in decimal or, in
/// hexadecimal, after 0x. Errors call the type `typeName`. A number below zero
/// is one of two's complement, or an error where `isUnsigned`.
llvm::Expected<uint64_t> parseInteger(llvm::StringRef text, unsigned bits,
                                      llvm::StringRef typeName,
                                      bool isUnsigned = false);

/// The code of the float that `text` spells, rounded once to nearest even.
llvm::Expected<uint64_t> parseFloat(llvm::StringRef text,
                                    const llvm::fltSemantics &semantics,
                                    llvm::StringRef typeName);

/// Puts `NAME: ` before the message of an error.
llvm::Error prefixError(llvm::StringRef name, llvm::Error error);

} // namespace tile

#endif // TILE_TOOLS_ARRAYARGUMENT_H
