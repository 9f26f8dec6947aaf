"""Peak memory of `firn load` on a stream that is far larger than its memory limit.

    .deps/venv/bin/python bench/stream_load.py [--rows 50000000] [--memory 128MiB] [--program FIRN]

Writes rows of three small columns into the program's standard input, first a tenth of them, then all, each into
a new table, then shifts them, and prints rows per second and peak resident memory of both steps; the data is deleted
afterwards. Memory of the load must not grow with the stream: it is an error if the larger peak is more than a quarter
above the smaller.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROWS_PER_BLOCK = 100_000
SCHEMA = {
    "type": "struct",
    "fields": [
        {"id": 1, "name": "id", "type": "long", "required": True},
        {"id": 2, "name": "service", "type": "string", "required": False},
        {"id": 3, "name": "amount", "type": "double", "required": False},
    ],
}


def write_rows(pipe, rows):
    pipe.write(b"id,service,amount\n")
    # Only the first digits differ from block to block, so that Python keeps up with the program.
    tails = [f"{i:05d},service-{i * 7919 % 200},{i % 977 / 8}\n" for i in range(ROWS_PER_BLOCK)]
    for block in range(rows // ROWS_PER_BLOCK):
        prefix = str(block + 1)
        pipe.write((prefix + prefix.join(tails)).encode())
    pipe.close()


def run(program, folder, *arguments, rows=None):
    """Seconds, peak KiB and output of a command, which is fed `rows` rows."""
    begin = time.monotonic()
    process = subprocess.Popen([program, *arguments], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if rows is None:
        process.stdin.close()
    else:
        write_rows(process.stdin, rows)
    output = process.stdout.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{arguments[0]} failed:\n{output}")
    return time.monotonic() - begin, usage.ru_maxrss, output


def measure(program, folder, table, rows, memory):
    """Peak KiB of loading a stream of `rows` rows into the WAL."""
    run(program, folder, "table", "create", table, "--schema", "schema.json", "--sort-by", "service, id")
    seconds, peak, output = run(program, folder, "load", table, "-", "--format", "csv", "--wal-only", rows=rows)
    if f"{rows:,} rows durable" not in output:
        sys.exit(f"rows are missing:\n{output}")
    shift_seconds, shift_peak, _ = run(program, folder, "shift", table)
    disk = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{rows:,} rows, memory_limit {memory}: load {rows / seconds:,.0f} rows/s, peak {peak / 1024:,.0f} MiB; "
          f"shift {rows / shift_seconds:,.0f} rows/s, peak {shift_peak / 1024:,.0f} MiB; {disk / 1e6:,.0f} MB on disk")
    return peak


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--memory", default="128MiB")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/src/firn/cli/firn")
    arguments = parser.parse_args()
    (ROOT / "build").mkdir(exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp(dir=ROOT / "build"))
    peaks = []
    try:
        (folder / "firn.yaml").write_text(f"memory_limit: {arguments.memory}\nwal:\n  flush_bytes: 8MiB\n")
        (folder / "schema.json").write_text(json.dumps(SCHEMA))
        for table, rows in [("db.small", arguments.rows // 10), ("db.large", arguments.rows)]:
            peaks.append(measure(arguments.program.resolve(), folder, table, rows, arguments.memory))
    finally:
        shutil.rmtree(folder)
    if peaks[1] > 1.25 * peaks[0]:
        sys.exit("memory grows with the stream")


if __name__ == "__main__":
    main()
