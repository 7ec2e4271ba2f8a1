"""Compares the target and instruction tables with what ptxas accepts.

For every target and capability: where the table says that a target has it, a
snippet must assemble at the `.version` of the table and be refused one version
lower; where the table says that it has not, every snippet must be refused at
the highest version that the compiler emits. The same for every entry of the
instruction table. Acceptance says nothing about speed, so plain FP8 multiplies
are also looked up in the machine code.
"""

import argparse
import concurrent.futures
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

VERSIONS = (
    ["6.5"]
    + ["7.%d" % minor for minor in range(9)]
    + ["8.%d" % minor for minor in range(9)]
    + ["9.0", "9.1", "9.2"]
)
# The highest version that LLVM writes.
HIGHEST = "9.0"

# Where an assembler is laxer than its documentation: (release, target) whose
# lowest version it does not enforce.
LAX_MINIMUM = {("13.0", "sm_88")}

A4, B2, C4, D4 = "{r0,r1,r2,r3}", "{r4,r5}", "{f0,f1,f2,f3}", "{f4,f5,f6,f7}"
SCALES = "r6, {h0,h1}, r7, {h0,h1}"
TENSOR_MAP_LOAD = (
    "cp.async.bulk.tensor.2d.shared::cluster.global.tile"
    ".mbarrier::complete_tx::bytes [smem], [rd0, {r0,r1}], [smem+1024];"
)


def tcgen05_mma(kind, scale=None):
    start = f"tcgen05.mma.cta_group::1.kind::{kind}"
    if not scale:
        return f"{start} [r0], rd0, rd1, r1, p0;"
    return f"{start}.block_scale.{scale} [r0], rd0, rd1, r1, [r2], [r3], p0;"


