#include "firn/commit/history.h"

#include <cstddef>
#include <optional>
#include <unordered_map>

namespace firn::commit {
namespace {

using iceberg::Snapshot;

/// Goes from a snapshot to its parent.
///
/// Writers list a snapshot behind its parent: as long as that holds, nothing else is
/// looked at.
class Walk {
 public:
  explicit Walk(const iceberg::SharedList<Snapshot>& snapshots)
      : snapshots_(snapshots), index_(snapshots.size()) {}

  /// Null if it is not listed, or was met before: parents in a circle end the walk.
  const Snapshot* To(SnapshotId id) {
    if (!others_ && index_ > 0 && snapshots_[index_ - 1].snapshot_id == id) {
      return &snapshots_[--index_];
    }
    if (!others_) CollectOthers();
    const auto found = others_->extract(id);
    return found.empty() ? nullptr : found.mapped();
  }

 private:
  /// All that were not met.
  void CollectOthers() {
    others_.emplace();
    for (std::size_t i = 0; i < index_; ++i) {
      others_->emplace(snapshots_[i].snapshot_id, &snapshots_[i]);
    }
  }

  const iceberg::SharedList<Snapshot>& snapshots_;
  /// Those from here on were met.
  std::size_t index_;
  std::optional<std::unordered_map<SnapshotId, const Snapshot*>> others_;
};

}  // namespace

const Snapshot* FindInHistoryOfMain(
    const iceberg::TableMetadata& metadata,
    const std::function<bool(const Snapshot&)>& predicate) {
  Walk walk(metadata.snapshots);
  std::optional<SnapshotId> next = metadata.current_snapshot_id;
  while (next.has_value()) {
    const Snapshot* snapshot = walk.To(*next);
    if (snapshot == nullptr || predicate(*snapshot)) return snapshot;
    next = snapshot->parent_snapshot_id;
  }
  return nullptr;
}

std::vector<const Snapshot*> HistoryOfMain(const iceberg::TableMetadata& metadata) {
  std::vector<const Snapshot*> history;
  FindInHistoryOfMain(metadata, [&](const Snapshot& snapshot) {
    history.push_back(&snapshot);
    return false;
  });
  return history;
}

}  // namespace firn::commit
