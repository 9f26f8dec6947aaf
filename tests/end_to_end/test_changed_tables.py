"""PyIceberg changes the table between a load into the WAL and the shift of it."""

import pyarrow
import pytest
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import SortField, SortOrder
from pyiceberg.transforms import BucketTransform, IdentityTransform, TruncateTransform
from pyiceberg.types import DoubleType, FloatType, IntegerType, LongType, NestedField

ROWS = 500


def load(firn, *arguments):
    """Loads ids around 0."""
    rows = [f"{i - ROWS // 2}" for i in range(ROWS)]
    (firn.folder / "ids.csv").write_text("\n".join(["id", *rows]) + "\n")
    firn.run("load", "db.t", "ids.csv", *arguments)


def create(firn, column_type, transform):
    """A table of one column, partitioned and sorted by it."""
    firn.catalog.create_namespace("db")
    firn.catalog.create_table(
        "db.t",
        Schema(NestedField(1, "id", column_type, required=False)),
        partition_spec=PartitionSpec(PartitionField(1, 1000, transform, "part")),
        sort_order=SortOrder(SortField(1, IdentityTransform())),
    )


@pytest.mark.parametrize(
    "narrow, wide, transform",
    [
        (IntegerType(), LongType(), TruncateTransform(100)),
        (IntegerType(), LongType(), IdentityTransform()),
        (IntegerType(), LongType(), BucketTransform(4)),
        (FloatType(), DoubleType(), IdentityTransform()),
    ],
    ids=str,
)
def test_column_was_widened(firn, narrow, wide, transform):
    create(firn, narrow, transform)
    load(firn, "--wal-only")
    with firn.table("db.t").update_schema() as update:
        update.update_column("id", field_type=wide)
    load(firn)
    assert sorted(firn.rows("db.t")["id"].to_pylist()) == sorted(
        2 * list(range(-ROWS // 2, ROWS // 2))
    )
    partitions = [len(files) for files in firn.data_files("db.t").values()]
    assert set(partitions) == {1}, "rows of both types share the files of a partition"


def test_last_commit_expired(firn):
    load(firn, "--create")
    table = firn.table("db.t")
    ours = table.current_snapshot().snapshot_id
    table.append(pyarrow.table({"id": pyarrow.array([7], pyarrow.int64())}))
    table.maintenance.expire_snapshots().by_id(ours).commit()
    load(firn)
    assert firn.rows("db.t").num_rows == 2 * ROWS + 1


def test_format_that_cannot_be_written_is_refused_before_a_record_is_durable(firn):
    firn.catalog.create_namespace("db")
    schema = Schema(NestedField(1, "id", LongType(), required=False))
    firn.catalog.create_table("db.t", schema, properties={"format-version": "1"})
    (firn.folder / "ids.csv").write_text("id\n1\n")
    refused = firn.run("load", "db.t", "ids.csv", code=1)
    assert "format version 1" in refused.stderr
    assert "durable" not in refused.stdout


def test_partition_and_sort_columns_were_dropped(firn):
    (firn.folder / "people.csv").write_text("id,team,rank\n1,b,3\n2,a,2\n3,a,1\n")
    firn.run("load", "db.t", "people.csv", "--create", "--wal-only", "--partition-by", "team",
             "--sort-by", "rank")
    table = firn.table("db.t")
    with table.update_spec() as update:
        update.remove_field("team")
    with table.update_sort_order() as update:
        update.asc("id", IdentityTransform())
    for column in ("team", "rank"):
        with firn.table("db.t").update_schema() as update:
            update.delete_column(column)
    firn.run("plan", "db.t")
    firn.run("shift", "db.t")
    assert firn.rows("db.t").column_names == ["id"]
    assert sorted(firn.rows("db.t")["id"].to_pylist()) == [1, 2, 3]
    assert len(firn.json("inspect", "files", "db.t")) == 2
