#include "firn/iceberg/catalog/rest/rest_outcome.h"

#include <algorithm>
#include <optional>

#include "firn/core/lower_case.h"
#include "firn/iceberg/catalog/rest/rest_messages.h"

namespace firn::iceberg::rest {
namespace {

constexpr std::size_t kWordsBytesMax = 1'000;

/// As Java's server and others write them, in lower case.
constexpr std::string_view kStaleWords[] = {"sequence number", "sequence-number",
                                            "first-row-id", "first row id"};

bool NamesStaleBase(std::string_view message) {
  const std::string text = LowerCase(message);
  return std::ranges::any_of(kStaleWords, [&](std::string_view words) {
    return text.find(words) != std::string::npos;
  });
}

/// One line that fits a terminal, cut between characters.
std::string Printable(std::string_view text) {
  const bool is_cut = text.size() > kWordsBytesMax;
  std::size_t end = std::min(text.size(), kWordsBytesMax);
  while (is_cut && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    --end;
  }
  std::string line(text.substr(0, end));
  std::ranges::replace_if(
      line, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; },
      ' ');
  return is_cut ? line + "..." : line;
}

std::string Words(const std::optional<ServerError>& error, std::string_view body) {
  if (!error) return body.empty() ? "no reason given" : Printable(body);
  if (error->message.empty()) return Printable(error->type);
  if (error->type.empty()) return Printable(error->message);
  return Printable(fmt::format("{}: {}", error->type, error->message));
}

std::optional<ErrorKind> KindOf(const Call& call, int status,
                                const std::optional<ServerError>& error) {
  const bool is_read = call.kind == CallKind::kRead;
  if (status >= 500 || status == 408) {
    return is_read ? ErrorKind::kUnavailable : ErrorKind::kOutcomeUnknown;
  }
  if (status == 429) return ErrorKind::kUnavailable;
  if (status == 404 && error) return ErrorKind::kNotFound;
  if (status == 409) {
    return call.kind == CallKind::kCreate ? ErrorKind::kAlreadyExists
                                          : ErrorKind::kConflict;
  }
  if (status == 400 && call.kind == CallKind::kChange && error &&
      NamesStaleBase(error->message)) {
    return ErrorKind::kConflict;
  }
  return std::nullopt;
}

const char* Advice(int status, const std::optional<ServerError>& error) {
  if (status / 100 == 3) return "; it sends elsewhere: set the catalog's uri to there";
  if (status == 401 || status == 419)
    return "; look at the catalog's credential or token";
  if (status == 404 && !error) return "; no REST catalog says so: look at its uri";
  return "";
}

}  // namespace

Status OutcomeOf(const Call& call, int status, std::string_view body) {
  if (status / 100 == 2) return Status::OK();
  const std::optional<ServerError> error = ParseServerError(body);
  const std::string message =
      fmt::format("{} {}: the server answers {}: {}{}", call.method, call.path, status,
                  Words(error, body), Advice(status, error));
  if (const auto kind = KindOf(call, status, error)) return MakeError(*kind, message);
  return Status::Invalid(message);
}

Status BrokenAnswer(const Call& call, const Status& why) {
  return Error(
      call.kind == CallKind::kRead ? ErrorKind::kCorruption : ErrorKind::kOutcomeUnknown,
      "{} {}: the server's answer cannot be used: {}", call.method, call.path,
      ErrorText(why));
}

}  // namespace firn::iceberg::rest
