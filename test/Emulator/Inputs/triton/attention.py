"""Attention in one pass over the keys, with running maximum and sum."""

import triton
import triton.language as tl
from kernels import Kernel


@triton.jit
def attention(
    q, k, v, out, scale, length,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1) * length * D
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    a = tl.load(q + head + rows[:, None] * D + d[None, :], rows[:, None] < length, 0.0)
    high = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    end = tl.minimum((tl.program_id(0) + 1) * BM, length) if CAUSAL else length
    for base in range(0, end, BN):
        columns = base + tl.arange(0, BN)
        at = head + columns[:, None] * D + d[None, :]
        b = tl.load(k + at, columns[:, None] < length, 0.0)
        c = tl.load(v + at, columns[:, None] < length, 0.0)
        s = tl.dot(a, tl.trans(b)) * scale
        seen = columns[None, :] < length
        if CAUSAL:
            seen = seen & (columns[None, :] <= rows[:, None])
        s = tl.where(seen, s, -float("inf"))
        new = tl.maximum(high, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        shrink = tl.exp2(high - new)
        total = total * shrink + tl.sum(p, 1)
        acc = acc * shrink[:, None]
        acc = tl.dot(p.to(c.dtype), c, acc)
        high = new
    acc = acc / total[:, None]
    tl.store(out + head + rows[:, None] * D + d[None, :], acc, rows[:, None] < length)


TYPES = {
    "q": "*fp16",
    "k": "*fp16",
    "v": "*fp16",
    "out": "*fp32",
    "scale": "fp32",
    "length": "i32",
}
KERNELS = [
    Kernel(attention, "causal", 80, TYPES, dict(BM=32, BN=32, D=32, CAUSAL=True)),
    Kernel(
        attention,
        "full",
        90,
        TYPES,
        dict(BM=16, BN=32, D=32, CAUSAL=False),
        warps=1,
        stages=3,
    ),
    Kernel(attention, "full", 100, TYPES, dict(BM=128, BN=32, D=32, CAUSAL=False)),
]
