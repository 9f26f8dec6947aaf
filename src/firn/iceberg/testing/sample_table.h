#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "firn/core/fake_runtime.h"
#include "firn/iceberg/io/file_io.h"
#include "firn/iceberg/metadata/manifest.h"
#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/iceberg/update/new_table.h"
#include "firn/storage/memory_store.h"

namespace firn::iceberg {

/// For tests: the parts of a table that nobody cares about.

/// "flights" by month of time_hour and carrier, sorted by carrier.
inline TableCreation FlightsCreation() {
  using types::Type;
  using types::TypeKind;
  TableCreation creation;
  creation.schema.fields = {
      {.id = 1, .name = "time_hour", .type = Type(TypeKind::kTimestamptz)},
      {.id = 2, .name = "carrier", .type = Type(TypeKind::kString)},
      {.id = 3, .name = "distance", .type = Type(TypeKind::kDouble)}};
  creation.partition_spec.fields = {{.source_id = 1,
                                     .name = "time_hour_month",
                                     .transform = {.kind = types::TransformKind::kMonth}},
                                    {.source_id = 2, .name = "carrier"}};
  creation.sort_order.fields = {{.source_id = 2}};
  return creation;
}

inline TableMetadata FlightsMetadata(std::string location = "memory:///flights") {
  TableCreation creation = FlightsCreation();
  creation.location = std::move(location);
  return NewTableMetadata(std::move(creation),
                          TableUuid("9c12d441-03fe-4693-9a96-a0705ddf69c1"),
                          FakeRuntime().Now())
      .ValueOrDie();
}

/// A file of one partition; a month counts from 1970-01.
inline DataFile FlightsFile(std::string path, std::optional<std::int32_t> month,
                            std::optional<std::string> carrier,
                            std::int64_t records = 10) {
  DataFile file{.file_path = std::move(path),
                .partition_spec_id = PartitionSpecId(0),
                .record_count = records,
                .file_size_in_bytes = 100 * records};
  file.partition.resize(2);
  if (month.has_value()) file.partition[0] = *month;
  if (carrier.has_value()) file.partition[1] = *carrier;
  return file;
}

/// Files in memory, under "memory:///".
class MemoryFiles {
 public:
  const FileIo& io() const { return io_; }
  storage::MemoryStore& store() { return store_; }

 private:
  storage::MemoryStore store_{SystemRuntime()};
  const FileIo io_ =
      FileIo::Make({{.prefix = "memory:///", .store = &store_}}).ValueOrDie();
};

}  // namespace firn::iceberg
