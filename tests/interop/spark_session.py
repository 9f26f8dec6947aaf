"""How Spark with Iceberg's runtime is started."""

import os
import sys

from lake import ROOT

DOWNLOADS = ROOT / ".deps/servers"


def start_spark(name, folder):
    """A session that keeps what it needs beside its tables in `folder`. REQUIRES: `make setup-servers` installed it."""
    sys.path.append(str(DOWNLOADS / "spark/python"))
    # The Java program reads these; a zone of the machine's would move timestamps.
    os.environ.update(TZ="UTC", SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
    from pyspark.sql import SparkSession

    jars = ":".join(str(jar) for server in ("spark", "postgres") for jar in sorted((DOWNLOADS / server / "jars").glob("*.jar")))
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.driver.extraClassPath": jars,
        "spark.driver.extraJavaOptions": f"-XX:TieredStopAtLevel=1 -Duser.timezone=UTC -Dderby.system.home={folder}",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master("local[1]").appName(name)
    for key, value in settings.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session
