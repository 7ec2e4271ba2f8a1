"""nvcc: arithmetic of floats with every rounding, and CUDA's functions."""

# RUN: %numpy-python %s

import math

from check import *

PTX, FAST = "cuda/math.sm_80.ptx", "cuda/math.fast.sm_80.ptx"
SPECIAL = np.array(
    [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.5, 2.5, 3.5, -0.5]
    + [3.4028235e38, -3.4028235e38, 1e-45, -1e-45, 1.1754944e-38, 5e-39, 8388607.5],
    "f4",
)


def pairs(special):
    """Operands; with `special`, also each special value with each other."""
    x = any_floats(1, 200, (-20, 20))
    y = any_floats(5, 200, (-20, 20))
    # Close enough to cancel, and products that need all bits.
    y[:40] = -x[:40] * np.float32(1 + 2.0**-20)
    if special:
        a, b = np.meshgrid(SPECIAL, SPECIAL)
        wide, other = (any_floats(s, 150, (-148, 128)) for s in (9, 13))
        x = np.concatenate([x, a.ravel(), wide])
        y = np.concatenate([y, b.ravel(), other])
    return x, y


def directed_sqrt(x, up):
    r = np.sqrt(x, dtype="f4")
    for i in np.flatnonzero(np.isfinite(x) & (x > 0)):
        square, exact = Fraction(float(r[i])) ** 2, Fraction(float(x[i]))
        if up and square < exact:
            r[i] = np.nextafter(r[i], np.float32(np.inf))
    return r


def extremum(x, y, largest):
    """Numbers win over NaN, and -0 is less than 0."""
    r = (np.fmax if largest else np.fmin)(x, y)
    zeros = (x == 0) & (y == 0)
    negative = (
        (np.signbit(x) & np.signbit(y)) if largest else (np.signbit(x) | np.signbit(y))
    )
    return np.where(zeros, np.where(negative, np.float32(-0.0), np.float32(0.0)), r)


def expected_exact(x, y):
    def op(function, *arrays, mode="rn"):
        return exactly(function, F32, *arrays, mode=mode, dtype="f4")

    add, multiply = lambda a, b: a + b, lambda a, b: a * b
    fma = lambda a, b, c: a * b + c
    divide = lambda a, b: a / b
    rows = [op(add, x, y, mode=m) for m in ("rz", "ru", "rd")]
    # IEEE 754, 6.3: x - x is -0 when rounding down, also for x = 0.
    cancels = np.isfinite(x) & (x == -y) & (np.signbit(x) != np.signbit(y))
    rows[-1] = np.where(cancels, np.float32(-0.0), rows[-1])
    rows.append(op(lambda a, b: a - b, x, y))
    rows += [op(multiply, x, y, mode=m) for m in ("rn", "rz", "ru", "rd")]
    rows += [op(fma, x, y, x), op(fma, x, y, -y, mode="rz")]
    rows += [op(divide, x, y), op(divide, x, y, mode="rz")]
    rows += [np.sqrt(np.abs(x)), directed_sqrt(np.abs(y), True)]
    rows.append(op(lambda a: 1 / a, y))
    rows += [extremum(x, y, False), extremum(x, y, True)]
    rows += [np.floor(x), np.ceil(x), np.trunc(x), np.rint(x)]
    away = np.copysign(np.floor(np.abs(x.astype("f8")) + 0.5), x)
    rows.append(np.where(np.isfinite(x), away, x))
    rows += [np.abs(x), np.copysign(x, y)]
    rows.append(np.where(np.isnan(x), 0, np.clip(x, 0, 1)) + np.float32(0))
    rows += [np.fmod(x, y), np.where(x < y, x, -y)]
    kind = np.where(np.signbit(x), 3, 4)
    kind = np.where(np.isinf(x), 2, kind)
    rows.append(np.where(np.isnan(x), 1, kind))
    return np.array(rows).astype("f4")


NAMES = (
    "add.rz add.ru add.rd sub mul mul.rz mul.ru mul.rd fma fma.rz div div.rz sqrt "
    "sqrt.ru rcp min max floor ceil trunc rint round abs copysign sat fmod select class"
).split()


