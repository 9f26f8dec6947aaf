"""The main job on real data: what is in the table equals what is in the CSV file, and the files are shaped."""

from collections import Counter

import pyarrow.parquet as pq

FLIGHTS = 336_776
LAYOUT = ("--create", "--null-value", "NA", "--sort-by", "carrier asc, time_hour desc")


def sort_key(carrier, time_hour):
    return carrier, -time_hour.timestamp()


def keys_of(path):
    columns = pq.read_table(path, columns=["carrier", "time_hour"])
    return [
        sort_key(carrier, time_hour)
        for carrier, time_hour in zip(
            columns["carrier"].to_pylist(), columns["time_hour"].to_pylist()
        )
    ]


def assert_sorted_and_disjoint(files_by_partition):
    for partition, files in files_by_partition.items():
        ranges = []
        for path in files:
            keys = keys_of(path)
            assert keys == sorted(keys), f"{path} is not in sort order"
            ranges.append((keys[0], keys[-1]))
        ranges.sort()
        for (_, last), (first, _) in zip(ranges, ranges[1:]):
            assert last < first, f"files overlap in {partition}"


def checksum(duck, source):
    """Order-independent figures of every column, and of whole rows, as text."""
    return duck.sql(
        f"""SELECT count(*), sum(distance), bit_xor(row_hash), sum(row_hash::HUGEINT)
        FROM (SELECT distance, hash(row(year, month, day, dep_time, sched_dep_time, dep_delay,
              arr_time, sched_arr_time, arr_delay, carrier, flight, tailnum, origin, dest, air_time,
              distance, hour, minute, time_hour::VARCHAR)::VARCHAR) AS row_hash FROM {source})"""
    ).fetchone()


def csv_source(path):
    """The file as DuckDB reads it, with the types that Firn infers."""
    return (
        f"(SELECT * REPLACE (dep_time::BIGINT AS dep_time) FROM "
        f"read_csv('{path}', nullstr='NA', all_varchar=false, sample_size=-1,"
        f" types={{'time_hour': 'TIMESTAMPTZ'}}))"
    )


def runs_over_one_key(firn, table):
    """For each partition the most runs of the WAL that hold one key."""
    events = {}
    for segment in sorted((firn.folder / "warehouse/wal").rglob("*.parquet")):
        for run in firn.json("inspect", "segment", segment)["runs"]:
            bounds = events.setdefault(run["partition"], [])
            bounds += [(run["first_key_hex"], 0), (run["last_key_hex"], 1)]
    depths = {}
    for partition, bounds in events.items():
        depth = deepest = 0
        for _, is_end in sorted(bounds):
            depth += -1 if is_end else 1
            deepest = max(deepest, depth)
        depths[partition] = deepest
    return depths


def test_csv_to_table(firn, flights_csv, duck):
    firn.configure("wal:\n  flush_bytes: 512KiB\n")
    firn.run("load", "demo.flights", flights_csv, *LAYOUT, "--wal-only",
             "--partition-by", "month(time_hour)")
    depths = runs_over_one_key(firn, "demo.flights")
    assert len(depths) >= 12
    busy = sorted(depths.values(), reverse=True)[:12]
    assert min(busy) >= 5, f"the WAL should overlap in every month of 2013: {depths}"

    plan = firn.json("plan", "demo.flights")
    assert plan["stats"]["overlap_depth_max"] == 1

    report = firn.run("shift", "demo.flights").stdout
    assert "336,776 rows" in report and "1 commit" in report
    assert "writer_max_parquet_bytes" not in report

    table = firn.table("demo.flights")
    assert len(table.metadata.snapshots) == 1
    assert len(firn.rows("demo.flights")) == FLIGHTS
    assert_sorted_and_disjoint(firn.data_files("demo.flights"))
    scanned = f"iceberg_scan('{table.metadata_location}')"
    assert checksum(duck, scanned) == checksum(duck, csv_source(flights_csv))


def test_a_second_load_adds(firn, flights_csv):
    for times in (1, 2):
        firn.run("load", "demo.flights", flights_csv, *LAYOUT)
        rows = firn.rows("demo.flights")
        assert len(rows) == times * FLIGHTS
    carriers = Counter(rows["carrier"].to_pylist())
    assert set(count % 2 for count in carriers.values()) == {0}


def test_a_cluster_far_over_the_upper_bound_is_cut_at_keys(firn, flights_csv, duck):
    lower, upper = 224 << 10, 448 << 10
    firn.configure(
        "wal:\n  flush_bytes: 2MiB\n  row_group_bytes: 32KiB\n"
        "shift:\n  lower_bound_input_bytes_per_task: 224KiB\n"
        "  upper_bound_input_bytes_per_task: 448KiB\n"
    )
    firn.run("load", "demo.flights", flights_csv, *LAYOUT, "--wal-only",
             "--partition-by", "year(time_hour)")
    plan = firn.json("plan", "demo.flights")
    assert plan["stats"]["largest_cluster_bytes"] >= 10 * upper
    assert plan["stats"]["uncut_parts"] == 0
    parts = [chunk["bytes"] for chunk in plan["chunks"] if chunk["split"]]
    assert len(parts) >= 10
    well_sized = [size for size in parts[:-1] if 0.75 * lower <= size <= 1.25 * upper]
    assert len(well_sized) >= 0.95 * (len(parts) - 1)
    assert plan["stats"]["overlap_depth_max"] == 1

    firn.run("shift", "demo.flights")
    assert_sorted_and_disjoint(firn.data_files("demo.flights"))
    table = firn.table("demo.flights")
    assert len(table.metadata.snapshots) == 1
    scanned = f"iceberg_scan('{table.metadata_location}')"
    assert checksum(duck, scanned) == checksum(duck, csv_source(flights_csv))
