"""Checks the JSON of `--stats=json --stats-per-line` for the kernel `scale`."""

import json
import sys

stats = json.load(open(sys.argv[1]))
expected = {
    ("blocks",): 3,
    ("warps",): 3,
    ("instructions", "issued"): 49,
    ("instructions", "threads"): 1446,
    ("instructions", "divergent"): 7,
    ("instructions", "max-per-warp"): 17,
    ("instructions", "classes", "load-global", "threads"): 78,
    ("instructions", "classes", "load-other", "issued"): 12,
    ("instructions", "classes", "mma", "issued"): 0,
    ("mma",): {},
    ("global-loads", "bytes"): 312,
    ("global-loads", "sectors"): 10,
    ("global-loads", "efficiency"): 0.975,
    ("shared", "bank-conflicts"): 0,
    ("barriers",): 0,
}
for path, value in expected.items():
    found = stats
    for key in path:
        found = found[key]
    if found != value:
        sys.exit(f"{'.'.join(path)}: expected {value}, but got {found}")

lines = {line["line"]: line for line in stats["lines"]}
load = lines[35]
if (load["instruction"], load["class"], load["bytes"]) != (
    "ld.global.f32 %f2, [%rd4]",
    "load-global",
    312,
):
    sys.exit(f"line 35: {load}")
for key in ("issued", "threads"):
    total = sum(line[key] for line in stats["lines"])
    if total != stats["instructions"][key]:
        sys.exit(f"{key}: {total} in the lines, {stats['instructions'][key]} in all")
