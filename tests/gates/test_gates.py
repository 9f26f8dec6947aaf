"""The gates of tools/ refuse what they exist to refuse, on small trees made here."""

import importlib
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
TABLE = """# A
## Modules
| module | may include |
|---|---|
| core | - |
| types | core |
| order | types |
| cli | all above |
## Next
| wal | everything |
"""


@pytest.fixture
def tree(tmp_path):
    """A verb that writes {path: text} and returns what a gate prints about the tree, "" if it passes."""

    def check(gate, files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        run = subprocess.run([sys.executable, ROOT / "tools" / gate, tmp_path], capture_output=True, text=True)
        printed = run.stdout + run.stderr
        assert run.returncode == (1 if printed else 0)
        return printed.strip()

    return check


def layers(tree, path, include, table=TABLE):
    return tree("check_layers.py", {"ARCHITECTURE.md": table, path: f"\n#include {include}\n"})


@pytest.mark.parametrize("path, include", [
    ("src/firn/types/a.h", '"firn/core/x.h"'),
    ("src/firn/types/a_test.cc", '"firn/types/x.h"'),
    ("src/firn/order/a_test.cc", '"firn/core/x.h"'),
    ("src/firn/order/test_a.h", '"firn/core/x.h"'),
    ("src/firn/cli/deep/a.cc", '"firn/order/x.h"'),
    ("src/firn/core/a.h", "<arrow/api.h>"),
])
def test_layers_pass(tree, path, include):
    assert layers(tree, path, include) == ""


@pytest.mark.parametrize("path, include, why", [
    ("src/firn/core/a.h", '"firn/types/x.h"', "src/firn/core/a.h:2: core may not include firn/types/x.h"),
    ("src/firn/order/a.h", '"firn/core/x.h"', "order may not include firn/core/x.h"),
    ("src/firn/order/a_test.cc", '"firn/cli/x.h"', "order may not include firn/cli/x.h"),
    ("src/firn/order/a.cc", "<firn/cli/x.h>", "order may not include firn/cli/x.h"),
    ("src/firn/wal/a.cc", "<map>", "no row for the module wal"),
    ("src/firn/core/a.h", '"a.h"', "by its full name"),
])
def test_layers_refuse(tree, path, include, why):
    assert why in layers(tree, path, include)


def test_layers_refuse_a_table_that_is_no_layering(tree):
    table = TABLE.replace("| core | - |", "| core | cli |")
    assert "stands in no row above it" in layers(tree, "src/firn/core/a.h", "<map>", table)
    assert "no section" in layers(tree, "src/firn/core/a.h", "<map>", "# A\n")


REGISTERED = {
    "CMakeLists.txt": "add_subdirectory(src)  # add_subdirectory(gone)\n",
    "src/CMakeLists.txt": "firn_library(a SOURCES a.cc deep/b.cc\n  LINK x)\n",
    "src/a.cc": "",
    "src/deep/b.cc": "",
    "tests/test_a.py": "def test_a(): pass\n",
    "tests/conftest.py": "def helper(): pass\n",
}


def test_registered_passes(tree):
    assert tree("check_registered.py", REGISTERED) == ""


@pytest.mark.parametrize("changes, why", [
    ({"src/c.cc": ""}, "src/c.cc: not built; list it in src/CMakeLists.txt"),
    ({"src/CMakeLists.txt": "x(a.cc deep/b.cc # c.cc\n a.cc)"}, "src/a.cc: listed 2 times"),
    ({"src/CMakeLists.txt": "x(a.cc # deep/b.cc\n)"}, "src/deep/b.cc: not built"),
    ({"src/deep/CMakeLists.txt": "x(b.cc)"}, "the build never reaches src/deep/CMakeLists.txt"),
    ({"CMakeLists.txt": "add_subdirectory(src)\nx(src/a.cc)"}, "src/a.cc: listed 2 times"),
    ({"CMakeLists.txt": "add_subdirectory(gone)"}, "gone/CMakeLists.txt: not there"),
    ({"tests/deep/other.py": "class TestB:\n    def test_b(self): pass\n"}, "rename it"),
    ({"tests/test_b.py": "def helper(): pass\n"}, "holds none"),
])
def test_registered_refuses(tree, changes, why):
    assert why in tree("check_registered.py", REGISTERED | changes)


@pytest.mark.parametrize("path, code", [
    ("src/firn/core/a.cc", "std::mutex m;"),
    ("src/firn/wal/a.cc", "// std::mutex m;"),
    ("src/firn/wal/a.cc", "/* a\nstd::thread\n*/ int x;"),
    ("src/firn/wal/a.cc", 'f("std::thread // ");'),
    ("src/firn/wal/a.cc", 'f(R"(std::thread ")");'),
    ("src/firn/wal/a.cc", "runtime.Sleep(x); Mutex mutex(runtime); file.time(0, 1);"),
    ("src/firn/wal/a_test.cc", "std::mt19937_64 random(seed);"),
    ("tests/simulation/a.cc", "std::mt19937 random(seed);"),
])
def test_primitives_pass(tree, path, code):
    assert tree("check_primitives.py", {path: code}) == ""


@pytest.mark.parametrize("path, code", [
    ("src/firn/wal/a.cc", "std::mutex m;"),
    ("src/firn/wal/a.h", "std::jthread t;"),
    ("src/firn/wal/a.h", "std::condition_variable_any c;"),
    ("src/firn/wal/a.cc", "std::this_thread::yield();"),
    ("src/firn/wal/a.cc", "using std::chrono::system_clock;"),
    ("src/firn/wal/a.cc", "auto t = std::chrono::steady_clock::now();"),
    ("src/firn/wal/a.cc", "::sleep(1);"),
    ("src/firn/wal/a.cc", "auto t = time(nullptr);"),
    ("src/firn/wal/a.cc", "std::mt19937 random(seed);"),
    ("src/firn/wal/a_test.cc", "std::random_device device;"),
    ("src/firn/wal/a_test.cc", "std::lock_guard lock(m);"),
    ("tests/simulation/a.cc", "std::thread t;"),
    ("src/firn/wal/a.cc", "char c = '\"'; std::mutex m; // \""),
    ("src/firn/wal/a.cc", "int n = 1'000; std::mutex m; int k = 2'000;"),
])
def test_primitives_refuse(tree, path, code):
    assert f"{path}:1: " in tree("check_primitives.py", {path: code})


def test_every_check_of_clang_tidy_has_its_reason():
    lines = re.findall(r"^  - ([a-z].*)", (ROOT / ".clang-tidy").read_text(), re.M)
    assert len(lines) > 50
    assert [line for line in lines if not re.fullmatch(r"[a-z-]+ +# \S.*", line)] == []


@pytest.fixture
def repository(tmp_path):
    """A verb that makes a git repository of commits {path: text}, and returns what clang-tidy would look at."""

    def files(commits, build, base=None):
        def git(*arguments):
            subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=tmp_path, check=True,
                           capture_output=True)

        git("init", "-q")
        for commit in commits:
            for name, text in commit.items():
                path = tmp_path / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            git("add", ".")
            git("commit", "-q", "-m", "a")
        check_tidy = importlib.import_module("check_tidy")
        check_tidy.ROOT = tmp_path
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("FIRN_BASE", raising=False)
            if base:
                patch.setenv("FIRN_BASE", base)
            return check_tidy.files_to_check(build)

    return files


