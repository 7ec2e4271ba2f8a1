"""Compiles tile kernels and runs them, on a GPU, an emulator or a reference.

    import numpy as np
    import tile_compiler as tc

    kernel = tc.compile("nvfp4_linear.mlir", "sm_120a",
                        constants={"BM": 64, "BN": 64, "BK": 128})
    x, xs, gx = tc.quantize(activations, "nvfp4", two_level=True)
    y, ys, gy = tc.quantize(weights, "nvfp4", two_level=True)
    z = np.empty((m, n), np.float32)
    kernel((-(-m // 64), -(-n // 64)), z, x, y, xs, ys, gx * gy)

The arguments of a call are arrays of NumPy, with the types of ml_dtypes too, of
PyTorch, of anything with DLPack, and numbers. They are checked before anything runs;
what is wrong is raised as a `TileError`. Arrays in host memory are copied to a GPU and
back; those of a GPU are used in place. See docs/jit.md.
"""

from . import library
from ._compile import compile
from ._errors import (
    Cancelled,
    DriverError,
    Fault,
    InvalidArgument,
    InvalidKernel,
    IoError,
    NotFound,
    OutOfMemory,
    TileError,
    Unavailable,
)
from ._formats import dequantize, pack_fp4, quantize, unpack_fp4
from ._tile import (
    Buffer,
    Compiler,
    Device,
    Diagnostic,
    Event,
    Kernel,
    Multiply,
    Parameter,
    Remark,
    Resources,
    SourceLocation,
    Stream,
    TensorMap,
    best,
    cuda,
    emulator,
    kernel_names,
    kernel_text,
    reference,
    target_of_compute_capability,
    targets,
)
from ._tile import version as __version__
from .library import (
    mxfp4_linear,
    mxfp8_linear,
    nvfp4_linear,
    quantize_mxfp4,
    quantize_mxfp8,
    quantize_nvfp4,
    w4a16_linear,
)

__all__ = [
    "Buffer",
    "Cancelled",
    "Compiler",
    "Device",
    "Diagnostic",
    "DriverError",
    "Event",
    "Fault",
    "InvalidArgument",
    "InvalidKernel",
    "IoError",
    "Kernel",
    "Multiply",
    "NotFound",
    "OutOfMemory",
    "Parameter",
    "Remark",
    "Resources",
    "SourceLocation",
    "Stream",
    "TensorMap",
    "TileError",
    "Unavailable",
    "best",
    "compile",
    "cuda",
    "dequantize",
    "emulator",
    "kernel_names",
    "kernel_text",
    "library",
    "mxfp4_linear",
    "mxfp8_linear",
    "nvfp4_linear",
    "pack_fp4",
    "quantize",
    "quantize_mxfp4",
    "quantize_mxfp8",
    "quantize_nvfp4",
    "reference",
    "target_of_compute_capability",
    "targets",
    "unpack_fp4",
    "w4a16_linear",
]
