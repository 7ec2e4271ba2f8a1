//===- ProgramBuilder.cpp - Decodes a kernel and what it calls ------------===//

#include "ProgramBuilder.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

using namespace tile::emulator;
using llvm::Error;
using llvm::Expected;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

namespace {
/// Builds one program.
class Builder {
public:
  Builder(const SyntaxTree &syntax, const Function &entry,
          const ModuleLayout &layout)
      : syntax(syntax), entry(entry), layout(layout),
        program(std::make_unique<Program>()) {}

  Expected<std::unique_ptr<Program>> build();

private:
  /// Notes the functions and shared variables that a statement names.
  void collect(const Operand &operand);
  void collectFunctions();
  Error layOutShared();
  Error layOutParameters();
  Error decode(Code &code);
  Error decode(Decoder &decoder, const Statement &statement);

  const SyntaxTree &syntax;
  const Function &entry;
  const ModuleLayout &layout;
  std::unique_ptr<Program> program;
  llvm::SetVector<const Function *> functions;
  llvm::SetVector<const Variable *> shared;
  llvm::DenseMap<const Variable *, uint32_t> fixedOffsets;
  llvm::DenseMap<const Function *, Code *> codes;
};
} // namespace

void Builder::collect(const Operand &operand) {
  if (operand.function && operand.function->isDefined)
    functions.insert(operand.function);
  if (operand.variable && operand.variable->space == StateSpace::Shared)
    shared.insert(operand.variable);
  for (const Operand &child : operand.children)
    collect(child);
}

void Builder::collectFunctions() {
  functions.insert(&entry);
  bool callsIndirectly = false;
  auto collectAll = [&](size_t from) {
    for (size_t i = from; i != functions.size(); ++i)
      for (const Statement &statement : functions[i]->body) {
        for (const Operand &operand : statement.operands)
          collect(operand);
        if (statement.opcode.front() == "call")
          for (const Operand &operand : statement.operands)
            callsIndirectly |= operand.kind == Operand::Kind::Register;
      }
  };
  collectAll(0);
  if (!callsIndirectly)
    return;
  // A pointer may come from a table in memory.
  size_t known = functions.size();
  for (const Variable &variable : syntax.variables)
    for (const InitialValue &value : variable.initial)
      if (value.function && value.function->isDefined)
        functions.insert(value.function);
  collectAll(known);
}

/// Static variables in the order of their declarations, then the dynamic ones,
/// which all begin at one address.
Error Builder::layOutShared() {
  SmallVector<const Variable *> variables(shared.begin(), shared.end());
  llvm::sort(variables, [](const Variable *a, const Variable *b) {
    return std::tie(a->location.line, a->location.column) <
           std::tie(b->location.line, b->location.column);
  });
  uint64_t end = kSharedBase;
  uint64_t dynamicAlignment = 16;
  for (const Variable *variable : variables) {
    uint64_t alignment = std::max(variable->alignment, 1u);
    if (variable->isExternal) {
      dynamicAlignment = std::max(dynamicAlignment, alignment);
      continue;
    }
    end = llvm::alignTo(end, alignment);
    fixedOffsets[variable] = static_cast<uint32_t>(end);
    program->sharedVariables.push_back({static_cast<uint32_t>(end), variable});
    end += variable->getSize();
    if (end > kSharedBase + kLargestShared)
      return syntax.makeError(
          variable->location,
          "'" + entry.name + "' expects at most " + Twine(kLargestShared) +
              " bytes of shared memory, but needs " + Twine(end - kSharedBase) +
              " up to '" + variable->name + "'");
  }
  program->staticSharedEnd = static_cast<uint32_t>(end);
  end = llvm::alignTo(end, dynamicAlignment);
  program->dynamicSharedBase = static_cast<uint32_t>(end);
  for (const Variable *variable : variables)
    if (variable->isExternal) {
      fixedOffsets[variable] = static_cast<uint32_t>(end);
      program->sharedVariables.push_back(
          {static_cast<uint32_t>(end), variable});
    }
  return Error::success();
}

Error Builder::layOutParameters() {
  uint64_t end = 0;
  for (const Variable &parameter : entry.parameters) {
    if (parameter.space == StateSpace::Register)
      return syntax.makeError(parameter.location,
                              "a kernel expects '.param' parameters, but '" +
                                  parameter.name + "' is a register");
    end = llvm::alignTo(end, std::max(parameter.alignment, 1u));
    fixedOffsets[&parameter] = static_cast<uint32_t>(end);
    program->parameterOffsets.push_back(static_cast<uint32_t>(end));
    end += parameter.getSize();
    if (end > kLargestParameters)
      return syntax.makeError(
          parameter.location,
          "'" + entry.name + "' expects at most " + Twine(kLargestParameters) +
              " bytes of parameters, but needs " + Twine(end) + " up to '" +
              parameter.name + "'");
  }
  program->parameterBytes = static_cast<uint32_t>(end);
  return Error::success();
}

Error Builder::decode(Decoder &decoder, const Statement &statement) {
  const InstructionTable::Entry *entry =
      InstructionTable::get().find(statement.opcode);
  decoder.begin(statement, {});
  std::string opcode = llvm::join(statement.opcode, ".");
  if (!entry)
    return decoder.error("instruction '" + opcode + "' is not supported");
  decoder.begin(
      statement,
      llvm::ArrayRef<StringRef>(statement.opcode).drop_front(entry->numWords));
  Code &code = decoder.getCode();
  size_t first = code.code.size();
  if (Error error = entry->decode(decoder))
    return error;
  if (!decoder.getWords().empty())
    return decoder.error("'." + decoder.getWords().front() + "' of '" + opcode +
                         "' is not supported; '" + entry->info.name +
                         "' takes " + entry->info.forms);
  Slot guard = kNoSlot;
  if (statement.guard) {
    Operand operand;
    operand.kind = Operand::Kind::Register;
    operand.variable = statement.guard;
    operand.text = statement.guard->name;
    Expected<Slot> slot = decoder.predicate(operand);
    if (!slot)
      return slot.takeError();
    guard = *slot;
  }
  for (Instruction &instruction :
       llvm::MutableArrayRef<Instruction>(code.code).drop_front(first)) {
    // A branch of the statement's own is not the text's.
    if (instruction.isHidden && instruction.flow == Flow::Branch)
      continue;
    instruction.guard = guard;
    instruction.guardNegated = statement.guardNegated;
  }
  return Error::success();
}

