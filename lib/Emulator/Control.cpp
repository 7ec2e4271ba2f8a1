//===- Control.cpp - Branches, calls, barriers, traps ---------------------===//
//
// These instructions are the scheduler's to execute; here they are read.
//
//===----------------------------------------------------------------------===//

#include "BarrierOperation.h"
#include "Builtins.h"
#include "Decoder.h"
#include "Machine.h"
#include "ProgramBuilder.h"

using namespace tile::emulator;
using llvm::Error;
using llvm::Expected;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

static Error decodeBranch(Decoder &decoder) {
  decoder.take("uni");
  if (Error error = decoder.expectOperands(1, 1))
    return error;
  const Operand &target = decoder.getOperand(0);
  if (target.kind != Operand::Kind::Label)
    return decoder.error(target,
                         "expects a label, but got '" + target.text + "'");
  Instruction &branch = decoder.emit(nullptr, InstructionClass::Control);
  branch.flow = Flow::Branch;
  branch.target = target.label;
  return Error::success();
}

static Error decodeIndexedBranch(Decoder &decoder) {
  decoder.take("uni");
  if (Error error = decoder.expectOperands(2, 2))
    return error;
  Expected<Slot> index = decoder.source(0, Type::U32);
  if (!index)
    return index.takeError();
  const Operand &list = decoder.getOperand(1);
  const Function &function = *decoder.getCode().function;
  std::vector<uint32_t> targets;
  if (list.kind == Operand::Kind::Label &&
      function.labels[list.label].isTargetList)
    targets.assign(function.labels[list.label].targets.begin(),
                   function.labels[list.label].targets.end());
  if (targets.empty())
    return decoder.error(list, "expects the label of '.branchtargets', but "
                               "got '" +
                                   list.text + "'");
  const auto *owned = decoder.getProgram().own(std::move(targets));
  Instruction &branch = decoder.emit(nullptr, InstructionClass::Control);
  branch.flow = Flow::BranchTable;
  branch.a = *index;
  branch.data = owned;
  return Error::success();
}

/// Reads the parameters or results of a call, as the caller holds them.
static Error readOperands(Decoder &decoder, const Operand &list, bool isResult,
                          SmallVector<CallOperand> &operands) {
  for (const Operand &operand : list.children) {
    CallOperand result;
    const Variable *variable = operand.variable;
    if (operand.kind == Operand::Kind::Symbol && variable &&
        variable->space == StateSpace::Parameter) {
      const auto &offsets = decoder.getContext().localOffsets;
      auto offset = offsets.find(variable);
      if (offset == offsets.end() || operand.offset)
        return decoder.error(operand, "expects a '.param' variable of the "
                                      "function's body, but got '" +
                                          operand.text + "'");
      result.offset = offset->second;
      result.bytes = static_cast<uint32_t>(variable->getSize());
    } else if (isResult && operand.kind != Operand::Kind::Register) {
      return decoder.error(operand, "expects a register or a '.param' variable "
                                    "for the result, but got '" +
                                        operand.text + "'");
    } else {
      Type type =
          operand.kind == Operand::Kind::Register ? variable->type : Type::B64;
      Expected<Slot> slot = decoder.source(operand, type);
      if (!slot)
        return slot.takeError();
      result.slot = *slot;
      result.bytes = getLaneBytes(type);
      result.isConstant = operand.kind != Operand::Kind::Register;
    }
    operands.push_back(result);
  }
  return Error::success();
}

/// Bytes of a parameter as `CallOperand` counts them.
static uint64_t getParameterBytes(const Variable &parameter) {
  return parameter.space == StateSpace::Register ? getLaneBytes(parameter.type)
                                                 : parameter.getSize();
}

/// An error unless each operand of `list` has the bytes that the callee wants.
static Error checkSizes(Decoder &decoder, const Operand *list,
                        llvm::ArrayRef<CallOperand> operands,
                        llvm::ArrayRef<uint64_t> expected) {
  for (size_t i = 0; i != operands.size(); ++i) {
    const CallOperand &operand = operands[i];
    if (operand.isConstant ? expected[i] && expected[i] <= operand.bytes
                           : operand.bytes == expected[i])
      continue;
    return decoder.error(list->children[i],
                         "the called function expects " +
                             (expected[i] ? Twine(expected[i]) + " bytes"
                                          : Twine("a predicate")) +
                             ", but got '" + list->children[i].text +
                             (operand.bytes
                                  ? "' of " + Twine(operand.bytes) + " bytes"
                                  : Twine("', a predicate")));
  }
  return Error::success();
}

