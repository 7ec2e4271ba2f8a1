//===- Program.h - Decoded kernels ------------------------------*- C++ -*-===//
//
// What a PTX function becomes once, so that running it looks nothing up: every
// register has its place in a frame, every instruction is a function pointer
// with the places of its operands, and every branch knows where its lanes meet
// again.
//
// A frame holds the registers of one function for the 32 lanes of a warp. The
// lanes of one register are contiguous; immediates, special registers and
// addresses of variables are registers too, written when the frame is made, so
// that an operand is always a place.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_LIB_EMULATOR_PROGRAM_H
#define TILE_LIB_EMULATOR_PROGRAM_H

#include "tile/Emulator/Emulator.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Allocator.h"

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace tile::emulator {

class Warp;
struct Split;
struct Instruction;

constexpr unsigned kLanes = 32;
constexpr uint32_t kAllLanes = ~uint32_t(0);

/// Offset in bytes of a register in a frame, a multiple of 64.
///
/// A predicate is one 32-bit lane mask. A register of 8 or 16 bits is 32 times
/// 2 bytes, one of 32, 64 or 128 bits 32 times 4, 8 or 16 bytes.
using Slot = uint32_t;
constexpr Slot kNoSlot = ~Slot(0);

/// Bytes that one lane's value takes in a frame; 0 for a predicate.
inline unsigned getLaneBytes(Type type) {
  unsigned bits = getTypeBits(type);
  return type == Type::Pred ? 0 : bits <= 16 ? 2 : bits / 8;
}

/// What an instruction sees of its warp while it executes.
struct Lanes {
  uint8_t *registers; ///< The frame's values.
  /// Beside each value, which of its bits have been written (1: written). Only
  /// meaningful for lanes whose bit in `undefined` is set.
  uint8_t *written;
  /// One mask per 64 bytes of frame: the lanes whose value at that slot has
  /// unwritten bits.
  uint32_t *undefined;
  uint32_t active; ///< The lanes that execute; never 0.
  Warp *warp;
  Split *split;

  template <typename T>
  const T *read(Slot slot) const {
    return reinterpret_cast<const T *>(registers + slot);
  }
  template <typename T>
  T *get(Slot slot) const {
    return reinterpret_cast<T *>(registers + slot);
  }
  uint32_t &mask(Slot slot) const {
    return *reinterpret_cast<uint32_t *>(registers + slot);
  }
  uint32_t &undefinedAt(Slot slot) const { return undefined[slot >> 6]; }
};

using Execute = void (*)(const Instruction &, Lanes &);

/// How the scheduler treats an instruction.
enum class Flow : uint8_t {
  Next,        ///< Executes and goes on.
  Branch,      ///< `bra`: `target`.
  BranchTable, ///< `brx.idx`: `a` is the index, `targets` the table.
  Call,
  Return,
  Exit,
  Barrier, ///< `bar`/`barrier`; see `BarrierOperation`.
  /// Executes once the lanes of its member mask have all come: the mask in slot
  /// `members`, or all lanes of the warp where that is kNoSlot.
  Collective,
  /// Executes, then lets others run: failed polls, `nanosleep`.
  Yield,
};

/// One decoded instruction.
struct Instruction {
  Execute execute = nullptr;
  Slot d = 0, a = 0, b = 0, c = 0; ///< The first operands, where it has them.
  Slot guard = kNoSlot;
  bool guardNegated = false;
  Flow flow = Flow::Next;
  InstructionClass instructionClass = InstructionClass::Other;
  /// The decoder put it beside the one of the text: not counted. `target` of
  /// such a branch is a position from the start, not a label.
  bool isHidden = false;
  bool isMeetingPoint = false; ///< Lanes of some branch meet here again.
  Slot members = kNoSlot;      ///< Collective.
  /// Position among all instructions of the program; the key of counters.
  uint32_t index = 0;
  /// Branch: where to, and where the lanes meet again (a position in the same
  /// function; `Code::code.size()` is its end).
  uint32_t target = 0;
  uint32_t reconvergence = 0;
  /// A number for the executor's own use, such as an address offset.
  int64_t immediate = 0;
  /// Longer operand lists, in the executor's own order.
  llvm::ArrayRef<Slot> operands;
  /// Whatever else the executor needs, allocated in the program.
  const void *data = nullptr;
  const Statement *statement = nullptr;
};

/// What fills a slot when a frame is made.
struct FrameValue {
  enum class Kind : uint8_t {
    Constant,     ///< `bits` in every lane.
    Special,      ///< The special register `special`.
    LocalAddress, ///< `bits` plus the frame's base in local memory.
  };
  Kind kind = Kind::Constant;
  uint8_t laneBytes = 4; ///< 2, 4, 8, 16 (zero-extended); 0: predicate.
  unsigned special = 0;  ///< A `SpecialRegister`.
  Slot slot = 0;
  uint64_t bits = 0;
};

/// Special registers that do not change while a kernel runs.
enum class SpecialRegister : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NwarpId,
  SmId,
  NsmId,
  GridId,
  LanemaskEq,
  LanemaskLt,
  LanemaskLe,
  LanemaskGt,
  LanemaskGe,
  DynamicSmemSize,
  TotalSmemSize,
  AggrSmemSize,
  ClusterIdX,
  ClusterIdY,
  ClusterIdZ,
  NclusterIdX,
  NclusterIdY,
  NclusterIdZ,
  ClusterCtaidX,
  ClusterCtaidY,
  ClusterCtaidZ,
  ClusterNctaidX,
  ClusterNctaidY,
  ClusterNctaidZ,
  ClusterCtarank,
  ClusterNctarank,
  IsExplicitCluster,
  Zero, ///< `%envreg`, `%pm` and the like.
};

