#include "world.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "chance.h"
#include "firn/commit/history.h"
#include "firn/iceberg/io/manifest_io.h"
#include "firn/iceberg/io/named_files.h"
#include "firn/iceberg/update/new_table.h"
#include "firn/order/sort_order.h"
#include "firn/wal/wal_root.h"

namespace firn::sim {
namespace {

const iceberg::TableIdentifier kTable = {.namespace_name = "demo", .name = "events"};
constexpr std::int64_t kStepsMax = 100'000;
constexpr std::uint64_t kSwitchPercents[] = {5, 20, 60};

iceberg::FileIo MountedAtRoot(storage::ObjectStore& store) {
  return iceberg::FileIo::Make({{.prefix = "memory:///", .store = &store}}).ValueOrDie();
}

/// The summary names the batches of one log, between commas.
bool HasSeveralBatches(const iceberg::Snapshot& snapshot) {
  return std::ranges::any_of(snapshot.summary, [](const auto& entry) {
    return entry.first.starts_with("firn.commit.") &&
           entry.second.find(',') != std::string::npos;
  });
}

/// The iteration that wrote a data file: its name begins with it.
std::string IterationOf(const iceberg::DataFile& file) {
  constexpr std::size_t kUlidLength = 26;
  return file.file_path.substr(file.file_path.rfind('/') + 1, kUlidLength);
}

}  // namespace

Plan Plan::Draw(Runtime& runtime) {
  using std::chrono::hours;
  using std::chrono::milliseconds;
  using std::chrono::minutes;
  using std::chrono::seconds;
  return {
      .latency_max = Duration(OneOf(runtime, {10, 1'000, 50'000})),
      .faults = {.refused = OneOf<std::uint64_t>(runtime, {0, 5, 30}),
                 .answer_lost = OneOf<std::uint64_t>(runtime, {0, 10, 60}),
                 .hanging = OneOf<std::uint64_t>(runtime, {0, 5, 30})},
      .wal_roots = OneOf<std::size_t>(runtime, {1, 1, 2}),
      .ingest_machines = OneOf<std::size_t>(runtime, {1, 1, 2}),
      .serve_machines = OneOf<std::size_t>(runtime, {0, 0, 1, 2}),
      .shift_machines = OneOf<std::size_t>(runtime, {1, 1, 2, 3}),
      .steps_to_crash = OneOf<std::int64_t>(runtime, {0, 300, 1'500}),
      .troubles = OneOf(runtime, {0, 5, 15}),
      .trouble_interval = OneOf<Duration>(runtime, {seconds(1), seconds(4), hours(3)}),
      .deliveries = OneOf(runtime, {4, 6, 8}),
      .thinking_time_max =
          OneOf<Duration>(runtime, {milliseconds(300), milliseconds(300), hours(8)}),
      .flush_bytes = OneOf<std::int64_t>(runtime, {100, 400, 1'000}),
      .iteration_bytes = OneOf<std::int64_t>(runtime, {1, 20'000, 1 << 20}),
      .file_bytes = OneOf<std::int64_t>(runtime, {1'000, 3'000, 1 << 20}),
      .retention = OneOf<Duration>(runtime, {minutes(40), hours(1)}),
      .codec = OneOf<const char*>(runtime, {"uncompressed", "snappy", "snappy"}),
      .memory_bytes = OneOf<std::int64_t>(runtime, {64 << 20, 64 << 20, 2'000})};
}

WalRoot::WalRoot(Runtime& runtime)
    : store(runtime), id(wal::OpenWalRoot(runtime, store).ValueOrDie()) {}

World::World(std::uint64_t seed)
    : sim_({.seed = seed,
            .switch_percent = kSwitchPercents[seed % 3],
            .steps_max = kStepsMax}),
      node_(sim_.NewNode("world")),
      plan_(Plan::Draw(node_)),
      network_(node_, plan_.latency_max, plan_.faults),
      data_(node_),
      io_(MountedAtRoot(data_)),
      memory_catalog_(node_, "memory:///warehouse"),
      catalog_(memory_catalog_) {
  catalog_.script.after_commit = [this] {
    CheckPositions();
    return Status::OK();
  };
  const types::Schema schema = shift::TestSchema(types::TypeKind::kLong);
  FIRN_CHECK(catalog_.CreateNamespace(kTable.namespace_name).ok());
  FIRN_CHECK(
      catalog_
          .CreateTable(kTable,
                       {.schema = schema,
                        .sort_order = order::ParseSortOrder("key", schema).ValueOrDie(),
                        .properties = {{"write.parquet.compression-codec", plan_.codec}}})
          .ok());
  for (std::size_t i = 0; i < plan_.wal_roots; ++i) {
    roots_.push_back(std::make_unique<WalRoot>(node_));
  }
}

SimNode& World::NewNode(std::string name) {
  nodes_.push_back(&sim_.NewNode(std::move(name)));
  return *nodes_.back();
}

void World::SetRolledBack(bool is_rolled_back) {
  if (!is_rolled_back) TakePositions();
  is_rolled_back_ = is_rolled_back;
  ++rollback_changes_;
}

void World::TakePositions() {
  const iceberg::TableMetadata metadata = Load();
  checked_ = metadata.current_snapshot_id;
  for (const auto& root : roots_) {
    const auto positions = commit::ReadPositions(metadata, root->id);
    if (!positions.ok()) return Report(positions.status().ToString());
    reached_[root->id] = positions->reached;
  }
}

std::vector<iceberg::DataFile> World::LiveFiles() {
  return shift::LiveFiles(io_, Load());
}

std::vector<shift::TestRow> World::RowsOf(const iceberg::DataFile& file) {
  return shift::ReadRows(io_, Load(), file);
}

const iceberg::TableIdentifier& World::table() const { return kTable; }

iceberg::TableMetadata World::Load() {
  return catalog_.LoadTable(kTable).ValueOrDie().metadata;
}

void World::DeleteAddedFiles(const std::vector<iceberg::TableUpdate>& updates) {
  const iceberg::TableMetadata metadata = Load();
  for (const iceberg::TableUpdate& update : updates) {
    const auto* added = std::get_if<iceberg::AddSnapshot>(&update);
    if (added == nullptr) continue;
    const auto manifests =
        iceberg::ReadManifestList(io_, added->snapshot.manifest_list).ValueOrDie();
    for (const iceberg::ManifestFile& manifest : manifests) {
      if (manifest.added_snapshot_id != added->snapshot.snapshot_id) continue;
      for (const auto& entry : ReadManifest(io_, metadata, manifest).ValueOrDie()) {
        FIRN_CHECK(io_.Delete(entry.data_file.file_path).ok());
      }
    }
  }
}

void World::CheckPositions() {
  const iceberg::TableMetadata metadata = Load();
  if (is_rolled_back_) return;
  CheckMoves(metadata);
  for (const auto& root : roots_) {
    const auto positions = commit::ReadPositions(metadata, root->id);
    if (!positions.ok()) return Report(positions.status().ToString());
    CheckPositions(root->id, positions->reached);
  }
}

void World::CheckMoves(const iceberg::TableMetadata& metadata) {
  const auto history = commit::HistoryOfMain(metadata);
  const auto known = std::ranges::find(history, checked_, [](const auto* snapshot) {
    return std::optional(snapshot->snapshot_id);
  });
  // Snapshots between may have expired.
  if (checked_ && known == history.end()) return TakePositions();
  std::for_each(std::reverse_iterator(known), history.rend(),
                [&](const auto* snapshot) { CheckMove(*snapshot); });
  checked_ = metadata.current_snapshot_id;
}

void World::CheckMove(const iceberg::Snapshot& snapshot) {
  if (HasSeveralBatches(snapshot)) ++shared_commits_;
  const auto moved = commit::RangesOf(snapshot).ValueOrDie();
  for (const auto& [wal, shards] : moved.shards) {
    for (const auto& [shard, range] : shards) {
      SegmentSequence& at = reached_[wal].shards[shard];
      if (range.after != at) {
        Report(fmt::format("shard {} was at {}, a commit goes on from {}", shard, at,
                           range.after));
      }
      at = range.through;
    }
  }
}

void World::CheckPositions(const WalId& wal, const wal::Positions& now) {
  wal::Positions& before = reached_[wal];
  for (const auto& [shard, sequence] : before.shards) {
    const auto found = now.shards.find(shard);
    // What is not named any more is over.
    if (found == now.shards.end() || found->second >= sequence) continue;
    Report(
        fmt::format("shard {} went back from {} to {}", shard, sequence, found->second));
  }
  for (const auto& [source, offset] : before.sources) {
    const auto found = now.sources.find(source);
    if (found != now.sources.end() && found->second >= offset) continue;
    Report(fmt::format("source {} went back from {}", source, offset));
  }
  before = now;
}

void World::MayOverlap(const iceberg::DataFile& file) {
  iterations_that_may_overlap_.insert(IterationOf(file));
}

void World::CheckTable() {
  std::vector<shift::TestRow> rows;
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> ranges;
  for (const iceberg::DataFile& file : LiveFiles()) {
    if (!io_.Read(file.file_path).ok()) {
      Report(fmt::format("live file {} was deleted", file.file_path));
      continue;
    }
    const auto read = RowsOf(file);
    if (!std::ranges::is_sorted(read, {}, &shift::TestRow::key)) {
      Report(fmt::format("{} is not sorted", file.file_path));
    }
    ranges[IterationOf(file)].emplace_back(read.front().key, read.back().key);
    std::ranges::copy(read, std::back_inserter(rows));
  }
  for (auto& [iteration, files] : ranges) {
    if (iterations_that_may_overlap_.contains(iteration)) continue;
    std::ranges::sort(files);
    for (std::size_t i = 1; i < files.size(); ++i) {
      if (files[i - 1].second < files[i].first) continue;
      Report(fmt::format("files of iteration {} overlap at key {}", iteration,
                         files[i].first));
    }
  }
  for (std::string& problem : records_.ProblemsOf(rows)) Report(std::move(problem));
}

void World::CheckNothingIsLeftOver() {
  const std::string folder = "memory:///";
  const iceberg::TableMetadata metadata = Load();
  std::set<std::string> named;
  const Status walked =
      VisitNamedFiles(io_, metadata, {}, [&](const iceberg::DataFile& file) {
        named.insert(file.file_path);
        return true;
      });
  if (!walked.ok()) return Report(walked.ToString());
  const std::string data = metadata.location.substr(folder.size()) + "/data/";
  for (const storage::ObjectInfo& object : data_.List(data).ValueOrDie()) {
    // Copies that another engine made are in folders of their own.
    if (object.key.find('/', data.size()) != std::string::npos) continue;
    if (named.contains(folder + object.key)) continue;
    Report(fmt::format("{} is left over, and no snapshot names it", object.key));
  }
}

Process::Process(World& shared, SimNode& at, WalRoot& wal_root)
    : world(shared),
      node(at),
      root(wal_root),
      wal(at, shared.network(), wal_root.store),
      data(at, shared.network(), shared.data()),
      catalog(at, shared.network(), shared.catalog(),
              [&shared](const auto& updates) { shared.DeleteAddedFiles(updates); }),
      io(MountedAtRoot(data)),
      memory(at, shared.plan().memory_bytes),
      metrics(at) {}

}  // namespace firn::sim
