"""Checks that hold for every PTX text the compiler writes, whatever the kernel.

  * Every entry has a line `// tile.launch entry= block= shared=`, every such
    line an entry, and `.reqntid` says the same block.
  * The accumulators that an mma reads and those that it writes are the same
    registers in the same order, or have none in common.
  * Shared memory is aligned to 16 bytes at least.
  * Addresses of global memory are 64-bit.

Prints one line per fault and exits with 1 where there is any.
"""

import re
import sys


def strip_comments(ptx):
    return re.sub(r"//[^\n]*", "", ptx)


def find_entries(ptx):
    """Maps the name of each entry to its `.reqntid`, or to None."""
    entries = {}
    for match in re.finditer(r"\.entry\s+([\w$]+)\s*\((?:[^)]*)\)([^{]*)\{", ptx):
        bounds = re.search(r"\.reqntid\s+(\d+)\s*,\s*(\d+)\s*,\s*(\d+)", match[2])
        entries[match[1]] = ",".join(bounds.groups()) if bounds else None
    return entries


def find_multiplies(ptx):
    """Each mma as (opcode, list of its register lists: D, A, B, C)."""
    for match in re.finditer(r"\bmma\.sync\.[\w.:]*\s+([^;]*);", ptx):
        lists = [
            [register.strip() for register in text.split(",")]
            for text in re.findall(r"\{([^}]*)\}", match[1])
        ]
        yield match[0].split()[0], lists[:4]


def check_launch_lines(ptx):
    entries = find_entries(strip_comments(ptx))
    lines = re.findall(
        r"^// tile\.launch entry=(\S+) block=(\S+) shared=\d+$", ptx, re.MULTILINE
    )
    for name, block in lines:
        if name not in entries:
            yield f"tile.launch line of '{name}', which is no entry"
        elif entries[name] != block:
            yield f"'{name}': block={block}, but .reqntid {entries[name]}"
    for name in entries:
        count = sum(name == other for other, _ in lines)
        if count != 1:
            yield f"'{name}': expects one tile.launch line, but got {count}"


def check_accumulators(ptx):
    for opcode, (d, _, _, c) in find_multiplies(strip_comments(ptx)):
        if d != c and set(d) & set(c):
            yield f"{opcode}: writes {d} while it reads {c}"


def check_shared(ptx):
    for line in strip_comments(ptx).splitlines():
        if not re.match(r"\s*(\.\w+\s+)*\.shared\b", line):
            continue
        align = re.search(r"\.align\s+(\d+)", line)
        if not align or int(align[1]) < 16:
            yield f"alignment below 16: {line.strip()}"


def check_addresses(ptx):
    ptx = strip_comments(ptx)
    if not re.search(r"^\.address_size 64$", ptx, re.MULTILINE):
        yield "no .address_size 64"
    wide = set(re.findall(r"\.reg\s+\.[bsu]64\s+(%\w+?)<", ptx))
    for match in re.finditer(
        r"\b(?:ld|st|atom|red)\.(?:\w+\.)*global[\w.:]*[^;\[]*\[(%[a-z]+)\d+", ptx
    ):
        if match[1] not in wide:
            yield f"address in a narrow register: {match[0].strip()}]"


def check(ptx):
    """Every fault, as text."""
    return [
        fault
        for rule in (
            check_launch_lines,
            check_accumulators,
            check_shared,
            check_addresses,
        )
        for fault in rule(ptx)
    ]


def main():
    faults = check(sys.stdin.read())
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
