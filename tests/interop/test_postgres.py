"""PostgreSQL is the catalog of Firn, PyIceberg and Spark; what it does to commits when it fails."""

import concurrent.futures
import json
import os
import re
import subprocess
import sys
import time

import pytest
from conftest import new_database
from events import BATCH, SCHEMA, SPARK_COLUMNS, TABLE, content, events, readers_agree, spark_appends
from lake import PROGRAM, Lake, environment
from suites import passes, start_suite

def start_on(uri, module, tests):
    return start_suite(module, tests, FIRN_TEST_POSTGRES_URI=uri.replace("+pg8000", ""))


def test_the_catalog_keeps_what_every_catalog_promises(database):
    assert passes(start_on(database, "iceberg", "*/Postgres:Postgres*:*OnPostgres")) > 30


def test_many_writers_append_to_one_table(database):
    assert passes(start_on(database, "commit", "ManyWritersTest.*/Postgres")) == 1


def test_many_writers_evolve_one_table(database):
    assert passes(start_on(database, "commit", "EvolveTest.*/Postgres")) == 5


def test_many_writers_append_through_crashes(own_postgres):
    uri = new_database(own_postgres)
    suite = start_on(uri, "commit", "ManyWritersTest.*/Postgres")
    for commits in (20, 60, 100):
        await_commits(own_postgres, uri, commits)
        own_postgres.restart_after_a_crash()
    assert suite.poll() is None, "the server crashed too late"
    assert passes(suite) == 1


def await_commits(server, uri, commits):
    """Until the test's one table, in whichever schema, has so many."""
    tables = "SELECT schemaname FROM pg_tables WHERE tablename = 'iceberg_tables'"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for schema in ask(server, uri, tables):
            for location in ask(server, uri, f"SELECT metadata_location FROM {schema}.iceberg_tables"):
                if int(re.search(r"metadata/(\d+)-", location).group(1)) >= commits:
                    return
    raise AssertionError(f"no {commits} commits")


