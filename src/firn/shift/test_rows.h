#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/type_fwd.h>

#include "firn/iceberg/io/file_io.h"
#include "firn/iceberg/metadata/manifest.h"
#include "firn/iceberg/metadata/table_metadata.h"
#include "firn/types/schema.h"

/// Rows of the tables that tests shift into, and how tests read them there. What fails
/// here ends the process.
namespace firn::shift {

/// A row of the tests' table; `extra` is a column that a test may add to it.
struct TestRow {
  std::optional<std::string> tenant = std::nullopt;
  std::string key = {};
  std::int64_t number = 0;
  std::optional<std::string> extra = std::nullopt;

  auto operator<=>(const TestRow&) const = default;
};

/// The columns that TestRow has from the start; `number` is of that type.
types::Schema TestSchema(types::TypeKind number);

/// Columns of `schema`, by their names.
std::shared_ptr<arrow::RecordBatch> ToBatch(const types::Schema& schema,
                                            const std::vector<TestRow>& rows);

/// The data files that main's snapshot holds.
std::vector<iceberg::DataFile> LiveFiles(const iceberg::FileIo& io,
                                         const iceberg::TableMetadata& metadata);

/// The rows of a data file, as they stand in it, under the table's current schema.
arrow::RecordBatchVector ReadBatches(const iceberg::FileIo& io,
                                     const iceberg::TableMetadata& metadata,
                                     const iceberg::DataFile& file);
std::vector<TestRow> ReadRows(const iceberg::FileIo& io,
                              const iceberg::TableMetadata& metadata,
                              const iceberg::DataFile& file);

}  // namespace firn::shift
