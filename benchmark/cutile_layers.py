#!/usr/bin/env python3
"""Compiles the linear layers of layers.py with NVIDIA's cuda-tile. Needs no GPU.

    VENV/bin/python benchmark/cutile_layers.py REQUESTS.json FOLDER

where VENV has `cuda-tile` and `nvidia-cuda-tileiras`. REQUESTS.json is a list of
{target, x, y, scale, m, n, k, repeat}. For each one FOLDER/NUMBER.cubin is written; the
answers go to the standard output as a JSON list of {cubin} or {error}, where
`cubin` are the seconds of each of `repeat` compilations.

K is contiguous, scales are in linear order, and every extent and stride is known
to be divisible by 16, of operands by 32.
"""

import json
import pathlib
import sys
import time

import cuda.tile as ct
from cuda.tile.compilation import (
    ArrayConstraint,
    CallingConvention,
    ConstantConstraint,
    KernelSignature,
    export_kernel,
)


@ct.kernel
def scaled_linear(
    x,
    y,
    xs,
    ys,
    z,
    BM: ct.Constant[int],
    BN: ct.Constant[int],
    BK: ct.Constant[int],
    BS: ct.Constant[int],
):
    m, n = ct.bid(0), ct.bid(1)
    acc = ct.zeros((BM, BN), ct.float32)
    for k in range(ct.cdiv(x.shape[1], BK)):
        a = ct.load(x, index=(m, k), shape=(BM, BK))
        b = ct.load(y, index=(n, k), shape=(BN, BK)).transpose()
        sa = ct.load(xs, index=(m, k), shape=(BM, BS))
        sb = ct.load(ys, index=(n, k), shape=(BN, BS)).transpose()
        acc = ct.mma_scaled(a, sa, b, sb, acc)
    ct.store(z, index=(m, n), tile=acc)


TYPES = {
    "e2m1": ct.float4_e2m1fn,
    "e4m3": ct.float8_e4m3fn,
    "ue8m0": ct.float8_e8m0fnu,
    "f32": ct.float32,
}


def describe_array(kind, divisor=16):
    return ArrayConstraint(
        dtype=TYPES[kind],
        ndim=2,
        index_dtype=ct.int32,
        stride_lower_bound_incl=(0, 0),
        alias_groups=(),
        may_alias_internally=False,
        stride_constant=(None, 1),
        shape_constant=(None, None),
        stride_divisible_by=(divisor, 1),
        shape_divisible_by=(16, 16),
        base_addr_divisible_by=16,
    )


def compile_request(request, path):
    block = 16 if request["scale"] == "e4m3" else 32
    tile = [request["m"], request["n"], request["k"], request["k"] // block]
    operands = [describe_array(request[name], 32) for name in ("x", "y")]
    others = [describe_array(request["scale"])] * 2 + [describe_array("f32")]
    signature = KernelSignature(
        parameters=(*operands, *others, *map(ConstantConstraint, tile)),
        calling_convention=CallingConvention.cutile_python_v1(),
        symbol="scaled_linear",
    )
    seconds = []
    for _ in range(request.get("repeat", 1)):
        start = time.perf_counter()
        export_kernel(
            scaled_linear,
            [signature],
            str(path),
            gpu_code=request["target"],
            output_format="cubin",
        )
        seconds.append(time.perf_counter() - start)
    return {"cubin": seconds}


def main():
    requests, folder = map(pathlib.Path, sys.argv[1:])
    answers = []
    for number, request in enumerate(json.loads(requests.read_text())):
        try:
            answers.append(compile_request(request, folder / f"{number}.cubin"))
        except Exception as error:  # whatever it refuses it with
            answers.append({"error": str(error).strip().splitlines()[0]})
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
