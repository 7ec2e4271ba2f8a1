#!/usr/bin/env python3
"""Compares the main loops of the linear layers with their budgets.

    scripts/check-budget                    every row of test/Budget/budgets.txt
    scripts/check-budget --target=sm_80     rows of one target; --kernel=, --tile=
    scripts/check-budget --update           …and lower the limits to the figures

Each kernel is compiled and assembled, and the loop is counted by sass_stats.py.
Prints a line per row; the exit status is 1 if one is over its limit, has more
stack, or does not have exactly the MMAs of its tile: a warp's share of the
products of one step of K, or of several where the loop is unrolled, or a whole
part of it in a nested loop.

Where one thread issues the multiplies of the block (tcgen05), the loop is that of
this thread, and has one MMA per 32 bytes of K, 128 rows and up to 256 columns. What
else such a row says follows its columns:

    tma=on        tiles are copied by tensor maps
    stages=N      the least slots of the pipeline
    copiers=N     the most instructions of a warp that copies, in a step of K

It is judged by the remarks as well: slots, columns of tensor memory.
"""

import argparse
import concurrent.futures
import dataclasses
import math
import os
import pathlib
import re
import sys
import tempfile

import layers
import sass_stats

BUDGETS = layers.SOURCE / "test" / "Budget" / "budgets.txt"


@dataclasses.dataclass(frozen=True)
class Budget:
    """One row of the table."""

    kernel: str
    target: str
    tile: str
    warps: int
    goal: float
    limit: float
    stack: int
    tma: str = ""  # empty: what the compiler does by itself
    stages: int = 0
    copiers: int = 0

    @classmethod
    def parse(cls, line):
        fields = [field for field in line.split() if "=" not in field]
        if len(fields) != 7:
            raise ValueError(f"expects 7 columns, but got {len(fields)}: {line}")
        kernel, target, tile, warps, goal, limit, stack = fields
        if kernel not in layers.COUNTED:
            raise ValueError(f"unknown kernel '{kernel}'")
        more = dict(field.split("=", 1) for field in line.split() if "=" in field)
        if unknown := more.keys() - {"tma", "stages", "copiers"}:
            raise ValueError(f"unknown '{min(unknown)}': {line}")
        return cls(
            kernel,
            target,
            tile,
            int(warps),
            float(goal),
            float(limit),
            int(stack),
            more.get("tma", ""),
            int(more.get("stages", 0)),
            int(more.get("copiers", 0)),
        )

    @property
    def config(self):
        return layers.Config.parse(self.tile, self.warps)

    @property
    def layer(self):
        return layers.COUNTED[self.kernel]

    def format(self):
        more = {"tma": self.tma, "stages": self.stages, "copiers": self.copiers}
        more = " ".join(f"{key}={value}" for key, value in more.items() if value)
        return (
            f"{self.kernel:<29} {self.target:<8} {self.tile:<12} {self.warps:<6} "
            f"{self.goal:<6.2f} {self.limit:<6.2f} {self.stack:<6} {more}"
        ).rstrip()


def read_table(path):
    """The rows of a table."""
    lines = pathlib.Path(path).read_text().splitlines()
    return [Budget.parse(l) for l in lines if l.strip() and not l.startswith("#")]


@dataclasses.dataclass(frozen=True)
class Figure:
    """What a row measures."""

    per_mma: float
    stack: int
    registers: int
    mma: int
    faults: tuple
    copiers: int = 0
    tensor: str = ""  # of a loop in tensor memory: what else it takes


# Registers of a multiprocessor, 32-bit ones.
REGISTERS = 65536


def judge_tensor_loop(budget, cost, launch, remarks):
    """What a loop in tensor memory takes, as text, and what is wrong with it."""
    found = {}
    for name, values in remarks:
        if name in ("software-pipeline", "tensor-memory"):
            found |= values
    stages, columns = (int(found.get(k, 0)) for k in ("num-stages", "columns"))
    shared = launch["shared"]
    most = layers.read_shared_limits()[budget.target]
    faults = []
    expected = layers.count_tensor_multiplies(budget.layer, budget.config)
    if cost.mma != expected:
        faults.append(f"{cost.mma} MMAs in a step, expected {expected}")
    if stages < budget.stages:
        faults.append(f"{stages} stages, expected {budget.stages}")
    if budget.copiers and cost.copiers > budget.copiers:
        faults.append(f"copiers over their limit of {budget.copiers}")
    if shared > most:
        faults.append(f"{shared} bytes of shared memory, the target has {most}")
    if not 32 <= columns <= 512 or columns & (columns - 1):
        faults.append(f"{columns} columns of tensor memory")
    text = (
        f"copiers {cost.copiers} of {budget.copiers}; {stages} stages, {shared} bytes "
        f"of shared memory, {columns} columns of tensor memory"
    )
    return text, faults


