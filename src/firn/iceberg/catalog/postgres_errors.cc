#include "firn/iceberg/catalog/postgres_errors.h"

#include <algorithm>

namespace firn::iceberg {
namespace {

constexpr std::size_t kSqlStateSize = 5;

struct Reaction {
  /// Of a code, or of its class.
  std::string_view prefix;
  std::optional<ErrorKind> kind;
  std::string_view advice = {};
};

/// The first that fits decides.
constexpr Reaction kReactions[] = {
    {"23505", ErrorKind::kAlreadyExists},
    // A table that another process made at the same time, and its type.
    {"42P07", ErrorKind::kAlreadyExists},
    {"42710", ErrorKind::kAlreadyExists},
    // Serializable transactions: another one changed the row first.
    {"40001", ErrorKind::kConflict},
    {"40003", ErrorKind::kOutcomeUnknown},
    // Deadlocks and other transactions that were undone.
    {"40", ErrorKind::kUnavailable},
    // No connection, memory or space left.
    {"53", ErrorKind::kUnavailable},
    {"55P03", ErrorKind::kUnavailable, "; another session holds the lock"},
    {"57014", ErrorKind::kUnavailable},
    {"25006", ErrorKind::kUnavailable,
     "; this server only reads: add target_session_attrs=read-write to the address, or "
     "name another host"},
    {"XX001", ErrorKind::kCorruption},
    {"XX002", ErrorKind::kCorruption},
    {"28", std::nullopt,
     "; put user and password into the uri, or set PGUSER and PGPASSWORD"},
    {"3D000", std::nullopt, "; create the database first, or name another one"},
    {"42501", std::nullopt,
     "; grant the user SELECT, INSERT, UPDATE and DELETE on the catalog's two tables, "
     "and CREATE where they are to be made"},
};

const Reaction* FindReaction(std::string_view sql_state) {
  const auto found = std::ranges::find_if(kReactions, [&](const Reaction& reaction) {
    return sql_state.starts_with(reaction.prefix);
  });
  return found == std::end(kReactions) ? nullptr : found;
}

bool EndsConnection(std::string_view sql_state) {
  return sql_state.empty() || sql_state.starts_with("08") || sql_state.starts_with("57P");
}

bool IsCodeCharacter(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); }

}  // namespace

std::optional<ErrorKind> KindOfSqlState(std::string_view sql_state, SqlEffect effect) {
  if (EndsConnection(sql_state)) {
    return effect == SqlEffect::kWrites ? ErrorKind::kOutcomeUnknown
                                        : ErrorKind::kUnavailable;
  }
  const Reaction* reaction = FindReaction(sql_state);
  return reaction == nullptr ? std::nullopt : reaction->kind;
}

std::string_view SqlStateIn(std::string_view report) {
  constexpr std::string_view kBefore = ":  ";
  for (std::size_t at = report.find(kBefore); at != std::string_view::npos;
       at = report.find(kBefore, at + 1)) {
    const std::string_view code = report.substr(at + kBefore.size(), kSqlStateSize);
    const std::string_view after =
        report.substr(std::min(report.size(), at + kBefore.size() + kSqlStateSize));
    const bool is_code = code.size() == kSqlStateSize &&
                         std::ranges::all_of(code, IsCodeCharacter) &&
                         after.starts_with(':');
    if (is_code) return code;
  }
  return {};
}

std::string_view AdviceOn(std::string_view sql_state) {
  const Reaction* reaction = FindReaction(sql_state);
  return reaction == nullptr ? std::string_view() : reaction->advice;
}

}  // namespace firn::iceberg
