"""nvcc: sums over blocks and grids, atomics, histograms, scans."""

# RUN: %numpy-python %s
# RUN: env TILE_PTX_RUN_OPTIONS="--schedule=random --seed=1" %numpy-python %s

from check import *

FILES = ["cuda/reductions.sm_80.ptx", "cuda/reductions.sm_80.ptx as sm_120"]


def test_block_sum():
    x = floats(1, 1000)
    expected = np.pad(x, (0, 24)).reshape(4, 256).sum(axis=1, dtype="f4")
    for ptx in FILES:
        (z,) = run(ptx, "block_sum", 4, 256, x, out(4, "f4"), i32(1000))
        equal(z, expected, ptx)


def test_grid_sum():
    x = floats(2, 5001)
    for ptx in FILES:
        for block in (32, 160, 256):
            zero = np.zeros(1, "f4")
            (z,) = run(ptx, "grid_sum", 5, block, x, inout(zero), i32(5001))
            equal(z, x.sum(dtype="f4", keepdims=True), f"{ptx} {block}")


def test_last_block_sum():
    x = integers(3, 2000, -1000, 1000)
    expected = np.pad(x, (0, 48)).reshape(16, 128).sum(axis=1, dtype="i4")
    for ptx in FILES:
        part, z = run(
            ptx,
            "last_block_sum",
            16,
            128,
            x,
            out(16, "i4"),
            inout(np.array([5], "i4")),
            i32(2000),
        )
        equal(part, expected, ptx)
        equal(z, np.array([5 + x.sum()], "i4"), ptx)


def test_histogram():
    x = (hashes(4, 3000) % 256 & hashes(5, 3000) % 256).astype("u1")
    for ptx in FILES:
        (z,) = run(ptx, "histogram", 3, 192, x, inout(np.zeros(256, "u4")), i32(3000))
        equal(z, np.bincount(x, minlength=256).astype("u4"), ptx)


def test_atomics():
    n = 200
    v = integers(6, n, 1, 30000)
    words = integers(7, 14, -100, 100)
    words[4:6], words[9:11] = (40000, 5), (0, 0)
    longs = np.array([7, 2**63, 3, 11], "u8")
    w = words.copy()
    product, big = int(words[11]), v.astype("u8")
    for x in map(int, v):
        product = wrap(product * (2 * x + 1))
    w[0] += v.sum()
    w[1] -= v.sum()
    w[2], w[3] = min(w[2], v.min()), max(w[3], v.max())
    w[4], w[5] = min(w[4], v.min()), max(w[5], v.max())
    w[6] &= np.bitwise_and.reduce(v | 0xFF)
    w[7] |= np.bitwise_or.reduce(v & 0x0F0F0F0F)
    w[8] ^= np.bitwise_xor.reduce(v)
    w[9] = n % 100
    # From 0 down to 99, 98, …
    w[10] = (0 - n) % 100
    w[11] = product
    key = big << np.uint64(32) | np.arange(n, dtype="u8")
    scrambled = key * np.uint64(0x9E3779B97F4A7C15)
    expected = longs.copy()
    expected[0] += (big << np.uint64(20)).sum()
    expected[1] = min(expected[1], key.min())
    expected[2] = max(expected[2], key.max())
    expected[3] ^= np.bitwise_xor.reduce(scrambled)
    for ptx in FILES:
        got, got_longs, single, double = run(
            ptx,
            "atomics",
            4,
            64,
            v,
            inout(words),
            inout(longs),
            inout(np.array([0.5], "f4")),
            inout(np.array([0.25], "f8")),
            i32(n),
        )
        # Each exchange takes one value and leaves another; the last stays.
        last = got[12]
        assert last in v, f"{ptx}: {last} is none of the values"
        w[12], w[13] = last, words[13] + words[12] + v.sum() - last
        equal(got, w, ptx)
        equal(got_longs, expected, ptx)
        equal(single, np.array([0.5 + (v % 64).sum()], "f4"), ptx)
        equal(double, np.array([0.25 + 0.125 * v.sum()]), ptx)


def test_inclusive_scan():
    x = integers(8, 500, -1000, 1000)
    for ptx in FILES:
        (z,) = run(ptx, "inclusive_scan", 1, 512, x, out(500, "i4"), i32(500))
        equal(z, np.cumsum(x, dtype="i4"), ptx)


def test_barrier_votes():
    x = integers(9, (6, 96), -4, 7)
    x[0], x[1] = 6, -5
    expected = np.empty((6, 96, 3), "i4")
    expected[..., 0] = (x > 0).sum(axis=1)[:, None]
    expected[..., 1] = (x > -3).all(axis=1)[:, None]
    expected[..., 2] = (x > 5).any(axis=1)[:, None]
    for ptx in FILES:
        (z,) = run(ptx, "barrier_votes", 6, 96, x, out((6, 96, 3), "i4"))
        equal(z, expected, ptx)


main()