COMMITS = [{"src/firn/a.cc": '#include "firn/a.h"', "src/firn/a.h": "", "src/firn/b.cc": '#include "firn/a.h"'},
           {"src/firn/b.cc": '#include "firn/a.h"\n'}, {"src/firn/a.h": "1", "README.md": ""}]


def test_tidy_takes_what_changed_since_the_base_latest_first(repository):
    assert repository(COMMITS, ["src/firn/a.cc", "src/firn/b.cc"], "HEAD~2") == ["src/firn/a.cc", "src/firn/b.cc"]


def test_tidy_checks_a_header_with_the_file_of_its_name(repository):
    assert repository(COMMITS, ["src/firn/a.cc", "src/firn/b.cc"], "HEAD~1") == ["src/firn/a.cc"]


def test_tidy_without_a_base_takes_the_last_commits(repository):
    late = [{"src/firn/b.cc": str(n)} for n in range(12)]
    assert repository(COMMITS + late, ["src/firn/a.cc", "src/firn/b.cc"]) == ["src/firn/b.cc"]


def test_tidy_leaves_the_oldest_of_too_many(repository, capsys):
    build = [f"src/firn/{n}.cc" for n in range(importlib.import_module("check_tidy").FILES_MAX + 1)]
    commits = [{"README.md": ""}, *({name: ""} for name in build)]
    assert repository(commits, build, f"HEAD~{len(build)}") == build[:0:-1]
    assert "src/firn/0.cc" in capsys.readouterr().out
