"""Whether one .npy file of 32 i4 holds another one's numbers, last first."""

import struct
import sys

first, second = (
    struct.unpack("<32i", open(path, "rb").read()[-128:]) for path in sys.argv[1:]
)
if len(set(first)) < 16:
    sys.exit("the input has too few different numbers")
if first[::-1] != second:
    sys.exit(f"expected {first[::-1]}, but got {second}")
