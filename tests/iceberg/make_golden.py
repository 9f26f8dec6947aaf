#!/usr/bin/env python3
"""Writes src/firn/iceberg/testdata/foreign: metadata, manifest lists and manifests of tables by PyIceberg and by Java.

Each table is a folder: its metadata file, main's manifest list, the manifests of that list, and expected.json, which says
what fastavro and PyIceberg read in them. Names and field ids are the Iceberg spec's; bytes, bounds and partition values
(as single values in binary) are in hexadecimal; what is absent is null, or empty if it is a list or a map.

The tables lie in /tmp/golden, since metadata holds absolute locations: it must not be there, and is deleted in the end.
Java is Spark with Iceberg's runtime: `make setup-servers` installs it.

Usage: make_golden.py
"""

import datetime
import json
import pathlib
import shutil
import sys

import fastavro
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.conversions import to_bytes
from pyiceberg.expressions import EqualTo
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.metadata import TableMetadataUtil
from pyiceberg.table.sorting import SortField, SortOrder
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import (
    BinaryType,
    DateType,
    DecimalType,
    DoubleType,
    ListType,
    LongType,
    NestedField,
    StringType,
    TimestamptzType,
)

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/interop"))
from lake import local_path  # noqa: E402
from spark_session import start_spark  # noqa: E402

GOLDEN = ROOT / "src/firn/iceberg/testdata/foreign"
LAKE = pathlib.Path("/tmp/golden")
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)

MANIFEST_FILE = {
    500: "manifest_path", 501: "manifest_length", 502: "partition_spec_id", 517: "content", 515: "sequence_number",
    516: "min_sequence_number", 503: "added_snapshot_id", 504: "added_files_count", 505: "existing_files_count",
    506: "deleted_files_count", 512: "added_rows_count", 513: "existing_rows_count", 514: "deleted_rows_count",
    507: "partitions", 519: "key_metadata", 520: "first_row_id",
}
FIELD_SUMMARY = {509: "contains_null", 518: "contains_nan", 510: "lower_bound", 511: "upper_bound"}
MANIFEST_ENTRY = {0: "status", 1: "snapshot_id", 3: "sequence_number", 4: "file_sequence_number", 2: "data_file"}
DATA_FILE = {
    134: "content", 100: "file_path", 101: "file_format", 102: "partition", 103: "record_count",
    104: "file_size_in_bytes", 108: "column_sizes", 109: "value_counts", 110: "null_value_counts",
    137: "nan_value_counts", 125: "lower_bounds", 128: "upper_bounds", 131: "key_metadata", 132: "split_offsets",
    135: "equality_ids", 140: "sort_order_id", 142: "first_row_id", 143: "referenced_data_file",
}
# What an absent field means, where that is not null.
DEFAULTS = {
    "content": 0, "column_sizes": {}, "value_counts": {}, "null_value_counts": {}, "nan_value_counts": {},
    "lower_bounds": {}, "upper_bounds": {}, "split_offsets": [], "equality_ids": [],
}


