#!/usr/bin/env python3
"""Compiles the linear layers of layers.py with Triton. Needs no GPU.

    VENV/bin/python benchmark/triton_layers.py REQUESTS.json FOLDER

where VENV has `triton`, which peers.py says how to make. REQUESTS.json is a list
of {arch, x, y, scale, m, n, k, warps, stages, repeat}. For each one FOLDER/NUMBER.ptx
is written; the answers go to the standard output as a JSON list of {ptx, cubin, cpu,
shared} or {error}. `ptx` and `cubin` are the seconds of each of `repeat`
compilations, from the kernel's Python function to PTX and to a cubin, `cpu` those
of the processor to PTX; nothing is taken from a cache. The first compilation of a process is its cold one: imports are
not counted, what is loaded at first use is.

Every pointer, stride and extent is known to be divisible by 16, and M, N and K
are multiples of the tile, so that no access has a mask. Arguments of the entry:
x, y, scales of x and of y, z, M, N, K, the row strides of these five in elements
(i32), and two pointers of Triton's own, which may be null.
"""

import json
import os
import pathlib
import sys
import tempfile
import time
import warnings

os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
os.environ["TRITON_ALWAYS_COMPILE"] = "1"

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def scaled_linear(
    x,
    y,
    xs,
    ys,
    z,
    M,
    N,
    K,
    ldx,
    ldy,
    ldxs,
    ldys,
    ldz,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    X: tl.constexpr,
    Y: tl.constexpr,
    V: tl.constexpr,
    STAGES: tl.constexpr,
):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    packed_x: tl.constexpr = 2 if X == "e2m1" else 1
    packed_y: tl.constexpr = 2 if Y == "e2m1" else 1
    has_scale_x: tl.constexpr = X != "bf16"
    kx = tl.arange(0, BK // packed_x)
    ky = tl.arange(0, BK // packed_y)
    ks = tl.arange(0, BK // V)
    x_tile = x + rows[:, None] * ldx + kx[None, :]
    y_tile = y + columns[None, :] * ldy + ky[:, None]
    xs_tile = xs + rows[:, None] * ldxs + ks[None, :]
    ys_tile = ys + columns[:, None] * ldys + ks[None, :]
    sum = tl.zeros((BM, BN), tl.float32)
    for _ in tl.range(0, tl.cdiv(K, BK), num_stages=STAGES):
        a = tl.load(x_tile)
        b = tl.load(y_tile)
        sb = tl.load(ys_tile)
        sa = tl.load(xs_tile) if has_scale_x else None
        sum = tl.dot_scaled(a, sa, X, b, sb, Y, sum)
        x_tile += BK // packed_x
        y_tile += BK // packed_y
        xs_tile += BK // V
        ys_tile += BK // V
    tl.store(z + rows[:, None] * ldz + columns[None, :], sum)


OPERANDS = {"e2m1": "*u8", "e4m3": "*fp8e4nv", "bf16": "*bf16"}
SCALES = {"ue8m0": ("*u8", 32), "e4m3": ("*fp8e4nv", 16)}
NAMES = "x y xs ys z M N K ldx ldy ldxs ldys ldz".split()
CONSTANTS = "BM BN BK X Y V STAGES".split()


def compile_layer(request):
    """Returns (kernel, seconds to PTX, to a cubin, of the processor to PTX)."""
    scale, v = SCALES[request["scale"]]
    types = [OPERANDS[request["x"]], OPERANDS[request["y"]], scale, scale, "*fp32"]
    types += ["i32"] * 8 + ["constexpr"] * len(CONSTANTS)
    constants = dict(
        BM=request["m"],
        BN=request["n"],
        BK=request["k"],
        X=request["x"],
        Y=request["y"],
        V=v,
        STAGES=request["stages"],
    )
    source = ASTSource(
        fn=scaled_linear,
        signature=dict(zip(NAMES + CONSTANTS, types)),
        constexprs=constants,
        attrs={(i,): [["tt.divisibility", 16]] for i in range(len(NAMES))},
    )
    stages = {}

    def listen(times, **_):
        stages.update(
            {name: 1e-6 * duration for name, duration in times.lowering_stages}
        )

    triton.knobs.compilation.listener = listen
    cpu, start = time.process_time(), time.perf_counter()
    kernel = triton.compile(
        source,
        target=GPUTarget("cuda", request["arch"], 32),
        options={"num_warps": request["warps"], "num_stages": request["stages"]},
    )
    seconds = time.perf_counter() - start
    # ptxas is a process of its own.
    cpu = time.process_time() - cpu
    return kernel, seconds - stages["cubin"], seconds, cpu


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    warnings.simplefilter("ignore")
    requests = json.loads(pathlib.Path(sys.argv[1]).read_text())
    folder = pathlib.Path(sys.argv[2])
    answers = []
    for number, request in enumerate(requests):
        try:
            runs = [compile_layer(request) for _ in range(request["repeat"])]
        except Exception as error:  # Triton refuses in many ways.
            text = str(error).strip().splitlines() or [type(error).__name__]
            answers.append({"error": text[-1]})
            continue
        kernel = runs[0][0]
        (folder / f"{number}.ptx").write_text(kernel.asm["ptx"])
        _, ptx, cubin, cpu = zip(*runs)
        times = {"ptx": ptx, "cubin": cubin, "cpu": cpu}
        answers.append({**times, "shared": kernel.metadata.shared})
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
