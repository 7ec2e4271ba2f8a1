//===- TensorMapUpdates.cpp - tensormap.replace and cp_fenceproxy ---------===//
//
// Kernels that make tensor maps of their own fill 128 bytes of shared or global
// memory field by field. A map that is being made need not be valid; it is
// checked where it is used.
//
//===----------------------------------------------------------------------===//

#include "AsyncCopies.h"
#include "MemoryAccess.h"
#include "TensorMapAccess.h"

namespace tile::emulator {
namespace {

using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

enum class Field : uint8_t {
  GlobalAddress,
  Rank,
  BoxDim,
  GlobalDim,
  GlobalStride,
  ElementStride,
  ElemType,
  InterleaveLayout,
  SwizzleMode,
  FillMode,
  SwizzleAtomicity,
};

struct FieldRow {
  llvm::StringLiteral name;
  /// Values are numbers of 64 bits.
  bool isWide;
  /// How many of them a map has; 0: one, without an ordinal.
  unsigned count;
  /// The legal values; of a constant operand where it may only be constant.
  uint64_t least, largest;
  bool isConstant;
};

/// By `Field`.
constexpr FieldRow kFields[] = {
    {"global_address", true, 0, 0, ~uint64_t(0), false},
    {"rank", false, 0, 0, 4, false},
    {"box_dim", false, 5, 1, 256, false},
    {"global_dim", false, 5, 1, 0xFFFFFFFF, false},
    {"global_stride", true, 4, 0, (uint64_t(1) << 40) - 1, false},
    {"element_stride", false, 5, 1, 8, false},
    {"elemtype", false, 0, 0, 15, true},
    {"interleave_layout", false, 0, 0, 2, true},
    {"swizzle_mode", false, 0, 0, 3, true},
    {"fill_mode", false, 0, 0, 1, true},
    {"swizzle_atomicity", false, 0, 0, 3, true},
};

struct ReplaceInstruction {
  Field field;
  MemoryOperand place;
  unsigned ordinal = 0;
  Slot value = kNoSlot;
};

/// The mode and the atomicity of a swizzle are two fields that share one here.
/// An atomicity means something with a mode of 128 bytes only.
void setSwizzle(TensorMap &map, Field field, unsigned value) {
  using Swizzle = TensorMap::Swizzle;
  constexpr Swizzle kAtoms[] = {Swizzle::Bytes128, Swizzle::Bytes128Atom32,
                                Swizzle::Bytes128Atom32Flip8,
                                Swizzle::Bytes128Atom64};
  const bool has128 = map.swizzle >= Swizzle::Bytes128;
  if (field == Field::SwizzleAtomicity) {
    if (has128)
      map.swizzle = kAtoms[value];
  } else if (value != 3 || !has128) {
    map.swizzle = static_cast<Swizzle>(value);
  }
}

void setField(TensorMap &map, const ReplaceInstruction &data, uint64_t value) {
  const uint32_t low = static_cast<uint32_t>(value);
  switch (data.field) {
  case Field::GlobalAddress:
    map.address = value;
    break;
  case Field::Rank:
    map.rank = low + 1;
    break;
  case Field::BoxDim:
    map.box[data.ordinal] = low;
    break;
  case Field::GlobalDim:
    map.extents[data.ordinal] = low;
    break;
  case Field::GlobalStride:
    map.strides[data.ordinal] = value;
    break;
  case Field::ElementStride:
    map.elementStrides[data.ordinal] = low;
    break;
  case Field::ElemType:
    map.element = static_cast<TensorMap::Element>(value);
    break;
  case Field::InterleaveLayout:
    map.interleave = static_cast<TensorMap::Interleave>(value);
    break;
  case Field::SwizzleMode:
  case Field::SwizzleAtomicity:
    setSwizzle(map, data.field, low);
    break;
  case Field::FillMode:
    map.fill = static_cast<TensorMap::Fill>(value);
    break;
  }
}

/// Shared or global memory of one object.
struct Place {
  bool isShared = false;
  uint32_t offset = 0;  ///< In shared memory.
  uint64_t address = 0; ///< In global memory.
  uint8_t *bytes = nullptr;
};

/// Finds the object of one lane, with the checks of an access. False after a
/// fault.
bool findPlace(const Instruction &instruction, Lanes &lanes, unsigned lane,
               const MemoryOperand &operand,
               const uint64_t (&addresses)[kLanes], bool isStore,
               StringRef verb, Place &place) {
  Warp &warp = *lanes.warp;
  Block &block = warp.getBlock();
  const uint32_t bit = uint32_t(1) << lane;
  place.isShared = operand.space == StateSpace::Shared ||
                   (operand.space == StateSpace::Generic &&
                    (addresses[lane] & kWindowMask) == kSharedWindow);
  if (!place.isShared) {
    place.address = addresses[lane];
    place.bytes = block.getGlobal().resolve(place.address, kTensorMapBytes,
                                            kTensorMapAlignment, isStore);
    if (!place.bytes)
      faultGlobal(instruction, warp, lane, place.address, kTensorMapBytes,
                  kTensorMapAlignment, isStore, verb);
    return place.bytes;
  }
  uint32_t offsets[kLanes];
  if (!resolveShared(instruction, lanes, bit, operand.space, addresses,
                     kTensorMapBytes, kTensorMapAlignment, verb, offsets) ||
      !noteShared(instruction, lanes,
                  isStore ? SharedMemory::Access::Write
                          : SharedMemory::Access::Read,
                  bit, offsets, kTensorMapBytes, verb))
    return false;
  place.offset = offsets[lane];
  place.bytes = block.getShared().getBytes() + place.offset;
  if (areWritten(block.getShared().getWritten() + place.offset,
                 kTensorMapBytes))
    return true;
  warp.fault(instruction, lane, Check::Uninitialized,
             verb + " at " + describeShared(block.getProgram(), place.offset) +
                 " reads bytes that have not been written",
             place.offset);
  return false;
}

bool isDefined(const Instruction &instruction, Lanes &lanes, Slot slot,
               StringRef what) {
  return lanes.warp->checkDefined(instruction, lanes, slot, what);
}

void executeReplace(const Instruction &instruction, Lanes &lanes) {
  const auto &data = *static_cast<const ReplaceInstruction *>(instruction.data);
  const FieldRow &row = kFields[static_cast<size_t>(data.field)];
  constexpr StringRef kVerb = "tensormap.replace";
  Warp &warp = *lanes.warp;
  uint64_t addresses[kLanes];
  if (!evaluate(instruction, lanes, data.place.address, addresses) ||
      !isDefined(instruction, lanes, data.value, "a field of a tensor map"))
    return;
  for (uint32_t rest = lanes.active; rest; rest &= rest - 1) {
    const unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    const uint64_t value = row.isWide ? lanes.read<uint64_t>(data.value)[lane]
                                      : lanes.read<uint32_t>(data.value)[lane];
    if (value < row.least || value > row.largest)
      return warp.fault(instruction, lane, Check::IllegalOperand,
                        kVerb + " expects " + row.name + " to be " +
                            Twine(row.least) + " to " + Twine(row.largest) +
                            ", but got " + Twine(value));
    Place place;
    if (!findPlace(instruction, lanes, lane, data.place, addresses,
                   /*isStore=*/true, kVerb, place))
      return;
    Expected<TensorMap> map =
        unpackTensorMap(ArrayRef(place.bytes, kTensorMapBytes));
    if (!map)
      return warp.fault(instruction, lane, Check::IllegalOperand,
                        kVerb +
                            " expects a tensor map or zeros, but what is "
                            "there " +
                            llvm::toString(map.takeError()));
    setField(*map, data, value);
    const TensorMapObject object = packTensorMap(*map);
    if (!place.isShared &&
        !noteGlobalStore(instruction, warp, lane, place.address, object.data(),
                         kTensorMapBytes))
      return;
    std::copy(object.begin(), object.end(), place.bytes);
    if (!place.isShared)
      warp.getBlock().getState<TensorMapFences>().changed.insert(place.address);
    warp.getBlock().noteProgress();
  }
}

Error decodeReplace(Decoder &decoder) {
  StringRef target = decoder.getProgram().syntax->target;
  if (decoder.getArchitecture() < 90 ||
      !(target.ends_with("a") || target.ends_with("f")))
    return decoder.error("tensormap.replace expects sm_90a or a newer target "
                         "with a or f, but got " +
                         target);
  if (!decoder.take("tile"))
    return decoder.error("expects .tile");
  ReplaceInstruction data;
  const FieldRow *row = nullptr;
  for (size_t i = 0; i != std::size(kFields) && !row; ++i)
    if (decoder.take(kFields[i].name)) {
      row = &kFields[i];
      data.field = static_cast<Field>(i);
    }
  if (!row)
    return decoder.error(
        "expects .global_address, .rank, .box_dim, .global_dim, "
        ".global_stride, .element_stride, .elemtype, .interleave_layout, "
        ".swizzle_mode, .swizzle_atomicity or .fill_mode");
  if (data.field == Field::SwizzleAtomicity && decoder.getArchitecture() < 100)
    return decoder.error(".swizzle_atomicity expects sm_100 or newer");
  StringRef space = decoder.takeAny({"global", "shared::cta"});
  if (!decoder.take("b1024"))
    return decoder.error("expects .b1024");
  const Type type = row->isWide ? Type::B64 : Type::B32;
  if (!decoder.take(getTypeName(type)))
    return decoder.error("expects ." + getTypeName(type) + " with ." +
                         row->name);
  const unsigned count = row->count ? 3 : 2;
  if (Error error = decoder.expectOperands(count, count))
    return error;
  Expected<MemoryOperand> place =
      takeMemoryOperand(decoder, 0,
                        space == "global"        ? StateSpace::Global
                        : space == "shared::cta" ? StateSpace::Shared
                                                 : StateSpace::Generic);
  if (!place)
    return place.takeError();
  data.place = *place;
  if (row->count) {
    Expected<int64_t> ordinal = decoder.integer(1);
    if (!ordinal)
      return ordinal.takeError();
    if (*ordinal < 0 || *ordinal >= row->count)
      return decoder.error(decoder.getOperand(1),
                           "expects a dimension from 0 to " +
                               Twine(row->count - 1) + ", but got " +
                               Twine(*ordinal));
    data.ordinal = static_cast<unsigned>(*ordinal);
  }
  if (row->isConstant) {
    Expected<int64_t> value = decoder.integer(count - 1);
    if (!value)
      return value.takeError();
    // Elements smaller than a byte are newer than the others.
    const uint64_t largest =
        data.field == Field::ElemType && decoder.getArchitecture() < 100
            ? 12
            : row->largest;
    if (*value < 0 || static_cast<uint64_t>(*value) > largest)
      return decoder.error(decoder.getOperand(count - 1),
                           "expects ." + row->name + " to be 0 to " +
                               Twine(largest) + ", but got " + Twine(*value));
  }
  Expected<Slot> value = decoder.source(count - 1, type);
  if (!value)
    return value.takeError();
  data.value = *value;
  Instruction &instruction =
      decoder.emit(executeReplace, InstructionClass::Other);
  instruction.data = decoder.getProgram().own(std::move(data));
  return Error::success();
}

//===----------------------------------------------------------------------===//
// tensormap.cp_fenceproxy
//===----------------------------------------------------------------------===//

struct CopyInstruction {
  MemoryOperand destination, source;
};

void executeCopy(const Instruction &instruction, Lanes &lanes) {
  const auto &data = *static_cast<const CopyInstruction *>(instruction.data);
  constexpr StringRef kVerb = "tensormap.cp_fenceproxy";
  Warp &warp = *lanes.warp;
  uint64_t to[kLanes], from[kLanes];
  if (!evaluate(instruction, lanes, data.destination.address, to) ||
      !evaluate(instruction, lanes, data.source.address, from))
    return;
  // The lanes copy one object together.
  const unsigned lane = static_cast<unsigned>(__builtin_ctz(lanes.active));
  for (uint32_t rest = lanes.active; rest; rest &= rest - 1) {
    const unsigned other = static_cast<unsigned>(__builtin_ctz(rest));
    if (to[other] != to[lane] || from[other] != from[lane])
      return warp.fault(instruction, other, Check::IllegalOperand,
                        kVerb + " expects the same addresses in all lanes");
  }
  Place source, destination;
  if (!findPlace(instruction, lanes, lane, data.source, from,
                 /*isStore=*/false, kVerb, source) ||
      !findPlace(instruction, lanes, lane, data.destination, to,
                 /*isStore=*/true, kVerb, destination) ||
      !noteGlobalStore(instruction, warp, lane, destination.address,
                       source.bytes, kTensorMapBytes))
    return;
  std::copy_n(source.bytes, kTensorMapBytes, destination.bytes);
  warp.getBlock().noteProgress();
}

Error decodeCopy(Decoder &decoder) {
  if (decoder.getArchitecture() < 90)
    return decoder.error("tensormap.cp_fenceproxy expects sm_90 or newer");
  if (!decoder.take("global") || !decoder.take("shared::cta") ||
      !decoder.take("tensormap::generic") || !decoder.take("release") ||
      decoder.takeAny({"cta", "cluster", "gpu", "sys"}).empty() ||
      !decoder.take("sync") || !decoder.take("aligned"))
    return decoder.error("expects .global.shared::cta.tensormap::generic"
                         ".release, a scope and .sync.aligned");
  if (Error error = decoder.expectOperands(3, 3))
    return error;
  CopyInstruction data;
  Expected<MemoryOperand> operand =
      takeMemoryOperand(decoder, 0, StateSpace::Global);
  if (!operand)
    return operand.takeError();
  data.destination = *operand;
  operand = takeMemoryOperand(decoder, 1, StateSpace::Shared);
  if (!operand)
    return operand.takeError();
  data.source = *operand;
  Expected<int64_t> size = decoder.integer(2);
  if (!size)
    return size.takeError();
  if (*size != int64_t(kTensorMapBytes))
    return decoder.error(decoder.getOperand(2),
                         "expects a size of 128, but got " + Twine(*size));
  Instruction &instruction = decoder.emit(executeCopy, InstructionClass::Other);
  instruction.flow = Flow::Collective;
  instruction.data = decoder.getProgram().own(std::move(data));
  return Error::success();
}

} // namespace

void registerTensorMapUpdates(InstructionTable &table) {
  constexpr llvm::StringLiteral kGroup = "Asynchronous copies";
  table.add("tensormap.replace",
            "tensormap.replace.tile.field{.global,.shared::cta}.b1024"
            ".{b32,b64}",
            kGroup, decodeReplace);
  table.add("tensormap.cp_fenceproxy",
            "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic"
            ".release.scope.sync.aligned",
            kGroup, decodeCopy);
}

} // namespace tile::emulator
