#!/usr/bin/env python3
"""Writes the golden tensors in share/tile/golden.

One small matrix per block-scaled format: the f32 input, its codes, its scales
and the values that they stand for. Everything is computed with exact rational
arithmetic on top of the value tables of ml_dtypes, and shares nothing with the
C++ library that is tested against the result.

    python3 scripts/make-golden.py            # write the files
    python3 scripts/make-golden.py --check    # compare with the files

Needs numpy and ml_dtypes.
"""

import argparse
import math
import pathlib
import sys
from fractions import Fraction

import ml_dtypes
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent / "share/tile/golden"
ROWS, COLUMNS = 16, 64


def hash32(index, seed):
    """A fixed hash of two small integers (the finaliser of MurmurHash3)."""
    x = (index * 0x9E3779B1 + seed * 0x85EBCA77 + 1) & 0xFFFFFFFF
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        x = ((x ^ (x >> shift)) * factor) & 0xFFFFFFFF
    return x ^ (x >> 16)


class Format:
    """A number format as the table of its finite non-negative values."""

    def __init__(self, dtype, bits):
        codes = np.arange(1 << (bits - 1), dtype=np.uint8)
        values = codes.view(dtype).astype(np.float64)
        self.values = [Fraction(float(v)) for v in values if np.isfinite(v)]
        self.sign = 1 << (bits - 1)

    def nearest(self, value, negative):
        """The code of the Fraction `value`: nearest even, saturating."""
        magnitude = abs(value)
        distances = [abs(v - magnitude) for v in self.values]
        best = min(distances)
        codes = [c for c, d in enumerate(distances) if d == best]
        code = codes[0] if len(codes) == 1 else next(c for c in codes if c % 2 == 0)
        return code | (self.sign if negative else 0)

    def decode(self, code):
        value = self.values[code & (self.sign - 1)]
        return -value if code & self.sign else value


E2M1 = Format(ml_dtypes.float4_e2m1fn, 4)
E4M3 = Format(ml_dtypes.float8_e4m3fn, 8)
E5M2 = Format(ml_dtypes.float8_e5m2, 8)


def make_input(seed, min_exponent, max_exponent, spread):
    """Rows of different magnitude, with zeros of both signs and a zero block.
    Within a row, magnitudes vary by a factor of 2^`spread`."""
    values = np.zeros((ROWS, COLUMNS), np.float32)
    for r in range(ROWS):
        row_exponent = min_exponent + hash32(r, seed) % (max_exponent - min_exponent)
        for c in range(COLUMNS):
            h = hash32(r * COLUMNS + c, seed + 1)
            # Few significant bits in some rows make exact ties frequent.
            bits = 3 if r % 4 == 0 else 20
            mantissa = h & ((1 << bits) - 1)
            exponent = row_exponent + hash32(r * COLUMNS + c, seed + 2) % spread
            value = math.ldexp(mantissa, exponent - bits)
            values[r, c] = -value if h >> 27 & 1 else value
    values[3, 32:64] = 0.0
    values[3, 40] = -0.0
    return values


def quantize(values, element, block, compute_scale, global_scale):
    """Codes (one per byte) and scale bytes; `compute_scale` maps the largest
    magnitude of a block to a byte and the value that the byte stands for."""
    codes = np.zeros(values.shape, np.uint8)
    scales = np.zeros((ROWS, COLUMNS // block), np.uint8)
    decoded = np.zeros(values.shape, np.float32)
    for r in range(ROWS):
        for b in range(COLUMNS // block):
            part = slice(b * block, (b + 1) * block)
            largest = max(abs(Fraction(float(v))) for v in values[r, part])
            scales[r, b], scale = compute_scale(largest)
            factor = scale * global_scale
            for c in range(part.start, part.stop):
                value = Fraction(float(values[r, c]))
                negative = bool(np.signbit(values[r, c]))
                if factor != 0:
                    codes[r, c] = element.nearest(value / factor, negative)
                product = element.decode(int(codes[r, c])) * factor
                sign = codes[r, c] & element.sign
                # Nearest even to f32: all our values have at most 30 bits.
                decoded[r, c] = np.float32(float(abs(product)))
                if sign:
                    decoded[r, c] = -decoded[r, c]
    return codes, scales, decoded


def nvfp4_scale(global_scale):
    def compute(largest):
        byte = E4M3.nearest(largest / (6 * global_scale), False)
        return byte, E4M3.decode(byte)

    return compute


def mx_scale(max_exponent):
    """The rule of OCP MX v1.0, section 6.3: floor(log2 largest) - emax."""

    def compute(largest):
        if largest == 0:
            return 0, Fraction(1, 2**127)
        exponent = 0
        while Fraction(2) ** (exponent + 1) <= largest:
            exponent += 1
        while Fraction(2) ** exponent > largest:
            exponent -= 1
        exponent = min(max(exponent - max_exponent, -127), 127)
        return exponent + 127, Fraction(2) ** exponent

    return compute


def pack(codes):
    """Two codes per byte, the one with the even index in the low half."""
    return (codes[:, 0::2] | codes[:, 1::2] << 4).astype(np.uint8)


def make_all():
    """Yields (folder, name, array)."""
    for folder, seed, two_level in (
        ("nvfp4", 10, False),
        ("nvfp4-two-level", 20, True),
    ):
        low, high = (-16, -6) if two_level else (-4, 6)
        values = make_input(seed, low, high, spread=5)
        global_scale = Fraction(1)
        if two_level:
            stored = np.float32(np.max(np.abs(values))) / np.float32(2688)
            global_scale = Fraction(float(stored))
            yield folder, "global_scale", np.float32(stored)
        codes, scales, decoded = quantize(
            values, E2M1, 16, nvfp4_scale(global_scale), global_scale
        )
        yield folder, "input", values
        yield folder, "codes", pack(codes)
        yield folder, "scales", scales
        yield folder, "values", decoded
    for folder, seed, element, emax, spread in (
        ("mxfp4", 30, E2M1, 2, 5),
        ("mxfp8-e4m3", 40, E4M3, 8, 18),
        ("mxfp8-e5m2", 50, E5M2, 15, 32),
    ):
        values = make_input(seed, -40, 40, spread)
        codes, scales, decoded = quantize(
            values, element, 32, mx_scale(emax), Fraction(1)
        )
        yield folder, "input", values
        yield folder, "codes", pack(codes) if element is E2M1 else codes
        yield folder, "scales", scales
        yield folder, "values", decoded


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare, do not write")
    check = parser.parse_args().check
    failed = 0
    for folder, name, array in make_all():
        path = ROOT / folder / f"{name}.npy"
        if check:
            stored = np.load(path) if path.exists() else None
            same = (
                stored is not None
                and stored.dtype == array.dtype
                and stored.shape == np.shape(array)
                and stored.tobytes() == array.tobytes()
            )
            if not same:
                print(f"{path}: differs", file=sys.stderr)
                failed += 1
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, array)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
