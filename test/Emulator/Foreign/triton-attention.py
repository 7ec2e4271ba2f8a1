"""Triton: attention in one pass."""

# RUN: %numpy-python %s

import math

from check import *


def attention(q, k, v, scale, causal):
    result = []
    for a, b, c in zip(*(x.astype("f8") for x in (q, k, v))):
        s = a @ b.T * scale
        if causal:
            s = np.where(np.tri(len(s), dtype=bool), s, -np.inf)
        p = np.exp2(s - s.max(axis=1, keepdims=True))
        result.append(p / p.sum(axis=1, keepdims=True) @ c)
    return np.array(result)


def test_attention():
    heads, d = 2, 32
    scale = np.float32(1 / math.sqrt(d) * math.log2(math.e))
    # Triton leaves tcgen05.fence out, and relies on the order of copies and
    # multiplies.
    unfenced = ["--allow=loose-tensor-memory"]
    for label, rows, length, causal, options in (
        ("causal.sm_80", 32, 75, True, []),
        ("full.sm_90a", 16, 50, False, []),
        ("full.sm_100a", 128, 150, False, unfenced),
    ):
        q, k, v = (normals(s, (heads, length, d), "f2") for s in (1, 2, 3))
        grid = ((length + rows - 1) // rows, heads)
        (z,) = run_triton(
            f"triton/attention.{label}.ptx",
            grid,
            q,
            k,
            v,
            out(q.shape, "f4"),
            f32(scale),
            i32(length),
            options=options,
        )
        # Probabilities are rounded to halves before the second product.
        close(z, attention(q, k, v, scale, causal), 2e-3, 2e-3, label)


main()
