#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "firn/core/sim_runtime.h"
#include "firn/core/status.h"

namespace firn::sim {

/// What can become of a call.
enum class CallKind {
  kRead,
  /// Of an object: whether it was done may stay unknown.
  kWrite,
  /// Of a table: a conflict too may be a lie, if a proxy sent the request twice.
  kCommit,
};

/// Of 1000 calls each.
struct FaultRates {
  std::uint64_t refused = 0;
  std::uint64_t answer_lost = 0;
  /// Timed out; a change is applied some time later all the same.
  std::uint64_t hanging = 0;
};

/// What lies between nodes and what they share: each call takes its time, is refused, is
/// done without an answer, or hangs; and the node may be gone before its request leaves,
/// or before the answer arrives.
class Network {
 public:
  /// `cables` is where requests are while nobody waits for them any more; it never
  /// crashes. No request or answer is longer under way than `latency_max`.
  Network(SimNode& cables, Duration latency_max, const FaultRates& rates)
      : cables_(cables), latency_max_(latency_max), rates_(rates) {}

  /// From now on nothing fails. Waits until all that hangs is applied.
  void CalmDown();

  /// Carries out a call of `node`. What a node that has crashed asks for is not done, and
  /// answers to it are lost: it gets an error of no kind. `apply` may be called when the
  /// node is long gone, unless it only reads: it holds what it needs. A change that hangs
  /// arrives as `late`, if there is one.
  template <typename Outcome>
  Outcome Call(SimNode& node, CallKind kind, const std::function<Outcome()>& apply,
               const std::function<Outcome()>& late = {}) {
    if (!Travel(node)) return Gone(node);
    switch (NextFault()) {
      case Fault::kNone:
        break;
      case Fault::kRefused:
        return Refusal(kind);
      case Fault::kAnswerLost:
        if (Outcome outcome = apply(); !outcome.ok()) return outcome;
        return node.crashed() ? Gone(node) : NoAnswer(kind);
      case Fault::kHanging:
        if (kind != CallKind::kRead)
          ApplyLater([hanging = late ? late : apply] { (void)hanging(); });
        return TimeOut(node, kind);
    }
    Outcome outcome = apply();
    if (!Travel(node)) return Gone(node);
    return outcome;
  }

 private:
  enum class Fault { kNone, kRefused, kAnswerLost, kHanging };

  /// False if the node is gone.
  bool Travel(SimNode& node) const;
  Fault NextFault();
  void ApplyLater(std::function<void()> apply);
  Status Refusal(CallKind kind);
  Status NoAnswer(CallKind kind);
  static Status TimeOut(SimNode& node, CallKind kind);
  static Status Gone(const SimNode& node);

  SimNode& cables_;
  const Duration latency_max_;
  FaultRates rates_;
  std::vector<Thread> late_;
};

}  // namespace firn::sim
