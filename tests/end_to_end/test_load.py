"""Files as they come: formats, compression, schemas, and what happens to records that do not fit."""

import datetime
import gzip
import json
import os
import re
import signal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

UTC = datetime.timezone.utc


@pytest.fixture
def write(firn):
    def write(name, content):
        path = firn.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def error_of(firn, *arguments, code=1, **how):
    result = firn.run(*arguments, code=code, **how)
    assert result.stdout == ""
    lines = [line for line in result.stderr.splitlines() if line.startswith("firn: ")]
    assert len(lines) == 1, result.stderr
    return lines[0]


def dead_letters(firn, table):
    columns = ["raw", "source", "position", "reason"]
    rows = firn.rows(table + "__dead_letters").select(columns).to_pylist()
    return sorted(rows, key=lambda row: (row["source"], row["position"]))


def test_every_format_and_compression_lands_alike(firn, write):
    records = [{"n": n, "text": f"x{n}"} for n in range(1000)]
    csv = "n,text\n" + "".join(f"{r['n']},{r['text']}\n" for r in records)
    ndjson = "".join(json.dumps(r) + "\n" for r in records)
    write("a.csv", csv)
    write("b.csv.gz", gzip.compress(csv.encode()))
    write("c.tsv", csv.replace(",", "\t"))
    write("d.ndjson", ndjson)
    write("e.jsonl.zst", pa.Codec("zstd").compress(ndjson.encode(), asbytes=True))
    pq.write_table(pa.Table.from_pylist(records), firn.folder / "f.parquet")
    for path in sorted(firn.folder.glob("?.*")):
        firn.run("load", f"db.{path.name[0]}", path.name, "--create")
        rows = firn.rows(f"db.{path.name[0]}").to_pylist()
        assert sorted(rows, key=lambda row: row["n"]) == records, path.name
    firn.run("load", "db.a", "[b-f].*", "--create")
    assert len(firn.rows("db.a")) == 6 * len(records)


def test_standard_input_is_loaded_into_a_given_schema(firn, write):
    schema = {
        "type": "struct",
        "fields": [
            {"id": 1, "name": "id", "type": "long", "required": True},
            {"id": 2, "name": "tags", "required": False,
             "type": {"type": "map", "key-id": 3, "key": "string", "value-id": 4,
                      "value": "int", "value-required": False}},
        ],
    }
    write("schema.json", json.dumps(schema))
    command = ["load", "db.t", "-", "--create", "--schema", "schema.json"]
    firn.run(*command, stdin='{"id":1,"tags":{"a":1}}\n{"id":2}\n')
    rows = sorted(firn.rows("db.t").to_pylist(), key=lambda row: row["id"])
    assert rows == [{"id": 1, "tags": [("a", 1)]}, {"id": 2, "tags": None}]
    assert "--schema" in error_of(firn, "load", "db.u", "-", "--create")


def test_shorter_standard_input_is_not_what_a_load_was_begun_with(firn, write):
    write("a.csv", "id\n0\n")
    firn.run("load", "db.t", "a.csv", "--create")
    command = ("load", "db.t", "-", "--format", "csv", "--id", "L")
    firn.run(*command, stdin="id\n1\n2\n3\n")
    result = firn.run(*command, stdin="id\n1\n2\n", code=1)
    assert ("firn: standard input: is not what load L was begun with: it ends before the records that are durable "
            "already; give the same bytes again, or load under another id (it has 2 of 3)") in result.stderr
    assert "nothing to add" in firn.run(*command, stdin="id\n1\n2\n3\n").stdout
    assert sorted(firn.rows("db.t")["id"].to_pylist()) == [0, 1, 2, 3]


def test_without_a_header_one_broken_record_does_not_decide(firn, write):
    firn.run("table", "create", "db.t", "--columns", "id long, name string, born date")
    write("a.csv", "1\n2,Ada\n3,Grace\n4,Edsger,1930-05-11\n")
    firn.run("load", "db.t", "a.csv", "--no-header")
    assert sorted(firn.rows("db.t")["name"].to_pylist()) == ["Ada", "Grace"]
    letters = firn.json("dead-letters", "show", "db.t")
    assert sorted(letter["raw"] for letter in letters) == ["1", "4,Edsger,1930-05-11"]


