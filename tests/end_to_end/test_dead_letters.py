"""dead-letters show and replay: what fits lands once and leaves, what does not stays; also after a crash."""

import datetime
import json
import re
import signal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType

BAD = 20


@pytest.fixture
def people(firn):
    """A table with an int column, and a load with records that only a wider one can take."""
    firn.configure("wal:\n  flush_bytes: 16KiB\n")
    (firn.folder / "schema.json").write_text(json.dumps({"type": "struct", "fields": [
        {"id": 1, "name": "id", "type": "int", "required": False},
        {"id": 2, "name": "name", "type": "string", "required": False}]}))
    firn.run("table", "create", "db.people", "--schema", "schema.json")
    lines = ["id,name"]
    for i in range(BAD):
        lines += [f"{i},good", f"{(1 << 40) + i},\"too, wide\"", f"x{i},never"]
    (firn.folder / "a.csv").write_text("\n".join(lines) + "\n")
    firn.run("load", "db.people", "a.csv")
    return firn


def widen(firn):
    with firn.table("db.people").update_schema() as update:
        update.update_column("id", field_type=LongType())


def letters(firn):
    return sorted(firn.json("dead-letters", "show", "db.people"), key=lambda letter: letter["position"])


def assert_replayed(firn):
    ids = sorted(firn.rows("db.people")["id"].to_pylist())
    assert ids == [*range(BAD), *((1 << 40) + i for i in range(BAD))]
    assert [letter["raw"] for letter in letters(firn)] == [f"x{i},never" for i in range(BAD)]


def test_show_names_file_line_and_reason(people):
    found = letters(people)
    assert len(found) == 2 * BAD
    assert found[0]["raw"] == f'{1 << 40},"too, wide"'
    assert found[0]["source"] == str(people.folder / "a.csv") and found[0]["position"] == 1
    assert found[0]["reason"].startswith("line 3: column 'id'")
    text = people.run("dead-letters", "show", "db.people", "--limit", "3").stdout
    assert str(people.folder)[:20] in text and "3 of 40" in text  # a long path is cut
    assert people.run("dead-letters", "show", "db.people", "--limit", "0", code=2)


def test_nothing_is_replayed_if_nothing_fits(people, duck):
    before = letters(people)
    lines = people.run("dead-letters", "replay", "db.people").stdout.splitlines()
    assert lines[0] == "none of the 40 dead letters of db.people fits"
    assert len(lines) == 6 and "a.csv, record 1: " in lines[1] and "column 'id'" in lines[1]
    assert letters(people) == before


def test_what_fits_lands_once_and_leaves(people, duck):
    widen(people)
    result = people.run("dead-letters", "replay", "db.people")
    assert "20 dead letters fit now and are in the table, 20 stay" in result.stdout
    assert_replayed(people)
    assert "none of the 20" in people.run("dead-letters", "replay", "db.people").stdout
    assert_replayed(people)
    location = people.table("db.people__dead_letters").metadata_location
    assert duck.sql(f"SELECT count(*) FROM iceberg_scan('{location}')").fetchone() == (20,)
    # Letters keep coming, and the load that brought the first adds nothing twice.
    (people.folder / "b.csv").write_text("id,name\ny,never\n99,good\n")
    people.run("load", "db.people", "b.csv")
    assert len(letters(people)) == 21


def test_a_column_that_was_added_takes_what_was_unknown(firn):
    (firn.folder / "a.json").write_text('{"id":1}\n')
    firn.run("load", "db.people", "a.json", "--create")
    (firn.folder / "b.json").write_text('{"id":2,"more":"x"}\n{"id":3,"other":1}\n')
    firn.run("load", "db.people", "b.json", "--wal-only")
    with firn.table("db.people").update_schema() as update:
        update.add_column("more", StringType())
    firn.run("dead-letters", "replay", "db.people")
    rows = sorted(firn.rows("db.people").to_pylist(), key=lambda row: row["id"])
    assert rows == [{"id": 1, "more": None}, {"id": 2, "more": "x"}]
    assert [letter["raw"] for letter in letters(firn)] == ['{"id":3,"other":1}']


