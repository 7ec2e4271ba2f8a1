"""One element per lane."""

import triton
import triton.language as tl
from kernels import Kernel


@triton.jit
def vector_add(x, y, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(z + i, tl.load(x + i, inside) + tl.load(y + i, inside), inside)


@triton.jit
def gelu_f16(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    v = tl.load(x + i, inside).to(tl.float32)
    v = 0.5 * v * (1 + tl.erf(v * 0.7071067811865476))
    tl.store(y + i, v.to(tl.float16), inside)


@triton.jit
def dropout(x, y, n, seed, BLOCK: tl.constexpr):
    """Keeps one half of the elements, by Philox random numbers."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    keep = tl.randint(seed, i) & 1
    tl.store(y + i, tl.where(keep == 1, tl.load(x + i, inside) * 2, 0.0), inside)


F32 = {"x": "*fp32", "y": "*fp32", "z": "*fp32", "n": "i32", "seed": "i32"}
F16 = {"x": "*fp16", "y": "*fp16", "n": "i32"}
KERNELS = [
    *(Kernel(vector_add, "add", arch, F32, dict(BLOCK=512)) for arch in (80, 90, 120)),
    Kernel(vector_add, "add-lines", 80, F32, dict(BLOCK=256), warps=2, lines=True),
    Kernel(vector_add, "add-vectors", 80, F32, dict(BLOCK=512), ("n",)),
    Kernel(gelu_f16, "gelu", 90, F16, dict(BLOCK=512), ("n",)),
    Kernel(dropout, "dropout", 80, F32, dict(BLOCK=256)),
]
