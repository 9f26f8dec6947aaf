"""Small manifests are merged, as the table's properties say, and every reader reads alike."""


def test_manifests_do_not_grow_with_the_number_of_loads(firn, duck):
    (firn.folder / "ids.csv").write_text("id,name\n1,a\n2,b\n3,\n")
    load = ["load", "db.t", "ids.csv", "--partition-by", "name"]
    firn.run(*load, "--create")
    with firn.table("db.t").transaction() as change:
        change.set_properties({"commit.manifest.min-count-to-merge": "4"})
    printed = "".join(firn.run(*load).stdout for _ in range(8))
    assert "merged 4 small manifests" in printed

    table = firn.table("db.t")
    assert len(table.current_snapshot().manifests(table.io)) <= 4
    assert sorted(table.scan().to_arrow()["id"].to_pylist()) == sorted([1, 2, 3] * 9)
    assert table.current_snapshot().summary["total-records"] == "27"
    rows = duck.sql(f"SELECT count(*), sum(id) FROM iceberg_scan('{table.metadata_location}')")
    assert rows.fetchone() == (27, 54)
    replaced = [s for s in table.snapshots() if s.summary.operation.value == "replace"]
    assert replaced and all(s.summary["total-data-files"] for s in replaced)
    for snapshot in table.snapshots():  # also those before a merge
        assert table.scan(snapshot_id=snapshot.snapshot_id).to_arrow().num_rows % 3 == 0
