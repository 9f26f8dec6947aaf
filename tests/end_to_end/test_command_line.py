"""What a user meets beside the main job: wrong input, idempotent loads, looking at things, other writers."""

import json
import os
import resource
import shutil
import sqlite3
import stat
import subprocess

import pyarrow as pa
import pytest
from conftest import PROGRAM

PEOPLE = "id,name,born\n1,Ada,1815-12-10\n2,Grace,1906-12-09\n3,,1900-01-01\n"


@pytest.fixture
def people(firn):
    (firn.folder / "people.csv").write_text(PEOPLE)
    (firn.folder / "header.csv").write_text("id,name\n")
    return firn


def error_of(firn, *arguments, code):
    result = firn.run(*arguments, code=code)
    assert result.stdout == ""
    lines = [line for line in result.stderr.splitlines() if line.startswith("firn: ")]
    assert len(lines) == 1, result.stderr
    return lines[0]


def test_load_creates_a_table_that_others_read(people, duck):
    people.run("load", "db.people", "people.csv", "--create", "--sort-by", "born desc")
    rows = people.rows("db.people").to_pylist()
    assert [row["id"] for row in rows] == [2, 3, 1]
    assert rows[1]["name"] is None
    location = people.table("db.people").metadata_location
    assert duck.sql(f"SELECT sum(id) FROM iceberg_scan('{location}')").fetchone() == (6,)


def test_a_load_with_an_id_adds_nothing_twice(people):
    people.run("load", "db.people", "people.csv", "--create", "--id", "monday")
    again = people.run("load", "db.people", "people.csv", "--id", "monday")
    assert "nothing to add" in again.stdout
    assert len(people.rows("db.people")) == 3
    people.run("load", "db.people", "people.csv")
    assert len(people.rows("db.people")) == 6


def test_a_load_refuses_a_file_that_changed_under_its_id(people):
    people.run("load", "db.people", "people.csv", "--create", "--id", "monday")
    with (people.folder / "people.csv").open("a") as file:
        file.write("4,Edsger,1930-05-11\n")
    message = error_of(people, "load", "db.people", "people.csv", "--id", "monday", code=1)
    assert "monday" in message and "people.csv" in message


@pytest.mark.parametrize(
    ("arguments", "code", "parts"),
    [
        (["load", "db.people", "missing.csv", "--create"], 1, ["missing.csv"]),
        (["load", "db.people", "."], 1, [".: is a directory"]),
        (["load", "db.people", "*.parquet"], 1, ["*.parquet: no file matches"]),
        (["load", "db.nobody", "people.csv"], 1, ["db.nobody", "--create"]),
        (["load", "people", "people.csv", "--create"], 2, ["people"]),
        (["load", "db.p", "people.csv", "--create", "--sort-by", "shoe"], 2, ["--sort-by", "shoe"]),
        (["load", "db.p", "people.csv", "--create", "--partition-by", "week(born)"], 2, ["week"]),
        (["load", "db.p", "people.csv", "--create", "--id", "../x"], 2, ["../x"]),
        (["load", "db.p", "people.csv", "--create", "--time-unit", "tz=ms"], 2, ["--time-unit: ", "'tz'"]),
        (["load", "db.p", "s3://b/a.csv", "--create"], 2, ["s3://b/a.csv: input is read from files of this machine"]),
        (["load", "db.p", "file:///a.csv", "--create"], 2, ["write the path alone: /a.csv"]),
        (["shift"], 2, ["--all"]),
        (["shift", "db.nobody"], 1, ["db.nobody"]),
        (["load", "db.p", "header.csv", "--create"], 1, ["header.csv", "no records"]),
        (["plan"], 2, ["--input"]),
        (["plan", "--input", "."], 1, ["is a directory"]),
        (["plan", "--input", "people.csv"], 2, ["people.csv"]),
        (["inspect", "segment", "people.csv"], 1, ["people.csv"]),
        (["inspect", "segment", "."], 1, [".: is a folder"]),
        (["inspect", "metadata", "."], 1, [".: is a folder"]),
        (["inspect", "metadata", "people.csv"], 1, ["people.csv: is no metadata file of a table: it is no JSON"]),
    ],
)
def test_wrong_input_gets_one_clear_line(people, arguments, code, parts):
    message = error_of(people, *arguments, code=code)
    for part in parts:
        assert part in message


