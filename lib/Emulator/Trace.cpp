//===- Trace.cpp - Shows what a warp does ---------------------------------===//

#include "Trace.h"
#include "Lanes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

using namespace tile::emulator;

std::string tile::emulator::formatLanes(uint32_t mask) {
  std::string text;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!(mask >> lane & 1))
      continue;
    unsigned last = lane;
    while (last + 1 < kLanes && mask >> (last + 1) & 1)
      ++last;
    text += (text.empty() ? "" : ",") + std::to_string(lane);
    if (last != lane)
      text += "-" + std::to_string(last);
    lane = last;
  }
  return text;
}

std::string tile::emulator::formatStatement(const Statement &statement) {
  std::string text;
  if (statement.guard)
    text = (llvm::Twine(statement.guardNegated ? "@!" : "@") +
            statement.guard->name + " ")
               .str();
  constexpr size_t kMost = 1000;
  text += statement.text.take_front(kMost).str();
  if (statement.text.size() > kMost)
    text += "...";
  return text;
}

/// Prints one lane's value of a register; `?` where it is unwritten.
static void printValue(llvm::raw_ostream &os, const Lanes &lanes, Slot slot,
                       Type type, unsigned lane) {
  if (lanes.undefinedAt(slot) >> lane & 1) {
    os << '?';
    return;
  }
  if (type == Type::Pred) {
    os << (lanes.mask(slot) >> lane & 1);
    return;
  }
  unsigned bytes = getLaneBytes(type);
  const uint8_t *at = lanes.registers + slot + size_t(lane) * bytes;
  uint64_t low = 0;
  std::memcpy(&low, at, std::min(bytes, 8u));
  if (type == Type::F32) {
    float value;
    std::memcpy(&value, at, 4);
    os << llvm::format("%g (0x%08x)", double(value), unsigned(low));
  } else if (type == Type::F64) {
    double value;
    std::memcpy(&value, at, 8);
    os << llvm::format("%g", value);
  } else {
    os << llvm::format_hex(low, 0);
  }
}

/// Collects the registers that an operand names.
static void collect(const Operand &operand,
                    llvm::SmallVectorImpl<const Operand *> &registers) {
  if (operand.kind == Operand::Kind::Register)
    registers.push_back(&operand);
  for (const Operand &child : operand.children)
    collect(child, registers);
}

void tile::emulator::printTrace(const TraceOptions &options,
                                const Instruction &instruction,
                                const Lanes &lanes, const Code &code) {
  uint32_t shown = lanes.active;
  if (options.lane >= 0)
    shown &= uint32_t(1) << options.lane;
  if (!shown || !instruction.statement)
    return;
  const Statement &statement = *instruction.statement;
  llvm::raw_ostream &os = options.os ? *options.os : llvm::errs();
  os << "line " << statement.location.line << ": lanes "
     << formatLanes(lanes.active) << ": " << formatStatement(statement) << '\n';
  llvm::SmallVector<const Operand *, 8> registers;
  for (const Operand &operand : statement.operands)
    collect(operand, registers);
  llvm::DenseSet<std::pair<const Variable *, int>> printed;
  for (const Operand *operand : registers) {
    // A source that is the result as well has its old value no more.
    if (!printed.insert({operand->variable, operand->component}).second)
      continue;
    auto it = code.registers.find(operand->variable);
    if (it == code.registers.end())
      continue;
    for (size_t i = 0; i != it->second.size(); ++i) {
      if (operand->component >= 0 &&
          i != static_cast<size_t>(operand->component))
        continue;
      const Slot slot = it->second[i];
      os << "    " << operand->variable->name;
      if (it->second.size() > 1)
        os << '.' << "xyzw"[i & 3];
      os << " =";
      forLanes(shown, [&](unsigned lane) {
        os << ' ';
        printValue(os, lanes, slot, operand->variable->type, lane);
      });
      os << '\n';
    }
  }
}
