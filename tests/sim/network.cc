#include "network.h"

#include <utility>

#include "chance.h"

namespace firn::sim {
namespace {

constexpr Duration kTimeOut = std::chrono::seconds(5);

}  // namespace

void Network::CalmDown() {
  rates_ = {};
  late_.clear();
}

bool Network::Travel(SimNode& node) const {
  if (node.crashed()) return false;
  // Steps cost time: most calls are done at once.
  if (Chance(cables_, 30)) node.Sleep(UpTo(node, latency_max_));
  return !node.crashed();
}

Network::Fault Network::NextFault() {
  const std::uint64_t drawn = cables_.Random64() % 1000;
  if (drawn < rates_.refused) return Fault::kRefused;
  if (drawn < rates_.refused + rates_.answer_lost) return Fault::kAnswerLost;
  if (drawn < rates_.refused + rates_.answer_lost + rates_.hanging) {
    return Fault::kHanging;
  }
  return Fault::kNone;
}

void Network::ApplyLater(std::function<void()> apply) {
  using std::chrono::hours;
  using std::chrono::seconds;
  const Duration delay =
      UpTo(cables_,
           OneOf<Duration>(cables_, {seconds(1), seconds(20), seconds(20), hours(30)}));
  // Starting a thread is a step, in which others may come here too.
  Thread late(cables_, "late request", [this, delay, apply = std::move(apply)] {
    cables_.Sleep(delay);
    apply();
  });
  late_.push_back(std::move(late));
}

Status Network::Refusal(CallKind kind) {
  const bool is_conflict = kind == CallKind::kCommit && Chance(cables_, 50);
  return MakeError(is_conflict ? ErrorKind::kConflict : ErrorKind::kUnavailable,
                   "refused by the simulation");
}

Status Network::NoAnswer(CallKind kind) {
  if (kind == CallKind::kRead) {
    return MakeError(ErrorKind::kUnavailable, "the answer was lost by the simulation");
  }
  const bool was_sent_twice = kind == CallKind::kCommit && Chance(cables_, 50);
  return MakeError(was_sent_twice ? ErrorKind::kConflict : ErrorKind::kOutcomeUnknown,
                   "done, and the answer was lost by the simulation");
}

Status Network::TimeOut(SimNode& node, CallKind kind) {
  node.Sleep(kTimeOut);
  if (node.crashed()) return Gone(node);
  return MakeError(
      kind == CallKind::kRead ? ErrorKind::kUnavailable : ErrorKind::kOutcomeUnknown,
      "timed out by the simulation");
}

Status Network::Gone(const SimNode& node) {
  return InvalidError("{} has crashed: this is its ghost", node.name());
}

}  // namespace firn::sim
