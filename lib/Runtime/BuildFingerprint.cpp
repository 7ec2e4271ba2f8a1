//===- BuildFingerprint.cpp - Which code this is --------------------------===//

#include "CodeCache.h"
#include "Gate.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/TargetParser/Host.h"

#include <cstring>
#include <elf.h>
#include <link.h>

using namespace llvm;
using namespace tile;
using namespace tile::runtime;

namespace {
/// A loaded object, found by an address in it.
struct Object {
  uintptr_t address = 0;
  bool isFound = false;
  std::string path;    ///< Empty for the program itself.
  std::string buildId; ///< In hexadecimal; empty where it has none.
};
} // namespace

/// The GNU build-id among the notes of a segment, or nothing.
static ArrayRef<uint8_t> findBuildId(ArrayRef<uint8_t> notes,
                                     uint64_t alignment) {
  alignment = alignment == 8 ? 8 : 4;
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes.data(), sizeof(header));
    uint64_t contents = alignTo(sizeof(header) + header.n_namesz, alignment);
    uint64_t end = contents + header.n_descsz;
    if (end > notes.size())
      break;
    ArrayRef<uint8_t> name = notes.slice(sizeof(header), header.n_namesz);
    if (header.n_type == NT_GNU_BUILD_ID &&
        toStringRef(name) == StringRef("GNU", 4))
      return notes.slice(contents, header.n_descsz);
    notes = notes.drop_front(
        std::min<uint64_t>(alignTo(end, alignment), notes.size()));
  }
  return {};
}

/// Fills in an `Object` when its turn comes.
static int visitObject(dl_phdr_info *info, size_t, void *data) {
  auto &object = *static_cast<Object *>(data);
  ArrayRef<ElfW(Phdr)> segments(info->dlpi_phdr, info->dlpi_phnum);
  bool holds = any_of(segments, [&](const ElfW(Phdr) & segment) {
    return segment.p_type == PT_LOAD &&
           object.address - (info->dlpi_addr + segment.p_vaddr) <
               segment.p_memsz;
  });
  if (!holds)
    return 0;
  object.isFound = true;
  object.path = info->dlpi_name;
  for (const ElfW(Phdr) & segment : segments) {
    if (segment.p_type != PT_NOTE)
      continue;
    auto *notes =
        reinterpret_cast<const uint8_t *>(info->dlpi_addr + segment.p_vaddr);
    ArrayRef<uint8_t> id =
        findBuildId(ArrayRef(notes, segment.p_memsz), segment.p_align);
    if (!id.empty())
      object.buildId = toHex(id, /*LowerCase=*/true);
  }
  return 1;
}

/// What identifies the object that holds a function: its build-id, else the
/// file's path, size and time.
static std::string identifyObject(uintptr_t address) {
  Object object;
  object.address = address;
  ::dl_iterate_phdr(visitObject, &object);
  if (!object.buildId.empty())
    return object.buildId;
  std::string path = object.isFound && !object.path.empty()
                         ? object.path
                         : sys::fs::getMainExecutable(nullptr, nullptr);
  sys::fs::file_status status;
  if (sys::fs::status(path, status))
    return path;
  auto time = status.getLastModificationTime().time_since_epoch();
  return path + ":" + std::to_string(status.getSize()) + ":" +
         std::to_string(time.count());
}

template <typename Function>
static uintptr_t getAddress(Function *function) {
  return reinterpret_cast<uintptr_t>(function);
}

const std::string &runtime::getBuildFingerprint() {
  ForkShield shield;
  static const std::string fingerprint =
      "tile " TILE_VERSION " " +
      identifyObject(getAddress(&runtime::getBuildFingerprint)) +
      " LLVM " LLVM_VERSION_STRING " " +
      identifyObject(getAddress(&sys::getProcessTriple)) + " MLIR " +
      identifyObject(getAddress(&mlir::verify));
  return fingerprint;
}
