"""Bad input, and what it gets: the table of docs/bad-input.md, row by row.

Each row is broken, run, repaired and run again: the message is the document's, nothing is half-committed, and the
next run goes on. FIRN_UPDATE_DOCS=1 writes the messages of this build into the document.
"""

import contextlib
import gzip
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess

import pyarrow.parquet
import pytest
from conftest import PROGRAM, ROOT, open_duckdb

DOCUMENT = ROOT / "docs/bad-input.md"
TABLE = "db.people"
HEADER = "id,name,born\n"
PEOPLE = HEADER + "1,Ada,1815-12-10\n2,Grace,1906-12-09\n3,,1900-01-01\n"
LOAD = ("load", TABLE, "people.csv", "--id", "again")

CASES = {}


def case(name, code=1):
    """Registers a generator: it breaks something, yields the arguments that meet it, and repairs it. What it returns
    is how many rows the table has after the next load; 6 if nothing."""

    def register(break_and_repair):
        assert name not in CASES
        CASES[name] = (break_and_repair, code)
        return break_and_repair

    return register


def write(firn, name, content):
    path = firn.folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def file_case(name, file, content, *flags):
    """A file that a load cannot take."""

    @case(name)
    def broken(firn):
        write(firn, file, content)
        yield ("load", TABLE, file, "--id", "bad", *flags)


@case("a file that is missing")
def missing(firn):
    yield ("load", TABLE, "missing.csv", "--id", "bad")


@case("a file that may not be read")
def unreadable(firn):
    write(firn, "secret.csv", PEOPLE).chmod(0)
    yield ("load", TABLE, "secret.csv", "--id", "bad")


@case("a folder")
def folder(firn):
    (firn.folder / "folder").mkdir()
    yield ("load", TABLE, "folder", "--id", "bad")


@case("one file by two names")
def two_names(firn):
    (firn.folder / "link.csv").symlink_to("people.csv")
    yield ("load", TABLE, "people.csv", "link.csv", "--id", "bad")


@case("a table that is missing")
def no_table(firn):
    yield ("load", "db.nobody", "people.csv", "--id", "bad")


@case("a name that is no table's", code=2)
def no_name(firn):
    yield ("load", "people", "people.csv", "--id", "bad")


@case("an unknown command", code=2)
def unknown_command(firn):
    yield ("lod", TABLE, "people.csv")


@case("an unknown option", code=2)
def unknown_option(firn):
    yield ("load", TABLE, "people.csv", "--wall-only")


file_case("an empty file for a new table", "empty.csv", "", "--create")

file_case("two columns of one name", "twice.csv", "id,name,name\n1,a,b\n", "--strict")
file_case("an unknown column", "more.csv", "id,name,born,shoe\n1,a,1900-01-01,42\n", "--strict")
file_case("a value that does not fit, with --strict", "value.csv", HEADER + "1,a,1900-01-01\nx,b,1900-01-01\n",
          "--strict")
file_case("a broken last line, with --strict", "cut.csv", PEOPLE + '4,"Eds', "--strict")
file_case("a broken last line of NDJSON, with --strict", "cut.ndjson",
          '{"id": 1, "name": "a", "born": null}\n{"id": 2, "na', "--strict")
file_case("a required column that is null, with --strict", "null.csv", HEADER + ",a,1900-01-01\n", "--strict")
file_case("a gzip file that was cut", "cut.csv.gz", gzip.compress(PEOPLE.encode(), mtime=0)[:-12])
file_case("a gzip file that is none", "none.csv.gz", PEOPLE)
file_case("a Parquet file that was cut", "cut.parquet", b"PAR1" + bytes(100))


file_case("a CSV file with another delimiter", "semicolons.csv", "id;name\n1;a\n")
file_case("a CSV file with another delimiter, with --ignore-unknown", "semicolons.csv", "id;name\n1;a\n", "--ignore-unknown")
file_case("a CSV file without a column of the table, with --ignore-unknown", "other.csv", "foo,bar\n1,2\n",
          "--ignore-unknown")
file_case("a CSV file for spreadsheets", "sheet.csv", "sep=;\nid;name\n1;a\n")
file_case("an unknown column that is nearly right", "near.csv", "id,nmae\n1,a\n", "--strict")


