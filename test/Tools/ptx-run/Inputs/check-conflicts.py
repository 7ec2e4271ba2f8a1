"""Checks the bank conflicts in the JSON of conflicts.ptx."""

import json
import sys

shared = json.load(open(sys.argv[1]))["shared"]
expected = {
    "load-bytes": 128,
    "store-bytes": 256,
    "wavefronts": 34,
    "ideal-wavefronts": 3,
    "bank-conflicts": 31,
}
if shared != expected:
    sys.exit(f"expected {expected}, but got {shared}")
