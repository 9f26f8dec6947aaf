"""Firn appends to tables that Spark made; Spark reads, writes, evolves and maintains them, and nothing is lost."""

import re

import pyarrow as pa
import pytest
from events import (
    BATCH,
    SPARK_COLUMNS,
    TABLE,
    content,
    events,
    firn_appends_losing_nothing,
    readers_agree,
    spark_appends,
)
from metadata import lost


def test_firn_and_spark_append_in_turn_to_a_partitioned_sorted_table(lake, spark):
    spark.sql("CREATE NAMESPACE db")
    spark.sql(f"CREATE TABLE {TABLE} {SPARK_COLUMNS} USING iceberg "
              "PARTITIONED BY (truncate(2, name), bucket(4, id), days(ts)) TBLPROPERTIES ('team'='somebody')")
    spark.sql(f"ALTER TABLE {TABLE} WRITE ORDERED BY name DESC NULLS LAST, id")
    firn_appends_losing_nothing(lake, events(0))  # the first snapshot of all
    before = lake.metadata(TABLE)
    spark_appends(spark, events(BATCH))
    assert lost(before, lake.metadata(TABLE)) == []
    firn_appends_losing_nothing(lake, events(2 * BATCH))
    expected = events(0, 3 * BATCH)
    readers_agree(lake, spark, expected)
    for row in expected.to_pylist():
        found = spark.sql(f"SELECT id FROM {TABLE} WHERE id = {row['id']} AND name <=> :name AND ts = :ts",
                          {"name": row["name"], "ts": row["ts"]}).collect()
        assert [each.id for each in found] == [row["id"]], row


def test_firn_follows_schema_and_spec_that_spark_evolved(lake, spark):
    spark.sql("CREATE NAMESPACE db")
    spark.sql(f"CREATE TABLE {TABLE} (id int, name string, point struct<x: float>) USING iceberg PARTITIONED BY (name)")
    spark.sql(f"INSERT INTO {TABLE} VALUES (1, 'a', struct(1.5))")
    lake.firn_appends(TABLE, pa.table({"id": pa.array([2], pa.int32()), "name": ["b"],
                                       "point": pa.array([{"x": 2.5}], pa.struct([("x", pa.float32())]))}))
    for change in ("ALTER COLUMN id TYPE bigint", "ALTER COLUMN point.x TYPE double",
                   "ADD COLUMN point.y string", "RENAME COLUMN name TO title", "ADD COLUMN extra int FIRST",
                   "DROP PARTITION FIELD name", "ADD PARTITION FIELD bucket(2, id)"):
        spark.sql(f"ALTER TABLE {TABLE} {change}")
    point = pa.struct([("x", pa.float64()), ("y", pa.string())])
    firn_appends_losing_nothing(lake, pa.table({
        "id": [2**40], "title": ["c"], "extra": pa.array([7], pa.int32()),
        "point": pa.array([{"x": 0.1, "y": "z"}], point)}))
    readers_agree(lake, spark, pa.table({
        "id": [1, 2, 2**40], "title": ["a", "b", "c"], "extra": pa.array([None, None, 7], pa.int32()),
        "point": pa.array([{"x": 1.5}, {"x": 2.5}, {"x": 0.1, "y": "z"}], point)}))


