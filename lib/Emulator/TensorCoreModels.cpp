//===- TensorCoreModels.cpp - Parameters of tensor cores ------------------===//
//
// Sources: MMA-Sim (arXiv 2511.10909 and its programs) for all rows but Halves,
// which are what ptxas 13.0 makes of an FP8 mma.sync for these targets: two f16
// HMMA, the second of which accumulates onto the first, and an FADD (f16:
// HADD2) of C. e2m3 and e3m2 have no published model and take the row of the
// other narrow formats.
//
//===----------------------------------------------------------------------===//

#include "TensorCoreArithmetic.h"

using namespace tile::emulator;

namespace {

struct ModelRow {
  unsigned firstArchitecture; ///< Up to the next row with the same input.
  TensorInput input;
  TensorModel model;
};

} // namespace

using Method = TensorModel::Method;

// Rows of one input in the order of architectures.
static constexpr ModelRow rows[] = {
    // clang-format off
    // Turing's f16 has K = 8 only.
    { 70, TensorInput::F16,    {Method::Fused,      8, 24, 23}},
    { 90, TensorInput::F16,    {Method::Fused,     16, 25, 23}},
    { 80, TensorInput::BF16,   {Method::Fused,      8, 24, 23}},
    { 90, TensorInput::BF16,   {Method::Fused,     16, 25, 23}},
    { 80, TensorInput::TF32,   {Method::Fused,      4, 24, 23}},
    { 90, TensorInput::TF32,   {Method::Fused,      8, 25, 23}},
    { 89, TensorInput::FP8,    {Method::Fused,     16, 13, 13}},
    { 90, TensorInput::FP8,    {Method::Halves,    16, 25, 23}},
    {120, TensorInput::FP8,    {Method::Fused,     32, 25, 23}},
    {100, TensorInput::Narrow, {Method::Fused,     32, 25, 23}},
    {100, TensorInput::FP4,    {Method::GroupSums, 64, 35, 23}},
    // clang-format on
};

TensorModel tile::emulator::getTensorModel(unsigned architecture,
                                           TensorInput input) {
  const ModelRow *best = nullptr;
  for (const ModelRow &row : rows)
    if (row.input == input && (!best || row.firstArchitecture <= architecture))
      best = &row;
  return best->model;
}
