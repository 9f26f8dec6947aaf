"""inspect, check, table create: what they print, for people and for programs."""

import json
import pathlib
import re

import pytest

MANY = "id,name,born\n" + "".join(f"{i},name {i % 7},{1900 + i % 3}-01-01\n" for i in range(300))
HOSTILE = "\x1b[31mred\x1b[0m"


@pytest.fixture
def people(firn):
    (firn.folder / "people.csv").write_text(MANY)
    firn.run("load", "db.people", "people.csv", "--create", "--partition-by", "year(born)", "--sort-by", "name")
    return firn


def local(location):
    return pathlib.Path(location.removeprefix("file://"))


def manifest_list(firn):
    return firn.table("db.people").current_snapshot().manifest_list


def test_a_manifest_list_shows_counts_and_decoded_partitions(people):
    people.run("load", "db.people", "people.csv")
    shown = people.json("inspect", "manifest", manifest_list(people))
    theirs = people.table("db.people").inspect.manifests().to_pylist()
    assert [(m["path"], m["bytes"], m["added_files"]) for m in shown["manifests"]] == [
        (m["path"], m["length"], m["added_data_files_count"]) for m in theirs]
    ids = [m["snapshot_id"] for m in shown["manifests"]]
    assert ids == [str(m["added_snapshot_id"]) for m in theirs], "a JSON number would be rounded"
    (born,) = shown["manifests"][0]["partitions"]
    assert born == {"name": "born_year", "nulls": False, "lower": "1900", "upper": "1902"}
    text = people.run("inspect", "manifest", local(manifest_list(people))).stdout
    assert "born_year 1900 to 1902" in text and "3 (300 rows)" in text


def test_a_manifest_shows_files_and_decoded_bounds(people):
    (manifest,) = people.json("inspect", "manifest", manifest_list(people))["manifests"]
    shown = people.json("inspect", "manifest", manifest["path"])
    theirs = people.table("db.people").inspect.entries().to_pylist()
    assert [entry["path"] for entry in shown["entries"]] == [entry["data_file"]["file_path"] for entry in theirs]
    for ours, entry in zip(shown["entries"], theirs):
        metrics = entry["readable_metrics"]
        assert ours["snapshot_id"] in (None, str(entry["snapshot_id"]))
        assert ours["rows"] == entry["data_file"]["record_count"]
        assert ours["columns"]["name"]["lower"] == metrics["name"]["lower_bound"]
        assert ours["columns"]["id"]["upper"] == str(metrics["id"]["upper_bound"])
        assert ours["columns"]["born"]["lower"] == str(metrics["born"]["lower_bound"])
        assert ours["columns"]["id"]["nulls"] == metrics["id"]["null_value_count"]
    text = people.run("inspect", "manifest", local(manifest["path"])).stdout
    assert "partition spec 0: born_year = year(born)" in text
    assert re.search(r"born +date .* 1900-01-01 +1902-01-01\n", text), text


def test_a_manifest_of_pyiceberg_is_shown_too(people):
    table = people.catalog.create_table("db.theirs", people.table("db.people").schema())
    table.append(people.rows("db.people"))
    (manifest,) = people.json("inspect", "manifest", table.current_snapshot().manifest_list)["manifests"]
    (entry,) = people.json("inspect", "manifest", manifest["path"])["entries"]
    assert entry["rows"] == 300 and entry["columns"]["name"]["upper"] == "name 6"


def test_snapshots_are_listed_with_the_names_that_lead_to_them(people):
    people.run("load", "db.people", "people.csv")
    first, second = (snapshot.snapshot_id for snapshot in people.table("db.people").snapshots())
    people.table("db.people").manage_snapshots().create_tag(first, "monday").commit()
    shown = people.json("inspect", "snapshots", "db.people")
    assert [(s["snapshot_id"], s["parent_snapshot_id"], s["refs"]) for s in shown] == [
        (str(first), None, ["monday"]), (str(second), str(first), ["main"])]
    assert [s["snapshot_id"] for s in people.json("inspect", "table", "db.people")["snapshots"]] == [
        str(first), str(second)]
    text = people.run("inspect", "snapshots", "db.people").stdout
    assert text.count("append") == 2 and "monday" in text
    people.run("table", "create", "db.new", "--columns", "a int")
    assert people.run("inspect", "snapshots", "db.new").stdout == "db.new has no snapshot yet\n"