# Per capability, instructions that must assemble together. The first one alone
# is what a lower version must refuse.
SNIPPETS = {
    "mma-bf16": [
        f"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {D4},{A4},{B2},{C4};",
        f"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {D4},{A4},{B2},{C4};",
    ],
    "mma-fp8": [
        f"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {D4},{A4},{B2},{C4};",
        f"mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32 {D4},{A4},{B2},{C4};",
    ],
    "mma-fp8-full-sum": [
        f"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {D4},{A4},{B2},{C4};",
    ],
    "mma-block-scale": [
        "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X"
        f".f32.e2m1.e2m1.f32.ue4m3 {D4},{A4},{B2},{C4},{SCALES};",
        "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X"
        f".f32.e2m1.e2m1.f32.ue8m0 {D4},{A4},{B2},{C4},{SCALES};",
        "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X"
        f".f32.e4m3.e4m3.f32.ue8m0 {D4},{A4},{B2},{C4},{SCALES};",
    ],
    "tcgen05": [
        tcgen05_mma("mxf4nvf4", "block16"),
        tcgen05_mma("mxf4", "block32"),
        tcgen05_mma("mxf8f6f4", "block32"),
        tcgen05_mma("f16"),
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [smem], 128;"
        " tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"
        " tcgen05.dealloc.cta_group::1.sync.aligned.b32 r0, 128;",
        "tcgen05.cp.cta_group::1.32x128b.warpx4 [r0], rd0;",
        f"tcgen05.ld.sync.aligned.32x32b.x4.b32 {A4}, [r4];"
        " tcgen05.wait::ld.sync.aligned;",
        f"tcgen05.st.sync.aligned.32x32b.x4.b32 [r4], {A4};"
        " tcgen05.wait::st.sync.aligned;",
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64"
        " [smem];",
        "tcgen05.fence::before_thread_sync; tcgen05.fence::after_thread_sync;",
    ],
    "tcgen05-scale-vec": [
        tcgen05_mma("mxf4nvf4", "scale_vec::4X"),
        tcgen05_mma("mxf4", "scale_vec::2X"),
        tcgen05_mma("mxf8f6f4", "scale_vec::1X"),
    ],
    "cvt-fp8": [
        "cvt.rn.satfinite.e4m3x2.f32 h0, f0, f1;",
        "cvt.rn.satfinite.e5m2x2.f32 h0, f0, f1;",
        "cvt.rn.satfinite.e4m3x2.f16x2 h0, r0;",
        "cvt.rn.f16x2.e4m3x2 r0, h0;",
        "cvt.rn.f16x2.e5m2x2 r0, h0;",
    ],
    "cvt-fp4": [
        "{ .reg .b8 b; cvt.rn.satfinite.e2m1x2.f32 b, f0, f1; mov.b16 h0, {b, b}; }",
        "{ .reg .b8 b, c; mov.b16 {b, c}, h0; cvt.rn.f16x2.e2m1x2 r0, b; }",
    ],
    "cvt-e8m0": [
        "cvt.rz.satfinite.ue8m0x2.f32 h0, f0, f1;",
        "cvt.rp.satfinite.ue8m0x2.f32 h0, f0, f1;",
        "cvt.rn.bf16x2.ue8m0x2 r0, h0;",
    ],
    "cvt-to-bf16": [
        "{ .reg .b8 b, c; mov.b16 {b, c}, h0; cvt.rn.bf16x2.e2m1x2 r0, b; }",
        "cvt.rn.bf16x2.e4m3x2 r0, h0;",
        "cvt.rn.bf16x2.e5m2x2 r0, h0;",
    ],
    "mul-bf16x2": ["mul.rn.bf16x2 r0, r1, r2;", "add.rn.bf16x2 r0, r1, r2;"],
    "cp-async": [
        "cp.async.cg.shared.global [smem], [rd0], 16, r0;"
        " cp.async.commit_group; cp.async.wait_group 1;",
        "cp.async.ca.shared.global [smem], [rd0], 4;",
    ],
    "cp-async-ignore-source": [
        "cp.async.cg.shared.global [smem], [rd0], 16, p0;",
        "cp.async.ca.shared.global [smem], [rd0], 4, p0;",
    ],
    "tma": [
        TENSOR_MAP_LOAD,
        "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group"
        " [rd0, {r0,r1}], [smem]; cp.async.bulk.commit_group;"
        " cp.async.bulk.wait_group.read 0;",
    ],
    "ldmatrix": [
        f"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {A4}, [r4];",
        f"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {A4}, [r4];",
    ],
    "ldmatrix-b8": [
        f"ldmatrix.sync.aligned.m16n16.x2.trans.shared.b8 {A4}, [r4];",
        f"ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64 {A4}, [r4];",
    ],
    "stmatrix": [
        f"stmatrix.sync.aligned.m8n8.x4.shared.b16 [r4], {A4};",
        f"stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [r4], {A4};",
    ],
    "mbarrier-tx": [
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [smem], 128;",
        "mbarrier.try_wait.parity.shared::cta.b64 p0, [smem], r0;",
    ],
    "wgmma": [
        "wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16"
        ".f32.bf16.bf16 {f0,f1,f2,f3}, rd0, rd1, 1, 1, 1, 0, 0;"
        " wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;",
    ],
    "setmaxnreg": ["setmaxnreg.dec.sync.aligned.u32 40;"],
    "elect-sync": ["elect.sync _|p0, 0xffffffff;"],
    "griddepcontrol": [
        "griddepcontrol.launch_dependents;",
        "griddepcontrol.wait;",
    ],
}

# Its absence at the versions that we emit is why `f4E2M1FN` with `f8E8M0FNU`
# scales over 16 values takes two instructions.
FOUR_E8M0_SCALES = (
    "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X"
    f".f32.e2m1.e2m1.f32.ue8m0 {D4},{A4},{B2},{C4},{SCALES};"
)

