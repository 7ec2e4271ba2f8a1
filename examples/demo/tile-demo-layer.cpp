//===- tile-demo-layer.cpp - A linear layer for the demo ------------------===//
//
//   tile-demo-layer make M N K DIR      writes a quantised layer to DIR
//   tile-demo-layer compare M N K DIR   compares DIR/z.npy with f64 arithmetic
//
// A use of the formats library alone: nothing here knows of MLIR or of the
// compiler, so the comparison is independent of both.
//
//===----------------------------------------------------------------------===//

#include "tile/Formats/Npy.h"
#include "tile/Formats/ScaledQuantize.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <string>
#include <vector>

using namespace llvm;
using namespace tile;

namespace {
/// The extents of z[M,N] = x[M,K] . y[N,K]^T and where its arrays are.
struct Layer {
  int64_t m, n, k;
  std::string folder;

  std::string at(StringRef name) const { return (folder + "/" + name).str(); }
};
} // namespace

//===----------------------------------------------------------------------===//
// Data
//===----------------------------------------------------------------------===//

/// A well-mixed 64-bit hash (the finalizer of SplitMix64).
static uint64_t mix(uint64_t value) {
  value += 0x9E3779B97F4A7C15;
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
  value = (value ^ value >> 27) * 0x94D049BB133111EB;
  return value ^ value >> 31;
}

/// Uniform in (0, 1).
static double uniform(uint64_t seed, uint64_t index) {
  return (double(mix(seed << 48 ^ index) >> 11) + 0.5) * 0x1p-53;
}

/// Standard normal, by the Box-Muller transform.
static double normal(uint64_t seed, uint64_t index) {
  return std::sqrt(-2 * std::log(uniform(seed, 2 * index))) *
         std::cos(2 * M_PI * uniform(seed, 2 * index + 1));
}

/// A matrix of normal values. A few columns of the activations are larger, as
/// they are in trained transformers: what makes per-block scales worthwhile.
static std::vector<float> makeMatrix(uint64_t seed, int64_t rows,
                                     int64_t columns, double deviation,
                                     bool outliers) {
  std::vector<float> values(rows * columns);
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column) {
      double factor = outliers && mix(column) % 100 == 0 ? 20 : 1;
      values[row * columns + column] =
          float(deviation * factor * normal(seed, row * columns + column));
    }
  return values;
}

static std::vector<float> makeActivations(const Layer &layer) {
  return makeMatrix(1, layer.m, layer.k, 1.0, /*outliers=*/true);
}
static std::vector<float> makeWeights(const Layer &layer) {
  return makeMatrix(2, layer.n, layer.k, 0.02, /*outliers=*/false);
}

/// NVFP4 with two levels of scales.
static Expected<QuantizedMatrix> quantize(ArrayRef<float> values, int64_t rows,
                                          int64_t columns) {
  return quantizeNvfp4(values, rows, columns, computeGlobalScale(values));
}

//===----------------------------------------------------------------------===//
// make
//===----------------------------------------------------------------------===//

static Error writeMatrix(const Layer &layer, StringRef name,
                         const QuantizedMatrix &matrix) {
  if (Error error = writeNpy(layer.at((name + ".npy").str()), NpyType::U8,
                             {matrix.rows, matrix.getRowBytes()}, matrix.codes))
    return error;
  return writeNpy(layer.at((name + "s.npy").str()), NpyType::U8,
                  {matrix.rows, matrix.getScaleColumns()}, matrix.scales);
}

static void printMatrix(StringRef name, StringRef what,
                        const QuantizedMatrix &matrix, ArrayRef<float> values) {
  double error = 0, power = 0;
  for (int64_t row = 0; row < matrix.rows; ++row)
    for (int64_t column = 0; column < matrix.columns; ++column) {
      double value = values[row * matrix.columns + column];
      double difference = matrix.getValue(row, column) - value;
      error += difference * difference;
      power += value * value;
    }
  size_t bytes = matrix.codes.size() + matrix.scales.size();
  outs() << formatv("  {0} [{1} x {2}] {3}: {4} bytes of f32 -> {5} ({6:P1}); "
                    "rounding error {7:P1} RMS\n",
                    name, matrix.rows, matrix.columns, what, values.size() * 4,
                    bytes, double(bytes) / (values.size() * 4),
                    std::sqrt(error / power));
}

static Error make(const Layer &layer) {
  std::vector<float> x = makeActivations(layer), y = makeWeights(layer);
  Expected<QuantizedMatrix> qx = quantize(x, layer.m, layer.k);
  if (!qx)
    return qx.takeError();
  Expected<QuantizedMatrix> qy = quantize(y, layer.n, layer.k);
  if (!qy)
    return qy.takeError();
  if (Error error = writeMatrix(layer, "x", *qx))
    return error;
  if (Error error = writeMatrix(layer, "y", *qy))
    return error;
  printMatrix("x", "activations", *qx, x);
  printMatrix("y", "weights", *qy, y);
  // The kernel multiplies by both global scales at once.
  // Nine digits are enough to give the same f32 again.
  float alpha = qx->globalScale * qy->globalScale;
  std::string text;
  raw_string_ostream(text) << format("%.9g", double(alpha));
  outs() << "  alpha, the product of their global scales: " << text << '\n';
  return writeToOutput(layer.at("alpha.txt"), [&](raw_ostream &os) {
    os << text << '\n';
    return Error::success();
  });
}

