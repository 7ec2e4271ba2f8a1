"""Runs kernels of PTX files with ptx-run and compares arrays with NumPy.

A test is a script of functions whose names start with `test_`:

    from check import *

    def test_add():
        a, b = floats(1, 1000), floats(2, 1000)
        (c,) = run("cuda/elementwise.sm_80.ptx", "vector_add", 4, 256,
                   a, b, out(1000, "f4"), i32(1000))
        equal(c, a + b)

    main()

Arguments of a kernel are NumPy arrays (read by the kernel), `out(…)` and
`inout(…)` (handed back, in order), tensor maps of these (`Tensor`), and numbers
with their type.

By hand: PYTHONPATH=test/Emulator/Inputs python3 TEST [NAME…], with ptx-run on
PATH; TILE_PTX_RUN_OPTIONS holds further options for ptx-run.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import traceback
from fractions import Fraction

import numpy as np

INPUTS = pathlib.Path(__file__).resolve().parent

# ---------------------------------------------------------------------------
# Arguments
# ---------------------------------------------------------------------------


class Output:
    """An array that the kernel must fill."""

    def __init__(self, shape, dtype):
        self.shape = shape if isinstance(shape, tuple) else (shape,)
        self.dtype = np.dtype(dtype)


class InOut:
    """An array that the kernel reads and changes."""

    def __init__(self, array):
        self.array = np.ascontiguousarray(array)


class Tensor:
    """An array of which the kernel gets a tensor map; `options` as ptx-run's."""

    def __init__(self, array, **options):
        self.array, self.options = array, options


class Number(str):
    """A scalar, as ptx-run spells it."""


class Bytes(bytes):
    """A parameter that is a struct."""


out, inout = Output, InOut
NULL = Number("null")


def i32(value):
    return Number(f"val:i32:{int(value)}")


def f32(value):
    return Number(f"val:f32:0x{int(np.float32(value).view(np.uint32)):08x}")


# Unsigned arrays are written as signed ones, but for bytes.
TYPES = {
    "f8": "f64", "f4": "f32", "f2": "f16", "i8": "i64", "i4": "i32", "i2": "i16",
    "i1": "i8", "u8": "i64", "u4": "i32", "u2": "i16", "u1": "u8",
}  # fmt: skip

# ---------------------------------------------------------------------------
# Runs
# ---------------------------------------------------------------------------


def start(ptx, entry, grid, block, args, shared, options, folder):
    """Runs the emulator; returns the finished process and the outputs' files.

    "FILE as TARGET" is a file with another target than it was compiled for.
    """
    name, _, target = ptx.partition(" as ")
    kernel = INPUTS / name
    if target:
        text = kernel.read_text()
        kernel = folder / "kernel.ptx"
        kernel.write_text(re.sub(r"(?m)^\.target sm_\w+", f".target {target}", text))
    command = ["ptx-run", str(kernel), f"--entry={entry}"]
    for name, value in (("grid", grid), ("block", block)):
        if value is not None:
            value = value if isinstance(value, tuple) else (value,)
            command.append(f"--{name}={','.join(map(str, value))}")
    if shared is not None:
        command.append(f"--shared={shared}")
    command += options
    command += os.environ.get("TILE_PTX_RUN_OPTIONS", "").split()
    results = []
    for number, arg in enumerate(args):
        path = folder / f"{number}.npy"
        before, behind = "", ""
        if isinstance(arg, Tensor):
            before = "tmap:"
            behind = ":" + ",".join(f"{k}={v}" for k, v in arg.options.items())
            arg = arg.array
        if isinstance(arg, Number):
            command.append(str(arg))
        elif isinstance(arg, Bytes):
            path.write_bytes(arg)
            command.append(f"bytes:{path}")
        elif isinstance(arg, Output):
            shape = "x".join(map(str, arg.shape))
            kind = TYPES[arg.dtype.str[1:]]
            command.append(f"{before}out:{path}:{shape}x{kind}{behind}")
            results.append((path, arg.dtype))
        elif isinstance(arg, InOut):
            np.save(path, arg.array)
            command.append(f"{before}inout:{path}{behind}")
            results.append((path, arg.array.dtype))
        else:
            np.save(path, np.ascontiguousarray(arg))
            command.append(f"{before}in:{path}{behind}")
    done = subprocess.run(command, capture_output=True, text=True)
    done.command = " ".join(command)
    return done, results


