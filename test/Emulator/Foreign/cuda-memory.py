"""nvcc: state spaces, initialisers, structs, generic addresses, caches."""

# RUN: %numpy-python %s

import struct

from check import *

PTX = "cuda/memory.sm_80.ptx"


def test_initialised():
    primes, small = [2, 3, 5, 7, 11, 13, 17, 19], [-1, 2, -3, 4, -5]
    longs, shorts = [-5, 0x123456789ABCDEF], [65535, 1, 32768]
    doubles, halves = [1.25, -0.5], [0.5, 1.5, -2.5, 3.5]
    records = [(ord("a"), -2, 100, 50, 0.5), (ord("b"), 3, -200, -1, -4.0)]
    names = [b"first\0", b"second name"]
    rows, reals = [], []
    for i in range(40):
        tag, code, value, following, weight = records[i % 2]
        rows.append(
            [
                primes[i % 8] + small[i % 5] * 100,
                wrap((longs[i % 2] >> i % 3 * 8) + shorts[i % 3]),
                tag + 1000 * code + 100000 * value,
                following,
                names[i % 2][i % 6],
                0,
            ]
        )
        reals.append(doubles[i % 2] * halves[i % 4] + weight)
    z, r = run(PTX, "initialised", 1, 40, out(40 * 7, "i4"), out(40, "f8"))
    equal(z[:240].reshape(40, 6), np.array(rows, "i4"))
    equal(r, np.array(reals))
    equal(z[240:], np.full(40, 10, "i4"))


def test_dynamic_shared():
    n, block = 200, 96
    v = integers(1, n, -1000, 1000)
    expected = []
    for i in range(n):
        base, t = i // block * block, i % block
        at = lambda k: int(v[base + k]) if base + k < n else 0
        x = at(block - 1 - t) + 3 * at((t + 1) % block)
        expected.append(x + (at(t * 7 % block) & 255) * 1000)
    (z,) = run(
        PTX, "dynamic_shared", 3, block, v, out(n, "i4"), i32(n), shared=block * 13
    )
    equal(z, np.array(expected, "i4"))


def test_numbers_by_value():
    factors = [3, -5, 7, 1000]
    packed = Bytes(struct.pack("<i4hB3xd", -37, *factors, 200, 1.75))
    i = np.arange(150)
    values = (i - 37) * np.array(factors)[i % 4] * 1.75
    (z,) = run(PTX, "numbers_by_value", 2, 96, packed, out(150, "i4"), i32(150))
    equal(z, (np.trunc(values) + 200).astype("i4"))


def test_generic():
    v = integers(2, 64, 0, 5000)
    expected = []
    for t, x in enumerate(map(int, v)):
        if x & 3 == 0:
            expected.append(x + 100000)
        elif x & 3 == 1:
            expected.append(int(v[t ^ 1]) + 1 + 200000)
        else:
            expected.append(int(v[(t + (x >> 2 & 3)) % 64]) - 1 + 300000)
    (z,) = run(PTX, "generic", 1, 64, v, out(64, "i4"), i32(64))
    equal(z, np.array(expected, "i4"))


def test_local_array():
    v = integers(3, 100, 0, 256)
    expected = []
    for i in range(100):
        count = np.bincount(v[(i + np.arange(32)) % 100] & 15, minlength=16)
        expected.append(int(count.argmax()) * 100 + count[v[i] >> 4 & 15])
    (z,) = run(PTX, "local_array", 2, 64, v, out(100, "i4"), i32(100))
    equal(z, np.array(expected, "i4"))


def test_cached():
    a, b = integers(4, 192, -1000, 1000), integers(5, (32, 4), -1000, 1000)
    i = np.arange(32)
    v = sum(f * a[i + 32 * k] for k, f in enumerate((1, 3, 5, 7, 11, 13)))
    expected = [v, v + 1, v + 2, v + 3, a[:32] + 4, a[1:33]]
    before = np.zeros(193, "i4")
    z, w = run(PTX, "cached", 1, 32, a, b, inout(before), out((32, 4), "i4"))
    equal(z[:192].reshape(6, 32), np.array(expected, "i4"))
    equal(z[192:], a[1:33].sum(keepdims=True, dtype="i4"))
    vectors = b.copy()
    vectors[:, 0] += b[:, 0]
    vectors[:, 1] ^= b[:, 1]
    equal(w, vectors)


main()
