"""Triton: softmax and layer norm."""

# RUN: %numpy-python %s

from check import *


def test_softmax():
    for name, columns, stride in (("sm_80", 300, 311), ("sm_120a", 1000, 1008)):
        x = np.full((3, stride), np.nan, "f4")
        x[:, :columns] = 4 * normals(1, (3, columns))
        before = np.full((3, stride), 77, "f4")
        (y,) = run_triton(
            f"triton/rows.softmax.{name}.ptx",
            3,
            x,
            inout(before),
            i32(columns),
            i32(stride),
        )
        v = x[:, :columns].astype("f8")
        e = np.exp(v - v.max(axis=1, keepdims=True))
        close(y[:, :columns], e / e.sum(axis=1, keepdims=True), 4e-6, what=name)
        equal(y[:, columns:], before[:, columns:], name)


def test_layer_norm():
    for name, columns in (("sm_80", 613), ("sm_90a", 640)):
        x = to_bf16(3 * normals(2, (4, columns)) + 10)
        w, b = normals(3, columns), normals(4, columns)
        (y,) = run_triton(
            f"triton/rows.layer-norm.{name}.ptx",
            4,
            x,
            w,
            b,
            out(x.shape, "u2"),
            i32(columns),
            f32(1e-5),
        )
        v = from_bf16(x).astype("f8")
        d = v - v.mean(axis=1, keepdims=True)
        right = d / np.sqrt((d * d).mean(axis=1, keepdims=True) + np.float32(1e-5))
        close(from_bf16(y), right * w + b, 2.0**-8, 1e-4, name)


main()
