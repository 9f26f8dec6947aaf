"""`firn serve` under kill -9: every record that was answered is in the table, twice only where its sender had to send
it again without an answer."""

from collections import Counter

import pytest
from serve_load import TABLE, Client, Load, check, end, run_load
from serving import SERVE_CONFIG, start_server

STARTS = 4


@pytest.fixture
def server_folder(firn):
    firn.configure(SERVE_CONFIG)
    firn.run("table", "create", TABLE, "--columns", "id long not null", "--sort-by", "id")
    return firn


def check_table(firn, clients):
    firn.run("shift", TABLE)
    check(clients, Counter(firn.rows(TABLE)["id"].to_pylist()))


@pytest.mark.parametrize("crash_point", ["wal.segment.after_put:20", "commit.after_catalog:2"])
def test_it_may_end_at_any_point(server_folder, crash_point):
    servers = [start_server(server_folder, FIRN_CRASH_POINT=crash_point)]
    clients = [Client(number, lambda: servers[-1]) for number in range(3)]
    for client in clients:
        client.start()
    for _ in range(STARTS):
        servers[-1].process.wait(60)
        servers.append(start_server(server_folder, FIRN_CRASH_POINT=crash_point))
    servers[-1].kill()
    servers.append(start_server(server_folder))
    end(clients)
    servers[-1].stop()
    check_table(server_folder, clients)


def test_it_may_be_killed_under_load(server_folder):
    server_folder.configure(SERVE_CONFIG.replace("100ms", "1s").replace("wal:", "wal:\n  retention: 5s"))
    check_table(server_folder, run_load(server_folder, Load.asked_for(seconds=8, kills=4)))
