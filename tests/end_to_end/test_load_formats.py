"""What lands is what Python reads from the same file, whatever its format, dialect and types."""

import csv
import datetime
import decimal
import gzip
import json
import subprocess
import uuid

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import PROGRAM

UTC = datetime.timezone.utc


@pytest.fixture
def write(firn):
    def write(name, content):
        path = firn.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def schema(write):
    """Writes an Iceberg schema as JSON; its columns are given as (name, type)."""

    def schema(*columns, required=()):
        fields = [{"id": 100 + i, "name": name, "type": type, "required": name in required}
                  for i, (name, type) in enumerate(columns)]
        return write("schema.json", json.dumps({"type": "struct", "fields": fields}))

    return schema


def list_of(element, id):
    return {"type": "list", "element-id": id, "element": element, "element-required": False}


def map_of(key, value, id):
    return {"type": "map", "key-id": id, "key": key, "value-id": id + 1, "value": value, "value-required": False}


def struct_of(id, **fields):
    return {"type": "struct", "fields": [{"id": id + i, "name": name, "type": type, "required": False}
                                         for i, (name, type) in enumerate(fields.items())]}


def by(rows, key):
    return sorted(rows, key=lambda row: row[key])


def letters(firn, table="db.t"):
    return by(firn.json("dead-letters", "show", table), "position")


# ---- CSV

ODD_VALUES = ["plain", "a,b;c\td|e", 'say "hi"', "two\nlines", "crlf\r\ninside", "üñî ☃ 😀", " blanks ", "'", '"', "\\N", "=1+1"]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_csv_is_what_python_reads(firn, delimiter, header, line_end):
    path = firn.folder / "a.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator=line_end)
        if header:
            writer.writerow(["id", "a value", 'with "quotes"'])
        for i, value in enumerate(ODD_VALUES):
            writer.writerow([i, value, ODD_VALUES[-i - 1]])
    flags = ["--delimiter", "\\t" if delimiter == "\t" else delimiter] + ([] if header else ["--no-header"])
    firn.run("load", "db.t", "a.csv", "--create", *flags)
    with path.open(newline="") as file:
        expected = list(csv.reader(file, delimiter=delimiter))
    names = expected.pop(0) if header else ["column_1", "column_2", "column_3"]
    rows = by(firn.rows("db.t").to_pylist(), names[0])
    assert list(rows[0]) == names
    assert [[str(value) for value in row.values()] for row in rows] == expected


def test_csv_has_many_spellings_of_null(firn, write, duck):
    write("a.csv", 'id,n,text\n1,NA,-\n2,,NULL\n3,\\N,"NA"\n4,7,""\n5,-,x\n')
    nulls = ["NA", "NULL", "\\N", "-"]
    firn.run("load", "db.t", "a.csv", "--create", *[f"--null-value={text}" for text in nulls])
    rows = [tuple(row.values()) for row in by(firn.rows("db.t").to_pylist(), "id")]
    assert rows == [(1, None, None), (2, None, None), (3, None, "NA"), (4, 7, ""), (5, None, "x")]
    scanned = duck.sql(f"SELECT * FROM iceberg_scan('{firn.table('db.t').metadata_location}') ORDER BY id")
    assert scanned.fetchall() == rows


def test_csv_types_are_what_duckdb_finds(firn, write, duck):
    path = write("a.csv", "id,price,ok,day,at,zip,name\n"
                          "1,1.50,true,2024-02-29,2024-02-29T12:00:00,01234,x\n"
                          "2,,false,1969-12-31,1969-12-31T23:59:59.999999,99999,\n"
                          "9223372036854775807,-2e300,,0001-01-01,2024-02-29 00:00:00,,z\n")
    firn.run("load", "db.t", "a.csv", "--create")
    table = firn.table("db.t")
    assert [str(field.field_type) for field in table.schema().fields] == [
        "long", "double", "boolean", "date", "timestamp", "string", "string"]
    types = "{'zip': 'VARCHAR', 'price': 'DOUBLE'}"
    expected = duck.sql(f"SELECT * FROM read_csv('{path}', types={types}) ORDER BY id").fetchall()
    assert duck.sql(f"SELECT * FROM iceberg_scan('{table.metadata_location}') ORDER BY id").fetchall() == expected


# ---- NDJSON

