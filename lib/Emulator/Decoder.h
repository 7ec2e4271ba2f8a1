//===- Decoder.h - From a statement to an instruction -----------*- C++ -*-===//
//
// The interface between the table of instructions and those who implement them.
// A family of instructions is one file: it registers the names that it knows
// with a function that reads the opcode's words and the operands of a statement
// and emits an `Instruction`. Whatever a function leaves unread is an error, so
// that a modifier is never silently ignored.
//
//   static Error decodeAdd(Decoder &decoder) {
//     bool saturate = decoder.take("sat");
//     Expected<Type> type = decoder.takeType();
//     …
//     Expected<Slot> d = decoder.destination(0, *type);
//     Expected<Slot> a = decoder.source(1, *type);
//     …
//     Instruction &add = decoder.emit(executeAdd<int32_t>,
//                                     InstructionClass::Integer);
//     add.d = *d; …
//     return Error::success();
//   }
//
//   void registerIntegerArithmetic(InstructionTable &table) {
//     table.add("add", "add{.sat}.type", "Integer arithmetic", decodeAdd);
//   }
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_DECODER_H
#define TILE_LIB_EMULATOR_DECODER_H

#include "Program.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

namespace tile::emulator {

class Decoder;
using DecodeFunction = llvm::Error (*)(Decoder &);

/// Every instruction known, by the first words of its opcode. The longest
/// registered prefix of an opcode wins: "mma.sync" before "mma".
class InstructionTable {
public:
  /// Registers `name`, one or more of the first words. Several functions may
  /// share a name (`add` of integers, f16, f32): they are tried in the order of
  /// `accepts`, which looks at the words and tells whether this one is meant;
  /// null accepts all.
  void add(llvm::StringLiteral name, llvm::StringLiteral forms,
           llvm::StringLiteral group, DecodeFunction decode,
           bool (*accepts)(llvm::ArrayRef<llvm::StringRef> words) = nullptr);

  /// The table with every family in it.
  static const InstructionTable &get();

  struct Entry {
    InstructionInfo info;
    DecodeFunction decode;
    bool (*accepts)(llvm::ArrayRef<llvm::StringRef>);
    unsigned numWords;
  };
  /// The entry for an opcode, or null.
  const Entry *find(llvm::ArrayRef<llvm::StringRef> words) const;
  llvm::ArrayRef<Entry> getEntries() const { return entries; }

private:
  std::vector<Entry> entries;
  llvm::StringMap<llvm::SmallVector<unsigned, 2>> byName;
};

/// Whether the last word of an opcode that is a type is one of `types`; for
/// `accepts` functions.
bool hasType(llvm::ArrayRef<llvm::StringRef> words, llvm::ArrayRef<Type> types);

/// An operand `[base + offset]`. The address of a lane is the value of `base`
/// (an unsigned number of `baseBytes` 4 or 8) plus `offset`, or `offset` alone
/// where `base` is kNoSlot, in `space`.
struct AddressOperand {
  Slot base = kNoSlot;
  unsigned baseBytes = 8;
  int64_t offset = 0;
  /// Where the text names a variable, the space that this one is in, with the
  /// base and offset already those of an address in that space; else Generic.
  /// `.param` variables of a device function's body are Local.
  StateSpace space = StateSpace::Generic;
  /// The variable named, or null; for messages.
  const Variable *variable = nullptr;
};

/// What a family's function sees of one statement, and how it answers.
class Decoder {
public:
  /// What decoding one function has learnt so far; ProgramBuilder.h.
  struct Context;

  Decoder(Program &program, Code &code, Context &context)
      : program(program), code(code), context(context) {}

  // --- The opcode -----------------------------------------------------------

  const Statement &getStatement() const { return *statement; }
  /// The words that nobody has taken yet, in order, without those of the name.
  llvm::ArrayRef<llvm::StringRef> getWords() const { return words; }
  /// Takes `word` if it is among the words, wherever.
  bool take(llvm::StringRef word);
  /// Takes the first of `choices` that is among the words; empty if none is.
  llvm::StringRef takeAny(llvm::ArrayRef<llvm::StringRef> choices);
  /// Takes the first remaining word that is a type. The error says what was
  /// expected.
  llvm::Expected<Type> takeType();
  /// As above, or None where no word is a type.
  Type takeOptionalType();
  /// Takes `.v2`, `.v4`, `.v8`: the number, or 1.
  unsigned takeVector();
  /// `.rn`, `.rz`, …, or empty.
  llvm::StringRef takeRounding();

  unsigned getArchitecture() const { return program.architecture; }
  unsigned getVersion() const { return program.syntax->version; }

  // --- The operands ---------------------------------------------------------

