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

std::optional<BatchNote> Decode(std::string_view text) {
  if (!text.starts_with(kHeader)) return std::nullopt;
  text.remove_prefix(kHeader.size());
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    auto line = PercentDecoded(text.substr(0, end));
    if (!line || line->empty()) return std::nullopt;
    lines.push_back(*std::move(line));
    text.remove_prefix(end + 1);
  }
  if (lines.empty()) return std::nullopt;
  BatchNote note{.owner = std::move(lines.front()), .prefixes = {}};
  lines.erase(lines.begin());
  note.prefixes = std::move(lines);
  return note;
}

}  // namespace

Status NoteBatch(storage::ObjectStore& store, const TableUuid& table,
                 const BatchId& batch, const BatchNote& note) {
  std::string text = std::string(kHeader) + EscapedLine(note.owner) + "\n";
  for (const std::string& prefix : note.prefixes) text += EscapedLine(prefix) + "\n";
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

Result<BatchNote> ReadBatchNote(storage::ObjectStore& store, const TableUuid& table,
                                const BatchId& batch) {
  const std::string key = NoteKey(table, batch);
  FIRN_ASSIGN_OR_RETURN(const std::string text, store.GetWhole(key));
  auto note = Decode(text);
  if (note) return *std::move(note);
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
