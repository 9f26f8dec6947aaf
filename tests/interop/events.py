"""Events: rows of a small table, and the verbs with which the tests write and read it."""

import datetime
import json
import sqlite3
from collections import Counter

import pyarrow as pa
from columns import plain
from metadata import lost
from pyiceberg.schema import Schema
from pyiceberg.types import DoubleType, LongType, NestedField, StringType, TimestamptzType

TABLE = "db.events"
UTC = datetime.timezone.utc
NAMES = ["", "ab", "abc", "é\U0001f600z", None, "k" * 40]
BATCH = 6


def events(first, count=BATCH):
    """Events `first`, `first` + 1, ...: their times go from before 1970 to after 2000, some values are null."""
    numbers = range(first, first + count)
    start = datetime.datetime(1969, 12, 31, 22, 30, tzinfo=UTC)
    return pa.table({
        "id": pa.array(numbers, pa.int64()),
        "name": pa.array([NAMES[i % len(NAMES)] for i in numbers], pa.string()),
        "amount": pa.array([None if i % 5 == 4 else (i - 3) / 4 for i in numbers], pa.float64()),
        "ts": pa.array([start + datetime.timedelta(hours=i * 997 % 400_000) for i in numbers],
                       pa.timestamp("us", "UTC")),
    })


SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=False),
    NestedField(2, "name", StringType(), required=False),
    NestedField(3, "amount", DoubleType(), required=False),
    NestedField(4, "ts", TimestamptzType(), required=False),
)
SPARK_COLUMNS = "(id bigint, name string, amount double, ts timestamp)"
FIRN_COLUMNS = "id long, name string, amount double, ts timestamptz"
MERGE_ON_READ = ", ".join(f"'write.{what}.mode'='merge-on-read'" for what in ("delete", "update", "merge"))


def content(table, names=None):
    """The rows of an Arrow table, in no order."""
    return Counter(zip(*(plain(table[name]) for name in names or table.column_names)))


def spark_appends(spark, rows, target=TABLE):
    spark.createDataFrame(rows).writeTo(target).append()


def readers_agree(lake, spark, expected, table=TABLE, duckdb=True):
    """PyIceberg, DuckDB and Spark read just these rows."""
    names = expected.column_names
    assert content(spark.table(table).toArrow(), names) == content(expected)
    assert content(lake.table(table).scan().to_arrow(), names) == content(expected)
    if duckdb:
        rows = lake.open_duckdb(table).sql(f"FROM {table}").to_arrow_table()
        assert content(rows, names) == content(expected)


def firn_appends_losing_nothing(lake, rows, table=TABLE):
    before = lake.metadata(table)
    lake.firn_appends(table, rows)
    after = lake.metadata(table)
    assert lost(before, after) == []
    return after


def swap_metadata(lake, metadata):
    """Writes `metadata` as the table's next file, as an engine of a later version would."""
    file = lake.metadata_file(TABLE).with_name("00099-later.metadata.json")
    file.write_text(json.dumps(metadata))
    with sqlite3.connect(lake.database) as database:
        database.execute("UPDATE iceberg_tables SET metadata_location = ?", (f"file://{file}",))