NESTED = [
    {"id": 1, "who": {"name": "Ada", "born": {"year": 1815, "day": "1815-12-10"}}, "tags": ["a", "b"],
     "scores": {"x": 1.5, "y": None}, "rows": [{"n": 1}, {"n": None}], "deep": {"a": [[1], []]}},
    {"id": 2, "who": None, "tags": [], "scores": {}, "rows": None, "deep": {}},
    {"id": 3},
    {"id": 4, "who": {"name": None, "born": None}, "tags": [None, "\u2603 \"quoted\" \n"], "scores": {"": -0.0},
     "rows": [], "deep": {"b": None}},
]
NESTED_COLUMNS = [
    ("id", "long"),
    ("who", struct_of(10, name="string", born=struct_of(20, year="int", day="date"))),
    ("tags", list_of("string", 30)),
    ("scores", map_of("string", "double", 40)),
    ("rows", list_of(struct_of(51, n="int"), 50)),
    ("deep", map_of("string", list_of(list_of("int", 63), 62), 60)),
]


def stored(firn, table):
    """The rows as they stand in the data files: PyIceberg makes an empty list of a null one of structs."""
    files = [path for paths in firn.data_files(table).values() for path in paths]
    return [row for path in files for row in pq.ParquetFile(path).read().to_pylist()]


def normal(value):
    """As JSON has it: maps as objects, times as text."""
    if isinstance(value, list) and value and all(isinstance(pair, tuple) for pair in value):
        return {key: normal(item) for key, item in value}
    if isinstance(value, list):
        return [normal(item) for item in value]
    if isinstance(value, dict):
        return {key: normal(item) for key, item in value.items()}
    return value.isoformat() if hasattr(value, "isoformat") else value


@pytest.mark.parametrize("made_by", ["schema", "table"])
def test_nested_ndjson_is_what_python_reads(firn, write, schema, made_by):
    path = write("a.ndjson", "".join(json.dumps(record) + "\n" for record in NESTED))
    if made_by == "schema":
        firn.run("load", "db.t", "a.ndjson", "--create", "--schema", schema(*NESTED_COLUMNS))
    else:
        firn.run("table", "create", "db.t", "--schema", schema(*NESTED_COLUMNS))
        firn.run("load", "db.t", "a.ndjson")
    expected = [json.loads(line) for line in path.read_text().splitlines()]
    for record, row in zip(expected, by(stored(firn, "db.t"), "id"), strict=True):
        for name, _ in NESTED_COLUMNS:
            value = record.get(name)
            if name == "who" and value is not None and value["born"] is None:
                value = {"name": None, "born": None}
            # An empty map and an empty list look alike here.
            assert normal(row[name]) == (value if value != {} else []), (record["id"], name)


def test_nested_values_are_read_by_duckdb(firn, write, schema, duck):
    write("a.ndjson", "".join(json.dumps(record) + "\n" for record in NESTED))
    firn.run("load", "db.t", "a.ndjson", "--create", "--schema", schema(*NESTED_COLUMNS))
    scan = f"iceberg_scan('{firn.table('db.t').metadata_location}')"
    rows = duck.sql(f"SELECT id, who.born.year, tags[2], scores['x'], rows[1].n, deep['a'][1][1] FROM {scan} ORDER BY id")
    assert rows.fetchall()[0] == (1, 1815, "b", 1.5, 1, 1)


def test_lists_are_read_by_arrow_however_small_the_pages_of_the_table_are(firn, write, schema):
    schema(("id", "long"), ("values", list_of("long", 3)))
    firn.run("table", "create", "db.t", "--schema", "schema.json", "--property", "write.parquet.page-size-bytes=1")
    firn.run("load", "db.t", write("values.ndjson", '{"id": 1, "values": [7]}\n'))
    assert firn.rows("db.t").to_pylist() == [{"id": 1, "values": [7]}]


def test_extra_fields_are_rejected_or_left_out(firn, write):
    write("a.ndjson", '{"id":1}\n')
    firn.run("load", "db.t", "a.ndjson", "--create")
    write("b.ndjson", '{"id":2,"more":5}\n{"id":3,"empty":[]}\n{}\n')
    firn.run("load", "db.t", "b.ndjson")
    assert sorted(firn.rows("db.t")["id"].to_pylist(), key=str) == [1, 3, None]
    [letter] = letters(firn)
    assert (letter["raw"], letter["position"]) == ('{"id":2,"more":5}', 0)
    assert letter["source"].endswith("b.ndjson") and "line 1" in letter["reason"] and "more" in letter["reason"]
    firn.run("load", "db.t", "b.ndjson", "--ignore-unknown")
    assert sorted(firn.rows("db.t")["id"].to_pylist(), key=str) == [1, 2, 3, 3, None, None]


