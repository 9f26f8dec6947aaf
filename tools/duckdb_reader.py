"""DuckDB with its Iceberg extension, loaded from Python packages: it reads tables without a network."""

import pathlib
import sysconfig

import duckdb

EXTENSIONS = ("avro", "httpfs", "iceberg")


def open_duckdb():
    site_packages = pathlib.Path(sysconfig.get_path("purelib"))
    connection = duckdb.connect()
    for name in EXTENSIONS:
        (extension,) = site_packages.glob(f"duckdb_extension_{name}/extensions/*/{name}.duckdb_extension")
        connection.load_extension(str(extension))
    return connection
