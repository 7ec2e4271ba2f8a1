//===- Distribute.cpp - Distribute tiles over lanes and warps -------------===//
//
// This file implements the pass that turns kernels over distributed tiles into
// the code of one thread: functions, control flow, constants and reductions.
// Element-wise operations, memory, multiplies and layout conversions have files
// of their own.
//
//===----------------------------------------------------------------------===//

#include "Distributor.h"
#include "FormatConversion.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "tile/Conversion/Passes.h"
#include "tile/Transforms/DistributedTypes.h"
#include "tile/Transforms/TileLayouts.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tile {
#define GEN_PASS_DEF_TILEDISTRIBUTE
#include "tile/Conversion/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

Value tile::emitLinear(Emitter &emit, ArrayRef<uint32_t> columns, Value index,
                       unsigned first, unsigned bits) {
  uint32_t mask = bits >= 32 ? ~0u : (1u << bits) - 1;
  Value result;
  for (unsigned bit = 0; bit < columns.size();) {
    uint32_t column = columns[bit] >> first & mask;
    if (!column) {
      ++bit;
      continue;
    }
    // A run of bits that move together is one mask and one shift.
    unsigned run = 1;
    if ((column & (column - 1)) == 0)
      while (bit + run < columns.size() &&
             (columns[bit + run] >> first & mask) == column << run)
        ++run;
    Value part;
    if ((column & (column - 1)) == 0) {
      Value field = emit.bitAnd(emit.lshr(index, bit), (1u << run) - 1);
      part = emit.shl(field, llvm::Log2_32(column));
    } else {
      Value field = emit.bitAnd(emit.lshr(index, bit), 1);
      part = emit.mul(field, emit.i32(column));
    }
    result = result ? emit.bitXor(result, part) : part;
    bit += run;
  }
  return result ? result : emit.i32(0);
}

Coordinates::Coordinates(Emitter &emit, const LinearLayout &layout, Value lane,
                         Value warp)
    : layout(layout) {
  unsigned rank = layout.getCodomain().getAxes().size();
  for (unsigned dim = 0; dim < rank; ++dim) {
    std::string axis = "d" + std::to_string(dim);
    unsigned bits = layout.getCodomain().bitsOf(axis);
    unsigned first = layout.getCodomain().offsetOf(axis).value_or(0);
    Value ofLane =
        emitLinear(emit, layout.getColumns("lane"), lane, first, bits);
    Value ofWarp =
        emitLinear(emit, layout.getColumns("warp"), warp, first, bits);
    threadParts.push_back(emit.bitXor(ofLane, ofWarp));
    uint32_t byThread = 0, byRegister = 0;
    for (StringRef name : {"lane", "warp"})
      for (uint32_t column : layout.getColumns(name))
        byThread |= layout.getCodomain().coordinate(column, axis);
    for (uint32_t column : layout.getColumns("register"))
      byRegister |= layout.getCodomain().coordinate(column, axis);
    disjoint.push_back((byThread & byRegister) == 0);
  }
}

uint32_t Coordinates::getRegisterPart(unsigned dim, unsigned r) const {
  return layout.getCodomain().coordinate(layout(r), "d" + std::to_string(dim));
}

