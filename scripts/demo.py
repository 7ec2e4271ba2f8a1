#!/usr/bin/env python3
"""Runs the main job with a build tree's tools: demo.py BUILD

Needs nothing but Python's own library.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent
KERNEL = pathlib.Path("examples/kernels/nvfp4_linear.mlir")
M, N, K = 256, 512, 2880
TILE = {"BM": 64, "BN": 64, "BK": 64}
TARGETS = {
    "sm_80": "Ampere: A100",
    "sm_90": "Hopper: H100, H200",
    "sm_100a": "Blackwell: B200",
    "sm_120f": "Blackwell: RTX 50, RTX PRO, GB10",
}


def run(command, **options):
    """Runs a command; returns its output, or ends the demo with its error."""
    result = subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, **options
    )
    if result.returncode:
        sys.exit(f"demo: error: {' '.join(map(str, command))}\n{result.stderr}")
    return result


def title(text):
    print(f"\n== {text}")


def read_remark(text):
    """Returns the path of the multiply and the reason, from --remarks."""
    path = re.search(r"path=\"?(native|expand)", text)
    reason = re.search(r"[Rr]eason=\"([^\"]*)\"", text)
    return (path[1] if path else "?", reason[1] if reason else "")


def read_resources(text):
    """Returns registers and spills in words, from --print-resources."""
    match = re.search(
        r"(\d+) registers, (\d+) bytes of spill stores, (\d+) bytes of spill loads"
        r".*\(ptxas ([\d.]+)",
        text,
    )
    if not match:
        return "no ptxas was found, so registers and spills are not known"
    spilled = int(match[2]) + int(match[3])
    return (
        f"{match[1]} registers and {spilled} spilled bytes per thread "
        f"(ptxas {match[4]})"
    )


def compile_for_targets(bin_dir, folder):
    for target, chips in TARGETS.items():
        ptx_file = folder / f"nvfp4_linear.{target}.ptx"
        result = run(
            [
                bin_dir / "tile-compile",
                KERNEL,
                f"--target={target}",
                "--remarks",
                "--print-resources",
                "-o",
                ptx_file,
            ]
            + [f"-D{name}={value}" for name, value in TILE.items()]
        )
        ptx = ptx_file.read_text()
        path, reason = read_remark(result.stderr)
        print(f"\n  {target}  {chips}")
        print(f"    path       {path}: {reason}")
        multiplies = re.findall(r"^\s*((?:mma|wgmma|tcgen05\.mma)\S+)", ptx, re.M)
        for instruction in sorted(set(multiplies)) or ["none"]:
            print(f"    multiply   {multiplies.count(instruction)} x {instruction}")
        print(f"    PTX        {len(ptx)} bytes")
        print(f"    resources  {read_resources(result.stderr)}")


def compare(bin_dir, folder):
    return run([bin_dir / "tile-demo-layer", "compare", M, N, K, folder]).stdout


def run_layer(bin_dir, folder):
    """Runs the layer on the GPU of this machine, or its PTX on the emulator."""
    alpha = (folder / "alpha.txt").read_text().strip()
    grid = f"{-(-M // TILE['BM'])},{-(-N // TILE['BN'])}"
    command = [bin_dir / "tile-run", SOURCE / KERNEL, f"--grid={grid}"]
    command += [f"-D{name}={value}" for name, value in TILE.items()]
    command += [f"out:z.npy:{M}x{N}xf32"]
    command += [f"in:{name}.npy" for name in ("x", "y", "xs", "ys")]
    command += [f"val:{alpha}"]
    start = time.monotonic()
    result = subprocess.run(
        [str(part) for part in command + ["--device=cuda"]],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    if result.returncode == 0:
        seconds = time.monotonic() - start
        print(f"  ran on the GPU, grid {grid}, in {seconds:.1f} s")
        return
    reason = (result.stderr.strip().splitlines() or ["no reason given"])[-1]
    print(f"  not on a GPU: {reason.removeprefix('tile-run: error: ')}")
    for target in TARGETS:
        start = time.monotonic()
        run(command + ["--device=emulator", f"--target={target}"], cwd=folder)
        seconds = time.monotonic() - start
        verdict = compare(bin_dir, folder).strip().splitlines()[-1].strip()
        print(f"  {target:8} on the emulator, grid {grid}, in {seconds:.1f} s: {verdict}")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: demo.py BUILD")
    bin_dir = pathlib.Path(sys.argv[1]).resolve() / "bin"
    os.chdir(SOURCE)
    with tempfile.TemporaryDirectory(prefix="tile-demo-") as name:
        folder = pathlib.Path(name)
        print(
            f"One NVFP4 linear layer, z[{M},{N}] = x[{M},{K}] . y[{N},{K}]^T, from "
            "one kernel file:"
        )
        print(f"  {KERNEL}")

        title("1. Quantise: 16 FP4 values share an E4M3 scale")
        print(
            run([bin_dir / "tile-demo-layer", "make", M, N, K, folder]).stdout, end=""
        )

        title("2. Compile the one kernel for every target")
        print(
            "  native: the tensor core multiplies FP4 and applies the scales. "
            "expand: values\n  stay packed in memory and become bf16 in registers, "
            "next to the multiply."
        )
        compile_for_targets(bin_dir, folder)

        title("3. Run")
        run_layer(bin_dir, folder)

        title("4. Compare with f64 arithmetic on the dequantised values")
        print(compare(bin_dir, folder), end="")


if __name__ == "__main__":
    main()
