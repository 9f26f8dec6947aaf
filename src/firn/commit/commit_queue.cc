#include "firn/commit/commit_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace firn::commit {
namespace {

constexpr BatchOutcome kSupersededOutcome = {.state = BatchState::kSuperseded};

bool Follows(const Batch& batch, const PlannedHead& head) {
  return batch.parent == head.id && StartsAt(batch, head.positions);
}

/// Of the i-th batch of a group, or of one that was dropped behind it.
Result<BatchOutcome> OutcomeOf(const Result<std::vector<BatchOutcome>>& outcomes,
                               std::size_t i) {
  if (!outcomes.ok()) return outcomes.status();
  return i < outcomes->size() ? (*outcomes)[i] : kSupersededOutcome;
}

bool IsSuperseded(const BatchOutcome& outcome) {
  return outcome.state == BatchState::kSuperseded;
}

}  // namespace

Result<BatchOutcome> CommitTicket::Wait() {
  MutexLock lock(mutex_);
  while (!outcome_.has_value()) resolved_.Wait(mutex_);
  return *outcome_;
}

bool CommitTicket::is_resolved() {
  MutexLock lock(mutex_);
  return outcome_.has_value();
}

void CommitTicket::Resolve(Result<BatchOutcome> outcome) {
  MutexLock lock(mutex_);
  outcome_ = std::move(outcome);
  resolved_.NotifyAll();
}

CommitQueue::CommitQueue(Runtime& runtime, Committer& committer, std::size_t queue_size,
                         std::function<void()> on_resolved)
    : runtime_(runtime),
      committer_(committer),
      queue_size_(queue_size),
      on_resolved_(std::move(on_resolved)),
      mutex_(runtime),
      changed_(runtime) {
  FIRN_CHECK(queue_size > 0);
  thread_ = Thread(runtime, "commit", [this] { CommitUntilClosed(); });
}

CommitQueue::~CommitQueue() { (void)Close(); }

std::shared_ptr<CommitTicket> CommitQueue::Submit(Batch batch, wal::Positions after) {
  auto ticket = std::make_shared<CommitTicket>(runtime_);
  const Status valid = CheckBatch(batch);
  if (!valid.ok()) {
    ticket->Resolve(valid);
    return ticket;
  }
  auto refusal = Enqueue(std::move(batch), std::move(after), ticket);
  if (refusal.has_value()) ticket->Resolve(*std::move(refusal));
  return ticket;
}

std::optional<Result<BatchOutcome>> CommitQueue::Enqueue(
    Batch batch, wal::Positions after, const std::shared_ptr<CommitTicket>& ticket) {
  MutexLock lock(mutex_);
  const std::uint64_t chain = chain_;
  if (auto refusal = Refusal(chain); refusal.has_value()) return refusal;
  if (head_.has_value() && !Follows(batch, *head_)) return kSupersededOutcome;
  head_ = PlannedHead{.id = batch.id, .positions = std::move(after)};
  WaitForPlace(next_turn_++, chain);
  if (auto refusal = Refusal(chain); refusal.has_value()) return refusal;
  waiting_.push_back({.batch = std::move(batch), .ticket = ticket});
  return std::nullopt;
}

std::optional<Result<BatchOutcome>> CommitQueue::Refusal(std::uint64_t chain) const {
  if (!failure_.ok()) return failure_;
  if (chain != chain_) return kSupersededOutcome;
  if (!closed_) return std::nullopt;
  return MakeError(ErrorKind::kCancelled, "the commit queue is closed");
}

void CommitQueue::WaitForPlace(std::uint64_t turn, std::uint64_t chain) {
  const auto has_place = [&] {
    return turn == entering_turn_ && waiting_.size() < queue_size_;
  };
  while (!has_place() && !Refusal(chain).has_value()) changed_.Wait(mutex_);
  // Those who are refused leave out of turn, but all of them do before a new chain's
  // first submitter enters: each counts one.
  ++entering_turn_;
  changed_.NotifyAll();
}

std::optional<PlannedHead> CommitQueue::planned_head() {
  MutexLock lock(mutex_);
  return head_;
}

Status CommitQueue::Close() {
  {
    MutexLock lock(mutex_);
    closed_ = true;
    changed_.NotifyAll();
  }
  thread_.Join();
  MutexLock lock(mutex_);
  return failure_;
}

void CommitQueue::CommitUntilClosed() {
  for (Group group = TakeAllThatWait(); !group.empty(); group = TakeAllThatWait()) {
    std::vector<Batch> batches;
    for (Waiting& waiting : group) batches.push_back(std::move(waiting.batch));
    const Result<std::vector<BatchOutcome>> outcomes = committer_.Commit(batches);
    std::ranges::move(Settle(outcomes), std::back_inserter(group));
    for (std::size_t i = 0; i < group.size(); ++i) {
      group[i].ticket->Resolve(OutcomeOf(outcomes, i));
    }
    if (on_resolved_) on_resolved_();
  }
}

CommitQueue::Group CommitQueue::TakeAllThatWait() {
  MutexLock lock(mutex_);
  while (waiting_.empty() && !closed_ && failure_.ok()) changed_.Wait(mutex_);
  Group group(std::make_move_iterator(waiting_.begin()),
              std::make_move_iterator(waiting_.end()));
  waiting_.clear();
  changed_.NotifyAll();
  return group;
}

CommitQueue::Group CommitQueue::Settle(
    const Result<std::vector<BatchOutcome>>& outcomes) {
  MutexLock lock(mutex_);
  const bool landed_whole =
      outcomes.ok() && std::ranges::none_of(*outcomes, IsSuperseded);
  if (landed_whole) {
    const bool is_idle = waiting_.empty() && next_turn_ == entering_turn_;
    if (is_idle) head_.reset();
    return {};
  }
  failure_ = outcomes.status();
  head_.reset();
  ++chain_;
  Group dropped(std::make_move_iterator(waiting_.begin()),
                std::make_move_iterator(waiting_.end()));
  waiting_.clear();
  changed_.NotifyAll();
  return dropped;
}

}  // namespace firn::commit
