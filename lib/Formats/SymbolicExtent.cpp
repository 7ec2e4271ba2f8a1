//===- SymbolicExtent.cpp - How extents of arrays belong together ---------===//

#include "tile/Formats/SymbolicExtent.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

using namespace tile;
using llvm::StringRef;

static bool isName(StringRef text) {
  return !text.empty() && (llvm::isAlpha(text[0]) || text[0] == '_') &&
         llvm::all_of(text,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

std::optional<SymbolicExtent> SymbolicExtent::parse(StringRef text) {
  SymbolicExtent extent;
  if (text.empty())
    return extent;
  int64_t number = 0;
  if (!text.getAsInteger(10, number)) {
    if (number < 0)
      return std::nullopt;
    extent.value = number;
    return extent;
  }
  auto [name, divisor] = text.split('/');
  name = name.trim(' ');
  if (!isName(name))
    return std::nullopt;
  extent.name = name.str();
  if (text.contains('/') &&
      (divisor.trim(' ').getAsInteger(10, number) || number < 1))
    return std::nullopt;
  if (text.contains('/'))
    extent.divisor = number;
  return extent;
}

namespace {
/// What a name means, and who said so.
struct Meaning {
  int64_t value = 0;
  int64_t divisor = 0; ///< Of the use that it stems from; 0: none so far.
  StringRef array;
};
} // namespace

static llvm::StringMap<Meaning>
getMeanings(llvm::ArrayRef<ArrayExtents> arrays) {
  llvm::StringMap<Meaning> meanings;
  for (const ArrayExtents &array : arrays)
    for (auto [rule, extent] : llvm::zip(array.rules, array.extents)) {
      if (rule.name.empty())
        continue;
      Meaning &meaning = meanings[rule.name];
      int64_t value;
      if (meaning.divisor && meaning.divisor <= rule.divisor)
        continue;
      // No number that large has a use; what is left names another one.
      if (llvm::MulOverflow(extent, rule.divisor, value))
        continue;
      meaning = {value, rule.divisor, array.name};
    }
  return meanings;
}

/// The extent that `rule` asks for, and in `why` what it follows from; nullopt
/// for any.
static std::optional<int64_t>
getExpected(const SymbolicExtent &rule,
            const llvm::StringMap<Meaning> &meanings, std::string &why) {
  if (rule.name.empty())
    return rule.value;
  const Meaning meaning = meanings.lookup(rule.name);
  const std::string array = meaning.array.str();
  if (rule.divisor == 1) {
    why = ", " + rule.name + " as in " + array;
    return meaning.value;
  }
  why = ", " + rule.name + "/" + std::to_string(rule.divisor) + " with " +
        rule.name + " = " + std::to_string(meaning.value) + " from " + array;
  return meaning.value / rule.divisor + (meaning.value % rule.divisor != 0);
}

std::optional<std::string>
tile::checkExtents(llvm::ArrayRef<ArrayExtents> arrays) {
  const llvm::StringMap<Meaning> meanings = getMeanings(arrays);
  for (const ArrayExtents &array : arrays)
    for (auto [dim, rule, extent] :
         llvm::enumerate(array.rules, array.extents)) {
      std::string why;
      std::optional<int64_t> expected = getExpected(rule, meanings, why);
      if (expected && extent != *expected)
        return array.name.str() + ": expects extent " + std::to_string(dim) +
               " to be " + std::to_string(*expected) + why + ", but got " +
               std::to_string(extent);
    }
  return std::nullopt;
}
