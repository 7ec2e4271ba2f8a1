"""Counts instructions of a PTX text and compares them with a budget.

  budget.py total=260 bfe=2 mma=4 < kernel.ptx

`NAME=N` allows N instructions whose opcode is NAME or starts with `NAME.`;
`total` counts all. Prints every count, and exits with 1 where one is over its
budget.
"""

import re
import sys


def find_opcodes(ptx):
    """The opcode of each instruction between the braces of entries."""
    ptx = re.sub(r"//[^\n]*", "", ptx)
    for body in re.findall(r"\)[^{};]*\{(.*?)^\}", ptx, re.DOTALL | re.MULTILINE):
        for statement in body.split(";"):
            words = re.sub(r"^\s*\$\w+:|^\s*@!?%\w+", "", statement.strip()).split()
            if words and not words[0].startswith((".", "{", "}")):
                yield words[0]


def main():
    opcodes = list(find_opcodes(sys.stdin.read()))
    failed = False
    for argument in sys.argv[1:]:
        name, budget = argument.split("=")
        count = sum(
            name == "total" or opcode == name or opcode.startswith(name + ".")
            for opcode in opcodes
        )
        over = count > int(budget)
        failed |= over
        print(f"{name}: {count} of {budget}" + (", OVER" if over else ""))
    sys.exit(failed)


if __name__ == "__main__":
    main()
