//===- Program.cpp - One tile program while it runs -----------------------===//

#include "Program.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tile;
using namespace tile::reference;

//===----------------------------------------------------------------------===//
// Handlers
//===----------------------------------------------------------------------===//

const HandlerTable &tile::reference::getHandlers() {
  static const HandlerTable table = [] {
    HandlerTable table;
    addArithHandlers(table);
    addControlHandlers(table);
    addMathHandlers(table);
    addMemoryHandlers(table);
    addMultiplyHandlers(table);
    addTileHandlers(table);
    return table;
  }();
  return table;
}

//===----------------------------------------------------------------------===//
// LaunchState
//===----------------------------------------------------------------------===//

std::array<int64_t, 3> LaunchState::getCoordinates(uint64_t program) const {
  std::array<int64_t, 3> at;
  for (size_t dim = 0; dim < at.size(); ++dim) {
    uint64_t extent = static_cast<uint64_t>(grid.extents[dim]);
    at[dim] = static_cast<int64_t>(program % extent);
    program /= extent;
  }
  return at;
}

std::string LaunchState::describe(uint64_t program) const {
  std::array<int64_t, 3> at = getCoordinates(program);
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '(';
  llvm::interleaveComma(at, os);
  os << ')';
  return text;
}

void LaunchState::record(Record candidate) {
  std::lock_guard<std::mutex> lock(mutex);
  if (first.location && std::tie(first.program, first.rank) <=
                            std::tie(candidate.program, candidate.rank))
    return;
  first = std::move(candidate);
  firstFailed.store(first.program, std::memory_order_relaxed);
}

void LaunchState::recordFault(uint64_t program, Location location,
                              std::string message) {
  // After every conflict: the name of an array is never "~".
  record({program,
          {"~", 0},
          location,
          message + ", in tile program " + describe(program)});
}

void LaunchState::recordConflict(uint64_t first, uint64_t second,
                                 const Memory &memory, int64_t offset,
                                 Location location) {
  record({second,
          {memory.getName(), offset},
          location,
          "tile programs " + describe(first) + " and " + describe(second) +
              " both write element " + memory.getIndexOf(offset) + " of " +
              memory.getName()});
}

llvm::Error LaunchState::takeError() {
  if (!first.location)
    return llvm::Error::success();
  return llvm::make_error<Fault>(*first.location, std::move(first.message));
}

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

const RuntimeValue &Program::get(Value value) const {
  auto it = values.find(value);
  assert(it != values.end() && "value is used before it is computed");
  return it->second;
}

SmallVector<int64_t, 4> Program::getSigned(ValueRange range) const {
  SmallVector<int64_t, 4> numbers;
  for (Value value : range)
    numbers.push_back(getSigned(value));
  return numbers;
}

void Program::assign(ValueRange targets, ValueRange sources) {
  // A target may be a source too: a loop may swap two of its values.
  SmallVector<RuntimeValue, 4> held;
  for (Value source : sources)
    held.push_back(get(source));
  for (auto [target, value] : llvm::zip(targets, held))
    set(target, std::move(value));
}

LogicalResult Program::run(Block &block) {
  if (launch.isCancelled())
    return failure();
  const HandlerTable &handlers = getHandlers();
  for (Operation &op : block.without_terminator())
    if (failed(handlers.lookup(op.getName().getTypeID())(*this, &op)))
      return failure();
  return success();
}

LogicalResult Program::fail(Operation *op, const Twine &message) {
  launch.recordFault(
      index, op->getLoc(),
      ("'" + op->getName().getStringRef() + "' op " + message).str());
  return failure();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Element tile::reference::getElementOf(Value value) {
  return *Element::get(getElementTypeOrSelf(value.getType()));
}

Tensor tile::reference::makeTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return Tensor(getElementOf(value),
                type ? type.getShape() : ArrayRef<int64_t>());
}
