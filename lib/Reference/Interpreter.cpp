//===- Interpreter.cpp - Preparing and launching kernels ------------------===//

#include "tile/Reference/Interpreter.h"

#include "Program.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Formats/SymbolicExtent.h"

#include <deque>
#include <thread>

using namespace mlir;
using namespace tile;
using namespace tile::reference;

//===----------------------------------------------------------------------===//
// Fault
//===----------------------------------------------------------------------===//

char Fault::ID = 0;

void Fault::log(raw_ostream &os) const {
  if (auto file = location->findInstanceOf<FileLineColLoc>())
    os << file.getFilename().getValue() << ':' << file.getLine() << ':'
       << file.getColumn() << ": ";
  os << "error: " << message;
}

std::error_code Fault::convertToErrorCode() const {
  return llvm::inconvertibleErrorCode();
}

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

/// Larger tiles are a mistake, and would only exhaust the memory.
static constexpr int64_t maxTileElements = int64_t(1) << 24;

namespace {
/// Checks a kernel and everything that it calls.
class Preparation {
public:
  explicit Preparation(PreparedKernel &kernel) : kernel(kernel) {}

  llvm::Error checkFunction(func::FuncOp function);

private:
  llvm::Error fail(Operation *op, const Twine &message) {
    return llvm::make_error<Fault>(
        op->getLoc(),
        ("'" + op->getName().getStringRef() + "' op " + message).str());
  }

  llvm::Error checkOperation(Operation *op);
  llvm::Error checkType(Operation *op, Type type);
  llvm::Error checkArithmetic(Operation *op);
  llvm::Error checkCall(func::CallOp op);

  PreparedKernel &kernel;
  /// Functions from the kernel to the one being checked.
  SmallVector<func::FuncOp> callers;
  llvm::SmallPtrSet<Operation *, 4> checked;
};
} // namespace

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Whether elements of a memref may have this type: one of whole bytes.
static bool isMemoryElement(Type type) {
  std::optional<Element> element = Element::get(type);
  return element && element->bits == 8 * element->bytes;
}

llvm::Error Preparation::checkType(Operation *op, Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    if (!tensor.hasStaticShape())
      return fail(op, "expects tiles of static shape, but got '" + print(type) +
                          "'");
    int64_t count = 1;
    for (int64_t extent : tensor.getShape()) {
      if (extent > maxTileElements)
        count = extent;
      else if (count <= maxTileElements)
        count *= extent;
    }
    if (count > maxTileElements)
      return fail(op, "expects tiles of at most " + Twine(maxTileElements) +
                          " elements, but got '" + print(type) + "'");
    if (Element::get(tensor.getElementType()))
      return llvm::Error::success();
  } else if (auto memref = dyn_cast<MemRefType>(type)) {
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(memref.getStridesAndOffset(strides, offset)))
      return fail(op, "expects memrefs with strides, but got '" + print(type) +
                          "'");
    if (isMemoryElement(memref.getElementType()))
      return llvm::Error::success();
  } else if (Element::get(type)) {
    return llvm::Error::success();
  }
  return fail(op, "has a value of type '" + print(type) +
                      "', which a kernel may not use");
}

/// `arith` and `math` know no FP4, FP8 and scale types, but for what only moves
/// codes, and no rounding but to nearest even.
llvm::Error Preparation::checkArithmetic(Operation *op) {
  if (auto truncation = dyn_cast<arith::TruncFOp>(op))
    if (auto mode = truncation.getRoundingmode())
      if (*mode != arith::RoundingMode::to_nearest_even)
        return fail(op, "expects rounding to nearest even, but got '" +
                            arith::stringifyRoundingMode(*mode) + "'");

  if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
          op->getDialect()) ||
      isa<arith::ConstantOp, arith::SelectOp, arith::BitcastOp>(op))
    return llvm::Error::success();
  auto checkTypes = [&](TypeRange types) -> llvm::Error {
    for (Type type : types) {
      Type elementType = getElementTypeOrSelf(type);
      Element element = *Element::get(elementType);
      if ((element.isFloat() && element.bits <= 8) ||
          element.kind == Element::Kind::Pair)
        return fail(op, "has no meaning for '" + print(elementType) +
                            "'; convert with 'tile.ftof'");
    }
    return llvm::Error::success();
  };
  if (llvm::Error error = checkTypes(op->getOperandTypes()))
    return error;
  return checkTypes(op->getResultTypes());
}

llvm::Error Preparation::checkCall(func::CallOp op) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      op, op.getCalleeAttr());
  if (!callee || !callee.isPrivate() || callee.isExternal())
    return fail(op, "expects a private function with a body, but got '@" +
                        op.getCallee() + "'");
  if (llvm::is_contained(callers, callee))
    return fail(op, "calls '@" + op.getCallee() + "' recursively");
  kernel.callees[op] = callee;
  if (!checked.insert(callee).second)
    return llvm::Error::success();
  return checkFunction(callee);
}

