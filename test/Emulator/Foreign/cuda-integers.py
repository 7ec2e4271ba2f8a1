"""nvcc: integer arithmetic and bits."""

# RUN: %numpy-python %s

from check import *

PTX = "cuda/integers.sm_80.ptx"
N = 256
M32, M64 = 2**32 - 1, 2**64 - 1
EDGES = [1, -1, 2, 7, -7, 2**31 - 1, -(2**31), 2**31 - 2, 0x10000, 0xFFFF, -0x8000, 640]


def operands(seed, bits):
    """Values of all magnitudes; every pair of edge values comes up."""
    full = [int(v) | int(w) << 32 for v, w in zip(hashes(seed, N), hashes(seed + 1, N))]
    shifts = hashes(seed + 2, N) % bits
    return [wrap(v, bits) >> int(s) for v, s in zip(full, shifts)]


def pairs(seed, bits):
    a, b = operands(seed, bits), operands(seed + 10, bits)
    for k, x in enumerate(EDGES):
        for j, y in enumerate(EDGES):
            a[k * len(EDGES) + j], b[k * len(EDGES) + j] = x, y
    return a, b


def divisors(a, b, bits):
    """Division by zero and the quotient that does not fit are not defined."""
    least = -(1 << (bits - 1))
    return [3 if y == 0 or (x, y) == (least, -1) else y for x, y in zip(a, b)]


def check(names, actual, functions, *arrays, bits=32):
    for name, row, function in zip(names.split(), actual, functions):
        equal(row, per_element(function, *arrays, bits=bits), name)


def test_divide():
    a, b = pairs(1, 32)
    wa, wb = pairs(31, 64)
    for k in range(0, N, 3):
        wa[k] = wrap(wa[k] << 13, 64)
    b, wb = divisors(a, b, 32), divisors(wa, wb, 64)
    z, w = run(
        PTX,
        "divide",
        4,
        64,
        np.array(a, "i4"),
        np.array(b, "i4"),
        np.array(wa, "i8"),
        np.array(wb, "i8"),
        out((10, N), "i4"),
        out((10, N), "i8"),
        i32(N),
    )
    short = lambda v: wrap(v, 16)
    check(
        "div rem div.u rem.u div7 rem10 div641 div16 div.s16 rem.u8",
        z,
        [
            quotient,
            remainder,
            lambda x, y: (x & M32) // (y & M32),
            lambda x, y: (x & M32) % (y & M32),
            lambda x, y: quotient(x, 7),
            lambda x, y: remainder(x, 10),
            lambda x, y: (x & M32) // 641,
            lambda x, y: quotient(x, 16),
            lambda x, y: quotient(short(x), short(y | 1)),
            lambda x, y: (x & 255) % ((y | 1) & 255),
        ],
        a,
        b,
    )
    check(
        "div rem div.u rem.u div1000003 rem.u10 mul mulhi mulhi.u square",
        w,
        [
            quotient,
            remainder,
            lambda x, y: (x & M64) // (y & M64),
            lambda x, y: (x & M64) % (y & M64),
            lambda x, y: quotient(x, 1000003),
            lambda x, y: (x & M64) % 10,
            lambda x, y: x * y,
            lambda x, y: x * y >> 64,
            lambda x, y: (x & M64) * (y & M64) >> 64,
            lambda x, y: (x & M64) * (y & M64) + (x & M64) >> 61,
        ],
        wa,
        wb,
        bits=64,
    )


def signed_bytes(v):
    return [wrap(v >> s, 8) for s in (0, 8, 16, 24)]


