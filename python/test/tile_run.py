"""Runs kernels on the reference device, and computes what they should give.

The expected values come from NumPy and ml_dtypes, which share no code with the
interpreter: a second opinion on formats, rounding and sums.
"""

import os
import pathlib
import shutil
import subprocess

import ml_dtypes
import numpy as np

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent


def find_tool(name):
    """A tool of ours: in $TILE_BIN_DIR, on PATH, or in the default build."""
    if "TILE_BIN_DIR" in os.environ:
        return pathlib.Path(os.environ["TILE_BIN_DIR"]) / name
    return shutil.which(name) or SOURCE / "build" / "bin" / name


# MLIR's name of each element type, and the type that decodes its codes.
DTYPES = {
    "f4E2M1FN": np.dtype(ml_dtypes.float4_e2m1fn),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "f8E8M0FNU": np.dtype(ml_dtypes.float8_e8m0fnu),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
}


def code_dtype(kind):
    """The unsigned type of an element's code; one byte for an FP4 code."""
    return np.dtype(f"u{DTYPES[kind].itemsize}")


def decode(kind, codes):
    """The values of codes, in f64."""
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return np.ascontiguousarray(codes).view(DTYPES[kind]).astype(np.float64)


def hash_of(shape, salt):
    """Numbers that no swap of elements, rows or arrays leaves unchanged."""
    index = np.arange(np.prod(shape, dtype=np.int64), dtype=np.uint64)
    with np.errstate(over="ignore"):
        x = index * np.uint64(0x9E3779B97F4A7C15) + np.uint64(salt * 7919 + 13)
        x ^= x >> np.uint64(29)
        x *= np.uint64(0xBF58476D1CE4E5B9)
    return (x ^ x >> np.uint64(32)).reshape(shape)


def choose(shape, salt, choices):
    """One of `choices` for each element."""
    return np.asarray(choices)[(hash_of(shape, salt) % len(choices)).astype(np.int64)]


def pack(codes):
    """FP4 codes to bytes, the first of a pair in the low nibble."""
    return (codes[..., ::2] | codes[..., 1::2] << 4).astype(np.uint8)


def run(kernel, grid, arguments, folder, defines=(), check=True):
    """Runs a kernel, given as text or as the path of a file.

    An argument is a number, or ("in", array), ("inout", array, shape) and so on,
    where a shape passes the leading part of the array; ("out", "4x8xf32") makes a
    new one. Returns the arrays that were written, in order.
    """
    folder = pathlib.Path(folder)
    if not isinstance(kernel, pathlib.Path):
        text, kernel = kernel, folder / "kernel.mlir"
        kernel.write_text(text)
    command = [find_tool("tile-run"), kernel, "--device=reference"]
    command.append("--grid=" + ",".join(map(str, grid)))
    command += [f"-D{name}={value}" for name, value in dict(defines).items()]
    written = []
    for number, argument in enumerate(arguments):
        if not isinstance(argument, tuple):
            command.append(f"val:{argument}")
            continue
        path = folder / f"{number}.npy"
        suffix = ""
        if argument[0] == "out":
            suffix = f":{argument[1]}"
        else:
            np.save(path, argument[1])
            if len(argument) > 2:
                suffix = ":" + "x".join(map(str, argument[2]))
        if argument[0] != "in":
            written.append(path)
        command.append(f"{argument[0]}:{path}{suffix}")
    result = subprocess.run(command, capture_output=True, text=True)
    if not check:
        return result
    assert result.returncode == 0, result.stderr
    return [np.load(path) for path in written]


def surround(array, poison, margin=3):
    """A larger array that begins with `array` and is full of `poison` beyond."""
    larger = np.full([extent + margin for extent in array.shape], poison, array.dtype)
    larger[tuple(slice(extent) for extent in array.shape)] = array
    return larger
