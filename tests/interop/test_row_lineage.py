"""Tables of format version 3: every row has an id for life, whichever engine wrote it and whoever wrote after."""

import pyarrow as pa
import pytest
from events import (
    BATCH,
    FIRN_COLUMNS,
    MERGE_ON_READ,
    SCHEMA,
    SPARK_COLUMNS,
    TABLE,
    events,
    firn_appends_losing_nothing,
    readers_agree,
    spark_appends,
)
from metadata import lost

LINEAGE = f"SELECT id, _row_id, _last_updated_sequence_number AS updated FROM {TABLE}"
VERSION_3 = "'format-version'='3'"


def lineage(spark):
    """For each event, the id of its row and the commit that wrote it; no id is there twice."""
    rows = spark.sql(LINEAGE).collect()
    ids = [row["_row_id"] for row in rows if row["_row_id"] is not None]
    assert len(set(ids)) == len(ids)
    return {row["id"]: (row["_row_id"], row["updated"]) for row in rows}


def lineage_since(spark, seen):
    """The same; earlier rows keep their ids and the commit that wrote them."""
    now = lineage(spark)
    assert now | seen == now
    return now


def creates(spark, *properties, layout=""):
    spark.sql("CREATE NAMESPACE db")
    spark.sql(f"CREATE TABLE {TABLE} {SPARK_COLUMNS} USING iceberg {layout} TBLPROPERTIES ({', '.join(properties)})")


def ids_of_the_metadata_are_right(lake):
    """What a table of format version 3 says of row ids holds together (Iceberg spec, "Snapshot Row IDs")."""
    metadata = lake.metadata(TABLE)
    for snapshot in metadata["snapshots"]:
        if "first-row-id" in snapshot:
            assert snapshot["first-row-id"] + snapshot["added-rows"] <= metadata["next-row-id"]
    return metadata


@pytest.mark.parametrize("layout", ["", "PARTITIONED BY (name)", "PARTITIONED BY (bucket(3, id), days(ts))"])
def test_spark_reads_the_ids_of_rows_that_firn_and_spark_append_in_turn(lake, spark, layout):
    creates(spark, VERSION_3, layout=layout)
    firn_appends_losing_nothing(lake, events(0))
    seen = lineage(spark)
    assert sorted(row for row, _ in seen.values()) == list(range(BATCH))
    for turn in range(1, 5):
        if turn % 2:
            before = lake.metadata(TABLE)
            spark_appends(spark, events(turn * BATCH))
            assert lost(before, lake.metadata(TABLE)) == []
        else:
            firn_appends_losing_nothing(lake, events(turn * BATCH))
        now = lineage_since(spark, seen)
        sequence = ids_of_the_metadata_are_right(lake)["last-sequence-number"]
        assert {now[i][1] for i in range(turn * BATCH, (turn + 1) * BATCH)} == {sequence}
        seen = now
    readers_agree(lake, spark, events(0, 5 * BATCH))


def test_rows_keep_their_ids_when_firn_merges_manifests(lake, spark):
    creates(spark, VERSION_3, "'commit.manifest.min-count-to-merge'='3'")
    spark_appends(spark, events(0))
    for turn in range(1, 5):
        seen = lineage(spark)
        firn_appends_losing_nothing(lake, events(turn * BATCH))
        lineage_since(spark, seen)
    spark_appends(spark, events(5 * BATCH))  # which merges in its turn
    lineage_since(spark, seen)
    assert "replace" in {each["summary"]["operation"] for each in lake.metadata(TABLE)["snapshots"]}
    ids_of_the_metadata_are_right(lake)


def test_rows_of_an_upgraded_table_get_ids_with_firn_s_first_append(lake, spark):
    creates(spark, "'format-version'='2'")
    spark_appends(spark, events(0))
    firn_appends_losing_nothing(lake, events(BATCH))
    spark.sql(f"ALTER TABLE {TABLE} SET TBLPROPERTIES ({VERSION_3})")
    assert {row for row, _ in lineage(spark).values()} == {None}
    firn_appends_losing_nothing(lake, events(2 * BATCH))
    seen = lineage(spark)
    assert None not in {row for row, _ in seen.values()}
    spark_appends(spark, events(3 * BATCH))
    firn_appends_losing_nothing(lake, events(4 * BATCH))
    lineage_since(spark, seen)
    readers_agree(lake, spark, events(0, 5 * BATCH))


