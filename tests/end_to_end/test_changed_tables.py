"""PyIceberg changes the table between a load into the WAL and the shift of it."""

from decimal import Decimal

import pyarrow
import pytest
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table.sorting import SortField, SortOrder
from pyiceberg.transforms import BucketTransform, IdentityTransform, TruncateTransform
from pyiceberg.types import (
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
)

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


def test_every_change_of_a_schema_between_load_and_shift(firn):
    """Rows that PyIceberg's changes meet in the log, and rows that are written after them, land in one file."""
    point = StructType(NestedField(20, "x", IntegerType(), required=True), NestedField(21, "gone", StringType()))
    firn.catalog.create_namespace("db")
    table = firn.catalog.create_table("db.t", Schema(
        NestedField(1, "id", IntegerType(), required=True),
        NestedField(2, "name", StringType(), required=True),
        NestedField(3, "gone", StringType(), required=False),
        NestedField(4, "ratio", FloatType(), required=False),
        NestedField(5, "price", DecimalType(4, 2), required=False),
        NestedField(6, "point", point, required=False),
        NestedField(7, "points", ListType(22, point, element_required=False), required=False),
        NestedField(8, "counts", MapType(23, StringType(), 24, IntegerType(), value_required=False), required=False),
    ), sort_order=SortOrder(SortField(1, IdentityTransform())))

    (firn.folder / "before.ndjson").write_text(
        '{"id": 2, "name": "b", "gone": "x", "ratio": 2.5, "price": "12.25", "point": {"x": 2, "gone": "x"}, '
        '"points": [{"x": 3, "gone": "x"}, null], "counts": {"a": 4}}\n'
        '{"id": 4, "name": "d", "points": []}\n')  # PyIceberg reads a null list of structs as an empty one
    firn.run("load", "db.t", "before.ndjson", "--wal-only")

    with table.update_schema() as change:
        change.update_column("id", LongType())
        change.update_column("ratio", DoubleType())
        change.update_column("price", DecimalType(20, 2))
        change.update_column(("point", "x"), LongType())
        change.update_column(("points", "element", "x"), LongType())
        change.update_column(("counts", "value"), LongType())
        for required in ("name", "point.x", "points.element.x"):
            change.make_column_optional(required)
        for gone in ("gone", "point.gone", "points.element.gone"):
            change.delete_column(gone)
        change.add_column(("point", "new"), StringType())
        change.add_column(("points", "new"), StringType())
        change.add_column("new", DoubleType())
        change.rename_column("name", "title")
    with table.update_schema() as change:
        change.add_column("gone", DoubleType())  # another column of the same name
        change.move_first("new")

    (firn.folder / "after.ndjson").write_text(
        '{"new": 0.5, "id": 1099511627776, "title": null, "gone": 1.5, "ratio": 0.1, "price": "123456789012345.25", '
        '"point": {"x": 1099511627776, "new": "n"}, "points": [{"x": null, "new": "n"}], '
        '"counts": {"a": 1099511627776}}\n'
        '{"id": 3, "title": "c", "points": []}\n')
    firn.run("load", "db.t", "after.ndjson")

    nothing = dict.fromkeys(["new", "title", "ratio", "price", "point", "points", "counts", "gone"])
    big = 1099511627776
    assert firn.rows("db.t").to_pylist() == [
        nothing | {"id": 2, "title": "b", "ratio": 2.5, "price": Decimal("12.25"), "point": {"x": 2, "new": None},
                   "points": [{"x": 3, "new": None}, None], "counts": [("a", 4)]},
        nothing | {"id": 3, "title": "c", "points": []},
        nothing | {"id": 4, "title": "d", "points": []},
        nothing | {"new": 0.5, "id": big, "gone": 1.5, "ratio": 0.1, "price": Decimal("123456789012345.25"),
                   "point": {"x": big, "new": "n"}, "points": [{"x": None, "new": "n"}], "counts": [("a", big)]},
    ]
    assert [len(files) for files in firn.data_files("db.t").values()] == [1]


def test_spec_and_order_change_between_load_and_shift(firn):
    (firn.folder / "people.csv").write_text("id,team\n1,b\n2,a\n3,a\n")
    firn.run("load", "db.t", "people.csv", "--create", "--wal-only")
    table = firn.table("db.t")
    with table.update_spec() as change:
        change.add_field("team", IdentityTransform(), "team")
    with table.update_sort_order() as change:
        change.desc("id", IdentityTransform())
    firn.run("load", "db.t", "people.csv")
    files = [(task.file.spec_id, task.file.sort_order_id, task.file.record_count)
             for task in firn.table("db.t").scan().plan_files()]
    assert sorted(files) == [(0, 0, 3), (1, 1, 1), (1, 1, 2)]
    assert sorted(firn.rows("db.t")["id"].to_pylist()) == [1, 1, 2, 2, 3, 3]
    assert firn.table("db.t").scan(row_filter="team == 'a'").to_arrow().num_rows == 4
