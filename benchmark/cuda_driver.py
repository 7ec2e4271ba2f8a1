"""What gpu.py needs of the CUDA driver, by ctypes: no toolkit, no other package."""

import ctypes
import statistics

# Attributes of a device and of a function, by their numbers in cuda.h.
MAJOR, MINOR, L2_BYTES = 75, 76, 38
MAX_DYNAMIC_SHARED = 8

CAPTURE_GLOBAL = 0

LIBRARY = "libcuda.so.1"


class CudaError(Exception):
    """A call of the driver has failed, or there is no driver."""


class Driver:
    """The first GPU, in its primary context, which PyTorch uses too."""

    def __init__(self):
        try:
            self.library = ctypes.CDLL(LIBRARY)
        except OSError as error:
            raise CudaError(f"no CUDA driver: {error}") from None
        self.call("cuInit", 0)
        self.device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(self.device), 0)
        self.context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), self.device)
        self.call("cuCtxSetCurrent", self.context)
        self.stream = ctypes.c_void_p()
        # One that waits for copies and fills, which go by the default stream.
        self.call("cuStreamCreate", ctypes.byref(self.stream), 0)

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self.library.cuGetErrorString(status, ctypes.byref(text))
            reason = text.value.decode() if text.value else str(status)
            raise CudaError(f"{name}: {reason}")

    @property
    def name(self):
        text = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", text, 256, self.device)
        return text.value.decode()

    def attribute(self, number):
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), number, self.device)
        return value.value

    def upload(self, array):
        """A device array with the bytes of a NumPy array; returns its address."""
        address = self.allocate(array.nbytes)
        self.call(
            "cuMemcpyHtoD_v2",
            ctypes.c_uint64(address),
            ctypes.c_void_p(array.ctypes.data),
            ctypes.c_size_t(array.nbytes),
        )
        return address

    def allocate(self, size):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address.value

    def free(self, address):
        self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def fill(self, address, byte, size):
        self.call(
            "cuMemsetD8_v2",
            ctypes.c_uint64(address),
            ctypes.c_ubyte(byte),
            ctypes.c_size_t(size),
        )

    def download(self, address, array):
        """Copies to a NumPy array."""
        self.call(
            "cuMemcpyDtoH_v2",
            ctypes.c_void_p(array.ctypes.data),
            ctypes.c_uint64(address),
            ctypes.c_size_t(array.nbytes),
        )

    def load(self, image, entry, shared):
        """A function of a cubin, given as bytes."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), image)
        self.call("cuModuleGetFunction", ctypes.byref(function), module, entry.encode())
        # Above 48 KiB a function must ask.
        self.call("cuFuncSetAttribute", function, MAX_DYNAMIC_SHARED, shared)
        return function

    def launch(self, function, grid, threads, shared, arguments):
        """Launches with ctypes values as arguments."""
        pointers = (ctypes.c_void_p * len(arguments))(
            *(ctypes.addressof(argument) for argument in arguments)
        )
        self.call(
            "cuLaunchKernel",
            function,
            *(*grid, 1),
            *(threads, 1, 1),
            shared,
            self.stream,
            pointers,
            None,
        )

    def synchronize(self):
        self.call("cuStreamSynchronize", self.stream)

    def time(self, launches, batches):
        """Median seconds of one of `launches`, functions without arguments.

        They run as one graph, so that the time it takes to launch from Python
        does not count; the first two runs of it are not timed.
        """
        graph, executable = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuStreamBeginCapture_v2", self.stream, CAPTURE_GLOBAL)
        for launch in launches:
            launch()
        self.call("cuStreamEndCapture", self.stream, ctypes.byref(graph))
        self.call(
            "cuGraphInstantiateWithFlags",
            ctypes.byref(executable),
            graph,
            ctypes.c_uint64(0),
        )
        start, stop = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuEventCreate", ctypes.byref(start), 0)
        self.call("cuEventCreate", ctypes.byref(stop), 0)
        seconds = []
        for batch in range(batches + 2):
            self.call("cuEventRecord", start, self.stream)
            self.call("cuGraphLaunch", executable, self.stream)
            self.call("cuEventRecord", stop, self.stream)
            self.synchronize()
            elapsed = ctypes.c_float()
            self.call("cuEventElapsedTime", ctypes.byref(elapsed), start, stop)
            if batch >= 2:
                seconds.append(1e-3 * elapsed.value / len(launches))
        self.call("cuGraphExecDestroy", executable)
        self.call("cuGraphDestroy", graph)
        return statistics.median(seconds)
