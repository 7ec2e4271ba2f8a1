//===- KernelBuilderTest.cpp - Kernels built in C++ -----------------------===//

#include "tile/Runtime/KernelBuilder.h"

#include "RuntimeFixture.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <csignal>

using namespace mlir;
using namespace tile;
using namespace tile::runtime::test;
using tile::runtime::ArrayPromises;
using tile::runtime::Device;
using tile::runtime::ElementType;
using tile::runtime::kDynamic;
using tile::runtime::KernelBuilder;
using tile::runtime::TensorRef;

namespace {

using KernelBuilderTest = RuntimeTest;

/// The kernel of `kLinearKernel`, built.
OwningOpRef<ModuleOp> buildLinear(MLIRContext &context, int64_t bm, int64_t bn,
                                  int64_t bk) {
  KernelBuilder b(context, "linear");
  const int64_t open[] = {kDynamic, kDynamic};
  Type scale = Float8E4M3FNType::get(&context);
  ArrayPromises names;
  auto extents = [&](const char *rows, const char *columns) {
    names.extents = {rows, columns};
    return names;
  };
  Value z = b.addArray("z", b.getF32Type(), open, extents("M", "N"));
  Value x = b.addArray("x", b.getPairType(), open, extents("M", "K/2"));
  Value y = b.addArray("y", b.getPairType(), open, extents("N", "K/2"));
  Value xs = b.addArray("xs", scale, open, extents("M", "K/16"));
  Value ys = b.addArray("ys", scale, open, extents("N", "K/16"));
  Value m = b.programId(0), n = b.programId(1);
  Value steps =
      arith::CeilDivUIOp::create(b, b.getExtent(x, 1), b.index(bk / 2));
  Value zero = b.zeros(b.getF32Type(), {bm, bn});
  SmallVector<Value> sum =
      b.loop(b.index(0), steps, b.index(1), zero,
             [&](Value k, ValueRange carried) -> SmallVector<Value> {
               Value xu = b.unpack(b.load(x, {m, k}, {bm, bk / 2}));
               Value yu = b.unpack(b.load(y, {n, k}, {bn, bk / 2}));
               Value sx = b.load(xs, {m, k}, {bm, bk / 16});
               Value sy = b.load(ys, {n, k}, {bn, bk / 16});
               return {b.multiplyScaled(xu, b.permute(yu, {1, 0}), carried[0],
                                        {sx, b.permute(sy, {1, 0})})};
             });
  b.store(sum[0], z, {m, n});
  return b.finish();
}

TEST_F(KernelBuilderTest, BuildsWhatTextSays) {
  MLIRContext context;
  OwningOpRef<ModuleOp> module = buildLinear(context, 16, 16, 64);
  tile::runtime::CompileOptions options;
  options.target = "sm_120a";
  auto built = compile(makeCompiler(), *module, options);
  ASSERT_TRUE(bool(built)) << built.error().str();
  auto written =
      makeCompiler().compile(kLinearKernel, getLinearOptions(), "linear.mlir");
  ASSERT_TRUE(bool(written)) << written.error().str();
  EXPECT_EQ(built->getPtx(), written->getPtx());
  ASSERT_EQ(built->getParameters().size(), 5u);
  EXPECT_EQ(built->getParameters()[3].name, "xs");
  EXPECT_EQ(built->getParameters()[3].extents,
            (std::vector<std::string>{"M", "K/16"}));
  LinearData data(24, 40, 160), other(24, 40, 160);
  ASSERT_TRUE(bool(built->launchList(Device::reference(), data.getGrid(),
                                     data.getArguments())));
  ASSERT_TRUE(bool(written->launchList(*Device::emulator(), other.getGrid(),
                                       other.getArguments())));
  EXPECT_EQ(data.z, other.z);
  // The module is as it was.
  EXPECT_TRUE(succeeded(mlir::verify(*module)));
}

TEST_F(KernelBuilderTest, HasAMethodForWhatIsFrequent) {
  MLIRContext context;
  KernelBuilder b(context, "quantize");
  b.setNumWarps(2);
  b.setNumStages(1);
  ArrayPromises promises;
  promises.shapeDivisors = {1, 32};
  promises.strideDivisors = {32, 1};
  Type e8m0 = Float8E8M0FNUType::get(&context);
  Value codes = b.addArray("codes", b.getPairType(), {kDynamic, 16});
  Value scales = b.addArray("scales", e8m0, {kDynamic, 1});
  Value x = b.addArray("x", b.getF32Type(), {kDynamic, kDynamic}, promises);
  Value factor = b.addScalar("factor", b.getF32Type());
  Value row = b.programId(0), zero = b.index(0);
  Value values = b.load(x, {row, zero}, {4, 32});
  values = arith::MulFOp::create(b, values, b.splat(factor, {4, 32}));
  Value largest = b.reduce(ReduceKind::Max, math::AbsFOp::create(b, values), 1);
  Value scale = b.convert(b.reshape(largest, {4, 1}), e8m0);
  b.store(scale, scales, {row, zero});
  Value wide = b.broadcast(b.convert(scale, b.getF32Type()), {4, 32});
  Value ratio = arith::DivFOp::create(b, values, wide);
  b.store(b.pack(b.convert(ratio, Float4E2M1FNType::get(&context))), codes,
          {row, zero});
  OwningOpRef<ModuleOp> module = b.finish();
  tile::runtime::CompileOptions options;
  options.target = "sm_80";
  auto kernel = compile(makeCompiler(), *module, options);
  ASSERT_TRUE(bool(kernel)) << kernel.error().str();
  EXPECT_EQ(kernel->getBlockThreads(), 64u);
  std::vector<float> input(8 * 32);
  HashSequence hash(3);
  for (float &value : input)
    value = (static_cast<float>(hash.below(2001)) - 1000) / 64;
  std::vector<uint8_t> results[2];
  for (const Device &device : {Device::reference(), *Device::emulator()}) {
    std::vector<uint8_t> &result =
        results[device.getKind() == Device::Kind::Emulator];
    result.assign(8 * 17, 0xAA);
    auto status = kernel->launch(
        device, 2, TensorRef(result.data(), ElementType::I8, {8, 16}),
        TensorRef(result.data() + 128, ElementType::I8, {8, 1}),
        TensorRef(input.data(), ElementType::F32, {8, 32}), 0.75f);
    ASSERT_TRUE(bool(status)) << status.error().str();
  }
  EXPECT_EQ(results[0], results[1]);
  // floor(log2 of the largest magnitude), as the kernel says.
  for (int r = 0; r < 8; ++r) {
    float most = 0;
    for (int c = 0; c < 32; ++c)
      most = std::max(most, std::abs(input[32 * r + c] * 0.75f));
    EXPECT_EQ(results[0][128 + r], 127 + std::ilogb(most));
  }
}

TEST_F(KernelBuilderTest, MistakesAreErrors) {
  MLIRContext context;
  KernelBuilder b(context, "k");
  Value z = b.addArray("z", b.getF32Type(), {kDynamic});
  b.store(b.zeros(b.getF32Type(), {3}), z, {b.index(0)});
  OwningOpRef<ModuleOp> module = b.finish();
  tile::runtime::CompileOptions options;
  options.target = "sm_80";
  auto kernel = compile(makeCompiler(), *module, options, "built");
  ASSERT_FALSE(bool(kernel));
  EXPECT_EQ(kernel.error().getMessage(), "built is not a valid module");
  EXPECT_NE(kernel.error().str().find("'tile.store' op"), std::string::npos)
      << kernel.error().str();
}

/// A kernel with this many branches, each in the one before.
OwningOpRef<ModuleOp> buildBranches(MLIRContext &context, unsigned number) {
  KernelBuilder b(context, "branches");
  Value condition = b.addScalar("condition", b.getI1Type());
  for (unsigned i = 0; i < number; ++i) {
    auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
    b.setInsertionPointToStart(branch.thenBlock());
  }
  b.setInsertionPointToEnd(&b.getKernel().getBody().front());
  return b.finish();
}

TEST_F(KernelBuilderTest, ModulesThatNestTooDeepAreErrors) {
  MLIRContext context;
  tile::runtime::CompileOptions options;
  options.target = "sm_80";
  EXPECT_EQ(getMessage(
                compile(makeCompiler(), *buildBranches(context, 200), options)),
            "success");
  auto kernel = compile(makeCompiler(), *buildBranches(context, 500), options);
  ASSERT_FALSE(bool(kernel));
  EXPECT_EQ(kernel.error().getCode(), tile::runtime::ErrorCode::InvalidKernel);
}

TEST_F(KernelBuilderTest, CompilesWhereNobodyHearsOfChildren) {
  // The exit status of a child is lost then.
  auto *before = std::signal(SIGCHLD, SIG_IGN);
  MLIRContext context;
  tile::runtime::CompileOptions options;
  options.target = "sm_80";
  std::string message =
      getMessage(compile(makeCompiler(), *buildBranches(context, 1), options));
  std::signal(SIGCHLD, before);
  EXPECT_EQ(message, "success");
}

} // namespace
