//===- Module.cpp - The Python module, and the formats --------------------===//

#include "Common.h"

using namespace tile;
using namespace tile::python;
using runtime::ElementType;
using runtime::ErrorCode;

/// The address of a matrix that the Python side has made contiguous.
static const void *getMatrix(nb::handle object, const char *what,
                             ElementType type, int64_t rows, int64_t columns,
                             nb::object &owner) {
  std::optional<runtime::TensorRef> array = getArray(object, what, owner);
  if (!array || array->type != type || !array->isContiguous() ||
      array->shape != std::vector<int64_t>{rows, columns})
    raise(ErrorCode::InvalidArgument,
          std::string(what) + " expects " +
              runtime::TensorRef(static_cast<void *>(nullptr), type,
                                 {rows, columns})
                  .str() +
              ", but got " + (array ? array->str() : "something else"));
  return array->data;
}

static nb::object makeBytes(const std::vector<uint8_t> &bytes) {
  return nb::bytes(bytes.data(), bytes.size());
}

static ElementType findType(const std::string &name) {
  return take(runtime::findElementType(name));
}

static runtime::ScaleRule findRule(const std::string &name) {
  if (name == "floor")
    return runtime::ScaleRule::Floor;
  if (name == "ceil")
    return runtime::ScaleRule::Ceil;
  if (name == "even")
    return runtime::ScaleRule::Even;
  raise(ErrorCode::InvalidArgument,
        "rule expects floor, ceil or even, but got '" + name + "'");
}

void tile::python::bindFormats(nb::module_ &module) {
  module.def("quantize", [](const std::string &format, nb::handle values,
                            int64_t rows, int64_t columns, bool twoLevel,
                            float globalScale, const std::string &rule,
                            const std::string &element) {
    nb::object owner;
    const auto *data = static_cast<const float *>(
        getMatrix(values, "values", ElementType::F32, rows, columns, owner));
    runtime::QuantizeOptions options;
    options.twoLevel = twoLevel;
    options.globalScale = globalScale;
    options.rule = findRule(rule);
    options.element = findType(element);
    runtime::QuantizedArray array = [&] {
      std::optional<runtime::Expected<runtime::QuantizedArray>> result;
      {
        nb::gil_scoped_release release;
        result.emplace(runtime::quantize(format, data, rows, columns, options));
      }
      return take(std::move(*result));
    }();
    return nb::make_tuple(makeBytes(array.codes), makeBytes(array.scales),
                          array.getCodeColumns(), array.getScaleColumns(),
                          array.globalScale);
  });
  module.def("describe_format", [](const std::string &format,
                                   const std::string &element,
                                   int64_t columns) {
    runtime::QuantizedArray array =
        take(runtime::describeFormat(format, findType(element)));
    array.columns = columns;
    return nb::make_tuple(array.getCodeColumns(), array.getScaleColumns());
  });
  module.def("dequantize", [](const std::string &format, nb::handle codes,
                              nb::handle scales, int64_t rows, int64_t columns,
                              float globalScale, const std::string &element) {
    runtime::QuantizedArray array =
        take(runtime::describeFormat(format, findType(element)));
    array.columns = columns;
    nb::object codesOwner, scalesOwner;
    const auto *codesData = static_cast<const uint8_t *>(
        getMatrix(codes, "codes", ElementType::I8, rows, array.getCodeColumns(),
                  codesOwner));
    const auto *scalesData = static_cast<const uint8_t *>(
        getMatrix(scales, "scales", ElementType::I8, rows,
                  array.getScaleColumns(), scalesOwner));
    std::optional<runtime::Expected<std::vector<float>>> result;
    {
      nb::gil_scoped_release release;
      result.emplace(runtime::dequantize(format, codesData, scalesData, rows,
                                         columns, globalScale,
                                         findType(element)));
    }
    std::vector<float> values = take(std::move(*result));
    return nb::bytes(values.data(), values.size() * sizeof(float));
  });
}

NB_MODULE(_tile, module) {
  initializeInterrupt();
  module.attr("version") = runtime::getVersion();
  module.def("targets", &runtime::getTargets,
             "Every target that there is, oldest first.");
  module.def(
      "target_of_compute_capability",
      [](int major, int minor) {
        return take(runtime::getTargetOfComputeCapability(major, minor));
      },
      nb::arg("major"), nb::arg("minor"),
      "The target for GPUs of a compute capability: (9, 0) is \"sm_90a\".");
  module.def("kernel_names", &runtime::KernelLibrary::getNames,
             "The kernels that come with the library.");
  module.def(
      "kernel_text",
      [](const std::string &name) {
        return take(runtime::KernelLibrary::getText(name));
      },
      nb::arg("name"), "The template of such a kernel.");
  bindDevices(module);
  bindKernels(module);
  bindFormats(module);
}
