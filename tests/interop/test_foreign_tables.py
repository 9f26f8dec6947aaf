"""Tables with all that other engines leave in them: Firn's appends lose none of it, and the other engine goes on."""

import json

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from events import (
    BATCH,
    FIRN_COLUMNS,
    MERGE_ON_READ,
    SCHEMA,
    SPARK_COLUMNS,
    TABLE,
    content,
    events,
    firn_appends_losing_nothing,
    readers_agree,
    spark_appends,
    swap_metadata,
)
from lake import local_path
from metadata import lost
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.transforms import IdentityTransform


def manifests(lake):
    """What the manifest list of main's snapshot says of each manifest, by its path."""
    metadata = lake.metadata(TABLE)
    (current,) = (each for each in metadata["snapshots"] if each["snapshot-id"] == metadata["current-snapshot-id"])
    with local_path(current["manifest-list"]).open("rb") as file:
        return {line["manifest_path"]: line for line in fastavro.reader(file)}


def firn_appends_keeping_manifests(lake, rows):
    before = manifests(lake)
    after = firn_appends_losing_nothing(lake, rows)
    assert {path: line for path, line in manifests(lake).items() if path in before} == before
    return after


def evolved(rows):
    """The same events as rows of the evolved schema."""
    extra = pa.nulls(len(rows), pa.int32())
    return rows.rename_columns(["id", "name", "price", "ts"]).append_column("extra", extra)


@pytest.mark.parametrize("version", [2, 3])
def test_firn_and_spark_go_on_with_an_evolved_table_with_deletes_branches_tags_and_statistics(lake, spark, version):
    spark.sql("CREATE NAMESPACE db")
    spark.sql(f"CREATE TABLE {TABLE} {SPARK_COLUMNS} USING iceberg PARTITIONED BY (bucket(2, id)) "
              f"TBLPROPERTIES ('format-version'='{version}', 'team'='somebody', {MERGE_ON_READ})")
    spark.sql(f"ALTER TABLE {TABLE} WRITE ORDERED BY name DESC NULLS LAST, id")
    spark_appends(spark, events(0))
    spark.sql(f"DELETE FROM {TABLE} WHERE id = 2")
    spark.sql(f"ALTER TABLE {TABLE} CREATE TAG monday RETAIN 30 DAYS")
    spark.sql(f"ALTER TABLE {TABLE} CREATE BRANCH audit RETAIN 7 DAYS WITH SNAPSHOT RETENTION 2 SNAPSHOTS")
    spark_appends(spark, events(500, 1), f"{TABLE}.branch_audit")
    for change in ("RENAME COLUMN amount TO price", "ADD COLUMN extra int", "ADD PARTITION FIELD days(ts)",
                   "ALTER COLUMN name COMMENT 'of a person'"):
        spark.sql(f"ALTER TABLE {TABLE} {change}")
    spark.sql(f"CALL firn.system.compute_table_stats('{TABLE}')")
    spark.sql(f"CALL firn.system.compute_partition_stats('{TABLE}')")
    for turn in range(1, 5, 2):
        metadata = firn_appends_keeping_manifests(lake, evolved(events(turn * BATCH)))
        assert set(metadata["refs"]) == {"main", "monday", "audit"}
        assert metadata["statistics"] and metadata["partition-statistics"]
        before = lake.metadata(TABLE)
        spark_appends(spark, evolved(events((turn + 1) * BATCH)))
        assert lost(before, lake.metadata(TABLE)) == []
    firn_appends_keeping_manifests(lake, evolved(events(5 * BATCH)))
    left = pa.concat_tables([events(0, 2), events(3, 6 * BATCH - 3)])
    readers_agree(lake, spark, evolved(left))
    monday = spark.sql(f"SELECT id FROM {TABLE} VERSION AS OF 'monday'").collect()
    assert sorted(row.id for row in monday) == [0, 1, 3, 4, 5]
    audit = spark.sql(f"SELECT id FROM {TABLE}.branch_audit").collect()
    assert sorted(row.id for row in audit) == [0, 1, 3, 4, 5, 500]


def test_firn_and_pyiceberg_go_on_with_a_table_with_deletes_branches_and_tags(lake):
    spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "name"))
    lake.pyiceberg_creates(TABLE, SCHEMA, spec)
    lake.table(TABLE).append(events(0))
    first = lake.table(TABLE).current_snapshot().snapshot_id
    lake.table(TABLE).manage_snapshots().create_tag(first, "monday").create_branch(first, "audit").commit()
    lake.table(TABLE).append(events(500, 1), branch="audit")
    firn_appends_keeping_manifests(lake, events(BATCH))
    lake.table(TABLE).delete("id = 2 or id = 8")
    before = lake.metadata(TABLE)
    metadata = firn_appends_keeping_manifests(lake, events(2 * BATCH))
    assert lost(before, metadata) == []
    lake.table(TABLE).overwrite(events(3, 1), "id = 3")
    firn_appends_keeping_manifests(lake, events(3 * BATCH))
    left = [row for row in events(0, 4 * BATCH).to_pylist() if row["id"] not in (2, 8)]
    table = lake.table(TABLE)
    assert content(table.scan().to_arrow()) == content(pa.Table.from_pylist(left, events(0).schema))
    assert content(table.scan().use_ref("monday").to_arrow()) == content(events(0))
    assert content(table.scan().use_ref("audit").to_arrow()) == content(
        pa.concat_tables([events(0), events(500, 1)]))


def test_encryption_keys_and_what_snapshots_say_of_them_are_kept(lake):
    lake.firn("table", "create", TABLE, "--columns", FIRN_COLUMNS,
              "--property", "format-version=3")
    lake.firn_appends(TABLE, events(0))
    metadata = lake.metadata(TABLE)
    metadata["encryption-keys"] = [{"key-id": "a", "encrypted-key-metadata": "c2VjcmV0", "encrypted-by-id": "b",
                                    "properties": {"made-by": "somebody"}}]
    swap_metadata(lake, metadata)
    after = firn_appends_keeping_manifests(lake, events(BATCH))
    assert after["encryption-keys"] == metadata["encryption-keys"]


def test_files_without_field_ids_and_their_name_mapping_stay(lake):
    lake.pyiceberg_creates(TABLE, SCHEMA)
    foreign = lake.folder / "foreign.parquet"
    pq.write_table(events(0), foreign)
    lake.table(TABLE).add_files([f"file://{foreign}"])
    mapping = lake.metadata(TABLE)["properties"]["schema.name-mapping.default"]
    after = firn_appends_keeping_manifests(lake, events(BATCH))
    assert after["properties"]["schema.name-mapping.default"] == mapping
    listed = json.loads(lake.firn("inspect", "files", TABLE, "--format", "json").stdout)
    assert str(foreign) in json.dumps(listed)
    assert content(lake.table(TABLE).scan().to_arrow()) == content(events(0, 2 * BATCH))
