"""What a shift makes of rows around midnight, and what it says of a cluster that is too large for one file."""

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
