"""`load --evolve-schema` changes the table's schema to what the files need, and no further."""

import json

import pyarrow
import pyarrow.parquet
import pytest
from pyiceberg.schema import Schema
from pyiceberg.types import IntegerType, LongType, NestedField, StringType


def write(firn, name, *lines):
    (firn.folder / name).write_text("\n".join(lines) + "\n")
    return name


def columns(firn, table="db.t"):
    return {field.name: str(field.field_type) for field in firn.table(table).schema().fields}


def create(firn, *fields):
    firn.catalog.create_namespace("db")
    return firn.catalog.create_table("db.t", Schema(*fields))


@pytest.fixture
def table(firn):
    return create(firn, NestedField(1, "id", IntegerType(), required=True), NestedField(2, "name", StringType()))


def test_columns_are_added_widened_and_made_optional(firn, table):
    write(firn, "a.csv", "id,name", "1,a")
    assert "schema" not in firn.run("load", "db.t", "a.csv", "--evolve-schema").stdout
    write(firn, "b.ndjson", '{"id": 5000000000, "point": {"x": 1, "tags": ["t"]}}', '{"name": "b"}')
    out = firn.run("load", "db.t", "b.ndjson", "--evolve-schema").stdout
    assert ("db.t: schema changed: made id optional, widened id from int to long, "
            "added point (struct<4: x: long, 5: tags: list<string>>)") in out
    rows = sorted(firn.rows("db.t").to_pylist(), key=lambda row: row["id"] or 0)
    assert rows == [
        {"id": None, "name": "b", "point": None},
        {"id": 1, "name": "a", "point": None},
        {"id": 5000000000, "name": None, "point": {"x": 1, "tags": ["t"]}},
    ]
    before = firn.table("db.t").metadata_location
    write(firn, "c.ndjson", '{"point": {"x": 2, "y": 0.5}, "id": 7}')
    assert "added point.y (double)" in firn.run("load", "db.t", "c.ndjson", "--evolve-schema").stdout
    assert firn.table("db.t").metadata_location != before
    assert len(firn.table("db.t").metadata.schemas) == 3


def test_rows_of_before_wait_in_the_log_while_the_schema_changes(firn, table):
    write(firn, "a.csv", "id,name", "1,a")
    firn.run("load", "db.t", "a.csv", "--wal-only")
    write(firn, "b.csv", "id,name,more", "2,b,0.5")
    firn.run("load", "db.t", "b.csv", "--wal-only", "--evolve-schema")
    firn.run("shift", "db.t")
    assert firn.rows("db.t").sort_by("id").to_pylist() == [
        {"id": 1, "name": "a", "more": None}, {"id": 2, "name": "b", "more": 0.5}]


def test_without_it_nothing_changes(firn, table):
    write(firn, "a.csv", "id,name,more", "1,a,2")
    assert "'more'" in firn.run("load", "db.t", "a.csv", code=1).stderr
    assert columns(firn) == {"id": "int", "name": "string"}


def test_the_configuration_allows_it_for_a_table(firn, table):
    firn.configure("tables:\n  - {name: db.t, schema_evolution: add}\n")
    write(firn, "a.csv", "id,more", "1,2")
    firn.run("load", "db.t", "a.csv")
    assert columns(firn) == {"id": "int", "name": "string", "more": "long"}
    write(firn, "b.csv", "id,other", "1,2")
    firn.run("load", "db.t", "b.csv", "--ignore-unknown")
    assert "other" not in columns(firn)


def test_a_dry_run_says_what_would_change(firn, table):
    write(firn, "a.csv", "id,more", "1,2")
    out = firn.run("load", "db.t", "a.csv", "--evolve-schema", "--dry-run").stdout
    assert "the schema would change: added more (long)" in out
    assert columns(firn) == {"id": "int", "name": "string"}


def test_what_cannot_be_is_refused_and_changes_nothing(firn, table):
    pyarrow.parquet.write_table(pyarrow.table({"id": ["x"], "more": [1]}), firn.folder / "a.parquet")
    refused = firn.run("load", "db.t", "a.parquet", "--evolve-schema", code=1)
    for words in ("'id' is int in the table and string in the input", "convert the values"):
        assert words in refused.stderr
    write(firn, "b.csv", "id,NAME", "1,x")
    refused = firn.run("load", "db.t", "b.csv", "--evolve-schema", code=1)
    assert "'NAME'" in refused.stderr and "only in case" in refused.stderr
    assert columns(firn) == {"id": "int", "name": "string"}
    assert firn.table("db.t").current_snapshot() is None


def test_a_strict_load_with_a_record_that_does_not_fit_changes_nothing(firn, table):
    write(firn, "a.csv", "id,more", "1,2", "x,3")
    assert "nothing was landed" in firn.run("load", "db.t", "a.csv", "--evolve-schema", "--strict", code=1).stderr
    assert columns(firn) == {"id": "int", "name": "string"}


def test_a_schema_file_says_what_is_wanted(firn, table):
    schema = {"type": "struct", "fields": [
        {"id": 1, "name": "more", "required": False, "type": "decimal(9, 2)"}]}
    (firn.folder / "more.json").write_text(json.dumps(schema))
    firn.run("load", "db.t", "-", "--format", "csv", "--evolve-schema", "--schema", "more.json",
             stdin="id,more\n1,2.25\n")
    assert columns(firn)["more"] == "decimal(9, 2)"
    schema["fields"][0] |= {"name": "must", "required": True}
    (firn.folder / "must.json").write_text(json.dumps(schema))
    refused = firn.run("load", "db.t", "-", "--format", "csv", "--evolve-schema", "--schema", "must.json",
                       stdin="id,must\n1,2.25\n", code=1)
    assert "'must' of type decimal(9, 2) cannot be added as a required one" in refused.stderr


@pytest.mark.parametrize("other", ["--ignore-unknown", "--no-header"])
def test_options_that_contradict_it_are_refused(firn, table, other):
    write(firn, "a.csv", "1,2")
    assert other in firn.run("load", "db.t", "a.csv", "--evolve-schema", other, code=2).stderr


def test_loads_that_make_and_evolve_one_table_at_once_all_land(firn):
    loads = []
    for i in range(4):
        write(firn, f"{i}.ndjson", json.dumps({"id": i, "shared": 0.5, f"own{i}": f"{i}"}))
        loads.append(firn.start("load", "db.t", f"{i}.ndjson", "--create", "--evolve-schema"))
    for load in loads:
        out, err = load.communicate(timeout=300)
        assert load.returncode == 0, out + err
    assert set(columns(firn)) == {"id", "shared", "own0", "own1", "own2", "own3"}
    rows = firn.rows("db.t").sort_by("id").to_pylist()
    assert [[row["id"], row[f"own{row['id']}"]] for row in rows] == [[i, f"{i}"] for i in range(4)]


def test_an_interrupted_load_goes_on_after_the_schema_changed(firn):
    create(firn, NestedField(1, "id", LongType()))
    write(firn, "a.csv", "id,more", "1,2", "2,3")
    firn.run("load", "db.t", "a.csv", "--evolve-schema", "--id", "monday", code=-9,
             FIRN_CRASH_POINT="shift.planned")
    firn.run("load", "db.t", "a.csv", "--evolve-schema", "--id", "monday")
    assert firn.rows("db.t").sort_by("id").to_pylist() == [{"id": 1, "more": 2}, {"id": 2, "more": 3}]
