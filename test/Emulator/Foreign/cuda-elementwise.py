"""nvcc: one thread per element, launches of any shape, transposition."""

# RUN: %numpy-python %s

from check import *

FILES = ["cuda/elementwise.sm_80.ptx", "cuda/elementwise.sm_120.ptx"]


def test_vector_add():
    a, b = floats(1, 1000), floats(2, 1000)
    # With line tables and for a debugger as well; sections are not code.
    extra = ["cuda/elementwise.debug.sm_80.ptx", "cuda/elementwise.lineinfo.sm_80.ptx"]
    for ptx in FILES + extra:
        (c,) = run(ptx, "vector_add", 4, 256, a, b, out(1000, "f4"), i32(1000))
        equal(c, a + b, ptx)


def test_axpy4():
    x, y = floats(3, 1003), floats(4, 1003)
    for ptx in FILES:
        (z,) = run(ptx, "axpy4", 5, 64, f32(1.5), x, inout(y), i32(1003))
        equal(z, np.float32(1.5) * x + y, ptx)


def test_widen():
    n = 777
    arrays = [
        integers(5, n, -128, 128, "i1"),
        integers(6, n, 0, 256, "u1"),
        integers(7, n, -32768, 32768, "i2"),
        integers(8, n, 0, 65536, "u2"),
        hashes(9, n).view("i4"),
    ]
    expected = arrays[0].astype("i8")
    for factor, array in zip((3, 5, 7, 11), arrays[1:]):
        expected = expected * factor + array
    for ptx in FILES:
        total, low = run(
            ptx, "widen", 3, 96, *arrays, out(n, "i8"), out(n, "i2"), i32(n)
        )
        equal(total, expected, ptx)
        equal(low, expected.astype("i2"), ptx)


def test_coordinates():
    grid, block = (2, 3, 2), (5, 3, 4)
    expected = []
    for bz, by, bx in np.ndindex(grid[::-1]):
        for number, (z, y, x) in enumerate(np.ndindex(block[::-1])):
            size = [v[0] + 100 * v[1] + 10000 * v[2] for v in (block, grid)]
            expected.append([x, y, z, bx, by, bz, number % 32, *size])
    for ptx in FILES:
        (c,) = run(ptx, "coordinates", grid, block, out((720, 9), "i4"))
        equal(c, np.array(expected, "i4"), ptx)


def test_transpose():
    a = hashes(10, (37, 53)).view("i4")
    for ptx in FILES:
        (c,) = run(
            ptx, "transpose", (4, 3), (16, 16), a, out((53, 37), "i4"), i32(37), i32(53)
        )
        equal(c, a.T, ptx)


main()
