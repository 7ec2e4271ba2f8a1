#!/usr/bin/env python3
"""Checks which library uses which, from objects and include lines.

    check-dependencies.py BUILD

CMake checks what is linked; this checks what is used: a static library can call
a function of another without linking it, and a header can be included for its
types alone. The rules are those of cmake/TileDependencies.cmake.
"""

import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent

# Folders of include/tile and lib that must not include the given headers.
FORBIDDEN_INCLUDES = {
    # mlir/Support holds aliases of LLVM's support library, not IR.
    "Formats": r"mlir/(?!Support/)|tile/(?!Formats/)",
    "Layout": r"mlir/(?!Support/)|tile/(?!Layout/)",
    "Target": r"mlir/(?!Support/)|tile/(?!Target/|Layout/|Formats/)",
    "Dialect": r"tile/(Target|Transforms|Conversion|Codegen|Reference|Tools)/",
    "Reference": r"tile/(Target|Transforms|Conversion|Codegen|Tools)/",
    "Emulator": r"mlir/(?!Support/)|tile/(?!Emulator/|Formats/)",
    "Transforms": r"tile/(Conversion|Codegen|Reference|Tools)/",
    "Conversion": r"tile/(Codegen|Reference|Tools)/",
    "Codegen": r"tile/(Reference|Emulator|Runtime|Tools)/",
    "CAPI": r"mlir/|llvm/|tile/(?!Runtime/)",
}

# Headers that programs without MLIR include; those for programs with it.
RUNTIME_HEADERS = r"mlir/|llvm/|tile/(?!Runtime/)"
BUILDER_HEADERS = {"KernelBuilder.h"}

# What a library may use of those that it links by way of others.
MAY_USE = {"TileCAPI": {"TileRuntime"}}

# How one loads the driver or includes its headers, and the folder that may.
DRIVER = re.compile(r'\bdl(open|sym)\b|"libcuda|#include.*\bcuda\w*\.h')
DRIVER_FOLDER = "Runtime"


def read_rules():
    """Returns the libraries that each library may use."""
    text = (SOURCE / "cmake" / "TileDependencies.cmake").read_text()
    rules = {}
    for name, body in re.findall(r"^set\(TILE_MAY_LINK_(\w+)([^)]*)\)", text, re.M):
        words = set(re.findall(r"\w+", body))
        for word in list(words):
            if word.startswith("TILE_MAY_LINK_"):
                words.remove(word)
                words |= rules[word.removeprefix("TILE_MAY_LINK_")]
        rules[name] = words
    return rules


def read_symbols(archive):
    """Returns the sets of strong definitions and of undefined symbols."""
    lines = subprocess.run(
        ["nm", "-P", "-C", archive], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    defined, undefined = set(), set()
    for line in lines:
        match = re.fullmatch(r"(.+) ([A-Za-z])( [0-9a-f]+)?( [0-9a-f]+)? *", line)
        if not match:
            continue
        if match[2] in "TDBR":
            defined.add(match[1])
        elif match[2] == "U":
            undefined.add(match[1])
    return defined, undefined - defined


def check_objects(build):
    rules = read_rules()
    archives = {
        path.name[3:-2]: path for path in sorted(build.glob("lib/**/libTile*.a"))
    }
    missing = sorted(set(rules) - set(archives))
    if missing:
        yield f"not built: {', '.join(missing)}"
    symbols = {name: read_symbols(path) for name, path in archives.items()}
    for name, allowed in rules.items():
        if name not in symbols:
            continue
        allowed = MAY_USE.get(name, allowed)
        undefined = symbols[name][1]
        if "MLIR" not in allowed:
            for symbol in sorted(undefined):
                if re.search(r"\bmlir::", symbol):
                    yield f"{name} uses MLIR: {symbol}"
        for other, (defined, _) in symbols.items():
            if other == name or other in allowed:
                continue
            for symbol in sorted(undefined & defined):
                yield f"{name} uses {other}: {symbol}"


def find_sources(root):
    """Yields the C++ files of a folder."""
    for path in sorted(root.rglob("*")):
        if path.suffix in (".h", ".cpp"):
            yield path


def find_lines(path, pattern):
    """Yields the lines of a file that a pattern is found in, as messages."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if pattern.search(line):
            yield f"{path.relative_to(SOURCE)}:{number}: {line.strip()}"


def check_includes():
    for folder, pattern in FORBIDDEN_INCLUDES.items():
        forbidden = re.compile(rf'^\s*#include "({pattern})')
        for root in (SOURCE / "include" / "tile", SOURCE / "lib"):
            for path in find_sources(root / folder):
                yield from find_lines(path, forbidden)
    forbidden = re.compile(rf'^\s*#include ["<]({RUNTIME_HEADERS})')
    for path in find_sources(SOURCE / "include" / "tile" / "Runtime"):
        if path.name not in BUILDER_HEADERS:
            yield from find_lines(path, forbidden)


def check_driver():
    """One library talks to a driver."""
    for root in (SOURCE / "include" / "tile", SOURCE / "lib"):
        for path in find_sources(root):
            if path.relative_to(root).parts[0] != DRIVER_FOLDER:
                yield from find_lines(path, DRIVER)
    for path in find_sources(SOURCE / "tools"):
        yield from find_lines(path, DRIVER)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: check-dependencies.py BUILD")
    build = pathlib.Path(sys.argv[1])
    problems = [*check_objects(build), *check_includes(), *check_driver()]
    for problem in problems:
        print(f"check-dependencies: error: {problem}")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
