"""`firn why-stuck`: what a table waits for, as table, log and configuration say."""

import json
import os
import time

import pytest

TABLE = "db.events"
CONFIG = "wal:\n  flush_bytes: 256KiB\n  row_group_bytes: 64KiB\n"


def ask(firn, table=TABLE):
    """The sentences by their kinds; the text says the same as the document."""
    answer = firn.json("why-stuck", table)
    reasons = {reason["kind"]: reason["text"] for reason in answer["reasons"]}
    text = firn.run("why-stuck", table).stdout.splitlines()
    assert answer["table"] == table and len(text) == len(answer["reasons"])
    assert answer["waits"] == ("nothing" not in reasons)
    return reasons


@pytest.fixture
def waiting(events):
    """40,000 rows in several segments of one shard, none of them in the table."""
    events.run(*events.load("x", "--wal-only"))
    return events


def segments(firn):
    return sorted((firn.folder / "warehouse/wal").rglob("0*.parquet"))


def age(firn, seconds):
    """Lets all segments be so old."""
    then = time.time() - seconds
    for segment in segments(firn):
        os.utime(segment, (then, then))


def test_nothing(firn):
    firn.run("table", "create", TABLE, "--columns", "id long")
    assert ask(firn) == {"nothing": "Nothing: the log holds no rows of this table."}
    (firn.folder / "a.csv").write_text("id\n1\n")
    firn.run("load", TABLE, "a.csv")
    snapshot = firn.table(TABLE).current_snapshot().snapshot_id
    assert ask(firn)["nothing"].startswith(f"Nothing: all durable rows are in snapshot {snapshot}, committed ")


def test_a_table_that_is_not_there(firn):
    firn.run("table", "create", TABLE, "--columns", "id long")
    assert "there is no table db.other" in firn.run("why-stuck", "db.other", code=1).stderr
    firn.run("why-stuck", "nonsense", code=2)


def test_rows_that_are_not_due(waiting):
    (text,) = ask(waiting).values()
    assert text.startswith(f"40,000 rows in {len(segments(waiting))} segments (")
    assert "begins a shift at 256 MiB (shift.start_bytes), or once the oldest segment is 1 min 0 s old (shift.max_age; now " in text


def test_rows_that_are_due(waiting):
    waiting.configure(CONFIG + "shift:\n  start_bytes: 1KiB\n")
    reasons = ask(waiting)
    assert list(reasons) == ["due"] and "No commit of this log is known." in reasons["due"]


def test_rows_that_are_overdue(waiting):
    age(waiting, 3600)
    reasons = ask(waiting)
    assert list(reasons) == ["overdue"]
    assert "should have been shifted 59 min" in reasons["overdue"]
    assert "either no 'firn serve' runs, or its shifts fail" in reasons["overdue"]
    assert f"'firn shift {TABLE}' tries it" in reasons["overdue"]


def test_commits_of_others(firn):
    firn.run("table", "create", TABLE, "--columns", "id long")
    (firn.folder / "a.csv").write_text("id\n1\n")
    firn.run("load", TABLE, "a.csv")
    for _ in range(2):
        firn.table(TABLE).append(firn.rows(TABLE).slice(0, 1))
    assert list(ask(firn)) == ["nothing"]
    firn.run("load", TABLE, "a.csv", "--wal-only")
    reasons = ask(firn)
    assert list(reasons) == ["not_due", "other_commits"]
    assert reasons["not_due"].startswith("1 row in 1 segment (")
    assert "Others have made 2 commits" in reasons["other_commits"]


@pytest.mark.parametrize("closed", [True, False])
def test_a_hole(waiting, closed):
    missing = segments(waiting)[1]
    missing.unlink()
    if not closed:
        missing.with_name("closed").unlink()
    age(waiting, 3600)
    reasons = ask(waiting)
    assert list(reasons) == ["hole", "overdue"]
    assert f"shard {missing.parent.name} waits: segment 2 is missing though later ones are there" in reasons["hole"]
    assert ("put it back" if closed else "may still be about to write it") in reasons["hole"]
    assert "What is said above keeps them there." in reasons["overdue"]


def test_a_shard_that_waits_for_another(events):
    for point in ("wal.segment.after_put:2", "wal.segment.after_put:2", None):
        crash = {"FIRN_CRASH_POINT": point} if point else {}
        events.start(*events.load("x", "--wal-only"), **crash).communicate()
        if len({segment.parent for segment in segments(events)}) == 1:
            events.run("shift", TABLE)
    first, second, third = sorted({s.parent for s in segments(events)}, key=os.path.getctime)
    for segment in second.iterdir():
        segment.unlink()
    reasons = ask(events)
    assert list(reasons) == ["source_gap", "not_due"]
    assert f"shard {third.name} waits: source load:x:0 is at" in reasons["source_gap"]


