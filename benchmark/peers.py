#!/usr/bin/env python3
"""Compares our linear layers with Triton's, without a GPU.

    python3 -m venv .venv-triton
    .venv-triton/bin/pip install triton==3.9.0
    .venv/bin/python benchmark/peers.py              both tables, as Markdown
    .venv/bin/python benchmark/peers.py --write      …into README.md and docs

Each row is one kind of layer, one target and one size of tile. Both compilers get
the same choice of configurations: steps of K, numbers of warps, three stages, or
two where three do not fit in shared memory. Each is judged by its best one, which
is the one without a stack (spills) that has the fewest SASS instructions per MMA;
where all have a stack, the fewest. The same ptxas assembles both, and the same
emulator runs both, where it knows all instructions; both results are checked.

What Triton made is kept in build/peers, so that later calls take it from there.
Other calls:

    benchmark/peers.py --rows='NVFP4.*sm_80'         some rows only
    benchmark/peers.py --compile-time --write        the table of compile times
    benchmark/peers.py --triton=PYTHON               another Python with Triton
"""

import argparse
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import layers
import sass_stats

SOURCE = layers.SOURCE
TRITON = "triton 3.9.0"

# Our target, and Triton's number of the same one.
TARGETS = {"sm_80": 80, "sm_89": 89, "sm_90a": 90, "sm_120a": 120}
NUMBERS = TARGETS | {"sm_100a": 100}  # of tensor_peers.py as well

# Steps of K and numbers of warps that both compilers choose from.
CHOICES = {
    (128, 128): [(64, 4), (64, 8), (128, 4), (128, 8)],
    (128, 256): [(64, 8), (128, 8)],
    (16, 128): [(64, 4), (128, 4), (256, 4), (128, 8)],
}

# K of the two runs whose difference gives the counters of a loop.
FEW, MANY = 512, 1024


@dataclasses.dataclass(frozen=True)
class Row:
    layer: layers.Layer
    target: str
    tile: tuple  # m, n

    def configs(self, stages):
        return [
            layers.Config(*self.tile, k, warps, stages)
            for k, warps in CHOICES[self.tile]
        ]

    def __str__(self):
        return f"{self.layer.name}, {self.target}, {self.tile[0]}x{self.tile[1]}"


@dataclasses.dataclass
class Figure:
    """What one compiler made of a row; plain data, so that files can hold it."""

    config: layers.Config = None  # None: it refused
    registers: int = 0
    stack: int = 0
    counts: dict = None  # SASS instructions by class, of `products` of one warp
    products: int = 0
    mmas: int = 0
    counters: dict = None  # of a block in a step of K, if the emulator could
    error: str = ""

    def rank(self):
        return (self.stack > 0, sum(self.counts.values()) / self.products)

    def per_mma(self, products, kinds=None):
        """SASS per MMA of `products`: comparable where MMAs differ in size."""
        total = sum(n for k, n in self.counts.items() if not kinds or k in kinds)
        return total * products / self.products

    def counter(self, *path):
        """A counter per block and step of K, None where it is unknown."""
        value = self.counters
        for key in path:
            value = value.get(key) if value else None
        return value

    @classmethod
    def load(cls, path):
        values = json.loads(path.read_text())
        if values["config"]:
            values["config"] = layers.Config(**values["config"])
        return cls(**values)

    def save(self, path):
        path.write_text(json.dumps(dataclasses.asdict(self)))


# Triton -----------------------------------------------------------------------


def find_triton(wish):
    python = pathlib.Path(
        wish or os.environ.get("TILE_TRITON") or SOURCE / ".venv-triton/bin/python"
    )
    if not python.exists():
        sys.exit(f"peers: error: {python} does not exist; see --help")
    return python


def to_request(row, config, repeat=1):
    layer = row.layer
    return {
        "arch": NUMBERS[row.target],
        "x": layer.x,
        "y": layer.y,
        "scale": layer.scale,
        "m": config.m,
        "n": config.n,
        "k": config.k,
        "warps": config.warps,
        "stages": config.stages,
        "repeat": repeat,
    }


