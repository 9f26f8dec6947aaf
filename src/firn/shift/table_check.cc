#include "firn/shift/table_check.h"

#include <string>
#include <vector>

#include "firn/iceberg/io/metadata_io.h"
#include "firn/iceberg/metadata/table_properties.h"
#include "firn/order/key_encoder.h"
#include "firn/parquet_io/file_writer.h"
#include "firn/shift/data_file_location.h"
#include "firn/shift/data_file_options.h"
#include "firn/storage/location.h"
#include "firn/types/default_column.h"
#include "firn/types/default_value.h"
#include "firn/types/partition_spec.h"

namespace firn::shift {
namespace {

/// `property` is null where none names a folder.
Status CheckFolder(const iceberg::TableMetadata& metadata, const char* property) {
  if (property == nullptr) return Status::OK();
  const std::string* folder = FindTableProperty(metadata, property);
  if (folder == nullptr) return Status::OK();
  return AddContext(storage::ParseLocation(*folder).status(),
                    fmt::format("table property {}", property));
}

/// Invalid, naming the column, for a default that is no value of its type.
Status CheckDefaults(const std::vector<types::Field>& fields) {
  for (const types::Field& field : fields) {
    for (const char* name : {types::kInitialDefault, types::kWriteDefault}) {
      FIRN_RETURN_NOT_OK(types::DefaultColumn(field, name, 1));
    }
    FIRN_RETURN_NOT_OK(CheckDefaults(field.type.fields()));
  }
  return Status::OK();
}

}  // namespace

Status CheckShiftable(const iceberg::TableMetadata& metadata) {
  FIRN_RETURN_NOT_OK(CheckWritable(metadata));
  const types::Schema& schema = CurrentSchema(metadata);
  FIRN_RETURN_NOT_OK(CheckDefaults(schema.fields));
  const order::SortOrder& order = DefaultSortOrder(metadata);
  FIRN_RETURN_NOT_OK(types::PartitionTypes(DefaultSpec(metadata), schema));
  FIRN_RETURN_NOT_OK(order::KeyEncoder::Make(order, schema));
  FIRN_ASSIGN_OR_RETURN(const parquet_io::FileWriterOptions options,
                        DataFileOptions(metadata, order));
  // Whether the codec knows the level, its writer says.
  FIRN_RETURN_NOT_OK(parquet_io::FileWriter::Make(schema, options));
  FIRN_RETURN_NOT_OK(CheckFolder(metadata, DataFolderProperty(metadata)));
  return CheckFolder(metadata, "write.metadata.path");
}

}  // namespace firn::shift
