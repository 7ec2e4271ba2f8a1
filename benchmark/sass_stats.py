#!/usr/bin/env python3
"""What the main loop of a tensor-core kernel costs, from its machine code.

    scripts/sass-stats FILE.cubin|FILE.ptx …
    scripts/sass-stats --tile=128x128x64 --warps=4 FILE.cubin
    scripts/sass-stats --listing FILE.cubin          the loop itself
    scripts/sass-stats --json FILE.cubin

Prints one line per kernel: registers, bytes of stack (0 where nothing spills),
and how many SASS instructions of each class its main loop has per MMA. `sass/mma`
is their sum, the MMA included: what every scheduler of a multiprocessor must
issue to keep its tensor core busy for one MMA. `per-2048` is the same per 16 x 8
x 16 products, so that kernels with different MMA instructions compare.

The main loop is, of the backward branches around at least a quarter of the MMA
instructions, the one in whose range they lie densest; where there is none, it is
the whole body. Where --tile and --warps say how many MMAs a warp has in a step
of K and the loop has fewer, it is one nested in the loop over K: what surrounds
it there is counted once per step.

Where multiplies are issued by one thread (tcgen05), the main loop is that of this
thread, and an MMA is one of a whole block. `copiers` are the instructions of
a step in the other loop, that of each warp which copies meanwhile.

Counts are static: they say nothing of stalls. PTX is assembled first, by ptxas.
That, nvdisasm and cuobjdump come from scripts/setup or a CUDA toolkit.
"""

import argparse
import collections
import dataclasses
import functools
import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent

# Classes of opcodes, by what stands in front of the first dot; the first match
# wins. Whatever has none is `alu`.
CLASSES = [
    ("mma", r"[HIQODB]MMA|[HQI]GMMA|UTC\w*MMA"),
    ("ldsm", r"LDSM"),
    ("stsm", r"STSM"),
    ("lds", r"LDS"),
    ("sts", r"STS"),
    ("scales", r"UTCCP"),
    ("copy", r"LDGSTS|LDGDEPBAR|DEPBAR|UTMALDG|UBLKCP|ARRIVES"),
    ("ldg", r"LDG"),
    ("stg", r"STG"),
    ("local", r"LDL|STL"),
    ("cvt", r"F2F|F2FP|I2F|I2FP|F2I|FRND"),
    ("shfl", r"SHFL"),
    ("prmt", r"U?PRMT"),
    ("bar", r"BAR|UTCBAR|SYNCS|MEMBAR|WARPSYNC|ERRBAR|FENCE"),
    ("control", r"BRA|BSSY|BSYNC|EXIT|NOP|JMP|CALL|RET|WARPGROUP|YIELD"),
    (
        "fp",
        r"FMUL|HMUL2|HFMA2|HADD2|FADD|FFMA|FSETP|FSET|FSEL|FMNMX|MUFU"
        r"|HMNMX2|HSETP2",
    ),
    ("uniform", r"U[A-Z0-9]+|R2UR|S2UR|VOTEU"),
]


class ToolError(Exception):
    """A tool is missing, or has failed."""


@functools.lru_cache(None)
def find_tool(name):
    """The path of a tool of CUDA, in the order in which the compiler looks."""
    candidates = []
    ptxas = os.environ.get("TILE_PTXAS")
    if ptxas:
        candidates.append(os.path.join(os.path.dirname(ptxas), name))
    wheels = [sysconfig.get_paths()["purelib"]]
    wheels += glob.glob(f"{SOURCE}/.venv/lib/python*/site-packages")
    candidates += [f"{folder}/nvidia/cu13/bin/{name}" for folder in wheels]
    candidates.append(shutil.which(name))
    if "CUDA_HOME" in os.environ:
        candidates.append(os.path.join(os.environ["CUDA_HOME"], "bin", name))
    for path in candidates:
        if path and os.access(path, os.X_OK):
            return path
    raise ToolError(f"{name} not found; scripts/setup installs it")


def call(command, **options):
    """Runs a command and returns what it prints; raises ToolError."""
    return run(command, **options).stdout


def run(command, **options):
    """Runs a command and returns the finished process; raises ToolError."""
    command = [str(part) for part in command]
    result = subprocess.run(command, capture_output=True, text=True, **options)
    if result.returncode:
        text = (result.stderr or result.stdout).strip()
        raise ToolError(f"{' '.join(command)}\n{text}")
    return result


def assemble(ptx, cubin, ptxas=None):
    """Assembles a PTX file for the target that it names."""
    try:
        text = pathlib.Path(ptx).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ToolError(f"{ptx}: {error}")
    match = re.search(r"^\s*\.target\s+(\w+)", text, re.M)
    if not match:
        raise ToolError(f"{ptx}: no .target")
    call([ptxas or find_tool("ptxas"), f"-arch={match[1]}", ptx, "-o", cubin])
    return cubin


