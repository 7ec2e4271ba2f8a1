"""Triton: vector addition, GELU, random numbers."""

# RUN: %numpy-python %s

import math

from check import *


def test_add():
    files = [f"add.{arch}" for arch in ("sm_80", "sm_90a", "sm_120a")]
    cases = [(name, 512, 1300) for name in files]
    cases += [("add-lines.sm_80", 256, 1300), ("add-vectors.sm_80", 512, 1296)]
    for name, block, n in cases:
        x, y = floats(1, n), floats(2, n)
        grid = (n + block - 1) // block
        ptx = f"triton/elementwise.{name}.ptx"
        (z,) = run_triton(ptx, grid, x, y, out(n, "f4"), i32(n))
        equal(z, x + y, name)


def test_gelu():
    n = 1200
    x = (2 * normals(3, n)).astype("f2")
    (y,) = run_triton("triton/elementwise.gelu.sm_90a.ptx", 3, x, out(n, "f2"), i32(n))
    v = x.astype("f8")
    erf = np.array([math.erf(a) for a in v * math.sqrt(0.5)])
    close(y, 0.5 * v * (1 + erf), 2.0**-10, 2.0**-20)


def philox(seed, counter):
    """The first word of Philox 4x32 with ten rounds."""
    c, k = [counter, 0, 0, 0], [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [
            b >> 32 ^ c[1] ^ k[0],
            b & 0xFFFFFFFF,
            a >> 32 ^ c[3] ^ k[1],
            a & 0xFFFFFFFF,
        ]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c[0]


def test_dropout():
    n, seed = 700, 123456789
    x = floats(4, n)
    keep = np.array([philox(seed, i) & 1 for i in range(n)])
    (y,) = run_triton(
        "triton/elementwise.dropout.sm_80.ptx", 3, x, out(n, "f4"), i32(n), i32(seed)
    )
    equal(y, np.where(keep, x * 2, 0).astype("f4"))


main()
