"""nvcc: shuffles, votes, matches and reductions of a warp."""

# RUN: %numpy-python %s

from check import *

FILES = ["cuda/warp.sm_80.ptx", "cuda/warp.sm_120.ptx"]
LANE = np.arange(32)


def shuffled(v, source, width):
    """Lane l reads from `source` within its segment, or keeps its own value."""
    first = LANE // width * width
    source = np.broadcast_to(source, 32)
    inside = (source >= first) & (source < first + width)
    return np.where(inside, v[np.where(inside, source, LANE)], v), inside


def test_shuffles():
    v, s = hashes(1, 32).view("i4"), integers(2, 32, 0, 64)
    expected = [v[s % 32]]
    expected += [v[LANE // w * w + s % w] for w in (16, 4)]
    for delta, width in ((-3, 32), (-5, 8), (-1, 2), (7, 32), (2, 16), (1, 4)):
        expected.append(shuffled(v, LANE + delta, width)[0])
    # A segment may read from an earlier one, but not from a later one.
    expected.append(v[LANE ^ 21])
    expected.append(v[LANE ^ 3])
    source = LANE ^ 9
    expected.append(np.where(source < LANE // 8 * 8 + 8, v[source], v))
    for ptx in FILES:
        (z,) = run(ptx, "shuffles", 1, 32, v, s, out((12, 32), "i4"))
        equal(z, np.array(expected, "i4"), ptx)


def test_predicates():
    v = integers(3, 32, -(2**30), 2**30)
    expected = np.full((5, 32), -1, "i4")
    up, valid = shuffled(v, LANE - 4, 32)
    expected[0] = up * 2 + valid
    # Clamp 0x1f with segment mask 0x10: two segments.
    down, valid = shuffled(v, LANE + 6, 16)
    expected[1] = down * 2 + valid
    expected[2] = v[LANE ^ 17] * 2 + 1
    # Segment mask 0x18, clamp 7: lane 9 & 7 of each eight.
    expected[3] = v[LANE // 8 * 8 + 1] * 2 + 1
    third = LANE % 3 == 1
    expected[4, third] = v[(LANE[third] + 6) % 33]
    wide = (v.astype("i8") * 0x100000001)[LANE ^ 13].view("u8")
    for ptx in FILES:
        z, w = run(
            ptx, "shuffle_predicates", 1, 32, v, out((5, 32), "i4"), out(32, "u8")
        )
        equal(z, expected, ptx)
        equal(w, wide, ptx)


def mask(lanes):
    return int(sum(1 << int(lane) for lane in LANE[lanes]))


def test_votes():
    v = integers(4, 32, 0, 1000)
    for same in (False, True):
        if same:
            v = v & ~7 | 5
        rows = [[mask(v & 1 == 1)] * 32, [int(v[17] in v)] * 32]
        rows.append([int(all(v != v[0] + 1))] * 32)
        bit = v & 4 != 0
        rows.append([int(bit.all() or not bit.any())] * 32)
        second = v & 2 != 0
        rows.append(np.where(second, mask(second), 0))
        rows.append(np.where(second, mask(second & (v & 1 == 1)), 0))
        rows.append([mask(v & 7 == x) for x in v & 7])
        rows.append([2**32 - 2] * 32)
        uniform = len(set(v & 7)) == 1
        rows.append([2**32 - 2 if uniform else 0] * 32)
        rows.append([mask(v & 3 == x) for x in v & 3])
        for ptx in FILES:
            (z,) = run(ptx, "votes", 1, 32, v, out((10, 32), "u4"))
            equal(z, np.array(rows, "u4"), f"{ptx} {same}")


def test_reduxes():
    v = hashes(5, 32).view("i4")
    u = v.view("u4")
    whole = [
        v.sum(dtype="i4"),
        v.min(),
        v.max(),
        u.min().view("i4"),
        u.max().view("i4"),
        np.bitwise_and.reduce(u | 0x1000).view("i4"),
        np.bitwise_or.reduce(u & 0xFF00FF).view("i4"),
        np.bitwise_xor.reduce(v),
    ]
    expected = np.repeat(np.array(whole, "i4")[:, None], 32, axis=1)
    halves = np.where(LANE < 16, v[:16].sum(dtype="i4"), v[16:].max())
    expected = np.vstack([expected, halves.astype("i4")])
    for ptx in FILES:
        (z,) = run(ptx, "reduxes", 1, 32, v, out((9, 32), "i4"))
        equal(z, expected, ptx)


def test_float_reduxes():
    """Numbers win over NaN, unless the instruction says .NaN."""
    v = any_floats(7, 32, (-20, 20))
    some, all_nan = v.copy(), np.full(32, np.nan, "f4")
    some[[3, 20]] = np.nan
    for values in (v, some, all_nan):
        a = np.abs(values)
        expected = [f.reduce(x) for x in (values, a) for f in (np.fmin, np.fmax)]
        expected += [np.minimum.reduce(values), np.maximum.reduce(a)]
        expected = np.repeat(np.array(expected)[:, None], 32, axis=1)
        low, high = np.fmin.reduce(values[:16]), np.maximum.reduce(values[16:])
        expected = np.vstack([expected, np.where(LANE < 16, low, high)])
        (z,) = run(
            "cuda/redux.sm_100a.ptx", "reduxes", 1, 32, values, out((7, 32), "f4")
        )
        equal(z, expected.astype("f4"))


def test_lane_masks():
    lane = np.arange(80, dtype="u8") % 32
    eq = np.uint64(1) << lane
    lt = eq - 1
    columns = [lt, lt | eq, eq, ~lt, ~(lt | eq), lane]
    expected = np.stack(columns, axis=1).astype("u4")
    for ptx in FILES:
        (z,) = run(ptx, "lane_masks", 1, 80, out((80, 6), "u4"))
        equal(z, expected, ptx)


def test_compact():
    v = integers(6, 700, -50, 50)
    # The places beyond the last one are not written.
    before = np.full(700, -7, "i4")
    for ptx in FILES:
        z, count = run(
            ptx, "compact", 6, 128, v, inout(before), inout(np.zeros(1, "u4")), i32(700)
        )
        kept = v[v > 0]
        equal(count, np.array([len(kept)], "u4"), ptx)
        equal(np.sort(z[: len(kept)]), np.sort(kept), ptx)
        equal(z[len(kept) :], before[len(kept) :], ptx)
        # In whichever order the warps come, each keeps its order.
        text = " ".join(map(str, z)) + " "
        for warp in range(0, 700, 32):
            part = v[warp : warp + 32]
            line = "".join(f"{x} " for x in part[part > 0])
            assert line in text, f"{ptx}: the values of warp {warp // 32} are torn"


def test_elect():
    (z,) = run("cuda/warp.sm_120.ptx", "elect", 1, 64, out((2, 32, 2), "u4"))
    for warp in z:
        leader = warp[4, 0]
        assert 4 <= leader < 32, f"leader {leader} is no member"
        equal(warp[:4], np.array([[77, 88]] * 4, "u4"))
        chosen = (LANE == leader)[4:]
        equal(warp[4:, 0], np.full(28, leader, "u4"))
        equal(warp[4:, 1], chosen.astype("u4"))


main()
