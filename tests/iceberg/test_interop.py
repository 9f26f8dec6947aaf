"""PyIceberg, DuckDB and fastavro look at what the Iceberg layer writes, and it reads and extends what they wrote.

FIRN_TEST_TOOL names the executable (build/dev/src/firn/iceberg/iceberg_tool by default).
"""

import datetime
import json
import os
import pathlib
import subprocess
import sys

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.conversions import from_bytes
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import SortField, SortOrder
from pyiceberg.transforms import BucketTransform, DayTransform, IdentityTransform, MonthTransform
from pyiceberg.types import (
    DecimalType,
    DoubleType,
    LongType,
    NestedField,
    StringType,
    TimestamptzType,
    UUIDType,
)

ROOT = pathlib.Path(__file__).parents[2]
sys.path.append(str(ROOT / "tools"))
from duckdb_reader import open_duckdb  # noqa: E402

TOOL = os.environ.get("FIRN_TEST_TOOL", ROOT / "build/dev/src/firn/iceberg/iceberg_tool")
NAME = "firn"
TABLE = "demo.flights"
UTC = datetime.timezone.utc

SCHEMA = {
    "type": "struct",
    "fields": [
        {"id": 1, "name": "time_hour", "required": False, "type": "timestamptz"},
        {"id": 2, "name": "carrier", "required": False, "type": "string"},
        {"id": 3, "name": "distance", "required": False, "type": "double"},
        {"id": 4, "name": "flight", "required": False, "type": "long"},
    ],
}
PYICEBERG_SCHEMA = Schema(
    NestedField(1, "time_hour", TimestamptzType()),
    NestedField(2, "carrier", StringType()),
    NestedField(3, "distance", DoubleType()),
    NestedField(4, "flight", LongType()),
)
ARROW_FIELDS = [
    ("time_hour", pa.timestamp("us", tz="UTC")),
    ("carrier", pa.string()),
    ("distance", pa.float64()),
    ("flight", pa.int64()),
]
ARROW_SCHEMA = pa.schema([
    pa.field(name, type_, metadata={"PARQUET:field_id": str(i + 1)}) for i, (name, type_) in enumerate(ARROW_FIELDS)
])


def at(month, day=1):
    return datetime.datetime(2013, month, day, 5, tzinfo=UTC)


def rows(month, carriers, first_flight=1):
    return [{"time_hour": at(month, 1 + i), "carrier": carrier, "distance": 100.5 * (i + 1), "flight": first_flight + i}
            for i, carrier in enumerate(carriers)]


