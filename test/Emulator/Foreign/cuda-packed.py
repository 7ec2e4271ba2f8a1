"""nvcc: halves and bfloats, alone and in pairs."""

# RUN: %numpy-python %s

from check import *

FILES = ["cuda/packed.sm_80.ptx", "cuda/packed.sm_90.ptx"]
N = 300
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -2.0, 65504.0, 6e-8, -6e-5]


def operands(dtype_of, exponents):
    x, y = any_floats(1, 2 * N, exponents), any_floats(5, 2 * N, exponents)
    a, b = np.meshgrid(np.array(SPECIAL, "f4"), np.array(SPECIAL, "f4"))
    x[: a.size], y[: a.size] = a.ravel(), b.ravel()
    x[200:260] = -y[200:260]
    # Neighbours are multiplied and added with halves swapped.
    return dtype_of(x), dtype_of(y)


def extremum(x, y, largest, nan=False):
    """Of two zeros of different sign, -0 is less."""
    function = (
        (np.maximum if nan else np.fmax)
        if largest
        else (np.minimum if nan else np.fmin)
    )
    r = function(x, y)
    signs = (np.signbit(x), np.signbit(y))
    negative = (signs[0] & signs[1]) if largest else (signs[0] | signs[1])
    zero = np.where(negative, -0.0, 0.0)
    return np.where((x == 0) & (y == 0), zero, r)


def relu(v):
    return np.where(v <= 0, 0.0, v)


def saturate(v):
    return np.where(np.isnan(v), 0.0, np.clip(v, 0, 1))


def swapped(v):
    return v.reshape(-1, 2)[:, ::-1].ravel()


def select(x, y, z):
    """Pairs of z where the low half of x is less than the high half of y."""
    return np.where(np.repeat(x[0::2] < y[1::2], 2), z, y)


def add(a, b):
    return a + b


def fma(a, b, c):
    return a * b + c


def test_halves():
    x, y = operands(lambda v: v.astype("f4").astype("f2"), (-14, 12))
    z = swapped(x)
    op = lambda function, *arrays: exactly(function, F16, *arrays, dtype="f8")
    with np.errstate(all="ignore"):
        rows = {
            "add": op(add, x, y),
            "sub": op(lambda a, b: a - b, x, y),
            "mul": op(lambda a, b: a * b, x, y),
            "fma": op(fma, x, y, z),
            "fma.relu": relu(op(fma, x, y, z)),
            "fma.sat": saturate(op(fma, x, y, z)),
            "add.sat": saturate(op(add, x, y)),
            "min": extremum(x, y, False),
            "max": extremum(x, y, True),
            "max.nan": extremum(x, y, True, True),
            "neg": -x,
            "abs": np.abs(x),
            "lt": (x < y) * 1.0,
            "geu": ~(x < y) * 1.0,
            "div": op(lambda a, b: a / b, x, y),
            "floor-rint": np.where(np.arange(2 * N) % 2, np.rint(x), np.floor(x)),
            "lows": np.stack([x[0::2], y[0::2]], axis=1).ravel(),
            "highs": np.stack([x[1::2], y[1::2]], axis=1).ravel(),
            "select": select(x, y, z),
        }
    for ptx in FILES:
        (got,) = run(ptx, "halves", 3, 128, x, y, out((19, 2 * N), "f2"), i32(N))
        for row, (name, right) in zip(got, rows.items()):
            # The sign of a clamped zero is not specified.
            with np.errstate(over="ignore"):
                right = np.asarray(right).astype("f2")
            equal(row, right, f"{ptx} {name}", "sat" not in name and "relu" not in name)


def test_bfloats():
    x, y = operands(lambda v: from_bf16(to_bf16(v)), (-30, 30))
    z = swapped(x)
    op = lambda function, *arrays: exactly(function, BF16, *arrays, dtype="f4")
    with np.errstate(all="ignore"):
        rows = {
            "add": op(add, x, y),
            "sub": op(lambda a, b: a - b, x, y),
            "mul": op(lambda a, b: a * b, x, y),
            "fma": op(fma, x, y, z),
            "fma.relu": relu(op(fma, x, y, z)),
            "min": extremum(x, y, False),
            "max": extremum(x, y, True),
            "min.nan": extremum(x, y, False, True),
            "neg": -x,
            "abs": np.abs(x),
            "gt": (x > y) * 1.0,
            "neu": ((x != y) | np.isnan(x) | np.isnan(y)) * 1.0,
            "select": select(x, y, z),
        }
    for ptx in FILES:
        a, b = to_bf16(x), to_bf16(y)
        (got,) = run(ptx, "bfloats", 3, 128, a, b, out((13, 2 * N), "u2"), i32(N))
        for row, (name, right) in zip(got, rows.items()):
            right = np.asarray(right).astype("f4")
            equal(from_bf16(row), right, f"{ptx} {name}", "relu" not in name)


def test_functions():
    x = any_floats(9, 2 * N, (-8, 2)).astype("f2")
    v = x.astype("f8")
    a = np.abs(v)
    rows = [
        ("exp2", np.exp2(v), 2.0**-9.9, 0),
        ("exp", np.exp(v), 2.0**-9.9, 0),
        ("log2", np.log2(a), 2.0**-10, 2.0**-10),
        ("sqrt", np.sqrt(a), 2.0**-10, 0),
        ("rcp", 1 / v, 2.0**-10, 0),
        ("tanh", np.tanh(v), 0, 2.0**-10.9),
    ]
    for ptx in FILES:
        (got,) = run(ptx, "functions", 3, 128, x, out((6, 2 * N), "f4"), i32(N))
        for row, (name, right, relative, absolute) in zip(got, rows):
            close(row, right, relative, absolute, f"{ptx} {name}")


def test_sums():
    # Below 256, every sum is a bfloat.
    x = integers(13, (150, 2), -1, 2, "f2")
    total = x.sum(axis=0, dtype="f4")
    for ptx in FILES:
        half, bf = run(
            ptx,
            "sums",
            2,
            96,
            x,
            inout(np.zeros(2, "f2")),
            inout(np.zeros(2, "u2")),
            i32(150),
        )
        equal(half, total.astype("f2"), ptx, zeros=False)
        equal(from_bf16(bf), total, ptx, zeros=False)


main()
