"""kill -9 at named places and at random moments: after load --id and shift every row is there once."""

import os
import random
import signal
import subprocess
import time

import pytest

# The first four objects of a load are the table's metadata, the claim of the WAL's id, the id and the file list.
LOAD_POINTS = [
    "storage.put.before_rename:2",
    "storage.put.before_rename:3",
    "storage.put.before_rename:5",
    "storage.put.after_rename:3",
    "storage.put.after_rename:5",
    "wal.segment.before_put:1",
    "wal.segment.before_put:2",
    "wal.segment.after_put:1",
    "wal.segment.after_put:3",
]
SHIFT_POINTS = [
    "storage.put.before_rename",
    "storage.put.after_rename",
    "shift.planned",
    "shift.file.before_put",
    "shift.file.after_put:2",
    "shift.written",
    "commit.before_catalog",
    "catalog.commit.before_swap",
    "catalog.commit.after_swap",
    "commit.after_catalog",
    "shift.committed",
]


def crash(events, *arguments, point, **environment):
    events.run(*arguments, code=-signal.SIGKILL, FIRN_CRASH_POINT=point, **environment)


@pytest.mark.parametrize("point", LOAD_POINTS)
def test_load_killed_at(events, point):
    crash(events, *events.load("x", "--wal-only"), point=point)
    events.run(*events.load("x"))
    events.assert_each_row(times=1)


@pytest.mark.parametrize("point", SHIFT_POINTS)
def test_shift_killed_at(events, point):
    events.run(*events.load("x", "--wal-only"))
    crash(events, "shift", events.TABLE, point=point)
    events.run("shift", events.TABLE)
    events.run(*events.load("x"))
    events.assert_each_row(times=1)


def test_a_first_pass_leaves_nothing_on_the_local_disk(events, tmp_path):
    """More runs overlap than may be open, so their rows wait in TMPDIR while the file is written."""
    scratch = tmp_path / "scratch"
    events.configure("wal:\n  flush_bytes: 64KiB\nmerge:\n  max_open_runs: 2\n")
    events.run(*events.load("x", "--wal-only"))
    missing = events.run("shift", events.TABLE, code=1, TMPDIR=str(scratch))
    assert f"first pass: cannot create a temporary file in {scratch}" in missing.stderr
    scratch.mkdir()
    crash(events, "shift", events.TABLE, point="shift.file.before_put", TMPDIR=str(scratch))
    assert list(scratch.iterdir()) == []
    events.run("shift", events.TABLE)
    events.assert_each_row(times=1)


def is_killed(events, command, moment):
    """Runs a command, kills it after `moment` seconds, and tells if it was still running then."""
    process = events.start(*command)
    try:
        # The moment of the kill is the input of the test, not a wait for something.
        _, errors = process.communicate(timeout=moment)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return True
    assert process.returncode == 0, errors
    return False


def test_killed_at_ten_random_moments(events):
    """Ten kills by default; FIRN_TEST_KILLS asks for more."""
    wanted = int(os.environ.get("FIRN_TEST_KILLS", 10))
    seed = int(os.environ.get("FIRN_TEST_SEED", random.randrange(1 << 32)))
    print(f"FIRN_TEST_SEED={seed}")
    generator = random.Random(seed)
    started = time.monotonic()
    events.run(*events.load("0"))
    full_run = time.monotonic() - started
    loads, kills = 1, 0
    while kills < wanted:
        assert loads < 6 * wanted, "the kills come too late"
        load_id = str(loads)
        loads += 1
        for command in (events.load(load_id, *generator.choice([[], ["--wal-only"]])),
                        ("shift", events.TABLE)):
            kills += is_killed(events, command, generator.uniform(0, full_run))
        events.run(*events.load(load_id))
    events.assert_each_row(times=loads)
