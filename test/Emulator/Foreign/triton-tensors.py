"""Triton: copies by tensor maps, of the host and of the kernel."""

# RUN: %numpy-python %s
# RUN: env TILE_PTX_RUN_OPTIONS="--schedule=random --seed=1" %numpy-python %s
# RUN: env TILE_PTX_RUN_OPTIONS="--schedule=random --seed=2" %numpy-python %s

from check import *


def test_matmul():
    m, n, k = 75, 84, 112
    x = integers(1, (m, k), -9, 10, "f2")
    y = integers(2, (n, k), -9, 10, "f2")
    exact = x.astype("f4") @ y.astype("f4").T
    for target in ("sm_90a", "sm_100a", "sm_120a"):
        (z,) = run_triton(
            f"triton/tensors.matmul.{target}.ptx",
            (3, 3),
            *descriptor(x, (32, 64), swizzle=128),
            *descriptor(y, (32, 64), swizzle=128),
            *descriptor(out((m, n), "f4"), (32, 32), swizzle=128),
            i32(k),
        )
        equal(z, exact, target)


def operand(seed, rows, k, kind):
    """The array as in memory, and its values: small multiples of 1/4."""
    table = {"e2m1": E2M1, "e4m3": E4M3, "e5m2": E5M2}[kind]
    good = [
        code
        for code, value in enumerate(table)
        if kind == "e2m1" or abs(value) < 4 and value * 4 % 1 == 0
    ]
    codes = np.array(good, "u1")[hashes(seed, (rows, k)) % len(good)]
    return pack_fp4(codes) if kind == "e2m1" else codes, table[codes]


