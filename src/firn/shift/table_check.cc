#include "firn/shift/table_check.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "firn/iceberg/io/metadata_io.h"
#include "firn/iceberg/metadata/table_properties.h"
#include "firn/order/key_encoder.h"
#include "firn/parquet_io/file_writer.h"
#include "firn/shift/data_file_location.h"
#include "firn/shift/data_file_options.h"
#include "firn/storage/location.h"
#include "firn/storage/request_checks.h"
#include "firn/types/default_column.h"
#include "firn/types/default_value.h"
#include "firn/types/partition_spec.h"

namespace firn::shift {
namespace {

/// Schemes of the storage that Firn has, beside that of the table itself.
constexpr std::string_view kSchemes[] = {"file", "s3", "s3a", "s3n"};

/// Invalid for a folder in S3 that nobody else would find.
Status CheckInS3(const storage::Location& location, const std::string& folder) {
  if (!location.scheme.starts_with("s3")) return Status::OK();
  if (location.authority.empty()) {
    return InvalidError("'{}' names no bucket: write s3://bucket/folder", folder);
  }
  const std::size_t cut = location.path.find_first_of("?#");
  if (cut == std::string::npos) return Status::OK();
  return InvalidError(
      "'{}': other programs cut a location in S3 off at '{}'; name another", folder,
      location.path[cut]);
}

/// Invalid unless files can be written below `folder`.
Status CheckLocation(const iceberg::TableMetadata& metadata, const std::string& folder) {
  FIRN_ASSIGN_OR_RETURN(const storage::Location location, storage::ParseLocation(folder));
  const auto own = storage::ParseLocation(metadata.location);
  const bool is_known =
      std::ranges::find(kSchemes, location.scheme) != std::end(kSchemes);
  if (!is_known && (!own.ok() || own->scheme != location.scheme)) {
    return InvalidError(
        "there is no storage for {}://; name a folder as /path, or as s3://bucket/folder "
        "(it is '{}')",
        location.scheme, folder);
  }
  FIRN_RETURN_NOT_OK(CheckInS3(location, folder));
  std::string_view path = location.path;
  if (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  return path.empty() ? Status::OK() : storage::ValidateKey(path);
}

/// `property` is null where none names a folder.
Status CheckFolder(const iceberg::TableMetadata& metadata, const char* property) {
  if (property == nullptr) return Status::OK();
  const std::string* folder = FindTableProperty(metadata, property);
  if (folder == nullptr) return Status::OK();
  return AddContext(CheckLocation(metadata, *folder),
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
