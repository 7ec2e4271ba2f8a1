"""nvcc: conversions between integers and floats."""

# RUN: %numpy-python %s

from check import *

PTX = "cuda/convert.sm_80.ptx"
N = 256
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 0.5, 1.5, 2.5, -0.5, -1.5, 127.5, 128.0]
SPECIAL += [-128.5, 255.5, 256.0, 32767.5, -32768.5, 2147483647.0, 2147483648.0]
SPECIAL += [-2147483648.0, 4294967295.0, 1e10, -1e10, 1e30, 1e-40, 9.3e18, 1.9e19]
ROUND = {
    "rn": lambda v: round(v),
    "rz": lambda v: int(v),
    "ru": lambda v: -((-v) // 1),
    "rd": lambda v: v // 1,
}


def reals(dtype, exponents):
    v = any_floats(1, N, exponents, dtype)
    v[: len(SPECIAL)] = np.array(SPECIAL, dtype)
    return v


def to_integer(values, mode, low, high, nan):
    result = []
    for v in values.astype("f8"):
        if np.isnan(v):
            result.append(nan)
        elif np.isinf(v):
            result.append(high if v > 0 else low)
        else:
            result.append(max(low, min(high, int(ROUND[mode](Fraction(float(v)))))))
    return result


def test_to_integers():
    x, d = reals("f4", (-3, 70)), reals("f8", (-3, 70))
    z, w = run(
        PTX,
        "to_integers",
        2,
        128,
        x,
        d,
        out((11, N), "i4"),
        out((4, N), "i8"),
        i32(N),
    )
    s32, u32 = (-(2**31), 2**31 - 1), (0, 2**32 - 1)
    s64, u64 = (-(2**63), 2**63 - 1), (0, 2**64 - 1)
    # NaN is zero between types of 32 bits and less, else the top bit alone.
    rows = [to_integer(x, m, *s32, 0) for m in ("rn", "rz", "ru", "rd")]
    rows += [to_integer(x, m, *u32, 0) for m in ("rn", "rz")]
    rows += [to_integer(d, "rd", *s32, 2**31), to_integer(d, "ru", *u32, 2**31)]
    rows.append(to_integer(x, "rz", -128, 127, 0))
    rows.append(to_integer(x, "rn", 0, 255, 0))
    rows.append(to_integer(x, "rn", -32768, 32767, 0))
    for number, (row, right) in enumerate(zip(z, rows)):
        equal(row, np.array([wrap(v) for v in right], "i4"), f"row {number}")
    rows = [to_integer(x, "rn", *s64, 2**63), to_integer(x, "rz", *u64, 2**63)]
    rows += [to_integer(d, "rn", *s64, 2**63), to_integer(d, "rd", *u64, 2**63)]
    for number, (row, right) in enumerate(zip(w, rows)):
        equal(row, np.array([wrap(v, 64) for v in right], "i8"), f"long row {number}")


def rounded(values, fmt, mode="rn", dtype="f4"):
    values = [Fraction(int(v)) for v in values]
    return np.array([fmt.round(v, mode) if v else 0.0 for v in values], dtype)


def test_to_floats():
    a = hashes(5, N).view("i4")
    b = (hashes(6, N).astype("u8") << np.uint64(32) | hashes(7, N)).view("i8")
    b[::3] >>= 7
    b[::5] >>= 30
    a[:6], b[:6] = [0, 1, -1, 2**31 - 1, -(2**31), 16777217], [
        0,
        1,
        -1,
        2**62,
        -(2**62),
        3,
    ]
    z, w = run(
        PTX, "to_floats", 2, 128, a, b, out((11, N), "f4"), out((3, N), "f8"), i32(N)
    )
    rows = [rounded(a, F32, m) for m in ("rn", "rz", "ru", "rd")]
    rows.append(rounded(a.view("u4"), F32))
    rows += [rounded(b, F32), rounded(b.view("u8"), F32, "rz")]
    rows += [a.astype("i1").astype("f4"), a.astype("u2").astype("f4")]
    double = rounded(b, F64, dtype="f8")
    rows += [rounded(double, F32), rounded(double, F32, "ru")]
    equal(z, np.array(rows))
    equal(w, np.array([double, rounded(b.view("u8"), F64, "rd", "f8"), a.astype("f8")]))


def test_to_halves():
    x = reals("f4", (-30, 18))
    a = integers(8, N, -70000, 70000)
    (z,) = run(PTX, "to_halves", 2, 128, x, a, out((12, N), "u2"), i32(N))
    same = lambda v: v
    with np.errstate(all="ignore"):
        rows = [
            exactly(same, F16, x, mode=m, dtype="f2") for m in ("rn", "rz", "ru", "rd")
        ]
        rows.append(rounded(a, F16, dtype="f2"))
        rows.append(rounded(a.astype("u2"), F16, dtype="f2"))
        nearest = rows[0]
        brain = [exactly(same, BF16, x, mode=m, dtype="f4") for m in ("rn", "rz")]
        minus = exactly(same, F16, x * np.float32(-2), dtype="f2")
        three = exactly(same, BF16, x * np.float32(3), dtype="f4")
    for number, right in enumerate(rows):
        equal(z[number].view("f2"), right, f"f16 row {number}")
    for number, right in zip((6, 7, 9), [*brain, three]):
        equal(from_bf16(z[number]), right, f"bf16 row {number}")
    equal(z[8].view("f2"), minus, "pair")
    equal(z[10].view("i2"), np.array(to_integer(nearest, "rn", -32768, 32767, 0), "i2"))
    equal(z[11], np.array(to_integer(nearest, "rz", 0, 65535, 0), "u2"))


def test_between_integers():
    a = hashes(9, N).view("i4")
    a[64:128] >>= 20
    a[128:] >>= 12
    (z,) = run(PTX, "between_integers", 2, 128, a, out((9, N), "i4"), i32(N))
    clamp = lambda v, low, high: max(low, min(high, v))
    signed8 = lambda v: clamp(v, -128, 127)
    byte = lambda v: clamp(v, 0, 255)
    short = lambda v: clamp(v, -32768, 32767) & 0xFFFF
    functions = [
        lambda v: wrap(v, 8),
        lambda v: v & 0xFFFF,
        signed8,
        byte,
        lambda v: min(v & 0xFFFFFFFF, 32767),
        lambda v: max(v, 0),
        lambda v: v << 16 | byte(v) << 8 | byte(v >> 20),
        lambda v: short(v) << 16 | short(v >> 12),
        lambda v: (v & 0xFFFF) << 16 | v >> 16 & 0xFFFF,
    ]
    for number, (row, function) in enumerate(zip(z, functions)):
        equal(row, per_element(function, a), f"row {number}")


main()