def test_a_metadata_file_is_shown_without_its_catalog(people):
    path = local(people.table("db.people").metadata_location)
    (people.folder / "warehouse/catalog.db").rename(people.folder / "away.db")
    shown = people.json("inspect", "metadata", path)
    assert shown["table"] is None and shown["partition_by"] == "year(born)" and len(shown["snapshots"]) == 1
    assert people.json("inspect", "metadata", f"file://{path}") == shown | {"metadata_location": f"file://{path}"}
    assert "sort by       name asc" in people.run("inspect", "metadata", path).stdout
    for file, message in [("none.json", "none.json: no such file"), ("people.csv", "people.csv")]:
        assert message in people.run("inspect", "metadata", file, code=1).stderr


@pytest.mark.parametrize("content", [b"", b"id,name\n", b"Obj\x01", MANY.encode() * 9])
def test_what_is_no_manifest_is_named(firn, content):
    (firn.folder / "file").write_bytes(content)
    result = firn.run("inspect", "manifest", "file", code=1)
    (line,) = result.stderr.splitlines()
    assert line.startswith("firn: file: ")


def test_a_manifest_that_was_cut_is_corrupt(people):
    path = local(manifest_list(people))
    for size in range(0, path.stat().st_size, 97):
        (people.folder / "cut.avro").write_bytes(path.read_bytes()[:size])
        result = people.run("inspect", "manifest", "cut.avro", code=1)
        assert result.stderr.startswith("firn: cut.avro: ") and result.stdout == ""


def test_keys_with_escape_codes_and_long_keys_never_reach_the_terminal(firn):
    (firn.folder / "hostile.csv").write_text(f"name\n{HOSTILE}\n{'x' * 5000}\n")
    firn.run("load", "db.h", "hostile.csv", "--create", "--sort-by", "name")
    (segment,) = (firn.folder / "warehouse/wal").rglob("*.parquet")
    listed = manifest_list_of(firn, "db.h")
    (manifest,) = firn.json("inspect", "manifest", listed)["manifests"]
    for command in (["inspect", "files", "db.h"], ["inspect", "segment", segment], ["inspect", "table", "db.h"],
                    ["inspect", "wal", "db.h"], ["inspect", "manifest", listed],
                    ["inspect", "manifest", manifest["path"]]):
        text = firn.run(*command).stdout
        assert "\x1b" not in text and all(len(line) < 400 for line in text.splitlines()), text
    (file,) = firn.json("inspect", "files", "db.h")
    assert file["first_key"] == HOSTILE, "a program gets it as it is"


def manifest_list_of(firn, table):
    return firn.table(table).current_snapshot().manifest_list


def test_an_error_about_a_hostile_name_is_one_harmless_line(firn):
    result = firn.run("load", "db.t", "no\n\x1b[2Jsuch.csv", code=1)
    assert result.stderr == "firn: no\\n\\x1b[2Jsuch.csv: no file matches\n"


def test_table_create_from_a_column_list(firn):
    firn.run("table", "create", "db.t", "--columns", "ts timestamptz not null, service string, price decimal(9, 2)",
             "--partition-by", "day(ts)", "--sort-by", "service desc",
             "--property", "write.parquet.compression-codec=snappy", "--property", "owner=me=you")
    table = firn.table("db.t")
    assert [(f.name, str(f.field_type), f.required) for f in table.schema().fields] == [
        ("ts", "timestamptz", True), ("service", "string", False), ("price", "decimal(9, 2)", False)]
    assert table.properties["write.parquet.compression-codec"] == "snappy"
    assert table.properties["owner"] == "me=you"
    assert firn.json("table", "show", "db.t")["sort_by"] == "service desc nulls last"


