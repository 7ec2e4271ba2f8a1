//===- HostFunctions.h - Run expanded scalar code on the host ---*- C++ -*-===//
//
// Compiles functions on scalars as the pass tile-expand-math leaves them, with
// LLVM's JIT. What a GPU computes with an approximate instruction is a call to
// a model here, which is off by as much as the PTX ISA allows.
//
//===----------------------------------------------------------------------===//

#ifndef TILE_UNITTESTS_CONVERSION_HOSTFUNCTIONS_H
#define TILE_UNITTESTS_CONVERSION_HOSTFUNCTIONS_H

#include "llvm/ADT/StringRef.h"

#include <memory>

namespace llvm::orc {
class LLJIT;
} // namespace llvm::orc

namespace tile {

/// The functions of one module.
class HostFunctions {
public:
  /// Runs the pass on the `func.func`s of `source` and compiles them. A failure
  /// is a fatal one of the running test; then every address is null.
  explicit HostFunctions(llvm::StringRef source);
  ~HostFunctions();

  /// `get<float(float)>("f")`: the address of a function.
  template <typename FunctionT>
  FunctionT *get(llvm::StringRef name) const {
    return reinterpret_cast<FunctionT *>(lookup(name));
  }

  /// What approximate instructions are off by, from -1 to 1, in units of the
  /// largest error that the PTX ISA allows.
  static double approximation;

private:
  // Not the constructor itself, from which an assertion cannot return.
  void initialize(llvm::StringRef source);
  void *lookup(llvm::StringRef name) const;

  std::unique_ptr<llvm::orc::LLJIT> jit;
};

/// `value` rounded once to nearest even, as bits; from f64, f32 or narrower.
unsigned roundToHalf(double value);
unsigned roundToBFloat(double value);
/// The number that these bits mean.
double fromHalf(unsigned bits);
double fromBFloat(unsigned bits);

} // namespace tile

#endif // TILE_UNITTESTS_CONVERSION_HOSTFUNCTIONS_H
