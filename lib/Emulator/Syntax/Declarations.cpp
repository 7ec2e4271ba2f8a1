//===- Declarations.cpp - Variables of a PTX file and their values --------===//

#include "Parser.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace tile::emulator {

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

std::optional<StateSpace> Parser::getSpace() const {
  if (!is(TokenKind::DotWord))
    return std::nullopt;
  return StringSwitch<std::optional<StateSpace>>(token.text)
      .Case(".reg", StateSpace::Register)
      .Case(".const", StateSpace::Constant)
      .Case(".global", StateSpace::Global)
      .Case(".local", StateSpace::Local)
      .Case(".param", StateSpace::Parameter)
      .Case(".shared", StateSpace::Shared)
      .Default(std::nullopt);
}

/// True for a type that a variable may have: the alternate formats exist only
/// as the bits of another type.
static bool isDeclarable(Type type) {
  return type < Type::E4M3 && type != Type::TF32;
}

LogicalResult Parser::parseVariableType(Variable &prototype, bool isParameter) {
  while (is(TokenKind::DotWord)) {
    StringRef word = token.text.drop_front();
    if (std::optional<Type> type = findType(word)) {
      if (prototype.type != Type::None)
        return errorExpected("one type");
      if (!isDeclarable(*type))
        return error(token.location,
                     "a variable cannot have the type " + quote(token.text));
      if (*type == Type::Pred && prototype.space != StateSpace::Register)
        return error(token.location, "only a register can be a '.pred'");
      prototype.type = *type;
      consume();
    } else if (word == "texref" || word == "samplerref" || word == "surfref") {
      // Opaque: a handle of 64 bits.
      prototype.type = Type::B64;
      consume();
    } else if (word == "v2" || word == "v4" || word == "v8") {
      prototype.vectorSize = word[1] - '0';
      consume();
    } else if (word == "align") {
      consume();
      uint64_t alignment;
      Location location = token.location;
      if (failed(parseInteger(alignment, "an alignment", INT32_MAX)))
        return failure();
      if (!isPowerOf2_64(alignment))
        return error(location, "expects a power of two as alignment, but "
                               "found " +
                                   Twine(alignment));
      // After `.ptr` it is that of what the parameter points to.
      if (!prototype.isPointer)
        prototype.alignment = alignment;
    } else if (word == "ptr" && isParameter) {
      prototype.isPointer = true;
      consume();
      if (getSpace())
        consume();
    } else if (word == "attribute") {
      consume();
      if (failed(skipParens()))
        return failure();
    } else {
      return errorExpected("a type");
    }
  }
  if (prototype.type == Type::None)
    return errorExpected("a type");
  if (prototype.type == Type::Pred && prototype.vectorSize != 1)
    return error(token.location, "there are no vectors of '.pred'");
  if (!prototype.alignment && prototype.space != StateSpace::Register)
    prototype.alignment =
        getTypeBits(prototype.type) / 8 * prototype.vectorSize;
  return success();
}

//===----------------------------------------------------------------------===//
// Variables and parameters
//===----------------------------------------------------------------------===//

LogicalResult Parser::countVariables(uint64_t count, Location location) {
  numVariables += count;
  if (numVariables > limits::variablesPerFile)
    return error(location, "the file declares more than " +
                               Twine(limits::variablesPerFile) + " variables");
  return success();
}

LogicalResult Parser::addVariable(Variable &&variable,
                                  std::deque<Variable> &into) {
  if (failed(countVariables(1, variable.location)))
    return failure();
  variable.index = into.size();
  into.push_back(std::move(variable));
  Variable &added = into.back();
  return declare(added.name, added.location, &added);
}

LogicalResult Parser::parseRange(const Variable &prototype, const Token &name,
                                 std::deque<Variable> &into) {
  consume(); // <
  uint64_t count;
  if (failed(parseInteger(count, "a number of registers",
                          limits::registersPerRange)) ||
      failed(expect(TokenKind::Greater, "'>'")))
    return failure();
  // Before any is made.
  if (failed(countVariables(count, name.location)))
    return failure();
  numVariables -= count;
  scopes.back()->ranges.push_back({name.text, count});
  for (uint64_t i = 0; i < count; ++i) {
    Variable variable = prototype;
    variable.location = name.location;
    variable.name = saver.save(name.text + Twine(i));
    if (failed(addVariable(std::move(variable), into)))
      return failure();
  }
  return success();
}