# A plain FP8 multiply whose operands and result are alive.
FP8_MULTIPLY = f"""
  ld.param.u64 rd0, [p];
  cvta.to.global.u64 rd0, rd0;
  ld.global.v4.b32 {A4}, [rd0];
  ld.global.v2.b32 {B2}, [rd0+16];
  ld.global.v4.f32 {C4}, [rd0+32];
  mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {D4},{A4},{B2},{C4};
  st.global.v4.f32 [rd0], {D4};"""
# Low 12 bits of a machine instruction.
HMMA, QMMA = 0x23C, 0x27A


def kernel(version, target, body):
    return f""".version {version}
.target {target}
.address_size 64
.extern .shared .align 1024 .b8 smem[];
.visible .entry k(.param .u64 p)
{{
  .reg .b32 r<8>;
  .reg .f32 f<8>;
  .reg .b64 rd<2>;
  .reg .b16 h0;
  .reg .b16 h1;
  .reg .pred p0;
  mov.b16 h0, 0;
  mov.b16 h1, 0;
  {body}
  ret;
}}
"""


def spell_atom(atom):
    """The instruction of an entry of the instruction table. What formats one of
    tensor memory multiplies stands in its descriptor."""
    if atom["issuer"] == "thread":
        block = f"block{atom['block']}" if "block" in atom else None
        return tcgen05_mma(atom["kind"], block)
    types = f"f32.{atom['lhs']}.{atom['rhs']}.f32"
    start = f"mma.sync.aligned.{atom['shape']}.row.col."
    operands = f"{D4},{A4},{B2},{C4}"
    if "kind" not in atom:
        return f"{start}{types} {operands};"
    scale = {"f8E8M0FNU": "ue8m0", "f8E4M3FN": "ue4m3"}[atom["scale"]]
    return (
        f"{start}kind::{atom['kind']}.block_scale.scale_vec::{atom['scaleVec']}X"
        f".{types}.{scale} {operands},{SCALES};"
    )


class Ptxas:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder
        text = subprocess.run([path, "--version"], capture_output=True, text=True)
        found = re.search(r"release (\d+)\.(\d+)", text.stdout)
        if not found:
            sys.exit(f"error: '{path} --version' names no release")
        self.release = ".".join(found.groups())
        if (int(found[1]), int(found[2])) < (13, 0):
            sys.exit(f"error: expects ptxas 13.0 or later, but got {self.release}")

    def run(self, version, target, body):
        """Returns the cubin, or None and the first error."""
        fd, source = tempfile.mkstemp(suffix=".ptx", dir=self.folder)
        with os.fdopen(fd, "w") as file:
            file.write(kernel(version, target, body))
        cubin = source + ".cubin"
        result = subprocess.run(
            [self.path, "-arch=" + target, "-o", cubin, source],
            capture_output=True,
            text=True,
        )
        os.remove(source)
        if result.returncode:
            errors = [l for l in result.stderr.splitlines() if "error" in l]
            message = (errors or result.stderr.splitlines() or ["no message"])[0]
            return None, message.split(": ", 1)[-1]
        with open(cubin, "rb") as file:
            data = file.read()
        os.remove(cubin)
        return data, None


def opcodes(cubin):
    """The low 12 bits of every instruction of a 64-bit ELF image."""
    sections_at = struct.unpack_from("<Q", cubin, 40)[0]
    count, names_index = struct.unpack_from("<HH", cubin, 60)
    headers = [
        struct.unpack_from("<IIQQQQIIQQ", cubin, sections_at + 64 * i)
        for i in range(count)
    ]
    names_at = headers[names_index][4]
    found = []
    for header in headers:
        name = cubin[names_at + header[0] :].split(b"\0", 1)[0]
        if name.startswith(b".text"):
            start, size = header[4], header[5]
            for at in range(start, start + size, 16):
                found.append(struct.unpack_from("<H", cubin, at)[0] & 0xFFF)
    return found


