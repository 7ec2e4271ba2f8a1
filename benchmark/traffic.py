#!/usr/bin/env python3
"""Counts what one block of a linear layer moves, on the emulator.

    benchmark/traffic.py --kernel=nvfp4_linear_aligned --target=sm_80 \\
        --tile=128x128x64 --warps=4

Runs one block over eight steps of K and prints its MMAs, its bank conflicts of
shared memory and, for each operand and scale argument, the bytes and sectors of
global memory that it reads. The exit status is 1 where there are bank conflicts,
where the MMAs are not exactly those of M x N x K, or where an operand is not read
exactly once at 100 % efficiency. Scales are reported: a row of them is shorter
than a sector of 32 bytes.

    benchmark/traffic.py --pipeline --stages=4 …

prints instead, for each step of K of warp 0, which groups of copies it waits for
and what it has issued before its first MMA; the exit status is 1 unless the
copies for N - 1 steps later come first, at most N - 2 groups being under way.

Where one thread issues the multiplies of the block (tcgen05), they are counted, one
per 32 bytes of K, 128 rows and up to 256 columns; and --pipeline prints for the first
warp that copies how many groups it has under way when it hands over each step: N - 1
of N slots, the last steps excepted.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import layers
import sass_stats

STEPS = 8


def run(layer, target, config, extra):
    """Runs one block over STEPS steps; returns the finished process."""
    shape = (config.m, config.n, STEPS * config.k)
    with tempfile.TemporaryDirectory() as folder:
        paths = layers.save_any_data(layer, shape, folder)
        z, ptx = (os.path.join(folder, name) for name in ("z.npy", "kernel.ptx"))
        layers.compile_layer(layer, target, config, ptx, "--lineinfo")
        arguments = layers.entry_arguments(layer, shape)
        command = layers.emulator_command(config, shape, ptx, arguments, paths, z)
        command = [str(part) for part in command + extra]
        result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        raise sass_stats.ToolError(result.stderr.strip())
    return result


def count_products(mma):
    """Products of the MMAs that were issued, from {instruction: count}."""
    total = 0
    for instruction, count in mma.items():
        m, n, k = map(int, re.search(r"\.m(\d+)n(\d+)k(\d+)\.", instruction).groups())
        total += m * n * k * count
    return total


def is_tensor_memory(text):
    """Whether PTX, or the counters' names of MMAs, multiply in tensor memory."""
    return any("tcgen05.mma" in part for part in text)


def count_arguments(counters, source):
    """{argument: Counter of bytes and sectors} of the loads of each argument.

    The line of the kernel file tells which one an instruction reads.
    """
    traffic = collections.defaultdict(collections.Counter)
    for line in counters["lines"]:
        kind = line["class"]
        if kind not in ("load-global", "async-copy") or not line["bytes"]:
            continue
        number = int(line["source"].rsplit(":", 1)[1])
        load = re.search(r"tile\.load %(\w+)\[", source[number - 1])
        name = load[1] if load else f"line {number}"
        traffic[name].update(bytes=line["bytes"], sectors=line["sectors"])
    return traffic


def report_traffic(layer, target, config):
    """Prints the counters; returns the faults."""
    extra = ["--stats=json", "--stats-per-line"]
    counters = json.loads(run(layer, target, config, extra).stdout)
    shape = (config.m, config.n, STEPS * config.k)
    faults = []
    mmas = sum(counters["mma"].values())
    if is_tensor_memory(counters["mma"]):
        expected = STEPS * layers.count_tensor_multiplies(layer, config)
        print(f"MMAs: {mmas} of {expected}")
        if mmas != expected:
            faults.append("the MMAs are not those of M x N x K")
    else:
        products = count_products(counters["mma"])
        expected = shape[0] * shape[1] * shape[2]
        print(f"MMAs: {mmas}, {products} products of {expected}")
        if products != expected:
            faults.append("the products are not those of M x N x K")
    conflicts = counters["shared"]["bank-conflicts"]
    wavefronts = counters["shared"]["wavefronts"]
    print(f"shared memory: {wavefronts} wavefronts, {conflicts} bank conflicts")
    if conflicts:
        faults.append("bank conflicts")
    source = layers.kernel_path(layer).read_text().splitlines()
    traffic = count_arguments(counters, source)
    for name, size in layers.stored_bytes(layer, shape).items():
        seen = traffic[name]
        share = seen["bytes"] / (32 * seen["sectors"]) if seen["sectors"] else 0
        print(
            f"{name}: {seen['bytes']} bytes of {size}, {seen['sectors']} sectors, "
            f"efficiency {100 * share:.0f} %"
        )
        if name in ("x", "y") and (seen["bytes"] != size or share != 1):
            faults.append(f"{name} is not read once at full efficiency")
    return faults


