"""The Python package, as its users see it."""

import os
import pathlib
import re
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

tc = pytest.importorskip("tile_compiler", exc_type=ModuleNotFoundError)
ml_dtypes = pytest.importorskip("ml_dtypes")

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent

# z = alpha * x + y + bias on a matrix, a tile of BM x BN per program.
AXPY = """
!m = memref<?x?xf32, strided<[?, ?]>>
func.func @axpy(%z: !m, %x: !m, %y: !m, %alpha: f32, %bias: i32)
    attributes {tile.kernel} {
  %i = tile.program_id 0
  %j = tile.program_id 1
  %a = tile.load %x[%i, %j] : !m -> tensor<${BM}x${BN}xf32>
  %b = tile.load %y[%i, %j] : !m -> tensor<${BM}x${BN}xf32>
  %s = tensor.splat %alpha : tensor<${BM}x${BN}xf32>
  %f = arith.sitofp %bias : i32 to f32
  %t = tensor.splat %f : tensor<${BM}x${BN}xf32>
  %m = arith.mulf %a, %s : tensor<${BM}x${BN}xf32>
  %n = arith.addf %m, %b : tensor<${BM}x${BN}xf32>
  %o = arith.addf %n, %t : tensor<${BM}x${BN}xf32>
  tile.store %o, %z[%i, %j] : tensor<${BM}x${BN}xf32>, !m
  return
}
"""

# z = x, for any type of 8 or 16 bits.
COPY = """
!v = memref<?x${T}, strided<[1]>>
func.func @copy(%z: !v, %x: !v) attributes {tile.kernel} {
  %i = tile.program_id 0
  %a = tile.load %x[%i] : !v -> tensor<32x${T}>
  tile.store %a, %z[%i] : tensor<32x${T}>, !v
  return
}
"""

# Loops long enough to be interrupted.
SPIN = """
!v = memref<?xf32, strided<[1]>>
func.func @spin(%z: !v, %n: i64) attributes {tile.kernel} {
  %i = tile.program_id 0
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %a = tile.load %z[%i] : !v -> tensor<32xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%b = %a) -> (tensor<32xf32>) : i64 {
    %c = arith.addf %b, %a : tensor<32xf32>
    scf.yield %c : tensor<32xf32>
  }
  tile.store %r, %z[%i] : tensor<32xf32>, !v
  return
}
"""

DEVICES = [tc.reference(), tc.emulator()]


def name(device):
    return device.name


def hashed(*shape, seed=1):
    """Returns values that depend on every bit of their position."""
    index = np.arange(np.prod(shape), dtype=np.uint32)
    h = index * np.uint32(2654435761) ^ np.uint32(seed * 2246822519 % 2**32)
    h ^= h >> 15
    h *= np.uint32(2654435761)
    h ^= h >> 13
    return ((h % 4001).astype(np.float32) / 256 - 7.5).reshape(shape)


def expect_axpy(x, y, alpha, bias):
    return x * np.float32(alpha) + y + np.float32(bias)


@pytest.fixture(scope="module")
def compiler(tmp_path_factory):
    return tc.Compiler(directory=str(tmp_path_factory.mktemp("cache")))


@pytest.fixture(scope="module")
def axpy(compiler):
    return tc.compile(AXPY, "sm_80", constants={"BM": 16, "BN": 32}, compiler=compiler)


def copy_kernel(compiler, dtype):
    return tc.compile(COPY, "sm_80", constants={"T": dtype}, compiler=compiler)


