"""Firn in a REST catalog: Iceberg's own server, and PyIceberg and Spark beside it."""

import json
import subprocess
import time

import pyarrow as pa
import pytest
from conftest import free_port
from events import (
    BATCH,
    SCHEMA,
    SPARK_COLUMNS,
    TABLE,
    content,
    events,
    firn_appends_losing_nothing,
    readers_agree,
    spark_appends,
)
from faulty_proxy import FaultyProxy
from lake import PROGRAM, local_path
from metadata import lost
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.table.sorting import SortField, SortOrder
from pyiceberg.transforms import IdentityTransform
from rest_lake import RestLake
from suites import passes, start_suite


@pytest.fixture
def lake(tmp_path, rest_on_disk):
    lake = RestLake(tmp_path, uri=rest_on_disk.uri)
    lake.drop_all()
    return lake


@pytest.mark.parametrize("suite, least", [("iceberg", 16), ("commit", 6)], ids=["iceberg", "commit"])
def test_the_suites_of_catalogs(rest_on_disk, suite, least):
    warehouse = f"file://{rest_on_disk.state}/rest/warehouse"
    started = start_suite(suite, "*/RestServer", FIRN_TEST_REST_URI=rest_on_disk.uri, FIRN_TEST_REST_WAREHOUSE=warehouse)
    assert passes(started) >= least


def test_a_table_made_by_firn_is_the_same_to_all(lake, spark):
    file = lake.write_parquet(events(0))
    lake.firn("load", TABLE, file, "--create", "--partition-by", "name", "--sort-by", "amount desc, id")
    lake.firn("load", TABLE, "--wal-only", lake.write_parquet(events(BATCH)))
    assert content(lake.table(TABLE).scan().to_arrow()) == content(events(0))
    lake.firn("shift", TABLE)
    readers_agree(lake, spark, events(0, 2 * BATCH))
    spark_appends(spark, events(2 * BATCH))
    lake.table(TABLE).append(events(3 * BATCH))
    firn_appends_losing_nothing(lake, events(4 * BATCH))
    readers_agree(lake, spark, events(0, 5 * BATCH))
    assert lake.metadata(TABLE)["snapshots"][-1]["summary"]["total-records"] == str(5 * BATCH)


def test_tables_are_listed_shown_and_dropped(lake):
    assert json.loads(lake.firn("table", "list", "--format", "json").stdout) == []  # no WAL is there yet
    lake.pyiceberg.create_namespace("db")
    lake.pyiceberg.create_namespace(("db", "inner"))
    for table in (TABLE, "db.inner.events"):
        lake.firn("load", table, lake.write_parquet(events(0)), "--create")
    listed = lake.firn("table", "list", "--format", "json").stdout
    assert TABLE in listed and "db.inner.events" in listed
    shown = json.loads(lake.firn("table", "show", TABLE, "--format", "json").stdout)
    assert str(lake.table(TABLE).metadata.table_uuid) in json.dumps(shown)
    files = [local_path(task.file.file_path) for task in lake.table(TABLE).scan().plan_files()]
    lake.firn("table", "drop", TABLE)
    assert not lake.pyiceberg.table_exists(TABLE)
    assert files and all(file.exists() for file in files), "dropped, not purged"
    assert "no table db.events" in lake.firn("load", TABLE, lake.write_parquet(events(0)), code=1).stderr


def test_tables_of_pyiceberg_lose_nothing(lake):
    spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "name"))
    lake.pyiceberg_creates(TABLE, SCHEMA, spec, SortOrder(SortField(1, IdentityTransform())), team="somebody")
    lake.table(TABLE).append(events(0))
    with lake.table(TABLE).manage_snapshots() as manage:
        manage.create_tag(lake.table(TABLE).current_snapshot().snapshot_id, "first")
    firn_appends_losing_nothing(lake, events(BATCH))
    before = lake.metadata(TABLE)
    lake.table(TABLE).append(events(2 * BATCH))
    assert lost(before, lake.metadata(TABLE)) == []
    firn_appends_losing_nothing(lake, events(3 * BATCH))
    assert content(lake.table(TABLE).scan().to_arrow()) == content(events(0, 4 * BATCH))


def test_tables_of_spark_lose_nothing(lake, spark):
    spark.sql("CREATE NAMESPACE db")
    spark.sql(f"CREATE TABLE {TABLE} {SPARK_COLUMNS} USING iceberg PARTITIONED BY (days(ts)) "
              "TBLPROPERTIES ('team'='somebody')")
    spark.sql(f"ALTER TABLE {TABLE} WRITE ORDERED BY name, id")
    firn_appends_losing_nothing(lake, events(0))  # the first snapshot of all
    spark_appends(spark, events(BATCH))
    spark.sql(f"ALTER TABLE {TABLE} CREATE BRANCH audit")
    spark.sql(f"ALTER TABLE {TABLE} ADD COLUMN extra int")
    firn_appends_losing_nothing(lake, events(2 * BATCH))
    assert content(spark.table(TABLE).toArrow(), SCHEMA.column_names) == content(events(0, 3 * BATCH))
    assert set(lake.metadata(TABLE)["refs"]) == {"main", "audit"}


