"""PyIceberg, DuckDB and Spark read tables that Firn evolved, and evolve them in turn."""

import json

import pyarrow as pa
import pytest
from events import TABLE, readers_agree, spark_appends
from metadata import lost

POINT = pa.struct([("x", pa.float32())])
WIDE_POINT = pa.struct([("x", pa.float64()), ("y", pa.string())])


def firn_evolves(lake, rows):
    """Loads rows; whatever the table does not have yet is added."""
    before = lake.metadata(TABLE)
    lake.firn("load", TABLE, lake.write_parquet(rows), "--evolve-schema")
    assert set(lost(before, lake.metadata(TABLE))) <= {"current-schema-id", "last-column-id"}


def narrow(i):
    return pa.table({"id": pa.array([i], pa.int32()), "name": ["a"], "point": pa.array([{"x": 1.5}], POINT),
                     "price": pa.array([1], pa.decimal128(4, 2))})


def wide(i):
    return pa.table({"id": pa.array([i], pa.int64()), "name": ["b"],
                     "point": pa.array([{"x": 0.1, "y": "z"}], WIDE_POINT),
                     "price": pa.array([10**8], pa.decimal128(12, 2)), "extra": [0.5]})


def test_readers_agree_on_a_table_that_firn_evolved(lake, spark):
    spark.sql("CREATE NAMESPACE db")
    spark.sql(f"CREATE TABLE {TABLE} (id int, name string, point struct<x: float>, price decimal(4, 2)) "
              "USING iceberg PARTITIONED BY (bucket(4, id))")
    spark.sql(f"ALTER TABLE {TABLE} WRITE ORDERED BY id")
    spark_appends(spark, narrow(1))
    lake.firn_appends(TABLE, narrow(2))
    firn_evolves(lake, wide(2**40))
    spark_appends(spark, wide(4))
    lake.firn_appends(TABLE, narrow(5))
    point = [{"x": 1.5, "y": None}, {"x": 1.5, "y": None}, {"x": 0.1, "y": "z"}, {"x": 0.1, "y": "z"},
             {"x": 1.5, "y": None}]
    readers_agree(lake, spark, pa.table({
        "id": [1, 2, 2**40, 4, 5], "name": ["a", "a", "b", "b", "a"], "point": pa.array(point, WIDE_POINT),
        "price": pa.array([1, 1, 10**8, 10**8, 1], pa.decimal128(12, 2)), "extra": [None, None, 0.5, 0.5, None]}))
    for i in (1, 2, 2**40, 4, 5):  # bounds of ints and of longs
        assert spark.sql(f"SELECT id FROM {TABLE} WHERE id = {i}").count() == 1
        assert lake.open_duckdb(TABLE).sql(f"SELECT count(*) FROM {TABLE} WHERE id = {i}").fetchone() == (1,)
        assert lake.table(TABLE).scan(row_filter=f"id == {i}").to_arrow().num_rows == 1


def test_firn_and_others_evolve_in_turn(lake, spark):
    lake.firn("table", "create", TABLE, "--columns", "id long")
    lake.firn("load", TABLE, lake.write_parquet(pa.table({"id": [1], "of_firn": ["f"]})), "--evolve-schema",
              "--wal-only")
    spark.sql(f"ALTER TABLE {TABLE} ADD COLUMN of_spark string")
    with lake.table(TABLE).update_schema() as change:
        change.rename_column("of_firn", "renamed")
    firn_evolves(lake, pa.table({"id": [2], "renamed": ["r"], "of_spark": ["s"], "again": ["a"]}))
    spark.sql(f"ALTER TABLE {TABLE} DROP COLUMN again")
    firn_evolves(lake, pa.table({"id": [3], "again": [0.5]}))  # another column of the same name
    readers_agree(lake, spark, pa.table({
        "id": [1, 2, 3], "renamed": ["f", "r", None], "of_spark": [None, "s", None], "again": [None, None, 0.5]}))
    fields = {field.name: field.field_id for field in lake.table(TABLE).schema().fields}
    assert fields == {"id": 1, "renamed": 2, "of_spark": 3, "again": 5}


@pytest.mark.parametrize("mode", ["at_once", "from_the_log"])
def test_an_evolved_list_of_structs_is_read_alike(lake, spark, mode):
    lake.firn_creates(TABLE, {"type": "struct", "fields": [
        {"id": 1, "name": "id", "required": True, "type": "long"},
        {"id": 2, "name": "items", "required": False, "type": {
            "type": "list", "element-id": 3, "element-required": False, "element": {
                "type": "struct", "fields": [{"id": 4, "name": "n", "required": True, "type": "int"}]}}}]})
    rows = [{"id": 1, "items": [{"n": 1}]}, {"id": 2, "items": [{"n": 2**40, "tag": "t"}, {"tag": "u"}]}]
    for row in rows:
        file = lake.folder / f"{row['id']}.ndjson"
        file.write_text(json.dumps(row) + "\n")
        lake.firn("load", TABLE, file, "--evolve-schema", *(["--wal-only"] if mode == "from_the_log" else []))
    if mode == "from_the_log":
        lake.firn("shift", TABLE)
    expected = [[{"n": 1, "tag": None}], [{"n": 2**40, "tag": "t"}, {"n": None, "tag": "u"}]]
    for rows in (spark.table(TABLE).toArrow(), lake.table(TABLE).scan().to_arrow(),
                 lake.open_duckdb(TABLE).sql(f"FROM {TABLE}").to_arrow_table()):
        assert rows.sort_by("id")["items"].to_pylist() == expected