llvm::Error Preparation::checkOperation(Operation *op) {
  if (!getHandlers().contains(op->getName().getTypeID()))
    return fail(op, "is not one that a kernel may use");
  for (Type type : op->getOperandTypes())
    if (llvm::Error error = checkType(op, type))
      return error;
  for (Type type : op->getResultTypes())
    if (llvm::Error error = checkType(op, type))
      return error;
  for (Region &region : op->getRegions())
    for (Type type : region.getArgumentTypes())
      if (llvm::Error error = checkType(op, type))
        return error;
  if (llvm::Error error = checkArithmetic(op))
    return error;

  if (auto call = dyn_cast<func::CallOp>(op))
    return checkCall(call);
  if (auto view = dyn_cast<memref::SubViewOp>(op))
    kernel.droppedDims[op] = view.getDroppedDims();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    llvm::Expected<Tensor> value = evaluateConstant(constant.getValue());
    if (!value)
      return fail(op, llvm::toString(value.takeError()));
    kernel.constants[op] = std::move(*value);
  }
  return llvm::Error::success();
}

llvm::Error Preparation::checkFunction(func::FuncOp function) {
  if (function.isExternal())
    return fail(function, "expects a body");
  if (!function.getBody().hasOneBlock())
    return fail(function, "expects one block; branches are 'scf' operations");
  for (Type type : function.getArgumentTypes())
    if (llvm::Error error = checkType(function, type))
      return error;

  callers.push_back(function);
  llvm::Error error = llvm::Error::success();
  function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    llvm::cantFail(std::move(error));
    error = checkOperation(op);
    return error ? WalkResult::interrupt() : WalkResult::advance();
  });
  callers.pop_back();
  return error;
}

llvm::Expected<Kernel> Kernel::prepare(func::FuncOp function) {
  // The table of small floats, before launches: one that goes on while the
  // process is forked would leave it half made.
  (void)Element{Element::Kind::Float, 8, 1, ElementFormat::F8E8M0FNU}.decode(0);
  auto prepared = std::make_unique<PreparedKernel>();
  prepared->function = function;
  if (llvm::Error error = Preparation(*prepared).checkFunction(function))
    return error;
  return Kernel(std::move(prepared));
}

Kernel::Kernel(std::unique_ptr<PreparedKernel> prepared)
    : prepared(std::move(prepared)) {}
Kernel::Kernel(Kernel &&) = default;
Kernel &Kernel::operator=(Kernel &&) = default;
Kernel::~Kernel() = default;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

std::string tile::reference::getArgumentName(func::FuncOp function,
                                             unsigned index) {
  std::string name = "argument " + std::to_string(index);
  if (function.isExternal())
    return name;
  auto location = dyn_cast<NameLoc>(function.getArgument(index).getLoc());
  if (!location)
    return name;
  return name + " (" + location.getName().str() + ")";
}

static llvm::Error makeError(const Twine &message) {
  return llvm::createStringError(message);
}

/// `1 byte`, `2 bytes`.
static std::string count(int64_t number, StringRef noun) {
  return (Twine(number) + " " + noun + (number == 1 ? "" : "s")).str();
}

/// `argument 3 (z) from 'z.npy'`.
static std::string describe(func::FuncOp function, unsigned index,
                            const Buffer &buffer) {
  std::string name = getArgumentName(function, index);
  return buffer.origin.empty() ? name : name + " from '" + buffer.origin + "'";
}

/// Checks the promise `attributeName` of an argument about `numbers`, its
/// extents or strides. `name` stands for the argument in the error.
static llvm::Error checkDivisible(func::FuncOp function, unsigned index,
                                  StringRef name, StringRef attributeName,
                                  StringRef what, ArrayRef<int64_t> numbers) {
  auto divisors =
      function.getArgAttrOfType<DenseI64ArrayAttr>(index, attributeName);
  if (!divisors)
    return llvm::Error::success();
  for (auto [dim, divisor, number] :
       llvm::enumerate(divisors.asArrayRef(), numbers))
    if (divisor > 1 && number % divisor != 0)
      return makeError(name + ": expects " + what + " " + Twine(dim) +
                       " to be a multiple of " + Twine(divisor) + " ('" +
                       attributeName + "'), but got " + Twine(number));
  return llvm::Error::success();
}

