"""A warehouse that Firn shares with other engines, and how each of them reads a table of it."""

import dataclasses
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse

import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.partitioning import PartitionSpec
from pyiceberg.table.sorting import SortOrder

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))
from duckdb_reader import open_duckdb  # noqa: E402

PROGRAM = pathlib.Path(os.environ.get("FIRN", ROOT / "build/dev/src/firn/cli/firn"))
CATALOG = "firn"


def environment():
    """As it is now, but without PyIceberg settings: whose tests these are has some of their own."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYICEBERG_")} | {"HOME": "/"}


@dataclasses.dataclass
class Lake:
    """Tables in `folder`/warehouse, catalogued in one database by Firn, PyIceberg and Spark.

    The database is PostgreSQL's at `uri`, as SQLAlchemy writes it, else a SQLite file in the warehouse."""

    folder: pathlib.Path
    uri: str = ""
    files_written: int = 0

    def __post_init__(self):
        if self.uri:
            (self.folder / "firn.yaml").write_text(f"catalog:\n  uri: {self.uri}\n")

    @property
    def database(self):
        return self.folder / "warehouse/catalog.db"

    @property
    def location(self):
        return f"file://{self.folder}/warehouse"

    # Firn

    def firn(self, *arguments, code=0):
        """Runs the program; fails unless it exits with `code`."""
        done = subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder, env=environment(),
                              capture_output=True, text=True, timeout=300)
        assert done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def firn_creates(self, table, schema, partition_by="", sort_by=""):
        file = self.folder / f"{table}.schema.json"
        file.write_text(json.dumps(schema))
        layout = [*(["--partition-by", partition_by] if partition_by else []),
                  *(["--sort-by", sort_by] if sort_by else [])]
        self.firn("table", "create", table, "--schema", file, *layout)

    def firn_appends(self, table, rows, code=0):
        """Loads an Arrow table; columns are matched by name."""
        return self.firn("load", table, self.write_parquet(rows), code=code)

    def start_append(self, table, rows):
        """The same, without waiting for it."""
        return self.start("load", table, self.write_parquet(rows))

    def start(self, *arguments):
        return subprocess.Popen([PROGRAM, *arguments], cwd=self.folder, env=environment(), stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def write_parquet(self, rows):
        self.files_written += 1
        file = self.folder / f"{self.files_written}.parquet"
        pq.write_table(rows, file, store_schema=False)
        return file

    # PyIceberg

    @property
    def pyiceberg(self):
        (self.folder / "warehouse").mkdir(exist_ok=True)
        return SqlCatalog(CATALOG, uri=self.uri or f"sqlite:///{self.database}", warehouse=self.location)

    def table(self, name):
        return self.pyiceberg.load_table(name)

    def pyiceberg_creates(self, name, schema, spec=PartitionSpec(), order=SortOrder(), **properties):
        catalog = self.pyiceberg
        catalog.create_namespace_if_not_exists(name.split(".")[0])
        return catalog.create_table(name, schema, partition_spec=spec, sort_order=order, properties=properties)

    def metadata_file(self, name):
        return local_path(self.table(name).metadata_location)

    def metadata(self, name):
        """The table's metadata as it stands in its file."""
        file = self.metadata_file(name)
        return json.loads(gzip.decompress(file.read_bytes()) if ".gz." in file.name else file.read_bytes())

    # Spark

    def open_spark(self, session, layout="V1"):
        """A session of its own, so that its catalog is this warehouse's; `layout` is the JDBC catalog's."""
        (self.folder / "warehouse").mkdir(exist_ok=True)
        spark = session.newSession()
        for key, value in {
            "": "org.apache.iceberg.spark.SparkCatalog",
            ".type": "jdbc",
            **self.jdbc_address,
            ".warehouse": self.location,
            ".jdbc.schema-version": layout,
            ".cache-enabled": "false",
        }.items():
            spark.conf.set(f"spark.sql.catalog.{CATALOG}{key}", value)
        spark.sql(f"USE {CATALOG}")
        return spark

    @property
    def jdbc_address(self):
        if not self.uri:
            return {".uri": f"jdbc:sqlite:file:{self.database}"}
        address = urllib.parse.urlsplit(self.uri)
        return {
            ".uri": f"jdbc:postgresql://{address.hostname}:{address.port}{address.path}",
            ".jdbc.user": address.username,
            ".jdbc.password": address.password,
        }

    # DuckDB

    def open_duckdb(self, *tables):
        """A connection in which each table is a view of that name, read from the current metadata file."""
        duck = open_duckdb()
        duck.sql("SET TimeZone = 'UTC'")
        for table in tables:
            namespace, name = table.split(".")
            duck.sql(f"CREATE SCHEMA IF NOT EXISTS {namespace}")
            duck.sql(f"CREATE VIEW {table} AS SELECT * FROM iceberg_scan('{self.metadata_file(table)}')")
        return duck


def local_path(location):
    """Java writes file:/path, others file:///path."""
    return pathlib.Path(re.sub("^file:/+", "/", location))
