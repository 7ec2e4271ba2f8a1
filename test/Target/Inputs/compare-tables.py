"""Checks that a page repeats generated tables, word for word.

A table stands between `<!-- table: NAME -->` and `<!-- end of table -->`, in
the page as in the generated text.
"""

import re
import sys

TABLE = re.compile(r"<!-- table: (\S+) -->\n(.*?)<!-- end of table -->", re.S)


def tables(path):
    with open(path, encoding="utf-8") as file:
        return {name: text.splitlines() for name, text in TABLE.findall(file.read())}


def main():
    page_path, generated_path = sys.argv[1:]
    page, generated = tables(page_path), tables(generated_path)
    failed = not generated
    for name in sorted(page.keys() | generated.keys()):
        if name not in page or name not in generated:
            where = page_path if name in page else generated_path
            print(f"table '{name}' is in {where} alone")
            failed = True
            continue
        for line in page[name]:
            if line not in generated[name]:
                print(f"table '{name}': only in the page: {line}")
        for line in generated[name]:
            if line not in page[name]:
                print(f"table '{name}': missing in the page: {line}")
        if page[name] != generated[name]:
            print(f"table '{name}' differs; paste it from {generated_path}")
            failed = True
    print(f"{len(generated)} tables, {'some differ' if failed else 'all equal'}")
    sys.exit(failed)


if __name__ == "__main__":
    main()