LOOKING = [["table", "list"], ["table", "show", "db.t"], ["plan", "db.t"], ["inspect", "wal", "db.t"],
           ["inspect", "table", "db.t"], ["inspect", "files", "db.t"], ["positions", "show", "db.t"]]


@pytest.mark.parametrize("command", LOOKING, ids=" ".join)
def test_looking_makes_nothing(people, command):
    message = error_of(people, *command, "--warehouse", "elsewhere", code=1)
    assert "elsewhere/catalog.db" in message and "--create" in message
    assert not (people.folder / "elsewhere").exists()


def test_looking_at_a_table_without_a_wal_makes_none(people):
    people.catalog.create_namespace("db")
    people.catalog.create_table("db.t", schema=pa.schema([("id", pa.int64())]))
    for command in LOOKING:
        people.run(*command)
    assert not (people.folder / "warehouse/wal").exists()


def test_a_catalog_file_that_is_not_sqlite_is_named(people):
    (people.folder / "warehouse").mkdir()
    (people.folder / "warehouse/catalog.db").write_text("not a database, " * 500)
    for command in (["load", "db.t", "people.csv", "--create"], ["table", "list"]):
        assert "catalog.db is not a SQLite database" in error_of(people, *command, code=1)
    assert not list(people.folder.glob("warehouse/wal/*/*/*.parquet"))


def test_a_catalog_that_stays_locked_is_named(people):
    people.run("load", "db.people", "people.csv", "--create")
    locker = sqlite3.connect(people.folder / "warehouse/catalog.db", isolation_level=None)
    locker.execute("BEGIN EXCLUSIVE")
    message = error_of(people, "load", "db.people", "people.csv", code=1)
    assert "catalog.db stays locked by another process" in message
    locker.execute("ROLLBACK")
    assert len(people.rows("db.people")) == 3


def test_an_unknown_flag_is_wrong_usage(firn):
    assert firn.run("load", "--sideways", code=2).stdout == ""


def test_a_configuration_error_names_line_and_nearest_key(people):
    people.configure("wal:\n  flush_byte: 1MiB\n")
    message = error_of(people, "table", "list", code=2)
    assert "firn.yaml:2" in message and "flush_bytes" in message


def test_a_value_that_does_not_fit_names_its_row(people):
    people.run("load", "db.people", "people.csv", "--create")
    (people.folder / "bad.csv").write_text("id,name,born\n7,Alan,1912-06-23\nx,Kurt,1906-04-28\n")
    message = error_of(people, "load", "db.people", "bad.csv", "--strict", code=1)
    assert "bad.csv" in message and "line 3" in message and "id" in message


def test_a_load_with_a_bad_record_lands_nothing(people):
    people.configure("wal:\n  flush_bytes: 16KiB\n")
    people.run("load", "db.people", "people.csv", "--create")
    lines = [f"{i},name {i},1900-01-01\n" for i in range(20_000)]
    (people.folder / "late.csv").write_text("id,name,born\n" + "".join(lines) + "x,y,z\n")
    message = error_of(people, "load", "db.people", "late.csv", "--strict", code=1)
    assert "line 20002" in message
    people.run("shift", "db.people")
    assert len(people.rows("db.people")) == 3


def test_a_result_that_cannot_be_written_is_a_failure(people):
    people.run("load", "db.people", "people.csv", "--create")
    with open("/dev/full", "w") as full:
        process = subprocess.run([PROGRAM, "table", "list"], cwd=people.folder, stdout=full,
                                 stderr=subprocess.PIPE, text=True)
    assert process.returncode == 1 and "cannot be written" in process.stderr


@pytest.mark.parametrize("arguments, code", [(["load", "db.people", "people.csv", "--create"], 0),
                                             (["shift", "db.nobody"], 1), (["bogus"], 2)])
def test_messages_that_cannot_be_written_stop_nothing(people, arguments, code):
    with open("/dev/full", "w") as full:
        process = subprocess.run([PROGRAM, *arguments], cwd=people.folder, stderr=full)
    assert process.returncode == code


def test_a_file_over_the_limit_of_its_size_is_a_failure(people):
    """As 'ulimit -f' sets it: told like a full disk, not by the signal that comes with it."""
    people.run("load", "db.people", "people.csv", "--create", "--wal-only")
    process = subprocess.run([PROGRAM, "shift", "db.people"], cwd=people.folder, capture_output=True, text=True,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024)))
    assert process.returncode == 1 and "File too large" in process.stderr


