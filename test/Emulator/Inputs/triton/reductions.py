"""Sums, positions, scans and counts."""

import triton
import triton.language as tl
from kernels import Kernel


@triton.jit
def total(x, z, n, BLOCK: tl.constexpr):
    """One atomic per program, of a sum of floats."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(z, tl.sum(tl.load(x + i, i < n, 0.0), 0))


@triton.jit
def columns(x, z, rows, width, BLOCK: tl.constexpr):
    """Adds the rows of a matrix: an atomic per element and program."""
    r = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = tl.arange(0, 64)
    inside = (r[:, None] < rows) & (c[None, :] < width)
    v = tl.load(x + r[:, None] * width + c[None, :], inside, 0.0)
    tl.atomic_add(z + c, tl.sum(v, 0), c < width)


@triton.jit
def largest(x, value, where, width, BLOCK: tl.constexpr):
    """The largest element of each row and its first position."""
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * width + i, i < width, -2147483648)
    high, at = tl.max(v, 0, return_indices=True)
    tl.store(value + row, high)
    tl.store(where + row, at)


@triton.jit
def scan(x, z, width, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * width + i, i < width, 0)
    tl.store(z + row * width + i, tl.cumsum(v, 0), i < width)


@triton.jit
def counts(x, z, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, i < n, 0)
    h = tl.histogram(v, 64, mask=i < n)
    tl.atomic_add(z + tl.arange(0, 64), h)


@triton.jit
def sort(x, z, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    tl.store(z + row * BLOCK + i, tl.sort(tl.load(x + row * BLOCK + i)))


@triton.jit
def lock(x, z, mutex, BLOCK: tl.constexpr):
    """Programs add to one vector in turns."""
    i = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * BLOCK + i)
    while tl.atomic_cas(mutex, 0, 1) == 1:
        pass
    tl.store(z + i, tl.load(z + i, cache_modifier=".cg") + v)
    tl.debug_barrier()
    tl.atomic_xchg(mutex, 0)


F = {"x": "*fp32", "z": "*fp32", "n": "i32", "rows": "i32", "width": "i32"}
I = {
    "x": "*i32",
    "z": "*i32",
    "value": "*i32",
    "where": "*i32",
    "mutex": "*i32",
    "n": "i32",
    "width": "i32",
}
KERNELS = [
    Kernel(total, "total", 80, F, dict(BLOCK=512)),
    Kernel(columns, "columns", 80, F, dict(BLOCK=32)),
    Kernel(columns, "columns", 90, F, dict(BLOCK=32), ("width",)),
    Kernel(largest, "largest", 80, I, dict(BLOCK=256)),
    Kernel(scan, "scan", 80, I, dict(BLOCK=512)),
    Kernel(counts, "counts", 80, I, dict(BLOCK=512)),
    Kernel(sort, "sort", 80, I, dict(BLOCK=64), warps=2),
    Kernel(lock, "lock", 80, I, dict(BLOCK=128)),
]
