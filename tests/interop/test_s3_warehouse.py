"""Warehouse and WAL in S3: `load` and `shift` write there, PyIceberg and DuckDB read from there."""

import json
import os
import subprocess
import uuid

import pyarrow as pa
import pytest
from counting_proxy import counting_proxy
from duckdb_reader import open_duckdb
from events import BATCH, TABLE, content, events
from pyiceberg.catalog.sql import SqlCatalog

SORT = "ts asc nulls first, id asc nulls first"


class S3Lake:
    """A warehouse in a folder of its own in the bucket; the catalog is a SQLite file."""

    def __init__(self, lake, uri):
        self.lake = lake
        self.uri = uri
        self.root = f"s3://lake/{uuid.uuid4()}"
        self.properties = {
            "warehouse": f"{self.root}/warehouse",
            "s3.endpoint": uri,
            "s3.access-key-id": "firn",
            "s3.secret-access-key": "firn-secret",
            "s3.region": "us-east-1",
        }
        self.configure(uri)

    def configure(self, uri, flush_bytes="32MiB", **changed):
        properties = {**self.properties, "s3.endpoint": uri, **changed}
        lines = ["catalog:", "  uri: sqlite:///catalog.db", *(f"  {name}: {value}" for name, value in properties.items()),
                 f"wal: {{path: '{self.root}/wal', flush_bytes: {flush_bytes}}}"]
        (self.lake.folder / "firn.yaml").write_text("\n".join(lines) + "\n")

    def load(self, rows, *options):
        self.lake.firn("load", TABLE, self.lake.write_parquet(rows), "--create", "--sort-by", SORT, *options)

    def pyiceberg(self):
        catalog = SqlCatalog("firn", uri=f"sqlite:///{self.lake.folder}/catalog.db", **self.properties)
        return catalog.load_table(TABLE)

    def duckdb(self):
        duck = open_duckdb()
        duck.sql(f"""CREATE SECRET (TYPE s3, KEY_ID 'firn', SECRET 'firn-secret', REGION 'us-east-1', URL_STYLE 'path',
                                    USE_SSL false, ENDPOINT '{self.uri.removeprefix("http://")}')""")
        duck.sql("SET TimeZone = 'UTC'")
        return duck.sql(f"SELECT * FROM iceberg_scan('{self.pyiceberg().metadata_location}')").to_arrow_table()


@pytest.fixture
def s3_lake(lake, s3):
    return S3Lake(lake, s3.uri)


def test_others_read_what_was_loaded_and_shifted(s3_lake):
    s3_lake.load(events(0))
    s3_lake.load(events(BATCH), "--wal-only")
    assert content(s3_lake.pyiceberg().scan().to_arrow()) == content(events(0))
    s3_lake.lake.firn("shift", TABLE)
    everything = content(events(0, 2 * BATCH))
    table = s3_lake.pyiceberg()
    assert table.location().startswith(f"{s3_lake.root}/warehouse/")
    assert content(table.scan().to_arrow()) == everything
    assert content(s3_lake.duckdb()) == everything
    assert "fine" in s3_lake.lake.firn("check").stdout


def test_a_large_file_is_put_in_parts(s3_lake, s3):
    # Of bytes that do not compress: more than one request may hold.
    rows = pa.table({"id": pa.array(range(1200), pa.int64()), "ts": pa.array([0] * 1200, pa.timestamp("us", "UTC")),
                     "bytes": [os.urandom(64 << 10) for _ in range(1200)]})
    with counting_proxy(s3.port) as proxy:
        s3_lake.configure(proxy.uri)
        s3_lake.load(rows)
    assert [path for method, path in proxy.requests if method == "PUT" and "uploadId=" in path]
    assert s3_lake.pyiceberg().scan().to_arrow().sort_by("id")["bytes"] == rows["bytes"]


def test_a_segment_costs_few_requests(s3_lake, s3):
    count = 40_000
    s3_lake.configure(s3_lake.uri, flush_bytes="32KiB")
    s3_lake.load(events(0, count), "--wal-only")
    with counting_proxy(s3.port) as proxy:
        s3_lake.configure(proxy.uri)
        s3_lake.lake.firn("shift", TABLE)
    assert s3_lake.pyiceberg().scan().to_arrow().num_rows == count
    asked = [path for method, path in proxy.requests if "/wal/" in path or "%2Fwal" in path]
    segments = {path for path in asked if path.endswith(".parquet")}
    print(f"{len(asked)} requests for {len(segments)} segments")
    assert len(segments) > 35 and len(asked) <= 2.2 * len(segments)
    assert not [method for method, _ in proxy.requests if method == "HEAD"]
    written = {path.partition("?")[0] for method, path in proxy.requests if method == "PUT" and "/data/" in path}
    read = {path for method, path in proxy.requests if method == "GET"}
    assert written and not written & read, "an own output is read again"


def test_metadata_is_shown_where_it_lies(s3_lake):
    s3_lake.load(events(0))

    def show(what, location):
        return json.loads(s3_lake.lake.firn("inspect", what, location, "--format", "json").stdout)

    table = s3_lake.pyiceberg()
    assert table.location() in json.dumps(show("metadata", table.metadata_location))
    (manifest,) = show("manifest", table.current_snapshot().manifest_list)["manifests"]
    (entry,) = show("manifest", manifest["path"])["entries"]
    assert entry["path"].startswith(table.location()) and entry["rows"] == BATCH
    missing = f"{table.location()}/metadata/none.avro"
    assert f"{missing}: no such file" in s3_lake.lake.firn("inspect", "manifest", missing, code=1).stderr


def test_check_finds_keys_that_can_only_read(s3_lake, s3):
    def refuse(method, _):
        denied = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
        return (403, denied) if method == "PUT" else None

    with counting_proxy(s3.port, refuse=refuse) as proxy:
        s3_lake.configure(proxy.uri)
        said = s3_lake.lake.firn("check", code=1).stdout
    assert said.count("can be read, but not written") == 2, said


def test_the_way_there_may_be_encrypted(s3_lake, s3, tmp_path, monkeypatch):
    certificate = tmp_path / "server.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", certificate, "-out", tmp_path / "cert.pem"],
                   check=True, capture_output=True)
    certificate.write_text(certificate.read_text() + (tmp_path / "cert.pem").read_text())
    with counting_proxy(s3.port, certificate) as proxy:
        s3_lake.configure(proxy.uri)
        monkeypatch.delenv("AWS_CA_BUNDLE", raising=False)
        assert "certificate" in s3_lake.lake.firn("check", code=1).stdout
        assert not proxy.requests
        monkeypatch.setenv("AWS_CA_BUNDLE", str(certificate))
        s3_lake.load(events(0))
    s3_lake.configure(s3_lake.uri)
    assert content(s3_lake.pyiceberg().scan().to_arrow()) == content(events(0))


def test_what_is_wrong_is_said_without_the_secret(s3_lake):
    def fails(**changed):
        s3_lake.configure(changed.pop("uri", s3_lake.uri), **changed)
        done = s3_lake.lake.firn("check", code=1)
        text = done.stdout + done.stderr
        assert "firn-secret" not in text and "other-secret" not in text
        return text

    assert "no-such-bucket" in fails(warehouse="s3://no-such-bucket/a")
    assert "SignatureDoesNotMatch" in fails(**{"s3.secret-access-key": "other-secret"})
    assert "s3.path-style-access" in fails(**{"s3.path-style-access": "perhaps"})
    assert "Failed to connect" in fails(uri="http://127.0.0.1:1", **{"s3.connect-timeout": "1"})
