//===- KernelBuilder.cpp - Kernels built in C++ ---------------------------===//

#include "tile/Runtime/KernelBuilder.h"

#include "DiagnosticCollector.h"
#include "Gate.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tile;
using namespace tile::runtime;

static RankedTensorType getTileType(Value tile) {
  return cast<RankedTensorType>(tile.getType());
}

KernelBuilder::KernelBuilder(MLIRContext &context, StringRef name)
    : ImplicitLocOpBuilder(UnknownLoc::get(&context), &context) {
  context.loadDialect<TileDialect, arith::ArithDialect, func::FuncDialect,
                      math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                      tensor::TensorDialect>();
  module = ModuleOp::create(getLoc());
  setInsertionPointToStart(module->getBody());
  kernel = func::FuncOp::create(*this, name, getFunctionType({}, {}));
  kernel->setAttr("tile.kernel", getUnitAttr());
  setInsertionPointToStart(kernel.addEntryBlock());
}

Value KernelBuilder::addArgument(StringRef name, Type type) {
  const unsigned index = kernel.getNumArguments();
  // A kernel of this builder always takes another argument.
  (void)kernel.insertArgument(index, type, /*argAttrs=*/{},
                              NameLoc::get(getStringAttr(name), getLoc()));
  return kernel.getArgument(index);
}

Value KernelBuilder::addArray(StringRef name, Type element,
                              ArrayRef<int64_t> shape,
                              const ArrayPromises &promises) {
  SmallVector<int64_t> extents, strides(shape.size(), ShapedType::kDynamic);
  for (int64_t extent : shape)
    extents.push_back(extent == kDynamic ? ShapedType::kDynamic : extent);
  if (!strides.empty())
    strides.back() = 1;
  Value array = addArgument(
      name, MemRefType::get(
                extents, element,
                StridedLayoutAttr::get(getContext(), /*offset=*/0, strides)));
  const unsigned index = kernel.getNumArguments() - 1;
  if (!promises.shapeDivisors.empty())
    kernel.setArgAttr(index, "tile.shape_divisible_by",
                      getDenseI64ArrayAttr(promises.shapeDivisors));
  if (!promises.strideDivisors.empty())
    kernel.setArgAttr(index, "tile.stride_divisible_by",
                      getDenseI64ArrayAttr(promises.strideDivisors));
  if (!promises.extents.empty()) {
    SmallVector<StringRef> texts(promises.extents.begin(),
                                 promises.extents.end());
    kernel.setArgAttr(index, "tile.extents", getStrArrayAttr(texts));
  }
  return array;
}

Value KernelBuilder::addScalar(StringRef name, Type type) {
  return addArgument(name, type);
}

void KernelBuilder::setNumWarps(int32_t warps) {
  kernel->setAttr("tile.num_warps", getI32IntegerAttr(warps));
}

void KernelBuilder::setNumStages(int32_t stages) {
  kernel->setAttr("tile.num_stages", getI32IntegerAttr(stages));
}

OwningOpRef<ModuleOp> KernelBuilder::finish() {
  func::ReturnOp::create(*this);
  return std::move(module);
}

Type KernelBuilder::getPairType() { return F4E2M1FNx2Type::get(getContext()); }

Value KernelBuilder::index(int64_t value) {
  return arith::ConstantIndexOp::create(*this, value);
}

Value KernelBuilder::zeros(Type element, ArrayRef<int64_t> shape) {
  return arith::ConstantOp::create(
      *this,
      cast<TypedAttr>(getZeroAttr(RankedTensorType::get(shape, element))));
}

Value KernelBuilder::splat(Value scalar, ArrayRef<int64_t> shape) {
  return tensor::SplatOp::create(
      *this, RankedTensorType::get(shape, scalar.getType()), scalar);
}

Value KernelBuilder::programId(int32_t dim) {
  return ProgramIdOp::create(*this, dim);
}

Value KernelBuilder::numPrograms(int32_t dim) {
  return NumProgramsOp::create(*this, dim);
}

Value KernelBuilder::getExtent(Value array, int64_t dim) {
  return memref::DimOp::create(*this, array, dim);
}