/// Gives the parameters of a device function that are registers their slots.
static Error placeRegisters(Decoder &decoder,
                            const std::deque<Variable> &variables,
                            SmallVector<CallOperand> &operands) {
  for (auto [variable, operand] : llvm::zip(variables, operands)) {
    if (variable.space != StateSpace::Register)
      continue;
    Operand reference;
    reference.kind = Operand::Kind::Register;
    reference.variable = &variable;
    reference.text = variable.name;
    Expected<Slot> slot = decoder.source(reference, variable.type);
    if (!slot)
      return slot.takeError();
    operand.slot = *slot;
    operand.bytes = getLaneBytes(variable.type);
  }
  return Error::success();
}

Error Builder::decode(Code &code) {
  const Function &function = *code.function;
  Decoder::Context context(layout);
  context.fixedOffsets = &fixedOffsets;
  context.codes = &codes;
  uint64_t localEnd = 0;
  auto addLocal = [&](const Variable &variable) {
    localEnd = llvm::alignTo(localEnd, std::max(variable.alignment, 1u));
    uint32_t offset = static_cast<uint32_t>(localEnd);
    context.localOffsets[&variable] = offset;
    localEnd += variable.getSize();
    return offset;
  };
  auto addParameter = [&](const Variable &variable) {
    CallOperand operand;
    operand.bytes = static_cast<uint32_t>(variable.getSize());
    if (variable.space != StateSpace::Register)
      operand.offset = addLocal(variable);
    return operand;
  };
  if (!function.isEntry) {
    for (const Variable &parameter : function.parameters)
      code.parameters.push_back(addParameter(parameter));
    for (const Variable &result : function.results)
      code.results.push_back(addParameter(result));
  }
  for (const Variable &variable : function.variables)
    if (variable.space == StateSpace::Local ||
        variable.space == StateSpace::Parameter)
      addLocal(variable);
  if (localEnd > kLargestLocal)
    return syntax.makeError(
        function.location,
        "'" + function.name + "' expects at most " + Twine(kLargestLocal) +
            " bytes of local memory, but has " + Twine(localEnd));
  code.localBytes = static_cast<uint32_t>(llvm::alignTo(localEnd, 16));

  Decoder decoder(*program, code, context);
  if (Error error =
          placeRegisters(decoder, function.parameters, code.parameters))
    return error;
  if (Error error = placeRegisters(decoder, function.results, code.results))
    return error;
  std::vector<uint32_t> positions;
  for (const Statement &statement : function.body) {
    positions.push_back(static_cast<uint32_t>(code.code.size()));
    if (Error error = decode(decoder, statement))
      return error;
  }
  positions.push_back(static_cast<uint32_t>(code.code.size()));
  // What runs off the end returns.
  Instruction &end = code.code.emplace_back();
  end.flow = Flow::Return;
  end.isHidden = true;
  end.index = program->numInstructions++;
  end.statement = function.body.empty() ? nullptr : &function.body.back();

  // Labels become positions.
  for (Instruction &instruction : code.code) {
    if (instruction.flow == Flow::Branch && !instruction.isHidden) {
      instruction.target =
          positions[function.labels[instruction.target].statement];
    } else if (instruction.flow == Flow::BranchTable) {
      std::vector<uint32_t> targets;
      for (uint32_t label :
           *static_cast<const std::vector<uint32_t> *>(instruction.data))
        targets.push_back(positions[function.labels[label].statement]);
      instruction.data = program->own(std::move(targets));
    }
  }
  computeReconvergence(code);
  // Lanes that call different functions through pointers meet after the call.
  for (size_t i = 0; i + 1 < code.code.size(); ++i)
    if (code.code[i].flow == Flow::Call && code.code[i].a != kNoSlot)
      code.code[i + 1].isMeetingPoint = true;
  code.registers = std::move(context.registers);
  if (code.frameBytes > kLargestFrames)
    return syntax.makeError(function.location,
                            "'" + function.name + "' uses too many registers");
  return Error::success();
}

Expected<std::unique_ptr<Program>> Builder::build() {
  program->syntax = &syntax;
  program->entry = &entry;
  StringRef target = syntax.target;
  target.consume_front("sm_");
  target.consumeInteger(10, program->architecture);
  collectFunctions();
  if (Error error = layOutShared())
    return std::move(error);
  if (Error error = layOutParameters())
    return std::move(error);
  for (const Function *function : functions) {
    auto code = std::make_unique<Code>();
    code->function = function;
    codes[function] = code.get();
    program->codes.push_back(std::move(code));
  }
  for (const auto &[function, address] : layout.functions)
    if (Code *code = codes.lookup(function))
      program->functionAddresses[address] = code;
  for (const std::unique_ptr<Code> &code : program->codes)
    if (Error error = decode(*code))
      return std::move(error);
  return std::move(program);
}

Expected<std::unique_ptr<Program>>
tile::emulator::buildProgram(const SyntaxTree &syntax, const Function &entry,
                             const ModuleLayout &layout) {
  return Builder(syntax, entry, layout).build();
}
