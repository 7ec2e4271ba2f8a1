//===- Builtins.cpp - Functions that the device brings along --------------===//

#include "Builtins.h"
#include "Machine.h"
#include "ProcessState.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile::emulator;
using llvm::StringRef;
using llvm::Twine;

/// Reads bytes at a generic address as `lane` sees it; false where there are
/// none.
static bool read(Warp &warp, unsigned lane, uint64_t address, unsigned bytes,
                 uint8_t *to) {
  Block &block = warp.getBlock();
  for (unsigned i = 0; i != bytes; ++i, ++address) {
    uint64_t offset = address & ~kWindowMask;
    const uint8_t *at = nullptr;
    switch (address & kWindowMask) {
    case kSharedWindow:
      if (offset < block.getShared().getSize())
        at = block.getShared().getBytes() + offset;
      break;
    case kLocalWindow:
      if (offset < warp.getLocalSize())
        at = warp.getLocal(lane) + offset;
      break;
    case kParameterWindow:
      if (offset < block.getParameters().size())
        at = block.getParameters().data() + offset;
      break;
    default:
      at = block.getGlobal().resolve(address, 1, 1, /*isStore=*/false);
      break;
    }
    if (!at)
      return false;
    to[i] = *at;
  }
  return true;
}

/// The string at a generic address, up to a limit.
static std::string readString(Warp &warp, unsigned lane, uint64_t address) {
  std::string text;
  uint8_t byte;
  while (text.size() < 4096 && read(warp, lane, address++, 1, &byte) && byte)
    text += static_cast<char>(byte);
  return text;
}

/// An argument of the call in one lane, zero-extended.
static uint64_t getArgument(const CallData &call, const Lanes &lanes,
                            unsigned index, unsigned lane) {
  const CallOperand &operand = call.arguments[index];
  uint64_t value = 0;
  const uint8_t *from =
      operand.slot == kNoSlot
          ? lanes.warp->getLocal(lane) + lanes.split->frame->localBase +
                operand.offset
          : lanes.registers + operand.slot + size_t(lane) * operand.bytes;
  std::memcpy(&value, from, std::min<uint32_t>(operand.bytes, 8));
  return value;
}

/// The longest text of one argument, and so the largest width and precision.
static constexpr int kMostPrinted = 511;

/// Formats as C's printf does. The arguments lie one after another, each
/// aligned to its size, as CUDA's compilers put them.
static std::string format(Warp &warp, unsigned lane, StringRef pattern,
                          uint64_t arguments) {
  std::string text;
  uint64_t offset = 0;
  auto next = [&](unsigned bytes) {
    offset = (offset + bytes - 1) & ~uint64_t(bytes - 1);
    uint64_t value = 0;
    read(warp, lane, arguments + offset, bytes,
         reinterpret_cast<uint8_t *>(&value));
    offset += bytes;
    return value;
  };
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      text += pattern[i];
      continue;
    }
    std::string spec = "%";
    ++i;
    auto takeAny = [&](StringRef characters) {
      while (i < pattern.size() && characters.contains(pattern[i]))
        spec += pattern[i++];
    };
    // A width or precision: digits, or a star for an argument.
    auto takeNumber = [&] {
      StringRef rest = pattern.drop_front(std::min(i, pattern.size()));
      StringRef digits = rest.take_while(llvm::isDigit);
      int number = kMostPrinted;
      if (rest.starts_with("*")) {
        number = static_cast<int32_t>(next(4));
        ++i;
      } else if (digits.empty()) {
        return;
      } else {
        digits.getAsInteger(10, number); // Left where it is too large.
        i += digits.size();
      }
      spec += std::to_string(std::clamp(number, -kMostPrinted, kMostPrinted));
    };
    takeAny("-+ #0");
    takeNumber();
    if (i < pattern.size() && pattern[i] == '.') {
      spec += pattern[i++];
      takeNumber();
      // A negative precision counts as none.
      if (size_t at = spec.find(".-"); at != std::string::npos)
        spec.resize(at);
    }
    bool isLong = false;
    for (; i < pattern.size() && StringRef("hljzt").contains(pattern[i]); ++i)
      isLong |= pattern[i] != 'h';
    if (i >= pattern.size())
      break;
    char buffer[kMostPrinted + 1] = {};
    char kind = pattern[i];
    switch (kind) {
    case '%':
      text += '%';
      continue;
    case 'd':
    case 'i': {
      int64_t value = isLong ? static_cast<int64_t>(next(8))
                             : static_cast<int32_t>(next(4));
      std::snprintf(buffer, sizeof(buffer), (spec + "lld").c_str(),
                    static_cast<long long>(value));
      break;
    }
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      std::snprintf(
          buffer, sizeof(buffer), (spec + "ll" + kind).c_str(),
          static_cast<unsigned long long>(isLong ? next(8) : next(4)));
      break;
    case 'c':
      std::snprintf(buffer, sizeof(buffer), (spec + "c").c_str(),
                    static_cast<int>(next(4)));
      break;
    case 'p':
      std::snprintf(buffer, sizeof(buffer), "0x%llx",
                    static_cast<unsigned long long>(next(8)));
      break;
    case 's':
      text += readString(warp, lane, next(8));
      continue;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A': {
      uint64_t bits = next(8);
      double value;
      std::memcpy(&value, &bits, 8);
      std::snprintf(buffer, sizeof(buffer), (spec + kind).c_str(), value);
      break;
    }
    default:
      text += spec + kind;
      continue;
    }
    text += buffer;
  }
  return text;
}

