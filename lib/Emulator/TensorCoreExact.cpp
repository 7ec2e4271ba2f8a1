//===- TensorCoreExact.cpp - Sums in f64 ----------------------------------===//

#include "TensorCoreArithmetic.h"

#include <cassert>
#include <cstring>

using namespace tile::emulator;

// Eight columns as one value; the compiler splits it into what the machine has.
typedef double Double8 __attribute__((vector_size(64)));
typedef float Float8 __attribute__((vector_size(32)));

namespace {
template <typename T>
struct PanelRow;
template <>
struct PanelRow<double> {
  using Type = Double8;
};
template <>
struct PanelRow<float> {
  using Type = Float8;
};
} // namespace

/// Rows that share a load of B.
static constexpr unsigned kRowBlock = 4;

template <typename T>
__attribute__((always_inline)) static inline void
multiplyBody(const ExactOperands<T> &operands, double *accumulators) {
  using Row = typename PanelRow<T>::Type;
  unsigned blocks = operands.blocks ? operands.blocks : 1;
  unsigned k = operands.k, blockK = k / blocks;
  for (unsigned m = 0; m != operands.rows; m += kRowBlock) {
    const T *a = operands.a + m * k;
    Double8 total[kRowBlock];
    for (unsigned block = 0; block != blocks; ++block) {
      unsigned first = block * blockK;
      // The sum starts with its first product: 0 plus it would turn -0 into +0.
      Row sum[kRowBlock], b;
      std::memcpy(&b, operands.b + first * kPanelColumns, sizeof(b));
      for (unsigned i = 0; i != kRowBlock; ++i)
        sum[i] = a[i * k + first] * b;
      for (unsigned j = first + 1; j != first + blockK; ++j) {
        std::memcpy(&b, operands.b + j * kPanelColumns, sizeof(b));
        for (unsigned i = 0; i != kRowBlock; ++i)
          sum[i] += a[i * k + j] * b;
      }
      for (unsigned i = 0; i != kRowBlock; ++i) {
        Double8 value = __builtin_convertvector(sum[i], Double8);
        if (operands.blocks) {
          Double8 scale;
          std::memcpy(&scale, operands.scaleB + block * kPanelColumns,
                      sizeof(scale));
          value *= operands.scaleA[(m + i) * blocks + block] * scale;
        }
        total[i] = block ? total[i] + value : value;
      }
    }
    for (unsigned i = 0; i != kRowBlock; ++i) {
      Double8 c;
      std::memcpy(&c, accumulators + (m + i) * kPanelColumns, sizeof(c));
      c = total[i] + c;
      std::memcpy(accumulators + (m + i) * kPanelColumns, &c, sizeof(c));
    }
  }
}

// The library is built for any machine of its architecture; these loops are
// worth a second version.
#if defined(__x86_64__) && defined(__GNUC__)
#define TILE_HAS_AVX2 1
__attribute__((target("avx2"))) static void
multiplyAvx2(const ExactOperands<double> &operands, double *accumulators) {
  multiplyBody(operands, accumulators);
}
__attribute__((target("avx2"))) static void
multiplyAvx2(const ExactOperands<float> &operands, double *accumulators) {
  multiplyBody(operands, accumulators);
}
#else
#define TILE_HAS_AVX2 0
#endif

template <typename T>
static void multiply(const ExactOperands<T> &operands, double *accumulators) {
  assert(operands.rows % kRowBlock == 0 && operands.k && "unsupported shape");
#if TILE_HAS_AVX2
  static const bool hasAvx2 = __builtin_cpu_supports("avx2");
  if (hasAvx2)
    return multiplyAvx2(operands, accumulators);
#endif
  multiplyBody(operands, accumulators);
}

void tile::emulator::multiplyExact(const ExactOperands<double> &operands,
                                   double *accumulators) {
  multiply(operands, accumulators);
}

void tile::emulator::multiplyExact(const ExactOperands<float> &operands,
                                   double *accumulators) {
  multiply(operands, accumulators);
}