def test_deletes_branches_tags_and_statistics_of_spark_are_kept(lake, spark):
    spark.sql("CREATE NAMESPACE db")
    spark.sql(f"CREATE TABLE {TABLE} {SPARK_COLUMNS} USING iceberg PARTITIONED BY (bucket(2, id)) "
              "TBLPROPERTIES ('write.delete.mode'='merge-on-read', 'commit.manifest.min-count-to-merge'='2')")
    spark_appends(spark, events(0))
    spark.sql(f"DELETE FROM {TABLE} WHERE id = 2")
    spark.sql(f"ALTER TABLE {TABLE} CREATE TAG monday RETAIN 30 DAYS")
    spark.sql(f"ALTER TABLE {TABLE} CREATE BRANCH audit RETAIN 7 DAYS WITH SNAPSHOT RETENTION 2 SNAPSHOTS")
    spark_appends(spark, events(500, 1), f"{TABLE}.branch_audit")
    spark.sql(f"CALL firn.system.compute_table_stats('{TABLE}')")
    spark.sql(f"CALL firn.system.compute_partition_stats('{TABLE}')")
    lake.firn_appends(TABLE, events(0, 1))  # two rows with id 0
    before = lake.metadata(TABLE)
    assert before["statistics"] and set(before["refs"]) == {"main", "monday", "audit"}
    after = firn_appends_losing_nothing(lake, events(2, 1))  # the deleted one comes back as a new row

    left = pa.concat_tables([events(0, 2), events(3, 3), events(0, 1), events(2, 1)])
    readers_agree(lake, spark, left)
    assert content(spark.table(f"{TABLE}.tag_monday").toArrow()) == content(
        pa.concat_tables([events(0, 2), events(3, 3)]))
    assert content(spark.table(f"{TABLE}.branch_audit").toArrow()) == content(
        pa.concat_tables([events(0, 2), events(3, 3), events(500, 1)]))
    assert after["snapshots"][-1]["summary"]["total-records"] == "8"  # deleted ones count
    assert after["snapshots"][-1]["summary"]["total-position-deletes"] == "1"


def test_a_column_that_an_old_spec_needs_may_be_gone(lake, spark):
    spark.sql("CREATE NAMESPACE db")
    spark.sql(f"CREATE TABLE {TABLE} {SPARK_COLUMNS} USING iceberg PARTITIONED BY (name) "
              "TBLPROPERTIES ('commit.manifest.min-count-to-merge'='2')")
    spark_appends(spark, events(0))
    lake.firn_appends(TABLE, events(BATCH))
    spark.sql(f"ALTER TABLE {TABLE} DROP PARTITION FIELD name")
    spark.sql(f"ALTER TABLE {TABLE} DROP COLUMN name")
    for turn in range(2, 5):
        lake.firn_appends(TABLE, events(turn * BATCH).drop_columns(["name"]))
    # DuckDB's reader ends its process on such a table, whoever wrote it.
    readers_agree(lake, spark, events(0, 5 * BATCH).drop_columns(["name"]), duckdb=False)


def test_names_and_places_with_odd_characters(lake, spark):
    spark.sql("CREATE NAMESPACE db")
    place = f"{lake.folder}/warehouse/a place = 100%/é"
    spark.sql(f"CREATE TABLE {TABLE} (`id` bigint, `1st name, please` string, `a.b` string) USING iceberg "
              f"PARTITIONED BY (`1st name, please`) LOCATION '{place}'")
    rows = pa.table({"id": [1, 2, 3, 4], "1st name, please": ["a/b", "é =%", "", None], "a.b": ["x", "y", "z", None]})
    lake.firn_appends(TABLE, rows)
    spark_appends(spark, rows)
    lake.firn_appends(TABLE, rows)
    expected = pa.concat_tables([rows] * 3)
    readers_agree(lake, spark, expected)
    for name in ("a/b", "é =%", ""):
        assert spark.sql(f"SELECT id FROM {TABLE} WHERE `1st name, please` = '{name}'").count() == 3


def test_sort_fields_with_transforms_and_identifiers_and_comments(lake, spark):
    spark.sql("CREATE NAMESPACE db")
    spark.sql(f"CREATE TABLE {TABLE} (id bigint NOT NULL COMMENT 'a number', name string, amount double, ts timestamp) "
              "USING iceberg COMMENT 'events of all kinds'")
    spark.sql(f"ALTER TABLE {TABLE} SET IDENTIFIER FIELDS id")
    spark.sql(f"ALTER TABLE {TABLE} WRITE DISTRIBUTED BY PARTITION LOCALLY ORDERED BY "
              "bucket(4, id), years(ts) DESC NULLS LAST, truncate(2, name)")
    firn_appends_losing_nothing(lake, events(0, 40))
    spark_appends(spark, events(40))
    firn_appends_losing_nothing(lake, events(40 + BATCH))
    readers_agree(lake, spark, events(0, 40 + 2 * BATCH))
    assert {task.file.sort_order_id for task in lake.table(TABLE).scan().plan_files()} >= {1}


