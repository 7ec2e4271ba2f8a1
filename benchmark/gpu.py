#!/usr/bin/env python3
"""Checks and times linear layers on a GPU, in two steps.

    benchmark/gpu.py prepare [--target=sm_90a] [--triton=PYTHON]    needs no GPU
    benchmark/gpu.py run                                           needs nothing else

The first compiles every kernel, ours and Triton's, to cubins in build/gpu, and
runs ours on the emulator at a small shape. The second one needs a driver, Python
with NumPy, and that folder; PyTorch, where it is found, adds bf16 by cuBLAS.

    benchmark/gpu.py prepare --dry-run

does both as far as no GPU is needed: it prepares into a folder that is removed,
and prints what would be timed.

NVFP4 by NVFP4 (W4A4) and bf16 by NVFP4 (W4A16), M = 1, 16, 64 and 4096, N = K =
4096 and 8192. Every kernel is checked on the GPU against f64 at sampled elements,
with the bound of docs/numerics.md, and at a ragged shape. Times are medians of
CUDA events around graphs of launches; operands rotate among copies larger than
the L2 cache together, so that weights come from memory. The share is that of the
bf16 peak or of the memory's bandwidth, whichever bounds the shape.
"""

import argparse
import ctypes
import dataclasses
import json
import pathlib
import sys
import tempfile

import cuda_driver
import layers
import peers
import sass_stats

FOLDER = layers.SOURCE / "build" / "gpu"

LAYERS = ("NVFP4", "bf16 x NVFP4")
SIZES = (4096, 8192)
# M, and the tiles that are tried for it.
CHOICES = {
    1: ["16x64x256:4", "16x128x128:4", "16x128x256:8"],
    16: ["16x64x256:4", "16x128x128:4", "16x128x256:8"],
    64: ["64x64x128:4", "64x128x128:4"],
    4096: ["128x128x64:4", "128x128x128:8", "128x256x64:8"],
}
# bf16 tensor cores, and memory, by a part of the device's name; data sheets.
PEAKS = {
    "H200": (989e12, 4.8e12),
    "H100 PCIe": (756e12, 2.0e12),
    "H100": (989e12, 3.35e12),
    "A100": (312e12, 2.039e12),
    "L40S": (362e12, 0.864e12),
}


@dataclasses.dataclass(frozen=True)
class Shape:
    layer: str
    m: int
    n: int
    k: int

    @property
    def operations(self):
        return 2 * self.m * self.n * self.k

    @property
    def bytes(self):
        """What must move at least once."""
        size = layers.stored_bytes(layers.LAYERS[self.layer], (self.m, self.n, self.k))
        return sum(size.values()) + 4 * self.m * self.n


def shapes():
    return [Shape(l, m, s, s) for l in LAYERS for s in SIZES for m in CHOICES]


def find_peaks(device):
    """(operations, bytes) per second of a device, or None."""
    return next((peak for name, peak in PEAKS.items() if name in device), None)


def find_share(shape, seconds, peaks):
    """(what bounds the shape, share of it that was reached)"""
    operations, bandwidth = peaks
    compute, memory = shape.operations / operations, shape.bytes / bandwidth
    bound = "tensor" if compute > memory else "memory"
    return bound, max(compute, memory) / seconds


def parse_choice(choice):
    tile, warps = choice.split(":")
    return layers.Config.parse(tile, warps, 3)


# Preparing --------------------------------------------------------------------


