"""Runs the programs that README.md and docs/jit.md show."""

import pathlib
import re

import pytest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent


def read_blocks(name, language):
    text = (SOURCE / name).read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


@pytest.mark.parametrize("name", ["README.md", "docs/jit.md"])
def test_python(name):
    (program,) = read_blocks(name, "python")
    names = {}
    exec(program, names)
    # The same layer in the values that the codes stand for.
    import tile_compiler as tc

    values = [
        tc.dequantize(names[codes], names[scales], "nvfp4", names[factor])
        for codes, scales, factor in (("x", "xs", "gx"), ("y", "ys", "gy"))
    ]
    expected = values[0].astype("f8") @ values[1].astype("f8").T
    assert names["z"].shape == expected.shape
    assert abs(names["z"] - expected).max() < 1e-3
    assert abs(expected).max() > 10


def test_first_program():
    text = (SOURCE / "examples/cpp/first.cpp").read_text()
    assert read_blocks("docs/jit.md", "cpp")[0] == text
    # As docs say: a first program is a short one.
    assert len(text.splitlines()) < 40


def test_every_linked_file_exists():
    for path in sorted((SOURCE / "docs").glob("*.md")):
        for link in re.findall(r"\]\(([^):#]+)(?:#[^)]*)?\)", path.read_text()):
            assert (path.parent / link).exists(), f"{path.name} links {link}"


def test_every_error_code_is_in_the_catalogue():
    header = (SOURCE / "include/tile/Runtime/Error.h").read_text()
    body = re.search(r"enum class ErrorCode : int \{(.*?)\}", header, re.S)[1]
    names = re.findall(r"^\s+(\w+) = \d+,", body, re.M)
    assert len(names) >= 9
    catalogue = (SOURCE / "docs/jit.md").read_text()
    for name in names:
        code = re.sub(r"(?<!^)([A-Z])", r"-\1", name).lower()
        assert f"| `{code}` |" in catalogue, code
