"""The reference device against NumPy and ml_dtypes."""

import ml_dtypes
import numpy as np
import pytest
from linear import Layer, compute, make_exact, make_random
from tile_run import DTYPES, SOURCE, choose, code_dtype, hash_of, pack, run

NVFP4 = Layer("f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16)
MXFP8 = Layer("f8E4M3FN", "f8E4M3FN", "f8E8M0FNU", 32)
MIXED = Layer("f8E4M3FN", "f4E2M1FN", "f8E8M0FNU", 32)

LAYERS = [
    NVFP4,
    Layer("f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", 16),
    Layer("f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", 32),
    MXFP8,
    Layer("f8E5M2", "f8E5M2", "f8E8M0FNU", 32),
    Layer("f8E4M3FN", "f8E5M2", "f8E8M0FNU", 32),
    MIXED,
    Layer("f4E2M1FN", "f8E5M2", "f8E8M0FNU", 32),
    Layer("bf16", "f4E2M1FN", "f8E4M3FN", 16),
    Layer("f4E2M1FN", "bf16", "f8E8M0FNU", 16),
    Layer("f16", "f4E2M1FN", "f8E8M0FNU", 32),
    Layer("bf16", "f8E4M3FN", "f8E8M0FNU", 32),
    Layer("f8E5M2", "f16", "f8E8M0FNU", 32),
    Layer("bf16", "bf16"),
    Layer("f16", "f16"),
    Layer("f8E4M3FN", "f8E4M3FN"),
    Layer("f8E5M2", "f8E4M3FN"),
]


def steps(layer):
    """The K of a step: a multiple of V, and two kernels of other tile sizes."""
    return 64 if layer.v != 32 else 32


def check_exact(data, folder, **options):
    expected = (data.expected() * options.get("alpha", 1.0)).astype(np.float32)
    result = compute(data, folder, **options)
    np.testing.assert_array_equal(result, expected)


# -----------------------------------------------------------------------------
# Linear layers


@pytest.mark.parametrize("layer", LAYERS, ids=str)
@pytest.mark.parametrize("m, n, k", [(16, 16, 64), (33, 17, 80), (5, 40, 32)])
def test_every_type_pair_is_exact(layer, m, n, k, tmp_path):
    check_exact(make_exact(layer, m, n, k), tmp_path, tile=(16, 16, steps(layer)))


@pytest.mark.parametrize("layer", LAYERS, ids=str)
def test_every_finite_code_is_within_the_bound(layer, tmp_path):
    data = make_random(layer, 24, 40, 160)
    result = compute(data, tmp_path, tile=(8, 16, steps(layer)))
    error = abs(result - data.expected())
    assert np.all(error <= 256 * 2.0**-24 * data.magnitude() + 2.0**-149)


@pytest.mark.parametrize("layer", [NVFP4, MXFP8, MIXED], ids=str)
def test_a_batch_is_many_layers(layer, tmp_path):
    data = make_exact(layer, 18, 33, 96, batch=(3,))
    check_exact(data, tmp_path, tile=(16, 32, 32), alpha=0.5)


@pytest.mark.parametrize("m", [1, 2, 3, 5, 65, 127, 129])
def test_rows_around_the_tile(m, tmp_path):
    check_exact(make_exact(NVFP4, m, 20, 64), tmp_path, tile=(64, 32, 32))


@pytest.mark.parametrize("k", [16, 48, 464, 496, 1056, 1312, 2176, 2880])
def test_k_that_is_no_multiple_of_the_step(k, tmp_path):
    # The scales behind the last group are NaN: they are outside.
    check_exact(make_exact(NVFP4, 17, 9, k), tmp_path, tile=(16, 16, 128))


@pytest.mark.parametrize("k", [64, 128, 1024, 1056, 1152, 1280, 1312, 2176])
def test_ones_count_k(k, tmp_path):
    data = make_exact(NVFP4, 3, 5, k)
    data.x[:], data.y[:], data.sx[:], data.sy[:] = 0x2, 0x2, 0x38, 0x38
    assert np.all(compute(data, tmp_path, tile=(16, 16, 128)) == k)


@pytest.mark.parametrize(
    "layer, m, n, k",
    [(MXFP8, 8, 8, 2880), (MXFP8, 8, 8, 64), (MIXED, 36, 64, 704)],
    ids=lambda value: str(value),
)
def test_padded_scale_columns_do_not_matter(layer, m, n, k, tmp_path):
    check_exact(make_exact(layer, m, n, k), tmp_path, tile=(16, 32, 128))


def test_no_k_gives_zeros(tmp_path):
    data = make_exact(Layer("bf16", "bf16"), 5, 7, 0)
    assert np.all(compute(data, tmp_path, tile=(4, 8, 16)) == 0)


@pytest.mark.parametrize("tile", [(16, 16, 16), (4, 2, 32), (64, 64, 128), (1, 1, 16)])
def test_the_tile_size_does_not_matter(tile, tmp_path):
    check_exact(make_exact(NVFP4, 37, 21, 208), tmp_path, tile=tile)


@pytest.mark.parametrize(
    "scale, nan, v", [("f8E4M3FN", 0x7F, 16), ("f8E8M0FNU", 0xFF, 32)]
)
def test_a_nan_scale_reaches_its_row_or_column(scale, nan, v, tmp_path):
    data = make_exact(Layer("f4E2M1FN", "f4E2M1FN", scale, v), 20, 12, 96)
    data.x[7], data.y[5] = 0, 0  # NaN over zeros too
    data.sx[7, 1], data.sy[5, 2] = nan, nan
    expected = data.expected().astype(np.float32)
    assert np.isnan(expected[7]).all() and np.isnan(expected[:, 5]).all()
    assert np.isnan(expected).sum() == 12 + 20 - 1
    np.testing.assert_array_equal(compute(data, tmp_path), expected)


def test_infinities_and_nans_follow_ieee(tmp_path):
    data = make_exact(Layer("f8E5M2", "f8E5M2", "f8E8M0FNU", 32), 8, 8, 32)
    data.x[1, 3], data.x[2, 4], data.x[3, 5] = 0x7C, 0xFC, 0x7E
    data.x[4, 6], data.x[4, 7] = 0x7C, 0x7C
    data.y[6], data.y[:, 3] = 0, 0x3C
    with np.errstate(invalid="ignore"):
        expected = data.expected().astype(np.float32)
    np.testing.assert_array_equal(compute(data, tmp_path, tile=(8, 8, 32)), expected)


def test_the_smallest_scale_is_a_subnormal(tmp_path):
    # 128 times 2^112 * 256 * 2^-127 is 2^0 * 128 / 128.
    data = make_exact(Layer("bf16", "f8E4M3FN", "f8E8M0FNU", 32), 8, 8, 128)
    data.x[:] = np.full(data.x.shape, 2.0**112, DTYPES["bf16"]).view(np.uint16)
    data.y[:], data.sy[:] = 0x78, 0x00
    data.sy[2, 1] = 0xFF
    result = compute(data, tmp_path, tile=(8, 8, 64))
    assert np.all(np.isnan(result[:, 2]))
    assert np.all(np.delete(result, 2, 1) == 1)


def test_scales_out_of_range_multiply_to_one_in_range(tmp_path):
    data = make_exact(MXFP8, 8, 8, 32)
    data.x[:], data.y[:], data.sx[:], data.sy[:] = 0x7E, 0x38, 0xFE, 0x00
    assert np.all(compute(data, tmp_path, tile=(8, 8, 32)) == 14336)


def test_a_large_layer_takes_seconds(tmp_path):
    check_exact(make_exact(NVFP4, 512, 512, 512), tmp_path, alpha=0.25)


# -----------------------------------------------------------------------------
# Quantization


def quantize(x, scale_of_all):
    """NVFP4 codes and scales of x, with the rounding of ml_dtypes."""
    blocks = x.reshape(x.shape[0], -1, 16)
    unit = np.float32(scale_of_all) * np.float32(6)
    exact = np.abs(blocks).max(-1) / unit
    with np.errstate(invalid="ignore"):
        clipped = np.where(np.isnan(exact), exact, np.minimum(exact, np.float32(448)))
    scales = clipped.astype(ml_dtypes.float8_e4m3fn)
    step = (scales.astype(np.float32) * np.float32(scale_of_all))[..., None]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(step == 0, np.float32(0), blocks / step)
    ratio = np.where(np.isnan(ratio), np.float32(6), np.clip(ratio, -6, 6))
    codes = ratio.astype(ml_dtypes.float4_e2m1fn).view(np.uint8) & 0xF
    return codes.reshape(x.shape), scales.view(np.uint8)


def test_quantizer_ignores_rows_that_are_not_there(tmp_path):
    m, k = 21, 208
    x = (choose((m, k), 1, np.arange(-4000, 4001)) / 256).astype(np.float32)
    x[3, :32], x[4, :16] = 0, 1e-6
    # Ties of FP4: the block's scale is 1, since its largest magnitude is 6.
    ties = [6, 0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, -0.25, -0.75, -1.25, -1.75]
    x[5, :16] = np.array([*ties, -2.5, -3.5, -5, 0], np.float32)
    larger = np.full((m + 11, k + 16), np.nan, np.float32)
    larger[:m, :k] = x
    codes, scales = run(
        SOURCE / "examples" / "kernels" / "quantize_nvfp4.mlir",
        (2, 4),
        [
            ("out", f"{m}x{k // 2}xf4E2M1FNx2"),
            ("out", f"{m}x{k // 16}xf8E4M3FN"),
            ("in", larger, (m, k)),
            1.0,
        ],
        tmp_path,
        {"BM": 16, "BK": 64},
    )
    expected_codes, expected_scales = quantize(x, 1.0)
    np.testing.assert_array_equal(scales, expected_scales)
    np.testing.assert_array_equal(codes, pack(expected_codes))


# -----------------------------------------------------------------------------
# Conversions and arithmetic


def elementwise(body, inputs, output, count):
    """A kernel of one program: `body` computes %r from %a, %b, … ."""
    names = "abc"[: len(inputs)]
    types = [f"memref<{count}x{kind}>" for kind in (output, *inputs)]
    arguments = ", ".join(f"%m{n} : {t}" for n, t in zip("r" + names, types))
    loads = "\n".join(
        f"  %{n} = tile.load %m{n}[%c0] : memref<{count}x{kind}> -> tensor<{count}x{kind}>"
        for n, kind in zip(names, inputs)
    )
    return f"""
func.func @f({arguments}) attributes {{tile.kernel}} {{
  %c0 = arith.constant 0 : index
{loads}
  {body}
  tile.store %r, %mr[%c0] : tensor<{count}x{output}>, memref<{count}x{output}>
  return
}}
"""


def to_file(kind, values):
    """Values as the array that stands for them in a file."""
    values = np.asarray(values)
    return values if kind in ("f16", "f32") else values.view(code_dtype(kind))


def same_codes(kind, result, expected):
    """Equal codes; one NaN is as good as another, but for the formats' own."""
    result = np.ascontiguousarray(result).view(DTYPES[kind]).astype(np.float64)
    expected = np.asarray(expected).astype(np.float64)
    np.testing.assert_array_equal(result, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(
        np.signbit(result[numbers]), np.signbit(expected[numbers])
    )


def all_values(kind):
    """Every code of a format of at most 16 bits, or a sample of f32."""
    if kind != "f32":
        bits = 8 * DTYPES[kind].itemsize
        return np.arange(1 << bits, dtype=code_dtype(kind)).view(DTYPES[kind])
    # Every f16 and its neighbours, all ties of the narrow formats among them.
    centre = all_values("f16").astype(np.float32).view(np.uint32)
    bf16 = all_values("bf16").astype(np.float32).view(np.uint32)
    half = bf16 + 0x8000  # ties between neighbours of bf16
    random = hash_of((1 << 16,), 1).astype(np.uint32)
    return np.concatenate([centre, bf16, half, random]).view(np.float32)


CONVERSIONS = [
    (source, target)
    for source in ("f32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "f8E8M0FNU")
    for target in ("f8E4M3FN", "f8E5M2", "bf16", "f16", "f32")
    if source != target
]


@pytest.mark.parametrize("source, target", CONVERSIONS)
def test_conversions_round_to_nearest_even(source, target, tmp_path):
    values = all_values(source)
    kernel = elementwise(
        f"%r = tile.ftof %a : tensor<{len(values)}x{source}> -> tensor<{len(values)}x{target}>",
        [source],
        target,
        len(values),
    )
    (result,) = run(
        kernel,
        (1,),
        [("out", f"{len(values)}x{target}"), ("in", to_file(source, values))],
        tmp_path,
    )
    # f8E8M0FNU knows no cast to every type; f64 holds all values exactly.
    with np.errstate(invalid="ignore"):
        wide = values.astype(np.float32).astype(np.float64)
    if target in ("f8E4M3FN", "f8E5M2"):
        limit = float(ml_dtypes.finfo(DTYPES[target]).max)
        wide = np.clip(wide, -limit, limit)
    with np.errstate(over="ignore"):
        expected = wide.astype(np.float32).astype(DTYPES[target])
    same_codes(target, result, expected)


@pytest.mark.parametrize("source", ["f32", "f16", "bf16"])
def test_conversions_to_fp4_round_to_nearest_even(source, tmp_path):
    values = all_values(source)
    count = len(values)
    kernel = elementwise(
        f"""%v = tile.ftof %a : tensor<{count}x{source}> -> tensor<{count}xf4E2M1FN>
  %r = tile.ftof %v : tensor<{count}xf4E2M1FN> -> tensor<{count}xf32>""",
        [source],
        "f32",
        count,
    )
    (result,) = run(
        kernel,
        (1,),
        [("out", f"{count}xf32"), ("in", to_file(source, values))],
        tmp_path,
    )
    wide = values.astype(np.float32)
    wide = np.where(np.isnan(wide), np.float32(6), np.clip(wide, -6, 6))
    same_codes("f32", result, wide.astype(ml_dtypes.float4_e2m1fn).astype(np.float32))


@pytest.mark.parametrize("rounding", ["toward_zero", "upward"])
def test_scales_round_as_the_op_names(rounding, tmp_path):
    values = all_values("f32")
    count = len(values)
    kernel = elementwise(
        f"%r = tile.ftof %a {rounding} : tensor<{count}xf32> -> tensor<{count}xf8E8M0FNU>",
        ["f32"],
        "f8E8M0FNU",
        count,
    )
    (result,) = run(kernel, (1,), [("out", f"{count}xu8"), ("in", values)], tmp_path)
    with np.errstate(invalid="ignore"):
        mantissa, exponent = np.frexp(abs(values.astype(np.float64)))
    # |x| is mantissa * 2^exponent with 0.5 <= mantissa < 1.
    power = exponent - 1 + ((mantissa > 0.5) if rounding == "upward" else 0)
    power = np.where(values == 0, -127, np.where(np.isinf(values), 127, power))
    expected = np.where(np.isnan(values), 255, np.clip(power, -127, 127) + 127)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("op, compute_values", [
    ("addf", np.add), ("subf", np.subtract), ("mulf", np.multiply), ("divf", np.divide),
])  # fmt: skip
def test_arithmetic_rounds_once(kind, op, compute_values, tmp_path):
    count = 1 << 15
    codes = [hash_of((count,), salt).astype(code_dtype(kind)) for salt in (1, 2)]
    # Half of the pairs have close exponents, so that sums do not absorb.
    mask = code_dtype(kind).type(0x83FF if kind == "f16" else 0x807F)
    if kind == "f32":
        mask = np.uint32(0x807FFFFF)
    one = np.ones(1, DTYPES[kind]).view(code_dtype(kind))[0]
    for part in codes:
        part[: count // 2] = part[: count // 2] & mask | one
    values = [part.view(DTYPES[kind]) for part in codes]
    kernel = elementwise(
        f"%r = arith.{op} %a, %b : tensor<{count}x{kind}>", [kind, kind], kind, count
    )
    (result,) = run(
        kernel,
        (1,),
        [("out", f"{count}x{kind}"), *[("in", to_file(kind, v)) for v in values]],
        tmp_path,
    )
    with np.errstate(all="ignore"):
        # f32 has more than twice the precision of f16 and bf16, so that rounding
        # to it first does no harm.
        wide = [v.astype(np.float32) for v in values]
        expected = compute_values(*wide).astype(DTYPES[kind])
    same_codes(kind, result, expected)
