"""Columns with defaults (format version 3): what Firn writes for records that say nothing of them, all readers see."""

import json

import pyarrow as pa

TABLE = "db.events"
FIELDS = [
    {"id": 1, "name": "id", "required": True, "type": "long"},
    {"id": 2, "name": "kind", "required": False, "type": "string", "initial-default": "old", "write-default": "new"},
    {"id": 3, "name": "place", "required": False, "type": {"type": "struct", "fields": [
        {"id": 4, "name": "city", "required": False, "type": "string", "write-default": "Oslo"},
        {"id": 5, "name": "zip", "required": False, "type": "int"}]}},
]
QUERY = f"SELECT id, kind, place.city, place.zip FROM {TABLE} ORDER BY id"
EXPECTED = [(1, "new", "Oslo", 7), (2, None, None, None), (3, "new", "Oslo", None)]


def test_readers_see_the_defaults_that_firn_wrote(lake, spark):
    file = lake.folder / "schema.json"
    file.write_text(json.dumps({"type": "struct", "schema-id": 0, "fields": FIELDS}))
    lake.firn("table", "create", TABLE, "--schema", file, "--property", "format-version=3")
    place = pa.array([{"zip": 7}], pa.struct([("zip", pa.int32())]))
    lake.firn_appends(TABLE, pa.table({"id": [1], "place": place}))
    records = lake.folder / "records.ndjson"
    records.write_text('{"id":2,"kind":null,"place":null}\n{"id":3,"place":{}}\n')
    lake.firn("load", TABLE, records)
    assert [tuple(row) for row in spark.sql(QUERY).collect()] == EXPECTED
    assert lake.open_duckdb(TABLE).sql(QUERY).fetchall() == EXPECTED
    rows = sorted(lake.table(TABLE).scan().to_arrow().to_pylist(), key=lambda row: row["id"])
    places = [row["place"] or {"city": None, "zip": None} for row in rows]
    assert [(row["id"], row["kind"], place["city"], place["zip"])
            for row, place in zip(rows, places, strict=True)] == EXPECTED
