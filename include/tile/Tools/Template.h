//===- Template.h - Constants in kernel files -------------------*- C++ -*-===//
//
// A kernel file may leave tile sizes open:
//
//     tile.load %xs[%m, %k] : … -> tensor<${BM}x${BK/16}xf8E4M3FN>
//
// With `-DBM=64 -DBK=128` the line reads `tensor<64x8xf8E4M3FN>` before it is
// parsed. Lines stay where they are, so that diagnostics name the user's line.
//
//     placeholder ::= `${` expression `}`
//     expression  ::= term ((`+` | `-`) term)*
//     term        ::= factor ((`*` | `/`) factor)*
//     factor      ::= name | integer | `-` factor | `(` expression `)`
//
// Arithmetic is on 64-bit integers; overflow and an inexact division are
// errors, since a tile size that was rounded is a mistake. A placeholder that
// is one name alone may also stand for text, such as the name of a type.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_TOOLS_TEMPLATE_H
#define TILE_TOOLS_TEMPLATE_H

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tile {

/// The constants that a template is instantiated with.
class TemplateConstants {
public:
  TemplateConstants() = default;
  /// `prefix` is what errors put before `NAME=VALUE`: how a user gives one.
  explicit TemplateConstants(llvm::StringRef prefix) : prefix(prefix) {}

  /// Adds a constant. The name must be an identifier, the value a non-empty
  /// text of one line, and a name has one value only.
  llvm::Error add(llvm::StringRef name, llvm::StringRef value);
  /// Adds a constant from the text `NAME=VALUE`.
  llvm::Error addDefinition(llvm::StringRef definition);

  bool empty() const { return values.empty(); }
  /// The value of `name`, or nullptr.
  const std::string *find(llvm::StringRef name) const;
  llvm::StringRef getPrefix() const { return prefix; }
  /// How errors call the constant `name`: `-DNAME=VALUE`. Requires: there is
  /// one.
  std::string describe(llvm::StringRef name) const;
  /// Every name, in the order in which they were added.
  llvm::ArrayRef<std::string> getNames() const { return names; }

private:
  std::string prefix = "-D";
  llvm::StringMap<std::string> values;
  std::vector<std::string> names;
};

/// A mistake in a kernel's text that is found before MLIR parses it, at a
/// position of the file that the user wrote.
class KernelTextError : public llvm::ErrorInfo<KernelTextError> {
public:
  static char ID;

  KernelTextError(llvm::StringRef file, unsigned line, unsigned column,
                  const llvm::Twine &message)
      : file(file), line(line), column(column), description(message.str()) {}

  /// Prints `FILE:LINE:COLUMN: error: MESSAGE`.
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

private:
  std::string file;
  unsigned line;   ///< Counts from 1.
  unsigned column; ///< Counts from 1, in bytes.
  std::string description;
};

/// Replaces every placeholder of `text`. `file` stands for it in errors, which
/// are: a name without a value, a constant that no placeholder uses, and an
/// expression that is not well formed or has no value.
llvm::Expected<std::string> expandTemplate(llvm::StringRef text,
                                           llvm::StringRef file,
                                           const TemplateConstants &constants);

} // namespace tile

#endif // TILE_TOOLS_TEMPLATE_H
