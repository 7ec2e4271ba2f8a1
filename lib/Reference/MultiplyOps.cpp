//===- MultiplyOps.cpp - Matrix multiplies --------------------------------===//
//
// `tile.mmaf` and `tile.mmaf_scaled`:
//
//   result[b,i,j] = acc[b,i,j] + sum over k of
//                   (lhs[b,i,k] * sa[b,i,k/V]) * (rhs[b,k,j] * sb[b,k/V,j])
//
// Every scaled operand and every product is exact in f64: operands have at most
// 11 significant bits, scales at most 4. The sum is accumulated in f64, K
// upwards, and rounded to f32 once. IEEE arithmetic does the rest: a NaN scale
// makes its row or column NaN even over zeros, since NaN * 0 is NaN.
//
//===----------------------------------------------------------------------===//

#include "Program.h"

#include "tile/Dialect/Tile/IR/Tile.h"

#include <cmath>
#include <vector>

using namespace mlir;
using namespace tile;
using namespace tile::reference;

/// A batch of matrices of f64; a 2-D tile is a batch of one.
namespace {
struct Matrices {
  int64_t batch, rows, columns;
  std::vector<double> values; ///< Row-major.

  const double *getRow(int64_t b, int64_t row) const {
    return values.data() + (b * rows + row) * columns;
  }
};
} // namespace

static Matrices decodeMatrices(const Tensor &tensor) {
  ArrayRef<int64_t> shape = tensor.getShape();
  Matrices result{shape.size() == 3 ? shape[0] : 1, shape.end()[-2],
                  shape.end()[-1], std::vector<double>(tensor.size())};
  for (int64_t i = 0; i < tensor.size(); ++i)
    result.values[i] = tensor.getFloat(i);
  return result;
}

/// As `decodeMatrices`. An E4M3 scale is unsigned: hardware has seven bits for
/// it, and a set sign bit is outside the contract; it is ignored here.
static Matrices decodeScales(const Tensor &tensor) {
  Matrices result = decodeMatrices(tensor);
  for (double &value : result.values)
    value = std::fabs(value);
  return result;
}

/// Multiplies each element by the scale of its group. The scale has the extents
/// of the operand but along K, where one scale stands for V elements.
static void applyScales(Matrices &operand, const Matrices &scales) {
  int64_t perRow = operand.rows / scales.rows;
  int64_t perColumn = operand.columns / scales.columns;
  double *value = operand.values.data();
  for (int64_t b = 0; b < operand.batch; ++b)
    for (int64_t row = 0; row < operand.rows; ++row) {
      const double *scale = scales.getRow(b, row / perRow);
      for (int64_t column = 0; column < operand.columns; ++column)
        *value++ *= scale[column / perColumn];
    }
}

/// f32(acc + lhs * rhs * 2^exponent).
static Tensor multiply(const Matrices &lhs, const Matrices &rhs,
                       const Tensor &acc, int exponent = 0) {
  Tensor result(acc.getElement(), acc.getShape());
  std::vector<double> sums(rhs.columns);
  int64_t element = 0;
  for (int64_t b = 0; b < lhs.batch; ++b)
    for (int64_t i = 0; i < lhs.rows; ++i) {
      sums.assign(rhs.columns, 0.0);
      const double *left = lhs.getRow(b, i);
      for (int64_t k = 0; k < lhs.columns; ++k) {
        const double *right = rhs.getRow(b, k);
        for (int64_t j = 0; j < rhs.columns; ++j)
          sums[j] += left[k] * right[j];
      }
      for (double sum : sums) {
        double total = acc.getFloat(element) + std::ldexp(sum, exponent);
        result.setCode(element++, acc.getElement().encode(total));
      }
    }
  return result;
}

static LogicalResult computeMmaF(Program &program, MmaFOp op) {
  program.set(op.getResult(),
              multiply(decodeMatrices(program.getTensor(op.getLhs())),
                       decodeMatrices(program.getTensor(op.getRhs())),
                       program.getTensor(op.getAcc())));
  return success();
}

static LogicalResult computeMmaFScaled(Program &program, MmaFScaledOp op) {
  Matrices lhs = decodeMatrices(program.getTensor(op.getLhs()));
  Matrices rhs = decodeMatrices(program.getTensor(op.getRhs()));
  if (Value scale = op.getLhsScale())
    applyScales(lhs, decodeScales(program.getTensor(scale)));
  if (Value scale = op.getRhsScale())
    applyScales(rhs, decodeScales(program.getTensor(scale)));
  program.set(op.getResult(), multiply(lhs, rhs, program.getTensor(op.getAcc()),
                                       op.getExponent().value_or(0)));
  return success();
}

void tile::reference::addMultiplyHandlers(HandlerTable &table) {
  addHandler<MmaFOp, computeMmaF>(table);
  addHandler<MmaFScaledOp, computeMmaFScaled>(table);
}
