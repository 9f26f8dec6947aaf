"""A second SIGTERM ends `firn serve` at once, whatever the first one still waits for, and loses nothing."""

import contextlib
import signal
import sqlite3
import subprocess
import threading
import time
from collections import Counter

import pytest
from serving import SERVE_CONFIG, serving

TABLE = "web.requests"


@pytest.fixture
def table(firn):
    firn.configure(SERVE_CONFIG)
    firn.run("table", "create", TABLE, "--columns", "id long not null")
    return firn


@contextlib.contextmanager
def locked_catalog(firn):
    """No commit ends meanwhile: another writer holds the catalog."""
    with contextlib.closing(sqlite3.connect(firn.folder / "warehouse/catalog.db", isolation_level=None)) as catalog:
        catalog.execute("begin immediate")
        yield
        catalog.execute("rollback")


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def log_has(server, text):
    return any(text in line for line in server.log)


def data_files(firn):
    return list((firn.folder / "warehouse/web").rglob("data/*.parquet"))


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_it_at_once(table, sent):
    with serving(table) as server:
        wait_for(lambda: server.get("/readyz")[0] == 200)
        with locked_catalog(table):
            assert server.post(TABLE, [{"id": 1}])[0] == 200
            # A commit has begun, which the first signal waits for.
            wait_for(lambda: data_files(table))
            server.process.send_signal(sent)
            wait_for(lambda: log_has(server, "stopping"))
            with pytest.raises(subprocess.TimeoutExpired):
                server.process.wait(1)
            begin = time.monotonic()
            server.process.send_signal(sent)
            assert server.process.wait(10) == -sent
            assert time.monotonic() - begin < 5
    check_that_all_is_there(table, {1: 1})


def test_what_waits_in_the_buffer_is_answered_or_not_there_twice(table):
    """The second signal comes while the first one's flush may be under way."""
    table.configure(SERVE_CONFIG.replace("20ms", "1h"))
    answers = {}
    with serving(table) as server:
        wait_for(lambda: server.get("/readyz")[0] == 200)

        def post(i):
            with contextlib.suppress(OSError):
                answers[i] = server.post(TABLE, [{"id": i}])[0]

        clients = [threading.Thread(target=post, args=(i,)) for i in range(20)]
        for client in clients:
            client.start()
        wait_for(lambda: 'firn_memory_used_bytes{part="buffers"} 0\n' not in server.get("/metrics")[1])
        server.process.send_signal(signal.SIGTERM)
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(10)
        for client in clients:
            client.join()
    check_that_all_is_there(table, {i: 1 for i, status in answers.items() if status == 200})


def check_that_all_is_there(table, expected):
    table.run("shift", TABLE)
    landed = Counter(table.rows(TABLE)["id"].to_pylist())
    assert {i: landed[i] for i in expected} == expected
    assert all(times == 1 for times in landed.values())