def run_triton(python, requests, folder):
    """Compiles the requests in one process; returns its answers."""
    path = pathlib.Path(folder) / "requests.json"
    path.write_text(json.dumps(requests))
    script = SOURCE / "benchmark" / "triton_layers.py"
    return json.loads(sass_stats.call([python, script, path, folder]))


class Triton:
    """Triton's PTX of each request, from a cache of files."""

    def __init__(self, python, cache):
        self.python = python
        self.cache = pathlib.Path(cache)
        self.cache.mkdir(parents=True, exist_ok=True)

    def path(self, request):
        key = json.dumps([TRITON, request], sort_keys=True)
        return self.cache / hashlib.sha256(key.encode()).hexdigest()[:24]

    def row_path(self, row):
        """Where the figure of a row is kept: it depends on the assembler."""
        request = to_request(row, row.configs(3)[0])
        choices = [dataclasses.astuple(c) for c in row.configs(3)]
        version = sass_stats.call([sass_stats.find_tool("ptxas"), "--version"])
        return self.path([request, choices, version]).with_suffix(".figure.json")

    def compile(self, requests):
        """[(answer, path of the PTX)]"""
        missing = [
            r for r in requests if not self.path(r).with_suffix(".json").exists()
        ]
        if missing:
            with tempfile.TemporaryDirectory() as folder:
                answers = run_triton(self.python, missing, folder)
                for number, (request, answer) in enumerate(zip(missing, answers)):
                    made = pathlib.Path(folder) / f"{number}.ptx"
                    path = self.path(request)
                    if made.exists():
                        path.with_suffix(".ptx").write_text(made.read_text())
                    path.with_suffix(".json").write_text(json.dumps(answer))
        paths = [self.path(request) for request in requests]
        return [
            (json.loads(p.with_suffix(".json").read_text()), str(p.with_suffix(".ptx")))
            for p in paths
        ]


# Measuring --------------------------------------------------------------------


def measure_ptx(config, ptx):
    """The figure of the only kernel of a PTX file."""
    (kernel,) = sass_stats.read(ptx)
    cost = kernel.measure(config.products)
    return Figure(
        config, kernel.registers, kernel.stack, cost.counts, cost.products, cost.mma
    )