Value Coordinates::get(Emitter &emit, unsigned dim, unsigned r) const {
  uint32_t part = getRegisterPart(dim, r);
  if (part == 0)
    return threadParts[dim];
  return isDisjoint(dim) ? emit.add(threadParts[dim], emit.i32(part))
                         : emit.bitXor(threadParts[dim], emit.i32(part));
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

Distributor::Distributor(func::FuncOp kernel, const Options &options)
    : kernel(kernel), options(options),
      numWarps(kernel->getAttrOfType<IntegerAttr>("tile.num_warps").getInt()),
      emit(OpBuilder(kernel), kernel.getLoc()) {}

LinearLayout Distributor::getLayout(Value value) {
  return tile::getLayout(cast<RankedTensorType>(value.getType()));
}

void Distributor::setFragment(Value value, Fragment fragment) {
  assert(fragment.values.size() ==
             Fragment::numValues(fragment.elementType,
                                 fragment.numRegisters()
                                     << fragment.hasContainers) &&
         "one value per word or element");
  fragments[value] = std::move(fragment);
}

void Distributor::setFragment(Value value, ValueRange values) {
  setFragment(value, Fragment{getElementType(value), getLayout(value),
                              llvm::to_vector(values)});
}

unsigned Distributor::getFreeRegisters(const LinearLayout &layout) {
  unsigned bits = layout.getDomain().bitsOf("register");
  return layout.freeBits() & ((1u << bits) - 1);
}

SmallVector<Value>
Distributor::forEachRegister(const LinearLayout &layout,
                             llvm::function_ref<Value(unsigned)> make) {
  unsigned free = 0, bits = layout.getDomain().bitsOf("register");
  // Only zero columns: a register that repeats what a lane has elsewhere is
  // not a copy within this thread.
  for (auto [bit, column] : llvm::enumerate(layout.getColumns("register")))
    if (!column)
      free |= 1u << bit;
  SmallVector<Value> values(size_t(1) << bits);
  for (unsigned r = 0; r < values.size(); ++r)
    values[r] = (r & free) ? values[r & ~free] : make(r);
  return values;
}

void Distributor::flatten(Value value, SmallVectorImpl<Value> &out) {
  if (isTileValue(value))
    llvm::append_range(out, getFragment(value).values);
  else
    out.push_back(scalars.lookup(value));
}

void Distributor::flattenTypes(Value value, SmallVectorImpl<Type> &out) {
  if (!isTileValue(value)) {
    out.push_back(value.getType());
    return;
  }
  Type element = getElementType(value);
  unsigned registers = 1u << getLayout(value).getDomain().bitsOf("register");
  out.append(Fragment::numValues(element, registers),
             Fragment::valueType(element));
}

void Distributor::unflatten(Value value, ValueRange &values) {
  if (!isTileValue(value)) {
    scalars.map(value, values.front());
    values = values.drop_front();
    return;
  }
  SmallVector<Type> types;
  flattenTypes(value, types);
  setFragment(value, values.take_front(types.size()));
  values = values.drop_front(types.size());
}

Value Distributor::getIndexAsI64(Value value) {
  return emit.builder.createOrFold<arith::IndexCastOp>(emit.loc, emit.i64(),
                                                       scalars.lookup(value));
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// Number of parameters that a memref becomes: pointer, sizes, strides.
static void appendParameterTypes(Type type, SmallVectorImpl<Type> &out) {
  MLIRContext *context = type.getContext();
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref) {
    out.push_back(type.isIndex() ? IntegerType::get(context, 64) : type);
    return;
  }
  out.push_back(LLVM::LLVMPointerType::get(context, 1));
  auto [strides, offset] = memref.getStridesAndOffset();
  unsigned dynamic = memref.getNumDynamicDims() +
                     llvm::count_if(strides, ShapedType::isDynamic);
  out.append(dynamic, IntegerType::get(context, 64));
}

void Distributor::emitArguments(LLVM::LLVMFuncOp function) {
  unsigned next = 0;
  auto take = [&] { return function.getArgument(next++); };
  for (BlockArgument argument : kernel.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type) {
      Value value = take();
      if (argument.getType().isIndex())
        value = arith::IndexCastOp::create(emit.builder, emit.loc,
                                           emit.builder.getIndexType(), value);
      scalars.map(argument, value);
      continue;
    }
    function.setArgAttr(next, "llvm.align", emit.builder.getI64IntegerAttr(16));
    MemRefValue memref;
    memref.type = type;
    memref.pointer = take();
    auto [strides, offset] = type.getStridesAndOffset();
    for (int64_t size : type.getShape())
      memref.sizes.push_back(ShapedType::isDynamic(size) ? take()
                                                         : emit.i64(size));
    for (int64_t stride : strides)
      memref.strides.push_back(
          ShapedType::isDynamic(stride) ? take() : emit.i64(stride));
    if (!ShapedType::isDynamic(offset) && offset != 0)
      memref.offset = emit.i64(offset);
    memref.divisors = *getMemRefDivisors(argument);
    memrefs[argument] = std::move(memref);
  }
}

FailureOr<LLVM::LLVMFuncOp> Distributor::run() {
  SmallVector<Type> parameters;
  for (Type type : kernel.getArgumentTypes())
    appendParameterTypes(type, parameters);
  if (failed(planTensorCopies()))
    return failure();
  addTensorMapTypes(parameters);
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(kernel.getContext()), parameters);
  auto function = LLVM::LLVMFuncOp::create(emit.builder, kernel.getLoc(),
                                           kernel.getName(), type);
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                    emit.builder.getUnitAttr());
  function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                    emit.builder.getDenseI32ArrayAttr(
                        {static_cast<int32_t>(getNumThreads()), 1, 1}));
  Block *entry = function.addEntryBlock(emit.builder);
  emit.builder.setInsertionPointToStart(entry);
  emitArguments(function);
  lane = emit.laneId();
  warp = emit.warpId();
  emitTensorMaps(function);
  if (failed(placeBuffers()) || failed(placeTensorMemory()))
    return failure();
  placeBarriers();
  startTensorMemory();
  if (failed(distributeBlock(kernel.getBody().front())))
    return failure();
  freeTensorMemory();
  if (failed(finishControl()))
    return failure();
  LLVM::ReturnOp::create(emit.builder, kernel.getLoc(), ValueRange());
  return function;
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

LogicalResult Distributor::distributeBlock(Block &block) {
  for (Operation &op : block) {
    // Not every block has a terminator.
    if (op.hasTrait<OpTrait::IsTerminator>())
      break;
    emit.loc = op.getLoc();
    if (failed(distribute(&op)))
      return failure();
  }
  return success();
}

/// A memref or buffer carried by control flow has no one place at compile time.
static LogicalResult refuseMemRefs(Operation *op, TypeRange types) {
  for (Type type : types)
    if (isa<BaseMemRefType, BufferType, BarriersType, TensorMemoryType>(type))
      return op->emitOpError("expects loops and branches to carry tiles and "
                             "scalars, but got ")
             << type;
  return success();
}

