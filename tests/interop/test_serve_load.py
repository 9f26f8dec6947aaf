"""`firn serve` with its WAL and tables in S3 and its catalog behind REST, under load, while it is killed and while both
servers are stopped and started."""

import sys
import time
from collections import Counter

import pytest
from lake import ROOT
from rest_lake import RestLake

sys.path.append(str(ROOT / "tests/end_to_end"))
from serve_load import TABLE, Load, Outage, check, run_load  # noqa: E402
from serving import Server  # noqa: E402


class S3RestLake(RestLake):
    """The server's own warehouse in the bucket; the WAL in another folder of it."""

    def configure(self, uri):
        super().configure(uri, wal="s3://lake/wal", **self.properties)
        with (self.folder / "firn.yaml").open("a") as file:
            file.write("  flush_age: 200ms\n  retention: 5s\nshift: {max_age: 1s}\nhttp: {listen: '127.0.0.1:0'}\n")


@pytest.fixture
def s3_rest_lake(tmp_path, own_s3, own_rest):
    return S3RestLake(tmp_path, uri=own_rest.uri, properties={
        "s3.endpoint": own_s3.uri,
        "s3.access-key-id": "firn",
        "s3.secret-access-key": "firn-secret",
        "s3.region": "us-east-1",
    })


def outage_of(server):
    return Outage(server.name, [lambda: server.run("stop"), lambda: server.run("crash")], server.start)


def test_serve_waits_for_a_store_that_is_down_at_its_start(s3_rest_lake, own_s3):
    s3_rest_lake.firn("table", "create", TABLE, "--columns", "id long not null", "--sort-by", "id")
    own_s3.run("stop")
    server = Server(s3_rest_lake)
    try:
        end = time.monotonic() + 120
        while not any("not serving yet, tried again in" in line for line in server.log):
            assert time.monotonic() < end and server.process.poll() is None, "".join(server.log)
            time.sleep(0.1)
        own_s3.start()
        server.await_serving()
        assert server.post(TABLE, [{"id": 1}])[0] == 200
        server.stop()
    finally:
        server.process.kill()


def test_firn_its_store_and_its_catalog_may_end_under_load(s3_rest_lake, own_s3, own_rest):
    s3_rest_lake.firn("table", "create", TABLE, "--columns", "id long not null", "--sort-by", "id")
    outages = [outage_of(own_rest), outage_of(own_s3)]
    clients = run_load(s3_rest_lake, Load.asked_for(seconds=20, kills=2), outages)
    s3_rest_lake.firn("shift", TABLE)
    check(clients, Counter(s3_rest_lake.table(TABLE).scan().to_arrow()["id"].to_pylist()))
