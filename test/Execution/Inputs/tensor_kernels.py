#!/usr/bin/env python3
"""Multiplies for tensor memory: kernels of any types, tiles and layouts, run on
the emulator and compared with the reference, bit for bit.

    tensor_kernels.py types            every pair of types, scales in both orders
    tensor_kernels.py tiles            tiles from 16x8 to 256x256
    tensor_kernels.py pipeline         numbers of trips and of stages
    tensor_kernels.py forms            batches, transposed operands, sums that do not
                                       start at zero, several multiplies, loops in loops
    tensor_kernels.py one KEY=VALUE... one kernel, for example lhs=e4m3 rhs=f4 bm=64

Operands lie in larger arrays whose other bytes are NaN, and so does the result,
whose other bytes must stay. Values are such that every order of the sum is exact.
"""

import os
import subprocess
import sys
import tempfile

import numpy as np

TYPES = {"f4": "!tile.f4E2M1FNx2", "e4m3": "f8E4M3FN", "e5m2": "f8E5M2", "bf16": "bf16", "f16": "f16"}
VALUES = dict(TYPES, f4="f4E2M1FN")
SCALES = {"ue4m3": "f8E4M3FN", "ue8m0": "f8E8M0FNU"}
DEFAULTS = dict(
    lhs="f4", rhs="f4", scale="ue4m3", block=16, bm=128, bn=128, bk=128, m=128, n=128, k=256,
    order="linear", align=0, tma=0, stages=0, warps=0, batch=0, lhs_t=0, rhs_t=0, init=0, twice=0,
    nest=0, straight=0, accumulate="exact", out="f32", target="sm_100a", seed=1, schedule=0, expect="native",
)