def new_table_case(name, file, content, *flags):
    """A file of which no table is made."""

    @case(name)
    def broken(firn):
        write(firn, file, content)
        yield ("load", "db.new", file, "--create", "--id", "bad", *flags)
        assert firn.run("table", "list").stdout == f"{TABLE}\n"


new_table_case("a CSV file with another delimiter, for a new table", "semicolons.csv", "id;name\n1;a\n")
new_table_case("a TSV file with commas, for a new table", "commas.tsv", "id,name\n1,a\n")
new_table_case("a CSV file without a header, for a new table", "plain.csv", "1,Ada,1815-12-10\n2,Grace,1906-12-09\n")


@case("a Parquet file without a column of the table, with --ignore-unknown")
def unknown_parquet(firn):
    pyarrow.parquet.write_table(pyarrow.table({"foo": [1]}), firn.folder / "other.parquet")
    yield ("load", TABLE, "other.parquet", "--id", "bad", "--ignore-unknown")


file_case("a JSON record without a field of the table, with --ignore-unknown", "other.ndjson", '{"foo": 1}\n',
          "--ignore-unknown", "--strict")


@case("NDJSON that is none, for a new table")
def no_ndjson(firn):
    yield ("load", "db.new", "people.csv", "--format", "ndjson", "--create", "--id", "bad")


@case("a table whose name is nearly right")
def near_table(firn):
    yield ("shift", "db.poeple")


@case("a new table of records that do not fit")
def none_fits(firn):
    write(firn, "none.csv", "a,b\n1,2,3\n4,5,6\n")
    yield ("load", "db.new", "none.csv", "--create", "--id", "bad")
    assert firn.run("table", "list").stdout == f"{TABLE}\n"


@case("Parquet on standard input", code=2)
def parquet_pipe(firn):
    yield ("load", TABLE, "-", "--format", "parquet", "--id", "bad")


@case("a Parquet column of intervals, for a new table")
def interval(firn):
    open_duckdb().execute(f"COPY (SELECT INTERVAL 1 DAY AS pause) TO '{firn.folder}/pause.parquet'")
    yield ("load", "db.new", "pause.parquet", "--create", "--id", "bad")


@case("a Parquet column of unsigned 64-bit integers, for a new table")
def unsigned(firn):
    table = pyarrow.table({"n": pyarrow.array([1], pyarrow.uint64())})
    pyarrow.parquet.write_table(table, firn.folder / "unsigned.parquet")
    yield ("load", "db.new", "unsigned.parquet", "--create", "--id", "bad")


@case("a type as SQL names it", code=2)
def sql_type(firn):
    yield ("table", "create", "db.new", "--columns", "id bigint")


@case("a type of columns in --columns", code=2)
def nested_type(firn):
    yield ("table", "create", "db.new", "--columns", "place struct<x: int>")


@case("a data file, inspected as a segment")
def no_segment(firn):
    (file,) = sorted((firn.folder / "warehouse/db/people").rglob("*.parquet"))
    yield ("inspect", "segment", file.relative_to(firn.folder))


@case("a column that cannot keep unknown fields", code=2)
def no_map(firn):
    write(firn, "more.ndjson", '{"id": 1, "shoe": 42}\n')
    yield ("load", TABLE, "more.ndjson", "--unknown-fields-column", "name")


@case("configuration: unknown fields without a column", code=2)
def no_column(firn):
    firn.configure(f"tables:\n  - {{name: {TABLE}, schema_evolution: map}}\n")
    yield ("shift", TABLE)
    (firn.folder / "firn.yaml").unlink()


@case("configuration: bounds the wrong way round", code=2)
def bounds(firn):
    firn.configure("shift:\n  lower_bound_input_bytes_per_task: 2MiB\n  upper_bound_input_bytes_per_task: 1MiB\n")
    yield ("shift", TABLE)
    (firn.folder / "firn.yaml").unlink()


@case("configuration: an unknown key", code=2)
def unknown_key(firn):
    firn.configure("wal:\n  flush_byte: 1MiB\n")
    yield ("shift", TABLE)
    (firn.folder / "firn.yaml").unlink()


