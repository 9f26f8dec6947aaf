#include "firn/shift/table_check.h"

#include <string>
#include <vector>

#include "firn/iceberg/io/metadata_io.h"
#include "firn/iceberg/metadata/table_properties.h"
#include "firn/order/key_encoder.h"
#include "firn/parquet_io/file_writer.h"
#include "firn/shift/data_file_options.h"
#include "firn/storage/location.h"
#include "firn/types/default_value.h"
#include "firn/types/partition_spec.h"

namespace firn::shift {
namespace {

Status CheckFolder(const iceberg::TableMetadata& metadata, const std::string& property) {
  const std::string* folder = FindTableProperty(metadata, property);
  if (folder == nullptr) return Status::OK();
  return AddContext(storage::ParseLocation(*folder).status(),
                    "table property " + property);
}

/// Invalid, naming the column, for a default that new rows take which say nothing of it:
/// Firn would write null in its place (Iceberg spec, "Default values").
Status CheckNoDefaults(const std::vector<types::Field>& fields,
                       const std::string& parent) {
  for (const types::Field& field : fields) {
    if (const std::string* value = FindDefault(field, types::kWriteDefault)) {
      return InvalidError(
          "column '{}{}' has a default value, which Firn cannot write yet: write to the "
          "table with another engine (write-default: {})",
          parent, field.name, *value);
    }
    FIRN_RETURN_NOT_OK(CheckNoDefaults(field.type.fields(), parent + field.name + "."));
  }
  return Status::OK();
}

}  // namespace

Status CheckShiftable(const iceberg::TableMetadata& metadata) {
  FIRN_RETURN_NOT_OK(CheckWritable(metadata));
  const types::Schema& schema = CurrentSchema(metadata);
  FIRN_RETURN_NOT_OK(CheckNoDefaults(schema.fields, ""));
  const order::SortOrder& order = DefaultSortOrder(metadata);
  FIRN_RETURN_NOT_OK(types::PartitionTypes(DefaultSpec(metadata), schema));
  FIRN_RETURN_NOT_OK(order::KeyEncoder::Make(order, schema));
  FIRN_ASSIGN_OR_RETURN(const parquet_io::FileWriterOptions options,
                        DataFileOptions(metadata, order));
  // Whether the codec knows the level, its writer says.
  FIRN_RETURN_NOT_OK(parquet_io::FileWriter::Make(schema, options));
  FIRN_RETURN_NOT_OK(CheckFolder(metadata, "write.data.path"));
  return CheckFolder(metadata, "write.metadata.path");
}

}  // namespace firn::shift
