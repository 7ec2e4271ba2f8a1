"""nvcc: named barriers, mbarriers, bulk copies, clusters of one."""

# RUN: %numpy-python %s
# RUN: env TILE_PTX_RUN_OPTIONS="--schedule=random --seed=1" %numpy-python %s
# RUN: env TILE_PTX_RUN_OPTIONS="--schedule=random --seed=2" %numpy-python %s
# RUN: env TILE_PTX_RUN_OPTIONS="--schedule=random --seed=3" %numpy-python %s

from check import *

PTX = "cuda/barriers.sm_80.ptx"
BULK = ["cuda/bulk.sm_90.ptx", "cuda/bulk.sm_120.ptx"]


def test_producer_consumer():
    for rounds in (1, 2, 7):
        v = integers(1, (rounds, 64), -1000, 1000)
        expected = 3 * (v[:, ::-1] + np.arange(rounds, dtype="i4")[:, None])
        (z,) = run(PTX, "producer_consumer", 1, 128, v, out(v.shape, "i4"), i32(rounds))
        equal(z, expected, f"{rounds} rounds")


def test_pairs():
    v = integers(2, 128, -1000, 1000)
    expected = v.copy()
    for pair in range(2):
        part = expected[64 * pair : 64 * pair + 64]
        for _ in range(pair * 3 + 1):
            part[:] = part * 2 + part[np.arange(64) ^ 32]
    (z,) = run(PTX, "pairs", 1, 128, v, out(128, "i4"))
    equal(z, expected)


def test_reduce():
    for high in (3, 1000):
        v = integers(3, 128, -2 if high == 3 else 1, high)
        result = 2 * int((v > 0).sum()) + int((v <= 0).any())
        (z,) = run(PTX, "reduce", 1, 128, v, out(128, "i4"))
        equal(z, np.full(128, result, "i4"))


def test_mbarrier_state():
    v = integers(4, 64, -100, 100)
    expected = v.copy()
    for _ in range(5):
        expected = expected * 3 + np.roll(expected, -7)
    (z,) = run(PTX, "mbarrier_state", 1, 64, v, out(64, "i4"), i32(5))
    equal(z, expected)


def test_async_arrive():
    v = integers(5, (3, 64, 4), -1000, 1000)
    expected = v[:, ::-1].copy()
    expected[..., 0] += np.arange(3, dtype="i4")[:, None]
    (z,) = run(PTX, "async_arrive", 1, 64, v, out(v.shape, "i4"))
    equal(z, expected)


def test_pipeline():
    for chunks in (1, 3, 8):
        v = integers(6, (2, chunks, 256), -1000, 1000)
        expected = v[..., ::-1] * 2 + np.arange(chunks, dtype="i4")[:, None]
        for ptx in BULK:
            (z,) = run(ptx, "pipeline", 2, 160, v, out(v.shape, "i4"), i32(chunks))
            equal(z, expected, f"{ptx} {chunks} chunks")


def test_store():
    v = integers(7, (3, 128), -1000, 1000)
    for ptx in BULK:
        (z,) = run(ptx, "store", 3, 128, v, out((3, 128), "i4"))
        equal(z, v[:, np.arange(128) ^ 5] + 11, ptx)


def test_store_matrices():
    data = hashes(8, (4, 32))
    matrix = data.view("u2").reshape(4, 8, 8)
    straight = matrix.reshape(32, 8)[np.arange(32) ^ 1]
    turned = matrix.transpose(0, 2, 1).reshape(32, 8)
    expected = np.ascontiguousarray(np.concatenate([straight, turned]))
    for ptx in BULK:
        (z,) = run(ptx, "store_matrices", 1, 32, data, out((64, 4), "u4"))
        equal(z, expected.view("u4"), ptx)


def test_store_few_matrices():
    data = hashes(10, (2, 32))
    a, b = data.view("u2").reshape(2, 8, 8)
    three, five = np.arange(8) ^ 3, np.arange(16) ^ 5
    both, turned = np.concatenate([a, b]), np.concatenate([a.T, b.T])
    expected = np.concatenate([a[three], b.T[three], both[five], turned[five]])
    for ptx in BULK:
        (z,) = run(ptx, "store_few_matrices", 1, 32, data, out((48, 4), "u4"))
        equal(z, np.ascontiguousarray(expected).view("u4"), ptx)


def test_cluster_copies():
    v = integers(11, (3, 64), -1000, 1000)
    for ptx in BULK:
        (z,) = run(ptx, "cluster_copies", 3, 64, v, out((3, 64), "i4"))
        equal(z, v[:, ::-1] * 3 + v, ptx)


def test_reduce_bulk():
    v = integers(12, (5, 64), -1000, 1000)
    total, least = integers(13, 64, -9, 9), integers(14, 64, -600, 0)
    halves = integers(15, 64, 0, 9, "f2")
    expected = [total + v.sum(axis=0, dtype="i4"), np.minimum(least, v.min(axis=0))]
    expected.append((halves + (v & 7).sum(axis=0)).astype("f2"))
    for ptx in BULK:
        arrays = map(inout, (total, least, halves))
        results = run(ptx, "reduce_bulk", 5, 64, v, *arrays)
        for got, right in zip(results, expected):
            equal(got, right, ptx)


def test_cluster_of_one():
    v = integers(9, 64, -1000, 1000)
    for ptx in BULK:
        (z,) = run(ptx, "cluster_of_one", 1, 64, v, out(64, "i4"))
        equal(z, v[np.arange(64) ^ 33] * 10 + 1, ptx)


main()
