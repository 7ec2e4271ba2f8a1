"""Writes every ```mlir block of some files as one split module.

extract-examples.py OUT FILE...

Blocks in `.td` files are indented; each block is a whole module. Prints how many
blocks each file has, and fails for an op definition without one.
"""

import pathlib
import re
import textwrap
import sys

BLOCK = re.compile(r"^([ \t]*)```mlir\n(.*?)^\1```$", re.M | re.S)
# An op that is defined by a class of its own or directly.
DEFINITION = re.compile(r"^def (Tile_\w+Op)\s+:.*?^}", re.M | re.S)


def main():
    out, files = sys.argv[1], [pathlib.Path(name) for name in sys.argv[2:]]
    modules = []
    status = 0
    for path in files:
        text = path.read_text()
        blocks = list(BLOCK.finditer(text))
        for block in blocks:
            line = text.count("\n", 0, block.start()) + 2
            modules.append(f"// {path.name}:{line}\n" + textwrap.dedent(block[2]))
        print(f"{path.name}: {len(blocks)} examples")
        if path.suffix == ".td":
            for definition in DEFINITION.finditer(text):
                if "```mlir" not in definition[0]:
                    print(f"{path.name}: no example for {definition[1]}")
                    status = 1
    pathlib.Path(out).write_text("// -----\n".join(modules))
    return status


if __name__ == "__main__":
    sys.exit(main())