class Checker:
    """Each method returns a list of complaints."""

    def __init__(self, ptxas):
        self.ptxas = ptxas

    def accepts(self, what, version, target, body):
        _, error = self.ptxas.run(version, target, body)
        if error is None:
            return []
        return [f"{target}: {what}: refused at {version}: {error}"]

    def refuses(self, what, version, target, body):
        _, error = self.ptxas.run(version, target, body)
        if error is not None:
            return []
        return [f"{target}: {what}: accepted at {version}"]

    def refuses_below(self, what, version, target, body):
        lower = VERSIONS[VERSIONS.index(version) - 1]
        if (self.ptxas.release, target) in LAX_MINIMUM:
            return []
        return self.refuses(what, lower, target, body)

    def fp8_code(self, target, native):
        cubin, error = self.ptxas.run(HIGHEST, target, FP8_MULTIPLY)
        if error is not None:
            return [f"{target}: plain FP8 multiply: refused: {error}"]
        found = opcodes(cubin)
        counts = found.count(QMMA), found.count(HMMA)
        # Emulation multiplies twice as f16.
        expected = (1, 0) if native else (0, 2)
        if counts == expected:
            return []
        return [
            f"{target}: plain FP8 multiply: expects QMMA, HMMA = {expected},"
            f" but got {counts}"
        ]


def plan(table, checker, only):
    """Yields one callable per check."""
    if not only:
        for target in table["targets"]:
            name, lowest = target["name"], target["ptx"]
            yield lambda n=name, v=lowest: checker.accepts("empty", v, n, "")
            yield lambda n=name, v=lowest: checker.refuses_below("empty", v, n, "")
    for target in table["targets"]:
        name, has = target["name"], target["capabilities"]
        for capability, snippets in SNIPPETS.items():
            if only and capability != only:
                continue
            if capability in has:
                version = has[capability]
                args = (capability, version, name)
                yield lambda a=args, s=" ".join(snippets): checker.accepts(*a, s)
                yield lambda a=args, s=snippets[0]: checker.refuses_below(*a, s)
            elif capability != "mma-fp8-full-sum":
                for snippet in snippets:
                    yield lambda c=capability, n=name, s=snippet: checker.refuses(
                        f"{c} ({s.split()[0]})", HIGHEST, n, s
                    )
        if only:
            continue
        for spelling, atom in {spell_atom(a): a for a in table["atoms"]}.items():
            args = atom["name"], has.get(atom["capability"], HIGHEST), name
            check = checker.accepts if atom["capability"] in has else checker.refuses
            yield lambda c=check, a=args, s=spelling: c(*a, s)
        yield lambda n=name: checker.refuses(
            "4X with ue8m0", HIGHEST, n, FOUR_E8M0_SCALES
        )
        # Full sums need the instruction itself; sm_89 has one, too, of fewer
        # bits, which its machine code does not show.
        if "mma-fp8" in has:
            native = "mma-fp8-full-sum" in has or name == "sm_89"
            yield lambda n=name, x=native: checker.fp8_code(n, x)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ptxas", required=True)
    parser.add_argument("--table", required=True, help="JSON of tile-target-info")
    parser.add_argument("--only", help="check this capability alone")
    options = parser.parse_args()
    with open(options.table) as file:
        table = json.load(file)
    if set(table["capabilities"]) != set(SNIPPETS):
        difference = sorted(set(table["capabilities"]) ^ set(SNIPPETS))
        sys.exit("error: capabilities without a row or a snippet: %s" % difference)
    with tempfile.TemporaryDirectory() as folder:
        ptxas = Ptxas(options.ptxas, folder)
        checks = list(plan(table, Checker(ptxas), options.only))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda check: check(), checks))
    mismatches = [line for result in results for line in result]
    for line in mismatches:
        print(line)
    print(
        f"ptxas {ptxas.release}: {len(checks)} checks," f" {len(mismatches)} mismatches"
    )
    sys.exit(bool(mismatches))


if __name__ == "__main__":
    main()
