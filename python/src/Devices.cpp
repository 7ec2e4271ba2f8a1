//===- Devices.cpp - Devices, streams, events and buffers -----------------===//

#include "Common.h"

using namespace tile;
using namespace tile::python;
using runtime::Buffer;
using runtime::Device;
using runtime::ErrorCode;
using runtime::Event;
using runtime::MemoryPlace;
using runtime::Stream;

/// Waits for something, open to Ctrl-C. `function` owns what it needs.
static void wait(std::function<runtime::Status()> function) {
  auto status = std::make_shared<runtime::Status>();
  waitLong([=] { *status = function(); });
  take(std::move(*status));
}

/// Copies without the GIL.
static void copy(const std::function<runtime::Status()> &function) {
  runtime::Status status;
  {
    nb::gil_scoped_release release;
    status = function();
  }
  take(std::move(status));
}

Stream tile::python::getStream(nb::handle object,
                               const std::optional<Device> &device) {
  if (nb::isinstance<Stream>(object))
    return nb::cast<Stream>(object);

  uintptr_t address = 0;
  if (PyLong_Check(object.ptr()))
    address = nb::cast<uintptr_t>(object);
  else if (nb::hasattr(object, "cuda_stream"))
    address = nb::cast<uintptr_t>(object.attr("cuda_stream"));
  else if (nb::hasattr(object, "__cuda_stream__"))
    address =
        nb::cast<uintptr_t>(nb::tuple(object.attr("__cuda_stream__")())[1]);
  else
    raise(ErrorCode::InvalidArgument,
          "stream expects a Stream, a CUDA stream or its address, but got " +
              nb::cast<std::string>(nb::type_name(object.type())));
  if (!device)
    raise(ErrorCode::InvalidArgument,
          "stream expects the device of a CUDA stream to be known; give it or "
          "an array in its memory");
  return take(Stream::borrow(*device, reinterpret_cast<void *>(address)));
}

/// Checks that an array in host memory can be copied to a buffer or from it.
static void checkCopy(const Buffer &buffer, const runtime::TensorRef &array,
                      bool isWritten) {
  const runtime::TensorRef &ref = buffer.getRef();
  if (array.place.kind != MemoryPlace::Kind::Host || !array.isContiguous() ||
      array.shape != ref.shape ||
      runtime::getElementBytes(array.type) !=
          runtime::getElementBytes(ref.type) ||
      (isWritten && array.readOnly))
    raise(ErrorCode::InvalidArgument,
          "expects an array in host memory without gaps, as " + ref.str() +
              ", but got " + array.str());
}

