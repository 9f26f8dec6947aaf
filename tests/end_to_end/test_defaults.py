"""Records that say nothing of a column get its write-default, whatever file they come in, and readers see it."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

FIELDS = [
    {"id": 1, "name": "id", "required": True, "type": "long"},
    {"id": 2, "name": "kind", "required": False, "type": "string", "initial-default": "old", "write-default": "new"},
    {"id": 3, "name": "amount", "required": True, "type": "decimal(9, 2)", "initial-default": "0.00",
     "write-default": "1.50"},
    {"id": 4, "name": "place", "required": False, "type": {"type": "struct", "fields": [
        {"id": 5, "name": "city", "required": False, "type": "string", "write-default": "Oslo"},
        {"id": 6, "name": "zip", "required": False, "type": "int"}]}},
    {"id": 7, "name": "day", "required": False, "type": "date", "write-default": "1969-12-31"},
]
DAY = "1969-12-31"


@pytest.fixture
def table(firn):
    (firn.folder / "schema.json").write_text(json.dumps({"type": "struct", "schema-id": 0, "fields": FIELDS}))
    firn.run("table", "create", "db.t", "--schema", "schema.json", "--property", "format-version=3", "--sort-by", "id")
    return firn


def load(firn, name, text):
    (firn.folder / name).write_text(text)
    firn.run("load", "db.t", name)


def plain(rows):
    return json.loads(json.dumps(rows, default=str))


def rows(firn, duck):
    """What DuckDB reads, and PyIceberg, too."""
    found = duck.sql(f"SELECT * FROM iceberg_scan('{firn.table('db.t').metadata_location}') ORDER BY id")
    rows = plain([dict(zip(found.columns, row, strict=True)) for row in found.fetchall()])
    assert plain(sorted(firn.rows("db.t").to_pylist(), key=lambda row: row["id"])) == rows
    return rows


def test_ndjson_that_lacks_columns(table, duck):
    load(table, "a.ndjson", '{"id":1}\n{"id":2,"kind":null,"place":{},"day":null}\n'
                            '{"id":3,"kind":"mine","amount":"7.25","place":{"city":null,"zip":1}}\n')
    assert rows(table, duck) == [
        {"id": 1, "kind": "new", "amount": "1.50", "place": None, "day": DAY},
        {"id": 2, "kind": None, "amount": "1.50", "place": {"city": "Oslo", "zip": None}, "day": None},
        {"id": 3, "kind": "mine", "amount": "7.25", "place": {"city": None, "zip": 1}, "day": DAY}]


def test_csv_that_lacks_columns(table, duck):
    load(table, "a.csv", "id\n1\n")
    load(table, "b.csv", "id,day\n2,\n")
    assert rows(table, duck) == [
        {"id": 1, "kind": "new", "amount": "1.50", "place": None, "day": DAY},
        {"id": 2, "kind": "new", "amount": "1.50", "place": None, "day": None}]


def test_parquet_that_lacks_columns_and_fields(table, duck):
    place = pa.array([{"zip": 5}, None], pa.struct([("zip", pa.int32())]))
    pq.write_table(pa.table({"id": [1, 2], "place": place}), table.folder / "a.parquet")
    table.run("load", "db.t", "a.parquet")
    defaults = {"kind": "new", "amount": "1.50", "day": DAY}
    assert rows(table, duck) == [{"id": 1, "place": {"city": "Oslo", "zip": 5}} | defaults,
                                 {"id": 2, "place": None} | defaults]


def test_a_required_column_with_a_default_stays_required_when_the_table_is_changed(table, duck):
    (table.folder / "a.csv").write_text("id,extra\n1,x\n")
    table.run("load", "db.t", "a.csv", "--evolve-schema")
    (row,) = rows(table, duck)
    assert (row["amount"], row["extra"]) == ("1.50", "x")
    assert table.table("db.t").schema().find_field("amount").required


def test_a_default_that_is_no_value_of_its_column_is_refused(firn):
    fields = [{"id": 1, "name": "n", "required": False, "type": "int", "write-default": "many"}]
    (firn.folder / "schema.json").write_text(json.dumps({"type": "struct", "schema-id": 0, "fields": fields}))
    done = firn.run("table", "create", "db.t", "--schema", "schema.json", "--property", "format-version=3", code=2)
    assert "write-default of column 'n'" in done.stderr