@case("configuration: a wrong unit", code=2)
def wrong_unit(firn):
    firn.configure("wal:\n  flush_bytes: 1 parsec\n")
    yield ("shift", TABLE)
    (firn.folder / "firn.yaml").unlink()


@case("configuration: too little memory", code=2)
def little_memory(firn):
    firn.configure("memory_limit: 1\n")
    yield ("shift", TABLE)
    (firn.folder / "firn.yaml").unlink()


@case("configuration: a file without an end", code=2)
def endless_configuration(firn):
    yield ("shift", TABLE, "--config", "/dev/zero")


@case("planner case: first key behind the last", code=2)
def case_bounds(firn):
    planner_case = json.loads((ROOT / "src/firn/planner/cases/case-05-overlaps-fit.json").read_text())
    row_group = planner_case["row_groups"][0]
    row_group["min_key"], row_group["max_key"] = row_group["max_key"], row_group["min_key"]
    write(firn, "case.json", json.dumps(planner_case))
    yield ("plan", "--input", "case.json")


@case("a layout that the columns do not allow", code=2)
def layout(firn):
    yield ("load", "db.new", "people.csv", "--create", "--partition-by", "day(name)", "--id", "bad")


@case("a type of a later format version", code=2)
def later_type(firn):
    yield ("table", "create", "db.new", "--columns", "at timestamp_ns")


@case("a table property that Firn cannot use")
def table_property(firn):
    with firn.table(TABLE).transaction() as change:
        change.set_properties({"write.parquet.compression-codec": "zip"})
    yield ("load", TABLE, "people.csv", "--id", "bad")
    with firn.table(TABLE).transaction() as change:
        change.set_properties({"write.parquet.compression-codec": "zstd"})


@case("a table property that names a folder without storage")
def property_without_storage(firn):
    with firn.table(TABLE).transaction() as change:
        change.set_properties({"write.data.path": "ftp://host/lake"})
    yield ("load", TABLE, "people.csv", "--id", "bad")
    with firn.table(TABLE).transaction() as change:
        change.remove_properties("write.data.path")


@case("positions that name another table, over commits of Firn")
def foreign_positions(firn):
    firn.run("shift", TABLE)
    table = firn.table(TABLE)
    own = table.properties["firn.table-uuid"]
    with table.transaction() as change:
        change.set_properties({"firn.table-uuid": "00000000-0000-4000-8000-000000000000"})
    yield ("shift", TABLE)
    with firn.table(TABLE).transaction() as change:
        change.set_properties({"firn.table-uuid": own})


@case("a warehouse that may not be written")
def unwritable(firn):
    for path in [firn.folder / "warehouse", *(firn.folder / "warehouse").rglob("*")]:
        if path.is_dir():
            path.chmod(0o500)
    yield ("load", TABLE, "people.csv", "--id", "bad")
    for path in [firn.folder / "warehouse", *(firn.folder / "warehouse").rglob("*")]:
        if path.is_dir():
            path.chmod(0o700)


@case("a warehouse that is a file")
def warehouse_is_a_file(firn):
    yield ("load", TABLE, "people.csv", "--warehouse", "people.csv", "--id", "bad")


@case("a WAL in an unknown kind of storage", code=2)
def unknown_storage(firn):
    firn.configure("wal:\n  path: ftp://host/wal\n")
    yield ("load", TABLE, "people.csv", "--id", "bad")
    (firn.folder / "firn.yaml").unlink()


@case("a WAL under the table's location")
def wal_under_table(firn):
    firn.configure("wal:\n  path: warehouse/db/people/wal\n")
    yield ("load", TABLE, "people.csv", "--id", "bad")
    (firn.folder / "firn.yaml").unlink()


@case("a catalog that is not SQLite")
def no_database(firn):
    catalog = firn.folder / "warehouse/catalog.db"
    good = catalog.read_bytes()
    catalog.write_text(PEOPLE * 100)
    yield ("load", TABLE, "people.csv", "--id", "bad")
    catalog.write_bytes(good)


def changed_catalog(firn, change):
    """Lets `change` damage the catalog, and puts it back."""
    catalog = firn.folder / "warehouse/catalog.db"
    good = catalog.read_bytes()
    change(catalog)
    yield ("load", TABLE, "people.csv", "--id", "bad")
    catalog.write_bytes(good)


