//===- Tcgen05Copy.cpp - tcgen05.cp and tcgen05.commit --------------------===//
//
// PTX ISA, section "Tensor Memory Data Movement Instructions". The rows of the
// matrix in shared memory are lanes of tensor memory, in one or more copies.
//
//===----------------------------------------------------------------------===//

#include "AsyncOperations.h"
#include "MemoryAccess.h"
#include "Tcgen05.h"

namespace tile::emulator {

using llvm::Error;
using llvm::Expected;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

bool noteMatrixReads(const TensorUser &user,
                     llvm::SmallVectorImpl<uint32_t> &addresses, uint32_t size,
                     SharedMemory::Pending &pending) {
  Block &block = user.warp.getBlock();
  SharedMemory &shared = block.getShared();
  // Places side by side are one access.
  llvm::sort(addresses);
  if (addresses.front() < kSharedBase ||
      addresses.back() + size > shared.getSize())
    return user.fault(Check::OutOfBounds,
                      "reads a matrix at shared addresses 0x" +
                          Twine::utohexstr(addresses.front()) + " to 0x" +
                          Twine::utohexstr(addresses.back() + size - 1) +
                          ", but shared memory is 0x" +
                          Twine::utohexstr(kSharedBase) + " to 0x" +
                          Twine::utohexstr(shared.getSize() - 1));
  for (size_t i = 0; i < addresses.size(); i += kLanes) {
    size_t count = std::min<size_t>(addresses.size() - i, kLanes);
    uint32_t mask = static_cast<uint32_t>((uint64_t(1) << count) - 1);
    std::optional<SharedMemory::Conflict> conflict = shared.note(
        SharedMemory::Access::ProxyRead, user.warp.getIndex(), mask,
        addresses.data() + i, size, user.instruction, nullptr, pending);
    if (!conflict)
      continue;
    std::string what =
        "reads " + describeShared(block.getProgram(), conflict->address);
    switch (conflict->kind) {
    case SharedMemory::Conflict::Async:
      return user.fault(Check::AsyncRace,
                        what + ", which an asynchronous copy is still to "
                               "finish: nobody has waited for it",
                        {conflict->message});
    case SharedMemory::Conflict::Proxy:
      return user.fault(Check::ProxyFence,
                        what + " through the async proxy, but no "
                               "fence.proxy.async follows the store",
                        {conflict->message});
    default:
      return user.fault(Check::SharedRace,
                        what + ", which races with another warp's access: no "
                               "barrier is between them",
                        {conflict->message});
    }
  }
  return true;
}

namespace {

//===----------------------------------------------------------------------===//
// tcgen05.cp
//===----------------------------------------------------------------------===//

struct CopyShape {
  StringRef name;
  StringRef multicast;
  unsigned rows, chunks; ///< Chunks of a row.
  /// The first lanes of the parts of 32 rows, and of their copies.
  unsigned numCopies;
  unsigned lanes[2][4];
};

constexpr CopyShape copyShapes[] = {
    {"128x256b", "", 128, 2, 1, {{0, 32, 64, 96}, {}}},
    {"128x128b", "", 128, 1, 1, {{0, 32, 64, 96}, {}}},
    // One row for each quadrant, at the lane of the address.
    {"4x256b", "", 4, 2, 1, {{0, 32, 64, 96}, {}}},
    {"64x128b", "warpx2::02_13", 64, 1, 2, {{0, 32}, {64, 96}}},
    {"64x128b", "warpx2::01_23", 64, 1, 2, {{0, 64}, {32, 96}}},
    // The one part, four times.
    {"32x128b", "warpx4", 32, 1, 4, {{0, 32, 64, 96}, {}}},
};

struct CopyInstruction {
  const CopyShape *shape = nullptr;
  AddressOperand address;
  Slot descriptor = kNoSlot;
};

/// Calls `f(row, lane)` for each row and each lane that gets it.
template <typename F>
void forCopies(const CopyShape &shape, F f) {
  for (unsigned row = 0; row != shape.rows; ++row) {
    if (shape.rows == 4)
      f(row, shape.lanes[0][row]);
    else if (shape.rows == 32)
      for (unsigned lane : shape.lanes[0])
        f(row, lane + row);
    else
      for (unsigned copy = 0; copy != shape.numCopies; ++copy)
        f(row, shape.lanes[copy][row / 32] + row % 32);
  }
}

bool copy(const TensorUser &user, const CopyShape &shape, uint32_t address,
          uint64_t descriptor) {
  Block &block = user.warp.getBlock();
  SharedMemory &shared = block.getShared();
  TensorMemory &memory = block.getState<TensorMemory>();
  Expected<SharedMatrix> matrix = SharedMatrix::decode(descriptor);
  if (!matrix)
    return user.fault(Check::IllegalOperand,
                      "got " + llvm::toString(matrix.takeError()));
  TensorAddress to(address);
  const bool isSingleRow = shape.rows == 4;
  if (isSingleRow ? to.lane >= kQuadrantLanes : to.lane != 0)
    return user.fault(Check::IllegalOperand,
                      "expects lane 0" + Twine(isSingleRow ? " to 31" : "") +
                          " in the address, but got lane " + Twine(to.lane));

  SmallVector<uint32_t, 256> chunks;
  for (unsigned row = 0; row != shape.rows; ++row)
    for (unsigned chunk = 0; chunk != shape.chunks; ++chunk)
      chunks.push_back(matrix->getKMajor(row, chunk));
  SharedMemory::Pending read = SharedMemory::kNotPending,
                        write = SharedMemory::kNotPending;
  SmallVector<uint32_t, 256> sorted = chunks;
  if (!noteMatrixReads(user, sorted, kChunkBytes, read))
    return false;
  SharedMemory::TensorAccess access;
  access.use = SharedMemory::TensorAccess::Copy;
  const unsigned columns = shape.chunks * kChunkBytes / 4;
  for (unsigned lane = 0; lane != kTensorLanes; lane += kQuadrantLanes)
    if (!memory.note(user, /*isStore=*/true, access,
                     {lane + to.lane, to.column}, isSingleRow ? 1 : kAllLanes,
                     columns, write))
      return false;

  forCopies(shape, [&](unsigned row, unsigned lane) {
    for (unsigned chunk = 0; chunk != shape.chunks; ++chunk) {
      uint32_t from = chunks[row * shape.chunks + chunk];
      unsigned column = to.column + chunk * kChunkBytes / 4;
      std::memcpy(&memory.word(lane + to.lane, column),
                  shared.getBytes() + from, kChunkBytes);
      std::memcpy(&memory.written(lane + to.lane, column),
                  shared.getWritten() + from, kChunkBytes);
    }
  });
  block.getState<AsyncOperations>().getTensorPipeline().begin(
      user.warp, user.lane, {read, write});
  if (user.warp.collectsStatistics())
    user.warp.getCounters(user.instruction).bytes +=
        uint64_t(isSingleRow ? 4 : kTensorLanes) * columns * 4;
  return true;
}

void executeCopy(const Instruction &instruction, Lanes &lanes) {
  const auto &data = *static_cast<const CopyInstruction *>(instruction.data);
  uint64_t addresses[kLanes];
  if (!evaluate(instruction, lanes, data.address, addresses) ||
      !lanes.warp->checkDefined(instruction, lanes, data.descriptor,
                                "the descriptor of a matrix"))
    return;
  for (uint32_t rest = lanes.active; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    if (!copy({instruction, *lanes.warp, lane, "tcgen05.cp"}, *data.shape,
              static_cast<uint32_t>(addresses[lane]),
              lanes.read<uint64_t>(data.descriptor)[lane]))
      return;
  }
}

Error decodeCopy(Decoder &decoder) {
  if (Error error = takeBlockGroup(decoder))
    return error;
  CopyInstruction data;
  StringRef multicast =
      decoder.takeAny({"warpx2::02_13", "warpx2::01_23", "warpx4"});
  StringRef name =
      decoder.takeAny({"128x256b", "128x128b", "4x256b", "64x128b", "32x128b"});
  for (const CopyShape &shape : copyShapes)
    if (shape.name == name && shape.multicast == multicast)
      data.shape = &shape;
  if (!data.shape)
    return decoder.error(
        "expects .128x256b, .128x128b, .4x256b, .64x128b.warpx2::02_13, "
        ".64x128b.warpx2::01_23 or .32x128b.warpx4");
  if (decoder.take("b8x16"))
    return decoder.error("tcgen05.cp that expands numbers (.b8x16) is not "
                         "modelled");
  if (Error error = decoder.expectOperands(2, 2))
    return error;
  Expected<AddressOperand> address = takeTensorAddress(decoder, 0);
  if (!address)
    return address.takeError();
  data.address = *address;
  Expected<Slot> descriptor = decoder.source(1, Type::B64);
  if (!descriptor)
    return descriptor.takeError();
  data.descriptor = *descriptor;
  Instruction &instruction =
      decoder.emit(executeCopy, InstructionClass::StoreTensor);
  instruction.data = decoder.getProgram().own(std::move(data));
  return Error::success();
}

//===----------------------------------------------------------------------===//
// tcgen05.commit
//===----------------------------------------------------------------------===//

struct CommitInstruction {
  MemoryOperand mbarrier;
  Slot blockMask = kNoSlot;
};

void executeCommit(const Instruction &instruction, Lanes &lanes) {
  const auto &data = *static_cast<const CommitInstruction *>(instruction.data);
  Warp &warp = *lanes.warp;
  Block &block = warp.getBlock();
  uint64_t addresses[kLanes];
  uint32_t offsets[kLanes];
  if ((data.blockMask != kNoSlot &&
       !warp.checkDefined(instruction, lanes, data.blockMask,
                          "the mask of a multicast")) ||
      !evaluate(instruction, lanes, data.mbarrier.address, addresses) ||
      !resolveShared(instruction, lanes, lanes.active, data.mbarrier.space,
                     addresses, 8, 8, "tcgen05.commit", offsets) ||
      !noteShared(instruction, lanes, SharedMemory::Access::StrongWrite,
                  lanes.active, offsets, 8, "tcgen05.commit"))
    return;
  for (uint32_t rest = lanes.active; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    // The block is the only one of its cluster.
    if (data.blockMask != kNoSlot &&
        lanes.read<uint16_t>(data.blockMask)[lane] != 1) {
      warp.fault(instruction, lane, Check::IllegalOperand,
                 "tcgen05.commit expects a mask of 1 in a cluster of one "
                 "block, but got " +
                     Twine(lanes.read<uint16_t>(data.blockMask)[lane]));
      return;
    }
    if (!block.getState<MbarrierTable>().get({instruction, warp, lane},
                                             offsets[lane]))
      return;
    block.getState<AsyncOperations>().getTensorPipeline().commit(
        warp, lane, instruction, offsets[lane]);
  }
  block.noteProgress();
}

Error decodeCommit(Decoder &decoder) {
  if (Error error = takeBlockGroup(decoder))
    return error;
  CommitInstruction data;
  if (!decoder.take("mbarrier::arrive::one"))
    return decoder.error("expects .mbarrier::arrive::one");
  StateSpace space = decoder.take("shared::cluster") ? StateSpace::Shared
                                                     : StateSpace::Generic;
  const bool isMulticast = decoder.take("multicast::cluster");
  if (!decoder.take("b64"))
    return decoder.error("expects .b64");
  const unsigned count = isMulticast ? 2 : 1;
  if (Error error = decoder.expectOperands(count, count))
    return error;
  Expected<MemoryOperand> mbarrier = takeMemoryOperand(decoder, 0, space);
  if (!mbarrier)
    return mbarrier.takeError();
  data.mbarrier = *mbarrier;
  if (isMulticast) {
    Expected<Slot> mask = decoder.source(1, Type::B16);
    if (!mask)
      return mask.takeError();
    data.blockMask = *mask;
  }
  Instruction &instruction =
      decoder.emit(executeCommit, InstructionClass::Barrier);
  instruction.data = decoder.getProgram().own(std::move(data));
  return Error::success();
}

} // namespace

void registerTcgen05Copy(InstructionTable &table) {
  constexpr llvm::StringLiteral kGroup = "Tensor memory";
  table.add("tcgen05.cp",
            "tcgen05.cp.cta_group::1.{128x256b,128x128b,4x256b,64x128b.warpx2::"
            "{02_13,01_23},32x128b.warpx4}",
            kGroup, decodeCopy);
  table.add("tcgen05.commit",
            "tcgen05.commit.cta_group::1.mbarrier::arrive::one"
            "{.shared::cluster}{.multicast::cluster}.b64",
            kGroup, decodeCommit);
}

} // namespace tile::emulator
