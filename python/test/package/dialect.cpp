//===- dialect.cpp - A program that links both MLIR and the compiler ------===//
//
// Builds a kernel, has a pass of its own, which derives from a class of MLIR's,
// count its indices, and compiles and launches it. Two copies of the dialect in
// the process, or a class without the type information that its base has, would
// fail to link or to run.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Runtime/KernelBuilder.h"
#include "tile/Runtime/Runtime.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tile::runtime;

namespace {
struct CountPrograms
    : public PassWrapper<CountPrograms, OperationPass<ModuleOp>> {
  explicit CountPrograms(unsigned &count) : count(count) {}

  void runOnOperation() override {
    getOperation()->walk([&](tile::ProgramIdOp) { ++count; });
  }

  unsigned &count;
};
} // namespace

static int fail(const Error &error) {
  llvm::errs() << error.str() << '\n';
  return 1;
}

int main() {
  MLIRContext context;
  KernelBuilder b(context, "twice");
  Value z = b.addArray("z", b.getF32Type(), {kDynamic, kDynamic});
  Value x = b.addArray("x", b.getF32Type(), {kDynamic, kDynamic});
  Value i = b.programId(0), j = b.programId(1);
  Value t = b.load(x, {i, j}, {16, 32});
  b.store(arith::AddFOp::create(b, t, t), z, {i, j});
  OwningOpRef<ModuleOp> module = b.finish();

  unsigned count = 0;
  PassManager passes(&context);
  passes.addPass(std::make_unique<CountPrograms>(count));
  if (failed(passes.run(*module)))
    return 1;

  CompileOptions options;
  options.target = "sm_80";
  Expected<Kernel> kernel = compile(Compiler(), *module, options);
  if (!kernel)
    return fail(kernel.error());
  std::vector<float> in(20 * 40), out(20 * 40);
  for (size_t index = 0; index < in.size(); ++index)
    in[index] = float(index);
  Status done =
      kernel->launch(Device::reference(), Grid(2, 2),
                     TensorRef(out.data(), ElementType::F32, {20, 40}),
                     TensorRef(in.data(), ElementType::F32, {20, 40}));
  if (!done)
    return fail(done.error());
  llvm::outs() << count << ' ' << kernel->getEntry() << ' '
               << int64_t(out.back()) << '\n';
  return 0;
}