static llvm::Error checkBuffer(func::FuncOp function, unsigned index,
                               MemRefType type, const Buffer &buffer) {
  const std::string name = describe(function, index, buffer);
  const Element element = *Element::get(type.getElementType());
  if (buffer.elementBytes != element.bytes)
    return makeError(name + ": expects elements of " +
                     count(element.bytes, "byte") + " (" +
                     print(type.getElementType()) + "), but got " +
                     Twine(buffer.elementBytes));
  const size_t rank = static_cast<size_t>(type.getRank());
  if (buffer.shape.size() != rank || buffer.strides.size() != rank)
    return makeError(name + ": expects " + count(type.getRank(), "dimension") +
                     ", but got " + Twine(buffer.shape.size()));

  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset); // Known to succeed.
  if (offset != 0)
    return makeError(name +
                     ": expects a memref that begins at its base "
                     "pointer, but its type is '" +
                     print(type) + "'");

  for (size_t dim = 0; dim < rank; ++dim) {
    int64_t extent = buffer.shape[dim], stride = buffer.strides[dim];
    if (extent < 0 || stride < 0)
      return makeError(name +
                       ": expects extents and strides that are not "
                       "negative, but got extent " +
                       Twine(extent) + " and stride " + Twine(stride) +
                       " in dimension " + Twine(dim));
    if (!type.isDynamicDim(dim) && extent != type.getDimSize(dim))
      return makeError(name + ": expects extent " + Twine(dim) + " to be " +
                       Twine(type.getDimSize(dim)) + ", but got " +
                       Twine(extent));
  }
  __int128 last = 0; // Offset of the last element.
  bool empty = false;
  for (auto [dim, extent, stride, expected] :
       llvm::enumerate(buffer.shape, buffer.strides, strides)) {
    // The stride of a dimension that has one index is never used.
    if (!ShapedType::isDynamic(expected) && stride != expected && extent > 1)
      return makeError(name + ": expects stride " + Twine(dim) + " to be " +
                       Twine(expected) + ", but got " + Twine(stride));
    empty |= extent == 0;
    // No allocation is larger, and a sum of many such products would overflow.
    last = std::min<__int128>(last + static_cast<__int128>(extent - 1) * stride,
                              INT64_MAX);
  }
  if (llvm::Error error =
          checkDivisible(function, index, name, "tile.shape_divisible_by",
                         "extent", buffer.shape))
    return error;
  if (llvm::Error error =
          checkDivisible(function, index, name, "tile.stride_divisible_by",
                         "stride", buffer.strides))
    return error;
  if (empty)
    return llvm::Error::success();

  if (!buffer.data || reinterpret_cast<uintptr_t>(buffer.data) % 16 != 0)
    return makeError(name + ": expects a base pointer aligned to 16 bytes");
  // Compare in elements: the product with their size might not fit.
  if (last >= buffer.capacity / element.bytes)
    return makeError(name + ": expects every element to lie in the " +
                     count(buffer.capacity, "byte") + " of its allocation");
  return llvm::Error::success();
}

/// Checks extents against each other. Requires: each argument suits its type.
static llvm::Error checkSymbolicExtents(func::FuncOp function,
                                        ArrayRef<Argument> arguments) {
  std::vector<ArrayExtents> arrays;
  std::deque<std::string> names;
  std::deque<std::vector<SymbolicExtent>> rules;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    auto texts = function.getArgAttrOfType<ArrayAttr>(i, "tile.extents");
    if (!texts)
      continue;
    const auto &buffer = std::get<Buffer>(argument);
    names.push_back(describe(function, static_cast<unsigned>(i), buffer));
    rules.emplace_back();
    for (auto text : texts.getAsRange<StringAttr>())
      rules.back().push_back(*SymbolicExtent::parse(text.getValue()));
    arrays.push_back({names.back(), rules.back(), buffer.shape});
  }
  if (std::optional<std::string> error = checkExtents(arrays))
    return makeError(*error);
  return llvm::Error::success();
}

llvm::Error Kernel::checkArguments(ArrayRef<Argument> arguments) const {
  func::FuncOp function = prepared->function;
  if (function.getNumResults() != 0)
    return makeError("kernel '" + function.getName() +
                     "': expects no results, but got " +
                     Twine(function.getNumResults()));
  if (arguments.size() != function.getNumArguments())
    return makeError("kernel '" + function.getName() + "': expects " +
                     count(function.getNumArguments(), "argument") +
                     ", but got " + Twine(arguments.size()));
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    const unsigned index = static_cast<unsigned>(i);
    const auto *buffer = std::get_if<Buffer>(&arguments[i]);
    if (auto memref = dyn_cast<MemRefType>(type)) {
      if (!buffer)
        return makeError(getArgumentName(function, index) +
                         ": expects an array, but got a scalar");
      if (llvm::Error error = checkBuffer(function, index, memref, *buffer))
        return error;
      continue;
    }
    if (isa<RankedTensorType>(type))
      return makeError(getArgumentName(function, index) +
                       ": expects a memref or a scalar, but its type is '" +
                       print(type) + "'");
    if (buffer)
      return makeError(getArgumentName(function, index) +
                       ": expects a scalar, but got an array");
    if (std::get<Scalar>(arguments[i]).code & ~Element::get(type)->getMask())
      return makeError(getArgumentName(function, index) +
                       ": expects a code of " +
                       count(Element::get(type)->bits, "bit"));
  }
  return checkSymbolicExtents(function, arguments);
}

