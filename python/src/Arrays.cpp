//===- Arrays.cpp - Python objects as arguments of a launch ---------------===//

#include "Common.h"

#include <nanobind/ndarray.h>

#include <deque>
#include <mutex>

using namespace tile;
using namespace tile::python;
using runtime::ElementType;
using runtime::ErrorCode;
using runtime::MemoryPlace;
using runtime::TensorRef;

//===----------------------------------------------------------------------===//
// Keeping objects
//===----------------------------------------------------------------------===//

namespace {
/// Objects to let go. A thread of a stream never waits for the GIL: who waits
/// for the stream may hold it.
struct Released {
  std::mutex mutex;
  std::deque<PyObject *> objects;
};
} // namespace

static Released &getReleased() {
  static auto *released = new Released;
  return *released;
}

/// Lets go what other threads have left. With the GIL.
static int flushReleased(void *) {
  Released &released = getReleased();
  std::deque<PyObject *> objects;
  {
    std::lock_guard<std::mutex> lock(released.mutex);
    objects.swap(released.objects);
  }
  for (PyObject *object : objects)
    Py_DECREF(object);
  return 0;
}

std::shared_ptr<void> tile::python::keepAlive(nb::object object) {
  flushReleased(nullptr);
  return std::shared_ptr<void>(object.release().ptr(), [](void *pointer) {
    if (!Py_IsInitialized())
      return;
    if (PyGILState_Check()) {
      Py_DECREF(static_cast<PyObject *>(pointer));
      return;
    }
    Released &released = getReleased();
    {
      std::lock_guard<std::mutex> lock(released.mutex);
      released.objects.push_back(static_cast<PyObject *>(pointer));
    }
    // Where its queue is full, the next `keepAlive` does it.
    Py_AddPendingCall(flushReleased, nullptr);
  });
}

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

[[noreturn]] static void raiseInvalid(const std::string &message) {
  raise(ErrorCode::InvalidArgument, message);
}

static std::string getText(nb::handle object) {
  return nb::cast<std::string>(nb::str(object));
}

/// The element type of a name in a table of the package, where -1 stands for
/// FP4 with a byte per value.
static ElementType getElementType(nb::handle table, nb::handle dtype,
                                  const std::string &what) {
  PyObject *found = PyDict_GetItemWithError(table.ptr(), dtype.ptr());
  if (!found && PyErr_Occurred())
    throw nb::python_error();
  long type = found ? PyLong_AsLong(found) : -2;
  if (type == -1)
    raiseInvalid(what + " expects FP4 values in pairs, two in a byte, but got "
                        "one in a byte; pack_fp4 makes pairs");
  if (type < 0)
    raiseInvalid(what +
                 " expects elements of a type that kernels know, but "
                 "got " +
                 getText(dtype));
  return static_cast<ElementType>(type);
}

//===----------------------------------------------------------------------===//
// NumPy
//===----------------------------------------------------------------------===//

/// Reads a tuple of integers.
static std::vector<int64_t> getIntegers(nb::handle tuple) {
  std::vector<int64_t> values;
  values.reserve(nb::len(tuple));
  for (nb::handle value : nb::borrow<nb::tuple>(tuple))
    values.push_back(nb::cast<int64_t>(value));
  return values;
}

/// Checks strides, and gives dimensions that have no second element the stride
/// that they would have without gaps.
static void setStrides(TensorRef &array, std::vector<int64_t> strides,
                       const std::string &what) {
  std::vector<int64_t> contiguous = runtime::getContiguousStrides(array.shape);
  for (size_t i = 0; i < strides.size(); ++i) {
    if (array.shape[i] <= 1)
      strides[i] = contiguous[i];
    else if (strides[i] < 0)
      raiseInvalid(what + " expects strides that are not negative, but got " +
                   std::to_string(strides[i]) + " in dimension " +
                   std::to_string(i) +
                   "; numpy.ascontiguousarray makes a copy without");
  }
  array.strides = std::move(strides);
}

