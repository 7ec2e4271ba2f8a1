//===- Expressions.cpp - Constant expressions of PTX ----------------------===//
//
// The sections "Constants" and "Constant Expressions" of the ISA: integers have
// 64 bits and are signed unless they do not fit or say otherwise, floating
// point is f64, and the operators are those of C with every case defined.
//
//===----------------------------------------------------------------------===//

#include "Parser.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace llvm;

namespace tile::emulator {

using Kind = Constant::Kind;

static Constant makeSigned(uint64_t bits) { return {Kind::Signed, bits}; }

static double getDouble(const Constant &constant) {
  return bit_cast<double>(constant.bits);
}

static Constant makeDouble(double value) {
  return {Kind::Double, bit_cast<uint64_t>(value)};
}

bool Parser::isConstant() {
  switch (token.kind) {
  case TokenKind::Number:
  case TokenKind::Character:
  case TokenKind::LeftParen:
  case TokenKind::Plus:
  case TokenKind::Minus:
  case TokenKind::Tilde:
  case TokenKind::Bang:
    return true;
  case TokenKind::Identifier:
    return token.text == "WARP_SZ";
  default:
    return false;
  }
}

LogicalResult Parser::parseConstant(Constant &constant) {
  if (failed(parseUnary(constant)))
    return failure();
  return parseBinary(constant, 0);
}

LogicalResult Parser::parseIntegerConstant(Constant &constant,
                                           const Twine &what) {
  Location location = token.location;
  if (!isConstant())
    return errorExpected(what);
  const char *begin = token.text.begin();
  if (failed(parseConstant(constant)))
    return failure();
  if (!constant.isInteger())
    return error(location,
                 "expects " + what + ", but found " + quote(textSince(begin)));
  return success();
}

//===----------------------------------------------------------------------===//
// Literals
//===----------------------------------------------------------------------===//

LogicalResult Parser::parseNumber(Constant &constant) {
  StringRef text = token.text;
  Location location = token.location;
  auto malformed = [&] {
    return error(location, "malformed number " + quote(text));
  };
  if (text.size() > limits::numberLength)
    return malformed();
  consume();
  char prefix = text.size() > 1 && text[0] == '0' ? toLower(text[1]) : '\0';
  if (prefix == 'f' || prefix == 'd') {
    unsigned digits = prefix == 'f' ? 8 : 16;
    if (text.size() != digits + 2 ||
        text.drop_front(2).getAsInteger(16, constant.bits))
      return error(location, "expects " + Twine(digits) +
                                 " hexadecimal digits after " +
                                 quote(text.take_front(2)) + ", but found " +
                                 quote(text));
    constant.kind = prefix == 'f' ? Kind::Single : Kind::Double;
    return success();
  }
  bool isPlain = prefix != 'x' && prefix != 'b';
  if (isPlain && text.find_first_of(".eE") != StringRef::npos) {
    double value;
    // The conversion takes an exponent without digits.
    if ((!isDigit(text.back()) && text.back() != '.') ||
        text.getAsDouble(value))
      return malformed();
    constant = makeDouble(value);
    return success();
  }
  unsigned radix = 10;
  StringRef digits = text;
  if (prefix == 'x' || prefix == 'b') {
    radix = prefix == 'x' ? 16 : 2;
    digits = digits.drop_front(2);
  } else if (text[0] == '0') {
    radix = 8;
  }
  bool isUnsigned = digits.consume_back("U");
  if (digits.empty() ||
      !all_of(digits, [&](char c) { return hexDigitValue(c) < radix; }))
    return malformed();
  if (digits.getAsInteger(radix, constant.bits))
    return error(location, quote(text) + " does not fit in 64 bits");
  isUnsigned |= constant.bits >> 63 != 0;
  constant.kind = isUnsigned ? Kind::Unsigned : Kind::Signed;
  return success();
}

LogicalResult Parser::parseCharacter(Constant &constant) {
  StringRef text = token.text.drop_front().drop_back();
  auto malformed = [&] {
    return error(token.location, "malformed character " + quote(token.text));
  };
  unsigned value;
  if (text.size() == 1) {
    value = static_cast<uint8_t>(text[0]);
  } else if (text.size() < 2 || text[0] != '\\') {
    return malformed();
  } else if (isDigit(text[1])) {
    if (text.size() > 4 || text.drop_front().getAsInteger(8, value))
      return malformed();
  } else {
    size_t at = StringRef("abfnrtv\\'\"").find(text[1]);
    if (text.size() != 2 || at == StringRef::npos)
      return malformed();
    value = "\a\b\f\n\r\t\v\\'\""[at];
  }
  constant = makeSigned(value);
  consume();
  return success();
}

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

LogicalResult Parser::parsePrimary(Constant &constant) {
  if (is(TokenKind::Number))
    return parseNumber(constant);
  if (is(TokenKind::Character))
    return parseCharacter(constant);
  if (is(TokenKind::Identifier) && token.text == "WARP_SZ") {
    constant = makeSigned(32);
    consume();
    return success();
  }
  if (!is(TokenKind::LeftParen))
    return errorExpected("a constant");
  consume();
  // A cast, or an expression in parentheses.
  if (isWord(".s64") || isWord(".u64")) {
    bool isSigned = isWord(".s64");
    consume();
    Location location = token.location;
    if (failed(expect(TokenKind::RightParen, "')'")) ||
        failed(parseUnary(constant)))
      return failure();
    if (!constant.isInteger())
      return error(location, "only an integer can be cast");
    constant.kind = isSigned ? Kind::Signed : Kind::Unsigned;
    return success();
  }
  if (failed(parseConstant(constant)))
    return failure();
  return expect(TokenKind::RightParen, "an operator or ')'");
}

LogicalResult Parser::parseUnary(Constant &constant) {
  SaveAndRestore<unsigned> depth(expressionDepth, expressionDepth + 1);
  if (expressionDepth > limits::nestedExpressions)
    return error(token.location, "an expression is nested more than " +
                                     Twine(limits::nestedExpressions) +
                                     " deep");
  Token sign = token;
  switch (sign.kind) {
  case TokenKind::Plus:
  case TokenKind::Minus:
  case TokenKind::Tilde:
  case TokenKind::Bang:
    consume();
    if (failed(parseUnary(constant)))
      return failure();
    return applyUnary(sign.kind, sign.location, constant);
  default:
    return parsePrimary(constant);
  }
}

LogicalResult Parser::applyUnary(TokenKind sign, Location location,
                                 Constant &constant) {
  if (sign == TokenKind::Plus)
    return success();
  if (sign == TokenKind::Minus) {
    if (constant.isInteger())
      constant.bits = 0 - constant.bits;
    else
      constant.bits ^= uint64_t(1) << (constant.kind == Kind::Single ? 31 : 63);
    return success();
  }
  if (!constant.isInteger())
    return error(location, "expects an integer after this operator");
  constant = sign == TokenKind::Bang ? makeSigned(!constant.bits)
                                     : Constant{Kind::Unsigned, ~constant.bits};
  return success();
}

/// How tightly a binary operator binds, 0 for what is none. The ternary
/// operator, which is not binary, binds less than 1.
static unsigned getPrecedence(TokenKind sign) {
  switch (sign) {
  case TokenKind::PipePipe:
    return 1;
  case TokenKind::AmpersandAmpersand:
    return 2;
  case TokenKind::Pipe:
    return 3;
  case TokenKind::Caret:
    return 4;
  case TokenKind::Ampersand:
    return 5;
  case TokenKind::EqualEqual:
  case TokenKind::BangEqual:
    return 6;
  case TokenKind::Less:
  case TokenKind::Greater:
  case TokenKind::LessEqual:
  case TokenKind::GreaterEqual:
    return 7;
  case TokenKind::LessLess:
  case TokenKind::GreaterGreater:
    return 8;
  case TokenKind::Plus:
  case TokenKind::Minus:
    return 9;
  case TokenKind::Star:
  case TokenKind::Slash:
  case TokenKind::Percent:
    return 10;
  default:
    return 0;
  }
}

LogicalResult Parser::parseBinary(Constant &left, unsigned precedence) {
  SaveAndRestore<unsigned> depth(expressionDepth, expressionDepth + 1);
  if (expressionDepth > limits::nestedExpressions)
    return error(token.location, "an expression is nested more than " +
                                     Twine(limits::nestedExpressions) +
                                     " deep");
  for (;;) {
    // After a value `%` is an operator, though it could begin a name.
    if (is(TokenKind::Identifier) && token.text.front() == '%')
      token = lexer.splitPercent(token);
    unsigned current = getPrecedence(token.kind);
    if (!current || current < precedence)
      break;
    Token sign = token;
    consume();
    Constant right;
    if (failed(parseUnary(right)) || failed(parseBinary(right, current + 1)) ||
        failed(applyBinary(sign.kind, sign.location, left, right)))
      return failure();
  }
  if (precedence > 0 || !is(TokenKind::Question))
    return success();

  Location location = token.location;
  consume();
  Constant yes, no;
  if (failed(parseConstant(yes)) ||
      failed(expect(TokenKind::Colon, "an operator or ':'")) ||
      failed(parseConstant(no)))
    return failure();
  if (!left.isInteger() || yes.isInteger() != no.isInteger() ||
      yes.kind == Kind::Single || no.kind == Kind::Single)
    return error(location, "expects an integer before '?', and after it two "
                           "integers or two f64 values");
  bool isUnsigned = yes.kind == Kind::Unsigned || no.kind == Kind::Unsigned;
  left = left.bits ? yes : no;
  if (isUnsigned)
    left.kind = Kind::Unsigned;
  return success();
}

/// The operators on f64. Returns false for those that take integers only.
static bool applyDouble(TokenKind sign, double a, double b, Constant &result) {
  switch (sign) {
  case TokenKind::Plus:
    result = makeDouble(a + b);
    return true;
  case TokenKind::Minus:
    result = makeDouble(a - b);
    return true;
  case TokenKind::Star:
    result = makeDouble(a * b);
    return true;
  case TokenKind::Slash:
    result = makeDouble(a / b);
    return true;
  case TokenKind::Less:
    result = makeSigned(a < b);
    return true;
  case TokenKind::Greater:
    result = makeSigned(a > b);
    return true;
  case TokenKind::LessEqual:
    result = makeSigned(a <= b);
    return true;
  case TokenKind::GreaterEqual:
    result = makeSigned(a >= b);
    return true;
  case TokenKind::EqualEqual:
    result = makeSigned(a == b);
    return true;
  case TokenKind::BangEqual:
    result = makeSigned(a != b);
    return true;
  default:
    return false;
  }
}

static uint64_t divide(uint64_t a, uint64_t b, bool isUnsigned) {
  if (isUnsigned)
    return a / b;
  // The one quotient that does not fit wraps, as every other result does.
  if (static_cast<int64_t>(b) == -1)
    return 0 - a;
  return static_cast<int64_t>(a) / static_cast<int64_t>(b);
}

static bool isLess(uint64_t a, uint64_t b, bool isUnsigned) {
  return isUnsigned ? a < b : static_cast<int64_t>(a) < static_cast<int64_t>(b);
}

/// Shifts by 64 and more leave nothing but the sign.
static uint64_t shiftRight(const Constant &value, uint64_t count) {
  if (value.kind == Kind::Unsigned)
    return count < 64 ? value.bits >> count : 0;
  return static_cast<int64_t>(value.bits) >> std::min<uint64_t>(count, 63);
}

LogicalResult Parser::applyBinary(TokenKind sign, Location location,
                                  Constant &left, const Constant &right) {
  if (left.kind == Kind::Single || right.kind == Kind::Single)
    return error(location, "a '0f' constant takes part in no expression");
  if (!left.isInteger() && !right.isInteger()) {
    if (applyDouble(sign, getDouble(left), getDouble(right), left))
      return success();
    return error(location, "expects integers on both sides of this operator");
  }
  if (!left.isInteger() || !right.isInteger())
    return error(location, "expects two integers or two f64 values on the "
                           "sides of this operator");

  uint64_t a = left.bits, b = right.bits;
  bool isUnsigned = left.kind == Kind::Unsigned || right.kind == Kind::Unsigned;
  Kind kind = isUnsigned ? Kind::Unsigned : Kind::Signed;
  if ((sign == TokenKind::Slash || sign == TokenKind::Percent) && b == 0)
    return error(location, "division by zero");
  switch (sign) {
  case TokenKind::Plus:
    left = {kind, a + b};
    break;
  case TokenKind::Minus:
    left = {kind, a - b};
    break;
  case TokenKind::Star:
    left = {kind, a * b};
    break;
  case TokenKind::Slash:
    left = {kind, divide(a, b, isUnsigned)};
    break;
  case TokenKind::Percent:
    left = makeSigned(a % b);
    break;
  case TokenKind::LessLess:
    left.bits = b < 64 ? a << b : 0;
    break;
  case TokenKind::GreaterGreater:
    left.bits = shiftRight(left, b);
    break;
  case TokenKind::Ampersand:
    left = {kind, a & b};
    break;
  case TokenKind::Pipe:
    left = {kind, a | b};
    break;
  case TokenKind::Caret:
    left = {kind, a ^ b};
    break;
  case TokenKind::AmpersandAmpersand:
    left = makeSigned(a && b);
    break;
  case TokenKind::PipePipe:
    left = makeSigned(a || b);
    break;
  case TokenKind::EqualEqual:
    left = makeSigned(a == b);
    break;
  case TokenKind::BangEqual:
    left = makeSigned(a != b);
    break;
  case TokenKind::Less:
    left = makeSigned(isLess(a, b, isUnsigned));
    break;
  case TokenKind::Greater:
    left = makeSigned(isLess(b, a, isUnsigned));
    break;
  case TokenKind::LessEqual:
    left = makeSigned(!isLess(b, a, isUnsigned));
    break;
  default: // >=
    left = makeSigned(!isLess(a, b, isUnsigned));
    break;
  }
  return success();
}

} // namespace tile::emulator
