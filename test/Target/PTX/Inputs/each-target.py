"""Compiles a kernel for many targets and says in one line each what it became.

  sm_90: .version 7.8: 2 x mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32

The PTX is checked by check_ptx.py. With --ptxas it must assemble; without, the last
line says `not assembled`. With --lowest
it must also be refused at the `.version` below the one it has, which else would
not be the lowest. --also-on assembles it for other chips as well: what is written
for a family must run on each of its members.
"""

import argparse
import collections
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import check_ptx  # noqa: E402

VERSIONS = (
    ["6.5"]
    + ["7.%d" % minor for minor in range(9)]
    + ["8.%d" % minor for minor in range(9)]
    + ["9.0"]
)

# Where an assembler is laxer than its documentation: (release, target) whose
# lowest version it does not enforce.
LAX_MINIMUM = {("13.0", "sm_88")}


def run(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True)


def find_ptxas():
    """The assembler that tile-compile takes, or None."""
    if wish := os.environ.get("TILE_PTXAS"):
        return shutil.which(wish)
    checkout = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../..")
    candidates = glob.glob(
        checkout + "/.venv/lib/python*/site-packages/nvidia/cu13/bin/ptxas"
    )
    candidates.append(shutil.which("ptxas"))
    candidates.append(os.path.join(os.environ.get("CUDA_HOME", ""), "bin", "ptxas"))
    return next((c for c in candidates if c and os.access(c, os.X_OK)), None)


def get_release(ptxas):
    return re.search(r"release ([\d.]+)", run(ptxas, "--version").stdout)[1]


def assemble(ptxas, chip, ptx, folder):
    """Returns None, or the first error."""
    handle, source = tempfile.mkstemp(suffix=".ptx", dir=folder)
    with os.fdopen(handle, "w") as file:
        file.write(ptx)
    result = run(ptxas, "-arch=" + chip, "-o", source + ".cubin", source)
    if result.returncode == 0:
        return None
    lines = [l for l in result.stderr.splitlines() if "error" in l]
    return (lines or result.stderr.splitlines() or ["no message"])[0]


def describe(target, options, folder):
    """Returns the line of one target and its complaints."""
    compiled = run(
        "tile-compile", "--target=" + target, options.kernel, *options.arguments
    )
    if compiled.returncode:
        return f"{target}: {compiled.stderr.strip()}", [f"{target}: does not compile"]
    ptx = compiled.stdout
    faults = check_ptx.check(ptx)
    version = re.search(r"^\.version (\S+)$", ptx, re.MULTILINE)[1]
    if re.search(r"^\.target (\S+)$", ptx, re.MULTILINE)[1] != target:
        faults.append("has another .target")
    counts = collections.Counter(
        opcode for opcode, _ in check_ptx.find_multiplies(check_ptx.strip_comments(ptx))
    ) + collections.Counter(
        re.findall(r"\btcgen05\.mma\.[\w.:]*", check_ptx.strip_comments(ptx))
    )
    if options.ptxas:
        for chip in [target] + options.also_on:
            error = assemble(options.ptxas, chip, ptx, folder)
            if error:
                faults.append(f"refused for {chip}: {error}")
    if options.ptxas and options.lowest:
        lower = VERSIONS[VERSIONS.index(version) - 1]
        text = ptx.replace(f".version {version}\n", f".version {lower}\n")
        if (options.release, target) not in LAX_MINIMUM and not assemble(
            options.ptxas, target, text, folder
        ):
            faults.append(f"assembles at .version {lower}, too")
    what = ", ".join(f"{n} x {name}" for name, n in sorted(counts.items())) or "no mma"
    return f"{target}: .version {version}: {what}", [f"{target}: {f}" for f in faults]


def get_targets(names):
    table = json.loads(run("tile-target-info").stdout)
    known = [target["name"] for target in table["targets"]]
    return known if names == "all" else names.split(",")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--targets", default="all", help="NAME,… or all")
    parser.add_argument("--ptxas", help="FILE, or find: as tile-compile does")
    parser.add_argument("--also-on", default="", help="NAME,…")
    parser.add_argument("--lowest", action="store_true")
    parser.add_argument("kernel")
    parser.add_argument("arguments", nargs="*", help="of tile-compile, after --")
    options = parser.parse_args()
    options.also_on = [name for name in options.also_on.split(",") if name]
    if options.ptxas == "find":
        options.ptxas = find_ptxas() or ""
    # Asked for and not there is a fault, never a silent pass.
    if options.ptxas is not None and not shutil.which(options.ptxas):
        sys.exit(f"fault: no ptxas: '{options.ptxas}' is no program; run scripts/setup")
    if options.ptxas:
        options.release = get_release(options.ptxas)
    targets = get_targets(options.targets)
    with tempfile.TemporaryDirectory() as folder:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(
                pool.map(lambda target: describe(target, options, folder), targets)
            )
    complaints = [line for _, lines in results for line in lines]
    for line, _ in results:
        print(line)
    for line in complaints:
        print("fault:", line)
    print(f"{len(targets)} targets, {len(complaints)} faults")
    if not options.ptxas:
        print("not assembled: no --ptxas")
    sys.exit(bool(complaints))


if __name__ == "__main__":
    main()
