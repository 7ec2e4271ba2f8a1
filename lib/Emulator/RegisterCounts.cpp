//===- RegisterCounts.cpp - setmaxnreg ------------------------------------===//
//
// How many registers a warp may use does not show here: a frame has those of
// its function. What is checked is that the four warps of a warpgroup ask for
// the same.
//
//===----------------------------------------------------------------------===//

#include "RegisterCounts.h"

#include "Machine.h"

namespace tile::emulator {
namespace {

using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

constexpr unsigned kWarpsOfGroup = 4;

/// What the warpgroups of a block have asked for.
struct RegisterCounts : public Block::State {
  static constexpr unsigned kKey = 7;

  struct Request {
    const Instruction *instruction;
    Warp *warp; ///< The first one of its group.
  };
  struct Group {
    std::vector<Request> requests;   ///< In order.
    size_t done[kWarpsOfGroup] = {}; ///< By warp of the group: how many.
  };
  std::vector<Group> groups;

  Group &getGroup(const Block &block, unsigned warp) {
    groups.resize((block.getNumWarps() + kWarpsOfGroup - 1) / kWarpsOfGroup);
    return groups[warp / kWarpsOfGroup];
  }

  void finish(Block &block) override {
    for (size_t i = 0; i != groups.size(); ++i)
      for (unsigned j = 0; j != kWarpsOfGroup; ++j) {
        const unsigned warp = static_cast<unsigned>(i) * kWarpsOfGroup + j;
        const size_t done = groups[i].done[j];
        if (warp >= block.getNumWarps() || done == groups[i].requests.size())
          continue;
        const Request &missed = groups[i].requests[done];
        missed.warp->fault(*missed.instruction, 0, Check::Divergence,
                           "setmaxnreg expects all warps of a warpgroup, but "
                           "warp " +
                               Twine(warp) + " has not executed it");
        return;
      }
  }
};

/// `a` has whether the count grows, `immediate` the count.
StringRef getName(const Instruction &instruction) {
  return instruction.a ? "setmaxnreg.inc" : "setmaxnreg.dec";
}

void executeSetMax(const Instruction &instruction, Lanes &lanes) {
  Warp &warp = *lanes.warp;
  Block &block = warp.getBlock();
  RegisterCounts::Group &group =
      block.getState<RegisterCounts>().getGroup(block, warp.getIndex());
  size_t &done = group.done[warp.getIndex() % kWarpsOfGroup];
  const unsigned lane = static_cast<unsigned>(__builtin_ctz(lanes.active));
  auto illegal = [&](const Twine &message) {
    warp.fault(instruction, lane, Check::IllegalOperand,
               getName(instruction) + message);
  };
  if (done == group.requests.size()) {
    group.requests.push_back({&instruction, &warp});
  } else {
    const Instruction &first = *group.requests[done].instruction;
    if (first.a != instruction.a || first.immediate != instruction.immediate)
      return illegal(" of " + Twine(instruction.immediate) +
                     " expects what the other warps of its warpgroup execute, "
                     "but warp " +
                     Twine(group.requests[done].warp->getIndex()) +
                     " has executed " + getName(first) + " of " +
                     Twine(first.immediate));
  }
  if (done) {
    const int64_t now = group.requests[done - 1].instruction->immediate;
    if (instruction.a ? instruction.immediate < now
                      : instruction.immediate > now)
      return illegal(" expects at " + Twine(instruction.a ? "least" : "most") +
                     " the " + Twine(now) + " registers of now, but got " +
                     Twine(instruction.immediate));
  }
  ++done;
}

Error decodeSetMax(Decoder &decoder) {
  StringRef target = decoder.getProgram().syntax->target;
  if (decoder.getArchitecture() < 90 ||
      !(target.ends_with("a") || target.ends_with("f")))
    return decoder.error("setmaxnreg expects sm_90a or a newer target with a "
                         "or f, but got " +
                         target);
  StringRef action = decoder.takeAny({"inc", "dec"});
  if (action.empty() || !decoder.take("sync") || !decoder.take("aligned") ||
      !decoder.take("u32"))
    return decoder.error("expects .inc or .dec, and .sync.aligned.u32");
  if (Error error = decoder.expectOperands(1, 1))
    return error;
  Expected<int64_t> count = decoder.integer(0);
  if (!count)
    return count.takeError();
  if (*count < 24 || *count > 256 || *count % 8)
    return decoder.error(decoder.getOperand(0),
                         "expects a multiple of 8 from 24 to 256, but got " +
                             Twine(*count));
  Instruction &instruction =
      decoder.emit(executeSetMax, InstructionClass::Control);
  instruction.flow = Flow::Collective;
  instruction.a = action == "inc";
  instruction.immediate = *count;
  return Error::success();
}

} // namespace

void registerRegisterCounts(InstructionTable &table) {
  table.add("setmaxnreg", "setmaxnreg.{inc,dec}.sync.aligned.u32: no effect",
            "Warps", decodeSetMax);
}

} // namespace tile::emulator
