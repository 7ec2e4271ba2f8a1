//===- Parser.h - From PTX tokens to a tree ---------------------*- C++ -*-===//
//
// A recursive-descent parser over the tokens of Lexer.h. It is one class in
// six files: Parser.cpp (names, scopes, errors), Module.cpp (directives and
// functions), Declarations.cpp (variables and their initial values), Body.cpp
// (statements and labels), Operands.cpp, and Expressions.cpp (constants).
//
// Every function that returns a LogicalResult fails only after it has recorded
// an error, and the first error is the one that is reported.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_SYNTAX_PARSER_H
#define TILE_LIB_EMULATOR_SYNTAX_PARSER_H

#include "Lexer.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PointerUnion.h"
#include "llvm/Support/LogicalResult.h"

namespace tile::emulator {

/// What a hostile file may ask for.
namespace limits {
constexpr uint64_t registersPerRange = uint64_t(1) << 20;
constexpr uint64_t variablesPerFile = uint64_t(1) << 21;
constexpr uint64_t elementsPerVariable = uint64_t(1) << 32;
constexpr uint64_t initialValues = uint64_t(1) << 22;
constexpr unsigned nestedScopes = 256;
constexpr unsigned nestedExpressions = 128;
constexpr unsigned arrayDimensions = 16;
constexpr unsigned numberLength = 1024; // of one number, in characters
} // namespace limits

/// The value of a constant expression.
struct Constant {
  enum class Kind : uint8_t {
    Signed,
    Unsigned,
    Single, ///< `0f…`: takes part in no expression.
    Double,
  };
  Kind kind = Kind::Signed;
  uint64_t bits = 0;

  bool isInteger() const {
    return kind == Kind::Signed || kind == Kind::Unsigned;
  }
};

class Parser {
public:
  Parser(SyntaxTree &tree, llvm::StringRef name);

  llvm::LogicalResult parse();

  /// The error of a parse that failed.
  llvm::Error takeError();

private:
  //===--------------------------------------------------------------------===//
  // Tokens and errors
  //===--------------------------------------------------------------------===//

  void consume();
  bool is(TokenKind kind) const { return token.kind == kind; }
  bool isWord(llvm::StringRef text) const {
    return is(TokenKind::DotWord) && token.text == text;
  }
  bool consumeIf(TokenKind kind);
  bool consumeIfWord(llvm::StringRef text);
  /// `what` completes "expects …, but found …".
  llvm::LogicalResult expect(TokenKind kind, const llvm::Twine &what);
  llvm::LogicalResult errorExpected(const llvm::Twine &what);
  /// The same, with the nearest of the words that were possible, if one is.
  llvm::LogicalResult errorExpected(const llvm::Twine &what,
                                    llvm::ArrayRef<llvm::StringRef> words);
  llvm::LogicalResult error(Location location, const llvm::Twine &what);
  /// From `begin` to the end of the last token consumed.
  llvm::StringRef textSince(const char *begin) const;
  /// A non-negative integer that a directive takes.
  llvm::LogicalResult parseInteger(uint64_t &value, const llvm::Twine &what,
                                   uint64_t limit);

  //===--------------------------------------------------------------------===//
  // Names
  //===--------------------------------------------------------------------===//

  using Symbol = llvm::PointerUnion<Variable *, Function *>;

  /// A label where it is used; it may be defined further down.
  struct LabelUse {
    llvm::StringRef name;
    Location location;
    /// Operand `second` of statement `first`, or target `second` of label
    /// `first`.
    unsigned first;
    unsigned second;
    bool isTarget;
    bool isBranch; ///< Only a label can be meant.
  };

  /// `%r<100>`: kept for messages.
  struct Range {
    llvm::StringRef prefix;
    uint64_t count;
  };

  struct Scope {
    Location location; ///< Of the brace.
    llvm::DenseMap<llvm::StringRef, Symbol> names;
    llvm::DenseMap<llvm::StringRef, unsigned> labels;
    std::vector<LabelUse> uses;
    std::vector<Range> ranges;
  };

