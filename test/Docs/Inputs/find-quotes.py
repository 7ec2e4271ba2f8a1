"""Finds what docs/tcgen05.md quotes of the compiler.

find-quotes.py PAGE REASONS IR

Each code span in the second column of the page's first table must stand in the
file REASONS, and each `#tile.placement` of the page in the file IR. Prints how
many of both there are.
"""

import pathlib
import re
import sys


def main():
    page, reasons, ir = (pathlib.Path(name).read_text() for name in sys.argv[1:])
    rows = re.search(r"^\|---\|---\|\n((?:\|.*\n)+)", page, re.M)[1].splitlines()
    spans = [s for row in rows for s in re.findall(r"`([^`]+)`", row.split(" | ")[1])]
    placements = re.findall(r"^#tile\.placement<.*?>", page, re.M)
    status = 0
    for what, quotes, text in [
        ("reasons", spans, reasons),
        ("placements", placements, ir),
    ]:
        for quote in quotes:
            # An ellipsis at the end stands for the rest of the message.
            if quote.removesuffix(" …") not in text:
                print(f"not found: {quote}")
                status = 1
        print(f"{len(quotes)} {what}")
    return status


if __name__ == "__main__":
    sys.exit(main())
