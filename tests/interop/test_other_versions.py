"""Tables of format versions that Firn reads and does not write: it says so in one line and changes nothing."""

import json

import pytest
from events import SCHEMA, SPARK_COLUMNS, TABLE, events, spark_appends
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


@pytest.mark.parametrize("version", [1, 3])
def test_a_table_of_spark_in_another_format_version_is_refused_and_shown(lake, spark, version):
    spark.sql("CREATE NAMESPACE db")
    spark.sql(f"CREATE TABLE {TABLE} {SPARK_COLUMNS} USING iceberg PARTITIONED BY (name) "
              f"TBLPROPERTIES ('format-version'='{version}')")
    spark_appends(spark, events(0))
    assert_refused(lake, "/db/events", f"format version {version}")
    shown = json.loads(lake.firn("inspect", "table", TABLE, "--format", "json").stdout)
    assert shown["format_version"] == version
    lake.firn("inspect", "files", TABLE)
