"""Compares the instructions of docs/emulator.md with those of the emulator.

ptx-run --instructions | compare-instructions.py DOCUMENT [--write]

What follows the first paragraph of the section "## Instructions" must be what
ptx-run prints. With --write, it becomes that.
"""

import difflib
import pathlib
import re
import sys

SECTION = re.compile(r"^(## Instructions\n\n.+?\n\n)(.*?)(?=^## |\Z)", re.M | re.S)


def main():
    document = pathlib.Path(sys.argv[1])
    text = document.read_text()
    section = SECTION.search(text)
    if not section:
        sys.exit(f"{document.name}: no section 'Instructions'")
    printed = sys.stdin.read().strip() + "\n"
    rows = len(re.findall(r"^\| `", printed, re.M))
    if rows == 0:
        sys.exit("standard input has no table of instructions")
    if "--write" in sys.argv[2:]:
        rest = text[section.end() :]
        table = section[1] + printed + ("\n" if rest else "")
        document.write_text(text[: section.start()] + table + rest)
        return 0
    written = section[2].rstrip("\n") + "\n"
    difference = difflib.unified_diff(
        written.splitlines(),
        printed.splitlines(),
        document.name,
        "ptx-run",
        n=0,
        lineterm="",
    )
    lines = list(difference)
    print("\n".join(lines or [f"{rows} instructions, as ptx-run prints them"]))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