def test_table_create_from_a_schema_file(firn):
    fields = [{"id": 7, "name": "id", "type": "long", "required": True},
              {"id": 8, "name": "tags", "required": False, "type": {
                  "type": "list", "element-id": 9, "element": "string", "element-required": False}}]
    (firn.folder / "schema.json").write_text(json.dumps({"type": "struct", "schema-id": 0, "fields": fields}))
    firn.run("table", "create", "db.t", "--schema", "schema.json", "--sort-by", "id")
    assert [f.field_id for f in firn.table("db.t").schema().fields] == [1, 2]


@pytest.mark.parametrize("arguments, message", [
    ([], "either --columns or --schema"),
    (["--columns", "a int", "--schema", "x"], "either --columns or --schema"),
    (["--columns", "a"], "'a': write a name and a type"),
    (["--columns", "a lung"], "'a lung'"),
    (["--columns", "a int, a string"], "two columns have the name 'a'"),
    (["--columns", "a int", "--property", "x"], "--property x: write NAME=VALUE"),
    (["--columns", "a int", "--property", "x=1", "--property", "x=2"], "--property x: given twice"),
    (["--columns", "a int", "--property", "write.parquet.compression-codec=zip"], "write.parquet.compression-codec"),
    (["--columns", "a int", "--property", "write.parquet.compression-level=99"], "level 99"),
    (["--columns", "a int", "--property", "write.parquet.row-group-size-bytes=big"], "row-group-size-bytes"),
    (["--columns", "a int", "--property", "write.metadata.metrics.default=some"], "write.metadata.metrics.default"),
    (["--columns", "a int", "--property", "write.data.path=here"], "write.data.path"),
    (["--columns", "a int", "--property", "write.folder-storage.path=here"],
     "write.folder-storage.path"),
    *[
        (["--columns", "a int", "--property", f"{name}={path}"], f"table property {name}: {words}")
        for name in ("write.data.path", "write.metadata.path")
        for path, words in (
            ("ftp://host/a", "there is no storage for ftp://"),
            ("hdfs://host/a", "there is no storage for hdfs://"),
            ("here", "location 'here' is relative"),
            ("/lake/../other", "object key 'lake/../other' has a part '.' or '..'"),
            ("/lake/./other", "object key 'lake/./other' has a part '.' or '..'"),
            ("s3://bucket/../other", "object key '../other' has a part '.' or '..'"),
            ("s3://bucket//other", "object key"),
            ("s3:///folder", "'s3:///folder' names no bucket"),
            ("s3://bucket/a#1", "'s3://bucket/a#1': other programs cut a location in S3 off at '#'"),
            ("s3://bucket/a?b/c", "'s3://bucket/a?b/c': other programs cut a location in S3 off at '?'"),
        )
    ],
    (["--columns", "a int", "--property", "format-version=1"], "of version 2 or 3"),
])
def test_table_create_refuses_what_a_shift_could_not_use(firn, arguments, message):
    (firn.folder / "x").write_text("{}")
    result = firn.run("table", "create", "db.t", *arguments, code=2)
    (line,) = result.stderr.splitlines()
    assert message in line
    firn.run("table", "create", "db.other", "--columns", "a int")
    assert firn.json("table", "list") == ["db.other"]


@pytest.mark.parametrize("name, value", [
    ("write.parquet.compression-codec", "zip"),
    ("write.data.path", "ftp://host/a"),
    ("write.data.path", "/lake/../other"),
])
def test_a_property_that_another_program_set_is_found_before_a_record_is_durable(people, name, value):
    with people.table("db.people").transaction() as change:
        change.set_properties({name: value})
    result = people.run("load", "db.people", "people.csv", "--wal-only", code=1)
    assert f"table property {name}" in result.stderr
    assert people.json("inspect", "wal", "db.people")["shards"][0]["waiting_segments"] == 0


def checks(firn, code=0):
    """What check finds, by subject."""
    result = firn.run("check", "--format", "json", code=code)
    found = json.loads(result.stdout)
    assert found["fine"] == (code == 0)
    return {check["subject"]: check for check in found["checks"]}


def wrong(firn):
    found = {subject: check["text"] for subject, check in checks(firn, code=1).items() if not check["fine"]}
    lines = firn.run("check", code=1)
    assert lines.stdout.count("WRONG") == len(found)
    assert lines.stderr.startswith(f"firn: {len(found)} of ")
    return found