def test_big_numbers_keep_every_digit_or_are_rejected(firn, write, schema):
    numbers = ["0", "-9223372036854775808", "9223372036854775807", "12345678901234567890123456789012345678"]
    path = write("a.ndjson", "".join(f'{{"l":{n},"d":{n},"f":{n},"s":{n}}}\n' for n in numbers))
    firn.run("load", "db.t", "a.ndjson", "--create", "--schema",
             schema(("l", "long"), ("d", "decimal(38, 0)"), ("f", "double"), ("s", "string")))
    lines = path.read_text().splitlines()
    exact = [json.loads(line, parse_int=decimal.Decimal, parse_float=decimal.Decimal) for line in lines[:3]]
    rows = by(firn.rows("db.t").to_pylist(), "l")
    assert [row["l"] for row in rows] == sorted(int(record["l"]) for record in exact)
    assert sorted(row["d"] for row in rows) == sorted(record["d"] for record in exact)
    assert sorted(row["f"] for row in rows) == sorted(float(record["f"]) for record in exact)
    assert sorted(row["s"] for row in rows) == sorted(numbers[:3])
    [letter] = letters(firn)
    assert letter["raw"] == lines[3] and "line 4: column 'l'" in letter["reason"]


def test_mixed_types_become_text_or_are_rejected(firn, write):
    write("a.ndjson", '{"id":1,"v":"text"}\n{"id":2,"v":5.0}\n{"id":3,"v":{"a":[1, true]}}\n{"id":4,"v":null}\n')
    result = firn.run("load", "db.t", "a.ndjson", "--create")
    assert "'v'" in result.stderr
    rows = by(firn.rows("db.t").to_pylist(), "id")
    assert [row["v"] for row in rows] == ["text", "5.0", '{"a":[1, true]}', None]
    write("b.ndjson", '{"id":"5"}\n{"id":6.5}\n{"id":true}\n{"id":[7]}\n{"id":8}\n')
    firn.run("load", "db.t", "b.ndjson")
    assert sorted(firn.rows("db.t")["id"].to_pylist()) == [1, 2, 3, 4, 8]
    assert [letter["position"] for letter in letters(firn)] == [0, 1, 2, 3]


# ---- Parquet

def at(micros):
    return datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=micros)


FOREIGN_COLUMNS = {
    "i8": (pa.int8(), [-128, None, 127]),
    "i16": (pa.int16(), [-32768, None, 32767]),
    "u8": (pa.uint8(), [0, None, 255]),
    "u16": (pa.uint16(), [0, None, 65535]),
    "u32": (pa.uint32(), [0, None, 4294967295]),
    "i64": (pa.int64(), [-(1 << 63), None, (1 << 63) - 1]),
    "f32": (pa.float32(), [-0.5, None, 3.25]),
    "dec": (pa.decimal128(20, 4), [decimal.Decimal("-1.2345"), None, decimal.Decimal("1234567890123456.7890")]),
    "small_dec": (pa.decimal128(4, 2), [decimal.Decimal("-99.99"), None, decimal.Decimal("0.01")]),
    "text": (pa.large_string(), ["", None, "☃"]),
    "code": (pa.dictionary(pa.int32(), pa.string()), ["a", None, "a"]),
    "bytes": (pa.large_binary(), [b"", None, b"\x00\xff"]),
    "fixed": (pa.binary(4), [b"abcd", None, b"\x00\x01\x02\x03"]),
    "day": (pa.date32(), [datetime.date(1969, 12, 31), None, datetime.date(9999, 12, 31)]),
    "time": (pa.time64("us"), [datetime.time(0), None, datetime.time(23, 59, 59, 999999)]),
    "time_ms": (pa.time32("ms"), [datetime.time(0), None, datetime.time(23, 59, 59, 999000)]),
    "ok": (pa.bool_(), [True, None, False]),
    "list": (pa.large_list(pa.int16()), [[1, None], None, []]),
    "struct": (pa.struct([("a", pa.int8()), ("b", pa.large_string())]),
               [{"a": 1, "b": None}, None, {"a": None, "b": "x"}]),
    "map": (pa.map_(pa.string(), pa.int32()), [[("k", 1)], None, []]),
}


