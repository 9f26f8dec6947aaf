"""pyarrow, DuckDB and PyIceberg read a file of every type: encoded row groups, then a copied one.

FIRN_TEST_TOOL names the executable (build/dev/src/firn/parquet_io/parquet_io_tool by default);
FIRN_TEST_SEED repeats a run.
"""

import datetime
import decimal
import json
import math
import os
import pathlib
import random
import subprocess
import uuid

import duckdb
import pyarrow.parquet as pq
import pytest
from pyiceberg.conversions import from_bytes
from pyiceberg.io.pyarrow import pyarrow_to_schema

ROOT = pathlib.Path(__file__).parents[2]
TOOL = os.environ.get("FIRN_TEST_TOOL", ROOT / "build/dev/src/firn/parquet_io/parquet_io_tool")
SEED = int(os.environ.get("FIRN_TEST_SEED", "7"))
ROWS = 4000
EPOCH = datetime.datetime(1970, 1, 1)
UTC = datetime.timezone.utc
ICEBERG_TYPES = {
    1: "boolean", 2: "int", 3: "long", 4: "float", 5: "double", 6: "date", 7: "time", 8: "timestamp",
    9: "timestamptz", 10: "timestamp_ns", 11: "timestamptz_ns", 12: "string", 13: "uuid", 14: "fixed[4]",
    15: "binary", 16: "decimal(9, 2)", 17: "decimal(18, 4)", 18: "decimal(38, 10)", 20: "double", 21: "string",
    23: "string", 25: "string", 26: "long",
}


def text(rng, longest):
    return "".join(rng.choice("aZ~\u00e9\u4e2d\U0001f354") for _ in range(rng.randrange(longest)))


def random_row(rng, number):
    """A row in Arrow's JSON form: lists in the order of the columns."""
    micros = rng.randrange(-(10**15), 2 * 10**15)
    row = [
        rng.random() < 0.5,
        rng.randrange(-(2**31), 2**31),
        number,
        rng.choice([rng.randrange(-1000, 1000) / 8, float("nan"), 0.0, -0.0]),
        rng.choice([rng.uniform(-1e9, 1e9), float("nan")]),
        rng.randrange(-20000, 20000),
        rng.randrange(86_400_000_000),
        micros,
        micros,
        micros * 1000,
        micros * 1000 + 1000,
        text(rng, 40),
        "".join(rng.choice("0123456789abcdef") for _ in range(16)),
        "".join(rng.choice("0123456789abcdef") for _ in range(4)),
        text(rng, 30),
        f"{rng.randrange(-10**9 + 1, 10**9) / 100:.2f}",
        f"{rng.randrange(-10**14, 10**14)}.{rng.randrange(10**4):04d}",
        f"{rng.randrange(-10**20, 10**20)}.{rng.randrange(10**10):010d}",
        [rng.choice([None, rng.random()]), rng.choice([None, text(rng, 10)])],
        [rng.choice([None, text(rng, 6)]) for _ in range(rng.randrange(4))],
        [[f"key{i}", rng.choice([None, rng.randrange(100)])] for i in range(rng.randrange(3))],
    ]
    return [value if column == 2 or rng.random() > 0.1 else None for column, value in enumerate(row)]


def moment(micros, tz=None):
    return (EPOCH + datetime.timedelta(microseconds=micros)).replace(tzinfo=tz)


