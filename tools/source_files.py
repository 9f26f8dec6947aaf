#!/usr/bin/env python3
"""The C++ files that the gates look at; run as a program, it prints them.

Usage: source_files.py [ROOT]
"""

import pathlib
import sys

FOLDERS = ("src", "tests", "bench", "fuzz")
SUFFIXES = (".h", ".cc")


def source_files(root, folders=FOLDERS, suffixes=SUFFIXES):
    """Folder by folder, in the order of their names."""
    for folder in folders:
        yield from sorted(path for path in (root / folder).rglob("*") if path.suffix in suffixes)


if __name__ == "__main__":
    print(*source_files(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")), sep="\n")
