"""What a shift makes of midnight and of a gap in time, and what it says of a cluster too large for one file."""

import datetime

import pyarrow.parquet as pq

MIDNIGHT = """service,ts
api,2025-12-31T23:59:58Z
api,2026-01-01T00:00:01Z
web,2025-12-31T23:59:59Z
web,2026-01-01T00:00:00Z
"""


def test_rows_around_midnight_become_one_file_a_day(firn):
    (firn.folder / "midnight.csv").write_text(MIDNIGHT)
    firn.run("load", "db.logs", "midnight.csv", "--create",
             "--partition-by", "day(ts)", "--sort-by", "service, ts desc")
    assert [len(files) for files in firn.data_files("db.logs").values()] == [1, 1]
    assert len(firn.table("db.logs").metadata.snapshots) == 1
    assert firn.rows("db.logs").num_rows == 4


def test_an_oversized_cluster_is_counted_in_the_report(events):
    events.run(*events.load("a", "--wal-only"))
    events.run(*events.load("b", "--wal-only"))
    text = (events.folder / "firn.yaml").read_text()
    events.configure(text + "shift:\n  lower_bound_input_bytes_per_task: 8KiB\n"
                            "  upper_bound_input_bytes_per_task: 16KiB\n")
    oversized = events.json("plan", events.TABLE)["stats"]["oversized_clusters"]
    assert oversized >= 1
    assert f"({oversized} oversized" in events.run("shift", events.TABLE).stdout
    events.assert_each_row(2)


def write_seconds(path, first, last, rows=70_000):
    """Rows of one service, spread over some seconds of one hour; enough of them for a row group of their own."""
    begin = datetime.datetime(2026, 1, 1)
    step = datetime.timedelta(seconds=last - first) / rows
    times = (begin + datetime.timedelta(seconds=first) + i * step for i in range(rows))
    path.write_text("service,ts\n" + "".join(f"api,{time:%Y-%m-%dT%H:%M:%S.%f}Z\n" for time in times))


def test_a_gap_in_time_is_in_the_files_bounds_but_in_no_row_group(firn):
    for first, last in ((10, 40), (200, 230)):
        write_seconds(firn.folder / "part.csv", first, last)
        firn.run("load", "db.logs", "part.csv", "--create", "--wal-only", "--sort-by", "service, ts desc")
    assert firn.json("plan", "db.logs")["stats"]["clusters"] == 2
    firn.run("shift", "db.logs")
    ((file,),) = firn.data_files("db.logs").values()
    metadata = pq.ParquetFile(file).metadata
    ranges = []
    for group in range(metadata.num_row_groups):
        times = metadata.row_group(group).column(1).statistics
        ranges.append((times.min.minute * 60 + times.min.second, times.max.minute * 60 + times.max.second))
    assert ranges == [(200, 230), (10, 40)]