class Warehouse:
    def __init__(self, folder):
        self.folder = folder
        self.database = folder / "catalog.db"
        self.location = f"file://{folder}/warehouse"
        self.files_written = 0

    def firn(self, command, *arguments, stdin=""):
        done = subprocess.run([TOOL, command, self.database, NAME, *arguments], input=stdin, capture_output=True,
                              text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def pyiceberg(self):
        return SqlCatalog(NAME, uri=f"sqlite:///{self.database}", warehouse=self.location)

    def table(self):
        return self.pyiceberg().load_table(TABLE)

    def firn_creates(self, partition_by="month(time_hour), carrier", sort_by="carrier asc, time_hour desc"):
        return self.firn("create", self.location, TABLE, partition_by, sort_by, stdin=json.dumps(SCHEMA))

    def pyiceberg_creates(self, spec, sort_order=SortOrder(), schema=PYICEBERG_SCHEMA, properties={}):
        catalog = self.pyiceberg()
        catalog.create_namespace("demo")
        return catalog.create_table(TABLE, schema, partition_spec=spec, sort_order=sort_order, properties=properties)

    def write_parquet(self, records, schema=ARROW_SCHEMA):
        self.files_written += 1
        path = self.folder / "warehouse/demo/flights/data" / f"{self.files_written}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(records, schema), path)
        return path

    def describe(self, records, partition):
        path = self.write_parquet(records)
        flights = [record["flight"] for record in records]
        carriers = [record["carrier"] for record in records]
        return {
            "path": f"file://{path}",
            "records": len(records),
            "bytes": path.stat().st_size,
            "partition": partition,
            "value_counts": {"2": len(records), "4": len(records)},
            "null_value_counts": {"2": 0, "4": 0},
            "lower_bounds": {"2": min(carriers), "4": str(min(flights))},
            "upper_bounds": {"2": max(carriers), "4": str(max(flights))},
        }

    def firn_appends(self, *files):
        return self.firn("append", TABLE, stdin=json.dumps(files))

    def firn_files(self):
        return json.loads(self.firn("files", TABLE))

    def duckdb_rows(self, columns):
        location = self.table().metadata_location
        return open_duckdb().execute(
            f"SELECT {columns} FROM iceberg_scan('{location}') ORDER BY ALL").fetchall()


@pytest.fixture
def warehouse(tmp_path):
    (tmp_path / "warehouse").mkdir()
    return Warehouse(tmp_path)


def month_text(month):
    return str(12 * (2013 - 1970) + month - 1)


def append_two_months(warehouse):
    warehouse.firn_appends(
        warehouse.describe(rows(1, ["UA", "UA"]), {"time_hour_month": month_text(1), "carrier": "UA"}),
        warehouse.describe(rows(2, ["AA"], 3), {"time_hour_month": month_text(2), "carrier": "AA"}))


def test_pyiceberg_opens_a_table_made_here(warehouse):
    location = warehouse.firn_creates()
    table = warehouse.table()
    assert table.metadata_location == location
    assert table.location() == f"{warehouse.location}/demo/flights"
    assert [f.name for f in table.schema().fields] == ["time_hour", "carrier", "distance", "flight"]
    assert [f.transform for f in table.spec().fields] == [MonthTransform(), IdentityTransform()]
    assert len(table.sort_order().fields) == 2
    assert table.current_snapshot() is None
    assert warehouse.pyiceberg().list_tables("demo") == [("demo", "flights")]


def test_all_rows_are_read_by_pyiceberg_and_duckdb(warehouse):
    warehouse.firn_creates()
    append_two_months(warehouse)
    warehouse.firn_appends(warehouse.describe(rows(3, ["B6"], 4), {"time_hour_month": month_text(3), "carrier": "B6"}))
    assert sorted(warehouse.table().scan().to_arrow()["flight"].to_pylist()) == [1, 2, 3, 4]
    assert warehouse.duckdb_rows("flight") == [(1,), (2,), (3,), (4,)]
    assert warehouse.table().scan("carrier = 'UA'").to_arrow().num_rows == 2


def test_metrics_and_summaries_are_right(warehouse):
    warehouse.firn_creates()
    append_two_months(warehouse)
    table = warehouse.table()
    files = {f["partition"]["carrier"]: f for f in table.inspect.files().to_pylist()}
    assert files["UA"]["record_count"] == 2
    assert files["UA"]["partition"]["time_hour_month"] == int(month_text(1))
    assert files["UA"]["readable_metrics"]["flight"]["lower_bound"] == 1
    assert files["UA"]["readable_metrics"]["flight"]["upper_bound"] == 2
    assert files["UA"]["readable_metrics"]["carrier"]["upper_bound"] == "UA"
    assert files["UA"]["sort_order_id"] == table.metadata.default_sort_order_id == 1

    manifest = table.current_snapshot().manifests(table.io)[0]
    assert pathlib.Path(manifest.manifest_path.removeprefix("file://")).stat().st_size == manifest.manifest_length
    assert (manifest.added_files_count, manifest.added_rows_count) == (2, 3)
    assert (manifest.sequence_number, manifest.min_sequence_number) == (1, 1)
    month, carrier = manifest.partitions
    assert (from_bytes(LongType(), month.lower_bound + b"\0" * 4), month.contains_null) == (int(month_text(1)), False)
    assert (carrier.lower_bound, carrier.upper_bound) == (b"AA", b"UA")

    summary = table.current_snapshot().summary
    assert summary.operation.value == "append"
    assert summary["added-records"] == summary["total-records"] == "3"
    assert summary["changed-partition-count"] == "2"
    assert summary["firn.test"] == "1"


def test_pruning_by_partition_skips_the_manifest(warehouse):
    warehouse.firn_creates()
    append_two_months(warehouse)
    tasks = list(warehouse.table().scan("time_hour < '2013-01-15T00:00:00+00:00'").plan_files())
    assert [task.file.record_count for task in tasks] == [2]


def test_null_partition_is_found(warehouse):
    warehouse.firn_creates()
    warehouse.firn_appends(warehouse.describe(rows(1, ["UA"]), {"time_hour_month": None, "carrier": None}))
    table = warehouse.table()
    assert table.inspect.files()["partition"].to_pylist() == [{"time_hour_month": None, "carrier": None}]
    assert table.current_snapshot().manifests(table.io)[0].partitions[0].contains_null


def test_empty_append_adds_a_snapshot(warehouse):
    warehouse.firn_creates()
    append_two_months(warehouse)
    warehouse.firn_appends()
    table = warehouse.table()
    assert len(table.snapshots()) == 2
    assert table.scan().to_arrow().num_rows == 3
    assert len(warehouse.duckdb_rows("flight")) == 3


def test_a_table_of_pyiceberg_is_extended_here(warehouse):
    # Identity only: PyIceberg needs a package of its own to write other transforms.
    spec = PartitionSpec(
        PartitionField(2, 1000, IdentityTransform(), "carrier"),
        PartitionField(4, 1001, IdentityTransform(), "flight no."))
    table = warehouse.pyiceberg_creates(spec, SortOrder(SortField(2)), properties={"owner": "someone"})
    table.append(pa.Table.from_pylist(rows(1, ["UA", "AA", None]), ARROW_SCHEMA))
    assert sum(f["records"] for f in warehouse.firn_files()) == 3
    assert {(f["partition"]["carrier"], f["partition"]["flight no."]) for f in warehouse.firn_files()} == {
        ("UA", "1"), ("AA", "2"), ("null", "3")}

    warehouse.firn_appends(warehouse.describe(rows(2, ["UA"], 10), {"carrier": "UA", "flight no.": "10"}))
    table = warehouse.table()
    assert sorted(table.scan().to_arrow()["flight"].to_pylist()) == [1, 2, 3, 10]
    assert [flight for flight, in warehouse.duckdb_rows("flight")] == [1, 2, 3, 10]
    assert table.properties["owner"] == "someone"
    assert table.current_snapshot().summary["total-records"] == "4"
    assert len(table.metadata.metadata_log) == 2

    table.append(pa.Table.from_pylist(rows(3, ["DL"], 20), ARROW_SCHEMA))
    assert len(warehouse.firn_files()) == 5
    assert [flight for flight, in warehouse.duckdb_rows("flight")] == [1, 2, 3, 10, 20]


def test_transforms_of_a_table_of_pyiceberg_are_understood(warehouse):
    spec = PartitionSpec(
        PartitionField(1, 1000, DayTransform(), "day"),
        PartitionField(4, 1001, BucketTransform(4), "flight_bucket"))
    warehouse.pyiceberg_creates(spec)
    warehouse.firn_appends(warehouse.describe(rows(2, ["UA"], 10), {"day": "2013-02-01", "flight_bucket": "2"}))
    files = warehouse.table().inspect.files()["partition"].to_pylist()
    assert files == [{"day": datetime.date(2013, 2, 1), "flight_bucket": 2}]
    assert warehouse.duckdb_rows("flight") == [(10,)]


def test_a_table_made_here_is_extended_by_pyiceberg_and_again_here(warehouse):
    warehouse.firn_creates(partition_by="carrier")
    warehouse.firn_appends(warehouse.describe(rows(1, ["UA"], 1), {"carrier": "UA"}))
    warehouse.table().append(pa.Table.from_pylist(rows(2, ["AA"], 2), ARROW_SCHEMA))
    warehouse.firn_appends(warehouse.describe(rows(3, ["B6"], 3), {"carrier": "B6"}))
    assert sorted(f["sequence_number"] for f in warehouse.firn_files()) == [1, 2, 3]
    assert [flight for flight, in warehouse.duckdb_rows("flight")] == [1, 2, 3]
    table = warehouse.table()
    assert sorted(table.scan().to_arrow()["flight"].to_pylist()) == [1, 2, 3]
    names = [entry.metadata_file.rsplit("/", 1)[1][:5] for entry in table.metadata.metadata_log]
    assert names == ["00000", "00001", "00002"]
    assert table.metadata_location.rsplit("/", 1)[1].startswith("00003-")


def test_deletes_of_pyiceberg_stay_deleted(warehouse):
    warehouse.firn_creates()
    append_two_months(warehouse)
    warehouse.table().delete("carrier = 'UA'")
    warehouse.firn_appends(warehouse.describe(rows(3, ["B6"], 9), {"time_hour_month": month_text(3), "carrier": "B6"}))
    table = warehouse.table()
    assert sorted(table.scan().to_arrow()["flight"].to_pylist()) == [3, 9]
    assert table.current_snapshot().summary["total-records"] == "2"


def test_partition_types_of_every_storage_form(warehouse):
    schema = Schema(NestedField(1, "uuid", UUIDType()), NestedField(2, "price", DecimalType(9, 2)),
                    NestedField(3, "other", UUIDType()), NestedField(4, "flight", LongType()))
    spec = PartitionSpec(*[PartitionField(i, 999 + i, IdentityTransform(), f"p{i}") for i in (1, 2, 3)])
    warehouse.pyiceberg_creates(spec, schema=schema)
    uuid = "f79c3e09-677c-4bbd-a479-3f349cb785e7"
    arrow_schema = pa.schema([pa.field("flight", pa.int64(), metadata={"PARQUET:field_id": "4"})])
    path = warehouse.write_parquet([{"flight": 1}], arrow_schema)
    warehouse.firn_appends({
        "path": f"file://{path}", "records": 1, "bytes": path.stat().st_size,
        "partition": {"p1": uuid, "p2": "-12.34", "p3": uuid}, "value_counts": {}, "null_value_counts": {},
        "lower_bounds": {}, "upper_bounds": {}})
    assert warehouse.firn_files()[0]["partition"] == {"p1": uuid, "p2": "-12.34", "p3": uuid}
    table = warehouse.table()
    manifest = table.current_snapshot().manifests(table.io)[0]
    partition = manifest.fetch_manifest_entry(table.io)[0].data_file.partition
    assert str(partition[1]) == "-12.34"
    assert str(partition[0]) == uuid or bytes(partition[0]).hex() == uuid.replace("-", "")
    assert from_bytes(DecimalType(9, 2), manifest.partitions[1].lower_bound) == partition[1]


def test_avro_files_carry_the_ids_and_headers_of_the_specification(warehouse):
    warehouse.firn_creates()
    append_two_months(warehouse)
    snapshot = warehouse.table().current_snapshot()
    with open(snapshot.manifest_list.removeprefix("file://"), "rb") as file:
        reader = fastavro.reader(file)
        manifests = list(reader)
        assert reader.metadata["format-version"] == "2"
        assert reader.metadata["snapshot-id"] == str(snapshot.snapshot_id)
        assert reader.metadata["parent-snapshot-id"] == "null"
        ids = {f["name"]: f["field-id"] for f in reader.writer_schema["fields"]}
        assert (ids["manifest_path"], ids["added_files_count"], ids["partitions"]) == (500, 504, 507)
    with open(manifests[0]["manifest_path"].removeprefix("file://"), "rb") as file:
        reader = fastavro.reader(file)
        entries = list(reader)
        assert reader.metadata["content"] == "data"
        assert json.loads(reader.metadata["schema"])["fields"][1]["name"] == "carrier"
        assert json.loads(reader.metadata["partition-spec"])[0]["transform"] == "month"
        assert reader.metadata["partition-spec-id"] == "0"
    assert [entry["status"] for entry in entries] == [1, 1]
    assert entries[0]["sequence_number"] is None
    assert entries[0]["data_file"]["partition"] == {"time_hour_month": int(month_text(1)), "carrier": "UA"}
