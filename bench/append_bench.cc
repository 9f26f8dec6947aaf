// What an append costs as its table ages: CPU, and bytes that are put, catalog and all;
// "foreign" is the CPU of one right behind somebody else's, "floor" what it takes to put
// the metadata file's bytes alone: format version 2 and 3 list every snapshot in it.
//
//   cmake --preset release -DFIRN_BENCH=ON
//   cmake --build --preset release -t append_bench
//   build/release/bench/append_bench
//
// An age is the number of commits before. Nobody expires snapshots or merges manifests in
// a table that is left alone; in one that is looked after, snapshots older than the last
// hundred have expired, and manifests are merged by the hundred. The slope is that of a
// line from the youngest to the oldest: what a thousand commits add to an append.

#include <algorithm>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "firn/commit/committer.h"
#include "firn/commit/test_table.h"
#include "firn/iceberg/catalog/open_catalog.h"
#include "firn/iceberg/io/manifest_io.h"
#include "firn/iceberg/testing/sample_table.h"
#include "firn/iceberg/update/append.h"
#include "firn/storage/counting_store.h"
#include "firn/storage/temporary_directory.h"

namespace firn::commit {
namespace {

constexpr int kAppends = 10;
constexpr int kForeignAppends = 3;
constexpr int kAges[] = {10, 100, 1'000, 10'000};
const iceberg::TableIdentifier kTable{"demo", "flights"};

struct Age {
  int snapshots = 0;
  int manifests = 0;
};

struct Cost {
  double cpu_ms = 0;
  /// Of putting as many bytes as the metadata file has, from a text that is there.
  double floor_cpu_ms = 0;
  /// Where somebody else committed before.
  double cpu_ms_after_foreign = 0;
  double put_bytes = 0;
};

/// Flights in a SQLite catalog, files in memory, as if `age` had gone over it.
class AgedTable {
 public:
  explicit AgedTable(const Age& age) {
    FIRN_CHECK(ours_.catalog->CreateNamespace(kTable.namespace_name).ok());
    uuid_ = ours_.catalog->CreateTable(kTable, iceberg::FlightsCreation())
                .ValueOrDie()
                .metadata.table_uuid;
    MustAppend(ours_);
    Grow(age);
    MustAppend(ours_);
  }

  /// The least of a few, catalog call and all.
  Cost CostOfAppend() {
    const std::int64_t bytes_before = store_.counts().put_bytes;
    double cpu_ms = 1e9;
    for (int i = 0; i < kAppends; ++i) cpu_ms = std::min(cpu_ms, MustAppend(ours_));
    const std::int64_t bytes = store_.counts().put_bytes - bytes_before;
    double cpu_ms_after_foreign = 1e9;
    for (int i = 0; i < kForeignAppends; ++i) {
      MustAppend(foreign_);
      cpu_ms_after_foreign = std::min(cpu_ms_after_foreign, MustAppend(ours_));
    }
    return {.cpu_ms = cpu_ms,
            .floor_cpu_ms = FloorOfAppend(),
            .cpu_ms_after_foreign = cpu_ms_after_foreign,
            .put_bytes = static_cast<double>(bytes) / kAppends};
  }

 private:
  /// A process that appends.
  struct Writer {
    int number = 1;
    std::unique_ptr<iceberg::Catalog> catalog;
    int appended = 0;
    std::unique_ptr<Committer> committer = nullptr;
  };

  std::unique_ptr<iceberg::Catalog> Open() {
    return OpenCatalog(
               {.properties = {{"uri", "sqlite:///" + directory_.path() + "/catalog.db"},
                               {"warehouse", "memory:///warehouse"}}},
               io_, SystemRuntime())
        .ValueOrDie();
  }

  /// What no writer of JSON can do without: its text, made and put.
  double FloorOfAppend() {
    const iceberg::LoadedTable table = ours_.catalog->LoadTable(kTable).ValueOrDie();
    const std::string text = io_.Read(table.metadata_location).ValueOrDie();
    double cpu_ms = 1e9;
    for (int i = 0; i < kAppends; ++i) {
      const std::clock_t begin = std::clock();
      FIRN_CHECK(
          io_.WriteNew(fmt::format("{}/floor-{}", location_, i), std::string(text)).ok());
      cpu_ms = std::min(cpu_ms, Milliseconds(begin, std::clock()));
    }
    return cpu_ms;
  }

  static double Milliseconds(std::clock_t begin, std::clock_t end) {
    return 1e3 * static_cast<double>(end - begin) / CLOCKS_PER_SEC;
  }

  /// Gives the milliseconds of CPU that it took.
  double MustAppend(Writer& writer) {
    if (writer.committer == nullptr) {
      writer.committer = std::make_unique<Committer>(
          *writer.catalog, io_, SystemRuntime(),
          CommitterOptions{
              .table = kTable, .table_uuid = uuid_, .wal = TestWal(writer.number)});
    }
    const auto after = static_cast<std::uint64_t>(writer.appended++);
    Batch batch = TestBatch(writer.appended, after, after + 1);
    batch.files = {iceberg::FlightsFile(
        fmt::format("{}/data/{}-{}.parquet", location_, writer.number, writer.appended),
        500, "UA")};
    const std::clock_t begin = std::clock();
    const auto outcomes = writer.committer->Commit({batch}).ValueOrDie();
    const std::clock_t end = std::clock();
    FIRN_CHECK(outcomes.front().state == BatchState::kCommitted);
    return Milliseconds(begin, end);
  }

