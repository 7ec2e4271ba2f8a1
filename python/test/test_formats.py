"""The golden tensors against ml_dtypes.

`scripts/make-golden.py` computes the files value by value with rational
arithmetic; here whole arrays go through ml_dtypes' own casts. The C++ tests
compare the library with the same files, so that three implementations agree.
"""

import pathlib

import pytest

np = pytest.importorskip("numpy")
ml_dtypes = pytest.importorskip("ml_dtypes")

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "share/tile/golden"

# folder -> element type, its largest exponent, scale type, block size
FORMATS = {
    "nvfp4": (ml_dtypes.float4_e2m1fn, 2, ml_dtypes.float8_e4m3fn, 16),
    "nvfp4-two-level": (ml_dtypes.float4_e2m1fn, 2, ml_dtypes.float8_e4m3fn, 16),
    "mxfp4": (ml_dtypes.float4_e2m1fn, 2, ml_dtypes.float8_e8m0fnu, 32),
    "mxfp8-e4m3": (ml_dtypes.float8_e4m3fn, 8, ml_dtypes.float8_e8m0fnu, 32),
    "mxfp8-e5m2": (ml_dtypes.float8_e5m2, 15, ml_dtypes.float8_e8m0fnu, 32),
}


def load(folder, name):
    return np.load(GOLDEN / folder / f"{name}.npy")


def load_codes(folder):
    """One code per byte, whatever the file's packing."""
    codes = load(folder, "codes")
    if FORMATS[folder][0] is not ml_dtypes.float4_e2m1fn:
        return codes
    return np.stack([codes & 15, codes >> 4], axis=-1).reshape(16, 64)


def load_global_scale(folder):
    if folder != "nvfp4-two-level":
        return np.float64(1)
    return np.float64(load(folder, "global_scale"))


def load_scales(folder):
    """The scale of every element, in f64."""
    _, _, scale_type, block = FORMATS[folder]
    scales = load(folder, "scales").view(scale_type).astype(np.float64)
    return np.repeat(scales, block, axis=1) * load_global_scale(folder)


@pytest.mark.parametrize("folder", FORMATS)
def test_values_are_codes_times_scales(folder):
    codes = load_codes(folder).view(FORMATS[folder][0]).astype(np.float64)
    expected = (codes * load_scales(folder)).astype(np.float32)
    values = load(folder, "values")
    np.testing.assert_array_equal(values.view(np.uint32), expected.view(np.uint32))


@pytest.mark.parametrize("folder", FORMATS)
def test_codes_are_the_cast_of_the_scaled_input(folder):
    element, _, _, _ = FORMATS[folder]
    scales = load_scales(folder)
    largest = np.float64(ml_dtypes.finfo(element).max)
    # A scale of 0 has codes of 0.
    quotients = np.divide(
        load(folder, "input").astype(np.float64),
        scales,
        out=np.zeros((16, 64)),
        where=scales != 0,
    )
    expected = np.clip(quotients, -largest, largest).astype(element)
    np.testing.assert_array_equal(load_codes(folder), expected.view(np.uint8))


@pytest.mark.parametrize("folder", [f for f in FORMATS if f.startswith("nvfp4")])
def test_nvfp4_scales_are_the_cast_of_the_block_maxima(folder):
    largest = np.abs(load(folder, "input").astype(np.float64)).reshape(16, 4, 16).max(2)
    quotients = np.minimum(largest / (6 * load_global_scale(folder)), 448)
    expected = quotients.astype(ml_dtypes.float8_e4m3fn)
    np.testing.assert_array_equal(load(folder, "scales"), expected.view(np.uint8))


@pytest.mark.parametrize("folder", [f for f in FORMATS if f.startswith("mx")])
def test_mx_scales_follow_the_floor_rule(folder):
    _, max_exponent, _, _ = FORMATS[folder]
    largest = np.abs(load(folder, "input").astype(np.float64)).reshape(16, 2, 32).max(2)
    exponents = np.frexp(largest)[1] - 1 - max_exponent
    expected = np.where(largest == 0, 0, np.clip(exponents + 127, 0, 254))
    np.testing.assert_array_equal(load(folder, "scales"), expected)


def test_the_global_scale_is_the_maximum_over_2688():
    largest = np.abs(load("nvfp4-two-level", "input")).max()
    assert load("nvfp4-two-level", "global_scale") == largest / np.float32(2688)


@pytest.mark.parametrize("folder", FORMATS)
def test_the_data_use_most_codes(folder):
    # Data that use few codes would not show a wrong table.
    is_fp4 = FORMATS[folder][0] is ml_dtypes.float4_e2m1fn
    assert len(np.unique(load_codes(folder))) >= 0.9 * (16 if is_fp4 else 240)
