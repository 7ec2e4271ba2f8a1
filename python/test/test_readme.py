"""Runs what README.md shows, as a reader would."""

import pathlib
import re
import subprocess
import sys

import numpy as np

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent


def read_blocks(language):
    text = (SOURCE / "README.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


def run(command, folder):
    """Runs a shell command of the README; the tools are on PATH."""
    command = command.replace("build/bin/", "")
    command = command.replace(".venv/bin/python", sys.executable)
    command = command.replace("examples/", f"{SOURCE}/examples/")
    result = subprocess.run(
        ["bash", "-ec", command], cwd=folder, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return result


def test_first_kernel(tmp_path):
    (kernel,) = read_blocks("mlir")
    (tmp_path / "scale.mlir").write_text(kernel)
    # On the reference device; then on the emulator, from the kernel and from PTX.
    first, emulator = [b for b in read_blocks("sh") if "scale.mlir" in b]
    run(first, tmp_path)
    x = np.load(tmp_path / "x.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "z.npy"), 2 * x)
    assert ".target sm_80" in (tmp_path / "scale.ptx").read_text()
    for command in emulator.replace("\\\n", "").splitlines():
        (tmp_path / "z.npy").unlink(missing_ok=True)
        output = run(command, tmp_path).stdout
        if "--list" in command:
            assert output.startswith("scale: ")
        else:
            np.testing.assert_array_equal(np.load(tmp_path / "z.npy"), 2 * x)


def test_lowering_steps(tmp_path):
    # The blocks below that heading, in order; each command is shown alone.
    decide, remark, layouts, stages = [
        b
        for b in read_blocks("sh")
        if "examples/kernels/" in b and "_aligned" not in b
    ]
    assert 'path = "expand"' in run(decide, tmp_path).stdout
    errors = run(remark, tmp_path).stderr.replace('"', "")
    assert "path=expand" in errors and "Reason=" in errors
    assert "lane" in run(layouts, tmp_path).stdout
    run(stages, tmp_path)
    assert len(list((tmp_path / "stages").iterdir())) == 5
    assert "block_scale" in (tmp_path / "linear.ptx").read_text()


def test_promises(tmp_path):
    (command,) = [b for b in read_blocks("sh") if "_aligned" in b]
    run(command, tmp_path)
    text = (tmp_path / "aligned.ptx").read_text()
    assert "ld.global" not in text
    # Once in the loop, and once in front of it for each stage but one.
    stages = text.count("cp.async.commit_group")
    pieces = re.findall(r"cp\.async\.c[ag]\..*?, (\d+),", text)
    assert pieces.count("16") == 4 * stages
    assert pieces.count("4") == 2 * stages
    run(command.replace("_aligned", "").replace("-DKA=64 ", ""), tmp_path)
    narrow = re.findall(r"ld\.global\S*", (tmp_path / "aligned.ptx").read_text())
    assert set(narrow) == {"ld.global.b8"} and len(narrow) == 152


def test_every_linked_file_exists():
    for name in ("README.md", "CONTRIBUTING.md"):
        text = (SOURCE / name).read_text()
        for link in re.findall(r"\]\(([^):#]+)\)", text):
            assert (SOURCE / link).exists(), f"{name} links {link}"
