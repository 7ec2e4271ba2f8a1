"""nvcc: printf, assertions and traps."""

# RUN: %numpy-python %s

from check import *

PTX = "cuda/output.sm_80.ptx"


def test_printf():
    v = integers(1, 40, -1000, 1000)
    v[5], v[21] = -17, 250
    (text,) = run(PTX, "hello", 1, 40, v, text=True)
    lines = [line for line in text.splitlines() if "thread" in line or "%" in line]
    expected = ["no arguments, 100%"]
    for t in (5, 21, 37):
        x = int(v[t])
        expected.append(
            f"thread {t} of block 0 has {'minus ' if x < 0 else ''}{abs(x)}! "
            f"{x * 0.25:5.2f} 0x{x & 0xFFFFFFFF:08x} {x * 10**10}"
        )
    assert sorted(lines) == sorted(expected), f"got {lines}, expected {expected}"


def test_assert():
    v = integers(2, 64, 0, 500)
    (z,) = run(PTX, "checked_root", 1, 64, v, out(64, "i4"))
    equal(z, np.floor(np.sqrt(v)).astype("i4"))
    v[44] = -1
    text = fail(PTX, "checked_root", 1, 64, v, out(64, "i4"))
    for part in ("roots are of naturals", "output.cu", "44"):
        assert part in text, f"no '{part}' in {text!r}"


def test_trap():
    v = np.arange(64, dtype="i4") + 100
    (z,) = run(PTX, "trap", 1, 64, v, out(64, "i4"))
    equal(z, v + 1)
    v[33] = 7
    text = fail(PTX, "trap", 1, 64, v, out(64, "i4"))
    assert "trap" in text and "33" in text, text


main()
