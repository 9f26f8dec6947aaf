#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "firn/core/memory_budget.h"
#include "firn/core/runtime.h"
#include "firn/core/status.h"
#include "firn/http/http_server.h"
#include "firn/jobs/pipeline.h"
#include "firn/sources/files/record_reader.h"
#include "firn/sources/http/ndjson_body.h"

namespace firn::jobs {

/// How the records of a request are read.
struct UploadOptions {
  /// The column for unknown fields is added to a table that lacks it.
  sources::FileOptions format;
  /// Of a body without its compression.
  std::int64_t decoded_bytes_max = 64 << 20;
  /// Change the table to hold records that do not fit (sources::SchemaForRecords).
  bool evolves = false;
  /// Take nothing if a record is bad.
  bool strict = false;
};

/// One request with records for a table, from its body to its answer. Waits nowhere: what
/// takes time calls back. Counts what it holds in the memory for buffers.
class Upload : public std::enable_shared_from_this<Upload> {
 public:
  /// `pipeline` and `runtime` must outlive the upload.
  Upload(Runtime& runtime, Pipeline& pipeline, std::string table, UploadOptions options,
         http::ServerRequest request, http::Answer answer);

  void Start();

 private:
  /// What has to be durable before the answer.
  enum Part : std::size_t { kDeadLetters, kRows, kPartCount };
  using Ingest = Result<std::shared_ptr<TableIngest>>;

  void OnTable(const Ingest& ingest);
  /// Counts in `memory`. Unavailable if there is none now, CapacityError if there never
  /// is so much.
  Status Claim(std::int64_t bytes, MemoryReservation& memory);
  Status DecodeBody();
  Result<sources::BodyRecords> ReadRecords(const types::Schema& schema);
  /// Reads the body for the table as it is now.
  void OnBody();
  /// Whether records that do not fit may change the table.
  bool MayChangeTable() const;
  /// What the table should become for dead letters that this may save.
  types::Schema Wanted(const std::vector<sources::DeadLetter>& letters) const;
  /// Whether the table is to become `wanted`: not for a strict request that is refused
  /// all the same.
  bool IsWorthwhile(const types::Schema& wanted);
  void OnEvolved(const Ingest& ingest);
  void TakeRecords(sources::BodyRecords records);
  void OnDeadLetterTable(const Ingest& ingest);
  Status AppendDeadLetters(TableIngest& ingest);
  void AppendRows();
  /// Told once for each part, from any thread.
  void OnPart(Part part, const Status& status);
  void AnswerDurable();
  void Fail(const Status& status);

  Runtime& runtime_;
  Pipeline& pipeline_;
  const std::string table_;
  const UploadOptions options_;
  http::ServerRequest request_;
  const http::Answer answer_;

  std::shared_ptr<TableIngest> ingest_;
  std::shared_ptr<const wal::TableLayout> layout_;
  std::string body_;
  /// Whether its records were shown to the table's schema.
  bool has_evolved_ = false;
  sources::BodyRecords records_;
  std::int64_t accepted_ = 0;
  std::size_t dead_lettered_ = 0;
  sources::ReasonCounts reasons_;
  /// The first of them, for the answer.
  nlohmann::json letters_named_ = nlohmann::json::array();
  /// Of the text, until it is read, and of the records, until the tables' buffers have
  /// them.
  MemoryReservation body_memory_;
  MemoryReservation records_memory_;
  /// Each is written by whoever tells of its part.
  std::array<Status, kPartCount> outcomes_;
  std::atomic<int> parts_left_ = kPartCount;
};

/// An answer that says what went wrong, as JSON.
http::Response ErrorResponse(int status, const std::string& message);

}  // namespace firn::jobs
