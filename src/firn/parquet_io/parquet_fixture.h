#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/record_batch.h>
#include <gtest/gtest.h>

#include "firn/core/fake_runtime.h"
#include "firn/core/test_seed.h"
#include "firn/parquet_io/file_writer.h"
#include "firn/parquet_io/row_group_source.h"
#include "firn/storage/memory_store.h"

namespace firn::parquet_io {

using Batch = std::shared_ptr<arrow::RecordBatch>;

types::Field Optional(FieldId id, std::string name, types::Type type);
types::Field Required(FieldId id, std::string name, types::Type type);
types::Schema SchemaOf(std::vector<types::Field> fields);

/// A column of every primitive type, field ids from 1.
std::vector<types::Field> EveryPrimitive();
/// The same, then structs, lists and maps of them, two levels deep.
types::Schema EveryType();

/// One row for each element of a JSON array of arrays (Arrow's own JSON form).
Batch Rows(const types::Schema& schema, std::string_view json);

/// Random rows, with nulls where they are allowed and all that is hard on bounds: NaN,
/// both zeros, infinities, extremes, long text beyond the basic plane, 0xff bytes.
Batch RandomRows(const types::Schema& schema, std::int64_t rows, std::uint64_t seed);

/// Writes files, puts them into a memory store, and reads them from there.
class ParquetFixture : public testing::Test {
 protected:
  WrittenFile WriteFile(const types::Schema& schema, const std::vector<Batch>& batches,
                        const FileWriterOptions& options = {});
  RowGroupSource Open(const WrittenFile& file, int row_group = 0);
  Result<Batch> TryRead(const RowGroupSource& source, const types::Schema& schema,
                        std::int64_t first_row, std::int64_t rows);
  /// One row group, whole.
  Batch Read(const RowGroupSource& source, const types::Schema& schema);
  /// All row groups, one behind the other.
  Batch ReadFile(const WrittenFile& file, const types::Schema& schema);

  FakeRuntime runtime_;
  storage::MemoryStore store_{runtime_};

 private:
  int files_ = 0;
};

}  // namespace firn::parquet_io
