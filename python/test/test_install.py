"""Installs the build tree, moves the installation and builds programs against it.

What users do, in the order in which they do it: examples in C++ and C by CMake and by
pkg-config, a program that links MLIR as well, and the Python package by pip. The folder
that was installed to is gone by then, so that no file can name it unnoticed.
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(shutil.which("tile-run")).resolve().parent.parent
TOOLS = {
    "ptx-run",
    "tile-compile",
    "tile-lsp-server",
    "tile-opt",
    "tile-reduce",
    "tile-run",
}
LINEAR = [
    (["reference"], r"device: reference\n"),
    (["emulator"], r"device: emulator \(sm_120a\)\ntarget: sm_120a\npath: native, "),
]


def read_cache(name):
    """Returns a variable of the build tree's CMake."""
    text = (BUILD / "CMakeCache.txt").read_text()
    return re.search(rf"^{name}:\w+=(.*)$", text, re.M)[1]


# Programs are built as the library was: one with a sanitizer wants all of them so.
FLAGS = read_cache("CMAKE_CXX_FLAGS").split()
CC = read_cache("CMAKE_C_COMPILER")
CXX = read_cache("CMAKE_CXX_COMPILER")
LIB = read_cache("CMAKE_INSTALL_LIBDIR")
VERSION = read_cache("CMAKE_PROJECT_VERSION")
# Of version 0: every minor version is a library of its own.
SONAME = f"libTileCompiler.so.{VERSION.rpartition('.')[0]}"


