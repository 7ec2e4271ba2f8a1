"""nvcc: double precision."""

# RUN: %numpy-python %s

from check import *

PTX = "cuda/doubles.sm_80.ptx"
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 2.5, -1e308, 1.5e-308])


def test_exact():
    x = any_floats(1, 200, (-20, 20), "f8")
    y = any_floats(5, 200, (-20, 20), "f8")
    y[:40] = -x[:40] * (1 + 2.0**-45)
    a, b = np.meshgrid(SPECIAL, SPECIAL)
    x, y = np.concatenate([x, a.ravel()]), np.concatenate([y, b.ravel()])
    n = len(x)
    (z,) = run(PTX, "exact", (n + 95) // 96, 96, x, y, out((21, n), "f8"), i32(n))

    def op(function, *arrays, mode="rn"):
        return exactly(function, F64, *arrays, mode=mode)

    with np.errstate(all="ignore"):
        low = np.where(np.isnan(x), 0, np.clip(x * 1e6, -(2.0**63), 2.0**63 - 1024))
        longs = np.trunc(low).astype("i8").astype("f8")
        # Beyond the range: the largest and the smallest; of NaN, the smallest.
        longs = np.where(x * 1e6 >= 2.0**63, float(2**63 - 1), longs)
        longs = np.where(np.isnan(x), -(2.0**63), longs)
        words = np.clip(np.rint(np.where(np.isnan(y), 0, y)), -(2.0**31), 2.0**31 - 1)
        words = np.where(np.isnan(y), -(2.0**31), words) + 0.0
        singles = x.astype("f4").astype("f8")
    zeros = (x == 0) & (y == 0)
    both = np.signbit(x) & np.signbit(y)
    either = np.signbit(x) | np.signbit(y)
    least = np.where(zeros, np.where(either, -0.0, 0.0), np.fmin(x, y))
    most = np.where(zeros, np.where(both, -0.0, 0.0), np.fmax(x, y))
    halves = x.view("u8") & 0xFFFFFFFF00000000 | y.view("u8") & 0xFFFFFFFF
    rows = [
        ("add", op(lambda a, b: a + b, x, y)),
        ("sub", op(lambda a, b: a - b, x, y)),
        ("mul", op(lambda a, b: a * b, x, y)),
        ("mul.rd", op(lambda a, b: a * b, x, y, mode="rd")),
        ("add.ru", op(lambda a, b: a + b, x, y, mode="ru")),
        ("fma", op(lambda a, b, c: a * b + c, x, y, x)),
        ("div", op(lambda a, b: a / b, x, y)),
        ("sqrt", np.sqrt(np.abs(x))),
        ("rcp", op(lambda a: 1 / a, y)),
        ("min", least),
        ("max", most),
        ("floor", np.floor(x)),
        ("ceil", np.ceil(x)),
        ("trunc", np.trunc(x)),
        ("rint", np.rint(x)),
        ("abs", np.abs(y)),
        ("copysign", np.copysign(x, y)),
        ("single", singles),
        ("long", longs),
        ("int", words),
        ("halves", halves.view("f8")),
    ]
    for row, (name, right) in zip(z, rows):
        equal(row, right, name)


def test_library():
    x, y = any_floats(20, 200, (-8, 5), "f8"), any_floats(24, 200, (-8, 5), "f8")
    (z,) = run(PTX, "library", 2, 128, x, y, out((7, 200), "f8"), i32(200))
    a = np.abs(x)
    rows = [
        ("exp", np.exp(x), 0),
        ("log", np.log(a), 0),
        ("sin", np.sin(x), 1e-16),
        ("cos", np.cos(x), 1e-16),
        ("pow", a ** (y * 0.25), 0),
        ("rsqrt", 1 / np.sqrt(a), 0),
        ("cbrt", np.cbrt(x), 0),
    ]
    for row, (name, right, absolute) in zip(z, rows):
        close(row, right, 1e-15, absolute, name)


def test_dot():
    x, y = (integers(s, 3000, -500, 500).astype("f8") for s in (30, 31))
    (z,) = run(PTX, "dot", 4, 160, x, y, inout(np.zeros(1)), i32(3000))
    equal(z, np.array([x @ y]))


main()