def test_foreign_parquet_is_what_python_reads(firn):
    table = pa.table({"id": [0, 1, 2]} | {name: pa.array(values, type) for name, (type, values) in FOREIGN_COLUMNS.items()})
    path = firn.folder / "a.parquet"
    pq.write_table(table, path, row_group_size=2)
    firn.run("load", "db.t", "a.parquet", "--create")
    expected = pq.read_table(path).to_pylist()
    assert by(firn.rows("db.t").to_pylist(), "id") == expected


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Prague"])
def test_timestamps_of_any_unit_are_the_same_moment(firn, duck, unit, zone):
    micros = [0, -1_000_000, 1_714_557_600_000_000, -2_208_988_800_000_000]
    array = pa.array(micros, pa.timestamp("us", zone)).cast(pa.timestamp(unit, zone))
    path = firn.folder / "a.parquet"
    pq.write_table(pa.table({"id": [0, 1, 2, 3], "at": array}), path)
    firn.run("load", "db.t", "a.parquet", "--create")
    rows = [row["at"] for row in by(firn.rows("db.t").to_pylist(), "id")]
    assert rows == [at(value) if zone is None else at(value).replace(tzinfo=UTC) for value in micros]
    scan = f"iceberg_scan('{firn.table('db.t').metadata_location}')"
    assert duck.sql(f'SELECT epoch_us("at") FROM {scan} ORDER BY id').fetchall() == [(value,) for value in micros]


def test_int96_timestamps_are_read(firn):
    moments = [at(0), at(1_714_557_600_123_456)]
    pq.write_table(pa.table({"at": pa.array(moments, pa.timestamp("us"))}), firn.folder / "a.parquet",
                   use_deprecated_int96_timestamps=True)
    firn.run("load", "db.t", "a.parquet", "--create")
    assert sorted(firn.rows("db.t")["at"].to_pylist()) == moments


def test_a_parquet_value_that_does_not_fit_is_a_dead_letter(firn, write, schema):
    firn.run("table", "create", "db.t", "--schema", schema(("id", "long"), ("n", "int"), ("d", "decimal(4, 2)")))
    table = pa.table({"id": list(range(9)), "n": pa.array([0, 1, 1 << 40, 3, 4, 5, 6, -(1 << 33), 8]),
                      "d": pa.array(["1.5"] * 6 + ["1.555", "1", "2"]).cast(pa.decimal128(10, 3))})
    pq.write_table(table, firn.folder / "a.parquet", row_group_size=4)
    firn.run("load", "db.t", "a.parquet")
    expected = [row for row in table.to_pylist() if row["id"] not in (2, 6, 7)]
    assert by(firn.rows("db.t").to_pylist(), "id") == expected
    found = letters(firn)
    assert [letter["position"] for letter in found] == [2, 6, 7]
    assert json.loads(found[0]["raw"]) == {"id": 2, "n": 1 << 40, "d": 1.5}
    assert "row 3" in found[0]["reason"] and "'n'" in found[0]["reason"]
    assert "row 7" in found[1]["reason"] and "'d'" in found[1]["reason"]


def test_uuids_and_fixed_are_kept(firn, write, schema):
    value = uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7")
    write("a.ndjson", json.dumps({"u": str(value), "f": "00ff"}) + "\n")
    firn.run("load", "db.t", "a.ndjson", "--create", "--schema", schema(("u", "uuid"), ("f", "fixed[2]")))
    [row] = firn.rows("db.t").to_pylist()
    assert row["f"] == b"\x00\xff"
    assert row["u"] in (value, value.bytes)


def test_uuids_of_parquet_are_uuids(firn):
    value = uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7")
    ids = pa.array([value.bytes], pa.uuid())
    nested = pa.StructArray.from_arrays([ids], ["id"])
    pq.write_table(pa.table({"u": ids, "s": nested, "f": pa.array([b"x" * 16], pa.binary(16))}), firn.folder / "a.parquet",
                   store_schema=False)
    firn.run("load", "db.t", "a.parquet", "--create")
    types = {column["name"]: column["type"] for column in firn.json("inspect", "table", "db.t")["columns"]}
    assert types["u"] == "uuid" and types["f"] == "fixed[16]" and "uuid" in types["s"]
    [row] = firn.rows("db.t").to_pylist()
    assert row["u"] in (value, value.bytes) and row["s"]["id"] in (value, value.bytes)


# ---- where the bytes come from

def test_compressed_globs_and_standard_input_are_the_same(firn, write):
    texts = {f"{n}": "id,text\n" + "".join(f"{n * 100 + i},x{i}\n" for i in range(100)) for n in range(4)}
    write("part-0.csv", texts["0"])
    write("part-1.csv.gz", gzip.compress(texts["1"][:500].encode()) + gzip.compress(texts["1"][500:].encode()))
    write("part-2.csv.zst", pa.Codec("zstd").compress(texts["2"].encode(), asbytes=True))
    stdin = write("last.gz", gzip.compress(texts["3"].encode()))
    firn.run("load", "db.t", "part-*", "--create")
    with stdin.open("rb") as file:
        subprocess.run([PROGRAM, "load", "db.t", "-", "--format", "csv"], cwd=firn.folder, stdin=file, check=True,
                       capture_output=True)
    assert sorted(firn.rows("db.t")["id"].to_pylist()) == list(range(400))
