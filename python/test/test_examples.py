"""Runs examples/kernels on the reference device and compares with NumPy.

Codes and scales are hashes of their position, so that any swap of rows, halves,
groups or steps changes the result, and are chosen so that every partial sum is
exact in f32: the results must be equal, not close.
"""

import pathlib
import subprocess

import ml_dtypes
import numpy as np
import pytest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
KERNELS = SOURCE / "examples" / "kernels"

# Not a multiple of any tile, K in whole groups and in a part of one.
SHAPES = [(16, 16, 64), (33, 19, 96), (70, 65, 208), (5, 3, 16)]


def hashes(seed, *shape):
    """Well-mixed 32-bit integers, one per position."""
    count = int(np.prod(shape))
    value = np.arange(count, dtype=np.uint64) + np.uint64(seed << 32)
    for shift, factor in ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53)):
        value ^= value >> np.uint64(shift)
        value *= np.uint64(factor)
    return ((value ^ value >> np.uint64(33)) >> np.uint64(32)).reshape(shape)


def fp4(seed, rows, columns):
    """Codes of FP4 values, and the values."""
    codes = (hashes(seed, rows, columns) & np.uint64(15)).astype(np.uint8)
    return codes, codes.view(ml_dtypes.float4_e2m1fn).astype(np.float64)


def pack(codes):
    """Pairs of FP4 codes along the last dimension, the first in the low half."""
    return codes[..., 0::2] | codes[..., 1::2] << 4


def fp8(seed, rows, columns):
    """E4M3 codes of small values, and the values."""
    values = (hashes(seed, rows, columns) % np.uint64(31)).astype(np.float64) - 15
    codes = (values / 4).astype(ml_dtypes.float8_e4m3fn)
    return codes.view(np.uint8), codes.astype(np.float64)


def scales(seed, rows, columns, kind):
    """Scales of {0.5, 1, 1.5, 2, …} (E4M3) or {0.5, 1, 2, 4} (E8M0)."""
    chosen = hashes(seed, rows, columns)
    if kind == "e4m3":
        values = (chosen % np.uint64(6) + np.uint64(1)).astype(np.float64) / 2
        codes = values.astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
    else:
        exponents = (chosen % np.uint64(4)).astype(np.int64) - 1
        values = np.exp2(exponents.astype(np.float64))
        codes = (127 + exponents).astype(np.uint8)
    return codes, values


def expand(values, block, k, axis=1):
    """One scale per value."""
    return np.take(np.repeat(values, block, axis=axis), range(k), axis=axis)


