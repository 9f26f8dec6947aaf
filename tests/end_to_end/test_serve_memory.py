"""Many large bodies at once: `firn serve` stays under memory_limit, and tells senders to come again."""

import contextlib
import gzip
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from serving import SERVE_CONFIG, ndjson, serving

TABLE = "web.requests"
CLIENTS, ROWS = 20, 20_000
LIMIT_MIB = 128
# Nothing is shifted meanwhile: shifts have a limit of their own.
CONFIG = f"memory_limit: {LIMIT_MIB}MiB\n" + SERVE_CONFIG.replace("100ms", "1h")


def resident_mib(process, field):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
        return int(re.search(rf"{field}:\s+(\d+) kB", status.read())[1]) / 1024


def metric(server, name):
    return float(re.search(rf"^{re.escape(name)} (\S+)$", server.get("/metrics")[1], re.MULTILINE)[1])


def post_until_taken(server, body, headers):
    """Gives how often it was sent in vain."""
    for refused in range(10_000):
        with contextlib.closing(server.connect()) as connection:
            connection.putrequest("POST", f"/v1/tables/{TABLE}")
            for name, value in {**headers, "Content-Length": len(body), "Expect": "100-continue"}.items():
                connection.putheader(name, value)
            connection.endheaders()
            # The body is sent whatever the server says, as clients do that do not wait.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.send(body)
            response = connection.getresponse()
            if response.status == 200:
                return refused
            assert response.status == 503, (response.status, response.read())
            assert response.headers["Retry-After"] == "1"
        time.sleep(0.05)
    raise AssertionError("never taken")


@pytest.mark.parametrize("encoding", ["plain", "gzip"])
def test_many_large_bodies_at_once_stay_under_the_limit(firn, encoding):
    firn.configure(CONFIG)
    firn.run("table", "create", TABLE, "--columns", "id long not null, text string")
    body = ndjson({"id": i, "text": f"{i:08d}" * 25} for i in range(ROWS)).encode()
    sent = gzip.compress(body, 1) if encoding == "gzip" else body
    headers = {"Content-Encoding": "gzip"} if encoding == "gzip" else {}
    used = []
    # What is freed goes back to the system at once, so that what is resident is what is held.
    with serving(firn, MIMALLOC_PURGE_DELAY="0") as server:
        post_until_taken(server, b'{"id":-1}', {})
        before = resident_mib(server.process, "VmRSS")
        done = threading.Event()

        def watch():
            while not done.is_set():
                used.append(metric(server, 'firn_memory_used_bytes{part="buffers"}'))
                time.sleep(0.005)

        watcher = threading.Thread(target=watch)
        watcher.start()
        with ThreadPoolExecutor(CLIENTS) as clients:
            refused = sum(clients.map(lambda _: post_until_taken(server, sent, headers), range(CLIENTS)))
        done.set()
        watcher.join()
        peak = resident_mib(server.process, "VmHWM")
        limit = metric(server, 'firn_memory_limit_bytes{part="buffers"}')
        print(f"{before:.0f} MiB before, {peak:.0f} MiB at most, {max(used) / 2**20:.0f} MiB of buffers, {refused} refused")
        server.stop()
    assert len(sent) * CLIENTS > limit or encoding == "gzip"
    assert refused > 0
    assert len(body) < max(used) <= limit
    assert peak < before + LIMIT_MIB
    firn.run("shift", TABLE)
    assert firn.table(TABLE).scan().count() == CLIENTS * ROWS + 1