Value KernelBuilder::load(Value array, ValueRange indices,
                          ArrayRef<int64_t> shape) {
  Type element = cast<MemRefType>(array.getType()).getElementType();
  return LoadOp::create(*this, RankedTensorType::get(shape, element), array,
                        indices);
}

void KernelBuilder::store(Value tile, Value array, ValueRange indices) {
  StoreOp::create(*this, tile, array, indices);
}

/// The type of `tile` with elements of `element` and its last extent changed.
static RankedTensorType resizeLast(Value tile, Type element, int64_t multiply,
                                   int64_t divide) {
  SmallVector<int64_t> shape(getTileType(tile).getShape());
  shape.back() = shape.back() * multiply / divide;
  return RankedTensorType::get(shape, element);
}

Value KernelBuilder::unpack(Value pairs) {
  return UnpackOp::create(
      *this, resizeLast(pairs, Float4E2M1FNType::get(getContext()), 2, 1),
      pairs);
}

Value KernelBuilder::pack(Value values) {
  return PackOp::create(*this, resizeLast(values, getPairType(), 1, 2), values);
}

Value KernelBuilder::multiply(Value lhs, Value rhs, Value acc) {
  return MmaFOp::create(*this, acc.getType(), lhs, rhs, acc,
                        /*path=*/StringAttr(), /*atom=*/StringAttr());
}

Value KernelBuilder::multiplyScaled(Value lhs, Value rhs, Value acc,
                                    ValueRange scales) {
  return MmaFScaledOp::create(*this, acc.getType(), lhs, rhs, acc, scales,
                              /*path=*/StringAttr(), /*atom=*/StringAttr(),
                              /*exponent=*/nullptr);
}

Value KernelBuilder::convert(Value tile, Type element) {
  RoundingModeAttr rounding;
  if (isa<Float8E8M0FNUType>(element))
    rounding =
        RoundingModeAttr::get(getContext(), tile::RoundingMode::TowardZero);
  return FToFOp::create(*this, getTileType(tile).clone(element), tile,
                        rounding);
}

Value KernelBuilder::permute(Value tile, ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(getTileType(tile).getDimSize(dim));
  return PermuteOp::create(*this, getTileType(tile).clone(shape), tile,
                           permutation);
}

Value KernelBuilder::reshape(Value tile, ArrayRef<int64_t> shape) {
  return ReshapeOp::create(*this, getTileType(tile).clone(shape), tile);
}

Value KernelBuilder::broadcast(Value tile, ArrayRef<int64_t> shape) {
  return BroadcastOp::create(*this, getTileType(tile).clone(shape), tile);
}

Value KernelBuilder::reduce(ReduceKind kind, Value tile, int64_t dim) {
  SmallVector<int64_t> shape(getTileType(tile).getShape());
  shape.erase(shape.begin() + dim);
  return ReduceOp::create(*this, getTileType(tile).clone(shape), kind, tile,
                          static_cast<uint64_t>(dim));
}

SmallVector<Value> KernelBuilder::loop(
    Value lower, Value upper, Value step, ValueRange inits,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto forOp = scf::ForOp::create(*this, lower, upper, step, inits);
  // A loop that carries nothing comes with its terminator.
  Block &block = *forOp.getBody();
  if (!block.empty())
    block.back().erase();
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToEnd(&block);
  SmallVector<Value> carried =
      body(forOp.getInductionVar(), forOp.getRegionIterArgs());
  scf::YieldOp::create(*this, carried);
  return SmallVector<Value>(forOp.getResults());
}

tile::runtime::Expected<Kernel>
tile::runtime::compile(const Compiler &compiler, ModuleOp module,
                       const tile::runtime::CompileOptions &options,
                       const std::string &name) {
  std::string bytecode;
  {
    ForkShield shield;
    DiagnosticCollector diagnostics(module.getContext());
    if (failed(verify(module)))
      return diagnostics.makeError(name + " is not a valid module");
    llvm::raw_string_ostream stream(bytecode);
    if (failed(writeBytecodeToFile(module, stream)))
      return Error(ErrorCode::InvalidKernel, name + " cannot be written");
  }
  return compiler.compile(bytecode, options, name);
}
