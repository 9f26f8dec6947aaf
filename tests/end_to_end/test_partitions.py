"""Partition values that are easily mistaken for others, or that make no file name."""

import math
from collections import Counter


def load(firn, name, header, values, *arguments):
    """Loads a file of one column beside a row number."""
    rows = [f"{i},{value}" for i, value in enumerate(values)]
    (firn.folder / name).write_text("\n".join([f"id,{header}", *rows]) + "\n")
    firn.run("load", "db.t", name, "--create", "--partition-by", header, *arguments)


def partition_rows(firn):
    """Records of the current snapshot's files, by partition value."""
    counts = Counter()
    for file in firn.table("db.t").inspect.files().to_pylist():
        (value,) = file["partition"].values()
        counts[str(value)] += file["record_count"]
    return counts


def test_nan_is_a_partition_of_its_own(firn):
    load(firn, "nan.csv", "x", ["NaN"] * 3, "--wal-only")
    load(firn, "all.csv", "x", ["1.5", "inf", "-inf", "NaN", "0.0", "-0.0"])
    assert partition_rows(firn) == {
        "nan": 4, "1.5": 1, "inf": 1, "-inf": 1, "0.0": 1, "-0.0": 1,
    }
    assert sum(map(math.isnan, firn.rows("db.t")["x"].to_pylist())) == 4


def test_values_may_be_too_long_for_a_file_name(firn):
    values = ["x" * 300, "x" * 300 + "y", "/" * 300, "a"]
    load(firn, "long.csv", "s", values)
    assert partition_rows(firn) == Counter(values)
    assert sorted(firn.rows("db.t")["s"].to_pylist()) == sorted(values)
