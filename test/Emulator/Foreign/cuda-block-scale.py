"""nvcc: block-scaled mma.sync, FP4 in memory, FP4, FP6 and E8M0 conversions."""

# RUN: %numpy-python %s
# RUN: env TILE_PTX_RUN_OPTIONS=--accumulate=hardware %numpy-python %s test_nvfp4 test_mxfp4 test_mxfp8 test_unscaled \
# RUN:   test_nan_scale

from check import *

PTX = "cuda/block-scale.sm_120a.ptx"
M, N, K = 32, 24, 256

# Codes of small multiples of 1/4, so that sums are exact in any order.
SMALL = {
    name: np.array([c for c, v in enumerate(t) if abs(v) < 4 and v * 4 % 1 == 0], "u1")
    for name, t in (("e4m3", E4M3), ("e5m2", E5M2), ("e2m3", E2M3), ("e3m2", E3M2))
}
SMALL["e2m1"] = np.arange(16, dtype="u1")
TABLES = {"e4m3": E4M3, "e5m2": E5M2, "e2m3": E2M3, "e3m2": E3M2, "e2m1": E2M1}


def operand(seed, rows, inner, kind, packed):
    """Bytes as in memory, and their values."""
    codes = SMALL[kind][hashes(seed, (rows, inner)) % len(SMALL[kind])]
    values = TABLES[kind][codes]
    if packed:
        return pack_fp4(codes), values
    # In a byte of its own, an FP4 value stands in bits 5 to 2.
    return (codes << 2 if kind == "e2m1" else codes), values


def scales(seed, rows, count, kind):
    if kind == "ue4m3":
        # 1, 1.5, 2 and 3.
        codes = np.array([0x38, 0x3C, 0x40, 0x44], "u1")
        table = E4M3
    else:
        codes, table = np.array([125, 126, 127, 128, 129], "u1"), E8M0
    chosen = codes[hashes(seed, (rows, count)) % len(codes)]
    return chosen, table[chosen]