LogicalResult Distributor::distributeFor(scf::ForOp op) {
  if (failed(refuseMemRefs(op, op.getResultTypes())))
    return failure();
  SmallVector<Value> inits;
  for (Value init : op.getInitArgs())
    flatten(init, inits);
  auto loop = scf::ForOp::create(
      emit.builder, op.getLoc(), scalars.lookup(op.getLowerBound()),
      scalars.lookup(op.getUpperBound()), scalars.lookup(op.getStep()), inits);
  loop.setUnsignedCmp(op.getUnsignedCmp());
  OpBuilder::InsertionGuard guard(emit.builder);
  // An iteration follows what was before the loop, or the one before it.
  Pending entry = pending;
  pending = entry | getMemoryUse(op.getRegion());
  Block *body = loop.getBody();
  emit.builder.setInsertionPointToStart(body);
  scalars.map(op.getInductionVar(), loop.getInductionVar());
  SmallVector<Value> carried(loop.getRegionIterArgs());
  ValueRange rest = carried;
  for (Value argument : op.getRegionIterArgs())
    unflatten(argument, rest);
  if (failed(distributeBlock(*op.getBody())))
    return failure();
  SmallVector<Value> yielded;
  for (Value value : op.getYieldedValues())
    flatten(value, yielded);
  // The builder adds a terminator to a loop that carries nothing.
  if (!body->empty() && isa<scf::YieldOp>(body->back()))
    body->back().erase();
  emit.builder.setInsertionPointToEnd(body);
  scf::YieldOp::create(emit.builder, op.getLoc(), yielded);
  pending = pending | entry;
  loop = carriedValues.apply(emit, loop);
  SmallVector<Value> results(loop.getResults().take_front(yielded.size()));
  rest = results;
  for (Value result : op.getResults())
    unflatten(result, rest);
  return success();
}

LogicalResult Distributor::distributeIf(scf::IfOp op) {
  if (failed(refuseMemRefs(op, op.getResultTypes())))
    return failure();
  SmallVector<Type> types;
  for (Value result : op.getResults())
    flattenTypes(result, types);
  auto branch = scf::IfOp::create(emit.builder, op.getLoc(), types,
                                  scalars.lookup(op.getCondition()),
                                  /*withElse=*/op.elseBlock() != nullptr);
  OpBuilder::InsertionGuard guard(emit.builder);
  auto fill = [&](Block *from, Block *to) -> LogicalResult {
    if (!to->empty())
      to->back().erase();
    emit.builder.setInsertionPointToEnd(to);
    if (failed(distributeBlock(*from)))
      return failure();
    SmallVector<Value> yielded;
    for (Value value : from->getTerminator()->getOperands())
      flatten(value, yielded);
    scf::YieldOp::create(emit.builder, op.getLoc(), yielded);
    return success();
  };
  Pending entry = pending;
  if (failed(fill(op.thenBlock(), branch.thenBlock())))
    return failure();
  Pending afterThen = pending;
  pending = entry;
  if (op.elseBlock() && failed(fill(op.elseBlock(), branch.elseBlock())))
    return failure();
  pending = pending | afterThen;
  SmallVector<Value> results(branch.getResults());
  ValueRange rest = results;
  for (Value result : op.getResults())
    unflatten(result, rest);
  return success();
}

LogicalResult Distributor::distributeWhile(scf::WhileOp op) {
  if (failed(refuseMemRefs(op, op.getResultTypes())) ||
      failed(refuseMemRefs(op, op.getInits().getTypes())))
    return failure();
  SmallVector<Value> inits;
  for (Value init : op.getInits())
    flatten(init, inits);
  SmallVector<Type> types;
  for (Value result : op.getResults())
    flattenTypes(result, types);
  auto loop = scf::WhileOp::create(emit.builder, op.getLoc(), types, inits);
  OpBuilder::InsertionGuard guard(emit.builder);
  auto addBlock = [&](Region &region, TypeRange argumentTypes) {
    SmallVector<Location> locations(argumentTypes.size(), op.getLoc());
    return emit.builder.createBlock(&region, {}, argumentTypes, locations);
  };

  pending =
      pending | getMemoryUse(op.getBefore()) | getMemoryUse(op.getAfter());
  Block *before = addBlock(loop.getBefore(), ValueRange(inits).getTypes());
  SmallVector<Value> arguments(before->getArguments());
  ValueRange rest = arguments;
  for (Value argument : op.getBeforeArguments())
    unflatten(argument, rest);
  if (failed(distributeBlock(op.getBefore().front())))
    return failure();
  scf::ConditionOp condition = op.getConditionOp();
  SmallVector<Value> forwarded;
  for (Value value : condition.getArgs())
    flatten(value, forwarded);
  scf::ConditionOp::create(emit.builder, op.getLoc(),
                           scalars.lookup(condition.getCondition()), forwarded);

  // The loop is left from here.
  Pending atCondition = pending;
  Block *after = addBlock(loop.getAfter(), types);
  arguments.assign(after->args_begin(), after->args_end());
  rest = arguments;
  for (Value argument : op.getAfterArguments())
    unflatten(argument, rest);
  if (failed(distributeBlock(op.getAfter().front())))
    return failure();
  SmallVector<Value> yielded;
  for (Value value : op.getYieldOp().getOperands())
    flatten(value, yielded);
  scf::YieldOp::create(emit.builder, op.getLoc(), yielded);
  pending = atCondition;

  SmallVector<Value> results(loop.getResults());
  rest = results;
  for (Value result : op.getResults())
    unflatten(result, rest);
  return success();
}