def scaled(label, left, right, group, tile, options=()):
    m, n, k = 2 * tile[0], 2 * tile[1], 512
    x, vx = operand(1, m, k, left)
    y, vy = operand(2, n, k, right)
    good = [0x38, 0x3C, 0x40, 0x44] if group == 16 else [125, 126, 127, 128, 129]
    table = E4M3 if group == 16 else E8M0
    scales = [
        np.array(good, "u1")[hashes(seed, (rows, k // group)) % len(good)]
        for seed, rows in ((3, m), (4, n))
    ]

    def box(array, kind, other, rows):
        # 128 bytes of a row; with gaps, 128 elements.
        padded = kind == "e2m1" != other and options
        more = dict(type="b4x16_p64") if padded else {}
        return descriptor(array, (rows, 128), swizzle=128, **more)

    (z,) = run_triton(
        f"triton/tensors.scaled-{label}.ptx",
        (2, 2),
        *box(x, left, right, tile[0]),
        *box(y, right, left, tile[1]),
        *descriptor(out((m, n), "f4"), (tile[0], 32), swizzle=128),
        *scales,
        i32(k),
        i32(k // group),
        options=options,
    )
    wide = [np.repeat(table[codes], group, axis=1) for codes in scales]
    equal(z, ((vx * wide[0]) @ (vy * wide[1]).T).astype("f4"), label)


def test_scaled():
    # Triton has no tcgen05.fence.
    lenient = ("--allow=loose-tensor-memory",)
    scaled("nvfp4.sm_100a", "e2m1", "e2m1", 16, (128, 32), lenient)
    scaled("mxfp8-mxfp4.sm_100a", "e4m3", "e2m1", 32, (128, 32), lenient)
    scaled("mxfp4-mxfp8.sm_100a", "e2m1", "e5m2", 32, (128, 32), lenient)
    scaled("nvfp4.sm_120a", "e2m1", "e2m1", 16, (32, 32))


def test_shift():
    for label, dtype, columns, box, swizzle in (
        ("i8-32", "i1", 32, 32, 32),
        ("bf16-32", "u2", 32, 32, 64),
        ("fp32-32", "f4", 32, 32, 128),
        ("fp32-64", "f4", 64, 32, 128),
    ):
        x = integers(3, (40, 80), 1, 100, dtype)
        for rows, left in ((0, 0), (5, 7), (-3, -30)):
            options = {} if dtype == "i1" else dict(fill="nan")
            if label == "bf16-32":
                options["type"] = "bf16"
            grid = (4, (80 + columns - 1) // columns + 1)
            (z,) = run_triton(
                f"triton/tensors.shift-{label}.sm_90a.ptx",
                grid,
                *descriptor(x, (16, box), swizzle=swizzle, **options),
                out((*grid, 16, columns), dtype),
                i32(rows),
                i32(left),
            )
            bits = np.dtype(dtype.replace("f", "u").replace("i", "u"))
            fill = 0 if dtype == "i1" else (1 << bits.itemsize * 8 - 1) - 1
            padded = np.full((200, 400), fill, bits)
            padded[50:90, 150:230] = x.view(bits)
            for i in range(grid[0]):
                for j in range(grid[1]):
                    top, side = 50 + 16 * i - rows, 150 + columns * j - left
                    part = padded[top : top + 16, side : side + columns]
                    equal(z[i, j].view(bits), part, f"{label} {rows} {left} {i} {j}")


def test_move():
    shape = (5, 6, 4, 9, 24)
    x, z = integers(4, shape, -999, 999, "i2"), integers(5, shape, -999, 999, "i2")
    for at in ((0, 0, 0, 0, 0), (3, 2, 2, 5, 8), (-1, 4, -1, 6, 20)):
        box = (2, 4, 2, 4, 16)
        (got,) = run_triton(
            "triton/tensors.move.sm_100a.ptx",
            1,
            *descriptor(x, box, swizzle=32),
            *descriptor(inout(z), box, swizzle=32),
            *map(i32, at),
        )
        want = z.copy()
        for step in np.ndindex(*box):
            place = tuple(a + s for a, s in zip(at, step))
            target = tuple(p + 1 for p in place)
            if all(0 <= p < e for p, e in zip(target, shape)):
                inside = all(0 <= p < e for p, e in zip(place, shape))
                want[target] = x[place] if inside else 0
        equal(got, want, str(at))


def test_reduce():
    x = integers(6, (75, 32), -999, 999)
    z, t = integers(7, (18, 36), -999, 999), integers(8, (12, 30 + 2), -999, 999)
    add, top = run_triton(
        "triton/tensors.reduce.sm_90a.ptx",
        5,
        *descriptor(x, (16, 32), swizzle=128),
        *descriptor(inout(z), (16, 32), swizzle=128),
        *descriptor(inout(t), (16, 32), swizzle=128),
    )
    tiles = np.zeros((5, 16, 32), "i4")
    tiles.reshape(80, 32)[:75] = x
    z[5:18, :32] += tiles.sum(axis=0)[:13]
    t[:, 3:] = np.maximum(t[:, 3:], tiles.max(axis=0)[:12, :29])
    equal(add, z, "sum")
    equal(top, t, "maximum")


def test_rows():
    x = integers(9, (50, 72), -999, 999, "f2")
    z = np.zeros((40, 72), "f2")
    order = np.random.default_rng(1).permutation(50)[:32].astype("i4")
    order[[3, 20]] = -1, 60
    (got,) = run_triton(
        "triton/tensors.rows.sm_100a.ptx",
        (2, 3),
        *descriptor(x, (1, 32), swizzle=64),
        *descriptor(inout(z), (1, 32), swizzle=64),
        order,
    )
    for row in order:
        if 0 <= row + 1 < 40:
            z[row + 1] = x[row] if row >= 0 else 0
    equal(got, z)


def test_transpose():
    m, n = 44, 72
    x = integers(10, (m, n), -999, 999, "f4")
    scratch = inout(np.zeros(9 * 256, "u1"))
    for target in ("sm_90a", "sm_120a"):
        z, _ = run(
            f"triton/tensors.transpose.{target}.ptx",
            "transpose",
            (3, 3),
            None,
            x,
            out((n, m), "f4"),
            i32(m),
            i32(n),
            scratch,
            NULL,
        )
        equal(z, x.T, target)


main()
