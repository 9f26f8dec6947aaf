"""PyIceberg's settings are Firn's: one file, and the same variables, read by both."""

import subprocess
import sys

import pytest
from conftest import ENVIRONMENT

ROWS = "id,name\n1,a\n2,b\n"
TABLE = "db.people"
READS = f"from pyiceberg.catalog import load_catalog; print(load_catalog().load_table('{TABLE}').scan().to_arrow().num_rows)"


@pytest.fixture
def home(firn):
    """A folder for .pyiceberg.yaml: `home(text)` writes the file, and gives the environment that names it."""
    folder = firn.folder / "home"
    folder.mkdir()

    def write(text):
        (folder / ".pyiceberg.yaml").write_text(text)
        return {"HOME": str(folder)}

    return write


def catalog(firn, name="default", folder="theirs"):
    (firn.folder / folder).mkdir(exist_ok=True)
    return f"  {name}:\n    type: sql\n    uri: sqlite:///{firn.folder}/{folder}/c.db\n" \
           f"    warehouse: file://{firn.folder}/{folder}\n"


def load(firn, *options, **environment):
    (firn.folder / "people.csv").write_text(ROWS)
    return firn.run(*options, "load", TABLE, "people.csv", "--create", **environment)


def pyiceberg_reads(firn, **environment):
    done = subprocess.run([sys.executable, "-c", READS], cwd=firn.folder, env={**ENVIRONMENT, **environment},
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def lies_in(firn, folder):
    return (firn.folder / folder / "db/people").is_dir()


def test_pyicebergs_default_catalog_is_taken(firn, home):
    environment = home("catalog:\n" + catalog(firn))
    load(firn, **environment)
    assert lies_in(firn, "theirs")
    assert pyiceberg_reads(firn, **environment) == 2


def test_variables_come_over_the_file(firn, home):
    environment = home("default-catalog: other\ncatalog:\n" + catalog(firn, "Prod"))
    environment |= {"PYICEBERG_DEFAULT_CATALOG": "prod", "PYICEBERG_CATALOG__PROD__WAREHOUSE": f"{firn.folder}/mine"}
    load(firn, **environment)
    assert lies_in(firn, "mine")
    assert pyiceberg_reads(firn, **environment) == 2


def test_variables_alone_are_enough(firn):
    environment = {"PYICEBERG_CATALOG__DEFAULT__URI": f"sqlite:///{firn.folder}/c.db",
                   "PYICEBERG_CATALOG__DEFAULT__WAREHOUSE": f"{firn.folder}/theirs"}
    load(firn, **environment)
    assert pyiceberg_reads(firn, **environment) == 2


def test_firn_yaml_may_name_a_catalog_and_leave_the_rest_to_pyiceberg(firn, home):
    firn.configure("catalog: {name: prod}\n")
    environment = home("default-catalog: prod\ncatalog:\n" + catalog(firn) + catalog(firn, "prod", "prod"))
    load(firn, **environment)
    assert lies_in(firn, "prod")
    assert pyiceberg_reads(firn, **environment) == 2


def test_what_firn_yaml_says_stays(firn, home):
    firn.configure("warehouse: ours\ncatalog: {name: prod}\n")
    environment = home("catalog:\n" + catalog(firn, "prod"))
    load(firn, **environment)
    assert lies_in(firn, "ours")
    assert (firn.folder / "theirs/c.db").exists()


@pytest.mark.parametrize("text", ["wal: {flush_bytes: 1MiB}\n", "catalog:\n"])
def test_firn_yaml_that_says_nothing_of_a_catalog_leaves_the_default_one(firn, home, text):
    firn.configure(text)
    load(firn, **home("catalog:\n" + catalog(firn)))
    assert lies_in(firn, "theirs")


def test_firn_yaml_that_names_a_warehouse_wants_nothing_of_the_default_catalog(firn, home):
    firn.configure("warehouse: ours\n")
    done = load(firn, **home("catalog:\n" + catalog(firn)))
    assert f"{TABLE} lies in file://{firn.folder}/ours/db/people" in done.stderr


def test_a_mistyped_catalog_is_wrong_usage_and_lands_nothing(firn, home):
    environment = home("catalog:\n" + catalog(firn, "prod"))
    (firn.folder / "people.csv").write_text(ROWS)
    words = 'nothing says where catalog "prdo" is; name one that PyIceberg\'s settings have (prod)'
    done = firn.run("load", TABLE, "people.csv", "--create", code=2, **environment, PYICEBERG_DEFAULT_CATALOG="prdo")
    assert f"PYICEBERG_DEFAULT_CATALOG: {words}" in done.stderr
    firn.configure("catalog: {name: prdo}\n")
    done = firn.run("load", TABLE, "people.csv", "--create", code=2, **environment)
    assert f"firn.yaml:1: catalog.name: {words}" in done.stderr
    assert not (firn.folder / "warehouse").exists()


def test_check_says_which_catalog_it_is_and_who_says_so(firn, home):
    firn.configure("catalog: {name: prod}\n")
    environment = home("catalog:\n" + catalog(firn, "prod"))
    for made in [False, True]:
        out = firn.run("check", **environment).stdout
        assert "prod (firn.yaml:1: catalog.name), " in out and "/c.db" in out
        assert ".pyiceberg.yaml:4: prod.uri)" in out
        load(firn, **environment)


def test_a_warehouse_elsewhere_asks_where_the_log_lies(firn):
    environment = {"PYICEBERG_CATALOG__DEFAULT__URI": f"sqlite:///{firn.folder}/c.db",
                   "PYICEBERG_CATALOG__DEFAULT__WAREHOUSE": "s3://lake/tables"}
    done = firn.run("shift", "--all", code=2, **environment)
    assert "say in firn.yaml where the WAL lies, with wal.path" in done.stderr
    assert "since s3://lake/tables is no folder of this machine" in done.stderr


def test_a_warehouse_on_the_command_line_is_enough(firn, home):
    load(firn, "--warehouse", "ours", **home("catalog: [\n"))
    assert lies_in(firn, "ours")


@pytest.mark.parametrize("text", ["wal: {flush_bytes: 1MiB}\n", "catalog:\n", "warehouse: other\n"])
def test_a_warehouse_on_the_command_line_is_enough_beside_a_firn_yaml(firn, home, text):
    firn.configure(text)
    load(firn, "--warehouse", "ours", **home("catalog:\n" + catalog(firn, "firn")))
    assert lies_in(firn, "ours")
    assert (firn.folder / "ours/catalog.db").exists()
    assert not (firn.folder / "theirs/c.db").exists()


def test_a_warehouse_on_the_command_line_stays_in_the_catalog_of_firn_yaml(firn, home):
    firn.configure("catalog: {name: prod}\n")
    load(firn, "--warehouse", "ours", **home("catalog:\n" + catalog(firn, "prod")))
    assert lies_in(firn, "ours")
    assert (firn.folder / "theirs/c.db").exists()


@pytest.mark.parametrize("text, words", [
    ("catalog:\n  default:\n    type: hive\n", '.pyiceberg.yaml:3: default.type: "hive" is not known; use sql or rest'),
    ("catalog:\n  default:\n    uri: mysql://u:s3cret@h/d\n", ".pyiceberg.yaml:3: default.uri: mysql://... is no catalog"),
    ("catalog:\n  default:\n    type: rest\n", "catalog default: uri: missing; write https://"),
    ("catalog:\n  default: [\n", ".pyiceberg.yaml:3: not valid YAML"),
])
def test_settings_that_open_no_catalog_are_wrong_usage(firn, home, text, words):
    done = firn.run("table", "list", code=2, **home(text))
    assert words in done.stderr and "s3cret" not in done.stderr


@pytest.mark.parametrize("text, words", [
    ("catalog:\n  type: hive\n", 'firn.yaml:2: catalog.type: "hive" is not known; use sql or rest'),
    ("catalog:\n  type: rest\n", "catalog firn: uri: missing"),
    ("catalog:\n  ury: x\n", 'firn.yaml:2: catalog.ury: unknown key; the nearest known one is "uri"'),
    ("warehouse: s3://lake/tables\n", "catalog firn: uri: missing"),
])
def test_a_wrong_section_catalog_is_wrong_usage(firn, text, words):
    firn.configure(text)
    assert words in firn.run("table", "list", code=2).stderr


def test_a_wrong_variable_is_named(firn):
    done = firn.run("table", "list", code=2, PYICEBERG_CATALOG__DEFAULT__TYPE="glue")
    assert 'PYICEBERG_CATALOG__DEFAULT__TYPE: "glue" is not known' in done.stderr
