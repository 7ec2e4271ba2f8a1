"""Holds the constraint numbers of the spec, the checks and the tests together.

compare-constraints.py SPEC SOURCE-DIR... -- TEST...

(C4) below the heading `mmaf_scaled` of the spec is the id mmaf_scaled_c4. Each id
must stand in a comment of the sources (C++ or TableGen) and name a function in an
-invalid test that expects an error, and the other way round.
"""

import pathlib
import re
import sys

ID = re.compile(r"\b[a-z_]+_c\d+\b")


def of_spec(path):
    ids, heading = set(), None
    for line in path.read_text().splitlines():
        if match := re.match(r"### (\w+)$", line):
            heading = match[1]
        if match := re.match(r"\* \(C(\d+)\) ", line):
            new = f"{heading}_c{match[1]}"
            if new in ids:
                sys.exit(f"{path.name}: {new} is defined twice")
            ids.add(new)
    return ids


def of_sources(folders):
    ids = set()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".cpp", ".h", ".td"):
                for comment in re.findall(r"//(.*)", path.read_text()):
                    ids.update(ID.findall(comment))
    return ids


def of_tests(paths):
    ids = set()
    for path in paths:
        for case in path.read_text().split("// -----"):
            if "expected-error" in case:
                ids.update(re.findall(r"@([a-z_]+_c\d+)[.(]", case))
    return ids


def main():
    split = sys.argv.index("--")
    spec, *sources = map(pathlib.Path, sys.argv[1:split])
    found = {
        "spec": of_spec(spec),
        "check": of_sources(sources),
        "test": of_tests(map(pathlib.Path, sys.argv[split + 1:])),
    }
    every = set.union(*found.values())
    complete = True
    for name in sorted(every):
        missing = [place for place, ids in found.items() if name not in ids]
        if missing:
            complete = False
            print(f"{name}: no {' and no '.join(missing)}")
    print(f"{len(every)} constraints, "
          + ("each with spec, check and test" if complete else "some incomplete"))
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