def prepare_ours(target, folder):
    """Compiles and checks our kernels; returns their manifest."""
    manifest = []
    choices = sorted({c for list_ in CHOICES.values() for c in list_})
    for name in LAYERS:
        layer = layers.LAYERS[name]
        for choice in choices:
            config = parse_choice(choice)
            stem = f"ours-{layer.kernel}-{choice.replace(':', '-')}"
            ptx, cubin = folder / f"{stem}.ptx", folder / f"{stem}.cubin"
            launch = layers.compile_layer(layer, target, config, ptx)
            sass_stats.assemble(ptx, cubin)
            with tempfile.TemporaryDirectory() as scratch:
                shape = (config.m + 5, config.n - 12, 2 * layers.KA)
                layers.emulate(layer, config, shape, ptx, scratch)
            manifest.append(
                {"by": "ours", "layer": name, "choice": choice, "file": cubin.name}
                | {"entry": launch["entry"], "shared": launch["shared"]}
            )
    return manifest


def prepare_triton(target, folder, python):
    """Compiles Triton's kernels; returns their manifest."""
    keys, requests = [], []
    for name in LAYERS:
        for choice in sorted({c for list_ in CHOICES.values() for c in list_}):
            config = parse_choice(choice)
            row = peers.Row(layers.LAYERS[name], target, (config.m, config.n))
            keys.append((name, choice))
            requests.append(peers.to_request(row, config))
    manifest = []
    with tempfile.TemporaryDirectory() as scratch:
        answers = peers.run_triton(python, requests, scratch)
        for number, ((name, choice), answer) in enumerate(zip(keys, answers)):
            if "error" in answer:
                print(f"gpu: Triton refuses {name} {choice}: {answer['error']}")
                continue
            cubin = folder / f"triton-{number}.cubin"
            sass_stats.assemble(pathlib.Path(scratch) / f"{number}.ptx", cubin)
            manifest.append(
                {"by": "Triton", "layer": name, "choice": choice, "file": cubin.name}
                | {"entry": "scaled_linear", "shared": answer["shared"]}
            )
    return manifest


def prepare(target, folder, triton):
    folder.mkdir(parents=True, exist_ok=True)
    manifest = prepare_ours(target, folder)
    print(f"gpu: {len(manifest)} kernels of ours agree with f64 on the emulator")
    python = pathlib.Path(triton) if triton else None
    if python and python.exists():
        manifest += prepare_triton(target, folder, python)
    else:
        print("gpu: no Triton; --triton=PYTHON adds its kernels")
    text = json.dumps({"target": target, "kernels": manifest}, indent=1)
    (folder / "manifest.json").write_text(text)
    print(f"gpu: {len(manifest)} cubins for {target}")
    return manifest


# Running ----------------------------------------------------------------------