def expected(row):
    """A row as pyarrow's to_pylist gives it, float32 and nanoseconds aside."""
    convert = {
        5: lambda days: EPOCH.date() + datetime.timedelta(days=days),
        6: lambda micros: moment(micros).time(),
        7: moment,
        8: lambda micros: moment(micros, UTC),
        9: lambda nanos: moment(nanos // 1000),
        10: lambda nanos: moment(nanos // 1000, UTC),
        12: lambda raw: uuid.UUID(bytes=raw.encode()),
        13: str.encode,
        14: str.encode,
        15: decimal.Decimal,
        16: decimal.Decimal,
        17: decimal.Decimal,
        18: lambda fields: {"x": fields[0], "name": fields[1]},
        20: lambda pairs: [tuple(pair) for pair in pairs],
    }
    return [
        None if value is None else convert.get(column, lambda same: same)(value) for column, value in enumerate(row)
    ]


class Sample:
    def __init__(self, folder):
        rng = random.Random(SEED)
        self.rows = [random_row(rng, number) for number in range(ROWS)]
        self.path = folder / "sample.parquet"
        done = subprocess.run(
            [TOOL, self.path, "60000"], input=json.dumps(self.rows), capture_output=True, text=True, check=True
        )
        self.metrics = {int(line.split()[0]): line.split()[1:] for line in done.stdout.splitlines()}
        self.file = pq.ParquetFile(self.path)

    def values(self, column):
        """All values of a column, both copies of the rows."""
        return 2 * [expected(row)[column] for row in self.rows]


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    print(f"FIRN_TEST_SEED={SEED}")
    return Sample(tmp_path_factory.mktemp("sample"))


def same(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return math.isnan(a) and math.isnan(b) or a == b
    return a == b


def test_has_several_encoded_row_groups_and_a_copied_one(sample):
    assert sample.file.metadata.num_row_groups > 3
    assert sample.file.metadata.row_group(sample.file.metadata.num_row_groups - 1).num_rows == ROWS
    assert sample.file.metadata.metadata[b"firn.sample"] == b"yes"
    assert sample.file.metadata.created_by.startswith("firn version ")


def test_pyarrow_reads_every_value(sample):
    table = sample.file.read()
    for column, name in enumerate(table.column_names):
        values = table.column(column).to_pylist()
        if name in ("ts_ns", "tstz_ns"):
            values = [value if value is None else value.to_pydatetime() for value in values]
        wrong = [pair for pair in zip(values, sample.values(column)) if not same(*pair)]
        assert not wrong, (name, wrong[:3])


def test_duckdb_reads_every_value(sample):
    names = ["flag", "i", "l", "d", "day", "clock", "ts", "s", "u", "fx", "b", "dec9", "dec18", "dec38", "st", "tags"]
    all_names = sample.file.schema_arrow.names
    rows = duckdb.sql(f"SELECT {', '.join(names)} FROM '{sample.path}'").fetchall()
    for position, name in enumerate(names):
        wanted = sample.values(all_names.index(name))
        wrong = [pair for pair in zip((row[position] for row in rows), wanted) if not same(*pair)]
        assert not wrong, (name, wrong[:3])


def test_duckdb_finds_rows_by_statistics_and_pages(sample):
    for number in (0, 1, ROWS // 2, ROWS - 1):
        assert duckdb.sql(f"SELECT count(*) FROM '{sample.path}' WHERE l = {number}").fetchone() == (2,)
    assert duckdb.sql(f"SELECT count(*) FROM '{sample.path}' WHERE l > {ROWS}").fetchone() == (0,)


def excluded(sample, column, value):
    """For each row group whether DuckDB takes the column's Bloom filter to exclude the value."""
    rows = duckdb.execute("SELECT bloom_filter_excludes FROM parquet_bloom_probe(?, ?, ?)",
                          [str(sample.path), column, value]).fetchall()
    assert len(rows) == sample.file.metadata.num_row_groups
    return [row[0] for row in rows]


def test_duckdb_sees_the_bloom_filters_of_two_columns(sample):
    found = duckdb.sql(f"""SELECT DISTINCT path_in_schema FROM parquet_metadata('{sample.path}')
                           WHERE bloom_filter_offset > 0 AND bloom_filter_length > 0""").fetchall()
    assert sorted(found) == [("l",), ("s",)]


def test_bloom_filters_exclude_what_is_not_there_and_nothing_else(sample):
    groups = [sample.file.read_row_group(group, ["l", "s"]) for group in range(sample.file.metadata.num_row_groups)]
    for column, strangers in (("l", range(10**6, 10**6 + 40)), ("s", [f"stranger {i}" for i in range(40)])):
        for group, rows in enumerate(groups):
            for value in [value for value in rows[column].to_pylist() if value is not None][:: ROWS // 20]:
                assert not excluded(sample, column, value)[group]
        hits = [not verdict for stranger in strangers for verdict in excluded(sample, column, stranger)]
        assert sum(hits) < len(hits) / 10


def test_pyiceberg_finds_field_ids_and_types(sample):
    schema = pyarrow_to_schema(sample.file.schema_arrow, format_version=3)
    assert {field: str(schema.find_type(field)) for field in ICEBERG_TYPES} == ICEBERG_TYPES
    assert schema.find_field(19).name == "st"
    assert schema.find_field(22).name == "tags"
    assert schema.find_field(24).name == "attrs"


def test_hidden_column_is_gone(sample):
    assert "_offset" not in sample.file.schema_arrow.names


def test_every_chunk_has_statistics_and_page_index(sample):
    for group in range(sample.file.metadata.num_row_groups):
        row_group = sample.file.metadata.row_group(group)
        assert row_group.sorting_columns == (pq.SortingColumn(2, False, False),)
        for column in range(row_group.num_columns):
            chunk = row_group.column(column)
            assert chunk.has_offset_index and chunk.has_column_index, chunk.path_in_schema
            assert chunk.statistics.has_null_count
            assert chunk.compression == "ZSTD"
        numbers = row_group.column(2).statistics
        assert numbers.max - numbers.min + 1 == row_group.num_rows


def bound(value):
    """A value as PyIceberg decodes a bound of it."""
    if isinstance(value, datetime.datetime):
        utc = value.replace(tzinfo=UTC)
        return int((utc - EPOCH.replace(tzinfo=UTC)) / datetime.timedelta(microseconds=1))
    if isinstance(value, datetime.date):
        return (value - EPOCH.date()).days
    if isinstance(value, datetime.time):
        return bound(datetime.datetime.combine(EPOCH.date(), value))
    return value.bytes if isinstance(value, uuid.UUID) else value


@pytest.mark.parametrize("field", range(1, 19))
def test_metrics_are_true(sample, field):
    values = sample.values(field - 1)
    value_count, null_count, nan_count, lower, upper = sample.metrics[field]
    assert int(value_count) == len(values)
    assert int(null_count) == values.count(None)
    is_nan = [isinstance(value, float) and math.isnan(value) for value in values]
    assert nan_count == (str(sum(is_nan)) if field in (4, 5) else "-")
    bounded = [bound(value) for value, nan in zip(values, is_nan) if value is not None and not nan]
    field_type = pyarrow_to_schema(sample.file.schema_arrow, format_version=3).find_type(field)
    low, high = (from_bytes(field_type, bytes.fromhex(edge[1:])) for edge in (lower, upper))
    if field in (10, 11):
        low, high = low // 1000, high // 1000
    if field in (12, 15):
        assert len(low) <= 16 and len(high) <= 16
        assert low <= min(bounded) and max(bounded) <= high
        assert min(bounded).startswith(low)
    else:
        assert (low, high) == (min(bounded), max(bounded))