class Dlpack:
    """Hides an array behind DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class TestPackage:
    def test_version_is_that_of_the_library(self):
        project = (SOURCE / "python" / "pyproject.toml").read_text()
        assert re.search(r'^version = "(.*)"', project, re.M)[1] == tc.__version__

    def test_targets(self):
        assert tc.targets()[0] == "sm_80"
        assert tc.target_of_compute_capability(12, 0) == "sm_120f"
        with pytest.raises(tc.TileError):
            tc.target_of_compute_capability(7, 0)

    def test_stub_names_what_the_module_has(self):
        from tile_compiler import _tile

        stub = (SOURCE / "python/tile_compiler/_tile.pyi").read_text()
        names = set(re.findall(r"^(?:class|def) (\w+)", stub, re.M))
        for module_name in names:
            assert hasattr(_tile, module_name)
        assert set(tc.__all__) <= set(dir(tc))
        for kind in (
            tc.Kernel,
            tc.Device,
            tc.Stream,
            tc.Buffer,
            tc.Compiler,
            tc.Parameter,
        ):
            body = re.search(
                rf"^class {kind.__name__}:\n((?:    .*\n|\n)*)", stub, re.M
            )[1]
            in_stub = set(re.findall(r"def (\w+)", body))
            public = {m for m in vars(kind) if not m.startswith("_")}
            assert public == {m for m in in_stub if not m.startswith("_")}

    def test_examples_of_the_documentation(self):
        import doctest

        from tile_compiler import _compile, _formats

        for module in (_compile, _formats):
            result = doctest.testmod(module)
            assert result.attempted and not result.failed


class TestCompile:
    def test_queries(self, axpy):
        assert (axpy.entry, axpy.target) == ("axpy", "sm_80")
        z, x, _, alpha, bias = axpy.parameters
        assert (z.name, z.is_array, z.is_read, z.is_written) == ("z", True, False, True)
        assert (x.is_read, x.is_written) == (True, False)
        assert (z.shape, z.strides) == ((None, None), (None, None))
        assert (alpha.name, alpha.dtype, alpha.is_array) == ("alpha", "f32", False)
        assert bias.dtype == "i32"
        assert ".entry axpy" in axpy.ptx
        assert axpy.block_threads % 32 == 0
        assert list(axpy.stages)[0] == "source" and "ptx" in axpy.stages
        assert axpy.multiplies == []
        assert "axpy" in repr(axpy)

    def test_multiplies_and_remarks(self, compiler):
        text = (SOURCE / "examples/kernels/nvfp4_linear.mlir").read_text()
        constants = {"BM": 64, "BN": 64, "BK": 128}
        for path, native in (("auto", True), ("expand", False)):
            kernel = tc.compile(
                text,
                "sm_120a",
                constants=constants,
                mma_path=path,
                compiler=compiler,
            )
            assert [m.is_native for m in kernel.multiplies] == [native]
            assert any(r.name == "scaled-mma" and r.fields for r in kernel.remarks)

    def test_tensor_maps(self, compiler):
        text = (SOURCE / "examples/kernels/nvfp4_linear_aligned.mlir").read_text()
        constants = {"KA": 64, "BM": 128, "BN": 64, "BK": 256}
        options = dict(constants=constants, compiler=compiler)
        assert tc.compile(text, "sm_100a", **options).tensor_maps == []
        kernel = tc.compile(text, "sm_100a", tma=True, **options)
        x, y = kernel.tensor_maps
        assert (x.parameter, x.argument, x.dims, x.box) == (21, 1, (0, 1), (128, 128))
        assert (y.parameter, y.argument, y.box) == (22, 2, (64, 128))
        assert (y.swizzle, y.type, y.fill) == (128, "u8", "zero")

        # Sums of small integers, exact in every order.
        rng = np.random.default_rng(3)
        x, y = (rng.integers(0, 256, (rows, 96), np.uint8) for rows in (70, 52))
        xs, ys = (np.full((rows, 12), 0x38, np.uint8) for rows in (70, 52))
        results = []
        for device in (tc.reference(), tc.emulator("sm_100a")):
            z = np.full((70, 52), np.nan, np.float32)
            kernel((1, 1), z, x, y, xs, ys, 0.5, device=device)
            results.append(z)
        assert np.array_equal(*results)

    def test_options_reach_the_compiler(self, compiler):
        def block(**options):
            constants = {"BM": 16, "BN": 32}
            return tc.compile(
                AXPY, "sm_80", constants=constants, compiler=compiler, **options
            )

        assert block(num_warps=2).block_threads == 64
        assert block(num_warps=8).block_threads == 256
        assert len(block(bindings={"bias": 3}).parameters) == 4
        fixed = block(shapes={"x": (32, None)})
        assert fixed.parameters[1].shape == (32, None)
        assert ".version 8.8" in block(ptx_version=88).ptx
        assert ".loc" in block(line_info=True).ptx

    def test_files(self, compiler, tmp_path):
        path = tmp_path / "axpy.mlir"
        path.write_text(AXPY)
        for source in (path, str(path)):
            kernel = tc.compile(
                source, "sm_80", constants={"BM": 16, "BN": 32}, compiler=compiler
            )
            assert kernel.entry == "axpy"
        with pytest.raises(tc.NotFound, match="no-such-file"):
            tc.compile("no-such-file.mlir", "sm_80")

    def test_target_of_a_device(self, compiler):
        constants = {"BM": 16, "BN": 32}
        kernel = tc.compile(
            AXPY, device=tc.emulator("sm_90"), constants=constants, compiler=compiler
        )
        assert kernel.target == "sm_90"
        assert tc.compile(AXPY, constants=constants, compiler=compiler).target

    def test_cache(self, tmp_path):
        compiler = tc.Compiler(directory=str(tmp_path))
        for _ in range(3):
            copy_kernel(compiler, "f32")
        statistics = compiler.cache_statistics
        assert (statistics["compilations"], statistics["memory_hits"]) == (1, 2)
        again = tc.Compiler(directory=str(tmp_path))
        copy_kernel(again, "f32")
        assert again.cache_statistics["disk_hits"] == 1
        assert again.cache_directory == str(tmp_path)
        assert tc.Compiler(use_disk=False).cache_directory == ""

    def test_cubin(self, axpy):
        try:
            cubin = axpy.cubin
        except tc.Unavailable as error:
            if not error.message.startswith("no ptxas found"):
                raise
            pytest.skip("there is no ptxas")
        assert cubin[:4] == b"\x7fELF"
        assert axpy.resources.registers > 0
        assert axpy.resources.threads == axpy.block_threads


class TestErrors:
    def test_diagnostics(self):
        text = (
            "func.func @f() attributes {tile.kernel} {\n  tile.nonsense\n  return\n}\n"
        )
        with pytest.raises(tc.InvalidKernel) as caught:
            tc.compile(text, "sm_80", name="bad.mlir")
        error = caught.value
        assert error.code == "invalid-kernel" and error.message
        assert error.diagnostics[0].severity == "error"
        assert error.diagnostics[0].location.line == 2
        assert "bad.mlir" in str(error)

    def test_classes(self):
        assert issubclass(tc.InvalidArgument, ValueError)
        assert issubclass(tc.OutOfMemory, MemoryError)
        for kind in tc._errors.CLASSES.values():
            assert issubclass(kind, tc.TileError)

    @pytest.mark.parametrize(
        "options, message",
        [
            ({"mma_path": "fast"}, "fast"),
            ({"num_warps": 3}, "3"),
            ({"assembler": "gas"}, "expects auto, ptxas or driver, but got 'gas'"),
            ({"constants": {"BM": 16}}, "BN"),
            ({"bindings": {"nothing": 1}}, "nothing"),
        ],
    )
    def test_options(self, options, message):
        options = {"constants": {"BM": 16, "BN": 32}, **options}
        with pytest.raises(tc.TileError, match=re.escape(message)):
            tc.compile(AXPY, "sm_80", **options)

    def test_target(self):
        with pytest.raises(tc.NotFound, match="sm_1"):
            tc.compile(AXPY, "sm_1", constants={"BM": 16, "BN": 32})


@pytest.mark.parametrize("device", DEVICES, ids=name)
class TestLaunch:
    def test_arrays_and_numbers(self, axpy, device):
        x, y = hashed(40, 50), hashed(40, 50, seed=2)
        z = np.empty_like(x)
        assert axpy((3, 2), z, x, y, 1.25, -3, device=device) is None
        np.testing.assert_array_equal(z, expect_axpy(x, y, 1.25, -3))
        # Every kind of number.
        for alpha, bias in [
            (np.float32(0.5), np.int32(4)),
            (2, np.uint8(200)),
            (np.float64(0.25), True),
            (ml_dtypes.bfloat16(1.5), np.bool_(True)),
            (np.array(0.75, np.float32), np.array(-9)),
            (ml_dtypes.float8_e4m3fn(3.0), 0),
        ]:
            axpy((3, 2), z, x, y, alpha, bias, device=device)
            np.testing.assert_array_equal(z, expect_axpy(x, y, float(alpha), int(bias)))

    def test_views(self, axpy, device):
        x = hashed(80, 150)[1::2, 2:150:3]
        y = hashed(50, 40, seed=2).T
        z = np.full((40, 100), -1, np.float32)
        axpy((3, 2), z[:, ::2], x[:, :], y, 2.0, 1, device=device)
        expected = expect_axpy(x[:, :], y[:, : x.shape[1]], 2.0, 1)
        np.testing.assert_array_equal(z[:, ::2][:, : x.shape[1]], expected)
        assert (z[:, 1::2] == -1).all()

    def test_formats(self, compiler, device):
        for dtype, kind in [
            ("f16", np.float16),
            ("bf16", ml_dtypes.bfloat16),
            ("f8E4M3FN", ml_dtypes.float8_e4m3fn),
            ("f8E5M2", ml_dtypes.float8_e5m2),
        ]:
            x = hashed(70).astype(kind)
            z = np.zeros_like(x)
            copy_kernel(compiler, dtype)(3, z, x, device=device)
            assert z.tobytes() == x.tobytes()
        scales = (np.arange(70) * 3 % 255).astype(np.uint8)
        for kind in (np.uint8, ml_dtypes.float8_e8m0fnu):
            z = np.zeros(70, np.uint8).view(kind)
            copy_kernel(compiler, "f8E8M0FNU")(3, z, scales.view(kind), device=device)
            assert z.tobytes() == scales.tobytes()
        for dtype, kind in [("i8", np.int8), ("i16", np.uint16), ("i64", np.int64)]:
            x = (hashed(70) * 8).astype(np.int64).astype(kind)
            z = np.zeros_like(x)
            copy_kernel(compiler, dtype)(3, z, x, device=device)
            np.testing.assert_array_equal(z, x)

    def test_dlpack(self, axpy, device):
        x, y = hashed(40, 50), hashed(50, 40, seed=2).T
        z = np.empty_like(x)
        axpy((3, 2), Dlpack(z), Dlpack(x), Dlpack(y), 1.5, 2, device=device)
        np.testing.assert_array_equal(z, expect_axpy(x, y, 1.5, 2))
        x.flags.writeable = False
        if np.lib.NumpyVersion(np.__version__) < "2.1.0":
            return  # it does not give read-only arrays away
        axpy((3, 2), Dlpack(z), Dlpack(x), y, 2.5, 2, device=device)
        np.testing.assert_array_equal(z, expect_axpy(x, y, 2.5, 2))
        with pytest.raises(tc.InvalidArgument, match=r"argument 0 \(z\)"):
            axpy((3, 2), Dlpack(x), z, y, 2.5, 2, device=device)

    def test_buffers(self, axpy, device):
        x, y = hashed(40, 50), hashed(40, 50, seed=2)
        buffers = [tc.Buffer(device, "f32", (40, 50)) for _ in range(3)]
        buffers[1].copy_from(x)
        buffers[2].copy_from(y)
        axpy((3, 2), *buffers, 0.5, 1, device=device)
        np.testing.assert_array_equal(buffers[0].numpy(), expect_axpy(x, y, 0.5, 1))
        assert (buffers[0].shape, buffers[0].nbytes) == ((40, 50), 8000)
        with pytest.raises(tc.InvalidArgument, match="but got"):
            buffers[0].copy_from(x.T)

    def test_streams(self, axpy, device):
        stream = tc.Stream(device)
        assert stream.device == device and stream.native_handle == 0
        x, y = hashed(40, 50), hashed(40, 50, seed=2)
        z, w = np.empty_like(x), np.empty_like(x)
        start = stream.record()
        axpy((3, 2), z, x, y, 0.5, 1, stream=stream)
        # The arrays that nobody else holds stay until the launch is complete.
        event = axpy((3, 2), w, z, y + 1, 2.0, 0, stream=stream)
        event.synchronize()
        assert event.is_complete and event.elapsed_ms(start) >= 0
        np.testing.assert_array_equal(
            w, expect_axpy(expect_axpy(x, y, 0.5, 1), y + 1, 2.0, 0)
        )
        other = tc.Stream(device)
        other.wait(event)
        other.synchronize()
        device.synchronize()
        with pytest.raises(tc.TileError):
            axpy((3, 2), z, x, y, 0.5, 1, device=device, stream=123)
        with pytest.raises(tc.InvalidArgument, match="stream expects"):
            axpy((3, 2), z, x, y, 0.5, 1, device=device, stream="main")
        others = {"reference": tc.emulator("sm_80"), "emulator": tc.reference()}
        with pytest.raises(tc.InvalidArgument, match="stream expects one of"):
            axpy((3, 2), z, x, y, 0.5, 1, device=others[device.kind], stream=stream)

    @pytest.mark.parametrize(
        "change, message",
        [
            (lambda a: a[:-1], "expects 5 arguments, but got 4"),
            (lambda a: [*a, 1], "expects 5 arguments, but got 6"),
            (lambda a: [*a[:2], a[2][::-1], *a[3:]], "argument 2 (y): expects strides"),
            (lambda a: [*a[:2], "y", *a[3:]], "argument 2 (y): expects an array of"),
            (lambda a: [*a[:3], "1", 2], "argument 3 (alpha): expects an array or a"),
            (lambda a: [*a[:2], a[2].astype(np.float64), *a[3:]], "argument 2 (y)"),
            (lambda a: [*a[:2], a[2].astype(">f4"), *a[3:]], "argument 2 (y): expects"),
            (lambda a: [*a[:2], a[2][0], *a[3:]], "argument 2 (y)"),
            (lambda a: [*a[:3], a[3], 2**40], "argument 4 (bias)"),
            (lambda a: [*a[:3], a[3], 2**70], "argument 4 (bias): expects an integer"),
            (lambda a: [*a[:3], a[3], 1.5], "argument 4 (bias)"),
            (lambda a: [*a[:3], a[0], 1], "argument 3 (alpha)"),
            (lambda a: [1, *a[1:]], "argument 0 (z)"),
        ],
    )
    def test_wrong_arguments(self, axpy, device, change, message):
        x = hashed(40, 50)
        arguments = [np.empty_like(x), x, hashed(40, 50, seed=2), 1.0, 2]
        with pytest.raises(tc.InvalidArgument, match=re.escape(message)):
            axpy((3, 2), *change(arguments), device=device)

    def test_read_only(self, axpy, device):
        x = hashed(40, 50)
        z = np.empty_like(x)
        x.flags.writeable = False
        axpy((3, 2), z, x, x, 1.0, 0, device=device)
        with pytest.raises(tc.InvalidArgument, match=r"argument 0 \(z\)"):
            axpy((3, 2), x, z, z, 1.0, 0, device=device)

    def test_grid(self, compiler, device):
        kernel = copy_kernel(compiler, "f32")
        x = hashed(64)
        for grid in (2, (2,), [2, 1], np.int64(2), (np.int32(2), 1, 1)):
            z = np.zeros_like(x)
            kernel(grid, z, x, device=device)
            np.testing.assert_array_equal(z, x)
        for grid in (0, (), (1, 1, 1, 1), "2", -1, 1.5, 2**70, None, x, x[:2]):
            with pytest.raises(tc.InvalidArgument, match="grid"):
                kernel(grid, z, x, device=device)

    def test_progress(self, axpy, device):
        x, y = hashed(40, 50), hashed(40, 50, seed=2)
        seen = []
        axpy(
            (3, 2),
            np.empty_like(x),
            x,
            y,
            1.0,
            0,
            device=device,
            progress=lambda done, total: seen.append((done, total)),
        )
        assert seen[-1] == (6, 6)

        def fail(done, total):
            raise RuntimeError("enough")

        with pytest.raises(RuntimeError, match="enough"):
            axpy((3, 2), np.empty_like(x), x, y, 1.0, 0, device=device, progress=fail)

    def test_threads(self, axpy, device):
        errors = []

        def work(seed):
            x, y = hashed(40, 50, seed=seed), hashed(40, 50, seed=seed + 1)
            z = np.empty_like(x)
            for alpha in range(5):
                axpy((3, 2), z, x, y, alpha, seed, device=device)
                if not (z == expect_axpy(x, y, alpha, seed)).all():
                    errors.append((seed, alpha))

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors


def test_unpacked_fp4_is_refused(compiler):
    kernel = copy_kernel(compiler, "!tile.f4E2M1FNx2")
    values = hashed(64).astype(ml_dtypes.float4_e2m1fn)
    pairs = tc.pack_fp4(values)
    z = np.zeros_like(pairs)
    kernel(1, z, pairs)
    np.testing.assert_array_equal(z, pairs)
    assert (tc.unpack_fp4(z).view(np.uint8) & 15 == values.view(np.uint8) & 15).all()
    with pytest.raises(tc.InvalidArgument, match=r"argument 1 \(x\).*pack_fp4"):
        kernel(1, z, values)


def test_variants_are_compiled_for_what_arguments_allow(axpy):
    x = hashed(64, 64)
    plain = axpy.ptx
    assert axpy.ptx_for(np.empty_like(x), x, x, 1.0, 0) != plain
    assert axpy.num_variants >= 2


def test_arrays_are_let_go(axpy):
    x = hashed(40, 50)
    z = np.empty_like(x)
    before = sys.getrefcount(x), sys.getrefcount(z)
    for device in DEVICES:
        stream = tc.Stream(device)
        for _ in range(20):
            axpy((3, 2), z, x, x, 1.0, 0, device=device)
            axpy((3, 2), z, Dlpack(x), x, 1.0, 0, stream=stream)
        stream.synchronize()
        del stream
    time.sleep(0.05)
    axpy((3, 2), z, x, x, 1.0, 0)
    assert (sys.getrefcount(x), sys.getrefcount(z)) == before


def run_script(body, **environment):
    """Runs a program on the kernels of this file; returns what it wrote."""
    lines = ["import numpy as np", "import tile_compiler as tc"]
    for constant in ("AXPY", "SPIN"):
        lines.append(f"{constant} = {globals()[constant]!r}")
    result = subprocess.run(
        [sys.executable, "-c", "\n".join(lines) + textwrap.dedent(body)],
        capture_output=True,
        timeout=120,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "TILE_CACHE_DISABLE": "1",
            **environment,
        },
    )
    # Not as text: that would turn the returns of a progress line into new lines.
    return result.stdout.decode(), result.stderr.decode()


class TestInterrupt:
    """In a process of its own, since a signal is for all of it."""

    def run(self, body):
        setup = """
            import os, signal, threading, time
            kernel = tc.compile(SPIN, "sm_80")
            z = np.ones(32, np.float32)
            threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            start = time.monotonic()
            """
        return run_script(textwrap.dedent(setup) + textwrap.dedent(body))

    @pytest.mark.parametrize("device", ["reference", "emulator"])
    def test_launch(self, device):
        stdout, stderr = self.run(f"""
            try:
                kernel(1, z, 10**15, device=tc.{device}())
            except KeyboardInterrupt:
                print("interrupted", time.monotonic() - start < 5)
            kernel(1, z, 3, device=tc.{device}())
            print(z[0])
            """)
        assert stdout == "interrupted True\n4.0\n", stderr

    def test_compilation(self):
        stdout, stderr = self.run("""
            options = {"constants": {"BM": 128, "BN": 128}, "num_warps": 1}
            try:
                while time.monotonic() - start < 60:
                    compiler = tc.Compiler(use_disk=False)
                    tc.compile(AXPY, "sm_80", compiler=compiler, **options)
            except KeyboardInterrupt:
                print("interrupted", time.monotonic() - start < 10)
            """)
        assert stdout == "interrupted True\n", stderr

    def test_wait(self):
        stdout, stderr = self.run("""
            stream = tc.Stream(tc.reference())
            event = kernel(1, z, 10_000_000_000, stream=stream)
            try:
                event.synchronize()
            except KeyboardInterrupt:
                print("interrupted", time.monotonic() - start < 5, flush=True)
            os._exit(0)
            """)
        assert stdout == "interrupted True\n", stderr

    def test_handlers_of_others(self):
        stdout, stderr = self.run("""
            seen = []
            signal.signal(signal.SIGINT, lambda *_: seen.append(1))
            kernel(1, z, 2_000_000, device=tc.reference())
            print(seen, z[0] > 1)
            """)
        assert stdout == "[1] True\n", stderr

    def test_progress_line(self):
        stdout, stderr = self.run("""
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            z = np.ones(32 * 400, np.float32)
            kernel(400, z, 6_000, progress=True)
            """)
        assert re.search(r"\rtile: \d+ of 400 programs", stderr)
        assert stderr.endswith("\r") and "\n" not in stderr


class TestCuda:
    """On a driver without a GPU, whose launches the emulator runs."""

    def run(self, body):
        fake = pathlib.Path(tc.__file__).parents[2] / "lib" / "libtile-fake-cuda.so"
        if not fake.exists():
            pytest.skip(f"{fake} is not built")
        setup = """
            x = np.arange(2000, dtype=np.float32).reshape(40, 50)
            y = x[::-1].copy()
            # The driver gets PTX, which is what the emulator understands.
            options = {"constants": {"BM": 16, "BN": 32}, "assembler": "driver"}
            kernel = tc.compile(AXPY, device=tc.cuda(0), **options)
            z = np.zeros_like(x)
            """
        return run_script(
            textwrap.dedent(setup) + textwrap.dedent(body),
            TILE_CUDA_LIBRARY=str(fake),
            FAKE_CUDA_DEVICES="9.0,12.0",
        )

    def test_devices(self):
        stdout, stderr = self.run("""
            print(kernel.target, tc.cuda(1).target, tc.best() == tc.cuda(0))
            print(tc.cuda(0).kind, tc.cuda(0) == tc.cuda(1), hash(tc.cuda(0)) > 0)
            try:
                tc.cuda(2)
            except tc.NotFound as error:
                print(error)
            """)
        assert stdout.startswith("sm_90a sm_120f True\ncuda False True\n"), stderr
        assert stdout.count("\n") == 3

    def test_arrays_of_the_host_are_copied(self):
        stdout, stderr = self.run("""
            kernel((3, 2), z, x, y, 0.5, 1)
            print((z == x * 0.5 + y + 1).all())
            try:
                kernel((3, 2), z, x, y, 0.5, 1, stream=tc.Stream(tc.cuda(0)))
            except tc.InvalidArgument as error:
                print("argument 0 (z)" in str(error))
            """)
        assert stdout == "True\nTrue\n", stderr

    def test_arrays_of_the_device_are_used(self):
        stdout, stderr = self.run("""
            buffers = [tc.Buffer(tc.cuda(0), "f32", (40, 50)) for _ in range(3)]
            buffers[1].copy_from(x)
            buffers[2].copy_from(y)
            print(buffers[0].__dlpack_device__())

            class Tensor:  # as another library has it
                def __init__(self, buffer):
                    self.buffer = buffer
                def __dlpack__(self, **options):
                    return self.buffer.__dlpack__(**options)
                def __dlpack_device__(self):
                    return self.buffer.__dlpack_device__()

            # Where an array is says which device runs the kernel.
            other = tc.compile(AXPY, "sm_90a", **options)
            other((3, 2), *map(Tensor, buffers), 2.0, 3)
            print((buffers[0].numpy() == x * 2 + y + 3).all())

            class Stream:
                def __init__(self, address):
                    self.cuda_stream = address

            stream = tc.Stream(tc.cuda(0))
            for alpha, given in enumerate(
                [stream, stream.native_handle, Stream(stream.native_handle)]
            ):
                event = kernel((3, 2), *buffers, alpha, 3, stream=given)
                event.synchronize()
                print((buffers[0].numpy() == x * alpha + y + 3).all())
            try:
                other((3, 2), *buffers, 2.0, 3, device=tc.reference())
            except tc.InvalidArgument as error:
                print("argument 0 (z)" in str(error))
            """)
        assert stdout == "(2, 0)\n" + "True\n" * 5, stderr


def test_buffers_by_dlpack():
    for dtype in ("i8", "i16", "i32", "i64", "f16", "f32", "f64"):
        buffer = tc.Buffer(tc.reference(), dtype, (3, 4))
        values = hashed(3, 4).astype(np.dtype(buffer.numpy().dtype))
        buffer.copy_from(values)
        view = np.from_dlpack(buffer)
        np.testing.assert_array_equal(view, values)
        del buffer
        np.testing.assert_array_equal(view, values)


@pytest.mark.parametrize(
    "dtype, name",
    [
        ("f32", "f32"),
        ("i8", "i8"),  # which is 8 bytes in NumPy
        ("float32", "f32"),
        (np.float16, "f16"),
        (np.dtype(np.int64), "i64"),
        (ml_dtypes.bfloat16, "bf16"),
        ("torch.float8_e5m2", "f8E5M2"),
    ],
)
def test_buffer_types(dtype, name):
    assert tc.Buffer(tc.reference(), dtype, (3, 4)).dtype == name


@pytest.mark.parametrize("dtype", ["f33", None, 5, complex, ml_dtypes.float4_e2m1fn])
def test_wrong_buffer_types(dtype):
    with pytest.raises(tc.InvalidArgument, match="type"):
        tc.Buffer(tc.reference(), dtype, (3, 4))


def test_arrays_that_dlpack_cannot_describe(axpy):
    class Broken(Dlpack):
        def __dlpack__(self, **options):
            raise RuntimeError("not today")

    x = hashed(40, 50)
    with pytest.raises(tc.InvalidArgument, match=r"argument 1 \(x\).*not today"):
        axpy((3, 2), np.empty_like(x), Broken(x), x, 1.0, 0)


def test_processes_that_fork(axpy):
    x = hashed(40, 50)
    z = np.empty_like(x)
    axpy((3, 2), z, x, x, 1.0, 0)
    child = os.fork()
    if not child:
        z[:] = 0
        axpy((3, 2), z, x, x, 2.0, 0)
        os._exit(0 if (z == expect_axpy(x, x, 2.0, 0)).all() else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_progress_of_a_compilation():
    class Enough(Exception):
        pass

    def fail(seconds):
        assert seconds >= 0
        raise Enough

    with pytest.raises(Enough):
        tc.compile(AXPY, "sm_80", constants={"BM": 16, "BN": 32}, progress=fail)


FORMATS = [
    ("nvfp4", {}, 0.12),
    ("nvfp4", {"two_level": True}, 0.12),
    ("mxfp4", {}, 0.2),
    ("mxfp4", {"rule": "ceil"}, 0.2),
    ("mxfp8", {}, 0.04),
    ("mxfp8", {"element": "f8E5M2"}, 0.08),
]


class TestFormats:
    @pytest.mark.parametrize("format, options, bound", FORMATS)
    def test_round_trip(self, format, options, bound):
        x = hashed(3, 5, 96) * 40
        codes, scales, global_scale = tc.quantize(x, format, **options)
        pairs = format != "mxfp8"
        assert codes.dtype == scales.dtype == np.uint8
        assert codes.shape == (3, 5, 48 if pairs else 96)
        assert scales.shape == (3, 5, 6 if format == "nvfp4" else 3)
        assert (global_scale != 1) == options.get("two_level", False)
        element = {"element": options["element"]} if "element" in options else {}
        back = tc.dequantize(codes, scales, format, global_scale, **element)
        assert back.dtype == np.float32 and back.shape == x.shape
        error = np.linalg.norm(back - x) / np.linalg.norm(x)
        assert 0 < error < bound
        # What has been through a format once stays as it is.
        again = tc.quantize(
            back,
            format,
            global_scale=global_scale,
            **{key: value for key, value in options.items() if key != "two_level"},
        )
        np.testing.assert_array_equal(
            tc.dequantize(*again[:2], format, global_scale, **element), back
        )

    def test_values_by_their_definition(self):
        x = hashed(4, 64)
        codes, scales, global_scale = tc.quantize(x, "nvfp4", two_level=True)
        values = tc.unpack_fp4(codes).astype(np.float32).reshape(4, 4, 16)
        scaled = (
            values * scales.view(ml_dtypes.float8_e4m3fn).astype(np.float32)[..., None]
        )
        np.testing.assert_allclose(
            (scaled * np.float32(global_scale)).reshape(4, 64),
            tc.dequantize(codes, scales, "nvfp4", global_scale),
            rtol=1e-6,
        )
        codes, scales, _ = tc.quantize(x, "mxfp8")
        values = codes.view(ml_dtypes.float8_e4m3fn)
        scale = scales.view(ml_dtypes.float8_e8m0fnu).astype(np.float32)
        expected = values.astype(np.float32) * np.repeat(scale, 32, axis=1)
        np.testing.assert_array_equal(tc.dequantize(values, scales, "mxfp8"), expected)

    def test_types_and_odd_rows(self):
        x = hashed(7, 33)
        expected = tc.quantize(x.astype(np.float16).astype(np.float32), "mxfp4")
        found = tc.quantize(x.astype(np.float16), "mxfp4")
        np.testing.assert_array_equal(found[0], expected[0])
        assert found[0].shape == (7, 17) and found[1].shape == (7, 2)
        assert tc.dequantize(*found[:2], "mxfp4", columns=33).shape == (7, 33)
        row = tc.quantize(list(map(float, x[0])), "mxfp4")
        np.testing.assert_array_equal(row[0], tc.quantize(x[:1], "mxfp4")[0][0])
        e5m2 = tc.quantize(x, "mxfp8", element="f8E5M2")
        np.testing.assert_array_equal(
            tc.dequantize(e5m2[0].view(ml_dtypes.float8_e5m2), e5m2[1], "mxfp8"),
            tc.dequantize(e5m2[0], e5m2[1], "mxfp8", element="f8E5M2"),
        )

    def test_errors(self):
        x = hashed(2, 32)
        for call, message in [
            (lambda: tc.quantize(x, "fp3"), "nvfp4, mxfp4 or mxfp8, but got 'fp3'"),
            (lambda: tc.quantize(x, "mxfp4", two_level=True), "global scale"),
            (lambda: tc.quantize(x, "mxfp4", rule="up"), "floor, ceil or even"),
            (lambda: tc.quantize(x, "mxfp8", element="f32"), "f8E4M3FN or f8E5M2"),
            (lambda: tc.quantize(x, "nvfp4", global_scale=-1.0), "global scale"),
            (lambda: tc.quantize(1.0, "nvfp4"), "dimension"),
            (lambda: tc.dequantize(x, x, "nvfp4"), "codes of one byte"),
            (
                lambda: tc.dequantize(
                    np.zeros((2, 16), np.uint8), np.zeros((2, 3), np.uint8), "nvfp4"
                ),
                r"scales expects shape \(2, 2\), but got \(2, 3\)",
            ),
        ]:
            with pytest.raises(tc.InvalidArgument, match=message):
                call()

    def test_pairs(self):
        codes = np.arange(30, dtype=np.uint8).reshape(2, 15) % 16
        pairs = tc.pack_fp4(codes)
        assert pairs.shape == (2, 8)
        np.testing.assert_array_equal(pairs[:, 0], codes[:, 0] | codes[:, 1] << 4)
        back = tc.unpack_fp4(pairs).view(np.uint8) & 15
        np.testing.assert_array_equal(back[:, :15], codes)
        assert (back[:, 15] == 0).all()


@pytest.mark.parametrize("device", DEVICES, ids=name)
class TestLibrary:
    OPTIONS = {"target": "sm_120a"}

    @pytest.mark.parametrize("format", ["nvfp4", "mxfp4", "mxfp8"])
    def test_linear(self, compiler, device, format):
        x, y = hashed(5, 128), hashed(40, 128, seed=2)
        two_level = {"two_level": True} if format == "nvfp4" else {}
        qx, xs, gx = tc.quantize(x, format, **two_level)
        qy, ys, gy = tc.quantize(y, format, **two_level)
        linear = getattr(tc, format + "_linear")
        alpha = gx * gy * 0.5
        z = linear(
            qx, qy, xs, ys, alpha, device=device, compiler=compiler, **self.OPTIONS
        )
        dx = tc.dequantize(qx, xs, format, gx).astype(np.float64)
        dy = tc.dequantize(qy, ys, format, gy).astype(np.float64)
        assert z.dtype == np.float32
        bound = 1e-5 * (abs(dx) @ abs(dy).T)
        assert (abs(z - 0.5 * dx @ dy.T) <= bound).all()

    def test_alpha_and_outputs(self, compiler, device):
        x, y = hashed(5, 64), hashed(24, 64, seed=2)
        qx, xs, _ = tc.quantize(x, "nvfp4")
        qy, ys, _ = tc.quantize(y, "nvfp4")
        alpha = hashed(24, seed=7)
        exact = tc.dequantize(qx, xs, "nvfp4").astype(np.float64) @ tc.dequantize(
            qy, ys, "nvfp4"
        ).T.astype(np.float64)
        for output, kind, step in [
            ("f32", np.float32, 1e-5),
            ("bf16", ml_dtypes.bfloat16, 2**-8),
            ("f16", np.float16, 2**-10),
        ]:
            out = np.zeros((5, 24), kind) if output == "f16" else None
            z = tc.nvfp4_linear(
                qx,
                qy,
                xs,
                ys,
                alpha,
                output=output,
                out=out,
                device=device,
                compiler=compiler,
                **self.OPTIONS,
            )
            assert z.dtype == kind and (out is None or z is out)
            np.testing.assert_allclose(
                z.astype(np.float64), exact * alpha, rtol=step, atol=1e-2
            )

    @pytest.mark.parametrize("format", ["nvfp4", "mxfp4"])
    def test_w4a16(self, compiler, device, format):
        x = hashed(5, 64).astype(ml_dtypes.bfloat16)
        qy, ys, _ = tc.quantize(hashed(24, 64, seed=2), format)
        z = tc.w4a16_linear(
            x, qy, ys, format=format, device=device, compiler=compiler, **self.OPTIONS
        )
        dy = tc.dequantize(qy, ys, format).astype(np.float64)
        np.testing.assert_allclose(z, x.astype(np.float64) @ dy.T, rtol=1e-4, atol=1e-2)

    def test_quantizers(self, compiler, device):
        x = hashed(6, 96)
        options = {"device": device, "compiler": compiler, **self.OPTIONS}
        codes, scales = tc.quantize_nvfp4(x, 1.0, **options)
        expected = tc.quantize(x, "nvfp4")
        np.testing.assert_array_equal(codes, expected[0])
        np.testing.assert_array_equal(scales, expected[1])
        for kernel, format in [
            (tc.quantize_mxfp4, "mxfp4"),
            (tc.quantize_mxfp8, "mxfp8"),
        ]:
            codes, scales = kernel(x, **options)
            back = tc.library.dequantize(codes, scales, format, **options)
            np.testing.assert_array_equal(back, tc.dequantize(codes, scales, format))
            error = np.linalg.norm(back - x) / np.linalg.norm(x)
            assert 0 < error < (0.25 if format == "mxfp4" else 0.05)

    def test_names_and_errors(self, compiler, device):
        assert {"nvfp4_linear", "quantize_nvfp4", "dequantize"} <= set(
            tc.kernel_names()
        )
        assert "mmaf_scaled" in tc.kernel_text("nvfp4_linear")
        with pytest.raises(tc.NotFound):
            tc.kernel_text("nvfp3_linear")
        kernel, grid = tc.library.linear_kernel(
            "nvfp4_linear", m=5, n=24, k=64, compiler=compiler, **self.OPTIONS
        )
        assert kernel.entry == "nvfp4_linear" and len(grid) == 3
        codes = np.zeros((5, 32), np.uint8)
        with pytest.raises(tc.InvalidArgument, match="x expects an array of 2"):
            tc.nvfp4_linear(codes[0], codes, codes, codes)
        with pytest.raises(tc.InvalidArgument, match="x expects .* but got list"):
            tc.nvfp4_linear(codes.tolist(), codes, codes, codes)
        with pytest.raises(tc.InvalidArgument):
            tc.nvfp4_linear(codes, codes, codes[:, :3], codes[:, :4], device=device)
        # What does not belong together comes before a promise that it breaks.
        weights = np.zeros((33, 7), np.uint8)
        with pytest.raises(tc.InvalidArgument, match=r"argument 2 \(y\): .* K/2 with"):
            tc.nvfp4_linear(
                codes, weights, codes[:, :4], weights[:, :4], **self.OPTIONS
            )


def test_library_in_a_stream(compiler):
    qx, xs, _ = tc.quantize(hashed(5, 64), "nvfp4")
    qy, ys, _ = tc.quantize(hashed(24, 64, seed=2), "nvfp4")
    stream = tc.Stream(tc.emulator("sm_120a"))
    z = tc.nvfp4_linear(
        qx, qy, xs, ys, output=np.float32, stream=stream, compiler=compiler
    )
    stream.synchronize()
    exact = tc.dequantize(qx, xs, "nvfp4") @ tc.dequantize(qy, ys, "nvfp4").T
    np.testing.assert_allclose(z, exact, rtol=1e-5, atol=1e-2)


class TestTorch:
    def test_tensors(self, axpy):
        torch = pytest.importorskip("torch")
        x, y = torch.from_numpy(hashed(40, 50)), torch.from_numpy(hashed(50, 40)).T
        z = torch.empty(40, 50)
        axpy((3, 2), z, x.requires_grad_(), y, 1.5, 2)
        expected = expect_axpy(x.detach().numpy(), y.numpy(), 1.5, 2)
        np.testing.assert_array_equal(z.numpy(), expected)
        qx, xs, _ = tc.quantize(torch.from_numpy(hashed(40, 64)), "mxfp8")
        result = tc.mxfp8_linear(
            torch.from_numpy(qx), qx, torch.from_numpy(xs), xs, target="sm_80"
        )
        assert isinstance(result, torch.Tensor) and result.shape == (40, 40)

    def test_fp8(self, compiler):
        torch = pytest.importorskip("torch")
        if not hasattr(torch, "float8_e4m3fn"):
            pytest.skip("this PyTorch has no FP8")
        x = torch.from_numpy(hashed(70)).to(torch.float8_e4m3fn)
        z = torch.zeros_like(x)
        copy_kernel(compiler, "f8E4M3FN")(3, z, x)
        assert (z.view(torch.uint8) == x.view(torch.uint8)).all()

    def test_interface(self):
        """The part of PyTorch's interface that is used, FP8 included."""
        stdout, stderr = run_script("""
            import sys, types
            import ml_dtypes

            class Tensor:
                def __init__(self, array, dtype, kind="cpu"):
                    self.array = array
                    self.dtype = type("dtype", (), {"__str__": lambda _: dtype})()
                    self.device = types.SimpleNamespace(type=kind, index=0)
                    self.shape = array.shape

                def data_ptr(self):
                    return self.array.ctypes.data

                def stride(self):
                    size = self.array.itemsize
                    return tuple(stride // size for stride in self.array.strides)

            Tensor.__module__ = "torch"
            sys.modules["torch"] = types.SimpleNamespace(Tensor=Tensor)
            kernel = tc.compile(
                '''
                !m = memref<?x?xf8E4M3FN, strided<[?, ?]>>
                func.func @copy(%z: !m, %x: !m) attributes {tile.kernel} {
                  %i = tile.program_id 0
                  %a = tile.load %x[%i, %i] : !m -> tensor<8x16xf8E4M3FN>
                  tile.store %a, %z[%i, %i] : tensor<8x16xf8E4M3FN>, !m
                  return
                }''',
                "sm_90",
            )
            x = np.arange(60).astype(ml_dtypes.float8_e4m3fn).reshape(12, 5).T
            z = np.zeros((5, 12), ml_dtypes.float8_e4m3fn)
            name = "torch.float8_e4m3fn"
            kernel(1, Tensor(z, name), Tensor(x, name))
            print(z.tobytes() == x.tobytes())
            for wrong in (Tensor(x, "torch.complex64"), Tensor(x, name, "xpu")):
                try:
                    kernel(1, Tensor(z, name), wrong)
                except tc.InvalidArgument as error:
                    print(str(error).startswith("argument 1 (x): expects "))
            """)
        assert stdout == "True\n" * 3, stderr


def test_unknown_option():
    with pytest.raises(TypeError, match="no option 'num_warp' .* 'num_warps'"):
        tc.compile("func.func private @f()", "sm_80", num_warp=4)
    with pytest.raises(TypeError, match="no option 'quickly' .*; device, entry, "):
        tc.library.linear_kernel("nvfp4_linear", m=16, n=16, k=64, quickly=True)