def test_back_pressure(waiting):
    waiting.configure(CONFIG.replace("wal:", "wal:\n  max_uncommitted_bytes: 1KiB"))
    reasons = ask(waiting)
    assert list(reasons) == ["back_pressure", "not_due"]
    assert "more than wal.max_uncommitted_bytes (1.0 KiB)" in reasons["back_pressure"]


def test_a_damaged_segment_and_its_quarantine(waiting):
    damaged = segments(waiting)[1]
    os.truncate(damaged, 1000)
    reasons = ask(waiting)
    assert list(reasons) == ["damaged", "not_due"] and damaged.name in reasons["damaged"]
    waiting.configure(CONFIG + "shift:\n  start_bytes: 1KiB\n")
    assert "A shift is due, and meets what is said above." in ask(waiting)["due"]
    waiting.configure(CONFIG)
    waiting.run("wal", "quarantine", TABLE, str(damaged), "--yes")
    assert list(ask(waiting)) == ["not_due", "quarantined"]
    waiting.run("shift", TABLE)
    reasons = ask(waiting)
    assert list(reasons) == ["nothing", "quarantined"]
    assert f"1 segment is in quarantine, whose rows are in no table: {damaged.parent.name}/2." in reasons["quarantined"]


def test_a_table_that_was_rolled_back(waiting):
    waiting.run("shift", TABLE)
    kept = waiting.table(TABLE).current_snapshot().snapshot_id
    waiting.run(*waiting.load("y"))
    waiting.table(TABLE).manage_snapshots().rollback_to_snapshot(kept).commit()
    reasons = ask(waiting)
    assert list(reasons) == ["rolled_back"]
    assert f"firn positions reset {TABLE} --to-table" in reasons["rolled_back"]


def test_a_table_that_firn_cannot_write(waiting):
    with waiting.table(TABLE).transaction() as transaction:
        transaction.set_properties({"write.parquet.compression-codec": "lzo"})
    reasons = ask(waiting)
    assert list(reasons)[0] == "not_writable" and "lzo" in reasons["not_writable"]


def test_rows_that_no_plan_takes(firn):
    (firn.folder / "a.csv").write_text("id,tenant\n1,\n")
    firn.run("load", TABLE, "a.csv", "--create", "--partition-by", "tenant", "--wal-only")
    firn.configure(f"tables:\n  - name: {TABLE}\n    non_empty_partition_fields: [tenant]\n")
    reasons = ask(firn)
    assert list(reasons) == ["cannot_plan", "not_due"] and "tenant is null" in reasons["cannot_plan"]


def test_dead_letters_wait_too(firn):
    firn.run("table", "create", TABLE, "--columns", "id long")
    (firn.folder / "a.csv").write_text("id\n1\nx\n")
    firn.run("load", TABLE, "a.csv", "--wal-only")
    reasons = ask(firn)
    assert list(reasons) == ["not_due", "dead_letters"]
    assert f"'firn why-stuck {TABLE}__dead_letters'" in reasons["dead_letters"]
    assert list(ask(firn, f"{TABLE}__dead_letters")) == ["not_due"]


@pytest.mark.parametrize(
    "catalog",
    [
        "type: rest\n  uri: http://127.0.0.1:1",
        "type: sql\n  uri: postgresql://firn@127.0.0.1:1/firn",
    ],
    ids=["rest", "sql"],
)
def test_a_catalog_that_is_down(waiting, catalog):
    uuid = str(waiting.table(TABLE).metadata.table_uuid)
    wal = waiting.folder / "warehouse/wal"
    waiting.configure(f"warehouse: {waiting.folder}/warehouse\ncatalog:\n  {catalog}\nwal:\n  path: {wal}\n")
    reasons = ask(waiting)
    assert list(reasons) == ["catalog_down", "logged"]
    assert reasons["catalog_down"].startswith("The catalog does not answer: ")
    assert f"The log holds {len(segments(waiting))} segments (" in reasons["logged"] and uuid in reasons["logged"]
    for segment in segments(waiting):
        segment.unlink()
    assert ask(waiting)["nothing_logged"] == "The log holds no segment."


def test_a_catalog_whose_file_is_gone(waiting):
    (waiting.folder / "warehouse/catalog.db").rename(waiting.folder / "moved.db")
    reasons = ask(waiting)
    assert list(reasons) == ["catalog_down", "logged"]
    assert "there is no catalog" in reasons["catalog_down"]


def test_a_folder_without_anything(firn):
    assert "there is no catalog" in firn.run("why-stuck", TABLE, code=1).stderr


def test_the_document_is_one(waiting):
    document = json.loads(waiting.run("why-stuck", TABLE, "--format", "json").stdout)
    assert set(document) == {"table", "waits", "reasons"}
