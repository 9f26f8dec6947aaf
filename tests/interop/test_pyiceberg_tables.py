"""Firn appends to tables that PyIceberg made; PyIceberg reads, writes again, and nothing of its is lost."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from events import BATCH, SCHEMA, TABLE, content, events, firn_appends_losing_nothing, swap_metadata
from lake import local_path
from metadata import lost
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import NullOrder, SortDirection, SortField, SortOrder
from pyiceberg.transforms import BucketTransform, IdentityTransform
from pyiceberg.types import DoubleType, IntegerType, LongType, NestedField, StringType
from sqlalchemy.exc import OperationalError

ATTEMPTS = 50

LAYOUTS = {
    "plain": (PartitionSpec(), SortOrder()),
    "partitioned": (PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "name"),
                                  PartitionField(3, 1001, IdentityTransform(), "amount")), SortOrder()),
    "sorted": (PartitionSpec(), SortOrder(
        SortField(2, IdentityTransform(), SortDirection.DESC, NullOrder.NULLS_LAST),
        SortField(1, IdentityTransform(), SortDirection.ASC, NullOrder.NULLS_FIRST))),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_firn_and_pyiceberg_append_in_turn(lake, layout):
    lake.pyiceberg_creates(TABLE, SCHEMA, *LAYOUTS[layout], team="somebody")
    lake.table(TABLE).append(events(0))
    for turn in range(1, 5, 2):
        firn_appends_losing_nothing(lake, events(turn * BATCH))
        before = lake.metadata(TABLE)
        lake.table(TABLE).append(events((turn + 1) * BATCH))
        assert lost(before, lake.metadata(TABLE)) == []
    expected = events(0, 5 * BATCH)
    assert content(lake.table(TABLE).scan().to_arrow()) == content(expected)
    assert lake.metadata(TABLE)["snapshots"][-1]["summary"]["total-records"] == str(5 * BATCH)


def test_firn_follows_a_sort_order(lake):
    lake.pyiceberg_creates(TABLE, SCHEMA, *LAYOUTS["sorted"])
    firn_appends_losing_nothing(lake, events(0, 50))
    (task,) = lake.table(TABLE).scan().plan_files()
    assert task.file.sort_order_id == 1
    stored = pq.read_table(local_path(task.file.file_path))
    names = [name.encode() for name in stored["name"].drop_null().to_pylist()]
    assert names == sorted(names, reverse=True)
    assert stored["name"].to_pylist()[len(names):] == [None] * (50 - len(names))


def test_firn_follows_a_schema_that_pyiceberg_evolved(lake):
    lake.pyiceberg_creates(TABLE, Schema(NestedField(1, "id", IntegerType(), required=False),
                                         NestedField(2, "name", StringType(), required=True),
                                         NestedField(3, "gone", StringType(), required=False)))
    lake.firn_appends(TABLE, pa.table({"id": pa.array([1], pa.int32()), "name": ["a"], "gone": ["x"]}))
    with lake.table(TABLE).update_schema() as change:
        change.update_column("id", LongType())
        change.rename_column("name", "title")
        change.make_column_optional("name")
        change.delete_column("gone")
        change.add_column("gone", DoubleType())  # another column of the same name
    firn_appends_losing_nothing(lake, pa.table({"id": [2**40], "title": pa.array([None], pa.string()), "gone": [0.5]}))
    expected = pa.table({"id": [1, 2**40], "title": ["a", None], "gone": [None, 0.5]})
    assert content(lake.table(TABLE).scan().to_arrow(), expected.column_names) == content(expected)


def test_firn_follows_a_spec_that_pyiceberg_evolved(lake):
    lake.pyiceberg_creates(TABLE, SCHEMA, PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "name")))
    lake.table(TABLE).append(events(0))
    with lake.table(TABLE).update_spec() as change:
        change.remove_field("name")
        change.add_field("id", BucketTransform(4), "id_bucket")
    firn_appends_losing_nothing(lake, events(BATCH))
    assert {task.file.spec_id for task in lake.table(TABLE).scan().plan_files()} == {0, 1}
    assert content(lake.table(TABLE).scan().to_arrow()) == content(events(0, 2 * BATCH))


def test_a_table_with_rows_in_a_branch_only(lake):
    lake.pyiceberg_creates(TABLE, SCHEMA)
    lake.table(TABLE).append(events(0))
    metadata = lake.metadata(TABLE)
    metadata |= {"refs": {"audit": metadata["refs"]["main"]}, "current-snapshot-id": None, "snapshot-log": []}
    swap_metadata(lake, metadata)
    after = firn_appends_losing_nothing(lake, events(BATCH))
    assert set(after["refs"]) == {"audit", "main"}
    assert "parent-snapshot-id" not in after["snapshots"][-1]
    scans = {name: lake.table(TABLE).scan().use_ref(name).to_arrow() for name in after["refs"]}
    assert {name: content(rows) for name, rows in scans.items()} == {
        "audit": content(events(0)), "main": content(events(BATCH))}


def test_names_that_differ_only_in_case(lake):
    lake.pyiceberg_creates(TABLE, Schema(NestedField(1, "id", LongType(), required=False),
                                         NestedField(2, "ID", StringType(), required=False)),
                           PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "ID_part")))
    rows = pa.table({"id": [1, 2], "ID": ["a", "b"]})
    firn_appends_losing_nothing(lake, rows)
    assert content(lake.table(TABLE).scan().to_arrow()) == content(rows)


def append_until_it_lands(lake, rows):
    """A commit of PyIceberg's fails if somebody else's came first."""
    for _ in range(ATTEMPTS):
        try:
            return lake.table(TABLE).append(rows)
        except (CommitFailedException, OperationalError):
            continue
    pytest.fail(f"PyIceberg's append did not land in {ATTEMPTS} attempts")


def test_firn_and_pyiceberg_append_at_the_same_time(lake):
    lake.pyiceberg_creates(TABLE, SCHEMA)
    loads = [lake.start_append(TABLE, events(turn * BATCH)) for turn in range(4)]
    for turn in range(4, 8):
        append_until_it_lands(lake, events(turn * BATCH))
    for load in loads:
        output = load.communicate(timeout=300)
        assert load.returncode == 0, output
    assert content(lake.table(TABLE).scan().to_arrow()) == content(events(0, 8 * BATCH))
    assert lake.metadata(TABLE)["snapshots"][-1]["summary"]["total-records"] == str(8 * BATCH)


def test_unknown_fields_at_every_level_are_kept(lake):
    lake.pyiceberg_creates(TABLE, SCHEMA, *LAYOUTS["sorted"])
    lake.table(TABLE).append(events(0))
    metadata = lake.metadata(TABLE)
    stranger = {"from": ["the", "future"], "number": 12345678901234567890, "fraction": 0.1, "nothing": None}
    extended = add_to_every_object(metadata, stranger)
    swap_metadata(lake, extended)
    after = firn_appends_losing_nothing(lake, events(BATCH))
    assert count_of(stranger, after) == count_of(stranger, extended)
    assert content(lake.table(TABLE).scan().to_arrow()) == content(events(0, 2 * BATCH))


def test_the_metadata_log_is_as_long_as_the_table_wants_it(lake):
    lake.pyiceberg_creates(TABLE, SCHEMA, **{"write.metadata.previous-versions-max": "3"})
    for turn in range(5):
        lake.firn_appends(TABLE, events(turn * BATCH))
    log = lake.metadata(TABLE)["metadata-log"]
    assert len(log) == 3
    assert all(local_path(entry["metadata-file"]).exists() for entry in log)


def test_time_does_not_go_back_behind_a_writer_whose_clock_is_ahead(lake):
    lake.pyiceberg_creates(TABLE, SCHEMA)
    lake.table(TABLE).append(events(0))
    metadata = lake.metadata(TABLE)
    ahead = metadata["last-updated-ms"] + 30_000
    metadata["last-updated-ms"] = ahead
    for entry in (metadata["snapshots"][0], metadata["snapshot-log"][0]):
        entry["timestamp-ms"] = ahead
    swap_metadata(lake, metadata)
    after = firn_appends_losing_nothing(lake, events(BATCH))
    assert after["snapshots"][-1]["timestamp-ms"] >= ahead
    assert after["snapshot-log"][-1]["timestamp-ms"] >= ahead
    assert after["last-updated-ms"] >= ahead


def test_totals_are_right_behind_a_parent_that_has_none(lake):
    lake.pyiceberg_creates(TABLE, SCHEMA)
    lake.table(TABLE).append(events(0))
    metadata = lake.metadata(TABLE)
    summary = metadata["snapshots"][0]["summary"]
    metadata["snapshots"][0]["summary"] = {key: summary[key] for key in summary if not key.startswith("total-")}
    swap_metadata(lake, metadata)
    summary = firn_appends_losing_nothing(lake, events(BATCH))["snapshots"][-1]["summary"]
    assert summary.get("total-records", str(2 * BATCH)) == str(2 * BATCH)
    assert summary.get("total-data-files", "2") == "2"


@pytest.mark.parametrize("absent", ["current-snapshot-id", "snapshots", "snapshot-log", "metadata-log", "refs"])
def test_an_empty_table_may_leave_out_what_is_optional(lake, absent):
    lake.pyiceberg_creates(TABLE, SCHEMA)
    metadata = lake.metadata(TABLE)
    metadata.pop(absent, None)
    swap_metadata(lake, metadata)
    lake.firn_appends(TABLE, events(0))
    assert content(lake.table(TABLE).scan().to_arrow()) == content(events(0))


def test_no_snapshot_may_be_written_as_minus_one(lake):
    lake.pyiceberg_creates(TABLE, SCHEMA)
    swap_metadata(lake, lake.metadata(TABLE) | {"current-snapshot-id": -1})
    lake.firn_appends(TABLE, events(0))
    assert content(lake.table(TABLE).scan().to_arrow()) == content(events(0))


def test_a_table_that_was_once_of_format_version_1(lake):
    spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "name"))
    lake.pyiceberg_creates(TABLE, SCHEMA, spec, **{"format-version": "1", "commit.manifest.min-count-to-merge": "2"})
    lake.table(TABLE).append(events(0))
    lake.table(TABLE).append(events(BATCH))
    with lake.table(TABLE).transaction() as change:
        change.upgrade_table_version(2)
    firn_appends_losing_nothing(lake, events(2 * BATCH))
    lake.table(TABLE).append(events(3 * BATCH))
    firn_appends_losing_nothing(lake, events(4 * BATCH))
    assert content(lake.table(TABLE).scan().to_arrow()) == content(events(0, 5 * BATCH))
    assert content(lake.open_duckdb(TABLE).sql(f"FROM {TABLE}").to_arrow_table()) == content(events(0, 5 * BATCH))


TEXT_MAPS = {"properties", "summary", "refs"}


def add_to_every_object(value, stranger, key=""):
    if isinstance(value, list):
        return [add_to_every_object(each, stranger, key) for each in value]
    if not isinstance(value, dict):
        return value
    inner = {name: add_to_every_object(each, stranger, name) for name, each in value.items()}
    return inner if key in TEXT_MAPS else inner | {"x-stranger": stranger}


def count_of(stranger, value):
    if isinstance(value, dict):
        return (value.get("x-stranger") == stranger) + sum(count_of(stranger, each) for each in value.values())
    return sum(count_of(stranger, each) for each in value) if isinstance(value, list) else 0


def test_metadata_is_compressed_if_the_table_wants_it(lake):
    lake.pyiceberg_creates(TABLE, SCHEMA, **{"write.metadata.compression-codec": "gzip"})
    for turn in range(0, 4, 2):
        lake.table(TABLE).append(events(turn * BATCH))  # PyIceberg writes plain files all the same
        firn_appends_losing_nothing(lake, events((turn + 1) * BATCH))
        assert lake.metadata_file(TABLE).name.endswith(".gz.metadata.json")
    expected = content(events(0, 4 * BATCH))
    assert content(lake.table(TABLE).scan().to_arrow()) == expected
    # DuckDB takes no codec from a file's name.
    duck = lake.open_duckdb()
    rows = duck.sql(f"FROM iceberg_scan('{lake.metadata_file(TABLE)}', metadata_compression_codec='gzip')")
    assert content(rows.to_arrow_table()) == expected


def test_files_go_where_the_table_wants_them(lake):
    elsewhere = {f"write.{kind}.path": f"{lake.location}/elsewhere/{kind}" for kind in ("data", "metadata")}
    lake.pyiceberg_creates(TABLE, SCHEMA, **elsewhere)
    lake.firn_appends(TABLE, events(0))
    table = lake.table(TABLE)
    assert table.metadata_location.startswith(elsewhere["write.metadata.path"])
    assert table.current_snapshot().manifest_list.startswith(elsewhere["write.metadata.path"])
    (task,) = table.scan().plan_files()
    assert task.file.file_path.startswith(elsewhere["write.data.path"])
