"""kill -9 at named places and at random moments: after load --id and shift every row is there once."""

import os
import random
import signal
import time

import pytest

ROWS = 40_000
LOAD = ("load", "db.events", "events.csv", "--create", "--partition-by", "truncate(2, name)",
        "--sort-by", "name, id desc", "--id", "crash-test")
CONFIG = "wal:\n  flush_bytes: 256KiB\n  row_group_bytes: 64KiB\n"

LOAD_POINTS = [
    "storage.put.before_rename:3",
    "storage.put.after_rename:3",
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


@pytest.fixture
def events(firn):
    firn.configure(CONFIG)
    with (firn.folder / "events.csv").open("w") as file:
        file.write("id,name,amount\n")
        for i in range(ROWS):
            file.write(f"{i},{'abcdefgh'[i * 7 % 8] * 3}{i % 977},{i / 8}\n")
    return firn


def assert_each_row_once(firn):
    ids = firn.rows("db.events")["id"].to_pylist()
    assert sorted(ids) == list(range(ROWS))


def crash(firn, *arguments, point):
    firn.run(*arguments, code=-signal.SIGKILL, FIRN_CRASH_POINT=point)


@pytest.mark.parametrize("point", LOAD_POINTS)
def test_load_killed_at(events, point):
    crash(events, *LOAD, "--wal-only", point=point)
    events.run(*LOAD)
    assert_each_row_once(events)


@pytest.mark.parametrize("point", SHIFT_POINTS)
def test_shift_killed_at(events, point):
    events.run(*LOAD, "--wal-only")
    crash(events, "shift", "db.events", point=point)
    events.run("shift", "db.events")
    events.run(*LOAD)
    assert_each_row_once(events)


def test_killed_at_random_moments(events):
    seed = int(os.environ.get("FIRN_TEST_SEED", random.randrange(1 << 32)))
    print(f"FIRN_TEST_SEED={seed}")
    generator = random.Random(seed)
    started = time.monotonic()
    events.run(*LOAD[:-1], "crash-test-warm-up", "--wal-only")
    full_run = time.monotonic() - started
    events.run("table", "drop", "db.events")
    kills = 0
    while kills < 10:
        command = generator.choice([LOAD, (*LOAD, "--wal-only"), ("shift", "db.events")])
        process = events.start(*command)
        try:
            # The moment of the kill is the input of this test, not a wait for something.
            process.communicate(timeout=generator.uniform(0.02, 2 * full_run))
        except Exception:
            process.kill()
            process.communicate()
            kills += 1
        else:
            if kills >= 5:
                kills += 1
    events.run(*LOAD)
    assert_each_row_once(events)
