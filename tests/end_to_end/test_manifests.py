"""Small manifests are merged, as the table's properties say, and every reader reads alike."""

import json
import pathlib

import fastavro


def test_manifests_do_not_grow_with_the_number_of_loads(firn, duck):
    (firn.folder / "ids.csv").write_text("id,name\n1,a\n2,b\n3,\n")
    load = ["load", "db.t", "ids.csv", "--partition-by", "name"]
    firn.run(*load, "--create")
    with firn.table("db.t").transaction() as change:
        change.set_properties({"commit.manifest.min-count-to-merge": "4"})
    printed = "".join(firn.run(*load).stdout for _ in range(8))
    assert "merged 4 small manifests" in printed

    table = firn.table("db.t")
    assert len(table.current_snapshot().manifests(table.io)) <= 4
    assert sorted(table.scan().to_arrow()["id"].to_pylist()) == sorted([1, 2, 3] * 9)
    assert table.current_snapshot().summary["total-records"] == "27"
    rows = duck.sql(f"SELECT count(*), sum(id) FROM iceberg_scan('{table.metadata_location}')")
    assert rows.fetchone() == (27, 54)
    replaced = [s for s in table.snapshots() if s.summary.operation.value == "replace"]
    assert replaced and all(s.summary["total-data-files"] for s in replaced)
    for snapshot in table.snapshots():  # also those before a merge
        assert table.scan(snapshot_id=snapshot.snapshot_id).to_arrow().num_rows % 3 == 0


def test_what_a_later_version_says_of_manifests_is_kept(firn, duck):
    (firn.folder / "ids.csv").write_text("id,name\n1,a\n2,b\n3,\n")
    load = ["load", "db.t", "ids.csv", "--partition-by", "name"]
    firn.run(*load, "--create")
    marks = {"quality": 7, "origin": {"engine": "later", "tags": {"tier": 1, "shelf": 2}}}
    extend_manifest_list(list_of(firn.table("db.t")), marks)
    [marked] = read_avro(list_of(firn.table("db.t")))[1]
    for _ in range(2):
        firn.run(*load)
    table = firn.table("db.t")
    schema, lines = read_avro(list_of(table))
    assert lines[-1] == marked
    assert [line["quality"] for line in lines] == [None, None, 7]
    assert [line["partitions"][0]["distinct"] for line in lines] == [None, None, 42]
    assert schema["fields"][-1] == ORIGIN
    # PyIceberg cannot skip a struct.
    rows = duck.sql(f"SELECT count(*), sum(id) FROM iceberg_scan('{table.metadata_location}')")
    assert rows.fetchone() == (9, 18)


QUALITY = {"name": "quality", "type": ["null", "long"], "default": None, "field-id": 9000}
DISTINCT = {"name": "distinct", "type": ["null", "int"], "default": None, "field-id": 9010}
TAGS = {"type": "map", "values": "int", "key-id": 9004, "value-id": 9005}
ORIGIN = {
    "name": "origin",
    "type": [
        "null",
        {
            "type": "record",
            "name": "r9001",
            "fields": [
                {"name": "engine", "type": "string", "field-id": 9002},
                {"name": "tags", "type": TAGS, "field-id": 9003},
            ],
        },
    ],
    "default": None,
    "doc": "who wrote it",
    "field-id": 9001,
}


def list_of(table):
    return pathlib.Path(table.current_snapshot().manifest_list.removeprefix("file://"))


def read_avro(path):
    with path.open("rb") as file:
        reader = fastavro.reader(file)
        return json.loads(reader.metadata["avro.schema"]), list(reader)


def extend_manifest_list(path, marks):
    """As a writer of a later version would write it: each line says more, and so do its summaries."""
    schema, lines = read_avro(path)
    schema["fields"] += [QUALITY, ORIGIN]
    [partitions] = [field for field in schema["fields"] if field["name"] == "partitions"]
    partitions["type"][1]["items"]["fields"].append(DISTINCT)
    for line in lines:
        line.update(marks)
        for summary in line["partitions"]:
            summary["distinct"] = 42
    with path.open("wb") as file:
        fastavro.writer(file, schema, lines, codec="deflate", metadata={"format-version": "2"})
