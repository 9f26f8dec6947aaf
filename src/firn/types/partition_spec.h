#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "firn/core/status.h"
#include "firn/types/schema.h"
#include "firn/types/transform.h"

namespace firn::types {

struct PartitionField {
  FieldId source_id = 0;
  /// Id of the partition field itself; 1000 and above.
  FieldId field_id = 0;
  std::string name;
  Transform transform;
  UnknownFields unknown;

  bool operator==(const PartitionField&) const = default;
};

/// How rows map to partitions (Iceberg spec, "Partitioning"). No fields: unpartitioned.
struct PartitionSpec {
  PartitionSpecId id;
  std::vector<PartitionField> fields;
  UnknownFields unknown;

  bool operator==(const PartitionSpec&) const = default;
};

/// The type of each partition value, in the order of the spec. Invalid, naming the field,
/// if a source column is missing or does not allow the transform.
Result<std::vector<Type>> PartitionTypes(const PartitionSpec& spec, const Schema& schema);

/// "name=value/name=value" with each part escaped as java.net.URLEncoder does; empty when
/// unpartitioned (Iceberg's layout of data files).
std::string PartitionPath(const PartitionSpec& spec, const std::vector<Type>& types,
                          const PartitionTuple& tuple);

/// "month(time_hour)", "bucket(16, id)", "tenant_id", comma-separated: the text of
/// --partition-by, against `schema`. Fields get ids from 1000 on and the names that Spark
/// gives ("time_hour_month", "id_bucket"). The id is 0. Invalid, naming the term, if it
/// is malformed, its column is missing or does not allow the transform, or a name is
/// taken.
Result<PartitionSpec> ParsePartitionSpec(std::string_view text, const Schema& schema);

}  // namespace firn::types