def run(ptx, entry, grid, block, *args, shared=None, options=(), text=False):
    """Runs a kernel that must succeed; returns its outputs.

    With `text`, what the kernel printed stands in front of them.
    """
    with tempfile.TemporaryDirectory() as folder:
        done, results = start(
            ptx, entry, grid, block, args, shared, options, pathlib.Path(folder)
        )
        if done.returncode:
            raise AssertionError(
                f"{done.command}\nexit status {done.returncode}\n{done.stdout}{done.stderr}"
            )
        arrays = [np.load(path).view(dtype) for path, dtype in results]
    return [done.stdout, *arrays] if text else arrays


def fail(ptx, entry, grid, block, *args, shared=None, options=()):
    """Runs a kernel that must not succeed; returns all that is printed."""
    with tempfile.TemporaryDirectory() as folder:
        done, _ = start(
            ptx, entry, grid, block, args, shared, options, pathlib.Path(folder)
        )
    if done.returncode <= 0:
        raise AssertionError(
            f"{done.command}\nexpected an error, got status {done.returncode}\n"
            f"{done.stdout}{done.stderr}"
        )
    return done.stdout + done.stderr


def descriptor(array, box, **options):
    """What a Triton kernel takes for a tensor descriptor of the host."""
    item = getattr(array, "array", array)
    strides = [1]
    for extent in item.shape[:0:-1]:
        strides.insert(0, strides[0] * extent)
    text = "x".join(map(str, box))
    return [
        Tensor(array, box=text, **options),
        *(i32(extent) for extent in item.shape),
        *(Number(f"val:i64:{stride}") for stride in strides),
    ]


def run_triton(ptx, grid, *args, options=()):
    """Runs a kernel of Triton: the head of the file says how it is launched."""
    head = (INPUTS / ptx).read_text()[:2000]
    entry = re.search(r"tile\.launch entry=(\w+)", head)[1]
    nulls = int(re.search(r"then (\d+) null pointers", head)[1])
    return run(ptx, entry, grid, None, *args, *[NULL] * nulls, options=options)


# ---------------------------------------------------------------------------
# Data: hashes of the index, so that no two rows, lanes or groups are alike
# ---------------------------------------------------------------------------


def hashes(seed, shape):
    """Numbers below 2^32 that depend on every bit of their position."""
    count = int(np.prod(shape))
    x = np.arange(count, dtype=np.uint64) * 0x9E3779B1 + np.uint64(
        seed * 0x85EBCA77 + 0x165667B1
    )
    x &= 0xFFFFFFFF
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (15, 0x27D4EB2F)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor) & np.uint64(0xFFFFFFFF)
    return (x ^ (x >> np.uint64(16))).astype(np.uint32).reshape(shape)


def integers(seed, shape, low, high, dtype="i4"):
    """Integers with low <= value < high."""
    return (hashes(seed, shape).astype(np.int64) % (high - low) + low).astype(dtype)


def floats(seed, shape, dtype="f4"):
    """Multiples of 1/8 from -32 to 32: sums of thousands are exact in f32."""
    return (integers(seed, shape, -256, 257) / 8).astype(dtype)


def normals(seed, shape, dtype="f4"):
    """About normally distributed."""
    parts = [hashes(seed * 12 + k, shape) / 2.0**32 for k in range(12)]
    return (np.sum(parts, axis=0) - 6).astype(dtype)


def any_floats(seed, shape, exponents, dtype="f4"):
    """Full significands with exponents in a range, both signs."""
    significand = 1 + (
        hashes(seed, shape) * 2.0**-32 + hashes(seed + 1, shape) * 2.0**-64
    )
    exponent = integers(seed + 2, shape, *exponents).astype("f8")
    sign = 1.0 - 2.0 * (hashes(seed + 3, shape) >> 31)
    return (sign * significand * np.exp2(exponent)).astype(dtype)


# ---------------------------------------------------------------------------
# Exact arithmetic
# ---------------------------------------------------------------------------


