"""check-box.py FROM TO ROWS COLUMNS [ROWS [COLUMNS]]

That the part ROWS x COLUMNS of FROM (slices as in Python) is what the part of
TO has, by default the same one, and that TO is all ones or zeros elsewhere.
"""

import ast
import sys


def read(path):
    """The elements' bytes, by row."""
    data = open(path, "rb").read()
    size = 10 + int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10:size].decode())
    rows, columns = header["shape"]
    width = int(header["descr"][2:])
    body = data[size:]
    cells = [body[i : i + width] for i in range(0, len(body), width)]
    return [cells[i * columns : (i + 1) * columns] for i in range(rows)]


def parse(text):
    return slice(*(int(part) for part in text.split(":")))


source, target = read(sys.argv[1]), read(sys.argv[2])
parts = [parse(text) for text in sys.argv[3:]]
here = parts[:2]
there = parts[2:] + here[len(parts) - 2 :]
expected = [row[here[1]] for row in source[here[0]]]
found = [row[there[1]] for row in target[there[0]]]
if found != expected:
    sys.exit(f"found {found}\nexpected {expected}")
for row in target[there[0]]:
    row[there[1]] = [None] * len(row[there[1]])
rest = {cell for row in target for cell in row if cell is not None}
if not all(set(cell) <= {255} or set(cell) <= {0} for cell in rest):
    sys.exit(f"stored elsewhere: {rest}")
