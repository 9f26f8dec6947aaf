"""PyIceberg partitions tables by every transform of every type; Firn's partition values are those that it computes."""

import datetime
import struct
import uuid

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from columns import INFINITY, NAN, plain
from events import SCHEMA, TABLE, UTC, content, events, firn_appends_losing_nothing
from lake import local_path
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import (
    BucketTransform,
    DayTransform,
    HourTransform,
    IdentityTransform,
    MonthTransform,
    TruncateTransform,
    VoidTransform,
    YearTransform,
)
from pyiceberg.types import (
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FixedType,
    FloatType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    TimestampType,
    TimestamptzType,
    TimeType,
    UUIDType,
)


def spec_of(source, transform):
    return PartitionSpec(PartitionField(source, 1000, transform, "part"))


TIMES = [datetime.datetime(1969, 12, 31, 23, 59, 59, 999999), datetime.datetime(1970, 1, 1),
         datetime.datetime(1600, 2, 29, 1), datetime.datetime(9999, 12, 31, 23), None]
SOURCES = {
    "boolean": (BooleanType(), pa.bool_(), [False, True, None]),
    "int": (IntegerType(), pa.int32(), [8 - 2**31, -1, 0, 34, 2**31 - 1, None]),
    "long": (LongType(), pa.int64(), [8 - 2**63, -1, 0, 34, 2**63 - 1, None]),
    "decimal": (DecimalType(9, 2), pa.decimal128(9, 2), ["-0.01", "14.20", "-9999999.99", None]),
    "float": (FloatType(), pa.float32(), [-INFINITY, -0.0, 0.0, 1.5, INFINITY, NAN, None]),
    "double": (DoubleType(), pa.float64(), [-INFINITY, -0.0, 0.0, 2.5, INFINITY, NAN, None]),
    "wide_decimal": (DecimalType(38, 2), pa.decimal128(38, 2), ["-0.01", "9" * 36 + ".99", "-" + "9" * 36 + ".99", None]),
    "time": (TimeType(), pa.time64("us"), [0, 81068000000, 86399999999, None]),
    "fixed": (FixedType(3), pa.binary(3), [b"\0\1\2", b"\xff\xff\xff", None]),
    "date": (DateType(), pa.date32(), [-719162, -1, 0, 17486, 2932896, None]),
    "timestamp": (TimestampType(), pa.timestamp("us"), TIMES),
    "timestamptz": (TimestamptzType(), pa.timestamp("us", "UTC"), [t and t.replace(tzinfo=UTC) for t in TIMES]),
    "string": (StringType(), pa.string(), ["", "iceberg", "é\U0001f600z/ =%", "\U0001f600" * 5, None]),
    "binary": (BinaryType(), pa.binary(), [b"", b"\0\1\2\3", b"\xff" * 5, None]),
    "uuid": (UUIDType(), pa.uuid(), [bytes(16), b"\xf7\x9c\x3e\x09\x67\x7c\x4b\xbd\xa4\x79\x3f\x34\x9c\xb7\x85\xe7",
                                     None]),
}
CALENDAR = [YearTransform(), MonthTransform(), DayTransform()]
TRANSFORMS = {
    "boolean": [IdentityTransform()],
    "float": [IdentityTransform()],
    "double": [IdentityTransform()],
    "wide_decimal": [IdentityTransform(), BucketTransform(7), TruncateTransform(50)],
    "time": [IdentityTransform(), BucketTransform(7)],
    "fixed": [IdentityTransform(), BucketTransform(7)],
    "int": [IdentityTransform(), BucketTransform(7), TruncateTransform(10), VoidTransform()],
    "long": [IdentityTransform(), BucketTransform(7), TruncateTransform(10)],
    "decimal": [IdentityTransform(), BucketTransform(7), TruncateTransform(50)],
    "date": [IdentityTransform(), BucketTransform(7), *CALENDAR],
    "timestamp": [IdentityTransform(), BucketTransform(7), *CALENDAR, HourTransform()],
    "timestamptz": [IdentityTransform(), BucketTransform(7), *CALENDAR, HourTransform()],
    "string": [IdentityTransform(), BucketTransform(7), TruncateTransform(2), VoidTransform()],
    "binary": [IdentityTransform(), BucketTransform(7), TruncateTransform(2)],
    "uuid": [IdentityTransform(), BucketTransform(7)],
}
EVERY_TRANSFORM = [pytest.param(source, transform, id=f"{transform}-{source}".replace("[", "_").replace("]", ""))
                   for source, transforms in TRANSFORMS.items() for transform in transforms]


def source_array(arrow, values):
    if arrow == pa.uuid():
        return pa.ExtensionArray.from_storage(arrow, pa.array(values, pa.binary(16)))
    if pa.types.is_decimal(arrow):
        return pa.array(values, pa.string()).cast(arrow)
    return pa.array(values, arrow)


@pytest.mark.parametrize(("source", "transform"), EVERY_TRANSFORM)
def test_partition_values_are_those_that_pyiceberg_computes(lake, source, transform):
    kind, arrow, values = SOURCES[source]
    lake.pyiceberg_creates(TABLE, Schema(NestedField(1, "v", kind, required=False)), spec_of(1, transform))
    rows = pa.table({"v": source_array(arrow, values)})
    firn_appends_losing_nothing(lake, rows)
    assert content(lake.table(TABLE).scan().to_arrow()) == content(rows)
    for task in lake.table(TABLE).scan().plan_files():
        stored = plain(pq.read_table(local_path(task.file.file_path))["v"])
        compute = transform.transform(kind)
        if source == "uuid":
            stored = [value and uuid.UUID(bytes=value) for value in stored]
        assert {repr(compute(as_number(value, source))) for value in stored} == {repr(task.file.partition[0])}


def test_the_zone_of_the_machine_does_not_matter(lake, monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    lake.pyiceberg_creates(TABLE, SCHEMA, spec_of(4, HourTransform()))
    lake.firn_appends(TABLE, events(0))
    hours = {task.file.partition[0] for task in lake.table(TABLE).scan().plan_files()}
    assert hours == {HourTransform().transform(TimestamptzType())(value) for value in plain(events(0)["ts"])}


def as_number(value, source):
    """`plain` gives floats as text."""
    return float(value) if value is not None and source in ("float", "double") else value


def test_the_summary_of_a_manifest_tells_null_and_nan_from_values(lake):
    lake.pyiceberg_creates(TABLE, Schema(NestedField(1, "v", DoubleType(), required=False)),
                           spec_of(1, IdentityTransform()))
    lake.firn_appends(TABLE, pa.table({"v": [NAN, -1.5, None, 2.5]}))
    table = lake.table(TABLE)
    (manifest,) = table.current_snapshot().manifests(table.io)
    (summary,) = manifest.partitions
    assert summary.contains_null and summary.contains_nan
    assert (summary.lower_bound, summary.upper_bound) == (struct.pack("<d", -1.5), struct.pack("<d", 2.5))
    for condition, count in (("v IS NULL", 1), ("v = 2.5", 1), ("v < 0", 1), ("v IS NAN", 1)):
        assert table.scan(row_filter=condition).count() == count
