"""The kernels that come with the compiler, as functions on arrays.

They compile for the shapes of their arguments, or take what was compiled before, and
allocate their result: an array of PyTorch where the first argument is one, on its
device, else of NumPy. Every function takes, by keyword,

device, stream, accumulate, progress   as a call of a `Kernel` does
compiler, target, num_warps, ...       as `compile` does
out                                    arrays for the result, instead of new ones

Without ``device`` they run on that of ``stream``, else on the GPU whose memory the
first argument is in, else on the reference. What runs in a stream must not be used
before the stream got there.

A type of elements, such as ``output``, is a name of kernels ("f32", "bf16") or a type
of NumPy, ml_dtypes or PyTorch (`np.float32`).

Codes and scales of small floats may have types of ml_dtypes or PyTorch, or be `uint8`.
"""

from __future__ import annotations

from typing import Any

from . import _dtypes, _tile
from ._compile import make_options
from ._errors import InvalidArgument

__all__ = [
    "dequantize",
    "linear_kernel",
    "mxfp4_linear",
    "mxfp8_linear",
    "nvfp4_linear",
    "quantize_kernel",
    "quantize_mxfp4",
    "quantize_mxfp8",
    "quantize_nvfp4",
    "w4a16_linear",
]

_LAUNCH = ("stream", "accumulate", "schedule_seed", "host_threads", "progress")
_NAMES = {
    _dtypes.BF16: "bf16",
    _dtypes.I16: "bf16",  # as bits
    _dtypes.F16: "f16",
    _dtypes.F32: "f32",
    _dtypes.F8E4M3FN: "f8E4M3FN",
    _dtypes.F8E5M2: "f8E5M2",
}


def _get_device(array):
    """Returns the device that an array lives on."""
    if _dtypes.is_torch(array):
        if array.device.type == "cuda":
            return _tile.cuda(array.device.index)
    elif hasattr(array, "__dlpack_device__"):
        kind, ordinal = array.__dlpack_device__()
        if int(kind) in (2, 13):  # kDLCUDA, kDLCUDAManaged
            return _tile.cuda(int(ordinal))
    return _tile.reference()


def _get_name(array, default):
    return _NAMES.get(_dtypes.get_type(array), default)


def _get_shape(array, what):
    shape = getattr(array, "shape", None)
    if shape is None or len(shape) != 2:
        found = type(array).__name__ if shape is None else f"shape {tuple(shape)}"
        raise InvalidArgument(
            f"{what} expects an array of 2 dimensions, but got {found}"
        )
    return tuple(int(extent) for extent in shape)


def _make(function, name, problem, options):
    compiler = options.pop("compiler", None) or _tile.Compiler.default()
    progress = options.pop("progress", None)
    made = make_options(options.pop("target", None), **options)
    return getattr(compiler, function)(name, problem, made, progress)


def linear_kernel(
    name: str,
    *,
    m: int,
    n: int,
    k: int,
    output: Any = "f32",
    alpha_per_column: bool = False,
    x: Any = "f8E4M3FN",
    y: Any = "f8E4M3FN",
    mx_scales: bool = False,
    **options: Any,
) -> tuple[_tile.Kernel, tuple[int, int, int]]:
    """Compiles a linear layer of the library; returns ``(kernel, grid)``.

    ``name`` is "nvfp4_linear", "mxfp4_linear", "mxfp8_linear" or "w4a16_linear". The
    kernel takes z, x, y, the scales and alpha, as the function of that name does.
    """
    problem = _tile.make_linear_problem(
        m=m,
        n=n,
        k=k,
        output=_dtypes.get_name(output),
        alpha_per_column=alpha_per_column,
        x=_dtypes.get_name(x),
        y=_dtypes.get_name(y),
        mx_scales=mx_scales,
    )
    return _make("_linear", name, problem, options)


