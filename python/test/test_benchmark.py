"""The arithmetic of benchmark/, and what it does without a GPU."""

import ctypes
import pathlib
import shutil
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(SOURCE / "benchmark"))

import cuda_driver
import gpu
import layers
import peers
import sass_stats
import tensor_peers
import traffic

NVFP4 = layers.LAYERS["NVFP4"]
W4A16 = layers.LAYERS["bf16 x NVFP4"]


# Layers -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind, dtype",
    [
        ("e2m1", ml_dtypes.float4_e2m1fn),
        ("e4m3", ml_dtypes.float8_e4m3fn),
        ("ue8m0", ml_dtypes.float8_e8m0fnu),
        ("bf16", ml_dtypes.bfloat16),
    ],
)
def test_decode(kind, dtype):
    count = {"e2m1": 16, "bf16": 1 << 16}.get(kind, 256)
    codes = np.arange(count, dtype=np.uint16 if kind == "bf16" else np.uint8)
    with np.errstate(invalid="ignore"):
        expected = codes.view(dtype).astype(np.float64)
    np.testing.assert_array_equal(layers.decode(kind, codes), expected)


@pytest.mark.parametrize("name", layers.LAYERS)
def test_data_fill_what_a_layer_reads(name):
    layer, shape = layers.LAYERS[name], (3, 5, 512)
    arrays, z = layers.make_data(layer, *shape)
    sizes = {name: array.nbytes for name, array in arrays.items()}
    assert sizes == layers.stored_bytes(layer, shape)
    assert {n: a.shape[1] for n, a in arrays.items()} == layers.widths(layer, 512)
    assert z.shape == (3, 5) and len(np.unique(z)) > 7


@pytest.mark.parametrize("name", layers.LAYERS)
def test_files_without_numpy_are_npy_files(tmp_path, name):
    layer, shape = layers.LAYERS[name], (3, 5, 512)
    paths = layers.save_any_data(layer, shape, tmp_path)
    arrays, _ = layers.make_data(layer, *shape)
    assert paths.keys() == arrays.keys()
    for argument, path in paths.items():
        loaded = np.load(path)
        assert loaded.shape == arrays[argument].shape
        assert loaded.dtype == arrays[argument].dtype


def test_arguments_of_our_entry():
    arguments = layers.entry_arguments(W4A16, (16, 32, 256))
    assert arguments == [
        *[("array", "z"), ("i64", 16), ("i64", 32), ("i64", 32)],
        *[("array", "x"), ("i64", 16), ("i64", 256), ("i64", 256)],
        *[("array", "y"), ("i64", 32), ("i64", 128), ("i64", 128)],
        *[("array", "ys"), ("i64", 32), ("i64", 16), ("i64", 16)],
        ("f32", 1),
    ]


def test_arguments_of_tritons_entry():
    arguments = layers.triton_arguments(W4A16, (16, 32, 256))
    assert arguments[:5] == [
        *[("array", "x"), ("array", "y"), ("i64", 0), ("array", "ys"), ("array", "z")]
    ]
    assert [v for _, v in arguments[5:13]] == [16, 32, 256, 256, 128, 0, 16, 32]
    assert arguments[13:] == [("i64", 0), ("i64", 0)]


def test_counters_per_step():
    few = {"a": 10, "b": {"c": 1, "d": 5}, "e": 0.5}
    many = {"a": 30, "b": {"c": 5, "d": 5, "new": 2}, "e": 0.25}
    assert layers.per_step(few, many, 4) == {
        "a": 5,
        "b": {"c": 1, "d": 0, "new": 0.5},
    }


def test_a_kernel_runs_on_the_emulator(tmp_path):
    config = layers.Config(16, 32, 64, 1)
    ptx = tmp_path / "kernel.ptx"
    launch = layers.compile_layer(NVFP4, "sm_80", config, ptx)
    assert launch["entry"] == "nvfp4_linear_aligned" and launch["block"] == 32
    counters = layers.emulate(NVFP4, config, (16, 32, 256), ptx, tmp_path)
    assert traffic.count_products(counters["mma"]) == 16 * 32 * 256


