"""`firn serve` under a steady load while it is killed, and while what it needs is stopped and started.

FIRN_TEST_LOAD_SECONDS, FIRN_TEST_LOAD_KILLS and FIRN_TEST_SEED say how long, how often, and when."""

import dataclasses
import http.client
import os
import random
import threading
import time
from collections import Counter

from serving import Server

TABLE = "web.requests"
RECORDS = 5  # of one request
PAUSE = 0.05  # of a client between two requests
PAUSE_BEFORE_RETRY = 0.05
RESTART_PAUSE = 0.2
OUTAGE_MAX = 8


@dataclasses.dataclass
class Load:
    seconds: float
    kills: int
    seed: int

    @staticmethod
    def asked_for(seconds, kills):
        """These, unless the environment says otherwise."""
        load = Load(float(os.environ.get("FIRN_TEST_LOAD_SECONDS", seconds)),
                    int(os.environ.get("FIRN_TEST_LOAD_KILLS", kills)),
                    int(os.environ.get("FIRN_TEST_SEED", random.randrange(1 << 32))))
        print(f"FIRN_TEST_LOAD_SECONDS={load.seconds:g} FIRN_TEST_LOAD_KILLS={load.kills} FIRN_TEST_SEED={load.seed}",
              flush=True)
        return load


@dataclasses.dataclass
class Outage:
    """What stops and starts a server that Firn needs; `stops` are the ways to stop it."""

    name: str
    stops: list
    start: object


class Client(threading.Thread):
    """Posts until it is told to end; what was not answered with 200 is sent again, as it was."""

    def __init__(self, number, address, pause=0.0):
        super().__init__(daemon=True)
        self.number, self.address, self.pause = number, address, pause
        self.ending = threading.Event()
        self.sent = Counter()
        self.answered = []
        self.refused = 0
        self.unanswered = 0
        self.failure = None

    def run(self):
        try:
            first = self.number * 10_000_000
            is_last = False
            while not is_last:
                is_last = self.ending.wait(self.pause)
                self.deliver(range(first, first + RECORDS))
                first += RECORDS
        except Exception as failure:  # told to the test, which joins the thread
            self.failure = failure

    def deliver(self, ids):
        while True:
            self.sent.update(ids)
            status = self.post(ids)
            if status == 200:
                self.answered += ids
                return
            self.refused += status == 503
            self.unanswered += status is None
            time.sleep(PAUSE_BEFORE_RETRY)

    def post(self, ids):
        """None without an answer."""
        try:
            status, answer = self.address().post(TABLE, [{"id": i} for i in ids])
        except (OSError, http.client.HTTPException):
            return None
        assert status in (200, 503), (status, answer)
        assert status == 503 or answer == {"accepted": len(ids), "dead_lettered": 0}
        return status


class Supervised(threading.Thread):
    """`firn serve`, started again whenever it ends."""

    def __init__(self, firn):
        super().__init__(daemon=True)
        self.firn = firn
        self.ending = threading.Event()
        self.servers = [Server(firn)]

    @property
    def server(self):
        return self.servers[-1]

    def run(self):
        while True:
            self.server.process.wait()
            if self.ending.wait(RESTART_PAUSE):
                return
            self.servers.append(Server(self.firn))

    def stop(self):
        self.ending.set()
        self.server.stop()
        self.join()

    def warnings(self):
        return [line for server in self.servers for line in server.log if "warn" in line.lower()]


def events_of(load, outages):
    """What happens when: in each stretch of the time one kill and one outage."""
    drawn = random.Random(load.seed)
    stretch = load.seconds / load.kills
    events = []
    for i in range(load.kills):
        events.append((stretch * (i + drawn.random()), "kill", None))
        if not outages:
            continue
        outage = outages[i % len(outages)]
        length = drawn.uniform(0.5, min(OUTAGE_MAX, stretch / 3))
        begin = stretch * i + drawn.uniform(0, stretch - length)
        events.append((begin, f"stop {outage.name}", drawn.choice(outage.stops)))
        events.append((begin + length, f"start {outage.name}", outage.start))
    return sorted(events, key=lambda event: event[0])


def run_load(firn, load, outages=(), clients=4):
    """Gives the clients, once each record was answered and all are durable."""
    supervised = Supervised(firn)
    supervised.start()
    clients = [Client(number, lambda: supervised.server, PAUSE) for number in range(clients)]
    for client in clients:
        client.start()
    begin = time.monotonic()
    for at, name, act in events_of(load, outages):
        time.sleep(max(0.0, begin + at - time.monotonic()))
        print(f"{time.monotonic() - begin:7.1f} s: {name}, {answered_by(clients)} answered", flush=True)
        (act or supervised.server.process.kill)()
    time.sleep(max(0.0, begin + load.seconds - time.monotonic()))
    end(clients)
    supervised.stop()
    print(f"{len(supervised.servers)} processes, {len(supervised.warnings())} warnings", flush=True)
    return clients


def answered_by(clients):
    return sum(len(client.answered) for client in clients)


def end(clients):
    """Each sends one request more, and ends once it was answered."""
    for client in clients:
        client.ending.set()
    for client in clients:
        client.join(120)
        assert client.failure is None and not client.is_alive(), client.failure


def check(clients, landed):
    """Every record that was answered is there, twice only if its sender sent it again."""
    answered = [i for client in clients for i in client.answered]
    sent = sum((client.sent for client in clients), Counter())
    assert answered and len(set(answered)) == len(answered)
    assert [i for i in answered if landed[i] == 0] == []
    # A record can be there as often as it was sent, and no record is there that was not.
    assert [i for i, times in landed.items() if times > sent[i]] == []
    again = sum(1 for times in sent.values() if times > 1)
    doubled = sum(1 for times in landed.values() if times > 1)
    print(f"{len(answered)} records answered, all are there; {again} were sent again "
          f"({sum(c.unanswered for c in clients)} requests without an answer, "
          f"{sum(c.refused for c in clients)} with 503), {doubled} of them are there more than once", flush=True)
