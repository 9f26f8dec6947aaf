#include "firn/iceberg/catalog/rest/partition_ids.h"

#include <algorithm>
#include <variant>

namespace firn::iceberg::rest {
namespace {

/// The spec with these fields, ids apart; null if there is none.
const types::PartitionSpec* FindSame(const TableMetadata& metadata,
                                     const types::PartitionSpec& wanted) {
  const auto same = [](const types::PartitionField& a, const types::PartitionField& b) {
    return a.source_id == b.source_id && a.name == b.name && a.transform == b.transform;
  };
  const auto found =
      std::ranges::find_if(metadata.partition_specs, [&](const auto& spec) {
        return std::ranges::equal(spec.fields, wanted.fields, same);
      });
  return found == metadata.partition_specs.end() ? nullptr : &*found;
}

}  // namespace

bool NeedsPartitionIds(const Commit& commit) {
  return std::ranges::any_of(commit.updates, [](const TableUpdate& update) {
    return std::holds_alternative<AddSpec>(update);
  });
}

Status GivePartitionIds(const TableMetadata& base, Commit& commit) {
  FIRN_ASSIGN_OR_RETURN(const TableMetadata applied,
                        Apply(base, "", commit.updates,
                              WallTime(std::chrono::milliseconds(base.last_updated_ms))));
  for (TableUpdate& update : commit.updates) {
    auto* add = std::get_if<AddSpec>(&update);
    if (add == nullptr) continue;
    const types::PartitionSpec* spec = FindSame(applied, add->spec);
    FIRN_CHECK(spec != nullptr, "an added spec is missing");
    add->spec.fields = spec->fields;
  }
  commit.requirements.push_back(AssertLastAssignedPartitionId{base.last_partition_id});
  return Status::OK();
}

}  // namespace firn::iceberg::rest