def kernel(o):
    """The text of the kernel of the options `o`."""
    lhs, rhs, scaled = o["lhs"], o["rhs"], o["scale"] != "none"
    bm, bn, bk, block = o["bm"], o["bn"], o["bk"], o["block"]
    b = bool(o["batch"])
    perm = "[0, 2, 1]" if b else "[1, 0]"

    def tile(*shape):
        return "x".join(str(s) for s in ((o["batch"],) if b else ()) + shape) + "x"

    def array(element, rank=2):
        return f"memref<{'?x' * (rank + b)}{element}, strided<[{'?, ' * (rank + b - 1)}1]>>"

    def promise(extents, strides):
        if not o["align"]:
            return ""
        ones = [1] if b else []
        shape = ", ".join(str(x) for x in ones + extents)
        stride = ", ".join(str(x) for x in ([strides[0]] if b else []) + strides)
        return (f" {{tile.shape_divisible_by = array<i64: {shape}>, "
                f"tile.stride_divisible_by = array<i64: {stride}>}}")

    def side(name, type_, rows, index, transposed, isRhs):
        """Loads one operand as a tile of rows by K (lhs) or K by rows (rhs)."""
        per = 2 if type_ == "f4" else 1
        element, value = TYPES[type_], VALUES[type_]
        lines = []
        k_, r_ = bk // per, rows
        shape = tile(k_, r_) if transposed else tile(r_, k_)
        place = ["%k", index] if transposed else [index, "%k"]
        place = (["%b"] if b else []) + place
        lines.append(f"%{name}0 = tile.load %{name}[{', '.join(place)}] : {array(element)} -> tensor<{shape}{element}>")
        last = f"%{name}0"
        if per == 2:
            lines.append(f"%{name}1 = tile.unpack {last} : tensor<{shape}{element}> -> tensor<{tile(rows, bk)}{value}>")
            last = f"%{name}1"
        if bool(transposed) != isRhs:
            source = tile(bk, rows) if transposed else tile(rows, bk)
            result = tile(rows, bk) if transposed else tile(bk, rows)
            lines.append(f"%{name}2 = tile.permute {last} {perm} : tensor<{source}{value}> -> tensor<{result}{value}>")
            last = f"%{name}2"
        return lines, last

    def scale(name, rows, index, isRhs):
        element = SCALES[o["scale"]]
        blocks = bk // block
        if o["order"] == "128x4":
            type_ = f"memref<?x?x32x4x4x{element}, strided<[?, 512, 16, 4, 1]>>"
            r, c = rows // 128, blocks // 4
            lines = [
                f"%{name}0 = tile.load %{name}[{index}, %k, %c0, %c0, %c0] : {type_} -> tensor<{r}x{c}x32x4x4x{element}>",
                f"%{name}1 = tile.permute %{name}0 [0, 3, 2, 1, 4] : tensor<{r}x{c}x32x4x4x{element}> -> tensor<{r}x4x32x{c}x4x{element}>",
                f"%{name}2 = tile.reshape %{name}1 : tensor<{r}x4x32x{c}x4x{element}> -> tensor<{rows}x{blocks}x{element}>",
            ]
            last = f"%{name}2"
        else:
            place = ", ".join((["%b"] if b else []) + [index, "%k"])
            lines = [f"%{name}0 = tile.load %{name}[{place}] : {array(element)} -> tensor<{tile(rows, blocks)}{element}>"]
            last = f"%{name}0"
        if isRhs:
            lines.append(f"%{name}3 = tile.permute {last} {perm} : tensor<{tile(rows, blocks)}{element}> -> tensor<{tile(blocks, rows)}{element}>")
            last = f"%{name}3"
        return lines, last

    acc = f"tensor<{tile(bm, bn)}f32>"
    per = {s: 2 if o[s] == "f4" else 1 for s in ("lhs", "rhs")}
    arguments = []
    for name, s, t in (("x", "lhs", "lhs_t"), ("y", "rhs", "rhs_t")):
        unit = max(1, o["align"] // per[s])
        extents = [1, unit] if not o[t] else [1, 8]
        arguments.append(f"%{name} : {array(TYPES[o[s]])}" + promise(extents, [unit, 1]))
    if scaled:
        for name in ("xs", "ys"):
            if o["order"] == "128x4":
                arguments.append(f"%{name} : memref<?x?x32x4x4x{SCALES[o['scale']]}, strided<[?, 512, 16, 4, 1]>>"
                                 + (" {tile.stride_divisible_by = array<i64: 512, 512, 16, 4, 1>}" if o["align"] else ""))
            else:
                unit = max(1, o["align"] // block)
                arguments.append(f"%{name} : {array(SCALES[o['scale']])}" + promise([1, unit], [unit, 1]))
    body = []
    for name, s, t, rows, index in (("x", "lhs", "lhs_t", bm, "%m"), ("y", "rhs", "rhs_t", bn, "%n")):
        lines, last = side(name, o[s], rows, index, o[t], name == "y")
        body += lines
        if name == "x":
            x = last
        else:
            y = last
    xt = f"tensor<{tile(bm, bk)}{VALUES[lhs]}>"
    yt = f"tensor<{tile(bk, bn)}{VALUES[rhs]}>"
    if scaled:
        lines, sx = scale("xs", bm, "%m", False)
        body += lines
        lines, sy = scale("ys", bn, "%n", True)
        body += lines
        st = SCALES[o["scale"]]
        operands = f"{sx}, {sy}"
        tail = f", tensor<{tile(bm, bk // block)}{st}>, tensor<{tile(bk // block, bn)}{st}>"

    def multiply(result, sum_):
        if scaled:
            return f"{result} = tile.mmaf_scaled {x}, {y}, {sum_}, {operands} : {xt}, {yt}, {acc}{tail}"
        return f"{result} = tile.mmaf {x}, {y}, {sum_} : {xt}, {yt}, {acc}"

    carried = [("%a0", "%init")] + ([("%a1", "%other")] if o["twice"] else [])
    for i, (a, _) in enumerate(carried):
        body.append(multiply(f"%r{i}", a))
    inner = "\n      ".join(body)
    args = ", ".join(f"{a} = {i}" for a, i in carried)
    types = ", ".join([acc] * len(carried))
    rs = ", ".join(f"%r{i}" for i in range(len(carried)))
    attributes = ["tile.kernel"]
    if o["stages"]:
        attributes.append(f"tile.num_stages = {o['stages']} : i32")
    if o["warps"]:
        attributes.append(f"tile.num_warps = {o['warps']} : i32")
    kdim = 1 + b - (1 if o["lhs_t"] else 0)
    start = "dense<0.0>" if not o["init"] else "dense<1.5>"
    at = ", ".join((["%b"] if b else []) + ["%m", "%n"])
    result = "%s#0" if o["twice"] else "%s"
    count = ":2" if o["twice"] else ""
    loop = f"""%s{count} = scf.for %k = %c0 to %steps step %c1 iter_args({args}) -> ({types}) {{
      {inner}
      scf.yield {rs} : {types}
    }}"""
    if o["straight"]:  # no loop of its own: K is one step
        loop = "\n    ".join(["%k = arith.constant 0 : index"] + body).replace("%a0", "%init").replace("%r0", "%s")
    post = []
    if o["twice"]:
        post.append(f"%t = arith.addf %s#0, %s#1 : {acc}")
        result = "%t"
    out = o["out"]
    stored = result
    if out != "f32":
        post.append(f"%o = tile.ftof {result} : {acc} -> tensor<{tile(bm, bn)}{out}>")
        stored = "%o"
    store = f"tile.store {stored}, %z[{at}] : tensor<{tile(bm, bn)}{out}>, {array(out)}"
    post = "\n    ".join(post)
    if o["nest"]:
        # The whole product several times over, added up in registers.
        whole = f"""%total = scf.for %i = %c0 to %c3 step %c1 iter_args(%u = %zero) -> ({acc}) {{
    {loop}
    {post}
    %v = arith.addf %u, {result} : {acc}
    scf.yield %v : {acc}
    }}
    tile.store %total, %z[{at}] : {acc}, {array('f32')}"""
    else:
        whole = f"{loop}\n    {post}\n    {store}"
    return f"""func.func @k(%z : {array(out)}, {', '.join(arguments)}) attributes {{{', '.join(attributes)}}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %kd = arith.constant {kdim} : index
    %bk = arith.constant {bk // per['lhs']} : index
    %zero = arith.constant dense<0.0> : {acc}
    %init = arith.constant {start} : {acc}
    %other = arith.constant dense<0.0> : {acc}
    %m = tile.program_id 0
    %n = tile.program_id 1
    %b = tile.program_id 2
    %kx = memref.dim %x, %kd : {array(TYPES[lhs])}
    %steps = arith.ceildivui %kx, %bk : index
    {whole}
    return
}}
"""


def data(o, folder):
    """Writes the arrays and returns the arguments of tile-run."""
    rng = np.random.default_rng(o["seed"])
    b = (o["batch"],) if o["batch"] else ()
    m, n, k = o["m"], o["n"], o["k"]

    def codes(type_, shape):
        if type_ == "f4":
            return rng.integers(0, 256, shape, dtype=np.uint8)
        if type_ == "e4m3":  # +-1 to +-3.75
            return (rng.integers(0x38, 0x48, shape) | rng.integers(0, 2, shape) << 7).astype(np.uint8)
        if type_ == "e5m2":  # +-1 to +-3.5
            return (rng.integers(0x3C, 0x44, shape) | rng.integers(0, 2, shape) << 7).astype(np.uint8)
        values = rng.integers(-15, 16, shape).astype(np.float32) / 4
        if type_ == "f16":
            return values.astype(np.float16).view(np.uint16)
        return (values.view(np.uint32) >> 16).astype(np.uint16)

    def save(name, part, last=None):
        """`part` inside a larger array whose other elements are NaN or the like."""
        align = max(1, o["align"]) if last is None else last
        shape = list(part.shape)
        if part.ndim == 5:  # in 128x4 order
            shape[0] += 1
        else:
            shape[-2] += 3
            shape[-1] = (shape[-1] + align - 1) // align * align + align
        fill = {1: 0xFF, 2: 0x7FFF, 4: 0x7FC0DEAD}[part.dtype.itemsize]
        whole = np.full(shape, fill, dtype=part.dtype)
        whole[tuple(slice(0, e) for e in part.shape)] = part
        path = os.path.join(folder, name + ".npy")
        np.save(path, whole)
        return f"{path}:{'x'.join(str(e) for e in part.shape)}"

    arguments = []
    for name, s, t, rows in (("x", "lhs", "lhs_t", m), ("y", "rhs", "rhs_t", n)):
        per = 2 if o[s] == "f4" else 1
        shape = b + ((k, rows) if o[t] else (rows, k // per))
        last = o["align"] // per if not o[t] else o["align"]
        array = codes(o[s], shape)
        if o[s] == "f16":
            path = save(name, array, max(1, last))
            file = path.split(":")[0]
            np.save(file, np.load(file).view(np.float16))
            arguments.append("in:" + path)
        else:
            arguments.append("in:" + save(name, array, max(1, last)))
    if o["scale"] != "none":
        for name, rows in (("xs", m), ("ys", n)):
            blocks = -(-k // o["block"])
            low, high = (0x30, 0x41) if o["scale"] == "ue4m3" else (127, 129)
            if o["scale"] == "ue4m3":  # 0.5 to 2, and 0
                values = rng.choice(np.array([0x30, 0x34, 0x38, 0x3C, 0x40, 0x00], dtype=np.uint8), b + (rows, blocks))
            else:
                values = rng.integers(low, high, b + (rows, blocks)).astype(np.uint8)
            if o["order"] == "128x4":
                R, C = -(-rows // 128), -(-blocks // 4)
                padded = np.zeros((R * 128, C * 4), np.uint8)
                padded[:rows, :blocks] = values
                values = padded.reshape(R, 4, 32, C, 4).transpose(0, 3, 2, 1, 4).copy()
            arguments.append("in:" + save(name, values, max(1, o["align"] // o["block"])))
    return arguments


def run(o):
    """Runs one kernel; a message where something is wrong, else an empty string."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "k.mlir")
        with open(path, "w") as file:
            file.write(kernel(o))
        arguments = data(o, folder)
        per = {"f32": np.uint32, "bf16": np.uint16, "f16": np.uint16}[o["out"]]
        b = (o["batch"],) if o["batch"] else ()
        shape = b + (o["m"] + 2, o["n"] + 3)
        grid = f"{-(-o['m'] // o['bm'])},{-(-o['n'] // o['bn'])}"
        results = []
        for device in ("reference", "emulator"):
            z = os.path.join(folder, device + ".npy")
            start = np.full(shape, 0x7FC1 if per == np.uint16 else 0x7FC12345, per)
            np.save(z, start.view({"f32": np.float32, "f16": np.float16}.get(o["out"], per)))
            size = "x".join(str(e) for e in b + (o["m"], o["n"]))
            command = ["tile-run", path, f"--device={device}", f"--grid={grid}", f"inout:{z}:{size}"] + arguments
            if device == "emulator":
                command += [f"--target={o['target']}", "--remarks"]
                command.append(f"--accumulate={o['accumulate']}")
                if o["tma"]:
                    command.append("--tma=on")
                if o["schedule"]:
                    command += ["--schedule=random", f"--seed={o['schedule']}"]
            result = subprocess.run(command, capture_output=True, text=True)
            if result.returncode:
                lines = (result.stdout + result.stderr).splitlines()
                errors = [i for i, line in enumerate(lines) if "error" in line or "fault" in line]
                first = errors[0] if errors else 0
                return f"{device}: " + "\n".join(lines[first : first + 6])
            if device == "emulator":
                expected = {"native": "tcgen05", "expand": "path=expand"}[o["expect"]]
                if expected not in result.stderr + result.stdout:
                    return f"remarks do not say {expected}: {result.stderr}"
            results.append(np.load(z).view(per))
        reference, emulator = results
        if not np.array_equal(reference, emulator):
            wrong = np.argwhere(reference != emulator)
            at = tuple(wrong[0])
            return (f"{len(wrong)} of {reference.size} elements differ, first at {at}: "
                    f"{emulator[at]:#x} instead of {reference[at]:#x}")
        inside = tuple(slice(0, e) for e in b + (o["m"], o["n"]))
        if o["k"] and len(np.unique(reference[inside])) < min(8, reference[inside].size // 2):
            return "the result has hardly any values: the test proves nothing"
    return ""


PAIRS = [("f4", "f4", "ue4m3", 16), ("f4", "f4", "ue8m0", 16), ("f4", "f4", "ue8m0", 32)] + [
    (a, b, "ue8m0", 32) for a in ("e4m3", "e5m2", "f4") for b in ("e4m3", "e5m2", "f4") if (a, b) != ("f4", "f4")
] + [(a, a, "none", 0) for a in ("bf16", "f16")] + [
    (a, b, "none", 0) for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")
]


def cases(mode):
    if mode == "types":
        for i, (lhs, rhs, scale, block) in enumerate(PAIRS):
            base = dict(lhs=lhs, rhs=rhs, scale=scale, block=block, m=150, n=140, k=320, seed=i + 1)
            yield dict(base)  # no promises
            yield dict(base, align=64, schedule=i + 1)
            yield dict(base, align=64, k=384, bk=64 if lhs != "f4" or rhs != "f4" else 256, accumulate="hardware")
            if scale != "none":
                yield dict(base, align=128, k=384, order="128x4", bk=128)
            yield dict(base, align=128, k=384, bm=64, bn=128, bk=128, tma=1)
            yield dict(base, align=128, k=384, bm=128, bn=64, bk=256, tma=1)
    elif mode == "tiles":
        for i, (lhs, rhs, scale, block) in enumerate([PAIRS[0], PAIRS[2], PAIRS[3], PAIRS[5], ("bf16", "bf16", "none", 0)]):
            tiles = [(16, 8), (8, 16), (16, 16), (32, 64), (64, 32), (64, 64), (16, 128), (128, 16), (64, 256), (256, 64),
                     (128, 256), (256, 128), (256, 256)]
            for j, (bm, bn) in enumerate(tiles):
                bk = 128 if bm * bn >= 256 * 128 else 64
                base = dict(lhs=lhs, rhs=rhs, scale=scale, block=block, bm=bm, bn=bn, bk=bk, seed=100 * i + j + 1)
                base.update(m=bm + 5, n=bn + 3, k=bk * 2, align=64, tma=j % 2)
                yield base
        # Narrow tiles with any step of K, and groups of scales that no step divides.
        for bn in (8, 16, 32):
            for bk in (64, 128, 256, 512):
                yield dict(bm=64, bn=bn, bk=bk, m=64, n=bn, k=512, align=64, tma=int(bk > 128), seed=bn + bk)
        yield dict(lhs="e4m3", rhs="f4", scale="ue8m0", block=32, bm=64, bn=64, bk=128, m=36, n=64, k=704, align=32)
        yield dict(lhs="e4m3", rhs="f4", scale="ue8m0", block=32, bm=64, bn=64, bk=128, m=36, n=64, k=704, align=32, tma=1)
        yield dict(bm=128, bn=512, bk=128, m=128, n=500, k=256, align=64)
        yield dict(bm=256, bn=512, bk=128, m=256, n=512, k=256, align=64, seed=7)
    elif mode == "pipeline":
        for stages in range(1, 6):
            for trips in range(9):
                for tma in (0, 1):
                    yield dict(bm=64, bn=128, bk=64, m=70, n=130, k=64 * trips, stages=stages, align=64, tma=tma,
                               seed=9 * stages + trips, schedule=1 + trips)
    elif mode == "forms":
        yield dict(init=1, k=192, m=140)
        yield dict(init=1, bm=64, k=192, align=64)
        yield dict(twice=1, bn=64, k=192, align=64)
        yield dict(twice=1, init=1, bn=64, k=192)
        yield dict(nest=1, bm=64, bn=64, k=192, m=64, n=64, align=64)
        yield dict(nest=1, bm=64, bn=64, k=256, m=64, n=64, align=128, tma=1, stages=2)
        yield dict(out="bf16", m=150, n=140, k=192)
        yield dict(out="f16", bm=64, m=150, n=140, k=192, align=64)
        for nest in (0, 1):
            yield dict(straight=1, nest=nest, bm=64, bn=32, k=128, m=70, n=40)
            yield dict(straight=1, nest=nest, bm=16, bn=16, bk=64, k=60, m=20, n=40, init=1, block=16)
            yield dict(straight=1, nest=nest, lhs="e4m3", rhs="f4", scale="ue8m0", block=32, bm=128, bn=256, m=130, n=256, k=128, align=64)
        for bm, bn, bk in ((4, 2, 16), (1, 16, 32), (8, 1, 16), (2, 32, 64), (32, 4, 32)):
            yield dict(bm=bm, bn=bn, bk=bk, m=2 * bm - 1, n=2 * bn, k=80)
        for warps in (4, 8, 16):
            yield dict(warps=warps, bn=256, n=256, k=192, align=64)
        yield dict(warps=2, expect="expand", bm=32, bn=32, m=40, n=40)
        for lhs, rhs, scale, block in (("e4m3", "e4m3", "ue8m0", 32), ("e5m2", "e4m3", "none", 0), ("bf16", "bf16", "none", 0)):
            for lhs_t, rhs_t in ((0, 1), (1, 0), (1, 1)):
                for align, tma in ((0, 0), (64, 0), (64, 1)):
                    for bm, bn in ((128, 128), (64, 256), (32, 32)):
                        yield dict(lhs=lhs, rhs=rhs, scale=scale, block=block, lhs_t=lhs_t, rhs_t=rhs_t, align=align, tma=tma,
                                   bm=bm, bn=bn, bk=64, m=bm + 16, n=bn + 8, k=160 if not align else 192)
        for batch in (1, 2):
            yield dict(batch=batch, bm=128, bn=64, bk=64, m=130, n=70, k=192, align=64)
            yield dict(batch=batch, bm=64, bn=64, bk=64, m=130, n=70, k=256, align=128, tma=1)
        for target in ("sm_100f", "sm_103a", "sm_103f", "sm_110a", "sm_110f"):
            yield dict(target=target, k=192, align=64)
        for target in ("sm_100", "sm_103", "sm_110"):
            yield dict(target=target, bm=32, bn=32, bk=64, m=40, n=40, k=96, expect="expand")


def main():
    mode = sys.argv[1]
    if mode == "one":
        o = dict(DEFAULTS)
        for pair in sys.argv[2:]:
            key, value = pair.split("=")
            o[key] = type(DEFAULTS[key])(value)
        if o.pop("print", 0):
            print(kernel(o))
        print(kernel(o) if os.environ.get("PRINT") else "", run(o) or "agree")
        return
    failed = runs = 0
    part, parts = (int(x) for x in (sys.argv[2] if len(sys.argv) > 2 else "0/1").split("/"))
    for number, case in enumerate(cases(mode)):
        if number % parts != part:
            continue
        runs += 1
        message = run(dict(DEFAULTS, **case))
        if message:
            failed += 1
            print(" ".join(f"{k}={v}" for k, v in case.items()) + f": {message[:1500]}", flush=True)
    print(f"{runs} runs, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
