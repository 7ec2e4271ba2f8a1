//===- KernelChoiceTest.cpp - Tiles for a problem -------------------------===//

#include "KernelChoice.h"
#include "tile/Target/TargetInfo.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <climits>
#include <cstdint>
#include <map>
#include <string>

using namespace tile::runtime;

namespace {

constexpr unsigned kA100 = 163 * 1024, kAda = 99 * 1024, kHopper = 227 * 1024;

LinearProblem makeProblem(int64_t m, int64_t n, int64_t k) {
  LinearProblem problem;
  problem.m = m, problem.n = n, problem.k = k;
  return problem;
}

/// "BMxBNxBK KA NA, warps: grid".
std::string choose(const std::string &name, const LinearProblem &problem,
                   unsigned sharedBytes, bool hasTensorMemory = false) {
  Expected<KernelChoice> choice =
      chooseLinear(name, problem, sharedBytes, hasTensorMemory);
  if (!choice)
    return choice.error().str();
  auto &constants = choice->constants;
  return constants["BM"] + "x" + constants["BN"] + "x" + constants["BK"] +
         " KA=" + constants["KA"] + " NA=" + constants["NA"] + ", " +
         std::to_string(choice->numWarps) +
         " warps: " + std::to_string(choice->grid.x) + "," +
         std::to_string(choice->grid.y);
}

std::string choose(const std::string &name, int64_t m, int64_t n, int64_t k,
                   unsigned sharedBytes = kHopper) {
  return choose(name, makeProblem(m, n, k), sharedBytes);
}

TEST(KernelChoice, KnowsTheLeastSharedMemory) {
  unsigned least = UINT_MAX;
  for (const tile::TargetInfo &target : tile::getTargets())
    least = std::min(least, target.maxSharedBytes);
  EXPECT_EQ(kLeastSharedBytes, least);
}

TEST(KernelChoice, FewRowsTakeAsManyProgramsAsThereAre) {
  EXPECT_EQ(choose("nvfp4_linear", 1, 16384, 4096),
            "16x128x128 KA=128 NA=4, 4 warps: 1,128");
  EXPECT_EQ(choose("nvfp4_linear", 16, 4096, 4096),
            "16x32x128 KA=128 NA=4, 4 warps: 1,128");
  EXPECT_EQ(choose("nvfp4_linear", 16, 1024, 4096),
            "16x16x128 KA=128 NA=4, 4 warps: 1,64");
  EXPECT_EQ(choose("nvfp4_linear", 17, 16384, 4096),
            "32x128x128 KA=128 NA=4, 4 warps: 1,128");
}

TEST(KernelChoice, MiddleSizesShrinkTheLongerSide) {
  EXPECT_EQ(choose("mxfp4_linear", 256, 4096, 4096),
            "128x64x128 KA=128 NA=4, 4 warps: 2,64");
  EXPECT_EQ(choose("mxfp4_linear", 4096, 128, 4096),
            "64x64x128 KA=128 NA=4, 4 warps: 64,2");
  EXPECT_EQ(choose("mxfp4_linear", 512, 4096, 4096),
            "128x128x128 KA=128 NA=4, 4 warps: 4,32");
}

TEST(KernelChoice, ManyProgramsTakeWideTiles) {
  EXPECT_EQ(choose("nvfp4_linear", 8192, 8192, 8192),
            "128x256x128 KA=128 NA=4, 8 warps: 64,32");
  EXPECT_EQ(choose("nvfp4_linear", 8192, 8192, 8192, kAda),
            "128x256x128 KA=128 NA=4, 8 warps: 64,32");
  EXPECT_EQ(choose("nvfp4_linear", 2048, 4096, 8192),
            "128x128x128 KA=128 NA=4, 4 warps: 16,32");
}

TEST(KernelChoice, PipelinesFitInSharedMemory) {
  EXPECT_EQ(choose("mxfp8_linear", 8192, 8192, 8192, kA100),
            "128x256x128 KA=128 NA=4, 8 warps: 64,32");
  // 128x256 would have two stages.
  EXPECT_EQ(choose("mxfp8_linear", 8192, 8192, 8192, kAda),
            "128x128x128 KA=128 NA=4, 4 warps: 64,64");
}

TEST(KernelChoice, TensorMemory) {
  auto chooseTensor = [](const std::string &name, int64_t m, int64_t n,
                         int64_t k) {
    return choose(name, makeProblem(m, n, k), kHopper, true);
  };
  // Few rows of x: 128 of the weights.
  EXPECT_EQ(chooseTensor("nvfp4_linear", 1, 4096, 4096),
            "16x128x256 KA=256 NA=4, 4 warps: 1,32");
  EXPECT_EQ(chooseTensor("nvfp4_linear", 64, 16384, 4096),
            "64x128x256 KA=256 NA=4, 4 warps: 1,128");
  EXPECT_EQ(chooseTensor("nvfp4_linear", 128, 8192, 4096),
            "64x128x256 KA=256 NA=4, 4 warps: 2,64");
  EXPECT_EQ(chooseTensor("mxfp4_linear", 8192, 8192, 8192),
            "128x256x256 KA=256 NA=4, 8 warps: 64,32");
  EXPECT_EQ(chooseTensor("mxfp8_linear", 8192, 8192, 8192),
            "128x256x128 KA=128 NA=4, 8 warps: 64,32");
  EXPECT_EQ(chooseTensor("mxfp8_linear", 2048, 1024, 96),
            "128x128x128 KA=32 NA=4, 8 warps: 16,8");
  LinearProblem problem = makeProblem(16, 4096, 4096);
  problem.x = ElementType::BF16;
  EXPECT_EQ(choose("w4a16_linear", problem, kHopper, true),
            choose("w4a16_linear", problem, kHopper, false));
}

TEST(KernelChoice, WeightOnlySteps) {
  LinearProblem problem = makeProblem(4096, 4096, 4096);
  problem.x = ElementType::BF16;
  EXPECT_EQ(choose("w4a16_linear", problem, kHopper),
            "128x256x128 KA=128 NA=4, 8 warps: 32,16");
  // A shorter step keeps three stages, and four scales in each row.
  problem.m = 1024;
  EXPECT_EQ(choose("w4a16_linear", problem, kAda),
            "128x128x64 KA=64 NA=4, 4 warps: 8,32");
  // With 32 values per scale it would have two, which are not copied ahead.
  problem.mxScales = true;
  EXPECT_EQ(choose("w4a16_linear", problem, kAda),
            "128x128x128 KA=128 NA=4, 4 warps: 8,32");
  // Blocks are summed apart: more warps instead of registers.
  problem.x = ElementType::F16;
  problem.m = 8192;
  EXPECT_EQ(choose("w4a16_linear", problem, kHopper),
            "128x128x128 KA=128 NA=4, 8 warps: 64,32");
}

TEST(KernelChoice, PromisesAreWhatTheProblemKeeps) {
  EXPECT_EQ(choose("nvfp4_linear", 7, 33, 48),
            "16x16x64 KA=16 NA=1, 4 warps: 1,3");
  EXPECT_EQ(choose("mxfp4_linear", 7, 34, 96),
            "16x16x128 KA=32 NA=2, 4 warps: 1,3");
  EXPECT_EQ(choose("mxfp8_linear", 1, 1, 32),
            "16x16x64 KA=32 NA=1, 4 warps: 1,1");
  LinearProblem problem = makeProblem(16, 16384, 4096);
  problem.output = ElementType::BF16;
  EXPECT_EQ(choose("nvfp4_linear", problem, kHopper),
            "16x128x128 KA=128 NA=8, 4 warps: 1,128");
}

TEST(KernelChoice, ConstantsOfFormsAndTypes) {
  LinearProblem problem = makeProblem(16, 64, 64);
  problem.alphaPerColumn = true;
  problem.output = ElementType::F16;
  problem.x = ElementType::BF16;
  problem.mxScales = true;
  Expected<KernelChoice> choice =
      chooseLinear("w4a16_linear", problem, kHopper);
  ASSERT_TRUE(choice) << choice.error().str();
  std::map<std::string, std::string> expected = {
      {"BM", "16"},
      {"BN", "16"},
      {"BK", "64"},
      {"KA", "64"},
      {"NA", "8"},
      {"OUT", "f16"},
      {"X", "bf16"},
      {"SCALES", "f8E8M0FNU"},
      {"V", "32"},
      {"ALPHA", "column"},
      {"ALPHA_ATTRIBUTES", "{tile.extents = [\"N\"], tile.shape_divisible_by "
                           "= array<i64: 8>}"}};
  EXPECT_EQ(choice->constants, expected);

  problem.x = ElementType::F8E5M2;
  problem.mxScales = false;
  problem.alphaPerColumn = false;
  choice = chooseLinear("mxfp8_linear", problem, kHopper);
  ASSERT_TRUE(choice) << choice.error().str();
  EXPECT_EQ(choice->constants["X"], "f8E5M2");
  EXPECT_EQ(choice->constants["Y"], "f8E4M3FN");
  EXPECT_EQ(choice->constants["ALPHA"], "scalar");
  EXPECT_EQ(choice->constants["ALPHA_ATTRIBUTES"], "{}");
}

TEST(KernelChoice, LinearErrors) {
  EXPECT_EQ(choose("linear", 1, 1, 16),
            "no linear layer 'linear' in the kernel library; known are "
            "nvfp4_linear, mxfp4_linear, mxfp8_linear, w4a16_linear");
  EXPECT_EQ(chooseLinear("quantize_nvfp4", makeProblem(1, 1, 16), kHopper)
                .error()
                .getCode(),
            ErrorCode::NotFound);
  EXPECT_EQ(choose("nvfp4_linear", 0, 1, 16),
            "nvfp4_linear: expects m to be at least 1, but got 0");
  EXPECT_EQ(choose("nvfp4_linear", 1, -1, 16),
            "nvfp4_linear: expects n to be at least 1, but got -1");
  EXPECT_EQ(choose("nvfp4_linear", 1, 1, 0),
            "nvfp4_linear: expects k to be at least 1, but got 0");
  EXPECT_EQ(choose("nvfp4_linear", 1, 1, 40),
            "nvfp4_linear: expects k to be a multiple of 16, but got 40");
  EXPECT_EQ(choose("mxfp4_linear", 1, 1, 48),
            "mxfp4_linear: expects k to be a multiple of 32, but got 48");
  EXPECT_EQ(choose("nvfp4_linear", 1, int64_t(65535) * 128 + 1, 64),
            "nvfp4_linear: expects n to be at most 8388480, but got 8388481");
  EXPECT_EQ(choose("nvfp4_linear", INT64_MAX, 1, 64),
            "nvfp4_linear: expects m to be at most 274877906816, but got "
            "9223372036854775807");
  LinearProblem problem = makeProblem(1, 1, 64);
  problem.output = ElementType::F8E4M3FN;
  EXPECT_EQ(choose("nvfp4_linear", problem, kHopper),
            "nvfp4_linear: expects output to be f32, bf16 or f16, but got "
            "f8E4M3FN");
  problem.output = ElementType::F32;
  EXPECT_EQ(choose("w4a16_linear", problem, kHopper),
            "w4a16_linear: expects x to be bf16 or f16, but got f8E4M3FN");
  problem.y = ElementType::F4E2M1FNx2;
  EXPECT_EQ(choose("mxfp8_linear", problem, kHopper),
            "mxfp8_linear: expects y to be f8E4M3FN or f8E5M2, but got "
            "f4E2M1FNx2");
  problem.x = ElementType::BF16;
  EXPECT_EQ(choose("mxfp8_linear", problem, kHopper),
            "mxfp8_linear: expects x to be f8E4M3FN or f8E5M2, but got bf16");
  problem.mxScales = true;
  EXPECT_EQ(choose("nvfp4_linear", problem, kHopper),
            "nvfp4_linear: expects mxScales for w4a16_linear only");
  problem.k = 48;
  EXPECT_EQ(choose("w4a16_linear", problem, kHopper),
            "w4a16_linear: expects k to be a multiple of 32, but got 48");
}

QuantizeProblem makeQuantizeProblem(int64_t m, int64_t k) {
  QuantizeProblem problem;
  problem.m = m, problem.k = k;
  return problem;
}

/// "BMxBK KA, warps: grid".
std::string choose(const std::string &name, const QuantizeProblem &problem) {
  Expected<KernelChoice> choice = chooseQuantize(name, problem);
  if (!choice)
    return choice.error().str();
  auto &constants = choice->constants;
  return constants["BM"] + "x" + constants["BK"] + " KA=" + constants["KA"] +
         ", " + std::to_string(choice->numWarps) +
         " warps: " + std::to_string(choice->grid.x) + "," +
         std::to_string(choice->grid.y);
}

TEST(KernelChoice, QuantiserTiles) {
  EXPECT_EQ(choose("quantize_nvfp4", makeQuantizeProblem(4096, 4096)),
            "16x256 KA=32, 4 warps: 256,16");
  EXPECT_EQ(choose("quantize_mxfp4", makeQuantizeProblem(16, 4096)),
            "2x256 KA=32, 1 warps: 8,16");
  EXPECT_EQ(choose("quantize_mxfp8", makeQuantizeProblem(1, 32)),
            "1x32 KA=32, 1 warps: 1,1");
  EXPECT_EQ(choose("dequantize", makeQuantizeProblem(100000, 48)),
            "64x64 KA=16, 4 warps: 1563,1");
}

TEST(KernelChoice, QuantiserConstants) {
  QuantizeProblem problem = makeQuantizeProblem(64, 64);
  problem.values = ElementType::BF16;
  problem.codes = ElementType::F8E5M2;
  auto get = [&](const std::string &name, const std::string &constant) {
    Expected<KernelChoice> choice = chooseQuantize(name, problem);
    return choice ? choice->constants[constant] : choice.error().str();
  };
  EXPECT_EQ(get("quantize_mxfp8", "X"), "bf16");
  EXPECT_EQ(get("quantize_mxfp8", "CODES"), "f8E5M2");
  EXPECT_EQ(get("quantize_mxfp8", "EMAX"), "15");
  EXPECT_EQ(get("dequantize", "OUT"), "bf16");
  EXPECT_EQ(get("dequantize", "CODES"), "f4E2M1FN");
  EXPECT_EQ(get("dequantize", "P"), "2");
  EXPECT_EQ(get("dequantize", "SCALES"), "f8E4M3FN");
  EXPECT_EQ(get("dequantize", "V"), "16");
  problem.format = "mxfp8";
  EXPECT_EQ(get("dequantize", "CODES"), "f8E5M2");
  EXPECT_EQ(get("dequantize", "P"), "1");
  EXPECT_EQ(get("dequantize", "SCALES"), "f8E8M0FNU");
  EXPECT_EQ(get("dequantize", "V"), "32");
  problem.codes = ElementType::F8E4M3FN;
  EXPECT_EQ(get("quantize_mxfp8", "EMAX"), "8");
}

TEST(KernelChoice, QuantiserErrors) {
  EXPECT_EQ(choose("quantize", makeQuantizeProblem(1, 32)),
            "no quantiser 'quantize' in the kernel library; known are "
            "quantize_nvfp4, quantize_mxfp4, quantize_mxfp8, dequantize");
  EXPECT_EQ(choose("quantize_nvfp4", makeQuantizeProblem(0, 32)),
            "quantize_nvfp4: expects m to be at least 1, but got 0");
  EXPECT_EQ(choose("quantize_nvfp4", makeQuantizeProblem(1, 8)),
            "quantize_nvfp4: expects k to be a multiple of 16, but got 8");
  EXPECT_EQ(choose("quantize_mxfp8", makeQuantizeProblem(1, 16)),
            "quantize_mxfp8: expects k to be a multiple of 32, but got 16");
  EXPECT_EQ(choose("quantize_nvfp4", makeQuantizeProblem(1, 16777216)),
            "quantize_nvfp4: expects k to be at most 16776960, but got "
            "16777216");
  QuantizeProblem problem = makeQuantizeProblem(1, 32);
  problem.format = "fp4";
  EXPECT_EQ(choose("dequantize", problem),
            "dequantize: expects format to be nvfp4, mxfp4 or mxfp8, but got "
            "'fp4'");
  problem.format = "mxfp8";
  problem.codes = ElementType::I8;
  EXPECT_EQ(choose("dequantize", problem),
            "dequantize: expects codes to be f8E4M3FN or f8E5M2, but got i8");
  problem.values = ElementType::F64;
  EXPECT_EQ(choose("quantize_mxfp4", problem),
            "quantize_mxfp4: expects values to be f32, bf16 or f16, but got "
            "f64");
}

} // namespace
