//===- Check.cpp - Arguments against parameters ---------------------------===//
//
// What every launch checks, whatever the device, before anything runs.
//
//===----------------------------------------------------------------------===//

#include "KernelImpl.h"
#include "tile/Formats/ElementFormat.h"
#include "tile/Formats/SymbolicExtent.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace tile;
using namespace tile::runtime;

/// The widest access in elements; no code gains from more.
static constexpr int64_t kMaxDivisor = 16;

static Error makeError(std::string message) {
  return Error(ErrorCode::InvalidArgument, std::move(message));
}

/// "1 argument", "3 arguments".
static std::string count(size_t number, const std::string &what) {
  return std::to_string(number) + ' ' + what + (number == 1 ? "" : "s");
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

static unsigned getBits(ElementType type) {
  return type == ElementType::I1 ? 1 : 8 * getElementBytes(type);
}

static std::string print(const Argument &argument) {
  if (const TensorRef *array = argument.getArray())
    return "an array " + array->str();
  if (const double *number = argument.getFloat())
    return "the float " + std::to_string(*number);
  const int64_t integer = *argument.getInteger();
  return "the integer " + (argument.isLargeInteger()
                               ? std::to_string(static_cast<uint64_t>(integer))
                               : std::to_string(integer));
}

/// The code of a scalar argument.
static Expected<uint64_t> checkScalar(const Parameter &parameter,
                                      const Argument &argument,
                                      const std::string &name) {
  const std::string typeName = getElementTypeName(parameter.type);
  const int64_t *integer = argument.getInteger();
  if (argument.getArray())
    return makeError(name + ": expects a scalar of type " + typeName +
                     ", but got " + print(argument));
  if (std::optional<ElementFormat> format = findFormat(typeName)) {
    double number;
    if (!integer)
      number = *argument.getFloat();
    else if (argument.isLargeInteger())
      number = static_cast<double>(static_cast<uint64_t>(*integer));
    else
      number = static_cast<double>(*integer);
    return encode(*format, number, Rounding::NearestEven, /*saturate=*/false);
  }
  if (!integer)
    return makeError(name + ": expects an integer of type " + typeName +
                     ", but got " + print(argument));
  const unsigned bits = getBits(parameter.type);
  const auto code = static_cast<uint64_t>(*integer);
  if (bits == 64)
    return code;
  const bool fits =
      bits == 1 ? code <= 1
                : !argument.isLargeInteger() && (llvm::isIntN(bits, *integer) ||
                                                 llvm::isUIntN(bits, code));
  if (!fits)
    return makeError(name + ": expects an integer of type " + typeName +
                     ", but got " + print(argument) + ", which has more than " +
                     count(bits, "bit"));
  return code & llvm::maskTrailingOnes<uint64_t>(bits);
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// Whether a kernel that takes elements of `wanted` takes an array of `given`.
static bool takes(ElementType wanted, ElementType given) {
  if (wanted == given)
    return true;
  switch (wanted) {
  case ElementType::F8E4M3FN:
  case ElementType::F8E5M2:
  case ElementType::F8E8M0FNU:
  case ElementType::F4E2M1FNx2:
    return given == ElementType::I8;
  case ElementType::BF16:
    return given == ElementType::I16;
  default:
    return false;
  }
}

static Status checkNumbers(const std::string &name, const char *what,
                           const std::vector<int64_t> &numbers,
                           const std::vector<int64_t> &divisors,
                           const char *promise) {
  for (size_t dim = 0; dim < numbers.size(); ++dim)
    if (numbers[dim] % divisors[dim] != 0)
      return makeError(name + ": expects " + what + ' ' + std::to_string(dim) +
                       " to be a multiple of " + std::to_string(divisors[dim]) +
                       " ('" + promise + "'), but got " +
                       std::to_string(numbers[dim]));
  return {};
}

static Status checkShape(const Parameter &parameter, const TensorRef &array,
                         const std::string &name) {
  const size_t rank = parameter.shape.size();
  if (array.shape.size() != rank || array.strides.size() != rank)
    return makeError(name + ": expects " + count(rank, "dimension") + " (" +
                     parameter.mlirType + "), but got " + array.str());
  for (size_t dim = 0; dim < rank; ++dim) {
    const int64_t extent = array.shape[dim], stride = array.strides[dim];
    if (extent < 0 || stride < 0)
      return makeError(name +
                       ": expects extents and strides that are not "
                       "negative, but got extent " +
                       std::to_string(extent) + " and stride " +
                       std::to_string(stride) + " in dimension " +
                       std::to_string(dim));
    const int64_t expected = parameter.shape[dim];
    if (expected == kDynamic || expected == extent)
      continue;
    std::string message = name + ": expects extent " + std::to_string(dim) +
                          " to be " + std::to_string(expected) + ", but got " +
                          std::to_string(extent);
    if (parameter.type == ElementType::F4E2M1FNx2 && extent == 2 * expected)
      message += "; an element of f4E2M1FNx2 holds two values";
    return makeError(message);
  }
  for (size_t dim = 0; dim < rank; ++dim) {
    // The stride of a dimension that has one index is never used.
    const int64_t expected = parameter.strides[dim];
    if (expected != kDynamic && array.strides[dim] != expected &&
        array.shape[dim] > 1) {
      std::string message = name + ": expects stride " + std::to_string(dim) +
                            " to be " + std::to_string(expected) +
                            ", but got " + std::to_string(array.strides[dim]);
      if (expected == 1)
        message += "; copy the array so that its rows are contiguous";
      return makeError(message);
    }
  }
  return {};
}

static Status checkPromises(const Parameter &parameter, const TensorRef &array,
                            const std::string &name) {
  if (Status status =
          checkNumbers(name, "extent", array.shape, parameter.shapeDivisors,
                       "tile.shape_divisible_by");
      !status)
    return status;
  return checkNumbers(name, "stride", array.strides, parameter.strideDivisors,
                      "tile.stride_divisible_by");
}

static Status checkArray(const Parameter &parameter, const TensorRef &array,
                         const std::string &name) {
  if (!takes(parameter.type, array.type))
    return makeError(name + ": expects elements of type " +
                     getElementTypeName(parameter.type) + ", but got " +
                     array.str());
  if (Status status = checkShape(parameter, array, name); !status)
    return status;
  if (parameter.isWritten && array.readOnly)
    return makeError(name +
                     ": the kernel writes this array, but it is read-only");
  const int64_t bytes = array.getSpanBytes();
  if (bytes < 0)
    return makeError(name + ": expects at most 2^63 - 1 bytes, but got " +
                     array.str());
  if (bytes == 0)
    return {};
  if (!array.data)
    return makeError(name + ": expects memory, but got a null pointer");
  const auto address = reinterpret_cast<uintptr_t>(array.data);
  if (address % 16 != 0)
    return makeError(name +
                     ": expects a base pointer aligned to 16 bytes, but "
                     "got one that is " +
                     count(address % 16, "byte") +
                     " past; copy the array to memory that is");
  return {};
}

/// Checks that an array is where the device can use it.
static Status checkPlace(const Parameter &parameter, const TensorRef &array,
                         const std::string &name, DeviceImpl &device,
                         const LaunchOptions &options) {
  const MemoryPlace place = device.getPlace();
  if (array.place == place)
    return device.checkArray(array, name);
  if (array.place.kind == MemoryPlace::Kind::Host && options.copyHostArrays)
    return {};
  std::string message = name + ": expects " + place.str() + " on " +
                        device.getName() + ", but got " + array.place.str();
  if (array.place.kind == MemoryPlace::Kind::Host)
    message += "; use a Buffer of the device, or copyHostArrays";
  return makeError(message);
}

Expected<std::vector<CheckedArgument>>
KernelImpl::check(const std::vector<Argument> &arguments, DeviceImpl *device,
                  const LaunchOptions &options) const {
  if (device && device->getKind() == Device::Kind::Emulator &&
      !device->getTarget().empty() && device->getTarget() != description.target)
    return makeError("kernel '" + description.entry + "' is compiled for " +
                     description.target + ", but the device is " +
                     device->getName());
  const std::vector<Parameter> &parameters = description.parameters;
  if (arguments.size() != parameters.size())
    return makeError("kernel '" + description.entry + "' expects " +
                     count(parameters.size(), "argument") + ", but got " +
                     std::to_string(arguments.size()));
  std::vector<CheckedArgument> checked(arguments.size());
  std::vector<ArrayExtents> extents;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Parameter &parameter = parameters[i];
    const Argument &argument = arguments[i];
    const std::string &name = argumentNames[i];
    if (!parameter.isArray) {
      Expected<uint64_t> code = checkScalar(parameter, argument, name);
      if (!code)
        return std::move(code).error();
      checked[i].code = *code;
      continue;
    }
    const TensorRef *array = argument.getArray();
    if (!array)
      return makeError(name + ": expects an array (" + parameter.mlirType +
                       "), but got " + print(argument));
    if (Status status = checkArray(parameter, *array, name); !status)
      return std::move(status).error();
    if (device)
      if (Status status = checkPlace(parameter, *array, name, *device, options);
          !status)
        return std::move(status).error();
    if (!extentRules[i].empty())
      extents.push_back({name, extentRules[i], array->shape});
    checked[i].array = *array;
    checked[i].memory = argument.getMemory();
  }
  // What belongs together first: a layer's wrong extent breaks a promise too,
  // which says less.
  if (std::optional<std::string> message = checkExtents(extents))
    return makeError(std::move(*message));
  for (size_t i = 0; i < arguments.size(); ++i)
    if (checked[i].array)
      if (Status status =
              checkPromises(parameters[i], *checked[i].array, argumentNames[i]);
          !status)
        return std::move(status).error();
  return checked;
}

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

/// The largest power of two up to `kMaxDivisor` that divides `number`.
static int64_t getDivisor(int64_t number) {
  return number == 0 ? kMaxDivisor : std::min(kMaxDivisor, number & -number);
}

Divisors
KernelImpl::getDivisors(const std::vector<CheckedArgument> &arguments) const {
  Divisors divisors;
  if (!options.specialize)
    return divisors;
  bool gains = false;
  auto add = [&](int64_t known, int64_t promised, int64_t divisor) {
    const bool isNews = known == kDynamic && promised % divisor != 0;
    gains |= isNews;
    divisors.push_back(static_cast<uint8_t>(isNews ? divisor : 1));
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Parameter &parameter = description.parameters[i];
    if (!parameter.isArray)
      continue;
    const TensorRef &array = *arguments[i].array;
    for (size_t dim = 0; dim < array.shape.size(); ++dim) {
      int64_t divisor = getDivisor(array.shape[dim]);
      // Rows are cut in pieces along the dimension of stride 1; of the others
      // only whole tiles matter, and fewer variants are better.
      if (parameter.strides[dim] != 1 && divisor < kMaxDivisor)
        divisor = 1;
      add(parameter.shape[dim], parameter.shapeDivisors[dim], divisor);
    }
    for (size_t dim = 0; dim < array.strides.size(); ++dim)
      add(parameter.strides[dim], parameter.strideDivisors[dim],
          getDivisor(array.strides[dim]));
  }
  if (!gains)
    divisors.clear();
  return divisors;
}