class Format:
    """A binary float format with infinities."""

    def __init__(self, precision, low, high):
        # Bits of the significand, exponents of the least and greatest normal.
        self.precision, self.low, self.high = precision, low, high

    def round(self, value, mode="rn"):
        """The nearest float of a Fraction that is not zero."""
        magnitude = abs(value)
        exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
        if Fraction(2) ** exponent > magnitude:
            exponent -= 1
        step = Fraction(2) ** (max(exponent, self.low) - self.precision + 1)
        units = magnitude // step
        rest = magnitude / step - units
        away = {
            "rn": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and units % 2),
            "rz": False,
            "ru": rest > 0 and value > 0,
            "rd": rest > 0 and value < 0,
        }[mode]
        magnitude = (units + bool(away)) * step
        largest = (2 - Fraction(2) ** (1 - self.precision)) * Fraction(2) ** self.high
        if magnitude > largest:
            finite = {"rn": False, "rz": True, "ru": value < 0, "rd": value > 0}[mode]
            result = float(largest) if finite else float("inf")
        else:
            result = float(magnitude)
        return -result if value < 0 else result


F16, BF16 = Format(11, -14, 15), Format(8, -126, 127)
F32, F64 = Format(24, -126, 127), Format(53, -1022, 1023)


def exactly(function, fmt, *arrays, mode="rn", dtype=None):
    """`function` of floats, by exact arithmetic on finite values.

    Where a value is not finite, or the result is zero or not defined, NumPy's
    own arithmetic on doubles, which rounds to nearest, decides.
    """
    results = []
    for values in zip(*(np.asarray(a).ravel() for a in arrays)):
        values = [np.float64(v) for v in values]
        with np.errstate(all="ignore"):
            plain = float(function(*values))
            result = plain
            if all(np.isfinite(values)):
                try:
                    exact = function(*map(Fraction, map(float, values)))
                except ZeroDivisionError:
                    exact = 0
                if exact != 0:
                    result = fmt.round(exact, mode)
        results.append(result)
    shape = np.asarray(arrays[0]).shape
    return np.array(results, dtype or np.asarray(arrays[0]).dtype).reshape(shape)