def ask(server, uri, sql):
    done = subprocess.run(
        ["psql", "--host=127.0.0.1", f"--port={server.port}", "--username=firn", "--tuples-only", "--no-align",
         f"--command={sql}", uri.rsplit("/", 1)[1]],
        env={**os.environ, "PGPASSWORD": "firn"}, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_pyiceberg_and_firn_append_in_turn(postgres_lake, spark_session):
    lake = postgres_lake
    lake.pyiceberg_creates(TABLE, SCHEMA).append(events(0))
    lake.firn_appends(TABLE, events(BATCH))
    lake.table(TABLE).append(events(2 * BATCH))
    lake.firn_appends(TABLE, events(3 * BATCH))
    readers_agree(lake, lake.open_spark(spark_session), events(0, 4 * BATCH))


@pytest.mark.parametrize("layout", ["V0", "V1"])
def test_spark_and_firn_share_a_catalog_of_either_layout(postgres_lake, postgres, spark_session, layout):
    lake = postgres_lake
    spark = lake.open_spark(spark_session, layout)
    spark.sql("CREATE NAMESPACE db")
    spark.sql(f"CREATE TABLE {TABLE} {SPARK_COLUMNS} USING iceberg")
    columns = ask(postgres, lake.uri,
                  "SELECT column_name FROM information_schema.columns WHERE table_name = 'iceberg_tables'")
    assert ("iceberg_type" in columns) == (layout == "V1")
    lake.firn_appends(TABLE, events(0))
    spark_appends(spark, events(BATCH))
    lake.firn_appends(TABLE, events(2 * BATCH))
    assert content(spark.table(TABLE).toArrow()) == content(events(0, 3 * BATCH))
    lake.firn("load", "db.ours", lake.write_parquet(events(0)), "--create")
    assert content(spark.table("db.ours").toArrow()) == content(events(0))
    assert {row.tableName for row in spark.sql("SHOW TABLES IN db").collect()} == {"events", "ours"}


def test_loads_through_crashes_land_each_row_once(own_postgres, tmp_path):
    """A load that fails is repeated under its id, as a script would."""
    lake = Lake(tmp_path, new_database(own_postgres))
    lake.pyiceberg_creates(TABLE, SCHEMA)
    files = [lake.write_parquet(events(i * BATCH)) for i in range(12)]

    def load(number):
        command = [PROGRAM, "load", TABLE, files[number], "--id", f"load-{number}"]
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            done = subprocess.run(command, cwd=lake.folder, env=environment(), capture_output=True, timeout=120)
            if done.returncode == 0:
                return
        raise AssertionError(f"load {number} never ended well: {done.stderr}")

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        loads = [pool.submit(load, number) for number in range(len(files))]
        for ended in (2, 5, 8):
            while sum(load.done() for load in loads) < ended:
                concurrent.futures.wait(loads, return_when=concurrent.futures.FIRST_COMPLETED, timeout=0.05)
            own_postgres.restart_after_a_crash()
        for load_ended in loads:
            load_ended.result()
    assert content(lake.table(TABLE).scan().to_arrow()) == content(events(0, len(files) * BATCH))


def finding(lake, code=0):
    """What `firn check` says of the catalog: (fine, text)."""
    output = lake.firn("check", "--format", "json", code=code).stdout
    assert "firn:firn" not in output and "s3cret" not in output
    checks = {check["subject"]: check for check in json.loads(output)["checks"]}
    return checks["catalog"]["fine"], checks["catalog"]["text"]


def test_check_reaches_the_database(postgres_lake, postgres, tmp_path):
    lake = postgres_lake
    address = f"postgresql://127.0.0.1:{postgres.port}/{lake.uri.rsplit('/', 1)[1]}"
    catalog = f"firn, at {address} (firn.yaml:2: catalog.uri)"
    assert finding(lake) == (True, f"{catalog}: not there yet, will be made")
    lake.firn("load", TABLE, lake.write_parquet(events(0)), "--create")
    assert finding(lake) == (True, catalog.replace("firn,", "firn, 1 table,"))
    ask(postgres, lake.uri, "ALTER TABLE iceberg_tables RENAME table_name TO name")
    assert finding(lake, code=1) == (
        False, f"{catalog}: {address}: table iceberg_tables is no catalog's, it has no column table_name; "
        "name another database")


def test_check_finds_a_role_that_can_only_read(postgres_lake, postgres):
    lake = postgres_lake
    lake.firn("load", TABLE, lake.write_parquet(events(0)), "--create")
    ask(postgres, lake.uri, "CREATE ROLE reader LOGIN PASSWORD 'reader'; GRANT USAGE ON SCHEMA public TO reader; "
                            "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
    reader = Lake(lake.folder, lake.uri.replace("firn:firn@", "reader:reader@"))
    fine, text = finding(reader, code=1)
    assert not fine and "can be read, but not changed" in text and "permission denied" in text


@pytest.mark.parametrize("change, words", [
    (("firn:firn@", "firn:s3cret@"), "password authentication failed"),
    (("/lake", "/no_such_lake"), "create the database first"),
    (("firn:firn@", "firn:s3@cret@"), "%40 for an '@'"),
], ids=["password", "database", "address"])
def test_check_says_why_the_database_cannot_be_used(tmp_path, database, change, words):
    fine, text = finding(Lake(tmp_path, database.replace(*change)), code=1)
    assert not fine and words in text


def test_check_says_that_no_server_answers(tmp_path):
    fine, text = finding(Lake(tmp_path, "postgresql://firn:s3cret@127.0.0.1:1/lake"), code=1)
    assert not fine and "postgresql://127.0.0.1:1/lake" in text and "Connection refused" in text


def test_one_file_tells_pyiceberg_and_firn(tmp_path, database):
    (tmp_path / ".pyiceberg.yaml").write_text(
        f"catalog:\n  prod:\n    uri: {database}\n    warehouse: file://{tmp_path}/lake\n")
    (tmp_path / "firn.yaml").write_text("catalog:\n  name: prod\n")
    lake = Lake(tmp_path)
    lake.firn("load", TABLE, lake.write_parquet(events(0)), "--create")
    reads = f"from pyiceberg.catalog import load_catalog; t = load_catalog('prod').load_table('{TABLE}'); " \
            "print(t.location(), t.scan().to_arrow().num_rows)"
    done = subprocess.run([sys.executable, "-c", reads], cwd=tmp_path, env=environment(), capture_output=True, text=True,
                          check=True)
    assert done.stdout.split() == [f"file://{tmp_path}/lake/db/events", str(BATCH)]
