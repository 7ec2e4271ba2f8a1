"""Triton: sums, positions, scans, counts, sorting, a lock."""

# RUN: %numpy-python %s
# RUN: env TILE_PTX_RUN_OPTIONS="--schedule=random --seed=2" %numpy-python %s

from check import *


def name(kernel, arch="sm_80"):
    return f"triton/reductions.{kernel}.{arch}.ptx"


def test_total():
    x = floats(1, 1700)
    (z,) = run_triton(name("total"), 4, x, inout(np.ones(1, "f4")), i32(1700))
    equal(z, x.sum(dtype="f4", keepdims=True) + np.float32(1))


def test_columns():
    for arch, width in (("sm_80", 61), ("sm_90a", 48)):
        x = floats(2, (150, width))
        (z,) = run_triton(
            name("columns", arch),
            5,
            x,
            inout(np.zeros(width, "f4")),
            i32(150),
            i32(width),
        )
        equal(z, x.sum(axis=0, dtype="f4"), arch)


def test_largest():
    # Few values, so that the first of equals is chosen.
    x = integers(3, (6, 200), -1000, 40)
    value, where = run_triton(
        name("largest"), 6, x, out(6, "i4"), out(6, "i4"), i32(200)
    )
    equal(value, x.max(axis=1))
    equal(where, x.argmax(axis=1).astype("i4"))


def test_scan():
    x = integers(4, (3, 500), -1000, 1000)
    (z,) = run_triton(name("scan"), 3, x, out((3, 500), "i4"), i32(500))
    equal(z, np.cumsum(x, axis=1, dtype="i4"))


def test_counts():
    x = integers(5, 1300, 0, 64) & integers(6, 1300, 0, 64)
    (z,) = run_triton(name("counts"), 3, x, inout(np.zeros(64, "i4")), i32(1300))
    equal(z, np.bincount(x, minlength=64).astype("i4"))


def test_sort():
    x = hashes(7, (5, 64)).view("i4")
    (z,) = run_triton(name("sort"), 5, x, out((5, 64), "i4"))
    equal(z, np.sort(x, axis=1))


def test_lock():
    x = integers(8, (6, 128), -1000, 1000)
    zeros = np.zeros(128, "i4")
    # The lock orders the plain stores of different blocks.
    z, mutex = run_triton(
        name("lock"),
        6,
        x,
        inout(zeros),
        inout(np.zeros(1, "i4")),
        options=["--allow=write-write"],
    )
    equal(z, x.sum(axis=0, dtype="i4"))
    equal(mutex, np.zeros(1, "i4"))


main()