LogicalResult Parser::parseArray(Variable &variable,
                                 SmallVectorImpl<uint64_t> &dimensions) {
  if (is(TokenKind::LeftBracket) && variable.space == StateSpace::Register)
    return error(token.location, "there are no arrays of registers");
  uint64_t total = 1;
  while (consumeIf(TokenKind::LeftBracket)) {
    if (dimensions.size() == limits::arrayDimensions)
      return error(variable.location, quote(variable.name) + " has more than " +
                                          Twine(limits::arrayDimensions) +
                                          " dimensions");
    uint64_t extent = 0;
    if (!is(TokenKind::RightBracket)) {
      Constant constant;
      Location location = token.location;
      if (failed(parseIntegerConstant(constant, "the size of an array")))
        return failure();
      extent = constant.bits;
      if (extent == 0)
        return error(location, "expects a size above 0");
      // A negative size is a large one here.
      total = SaturatingMultiply(total, extent);
      if (total > limits::elementsPerVariable)
        return error(location, quote(variable.name) + " has more than " +
                                   Twine(limits::elementsPerVariable) +
                                   " elements");
    } else if (!dimensions.empty()) {
      return errorExpected("a size, which only the first dimension may lack");
    } else {
      variable.elements = 0;
    }
    dimensions.push_back(extent);
    if (failed(expect(TokenKind::RightBracket, "']'")))
      return failure();
  }
  if (!dimensions.empty() && !variable.elements)
    variable.elements = total;
  return success();
}

LogicalResult Parser::parseRegisters(Linkage linkage) {
  if (linkage.isExternal || linkage.isVisible)
    return errorExpected("a variable that has a place in memory");
  return parseVariables(function->registers, linkage);
}

LogicalResult Parser::parseVariables(std::deque<Variable> &into,
                                     Linkage linkage) {
  Variable prototype;
  prototype.space = *getSpace();
  prototype.isExternal = linkage.isExternal;
  prototype.isVisible = linkage.isVisible;
  consume();
  if (failed(parseVariableType(prototype, /*isParameter=*/false)))
    return failure();
  do {
    Token name = token;
    if (failed(expect(TokenKind::Identifier, "the name of a variable")))
      return failure();
    if (name.text == "_")
      return error(name.location, "'_' is no name of a variable");
    if (is(TokenKind::Less)) {
      if (failed(parseRange(prototype, name, into)))
        return failure();
      continue;
    }
    Variable variable = prototype;
    variable.location = name.location;
    variable.name = name.text;
    SmallVector<uint64_t, 4> dimensions;
    if (failed(parseArray(variable, dimensions)))
      return failure();

    // A module may declare a variable as external before it defines it.
    Variable *added = nullptr;
    if (auto *earlier = dyn_cast_if_present<Variable *>(lookup(name.text));
        earlier && !function && (earlier->isExternal || variable.isExternal)) {
      if (earlier->space != variable.space || earlier->type != variable.type ||
          earlier->vectorSize != variable.vectorSize ||
          earlier->elements.has_value() != variable.elements.has_value())
        return error(name.location, quote(name.text) +
                                        " has another type in line " +
                                        Twine(earlier->location.line));
      if (earlier->isExternal) {
        variable.index = earlier->index;
        *earlier = std::move(variable);
      }
      added = earlier;
    } else {
      if (failed(addVariable(std::move(variable), into)))
        return failure();
      added = &into.back();
    }

    if (is(TokenKind::Equal)) {
      if (failed(parseInitializer(*added, dimensions)))
        return failure();
    } else if (added->elements == 0 && !added->isExternal) {
      return error(name.location,
                   quote(name.text) + " has neither a size nor values");
    }
  } while (consumeIf(TokenKind::Comma));
  return expect(TokenKind::Semicolon, "',' or ';' after a variable");
}

