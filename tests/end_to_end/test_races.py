"""What others do while a load or a shift runs: load the same, shift too, drop the table and make it anew."""

import signal
import subprocess
from collections import Counter

import pyarrow
import sqlalchemy.exc
from pyiceberg.exceptions import CommitFailedException


def finish(process):
    stdout, stderr = process.communicate(timeout=300)
    return process.returncode, stdout + stderr


def wait_for_segments(events, process):
    """Returns once the load that `process` runs has made a segment durable."""
    while not list(events.folder.glob("warehouse/wal/*/*/*.parquet")):
        try:
            process.wait(timeout=0.01)
        except subprocess.TimeoutExpired:
            continue
        raise AssertionError(f"the load ended too early: {finish(process)}")


def test_two_loads_of_one_id_at_once_add_each_row_once(events):
    loads = [events.start(*events.load("x")) for _ in range(2)]
    for load in loads:
        code, output = finish(load)
        assert code == 0, output
    events.assert_each_row(times=1)


def test_loads_and_shifts_at_once_lose_nothing(events):
    events.run(*events.load("0"))
    running = [events.start(*events.load(load_id)) for load_id in "12"]
    running += [events.start("shift", events.TABLE) for _ in range(2)]
    for process in running:
        code, output = finish(process)
        assert code == 0, output
    events.assert_each_row(times=3)


def test_a_load_says_that_its_table_was_made_anew(events):
    load = events.start(*events.load("x"))
    wait_for_segments(events, load)
    load.send_signal(signal.SIGSTOP)
    events.run("table", "drop", events.TABLE, "--force")
    (events.folder / "one.csv").write_text("id,name,amount\n1,a,0.5\n")
    events.run("load", events.TABLE, "one.csv", "--create")
    load.send_signal(signal.SIGCONT)
    code, output = finish(load)
    assert code == 1 and "made anew" in output, output
    assert len(events.rows(events.TABLE)) == 1


def test_two_wal_roots_feed_one_table_at_once(events):
    text = (events.folder / "firn.yaml").read_text()
    for root in "ab":
        (events.folder / f"{root}.yaml").write_text(text + f"  path: {events.folder}/wal-{root}\n")
    events.run(*events.load("0"))
    commands = [(*events.load(f"{root}{n}"), "--config", f"{root}.yaml") for root in "ab" for n in range(2)]
    running = [events.start(*command) for command in commands]
    for process in running:
        code, output = finish(process)
        assert code == 0, output
    events.assert_each_row(times=5)
    for root in "ab":
        shown = events.json("positions", "show", events.TABLE, "--config", f"{root}.yaml")
        assert len(shown["shards"]) >= 2


def test_another_engine_appends_all_the_while(events):
    # Without partitions: PyIceberg writes no truncated ones by itself.
    loads = [("load", events.TABLE, "events.csv", "--create", "--id", load_id) for load_id in "012"]
    events.run(*loads[0])
    running = [events.start(*load) for load in loads[1:]]
    appended = 0
    while any(process.poll() is None for process in running):
        row = pyarrow.table({"id": [-1], "name": ["other"], "amount": [0.5]})
        try:
            events.table(events.TABLE).append(row)
            appended += 1
        except (CommitFailedException, sqlalchemy.exc.OperationalError):
            pass  # one of ours was faster
    for process in running:
        code, output = finish(process)
        assert code == 0, output
    counts = Counter(events.rows(events.TABLE)["id"].to_pylist())
    assert appended and counts.pop(-1) == appended
    assert counts == dict.fromkeys(range(events.ROWS), 3)
