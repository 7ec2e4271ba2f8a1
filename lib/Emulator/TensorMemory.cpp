//===- TensorMemory.cpp - The tensor memory of a block --------------------===//

#include "TensorMemory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

namespace tile::emulator {

using llvm::Twine;

/// Columns are given out in units of so many.
static constexpr unsigned kUnit = 32;
static constexpr uint32_t kTensorBytes = kTensorLanes * kTensorColumns * 4;

bool TensorUser::fault(Check check, const Twine &message,
                       std::vector<std::string> notes) const {
  warp.fault(instruction, lane, check, verb + " " + message, std::nullopt, "",
             std::move(notes));
  return false;
}

static bool isLegalSize(uint32_t columns) {
  return llvm::isPowerOf2_32(columns) && columns >= kUnit &&
         columns <= kTensorColumns;
}

void TensorMemory::makeWords(Block &block) {
  if (!words.empty())
    return;
  words.resize(kTensorLanes * kTensorColumns);
  writtenBits.resize(kTensorLanes * kTensorColumns);
  base = block.getShared().getTensorBase(kTensorBytes);
  if (block.getLaunch().options->allowLooseTensorMemory)
    block.getShared().allowLooseTensorOrder();
}

std::optional<unsigned> TensorMemory::allocate(const TensorUser &user,
                                               uint32_t columns) {
  if (!isLegalSize(columns)) {
    user.fault(Check::IllegalOperand,
               "expects a power of two from 32 to 512 columns, but got " +
                   Twine(columns));
    return std::nullopt;
  }
  if (hasRelinquished) {
    user.fault(Check::Synchronization,
               "after tcgen05.relinquish_alloc_permit of this block");
    return std::nullopt;
  }
  if (columns > lastColumns) {
    user.fault(Check::IllegalOperand,
               "expects no more columns than the allocation before it, which "
               "had " +
                   Twine(lastColumns) + ", but got " + Twine(columns));
    return std::nullopt;
  }
  makeWords(user.warp.getBlock());
  for (unsigned first = 0; first + columns <= kTensorColumns; first += kUnit) {
    bool isFree = true;
    for (unsigned i = 0; i != columns; ++i)
      isFree &= !allocated[first + i];
    if (!isFree)
      continue;
    for (unsigned i = 0; i != columns; ++i)
      allocated[first + i] = true;
    allocations.push_back({&user.instruction, &user.warp, first, columns});
    lastColumns = columns;
    user.warp.getBlock().noteProgress();
    return first;
  }
  user.fault(Check::Deadlock,
             "waits for ever for " + Twine(columns) + " columns: " +
                 Twine(kTensorColumns - unsigned(allocated.count())) +
                 " of 512 are free, and no other block gives any back");
  return std::nullopt;
}

bool TensorMemory::free(const TensorUser &user, uint32_t address,
                        uint32_t columns) {
  TensorAddress place(address);
  auto it = llvm::find_if(allocations, [&](const Allocation &allocation) {
    return place.lane == 0 && allocation.first == place.column;
  });
  if (it == allocations.end())
    return user.fault(Check::IllegalOperand,
                      "expects the address of an allocation, but got 0x" +
                          Twine::utohexstr(address));
  if (it->columns != columns)
    return user.fault(Check::IllegalOperand,
                      "expects the " + Twine(it->columns) +
                          " columns of the allocation, but got " +
                          Twine(columns));
  // Everything that touches them must be over.
  for (unsigned lane = 0; lane != kTensorLanes; lane += 32) {
    SharedMemory::TensorAccess access;
    access.use = SharedMemory::TensorAccess::Synchronous;
    SharedMemory::Pending pending = SharedMemory::kNotPending;
    if (!note(user, /*isStore=*/true, access, {lane, place.column}, kAllLanes,
              columns, pending))
      return false;
    user.warp.getBlock().getShared().complete(pending, user.warp.getIndex());
  }
  for (unsigned lane = 0; lane != kTensorLanes; ++lane) {
    std::fill_n(&written(lane, place.column), columns, 0);
    user.warp.getBlock().getShared().forgetRange(
        base + (lane * kTensorColumns + place.column) * 4, columns * 4);
  }
  for (unsigned i = 0; i != columns; ++i)
    allocated[place.column + i] = false;
  allocations.erase(it);
  user.warp.getBlock().noteProgress();
  return true;
}

bool TensorMemory::note(const TensorUser &user, bool isStore,
                        SharedMemory::TensorAccess access,
                        TensorAddress address, uint32_t mask, unsigned columns,
                        SharedMemory::Pending &pending) {
  if (!mask)
    return true;
  unsigned lastLane =
      address.lane + 31 - static_cast<unsigned>(__builtin_clz(mask));
  unsigned end = address.column + columns;
  if (lastLane >= kTensorLanes || end > kTensorColumns)
    return user.fault(Check::OutOfBounds,
                      "expects lanes below 128 and columns below 512, but got "
                      "lane " +
                          Twine(lastLane) + ", column " + Twine(end - 1));
  for (unsigned column = address.column; column != end; ++column)
    if (!allocated[column])
      return user.fault(Check::OutOfBounds, "touches column " + Twine(column) +
                                                " of tensor memory, which is "
                                                "not allocated");
  uint32_t addresses[kLanes];
  for (unsigned lane = 0; lane != kLanes; ++lane)
    addresses[lane] =
        base + ((address.lane + lane) * kTensorColumns + address.column) * 4;
  std::optional<SharedMemory::Conflict> conflict =
      user.warp.getBlock().getShared().note(
          isStore ? SharedMemory::Access::TensorWrite
                  : SharedMemory::Access::TensorRead,
          user.warp.getIndex(), mask, addresses, columns * 4, user.instruction,
          nullptr, pending, access);
  if (!conflict)
    return true;
  unsigned place = (conflict->address - base) / 4;
  std::string what =
      ("touches lane " + Twine(place / kTensorColumns) + ", column " +
       Twine(place % kTensorColumns) + " of tensor memory, ")
          .str();
  switch (conflict->kind) {
  case SharedMemory::Conflict::Async:
    return user.fault(Check::AsyncRace,
                      what + "which an asynchronous operation is still to "
                             "finish: nobody has waited for it",
                      {conflict->message});
  case SharedMemory::Conflict::Fence:
    return user.fault(Check::AsyncRace,
                      what + "which another operation touched before: expects "
                             "tcgen05.fence::before_thread_sync after that one "
                             "and tcgen05.fence::after_thread_sync before this "
                             "one",
                      {conflict->message});
  default:
    return user.fault(Check::AsyncRace,
                      what + "which races with another warp's access: no "
                             "barrier is between them",
                      {conflict->message});
  }
}

void TensorMemory::finish(Block &) {
  if (allocations.empty())
    return;
  const Allocation &allocation = allocations.front();
  allocation.warp->fault(*allocation.instruction, 0, Check::Synchronization,
                         "the block ends without tcgen05.dealloc of the " +
                             Twine(allocation.columns) + " columns from " +
                             Twine(allocation.first) + " on");
}

} // namespace tile::emulator
