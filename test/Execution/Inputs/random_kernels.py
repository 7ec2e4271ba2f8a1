#!/usr/bin/env python3
"""Random kernels, compiled for several targets and compared with the reference.

    random_kernels.py 1 200 --targets=sm_80,sm_120f      seeds 1 to 199
    random_kernels.py 17 --print                         show one program

Each seed is one type-correct kernel over small tiles and the command line of
tile-lane-run that checks it. A failure prints the seed, the command and the
message, and leaves the kernel in the working directory.

Results are compared bit for bit. Where the order of a sum is the target's
choice, operands are such that every order is exact: a value knows the power of
two that divides it and its largest magnitude, and sums that could exceed 24
bits are not generated.
"""

import argparse
import concurrent.futures
import math
import os
import random
import subprocess
import sys
import tempfile

SHORT_FLOATS = ["f4E2M1FN", "f8E4M3FN", "f8E5M2", "f8E8M0FNU"]
WIDE_FLOATS = ["bf16", "f16", "f32"]
FLOATS = SHORT_FLOATS + WIDE_FLOATS
INTEGERS = ["i1", "i8", "i16", "i32", "i64", "index"]
PAIR = "!tile.f4E2M1FNx2"
BITS = {
    "f4E2M1FN": 4,
    "f8E4M3FN": 8,
    "f8E5M2": 8,
    "f8E8M0FNU": 8,
    PAIR: 8,
    "bf16": 16,
    "f16": 16,
    "f32": 32,
    "i1": 1,
    "i8": 8,
    "i16": 16,
    "i32": 32,
    "i64": 64,
    "index": 64,
}
# Exponent of the smallest step and largest value.
STEP = {
    "f4E2M1FN": -1,
    "f8E4M3FN": -9,
    "f8E5M2": -16,
    "f8E8M0FNU": -127,
    "bf16": -133,
    "f16": -24,
    "f32": -149,
}
MAX = {
    "f4E2M1FN": 6.0,
    "f8E4M3FN": 448.0,
    "f8E5M2": 57344.0,
    "f8E8M0FNU": 2.0**127,
    "bf16": 3.3e38,
    "f16": 65504.0,
    "f32": 3.4e38,
}
# What tile-lane-run generates for an argument: step and magnitude.
LOADED = {
    "f4E2M1FN": (-1, 6.0),
    "f8E4M3FN": (-4, 1.875),
    "f8E5M2": (-3, 3.5),
    "f8E8M0FNU": (0, 4.0),
    "bf16": (-3, 2.0),
    "f16": (-3, 2.0),
    "f32": (-3, 2.0),
}
MMA_FORMS = (
    [("bf16", None, "bf16", None, 0), ("f16", None, "f16", None, 0)]
    + [
        (a, None, b, None, 0)
        for a in ("f8E4M3FN", "f8E5M2")
        for b in ("f8E4M3FN", "f8E5M2")
    ]
    + [
        (a, "f8E8M0FNU", b, "f8E8M0FNU", 32)
        for a in SHORT_FLOATS[:3]
        for b in SHORT_FLOATS[:3]
    ]
    + [("f4E2M1FN", s, "f4E2M1FN", s, 16) for s in ("f8E4M3FN", "f8E8M0FNU")]
    + [
        form
        for wide in ("bf16", "f16")
        for a, s, v in [
            ("f4E2M1FN", "f8E4M3FN", 16),
            ("f4E2M1FN", "f8E8M0FNU", 16),
            ("f4E2M1FN", "f8E8M0FNU", 32),
            ("f8E4M3FN", "f8E8M0FNU", 32),
            ("f8E5M2", "f8E8M0FNU", 32),
        ]
        for form in ((wide, None, a, s, v), (a, s, wide, None, v))
    ]
)


def count(shape):
    return math.prod(shape)


def tensor(shape, element):
    return "tensor<" + "".join(f"{e}x" for e in shape) + element + ">"


class Value:
    """A tile. `step` and `largest` bound a float; both None: anything, NaN too.

    `zeros`: the sign of a zero depends on the order of a sum."""

    def __init__(self, name, shape, element, step=None, largest=None, zeros=False):
        self.name, self.shape, self.element = name, tuple(shape), element
        self.step, self.largest, self.zeros = step, largest, zeros

    @property
    def type(self):
        return tensor(self.shape, self.element)

    @property
    def isFloat(self):
        return self.element in FLOATS

    @property
    def bounded(self):
        return self.largest is not None

    @property
    def exact(self):
        return self.step is not None and self.largest is not None

    @property
    def bitsKnown(self):
        """Whether the bits, not only the value, are the same everywhere."""
        return not self.isFloat or (self.bounded and not self.zeros)


