//===- Parser.cpp - Names, scopes and errors of the PTX parser ------------===//

#include "Parser.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>

using namespace llvm;

namespace tile::emulator {

std::string quote(StringRef text) {
  constexpr size_t longest = 60;
  std::string out = "'";
  for (char c : text.take_front(longest))
    out += isPrint(c) ? c : '?';
  return out + (text.size() > longest ? "…'" : "'");
}

namespace {
/// The nearest of the names offered, if any is near.
class Suggestion {
public:
  explicit Suggestion(StringRef name)
      : name(name), distance(name.size() / 4 + 2) {}

  void offer(StringRef candidate) {
    // Long names would take long, and are not typed by hand. What differs in
    // every letter is not near.
    if (name.size() > 64 || candidate.size() > 64)
      return;
    unsigned other = name.edit_distance(candidate, true, distance);
    if (other >= name.size() || other > distance)
      return;
    // Of equally near ones the first in the alphabet, whatever the order.
    if (other < distance || (!best.empty() && candidate < best)) {
      distance = other;
      best = candidate;
    }
  }

  std::string get() const {
    return best.empty() ? "" : "; did you mean " + quote(best) + "?";
  }

private:
  StringRef name;
  /// One more than what is near, until something is.
  unsigned distance;
  StringRef best;
};
} // namespace

Parser::Parser(SyntaxTree &tree, StringRef name)
    : tree(tree), lexer(tree.source), saver(tree.allocator),
      lastEnd(StringRef(tree.source).begin()) {
  tree.name = name.str();
}

Error Parser::takeError() {
  return tree.makeError(errorLocation, errorMessage);
}

//===----------------------------------------------------------------------===//
// Tokens and errors
//===----------------------------------------------------------------------===//

void Parser::consume() {
  lastEnd = token.text.end();
  token = lexer.lex();
}

bool Parser::consumeIf(TokenKind kind) {
  if (!is(kind))
    return false;
  consume();
  return true;
}

bool Parser::consumeIfWord(StringRef text) {
  if (!isWord(text))
    return false;
  consume();
  return true;
}

LogicalResult Parser::expect(TokenKind kind, const Twine &what) {
  if (consumeIf(kind))
    return success();
  return errorExpected(what);
}

LogicalResult Parser::errorExpected(const Twine &what) {
  if (is(TokenKind::End))
    return error(token.location,
                 "expects " + what + ", but found the end of the file");
  return error(token.location,
               "expects " + what + ", but found " + quote(token.text));
}

LogicalResult Parser::errorExpected(const Twine &what,
                                    ArrayRef<StringRef> words) {
  Suggestion suggestion(token.text);
  if (is(TokenKind::DotWord))
    for (StringRef word : words)
      suggestion.offer(word);
  if (is(TokenKind::End))
    return errorExpected(what);
  return error(token.location, "expects " + what + ", but found " +
                                   quote(token.text) + suggestion.get());
}

LogicalResult Parser::error(Location location, const Twine &what) {
  if (failedAlready)
    return failure();
  failedAlready = true;
  // A text that cannot be cut into tokens is what is wrong, whatever the
  // grammar made of it.
  if (!lexer.getMessage().empty()) {
    errorLocation = lexer.getMessageLocation();
    errorMessage = lexer.getMessage();
    return failure();
  }
  errorLocation = location;
  errorMessage = what.str();
  return failure();
}

StringRef Parser::textSince(const char *begin) const {
  return StringRef(begin, lastEnd - begin);
}

LogicalResult Parser::parseInteger(uint64_t &value, const Twine &what,
                                   uint64_t limit) {
  if (!is(TokenKind::Number))
    return errorExpected(what);
  Location location = token.location;
  StringRef text = token.text;
  Constant constant;
  if (failed(parseNumber(constant)))
    return failure();
  if (!constant.isInteger())
    return error(location, "expects " + what + ", but found " + quote(text));
  if (constant.bits > limit)
    return error(location, "expects " + what + " of at most " + Twine(limit) +
                               ", but found " + quote(text));
  value = constant.bits;
  return success();
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

bool isSpecialRegister(StringRef name, bool &isVector) {
  // The section "Special Registers" of the ISA.
  isVector = StringSwitch<bool>(name)
                 .Cases({"%tid", "%ntid", "%ctaid", "%nctaid"}, true)
                 .Cases({"%clusterid", "%nclusterid"}, true)
                 .Cases({"%cluster_ctaid", "%cluster_nctaid"}, true)
                 .Default(false);
  if (isVector)
    return true;
  bool isScalar =
      StringSwitch<bool>(name)
          .Cases({"%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid"}, true)
          .Cases({"%gridid", "%is_explicit_cluster"}, true)
          .Cases({"%cluster_ctarank", "%cluster_nctarank"}, true)
          .Cases({"%lanemask_eq", "%lanemask_le", "%lanemask_lt"}, true)
          .Cases({"%lanemask_ge", "%lanemask_gt"}, true)
          .Cases({"%clock", "%clock_hi", "%clock64"}, true)
          .Cases({"%globaltimer", "%globaltimer_lo", "%globaltimer_hi"}, true)
          .Cases({"%reserved_smem_offset_begin", "%reserved_smem_offset_end",
                  "%reserved_smem_offset_cap", "%reserved_smem_offset_0",
                  "%reserved_smem_offset_1"},
                 true)
          .Cases({"%total_smem_size", "%aggr_smem_size", "%dynamic_smem_size",
                  "%current_graph_exec"},
                 true)
          .Default(false);
  if (isScalar)
    return true;
  unsigned number = 0;
  StringRef digits = name;
  if (digits.consume_front("%envreg"))
    return !digits.getAsInteger(10, number) && number < 32;
  if (digits.consume_front("%pm")) {
    digits.consume_back("_64");
    return !digits.getAsInteger(10, number) && number < 8;
  }
  return false;
}

void Parser::pushScope(Location location) {
  scopes.push_back(std::make_unique<Scope>());
  scopes.back()->location = location;
}

Parser::Symbol Parser::lookup(StringRef name) const {
  for (const std::unique_ptr<Scope> &scope : reverse(scopes)) {
    auto found = scope->names.find(name);
    if (found != scope->names.end())
      return found->second;
  }
  return nullptr;
}

static Location getLocation(PointerUnion<Variable *, Function *> symbol) {
  if (auto *variable = dyn_cast<Variable *>(symbol))
    return variable->location;
  return cast<Function *>(symbol)->location;
}

LogicalResult Parser::errorDuplicate(StringRef name, Location location,
                                     Location earlier) {
  return error(location, quote(name) + " is already declared in line " +
                             Twine(earlier.line));
}

LogicalResult Parser::declare(StringRef name, Location location,
                              Symbol symbol) {
  if (name == "WARP_SZ")
    return error(location,
                 quote(name) + " is predefined and cannot be declared");
  Scope &scope = *scopes.back();
  auto label = scope.labels.find(name);
  if (label != scope.labels.end())
    return errorDuplicate(name, location,
                          function->labels[label->second].location);
  auto [entry, inserted] = scope.names.try_emplace(name, symbol);
  if (!inserted)
    return errorDuplicate(name, location, getLocation(entry->second));
  return success();
}

LogicalResult Parser::declareLabel(const Token &name) {
  Scope &scope = *scopes.back();
  auto other = scope.names.find(name.text);
  if (other != scope.names.end())
    return errorDuplicate(name.text, name.location, getLocation(other->second));
  auto [entry, inserted] =
      scope.labels.try_emplace(name.text, function->labels.size());
  if (!inserted)
    return errorDuplicate(name.text, name.location,
                          function->labels[entry->second].location);
  Label label;
  label.name = name.text;
  label.location = name.location;
  label.statement = function->body.size();
  function->labels.push_back(std::move(label));
  return success();
}

LogicalResult Parser::errorUndeclared(StringRef name, Location location,
                                      StringRef what) {
  std::string message = (what + " " + quote(name) + " is not declared").str();
  // The registers of a range differ by one digit: what helps is its end.
  StringRef prefix = name.rtrim("0123456789");
  for (const std::unique_ptr<Scope> &scope : reverse(scopes))
    for (const Range &range : scope->ranges)
      if (prefix.size() != name.size() && range.prefix == prefix)
        return error(location, message + "; '" + prefix + "<" +
                                   Twine(range.count) + ">' ends at '" +
                                   prefix + Twine(range.count - 1) + "'");
  Suggestion suggestion(name);
  for (const std::unique_ptr<Scope> &scope : scopes) {
    for (const auto &entry : scope->names)
      suggestion.offer(entry.first);
    for (const auto &entry : scope->labels)
      suggestion.offer(entry.first);
  }
  for (StringRef special :
       {"%tid", "%ntid", "%ctaid", "%nctaid", "%laneid", "%warpid", "%clock64",
        "%globaltimer", "%lanemask_eq", "%lanemask_lt", "%lanemask_le",
        "%lanemask_gt", "%lanemask_ge", "%cluster_ctarank",
        "%dynamic_smem_size"})
    suggestion.offer(special);
  return error(location, message + suggestion.get());
}

LogicalResult Parser::lookupFunction(const Token &name, Function *&found) {
  Symbol symbol = lookup(name.text);
  if (!symbol)
    return errorUndeclared(name.text, name.location, "function");
  found = dyn_cast<Function *>(symbol);
  if (!found)
    return error(name.location, quote(name.text) + " is no function");
  return success();
}

LogicalResult Parser::popScope() {
  std::unique_ptr<Scope> scope = std::move(scopes.back());
  // Labels belong to functions: the scopes of the file and of the parameters
  // have none.
  constexpr size_t outerScopes = 2;
  scopes.pop_back();
  for (LabelUse &use : scope->uses) {
    auto found = scope->labels.find(use.name);
    if (found != scope->labels.end()) {
      if (use.isTarget) {
        function->labels[use.first].targets[use.second] = found->second;
        continue;
      }
      function->body[use.first].operands[use.second].label = found->second;
      continue;
    }
    if (scopes.size() > outerScopes) {
      scopes.back()->uses.push_back(use);
      continue;
    }
    scopes.push_back(std::move(scope)); // for its names
    return errorUndeclared(use.name, use.location,
                           use.isBranch ? "label" : "name");
  }
  return success();
}

Expected<std::unique_ptr<SyntaxTree>> parsePtx(StringRef text, StringRef name) {
  auto tree = std::make_unique<SyntaxTree>();
  tree->source = text.str();
  Parser parser(*tree, name);
  if (failed(parser.parse()))
    return parser.takeError();
  return tree;
}

} // namespace tile::emulator