def test_a_table_in_a_bucket(tmp_path, rest, s3):
    """The server's warehouse is in S3, where Firn's own keys reach it; its log lies beside it."""
    keys = {"s3.endpoint": s3.uri, "s3.access-key-id": "firn", "s3.secret-access-key": "firn-secret",
            "s3.region": "us-east-1"}
    lake = RestLake(tmp_path, uri=rest.uri, properties=keys)
    lake.configure(rest.uri, wal="s3://lake/wal", **keys)
    lake.firn("load", "bucket.events", lake.write_parquet(events(0)), "--create", "--partition-by", "name")
    lake.firn("load", "bucket.events", "--wal-only", lake.write_parquet(events(BATCH)))
    lake.firn("shift", "bucket.events")
    table = lake.table("bucket.events")
    assert table.location().startswith("s3://lake/rest/")
    assert content(table.scan().to_arrow()) == content(events(0, 2 * BATCH))
    lake.firn("table", "drop", "bucket.events")


def bad_gateway_after_applying(lake, send, answer):
    assert send()[0] == 200
    answer(502)


def drop_after_applying(lake, send, answer):
    assert send()[0] == 200


def conflict_with_the_same_request(lake, send, answer):
    """What a proxy does that lost the first answer."""
    assert send()[0] == 200
    status, body = send()
    assert status == 409
    answer(status, body)


def conflict_with_another(lake, send, answer):
    lake.table(TABLE).append(events(BATCH))
    status, body = send()
    assert status == 409
    answer(status, body)


def server_error_for_a_conflict(lake, send, answer):
    lake.table(TABLE).append(events(BATCH))
    assert send()[0] == 409
    answer(500)


def unavailable_and_not_applied(lake, send, answer):
    answer(503)


@pytest.mark.parametrize("fault, foreign, commits", [
    (bad_gateway_after_applying, False, 1),
    (drop_after_applying, False, 1),
    (conflict_with_the_same_request, False, 1),
    (conflict_with_another, True, 2),
    (server_error_for_a_conflict, True, 2),
    (unavailable_and_not_applied, False, 2),
])
def test_a_commit_that_is_spoiled_on_its_way_lands_once(lake, rest_on_disk, fault, foreign, commits):
    lake.pyiceberg_creates(TABLE, SCHEMA)
    lake.firn_appends(TABLE, events(0))
    with FaultyProxy(rest_on_disk.port, lambda send, answer: fault(lake, send, answer)) as proxy:
        lake.configure(proxy.uri)
        lake.firn_appends(TABLE, events(2 * BATCH))
    rows = lake.table(TABLE).scan().to_arrow()
    others = [events(BATCH)] if foreign else []
    assert content(rows) == content(pa.concat_tables([events(0), *others, events(2 * BATCH)]))
    assert proxy.commits == commits
    lake.configure(lake.uri)
    firn_appends_losing_nothing(lake, events(3 * BATCH))


def test_a_server_that_is_not_there_is_named(lake):
    port = free_port()
    lake.configure(f"http://somebody:s3cret@127.0.0.1:{port}", token="t0p-s3cret")
    begun = time.monotonic()
    said = lake.firn("load", TABLE, lake.write_parquet(events(0)), code=1).stderr
    assert f"127.0.0.1:{port}" in said and "s3cret" not in said
    assert time.monotonic() - begun < 30
    checked = lake.firn("check", code=1).stdout
    assert f"127.0.0.1:{port}" in checked and "s3cret" not in checked


def test_a_token_is_asked_for_and_a_wrong_credential_is_named(lake, rest_on_disk):
    """Iceberg's server gives a token to whoever asks, and wants none."""
    lake.configure(lake.uri, credential="firn:s3cret", scope="lake")
    lake.firn("load", TABLE, lake.write_parquet(events(0)), "--create")
    assert content(lake.table(TABLE).scan().to_arrow()) == content(events(0))
    nowhere = f"{lake.uri}/v1/nowhere"
    lake.configure(lake.uri, credential="firn:s3cret", **{"oauth2-server-uri": nowhere})
    said = lake.firn("table", "list", code=1).stderr
    assert "/v1/nowhere" in said and "s3cret" not in said


def test_eight_writers_append_twenty_times_each(lake):
    writers, appends = 8, 20
    lake.firn_creates(TABLE, json.loads(SCHEMA.model_dump_json()))
    numbers = iter(range(0, writers * appends * BATCH, BATCH))
    running = [start_appends(lake, [next(numbers) for _ in range(appends)]) for _ in range(writers)]
    for writer in running:
        output, _ = writer.communicate(timeout=600)
        assert writer.returncode == 0, output
    expected = events(0, writers * appends * BATCH)
    assert content(lake.table(TABLE).scan().to_arrow()) == content(expected)
    assert lake.metadata(TABLE)["snapshots"][-1]["summary"]["total-records"] == str(expected.num_rows)


def start_appends(lake, firsts):
    """One writer's loads, one after the other."""
    loads = " && ".join(f"{PROGRAM} load {TABLE} {lake.write_parquet(events(first))}" for first in firsts)
    return subprocess.Popen(["bash", "-c", loads], cwd=lake.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True)