@case("a catalog with other tables")
def other_tables(firn):
    def change(catalog):
        with contextlib.closing(sqlite3.connect(catalog)) as database:
            database.execute("ALTER TABLE iceberg_tables RENAME COLUMN metadata_location TO place")

    yield from changed_catalog(firn, change)


@case("a catalog that names no metadata of a table")
def no_metadata_location(firn):
    def change(catalog):
        with contextlib.closing(sqlite3.connect(catalog, isolation_level=None)) as database:
            database.execute("UPDATE iceberg_tables SET metadata_location = NULL")

    yield from changed_catalog(firn, change)


@case("a catalog that is damaged")
def damaged_catalog(firn):
    def change(catalog):
        good = catalog.read_bytes()
        catalog.write_bytes(good[:4096] + bytes([255]) * (len(good) - 4096))

    yield from changed_catalog(firn, change)


@case("a catalog that another process locks")
def locked(firn):
    with contextlib.closing(sqlite3.connect(firn.folder / "warehouse/catalog.db", isolation_level=None)) as lock:
        lock.execute("BEGIN EXCLUSIVE")
        yield ("load", TABLE, "people.csv", "--id", "bad")


@case("metadata that is gone")
def metadata_gone(firn):
    path = pathlib.Path(firn.table(TABLE).metadata_location.removeprefix("file://"))
    good = path.read_bytes()
    path.unlink()
    yield ("load", TABLE, "people.csv", "--id", "bad")
    path.write_bytes(good)


@case("metadata that was cut")
def metadata_cut(firn):
    path = pathlib.Path(firn.table(TABLE).metadata_location.removeprefix("file://"))
    good = path.read_bytes()
    path.write_bytes(good[:16])
    yield ("load", TABLE, "people.csv", "--id", "bad")
    path.write_bytes(good)


def incoherent(name, change):
    """Metadata that contradicts itself is refused before a record is made durable."""

    @case(name)
    def broken(firn):
        path = pathlib.Path(firn.table(TABLE).metadata_location.removeprefix("file://"))
        good = path.read_bytes()
        metadata = json.loads(good)
        change(metadata)
        path.write_text(json.dumps(metadata))
        segments = set((firn.folder / "warehouse/wal").rglob("*.parquet"))
        yield ("load", TABLE, "people.csv", "--wal-only", "--id", "bad")
        assert set((firn.folder / "warehouse/wal").rglob("*.parquet")) == segments
        path.write_bytes(good)


incoherent("metadata whose main is a tag", lambda metadata: metadata["refs"]["main"].update(type="tag"))
incoherent("metadata that counts sequence numbers anew", lambda metadata: metadata.update({"last-sequence-number": 0}))
incoherent("metadata with a column id that was not given out", lambda metadata: metadata.update({"last-column-id": 2}))


def waiting_segment(firn):
    """A segment that is durable and not in the table yet."""
    firn.run("load", TABLE, "people.csv", "--wal-only", "--id", "waits")
    return max((firn.folder / "warehouse/wal").rglob("*.parquet"), key=lambda path: path.stat().st_mtime_ns)


@case("a segment with a broken byte")
def corrupt_segment(firn):
    segment = waiting_segment(firn)
    good = segment.read_bytes()
    offset = pyarrow.parquet.ParquetFile(segment).metadata.row_group(0).column(0).data_page_offset + 20
    segment.write_bytes(good[:offset] + bytes([good[offset] ^ 0xFF]) + good[offset + 1:])
    yield ("shift", TABLE)
    segment.write_bytes(good)
    return 9


@case("a segment that was cut")
def cut_segment(firn):
    segment = waiting_segment(firn)
    good = segment.read_bytes()
    segment.write_bytes(good[:-20])
    yield ("shift", TABLE)
    segment.write_bytes(good)
    return 9


@case("a segment that is empty")
def empty_segment(firn):
    segment = waiting_segment(firn)
    good = segment.read_bytes()
    segment.write_bytes(b"")
    yield ("shift", TABLE)
    segment.write_bytes(good)
    return 9


