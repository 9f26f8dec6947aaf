#include "trouble.h"

#include <set>
#include <utility>
#include <vector>

#include "chance.h"
#include "firn/commit/history.h"
#include "firn/commit/reset.h"
#include "firn/core/ulid.h"
#include "firn/iceberg/update/append.h"
#include "firn/wal/wal_root.h"
#include "rules.h"

namespace firn::sim {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

/// Below what cleaners keep segments for, and whatever clocks differ by.
constexpr Duration kRollbackMax = minutes(10);
constexpr Duration kOperatorDelayMax = seconds(5);
constexpr std::string_view kRoot = "memory:///";

class Trouble {
 public:
  explicit Trouble(World& world) : world_(world), node_(world.node()) {}

  void Next() {
    switch (node_.Random64() % 8) {
      case 0:
      case 1:
        return AppendNothing(world_);
      case 2:
        return Compact();
      case 3:
        return ExpireAllButMain();
      case 4:
        return RollBack();
      case 5:
        return SomeNode().JumpClock(
            OneOf<Duration>(node_, {minutes(-5), seconds(-1), seconds(1), minutes(5)}));
      case 6:
        return SomeNode().Pause(OneOf<Duration>(node_, {seconds(1), seconds(20)}));
      default:
        return SomeNode().Pause(
            OneOf<Duration>(node_, {minutes(10), hours(7), hours(26), hours(61)}));
    }
  }

 private:
  SimNode& SomeNode() {
    const auto& nodes = world_.nodes();
    return *nodes[node_.Random64() % nodes.size()];
  }

  /// Another engine's commit. False if somebody else was faster.
  bool Commit(const iceberg::PreparedSnapshot& prepared) {
    return world_.catalog()
        .CommitTable(world_.table(), prepared.requirements, prepared.updates)
        .ok();
  }

  /// Every live file is replaced by a copy of it.
  void Compact() {
    if (IsBroken(Rule::kUnknownOutcome)) return;  // some files are gone
    const iceberg::TableMetadata metadata = world_.Load();
    std::vector<iceberg::DataFile> files = shift::LiveFiles(world_.io(), metadata);
    if (files.empty()) return;
    for (iceberg::DataFile& file : files) Copy(file);
    const auto written =
        iceberg::WriteManifests(world_.io(), metadata, files,
                                iceberg::NewSnapshotId(metadata, node_), NewUuid(node_))
            .ValueOrDie();
    (void)Commit(iceberg::PrepareSnapshot(world_.io(), metadata,
                                          {.id = written.snapshot_id,
                                           .commit_uuid = written.commit_uuid,
                                           .manifests = written.manifests,
                                           .summary = {{"operation", "replace"}}},
                                          node_.Now())
                     .ValueOrDie());
  }

  /// The name stays: it tells the iteration.
  void Copy(iceberg::DataFile& file) {
    const std::string bytes = world_.io().Read(file.file_path).ValueOrDie();
    const std::size_t name = file.file_path.rfind('/') + 1;
    file.file_path.insert(name, NewUuid(node_) + "/");
    FIRN_CHECK(world_.io().WriteNew(file.file_path, bytes).ok());
  }

  /// With their manifest lists, and with the files that only they hold.
  void ExpireAllButMain() {
    const iceberg::TableMetadata metadata = world_.Load();
    const iceberg::Snapshot* main = CurrentSnapshot(metadata);
    if (main == nullptr || world_.is_rolled_back()) return;
    std::set<std::string> live;
    for (const auto& file : shift::LiveFiles(world_.io(), metadata)) {
      live.insert(file.file_path);
    }
    for (const iceberg::Snapshot& snapshot : metadata.snapshots) {
      if (snapshot.snapshot_id == main->snapshot_id) continue;
      for (const auto& file : FilesOf(metadata, snapshot)) {
        if (!live.contains(file.file_path)) Delete(file.file_path);
      }
      Delete(snapshot.manifest_list);
      world_.catalog().expired.insert(snapshot.snapshot_id);
    }
  }

  std::vector<iceberg::DataFile> FilesOf(iceberg::TableMetadata metadata,
                                         const iceberg::Snapshot& snapshot) {
    metadata.current_snapshot_id = snapshot.snapshot_id;
    return shift::LiveFiles(world_.io(), metadata);
  }

  void Delete(const std::string& location) {
    FIRN_CHECK(world_.data().Delete(location.substr(kRoot.size())).ok());
  }

