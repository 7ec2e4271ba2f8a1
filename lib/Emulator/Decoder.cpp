//===- Decoder.cpp - Words and operands of one statement ------------------===//

#include "Decoder.h"
#include "Lanes.h"
#include "ProgramBuilder.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace tile::emulator;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

void Decoder::begin(const Statement &next, ArrayRef<StringRef> remaining) {
  statement = &next;
  words.assign(remaining.begin(), remaining.end());
}

Error Decoder::error(const Twine &message) const {
  return program.syntax->makeError(statement->location, message);
}

Error Decoder::error(const Operand &operand, const Twine &message) const {
  return program.syntax->makeError(
      operand.location.line ? operand.location : statement->location, message);
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

bool Decoder::take(StringRef word) {
  auto it = llvm::find(words, word);
  if (it == words.end())
    return false;
  words.erase(it);
  return true;
}

StringRef Decoder::takeAny(ArrayRef<StringRef> choices) {
  for (auto it = words.begin(); it != words.end(); ++it)
    if (llvm::is_contained(choices, *it)) {
      StringRef word = *it;
      words.erase(it);
      return word;
    }
  return "";
}

Type Decoder::takeOptionalType() {
  for (auto it = words.begin(); it != words.end(); ++it)
    if (std::optional<Type> type = findType(*it)) {
      words.erase(it);
      return *type;
    }
  return Type::None;
}

Expected<Type> Decoder::takeType() {
  Type type = takeOptionalType();
  if (type == Type::None)
    return error("'" + statement->opcode.front() +
                 "' expects a type, such as '.u32'");
  return type;
}

unsigned Decoder::takeVector() {
  StringRef word = takeAny({"v2", "v4", "v8"});
  return word.empty() ? 1 : static_cast<unsigned>(word[1] - '0');
}

StringRef Decoder::takeRounding() {
  return takeAny(
      {"rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi", "rs"});
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

/// Reserves room for a register of `laneBytes`.
static Slot allocateSlot(Code &code, unsigned laneBytes) {
  Slot slot = code.frameBytes;
  code.frameBytes += static_cast<uint32_t>(
      llvm::alignTo(laneBytes ? laneBytes * kLanes : 4, 64));
  return slot;
}

Slot Decoder::constant(uint64_t bits, unsigned laneBytes) {
  auto [it, isNew] = context.constants.try_emplace({bits, laneBytes}, 0);
  if (isNew) {
    it->second = allocateSlot(code, laneBytes);
    FrameValue value;
    value.laneBytes = static_cast<uint8_t>(laneBytes);
    value.slot = it->second;
    value.bits = bits;
    code.frameValues.push_back(value);
  }
  return it->second;
}

Slot Decoder::scratch(unsigned laneBytes) {
  return allocateSlot(code, laneBytes);
}

/// The special register that PTX calls `name`, or nullopt.
static std::optional<SpecialRegister> findSpecial(StringRef name) {
  using S = SpecialRegister;
  if (name.starts_with("%envreg") || name.starts_with("%pm"))
    return S::Zero;
  auto special =
      llvm::StringSwitch<int>(name)
#define TILE_SPECIAL3(NAME, VALUE)                                             \
  .Cases({NAME, NAME ".x"}, static_cast<int>(S::VALUE##X))                     \
      .Case(NAME ".y", static_cast<int>(S::VALUE##Y))                          \
      .Case(NAME ".z", static_cast<int>(S::VALUE##Z))
          TILE_SPECIAL3("%tid", Tid) TILE_SPECIAL3("%ntid", Ntid) TILE_SPECIAL3(
              "%ctaid", Ctaid) TILE_SPECIAL3("%nctaid",
                                             Nctaid) TILE_SPECIAL3("%clusterid",
                                                                   ClusterId)
              TILE_SPECIAL3("%nclusterid", NclusterId) TILE_SPECIAL3(
                  "%cluster_ctaid",
                  ClusterCtaid) TILE_SPECIAL3("%cluster_nctaid", ClusterNctaid)
#undef TILE_SPECIAL3
                  .Case("%laneid", static_cast<int>(S::LaneId))
                  .Case("%warpid", static_cast<int>(S::WarpId))
                  .Case("%nwarpid", static_cast<int>(S::NwarpId))
                  .Case("%smid", static_cast<int>(S::SmId))
                  .Case("%nsmid", static_cast<int>(S::NsmId))
                  .Case("%gridid", static_cast<int>(S::GridId))
                  .Case("%lanemask_eq", static_cast<int>(S::LanemaskEq))
                  .Case("%lanemask_lt", static_cast<int>(S::LanemaskLt))
                  .Case("%lanemask_le", static_cast<int>(S::LanemaskLe))
                  .Case("%lanemask_gt", static_cast<int>(S::LanemaskGt))
                  .Case("%lanemask_ge", static_cast<int>(S::LanemaskGe))
                  .Case("%dynamic_smem_size",
                        static_cast<int>(S::DynamicSmemSize))
                  .Case("%total_smem_size", static_cast<int>(S::TotalSmemSize))
                  .Case("%aggr_smem_size", static_cast<int>(S::AggrSmemSize))
                  .Case("%cluster_ctarank", static_cast<int>(S::ClusterCtarank))
                  .Case("%cluster_nctarank",
                        static_cast<int>(S::ClusterNctarank))
                  .Case("%reserved_smem_offset_begin",
                        static_cast<int>(S::Zero))
                  .Default(-1);
  if (special < 0)
    return std::nullopt;
  return static_cast<SpecialRegister>(special);
}

/// A constant of the text as bits of `type`; nullopt where the type takes no
/// such constant.
static std::optional<uint64_t> getConstantBits(const Operand &operand,
                                               Type type) {
  unsigned bits = getTypeBits(type);
  bool isFloat = type == Type::F32 || type == Type::F64;
  if (operand.kind == Operand::Kind::Integer) {
    if (isFloat)
      return std::nullopt;
    return bits >= 64 ? operand.bits
                      : operand.bits & ((uint64_t(1) << bits) - 1);
  }
  if (bits == 64) {
    if (operand.isDouble)
      return operand.bits;
    float single;
    uint32_t word = static_cast<uint32_t>(operand.bits);
    std::memcpy(&single, &word, 4);
    double value = single;
    uint64_t result;
    std::memcpy(&result, &value, 8);
    return result;
  }
  if (bits == 32) {
    if (!operand.isDouble)
      return operand.bits;
    double value;
    std::memcpy(&value, &operand.bits, 8);
    float single = static_cast<float>(value);
    uint32_t word;
    std::memcpy(&word, &single, 4);
    return word;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

unsigned Decoder::getNumOperands() const {
  return static_cast<unsigned>(statement->operands.size());
}

const Operand &Decoder::getOperand(unsigned i) const {
  return statement->operands[i];
}

Error Decoder::expectOperand(unsigned i) const {
  if (i < getNumOperands())
    return Error::success();
  return error("'" + statement->opcode.front() + "' expects at least " +
               Twine(i + 1) + (i == 0 ? " operand" : " operands") +
               ", but got " + Twine(getNumOperands()));
}

Error Decoder::expectOperands(unsigned min, unsigned max) {
  unsigned count = getNumOperands();
  if (count >= min && count <= max)
    return Error::success();
  return error("'" + statement->opcode.front() + "' expects " +
               (min == max ? Twine(min) : Twine(min) + " to " + Twine(max)) +
               (max == 1 ? " operand" : " operands") + ", but got " +
               Twine(count));
}

/// The slots of a register's elements, made on first use.
static SmallVector<Slot, 1> &getRegister(Decoder::Context &context, Code &code,
                                         const Variable &variable) {
  SmallVector<Slot, 1> &slots = context.registers[&variable];
  if (slots.empty())
    for (unsigned i = 0; i != variable.vectorSize; ++i)
      slots.push_back(allocateSlot(code, getLaneBytes(variable.type)));
  return slots;
}

/// "%r1, which is .b32": a register in messages.
static std::string describe(const Operand &operand) {
  std::string text = ("'" + operand.text + "'").str();
  if (operand.variable)
    text += (", which is ." + getTypeName(operand.variable->type)).str();
  return text;
}

Expected<Decoder::WideSlot> Decoder::wideSource(const Operand &operand,
                                                Type type) {
  using Kind = Operand::Kind;
  unsigned laneBytes = getLaneBytes(type);
  switch (operand.kind) {
  case Kind::Register: {
    if (operand.isNegated)
      return error(operand, "expects a register without a sign, but got '" +
                                operand.text + "'");
    SmallVector<Slot, 1> &slots = getRegister(context, code, *operand.variable);
    unsigned component = 0;
    if (operand.component >= 0)
      component = static_cast<unsigned>(operand.component);
    else if (slots.size() > 1)
      return error(operand, "expects one element, but got the vector '" +
                                operand.text + "'");
    if (component >= slots.size())
      return error(operand, "'" + operand.text + "' names element " +
                                Twine(component) + " of a vector of " +
                                Twine(slots.size()));
    Type registerType = operand.variable->type;
    if ((registerType == Type::Pred) != (type == Type::Pred) ||
        getTypeBits(registerType) < getTypeBits(type))
      return error(operand, "expects a register for ." + getTypeName(type) +
                                ", but got " + describe(operand));
    return WideSlot{slots[component], getLaneBytes(registerType)};
  }
  case Kind::Special: {
    std::optional<SpecialRegister> special = findSpecial(operand.text);
    if (operand.text == "%is_explicit_cluster")
      special = SpecialRegister::IsExplicitCluster;
    if (!special)
      return error(operand,
                   "special register '" + operand.text + "' is not supported");
    auto [it, isNew] = context.specials.try_emplace(
        {static_cast<unsigned>(*special), laneBytes}, 0);
    if (isNew) {
      it->second = allocateSlot(code, laneBytes);
      FrameValue value;
      value.kind = FrameValue::Kind::Special;
      value.laneBytes = static_cast<uint8_t>(laneBytes);
      value.special = static_cast<unsigned>(*special);
      value.slot = it->second;
      code.frameValues.push_back(value);
    }
    return WideSlot{it->second, laneBytes};
  }
  case Kind::Integer:
  case Kind::Float: {
    if (type == Type::Pred && operand.kind == Kind::Integer)
      return WideSlot{constant(operand.bits ? 1 : 0, 0), 0};
    std::optional<uint64_t> bits = getConstantBits(operand, type);
    if (!bits)
      return error(operand, "'" + operand.text + "' is no constant of type ." +
                                getTypeName(type));
    return WideSlot{constant(*bits, laneBytes), laneBytes};
  }
  case Kind::Symbol: {
    if (laneBytes != 8 && laneBytes != 4)
      return error(operand, "expects a value of type ." + getTypeName(type) +
                                ", but got the address of '" + operand.text +
                                "'");
    if (operand.function) {
      uint64_t address = context.layout.functions.lookup(operand.function);
      return WideSlot{constant(address, laneBytes), laneBytes};
    }
    const Variable &variable = *operand.variable;
    auto local = context.localOffsets.find(&variable);
    if (local != context.localOffsets.end()) {
      uint64_t offset = local->second + static_cast<uint64_t>(operand.offset);
      // One slot for each width: the low half of the other would do as well.
      auto [it, isNew] =
          context.localAddresses.try_emplace(offset << 1 | (laneBytes == 8), 0);
      if (isNew) {
        it->second = allocateSlot(code, laneBytes);
        FrameValue value;
        value.kind = FrameValue::Kind::LocalAddress;
        value.laneBytes = static_cast<uint8_t>(laneBytes);
        value.slot = it->second;
        value.bits = offset;
        code.frameValues.push_back(value);
      }
      return WideSlot{it->second, laneBytes};
    }
    uint64_t address;
    auto fixed = context.fixedOffsets->find(&variable);
    if (fixed != context.fixedOffsets->end()) {
      address = fixed->second;
    } else {
      auto global = context.layout.variables.find(&variable);
      if (global == context.layout.variables.end())
        return error(operand, "'" + operand.text +
                                  "' is external, and nothing defines it");
      if (laneBytes == 4)
        return error(operand, "the address of '" + operand.text +
                                  "' needs 64 bits, but got ." +
                                  getTypeName(type));
      address = global->second;
    }
    return WideSlot{
        constant(address + static_cast<uint64_t>(operand.offset), laneBytes),
        laneBytes};
  }
  case Kind::Word:
    if (operand.text == "WARP_SZ")
      return WideSlot{constant(kLanes, laneBytes), laneBytes};
    [[fallthrough]];
  default:
    return error(operand, "expects a value of type ." + getTypeName(type) +
                              ", but got '" + operand.text + "'");
  }
}

/// An error where a register does not have exactly the bits of `type`.
static bool hasWidth(const Operand &operand, Type type) {
  return operand.kind != Operand::Kind::Register ||
         getTypeBits(operand.variable->type) == getTypeBits(type);
}

Expected<Slot> Decoder::source(const Operand &operand, Type type) {
  if (type == Type::Pred)
    return predicate(operand);
  Expected<WideSlot> wide = wideSource(operand, type);
  if (!wide)
    return wide.takeError();
  if (!hasWidth(operand, type))
    return error(operand, "expects a register for ." + getTypeName(type) +
                              ", but got " + describe(operand));
  return wide->slot;
}

Expected<Slot> Decoder::source(unsigned i, Type type) {
  if (Error missing = expectOperand(i))
    return std::move(missing);
  return source(getOperand(i), type);
}

Expected<Decoder::WideSlot> Decoder::wideDestination(const Operand &operand,
                                                     Type type) {
  if (operand.kind == Operand::Kind::Sink) {
    unsigned laneBytes = getLaneBytes(type);
    return WideSlot{scratch(laneBytes), laneBytes};
  }
  if (operand.kind != Operand::Kind::Register || operand.isNegated)
    return error(operand,
                 "expects a register to write, but got '" + operand.text + "'");
  return wideSource(operand, type);
}

Expected<Slot> Decoder::destination(const Operand &operand, Type type) {
  Expected<WideSlot> wide = wideDestination(operand, type);
  if (!wide)
    return wide.takeError();
  if (!hasWidth(operand, type))
    return error(operand, "expects a register for ." + getTypeName(type) +
                              ", but got " + describe(operand));
  return wide->slot;
}

Expected<Slot> Decoder::destination(unsigned i, Type type) {
  if (Error missing = expectOperand(i))
    return std::move(missing);
  return destination(getOperand(i), type);
}

static void executeNotPredicate(const Instruction &instruction, Lanes &lanes) {
  uint32_t undefined = lanes.undefinedAt(instruction.a);
  storePredicate(lanes, instruction.d, ~lanes.mask(instruction.a), undefined);
}

Expected<Slot> Decoder::predicate(const Operand &operand) {
  Operand plain = operand;
  plain.isNegated = false;
  Expected<WideSlot> slot = wideSource(plain, Type::Pred);
  if (!slot)
    return slot.takeError();
  if (!operand.isNegated)
    return slot->slot;
  Slot inverse = scratch(0);
  Instruction &invert = emitHidden(executeNotPredicate);
  invert.d = inverse;
  invert.a = slot->slot;
  return inverse;
}

Expected<Slot> Decoder::predicate(unsigned i) {
  if (Error missing = expectOperand(i))
    return std::move(missing);
  return predicate(getOperand(i));
}

Expected<SmallVector<Operand, 4>> Decoder::vector(const Operand &operand,
                                                  unsigned count) {
  SmallVector<Operand, 4> result;
  if (operand.kind == Operand::Kind::Vector) {
    if (operand.children.size() != count)
      return error(operand, "expects " + Twine(count) +
                                " elements in braces, but got " +
                                Twine(operand.children.size()));
    result.assign(operand.children.begin(), operand.children.end());
    return std::move(result);
  }
  if (operand.kind == Operand::Kind::Register && operand.component < 0 &&
      operand.variable->vectorSize > 1 &&
      operand.variable->vectorSize == count) {
    for (unsigned i = 0; i != count; ++i) {
      result.push_back(operand);
      result.back().component = static_cast<int8_t>(i);
    }
    return std::move(result);
  }
  if (count != 1)
    return error(operand, "expects " + Twine(count) +
                              " elements in braces, but got '" + operand.text +
                              "'");
  result.push_back(operand);
  return std::move(result);
}

Expected<SmallVector<Slot, 8>>
Decoder::slots(unsigned i, Type type, unsigned count,
               Expected<Slot> (Decoder::*place)(const Operand &, Type)) {
  if (Error missing = expectOperand(i))
    return std::move(missing);
  Expected<SmallVector<Operand, 4>> elements = vector(getOperand(i), count);
  if (!elements)
    return elements.takeError();
  SmallVector<Slot, 8> result;
  for (const Operand &element : *elements) {
    Expected<Slot> slot = (this->*place)(element, type);
    if (!slot)
      return slot.takeError();
    result.push_back(*slot);
  }
  return std::move(result);
}

Expected<SmallVector<Slot, 8>> Decoder::sources(unsigned i, Type type,
                                                unsigned count) {
  return slots(i, type, count, &Decoder::source);
}

Expected<SmallVector<Slot, 8>> Decoder::destinations(unsigned i, Type type,
                                                     unsigned count) {
  return slots(i, type, count, &Decoder::destination);
}

bool Decoder::isInteger(unsigned i) const {
  return i < getNumOperands() && getOperand(i).kind == Operand::Kind::Integer;
}

Expected<int64_t> Decoder::integer(const Operand &operand) {
  if (operand.kind != Operand::Kind::Integer)
    return error(operand,
                 "expects an integer constant, but got '" + operand.text + "'");
  return static_cast<int64_t>(operand.bits);
}

Expected<int64_t> Decoder::integer(unsigned i) {
  if (Error missing = expectOperand(i))
    return std::move(missing);
  return integer(getOperand(i));
}

Expected<AddressOperand> Decoder::address(const Operand &operand) {
  if (operand.kind != Operand::Kind::Address || operand.children.empty())
    return error(operand, "expects an address in brackets, but got '" +
                              operand.text + "'");
  if (operand.children.size() > 1)
    return error(operand, "expects an address without coordinates, but got '" +
                              operand.text + "'");
  const Operand &base = operand.children.front();
  AddressOperand result;
  result.offset = operand.offset;
  switch (base.kind) {
  case Operand::Kind::Register: {
    Type type = base.variable->type;
    if (getTypeBits(type) != 64 && getTypeBits(type) != 32)
      return error(base, "expects an address of 32 or 64 bits, but got " +
                             describe(base));
    Expected<WideSlot> slot = wideSource(base, type);
    if (!slot)
      return slot.takeError();
    result.base = slot->slot;
    result.baseBytes = slot->laneBytes;
    return result;
  }
  case Operand::Kind::Integer:
    result.offset += static_cast<int64_t>(base.bits);
    return result;
  case Operand::Kind::Symbol: {
    if (!base.variable)
      return error(base, "expects the address of a variable, but got '" +
                             base.text + "'");
    result.variable = base.variable;
    result.space = base.variable->space;
    result.offset += base.offset;
    Expected<WideSlot> slot = wideSource(base, Type::U64);
    if (!slot)
      return slot.takeError();
    if (context.localOffsets.count(base.variable)) {
      result.space = StateSpace::Local;
      result.base = slot->slot;
      result.offset -= base.offset; // It is in the slot already.
      return result;
    }
    auto fixed = context.fixedOffsets->find(base.variable);
    result.offset += static_cast<int64_t>(
        fixed != context.fixedOffsets->end()
            ? fixed->second
            : context.layout.variables.lookup(base.variable));
    return result;
  }
  default:
    return error(base, "expects a register, a variable or a number as "
                       "address, but got '" +
                           base.text + "'");
  }
}

Expected<AddressOperand> Decoder::address(unsigned i) {
  if (Error missing = expectOperand(i))
    return std::move(missing);
  return address(getOperand(i));
}

Instruction &Decoder::emit(Execute execute, InstructionClass instructionClass) {
  Instruction &instruction = code.code.emplace_back();
  instruction.execute = execute;
  instruction.instructionClass = instructionClass;
  instruction.statement = statement;
  instruction.index = program.numInstructions++;
  return instruction;
}

Instruction &Decoder::emitHidden(Execute execute) {
  Instruction &instruction = emit(execute, InstructionClass::Other);
  instruction.isHidden = true;
  return instruction;
}
