#include "firn/shift/plan_input.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "firn/iceberg/metadata/dropped_columns.h"
#include "firn/planner/bucket.h"
#include "firn/types/partition_spec.h"
#include "firn/wal/extraction.h"
#include "firn/wal/wal_reader.h"

namespace firn::shift {
namespace {

/// Partition fields whose value the column's statistics know too: identities of a string.
std::vector<std::size_t> ComparableFields(const types::PartitionSpec& spec,
                                          const std::vector<types::Type>& types) {
  std::vector<std::size_t> fields;
  for (std::size_t i = 0; i < spec.fields.size(); ++i) {
    if (spec.fields[i].transform.kind == types::TransformKind::kIdentity &&
        types[i].kind() == types::TypeKind::kString) {
      fields.push_back(i);
    }
  }
  return fields;
}

bool Contradicts(const types::Value& from_footer,
                 const wal::ExtractedValue& from_statistics) {
  if (std::holds_alternative<wal::AllNull>(from_statistics)) return !IsNull(from_footer);
  const auto* text = std::get_if<std::string>(&from_statistics);
  // Statistics that do not tell one value contradict nothing: they may be cut or left
  // out.
  return text != nullptr && from_footer != types::Value(*text);
}

/// Gives a value the type that its column has been widened to since it was written.
void Widen(const types::Type& type, types::Value& value) {
  if (type.kind() == types::TypeKind::kLong) {
    if (const auto* narrow = std::get_if<std::int32_t>(&value)) {
      value = std::int64_t{*narrow};
    }
  } else if (type.kind() == types::TypeKind::kDouble) {
    if (const auto* narrow = std::get_if<float>(&value)) value = double{*narrow};
  }
}

template <typename Item, typename Id>
bool IsNewerThanAll(Id id, const std::vector<Item>& items, Id Item::* id_of) {
  return std::ranges::all_of(items, [&](const Item& item) { return item.*id_of < id; });
}

/// The table knows what the segment was written under. Conflict if the table was read
/// before it changed to that: the rows may have values that it has no columns for.
Status CheckWrittenUnder(const iceberg::TableMetadata& metadata,
                         const OpenSegment& segment) {
  const wal::SegmentFooter& footer = segment.footer;
  const bool is_stale =
      IsNewerThanAll(footer.schema_id, metadata.schemas, &types::Schema::id) ||
      IsNewerThanAll(footer.spec_id, metadata.partition_specs,
                     &types::PartitionSpec::id) ||
      IsNewerThanAll(footer.order_id, metadata.sort_orders, &order::SortOrder::id);
  const bool has_all = FindSpec(metadata, footer.spec_id) != nullptr &&
                       FindSortOrder(metadata, footer.order_id) != nullptr;
  if (!is_stale && has_all) return Status::OK();
  const std::string what = fmt::format(
      "segment {}: was written under schema {}, partition spec {} and sort "
      "order {}, and the table does not have all of them",
      SegmentKey(segment.name), footer.schema_id, footer.spec_id, footer.order_id);
  if (is_stale) return Error(ErrorKind::kConflict, "{} yet; plan again", what);
  return InvalidError(
      "{} any more; put back what was removed, or leave the segment out: 'firn wal "
      "quarantine'",
      what);
}

/// Invalid if keys in the segment are buckets of dates and the column holds timestamps
/// now: their hashes differ (Iceberg spec, Appendix B), so the rows are in no order that
/// the table has.
Status CheckKeysMeanTheSame(const iceberg::TableMetadata& metadata,
                            const OpenSegment& segment) {
  const types::Schema* then = FindSchema(metadata, segment.footer.schema_id);
  if (then == nullptr) return Status::OK();
  for (const order::SortField& field :
       FindSortOrder(metadata, segment.footer.order_id)->fields) {
    if (field.transform.kind != types::TransformKind::kBucket) continue;
    const types::Field* before = FindField(*then, field.source_id);
    const types::Field* now = FindField(CurrentSchema(metadata), field.source_id);
    if (before == nullptr || now == nullptr || before->type == now->type) continue;
    if (before->type.kind() != types::TypeKind::kDate) continue;
    return InvalidError(
        "segment {}: its rows are sorted by buckets of dates, and column '{}' is {} now, "
        "whose buckets are others: leave the segment out ('firn wal quarantine') and "
        "load its rows again, or give the column back its type",
        SegmentKey(segment.name), now->name, now->type.ToString());
  }
  return Status::OK();
}

/// Adds segments to a PlanInput.
class PlanInputBuilder {
 public:
  explicit PlanInputBuilder(const iceberg::TableMetadata& metadata)
      : metadata_(metadata) {
    input_.specs = metadata.partition_specs;
  }

