"""Fields that a table does not have, kept in a map column: by load, serve and followed folders."""

import json
import time

import pytest
from pyiceberg.types import LongType
from serving import SERVE_CONFIG, ndjson, serving

TABLE = "web.requests"
CONFIG = f"""
tables:
  - name: {TABLE}
    schema_evolution: map
    unknown_fields_column: rest
"""
SOURCE = f"""
sources:
  files:
    - {{table: {TABLE}, path: incoming, stable_for: 0s, poll_interval: 20ms}}
"""
RECORDS = [
    {"id": 1, "service": "a"},
    {"id": 2, "region": "eu", "load": 0.5, "tags": ["x"], "gone": None},
    {"id": 3, "rest": {"given": "yes"}, "at": {"host": "h", "pid": 7}},
]
MAPS = [
    None,
    {"region": "eu", "load": "0.5", "tags": '["x"]', "gone": None},
    {"given": "yes", "at.pid": "7"},
]


@pytest.fixture
def requests(firn):
    """A table without the map."""
    schema = {"type": "struct", "fields": [
        {"id": 1, "name": "id", "type": "long", "required": True},
        {"id": 2, "name": "service", "type": "string", "required": False},
        {"id": 3, "name": "at", "required": False, "type": {"type": "struct", "fields": [
            {"id": 4, "name": "host", "type": "string", "required": False}]}}]}
    (firn.folder / "schema.json").write_text(json.dumps(schema))
    firn.run("table", "create", TABLE, "--schema", "schema.json", "--sort-by", "id")
    return firn


def write(firn, name, text):
    (firn.folder / name).write_text(text if isinstance(text, str) else ndjson(text))
    return name


def maps(firn, duck):
    """Of the rows by id, as PyIceberg and DuckDB both read them."""
    rows = firn.rows(TABLE).sort_by("id").to_pylist()
    read = [None if row["rest"] is None else dict(row["rest"]) for row in rows]
    location = firn.table(TABLE).metadata_location
    found = duck.sql(f"select rest from iceberg_scan('{location}') order by id").fetchall()
    assert [rest for (rest,) in found] == read
    return read


def columns(firn):
    return {field.name: str(field.field_type) for field in firn.table(TABLE).schema().fields}


def letters(firn):
    return [letter["reason"] for letter in firn.json("dead-letters", "show", TABLE)]


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_load_adds_the_column_and_fills_it(requests, duck):
    write(requests, "a.ndjson", RECORDS)
    out = requests.run("load", TABLE, "a.ndjson", "--unknown-fields-column", "rest", "--dry-run").stdout
    assert "the schema would change: added rest (map<string, string>)" in out and "3 records of 1 file fit" in out
    assert "rest" not in columns(requests)
    out = requests.run("load", TABLE, "a.ndjson", "--unknown-fields-column", "rest").stdout
    assert "schema changed: added rest (map<string, string>)" in out
    assert maps(requests, duck) == MAPS
    out = requests.run("load", TABLE, "a.ndjson", "--unknown-fields-column", "rest").stdout
    assert "schema changed" not in out
    assert len(maps(requests, duck)) == 6


def test_a_new_table_has_the_column_beside_those_of_the_files(firn, duck):
    write(firn, "schema.json", json.dumps({"type": "struct", "fields": [
        {"id": 1, "name": "id", "type": "long", "required": True}]}))
    write(firn, "a.ndjson", [{"id": 1, "x": 1}])
    arguments = ("load", TABLE, "a.ndjson", "--create", "--schema", "schema.json", "--unknown-fields-column", "rest")
    firn.run(*arguments)
    firn.run(*arguments)
    assert maps(firn, duck) == [{"x": "1"}, {"x": "1"}]


def test_a_required_map_of_an_own_table_is_empty_where_nothing_is_unknown(firn, duck):
    entries = {"type": "map", "key-id": 3, "key": "string", "value-id": 4, "value": "string", "value-required": True}
    write(firn, "schema.json", json.dumps({"type": "struct", "fields": [
        {"id": 1, "name": "id", "type": "long", "required": True},
        {"id": 2, "name": "rest", "required": True, "type": entries}]}))
    firn.run("table", "create", TABLE, "--schema", "schema.json")
    firn.configure(CONFIG)
    write(firn, "a.ndjson", [{"id": 1}, {"id": 2, "x": None}, {"id": 3, "x": None, "y": True}])
    firn.run("load", TABLE, "a.ndjson")
    assert maps(firn, duck) == [{}, {}, {"y": "true"}]


def test_the_configuration_says_it_for_a_table(requests, duck):
    requests.configure(CONFIG)
    write(requests, "a.ndjson", RECORDS)
    requests.run("load", TABLE, "a.ndjson")
    write(requests, "b.ndjson", [{"id": 4, "x": 1}])
    requests.run("load", TABLE, "b.ndjson", "--ignore-unknown")
    assert maps(requests, duck) == [*MAPS, None]
    write(requests, "c.ndjson", [{"id": 5, "x": 1}])
    requests.run("load", TABLE, "c.ndjson", "--evolve-schema")
    assert columns(requests)["x"] == "long"
    write(requests, "d.csv", "id,y\n6,1\n")
    assert "no column 'y'" in requests.run("load", TABLE, "d.csv", code=1).stderr


