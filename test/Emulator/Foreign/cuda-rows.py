"""nvcc: softmax and layer norm, one row per block."""

# RUN: %numpy-python %s

from check import *

PTX = "cuda/rows.sm_80.ptx"


def test_softmax():
    for columns in (5, 100, 333):
        x = 4 * normals(1, (3, columns))
        (y,) = run(PTX, "softmax", 3, 96, x, out(x.shape, "f4"), i32(columns))
        e = np.exp(x.astype("f8") - x.max(axis=1, keepdims=True))
        close(y, e / e.sum(axis=1, keepdims=True), 4e-6, what=f"{columns} columns")


def test_layer_norm():
    for columns in (7, 96, 250):
        x = 3 * normals(2, (4, columns)) + 10
        w, b = normals(3, columns), normals(4, columns)
        (y,) = run(
            PTX,
            "layer_norm",
            4,
            64,
            x,
            w,
            b,
            out(x.shape, "f4"),
            i32(columns),
            f32(1e-5),
        )
        x = x.astype("f8")
        d = x - x.mean(axis=1, keepdims=True)
        scale = 1 / np.sqrt((d * d).mean(axis=1, keepdims=True) + np.float32(1e-5))
        close(y, d * scale * w + b, 1e-5, 1e-5, f"{columns} columns")


main()
