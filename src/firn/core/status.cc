#include "firn/core/status.h"

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace firn {
namespace {

constexpr char kDetailTypeId[] = "firn::ErrorKind";

class ErrorKindDetail : public arrow::StatusDetail {
 public:
  explicit ErrorKindDetail(ErrorKind kind) : kind_(kind) {}
  const char* type_id() const override { return kDetailTypeId; }
  std::string ToString() const override { return std::string(ErrorKindName(kind_)); }
  ErrorKind kind() const { return kind_; }

 private:
  const ErrorKind kind_;
};

arrow::StatusCode CodeOf(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kNotFound:
      return arrow::StatusCode::KeyError;
    case ErrorKind::kAlreadyExists:
      return arrow::StatusCode::AlreadyExists;
    case ErrorKind::kCorruption:
      return arrow::StatusCode::SerializationError;
    case ErrorKind::kCancelled:
      return arrow::StatusCode::Cancelled;
    case ErrorKind::kConflict:
    case ErrorKind::kOutcomeUnknown:
    case ErrorKind::kUnavailable:
      return arrow::StatusCode::IOError;
  }
  return arrow::StatusCode::UnknownError;
}

}  // namespace

std::string_view ErrorKindName(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kNotFound:
      return "not found";
    case ErrorKind::kAlreadyExists:
      return "already exists";
    case ErrorKind::kConflict:
      return "conflict";
    case ErrorKind::kOutcomeUnknown:
      return "outcome unknown";
    case ErrorKind::kUnavailable:
      return "unavailable";
    case ErrorKind::kCorruption:
      return "corruption";
    case ErrorKind::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

Status MakeError(ErrorKind kind, std::string message) {
  return Status(CodeOf(kind), std::move(message),
                std::make_shared<ErrorKindDetail>(kind));
}

bool IsError(const Status& status, ErrorKind kind) {
  if (status.ok() || status.detail() == nullptr) return false;
  if (status.detail()->type_id() != kDetailTypeId) return false;
  return static_cast<const ErrorKindDetail&>(*status.detail()).kind() == kind;
}

Status AddContext(const Status& status, std::string_view context) {
  if (status.ok()) return status;
  return status.WithMessage(fmt::format("{}: {}", context, status.message()));
}

std::string ErrorText(const Status& status) { return status.message(); }

namespace internal {

void CheckFailed(const char* file, int line, const char* condition,
                 const std::string& message) {
  fmt::print(stderr, "{}:{}: check failed: {}{}{}\n", file, line, condition,
             message.empty() ? "" : ": ", message);
  std::abort();
}

}  // namespace internal
}  // namespace firn
