"""Triton: dot_scaled, native on sm_100 and sm_120, by conversion elsewhere."""

# RUN: %numpy-python %s
# RUN: env TILE_PTX_RUN_OPTIONS=--accumulate=hardware %numpy-python %s

from check import *

TABLES = {"e2m1": E2M1, "e4m3": E4M3, "e5m2": E5M2}


def operand(seed, rows, k, kind):
    """The array as in memory, and its values: small multiples of 1/4."""
    if kind == "bf16":
        values = integers(seed, (rows, k), -9, 10, "f4")
        return to_bf16(values), values
    table = TABLES[kind]
    good = [
        c
        for c, v in enumerate(table)
        if kind == "e2m1" or abs(v) < 4 and v * 4 % 1 == 0
    ]
    codes = np.array(good, "u1")[hashes(seed, (rows, k)) % len(good)]
    return pack_fp4(codes) if kind == "e2m1" else codes, table[codes]


def scales(seed, rows, count, group):
    if group == 16:
        codes, table = np.array([0x38, 0x3C, 0x40, 0x44], "u1"), E4M3
    else:
        codes, table = np.array([125, 126, 127, 128, 129], "u1"), E8M0
    chosen = codes[hashes(seed, (rows, count)) % len(codes)]
    return chosen, table[chosen]


def chunks(scales):
    """Scales in chunks of 128 rows by 4: rows m, m + 32, … stand together."""
    rows, count = scales.shape
    order = scales.reshape(rows // 128, 4, 32, count // 4, 4)
    return np.ascontiguousarray(order.transpose(0, 3, 2, 1, 4))


def product(label, left, right, group, tile, options=()):
    m, n, k = 2 * tile[0], 2 * tile[1], 512 if "chunks" in label else 256
    x, vx = operand(1, m, k, left)
    y, vy = operand(2, n, k, right)
    sx, wx = scales(3, m, k // group, group)
    sy, wy = scales(4, n, k // group, group)
    if left == "bf16":
        wx = np.ones_like(wx)
    strides = [k, x.shape[1], y.shape[1], k // group, k // group, n]
    if "chunks" in label:
        sx, sy = chunks(sx), chunks(sy)
        del strides[3:5]
    strides = [i32(v) for v in strides]
    arrays = (x, y, sx, sy, out((m, n), "f4"))
    (z,) = run_triton(
        f"triton/scaled.{label}.ptx", (2, 2), *arrays, *strides, options=options
    )
    spread = lambda v, w: v * np.repeat(w, group, axis=1)
    exact = spread(vx, wx) @ spread(vy, wy).T
    assert (exact.astype("f4") == exact).all(), "the data are not exact"
    equal(z, exact.astype("f4"), label)


def test_native():
    product("nvfp4.sm_120a", "e2m1", "e2m1", 16, (32, 32))
    product("mxfp4.sm_120a", "e2m1", "e2m1", 32, (32, 32))
    product("mxfp8.sm_120a", "e4m3", "e4m3", 32, (32, 32))
    product("mxfp8-mxfp4.sm_120a", "e4m3", "e2m1", 32, (16, 32))


def test_tensor_memory():
    # Triton leaves tcgen05.fence out, and relies on the order of copies and
    # multiplies.
    options = ["--allow=loose-tensor-memory"]
    for label, left, right, group, tile in (
        ("nvfp4", "e2m1", "e2m1", 16, (128, 32)),
        ("mxfp4", "e2m1", "e2m1", 32, (128, 64)),
        ("mxfp8", "e4m3", "e4m3", 32, (128, 32)),
        ("mxfp8-mxfp4", "e5m2", "e2m1", 32, (128, 64)),
        ("mxfp4-mxfp8", "e2m1", "e4m3", 32, (128, 32)),
        ("nvfp4-chunks", "e2m1", "e2m1", 16, (128, 128)),
        ("mxfp8-chunks", "e4m3", "e4m3", 32, (128, 256)),
    ):
        product(f"{label}.sm_100a", left, right, group, tile, options)


def test_converted():
    product("mxfp4.sm_80", "e2m1", "e2m1", 32, (16, 32))
    product("mxfp8.sm_80", "e5m2", "e5m2", 32, (16, 32))
    product("bf16-mxfp4.sm_80", "bf16", "e2m1", 32, (16, 32))
    product("nvfp4.sm_89", "e2m1", "e2m1", 16, (16, 32))
    product("mxfp8-mxfp4.sm_90a", "e4m3", "e2m1", 32, (16, 32))


main()
