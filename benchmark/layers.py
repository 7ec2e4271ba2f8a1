"""The linear layers that are measured: how to compile, feed and run them.

z[M,N] = x[M,K] . y[N,K]^T in f32, K contiguous, FP4 in pairs, one scale per V
values of K in linear order. Our kernel is `KERNEL_aligned.mlir` of
examples/kernels with KA=256: every extent of K and every stride is promised to
be a multiple of 16 elements, which is what the other compilers are told too.
"""

import dataclasses
import json
import math
import os
import pathlib
import re
import shutil

import sass_stats

SOURCE = pathlib.Path(__file__).resolve().parent.parent

# What K is promised to be a multiple of.
KA = 256


@dataclasses.dataclass(frozen=True)
class Layer:
    """Types are named as Triton's dot_scaled does."""

    name: str
    kernel: str
    x: str  # e2m1, e4m3 or bf16
    y: str
    scale: str  # e4m3 or ue8m0
    v: int

    def operands(self):
        """(argument, type) of what has a K of values."""
        return [("x", self.x), ("y", self.y)]

    def scales(self):
        """The arguments that hold scales."""
        return ["ys"] if self.x == "bf16" else ["xs", "ys"]


LAYERS = {
    layer.name: layer
    for layer in [
        Layer("NVFP4", "nvfp4_linear", "e2m1", "e2m1", "e4m3", 16),
        Layer("MXFP4", "mxfp4_linear", "e2m1", "e2m1", "ue8m0", 32),
        Layer("MXFP8", "mxfp8_linear", "e4m3", "e4m3", "ue8m0", 32),
        Layer("FP8 x FP4", "mxfp8_mxfp4_linear", "e4m3", "e2m1", "ue8m0", 32),
        Layer("bf16 x NVFP4", "w4a16_linear", "bf16", "e2m1", "e4m3", 16),
        Layer("bf16 x MXFP4", "w4a16_mxfp4_linear", "bf16", "e2m1", "ue8m0", 32),
    ]
}
BY_KERNEL = {layer.kernel + "_aligned": layer for layer in LAYERS.values()}

# What is compiled and counted: the same with scales in the 128x4 order as well.
COUNTED = BY_KERNEL | {
    "nvfp4_linear_128x4_aligned": Layer(
        "NVFP4, 128x4", "nvfp4_linear_128x4", "e2m1", "e2m1", "e4m3", 16
    )
}


@dataclasses.dataclass(frozen=True)
class Config:
    """What one block computes in one step of K, and with how many warps."""

    m: int
    n: int
    k: int
    warps: int
    stages: int = 0  # 0: the compiler chooses

    @classmethod
    def parse(cls, tile, warps, stages=0):
        return cls(*map(int, tile.split("x")), int(warps), int(stages))

    @property
    def tile(self):
        return f"{self.m}x{self.n}x{self.k}"

    @property
    def products(self):
        """Of one warp in one step of K."""
        return self.m * self.n * self.k // self.warps

    def __str__(self):
        stages = f", {self.stages} stages" if self.stages else ""
        return f"{self.tile}, {self.warps} warps{stages}"


def find_program(name):
    """A tool of ours: in $TILE_BIN_DIR, on PATH, or in the default build."""
    if "TILE_BIN_DIR" in os.environ:
        return os.path.join(os.environ["TILE_BIN_DIR"], name)
    return shutil.which(name) or str(SOURCE / "build" / "bin" / name)


def kernel_path(layer):
    return SOURCE / "examples" / "kernels" / f"{layer.kernel}_aligned.mlir"


def defines(config):
    """The constants of the kernel file."""
    values = {"KA": KA, "BM": config.m, "BN": config.n, "BK": config.k}
    return [f"-D{name}={value}" for name, value in values.items()]


def compile_options(target, config):
    options = [f"--target={target}", f"--num-warps={config.warps}", *defines(config)]
    if config.stages:
        options.append(f"--num-stages={config.stages}")
    return options


