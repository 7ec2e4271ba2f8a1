"""Which types of NumPy, ml_dtypes and PyTorch stand for which of kernels."""

import importlib
from typing import Any

import numpy as np
from numpy import bool_, generic, ndarray  # noqa: F401: used by _tile

from ._errors import InvalidArgument

ml_dtypes: Any
try:
    ml_dtypes = importlib.import_module("ml_dtypes")
except ImportError:  # FP8 and bf16 then travel as integers
    ml_dtypes = None

# The values of tile::runtime::ElementType.
I1, I8, I16, I32, I64 = range(5)
BF16, F16, F32, F64, F8E4M3FN, F8E5M2, F8E8M0FNU, F4E2M1FNX2 = range(6, 14)
UNPACKED_FP4 = -1  # a byte per value, which no kernel takes

# Integers of kernels have no sign.
NUMPY_TYPES = {
    np.dtype(np.bool_): I1,
    np.dtype(np.int8): I8,
    np.dtype(np.uint8): I8,
    np.dtype(np.int16): I16,
    np.dtype(np.uint16): I16,
    np.dtype(np.int32): I32,
    np.dtype(np.uint32): I32,
    np.dtype(np.int64): I64,
    np.dtype(np.uint64): I64,
    np.dtype(np.float16): F16,
    np.dtype(np.float32): F32,
    np.dtype(np.float64): F64,
}
if ml_dtypes:
    for _name, _type in {
        "bfloat16": BF16,
        "float8_e4m3fn": F8E4M3FN,
        "float8_e5m2": F8E5M2,
        "float8_e8m0fnu": F8E8M0FNU,
        "float4_e2m1fn": UNPACKED_FP4,
    }.items():
        if hasattr(ml_dtypes, _name):
            NUMPY_TYPES[np.dtype(getattr(ml_dtypes, _name))] = _type

TORCH_TYPES = {
    "torch.bool": I1,
    "torch.int8": I8,
    "torch.uint8": I8,
    "torch.int16": I16,
    "torch.uint16": I16,
    "torch.int32": I32,
    "torch.uint32": I32,
    "torch.int64": I64,
    "torch.uint64": I64,
    "torch.bfloat16": BF16,
    "torch.float16": F16,
    "torch.float32": F32,
    "torch.float64": F64,
    "torch.float8_e4m3fn": F8E4M3FN,
    "torch.float8_e5m2": F8E5M2,
    "torch.float8_e8m0fnu": F8E8M0FNU,
    "torch.float4_e2m1fn_x2": F4E2M1FNX2,
}

# For arrays that the package makes. The codes of small floats are bytes: their
# users view them as what their other libraries know.
NUMPY_NAMES = {
    "i1": "bool",
    "i8": "uint8",
    "i16": "int16",
    "i32": "int32",
    "i64": "int64",
    "f16": "float16",
    "f32": "float32",
    "f64": "float64",
    "f8E4M3FN": "uint8",
    "f8E5M2": "uint8",
    "f8E8M0FNU": "uint8",
    "f4E2M1FNx2": "uint8",
}


_NAMES = {
    I1: "i1",
    I8: "i8",
    I16: "i16",
    I32: "i32",
    I64: "i64",
    BF16: "bf16",
    F16: "f16",
    F32: "f32",
    F64: "f64",
    F8E4M3FN: "f8E4M3FN",
    F8E5M2: "f8E5M2",
    F8E8M0FNU: "f8E8M0FNU",
    F4E2M1FNX2: "f4E2M1FNx2",
}


def get_name(dtype):
    """Returns the name in kernels of a type of elements.

    It may be that name, a type of NumPy, ml_dtypes or PyTorch, or what that prints. A
    string that is none of these is returned as it is.
    """
    if isinstance(dtype, str):  # but not NumPy's "i8", which has 8 bytes
        names = {str(key): value for key, value in NUMPY_TYPES.items()}
        number = {**names, **TORCH_TYPES}.get(dtype)
        return _NAMES.get(number, dtype)
    number = TORCH_TYPES.get(str(dtype))
    if number is None and dtype is not None:
        try:
            number = NUMPY_TYPES.get(np.dtype(dtype))
        except TypeError:
            pass
    if number in _NAMES:
        return _NAMES[number]
    raise InvalidArgument(
        f"expects a type of elements, such as 'f32' or numpy.float32, but got {dtype!r}"
    )


def empty(name, shape):
    """Returns a NumPy array for elements of a type of kernels."""
    if name == "bf16":
        return np.empty(shape, ml_dtypes.bfloat16 if ml_dtypes else np.uint16)
    return np.empty(shape, NUMPY_NAMES[name])


def empty_like(array, name, shape):
    """Returns an array of the library that ``array`` is from, on its device."""
    if is_torch(array):
        import torch

        torch_name = "bfloat16" if name == "bf16" else NUMPY_NAMES[name]
        return torch.empty(shape, dtype=getattr(torch, torch_name), device=array.device)
    return empty(name, shape)


def is_torch(array):
    return type(array).__module__.partition(".")[0] == "torch"


def get_type(array):
    """Returns the number of an array's element type, or None."""
    if is_torch(array):
        return TORCH_TYPES.get(str(array.dtype))
    dtype = getattr(array, "dtype", None)
    try:
        return NUMPY_TYPES.get(np.dtype(dtype)) if dtype is not None else None
    except TypeError:
        return None
