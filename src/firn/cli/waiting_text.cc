#include "firn/cli/waiting_text.h"

#include <string_view>

namespace firn::cli {
namespace {

std::string_view Explain(shift::ShardState state) {
  switch (state) {
    case shift::ShardState::kLive:
      return "its writer may still be about to write it; shift again later";
    case shift::ShardState::kDead:
      return "its writer is dead, so nothing behind it was ever acknowledged, and it is "
             "left where it is; if the segment was lost since, put it back, or go on "
             "without it with 'firn wal quarantine'";
    case shift::ShardState::kClosed:
      return "its writer closed the shard, so the segment had been durable: put it back, "
             "from a backup of the WAL if there is one, or go on without it with 'firn "
             "wal quarantine'";
  }
  return "";
}

}  // namespace

std::string HoleText(const shift::JudgedHole& judged) {
  const auto& [hole, state] = judged;
  return fmt::format(
      "shard {} waits: segment {} is missing though later ones are there; {}", hole.shard,
      hole.missing, Explain(state));
}

std::string WaitingText(const wal::WaitingShard& waiting) {
  return fmt::format(
      "shard {} waits: source {} is at {}, and its next segment starts at {}",
      waiting.shard, waiting.source, waiting.position, waiting.first);
}

}  // namespace firn::cli