LogicalResult Parser::parseParameters(std::deque<Variable> &into) {
  consume(); // (
  if (consumeIf(TokenKind::RightParen))
    return success();
  do {
    Variable variable;
    std::optional<StateSpace> space = getSpace();
    if (space != StateSpace::Parameter && space != StateSpace::Register)
      return errorExpected("'.param' or '.reg'");
    variable.space = *space;
    consume();
    if (failed(parseVariableType(variable, /*isParameter=*/true)))
      return failure();
    variable.location = token.location;
    variable.name = token.text;
    if (failed(expect(TokenKind::Identifier, "the name of a parameter")))
      return failure();
    SmallVector<uint64_t, 4> dimensions;
    if (failed(parseArray(variable, dimensions)))
      return failure();
    if (failed(countVariables(1, variable.location)))
      return failure();
    variable.index = into.size();
    into.push_back(std::move(variable));
  } while (consumeIf(TokenKind::Comma));
  return expect(TokenKind::RightParen, "',' or ')' after a parameter");
}

LogicalResult Parser::declareParameters(std::deque<Variable> &parameters) {
  for (Variable &variable : parameters)
    if (variable.name != "_" &&
        failed(declare(variable.name, variable.location, &variable)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Initial values
//===----------------------------------------------------------------------===//

LogicalResult Parser::parseInitializer(Variable &variable,
                                       ArrayRef<uint64_t> dimensions) {
  Location location = token.location;
  consume(); // =
  if (variable.space != StateSpace::Global &&
      variable.space != StateSpace::Constant)
    return error(location, "only '.global' and '.const' variables have "
                           "initial values");
  if (variable.isExternal)
    return error(location, "an '.extern' variable has no initial value");

  Initializer to;
  to.variable = &variable;
  to.dimensions.assign(dimensions.begin(), dimensions.end());
  if (variable.vectorSize != 1)
    to.dimensions.push_back(variable.vectorSize);
  bool isOpen = !dimensions.empty() && dimensions.front() == 0;
  to.total = isOpen ? std::numeric_limits<uint64_t>::max()
                    : variable.elements.value_or(1) * variable.vectorSize;
  if (to.dimensions.empty())
    return parseInitialValue(to);
  if (!is(TokenKind::LeftBrace))
    return errorExpected("'{'");
  if (failed(parseInitialList(to, 0)))
    return failure();
  if (isOpen) {
    uint64_t row = 1;
    for (uint64_t extent : dimensions.drop_front())
      row *= extent;
    variable.elements =
        alignTo(divideCeil(to.position, variable.vectorSize), row);
    if (variable.elements == 0)
      return error(location,
                   quote(variable.name) + " has neither a size nor values");
  }
  return success();
}

LogicalResult Parser::parseInitialList(Initializer &to, unsigned level) {
  consume(); // {
  // The values of what one list inside this one describes.
  uint64_t part = 1;
  for (uint64_t extent : ArrayRef(to.dimensions).drop_front(level + 1))
    part *= extent;
  uint64_t begin = to.position;
  bool isLast = level + 1 == to.dimensions.size();
  uint64_t extent = to.dimensions[level];
  uint64_t limit = level == 0 ? to.total : begin + extent * part;
  while (!is(TokenKind::RightBrace)) {
    if (to.position >= limit)
      return error(token.location,
                   "too many values for " + quote(to.variable->name));
    if (isLast) {
      if (failed(parseInitialValue(to)))
        return failure();
    } else {
      if (!is(TokenKind::LeftBrace))
        return errorExpected("'{', since " + quote(to.variable->name) +
                             " has more dimensions");
      uint64_t next = to.position + part;
      if (failed(parseInitialList(to, level + 1)))
        return failure();
      to.position = next;
    }
    if (!consumeIf(TokenKind::Comma))
      break;
  }
  return expect(TokenKind::RightBrace, "',' or '}' after a value");
}

LogicalResult Parser::parseInitialValue(Initializer &to) {
  if (to.position >= limits::initialValues)
    return error(token.location, quote(to.variable->name) + " has more than " +
                                     Twine(limits::initialValues) + " values");
  Variable &variable = *to.variable;
  Location location = token.location;
  InitialValue value;
  bool isAddress = is(TokenKind::Identifier) && token.text != "WARP_SZ";
  if (isAddress && token.text == "mask" && lexer.peek() == '(') {
    consume();
    Constant mask;
    if (failed(expect(TokenKind::LeftParen, "'('")) ||
        failed(parseIntegerConstant(mask, "a mask")) ||
        failed(expect(TokenKind::Comma, "','")) ||
        failed(parseMasked(value, mask.bits, location)))
      return failure();
  } else if (isAddress) {
    if (failed(parseInitialAddress(value)))
      return failure();
  } else {
    Constant constant;
    if (!isConstant())
      return errorExpected("a value");
    if (failed(parseConstant(constant)))
      return failure();
    if (constant.isInteger() && consumeIf(TokenKind::LeftParen)) {
      // `0xff00(name)`.
      if (failed(parseMasked(value, constant.bits, location)))
        return failure();
    } else if (failed(
                   convertInitial(constant, variable, location, value.bits))) {
      return failure();
    }
  }
  unsigned bits = getTypeBits(variable.type);
  bool isSymbol = value.variable || value.function;
  if (isSymbol && !value.mask && bits != 32 && bits != 64)
    return error(location, "an address does not fit into '." +
                               getTypeName(variable.type) +
                               "'; take one byte of it: 0xff(name)");
  variable.initial.resize(to.position);
  variable.initial.push_back(value);
  ++to.position;
  return success();
}

/// `generic(name) + 8` or `name - 4`.
LogicalResult Parser::parseInitialAddress(InitialValue &value) {
  bool isGeneric = is(TokenKind::Identifier) && token.text == "generic" &&
                   lexer.peek() == '(';
  if (isGeneric) {
    value.generic = true;
    consume();
    consume();
  }
  Token name = token;
  if (failed(expect(TokenKind::Identifier, "the name of a variable")))
    return failure();
  Symbol symbol = lookup(name.text);
  if (!symbol)
    return errorUndeclared(name.text, name.location, "name");
  value.function = dyn_cast<Function *>(symbol);
  value.variable = dyn_cast<Variable *>(symbol);
  if (value.variable && value.variable->space != StateSpace::Global &&
      value.variable->space != StateSpace::Constant)
    return error(name.location,
                 "the address of " + quote(name.text) +
                     " is not known before the program runs; only those of "
                     "'.global' and '.const' variables are");
  if (isGeneric && failed(expect(TokenKind::RightParen, "')'")))
    return failure();
  return parseOffset(value.offset);
}

/// What follows the parenthesis of a mask: an address or an integer.
LogicalResult Parser::parseMasked(InitialValue &value, uint64_t mask,
                                  Location location) {
  unsigned shift = mask ? countr_zero(mask) : 0;
  if (shift % 8 != 0 || mask >> shift != 0xff)
    return error(location, "expects a mask of one byte, such as 0xff00");
  if (is(TokenKind::Identifier) && token.text != "WARP_SZ") {
    value.mask = mask;
    if (failed(parseInitialAddress(value)))
      return failure();
  } else {
    Constant constant;
    if (failed(parseIntegerConstant(constant, "an address or an integer")))
      return failure();
    value.bits = (constant.bits & mask) >> shift;
  }
  return expect(TokenKind::RightParen, "')'");
}

LogicalResult Parser::convertInitial(const Constant &constant,
                                     const Variable &variable,
                                     Location location, uint64_t &bits) {
  Type type = variable.type;
  unsigned size = getTypeBits(type);
  auto mismatch = [&] {
    return error(location, "a constant of this kind cannot be the value of a "
                           "'." +
                               getTypeName(type) + "'");
  };
  bool isFloat = type >= Type::F16 && type <= Type::F64;
  if (constant.isInteger()) {
    if (isFloat || size > 64)
      return mismatch();
    bits = constant.bits & maskTrailingOnes<uint64_t>(size);
    return success();
  }
  bool isSingle = constant.kind == Constant::Kind::Single;
  // An untyped variable takes the format of its size.
  bool toSingle = type == Type::F32 || type == Type::B32;
  if (!toSingle && type != Type::F64 && type != Type::B64)
    return mismatch();
  APFloat value(isSingle ? APFloat::IEEEsingle() : APFloat::IEEEdouble(),
                APInt(isSingle ? 32 : 64, constant.bits));
  if (isSingle != toSingle) {
    bool loses;
    value.convert(toSingle ? APFloat::IEEEsingle() : APFloat::IEEEdouble(),
                  APFloat::rmNearestTiesToEven, &loses);
  }
  bits = value.bitcastToAPInt().getZExtValue();
  return success();
}

} // namespace tile::emulator
