"""Tables that Firn reads and does not write: it says so and what to do in one line, and changes nothing."""

import json

from events import (
    BATCH,
    SCHEMA,
    SPARK_COLUMNS,
    TABLE,
    events,
    firn_appends_losing_nothing,
    readers_agree,
    spark_appends,
)
from lake import local_path


def state_of(lake, table=TABLE):
    """All that a refused append must leave as it is."""
    folder = local_path(lake.table(table).location())
    files = {str(path): path.stat().st_size for path in sorted(folder.glob("**/*"))}
    segments = sorted(str(path) for path in lake.folder.glob("warehouse/wal/**/*.parquet"))
    return lake.table(table).metadata_location, files, segments


def assert_refused(lake, *words):
    before = state_of(lake)
    done = lake.firn_appends(TABLE, events(100), code=1)
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    for word in words:
        assert word in done.stderr
    assert state_of(lake) == before


def test_a_table_of_format_version_1_by_pyiceberg_is_refused(lake):
    lake.pyiceberg_creates(TABLE, SCHEMA, **{"format-version": "1"})
    lake.table(TABLE).append(events(0))
    assert_refused(lake, "/db/events", "format version 1")


def test_a_table_of_format_version_1_by_spark_is_refused_and_shown_and_written_once_it_is_upgraded(lake, spark):
    spark.sql("CREATE NAMESPACE db")
    spark.sql(f"CREATE TABLE {TABLE} {SPARK_COLUMNS} USING iceberg PARTITIONED BY (name) "
              "TBLPROPERTIES ('format-version'='1')")
    spark_appends(spark, events(0))
    upgrade = "ALTER TABLE ... SET TBLPROPERTIES ('format-version' = '2')"
    assert_refused(lake, "/db/events", "format version 1", upgrade)
    shown = json.loads(lake.firn("inspect", "table", TABLE, "--format", "json").stdout)
    assert shown["format_version"] == 1
    lake.firn("inspect", "files", TABLE)
    spark.sql(upgrade.replace("...", TABLE))
    firn_appends_losing_nothing(lake, events(BATCH))
    spark_appends(spark, events(2 * BATCH))
    readers_agree(lake, spark, events(0, 3 * BATCH))