def count_on_emulator(row, figure, ptx, make_arguments, options=()):
    """Adds the counters of one step of K, where the emulator can run it."""
    import numpy as np

    counters = []
    with tempfile.TemporaryDirectory() as folder:
        for k in (FEW, MANY):
            paths, expected = layers.save_data(row.layer, *row.tile, k, folder)
            z = pathlib.Path(folder) / "z.npy"
            shape = (*row.tile, k)
            arguments = make_arguments(row.layer, shape)
            command = layers.emulator_command(
                figure.config, shape, ptx, arguments, paths, z
            )
            command += ["--stats=json", *options]
            result = subprocess.run(
                [str(part) for part in command], capture_output=True, text=True
            )
            if result.returncode:
                figure.error = (result.stderr.strip().splitlines() or [""])[0]
                return
            layers.check_result(np.load(z), expected, str(row))
            counters.append(json.loads(result.stdout))
    figure.counters = layers.per_step(*counters, (MANY - FEW) // figure.config.k)


def measure_ours(row, limits):
    """Our best figure of a row."""
    found, failure = [], None
    with tempfile.TemporaryDirectory() as folder:
        for number, config in enumerate(row.configs(stages=3)):
            # The compiler takes fewer stages where three do not fit.
            ptx = os.path.join(folder, f"{number}.ptx")
            try:
                launch = layers.compile_layer(row.layer, row.target, config, ptx)
                if launch["shared"] <= limits[row.target]:
                    found.append((measure_ptx(config, ptx), ptx))
            except sass_stats.ToolError as error:
                failure = error
        if not found:
            raise failure or sass_stats.ToolError(f"{row}: no configuration fits")
        best, ptx = min(found, key=lambda pair: pair[0].rank())

        count_on_emulator(row, best, ptx, layers.entry_arguments)
    if best.error:
        raise sass_stats.ToolError(f"{row}: {best.error}")
    return best


def measure_triton(row, triton, limits):
    """Triton's best figure of a row; what it refuses has an error."""
    saved = triton.row_path(row)
    if saved.exists():
        return Figure.load(saved)
    found, best = [], Figure(error="no configuration fits")
    for stages in (3, 2):
        configs = row.configs(stages)
        answers = triton.compile([to_request(row, config) for config in configs])
        for config, (answer, ptx) in zip(configs, answers):
            if "error" in answer:
                best = Figure(error=answer["error"])
            elif answer["shared"] <= limits[row.target]:
                found.append((measure_ptx(config, ptx), ptx, answer["shared"]))
        if found:
            break
    if found:
        best, ptx, shared = min(found, key=lambda triple: triple[0].rank())

        options = [f"--shared={shared}"]
        count_on_emulator(row, best, ptx, layers.triton_arguments, options)
    best.save(saved)
    return best


# Tables -----------------------------------------------------------------------


def reference_products(ours, theirs):
    """Products of the MMA that a row is counted in: ours."""
    figure = ours if ours.config else theirs
    return figure.products // figure.mmas


def format_summary(figures):
    """Rows of layer and tile, columns of targets: ours / Triton."""
    targets = list(TARGETS)
    lines = ["| layer | tile | " + " | ".join(targets) + " |"]
    lines.append("|---|---|" + "---|" * len(targets))
    keys = dict.fromkeys((row.layer.name, row.tile) for row in figures)
    for name, tile in keys:
        cells = []
        for target in targets:
            row = Row(layers.LAYERS[name], target, tile)
            if row not in figures:
                cells.append("")
                continue
            ours, theirs = figures[row]
            products = reference_products(ours, theirs)
            pair = [
                (
                    f"{f.per_mma(products):.2f}" + r"\*" * (f.stack > 0)
                    if f.config
                    else "–"
                )
                for f in (ours, theirs)
            ]
            won = theirs.config and ours.rank() <= theirs.rank()
            pair[0] = f"**{pair[0]}**" if won else pair[0]
            cells.append(" / ".join(pair))
        lines.append(f"| {name} | {tile[0]}×{tile[1]} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


GROUPS = {
    "arithmetic": ("alu", "uniform", "fp", "cvt", "prmt", "shfl"),
    "shared": ("lds", "ldsm", "sts", "stsm"),
    "global": ("copy", "ldg", "stg"),
    "other": ("local", "bar", "control"),
}


def format_line(row, who, figure, products):
    tile = f"{row.tile[0]}×{row.tile[1]}"
    head = f"| {row.layer.name} | {row.target} | {tile} | {who} | "
    if not figure.config:
        return head + "refused |" + " |" * 11
    config = figure.config
    cells = [
        f"{config.k}, {config.warps}",
        str(figure.registers),
        str(figure.stack),
        f"{figure.per_mma(products):.2f}",
        *(f"{figure.per_mma(products, kinds):.2f}" for kinds in GROUPS.values()),
    ]
    mmas = config.m * config.n * config.k / products  # of a block in one step
    for path in (
        ("instructions", "issued"),
        ("shared", "wavefronts"),
        ("shared", "bank-conflicts"),
        ("global-loads", "sectors"),
    ):
        value = figure.counter(*path)
        cells.append("–" if value is None else f"{value / mmas:.2f}")
    return head + " | ".join(cells) + " |"


def format_table(figures):
    """Two lines per row, ours and Triton's; everything per MMA of ours."""
    columns = ["layer", "target", "tile", "by", "K, warps", "registers", "stack"]
    columns += ["sass/mma", *GROUPS, "PTX", "wavefronts", "conflicts", "sectors"]
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for row, (ours, theirs) in figures.items():
        products = reference_products(ours, theirs)
        lines.append(format_line(row, "ours", ours, products))
        lines.append(format_line(row, "Triton", theirs, products))
    return "\n".join(lines)


def replace_between(path, name, text):
    """Replaces what stands between the markers of a generated table."""
    content = path.read_text()
    pattern = rf"(<!-- generated: {name} -->\n).*?(<!-- end of generated -->)"
    if not re.search(pattern, content, re.S):
        sys.exit(f"peers: error: {path} has no table '{name}'")
    path.write_text(
        re.sub(pattern, lambda m: f"{m[1]}{text}\n{m[2]}", content, flags=re.S)
    )


def count_wins(figures):
    """(rows that are at most the peer's, rows where it has a figure)"""
    compared = [(o, t) for o, t in figures.values() if t.config]
    return sum(o.rank() <= t.rank() for o, t in compared), len(compared)


# Compile time -----------------------------------------------------------------


def format_compile_time(python):
    """Milliseconds to PTX and to a cubin of a 128 x 128 layer, as Markdown."""
    columns = ["PTX, cold", "warm", "its processor time, cold", "warm"]
    columns += ["cubin, cold", "warm"]
    lines = [f"| layer | by | {' | '.join(columns)} |", "|" + "---|" * 8]
    program = layers.find_program("tile-compile-benchmark")
    # Triton has no E4M3 on sm_80.
    for name, target, k in (("NVFP4", "sm_120a", 128), ("MXFP4", "sm_80", 64)):
        row = Row(layers.LAYERS[name], target, (128, 128))
        config = layers.Config(128, 128, k, 4, 3)
        command = [program, layers.kernel_path(row.layer), "--json"]
        command += layers.compile_options(target, config)
        ours = json.loads(sass_stats.call(command))
        with tempfile.TemporaryDirectory() as folder:
            (theirs,) = run_triton(python, [to_request(row, config, 12)], folder)
        for who, times in (("ours", ours), ("Triton", theirs)):
            cells = []
            for kind in ("ptx", "cpu", "cubin"):
                first, *rest = times[kind]
                cells += [first, statistics.median(rest)]
            lines.append(
                f"| {name}, {target} | {who} | "
                + " | ".join(f"{1e3 * cell:.0f} ms" for cell in cells)
                + " |"
            )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--triton", metavar="PYTHON")
    parser.add_argument("--rows", default="", metavar="REGEX")
    parser.add_argument("--cache", default=SOURCE / "build" / "peers", metavar="DIR")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--compile-time", action="store_true")
    options = parser.parse_args()
    if options.write and options.rows:
        parser.error("--write needs every row")
    python = find_triton(options.triton)
    if options.compile_time:
        try:
            text = format_compile_time(python)
        except (OSError, sass_stats.ToolError) as error:
            sys.exit(f"peers: error: {error}")
        print(text)
        if options.write:
            page = SOURCE / "docs" / "performance.md"
            replace_between(page, "compile-time", text)
        return
    rows = [
        Row(layer, target, tile)
        for layer in layers.LAYERS.values()
        for target in TARGETS
        for tile in CHOICES
    ]
    rows = [row for row in rows if re.search(options.rows, str(row))]
    limits = layers.read_shared_limits()
    triton = Triton(python, options.cache)
    figures = {}
    try:
        # One process compiles whatever is not in the cache yet.
        unknown = [row for row in rows if not triton.row_path(row).exists()]
        triton.compile([to_request(r, c) for r in unknown for c in r.configs(3)])
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            ours = [pool.submit(measure_ours, row, limits) for row in rows]
            theirs = [pool.submit(measure_triton, row, triton, limits) for row in rows]
            for row, a, b in zip(rows, ours, theirs):
                figures[row] = (a.result(), b.result())
                print(f"peers: {row}", file=sys.stderr)
    except sass_stats.ToolError as error:
        sys.exit(f"peers: error: {error}")
    summary, table = format_summary(figures), format_table(figures)
    print(summary, table, sep="\n\n")
    print("\nat most Triton's count: {} of {} rows".format(*count_wins(figures)))
    if options.write:
        replace_between(SOURCE / "README.md", "peers", summary)
        replace_between(SOURCE / "docs" / "performance.md", "peers", table)


if __name__ == "__main__":
    main()
