//===- Convergence.cpp - Where the lanes of a branch meet again -----------===//
//
// Immediate postdominators, by the iterative algorithm of Cooper, Harvey and
// Kennedy ("A Simple, Fast Dominance Algorithm") on the reversed graph. Blocks
// that reach no exit count as meeting at the end.
//
//===----------------------------------------------------------------------===//

#include "ProgramBuilder.h"
#include "llvm/ADT/SmallVector.h"

using namespace tile::emulator;
using llvm::SmallVector;

/// The positions that may follow `position`; `end` stands for leaving the
/// function.
static SmallVector<uint32_t, 4> getSuccessors(const Code &code,
                                              uint32_t position) {
  const Instruction &instruction = code.code[position];
  const uint32_t end = static_cast<uint32_t>(code.code.size());
  SmallVector<uint32_t, 4> next;
  switch (instruction.flow) {
  case Flow::Branch:
    next.push_back(instruction.target);
    break;
  case Flow::BranchTable: {
    const auto &targets =
        *static_cast<const std::vector<uint32_t> *>(instruction.data);
    next.append(targets.begin(), targets.end());
    break;
  }
  case Flow::Return:
  case Flow::Exit:
    next.push_back(end);
    break;
  default:
    next.push_back(position + 1);
    return next;
  }
  if (instruction.guard != kNoSlot)
    next.push_back(position + 1);
  return next;
}

void tile::emulator::computeReconvergence(Code &code) {
  const uint32_t end = static_cast<uint32_t>(code.code.size());
  // Blocks: every target of a branch and what follows a branch leads one.
  std::vector<bool> leads(end + 1, false);
  leads[0] = leads[end] = true;
  for (uint32_t position = 0; position != end; ++position) {
    Flow flow = code.code[position].flow;
    if (flow != Flow::Branch && flow != Flow::BranchTable &&
        flow != Flow::Return && flow != Flow::Exit)
      continue;
    for (uint32_t next : getSuccessors(code, position))
      leads[next] = true;
    leads[position + 1] = true;
  }
  std::vector<uint32_t> first, blockOf(end + 1);
  for (uint32_t position = 0; position <= end; ++position) {
    if (leads[position])
      first.push_back(position);
    blockOf[position] = static_cast<uint32_t>(first.size() - 1);
  }
  const uint32_t count = static_cast<uint32_t>(first.size());
  const uint32_t exit = count - 1;
  std::vector<SmallVector<uint32_t, 2>> successors(count), predecessors(count);
  for (uint32_t block = 0; block != exit; ++block)
    for (uint32_t next : getSuccessors(code, first[block + 1] - 1)) {
      successors[block].push_back(blockOf[next]);
      predecessors[blockOf[next]].push_back(block);
    }

  // Postorder of the reversed graph from the exit, then from blocks that do not
  // reach it, as if each of them had an edge to it.
  std::vector<uint32_t> order, number(count, ~0u);
  std::vector<bool> seen(count, false);
  auto visit = [&](uint32_t root) {
    SmallVector<std::pair<uint32_t, unsigned>, 32> stack = {{root, 0}};
    seen[root] = true;
    while (!stack.empty()) {
      auto &[block, edge] = stack.back();
      if (edge < predecessors[block].size()) {
        uint32_t next = predecessors[block][edge++];
        if (!seen[next]) {
          seen[next] = true;
          stack.push_back({next, 0});
        }
        continue;
      }
      number[block] = static_cast<uint32_t>(order.size());
      order.push_back(block);
      stack.pop_back();
    }
  };
  visit(exit);
  std::vector<uint32_t> endless;
  for (uint32_t block = exit; block-- != 0;)
    if (!seen[block]) {
      endless.push_back(block);
      visit(block);
    }
  // The exit must be last in postorder: it is the root.
  number[exit] = static_cast<uint32_t>(order.size());

  std::vector<uint32_t> meet(count, ~0u);
  meet[exit] = exit;
  for (uint32_t block : endless)
    successors[block].push_back(exit);
  auto intersect = [&](uint32_t a, uint32_t b) {
    while (a != b) {
      while (number[a] < number[b])
        a = meet[a];
      while (number[b] < number[a])
        b = meet[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t block : llvm::reverse(order)) {
      if (block == exit)
        continue;
      uint32_t result = ~0u;
      for (uint32_t next : successors[block])
        if (meet[next] != ~0u)
          result = result == ~0u ? next : intersect(result, next);
      if (result != meet[block]) {
        meet[block] = result;
        changed = true;
      }
    }
  }

  for (uint32_t position = 0; position != end; ++position) {
    Instruction &instruction = code.code[position];
    if (instruction.flow != Flow::Branch &&
        instruction.flow != Flow::BranchTable)
      continue;
    uint32_t block = meet[blockOf[position]];
    instruction.reconvergence = block == ~0u ? end : first[block];
    if (instruction.reconvergence != end)
      code.code[instruction.reconvergence].isMeetingPoint = true;
  }
}
