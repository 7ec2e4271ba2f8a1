//===- Tree.cpp - Parsed PTX and its errors -------------------------------===//

#include "tile/Emulator/Syntax.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace tile::emulator {

char PtxError::ID;

/// Prints `line` with a caret under `column`, and of a long line only what is
/// around it.
static void printLine(raw_ostream &os, StringRef line, unsigned column) {
  constexpr size_t before = 60, width = 120;
  size_t at = std::min<size_t>(column ? column - 1 : 0, line.size());
  size_t begin = line.size() > width && at > before ? at - before : 0;
  StringRef shown = line.substr(begin, width);
  os << '\n';
  for (char c : shown)
    os << (isPrint(c) || c == '\t' ? c : '?');
  os << '\n';
  for (char c : shown.take_front(at - begin))
    os << (c == '\t' ? '\t' : ' ');
  os << '^';
}

void PtxError::log(raw_ostream &os) const {
  os << file << ':';
  if (location.line)
    os << location.line << ':' << location.column << ':';
  os << " error: " << message;
  if (location.line && !sourceLine.empty())
    printLine(os, sourceLine, location.column);
}

std::error_code PtxError::convertToErrorCode() const {
  return inconvertibleErrorCode();
}

StringRef SyntaxTree::getLine(Location location) const {
  StringRef rest = source;
  for (unsigned line = 1; line < location.line; ++line) {
    size_t end = rest.find('\n');
    if (end == StringRef::npos)
      return "";
    rest = rest.substr(end + 1);
  }
  if (location.line == 0)
    return "";
  return rest.take_until([](char c) { return c == '\n' || c == '\r'; });
}

Error SyntaxTree::makeError(Location location, const Twine &message) const {
  // Names and instructions of any length are quoted.
  constexpr size_t most = 1000;
  std::string text = message.str();
  if (text.size() > most)
    text = text.substr(0, most) + "...";
  return make_error<PtxError>(name, location, std::move(text),
                              getLine(location).str());
}

Expected<const Function *> SyntaxTree::findEntry(StringRef wanted) const {
  const Function *only = nullptr;
  std::string known;
  unsigned count = 0;
  for (const Function &function : functions) {
    if (!function.isEntry || !function.isDefined)
      continue;
    if (!wanted.empty() && function.name == wanted)
      return &function;
    only = &function;
    known += (count++ ? ", " : "") + function.name.str();
  }
  if (count == 0)
    return makeError({}, "the file has no entry");
  if (!wanted.empty())
    return makeError({}, "the file has no entry '" + wanted +
                             "'; it has: " + known);
  if (count > 1)
    return makeError({}, "the file has " + Twine(count) +
                             " entries, of which one must be named: " + known);
  return only;
}

} // namespace tile::emulator
