#include "firn/cli/landing.h"

#include <limits.h>
#include <unistd.h>

#include <cctype>
#include <utility>

#include <arrow/record_batch.h>

#include "firn/cli/shift_command.h"
#include "firn/cli/table_layout.h"
#include "firn/shift/wal_layout.h"
#include "firn/sources/dead_letters.h"
#include "firn/sources/files/file_source.h"
#include "firn/types/memory_bytes.h"

namespace firn::cli {
namespace {

/// A buffer reserves less than that for each byte of rows and their offsets.
constexpr std::int64_t kReservedPerByte = 4;
constexpr std::int64_t kOffsetBytes = 8;

/// First part of a shard's name: the host's name as far as it can be part of a key.
std::string NodeName() {
  char name[HOST_NAME_MAX + 1] = {};
  if (gethostname(name, HOST_NAME_MAX) != 0 || name[0] == '\0') return "node";
  std::string node;
  for (const char c : std::string_view(name)) {
    node.push_back(std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-');
  }
  return node.front() == '-' ? "n" + node : node;
}

Result<OpenTable> FindOrCreateDeadLetterTable(Workspace& workspace,
                                              const std::string& name) {
  FIRN_ASSIGN_OR_RETURN(const auto found, FindDeadLetterTable(workspace, name));
  if (found) return *found;
  const std::string dead_name = sources::DeadLetterTable(name);
  auto created =
      CreateTable(workspace, dead_name, {.schema = sources::DeadLetterSchema()});
  // Another load may have made it meanwhile.
  if (IsError(created.status(), ErrorKind::kAlreadyExists)) {
    return FindTable(workspace, dead_name);
  }
  return created;
}

}  // namespace

wal::TableBufferOptions BufferOptions(const Config& config) {
  wal::TableBufferOptions options{.flush_bytes = config.wal.flush_bytes,
                                  .flush_age = config.wal.flush_age};
  options.segment.row_group_bytes = config.wal.row_group_bytes;
  options.shard = {.node = NodeName(), .dead_after = config.wal.dead_after};
  return options;
}

Result<std::optional<OpenTable>> FindDeadLetterTable(Workspace& workspace,
                                                     const std::string& name) {
  return FindTableIfThere(workspace, sources::DeadLetterTable(name));
}

Status ShiftLanded(Workspace& workspace, const OpenTable& table, const WalId& wal_id,
                   Reached reached, const Reached& durable, const StopToken& stop) {
  FIRN_RETURN_NOT_OK(ShiftAndReport(workspace, table, stop));
  reached.insert(durable.begin(), durable.end());
  return CheckInTable(workspace, table, wal_id, reached);
}

Result<std::unique_ptr<wal::TableBuffer>> Landing::BufferOf(
    const OpenTable& table, std::function<Status()> before) {
  wal::TableBufferOptions options = BufferOptions(workspace_.config());
  options.before_segment = std::move(before);
  return wal::TableBuffer::Make(workspace_.runtime(), workspace_.memory(),
                                workspace_.wal_store(),
                                shift::WalLayoutOf(table.metadata()), std::move(options));
}

Result<std::unique_ptr<Landing>> Landing::Make(
    Workspace& workspace, const OpenTable& table,
    const std::optional<OpenTable>& dead_letters) {
  std::unique_ptr<Landing> landing(new Landing(workspace));
  const auto flush_dead_letters = [owner = landing.get()] {
    return owner->dead_letters_ == nullptr ? Status::OK() : owner->dead_letters_->Flush();
  };
  FIRN_ASSIGN_OR_RETURN(landing->rows_, landing->BufferOf(table, flush_dead_letters));
  if (dead_letters) FIRN_RETURN_NOT_OK(landing->OpenDeadLetters(*dead_letters));
  return landing;
}

Status Landing::OpenDeadLetters(const OpenTable& table) {
  FIRN_ASSIGN_OR_RETURN(dead_letters_, BufferOf(table, nullptr));
  dead_letter_table_ = table;
  return Status::OK();
}

Status Landing::MakeRoomFor(const wal::Delivery& delivery) {
  // Without letters the rows' buffer makes room itself.
  if (dead_letters_ == nullptr || delivery.rows == nullptr) return Status::OK();
  FIRN_ASSIGN_OR_RETURN(const std::int64_t row_bytes, types::MemoryBytes(*delivery.rows));
  const std::int64_t bytes = row_bytes + kOffsetBytes * delivery.rows->num_rows();
  MemoryBudget& memory = workspace_.memory();
  if (memory.used_bytes() + kReservedPerByte * bytes <= memory.limit_bytes()) {
    return Status::OK();
  }
  FIRN_RETURN_NOT_OK(rows_->Flush());
  return dead_letters_->Flush();
}

Status Landing::AppendDeadLetters(const sources::SourceBatch& batch,
                                  const StopToken& stop) {
  const bool has_letters = !batch.dead_letters.empty();
  if (dead_letters_ == nullptr && !has_letters) return Status::OK();
  if (dead_letters_ == nullptr) {
    FIRN_ASSIGN_OR_RETURN(const OpenTable table,
                          FindOrCreateDeadLetterTable(workspace_, batch.table));
    FIRN_RETURN_NOT_OK(OpenDeadLetters(table));
  }
  if (has_letters && first_dead_letter_.empty()) {
    first_dead_letter_ = sources::DeadLetterText(batch.dead_letters.front());
  }
  dead_letter_count_ += std::ssize(batch.dead_letters);
  const wal::SourceRange& range = *batch.delivery.range;
  dead_letters_reached_[range.source] = range.next;
  auto delivery = sources::DeadLetterDelivery(
      batch, CurrentSchema(dead_letter_table_->metadata()), workspace_.runtime().Now());
  FIRN_RETURN_NOT_OK(
      AddContext(delivery.status(), ToString(dead_letter_table_->identifier)));
  FIRN_RETURN_NOT_OK(MakeRoomFor(*delivery));
  return dead_letters_->Append(*std::move(delivery), stop);
}

Status Landing::Append(sources::SourceBatch batch, const StopToken& stop) {
  FIRN_RETURN_NOT_OK(AppendDeadLetters(batch, stop));
  reached_[batch.delivery.range->source] = batch.delivery.range->next;
  FIRN_RETURN_NOT_OK(MakeRoomFor(batch.delivery));
  FIRN_RETURN_NOT_OK(rows_->Append(std::move(batch.delivery), stop));
  return rows_->FlushIfDue();
}

Status Landing::Close() {
  FIRN_RETURN_NOT_OK(rows_->Close());
  return dead_letters_ == nullptr ? Status::OK() : dead_letters_->Close();
}

}  // namespace firn::cli
