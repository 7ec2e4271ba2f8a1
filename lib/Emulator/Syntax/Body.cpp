//===- Body.cpp - Statements and labels of a PTX function -----------------===//

#include "Parser.h"

#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace tile::emulator {

LogicalResult Parser::parseBody() {
  // The brace of the function itself is behind us, its scope is open.
  size_t outer = scopes.size() - 1;
  while (scopes.size() > outer)
    if (failed(parseBodyItem()))
      return failure();
  return success();
}

LogicalResult Parser::parseBodyItem() {
  switch (token.kind) {
  case TokenKind::Semicolon:
    consume();
    return success();
  case TokenKind::LeftBrace:
    if (scopes.size() >= limits::nestedScopes)
      return error(token.location, "braces are nested more than " +
                                       Twine(limits::nestedScopes) + " deep");
    pushScope(token.location);
    consume();
    return success();
  case TokenKind::RightBrace:
    consume();
    return popScope();
  case TokenKind::DotWord:
    return parseBodyDirective();
  case TokenKind::At:
    return parseInstruction();
  case TokenKind::Identifier:
    if (lexer.isBeforeColon())
      return parseLabelled();
    return parseInstruction();
  case TokenKind::End:
    return error(scopes.back()->location, "this brace is not closed");
  default:
    return errorExpected("a statement");
  }
}

LogicalResult Parser::parseBodyDirective() {
  bool found;
  if (failed(parseCommonDirective(found)))
    return failure();
  if (found)
    return success();
  Linkage linkage;
  for (;;) {
    if (consumeIfWord(".extern"))
      linkage.isExternal = true;
    else if (consumeIfWord(".visible") || consumeIfWord(".weak"))
      linkage.isVisible = true;
    else
      break;
  }
  std::optional<StateSpace> space = getSpace();
  if (!space)
    return errorExpected("a directive of a function",
                         {".reg", ".shared", ".local", ".param", ".global",
                          ".const", ".loc", ".pragma", ".extern"});
  if (*space == StateSpace::Register)
    return parseRegisters(linkage);
  return parseVariables(function->variables, linkage);
}

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

LogicalResult Parser::parseLabelled() {
  if (token.text == "_")
    return error(token.location, "'_' is no name of a label");
  if (failed(declareLabel(token)))
    return failure();
  consume();
  consume(); // :
  if (consumeIfWord(".branchtargets"))
    return parseBranchTargets();
  if (consumeIfWord(".calltargets"))
    return parseCallTargets();
  if (consumeIfWord(".callprototype"))
    return parseCallPrototype();
  return success();
}

LogicalResult Parser::parseBranchTargets() {
  unsigned list = function->labels.size() - 1;
  function->labels[list].isTargetList = true;
  std::vector<unsigned> &targets = function->labels[list].targets;
  auto add = [&](StringRef name, Location location) {
    unsigned position = targets.size();
    targets.push_back(0);
    scopes.back()->uses.push_back({name, location, list, position,
                                   /*isTarget=*/true, /*isBranch=*/true});
  };
  do {
    Token name = token;
    if (failed(expect(TokenKind::Identifier, "a label")))
      return failure();
    if (!consumeIf(TokenKind::Less)) {
      add(name.text, name.location);
      continue;
    }
    uint64_t count;
    if (failed(parseInteger(count, "a number of labels",
                            limits::registersPerRange)) ||
        failed(expect(TokenKind::Greater, "'>'")))
      return failure();
    if (failed(countVariables(count, name.location)))
      return failure();
    for (uint64_t i = 0; i < count; ++i)
      add(saver.save(name.text + Twine(i)), name.location);
  } while (consumeIf(TokenKind::Comma));
  return expect(TokenKind::Semicolon, "',' or ';' after a label");
}

LogicalResult Parser::parseCallTargets() {
  Label &list = function->labels.back();
  list.isTargetList = true;
  do {
    Token name = token;
    if (failed(expect(TokenKind::Identifier, "the name of a function")))
      return failure();
    Function *target;
    if (failed(lookupFunction(name, target)))
      return failure();
    list.callTargets.push_back(target);
  } while (consumeIf(TokenKind::Comma));
  return expect(TokenKind::Semicolon, "',' or ';' after a function");
}

LogicalResult Parser::parseCallPrototype() {
  function->labels.back().isPrototype = true;
  Function signature;
  if (is(TokenKind::LeftParen) && failed(parseParameters(signature.results)))
    return failure();
  if (!is(TokenKind::Identifier) || token.text != "_")
    return errorExpected("'_' for the function of a prototype");
  consume();
  if (is(TokenKind::LeftParen) && failed(parseParameters(signature.parameters)))
    return failure();
  if (failed(parseFunctionDirectives(signature)))
    return failure();
  return expect(TokenKind::Semicolon, "';' after a prototype");
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

LogicalResult Parser::parseGuard(Statement &statement) {
  consume(); // @
  statement.guardNegated = consumeIf(TokenKind::Bang);
  Token name = token;
  if (failed(expect(TokenKind::Identifier, "a predicate after '@'")))
    return failure();
  Symbol symbol = lookup(name.text);
  if (!symbol)
    return errorUndeclared(name.text, name.location, "predicate");
  auto *variable = dyn_cast<Variable *>(symbol);
  if (!variable || variable->space != StateSpace::Register ||
      variable->type != Type::Pred)
    return error(name.location, quote(name.text) + " is no predicate");
  statement.guard = variable;
  return success();
}

LogicalResult Parser::parseInstruction() {
  unsigned index = function->body.size();
  function->body.emplace_back();
  Statement &statement = function->body.back();
  if (is(TokenKind::At) && failed(parseGuard(statement)))
    return failure();

  const char *begin = token.text.begin();
  statement.location = token.location;
  if (!is(TokenKind::Identifier))
    return errorExpected("an instruction");
  char first = token.text.front();
  if (first == '%' || first == '$' || first == '_')
    return errorExpected("an instruction");
  if (place.isKnown) {
    statement.sourceFile = static_cast<int32_t>(place.file);
    statement.sourceLine = place.line;
  }
  if (!lexer.lexOpcode(token, statement.opcode))
    return error(token.location, "malformed opcode");
  token.text = StringRef(begin, statement.opcode.back().end() - begin);
  consume();

  OperandContext context;
  context.statement = index;
  context.isCall = statement.opcode.front() == "call";
  context.isBranch =
      statement.opcode.front() == "bra" || statement.opcode.front() == "brx";
  if (!is(TokenKind::Semicolon)) {
    do {
      context.operand = statement.operands.size();
      if (failed(parseOperand(statement.operands.emplace_back(), context)))
        return failure();
    } while (consumeIf(TokenKind::Comma));
  }
  statement.text = textSince(begin);
  return expect(TokenKind::Semicolon, statement.operands.empty()
                                          ? "an operand or ';'"
                                          : "',' or ';' after an operand");
}

} // namespace tile::emulator
