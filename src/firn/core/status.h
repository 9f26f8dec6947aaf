#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <arrow/result.h>
#include <arrow/status.h>
#include <fmt/format.h>

namespace firn {

using arrow::Result;
using arrow::Status;

/// What a caller can do about a failure: one kind per different reaction.
///
/// A status without a kind is bad input or a plain failure: report it, do not retry.
enum class ErrorKind {
  /// The named thing is not there.
  kNotFound,
  /// The named thing is there already.
  kAlreadyExists,
  /// Somebody else was first, and nothing of ours was applied: reload, check, try again.
  kConflict,
  /// It may or may not have been applied: find out by reading, delete nothing.
  kOutcomeUnknown,
  /// Not now: back off and try again.
  kUnavailable,
  /// Stored bytes contradict their format, or each other.
  kCorruption,
  /// A stop was requested.
  kCancelled,
};

std::string_view ErrorKindName(ErrorKind kind);

/// A failed status that carries `kind`. The message says what was wrong, where, and what
/// to do.
Status MakeError(ErrorKind kind, std::string message);

/// True if `status` failed and carries `kind`.
bool IsError(const Status& status, ErrorKind kind);

/// The same failure (code and kind), its message preceded by "<context>: ".
Status AddContext(const Status& status, std::string_view context);

/// The message alone, without Arrow's code in front: what a person is shown.
std::string ErrorText(const Status& status);

template <typename... Args>
Status Error(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  return MakeError(kind, fmt::format(format, std::forward<Args>(args)...));
}

/// Bad input: no kind, never retried.
template <typename... Args>
Status InvalidError(fmt::format_string<Args...> format, Args&&... args) {
  return Status::Invalid(fmt::format(format, std::forward<Args>(args)...));
}

namespace internal {
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              const std::string& message);
}  // namespace internal
}  // namespace firn

#define FIRN_RETURN_NOT_OK(expr) ARROW_RETURN_NOT_OK(expr)
#define FIRN_ASSIGN_OR_RETURN(lhs, expr) ARROW_ASSIGN_OR_RAISE(lhs, expr)

/// Ends the process where going on could corrupt a table or lose an acknowledged record.
/// Never for input.
#define FIRN_CHECK(condition, ...)                                  \
  do {                                                              \
    if (!(condition)) [[unlikely]] {                                \
      ::firn::internal::CheckFailed(__FILE__, __LINE__, #condition, \
                                    ::fmt::format("" __VA_ARGS__)); \
    }                                                               \
  } while (false)

#ifdef NDEBUG
#define FIRN_DCHECK(condition) \
  do {                         \
  } while (false)
#else
#define FIRN_DCHECK(condition) FIRN_CHECK(condition)
#endif
