//===- KernelParametersTest.cpp - What a compiled kernel is launched with -===//
//
// The list of parameters against the PTX that the compiler emits.
//
//===----------------------------------------------------------------------===//

#include "tile/Codegen/KernelParameters.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "tile/Codegen/Compiler.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tile;

namespace {

using Kind = KernelParameter::Kind;

class KernelParametersTest : public ::testing::Test {
protected:
  KernelParametersTest() {
    DialectRegistry registry;
    registerTileDialects(registry);
    registerCodegenDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  func::FuncOp parse(const std::string &arguments) {
    module = parseSourceString<ModuleOp>("func.func @k(" + arguments +
                                             ") attributes {tile.kernel} {\n"
                                             "  return\n}\n",
                                         &context);
    EXPECT_TRUE(module) << arguments;
    return module ? *module->getOps<func::FuncOp>().begin() : nullptr;
  }

  /// The bytes of each `.param` of the PTX.
  std::vector<unsigned> compileToSizes() {
    CompileOptions options;
    options.target = "sm_80";
    FailureOr<CompileResult> result = compile(*module, EmitKind::Ptx, options);
    EXPECT_TRUE(succeeded(result));
    std::vector<unsigned> sizes;
    SmallVector<StringRef> lines;
    StringRef(result->text).split(lines, '\n');
    for (StringRef line : lines) {
      if (!line.consume_front("\t.param "))
        continue;
      auto [name, rest] = line.rtrim(',').rsplit('[');
      unsigned elements = 1, bits = 0;
      if (!rest.empty()) {
        EXPECT_FALSE(rest.rtrim(']').getAsInteger(10, elements)) << line.str();
      }
      SmallVector<StringRef> words;
      name.split(words, ' ');
      for (StringRef word : words)
        if (word.size() > 2 &&
            StringRef(".u.b.f.s").contains(word.take_front(2)))
          if (!word.drop_front(2).getAsInteger(10, bits))
            break;
      sizes.push_back(bits / 8 * elements);
    }
    return sizes;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

std::string describe(ArrayRef<KernelParameter> parameters) {
  std::string text;
  for (const KernelParameter &parameter : parameters) {
    text += text.empty() ? "" : " ";
    text += "pesv"[static_cast<unsigned>(parameter.kind)];
    text += std::to_string(parameter.argument) + "." +
            std::to_string(parameter.dim) + ":" +
            std::to_string(parameter.bytes);
  }
  return text;
}

TEST_F(KernelParametersTest, OnlyWhatIsDynamicIsPassed) {
  EXPECT_EQ(describe(getKernelParameters(parse(
                "%a : memref<?x?xf32, strided<[?, 1]>>, %b : f32, "
                "%c : memref<4x?x8xbf16>, "
                "%d : memref<2x?xi8, strided<[?, ?]>>, %e : memref<f32>"))),
            "p0.0:8 e0.0:8 e0.1:8 s0.0:8 v1.0:4 p2.0:8 e2.1:8 "
            "s2.0:8 p3.0:8 e3.1:8 s3.0:8 s3.1:8 p4.0:8");
}

TEST_F(KernelParametersTest, StridesThatFollowFromExtentsAreDynamicToo) {
  // The identity layout of `?x?` has a dynamic stride: that of a row.
  EXPECT_EQ(describe(getKernelParameters(parse("%a : memref<?x?xf32>"))),
            "p0.0:8 e0.0:8 e0.1:8 s0.0:8");
}

TEST_F(KernelParametersTest, SizesAreThoseOfThePtx) {
  func::FuncOp kernel = parse(
      "%a : i1, %b : memref<?x4xi32, strided<[?, 1]>>, %c : i8, %d : i16, "
      "%e : index, %f : bf16, %g : f16, %h : f32, %i : i32, %j : i64");
  std::vector<unsigned> sizes;
  for (const KernelParameter &parameter : getKernelParameters(kernel))
    sizes.push_back(parameter.bytes);
  EXPECT_EQ(sizes, (std::vector<unsigned>{1, 8, 8, 8, 1, 2, 8, 2, 2, 4, 4, 8}));
  EXPECT_EQ(sizes, compileToSizes());
}

TEST_F(KernelParametersTest, ValuesStandInTheOrderOfTheParameters) {
  SmallVector<KernelParameter> parameters = getKernelParameters(
      parse("%a : memref<?x?xf32, strided<[?, 1]>>, %b : i8, "
            "%c : memref<4x?xi8, strided<[?, ?]>>"));
  const int64_t shapeA[] = {11, 12}, stridesA[] = {13, 1};
  const int64_t shapeC[] = {4, 22}, stridesC[] = {23, 24};
  EXPECT_EQ(
      getParameterValues(parameters, {{0x1000, shapeA, stridesA},
                                      {0x7F, {}, {}},
                                      {0x2000, shapeC, stridesC}}),
      (SmallVector<uint64_t>{0x1000, 11, 12, 13, 0x7F, 0x2000, 22, 23, 24}));
}

} // namespace
