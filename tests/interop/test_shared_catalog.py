"""One SQLite file is the catalog of Firn, PyIceberg and Spark."""

import json
import sqlite3

import pytest
from events import BATCH, SCHEMA, SPARK_COLUMNS, TABLE, content, events, spark_appends
from pyiceberg.catalog.sql import SqlCatalog


@pytest.mark.parametrize("layout", ["V0", "V1"])
def test_spark_and_firn_share_a_catalog_of_either_layout(lake, spark_session, layout):
    spark = lake.open_spark(spark_session, layout)
    spark.sql("CREATE NAMESPACE db")
    spark.sql(f"CREATE TABLE {TABLE} {SPARK_COLUMNS} USING iceberg")
    with sqlite3.connect(lake.database) as database:
        columns = {row[1] for row in database.execute("PRAGMA table_info(iceberg_tables)")}
    assert ("iceberg_type" in columns) == (layout == "V1")
    lake.firn_appends(TABLE, events(0))
    spark_appends(spark, events(BATCH))
    lake.firn_appends(TABLE, events(2 * BATCH))
    assert content(spark.table(TABLE).toArrow()) == content(events(0, 3 * BATCH))
    # And the other way round: Spark finds a table that Firn made.
    lake.firn_creates("db.ours", json.loads(SCHEMA.model_dump_json()))
    lake.firn_appends("db.ours", events(0))
    assert content(spark.table("db.ours").toArrow()) == content(events(0))
    assert {row.tableName for row in spark.sql("SHOW TABLES IN db").collect()} == {"events", "ours"}


def test_views_and_other_catalogs_in_the_file_are_not_tables_of_firn(lake, spark):
    spark.sql("CREATE NAMESPACE db")
    spark.sql(f"CREATE TABLE {TABLE} {SPARK_COLUMNS} USING iceberg")
    spark.sql(f"CREATE VIEW db.ids AS SELECT id FROM {TABLE}")
    other = SqlCatalog("other", uri=f"sqlite:///{lake.database}", warehouse=lake.location)
    other.create_namespace("db")
    other.create_table("db.theirs", SCHEMA)
    listed = json.loads(lake.firn("table", "list", "--format", "json").stdout)
    assert TABLE in json.dumps(listed)
    assert "ids" not in json.dumps(listed) and "theirs" not in json.dumps(listed)
    lake.firn_appends("db.ids", events(0), code=1)
    lake.firn_appends(TABLE, events(0))
    assert spark.sql("SELECT count(*) FROM db.ids").collect()[0][0] == BATCH


def test_nested_namespaces_are_shared(lake, spark):
    spark.sql("CREATE NAMESPACE db")
    spark.sql("CREATE NAMESPACE db.inner")
    spark.sql(f"CREATE TABLE db.inner.events {SPARK_COLUMNS} USING iceberg")
    lake.firn_appends("db.inner.events", events(0))
    assert content(spark.table("db.inner.events").toArrow()) == content(events(0))