def judge(budget, kernel, launch=None, remarks=()):
    """The figure of an assembled kernel, and what is wrong with it."""
    tensor = any(opcode.startswith("UTC") for opcode in kernel.mma_opcodes())
    cost = kernel.measure(0 if tensor else budget.config.products)
    faults = []
    if cost.per_mma > budget.limit + 0.005:
        faults.append(f"sass/mma over its limit of {budget.limit:.2f}")
    if kernel.stack > budget.stack:
        faults.append(f"stack over its limit of {budget.stack}")
    threads = 32 * budget.warps
    if -(-(kernel.registers or 0) // 8) * 8 * threads > REGISTERS:
        faults.append(f"{threads} threads do not fit with so many registers")
    step = budget.config.products
    text = ""
    if not cost.is_loop:
        faults.append("no loop has the MMAs")
    elif tensor:
        text, more = judge_tensor_loop(budget, cost, launch, remarks)
        faults += more
    elif not cost.products or cost.products % step:
        faults.append(f"{cost.products} products in a step, expected {step}")
    return Figure(
        cost.per_mma,
        kernel.stack,
        kernel.registers,
        cost.mma,
        tuple(faults),
        cost.copiers,
        text,
    )


def measure(budget, ptxas=None):
    """Compiles, assembles and judges one row."""
    extra = [f"--tma={budget.tma}"] if budget.tma else []
    with tempfile.TemporaryDirectory() as folder:
        ptx = os.path.join(folder, "kernel.ptx")
        launch, remarks = layers.compile_with_remarks(
            budget.layer, budget.target, budget.config, ptx, *extra
        )
        (kernel,) = sass_stats.read(ptx, ptxas)
    return judge(budget, kernel, launch, remarks)


def describe(budget, figure):
    reached = "reached" if figure.per_mma <= budget.goal + 0.005 else "not reached"
    line = (
        f"{budget.kernel} {budget.target} {budget.tile} {budget.warps} warps"
        f"{', tma ' + budget.tma if budget.tma else ''}: "
        f"sass/mma {figure.per_mma:.2f} of {budget.limit:.2f}, goal "
        f"{budget.goal:.2f} {reached}; {figure.registers} registers, stack "
        f"{figure.stack} of {budget.stack}; {figure.mma} MMAs"
    )
    if figure.tensor:
        line += f"; {figure.tensor}"
    return line + "".join(f"; FAULT: {fault}" for fault in figure.faults)


def lower(budget, figure):
    """The row with the limits that the figure allows."""
    reached = max(budget.goal, math.ceil(figure.per_mma * 20 - 0.01) / 20)
    return dataclasses.replace(
        budget,
        limit=min(budget.limit, reached),
        stack=min(budget.stack, figure.stack),
        copiers=min(budget.copiers, figure.copiers),
    )


def update(path, lowered):
    """Replaces rows of the table, keeping comments and order."""
    lines = []
    for line in pathlib.Path(path).read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            budget = Budget.parse(line)
            line = lowered.get(budget, budget).format()
        lines.append(line)
    pathlib.Path(path).write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", default=BUDGETS, metavar="FILE")
    for column in ("target", "kernel", "tile"):
        parser.add_argument(f"--{column}", help="only rows whose column matches")
    parser.add_argument("--ptxas", help="the assembler")
    parser.add_argument("--update", action="store_true", help="lower the limits")
    options = parser.parse_args()
    try:
        rows = [
            row
            for row in read_table(options.table)
            if all(
                re.fullmatch(getattr(options, c) or ".*", getattr(row, c))
                for c in ("target", "kernel", "tile")
            )
        ]
        if not rows:
            raise ValueError("no row matches")
        # Each row waits for two programs.
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            figures = list(pool.map(lambda row: measure(row, options.ptxas), rows))
    except (ValueError, OSError, sass_stats.ToolError) as error:
        sys.exit(f"check-budget: error: {error}")
    for row, figure in zip(rows, figures):
        print(describe(row, figure))
    if options.update:
        pairs = zip(rows, figures)
        update(options.table, {row: lower(row, figure) for row, figure in pairs})
    return any(figure.faults for figure in figures)


if __name__ == "__main__":
    sys.exit(main())