@case("a segment that a newer Firn wrote")
def newer_segment(firn):
    segment = waiting_segment(firn)
    good = segment.read_bytes()
    file = pyarrow.parquet.ParquetFile(segment)
    key_values = {**file.metadata.metadata, b"firn.format-version": b"2"}
    del key_values[b"firn.footer-crc32"]
    key_values.pop(b"ARROW:schema", None)
    pyarrow.parquet.write_table(file.read().replace_schema_metadata(key_values), segment)
    yield ("shift", TABLE)
    segment.write_bytes(good)
    return 9


@case("a hole in a shard that was closed")
def hole(firn):
    firn.configure("wal:\n  flush_bytes: 16KiB\n")
    write(firn, "many.csv", HEADER + "".join(f"{i},name {i},1900-01-01\n" for i in range(2000)))
    firn.run("load", TABLE, "many.csv", "--wal-only", "--id", "waits")
    shard = max((firn.folder / "warehouse/wal").rglob("*.parquet"), key=lambda path: path.stat().st_mtime_ns).parent
    first = shard / f"{1:020}.parquet"
    assert (shard / f"{2:020}.parquet").exists()
    good = first.read_bytes()
    first.unlink()
    yield ("shift", TABLE)
    first.write_bytes(good)
    (firn.folder / "firn.yaml").unlink()
    return 2006


def run(firn, arguments):
    """Runs without the rights of root, where it is root who tests."""
    prefix = []
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root reads and writes everything, and setpriv is not installed")
        prefix = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
    return subprocess.run([*prefix, PROGRAM, *arguments], cwd=firn.folder, capture_output=True, text=True, timeout=120)


def documented():
    """The document's table: {input: (message, code)}."""
    rows = re.findall(r"^\| (?!input )([^|-][^|]*?) \| `(.*)` \| (\d) \|$", DOCUMENT.read_text(), re.M)
    return {name: (message.replace("\\|", "|"), int(code)) for name, message, code in rows}


def pattern_of(message):
    """`<...>` in a message stands for something that differs from run to run."""
    parts = re.split(r"<[a-z ]+>", message)
    return ".+?".join(re.escape(part) for part in parts)


def update_document(name, message, code):
    text = DOCUMENT.read_text()
    row = f"| {name} | `{message.replace('|', chr(92) + '|')}` | {code} |"
    found = re.compile(rf"^\| {re.escape(name)} \| .*$", re.M)
    text = found.sub(lambda _: row, text) if found.search(text) else text.replace("\n\n<!-- end -->", f"\n{row}\n\n<!-- end -->")
    DOCUMENT.write_text(text)


def generalized(message, firn):
    """A message with names in the place of what differs from run to run."""
    message = message.replace(str(firn.folder), "<folder>")
    message = re.sub(r"[0-9A-HJKMNP-TV-Z]{26}-\d{5}\.parquet", "<file>.parquet", message)
    message = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}", "<uuid>", message)
    message = re.sub(r"snapshot \d{12,}", "snapshot <snapshot>", message)
    return re.sub(r"[\w-]+-[0-9A-HJKMNP-TV-Z]{26}", "<shard>", message)


@pytest.fixture
def people(firn):
    write(firn, "people.csv", PEOPLE)
    firn.run("table", "create", TABLE, "--columns", "id long not null, name string, born date", "--sort-by", "id")
    firn.run("load", TABLE, "people.csv", "--id", "first")
    return firn


@pytest.mark.parametrize("name", CASES)
def test_bad_input(people, name):
    break_and_repair, code = CASES[name]
    steps = break_and_repair(people)
    result = run(people, next(steps))
    expected_rows = 6
    try:
        next(steps)
    except StopIteration as end:
        expected_rows = end.value or expected_rows
    (line,) = result.stderr.splitlines()
    assert result.returncode == code and line.startswith("firn: "), (result.returncode, result.stdout, line)
    assert result.stdout == ""
    assert len(people.rows(TABLE)) == 3, "something was committed"
    if os.environ.get("FIRN_UPDATE_DOCS"):
        update_document(name, generalized(line, people), code)
    message, documented_code = documented()[name]
    assert re.fullmatch(pattern_of(message), line), f"{line}\nis not what the document says:\n{message}"
    assert documented_code == code
    people.run(*LOAD)
    assert len(people.rows(TABLE)) == expected_rows