//===----------------------------------------------------------------------===//
// Element-wise operations
//===----------------------------------------------------------------------===//

LogicalResult Distributor::distributeScalar(Operation *op) {
  for (Value operand : op->getOperands())
    if (!scalars.contains(operand))
      return op->emitOpError("is not lowered with operands of type ")
             << operand.getType();
  emit.builder.clone(*op, scalars);
  return success();
}

/// The bits of an attribute of an element, as stored.
static uint64_t getBits(Attribute attr) {
  if (auto value = dyn_cast<FloatAttr>(attr))
    return value.getValue().bitcastToAPInt().getZExtValue();
  return cast<IntegerAttr>(attr).getValue().getZExtValue();
}

LogicalResult Distributor::distributeConstant(arith::ConstantOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type) {
    emit.builder.clone(*op, scalars);
    return success();
  }
  auto dense = cast<DenseElementsAttr>(op.getValue());
  LinearLayout layout = getLayout(op);
  Type element = type.getElementType();
  auto makeScalar = [&](Attribute value) -> Value {
    if (Fragment::isPacked(element))
      return emit.i32(getBits(value));
    return arith::ConstantOp::create(emit.builder, emit.loc,
                                     cast<TypedAttr>(value));
  };
  auto set = [&](ArrayRef<Value> values) {
    if (Fragment::isPacked(element))
      setFragment(op, Fragment::fromBits(emit, element, layout, values));
    else
      setFragment(op, values);
  };
  if (dense.isSplat()) {
    Value value = makeScalar(dense.getSplatValue<Attribute>());
    set(SmallVector<Value>(size_t(1) << layout.getDomain().bitsOf("register"),
                           value));
    return success();
  }
  // Which element a lane holds is known at run time only: a table in global
  // memory, one entry per element.
  unsigned bits = std::max(8u, getElementBits(element));
  Type stored = emit.builder.getIntegerType(bits);
  auto tableType = RankedTensorType::get({type.getNumElements()}, stored);
  SmallVector<APInt> entries;
  for (Attribute value : dense.getValues<Attribute>())
    entries.emplace_back(bits, getBits(value));
  auto module = kernel->getParentOfType<ModuleOp>();
  std::string name;
  for (unsigned i = 0;; ++i) {
    name = (kernel.getName() + "_constant_" + Twine(i)).str();
    if (!module.lookupSymbol(name))
      break;
  }
  {
    OpBuilder::InsertionGuard guard(emit.builder);
    emit.builder.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(emit.builder, op.getLoc(),
                           LLVM::LLVMArrayType::get(stored, entries.size()),
                           /*isConstant=*/true, LLVM::Linkage::Internal, name,
                           DenseElementsAttr::get(tableType, entries),
                           /*alignment=*/16, /*addrSpace=*/1);
  }
  Type pointerType = LLVM::LLVMPointerType::get(op.getContext(), 1);
  Value base =
      LLVM::AddressOfOp::create(emit.builder, emit.loc, pointerType, name);
  unsigned total = layout.getCodomain().bits();
  Value thread =
      emit.bitXor(emitLinear(emit, layout.getColumns("lane"), lane, 0, total),
                  emitLinear(emit, layout.getColumns("warp"), warp, 0, total));
  auto values = forEachRegister(layout, [&](unsigned r) -> Value {
    Value index = emit.bitXor(thread, emit.i32(layout(r)));
    Value pointer =
        LLVM::GEPOp::create(emit.builder, emit.loc, pointerType, stored, base,
                            ArrayRef<LLVM::GEPArg>{index});
    Value loaded =
        LLVM::LoadOp::create(emit.builder, emit.loc, stored, pointer, bits / 8);
    if (Fragment::isPacked(element))
      return emit.zext(emit.i32(), loaded);
    return emit.fromInteger(element, loaded);
  });
  set(values);
  return success();
}

void Distributor::distributeSplat(Value scalar, Value result) {
  Type element = getElementType(result);
  LinearLayout layout = getLayout(result);
  SmallVector<Value> values(size_t(1) << layout.getDomain().bitsOf("register"),
                            scalars.lookup(scalar));
  setFragment(result, Fragment::fromScalars(emit, element, layout, values));
}