static TensorRef getNumpyArray(nb::handle object, const std::string &what) {
  TensorRef array;
  array.type = getElementType(getHelper("_dtypes", "NUMPY_TYPES"),
                              object.attr("dtype"), what);
  nb::dict interface(object.attr("__array_interface__"));
  nb::tuple data(interface["data"]);
  array.data = reinterpret_cast<void *>(nb::cast<uintptr_t>(data[0]));
  array.readOnly = nb::cast<bool>(data[1]);
  array.shape = getIntegers(interface["shape"]);
  nb::object strides = interface["strides"];
  if (strides.is_none()) {
    array.strides = runtime::getContiguousStrides(array.shape);
    return array;
  }
  std::vector<int64_t> values = getIntegers(strides);
  int64_t bytes = runtime::getElementBytes(array.type);
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] % bytes && array.shape[i] > 1)
      raiseInvalid(what + " expects strides of whole elements, but got " +
                   std::to_string(values[i]) + " bytes in dimension " +
                   std::to_string(i));
    values[i] /= bytes;
  }
  setStrides(array, std::move(values), what);
  return array;
}

//===----------------------------------------------------------------------===//
// PyTorch
//===----------------------------------------------------------------------===//

/// Whether an object is a tensor of PyTorch, without importing that.
static bool isTorchTensor(nb::handle object) {
  static auto *tensorType = new nb::object;
  if (!tensorType->is_valid()) {
    PyObject *modules = PyImport_GetModuleDict();
    PyObject *torch = PyDict_GetItemString(modules, "torch");
    if (!torch || !nb::hasattr(torch, "Tensor"))
      return false;
    *tensorType = nb::getattr(torch, "Tensor");
  }
  return PyObject_IsInstance(object.ptr(), tensorType->ptr()) == 1;
}

/// Its own interface, since its DLPack lacks the FP8 types and refuses tensors
/// that have a gradient.
static TensorRef getTorchTensor(nb::handle object, const std::string &what) {
  TensorRef array;
  nb::object dtype = object.attr("dtype");
  array.type =
      getElementType(getHelper("_dtypes", "TORCH_TYPES"), nb::str(dtype), what);
  array.data =
      reinterpret_cast<void *>(nb::cast<uintptr_t>(object.attr("data_ptr")()));
  array.shape = getIntegers(nb::tuple(object.attr("shape")));
  setStrides(array, getIntegers(object.attr("stride")()), what);
  nb::object device = object.attr("device");
  std::string kind = nb::cast<std::string>(device.attr("type"));
  if (kind == "cuda")
    array.place = {MemoryPlace::Kind::Cuda,
                   nb::cast<int>(device.attr("index"))};
  else if (kind != "cpu")
    raiseInvalid(what +
                 " expects an array in host or CUDA memory, but got one "
                 "on " +
                 getText(device));
  return array;
}

//===----------------------------------------------------------------------===//
// DLPack
//===----------------------------------------------------------------------===//

/// DLPack's types, in the order of preference for what the package exports.
static const std::vector<std::pair<ElementType, nb::dlpack::dtype>> &
getDlpackTypes() {
  using Code = nb::dlpack::dtype_code;
  auto make = [](Code code, uint8_t bits, uint16_t lanes = 1) {
    return nb::dlpack::dtype{static_cast<uint8_t>(code), bits, lanes};
  };
  static const std::vector<std::pair<ElementType, nb::dlpack::dtype>> types = {
      {ElementType::I1, make(Code::Bool, 8)},
      {ElementType::I8, make(Code::UInt, 8)},
      {ElementType::I8, make(Code::Int, 8)},
      {ElementType::I16, make(Code::Int, 16)},
      {ElementType::I16, make(Code::UInt, 16)},
      {ElementType::I32, make(Code::Int, 32)},
      {ElementType::I32, make(Code::UInt, 32)},
      {ElementType::I64, make(Code::Int, 64)},
      {ElementType::I64, make(Code::UInt, 64)},
      {ElementType::BF16, make(Code::Bfloat, 16)},
      {ElementType::F16, make(Code::Float, 16)},
      {ElementType::F32, make(Code::Float, 32)},
      {ElementType::F64, make(Code::Float, 64)},
      {ElementType::F8E4M3FN, make(Code::Float8_E4M3FN, 8)},
      {ElementType::F8E5M2, make(Code::Float8_E5M2, 8)},
      {ElementType::F8E8M0FNU, make(Code::Float8_E8M0FNU, 8)},
      {ElementType::F4E2M1FNx2, make(Code::Float4_E2M1FN, 4, 2)},
  };
  return types;
}

