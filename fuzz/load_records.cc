#include "load_records.h"

#include <sys/mman.h>
#include <unistd.h>

#include <arrow/record_batch.h>

#include "firn/sources/files/infer_schema.h"

namespace firn::fuzz {
namespace {

using sources::FileOptions;
using types::Type;
using types::TypeKind;

/// A file that exists only in memory.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes) : descriptor_(memfd_create("fuzz", 0)) {
    FIRN_CHECK(write(descriptor_, bytes.data(), bytes.size()) ==
               static_cast<ssize_t>(bytes.size()));
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(descriptor_); }

  std::string path() const { return fmt::format("/proc/self/fd/{}", descriptor_); }

 private:
  const int descriptor_;
};

/// Columns as the seeds name them.
types::Schema FixedSchema() {
  const Type text(TypeKind::kString);
  const Type place =
      Type::Struct({{.id = 20, .name = "city", .type = text},
                    {.id = 21, .name = "zip", .type = Type(TypeKind::kInt)}});
  return {
      .fields = {{.id = 1, .name = "id", .type = Type(TypeKind::kLong), .required = true},
                 {.id = 2, .name = "name", .type = text},
                 {.id = 3, .name = "price", .type = Type::Decimal(9, 2)},
                 {.id = 4, .name = "ts", .type = Type(TypeKind::kTimestamptz)},
                 {.id = 5, .name = "day", .type = Type(TypeKind::kDate)},
                 {.id = 6, .name = "flag", .type = Type(TypeKind::kBoolean)},
                 {.id = 7, .name = "share", .type = Type(TypeKind::kDouble)},
                 {.id = 8, .name = "uid", .type = Type(TypeKind::kUuid)},
                 {.id = 9, .name = "raw", .type = Type(TypeKind::kBinary)},
                 {.id = 10, .name = "tags", .type = Type::List({.id = 11, .type = text})},
                 {.id = 12,
                  .name = "attrs",
                  .type = Type::Map({.id = 13, .type = text}, {.id = 14, .type = text})},
                 {.id = 15, .name = "place", .type = place}}};
}

void Read(const std::string& path, types::Schema schema, const FileOptions& options) {
  auto reader = sources::OpenRecords(
      {.path = path, .schema = std::move(schema), .options = options});
  if (!reader.ok()) return;
  std::int64_t next = 0;
  while (true) {
    const auto block = (*reader)->Next();
    if (!block.ok() || !block->has_value()) return;
    const sources::RecordBlock& records = **block;
    FIRN_CHECK(records.first == next, "{} {}", records.first, next);
    next = records.next;
    Require(records.rows->ValidateFull());
    FIRN_CHECK(records.rows->num_rows() == std::ssize(records.records));
    FIRN_CHECK(std::ssize(records.records) + std::ssize(records.rejected) ==
               records.next - records.first);
  }
}

}  // namespace

void LoadRecords(std::string_view bytes, const FileOptions& options) {
  const MemoryFile file(bytes);
  auto inferred = sources::InferSchema({file.path()}, options, {}, [](auto...) {});
  if (inferred.ok()) Read(file.path(), std::move(inferred->schema), options);
  Read(file.path(), FixedSchema(), options);
}

}  // namespace firn::fuzz
