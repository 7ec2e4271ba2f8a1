"""Prints each mma.sync of PTX files whose D and C share registers in part.

The hardware reads C while it writes D, so their lists must be the same or have
nothing in common. The last line is the number of instructions.
"""

import re
import sys

MMA = re.compile(r"^\s*mma\.sync[^;]*;", re.MULTILINE)
LIST = re.compile(r"\{([^{}]*)\}")


def main(paths):
    count = 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for match in MMA.finditer(text):
            d, _, _, c = [
                [word.strip() for word in words.split(",")]
                for words in LIST.findall(match[0])[:4]
            ]
            count += 1
            if d != c and set(d) & set(c):
                words = " ".join(match[0].split())
                print(f"{path}: D and C overlap: {words}")
    print(f"{count} instructions")


if __name__ == "__main__":
    main(sys.argv[1:])
