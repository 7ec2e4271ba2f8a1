"""A linear layer on quantised weights.

    pip install ./python numpy
    python examples/python/linear.py [DEVICE]

DEVICE is best (the default), reference, emulator, emulator:TARGET or cuda:N. The
program quantises the weights and activations of a layer to NVFP4, compiles a kernel for
it, runs that and compares with arithmetic in f64.
"""

import sys

import numpy as np

import tile_compiler as tc

# The extents of z[M,N] = x[M,K] . y[N,K]^T.
M, N, K = 24, 96, 512


def find_device(name):
    if name == "best":
        return tc.best()
    if name == "reference":
        return tc.reference()
    kind, _, rest = name.partition(":")
    if kind == "emulator":
        return tc.emulator(rest or "sm_120a")
    if kind == "cuda" and (rest or "0").isdecimal():
        return tc.cuda(int(rest or "0"))
    raise tc.InvalidArgument(
        "expects best, reference, emulator, emulator:TARGET or cuda:N, "
        f"but got '{name}'"
    )


def main():
    device = find_device(sys.argv[1] if len(sys.argv) > 1 else "best")
    random = np.random.default_rng(1)

    # Done once, when a model is loaded.
    weights = random.normal(0, 0.02, (N, K)).astype(np.float32)
    y, ys, y_scale = tc.quantize(weights, "nvfp4", two_level=True)
    kernel, grid = tc.library.linear_kernel(
        "nvfp4_linear", m=M, n=N, k=K, device=device
    )

    # Done for each input.
    activations = random.normal(0, 1, (M, K)).astype(np.float32)
    x, xs, x_scale = tc.quantize(activations, "nvfp4", two_level=True)
    z = np.empty((M, N), np.float32)
    alpha = np.float32(x_scale * y_scale)
    kernel(grid, z, x, y, xs, ys, float(alpha), device=device)

    print(f"device: {device.name}\ntarget: {kernel.target}")
    for multiply in kernel.multiplies:
        path = "native" if multiply.is_native else "expanded"
        print(f"path: {path}, {multiply.atom}: {multiply.reason}")

    # The values that were multiplied, without the global scales in alpha.
    x, y = (
        tc.dequantize(codes, scales, "nvfp4").astype(np.float64)
        for codes, scales in ((x, xs), (y, ys))
    )
    error = np.abs(z - float(alpha) * (x @ y.T))
    units = error / (2.0**-24 * float(alpha) * (np.abs(x) @ np.abs(y).T))
    # docs/numerics.md: so many times 2^-24 of the sum of magnitudes, and one more
    # for the product with alpha.
    bound = 9 / 8 * K + 8 + 1
    if not (units <= bound).all():
        return f"linear: error: z differs from f64 by {units.max():.3g} units"
    print(f"largest error: {units.max():.3g} units, allowed: {bound:.0f}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except tc.TileError as error:
        sys.exit(f"linear: error: {error}")
