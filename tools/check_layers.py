#!/usr/bin/env python3
"""Checks who includes whom in src/firn against the table of modules in ARCHITECTURE.md.

Usage: check_layers.py [ROOT]
"""

import os
import pathlib
import re
import sys

from source_files import source_files

INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')
ALL_ABOVE = "all above"


def read_table(architecture):
    """Maps each module of the table to the set of modules it may include."""
    section = re.search(r"^## Modules\n(.*?)(?=^## |\Z)", architecture.read_text(), re.M | re.S)
    if section is None:
        raise SystemExit(f"{architecture}: no section '## Modules'")
    allowed = {}
    for line in section.group(1).splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or cells[0] == "module" or set(cells[0]) <= set("-: "):
            continue
        module, may_include = cells[0], cells[1]
        above = set(allowed)
        allowed[module] = above if may_include == ALL_ABOVE else set(may_include.split()) - {"-"}
        unknown = allowed[module] - above
        if unknown:
            raise SystemExit(f"{architecture}: {module} may include {', '.join(sorted(unknown))}, "
                             "which stands in no row above it")
    if not allowed:
        raise SystemExit(f"{architecture}: the table of modules is empty")
    return allowed


def is_test(path):
    return path.stem.endswith("_test") or path.name.startswith("test_")


def may_include(path, module, allowed):
    if not is_test(path):
        return allowed[module]
    rows = list(allowed)
    return set(rows[:rows.index(module)])


def problems_of_file(path, module, allowed, source_root):
    modules = may_include(path, module, allowed)
    for number, line in enumerate(path.read_text().splitlines(), 1):
        include = INCLUDE.match(line)
        if include is None:
            continue
        bracket, name = include.groups()
        where = f"{path}:{number}"
        if not name.startswith("firn/"):
            beside = (path.parent / name).exists() or (source_root / "firn" / name).exists()
            if bracket == '"' and beside:
                yield f'{where}: include "{name}" by its full name, "firn/..."'
            continue
        other = name.split("/")[1]
        if other != module and other not in modules:
            may = " ".join(sorted(modules)) or "nothing"
            yield f"{where}: {module} may not include {name} (of other modules it may include {may})"


def problems(root):
    allowed = read_table(root / "ARCHITECTURE.md")
    source_root = root / "src"
    for path in source_files(root, ["src/firn"]):
        module = path.relative_to(source_root / "firn").parts[0]
        if module in allowed:
            yield from problems_of_file(path, module, allowed, source_root)
        else:
            yield f"{path}: ARCHITECTURE.md has no row for the module {module}"


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    found = list(problems(pathlib.Path()))
    for problem in found:
        print(problem)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