def test_spark_overwrites_and_deletes_between_firn_s_appends(lake, spark):
    spark.sql("CREATE NAMESPACE db")
    spark.sql(f"CREATE TABLE {TABLE} {SPARK_COLUMNS} USING iceberg PARTITIONED BY (name)")
    lake.firn_appends(TABLE, events(0))
    spark.sql(f"INSERT OVERWRITE {TABLE} SELECT * FROM {TABLE} WHERE id < 3")
    lake.firn_appends(TABLE, events(3, 3))
    spark.sql(f"DELETE FROM {TABLE} WHERE id = 4")
    spark.sql(f"UPDATE {TABLE} SET amount = 99 WHERE id = 0")
    lake.firn_appends(TABLE, events(4, 1))
    assert sorted(row.id for row in spark.table(TABLE).collect()) == list(range(BATCH))
    spark.sql(f"TRUNCATE TABLE {TABLE}")
    lake.firn_appends(TABLE, events(100))
    readers_agree(lake, spark, events(100))


def test_a_table_that_spark_renames_goes_on_and_one_made_anew_starts_anew(lake, spark):
    spark.sql("CREATE NAMESPACE db")
    spark.sql(f"CREATE TABLE db.early {SPARK_COLUMNS} USING iceberg")
    lake.firn_appends("db.early", events(0))
    spark.sql(f"ALTER TABLE db.early RENAME TO {TABLE}")
    lake.firn_appends(TABLE, events(BATCH))
    readers_agree(lake, spark, events(0, 2 * BATCH))
    spark.sql(f"DROP TABLE {TABLE}")
    spark.sql(f"CREATE TABLE {TABLE} {SPARK_COLUMNS} USING iceberg")
    lake.firn_appends(TABLE, events(2 * BATCH))
    readers_agree(lake, spark, events(2 * BATCH))


def test_a_table_whose_content_spark_replaced_waits_for_a_word(lake, spark):
    spark.sql("CREATE NAMESPACE db")
    spark.sql(f"CREATE TABLE {TABLE} {SPARK_COLUMNS} USING iceberg")
    lake.firn_appends(TABLE, events(0))
    spark.sql(f"CREATE OR REPLACE TABLE {TABLE} USING iceberg AS SELECT * FROM {TABLE} WHERE id < 2")
    refused = lake.firn_appends(TABLE, events(BATCH), code=1)
    assert "positions reset" in refused.stderr
    readers_agree(lake, spark, events(0, 2))
    lake.firn("positions", "reset", TABLE, "--keep")
    lake.firn("shift", TABLE)
    ids = [row.id for row in spark.table(TABLE).collect()]
    assert len(ids) == len(set(ids))
    lake.firn_appends(TABLE, events(2 * BATCH))
    assert set(range(2 * BATCH, 3 * BATCH)) <= {row.id for row in spark.table(TABLE).collect()}


def test_spark_maintains_a_table_between_firn_s_appends(lake, spark):
    spark.sql("CREATE NAMESPACE db")
    spark.sql(f"CREATE TABLE {TABLE} {SPARK_COLUMNS} USING iceberg")
    for turn in range(3):
        lake.firn_appends(TABLE, events(turn * BATCH))
    spark.sql(f"CALL firn.system.rewrite_data_files(table => '{TABLE}', options => map('rewrite-all', 'true'))")
    firn_appends_losing_nothing(lake, events(3 * BATCH))
    spark.sql(f"CALL firn.system.rewrite_manifests('{TABLE}')")
    firn_appends_losing_nothing(lake, events(4 * BATCH))
    spark.sql(f"CALL firn.system.expire_snapshots(table => '{TABLE}', older_than => TIMESTAMP '2999-01-01 00:00:00')")
    firn_appends_losing_nothing(lake, events(5 * BATCH))
    readers_agree(lake, spark, events(0, 6 * BATCH))


