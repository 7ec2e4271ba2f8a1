"""nvcc: matrix products through shared memory and cp.async."""

# RUN: %numpy-python %s
# RUN: env TILE_PTX_RUN_OPTIONS="--schedule=random --seed=1" %numpy-python %s
# RUN: env TILE_PTX_RUN_OPTIONS="--schedule=random --seed=2" %numpy-python %s
# RUN: env TILE_PTX_RUN_OPTIONS="--schedule=random --seed=3" %numpy-python %s

from check import *

PTX = "cuda/gemm.sm_80.ptx"


def operands(seed, m, n, k):
    return integers(seed, (m, k), -9, 10, "f4"), integers(
        seed + 1, (k, n), -9, 10, "f4"
    )


def test_tiled():
    for m, n, k in ((16, 16, 16), (33, 20, 50), (5, 47, 17)):
        x, y = operands(1, m, n, k)
        grid = ((n + 15) // 16, (m + 15) // 16)
        sizes = [i32(v) for v in (m, n, k)]
        (z,) = run(PTX, "tiled", grid, (16, 16), x, y, out((m, n), "f4"), *sizes)
        equal(z, x @ y, f"{m}x{n}x{k}")


def test_double_buffered():
    for m, n, k in ((32, 32, 16), (70, 36, 52), (31, 64, 100)):
        x, y = operands(3, m, n, k)
        grid = ((n + 31) // 32, (m + 31) // 32)
        sizes = [i32(v) for v in (m, n, k)]
        (z,) = run(
            PTX,
            "double_buffered",
            grid,
            64,
            x,
            y,
            out((m, n), "f4"),
            *sizes,
            shared=2 * 1024 * 4,
        )
        equal(z, x @ y, f"{m}x{n}x{k}")


def test_small_copies():
    a = integers(5, (4, 32), -1000, 1000)
    w = (hashes(6, 32).astype("u8") << np.uint64(29) | hashes(7, 32)).view("i8")
    t = np.arange(32)
    words = np.array([a[s][t ^ s] for s in range(4)])
    v = words[0][31 - t] + 3 * words[1][(t + 5) % 32]
    v = v + 5 * words[2][t ^ 8] + 7 * words[3][t ^ 16]
    kept = np.where(t % 2, w & 0xFFFFFFFF, w)
    rest = [remainder(int(x), 1000003) for x in np.roll(kept, -1)]
    (z,) = run(PTX, "small_copies", 1, 32, a, w, out(32, "i4"))
    equal(z, (v + rest).astype("i4"))


main()
