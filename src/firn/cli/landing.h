#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "firn/cli/load_positions.h"
#include "firn/cli/table_access.h"
#include "firn/cli/workspace.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/sources/source.h"
#include "firn/wal/table_buffer.h"

namespace firn::cli {

/// Puts what a source hands over into the WAL: rows into the table's, dead letters into
/// that of its table of dead letters, which is made for the first one.
///
/// Dead letters are durable before the rows of their range are. Used by one thread.
class Landing {
 public:
  /// `workspace` must outlive the landing. `dead_letters`: the table of dead letters, if
  /// it holds some of this load already.
  static Result<std::unique_ptr<Landing>> Make(
      Workspace& workspace, const OpenTable& table,
      const std::optional<OpenTable>& dead_letters);

  Status Append(sources::SourceBatch batch, const StopToken& stop);

  /// Makes everything durable. Nothing may be appended afterwards.
  Status Close();

  /// Where each source stood when it was appended last, for the rows and for the letters.
  const Reached& reached() const { return reached_; }
  const Reached& dead_letters_reached() const { return dead_letters_reached_; }
  wal::TableBufferCounts counts() { return rows_->counts(); }
  std::int64_t dead_letter_count() const { return dead_letter_count_; }
  /// The first dead letter, in one line; empty if there is none.
  const std::string& first_dead_letter() const { return first_dead_letter_; }
  /// The table that dead letters go to; nothing if there were none.
  const std::optional<OpenTable>& dead_letter_table() const { return dead_letter_table_; }

 private:
  explicit Landing(Workspace& workspace) : workspace_(workspace) {}

  Result<std::unique_ptr<wal::TableBuffer>> BufferOf(const OpenTable& table,
                                                     std::function<Status()> before);
  Status OpenDeadLetters(const OpenTable& table);
  /// Flushes if what a buffer is about to take does not fit beside what both hold: what
  /// one of them holds must not be what the other waits for.
  Status MakeRoomFor(const wal::Delivery& delivery);
  Status AppendDeadLetters(const sources::SourceBatch& batch, const StopToken& stop);

  Workspace& workspace_;
  std::unique_ptr<wal::TableBuffer> rows_;
  /// Null until there is a dead letter.
  std::unique_ptr<wal::TableBuffer> dead_letters_;
  std::optional<OpenTable> dead_letter_table_;
  Reached reached_;
  Reached dead_letters_reached_;
  std::int64_t dead_letter_count_ = 0;
  std::string first_dead_letter_;
};

/// How the configuration wants rows to be collected.
wal::TableBufferOptions BufferOptions(const Config& config);

/// Shifts a table, tells what was done, and fails if it does not hold what is in
/// `reached` afterwards, and what was durable before (`durable`).
Status ShiftLanded(Workspace& workspace, const OpenTable& table, const WalId& wal_id,
                   Reached reached, const Reached& durable, const StopToken& stop);

/// The table of dead letters of the table `name`; nothing if there is none.
Result<std::optional<OpenTable>> FindDeadLetterTable(Workspace& workspace,
                                                     const std::string& name);

}  // namespace firn::cli
