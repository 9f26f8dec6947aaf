"""`firn serve` under kill -9: every record that was answered is in the table, twice only where its sender had to send
it again without an answer."""

import http.client
import random
import threading
import time
from collections import Counter

import pytest
from serving import SERVE_CONFIG, Server

TABLE = "web.requests"
CLIENTS, KILLS, RECORDS = 3, 4, 5


class Client(threading.Thread):
    """Posts until it is told to end; what was not answered with 200 is sent again, as it was."""

    def __init__(self, number, address):
        super().__init__(daemon=True)
        self.number, self.address = number, address
        self.ending = threading.Event()
        self.sent = Counter()
        self.answered = []
        self.failure = None

    def run(self):
        try:
            batch = 0
            while not self.ending.is_set():
                first = (self.number * 1_000_000) + batch * RECORDS
                self.deliver(range(first, first + RECORDS))
                batch += 1
        except Exception as failure:  # told to the test, which joins the thread
            self.failure = failure

    def deliver(self, ids):
        while True:
            self.sent.update(ids)
            try:
                status, answer = self.address().post(TABLE, [{"id": i} for i in ids])
            except (OSError, http.client.HTTPException):
                status = None
            if status == 200:
                assert answer == {"accepted": RECORDS, "dead_lettered": 0}
                self.answered += ids
                return
            assert status in (None, 503), (status, answer)
            time.sleep(0.02)


@pytest.mark.parametrize("crash_point", [None, "wal.segment.after_put:20", "commit.after_catalog:2"])
def test_what_was_answered_is_there_and_nothing_is_there_twice_unasked(firn, crash_point):
    firn.configure(SERVE_CONFIG)
    firn.run("table", "create", TABLE, "--columns", "id long not null", "--sort-by", "id")
    servers = [start(firn, crash_point)]
    clients = [Client(number, lambda: servers[-1]) for number in range(CLIENTS)]
    for client in clients:
        client.start()
    random_kill = random.Random(7)
    for _ in range(KILLS):
        if crash_point is None:
            time.sleep(random_kill.uniform(0.3, 0.9))
            servers[-1].process.kill()
        servers[-1].process.wait(60)
        servers.append(start(firn, crash_point))
    servers[-1].kill()
    servers.append(Server(firn))
    for client in clients:
        client.ending.set()
    for client in clients:
        client.join(60)
        assert client.failure is None and not client.is_alive(), client.failure
    servers[-1].stop()
    firn.run("shift", TABLE)
    check(clients, Counter(firn.rows(TABLE)["id"].to_pylist()))


def start(firn, crash_point):
    return Server(firn, **({"FIRN_CRASH_POINT": crash_point} if crash_point else {}))


def check(clients, landed):
    answered = [i for client in clients for i in client.answered]
    sent = sum((client.sent for client in clients), Counter())
    assert len(answered) > KILLS * RECORDS and len(set(answered)) == len(answered)
    assert [i for i in answered if landed[i] == 0] == []
    # A record can be there as often as it was sent, and no record is there that was not.
    assert [i for i, times in landed.items() if times > sent[i]] == []
    doubled = sum(1 for times in landed.values() if times > 1)
    print(f"{len(answered)} answered, {sum(sent.values()) - len(sent)} sent again, {doubled} there more than once")