def test_exact():
    for ptx, special in ((PTX, True), (FAST, False)):
        x, y = pairs(special)
        n = len(x)
        (z,) = run(ptx, "exact", (n + 63) // 64, 64, x, y, out((28, n), "f4"), i32(n))
        with np.errstate(all="ignore"):
            expected = expected_exact(x, y)
        for name, row, right in zip(NAMES, z, expected):
            # The sign of a saturated zero is not specified.
            equal(row, right, f"{ptx} {name}", zeros=name != "sat")


def library(x, y):
    a = np.abs(x)
    erf = np.array([math.erf(v) for v in x])
    return [
        ("exp", np.exp(x)),
        ("exp2", np.exp2(x)),
        ("log", np.log(a)),
        ("log2", np.log2(a)),
        ("log1p", np.log1p(a)),
        ("sin", np.sin(x)),
        ("cos", np.cos(x)),
        ("tanh", np.tanh(x)),
        ("pow", a ** (y * 0.125)),
        ("rsqrt", 1 / np.sqrt(a)),
        ("sqrt", np.sqrt(a)),
        ("div", x / y),
        ("atan2", np.arctan2(x, y)),
        ("erf", erf),
        ("hypot", np.hypot(x, y)),
    ]


def test_library():
    x, y = any_floats(20, 300, (-8, 6)), any_floats(24, 300, (-8, 6))
    (z,) = run(PTX, "library", 3, 128, x, y, out((15, 300), "f4"), i32(300))
    for row, (name, right) in zip(z, library(x.astype("f8"), y.astype("f8"))):
        # A few units in the last place; where a logarithm, sine or cosine is
        # near zero, of the values around it.
        close(row, right, 1e-6, 2e-7 if name in ("sin", "cos") else 1e-37, name)


def test_fast_library():
    x, y = any_floats(28, 300, (-4, 1)), any_floats(32, 300, (-4, 1))
    (z,) = run(FAST, "library", 3, 128, x, y, out((15, 300), "f4"), i32(300))
    for row, (name, right) in zip(z, library(x.astype("f8"), y.astype("f8"))):
        relative = 1e-3 if name == "tanh" else 2e-6
        absolute = 2e-6 if name in ("log", "log2", "sin", "cos", "log1p") else 1e-37
        close(row, right, relative, absolute, name)


def test_large_angles():
    x = np.concatenate([any_floats(36, 150, (-2, 127)), SPECIAL])
    n = len(x)
    (z,) = run(PTX, "large_angles", 2, 96, x, out((2, n), "f4"), i32(n))
    # The host's functions reduce with all digits, too.
    with np.errstate(all="ignore"):
        right = [np.sin(x.astype("f8")), np.cos(x.astype("f8"))]
    for row, values in zip(z, right):
        close(row, values, 2e-7, 1.2e-7)


def test_approximate():
    x, y = any_floats(40, 400, (-6, 2)), any_floats(44, 400, (-20, 20))
    for ptx in (PTX, FAST):
        (z,) = run(ptx, "approximate", 4, 128, x, y, out((13, 400), "f4"), i32(400))
        v, w = x.astype("f8"), y.astype("f8")
        a = np.abs(v)
        # The errors that the PTX ISA or CUDA's guide states.
        rows = [
            ("expf", np.exp(v), 2.0**-20, 0),
            ("logf", np.log(a), 2.0**-21, 2.0**-21),
            ("log2f", np.log2(a), 2.0**-21.5, 2.0**-22),
            ("sinf", np.sin(v), 0, 2.0**-20),
            ("cosf", np.cos(v), 0, 2.0**-20),
            ("fdividef", v / w, 2.0**-22, 0),
            ("rcp", 1 / w, 2.0**-23, 0),
            ("rsqrt", 1 / np.sqrt(a), 2.0**-22.4, 0),
            ("sqrt", np.sqrt(a), 2.0**-22, 0),
            ("ex2", np.exp2(v), 2.0**-22, 0),
            ("lg2", np.log2(a), 2.0**-22, 2.0**-22),
            ("tanh", np.tanh(v), 2.0**-10.9, 0),
            ("div.full", v / w, 2.0**-22, 0),
        ]
        for row, (name, right, relative, absolute) in zip(z, rows):
            close(row, right, relative, absolute, f"{ptx} {name}")


main()
