//===- Lexer.cpp - Words and signs of PTX text ----------------------------===//

#include "Lexer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace tile::emulator {

bool isNameStart(char c) {
  return isAlpha(c) || c == '_' || c == '$' || c == '%';
}

static bool isNameCharacter(char c) {
  return isAlnum(c) || c == '_' || c == '$';
}

static bool isWordCharacter(char c) { return isAlnum(c) || c == '_'; }

Lexer::Lexer(StringRef text)
    : position(text.begin()), end(text.end()), lineStart(text.begin()) {}

Location Lexer::locate(const char *at) const {
  return {line, static_cast<unsigned>(at - lineStart) + 1};
}

Token Lexer::make(TokenKind kind, const char *begin) const {
  return {kind, StringRef(begin, position - begin), locate(begin)};
}

Token Lexer::fail(const char *begin, const Twine &what) {
  // The first message stands: the parser stops at it.
  if (message.empty()) {
    message = what.str();
    messageLocation = locate(begin);
  }
  position = end;
  return {TokenKind::Error, StringRef(begin, 0), messageLocation};
}

void Lexer::skipLine() {
  while (position != end && *position != '\n')
    ++position;
}

void Lexer::skipLineComment() {
  const char *begin = position;
  skipLine();
  StringRef text = StringRef(begin + 2, position - begin - 2).trim();
  if (text.starts_with("tile.launch entry="))
    launches.push_back({text, locate(begin)});
}

void Lexer::skipBlockComment() {
  const char *begin = position;
  Location location = locate(begin);
  position += 2;
  while (end - position >= 2) {
    if (position[0] == '*' && position[1] == '/') {
      position += 2;
      return;
    }
    if (*position == '\n') {
      ++line;
      lineStart = position + 1;
    }
    ++position;
  }
  fail(begin, "this comment has no '*/'");
  messageLocation = location;
}

void Lexer::skipTrivia() {
  while (position != end) {
    char c = *position;
    if (c == '\n') {
      ++line;
      lineStart = ++position;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
      ++position;
    } else if (c == '/' && end - position >= 2 && position[1] == '/') {
      skipLineComment();
    } else if (c == '/' && end - position >= 2 && position[1] == '*') {
      skipBlockComment();
    } else if (c == '#' || c == '@') {
      // Line marks that the C preprocessor leaves, and DWARF as it was before
      // `.section`.
      StringRef rest(position, end - position);
      StringRef mark = rest.take_until([](char c) { return c == '\n'; });
      bool isMark = mark.starts_with("# ") || mark.starts_with("#line ") ||
                    mark.starts_with("@@DWARF") || mark.starts_with("@@dwarf");
      if (!isMark)
        return;
      skipLine();
    } else {
      return;
    }
  }
}

char Lexer::peek() {
  skipTrivia();
  return position == end ? '\0' : *position;
}

bool Lexer::isBeforeColon() {
  return peek() == ':' && !(end - position >= 2 && position[1] == ':');
}

bool Lexer::lexOpcode(const Token &first, SmallVectorImpl<StringRef> &words) {
  words.push_back(first.text);
  for (;;) {
    const char *last = position;
    skipTrivia();
    if (position == end || *position != '.')
      return true;
    // After a blank, `.5` would be a number.
    if (position != last && end - position >= 2 && isDigit(position[1]))
      return true;
    const char *begin = ++position;
    for (;;) {
      const char *word = position;
      while (position != end && isWordCharacter(*position))
        ++position;
      if (position == word) {
        fail(begin - 1, "expects a word after '" +
                            StringRef(begin - 1, position - begin + 1) +
                            "' in an opcode");
        return false;
      }
      if (end - position < 2 || position[0] != ':' || position[1] != ':')
        break;
      position += 2;
    }
    words.push_back(StringRef(begin, position - begin));
  }
}

Token Lexer::splitPercent(const Token &name) {
  position = name.text.begin() + 1;
  return {TokenKind::Percent, name.text.take_front(), name.location};
}

Token Lexer::lexNumber(const char *begin) {
  // `0x`, `0b`, `0f` and `0d` numbers have neither point nor exponent.
  bool isPlain = true;
  if (*begin == '0' && end - begin >= 2)
    isPlain = StringRef("xXbBfFdD").find(begin[1]) == StringRef::npos;
  while (position != end) {
    char c = *position;
    bool isExponentSign = (c == '+' || c == '-') && isPlain &&
                          position != begin &&
                          (position[-1] == 'e' || position[-1] == 'E');
    if (!isWordCharacter(c) && !(c == '.' && isPlain) && !isExponentSign)
      break;
    ++position;
  }
  return make(TokenKind::Number, begin);
}

