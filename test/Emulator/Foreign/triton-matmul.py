"""Triton: matrix products of each type, with one to four stages."""

# RUN: %numpy-python %s
# RUN: env TILE_PTX_RUN_OPTIONS="--schedule=random --seed=1" %numpy-python %s test_bf16
# RUN: env TILE_PTX_RUN_OPTIONS="--schedule=random --seed=2" %numpy-python %s test_bf16
# RUN: env TILE_PTX_RUN_OPTIONS="--schedule=random --seed=3" %numpy-python %s test_bf16
# RUN: env TILE_PTX_RUN_OPTIONS=--accumulate=hardware %numpy-python %s

from check import *

CODES = np.array([c for c, v in enumerate(E4M3) if abs(v) < 4 and v * 4 % 1 == 0], "u1")
CODES_E5M2 = np.array(
    [c for c, v in enumerate(E5M2) if abs(v) < 4 and v * 4 % 1 == 0], "u1"
)


def operand(seed, shape, kind):
    """The array as in memory, and its values."""
    if kind in ("fp8", "e5m2"):
        codes, table = (CODES, E4M3) if kind == "fp8" else (CODES_E5M2, E5M2)
        codes = codes[hashes(seed, shape) % len(codes)]
        return codes, table[codes]
    if kind == "i8":
        values = integers(seed, shape, -128, 128, "i1")
        return values, values.astype("i8")
    values = integers(seed, shape, -9, 10, "f4")
    array = {"bf16": to_bf16, "f16": lambda v: v.astype("f2")}.get(kind, lambda v: v)
    return array(values), values


def product(label, kind, tile=(32, 32), options=()):
    m, n, k = 75, 80, 112
    x, vx = operand(1, (m, k), kind)
    y, vy = operand(2, (k, n), kind)
    grid = ((m + tile[0] - 1) // tile[0], (n + tile[1] - 1) // tile[1])
    result = "i4" if kind == "i8" else "f4"
    sizes = [i32(v) for v in (m, n, k, k, n, n)]
    ptx = f"triton/matmul.{label}.ptx"
    (z,) = run_triton(ptx, grid, x, y, out((m, n), result), *sizes, options=options)
    equal(z, (vx @ vy).astype(result), label)


def test_f16():
    product("f16-s1.sm_80", "f16")
    product("f16-s2.sm_80", "f16")


def test_bf16():
    product("bf16-s3.sm_80", "bf16", (64, 32))
    product("bf16-s3.sm_90a", "bf16")
    product("bf16-s3.sm_120a", "bf16")


def test_f32():
    product("tf32-s3.sm_80", "f32")
    product("f32-s2.sm_80", "f32", (16, 16))


def test_i8():
    product("i8-s3.sm_80", "i8")


def test_fp8():
    product("fp8-s2.sm_89", "fp8")
    product("fp8-s2.sm_120a", "fp8")


def test_tensor_memory():
    # Triton leaves tcgen05.fence out, and relies on the order of copies and
    # multiplies.
    options = ["--allow=loose-tensor-memory"]
    product("bf16-s3.sm_100a", "bf16", (128, 64), options)
    product("f16-s2.sm_100a", "f16", (64, 128), options)
    product("fp8-s2.sm_100a", "fp8", (128, 32), options)
    product("fp8-s3.sm_100a", "e5m2", (64, 64), options)


main()
