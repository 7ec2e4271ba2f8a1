//===- TensorCoreExact.cpp - Sums in f64 ----------------------------------===//

#include "TensorCoreArithmetic.h"

#include <cassert>
#include <cstddef>
#include <type_traits>

using namespace tile::emulator;

namespace {

/// Vectors of `kBytes`. They are loaded as what they are: a memcpy goes by way
/// of the stack in parts.
template <typename T, unsigned kBytes>
struct VectorOf {
  static constexpr unsigned kCount = kPanelColumns * sizeof(T) / kBytes;
  typedef T Type __attribute__((vector_size(kBytes)));
  typedef T Unaligned
      __attribute__((vector_size(kBytes), aligned(sizeof(T)), may_alias));
};

} // namespace

/// Rows that share a load of B.
static constexpr unsigned kRowBlock = 4;

/// The lower or upper half of a vector of floats as doubles.
template <unsigned kBytes>
__attribute__((always_inline)) static inline void
widen(const typename VectorOf<float, kBytes>::Type &from, bool isUpper,
      typename VectorOf<double, kBytes>::Type &to) {
  using Double = typename VectorOf<double, kBytes>::Type;
  if constexpr (kBytes == 32)
    to = isUpper ? __builtin_convertvector(
                       __builtin_shufflevector(from, from, 4, 5, 6, 7), Double)
                 : __builtin_convertvector(
                       __builtin_shufflevector(from, from, 0, 1, 2, 3), Double);
  else
    to = isUpper ? __builtin_convertvector(
                       __builtin_shufflevector(from, from, 2, 3), Double)
                 : __builtin_convertvector(
                       __builtin_shufflevector(from, from, 0, 1), Double);
}

template <unsigned kBytes, typename T>
__attribute__((always_inline)) static inline void
multiplyBody(const ExactOperands<T> &operands, double *accumulators) {
  using Vector = typename VectorOf<T, kBytes>::Type;
  using Loaded = const typename VectorOf<T, kBytes>::Unaligned;
  using DoubleVector = typename VectorOf<double, kBytes>::Type;
  using Scales = typename VectorOf<double, kBytes>::Unaligned;
  constexpr unsigned kVectors = VectorOf<T, kBytes>::kCount;
  constexpr unsigned kDoubleVectors = VectorOf<double, kBytes>::kCount;
  unsigned blocks = operands.blocks ? operands.blocks : 1;
  unsigned blockK = operands.k / blocks;
  size_t stride = operands.strideA ? operands.strideA : operands.k;
  for (unsigned m = 0; m != operands.rows; m += kRowBlock) {
    const T *a = operands.a + m * stride;
    Loaded *b = reinterpret_cast<Loaded *>(operands.b);
    DoubleVector total[kRowBlock][kDoubleVectors];
    for (unsigned block = 0; block != blocks; ++block) {
      Vector sum[kRowBlock][kVectors];
      // The sum starts with its first product: 0 plus it would turn -0 into +0.
      for (unsigned i = 0; i != kRowBlock; ++i)
        for (unsigned v = 0; v != kVectors; ++v)
          sum[i][v] = a[i * stride] * b[v];
      for (unsigned j = 1; j != blockK; ++j) {
        ++a;
        b += kVectors;
        for (unsigned i = 0; i != kRowBlock; ++i)
          for (unsigned v = 0; v != kVectors; ++v)
            sum[i][v] += a[i * stride] * b[v];
      }
      ++a;
      b += kVectors;
      for (unsigned v = 0; v != kDoubleVectors; ++v) {
        DoubleVector scale = {};
        if (operands.blocks)
          scale = reinterpret_cast<const Scales *>(
              operands.scaleB)[block * kDoubleVectors + v];
        for (unsigned i = 0; i != kRowBlock; ++i) {
          DoubleVector value;
          if constexpr (std::is_same_v<T, double>)
            value = sum[i][v];
          else
            widen<kBytes>(sum[i][v / 2], v % 2, value);
          if (operands.blocks)
            value *= operands.scaleA[(m + i) * blocks + block] * scale;
          total[i][v] = block ? total[i][v] + value : value;
        }
      }
    }
    Scales *c = reinterpret_cast<Scales *>(accumulators + m * kPanelColumns);
    for (unsigned i = 0; i != kRowBlock; ++i)
      for (unsigned v = 0; v != kDoubleVectors; ++v)
        c[i * kDoubleVectors + v] = total[i][v] + c[i * kDoubleVectors + v];
  }
}

// The library is built for any machine of its architecture; these loops are
// worth a second version.
#if defined(__x86_64__) && defined(__GNUC__)
#define TILE_HAS_AVX2 1
__attribute__((target("avx2"))) static void
multiplyAvx2(const ExactOperands<double> &operands, double *accumulators) {
  multiplyBody<32>(operands, accumulators);
}
__attribute__((target("avx2"))) static void
multiplyAvx2(const ExactOperands<float> &operands, double *accumulators) {
  multiplyBody<32>(operands, accumulators);
}
#else
#define TILE_HAS_AVX2 0
#endif

template <typename T>
static void multiply(const ExactOperands<T> &operands, double *accumulators) {
  assert(operands.rows % kRowBlock == 0 && operands.k && "unsupported shape");
#if TILE_HAS_AVX2
  if (__builtin_cpu_supports("avx2"))
    return multiplyAvx2(operands, accumulators);
#endif
  multiplyBody<16>(operands, accumulators);
}

void tile::emulator::multiplyExact(const ExactOperands<double> &operands,
                                   double *accumulators) {
  multiply(operands, accumulators);
}

void tile::emulator::multiplyExact(const ExactOperands<float> &operands,
                                   double *accumulators) {
  multiply(operands, accumulators);
}