def test_the_document_has_no_row_without_a_test():
    assert set(documented()) == set(CASES)


@pytest.fixture
def small_disk(firn):
    """Mounts a file system of a few pages at a folder, and can fill and widen it."""
    disk = firn.folder / "disk"
    disk.mkdir()

    class Disk:
        path = disk

        def resize(self, size):
            subprocess.run(["mount", "-o", f"remount,size={size}", disk], check=True)

        def fill(self, free_bytes):
            """Takes all but so many bytes."""
            (disk / "filler").unlink(missing_ok=True)
            numbers = os.statvfs(disk)
            size = numbers.f_bavail * numbers.f_frsize - free_bytes
            with (disk / "filler").open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, max(size, 1))

        def clear(self):
            (disk / "filler").unlink()

    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk], capture_output=True, text=True)
    if mounted.returncode != 0:
        pytest.skip(f"mounting is not allowed here: {mounted.stderr.strip()}")
    yield Disk()
    # Lazily: readers of the test itself may still have files open.
    subprocess.run(["umount", "-l", disk], check=True)


def assert_fails_for_space(firn, arguments):
    """True if the disk was large enough after all."""
    result = firn.start(*arguments)
    stdout, stderr = result.communicate(timeout=120)
    if result.returncode == 0:
        return True
    assert result.returncode == 1
    # A load also says how to go on.
    (line,) = [line for line in stderr.splitlines() if not line.startswith("load ")]
    assert line.startswith("firn: ") and ("No space left" in line or "is full" in line), line
    return False


def rows_of(firn, folder):
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog("firn", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}")
    return sorted(catalog.load_table(TABLE).scan().to_arrow()["id"].to_pylist())


PAGE = 4096


@pytest.mark.parametrize("steps", ["load", "shift"])
def test_no_space_left_at_any_write_step(firn, small_disk, steps):
    """From a full disk on one page more is free in each run, so that each write is once the one that fails."""
    warehouse = small_disk.path
    ids = list(range(400))
    write(firn, "people.csv", HEADER + "".join(f"{i},name {i},1900-01-01\n" for i in ids))
    flags = ("--warehouse", warehouse, "--log-level", "error")
    firn.run("table", "create", TABLE, "--columns", "id long not null, name string, born date", *flags)
    load = ("load", TABLE, "people.csv", "--id", "once", *flags)
    if steps == "shift":
        firn.run(*load, "--wal-only")
    failures = 0
    for free in range(0, 100 * PAGE, PAGE):
        small_disk.fill(free)
        done = assert_fails_for_space(firn, load if steps == "load" else ("shift", TABLE, *flags))
        small_disk.clear()
        rows = rows_of(firn, warehouse)
        assert rows == (ids if done else []), f"{len(rows)} rows with {free} bytes free"
        if done:
            break
        failures += 1
    assert done and failures > 3
    assert "nothing" in firn.run(*load).stdout
    assert rows_of(firn, warehouse) == ids


def test_no_space_left_for_a_first_pass(firn, small_disk):
    """Rows of a merge of too many runs wait in TMPDIR, which is full: the warehouse is elsewhere."""
    ids = list(range(40_000))
    firn.configure("wal:\n  flush_bytes: 64KiB\nmerge:\n  max_open_runs: 2\n")
    write(firn, "people.csv", HEADER + "".join(f"{i},name {i},1900-01-01\n" for i in ids))
    firn.run("load", TABLE, "people.csv", "--create", "--sort-by", "name", "--id", "once", "--wal-only")
    small_disk.fill(16 * PAGE)
    result = firn.run("shift", TABLE, "--log-level", "error", code=1, TMPDIR=str(small_disk.path))
    (line,) = result.stderr.splitlines()
    assert line == (
        f"firn: shift of {TABLE}: keeping the rows of a first pass: cannot write a temporary file in {small_disk.path}: "
        "No space left on device; free space there, or set TMPDIR to a directory with more room"
    )
    small_disk.clear()
    small_disk.resize("64m")
    firn.run("shift", TABLE, TMPDIR=str(small_disk.path))
    assert sorted(firn.rows(TABLE)["id"].to_pylist()) == ids
