#!/usr/bin/env python3
"""Checks that no source and no test is left out of the build or of the test run.

Every .cc stands in exactly one CMakeLists.txt that the build reaches, the nearest above it.
Every Python file in tests that holds a test has a name that pytest collects, and one that pytest collects holds a test.

Usage: check_registered.py [ROOT]
"""

import os
import pathlib
import re
import sys

from source_files import source_files

CMAKE_NAME = "CMakeLists.txt"
PYTHON_TEST = re.compile(r"^(?:class Test|(?:async )?def test_|    (?:async )?def test_)", re.M)


def words(cmake_file):
    text = re.sub(r"#.*", "", cmake_file.read_text())
    return re.findall(r'[^\s()"]+', text)


def reached(root):
    """The CMakeLists.txt files that a build of `root` reads, with add_subdirectory followed."""
    waiting, seen = [root / CMAKE_NAME], []
    while waiting:
        cmake_file = waiting.pop()
        if not cmake_file.exists():
            raise SystemExit(f"{cmake_file}: not there, though add_subdirectory names its folder")
        seen.append(cmake_file)
        text = re.sub(r"#.*", "", cmake_file.read_text())
        folders = re.findall(r"add_subdirectory\s*\(\s*([^\s)]+)", text, re.I)
        waiting += [cmake_file.parent / folder / CMAKE_NAME for folder in folders]
    return seen


def nearest_cmake_file(path, root):
    for folder in path.parents:
        if (folder / CMAKE_NAME).exists() or folder == root:
            return folder / CMAKE_NAME
    return root / CMAKE_NAME


def unregistered_sources(root):
    cmake_files = reached(root)
    listed = {}
    for cmake_file in cmake_files:
        for word in words(cmake_file):
            if word.endswith(".cc"):
                listed.setdefault((cmake_file.parent / word).resolve(), []).append(cmake_file)
    for path in source_files(root, suffixes=(".cc",)):
        own = nearest_cmake_file(path, root)
        places = listed.get(path.resolve(), [])
        if own not in cmake_files:
            yield f"{path}: the build never reaches {own}; add_subdirectory its folder"
        elif not places:
            yield f"{path}: not built; list it in {own}"
        elif len(places) > 1:
            yield f"{path}: listed {len(places)} times, in {', '.join(sorted(set(map(str, places))))}"
        elif places != [own]:
            yield f"{path}: listed in {places[0]}; list it in {own} instead"


def uncollected_python_tests(root):
    for path in sorted((root / "tests").rglob("*.py")):
        collected = path.name.startswith("test_") or path.stem.endswith("_test")
        has_test = PYTHON_TEST.search(path.read_text()) is not None
        if has_test and not collected:
            yield f"{path}: holds a test, but pytest collects only test_*.py; rename it"
        if collected and not has_test:
            yield f"{path}: named like a test, but holds none"


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    root = pathlib.Path()
    found = [*unregistered_sources(root), *uncollected_python_tests(root)]
    for problem in found:
        print(problem)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