def wrap(value, bits=32):
    """A Python integer as a signed one of `bits` bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def quotient(a, b):
    """a / b towards zero."""
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def remainder(a, b):
    return a - quotient(a, b) * b


def per_element(function, *arrays, bits=32):
    """`function` of Python integers, element by element, wrapped."""
    flat = [[int(v) for v in np.asarray(a).ravel()] for a in arrays]
    dtype = {32: "i4", 64: "i8", 16: "i2"}[bits]
    return np.array([wrap(int(function(*v)), bits) for v in zip(*flat)], dtype)


# ---------------------------------------------------------------------------
# Narrow floats
# ---------------------------------------------------------------------------


def decode_table(exponent_bits, mantissa_bits, bias, special=None):
    """Values of all codes of a signed format; `special` is "nan" for a format
    whose largest code is NaN, "inf" for one with infinities."""
    bits = 1 + exponent_bits + mantissa_bits
    values = []
    for code in range(1 << bits):
        sign = -1.0 if code >> (bits - 1) else 1.0
        exponent = code >> mantissa_bits & ((1 << exponent_bits) - 1)
        mantissa = code & ((1 << mantissa_bits) - 1)
        top = exponent == (1 << exponent_bits) - 1
        if special == "nan" and top and mantissa == (1 << mantissa_bits) - 1:
            values.append(float("nan"))
        elif special == "inf" and top:
            values.append(sign * float("inf") if mantissa == 0 else float("nan"))
        elif exponent == 0:
            values.append(sign * mantissa * 2.0 ** (1 - bias - mantissa_bits))
        else:
            m = mantissa + (1 << mantissa_bits)
            values.append(sign * m * 2.0 ** (exponent - bias - mantissa_bits))
    return np.array(values)


E4M3 = decode_table(4, 3, 7, "nan")
E5M2 = decode_table(5, 2, 15, "inf")
E2M1 = decode_table(2, 1, 1)
E2M3 = decode_table(2, 3, 1)
E3M2 = decode_table(3, 2, 3)
E8M0 = np.array([2.0 ** (code - 127) for code in range(255)] + [float("nan")])


def encode(values, table, nan):
    """Codes: nearest, ties to the even code, saturated; `nan` for NaN."""
    half = len(table) // 2
    finite = np.array([v for v in table[:half] if np.isfinite(v)])
    codes = []
    for value in np.asarray(values, "f8").ravel():
        if np.isnan(value):
            codes.append(nan)
            continue
        distance = np.abs(finite - min(abs(value), finite[-1]))
        best = np.flatnonzero(distance == distance.min())
        code = int(best[0] if len(best) == 1 else next(c for c in best if c % 2 == 0))
        codes.append(code + half if np.signbit(value) else code)
    return np.array(codes, np.uint8)


def to_bf16(values):
    """bf16 patterns (uint16), rounded to nearest even."""
    bits = np.asarray(values, "f4").view("u4").astype(np.uint64)
    nan = np.isnan(np.asarray(values, "f4"))
    bits = (bits + 0x7FFF + (bits >> np.uint64(16) & np.uint64(1))) >> np.uint64(16)
    return np.where(nan, 0x7FFF, bits).astype("u2")


def from_bf16(patterns):
    return (np.asarray(patterns, "u2").astype("u4") << 16).view("f4")


def pack_fp4(codes):
    """Two codes per byte along the last dimension, the first in the low half."""
    codes = np.asarray(codes, np.uint8)
    return codes[..., 0::2] | codes[..., 1::2] << 4


# ---------------------------------------------------------------------------
# Comparison
# ---------------------------------------------------------------------------


def report(actual, expected, wrong, what, note=""):
    if not wrong.any():
        return
    places = np.argwhere(wrong)
    lines = [f"{what}: {len(places)} of {wrong.size} differ{note}"]
    for place in places[:5]:
        at = tuple(int(p) for p in place)
        lines.append(f"  at {at}: got {actual[at]!r}, expected {expected[at]!r}")
    raise AssertionError("\n".join(lines))


def equal(actual, expected, what="", zeros=True):
    """Bit by bit, but any NaN equals any other; without `zeros`, -0 equals 0."""
    expected = np.asarray(expected)
    actual = np.asarray(actual).reshape(expected.shape)
    assert actual.dtype == expected.dtype, f"{actual.dtype} and {expected.dtype}"
    wrong = actual != expected
    if expected.dtype.kind == "f":
        if zeros:
            wrong |= np.signbit(actual) != np.signbit(expected)
        wrong &= ~(np.isnan(actual) & np.isnan(expected))
    report(actual, expected, wrong, what)


def close(actual, expected, relative=0.0, absolute=0.0, what=""):
    """|actual - expected| <= absolute + relative * |expected|, in double.

    Infinities and NaN must be equal.
    """
    expected = np.asarray(expected, "f8")
    actual = np.asarray(actual).reshape(expected.shape)
    value = actual.astype("f8")
    with np.errstate(all="ignore"):
        right = np.abs(value - expected) <= absolute + relative * np.abs(expected)
        right |= (value == expected) | (np.isnan(value) & np.isnan(expected))
        right &= np.isfinite(value) == np.isfinite(expected)
    report(actual, expected, ~right, what, f" by more than {relative:g}, {absolute:g}")


def check_sums(exact, hardware, x, y, z, k, group, bits, what):
    """Products z + x y^T by multiplies of `k` values, in both ways to add.

    In f64, rounded once per multiply, there is one right result. The hardware
    aligns the terms of `group` products and the accumulator to the largest and
    cuts them to `bits` fractional bits, so each term may lose 2^-bits of it, and
    so may the sum. Both must not be the same everywhere.
    """
    sums, steps = z.astype("f8"), range(0, x.shape[1], k)
    for step in steps:
        part = x[:, step : step + k].astype("f8") @ y[:, step : step + k].T.astype("f8")
        sums = (sums + part).astype("f4").astype("f8")
    equal(exact, sums.astype("f4"), f"{what}, exact")
    largest = np.abs(x).astype("f8") @ np.abs(y).T.astype("f8") + np.abs(z)
    terms = len(steps) * (k // group) * (group + 2)
    error = np.abs(hardware - (x.astype("f8") @ y.T.astype("f8") + z))
    bound = terms * 2.0**-bits * largest
    report(hardware, exact, error > bound, f"{what}, hardware")
    assert (exact != hardware).any(), f"{what}: hardware adds as if exact"


HARDWARE = ["--accumulate=hardware"]


def main():
    """Runs the test functions of the calling script, or those that are named."""
    script = sys.modules["__main__"]
    tests = {n: f for n, f in vars(script).items() if n.startswith("test_")}
    failed = 0
    for name in sys.argv[1:] or tests:
        try:
            tests[name]()
        except Exception as error:
            failed += 1
            print(f"{name}:", file=sys.stderr)
            if isinstance(error, AssertionError):
                print(error, file=sys.stderr)
            else:
                traceback.print_exc()
    if failed:
        sys.exit(f"{failed} of {len(tests)} failed")
