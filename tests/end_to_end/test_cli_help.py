"""What the program tells about itself: help, usage errors, the man page, completion; all made from one source."""

import os
import pty
import re
import select
import shutil
import socket
import subprocess
import time

import pytest
from conftest import PROGRAM

PEOPLE = "id,name\n1,Ada\n2,Grace\n"


def commands(firn, *path):
    """Every command of the program, as the words that lead to it."""
    text = firn.run(*path, "--help").stdout
    listed = re.search(r"^Commands:\n((?:  .*\n)+)", text, re.M)
    for name in re.findall(r"^  (\S+)  ", listed[1], re.M) if listed else []:
        yield (*path, name)
        yield from commands(firn, *path, name)


def test_every_command_has_a_description_and_an_example(firn):
    found = list(commands(firn))
    assert ("table", "create") in found and len(found) > 15
    for path in found:
        text = firn.run(*path, "--help").stdout
        summary, usage, details, *_ = text.split("\n\n")
        assert summary.startswith(f"firn {' '.join(path)}: ")
        assert usage.startswith("Usage: firn ")
        assert details and not details.startswith(("Arguments:", "Options:", "Commands:")), text
        if "COMMAND" not in usage:
            assert re.search(r"^Examples?:\n  .*firn", text, re.M), text


def test_examples_name_only_options_that_are_there(firn):
    for path in commands(firn):
        text = firn.run(*path, "--help").stdout
        for example in re.findall(r"^  (?:source <\()?(firn .*)$", text.partition("\nExample")[2], re.M):
            for option in re.findall(r"(?<= )--[a-z-]+", example):
                assert f"\n  {option}" in text, f"{example} has no {option}"


@pytest.mark.parametrize("line, message", [
    ("", "name a command: load, shift,"),
    ("lod db.t x.csv", 'unknown command "lod"; did you mean load?; see \'firn --help\''),
    ("table crate db.t", 'unknown command "crate"; did you mean create?; see \'firn table --help\''),
    ("table", "name a command: create, list,"),
    ("list", 'unknown command "list"; did you mean table list?'),
    ("quarantine", 'unknown command "quarantine"; did you mean wal quarantine?'),
    ("positions list", 'unknown command "list"; there are show, reset'),
    ("help tabel", 'unknown command "tabel"; did you mean table?'),
    ("dead-letters show db.t --limit -1", '--limit: "-1" is not a whole number above 0'),
    ("--config a --config b table list", "--config: given 2 times"),
    ("shift --al", 'unknown option "--al"; did you mean --all?; see \'firn shift --help\''),
    ("--wharehouse x table list", 'unknown option "--wharehouse"; did you mean --warehouse?'),
    ("load", "TABLE is required; see 'firn load --help'"),
    ("load db.t", "FILE is required"),
    ("table list extra", 'unexpected argument "extra"'),
    ("table list --format xml", "--format: xml not in {text,json}"),
    ("load db.t x.csv --id", "--id"),
    ("shift --all db.t", "excludes"),
    ("completion tcsh", "tcsh not in {bash,zsh,fish}"),
])
def test_wrong_usage_is_one_line_and_exit_code_2(firn, line, message):
    result = firn.run(*line.split(), code=2)
    assert result.stdout == ""
    (error,) = result.stderr.splitlines()
    assert error.startswith("firn: ") and message in error and "--help'" in error


def test_help_needs_no_configuration_that_can_be_read(firn):
    firn.configure("nonsense: 1\n")
    for arguments in (["--help"], ["load", "--help"], ["version"], ["man"], ["completion", "bash"]):
        assert firn.run(*arguments).stdout
    firn.run("table", "list", code=2)


@pytest.mark.parametrize("path", [(), ("load",), ("table", "create")])
def test_help_is_a_command_too(firn, path):
    firn.configure("nonsense: 1\n")
    assert firn.run("help", *path).stdout == firn.run(*path, "--help").stdout


@pytest.mark.skipif(shutil.which("man") is None or shutil.which("groff") is None, reason="man or groff is not installed")
def test_the_man_page_is_clean_and_complete(firn, tmp_path):
    page = tmp_path / "firn.1"
    page.write_text(firn.run("man").stdout)
    groff = subprocess.run(["groff", "-man", "-ww", "-Tutf8", page], capture_output=True, text=True, check=True)
    assert groff.stderr == ""
    man = subprocess.run(["man", "--warnings", "-l", page], capture_output=True, text=True, check=True,
                         env={**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "100", "PAGER": "cat"})
    assert man.stderr == ""
    for path in commands(firn):
        text = firn.run(*path, "--help").stdout
        usage = re.search(r"^Usage: (.*)$", text, re.M)[1]
        if "COMMAND" not in usage:
            assert usage.split(" [")[0] in man.stdout
    for section in ("EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES"):
        assert f"\n{section}\n" in man.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_parse(firn, tmp_path, shell):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = tmp_path / "script"
    script.write_text(firn.run("completion", shell).stdout)
    subprocess.run([shell, "-n", script], check=True)


def test_completion_does_not_wait_for_a_catalog_that_is_silent(firn):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        uri = f"http://127.0.0.1:{silent.getsockname()[1]}"
        firn.configure(f"catalog: {{type: rest, uri: '{uri}'}}\nwal: {{path: wal}}\n")
        begun = time.monotonic()
        assert firn.run("__complete", "shift", "db").stdout == ""
    # Whoever waits for a commit waits for minutes.
    assert time.monotonic() - begun < 15


class Shell:
    """A shell on a terminal, in which keys are typed."""

    def __init__(self, arguments, folder):
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            environment = {**os.environ, "TERM": "dumb", "PS1": "$ ", "HISTFILE": "/dev/null",
                           "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}
            os.execvpe(arguments[0], arguments, environment)

    def read_until(self, text, seconds=20):
        """What is shown up to and including `text`."""
        shown, end = "", time.monotonic() + seconds
        while text not in shown:
            ready, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
            assert ready, f"waited for {text!r}, saw {shown!r}"
            shown += os.read(self.terminal, 4096).decode(errors="replace")
        return shown

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.process, 0)


@pytest.fixture
def bash(firn):
    (firn.folder / "people.csv").write_text(PEOPLE)
    firn.run("load", "db.people", "people.csv", "--create")
    (firn.folder / "script").write_text(firn.run("completion", "bash").stdout)
    shell = Shell(["bash", "--norc", "--noprofile", "-i"], firn.folder)
    shell.type("bind 'set enable-bracketed-paste off'; source ./script; echo rea''dy\n")
    shell.read_until("ready\r\n$ ")
    yield shell
    shell.close()


@pytest.mark.parametrize("typed, completed", [
    ("firn pos\tsh\t", "firn positions show "),
    ("firn load --nu\t", "firn load --null-value "),
    ("firn load db\t", "firn load db.people "),
    ("firn load db.people peo\t", "firn load db.people people.csv "),
    ("firn table list --format j\t", "firn table list --format json "),
    ("firn table list --format=j\t", "firn table list --format=json "),
    ("firn --config scr\t", "firn --config script "),
    ("firn --warehouse war\t", "firn --warehouse warehouse/"),
    ("firn --warehouse=nowhere shift d\t", "firn --warehouse=nowhere shift d"),
])
def test_bash_completes(bash, typed, completed):
    bash.type(typed)
    bash.read_until(completed)
    bash.type("#\n")  # the line is over, whatever it is
    bash.read_until("$ ")