def test_nested_json_is_inferred(firn, write):
    write("a.json", '{"id":1,"at":"2024-05-01T10:00:00Z","geo":{"lat":1.5,"tags":["x"]},"m":1}\n'
                    '{"id":2,"geo":{"lat":2,"tags":[]},"m":"two","none":null}\n')
    result = firn.run("load", "db.t", "a.json", "--create")
    assert "'m' has strings and numbers" in result.stderr
    assert "'none' is null or empty in every record" in result.stderr
    rows = sorted(firn.rows("db.t").to_pylist(), key=lambda row: row["id"])
    assert rows == [
        {"id": 1, "at": datetime.datetime(2024, 5, 1, 10, tzinfo=UTC),
         "geo": {"lat": 1.5, "tags": ["x"]}, "m": "1"},
        {"id": 2, "at": None, "geo": {"lat": 2.0, "tags": []}, "m": "two"},
    ]


def test_foreign_parquet_types_become_the_tables(firn):
    at = datetime.datetime(2024, 5, 1, 10)
    for unit in ("s", "ms", "us", "ns"):
        table = pa.table({
            "n": pa.array([1], pa.int64() if unit == "us" else pa.int32()),
            "at": pa.array([at], pa.timestamp(unit, "UTC")),
            "name": pa.array(["x"]).dictionary_encode() if unit == "ms" else pa.array(["x"], pa.large_string()),
            "price": pa.array(["1.5"]).cast(pa.decimal128(5, 1)),
        })
        pq.write_table(table, firn.folder / f"{unit}.parquet")
    firn.run("load", "db.t", "*.parquet", "--create")
    rows = firn.rows("db.t").to_pylist()
    assert len(rows) == 4
    assert all(row["n"] == 1 and row["at"] == at.replace(tzinfo=UTC) and row["name"] == "x" for row in rows)
    assert str(firn.table("db.t").schema().find_type("n")) == "long"


def test_records_that_do_not_fit_become_dead_letters(firn, write):
    write("good.csv", "id,day\n1,2024-01-01\n")
    firn.run("load", "db.t", "good.csv", "--create")
    bad = write("bad.csv", 'id,day\n2,2024-01-02\nx,2024-01-03\n3\n4,"2024-01-04\n')
    result = firn.run("load", "db.t", "bad.csv", "--id", "monday")
    assert "3 records do not fit and are in db.t__dead_letters" in result.stderr
    assert "'firn dead-letters show db.t' lists them" in result.stderr
    assert "bad.csv: line 3: column 'id': 'x' is not of type long" in result.stderr
    letters = dead_letters(firn, "db.t")
    assert [(row["raw"], row["position"], row["reason"][:6]) for row in letters] == [
        (b"x,2024-01-03", 1, "line 3"),
        (b"3", 2, "line 4"),
        (b'4,"2024-01-04\n', 3, "line 5"),
    ]
    assert sorted(firn.rows("db.t")["id"].to_pylist()) == [1, 2]

    again = firn.run("load", "db.t", "bad.csv", "--id", "monday")
    assert "nothing to add" in again.stdout
    assert dead_letters(firn, "db.t") == letters
    assert bad.exists()


def test_dead_letters_of_many_batches_are_there_once(firn, write):
    lines = [f"{n if n % 5000 else 'x'}" for n in range(40_000)]
    write("a.csv", "id\n" + "\n".join(lines) + "\n")
    firn.configure("wal:\n  flush_bytes: 64KiB\n")
    write("schema.csv", "id\n1\n")
    firn.run("load", "db.t", "schema.csv", "--create")
    firn.run("load", "db.t", "a.csv", "--wal-only", "--id", "L")
    firn.run("load", "db.t", "a.csv", "--id", "L")
    assert len(firn.rows("db.t")) == 40_000 - 8 + 1
    assert [row["position"] for row in dead_letters(firn, "db.t")] == list(range(0, 40_000, 5000))


