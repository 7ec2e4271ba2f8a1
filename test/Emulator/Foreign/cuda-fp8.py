"""nvcc: multiplies and conversions of eight-bit floats."""

# RUN: %numpy-python %s
# RUN: env TILE_PTX_RUN_OPTIONS=--accumulate=hardware %numpy-python %s test_mma

from check import *

FILES = ["cuda/mma-fp8.sm_89.ptx", "cuda/mma-fp8.sm_89.ptx as sm_90"]


def codes(seed, shape, table):
    """Codes of multiples of 1/4 up to 3.75: short sums of products are exact."""
    good = [c for c, v in enumerate(table) if abs(v) < 4 and (v * 4) % 1 == 0]
    return np.array(good, "u1")[hashes(seed, shape) % len(good)]


def test_mma():
    m, n, k = 32, 16, 64
    cases = [
        ("e4m3", E4M3, E4M3, "f4"),
        ("e5m2_e4m3", E5M2, E4M3, "f4"),
        ("e4m3_e5m2", E4M3, E5M2, "f4"),
        ("e4m3_half", E4M3, E4M3, "f2"),
        ("e5m2_k16", E5M2, E5M2, "f4"),
    ]
    for ptx in FILES:
        for entry, left, right, result in cases:
            # Half accumulators hold few bits.
            inner = 32 if result == "f2" else k
            x, y = codes(1, (m, inner), left), codes(2, (n, inner), right)
            z = integers(3, (m, n), -9, 10, result)
            (r,) = run(
                ptx,
                entry,
                (n // 8, m // 16),
                32,
                x,
                y,
                inout(z),
                i32(n),
                i32(inner // 4),
            )
            exact = left[x] @ right[y].T + z
            if result == "f2":
                assert (exact.astype("f2") == exact).all(), "the data are not exact"
            equal(r, exact.astype(result), f"{ptx} {entry}")


def test_sums():
    """sm_89 keeps half the bits; sm_90 multiplies halves."""
    results = []
    finite = np.array([c for c in range(256) if c & 127 != 127], "u1")
    x = finite[hashes(5, (32, 64)) % len(finite)]
    y = finite[hashes(6, (16, 64)) % len(finite)]
    z = normals(7, (32, 16)) * 100
    for ptx, bits in zip(FILES, (13, 24)):
        pair = [
            run(ptx, "e4m3", (2, 2), 32, x, y, inout(z), i32(16), i32(16), options=o)[0]
            for o in ((), HARDWARE)
        ]
        check_sums(*pair, E4M3[x], E4M3[y], z, 32, 16, bits, ptx)
        results.append(pair)
    equal(results[0][0], results[1][0], "exact sums of both targets")
    assert (results[0][1] != results[1][1]).any(), "both targets add alike"


def test_encode():
    n = 600
    v = any_floats(4, 2 * n, (-18, 17))
    # Ties, limits and what is not finite.
    edges = np.concatenate([E4M3[:127], E5M2[:124]])
    ties = (edges[1:] + edges[:-1]) / 2
    special = [464, 464.1, 448, 57344, 61440, 61439, 1e30, np.inf, np.nan, 0, -0.0]
    special = np.concatenate([ties[:250], special]).astype("f4")
    v[: len(special)] = special
    v[len(special) : 2 * len(special)] = -special
    with np.errstate(over="ignore"):
        half = v.astype("f2")
    relu = np.where(v < 0, 0, v) + 0.0
    rows = [(v, E4M3), (v, E5M2), (half, E4M3), (half, E5M2), (relu, E4M3)]
    for ptx in FILES:
        (z,) = run(ptx, "encode", 5, 128, v, out((5, n), "u2"), i32(n))
        for number, (values, table) in enumerate(rows):
            expected = encode(values, table, 0x7F)
            got = z[number].copy().view("u1")
            nan = np.isnan(values)
            equal(got[~nan], expected[~nan], f"{ptx} row {number}")
            assert np.isnan(table[got[nan]]).all(), f"{ptx} row {number}: NaN"


def test_decode():
    c = np.arange(256, dtype="u1")
    pairs = np.concatenate([c, c[::-1]]).view("u2")
    for ptx in FILES:
        (z,) = run(ptx, "decode", 2, 128, pairs, out((2, 256), "u4"), i32(256))
        for row, table in zip(z, (E4M3, E5M2)):
            values = row.copy().view("f2")
            equal(values, table[pairs.view("u1")].astype("f2"), ptx)


main()