  unsigned getNumOperands() const;
  const Operand &getOperand(unsigned i) const;
  /// An error unless there are `min` to `max` operands.
  llvm::Error expectOperands(unsigned min, unsigned max);

  /// The place of operand `i` as a value of `type`: a register of as many bits,
  /// an immediate (converted to the type: an integer to f32 or f64 is an error,
  /// as in PTX), a special register, or a variable's address where the type has
  /// 64 bits (or 32, in shared, local, param or const space).
  llvm::Expected<Slot> source(unsigned i, Type type);
  llvm::Expected<Slot> source(const Operand &operand, Type type);
  /// As above, for `ld`, `st` and `cvt`, whose registers may be wider than the
  /// type. `laneBytes` is what the register has.
  struct WideSlot {
    Slot slot;
    unsigned laneBytes;
  };
  llvm::Expected<WideSlot> wideSource(const Operand &operand, Type type);
  llvm::Expected<WideSlot> wideDestination(const Operand &operand, Type type);
  /// A predicate; `!p` costs a hidden instruction.
  llvm::Expected<Slot> predicate(unsigned i);
  llvm::Expected<Slot> predicate(const Operand &operand);
  /// The place of a register that is written; `_` gives one that nobody reads.
  llvm::Expected<Slot> destination(unsigned i, Type type);
  llvm::Expected<Slot> destination(const Operand &operand, Type type);
  /// The elements of a vector operand (`{a, b}`, or a register declared as a
  /// vector); a single operand where `count` is 1.
  llvm::Expected<llvm::SmallVector<Operand, 4>> vector(const Operand &operand,
                                                       unsigned count);
  llvm::Expected<llvm::SmallVector<Slot, 8>> sources(unsigned i, Type type,
                                                     unsigned count);
  llvm::Expected<llvm::SmallVector<Slot, 8>> destinations(unsigned i, Type type,
                                                          unsigned count);
  /// A constant integer.
  llvm::Expected<int64_t> integer(unsigned i);
  llvm::Expected<int64_t> integer(const Operand &operand);
  /// Whether operand `i` is an integer constant.
  bool isInteger(unsigned i) const;
  llvm::Expected<AddressOperand> address(unsigned i);
  llvm::Expected<AddressOperand> address(const Operand &operand);

  /// A slot that holds `bits` in every lane.
  Slot constant(uint64_t bits, unsigned laneBytes);
  /// A slot that nothing else uses; never read before it is written.
  Slot scratch(unsigned laneBytes);

  // --- The answer -----------------------------------------------------------

  /// Appends an instruction for the statement; the guard is set by the caller.
  Instruction &emit(Execute execute, InstructionClass instructionClass);
  /// As above, for what must happen beside the statement's own instruction.
  Instruction &emitHidden(Execute execute);

  /// Makes `next` the statement that is decoded, with `words` left of it.
  void begin(const Statement &next, llvm::ArrayRef<llvm::StringRef> words);

  Program &getProgram() { return program; }
  Code &getCode() { return code; }
  Context &getContext() { return context; }

  /// `MESSAGE` at the statement, or at the operand.
  llvm::Error error(const llvm::Twine &message) const;
  llvm::Error error(const Operand &operand, const llvm::Twine &message) const;

private:
  /// An error unless there is an operand `i`.
  llvm::Error expectOperand(unsigned i) const;
  /// The places of the elements of a vector operand, by `source` or
  /// `destination`.
  llvm::Expected<llvm::SmallVector<Slot, 8>>
  slots(unsigned i, Type type, unsigned count,
        llvm::Expected<Slot> (Decoder::*place)(const Operand &, Type));

  Program &program;
  Code &code;
  Context &context;
  const Statement *statement = nullptr;
  llvm::SmallVector<llvm::StringRef, 8> words;
};

// The families; each is a file of this name.
void registerIntegerArithmetic(InstructionTable &table);
void registerBitOperations(InstructionTable &table);
void registerMoves(InstructionTable &table);
void registerComparisons(InstructionTable &table);
void registerFloatArithmetic(InstructionTable &table);
void registerHalfArithmetic(InstructionTable &table);
void registerSpecialFunctions(InstructionTable &table);
void registerConversions(InstructionTable &table);
void registerLoadsAndStores(InstructionTable &table);
void registerAtomics(InstructionTable &table);
void registerAsyncCopies(InstructionTable &table);
void registerMatrixMoves(InstructionTable &table);
void registerMbarriers(InstructionTable &table);
void registerFences(InstructionTable &table);
void registerWarpOperations(InstructionTable &table);
void registerTensorCore(InstructionTable &table);
void registerTcgen05(InstructionTable &table);
void registerControl(InstructionTable &table);

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_DECODER_H
