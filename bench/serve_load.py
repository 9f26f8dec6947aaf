"""`firn serve` under a steady load: how long acknowledgements take, and what CPU and memory it costs.

    cmake --preset release -DFIRN_BENCH=ON && cmake --build --preset release -t firn -t serve_load
    .deps/venv/bin/python bench/serve_load.py [--seconds 900] [--requests 2000] [--records 20] [--flush-age 100ms]

Local disk, one table sorted by two columns, shifted every 30 s. Beside the figures of bench/serve_load.cc it prints
CPU per record of the server, its resident memory over the time, and the slope of a line through the last third of it.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = "web.requests"
COLUMNS = "id long not null, service string, status int, path string"
SAMPLE_SECONDS = 5
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")

Sample = collections.namedtuple("Sample", "seconds cpu_seconds rss_mib")


def sample(pid, begin):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    rss_kib = int(re.search(r"VmRSS:\s+(\d+)", status)[1])
    return Sample(time.monotonic() - begin, (int(fields[11]) + int(fields[12])) / CLOCK_TICKS, rss_kib / 1024)


def slope_percent(samples):
    """Of a least-squares line through resident memory: its rise over these samples, relative to its mean."""
    n = len(samples)
    mean_x = sum(s.seconds for s in samples) / n
    mean_y = sum(s.rss_mib for s in samples) / n
    rise = sum((s.seconds - mean_x) * (s.rss_mib - mean_y) for s in samples)
    run = sum((s.seconds - mean_x) ** 2 for s in samples)
    return 100 * rise / run * (samples[-1].seconds - samples[0].seconds) / mean_y


def await_port(process):
    for line in process.stderr:
        found = re.search(r"serving http://127\.0\.0\.1:(\d+)", line)
        if found:
            return int(found[1])
        print(line, end="")
    sys.exit("firn serve did not start")


def show_log(process):
    for line in process.stderr:
        if "warn" in line.lower() or "error" in line.lower():
            print(line, end="", flush=True)


def watch(load, pid):
    """Samples of the server until the load ends."""
    begin = time.monotonic()
    samples = [sample(pid, begin)]
    while load.poll() is None:
        time.sleep(SAMPLE_SECONDS)
        samples.append(sample(pid, begin))
    return samples


def report(samples, records):
    cpu = samples[-1].cpu_seconds - samples[0].cpu_seconds
    print(f"server: {cpu / samples[-1].seconds:.2f} CPU, {1e6 * cpu / records:.2f} us of CPU per record")
    last = samples[len(samples) * 2 // 3:]
    step = max(1, len(samples) // 15)
    print("server: resident MiB " + " ".join(f"{s.rss_mib:.0f}" for s in samples[::step]))
    print(f"server: resident MiB at most {max(s.rss_mib for s in samples):.0f}, over the last "
          f"{last[-1].seconds - last[0].seconds:.0f} s {slope_percent(last):+.2f} %")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--records", type=int, default=20)
    parser.add_argument("--flush-age", default="100ms")
    parser.add_argument("--memory", default="512MiB")
    parser.add_argument("--program", default=ROOT / "build/release/src/firn/cli/firn")
    parser.add_argument("--load", default=ROOT / "build/release/bench/serve_load")
    parser.add_argument("--folder", help="in which warehouse and WAL are made; they are deleted afterwards")
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="serve_load-", dir=options.folder))
    try:
        measure(options, folder)
    finally:
        shutil.rmtree(folder)


def measure(options, folder):
    (folder / "firn.yaml").write_text(
        f"wal: {{flush_age: {options.flush_age}, retention: 30s}}\nshift: {{max_age: 30s}}\n"
        f"memory_limit: {options.memory}\nhttp: {{listen: '127.0.0.1:0'}}\n")
    subprocess.run([options.program, "table", "create", TABLE, "--columns", COLUMNS, "--sort-by", "service, id"],
                   cwd=folder, check=True)
    serve = subprocess.Popen([options.program, "serve"], cwd=folder, stderr=subprocess.PIPE, text=True)
    port = await_port(serve)
    threading.Thread(target=show_log, args=[serve], daemon=True).start()
    load = subprocess.Popen([options.load, str(port), TABLE, str(options.requests), str(options.records),
                             str(options.seconds)])
    samples = watch(load, serve.pid)
    if load.returncode != 0:
        sys.exit("the load failed")
    records = options.requests * options.records * options.seconds
    report(samples, records)
    serve.terminate()
    if serve.wait(60) != 0:
        sys.exit("firn serve failed")
    subprocess.run([options.program, "shift", TABLE], cwd=folder, check=True)
    shown = subprocess.run([options.program, "table", "show", TABLE, "--format", "json"], cwd=folder, check=True,
                           capture_output=True, text=True).stdout
    landed = int(json.loads(shown)["snapshots"][-1]["summary"]["total-records"])
    print(f"{records} records sent, {landed} in the table")


if __name__ == "__main__":
    main()
