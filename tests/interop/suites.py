"""A module's C++ tests, run on a server that a test started."""

import os
import re
import subprocess

from lake import PROGRAM


def start_suite(module, tests, **environment):
    """`environment` tells the tests where the server is."""
    return subprocess.Popen([PROGRAM.parents[1] / module / f"{module}_test", f"--gtest_filter={tests}"],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env={**os.environ, **environment})


def passes(suite):
    """How many tests ran; all passed, and none was skipped."""
    output = suite.communicate(timeout=300)[0]
    assert suite.returncode == 0, output
    assert "SKIPPED" not in output
    return int(re.search(r"(\d+) tests? from .* ran", output).group(1))
