"""Firn's S3 store on a real server."""

import os
import subprocess

from lake import PROGRAM

STORAGE_TEST = PROGRAM.parents[1] / "storage/storage_test"


def test_the_store_keeps_what_every_store_promises(s3):
    environment = {**os.environ, "FIRN_TEST_S3_ENDPOINT": s3.uri, "AWS_ACCESS_KEY_ID": "firn",
                   "AWS_SECRET_ACCESS_KEY": "firn-secret"}
    # The server's objects are files: to look below one is an error 500 there.
    tests = "*/ObjectStoreTest.*/s3-*NothingIsBelowAnObject*"
    done = subprocess.run([STORAGE_TEST, f"--gtest_filter={tests}"], env=environment, capture_output=True, text=True,
                          timeout=300)
    assert done.returncode == 0, done.stdout
    assert "PASSED" in done.stdout and "SKIPPED" not in done.stdout, done.stdout
