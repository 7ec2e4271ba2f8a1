"""Writes and prints small .npy files; needs no NumPy.

    npy.py make FILE TYPE SHAPE VALUE…   one value fills the array
    npy.py show FILE                     type, shape, then one row per line

TYPE is NumPy's, without the byte order: f4, u1, i4, …. SHAPE is like 2x3, or `-`
for no dimensions. `hash:SALT:N` as a value stands for numbers below N that no
swap of elements leaves unchanged.
"""

import ast
import struct
import sys

CODES = {
    "f2": "e", "f4": "f", "f8": "d", "i1": "b", "i2": "h", "i4": "i", "i8": "q",
    "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "b1": "?",
}  # fmt: skip


def hash_of(index, salt):
    mask = (1 << 64) - 1
    x = (index * 0x9E3779B97F4A7C15 + salt * 7919 + 13) & mask
    x ^= x >> 29
    x = x * 0xBF58476D1CE4E5B9 & mask
    return x ^ x >> 32


def make(path, kind, shape, *texts):
    extents = [] if shape == "-" else [int(e) for e in shape.split("x")]
    count = 1
    for extent in extents:
        count *= extent
    if texts[0].startswith("hash:"):
        _, salt, below = texts[0].split(":")
        values = [hash_of(i, int(salt)) % int(below) for i in range(count)]
    else:
        parse = float if kind[0] == "f" else lambda text: int(text, 0)
        values = [parse(text) for text in texts]
        if len(values) == 1:
            values *= count
    assert len(values) == count, f"{len(values)} values for {count} elements"
    order = "|" if kind[1] == "1" else "<"
    text = "(" + "".join(f"{e}, " for e in extents) + ")"
    header = f"{{'descr': '{order}{kind}', 'fortran_order': False, 'shape': {text}, }}"
    header = header.ljust((len(header) + 74) // 64 * 64 - 11) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)))
        file.write(header.encode())
        file.write(struct.pack(f"<{count}{CODES[kind]}", *values))


def show(path):
    with open(path, "rb") as file:
        assert file.read(8) == b"\x93NUMPY\x01\x00"
        (length,) = struct.unpack("<H", file.read(2))
        header = ast.literal_eval(file.read(length).decode())
        data = file.read()
    assert not header["fortran_order"]
    kind, shape = header["descr"][1:], header["shape"]
    values = [v for (v,) in struct.iter_unpack("<" + CODES[kind], data)]
    print(kind, "x".join(map(str, shape)) or "-")
    width = shape[-1] if shape else 1
    for begin in range(0, len(values), max(width, 1)):
        print(*(f"{v:g}" if kind[0] == "f" else v for v in values[begin:][:width]))


if __name__ == "__main__":
    {"make": make, "show": show}[sys.argv[1]](*sys.argv[2:])
