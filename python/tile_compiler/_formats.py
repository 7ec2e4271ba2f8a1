"""Block-scaled formats on the host: codes and scales of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _dtypes, _tile
from ._errors import InvalidArgument


def _get_values(array):
    """Returns an array of f32 on the host."""
    if _dtypes.is_torch(array):
        array = array.detach().float().cpu().numpy()
    values = np.asarray(array)
    if values.dtype == np.uint16 and not _dtypes.ml_dtypes:
        raise InvalidArgument("bf16 values need ml_dtypes, which is not installed")
    return np.ascontiguousarray(values, dtype=np.float32).reshape(values.shape)


def _get_bytes(array):
    """Returns codes of one byte each as an array of uint8 on the host."""
    if _dtypes.is_torch(array):
        import torch

        array = array.detach().cpu().contiguous().view(torch.uint8).numpy()
    array = np.asarray(array)
    if _dtypes.NUMPY_TYPES.get(array.dtype) == _dtypes.UNPACKED_FP4:
        raise InvalidArgument(
            "expects FP4 values in pairs, two in a byte, but got one in a byte; "
            "pack_fp4 makes pairs"
        )
    if array.dtype.itemsize != 1:
        raise InvalidArgument(f"expects codes of one byte, but got {array.dtype}")
    return np.ascontiguousarray(array).view(np.uint8)


def quantize(
    array: Any,
    format: str,
    two_level: bool = False,
    *,
    global_scale: float = 1.0,
    rule: str = "floor",
    element: str = "f8E4M3FN",
) -> tuple[np.ndarray, np.ndarray, float]:
    """Quantises an array, on the host, in blocks along its last dimension.

    Returns ``(codes, scales, global_scale)`` with value = code * scale *
    global_scale. Both arrays are `uint8`, which kernels take as they are; view them
    as types of ml_dtypes to look at their values:

    format    codes                              scales            block
    "nvfp4"   pairs of float4_e2m1fn             float8_e4m3fn     16
    "mxfp4"   pairs of float4_e2m1fn             float8_e8m0fnu    32
    "mxfp8"   float8_e4m3fn (or float8_e5m2)     float8_e8m0fnu    32

    A pair has the value with the even index in the low half: `unpack_fp4` takes pairs
    apart. nvfp4 with ``two_level`` derives the global scale from the largest
    magnitude; else it is ``global_scale``. ``rule`` is how the MX formats choose the
    exponent of a scale, "floor", "ceil" or "even"; ``element`` is the code of mxfp8,
    "f8E4M3FN" or "f8E5M2".

    >>> codes, scales, global_scale = quantize([[1.0, -0.5] * 8], "nvfp4")
    >>> codes.shape, scales.shape, global_scale
    ((1, 8), (1, 1), 1.0)
    """
    values = _get_values(array)
    if values.ndim == 0:
        raise InvalidArgument("array expects at least one dimension, but got none")
    *outer, columns = values.shape
    rows = int(np.prod(outer, dtype=np.int64))
    codes, scales, code_columns, scale_columns, global_scale = _tile.quantize(
        format,
        values.reshape(rows, columns),
        rows,
        columns,
        two_level,
        global_scale,
        rule,
        element,
    )

    def shape(data, width):
        return np.frombuffer(data, np.uint8).reshape(*outer, width).copy()

    return shape(codes, code_columns), shape(scales, scale_columns), global_scale


def dequantize(
    codes: Any,
    scales: Any,
    format: str,
    global_scale: float = 1.0,
    *,
    columns: int | None = None,
    element: str | None = None,
) -> np.ndarray:
    """Returns the values of codes and scales, as `quantize` makes them, in float32.

    ``columns`` is the number of values of a row, where FP4 pairs hold an odd number.
    ``element`` is the code of mxfp8; it follows from the type of ``codes`` where that
    is one of ml_dtypes or PyTorch, and is "f8E4M3FN" otherwise.

    >>> dequantize(*quantize([[6.0, -0.5] * 8], "nvfp4")[:2], "nvfp4")[0, :2]
    array([ 6. , -0.5], dtype=float32)
    """
    if element is None:
        is_e5m2 = _dtypes.get_type(codes) == _dtypes.F8E5M2
        element = "f8E5M2" if is_e5m2 else "f8E4M3FN"
    codes, scales = _get_bytes(codes), _get_bytes(scales)
    if codes.ndim == 0:
        raise InvalidArgument("codes expects at least one dimension, but got none")
    *outer, width = codes.shape
    if columns is None:
        columns = width if format == "mxfp8" else 2 * width
    rows = int(np.prod(outer, dtype=np.int64))
    _, scale_columns = _tile.describe_format(format, element, columns)
    if scales.shape != (*outer, scale_columns):
        raise InvalidArgument(
            f"scales expects shape {(*outer, scale_columns)}, but got {scales.shape}"
        )
    data = _tile.dequantize(
        format,
        codes.reshape(rows, width),
        scales.reshape(rows, scale_columns),
        rows,
        columns,
        global_scale,
        element,
    )
    return np.frombuffer(data, np.float32).reshape(*outer, columns).copy()


def pack_fp4(values: Any) -> np.ndarray:
    """Packs FP4 values, one in a byte, into pairs of them.

    ``values`` is an array of ml_dtypes' float4_e2m1fn, or of `uint8` with the codes
    in the low halves. An odd last one gets 0 beside it.

    >>> import numpy as np
    >>> pack_fp4(np.array([1, 2, 3], np.uint8))
    array([33,  3], dtype=uint8)
    """
    values = np.asarray(values)
    if values.dtype.itemsize != 1:
        raise InvalidArgument(f"expects FP4 values in bytes, but got {values.dtype}")
    if values.ndim == 0:
        raise InvalidArgument("values expects at least one dimension, but got none")
    codes = np.ascontiguousarray(values).view(np.uint8) & 15
    if codes.shape[-1] % 2:
        codes = np.concatenate([codes, np.zeros_like(codes[..., :1])], axis=-1)
    return codes[..., 0::2] | codes[..., 1::2] << 4


def unpack_fp4(pairs: Any) -> np.ndarray:
    """Takes pairs of FP4 values apart: one in a byte.

    The result is an array of ml_dtypes' float4_e2m1fn, where that is installed, else
    of `uint8` with the codes in the low halves.

    >>> import numpy as np
    >>> [float(x) for x in unpack_fp4(np.array([0x21], np.uint8))]
    [0.5, 1.0]
    """
    pairs = _get_bytes(pairs)
    if pairs.ndim == 0:
        raise InvalidArgument("pairs expects at least one dimension, but got none")
    codes = np.stack([pairs & 15, pairs >> 4], axis=-1)
    codes = codes.reshape(*pairs.shape[:-1], 2 * pairs.shape[-1])
    if _dtypes.ml_dtypes and hasattr(_dtypes.ml_dtypes, "float4_e2m1fn"):
        return codes.view(_dtypes.ml_dtypes.float4_e2m1fn)
    return codes
