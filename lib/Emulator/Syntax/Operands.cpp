//===- Operands.cpp - Operands of PTX instructions ------------------------===//

#include "Parser.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace tile::emulator {

LogicalResult Parser::parseOperand(Operand &operand,
                                   const OperandContext &context) {
  const char *begin = token.text.begin();
  if (failed(parseSimpleOperand(operand, context)))
    return failure();
  operand.text = textSince(begin);
  if (!is(TokenKind::Pipe))
    return success();

  // `%p|%q`, `_|%p`, `%r1|%p2`.
  if (operand.kind != Operand::Kind::Register &&
      operand.kind != Operand::Kind::Sink)
    return errorExpected("',' or ';' after an operand");
  consume();
  Operand pair;
  pair.kind = Operand::Kind::Pair;
  pair.location = operand.location;
  pair.children.reserve(2);
  pair.children.push_back(std::move(operand));
  Operand &second = pair.children.emplace_back();
  const char *secondBegin = token.text.begin();
  OperandContext inner;
  inner.isTop = false;
  if (!is(TokenKind::Identifier))
    return errorExpected("a register after '|'");
  if (failed(parseName(second, inner)))
    return failure();
  second.text = textSince(secondBegin);
  if (second.kind != Operand::Kind::Register &&
      second.kind != Operand::Kind::Sink)
    return error(second.location, "expects a register after '|', but found " +
                                      quote(second.text));
  pair.text = textSince(begin);
  operand = std::move(pair);
  return success();
}

LogicalResult Parser::parseSimpleOperand(Operand &operand,
                                         const OperandContext &context) {
  operand.location = token.location;
  switch (token.kind) {
  case TokenKind::LeftBrace:
    if (!context.isTop)
      return errorExpected("an operand");
    operand.kind = Operand::Kind::Vector;
    return parseOperandList(operand, TokenKind::RightBrace, context);
  case TokenKind::LeftParen:
    if (!context.isCall || !context.isTop)
      return parseConstantOperand(operand);
    operand.kind = Operand::Kind::List;
    return parseOperandList(operand, TokenKind::RightParen, context);
  case TokenKind::LeftBracket:
    if (!context.isTop)
      return errorExpected("an operand");
    return parseAddress(operand);
  case TokenKind::Identifier:
    if (token.text == "WARP_SZ")
      return parseConstantOperand(operand);
    return parseName(operand, context);
  case TokenKind::Bang:
  case TokenKind::Minus:
    if (isNameStart(lexer.peek())) {
      OperandContext inner;
      inner.isTop = false;
      Token sign = token;
      consume();
      if (token.text == "WARP_SZ") {
        Constant constant;
        if (failed(parsePrimary(constant)) ||
            failed(applyUnary(sign.kind, sign.location, constant)) ||
            failed(parseBinary(constant, 0)))
          return failure();
        operand.kind = Operand::Kind::Integer;
        operand.bits = constant.bits;
        return success();
      }
      if (failed(parseName(operand, inner)))
        return failure();
      if (operand.kind != Operand::Kind::Register)
        return error(sign.location,
                     "expects a register after " + quote(sign.text));
      operand.isNegated = true;
      return success();
    }
    return parseConstantOperand(operand);
  default:
    if (isConstant())
      return parseConstantOperand(operand);
    return errorExpected("an operand");
  }
}

LogicalResult Parser::parseOperandList(Operand &operand, TokenKind close,
                                       const OperandContext &context) {
  consume();
  if (consumeIf(close))
    return success();
  OperandContext inner = context;
  inner.isTop = false;
  do {
    if (failed(parseOperand(operand.children.emplace_back(), inner)))
      return failure();
  } while (consumeIf(TokenKind::Comma));
  return expect(close,
                close == TokenKind::RightBrace ? "',' or '}'" : "',' or ')'");
}

/// `.x` or `.r` to 0, …; -1 if `word` is no component.
static int getComponent(StringRef word) {
  return StringSwitch<int>(word)
      .Cases({".x", ".r"}, 0)
      .Cases({".y", ".g"}, 1)
      .Cases({".z", ".b"}, 2)
      .Cases({".w", ".a"}, 3)
      .Default(-1);
}

LogicalResult Parser::parseComponent(Operand &operand) {
  StringRef word = token.text;
  int component = getComponent(word);
  unsigned size = operand.variable->vectorSize;
  if (size > 1 && component >= 0 && static_cast<unsigned>(component) < size) {
    operand.component = component;
    consume();
    return success();
  }
  // The selectors of the video instructions: `.b0`, `.h1`, `.b7320`.
  char kind = word.size() > 1 ? word[1] : '\0';
  StringRef digits = word.drop_front(2);
  if (size == 1 && (kind == 'b' || kind == 'h') && !digits.empty() &&
      digits.find_first_not_of("01234567") == StringRef::npos) {
    operand.kind = Operand::Kind::Word;
    consume();
    return success();
  }
  if (size == 1)
    return error(token.location, quote(operand.variable->name) +
                                     " is no vector and has no " + quote(word));
  return error(token.location, quote(operand.variable->name) + " has " +
                                   Twine(size) + " components and no " +
                                   quote(word));
}