def run(*command, environment=None, check=True):
    """Runs a command in a small environment and returns what it printed."""
    clean = {
        name: os.environ[name]
        for name in ("ASAN_OPTIONS", "CCACHE_DIR", "HOME", "PATH")
        if name in os.environ
    }
    result = subprocess.run(
        [str(word) for word in command],
        env={**clean, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if check:
        assert result.returncode == 0, f"{command}:\n{result.stdout}"
    return result.stdout if check else (result.returncode, result.stdout)


def configure_and_build(source, build, *options):
    run(
        "cmake",
        "-S",
        source,
        "-B",
        build,
        "-G",
        "Ninja",
        f"-DCMAKE_C_COMPILER={CC}",
        f"-DCMAKE_CXX_COMPILER={CXX}",
        f"-DCMAKE_C_FLAGS={' '.join(FLAGS)}",
        f"-DCMAKE_CXX_FLAGS={' '.join(FLAGS)}",
        *options,
    )
    run("cmake", "--build", build)


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """An installation that was moved."""
    root = tmp_path_factory.mktemp("install")
    run("cmake", "--install", BUILD, "--prefix", root / "first")
    (root / "first").rename(root / "moved")
    return root / "moved"


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return {"TILE_CACHE_DIR": str(tmp_path_factory.mktemp("cache"))}


def get_pkgconfig(prefix):
    return {"PKG_CONFIG_PATH": str(prefix / LIB / "pkgconfig")}


def check_linear(program, cache):
    """Runs a linear layer on the CPU's devices, and with what is wrong."""
    for arguments, expected in LINEAR:
        output = run(*program, *arguments, environment=cache)
        assert re.search(expected, output), output
        assert re.search(r"largest error: \S+ units, allowed: 585\n$", output), output
    status, output = run(*program, "abacus", environment=cache, check=False)
    assert status == 1
    assert output.startswith("linear: error: "), output
    assert "but got 'abacus'" in output


def test_what_is_installed(prefix):
    assert {path.name for path in (prefix / "bin").iterdir()} == TOOLS
    libraries = {path.name for path in (prefix / LIB).iterdir()}
    assert libraries == {
        "cmake",
        "libTileCompiler.so",
        SONAME,
        f"libTileCompiler.so.{VERSION}",
        "pkgconfig",
    }
    for name in (
        "include/tile/Runtime/Runtime.h",
        "include/tile/Dialect/Tile/IR/Tile.h",
        "include/tile/Dialect/Tile/IR/TileOps.td",
        "include/tile/Dialect/Tile/IR/TileOps.h.inc",
        "include/tile/Transforms/Passes.h.inc",
        "include/tile-c/Tile.h",
        "share/tile/golden/nvfp4",
        "share/tile/kernels/nvfp4_linear.mlir",
    ):
        assert (prefix / name).exists(), name


def test_no_file_names_the_machine(prefix):
    for path in prefix.rglob("*"):
        if path.suffix in (".cmake", ".pc", ".h", ".inc", ".txt", ".td"):
            text = path.read_text()
            for folder in (SOURCE, BUILD, prefix.parent):
                assert str(folder) not in text, f"{path} names {folder}"


def test_runtime_component_is_the_library_alone(tmp_path):
    run("cmake", "--install", BUILD, "--prefix", tmp_path, "--component", "Runtime")
    files = {path.name for path in tmp_path.rglob("*") if not path.is_dir()}
    assert files == {SONAME, f"libTileCompiler.so.{VERSION}"}


def test_tools_run(prefix, tmp_path):
    tools = prefix / "bin"
    assert run(tools / "tile-compile", "--version").startswith(
        f"tile-compile {VERSION} "
    )
    kernel = SOURCE / "examples" / "kernels" / "unpack_pack.mlir"
    run(tools / "tile-compile", kernel, "--target=sm_80", "-o", tmp_path / "a.ptx")
    assert ".target sm_80" in (tmp_path / "a.ptx").read_text()
    for tool in TOOLS - {"tile-lsp-server"}:
        assert run(tools / tool, "--help")


def test_headers_need_neither_mlir_nor_llvm(prefix):
    """Each header compiles alone, and brings none of MLIR's or LLVM's along."""
    include = prefix / "include"
    headers = [
        (CXX, path, ["-std=c++17"])
        for path in sorted((include / "tile" / "Runtime").glob("*.h"))
        if path.name != "KernelBuilder.h"
    ]
    assert len(headers) >= 8
    c_header = include / "tile-c" / "Tile.h"
    headers.append((CXX, c_header, ["-std=c++17"]))
    headers.append((CC, c_header, ["-std=c99", "-pedantic"]))

    def check(header):
        compiler, path, options = header
        language = "c" if "-std=c99" in options else "c++"
        command = [
            *(compiler, "-x", language, path, *options, f"-I{include}"),
            *("-Wall", "-Wextra", "-Werror", "-fsyntax-only"),
        ]
        run(*command)
        listing = run(*command, "-M")
        included = re.findall(r"\S+\.h\b", listing)
        assert not [name for name in included if re.search(r"/(mlir|llvm)/", name)]
        ours = [name for name in included if name.startswith(str(include))]
        assert ours, listing
        for name in ours:
            assert pathlib.Path(name).parent in (
                include / "tile" / "Runtime",
                include / "tile-c",
            ), f"{path} includes {name}"

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(check, headers))


def test_cpp_examples(prefix, cache, tmp_path):
    configure_and_build(
        SOURCE / "examples" / "cpp", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}"
    )
    output = run(tmp_path / "first", environment=cache)
    # 2 * 1999, on a GPU or without one.
    assert output.startswith("3998 on "), output
    check_linear([tmp_path / "linear"], cache)


def test_first_program_is_quoted():
    """docs/jit.md shows the program that test_cpp_examples runs, and it is short."""
    program = (SOURCE / "examples" / "cpp" / "first.cpp").read_text()
    text = (SOURCE / "docs" / "jit.md").read_text()
    quoted = re.search(r"^```cpp\n(.*?)^```", text, re.M | re.S)[1]
    assert quoted == program
    assert len(program.splitlines()) < 40


def test_c_example(prefix, cache, tmp_path):
    configure_and_build(
        SOURCE / "examples" / "c", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}"
    )
    check_linear([tmp_path / "linear"], cache)


def test_pkg_config(prefix, cache, tmp_path):
    environment = get_pkgconfig(prefix)

    def ask(*options):
        return run("pkg-config", *options, "tile-compiler", environment=environment)

    assert ask("--modversion") == f"{VERSION}\n"
    ask("--validate")
    flags = ask("--cflags", "--libs").split()
    rpath = "-Wl,-rpath," + ask("--variable=libdir").strip()
    for compiler, standard, source in (
        (CXX, "-std=c++17", SOURCE / "examples" / "cpp" / "first.cpp"),
        (CC, "-std=c11", SOURCE / "examples" / "c" / "linear.c"),
    ):
        program = tmp_path / source.stem
        run(compiler, *FLAGS, standard, source, "-o", program, *flags, rpath, "-lm")
    assert run(tmp_path / "first", environment=cache).startswith("3998 on ")
    check_linear([tmp_path / "linear"], cache)