def plain(value):
    """As JSON has it: bytes in hexadecimal, the spec's arrays of pairs as objects."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list) and value and isinstance(value[0], dict) and value[0].keys() == {"key", "value"}:
        return {str(pair["key"]): plain(pair["value"]) for pair in value}
    if isinstance(value, list):
        return [plain(each) for each in value]
    return value


def record_schema(schema):
    """The record of an optional field."""
    if isinstance(schema, list):
        return next(part for part in schema if isinstance(part, dict))
    return schema


def spec_record(schema, record, names, nested={}):
    """A record with the spec's names instead of the writer's, found by field id; `nested` makes what is not plain."""
    found = {}
    for field in record_schema(schema)["fields"]:
        name = names.get(field["field-id"])
        if name is None:
            continue
        value = record[field["name"]]
        if value is not None and name in nested:
            found[name] = nested[name](field["type"], value)
        else:
            found[name] = plain(value)
    for name in names.values():
        found[name] = found.get(name)
        if name in DEFAULTS:
            found[name] = found[name] or DEFAULTS[name]
    return found


def summaries(schema, values):
    return [spec_record(record_schema(schema)["items"], value, FIELD_SUMMARY) for value in values]


def avro_records(file):
    with file.open("rb") as stream:
        reader = fastavro.reader(stream)
        return reader.writer_schema, list(reader)


def internal(value):
    """As the spec counts: days and microseconds since 1970."""
    if isinstance(value, datetime.datetime):
        return (value - EPOCH) // datetime.timedelta(microseconds=1)
    if isinstance(value, datetime.date):
        return (value - EPOCH.date()).days
    return value


def partition_of(metadata, spec_id):
    """Makes {field: single value in hexadecimal} of a partition tuple."""
    spec = next(spec for spec in metadata.partition_specs if spec.spec_id == spec_id)
    types = {field.field_id: field for field in spec.partition_type(metadata.schema()).fields}

    def make(schema, record):
        values = {}
        for field in record_schema(schema)["fields"]:
            typed = types[field["field-id"]]
            value = internal(record[field["name"]])
            values[typed.name] = None if value is None else to_bytes(typed.field_type, value).hex()
        return values
    return make


def expected_of(metadata, list_file):
    schema, records = avro_records(list_file)
    manifests = [spec_record(schema, record, MANIFEST_FILE, {"partitions": summaries}) for record in records]
    entries = {}
    for manifest in manifests:
        # Format version 1 has no sequence numbers: they are 0.
        for name in ("sequence_number", "min_sequence_number"):
            manifest[name] = manifest[name] or 0
        file = local_path(manifest["manifest_path"])
        nested = {"partition": partition_of(metadata, manifest["partition_spec_id"])}
        schema, records = avro_records(file)
        entries[file.name] = [
            spec_record(schema, record, MANIFEST_ENTRY,
                        {"data_file": lambda s, r: spec_record(s, r, DATA_FILE, nested)}) for record in records]
    return {"manifests": manifests, "entries": entries}


def keep(name, metadata_location):
    """Copies what main's snapshot is made of, and writes down what is in it."""
    folder = GOLDEN / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    file = local_path(metadata_location)
    metadata = TableMetadataUtil.parse_raw(file.read_text())
    list_file = pathlib.Path(metadata.current_snapshot().manifest_list.removeprefix("file:"))
    expected = expected_of(metadata, list_file)
    shutil.copy(file, folder / "table.metadata.json")
    shutil.copy(list_file, folder / "manifest_list.avro")
    for manifest in expected["entries"]:
        shutil.copy(list_file.parent / manifest, folder / manifest)
    (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


def rows(first):
    count = 4
    ids = list(range(first, first + count))
    return {
        "id": pa.array(ids, pa.int64()),
        "name": pa.array(["\U0001f600 smile", "", None, "aaaaaaaaaaaaaaaaaaaaaaaa"]),
        "ts": pa.array([datetime.datetime(1969, 12, 31, 23, 59, 59, 999999, EPOCH.tzinfo), EPOCH, None,
                        datetime.datetime(2038, 1, 19, 3, 14, 8, tzinfo=EPOCH.tzinfo)], pa.timestamp("us", tz="UTC")),
        "day": pa.array([datetime.date(1969, 12, 31), None, datetime.date(2024, 2, 29), datetime.date(9999, 12, 31)]),
        "price": pa.array([-0.01, 0, None, 12345.67]).cast(pa.decimal128(9, 2)),
        "ratio": pa.array([float("nan"), float("-inf"), None, -0.0]),
        "raw": pa.array([b"\x00\xff", b"", None, b"\xff" * 20]),
        "tags": pa.array([["a", "b"], [], None, [None]], pa.list_(pa.string())),
    }


def by_pyiceberg(version):
    folder = LAKE / f"pyiceberg_v{version}"
    folder.mkdir(parents=True)
    catalog = SqlCatalog("golden", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")
    catalog.create_namespace("db")
    schema = Schema(
        NestedField(1, "id", LongType(), required=False), NestedField(2, "name", StringType()),
        NestedField(3, "ts", TimestamptzType()), NestedField(4, "day", DateType()),
        NestedField(5, "price", DecimalType(9, 2)), NestedField(6, "ratio", DoubleType()),
        NestedField(7, "raw", BinaryType()), NestedField(8, "tags", ListType(9, StringType(), element_required=False)),
    )
    spec = PartitionSpec(
        PartitionField(4, 1000, IdentityTransform(), "day"), PartitionField(2, 1001, IdentityTransform(), "name"),
        PartitionField(3, 1002, IdentityTransform(), "ts"), PartitionField(5, 1003, IdentityTransform(), "price"))
    table = catalog.create_table("db.t", schema, partition_spec=spec, sort_order=SortOrder(
        SortField(1, transform=IdentityTransform())), properties={
            "format-version": str(version), "write.metadata.metrics.column.raw": "counts"})
    table.append(pa.table(rows(0)))
    table.append(pa.table(rows(100)))
    table.delete(EqualTo("id", 1))
    table.delete(EqualTo("day", "2024-02-29"))
    keep(f"pyiceberg_v{version}", table.refresh().metadata_location)


def open_spark():
    spark = start_spark("golden", LAKE / "spark")
    for key, value in {"": "org.apache.iceberg.spark.SparkCatalog", ".type": "hadoop",
                       ".warehouse": f"file:{LAKE}/java"}.items():
        spark.conf.set(f"spark.sql.catalog.golden{key}", value)
    return spark


SPARK_ROWS = """VALUES
  (CAST({0} AS BIGINT), '\U0001f600 smile', TIMESTAMP '1969-12-31 23:59:59.999999', DATE '1969-12-31',
   CAST(-0.01 AS DECIMAL(9,2)), DOUBLE('NaN'), X'00FF', ARRAY('a', 'b'), named_struct('x', 1.5F)),
  ({0} + 1, '', TIMESTAMP '1970-01-01 00:00:00', NULL, 0, DOUBLE('-Infinity'), X'', ARRAY(), NULL),
  ({0} + 2, NULL, NULL, DATE '2024-02-29', NULL, NULL, NULL, NULL, named_struct('x', NULL)),
  ({0} + 3, 'aaaaaaaaaaaaaaaaaaaaaaaa', TIMESTAMP '2038-01-19 03:14:08', DATE '9999-12-31', 12345.67, -0.0D,
   X'FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF', ARRAY(NULL), named_struct('x', FLOAT('Infinity')))"""


def by_java(spark, version):
    table = f"golden.db.v{version}"
    spark.sql(f"""CREATE TABLE {table} (id BIGINT NOT NULL, name STRING, ts TIMESTAMP, day DATE, price DECIMAL(9,2),
        ratio DOUBLE, raw BINARY, tags ARRAY<STRING>, point STRUCT<x: FLOAT>) USING iceberg
        PARTITIONED BY (bucket(2, id), day, truncate(3, name), days(ts), price)
        TBLPROPERTIES ('format-version'='{version}', 'write.delete.mode'='merge-on-read',
                       'write.metadata.metrics.column.raw'='counts')""")
    spark.sql(f"ALTER TABLE {table} WRITE ORDERED BY id")
    for first in (0, 100):
        spark.sql(f"INSERT INTO {table} {SPARK_ROWS.format(first)}")
    spark.sql(f"DELETE FROM {table} WHERE day = DATE '2024-02-29'")
    if version > 1:
        # Of two rows of a file, so that the file stays.
        spark.sql(f"INSERT INTO {table} SELECT id * 2, name, ts, day, price, ratio, raw, tags, point FROM {table} "
                  "WHERE id IN (100, 101)")
        spark.sql(f"INSERT INTO {table} SELECT * FROM (SELECT explode(ARRAY(1000L, 1000L, 1000L)) AS id, 'one' AS name, "
                  "CAST(NULL AS TIMESTAMP) AS ts, CAST(NULL AS DATE) AS day, CAST(NULL AS DECIMAL(9,2)) AS price, "
                  "rand() AS ratio, CAST(NULL AS BINARY) AS raw, CAST(NULL AS ARRAY<STRING>) AS tags, "
                  "CAST(NULL AS STRUCT<x: FLOAT>) AS point)")
        spark.sql(f"DELETE FROM {table} WHERE id = 1000 AND ratio = (SELECT min(ratio) FROM {table} WHERE id = 1000)")
    metadata = LAKE / f"java/db/v{version}/metadata"
    newest = max(metadata.glob("v*.metadata.json"), key=lambda file: int(file.name[1:].split(".")[0]))
    keep(f"java_v{version}", str(newest))


def write_all():
    for version in (1, 2):
        by_pyiceberg(version)
    spark = open_spark()
    for version in (1, 2, 3):
        by_java(spark, version)
    spark.stop()


def main():
    LAKE.mkdir()  # fails if it is there: it may be somebody's
    try:
        write_all()
    finally:
        shutil.rmtree(LAKE)


if __name__ == "__main__":
    main()