  Status Add(const OpenSegment& segment) {
    const auto segment_index = static_cast<std::uint32_t>(input_.segments.size());
    input_.segments.push_back(
        fmt::format("{}/{:020}", segment.name.shard, segment.name.sequence.value()));
    if (segment.footer.row_groups.empty()) return Status::OK();
    FIRN_RETURN_NOT_OK(CheckWrittenUnder(metadata_, segment));
    FIRN_RETURN_NOT_OK(CheckKeysMeanTheSame(metadata_, segment));
    const types::PartitionSpec& spec = *FindSpec(metadata_, segment.footer.spec_id);
    FIRN_ASSIGN_OR_RETURN(const std::vector<types::Type> types,
                          PartitionTypes(spec, SchemaFor(metadata_, spec)));
    FIRN_RETURN_NOT_OK(CheckTuples(segment, types.size()));
    FIRN_RETURN_NOT_OK(CheckAgainstStatistics(segment, spec, types));
    for (std::uint32_t row_group = 0; row_group < segment.footer.row_groups.size();
         ++row_group) {
      const auto& runs = segment.footer.row_groups[row_group];
      for (std::uint32_t run = 0; run < runs.size(); ++run) {
        AddRun(
            segment.footer, runs[run], types,
            {.segment = segment_index, .row_group = row_group, .run_in_row_group = run});
      }
    }
    return Status::OK();
  }

  planner::PlanInput Finish() && { return std::move(input_); }

 private:
  void AddRun(const wal::SegmentFooter& footer, const wal::SegmentRun& from,
              const std::vector<types::Type>& types, planner::Run run) {
    run.bucket = BucketOf(footer, from, types);
    run.bytes = from.bytes;
    run.rows = from.rows;
    run.first_key = from.first_key;
    run.last_key_unbounded = !from.last_key;
    if (from.last_key) run.last_key = *from.last_key;
    run.first_sample = static_cast<std::uint32_t>(input_.samples.size());
    run.sample_count = static_cast<std::uint32_t>(from.samples.size());
    for (const wal::KeySample& sample : from.samples) {
      input_.samples.push_back({.key = sample.key, .fraction = sample.fraction});
    }
    input_.runs.push_back(run);
  }

  std::uint32_t BucketOf(const wal::SegmentFooter& footer, const wal::SegmentRun& run,
                         const std::vector<types::Type>& types) {
    planner::Bucket bucket = {.spec_id = footer.spec_id,
                              .order_id = footer.order_id,
                              .key_types = footer.key_types,
                              .partition = run.partition};
    for (std::size_t i = 0; i < types.size(); ++i) Widen(types[i], bucket.partition[i]);
    const auto next = static_cast<std::uint32_t>(input_.buckets.size());
    const auto [found, is_new] =
        buckets_.try_emplace(planner::BucketIdentity(bucket), next);
    if (is_new) input_.buckets.push_back(std::move(bucket));
    return found->second;
  }

  /// The footer alone does not know how many values the spec has.
  static Status CheckTuples(const OpenSegment& segment, std::size_t fields) {
    for (std::size_t row_group = 0; row_group < segment.footer.row_groups.size();
         ++row_group) {
      for (const wal::SegmentRun& run : segment.footer.row_groups[row_group]) {
        if (run.partition.size() == fields) continue;
        return Error(
            ErrorKind::kCorruption,
            "segment {} row group {}: {} partition values for a spec of {} fields",
            SegmentKey(segment.name), row_group, run.partition.size(), fields);
      }
    }
    return Status::OK();
  }

  static Status CheckAgainstStatistics(const OpenSegment& segment,
                                       const types::PartitionSpec& spec,
                                       const std::vector<types::Type>& types) {
    const std::vector<std::size_t> fields = ComparableFields(spec, types);
    if (fields.empty()) return Status::OK();
    std::vector<wal::Extraction> extractions;
    for (const std::size_t field : fields) {
      const FieldId source = spec.fields[field].source_id;
      extractions.push_back({.field_id = source, .from = wal::ColumnSingleton{source}});
    }
    FIRN_ASSIGN_OR_RETURN(
        const wal::ExtractedRowGroups extracted,
        wal::ExtractFrom(SegmentKey(segment.name), segment.parquet_footer, extractions));
    for (std::size_t row_group = 0; row_group < extracted.size(); ++row_group) {
      const auto& runs = segment.footer.row_groups[row_group];
      if (runs.size() != 1) continue;
      for (const std::size_t field : fields) {
        const types::PartitionField& partition_field = spec.fields[field];
        if (!Contradicts(runs[0].partition[field],
                         extracted[row_group].at(partition_field.source_id))) {
          continue;
        }
        return Error(ErrorKind::kCorruption,
                     "segment {} row group {}: its footer and its column statistics "
                     "disagree about {}",
                     SegmentKey(segment.name), row_group, partition_field.name);
      }
    }
    return Status::OK();
  }

  const iceberg::TableMetadata& metadata_;
  planner::PlanInput input_;
  std::map<std::string, std::uint32_t> buckets_;  // by identity
};

}  // namespace

Result<planner::PlanInput> BuildPlanInput(
    const std::vector<std::shared_ptr<const OpenSegment>>& segments,
    const iceberg::TableMetadata& metadata) {
  PlanInputBuilder builder(metadata);
  for (const auto& segment : segments) FIRN_RETURN_NOT_OK(builder.Add(*segment));
  return std::move(builder).Finish();
}

}  // namespace firn::shift
