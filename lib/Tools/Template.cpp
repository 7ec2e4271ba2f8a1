//===- Template.cpp - Constants in kernel files ---------------------------===//

#include "tile/Tools/Template.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

using namespace llvm;
using namespace tile;

//===----------------------------------------------------------------------===//
// TemplateConstants
//===----------------------------------------------------------------------===//

static bool isNameStart(char c) { return isAlpha(c) || c == '_'; }
static bool isNameChar(char c) { return isAlnum(c) || c == '_'; }

static bool isName(StringRef text) {
  return !text.empty() && isNameStart(text.front()) && all_of(text, isNameChar);
}

Error TemplateConstants::add(StringRef name, StringRef value) {
  if (!isName(name))
    return createStringError("expects the name of a constant to be an "
                             "identifier, but got '" +
                             name + "'");
  if (value.empty())
    return createStringError("expects a value for '" + name + "'");
  // A line break would move every later line away from the user's.
  if (value.find_first_of("\r\n") != StringRef::npos)
    return createStringError("expects a value of one line for '" + name + "'");
  auto [entry, inserted] = values.try_emplace(name, value.str());
  if (!inserted)
    return createStringError("'" + name + "' is defined twice, as '" +
                             entry->second + "' and as '" + value + "'");
  names.push_back(name.str());
  return Error::success();
}

Error TemplateConstants::addDefinition(StringRef definition) {
  if (!definition.contains('='))
    return createStringError("expects NAME=VALUE, but got '" + definition +
                             "'");
  auto [name, value] = definition.split('=');
  return add(name, value);
}

const std::string *TemplateConstants::find(StringRef name) const {
  auto entry = values.find(name);
  return entry == values.end() ? nullptr : &entry->second;
}

std::string TemplateConstants::describe(StringRef name) const {
  return (prefix + name + "=" + *find(name)).str();
}

//===----------------------------------------------------------------------===//
// KernelTextError
//===----------------------------------------------------------------------===//

char KernelTextError::ID = 0;

void KernelTextError::log(raw_ostream &os) const {
  os << file << ':' << line << ':' << column << ": error: " << description;
}

std::error_code KernelTextError::convertToErrorCode() const {
  return inconvertibleErrorCode();
}

//===----------------------------------------------------------------------===//
// Expansion
//===----------------------------------------------------------------------===//

namespace {
/// Reads the placeholders of one file. Positions are offsets in the file; the
/// first mistake is kept, and makes every later call fail.
class Expander {
public:
  Expander(StringRef text, StringRef file, const TemplateConstants &constants)
      : text(text), file(file), constants(constants) {}

  Expected<std::string> run();

private:
  /// Deeper nesting than any person writes; bounds the recursion.
  static constexpr unsigned maxDepth = 100;

  /// Reads one placeholder, of which `${` has been read, and appends its value.
  bool placeholder(std::string &out);
  std::optional<int64_t> expression(unsigned depth);
  std::optional<int64_t> term(unsigned depth);
  std::optional<int64_t> factor(unsigned depth);
  std::optional<int64_t> nameValue(StringRef name, size_t begin);
  StringRef readName();

  void skipBlanks() {
    while (position < text.size() &&
           (text[position] == ' ' || text[position] == '\t'))
      ++position;
  }
  char peek() {
    skipBlanks();
    return position < text.size() ? text[position] : '\0';
  }
  /// What stands at the position, for a message.
  std::string found();

  std::nullopt_t fail(size_t at, const Twine &message);

  StringRef text;
  StringRef file;
  const TemplateConstants &constants;
  size_t position = 0;
  StringSet<> used;
  Error error = Error::success();
};
} // namespace

std::nullopt_t Expander::fail(size_t at, const Twine &message) {
  if (error)
    return std::nullopt;
  StringRef before = text.take_front(at);
  unsigned line = before.count('\n') + 1;
  unsigned column = at - (before.rfind('\n') + 1) + 1;
  error = make_error<KernelTextError>(file, line, column, message);
  return std::nullopt;
}

std::string Expander::found() {
  char c = peek();
  if (position >= text.size())
    return "the end of the file";
  if (c == '\n' || c == '\r')
    return "the end of the line";
  if (!isPrint(c))
    return "byte 0x" + utohexstr(static_cast<uint8_t>(c));
  return std::string("'") + c + "'";
}

StringRef Expander::readName() {
  size_t begin = position;
  while (position < text.size() && isNameChar(text[position]))
    ++position;
  return text.slice(begin, position);
}

std::optional<int64_t> Expander::nameValue(StringRef name, size_t begin) {
  const std::string *value = constants.find(name);
  if (!value)
    return fail(begin, "no value for '" + name + "'; give one with " +
                           constants.getPrefix() + name + "=VALUE");
  used.insert(name);
  int64_t integer;
  if (StringRef(*value).getAsInteger(10, integer))
    return fail(begin, "expects an integer value for '" + name +
                           "' in an expression, but got '" + *value + "'");
  return integer;
}

