#include "firn/wal/batch_note.h"

#include <optional>

#include "firn/core/percent_decoded.h"
#include "firn/core/ulid.h"
#include "firn/wal/escaped_line.h"

namespace firn::wal {
namespace {

constexpr std::string_view kHeader = "firn batch 1\n";

std::string NotePrefix(const TableUuid& table) {
  return fmt::format("{}{}/", kBatchesPrefix, table);
}

std::string NoteKey(const TableUuid& table, const BatchId& batch) {
  return NotePrefix(table) + batch.value();
}

std::optional<std::vector<std::string>> Decode(std::string_view text) {
  if (!text.starts_with(kHeader)) return std::nullopt;
  text.remove_prefix(kHeader.size());
  std::vector<std::string> prefixes;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    auto prefix = PercentDecoded(text.substr(0, end));
    if (!prefix || prefix->empty()) return std::nullopt;
    prefixes.push_back(*std::move(prefix));
    text.remove_prefix(end + 1);
  }
  return prefixes;
}

}  // namespace

Status NoteBatch(storage::ObjectStore& store, const TableUuid& table,
                 const BatchId& batch, const std::vector<std::string>& prefixes) {
  std::string text(kHeader);
  for (const std::string& prefix : prefixes) text += EscapedLine(prefix) + "\n";
  return AddContext(store.PutWhole(NoteKey(table, batch), text), "note of a batch");
}

Result<std::vector<NotedBatch>> ListNotedBatches(storage::ObjectStore& store,
                                                 const TableUuid& table) {
  const std::string prefix = NotePrefix(table);
  FIRN_ASSIGN_OR_RETURN(const auto objects, store.List(prefix));
  std::vector<NotedBatch> batches;
  for (const storage::ObjectInfo& object : objects) {
    std::string id = object.key.substr(prefix.size());
    if (!IsUlid(id)) continue;
    batches.push_back({.batch = BatchId(std::move(id)),
                       .noted = WallTime(Duration(object.modified_us))});
  }
  return batches;
}

Result<std::vector<std::string>> ReadBatchNote(storage::ObjectStore& store,
                                               const TableUuid& table,
                                               const BatchId& batch) {
  const std::string key = NoteKey(table, batch);
  FIRN_ASSIGN_OR_RETURN(const std::string text, store.GetWhole(key));
  auto prefixes = Decode(text);
  if (prefixes) return *std::move(prefixes);
  return Error(ErrorKind::kCorruption,
               "{} is not the note of a batch: delete it, and look for files of its name "
               "that no snapshot names",
               store.Location(key));
}

Status ForgetBatch(storage::ObjectStore& store, const TableUuid& table,
                   const BatchId& batch) {
  return store.Delete(NoteKey(table, batch));
}

}  // namespace firn::wal
