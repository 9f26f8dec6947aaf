"""The servers and readers that the tests share: each is started once a run, and ended with it.

Where one cannot be installed, its tests are skipped with the reason; FIRN_REQUIRE_SERVERS=1 makes that a failure.
"""

import dataclasses
import itertools
import os
import pathlib
import shutil
import socket
import subprocess

import pytest
from lake import ROOT, Lake
from spark_session import DOWNLOADS, start_spark

DATABASES = itertools.count(1)
SERVERS = ROOT / "tests/servers"


def install(name):
    done = subprocess.run([SERVERS / f"{name}.sh", "install"], capture_output=True, text=True)
    if done.returncode == 0:
        return
    reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
    if os.environ.get("FIRN_REQUIRE_SERVERS") == "1":
        pytest.fail(f"cannot be installed: {reason}")
    pytest.skip(f"cannot be installed: {reason}")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclasses.dataclass
class Server:
    """One of tests/servers, with data of its own, so that test runs do not meet."""

    name: str
    state: pathlib.Path
    properties: str = ""
    port: int = 0

    def run(self, *arguments):
        # To files, not pipes: the server would inherit a pipe and keep it open.
        with (self.state / f"{self.name}.out").open("w+") as output:
            environment = {**os.environ, "SERVERS_STATE": str(self.state), "REST_PROPERTIES": self.properties}
            done = subprocess.run([SERVERS / f"{self.name}.sh", *arguments], stdout=output, stderr=output,
                                  env=environment)
            output.seek(0)
            assert done.returncode == 0, output.read()

    def start(self):
        self.port = self.port or free_port()
        self.run("start", str(self.port))

    def restart_after_a_crash(self):
        self.run("crash")
        self.start()

    @property
    def uri(self):
        return f"http://127.0.0.1:{self.port}"


@pytest.fixture(scope="session")
def servers_state():
    state = DOWNLOADS / f"state-{os.getpid()}"
    state.mkdir(parents=True)
    yield state
    elsewhere = state / "postgres/folder"
    if elsewhere.exists():
        shutil.rmtree(elsewhere.read_text().strip())
    shutil.rmtree(state, ignore_errors=True)


def serve(name, state, properties=""):
    install(name)
    server = Server(name, state, properties)
    server.start()
    yield server
    server.run("stop")


@pytest.fixture(scope="session")
def postgres(servers_state):
    """User, password and database are "firn"."""
    yield from serve("postgres", servers_state)


def new_database(server):
    """An empty one; its address as SQLAlchemy writes it."""
    name = f"lake{next(DATABASES)}"
    subprocess.run(["createdb", "--host=127.0.0.1", f"--port={server.port}", "--username=firn", name], check=True,
                   env={**os.environ, "PGPASSWORD": "firn"})
    return f"postgresql+pg8000://firn:firn@127.0.0.1:{server.port}/{name}"


@pytest.fixture
def database(postgres):
    return new_database(postgres)


@pytest.fixture
def own_postgres(tmp_path):
    """A server for one test, to be crashed."""
    yield from serve("postgres", tmp_path)
    shutil.rmtree((tmp_path / "postgres/folder").read_text().strip())


@pytest.fixture(scope="session")
def s3(servers_state):
    """Key "firn", secret "firn-secret", bucket "lake"."""
    yield from serve("s3", servers_state)


@pytest.fixture
def own_s3(tmp_path):
    """A server for one test, to be stopped."""
    yield from serve("s3", tmp_path)


def warehouse_in(s3):
    """Properties of a REST catalog whose warehouse is the bucket "lake"."""
    return "\n".join([
        "warehouse=s3://lake/rest",
        "io-impl=org.apache.iceberg.aws.s3.S3FileIO",
        f"s3.endpoint={s3.uri}",
        "s3.path-style-access=true",
        "s3.access-key-id=firn",
        "s3.secret-access-key=firn-secret",
        "client.region=us-east-1",
    ])


@pytest.fixture(scope="session")
def rest(servers_state, s3):
    yield from serve("rest", servers_state, warehouse_in(s3))


@pytest.fixture
def own_rest(tmp_path, own_s3):
    """One for one test, to be stopped."""
    yield from serve("rest", tmp_path, warehouse_in(own_s3))


@pytest.fixture(scope="session")
def rest_on_disk(servers_state):
    """A REST catalog whose files lie on local disk, in <state>/rest/warehouse."""
    state = servers_state / "on_disk"
    state.mkdir()
    # As servers in use do: no table without its namespace.
    yield from serve("rest", state, "jdbc.strict-mode=true")


@pytest.fixture(scope="session")
def spark_session(tmp_path_factory):
    install("spark")
    session = start_spark("firn-interop", tmp_path_factory.mktemp("spark"))
    yield session
    session.stop()


@pytest.fixture
def lake(tmp_path):
    return Lake(tmp_path)


@pytest.fixture
def postgres_lake(tmp_path, database):
    """The same, catalogued in PostgreSQL."""
    return Lake(tmp_path, database)


@pytest.fixture
def spark(lake, spark_session):
    """A Spark session whose catalog is the warehouse's SQLite file."""
    return lake.open_spark(spark_session)
