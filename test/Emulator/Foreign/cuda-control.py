"""nvcc: threads of a warp that part and meet again."""

# RUN: %numpy-python %s
# RUN: env TILE_PTX_RUN_OPTIONS="--schedule=random --seed=3" %numpy-python %s test_spin_lock test_spin_lock_outside test_hand_over

from check import *

FILES = ["cuda/control.sm_80.ptx", "cuda/control.sm_120.ptx"]


def per_thread(entry, v, function, options=()):
    n = len(v)
    expected = np.array(
        [wrap(function(i, [int(x) for x in v])) for i in range(n)], "i4"
    )
    for ptx in FILES:
        blocks = (n + 95) // 96
        (z,) = run(ptx, entry, blocks, 96, v, out(n, "i4"), i32(n), options=options)
        equal(z, expected, ptx)


def nested(i, values):
    v, n, r = values[i], len(values), 0
    if v & 1:
        if v & 2:
            r = v * 3
            r += -1000 if v & 4 else values[(i + 1) % n]
        elif v & 8:
            r = -v
    elif v & 2 and values[(i + 3) % n] > 50:
        r = v + 7
    elif v > 100 or v & 8:
        r = v - 7
    return r


def test_nested():
    per_thread("nested", integers(1, 500, -150, 150), nested)


def collatz(i, values):
    v, steps = values[i] + 1, 0
    while v != 1:
        v = 3 * v + 1 if v & 1 else v // 2
        steps += 1
    return steps


def test_collatz():
    per_thread("collatz", integers(2, 200, 0, 3000), collatz)


def leave(i, values):
    v, r = values[i], 0
    for a in range(10):
        if remainder(v + a, 3) == 0:
            continue
        for b in range(a, 20):
            if remainder(v ^ b, 7) == 0:
                break
            if remainder(v, 11) == 5 and b == 12:
                return -1
            r += b * a + 1
            if r > 700:
                return r
        r ^= a
    return r


def test_leave():
    per_thread("leave", integers(3, 500, -1000, 1000), leave)


def test_branch_table():
    function = lambda i, v: [v[i] * 10, v[i] + 1000, v[i] * 10, -v[i]][v[i] & 3]
    per_thread("branch_table", integers(4, 300, -1000, 1000), function)


def dispatch(v, values, counter):
    r = v
    n = len(values)
    for step in range(3):
        u = r & 0xFFFFFFFF
        case = r & 15
        if case == 0:
            r = r * 5 + 1
        elif case in (1, 2):
            r = (wrap(r - 77) if case == 1 else r) ^ 0x1234
        elif case == 3:
            r = bin(u).count("1")
        elif case == 4:
            r >>= 3
        elif case == 5:
            counter[0] += 1
            r = 99
        elif case == 6:
            r = -r
        elif case == 7:
            r *= r
        elif case == 8:
            r = values[(r >> 4 & 0xFF) % n]
        elif case == 9:
            r += step
        elif case == 10:
            r = (32 - u.bit_length()) * 37
        elif case == 11:
            r = int(f"{u:032b}"[::-1], 2)
        elif case == 12:
            r = remainder(r, 1000)
        else:
            r = quotient(r, 3)
        r = wrap(r)
    return r


def test_dispatch():
    v = hashes(5, 400).view("i4")
    counter = [0]
    values = [int(x) for x in v]
    expected = [dispatch(x, values, counter) for x in values] + counter
    for ptx in FILES:
        before = np.zeros(401, "i4")
        (z,) = run(ptx, "dispatch", 5, 96, v, inout(before), i32(400))
        equal(z, np.array(expected, "i4"), ptx)


# The lane with the lock soon has its turn, however many spin.
PATIENT = ["--step-limit=8000000"]


def test_spin_lock():
    for ptx in FILES:
        lock, counter, order = run(
            ptx,
            "spin_lock",
            3,
            64,
            inout(np.zeros(1, "i4")),
            inout(np.zeros(1, "i4")),
            out(150, "i4"),
            i32(150),
            options=PATIENT,
        )
        equal(lock, np.array([0], "i4"), ptx)
        equal(counter, np.array([150], "i4"), ptx)
        equal(np.sort(order), np.arange(150, dtype="i4"), ptx)


def test_spin_lock_outside():
    v = integers(6, 100, -1000, 1000)
    for ptx in FILES:
        zeros = [inout(np.zeros(1, "i4")) for _ in range(2)]
        lock, total = run(
            ptx, "spin_lock_outside", 2, 64, *zeros, v, i32(100), options=PATIENT
        )
        equal(lock, np.array([0], "i4"), ptx)
        equal(total, np.array([v.sum()], "i4"), ptx)


def test_hand_over():
    v = integers(7, 32, 0, 1000)
    expected = np.where(np.arange(32) % 2, 1, np.roll(v, -1) * 2)
    for ptx in FILES:
        (z,) = run(ptx, "hand_over", 1, 32, v, out(32, "i4"))
        equal(z, expected.astype("i4"), ptx)


def test_mandelbrot():
    width, height = 45, 33
    expected = np.empty((height, width), "i4")
    for y, x in np.ndindex(height, width):
        cr, ci, zr, zi, k = -2.0 + x * 0.0625, -1.0 + y * 0.0625, 0.0, 0.0, 0
        while k < 64 and zr * zr + zi * zi <= 4.0:
            t = zr * zi
            zr, zi = zr * zr - zi * zi + cr, t + t + ci
            k += 1
        expected[y, x] = k
    for ptx in FILES:
        shape = out((height, width), "i4")
        (z,) = run(ptx, "mandelbrot", (6, 9), (8, 4), shape, i32(width), i32(height))
        equal(z, expected, ptx)


def test_sort_rows():
    v = hashes(8, (64, 24)).view("i4")
    for ptx in FILES:
        (z,) = run(ptx, "sort_rows", 2, 32, v, out(v.shape, "i4"))
        equal(z, np.sort(v, axis=1), ptx)


main()