/// int vprintf(const char *format, void *arguments)
static void executePrint(const Instruction &, const CallData &call,
                         Lanes &lanes) {
  std::string text;
  forLanes(lanes.active, [&](unsigned lane) {
    text +=
        format(*lanes.warp, lane,
               readString(*lanes.warp, lane, getArgument(call, lanes, 0, lane)),
               getArgument(call, lanes, 1, lane));
    if (call.results.empty())
      return;
    const CallOperand &result = call.results.front();
    int32_t one = 1;
    if (result.slot == kNoSlot) {
      uint32_t at = lanes.split->frame->localBase + result.offset;
      std::memcpy(lanes.warp->getLocal(lane) + at, &one, 4);
      std::memset(lanes.warp->getLocalWritten(lane) + at, 0xFF, 4);
    } else {
      lanes.get<int32_t>(result.slot)[lane] = one;
      lanes.undefinedAt(result.slot) &= ~(uint32_t(1) << lane);
    }
  });
  std::lock_guard lock(getProcessMutex(ProcessLock::Output));
  llvm::raw_ostream *output =
      lanes.warp->getBlock().getLaunch().options->output;
  (output ? *output : llvm::outs()) << text;
  (output ? *output : llvm::outs()).flush();
}

/// void __assertfail(message, file, line, function, charsize)
static void executeAssertFail(const Instruction &instruction,
                              const CallData &call, Lanes &lanes) {
  unsigned lane = static_cast<unsigned>(__builtin_ctz(lanes.active));
  Warp &warp = *lanes.warp;
  auto text = [&](unsigned i) {
    return readString(warp, lane, getArgument(call, lanes, i, lane));
  };
  warp.fault(
      instruction, lane, Check::Trap,
      "assertion failed: " + text(0) + ", at " + text(1) + ":" +
          Twine(static_cast<uint32_t>(getArgument(call, lanes, 2, lane))) +
          " in " + text(3));
}

const Builtin *tile::emulator::findBuiltin(StringRef name) {
  static constexpr uint8_t printBytes[] = {8, 8},
                           assertBytes[] = {8, 8, 4, 8, 8};
  static constexpr Builtin builtins[] = {
      {"vprintf", executePrint, printBytes, 4},
      {"__assertfail", executeAssertFail, assertBytes, 0},
  };
  for (const Builtin &builtin : builtins)
    if (builtin.name == name)
      return &builtin;
  return nullptr;
}

void tile::emulator::executeBuiltin(const Instruction &instruction,
                                    Lanes &lanes) {
  const CallData &call = *static_cast<const CallData *>(instruction.data);
  call.builtin(instruction, call, lanes);
}
