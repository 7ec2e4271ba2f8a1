//===- Fixture.h - Kernels and tensors for tests of the reference -*- C++ -*-=//

#ifndef TILE_UNITTESTS_REFERENCE_FIXTURE_H
#define TILE_UNITTESTS_REFERENCE_FIXTURE_H

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "tile/Dialect/Tile/IR/Tile.h"
#include "tile/Reference/Interpreter.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace tile::reference {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline const double quietNaN = std::numeric_limits<double>::quiet_NaN();

/// A number that looks random but is a function of its arguments: no swap of
/// elements, rows or arrays leaves data made of it unchanged.
inline uint64_t hashOf(uint64_t index, uint64_t salt = 0) {
  uint64_t x = index * 0x9E3779B97F4A7C15 + salt * 7919 + 13;
  x ^= x >> 29;
  x *= 0xBF58476D1CE4E5B9;
  return x ^ (x >> 32);
}

/// Parses functions and runs them.
class ReferenceTest : public ::testing::Test {
protected:
  ReferenceTest() {
    mlir::DialectRegistry registry;
    registerTileDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// The function `name` of a module; the first one by default.
  mlir::func::FuncOp parse(const std::string &text, llvm::StringRef name = "") {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    if (!module)
      return nullptr;
    for (auto function : module->getOps<mlir::func::FuncOp>())
      if (name.empty() || function.getName() == name)
        return function;
    ADD_FAILURE() << "no function";
    return nullptr;
  }

  Element getElement(llvm::StringRef type) {
    return *Element::get(mlir::parseType(type, &context));
  }

  /// A tensor of codes; of no shape, a scalar.
  Tensor makeCodes(llvm::StringRef type, llvm::ArrayRef<int64_t> shape,
                   llvm::ArrayRef<uint64_t> codes) {
    Tensor tensor(getElement(type), shape);
    EXPECT_EQ(tensor.size(), static_cast<int64_t>(codes.size()));
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.setCode(i, codes[i] & tensor.getElement().getMask());
    return tensor;
  }

  Tensor makeFloats(llvm::StringRef type, llvm::ArrayRef<int64_t> shape,
                    llvm::ArrayRef<double> values) {
    Tensor tensor(getElement(type), shape);
    EXPECT_EQ(tensor.size(), static_cast<int64_t>(values.size()));
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.setCode(i, tensor.getElement().encode(values[i]));
    return tensor;
  }

  static std::vector<double> getFloats(const Tensor &tensor) {
    std::vector<double> values;
    for (int64_t i = 0; i < tensor.size(); ++i)
      values.push_back(tensor.getFloat(i));
    return values;
  }

  static std::vector<uint64_t> getCodes(const Tensor &tensor) {
    std::vector<uint64_t> codes;
    for (int64_t i = 0; i < tensor.size(); ++i)
      codes.push_back(tensor.getCode(i));
    return codes;
  }

  static std::vector<int64_t> getSigned(const Tensor &tensor) {
    std::vector<int64_t> values;
    for (int64_t i = 0; i < tensor.size(); ++i)
      values.push_back(tensor.getSigned(i));
    return values;
  }

  /// Evaluates the first function of `text`, which must succeed.
  std::vector<Tensor> evaluateAll(const std::string &text,
                                  llvm::ArrayRef<Tensor> operands) {
    mlir::func::FuncOp function = parse(text);
    if (!function)
      return {};
    llvm::Expected<Kernel> kernel = Kernel::prepare(function);
    if (!kernel) {
      ADD_FAILURE() << llvm::toString(kernel.takeError());
      return {};
    }
    llvm::Expected<std::vector<Tensor>> results = kernel->evaluate(operands);
    if (!results) {
      ADD_FAILURE() << llvm::toString(results.takeError());
      return {};
    }
    return std::move(*results);
  }
  Tensor evaluate(const std::string &text, llvm::ArrayRef<Tensor> operands) {
    std::vector<Tensor> results = evaluateAll(text, operands);
    return results.empty() ? Tensor() : results.front();
  }

  /// The error of evaluating the first function of `text`, without its place.
  std::string getError(const std::string &text,
                       llvm::ArrayRef<Tensor> operands) {
    mlir::func::FuncOp function = parse(text);
    if (!function)
      return "does not parse";
    llvm::Expected<Kernel> kernel = Kernel::prepare(function);
    if (!kernel)
      return getMessage(kernel.takeError());
    llvm::Expected<std::vector<Tensor>> results = kernel->evaluate(operands);
    return results ? "success" : getMessage(results.takeError());
  }

  static std::string getMessage(llvm::Error error) {
    std::string message = "success";
    llvm::handleAllErrors(
        std::move(error),
        [&](const Fault &fault) { message = fault.getMessage(); },
        [&](const llvm::ErrorInfoBase &other) { message = other.message(); });
    return message;
  }

  /// Launches the first function of `text`; returns the error, or "success".
  std::string launch(const std::string &text, const Grid &grid,
                     llvm::ArrayRef<Argument> arguments, unsigned threads = 2) {
    mlir::func::FuncOp function = parse(text);
    if (!function)
      return "does not parse";
    llvm::Expected<Kernel> kernel = Kernel::prepare(function);
    if (!kernel)
      return getMessage(kernel.takeError());
    LaunchOptions options;
    options.threads = threads;
    return getMessage(kernel->launch(grid, arguments, options));
  }

  /// An array over `values`, which must stay where they are.
  template <typename T>
  static Buffer makeBuffer(std::vector<T> &values,
                           llvm::ArrayRef<int64_t> shape,
                           bool readOnly = false) {
    return Buffer::getContiguous(
        reinterpret_cast<uint8_t *>(values.data()),
        static_cast<int64_t>(values.size() * sizeof(T)), sizeof(T), shape,
        readOnly);
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace tile::reference

#endif // TILE_UNITTESTS_REFERENCE_FIXTURE_H