@pytest.mark.parametrize("point", ["wal.segment.before_put", "wal.segment.after_put"])
@pytest.mark.parametrize("visit", [1, 2, 5, 6, 9])
def test_a_crash_loses_and_doubles_no_dead_letter(firn, write, point, visit):
    lines = [f"{n if n % 3000 else 'x'}" for n in range(30_000)]
    write("a.csv", "id\n" + "\n".join(lines) + "\n")
    write("schema.csv", "id\n-1\n")
    firn.configure("wal:\n  flush_bytes: 64KiB\n")
    firn.run("load", "db.t", "schema.csv", "--create")
    process = firn.start("load", "db.t", "a.csv", "--id", "L", FIRN_CRASH_POINT=f"{point}:{visit}")
    assert process.wait(120) == -9
    firn.run("load", "db.t", "a.csv", "--id", "L")
    ids = firn.rows("db.t")["id"].to_pylist()
    assert len(ids) == len(set(ids)) == 30_000 - 10 + 1
    assert [row["position"] for row in dead_letters(firn, "db.t")] == list(range(0, 30_000, 3000))


def test_strict_lands_nothing_if_a_record_does_not_fit(firn, write):
    write("a.csv", "id\n1\n")
    write("b.csv", "id\n1\nx\n")
    message = error_of(firn, "load", "db.t", "a.csv", "b.csv", "--create", "--strict",
                       "--schema", write("s.json", json.dumps({
                           "type": "struct", "fields": [
                               {"id": 1, "name": "id", "type": "long", "required": False}]})))
    assert "b.csv: line 3: column 'id': 'x' is not of type long; nothing was landed" in message
    assert firn.run("table", "list").stdout == ""
    firn.run("load", "db.t", "a.csv", "--create", "--strict")
    assert "nothing was landed" in error_of(firn, "load", "db.t", "b.csv", "--strict")
    assert len(firn.rows("db.t")) == 1


def test_a_dry_run_shows_whole_types_and_the_layout(firn, write):
    fields = ", ".join(f'"field_{i}": {i}' for i in range(9))
    write("a.ndjson", f'{{"id": 1, "place": {{{fields}}}}}\n')
    out = firn.run("load", "db.t", "a.ndjson", "--create", "--dry-run", "--partition-by", "bucket(4, id)").stdout
    assert "struct<field_0: long, field_1: long" in out and "field_8: long>" in out
    assert "partition by  bucket(4, id)" in out and "sort by       none" in out


def test_input_without_a_record_is_told(firn, write):
    write("a.csv", "id\n1\n")
    write("none.csv", "id\n")
    firn.run("load", "db.t", "a.csv", "--create")
    assert "db.t: nothing to add, there is no record in the input\n" in firn.run("load", "db.t", "none.csv").stdout


def test_a_dry_run_lands_nothing(firn, write):
    write("a.csv", "id,name\n1,x\n2\n")
    result = firn.run("load", "db.t", "a.csv", "--create", "--dry-run")
    assert "db.t: would be made" in result.stdout
    assert "long" in result.stdout and "string" in result.stdout
    assert "1 record of 1 file fits, 1 does not" in result.stdout
    assert "a.csv: line 3: 1 value for 2 columns" in result.stdout
    assert firn.run("table", "list").stdout == ""
    assert "--sort-by" in error_of(firn, "load", "db.t", "a.csv", "--create", "--dry-run",
                                   "--sort-by", "shoe", code=2)


def test_numeric_times_need_a_unit(firn, write):
    write("a.json", '{"ts":1714557600000}\n')
    firn.run("load", "db.t", "a.json", "--create", "--time-unit", "ts=ms")
    at = datetime.datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert firn.rows("db.t")["ts"].to_pylist() == [at]
    assert "--time-unit 'ts=s'" in error_of(firn, "load", "db.t", "a.json")
    assert "ts=m" in error_of(firn, "load", "db.t", "a.json", "--time-unit", "ts=m", code=2)
    assert len(firn.rows("db.t")) == 1


