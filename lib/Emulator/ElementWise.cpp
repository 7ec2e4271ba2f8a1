//===- ElementWise.cpp - Decoding of lane-wise instructions ---------------===//
//
// The operands and errors that the families of lane-wise instructions share.
//
//===----------------------------------------------------------------------===//

#include "ElementWise.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"

using namespace tile::emulator;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

/// ".a, .b or .c"
static std::string join(ArrayRef<StringRef> words) {
  std::string text;
  for (auto [i, word] : llvm::enumerate(words)) {
    if (i)
      text += i + 1 == words.size() ? " or " : ", ";
    text += "." + word.str();
  }
  return text;
}

Error tile::emulator::expectType(Decoder &decoder, Type type,
                                 ArrayRef<Type> expected, StringRef what) {
  if (llvm::is_contained(expected, type))
    return Error::success();
  llvm::SmallVector<StringRef> names;
  for (Type one : expected)
    names.push_back(getTypeName(one));
  if (what.empty())
    what = decoder.getStatement().opcode.front();
  return decoder.error("'" + what + "' expects " + join(names) + ", but got ." +
                       getTypeName(type));
}

Expected<Type> tile::emulator::takeTypeOf(Decoder &decoder,
                                          ArrayRef<Type> expected) {
  Expected<Type> type = decoder.takeType();
  if (!type)
    return type;
  if (Error error = expectType(decoder, *type, expected))
    return error;
  return type;
}

Expected<StringRef> tile::emulator::takeOneOf(Decoder &decoder,
                                              ArrayRef<StringRef> words) {
  StringRef word = decoder.takeAny(words);
  if (word.empty())
    return decoder.error("'" + decoder.getStatement().opcode.front() +
                         "' expects " + join(words));
  return word;
}

Error tile::emulator::expectArchitecture(Decoder &decoder,
                                         unsigned architecture) {
  if (decoder.getArchitecture() >= architecture)
    return Error::success();
  return decoder.error(llvm::Twine("this form needs sm_") +
                       llvm::Twine(architecture) +
                       " or later, but the module's target is " +
                       decoder.getProgram().syntax->target);
}

Expected<Instruction *>
tile::emulator::emitLanewise(Decoder &decoder, Execute execute,
                             InstructionClass instructionClass, Type d,
                             ArrayRef<Type> sources) {
  unsigned numOperands = static_cast<unsigned>(sources.size()) + 1;
  if (Error error = decoder.expectOperands(numOperands, numOperands))
    return error;
  llvm::SmallVector<Slot, 8> slots;
  for (auto [i, type] : llvm::enumerate(sources)) {
    unsigned operand = static_cast<unsigned>(i) + 1;
    Expected<Slot> slot = type == Type::Pred ? decoder.predicate(operand)
                                             : decoder.source(operand, type);
    if (!slot)
      return slot.takeError();
    slots.push_back(*slot);
  }
  Expected<Slot> destination = decoder.destination(0, d);
  if (!destination)
    return destination.takeError();

  Instruction &instruction = decoder.emit(execute, instructionClass);
  instruction.d = *destination;
  if (slots.size() > 0)
    instruction.a = slots[0];
  if (slots.size() > 1)
    instruction.b = slots[1];
  if (slots.size() > 2)
    instruction.c = slots[2];
  if (slots.size() > 3)
    instruction.operands = decoder.getProgram().own(ArrayRef<Slot>(slots));
  return &instruction;
}

Error tile::emulator::emitSimple(Decoder &decoder, Execute execute,
                                 InstructionClass instructionClass, Type d,
                                 ArrayRef<Type> sources) {
  Expected<Instruction *> instruction =
      emitLanewise(decoder, execute, instructionClass, d, sources);
  return instruction ? Error::success() : instruction.takeError();
}