def quantize_kernel(
    name: str,
    *,
    m: int,
    k: int,
    values: Any = "f32",
    codes: Any = "f8E4M3FN",
    format: str = "nvfp4",
    **options: Any,
) -> tuple[_tile.Kernel, tuple[int, int, int]]:
    """Compiles a quantiser of the library; returns ``(kernel, grid)``.

    ``name`` is "quantize_nvfp4", "quantize_mxfp4", "quantize_mxfp8" or "dequantize".
    """
    problem = _tile.make_quantize_problem(
        m=m,
        k=k,
        values=_dtypes.get_name(values),
        codes=_dtypes.get_name(codes),
        format=format,
    )
    return _make("_quantize", name, problem, options)


def _split(array, options):
    """Takes the arguments of the launch out of ``options``."""
    launch = {key: options.pop(key) for key in _LAUNCH if key in options}
    device = options.pop("device", None)
    if device is None and isinstance(launch.get("stream"), _tile.Stream):
        device = launch["stream"].device
    if device is None:
        device = _get_device(array)
    launch["device"] = device
    if "progress" in launch:
        options["progress"] = launch["progress"] is True
        if launch.get("stream") is not None:
            del launch["progress"]
    return launch, {**options, "device": device}


def _run_linear(name, x, y, scales, alpha, pairs, problem, output, out, options):
    (m, width), (n, _) = _get_shape(x, "x"), _get_shape(y, "y")
    launch, options = _split(x, options)
    kernel, grid = linear_kernel(
        name,
        m=m,
        n=n,
        k=2 * width if pairs else width,
        output=output,
        alpha_per_column=len(getattr(alpha, "shape", ())) > 0,
        **problem,
        **options,
    )
    if out is None:
        out = _dtypes.empty_like(x, _dtypes.get_name(output), (m, n))
    kernel(grid, out, x, y, *scales, alpha, **launch)
    return out


def nvfp4_linear(
    x: Any,
    y: Any,
    x_scales: Any,
    y_scales: Any,
    alpha: Any = 1.0,
    *,
    output: Any = "f32",
    out: Any = None,
    **options: Any,
) -> Any:
    """Returns alpha * x . y^T for NVFP4 operands.

    x [M, K/2] and y [N, K/2] are FP4 pairs, the scales E4M3 [., K/16]. ``alpha`` is a
    number, with the global scales in it, or an array of f32, one per column of the
    result. ``output`` is "f32", "bf16" or "f16".
    """
    return _run_linear(
        "nvfp4_linear",
        x,
        y,
        (x_scales, y_scales),
        alpha,
        True,
        {},
        output,
        out,
        options,
    )


def mxfp4_linear(
    x: Any,
    y: Any,
    x_scales: Any,
    y_scales: Any,
    alpha: Any = 1.0,
    *,
    output: Any = "f32",
    out: Any = None,
    **options: Any,
) -> Any:
    """Returns alpha * x . y^T for MXFP4 operands.

    x [M, K/2] and y [N, K/2] are FP4 pairs, the scales E8M0 [., K/32]; the rest is as
    for `nvfp4_linear`.
    """
    return _run_linear(
        "mxfp4_linear",
        x,
        y,
        (x_scales, y_scales),
        alpha,
        True,
        {},
        output,
        out,
        options,
    )


def mxfp8_linear(
    x: Any,
    y: Any,
    x_scales: Any,
    y_scales: Any,
    alpha: Any = 1.0,
    *,
    x_type: Any = None,
    y_type: Any = None,
    output: Any = "f32",
    out: Any = None,
    **options: Any,
) -> Any:
    """Returns alpha * x . y^T for MXFP8 operands.

    x [M, K] and y [N, K] are FP8, the scales E8M0 [., K/32]. ``x_type`` and ``y_type``
    are "f8E4M3FN" or "f8E5M2"; they follow from the arrays unless those are `uint8`,
    where they are "f8E4M3FN". The rest is as for `nvfp4_linear`.
    """
    problem = {
        "x": x_type or _get_name(x, "f8E4M3FN"),
        "y": y_type or _get_name(y, "f8E4M3FN"),
    }
    return _run_linear(
        "mxfp8_linear",
        x,
        y,
        (x_scales, y_scales),
        alpha,
        False,
        problem,
        output,
        out,
        options,
    )


