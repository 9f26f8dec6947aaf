#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/status.h"
#include "firn/order/key_encoder.h"
#include "firn/order/sort_order.h"
#include "firn/planner/plan.h"
#include "firn/types/partition_spec.h"
#include "firn/types/schema.h"

namespace firn::planner {

/// What the keys of buckets with these `key_types` are made of.
struct KeyLegend {
  /// As in Bucket.
  std::string key_types;
  /// One per key column: "service", or "day(ts)" where the order has a transform.
  std::vector<std::string> columns;
  order::KeyEncoder encoder;
};

/// What the partition values of a spec are.
struct PartitionLegend {
  PartitionSpecId spec_id;
  /// Full names of the source columns, one per partition field.
  std::vector<std::string> sources;
  /// Types of the partition values, after the transform.
  std::vector<types::Type> types;
};

/// What a plan's keys and partition values mean, for those who print it: the planner sees
/// bytes and values.
struct Legend {
  std::vector<KeyLegend> keys;
  std::vector<PartitionLegend> partitions;

  /// Null if the legend does not know them.
  const KeyLegend* FindKeys(std::string_view key_types) const;
  const PartitionLegend* FindPartition(PartitionSpecId id) const;
};

/// Invalid, naming the field, if `order` or `spec` does not fit `schema`.
Result<KeyLegend> ExplainKeys(const order::SortOrder& order, const types::Schema& schema);
Result<PartitionLegend> ExplainPartition(const types::PartitionSpec& spec,
                                         const types::Schema& schema);

/// "0x" and the bytes in hex: a key that does not decode, or must not lose a bit.
std::string HexOfKey(std::string_view key);

}  // namespace firn::planner