def test_csv_dialects(firn, write):
    write("a.txt", "1;NA;x\n2;5;-\n")
    firn.run("load", "db.t", "a.txt", "--create", "--format", "csv", "--delimiter", ";", "--no-header",
             "--null-value", "NA", "--null-value", "-")
    rows = sorted(firn.rows("db.t").to_pylist(), key=lambda row: row["column_1"])
    assert rows == [{"column_1": 1, "column_2": None, "column_3": "x"},
                    {"column_1": 2, "column_2": 5, "column_3": None}]


def damaged(content):
    return gzip.compress(content.encode() * 1000)[:-20]


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("empty.csv", "", ["empty.csv: the file is empty"]),
        ("empty.ndjson", "", ["empty.ndjson: the file is empty"]),
        ("cut.csv.gz", damaged("id\n1\n2\n3\n"), ["cut.csv.gz: the compressed file is damaged or cut off"]),
        ("twice.csv", "id,id\n1,2\n", ["twice.csv", "two columns have the name 'id'"]),
        ("case.csv", "id,ID\n1,2\n", ["case.csv", "'id' and 'ID' differ only in case"]),
        ("more.csv", "id,more\n1,2\n", ["more.csv: the table has no column 'more'", "--ignore-unknown"]),
        ("a.parquet", "no parquet", ["a.parquet"]),
        ("array.json", '[{"id":1}]', ["array.json: is JSON, but not one object a line"]),
        ("garbage.csv", b"\x7fELF\x02\x01\x00\x00\xff" * 100, ["garbage.csv: is no text in UTF-8, but binary"]),
        ("garbage.ndjson", b"\x7fELF\x02\x01\x00\x00\xff" * 100, ["garbage.ndjson: is no text in UTF-8, but binary"]),
        ("utf16.csv", "id\n2\n".encode("utf-16"), ["utf16.csv: is no text in UTF-8"]),
        ("garbage.gz", b"no gzip", ["garbage.gz"]),
        ("garbage.parquet", b"PAR1" + b"\xff" * 100 + b"PAR1", ["garbage.parquet"]),
        ("what.dat", "id\n1\n", ["what.dat: cannot tell its format", "--format"]),
    ],
)
def test_bad_files_get_one_clear_line(firn, write, name, content, parts):
    write("good.csv", "id\n1\n")
    firn.run("load", "db.t", "good.csv", "--create")
    write(name, content)
    message = error_of(firn, "load", "db.t", name)
    assert message.isprintable()
    for part in parts:
        assert part in message
    assert len(firn.rows("db.t")) == 1
    firn.run("load", "db.t", "good.csv")
    assert len(firn.rows("db.t")) == 2


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_named(firn, write):
    write("secret.csv", "id\n1\n").chmod(0)
    assert "secret.csv: cannot be opened" in error_of(firn, "load", "db.t", "secret.csv", "--create")


@pytest.mark.parametrize("name", ["missing.csv", "none-*.csv", "folder"])
def test_files_that_are_none_are_named(firn, write, name):
    (firn.folder / "folder").mkdir()
    write("good.csv", "id\n1\n")
    message = error_of(firn, "load", "db.t", "good.csv", name, "--create")
    assert name in message
    assert not (firn.folder / "warehouse").exists()


def test_a_broken_last_line_is_a_dead_letter(firn, write):
    write("good.csv", "id,name\n1,x\n")
    firn.run("load", "db.t", "good.csv", "--create")
    write("cut.csv", "id,name\n2,y\n3,\"z")
    write("cut.ndjson", '{"id":4}\n{"id":5,"na')
    firn.run("load", "db.t", "cut.csv", "cut.ndjson")
    assert sorted(firn.rows("db.t")["id"].to_pylist()) == [1, 2, 4]
    found = {row["source"].rsplit("/")[-1]: (row["raw"], row["reason"][:6]) for row in dead_letters(firn, "db.t")}
    assert found == {"cut.csv": (b'3,"z', "line 3"), "cut.ndjson": (b'{"id":5,"na', "line 2")}