Token Lexer::lexQuoted(const char *begin, char quote) {
  ++position;
  while (position != end && *position != '\n') {
    if (*position == '\\' && end - position >= 2 && position[1] != '\n') {
      position += 2;
      continue;
    }
    if (*position++ == quote)
      return make(quote == '"' ? TokenKind::String : TokenKind::Character,
                  begin);
  }
  return fail(begin, "this quote is not closed on its line");
}

Token Lexer::lexSign(const char *begin) {
  auto next = [&](char c) {
    bool found = position != end && *position == c;
    position += found;
    return found;
  };
  ++position;
  switch (*begin) {
  case ',':
    return make(TokenKind::Comma, begin);
  case ';':
    return make(TokenKind::Semicolon, begin);
  case ':':
    return make(TokenKind::Colon, begin);
  case '{':
    return make(TokenKind::LeftBrace, begin);
  case '}':
    return make(TokenKind::RightBrace, begin);
  case '(':
    return make(TokenKind::LeftParen, begin);
  case ')':
    return make(TokenKind::RightParen, begin);
  case '[':
    return make(TokenKind::LeftBracket, begin);
  case ']':
    return make(TokenKind::RightBracket, begin);
  case '@':
    return make(TokenKind::At, begin);
  case '?':
    return make(TokenKind::Question, begin);
  case '~':
    return make(TokenKind::Tilde, begin);
  case '+':
    return make(TokenKind::Plus, begin);
  case '-':
    return make(TokenKind::Minus, begin);
  case '*':
    return make(TokenKind::Star, begin);
  case '/':
    return make(TokenKind::Slash, begin);
  case '^':
    return make(TokenKind::Caret, begin);
  case '=':
    return make(next('=') ? TokenKind::EqualEqual : TokenKind::Equal, begin);
  case '!':
    return make(next('=') ? TokenKind::BangEqual : TokenKind::Bang, begin);
  case '&':
    return make(next('&') ? TokenKind::AmpersandAmpersand
                          : TokenKind::Ampersand,
                begin);
  case '|':
    return make(next('|') ? TokenKind::PipePipe : TokenKind::Pipe, begin);
  case '<':
    if (next('<'))
      return make(TokenKind::LessLess, begin);
    return make(next('=') ? TokenKind::LessEqual : TokenKind::Less, begin);
  case '>':
    if (next('>'))
      return make(TokenKind::GreaterGreater, begin);
    return make(next('=') ? TokenKind::GreaterEqual : TokenKind::Greater,
                begin);
  case '#':
    return fail(begin, "the text has a preprocessor directive; run the C "
                       "preprocessor on it first");
  default:
    if (isPrint(*begin))
      return fail(begin, "unexpected character '" + Twine(*begin) + "'");
    return fail(begin, "unexpected byte 0x" +
                           utohexstr(static_cast<uint8_t>(*begin), true, 2));
  }
}

Token Lexer::lex() {
  skipTrivia();
  const char *begin = position;
  if (!message.empty())
    return {TokenKind::Error, StringRef(begin, 0), messageLocation};
  if (position == end)
    return make(TokenKind::End, begin);
  char c = *begin;
  char next = end - begin >= 2 ? begin[1] : '\0';
  if (isDigit(c) || (c == '.' && isDigit(next)))
    return lexNumber(begin);
  // A percent sign alone is an operator.
  if (c == '%' && !isNameCharacter(next)) {
    ++position;
    return make(TokenKind::Percent, begin);
  }
  if (isNameStart(c)) {
    ++position;
    while (position != end && isNameCharacter(*position))
      ++position;
    return make(TokenKind::Identifier, begin);
  }
  if (c == '.') {
    if (!isNameStart(next) || next == '%')
      return fail(begin, "expects a word after '.'");
    ++position;
    while (position != end && isNameCharacter(*position))
      ++position;
    return make(TokenKind::DotWord, begin);
  }
  if (c == '"' || c == '\'')
    return lexQuoted(begin, c);
  return lexSign(begin);
}

} // namespace tile::emulator