def parse_trace(text):
    """The waits, copies, commits and MMAs of a trace, in order of execution."""
    pattern = re.compile(
        r"\b(?:cp\.async\.(wait_group|wait_all|commit_group|c[ag])|(mma\.sync))\b"
        r"[^\n;]*?(\d*)\s*;?\s*$",
        re.M,
    )
    for match in pattern.finditer(text):
        yield match[1] or "mma", match[3]


def report_copiers(layer, target, config):
    """Prints what is under way when steps are handed over; returns the faults."""
    extra = [f"--trace=0:{config.warps // 2}"]
    trace = run(layer, target, config, extra).stderr
    faults = []
    commits = step = copies = 0
    for event, number in parse_trace(trace):
        if event == "commit_group":
            commits += 1
        elif event in ("ca", "cg"):
            copies += 1
        else:
            under_way = commits - step
            print(
                f"step {step}: {copies} copies, {under_way} groups under way, "
                f"then wait_group {number}"
            )
            if under_way != min(config.stages - 1, STEPS - step):
                faults.append(f"step {step}: {under_way} groups under way")
            if int(number or 0) != under_way - 1:
                faults.append(f"step {step}: wait_group {number}")
            step += 1
            copies = 0
    if step != STEPS:
        faults.append(f"{step} steps of {STEPS}")
    return faults


def report_pipeline(layer, target, config):
    """Prints the order of each step; returns the faults."""
    trace = run(layer, target, config, ["--trace=0:0"]).stderr
    if is_tensor_memory([trace]):
        return report_copiers(layer, target, config)
    faults = []
    commits = copies = mmas = step = 0
    wait = None
    for event, number in [*parse_trace(trace), ("wait_group", "0")]:
        if event == "commit_group":
            commits += 1
        elif event in ("ca", "cg"):
            copies += 1
            if mmas:
                faults.append(f"step {step}: a copy behind an MMA")
        elif event == "mma":
            if not mmas:
                print(
                    f"step {step}: wait_group {wait}, then {copies} copies, "
                    f"{commits} groups before its MMAs"
                )
                if wait != config.stages - 2:
                    faults.append(f"step {step}: wait_group {wait}")
                if commits != step + config.stages:
                    faults.append(f"step {step}: {commits} groups")
            mmas += 1
        else:
            step += mmas > 0
            copies = mmas = 0
            wait = int(number) if event == "wait_group" else 0
    if step != STEPS:
        faults.append(f"{step} steps of {STEPS}")
    return faults


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kernel", required=True, choices=sorted(layers.BY_KERNEL))
    parser.add_argument("--target", required=True)
    parser.add_argument("--tile", required=True, metavar="MxNxK")
    parser.add_argument("--warps", required=True, type=int)
    parser.add_argument("--stages", type=int, default=0)
    parser.add_argument("--pipeline", action="store_true")
    options = parser.parse_args()
    config = layers.Config.parse(options.tile, options.warps, options.stages)
    report = report_pipeline if options.pipeline else report_traffic
    if options.pipeline and not options.stages:
        parser.error("--pipeline needs --stages")
    try:
        faults = report(layers.BY_KERNEL[options.kernel], options.target, config)
    except sass_stats.ToolError as error:
        sys.exit(f"traffic: error: {error}")
    for fault in faults:
        print(f"FAULT: {fault}")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
