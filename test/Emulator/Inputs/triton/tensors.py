"""Tensor descriptors: boxes that cp.async.bulk.tensor copies.

A descriptor of the host becomes a tensor map and, in case the kernel looks, the
tensor's extents and strides; `make_tensor_descriptor` makes one in the kernel.
Tiles of 32 rows are too small for tcgen05, and two warps for wgmma, so that
`matmul` uses mma.sync.
"""

import triton
import triton.language as tl
from kernels import Kernel


@triton.jit
def matmul(x, y, z, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM
    column = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for base in range(0, k, BK):
        a = x.load([row, base])
        b = y.load([column, base])
        acc = tl.dot(a, b.T, acc)
    z.store([row, column], acc)


@triton.jit
def scaled(
    x, y, z, sx, sy, k, lds, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    XF: tl.constexpr, YF: tl.constexpr, G: tl.constexpr,
):  # fmt: skip
    """Block-scaled; e2m1 operands in pairs. Beside 8-bit ones they get gaps."""
    row = tl.program_id(0) * BM
    column = tl.program_id(1) * BN
    px = sx + (row + tl.arange(0, BM))[:, None] * lds + tl.arange(0, BK // G)[None, :]
    py = sy + (column + tl.arange(0, BN))[:, None] * lds
    py += tl.arange(0, BK // G)[None, :]
    PX: tl.constexpr = 2 if XF == "e2m1" else 1
    PY: tl.constexpr = 2 if YF == "e2m1" else 1
    acc = tl.zeros((BM, BN), tl.float32)
    for base in range(0, k, BK):
        a = x.load([row, base // PX])
        b = y.load([column, base // PY])
        acc = tl.dot_scaled(a, tl.load(px), XF, b.T, tl.load(py), YF, acc)
        px += BK // G
        py += BK // G
    z.store([row, column], acc)


@triton.jit
def shift(x, z, rows, columns, BM: tl.constexpr, BN: tl.constexpr):
    """Boxes that lie half outside, and what is there instead."""
    tile = x.load([tl.program_id(0) * BM - rows, tl.program_id(1) * BN - columns])
    at = tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)
    place = tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :]
    tl.store(z + at * BM * BN + place, tile)


@triton.jit
def move(x, z, a, b, c, d, e):
    """A box of five dimensions, from anywhere to one step further in each."""
    z.store([a + 1, b + 1, c + 1, d + 1, e + 1], x.load([a, b, c, d, e]))


@triton.jit
def reduce(x, z, t, BM: tl.constexpr, BN: tl.constexpr):
    """Every block adds to one tile of z and takes the largest in t."""
    tile = x.load([tl.program_id(0) * BM, 0])
    z.atomic_add([5, 0], tile)
    t.atomic_max([0, 3], tile)


@triton.jit
def rows(x, z, order, BM: tl.constexpr, BN: tl.constexpr):
    """Rows in any order, and back to another place."""
    index = tl.load(order + tl.program_id(0) * BM + tl.arange(0, BM))
    tile = x.gather(index, tl.program_id(1) * BN)
    z.scatter(tile, index + 1, tl.program_id(1) * BN)


@triton.jit
def transpose(x, z, m, n, BM: tl.constexpr, BN: tl.constexpr):
    """With descriptors that the kernel makes."""
    source = tl.make_tensor_descriptor(x, [m, n], [n, 1], [BM, BN])
    target = tl.make_tensor_descriptor(z, [n, m], [m, 1], [BN, BM])
    row = tl.program_id(0) * BM
    column = tl.program_id(1) * BN
    target.store([column, row], source.load([row, column]).T)


def kernel(fn, arch, types, label="", warps=4, stages=2, **constants):
    label = "-".join(filter(None, [fn.__name__, label]))
    return Kernel(fn, label, arch, types, constants, ("m", "n"), warps, stages)


def tensor(kind, *box):
    return f"tensordesc<{kind}[{','.join(map(str, box))}]>"


def scale(label, arch, left, right, group, tile):
    kinds = dict(e2m1="u8", e4m3="fp8e4nv", e5m2="fp8e5")
    bm, bn, bk = tile

    def operand(kind, rows):
        return tensor(kinds[kind], rows, bk // 2 if kind == "e2m1" else bk)

    pointer = "*fp8e4nv" if group == 16 else "*u8"
    return Kernel(
        scaled,
        f"scaled-{label}",
        arch,
        dict(
            x=operand(left, bm),
            y=operand(right, bn),
            z=tensor("fp32", bm, bn),
            sx=pointer,
            sy=pointer,
            k="i32",
            lds="i32",
        ),
        dict(BM=bm, BN=bn, BK=bk, XF=left, YF=right, G=group),
        ("k", "lds"),
    )


KERNELS = [
    scale("nvfp4", 100, "e2m1", "e2m1", 16, (128, 32, 256)),
    scale("mxfp8-mxfp4", 100, "e4m3", "e2m1", 32, (128, 32, 256)),
    scale("mxfp4-mxfp8", 100, "e2m1", "e5m2", 32, (128, 32, 128)),
    scale("nvfp4", 120, "e2m1", "e2m1", 16, (32, 32, 256)),
    *(
        kernel(
            matmul,
            arch,
            dict(
                x=tensor("fp16", 32, 64),
                y=tensor("fp16", 32, 64),
                z=tensor("fp32", 32, 32),
                k="i32",
            ),
            warps=2 if arch == 90 else 4,
            stages=3,
            BM=32,
            BN=32,
            BK=64,
        )
        for arch in (90, 100, 120)
    ),
    *(
        kernel(
            shift,
            90,
            dict(x=tensor(kind, 16, columns), z="*" + kind, rows="i32", columns="i32"),
            f"{kind}-{columns}",
            BM=16,
            BN=columns,
        )
        for kind, columns in (("i8", 32), ("bf16", 32), ("fp32", 32), ("fp32", 64))
    ),
    kernel(
        move,
        100,
        dict(
            x=tensor("i16", 2, 4, 2, 4, 16),
            z=tensor("i16", 2, 4, 2, 4, 16),
            **{name: "i32" for name in "abcde"},
        ),
    ),
    kernel(
        reduce,
        90,
        dict(
            x=tensor("i32", 16, 32),
            z=tensor("i32", 16, 32),
            t=tensor("i32", 16, 32),
        ),
        BM=16,
        BN=32,
    ),
    kernel(
        rows,
        100,
        dict(x=tensor("fp16", 1, 32), z=tensor("fp16", 1, 32), order="*i32"),
        BM=16,
        BN=32,
    ),
    *(
        kernel(
            transpose,
            arch,
            dict(x="*fp32", z="*fp32", m="i32", n="i32"),
            BM=16,
            BN=32,
        )
        for arch in (90, 120)
    ),
]
