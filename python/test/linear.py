"""Linear layers z = alpha * x . y^T of any pair of types: kernel, data, result."""

import dataclasses

import numpy as np
from tile_run import DTYPES, choose, code_dtype, decode, pack, run, surround

# Codes whose products and sums are exact in f32 for every K used here.
EXACT = {
    "f4E2M1FN": list(range(16)),
    "f8E4M3FN": [0x00, 0x80, 0x30, 0xB4, 0x38, 0xBC, 0x3E, 0xC5],
    "f8E5M2": [0x00, 0x80, 0x38, 0xBA, 0x3C, 0xBE, 0x3F, 0xC2],
    "bf16": [0x0000, 0x3F80, 0xBFC0, 0x4008, 0xBE80, 0x40E0],
    "f16": [0x0000, 0x3C00, 0xBE00, 0x4040, 0xB400, 0x4700],
}
EXACT_SCALES = {
    "f8E4M3FN": [0x38, 0x3C, 0x40, 0x44],  # 1, 1.5, 2, 3
    "f8E8M0FNU": [0x7E, 0x7F, 0x80, 0x81],  # 0.5, 1, 2, 4
}
PLAIN = ("bf16", "f16")


@dataclasses.dataclass(frozen=True)
class Layer:
    """The types of x, y and their scales, and V; no scale for `mmaf`."""

    x: str
    y: str
    scale: str = ""
    v: int = 0

    def __str__(self):
        tail = f"-{self.scale}-{self.v}" if self.scale else ""
        return f"{self.x}-{self.y}{tail}"

    def scaled(self):
        """The operands that have a scale."""
        return [n for n, t in (("x", self.x), ("y", self.y)) if self.is_scaled(t)]

    def is_scaled(self, kind):
        return bool(self.scale) and kind not in PLAIN

    def kernel(self, bm, bn, bk, batch=False):
        """One tile program computes bm x bn of z, and one matrix of a batch."""
        lead = "1x" if batch else ""
        dims = "?x" * (3 if batch else 2)
        strides = "[" + "?, " * (2 if batch else 1) + "1]"
        swap = "[0, 2, 1]" if batch else "[1, 0]"
        at = "%b, " if batch else ""

        def memory(kind):
            element = "!tile.f4E2M1FNx2" if kind == "f4E2M1FN" else kind
            return f"memref<{dims}{element}, strided<{strides}>>"

        def load(name, kind, row, rows, columns):
            """Lines that leave the tile in %name."""
            tile = f"tensor<{lead}{rows}x{columns}x{kind}>"
            if kind != "f4E2M1FN":
                return f"""
    %{name} = tile.load %{name}s[{at}{row}, %k] : {memory(kind)} -> {tile}"""
            packed = f"tensor<{lead}{rows}x{columns // 2}x!tile.f4E2M1FNx2>"
            return f"""
    %{name}p = tile.load %{name}s[{at}{row}, %k] : {memory(kind)} -> {packed}
    %{name} = tile.unpack %{name}p : {packed} -> {tile}"""

        def transpose(name, kind, rows, columns):
            return f"""
    %{name}t = tile.permute %{name} {swap} : tensor<{lead}{rows}x{columns}x{kind}> -> tensor<{lead}{columns}x{rows}x{kind}>"""

        arguments = [f"%z : {memory('f32')}", f"%xs : {memory(self.x)}"]
        arguments.append(f"%ys : {memory(self.y)}")
        body = load("x", self.x, "%m", bm, bk) + load("y", self.y, "%n", bn, bk)
        body += transpose("y", self.y, bn, bk)
        operands = ["%x", "%yt", "%a"]
        types = [
            f"tensor<{lead}{bm}x{bk}x{self.x}>",
            f"tensor<{lead}{bk}x{bn}x{self.y}>",
        ]
        types.append(f"tensor<{lead}{bm}x{bn}xf32>")
        if "x" in self.scaled():
            arguments.append(f"%sxs : {memory(self.scale)}")
            body += load("sx", self.scale, "%m", bm, bk // self.v)
            operands.append("%sx")
            types.append(f"tensor<{lead}{bm}x{bk // self.v}x{self.scale}>")
        if "y" in self.scaled():
            arguments.append(f"%sys : {memory(self.scale)}")
            body += load("sy", self.scale, "%n", bn, bk // self.v)
            body += transpose("sy", self.scale, bn, bk // self.v)
            operands.append("%syt")
            types.append(f"tensor<{lead}{bk // self.v}x{bn}x{self.scale}>")
        step = bk // 2 if self.x == "f4E2M1FN" else bk
        out = f"tensor<{lead}{bm}x{bn}xf32>"
        op = "tile.mmaf_scaled" if self.scale else "tile.mmaf"
        return f"""
func.func @linear({", ".join(arguments)}, %alpha : f32) attributes {{tile.kernel}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %kdim = arith.constant {2 if batch else 1} : index
  %step = arith.constant {step} : index
  %zero = arith.constant dense<0.0> : {out}
  %m = tile.program_id 0
  %n = tile.program_id 1
  %b = tile.program_id 2
  %extent = memref.dim %xs, %kdim : {memory(self.x)}
  %steps = arith.ceildivui %extent, %step : index
  %sum = scf.for %k = %c0 to %steps step %c1 iter_args(%a = %zero) -> ({out}) {{{body}
    %r = {op} {", ".join(operands)} : {", ".join(types)}
    scf.yield %r : {out}
  }}
  %al = tensor.splat %alpha : {out}
  %o = arith.mulf %sum, %al : {out}
  tile.store %o, %z[{at}%m, %n] : {out}, {memory("f32")}
  return
}}
"""


@dataclasses.dataclass
class Data:
    """Codes of the operands and scales, one row per row of x or y."""

    layer: Layer
    x: np.ndarray
    y: np.ndarray
    sx: np.ndarray = None
    sy: np.ndarray = None

    def values(self, name):
        """One operand in f64, scales applied."""
        kind = getattr(self.layer, name)
        values = decode(kind, getattr(self, name))
        if name in self.layer.scaled():
            codes = getattr(self, "s" + name)
            scales = decode(self.layer.scale, codes)
            values = (
                values * np.repeat(scales, self.layer.v, -1)[..., : values.shape[-1]]
            )
        return values

    def expected(self):
        """x . y^T in f64."""
        return np.matmul(self.values("x"), np.swapaxes(self.values("y"), -1, -2))

    def magnitude(self):
        """The sum of the magnitudes of the terms."""
        return np.matmul(
            abs(self.values("x")), np.swapaxes(abs(self.values("y")), -1, -2)
        )


def make_exact(layer, m, n, k, batch=()):
    """Data whose sums are exact in f32 in any order."""
    groups = -(-k // layer.v) if layer.scale else 0
    arrays = {}
    for salt, (name, rows) in enumerate((("x", m), ("y", n))):
        kind = getattr(layer, name)
        codes = choose((*batch, rows, k), salt + 1, EXACT[kind])
        arrays[name] = codes.astype(code_dtype(kind))
        if name in layer.scaled():
            scales = choose((*batch, rows, groups), salt + 3, EXACT_SCALES[layer.scale])
            arrays["s" + name] = scales.astype(np.uint8)
    return Data(layer, **arrays)


def make_random(layer, m, n, k):
    """Every finite code of the operands, scales from 2^-9 to 2^9."""
    groups = -(-k // layer.v) if layer.scale else 0
    arrays = {}
    for salt, (name, rows) in enumerate((("x", m), ("y", n))):
        kind = getattr(layer, name)
        bits = 4 if kind == "f4E2M1FN" else 8 * DTYPES[kind].itemsize
        codes = np.arange(1 << bits, dtype=code_dtype(kind))
        values = decode(kind, codes)
        # Products of two, and sums, must stay below f32's largest.
        codes = codes[(abs(values) < 2.0**50) & ~np.isnan(values)]
        arrays[name] = choose((rows, k), salt + 1, codes)
        if name in layer.scaled():
            choices = range(118, 137) if layer.scale == "f8E8M0FNU" else range(1, 0x7F)
            arrays["s" + name] = choose((rows, groups), salt + 3, choices).astype(
                np.uint8
            )
    return Data(layer, **arrays)


def compute(data, folder, tile=(16, 16, 64), alpha=1.0, kernel=None, defines=()):
    """Runs the layer with NaN and garbage around every array."""
    layer = data.layer
    shape = (*data.x.shape[:-1], data.y.shape[-2])
    guard = np.float32(-77.25)
    z = surround(np.full(shape, np.nan, np.float32), guard)
    arguments = [("inout", z, shape)]
    for name in ("x", "y", "sx", "sy"):
        codes = getattr(data, name)
        if codes is None:
            continue
        kind = getattr(layer, name, layer.scale)
        if kind == "f4E2M1FN":
            codes = pack(codes)
        elif kind == "f16":
            codes = codes.view(np.float16)
        # All ones: NaN in every format that has one, the NaN scale too.
        poison = np.nan if kind == "f16" else np.iinfo(codes.dtype).max
        arguments.append(("in", surround(codes, poison), codes.shape))
    arguments.append(alpha)
    bm, bn, bk = tile
    grid = (-(-shape[-2] // bm), -(-shape[-1] // bn), *shape[:-2])
    if kernel is None:
        kernel = layer.kernel(bm, bn, bk, batch=len(shape) == 3)
    (written,) = run(kernel, grid, arguments, folder, defines)
    inside = tuple(slice(extent) for extent in shape)
    result = written[inside].copy()
    written[inside] = guard
    assert np.all(written == guard), "wrote outside of z"
    return result
