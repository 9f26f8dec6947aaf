#pragma once

#include <string>
#include <string_view>

#include "firn/core/status.h"

namespace firn::iceberg::rest {

/// What a call means to the catalog's callers.
enum class CallKind {
  /// Changes nothing, so that it may be repeated.
  kRead,
  /// Makes something that must not be there yet.
  kCreate,
  /// Changes or removes what is there.
  kChange,
};

struct Call {
  CallKind kind = CallKind::kRead;
  /// "GET".
  std::string method;
  /// As messages show it: without query.
  std::string path;
};

/// Sorts a server's answer by what a caller can do about it. OK for 2xx. Pure.
///
/// - 409: AlreadyExists of a kCreate, else Conflict. Conflict, too: a 400 that names the
///   sequence number or the first row id, for these follow from what others committed.
/// - 5xx and 408: OutcomeUnknown, of a kRead Unavailable. Never Conflict or "failed": a
///   server may apply a change and fail afterwards ("CommitStateUnknownException").
/// - 429: Unavailable; nothing was applied.
/// - 404 in a REST catalog's own words: NotFound. In others' (a proxy's page): a failure
///   without a kind, lest a wrong address looks like an empty catalog.
/// - Any other status, 401 and 419 among them, has no kind.
///
/// The message names the call, the status and the server's words, cut to 1,000 bytes and
/// printable.
Status OutcomeOf(const Call& call, int status, std::string_view body);

/// A failure that names the call and the broken answer to it: Corruption for a kRead,
/// else OutcomeUnknown, for the server had said yes.
Status BrokenAnswer(const Call& call, const Status& why);

}  // namespace firn::iceberg::rest