def test_a_required_field_that_is_null_is_a_dead_letter(firn, write):
    write("s.json", json.dumps({"type": "struct", "fields": [
        {"id": 1, "name": "id", "type": "long", "required": True},
        {"id": 2, "name": "who", "required": False, "type": {"type": "struct", "fields": [
            {"id": 3, "name": "name", "type": "string", "required": True}]}}]}))
    firn.run("table", "create", "db.t", "--schema", "s.json")
    write("a.json", '{"id":1}\n{"id":null}\n{}\n{"id":2,"who":{}}\n{"id":3,"who":{"name":"x"}}\n')
    firn.run("load", "db.t", "a.json")
    assert sorted(firn.rows("db.t")["id"].to_pylist()) == [1, 3]
    assert [(row["reason"].partition(":")[0], "required" in row["reason"]) for row in dead_letters(firn, "db.t")] == [
        ("line 2", True), ("line 3", True), ("line 4", True)]
    write("b.csv", "other\n1\n")
    assert "b.csv: " in error_of(firn, "load", "db.t", "b.csv")


OPTIONS = [["--null-value", "NA"], ["--no-header"], ["--delimiter", ";"], ["--ignore-unknown"], ["--format", "csv"],
           ["--time-unit", "at=s"]]


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option[0])
def test_a_load_goes_on_only_with_the_same_options(firn, write, option):
    write("s.json", json.dumps({"type": "struct", "fields": [
        {"id": 1, "name": "id", "type": "string", "required": False},
        {"id": 2, "name": "at", "type": "timestamptz", "required": False}]}))
    firn.run("table", "create", "db.t", "--schema", "s.json")
    write("a.csv", "id\nNA\n")
    firn.run("load", "db.t", "a.csv", "--id", "L", "--wal-only")
    message = error_of(firn, "load", "db.t", "a.csv", "--id", "L", *option, code=2)
    assert "load L was begun with no options" in message and " ".join(option) in message
    firn.run("load", "db.t", "a.csv", "--id", "L")
    assert firn.rows("db.t")["id"].to_pylist() == ["NA"]


def test_the_order_of_options_does_not_matter(firn, write):
    write("a.csv", "id,n\nNA,-\n1,2\n")
    firn.run("load", "db.t", "a.csv", "--create", "--id", "L", "--null-value", "NA", "--null-value", "-")
    again = firn.run("load", "db.t", "a.csv", "--id", "L", "--null-value", "-", "--null-value", "NA")
    assert "nothing to add" in again.stdout


def test_a_changed_file_of_the_same_size_is_noticed(firn, write):
    path = write("a.csv", "id\n1\n")
    firn.run("load", "db.t", "a.csv", "--create", "--id", "L")
    before = path.stat().st_mtime_ns
    write("a.csv", "id\n2\n")
    os.utime(path, ns=(before + 1_000_000_000,) * 2)
    message = error_of(firn, "load", "db.t", "a.csv", "--id", "L")
    assert "a.csv (5 bytes, changed " in message and "another id" in message
    os.utime(path, ns=(before, before))
    assert "nothing to add" in firn.run("load", "db.t", "a.csv", "--id", "L").stdout


def test_an_interrupted_load_says_how_to_go_on(firn, write):
    write("good.csv", "id\n-1\n")
    firn.run("load", "db.t", "good.csv", "--create")
    firn.configure("wal:\n  flush_bytes: 64KiB\n")
    lines = "id\n" + "".join(f"{n}\n" for n in range(100_000))
    process = firn.start("load", "db.t", "-", "--format", "csv")
    process.stdin.write(lines)
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 1
    hint = re.search(r"load (\w+): .*the same command and input with --id (\w+) ", errors)
    assert hint and hint[1] == hint[2], errors
    firn.run("load", "db.t", "-", "--format", "csv", "--id", hint[1], stdin=lines)
    assert sorted(firn.rows("db.t")["id"].to_pylist()) == list(range(-1, 100_000))


