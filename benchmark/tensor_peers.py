#!/usr/bin/env python3
"""Compares loops in tensor memory with those of other compilers, without a GPU.

    benchmark/tensor_peers.py                         ours alone
    benchmark/tensor_peers.py --triton=PYTHON         and Triton's
    benchmark/tensor_peers.py --cutile=PYTHON         and tileiras'
    benchmark/tensor_peers.py … --write               into docs/performance.md

for sm_100a, as Markdown. PYTHON is one with the packages that triton_layers.py and
cutile_layers.py name. All get the same steps of K to choose from, Triton the same
numbers of warps too, and are judged by their best: no stack, then the fewest
instructions of all warps per MMA, or where roles of warps have loops of their own
and are not known, of the loop that multiplies.

`sass/mma` is of the loop that issues multiplies, `copiers` are the instructions per
MMA of the loop of a warp that copies meanwhile, and `block` those of all warps that
run one of the two.
"""

import argparse
import dataclasses
import json
import pathlib
import sys
import tempfile

import layers
import peers
import sass_stats

TARGET = "sm_100a"
NAMES = ("NVFP4", "MXFP4", "MXFP8", "FP8 x FP4")
TILES = ((128, 256), (128, 128))


def steps_of_k(layer):
    """Of 64 and 128 bytes of the wider operand."""
    values = 2 if layer.x == layer.y == "e2m1" else 1
    return [64 * values, 128 * values]


@dataclasses.dataclass
class Loop:
    """What one compiler made of a layer and tile."""

    k: int
    warps: int  # 0: unknown
    registers: int
    stack: int
    mma: int
    instructions: int
    copiers: int
    everybody: bool = False  # all warps run the loop

    @classmethod
    def read(cls, path, k, warps, everybody=False):
        (kernel,) = sass_stats.read(path)
        cost = kernel.measure()
        if not cost.mma or not cost.is_loop:
            return None
        return cls(
            k,
            warps,
            kernel.registers,
            kernel.stack,
            cost.mma,
            cost.instructions,
            0 if everybody else cost.copiers,
            everybody,
        )

    @property
    def block(self):
        """Instructions of all warps per MMA, 0 where roles are unknown."""
        if self.everybody:
            return self.instructions * self.warps / self.mma
        return (self.instructions + self.copiers * self.warps // 2) / self.mma

    def rank(self):
        alone = self.instructions / self.mma
        return (self.stack > 0, self.block if self.warps else alone)


def measure_ours(layer, tile, tma):
    """Our best, with the number of warps that the compiler chooses."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for k in steps_of_k(layer):
            config = layers.Config(*tile, k, 8)
            ptx = str(pathlib.Path(folder) / f"{k}.ptx")
            layers.compile_layer(layer, TARGET, config, ptx, f"--tma={tma}")
            found.append(Loop.read(ptx, k, config.warps))
    return min(found, key=Loop.rank)


def measure_triton(python, layer, tile):
    configs = [
        layers.Config(*tile, k, warps, 3) for k in steps_of_k(layer) for warps in (4, 8)
    ]
    row = peers.Row(layer, TARGET, tile)
    requests = [peers.to_request(row, config) for config in configs]
    with tempfile.TemporaryDirectory() as folder:
        answers = peers.run_triton(python, requests, folder)
        found = [
            Loop.read(f"{folder}/{number}.ptx", config.k, config.warps, True)
            for number, (config, answer) in enumerate(zip(configs, answers))
            if "error" not in answer
        ]
    return min(filter(None, found), key=Loop.rank, default=None)


def measure_cutile(python, layer, tile):
    keys = {"x": layer.x, "y": layer.y, "scale": layer.scale}
    keys |= {"target": "sm_100", "m": tile[0], "n": tile[1]}
    requests = [keys | {"k": k} for k in steps_of_k(layer)]
    script = layers.SOURCE / "benchmark" / "cutile_layers.py"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "requests.json"
        path.write_text(json.dumps(requests))
        answers = json.loads(sass_stats.call([python, script, path, folder]))
        found = [
            Loop.read(f"{folder}/{number}.cubin", request["k"], 0)
            for number, (request, answer) in enumerate(zip(requests, answers))
            if "error" not in answer
        ]
    return min(filter(None, found), key=Loop.rank, default=None)


def format_line(layer, tile, who, loop):
    head = f"| {layer.name} | {tile[0]}×{tile[1]} | {who} | "
    if not loop:
        return head + "refused |" + " |" * 6
    cells = [str(loop.k), str(loop.warps or "–"), str(loop.registers), str(loop.stack)]
    cells.append(f"{loop.instructions / loop.mma:.2f}")
    known = loop.warps and not loop.everybody
    cells.append(f"{loop.copiers / loop.mma:.2f}" if known else "–")
    cells.append(f"{loop.block:.0f}" if loop.warps else "–")
    return head + " | ".join(cells) + " |"


def format_table(triton=None, cutile=None):
    columns = ["layer", "tile", "by", "K", "warps", "registers", "stack", "sass/mma"]
    columns += ["copiers", "block"]
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for layer in map(layers.LAYERS.get, NAMES):
        for tile in TILES:
            found = [("ours", measure_ours(layer, tile, "off"))]
            found.append(("ours, tensor maps", measure_ours(layer, tile, "on")))
            if triton:
                found.append(("Triton", measure_triton(triton, layer, tile)))
            if cutile:
                found.append(("tileiras", measure_cutile(cutile, layer, tile)))
            lines += [format_line(layer, tile, *pair) for pair in found]
            print(f"tensor_peers: {layer.name}, {tile}", file=sys.stderr)
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--triton", metavar="PYTHON")
    parser.add_argument("--cutile", metavar="PYTHON")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if options.write and not (options.triton and options.cutile):
        parser.error("--write needs both others")
    try:
        table = format_table(options.triton, options.cutile)
    except (OSError, sass_stats.ToolError) as error:
        sys.exit(f"tensor_peers: error: {error}")
    print(table)
    if options.write:
        page = layers.SOURCE / "docs" / "performance.md"
        peers.replace_between(page, "tensor-peers", table)


if __name__ == "__main__":
    main()
