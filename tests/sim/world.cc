#include "world.h"

#include <algorithm>
#include <map>

#include "firn/iceberg/update/new_table.h"
#include "firn/order/sort_order.h"
#include "firn/wal/wal_root.h"

namespace firn::sim {
namespace {

const iceberg::TableIdentifier kTable = {.namespace_name = "demo", .name = "events"};
constexpr std::int64_t kMemoryLimit = 64 << 20;
constexpr std::uint64_t kScheduleSalt = 0x5eed;

iceberg::FileIo MountedAtRoot(storage::ObjectStore& store) {
  return iceberg::FileIo::Make({{.prefix = "memory:///", .store = &store}}).ValueOrDie();
}

template <typename Number>
Number OneOf(Runtime& runtime, std::initializer_list<Number> choices) {
  return *(choices.begin() + runtime.Random64() % choices.size());
}

/// The iteration that wrote a data file: its name begins with it.
std::string IterationOf(const iceberg::DataFile& file) {
  constexpr std::size_t kUlidLength = 26;
  return file.file_path.substr(file.file_path.rfind('/') + 1, kUlidLength);
}

}  // namespace

Plan Plan::Draw(Runtime& runtime) {
  return {.switch_percent = OneOf<std::uint64_t>(runtime, {5, 20, 60}),
          .latency_max = Duration(OneOf(runtime, {10, 1'000, 50'000})),
          .deliveries = OneOf(runtime, {4, 8, 12}),
          .flush_bytes = OneOf<std::int64_t>(runtime, {100, 400, 1'000}),
          .iteration_bytes = OneOf<std::int64_t>(runtime, {1, 20'000, 1 << 20}),
          .file_bytes = OneOf<std::int64_t>(runtime, {1'000, 3'000, 1 << 20})};
}

World::World(std::uint64_t seed)
    : sim_({.seed = seed}),
      node_(sim_.NewNode("world")),
      plan_(Plan::Draw(node_)),
      network_(plan_.latency_max),
      wal_(node_),
      data_(node_),
      catalog_(node_, "memory:///warehouse",
               {.before_commit = {}, .after_commit = [this](const auto&) {
                  CheckPositions();
                  return Status::OK();
                }}) {
  const types::Schema schema = shift::TestSchema(types::TypeKind::kLong);
  FIRN_CHECK(catalog_.CreateNamespace(kTable.namespace_name).ok());
  FIRN_CHECK(
      catalog_
          .CreateTable(kTable,
                       {.schema = schema,
                        .sort_order = order::ParseSortOrder("key", schema).ValueOrDie()})
          .ok());
  wal_id_ = wal::OpenWalRoot(node_, wal_).ValueOrDie();
}

const iceberg::TableIdentifier& World::table() const { return kTable; }

iceberg::TableMetadata World::Load() {
  return catalog_.LoadTable(kTable).ValueOrDie().metadata;
}

void World::CheckPositions() {
  const auto positions = commit::ReadPositions(Load(), wal_id_);
  if (!positions.ok()) return Report(positions.status().ToString());
  for (const auto& [shard, before] : reached_.shards) {
    const SegmentSequence now = PositionOf(positions->reached, shard);
    if (now < before) {
      Report(fmt::format("shard {} went back from {} to {}", shard, before, now));
    }
  }
  reached_ = positions->reached;
}

void World::MayOverlap(const iceberg::DataFile& file) {
  iterations_that_may_overlap_.insert(IterationOf(file));
}

void World::CheckTable() {
  const iceberg::TableMetadata metadata = Load();
  const iceberg::FileIo io = MountedAtRoot(data_);
  std::vector<shift::TestRow> rows;
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> ranges;
  for (const iceberg::DataFile& file : shift::LiveFiles(io, metadata)) {
    const auto read = shift::ReadRows(io, metadata, file);
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

Process::Process(World& shared, SimNode& at)
    : world(shared),
      node(at),
      wal(at, shared.network(), shared.wal()),
      data(at, shared.network(), shared.data()),
      catalog(at, shared.network(), shared.catalog()),
      io(MountedAtRoot(data)),
      memory(at, kMemoryLimit),
      metrics(at) {}

}  // namespace firn::sim