def ceildiv(a, b):
    return -(-a // b)


def run(folder, kernel, grid, arguments, out="z.npy", **constants):
    command = ["tile-run", KERNELS / f"{kernel}.mlir", "--device=reference"]
    command.append("--grid=" + ",".join(map(str, grid)))
    command += [f"-D{name}={value}" for name, value in constants.items()]
    command += arguments
    result = subprocess.run(
        [str(part) for part in command], cwd=folder, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return np.load(folder / out)


def save(folder, **arrays):
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)


def swizzle(linear):
    """Scales in 128x4 order: blocks of 128 rows by 4 columns, zeros around."""
    rows, columns = linear.shape
    padded = np.zeros((ceildiv(rows, 128) * 128, ceildiv(columns, 4) * 4), np.uint8)
    padded[:rows, :columns] = linear
    blocks = padded.reshape(padded.shape[0] // 128, 4, 32, -1, 4)
    return np.ascontiguousarray(blocks.transpose(0, 3, 2, 1, 4))


LINEAR = {
    # kernel: type of x, type of y, scale type, V
    "nvfp4_linear": ("fp4", "fp4", "e4m3", 16),
    "mxfp4_linear": ("fp4", "fp4", "e8m0", 32),
    "mxfp8_linear": ("fp8", "fp8", "e8m0", 32),
    "mxfp8_mxfp4_linear": ("fp8", "fp4", "e8m0", 32),
    "w4a16_linear": ("bf16", "fp4", "e4m3", 16),
}


def operand(kind, seed, rows, k):
    """What the file holds, and the values."""
    if kind == "fp4":
        codes, values = fp4(seed, rows, k)
        return pack(codes), values
    if kind == "fp8":
        return fp8(seed, rows, k)
    _, values = fp4(seed, rows, k)
    return values.astype(ml_dtypes.bfloat16).view(np.uint16), values


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kernel", LINEAR)
def test_linear(tmp_path, kernel, shape):
    m, n, k = shape
    x_kind, y_kind, scale_kind, v = LINEAR[kernel]
    x, xv = operand(x_kind, 1, m, k)
    y, yv = operand(y_kind, 2, n, k)
    xs, xsv = scales(3, m, ceildiv(k, v), scale_kind)
    ys, ysv = scales(4, n, ceildiv(k, v), scale_kind)
    save(tmp_path, x=x, y=y, xs=xs, ys=ys)
    yv = yv * expand(ysv, v, k)
    if x_kind != "bf16":
        xv = xv * expand(xsv, v, k)
    arguments = [f"out:z.npy:{m}x{n}xf32", "in:x.npy", "in:y.npy"]
    arguments += ["in:ys.npy"] if x_kind == "bf16" else ["in:xs.npy", "in:ys.npy"]
    grid = (ceildiv(m, 16), ceildiv(n, 32))
    z = run(tmp_path, kernel, grid, arguments + ["val:0.5"], BM=16, BN=32, BK=64)
    np.testing.assert_array_equal(z, 0.5 * xv @ yv.T)


@pytest.mark.parametrize(
    "kernel, shape",
    [
        ("nvfp4_linear_128x4", (128, 128, 64)),
        ("nvfp4_linear_128x4", (130, 19, 208)),
        ("nvfp4_linear_128x4", (257, 140, 80)),
        ("nvfp4_linear_128x4_aligned", (130, 20, 256)),
        ("nvfp4_linear_128x4_aligned", (257, 140, 128)),
    ],
)
def test_scales_in_128x4_order(tmp_path, kernel, shape):
    m, n, k = shape
    promise = {"KA": 64} if kernel.endswith("_aligned") else {}
    x, xv = operand("fp4", 1, m, k)
    y, yv = operand("fp4", 2, n, k)
    xs, xsv = scales(3, m, ceildiv(k, 16), "e4m3")
    ys, ysv = scales(4, n, ceildiv(k, 16), "e4m3")
    save(tmp_path, x=x, y=y, xs=swizzle(xs), ys=swizzle(ys))
    z = run(
        tmp_path,
        kernel,
        (ceildiv(m, 128), ceildiv(n, 128)),
        [
            f"out:z.npy:{m}x{n}xf32",
            "in:x.npy",
            "in:y.npy",
            "in:xs.npy",
            "in:ys.npy",
            "val:1",
        ],
        BM=128,
        BN=128,
        BK=64,
        **promise,
    )
    expected = (xv * expand(xsv, 16, k)) @ (yv * expand(ysv, 16, k)).T
    np.testing.assert_array_equal(z, expected)


ALIGNED = {**LINEAR, "w4a16_mxfp4_linear": ("bf16", "fp4", "e8m0", 32)}


@pytest.mark.parametrize("shape", [(16, 16, 128), (33, 20, 256), (70, 68, 384)])
@pytest.mark.parametrize("kernel", ALIGNED)
def test_promises(tmp_path, kernel, shape):
    m, n, k = shape
    x_kind, y_kind, scale_kind, v = ALIGNED[kernel]
    x, xv = operand(x_kind, 1, m, k)
    y, yv = operand(y_kind, 2, n, k)
    xs, xsv = scales(3, m, k // v, scale_kind)
    ys, ysv = scales(4, n, k // v, scale_kind)
    save(tmp_path, x=x, y=y, xs=xs, ys=ys)
    yv = yv * expand(ysv, v, k)
    if x_kind != "bf16":
        xv = xv * expand(xsv, v, k)
    arguments = [f"out:z.npy:{m}x{n}xf32", "in:x.npy", "in:y.npy"]
    arguments += ["in:ys.npy"] if x_kind == "bf16" else ["in:xs.npy", "in:ys.npy"]
    z = run(
        tmp_path,
        f"{kernel}_aligned",
        (ceildiv(m, 16), ceildiv(n, 32)),
        arguments + ["val:0.5"],
        KA=128,
        BM=16,
        BN=32,
        BK=256,
    )
    np.testing.assert_array_equal(z, 0.5 * xv @ yv.T)


def test_a_broken_promise_is_an_error(tmp_path):
    m, n, k = 16, 16, 96
    x, _ = operand("fp4", 1, m, k)
    y, _ = operand("fp4", 2, n, k)
    xs, _ = scales(3, m, k // 16, "e4m3")
    ys, _ = scales(4, n, k // 16, "e4m3")
    save(tmp_path, x=x, y=y, xs=xs, ys=ys)
    with pytest.raises(AssertionError, match="divisible|multiple"):
        run(
            tmp_path,
            "nvfp4_linear_aligned",
            (1, 1),
            [f"out:z.npy:{m}x{n}xf32"]
            + ["in:x.npy", "in:y.npy", "in:xs.npy", "in:ys.npy", "val:0.5"],
            KA=64,
            BM=16,
            BN=16,
            BK=128,
        )


def test_swizzle_is_the_published_table():
    order = swizzle(np.arange(512).reshape(128, 4).astype(np.uint8))[0, 0].reshape(-1)
    for row, column, offset in [(1, 0, 16), (32, 0, 4), (127, 3, 511), (33, 2, 22)]:
        assert order[offset] == (row * 4 + column) % 256


def test_batch(tmp_path):
    batch, m, n, k = 3, 17, 20, 80
    x, xv = zip(*(operand("fp4", 10 + b, m, k) for b in range(batch)))
    y, yv = zip(*(operand("fp4", 20 + b, n, k) for b in range(batch)))
    xs, xsv = zip(*(scales(30 + b, m, k // 16, "e4m3") for b in range(batch)))
    ys, ysv = zip(*(scales(40 + b, n, k // 16, "e4m3") for b in range(batch)))
    save(tmp_path, x=np.stack(x), y=np.stack(y), xs=np.stack(xs), ys=np.stack(ys))
    z = run(
        tmp_path,
        "nvfp4_linear_batched",
        (2, 2, batch),
        [
            f"out:z.npy:{batch}x{m}x{n}xf32",
            "in:x.npy",
            "in:y.npy",
            "in:xs.npy",
            "in:ys.npy",
            "val:1",
        ],
        BM=16,
        BN=16,
        BK=64,
    )
    for b in range(batch):
        expected = (xv[b] * expand(xsv[b], 16, k)) @ (yv[b] * expand(ysv[b], 16, k)).T
        np.testing.assert_array_equal(z[b], expected)


def test_weights_stored_k_by_n(tmp_path):
    m, n, k = 33, 36, 80
    x, xv = operand("fp4", 1, m, k)
    y, yv = operand("fp4", 2, k, n)
    xs, xsv = scales(3, m, k // 16, "e4m3")
    ys, ysv = scales(4, k // 16, n, "e4m3")
    save(tmp_path, x=x, y=y, xs=xs, ys=ys)
    z = run(
        tmp_path,
        "nvfp4_linear_kn",
        (3, 3),
        [
            f"out:z.npy:{m}x{n}xf32",
            "in:x.npy",
            "in:y.npy",
            "in:xs.npy",
            "in:ys.npy",
            "val:1",
        ],
        BM=16,
        BN=16,
        BK=64,
    )
    expected = (xv * expand(xsv, 16, k)) @ (yv * expand(ysv, 16, k, axis=0))
    np.testing.assert_array_equal(z, expected)


def test_unpack_pack_keeps_every_byte(tmp_path):
    save(tmp_path, x=np.arange(300).astype(np.uint8))
    z = run(tmp_path, "unpack_pack", (10,), ["out:z.npy:300xf4E2M1FNx2", "in:x.npy"])
    np.testing.assert_array_equal(z.view(np.uint8), np.arange(300).astype(np.uint8))


def test_quantize(tmp_path):
    m, k, global_scale = 19, 112, 0.25
    x = np.sinh((hashes(9, m, k).astype(np.float64) / 2**32 - 0.5) * 12)
    x = x.astype(np.float32)
    x[3, 16:32] = 0  # a block of zeros
    x[4, 32:48] = 1e-6  # a scale that rounds to zero
    x[5, 0:16] = 4e5  # clips
    save(tmp_path, x=x)
    codes = run(
        tmp_path,
        "quantize_nvfp4",
        (2, 2),
        [
            f"out:codes.npy:{m}x{k // 2}xf4E2M1FNx2",
            f"out:s.npy:{m}x{k // 16}xf8E4M3FN",
            "in:x.npy",
            f"val:{global_scale}",
        ],
        out="codes.npy",
        BM=16,
        BK=64,
    ).view(np.uint8)
    stored = np.load(tmp_path / "s.npy").view(np.uint8)

    largest = np.abs(x.reshape(m, -1, 16)).max(axis=2).astype(np.float64)
    ratio = np.minimum(largest / (6 * global_scale), 448)
    expected = ratio.astype(np.float32).astype(ml_dtypes.float8_e4m3fn)
    np.testing.assert_array_equal(stored, expected.view(np.uint8))
    step = expected.astype(np.float64) * global_scale
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = np.where(
            step[..., None] == 0, 0, x.reshape(m, -1, 16) / step[..., None]
        )
    clipped = np.clip(exact, -6, 6).astype(np.float32)
    values = clipped.astype(ml_dtypes.float4_e2m1fn).view(np.uint8).reshape(m, k)
    np.testing.assert_array_equal(codes, pack(values & 15))