void Distributor::distributeIota(IotaOp op) {
  LinearLayout layout = getLayout(op);
  Type element = getElementType(op);
  Coordinates coordinates(emit, layout, lane, warp);
  auto values = forEachRegister(layout, [&](unsigned r) -> Value {
    Value coordinate = coordinates.get(emit, 0, r);
    return emit.fromInteger(element, emit.zext(emit.i64(), coordinate));
  });
  setFragment(op, Fragment::fromScalars(emit, element, layout, values));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Combines two scalars of `element` by `kind`.
static Value combine(Emitter &emit, ReduceKind kind, Type element, Value a,
                     Value b) {
  OpBuilder &builder = emit.builder;
  Location loc = emit.loc;
  if (isa<IntegerType, IndexType>(element)) {
    switch (kind) {
    case ReduceKind::Add:
      return arith::AddIOp::create(builder, loc, a, b);
    case ReduceKind::Mul:
      return arith::MulIOp::create(builder, loc, a, b);
    case ReduceKind::Max:
      return arith::MaxSIOp::create(builder, loc, a, b);
    case ReduceKind::Min:
      return arith::MinSIOp::create(builder, loc, a, b);
    case ReduceKind::And:
      return arith::AndIOp::create(builder, loc, a, b);
    case ReduceKind::Or:
      return arith::OrIOp::create(builder, loc, a, b);
    case ReduceKind::Xor:
      return arith::XOrIOp::create(builder, loc, a, b);
    }
  }
  switch (kind) {
  case ReduceKind::Add:
    return arith::AddFOp::create(builder, loc, a, b);
  case ReduceKind::Mul:
    return arith::MulFOp::create(builder, loc, a, b);
  case ReduceKind::Max:
    return arith::MaximumFOp::create(builder, loc, a, b);
  case ReduceKind::Min:
    return arith::MinimumFOp::create(builder, loc, a, b);
  default:
    return {};
  }
}

LogicalResult Distributor::distributeReduce(ReduceOp op) {
  const Fragment &source = getFragment(op.getSource());
  LinearLayout resultLayout = getLayout(op);
  std::string axis = "d" + std::to_string(op.getDim());
  const Space &tile = source.layout.getCodomain();
  Type element = source.elementType;
  std::optional<ElementFormat> format = getElementFormat(element);
  // Formats narrower than f32 are combined in f32 and rounded once. FP8, FP4
  // and E8M0 have no arithmetic of their own at all.
  bool throughF32 = format && getFormatInfo(*format).bits < 32;
  Type workType = throughF32 ? emit.f32() : getScalarType(element);

  // Registers of the dimension first, then lanes.
  uint32_t reducedRegisters = 0, freeRegisters = 0;
  for (auto [bit, column] :
       llvm::enumerate(source.layout.getColumns("register"))) {
    if (tile.coordinate(column, axis))
      reducedRegisters |= 1u << bit;
    else if (!column)
      freeRegisters |= 1u << bit;
  }
  SmallVector<Value> results;
  for (unsigned r = 0; r < source.numRegisters(); ++r) {
    if (r & (reducedRegisters | freeRegisters))
      continue;
    Value total;
    for (unsigned s = 0; s < source.numRegisters(); ++s) {
      if ((s & ~reducedRegisters) != r)
        continue;
      Value value = throughF32
                        ? decodeToF32(emit, *format, source.getBits(emit, s))
                        : source.getScalar(emit, s);
      total =
          total ? combine(emit, op.getKind(), workType, total, value) : value;
    }
    for (auto [bit, column] : llvm::enumerate(source.layout.getColumns("lane")))
      if (tile.coordinate(column, axis))
        total = combine(emit, op.getKind(), workType, total,
                        shuffleXor(total, 1u << bit));
    if (throughF32)
      total = encodeFromF32(emit, *format, total,
                            *format == ElementFormat::F8E8M0FNU
                                ? Rounding::TowardZero
                                : Rounding::NearestEven,
                            /*saturate=*/false); // an infinity is one of them
    results.push_back(total);
  }
  Fragment reduced =
      throughF32 ? Fragment::fromBits(emit, element, resultLayout, results)
                 : Fragment::fromScalars(emit, element, resultLayout, results);
  setFragment(op, std::move(reduced));
  return success();
}

//===----------------------------------------------------------------------===//
// One operation
//===----------------------------------------------------------------------===//

LogicalResult Distributor::distribute(Operation *op) {
  auto mapScalar = [&](Value from, Value to) {
    scalars.map(from, to);
    return success();
  };
  /// Moves no data: the same values under another layout.
  auto relabel = [&](Value source, Value result) {
    const Fragment &from = getFragment(source);
    setFragment(result, Fragment{getElementType(result), getLayout(result),
                                 from.values, from.hasContainers});
    return success();
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](scf::ForOp op) { return distributeFor(op); })
      .Case([&](scf::IfOp op) { return distributeIf(op); })
      .Case([&](scf::WhileOp op) { return distributeWhile(op); })
      .Case([&](ProgramIdOp op) {
        Type type = emit.i32();
        OpBuilder &b = emit.builder;
        Value id = op.getDim() == 0
                       ? Value(NVVM::BlockIdXOp::create(b, emit.loc, type))
                   : op.getDim() == 1
                       ? Value(NVVM::BlockIdYOp::create(b, emit.loc, type))
                       : Value(NVVM::BlockIdZOp::create(b, emit.loc, type));
        return mapScalar(op, arith::IndexCastUIOp::create(
                                 b, emit.loc, b.getIndexType(), id));
      })
      .Case([&](NumProgramsOp op) {
        Type type = emit.i32();
        OpBuilder &b = emit.builder;
        Value count = op.getDim() == 0
                          ? Value(NVVM::GridDimXOp::create(b, emit.loc, type))
                      : op.getDim() == 1
                          ? Value(NVVM::GridDimYOp::create(b, emit.loc, type))
                          : Value(NVVM::GridDimZOp::create(b, emit.loc, type));
        return mapScalar(op, arith::IndexCastUIOp::create(
                                 b, emit.loc, b.getIndexType(), count));
      })
      .Case([&](AssumeOp op) {
        return mapScalar(op, scalars.lookup(op.getValue()));
      })
      .Case([&](memref::DimOp op) -> LogicalResult {
        std::optional<int64_t> dim = op.getConstantIndex();
        auto memref = memrefs.find(op.getSource());
        if (!dim || memref == memrefs.end() || *dim < 0 ||
            *dim >= memref->second.type.getRank())
          return op.emitOpError(
              "expects a constant dimension of a kernel argument or a view");
        return mapScalar(
            op, arith::IndexCastOp::create(emit.builder, emit.loc,
                                           emit.builder.getIndexType(),
                                           memref->second.sizes[*dim]));
      })
      .Case([&](memref::LoadOp op) { return distributeMemRefLoad(op); })
      .Case([&](memref::SubViewOp op) { return distributeSubView(op); })
      .Case([&](memref::CastOp op) -> LogicalResult {
        // Canonicalization makes the constants of a view part of its type and
        // casts back; what is known statically is kept.
        auto memref = memrefs.find(op.getSource());
        if (memref == memrefs.end())
          return op.emitOpError("expects a kernel argument or a view of one");
        MemRefValue view = memref->second;
        memrefs[op] = std::move(view);
        return success();
      })
      .Case([&](LoadOp op) { return distributeLoad(op); })
      .Case<AllocBufferOp, AllocBarriersOp, AllocTensorMemoryOp>(
          [](Operation *) { return success(); })
      .Case<CopyAsyncOp, CopyTensorOp>(
          [&](auto op) { return distributeCopy(op); })
      .Case([&](CommitCopiesOp) {
        NVVM::CpAsyncCommitGroupOp::create(emit.builder, emit.loc);
        return success();
      })
      .Case([&](WaitCopiesOp op) {
        NVVM::CpAsyncWaitGroupOp::create(emit.builder, emit.loc,
                                         op.getPending());
        if (op.getAsyncProxy())
          fenceAsyncProxy();
        barrier();
        return success();
      })
      .Case([&](BarrierOp) {
        barrier();
        return success();
      })
      .Case([&](ReadBufferOp op) { return distributeRead(op); })
      .Case([&](InitBarriersOp op) { return distributeInit(op); })
      .Case([&](InvalBarriersOp op) { return distributeInval(op); })
      .Case([&](WaitBarrierOp op) { return distributeWait(op); })
      .Case([&](ArriveCopiesOp op) { return distributeArrive(op); })
      .Case([&](ExpectBytesOp op) { return distributeExpect(op); })
      .Case([&](WarpRolesOp op) { return distributeRoles(op); })
      .Case([&](LoadTensorMemoryOp op) { return distributeTensorLoad(op); })
      .Case([&](StoreTensorMemoryOp op) { return distributeTensorStore(op); })
      .Case([&](CopyScalesOp op) { return distributeCopyScales(op); })
      .Case([&](MultiplyAsyncOp op) { return distributeMultiply(op); })
      .Case([&](CommitMultipliesOp op) { return distributeCommit(op); })
      .Case([&](StoreOp op) { return distributeStore(op); })
      .Case([&](GatherOp op) { return distributeGather(op); })
      .Case([&](ScatterOp op) { return distributeScatter(op); })
      .Case([&](arith::ConstantOp op) { return distributeConstant(op); })
      .Case([&](tensor::SplatOp op) {
        distributeSplat(op.getInput(), op);
        return success();
      })
      .Case([&](tensor::ExtractOp op) { return distributeExtract(op); })
      .Case([&](IotaOp op) {
        distributeIota(op);
        return success();
      })
      .Case<PermuteOp, ReshapeOp, BroadcastOp>([&](Operation *op) {
        return relabel(op->getOperand(0), op->getResult(0));
      })
      .Case<UnpackOp, PackOp>([&](Operation *op) {
        // Words keep their bits; what is wider than a word is built of bits,
        // and what was is taken apart.
        Value source = op->getOperand(0), result = op->getResult(0);
        const Fragment &from = getFragment(source);
        if (from.hasContainers)
          return relabel(source, result);
        Type element = getElementType(result);
        unsigned fromBits = getElementBits(from.elementType);
        unsigned toBits = getElementBits(element);
        SmallVector<Value> words;
        for (Value value : from.values) {
          if (fromBits <= 32) {
            words.push_back(from.isPacked() ? value
                                            : emit.bitcast(emit.i32(), value));
            continue;
          }
          words.push_back(emit.trunc(emit.i32(), value));
          words.push_back(emit.trunc(emit.i32(), emit.lshr(value, 32)));
        }
        if (toBits < 32)
          return setFragment(result, words), success();
        SmallVector<Value> values;
        if (toBits == 32)
          for (Value word : words)
            values.push_back(emit.bitcast(element, word));
        else
          for (unsigned i = 0; i + 1 < words.size(); i += 2)
            values.push_back(emit.bitcast(
                element,
                emit.bitOr(emit.zext(emit.i64(), words[i]),
                           emit.shl(emit.zext(emit.i64(), words[i + 1]), 32))));
        return setFragment(result, values), success();
      })
      .Case([&](FToFOp op) { return distributeFToF(op); })
      .Case([&](ReduceOp op) { return distributeReduce(op); })
      .Case([&](ConvertLayoutOp op) { return distributeConvertLayout(op); })
      .Case([&](MmaFOp op) {
        return distributeMma(planMma(op, numWarps), op.getLhs(), op.getRhs(),
                             op.getAcc(), {}, {}, op);
      })
      .Case([&](MmaFScaledOp op) {
        return distributeMma(planMma(op, numWarps), op.getLhs(), op.getRhs(),
                             op.getAcc(), op.getLhsScale(), op.getRhsScale(),
                             op);
      })
      .Default([&](Operation *op) {
        if (op->getNumResults() && isTileValue(op->getResult(0)))
          return distributeElementwise(op);
        return distributeScalar(op);
      });
}

