"""Each server of tests/servers is what the other tests take it for."""

import os
import subprocess
import urllib.error
import urllib.request

import pyarrow as pa
import pyarrow.fs
import pytest
from pyiceberg.catalog.rest import RestCatalog

ROWS = pa.table({"id": [1, 2, 3], "name": ["a", None, "é"]})


def s3_properties(s3, secret="firn-secret"):
    return {
        "s3.endpoint": s3.uri,
        "s3.access-key-id": "firn",
        "s3.secret-access-key": secret,
        "s3.region": "us-east-1",
        "s3.force-virtual-addressing": "false",
    }


LISTENING = "0A"
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F"}  # 127.0.0.1, as Linux writes it


def listens_only_on_loopback(server):
    lines = [line.split() for file in ("/proc/net/tcp", "/proc/net/tcp6") for line in open(file)]
    addresses = {address.split(":")[0] for _, address, _, state, *_ in lines
                 if state == LISTENING and address.endswith(f":{server.port:04X}")}
    return bool(addresses) and addresses <= LOOPBACK


def test_postgres_knows_its_user_and_nobody_else(postgres):
    def ask(password):
        return subprocess.run(
            ["psql", "--host=127.0.0.1", f"--port={postgres.port}", "--username=firn", "--tuples-only", "--no-align",
             "--command=SELECT current_database()", "firn"],
            env={**os.environ, "PGPASSWORD": password}, capture_output=True, text=True)

    assert ask("firn").stdout.strip() == "firn"
    assert ask("wrong").returncode != 0
    assert listens_only_on_loopback(postgres)


def open_bucket(s3, secret):
    return pyarrow.fs.S3FileSystem(access_key="firn", secret_key=secret, endpoint_override=s3.uri, scheme="http",
                                   region="us-east-1", retry_strategy=pyarrow.fs.AwsStandardS3RetryStrategy(1))


def test_s3_keeps_objects_for_those_who_know_the_secret(s3):
    bucket = open_bucket(s3, "firn-secret")
    with bucket.open_output_stream("lake/greeting") as file:
        file.write(b"hello")
    assert bucket.open_input_file("lake/greeting").read() == b"hello"
    with pytest.raises(OSError):
        open_bucket(s3, "wrong").get_file_info(pyarrow.fs.FileSelector("lake"))
    assert listens_only_on_loopback(s3)


def test_s3_refuses_the_unsigned(s3):
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{s3.uri}/lake/greeting")
    assert refused.value.code == 403


def test_a_table_in_the_rest_catalog_lies_in_the_bucket(rest, s3):
    catalog = RestCatalog("rest", uri=rest.uri, **s3_properties(s3))
    catalog.create_namespace("db")
    table = catalog.create_table("db.letters", ROWS.schema)
    table.append(ROWS)
    assert table.location().startswith("s3://lake/rest/")
    assert catalog.load_table("db.letters").scan().to_arrow() == ROWS
    assert listens_only_on_loopback(rest)


def test_spark_and_pyiceberg_share_a_catalog(lake, spark):
    spark.sql("CREATE NAMESPACE db")
    spark.sql("CREATE TABLE db.letters (id bigint, name string) USING iceberg")
    lake.table("db.letters").append(ROWS)
    assert [tuple(row) for row in spark.table("db.letters").sort("id").collect()] == [(1, "a"), (2, None), (3, "é")]