@dataclasses.dataclass(frozen=True)
class Instruction:
    """One line of SASS."""

    text: str

    @functools.cached_property
    def opcode(self):
        """With its modifiers: HMMA.16816.F32.BF16."""
        return re.sub(r"^(@!?U?P\w+|[{}])\s+", "", self.text).split()[0]

    @functools.cached_property
    def kind(self):
        """One of CLASSES, or `alu`."""
        head = self.opcode.split(".")[0]
        return next((k for k, rx in CLASSES if re.fullmatch(rx, head)), "alu")

    @functools.cached_property
    def products(self):
        """Products that one warp's share of this MMA adds up, 0 if unknown.

        The opcode of what one thread issues for a block (UTCOMMA) has no shape.
        """
        # HGMMA.64x128x16: of four warps. HMMA.16816: m 16, n 8, k 16.
        match = re.search(r"\.(\d+)x(\d+)x(\d+)\b", self.opcode)
        if match:
            return int(match[1]) * int(match[2]) * int(match[3]) // 4
        match = re.search(r"\.168(\d+)\b", self.opcode)
        return 16 * 8 * int(match[1]) if match else 0


@dataclasses.dataclass
class Cost:
    """The main loop, or one step of K of it."""

    counts: dict  # instructions by class
    products: int  # of one warp
    is_loop: bool
    copiers: int = 0  # instructions of a step of the warps that only copy

    @property
    def mma(self):
        return self.counts.get("mma", 0)

    @property
    def instructions(self):
        return sum(self.counts.values())

    @property
    def per_mma(self):
        """`sass/mma`; 0 where there is no MMA."""
        return self.instructions / self.mma if self.mma else 0.0

    @property
    def per_2048(self):
        return 2048 * self.instructions / self.products if self.products else 0.0

    def of(self, kind):
        """Instructions of a class per MMA."""
        return self.counts.get(kind, 0) / self.mma if self.mma else 0.0


def count_products(instructions):
    """Products of the MMAs among instructions."""
    return sum(i.products for i in instructions if i.kind == "mma")


