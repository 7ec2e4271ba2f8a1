"""Softmax and layer norm, one row per program."""

import triton
import triton.language as tl
from kernels import Kernel


@triton.jit
def softmax(x, y, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + i, i < columns, -float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * stride + i, e / tl.sum(e, 0), i < columns)


@triton.jit
def layer_norm(x, weight, bias, y, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for base in range(0, columns, BLOCK):
        i = base + tl.arange(0, BLOCK)
        total += tl.load(x + row * columns + i, i < columns, 0.0).to(tl.float32)
    mean = tl.sum(total, 0) / columns
    squares = tl.zeros((BLOCK,), tl.float32)
    for base in range(0, columns, BLOCK):
        i = base + tl.arange(0, BLOCK)
        v = tl.load(x + row * columns + i, i < columns, 0.0).to(tl.float32)
        d = tl.where(i < columns, v - mean, 0.0)
        squares += d * d
    scale = tl.rsqrt(tl.sum(squares, 0) / columns + epsilon)
    for base in range(0, columns, BLOCK):
        i = base + tl.arange(0, BLOCK)
        inside = i < columns
        v = tl.load(x + row * columns + i, inside, 0.0).to(tl.float32)
        w, b = tl.load(weight + i, inside), tl.load(bias + i, inside)
        tl.store(
            y + row * columns + i, ((v - mean) * scale * w + b).to(tl.bfloat16), inside
        )


SOFTMAX = {"x": "*fp32", "y": "*fp32", "columns": "i32", "stride": "i32"}
NORM = {
    "x": "*bf16",
    "weight": "*fp32",
    "bias": "*fp32",
    "y": "*bf16",
    "columns": "i32",
    "epsilon": "fp32",
}
KERNELS = [
    Kernel(softmax, "softmax", 80, SOFTMAX, dict(BLOCK=512)),
    Kernel(softmax, "softmax", 120, SOFTMAX, dict(BLOCK=1024), ("stride",), warps=8),
    Kernel(layer_norm, "layer-norm", 80, NORM, dict(BLOCK=256)),
    Kernel(layer_norm, "layer-norm", 90, NORM, dict(BLOCK=256), ("columns",)),
]