void tile::python::bindDevices(nb::module_ &module) {
  nb::class_<Device>(module, "Device",
                     "Where kernels run: see cuda, emulator, reference, best.")
      .def_prop_ro(
          "kind",
          [](const Device &self) {
            switch (self.getKind()) {
            case Device::Kind::Reference:
              return "reference";
            case Device::Kind::Emulator:
              return "emulator";
            case Device::Kind::Cuda:
              return "cuda";
            }
            return "";
          },
          "\"reference\", \"emulator\" or \"cuda\".")
      .def_prop_ro("name", &Device::getName)
      .def_prop_ro("target", &Device::getTarget,
                   "The target that kernels are compiled for, or \"\".")
      .def(
          "synchronize",
          [](const Device &self) {
            wait([self] { return self.synchronize(); });
          },
          "Waits for everything that was given to the device.")
      .def("__eq__", [](const Device &self,
                        const Device &other) { return self == other; })
      .def("__eq__", [](const Device &, nb::handle) { return false; })
      .def("__hash__",
           [](const Device &self) {
             return std::hash<const void *>()(self.getImpl().get());
           })
      .def("__repr__", [](const Device &self) {
        return "<tile_compiler.Device " + self.getName() + ">";
      });

  module.def(
      "cuda", [](int ordinal) { return take(Device::cuda(ordinal)); },
      nb::arg("ordinal") = 0,
      "The GPU with this ordinal, in its primary context, which PyTorch uses "
      "too.");
  module.def(
      "emulator",
      [](const std::string &target) { return take(Device::emulator(target)); },
      nb::arg("target") = "",
      "The emulator of PTX, which checks every access. `target` is what "
      "kernels "
      "are compiled for that leave it open.");
  module.def("reference", &Device::reference,
             "The interpreter of kernels: their definition, without PTX.");
  module.def("best", &Device::best,
             "The first GPU that can be used, else the reference.");

  nb::class_<Event>(module, "Event", "A moment in a stream.")
      .def(
          "synchronize",
          [](const Event &self) {
            wait([self] { return self.synchronize(); });
          },
          "Waits for it; raises the error of the work before it.")
      .def_prop_ro(
          "is_complete",
          [](const Event &self) { return take(self.isComplete()); },
          "Whether it has come, without waiting.")
      .def(
          "elapsed_ms",
          [](const Event &self, const Event &start) {
            return take(self.getElapsedMs(start));
          },
          nb::arg("start"), "Milliseconds from `start` to this event.");

  nb::class_<Stream>(module, "Stream",
                     "Work of one device, done in the order in which it was "
                     "given.")
      .def(
          "__init__",
          [](Stream *self, const Device &device) {
            new (self) Stream(take(Stream::create(device)));
          },
          nb::arg("device"))
      .def_static(
          "borrow",
          [](const Device &device, nb::handle stream) {
            return getStream(stream, device);
          },
          nb::arg("device"), nb::arg("stream"),
          "A stream of the caller's: PyTorch's, or the address of any CUDA "
          "stream.")
      .def_prop_ro("device", &Stream::getDevice)
      .def_prop_ro(
          "native_handle",
          [](const Stream &self) {
            return reinterpret_cast<uintptr_t>(self.getNativeHandle());
          },
          "The address of the CUDA stream; 0 for other devices.")
      .def(
          "synchronize",
          [](const Stream &self) {
            wait([self] { return self.synchronize(); });
          },
          "Waits for everything given so far, and raises its first error.")
      .def(
          "record", [](const Stream &self) { return take(self.record()); },
          "Marks the present end of the stream.")
      .def(
          "wait",
          [](const Stream &self, const Event &event) {
            take(self.wait(event));
          },
          nb::arg("event"),
          "Makes what is given from now on wait for `event`.");

  nb::class_<Buffer>(module, "Buffer", "An array with memory on a device.")
      .def(
          "__init__",
          [](Buffer *self, const Device &device, nb::handle dtype,
             std::vector<int64_t> shape) {
            std::string name =
                nb::cast<std::string>(getHelper("_dtypes", "get_name")(dtype));
            new (self) Buffer(take(
                Buffer::allocate(device, take(runtime::findElementType(name)),
                                 std::move(shape))));
          },
          nb::arg("device"), nb::arg("dtype").none(), nb::arg("shape"),
          "Allocates an array; what it holds is not specified. `dtype` is a "
          "name of kernels, \"f32\", or a type of NumPy, ml_dtypes or PyTorch.")
      .def_prop_ro("dtype",
                   [](const Buffer &self) {
                     return runtime::getElementTypeName(self.getType());
                   })
      .def_prop_ro("shape",
                   [](const Buffer &self) {
                     return nb::tuple(nb::cast(self.getShape()));
                   })
      .def_prop_ro("nbytes", &Buffer::getNumBytes)
      .def_prop_ro(
          "address",
          [](const Buffer &self) {
            return reinterpret_cast<uintptr_t>(self.getData());
          },
          "Of the first element; of device memory for a GPU.")
      .def(
          "copy_from",
          [](Buffer &self, nb::handle array) {
            nb::object owner;
            auto source = getArray(array, "array", owner);
            if (!source)
              raise(ErrorCode::InvalidArgument, "expects an array to copy");
            checkCopy(self, *source, /*isWritten=*/false);
            copy([&] { return self.copyFromHost(source->data); });
          },
          nb::arg("array"), "Copies an array in host memory, and waits for it.")
      .def(
          "numpy",
          [](const Buffer &self) {
            nb::object array = getHelper("_dtypes", "empty")(
                runtime::getElementTypeName(self.getType()),
                nb::tuple(nb::cast(self.getShape())));
            nb::object owner;
            auto destination = getArray(array, "array", owner);
            checkCopy(self, *destination, /*isWritten=*/true);
            copy([&] { return self.copyToHost(destination->data); });
            return array;
          },
          "A copy as an array of NumPy's.")
      .def("__dlpack__",
           [](nb::handle_t<Buffer> self, const nb::kwargs &options) {
             return getDlpack(self, nb::cast<Buffer &>(self))
                 .attr("__dlpack__")(**options);
           })
      .def("__dlpack_device__",
           [](nb::handle_t<Buffer> self) {
             return getDlpack(self, nb::cast<Buffer &>(self))
                 .attr("__dlpack_device__")();
           })
      .def("__repr__", [](const Buffer &self) {
        return "<tile_compiler.Buffer " + self.getRef().str() + ">";
      });
}