class Kernel:
    """One function of a cubin."""

    def __init__(self, name):
        self.name = name
        self.registers = self.stack = self.shared = None
        self.instructions = []
        self.labels = {}  # label: index of the instruction behind it

    def find_loops(self):
        """(first, last) of each backward branch, both included."""
        loops = []
        for index, instruction in enumerate(self.instructions):
            match = re.search(r"\bBRA\S*\s.*?`?\(?(\.L\w+)", instruction.text)
            if match and self.labels.get(match[1], index + 1) <= index:
                loops.append((self.labels[match[1]], index))
        return loops

    def count(self, first, last, kind="mma"):
        return sum(i.kind == kind for i in self.instructions[first : last + 1])

    def find_main_loop(self):
        """(first, last) of the main loop, None where there is none."""
        every = self.count(0, len(self.instructions))
        ranked = []
        for first, last in self.find_loops():
            mma = self.count(first, last)
            if mma and 4 * mma >= every:
                ranked.append((mma / (last - first + 1), mma, first, last))
        return max(ranked)[2:] if ranked else None

    def find_copy_loop(self):
        """(first, last) of the loop that copies for the main loop, None if none.

        Of the loops without MMAs it is the smallest that has the most copies: ptxas
        puts a small loop around each instruction that one thread of a warp runs.
        """
        loops = [
            (self.count(first, last, "copy"), first - last, first, last)
            for first, last in self.find_loops()
            if not self.count(first, last)
        ]
        best = max(loops, default=(0,))
        return best[2:] if best[0] else None

    def measure(self, products_per_step=0):
        """The cost of the main loop.

        `products_per_step` are those of one warp in one step of K; a loop that
        has fewer runs several times per step, within the loop over K.
        """
        loop = self.find_main_loop()
        first, last = loop or (0, len(self.instructions) - 1)
        body = self.instructions[first : last + 1]
        products = count_products(body)
        if loop and products_per_step and products % products_per_step:
            for outer, inner in self.find_nests():
                a, b = outer
                c, d = inner
                body = self.instructions[c : d + 1]
                around = self.instructions[a:c] + self.instructions[d + 1 : b + 1]
                # Steps in front of the inner loop or behind it count as well.
                rest = products_per_step - count_products(around)
                each = count_products(body)
                if rest > 0 and each and rest % each == 0:
                    body = around + body * (rest // each)
                    products = products_per_step
                    break
            else:
                body = self.instructions[first : last + 1]
        counts = collections.Counter(i.kind for i in body)
        copying = None if counts["copy"] or not loop else self.find_copy_loop()
        copiers = copying[1] - copying[0] + 1 if copying else 0
        return Cost(dict(counts), products, loop is not None, copiers)

    def find_nests(self):
        """(outer, inner) of nested loops with MMAs, the smallest outer first."""
        loops = [loop for loop in set(self.find_loops()) if self.count(*loop)]
        nests = [
            (outer, inner)
            for outer in loops
            for inner in loops
            if outer != inner and outer[0] <= inner[0] and inner[1] <= outer[1]
        ]
        return sorted(nests, key=lambda n: [b - a for a, b in n])

    def mma_opcodes(self):
        """The MMA instructions of the kernel, each named once."""
        return list(
            dict.fromkeys(i.opcode for i in self.instructions if i.kind == "mma")
        )

    def listing(self):
        """The main loop as text."""
        first, last = self.find_main_loop() or (0, len(self.instructions) - 1)
        return "\n".join(i.text for i in self.instructions[first : last + 1])


def parse_listing(text):
    """The kernels in what `nvdisasm -c` prints."""
    kernels = []
    for line in text.splitlines():
        section = re.match(r"\s*\.section\s+\.text\.([\w$.]+)", line)
        if section:
            kernels.append(Kernel(section[1]))
            continue
        if not kernels:
            continue
        label = re.match(r"^(\.L\w+):", line)
        if label:
            kernels[-1].labels[label[1]] = len(kernels[-1].instructions)
            continue
        code = re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(.*?);?\s*$", line)
        if code:
            kernels[-1].instructions.append(Instruction(code[1]))
    return kernels


def parse_resources(text):
    """{kernel: (registers, stack, shared)} of `cuobjdump --dump-resource-usage`."""
    rows = re.findall(r"Function ([\w$.]+):\s*REG:(\d+) STACK:(\d+) SHARED:(\d+)", text)
    return {name: tuple(map(int, numbers)) for name, *numbers in rows}


def read_cubin(path):
    """The kernels of a cubin."""
    kernels = parse_listing(call([find_tool("nvdisasm"), "-c", path]))
    resources = parse_resources(
        call([find_tool("cuobjdump"), "--dump-resource-usage", path])
    )
    for kernel in kernels:
        if kernel.name in resources:
            kernel.registers, kernel.stack, kernel.shared = resources[kernel.name]
    return kernels


def read(path, ptxas=None):
    """The kernels of a cubin or of a PTX file."""
    if pathlib.Path(path).suffix != ".ptx":
        return read_cubin(path)
    with tempfile.TemporaryDirectory() as folder:
        return read_cubin(assemble(path, os.path.join(folder, "a.cubin"), ptxas))


def describe(path, kernel, cost):
    """One line of text."""
    classes = sorted(cost.counts.items(), key=lambda item: -item[1])
    return (
        f"{os.path.basename(path)}:{kernel.name} registers={kernel.registers} "
        f"stack={kernel.stack} loop={'yes' if cost.is_loop else 'no'} mma={cost.mma} "
        f"{','.join(kernel.mma_opcodes())} sass/mma={cost.per_mma:.2f} "
        + (f"per-2048={cost.per_2048:.2f} " if cost.products else "")
        + (f"copiers={cost.copiers} " if cost.copiers else "")
        + "| "
        + " ".join(f"{k}={cost.of(k):.2f}" for k, _ in classes if k != "mma")
    )


def to_json(path, kernel, cost):
    """The same as an object with stable keys."""
    return {
        "file": os.path.basename(path),
        "kernel": kernel.name,
        "registers": kernel.registers,
        "stack": kernel.stack,
        "loop": cost.is_loop,
        "mma": cost.mma,
        "mma-opcodes": kernel.mma_opcodes(),
        "sass-per-mma": round(cost.per_mma, 4),
        "sass-per-2048-products": round(cost.per_2048, 4),
        "counts": cost.counts,
        "copiers": cost.copiers,
        "kernel-instructions": len(kernel.instructions),
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--tile", metavar="MxNxK", help="of one block, in a step of K")
    parser.add_argument("--warps", type=int, help="warps that share the tile")
    parser.add_argument("--ptxas", help="the assembler for PTX files")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--listing", action="store_true")
    options = parser.parse_args()
    products = 0
    if bool(options.tile) != bool(options.warps):
        parser.error("expects --tile and --warps together")
    if options.tile:
        if not re.fullmatch(r"\d+x\d+x\d+", options.tile) or options.warps < 1:
            parser.error("expects --tile=MxNxK and at least one warp")
        m, n, k = map(int, options.tile.split("x"))
        products = m * n * k // options.warps
    rows = []
    try:
        for path in options.files:
            for kernel in read(path, options.ptxas):
                rows.append((path, kernel, kernel.measure(products)))
    except ToolError as error:
        sys.exit(f"sass-stats: error: {error}")
    if options.json:
        print(json.dumps([to_json(*row) for row in rows], indent=1))
        return
    for path, kernel, cost in rows:
        if options.listing:
            print(kernel.listing())
        print(describe(path, kernel, cost))


if __name__ == "__main__":
    main()