class Generator:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.lines = []
        self.indent = 1
        self.next = 0
        self.parameters = []  # (text of the parameter, argument of the tool)
        self.functions = []
        self.constants = []
        self.pool = []
        self.indices = []  # names of index scalars
        self.depth = 0
        self.budget = self.rng.randint(6, 40)
        self.large = self.rng.random() < 0.1
        self.maxElements = 1 << (14 if self.large else self.rng.randint(6, 11))
        self.zeros = False
        self.inFunction = False
        self.grid = self.rng.choice([(1, 1), (1, 1), (2, 2), (1, 3)])

    # Text.

    def emit(self, text):
        self.lines.append("  " * self.indent + text)

    def name(self):
        self.next += 1
        return f"%v{self.next}"

    def define(self, text, shape, element, step=None, largest=None, zeros=False):
        name = self.name()
        self.emit(f"{name} = {text}")
        if element in FLOATS:
            if largest is not None and largest > MAX[element]:
                step = largest = None
            if step is not None:
                step = max(step, STEP[element])
        value = Value(name, shape, element, step, largest, zeros)
        self.pool.append(value)
        return value

    def index(self, number):
        name = self.name()
        self.emit(f"{name} = arith.constant {number} : index")
        return name

    def parameter(self, type, argument, attributes=""):
        name = f"%a{len(self.parameters)}"
        self.parameters.append((f"{name} : {type}{attributes}", argument))
        return name

    # Choices.

    def chance(self, p):
        return self.rng.random() < p

    def shape(self, rank=None, limit=None):
        limit = limit or self.maxElements
        if rank is None:
            rank = self.rng.choice([1, 2, 2, 2, 2, 3, 3, 4, 5])
        bits = self.rng.randint(0, int(math.log2(limit)))
        shape = [1] * rank
        for _ in range(bits):
            shape[self.rng.randrange(rank)] *= 2
        return shape

    def pick(self, want=lambda v: True):
        """A recent value more often than an old one."""
        found = [v for v in self.pool if want(v)]
        if not found:
            return None
        return found[
            max(self.rng.randrange(len(found)), self.rng.randrange(len(found)))
        ]

    def same(self, value, want=lambda v: True):
        """Another value of the same type; a constant if there is none."""
        other = self.pick(lambda v: v.type == value.type and v is not value and want(v))
        if other and self.chance(0.8):
            return other
        return self.constant(value.shape, value.element)

    # Sources of values.

    def constant(self, shape, element):
        rng = self.rng
        if element == PAIR:
            double = list(shape[:-1]) + [2 * shape[-1]]
            return self.pack(self.constant(double, "f4E2M1FN"), PAIR)

        def number():
            if element in INTEGERS:
                if element == "i1":
                    return rng.choice(["true", "false"])
                limit = 1 << min(BITS[element] - 1, 62)
                return str(rng.randint(-limit, limit - 1))
            if element == "f8E8M0FNU":
                return rng.choice(["1.0", "0.5", "2.0", "4.0"])
            if element == "f4E2M1FN":
                return rng.choice(["0.5", "-1.0", "1.5", "-6.0", "0.0", "3.0"])
            return repr(rng.randint(-16, 16) / 8)

        if count(shape) <= 64 and self.chance(0.3):

            def nest(extents):
                if not extents:
                    return number()
                parts = [nest(extents[1:]) for _ in range(extents[0])]
                return "[" + ", ".join(parts) + "]"

            text = nest(list(shape))
        else:
            text = number()
        step, largest = (None, None)
        if element in FLOATS:
            step, largest = {
                "f8E8M0FNU": (-1, 4.0),
                "f4E2M1FN": (-1, 6.0),
            }.get(element, (-3, 2.0))
        return self.define(
            f"arith.constant dense<{text}> : {tensor(shape, element)}",
            shape,
            element,
            step,
            largest,
        )

    def scalarIndex(self):
        """An index scalar: a constant, the grid, a loop or arithmetic."""
        if self.inFunction:
            return self.index(self.rng.randint(0, 2))
        choice = self.rng.random()
        if choice < 0.4 and self.indices:
            return self.rng.choice(self.indices)
        if choice < 0.6:
            name = self.name()
            self.emit(f"{name} = tile.program_id {self.rng.randrange(2)}")
            return name
        return self.index(self.rng.choice([0, 0, 0, 1, 2, -1, 5]))

    def memory(self, shape, element, role, zeros=False):
        """A memref parameter that suits tiles of `shape`: name and type."""
        rng = self.rng
        rank = len(shape)
        extents = []
        for extent in shape:
            kind = rng.random()
            if kind < 0.3:
                extents.append(extent)
            elif kind < 0.55:
                extents.append(extent * 2)
            elif kind < 0.97 or role != "in":
                extents.append(max(1, extent + rng.randint(-extent // 2, extent)))
            else:
                extents.append(0)
        if count(extents) > 1 << 17:
            extents = list(shape)
        stride = extents[-1]
        if rank >= 2 and self.chance(0.3):
            stride += rng.choice([1, 2, 4, 8, 16])
        strides = [1] * rank
        for dim in reversed(range(rank - 1)):
            inner = stride if dim == rank - 2 else extents[dim + 1] * strides[dim + 1]
            strides[dim] = inner
        sizes = [str(e) if self.chance(0.4) else "?" for e in extents]
        strided = stride != extents[-1] or self.chance(0.5)
        shown = []
        for dim, number in enumerate(strides):
            dynamic = self.chance(0.7) if dim < rank - 1 else self.chance(0.1)
            shown.append("?" if dynamic else str(number))
        text = "x".join(sizes + [element])
        type = f"memref<{text}>"
        if strided:
            type = f"memref<{text}, strided<[{', '.join(shown)}]>>"

        def divisor(number):
            best = 1
            while number % (2 * best) == 0 and best < 64:
                best *= 2
            return best if number else 1

        attributes = []
        if self.chance(0.5):
            values = ", ".join(str(divisor(e)) for e in extents)
            attributes.append(f"tile.shape_divisible_by = array<i64: {values}>")
        if self.chance(0.5):
            values = ", ".join(str(divisor(s)) for s in strides)
            attributes.append(f"tile.stride_divisible_by = array<i64: {values}>")
        argument = role + ":" + "x".join(str(e) for e in extents)
        argument += "x" + element.replace("!tile.", "")
        if stride != extents[-1]:
            argument += f":stride={stride}"
        braces = " {" + ", ".join(attributes) + "}" if attributes else ""
        return self.parameter(type, argument, braces), type, extents

    def load(self, shape=None, element=None):
        if self.inFunction:
            shape = self.shape() if shape is None else shape
            return self.constant(shape, element or "f32")
        shape = self.shape() if shape is None else shape
        element = element or self.rng.choice(FLOATS + INTEGERS + [PAIR])
        if element == "index":
            return self.indexCast(self.load(shape, self.rng.choice(["i32", "i64"])))
        if element == "i1":
            return self.compare(self.load(shape, self.rng.choice(["i8", "f32"])))
        if element == "f4E2M1FN":
            if not shape or shape[-1] < 2:
                return self.constant(shape, element)
            half = list(shape[:-1]) + [shape[-1] // 2]
            return self.unpack(self.load(half, self.rng.choice([PAIR, "i8"])), element)
        if not shape:
            return self.reshape(self.load([1], element), [])
        name, type, extents = self.memory(shape, element, "in")
        at = [self.scalarIndex() if self.chance(0.6) else self.index(0) for _ in shape]
        if self.chance(0.15) and len(shape) >= 2 and all(extents):
            name, type = self.subview(name, type, extents)
        step, largest = LOADED.get(element, (None, None))
        return self.define(
            f"tile.load {name}[{', '.join(at)}] : {type} -> {tensor(shape, element)}",
            shape,
            element,
            step,
            largest,
        )

    def subview(self, name, type, extents):
        """A view of the same rank with an offset in each dimension."""
        offsets, sizes, operands = [], [], []
        for extent in extents:
            offset = self.rng.randint(0, extent // 2)
            size = self.rng.randint(0, extent - offset)
            if self.chance(0.5):
                offsets.append(self.index(offset))
            else:
                offsets.append(str(offset))
            sizes.append(self.index(size) if self.chance(0.5) else str(size))
        body = type[len("memref<") : -1]
        layout = ""
        if ", strided<[" in body:
            body, layout = body.split(", strided<[")
            strides = layout.rstrip(">").rstrip("]").split(", ")
        else:
            strides, running = [], "1"
            for size in reversed(body.split("x")[: len(extents)]):
                strides.insert(0, running)
                running = (
                    "?" if "?" in (running, size) else str(int(running) * int(size))
                )
        element = "x".join(body.split("x")[len(extents) :])
        static = all(not o.startswith("%") for o in offsets) and "?" not in [
            s for s, o in zip(strides, offsets) if o != "0"
        ]
        offset = (
            str(sum(int(o) * int(s) for o, s in zip(offsets, strides) if o != "0"))
            if static
            else "?"
        )
        shown = "x".join("?" if s.startswith("%") else s for s in sizes)
        result = (
            f"memref<{shown}x{element}, strided<[{', '.join(strides)}], "
            f"offset: {offset}>>"
        )
        view = self.name()
        ones = ", ".join(["1"] * len(extents))
        self.emit(
            f"{view} = memref.subview {name}[{', '.join(offsets)}] "
            f"[{', '.join(sizes)}] [{ones}] : {type} to {result}"
        )
        return view, result

    # Operations. Each returns a value, or None where it has no operand.

    def arithmetic(self, v=None):
        v = v or self.pick(lambda v: v.element in WIDE_FLOATS)
        if not v:
            return None
        kind = self.rng.choice(
            ["addf", "subf", "mulf", "maximumf", "minimumf", "divf", "negf", "math"]
        )
        e = v.element
        if kind == "negf":
            return self.define(
                f"arith.negf {v.name} : {v.type}",
                v.shape,
                e,
                v.step,
                v.largest,
                v.zeros,
            )
        if kind == "math":
            name = self.rng.choice(
                ["absf", "floor", "ceil", "trunc", "roundeven", "sqrt", "fma"]
            )
            if name == "fma":
                w, x = self.same(v), self.same(v)
                return self.define(
                    f"math.fma {v.name}, {w.name}, {x.name} : {v.type}",
                    v.shape,
                    e,
                    None,
                    None,
                    v.zeros or w.zeros or x.zeros,
                )
            largest = None
            if v.bounded and name != "sqrt":
                largest = v.largest + 1
            return self.define(
                f"math.{name} {v.name} : {v.type}",
                v.shape,
                e,
                v.step,
                largest,
                v.zeros,
            )
        if kind == "divf":
            w = self.constant(v.shape, e)
            return self.define(
                f"arith.divf {v.name}, {w.name} : {v.type}",
                v.shape,
                e,
                None,
                None,
                v.zeros,
            )
        w = self.same(v)
        step = largest = None
        if v.bounded and w.bounded:
            largest = {
                "addf": v.largest + w.largest,
                "subf": v.largest + w.largest,
                "mulf": v.largest * w.largest,
            }.get(kind, max(v.largest, w.largest))
            largest *= 1.01
        if v.exact and w.exact:
            step = v.step + w.step if kind == "mulf" else min(v.step, w.step)
        return self.define(
            f"arith.{kind} {v.name}, {w.name} : {v.type}",
            v.shape,
            e,
            step,
            largest,
            v.zeros or w.zeros,
        )

    def integer(self):
        v = self.pick(lambda v: v.element in INTEGERS)
        if not v:
            return None
        kinds = ["addi", "subi", "muli", "andi", "ori", "xori"]
        kinds += ["maxsi", "minsi", "maxui", "minui", "shift", "div"]
        kind = self.rng.choice(kinds)
        if v.element == "i1":
            kind = self.rng.choice(["andi", "ori", "xori"])
        w = self.same(v)
        if kind == "shift":
            kind = self.rng.choice(["shli", "shrsi", "shrui"])
            amount = self.rng.randrange(BITS[v.element])
            w = self.define(
                f"arith.constant dense<{amount}> : {v.type}", v.shape, v.element
            )
        if kind == "div":
            kind = self.rng.choice(["divui", "remui", "divsi", "remsi", "ceildivsi"])
            amount = self.rng.randint(1, min(1 << BITS[v.element] - 2, 1000))
            w = self.define(
                f"arith.constant dense<{amount}> : {v.type}", v.shape, v.element
            )
        return self.define(
            f"arith.{kind} {v.name}, {w.name} : {v.type}", v.shape, v.element
        )

    def compare(self, v=None):
        v = v or self.pick(lambda v: v.element in INTEGERS or v.element in WIDE_FLOATS)
        if not v:
            return None
        w = self.same(v)
        if v.isFloat:
            kind = self.rng.choice(["olt", "oge", "une", "oeq", "ord", "ult", "ugt"])
            text = f"arith.cmpf {kind}"
        else:
            kind = self.rng.choice(["eq", "ne", "slt", "sge", "ult", "uge"])
            text = f"arith.cmpi {kind}"
        return self.define(f"{text}, {v.name}, {w.name} : {v.type}", v.shape, "i1")

    def select(self):
        v = self.pick(lambda v: v.element != PAIR)
        if not v:
            return None
        w = self.same(v)
        mask = self.pick(lambda m: m.element == "i1" and m.shape == v.shape)
        if not mask:
            mask = self.compare(self.load(v.shape, self.rng.choice(["i8", "f32"])))
        both = v.bounded and w.bounded
        return self.define(
            f"arith.select {mask.name}, {v.name}, {w.name} : " f"{mask.type}, {v.type}",
            v.shape,
            v.element,
            min(v.step, w.step) if v.exact and w.exact else None,
            max(v.largest, w.largest) if both else None,
            v.zeros or w.zeros,
        )

    def indexCast(self, v):
        target = "index" if v.element != "index" else self.rng.choice(["i32", "i64"])
        kind = self.rng.choice(["index_cast", "index_castui"])
        return self.define(
            f"arith.{kind} {v.name} : {v.type} to {tensor(v.shape, target)}",
            v.shape,
            target,
        )

    def cast(self):
        v = self.pick(lambda v: v.element != PAIR)
        if not v:
            return None
        rng, e = self.rng, v.element
        if e == "index":
            return self.indexCast(v)
        if e in INTEGERS:
            if e in ("i8", "i16") and self.chance(0.4):
                target = rng.choice(["f32", "f16", "bf16"])
                kind = rng.choice(["sitofp", "uitofp"])
                largest = float(1 << BITS[e])
                return self.define(
                    f"arith.{kind} {v.name} : {v.type} to "
                    f"{tensor(v.shape, target)}",
                    v.shape,
                    target,
                    0,
                    largest,
                )
            if e in ("i32", "i64") and self.chance(0.2):
                return self.indexCast(v)
            wide = [t for t in INTEGERS[:5] if BITS[t] > BITS[e]]
            narrow = [t for t in INTEGERS[:5] if BITS[t] < BITS[e]]
            if self.chance(0.3):
                peers = [t for t in FLOATS if BITS[t] == BITS[e]]
                if peers:
                    target = rng.choice(peers)
                    return self.define(
                        f"arith.bitcast {v.name} : {v.type} to "
                        f"{tensor(v.shape, target)}",
                        v.shape,
                        target,
                    )
            if wide and (not narrow or self.chance(0.5)):
                target = rng.choice(wide)
                kind = rng.choice(["extsi", "extui"])
            elif narrow:
                target, kind = rng.choice(narrow), "trunci"
            else:
                return None
            return self.define(
                f"arith.{kind} {v.name} : {v.type} to {tensor(v.shape, target)}",
                v.shape,
                target,
            )
        if v.bitsKnown and e != "f4E2M1FN" and self.chance(0.15):
            peers = [t for t in INTEGERS[:5] if BITS[t] == BITS[e]]
            target = rng.choice(peers)
            return self.define(
                f"arith.bitcast {v.name} : {v.type} to {tensor(v.shape, target)}",
                v.shape,
                target,
            )
        if e in WIDE_FLOATS and v.bounded and v.largest < 2**30 and self.chance(0.15):
            return self.define(
                f"arith.fptosi {v.name} : {v.type} to {tensor(v.shape, 'i32')}",
                v.shape,
                "i32",
            )
        return self.convert(v, rng.choice([t for t in FLOATS if t != e]))

    def convert(self, v, target):
        if v.element == target:
            return v
        rounding, attributes = "", ""
        step, largest = v.step, v.largest
        if target == "f8E8M0FNU":
            rounding = self.rng.choice([" toward_zero", " upward"])
            step = -127 if v.bounded else None
            largest = 2 * largest if v.bounded else None
        elif target in ("f8E4M3FN", "f8E5M2") and self.chance(0.3):
            attributes = " {saturate = false}"
            if v.bounded and v.largest > MAX[target] / 2:
                step = largest = None
        elif target in SHORT_FLOATS:
            # Saturates; FP4 has no NaN.
            if target == "f4E2M1FN":
                step, largest = -1, min(6.0, 2 * largest if v.bounded else 6.0)
            elif v.bounded:
                largest = min(largest * 1.2, MAX[target])
        elif v.bounded and BITS[target] < BITS[v.element]:
            largest = largest * 1.01
        return self.define(
            f"tile.ftof {v.name}{rounding}{attributes} : {v.type} -> "
            f"{tensor(v.shape, target)}",
            v.shape,
            target,
            step,
            largest,
            v.zeros,
        )

    def like(self, v, text, shape):
        return self.define(text, shape, v.element, v.step, v.largest, v.zeros)

    def permute(self, v=None, order=None):
        v = v or self.pick()
        if not v or not v.shape:
            return None
        if order is None:
            order = list(range(len(v.shape)))
            self.rng.shuffle(order)
        shape = [v.shape[d] for d in order]
        return self.like(
            v,
            f"tile.permute {v.name} {order} : {v.type} -> "
            f"{tensor(shape, v.element)}",
            shape,
        )

    def reshape(self, v=None, shape=None):
        v = v or self.pick()
        if not v:
            return None
        if shape is None:
            shape = [1] * self.rng.randint(1, 5)
            for _ in range(int(math.log2(count(v.shape)))):
                shape[self.rng.randrange(len(shape))] *= 2
        return self.like(
            v,
            f"tile.reshape {v.name} : {v.type} -> {tensor(shape, v.element)}",
            shape,
        )

    def broadcast(self):
        v = self.pick(lambda v: 1 in v.shape)
        if not v:
            return None
        shape = list(v.shape)
        for dim in range(len(shape)):
            while shape[dim] < 64 and v.shape[dim] == 1 and self.chance(0.6):
                if count(shape) * 2 > self.maxElements:
                    break
                shape[dim] *= 2
        return self.like(
            v,
            f"tile.broadcast {v.name} : {v.type} -> {tensor(shape, v.element)}",
            shape,
        )

    def reduce(self):
        v = self.pick(lambda v: v.shape and v.element != PAIR)
        if not v:
            return None
        dim = self.rng.randrange(len(v.shape))
        extent = v.shape[dim]
        kinds = ["max", "min"]
        step, largest, zeros = v.step, v.largest, v.zeros
        if not v.isFloat:
            kinds = ["and", "or", "xor"]
            if v.element != "i1":
                kinds += ["add", "mul", "max", "min"]
        elif v.element in WIDE_FLOATS and v.exact:
            if extent * v.largest <= 2.0 ** (v.step + 24):
                kinds += ["add", "add"]
            if extent <= 4 and v.largest**extent <= 2.0 ** (v.step * extent + 24):
                kinds += ["mul"]
        kind = self.rng.choice(kinds)
        if v.isFloat and kind == "add":
            largest, zeros = 1.01 * extent * v.largest, True
        if v.isFloat and kind == "mul":
            step, largest = v.step * extent, 1.01 * max(1, v.largest) ** extent
        shape = v.shape[:dim] + v.shape[dim + 1 :]
        return self.define(
            f"tile.reduce {kind} {v.name} [{dim}] : {v.type} -> "
            f"{tensor(shape, v.element)}",
            shape,
            v.element,
            step,
            largest,
            zeros,
        )

    def unpack(self, v=None, element=None):
        v = v or self.pick(
            lambda v: v.element in ("i8", PAIR) and v.shape and v.shape[-1] > 1
        )
        if not v:
            return None
        if element is None:
            choices = ["f4E2M1FN"]
            if v.element == "i8":
                choices += [
                    t
                    for t in FLOATS[1:] + INTEGERS[1:5]
                    if t != "i8" and BITS[t] // 8 <= v.shape[-1]
                ]
            element = self.rng.choice(choices)
        shape = list(v.shape[:-1]) + [v.shape[-1] * 8 // BITS[element]]
        step, largest = (-1, 6.0) if element == "f4E2M1FN" else (None, None)
        return self.define(
            f"tile.unpack {v.name} : {v.type} -> {tensor(shape, element)}",
            shape,
            element,
            step,
            largest,
        )

    def pack(self, v=None, target=None):
        v = v or self.pick(
            lambda v: v.element not in ("i1", "index", PAIR)
            and v.shape
            and v.bitsKnown
            and (v.element != "f4E2M1FN" or v.shape[-1] > 1)
            and count(v.shape) * BITS[v.element] // 8 <= self.maxElements
        )
        if not v:
            return None
        target = target or "i8"
        if v.element == "f4E2M1FN" and self.chance(0.5):
            target = PAIR
        shape = list(v.shape[:-1]) + [v.shape[-1] * BITS[v.element] // 8]
        return self.define(
            f"tile.pack {v.name} : {v.type} -> {tensor(shape, target)}",
            shape,
            target,
        )

    def iota(self, extent=None, element=None):
        extent = extent or 1 << self.rng.randint(0, 8)
        element = element or self.rng.choice(["i32", "i64", "index", "i16"])
        return self.define(
            f"tile.iota : {tensor([extent], element)}", [extent], element
        )

    def extract(self, v):
        """A scalar of the tile, by name."""
        at = [
            (
                self.index(self.rng.randrange(extent))
                if self.chance(0.6) or extent < 2
                else self.index(extent - 1)
            )
            for extent in v.shape
        ]
        name = self.name()
        self.emit(f"{name} = tensor.extract {v.name}[{', '.join(at)}] : {v.type}")
        return name

    def splat(self):
        v = self.pick(
            lambda v: v.element in INTEGERS + WIDE_FLOATS and count(v.shape) <= 256
        )
        if not v:
            return None
        scalar = self.extract(v)
        shape = self.shape()
        return self.like(
            v, f"tensor.splat {scalar} : {tensor(shape, v.element)}", shape
        )

    def positions(self, shape, dim, unique):
        """An index tile for dimension `dim` of a gather or scatter."""
        rng = self.rng
        element = rng.choice(["i32", "i64", "index"])
        line = self.iota(shape[dim], element)
        moves = ["reverse", "offset", "none"]
        if not unique:
            moves += ["triple", "huge"]
        move = rng.choice(moves)
        if move != "none":
            scale, offset = {
                "reverse": (-1, shape[dim] - 1),
                "offset": (1, rng.randint(-shape[dim], shape[dim])),
                "triple": (3, -5),
                "huge": (1 << 29, rng.choice([-7, 0, 3])),
            }[move]
            a = self.define(
                f"arith.constant dense<{scale}> : {line.type}", line.shape, element
            )
            b = self.define(
                f"arith.constant dense<{offset}> : {line.type}", line.shape, element
            )
            c = self.define(
                f"arith.muli {line.name}, {a.name} : {line.type}", line.shape, element
            )
            line = self.define(
                f"arith.addi {c.name}, {b.name} : {line.type}", line.shape, element
            )
        flat = [1] * len(shape)
        flat[dim] = shape[dim]
        return self.reshape(line, flat)

    def gather(self):
        if self.inFunction:
            return None
        shape = self.shape(rank=self.rng.choice([1, 2, 2, 3]))
        element = self.rng.choice(FLOATS[1:] + INTEGERS[1:5] + [PAIR])
        name, type, _ = self.memory(shape, element, "in")
        indices = [self.positions(shape, d, False) for d in range(len(shape))]
        mask, maskType = "", ""
        if self.chance(0.5):
            value = self.compare(self.load(shape, "i8"))
            mask, maskType = f" mask {value.name}", f", {value.type}"
        step, largest = LOADED.get(element, (None, None))
        return self.define(
            f"tile.gather {name}[{', '.join(i.name for i in indices)}]{mask} : "
            f"{type}, {', '.join(i.type for i in indices)}{maskType} -> "
            f"{tensor(shape, element)}",
            shape,
            element,
            step,
            largest,
        )

    def operand(self, rows, columns, element, batch):
        """A matrix of exact values, loaded or made of what there is."""
        shape = ([batch] if batch else []) + [rows, columns]
        found = self.pick(
            lambda v: count(v.shape) == count(shape)
            and v.isFloat
            and v.exact
            and v.element != "f8E8M0FNU"
        )
        if found and self.chance(0.5):
            value = self.convert(found, element)
            if list(value.shape) != shape:
                value = self.reshape(value, shape)
            return value
        if self.chance(0.5):
            turned = shape[:-2] + [columns, rows]
            order = list(range(len(shape)))
            order[-2:] = reversed(order[-2:])
            return self.permute(self.load(turned, element), order)
        return self.load(shape, element)

    def scale(self, rows, columns, element, batch):
        shape = ([batch] if batch else []) + [rows, columns]
        if self.inFunction:
            return self.define(
                f"arith.constant dense<2.0> : {tensor(shape, element)}",
                shape,
                element,
                1,
                2.0,
            )
        turned = self.chance(0.5)
        order = list(range(len(shape)))
        if turned:
            shape[-2:] = reversed(shape[-2:])
            order[-2:] = reversed(order[-2:])
        name, type, _ = self.memory(shape, element, "in")
        parameter, argument = self.parameters[-1]
        self.parameters[-1] = (parameter, argument + ":scale")
        at = ", ".join(self.index(0) for _ in shape)
        step, largest = (0, 4.0) if element == "f8E8M0FNU" else (-1, 3.0)
        value = self.define(
            f"tile.load {name}[{at}] : {type} -> {tensor(shape, element)}",
            shape,
            element,
            step,
            largest,
        )
        # A 0 outside the array is 2^-127.
        if element == "f8E8M0FNU":
            bits = self.define(
                f"arith.bitcast {value.name} : {value.type} to {tensor(shape, 'i8')}",
                shape,
                "i8",
            )
            zero = self.define(f"arith.constant dense<0> : {bits.type}", shape, "i8")
            inside = self.define(
                f"arith.cmpi ne, {bits.name}, {zero.name} : {bits.type}", shape, "i1"
            )
            one = self.define(
                f"arith.constant dense<1.0> : {value.type}", shape, element, 0, 1.0
            )
            value = self.define(
                f"arith.select {inside.name}, {value.name}, {one.name} : "
                f"{inside.type}, {value.type}",
                shape,
                element,
                0,
                4.0,
            )
        return self.permute(value, order) if turned else value

    def multiply(self, acc=None):
        rng = self.rng
        a, sa, b, sb, v = rng.choice(MMA_FORMS)
        if acc:
            batch = acc.shape[0] if len(acc.shape) == 3 else 0
            m, n = acc.shape[-2:]
        else:
            batch = rng.choice([0, 0, 0, 1, 2, 4])
            m, n = 1 << rng.randint(0, 6), 1 << rng.randint(0, 6)
        k = 1 << rng.randint(0, 7)
        if v:
            k = max(k, v)
        if max(m, n) * k * max(batch, 1) > 8192:
            return None
        lhs = self.operand(m, k, a, batch)
        rhs = self.operand(k, n, b, batch)
        scales = []
        if sa:
            scales.append(self.scale(m, k // v, sa, batch))
        if sb:
            scales.append(self.scale(k // v, n, sb, batch))
        shape = ([batch] if batch else []) + [m, n]
        if not acc:
            acc = self.pick(
                lambda v: v.element == "f32" and list(v.shape) == shape and v.exact
            )
            if not acc or self.chance(0.3):
                acc = self.constant(shape, "f32")
        if not (lhs.exact and rhs.exact and acc.exact):
            return None
        step = lhs.step + rhs.step + sum(s.step for s in scales)
        largest = k * lhs.largest * rhs.largest * math.prod(s.largest for s in scales)
        step, largest = min(step, acc.step), largest + acc.largest
        if largest > 2.0 ** (step + 24):
            return None
        op = "tile.mmaf_scaled" if v else "tile.mmaf"
        values = [lhs, rhs, acc] + scales
        self.zeros = True
        return self.define(
            f"{op} {', '.join(x.name for x in values)} : "
            f"{', '.join(x.type for x in values)}",
            shape,
            "f32",
            step,
            largest,
            True,
        )

    def store(self, v):
        if v.element == "i1":
            v = self.define(
                f"arith.extui {v.name} : {v.type} to {tensor(v.shape, 'i8')}",
                v.shape,
                "i8",
            )
        elif v.element == "index":
            v = self.define(
                f"arith.index_cast {v.name} : {v.type} to {tensor(v.shape, 'i64')}",
                v.shape,
                "i64",
            )
        elif v.element == "f4E2M1FN":
            if not v.shape or v.shape[-1] < 2 or v.zeros or self.chance(0.2):
                v = self.convert(v, "f32")
            else:
                v = self.pack(v)
        if not v.shape:
            v = self.reshape(v, [1])
        self.zeros |= v.zeros
        single = self.grid == (1, 1)
        dim = self.rng.randrange(len(v.shape))
        extents = list(v.shape)
        if not single:
            extents[dim] *= self.rng.choice([2, 4])
        role = self.rng.choice(["out", "inout"])
        name, type, _ = self.memory(extents, v.element, role)
        if self.chance(0.2) and len(v.shape) <= 3 and single:
            indices = [self.positions(v.shape, d, True) for d in range(len(v.shape))]
            mask, maskType = "", ""
            if self.chance(0.5):
                value = self.compare(self.load(v.shape, "i8"))
                mask, maskType = f" mask {value.name}", f", {value.type}"
            self.emit(
                f"tile.scatter {v.name}, {name}"
                f"[{', '.join(i.name for i in indices)}]{mask} : {v.type}, {type}, "
                f"{', '.join(i.type for i in indices)}{maskType}"
            )
            return
        at = [self.index(0) for _ in v.shape]
        if not single:
            # Each program writes a tile of its own.
            x, y, extent, row, linear = (self.name() for _ in range(5))
            self.emit(f"{x} = tile.program_id 0")
            self.emit(f"{y} = tile.program_id 1")
            self.emit(f"{extent} = tile.num_programs 1")
            self.emit(f"{row} = arith.muli {x}, {extent} : index")
            self.emit(f"{linear} = arith.addi {row}, {y} : index")
            at[dim] = linear
        self.emit(f"tile.store {v.name}, {name}[{', '.join(at)}] : {v.type}, {type}")

    # Control flow.

    def scoped(self, body):
        """Runs `body` one level in; what it defines ends with it."""
        pool, indices = list(self.pool), list(self.indices)
        self.indent += 1
        self.depth += 1
        result = body()
        self.indent -= 1
        self.depth -= 1
        self.pool, self.indices = pool, indices
        return result

    def carried(self):
        values = []
        for _ in range(self.rng.randint(1, 3)):
            v = self.pick(lambda v: v not in values)
            if v:
                values.append(v)
        return values

    def body(self, steps):
        for _ in range(steps):
            self.step()

    def replacement(self, v, known):
        """A value of the type of `v`, preferably made after `known` others."""
        fresh = [w for w in self.pool[known:] if w.type == v.type]
        if fresh and self.chance(0.8):
            return self.rng.choice(fresh)
        return self.same(v)

    def unknown(self, name, v):
        """What is known of a value that a loop carries in place of `v`."""
        step, largest = None, None
        if v.element == "f4E2M1FN":
            step, largest = -1, 6.0
        return Value(name, v.shape, v.element, step, largest, v.isFloat)

    def forLoop(self):
        inits = self.carried()
        if not inits:
            return None
        trips = self.rng.choice([0, 1, 1, 2, 3])
        lower, upper, step = self.index(0), self.index(trips * 2), self.index(2)
        if self.chance(0.3) and not self.inFunction:
            upper = self.parameter("index", f"val:{trips * 2}")
        results, iv = self.name(), self.name()
        names = [self.name() for _ in inits]
        pairs = ", ".join(f"{n} = {v.name}" for n, v in zip(names, inits))
        types = ", ".join(v.type for v in inits)
        number = f":{len(inits)}" if len(inits) > 1 else ""
        self.emit(
            f"{results}{number} = scf.for {iv} = {lower} to {upper} step {step} "
            f"iter_args({pairs}) -> ({types}) {{"
        )

        def inside():
            self.indices.append(iv)
            known = len(self.pool)
            self.pool += [self.unknown(n, v) for n, v in zip(names, inits)]
            self.body(self.rng.randint(1, 5))
            out = [self.replacement(v, known + len(inits)) for v in inits]
            self.emit(
                f"scf.yield {', '.join(o.name for o in out)} : "
                f"{', '.join(o.type for o in out)}"
            )

        self.scoped(inside)
        self.emit("}")
        for i, v in enumerate(inits):
            name = f"{results}#{i}" if number else results
            self.pool.append(self.unknown(name, v))
        return self.pool[-1]

    def sumLoop(self):
        """A multiply over steps of K, the accumulator carried."""
        rng = self.rng
        batch = rng.choice([0, 0, 2])
        shape = (
            ([batch] if batch else [])
            + [1 << rng.randint(0, 6)]
            + [1 << rng.randint(0, 6)]
        )
        zero = self.define(
            f"arith.constant dense<0.0> : {tensor(shape, 'f32')}",
            shape,
            "f32",
            0,
            0.0,
        )
        trips = rng.choice([0, 1, 2, 3])
        lower, upper, one = self.index(0), self.index(trips), self.index(1)
        result, iv, name = self.name(), self.name(), self.name()
        self.emit(
            f"{result} = scf.for {iv} = {lower} to {upper} step {one} "
            f"iter_args({name} = {zero.name}) -> ({zero.type}) {{"
        )
        found = []

        def inside():
            self.indices.append(iv)
            # Three sums of 2^18 of the smallest step fit.
            acc = Value(name, shape, "f32", -6, 2.0**14, True)
            out = self.multiply(acc)
            if out and out.step >= -8 and out.largest <= 2.0**14 + 2.0**13:
                found.append(out)
            self.emit(f"scf.yield {(found[0].name if found else name)} : {acc.type}")

        self.scoped(inside)
        self.emit("}")
        value = Value(result, shape, "f32", None, None, True)
        if found:
            value.step, value.largest = found[0].step, 3 * found[0].largest
        self.zeros = True
        self.pool.append(value)
        return value

    def condition(self):
        name = self.name()
        if self.inFunction or self.chance(0.4):
            v = self.pick(lambda v: v.element == "i1" and count(v.shape) <= 256)
            if v:
                return self.extract(v)
        if self.inFunction:
            self.emit(f"{name} = arith.constant {self.rng.choice(['true', 'false'])}")
            return name
        a, b = self.scalarIndex(), self.scalarIndex()
        kind = self.rng.choice(["eq", "ne", "slt", "uge"])
        self.emit(f"{name} = arith.cmpi {kind}, {a}, {b} : index")
        return name

    def branch(self):
        values = self.carried()
        if not values:
            return None
        condition = self.condition()
        results = self.name()
        number = f":{len(values)}" if len(values) > 1 else ""
        types = ", ".join(v.type for v in values)
        self.emit(f"{results}{number} = scf.if {condition} -> ({types}) {{")
        out = []

        def inside():
            known = len(self.pool)
            self.body(self.rng.randint(0, 4))
            yields = [self.replacement(v, known) for v in values]
            out.append(yields)
            self.emit(
                f"scf.yield {', '.join(o.name for o in yields)} : "
                f"{', '.join(o.type for o in yields)}"
            )

        self.scoped(inside)
        self.emit("} else {")
        self.scoped(inside)
        self.emit("}")
        for i in range(len(values)):
            a, b = out[0][i], out[1][i]
            name = f"{results}#{i}" if number else results
            self.pool.append(
                Value(
                    name,
                    a.shape,
                    a.element,
                    min(a.step, b.step) if a.exact and b.exact else None,
                    max(a.largest, b.largest) if a.bounded and b.bounded else None,
                    a.zeros or b.zeros,
                )
            )
        return self.pool[-1]

    def whileLoop(self):
        v = self.pick()
        if not v or self.inFunction:
            return None
        zero, limit = self.index(0), self.index(self.rng.choice([0, 1, 2]))
        one = self.index(1)
        results, count_, tile = self.name(), self.name(), self.name()
        count2, tile2, more, following = (self.name() for _ in range(4))
        self.emit(
            f"{results}:2 = scf.while ({count_} = {zero}, {tile} = {v.name}) : "
            f"(index, {v.type}) -> (index, {v.type}) {{"
        )

        def before():
            self.emit(f"{more} = arith.cmpi slt, {count_}, {limit} : index")
            self.pool.append(self.unknown(tile, v))
            self.body(self.rng.randint(0, 2))
            self.emit(f"scf.condition({more}) {count_}, {tile} : index, {v.type}")

        self.scoped(before)
        self.emit("} do {")
        self.indent += 1
        self.emit(f"^bb0({count2}: index, {tile2}: {v.type}):")
        self.indent -= 1

        def after():
            known = len(self.pool)
            self.pool.append(self.unknown(tile2, v))
            self.body(self.rng.randint(1, 4))
            out = self.replacement(v, known + 1)
            self.emit(f"{following} = arith.addi {count2}, {one} : index")
            self.emit(f"scf.yield {following}, {out.name} : index, {v.type}")

        self.scoped(after)
        self.emit("}")
        self.pool.append(self.unknown(f"{results}#1", v))
        return self.pool[-1]

    def call(self):
        """A private function of some tiles, defined and called."""
        if self.inFunction or self.depth:
            return None
        inputs = self.carried()
        if not inputs:
            return None
        saved = self.lines, self.pool, self.indices, self.indent
        self.lines, self.indices, self.indent = [], [], 1
        name = f"@f{len(self.functions)}"
        arguments = [
            Value(self.name(), v.shape, v.element, v.step, v.largest, v.zeros)
            for v in inputs
        ]
        self.pool = list(arguments)
        self.inFunction = True
        self.body(self.rng.randint(1, 5))
        self.inFunction = False
        out = self.pick()
        self.emit(f"return {out.name} : {out.type}")
        head = ", ".join(f"{a.name}: {a.type}" for a in arguments)
        self.functions.append(
            [f"func.func private {name}({head}) -> {out.type} {{"] + self.lines + ["}"]
        )
        self.lines, self.pool, self.indices, self.indent = saved
        types = ", ".join(v.type for v in inputs)
        return self.like(
            out,
            f"func.call {name}({', '.join(v.name for v in inputs)}) : "
            f"({types}) -> {out.type}",
            out.shape,
        )

    def step(self):
        if self.budget <= 0:
            return
        self.budget -= 1
        options = [
            (8, self.load),
            (8, self.arithmetic),
            (5, self.integer),
            (3, self.compare),
            (4, self.select),
            (9, self.cast),
            (6, self.permute),
            (5, self.reshape),
            (4, self.broadcast),
            (6, self.reduce),
            (5, self.unpack),
            (4, self.pack),
            (1, self.iota),
            (2, self.splat),
            (3, self.gather),
            (5, self.multiply),
        ]
        if self.depth < 3:
            options += [
                (3, self.forLoop),
                (3, self.sumLoop),
                (3, self.branch),
                (1, self.whileLoop),
                (1, self.call),
            ]
        weights = [w for w, _ in options]
        self.rng.choices(options, weights)[0][1]()

    def program(self):
        self.load()
        while self.budget > 0:
            self.step()
        # The newest values depend on the most operations.
        values = self.pool[-4:]
        for _ in range(2):
            v = self.pick()
            if v not in values:
                values.append(v)
        for v in values:
            self.store(v)
        text = []
        for function in self.functions:
            text += function + [""]
        parameters = ",\n    ".join(p for p, _ in self.parameters)
        attributes = ["tile.kernel"]
        text += [f"func.func @kernel(\n    {parameters})"]
        text += [f"    attributes {{{', '.join(attributes)}}} {{"]
        text += self.lines + ["  return", "}"]
        return "\n".join(text) + "\n"

    def arguments(self):
        return [a for _, a in self.parameters]

    def options(self):
        rng = self.rng
        options = [f"--grid={self.grid[0]},{self.grid[1]}"]
        if rng.random() < 0.7:
            options.append(f"--num-warps={rng.choice([1, 1, 2, 4, 4, 8, 16, 32])}")
        if rng.random() < 0.2:
            options.append("--mma-path=expand")
        if rng.random() < 0.3:
            options.append("--fp4-cvt=software")
        if rng.random() < 0.5:
            options.append(f"--schedule={rng.randint(1, 99)}")
        if self.zeros:
            # 0 and -0 are equal.
            options.append("--absolute=1e-300")
        return options


def make(seed):
    generator = Generator(seed)
    text = generator.program()
    return text, generator.options() + generator.arguments()


def check(tool, folder, targets, seed):
    """Runs one seed; returns its command and its message, None if it passed."""
    text, options = make(seed)
    path = os.path.join(folder, f"random-{seed}.mlir")
    with open(path, "w") as file:
        file.write(text)
    command = [tool, "--check", path, f"--target={targets}", f"--seed={seed}"]
    command += options
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        code, message = done.returncode, done.stderr
    except subprocess.TimeoutExpired:
        code, message = 1, "timeout"
    if code == 0:
        os.remove(path)
        return None
    return " ".join(command), message


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("first", type=int)
    parser.add_argument("end", type=int, nargs="?")
    parser.add_argument("--tool", default="tile-lane-run")
    parser.add_argument("--targets", default="sm_80,sm_90,sm_100a,sm_120,sm_120f")
    parser.add_argument("--folder", default=None)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--print", action="store_true")
    options = parser.parse_args()
    end = options.end or options.first + 1
    if options.print:
        for seed in range(options.first, end):
            text, command = make(seed)
            print(text + "// " + " ".join(command))
        return 0
    folder = options.folder or tempfile.mkdtemp(prefix="random-kernels-")
    os.makedirs(folder, exist_ok=True)
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        seeds = range(options.first, end)
        run = lambda seed: check(options.tool, folder, options.targets, seed)
        for seed, result in zip(seeds, pool.map(run, seeds)):
            if result is None:
                continue
            failures += 1
            command, message = result
            print(f"seed {seed} failed\n{command}\n{message}", flush=True)
    print(f"{end - options.first - failures} of {end - options.first} kernels agree")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