//===----------------------------------------------------------------------===//
// What the pass expects
//===----------------------------------------------------------------------===//

/// The layout that `op` gives its result from the layouts of its operands, for
/// operations that move no data; nullopt where there is none.
static std::optional<LinearLayout> getMovelessLayout(Operation *op) {
  auto layoutOf = [](Value value) {
    return getLayout(cast<RankedTensorType>(value.getType()));
  };
  auto resultType = cast<RankedTensorType>(op->getResult(0).getType());
  if (auto permute = dyn_cast<PermuteOp>(op))
    return permuteLayout(layoutOf(permute.getSource()),
                         permute.getPermutation());
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return reshapeLayout(layoutOf(reshape.getSource()), resultType.getShape());
  if (isa<UnpackOp, PackOp>(op))
    return unpackLayout(layoutOf(op->getOperand(0)),
                        getElementBits(getElementType(op->getOperand(0))),
                        getElementBits(resultType.getElementType()));
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    LinearLayout source = layoutOf(reduce.getSource());
    if (!canReduceInWarp(source, reduce.getDim()))
      return std::nullopt;
    return reduceLayout(source, reduce.getDim());
  }
  return layoutOf(op->getOperand(0)); // element-wise
}

/// Checks that the layouts of an operation fit each other, so that each thread
/// finds its operands in its own registers, and that they are for `numWarps`,
/// if that is known.
static LogicalResult verifyLayouts(Operation *op,
                                   std::optional<unsigned> numWarps) {
  for (Value value : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      continue;
    if (!isa_and_nonnull<LayoutAttr>(type.getEncoding()))
      return op->emitOpError("expects a result with a #tile.layout, but got ")
             << type << "; run tile-assign-layouts first";
    // The layout of a tile of rank 0 has no columns to count.
    unsigned warps = 1u << getLayout(type).getDomain().bitsOf("warp");
    if (numWarps && warps != *numWarps && type.getRank() > 0)
      return op->emitOpError("expects a layout of ")
             << *numWarps
             << " warps, as many as 'tile.num_warps' says, but got " << warps;
  }
  auto refuse = [&] {
    return op->emitOpError("expects layouts of operands and result that fit "
                           "each other; run tile-assign-layouts first");
  };
  auto layoutOf = [](Value value) {
    return getLayout(cast<RankedTensorType>(value.getType()));
  };
  auto isProjected = [&](Value value, const LinearLayout &onto) {
    auto type = cast<RankedTensorType>(value.getType());
    return getLayout(type) == projectLayout(onto, type.getShape());
  };
  if (auto broadcast = dyn_cast<BroadcastOp>(op))
    if (!isProjected(broadcast.getSource(), layoutOf(broadcast)))
      return refuse();
  if (isa<PermuteOp, ReshapeOp, UnpackOp, PackOp, ReduceOp, FToFOp>(op)) {
    std::optional<LinearLayout> expected = getMovelessLayout(op);
    LinearLayout found = layoutOf(op->getResult(0));
    auto hasRank = [](Value value) {
      return cast<RankedTensorType>(value.getType()).getRank() > 0;
    };
    // Every thread has a tile of rank 0, whose layout cannot say so.
    bool fits = hasRank(op->getOperand(0)) && hasRank(op->getResult(0))
                    ? expected == found
                    : expected && !found.getDomain().bitsOf("register");
    if (!fits)
      return refuse();
  }
  auto checkAddresses = [&](ValueRange indices, Value mask,
                            const LinearLayout &layout) -> LogicalResult {
    for (Value index : indices)
      if (!isProjected(index, layout))
        return refuse();
    if (mask && layoutOf(mask) != layout)
      return refuse();
    return success();
  };
  if (auto gather = dyn_cast<GatherOp>(op))
    return checkAddresses(gather.getIndices(), gather.getMask(),
                          layoutOf(gather));
  if (auto scatter = dyn_cast<ScatterOp>(op))
    return checkAddresses(scatter.getIndices(), scatter.getMask(),
                          layoutOf(scatter.getValue()));
  if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
      op->getNumResults() && isTileValue(op->getResult(0)))
    for (Value operand : op->getOperands())
      if (isTileValue(operand) &&
          layoutOf(operand) != layoutOf(op->getResult(0)))
        return refuse();
  return success();
}