class Arrays:
    """The operands of one shape on the device, in several copies.

    Rows are padded to 128, since Triton's kernels have no masks; padding is zero.
    """

    def __init__(self, driver, shape, copies, seed=1):
        import numpy as np

        self.driver, self.shape = driver, shape
        self.layer = layers.LAYERS[shape.layer]
        random = np.random.default_rng(seed)
        self.host = {}
        for (name, kind), rows in zip(self.layer.operands(), (shape.m, shape.n)):
            padded = -(-rows // 128) * 128
            if kind == "bf16":
                # Magnitudes from 2^-4 to 2^4.
                codes = random.integers(123 << 7, 131 << 7, (padded, shape.k))
                signs = random.integers(0, 2, codes.shape) << 15
                codes = (codes | signs).astype(np.uint16)
            else:
                codes = random.integers(0, 256, (padded, shape.k // 2), np.uint8)
                scales = random.integers(
                    0x28, 0x48, (padded, shape.k // self.layer.v), np.uint8
                )
                scales[rows:] = 0
                self.host[name + "s"] = scales
            codes[rows:] = 0
            self.host[name] = codes
        self.copies = [
            {name: driver.upload(array) for name, array in self.host.items()}
            for _ in range(copies)
        ]
        rows = -(-shape.m // 128) * 128
        self.z_bytes = 4 * rows * shape.n
        self.z = driver.allocate(self.z_bytes)

    def free(self):
        for copy in self.copies:
            for address in copy.values():
                self.driver.free(address)
        self.driver.free(self.z)

    def read_z(self):
        import numpy as np

        z = np.empty((self.shape.m, self.shape.n), np.float32)
        self.driver.download(self.z, z)
        return z

    def values(self, name, rows):
        """Rows of an operand in f64, scales applied."""
        import numpy as np

        kind = dict(self.layer.operands())[name]
        codes = self.host[name][rows]
        if kind == "e2m1":
            codes = np.stack([codes & 15, codes >> 4], -1).reshape(len(rows), -1)
        values = layers.decode(kind, codes)
        if name + "s" in self.host:
            scales = layers.decode(self.layer.scale, self.host[name + "s"][rows])
            values = values * np.repeat(scales, self.layer.v, 1)
        return values

    def check(self, what):
        """Compares sampled elements of z with f64; raises ToolError."""
        import numpy as np

        shape = self.shape
        rows = np.unique(np.linspace(0, shape.m - 1, 48).astype(int))
        columns = np.unique(np.linspace(0, shape.n - 1, 48).astype(int))
        x, y = self.values("x", rows), self.values("y", columns)
        bound = sum_bound(shape.k) * (abs(x) @ abs(y).T)
        z = self.read_z()[np.ix_(rows, columns)]
        wrong = np.count_nonzero(~(abs(z - x @ y.T) <= bound))
        if wrong:
            raise sass_stats.ToolError(f"{what}: {wrong} of {z.size} sampled differ")


def sum_bound(k):
    """The relative error of a sum of K terms that docs/numerics.md allows."""
    return (9 * k / 8 + 8) * 2.0**-24


TYPES = {"i64": ctypes.c_int64, "i32": ctypes.c_int32, "f32": ctypes.c_float}


def make_arguments(by, layer, shape, addresses):
    """ctypes arguments of a launch, in the order of the entry."""
    arguments = {"ours": layers.entry_arguments, "Triton": layers.triton_arguments}
    return [
        ctypes.c_uint64(addresses[value]) if kind == "array" else TYPES[kind](value)
        for kind, value in arguments[by](layer, shape)
    ]


class Kernel:
    """A cubin of the manifest, loaded."""

    def __init__(self, driver, folder, entry):
        self.driver, self.entry = driver, entry
        self.config = parse_choice(entry["choice"])
        self.function = driver.load(
            (folder / entry["file"]).read_bytes(), entry["entry"], entry["shared"]
        )

    def launch(self, arrays, copy):
        shape, config = arrays.shape, self.config
        self.driver.launch(
            self.function,
            (-(-shape.m // config.m), -(-shape.n // config.n)),
            32 * config.warps,
            self.entry["shared"],
            make_arguments(
                self.entry["by"],
                arrays.layer,
                (shape.m, shape.n, shape.k),
                {"z": arrays.z, **copy},
            ),
        )

    def check(self, arrays):
        self.driver.fill(arrays.z, 0xFF, arrays.z_bytes)
        self.launch(arrays, arrays.copies[0])
        self.driver.synchronize()
        entry = self.entry
        arrays.check(f"{entry['by']} {entry['layer']} {entry['choice']}")


def time_cublas(shape, copies, batches):
    """Seconds of a bf16 multiply by PyTorch, None without PyTorch."""
    try:
        import torch
    except ImportError:
        return None
    x = torch.randn(shape.m, shape.k, device="cuda", dtype=torch.bfloat16)
    ys = [
        torch.randn(shape.n, shape.k, device="cuda", dtype=torch.bfloat16)
        for _ in range(copies)
    ]
    out = torch.empty(shape.m, shape.n, device="cuda", dtype=torch.bfloat16)
    torch.matmul(x, ys[0].T, out=out)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for y in ys:
            torch.matmul(x, y.T, out=out)
    seconds = []
    for batch in range(batches + 2):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        stop.record()
        torch.cuda.synchronize()
        seconds.append(1e-3 * start.elapsed_time(stop) / copies)
    return sorted(seconds[2:])[batches // 2]


def format_row(shape, by, choice, seconds, peaks):
    share = ""
    if peaks:
        bound, reached = find_share(shape, seconds, peaks)
        share = f"{100 * reached:.0f} % of {bound}"
    return (
        f"| {shape.layer} | {shape.m} | {shape.n} | {by} | {choice} "
        f"| {1e6 * seconds:.1f} | {1e-12 * shape.operations / seconds:.0f} "
        f"| {1e-9 * shape.bytes / seconds:.0f} | {share} |"
    )


def run(folder, batches):
    if not (folder / "manifest.json").exists():
        raise OSError(f"{folder} has no cubins; run gpu.py prepare first")
    manifest = json.loads((folder / "manifest.json").read_text())
    driver = cuda_driver.Driver()
    device = driver.name
    target = (
        f"sm_{driver.attribute(cuda_driver.MAJOR)}{driver.attribute(cuda_driver.MINOR)}"
    )
    if manifest["target"].rstrip("af") != target:
        sys.exit(
            f"gpu: error: cubins are for {manifest['target']}, {device} is {target}"
        )
    peaks = find_peaks(device)
    l2 = driver.attribute(cuda_driver.L2_BYTES)
    kernels = [Kernel(driver, folder, entry) for entry in manifest["kernels"]]
    # Ragged M and N: ours alone has masks.
    for name in LAYERS:
        arrays = Arrays(driver, Shape(name, 77, 396, 768), 1)
        ours = [k for k in kernels if k.entry["by"] == "ours"]
        for kernel in ours:
            if kernel.entry["layer"] == name:
                kernel.check(arrays)
        arrays.free()
    print(f"{device}, {target}: medians of {batches}; ragged shapes agree with f64\n")
    print("| layer | M | N = K | by | tile | µs | Tflop/s | GB/s | share |")
    print("|---|---|---|---|---|---|---|---|---|")
    for shape in shapes():
        copies = min(64, max(2, -(-4 * l2 // shape.bytes)))
        arrays = Arrays(driver, shape, copies)
        best = {}
        for kernel in kernels:
            entry = kernel.entry
            if entry["layer"] != shape.layer or entry["choice"] not in CHOICES[shape.m]:
                continue
            kernel.check(arrays)
            launches = [
                lambda k=kernel, c=copy: k.launch(arrays, c) for copy in arrays.copies
            ]
            seconds = driver.time(launches, batches)
            best[entry["by"]] = min(
                best.get(entry["by"], (1e9, "")), (seconds, entry["choice"])
            )
        arrays.free()
        wide = -(-4 * l2 // (2 * shape.n * shape.k))
        cublas = time_cublas(shape, max(2, wide), batches)
        if cublas:
            best["cuBLAS bf16"] = (cublas, "")
        for by, (seconds, choice) in best.items():
            print(format_row(shape, by, choice, seconds, peaks), flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("step", choices=["prepare", "run"])
    parser.add_argument("--target", default="sm_90a")
    parser.add_argument("--triton", metavar="PYTHON")
    parser.add_argument("--folder", type=pathlib.Path, default=FOLDER)
    parser.add_argument("--batches", type=int, default=21)
    parser.add_argument("--dry-run", action="store_true")
    options = parser.parse_args()
    try:
        if options.step == "run":
            run(options.folder, options.batches)
        elif not options.dry_run:
            prepare(options.target, options.folder, options.triton)
        else:
            with tempfile.TemporaryDirectory() as folder:
                prepare(options.target, pathlib.Path(folder), options.triton)
            for shape in shapes():
                print(f"gpu: would time {shape} with {', '.join(CHOICES[shape.m])}")
            print("gpu: dry run, nothing was launched on a GPU")
    except (sass_stats.ToolError, cuda_driver.CudaError, OSError) as error:
        sys.exit(f"gpu: error: {error}")


if __name__ == "__main__":
    main()
