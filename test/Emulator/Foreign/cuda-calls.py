"""nvcc: calls by name, by pointer, through virtual tables, and recursion."""

# RUN: %numpy-python %s

from check import *

FILES = ["cuda/calls.sm_80.ptx", "cuda/calls.sm_120.ptx"]


def direct(v):
    scale = lambda a, by: a * by + 1
    r = scale(v, 3) if v > 0 else scale(scale(v, 5), v)
    first, second, third = v, 7 * v, [v, 2 * v, 3 * v]
    for k in range(max(remainder(v, 4), 0)):
        by = k + 2
        first, second = second - by, first << 20
        third = [third[2], third[0], third[1] * by]
        first = wrap(first)
    last = third[0] + 2 * third[1] + 4 * third[2]
    return [r, first, second >> 4, last, quotient(v, 9), remainder(v, 9)]


def test_direct():
    v = integers(1, 150, -700, 700)
    expected = [[wrap(x) for x in direct(int(x))] for x in v]
    for ptx in FILES:
        (z,) = run(ptx, "direct", 2, 96, v, out((150, 6), "i4"), i32(150))
        equal(z, np.array(expected, "i4"), ptx)


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def permutations(taken, depth, n):
    """How many permutations leave nothing in its place."""
    if depth == n:
        return 1
    free = [k for k in range(n) if k not in taken and k != depth]
    return sum(permutations(taken | {k}, depth + 1, n) for k in free)


def test_recursive():
    v = integers(2, 100, 0, 5000)
    expected = [
        [fibonacci(x % 11), 1 - x % 40 % 2, permutations(set(), 0, x % 6)]
        for x in map(int, v)
    ]
    for ptx in FILES:
        (z,) = run(ptx, "recursive", 2, 64, v, out((100, 3), "i4"), i32(100))
        equal(z, np.array(expected, "i4"), ptx)


def test_pointers():
    v = integers(3, 96, -500, 500)
    expected = []
    for i, x in enumerate(map(int, v)):
        b = i % 32
        # The lanes of a warp that called the fourth function, together.
        warp = [int(u) for u in v[i - b : i - b + 32] if u & 3 == 3]
        results = [x + b, x - b, x ** (b & 7), max(warp, default=0) + b]
        expected.append(wrap(results[x & 3]))
    for ptx in FILES:
        (z,) = run(ptx, "pointers", 1, 96, v, out(96, "i4"), i32(96))
        equal(z, np.array(expected, "i4"), ptx)


def test_virtuals():
    v = integers(4, 100, -300, 300)
    expected = [
        x * x * (i + 1) if x % 3 else x * (x + 3) * (i + 1) - 1
        for i, x in enumerate(map(int, v))
    ]
    for ptx in FILES:
        (z,) = run(ptx, "virtuals", 1, 128, v, out(100, "i4"), i32(100))
        equal(z, np.array(expected, "i4"), ptx)


main()
