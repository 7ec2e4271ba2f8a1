"""Compares 128x8 scales in rows with the same scales in 128x4 blocks."""

import sys

stored = open(sys.argv[1], "rb").read()[-1024:]
rows = open(sys.argv[2], "rb").read()[-1024:]
good = sum(
    rows[r * 8 + c] == stored[c // 4 * 512 + r % 32 * 16 + r // 32 * 4 + c % 4]
    for r in range(128)
    for c in range(8)
)
print(good, "scales in place")