def test_an_interrupted_load_says_what_is_durable(firn, write):
    firn.configure("wal:\n  flush_bytes: 64KiB\n")
    write("a.csv", "id\n" + "".join(f"{n}\n" for n in range(100_000)))
    firn.run("table", "create", "db.t", "--columns", "id long")
    stop = {"FIRN_CRASH_POINT": "wal.segment.after_put:3", "FIRN_CRASH_SIGNAL": str(int(signal.SIGINT))}
    errors = firn.run("load", "db.t", "a.csv", "--id", "L", code=1, **stop).stderr
    hint = re.search(r"load L: ([0-9,]+) rows are durable and will be in the table", errors)
    assert hint and "the same command with --id L goes on behind them" in errors
    firn.run("shift", "db.t")
    assert len(firn.rows("db.t")) == int(hint[1].replace(",", ""))
    firn.run("load", "db.t", "a.csv", "--id", "L")
    assert sorted(firn.rows("db.t")["id"].to_pylist()) == list(range(100_000))


def test_standard_input_of_no_known_format_begins_no_load(firn):
    firn.run("table", "create", "db.t", "--columns", "id long")
    message = error_of(firn, "load", "db.t", "-", "--id", "L", stdin="id\n1\n")
    assert message == "firn: standard input: cannot tell its format; give --format csv, ndjson or parquet"
    firn.run("load", "db.t", "-", "--id", "L", "--format", "csv", stdin="id\n1\n")
    assert firn.rows("db.t")["id"].to_pylist() == [1]


def test_a_table_that_was_forgotten_is_told(firn, write):
    """Else the first file of a pattern would be its name."""
    write("a.csv", "id\n1\n")
    write("b.csv", "id\n2\n")
    message = error_of(firn, "load", "a.csv", "b.csv", "--create", code=2)
    assert message == "firn: 'a.csv' is a file, and the table comes first: 'firn load TABLE a.csv'"
    assert not (firn.folder / "warehouse").exists()


@pytest.mark.parametrize("name", ["wal.t", "wal.loads", "db.t__dead_letters", "catalog.db.t", "catalog.db-wal.t"])
def test_names_that_firn_uses_itself_are_refused(firn, write, name):
    write("a.csv", "id\n1\n")
    message = error_of(firn, "load", name, "a.csv", "--create", code=2)
    assert "choose another" in message
    assert error_of(firn, "table", "create", name, "--columns", "id long", code=2) == message


def test_a_pattern_for_all_depths_is_refused(firn, write):
    write("a.csv", "id\n1\n")
    assert "'**' would match one folder only" in error_of(firn, "load", "db.t", "**/*.csv", "--create")


def test_a_delimiter_is_ascii(firn, write):
    """Half of a character of two bytes cannot be kept in the format of a dead letter."""
    write("a.csv", "id\n1\n")
    assert firn.start("load", "db.t", "a.csv", "--create", "--delimiter", "\udcff").wait(timeout=30) == 2


def test_dead_letters_are_not_what_rows_wait_for(firn, write):
    """The letters nearly fill the memory before the first row, but not enough to be flushed for their size."""
    write("schema.csv", "id,text\n1,x\n")
    firn.configure("memory_limit: 9MiB\nwal:\n  flush_bytes: 64MiB\n  flush_age: 1h\n")
    firn.run("load", "db.t", "schema.csv", "--create")
    text = "x" * 1000
    write("a.csv", "id,text\n" + f"bad,{text}\n" * 2_100 + f"1,{text}\n" * 2_000)
    process = firn.start("load", "db.t", "a.csv", "--wal-only")
    try:
        assert process.wait(timeout=15) == 0
    finally:
        process.kill()


def test_memory_does_not_grow_with_the_file(firn, write):
    write("schema.csv", "id,text\n1,x\n")
    firn.configure("memory_limit: 64MiB\nwal:\n  flush_bytes: 1MiB\n")
    firn.run("load", "db.t", "schema.csv", "--create")
    line = '{"id":1,"text":"' + "x" * 80 + '"}\n'
    write("small.json", line * 10_000)
    write("large.json", line * 400_000)
    peaks = {}
    for name in ("small.json", "large.json"):
        process = firn.start("load", "db.t", name, "--wal-only")
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0
        peaks[name] = usage.ru_maxrss
    assert peaks["large.json"] < peaks["small.json"] + 60_000, peaks