def count_tensor_multiplies(layer, config):
    """How many tcgen05.mma a block needs in a step of K.

    One multiplies 128 rows of the larger side by up to 256 of the other, and 32
    bytes of K; FP4 has a byte per value where the other operand has one.
    """
    bits = max(BITS[layer.x], BITS[layer.y])
    rows, columns = config.m, config.n
    if rows < 128 and columns > rows:
        rows, columns = columns, rows
    steps = -(-config.k * bits // (8 * 32))
    return steps * -(-rows // 128) * -(-columns // 256)


def read_shared_limits():
    """{target: bytes of shared memory of a block} of docs/targets.md."""
    text = (SOURCE / "docs" / "targets.md").read_text()
    rows = re.findall(r"^\| (sm_\w+) \| sm_\w+ \| [\d.]+ \| (\d+) \|$", text, re.M)
    return {name: int(size) for name, size in rows}


def parse_remarks(text):
    """(name, {key: value}) of each remark that --remarks printed."""
    for name, rest in re.findall(r"remark: \[\w+\] ([\w-]+) \|(.*)", text):
        yield name, dict(re.findall(r"([\w-]+)=([^\s,\"]+)", rest))


def compile_with_remarks(layer, target, config, ptx, *extra):
    """Compiles our kernel; returns what compile_layer does, and the remarks."""
    process = sass_stats.run(
        [find_program("tile-compile"), kernel_path(layer)]
        + compile_options(target, config)
        + [*extra, "--remarks", "-o", ptx]
    )
    return read_launch(ptx), list(parse_remarks(process.stderr))


def compile_layer(layer, target, config, ptx, *extra):
    """Compiles our kernel; returns {entry, block, shared}."""
    sass_stats.call(
        [find_program("tile-compile"), kernel_path(layer)]
        + compile_options(target, config)
        + [*extra, "-o", ptx]
    )
    return read_launch(ptx)


def read_launch(ptx):
    """{entry, block, shared} of what PTX says of its launch."""
    line = re.search(
        r"tile\.launch entry=(\S+) block=(\d+)\S* shared=(\d+)",
        pathlib.Path(ptx).read_text(),
    )
    return {"entry": line[1], "block": int(line[2]), "shared": int(line[3])}


# Data -------------------------------------------------------------------------

# Codes whose products and sums are exact in f32 in any order.
EXACT = {
    "e2m1": list(range(16)),
    "e4m3": [0x00, 0x80, 0x30, 0xB4, 0x38, 0xBC, 0x3E, 0xC5],
    "bf16": [0x0000, 0x3F80, 0xBFC0, 0x4008, 0xBE80, 0x40E0],
}
EXACT_SCALES = {
    "e4m3": [0x38, 0x3C, 0x40, 0x44],  # 1, 1.5, 2, 3
    "ue8m0": [0x7E, 0x7F, 0x80, 0x81],  # 0.5, 1, 2, 4
}


def choose(shape, salt, choices, dtype):
    """A hash of the position picks one of `choices` for each element."""
    import numpy as np

    index = np.arange(np.prod(shape, dtype=np.int64), dtype=np.uint64)
    with np.errstate(over="ignore"):
        value = index * np.uint64(0x9E3779B97F4A7C15) + np.uint64(salt * 7919 + 13)
        value ^= value >> np.uint64(29)
        value *= np.uint64(0xBF58476D1CE4E5B9)
        value ^= value >> np.uint64(32)
    picked = (value % np.uint64(len(choices))).astype(np.int64)
    return np.asarray(choices, dtype)[picked].reshape(shape)


def decode(kind, codes):
    """The values of codes, in f64; `bf16` are 16-bit integers."""
    import numpy as np

    if kind == "bf16":
        with np.errstate(invalid="ignore"):  # signalling NaNs
            return (codes.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return np.array(VALUES[kind])[codes]


def decode_e4m3(code):
    """1 sign, 4 exponent, 3 mantissa bits; all ones is NaN."""
    exponent, mantissa = code >> 3 & 15, code & 7
    if code & 127 == 127:
        return math.nan
    value = 2.0 ** (max(exponent, 1) - 10) * (mantissa + 8 * (exponent > 0))
    return -value if code & 128 else value


# The value of each code.
VALUES = {
    "e2m1": [s * v for s in (1, -1) for v in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)],
    "e4m3": [decode_e4m3(code) for code in range(256)],
    "ue8m0": [2.0 ** (code - 127) for code in range(255)] + [math.nan],
}


def make_data(layer, m, n, k):
    """Arrays {x, y, xs, ys} as stored, and z in f64."""
    import numpy as np

    arrays, values = {}, {}
    for salt, ((name, kind), rows) in enumerate(zip(layer.operands(), (m, n))):
        dtype = np.uint16 if kind == "bf16" else np.uint8
        codes = choose((rows, k), salt + 1, EXACT[kind], dtype)
        values[name] = decode(kind, codes)
        stored = codes[:, ::2] | codes[:, 1::2] << 4 if kind == "e2m1" else codes
        arrays[name] = np.ascontiguousarray(stored)
        if kind != "bf16":
            scales = choose(
                (rows, k // layer.v), salt + 3, EXACT_SCALES[layer.scale], np.uint8
            )
            arrays[name + "s"] = scales
            values[name] = values[name] * np.repeat(
                decode(layer.scale, scales), layer.v, 1
            )
    return arrays, values["x"] @ values["y"].T


def save_data(layer, m, n, k, folder):
    """Writes the arrays as .npy files; returns {name: path} and z."""
    import numpy as np

    arrays, z = make_data(layer, m, n, k)
    paths = {}
    for name, array in arrays.items():
        paths[name] = pathlib.Path(folder) / f"{name}.npy"
        np.save(paths[name], array)
    return paths, z


# The emulator -----------------------------------------------------------------

BITS = {"e2m1": 4, "e4m3": 8, "bf16": 16}


def stored_bytes(layer, shape):
    """{argument: bytes} of the operands and scales of a shape (m, n, k)."""
    m, n, k = shape
    size = {}
    for (name, kind), rows in zip(layer.operands(), (m, n)):
        size[name] = rows * k * BITS[kind] // 8
        if kind != "bf16":
            size[name + "s"] = rows * k // layer.v
    return size


def save_any_data(layer, shape, folder):
    """Writes arrays whose contents do not matter; returns {name: path}.

    Needs no NumPy, unlike everything that looks at results.
    """
    m, n, _ = shape
    rows = {"x": m, "xs": m, "y": n, "ys": n}
    paths = {}
    for name, size in stored_bytes(layer, shape).items():
        wide = name == "x" and layer.x == "bf16"
        columns = size // rows[name] // (2 if wide else 1)
        header = (
            f"{{'descr': '{'<u2' if wide else '|u1'}', 'fortran_order': False, "
            f"'shape': ({rows[name]}, {columns}), }}"
        )
        header += " " * (-(11 + len(header)) % 64) + "\n"
        # Bytes of 0x30 … 0x3f are ordinary numbers in every format.
        data = bytes(0x30 + (7 * i + i // 31) % 16 for i in range(size))
        paths[name] = pathlib.Path(folder) / f"{name}.npy"
        paths[name].write_bytes(
            b"\x93NUMPY\x01\x00"
            + len(header).to_bytes(2, "little")
            + header.encode("latin1")
            + data
        )
    return paths


def widths(layer, k):
    """{argument: elements of a row} of operands and scales."""
    result = {
        name: k // (2 if kind == "e2m1" else 1) for name, kind in layer.operands()
    }
    return result | {name: k // layer.v for name in layer.scales()}


def entry_arguments(layer, shape):
    """The arguments of our entry: (type, value), ("array", name) for a pointer.

    A memref is a pointer, its two extents and the stride of its rows.
    """
    m, n, k = shape
    columns = {"z": n, **widths(layer, k)}
    arguments = []
    for name, rows in (("z", m), ("x", m), ("y", n), ("xs", m), ("ys", n)):
        if name in columns:
            arguments.append(("array", name))
            arguments += [("i64", v) for v in (rows, columns[name], columns[name])]
    return arguments + [("f32", 1)]


def triton_arguments(layer, shape):
    """The same for the entry of triton_layers.py."""
    columns = {"xs": 0, **widths(layer, shape[2])}
    # An operand without scales has a pointer that nobody follows.
    arguments = [
        ("array", name) if columns[name] else ("i64", 0)
        for name in ("x", "y", "xs", "ys")
    ]
    arguments.append(("array", "z"))
    strides = [columns[name] for name in ("x", "y", "xs", "ys")]
    arguments += [("i32", value) for value in (*shape, *strides, shape[1])]
    return arguments + [("i64", 0), ("i64", 0)]


def emulator_command(config, shape, ptx, arguments, paths, z):
    """The command that runs PTX on the emulator over arrays in files.

    ptx-run aligns buffers as a GPU's allocator does; tile-run, which looks for
    faults, no better than a kernel may expect.
    """
    m, n, _ = shape
    arrays = {name: f"in:{path}" for name, path in paths.items()}
    arrays["z"] = f"out:{z}:{m}x{n}xf32"
    grid = f"--grid={-(-m // config.m)},{-(-n // config.n)}"
    return [find_program("ptx-run"), ptx, grid] + [
        arrays[value] if kind == "array" else f"val:{kind}:{value}"
        for kind, value in arguments
    ]


def emulate(layer, config, shape, ptx, folder):
    """Runs our PTX on the emulator; returns its counters.

    Raises ToolError where z is not what it should be.
    """
    import numpy as np

    paths, expected = save_data(layer, *shape, folder)
    z = pathlib.Path(folder) / "z.npy"
    arguments = entry_arguments(layer, shape)
    command = emulator_command(config, shape, ptx, arguments, paths, z)
    counters = json.loads(sass_stats.call(command + ["--stats=json"]))
    check_result(np.load(z), expected, f"{layer.name}, {ptx}")
    return counters


def check_result(z, expected, what):
    import numpy as np

    wrong = np.count_nonzero(z != expected)
    if wrong:
        raise sass_stats.ToolError(f"{what}: {wrong} of {z.size} elements differ")


def per_step(few, many, steps):
    """Counters of one step of K: the difference of two runs over `steps`."""
    if isinstance(few, dict):
        return {
            key: per_step(few.get(key, 0), value, steps)
            for key, value in many.items()
            if isinstance(value, (dict, int)) and not isinstance(value, bool)
        }
    return (many - few) / steps