  void pushScope(Location location);
  /// Resolves the labels of the innermost scope and leaves it. What it does
  /// not declare is left to the scope around it.
  llvm::LogicalResult popScope();
  Symbol lookup(llvm::StringRef name) const;
  llvm::LogicalResult lookupFunction(const Token &name, Function *&found);
  llvm::LogicalResult declare(llvm::StringRef name, Location location,
                              Symbol symbol);
  llvm::LogicalResult declareLabel(const Token &name);
  llvm::LogicalResult errorDuplicate(llvm::StringRef name, Location location,
                                     Location earlier);
  llvm::LogicalResult errorUndeclared(llvm::StringRef name, Location location,
                                      llvm::StringRef what);

  //===--------------------------------------------------------------------===//
  // Module.cpp
  //===--------------------------------------------------------------------===//

  llvm::LogicalResult parseVersion();
  llvm::LogicalResult parseTarget();
  llvm::LogicalResult parseAddressSize();
  llvm::LogicalResult parseModuleItem();
  /// Directives that may stand in a module and in a function; sets `found`.
  llvm::LogicalResult parseCommonDirective(bool &found);
  llvm::LogicalResult parseFile();
  llvm::LogicalResult parseLoc();
  llvm::LogicalResult parsePragma();
  llvm::LogicalResult parseSection();
  llvm::LogicalResult parseAlias();
  llvm::LogicalResult parseFunction(bool isExternal);
  llvm::LogicalResult parseFunctionDirectives(Function &target);
  llvm::LogicalResult parseDimensions(unsigned (&dimensions)[3]);
  llvm::LogicalResult mergeFunction(Function &signature, bool hasBody);
  llvm::LogicalResult skipParens();
  llvm::LogicalResult finish();
  llvm::LogicalResult parseLaunches();
  void replaceAliases(const llvm::DenseMap<const Function *, Function *> &to);

  //===--------------------------------------------------------------------===//
  // Declarations.cpp
  //===--------------------------------------------------------------------===//

  struct Linkage {
    bool isExternal = false;
    bool isVisible = false;
  };

  /// The state space that the current token names, or nullopt.
  std::optional<StateSpace> getSpace() const;
  /// `.reg .b32 a, b;` and the like. The current token is the state space.
  llvm::LogicalResult parseVariables(std::deque<Variable> &into,
                                     Linkage linkage);
  llvm::LogicalResult parseRegisters(Linkage linkage);
  /// Alignment, vector size, type, attributes, in any order.
  llvm::LogicalResult parseVariableType(Variable &prototype, bool isParameter);
  llvm::LogicalResult parseRange(const Variable &prototype, const Token &name,
                                 std::deque<Variable> &into);
  llvm::LogicalResult parseArray(Variable &variable,
                                 llvm::SmallVectorImpl<uint64_t> &dimensions);
  /// Fails where the file has too many names, for labels of a range as well.
  llvm::LogicalResult countVariables(uint64_t count, Location location);
  /// Adds `variable` to `into` and to the innermost scope.
  llvm::LogicalResult addVariable(Variable &&variable,
                                  std::deque<Variable> &into);
  /// A parenthesised list; `_` is a name only in a prototype.
  llvm::LogicalResult parseParameters(std::deque<Variable> &into);
  llvm::LogicalResult declareParameters(std::deque<Variable> &parameters);

  /// Where the values of an initialiser go.
  struct Initializer {
    Variable *variable;
    llvm::SmallVector<uint64_t, 4> dimensions;
    uint64_t total; ///< Of all elements, or the limit where it is open.
    uint64_t position = 0;
  };
  llvm::LogicalResult parseInitializer(Variable &variable,
                                       llvm::ArrayRef<uint64_t> dimensions);
  llvm::LogicalResult parseInitialList(Initializer &to, unsigned level);
  llvm::LogicalResult parseInitialValue(Initializer &to);
  llvm::LogicalResult parseInitialAddress(InitialValue &value);
  llvm::LogicalResult parseMasked(InitialValue &value, uint64_t mask,
                                  Location location);
  llvm::LogicalResult convertInitial(const Constant &constant,
                                     const Variable &variable,
                                     Location location, uint64_t &bits);

