"""A real SIGINT to a running shift: one clear line, exit 1, nothing left behind, and the next shift goes on."""

import http.server
import signal
import threading

import pytest

BEFORE_COMMIT = [
    "shift.planned",
    "shift.file.before_put",
    "shift.file.after_put",
    "shift.file.after_put:2",
    "shift.written",
]
IN_COMMIT = ["commit.before_catalog", "catalog.commit.before_swap", "commit.after_catalog", "shift.committed"]


@pytest.fixture
def waiting(events):
    events.run(*events.load("x", "--wal-only"))
    return events


def files_of(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".db")


def interrupt(events, point):
    """Interrupts a shift at a named place, and gives its message."""
    temporary = events.folder / "tmp"
    temporary.mkdir()
    result = events.run("shift", events.TABLE, code=1, FIRN_CRASH_POINT=point, TMPDIR=str(temporary),
                        FIRN_CRASH_SIGNAL=str(int(signal.SIGINT)))
    assert result.stdout == ""
    assert list(temporary.iterdir()) == []
    (message,) = [line for line in result.stderr.splitlines() if line.startswith("firn: ")]
    return message


@pytest.mark.parametrize("point", BEFORE_COMMIT)
def test_a_shift_stopped_before_its_commit_leaves_nothing(waiting, point):
    before = files_of(waiting.folder / "warehouse")
    assert "stopped on request; nothing was committed" in interrupt(waiting, point)
    assert files_of(waiting.folder / "warehouse") == before
    assert waiting.table(waiting.TABLE).current_snapshot() is None
    waiting.run("shift", waiting.TABLE)
    waiting.assert_each_row(times=1)


@pytest.mark.parametrize("point", IN_COMMIT)
def test_a_commit_that_began_is_finished(waiting, point):
    assert "(rows: 40000, commits: 1)" in interrupt(waiting, point)
    waiting.assert_each_row(times=1)
    waiting.run("shift", waiting.TABLE)
    waiting.assert_each_row(times=1)


def test_a_shift_stopped_between_iterations_keeps_what_landed(waiting):
    waiting.configure("shift:\n  iteration_bytes: 200KiB\n")
    message = interrupt(waiting, "shift.planned:2")
    assert "commits: 1)" in message
    landed = len(waiting.rows(waiting.TABLE))
    assert 0 < landed < waiting.ROWS and f"rows: {landed}," in message
    waiting.run("shift", waiting.TABLE)
    waiting.assert_each_row(times=1)


class Silent(http.server.BaseHTTPRequestHandler):
    """A REST catalog that takes a request, and says nothing."""

    def do_GET(self):
        self.server.was_asked.set()
        self.server.is_over.wait()

    def log_message(self, *words):
        pass


def test_a_stop_does_not_wait_for_a_silent_catalog(firn):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Silent) as server:
        server.was_asked, server.is_over = threading.Event(), threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        firn.configure(f"catalog: {{type: rest, uri: 'http://127.0.0.1:{server.server_port}'}}\nwal: {{path: wal}}\n")
        process = firn.start("shift", "--all")
        assert server.was_asked.wait(timeout=60)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)  # of the 30 s that the request may take, 5 are left
        server.is_over.set()
        server.shutdown()
    assert process.returncode != -signal.SIGINT
    assert "given up to stop" in errors


class Busy(http.server.BaseHTTPRequestHandler):
    """A REST catalog that wants to be asked again much later."""

    def do_GET(self):
        self.send_response(429)
        self.send_header("Retry-After", "25")
        self.send_header("Content-Length", "0")
        self.end_headers()
        self.server.was_asked.set()

    def log_message(self, *words):
        pass


def test_a_stop_does_not_wait_for_a_catalog_that_does_not_answer(firn):
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Busy) as server:
        server.was_asked = threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        firn.configure(f"catalog: {{type: rest, uri: 'http://127.0.0.1:{server.server_port}'}}\nwal: {{path: wal}}\n")
        shift = firn.start("shift", "--all")
        assert server.was_asked.wait(timeout=60)
        shift.send_signal(signal.SIGINT)
        _, errors = shift.communicate(timeout=15)
        server.shutdown()
    assert shift.returncode not in (0, -signal.SIGINT)
    assert "429" in errors