std::optional<int64_t> Expander::factor(unsigned depth) {
  char c = peek();
  size_t begin = position;
  if (depth > maxDepth)
    return fail(begin, "expects at most " + Twine(maxDepth) +
                           " nested parentheses and signs");
  if (c == '-') {
    ++position;
    std::optional<int64_t> value = factor(depth + 1);
    int64_t result;
    if (!value)
      return std::nullopt;
    if (SubOverflow<int64_t>(0, *value, result))
      return fail(begin, "the value does not fit in 64 bits");
    return result;
  }
  if (c == '(') {
    ++position;
    std::optional<int64_t> value = expression(depth + 1);
    if (!value)
      return std::nullopt;
    if (peek() != ')')
      return fail(position, "expects ')', but got " + found());
    ++position;
    return value;
  }
  if (isDigit(c)) {
    size_t end = text.find_if_not(isNameChar, begin);
    StringRef digits = text.slice(begin, end);
    position = std::min(end, text.size());
    int64_t value;
    if (!all_of(digits, isDigit))
      return fail(begin, "expects a decimal integer, but got '" + digits + "'");
    if (digits.getAsInteger(10, value))
      return fail(begin, "'" + digits + "' does not fit in 64 bits");
    return value;
  }
  if (isNameStart(c))
    return nameValue(readName(), begin);
  return fail(begin, "expects a name, an integer or '(', but got " + found());
}

std::optional<int64_t> Expander::term(unsigned depth) {
  std::optional<int64_t> left = factor(depth);
  while (left && (peek() == '*' || peek() == '/')) {
    size_t at = position;
    char op = text[position++];
    std::optional<int64_t> right = factor(depth);
    if (!right)
      return std::nullopt;
    int64_t result = 0;
    if (op == '*') {
      if (MulOverflow(*left, *right, result))
        return fail(at, Twine(*left) + " * " + Twine(*right) +
                            " does not fit in 64 bits");
    } else {
      if (*right == 0)
        return fail(at, "division of " + Twine(*left) + " by zero");
      if (*left == INT64_MIN && *right == -1)
        return fail(at, Twine(*left) + " / -1 does not fit in 64 bits");
      if (*left % *right != 0)
        return fail(at, "expects an exact division, but " + Twine(*left) +
                            " / " + Twine(*right) + " leaves " +
                            Twine(*left % *right));
      result = *left / *right;
    }
    left = result;
  }
  return left;
}

std::optional<int64_t> Expander::expression(unsigned depth) {
  std::optional<int64_t> left = term(depth);
  while (left && (peek() == '+' || peek() == '-')) {
    size_t at = position;
    char op = text[position++];
    std::optional<int64_t> right = term(depth);
    if (!right)
      return std::nullopt;
    int64_t result = 0;
    bool overflow = op == '+' ? AddOverflow(*left, *right, result)
                              : SubOverflow(*left, *right, result);
    if (overflow)
      return fail(at, Twine(*left) + " " + Twine(op) + " " + Twine(*right) +
                          " does not fit in 64 bits");
    left = result;
  }
  return left;
}

bool Expander::placeholder(std::string &out) {
  // A name alone stands for its text, which need not be an integer.
  char c = peek();
  size_t begin = position;
  if (isNameStart(c)) {
    StringRef name = readName();
    if (peek() == '}') {
      ++position;
      const std::string *value = constants.find(name);
      if (!value) {
        fail(begin, "no value for '" + name + "'; give one with " +
                        constants.getPrefix() + name + "=VALUE");
        return false;
      }
      used.insert(name);
      out += *value;
      return true;
    }
    position = begin;
  }

  std::optional<int64_t> value = expression(0);
  if (!value)
    return false;
  if (peek() != '}') {
    fail(position, "expects an operator or '}', but got " + found());
    return false;
  }
  ++position;
  out += itostr(*value);
  return true;
}

Expected<std::string> Expander::run() {
  std::string out;
  out.reserve(text.size());
  while (true) {
    size_t next = text.find("${", position);
    out += text.slice(position, next);
    if (next == StringRef::npos)
      break;
    position = next + 2;
    if (!placeholder(out))
      return std::move(error);
  }
  cantFail(std::move(error));
  for (const std::string &name : constants.getNames())
    if (!used.contains(name))
      return createStringError(constants.describe(name) + " is not used: " +
                               file + " has no ${" + name + "}");
  return out;
}

Expected<std::string> tile::expandTemplate(StringRef text, StringRef file,
                                           const TemplateConstants &constants) {
  return Expander(text, file, constants).run();
}