def test_global_options_stand_anywhere(people):
    people.run("load", "db.people", "people.csv", "--create", "--warehouse", "elsewhere")
    assert people.run("table", "list", "--warehouse", "elsewhere").stdout == "db.people\n"


def test_results_are_json_on_request(people):
    people.run("load", "db.people", "people.csv", "--create", "--partition-by", "year(born)")
    assert people.json("table", "list") == ["db.people"]
    (first, *_) = people.json("inspect", "files", "db.people")
    assert first["partition"] == "born_year=1815" and first["rows"] == 1
    table = people.json("inspect", "table", "db.people")
    assert table["partition_by"] == "year(born)"
    positions = people.json("positions", "show", "db.people")
    assert list(positions["sources"].values()) == [3]
    # Beyond 2^53, where many readers of JSON round: text.
    assert positions["snapshot"] == table["snapshots"][-1]["snapshot_id"]
    assert positions["snapshot"] == str(people.table("db.people").current_snapshot().snapshot_id)
    wal = people.json("inspect", "wal", "db.people")
    (shard,) = wal["shards"]
    assert shard["closed"] and shard["waiting_segments"] == 0
    assert [f"load:{load}:0" for load in wal["loads"]] == list(positions["sources"])


def test_the_planner_alone_prints_what_the_case_expects(firn, pytestconfig):
    cases = pytestconfig.rootpath / "src/firn/planner/cases"
    case = json.loads((cases / "case-01-fat-monotonic.json").read_text())
    plan = firn.json("plan", "--input", cases / "case-01-fat-monotonic.json")
    found = [(chunk["bytes"], chunk["row_groups"]) for chunk in plan["chunks"]]
    wanted = [(chunk["bytes"], chunk["row_groups"]) for chunk in case["expect"]["chunks"]]
    assert found == wanted


def test_a_table_that_pyiceberg_made_is_loaded_and_appended_by_both(people):
    people.catalog.create_namespace("db")
    schema = pa.schema([("id", pa.int64()), ("name", pa.string()), ("born", pa.date32())])
    people.catalog.create_table("db.people", schema=schema)
    people.run("load", "db.people", "people.csv")
    more = pa.table({"id": [9], "name": ["Barbara"], "born": [None]}, schema=schema)
    people.table("db.people").append(more)
    people.run("load", "db.people", "people.csv")
    assert sorted(people.rows("db.people")["id"].to_pylist()) == [1, 1, 2, 2, 3, 3, 9]


def test_nested_columns_of_a_layout_have_their_full_names(people):
    (people.folder / "schema.json").write_text(json.dumps({"type": "struct", "fields": [
        {"id": 1, "name": "user", "required": False, "type": {"type": "struct", "fields": [
            {"id": 2, "name": "name", "type": "string", "required": False}]}}]}))
    layout = ("--partition-by", "bucket(4, user.name)", "--sort-by", "user.name")
    people.run("table", "create", "db.t", "--schema", "schema.json", *layout)
    table = people.json("inspect", "table", "db.t")
    assert (table["partition_by"], table["sort_by"]) == ("bucket(4, user.name)", "user.name asc nulls first")


def test_names_that_differ_only_in_case_make_no_table(people):
    place = [{"id": i, "name": name, "required": False, "type": "long"} for i, name in ((2, "x"), (3, "X"))]
    schema = {"type": "struct", "fields": [
        {"id": 1, "name": "at", "required": False, "type": {"type": "struct", "fields": place}}]}
    (people.folder / "schema.json").write_text(json.dumps(schema))
    nested = people.run("table", "create", "db.t", "--schema", "schema.json", code=1).stderr
    assert "schema.json: column 'at': the columns 'x' and 'X' differ only in case" in nested
    listed = people.run("table", "create", "db.t", "--columns", "a long, A long", code=2).stderr
    assert "--columns: the columns 'a' and 'A' differ only in case" in listed


def test_dropping_a_table_tells_of_its_dead_letters(people):
    people.run("load", "db.people", "people.csv", "--create")
    (people.folder / "bad.csv").write_text("id,name,born\nx,Kurt,1906-04-28\n")
    people.run("load", "db.people", "bad.csv")
    done = people.run("table", "drop", "db.people")
    assert "'firn table drop db.people__dead_letters' forgets them, too" in done.stderr
    assert people.run("table", "drop", "db.people__dead_letters").stderr == ""


