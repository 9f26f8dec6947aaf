#!/usr/bin/env python3
"""Runs the fuzzers of build/sanitize, each for some seconds, and prints what they did.

A run begins with the seeds (below, committed) and with what earlier runs found to be of interest
(build/fuzz/<name>/corpus). An input that ends a fuzzer is kept in build/fuzz/<name>; give it to the fuzzer as its only
argument to see it again, mend it with a test in the module's tests, and add it to the seeds only if it teaches a new
form.

With 0 seconds only the seeds are tried: always the same, so a change is not judged by what chance finds.

Usage: fuzz.py SECONDS [NAME...]
"""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[1]
BUILD = ROOT / "build" / "sanitize" / "fuzz"
SEEDS = {
    "avro": "src/firn/iceberg/testdata",
    "case_file": "src/firn/planner/cases",
    "config": "fuzz/corpus/config",
    "csv": "fuzz/corpus/csv",
    "manifest": "src/firn/iceberg/testdata",
    "metadata_json": "src/firn/iceberg/testdata",
    "ndjson": "fuzz/corpus/ndjson",
    "rest_answers": "fuzz/corpus/rest_answers",
    "s3_messages": "fuzz/corpus/s3_messages",
    "segment_file": "src/firn/wal/testdata",
    "segment_footer": "fuzz/corpus/segment_footer",
}
ENVIRONMENT = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:external_symbolizer_path=/usr/bin/llvm-symbolizer-19",
    "UBSAN_OPTIONS": "print_stacktrace=1:external_symbolizer_path=/usr/bin/llvm-symbolizer-19",
}
LIMITS = ("-timeout=10", "-rss_limit_mb=2048", "-max_len=65536")
COVERAGE = re.compile(r"cov: (\d+) ft: (\d+)")
EXECUTIONS = re.compile(r"stat::number_of_executed_units:\s+(\d+)")


def last(pattern, text):
    found = pattern.findall(text)
    return found[-1] if found else None


def run(name, seconds):
    """Prints a line about the run; False if it ended with a finding."""
    folder = ROOT / "build" / "fuzz" / name
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    length = f"-max_total_time={seconds}" if seconds > 0 else "-runs=0"
    fuzzer = subprocess.run(
        [BUILD / f"{name}_fuzz", length, "-print_final_stats=1", *LIMITS,
         f"-artifact_prefix={folder}/", corpus, ROOT / SEEDS[name]],
        env=os.environ | ENVIRONMENT, stderr=subprocess.PIPE, text=True, errors="replace")
    blocks, features = last(COVERAGE, fuzzer.stderr) or ("?", "?")
    executions = last(EXECUTIONS, fuzzer.stderr) or "?"
    print(f"{name:15} {executions:>10} executions, {blocks} blocks and {features} features covered", flush=True)
    if fuzzer.returncode != 0:
        print(fuzzer.stderr[-6000:])
    return fuzzer.returncode == 0


def main():
    if len(sys.argv) < 2 or not sys.argv[1].isdigit() or not SEEDS.keys() >= set(sys.argv[2:]):
        sys.exit(f"{__doc__}\nNAME is one of {', '.join(SEEDS)}")
    seconds = int(sys.argv[1])
    passed = [run(name, seconds) for name in sys.argv[2:] or SEEDS]
    sys.exit(0 if all(passed) else 1)


if __name__ == "__main__":
    main()
