#!/usr/bin/env python3
"""Compiles the PTX files on which the emulator is tested.

The emulator must run what other compilers write, so test/Emulator/Inputs holds
CUDA C++ and Triton sources of this project beside the PTX that NVIDIA's nvcc
and Triton made of them. Neither compiler needs a GPU. The files in the
repository were made with

    python3 -m venv inputs
    inputs/bin/pip install triton==3.9.0 \\
        nvidia-cuda-nvcc==13.5.37 nvidia-cuda-crt==13.5.37 \\
        nvidia-nvvm==13.5.37 nvidia-cuda-runtime==13.5.37 \\
        nvidia-cuda-cccl==13.3.5.0.6
    inputs/bin/python scripts/make-emulator-inputs.py

nvcc also calls g++ to preprocess. Other commands:

    make-emulator-inputs.py warp softmax       only sources with these stems
    make-emulator-inputs.py --list             what would be made
    make-emulator-inputs.py --assemble         …and let ptxas read each file

A CUDA source says in its first lines what to make of it:

    // make: sm_80                      NAME.sm_80.ptx
    // make: sm_80 -lineinfo as lines   NAME.lines.sm_80.ptx

A Triton source has a list KERNELS of `Kernel`s (see triton/kernels.py), each of
which becomes NAME.KERNEL.sm_N.ptx. Each PTX file starts with a comment that
says which tool made it, how it is launched and from what.
"""

import argparse
import importlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
INPUTS = ROOT / "test/Emulator/Inputs"
FOLDER = pathlib.Path(tempfile.gettempdir()) / "tile-emulator-inputs"


def find_toolkit():
    """The folder of CUDA's tools among the packages of this Python."""
    wheels = pathlib.Path(sysconfig.get_paths()["purelib"]) / "nvidia"
    for folder in sorted(wheels.glob("cu*"), reverse=True):
        if (folder / "bin/nvcc").exists():
            return folder
    sys.exit("make-emulator-inputs.py: error: no nvcc; see --help")


def banner(source, command, facts=()):
    """The comment at the head of a PTX file."""
    lines = [
        f"Made by scripts/make-emulator-inputs.py from {source.relative_to(ROOT)}:",
        "  " + command,
        *facts,
    ]
    return "".join(f"// {line}\n" for line in lines)


def tidy(text):
    """Without comments, empty lines and blanks at the ends of lines."""
    lines = [line.rstrip() for line in text.splitlines()]
    # Most say where inline assembly begins and ends. The tools' versions stay.
    lines = [
        line if '"' in line else re.sub(r"\s*//(?! Cuda compilation).*", "", line)
        for line in lines
    ]
    # Paths of the machine that compiled; the file numbers matter, the names do
    # not.
    lines = [
        re.sub(r'^(\s*\.file\s+\d+\s+)"([^"]*/)?([^"/]+)"', r'\1"\3"', line)
        for line in lines
    ]
    return "".join(f"{line}\n" for line in lines if line)


def list_cuda(source):
    """Yields (output, architecture, options) for one CUDA source."""
    for line in source.read_text().splitlines():
        if line and not line.startswith("//"):
            break
        match = re.fullmatch(r"// make: (sm_\w+)((?: -\S+)*)(?: as (\w+))?", line)
        if match:
            middle = f".{match[3]}" if match[3] else ""
            name = f"{source.stem}{middle}.{match[1]}.ptx"
            yield source.with_name(name), match[1], match[2].split()


def make_cuda(source, output, arch, options):
    toolkit = find_toolkit()
    command = ["nvcc", "-ptx", f"-arch={arch.replace('sm_', 'compute_')}"]
    command += ["-std=c++17", *options, source.name]
    # Debug information holds the path of the source, so it is always the same.
    FOLDER.mkdir(exist_ok=True)
    for path in source.parent.glob("*.cu*"):
        shutil.copy(path, FOLDER)
    made = FOLDER / "out.ptx"
    done = subprocess.run(
        [toolkit / "bin" / command[0], *command[1:], "-o", made],
        cwd=FOLDER,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        sys.exit(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
    if done.stderr:
        print(done.stderr, file=sys.stderr, end="")
    output.write_text(banner(source, " ".join(command)) + tidy(made.read_text()))


def list_triton(source):
    """Yields (output, kernel) for one Triton source."""
    # Line tables hold the path of the source, so it is always the same.
    FOLDER.mkdir(exist_ok=True)
    for path in source.parent.glob("*.py"):
        shutil.copy(path, FOLDER)
    if str(FOLDER) not in sys.path:
        sys.path.insert(0, str(FOLDER))
    module = importlib.import_module(source.stem)
    for kernel in getattr(module, "KERNELS", []):
        yield source.with_name(f"{source.stem}.{kernel.label}.ptx"), kernel


def make_triton(source, output, kernel):
    text, command, facts = kernel.compile()
    output.write_text(banner(source, command, facts) + tidy(text))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("stem", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--assemble", action="store_true")
    options = parser.parse_args()

    jobs = []
    for source in sorted(INPUTS.glob("cuda/*.cu")):
        if not options.stem or source.stem in options.stem:
            for output, *rest in list_cuda(source):
                jobs.append((make_cuda, source, output, *rest))
    for source in sorted(INPUTS.glob("triton/*.py")):
        if source.stem == "kernels":
            continue
        if not options.stem or source.stem in options.stem:
            for output, *rest in list_triton(source):
                jobs.append((make_triton, source, output, *rest))

    total = 0
    for make, source, output, *rest in jobs:
        print(output.relative_to(ROOT), end="", flush=True)
        if not options.list:
            make(source, output, *rest)
            size = output.stat().st_size
            total += size
            print(f" {size}", end="")
            if options.assemble:
                arch = re.search(r"sm_\w+", output.name)[0]
                subprocess.run(
                    [find_toolkit() / "bin/ptxas", f"-arch={arch}", output]
                    + ["-o", os.devnull],
                    check=True,
                )
        print()
    if total:
        print(f"{total} bytes")


if __name__ == "__main__":
    main()