static Error decodeCall(Decoder &decoder) {
  decoder.take("uni");
  // call (results), function, (parameters), prototype;
  const Operand *results = nullptr, *target = nullptr, *parameters = nullptr;
  for (unsigned i = 0; i != decoder.getNumOperands(); ++i) {
    const Operand &operand = decoder.getOperand(i);
    if (operand.kind == Operand::Kind::List) {
      const Operand *&list = target ? parameters : results;
      if (list)
        return decoder.error(operand, "'call' expects one list of parameters");
      list = &operand;
    } else if (!target) {
      target = &operand;
    } else if (target->function || i + 1 != decoder.getNumOperands()) {
      return decoder.error(operand, "'call' expects '(results), function, "
                                    "(parameters)', but got '" +
                                        operand.text + "'");
    }
  }
  if (!target)
    return decoder.error("'call' expects a function");
  CallData call;
  if (results)
    if (Error error =
            readOperands(decoder, *results, /*isResult=*/true, call.results))
      return error;
  if (parameters)
    if (Error error = readOperands(decoder, *parameters, /*isResult=*/false,
                                   call.arguments))
      return error;
  Slot address = kNoSlot;
  if (target->function) {
    const Function &callee = *target->function;
    if (callee.isDefined) {
      call.callee = decoder.getContext().codes->lookup(&callee);
      if (callee.isEntry || !call.callee)
        return decoder.error(*target, "expects a device function, but got '" +
                                          target->text + "'");
      if (callee.parameters.size() != call.arguments.size() ||
          callee.results.size() != call.results.size())
        return decoder.error(
            *target, "'" + target->text + "' expects " +
                         Twine(callee.parameters.size()) + " parameters and " +
                         Twine(callee.results.size()) + " results, but got " +
                         Twine(call.arguments.size()) + " and " +
                         Twine(call.results.size()));
      SmallVector<uint64_t> bytes;
      for (const Variable &result : callee.results)
        bytes.push_back(getParameterBytes(result));
      if (Error error = checkSizes(decoder, results, call.results, bytes))
        return error;
      bytes.clear();
      for (const Variable &parameter : callee.parameters)
        bytes.push_back(getParameterBytes(parameter));
      if (Error error = checkSizes(decoder, parameters, call.arguments, bytes))
        return error;
    } else {
      const Builtin *builtin = findBuiltin(callee.name);
      if (!builtin)
        return decoder.error(*target, "function '" + target->text +
                                          "' is not defined in this file");
      SmallVector<uint64_t> bytes(builtin->argumentBytes.begin(),
                                  builtin->argumentBytes.end());
      if (call.arguments.size() != bytes.size() ||
          call.results.size() > (builtin->resultBytes ? 1 : 0))
        return decoder.error(*target,
                             "'" + target->text + "' expects " +
                                 Twine(bytes.size()) + " parameters, but got " +
                                 Twine(call.arguments.size()) + " and " +
                                 Twine(call.results.size()) + " results");
      if (Error error = checkSizes(decoder, parameters, call.arguments, bytes))
        return error;
      if (Error error = checkSizes(decoder, results, call.results,
                                   {uint64_t(builtin->resultBytes)}))
        return error;
      call.builtin = builtin->execute;
    }
  } else {
    Expected<Slot> slot = decoder.source(*target, Type::U64);
    if (!slot)
      return slot.takeError();
    address = *slot;
  }
  bool isBuiltin = call.builtin != nullptr;
  // What it prints cannot be taken back, so no run may be repeated.
  decoder.getProgram().blocksCommunicate |= isBuiltin;
  const CallData *data = decoder.getProgram().own(std::move(call));
  Instruction &instruction = decoder.emit(isBuiltin ? executeBuiltin : nullptr,
                                          InstructionClass::Control);
  instruction.flow = isBuiltin ? Flow::Next : Flow::Call;
  instruction.a = address;
  instruction.data = data;
  return Error::success();
}

static Error decodeReturn(Decoder &decoder) {
  decoder.take("uni");
  if (Error error = decoder.expectOperands(0, 0))
    return error;
  bool isEntry = decoder.getCode().function->isEntry;
  Instruction &instruction = decoder.emit(nullptr, InstructionClass::Control);
  instruction.flow = isEntry ? Flow::Exit : Flow::Return;
  return Error::success();
}

static Error decodeExit(Decoder &decoder) {
  if (Error error = decoder.expectOperands(0, 0))
    return error;
  decoder.emit(nullptr, InstructionClass::Control).flow = Flow::Exit;
  return Error::success();
}

