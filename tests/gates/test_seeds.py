"""docs/seeds.md says where each claim of the two documents is kept: all that it names must be there, and the two
borders that it draws must hold."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src/firn"
PAGE = (ROOT / "docs/seeds.md").read_text()
BACKTICKED = re.compile(r"`([^`\n]+)`")
GTEST = re.compile(r"[A-Z]\w*Test\.[A-Z]\w*")
CASE = re.compile(r"case-\d\d[\w-]+")
SETTING = re.compile(r"(?:[a-z_]+(?:\[\])?\.)+[a-z_]+")
PYTEST = re.compile(r"(tests/[\w/]+\.py)::(test_\w+)")


def read_all(*patterns):
    return "\n".join(path.read_text() for pattern in patterns for path in sorted(SOURCES.rglob(pattern)))


GTESTS = {f"{suite}.{name}" for suite, name in
          re.findall(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", read_all("*_test.cc"), re.M)}
CODE = read_all("*.h", "*.cc")
SETTINGS = (SOURCES / "cli/config.cc").read_text()


def find(path):
    """The file or folder that the page calls so, or None."""
    begins = [ROOT / path] if path.split("/")[0] in ("tests", "tools", "bench", "docs", "src") else [SOURCES / path]
    return next((begin for begin in begins if begin.exists()), None)


def is_there(name):
    if " " in name:
        return True  # a command
    if test := PYTEST.fullmatch(name):
        file = find(test[1])
        return file is not None and f"\ndef {test[2]}(" in file.read_text()
    if GTEST.fullmatch(name):
        return name in GTESTS
    if CASE.fullmatch(name):
        return (SOURCES / "planner/cases" / f"{name}.json").exists()
    if "/" in name or (ROOT / name).exists():
        return find(name) is not None
    if SETTING.fullmatch(name):
        return f'"{name.split(".")[-1]}"' in SETTINGS
    if name.startswith("firn_"):  # a metric: its name is put together from a prefix and this
        return f'"{name.removeprefix("firn_shift_")}"' in CODE
    return re.search(rf"\b{re.escape(name)}\b", CODE) is not None


def rows():
    """{id: the cells behind it} of each claim."""
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in PAGE.splitlines()
             if re.match(r"\| [PQ]\d+ \|", line)]
    return {row[0].strip(): row[1:] for row in cells}


def names_a_proof(text):
    if "the same" in text or "none needed" in text:
        return True
    return any(GTEST.fullmatch(name) or CASE.fullmatch(name) or PYTEST.fullmatch(name)
               for name in BACKTICKED.findall(text))


def test_all_that_the_page_names_is_there():
    names = BACKTICKED.findall(PAGE)
    assert len(names) > 200
    assert [name for name in names if not is_there(name)] == []


def test_each_function_is_in_the_file_beside_it():
    pairs = re.findall(r"`([\w./]+)` \*([\w:]+)\*", PAGE)
    assert len(pairs) > 30
    missing = [(path, name) for path, name in pairs
               if not all(re.search(rf"\b{part}\b", find(path).read_text()) for part in name.split("::"))]
    assert missing == []


@pytest.mark.parametrize("letter", "PQ")
def test_each_claim_has_a_number_and_a_proof(letter):
    claims = {name: cells for name, cells in rows().items() if name[0] == letter}
    assert list(claims) == [f"{letter}{n}" for n in range(1, len(claims) + 1)]
    assert [name for name, cells in claims.items() if not names_a_proof(" ".join(cells[1:]))] == []


def test_each_deviation_is_explained_and_referred_to():
    explained = re.findall(r"^- \*\*(D\d+)\*\*", PAGE, re.M)
    assert explained == [f"D{n}" for n in range(1, len(explained) + 1)]
    tables = "\n".join(line for line in PAGE.splitlines() if line.startswith("|"))
    referred = set(re.findall(r"\bD\d+\b", tables)) | {"D1"}  # of the sizes in all tables
    assert referred == set(explained)


def test_each_case_of_the_planner_is_named():
    cases = {path.stem for path in (SOURCES / "planner/cases").glob("*.json")}
    document = {case for case in cases if re.match(r"case-(0\d|1[0-5])", case)}
    assert len(document) == 20
    assert document - set(BACKTICKED.findall(PAGE)) == set()


def test_what_is_not_there_is_found():
    for name in ("PackTest.NoSuchTest", "case-99-none", "planner/none.cc", "tests/gates/test_seeds.py::test_none",
                 "shift.no_such_setting", "firn_shift_none_total", "no_such_word"):
        assert not is_there(name), name


def test_the_reader_names_no_column_and_the_planner_no_storage():
    reader = "".join((SOURCES / "wal" / name).read_text() for name in ("wal_reader.h", "wal_reader.cc", "extraction.h"))
    assert re.findall(r"tenant|service|timestamp|boundary|planner", reader) == []
    planner = "".join(path.read_text() for path in (SOURCES / "planner").glob("*.[hc]*"))
    includes = set(re.findall(r'^#include "firn/(\w+)/|^#include <(arrow|parquet)/', planner, re.M))
    assert {first for first, _ in includes} <= {"core", "types", "order", "planner", ""}
    assert {second for _, second in includes} == {""}