LogicalResult Parser::parseSpecial(Operand &operand) {
  bool isVector;
  const char *begin = token.text.begin();
  isSpecialRegister(token.text, isVector);
  StringRef name = token.text;
  operand.kind = Operand::Kind::Special;
  consume();
  if (is(TokenKind::DotWord)) {
    StringRef word = token.text;
    if (!isVector)
      return error(token.location, quote(name) + " has no components");
    if (word != ".x" && word != ".y" && word != ".z" && word != ".w")
      return error(token.location, quote(name) + " has no " + quote(word));
    consume();
  }
  operand.text = textSince(begin);
  return success();
}

LogicalResult Parser::parseName(Operand &operand,
                                const OperandContext &context) {
  Token name = token;
  operand.location = name.location;
  if (name.text == "_") {
    operand.kind = Operand::Kind::Sink;
    consume();
    return success();
  }
  bool isTarget = context.isBranch && context.isTop;
  Symbol symbol = lookup(name.text);
  // Of what `bra` and `brx` take, only the index of `brx` is a variable.
  if (isTarget) {
    auto *variable = dyn_cast_if_present<Variable *>(symbol);
    if (!variable || variable->space != StateSpace::Register)
      symbol = nullptr;
  }
  if (auto *target = dyn_cast_if_present<Function *>(symbol)) {
    operand.kind = Operand::Kind::Symbol;
    operand.function = target;
    consume();
    return success();
  }
  if (auto *variable = dyn_cast_if_present<Variable *>(symbol)) {
    operand.variable = variable;
    consume();
    if (variable->space == StateSpace::Register) {
      operand.kind = Operand::Kind::Register;
      return is(TokenKind::DotWord) ? parseComponent(operand) : success();
    }
    operand.kind = Operand::Kind::Symbol;
    if (is(TokenKind::LeftBracket))
      return error(token.location, "indexing is not supported; write '" +
                                       name.text + "+BYTES'");
    return parseOffset(operand.offset);
  }
  bool isVector;
  if (isSpecialRegister(name.text, isVector))
    return parseSpecial(operand);
  if (!context.isTop || !(context.isBranch || context.isCall))
    return errorUndeclared(name.text, name.location, "name");
  // A label, perhaps further down.
  operand.kind = Operand::Kind::Label;
  scopes.back()->uses.push_back({name.text, name.location, context.statement,
                                 context.operand, /*isTarget=*/false,
                                 context.isBranch});
  consume();
  return success();
}

LogicalResult Parser::parseOffset(int64_t &offset) {
  uint64_t sum = offset;
  while (is(TokenKind::Plus) || is(TokenKind::Minus)) {
    bool negative = is(TokenKind::Minus);
    consume();
    Constant constant;
    Location location = token.location;
    // The operands of a product, but not of a sum: `a - 4 + 8`.
    constexpr unsigned productPrecedence = 10;
    if (!isConstant())
      return errorExpected("an offset");
    if (failed(parseUnary(constant)) ||
        failed(parseBinary(constant, productPrecedence)))
      return failure();
    if (!constant.isInteger())
      return error(location, "expects an integer as offset");
    sum += negative ? 0 - constant.bits : constant.bits;
  }
  offset = static_cast<int64_t>(sum);
  return success();
}

LogicalResult Parser::parseAddress(Operand &operand) {
  Location location = token.location;
  operand.kind = Operand::Kind::Address;
  consume(); // [
  Operand &base = operand.children.emplace_back();
  OperandContext inner;
  inner.isTop = false;
  const char *begin = token.text.begin();
  base.location = token.location;
  if (is(TokenKind::Identifier) && token.text != "WARP_SZ") {
    if (failed(parseName(base, inner)))
      return failure();
    // The sum is the address's, whatever the base is.
    operand.offset = base.offset;
    base.offset = 0;
    base.text = textSince(begin);
    bool isBase = base.kind == Operand::Kind::Register ||
                  (base.kind == Operand::Kind::Symbol && base.variable);
    if (!isBase)
      return error(base.location, quote(base.text) + " is no address");
    if (failed(parseOffset(operand.offset)))
      return failure();
  } else {
    if (!isConstant())
      return errorExpected("an address");
    if (failed(parseConstantOperand(base)))
      return failure();
    base.text = textSince(begin);
    if (base.kind != Operand::Kind::Integer)
      return error(base.location, quote(base.text) + " is no address");
  }
  // A tensor's coordinates; of a texture perhaps the sampler before them.
  while (consumeIf(TokenKind::Comma)) {
    if (operand.children.size() == 3)
      return error(location, "this address has too many parts");
    OperandContext part;
    part.isTop = is(TokenKind::LeftBrace);
    Operand next;
    if (failed(parseOperand(next, part)))
      return failure();
    operand.children.push_back(std::move(next));
  }
  if (failed(expect(TokenKind::RightBracket, operand.children.size() == 1
                                                 ? "']' after an address"
                                                 : "',' or ']'")))
    return failure();
  // A qualifier of the memory, which does not change what is read.
  consumeIfWord(".unified");
  return success();
}

LogicalResult Parser::parseConstantOperand(Operand &operand) {
  Constant constant;
  if (failed(parseConstant(constant)))
    return failure();
  operand.bits = constant.bits;
  operand.kind =
      constant.isInteger() ? Operand::Kind::Integer : Operand::Kind::Float;
  operand.isDouble = constant.kind == Constant::Kind::Double;
  return success();
}

} // namespace tile::emulator
