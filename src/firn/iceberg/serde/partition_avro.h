#pragma once

#include <vector>

#include "firn/core/status.h"
#include "firn/iceberg/serde/avro/schema.h"
#include "firn/iceberg/serde/avro/value.h"
#include "firn/types/partition_spec.h"

namespace firn::iceberg {

/// The Avro record of a spec's partition tuples: an optional field for each partition
/// field, typed as the spec's Appendix A says, with the partition field's id.
avro::SchemaPtr PartitionAvroSchema(const types::PartitionSpec& spec,
                                    const std::vector<types::Type>& types);

/// REQUIRES: `tuple` has one value per type, null or of that type.
avro::Value PartitionToAvro(const types::PartitionTuple& tuple,
                            const std::vector<types::Type>& types);

/// Values in the order of `spec`, matched by field id; null where the record has no such
/// field. A narrower type that was promoted since is widened. Corruption, naming the
/// field, for a value of another type.
Result<types::PartitionTuple> PartitionFromAvro(const avro::Schema& schema,
                                                const avro::Value& record,
                                                const types::PartitionSpec& spec,
                                                const std::vector<types::Type>& types);

}  // namespace firn::iceberg