@pytest.mark.parametrize(
    "name, tile, count",
    [
        ("NVFP4", "128x256x256", 4),
        ("NVFP4", "64x128x256", 4),
        ("NVFP4", "256x512x64", 4),
        ("MXFP8", "128x256x128", 4),
        ("FP8 x FP4", "16x128x160", 5),
        ("bf16 x NVFP4", "128x128x64", 4),
    ],
)
def test_multiplies_in_tensor_memory(name, tile, count):
    config = layers.Config.parse(tile, 4)
    assert layers.count_tensor_multiplies(layers.LAYERS[name], config) == count


def test_remarks():
    text = (
        "k.mlir:4:10: remark: [Passed] software-pipeline | Category:tile-a | Function=k "
        "| num-stages=4, shared-bytes=1024\n  %a = b\n"
        'k.mlir:5:1: remark: [Missed] copy-tensor | Function=k | Reason="no, c=1"\n'
    )
    first, second = layers.parse_remarks(text)
    assert first[0] == "software-pipeline" and second[0] == "copy-tensor"
    assert first[1]["num-stages"] == "4" and first[1]["shared-bytes"] == "1024"


# Traffic ----------------------------------------------------------------------


def test_events_of_a_trace():
    trace = """
0,0,0:0 k.ptx:10: cp.async.cg.shared.global [%rd1], [%rd2], 16;
0,0,0:0 k.ptx:11: cp.async.commit_group;
  %r1 = 4
0,0,0:0 k.ptx:12: cp.async.wait_group 2;
0,0,0:0 k.ptx:13: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1}, {%f2};
"""
    events = [event for event, _ in traffic.parse_trace(trace)]
    assert events == ["cg", "commit_group", "wait_group", "mma"]
    assert list(traffic.parse_trace(trace))[2] == ("wait_group", "2")


def test_copiers_of_a_trace(monkeypatch):
    copy = "cp.async.cg.shared.global [%rd1], [%rd2], 16;\n"
    commit, wait = "cp.async.commit_group;\n", "cp.async.wait_group {};\n"
    text = (copy + commit) * 2
    for _ in range(traffic.STEPS - 2):
        text += copy + commit + wait.format(2)
    good = text + wait.format(1) + wait.format(0) + "tcgen05.mma.x [%r1];\n"
    config = layers.Config(128, 256, 256, 8, 4)
    for trace, faults in [(good, 0), (good.replace("group 2", "group 1"), 6)]:
        monkeypatch.setattr(
            traffic,
            "run",
            lambda *_, trace=trace: subprocess.CompletedProcess([], 0, "", trace),
        )
        assert len(traffic.report_copiers(NVFP4, "sm_100a", config)) == faults


# Peers ------------------------------------------------------------------------


def make_figure(mma, others, stack=0, products=2048, k=64):
    return peers.Figure(
        layers.Config(128, 128, k, 4, 3),
        registers=200,
        stack=stack,
        counts={"mma": mma, "alu": others},
        products=mma * products,
        mmas=mma,
    )


def test_figures_compare_by_products():
    # Half as many products per MMA: twice the cost.
    ours, theirs = make_figure(64, 64, products=4096), make_figure(64, 64)
    assert ours.per_mma(4096) == 2 and theirs.per_mma(4096) == 4
    assert theirs.per_mma(4096, ("alu",)) == 2
    assert ours.rank() < theirs.rank()


def test_spills_rank_behind_everything():
    assert make_figure(64, 600).rank() < make_figure(64, 64, stack=8).rank()


def test_tables():
    row = peers.Row(NVFP4, "sm_80", (128, 128))
    other = peers.Row(NVFP4, "sm_89", (128, 128))
    figures = {
        row: (make_figure(64, 64), make_figure(64, 128, stack=16)),
        other: (make_figure(64, 64), peers.Figure(error="not supported")),
    }
    figures[row][0].counters = {"instructions": {"issued": 1536}, "shared": {}}
    summary = peers.format_summary(figures).splitlines()
    assert summary[0] == "| layer | tile | sm_80 | sm_89 | sm_90a | sm_120a |"
    assert summary[2] == r"| NVFP4 | 128×128 | **2.00** / 3.00\* | 2.00 / – |  |  |"
    table = peers.format_table(figures).splitlines()
    assert len(table) == 6 and len({line.count("|") for line in table}) == 1
    # 512 MMAs of the block in a step of K.
    assert "| 64, 4 | 200 | 0 | 2.00 | 1.00 | 0.00 | 0.00 | 0.00 | 3.00 |" in table[2]
    assert "refused" in table[5]
    assert peers.count_wins(figures) == (1, 1)