  //===--------------------------------------------------------------------===//
  // Body.cpp
  //===--------------------------------------------------------------------===//

  llvm::LogicalResult parseBody();
  llvm::LogicalResult parseBodyItem();
  llvm::LogicalResult parseBodyDirective();
  llvm::LogicalResult parseLabelled();
  llvm::LogicalResult parseBranchTargets();
  llvm::LogicalResult parseCallTargets();
  llvm::LogicalResult parseCallPrototype();
  llvm::LogicalResult parseInstruction();
  llvm::LogicalResult parseGuard(Statement &statement);

  //===--------------------------------------------------------------------===//
  // Operands.cpp
  //===--------------------------------------------------------------------===//

  /// What may stand where an operand is parsed.
  struct OperandContext {
    unsigned statement = 0;
    unsigned operand = 0;
    bool isTop = true;     ///< Not inside braces or parentheses.
    bool isCall = false;   ///< Parentheses hold parameters.
    bool isBranch = false; ///< A name is a label.
  };
  llvm::LogicalResult parseOperand(Operand &operand,
                                   const OperandContext &context);
  llvm::LogicalResult parseSimpleOperand(Operand &operand,
                                         const OperandContext &context);
  llvm::LogicalResult parseOperandList(Operand &operand, TokenKind close,
                                       const OperandContext &context);
  llvm::LogicalResult parseName(Operand &operand,
                                const OperandContext &context);
  llvm::LogicalResult parseComponent(Operand &operand);
  llvm::LogicalResult parseSpecial(Operand &operand);
  llvm::LogicalResult parseAddress(Operand &operand);
  llvm::LogicalResult parseConstantOperand(Operand &operand);
  /// `+ 4 - 8` after a name, if any.
  llvm::LogicalResult parseOffset(int64_t &offset);

  //===--------------------------------------------------------------------===//
  // Expressions.cpp
  //===--------------------------------------------------------------------===//

  /// A whole constant expression.
  llvm::LogicalResult parseConstant(Constant &constant);
  llvm::LogicalResult parseIntegerConstant(Constant &constant,
                                           const llvm::Twine &what);
  /// Binary operators that bind at least as tightly as `precedence`.
  llvm::LogicalResult parseBinary(Constant &left, unsigned precedence);
  llvm::LogicalResult parseUnary(Constant &constant);
  llvm::LogicalResult parsePrimary(Constant &constant);
  llvm::LogicalResult parseNumber(Constant &constant);
  llvm::LogicalResult parseCharacter(Constant &constant);
  llvm::LogicalResult applyUnary(TokenKind sign, Location location,
                                 Constant &constant);
  llvm::LogicalResult applyBinary(TokenKind sign, Location location,
                                  Constant &left, const Constant &right);
  /// True if an expression begins here.
  bool isConstant();

  SyntaxTree &tree;
  Lexer lexer;
  llvm::StringSaver saver;
  Token token;
  /// End of the last token consumed.
  const char *lastEnd;

  std::vector<std::unique_ptr<Scope>> scopes;
  Function *function = nullptr; ///< Whose body is being parsed.
  llvm::DenseMap<uint64_t, unsigned> files;
  struct Alias {
    Function *alias;
    Token target;
  };
  std::vector<Alias> aliases;
  /// The `.loc` in force, as the file writes it; a number without `.file` is
  /// no source. Files may be numbered after their use.
  struct SourcePlace {
    uint64_t file = 0;
    uint32_t line = 0;
    bool isKnown = false;
  };
  SourcePlace place;
  unsigned expressionDepth = 0;
  uint64_t numVariables = 0;

  bool failedAlready = false;
  Location errorLocation;
  std::string errorMessage;
};

/// True for the special registers of the PTX ISA and for WARP_SZ. `isVector`
/// tells those with components.
bool isSpecialRegister(llvm::StringRef name, bool &isVector);

/// `text` between quotes, cut where it is long, for a message.
std::string quote(llvm::StringRef text);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_SYNTAX_PARSER_H
