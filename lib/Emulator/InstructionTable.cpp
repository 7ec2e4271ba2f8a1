//===- InstructionTable.cpp - The instructions by name --------------------===//

#include "Decoder.h"
#include "llvm/ADT/StringExtras.h"

using namespace tile::emulator;
using llvm::ArrayRef;
using llvm::StringRef;

void InstructionTable::add(llvm::StringLiteral name, llvm::StringLiteral forms,
                           llvm::StringLiteral group, DecodeFunction decode,
                           bool (*accepts)(ArrayRef<StringRef>)) {
  byName[name].push_back(static_cast<unsigned>(entries.size()));
  entries.push_back({{name, forms, group},
                     decode,
                     accepts,
                     static_cast<unsigned>(name.count('.')) + 1});
}

const InstructionTable::Entry *
InstructionTable::find(ArrayRef<StringRef> words) const {
  constexpr size_t kLongestName = 5;
  for (size_t n = std::min(words.size(), kLongestName); n != 0; --n) {
    auto it = byName.find(llvm::join(words.take_front(n), "."));
    if (it == byName.end())
      continue;
    for (unsigned index : it->second)
      if (!entries[index].accepts || entries[index].accepts(words))
        return &entries[index];
  }
  return nullptr;
}

const InstructionTable &InstructionTable::get() {
  static const InstructionTable table = [] {
    InstructionTable result;
    registerIntegerArithmetic(result);
    registerBitOperations(result);
    registerMoves(result);
    registerComparisons(result);
    registerFloatArithmetic(result);
    registerHalfArithmetic(result);
    registerSpecialFunctions(result);
    registerConversions(result);
    registerLoadsAndStores(result);
    registerAtomics(result);
    registerAsyncCopies(result);
    registerMatrixMoves(result);
    registerMbarriers(result);
    registerFences(result);
    registerWarpOperations(result);
    registerTensorCore(result);
    registerTcgen05(result);
    registerControl(result);
    return result;
  }();
  return table;
}

bool tile::emulator::hasType(ArrayRef<StringRef> words, ArrayRef<Type> types) {
  for (StringRef word : llvm::reverse(words))
    if (std::optional<Type> type = findType(word))
      return llvm::is_contained(types, *type);
  return false;
}

std::vector<InstructionInfo> tile::emulator::getInstructionTable() {
  std::vector<InstructionInfo> result;
  for (const InstructionTable::Entry &entry :
       InstructionTable::get().getEntries())
    result.push_back(entry.info);
  return result;
}
