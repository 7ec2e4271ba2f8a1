//===- Ptxas.h - NVIDIA's assembler, where there is one ---------*- C++ -*-===//
//
// PTX is the compiler's product and needs no assembler. Where ptxas is found it
// adds two things: a cubin, and the registers, spills and shared memory of each
// kernel. It is a program of its own; nothing of CUDA is linked.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_CODEGEN_PTXAS_H
#define TILE_CODEGEN_PTXAS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace tile {

/// What one kernel takes of a multiprocessor, as ptxas reports it.
struct KernelResources {
  std::string entry;
  unsigned registers = 0;       ///< Per thread.
  unsigned spillStoreBytes = 0; ///< Per thread.
  unsigned spillLoadBytes = 0;  ///< Per thread.
  unsigned stackBytes = 0;      ///< Per thread.
  unsigned sharedBytes = 0;     ///< Per block, static only.
  unsigned barriers = 0;        ///< Named barriers of the block.
};

/// The result of an assembly.
struct PtxasResult {
  std::string cubin;
  std::vector<KernelResources> kernels; ///< In the order of the PTX.
  std::string log;                      ///< Everything that ptxas printed.
};

/// An assembler that was found and asked for its version.
class Ptxas {
public:
  /// Finds the assembler: `option` (the value of `--ptxas`) if it is not empty,
  /// else the environment's TILE_PTXAS, else the one that scripts/setup
  /// installs, else `ptxas` on PATH, else CUDA_HOME/bin/ptxas. Returns nullopt
  /// if there is none. The first two are somebody's wish: if they cannot be run
  /// that is an error, and the search does not go on.
  static llvm::Expected<std::optional<Ptxas>> find(llvm::StringRef option = "");

  /// Finds the assembler for those who cannot do without: where there is none,
  /// the error says how to provide one.
  static llvm::Expected<Ptxas> require(llvm::StringRef option = "");

  /// Opens the assembler at `path` and probes its version.
  static llvm::Expected<Ptxas> open(llvm::StringRef path);

  llvm::StringRef getPath() const { return path; }
  /// 13.0.88 is 1300: major times 100 plus minor.
  unsigned getVersion() const { return version; }
  /// The version in full: "13.0.88".
  llvm::StringRef getVersionText() const { return versionText; }

  /// Assembles `ptx` for `target`. `name` stands for the text in messages. An
  /// error names the assembler, its version and the target, has the first
  /// lines of its complaint and, where a newer toolkit is needed, says which.
  llvm::Expected<PtxasResult>
  assemble(llvm::StringRef ptx, llvm::StringRef target, llvm::StringRef name,
           llvm::ArrayRef<std::string> extraOptions = {}) const;

private:
  Ptxas(llvm::StringRef path, unsigned version, llvm::StringRef versionText)
      : path(path), version(version), versionText(versionText) {}

  std::string path;
  unsigned version;
  std::string versionText;
};

/// The oldest CUDA toolkit whose ptxas takes `.version` `ptxVersion` (88 is
/// 8.8), as `Ptxas::getVersion` counts: 1209.
unsigned getToolkitForPtxVersion(unsigned ptxVersion);

/// Reads the resources of each kernel from what `ptxas -v` prints, in the order
/// of the text.
std::vector<KernelResources> parsePtxasLog(llvm::StringRef log);

} // namespace tile

#endif // TILE_CODEGEN_PTXAS_H
