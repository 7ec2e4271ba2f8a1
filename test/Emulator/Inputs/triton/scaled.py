"""Block-scaled products: native on sm_100 and sm_120, by conversion elsewhere.

z[M, N] = x[M, K] y[N, K]^T; FP4 values in pairs along K, one scale per 32
values of K (E8M0) or per 16 (E4M3). On sm_90 two warps avoid wgmma.
"""

import triton
import triton.language as tl
from kernels import Kernel


@triton.jit
def scaled(
    x, y, xs, ys, z, k, ldx, ldy, ldxs, ldys, ldz,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    A: tl.constexpr, B: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    PA: tl.constexpr = 2 if A == "e2m1" else 1
    PB: tl.constexpr = 2 if B == "e2m1" else 1
    ka, kb = tl.arange(0, BK // PA), tl.arange(0, BK // PB)
    ks = tl.arange(0, BK // GROUP)
    px = x + rows[:, None] * ldx + ka[None, :]
    py = y + columns[None, :] * ldy + kb[:, None]
    pxs = xs + rows[:, None] * ldxs + ks[None, :]
    pys = ys + columns[:, None] * ldys + ks[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for base in range(0, k, BK):
        a, b, sb = tl.load(px), tl.load(py), tl.load(pys)
        if A == "bf16":
            acc = tl.dot_scaled(a, None, A, b, sb, B, acc)
        else:
            acc = tl.dot_scaled(a, tl.load(pxs), A, b, sb, B, acc)
        px += BK // PA
        py += BK // PB
        pxs += BK // GROUP
        pys += BK // GROUP
    tl.store(z + rows[:, None] * ldz + columns[None, :], acc)


@triton.jit
def scaled_chunks(
    x, y, xs, ys, z, k, ldx, ldy, ldz,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    A: tl.constexpr, B: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """As above with scales in chunks of 128 rows by 4, of 512 bytes each."""
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    PA: tl.constexpr = 2 if A == "e2m1" else 1
    PB: tl.constexpr = 2 if B == "e2m1" else 1
    CHUNKS: tl.constexpr = BK // GROUP // 4
    ka, kb = tl.arange(0, BK // PA), tl.arange(0, BK // PB)
    px = x + rows[:, None] * ldx + ka[None, :]
    py = y + columns[None, :] * ldy + kb[:, None]
    line = k // GROUP // 4 * 512
    inner = tl.arange(0, CHUNKS * 512)
    ma = tl.program_id(0) * (BM // 128) + tl.arange(0, BM // 128)
    mb = tl.program_id(1) * (BN // 128) + tl.arange(0, BN // 128)
    pxs = xs + ma[:, None] * line + inner[None, :]
    pys = ys + mb[:, None] * line + inner[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for base in tl.range(0, k, BK):
        a, b = tl.load(px), tl.load(py)
        sa = tl.load(pxs).reshape(BM // 128, CHUNKS, 32, 4, 4)
        sb = tl.load(pys).reshape(BN // 128, CHUNKS, 32, 4, 4)
        sa = sa.trans(0, 3, 2, 1, 4).reshape(BM, BK // GROUP)
        sb = sb.trans(0, 3, 2, 1, 4).reshape(BN, BK // GROUP)
        acc = tl.dot_scaled(a, sa, A, b, sb, B, acc)
        px += BK // PA
        py += BK // PB
        pxs += CHUNKS * 512
        pys += CHUNKS * 512
    tl.store(z + rows[:, None] * ldz + columns[None, :], acc)


POINTERS = {"e2m1": "*u8", "e4m3": "*fp8e4nv", "e5m2": "*fp8e5", "bf16": "*bf16"}


def product(label, arch, a, b, group, warps=4, stages=2, tile=(32, 32, 128), fn=scaled):
    scale = "*fp8e4nv" if group == 16 else "*u8"
    types = {"x": POINTERS[a], "y": POINTERS[b], "xs": scale, "ys": scale, "z": "*fp32"}
    types.update((n, "i32") for n in ("k", "ldx", "ldy", "ldxs", "ldys", "ldz"))
    types = {name: types[name] for name in fn.arg_names if name in types}
    constants = dict(zip(("BM", "BN", "BK"), tile), A=a, B=b, GROUP=group)
    return Kernel(
        fn,
        label,
        arch,
        types,
        constants,
        ("k", "ldx", "ldy", "ldz"),
        warps,
        stages,
    )


# FP4 and FP8 widen through many instructions: small tiles, small files.
SMALL = (16, 32, 64)
KERNELS = [
    product("nvfp4", 120, "e2m1", "e2m1", 16),
    product("mxfp4", 120, "e2m1", "e2m1", 32),
    product("mxfp8", 120, "e4m3", "e4m3", 32),
    product("mxfp8-mxfp4", 120, "e4m3", "e2m1", 32, tile=SMALL),
    product("nvfp4", 100, "e2m1", "e2m1", 16, tile=(128, 32, 128)),
    product("mxfp4", 100, "e2m1", "e2m1", 32, stages=3, tile=(128, 64, 128)),
    product("mxfp8", 100, "e4m3", "e4m3", 32, tile=(128, 32, 128)),
    product("mxfp8-mxfp4", 100, "e5m2", "e2m1", 32, tile=(128, 64, 128)),
    product("mxfp4-mxfp8", 100, "e2m1", "e4m3", 32, tile=(128, 32, 128)),
    product(
        "nvfp4-chunks",
        100,
        "e2m1",
        "e2m1",
        16,
        stages=3,
        tile=(128, 128, 256),
        fn=scaled_chunks,
    ),
    product(
        "mxfp8-chunks",
        100,
        "e4m3",
        "e4m3",
        32,
        tile=(128, 256, 128),
        fn=scaled_chunks,
    ),
    product("mxfp4", 80, "e2m1", "e2m1", 32, tile=SMALL),
    product("mxfp8", 80, "e5m2", "e5m2", 32, tile=SMALL),
    product("bf16-mxfp4", 80, "bf16", "e2m1", 32, tile=SMALL),
    product("nvfp4", 89, "e2m1", "e2m1", 16, tile=SMALL),
    product("mxfp8-mxfp4", 90, "e4m3", "e2m1", 32, warps=2, tile=SMALL),
]
