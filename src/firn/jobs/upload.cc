#include "firn/jobs/upload.h"

#include <algorithm>
#include <utility>

#include <arrow/record_batch.h>

#include <nlohmann/json.hpp>

#include "firn/jobs/memory_shares.h"
#include "firn/sources/dead_letters.h"
#include "firn/sources/files/unknown_fields.h"
#include "firn/sources/files/wanted_schema.h"
#include "firn/sources/http/body_decoding.h"

namespace firn::jobs {
namespace {

/// Dead letters that an answer names.
constexpr std::size_t kLettersNamedMax = 10;
constexpr const char* kRetryAfterSeconds = "1";

http::Response JsonResponse(int status, const nlohmann::json& body) {
  // A reason may quote bytes that are no UTF-8.
  const auto handler = nlohmann::json::error_handler_t::replace;
  return {.status = status,
          .headers = {{"Content-Type", "application/json"}},
          .body = body.dump(-1, ' ', false, handler) + "\n"};
}

/// Whether a failure that has no kind is the sender's.
int StatusOf(const Status& status) {
  if (IsError(status, ErrorKind::kNotFound)) return 404;
  if (IsError(status, ErrorKind::kCorruption)) return 500;
  for (const ErrorKind kind : {ErrorKind::kUnavailable, ErrorKind::kOutcomeUnknown,
                               ErrorKind::kConflict, ErrorKind::kCancelled}) {
    if (IsError(status, kind)) return 503;
  }
  if (status.IsCapacityError()) return 413;
  return status.IsInvalid() ? 400 : 500;
}

/// Of rows that could not be made durable: whatever it was, sending them again is right,
/// unless they are too many.
Status Undurable(const Status& status) {
  if (status.ok() || StatusOf(status) == 503 || status.IsCapacityError()) return status;
  return MakeError(ErrorKind::kUnavailable, ErrorText(status));
}

nlohmann::json LettersNamed(const std::vector<sources::DeadLetter>& letters) {
  nlohmann::json named = nlohmann::json::array();
  for (const sources::DeadLetter& letter : letters) {
    if (named.size() == kLettersNamedMax) break;
    const std::string reason =
        letter.reason.substr(sources::PlaceOf(letter.reason).size());
    named.push_back({{"line", letter.position}, {"reason", reason}});
  }
  return named;
}

}  // namespace

http::Response ErrorResponse(int status, const std::string& message) {
  http::Response response = JsonResponse(status, {{"error", message}});
  if (status == 503) response.headers.push_back({"Retry-After", kRetryAfterSeconds});
  return response;
}

Upload::Upload(Runtime& runtime, Pipeline& pipeline, std::string table,
               UploadOptions options, http::ServerRequest request, http::Answer answer)
    : runtime_(runtime),
      pipeline_(pipeline),
      table_(std::move(table)),
      options_(std::move(options)),
      request_(std::move(request)),
      answer_(std::move(answer)) {}

void Upload::Start() {
  pipeline_.Open(
      table_, Pipeline::Missing::kFail,
      [self = shared_from_this()](const Ingest& ingest) { self->OnTable(ingest); });
}

void Upload::OnTable(const Ingest& ingest) {
  if (!ingest.ok()) return Fail(ingest.status());
  ingest_ = *ingest;
  const Status decoded = DecodeBody();
  if (!decoded.ok()) return Fail(decoded);
  OnBody();
}

void Upload::OnBody() {
  layout_ = ingest_->layout();
  const Status column = sources::CheckUnknownFieldsColumn(
      layout_->schema, options_.format.unknown_fields_column);
  // The sender did not cause it: it may send the same once that was put right.
  if (!column.ok()) return Fail(MakeError(ErrorKind::kUnavailable, ErrorText(column)));
  auto records = ReadRecords(layout_->schema);
  if (!records.ok()) return Fail(records.status());
  if (MayChangeTable() && !std::exchange(has_evolved_, true)) {
    const types::Schema wanted = Wanted(records->dead_letters);
    if (wanted != layout_->schema) {
      *records = {};
      records_memory_.Release();
      if (!IsWorthwhile(wanted)) return OnBody();
      return pipeline_.Evolve(
          table_, wanted,
          [self = shared_from_this()](const Ingest& ingest) { self->OnEvolved(ingest); });
    }
  }
  body_ = {};
  body_memory_.Release();
  TakeRecords(*std::move(records));
  if (options_.strict && dead_lettered_ > 0) {
    return answer_(JsonResponse(400, {{"error", "records do not fit; nothing was taken"},
                                      {"bad_records", dead_lettered_},
                                      {"first", letters_named_}}));
  }
  if (dead_lettered_ == 0) {
    OnPart(kDeadLetters, Status::OK());
    return AppendRows();
  }
  const std::string letters = sources::DeadLetterTable(table_);
  pipeline_.Open(letters, Pipeline::Missing::kMakeDeadLetterTable,
                 [self = shared_from_this()](const Ingest& letter_ingest) {
                   self->OnDeadLetterTable(letter_ingest);
                 });
}

void Upload::TakeRecords(sources::BodyRecords records) {
  records_ = std::move(records);
  accepted_ = records_.rows == nullptr ? 0 : records_.rows->num_rows();
  dead_lettered_ = records_.dead_letters.size();
  letters_named_ = LettersNamed(records_.dead_letters);
  for (const auto& letter : records_.dead_letters) reasons_.Add(letter.reason_class);
}

bool Upload::MayChangeTable() const {
  return options_.evolves || !options_.format.unknown_fields_column.empty();
}

types::Schema Upload::Wanted(const std::vector<sources::DeadLetter>& letters) const {
  const std::string& column = options_.format.unknown_fields_column;
  if (!column.empty()) {
    const bool has_unknown =
        std::ranges::count(letters, sources::ReasonClass::kUnknownColumn,
                           &sources::DeadLetter::reason_class) > 0;
    if (!has_unknown) return layout_->schema;
    // What cannot be leaves dead letters.
    return sources::WithUnknownFieldsColumn(layout_->schema, column)
        .ValueOr(layout_->schema);
  }
  std::vector<std::string_view> records;
  for (const sources::DeadLetter& letter : letters) {
    const bool can_be_saved =
        letter.reason_class == sources::ReasonClass::kUnknownColumn ||
        letter.reason_class == sources::ReasonClass::kInvalidValue;
    if (can_be_saved) records.push_back(letter.raw);
  }
  if (records.empty()) return layout_->schema;
  return sources::SchemaForRecords(layout_->schema, records, options_.format.time_units);
}

bool Upload::IsWorthwhile(const types::Schema& wanted) {
  if (!options_.strict) return true;
  const auto records = ReadRecords(wanted);
  const bool is_taken = records.ok() && records->dead_letters.empty();
  records_memory_.Release();
  return is_taken;
}

void Upload::OnEvolved(const Ingest& ingest) {
  // What the table cannot become leaves dead letters.
  const bool is_refused = StatusOf(ingest.status()) == 400;
  if (!ingest.ok() && !is_refused) return Fail(ingest.status());
  if (ingest.ok()) ingest_ = *ingest;
  OnBody();
}

Status Upload::Claim(std::int64_t bytes, MemoryReservation& memory) {
  const MemoryShare share = RecordShare(pipeline_.buffer_memory());
  if (body_memory_.bytes() + records_memory_.bytes() + bytes > share.limit_bytes) {
    return Status::CapacityError(
        "the body's records take more memory than memory_limit has for them; send less "
        "at once (more than ",
        share.limit_bytes, " bytes)");
  }
  auto reserved = share.TryReserve(bytes);
  if (!reserved) {
    ingest_->CountRefused();
    return Error(ErrorKind::kUnavailable,
                 "no memory for the body's records now ({} bytes)", bytes);
  }
  memory.Add(*std::move(reserved));
  return Status::OK();
}

Status Upload::DecodeBody() {
  body_memory_ = std::exchange(request_.memory, {});
  const auto encoding = http::FindHeader(request_.headers, "Content-Encoding");
  return sources::DecodeBody(
             std::exchange(request_.body, {}), encoding.value_or(""),
             options_.decoded_bytes_max,
             [this](std::int64_t bytes) { return Claim(bytes, body_memory_); })
      .Value(&body_);
}

Result<sources::BodyRecords> Upload::ReadRecords(const types::Schema& schema) {
  return sources::ReadNdjsonBody(
      body_, schema, options_.format, "http " + request_.peer,
      [this](std::int64_t bytes) { return Claim(bytes, records_memory_); });
}

void Upload::OnDeadLetterTable(const Ingest& ingest) {
  const Status appended = ingest.ok() ? AppendDeadLetters(**ingest) : ingest.status();
  if (appended.ok()) return AppendRows();
  // Whatever it is, the sender did not cause it.
  const int status = StatusOf(appended) == 503 ? 503 : 500;
  answer_(ErrorResponse(status, "dead letters: " + ErrorText(appended)));
}

Status Upload::AppendDeadLetters(TableIngest& ingest) {
  const auto layout = ingest.layout();
  wal::Delivery delivery;
  FIRN_ASSIGN_OR_RETURN(delivery.rows,
                        sources::DeadLetterRows(std::exchange(records_.dead_letters, {}),
                                                layout->schema, runtime_.Now()));
  delivery.acknowledge = [self = shared_from_this()](const auto& segment) {
    self->OnPart(kDeadLetters, segment.status());
  };
  return ingest.TryAppend(std::move(delivery), layout);
}

void Upload::AppendRows() {
  // From here on the tables' buffers count what they hold.
  records_memory_.Release();
  if (records_.rows == nullptr) return OnPart(kRows, Status::OK());
  wal::Delivery delivery = {.rows = std::move(records_.rows)};
  delivery.acknowledge = [self = shared_from_this()](const auto& segment) {
    self->OnPart(kRows, segment.status());
  };
  // An error is told to the acknowledgement too.
  (void)ingest_->TryAppend(std::move(delivery), layout_);
}

void Upload::OnPart(Part part, const Status& status) {
  outcomes_[part] = status;
  if (part == kDeadLetters && status.ok()) {
    pipeline_.dead_letters().Count(table_, reasons_);
  }
  if (--parts_left_ > 0) return;
  for (const Status& outcome : outcomes_) {
    if (!outcome.ok()) return Fail(Undurable(outcome));
  }
  AnswerDurable();
}

void Upload::AnswerDurable() {
  nlohmann::json body = {{"accepted", accepted_}, {"dead_lettered", dead_lettered_}};
  if (dead_lettered_ > 0) body["dead_letters"] = letters_named_;
  answer_(JsonResponse(200, body));
}

void Upload::Fail(const Status& status) {
  answer_(ErrorResponse(StatusOf(status), ErrorText(status)));
}

}  // namespace firn::jobs
