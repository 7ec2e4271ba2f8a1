//===- SymbolicExtent.h - How extents of arrays belong together -*- C++ -*-===//
//
// The arrays of one kernel share extents: the codes of x[M,K] are M by K/2
// pairs, its scales M by K/16. A kernel says so with `tile.extents`, and a
// device checks it before a launch, which finds what no array shows alone: a
// packed array given as if it were not, scales in another layout.
//
//     extent ::= ``            anything
//              | integer       this
//              | name          the same wherever the name stands
//              | name `/` integer   that number, divided and rounded up
//
//===----------------------------------------------------------------------===//

#ifndef TILE_FORMATS_SYMBOLICEXTENT_H
#define TILE_FORMATS_SYMBOLICEXTENT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tile {

/// What one extent of an array has to be.
struct SymbolicExtent {
  std::string name;    ///< Empty: `value`, if there is one, else anything.
  int64_t divisor = 1; ///< Of the named number; the result is rounded up.
  std::optional<int64_t> value;

  /// Reads an extent; nullopt where the text is not one.
  static std::optional<SymbolicExtent> parse(llvm::StringRef text);
};

/// An array of a launch: what errors call it, the rule of each extent, and its
/// extents. An array without rules takes no part.
struct ArrayExtents {
  llvm::StringRef name;
  llvm::ArrayRef<SymbolicExtent> rules;
  llvm::ArrayRef<int64_t> extents;
};

/// Checks the arrays of a launch against each other. A name means what its
/// first undivided use says or, where it has none, its first use with the
/// smallest divisor, times that. Returns the error, which names the argument,
/// or nullopt. Requires: as many rules as extents, or none.
std::optional<std::string> checkExtents(llvm::ArrayRef<ArrayExtents> arrays);

} // namespace tile

#endif // TILE_FORMATS_SYMBOLICEXTENT_H
