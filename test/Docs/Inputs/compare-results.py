"""Checks examples that return a result and what is expected of it.

Reads canonicalised modules from standard input. In each function `@*_example`
without arguments that returns two values, both must have become one constant.
"""

import re
import sys

FUNCTION = re.compile(r"func\.func @(\w+_example)\(\) -> \((.*?)\) \{\n(.*?)\n  \}",
                      re.S)


def main():
    equal, different = 0, []
    for name, results, body in FUNCTION.findall(sys.stdin.read()):
        returned = re.search(r"return (%\w+), (%\w+) :", body)
        if not returned:
            continue
        if returned[1] == returned[2]:
            equal += 1
        else:
            different.append(name)
    for name in different:
        print(f"@{name}: the result is not the expected one")
    print(f"{equal} results as expected")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