//===----------------------------------------------------------------------===//
// compare
//===----------------------------------------------------------------------===//

/// The codes of a matrix times their block scales, exact in f64; the global
/// scale is in alpha.
static std::vector<double> getValues(const QuantizedMatrix &matrix) {
  std::vector<double> values(matrix.rows * matrix.columns);
  for (int64_t row = 0; row < matrix.rows; ++row)
    for (int64_t column = 0; column < matrix.columns; ++column)
      values[row * matrix.columns + column] =
          matrix.getValue(row, column) / double(matrix.globalScale);
  return values;
}

static Error compare(const Layer &layer) {
  Expected<NpyArray> z = readNpy(layer.at("z.npy"));
  if (!z)
    return z.takeError();
  if (z->type != NpyType::F32 ||
      ArrayRef(z->shape) != ArrayRef<int64_t>({layer.m, layer.n}))
    return createStringError("z.npy: expects " + Twine(layer.m) + " x " +
                             Twine(layer.n) + " values of f32");
  ArrayRef<float> out = z->getAs<float>();

  std::vector<float> fx = makeActivations(layer), fy = makeWeights(layer);
  QuantizedMatrix qx = cantFail(quantize(fx, layer.m, layer.k));
  QuantizedMatrix qy = cantFail(quantize(fy, layer.n, layer.k));
  std::vector<double> x = getValues(qx), y = getValues(qy);
  double alpha = qx.globalScale * qy.globalScale;

  // The bound of docs/numerics.md, plus the multiplication by alpha.
  const double bound = 9.0 / 8 * double(layer.k) + 8 + 1;
  double maxError = 0, maxUnits = 0, sumUnits = 0, power = 0, layerError = 0,
         layerPower = 0;
  int64_t exact = 0, notFinite = 0;
  for (int64_t i = 0; i < layer.m; ++i)
    for (int64_t j = 0; j < layer.n; ++j) {
      double sum = 0, terms = 0, unquantised = 0;
      for (int64_t k = 0; k < layer.k; ++k) {
        double term = x[i * layer.k + k] * y[j * layer.k + k];
        sum += term;
        terms += std::fabs(term);
        unquantised +=
            double(fx[i * layer.k + k]) * double(fy[j * layer.k + k]);
      }
      double value = out[i * layer.n + j];
      if (!std::isfinite(value)) {
        ++notFinite;
        continue;
      }
      double error = std::fabs(value - alpha * sum);
      double units = error / (0x1p-24 * alpha * terms);
      maxError = std::max(maxError, error);
      maxUnits = std::max(maxUnits, units);
      sumUnits += units;
      power += value * value;
      exact += float(alpha * sum) == float(value);
      double difference = value - unquantised;
      layerError += difference * difference;
      layerPower += unquantised * unquantised;
    }
  double count = double(layer.m * layer.n);
  outs() << formatv("  values compared                      {0}\n",
                    int64_t(count))
         << formatv("  values that are not finite           {0}\n", notFinite)
         << formatv("  equal to the correctly rounded value {0:P1}\n",
                    double(exact) / count)
         << formatv("  largest error                        {0:e3} (outputs: "
                    "{1:e3} RMS)\n",
                    maxError, std::sqrt(power / count))
         << formatv("  in units of 2^-24 * sum of |terms|   {0:f3} largest, "
                    "{1:f3} mean; allowed: {2:f0}\n",
                    maxUnits, sumUnits / count, bound)
         << formatv("  for comparison, what quantising cost {0:P1} RMS against "
                    "the layer in f32\n",
                    std::sqrt(layerError / layerPower));
  if (notFinite || maxUnits > bound)
    return createStringError("the result is wrong");
  outs() << "  The result is right: every value is within the bound.\n";
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

static int usage() {
  errs() << "usage: tile-demo-layer make|compare M N K DIR\n";
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 6)
    return usage();
  StringRef command = argv[1];
  Layer layer;
  int64_t *extents[] = {&layer.m, &layer.n, &layer.k};
  for (int i = 0; i < 3; ++i)
    if (StringRef(argv[2 + i]).getAsInteger(10, *extents[i]) ||
        *extents[i] < 1 || *extents[i] > 65536)
      return usage();
  layer.folder = argv[5];
  if (command != "make" && command != "compare")
    return usage();
  if (Error error = command == "make" ? make(layer) : compare(layer)) {
    errs() << "tile-demo-layer: error: " << toString(std::move(error)) << '\n';
    return 1;
  }
  return 0;
}
