// A segment of the WAL as a file: its footer, what is extracted of it, and the rows of
// its first row groups.

#include <arrow/record_batch.h>
#include <parquet/metadata.h>

#include "firn/core/fake_runtime.h"
#include "firn/parquet_io/row_group_source.h"
#include "firn/storage/memory_store.h"
#include "firn/wal/wal_reader.h"
#include "fuzz_input.h"

namespace firn::wal {
namespace {

constexpr const char* kName = "segment";
constexpr int kRowGroupsMax = 3;

/// Columns of the golden segment, and one that it does not have.
types::Schema Columns() {
  using types::Type;
  using types::TypeKind;
  return {
      .fields = {
          {.id = 1, .name = "tenant", .type = Type(TypeKind::kString)},
          {.id = 2, .name = "name", .type = Type(TypeKind::kString), .required = true},
          {.id = 3, .name = "number", .type = Type(TypeKind::kLong)},
          {.id = 99, .name = "other", .type = Type(TypeKind::kInt)}}};
}

void ReadRows(storage::ObjectStore& store, std::int64_t size_bytes,
              const parquet_io::Footer& footer, int row_group) {
  const parquet_io::RowGroupSource source{
      .file = parquet_io::OpenObject(store, kName, size_bytes),
      .footer = footer,
      .row_group = row_group,
      .name = kName};
  const std::int64_t rows = footer->RowGroup(row_group)->num_rows();
  auto reader = parquet_io::ReadRowGroup(source, Columns(), 0, rows, 1000);
  if (!reader.ok()) return;
  std::shared_ptr<arrow::RecordBatch> batch;
  while ((*reader)->ReadNext(&batch).ok() && batch != nullptr) {
    fuzz::Require(batch->Validate());
  }
}

void Try(std::string_view bytes) {
  FakeRuntime runtime;
  storage::MemoryStore store(runtime);
  fuzz::Require(store.PutWhole(kName, bytes));
  const auto size_bytes = static_cast<std::int64_t>(bytes.size());
  WalReader reader(runtime, store);
  static_cast<void>(reader.Extract(kName, size_bytes, {}).ok());
  const auto segment = reader.ReadSegmentFooter(kName, size_bytes);
  if (!segment.ok()) return;
  const int row_groups = segment->parquet->num_row_groups();
  for (int i = 0; i < std::min(row_groups, kRowGroupsMax); ++i) {
    ReadRows(store, size_bytes, segment->parquet, i);
  }
}

}  // namespace
}  // namespace firn::wal

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  firn::wal::Try(firn::fuzz::TextOf(data, size));
  return 0;
}