def test_program_that_links_mlir(prefix, cache, tmp_path):
    configure_and_build(
        SOURCE / "python" / "test" / "package",
        tmp_path,
        f"-DCMAKE_PREFIX_PATH={prefix}",
    )
    assert run(tmp_path / "dialect", environment=cache) == "2 twice 1598\n"


@pytest.mark.parametrize(
    "component, message",
    [
        ("Abacus", "TileCompiler has no component 'Abacus'; known components are MLIR"),
        ("MLIR", "TileCompiler's component MLIR needs MLIR 22.1; set MLIR_DIR to the"),
    ],
)
def test_component_that_is_not_there(component, message, prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\n"
        "project(p LANGUAGES C)\n"
        f"find_package(TileCompiler REQUIRED COMPONENTS {component})\n"
    )
    status, output = run(
        "cmake",
        *("-S", tmp_path, "-B", tmp_path / "build", "-G", "Ninja"),
        f"-DCMAKE_PREFIX_PATH={prefix}",
        "-DCMAKE_DISABLE_FIND_PACKAGE_MLIR=ON",
        check=False,
    )
    assert status != 0
    assert message in " ".join(output.split()), output


def test_library_that_is_not_there(tmp_path):
    """As in a build tree that was configured and no more."""
    prefix = tmp_path / "prefix"
    run("cmake", "--install", BUILD, "--prefix", prefix, "--component", "Development")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\n"
        "project(p LANGUAGES C)\n"
        "find_package(TileCompiler)\n"
        'message("found: ${TileCompiler_FOUND}")\n'
    )
    output = run(
        "cmake",
        *("-S", tmp_path, "-B", tmp_path / "build", "-G", "Ninja"),
        f"-DCMAKE_PREFIX_PATH={prefix}",
    )
    assert "build TileCompiler, or install the component Runtime too" in " ".join(
        output.split()
    )
    assert re.search(r"found: (FALSE|0)\n", output), output


def test_package_of_the_build_tree(cache, tmp_path):
    configure_and_build(
        SOURCE / "examples" / "c",
        tmp_path,
        f"-DCMAKE_PREFIX_PATH={BUILD}",
    )
    check_linear([tmp_path / "linear"], cache)


def test_pip_install(prefix, cache, tmp_path):
    """pip builds against the installation, from what scripts/setup installed."""
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    python = tmp_path / "venv" / "bin" / "python"
    # NumPy, nanobind and scikit-build-core, so that nothing is downloaded.
    site = run(
        python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"
    ).strip()
    ours = next(path for path in sys.path if path.endswith("site-packages"))
    (pathlib.Path(site) / "setup.pth").write_text(ours + "\n")
    flags = " ".join(FLAGS)
    run(
        *(python, "-m", "pip", "install", "-v", "--no-index", "--no-build-isolation"),
        *("--disable-pip-version-check", "--no-cache-dir"),
        f"--config-settings=cmake.define.TileCompiler_DIR={prefix}/{LIB}/cmake/TileCompiler",
        f"--config-settings=build-dir={tmp_path}/build",
        SOURCE / "python",
        environment={
            "CC": CC,
            "CXX": CXX,
            "CFLAGS": flags,
            "CXXFLAGS": flags,
            "LDFLAGS": flags,
            "CMAKE_C_COMPILER_LAUNCHER": shutil.which("ccache") or "",
            "CMAKE_CXX_COMPILER_LAUNCHER": shutil.which("ccache") or "",
        },
    )
    environment = dict(cache)
    if "address" in flags:
        # A sanitizer wants to be first, and Python is not built with it.
        environment["LD_PRELOAD"] = run(CC, "-print-file-name=libasan.so").strip()
        environment["ASAN_OPTIONS"] = "detect_leaks=0:allow_user_poisoning=0"
    where = run(
        python,
        "-c",
        "import tile_compiler; print(tile_compiler.__file__)",
        environment=environment,
    )
    assert where.startswith(str(tmp_path)), where
    example = SOURCE / "examples" / "python" / "linear.py"
    check_linear([python, example], environment)
