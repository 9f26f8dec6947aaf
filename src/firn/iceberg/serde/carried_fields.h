#pragma once

#include <vector>

#include "firn/core/status.h"
#include "firn/iceberg/metadata/manifest.h"
#include "firn/iceberg/serde/avro/schema.h"
#include "firn/iceberg/serde/avro/value.h"

// Fields of a manifest list that Firn does not know: read with ParseSchema's filter, they
// are kVerbatim, and go into the next list as they are.

namespace firn::iceberg::serde {

/// Adds the kVerbatim ones of `fields` that are not in `carried` yet.
void AddCarried(const std::vector<avro::RecordField>& fields,
                std::vector<avro::RecordField>& carried);

/// The same of fields that were read. Invalid, with the field, if its type is not all in
/// it: a name may be one that another field of its list defined.
Status AddUnknown(const std::vector<UnknownField>& unknown, avro::FieldFilter is_read,
                  std::vector<avro::RecordField>& carried);

/// Appends one value for each of `carried`. Invalid, naming the field, if there is none
/// and null is not one either.
Status AppendCarried(const std::vector<avro::RecordField>& carried,
                     const std::vector<UnknownField>& unknown, avro::Values& values);

/// The kVerbatim fields that have a value. REQUIRES: `value` is a record of this schema.
std::vector<UnknownField> UnknownFieldsOf(const avro::Schema& schema,
                                          const avro::Value& value);

}  // namespace firn::iceberg::serde