def test_a_row_of_a_foreign_parquet_file_is_kept_whole(firn):
    """Also what Iceberg has no type for; a later try gives the row that the file would have given."""
    (firn.folder / "schema.json").write_text(json.dumps({"type": "struct", "fields": [
        {"id": 1, "name": "n", "type": "int", "required": False},
        {"id": 2, "name": "u", "type": "long", "required": False},
        {"id": 3, "name": "t", "type": "time", "required": False},
        {"id": 4, "name": "tags", "required": False, "type": {
            "type": "map", "key-id": 5, "key": "string", "value-id": 6, "value": "int", "value-required": False}}]}))
    firn.run("table", "create", "db.people", "--schema", "schema.json")
    rows = pa.table({
        "n": pa.array([1 << 40, 2, 3, 4], pa.int64()),
        "u": pa.array([7, (1 << 64) - 1, 8, 9], pa.uint64()),
        "t": pa.array([1000, 1000, 86_400 * 10**9, 2000], pa.time64("ns")),
        "tags": pa.array([[("a", 1)], [], [("b", 2)], [("a", 1), ("a", 2)]], pa.map_(pa.string(), pa.int32())),
        "d": pa.array([5, 6, 7, 8], pa.duration("s")),
    })
    pq.write_table(rows, firn.folder / "a.parquet")
    firn.run("load", "db.people", "a.parquet", "--ignore-unknown")
    assert len(firn.rows("db.people")) == 0
    found = letters(firn)
    assert [letter["raw"] for letter in found] == [
        '{"n":1099511627776,"u":7,"t":"00:00:00.000001","tags":{"a":1},"d":"5 s"}',
        '{"n":2,"u":18446744073709551615,"t":"00:00:00.000001","tags":{},"d":"6 s"}',
        '{"n":3,"u":8,"t":"24:00:00","tags":{"b":2},"d":"7 s"}',
        '{"n":4,"u":9,"t":"00:00:00.000002","tags":{"a":1,"a":2},"d":"8 s"}',
    ]
    assert found[2]["reason"] == "row 3: column 't': '24:00:00' is not of type time"
    assert found[3]["reason"] == "row 4: column 'tags': the key 'a' is there twice"
    with firn.table("db.people").update_schema() as update:
        update.update_column("n", field_type=LongType())
    assert "1 dead letter fits now" in firn.run("dead-letters", "replay", "db.people").stdout
    assert firn.rows("db.people").to_pylist() == [
        {"n": 1 << 40, "u": 7, "t": datetime.time(microsecond=1), "tags": [("a", 1)]}]
    assert len(letters(firn)) == 3


def test_a_table_without_dead_letters(firn):
    (firn.folder / "a.json").write_text('{"id":1}\n')
    firn.run("load", "db.people", "a.json", "--create")
    assert "has no dead letters" in firn.run("dead-letters", "show", "db.people").stdout
    assert "has no dead letters" in firn.run("dead-letters", "replay", "db.people").stdout
    assert firn.json("dead-letters", "show", "db.people") == []
    assert "no table db.none" in firn.run("dead-letters", "replay", "db.none", code=1).stderr


CRASHES = [
    "wal.segment.before_put:1",
    "wal.segment.after_put:1",
    "wal.segment.before_put:2",
    "wal.segment.after_put:2",
    "commit.before_catalog:1",
    "commit.after_catalog:1",
    "commit.before_catalog:2",
    "commit.after_catalog:2",
    "removal.before_catalog",
    "removal.after_catalog",
]


@pytest.mark.parametrize("point", CRASHES)
def test_a_crash_loses_and_doubles_nothing(people, point):
    widen(people)
    people.run("dead-letters", "replay", "db.people", code=-signal.SIGKILL, FIRN_CRASH_POINT=point)
    result = people.run("dead-letters", "replay", "db.people").stdout
    assert_replayed(people)
    # What was in the table before is not counted again.
    fit = re.search(r"(\d+) dead letters? fits? now and (?:is|are) in the table(, beside those)?", result)
    if fit:
        assert int(fit[1]) <= BAD and (fit[2] or int(fit[1]) == BAD), result
    else:
        assert "none of the 20 dead letters" in result


def test_a_crash_between_changes_of_the_schema_loses_nothing(people):
    """The second run must not take back what the first one landed, though nothing fits any more."""
    widen(people)
    people.run("dead-letters", "replay", "db.people", code=-signal.SIGKILL, FIRN_CRASH_POINT="removal.before_catalog")
    with people.table("db.people").update_schema() as update:
        update.rename_column("name", "title")
    people.run("dead-letters", "replay", "db.people")
    assert_replayed(people)


def test_a_table_of_that_name_with_other_columns_is_refused(firn):
    (firn.folder / "a.json").write_text('{"id":1}\n')
    firn.run("load", "db.people", "a.json", "--create")
    # Firn makes no table of such a name with columns of its own; others may.
    firn.catalog.create_table("db.people__dead_letters", Schema(NestedField(1, "id", LongType())))
    for verb in ("show", "replay"):
        errors = firn.run("dead-letters", verb, "db.people", code=1).stderr
        assert "db.people__dead_letters" in errors and "column 'raw' is not there" in errors
