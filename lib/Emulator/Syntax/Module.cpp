//===- Module.cpp - Directives and functions of a PTX file ----------------===//

#include "Parser.h"

#include "llvm/ADT/StringExtras.h"

#include <functional>
#include <limits>

using namespace llvm;

namespace tile::emulator {

//===----------------------------------------------------------------------===//
// The head of a file
//===----------------------------------------------------------------------===//

LogicalResult Parser::parseVersion() {
  if (!consumeIfWord(".version"))
    return errorExpected("'.version' at the beginning");
  Token number = token;
  if (!is(TokenKind::Number))
    return errorExpected("a PTX version such as '8.8'");
  auto [major, minor] = number.text.split('.');
  unsigned majorNumber, minorNumber;
  if (major.getAsInteger(10, majorNumber) || minor.size() != 1 ||
      minor.getAsInteger(10, minorNumber) || majorNumber > 1000)
    return errorExpected("a PTX version such as '8.8'");
  consume();
  unsigned version = majorNumber * 10 + minorNumber;
  constexpr unsigned oldest = 70, newest = 95;
  if (version < oldest)
    return error(number.location, "PTX version " + number.text +
                                      " is older than 7.0, the oldest that is "
                                      "supported");
  if (version > newest)
    return error(number.location, "PTX version " + number.text +
                                      " is newer than 9.5, the newest that is "
                                      "supported");
  tree.version = version;
  return success();
}

LogicalResult Parser::parseTarget() {
  if (!consumeIfWord(".target"))
    return errorExpected("'.target' after '.version'");
  do {
    if (!is(TokenKind::Identifier))
      return errorExpected("a target such as 'sm_90'");
    if (tree.target.empty()) {
      StringRef number = token.text;
      unsigned capability;
      bool isTarget = number.consume_front("sm_") &&
                      !number.consumeInteger(10, capability) &&
                      (number.empty() || number == "a" || number == "f");
      if (!isTarget)
        return errorExpected("a target such as 'sm_90'");
      tree.target = token.text;
    }
    consume();
  } while (consumeIf(TokenKind::Comma));
  return success();
}

LogicalResult Parser::parseAddressSize() {
  Location location = token.location;
  uint64_t size;
  if (failed(parseInteger(size, "an address size", 64)))
    return failure();
  if (size != 64)
    return error(location, "only addresses of 64 bits are supported, but "
                           "'.address_size' is " +
                               Twine(size));
  return success();
}

LogicalResult Parser::parse() {
  token = lexer.lex();
  pushScope({1, 1});
  if (failed(parseVersion()) || failed(parseTarget()))
    return failure();
  while (!is(TokenKind::End))
    if (failed(parseModuleItem()))
      return failure();
  return finish();
}

//===----------------------------------------------------------------------===//
// Directives
//===----------------------------------------------------------------------===//

LogicalResult Parser::parseCommonDirective(bool &found) {
  found = true;
  if (consumeIfWord(".loc"))
    return parseLoc();
  if (consumeIfWord(".file"))
    return parseFile();
  if (consumeIfWord(".pragma"))
    return parsePragma();
  if (consumeIfWord(".section"))
    return parseSection();
  found = false;
  return success();
}

/// The text between the quotes of a string, its escapes replaced.
static std::string unescape(StringRef quoted) {
  StringRef text = quoted.drop_front().drop_back();
  std::string out;
  while (!text.empty()) {
    char c = text.front();
    text = text.drop_front();
    if (c == '\\' && !text.empty()) {
      StringRef octal = text.take_front(3).take_while(
          [](char c) { return c >= '0' && c < '8'; });
      unsigned code;
      if (!octal.empty() && !octal.getAsInteger(8, code)) {
        out += static_cast<char>(code);
        text = text.drop_front(octal.size());
        continue;
      }
      c = text.front();
      text = text.drop_front();
    }
    out += c;
  }
  return out;
}

LogicalResult Parser::parseFile() {
  constexpr uint64_t any = std::numeric_limits<uint64_t>::max();
  Location location = token.location;
  uint64_t index, ignored;
  if (failed(parseInteger(index, "the number of a file", INT32_MAX)))
    return failure();
  if (!is(TokenKind::String))
    return errorExpected("the name of a file in quotes");
  auto [entry, inserted] = files.try_emplace(index, tree.files.size());
  if (!inserted)
    return error(location, "file " + Twine(index) + " already has the name '" +
                               tree.files[entry->second] + "'");
  tree.files.push_back(saver.save(unescape(token.text)));
  consume();
  // Time and size.
  while (consumeIf(TokenKind::Comma))
    if (failed(parseInteger(ignored, "a number", any)))
      return failure();
  return success();
}

LogicalResult Parser::parseLoc() {
  uint64_t file, line, column;
  auto parsePlace = [&] {
    return success(
        succeeded(parseInteger(file, "the number of a file", INT32_MAX)) &&
        succeeded(parseInteger(line, "a line", UINT32_MAX)) &&
        succeeded(parseInteger(column, "a column", UINT32_MAX)));
  };
  if (failed(parsePlace()))
    return failure();
  place = {file, static_cast<uint32_t>(line), true};
  while (consumeIf(TokenKind::Comma)) {
    if (!is(TokenKind::Identifier) ||
        (token.text != "function_name" && token.text != "inlined_at"))
      return errorExpected("'function_name' or 'inlined_at'");
    bool isName = token.text == "function_name";
    consume();
    if (!isName) {
      if (failed(parsePlace()))
        return failure();
      continue;
    }
    // A label of a debug section, or its name, which is a word with a dot.
    if (!is(TokenKind::Identifier) && !is(TokenKind::DotWord))
      return errorExpected("a label");
    consume();
    if (consumeIf(TokenKind::Plus) &&
        failed(parseInteger(column, "an offset", UINT32_MAX)))
      return failure();
  }
  return success();
}

LogicalResult Parser::parsePragma() {
  do {
    if (failed(expect(TokenKind::String, "a string in quotes")))
      return failure();
  } while (consumeIf(TokenKind::Comma));
  return expect(TokenKind::Semicolon, "';' after a pragma");
}

LogicalResult Parser::parseSection() {
  if (!is(TokenKind::DotWord) && !is(TokenKind::Identifier))
    return errorExpected("the name of a section");
  consume();
  Location location = token.location;
  if (failed(expect(TokenKind::LeftBrace, "'{' after the name of a section")))
    return failure();
  while (!is(TokenKind::RightBrace)) {
    if (is(TokenKind::End) || is(TokenKind::Error))
      return error(location, "this section has no '}'");
    consume();
  }
  consume();
  return success();
}

LogicalResult Parser::parseAlias() {
  Token alias = token;
  if (failed(expect(TokenKind::Identifier, "the name of a function")))
    return failure();
  if (failed(expect(TokenKind::Comma, "','")))
    return failure();
  Token target = token;
  if (failed(expect(TokenKind::Identifier, "the name of a function")) ||
      failed(expect(TokenKind::Semicolon, "';'")))
    return failure();
  Function *declared;
  if (failed(lookupFunction(alias, declared)))
    return failure();
  if (declared->isDefined)
    return error(alias.location,
                 quote(alias.text) + " has a body and cannot be an alias");
  aliases.push_back({declared, target});
  return success();
}

LogicalResult Parser::skipParens() {
  Location location = token.location;
  if (failed(expect(TokenKind::LeftParen, "'('")))
    return failure();
  for (unsigned depth = 1; depth;) {
    if (is(TokenKind::End) || is(TokenKind::Error))
      return error(location, "this parenthesis is not closed");
    depth += is(TokenKind::LeftParen);
    depth -= is(TokenKind::RightParen);
    consume();
  }
  return success();
}

LogicalResult Parser::parseModuleItem() {
  bool found;
  if (failed(parseCommonDirective(found)))
    return failure();
  if (found || consumeIf(TokenKind::Semicolon))
    return success();
  if (consumeIfWord(".address_size"))
    return parseAddressSize();
  if (isWord(".target"))
    return parseTarget();
  if (consumeIfWord(".alias"))
    return parseAlias();
  if (isWord(".version"))
    return errorExpected("one '.version' only");

  Linkage linkage;
  for (;;) {
    if (consumeIfWord(".extern"))
      linkage.isExternal = true;
    else if (consumeIfWord(".visible") || consumeIfWord(".weak") ||
             consumeIfWord(".common"))
      linkage.isVisible = true;
    else
      break;
  }
  if (isWord(".entry") || isWord(".func"))
    return parseFunction(linkage.isExternal);
  std::optional<StateSpace> space = getSpace();
  if (!space)
    return errorExpected("a directive of a module",
                         {".address_size", ".alias", ".common", ".const",
                          ".entry", ".extern", ".file", ".func", ".global",
                          ".loc", ".pragma", ".section", ".shared", ".target",
                          ".visible", ".weak"});
  if (*space == StateSpace::Register || *space == StateSpace::Local ||
      *space == StateSpace::Parameter)
    return error(token.location,
                 quote(token.text) + " variables belong into a function");
  return parseVariables(tree.variables, linkage);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

LogicalResult Parser::parseDimensions(unsigned (&dimensions)[3]) {
  unsigned given[3] = {1, 1, 1};
  for (unsigned i = 0; i < 3; ++i) {
    uint64_t value;
    Location location = token.location;
    if (failed(parseInteger(value, "a number", INT32_MAX)))
      return failure();
    if (value == 0)
      return error(location, "expects a number above 0");
    given[i] = value;
    if (!consumeIf(TokenKind::Comma))
      break;
    if (i == 2)
      return error(token.location, "expects at most three numbers");
  }
  std::copy(given, given + 3, dimensions);
  return success();
}

LogicalResult Parser::parseFunctionDirectives(Function &target) {
  auto parseCount = [&](unsigned &count) {
    uint64_t value;
    if (failed(parseInteger(value, "a number", INT32_MAX)))
      return failure();
    count = value;
    return success();
  };
  while (is(TokenKind::DotWord)) {
    LogicalResult result = success();
    unsigned ignored;
    if (consumeIfWord(".reqntid"))
      result = parseDimensions(target.requiredBlock);
    else if (consumeIfWord(".maxntid"))
      result = parseDimensions(target.maxBlock);
    else if (consumeIfWord(".minnctapersm"))
      result = parseCount(target.minBlocksPerMultiprocessor);
    else if (consumeIfWord(".maxnreg"))
      result = parseCount(target.maxRegisters);
    else if (consumeIfWord(".reqnctapercluster"))
      result = parseDimensions(target.requiredCluster);
    else if (consumeIfWord(".explicitcluster"))
      target.explicitCluster = true;
    else if (consumeIfWord(".maxnctapersm") ||
             consumeIfWord(".maxclusterrank") ||
             consumeIfWord(".abi_preserve") ||
             consumeIfWord(".abi_preserve_control"))
      result = parseCount(ignored);
    else if (consumeIfWord(".attribute"))
      result = skipParens();
    else if (consumeIfWord(".pragma"))
      result = parsePragma();
    else if (!consumeIfWord(".blocksareclusters") &&
             !consumeIfWord(".noreturn") && !consumeIfWord(".unified"))
      return errorExpected("a directive of a function, '{' or ';'",
                           {".reqntid", ".maxntid", ".minnctapersm",
                            ".maxnctapersm", ".maxnreg", ".reqnctapercluster",
                            ".explicitcluster", ".maxclusterrank",
                            ".blocksareclusters", ".noreturn", ".abi_preserve",
                            ".abi_preserve_control", ".attribute"});
    if (failed(result))
      return failure();
  }
  return success();
}

LogicalResult Parser::parseFunction(bool isExternal) {
  Function signature;
  signature.isEntry = isWord(".entry");
  consume();
  if (consumeIfWord(".attribute") && failed(skipParens()))
    return failure();
  if (is(TokenKind::LeftParen) && !signature.isEntry &&
      failed(parseParameters(signature.results)))
    return failure();
  signature.name = token.text;
  signature.location = token.location;
  if (failed(expect(TokenKind::Identifier, signature.isEntry
                                               ? "the name of an entry"
                                               : "the name of a function")))
    return failure();
  if (is(TokenKind::LeftParen) && failed(parseParameters(signature.parameters)))
    return failure();
  if (failed(parseFunctionDirectives(signature)))
    return failure();

  Location location = token.location;
  if (consumeIf(TokenKind::Semicolon))
    return mergeFunction(signature, /*hasBody=*/false);
  if (!is(TokenKind::LeftBrace))
    return errorExpected("'{' or ';' after the head of a function");
  if (isExternal)
    return error(location, "an '.extern' function has no body");
  if (failed(mergeFunction(signature, /*hasBody=*/true)))
    return failure();
  consume();

  pushScope(signature.location);
  if (failed(declareParameters(function->results)) ||
      failed(declareParameters(function->parameters)))
    return failure();
  pushScope(location);
  place = {};
  if (failed(parseBody()))
    return failure();
  scopes.pop_back();
  function = nullptr;
  return success();
}

LogicalResult Parser::mergeFunction(Function &signature, bool hasBody) {
  Symbol earlier = lookup(signature.name);
  auto *known = dyn_cast_if_present<Function *>(earlier);
  if (!known) {
    tree.functions.emplace_back();
    known = &tree.functions.back();
    known->name = signature.name;
    known->location = signature.location;
    known->isEntry = signature.isEntry;
    if (failed(declare(signature.name, signature.location, known)))
      return failure();
  } else {
    auto count = [&](size_t here, size_t there, StringRef what) {
      if (here == there)
        return success();
      return error(signature.location,
                   quote(signature.name) + " has " + Twine(here) + " " + what +
                       " here, but " + Twine(there) + " in line " +
                       Twine(known->location.line));
    };
    if (known->isEntry != signature.isEntry || (known->isDefined && hasBody))
      return errorDuplicate(signature.name, signature.location,
                            known->location);
    if (failed(count(signature.parameters.size(), known->parameters.size(),
                     "parameters")) ||
        failed(
            count(signature.results.size(), known->results.size(), "results")))
      return failure();
    if (!hasBody)
      return success();
  }
  // Everything but what the body fills. The parameters that a declaration named
  // give way to those of the definition: nothing refers to them.
  known->isDefined = hasBody;
  known->location = signature.location;
  known->parameters = std::move(signature.parameters);
  known->results = std::move(signature.results);
  std::copy(signature.requiredBlock, signature.requiredBlock + 3,
            known->requiredBlock);
  std::copy(signature.maxBlock, signature.maxBlock + 3, known->maxBlock);
  std::copy(signature.requiredCluster, signature.requiredCluster + 3,
            known->requiredCluster);
  known->minBlocksPerMultiprocessor = signature.minBlocksPerMultiprocessor;
  known->maxRegisters = signature.maxRegisters;
  known->explicitCluster = signature.explicitCluster;
  if (hasBody)
    function = known;
  return success();
}

//===----------------------------------------------------------------------===//
// The end of a file
//===----------------------------------------------------------------------===//

LogicalResult Parser::parseLaunches() {
  for (const Lexer::Comment &comment : lexer.getLaunchComments()) {
    auto malformed = [&] {
      return error(comment.location, "expects '// tile.launch entry=NAME "
                                     "block=X,Y,Z shared=BYTES'");
    };
    SmallVector<StringRef, 4> words;
    SmallVector<StringRef, 4> sizes;
    comment.text.split(words, ' ', -1, /*KeepEmpty=*/false);
    LaunchComment launch;
    if (words.size() != 4 || !words[1].consume_front("entry=") ||
        words[1].empty() || !words[2].consume_front("block=") ||
        !words[3].consume_front("shared=") ||
        words[3].getAsInteger(10, launch.sharedBytes))
      return malformed();
    launch.entry = words[1];
    words[2].split(sizes, ',');
    if (sizes.size() != 3)
      return malformed();
    for (unsigned i = 0; i < 3; ++i)
      if (sizes[i].getAsInteger(10, launch.block[i]) || launch.block[i] == 0)
        return malformed();
    tree.launches.push_back(launch);
  }
  return success();
}

void Parser::replaceAliases(const DenseMap<const Function *, Function *> &to) {
  auto replace = [&](const Function *&function) {
    auto found = to.find(function);
    if (found != to.end())
      function = found->second;
  };
  auto replaceInValues = [&](std::deque<Variable> &variables) {
    for (Variable &variable : variables)
      for (InitialValue &value : variable.initial)
        replace(value.function);
  };
  std::function<void(Operand &)> replaceInOperand = [&](Operand &operand) {
    replace(operand.function);
    for (Operand &child : operand.children)
      replaceInOperand(child);
  };
  replaceInValues(tree.variables);
  for (Function &function : tree.functions) {
    replaceInValues(function.variables);
    for (Label &label : function.labels)
      for (const Function *&target : label.callTargets)
        replace(target);
    for (Statement &statement : function.body)
      for (Operand &operand : statement.operands)
        replaceInOperand(operand);
  }
}

LogicalResult Parser::finish() {
  if (failed(parseLaunches()))
    return failure();
  DenseMap<const Function *, Function *> to;
  for (const Alias &alias : aliases) {
    Function *target;
    if (failed(lookupFunction(alias.target, target)))
      return failure();
    Location location = alias.target.location;
    if (!target->isDefined)
      return error(location, quote(target->name) + " has no body");
    if (target->parameters.size() != alias.alias->parameters.size() ||
        target->results.size() != alias.alias->results.size())
      return error(location, quote(target->name) + " and its alias " +
                                 quote(alias.alias->name) +
                                 " have different parameters");
    to[alias.alias] = target;
  }
  if (!to.empty())
    replaceAliases(to);
  // Only now are all files known: nvcc names them at the end.
  for (Function &function : tree.functions)
    for (Statement &statement : function.body) {
      if (statement.sourceFile < 0)
        continue;
      auto found = files.find(statement.sourceFile);
      statement.sourceFile =
          found == files.end() ? -1 : static_cast<int32_t>(found->second);
    }
  return success();
}

} // namespace tile::emulator