/// One parameter or result of a call: bytes of the function's local memory, or
/// a register.
struct CallOperand {
  Slot slot = kNoSlot; ///< A register or constant, or:
  uint32_t offset = 0; ///< Offset in the frame of local memory.
  uint32_t bytes = 0;  ///< Of a register: of a lane, 0 for a predicate.
  /// An immediate or address of 8 bytes, of which the callee may take fewer.
  bool isConstant = false;
};

/// A decoded function.
struct Code {
  const Function *function = nullptr;
  std::vector<Instruction> code;
  std::vector<FrameValue> frameValues;
  uint32_t frameBytes = 0; ///< A multiple of 64.
  /// Bytes of local memory of one thread: `.local` variables, and `.param`
  /// variables of the body. The parameters and results of a device function
  /// come first.
  uint32_t localBytes = 0;
  /// Where the device function's parameters and results are.
  llvm::SmallVector<CallOperand> parameters, results;
  /// Registers by declaration; for traces.
  llvm::DenseMap<const Variable *, llvm::SmallVector<Slot, 1>> registers;
  /// The carry flag of `add.cc`, `addc` and their like, a predicate; kNoSlot
  /// until an instruction needs it.
  Slot carry = kNoSlot;
};

/// What Flow::Call has as `data`.
struct CallData {
  /// The callee of a direct call, else null: `Instruction::a` holds its
  /// address.
  const Code *callee = nullptr;
  llvm::SmallVector<CallOperand> arguments, results;
  /// A function of the emulator's own ("vprintf"), or null. It finds its
  /// arguments in `arguments` and writes `results`.
  void (*builtin)(const Instruction &, const CallData &, Lanes &) = nullptr;
};

/// A kernel with everything that it calls.
struct Program {
  const SyntaxTree *syntax = nullptr;
  const Function *entry = nullptr;
  /// "sm_120a" as 120; what the text's target says.
  unsigned architecture = 0;
  std::vector<std::unique_ptr<Code>> codes; ///< `codes[0]` is the entry's.
  uint32_t numInstructions = 0;
  /// Static shared memory, and where dynamic shared memory begins; both count
  /// from address 0 and include the reserved bytes below `kSharedBase`.
  uint32_t staticSharedEnd = 0;
  uint32_t dynamicSharedBase = 0;
  /// Names of shared variables by address, for messages.
  std::vector<std::pair<uint32_t, const Variable *>> sharedVariables;
  /// Offset of each kernel parameter in the parameter space.
  llvm::SmallVector<uint32_t> parameterOffsets;
  uint32_t parameterBytes = 0;
  /// Whether blocks can see each other's work in a way that depends on their
  /// order: atomics that return a value or add floats, loads that bypass
  /// caches. Such blocks run on one host thread.
  bool blocksCommunicate = false;
  /// Functions by their address in generic space, for indirect calls. Any
  /// number is looked up, so no DenseMap, which has keys of its own.
  std::unordered_map<uint64_t, const Code *> functionAddresses;
  llvm::BumpPtrAllocator allocator;
  /// Destroys what `allocate` made.
  std::vector<std::shared_ptr<void>> owned;

  /// A copy of `value` that lives as long as the program.
  template <typename T>
  const T *own(T value) {
    auto holder = std::make_shared<T>(std::move(value));
    owned.push_back(holder);
    return holder.get();
  }
  llvm::ArrayRef<Slot> own(llvm::ArrayRef<Slot> slots) {
    return slots.copy(allocator);
  }
};

/// The windows of the generic address space. Global memory is everything above;
/// see Memory.h. An address in a window names the calling thread's or block's
/// own memory.
constexpr uint64_t kSharedWindow = uint64_t(1) << 32;
constexpr uint64_t kLocalWindow = uint64_t(2) << 32;
constexpr uint64_t kParameterWindow = uint64_t(3) << 32;
constexpr uint64_t kFunctionWindow = uint64_t(4) << 32;
constexpr uint64_t kWindowMask = ~((uint64_t(1) << 32) - 1);
/// The first module region (Memory.h) starts above the windows:
/// variable i of a module lies in region `kFirstModuleRegion + i`.
constexpr uint64_t kFirstModuleRegion = 1;
/// Shared memory that belongs to the system, as on sm_90 and later: address 0
/// is never a variable's.
constexpr uint32_t kSharedBase = 1024;

/// The most shared memory that any target lets one block use.
constexpr uint64_t kLargestShared = 232448;
/// The most bytes of parameters of a kernel, since PTX 8.1.
constexpr uint64_t kLargestParameters = 32764;
/// The most local memory of a thread, over all its calls.
constexpr uint64_t kLargestLocal = uint64_t(512) << 10;
/// The most registers of a warp in bytes, over all its calls: far more than any
/// GPU has, so that a runaway recursion ends before this machine's memory does.
constexpr uint64_t kLargestFrames = uint64_t(1) << 26;

} // namespace tile::emulator

#endif // TILE_LIB_EMULATOR_PROGRAM_H
