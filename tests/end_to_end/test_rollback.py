"""PyIceberg rolls the table back under Firn; `positions reset` is the way on."""

import re

import pyarrow
import pytest

ROWS = 300


@pytest.fixture
def lost(firn):
    """A table of 300 rows whose last 300 (ids from 300 on) were rolled back by PyIceberg."""
    load(firn, 0, "--create")
    kept = firn.table("db.t").current_snapshot().snapshot_id
    load(firn, ROWS)
    firn.table("db.t").manage_snapshots().rollback_to_snapshot(kept).commit()
    assert ids(firn) == list(range(ROWS))
    return firn


def load(firn, first, *flags):
    lines = [str(i) for i in range(first, first + ROWS)]
    path = firn.folder / f"{first}.csv"
    if not path.exists():
        path.write_text("\n".join(["id", *lines]) + "\n")
    firn.run("load", "db.t", f"{first}.csv", "--id", f"from-{first}", *flags)


def ids(firn):
    return sorted(firn.rows("db.t")["id"].to_pylist())


def test_a_rollback_stops_the_table_with_the_command_that_ends_it(lost):
    (lost.folder / "more.csv").write_text("id\n1000\n")
    for command in (["load", "db.t", "more.csv"], ["shift", "db.t"], ["positions", "show", "db.t"]):
        message = lost.run(*command, code=1).stderr
        assert "rolled back" in message and "firn positions reset db.t --to-table" in message
    assert ids(lost) == list(range(ROWS))


def test_to_table_takes_the_lost_rows_again(lost):
    planned = lost.run("positions", "reset", "db.t", "--to-table", "--dry-run").stdout
    assert "300 rows" in planned and "nothing was changed" in planned
    lost.run("shift", "db.t", code=1)
    lost.run("positions", "reset", "db.t", "--to-table")
    lost.run("shift", "db.t")
    assert ids(lost) == list(range(2 * ROWS))
    load(lost, 0)  # the same ids of loads: nothing is added twice
    load(lost, ROWS)
    assert ids(lost) == list(range(2 * ROWS))


def test_keep_leaves_the_lost_rows_out(lost):
    lost.table("db.t").append(pyarrow.table({"id": pyarrow.array([-1], pyarrow.int64())}))
    lost.run("positions", "reset", "db.t", "--keep")
    load(lost, 2 * ROWS)
    assert ids(lost) == [-1, *range(ROWS), *range(2 * ROWS, 3 * ROWS)]
    assert "not rolled back" in lost.run("positions", "reset", "db.t", "--keep").stdout


def test_rows_that_the_wal_lost_too_are_named(lost):
    for segment in (lost.folder / "warehouse/wal").glob("*/*/*.parquet"):
        segment.unlink()
    message = lost.run("positions", "reset", "db.t", "--to-table", code=1).stderr
    assert "segment 1 of shard" in message and "300 records of snapshot" in message
    assert re.search(r"load:from-300:0 from 0 to 300", message)
    lost.run("shift", "db.t", code=1)
    lost.run("positions", "reset", "db.t", "--keep")
    load(lost, 2 * ROWS)
    assert ids(lost) == [*range(ROWS), *range(2 * ROWS, 3 * ROWS)]


def test_another_wal_goes_back_only_when_told(firn):
    (firn.folder / "b.yaml").write_text(f"wal:\n  path: {firn.folder}/wal-b\n")
    load(firn, 0, "--create")
    kept = firn.table("db.t").current_snapshot().snapshot_id
    load(firn, ROWS)
    load(firn, 2 * ROWS, "--config", "b.yaml")
    firn.table("db.t").manage_snapshots().rollback_to_snapshot(kept).commit()

    message = firn.run("positions", "reset", "db.t", "--to-table", code=1).stderr
    (other,) = (path.name.removeprefix("id-") for path in (firn.folder / "wal-b").glob("id-*"))
    assert other in message and "--all-wals" in message
    for flags in ([], ["--config", "b.yaml"]):
        firn.run("shift", "db.t", *flags, code=1)
        firn.run("positions", "reset", "db.t", "--to-table", "--dry-run", *flags)

    firn.run("positions", "reset", "db.t", "--to-table", "--all-wals")
    for flags in ([], ["--config", "b.yaml"]):
        firn.run("shift", "db.t", *flags)
    assert ids(firn) == list(range(3 * ROWS))


def test_a_reset_says_what_becomes_of_the_rows(lost):
    assert "--keep" in lost.run("positions", "reset", "db.t", code=2).stderr
    lost.run("positions", "reset", "db.t", "--keep", "--to-table", code=2)