/// Checks that `target` has the instruction of an annotated multiply.
static LogicalResult verifyAtom(Operation *op, const TargetInfo &target) {
  if (!isa<MmaFOp, MmaFScaledOp>(op))
    return success();
  const MmaAtom *atom = getWarpAtom(op);
  if (!atom)
    return failure();
  if (!target.has(atom->capability))
    return op->emitOpError("expects an instruction of ")
           << target.name << ", but got '" << atom->name << "'";
  // A sum with an exponent is decoded that way, not multiplied.
  if (auto scaled = dyn_cast<MmaFScaledOp>(op)) {
    int exponent = scaled.getExponent().value_or(0);
    int expected = getDecodedExponent(scaled).value_or(0);
    if (exponent && exponent != expected)
      return op->emitOpError("expects no exponent")
             << (expected ? " or " + Twine(expected) : Twine()) << ", but got "
             << exponent;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct Distribute : public tile::impl::TileDistributeBase<Distribute> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    llvm::Expected<const TargetInfo *> info = findTarget(target);
    if (!info) {
      module.emitError() << llvm::toString(info.takeError());
      return signalPassFailure();
    }
    bool hasCvt = (*info)->has(Capability::CvtFp4);
    if (fp4Cvt != "auto" && fp4Cvt != "hardware" && fp4Cvt != "software") {
      module.emitError() << "expects fp4-cvt to be auto, hardware or software, "
                            "but got '"
                         << fp4Cvt << "'";
      return signalPassFailure();
    }
    if (fp4Cvt == "hardware" && !hasCvt) {
      module.emitError() << "fp4-cvt=hardware: " << target
                         << " has no conversion to f4E2M1FN";
      return signalPassFailure();
    }
    Distributor::Options options{*info, hasCvt && fp4Cvt != "software", {}};
    options.decode.fp8 = (*info)->has(Capability::CvtFp8);
    options.decode.e8m0 = (*info)->has(Capability::CvtE8M0);
    options.decode.bf16 =
        fp4Cvt != "software" && (*info)->has(Capability::CvtToBf16) &&
        ptxVersion >= (*info)->ptxVersionFor(Capability::CvtToBf16);
    if (options.hardwareFp4)
      options.decode.fp4 = fp4Cvt == "hardware"
                               ? DecodeOptions::Cvt::Always
                               : DecodeOptions::Cvt::WhereShorter;

    SmallVector<Attribute> launchLines;
    bool usesShared = false;
    unsigned sharedAlignment = BufferType::kSlotAlignment;
    for (auto kernel :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      auto warps = kernel->getAttrOfType<IntegerAttr>("tile.num_warps");
      std::optional<unsigned> numWarps;
      if (warps)
        numWarps = warps.getInt();
      WalkResult ready = kernel.walk([&](Operation *op) {
        return failed(verifyLayouts(op, numWarps)) ||
                       failed(verifyAtom(op, **info))
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      });
      if (ready.wasInterrupted())
        return signalPassFailure();
      if (!numWarps) {
        kernel.emitOpError("expects 'tile.num_warps'; run tile-assign-layouts "
                           "first");
        return signalPassFailure();
      }
      // Both functions stand in the module for a moment.
      std::string name = kernel.getName().str();
      Distributor distributor(kernel, options);
      FailureOr<LLVM::LLVMFuncOp> function = distributor.run();
      if (failed(function))
        return signalPassFailure();
      kernel.erase();
      usesShared |= distributor.getSharedBytes() > 0;
      sharedAlignment =
          std::max(sharedAlignment, distributor.getSharedAlignment());
      launchLines.push_back(StringAttr::get(
          &getContext(),
          "// tile.launch entry=" + name +
              " block=" + Twine(distributor.getNumThreads()) +
              ",1,1 shared=" + Twine(distributor.getSharedBytes())));
      for (const std::string &line : distributor.printTensorMaps(name))
        launchLines.push_back(StringAttr::get(&getContext(), line));
    }
    OpBuilder builder(&getContext());
    builder.setInsertionPointToStart(module.getBody());
    if (usesShared)
      LLVM::GlobalOp::create(builder, module.getLoc(),
                             LLVM::LLVMArrayType::get(builder.getI8Type(), 0),
                             /*isConstant=*/false, LLVM::Linkage::External,
                             kSharedMemoryName, Attribute(), sharedAlignment,
                             /*addrSpace=*/3);
    module->setAttr(LLVM::LLVMDialect::getModuleLevelAsmAttrName(),
                    builder.getArrayAttr(launchLines));
  }
};
} // namespace
