"""The demo, `make demo`, with warehouse and log in S3."""

import os
import subprocess
import sys

import pytest
from lake import PROGRAM, ROOT


@pytest.mark.parametrize("in_rest_catalog", [False, True], ids=["SQLite", "REST"])
def test_the_demo_works_in_a_bucket(tmp_path, s3, rest, in_rest_catalog):
    environment = {**os.environ, "AWS_ENDPOINT_URL": s3.uri, "AWS_ACCESS_KEY_ID": "firn",
                   "AWS_SECRET_ACCESS_KEY": "firn-secret", "AWS_REGION": "us-east-1"}
    catalog = ["--catalog", rest.uri] if in_rest_catalog else []
    demo = subprocess.run([sys.executable, ROOT / "tools/demo.py", "--firn", PROGRAM, "--folder", tmp_path,
                           "--warehouse", f"s3://lake/{tmp_path.name}", *catalog],
                          env=environment, capture_output=True, text=True, timeout=500)
    assert demo.returncode == 0, demo.stdout + demo.stderr
    for reader in ("DuckDB", "PyIceberg"):
        assert f"{reader}: 336,776 flights, " in demo.stdout
    place = "s3://lake/rest/demo/flights" if in_rest_catalog else f"s3://lake/{tmp_path.name}/demo/flights"
    assert f"It lies in {place}" in demo.stdout
