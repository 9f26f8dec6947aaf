"""firn plan: a user's plan becomes a case file and a picture."""

import xml.etree.ElementTree as ET

import pytest

BOUNDS = """
shift:
  lower_bound_input_bytes_per_task: 20KiB
  upper_bound_input_bytes_per_task: 40KiB
  {more}
"""


@pytest.fixture
def waiting(events):
    events.run(*events.load("x", "--wal-only"))
    return events


@pytest.mark.parametrize("more", ["", "oversized_clusters: split_row_groups", "max_row_groups_per_task: 3"])
def test_an_export_gives_the_identical_plan(waiting, more):
    waiting.configure(BOUNDS.format(more=more))
    plan = waiting.json("plan", waiting.TABLE, "--export", "case.json")
    assert plan["stats"]["oversized_clusters"] > 0
    assert waiting.json("plan", "--input", "case.json") == plan
    assert waiting.json("plan", waiting.TABLE) == plan
    waiting.run("plan", "--input", "case.json", "--export", "again.json")
    assert (waiting.folder / "again.json").read_text() == (waiting.folder / "case.json").read_text()


@pytest.mark.parametrize("layout", [
    ("--partition-by", "year(born), identity(city)", "--sort-by", "name desc nulls last, height"),
    ("--partition-by", "bucket(4, name)"),
    ("--sort-by", "born, ok desc"),
])
def test_an_export_holds_keys_and_partitions_of_many_types(firn, layout):
    lines = [f"{i},{'' if i % 7 == 0 else 'näme<&>' + 'x' * (i % 300)},19{i % 40 + 10}-01-02,city {i % 3},{i / 7},{i % 2 == 0}\n"
             for i in range(3000)]
    (firn.folder / "people.csv").write_text("id,name,born,city,height,ok\n" + "".join(lines))
    firn.run("load", "db.people", "people.csv", "--create", "--wal-only", *layout)
    firn.run("load", "db.people", "people.csv", "--wal-only")
    plan = firn.json("plan", "db.people", "--export", "case.json")
    assert sum(chunk["rows"] for chunk in plan["chunks"]) == 6000
    assert firn.json("plan", "--input", "case.json") == plan


def test_an_export_that_cannot_be_written_is_named(waiting):
    result = waiting.run("plan", waiting.TABLE, "--export", "missing/case.json", code=1)
    assert "missing/case.json" in result.stderr and result.stdout == ""


def test_a_picture_is_well_formed_and_names_every_partition(waiting):
    picture = waiting.run("plan", waiting.TABLE, "--format", "svg").stdout
    texts = {text.text for text in ET.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")}
    assert {f"name_trunc={2 * letter}" for letter in "abcdefgh"} <= texts
