//===- Nesting.cpp - How deep a kernel's text nests -----------------------===//

#include "tile/Tools/Nesting.h"

#include "tile/Tools/Files.h"
#include "tile/Tools/Template.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace llvm;
using namespace tile;

namespace {
/// Reads a text as far as brackets and operators go; what is not MLIR is left
/// to its parser.
class Scanner {
public:
  explicit Scanner(MemoryBufferRef buffer)
      : text(buffer.getBuffer()), name(buffer.getBufferIdentifier()) {}

  Error run();

private:
  /// A bracket that is open, and the operators since the last separator.
  struct Level {
    char closing;
    unsigned operators = 0;
  };

  void skipString();
  void close(char bracket);
  Error makeError(const Twine &message) const;

  StringRef text, name;
  size_t at = 0;
  SmallVector<Level> levels = {{'\0'}};
};
} // namespace

Error Scanner::makeError(const Twine &message) const {
  StringRef before = text.take_front(at);
  return make_error<KernelTextError>(
      name, before.count('\n') + 1, at - (before.rfind('\n') + 1) + 1, message);
}

/// Goes to the end of a string, which ends with its line at the latest.
void Scanner::skipString() {
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
    if (text[at] == '\\')
      ++at;
}

/// Closes the innermost `bracket`, and what was left open in it.
void Scanner::close(char bracket) {
  for (size_t i = levels.size(); i-- > 1;)
    if (levels[i].closing == bracket) {
      levels.truncate(i);
      return;
    }
}

Error Scanner::run() {
  for (; at < text.size(); ++at) {
    const char c = text[at];
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    if (c == '"') {
      skipString();
    } else if (c == '/' && next == '/') {
      at = std::min(text.find('\n', at), text.size());
    } else if ((c == '-' || c == '<' || c == '>') &&
               (next == '=' || (c == '-' && next == '>'))) {
      ++at; // An arrow or a comparison.
    } else if (isAlpha(c)) {
      StringRef word = text.substr(at).take_while(
          [](char c) { return isAlnum(c) || StringRef("_$.").contains(c); });
      at += word.size() - 1;
      if (word == "mod" || word == "floordiv" || word == "ceildiv")
        ++levels.back().operators;
    } else if (c == '+' || c == '-' || c == '*') {
      ++levels.back().operators;
    } else if (StringRef(",:;=").contains(c)) {
      levels.back().operators = 0;
    } else if (StringRef("([{<").contains(c)) {
      levels.push_back({c == '(' ? ')' : static_cast<char>(c + 2)});
    } else if (StringRef(")]}>").contains(c)) {
      close(c);
    }
    if (levels.size() > kMaxNesting + 1)
      return makeError("expects at most " + Twine(kMaxNesting) +
                       " nested brackets");
    if (levels.back().operators > kMaxOperators)
      return makeError("expects at most " + Twine(kMaxOperators) +
                       " operators in an expression");
  }
  return Error::success();
}

Error tile::checkNesting(MemoryBufferRef buffer) {
  if (isBytecode(buffer.getBuffer()))
    return Error::success();
  return Scanner(buffer).run();
}
