"""Rows and bytes per second of `firn load` and `firn shift`, and DuckDB's COPY ... ORDER BY beside them.

    .deps/venv/bin/python bench/end_to_end.py [--bytes 1GB] [--runs 5]

Generates logs as CSV (service, time, severity, trace id, body; time runs forward, services interleave), once
for a size, in build/bench. Each run loads them into the WAL, shifts the WAL, and lets DuckDB read the WAL's
Parquet files and write one sorted Parquet file with the same codec, level and row-group size, on as many
threads as Firn has workers. Runs take turns, so that a noisy machine disturbs all alike; medians and their
ratio are printed. Nothing is checked here: the tests do that.
"""

import argparse
import pathlib
import shutil
import statistics
import subprocess
import time

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.csv

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIRN = ROOT / "build/release/src/firn/cli/firn"
FOLDER = ROOT / "build/bench"
ROWS_PER_BATCH = 100_000
WORDS = np.array(
    "request done failed retry user order payment cache miss timeout upstream item shard lease "
    "connection closed reset by peer accepted rejected queued flushed committed".split()
)


def batches(generator):
    """Endless logs of 200 services; within a batch services interleave at random."""
    now = 1_767_225_600_000_000
    while True:
        count = ROWS_PER_BATCH
        times = now + np.cumsum(generator.integers(1, 200, count))
        now = int(times[-1])
        services = generator.zipf(1.3, count) % 200
        body = WORDS[generator.integers(0, len(WORDS), (count, 12))]
        yield pa.table(
            {
                "service": pa.array([f"prod/service-{s:03d}" for s in services]),
                "ts": pa.array(times, pa.timestamp("us", "UTC")),
                "severity": pa.array(generator.choice([9, 13, 17], count, p=[0.9, 0.08, 0.02])),
                "trace_id": pa.array([f"{t:032x}" for t in generator.integers(0, 1 << 62, count)]),
                "body": pa.array([" ".join(words) for words in body]),
            }
        )


def generate(path, size):
    if path.exists():
        return
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        options = pyarrow.csv.WriteOptions(include_header=True)
        for batch in batches(np.random.default_rng(1)):
            pyarrow.csv.write_csv(batch, file, options)
            options = pyarrow.csv.WriteOptions(include_header=False)
            if file.tell() >= size:
                break
    partial.rename(path)


def timed(action):
    started = time.monotonic()
    action()
    return time.monotonic() - started


def firn(*arguments):
    subprocess.run([FIRN, *arguments], cwd=FOLDER, check=True, capture_output=True)


def copy_sorted_by_duckdb(threads):
    connection = duckdb.connect()
    connection.execute(f"SET threads = {threads}")
    connection.execute(
        f"COPY (SELECT service, ts, severity, trace_id, body"
        f" FROM read_parquet('{FOLDER}/warehouse/wal/*/*/*.parquet')"
        f" ORDER BY service, ts DESC) TO '{FOLDER}/duckdb.parquet'"
        f" (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 3, ROW_GROUP_SIZE 1048576)"
    )


def parse_bytes(text):
    return int(float(text.upper().removesuffix("GB")) * 1e9)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--bytes", type=parse_bytes, default="1GB", help="of CSV, as in 0.2GB")
    arguments.add_argument("--runs", type=int, default=5)
    arguments.add_argument("--threads", type=int, default=2)
    options = arguments.parse_args()

    FOLDER.mkdir(parents=True, exist_ok=True)
    csv = FOLDER / f"logs-{options.bytes}.csv"
    generate(csv, options.bytes)
    (FOLDER / "firn.yaml").write_text(f"shift: {{workers: {options.threads}}}\n")
    rows = duckdb.sql(f"SELECT count(*) FROM read_csv('{csv}')").fetchone()[0]

    seconds = {"load": [], "shift": [], "DuckDB": []}
    for _ in range(options.runs):
        shutil.rmtree(FOLDER / "warehouse", ignore_errors=True)
        load = ["load", "bench.logs", csv, "--create", "--wal-only", "--sort-by", "service, ts desc"]
        seconds["load"].append(timed(lambda: firn(*load)))
        seconds["DuckDB"].append(timed(lambda: copy_sorted_by_duckdb(options.threads)))
        seconds["shift"].append(timed(lambda: firn("shift", "bench.logs")))

    print(f"{rows:,} rows, {csv.stat().st_size:,} bytes of CSV, {options.threads} threads, "
          f"median of {options.runs}")
    for name, times in seconds.items():
        median = statistics.median(times)
        print(f"{name:7} {median:7.2f} s  {rows / median:12,.0f} rows/s  "
              f"{csv.stat().st_size / median / 1e6:8.1f} MB of CSV/s  "
              f"({min(times):.2f} to {max(times):.2f} s)")
    ratios = [duck / shift for duck, shift in zip(seconds["DuckDB"], seconds["shift"])]
    print(f"shift : DuckDB COPY ... ORDER BY, rows/s: {statistics.median(ratios):.2f}x")


if __name__ == "__main__":
    main()
