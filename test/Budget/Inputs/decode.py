"""Counts the arithmetic per eight values of a kernel compiled for two tiles.

    decode.py --values=32 --limit=65 --goal=19 SMALL.ptx LARGE.ptx

where LARGE has --values more values per lane. Loads, stores and control are left
out. Exits with 1 where the limit is exceeded.
"""

import argparse
import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "benchmark"))
import sass_stats

ARITHMETIC = ("alu", "uniform", "fp", "cvt", "prmt", "shfl")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--values", type=int, required=True)
    parser.add_argument("--limit", type=float, required=True)
    parser.add_argument("--goal", type=float, required=True)
    parser.add_argument("files", nargs=2)
    options = parser.parse_args()
    small, large = (
        collections.Counter(i.kind for i in sass_stats.read(f)[0].instructions)
        for f in options.files
    )
    per8 = {k: 8 * (large[k] - small[k]) / options.values for k in ARITHMETIC}
    total = sum(per8.values())
    print(
        f"8 values: {total:.1f} instructions of {options.limit:g}, goal "
        f"{options.goal:g}: "
        + " ".join(f"{k}={v:.1f}" for k, v in per8.items() if v)
        + (", OVER" if total > options.limit else "")
    )
    return total > options.limit


if __name__ == "__main__":
    sys.exit(main())
