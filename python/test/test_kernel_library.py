"""Runs share/tile/kernels on the CPU devices and compares with NumPy.

Codes, scales and values are hashes of their position. Sums of linear layers are
exact, so that results must be equal; quantisers and `dequantize` round once, so
that every byte must be. The quantisers here round by tables of exact middles, and
get values that lie on middles and beside them.
"""

import pathlib
import subprocess

import linear
import ml_dtypes
import numpy as np
import pytest
from tile_run import DTYPES, choose, decode, find_tool, hash_of, pack

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
KERNELS = SOURCE / "share" / "tile" / "kernels"

# Both CPU devices; the emulator runs each way of multiplying.
DEVICES = ["reference", "sm_80", "sm_89", "sm_90a", "sm_120a"]


def ceildiv(a, b):
    return -(-a // b)


def largest_power(number, limit):
    """The largest power of two that divides a number, up to a limit."""
    return min(number & -number, limit)


def embed(array, rows, columns):
    """A larger array that begins with `array`; all other bits are set."""
    shape = (array.shape[0] + rows, array.shape[1] + columns)
    larger = np.empty(shape, array.dtype)
    larger.view(np.uint8)[:] = 0xFF
    larger[: array.shape[0], : array.shape[1]] = array
    return larger


def unwritten(expected, rows, columns):
    """A larger array for a result, with all bits set."""
    larger = embed(expected, rows, columns)
    larger.view(np.uint8)[:] = 0xFF
    return larger


def run(folder, kernel, device, grid, arguments, **constants):
    """Runs a kernel of the library. An argument is a number, ("in", array),
    ("inout", array) or one of these with the shape of the leading part. Returns
    what was written, in order."""
    command = [find_tool("tile-run"), KERNELS / f"{kernel}.mlir"]
    if device == "reference":
        command.append("--device=reference")
    else:
        command += ["--device=emulator", f"--target={device}"]
    command.append("--grid=" + ",".join(map(str, grid)))
    command += [f"-D{name}={value}" for name, value in constants.items()]
    written = []
    for number, argument in enumerate(arguments):
        if not isinstance(argument, tuple):
            command.append(f"val:{argument}")
            continue
        kind, array, *shape = argument
        path = folder / f"{number}.npy"
        np.save(path, array)
        suffix = ":" + "x".join(map(str, shape[0])) if shape else ""
        command.append(f"{kind}:{path}{suffix}")
        if kind != "in":
            written.append(path)
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return [np.load(path) for path in written]


def check_inside(written, expected):
    """The leading part is `expected`, bit for bit, and nothing else was written."""
    rows, columns = expected.shape
    inside = np.ascontiguousarray(written[:rows, :columns])
    np.testing.assert_array_equal(as_bits(inside), as_bits(expected))
    written[:rows, :columns].view(np.uint8)[:] = 0xFF
    assert np.all(written.view(np.uint8) == 0xFF), "wrote outside of the array"


def as_bits(array):
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


# Linear layers.

ALPHA = {
    "scalar": "{}",
    "column": '{tile.extents = ["N"]}',
}


def make_layer(kernel, x, mx):
    if kernel == "nvfp4_linear":
        return linear.Layer("f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16), {}
    if kernel == "mxfp4_linear":
        return linear.Layer("f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", 32), {}
    if kernel == "mxfp8_linear":
        y = "f8E5M2" if mx else "f8E4M3FN"
        return linear.Layer(x, y, "f8E8M0FNU", 32), {"X": x, "Y": y}
    scale, v = ("f8E8M0FNU", 32) if mx else ("f8E4M3FN", 16)
    constants = {"X": x, "SCALES": scale, "V": v}
    return linear.Layer(x, "f4E2M1FN", scale, v), constants


LAYERS = [
    ("nvfp4_linear", "", False),
    ("mxfp4_linear", "", False),
    ("mxfp8_linear", "f8E4M3FN", False),
    ("mxfp8_linear", "f8E5M2", True),
    ("w4a16_linear", "bf16", False),
    ("w4a16_linear", "f16", True),
]

# M, N, K, and the tile. What is odd promises nothing.
SHAPES = [
    ((1, 8, 64), (16, 16, 64)),
    ((7, 33, 96), (16, 32, 64)),
    ((16, 160, 480), (16, 64, 128)),
    ((100, 33, 1056), (64, 32, 128)),
    ((33, 72, 512), (32, 64, 128)),
]

# Every output with every form of alpha, in turn.
FORMS = [(out, alpha) for out in ("f32", "bf16", "f16") for alpha in ALPHA]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("layer", LAYERS, ids=lambda x: "-".join(map(str, x)))
def test_linear(tmp_path, device, layer):
    kernel = layer[0]
    types, constants = make_layer(*layer)
    for number, ((m, n, k), (bm, bn, bk)) in enumerate(SHAPES):
        out, alpha = FORMS[(number + DEVICES.index(device)) % len(FORMS)]
        data = linear.make_exact(types, m, n, k)
        if alpha == "scalar":
            factor = 0.375
            argument = factor
        else:
            factor = choose((n,), 9, [0.25, -0.5, 0.75, 2.0]).astype(np.float32)
            argument = ("in", embed(factor[None], 0, 8)[0], (n,))
        exact = (data.expected() * factor).astype(np.float32)
        expected = exact.astype(DTYPES[out])
        if out == "bf16":
            expected = expected.view(np.uint16)

        ka, na = largest_power(k, 256), largest_power(n, 8)
        arguments = [("inout", unwritten(expected, 3, 16), (m, n))]
        for name in ("x", "y", "sx", "sy"):
            codes = getattr(data, name)
            if codes is None:
                continue
            if getattr(types, name, "") == "f4E2M1FN":
                codes = pack(codes)
            elif getattr(types, name, "") == "f16":
                codes = codes.view(np.float16)
            arguments.append(("in", embed(codes, 2, ka), codes.shape))
        (written,) = run(
            tmp_path,
            kernel,
            device,
            (ceildiv(m, bm), ceildiv(n, bn)),
            [*arguments, argument],
            KA=ka,
            NA=na,
            BM=bm,
            BN=bn,
            BK=bk,
            OUT=out,
            ALPHA=alpha,
            ALPHA_ATTRIBUTES=ALPHA[alpha],
            **constants,
        )
        check_inside(written, expected)


# Quantisers.

FORMATS = {
    "nvfp4": ("f4E2M1FN", "f8E4M3FN", 16),
    "mxfp4": ("f4E2M1FN", "f8E8M0FNU", 32),
    "mxfp8-e4m3": ("f8E4M3FN", "f8E8M0FNU", 32),
    "mxfp8-e5m2": ("f8E5M2", "f8E8M0FNU", 32),
}
EMAX = {"f4E2M1FN": 2, "f8E4M3FN": 8, "f8E5M2": 15}


def encode(kind, numerators, denominator):
    """Codes of exact quotients, nearest, ties to even, clipped.

    Middles of codes times the denominator are exact in f64, and so is the
    comparison with a numerator of f32."""
    bits = 4 if kind == "f4E2M1FN" else 8
    codes = np.arange(1 << (bits - 1), dtype=np.uint8)
    values = decode(kind, codes)
    values = values[np.isfinite(values)]
    middles = (values[1:] + values[:-1]) / 2
    products = middles * denominator[..., None]
    magnitudes = abs(numerators)[..., None]
    above = magnitudes > products
    # A tie goes to the even code: up from an odd one.
    odd = np.arange(len(middles)) % 2 == 1
    code = (above | (magnitudes == products) & odd).sum(-1)
    sign = np.signbit(numerators).astype(np.uint8) << (bits - 1)
    return (code | sign).astype(np.uint8)


def quantize(name, x, global_scale=1.0):
    """Codes, one per byte, and scales of f32 values."""
    kind, scale_kind, v = FORMATS[name]
    m, k = x.shape
    blocks = x.astype(np.float64).reshape(m, k // v, v)
    largest = abs(blocks).max(-1)  # NaN where one is
    finite = np.isfinite(largest)
    largest = np.where(finite, largest, 1.0)
    g = np.float64(np.float32(global_scale))
    if scale_kind == "f8E4M3FN":
        scales = encode(scale_kind, largest, np.broadcast_to(6 * g, largest.shape))
        steps = decode(scale_kind, scales) * g
        nan = 0x7F
    else:
        _, exponent = np.frexp(np.maximum(largest, 2.0**-149))
        exponent = np.clip(exponent - 1 - EMAX[kind], -127, 127)
        scales = np.where(largest == 0, 0, exponent + 127).astype(np.uint8)
        steps = np.ldexp(1.0, scales.astype(int) - 127)
        nan = 0xFF
    dead = ~finite | (steps == 0)
    steps = np.where(dead, 1.0, steps)[..., None]
    live = np.where(dead[..., None], 0.0, blocks)
    codes = encode(kind, live, np.broadcast_to(steps, blocks.shape))
    scales = np.where(finite, scales, nan).astype(np.uint8)
    return codes.reshape(m, k), scales


def move(x, salt, units):
    """f32 values a few units in the last place up or down; 1 instead of what is
    not finite then."""
    bits = x.astype(np.float32).view(np.int32) + choose(x.shape, salt, units)
    moved = bits.astype(np.int32).view(np.float32)
    return np.where(np.isfinite(moved), moved, np.float32(1))


def make_values(name, m, k, kind, global_scale):
    """Values of all sizes, many of them on middles of codes or next to one, and
    blocks of zeros, of the largest values, with NaN and with infinities."""
    code_kind, scale_kind, v = FORMATS[name]
    groups = k // v
    g = np.float64(np.float32(global_scale))
    if scale_kind == "f8E4M3FN":
        scales = choose((m, groups), 1, range(1, 0x7F)).astype(np.uint8)
        scales = decode(scale_kind, scales)
    else:
        exponents = choose((m, groups), 1, range(-126, 120 - EMAX[code_kind]))
        scales = np.ldexp(1.0, exponents)
    bits = 4 if code_kind == "f4E2M1FN" else 8
    values = decode(code_kind, np.arange(1 << (bits - 1), dtype=np.uint8))
    values = values[np.isfinite(values)]
    middles = np.concatenate([(values[1:] + values[:-1]) / 2, values])
    factors = choose((m, groups, v), 2, middles)
    factors[..., 3] = values[-1]  # gives the block about its scale
    signs = choose((m, groups, v), 3, [1, -1])
    with np.errstate(over="ignore"):
        x = factors * scales[..., None] * g * signs
        x = move(x, 4, [0, 0, 0, 1, -1, 2, -3])
    # Largest values near the middles of scales.
    if scale_kind == "f8E4M3FN":
        codes = decode(scale_kind, np.arange(0x7F, dtype=np.uint8))
        near = choose((m, groups), 5, (codes[1:] + codes[:-1]) / 2) * 6 * g
        with np.errstate(over="ignore"):
            x[:, 1::2, 3] = move(near, 6, [0, 0, 1, -1])[:, 1::2]
    flat = x.reshape(m * groups, v)
    special = hash_of((m * groups,), 7) % np.uint64(23)
    flat[special == 0] = 0.0
    flat[special == 1, ::2] = -0.0
    flat[special == 2] = np.float32(3.4028235e38) * signs.reshape(flat.shape)[
        special == 2
    ].astype(np.float32)
    flat[special == 3, 5] = np.nan
    flat[special == 4, 6] = np.inf
    flat[special == 5, 7] = -np.inf
    flat[special == 6] = np.float32(1e-45)
    flat[special == 7] *= np.float32(1e-30)
    flat[special == 8, 2] = np.nan
    flat[special == 8, 9] = np.inf
    x = x.reshape(m, k)
    if kind != "f32":
        with np.errstate(over="ignore"):
            x = x.astype(DTYPES[kind])
    return x


def global_scales(name):
    if name != "nvfp4":
        return [None]
    return [1.0, 0.0123, 3.1e-41, 1e-45, 2.2e-20, 7.7e30, 3e38, 5.3e-5]


@pytest.mark.parametrize("kind", ["f32", "bf16", "f16"])
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", FORMATS)
def test_quantize(tmp_path, name, device, kind):
    code_kind, _, v = FORMATS[name]
    pairs = code_kind == "f4E2M1FN"
    constants = {}
    if not pairs:
        constants = {"CODES": code_kind, "EMAX": EMAX[code_kind]}
    shapes = [((7, 96), (16, 64)), ((100, 1056), (8, 128)), ((16, 512), (16, 256))]
    for number, global_scale in enumerate(global_scales(name)):
        for (m, k), (bm, bk) in shapes if number < 2 else shapes[1:2]:
            x = make_values(name, m, k, kind, global_scale or 1.0)
            wide = x.astype(np.float32)
            codes, scales = quantize(name, wide, global_scale or 1.0)
            if pairs:
                codes = pack(codes)
            ka = largest_power(k, 256)
            if kind == "bf16":
                x = x.view(np.uint16)
            results = (codes, scales)
            arguments = [("inout", unwritten(a, 1, ka), a.shape) for a in results]
            arguments.append(("in", embed(x, 1, ka), x.shape))
            if global_scale:
                arguments.append(repr(float(np.float32(global_scale))))
            written = run(
                tmp_path,
                "quantize_" + name.split("-")[0],
                device,
                (ceildiv(m, bm), ceildiv(k, bk)),
                arguments,
                KA=ka,
                BM=bm,
                BK=bk,
                X=kind,
                **constants,
            )
            check_inside(written[1], scales)
            check_inside(written[0], codes)


# Back again.


def round_once(kind, values):
    """The f32, bf16 or f16 nearest to exact f64 values."""
    with np.errstate(over="ignore", invalid="ignore"):
        if kind == "f32":
            return values.astype(np.float32)
        if kind == "f16":
            return values.astype(np.float16)
        # To odd in f32, which has two bits more than needed, then to nearest.
        near = values.astype(np.float32)
        toward = np.where(abs(near) > abs(values), np.float32(0), near)
        down = np.where(
            abs(near) > abs(values), np.nextafter(near, np.float32(0)), toward
        )
        inexact = down.astype(np.float64) != values
        odd = (down.view(np.uint32) | (inexact & np.isfinite(values))).view(np.float32)
        return odd.astype(ml_dtypes.bfloat16)


@pytest.mark.parametrize("out", ["f32", "bf16", "f16"])
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", FORMATS)
def test_dequantize(tmp_path, name, device, out):
    code_kind, scale_kind, v = FORMATS[name]
    pairs = code_kind == "f4E2M1FN"
    m, k = 100, 1056
    codes = choose((m, k), 1, range(16 if pairs else 256)).astype(np.uint8)
    scales = choose((m, k // v), 2, range(256)).astype(np.uint8)
    values = decode(code_kind, codes)
    sizes = decode(scale_kind, scales)
    if scale_kind == "f8E4M3FN":
        sizes = decode(scale_kind, scales & 0x7F)
    for g in [1.0, 0.0123, 1.7e-40, 1e-45, 2.3e-20, 6.1e-5, 7.7e30, 3e38]:
        g = np.float32(g)
        with np.errstate(invalid="ignore"):
            exact = values * np.repeat(sizes, v, 1) * np.float64(g)
        expected = round_once(out, exact)
        if out == "bf16":
            expected = expected.view(np.uint16)
        stored = pack(codes) if pairs else codes
        (written,) = run(
            tmp_path,
            "dequantize",
            device,
            (ceildiv(m, 16), ceildiv(k, 128)),
            [
                ("inout", unwritten(expected, 1, 32), (m, k)),
                ("in", embed(stored, 1, 32), stored.shape),
                ("in", embed(scales, 1, 32), scales.shape),
                repr(float(g)),
            ],
            KA=largest_power(k, 256),
            BM=16,
            BK=128,
            OUT=out,
            CODES=code_kind,
            P=2 if pairs else 1,
            SCALES=scale_kind,
            V=v,
        )
        # A NaN has no particular bits.
        inside = np.isnan(exact)
        part = written[:m, :k]
        kind = DTYPES[out]
        got = np.ascontiguousarray(part).view(kind).astype(np.float64)
        np.testing.assert_array_equal(np.isnan(got), inside)
        part[inside] = expected[inside]
        check_inside(written, expected)