def test_a_figure_survives_a_file(tmp_path):
    figure = make_figure(64, 64)
    figure.save(tmp_path / "figure.json")
    assert peers.Figure.load(tmp_path / "figure.json") == figure
    refused = peers.Figure(error="no")
    refused.save(tmp_path / "refused.json")
    assert peers.Figure.load(tmp_path / "refused.json") == refused


def test_a_table_is_replaced_between_its_markers(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("a\n<!-- generated: t -->\nold\n<!-- end of generated -->\nb\n")
    peers.replace_between(page, "t", r"| \* |")
    assert page.read_text() == (
        "a\n<!-- generated: t -->\n| \\* |\n<!-- end of generated -->\nb\n"
    )
    with pytest.raises(SystemExit, match="no table 'u'"):
        peers.replace_between(page, "u", "")


def test_loops_in_tensor_memory_compare():
    # 8 warps: an issuer and four copiers, or all in one loop.
    ours = tensor_peers.Loop(256, 8, 59, 0, 4, 92, 100)
    theirs = tensor_peers.Loop(256, 8, 230, 0, 4, 92, 0, everybody=True)
    unknown = tensor_peers.Loop(128, 0, 255, 0, 4, 92, 100)
    assert (ours.block, theirs.block) == (123, 184)
    assert ours.rank() < theirs.rank() and unknown.rank() == (False, 23)
    spilled = tensor_peers.Loop(256, 8, 59, 8, 4, 4, 4)
    assert theirs.rank() < spilled.rank()
    lines = [
        tensor_peers.format_line(NVFP4, (128, 256), who, loop)
        for who, loop in [("a", ours), ("b", theirs), ("c", unknown), ("d", None)]
    ]
    assert (
        lines[0] == "| NVFP4 | 128×256 | a | 256 | 8 | 59 | 0 | 23.00 | 25.00 | 123 |"
    )
    assert lines[1].endswith("| 23.00 | – | 184 |")
    assert lines[2].endswith("| 128 | – | 255 | 0 | 23.00 | – | – |")
    assert len({line.count("|") for line in lines}) == 1


def test_limits_of_shared_memory():
    limits = layers.read_shared_limits()
    assert limits["sm_80"] == 166912 and limits["sm_120a"] == 101376
    assert peers.TARGETS.keys() <= limits.keys()


# The GPU ----------------------------------------------------------------------


def test_bytes_and_operations_of_a_shape():
    shape = gpu.Shape("NVFP4", 1, 4096, 4096)
    assert shape.operations == 2 * 4096 * 4096
    weights = 4096 * 4096 // 2 + 4096 * 4096 // 16
    assert shape.bytes == weights + 4096 // 2 + 4096 // 16 + 4 * 4096


def test_shares():
    peaks = gpu.find_peaks("NVIDIA H200")
    assert peaks == (989e12, 4.8e12)
    assert gpu.find_peaks("NVIDIA H100 PCIe") == (756e12, 2.0e12)
    assert gpu.find_peaks("something") is None
    small = gpu.Shape("bf16 x NVFP4", 1, 8192, 8192)
    assert gpu.find_share(small, small.bytes / 4.8e12, peaks) == ("memory", 1)
    large = gpu.Shape("bf16 x NVFP4", 4096, 8192, 8192)
    bound, share = gpu.find_share(large, 2 * large.operations / 989e12, peaks)
    assert bound == "tensor" and share == pytest.approx(0.5)
    row = gpu.format_row(large, "ours", "a", 1e-3, peaks)
    assert "| 1000.0 | 550 |" in row and "56 % of tensor" in row


def test_arguments_are_what_an_entry_declares(tmp_path):
    config = layers.Config(16, 32, 64, 1)
    ptx = tmp_path / "kernel.ptx"
    layers.compile_layer(NVFP4, "sm_90a", config, ptx)
    text = sass_stats.call([layers.find_program("ptx-run"), ptx, "--list"])
    sizes = [int(line.split(", ")[1].split()[0]) for line in text.splitlines()[1:]]
    addresses = {name: 1 << 40 for name in ("z", "x", "y", "xs", "ys")}
    arguments = gpu.make_arguments("ours", NVFP4, (16, 32, 256), addresses)
    assert [ctypes.sizeof(a) for a in arguments] == sizes
    assert arguments[0].value == 1 << 40 and arguments[1].value == 16


def test_every_choice_fits_its_shapes():
    for m, choices in gpu.CHOICES.items():
        for choice in choices:
            config = gpu.parse_choice(choice)
            assert config.m >= min(m, 64) and layers.KA % config.k == 0
            assert all(size % config.n == 0 == size % config.k for size in gpu.SIZES)


class FakeDriver:
    """Memory of the device as NumPy arrays."""

    def __init__(self):
        self.memory = {}

    def upload(self, array):
        address = self.allocate(array.nbytes)
        self.memory[address][:] = array.view(np.uint8).reshape(-1)
        return address

    def allocate(self, size):
        address = (len(self.memory) + 1) << 32
        self.memory[address] = np.zeros(size, np.uint8)
        return address

    def download(self, address, array):
        size = array.nbytes
        array.view(np.uint8).reshape(-1)[:] = self.memory[address][:size]


@pytest.mark.parametrize("name", gpu.LAYERS)
def test_results_are_checked(name):
    driver = FakeDriver()
    arrays = gpu.Arrays(driver, gpu.Shape(name, 5, 12, 256), 2)
    assert len(arrays.copies) == 2
    x = arrays.values("x", np.arange(5))
    y = arrays.values("y", np.arange(12))
    assert x.shape == (5, 256) and abs(x).max() > 1
    z = (x @ y.T).astype(np.float32)
    memory = driver.memory[arrays.z]
    memory[: z.nbytes] = z.view(np.uint8).reshape(-1)
    arrays.check("right")
    memory[:4] = 0xFF
    with pytest.raises(sass_stats.ToolError, match="wrong: 1 of 60"):
        arrays.check("wrong")


@pytest.fixture
def prepared(tmp_path, monkeypatch, capsys):
    """A folder with two small kernels of ours."""
    try:
        sass_stats.find_tool("ptxas")
    except sass_stats.ToolError:
        pytest.skip("no ptxas")
    monkeypatch.setattr(gpu, "CHOICES", {16: ["16x32x64:2"]})
    monkeypatch.setattr(gpu, "SIZES", (256,))
    manifest = gpu.prepare("sm_90a", tmp_path / "out", None)
    assert [m["layer"] for m in manifest] == list(gpu.LAYERS)
    assert "2 kernels of ours agree" in capsys.readouterr().out
    return tmp_path / "out"


def test_preparing_assembles(prepared):
    cubins = list(prepared.glob("*.cubin"))
    assert len(cubins) == 2
    assert all(path.read_bytes()[:4] == b"\x7fELF" for path in cubins)


@pytest.fixture
def fake_driver(tmp_path, monkeypatch):
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("c++")
    if not compiler:
        pytest.skip("no C compiler")
    library = tmp_path / "libcuda.so"
    source = pathlib.Path(__file__).parent / "fake_cuda.c"
    command = [compiler, "-x", "c", "-shared", "-fPIC", "-o", library, source]
    subprocess.run(command, check=True)
    monkeypatch.setattr(cuda_driver, "LIBRARY", str(library))


def test_a_gpu_that_computes_nothing_is_found(prepared, fake_driver):
    with pytest.raises(sass_stats.ToolError, match="sampled differ"):
        gpu.run(prepared, 3)


def test_all_but_the_launches(prepared, fake_driver, monkeypatch, capsys):
    monkeypatch.setattr(gpu.Arrays, "check", lambda self, what: self.read_z())
    monkeypatch.setattr(gpu, "time_cublas", lambda *_: None)
    gpu.run(prepared, 3)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("NVIDIA H200, sm_90: medians of 3")
    rows = [line.split(" | ") for line in lines if line.startswith("| ")][1:]
    assert [row[0] for row in rows] == ["| NVFP4", "| bf16 x NVFP4"]
    # 2.5 ms of a graph of 64 launches.
    assert all(row[5] == "39.1" for row in rows)


def test_no_driver_is_an_error(prepared, monkeypatch):
    monkeypatch.setattr(cuda_driver, "LIBRARY", "libno-such-driver.so.1")
    with pytest.raises(cuda_driver.CudaError, match="no CUDA driver"):
        gpu.run(prepared, 3)


def test_cubins_of_another_target_are_an_error(prepared, fake_driver):
    manifest = prepared / "manifest.json"
    manifest.write_text(manifest.read_text().replace("sm_90a", "sm_80"))
    with pytest.raises(SystemExit, match="cubins are for sm_80, NVIDIA H200 is sm_90"):
        gpu.run(prepared, 3)
