//===- Npy.h - Arrays in NumPy's .npy files ---------------------*- C++ -*-===//
//
// Reads and writes single arrays in NumPy's binary format (NumPy Enhancement
// Proposal 1, "A Simple File Format for NumPy Arrays"; versions 1.0 to 3.0).
// The files come from users, so every field is checked before it is used: a
// damaged or hostile file gives an error that names the file, what was expected
// and what was found, and no allocation is larger than the file.
//
// Not supported, each with its own error: big-endian data, structured, string,
// object, complex and date types, several arrays in one file.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_FORMATS_NPY_H
#define TILE_FORMATS_NPY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tile {

/// The element type of an array in a file. FP4 pairs, FP8 and E8M0 travel as
/// `U8` (or `Void8`), bf16 as `U16` (or `Void16`): NumPy has no type of its own
/// for them.
enum class NpyType : uint8_t {
  F64,
  F32,
  F16,
  I64,
  I32,
  I16,
  I8,
  U64,
  U32,
  U16,
  U8,
  Bool,
  Void8,  ///< One byte without a meaning, as ml_dtypes saves its FP8 types.
  Void16, ///< Two bytes, as it saves bf16.
};

/// What an element type is called and how large it is.
struct NpyTypeInfo {
  NpyType type;
  llvm::StringLiteral name;  ///< Ours, e.g. "f32"; see `findNpyType`.
  llvm::StringLiteral descr; ///< NumPy's, as in a file's header: "<f4".
  unsigned bytes;            ///< Of one element.
};

const NpyTypeInfo &getNpyTypeInfo(NpyType type);
/// The type that we call `name` ("f64", "f32", "f16", "i64" … "i8", "u64" …
/// "u8", "b1", "v8", "v16"), or nullopt.
std::optional<NpyType> findNpyType(llvm::StringRef name);

/// An array in memory: row-major, contiguous, little-endian.
struct NpyArray {
  NpyType type = NpyType::F32;
  /// Extents, outermost first; empty for a scalar. None is negative, and the
  /// product of the non-zero ones, in bytes, fits in 63 bits.
  llvm::SmallVector<int64_t, 4> shape;
  /// The elements; the product of `shape` times the element's size.
  std::vector<uint8_t> bytes;

  /// The product of `shape`.
  int64_t getNumElements() const;

  /// The elements as values of `T`.
  /// Requires: `sizeof(T)` is the element's size.
  template <typename T>
  llvm::ArrayRef<T> getAs() const {
    assert(sizeof(T) == getNpyTypeInfo(type).bytes && "wrong element type");
    return {reinterpret_cast<const T *>(bytes.data()),
            bytes.size() / sizeof(T)};
  }
};

/// Reads the array in the file `path`. Data in Fortran order are converted, so
/// that the result is always row-major. The file must be a regular one, for
/// others may never end, and end with the array.
llvm::Expected<NpyArray> readNpy(llvm::StringRef path);

/// Reads an array from a file's contents; `name` stands for the file in errors.
llvm::Expected<NpyArray> parseNpy(llvm::ArrayRef<uint8_t> contents,
                                  llvm::StringRef name);

/// Writes an array to `path`, in version 1.0. `bytes` is row-major and has the
/// size that `type` and `shape` ask for; anything else is an error.
///
/// The file appears under its name only when it is complete: it is written
/// beside the name and then renamed, so that an earlier file stays whole where
/// writing fails. A symbolic link is followed. What is not a regular file, such
/// as a pipe, is written to directly.
llvm::Error writeNpy(llvm::StringRef path, NpyType type,
                     llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<uint8_t> bytes);
llvm::Error writeNpy(llvm::StringRef path, const NpyArray &array);

/// The contents of the file that `writeNpy` writes, for callers that place it
/// themselves. `path` stands for the file in errors.
llvm::Expected<std::string> formatNpy(llvm::StringRef path, NpyType type,
                                      llvm::ArrayRef<int64_t> shape,
                                      llvm::ArrayRef<uint8_t> bytes);

} // namespace tile

#endif // TILE_FORMATS_NPY_H
