//===- Lexer.h - Words and signs of PTX text --------------------*- C++ -*-===//
//
// Cuts PTX text into tokens, on demand. Two things make PTX unlike C here: an
// opcode is a chain of words between dots that may begin with a digit
// (`.2d`, `.16x64b`), which only its reader can tell from a number; and `%`
// begins a name where a value is expected, but is an operator after one.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_SYNTAX_LEXER_H
#define TILE_LIB_EMULATOR_SYNTAX_LEXER_H

#include "tile/Emulator/Syntax.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace tile::emulator {

enum class TokenKind : uint8_t {
  End,
  Error,      ///< The text is none of the others; see `Lexer::getMessage`.
  Identifier, ///< `%r1`, `$L__BB0_1`, `mov`, `_`
  DotWord,    ///< `.reg`, `.x`, `.debug_info`
  Number,     ///< Digits and what follows them; may be malformed.
  String,     ///< With its quotes.
  Character,  ///< `'a'`, with its quotes.
  Comma,
  Semicolon,
  Colon,
  LeftBrace,
  RightBrace,
  LeftParen,
  RightParen,
  LeftBracket,
  RightBracket,
  At,
  Equal,
  Question,
  Bang,
  Tilde,
  Plus,
  Minus,
  Star,
  Slash,
  Percent,
  Less,
  Greater,
  LessEqual,
  GreaterEqual,
  EqualEqual,
  BangEqual,
  LessLess,
  GreaterGreater,
  Ampersand,
  AmpersandAmpersand,
  Pipe,
  PipePipe,
  Caret,
};

struct Token {
  TokenKind kind = TokenKind::End;
  llvm::StringRef text;
  Location location;
};

/// True for a character that may begin a name.
bool isNameStart(char c);

class Lexer {
public:
  /// `text` must outlive the lexer and every token.
  explicit Lexer(llvm::StringRef text);

  /// Returns the next token; `End` again and again after the last.
  Token lex();

  /// Skips blanks and comments; returns the character that the next token
  /// begins with, or NUL at the end.
  char peek();

  /// True if the next token is a colon. `::` is not one.
  bool isBeforeColon();

  /// Reads the rest of an opcode of which `first` was the last token: fills
  /// `words` with its parts, without dots. Returns false, with a message, where
  /// a dot has no word after it.
  bool lexOpcode(const Token &first,
                 llvm::SmallVectorImpl<llvm::StringRef> &words);

  /// Cuts the name `%name`, which was the last token, into the operator `%` and
  /// what follows it.
  Token splitPercent(const Token &name);

  /// What is wrong, and where, after an `Error` token.
  const std::string &getMessage() const { return message; }
  Location getMessageLocation() const { return messageLocation; }

  /// The `// tile.launch entry=…` comments so far: what follows the slashes.
  struct Comment {
    llvm::StringRef text;
    Location location;
  };
  const std::vector<Comment> &getLaunchComments() const { return launches; }

private:
  void skipTrivia();
  void skipLineComment();
  void skipBlockComment();
  void skipLine();
  Location locate(const char *at) const;
  Token make(TokenKind kind, const char *begin) const;
  Token fail(const char *begin, const llvm::Twine &what);
  Token lexNumber(const char *begin);
  Token lexQuoted(const char *begin, char quote);
  Token lexSign(const char *begin);

  const char *position;
  const char *end;
  const char *lineStart;
  unsigned line = 1;
  std::string message;
  Location messageLocation;
  std::vector<Comment> launches;
};

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_SYNTAX_LEXER_H