@pytest.mark.parametrize(("property", "value"), [
    ("write.metadata.compression-codec", "gzip"),
    ("write.object-storage.enabled", "true"),
    ("write.parquet.compression-codec", "gzip"),
    ("write.parquet.bloom-filter-enabled.column.name", "true"),
    ("commit.manifest.min-count-to-merge", "2"),
])
def test_firn_appends_to_a_table_with_properties_of_spark(lake, spark, property, value):
    spark.sql("CREATE NAMESPACE db")
    spark.sql(f"CREATE TABLE {TABLE} {SPARK_COLUMNS} USING iceberg PARTITIONED BY (name) "
              f"TBLPROPERTIES ('{property}'='{value}')")
    spark_appends(spark, events(0))
    lake.firn_appends(TABLE, events(BATCH))
    spark_appends(spark, events(2 * BATCH))
    lake.firn_appends(TABLE, events(3 * BATCH))
    assert content(spark.table(TABLE).toArrow()) == content(events(0, 4 * BATCH))


@pytest.mark.parametrize("layout", ["", "PARTITIONED BY (name)"])
@pytest.mark.parametrize("properties", [
    {},
    {"write.object-storage.partitioned-paths": "false"},
    {"write.data.path": "{warehouse}/elsewhere"},
    {"write.data.path": "{warehouse}/elsewhere/", "write.object-storage.partitioned-paths": "false"},
])
def test_data_files_are_spread_as_java_spreads_them(lake, spark, layout, properties):
    properties = {name: value.format(warehouse=lake.location) for name, value in properties.items()}
    properties["write.object-storage.enabled"] = "true"
    spark.sql("CREATE NAMESPACE db")
    texts = ", ".join(f"'{name}'='{value}'" for name, value in properties.items())
    spark.sql(f"CREATE TABLE {TABLE} {SPARK_COLUMNS} USING iceberg {layout} TBLPROPERTIES ({texts})")
    lake.firn_appends(TABLE, events(0))
    places = spark._jvm.org.apache.iceberg.LocationProviders.locationsFor(lake.table(TABLE).location(), properties)
    has_partitions = "write.object-storage.partitioned-paths" not in properties
    for task in lake.table(TABLE).scan().plan_files():
        *folders, name = task.file.file_path.split("/")
        partition = [folder for folder in folders if folder.startswith("name=")]
        assert bool(partition) == (has_partitions and bool(layout))
        name = re.sub("^[01]{8}-", "", name)
        assert task.file.file_path == places.newDataLocation("/".join([*partition, name]))
    spark_appends(spark, events(BATCH))
    lake.firn_appends(TABLE, events(2 * BATCH))
    readers_agree(lake, spark, events(0, 3 * BATCH))


@pytest.mark.parametrize("codec", ["uncompressed", "zstd", "snappy"])
def test_manifests_of_every_codec_are_read(lake, spark, codec):
    spark.sql("CREATE NAMESPACE db")
    spark.sql(f"CREATE TABLE {TABLE} {SPARK_COLUMNS} USING iceberg TBLPROPERTIES "
              f"('write.manifest.compression-codec'='{codec}', 'write.avro.compression-codec'='{codec}', "
              "'commit.manifest.min-count-to-merge'='2')")
    spark_appends(spark, events(0))
    lake.firn("inspect", "files", TABLE)
    lake.firn_appends(TABLE, events(BATCH))
    spark_appends(spark, events(2 * BATCH))
    lake.firn_appends(TABLE, events(3 * BATCH))
    assert content(spark.table(TABLE).toArrow()) == content(events(0, 4 * BATCH))


def test_metrics_modes_and_columns_are_followed_after_a_rename(lake, spark):
    spark.sql("CREATE NAMESPACE db")
    spark.sql(f"CREATE TABLE {TABLE} {SPARK_COLUMNS} USING iceberg "
              "TBLPROPERTIES ('write.metadata.metrics.column.name'='none')")
    spark.sql(f"ALTER TABLE {TABLE} RENAME COLUMN name TO title")  # Spark renames the property too
    lake.firn_appends(TABLE, events(0).rename_columns(["id", "title", "amount", "ts"]))
    (file,) = lake.table(TABLE).inspect.files().to_pylist()
    assert {field for field, _ in file["lower_bounds"]} == {1, 3, 4}
