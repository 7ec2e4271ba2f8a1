//===- SchedulerCalls.cpp - Calls, returns, exits -------------------------===//

#include "Scheduler.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

using namespace tile::emulator;
using llvm::Twine;

/// Calls within calls.
static constexpr size_t kDeepestCall = 4096;

/// Copies the active lanes of one parameter or result between two frames.
static void copyOperand(Warp &warp, uint32_t lanes, const Frame &from,
                        const CallOperand &source, Frame &to,
                        const CallOperand &target) {
  if (source.slot != kNoSlot && target.slot != kNoSlot && !source.bytes &&
      !target.bytes) { // A predicate is one mask.
    auto copy = [&](uint32_t fromMask, uint32_t &toMask) {
      toMask = (toMask & ~lanes) | (fromMask & lanes);
    };
    uint32_t value, result;
    std::memcpy(&value, from.registers + source.slot, sizeof(value));
    std::memcpy(&result, to.registers + target.slot, sizeof(result));
    copy(value, result);
    std::memcpy(to.registers + target.slot, &result, sizeof(result));
    copy(from.undefined[source.slot >> 6], to.undefined[target.slot >> 6]);
    return;
  }
  const uint32_t bytes = std::min(source.bytes, target.bytes);
  llvm::SmallVector<uint8_t, 256> value(bytes), written(bytes);
  forLanes(lanes, [&](unsigned lane) {
    if (source.slot == kNoSlot) {
      std::memcpy(value.data(),
                  warp.getLocal(lane) + from.localBase + source.offset, bytes);
      std::memcpy(written.data(),
                  warp.getLocalWritten(lane) + from.localBase + source.offset,
                  bytes);
    } else {
      size_t offset = source.slot + size_t(lane) * source.bytes;
      std::memcpy(value.data(), from.registers + offset, bytes);
      if (from.undefined[source.slot >> 6] >> lane & 1)
        std::memcpy(written.data(), from.written + offset, bytes);
      else
        std::memset(written.data(), 0xFF, bytes);
    }
    if (target.slot == kNoSlot) {
      std::memcpy(warp.getLocal(lane) + to.localBase + target.offset,
                  value.data(), bytes);
      std::memcpy(warp.getLocalWritten(lane) + to.localBase + target.offset,
                  written.data(), bytes);
      return;
    }
    size_t offset = target.slot + size_t(lane) * target.bytes;
    std::memcpy(to.registers + offset, value.data(), bytes);
    std::memcpy(to.written + offset, written.data(), bytes);
    uint32_t bit = uint32_t(1) << lane;
    uint32_t &undefined = to.undefined[target.slot >> 6];
    if (llvm::all_of(written, [](uint8_t byte) { return byte == 0xFF; }))
      undefined &= ~bit;
    else
      undefined |= bit;
  });
}

/// Whether what a call gives and takes is of the sizes that a function expects.
static bool matches(llvm::ArrayRef<CallOperand> given,
                    llvm::ArrayRef<CallOperand> expected) {
  return given.size() == expected.size() &&
         llvm::all_of(llvm::zip(given, expected), [](const auto &pair) {
           const auto &[a, b] = pair;
           return a.isConstant ? b.bytes && b.bytes <= a.bytes
                               : a.bytes == b.bytes;
         });
}

