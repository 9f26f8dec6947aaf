"""A lake whose catalog is a REST server, with its files on local disk."""

import dataclasses

from lake import CATALOG, Lake
from pyiceberg.catalog.rest import RestCatalog


@dataclasses.dataclass
class RestLake(Lake):
    """Tables that Firn, PyIceberg and Spark reach through one server; `folder` holds Firn's configuration and WAL."""

    uri: str = ""
    properties: dict = dataclasses.field(default_factory=dict)

    def __post_init__(self):
        self.configure(self.uri)

    def configure(self, uri, wal=None, **properties):
        lines = ["catalog:", "  type: rest", f"  uri: {uri}"]
        lines += [f"  {key}: {value}" for key, value in properties.items()]
        lines += ["wal:", f"  path: {wal or self.folder / 'wal'}"]
        (self.folder / "firn.yaml").write_text("\n".join(lines) + "\n")

    @property
    def pyiceberg(self):
        return RestCatalog(CATALOG, uri=self.uri, **self.properties)

    def drop_all(self, parent=()):
        catalog = self.pyiceberg
        for namespace in catalog.list_namespaces(parent):
            self.drop_all(namespace)
            for table in catalog.list_tables(namespace):
                catalog.drop_table(table)
            # Iceberg's server has some only as long as there is another one in them.
            if catalog.namespace_exists(namespace):
                catalog.drop_namespace(namespace)

    def open_spark(self, session):
        spark = session.newSession()
        for key, value in {"": "org.apache.iceberg.spark.SparkCatalog", ".type": "rest", ".uri": self.uri,
                           ".cache-enabled": "false"}.items():
            spark.conf.set(f"spark.sql.catalog.{CATALOG}{key}", value)
        spark.sql(f"USE {CATALOG}")
        return spark
