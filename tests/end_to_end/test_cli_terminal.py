"""What changes when a person looks: colours, bars, and nothing of it in a file or a pipe."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

import pytest
from conftest import PROGRAM


def on_terminal(firn, *arguments, width=100, **environment):
    """What a command shows on a terminal, output and errors together."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    known = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    process = subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=firn.folder, stdin=follower, stdout=follower,
                               stderr=follower, env={**known, "TERM": "xterm", **environment})
    os.close(follower)
    shown = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:  # Linux says so when the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(leader)
    process.wait(timeout=60)
    return shown.decode()


@pytest.mark.parametrize("environment, coloured", [
    ({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)])
def test_colours_only_on_a_terminal_that_wants_them(firn, environment, coloured):
    assert ("\x1b[" in on_terminal(firn, "check", **environment)) == coloured
    assert ("\x1b[" in on_terminal(firn, "shift", "db.t", **environment)) == coloured
    elsewhere = {"TERM": "xterm", **environment}
    assert "\x1b" not in firn.run("check", **elsewhere).stdout
    assert "\x1b" not in firn.run("shift", "db.t", code=1, **elsewhere).stderr


def load_until_a_bar_is_shown(firn):
    """What a load shows that was long enough for a bar; how many rows that takes depends on the machine."""
    for rows in (100_000, 500_000, 2_500_000, 12_500_000):
        (firn.folder / "long.csv").write_text("id\n" + "\n".join(map(str, range(rows))) + "\n")
        shown = on_terminal(firn, "load", f"db.t{rows}", "long.csv", "--create", "--wal-only", width=60)
        if "\r\x1b[K" in shown:
            return shown
    raise AssertionError("nothing was drawn")


def test_a_long_step_shows_a_bar_on_a_terminal_and_erases_it(firn):
    shown = load_until_a_bar_is_shown(firn)
    drawn = [part for part in shown.split("\r\x1b[K") if "\n" not in part and part]
    assert drawn and all(len(part) < 60 for part in drawn)


def test_elsewhere_there_is_no_bar(events):
    result = events.run(*events.load("a"))
    assert "\r" not in result.stderr and "\x1b" not in result.stderr and "[#" not in result.stderr


def test_counts_are_singular_where_they_are(firn):
    (firn.folder / "one.csv").write_text("id\n1\n")
    text = firn.run("load", "db.t", "one.csv", "--create").stdout
    assert "1 row " in text and "1 segment" in text and not re.search(r"\b1 (rows|segments)", text)
    (firn.folder / "two.csv").write_text("id\n1\n2\n")
    assert "2 rows" in firn.run("load", "db.t", "two.csv").stdout