bool WarpScheduler::call(Split &split, const Instruction &instruction,
                         uint32_t active) {
  const CallData &data = *static_cast<const CallData *>(instruction.data);
  const Code *callee = data.callee;
  Frame &caller = *split.frame;
  if (active != split.mask)
    separate(split, active);
  if (!callee) {
    Lanes lanes{caller.registers, caller.written, caller.undefined.data(),
                active,           &warp,          &split};
    if (!warp.checkDefined(instruction, lanes, instruction.a,
                           "the address of a call"))
      return false;
    // Lanes that call another function wait for their own turn here.
    const uint64_t *address = lanes.read<uint64_t>(instruction.a);
    unsigned first = static_cast<unsigned>(__builtin_ctz(active));
    uint32_t same = 0;
    forLanes(active, [&](unsigned lane) {
      if (address[lane] == address[first])
        same |= uint32_t(1) << lane;
    });
    const auto &functions = launch.program->functionAddresses;
    auto found = functions.find(address[first]);
    callee = found == functions.end() ? nullptr : found->second;
    if (!callee || callee->function->isEntry ||
        !matches(data.arguments, callee->parameters) ||
        !matches(data.results, callee->results)) {
      warp.fault(instruction, first, Check::IllegalOperand,
                 callee ? "the called function has other parameters than the "
                          "call"
                        : "the address of a call is no device function's",
                 address[first]);
      return false;
    }
    if (same != active) {
      willMeet(split, split.position + 1);
      addSplit(active & ~same, split.position, &caller, split.record);
      split.mask = active = same;
    }
  }
  uint32_t base = caller.localBase + caller.code->localBytes;
  uint64_t end = uint64_t(base) + callee->localBytes;
  uint64_t registers = callee->frameBytes;
  for (const std::unique_ptr<Frame> &frame : warp.frames)
    registers += frame->code->frameBytes;
  if (end > kLargestLocal || registers > kLargestFrames ||
      warp.frames.size() >= kDeepestCall) {
    warp.fault(instruction, static_cast<unsigned>(__builtin_ctz(active)),
               Check::OutOfBounds,
               "calls are nested too deeply: " + Twine(warp.frames.size()) +
                   " deep, with " + Twine(end) + " bytes of local memory and " +
                   Twine(registers) + " bytes of registers");
    return false;
  }
  if (end > warp.localStride) {
    uint32_t stride = static_cast<uint32_t>(std::max<uint64_t>(end, 256) * 2);
    auto grow = [&](ZeroedBytes &bytes) {
      ZeroedBytes larger(size_t(stride) * kLanes);
      for (unsigned lane = 0; lane != kLanes; ++lane)
        std::copy_n(bytes.data() + size_t(lane) * warp.localStride,
                    warp.localStride, larger.data() + size_t(lane) * stride);
      bytes = std::move(larger);
    };
    grow(warp.local);
    grow(warp.localWritten);
    warp.localStride = stride;
  }
  if (callee->localBytes)
    forLanes(active, [&](unsigned lane) {
      std::memset(warp.getLocalWritten(lane) + base, 0, callee->localBytes);
    });
  auto frame = std::make_unique<Frame>(*callee);
  frame->localBase = base;
  frame->caller = &caller;
  frame->call = &instruction;
  fillFrame(*frame, warp);
  for (auto [argument, parameter] :
       llvm::zip(data.arguments, callee->parameters))
    copyOperand(warp, active, caller, argument, *frame, parameter);
  auto record = std::make_unique<Convergence>();
  record->position = kAtReturn;
  record->frame = frame.get();
  record->expected = split.mask;
  record->parent = split.record;
  split.record = record.get();
  warp.records.push_back(std::move(record));
  split.frame = frame.get();
  split.position = 0;
  warp.frames.push_back(std::move(frame));
  return true;
}

uint32_t WarpScheduler::returnTo(Frame &frame, uint32_t lanes) {
  Frame &caller = *frame.caller;
  const CallData &data = *static_cast<const CallData *>(frame.call->data);
  for (auto [source, target] : llvm::zip(frame.code->results, data.results))
    copyOperand(warp, lanes, frame, source, caller, target);
  return static_cast<uint32_t>(frame.call - caller.code->code.data()) + 1;
}

void WarpScheduler::endCall(Convergence *record, uint32_t lanes, Split &split) {
  Frame *frame = record->frame;
  split.mask = lanes;
  split.position = returnTo(*frame, lanes);
  split.frame = frame->caller;
  split.record = record->parent;
  erase(record);
  auto it = llvm::find_if(
      warp.frames, [&](const auto &owned) { return owned.get() == frame; });
  warp.frames.erase(it);
}

void WarpScheduler::leave(Split &split, uint32_t active) {
  uint32_t rest = split.mask & ~active;
  // Lanes that return past a meeting point are not waited for there.
  Convergence *record = split.record;
  while (record->position != kAtReturn) {
    Convergence *parent = record->parent;
    record->expected &= ~active;
    settle(record);
    record = parent;
  }
  record->arrived |= active;
  split.mask = rest;
  if (rest) {
    ++split.position;
    return;
  }
  if (record->arrived == record->expected)
    endCall(record, record->arrived, split);
}

void WarpScheduler::exit(Split &split, uint32_t active) {
  warp.live &= ~active;
  split.mask &= ~active;
  ++split.position;
  Convergence *record = split.record;
  while (record) {
    Convergence *parent = record->parent;
    record->expected &= ~active;
    settle(record);
    record = parent;
  }
  // Who waits for these lanes by a member mask waits no longer.
  for (const std::unique_ptr<Split> &other : warp.splits)
    if (other->mask && other->wait == Wait::Collective)
      other->wait = Wait::None;
  block.noteProgress();
  checkBarriers(block);
}
