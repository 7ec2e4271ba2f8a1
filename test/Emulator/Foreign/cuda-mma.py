"""nvcc: mma.sync of sm_80 and ldmatrix."""

# RUN: %numpy-python %s
# RUN: env TILE_PTX_RUN_OPTIONS=--accumulate=hardware %numpy-python %s test_bf16 test_f16 test_tf32 test_shared test_plain

from check import *

PTX, LOAD = "cuda/mma.sm_80.ptx", "cuda/ldmatrix.sm_80.ptx"


def multiply(entry, x, y, z, words, ptx=PTX, options=()):
    """z + x y^T by the kernel; x and y are patterns with rows of `words` words."""
    m, n = z.shape
    grid, sizes = (n // 8, m // 16), (i32(n), i32(words))
    (r,) = run(ptx, entry, grid, 32, x, y, inout(z), *sizes, options=options)
    return r


def floats_product(entry, convert, bytes_per_value, k, result="f4"):
    m, n = 32, 24
    x, y = integers(1, (m, k), -9, 10, "f4"), integers(2, (n, k), -9, 10, "f4")
    z = integers(3, (m, n), -99, 100, result)
    words = k * bytes_per_value // 4
    got = multiply(entry, convert(x), convert(y), z, words)
    equal(got, (x @ y.T + z).astype(result), entry)


def test_bf16():
    floats_product("bf16_k16", to_bf16, 2, 48)
    floats_product("bf16_k8", to_bf16, 2, 40)


def test_f16():
    half = lambda v: v.astype("f2")
    floats_product("f16_k16", half, 2, 48)
    floats_product("f16_k8", half, 2, 40)
    # Below 2048 every sum is a half.
    floats_product("f16_half_k16", half, 2, 16, "f2")


def test_tf32():
    floats_product("tf32_k8", lambda v: v, 4, 24)
    floats_product("tf32_k4", lambda v: v, 4, 20)


def test_sums():
    half = lambda v: v.astype("f2")
    top = lambda v: (v.view("u4") & 0xFFFFE000).view("f4")
    for entry, convert, values, k, group in (
        ("bf16_k16", to_bf16, from_bf16, 16, 8),
        ("f16_k16", half, lambda v: v.astype("f4"), 16, 8),
        ("f16_k8", half, lambda v: v.astype("f4"), 8, 8),
        ("tf32_k8", top, lambda v: v, 8, 4),
    ):
        x, y = convert(normals(19, (32, 48))), convert(normals(20, (16, 48)))
        z = normals(21, (32, 16))
        words = 48 * x.itemsize // 4
        results = [multiply(entry, x, y, z, words, options=o) for o in ((), HARDWARE)]
        check_sums(*results, values(x), values(y), z, k, group, 24, entry)


def integer_product(entry, k, left, right, low=-(2**20), high=2**20, saturate=None):
    """With `saturate` not None, some sums, and not all, must leave 32 bits."""
    m, n = 32, 16
    x = integers(4, (m, k), -128 if left == "i1" else 0, 128 if left == "i1" else 256)
    y = integers(5, (n, k), -128, 128)
    z = integers(6, (m, n), low, high)
    got = multiply(entry, x.astype(left), y.astype(right), z, k // 4)
    exact = x.astype("i8") @ y.T.astype("i8") + z
    if saturate is not None:
        beyond = (exact < -(2**31)) | (exact >= 2**31)
        assert 0.1 < beyond.mean() < 0.9, "the data prove nothing"
    if saturate:
        exact = np.clip(exact, -(2**31), 2**31 - 1)
    equal(got, exact.astype("i4"), entry)


def test_s8():
    integer_product("s8_k32", 96, "i1", "i1")
    integer_product("u8_s8_k32", 64, "u1", "i1")
    integer_product("s8_k16", 48, "i1", "i1")


def test_s8_wraps_or_saturates():
    for edge in ((-(2**31), -(2**31) + 2**15), (2**31 - 2**15, 2**31)):
        integer_product("s8_k32", 32, "i1", "i1", *edge, saturate=False)
        integer_product("s8_sat_k32", 32, "i1", "i1", *edge, saturate=True)


def test_s4():
    m, n, k = 16, 24, 128
    x, y = integers(7, (m, k), -8, 8), integers(8, (n, k), -8, 8)
    z = integers(9, (m, n), -1000, 1000)
    pack = lambda v: pack_fp4((v & 15).astype("u1"))
    equal(multiply("s4_k64", pack(x), pack(y), z, k // 8), x @ y.T + z)


def test_f64():
    m, n, k = 16, 24, 12
    x, y = normals(10, (m, k), "f8"), normals(11, (n, k), "f8")
    x, y = np.round(x * 2**20), np.round(y * 2**20)
    z = integers(12, (m, n), -99, 100, "f8")
    (r,) = run(PTX, "f64_k4", (n // 8, m // 8), 32, x, y, inout(z), i32(n), i32(k))
    equal(r, x @ y.T + z)


def test_shared():
    m, n, k = 64, 48, 96
    x, y = integers(13, (m, k), -9, 10, "f4"), integers(14, (n, k), -9, 10, "f4")
    for entry, b in (("product", y), ("product_transposed", np.ascontiguousarray(y.T))):
        (z,) = run(
            LOAD,
            entry,
            (n // 16, m // 32),
            64,
            to_bf16(x),
            to_bf16(b),
            out((m, n), "f4"),
            i32(n),
            i32(k),
        )
        equal(z, x @ y.T, entry)


def test_plain():
    m, n, k = 16, 16, 32
    x, y = integers(15, (m, k), -9, 10, "f4"), integers(16, (n, k), -9, 10, "f4")
    z = np.zeros((m, n), "f4")
    equal(multiply("plain", to_bf16(x), to_bf16(y), z, k // 2, LOAD), x @ y.T)


def test_matrices():
    rows = hashes(17, (32, 8)).astype("u2")
    order = np.argsort(hashes(18, 32)).astype("i4")
    matrix = rows[order].reshape(4, 8, 8)
    fragment = lambda a: np.ascontiguousarray(a).view("u4").reshape(32)
    turned = [m.T for m in matrix]
    expected = [matrix[0], turned[0], turned[1], *matrix, turned[1]]
    (z,) = run(LOAD, "matrices", 1, 32, rows, order, out((8, 32), "u4"))
    equal(z, np.array([fragment(m) for m in expected]))


main()
