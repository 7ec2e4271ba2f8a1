"""Damages a module in many ways and prints all of them, split by `// -----`.

damage.py truncate FILE    every prefix that ends at one of a few hundred places
damage.py replace FILE     tokens exchanged for others that are hostile there

The choice is a hash of the place, so that the test is the same on every run.
"""

import hashlib
import re
import sys

# Extents of zero, negative, not a power of two, beyond 64 bits; types that no
# tile has; names that do not exist.
NUMBERS = [
    "0",
    "1",
    "3",
    "-1",
    "4096",
    "9223372036854775807",
    "99999999999999999999",
    "?",
    "0x41",
    "1.5",
]
TYPES = [
    "f64",
    "i1",
    "i24",
    "index",
    "f4E2M1FN",
    "f8E8M0FNU",
    "bf16",
    "none",
    "!tile.f4E2M1FNx2",
    "!tile.nothing",
    "vector<4xf32>",
    "tensor<4xf32>",
    "memref<?xf32>",
    "complex<f32>",
]
OTHERS = [
    "",
    "tensor",
    "memref",
    "%x",
    "tile.permute",
    "tile.load",
    "[",
    "]",
    "<",
    ">",
    "(",
    "{",
    "}",
    '"',
    "->",
    ":",
    "tile.kernel",
    "@f",
    "-----",
]


def pick(items, *key):
    digest = hashlib.sha256(repr(key).encode()).digest()
    return items[int.from_bytes(digest[:4], "little") % len(items)]


def truncate(text):
    step = max(1, len(text) // 300)
    return [text[:end] for end in range(0, len(text), step)]


def replace(text):
    # `16x32xf32` is three tokens beside the letters x.
    tokens = re.split(r"(\s+|(?<=\d)x|(?<=\?)x|[<>\[\]{}(),:]+)", text)
    variants = []
    for index, token in enumerate(tokens):
        if not token.strip() or token == "x":
            continue
        # A number or a type for its like as a rule: what parses goes furthest.
        like = NUMBERS if re.match(r"[-\d?]", token) else TYPES
        items = pick([like, like, OTHERS], index, "kind")
        new = pick(items, index)
        if new != token:
            variants.append("".join(tokens[:index] + [new] + tokens[index + 1 :]))
    return variants


def main():
    text = re.sub(r"//[^\n]*", "", open(sys.argv[2]).read())
    damage = {"truncate": truncate, "replace": replace}[sys.argv[1]]
    print("\n// -----\n".join(damage(text)))


if __name__ == "__main__":
    main()
