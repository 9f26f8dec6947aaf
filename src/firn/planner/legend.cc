#include "firn/planner/legend.h"

#include <algorithm>
#include <utility>

#include "firn/types/transform_term.h"

namespace firn::planner {
namespace {

template <typename Legends, typename Id, typename Member>
auto Find(const Legends& legends, const Id& id, Member member) {
  const auto found = std::ranges::find(legends, id, member);
  return found == legends.end() ? nullptr : &*found;
}

std::string ColumnText(const order::SortField& field, const types::Schema& schema) {
  const std::string source = SourceName(schema, field.source_id);
  if (field.transform.kind == types::TransformKind::kIdentity) return source;
  return fmt::format("{}({})", types::ToString(field.transform), source);
}

}  // namespace

const KeyLegend* Legend::FindKeys(std::string_view key_types) const {
  return Find(keys, key_types, &KeyLegend::key_types);
}

const PartitionLegend* Legend::FindPartition(PartitionSpecId id) const {
  return Find(partitions, id, &PartitionLegend::spec_id);
}

Result<KeyLegend> ExplainKeys(const order::SortOrder& order,
                              const types::Schema& schema) {
  FIRN_ASSIGN_OR_RETURN(order::KeyEncoder encoder,
                        order::KeyEncoder::Make(order, schema));
  KeyLegend legend{
      .key_types = encoder.KeyTypesText(), .columns = {}, .encoder = std::move(encoder)};
  for (const order::SortField& field : order.fields) {
    legend.columns.push_back(ColumnText(field, schema));
  }
  return legend;
}

Result<PartitionLegend> ExplainPartition(const types::PartitionSpec& spec,
                                         const types::Schema& schema) {
  PartitionLegend legend{.spec_id = spec.id, .sources = {}, .types = {}};
  FIRN_ASSIGN_OR_RETURN(legend.types, types::PartitionTypes(spec, schema));
  for (const types::PartitionField& field : spec.fields) {
    legend.sources.push_back(SourceName(schema, field.source_id));
  }
  return legend;
}

std::string HexOfKey(std::string_view key) {
  std::string hex = "0x";
  for (const char byte : key) {
    hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  return hex;
}

}  // namespace firn::planner