def test_updates_and_deletion_vectors_of_spark_stay_behind_firn_s_appends(lake, spark):
    creates(spark, VERSION_3, MERGE_ON_READ, layout="PARTITIONED BY (bucket(2, id))")
    firn_appends_losing_nothing(lake, events(0))
    first = lineage(spark)
    spark.sql(f"DELETE FROM {TABLE} WHERE id = 2")
    spark.sql(f"UPDATE {TABLE} SET amount = 99 WHERE id = 0")
    updated = lineage(spark)
    assert updated[0][0] == first[0][0] and updated[0][1] > first[0][1]
    summary = firn_appends_losing_nothing(lake, events(BATCH))["snapshots"][-1]["summary"]
    assert summary["total-position-deletes"] == "2"
    lineage_since(spark, updated)
    assert {row.id for row in spark.table(TABLE).collect()} == set(range(2 * BATCH)) - {2}
    spark.sql(f"CALL firn.system.rewrite_data_files(table => '{TABLE}', options => map('rewrite-all', 'true'))")
    firn_appends_losing_nothing(lake, events(2 * BATCH))
    lineage_since(spark, updated)


def test_branches_of_a_table_share_its_ids(lake, spark):
    creates(spark, VERSION_3)
    spark_appends(spark, events(0))
    spark.sql(f"ALTER TABLE {TABLE} CREATE BRANCH audit")
    spark_appends(spark, events(500, 3), f"{TABLE}.branch_audit")
    firn_appends_losing_nothing(lake, events(BATCH))
    ids_of_the_metadata_are_right(lake)
    audit = {row["_row_id"] for row in spark.sql(f"SELECT _row_id FROM {TABLE}.branch_audit").collect()}
    main = {row for row, _ in lineage(spark).values()}
    assert len(audit | main) == 2 * BATCH + 3


def test_firn_makes_tables_of_version_3(lake):
    lake.firn("table", "create", TABLE, "--columns", "id long, name string, moment timestamp_ns",
              "--partition-by", "bucket(2, id)", "--property", "format-version=3")
    times = pa.array([0, -1, 1_700_000_000_123_456_789], pa.timestamp("ns"))
    rows = pa.table({"id": [1, 2, 3], "name": ["a", None, "c"], "moment": times})
    lake.firn_appends(TABLE, rows)
    metadata = ids_of_the_metadata_are_right(lake)
    assert metadata["format-version"] == 3 and metadata["next-row-id"] == 3
    assert "format-version" not in metadata["properties"]
    found = lake.open_duckdb(TABLE).sql(f"SELECT id, name, epoch_ns(moment) FROM {TABLE} ORDER BY id").fetchall()
    assert found == [(1, "a", 0), (2, None, -1), (3, "c", 1_700_000_000_123_456_789)]


def test_firn_and_spark_append_in_turn_to_a_table_of_version_3_by_firn(lake, spark):
    spark.sql("CREATE NAMESPACE db")
    lake.firn("table", "create", TABLE, "--columns", FIRN_COLUMNS,
              "--sort-by", "name desc, id", "--property", "format-version=3")
    for turn in range(0, 4, 2):
        spark_appends(spark, events(turn * BATCH))
        seen = lineage(spark)
        firn_appends_losing_nothing(lake, events((turn + 1) * BATCH))
        lineage_since(spark, seen)
    readers_agree(lake, spark, events(0, 4 * BATCH))


def test_an_encrypted_table_is_refused_before_a_record_is_durable(lake):
    lake.pyiceberg_creates(TABLE, SCHEMA, **{"encryption.key-id": "a"})
    done = lake.firn_appends(TABLE, events(0), code=1)
    assert "is encrypted" in done.stderr
    assert not list(lake.folder.glob("warehouse/wal/**/*.parquet"))
