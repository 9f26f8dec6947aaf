#!/usr/bin/env python3
"""Checks that threads, locks, clocks and random numbers are made in src/firn/core only.

Everything else goes through firn::Runtime, so that a simulation can run the same code on a schedule and a clock of its
own. Tests, benchmarks and fuzzers may use std::mt19937 with a seed.

Usage: check_primitives.py [ROOT]
"""

import os
import pathlib
import re
import sys

from source_files import source_files

PRIMITIVES = [
    (re.compile(r"\bstd::(j?thread|this_thread|async|promise|(shared_)?future|packaged_task)\b"), "firn::Thread"),
    (re.compile(r"\bstd::((recursive_|shared_)?(timed_)?mutex|lock_guard|(unique|scoped|shared)_lock|call_once"
                r"|once_flag)\b"), "firn::Mutex"),
    (re.compile(r"\bstd::(condition_variable(_any)?|(counting|binary)_semaphore|latch|barrier)\b"), "firn::CondVar"),
    (re.compile(r"\b(pthread_\w+)\s*\("), "firn::Thread and firn::Mutex"),
    (re.compile(r"\b(system_clock|steady_clock|high_resolution_clock|utc_clock)\b"), "Runtime::Now or SinceBoot"),
    (re.compile(r"\b(clock_gettime|gettimeofday|timespec_get)\s*\(|\b(?:std::|::)?time\s*\(\s*(?:nullptr|NULL|0)\s*\)"),
     "Runtime::Now or SinceBoot"),
    (re.compile(r"\b(u?sleep|nanosleep|clock_nanosleep|sleep_for|sleep_until)\s*\("), "Runtime::Sleep"),
    (re.compile(r"\b(random_device|default_random_engine|getrandom|getentropy|arc4random\w*)\b|\b(s?rand)\s*\("),
     "Runtime::Random64"),
]
SEEDED_RANDOM = (re.compile(r"\bstd::(mt19937(_64)?|minstd_rand0?|ranlux\w+)\b"), "Runtime::Random64")
TEST_NAME = re.compile(r"_(test|benchmark|fuzz)\.(cc|h)$")
# In this order: a comment sign in a string is no comment, a quote in a comment starts no string.
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])*\'', re.S)


def code_of(path):
    """The text of a file with comments and literals blanked, line by line as before."""
    return NOT_CODE.sub(lambda match: "\n" * match.group().count("\n"), path.read_text())


def problems_of_file(path, is_test):
    rules = PRIMITIVES if is_test else [*PRIMITIVES, SEEDED_RANDOM]
    for number, line in enumerate(code_of(path).splitlines(), 1):
        for pattern, instead in rules:
            match = pattern.search(line)
            if match is not None:
                yield f"{path}:{number}: {match.group().strip()} belongs in src/firn/core only; use {instead}"


def problems(root):
    core = root / "src" / "firn" / "core"
    for path in source_files(root):
        if core in path.parents:
            continue
        is_test = root / "src" not in path.parents or TEST_NAME.search(path.name) is not None
        yield from problems_of_file(path, is_test)


def main():
    os.chdir(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1])
    found = list(problems(pathlib.Path()))
    for problem in found:
        print(problem)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
