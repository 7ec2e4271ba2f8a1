"""Matrix products z = x y with 1 to 4 stages.

On sm_90 Triton multiplies with wgmma where there are four warps or more; two
warps make it use mma.sync.
"""

import triton
import triton.language as tl
from kernels import Kernel


@triton.jit
def matmul(
    x, y, z, m, n, k, ldx, ldy, ldz,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr,
    PRECISION: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    px = x + rows[:, None] * ldx + inner[None, :]
    py = y + inner[:, None] * ldy + columns[None, :]
    acc = tl.zeros((BM, BN), ACC)
    for base in range(0, k, BK):
        a = tl.load(px, (rows[:, None] < m) & (inner[None, :] < k - base), 0.0)
        b = tl.load(py, (inner[:, None] < k - base) & (columns[None, :] < n), 0.0)
        acc = tl.dot(a, b, acc, input_precision=PRECISION, out_dtype=ACC)
        px += BK
        py += BK * ldy
    inside = (rows[:, None] < m) & (columns[None, :] < n)
    tl.store(z + rows[:, None] * ldz + columns[None, :], acc, inside)


def product(
    label, arch, kind, accumulator, stages, warps, tile=(32, 32, 32), precision="ieee"
):
    types = {"x": "*" + kind, "y": "*" + kind, "z": "*i32" if kind == "i8" else "*fp32"}
    types.update((name, "i32") for name in ("m", "n", "k", "ldx", "ldy", "ldz"))
    return Kernel(
        matmul,
        label,
        arch,
        types,
        dict(zip(("BM", "BN", "BK"), tile), ACC=accumulator, PRECISION=precision),
        ("k", "n", "ldx", "ldy", "ldz"),
        warps,
        stages,
    )


KERNELS = [
    product("f16-s1", 80, "fp16", tl.float32, 1, 4),
    product("f16-s2", 80, "fp16", tl.float32, 2, 2),
    product("bf16-s3", 80, "bf16", tl.float32, 3, 4, (64, 32, 32)),
    product("tf32-s3", 80, "fp32", tl.float32, 3, 4, precision="tf32"),
    product("f32-s2", 80, "fp32", tl.float32, 2, 4, (16, 16, 16)),
    product("i8-s3", 80, "i8", tl.int32, 3, 4, (32, 32, 32)),
    product("bf16-s3", 90, "bf16", tl.float32, 3, 2),
    product("fp8-s2", 89, "fp8e4nv", tl.float32, 2, 4, (32, 32, 32)),
    product("bf16-s3", 100, "bf16", tl.float32, 3, 4, (128, 64, 64)),
    product("f16-s2", 100, "fp16", tl.float32, 2, 4, (64, 128, 32)),
    product("fp8-s2", 100, "fp8e4nv", tl.float32, 2, 4, (128, 32, 64)),
    product("fp8-s3", 100, "fp8e5", tl.float32, 3, 4, (64, 64, 128)),
    product("bf16-s3", 120, "bf16", tl.float32, 3, 4),
    product("fp8-s2", 120, "fp8e4nv", tl.float32, 2, 4, (32, 32, 64)),
]