  std::set<std::int64_t> Numbers(const iceberg::TableMetadata& metadata,
                                 const iceberg::Snapshot& snapshot) {
    std::set<std::int64_t> numbers;
    for (const auto& file : FilesOf(metadata, snapshot)) {
      for (const auto& row : world_.RowsOf(file)) numbers.insert(row.number);
    }
    return numbers;
  }

  void RollBack() {
    if (IsBroken(Rule::kUnknownOutcome)) return;
    const iceberg::TableMetadata metadata = world_.Load();
    const auto history = commit::HistoryOfMain(metadata);
    std::vector<const iceberg::Snapshot*> targets;
    for (std::size_t i = 1; i < history.size(); ++i) {
      const auto age = node_.Now().time_since_epoch() -
                       std::chrono::milliseconds(history[i - 1]->timestamp_ms);
      if (age > kRollbackMax) break;
      targets.push_back(history[i]);
    }
    if (targets.empty()) return;
    const iceberg::Snapshot& target = *targets[node_.Random64() % targets.size()];
    std::set<std::int64_t> lost = Numbers(metadata, *history.front());
    for (const std::int64_t number : Numbers(metadata, target)) lost.erase(number);
    world_.SetRolledBack(true);
    if (MoveMain(metadata, target.snapshot_id).ok()) {
      node_.Sleep(UpTo(node_, kOperatorDelayMax));
      Reset(lost);
    }
    world_.SetRolledBack(false);
  }

  Status MoveMain(const iceberg::TableMetadata& metadata, SnapshotId snapshot) {
    const std::vector<iceberg::TableRequirement> unchanged = {
        iceberg::AssertRefSnapshotId{.ref = "main",
                                     .snapshot_id = metadata.current_snapshot_id}};
    iceberg::SnapshotRef ref;
    ref.snapshot_id = snapshot;
    return world_.catalog()
        .CommitTable(world_.table(), unchanged,
                     {iceberg::SetSnapshotRef{.ref_name = "main", .ref = ref}})
        .status();
  }

  /// Takes the lost rows again if that can be done, else leaves them out.
  void Reset(const std::set<std::int64_t>& lost) {
    const iceberg::TableMetadata metadata = world_.Load();
    const WalId& wal = world_.root(0).id;
    for (const auto kind : {commit::ResetKind::kToTable, commit::ResetKind::kKeep}) {
      const auto planned = commit::PlanReset(metadata, wal, kind);
      if (planned.ok() && !planned->has_value()) return;  // nothing of Firn was lost
      if (!planned.ok() || !CanReset(metadata, **planned)) continue;
      const auto done = commit::ResetPositions(world_.catalog(), world_.io(), node_,
                                               {.table = world_.table(),
                                                .table_uuid = metadata.table_uuid,
                                                .wal = wal,
                                                .kind = kind,
                                                .planned = **planned});
      if (!done.ok()) return world_.Report(done.status().ToString());
      if (kind == commit::ResetKind::kKeep) world_.records().GiveUp(lost);
      return;
    }
    world_.Report("a table that was rolled back cannot be reset");
  }

  bool CanReset(const iceberg::TableMetadata& metadata,
                const commit::PlannedReset& planned) {
    for (std::size_t i = 0; i < world_.plan().wal_roots; ++i) {
      WalRoot& root = world_.root(i);
      const auto shards = wal::ListShards(root.store, metadata.table_uuid).ValueOrDie();
      if (!commit::CheckSegmentsAreThere(planned, root.id, shards).ok()) return false;
    }
    return true;
  }

  World& world_;
  SimNode& node_;
};

}  // namespace

void AppendNothing(World& world) {
  const iceberg::TableMetadata metadata = world.Load();
  const auto prepared = iceberg::PrepareAppend(
      world.io(), metadata,
      {.snapshot_id = iceberg::NewSnapshotId(metadata, world.node()),
       .commit_uuid = NewUuid(world.node())},
      {}, world.node().Now());
  (void)world.catalog().CommitTable(world.table(), prepared.ValueOrDie().requirements,
                                    prepared.ValueOrDie().updates);
}

void MakeTrouble(World& world, const StopToken& stop) {
  const Duration interval = world.plan().trouble_interval;
  Trouble trouble(world);
  for (int left = world.plan().troubles; left > 0 && !stop.stop_requested(); --left) {
    world.node().Sleep(UpTo(world.node(), interval));
    if (!world.nodes().empty()) trouble.Next();
  }
}

}  // namespace firn::sim
