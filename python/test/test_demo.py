"""Runs what scripts/demo runs once everything is built."""

import pathlib
import re
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent


def test_demo_compiles_runs_and_compares():
    build = pathlib.Path(shutil.which("tile-run")).parent.parent
    result = subprocess.run(
        [sys.executable, SOURCE / "scripts" / "demo.py", build],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    text = result.stdout
    for target, path, instruction in [
        ("sm_80", "expand", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"),
        ("sm_90", "expand", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"),
        ("sm_100a", "native", "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.block16"),
        ("sm_120f", "native", "kind::mxf4nvf4.block_scale.scale_vec::4X"),
    ]:
        section = text.split(f"\n  {target} ")[1].split("\n\n")[0]
        assert f"path       {path}: " in section
        assert instruction in section
    if "ran on the GPU" not in text:
        for target in ("sm_80", "sm_90", "sm_100a", "sm_120f"):
            assert re.search(rf"\n  {target} +on the emulator.*: The result is right", text)
    assert "values that are not finite           0\n" in text
    assert text.endswith("The result is right: every value is within the bound.\n")