def product(entry, left, right, scale, group, packed):
    x, vx = operand(1, M, K, left, packed)
    y, vy = operand(2, N, K, right, packed)
    sx, wx = scales(3, M, K // group, scale)
    sy, wy = scales(4, N, K // group, scale)
    z = integers(5, (M, N), -99, 100, "f4")
    words = K // 8 if packed else K // 4
    (r,) = run(
        PTX, entry, (N // 8, M // 16), 32, x, y, sx, sy, inout(z), i32(N), i32(words)
    )
    spread = lambda v, w: v * np.repeat(w, group, axis=1)
    exact = spread(vx, wx) @ spread(vy, wy).T + z
    assert (exact.astype("f4") == exact).all(), "the data are not exact"
    equal(r, exact.astype("f4"), entry)


def test_nvfp4():
    for entry in ("nvfp4", "nvfp4_lane3"):
        product(entry, "e2m1", "e2m1", "ue4m3", 16, True)


def test_mxfp4():
    for entry in ("nvfp4_2x", "mxfp4"):
        product(entry, "e2m1", "e2m1", "ue8m0", 32, True)


def test_mxfp8():
    product("mxfp8", "e4m3", "e4m3", "ue8m0", 32, False)
    product("mxfp8_e5m2", "e5m2", "e4m3", "ue8m0", 32, False)
    product("mxfp8_e2m1", "e4m3", "e2m1", "ue8m0", 32, False)


def test_nan_scale():
    """One NaN among the scales of a row makes the whole row NaN."""
    x, _ = operand(1, 16, 64, "e2m1", True)
    y, _ = operand(2, 8, 64, "e2m1", True)
    sx, _ = scales(3, 16, 4, "ue4m3")
    sy, _ = scales(4, 8, 4, "ue4m3")
    sx[5, 2] = 0x7F
    z = np.zeros((16, 8), "f4")
    (r,) = run(PTX, "nvfp4", 1, 32, x, y, sx, sy, inout(z), i32(8), i32(8))
    rows = np.isnan(r).all(axis=1)
    equal(rows, np.arange(16) == 5)
    assert not np.isnan(r[~rows]).any(), "NaN in other rows"


def test_unscaled():
    for entry, left, right, result in (
        ("f8f6f4_e4m3_e4m3", "e4m3", "e4m3", "f4"),
        ("f8f6f4_e2m1_e5m2", "e2m1", "e5m2", "f4"),
        ("f8f6f4_e3m2_e2m3", "e3m2", "e2m3", "f4"),
        ("f8f6f4_half", "e4m3", "e2m1", "f2"),
    ):
        inner = 32 if result == "f2" else 128
        x, vx = operand(6, M, inner, left, False)
        y, vy = operand(7, N, inner, right, False)
        z = integers(8, (M, N), -9, 10, result)
        (r,) = run(
            PTX, entry, (N // 8, M // 16), 32, x, y, inout(z), i32(N), i32(inner // 4)
        )
        exact = vx @ vy.T + z
        assert (exact.astype(result) == exact).all(), "the data are not exact"
        equal(r, exact.astype(result), entry)


def test_unpack_fp4():
    data = hashes(9, (32, 2)).view("u1").reshape(32, 8)
    nibbles = np.stack([data & 15, data >> 4], axis=-1).reshape(4, 8, 16)
    (z,) = run(PTX, "unpack_fp4", 1, 32, data, out((4, 32), "u4"))
    equal(z.view("u1").reshape(4, 8, 16), nibbles)


def test_transpose_bytes():
    """Register 2i + h, byte e of lane 4g + t: row 4t + e, column g + 8h."""
    data = hashes(10, (32, 4)).view("u1").reshape(2, 16, 16)
    (z,) = run(PTX, "transpose_bytes", 1, 32, data, out((4, 32), "u4"))
    got = z.view("u1").reshape(2, 2, 8, 16)
    expected = data.transpose(0, 2, 1).reshape(2, 2, 8, 16)
    equal(got, expected)


def test_store_bytes():
    """Byte e of lane 4g + t goes to row 2t + e % 2, column g + 8 (e / 2)."""
    data = hashes(11, (4, 32))
    registers = data.view("u1").reshape(4, 8, 4, 2, 2)
    expected = registers.transpose(0, 2, 4, 3, 1).reshape(4, 8, 16)
    (z,) = run(PTX, "store_bytes", 1, 32, data, out((32, 4), "u4"))
    equal(z.view("u1").reshape(4, 8, 16), np.ascontiguousarray(expected))


def encode_e8m0(values, up):
    codes = []
    for value in np.abs(values.astype("f8")):
        if np.isnan(value):
            codes.append(255)
        elif value <= 2.0**-127:
            codes.append(0)
        else:
            m, e = np.frexp(min(value, 2.0**127))
            codes.append(int(e) - 1 + 127 + (up and m != 0.5))
    return np.array(codes, "u1")


def test_encode():
    n = 500
    v = any_floats(12, 2 * n, (-6, 5))
    v[600:900] = any_floats(16, 300, (-140, 128))
    ties = np.concatenate([(t[1:32] + t[:31]) / 2 for t in (E2M3, E3M2)])
    special = [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, 6, 7, -0.1, 0, -0.0]
    special += [np.inf, np.nan, 1e38, 3e38, 2.0**-127, 2.0**-128, 1e-45, 1.5]
    special = np.concatenate([ties, special]).astype("f4")
    v[: len(special)] = special
    v[len(special) : 2 * len(special)] = -special
    (z,) = run(PTX, "encode", 4, 128, v, out((5, n), "u2"), i32(n))
    # FP4 and FP6 have no NaN: it becomes the largest value.
    four = encode(v, E2M1, 7)
    equal(z[0], pack_fp4(four).astype("u2"), "e2m1")
    rows = [encode_e8m0(v, False), encode_e8m0(v, True)]
    rows += [encode(v, E2M3, 31), encode(v, E3M2, 31)]
    for name, row, right in zip(("rz ue8m0", "rp ue8m0", "e2m3", "e3m2"), z[1:], rows):
        equal(row.copy().view("u1"), right, name)


def test_decode():
    c = np.arange(256, dtype="u1")
    pairs = np.concatenate([c, c[::-1]]).view("u2")
    (z,) = run(PTX, "decode", 2, 128, pairs, out((4, 256), "u4"), i32(256))
    byte = pairs.view("u1")
    low = byte[0::2]
    four = np.stack([low & 15, low >> 4], axis=1).ravel()
    halves = [row.copy().view("f2") for row in z]
    equal(halves[0], E2M1[four].astype("f2"), "e2m1")
    equal(from_bf16(z[1].copy().view("u2")), E8M0[byte].astype("f4"), "ue8m0")
    equal(halves[2], E2M3[byte & 63].astype("f2"), "e2m3")
    equal(halves[3], E3M2[byte & 63].astype("f2"), "e3m2")


main()
