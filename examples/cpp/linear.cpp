//===- linear.cpp - A linear layer on quantised weights -------------------===//
//
// Quantises the weights and activations of a layer to NVFP4, compiles a kernel
// for it, runs that and compares with arithmetic in f64:
//
//   linear [DEVICE]
//
// DEVICE: best (the default), reference, emulator, emulator:TARGET or cuda:N.
//
//===----------------------------------------------------------------------===//

#include "tile/Runtime/Runtime.h"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace tile::runtime;

/// The extents of z[M,N] = x[M,K] · y[N,K]ᵀ.
constexpr int64_t M = 24, N = 96, K = 512;

/// The value, or the end of the program with the error's message.
template <typename T>
static T check(Expected<T> result, const char *what) {
  if (!result) {
    std::fprintf(stderr, "linear: error: %s: %s\n", what,
                 result.error().str().c_str());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>)
    return *std::move(result);
}

static Expected<Device> findDevice(const std::string &name) {
  if (name == "best")
    return Device::best();
  if (name == "reference")
    return Device::reference();
  if (name == "emulator")
    return Device::emulator("sm_120a");
  if (name.rfind("emulator:", 0) == 0)
    return Device::emulator(name.substr(9));
  if (name.rfind("cuda:", 0) == 0) {
    char *end = nullptr;
    long ordinal = std::strtol(name.c_str() + 5, &end, 10);
    if (end != name.c_str() + 5 && !*end && ordinal >= 0 && ordinal < 1024)
      return Device::cuda(static_cast<int>(ordinal));
  }
  return Error(ErrorCode::InvalidArgument,
               "expects best, reference, emulator, emulator:TARGET or cuda:N, "
               "but got '" +
                   name + "'");
}

/// Values of about the size that `deviation` says, mixed from their index.
static std::vector<float> makeMatrix(int64_t count, uint64_t seed,
                                     float deviation) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i) {
    float sum = 0;
    for (uint64_t draw = 0; draw < 4; ++draw) {
      uint64_t h = (seed << 32) + 4 * i + draw + 0x9E3779B97F4A7C15;
      h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9;
      h = (h ^ h >> 27) * 0x94D049BB133111EB;
      sum += float((h ^ h >> 31) >> 40) * 0x1p-24f - 0.5f;
    }
    values[i] = deviation * sum;
  }
  return values;
}

int main(int argc, char **argv) {
  Device device = check(findDevice(argc > 1 ? argv[1] : "best"), "device");

  // Done once, when a model is loaded.
  std::vector<float> weights = makeMatrix(N * K, 1, 0.05f);
  QuantizeOptions twoLevel;
  twoLevel.twoLevel = true;
  QuantizedArray y =
      check(quantize("nvfp4", weights.data(), N, K, twoLevel), "weights");
  LinearProblem problem;
  problem.m = M, problem.n = N, problem.k = K;
  CompileOptions options;
  options.device = device;
  ReadyKernel layer = check(
      KernelLibrary().linear("nvfp4_linear", problem, options), "nvfp4_linear");

  // Done for each input.
  std::vector<float> activations = makeMatrix(M * K, 2, 2.0f);
  QuantizedArray x =
      check(quantize("nvfp4", activations.data(), M, K, twoLevel), "input");
  auto copy = [&](const TensorRef &array) {
    return check(Buffer::copyOf(device, array.type, array.shape, array.data),
                 "copying");
  };
  Buffer z =
      check(Buffer::allocate(device, ElementType::F32, {M, N}), "result");
  float alpha = x.globalScale * y.globalScale;
  check(layer.kernel.launch(device, layer.grid, z, copy(x.getCodesRef()),
                            copy(y.getCodesRef()), copy(x.getScalesRef()),
                            copy(y.getScalesRef()), alpha),
        "launch");
  std::vector<float> result(M * N);
  check(z.copyToHost(result.data()), "copying");

  std::printf("device: %s\ntarget: %s\n", device.getName().c_str(),
              layer.kernel.getTarget().c_str());
  for (const Multiply &multiply : layer.kernel.getMultiplies())
    std::printf("path: %s, %s: %s\n", multiply.isNative ? "native" : "expanded",
                multiply.atom.c_str(), multiply.reason.c_str());

  // The values that were multiplied, without the global scales in alpha.
  x.globalScale = y.globalScale = 1.0f;
  std::vector<float> xs = check(dequantize(x), "input");
  std::vector<float> ys = check(dequantize(y), "weights");
  // docs/numerics.md: so many times 2^-24 of the sum of magnitudes, and one
  // more for the product with alpha.
  const double bound = 9.0 / 8 * K + 8 + 1;
  double largest = 0;
  for (int64_t i = 0; i < M; ++i)
    for (int64_t j = 0; j < N; ++j) {
      double sum = 0, magnitudes = 0;
      for (int64_t k = 0; k < K; ++k) {
        double term = double(xs[i * K + k]) * ys[j * K + k];
        sum += term;
        magnitudes += std::fabs(term);
      }
      double error = std::fabs(result[i * N + j] - alpha * sum);
      double units = error / (0x1p-24 * alpha * magnitudes);
      if (!(units <= bound)) {
        std::fprintf(stderr, "linear: error: z[%d, %d] is %g, expects %g\n",
                     int(i), int(j), result[i * N + j], alpha * sum);
        return 1;
      }
      largest = std::fmax(largest, units);
    }
  std::printf("largest error: %.3g units, allowed: %.0f\n", largest, bound);
  return 0;
}
