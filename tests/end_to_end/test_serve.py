"""`firn serve`: what clients post is answered once it is durable, and lands."""

import gzip
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pyarrow
import pytest
from serving import SERVE_CONFIG, ndjson, serving

TABLE = "web.requests"
CLIENTS, REQUESTS, RECORDS = 4, 25, 20


@pytest.fixture
def server_folder(firn):
    firn.configure(SERVE_CONFIG)
    firn.run("table", "create", TABLE, "--columns", "id long not null, service string, ts timestamptz",
             "--sort-by", "service, ts desc")
    return firn


def records(first, count=RECORDS):
    return [{"id": i, "service": f"s{i % 7}", "ts": "2026-01-02T03:04:05Z"} for i in range(first, first + count)]


def post_all(server, client):
    connection = server.connect()
    for request in range(REQUESTS):
        first = (client * REQUESTS + request) * RECORDS
        status, answer = server.post(TABLE, records(first), connection)
        assert (status, answer) == (200, {"accepted": RECORDS, "dead_lettered": 0})


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def ids(firn):
    return sorted(firn.rows(TABLE)["id"].to_pylist())


def test_what_several_clients_post_is_in_the_table_once(server_folder, duck):
    with serving(server_folder) as server:
        with ThreadPoolExecutor(CLIENTS) as clients:
            list(clients.map(lambda client: post_all(server, client), range(CLIENTS)))
        total = CLIENTS * REQUESTS * RECORDS
        wait_until(lambda: len(ids(server_folder)) == total)
        _, metrics = server.get("/metrics")
        assert f'firn_ingest_records_total{{table="{TABLE}"}} {total}' in metrics
        segments = int(metrics.split(f'firn_wal_segments_total{{table="{TABLE}"}} ')[1].split()[0])
        assert segments < CLIENTS * REQUESTS
        server.stop()
    assert ids(server_folder) == list(range(total))
    location = server_folder.table(TABLE).metadata_location
    assert duck.sql(f"select count(distinct id) from iceberg_scan('{location}')").fetchone() == (total,)


def test_sigterm_makes_durable_what_waits_and_answers_it(server_folder):
    server_folder.configure(SERVE_CONFIG.replace("20ms", "1h").replace("100ms", "1h"))
    with serving(server_folder) as server:
        wait_until(lambda: server.get("/readyz")[0] == 200)
        answers = []
        client = threading.Thread(target=lambda: answers.append(server.post(TABLE, records(0))))
        client.start()
        wait_until(lambda: 'firn_memory_used_bytes{part="buffers"} 0\n' not in server.get("/metrics")[1])
        server.stop()
        client.join()
    assert answers == [(200, {"accepted": RECORDS, "dead_lettered": 0})]
    server_folder.run("shift", TABLE)
    assert ids(server_folder) == list(range(RECORDS))


def test_records_may_add_columns(server_folder, duck):
    server_folder.configure(SERVE_CONFIG + f"tables:\n  - name: {TABLE}\n    schema_evolution: add\n")
    with serving(server_folder) as server:
        assert server.post(TABLE, [{"id": 1}])[0] == 200
        status, answer = server.post(TABLE, [{"id": 2, "region": "eu", "point": {"x": 1}}, {"id": "x", "no": 1}])
        assert (status, answer["accepted"], answer["dead_lettered"]) == (200, 1, 1)
        assert any("schema changed: added region (string), added point (struct" in line for line in server.log)
        server.stop()
    server_folder.run("shift", "--all")
    location = server_folder.table(TABLE).metadata_location
    rows = duck.sql(f"select id, region, point.x from iceberg_scan('{location}') order by id").fetchall()
    assert rows == [(1, None, None), (2, "eu", 1)]


def test_bad_records_become_dead_letters(server_folder):
    with serving(server_folder) as server:
        status, answer = server.post(TABLE, '{"id":1}\n{"id":"x"}\n')
        assert status == 200 and answer["accepted"] == 1 and answer["dead_lettered"] == 1
        assert answer["dead_letters"][0]["line"] == 2
        server.stop()
    server_folder.run("shift", "--all")
    (letter,) = server_folder.json("dead-letters", "show", TABLE)
    assert letter["raw"] == '{"id":"x"}' and letter["source"].startswith("http 127.0.0.1:")


def test_bodies_may_be_compressed_and_chunked(server_folder):
    body = ndjson(records(0, 1000)).encode()
    compressed = gzip.compress(body)
    zstd = pyarrow.compress(body, codec="zstd", asbytes=True)
    with serving(server_folder) as server:
        for sent in (compressed, zstd):
            assert server.post(TABLE, sent) == (200, {"accepted": 1000, "dead_lettered": 0})
        connection = server.connect()
        connection.request("POST", f"/v1/tables/{TABLE}", iter([compressed[:100], compressed[100:]]),
                           {"Content-Encoding": "gzip"}, encode_chunked=True)
        assert connection.getresponse().status == 200
        server.stop()
    server_folder.run("shift", TABLE)
    assert ids(server_folder) == sorted(3 * list(range(1000)))


def test_a_missing_table_and_a_wrong_body_are_refused(server_folder):
    with serving(server_folder) as server:
        assert server.post("web.nothing", [{}])[0] == 404
        assert server.post(TABLE, "[1, 2]")[0] == 400
        status, answer = server.post(TABLE, b"x" * (17 << 20))
        assert (status, answer["error"]) == (413, "the body has more than 16777216 bytes")
        assert server.post(TABLE, gzip.compress(b" " * (65 << 20)))[0] == 413
        assert server.post(TABLE, "{}", headers={"Content-Encoding": "br"})[0] == 415
        assert server.get("/healthz") == (200, "ok\n")
        server.stop()


def test_an_address_that_is_taken_is_said(server_folder):
    with serving(server_folder) as server:
        server_folder.configure(SERVE_CONFIG.replace(":0", f":{server.port}"))
        failed = server_folder.run("serve", code=1)
        assert f"cannot listen on 127.0.0.1:{server.port}" in failed.stderr
        server.stop(signal.SIGINT)


def test_a_new_catalog_beside_an_old_log_is_told(server_folder):
    with serving(server_folder) as server:
        assert server.post(TABLE, [{"id": 1}])[0] == 200
    (server_folder.folder / "warehouse/catalog.db").unlink()
    with serving(server_folder) as server:
        assert any("the catalog has no table, but the WAL holds 1 segment (" in line for line in server.log)


def test_a_table_is_served_by_one_name(server_folder):
    """Two names of one table share its log."""
    catalog = server_folder.catalog
    catalog.register_table("web.twin", catalog.load_table(TABLE).metadata_location)
    with serving(server_folder) as server:
        wait_until(lambda: server.get("/readyz")[0] == 200)
        answers = [server.post(name, records(i * RECORDS)) for i, name in enumerate([TABLE, "web.twin"])]
        assert sorted(status for status, _ in answers)[0] == 200
        (refused,) = [str(answer) for status, answer in answers if status != 200]
        assert TABLE in refused and "web.twin" in refused and "share one log" in refused
        server.stop()
    assert sum(len(server_folder.rows(name)) for name in (TABLE, "web.twin")) <= RECORDS