def test_dropping_a_table_takes_its_dead_letters_along_if_asked_to(people):
    people.run("load", "db.people", "people.csv", "--create")
    (people.folder / "bad.csv").write_text("id,name\nx,Ada\n")
    people.run("load", "db.people", "bad.csv")
    out = people.run("table", "drop", "db.people", "--dead-letters").stdout
    assert out.count("dropped ") == 2
    assert people.run("table", "list").stdout == ""


def test_tables_are_listed_without_a_log(people):
    """A warehouse in S3 has no place for a log, and none is named."""
    people.run("load", "db.people", "people.csv", "--create")
    catalog = f"sqlite:///{people.folder}/warehouse/catalog.db"
    people.configure(f"catalog:\n  uri: {catalog}\n  warehouse: s3://bucket/tables\n")
    assert people.run("table", "list").stdout == "db.people\n"
    assert "wal.path" in people.run("inspect", "table", "db.people", code=2).stderr


def test_a_log_of_json_has_nothing_else_in_it(people):
    people.run("load", "db.people", "people.csv", "--create")
    (people.folder / "bad.csv").write_text("id,name\n3,Ada\nx,Ada\n")
    lines = people.run("--log-format", "json", "load", "db.people", "bad.csv").stderr.splitlines()
    lines += people.run("--log-format", "json", "load", "db.new", "people.csv", "--create").stderr.splitlines()
    lines += people.run("--log-format", "json", "load", "db.peple", "bad.csv", code=1).stderr.splitlines()
    events = [json.loads(line) for line in lines]
    assert {event["level"] for event in events} == {"info", "warning", "error"}
    assert "did you mean db.people?" in events[-1]["message"]


def test_dead_letters_that_wait_in_the_log_are_told_and_shifted(people):
    people.run("load", "db.people", "people.csv", "--create")
    (people.folder / "bad.csv").write_text("id,name,born\nx,Kurt,1906-04-28\n")
    done = people.run("load", "db.people", "bad.csv", "--wal-only")
    assert "is in the WAL for db.people__dead_letters ('firn shift db.people' brings it there)" in done.stderr
    shown = people.run("dead-letters", "show", "db.people")
    assert shown.stdout == "db.people has no dead letters but those in the WAL\n"
    assert "1 segment of dead letters waits" in shown.stderr
    assert "db.people__dead_letters: 1 row" in people.run("shift", "db.people").stdout
    (letter,) = people.json("dead-letters", "show", "db.people")
    assert letter["raw"] == "x,Kurt,1906-04-28"


def test_a_table_made_anew_under_the_same_name_starts_empty(people):
    people.run("load", "db.people", "people.csv", "--create", "--wal-only")
    message = error_of(people, "table", "drop", "db.people", code=1)
    assert "firn shift db.people" in message and "--force" in message
    people.run("table", "drop", "db.people", "--force")
    shutil.copy(people.folder / "people.csv", people.folder / "again.csv")
    people.run("load", "db.people", "again.csv", "--create")
    assert len(people.rows("db.people")) == 3


@pytest.mark.parametrize(("setting", "folders", "files"),
                         [("", {0o700}, {0o600}), ("local_files: owner\n", {0o700}, {0o600}),
                          ("local_files: umask\n", {0o750}, {0o640})])
def test_files_are_for_whom_the_configuration_says(people, setting, folders, files):
    people.configure(setting)
    before = os.umask(0o027)
    try:
        people.run("load", "db.people", "people.csv", "--create")
    finally:
        os.umask(before)
    warehouse = people.folder / "warehouse"
    made = [warehouse, *warehouse.rglob("*")]
    assert {stat.S_IMODE(path.stat().st_mode) for path in made if path.is_dir()} == folders
    assert {stat.S_IMODE(path.stat().st_mode) for path in made if path.is_file()} == files


@pytest.mark.parametrize("folder", ["a?1", "?", "a#b", "a%20b", "50%", "a b", "~", "ä&ö=ü", "a;b", "a?mode=ro"])
def test_a_warehouse_is_the_folder_of_that_very_name(people, folder):
    people.run("--warehouse", folder, "load", "db.people", "people.csv", "--create")
    people.run("--warehouse", folder, "load", "db.people", "people.csv", "--id", "again")
    made = sorted(path.name for path in people.folder.iterdir())
    assert made == sorted([folder, "header.csv", "people.csv"])
    assert (people.folder / folder / "catalog.db").is_file()
    shown = people.json("--warehouse", folder, "inspect", "table", "db.people")
    assert "db.people" in json.dumps(shown)
    assert f"{people.folder}/{folder}/catalog.db" in people.run("--warehouse", folder, "check").stdout
