"""Tests that documents name are there."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[2]


def named_tests(text):
    """`Suite.Test` and `test_name` in the last column of a document's tables."""
    for line in text.splitlines():
        if line.startswith("|") and line.rstrip().endswith("|"):
            yield from re.findall(r"`(\w+\.\w+|test_\w+)`", line.rstrip(" |").rsplit("|", 1)[-1])


def existing_tests():
    for path in (ROOT / "src").rglob("*_test.cc"):
        for suite, name in re.findall(r"\bTEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", path.read_text()):
            yield f"{suite}.{name}"
    for path in (ROOT / "tests").rglob("test_*.py"):
        yield from re.findall(r"^def (test_\w+)\(", path.read_text(), re.MULTILINE)


@pytest.mark.parametrize("document", ["docs/faults.md"])
def test_a_named_test_exists(document):
    named = set(named_tests((ROOT / document).read_text()))
    assert len(named) > 10
    assert named - set(existing_tests()) == set()


def test_names_are_found_in_the_last_column_alone():
    assert list(named_tests("| `A.B` | x | `C.D` late, `test_e`, no `f` |\ntext `G.H`")) == ["C.D", "test_e"]
