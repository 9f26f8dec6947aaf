#!/usr/bin/env python3
"""Runs clang-tidy (.clang-tidy) over the C++ files that changed, or with --all over all of them.

Changed are the files that differ from a base revision, in commits or not yet committed: the revision in FIRN_BASE, else
where the branch left origin/main, else (on main itself, or in a clone that knows no other branch) what HEAD was
COMMITS commits ago. A header is checked with one file that includes it. At about 5 s a file on two cores, FILES_MAX
bounds the run; of more files the ones that changed last are taken, and the others are named.

Needs the compile commands of build/tidy, whose compiler need not run: clang-tidy of the wheel passes over the system's
headers, which one of Debian 12's versions do not, but cannot read a precompiled header of another version.

Usage: check_tidy.py [--all]
"""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[1]
BUILD = ROOT / "build" / "tidy"
TIDY = ROOT / ".deps" / "venv" / "bin" / "clang-tidy"
# Of the compiler that builds the fuzzers, behind those of clang-tidy itself.
LATE_HEADERS = "--extra-arg=-idirafter/usr/lib/llvm-19/lib/clang/19/include"
COMMITS = 10
FILES_MAX = 40
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)


def git(*arguments):
    """What git prints; nothing if it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


def base_revision():
    base = os.environ.get("FIRN_BASE")
    if base:
        return base
    fork = git("merge-base", "HEAD", "origin/main")
    if fork and fork != git("rev-parse", "HEAD"):
        return fork
    recent = git("rev-list", f"--max-count={COMMITS + 1}", "HEAD").split()
    return recent[-1] if recent else "HEAD"


def changed_files(base):
    """Files that differ from `base`: the uncommitted ones, then from the last commit to the first."""
    names = git("diff", "--name-only", "HEAD").split()
    names += git("ls-files", "--others", "--exclude-standard").split()
    names += git("log", "--format=", "--name-only", f"{base}..HEAD").split()
    return [name for name in dict.fromkeys(names) if (ROOT / name).exists()]


def compiled_files():
    """The .cc files of the build, as paths below the root."""
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    paths = {pathlib.Path(command["file"]).resolve() for command in commands}
    own = (path.relative_to(ROOT.resolve()) for path in paths if ROOT.resolve() in path.parents)
    return sorted(str(path) for path in own if path.parts[0] in ("src", "fuzz"))


def includers(compiled):
    """For each header a .cc that includes it: its own, else the first."""
    found = {}
    for name in compiled:
        for header in INCLUDE.findall((ROOT / name).read_text()):
            header = f"src/{header}"
            if header not in found or pathlib.Path(name).stem == pathlib.Path(header).stem:
                found[header] = name
    return found


def files_to_check(compiled):
    by_header = includers(compiled)
    changed = changed_files(base_revision())
    files = [name if name in compiled else by_header.get(name) for name in changed]
    files = list(dict.fromkeys(name for name in files if name))
    if len(files) > FILES_MAX:
        print(f"clang-tidy: {len(files)} files changed; these are left to 'make tidy':", *files[FILES_MAX:])
    return files[:FILES_MAX]


def tidy(name):
    done = subprocess.run([TIDY, "-p", BUILD, "--quiet", LATE_HEADERS, ROOT / name], capture_output=True, text=True)
    return done.returncode == 0, done.stdout


def main():
    compiled = compiled_files()
    files = compiled if "--all" in sys.argv else files_to_check(compiled)
    print(f"clang-tidy: {len(files)} files", flush=True)
    passed = True
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for is_clean, text in pool.map(tidy, files):
            passed &= is_clean
            if not is_clean:
                print(text, flush=True)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