static ElementType getDlpackType(nb::dlpack::dtype type,
                                 const std::string &what) {
  for (const auto &[element, dlpack] : getDlpackTypes())
    if (dlpack == type)
      return element;
  raiseInvalid(what +
               " expects elements of a type that kernels know, but got "
               "DLPack's code " +
               std::to_string(type.code) + " with " +
               std::to_string(type.bits) + " bits and " +
               std::to_string(type.lanes) + " lanes");
}

nb::object tile::python::getDlpack(nb::handle owner, const TensorRef &array) {
  for (const auto &[element, dlpack] : getDlpackTypes()) {
    if (element != array.type)
      continue;
    std::vector<size_t> shape(array.shape.begin(), array.shape.end());
    bool isCuda = array.place.kind == MemoryPlace::Kind::Cuda;
    return nb::cast(nb::ndarray<nb::array_api>(
        array.data, shape.size(), shape.data(), owner, array.strides.data(),
        dlpack, isCuda ? nb::device::cuda::value : nb::device::cpu::value,
        array.place.ordinal));
  }
  raiseInvalid(std::string("DLPack has no type for ") +
               runtime::getElementTypeName(array.type));
}

/// What an object says when it is asked for its DLPack form in vain.
static std::string getDlpackFailure(nb::handle object) {
  try {
    object.attr("__dlpack__")();
  } catch (nb::python_error &error) {
    return nb::cast<std::string>(nb::str(error.value()));
  }
  return "one that is not understood";
}

/// The array of an object with DLPack or a buffer; `owner` then keeps it.
static std::optional<TensorRef>
getDlpackArray(nb::handle object, const std::string &what, nb::object &owner) {
  nb::ndarray<nb::ro> view;
  bool isReadOnly = false;
  if (nb::ndarray<> writable; nb::try_cast(object, writable)) {
    view = nb::ndarray<nb::ro>(writable);
  } else if (nb::try_cast(object, view)) {
    isReadOnly = true;
  } else {
    if (nb::hasattr(object, "__dlpack__"))
      raiseInvalid(what +
                   " expects an array that DLPack can describe, but got " +
                   getDlpackFailure(object));
    return std::nullopt;
  }

  TensorRef array;
  array.type = getDlpackType(view.dtype(), what);
  array.data = const_cast<void *>(static_cast<const void *>(view.data()));
  array.readOnly = isReadOnly;
  std::vector<int64_t> strides;
  for (size_t i = 0; i < view.ndim(); ++i) {
    array.shape.push_back(static_cast<int64_t>(view.shape(i)));
    strides.push_back(view.stride(i));
  }
  setStrides(array, std::move(strides), what);
  switch (view.device_type()) {
  case nb::device::cpu::value:
    break;
  case nb::device::cuda::value:
  case nb::device::cuda_managed::value:
    array.place = {MemoryPlace::Kind::Cuda, view.device_id()};
    break;
  case nb::device::cuda_host::value:
    break;
  default:
    raiseInvalid(what +
                 " expects an array in host or CUDA memory, but got "
                 "DLPack's device type " +
                 std::to_string(view.device_type()));
  }
  owner = nb::cast(view);
  return array;
}