def test_check_without_a_warehouse_is_fine_and_makes_nothing(firn):
    found = checks(firn)
    assert "not there yet" in found["catalog"]["text"]
    assert list(firn.folder.iterdir()) == []


def test_check_finds_all_that_is_there(people):
    found = checks(people)
    assert set(found) == {"warehouse", "WAL folder", "disks", "memory", "catalog", "WAL", "table db.people"}
    assert "firn, 1 table" in found["catalog"]["text"] and "1 segment (" in found["WAL"]["text"]
    text = people.run("check").stdout
    assert text.count("\n") == len(found) and "\x1b" not in text


def test_check_tells_a_log_whose_tables_the_catalog_does_not_have(people):
    catalog = people.folder / "warehouse/catalog.db"
    uuid = str(people.table("db.people").metadata.table_uuid)
    people.run("table", "create", "db.others", "--columns", "id long")
    people.run("table", "drop", "db.people")
    assert "1 segment (" in wrong(people)["WAL"] and uuid in wrong(people)["WAL"]
    (people.folder / "others.csv").write_text("id\n1\n")
    people.run("load", "db.others", "others.csv")
    assert f"of 2 tables; the catalog does not have 1 of them ({uuid})" in checks(people)["WAL"]["text"]
    catalog.unlink()
    found = wrong(people)
    assert list(found) == ["WAL"] and "bring its file back" in found["WAL"]


def test_check_names_a_table_of_two_names(people):
    people.catalog.register_table("db.twin", people.table("db.people").metadata_location)
    found = wrong(people)
    assert list(found) == ["tables db.people and db.twin"]
    assert "share one log" in found["tables db.people and db.twin"]
    people.catalog.drop_table("db.twin")
    checks(people)


def test_check_looks_at_followed_folders(people):
    people.configure("""sources:
  files:
    - {table: db.people, path: incoming}
    - {table: db.nobody, path: other}
    - {table: db.people, path: people.csv}
""")
    found = wrong(people)
    assert "its table db.nobody is not there" in found["files other"]
    assert "incoming is not a folder" in found["files incoming"]
    assert "people.csv is not a folder" in found["files people.csv"]
    (people.folder / "incoming").mkdir()
    people.configure("sources: {files: [{table: db.people, path: incoming}]}")
    assert checks(people)["files incoming"]["text"] == "* go into db.people"


def test_check_reads_every_table(people):
    people.run("table", "create", "db.level", "--columns", "a int")
    with people.table("db.level").transaction() as change:
        change.set_properties({"write.parquet.compression-level": "99"})
    people.catalog.create_table("db.old", people.table("db.people").schema(), properties={"format-version": "1"})
    people.run("table", "create", "db.gone", "--columns", "a int")
    local(people.table("db.gone").metadata_location).unlink()
    found = wrong(people)
    assert set(found) == {"table db.level", "table db.old", "table db.gone"}
    assert "level 99" in found["table db.level"]
    assert "format version 1" in found["table db.old"]
    assert "its metadata file is gone" in found["table db.gone"]


@pytest.mark.parametrize("text, subject, message", [
    ("memory_limit: 900TiB\n", "memory", "set memory_limit lower"),
    ("wal:\n  path: warehouse/db/people/wal\n", "table db.people", "WAL"),
    ("wal:\n  path: people.csv/wal\n", "WAL folder", "people.csv is not a folder"),
    ("wal:\n  flush_bytes: 900TiB\n", "WAL folder", "make room"),
    ("tables:\n  - name: db.peopl\n", "table db.peopl", "the nearest is db.people"),
    ("tables:\n  - name: db.people\n    non_empty_partition_fields: [tenant]\n", "table db.people", "tenant"),
    ("catalog:\n  uri: sqlite:///people.csv\n", "catalog", "not a SQLite database"),
])
def test_check_tells_what_is_wrong_with_the_configuration(people, text, subject, message):
    people.configure(text)
    found = wrong(people)
    assert message in found[subject], found
