"""`firn serve` follows a folder: each file lands once, whatever is killed and started again meanwhile."""

import json
import random
import time
from collections import Counter

import pytest
from serving import SERVE_CONFIG, serving

TABLE = "web.requests"
RECORDS = 200
SOURCE = """
sources:
  files:
    - table: web.requests
      path: incoming
      stable_for: 0s
      poll_interval: 20ms
"""


@pytest.fixture
def folder(firn):
    firn.configure(SERVE_CONFIG + SOURCE)
    firn.run("table", "create", TABLE, "--columns", "id long not null", "--sort-by", "id")
    (firn.folder / "incoming").mkdir()
    return firn


def put(firn, number, bad=0):
    """Puts a whole file of records there; gives their ids."""
    ids = list(range(number * RECORDS, (number + 1) * RECORDS))
    text = "".join(json.dumps({"id": i}) + "\n" for i in ids) + "nonsense\n" * bad
    part = firn.folder / f"incoming/{number}.ndjson.part"
    part.write_text(text)
    part.rename(part.with_suffix(""))
    return ids


def taken(server):
    return sum(1 for line in server.log if f"{TABLE}: took " in line)


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def landed(firn, table=TABLE):
    firn.run("shift", "--all")
    return Counter(firn.rows(table)["id"].to_pylist())


def test_files_are_taken_as_they_come(folder):
    expected = put(folder, 0)
    with serving(folder) as server:
        wait_until(lambda: taken(server) == 1)
        expected += put(folder, 1, bad=3)
        wait_until(lambda: taken(server) == 2)
        assert any("203 records, 3 of them dead letters" in line for line in server.log)
        server.stop()
    assert landed(folder) == Counter(expected)
    assert len(folder.json("dead-letters", "show", TABLE)) == 3


def test_a_file_that_is_written_slowly_is_taken_whole(folder):
    folder.configure(SERVE_CONFIG + SOURCE.replace("stable_for: 0s", "stable_for: 1s"))
    with serving(folder) as server:
        with (folder.folder / "incoming/slow.ndjson").open("w") as file:
            for i in range(20):
                file.write(json.dumps({"id": i}) + "\n")
                file.flush()
                time.sleep(0.1)
        wait_until(lambda: taken(server) == 1)
        server.stop()
    assert landed(folder) == Counter(range(20))


@pytest.mark.parametrize(
    "crash_point", ["wal.segment.after_put:2", "files.delivered:2", "files.noted:2", "commit.after_catalog", None]
)
def test_each_record_lands_once_through_kills(folder, crash_point):
    expected = []
    kill = random.Random(5)
    for number in range(5):
        expected += put(folder, number, bad=1)
        with serving(folder, **({"FIRN_CRASH_POINT": crash_point} if crash_point else {})) as server:
            if crash_point is None:
                time.sleep(kill.uniform(0, 0.3))
                server.kill()
            else:
                put_late = put(folder, 100 + number)
                expected += put_late
                server.process.wait(60)
    with serving(folder) as server:
        wait_until(lambda: server.get("/readyz")[0] == 200)
        expected += put(folder, 200)
        wait_until(lambda: any("incoming/200.ndjson" in line for line in server.log))
        server.stop()
    assert landed(folder) == Counter(expected)


def test_a_configuration_that_is_wrong_is_told(folder):
    folder.configure(SERVE_CONFIG + "sources:\n  files:\n    - table: web.requests\n")
    assert "a folder needs a table and a path" in folder.run("serve", code=2).stderr
    folder.configure(SERVE_CONFIG + "sources:\n  files:\n    - {table: nonsense, path: incoming}\n")
    assert "sources: files: incoming" in folder.run("serve", code=2).stderr