//===----------------------------------------------------------------------===//
// Launch
//===----------------------------------------------------------------------===//

static llvm::Error checkGrid(const Grid &grid) {
  static constexpr int64_t limits[] = {2147483647, 65535, 65535};
  for (auto [dim, extent, limit] : llvm::enumerate(grid.extents, limits))
    if (extent < 1 || extent > limit)
      return makeError("grid: expects dimension " + Twine(dim) +
                       " to be from 1 to " + Twine(limit) + ", but got " +
                       Twine(extent));
  return llvm::Error::success();
}

namespace {
/// Tells a caller how far a launch is, a hundred times at most.
class Progress {
public:
  Progress(const LaunchOptions &options, uint64_t total)
      : options(options), total(total), interval(total / 100 + 1) {}

  /// Counts a program that is done.
  void count() {
    const uint64_t now = ++done;
    if (!options.progress || (now % interval != 0 && now != total))
      return;
    std::lock_guard<std::mutex> lock(mutex);
    // Threads may come here in another order than they counted.
    if (now <= reported)
      return;
    reported = now;
    options.progress(now, total);
  }

private:
  const LaunchOptions &options;
  const uint64_t total, interval;
  std::atomic<uint64_t> done{0};
  std::mutex mutex;
  uint64_t reported = 0;
};
} // namespace

llvm::Error Kernel::launch(const Grid &grid, ArrayRef<Argument> arguments,
                           const LaunchOptions &options) const {
  if (llvm::Error error = checkGrid(grid))
    return error;
  if (llvm::Error error = checkArguments(arguments))
    return error;

  func::FuncOp function = prepared->function;
  LaunchState launch(*prepared, grid, options.cancel);
  SmallVector<RuntimeValue> values;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    RuntimeValue &value = values.emplace_back();
    if (const auto *scalar = std::get_if<Scalar>(&argument)) {
      value.tensor = Tensor::getScalar(
          *Element::get(function.getArgumentTypes()[i]), scalar->code);
      continue;
    }
    const auto &buffer = std::get<Buffer>(argument);
    const std::string name =
        getArgumentName(function, static_cast<unsigned>(i));
    launch.memories.push_back(std::make_unique<Memory>(buffer, name));
    if (!launch.memories.back()->isValid())
      return makeError(name + ": no memory to track who writes its elements");
    value.view = std::make_shared<View>(
        View{launch.memories.back().get(), 0, buffer.shape, buffer.strides});
  }

  uint64_t count = 1;
  for (int64_t extent : grid.extents)
    count *= static_cast<uint64_t>(extent);
  std::atomic<uint64_t> next{0};
  Progress progress(options, count);
  auto work = [&] {
    for (uint64_t index = next++;
         index < count && !launch.isAfterFault(index) && !launch.isCancelled();
         index = next++) {
      Program program(launch, index);
      for (auto [argument, value] :
           llvm::zip_equal(function.getArguments(), values))
        program.set(argument, value);
      (void)program.run(function.getBody().front()); // A fault is recorded.
      progress.count();
    }
  };

  const unsigned threads =
      options.threads ? options.threads
                      : std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> workers;
  for (uint64_t i = 1; i < std::min<uint64_t>(threads, count); ++i)
    workers.emplace_back(work);
  work();
  for (std::thread &worker : workers)
    worker.join();
  if (llvm::Error error = launch.takeError())
    return error;
  if (launch.isCancelled())
    return makeError("the launch was cancelled");
  if (options.unwritten) {
    options.unwritten->clear();
    for (const RuntimeValue &value : values)
      options.unwritten->push_back(
          value.view ? value.view->memory->countUnwritten() : 0);
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<Tensor>>
Kernel::evaluate(ArrayRef<Tensor> operands) const {
  func::FuncOp function = prepared->function;
  assert(operands.size() == function.getNumArguments() &&
         "as many operands as arguments");
  LaunchState launch(*prepared, Grid(), /*cancel=*/nullptr);
  Program program(launch, 0);
  for (auto [argument, operand] :
       llvm::zip_equal(function.getArguments(), operands))
    program.set(argument, operand);
  Block &body = function.getBody().front();
  (void)program.run(body); // A fault is recorded.
  if (llvm::Error error = launch.takeError())
    return error;
  std::vector<Tensor> results;
  for (Value result : body.getTerminator()->getOperands())
    results.push_back(program.getTensor(result));
  return results;
}