def unsigned_bytes(v):
    return [v >> s & 255 for s in (0, 8, 16, 24)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def halves(v):
    return [wrap(v, 16), wrap(v >> 16, 16)]


def saturate(v):
    return max(-(2**31), min(2**31 - 1, v))


def carries(x, y):
    x, y = x & M32, y & M32
    low = x + y
    high = y + x + (low >> 32)
    return (high & M32) + (low & M32) + (high >> 32)


def borrows(x, y):
    x, y = x & M32, y & M32
    return (y - x - (x < y)) ^ (x - y)


def high_carry(x, y):
    x, y = x & M32, y & M32
    low = (x * y & M32) + x
    return (x * y >> 32) + (low & M32) + (low >> 32)


def test_multiply():
    a, b = pairs(61, 32)
    z, w = run(
        PTX,
        "multiply",
        4,
        64,
        np.array(a, "i4"),
        np.array(b, "i4"),
        out((25, N), "i4"),
        out((2, N), "i8"),
        i32(N),
    )
    u = lambda v: v & M32
    check(
        "mul mulhi mulhi.u mul24 mul24.u mad dp4a dp4a.u dp2a.lo dp2a.hi.u sad sad.u "
        "hadd rhadd hadd.u min max.u abs add.sat sub.sat mad.hi mad24 addc subc madc",
        z,
        [
            lambda x, y: x * y,
            lambda x, y: x * y >> 32,
            lambda x, y: u(x) * u(y) >> 32,
            lambda x, y: wrap(x, 24) * wrap(y, 24),
            lambda x, y: (x & 0xFFFFFF) * (y & 0xFFFFFF),
            lambda x, y: x * y + x,
            lambda x, y: dot(signed_bytes(x), signed_bytes(y)) + x,
            lambda x, y: dot(unsigned_bytes(x), unsigned_bytes(y)) + x,
            lambda x, y: dot(halves(x), signed_bytes(y)[:2]) + 5,
            lambda x, y: dot([v & 0xFFFF for v in halves(x)], unsigned_bytes(y)[2:])
            + 7,
            lambda x, y: abs(x - y) + 3,
            lambda x, y: abs(u(x) - u(y)) + 3,
            lambda x, y: x + y >> 1,
            lambda x, y: x + y + 1 >> 1,
            lambda x, y: u(x) + u(y) >> 1,
            min,
            lambda x, y: max(u(x), u(y)),
            lambda x, y: abs(x),
            lambda x, y: saturate(x + y),
            lambda x, y: saturate(x - y),
            lambda x, y: (x * y >> 32) + x,
            lambda x, y: wrap(x, 24) * wrap(y, 24) + x,
            carries,
            borrows,
            high_carry,
        ],
        a,
        b,
    )
    equal(w[0], np.array([x * y for x, y in zip(a, b)], "i8"), "mul.wide")
    wide = [wrap(u(x) * u(y) + u(x), 64) for x, y in zip(a, b)]
    equal(w[1], np.array(wide, "i8"), "mad.wide.u")


def brev(v, bits=32):
    return int(f"{v:0{bits}b}"[::-1], 2)


def permute(x, y, selectors):
    """Byte selectors from the least significant byte of the result on."""
    pool = [(y << 32 | x) >> 8 * k & 255 for k in range(8)]
    return sum(pool[s & 7] << 8 * k for k, s in enumerate(selectors))


def extract(v, position, length, bits, signed):
    sign = 0
    if signed and length:
        sign = v >> min(position + length - 1, bits - 1) & 1
    result = 0
    for k in range(bits):
        inside = k < length and position + k < bits
        result |= (v >> (position + k) & 1 if inside else sign) << k
    return result


def insert(a, b, position, length, bits):
    for k in range(length):
        if position + k < bits:
            bit = 1 << (position + k)
            b = b & ~bit | (a >> k & 1) * bit
    return b


def find_last(v):
    return v.bit_length() - 1 if v else M32


def shift_of_sign(x):
    v = x if x < 2**31 else x ^ M32
    return 32 - v.bit_length() if v else M32


def nth_set(mask, base, count):
    for position in range(base, 32):
        count -= mask >> position & 1
        if count == 0:
            return position
    return M32


def find_first(v):
    return (v & -v).bit_length()


def test_bits():
    a, b = hashes(91, N), hashes(92, N)
    # Sparse and dense words, and the edges.
    a[:64] &= hashes(93, 64) & hashes(94, 64) & hashes(95, 64)
    a[64:96] |= hashes(96, 32) | hashes(97, 32)
    a[:8] = [0, 1, M32, 1 << 31, 2**31 - 1, 0x80, 0xFFFF0000, 6]
    z, w = run(PTX, "bits", 4, 64, a, b, out((30, N), "i4"), out((6, N), "i8"), i32(N))
    wide = lambda x, y: x << 32 | y
    backward4 = [[5, 6, 7, 0], [6, 7, 0, 1], [7, 0, 1, 2], [0, 1, 2, 3]]
    check(
        "popc clz brev ffs popcll clzll ffsll prmt prmt.var shf.l shf.r shf.lc shf.rc "
        "and-or xor-and shl shr shr.s bfe bfe.s bfi bfind bfind.shift lop3 prmt.f4e "
        "prmt.b4e prmt.rc16 slct cnot fns",
        z,
        [
            lambda x, y: bin(x).count("1"),
            lambda x, y: 32 - x.bit_length(),
            lambda x, y: brev(x),
            lambda x, y: find_first(x),
            lambda x, y: bin(wide(x, y)).count("1"),
            lambda x, y: 64 - wide(x, y).bit_length(),
            lambda x, y: find_first(wide(x, y) & ~4095),
            lambda x, y: permute(x, y, [0, 7, 1, 6]),
            lambda x, y: permute(x, y, [y >> 4 * k for k in range(4)]),
            lambda x, y: ((y << 32 | x) << (y & 31)) >> 32,
            lambda x, y: (y << 32 | x) >> (x & 31),
            lambda x, y: ((y << 32 | x) << min(y & 63, 32)) >> 32,
            lambda x, y: (y << 32 | x) >> min(x & 63, 32),
            lambda x, y: x & y | ~x & 0x55555555,
            lambda x, y: (x ^ y) & 0xFF00FF00,
            lambda x, y: x << (y & 63) if y & 63 < 32 else 0,
            lambda x, y: x >> (y & 63),
            lambda x, y: wrap(x) >> (y & 63),
            lambda x, y: extract(x, y & 31, y >> 8 & 63, 32, False),
            lambda x, y: extract(x, y & 63, y >> 8 & 63, 32, True),
            lambda x, y: insert(x, y, y & 31, x >> 8 & 31, 32),
            lambda x, y: find_last(x),
            lambda x, y: shift_of_sign(x),
            lambda x, y: lop3(x, y, x >> 3, 0xD8),
            lambda x, y: permute(x, y, [(y & 3) + k for k in range(4)]),
            lambda x, y: permute(x, y, backward4[y & 3][::-1]),
            lambda x, y: permute(x, y, [0, 1, 0, 1] if y % 2 == 0 else [2, 3, 2, 3]),
            lambda x, y: x if x < 2**31 else y,
            lambda x, y: int(x & 7 == 0),
            lambda x, y: nth_set(x, y & 31, 2),
        ],
        a,
        b,
    )
    check(
        "brevll shl shr shr.s bfe bfi",
        w,
        [
            lambda x, y: brev(wide(x, y), 64),
            lambda x, y: wide(x, y) << (y & 63),
            lambda x, y: wide(x, y) >> (x & 63),
            lambda x, y: wrap(wide(x, y), 64) >> (x & 63),
            lambda x, y: extract(wide(x, y), y & 63, x & 63, 64, False),
            lambda x, y: insert(wide(x, y), wide(x, y) ^ M64, x & 31, y & 31, 64),
        ],
        a,
        b,
        bits=64,
    )


def lop3(a, b, c, table):
    """Bit k of the table is the result where the bits of a, b, c spell k."""
    result = 0
    for position in range(32):
        index = (a >> position & 1) * 4 + (b >> position & 1) * 2 + (c >> position & 1)
        result |= (table >> index & 1) << position
    return result


main()