def w4a16_linear(
    x: Any,
    y: Any,
    y_scales: Any,
    alpha: Any = 1.0,
    *,
    format: str = "nvfp4",
    output: Any = "f32",
    out: Any = None,
    **options: Any,
) -> Any:
    """Returns alpha * x . y^T for 16-bit x and FP4 weights y.

    x [M, K] is bf16 or f16, y [N, K/2] FP4 pairs. The scales are E4M3 [N, K/16] for
    ``format`` "nvfp4" and E8M0 [N, K/32] for "mxfp4". The rest is as for
    `nvfp4_linear`.
    """
    if format not in ("nvfp4", "mxfp4"):
        raise InvalidArgument(f"format expects nvfp4 or mxfp4, but got '{format}'")
    problem = {"x": _get_name(x, "bf16"), "mx_scales": format == "mxfp4"}
    return _run_linear(
        "w4a16_linear", x, y, (y_scales,), alpha, False, problem, output, out, options
    )


def _run_quantize(name, x, block, pairs, codes_type, scalars, out, options):
    m, k = _get_shape(x, "x")
    launch, options = _split(x, options)
    kernel, grid = quantize_kernel(
        name, m=m, k=k, values=_get_name(x, "f32"), codes=codes_type, **options
    )
    if out is None:
        codes = _dtypes.empty_like(x, "f8E4M3FN", (m, k // 2 if pairs else k))
        out = codes, _dtypes.empty_like(x, "f8E8M0FNU", (m, k // block))
    kernel(grid, *out, x, *scalars, **launch)
    return tuple(out)


def quantize_nvfp4(
    x: Any, global_scale: float = 1.0, *, out: Any = None, **options: Any
) -> tuple[Any, Any]:
    """Returns the codes, FP4 pairs, and E4M3 scales of x [M, K], both `uint8`.

    x is f32, bf16 or f16 and stands for code * scale * global_scale.
    """
    return _run_quantize(
        "quantize_nvfp4", x, 16, True, "f8E4M3FN", (global_scale,), out, options
    )


def quantize_mxfp4(x: Any, *, out: Any = None, **options: Any) -> tuple[Any, Any]:
    """Returns the codes, FP4 pairs, and E8M0 scales of x [M, K], both `uint8`."""
    return _run_quantize("quantize_mxfp4", x, 32, True, "f8E4M3FN", (), out, options)


def quantize_mxfp8(
    x: Any, *, codes_type: Any = "f8E4M3FN", out: Any = None, **options: Any
) -> tuple[Any, Any]:
    """Returns the FP8 codes and E8M0 scales of x [M, K], both `uint8`."""
    return _run_quantize("quantize_mxfp8", x, 32, False, codes_type, (), out, options)


def dequantize(
    codes: Any,
    scales: Any,
    format: str,
    global_scale: float = 1.0,
    *,
    codes_type: Any = None,
    output: Any = "f32",
    out: Any = None,
    **options: Any,
) -> Any:
    """Returns the values of codes and scales as f32, bf16 or f16."""
    m, width = _get_shape(codes, "codes")
    k = width if format == "mxfp8" else 2 * width
    launch, options = _split(codes, options)
    kernel, grid = quantize_kernel(
        "dequantize",
        m=m,
        k=k,
        values=output,
        codes=codes_type or _get_name(codes, "f8E4M3FN"),
        format=format,
        **options,
    )
    if out is None:
        out = _dtypes.empty_like(codes, _dtypes.get_name(output), (m, k))
    kernel(grid, out, codes, scales, global_scale, **launch)
    return out
