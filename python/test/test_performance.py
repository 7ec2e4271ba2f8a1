"""Compares docs/performance.md with the compiler that it describes."""

import pathlib
import re

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = (SOURCE / "docs" / "performance.md").read_text()


def read_section(title):
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_every_remark_is_explained():
    text = "".join(path.read_text() for path in sorted(SOURCE.glob("lib/**/*.cpp")))
    calls = re.findall(r"RemarkOpts::name\(([^)]*)\)", text)
    names = set(re.findall(r'"([a-z-]+)"', " ".join(calls)))
    table = re.findall(
        r"^\| (`.*?) \|", read_section("Why a kernel is not on it"), re.M
    )
    explained = set(re.findall(r"`([a-z-]+)`", " ".join(table)))
    assert explained == names


def test_every_pass_exists():
    declared = (SOURCE / "include/tile/Transforms/Passes.td").read_text()
    named = set(re.findall(r"`(tile-[a-z-]+)` \|", read_section("The fast path")))
    assert named and named <= set(re.findall(r'Pass<"([a-z-]+)"', declared))


def test_every_linked_file_exists():
    for link in re.findall(r"\]\(([^):#]+)(?:#[^)]*)?\)", PAGE):
        assert (SOURCE / "docs" / link).exists(), link


def test_tables_are_those_of_a_whole_run():
    readme = (SOURCE / "README.md").read_text()
    pages = [(readme, "peers")]
    pages += [(PAGE, name) for name in ("peers", "tensor-peers", "compile-time")]
    for text, name in pages:
        pattern = rf"<!-- generated: {name} -->\n(.*?)<!-- end of generated -->"
        assert re.search(pattern, text, re.S)[1].count("\n") > 4