  /// Snapshots and manifests like the one that is there, in one commit.
  void Grow(const Age& age) {
    const iceberg::TableMetadata metadata =
        ours_.catalog->LoadTable(kTable).ValueOrDie().metadata;
    iceberg::Snapshot snapshot = *iceberg::CurrentSnapshot(metadata);
    std::vector<iceberg::TableUpdate> updates;
    for (int i = 0; i < age.snapshots; ++i) {
      snapshot.parent_snapshot_id = snapshot.snapshot_id;
      snapshot.snapshot_id = iceberg::NewSnapshotId(metadata, SystemRuntime());
      snapshot.sequence_number = SnapshotSequence(snapshot.sequence_number.value() + 1);
      snapshot.manifest_list =
          fmt::format("{}/metadata/snap-{}-1-9c12d441-03fe-4693-9a96-a0705ddf69c1.avro",
                      location_, snapshot.snapshot_id);
      updates.emplace_back(iceberg::AddSnapshot{snapshot});
    }
    WriteManifests(metadata, snapshot, age.manifests);
    updates.emplace_back(
        iceberg::SetSnapshotRef{"main", {.snapshot_id = snapshot.snapshot_id}});
    FIRN_CHECK(ours_.catalog->CommitTable(kTable, {}, updates).ok());
  }

  void WriteManifests(const iceberg::TableMetadata& metadata,
                      const iceberg::Snapshot& snapshot, int count) {
    const iceberg::ManifestFile like =
        iceberg::ManifestsOfMain(io_, metadata).ValueOrDie().front();
    std::vector<iceberg::ManifestFile> manifests;
    for (int i = 0; i < count; ++i) {
      manifests.push_back(like);
      manifests.back().manifest_path =
          fmt::format("{}/metadata/{:016x}-03fe-4693-9a96-a0705ddf69c1-m0.avro",
                      location_, SystemRuntime().Random64());
      manifests.back().sequence_number = SnapshotSequence(i + 1);
      manifests.back().added_snapshot_id =
          iceberg::NewSnapshotId(metadata, SystemRuntime());
      manifests.back().manifest_length += i % 1'000;
      manifests.back().added_rows_count = 1'000'000 + (i * 7'919) % 100'000;
    }
    FIRN_CHECK(iceberg::WriteManifestList(io_,
                                          {.location = snapshot.manifest_list,
                                           .snapshot_id = snapshot.snapshot_id,
                                           .parent_snapshot_id = std::nullopt,
                                           .sequence_number = snapshot.sequence_number},
                                          std::move(manifests))
                   .ok());
  }

  const std::string location_ = "memory:///warehouse/demo/flights";
  storage::TemporaryDirectory directory_ =
      storage::TemporaryDirectory::Make().ValueOrDie();
  storage::MemoryStore memory_{SystemRuntime()};
  storage::CountingStore store_{memory_};
  const iceberg::FileIo io_ =
      iceberg::FileIo::Make({{.prefix = "memory:///", .store = &store_}}).ValueOrDie();
  Writer ours_{.number = 1, .catalog = Open()};
  Writer foreign_{.number = 2, .catalog = Open()};
  TableUuid uuid_;
};

void Print(const std::string& name, Age (*at)(int commits)) {
  std::vector<Cost> costs;
  for (const int commits : kAges) {
    const Age age = at(commits);
    costs.push_back(AgedTable(age).CostOfAppend());
    fmt::print("{:<14} {:>7} {:>9} {:>9} {:>9.2f} {:>9.2f} {:>9.2f} {:>11.0f}\n", name,
               commits, age.snapshots, age.manifests, costs.back().cpu_ms,
               costs.back().floor_cpu_ms, costs.back().cpu_ms_after_foreign,
               costs.back().put_bytes);
  }
  const double thousands = (kAges[std::size(kAges) - 1] - kAges[0]) / 1e3;
  fmt::print("{:<14} slope per 1,000 commits: {:.3f} ms (floor {:.3f}), {:.0f} bytes\n",
             name, (costs.back().cpu_ms - costs.front().cpu_ms) / thousands,
             (costs.back().floor_cpu_ms - costs.front().floor_cpu_ms) / thousands,
             (costs.back().put_bytes - costs.front().put_bytes) / thousands);
}

void Main() {
  fmt::print("{:<14} {:>7} {:>9} {:>9} {:>9} {:>9} {:>9} {:>11}\n", "", "commits",
             "snapshots", "manifests", "CPU ms", "floor", "foreign", "bytes put");
  Print("looked after", [](int commits) {
    return Age{.snapshots = std::min(commits, 100),
               .manifests = commits / 100 + commits % 100};
  });
  Print("expired alone", [](int commits) {
    return Age{.snapshots = std::min(commits, 100), .manifests = commits};
  });
  Print("left alone",
        [](int commits) { return Age{.snapshots = commits, .manifests = commits}; });
}

}  // namespace
}  // namespace firn::commit

int main() { firn::commit::Main(); }
