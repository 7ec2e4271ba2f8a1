"""Compiling: options by keyword, and where a kernel's text comes from."""

from __future__ import annotations

import difflib
import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import _tile


def make_options(target: str | None = None, **options: Any) -> _tile.CompileOptions:
    """Returns the options of a compilation; see `compile`."""
    for name in options:
        if name not in _NAMES:
            close = difflib.get_close_matches(name, _NAMES, 1)
            hint = f"did you mean '{close[0]}'?" if close else ", ".join(_NAMES)
            raise TypeError(f"no option '{name}' of a compilation; {hint}")
    return _make_options(target, **options)


def _make_options(
    target: str | None,
    *,
    device: _tile.Device | None = None,
    entry: str | None = None,
    constants: Mapping[str, object] | None = None,
    bindings: Mapping[str, int] | None = None,
    shapes: Mapping[str, Iterable[int | None]] | None = None,
    specialize: bool = True,
    num_warps: int | None = None,
    num_stages: int | None = None,
    group_programs: int = 8,
    mma_path: str = "auto",
    fp4_cvt: str = "auto",
    unpack_ahead: int | str = "auto",
    tma: bool = False,
    ptx_version: int | None = None,
    line_info: bool = False,
    assembler: str = "auto",
    ptxas: str | os.PathLike[str] | None = None,
) -> _tile.CompileOptions:
    options = _tile.CompileOptions()
    if target is None and device is None:
        device = _tile.best()
    options.target = target or ""
    options.device = device
    options.entry = entry or ""
    options.constants = {key: str(value) for key, value in (constants or {}).items()}
    options.bindings = dict(bindings or {})
    for name, shape in (shapes or {}).items():
        options.set_shape(name, list(shape))
    options.specialize = specialize
    options.num_warps = num_warps or 0
    options.num_stages = num_stages or 0
    options.group_programs = group_programs
    options.mma_path = mma_path
    options.fp4_cvt = fp4_cvt
    options.unpack_ahead = str(unpack_ahead)
    options.tma = tma
    options.ptx_version = ptx_version or 0
    options.line_info = line_info
    options.set_assembler(assembler)
    options.ptxas = os.fspath(ptxas or "")
    return options


_NAMES = tuple(inspect.signature(_make_options).parameters)[1:]


def compile(
    source: str | bytes | bytearray | memoryview | os.PathLike[str],
    target: str | None = None,
    *,
    compiler: _tile.Compiler | None = None,
    name: str = "<kernel>",
    progress: bool | Callable[[float], object] | None = None,
    **options: Any,
) -> _tile.Kernel:
    """Compiles a kernel, and returns it as a `Kernel`.

    ``source`` is the text of an MLIR module or its bytecode (`bytes`), or the path
    of a file with either: any `os.PathLike`, and a `str` that has neither a line
    break nor a brace. ``name`` stands for a text in messages.

    ``target`` is a row of docs/targets.md, such as "sm_120f"; without it, the target
    is that of ``device``, and without that, of `best()`. A kernel that was compiled
    for a device runs there unless a call says otherwise.

    The other options, all by keyword:

    entry           the kernel's function, where the module has several
    constants       values for each ``${NAME}`` of the text
    bindings        values for integer arguments, by name; launches leave them out
    shapes          extents of array arguments, by name; None for open ones
    specialize      compile variants for what the arguments of launches allow (True)
    num_warps       1, 2, 4, ..., 32; None: the compiler chooses
    num_stages      1 to 8; None: the compiler chooses
    group_programs  programs that run together (8)
    mma_path        "auto", "native" or "expand"
    fp4_cvt         "auto", "hardware" or "software"
    unpack_ahead    "auto", 0 or 1
    tma             copy whole tiles by tensor maps where possible (False)
    ptx_version     88 is ``.version 8.8``; None: the lowest that serves
    line_info       lines of the source in the PTX (False)
    assembler       "auto", "ptxas" or "driver"
    ptxas           the path of ptxas

    ``compiler`` is a `Compiler` with a cache of its own. ``progress`` is True for a
    line on stderr, or is called with the seconds that have passed. Ctrl-C ends a
    compilation.

    >>> import numpy as np
    >>> text = '''
    ... !v = memref<?xf32, strided<[1]>>
    ... func.func @twice(%z: !v, %x: !v) attributes {tile.kernel} {
    ...   %i = tile.program_id 0
    ...   %a = tile.load %x[%i] : !v -> tensor<${N}xf32>
    ...   %b = arith.addf %a, %a : tensor<${N}xf32>
    ...   tile.store %b, %z[%i] : tensor<${N}xf32>, !v
    ...   return
    ... }'''
    >>> kernel = compile(text, "sm_80", constants={"N": 64})
    >>> x = np.arange(100, dtype=np.float32)
    >>> z = np.empty_like(x)
    >>> kernel(2, z, x)
    >>> float(z[99])
    198.0
    """
    compiler = compiler or _tile.Compiler.default()
    made = make_options(target, **options)
    if isinstance(source, str) and ("\n" in source or "{" in source):
        source = source.encode()
    if isinstance(source, (bytes, bytearray, memoryview)):
        return compiler._compile(bytes(source), name, made, progress)
    return compiler._compile_file(os.fspath(source), made, progress)