static void executeTrap(const Instruction &instruction, Lanes &lanes) {
  lanes.warp->fault(instruction,
                    static_cast<unsigned>(__builtin_ctz(lanes.active)),
                    Check::Trap, "the kernel executed 'trap'");
}

static void executeBreakpoint(const Instruction &, Lanes &) {}

static Error decodeTrap(Decoder &decoder) {
  if (Error error = decoder.expectOperands(0, 0))
    return error;
  decoder.emit(executeTrap, InstructionClass::Control);
  return Error::success();
}

/// Breakpoints and profiler triggers do nothing where no debugger is.
static Error decodeNothing(Decoder &decoder) {
  decoder.take("mask");
  if (Error error = decoder.expectOperands(0, 1))
    return error;
  decoder.emit(executeBreakpoint, InstructionClass::Control);
  return Error::success();
}

static Error decodeBarrier(Decoder &decoder) {
  const bool isBar = decoder.getStatement().opcode.front() == "bar";
  BarrierOperation operation;
  decoder.take("cta");
  StringRef kind = decoder.takeAny({"sync", "arrive", "red"});
  operation.aligned = decoder.take("aligned") || isBar;
  if (kind.empty())
    return decoder.error("'" + decoder.getStatement().opcode.front() +
                         "' expects '.sync', '.arrive' or '.red'");
  unsigned first = 0;
  Slot result = 0, predicate = kNoSlot;
  if (kind == "red") {
    StringRef reduction = decoder.takeAny({"popc", "and", "or"});
    Type type = decoder.takeOptionalType();
    if (reduction.empty() ||
        type != (reduction == "popc" ? Type::U32 : Type::Pred))
      return decoder.error(
          "a barrier's reduction expects '.popc.u32', '.and.pred' or "
          "'.or.pred'");
    operation.kind = reduction == "popc"  ? BarrierOperation::Popc
                     : reduction == "and" ? BarrierOperation::And
                                          : BarrierOperation::Or;
    if (Error error = decoder.expectOperands(3, 4))
      return error;
    Expected<Slot> d = decoder.destination(0, type);
    if (!d)
      return d.takeError();
    result = *d;
    Expected<Slot> p = decoder.predicate(decoder.getNumOperands() - 1);
    if (!p)
      return p.takeError();
    predicate = *p;
    first = 1;
  } else {
    operation.kind =
        kind == "sync" ? BarrierOperation::Sync : BarrierOperation::Arrive;
    if (Error error = decoder.expectOperands(kind == "sync" ? 1 : 2, 2))
      return error;
  }
  Expected<Slot> barrier = decoder.source(first, Type::U32);
  if (!barrier)
    return barrier.takeError();
  Slot count = kNoSlot;
  if (decoder.getNumOperands() - (predicate != kNoSlot) > first + 1) {
    Expected<Slot> threads = decoder.source(first + 1, Type::U32);
    if (!threads)
      return threads.takeError();
    count = *threads;
  }
  const auto *data = decoder.getProgram().own(operation);
  Instruction &instruction = decoder.emit(nullptr, InstructionClass::Barrier);
  instruction.flow = Flow::Barrier;
  instruction.a = *barrier;
  instruction.b = count;
  instruction.c = predicate;
  instruction.d = result;
  instruction.data = data;
  return Error::success();
}

void tile::emulator::registerControl(InstructionTable &table) {
  static constexpr llvm::StringLiteral group = "Control flow and barriers";
  table.add("bra", "bra{.uni} label", group, decodeBranch);
  table.add("brx.idx", "brx.idx{.uni} index, targets", group,
            decodeIndexedBranch);
  table.add("call", "call{.uni} (results), function or address, (parameters)",
            group, decodeCall);
  table.add("ret", "ret{.uni}", group, decodeReturn);
  table.add("exit", "exit", group, decodeExit);
  table.add("trap", "trap: ends the launch with an error", group, decodeTrap);
  table.add("brkpt", "brkpt: no effect", group, decodeNothing);
  table.add("pmevent", "pmevent{.mask} n: no effect", group, decodeNothing);
  table.add("bar", "bar{.cta}.{sync,arrive,red}", group, decodeBarrier,
            [](llvm::ArrayRef<StringRef> words) {
              return !llvm::is_contained(words, "warp");
            });
  table.add("barrier", "barrier{.cta}.{sync,arrive,red}{.aligned}", group,
            decodeBarrier, [](llvm::ArrayRef<StringRef> words) {
              return !llvm::is_contained(words, "cluster");
            });
}
