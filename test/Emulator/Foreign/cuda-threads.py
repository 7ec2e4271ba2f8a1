"""Results, counters and reports do not depend on the host's threads."""

# RUN: %numpy-python %s

from check import *

ROUNDING = normals(1, 6000)


def both(ptx, entry, grid, block, *args, **more):
    """Runs on one and on two threads, with counters, which must be the same."""
    options = [["--stats=json", f"--threads={n}"] for n in (1, 2)]
    one, two = (
        run(ptx, entry, grid, block, *args, text=True, options=o, **more)
        for o in options
    )
    assert one[0] == two[0], f"{entry}: the counters differ"
    for a, b in zip(one[1:], two[1:]):
        equal(b.view("u1"), a.view("u1"), entry)
    return one[1:]


def test_independent_blocks():
    x, y = normals(2, (70, 52)), normals(3, (52, 36))
    sizes = [i32(v) for v in (70, 36, 52)]
    (z,) = both(
        "cuda/gemm.sm_80.ptx",
        "double_buffered",
        (2, 3),
        64,
        x,
        y,
        out((70, 36), "f4"),
        *sizes,
        shared=2 * 1024 * 4,
    )
    close(z, x.astype("f8") @ y, 1e-5, 1e-4)


def test_sums_of_blocks():
    """The order of the blocks decides how a sum of floats is rounded."""
    ptx = "cuda/reductions.sm_80.ptx"
    zero = inout(np.zeros(1, "f4"))
    (z,) = both(ptx, "grid_sum", 20, 96, ROUNDING, zero, i32(6000))
    close(z, ROUNDING.sum(dtype="f8"), 0, 1e-2)


def test_blocks_that_wait_for_the_last():
    v = integers(4, 2000, -1000, 1000)
    args = [v, out(16, "i4"), inout(np.zeros(1, "i4")), i32(2000)]
    _, z = both("cuda/reductions.sm_80.ptx", "last_block_sum", 16, 128, *args)
    equal(z, v.sum(keepdims=True, dtype="i4"))


def test_locks():
    """Which lane has the lock first is a matter of the schedule."""
    zero = np.zeros(1, "i4")
    args = [inout(zero), inout(zero), out(150, "i4"), i32(150)]
    *_, order = both("cuda/control.sm_80.ptx", "spin_lock", 3, 64, *args)
    equal(np.sort(order), np.arange(150, dtype="i4"))


def test_random_schedule():
    v = integers(5, (4, 8, 256), -1000, 1000)
    for seed in (1, 2):
        options = [
            ["--schedule=random", f"--seed={seed}", f"--threads={n}", "--stats=json"]
            for n in (1, 2)
        ]
        args = [4, 160, v, out(v.shape, "i4"), i32(8)]
        one, two = (
            run("cuda/bulk.sm_120.ptx", "pipeline", *args, text=True, options=o)
            for o in options
        )
        assert one[0] == two[0], "the counters differ"
        equal(one[1], two[1])


def test_reports():
    """The fault of the first block that has one, whichever comes first."""
    a = floats(6, 1000)
    reports = [
        fail(
            "cuda/elementwise.sm_80.ptx",
            "vector_add",
            40,
            32,
            a,
            a[:700],
            out(1000, "f4"),
            i32(1000),
            options=[f"--threads={n}"],
        )
        for n in (1, 2)
    ]
    assert reports[0] == reports[1], "\n".join(reports)
    assert "out-of-bounds" in reports[0] and "block: 21,0,0" in reports[0], reports[0]


main()