def test_what_does_not_fit_all_the_same_is_a_dead_letter_and_strict_refuses_it(requests, duck):
    requests.configure(CONFIG)
    bad = ['{"id": 2, "Service": "a"}', '{"id": 2, "x": 1, "x": 2}', '{"id": 2, "x": 1, "rest": {"x": "2"}}']
    write(requests, "a.ndjson", "\n".join(['{"id": 1, "x": 1}', *bad]) + "\n")
    assert "nothing was landed (--strict)" in requests.run("load", TABLE, "a.ndjson", "--strict", code=1).stderr
    assert "rest" not in columns(requests)
    requests.run("load", TABLE, "a.ndjson")
    assert maps(requests, duck) == [{"x": "1"}]
    twice = "column 'rest': the key 'x' is there twice"
    assert letters(requests) == [
        "line 2: the table has no column 'Service', but one that is written 'service'", f"line 3: {twice}",
        f"line 4: {twice}"]


def test_dead_letters_of_before_go_there_too(requests, duck):
    write(requests, "a.ndjson", [{"id": 1, "x": 1}, {"id": 2, "x": 2}])
    requests.run("load", TABLE, "a.ndjson")
    requests.configure(CONFIG)
    assert "none of the 2 dead letters" in requests.run("dead-letters", "replay", TABLE).stdout
    write(requests, "b.ndjson", [{"id": 3}])
    requests.run("load", TABLE, "b.ndjson")
    requests.run("dead-letters", "replay", TABLE)
    assert maps(requests, duck) == [{"x": "1"}, {"x": "2"}, None]
    assert letters(requests) == []


def test_a_replay_reads_as_the_load_did(firn, duck):
    firn.run("table", "create", TABLE, "--columns", "id int")
    write(firn, "a.ndjson", [{"id": 1 << 40, "x": 1}])
    firn.run("load", TABLE, "a.ndjson", "--unknown-fields-column", "rest")
    with firn.table(TABLE).update_schema() as update:
        update.update_column("id", field_type=LongType())
    firn.run("dead-letters", "replay", TABLE)
    assert maps(firn, duck) == [{"x": "1"}]


def test_a_load_that_goes_on_keeps_them_as_it_began(requests):
    write(requests, "a.ndjson", RECORDS)
    requests.run("load", TABLE, "a.ndjson", "--unknown-fields-column", "rest", "--id", "monday")
    message = requests.run("load", TABLE, "a.ndjson", "--id", "monday", code=2).stderr
    assert "was begun with --unknown-fields-column rest, and now there is no options" in message
    requests.configure(CONFIG)
    assert "durable already" in requests.run("load", TABLE, "a.ndjson", "--id", "monday").stdout


@pytest.mark.parametrize("other", ["--ignore-unknown", "--evolve-schema"])
def test_options_that_contradict_it_are_refused(requests, other):
    write(requests, "a.ndjson", RECORDS)
    message = requests.run("load", TABLE, "a.ndjson", "--unknown-fields-column", "rest", other, code=2).stderr
    assert other in message and "--unknown-fields-column" in message


def test_a_column_that_cannot_keep_them_is_said_at_the_start(requests):
    requests.configure(CONFIG.replace("rest", "service") + SERVE_CONFIG)
    reason = "column 'service' cannot keep unknown fields: it has to be a map<string, string>, and is of type string"
    assert f"tables: {TABLE}: unknown_fields_column: {reason}" in requests.run("serve", code=2).stderr
    assert f"unknown_fields_column: {reason}" in requests.run("check", code=1).stdout
    write(requests, "a.ndjson", RECORDS)
    assert reason in requests.run("load", TABLE, "a.ndjson", code=2).stderr
    requests.configure(CONFIG)
    requests.run("check")


def test_what_is_posted_and_files_of_a_folder_fill_it(requests, duck):
    requests.configure(SERVE_CONFIG + SOURCE + CONFIG)
    (requests.folder / "incoming").mkdir()
    with serving(requests) as server:
        assert server.post(TABLE, RECORDS) == (200, {"accepted": 3, "dead_lettered": 0})
        status, answer = server.post(TABLE, [{"id": 9, "x": 1, "Id": 1}])
        assert (status, answer["accepted"], answer["dead_lettered"]) == (200, 0, 1)
        part = requests.folder / "incoming/a.ndjson.part"
        part.write_text(ndjson([{"id": 4, "file": [1, {"a": 1e3}]}]))
        part.rename(part.with_suffix(""))
        wait_until(lambda: any("took " in line for line in server.log))
        server.stop()
    requests.run("shift", "--all")
    assert maps(requests, duck) == [*MAPS, {"file": '[1, {"a": 1000.0}]'}]
    assert letters(requests) == ["line 1: the table has no column 'Id', but one that is written 'id'"]


def test_a_field_of_ten_megabytes_is_kept(requests, duck):
    requests.configure(SERVE_CONFIG + CONFIG)
    large = "x" * 10_000_000
    with serving(requests) as server:
        assert server.post(TABLE, [{"id": 1, "large": large}, {"id": 2}])[0] == 200
        server.stop()
    requests.run("shift", "--all")
    assert maps(requests, duck) == [{"large": large}, None]