std::optional<TensorRef> tile::python::getArray(nb::handle object,
                                                const std::string &what,
                                                nb::object &owner) {
  owner = nb::borrow(object);
  if (PyObject_IsInstance(object.ptr(),
                          getHelper("_dtypes", "ndarray").ptr()) == 1)
    return getNumpyArray(object, what);
  if (isTorchTensor(object))
    return getTorchTensor(object, what);
  if (nb::isinstance<runtime::Buffer>(object))
    return nb::cast<runtime::Buffer &>(object).getRef();
  return getDlpackArray(object, what, owner);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static runtime::Argument getInteger(nb::handle object,
                                    const std::string &what) {
  int overflow = 0;
  long long value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (!overflow) {
    if (value == -1 && PyErr_Occurred())
      throw nb::python_error();
    return runtime::Argument(static_cast<int64_t>(value));
  }
  unsigned long long large =
      overflow > 0 ? PyLong_AsUnsignedLongLong(object.ptr()) : 0;
  if (overflow < 0 || PyErr_Occurred()) {
    PyErr_Clear();
    raiseInvalid(what + " expects an integer of at most 64 bits, but got " +
                 getText(object));
  }
  return runtime::Argument(static_cast<uint64_t>(large));
}

/// A number, or nullopt.
static std::optional<runtime::Argument> getNumber(nb::handle object,
                                                  const std::string &what) {
  if (PyBool_Check(object.ptr()))
    return runtime::Argument(object.is(Py_True));
  if (PyFloat_Check(object.ptr()))
    return runtime::Argument(PyFloat_AS_DOUBLE(object.ptr()));
  if (PyLong_Check(object.ptr()))
    return getInteger(object, what);
  // NumPy's scalars, those of ml_dtypes among them.
  if (PyObject_IsInstance(object.ptr(),
                          getHelper("_dtypes", "generic").ptr()) != 1)
    return std::nullopt;
  if (PyObject_IsInstance(object.ptr(), getHelper("_dtypes", "bool_").ptr()) ==
      1)
    return runtime::Argument(PyObject_IsTrue(object.ptr()) == 1);
  if (PyIndex_Check(object.ptr()))
    return getInteger(nb::steal(PyNumber_Index(object.ptr())), what);
  nb::object value = nb::steal(PyNumber_Float(object.ptr()));
  if (!value.is_valid()) {
    PyErr_Clear();
    return std::nullopt;
  }
  return runtime::Argument(PyFloat_AS_DOUBLE(value.ptr()));
}

runtime::Argument tile::python::getArgument(nb::handle object,
                                            const std::string &what,
                                            bool isArray) {
  if (std::optional<runtime::Argument> number = getNumber(object, what))
    return *number;
  if (nb::isinstance<runtime::Buffer>(object))
    return runtime::Argument(nb::cast<runtime::Buffer &>(object));

  nb::object owner;
  std::optional<TensorRef> array = getArray(object, what, owner);
  if (!array)
    raiseInvalid(what +
                 (isArray ? " expects an array of NumPy, PyTorch or DLPack, or "
                            "a Buffer, but got "
                          : " expects an array or a number, but got ") +
                 nb::cast<std::string>(nb::type_name(object.type())));
  if (array->shape.empty() && !isArray &&
      array->place.kind == MemoryPlace::Kind::Host &&
      nb::hasattr(object, "item")) {
    // `[()]` of NumPy's keeps the type, so that an FP8 number is a number.
    nb::object item = nb::hasattr(object, "__array_interface__")
                          ? nb::object(object[nb::tuple()])
                          : object.attr("item")();
    if (std::optional<runtime::Argument> number = getNumber(item, what))
      return *number;
  }
  return runtime::Argument(*array, keepAlive(std::move(owner)));
}
